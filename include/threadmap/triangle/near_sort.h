// SPDX-License-Identifier: MIT
// near_sort.h: sorts points along a Hilbert curve (near_key.h) by CUB's radix sort. CUB is part of
// the CUDA Toolkit; only a program that includes this header compiles it. C++17.
//
//     tmap_near_sort_plan_make(n, 3, sizeof(float), 0, &plan); // 0: as many bits as n needs
//     ... cudaMalloc(&workspace, plan.workspace);
//     tmap_near_sort(&plan, points, workspace, order, stream); // order[place] = number of a point
//
// A radix sort takes a pass over keys and numbers for each 8 bits, so keys have no more bits than
// uniform points need: their first 16 bits separate 131072 points into cells of 2. Points in
// clusters need more: 63 bits take 8 passes, with keys of twice the size.
//
// One kernel finds the box of all finite coordinates. The bits go where its sides are long
// (near_key.h): all to one axis for points along it. A line or a plane that is turned against the
// axes needs more, like clusters. Points far outside would leave the others few cells: give the box
// of the others then, and those outside go to its outermost cells.
//
// The order is the same in every run: points with equal keys are in the order of their numbers. A
// point with a NaN in the curve's coordinates has the largest key.
#ifndef TMAP_TRIANGLE_NEAR_SORT_H
#define TMAP_TRIANGLE_NEAR_SORT_H

#include "../launch.h"
#include "near_key.h"

#define TMAP_NEAR_SORT_MAX   0x80000000u // most points
#define TMAP_NEAR_SORT_D_MAX 8u

// A plan, made by tmap_near_sort_plan_make.
typedef struct tmap_near_sort_plan {
    tmap_u32 n, d, size;    // points; coordinates of a point; bytes of a coordinate
    tmap_u32 axes, bits;    // coordinates of the curve; bits of a key
    tmap_u32 boxed;         // 1: low and high are the caller's
    tmap_u32 grid[2];       // blocks that find the box and make keys
    double low[3], high[3]; // the box
    tmap_u64 temporary;     // bytes of CUB's own
    tmap_u64 workspace;     // bytes that tmap_near_sort needs
} tmap_near_sort_plan;

// The bits of a key for n uniform points: the least multiple of 8 with at most 4 points a cell.
// Examples: 4096 points: 16; 262144: 16; 262145: 24; 2^31: 32.
TMAP_FN tmap_u32 tmap_near_sort_bits(tmap_u32 n) {
    tmap_u32 bits = 8;
    while (bits < 32 && n > 4ull << bits) bits += 8;
    return bits;
}

#if TMAP_CUDA && !TMAP_NVRTC && defined(__cplusplus)
#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#define TMAPI_NEAR_SORT_THREADS 256u

// What the kernels get. boxes: 6 numbers for each block of the first kernel.
typedef struct tmapi_near_sort_job {
    tmap_near_sort_plan plan;
    const void *points;
    void *boxes, *keys;
    tmap_u32 *numbers;
} tmapi_near_sort_job;

// ---- kernels ------------------------------------------------------------------------------------

// The largest finite number.
TMAP_DEVICE float tmapi_near_sort_most(float) { return 3.402823466e38f; }
TMAP_DEVICE double tmapi_near_sort_most(double) { return 1.7976931348623157e308; }

// A box is its low corner and the negative of its high one, so that the box of two boxes is the
// least of each number. Sets v to the least of the block's, in all threads.
template <class Real>
static __device__ __forceinline__ void tmapi_near_sort_least(Real *v) {
    const tmap_u32 warps = TMAPI_NEAR_SORT_THREADS / 32;
    __shared__ Real of_warps[6 * TMAPI_NEAR_SORT_THREADS / 32];
#pragma unroll
    for (tmap_u32 k = 0; k < 6; ++k) {
        for (int lanes = 16; lanes; lanes /= 2) {
            const Real other = __shfl_xor_sync(0xffffffffu, v[k], lanes);
            v[k] = other < v[k] ? other : v[k];
        }
        if (threadIdx.x % 32 == 0) of_warps[k * warps + threadIdx.x / 32] = v[k];
    }
    __syncthreads();
#pragma unroll
    for (tmap_u32 k = 0; k < 6; ++k)
        for (tmap_u32 w = 0; w < warps; ++w) {
            const Real other = of_warps[k * warps + w];
            v[k] = other < v[k] ? other : v[k];
        }
}

// Each block writes the box of its share of the points, without what is not finite.
template <class Real>
static __global__ void __launch_bounds__(TMAPI_NEAR_SORT_THREADS)
    tmapi_near_sort_box(tmapi_near_sort_job j) {
    const Real *points = (const Real *)j.points;
    const tmap_u32 stride = gridDim.x * TMAPI_NEAR_SORT_THREADS;
    Real v[6];
    for (int k = 0; k < 6; ++k) v[k] = tmapi_near_sort_most((Real)0);
    TMAPI_UNROLL_4
    for (tmap_u32 i = blockIdx.x * TMAPI_NEAR_SORT_THREADS + threadIdx.x; i < j.plan.n;
         i += stride) {
        const Real *p = points + (tmap_u64)i * j.plan.d;
        for (tmap_u32 k = 0; k < 3; ++k) {
            const Real x = k < j.plan.axes ? p[k] : 0;
            if (x - x != 0) continue;
            v[k] = x < v[k] ? x : v[k], v[k + 3] = -x < v[k + 3] ? -x : v[k + 3];
        }
    }
    tmapi_near_sort_least(v);
    if (threadIdx.x == 0)
        for (int k = 0; k < 6; ++k) ((Real *)j.boxes)[blockIdx.x * 6 + k] = v[k];
}

// Writes the keys and numbers of all points. Each block joins the boxes of all blocks, and cuts the
// box.
template <class Real>
static __global__ void __launch_bounds__(TMAPI_NEAR_SORT_THREADS)
    tmapi_near_sort_keys(tmapi_near_sort_job j) {
    const tmap_near_sort_plan *plan = &j.plan;
    const tmap_u32 stride = gridDim.x * TMAPI_NEAR_SORT_THREADS;
    const Real most = tmapi_near_sort_most((Real)0), *boxes = (const Real *)j.boxes;
    __shared__ tmap_near_key_grid grid;
    __shared__ Real low[3], scale;
    __shared__ tmap_u32 shift;
    Real v[6];
    for (int k = 0; k < 6; ++k) v[k] = most;
    if (plan->boxed) {
        for (int k = 0; k < 3; ++k) v[k] = (Real)plan->low[k], v[k + 3] = -(Real)plan->high[k];
    } else {
        for (tmap_u32 b = threadIdx.x; b < plan->grid[0]; b += TMAPI_NEAR_SORT_THREADS)
            for (int k = 0; k < 6; ++k) v[k] = boxes[b * 6 + k] < v[k] ? boxes[b * 6 + k] : v[k];
        tmapi_near_sort_least(v);
    }
    if (threadIdx.x == 0) {
        double halves[3]; // half of a side is finite
        Real half = 0;
        for (tmap_u32 k = 0; k < 3; ++k) {
            const Real side = v[k + 3] * (Real)-0.5 - v[k] * (Real)0.5;
            if (k < plan->axes && side > half) half = side;
            low[k] = v[k], halves[k] = (double)side;
        }
        grid = tmap_near_key_grid_make(halves, plan->axes, plan->bits);
        const tmap_u32 all = grid.bits[0] + grid.bits[1] + grid.bits[2];
        shift = all > plan->bits ? all - plan->bits : 0;
        scale = half > 0 ? (Real)((tmap_u64)1 << grid.bits[0]) * (Real)0.5 / half : 0;
        if (!(scale <= most)) scale = most;
    }
    __syncthreads();
    const tmap_near_key_grid cut = grid; // in registers
    const Real cells = scale;
    const tmap_u32 right = shift;
    for (tmap_u32 i = blockIdx.x * TMAPI_NEAR_SORT_THREADS + threadIdx.x; i < plan->n;
         i += stride) {
        const Real *x = (const Real *)j.points + (tmap_u64)i * plan->d;
        const tmap_u64 all =
            sizeof(Real) == 4
                ? tmap_near_key_point_f32((const float *)x, (const float *)low, (float)cells, &cut)
                : tmap_near_key_point_f64((const double *)x, (const double *)low, (double)cells,
                                          &cut);
        const tmap_u64 key = all >> right;
        if (plan->bits > 32)
            ((tmap_u64 *)j.keys)[i] = key;
        else
            ((tmap_u32 *)j.keys)[i] = (tmap_u32)key;
        j.numbers[i] = i;
    }
}

// ---- plans --------------------------------------------------------------------------------------

// Sorts keys and numbers from one of two buffers to the other and back; *sorted: where the numbers
// end. temporary: null to get its size in *bytes.
template <class Key>
static inline cudaError_t tmapi_near_sort_pairs(const tmap_near_sort_plan *plan, void *temporary,
                                                size_t *bytes, void *keys, tmap_u32 **numbers,
                                                cudaStream_t stream) {
    cub::DoubleBuffer<Key> both((Key *)keys, (Key *)keys + plan->n);
    cub::DoubleBuffer<tmap_u32> two(numbers[0], numbers[1]);
    const cudaError_t error = cub::DeviceRadixSort::SortPairs(temporary, *bytes, both, two, plan->n,
                                                              0, (int)plan->bits, stream);
    numbers[0] = two.Current();
    return error;
}
static inline cudaError_t tmapi_near_sort_call(const tmap_near_sort_plan *plan, void *temporary,
                                               size_t *bytes, void *keys, tmap_u32 **numbers,
                                               cudaStream_t stream) {
    if (plan->bits > 32)
        return tmapi_near_sort_pairs<tmap_u64>(plan, temporary, bytes, keys, numbers, stream);
    return tmapi_near_sort_pairs<tmap_u32>(plan, temporary, bytes, keys, numbers, stream);
}

static inline tmap_u64 tmapi_near_sort_round(tmap_u64 bytes) { return (bytes + 255) / 256 * 256; }

// Sets the addresses of the parts of a workspace at w. Returns the address of CUB's part.
static inline tmap_u64 tmapi_near_sort_divide(const tmap_near_sort_plan *plan, tmap_u64 w,
                                              tmapi_near_sort_job *j) {
    j->plan = *plan, j->keys = (void *)w;
    w += tmapi_near_sort_round(2ull * plan->n * (plan->bits > 32 ? 8 : 4));
    j->numbers = (tmap_u32 *)w, w += tmapi_near_sort_round(4ull * plan->n);
    j->boxes = (void *)w, w += tmapi_near_sort_round(6ull * plan->size * plan->grid[0]);
    return w;
}

// Makes the plan for n points of d coordinates of `size` bytes, on the current device. The curve
// goes through the first three coordinates, or two if d is 2. n: 0 to 2^31. d: 2 to 8. size: 4 or
// 8. bits: of a key, 1 to 63, or 64 if d is 2; 0: tmap_near_sort_bits(n), for uniform points.
// Returns cudaErrorInvalidValue for a null pointer or a number outside its range, or the error of a
// CUDA call. Writes *out only on success. plan.workspace: 12 bytes a point, 20 for more than 32
// bits, and some 100 KB.
// Example: tmap_near_sort_plan_make(131072, 3, sizeof(float), 0, &plan): 16 bits.
static inline cudaError_t tmap_near_sort_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                   tmap_u32 bits, tmap_near_sort_plan *out) {
    tmap_near_sort_plan p = {n, d, size, d == 2 ? 2u : 3u, bits, 0, {0, 0}, {0}, {0}, 0, 0};
    tmap_device_facts facts;
    tmapi_near_sort_job job;
    tmap_u32 *none[2] = {0, 0};
    size_t bytes = 0;
    cudaError_t error;
    if (!out || n > TMAP_NEAR_SORT_MAX || d < 2 || d > TMAP_NEAR_SORT_D_MAX ||
        (size != 4 && size != 8) || bits > (d == 2 ? 64 : 63))
        return cudaErrorInvalidValue;
    if ((error = tmap_device_facts_get(&facts)) != cudaSuccess) return error;
    if (!bits) p.bits = tmap_near_sort_bits(n);
    for (int k = 0; k < 2; ++k) { // few boxes, because each block of the second kernel joins them
        const tmap_u32 most = facts.processors * (k ? 8 : 2);
        p.grid[k] = n / TMAPI_NEAR_SORT_THREADS + 1;
        if (p.grid[k] > most) p.grid[k] = most;
    }
    if (n && (error = tmapi_near_sort_call(&p, 0, &bytes, 0, none, 0)) != cudaSuccess) return error;
    p.temporary = bytes;
    p.workspace = tmapi_near_sort_divide(&p, 0, &job) + bytes;
    *out = p;
    return cudaSuccess;
}

// Gives a plan the box of the points, plan->axes finite numbers each with low <= high, so that no
// kernel looks for it. Points outside are sorted as if they were on its faces. Returns
// cudaErrorInvalidValue for a null pointer or for other numbers, and then leaves the plan as it
// was. Example: {0, 0, 0} and {1, 1, 1}.
static inline cudaError_t tmap_near_sort_plan_box(tmap_near_sort_plan *plan, const double *low,
                                                  const double *high) {
    if (!plan || !low || !high || !plan->axes) return cudaErrorInvalidValue;
    for (tmap_u32 k = 0; k < plan->axes; ++k)
        if (!(low[k] <= high[k]) || low[k] - low[k] != 0 || high[k] - high[k] != 0)
            return cudaErrorInvalidValue;
    for (tmap_u32 k = 0; k < plan->axes; ++k) plan->low[k] = low[k], plan->high[k] = high[k];
    plan->boxed = 1;
    return cudaSuccess;
}

// Writes the order of the points: order[place] is the number of the point at that place along the
// curve, a permutation of 0 ... n - 1. points: n * d coordinates at a multiple of plan->size, as in
// tmap_points. workspace: plan->workspace bytes at a multiple of 16, with any content. order: n
// numbers. All in device memory; the call does not wait.
// Returns cudaErrorInvalidValue for a null pointer or one that is not aligned, or the error of a
// launch; CUB also returns an error that an earlier call left. n = 0 launches nothing.
// Cost: reads the points twice, once with a box; one pass over keys and numbers for each 8 bits of
// a key, one over the keys before. Launches: 1 or 2, and CUB's.
// Example: n = 3, d = 2: (9,9) (0,0) (0,9) -> 1, 2, 0.
static inline cudaError_t tmap_near_sort(const tmap_near_sort_plan *plan, const void *points,
                                         void *workspace, tmap_u32 *order, cudaStream_t stream) {
    tmapi_near_sort_job j;
    tmapi_launch_shape shape = {0, TMAPI_NEAR_SORT_THREADS, 0};
    void *arguments[1] = {&j}, *temporary;
    tmap_u32 *numbers[2];
    cudaError_t error = cudaSuccess;
    size_t bytes;
    if (!plan || !plan->axes) return cudaErrorInvalidValue;
    if (!plan->n) return cudaSuccess;
    if (!points || !workspace || !order || (tmap_u64)points % plan->size ||
        (tmap_u64)workspace % 16 || (tmap_u64)order % 4)
        return cudaErrorInvalidValue;
    temporary = (void *)tmapi_near_sort_divide(plan, (tmap_u64)workspace, &j), j.points = points;
    // The sort exchanges its buffers once for each 8 bits: an odd number ends in numbers[1].
    numbers[0] = (plan->bits + 7) / 8 % 2 ? j.numbers : order;
    numbers[1] = numbers[0] == order ? j.numbers : order;
    j.numbers = numbers[0];
    if (!plan->boxed) {
        shape.grid = plan->grid[0];
        error = tmapi_launch(plan->size == 4 ? (const void *)tmapi_near_sort_box<float>
                                             : (const void *)tmapi_near_sort_box<double>,
                             shape, arguments, stream);
    }
    shape.grid = plan->grid[1];
    if (!error)
        error = tmapi_launch(plan->size == 4 ? (const void *)tmapi_near_sort_keys<float>
                                             : (const void *)tmapi_near_sort_keys<double>,
                             shape, arguments, stream);
    bytes = plan->temporary;
    if (!error) error = tmapi_near_sort_call(plan, temporary, &bytes, j.keys, numbers, stream);
    if (!error && numbers[0] != order) // CUB sorts few points in one go
        error =
            cudaMemcpyAsync(order, numbers[0], 4ull * plan->n, cudaMemcpyDeviceToDevice, stream);
    return error;
}

#endif
#endif
