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
#ifndef TMAP_ROWS_TABLES_H
#define TMAP_ROWS_TABLES_H

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
// Example: Vicsek, r = 10: 8808; carpet, r = 10: 0.
TMAP_FN tmap_u32 tmap_rows_tables_bytes(tmap_nbb f, tmap_u32 r) {
    tmap_u32 low = r - r / 2, high = r / 2, bytes;
    if (r > tmap_rows_level_max(f) || low > TMAPI_ROWS_DIRECT_MOST) return 0;
    if (tmap_nbb_cells(f, r) > 0x80000000ull || !tmapi_rows_numbered(f)) return 0;
    bytes = 1 + tmapi_rows_table_words(f, low); // below 2^17, as cells are below 40000
    if (high != low) bytes += tmapi_rows_table_words(f, high);
    bytes += tmapi_rows_table_words(f, low / 2) + tmapi_rows_table_words(f, low - low / 2);
    bytes *= 8;
    return bytes <= 49152 ? bytes : 0;
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

TMAP_DEVICE tmapi_rows_table tmapi_rows_table_at(tmap_nbb f, tmap_u32 m, tmap_u64 *words) {
    tmapi_rows_table t;
    t.cells = tmapi_pow32(f.k, m);
    t.side_x = tmapi_pow32(f.sx, m), t.side_y = tmapi_pow32(f.sy, m);
    t.row = words, t.cell = (unsigned short *)(words + t.side_y);
    return t;
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

// A table of a few levels, cell by cell.
TMAP_DEVICE void tmapi_rows_table_direct(tmap_nbb f, tmap_u32 m, tmapi_rows_table t, tmap_u32 rank,
                                         tmap_u32 threads) {
    for (tmap_u32 i = rank; i < t.cells; i += threads) {
        tmap_xy p = tmapi_rows_direct(f, m, i);
        t.cell[i] = (unsigned short)(p.y << 8 | p.x);
    }
    for (tmap_u32 y = rank; y < t.side_y; y += threads) {
        tmap_u32 start = 0, n = 1, rest = y, side = t.side_y, cells = t.cells;
        for (tmap_u32 l = m; l-- > 0;) {
            side /= f.sy, cells /= f.k;
            tmap_u32 strip = rest / side, above = tmapi_rows_replicas_above(f, strip);
            rest -= strip * side;
            start += n * above * cells;
            n *= tmapi_rows_replicas_above(f, strip + 1) - above;
        }
        t.row[y] = tmapi_rows_entry(start, n);
    }
}

// A table of m levels from two of half as many, which are made in `scratch`. Collective. (Cell by
// cell each table would take m steps for each of its cells, and blocks are few.)
TMAP_DEVICE void tmapi_rows_table_make(tmap_nbb f, tmap_u32 m, tmapi_rows_table t,
                                       tmap_u64 *scratch) {
    tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    tmapi_rows_table low = tmapi_rows_table_at(f, m - m / 2, scratch);
    tmapi_rows_table high =
        tmapi_rows_table_at(f, m / 2, scratch + tmapi_rows_table_words(f, m - m / 2));
#pragma unroll 1 // the code of it once
    for (tmap_u32 half = 0; half < 2; ++half)
        tmapi_rows_table_direct(f, half ? m / 2 : m - m / 2, half ? high : low, rank, threads);
    __syncthreads();
    for (tmap_u32 i = rank; i < t.cells; i += threads) {
        tmap_xy p = tmapi_rows_product(&low, &high, i, i / low.cells);
        t.cell[i] = (unsigned short)(p.y << 8 | p.x);
    }
    for (tmap_u32 y = rank; y < t.side_y; y += threads) {
        tmap_u32 h = (tmap_u32)high.row[y / low.side_y], l = (tmap_u32)low.row[y % low.side_y];
        t.row[y] = tmapi_rows_entry((h & 0xffff) * low.cells + (l & 0xffff) * (h >> 16),
                                    (h >> 16) * (l >> 16));
    }
    __syncthreads();
}

// The tables of fractal f of level r in tmap_rows_tables_bytes(f, r) bytes of shared memory.
// Collective for the block, with barriers. Blocks should be large and few.
TMAP_DEVICE tmap_rows_tables tmap_rows_tables_make(tmap_nbb f, tmap_u32 r, tmap_u64 *shared) {
    tmap_u32 low = r - r / 2, high = r / 2, shift = 0;
    tmap_u64 *above = shared + 1 + tmapi_rows_table_words(f, low), *scratch = above;
    tmap_rows_tables t;
    t.low = t.high = tmapi_rows_table_at(f, low, shared + 1);
    if (high != low) {
        t.high = tmapi_rows_table_at(f, high, above);
        scratch += tmapi_rows_table_words(f, high);
    }
    // i / cells = i * factor / 2^(32 + shift), rounded down, for i <= 2^31. One thread divides.
    while (2u << shift < t.low.cells) ++shift; // cells <= 2^(shift + 1)
    if (tmap_thread_rank() == 0)
        shared[0] = ((1ull << (32 + shift)) + t.low.cells - 1) / t.low.cells;
#pragma unroll 1 // the code of it once
    for (tmap_u32 table = 0; table < 1 + low - high; ++table)
        tmapi_rows_table_make(f, table ? high : low, table ? t.high : t.low, scratch);
    t.factor = (tmap_u32)shared[0], t.shift = shift;
    return t;
}

#endif // TMAP_CUDA
#endif
