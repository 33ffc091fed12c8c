// SPDX-License-Identifier: MIT
// warp.h: a thread's place in its warp and block, and sums over a warp and a block.
//
// Every sum is collective: all lanes that `warp` counts, or all threads of the block, must call it
// together. reduce.h has the sums by shuffles and on tensor cores.
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

// The number of the calling thread in its block, x fastest.
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

// The same where the block is a multiple of 32 threads: a constant width spares the code for
// partial warps.
TMAP_DEVICE tmap_warp tmap_warp_full(void) {
    tmap_warp w;
    w.lane = tmap_thread_rank() & 31u;
    w.lanes = 32;
    w.mask = 0xffffffffu;
    return w;
}

// ---- sums over a warp ---------------------------------------------------------------------------

// The sum of v over the warp modulo 2^32, by shuffles. Cost: log2(lanes) shuffles, one more for a
// partial warp.
TMAP_DEVICE tmap_u32 tmap_warp_sum_shuffle(tmap_warp w, tmap_u32 v) {
    if (w.lanes == 32) {
#pragma unroll
        for (tmap_u32 step = 16; step; step >>= 1) v += __shfl_xor_sync(w.mask, v, step);
        return v;
    }
    for (tmap_u32 step = 16; step; step >>= 1) { // lanes that do not exist add nothing
        tmap_u32 other = w.lane + step;
        tmap_u32 u = __shfl_sync(w.mask, v, other < w.lanes ? other : w.lane);
        if (other < w.lanes) v += u;
    }
    return __shfl_sync(w.mask, v, 0);
}

// The same modulo 2^64.
TMAP_DEVICE tmap_u64 tmap_warp_sum_shuffle64(tmap_warp w, tmap_u64 v) {
    if (w.lanes == 32) {
#pragma unroll
        for (tmap_u32 step = 16; step; step >>= 1) v += __shfl_xor_sync(w.mask, v, step);
        return v;
    }
    for (tmap_u32 step = 16; step; step >>= 1) {
        tmap_u32 other = w.lane + step;
        tmap_u64 u = __shfl_sync(w.mask, v, other < w.lanes ? other : w.lane);
        if (other < w.lanes) v += u;
    }
    return __shfl_sync(w.mask, v, 0);
}

// The sum of v over the warp modulo 2^32, by one instruction (redux.sync) on sm_80 and later, by
// shuffles before.
TMAP_DEVICE tmap_u32 tmap_warp_sum_redux(tmap_warp w, tmap_u32 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return tmap_warp_sum_shuffle(w, v);
#else
    return __reduce_add_sync(w.mask, v);
#endif
}

// The exact sum of 32-bit integers over the warp. Cost: two integer reductions on sm_80 and later:
// the low and the high halves are added apart, and 32 sixteen-bit numbers cannot overflow a word.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i32(tmap_warp w, int v) {
    tmap_u32 low = tmap_warp_sum_redux(w, (tmap_u32)v & 0xffffu);
    int high = (int)tmap_warp_sum_redux(w, (tmap_u32)(v >> 16));
    return (tmap_i64)high * 65536 + low;
}

// The sum of 64-bit integers over the warp, modulo 2^64. Cost: three integer reductions of a full
// warp on sm_80 and later, of 27 bits each, since 32 such numbers fit a word; ten shuffles before.
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

// Adds up one value of each warp over the block. v: the warp's sum, in all its lanes.
TMAP_DEVICE tmap_i64 tmapi_block_sum(tmap_warp w, tmap_i64 v, tmap_i64 *scratch) {
    tmap_u32 rank = tmap_thread_rank();
    tmap_u32 warps = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
    if (warps > 1) { // the same for all threads
        if (w.lane == 0) scratch[rank / 32] = v;
        __syncthreads();
        if (rank < 32) v = tmap_warp_sum_i64(w, w.lane < warps ? scratch[w.lane] : 0);
    }
    return rank == 0 ? v : 0;
}

// The sum of v over the block, modulo 2^64; thread 0 gets it, the others get 0. All threads of the
// block must call. scratch: 32 words of shared memory, free again after the next __syncthreads().
TMAP_DEVICE tmap_i64 tmap_block_sum_i64(tmap_i64 v, tmap_i64 *scratch) {
    tmap_warp w = tmap_warp_full();
    if (blockDim.x * blockDim.y * blockDim.z % 32) w = tmap_warp_self();
    return tmapi_block_sum(w, tmap_warp_sum_i64(w, v), scratch);
}

// The exact sum of 32-bit integers over the block, to thread 0; as above, and cheaper.
TMAP_DEVICE tmap_i64 tmap_block_sum_i32(int v, tmap_i64 *scratch) {
    tmap_warp w = tmap_warp_self();
    return tmapi_block_sum(w, tmap_warp_sum_i32(w, v), scratch);
}

#endif // TMAP_CUDA
#endif
