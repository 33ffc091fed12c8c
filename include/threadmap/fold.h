// SPDX-License-Identifier: MIT
// fold.h: an accumulator of the user's type in each thread, joined to one value over a warp, a
// block or a whole launch by a function of the user's and in a fixed order.
//
//     static __device__ void join(void *job, void *sum, const void *other) {
//         *(double *)sum += *(const double *)other;
//     }
//     const double zero = 0;
//     const tmap_fold fold = {&zero, sizeof zero, join};
//     tmap_fold_grid(&sum, fold, to, 0); // *to.result is the sum of all threads of the launch
//
// tmap_each_fold (fractal/fold.h) and tmap_pairs_fold (triangle/pairs.h) make the accumulators too.
#ifndef TMAP_FOLD_H
#define TMAP_FOLD_H

#include "check.h"
#include "value.h"
#include "warp.h"

// The largest accumulator that the functions below take, in bytes.
#define TMAP_FOLD_BYTES_MAX 64

#if TMAP_CUDA

// Adds what another thread has to the accumulator.
typedef void (*tmap_fold_join)(void *job, void *accumulator, const void *other);

// How accumulators begin and are joined. Its members are constants of the kernel, which nvcc folds.
typedef struct tmap_fold {
    const void *zero; // what every accumulator begins with; it is joined any number of times
    tmap_u32 bytes;   // of an accumulator: a multiple of 4, 4 to TMAP_FOLD_BYTES_MAX
    tmap_fold_join join;
} tmap_fold;

// Where a fold goes, in device memory.
typedef struct tmap_fold_to {
    void *workspace; // as many bytes as the plan asks for, at a multiple of 16, cleared once before
                     // the first launch; launches that overlap need one each
    void *result;    // an accumulator
} tmap_fold_to;

typedef struct tmapi_fold_words {
    alignas(16) tmap_u32 word[TMAP_FOLD_BYTES_MAX / 4];
} tmapi_fold_words;

// 1 if accumulators have a size that the functions below take.
TMAP_DEVICE int tmapi_fold_check(tmap_fold fold, const char *function) {
    return TMAPI_CHECK(fold.bytes % 4 == 0 && fold.bytes - 4 <= TMAP_FOLD_BYTES_MAX - 4, function,
                       "fold.bytes is not a multiple of 4 from 4 to 64");
}

// 1 if a counter of `count` arrivals was 0 before the first one.
TMAP_DEVICE int tmapi_fold_cleared(tmap_u64 before, tmap_u64 count) {
    return TMAPI_CHECK(before < count, "workspace",
                       "not cleared before its first launch, or used by two at a time");
}

// The whole warps of a block.
TMAP_DEVICE tmap_u32 tmapi_fold_warps(void) { return blockDim.x * blockDim.y * blockDim.z / 32; }

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

// Joins the accumulators of a full warp; lane 0 has the result, the others have parts of it.
// Collective for the warp. Cost: five times fold.bytes / 4 shuffles.
TMAP_DEVICE void tmap_fold_warp(void *accumulator, tmap_fold fold, void *job) {
    tmapi_fold_join_lanes(accumulator, fold.bytes, fold.join, job, 32);
}

// Joins the accumulators of a block of whole warps; thread 0 has the result. scratch: fold.bytes
// bytes of shared memory for each warp, free again after the next __syncthreads(). Collective for
// the block.
TMAP_DEVICE void tmap_fold_block(void *accumulator, tmap_fold fold, void *job, void *scratch) {
    const tmap_u32 rank = tmap_thread_rank(), warps = tmapi_fold_warps();
    unsigned char *parts = (unsigned char *)scratch;
    tmap_fold_warp(accumulator, fold, job);
    if (rank % 32 == 0) tmapi_fold_move(parts + rank / 32 * fold.bytes, accumulator, fold.bytes);
    __syncthreads();
    if (rank < 32) {
        if (rank < warps) tmapi_fold_move(accumulator, parts + rank * fold.bytes, fold.bytes);
        tmapi_fold_join_lanes(accumulator, fold.bytes, fold.join, job, warps);
    }
}

// Returns 1 in every thread of the last of `count` blocks to arrive; writes made by the other
// blocks before they arrived are then visible, and *counter is 0 again. A block's writes are those
// of thread 0, or with a barrier before, of all its threads. counter: in device memory, 0 before
// the launch. Collective for the block, with a barrier.
TMAP_DEVICE int tmapi_fold_last(tmap_u64 *counter, tmap_u64 count) {
    int last = 0;
    if (tmap_thread_rank() == 0) {
        __threadfence(); // what is written is there before the block is counted
        const tmap_u64 before = atomicAdd(counter, 1ull);
        last = tmapi_fold_cleared(before, count) && before == count - 1;
        if (last) *counter = 0;
    }
    last = __syncthreads_or(last);
    if (last) __threadfence();
    return last;
}

// Joins `count` parts that blocks have written; thread 0 has the result.
TMAP_DEVICE void tmapi_fold_parts(void *accumulator, const void *zero, tmap_u32 size,
                                  tmap_fold_join join, void *job, void *scratch,
                                  const unsigned char *parts, tmap_u64 count) {
    const tmap_u32 threads = 32 * tmapi_fold_warps();
    const tmap_fold fold = {zero, size, join};
    tmapi_fold_move(accumulator, zero, size);
    for (tmap_u64 i = tmap_thread_rank(); i < count; i += threads) {
        tmapi_fold_words other;
        tmapi_fold_fetch(&other, parts + i * size, size);
        join(job, accumulator, &other);
    }
    tmap_fold_block(accumulator, fold, job, scratch);
}

// Shared memory for an accumulator of each of 32 warps. bytes: a constant, so that a kernel has one
// of the three.
TMAP_DEVICE void *tmapi_fold_scratch(tmap_u32 bytes) {
    if (bytes <= 8) {
        __shared__ tmap_u64 small[32];
        return small;
    }
    if (bytes <= 16) {
        __shared__ tmapi_value medium[32];
        return medium;
    }
    __shared__ tmapi_fold_words large[32];
    return large;
}

// Joins the accumulators of all threads of a launch of one axis; the last block to arrive writes
// the result to *to.result. to.workspace: 16 bytes and fold.bytes for each block (a plan's
// tmap_each_fold_bytes); each launch leaves its first 16 bytes cleared. Otherwise as
// tmap_fold_block: all threads of all blocks call it, in blocks of whole warps.
TMAP_DEVICE void tmap_fold_grid(void *accumulator, tmap_fold fold, tmap_fold_to to, void *job) {
    const tmap_u32 rank = tmap_thread_rank(), bytes = fold.bytes;
    unsigned char *parts = (unsigned char *)to.workspace + 16;
    void *scratch = tmapi_fold_scratch(bytes);
    if (!tmapi_fold_check(fold, "tmap_fold_grid")) return;
    tmap_fold_block(accumulator, fold, job, scratch);
    if (gridDim.x > 1) {
        if (rank == 0) tmapi_fold_move(parts + blockIdx.x * (tmap_u64)bytes, accumulator, bytes);
        if (!tmapi_fold_last((tmap_u64 *)to.workspace, gridDim.x)) return;
        tmapi_fold_parts(accumulator, fold.zero, bytes, fold.join, job, scratch, parts, gridDim.x);
    }
    if (rank == 0) tmapi_fold_move(to.result, accumulator, bytes);
}

#endif // TMAP_CUDA
#endif
