// SPDX-License-Identifier: MIT
// compact_plan.h: what plans of compact storage are made of: the tiles, and the shared memory that
// a stencil on them takes. A part of each_plan.h.
#ifndef TMAP_FRACTAL_COMPACT_PLAN_H
#define TMAP_FRACTAL_COMPACT_PLAN_H

#include "compact.h"

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

// The level of the tiles: as large as a block's threads and 16 bits for a coordinate in it allow.
// Example: gasket 5 (243 cells), carpet 3 (512), Vicsek 3 (125), H 3 (343), Candy 2 (144).
TMAP_FN tmap_u32 tmapi_compact_tile_level(tmap_nbb f, tmap_u32 r) {
    tmap_u32 m = 0;
    while (m < r && tmap_nbb_cells(f, m + 1) <= TMAPI_COMPACT_CELLS &&
           tmap_nbb_side_x(f, m + 1) <= 0x8000 && tmap_nbb_side_y(f, m + 1) <= 0x8000)
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

// What a stencil makes of its shared memory. Numbers are bytes. Two buffers hold the values of a
// step each, a row for the tiles side by side, one after another as in memory; 16 bytes behind them
// the values from tiles beside, and 16 behind these zeros, for places that are no cells. A row
// begins in the same place of 16 bytes as it does in memory, wherever that is, so that whole 16
// bytes are copied; what is 16 above leaves room for that. Three tables tell of the tiles of a
// step: the numbers of the eight beside each, 4 bytes each; from `there` on 8 bytes that say which
// of these there are; from `sheet` on 8 that say which are of other sheets; and from `corner` on
// the first cell.
typedef struct tmapi_compact_shared {
    tmap_u32 row, buffer;                              // from one to the next
    tmap_u32 table, there, sheet, corner, table_bytes; // the first table; in a table
    tmap_u32 source;  // words: for each direction and bit the bit that it comes from
    tmap_u32 counter; // of the halo
    tmap_u32 halo;    // where its values come from, 4 bytes each
    tmap_u32 bytes;
} tmapi_compact_shared;

// cells: of a tile. tiles: side by side. halo: values that a tile has from those beside it.
TMAP_FN tmapi_compact_shared tmapi_compact_shared_at(tmap_u32 cells, tmap_u32 tiles, tmap_u32 halo,
                                                     tmap_u32 size, int words) {
    const tmap_u32 deep = tmapi_compact_deep(size), step = tiles * deep;
    tmapi_compact_shared s;
    s.row = tiles * cells * size + (tiles * halo * size + 15) / 16 * 16 + 80;
    s.buffer = (deep * s.row + 47) / 16 * 16;
    s.table = 2 * s.buffer;
    s.there = 32 * step, s.sheet = s.there + 8 * step;
    s.corner = s.sheet + (words ? 8 * step : 0), s.table_bytes = s.corner + 8 * step;
    s.source = s.table + 3 * s.table_bytes;
    s.counter = s.source + (words ? 8 * 64 : 0);
    s.halo = s.counter + 16;
    s.bytes = s.halo + 4 * tiles * halo;
    return s;
}

// Bytes for elements of any size.
TMAP_FN tmap_u32 tmapi_compact_shared_bytes(tmap_u32 cells, tmap_u32 tiles, tmap_u32 halo,
                                            int words) {
    tmap_u32 most = 0;
    for (tmap_u32 size = 1; size <= 16; size *= 2) {
        const tmap_u32 bytes = tmapi_compact_shared_at(cells, tiles, halo, size, words).bytes;
        if (bytes > most) most = bytes;
    }
    return most;
}

#endif
