// SPDX-License-Identifier: MIT
// fold.h: accumulators of the user's type, one of each thread, joined to one value over a warp, a
// block, or a whole launch, by a function of the user's and in a fixed order.
//
//     static __device__ void join(void *job, void *sum, const void *other) {
//         *(double *)sum += *(const double *)other;
//     }
//     __shared__ double scratch[32];
//     tmap_fold_block(&sum, sizeof sum, join, 0, scratch); // thread 0 has the block's sum
//
// fractal/fold.h and triangle/pairs.h make the accumulators.
#ifndef TMAP_FOLD_H
#define TMAP_FOLD_H

#include "value.h"
#include "warp.h"

#if TMAP_CUDA

// Adds what another thread has to the accumulator.
typedef void (*tmap_fold_join)(void *job, void *accumulator, const void *other);

// The largest accumulator that the functions below take, in bytes.
#define TMAP_FOLD_BYTES_MAX 64

typedef struct tmapi_fold_words {
    alignas(16) tmap_u32 word[TMAP_FOLD_BYTES_MAX / 4];
} tmapi_fold_words;

// The whole warps of a block.
TMAP_DEVICE tmap_u32 tmapi_fold_warps(void) { return blockDim.x * blockDim.y * blockDim.z / 32; }

// Joins the accumulators of the first `lanes` lanes of a full warp; lane 0 has the result.
TMAP_DEVICE void tmapi_fold_join_lanes(void *accumulator, tmap_u32 size, tmap_fold_join join,
                                       void *job, tmap_u32 lanes) {
    const tmap_u32 lane = tmap_thread_rank() % 32;
#pragma unroll
    for (tmap_u32 step = 16; step; step >>= 1) {
        tmapi_fold_words other;
#pragma unroll
        for (tmap_u32 i = 0; i < TMAP_FOLD_BYTES_MAX / 4; ++i)
            if (i < size / 4)
                other.word[i] =
                    __shfl_down_sync(0xffffffffu, ((const tmapi_value_u32 *)accumulator)[i], step);
        if (lane < step && lane + step < lanes) join(job, accumulator, &other);
    }
}

// Joins the accumulators of a full warp, in a fixed order; lane 0 has the result, the others have
// parts of it. size: of an accumulator, a multiple of 4 up to TMAP_FOLD_BYTES_MAX, a constant.
// Collective for the warp. Cost: five times size / 4 shuffles.
TMAP_DEVICE void tmap_fold_warp(void *accumulator, tmap_u32 size, tmap_fold_join join, void *job) {
    tmapi_fold_join_lanes(accumulator, size, join, job, 32);
}

TMAP_DEVICE void tmapi_fold_move(void *to, const void *from, tmap_u32 size) {
#pragma unroll
    for (tmap_u32 i = 0; i < TMAP_FOLD_BYTES_MAX / 4; ++i)
        if (i < size / 4) ((tmapi_value_u32 *)to)[i] = ((const tmapi_value_u32 *)from)[i];
}

// The same from memory that other blocks have written.
TMAP_DEVICE void tmapi_fold_fetch(void *to, const void *from, tmap_u32 size) {
#pragma unroll
    for (tmap_u32 i = 0; i < TMAP_FOLD_BYTES_MAX / 4; ++i)
        if (i < size / 4) ((tmapi_value_u32 *)to)[i] = ((const volatile tmapi_value_u32 *)from)[i];
}

// Joins the accumulators of a block of whole warps, in a fixed order; thread 0 has the result.
// scratch: `size` bytes of shared memory for each warp, free again after the next __syncthreads().
// Collective for the block. size: as for tmap_fold_warp.
TMAP_DEVICE void tmap_fold_block(void *accumulator, tmap_u32 size, tmap_fold_join join, void *job,
                                 void *scratch) {
    const tmap_u32 rank = tmap_thread_rank(), warps = tmapi_fold_warps();
    unsigned char *parts = (unsigned char *)scratch;
    tmap_fold_warp(accumulator, size, join, job);
    if (rank % 32 == 0) tmapi_fold_move(parts + rank / 32 * size, accumulator, size);
    __syncthreads();
    if (rank < 32) {
        if (rank < warps) tmapi_fold_move(accumulator, parts + rank * size, size);
        tmapi_fold_join_lanes(accumulator, size, join, job, warps);
    }
}

// 1 for all threads of the block that is the last of `count` to come here, and then what thread 0
// of any other one, or with a barrier before all of its threads, have written is there to be read;
// *counter is 0 again.
// counter: a 64-bit word of device memory, 0 before the launch. Collective for the block, with a
// barrier.
TMAP_DEVICE int tmapi_fold_last(tmap_u64 *counter, tmap_u64 count) {
    int last = 0;
    if (tmap_thread_rank() == 0) {
        __threadfence(); // what is written is there before the block is counted
        last = atomicAdd(counter, 1ull) == count - 1;
        if (last) *counter = 0;
    }
    last = __syncthreads_or(last);
    if (last) __threadfence();
    return last;
}

// Joins `count` parts that blocks have written, in a fixed order; thread 0 has the result.
TMAP_DEVICE void tmapi_fold_parts(void *accumulator, const void *zero, tmap_u32 size,
                                  tmap_fold_join join, void *job, void *scratch,
                                  const unsigned char *parts, tmap_u64 count) {
    const tmap_u32 threads = 32 * tmapi_fold_warps();
    tmapi_fold_move(accumulator, zero, size);
    for (tmap_u64 i = tmap_thread_rank(); i < count; i += threads) {
        tmapi_fold_words other;
        tmapi_fold_fetch(&other, parts + i * size, size);
        join(job, accumulator, &other);
    }
    tmap_fold_block(accumulator, size, join, job, scratch);
}

// Joins the accumulators of all threads of the launch, in a fixed order, and writes the result to
// *result, which is done by the last block that comes here.
// zero: what every thread's accumulator began with; it is joined any number of times. blocks:
// tmap_fold_grid_bytes bytes of device memory at a multiple of 16, of which the first 16 are zero
// before the first launch that uses them; each launch leaves them so. Launches that run at the same
// time need memory of their own. result: device memory for one accumulator. Otherwise as
// tmap_fold_block; the launch has one axis.
TMAP_DEVICE void tmap_fold_grid(void *accumulator, const void *zero, tmap_u32 size,
                                tmap_fold_join join, void *job, void *scratch, void *blocks,
                                void *result) {
    const tmap_u32 rank = tmap_thread_rank();
    unsigned char *parts = (unsigned char *)blocks + 16;
    tmap_fold_block(accumulator, size, join, job, scratch);
    if (gridDim.x > 1) {
        if (rank == 0) tmapi_fold_move(parts + blockIdx.x * (tmap_u64)size, accumulator, size);
        if (!tmapi_fold_last((tmap_u64 *)blocks, gridDim.x)) return;
        tmapi_fold_parts(accumulator, zero, size, join, job, scratch, parts, gridDim.x);
    }
    if (rank == 0) tmapi_fold_move(result, accumulator, size);
}

#endif // TMAP_CUDA
#endif
