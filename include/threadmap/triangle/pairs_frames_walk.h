// SPDX-License-Identifier: MIT
// pairs_frames_walk.h: the loops of pairs_frames.h: what pairs have of their own is made, and lanes
// go through the pairs of a tile.
//
// A lane has a frame. It holds 8 points i, the rows of a block of rows, and takes 4 points j at a
// time, a quad of columns, by 16 bytes of shared memory each; what the 32 pairs have of their own
// is the same for all frames, and read by 16 bytes for 4 pairs. Where a warp has fewer than 32
// frames, its halves, quarters or eighths are on their own ways through the pairs.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_PAIRS_FRAMES_WALK_H
#define TMAP_TRIANGLE_PAIRS_FRAMES_WALK_H

#include "pairs_frames_tile.h"

#if TMAP_CUDA

typedef struct tmapi_frames_points { // of the frames of a lane
    alignas(16) float at[TMAPI_FRAMES_LANE][TMAPI_FRAMES_ROWS][3];
} tmapi_frames_points;
typedef struct tmapi_frames_quad {
    alignas(16) float at[TMAPI_FRAMES_LANE][4][3];
} tmapi_frames_quad;
typedef struct tmapi_frames_own {
    alignas(16) float at[TMAP_PAIRS_FRAMES_OWN_MAX][4];
} tmapi_frames_own;

// A lane's frames: where they are in shared memory, what they have of their own, and their sums.
typedef struct tmapi_frames_lane {
    tmap_u32 at[TMAPI_FRAMES_LANE];
    float of_frame[TMAPI_FRAMES_LANE][TMAP_PAIRS_FRAMES_FRAME_MAX];
    tmapi_fold_words run[TMAPI_FRAMES_LANE], total[TMAPI_FRAMES_LANE];
} tmapi_frames_lane;

// ---- what pairs have of their own ---------------------------------------------------------------

// What pairs 4 quad to 4 quad + 3 of row i have. all: a constant, 1: they all exist, so that none
// of them waits for another.
TMAP_DEVICE void tmapi_frames_make_quad(const tmapi_frames *f, const tmapi_frames_tile *t,
                                        const float *reference, tmap_u32 i, tmap_u32 quad, int all,
                                        const tmapi_frames_quad *b, tmapi_frames_own *own,
                                        void *sum) {
#pragma unroll
    for (tmap_u32 c = 0; c < 4; ++c) {
        const tmap_u32 j = 4 * quad + c;
        float mine[TMAP_PAIRS_FRAMES_OWN_MAX] = {0, 0, 0, 0};
        const tmap_pair pair = {t->i + i, t->j + j};
        if (all || (i < t->rows && j < t->columns && (!t->diagonal || i < j)))
            f->of_pair(f->job, sum, pair, reference + 3 * i, b->at[0][c], mine);
#pragma unroll
        for (tmap_u32 k = 0; k < f->own; ++k) own->at[k][c] = mine[k];
    }
}

// Makes the table of a tile, 4 pairs a thread at a time, and adds to the thread's sum what the
// pairs themselves have. at: of the reference's points.
TMAP_DEVICE void tmapi_frames_make(const tmapi_frames *f, const tmapi_frames_tile *t, tmap_u32 at,
                                   void *sum) {
    const float *reference = tmapi_frames_shared_at(at);
    const tmap_u32 row = threadIdx.x % TMAPI_FRAMES_ROWS, per = TMAPI_FRAMES_ROWS / 4;
    const tmap_u32 quads = t->columns / 4 + (t->columns % 4 != 0);
    tmap_u32 block = 0, end = quads, i; // end: of the row's quads, in the table
    TMAPI_NO_UNROLL
    for (tmap_u32 x = threadIdx.x / TMAPI_FRAMES_ROWS;;
         x += TMAP_PAIRS_FRAMES_THREADS / TMAPI_FRAMES_ROWS) {
        // x counts the quads that exist; the table has room for all of a side
        tmap_u32 quad;
        tmapi_frames_quad b;
        tmapi_frames_own own;
        while (block < t->blocks && x >= end) {
            ++block;
            end += quads - (t->diagonal && block * per < quads ? block * per : 0);
        }
        if (block >= t->blocks) break;
        quad = quads - (end - x), i = block * TMAPI_FRAMES_ROWS + row;
#pragma unroll
        for (tmap_u32 k = 0; k < 3; ++k)
            tmapi_value_copy(&b.at[0][0][0] + 4 * k, reference + t->of_j + 12 * quad + 4 * k, 16);
        if (i < t->rows && 4 * quad + 3 < t->columns && (!t->diagonal || i < 4 * quad))
            tmapi_frames_make_quad(f, t, reference, i, quad, 1, &b, &own, sum);
        else
            tmapi_frames_make_quad(f, t, reference, i, quad, 0, &b, &own, sum);
#pragma unroll
        for (tmap_u32 k = 0; k < f->own; ++k)
            tmapi_value_copy(
                tmapi_frames_shared_at(tmapi_frames_place(f, t, block, quad, row) + 4 * k),
                own.at[k], 16);
    }
}

// ---- the pairs ----------------------------------------------------------------------------------

// Points of a frame from shared memory, `count` of them, a multiple of 4.
TMAP_DEVICE void tmapi_frames_read(float *to, const float *from, tmap_u32 count) {
#pragma unroll
    for (tmap_u32 k = 0; k < 3 * TMAPI_FRAMES_ROWS / 4; ++k)
        if (k < 3 * count / 4) tmapi_value_copy(to + 4 * k, from + 4 * k, 16);
}
TMAP_DEVICE void tmapi_frames_read_rows(const tmapi_frames_lane *lane, tmap_u32 block,
                                        tmapi_frames_points *a) {
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
        tmapi_frames_read(&a->at[h][0][0],
                          tmapi_frames_shared_at(lane->at[h] + 3 * TMAPI_FRAMES_ROWS * block),
                          TMAPI_FRAMES_ROWS);
}

// What the lane's frames have added since they began anew goes to their totals.
TMAP_DEVICE void tmapi_frames_begin(const tmapi_frames *f, tmapi_frames_lane *lane) {
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
        tmapi_fold_move(&lane->run[h], f->zero, f->bytes);
}
TMAP_DEVICE void tmapi_frames_end(const tmapi_frames *f, tmapi_frames_lane *lane) {
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
        f->join(f->job, &lane->total[h], &lane->run[h]);
}

// A pair in all frames of the lane. own: of pairs c = 0 to 3 of a row, of which this is number c.
TMAP_DEVICE void tmapi_frames_pair_of(const tmapi_frames *f, tmapi_frames_lane *lane,
                                      tmap_pair pair, const tmapi_frames_points *a, tmap_u32 r,
                                      const tmapi_frames_quad *b, tmap_u32 c,
                                      const tmapi_frames_own *own) {
    float mine[TMAP_PAIRS_FRAMES_OWN_MAX];
#pragma unroll
    for (tmap_u32 k = 0; k < f->own; ++k) mine[k] = own->at[k][c];
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
        f->add(f->job, &lane->run[h], pair, a->at[h][r], b->at[h][c], mine, lane->of_frame[h]);
}

// All 8 x 4 pairs of a block of rows and a quad. columns: its points, in each of the lane's frames;
// own: of the pairs.
TMAP_DEVICE void tmapi_frames_step(const tmapi_frames *f, tmapi_frames_lane *lane, tmap_pair first,
                                   const tmapi_frames_points *a, const float *const *columns,
                                   const float *own) {
    tmapi_frames_quad b;
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
        tmapi_frames_read(&b.at[h][0][0], columns[h], 4);
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FRAMES_ROWS; ++r) {
        tmapi_frames_own row;
#pragma unroll
        for (tmap_u32 k = 0; k < f->own; ++k)
            tmapi_value_copy(row.at[k], own + (r * f->own + k) * 4, 16);
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c) {
            const tmap_pair pair = {first.i + r, first.j + c};
            tmapi_frames_pair_of(f, lane, pair, a, r, &b, c, &row);
        }
    }
}

// What a single pair has of its own, as number 0.
TMAP_DEVICE tmapi_frames_own tmapi_frames_own_of(const tmapi_frames *f, tmap_u32 at) {
    tmapi_frames_own own;
#pragma unroll
    for (tmap_u32 k = 0; k < f->own; ++k) own.at[k][0] = *tmapi_frames_shared_at(at + 4 * k);
    return own;
}

// What a block of rows has beside its quads: the pairs among its points, on the diagonal; and the
// columns behind the last whole quad.
TMAP_DEVICE void tmapi_frames_head(const tmapi_frames *f, const tmapi_frames_tile *t,
                                   tmapi_frames_lane *lane, tmap_u32 block) {
    const tmap_u32 row = block * TMAPI_FRAMES_ROWS;
    tmapi_frames_points a;
    tmapi_frames_read_rows(lane, block, &a);
    tmapi_frames_begin(f, lane);
    if (t->diagonal) {
#pragma unroll
        for (tmap_u32 c = 1; c < TMAPI_FRAMES_ROWS; ++c) {
            tmapi_frames_quad b;
            if (row + c >= t->rows) break;
#pragma unroll
            for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
#pragma unroll
                for (tmap_u32 k = 0; k < 3; ++k) b.at[h][0][k] = a.at[h][c][k];
#pragma unroll
            for (tmap_u32 r = 0; r < c; ++r) {
                const tmapi_frames_own own = tmapi_frames_own_of(
                    f, tmapi_frames_place(f, t, block, row / 4 + c / 4, r) + c % 4);
                const tmap_pair pair = {t->i + row + r, t->j + row + c};
                tmapi_frames_pair_of(f, lane, pair, &a, r, &b, 0, &own);
            }
        }
    }
    TMAPI_NO_UNROLL
    for (tmap_u32 j = 4 * t->quads; j < t->columns; ++j) {
        tmapi_frames_quad b;
        if (t->diagonal && j < row + TMAPI_FRAMES_ROWS) continue;
#pragma unroll
        for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
#pragma unroll
            for (tmap_u32 k = 0; k < 3; ++k)
                b.at[h][0][k] = *tmapi_frames_shared_at(lane->at[h] + t->of_j + 3 * j + k);
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_FRAMES_ROWS; ++r) {
            const tmapi_frames_own own =
                tmapi_frames_own_of(f, tmapi_frames_place(f, t, block, t->quads, r) + j % 4);
            const tmap_pair pair = {t->i + row + r, t->j + j};
            tmapi_frames_pair_of(f, lane, pair, &a, r, &b, 0, &own);
        }
    }
    tmapi_frames_end(f, lane);
}

// Where a lane is: a block of rows, and a quad of columns.
typedef struct tmapi_frames_way {
    const float *columns[TMAPI_FRAMES_LANE], *own;
    tmap_u32 block;
} tmapi_frames_way;

TMAP_DEVICE void tmapi_frames_go(const tmapi_frames *f, const tmapi_frames_tile *t,
                                 const tmapi_frames_lane *lane, tmap_u32 block, tmap_u32 quad,
                                 tmapi_frames_way *way, tmapi_frames_points *a) {
    way->block = block;
    way->own = tmapi_frames_shared_at(tmapi_frames_place(f, t, block, quad, 0));
#pragma unroll
    for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h)
        way->columns[h] = tmapi_frames_shared_at(lane->at[h] + t->of_j + 12 * quad);
    tmapi_frames_read_rows(lane, block, a);
}

// All pairs of the lane's share of a tile.
TMAP_DEVICE void tmapi_frames_walk(const tmapi_frames *f, const tmapi_frames_tile *t,
                                   tmapi_frames_lane *lane) {
    const float *end = tmapi_frames_shared_at(lane->at[0] + t->of_j + 12 * t->quads); // of rows
    tmap_u32 left = t->count;
    tmapi_frames_points a;
    tmapi_frames_way way;
    TMAPI_NO_UNROLL
    for (tmap_u32 head = t->head; head < t->heads; head += t->step)
        tmapi_frames_head(f, t, lane, head);
    if (!left) return;
    tmapi_frames_go(f, t, lane, t->block, t->quad, &way, &a);
    TMAPI_NO_UNROLL
    while (left) {
        const tmap_u32 stop = left > 4 ? left - 4 : 0; // sums of 128 terms
        tmapi_frames_begin(f, lane);
        TMAPI_NO_UNROLL
        for (; left > stop; --left) {
            tmap_pair first;
            if (way.columns[0] == end)
                tmapi_frames_go(f, t, lane, way.block + 1, tmapi_frames_first(t, way.block + 1),
                                &way, &a);
            first.i = t->i + way.block * TMAPI_FRAMES_ROWS;
            first.j = t->j + t->quads * 4 - (tmap_u32)(end - way.columns[0]) / 3;
            tmapi_frames_step(f, lane, first, &a, way.columns, way.own);
            way.own += TMAPI_FRAMES_ROWS * f->own * 4;
#pragma unroll
            for (tmap_u32 h = 0; h < TMAPI_FRAMES_LANE; ++h) way.columns[h] += 12;
        }
        tmapi_frames_end(f, lane);
    }
}

#endif // TMAP_CUDA
#endif
