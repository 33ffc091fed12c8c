// SPDX-License-Identifier: MIT
// linkage_pass.h: a pass of linkage.h over the condensed matrix: for each vertex the nearest one of
// another component.
//
// A warp takes 32 rows of 128 columns. A lane has four columns and goes through the rows: the least
// of a column stays in registers, and that of a row is looked for only where some lane has one that
// is not above the best that the row had when the warp began. Pairs of one component are not
// loaded: sectors of memory with none but such pairs are not read.
#ifndef TMAP_TRIANGLE_LINKAGE_PASS_H
#define TMAP_TRIANGLE_LINKAGE_PASS_H

#include "cluster.h"
#include "condensed.h"

#define TMAPI_LINKAGE_NONE (~(tmap_u64)0)

#if TMAP_CUDA

#define TMAPI_LINKAGE_ROWS    32u
#define TMAPI_LINKAGE_COLUMNS 128u
#define TMAPI_LINKAGE_MINE    4u // columns of a lane
#define TMAPI_LINKAGE_BATCH   4u // rows whose loads are on their way together

// What a pass reads and writes. best[v]: order of the distance * 2^32 + the other vertex, of the
// nearest vertex of another component that is at a finite distance, or TMAPI_LINKAGE_NONE. Of equal
// distances the lower vertex is the pair with the lower condensed index, too.
typedef struct tmapi_linkage_pass {
    const float *distances;
    tmap_u32 n;
    const tmap_u32 *of; // the component of a vertex
    tmap_u64 *best;
} tmapi_linkage_pass;

// A warp's tile.
typedef struct tmapi_linkage_tile {
    tmap_u32 i, j;                     // its first pair
    tmap_u32 mine[TMAPI_LINKAGE_MINE]; // components of the lane's columns
    tmap_u32 row;                      // component of row `lane`
    float limit;                       // what that row has, or the largest finite number
    float least[TMAPI_LINKAGE_MINE];   // of the lane's columns, and the rows of them
    tmap_u32 at[TMAPI_LINKAGE_MINE];
} tmapi_linkage_tile;

// The least value of the lanes' `d` is row i's: finds it and its column, and tells row i.
// Collective for the warp.
TMAP_DEVICE void tmapi_linkage_row(const tmapi_linkage_pass *p, const tmapi_linkage_tile *t,
                                   tmap_u32 i, const float *d, float mine) {
    const tmap_u32 order = ~tmapi_cluster_max(~tmapi_cluster_order(mine));
    const float least = tmapi_cluster_value(order);
    tmap_u32 column = 0xffffffffu;
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
        const tmap_u32 lanes = __ballot_sync(0xffffffffu, tmapi_cluster_at_most(d[k], least));
        if (lanes && column == 0xffffffffu)
            column = t->j + k * 32 + (tmap_u32)__ffs((int)lanes) - 1;
    }
    if (threadIdx.x % 32 == 0) atomicMin(p->best + i, (tmap_u64)order << 32 | column);
}

// Goes through the rows of a tile. whole: 1: all pairs are there; 0: those with i < j < n.
TMAP_DEVICE void tmapi_linkage_rows(const tmapi_linkage_pass *p, tmapi_linkage_tile *t,
                                    const int whole) {
    const tmap_u32 lane = threadIdx.x % 32, n = p->n, i = t->i, j = t->j + lane;
    const float *from = p->distances + (tmap_i64)(tmap_condensed_index(i, t->j, n) + lane);
    const float infinite = tmapi_cluster_value(TMAPI_CLUSTER_INFINITE);
    tmap_i64 step = (tmap_i64)n - i - 2; // to the next row
#pragma unroll 1
    for (tmap_u32 r = 0; r < TMAPI_LINKAGE_ROWS; r += TMAPI_LINKAGE_BATCH) {
        float d[TMAPI_LINKAGE_BATCH][TMAPI_LINKAGE_MINE];
#pragma unroll
        for (tmap_u32 q = 0; q < TMAPI_LINKAGE_BATCH; ++q, from += step--) {
            const tmap_u32 component = __shfl_sync(0xffffffffu, t->row, r + q);
#pragma unroll
            for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
                const tmap_u32 column = j + k * 32;
                d[q][k] = infinite;
                if (component != t->mine[k] && (whole || (i + r + q < column && column < n)))
                    d[q][k] = from[k * 32];
            }
        }
#pragma unroll
        for (tmap_u32 q = 0; q < TMAPI_LINKAGE_BATCH; ++q) {
            const float limit = __shfl_sync(0xffffffffu, t->limit, r + q);
            float least = infinite;
#pragma unroll
            for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
                least = tmapi_cluster_min(least, d[q][k]); // a NaN is never less
                if (tmapi_cluster_less(d[q][k], t->least[k]))
                    t->least[k] = d[q][k], t->at[k] = r + q;
            }
            if (__any_sync(0xffffffffu, tmapi_cluster_at_most(least, limit)))
                tmapi_linkage_row(p, t, i + r + q, d[q], least);
        }
    }
}

// What the columns of a tile have found, to memory.
TMAP_DEVICE void tmapi_linkage_columns(const tmapi_linkage_pass *p, const tmapi_linkage_tile *t) {
    const tmap_u32 lane = threadIdx.x % 32;
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
        const tmap_u32 column = t->j + k * 32 + lane, order = tmapi_cluster_order(t->least[k]);
        const tmap_u64 key = (tmap_u64)order << 32 | (t->i + t->at[k]);
        if (order < TMAPI_CLUSTER_INFINITE && key < tmapi_cluster_load64(p->best + column))
            atomicMin(p->best + column, key);
    }
}

// A whole pass. Collective for the launch; barriers before and after it are the caller's.
TMAP_DEVICE void tmapi_linkage_read(const tmapi_linkage_pass *p, const tmapi_cluster_grid *grid) {
    const tmap_u32 n = p->n, tiles = (n + TMAPI_LINKAGE_COLUMNS - 1) / TMAPI_LINKAGE_COLUMNS;
    const tmap_u32 parts = TMAPI_LINKAGE_COLUMNS / TMAPI_LINKAGE_ROWS; // of a square
    const tmap_u64 count = tmap_triangle_cells(tiles) * parts;
#pragma unroll 1
    for (tmap_u64 number = grid->warp; number < count; number += grid->warps) {
        const tmap_pair square = tmap_upper_map((tmap_u32)(number / parts), tiles);
        const float infinite = tmapi_cluster_value(TMAPI_CLUSTER_INFINITE);
        tmapi_linkage_tile t;
        tmap_u32 row, first;
        int same;
        t.i = square.i * TMAPI_LINKAGE_COLUMNS + (tmap_u32)(number % parts) * TMAPI_LINKAGE_ROWS;
        t.j = square.j * TMAPI_LINKAGE_COLUMNS;
        if (t.i >= n) continue;
        row = t.i + grid->lane < n ? t.i + grid->lane : n - 1;
        t.row = p->of[row], first = __shfl_sync(0xffffffffu, t.row, 0), same = t.row == first;
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
            const tmap_u32 column = t.j + k * 32 + grid->lane;
            t.mine[k] = p->of[column < n ? column : n - 1];
            t.least[k] = infinite, t.at[k] = 0;
            same = same && t.mine[k] == first;
        }
        if (__all_sync(0xffffffffu, same)) continue;
        t.limit = tmapi_cluster_value(TMAPI_CLUSTER_INFINITE - 1);
        const tmap_u64 best = tmapi_cluster_load64(p->best + row);
        if (best != TMAPI_LINKAGE_NONE) t.limit = tmapi_cluster_value((tmap_u32)(best >> 32));
        if (square.i < square.j && t.j + TMAPI_LINKAGE_COLUMNS <= n)
            tmapi_linkage_rows(p, &t, 1);
        else
            tmapi_linkage_rows(p, &t, 0);
        tmapi_linkage_columns(p, &t);
    }
}

#endif // TMAP_CUDA
#endif
