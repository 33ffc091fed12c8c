// SPDX-License-Identifier: MIT
// near_nearest.cu: the k nearest neighbours of each point.
#include "near.h"

#include <threadmap/triangle/near_nearest.h>

struct nearest {
    const void *set;
    tmap_near_nearest_to to;
    int self;
};

template <class Real, tmap_u32 Axes>
TMAP_DEVICE void nearest_measure(void *, const void *a, const void *b, void *value) {
    *(Real *)value = near_square<Real, Axes, 0>(0, a, b);
}
template <tmap_u32 Axes>
TMAP_DEVICE float nearest_bound(void *, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_least_square(a, b, Axes);
}

template <class Real, tmap_u32 Axes, tmap_u32 Width>
static __global__ void BLOCK nearest_kernel(tmap_near_plan plan, nearest s) {
    const tmap_points points = {s.set, 0, sizeof(Real), Axes};
    const tmap_near_k k = {Width, nearest_measure<Real, Axes>, nearest_bound<Axes>, s.self, 1};
    tmap_near_nearest(&plan, points, k, &s.to, &s);
}

// By type, then coordinates, then the width of a row.
#define NEAREST_WIDTHS(Real, Axes) \
    (const void *)nearest_kernel<Real, Axes, 8>, (const void *)nearest_kernel<Real, Axes, 16>, \
        (const void *)nearest_kernel<Real, Axes, 32>, (const void *)nearest_kernel<Real, Axes, 64>
static const void *const nearest_kernels[16] = {NEAREST_WIDTHS(float, 2), NEAREST_WIDTHS(float, 3),
                                                NEAREST_WIDTHS(double, 2),
                                                NEAREST_WIDTHS(double, 3)};

int threadmap_nearest_width(int k) {
    return k < 1 || k > (int)TMAP_NEAR_K_MAX ? 0 : k <= 8 ? 8 : k <= 16 ? 16 : k <= 32 ? 32 : 64;
}

int threadmap_nearest(const threadmap_nearest_job *job, void *workspace, tmap_u64 *bytes,
                      void *stream) {
    const int width = job ? threadmap_nearest_width(job->k) : 0;
    tmap_near_plan plan;
    near_work work;
    if (!width || job->near_by.box[0] != 0 || job->near_by.box[1] != 0 || job->near_by.box[2] != 0)
        return TMAP_EINVAL;
    int error = near_begin(&job->near_by, &work);
    if (error) return error;
    const int kernel = 8 * (work.shape.size == 8) + 4 * (work.shape.d == 3) + (width > 8) +
                       (width > 16) + (width > 32);
    error = base_error(tmap_near_nearest_plan_make(work.shape, nearest_kernels[kernel], &plan));
    if (error) return error;
    near_divide(&work, 0);
    if (base_ends(workspace, bytes, work.bytes, &error) || !work.shape.n) return error;
    error = base_wrong({{job->numbers, 4, 1}, {job->distances, work.shape.size, 0}});
    if (!error) error = near_prepare(&job->near_by, &work, workspace, stream);
    if (error) return error;
    const double radius = job->near_by.radius;
    const nearest s = {(char *)workspace + work.set,
                       {job->numbers, job->distances, 0, radius * radius},
                       job->self != 0};
    return base_error(tmap_near_launch(&plan, &s, (cudaStream_t)stream));
}
