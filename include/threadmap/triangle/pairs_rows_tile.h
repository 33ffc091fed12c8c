// SPDX-License-Identifier: MIT
// pairs_rows_tile.h: the loop behind tmap_pairs_rows: all pairs of a tile, each of which gives to
// both of its points.
//
// A warp takes 32 points i by 32 m points j. Each lane has m of the points j in registers, with
// what they have so far. The points i go round: at each step lane l meets number (l + step) mod 32
// of them, which it reads from shared memory, and what they have so far travels from lane to lane
// by shuffles: a shuffle for each of its words and m pairs, and nothing is added up twice. With 8
// points j and three words all of this costs an instruction for each pair. Accumulators in shared
// memory, which are loaded and stored, would cost two, and sums over the lanes for each point five.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_PAIRS_ROWS_TILE_H
#define TMAP_TRIANGLE_PAIRS_ROWS_TILE_H

#include "../fold.h"
#include "pairs_walk.h"

// The points j of a lane: as many as registers have room for.
TMAP_FN tmap_u32 tmapi_pairs_rows_mine(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 words = (d * size + bytes) / 4; // of a point and its accumulator
    return words <= 10 ? 8 : words <= 20 ? 4 : 2;
}

#if TMAP_CUDA

// pair: i < j, or a point of each set. a, b: point i and point j. to_i, to_j: what they have so
// far, of the user's type, to which the function adds what the pair gives to each of them.
typedef void (*tmap_pairs_give)(void *job, tmap_pair pair, const void *a, const void *b, void *to_i,
                                void *to_j);

typedef struct tmapi_pairs_rows_sum {
    alignas(16) unsigned char bytes[TMAP_FOLD_BYTES_MAX];
} tmapi_pairs_rows_sum;

// What is constant in a launch; sizes and functions are constants of the compiler's.
typedef struct tmapi_pairs_rows_call {
    const tmap_pairs_plan *plan;
    const unsigned char *points, *others;
    tmap_u32 size, d, bytes, mine;
    tmap_u32 side; // of the plan's tiles
    tmap_pairs_give give;
    tmap_fold_join join;
    const void *zero;
    void *job;
    tmap_u64 *counters;
    unsigned char *parts, *result, *result_others;
} tmapi_pairs_rows_call;

// A warp's points i in shared memory, numbers 0 to 31 twice, so that those from any lane's on lie
// side by side: 16 bytes of each, then the next 16, or 8 and 4 that are left. Lanes side by side
// read and write without bank conflicts. to_shared: 1: `point` becomes number x; 0: it is read.
TMAP_DEVICE void tmapi_pairs_rows_move(const tmapi_pairs_rows_call *r, unsigned char *shared,
                                       tmap_u32 x, unsigned char *point, int to_shared) {
    const tmap_u32 bytes = r->d * r->size;
#pragma unroll
    for (tmap_u32 at = 0; at < 8 * TMAP_PAIRS_D_MAX; at += 4) {
        const tmap_u32 begin = at / 16 * 16, left = bytes - begin;
        tmap_u32 width = 0;
        unsigned char *there;
        if (at >= bytes) continue;
        if (left >= 16)
            width = at == begin ? 16 : 0;
        else if (at == begin)
            width = left >= 8 ? 8 : 4;
        else if (at == begin + 8)
            width = 4; // 12 bytes are left
        there = shared + at * 64 + x * width;
        if (to_shared)
            tmapi_value_copy(there, point + at, width);
        else
            tmapi_value_copy(point + at, there, width);
    }
}

// Point `at` of a set of `count`; 0 where there is none.
TMAP_DEVICE void tmapi_pairs_rows_load(const tmapi_pairs_rows_call *r, const unsigned char *points,
                                       tmap_u64 at, tmap_u32 count, tmapi_pairs_point *point) {
#pragma unroll
    for (tmap_u32 k = 0; k < r->d; ++k) {
        tmapi_value_zero(point->bytes + k * r->size, r->size);
        if (at < count)
            tmapi_value_copy(point->bytes + k * r->size, points + (at * r->d + k) * r->size,
                             r->size);
    }
}

// Where the accumulator of point x of a part begins: those of 32 points stand together, word by
// word, so that word k of one is 32 k words further on.
TMAP_DEVICE tmap_u64 tmapi_pairs_rows_at(const tmapi_pairs_rows_call *r, tmap_u32 x) {
    return (tmap_u64)(x - x % 32) * r->bytes + x % 32 * 4;
}

TMAP_DEVICE void tmapi_pairs_rows_put(const tmapi_pairs_rows_call *r, unsigned char *part,
                                      tmap_u32 x, const void *sum) {
    tmapi_value_u32 *to = (tmapi_value_u32 *)(part + tmapi_pairs_rows_at(r, x));
#pragma unroll
    for (tmap_u32 k = 0; k < r->bytes / 4; ++k) to[k * 32] = ((const tmapi_value_u32 *)sum)[k];
}

TMAP_DEVICE void tmapi_pairs_rows_get(const tmapi_pairs_rows_call *r, const unsigned char *part,
                                      tmap_u32 x, void *sum) {
    const volatile tmapi_value_u32 *from =
        (const volatile tmapi_value_u32 *)(part + tmapi_pairs_rows_at(r, x));
#pragma unroll
    for (tmap_u32 k = 0; k < r->bytes / 4; ++k) ((tmapi_value_u32 *)sum)[k] = from[k * 32];
}

#ifndef TMAPI_ROWS_DIAG
#define TMAPI_ROWS_DIAG 4
#endif
// A step: point first.i + (lane + step) mod 32, whose accumulator this lane has, by the lane's
// points j from number `from` on; then the accumulator goes on to the lane before. from, sure:
// constants. All pairs with points from number `sure` on are there; of the others those below the
// ends of rows and columns alone, and of one set those with i < j. Collective for the warp.
TMAP_DEVICE void tmapi_pairs_rows_step(const tmapi_pairs_rows_call *r, unsigned char *shared,
                                       tmap_pair first, tmap_u32 step,
                                       const tmapi_pairs_point *mine, tmapi_pairs_rows_sum *to_i,
                                       tmapi_pairs_rows_sum *to_j, tmap_u32 from, tmap_u32 sure) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = plan->others ? plan->others : plan->n;
    tmapi_pairs_point row;
    tmap_pair pair;
    tmapi_pairs_rows_move(r, shared, lane + step, row.bytes, 0);
    pair.i = first.i + (lane + step) % 32;
#pragma unroll
    for (tmap_u32 c = from; c < r->mine; ++c) {
        pair.j = first.j + c * 32 + lane;
        if (c >= sure || (pair.i < plan->rows && pair.j < count && (plan->others || pair.i < pair.j)))
            r->give(r->job, pair, row.bytes, mine[c].bytes, to_i->bytes, to_j[c].bytes);
    }
#pragma unroll
    for (tmap_u32 k = 0; k < r->bytes / 4; ++k) {
        tmapi_value_u32 *word = (tmapi_value_u32 *)to_i->bytes + k;
        *word = __shfl_sync(0xffffffffu, *word, (int)(lane + 1) % 32);
    }
}

// 32 points i from first.i on by the warp's points j from first.j on. to_i: of point first.i +
// lane. Collective for the warp.
TMAP_DEVICE void tmapi_pairs_rows_group(const tmapi_pairs_rows_call *r, const unsigned char *points,
                                        unsigned char *shared, tmap_pair first,
                                        const tmapi_pairs_point *mine, tmapi_pairs_rows_sum *to_i,
                                        tmapi_pairs_rows_sum *to_j) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = plan->others ? plan->others : plan->n;
    const int inside = plan->rows - first.i >= 32 && count - first.j >= 32 * r->mine;
    const int above = plan->others || first.i < first.j; // multiples of 32
    tmapi_pairs_point own;
    tmapi_pairs_rows_load(r, points, (tmap_u64)first.i + lane, plan->n, &own);
    __syncwarp(); // all lanes are through with the points before
    tmapi_pairs_rows_move(r, shared, lane, own.bytes, 1);
    tmapi_pairs_rows_move(r, shared, lane + 32, own.bytes, 1);
    __syncwarp();
    if (inside && above) {
#pragma unroll 4
        for (tmap_u32 step = 0; step < 32; ++step)
            tmapi_pairs_rows_step(r, shared, first, step, mine, to_i, to_j, 0, 0);
    } else if (TMAPI_ROWS_DIAG && inside && r->mine <= TMAPI_ROWS_DIAG) {
        const tmap_u32 of_diagonal = (first.i - first.j) / 32;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c)
            if (c == of_diagonal)
#pragma unroll 1
                for (tmap_u32 step = 0; step < 32; ++step)
                    tmapi_pairs_rows_step(r, shared, first, step, mine, to_i, to_j, c, c + 1);
    } else {
#pragma unroll 1
        for (tmap_u32 step = 0; step < 32; ++step)
            tmapi_pairs_rows_step(r, shared, first, step, mine, to_i, to_j, 0, r->mine);
    }
}

// Joins what the four warps have for the same points j and puts it into a part from point x on.
// Collective for the block.
TMAP_DEVICE void tmapi_pairs_rows_columns(const tmapi_pairs_rows_call *r, unsigned char *shared,
                                          unsigned char *part, tmap_u32 x,
                                          const tmapi_pairs_rows_sum *to_j) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 at_once = r->mine < 4 ? r->mine : 4, words = r->bytes / 4;
    tmapi_value_u32 *sums = (tmapi_value_u32 *)shared; // by columns of a lane, words, threads
    __syncthreads();                                   // all warps are through with their points
#pragma unroll
    for (tmap_u32 c = 0; c < r->mine; c += at_once) {
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
#pragma unroll
            for (tmap_u32 k = 0; k < words; ++k)
                sums[(s * words + k) * TMAP_PAIRS_THREADS + threadIdx.x] =
                    ((const tmapi_value_u32 *)to_j[c + s].bytes)[k];
        __syncthreads();
        if (warp < at_once) { // a column of each lane for each warp
            tmapi_pairs_rows_sum sum, other;
#pragma unroll
            for (tmap_u32 w = 0; w < TMAP_PAIRS_THREADS / 32; ++w) {
                tmapi_pairs_rows_sum *to = w ? &other : &sum;
#pragma unroll
                for (tmap_u32 k = 0; k < words; ++k)
                    ((tmapi_value_u32 *)to->bytes)[k] =
                        sums[(warp * words + k) * TMAP_PAIRS_THREADS + w * 32 + lane];
                if (w) r->join(r->job, &sum, &other);
            }
            tmapi_pairs_rows_put(r, part, x + (c + warp) * 32 + lane, &sum);
        }
        __syncthreads();
    }
}

// All pairs of tile (tile.i, tile.j), and a part for each of its rows and of its columns. The warps
// take turns at groups of 32 rows; a thread gets back the accumulators that it has put itself.
// Collective for the block.
TMAP_DEVICE void tmapi_pairs_rows_tile(const tmapi_pairs_rows_call *r, tmap_u64 set, tmap_pair tile,
                                       unsigned char *shared, unsigned char *parts) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, width = 32 * r->mine;
    const tmap_u32 count = plan->others ? plan->others : plan->n;
    const unsigned char *points = r->points + set * plan->n * r->d * r->size;
    const unsigned char *others = r->others + set * count * r->d * r->size;
    unsigned char *own = shared + warp * 64 * r->d * r->size;
    tmapi_pairs_point mine[8];
    tmapi_pairs_rows_sum to_i, to_j[8];
#pragma unroll 1
    for (tmap_u32 x = 0; x < r->side; x += width) {
        const tmap_u64 j = (tmap_u64)tile.j * r->side + x;
        if (j >= count) break;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c) {
            tmapi_pairs_rows_load(r, others, j + c * 32 + lane, count, &mine[c]);
            tmapi_fold_move(&to_j[c], r->zero, r->bytes);
        }
#pragma unroll 1
        for (tmap_u32 y = warp * 32; y < r->side; y += TMAP_PAIRS_THREADS) {
            const tmap_u64 i = (tmap_u64)tile.i * r->side + y;
            const int some = i < plan->rows && (plan->others || i < j + width - 1);
            if (x && !some) continue;
            tmapi_fold_move(&to_i, r->zero, r->bytes);
            if (x) tmapi_pairs_rows_get(r, parts, y + lane, &to_i);
            if (some) {
                tmap_pair first;
                first.i = (tmap_u32)i, first.j = (tmap_u32)j;
                tmapi_pairs_rows_group(r, points, own, first, mine, &to_i, to_j);
            }
            tmapi_pairs_rows_put(r, parts, y + lane, &to_i);
        }
        tmapi_pairs_rows_columns(r, shared, parts + (tmap_u64)r->side * r->bytes, x, to_j);
    }
}

#endif // TMAP_CUDA
#endif
