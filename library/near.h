// SPDX-License-Identifier: MIT
// near.h: what the searches of near points share: what their kernels get, their functions of two
// points and of two boxes, and the prepared set.
#ifndef THREADMAP_NEAR_H
#define THREADMAP_NEAR_H

#include "base.h"

#include <threadmap/triangle/image.h>
#include <threadmap/triangle/near.h>

// ---- kernels ------------------------------------------------------------------------------------
//
// The type and the number of coordinates, and whether the box is periodic, are constants of a
// kernel: its arguments, and those of the functions below.

#define BLOCK __launch_bounds__(TMAP_NEAR_THREADS) // of a kernel

template <class Real>
struct near_numbers {
    Real box[3], inverse[3], squared;
};

// What each kernel gets first.
struct near_search {
    const void *set;
    float lengths[3], radius; // of boxes of points
    near_numbers<float> f32;
    near_numbers<double> f64;
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

// The squared distance of two points.
template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE Real near_square(const void *job, const void *a, const void *b) {
    const near_numbers<Real> *s = near_in(job, (Real)0);
    Real sum = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < Axes; ++k) {
        Real d = ((const Real *)a)[k] - ((const Real *)b)[k];
        if (Boxed) d = near_image(d, s->box[k], s->inverse[k]);
        sum += d * d;
    }
    return sum;
}

// The functions of near.h, near_select.h and near_groups.h.
template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE int near_reach(void *job, const tmap_near_box *a, const tmap_near_box *b) {
    const near_search *s = (const near_search *)job;
    return Boxed ? tmap_near_periodic(a, b, Axes, s->lengths, s->radius)
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

// The eight kernels of a search: floats of 2 and of 3 coordinates, doubles; then the same in a
// periodic box.
#define NEAR_KERNELS(kernel) \
    { \
        (const void *)kernel<float, 2, 0>, (const void *)kernel<float, 3, 0>, \
            (const void *)kernel<double, 2, 0>, (const void *)kernel<double, 3, 0>, \
            (const void *)kernel<float, 2, 1>, (const void *)kernel<float, 3, 1>, \
            (const void *)kernel<double, 2, 1>, (const void *)kernel<double, 3, 1> \
    }

// The one for a job.
static inline const void *near_kernel(const threadmap_near *by, const void *const *kernels) {
    const int boxed = by->box[0] > 0 || by->box[1] > 0 || (by->d == 3 && by->box[2] > 0);
    return kernels[4 * boxed + 2 * (by->type == THREADMAP_F64) + (by->d == 3)];
}

// How a workspace is divided: what sorts and then the search have is at 0.
struct near_work {
    tmap_near_shape shape;
    tmap_u64 sorting; // bytes for the sort
    tmap_u64 order, set, bytes;
};

// Checks what is searched: TMAP_EINVAL, TMAP_ERANGE or the error of a device query. Sets the shape
// and the bytes for the sort.
int near_begin(const threadmap_near *by, near_work *out);

// Divides a workspace in which the search has `own` bytes.
static inline void near_divide(near_work *w, tmap_u64 own) {
    w->bytes = 0;
    base_part(&w->bytes, w->sorting > own ? w->sorting : own);
    w->order = base_part(&w->bytes, w->shape.n * 4ull);
    w->set = base_part(&w->bytes, tmap_near_set_bytes(w->shape));
}

// Sorts the points and prepares the set.
int near_prepare(const threadmap_near *by, const near_work *work, void *workspace, void *stream);

// What a kernel gets first.
near_search near_search_of(const threadmap_near *by, const near_work *work, void *workspace);

#endif
