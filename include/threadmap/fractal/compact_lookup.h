// SPDX-License-Identifier: MIT
// compact_lookup.h: the cell beside a cell of compact storage, and its coordinates, by tables in
// shared memory that take several levels at a time. A part of compact_stencil.h.
//
// A cell's number has a digit for each level. What tmap_compact_beside finds digit by digit, the
// table knows for all numbers of the lowest few levels: the number beside, and whether that lies in
// a copy beside and in which direction, with which the next few digits are asked.
#ifndef TMAP_FRACTAL_COMPACT_LOOKUP_H
#define TMAP_FRACTAL_COMPACT_LOOKUP_H

#include "compact_plan.h"

#if TMAP_CUDA

// In place of a direction 0..7: the number is one of the same fractal; no cell is there.
#define TMAPI_COMPACT_WITHIN 8u
#define TMAPI_COMPACT_NONE   9u

// For 1, 2, ... `levels` levels one after another: corner, where cell `index` is; and beside, entry
// 8 * index + direction: the index beside, and in bits 6 to 9 a direction or one of the two above.
typedef struct tmapi_compact_lookup {
    unsigned short *beside;
    tmap_xy *corner;
    tmap_u32 levels, cells; // cells: k^levels
} tmapi_compact_lookup;

TMAP_DEVICE tmapi_compact_lookup tmapi_compact_lookup_at(tmap_nbb f, unsigned char *shared) {
    tmapi_compact_lookup t;
    t.levels = tmapi_compact_few(f), t.cells = tmapi_pow32(f.k, t.levels);
    t.corner = (tmap_xy *)shared;
    t.beside = (unsigned short *)(t.corner + tmapi_compact_few_cells(f));
    return t;
}

// The tables of `levels` levels, 1 to t.levels, begin at this index.
TMAP_DEVICE tmap_u32 tmapi_compact_lookup_of(tmap_u32 k, tmap_u32 levels) {
    tmap_u32 before = 0, cells = k;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 1; i < levels; ++i) before += cells, cells *= k;
    return before;
}

// Fills the tables, by all threads of a block; to be read after a __syncthreads.
TMAPI_DEVICE_CALL void tmapi_compact_lookup_fill(tmap_nbb f, tmapi_compact_lookup t, tmap_u32 rank,
                                                 tmap_u32 threads) {
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < 8 * tmapi_compact_few_cells(f); i += threads) {
        tmap_u32 index = i / 8, levels = 1, cells = f.k, to;
        tmap_compact_place p;
        TMAPI_NO_UNROLL
        for (; index >= cells; ++levels) index -= cells, cells *= f.k;
        p = tmap_compact_beside(f, index, levels, tmapi_compact_dx(i % 8), tmapi_compact_dy(i % 8));
        to = p.none       ? TMAPI_COMPACT_NONE
             : p.x || p.y ? tmapi_compact_direction(p.x, p.y)
                          : TMAPI_COMPACT_WITHIN;
        t.beside[i] = (unsigned short)(p.index | to << 6);
        if (i % 8 == 0) t.corner[i / 8] = tmap_nbb_lambda_linear(f, index, levels);
    }
}

// What lies in a direction beside a cell. to: TMAPI_COMPACT_WITHIN; TMAPI_COMPACT_NONE; else the
// direction of the copy of the fractal that it lies in. index: its number there.
typedef struct tmapi_compact_neighbour {
    tmap_u32 index, to;
} tmapi_compact_neighbour;

// As tmap_compact_beside, for index < k^levels < 2^32 and direction 0..7.
// Cost: about 20 instructions for each few levels up to those in which both are in one box.
TMAPI_DEVICE_CALL tmapi_compact_neighbour tmapi_compact_lookup_beside(
    tmap_nbb f, tmapi_compact_lookup t, tmap_u32 index, tmap_u32 levels, tmap_u32 direction) {
    const tmap_u32 inverse = tmapi_compact_inverse(t.cells);
    tmap_u32 rest = index, power = 1, table = tmapi_compact_lookup_of(f.k, t.levels);
    tmapi_compact_neighbour n;
    n.index = index, n.to = direction;
    TMAPI_NO_UNROLL
    while (n.to < TMAPI_COMPACT_WITHIN && levels) {
        const tmap_u32 quotient = tmapi_compact_divide(rest, t.cells, inverse);
        const tmap_u32 low = rest - quotient * t.cells;
        tmap_u32 entry;
        if (levels < t.levels) table = tmapi_compact_lookup_of(f.k, levels);
        entry = t.beside[8 * (table + low) + n.to];
        n.index += ((entry & 63) - low) * power, n.to = entry >> 6;
        rest = quotient, power *= t.cells, levels -= levels < t.levels ? levels : t.levels;
    }
    if (n.to < TMAPI_COMPACT_WITHIN &&
        ((f.sx == 1 && tmapi_compact_dx(n.to)) || (f.sy == 1 && tmapi_compact_dy(n.to))))
        n.to = TMAPI_COMPACT_NONE; // nothing lies beside, at any level
    return n;
}

// Where tile `tile` < k^levels, of sides x and y, begins.
TMAPI_DEVICE_CALL tmap_xy tmapi_compact_lookup_corner(tmap_nbb f, tmapi_compact_lookup t,
                                                      tmap_u32 tile, tmap_u32 levels, tmap_u32 x,
                                                      tmap_u32 y) {
    const tmap_u32 inverse = tmapi_compact_inverse(t.cells);
    const tmap_u32 sx = tmapi_pow32(f.sx, t.levels), sy = tmapi_pow32(f.sy, t.levels);
    tmap_u32 table = tmapi_compact_lookup_of(f.k, t.levels);
    tmap_xy corner = {0, 0};
    TMAPI_NO_UNROLL
    while (levels) {
        const tmap_u32 quotient = tmapi_compact_divide(tile, t.cells, inverse);
        tmap_xy low;
        if (levels < t.levels) table = tmapi_compact_lookup_of(f.k, levels);
        low = t.corner[table + tile - quotient * t.cells];
        corner.x += low.x * x, corner.y += low.y * y;
        tile = quotient, x *= sx, y *= sy, levels -= levels < t.levels ? levels : t.levels;
    }
    return corner;
}

#endif // TMAP_CUDA
#endif
