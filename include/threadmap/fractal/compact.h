// SPDX-License-Identifier: MIT
// compact.h: compact storage of a fractal: its k^r cells alone, side by side, where a matrix has
// sx^r * sy^r places.
//
// Element i is cell tmap_nbb_lambda_linear(i). Digit mu - 1 of i, base k, is the replica of level
// mu, so that every tile, of every level m at once, is a run of k^m elements, and tiles that share
// a box of the next level lie side by side: one order serves all tiles, whatever a loop takes, and
// a part of the fractal is a range of memory. Tiles stored as small matrices would need
// (sx sy / k)^m as much: of the gasket's 32 x 32 places 243 are cells.
//
// The engine's plans take TMAP_COMPACT in place of a pitch, and then a kernel that calls tmap_each,
// tmap_update, tmap_fold or tmap_stencil runs on compact storage: cell.at is the element, cell.x
// and cell.y what they are in a matrix.
//
//     tmap_stencil_plan_make(f, r, TMAP_COMPACT, (const void *)step_cells, &plan);
//
// Source: Navarro et al., FGCS 113 (2020), name compact storage as work to come (section 8); lambda
// and nu are theirs. The neighbour's element is found by its digits from the lowest one on, which
// ends at the first level at which both cells are in one box: after k / (k - 1) levels or a few
// more on the average, where nu takes r.
#ifndef TMAP_FRACTAL_COMPACT_H
#define TMAP_FRACTAL_COMPACT_H

#include "nbb.h"

// ---- compact ------------------------------------------------------------------------------------

// In place of a pitch: the plan is one of compact storage.
#define TMAP_COMPACT (~0ull)

// The element of cell (x, y), or 2^64 - 1 if that is no cell. Any x and y; r <=
// tmap_nbb_linear_level_max64(f).
// Law: tmap_compact_index(f, tmap_compact_cell(f, i, r), r) == i. Cost: that of contains and nu.
// Example: gasket, r = 2: (1,3) -> 5, (1,2) -> 2^64 - 1.
TMAP_FN tmap_u64 tmap_compact_index(tmap_nbb f, tmap_u64 x, tmap_u64 y, tmap_u32 r) {
    return tmap_nbb_contains64(f, x, y, r) ? tmap_nbb_nu_linear64(f, x, y, r) : ~0ull;
}

// The cell of element i < k^r. Example: gasket, r = 2: 5 -> (1,3).
TMAP_FN tmap_xy64 tmap_compact_cell(tmap_nbb f, tmap_u64 i, tmap_u32 r) {
    return tmap_nbb_lambda_linear64(f, i, r);
}

// Bytes of a state of `size` bytes a cell. Saturates. Example: gasket, r = 20, float: 13947137604.
TMAP_FN tmap_u64 tmap_compact_bytes(tmap_nbb f, tmap_u32 r, tmap_u32 size) {
    return tmap_mul_saturate(tmap_nbb_cells(f, r), size);
}

// The largest level whose elements have numbers of 64 bits and whose cells coordinates of 32: as
// far as plans of compact storage go. Example: gasket 32, carpet 20.
TMAP_FN tmap_u32 tmapi_compact_level_most(tmap_nbb f) {
    const tmap_u32 linear = tmap_nbb_linear_level_max64(f), plans = tmap_nbb_level_max32(f);
    return linear < plans ? linear : plans;
}

// The largest level of which `states` states of `size` bytes a cell fit `bytes` bytes, and which
// plans can be made of: what to ask before anything is allocated.
// Example: gasket, two states of floats in 141e9 bytes: 21.
TMAP_FN tmap_u32 tmap_compact_level_max(tmap_nbb f, tmap_u32 size, tmap_u32 states,
                                        tmap_u64 bytes) {
    tmap_u32 r = tmapi_compact_level_most(f);
    while (r && tmap_mul_saturate(tmap_compact_bytes(f, r, size), states) > bytes) --r;
    return r;
}

// ---- neighbours ---------------------------------------------------------------------------------

// The place beside a cell. none: 1 if no cell is there. x, y: 0, 0 if it is one of the same
// fractal; else it lies in the copy of it so many copies to the right and below, where a fractal of
// a higher level has one. index: of the cell, in its copy.
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

// The place (dx, dy) beside cell `index` of the fractal of level r; dx and dy are -1, 0 or 1.
// index < k^r < 2^32. Total: of an index past the range, its digits up to level r count.
// Cost: about 25 instructions for each level up to the first at which both are in one box.
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
    p.none = (p.x && f.sx == 1) || (p.y && f.sy == 1); // nothing lies beside, at any level
    return p;
}

// ---- compact plan -------------------------------------------------------------------------------
//
// What plans of compact storage are made of: the tiles, and the shared memory that
// a stencil on them takes. A part of each.h.

// What a word of one bit a cell holds: the levels at the top that are its bits, k^level cells, in
// so many bytes.
typedef struct tmap_compact_word {
    tmap_u32 level, cells, bytes;
} tmap_compact_word;

// The most cells of a tile: a thread of a stencil's block has one cell of it.
#define TMAPI_COMPACT_CELLS 512u
// The most tiles that a block of a stencil has side by side, a thread for each cell of each.
#define TMAPI_COMPACT_SIDE_BY_SIDE 16u
// The tiles that a thread takes in a step for elements of `size` bytes: 32 bytes of values, or 16.
// All that goes with a step is shared by them.
TMAP_FN tmap_u32 tmapi_compact_deep(tmap_u32 size) { return size == 1 ? 16 : 32 / size; }

// The levels that the tables of compact_stencil.h take at a time: as many as have at most 64 cells,
// and at most 6. Example: gasket 3, carpet 2, Candy 1.
TMAP_FN tmap_u32 tmapi_compact_few(tmap_nbb f) {
    tmap_u32 levels = 1, cells = f.k * f.k;
    while (levels < 6 && cells <= 64) ++levels, cells *= f.k;
    return levels;
}

// Tables for 1, 2, ... `levels` levels one after another lie behind this in shared memory: beside,
// entry 8 * cell + direction: the cell beside, and in bits 6 to 9 a direction or what
// compact_stencil.h has in place of one; and corner, where a cell is.
typedef struct tmapi_compact_lookup {
    tmap_u64 first;                  // byte l: the cell at which the tables of l levels begin
    tmap_u32 levels, cells, inverse; // cells: k^levels; inverse: for divisions by it
    tmap_u32 sx, sy;                 // sides of `levels` levels
    tmap_u32 nowhere;                // bit d: nothing lies in direction d of a whole fractal
} tmapi_compact_lookup;

// The level of the tiles: as large as a block's threads, two of those tables and 16 bits for a
// coordinate in it allow.
// Example: gasket 5 (243 cells), carpet 3 (512), Vicsek 3 (125), H 3 (343), Candy 2 (144).
TMAP_FN tmap_u32 tmapi_compact_tile_level(tmap_nbb f, tmap_u32 r) {
    tmap_u32 m = 0;
    while (m < r && m < 2 * tmapi_compact_few(f) &&
           tmap_nbb_cells(f, m + 1) <= TMAPI_COMPACT_CELLS && tmap_nbb_side_x(f, m + 1) <= 0x8000 &&
           tmap_nbb_side_y(f, m + 1) <= 0x8000)
        ++m;
    return m;
}

// The direction of number 0..7: the places around a cell in reading order.
TMAP_FN int tmapi_compact_dx(tmap_u32 n) { return (int)((n + (n >= 4)) % 3) - 1; }
TMAP_FN int tmapi_compact_dy(tmap_u32 n) { return (int)((n + (n >= 4)) / 3) - 1; }
TMAP_FN tmap_u32 tmapi_compact_direction(int dx, int dy) {
    const tmap_u32 place = (tmap_u32)(3 * dy + dx + 4);
    return place - (place > 4);
}

// How many pairs there are of a cell of a tile of level m and a place around it that is a cell of a
// tile beside it.
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

// The cells of one level, of two, and so on up to those, together: at most 126.
TMAP_FN tmap_u32 tmapi_compact_few_cells(tmap_nbb f) {
    const tmap_u32 levels = tmapi_compact_few(f);
    tmap_u32 all = 0, cells = 1;
    for (tmap_u32 i = 0; i < levels; ++i) cells *= f.k, all += cells;
    return all;
}

// What a stencil makes of its shared memory. Numbers are bytes. Two buffers hold a step each: the
// values, tile after tile as in memory, from where they have the same place of 16 bytes as there,
// so that whole 16 bytes are copied; and from `halo_values` on, for each row of tiles side by side,
// the values from tiles beside and one of zeros, for places that are no cells. These are in planes
// of as many as the tiles have values, so that all of a row is `row` bytes from the same of the
// next. Three tables tell of the tiles of a step: the numbers of the eight beside each, 4 bytes
// each; from `there` on 8 bytes that say which of these there are; from `sheet` on 8 that say which
// are of other sheets; and from `corner` on the first cell.
typedef struct tmapi_compact_shared {
    tmap_u32 row, halo_values, buffer;                 // from one to the next
    tmap_u32 table, there, sheet, corner, table_bytes; // the first table; in a table
    tmap_u32 lookup;                                   // compact_stencil.h
    tmap_u32 counter;                                  // how the halo is brought, 16 bytes
    tmap_u32 halo;                                     // where its values come from, 4 bytes each
    tmap_u32 bytes;
} tmapi_compact_shared;

// cells: of a tile. tiles: side by side. halo: values that a tile has from those beside it.
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

// Bytes for elements of any size; 2^31 - 1 where the elements of a buffer have no numbers of 16
// bits.
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

#endif
