// SPDX-License-Identifier: MIT
// compact_stencil.h: neighbours in compact storage: of one cell by its digits, of many with tables
// of several levels; and the loop of tmap_each_stencil (stencil.h) for compact storage.
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
        // modulo 2^32, so that no side and no dx overflows
        const tmap_u32 x = tau.x + (tmap_u32)p.x, y = tau.y + (tmap_u32)p.y;
        tmap_u64 match;
        p.x = (int)x < 0 ? -1 : (int)x >= (int)f.sx, p.y = (int)y < 0 ? -1 : (int)y >= (int)f.sy;
        match = tmapi_nbb_match(f, x - (tmap_u32)p.x * f.sx, y - (tmap_u32)p.y * f.sy);
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

// Directions 0..7: the places around a cell in reading order.
TMAP_FN int tmapi_compact_dx(tmap_u32 n) { return (int)((n + (n >= 4)) % 3) - 1; }
TMAP_FN int tmapi_compact_dy(tmap_u32 n) { return (int)((n + (n >= 4)) / 3) - 1; }
TMAP_FN tmap_u32 tmapi_compact_direction(int dx, int dy) {
    const tmap_u32 place = (tmap_u32)(3 * dy + dx + 4);
    return place - (place > 4);
}

// ---- tiles and their shared memory --------------------------------------------------------------

// The most cells in a tile: each thread of a stencil's block has one of them.
#define TMAPI_COMPACT_CELLS 512u
// The most tiles side by side in a stencil's block, with one thread for each cell.
#define TMAPI_COMPACT_SIDE_BY_SIDE 16u
// The tiles that a thread takes in a step, for elements of `size` bytes: 32 bytes of values, or 16.
// They share the fixed work of the step.
TMAP_FN tmap_u32 tmapi_compact_deep(tmap_u32 size) { return size == 1 ? 16 : 32 / size; }

// The levels of a table: the most that have at most 64 cells, 1 to 6. Example: gasket 3, carpet
// 2, Candy 1.
TMAP_FN tmap_u32 tmapi_compact_few(tmap_nbb f) {
    tmap_u32 levels = 1, cells = f.k * f.k;
    while (levels < 6 && cells <= 64) ++levels, cells *= f.k;
    return levels;
}

// Tables for 1, 2, ... `levels` levels lie one after another behind this struct in shared memory.
// beside: entry 8 * cell + direction has the number of the neighbour, and in bits 6 to 9 a
// direction or what replaces one. corner: the place of each cell.
typedef struct tmapi_compact_lookup {
    tmap_u64 first;                  // byte l: the cell at which the tables of l levels begin
    tmap_u32 levels, cells, inverse; // cells: k^levels; inverse: for divisions by it
    tmap_u32 sx, sy;                 // sides of a fractal of `levels` levels
    tmap_u32 nowhere;                // bit d: a fractal never has a copy in direction d
} tmapi_compact_lookup;

// The level of the tiles: the highest for which a block has enough threads, two tables have enough
// levels, and coordinates in a tile fit 16 bits.
// Example: gasket 5 (243 cells), carpet 3 (512), Vicsek 3 (125), H 3 (343), Candy 2 (144).
TMAP_FN tmap_u32 tmapi_compact_tile_level(tmap_nbb f, tmap_u32 r) {
    tmap_u32 m = 0;
    while (m < r && m < 2 * tmapi_compact_few(f) &&
           tmap_nbb_cells(f, m + 1) <= TMAPI_COMPACT_CELLS && tmap_nbb_side_x(f, m + 1) <= 0x8000 &&
           tmap_nbb_side_y(f, m + 1) <= 0x8000)
        ++m;
    return m;
}

// Number of halo loads of a tile of level m: (cell, direction) pairs whose neighbour is a cell of
// another tile.
TMAP_FN tmap_u32 tmapi_compact_halo(tmap_nbb f, tmap_u32 m) {
    const tmap_u32 cells = (tmap_u32)tmap_nbb_cells(f, m);
    tmap_u32 count = 0;
    for (tmap_u32 i = 0; i < cells; ++i)
        for (tmap_u32 n = 0; n < 8; ++n) {
            const tmap_compact_place p =
                tmap_compact_beside(f, i, m, tmapi_compact_dx(n), tmapi_compact_dy(n));
            count += !p.none && (p.x || p.y);
        }
    return count;
}

// The cells in the tables of 1, 2, ... tmapi_compact_few(f) levels together: at most 126.
TMAP_FN tmap_u32 tmapi_compact_few_cells(tmap_nbb f) {
    const tmap_u32 levels = tmapi_compact_few(f);
    tmap_u32 all = 0, cells = 1;
    for (tmap_u32 i = 0; i < levels; ++i) cells *= f.k, all += cells;
    return all;
}

// Byte offsets in a block's shared memory. Two buffers hold one step each. First the values, tile
// after tile as in memory and at the same offset modulo 16, so that 16 bytes are copied at once.
// From `halo_values` on, for each row of tiles side by side, the halo and one value of zeros, in
// planes as large as the values of a row: every value is `row` bytes from the same value of the
// next row. Three tables hold for each tile of a step the numbers of its eight neighbours, 4 bytes
// each; from `there` on 8 bytes that say which of these exist; from `sheet` on 8 bytes that say
// which are in other sheets; and from `corner` on its first cell.
typedef struct tmapi_compact_shared {
    tmap_u32 row, halo_values, buffer;                 // from one to the next
    tmap_u32 table, there, sheet, corner, table_bytes; // the first table; in a table
    tmap_u32 lookup;                                   // a tmapi_compact_lookup
    tmap_u32 counter;                                  // how the halo is copied, 16 bytes
    tmap_u32 halo;                                     // sources of its values, 4 bytes each
    tmap_u32 bytes;
} tmapi_compact_shared;

// cells: of a tile. tiles: side by side. halo: halo values of a tile.
TMAP_FN tmapi_compact_shared tmapi_compact_shared_at(tmap_nbb f, tmap_u32 cells, tmap_u32 tiles,
                                                     tmap_u32 halo, tmap_u32 size, int words) {
    const tmap_u32 deep = tmapi_compact_deep(size), step = tiles * deep;
    const tmap_u32 values = tiles * cells, planes = values ? (tiles * halo + values) / values : 0;
    tmapi_compact_shared s;
    s.row = values * size;
    s.halo_values = (deep * s.row + 32 + 15) / 16 * 16;
    s.buffer = s.halo_values + (planes * deep * s.row + 15) / 16 * 16;
    s.table = 2 * s.buffer;
    s.there = 32 * step, s.sheet = s.there + 8 * step;
    s.corner = s.sheet + (words ? 8 * step : 0), s.table_bytes = s.corner + 8 * step;
    s.lookup = s.table + 3 * s.table_bytes;
    s.counter = s.lookup + (tmap_u32)sizeof(tmapi_compact_lookup) + 24 * tmapi_compact_few_cells(f);
    s.halo = s.counter + 16;
    s.bytes = s.halo + 4 * tiles * halo;
    return s;
}

// Bytes that suffice for elements of any size; 2^31 - 1 where a buffer has more elements than 16
// bits can number.
TMAP_FN tmap_u32 tmapi_compact_shared_bytes(tmap_nbb f, tmap_u32 cells, tmap_u32 tiles,
                                            tmap_u32 halo, int words) {
    tmap_u32 most = 0;
    for (tmap_u32 size = 1; size <= 16; size *= 2) {
        const tmapi_compact_shared s = tmapi_compact_shared_at(f, cells, tiles, halo, size, words);
        if (s.buffer / size > 0xffff) return 0x7fffffff;
        if (s.bytes > most) most = s.bytes;
    }
    return most;
}

#if TMAP_CUDA

// ---- neighbours by tables -----------------------------------------------------------------------
//
// A table gives for a few levels at once what tmap_compact_beside finds digit by digit.

// In place of a direction 0..7: the neighbour is in the same fractal; there is no cell.
#define TMAPI_COMPACT_WITHIN 8u
#define TMAPI_COMPACT_NONE   9u

// The cell at which the tables of `levels` levels begin, 1 to t->levels.
TMAP_DEVICE tmap_u32 tmapi_compact_lookup_of(const tmapi_compact_lookup *t, tmap_u32 levels) {
    return (tmap_u32)(t->first >> 8 * levels) & 0xff;
}
TMAP_DEVICE unsigned short *tmapi_compact_lookup_table(const tmapi_compact_lookup *t) {
    return (unsigned short *)(t + 1);
}

// Fills the tables with all threads of a block; they can be read after a __syncthreads().
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

// The neighbour of a cell in a direction. to: TMAPI_COMPACT_WITHIN, TMAPI_COMPACT_NONE, or the
// direction of the copy of the fractal that holds it. index: its number there.
typedef struct tmapi_compact_neighbour {
    tmap_u32 index, to;
} tmapi_compact_neighbour;

// As tmap_compact_beside, for index < k^levels < 2^32 and direction 0..7.
// Cost: about 16 instructions per table look-up of a few levels, up to those at which both cells
// are in one box.
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
    if (t->nowhere >> n.to & 1) n.to = TMAPI_COMPACT_NONE; // no level has a cell there
    return n;
}

// A cell of a tile, or of another fractal that two tables cover. low: the cell's entries for the
// lowest levels. high: its entries for the levels above, null if there are none. above: the part of
// the cell's number that these levels add. cells: number of cells of the lowest levels.
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
    if (t->nowhere >> n.to & 1) n.to = TMAPI_COMPACT_NONE; // no level has a cell there
    return n;
}

// The first place of tile `tile` < k^levels, for tiles of sides x and y.
TMAPI_DEVICE_CALL tmap_xy tmapi_compact_lookup_corner(const tmapi_compact_lookup *t, tmap_u32 tile,
                                                      tmap_u32 levels, tmap_u32 x, tmap_u32 y) {
    const tmap_u32 all = tmapi_compact_lookup_of(t, t->levels) + t->cells;
    const tmap_xy *corners = (const tmap_xy *)(tmapi_compact_lookup_table(t) + 8 * all);
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

// Reorders the bits of a word of a tile in another sheet: bit i becomes that of the sheet in the
// direction beside sheet i, 0 where there is none. table: for the word's levels.
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
    int words;  // 1: elements are words with one bit per sheet
    int silent; // 1: what the rule puts into *next is not stored; a constant
} tmapi_stencil;

typedef struct tmapi_stencil_nine {
    alignas(16) unsigned char bytes[9 * 16];
} tmapi_stencil_nine;

// A block's constants. deep: rows of tiles in a step; entry u * tiles + v of a table is tile v of
// row u. row: cells in a row. tiles 0: the block has too few threads for one tile, or the plan is
// not for a stencil and has no shared memory for it.
typedef struct tmapi_compact_block {
    unsigned char *shared;
    tmapi_compact_shared at;
    tmapi_compact_lookup *lookup;
    tmap_u32 cells, tiles, deep, step, halo;
    tmap_u32 row, row_inverse; // inverse: for divisions by it
    tmap_u32 threads, rank;
} tmapi_compact_block;

// The bytes from halo_values to value i of the halo, in row 0.
TMAP_DEVICE tmap_u32 tmapi_compact_halo_at(const tmapi_compact_block *b, tmap_u32 i,
                                           tmap_u32 size) {
    const tmap_u32 plane = tmapi_compact_divide(i, b->row, b->row_inverse);
    return plane * b->deep * b->at.row + (i - plane * b->row) * size;
}

// How the halo is copied. count: entries of its list so far. inverse: for divisions by the number
// of all entries. rows: the rows that a thread copies of an entry; the next thread with that entry
// continues. threads: the number of threads with an entry.
typedef struct tmapi_compact_halo_way {
    tmap_u32 count, inverse, rows, threads;
} tmapi_compact_halo_way;

// Writes the zeros behind the halo of every row, decides how the halo is copied, and fills the
// tables of fractal f.
TMAP_DEVICE void tmapi_compact_block_begin(const tmapi_compact_block *b, const tmap_nbb *f,
                                           tmap_u32 size) {
    unsigned char *zeros = b->shared + b->at.halo_values + tmapi_compact_halo_at(b, b->halo, size);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 2 * b->deep; i += b->threads)
        tmapi_value_zero(zeros + (i & 1) * b->at.buffer + i / 2 * b->at.row, size);
    if (b->rank == 0) {
        tmapi_compact_halo_way *way = (tmapi_compact_halo_way *)(b->shared + b->at.counter);
        tmapi_compact_halo_way w;
        w.count = 0, w.inverse = tmapi_compact_inverse(b->halo), w.rows = 1;
        while (w.rows < b->deep && b->halo * b->deep > b->threads * w.rows) w.rows *= 2;
        w.threads = b->halo * (b->deep / w.rows);
        *way = w;
    }
    tmapi_compact_lookup_fill(*f, b->lookup, b->rank, b->threads);
}

// A thread's cell. near_low, near_high: for each of its eight neighbours, the elements between it
// and the first value of a buffer, in row 0, 16 bits each. beside: byte d has the bits of the
// neighbours in the tile in direction d. own: the bits of the neighbours in its own tile, and its
// own bit. tile: its tile among those side by side. place: in the tile, x | y << 16.
typedef struct tmapi_compact_lane {
    tmap_u64 near_low, near_high, beside;
    tmap_u32 own, tile, place;
} tmapi_compact_lane;

// Finds a thread's neighbours. Gives those in other tiles a position in the halo and an entry in
// its list: tile << 20 | direction << 16 | cell. m: the tiles' level. values: where the tiles'
// values begin in a buffer.
TMAP_DEVICE tmapi_compact_lane tmapi_compact_lane_make(const tmapi_compact_block *b, tmap_u32 m,
                                                       tmap_u32 size, tmap_u32 values) {
    tmap_u32 *count = &((tmapi_compact_halo_way *)(b->shared + b->at.counter))->count;
    tmap_u32 *halo = (tmap_u32 *)(b->shared + b->at.halo);
    const tmap_u32 halo_first = (b->at.halo_values - values) / size;
    const tmap_u32 zeros = halo_first + tmapi_compact_halo_at(b, b->halo, size) / size;
    tmapi_compact_pair pair;
    tmapi_compact_lane l;
    tmap_u32 index;
    tmap_xy p;
    l.tile = b->rank / b->cells, index = b->rank - l.tile * b->cells;
    p = tmapi_compact_lookup_corner(b->lookup, index, m, 1, 1);
    l.place = p.x | p.y << 16;
    l.near_low = l.near_high = l.beside = 0, l.own = 1u << 4;
    pair = tmapi_compact_pair_make(b->lookup, index, m);
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
        // Shifted in at the top: after eight shifts the first one is the lowest.
        l.near_low = l.near_low >> 16 | l.near_high << 48;
        l.near_high = l.near_high >> 16 | (tmap_u64)at << 48;
    }
    return l;
}

// ---- a step of the block ------------------------------------------------------------------------

// Makes the table of the `left` tiles from `first` on, of level m in a fractal of level r.
TMAP_DEVICE void tmapi_compact_table(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     tmap_nbb f, tmap_u32 r, tmap_u32 m, tmap_u32 first,
                                     tmap_u32 left, unsigned char *table) {
    const tmap_u32 levels = r - m;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 9 * b->step; i += b->threads) {
        const tmap_u32 corner = i - 8 * b->step; // from 0 on: corners of tiles
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

// Copies the values of the `left` tiles of a step, from `from` on, 16 bytes at a time; element by
// element where that would leave the fractal's memory.
TMAP_DEVICE void tmapi_compact_fetch(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     tmap_u64 offset, tmap_u64 items, tmap_u32 left,
                                     const unsigned char *from, unsigned char *to) {
    const unsigned char *begin = s->in + offset * s->size;
    const unsigned char *end = begin + items * b->cells * s->size;
    const tmap_u32 skew = (tmap_u32)(tmap_u64)from & 15, own = left * b->cells * s->size;
    const tmap_u32 bytes = (skew + own + 15) / 16 * 16;
    if (from - skew >= begin && from - skew + bytes <= end) {
        from -= skew, to -= skew;
        TMAPI_NO_UNROLL
        for (tmap_u32 i = 16 * b->rank; i < bytes; i += 16 * b->threads)
            tmapi_async_send(to + i, from + i, 16);
    } else {
        TMAPI_NO_UNROLL
        for (tmap_u32 i = s->size * b->rank; i < own; i += s->size * b->threads)
            tmapi_value_copy(to + i, from + i, s->size);
    }
}

// Copies the halo of a step: a thread copies one entry in way.rows rows. The block's last threads
// take the first entries, because its first threads make the table.
TMAP_DEVICE void tmapi_compact_halo_fetch(const tmapi_stencil *s, const tmapi_compact_block *b,
                                          const tmap_compact_word *word, tmap_u64 offset,
                                          const unsigned char *table, unsigned char *to) {
    const unsigned char *begin = s->in + offset * s->size;
    const tmap_u32 *halo = (const tmap_u32 *)(b->shared + b->at.halo);
    const tmapi_compact_halo_way way = *(const tmapi_compact_halo_way *)(b->shared + b->at.counter);
    const unsigned short *turns = tmapi_compact_lookup_table(b->lookup);
    if (s->words) turns += 8 * tmapi_compact_lookup_of(b->lookup, word->level);
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
                tmap_u64 held = 0;
                tmapi_value_copy(&held, from, s->size);
                held = tmapi_compact_turn(turns, table[b->at.sheet + beside], held,
                                          word->level ? word->cells : 0);
                tmapi_value_copy(at, &held, s->size);
            } else if (s->size >= 4) {
                tmapi_async_send(at, from, s->size);
            } else {
                tmapi_value_copy(at, from, s->size);
            }
        }
    }
}

// Where a thread is in a step. near_to: its value and those around it; at: its element; to: where
// its next value goes; tile: its entry of the table.
typedef struct tmapi_compact_cursor {
    const unsigned char *near_to[9];
    unsigned char *to;
    tmap_u64 at;
    tmap_u32 tile;
} tmapi_compact_cursor;

// Applies the rule to a thread's cell u rows further on.
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
    if (lane->beside) { // no place is in two directions, so the bytes can be added
        const tmap_u64 is = lane->beside & ((const tmap_u64 *)(table + b->at.there))[tile];
        const tmap_u32 bits = ((tmap_u32)is | (tmap_u32)(is >> 32)) * 0x01010101u >> 24;
        around |= (bits & 0x0f) | (bits & 0xf0) << 1;
    }
    cell.x = ((const tmap_xy *)(table + b->at.corner))[tile].x + (lane->place & 0xffff);
    cell.y = ((const tmap_xy *)(table + b->at.corner))[tile].y + (lane->place >> 16);
    cell.at = c->at + u * (b->tiles * b->cells);
    s->rule(s->job, cell, around, &nine, &next);
    if (!s->silent) tmapi_value_copy(c->to + u * (b->tiles * b->cells * size), &next, size);
}

// Moves a cursor some rows on.
TMAP_DEVICE void tmapi_compact_advance(const tmapi_compact_block *b, tmap_u32 size, tmap_u32 rows,
                                       tmapi_compact_cursor *c) {
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) c->near_to[i] += rows * b->at.row;
    c->at += rows * (b->tiles * b->cells), c->to += rows * (b->tiles * b->cells * size);
    c->tile += rows * b->tiles;
}

// Applies the rule to a thread's cell in all rows of a step of `left` tiles. at: its element in row
// 0. values: those of the tiles.
TMAP_DEVICE void tmapi_compact_apply(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     const tmapi_compact_lane *lane, tmap_u32 left, tmap_u64 at,
                                     const unsigned char *values, const unsigned char *table) {
    const tmap_u32 together = b->deep < 4 ? b->deep : 4;
    tmapi_compact_cursor c;
    c.at = at, c.to = s->out + at * s->size, c.tile = lane->tile;
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) {
        const tmap_u32 n = i - (i > 4);
        const tmap_u64 nearby = n < 4 ? lane->near_low : lane->near_high;
        c.near_to[i] =
            values + (i == 4 ? b->rank : (tmap_u32)(nearby >> 16 * (n & 3)) & 0xffff) * s->size;
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

#endif // TMAP_CUDA
#endif
