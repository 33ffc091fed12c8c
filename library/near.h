// SPDX-License-Identifier: MIT
// near.h: what the searches of near points share: what their kernels get, their functions of two
// points and of two boxes, and the prepared set.
#ifndef THREADMAP_NEAR_H
#define THREADMAP_NEAR_H

#include "base.h"

#include <threadmap/triangle/near.h>
#include <threadmap/triangle/near_cell.h>

// ---- kernels ------------------------------------------------------------------------------------
//
// The type and the number of coordinates, and whether the box is open, right-angled or of any shape
// (Boxed 0, 1, 2), are constants of a kernel: its arguments, and those of the functions below.

#define BLOCK __launch_bounds__(TMAP_NEAR_THREADS) // of a kernel

template <class Real>
struct near_numbers {
    Real box[3], inverse[3], squared;
};

// What each kernel gets first.
struct near_search {
    const void *set, *second; // prepared
    float lengths[3], radius; // of boxes of points
    near_numbers<float> f32;
    near_numbers<double> f64;
    tmap_image_cell_f32 cell_f32; // of a box of any shape
    tmap_image_cell_f64 cell_f64;
};

TMAP_DEVICE const near_numbers<float> *near_in(const void *job, float) {
    return &((const near_search *)job)->f32;
}
TMAP_DEVICE const near_numbers<double> *near_in(const void *job, double) {
    return &((const near_search *)job)->f64;
}

TMAP_DEVICE float near_image(float d, float length, float inverse) {
    return tmap_image_axis_f32(d, length, inverse);
}
TMAP_DEVICE double near_image(double d, double length, double inverse) {
    return tmap_image_axis_f64(d, length, inverse);
}

TMAP_DEVICE void near_image_in(const near_search *s, float *d) { tmap_image_f32(&s->cell_f32, d); }
TMAP_DEVICE void near_image_in(const near_search *s, double *d) { tmap_image_f64(&s->cell_f64, d); }

// The squared distance of two points.
template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE Real near_square(const void *job, const void *a, const void *b) {
    const near_numbers<Real> *s = near_in(job, (Real)0);
    Real d[3] = {0, 0, 0}, sum = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < Axes; ++k) {
        d[k] = ((const Real *)a)[k] - ((const Real *)b)[k];
        if (Boxed == 1) d[k] = near_image(d[k], s->box[k], s->inverse[k]);
    }
    if (Boxed == 2) near_image_in((const near_search *)job, d);
#pragma unroll
    for (tmap_u32 k = 0; k < Axes; ++k) sum += d[k] * d[k];
    return sum;
}

// The functions of near.h, near_select.h and near_groups.h.
template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE int near_reach(void *job, const tmap_near_box *a, const tmap_near_box *b) {
    const near_search *s = (const near_search *)job;
    return Boxed == 2   ? tmap_near_in_cell(a, b, &s->cell_f32, s->radius)
           : Boxed == 1 ? tmap_near_periodic(a, b, Axes, s->lengths, s->radius)
                        : tmap_near_within(a, b, Axes, s->radius);
}
template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE int near_linked(void *job, tmap_pair, const void *a, const void *b) {
    return near_square<Real, Axes, Boxed>(job, a, b) <= near_in(job, (Real)0)->squared;
}
template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE int near_chosen(void *job, tmap_pair, const void *a, const void *b, void *value) {
    const Real square = near_square<Real, Axes, Boxed>(job, a, b);
    *(Real *)value = sqrt(square);
    return square <= near_in(job, (Real)0)->squared;
}

// ---- calls --------------------------------------------------------------------------------------

// The ten kernels of a search: floats of 2 and of 3 coordinates, doubles; then the same in a
// right-angled periodic box; 3 coordinates in a box of any shape.
#define NEAR_KERNELS(kernel) \
    { \
        (const void *)kernel<float, 2, 0>, (const void *)kernel<float, 3, 0>, \
            (const void *)kernel<double, 2, 0>, (const void *)kernel<double, 3, 0>, \
            (const void *)kernel<float, 2, 1>, (const void *)kernel<float, 3, 1>, \
            (const void *)kernel<double, 2, 1>, (const void *)kernel<double, 3, 1>, \
            (const void *)kernel<float, 3, 2>, (const void *)kernel<double, 3, 2> \
    }

// 0: the box is open; 1: right-angled; 2: of any shape.
static inline int near_boxed(const threadmap_near *by) {
    for (int k = 0; k < 9; ++k)
        if (by->cell[k] != 0) return 2;
    return by->box[0] > 0 || by->box[1] > 0 || (by->d == 3 && by->box[2] > 0);
}

// The one for a job.
static inline const void *near_kernel(const threadmap_near *by, const void *const *kernels) {
    const int boxed = near_boxed(by), doubles = by->type == THREADMAP_F64;
    return boxed == 2 ? kernels[8 + doubles] : kernels[4 * boxed + 2 * doubles + (by->d == 3)];
}

// A call, and how its workspace is divided: what sorts and then the search have is at 0.
struct near_work {
    tmap_near_shape shape, second; // second.n 0: one set
    near_search search;            // the sets are known when the workspace is
    tmap_u64 sorting;              // bytes for the sorts
    tmap_u64 order, set, bytes;
    tmap_u64 second_set;
};

// Checks what is searched: TMAP_EINVAL, TMAP_ERANGE or the error of a device query. Sets the
// shapes, the numbers of the search and the bytes for the sorts.
int near_begin(const threadmap_near *by, near_work *out);

// Sets a cell from its vectors: TMAP_EINVAL or TMAP_ERANGE.
int near_cell(const double *vectors, near_search *out);

// Gives a plan the second set, if there is one.
static inline cudaError_t near_plan_second(const near_work *w, tmap_near_plan *plan) {
    return w->second.n ? tmap_near_plan_others(plan, w->second.n) : cudaSuccess;
}

// Divides a workspace in which the search has `own` bytes.
static inline void near_divide(near_work *w, tmap_u64 own) {
    w->bytes = 0;
    base_part(&w->bytes, w->sorting > own ? w->sorting : own);
    w->order = base_part(&w->bytes, (w->shape.n > w->second.n ? w->shape.n : w->second.n) * 4ull);
    w->set = base_part(&w->bytes, tmap_near_set_bytes(w->shape));
    w->second_set = base_part(&w->bytes, w->second.n ? tmap_near_set_bytes(w->second) : 0);
}

// Sorts the points and prepares the sets. What is left at `order` is that of the first set.
int near_prepare(const threadmap_near *by, const near_work *work, void *workspace, void *stream);

// What a kernel gets first.
static inline near_search near_search_of(const near_work *w, void *workspace) {
    near_search s = w->search;
    s.set = (char *)workspace + w->set, s.second = (char *)workspace + w->second_set;
    return s;
}

#endif
