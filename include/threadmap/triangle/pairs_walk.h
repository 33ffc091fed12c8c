// SPDX-License-Identifier: MIT
// pairs_walk.h: the loop behind tmap_pairs_each and tmap_pairs_fold: all pairs of a tile, handed to
// a function of the user's.
//
// A block takes a tile of 512 x 512 pairs, or a band of its rows where there are few tiles. Each of
// its 128 threads has four points j in registers; the points i are in shared memory, coordinate by
// coordinate, and all threads read the same ones, 16 bytes at a time, so that a point costs a
// fraction of an instruction for each pair.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_PAIRS_WALK_H
#define TMAP_TRIANGLE_PAIRS_WALK_H

#include "../value.h"
#include "pairs_plan.h"

#if TMAP_CUDA

// pair: i < j, or a point of each set. a, b: point i and point j, d coordinates of the user's type.
typedef void (*tmap_pairs_visit)(void *job, void *accumulator, tmap_pair pair, const void *a,
                                 const void *b);

// What is constant in a launch; sizes and functions are constants of the compiler's.
typedef struct tmapi_pairs {
    const unsigned char *points, *others; // `others` is `points` where there is one set
    tmap_u32 size, d;
    tmap_pairs_visit visit;
    void *accumulator, *job;
} tmapi_pairs;

#define TMAPI_PAIRS_MINE (TMAP_PAIRS_SIDE / TMAP_PAIRS_THREADS) // points j of a thread

typedef struct tmapi_pairs_point {
    alignas(16) unsigned char bytes[8 * TMAP_PAIRS_D_MAX];
} tmapi_pairs_point;

// The points j: the plan says if there is a second set, whatever `others` points at.
TMAP_DEVICE const unsigned char *tmapi_pairs_columns(const tmap_pairs_plan *plan,
                                                     const tmapi_pairs *p) {
    return plan->others ? p->others : p->points;
}

// The points of a tile: of its rows in shared memory, and the thread's own four. Points that do not
// exist are 0. Collective for the block, with a barrier.
TMAP_DEVICE void tmapi_pairs_load(const tmap_pairs_plan *plan, const tmapi_pairs *p,
                                  tmapi_pairs_place place, unsigned char *rows,
                                  tmapi_pairs_point *mine) {
    const tmap_u32 size = p->size, d = p->d, count = plan->others ? plan->others : plan->n;
    const tmap_u32 band = plan->band;
    const unsigned char *points = p->points + place.set * plan->n * d * size;
    const unsigned char *others = tmapi_pairs_columns(plan, p) + place.set * count * d * size;
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_PAIRS_MINE; ++c) {
        const tmap_u32 at = c * TMAP_PAIRS_THREADS + threadIdx.x;
        const tmap_u64 i = (tmap_u64)place.i + at, j = (tmap_u64)place.j + at;
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k) {
            unsigned char *to = rows + (k * TMAP_PAIRS_SIDE + at) * size;
            if (at < band && i < plan->n)
                tmapi_value_copy(to, points + (i * d + k) * size, size);
            else if (at < band)
                tmapi_value_zero(to, size);
            if (j < count)
                tmapi_value_copy(mine[c].bytes + k * size, others + (j * d + k) * size, size);
            else
                tmapi_value_zero(mine[c].bytes + k * size, size);
        }
    }
    __syncthreads();
}

// The rows of an item that are there.
TMAP_DEVICE tmap_u32 tmapi_pairs_rows_left(const tmap_pairs_plan *plan, tmapi_pairs_place place) {
    const tmap_u32 left = plan->rows > place.i ? plan->rows - place.i : 0;
    const tmap_u32 band = plan->band;
    return left < band ? left : band;
}

// Those of them that have a pair with the thread's point c: so many from the first one on.
TMAP_DEVICE tmap_u32 tmapi_pairs_height(const tmap_pairs_plan *plan, tmapi_pairs_place place,
                                        tmap_u32 c) {
    const tmap_u32 x = c * TMAP_PAIRS_THREADS + threadIdx.x;
    const tmap_u32 count = plan->others ? plan->others : plan->n;
    const tmap_u32 height = tmapi_pairs_rows_left(plan, place);
    const tmap_u32 above = place.j + x > place.i ? place.j + x - place.i : 0; // rows i < j
    if (x >= count - place.j) return 0;
    return plan->others || height < above ? height : above;
}

// 1 if all pairs of an item are there.
TMAP_DEVICE int tmapi_pairs_whole(const tmap_pairs_plan *plan, tmapi_pairs_place place) {
    const tmap_u32 count = plan->others ? plan->others : plan->n, band = plan->band;
    return tmapi_pairs_rows_left(plan, place) == band && count - place.j >= TMAP_PAIRS_SIDE &&
           (plan->others || place.i + band <= place.j);
}

// 16 bytes of rows from row y of the tile on, all of them where `whole` is 1, a constant, or those
// below `height`, by the thread's points from `first` to `last` - 1.
TMAP_DEVICE void tmapi_pairs_rows(const tmapi_pairs *p, tmapi_pairs_place place,
                                  const unsigned char *rows, const tmapi_pairs_point *mine,
                                  tmap_u32 first, tmap_u32 last, tmap_u32 y, tmap_u32 height,
                                  int whole) {
    const tmap_u32 size = p->size, d = p->d, step = 16 / size;
    tmapi_value vector[TMAP_PAIRS_D_MAX];
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k)
        tmapi_value_copy(&vector[k], rows + (k * TMAP_PAIRS_SIDE + y) * size, 16);
#pragma unroll
    for (tmap_u32 r = 0; r < step; ++r) {
        tmapi_pairs_point row;
        tmap_pair pair;
        pair.i = place.i + y + r;
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k)
            tmapi_value_copy(row.bytes + k * size, vector[k].bytes + r * size, size);
#pragma unroll
        for (tmap_u32 c = first; c < last; ++c) {
            pair.j = place.j + c * TMAP_PAIRS_THREADS + threadIdx.x;
            if (whole || y + r < height)
                p->visit(p->job, p->accumulator, pair, row.bytes, mine[c].bytes);
        }
    }
}

// All pairs of a tile. rows: the block's shared memory, which all threads are through with after
// the next barrier. Collective for the block.
TMAP_DEVICE void tmapi_pairs_tile(const tmap_pairs_plan *plan, const tmapi_pairs *p,
                                  tmapi_pairs_place place, unsigned char *rows) {
    const tmap_u32 step = 16 / p->size, band = plan->band;
    tmapi_pairs_point mine[TMAPI_PAIRS_MINE];
    tmapi_pairs_load(plan, p, place, rows, mine);
    if (tmapi_pairs_whole(plan, place)) {
#pragma unroll 1
        for (tmap_u32 y = 0; y < band; y += 2 * step)
#pragma unroll
            for (tmap_u32 k = 0; k < 2; ++k)
                tmapi_pairs_rows(p, place, rows, mine, 0, TMAPI_PAIRS_MINE, y + k * step, band, 1);
        return;
    }
#pragma unroll // each point has rows of its own: on the diagonal half as many in all
    for (tmap_u32 c = 0; c < TMAPI_PAIRS_MINE; ++c) {
        const tmap_u32 height = tmapi_pairs_height(plan, place, c);
#pragma unroll 1
        for (tmap_u32 y = 0; y < height; y += step)
            tmapi_pairs_rows(p, place, rows, mine, c, c + 1, y, height, 0);
    }
}

// The arguments of a launch, gathered.
TMAP_DEVICE tmapi_pairs tmapi_pairs_make(const void *points, const void *others, tmap_u32 size,
                                         tmap_u32 d, tmap_pairs_visit visit, void *accumulator,
                                         void *job) {
    tmapi_pairs p;
    p.points = (const unsigned char *)points;
    p.others = others ? (const unsigned char *)others : p.points;
    p.size = size, p.d = d, p.visit = visit, p.accumulator = accumulator, p.job = job;
    return p;
}

#endif // TMAP_CUDA
#endif
