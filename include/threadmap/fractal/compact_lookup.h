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

#endif // TMAP_CUDA
#endif
