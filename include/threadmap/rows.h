// SPDX-License-Identifier: MIT
// rows.h: the cells of a fractal row by row: downwards, and in a row to the right.
//
// That is the order in which a list of the cells' coordinates would be read, and the one that
// memory likes best: neighbouring lanes stand on neighbouring memory, and all warps of a launch
// work on a few rows at a time. It costs no list. The coordinates of row y = y_high * sy^low +
// y_low are those of row y_high of the fractal of level `high`, times sx^low, each followed by
// those of row y_low of the fractal of level `low`, with r = low + high: two tables of about half
// the levels, which fit into shared memory, hold all rows.
//
//     extern __shared__ tmap_u32 shared[]; // tmap_rows_bytes(f, r)
//     tmap_rows rows = tmap_rows_make(f, r, shared);
//     tmap_row row = tmap_rows_seek(&rows, first + lane); // of the warp's `count` cells
//     for (tmap_u32 i = lane; i < count; i += 32, tmap_rows_skip(&rows, 32, &row))
//         out[row.y * width + tmap_rows_x(&rows, &row, 0)] = 1;
#ifndef TMAP_ROWS_H
#define TMAP_ROWS_H

#include "nbb_size.h"
#include "warp.h"

// ---- one cell -----------------------------------------------------------------------------------

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

// The replicas above row `strip` of the grid.
TMAP_DEVICE tmap_u32 tmapi_rows_replicas_above(tmap_nbb f, tmap_u32 strip) {
    tmap_u32 above = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < f.k; ++j) above += tmapi_nbb_digit(f.k, f.tau_y, j) < strip;
    return above;
}

// Row `strip` of the grid: replicas above it | its replicas << 5 | for divisions by these << 10.
TMAP_DEVICE tmap_u32 tmapi_rows_strip(tmap_nbb f, tmap_u32 strip) {
    tmap_u32 above = tmapi_rows_replicas_above(f, strip);
    tmap_u32 n = tmapi_rows_replicas_above(f, strip + 1) - above;
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

// ---- all cells, by two tables -------------------------------------------------------------------

// The most cells in a table: with its rows' beginnings and a second table it stays below the 48 KB
// of shared memory that any launch may ask for.
#define TMAPI_ROWS_CELLS_MOST 40000

// The largest level of a fractal that a table holds: columns fit a byte, cells fit the table.
// Example: gasket 8, carpet 5, Candy 4.
TMAP_FN tmap_u32 tmapi_rows_level(tmap_nbb f) {
    tmap_u32 m = tmap_nbb_tile_level(f, TMAP_LEVEL_MAX, 256);
    while (tmap_nbb_cells(f, m) > TMAPI_ROWS_CELLS_MOST) --m;
    return m;
}

// Words for the beginnings of a table's rows and one more.
TMAP_FN tmap_u32 tmapi_rows_starts(tmap_nbb f, tmap_u32 m) { return tmapi_pow32(f.sy, m) + 1; }

// The highest level whose rows two tables give. Example: gasket 16, carpet 10, Candy 8.
TMAP_FN tmap_u32 tmap_rows_level_max(tmap_nbb f) {
    tmap_u32 m = 2 * tmapi_rows_level(f), linear = tmap_nbb_linear_level_max32(f);
    return m < linear ? m : linear;
}

// Bytes of shared memory for the rows of fractal f of level r, less than 48 KB; 0 if r is above
// tmap_rows_level_max. Example: gasket, r = 10: 1668.
TMAP_FN tmap_u32 tmap_rows_bytes(tmap_nbb f, tmap_u32 r) {
    tmap_u32 low = r - r / 2, high = r / 2, words, bytes;
    if (r > tmap_rows_level_max(f)) return 0;
    words = TMAP_ROWS_WORDS + tmapi_rows_starts(f, low);
    bytes = tmapi_pow32(f.k, low);
    if (high != low) words += tmapi_rows_starts(f, high), bytes += tmapi_pow32(f.k, high);
    return 4 * words + (bytes + 3) / 4 * 4;
}

// The cells of the fractal of level m in the rows above row y. y >= sy^m counts as sy^m.
TMAP_FN tmap_u32 tmapi_rows_above(tmap_nbb f, tmap_u32 m, tmap_u32 y, const tmap_u32 *rows) {
    tmap_u32 side = tmapi_pow32(f.sy, m), cells = tmapi_pow32(f.k, m), copies = 1, above = 0;
    if (y >= side) return cells;
    for (; m; --m) {
        tmap_u32 strip;
        side /= f.sy, cells /= f.k;
        strip = y / side;
        y -= strip * side;
        above += copies * cells * rows[32 + strip];
        copies *= rows[33 + strip] - rows[32 + strip];
    }
    return above;
}

// The tables, in shared memory.
typedef struct tmap_rows {
    tmap_u32 side_x, side_y, cells; // of the fractal of level `low`
    tmap_u32 height;                // of that of level `high`
    const tmap_u32 *low, *high;     // where rows begin; one more than there are rows
    const unsigned char *x_low, *x_high;
} tmap_rows;

// A cell: its row, and where it stands in it.
typedef struct tmap_row {
    tmap_u32 y, i;          // the row; which of its cells, counted from the left
    tmap_u32 cells;         // how many it has: those of row y_high times those of row y_low
    tmap_u32 y_low, y_high; // y = y_high * side_y + y_low
    tmap_u32 low, high;     // where these rows begin in the tables
    tmap_u32 n_low, magic;  // cells in row y_low, and for divisions by that
} tmap_row;

// The last row that begins at or before cell i; `n` rows, starts[0] == 0.
TMAP_FN tmap_u32 tmapi_rows_search(const tmap_u32 *starts, tmap_u32 n, tmap_u32 i) {
    tmap_u32 y = 0, end = n; // starts[y] <= i, and i < starts[end] or end == n
    while (end - y > 1) {
        tmap_u32 middle = (y + end) / 2;
        if (starts[middle] <= i)
            y = middle;
        else
            end = middle;
    }
    return y;
}

// Fills in what follows from y_low and y_high.
TMAP_FN void tmapi_rows_enter(const tmap_rows *rows, tmap_row *row) {
    row->y = row->y_high * rows->side_y + row->y_low;
    row->low = rows->low[row->y_low], row->high = rows->high[row->y_high];
    row->n_low = rows->low[row->y_low + 1] - row->low;
    row->cells = row->n_low * (rows->high[row->y_high + 1] - row->high);
    row->magic = 0xffffffffu / (row->n_low ? row->n_low : 1);
}

// Cell i of the fractal, counted row by row; i < k^r, larger ones give the last row.
// Cost: two searches in up to 257 words and three divisions.
TMAP_FN tmap_row tmap_rows_seek(const tmap_rows *rows, tmap_u32 i) {
    tmap_row row;
    tmap_u32 y = tmapi_rows_search(rows->high, rows->height, i / rows->cells), n;
    row.y_high = y;
    n = rows->high[y + 1] - rows->high[y];
    i -= rows->high[y] * rows->cells;
    row.y_low = tmapi_rows_search(rows->low, rows->side_y, i / (n ? n : 1)); // 0 past the end
    row.i = i - rows->low[row.y_low] * n;
    tmapi_rows_enter(rows, &row);
    return row;
}

// `count` cells further; past the last cell *row is of no use, but stays in the tables. Cost: a
// comparison, and for each row that is left a few reads and a division.
TMAP_FN void tmap_rows_skip(const tmap_rows *rows, tmap_u32 count, tmap_row *row) {
    row->i += count;
    while (row->i >= row->cells) {
        row->i -= row->cells;
        if (++row->y_low == rows->side_y) {
            if (row->y_high + 1 == rows->height) { // past the end
                --row->y_low, row->i = 0;
                return;
            }
            row->y_low = 0, ++row->y_high;
        }
        tmapi_rows_enter(rows, row);
    }
}

// The column of the cell `right` cells to the right of *row, in the same row: row->i + right <
// row->cells. Cost: a product for the quotient, two reads of bytes.
// The quotient is exact: (i + 1) * magic / 2^32 lies less than 2^-15 below (i + 1) / n_low, for i <
// 2^16 and n_low <= 256.
TMAP_FN tmap_u32 tmap_rows_x(const tmap_rows *rows, const tmap_row *row, tmap_u32 right) {
    tmap_u32 i = row->i + right, q = (tmap_u32)((tmap_u64)(i + 1) * row->magic >> 32);
    return rows->x_high[row->high + q] * rows->side_x +
           rows->x_low[row->low + (i - q * row->n_low)];
}

#if TMAP_CUDA

// Fills a table of level m: where its rows begin, and the column of each cell.
TMAP_DEVICE void tmapi_rows_starts_make(tmap_nbb f, tmap_u32 m, const tmap_u32 *replicas,
                                        tmap_u32 rank, tmap_u32 threads, tmap_u32 *starts) {
    for (tmap_u32 y = rank; y < tmapi_rows_starts(f, m); y += threads)
        starts[y] = tmapi_rows_above(f, m, y, replicas);
}
TMAP_DEVICE void tmapi_rows_cells_make(tmap_nbb f, tmap_u32 m, const tmap_u32 *replicas,
                                       tmap_u32 rank, tmap_u32 threads, const tmap_u32 *starts,
                                       unsigned char *x) {
    for (tmap_u32 cell = rank; cell < tmapi_pow32(f.k, m); cell += threads) {
        tmap_u32 i = cell, cx = 0, cy = 0, side_x = 1, side_y = 1, place = 0, copies = 1;
        for (tmap_u32 mu = 0; mu < m; ++mu) {
            tmap_u32 beta = i % f.k, strip = replicas[16 + beta], first = replicas[32 + strip];
            i /= f.k;
            cx += replicas[beta] * side_x, side_x *= f.sx;
            cy += strip * side_y, side_y *= f.sy;
            place += (beta - first) * copies; // among the cells of its row
            copies *= replicas[33 + strip] - first;
        }
        x[starts[cy] + place] = (unsigned char)cx;
    }
}

// The tables of fractal f of level r <= tmap_rows_level_max(f) in tmap_rows_bytes(f, r) bytes of
// shared memory. Collective for the block, with barriers. Cost: a few dozen instructions for each
// of k^ceil(r/2) cells, shared by the block's threads; so blocks should be large and few.
TMAP_DEVICE tmap_rows tmap_rows_make(tmap_nbb f, tmap_u32 r, tmap_u32 *shared) {
    tmap_u32 low = r - r / 2, high = r / 2, rank = threadIdx.x + blockDim.x * threadIdx.y;
    tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z, *starts_low, *starts_high;
    unsigned char *x_low, *x_high;
    tmap_rows rows;
    rank += blockDim.x * blockDim.y * threadIdx.z;
    starts_low = shared + TMAP_ROWS_WORDS;
    starts_high = high == low ? starts_low : starts_low + tmapi_rows_starts(f, low);
    x_low = (unsigned char *)(starts_high + tmapi_rows_starts(f, high));
    x_high = high == low ? x_low : x_low + tmapi_pow32(f.k, low);
    for (tmap_u32 i = rank; i < TMAP_ROWS_WORDS; i += threads) tmapi_rows_fill(f, i, shared);
    __syncthreads();
    tmapi_rows_starts_make(f, low, shared, rank, threads, starts_low);
    if (high != low) tmapi_rows_starts_make(f, high, shared, rank, threads, starts_high);
    __syncthreads();
    tmapi_rows_cells_make(f, low, shared, rank, threads, starts_low, x_low);
    if (high != low) tmapi_rows_cells_make(f, high, shared, rank, threads, starts_high, x_high);
    __syncthreads();
    rows.side_x = tmapi_pow32(f.sx, low), rows.side_y = tmapi_pow32(f.sy, low);
    rows.cells = tmapi_pow32(f.k, low), rows.height = tmapi_pow32(f.sy, high);
    rows.low = starts_low, rows.high = starts_high;
    rows.x_low = x_low, rows.x_high = x_high;
    return rows;
}

#endif // TMAP_CUDA

// ---- each cell alone, by two tables -------------------------------------------------------------
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
