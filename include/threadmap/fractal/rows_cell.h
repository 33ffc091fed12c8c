// SPDX-License-Identifier: MIT
// rows_cell.h: one cell of a fractal by its number row by row: downwards, and in a row to the
// right. rows.h and rows_tables.h are for all cells of large fractals.
#ifndef TMAP_FRACTAL_ROWS_CELL_H
#define TMAP_FRACTAL_ROWS_CELL_H

#include "size.h"

// The replicas of a fractal in the order of rows, whatever their numbering: 16 columns, the 16 rows
// that go with them, and for each of up to 17 rows the replicas above it.
#define TMAP_ROWS_WORDS 49

// Entry `i` of it: call with i = 0..TMAP_ROWS_WORDS-1, in any order or by different threads.
TMAP_FN void tmapi_rows_fill(tmap_nbb f, tmap_u32 i, tmap_u32 *rows) {
    if (i < f.k) { // replica i, to its place among the others
        tmap_xy t = tmap_nbb_tau(f, i);
        tmap_u32 place = 0;
        for (tmap_u32 j = 0; j < f.k; ++j) {
            tmap_xy u = tmap_nbb_tau(f, j);
            place += u.y < t.y || (u.y == t.y && u.x < t.x);
        }
        rows[place] = t.x;
        rows[16 + place] = t.y;
    } else if (i >= 32 && i < TMAP_ROWS_WORDS) {
        tmap_u32 above = 0;
        for (tmap_u32 j = 0; j < f.k; ++j) above += tmap_nbb_tau(f, j).y < i - 32;
        rows[i] = above;
    }
}

// The cell of a fractal of level m that comes i-th row by row: by rows downwards, in a row to the
// right. i < k^m < 2^32, m <= tmap_nbb_level_max32; larger i give some cell. rows: filled by
// tmapi_rows_fill. The rows of a level are strips of n replicas side by side, whose cells are n
// times those of a row below: so the strips of all levels are found from the top, then the replica
// in each strip.
// Example: gasket, m = 2: 0..8 -> (0,0)(0,1)(1,1)(0,2)(2,2)(0,3)(1,3)(2,3)(3,3).
TMAP_FN tmap_xy tmapi_rows_cell(tmap_nbb f, tmap_u32 m, tmap_u32 i, const tmap_u32 *rows) {
    tmap_u32 copies = 1, power = tmapi_pow32(f.k, m), side_x = 1, side_y = 1;
    tmap_u64 strips =
        0; // a row of the grid for each level, in as many bits as the levels leave room
    tmap_u32 bits = f.sy <= 2 ? 1 : f.sy <= 4 ? 2 : 4, mask = (1u << bits) - 1;
    tmap_xy cell = {0, 0};
    for (tmap_u32 mu = m; mu >= 1; --mu) {
        tmap_u32 unit, place, strip;
        power /= f.k;
        unit = copies * power;
        place = i / unit;
        strip = rows[16 + (place < f.k ? place : f.k - 1)];
        i -= rows[32 + strip] * unit;
        copies *= rows[33 + strip] - rows[32 + strip];
        strips = strips << bits | strip;
    }
    // From the bottom, whose strip is the last: the cells of a row count through the levels, the
    // lowest one fastest.
    for (tmap_u32 mu = 1; mu <= m; ++mu, strips >>= bits) {
        tmap_u32 strip = (tmap_u32)strips & mask, first = rows[32 + strip];
        tmap_u32 n = rows[33 + strip] - first, rest = i / n;
        cell.x += rows[first + (i - rest * n)] * side_x;
        cell.y += strip * side_y;
        side_x *= f.sx, side_y *= f.sy;
        i = rest;
    }
    return cell;
}

// The same in one call, for the host. Cost: k^2 comparisons and 2 m divisions.
TMAP_FN tmap_xy tmap_nbb_cell_by_rows(tmap_nbb f, tmap_u32 m, tmap_u32 i) {
    tmap_u32 rows[TMAP_ROWS_WORDS];
    for (tmap_u32 j = 0; j < TMAP_ROWS_WORDS; ++j) tmapi_rows_fill(f, j, rows);
    return tmapi_rows_cell(f, m, i, rows);
}

// ---- one cell without tables --------------------------------------------------------------------

// The most levels of it.
#define TMAPI_ROWS_DIRECT_MOST 8

#if TMAP_CUDA

// Row `strip` of the grid: replicas above it | its replicas << 5 | for divisions by these << 10.
TMAP_DEVICE tmap_u32 tmapi_rows_strip(tmap_nbb f, tmap_u32 strip) {
    tmap_u32 above = 0, n = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAP_REPLICAS_MAX; ++j) { // all: a constant f leaves a constant
        tmap_u32 y = tmapi_nbb_digit(f.k, f.tau_y, j);
        above += j < f.k && y < strip;
        n += j < f.k && y == strip;
    }
    return n ? above | n << 5 | (65536 / n + 1) << 10 : 0;
}

// Cell i of the fractal of level m, row by row, as tmapi_rows_cell: k^m <= 4096, m <= 8, f numbered
// row by row. For constant f and m, no table, division or loop is left: the strips of a level are
// compared with constants.
TMAP_DEVICE tmap_xy tmapi_rows_direct(tmap_nbb f, tmap_u32 m, tmap_u32 i) {
    tmap_u32 strips[TMAPI_ROWS_DIRECT_MOST], copies = 1, side_x = 1;
    tmap_xy cell = {0, 0};
#pragma unroll
    for (tmap_u32 l = TMAPI_ROWS_DIRECT_MOST; l-- > 0;) {
        tmap_u32 unit = copies * tmapi_pow32(f.k, l), strip = 0;
        if (l >= m) continue;
        strips[l] = tmapi_rows_strip(f, 0);
#pragma unroll
        for (tmap_u32 s = 1; s < f.sy; ++s) {
            tmap_u32 t = tmapi_rows_strip(f, s);
            if (t && i >= (t & 31) * unit) strip = s, strips[l] = t;
        }
        i -= (strips[l] & 31) * unit, copies *= strips[l] >> 5 & 31;
        cell.y = cell.y * f.sy + strip;
    }
#pragma unroll
    for (tmap_u32 l = 0; l < TMAPI_ROWS_DIRECT_MOST; ++l) {
        tmap_u32 rest, t;
        if (l >= m) continue;
        // i / n: exact, since i < 4096 and n <= 16
        t = strips[l], rest = f.sy == 1 ? i / f.k : i * (t >> 10) >> 16;
        cell.x += tmapi_nbb_digit(f.k, f.tau_x, (t & 31) + (i - rest * (t >> 5 & 31))) * side_x;
        side_x *= f.sx, i = rest;
    }
    return cell;
}

#endif // TMAP_CUDA
#endif
