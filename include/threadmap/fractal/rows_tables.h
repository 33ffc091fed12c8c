// SPDX-License-Identifier: MIT
// rows_tables.h: any cell of a fractal by its number row by row, by two tables, without a search.
//
// A cell's number gives its coordinates by six reads of shared memory and three products, without
// a search and whatever its neighbours are: for sparse fractals, whose rows have fewer cells than a
// warp has lanes. Cell i has in row y_high of the upper fractal k^low cells for each cell of that
// row; so the row of cell floor(i / k^low) of the upper fractal is y_high. With i counted from the
// beginning of that band, the row of cell floor(i / n_high) of the lower fractal is y_low. The
// quotients that are left are the places in these rows.
//
//     extern __shared__ tmap_u64 shared[]; // tmap_rows_tables_bytes(f, r), if that is not 0
//     tmap_rows_tables tables = tmap_rows_tables_make(f, r, shared);
//     tmap_xy p = tmap_rows_at(&tables, i);
#ifndef TMAP_FRACTAL_ROWS_TABLES_H
#define TMAP_FRACTAL_ROWS_TABLES_H

#include "rows.h"

// 1 if the replicas are numbered row by row, those of a row from the left, as in the catalogue and
// by tmap_nbb_from_rows.
TMAP_FN int tmapi_rows_numbered(tmap_nbb f) {
    for (tmap_u32 i = 1; i < f.k; ++i) {
        tmap_xy t = tmap_nbb_tau(f, i - 1), u = tmap_nbb_tau(f, i);
        if (u.y < t.y || (u.y == t.y && u.x <= t.x)) return 0;
    }
    return 1;
}

// The same cells with replicas numbered row by row.
TMAP_FN tmap_nbb tmap_nbb_by_rows(tmap_nbb f) {
    tmap_u64 tau_x = 0, tau_y = 0;
    for (tmap_u32 i = 0; i < f.k; ++i) {
        tmap_xy t = tmap_nbb_tau(f, i);
        tmap_u32 place = 0;
        for (tmap_u32 j = 0; j < f.k; ++j) {
            tmap_xy u = tmap_nbb_tau(f, j);
            place += u.y < t.y || (u.y == t.y && u.x < t.x);
        }
        tau_x |= (tmap_u64)t.x << 4 * place, tau_y |= (tmap_u64)t.y << 4 * place;
    }
    f.tau_x = tau_x, f.tau_y = tau_y;
    return f;
}

// Words of 64 bits of a table of level m: a word for each row, a quarter for each cell.
TMAP_FN tmap_u32 tmapi_rows_table_words(tmap_nbb f, tmap_u32 m) {
    return tmapi_pow32(f.sy, m) + (tmapi_pow32(f.k, m) + 3) / 4;
}

// Bytes of shared memory for the tables of fractal f of level r; 0 if there are none: above
// tmap_rows_level_max, past 2^31 cells, past 48 KB, or where replicas are not numbered row by row.
// Example: Vicsek, r = 10: 10760; carpet, r = 10: 0.
TMAP_FN tmap_u32 tmap_rows_tables_bytes(tmap_nbb f, tmap_u32 r) {
    tmap_u32 low = r - r / 2, words = 0;
    if (r > tmap_rows_level_max(f)) return 0;
    if (tmap_nbb_cells(f, r) > 0x80000000ull || !tmapi_rows_numbered(f)) return 0;
    for (tmap_u32 m = 0; m <= 1 || m <= low; ++m)
        words += tmapi_rows_table_words(f, m); // below 2^17
    return 8 * words <= 49152 ? 8 * words : 0;
}

#if TMAP_CUDA

typedef struct tmapi_rows_table {
    tmap_u64 *row;        // its first cell | its cells << 16 | for divisions by these << 32
    unsigned short *cell; // column | row << 8
    tmap_u32 cells, side_x, side_y;
} tmapi_rows_table;

typedef struct tmap_rows_tables {
    tmapi_rows_table low, high;
    tmap_u32 factor, shift; // for divisions by low.cells
} tmap_rows_tables;

// A table of a fractal of so many cells and such sides, in `words`.
TMAP_DEVICE tmapi_rows_table tmapi_rows_table_at(tmap_u32 cells, tmap_u32 side_x, tmap_u32 side_y,
                                                 tmap_u64 *words) {
    tmapi_rows_table t;
    t.cells = cells, t.side_x = side_x, t.side_y = side_y;
    t.row = words, t.cell = (unsigned short *)(words + side_y);
    return t;
}

// Where the next table begins.
TMAP_DEVICE tmap_u64 *tmapi_rows_table_end(tmapi_rows_table t) {
    return t.row + t.side_y + (t.cells + 3) / 4;
}

// A row of n cells, and i / n by it: exact for (i + 1) * n <= 2^32, and here i < 65536 n, n <= 256.
TMAP_DEVICE tmap_u64 tmapi_rows_entry(tmap_u32 start, tmap_u32 n) {
    return (tmap_u64)(n ? 0xffffffffu / n : 0) << 32 | n << 16 | start;
}
TMAP_DEVICE tmap_u32 tmapi_rows_divide(tmap_u32 i, tmap_u64 row) {
    return (tmap_u32)((tmap_u64)(i + 1) * (tmap_u32)(row >> 32) >> 32);
}

// Cell i of the fractal of both tables; top = i / low->cells.
TMAP_DEVICE tmap_xy tmapi_rows_product(const tmapi_rows_table *low, const tmapi_rows_table *high,
                                       tmap_u32 i, tmap_u32 top) {
    tmap_u32 y_high = high->cell[top] >> 8, y_low, n_low, j;
    tmap_u64 row_high = high->row[y_high], row_low;
    tmap_u32 start_high = (tmap_u32)row_high & 0xffff, n_high = (tmap_u32)row_high >> 16;
    tmap_xy cell;
    i -= start_high * low->cells;
    y_low = low->cell[tmapi_rows_divide(i, row_high)] >> 8;
    row_low = low->row[y_low], n_low = (tmap_u32)row_low >> 16;
    i -= ((tmap_u32)row_low & 0xffff) * n_high;
    j = tmapi_rows_divide(i, row_low);
    cell.x = (high->cell[start_high + j] & 255) * low->side_x;
    cell.x += low->cell[((tmap_u32)row_low & 0xffff) + (i - j * n_low)] & 255;
    cell.y = y_high * low->side_y + y_low;
    return cell;
}

// Cell i of the fractal row by row: downwards, and in a row to the right. i < k^r.
TMAP_DEVICE tmap_xy tmap_rows_at(const tmap_rows_tables *t, tmap_u32 i) {
    return tmapi_rows_product(&t->low, &t->high, i,
                              (tmap_u32)((tmap_u64)i * t->factor >> 32) >> t->shift);
}

// The tables of levels 0 and 1, in words[0..1] and after it.
TMAP_DEVICE tmapi_rows_table tmapi_rows_table_first(tmap_nbb f, tmap_u64 *words) {
    tmapi_rows_table t = tmapi_rows_table_at(f.k, f.sx, f.sy, words + 2);
    tmap_u32 i = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    if (i == 0) words[0] = tmapi_rows_entry(0, 1), words[1] = 0;
    for (; i < 16; i += threads) { // replicas and rows of the grid are 16 at most
        tmap_u32 strip = tmapi_rows_strip(f, i);
        tmap_xy p = tmap_nbb_tau(f, i);
        if (i < f.k) t.cell[i] = (unsigned short)(p.y << 8 | p.x);
        if (i < f.sy) t.row[i] = tmapi_rows_entry(strip & 31, strip >> 5 & 31);
    }
    return t;
}

// The table of one level more than `high`, behind it: each of its cells becomes the grid of table
// `low`, of level 1. Rows begin with the last threads, as most tables have fewer cells than that.
TMAP_DEVICE tmapi_rows_table tmapi_rows_table_next(tmapi_rows_table low, tmapi_rows_table high) {
    tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    tmapi_rows_table t = tmapi_rows_table_at(high.cells * low.cells, high.side_x * low.side_x,
                                             high.side_y * low.side_y, tmapi_rows_table_end(high));
#pragma unroll 1 // as little code as can be, here and below
    for (tmap_u32 i = rank; i < t.cells; i += threads) {
        tmap_xy p = tmapi_rows_product(&low, &high, i, i / low.cells);
        t.cell[i] = (unsigned short)(p.y << 8 | p.x);
    }
#pragma unroll 1
    for (tmap_u32 y = threads - 1 - rank; y < t.side_y; y += threads) {
        tmap_u32 h = (tmap_u32)high.row[y / low.side_y], l = (tmap_u32)low.row[y % low.side_y];
        t.row[y] = tmapi_rows_entry((h & 0xffff) * low.cells + (l & 0xffff) * (h >> 16),
                                    (h >> 16) * (l >> 16));
    }
    return t;
}

// The tables of fractal f of level r in tmap_rows_tables_bytes(f, r) bytes of shared memory.
// Collective for the block, with barriers. Blocks should be large and few. (Level by level, in a
// loop of little code, since a kernel's instructions come from memory once for each launch: 3.0 us
// on an H200; by tables of half the levels, and these cell by cell, in twice the code, 4.3.)
TMAP_DEVICE tmap_rows_tables tmap_rows_tables_make(tmap_nbb f, tmap_u32 r, tmap_u64 *shared) {
    const tmap_u32 low = r - r / 2;
    const tmapi_rows_table one = tmapi_rows_table_first(f, shared);
    tmap_rows_tables t;
    tmap_u32 rest;
    t.high = t.low = tmapi_rows_table_at(1, 1, 1, shared);
    __syncthreads();
#pragma unroll 1
    for (tmap_u32 m = 0; m < low; ++m) {
        t.high = t.low;
        if (m == 0) {
            t.low = one;
            continue;
        }
        t.low = tmapi_rows_table_next(one, t.low);
        __syncthreads();
    }
    if (r % 2 == 0) t.high = t.low;
    // i / cells = i * factor / 2^(32 + shift), rounded down, for i <= 2^31: factor is
    // 2^(32 + shift) / cells, rounded up, and 2^shift < cells <= 2^(shift + 1).
    t.shift = 31 - (tmap_u32)__clz((int)((t.low.cells - 1) | 1));
    t.factor = 0xffffffffu / t.low.cells;
    rest = 0xffffffffu - t.factor * t.low.cells + 1; // at most cells
    t.factor = (t.factor << t.shift) + ((rest << t.shift) + t.low.cells - 1) / t.low.cells;
    return t;
}

#endif // TMAP_CUDA
#endif
