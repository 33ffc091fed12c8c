// SPDX-License-Identifier: MIT
// pairs_fold.h: a function of the user's on every pair of n points, and what it accumulates joined
// to one value: counts, sums, the farthest pair.
//
//     typedef struct near_job {
//         const float *points;
//         float r2;
//         void *parts;
//         tmap_u64 *count;
//     } near_job;
//     static __device__ void add(void *job, void *sum, tmap_pair pair, const void *a,
//                                const void *b) {
//         const float *u = (const float *)a, *v = (const float *)b;
//         const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
//         if (x * x + y * y + z * z < ((near_job *)job)->r2) ++*(tmap_u64 *)sum;
//     }
//     static __device__ void join(void *job, void *sum, const void *other) {
//         *(tmap_u64 *)sum += *(const tmap_u64 *)other;
//     }
//     __global__ void __launch_bounds__(128) count_near(tmap_pairs_plan plan, near_job j) {
//         __shared__ tmap_u64 scratch[4];
//         tmap_u64 sum, zero = 0;
//         tmap_pairs_fold(&plan, j.points, 0, sizeof(float), 3, add, &sum, &zero, sizeof sum, join,
//                         &j, scratch, j.parts, j.count);
//     }
//     ... tmap_pairs_plan_make(n, 3, sizeof(float), (const void *)count_near, &plan);
//     ... cudaMalloc(&j.parts, tmap_pairs_fold_bytes(&plan, sizeof(tmap_u64)));
//     ... the first tmap_pairs_fold_clear(&plan) bytes of it cleared once
//     ... tmap_pairs_launch(&plan, &j, stream);
//
// A thread's accumulator begins anew in each tile of 512 x 512 pairs, so that counts of 32 bits and
// sums of floats, whose errors grow with the number of terms, go far: a thread adds up 2048 pairs.
// Tiles are joined in a fixed order: results are the same in every bit whatever the grid.
#ifndef TMAP_TRIANGLE_PAIRS_FOLD_H
#define TMAP_TRIANGLE_PAIRS_FOLD_H

#include "../fold.h"
#include "pairs_walk.h"

#if TMAP_CUDA

// Calls visit(job, 0, pair, a, b) once for every pair of the plan's share, by some thread of the
// launch, in no particular order: for what goes to memory by atomics, such as a histogram. All
// threads of all blocks call it, with the same arguments, in blocks of TMAP_PAIRS_THREADS threads.
// points: the plan's points in device memory, at a multiple of `size`. others: the second set, or
// 0; it counts only where the plan has a second set. size, d: the plan's, as constants. visit: a
// __device__ function without barriers and collectives.
// After it, all threads of a block see what the visits of the block have written to its shared
// memory; no barrier is needed in between.
// Cost: for each pair what visit costs, and a fourth to a half of an instruction.
TMAP_DEVICE void tmap_pairs_each(const tmap_pairs_plan *plan, const void *points,
                                 const void *others, tmap_u32 size, tmap_u32 d,
                                 tmap_pairs_visit visit, void *job) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    const tmapi_pairs p = tmapi_pairs_make(points, others, size, d, visit, 0, job);
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        tmapi_pairs_tile(plan, &p, tmapi_pairs_place_of(plan, plan->first + t),
                         (unsigned char *)tmapi_pairs_shared);
        __syncthreads(); // before the next tile's points come
    }
}

// Bytes at the beginning of the workspace that are zero before the first launch which uses it: a
// counter for each set. Each launch leaves them so. Examples: 1 set: 16, 5 sets: 48.
TMAP_FN tmap_u64 tmap_pairs_fold_clear(const tmap_pairs_plan *plan) {
    return (8ull * plan->sets + 15) / 16 * 16;
}

// Bytes of device memory that tmap_pairs_fold needs for accumulators of `bytes` bytes: the
// counters, and a part for each item of the plan's share.
TMAP_FN tmap_u64 tmap_pairs_fold_bytes(const tmap_pairs_plan *plan, tmap_u32 bytes) {
    return tmap_pairs_fold_clear(plan) + plan->count * bytes;
}

// The share's items of a set: from *first on, counted from the share's first one.
TMAP_FN tmap_u64 tmapi_pairs_items(const tmap_pairs_plan *plan, tmap_u64 set, tmap_u64 *first) {
    const tmap_u64 begin = set * plan->tiles, end = begin + plan->tiles;
    const tmap_u64 from = begin > plan->first ? begin : plan->first;
    const tmap_u64 last = plan->first + plan->count, to = end < last ? end : last;
    *first = from - plan->first;
    return to > from ? to - from : 0;
}

// Accumulates add(job, accumulator, pair, a, b) over all pairs of each set of the plan's share,
// joins what threads have by join(job, accumulator, &other), and writes a result for each set.
// points, others, size, d: as for tmap_pairs_each. accumulator: the thread's own variable, whose
// value before and after is of no account. zero: what an accumulator begins with; it is joined any
// number of times. bytes: of an accumulator, a multiple of 4 up to TMAP_FOLD_BYTES_MAX, a constant.
// scratch: 4 accumulators in shared memory. parts: tmap_pairs_fold_bytes bytes of device memory at
// a multiple of 16, the first tmap_pairs_fold_clear of which are zero before the first launch that
// uses them; each launch leaves them so. Launches that run at the same time need parts of their
// own. result: device memory for an accumulator of each set; a set without a pair in the
// share gets zero. All threads of all blocks call it, in blocks of TMAP_PAIRS_THREADS threads.
// Exactness: results hang on the plan's share alone, not on the grid.
TMAP_DEVICE void tmap_pairs_fold(const tmap_pairs_plan *plan, const void *points,
                                 const void *others, tmap_u32 size, tmap_u32 d,
                                 tmap_pairs_visit add, void *accumulator, const void *zero,
                                 tmap_u32 bytes, tmap_fold_join join, void *job, void *scratch,
                                 void *parts, void *result) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    const tmapi_pairs p = tmapi_pairs_make(points, others, size, d, add, accumulator, job);
    tmap_u64 *counters = (tmap_u64 *)parts;
    unsigned char *part = (unsigned char *)parts + tmap_pairs_fold_clear(plan);
    unsigned char *results = (unsigned char *)result;
    tmap_u64 first;
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        const tmapi_pairs_place place = tmapi_pairs_place_of(plan, plan->first + t);
        const tmap_u64 items = tmapi_pairs_items(plan, place.set, &first);
        tmapi_fold_move(accumulator, zero, bytes);
        tmapi_pairs_tile(plan, &p, place, (unsigned char *)tmapi_pairs_shared);
        tmap_fold_block(accumulator, bytes, join, job, scratch);
        if (items > 1) {
            if (threadIdx.x == 0) tmapi_fold_move(part + t * bytes, accumulator, bytes);
            if (!tmapi_fold_last(counters + place.set, items)) continue;
            tmapi_fold_parts(accumulator, zero, bytes, join, job, scratch, part + first * bytes,
                             items);
        }
        if (threadIdx.x == 0) tmapi_fold_move(results + place.set * bytes, accumulator, bytes);
    }
    if (blockIdx.x == 0) // sets of which the share has nothing
        for (tmap_u64 set = threadIdx.x; set < plan->sets; set += blockDim.x)
            if (!tmapi_pairs_items(plan, set, &first))
                tmapi_fold_move(results + set * bytes, zero, bytes);
}

#endif // TMAP_CUDA
#endif
