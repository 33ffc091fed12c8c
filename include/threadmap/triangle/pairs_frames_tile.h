// SPDX-License-Identifier: MIT
// pairs_frames_tile.h: a tile of pairs of pairs_frames.h: which pairs of it are whose, and how its
// points come to shared memory.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_PAIRS_FRAMES_TILE_H
#define TMAP_TRIANGLE_PAIRS_FRAMES_TILE_H

#include "../value.h"
#include "pairs_frames_plan.h"

#if TMAP_CUDA

typedef void (*tmap_pairs_frames_pair)(void *job, void *sum, tmap_pair pair, const float *a,
                                       const float *b, float *of_pair);
typedef void (*tmap_pairs_frames_frame)(void *job, tmap_u64 frame, float *of_frame);
typedef void (*tmap_pairs_frames_add)(void *job, void *sum, tmap_pair pair, const float *a,
                                      const float *b, const float *of_pair, const float *of_frame);
typedef void (*tmap_pairs_frames_finish)(void *job, tmap_u64 frame, const void *sum,
                                         const void *pairs);

// What is constant in a launch; sizes and functions are constants of the compiler's.
typedef struct tmapi_frames {
    const tmap_pairs_frames_plan *plan;
    const float *reference, *frames;
    const tmap_u32 *numbers;
    tmap_u32 points, own, bytes; // points: of a frame, in memory
    tmap_pairs_frames_pair of_pair;
    tmap_pairs_frames_frame of_frame;
    tmap_pairs_frames_add add;
    tmap_fold_join join;
    const void *zero;
    void *job;
    tmap_u32 table;
} tmapi_frames;

// A tile, and the lane's share of its pairs: blocks of rows with what is left of them at their
// ends, `head` and every step-th one of them after it; and `count` quads from a place on.
typedef struct tmapi_frames_tile {
    tmap_u32 i, j, rows, columns; // the first points, how many
    tmap_u32 blocks, quads, of_j; // of rows, of columns, whole ones; where points j are in a stage
    int diagonal;
    tmap_u32 head, heads, step, block, quad, count;
} tmapi_frames_tile;

// Float number `at` of the block's shared memory. A number and not a pointer is what is handed
// around, so that the compiler knows which memory it is.
TMAP_DEVICE float *tmapi_frames_shared_at(tmap_u32 at) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    return (float *)tmapi_pairs_shared + at;
}

// ---- tiles --------------------------------------------------------------------------------------

// Quads of columns before a block of rows on the diagonal, in all blocks of rows before it.
TMAP_DEVICE tmap_u32 tmapi_frames_left_of(tmap_u32 block) {
    return TMAPI_FRAMES_ROWS / 4 * (block * (block + 1) / 2);
}

// The first quad that a block of rows takes, and where quad 0 of its rows would be in the table.
TMAP_DEVICE tmap_u32 tmapi_frames_first(const tmapi_frames_tile *t, tmap_u32 block) {
    return t->diagonal ? (block + 1) * (TMAPI_FRAMES_ROWS / 4) : 0;
}
TMAP_DEVICE tmap_u32 tmapi_frames_base(const tmapi_frames *f, const tmapi_frames_tile *t,
                                       tmap_u32 block) {
    const tmap_u32 quads = f->plan->side / 4;
    return block * quads - (t->diagonal ? tmapi_frames_left_of(block) : 0);
}

// Where what a row's pairs with a quad have of their own is: the first of 4 floats, for each of
// `own`.
TMAP_DEVICE tmap_u32 tmapi_frames_place(const tmapi_frames *f, const tmapi_frames_tile *t,
                                        tmap_u32 block, tmap_u32 quad, tmap_u32 row) {
    const tmap_u32 cell = tmapi_frames_base(f, t, block) + quad;
    return f->table + (cell * TMAPI_FRAMES_ROWS + row) * f->own * 4;
}

// Tile number `tile`. The points alone.
TMAP_DEVICE tmapi_frames_tile tmapi_frames_tile_of(const tmapi_frames *f, tmap_u64 tile) {
    const tmap_pairs_frames_plan *plan = f->plan;
    tmapi_frames_tile t;
    tmap_pair64 p = {0, 0};
    if (plan->bands > 1) p = tmap_upper_map64(tile, plan->bands);
    t.diagonal = p.i == p.j;
    t.i = (tmap_u32)p.i * plan->side, t.j = (tmap_u32)p.j * plan->side;
    t.rows = plan->n - t.i < plan->side ? plan->n - t.i : plan->side;
    t.columns = plan->n - t.j < plan->side ? plan->n - t.j : plan->side;
    t.of_j = t.diagonal ? 0 : 3 * plan->side;
    t.blocks = (t.rows + TMAPI_FRAMES_ROWS - 1) / TMAPI_FRAMES_ROWS, t.quads = t.columns / 4;
    t.head = t.heads = t.step = t.block = t.quad = t.count = 0;
    return t;
}

// The share of lanes number v of `step` that go their own ways: every step-th head, and as many
// quads, one after the other, as make the shares equal.
TMAP_DEVICE void tmapi_frames_share(tmapi_frames_tile *t, tmap_u32 v, tmap_u32 step) {
    const tmap_u32 per = TMAPI_FRAMES_ROWS / 4, rows = t->blocks;
    tmap_u32 with = rows, quads, all, begin; // with: blocks of rows that have quads
    if (t->diagonal) with = t->quads / per < rows ? t->quads / per : rows;
    quads = with * t->quads - (t->diagonal ? tmapi_frames_left_of(with) : 0);
    t->heads = t->diagonal || t->columns % 4 ? rows : 0;
    t->head = v, t->step = step;
    all = quads + t->heads;
    // Shares of all / step, one more for the first all % step; less the heads of those before.
    begin = all / step * v + (v < all % step ? v : all % step);
    begin -= t->heads / step * v + (v < t->heads % step ? v : t->heads % step);
    t->count = all / step + (v < all % step) - t->heads / step - (v < t->heads % step);
    if (!t->diagonal) {
        t->block = t->quads ? begin / t->quads : 0;
        t->quad = begin - t->block * t->quads;
        return;
    }
    t->block = 0, t->quad = begin;
    while (t->count && t->quad >= t->quads - tmapi_frames_first(t, t->block))
        t->quad -= t->quads - tmapi_frames_first(t, t->block), ++t->block;
    t->quad += tmapi_frames_first(t, t->block);
}

// ---- how points come ----------------------------------------------------------------------------

// Copies 4 or 16 bytes to shared memory; they are there after tmapi_frames_arrived.
TMAP_DEVICE void tmapi_frames_copy(float *to, const float *from, tmap_u32 size) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const tmap_u32 at = (tmap_u32)__cvta_generic_to_shared(to);
    if (size == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
    tmapi_value_copy(to, from, size);
#endif
}

// Ends a batch of the thread's copies; waits for all of them, or for all but the last batch.
TMAP_DEVICE void tmapi_frames_batch(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
TMAP_DEVICE void tmapi_frames_arrived(int but_last) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (but_last)
        asm volatile("cp.async.wait_group 1;" ::: "memory");
    else
        asm volatile("cp.async.wait_group 0;" ::: "memory");
#else
    (void)but_last; // copies do not wait there
#endif
}

// `count` points of a frame from number `first` of those that count, by a warp.
TMAP_DEVICE void tmapi_frames_bring_row(const tmapi_frames *f, const float *frame, tmap_u32 first,
                                        tmap_u32 count, tmap_u32 at) {
    const tmap_u32 lane = threadIdx.x % 32, floats = 3 * count;
    const float *from = frame + first * 3ull;
    float *to = tmapi_frames_shared_at(at);
    tmap_u32 x = lane;
    if (f->numbers) {
        TMAPI_NO_UNROLL
        for (; x < floats; x += 32)
            tmapi_frames_copy(to + x, frame + f->numbers[first + x / 3] * 3ull + x % 3, 4);
        return;
    }
    if ((tmap_u64)from % 16 == 0) {
        TMAPI_NO_UNROLL
        for (x = 4 * lane; x + 4 <= floats; x += 128) tmapi_frames_copy(to + x, from + x, 16);
        x = floats / 4 * 4 + lane;
    }
    TMAPI_NO_UNROLL
    for (; x < floats; x += 32) tmapi_frames_copy(to + x, from + x, 4);
}

// The tile's points of `count` frames from frame `first` on go to a stage, in one batch, and before
// that, where they are asked for, those of the reference, in a batch of their own. A warp takes
// half of a frame's: rows or columns, or on the diagonal one of two halves of both.
TMAP_DEVICE void tmapi_frames_bring(const tmapi_frames *f, const tmapi_frames_tile *t,
                                    tmap_u64 first, tmap_u32 count, int reference, tmap_u32 stage) {
    const tmap_u32 warp = threadIdx.x / 32, second = warp % 2, pitch = f->plan->pitch;
    const tmap_u32 half = (t->rows + 7) / 8 * 4, cut = t->diagonal ? half : t->rows;
    const tmap_u32 all = t->diagonal ? t->rows : t->rows + t->columns;
    const tmap_u32 middle = cut < all ? cut : all;
    const tmap_u32 from = !second ? t->i : t->diagonal ? t->i + middle : t->j;
    const tmap_u32 to = !second ? 0 : t->diagonal ? 3 * middle : t->of_j;
    int row = reference ? -1 : (int)(warp / 2); // -1: the reference, by the first two warps
    TMAPI_NO_UNROLL
    for (;;) {
        const tmap_u32 place = row < 0 ? f->plan->group : (tmap_u32)row;
        const float *frame = f->reference;
        if (row >= 0) frame = f->frames + (first + place) * f->points * 3;
        if (row < 0 ? warp < 2 : place < count)
            tmapi_frames_bring_row(f, frame, from, second ? all - middle : middle,
                                   stage + place * pitch + to);
        if (row < 0) tmapi_frames_batch();
        row = row < 0 ? (int)(warp / 2) : row + (int)(TMAPI_FRAMES_WARPS / 2);
        if (row >= (int)count) break;
    }
    tmapi_frames_batch();
}

#endif // TMAP_CUDA
#endif
