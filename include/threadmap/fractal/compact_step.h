// SPDX-License-Identifier: MIT
// compact_step.h: what a block of a stencil on compact storage brings to shared memory for a step:
// values of tiles, values from the tiles beside, and tables. A part of compact_stencil.h.
#ifndef TMAP_FRACTAL_COMPACT_STEP_H
#define TMAP_FRACTAL_COMPACT_STEP_H

#include "compact_lookup.h"
#include "stencil_rule.h"

#if TMAP_CUDA

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

#endif // TMAP_CUDA
#endif
