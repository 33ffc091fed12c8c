// SPDX-License-Identifier: MIT
// compact_stencil.h: neighbours in compact storage: of one cell by its digits, of many with tables
// of several levels; and the loop of tmap_each_stencil (stencil.h) for compact storage:
// tmapi_compact_run, at the end.
//
// A thread keeps the same cell of a tile while its block goes through tiles, so it finds its
// neighbours once. A block copies tiles that are contiguous in memory to shared memory, step by
// step, and the values of other tiles (the halo) one by one. The value of a place that is no cell
// is 0. While the block applies the rule to a step, it loads the values of the next step and makes
// the table of the step after that.
#ifndef TMAP_FRACTAL_COMPACT_STENCIL_H
#define TMAP_FRACTAL_COMPACT_STENCIL_H

#include "../value.h"
#include "../warp.h"
#include "compact.h"

// ---- neighbours by digits -----------------------------------------------------------------------

// The place beside a cell, as tmap_compact_beside finds it. If `none` is 1, it is no cell. x, y: 0,
// 0 if the cell is in the same fractal; otherwise it is in the copy of the fractal that lies x to
// the right and y below, where a fractal of a higher level has that copy. index: the number of the
// cell in its copy.
typedef struct tmap_compact_place {
    tmap_u32 index;
    int x, y, none;
} tmap_compact_place;

// n / k for any n and k >= 1, without a division.
TMAP_FN tmap_u32 tmapi_compact_inverse(tmap_u32 k) { return k > 1 ? 0xffffffffu / k : 0xffffffffu; }
TMAP_FN tmap_u32 tmapi_compact_divide(tmap_u32 n, tmap_u32 k, tmap_u32 inverse) {
    const tmap_u32 low = (tmap_u32)((tmap_u64)n * inverse >> 32); // the quotient or 1 less
    return low + (n - low * k >= k);
}

// The place (dx, dy) beside cell `index` of the fractal of level r. dx, dy: -1, 0 or 1.
// index < k^r < 2^32; digits of a larger index above level r are ignored. The function changes
// digits from the lowest on, up to the first level at which both cells are in one box. On average
// this takes k / (k - 1) levels or a few more; nu takes r. Cost: about 25 instructions per level.
// Examples: gasket, r = 2: cell 3, which is (0,2): (0,-1) -> 1; (-1,0) -> in the copy to the left,
// where (3,2) would be: none. Cell 8, (3,3): (1,0) -> in the copy to the right, 4, which is (0,3).
TMAP_FN tmap_compact_place tmap_compact_beside(tmap_nbb f, tmap_u32 index, tmap_u32 r, int dx,
                                               int dy) {
    tmap_compact_place p;
    tmap_u32 inverse, rest = index, power = 1;
    f = tmapi_nbb_total(f);
    inverse = tmapi_compact_inverse(f.k);
    p.index = index, p.x = dx, p.y = dy, p.none = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < r && (p.x || p.y); ++level, power *= f.k) {
        const tmap_u32 quotient = tmapi_compact_divide(rest, f.k, inverse);
        const tmap_u32 beta = rest - quotient * f.k;
        const tmap_xy tau = tmap_nbb_tau(f, beta);
        int x = (int)tau.x + p.x, y = (int)tau.y + p.y;
        tmap_u64 match;
        p.x = x < 0 ? -1 : x >= (int)f.sx, p.y = y < 0 ? -1 : y >= (int)f.sy;
        x -= p.x * (int)f.sx, y -= p.y * (int)f.sy;
        match = tmapi_nbb_match(f, (tmap_u32)x, (tmap_u32)y);
        if (!match) {
            p.none = 1;
            return p;
        }
        p.index += (tmapi_nbb_match_beta(f.k, match) - beta) * power;
        rest = quotient;
    }
    p.none = (p.x && f.sx == 1) || (p.y && f.sy == 1); // no level has a copy there
    return p;
}

// In place of a direction 0..7: the neighbour is in the same fractal; there is no cell.
#define TMAPI_COMPACT_WITHIN 8u
#define TMAPI_COMPACT_NONE   9u

// The neighbour of a cell in one of eight directions, the places around a cell in reading order.
// to: the direction of the copy of the fractal that holds it, or what replaces one. index: its
// number there.
typedef struct tmapi_compact_neighbour {
    tmap_u32 index, to;
} tmapi_compact_neighbour;

TMAP_FN tmapi_compact_neighbour tmapi_compact_toward(tmap_nbb f, tmap_u32 index, tmap_u32 r,
                                                     tmap_u32 direction) {
    const int at = (int)(direction + (direction >= 4));
    const tmap_compact_place p = tmap_compact_beside(f, index, r, at % 3 - 1, at / 3 - 1);
    const tmap_u32 to = (tmap_u32)(3 * p.y + p.x + 4);
    tmapi_compact_neighbour n;
    n.index = p.index;
    n.to = p.none ? TMAPI_COMPACT_NONE : to == 4 ? TMAPI_COMPACT_WITHIN : to - (to > 4);
    return n;
}

// ---- tables of neighbours -----------------------------------------------------------------------
//
// A table gives for a few levels at once what tmap_compact_beside finds digit by digit.

// A cell of a table. beside: for each direction the number of the neighbour, and in bits 6 to 9 the
// direction of the copy of the fractal that holds it, or what replaces one. corner: its place.
typedef struct tmapi_compact_entry {
    unsigned short beside[8];
    tmap_xy corner;
} tmapi_compact_entry;

// Tables for 1, 2, ... `levels` levels. Their entries lie behind this struct in shared memory.
typedef struct tmapi_compact_lookup {
    tmap_u64 first;                  // byte l: the entry at which the table of l levels begins
    tmap_u32 levels, cells, inverse; // cells: k^levels; inverse: for divisions by it
    tmap_u32 entries;                // of all tables: at most 126
    tmap_u32 sx, sy;                 // sides of a fractal of `levels` levels
    tmap_u32 nowhere;                // bit d: a fractal never has a copy in direction d
} tmapi_compact_lookup;

// The tables of a fractal: the most levels that have at most 64 cells, 1 to 6.
// Example: gasket 3, carpet 2, Candy 1.
TMAP_FN tmapi_compact_lookup tmapi_compact_lookup_make(tmap_nbb f) {
    tmapi_compact_lookup t;
    t.first = 0, t.levels = 1, t.cells = t.entries = f.k, t.sx = f.sx, t.sy = f.sy;
    TMAPI_NO_UNROLL
    while (t.levels < 6 && t.cells * f.k <= 64) {
        ++t.levels, t.first |= (tmap_u64)t.entries << 8 * t.levels;
        t.cells *= f.k, t.entries += t.cells, t.sx *= f.sx, t.sy *= f.sy;
    }
    t.inverse = tmapi_compact_inverse(t.cells);
    t.nowhere = (f.sx == 1 ? 0xbd : 0) | (f.sy == 1 ? 0xe7 : 0);
    return t;
}

#if TMAP_CUDA

// The entry of a cell in the table of `levels` levels, 1 to t->levels.
TMAP_DEVICE tmapi_compact_entry *tmapi_compact_lookup_at(const tmapi_compact_lookup *t,
                                                         tmap_u32 levels, tmap_u32 cell) {
    return (tmapi_compact_entry *)(t + 1) + ((tmap_u32)(t->first >> 8 * levels) & 0xff) + cell;
}

// Fills the tables with all threads of a block; they can be read after a __syncthreads().
TMAPI_DEVICE_CALL void tmapi_compact_lookup_fill(tmap_nbb f, tmapi_compact_lookup *shared,
                                                 tmap_u32 rank, tmap_u32 threads) {
    const tmapi_compact_lookup t = tmapi_compact_lookup_make(f);
    tmapi_compact_entry *entry = (tmapi_compact_entry *)(shared + 1);
    if (rank == 0) *shared = t;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < 8 * t.entries; i += threads) {
        tmap_u32 index = i / 8, levels = 1, cells = f.k;
        tmapi_compact_neighbour n;
        TMAPI_NO_UNROLL
        for (; index >= cells; ++levels) index -= cells, cells *= f.k;
        n = tmapi_compact_toward(f, index, levels, i % 8);
        entry[i / 8].beside[i % 8] = (unsigned short)(n.index | n.to << 6);
        if (i % 8 == 0) entry[i / 8].corner = tmap_nbb_lambda_linear(f, index, levels);
    }
}

// As tmapi_compact_toward, for index < k^levels < 2^32 and direction 0..7.
// Cost: about 16 instructions per table look-up of a few levels, up to those at which both cells
// are in one box.
TMAPI_DEVICE_CALL tmapi_compact_neighbour tmapi_compact_lookup_beside(const tmapi_compact_lookup *t,
                                                                      tmap_u32 index,
                                                                      tmap_u32 levels,
                                                                      tmap_u32 direction) {
    const tmap_u32 cells = t->cells, inverse = t->inverse;
    tmap_u32 rest = index, power = 1;
    tmapi_compact_neighbour n;
    n.index = index, n.to = direction;
    TMAPI_NO_UNROLL
    while (n.to < TMAPI_COMPACT_WITHIN && levels) {
        const tmap_u32 some = levels < t->levels ? levels : t->levels;
        const tmap_u32 quotient = tmapi_compact_divide(rest, cells, inverse);
        const tmap_u32 low = rest - quotient * cells;
        const tmap_u32 entry = tmapi_compact_lookup_at(t, some, low)->beside[n.to];
        n.index += ((entry & 63) - low) * power, n.to = entry >> 6;
        rest = quotient, power *= cells, levels -= some;
    }
    if (t->nowhere >> n.to & 1) n.to = TMAPI_COMPACT_NONE; // no level has a cell there
    return n;
}

// The first place of tile `tile` < k^levels, for tiles of sides x and y.
TMAPI_DEVICE_CALL tmap_xy tmapi_compact_lookup_corner(const tmapi_compact_lookup *t, tmap_u32 tile,
                                                      tmap_u32 levels, tmap_u32 x, tmap_u32 y) {
    tmap_xy corner = {0, 0};
    TMAPI_NO_UNROLL
    while (levels) {
        const tmap_u32 some = levels < t->levels ? levels : t->levels;
        const tmap_u32 quotient = tmapi_compact_divide(tile, t->cells, t->inverse);
        const tmap_xy low = tmapi_compact_lookup_at(t, some, tile - quotient * t->cells)->corner;
        corner.x += low.x * x, corner.y += low.y * y;
        tile = quotient, x *= t->sx, y *= t->sy, levels -= some;
    }
    return corner;
}

// Reorders the bits of a word of a tile in another sheet: bit i becomes that of the sheet in the
// direction beside sheet i, 0 where there is none. table: for the word's levels.
TMAPI_DEVICE_CALL tmap_u64 tmapi_compact_turn(const tmapi_compact_entry *table, tmap_u32 direction,
                                              tmap_u64 word, tmap_u32 sheets) {
    tmap_u64 turned = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < sheets; ++i) {
        const tmap_u32 entry = table[i].beside[direction];
        if (entry >> 6 == TMAPI_COMPACT_WITHIN) turned |= (word >> (entry & 63) & 1) << i;
    }
    return turned;
}

#endif // TMAP_CUDA

// ---- tiles and their shared memory --------------------------------------------------------------

// The most cells in a tile: each thread of a stencil's block has one of them.
#define TMAPI_COMPACT_CELLS 512u
// The most tiles side by side in a stencil's block, with one thread for each cell.
#define TMAPI_COMPACT_SIDE_BY_SIDE 16u
// The tiles that a thread takes in a step, for elements of `size` bytes: 32 bytes of values, or 16.
// They share the fixed work of the step.
TMAP_FN tmap_u32 tmapi_compact_deep(tmap_u32 size) { return size == 1 ? 16 : 32 / size; }

// The level of the tiles: the highest for which a block has enough threads and coordinates in a
// tile fit 16 bits.
// Example: gasket 5 (243 cells), carpet 3 (512), Vicsek 3 (125), H 3 (343), Candy 2 (144).
TMAP_FN tmap_u32 tmapi_compact_tile_level(tmap_nbb f, tmap_u32 r) {
    tmap_u32 m = 0;
    while (m < r && tmap_nbb_cells(f, m + 1) <= TMAPI_COMPACT_CELLS &&
           tmap_nbb_side_x(f, m + 1) <= 0x8000 && tmap_nbb_side_y(f, m + 1) <= 0x8000)
        ++m;
    return m;
}

// Number of halo loads of a tile of level m: (cell, direction) pairs whose neighbour is a cell of
// another tile.
TMAP_FN tmap_u32 tmapi_compact_halo(tmap_nbb f, tmap_u32 m) {
    const tmap_u32 cells = (tmap_u32)tmap_nbb_cells(f, m);
    tmap_u32 count = 0;
    for (tmap_u32 i = 0; i < cells; ++i)
        for (tmap_u32 n = 0; n < 8; ++n)
            count += tmapi_compact_toward(f, i, m, n).to < TMAPI_COMPACT_WITHIN;
    return count;
}

// What a block knows of a tile of a step. beside: the numbers of its eight neighbours. there: byte
// d is 0 if there is no tile in direction d, 0xff if there is one, and for words 1 + the direction
// of its sheet where that is another one. corner: its first place.
typedef struct tmapi_compact_tile {
    tmap_u64 there;
    tmap_xy corner;
    tmap_u32 beside[8];
} tmapi_compact_tile;

// How the halo of a step is copied. count: values so far. inverse: for divisions by the number of
// all values. rows: the rows in which a thread copies a value; the next thread with that value
// continues. threads: those with a value. from: where each value is: tile << 20 | direction << 16 |
// cell.
typedef struct tmapi_compact_list {
    tmap_u32 count, inverse, rows, threads, from[1];
} tmapi_compact_list;

// Byte offsets in a block's shared memory. Two buffers hold one step each. First the values, tile
// after tile as in memory and at the same offset modulo 16, so that 16 bytes are copied at once.
// From `halo_values` on, for each row of tiles side by side, the halo and one value of zeros, in
// planes as large as the values of a row: every value is `row` bytes from the same value of the
// next row. Behind the buffers are three tables of a step's tiles.
typedef struct tmapi_compact_shared {
    tmap_u32 row, halo_values, buffer; // from one to the next
    tmap_u32 tables, list, lookup;     // of tmapi_compact_tile, tmapi_compact_list, _lookup
    tmap_u32 bytes;
} tmapi_compact_shared;

// cells: of a tile. tiles: side by side. halo: halo values of a tile.
TMAP_FN tmapi_compact_shared tmapi_compact_shared_at(tmap_nbb f, tmap_u32 cells, tmap_u32 tiles,
                                                     tmap_u32 halo, tmap_u32 size) {
    const tmap_u32 deep = tmapi_compact_deep(size), values = tiles * cells;
    const tmap_u32 planes = values ? (tiles * halo + values) / values : 0;
    tmapi_compact_shared s;
    s.row = values * size;
    s.halo_values = (deep * s.row + 32 + 15) / 16 * 16;
    s.buffer = s.halo_values + (planes * deep * s.row + 15) / 16 * 16;
    s.tables = 2 * s.buffer;
    s.list = s.tables + 3 * tiles * deep * (tmap_u32)sizeof(tmapi_compact_tile);
    s.lookup = s.list + (4 + tiles * halo + 1) / 2 * 8;
    s.bytes = s.lookup + (tmap_u32)sizeof(tmapi_compact_lookup) +
              tmapi_compact_lookup_make(f).entries * (tmap_u32)sizeof(tmapi_compact_entry);
    return s;
}

// Bytes that suffice for elements of any size; 2^31 - 1 where a buffer has more elements than 16
// bits can number.
TMAP_FN tmap_u32 tmapi_compact_shared_bytes(tmap_nbb f, tmap_u32 cells, tmap_u32 tiles,
                                            tmap_u32 halo) {
    tmap_u32 most = 0;
    for (tmap_u32 size = 1; size <= 16; size *= 2) {
        const tmapi_compact_shared s = tmapi_compact_shared_at(f, cells, tiles, halo, size);
        if (s.buffer / size > 0xffff) return 0x7fffffff;
        if (s.bytes > most) most = s.bytes;
    }
    return most;
}

#if TMAP_CUDA

// ---- the block ----------------------------------------------------------------------------------

// The rule of a stencil: computes the next value of a cell. around: bit i is 1 if place i is a cell
// of the fractal; bit TMAP_HERE always is. nine: the values of the nine places, of your type, in
// reading order; every byte is 0 where there is no cell. next: where the rule puts the cell's new
// value, of the same type.
typedef void (*tmap_each_rule)(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                               void *next);

// The arguments of tmap_each_stencil or tmap_each_stencil_words.
typedef struct tmapi_stencil {
    const unsigned char *in;
    unsigned char *out;
    tmap_u32 size;
    tmap_each_rule rule;
    void *job;
    int words; // 1: elements are words with one bit per sheet
} tmapi_stencil;

typedef struct tmapi_stencil_nine {
    alignas(16) unsigned char bytes[9 * 16];
} tmapi_stencil_nine;

// A block's constants. Up to `shared` they come from its plan: offset: the first element; items:
// tiles of the fractal; first, count: tiles of all blocks, then the block's share; tiles: side by
// side, as many as the block has threads for; halo: values of a tile, then of all those.
// tmapi_compact_begin finds the others. deep: rows of tiles in a step; entry u * tiles + v of a
// table is tile v of row u. row: cells in a row. element: the first of the share. values: the bytes
// before the first value of a buffer.
typedef struct tmapi_compact_block {
    const tmapi_stencil *s;
    tmap_nbb f;
    tmap_u32 r, tile_level;
    tmap_compact_word word;
    tmap_u64 offset, items;
    tmap_u32 first, count, tiles, halo;
    unsigned char *shared;
    tmap_u32 threads, rank, cells, deep, step, row, row_inverse; // inverse: for divisions by it
    tmap_u64 element;
    tmap_u32 values;
    tmapi_compact_shared at;
    tmapi_compact_tile *tables;
    tmapi_compact_list *list;
    tmapi_compact_lookup *lookup;
} tmapi_compact_block;

// The bytes from halo_values to value i of the halo, in row 0.
TMAP_DEVICE tmap_u32 tmapi_compact_halo_at(const tmapi_compact_block *b, tmap_u32 i) {
    const tmap_u32 plane = tmapi_compact_divide(i, b->row, b->row_inverse);
    return plane * b->deep * b->at.row + (i - plane * b->row) * b->s->size;
}

// Finds the block's constants, among them an equal share of the tiles. Writes the zeros behind the
// halo of every row, decides how the halo is copied, and fills the tables of neighbours. Returns 0
// if the block has too few threads for one tile, or if the plan is not for a stencil and has no
// shared memory for it.
TMAP_DEVICE int tmapi_compact_begin(tmapi_compact_block *b) {
    const tmap_u32 share = b->count / gridDim.x, more = b->count - share * gridDim.x;
    unsigned char *zeros;
    b->threads = blockDim.x * blockDim.y * blockDim.z, b->rank = tmap_thread_rank();
    b->cells = tmapi_pow32(b->f.k, b->tile_level), b->deep = tmapi_compact_deep(b->s->size);
    if (b->tiles > b->threads / b->cells) b->tiles = b->threads / b->cells;
    if (!b->tiles) return 0;
    b->at = tmapi_compact_shared_at(b->f, b->cells, b->tiles, b->halo, b->s->size);
    b->tables = (tmapi_compact_tile *)(b->shared + b->at.tables);
    b->list = (tmapi_compact_list *)(b->shared + b->at.list);
    b->lookup = (tmapi_compact_lookup *)(b->shared + b->at.lookup);
    b->halo *= b->tiles, b->step = b->tiles * b->deep, b->row = b->tiles * b->cells;
    b->row_inverse = tmapi_compact_inverse(b->row);
    b->first += blockIdx.x * share + (blockIdx.x < more ? blockIdx.x : more);
    b->count = share + (blockIdx.x < more);
    b->element = b->offset + (tmap_u64)b->first * b->cells;
    b->values = 16 + ((tmap_u32)(tmap_u64)(b->s->in + b->element * b->s->size) & 15);
    zeros = b->shared + b->at.halo_values + tmapi_compact_halo_at(b, b->halo);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 2 * b->deep; i += b->threads)
        tmapi_value_zero(zeros + (i & 1) * b->at.buffer + i / 2 * b->at.row, b->s->size);
    if (b->rank == 0) {
        tmap_u32 rows = 1;
        while (rows < b->deep && b->halo * b->deep > b->threads * rows) rows *= 2;
        b->list->count = 0, b->list->inverse = tmapi_compact_inverse(b->halo);
        b->list->rows = rows, b->list->threads = b->halo * (b->deep / rows);
    }
    tmapi_compact_lookup_fill(b->f, b->lookup, b->rank, b->threads);
    return 1;
}

// A thread's cell. near: for each of its eight neighbours, the elements between it and the first
// value of a buffer, in row 0, 16 bits each. beside: byte d has the bits of the neighbours in the
// tile in direction d. own: the bits of the neighbours in its own tile, and its own bit. tile: its
// tile among those side by side. place: in the tile, x | y << 16.
typedef struct tmapi_compact_lane {
    tmap_u64 near[2], beside;
    tmap_u32 own, tile, place;
} tmapi_compact_lane;

// Finds a thread's neighbours, and gives those in other tiles a place in the halo.
TMAP_DEVICE tmapi_compact_lane tmapi_compact_lane_make(const tmapi_compact_block *b) {
    const tmap_u32 halo_first = (b->at.halo_values - b->values) / b->s->size;
    const tmap_u32 zeros = halo_first + tmapi_compact_halo_at(b, b->halo) / b->s->size;
    const tmap_u32 tile = b->rank / b->cells, index = b->rank - tile * b->cells;
    const tmap_xy place = tmapi_compact_lookup_corner(b->lookup, index, b->tile_level, 1, 1);
    tmapi_compact_lane l = {{0, 0}, 0, 1u << 4, tile, place.x | place.y << 16};
    TMAPI_NO_UNROLL
    for (tmap_u32 n = 0; n < 8; ++n) {
        const tmapi_compact_neighbour q =
            tmapi_compact_lookup_beside(b->lookup, index, b->tile_level, n);
        tmap_u32 at = zeros;
        if (q.to == TMAPI_COMPACT_WITHIN) {
            at = tile * b->cells + q.index;
            l.own |= 1u << (n + (n >= 4));
        } else if (q.to < TMAPI_COMPACT_WITHIN) {
            const tmap_u32 i = atomicAdd(&b->list->count, 1u);
            if (i < b->halo) {
                b->list->from[i] = tile << 20 | q.to << 16 | q.index;
                at = halo_first + tmapi_compact_halo_at(b, i) / b->s->size;
                l.beside |= 1ull << (8 * q.to + n);
            }
        }
        // Shifted in at the top: after eight shifts the first one is the lowest.
        l.near[0] = l.near[0] >> 16 | l.near[1] << 48;
        l.near[1] = l.near[1] >> 16 | (tmap_u64)at << 48;
    }
    return l;
}

// ---- a step of the block ------------------------------------------------------------------------

// Makes the table of the `left` tiles from `first` on.
TMAP_DEVICE void tmapi_compact_table(const tmapi_compact_block *b, tmap_u32 first, tmap_u32 left,
                                     tmapi_compact_tile *table) {
    const tmap_u32 levels = b->r - b->tile_level;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 9 * b->step; i += b->threads) {
        const tmap_u32 corner = i - 8 * b->step; // from 0 on: corners of tiles
        if (i < 8 * b->step) {
            tmapi_compact_neighbour n = {0, TMAPI_COMPACT_NONE};
            tmap_u32 there = 0;
            if (i / 8 < left)
                n = tmapi_compact_lookup_beside(b->lookup, first + i / 8, levels, i % 8);
            if (n.to == TMAPI_COMPACT_WITHIN) there = 0xff;
            if (n.to < TMAPI_COMPACT_WITHIN && b->s->words) there = 1 + n.to;
            ((unsigned char *)&table[i / 8].there)[i % 8] = (unsigned char)there;
            table[i / 8].beside[i % 8] = n.index;
        } else if (corner < left) {
            const tmap_u32 x = tmapi_pow32(b->f.sx, b->tile_level);
            const tmap_u32 y = tmapi_pow32(b->f.sy, b->tile_level);
            table[corner].corner =
                tmapi_compact_lookup_corner(b->lookup, first + corner, levels, x, y);
        }
    }
}

// Copies the values of the `left` tiles of a step, from `from` on, 16 bytes at a time; element by
// element where that would leave the fractal's memory.
TMAP_DEVICE void tmapi_compact_fetch(const tmapi_compact_block *b, tmap_u32 left,
                                     const unsigned char *from, unsigned char *to) {
    const tmap_u32 size = b->s->size;
    const unsigned char *begin = b->s->in + b->offset * size;
    const unsigned char *end = begin + b->items * b->cells * size;
    const tmap_u32 skew = (tmap_u32)(tmap_u64)from & 15, own = left * b->cells * size;
    const tmap_u32 bytes = (skew + own + 15) / 16 * 16;
    if (from - skew >= begin && from - skew + bytes <= end) {
        from -= skew, to -= skew;
        TMAPI_NO_UNROLL
        for (tmap_u32 i = 16 * b->rank; i < bytes; i += 16 * b->threads)
            tmapi_async_send(to + i, from + i, 16);
    } else {
        TMAPI_NO_UNROLL
        for (tmap_u32 i = size * b->rank; i < own; i += size * b->threads)
            tmapi_value_copy(to + i, from + i, size);
    }
}

// Copies the halo of a step: a thread copies one value in some rows. The block's last threads
// take the first values, because its first threads make the table.
TMAP_DEVICE void tmapi_compact_halo_fetch(const tmapi_compact_block *b,
                                          const tmapi_compact_tile *table, unsigned char *to) {
    const tmap_u32 size = b->s->size;
    const unsigned char *begin = b->s->in + b->offset * size;
    const tmap_u32 rows = b->list->rows, threads = b->list->threads, inverse = b->list->inverse;
    const tmapi_compact_entry *sheets = tmapi_compact_lookup_at(b->lookup, b->word.level, 0);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->threads - 1 - b->rank; i < threads; i += b->threads) {
        const tmap_u32 part = tmapi_compact_divide(i, b->halo, inverse);
        const tmap_u32 in_halo = i - part * b->halo, entry = b->list->from[in_halo];
        const tmap_u32 first = part * rows, direction = entry >> 16 & 7;
        const tmapi_compact_tile *tile = table + first * b->tiles + (entry >> 20);
        unsigned char *at = to + first * b->at.row + tmapi_compact_halo_at(b, in_halo);
#pragma unroll 4
        for (tmap_u32 u = 0; u < rows; ++u, at += b->at.row, tile += b->tiles) {
            const tmap_u64 element =
                (tmap_u64)tile->beside[direction] * b->cells + (entry & 0xffff);
            const tmap_u32 there = ((const unsigned char *)&tile->there)[direction];
            const unsigned char *from = begin + element * size;
            if (!there) {
                tmapi_value_zero(at, size);
            } else if (b->s->words && there != 0xff) {
                tmap_u64 held = 0;
                tmapi_value_copy(&held, from, size);
                held =
                    tmapi_compact_turn(sheets, there - 1, held, b->word.level ? b->word.cells : 0);
                tmapi_value_copy(at, &held, size);
            } else if (size >= 4) {
                tmapi_async_send(at, from, size);
            } else {
                tmapi_value_copy(at, from, size);
            }
        }
    }
}

// Where a thread is in a step. near_to: its value and those around it. to: where its next value
// goes. at: its element. tile: its tile.
typedef struct tmapi_compact_cursor {
    const unsigned char *near_to[9];
    unsigned char *to;
    tmap_u64 at;
    const tmapi_compact_tile *tile;
} tmapi_compact_cursor;

// Applies the rule to a thread's cell, and moves the cursor to the same cell of the next row.
TMAP_DEVICE void tmapi_compact_visit(const tmapi_compact_block *b, const tmapi_compact_lane *lane,
                                     tmapi_compact_cursor *c) {
    const tmap_u32 size = b->s->size;
    tmap_u32 around = lane->own;
    tmapi_stencil_nine nine;
    tmapi_value next;
    tmap_cell cell;
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) {
        tmapi_value_copy(nine.bytes + i * size, c->near_to[i], size);
        c->near_to[i] += b->at.row;
    }
    if (lane->beside) { // no place is in two directions, so the bytes can be added
        const tmap_u64 is = lane->beside & c->tile->there;
        const tmap_u32 bits = ((tmap_u32)is | (tmap_u32)(is >> 32)) * 0x01010101u >> 24;
        around |= (bits & 0x0f) | (bits & 0xf0) << 1;
    }
    cell.x = c->tile->corner.x + (lane->place & 0xffff);
    cell.y = c->tile->corner.y + (lane->place >> 16);
    cell.at = c->at;
    b->s->rule(b->s->job, cell, around, &nine, &next);
    tmapi_value_copy(c->to, &next, size);
    c->at += b->row, c->to += b->row * size, c->tile += b->tiles;
}

// Applies the rule to a thread's cell in all rows of a step of `left` tiles, four rows at a time.
// at: its element in row 0. values: those of the tiles.
TMAP_DEVICE void tmapi_compact_apply(const tmapi_compact_block *b, const tmapi_compact_lane *lane,
                                     tmap_u32 left, tmap_u64 at, const unsigned char *values,
                                     const tmapi_compact_tile *table) {
    tmapi_compact_cursor c;
    c.at = at, c.to = b->s->out + at * b->s->size, c.tile = table + lane->tile;
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) {
        const tmap_u32 n = i - (i > 4);
        const tmap_u32 near = (tmap_u32)(lane->near[n / 4] >> 16 * (n % 4)) & 0xffff;
        c.near_to[i] = values + (i == 4 ? b->rank : near) * b->s->size;
    }
    if (left == b->step) {
        TMAPI_NO_UNROLL
        for (tmap_u32 u = 0; u < b->deep; u += 4) {
#pragma unroll
            for (tmap_u32 i = 0; i < 4; ++i)
                if (i < b->deep) tmapi_compact_visit(b, lane, &c);
        }
    } else {
        TMAPI_NO_UNROLL
        while (c.tile < table + left) tmapi_compact_visit(b, lane, &c);
    }
}

// ---- the loop over steps ------------------------------------------------------------------------

// Applies the rule to all cells of the block's share. Collective for the block. Returns 0, with
// nothing done, where tmapi_compact_begin does.
TMAP_DEVICE int tmapi_compact_run(tmapi_compact_block *b) {
    // Three steps are in progress, of `left`, `next` and `then` tiles: the rule is applied to the
    // first, with table t0; the values of the next are copied, from `from` on, with table t1; and
    // table t2 is made for the third, from tile `tile` on.
    tmap_u32 left = 0, next = 0, then, rest, tile, buffer = 0, t0 = 0, t1, t2;
    tmapi_compact_lane lane;
    const unsigned char *from;
    tmap_u64 at;
    if (!tmapi_compact_begin(b)) return 0;
    __syncthreads();
    if (b->rank < b->row) lane = tmapi_compact_lane_make(b);
    t1 = b->step, t2 = 2 * b->step, tile = b->first;
    at = b->element + b->rank, from = b->s->in + b->element * b->s->size;
    then = b->count < b->step ? b->count : b->step, rest = b->count - then;
    while (left | next | then) {
        const tmap_u32 t = t0;
        tmapi_async_wait_all();
        __syncthreads();
        if (next) {
            unsigned char *to = b->shared + (buffer ^ 1) * b->at.buffer;
            tmapi_compact_fetch(b, next, from, to + b->values);
            tmapi_compact_halo_fetch(b, b->tables + t1, to + b->at.halo_values);
            from += b->step * b->cells * b->s->size; // a multiple of 16
        }
        if (then) tmapi_compact_table(b, tile, then, b->tables + t2);
        if (left) {
            if (b->rank < b->row)
                tmapi_compact_apply(b, &lane, left, at,
                                    b->shared + buffer * b->at.buffer + b->values, b->tables + t0);
            at += b->step * b->cells;
        }
        t0 = t1, t1 = t2, t2 = t;
        left = next, next = then, tile += b->step, buffer ^= 1;
        then = rest < b->step ? rest : b->step, rest -= then;
    }
    return 1;
}

#endif // TMAP_CUDA
#endif
