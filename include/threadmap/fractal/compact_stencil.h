// SPDX-License-Identifier: MIT
// compact_stencil.h: the loop of tmap_stencil on compact storage. A part of stencil.h.
//
// A thread has one cell of a tile and stays with it while tiles go by: where that cell's neighbours
// are is found once. A block takes tiles that lie one after another in memory, by steps, which it
// copies to shared memory as they are; values that lie in tiles beside are brought there by
// themselves (the halo), and for a place that is no cell there are zeros. Which tiles are beside
// one another is found by their digits (compact_lookup.h), a thread for each of the eight around
// each tile. All that is for one step ahead, or two, while the rule is applied.
#ifndef TMAP_FRACTAL_COMPACT_STENCIL_H
#define TMAP_FRACTAL_COMPACT_STENCIL_H

#include "compact_step.h"

#if TMAP_CUDA

// Where a thread is in a step. near_to: its value and those around it; at: its element, and to,
// where its next value goes; tile: its entry of the table.
typedef struct tmapi_compact_cursor {
    const unsigned char *near_to[9];
    unsigned char *to;
    tmap_u64 at;
    tmap_u32 tile;
} tmapi_compact_cursor;

// The rule at a thread's cell u rows on.
TMAP_DEVICE void tmapi_compact_visit(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     const tmapi_compact_lane *lane, const tmapi_compact_cursor *c,
                                     tmap_u32 u, const unsigned char *table) {
    const tmap_u32 size = s->size, tile = c->tile + u * b->tiles;
    tmap_u32 around = lane->own;
    tmapi_stencil_nine nine;
    tmapi_value next;
    tmap_cell cell;
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i)
        tmapi_value_copy(nine.bytes + i * size, c->near_to[i] + u * b->at.row, size);
    if (lane->beside) { // no place is in two directions, so that bytes are joined by adding them
        const tmap_u64 is = lane->beside & ((const tmap_u64 *)(table + b->at.there))[tile];
        const tmap_u32 bits = ((tmap_u32)is | (tmap_u32)(is >> 32)) * 0x01010101u >> 24;
        around |= (bits & 0x0f) | (bits & 0xf0) << 1;
    }
    cell.x = ((const tmap_xy *)(table + b->at.corner))[tile].x + (lane->place & 0xffff);
    cell.y = ((const tmap_xy *)(table + b->at.corner))[tile].y + (lane->place >> 16);
    cell.at = c->at + u * (b->tiles * b->cells);
    s->rule(s->job, cell, around, &nine, &next);
    tmapi_value_copy(c->to + u * (b->tiles * b->cells * size), &next, size);
}

// Goes some rows on.
TMAP_DEVICE void tmapi_compact_advance(const tmapi_compact_block *b, tmap_u32 size, tmap_u32 rows,
                                       tmapi_compact_cursor *c) {
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) c->near_to[i] += rows * b->at.row;
    c->at += rows * (b->tiles * b->cells), c->to += rows * (b->tiles * b->cells * size);
    c->tile += rows * b->tiles;
}

// The rule at a thread's cell of all rows of a step of `left` tiles. at: its element in row 0.
// values: those of the tiles.
TMAP_DEVICE void tmapi_compact_apply(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     const tmapi_compact_lane *lane, tmap_u32 left, tmap_u64 at,
                                     const unsigned char *values, const unsigned char *table) {
    const tmap_u32 together = b->deep < 4 ? b->deep : 4;
    tmapi_compact_cursor c;
    c.at = at, c.to = s->out + at * s->size, c.tile = lane->tile;
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) {
        const tmap_u32 n = i - (i > 4);
        const tmap_u64 near = n < 4 ? lane->near_low : lane->near_high;
        c.near_to[i] =
            values + (i == 4 ? b->rank : (tmap_u32)(near >> 16 * (n & 3)) & 0xffff) * s->size;
    }
    if (left == b->step) {
        TMAPI_NO_UNROLL
        for (tmap_u32 u = 0; u < b->deep; u += together) {
#pragma unroll
            for (tmap_u32 i = 0; i < 4; ++i)
                if (i < together) tmapi_compact_visit(s, b, lane, &c, i, table);
            tmapi_compact_advance(b, s->size, together, &c);
        }
    } else {
        TMAPI_NO_UNROLL
        for (; c.tile < left; tmapi_compact_advance(b, s->size, 1, &c))
            tmapi_compact_visit(s, b, lane, &c, 0, table);
    }
}

// 0 where tmapi_compact_block_make finds no tiles, and for words by a plan of single cells: then
// nothing is done. All threads of all blocks call it.
TMAP_DEVICE int tmapi_compact_stencil(const tmap_each_plan *plan, const tmapi_stencil *s) {
    extern __shared__ uint4 tmapi_each_shared[];
    const tmapi_compact_block b = tmapi_compact_block_make(s, (unsigned char *)tmapi_each_shared);
    // Blocks have equal shares of the tiles, which are below 2^32.
    const tmap_u32 share = (tmap_u32)plan->count / gridDim.x;
    const tmap_u32 more = (tmap_u32)plan->count - share * gridDim.x;
    const tmap_u32 first = blockIdx.x * share + (blockIdx.x < more ? blockIdx.x : more);
    const tmap_u32 step_bytes = b.step * b.cells * s->size; // a multiple of 16
    // Three steps are under way, of so many tiles: the rule is applied to the first one, values,
    // from `from` on, are on their way for the next, and a table is made for the one behind that,
    // from tile `tile` on.
    tmap_u32 left = 0, next = 0, then, rest = share + (blockIdx.x < more), buffer = 0;
    tmap_u32 tile = (tmap_u32)plan->first + first, values;
    const unsigned char *from = s->in + (plan->offset + (tmap_u64)tile * b.cells) * s->size;
    tmap_u64 at = plan->offset + (tmap_u64)tile * b.cells + b.rank;
    unsigned char *t0 = b.shared + b.at.table, *t1 = t0 + b.at.table_bytes;
    unsigned char *t2 = t1 + b.at.table_bytes;
    tmapi_compact_lane lane;
    if (b.tiles == 0 || (s->words && !plan->word.bytes)) return 0;
    tmapi_compact_block_begin(s, &b);
    __syncthreads();
    values = 16 + ((tmap_u32)(tmap_u64)from & 15);
    if (b.rank < b.row) lane = tmapi_compact_lane_make(plan, &b, s->size, values);
    then = rest < b.step ? rest : b.step, rest -= then;
    while (left | next | then) {
        unsigned char *t = t0;
        tmapi_compact_arrived();
        __syncthreads();
        if (next) {
            unsigned char *to = b.shared + (buffer ^ 1) * b.at.buffer;
            tmapi_compact_fetch(s, &b, next, from, to + values);
            tmapi_compact_halo_fetch(s, &b, t1, to + b.at.halo_values);
            from += step_bytes;
        }
        if (then) tmapi_compact_table(s, &b, tile, then, t2);
        if (left) {
            if (b.rank < b.row)
                tmapi_compact_apply(s, &b, &lane, left, at,
                                    b.shared + buffer * b.at.buffer + values, t0);
            at += b.step * b.cells;
        }
        t0 = t1, t1 = t2, t2 = t;
        left = next, next = then, tile += b.step, buffer ^= 1;
        then = rest < b.step ? rest : b.step, rest -= then;
    }
    return 1;
}

#endif // TMAP_CUDA
#endif
