// SPDX-License-Identifier: MIT
// fold.h: joins an accumulator of each thread into one value over a warp, a block or a launch, with
// your join function and in a fixed order.
//
//     static __device__ void join(void *job, void *sum, const void *other) {
//         *(double *)sum += *(const double *)other;
//     }
//     const double zero = 0;
//     const tmap_fold fold = {&zero, sizeof zero, join};
//     tmap_fold_grid(&sum, fold, to, 0); // *to.result is the sum of all threads of the launch
//
// tmap_each_fold (fractal/fold.h), tmap_pairs_fold (triangle/pairs.h) also fill the accumulators.
#ifndef TMAP_FOLD_H
#define TMAP_FOLD_H

#include "check.h"
#include "value.h"
#include "warp.h"

// The largest accumulator, in bytes.
#define TMAP_FOLD_BYTES_MAX 64

#if TMAP_CUDA

// Joins *other, the accumulator of another thread, into *accumulator.
typedef void (*tmap_fold_join)(void *job, void *accumulator, const void *other);

// How accumulators begin and are joined. The members are constants of the kernel, which nvcc folds.
// tmap_each_fold and tmap_pairs_fold call no `add` on an accumulator after its first join. So `add`
// may count in the low 32 bits of a 64-bit accumulator, if one thread adds less than 2^32 to it,
// while `join` adds in 64 bits.
typedef struct tmap_fold {
    const void *zero; // start value of accumulators; neutral: it is joined any number of times
    tmap_u32 bytes;   // of an accumulator: a multiple of 4, 4 to TMAP_FOLD_BYTES_MAX
    tmap_fold_join join;
} tmap_fold;

// Where a fold works and writes: two addresses in device memory.
typedef struct tmap_fold_to {
    void *workspace; // at a multiple of 16; tmap_fold_grid and the engines say how many bytes.
                     // Zero all of it once, before the first launch: each launch leaves it ready
                     // for the next. After a failed launch zero it again. Overlapping launches,
                     // and two folds of a kernel, need one each.
    void *result;    // an accumulator, at a multiple of its alignment
} tmap_fold_to;

typedef struct tmapi_fold_words {
    alignas(16) tmap_u32 word[TMAP_FOLD_BYTES_MAX / 4];
} tmapi_fold_words;

// 1 if the functions below take accumulators of this size. A fold of another size does nothing: a
// larger accumulator would be written past the end of the engine's own.
TMAP_DEVICE int tmapi_fold_check(tmap_fold fold, const char *function) {
    const int fits = fold.bytes % 4 == 0 && fold.bytes - 4 <= TMAP_FOLD_BYTES_MAX - 4;
    return TMAPI_CHECK(fits, function, "fold.bytes is not a multiple of 4 from 4 to 64") && fits;
}

// 1 if a counter of `count` arrivals was 0 before the first one.
TMAP_DEVICE int tmapi_fold_cleared(tmap_u64 before, tmap_u64 count) {
    return TMAPI_CHECK(before < count, "workspace",
                       "not cleared before its first launch, or used by two at a time");
}

// The full warps of a block.
TMAP_DEVICE tmap_u32 tmapi_fold_warps(void) { return blockDim.x * blockDim.y * blockDim.z / 32; }

// Copies an accumulator of `size` bytes, word by word.
TMAP_DEVICE void tmapi_fold_move(void *to, const void *from, tmap_u32 size) {
#pragma unroll
    for (tmap_u32 i = 0; i < TMAP_FOLD_BYTES_MAX / 4; ++i)
        if (i < size / 4) ((tmapi_value_u32 *)to)[i] = ((const tmapi_value_u32 *)from)[i];
}

// Copies an accumulator from memory that other blocks have written.
TMAP_DEVICE void tmapi_fold_fetch(void *to, const void *from, tmap_u32 size) {
#pragma unroll
    for (tmap_u32 i = 0; i < TMAP_FOLD_BYTES_MAX / 4; ++i)
        if (i < size / 4) ((tmapi_value_u32 *)to)[i] = ((const volatile tmapi_value_u32 *)from)[i];
}

// Joins the accumulators of the first `lanes` lanes of a full warp into that of lane 0.
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

// Joins the accumulators of a full warp into that of lane 0; other lanes keep partial results.
// Collective for the warp; it uses no memory that others might reuse. Cost: five times
// fold.bytes / 4 shuffles.
TMAP_DEVICE void tmap_fold_warp(void *accumulator, tmap_fold fold, void *job) {
    if (!tmapi_fold_check(fold, "tmap_fold_warp")) return;
    tmapi_fold_join_lanes(accumulator, fold.bytes, fold.join, job, 32);
}

// Joins the accumulators of a block of full warps into that of thread 0; other threads keep partial
// results. scratch: fold.bytes bytes of shared memory for each warp, at a multiple of 4; the block
// may reuse them after the next __syncthreads(). Collective for the block. Cost: tmap_fold_warp
// twice, and a barrier.
TMAP_DEVICE void tmap_fold_block(void *accumulator, tmap_fold fold, void *job, void *scratch) {
    const tmap_u32 rank = tmap_thread_rank(), warps = tmapi_fold_warps();
    unsigned char *parts = (unsigned char *)scratch;
    if (!tmapi_fold_check(fold, "tmap_fold_block")) return;
    tmap_fold_warp(accumulator, fold, job);
    if (rank % 32 == 0) tmapi_fold_move(parts + rank / 32 * fold.bytes, accumulator, fold.bytes);
    __syncthreads();
    if (rank < 32) {
        if (rank < warps) tmapi_fold_move(accumulator, parts + rank * fold.bytes, fold.bytes);
        tmapi_fold_join_lanes(accumulator, fold.bytes, fold.join, job, warps);
    }
}

// Returns 1 in every thread of the last of `count` blocks to arrive; writes made by the other
// blocks before they arrived are then visible, and *counter is 0 again. This holds for the writes
// of a block's thread 0, and for those of all its threads if a barrier precedes the call. counter:
// in device memory, 0 before the launch. Collective for the block, with a barrier.
TMAP_DEVICE int tmapi_fold_last(tmap_u64 *counter, tmap_u64 count) {
    int last = 0;
    if (tmap_thread_rank() == 0) {
        __threadfence(); // writes are visible before the block is counted
        const tmap_u64 before = atomicAdd(counter, 1ull);
        last = tmapi_fold_cleared(before, count) && before == count - 1;
        if (last) *counter = 0;
    }
    last = __syncthreads_or(last);
    if (last) __threadfence();
    return last;
}

// Joins `count` parts that blocks have written into the accumulator of thread 0.
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

// Shared memory for one accumulator of each of 32 warps. bytes: a constant, so that a kernel has
// only one of the three arrays.
TMAP_DEVICE void *tmapi_fold_scratch(tmap_u32 bytes) {
    if (bytes <= 8) {
        __shared__ tmap_u64 tiny[32];
        return tiny;
    }
    if (bytes <= 16) {
        __shared__ tmapi_value medium[32];
        return medium;
    }
    __shared__ tmapi_fold_words large[32];
    return large;
}

// Joins the accumulators of all threads of a launch; the last block to arrive writes the result to
// *to.result. All threads of all blocks call it, in grids of one axis and blocks of full warps, and
// all return from it. to.workspace: 16 bytes plus fold.bytes for each block (tmap_each_fold_bytes
// of a plan), zeroed once; launches that run one after another can share it. Shared memory: its
// own, which it reuses safely: calls may follow each other in a kernel without a barrier.
// Exactness: the order of joins depends only on the grid and the block, so the result has the
// same bits in every run. Cost: tmap_fold_block and a barrier, and in the last block a second one
// over gridDim.x parts.
TMAP_DEVICE void tmap_fold_grid(void *accumulator, tmap_fold fold, tmap_fold_to to, void *job) {
    const tmap_u32 rank = tmap_thread_rank(), bytes = fold.bytes;
    unsigned char *parts = (unsigned char *)to.workspace + 16;
    void *scratch = tmapi_fold_scratch(bytes);
    if (!tmapi_fold_check(fold, "tmap_fold_grid")) return;
    __syncthreads(); // the first warp has read what an earlier fold of this kernel left in scratch
    tmap_fold_block(accumulator, fold, job, scratch);
    if (gridDim.x > 1) {
        if (rank == 0) tmapi_fold_move(parts + blockIdx.x * (tmap_u64)bytes, accumulator, bytes);
        if (!tmapi_fold_last((tmap_u64 *)to.workspace, gridDim.x)) return;
        tmapi_fold_parts(accumulator, fold.zero, bytes, fold.join, job, scratch, parts, gridDim.x);
    }
    if (rank == 0) tmapi_fold_move(to.result, accumulator, bytes);
}

// Joins `count` accumulators that earlier launches have written one after another at `list`, and
// writes the result to *result: those of the parts of a fold (share.h). All threads of a block of
// full warps call it; no other block takes part. A second call in a kernel needs a __syncthreads()
// before it. Exactness: the order depends only on count and the block. Cost: each thread joins
// count / threads accumulators, then tmap_fold_block.
TMAP_DEVICE void tmap_fold_list(const void *list, tmap_u64 count, tmap_fold fold, void *result,
                                void *job) {
    tmapi_fold_words sum;
    void *scratch = tmapi_fold_scratch(fold.bytes);
    if (!tmapi_fold_check(fold, "tmap_fold_list")) return;
    tmapi_fold_parts(&sum, fold.zero, fold.bytes, fold.join, job, scratch,
                     (const unsigned char *)list, count);
    if (tmap_thread_rank() == 0) tmapi_fold_move(result, &sum, fold.bytes);
}

// ---- the sum of all earlier tiles ---------------------------------------------------------------

// A tile's word of the workspace. 0: nothing yet; OWN: its own sum; ALL: also those of all earlier
// tiles.
#define TMAPI_FOLD_OWN ((tmap_u64)1 << 62)
#define TMAPI_FOLD_ALL ((tmap_u64)1 << 63)
#define TMAPI_FOLD_SUM (TMAPI_FOLD_OWN - 1)

#define TMAPI_FOLD_LOOK 4u // words that a lane reads at once: 128 tiles a warp

// Publishes the sum `own` of tile t and returns the total of all earlier tiles (decoupled
// look-back, Merrill and Garland 2016). Waits for blocks that have taken an earlier tile. words:
// one a tile, 0 before the launch. Collective for the warp.
TMAP_DEVICE tmap_u64 tmapi_fold_before(tmap_u64 *words, tmap_u64 t, tmap_u64 own) {
    volatile tmap_u64 *told = words; // sum and kind are read and written in one access
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_i64 end = (tmap_i64)t - lane; // the first tile that this lane reads is the one before
    tmap_u64 mine = 0, sum;
    int done = t == 0;
    if (lane == 0) told[t] = own | (t ? TMAPI_FOLD_OWN : TMAPI_FOLD_ALL);
    while (!done) {
        tmap_u64 word[TMAPI_FOLD_LOOK];
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_FOLD_LOOK; ++k) {
            const tmap_i64 at = end - 1 - (tmap_i64)k * 32; // there is no tile below 0
            word[k] = at >= 0 ? told[at] : TMAPI_FOLD_ALL;
        }
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_FOLD_LOOK && !done; ++k) {
            const tmap_u32 all = __ballot_sync(0xffffffffu, word[k] >= TMAPI_FOLD_ALL);
            const tmap_u32 none = __ballot_sync(0xffffffffu, word[k] == 0);
            const tmap_u32 nearest = all ? (all & (0 - all)) * 2 - 1 : 0xffffffffu; // up to a lane
            if (none & nearest) break; // read again from here
            if (nearest >> lane & 1) mine += word[k] & TMAPI_FOLD_SUM;
            done = all != 0, end -= 32;
        }
    }
    sum = tmap_warp_sum_shuffle64(tmap_warp_full(), mine);
    if (lane == 0 && t) told[t] = (sum + own) | TMAPI_FOLD_ALL;
    return sum;
}

#endif // TMAP_CUDA
#endif
