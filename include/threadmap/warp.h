// SPDX-License-Identifier: MIT
// warp.h: a thread's position in its warp and block, and sums over a warp and a block.
//
// Every sum is collective: all lanes of the given tmap_warp, or all threads of the block, must call
// it together. Sums over a warp use no memory; the scratch of a sum over a block may be reused
// after the next __syncthreads(). reduce.h has sums by shuffles and on tensor cores.
#ifndef TMAP_WARP_H
#define TMAP_WARP_H

#include "core.h"

#if TMAP_CUDA

// A lane's view of its warp.
typedef struct tmap_warp {
    tmap_u32 lane;  // 0..lanes-1
    tmap_u32 lanes; // threads of the block in this warp: 32, or fewer in a block's last warp
    tmap_u32 mask;  // their lanes, for the _sync intrinsics
} tmap_warp;

// The rank of the calling thread in its block, x fastest.
TMAP_DEVICE tmap_u32 tmap_thread_rank(void) {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// The calling thread's warp, in a block of any size.
TMAP_DEVICE tmap_warp tmap_warp_self(void) {
    tmap_u32 rank = tmap_thread_rank(), left = blockDim.x * blockDim.y * blockDim.z - (rank & ~31u);
    tmap_warp w;
    w.lane = rank & 31u;
    w.lanes = left < 32 ? left : 32;
    w.mask = 0xffffffffu >> (32 - w.lanes);
    return w;
}

// The calling thread's warp, in a block of a multiple of 32 threads: the width is a constant, which
// saves the code for partial warps.
TMAP_DEVICE tmap_warp tmap_warp_full(void) {
    tmap_warp w;
    w.lane = tmap_thread_rank() & 31u;
    w.lanes = 32;
    w.mask = 0xffffffffu;
    return w;
}

// ---- sums over a warp ---------------------------------------------------------------------------

#define TMAPI_WARP_SUM(name, type) \
    TMAP_DEVICE type name(tmap_warp w, type v) { \
        if (w.lanes == 32) { \
            for (tmap_u32 step = 16; step; step >>= 1) v += __shfl_xor_sync(w.mask, v, step); \
            return v; \
        } \
        for (tmap_u32 step = 16; step; step >>= 1) { /* lanes that do not exist add nothing */ \
            tmap_u32 other = w.lane + step; \
            type u = __shfl_sync(w.mask, v, other < w.lanes ? other : w.lane); \
            if (other < w.lanes) v += u; \
        } \
        return __shfl_sync(w.mask, v, 0); \
    }
// The sum of v over the warp, in all lanes, by shuffles. Integers: modulo 2^32 or 2^64. Floats and
// doubles: |error| <= 5 e * 1.000001 * sum |v|, e = 2^-24 or 2^-53. Cost: log2(lanes) shuffles of a
// value, one more for a partial warp.
TMAPI_WARP_SUM(tmap_warp_sum_shuffle, tmap_u32)
TMAPI_WARP_SUM(tmap_warp_sum_shuffle64, tmap_u64)
TMAPI_WARP_SUM(tmap_warp_sum_f32_shuffle, float)
TMAPI_WARP_SUM(tmap_warp_sum_f64_shuffle, double)
#undef TMAPI_WARP_SUM

// The sum of v over the lanes of a full warp up to the calling one, which is `lane`, modulo 2^32 or
// 2^64. All lanes call it. Cost: five shuffles of a value.
#define TMAPI_WARP_SCAN(function, type) \
    TMAP_DEVICE type function(tmap_u32 lane, type v) { \
        _Pragma("unroll") for (tmap_u32 n = 1; n < 32; n *= 2) { \
            const type before = __shfl_up_sync(~0u, v, n); \
            if (lane >= n) v += before; \
        } \
        return v; \
    }
TMAPI_WARP_SCAN(tmapi_warp_scan, tmap_u32)
TMAPI_WARP_SCAN(tmapi_warp_scan64, tmap_u64)
#undef TMAPI_WARP_SCAN

// Numbers the lanes of a full warp that want a place, in their order from *count on, which grows by
// them and is the same in all lanes. The others get any number. All lanes call it, `lane` is the
// calling one. Cost: a ballot.
TMAP_DEVICE tmap_u32 tmapi_warp_place(tmap_u32 lane, tmap_u32 *count, int wanted) {
    const tmap_u32 lanes = __ballot_sync(~0u, wanted);
    const tmap_u32 at = *count + (tmap_u32)__popc((int)(lanes & ((1u << lane) - 1)));
    *count += (tmap_u32)__popc((int)lanes);
    return at;
}

// The sum of v over the warp modulo 2^32, in all lanes: one instruction (redux.sync) on sm_80 and
// later, shuffles before.
TMAP_DEVICE tmap_u32 tmap_warp_sum_redux(tmap_warp w, tmap_u32 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return tmap_warp_sum_shuffle(w, v);
#else
    return __reduce_add_sync(w.mask, v);
#endif
}

// The exact sum of 32-bit integers over the warp, in all lanes. Cost: two integer reductions on
// sm_80 and later, for the low and the high halves: 32 sixteen-bit numbers cannot overflow a word.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i32(tmap_warp w, int v) {
    tmap_u32 low = tmap_warp_sum_redux(w, (tmap_u32)v & 0xffffu);
    int high = (int)tmap_warp_sum_redux(w, (tmap_u32)(v >> 16));
    return (tmap_i64)high * 65536 + low;
}

// The sum of 64-bit integers over the warp, modulo 2^64, in all lanes. Cost: three integer
// reductions of 27 bits each for a full warp on sm_80 and later, since 32 such numbers fit a word;
// otherwise shuffles, ten for a full warp.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i64(tmap_warp w, tmap_i64 v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (w.lanes == 32) {
        tmap_u64 u = (tmap_u64)v;
        tmap_u64 low = tmap_warp_sum_redux(w, (tmap_u32)u & 0x7ffffffu);
        tmap_u64 middle = tmap_warp_sum_redux(w, (tmap_u32)(u >> 27) & 0x7ffffffu);
        tmap_u64 high = tmap_warp_sum_redux(w, (tmap_u32)(u >> 54));
        return (tmap_i64)(low + (middle << 27) + (high << 54));
    }
#endif
    return (tmap_i64)tmap_warp_sum_shuffle64(w, (tmap_u64)v);
}

// The number of warps of the block; the last one may be partial.
TMAP_DEVICE tmap_u32 tmapi_block_warps(void) {
    return (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
}

// In a block of several warps, moves a value of each warp to a lane of the first warp, and sets
// its other lanes to 0. Returns 1 in that warp, else 0. v: in lane 0 of each warp. Collective for
// the block.
TMAP_DEVICE int tmapi_block_gather(tmap_warp w, tmap_i64 *v, tmap_i64 *scratch) {
    const tmap_u32 rank = tmap_thread_rank();
    if (tmapi_block_warps() == 1) return 0; // the same for all threads
    if (w.lane == 0) scratch[rank / 32] = *v;
    __syncthreads();
    if (rank >= 32) return 0;
    *v = w.lane < tmapi_block_warps() ? scratch[w.lane] : 0;
    return 1;
}

// The sum over the block, in thread 0, of values that the warps have in all their lanes.
TMAP_DEVICE tmap_i64 tmapi_block_sum(tmap_warp w, tmap_i64 v, tmap_i64 *scratch) {
    if (tmapi_block_gather(w, &v, scratch)) v = tmap_warp_sum_i64(w, v);
    return tmap_thread_rank() == 0 ? v : 0;
}

// The calling thread's warp. Its mask is a constant in a block of full warps: a collective with
// another mask costs a test for divergence.
TMAP_DEVICE tmap_warp tmapi_block_warp(void) {
    tmap_warp w = tmap_warp_full();
    if (blockDim.x * blockDim.y * blockDim.z % 32) w = tmap_warp_self();
    return w;
}

// The sum of v over the block, modulo 2^64, in thread 0; the others get 0. All threads of the block
// must call it. scratch: 32 words of shared memory, free for reuse, by another sum too, after the
// next __syncthreads(). Cost: tmap_warp_sum_i64 twice, and a barrier; once, and no barrier, in a
// block of one warp.
TMAP_DEVICE tmap_i64 tmap_block_sum_i64(tmap_i64 v, tmap_i64 *scratch) {
    const tmap_warp w = tmapi_block_warp();
    return tmapi_block_sum(w, tmap_warp_sum_i64(w, v), scratch);
}

// The exact sum of 32-bit integers over the block, in thread 0; the others get 0. Cheaper than
// tmap_block_sum_i64, with the same parameters and the same reuse of scratch.
TMAP_DEVICE tmap_i64 tmap_block_sum_i32(int v, tmap_i64 *scratch) {
    const tmap_warp w = tmapi_block_warp();
    return tmapi_block_sum(w, tmap_warp_sum_i32(w, v), scratch);
}

#endif // TMAP_CUDA
#endif
