// SPDX-License-Identifier: MIT
// near_prepare.h: prepares a set of points for near.h.
#ifndef TMAP_TRIANGLE_NEAR_PREPARE_H
#define TMAP_TRIANGLE_NEAR_PREPARE_H

#include "near_set.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

typedef struct tmapi_near_input {
    tmap_near_shape shape;
    tmapi_near_layout layout;
    const unsigned char *points;
    const tmap_u32 *order; // or 0
    unsigned char *set;
    tmap_u32 level; // whose boxes are found
} tmapi_near_input;

// A finite float as a number with the same order, and back.
TMAP_DEVICE tmap_u32 tmapi_near_rank(float v) {
    const tmap_u32 bits = __float_as_uint(v);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
TMAP_DEVICE float tmapi_near_unrank(tmap_u32 rank) {
    return __uint_as_float(rank >> 31 ? rank & 0x7fffffffu : ~rank);
}

// Writes box number b of a level: its count and its bounds. bounds: shared, 32 apart, ranks; those
// of upper bounds are inverted. One lane calls it.
TMAP_DEVICE void tmapi_near_put(const tmapi_near_input *in, tmap_u32 level, tmap_u32 b,
                                const tmap_u32 *bounds, tmap_u32 count) {
    const tmap_u64 group = in->layout.level[level] + b / 32;
    float *to =
        (float *)(in->set + in->layout.boxes + group * tmapi_near_group_bytes(in->shape.d)) +
        b % 32;
#pragma unroll
    for (tmap_u32 k = 0; k < TMAP_PAIRS_D_MAX; ++k)
        if (k < in->shape.d) {
            to[64 * k] = count ? tmapi_near_unrank(bounds[64 * k]) : 0;
            to[64 * k + 32] = count ? tmapi_near_unrank(~bounds[64 * k + 32]) : 0;
        }
    ((tmap_u32 *)to)[64 * in->shape.d] = count;
}

// Copies a leaf's points, those with finite coordinates first, and finds its box. found: shared,
// the bounds and the count of each leaf of the block. Collective for the warp.
TMAP_DEVICE void tmapi_near_copy_leaf(const tmapi_near_input *in, tmap_u32 leaf,
                                      tmap_u32 (*found)[32]) {
    const tmap_u32 n = in->shape.n, d = in->shape.d, size = in->shape.size;
    const tmap_u32 lane = threadIdx.x % 32, at = leaf % 32;
    const tmap_u64 slot = leaf * 32ull + lane;
    const tmap_u32 number = slot >= n ? n : in->order ? in->order[slot] : (tmap_u32)slot;
    const unsigned char *from = in->points + (tmap_u64)number * d * size;
    unsigned char *points = in->set + (tmap_u64)leaf * tmapi_near_leaf_bytes(d, size);
    tmapi_pairs_point point;
    tmap_u32 valid, to;
    int finite = number < n;
    if (finite)
#pragma unroll
        for (tmap_u32 k = 0; k < TMAP_PAIRS_D_MAX; ++k)
            if (k < d) {
                tmapi_value_copy(point.bytes + 8 * k, from + k * size, size);
                finite = finite && (size == 8 ? isfinite(*(const double *)(point.bytes + 8 * k))
                                              : isfinite(*(const float *)(point.bytes + 8 * k)));
            }
    valid = __ballot_sync(0xffffffffu, finite);
    to = __popc((finite ? valid : ~valid) & ((1u << lane) - 1)) + (finite ? 0 : __popc(valid));
#pragma unroll
    for (tmap_u32 k = 0; k < TMAP_PAIRS_D_MAX; ++k)
        if (k < d) {
            const float low = tmapi_near_down(point.bytes + 8 * k, size);
            const float high = tmapi_near_up(point.bytes + 8 * k, size);
            const tmap_u32 least = tmapi_near_min(finite ? tmapi_near_rank(low) : ~0u);
            const tmap_u32 most = tmapi_near_min(finite ? ~tmapi_near_rank(high) : ~0u);
            if (finite)
                tmapi_value_copy(points + (k * 32 + to) * size, point.bytes + 8 * k, size);
            else if (leaf < tmapi_near_leaves(n))
                tmapi_value_zero(points + (k * 32 + to) * size, size);
            if (lane == 0) found[2 * k][at] = least, found[2 * k + 1][at] = most;
        }
    if (leaf < tmapi_near_leaves(n))
        ((tmap_u32 *)(points + 32 * d * size))[to] = number < n ? number : 0xffffffffu;
    if (lane) return;
    tmapi_near_put(in, 0, leaf, &found[0][at], (tmap_u32)__popc(valid));
    found[2 * d][at] = (tmap_u32)__popc(valid);
}

// Copies 1024 points and finds their boxes.
static __global__ void __launch_bounds__(256) tmapi_near_leaves_kernel(tmapi_near_input in) {
    __shared__ tmap_u32 found[2 * TMAP_PAIRS_D_MAX + 1][32];
    const tmap_u32 d = in.shape.d, lane = threadIdx.x % 32;
    TMAPI_NO_UNROLL
    for (tmap_u32 leaf = threadIdx.x / 32; leaf < 32; leaf += 8)
        tmapi_near_copy_leaf(&in, blockIdx.x * 32 + leaf, found);
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const tmap_u32 count = tmap_warp_sum_redux(tmap_warp_full(), found[2 * d][lane]);
    for (tmap_u32 k = 0; k < 2 * d; ++k) {
        const tmap_u32 bound = tmapi_near_min(found[k][lane]);
        if (lane == 0) found[k][0] = bound;
    }
    if (lane == 0) tmapi_near_put(&in, 1, blockIdx.x, &found[0][0], count);
    if (lane && blockIdx.x + 1 == gridDim.x && blockIdx.x % 32 + lane < 32) // boxes of no points
        tmapi_near_put(&in, 1, blockIdx.x + lane, &found[0][0], 0);
}

// The boxes of a level from those of the one below, a warp each, and those of no points behind
// them.
static __global__ void __launch_bounds__(1024) tmapi_near_level_kernel(tmapi_near_input in) {
    const tmap_u32 n = in.shape.n, d = in.shape.d, below = in.level - 1;
    const tmap_u32 lane = threadIdx.x % 32, b = blockIdx.x * 32 + threadIdx.x / 32;
    __shared__ tmap_u32 found[2 * TMAP_PAIRS_D_MAX][32];
    tmap_u32 count = 0;
    if (b < tmapi_near_groups(n, below)) {
        const tmap_u64 group = in.layout.level[below] + b;
        const float *from =
            (const float *)(in.set + in.layout.boxes + group * tmapi_near_group_bytes(d)) + lane;
        const tmap_u32 mine = ((const tmap_u32 *)from)[64 * d];
        count = tmap_warp_sum_redux(tmap_warp_full(), mine);
#pragma unroll
        for (tmap_u32 k = 0; k < TMAP_PAIRS_D_MAX; ++k)
            if (k < d) {
                const tmap_u32 low = tmapi_near_rank(from[64 * k]);
                const tmap_u32 high = ~tmapi_near_rank(from[64 * k + 32]);
                const tmap_u32 least = tmapi_near_min(mine ? low : ~0u);
                const tmap_u32 most = tmapi_near_min(mine ? high : ~0u);
                if (lane == 0) found[2 * k][b % 32] = least, found[2 * k + 1][b % 32] = most;
            }
    }
    if (lane == 0) tmapi_near_put(&in, in.level, b, &found[0][b % 32], count);
}

// Prepares a set: copies n points and finds their boxes. points: in device memory, the d
// coordinates of point i from coordinate i * d on, at a multiple of `size`. order: in device
// memory, the numbers 0 to n - 1, in the order in which points are to lie together (near_sort.h, or
// yours); 0: as they are. A number of n or more in it is no point. set: tmap_near_set_bytes
// bytes at a multiple of 128 in device memory. Points that have moved a little need no new order:
// call it again with the same one (a `refit`). In a periodic box, take points back into it only
// with a new order: one that jumps to the other side makes its leaf's box as long as the periodic
// one. Returns cudaErrorInvalidValue for a null pointer, a shape outside its range and wrong
// alignment, else the error of a launch. n = 0 launches nothing. Does not wait; can be captured in
// a graph. Cost: two launches, three above 2^20 points, which read the points and the order and
// write the set.
static inline cudaError_t tmap_near_prepare(tmap_near_shape shape, const void *points,
                                            const tmap_u32 *order, void *set, cudaStream_t stream) {
    tmapi_near_input in = {shape, tmapi_near_layout_of(shape), (const unsigned char *)points,
                           order, (unsigned char *)set,        2};
    tmapi_launch_shape leaves = {tmapi_near_groups(shape.n, 0), 256, 0};
    tmapi_launch_shape top = {in.layout.top, 1024, 0}, high = {in.layout.high, 1024, 0};
    void *arguments[1] = {&in};
    cudaError_t error;
    if (!tmapi_near_shape_fits(shape)) return cudaErrorInvalidValue;
    if (!shape.n) return cudaSuccess;
    if (!points || !set || (tmap_u64)points % shape.size || (tmap_u64)set % 128 ||
        (tmap_u64)order % 4)
        return cudaErrorInvalidValue;
    error = tmapi_launch((const void *)tmapi_near_leaves_kernel, leaves, arguments, stream);
    if (!error) error = tmapi_launch((const void *)tmapi_near_level_kernel, top, arguments, stream);
    if (error || !in.layout.high) return error;
    in.level = 3;
    return tmapi_launch((const void *)tmapi_near_level_kernel, high, arguments, stream);
}

#endif
#endif
