// SPDX-License-Identifier: MIT
// triangle_rec.h: REC by recursive launches, which needs code of its own kind (-rdc=true) and is
// therefore compiled apart, in triangle_rec.cu; the CPU machine launches from any kernel. And what
// its kernels share with those of triangle_maps.h: the distance, and counts of blocks.
#ifndef BENCH_TRIANGLE_REC_H
#define BENCH_TRIANGLE_REC_H

#include "../dp.h"

#include <threadmap/papers/triangle_published.h>

// Coordinates d of a work: 0 is the dummy, 1 to 4 EDM-dD, and TRIANGLE_COUNT counts blocks.
enum { TRIANGLE_COUNT = 5 };

static __device__ __forceinline__ float triangle_distance(const float *__restrict__ points,
                                                          tmap_u32 n, const int d, tmap_pair cell) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < d; ++k) {
        float t = points[(tmap_u64)k * n + cell.i] - points[(tmap_u64)k * n + cell.j];
        sum += t * t;
    }
    return sqrtf(sum);
}

// Blocks of a variant as they ran: all, those without a cell, those with cells and idle threads;
// and idle threads. The paper counts blocks above the diagonal, which are those without a cell.
typedef struct triangle_waste {
    tmap_u64 blocks, wasted, partial, idle;
} triangle_waste;

static __device__ __forceinline__ void triangle_count(int busy, triangle_waste *out) {
    const tmap_u32 threads = blockDim.x * blockDim.y;
    const tmap_u32 cells = (tmap_u32)__syncthreads_count(busy);
    if (threadIdx.x || threadIdx.y) return;
    atomicAdd(&out->blocks, 1ull);
    if (cells == 0) atomicAdd(&out->wasted, 1ull);
    if (cells && cells < threads) atomicAdd(&out->partial, 1ull);
    if (cells < threads) atomicAdd(&out->idle, (tmap_u64)(threads - cells));
}

#if BENCH_DP
// Launches work d on r.n rows by blocks of rho x rho threads.
cudaError_t triangle_rec_run(int d, tmap_triangle_recursive r, tmap_u32 rho, const float *points,
                             float *out);
#endif

#if defined(BENCH_DP_HERE)
// The kernels of triangle_maps.h; each launches itself.
static __global__ void __launch_bounds__(1024)
    triangle_rec_dummy(tmap_triangle_recursive r, const void *in, void *out) {
    tmap_pair cell;
    tmap_triangle_recursive_next(triangle_rec_dummy, r, in, out);
    if (tmap_triangle_recursive_cell(&r, &cell)) *(tmap_u32 *)out = cell.i + cell.j;
}

static __global__ void __launch_bounds__(1024)
    triangle_rec_count(tmap_triangle_recursive r, const void *in, void *out) {
    tmap_pair cell;
    tmap_triangle_recursive_next(triangle_rec_count, r, in, out);
    triangle_count(tmap_triangle_recursive_cell(&r, &cell), (triangle_waste *)out);
}

#define TRIANGLE_REC_EDM(d) \
    static __global__ void __launch_bounds__(1024) triangle_rec_edm##d( \
        tmap_triangle_recursive r, const void *__restrict__ in, void *__restrict__ out) { \
        tmap_pair cell; \
        tmap_triangle_recursive_next(triangle_rec_edm##d, r, in, out); \
        if (tmap_triangle_recursive_cell(&r, &cell)) \
            ((float *)out)[(tmap_u64)cell.i * r.n + cell.j] = \
                triangle_distance((const float *)in, r.n, d, cell); \
    }
TRIANGLE_REC_EDM(1)
TRIANGLE_REC_EDM(2)
TRIANGLE_REC_EDM(3)
TRIANGLE_REC_EDM(4)
#undef TRIANGLE_REC_EDM

cudaError_t triangle_rec_run(int d, tmap_triangle_recursive r, tmap_u32 rho, const float *points,
                             float *out) {
    static const void *const kernels[] = {
        (const void *)triangle_rec_dummy, (const void *)triangle_rec_edm1,
        (const void *)triangle_rec_edm2,  (const void *)triangle_rec_edm3,
        (const void *)triangle_rec_edm4,  (const void *)triangle_rec_count};
    return tmap_triangle_recursive_launch(kernels[d], r, rho, points, out, 0);
}
#endif

#endif
