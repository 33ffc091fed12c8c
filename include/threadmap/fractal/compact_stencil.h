// SPDX-License-Identifier: MIT
// compact_stencil.h: the loop of tmap_stencil on compact storage. A part of stencil.h.
//
// A thread has one cell of a tile and stays with it while tiles go by: where that cell's neighbours
// are is found once. A block takes tiles that lie one after another in memory, by steps, which it
// copies to shared memory as they are; values that lie in tiles beside are brought there by
// themselves (the halo), and for a place that is no cell there are zeros. Which tiles are beside
// one another is found by their digits (compact_stencil.h), a thread for each of the eight around
// each tile. All that is for one step ahead, or two, while the rule is applied.
#ifndef TMAP_FRACTAL_COMPACT_STENCIL_H
#define TMAP_FRACTAL_COMPACT_STENCIL_H

#include "compact.h"
#include "each.h"

// ---- stencil rule -------------------------------------------------------------------------------
//
// What the loops of tmap_stencil are given. A part of stencil.h.

#if TMAP_CUDA

// around: bit i is 1 if place i is a cell of the fractal; bit TMAP_HERE always is. nine: the values
// of the nine places, of the user's type, side by side; 0 in every byte where there is no cell.
// next: where the cell's new value goes, of the same type.
typedef void (*tmap_stencil_rule)(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                  void *next);

typedef struct tmapi_stencil {
    const unsigned char *in;
    unsigned char *out;
    tmap_u32 size;
    tmap_stencil_rule rule;
    void *job;
    const tmap_each_plan *plan;
    int words; // 1: elements are words of a bit for each sheet (stencil.h)
} tmapi_stencil;

typedef struct tmapi_stencil_nine {
    alignas(16) unsigned char bytes[9 * 16];
} tmapi_stencil_nine;

// ---- compact lookup -----------------------------------------------------------------------------
//
// The cell beside a cell of compact storage, and its coordinates, by tables in
// shared memory that take several levels at a time. A part of compact_stencil.h.
//
// A cell's number has a digit for each level. What tmap_compact_beside finds digit by digit, the
// table knows for all numbers of the lowest few levels: the number beside, and whether that lies in
// a copy beside and in which direction, with which the next few digits are asked.

// In place of a direction 0..7: the number is one of the same fractal; no cell is there.
#define TMAPI_COMPACT_WITHIN 8u
#define TMAPI_COMPACT_NONE   9u

// The cell at which the tables of `levels` levels begin, 1 to t->levels.
TMAP_DEVICE tmap_u32 tmapi_compact_lookup_of(const tmapi_compact_lookup *t, tmap_u32 levels) {
    return (tmap_u32)(t->first >> 8 * levels) & 0xff;
}
TMAP_DEVICE unsigned short *tmapi_compact_lookup_table(const tmapi_compact_lookup *t) {
    return (unsigned short *)(t + 1);
}
TMAP_DEVICE tmap_xy *tmapi_compact_lookup_corners(const tmapi_compact_lookup *t) {
    const tmap_u32 all = tmapi_compact_lookup_of(t, t->levels) + t->cells;
    return (tmap_xy *)(tmapi_compact_lookup_table(t) + 8 * all);
}

// Fills the tables, by all threads of a block; to be read after a __syncthreads.
TMAPI_DEVICE_CALL void tmapi_compact_lookup_fill(tmap_nbb f, tmapi_compact_lookup *shared,
                                                 tmap_u32 rank, tmap_u32 threads) {
    const tmap_u32 most = tmapi_compact_few(f);
    unsigned short *beside = tmapi_compact_lookup_table(shared);
    tmapi_compact_lookup t;
    tmap_xy *corner;
    tmap_u32 all = f.k;
    t.levels = 1, t.cells = f.k, t.sx = f.sx, t.sy = f.sy, t.first = 0;
    TMAPI_NO_UNROLL
    for (; t.levels < most; all += t.cells) {
        ++t.levels, t.first |= (tmap_u64)all << 8 * t.levels;
        t.cells *= f.k, t.sx *= f.sx, t.sy *= f.sy;
    }
    t.inverse = tmapi_compact_inverse(t.cells);
    t.nowhere = (f.sx == 1 ? 0xbd : 0) | (f.sy == 1 ? 0xe7 : 0);
    if (rank == 0) *shared = t;
    corner = (tmap_xy *)(beside + 8 * all);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < 8 * all; i += threads) {
        tmap_u32 index = i / 8, levels = 1, cells = f.k, to;
        tmap_compact_place p;
        TMAPI_NO_UNROLL
        for (; index >= cells; ++levels) index -= cells, cells *= f.k;
        p = tmap_compact_beside(f, index, levels, tmapi_compact_dx(i % 8), tmapi_compact_dy(i % 8));
        to = p.none       ? TMAPI_COMPACT_NONE
             : p.x || p.y ? tmapi_compact_direction(p.x, p.y)
                          : TMAPI_COMPACT_WITHIN;
        beside[i] = (unsigned short)(p.index | to << 6);
        if (i % 8 == 0) corner[i / 8] = tmap_nbb_lambda_linear(f, index, levels);
    }
}

// What lies in a direction beside a cell. to: TMAPI_COMPACT_WITHIN; TMAPI_COMPACT_NONE; else the
// direction of the copy of the fractal that it lies in. index: its number there.
typedef struct tmapi_compact_neighbour {
    tmap_u32 index, to;
} tmapi_compact_neighbour;

// No cell is in a copy beside where none lies at any level.
TMAP_DEVICE tmapi_compact_neighbour tmapi_compact_neighbour_there(const tmapi_compact_lookup *t,
                                                                  tmapi_compact_neighbour n) {
    if (t->nowhere >> n.to & 1) n.to = TMAPI_COMPACT_NONE;
    return n;
}

// As tmap_compact_beside, for index < k^levels < 2^32 and direction 0..7.
// Cost: about 16 instructions for each few levels up to those in which both are in one box.
TMAPI_DEVICE_CALL tmapi_compact_neighbour tmapi_compact_lookup_beside(const tmapi_compact_lookup *t,
                                                                      tmap_u32 index,
                                                                      tmap_u32 levels,
                                                                      tmap_u32 direction) {
    const unsigned short *beside = tmapi_compact_lookup_table(t);
    const tmap_u32 cells = t->cells, inverse = t->inverse;
    tmap_u32 rest = index, power = 1;
    tmapi_compact_neighbour n;
    n.index = index, n.to = direction;
    TMAPI_NO_UNROLL
    while (n.to < TMAPI_COMPACT_WITHIN && levels) {
        const tmap_u32 some = levels < t->levels ? levels : t->levels;
        const tmap_u32 quotient = tmapi_compact_divide(rest, cells, inverse);
        const tmap_u32 low = rest - quotient * cells;
        const tmap_u32 entry = beside[8 * (tmapi_compact_lookup_of(t, some) + low) + n.to];
        n.index += ((entry & 63) - low) * power, n.to = entry >> 6;
        rest = quotient, power *= cells, levels -= some;
    }
    return tmapi_compact_neighbour_there(t, n);
}

// A cell of a fractal of so few levels that two tables hold it, as those of a tile. low, high: the
// entries of the table that it has in its lowest levels, and in those above, if there are any.
// above: what the latter bring to its number. cells: those of the former.
typedef struct tmapi_compact_pair {
    const unsigned short *low, *high;
    tmap_u32 above, cells;
} tmapi_compact_pair;

TMAP_DEVICE tmapi_compact_pair tmapi_compact_pair_make(const tmapi_compact_lookup *t,
                                                       tmap_u32 index, tmap_u32 levels) {
    const unsigned short *beside = tmapi_compact_lookup_table(t);
    const tmap_u32 some = levels < t->levels ? levels : t->levels;
    const tmap_u32 quotient = tmapi_compact_divide(index, t->cells, t->inverse);
    tmapi_compact_pair p;
    p.above = quotient * t->cells, p.cells = t->cells;
    p.low = levels ? beside + 8 * (tmapi_compact_lookup_of(t, some) + index - p.above) : 0;
    p.high =
        levels > some ? beside + 8 * (tmapi_compact_lookup_of(t, levels - some) + quotient) : 0;
    return p;
}

TMAP_DEVICE tmapi_compact_neighbour tmapi_compact_pair_beside(const tmapi_compact_lookup *t,
                                                              tmapi_compact_pair p,
                                                              tmap_u32 direction) {
    tmapi_compact_neighbour n;
    tmap_u32 entry = direction << 6; // no levels
    if (p.low) entry = p.low[direction];
    n.index = p.above + (entry & 63), n.to = entry >> 6;
    if (n.to < TMAPI_COMPACT_WITHIN && p.high) {
        entry = p.high[n.to];
        n.index += (entry & 63) * p.cells - p.above, n.to = entry >> 6;
    }
    return tmapi_compact_neighbour_there(t, n);
}

// Where tile `tile` < k^levels, of sides x and y, begins.
TMAPI_DEVICE_CALL tmap_xy tmapi_compact_lookup_corner(const tmapi_compact_lookup *t, tmap_u32 tile,
                                                      tmap_u32 levels, tmap_u32 x, tmap_u32 y) {
    const tmap_xy *corners = tmapi_compact_lookup_corners(t);
    tmap_xy corner = {0, 0};
    TMAPI_NO_UNROLL
    while (levels) {
        const tmap_u32 some = levels < t->levels ? levels : t->levels;
        const tmap_u32 quotient = tmapi_compact_divide(tile, t->cells, t->inverse);
        const tmap_xy low = corners[tmapi_compact_lookup_of(t, some) + tile - quotient * t->cells];
        corner.x += low.x * x, corner.y += low.y * y;
        tile = quotient, x *= t->sx, y *= t->sy, levels -= some;
    }
    return corner;
}

// ---- compact step -------------------------------------------------------------------------------
//
// What a block of a stencil on compact storage brings to shared memory for a step:
// values of tiles, values from the tiles beside, and tables. A part of compact_stencil.h.

// What a block goes by. deep: rows of tiles in a step; entry u * tiles + v of a table is tile v of
// row u. row: cells of a row.
typedef struct tmapi_compact_block {
    unsigned char *shared;
    tmapi_compact_shared at;
    tmapi_compact_lookup *lookup;
    tmap_u32 cells, tiles, deep, step, halo;
    tmap_u32 row, row_inverse; // inverse: for divisions by it
    tmap_u32 threads, rank;
} tmapi_compact_block;

// What a block goes by, from the plan. tiles 0: the block has too few threads for one, or the plan
// is none of a stencil and has no shared memory for it.
TMAP_DEVICE tmapi_compact_block tmapi_compact_block_make(const tmapi_stencil *s,
                                                         unsigned char *shared) {
    const tmap_each_plan *plan = s->plan;
    tmapi_compact_block b;
    b.shared = shared;
    b.cells = tmapi_pow32(plan->f.k, plan->tile_level), b.deep = tmapi_compact_deep(s->size);
    b.threads = blockDim.x * blockDim.y * blockDim.z, b.rank = tmap_thread_rank();
    b.tiles = b.threads / b.cells < plan->chunk ? b.threads / b.cells : plan->chunk;
    b.halo = b.tiles * plan->halo, b.step = b.tiles * b.deep, b.row = b.tiles * b.cells;
    b.row_inverse = tmapi_compact_inverse(b.row);
    b.at = tmapi_compact_shared_at(plan->f, b.cells, b.tiles, plan->halo, s->size, s->words);
    b.lookup = (tmapi_compact_lookup *)(shared + b.at.lookup);
    return b;
}

// How many bytes behind halo_values value i of the halo is, in row 0.
TMAP_DEVICE tmap_u32 tmapi_compact_halo_at(const tmapi_compact_block *b, tmap_u32 i,
                                           tmap_u32 size) {
    const tmap_u32 plane = tmapi_compact_divide(i, b->row, b->row_inverse);
    return plane * b->deep * b->at.row + (i - plane * b->row) * size;
}

// How the values of a halo are brought. count: of the list's entries so far. inverse: for divisions
// by that of all. rows: that a thread brings of an entry, a part of `deep`; the next thread that
// has the entry goes on. threads: that have one.
typedef struct tmapi_compact_halo_way {
    tmap_u32 count, inverse, rows, threads;
} tmapi_compact_halo_way;

// Zeros behind the halo of every row; and the tables that tiles are asked by.
TMAP_DEVICE void tmapi_compact_block_begin(const tmapi_stencil *s, const tmapi_compact_block *b) {
    unsigned char *zeros =
        b->shared + b->at.halo_values + tmapi_compact_halo_at(b, b->halo, s->size);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 2 * b->deep; i += b->threads)
        tmapi_value_zero(zeros + (i & 1) * b->at.buffer + i / 2 * b->at.row, s->size);
    if (b->rank == 0) {
        tmapi_compact_halo_way *way = (tmapi_compact_halo_way *)(b->shared + b->at.counter);
        tmapi_compact_halo_way w;
        w.count = 0, w.inverse = tmapi_compact_inverse(b->halo), w.rows = 1;
        while (w.rows < b->deep && b->halo * b->deep > b->threads * w.rows) w.rows *= 2;
        w.threads = b->halo * (b->deep / w.rows);
        *way = w;
    }
    tmapi_compact_lookup_fill(s->plan->f, b->lookup, b->rank, b->threads);
}

// ---- cells --------------------------------------------------------------------------------------

// A thread's cell. near_low, near_high: how many elements behind the first value of a buffer those
// of the eight around it stand, in row 0, 16 bits each. beside: byte d has the bits of those in the
// tile in direction d. own: the bits of those in its own tile, and its own. tile: which of the
// tiles side by side. place: in the tile, x | y << 16.
typedef struct tmapi_compact_lane {
    tmap_u64 near_low, near_high, beside;
    tmap_u32 own, tile, place;
} tmapi_compact_lane;

// Finds a thread's neighbours, and gives those in other tiles a place and an entry in the list of
// the halo: tile << 20 | direction << 16 | cell. values: where the tiles' values begin in a buffer.
TMAP_DEVICE tmapi_compact_lane tmapi_compact_lane_make(const tmap_each_plan *plan,
                                                       const tmapi_compact_block *b, tmap_u32 size,
                                                       tmap_u32 values) {
    tmap_u32 *count = &((tmapi_compact_halo_way *)(b->shared + b->at.counter))->count;
    tmap_u32 *halo = (tmap_u32 *)(b->shared + b->at.halo);
    const tmap_u32 halo_first = (b->at.halo_values - values) / size;
    const tmap_u32 zeros = halo_first + tmapi_compact_halo_at(b, b->halo, size) / size;
    tmapi_compact_pair pair;
    tmapi_compact_lane l;
    tmap_u32 index;
    tmap_xy p;
    l.tile = b->rank / b->cells, index = b->rank - l.tile * b->cells;
    p = tmapi_compact_lookup_corner(b->lookup, index, plan->tile_level, 1, 1);
    l.place = p.x | p.y << 16;
    l.near_low = l.near_high = l.beside = 0, l.own = 1u << 4;
    pair = tmapi_compact_pair_make(b->lookup, index, plan->tile_level);
    TMAPI_NO_UNROLL
    for (tmap_u32 n = 0; n < 8; ++n) {
        const tmapi_compact_neighbour q = tmapi_compact_pair_beside(b->lookup, pair, n);
        tmap_u32 at = zeros;
        if (q.to == TMAPI_COMPACT_WITHIN) {
            at = l.tile * b->cells + q.index;
            l.own |= 1u << (n + (n >= 4));
        } else if (q.to < TMAPI_COMPACT_WITHIN) {
            const tmap_u32 i = atomicAdd(count, 1u);
            if (i < b->halo) {
                halo[i] = l.tile << 20 | q.to << 16 | q.index;
                at = halo_first + tmapi_compact_halo_at(b, i, size) / size;
                l.beside |= 1ull << (8 * q.to + n);
            }
        }
        // Shifted in from above: after eight of them the first one is the lowest.
        l.near_low = l.near_low >> 16 | l.near_high << 48;
        l.near_high = l.near_high >> 16 | (tmap_u64)at << 48;
    }
    return l;
}

// A word of a tile in another sheet: bit i becomes that of the sheet in a direction beside sheet i,
// where there is one. table: of the word's levels.
TMAPI_DEVICE_CALL tmap_u64 tmapi_compact_turn(const unsigned short *table, tmap_u32 direction,
                                              tmap_u64 word, tmap_u32 sheets) {
    tmap_u64 turned = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < sheets; ++i) {
        const tmap_u32 entry = table[8 * i + direction];
        if (entry >> 6 == TMAPI_COMPACT_WITHIN) turned |= (word >> (entry & 63) & 1) << i;
    }
    return turned;
}

// ---- tables -------------------------------------------------------------------------------------

// The table of the `left` tiles from `first` on.
TMAP_DEVICE void tmapi_compact_table(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     tmap_u32 first, tmap_u32 left, unsigned char *table) {
    const tmap_nbb f = s->plan->f;
    const tmap_u32 m = s->plan->tile_level, levels = s->plan->r - m;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 9 * b->step; i += b->threads) {
        const tmap_u32 corner = i - 8 * b->step; // from 0 on: these are tiles' corners
        if (i < 8 * b->step) {
            tmapi_compact_neighbour n = {0, TMAPI_COMPACT_NONE};
            if (i / 8 < left)
                n = tmapi_compact_lookup_beside(b->lookup, first + i / 8, levels, i % 8);
            if (s->words)
                table[b->at.sheet + i] = (unsigned char)n.to;
            else if (n.to < TMAPI_COMPACT_WITHIN)
                n.to = TMAPI_COMPACT_NONE;
            table[b->at.there + i] = (unsigned char)(n.to == TMAPI_COMPACT_NONE ? 0 : 0xff);
            ((tmap_u32 *)table)[i] = n.index;
        } else if (corner < left) {
            const tmap_u32 x = tmapi_pow32(f.sx, m), y = tmapi_pow32(f.sy, m);
            ((tmap_xy *)(table + b->at.corner))[corner] =
                tmapi_compact_lookup_corner(b->lookup, first + corner, levels, x, y);
        }
    }
}

// ---- values -------------------------------------------------------------------------------------

// 4, 8 or 16 bytes from memory to shared memory, which may arrive later: tmapi_compact_arrived.
TMAP_DEVICE void tmapi_compact_send(unsigned char *to, const unsigned char *from, tmap_u32 size) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const tmap_u32 at = (tmap_u32)__cvta_generic_to_shared(to);
    const tmap_u64 global = __cvta_generic_to_global(from);
    if (size == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(global) : "memory");
    if (size == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(global) : "memory");
    if (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(global) : "memory");
#else
    tmapi_value_copy(to, from, size);
#endif
}
TMAP_DEVICE void tmapi_compact_arrived(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Copies the values of the `left` tiles of a step, which begin at `from`, by whole 16 bytes of
// memory; element by element where that would leave the fractal's own memory.
TMAP_DEVICE void tmapi_compact_fetch(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     tmap_u32 left, const unsigned char *from, unsigned char *to) {
    const unsigned char *begin = s->in + s->plan->offset * s->size;
    const unsigned char *end = begin + s->plan->items * b->cells * s->size;
    const tmap_u32 skew = (tmap_u32)(tmap_u64)from & 15, own = left * b->cells * s->size;
    const tmap_u32 bytes = (skew + own + 15) / 16 * 16;
    if (from - skew >= begin && from - skew + bytes <= end) {
        from -= skew, to -= skew;
        TMAPI_NO_UNROLL
        for (tmap_u32 i = 16 * b->rank; i < bytes; i += 16 * b->threads)
            tmapi_compact_send(to + i, from + i, 16);
    } else {
        TMAPI_NO_UNROLL
        for (tmap_u32 i = s->size * b->rank; i < own; i += s->size * b->threads)
            tmapi_value_copy(to + i, from + i, s->size);
    }
}

// Brings the values of a step from the tiles beside: a thread has one of the halo in as many rows
// as it must. The block's last threads begin, as its first ones have the table to make.
TMAP_DEVICE void tmapi_compact_halo_fetch(const tmapi_stencil *s, const tmapi_compact_block *b,
                                          const unsigned char *table, unsigned char *to) {
    const unsigned char *begin = s->in + s->plan->offset * s->size;
    const tmap_u32 *halo = (const tmap_u32 *)(b->shared + b->at.halo);
    const tmapi_compact_halo_way way = *(const tmapi_compact_halo_way *)(b->shared + b->at.counter);
    const unsigned short *turns = tmapi_compact_lookup_table(b->lookup);
    if (s->words) turns += 8 * tmapi_compact_lookup_of(b->lookup, s->plan->word.level);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->threads - 1 - b->rank; i < way.threads; i += b->threads) {
        const tmap_u32 part = tmapi_compact_divide(i, b->halo, way.inverse);
        const tmap_u32 in_halo = i - part * b->halo, entry = halo[in_halo];
        const tmap_u32 first = part * way.rows;
        unsigned char *at = to + first * b->at.row + tmapi_compact_halo_at(b, in_halo, s->size);
        tmap_u32 beside = 8 * (first * b->tiles + (entry >> 20)) + (entry >> 16 & 7);
#pragma unroll 4
        for (tmap_u32 u = 0; u < way.rows; ++u, at += b->at.row, beside += 8 * b->tiles) {
            const tmap_u64 tile = ((const tmap_u32 *)table)[beside];
            const unsigned char *from = begin + (tile * b->cells + (entry & 0xffff)) * s->size;
            if (!table[b->at.there + beside]) {
                tmapi_value_zero(at, s->size);
            } else if (s->words && table[b->at.sheet + beside] < TMAPI_COMPACT_WITHIN) {
                tmap_u64 word = 0;
                tmapi_value_copy(&word, from, s->size);
                word = tmapi_compact_turn(turns, table[b->at.sheet + beside], word,
                                          s->plan->word.level ? s->plan->word.cells : 0);
                tmapi_value_copy(at, &word, s->size);
            } else if (s->size >= 4) {
                tmapi_compact_send(at, from, s->size);
            } else {
                tmapi_value_copy(at, from, s->size);
            }
        }
    }
}

// ---- compact stencil ----------------------------------------------------------------------------

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
