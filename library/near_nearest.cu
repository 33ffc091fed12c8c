// SPDX-License-Identifier: MIT
// near_nearest.cu: the k nearest neighbours of each point.
#include "near.h"

#include <threadmap/triangle/near_nearest.h>

struct nearest {
    near_search search;
    tmap_near_nearest_to to;
    int self;
};

template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE void nearest_measure(void *job, const void *a, const void *b, void *value) {
    *(Real *)value = near_square<Real, Axes, Boxed>(job, a, b);
}

// No two points of two boxes are nearer. In a periodic cell the nearest image of a difference moves
// no further than the difference: along each axis of one that is right-angled, as a whole else.
template <tmap_u32 Axes>
TMAP_DEVICE float nearest_bound_in(const tmap_near_box *a, const tmap_near_box *b,
                                   const tmap_image_cell_f32 *cell) {
    float d[3] = {0, 0, 0}, half[3] = {0, 0, 0}, size = 0, apart = 0, extent = 0, least = 0;
#pragma unroll
    for (int k = 0; k < (int)Axes; ++k) {
        half[k] = 0.5f * (a->high[k] - a->low[k] + (b->high[k] - b->low[k]));
        d[k] = 0.5f * (a->high[k] + a->low[k]) - 0.5f * (b->high[k] + b->low[k]);
        size += fabsf(a->high[k]) + fabsf(b->high[k]) + half[k] + fabsf(d[k]);
        for (int i = 0; i < 3; ++i) size += fabsf(cell->vector[i][k]);
    }
    tmap_image_f32(cell, d);
#pragma unroll
    for (int k = 0; k < (int)Axes; ++k) {
        const float low = fmaxf(0.0f, fabsf(d[k]) - half[k] - 0x1p-19f * size);
        apart = fmaf(d[k], d[k], apart), extent = fmaf(half[k], half[k], extent);
        least = fmaf(low, low, least);
    }
    const float low = fmaxf(0.0f, sqrtf(apart) - sqrtf(extent) - 0x1p-19f * size);
    return (cell->square ? least : low * low) * (1 - 0x1p-17f);
}
template <tmap_u32 Axes, int Boxed>
TMAP_DEVICE float nearest_bound(void *job, const tmap_near_box *a, const tmap_near_box *b) {
    return Boxed ? nearest_bound_in<Axes>(a, b, &((const near_search *)job)->cell_f32)
                 : tmap_near_least_square(a, b, Axes);
}

template <class Real, tmap_u32 Axes, int Boxed, tmap_u32 Width>
static __global__ void BLOCK nearest_kernel(tmap_near_plan plan, nearest s) {
    const tmap_points points = {s.search.set, s.search.second, sizeof(Real), Axes};
    const tmap_near_k k = {Width, nearest_measure<Real, Axes, Boxed>, nearest_bound<Axes, Boxed>,
                           s.self, 1};
    tmap_near_nearest(&plan, points, k, &s.to, &s);
}

// By whether the box is periodic, then type, coordinates and the length of the lists.
#define NEAREST_LENGTHS(Real, Axes, Boxed) \
    (const void *)nearest_kernel<Real, Axes, Boxed, 8>, \
        (const void *)nearest_kernel<Real, Axes, Boxed, 16>, \
        (const void *)nearest_kernel<Real, Axes, Boxed, 32>, \
        (const void *)nearest_kernel<Real, Axes, Boxed, 64>
#define NEAREST_KERNELS(Boxed) \
    NEAREST_LENGTHS(float, 2, Boxed), NEAREST_LENGTHS(float, 3, Boxed), \
        NEAREST_LENGTHS(double, 2, Boxed), NEAREST_LENGTHS(double, 3, Boxed)
static const void *const nearest_kernels[] = {NEAREST_KERNELS(0), NEAREST_KERNELS(2)};

int threadmap_nearest(const threadmap_nearest_job *job, void *workspace, tmap_u64 *bytes,
                      void *stream) {
    tmap_near_plan plan;
    near_work work;
    if (!job || job->k < 1 || job->k > (int)TMAP_NEAR_K_MAX) return TMAP_EINVAL;
    const threadmap_near *by = &job->near_by;
    const int boxed = near_boxed(by);
    int error = near_begin(by, &work);
    if (!error && boxed == 1) {
        const double third = by->d == 3 ? by->box[2] : 0;
        const double box[9] = {by->box[0], 0, 0, 0, by->box[1], 0, 0, 0, third};
        error = near_cell(box, &work.search);
    }
    if (error) return error;
    const int kernel = 16 * (boxed != 0) + 8 * (work.shape.size == 8) + 4 * (work.shape.d == 3) +
                       (job->k > 8) + (job->k > 16) + (job->k > 32);
    error = base_error(tmap_near_nearest_plan_make(work.shape, nearest_kernels[kernel], &plan));
    if (!error) error = base_error(near_plan_second(&work, &plan));
    if (error) return error;
    near_divide(&work, 0);
    if (base_ends(workspace, bytes, work.bytes, &error) || !work.shape.n) return error;
    error =
        base_wrong({{job->numbers, job->wide ? 8u : 4u, 1}, {job->distances, work.shape.size, 0}});
    if (!error) error = near_prepare(by, &work, workspace, stream);
    if (error) return error;
    const nearest s = {near_search_of(&work, workspace),
                       {(tmap_u32 *)job->numbers, job->distances, 0, by->radius * by->radius,
                        (tmap_u32)job->k, job->wide != 0},
                       job->self != 0};
    return base_error(tmap_near_launch(&plan, &s, (cudaStream_t)stream));
}
