// SPDX-License-Identifier: MIT
// compact_stencil.h: the loop of tmap_stencil on compact storage. A part of stencil.h.
//
// A thread has one cell of a tile and stays with it while tiles go by: where that cell's neighbours
// are is found once. A block takes a step of some tiles that lie side by side in memory, which it
// copies to shared memory as they are; values that lie in tiles beside are brought there by
// themselves (the halo), and for a place that is no cell there are zeros. Which tiles are beside
// one another is found by their digits (tmap_compact_beside), a thread for each of the eight around
// each tile. All that is for one step ahead, or two, while the rule is applied.
#ifndef TMAP_FRACTAL_COMPACT_STENCIL_H
#define TMAP_FRACTAL_COMPACT_STENCIL_H

#include "each.h"

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
    int words; // 1: elements are words of a bit for each sheet (compact_words.h)
} tmapi_stencil;

typedef struct tmapi_stencil_nine {
    alignas(16) unsigned char bytes[9 * 16];
} tmapi_stencil_nine;

// What a block goes by. deep: rows of tiles in a step; entry u * tiles + v of a table is tile v of
// row u. row: bytes of a row's values.
typedef struct tmapi_compact_block {
    unsigned char *shared;
    tmapi_compact_shared at;
    tmap_u32 cells, tiles, deep, step, halo, row;
    tmap_u32 of_row, inverse; // 16 bytes that a row may touch, for divisions by it
    tmap_u32 threads, rank;
} tmapi_compact_block;

// A thread's cell. near_low, near_high: where the values of the eight around it stand in a row, 16
// bits each. beside: byte d has the bits of those in the tile in direction d. own: the bits of
// those in its own tile, and its own. tile: which of the tiles side by side. place: in the tile, x
// | y << 16.
typedef struct tmapi_compact_lane {
    tmap_u64 near_low, near_high, beside;
    tmap_u32 own, tile, place;
} tmapi_compact_lane;

// Finds a thread's neighbours, and gives those in other tiles a place and an entry in the list of
// the halo: tile << 20 | direction << 16 | cell. rank: below tiles * cells. behind: the first place
// of the halo, of `count`; none: that of zeros.
TMAPI_DEVICE_CALL tmapi_compact_lane tmapi_compact_lane_make(tmap_nbb f, tmap_u32 m, tmap_u32 cells,
                                                             tmap_u32 behind, tmap_u32 count,
                                                             tmap_u32 none, tmap_u32 rank,
                                                             tmap_u32 *counter, tmap_u32 *halo) {
    tmapi_compact_lane l;
    tmap_u32 index;
    tmap_xy p;
    l.tile = rank / cells, index = rank - l.tile * cells;
    p = tmap_nbb_lambda_linear(f, index, m);
    l.place = p.x | p.y << 16;
    l.near_low = l.near_high = l.beside = 0, l.own = 1u << 4;
    TMAPI_NO_UNROLL
    for (tmap_u32 n = 0; n < 8; ++n) {
        const tmap_compact_place q =
            tmap_compact_beside(f, index, m, tmapi_compact_dx(n), tmapi_compact_dy(n));
        tmap_u64 slot = none;
        if (!q.none && (q.x || q.y)) {
            const tmap_u32 d = tmapi_compact_direction(q.x, q.y), at = atomicAdd(counter, 1u);
            if (at < count) {
                halo[at] = l.tile << 20 | d << 16 | q.index;
                slot = behind + at;
                l.beside |= 1ull << (8 * d + n);
            }
        } else if (!q.none) {
            slot = l.tile * cells + q.index;
            l.own |= 1u << (n + (n >= 4));
        }
        if (n < 4)
            l.near_low |= slot << 16 * n;
        else
            l.near_high |= slot << 16 * (n - 4);
    }
    return l;
}

// For each direction, the bits that the bits of a word come from where the tile beside is another
// sheet's; 0xff: from none.
TMAPI_DEVICE_CALL void tmapi_compact_sources(tmap_nbb f, tmap_compact_word word, tmap_u32 rank,
                                             tmap_u32 threads, unsigned char *source) {
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < 8 * 64; i += threads) {
        const tmap_compact_place p = tmap_compact_beside(
            f, i % 64, word.level, tmapi_compact_dx(i / 64), tmapi_compact_dy(i / 64));
        source[i] =
            (unsigned char)(i % 64 < word.cells && !p.none && !p.x && !p.y ? p.index : 0xff);
    }
}

// A word of a tile in another sheet: bit i becomes that of the sheet beside sheet i.
TMAPI_DEVICE_CALL tmap_u64 tmapi_compact_turn(const unsigned char *source, tmap_u64 word,
                                              tmap_u32 sheets) {
    tmap_u64 turned = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < sheets; ++i)
        if (source[i] < 64) turned |= (word >> source[i] & 1) << i;
    return turned;
}

// ---- tables -------------------------------------------------------------------------------------

// Entry i of 8 for each tile: the tile in direction i % 8 beside `tile`.
TMAPI_DEVICE_CALL void tmapi_compact_table_beside(tmap_nbb f, tmap_u32 tile, tmap_u32 levels,
                                                  tmap_u32 i, int is, int words,
                                                  tmapi_compact_shared at, unsigned char *table) {
    tmap_compact_place p;
    p.index = 0, p.x = p.y = 0, p.none = 1;
    if (is)
        p = tmap_compact_beside(f, tile, levels, tmapi_compact_dx(i % 8), tmapi_compact_dy(i % 8));
    if (words)
        table[at.sheet + i] =
            (unsigned char)(p.x || p.y ? 1 + tmapi_compact_direction(p.x, p.y) : 0);
    else
        p.none |= p.x || p.y;
    table[at.there + i] = (unsigned char)(p.none ? 0 : 0xff);
    ((tmap_u32 *)table)[i] = p.index;
}

// Where a tile begins. x, y: the sides of a tile.
TMAPI_DEVICE_CALL tmap_xy tmapi_compact_table_corner(tmap_nbb f, tmap_u32 tile, tmap_u32 levels,
                                                     tmap_u32 x, tmap_u32 y) {
    const tmap_u32 inverse = tmapi_compact_inverse(f.k);
    tmap_xy corner = {0, 0};
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < levels; ++level, x *= f.sx, y *= f.sy) {
        const tmap_u32 quotient = tmapi_compact_divide(tile, f.k, inverse);
        const tmap_xy tau = tmap_nbb_tau(f, tile - quotient * f.k);
        corner.x += tau.x * x, corner.y += tau.y * y, tile = quotient;
    }
    return corner;
}

// The table of the `left` tiles from `first` on.
TMAP_DEVICE void tmapi_compact_table(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     tmap_u32 first, tmap_u32 left, unsigned char *table) {
    const tmap_u32 m = s->plan->tile_level, levels = s->plan->r - m;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 9 * b->step; i += b->threads) {
        if (i < 8 * b->step)
            tmapi_compact_table_beside(s->plan->f, first + i / 8, levels, i, i / 8 < left, s->words,
                                       b->at, table);
        else
            ((tmap_xy *)(table + b->at.corner))[i - 8 * b->step] = tmapi_compact_table_corner(
                s->plan->f, first + (i - 8 * b->step), levels, tmapi_pow32(s->plan->f.sx, m),
                tmapi_pow32(s->plan->f.sy, m));
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

// Where the first row of a buffer begins, for values that begin at `from` in memory.
TMAP_DEVICE unsigned char *tmapi_compact_row(const tmapi_compact_block *b, tmap_u32 buffer,
                                             const unsigned char *from) {
    return b->shared + buffer * b->at.buffer + 16 + ((tmap_u64)from & 15);
}

// Copies the values of a step, which begin at `from`, by whole 16 bytes of memory; where that would
// leave the fractal's own memory, element by element.
TMAP_DEVICE void tmapi_compact_fetch(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     const unsigned char *from, unsigned char *row) {
    const unsigned char *begin = s->in + s->plan->offset * s->size;
    const unsigned char *end = begin + s->plan->items * b->cells * s->size;
    const int inside = from >= begin + 16 && from + b->deep * b->row + 16 <= end;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < b->deep * b->of_row; i += b->threads) {
        const tmap_u32 u = tmapi_compact_divide(i, b->of_row, b->inverse);
        const tmap_u32 skew = ((tmap_u32)(tmap_u64)from + u * b->row) & 15;
        const tmap_u32 at = 16 * (i - u * b->of_row) - skew; // from the row's first value
        const unsigned char *source = from + (tmap_i64)(int)(u * b->row + at);
        unsigned char *to = row + (int)(u * b->at.row + at);
        if ((int)at >= (int)b->row) continue;
        if (inside) {
            tmapi_compact_send(to, source, 16);
            continue;
        }
        TMAPI_NO_UNROLL
        for (tmap_u32 j = 0; j < 16; j += s->size)
            if (source + j >= begin && source + j + s->size <= end)
                tmapi_value_copy(to + j, source + j, s->size);
    }
}

// Brings the values of a step from the tiles beside.
TMAP_DEVICE void tmapi_compact_halo_fetch(const tmapi_stencil *s, const tmapi_compact_block *b,
                                          const unsigned char *table, unsigned char *row) {
    const unsigned char *begin = s->in + s->plan->offset * s->size;
    const tmap_u32 *halo = (const tmap_u32 *)(b->shared + b->at.halo);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < b->halo; i += b->threads) {
        const tmap_u32 entry = halo[i], of_tile = 8 * (entry >> 20) + (entry >> 16 & 7);
        unsigned char *to = row + b->row + 16 + i * s->size;
#pragma unroll 4
        for (tmap_u32 u = 0; u < b->deep; ++u, to += b->at.row) {
            const tmap_u32 at = 8 * u * b->tiles + of_tile;
            const tmap_u64 tile = ((const tmap_u32 *)table)[at];
            const unsigned char *from = begin + (tile * b->cells + (entry & 0xffff)) * s->size;
            if (!table[b->at.there + at]) {
                tmapi_value_zero(to, s->size);
            } else if (s->words && table[b->at.sheet + at]) {
                tmap_u64 word = 0;
                tmapi_value_copy(&word, from, s->size);
                word = tmapi_compact_turn(b->shared + b->at.source +
                                              64 * (table[b->at.sheet + at] - 1),
                                          word, s->plan->word.cells);
                tmapi_value_copy(to, &word, s->size);
            } else if (s->size >= 4) {
                tmapi_compact_send(to, from, s->size);
            } else {
                tmapi_value_copy(to, from, s->size);
            }
        }
    }
}

// ---- the rule -----------------------------------------------------------------------------------

// Where a thread is in a step. near_to: its value and those around it; at: its element; tile: its
// entry of the table.
typedef struct tmapi_compact_cursor {
    const unsigned char *near_to[9];
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
    if (lane->beside) { // a byte of all ones for each tile there is
        const tmap_u64 is = lane->beside & ((const tmap_u64 *)(table + b->at.there))[tile];
        tmap_u32 bits = (tmap_u32)is | (tmap_u32)(is >> 32);
        bits |= bits >> 16, bits |= bits >> 8;
        around |= (bits & 0x0f) | (bits & 0xf0) << 1;
    }
    cell.x = ((const tmap_xy *)(table + b->at.corner))[tile].x + (lane->place & 0xffff);
    cell.y = ((const tmap_xy *)(table + b->at.corner))[tile].y + (lane->place >> 16);
    cell.at = c->at + u * (b->tiles * b->cells);
    s->rule(s->job, cell, around, &nine, &next);
    tmapi_value_copy(s->out + cell.at * size, &next, size);
}

// Goes some rows on.
TMAP_DEVICE void tmapi_compact_advance(const tmapi_compact_block *b, tmap_u32 rows,
                                       tmapi_compact_cursor *c) {
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) c->near_to[i] += rows * b->at.row;
    c->at += rows * (b->tiles * b->cells), c->tile += rows * b->tiles;
}

// The rule at a thread's cell of all rows of a step of `left` tiles. at: its element in row 0.
TMAP_DEVICE void tmapi_compact_apply(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     const tmapi_compact_lane *lane, tmap_u32 left, tmap_u64 at,
                                     const unsigned char *row, const unsigned char *table) {
    const tmap_u32 together = b->deep < 4 ? b->deep : 4;
    tmapi_compact_cursor c;
    c.at = at, c.tile = lane->tile;
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) {
        const tmap_u32 n = i - (i > 4);
        const tmap_u64 slots = n < 4 ? lane->near_low : lane->near_high;
        const tmap_u32 slot = i == 4 ? b->rank : (tmap_u32)(slots >> 16 * (n & 3)) & 0xffff;
        c.near_to[i] = row + slot * s->size;
    }
    if (left == b->step) {
        TMAPI_NO_UNROLL
        for (tmap_u32 u = 0; u < b->deep; u += together) {
#pragma unroll
            for (tmap_u32 i = 0; i < 4; ++i)
                if (i < together) tmapi_compact_visit(s, b, lane, &c, i, table);
            tmapi_compact_advance(b, together, &c);
        }
    } else {
        TMAPI_NO_UNROLL
        for (; c.tile < left; tmapi_compact_advance(b, 1, &c))
            tmapi_compact_visit(s, b, lane, &c, 0, table);
    }
}

// Tiles of a step that there are.
TMAP_DEVICE tmap_u32 tmapi_compact_left(const tmap_each_plan *plan, tmap_u64 first, tmap_u32 step) {
    const tmap_u64 end = plan->first + plan->count;
    return first >= end ? 0 : end - first < step ? (tmap_u32)(end - first) : step;
}

// What a block goes by, from the plan. tiles 0: the block has too few threads for one.
TMAP_DEVICE tmapi_compact_block tmapi_compact_block_make(const tmapi_stencil *s,
                                                         unsigned char *shared) {
    const tmap_each_plan *plan = s->plan;
    tmapi_compact_block b;
    b.shared = shared;
    b.cells = tmapi_pow32(plan->f.k, plan->tile_level), b.deep = tmapi_compact_deep(s->size);
    b.threads = blockDim.x * blockDim.y * blockDim.z, b.rank = tmap_thread_rank();
    b.tiles = b.threads / b.cells < plan->chunk ? b.threads / b.cells : plan->chunk;
    b.halo = b.tiles * plan->halo, b.step = b.tiles * b.deep, b.row = b.tiles * b.cells * s->size;
    b.of_row = (b.row + 30) / 16, b.inverse = tmapi_compact_inverse(b.of_row);
    b.at = tmapi_compact_shared_at(b.cells, b.tiles, plan->halo, s->size, s->words);
    return b;
}

// Zeros behind every row, wherever it begins; and for words the bits that bits come from.
TMAP_DEVICE void tmapi_compact_block_begin(const tmapi_stencil *s, const tmapi_compact_block *b) {
    unsigned char *zeros = b->shared + 16 + b->row + 32 + b->halo * s->size;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 32 * 2 * b->deep; i += b->threads)
        zeros[(i / 32 & 1) * b->at.buffer + i / 64 * b->at.row + (i & 31)] = 0;
    if (b->rank == 0) *(tmap_u32 *)(b->shared + b->at.counter) = 0;
    if (s->words)
        tmapi_compact_sources(s->plan->f, s->plan->word, b->rank, b->threads,
                              b->shared + b->at.source);
}

// 0 if the block has too few threads for a tile: then nothing is done. All threads of all blocks
// call it.
TMAP_DEVICE int tmapi_compact_stencil(const tmap_each_plan *plan, const tmapi_stencil *s) {
    extern __shared__ uint4 tmapi_each_shared[];
    const tmapi_compact_block b = tmapi_compact_block_make(s, (unsigned char *)tmapi_each_shared);
    const unsigned char *begin = s->in + plan->offset * s->size;
    const tmap_u32 in_rows = b.tiles * b.cells, of_16 = 16 / s->size;
    const tmap_u64 stride = gridDim.x * (tmap_u64)b.step;
    tmapi_compact_lane lane;
    // Three steps are under way: the rule is applied to the first one, values are on their way for
    // the next, and a table is made for the one behind that, which begins at tile `third`.
    tmap_u64 third = plan->first + blockIdx.x * (tmap_u64)b.step;
    tmap_u32 left = 0, next = 0, then = tmapi_compact_left(plan, third, b.step), buffer = 0;
    unsigned char *t0 = b.shared + b.at.table, *t1 = t0 + b.at.table_bytes;
    unsigned char *t2 = t1 + b.at.table_bytes;
    if (b.tiles == 0) return 0;
    tmapi_compact_block_begin(s, &b);
    __syncthreads();
    if (b.rank < in_rows)
        lane = tmapi_compact_lane_make(plan->f, plan->tile_level, b.cells, in_rows + of_16, b.halo,
                                       in_rows + 2 * of_16 + b.halo, b.rank,
                                       (tmap_u32 *)(b.shared + b.at.counter),
                                       (tmap_u32 *)(b.shared + b.at.halo));
    while (left | next | then) {
        unsigned char *t = t0;
        tmapi_compact_arrived();
        __syncthreads();
        if (next) {
            const unsigned char *from = begin + (third - stride) * (b.cells * s->size);
            unsigned char *row = tmapi_compact_row(&b, buffer ^ 1, from);
            tmapi_compact_fetch(s, &b, from, row);
            tmapi_compact_halo_fetch(s, &b, t1, row);
        }
        if (then) tmapi_compact_table(s, &b, (tmap_u32)third, then, t2);
        if (left && b.rank < in_rows) {
            const tmap_u64 cell = (third - 2 * stride) * b.cells;
            tmapi_compact_apply(s, &b, &lane, left, plan->offset + cell + b.rank,
                                tmapi_compact_row(&b, buffer, begin + cell * s->size), t0);
        }
        t0 = t1, t1 = t2, t2 = t;
        left = next, next = then, third += stride, buffer ^= 1;
        then = tmapi_compact_left(plan, third, b.step);
    }
    return 1;
}

#endif // TMAP_CUDA
#endif
