// SPDX-License-Identifier: MIT
// rows.h: the parts of the engine's loops over a matrix (each.h), for your own loops: a warp's walk
// over tiles, and all cells in row order.
//
// A tile is the fractal of level m, sx^m x sy^m places. The tiles of a fractal of level r form a
// fractal of level r - m. In a launch of a few blocks per multiprocessor each warp maps one tile
// after another from its linear index, with one digit, one product and a reduction or two ballots
// per tile:
//
//     tmap_tiles tiles = tmap_tiles_begin(f, r, m);
//     tmap_u32 rows = tmap_tile_column(f, m, height, lane); // lane: a column of the tile
//     for (tmap_u64 t = tiles.first; t < tiles.count; t += tiles.stride) { // t may pass 2^32
//         tmap_xy tile = tmap_tiles_at(&tiles, f, (tmap_u32)t);
//         for (int y = 0; y < height; ++y)
//             if (rows >> y & 1) out[(tile.y * height + y) * pitch + tile.x * width + lane] = 1;
//     }
//
// In row order neighbouring lanes access neighbouring memory, and all warps work on a few rows at a
// time. Row y = y_high * sy^low + y_low has a cell in each column x_high * sx^low + x_low for which
// (x_high, y_high) is a cell of the fractal of level `high` and (x_low, y_low) one of the fractal
// of level `low`, r = low + high. So two tables of about half the levels, in shared memory, hold
// all rows.
//
//     extern __shared__ tmap_u32 shared[]; // tmap_rows_bytes(f, r)
//     tmap_rows rows = tmap_rows_make(f, r, shared);
//     tmap_row row = tmap_rows_seek(&rows, first + lane); // of the warp's `count` cells
//     for (tmap_u32 i = lane; i < count; i += 32, tmap_rows_skip(&rows, 32, &row))
//         out[row.y * width + tmap_rows_x(&rows, &row, 0)] = 1;
#ifndef TMAP_FRACTAL_ROWS_H
#define TMAP_FRACTAL_ROWS_H

#include "warp.h"

// ---- tiles --------------------------------------------------------------------------------------

// The level of a tile that a warp takes with one lane per column: the largest m <= r at which a
// tile is at most 32 wide and 32 high. Example: gasket, r = 16: 5 (32 x 32); carpet: 3 (27 x 27);
// Candy: 2 (16 x 16).
TMAP_FN tmap_u32 tmap_tile_level(tmap_nbb f, tmap_u32 r) { return tmap_nbb_tile_level(f, r, 32); }

// The places of a line of a tile that are cells, one bit each: the columns of row y, or the rows of
// column x. at: y or x. Parameters named across belong to the axis of `at`, those named along to
// the axis of the bits.
TMAP_FN tmap_u64 tmapi_tile_line(tmap_u32 k, tmap_u32 side_across, tmap_u32 side_along,
                                 tmap_u64 tau_across, tmap_u64 tau_along, tmap_u32 m, tmap_u32 at) {
    tmap_u64 bits = 1;
    tmap_u32 side = 1;
    if (side_across == 0) return 0; // no fractal, and no trap
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < m; ++level, side *= side_along) {
        const tmap_u32 rest = at / side_across, digit = at - rest * side_across;
        tmap_u64 next = 0;
        TMAPI_NO_UNROLL
        for (tmap_u32 beta = 0; beta < k; ++beta)
            if (tmapi_nbb_digit(k, tau_across, beta) == digit)
                next |= bits << (tmapi_nbb_digit(k, tau_along, beta) * side & 63);
        bits = next, at = rest;
    }
    return at ? 0 : bits;
}

// The columns of row y of a tile of level m that are cells: bit x for (x, y), sx^m <= 64; 0 for a
// row past the tile. Cost: k m comparisons and m divisions.
// Example: gasket, m = 2: y = 0..3 -> 0001b, 0011b, 0101b, 1111b.
TMAP_FN tmap_u64 tmap_tile_row(tmap_nbb f, tmap_u32 m, tmap_u32 y) {
    return tmapi_tile_line(f.k, f.sy, f.sx, f.tau_y, f.tau_x, m, y);
}

// The rows of column x of a tile of level m that are cells: bit y for (x, y), y < height; sy^m <=
// 64, height <= 32; 0 for a column past the tile. Cost: as tmap_tile_row.
// Example: gasket, m = 2, height = 4: x = 0..3 -> 1111b, 1010b, 1100b, 1000b.
TMAP_FN tmap_u32 tmap_tile_column(tmap_nbb f, tmap_u32 m, tmap_u32 height, tmap_u32 x) {
    const tmap_u32 rows = (tmap_u32)tmapi_tile_line(f.k, f.sx, f.sy, f.tau_x, f.tau_y, m, x);
    return height < 32 ? rows & ((1u << height) - 1) : rows;
}

#if TMAP_CUDA

// A warp's part of the tiles: numbers first, first + stride, ... below count.
typedef struct tmap_tiles {
    tmap_warp_level level; // for the linear index of a tile
    tmap_u32 first, stride, count;
} tmap_tiles;

// Returns the calling warp's part of the tiles of level m <= r, for k^(r-m) < 2^32 tiles. Grids
// have one axis and fewer than 2^32 warps; blocks have any shape. Collective for a full warp: a
// partial last warp of a block must not call it. Cost: that of tmap_warp_level_make.
TMAP_DEVICE tmap_tiles tmap_tiles_begin(tmap_nbb f, tmap_u32 r, tmap_u32 m) {
    const tmap_u32 warps = blockDim.x * blockDim.y * blockDim.z / 32;
    tmap_tiles t;
    t.level = tmap_warp_level_make_linear(tmap_warp_full(), f, r - m);
    t.first = blockIdx.x * warps + tmap_thread_rank() / 32;
    t.stride = gridDim.x * warps;
    t.count = (tmap_u32)tmap_nbb_cells(f, r - m);
    return t;
}

// The position of tile number t, in units of tiles: by ballots where s = 2, otherwise
// by the reduction instruction. Collective for the warp. t: any, the same in all lanes
// (see tmap_nbb_lambda_linear).
TMAP_DEVICE tmap_xy tmap_tiles_at(const tmap_tiles *tiles, tmap_nbb f, tmap_u32 t) {
    if (tiles->level.several) return tmap_nbb_lambda_linear(f, t, tiles->level.r);
    if (tmap_nbb_has_ballot(f)) return tmap_warp_level_ballot(&tiles->level, f, t, t);
    return tmap_warp_level_redux(&tiles->level, f, t, t);
}

#endif // TMAP_CUDA

// ---- rows ---------------------------------------------------------------------------------------

// The words that describe a fractal's replicas in row order, whatever their numbering: 16 columns,
// the 16 rows that go with them, and for each of up to 17 rows the number of replicas above it.
#define TMAP_ROWS_WORDS 49

// Computes entry i of these words, 0..TMAP_ROWS_WORDS-1, in any order or in different threads.
TMAP_FN void tmapi_rows_fill(tmap_nbb f, tmap_u32 i, tmap_u32 *rows) {
    if (i < f.k) { // replica i, to its position among the others
        tmap_xy t = tmap_nbb_tau(f, i);
        tmap_u32 place = 0;
        TMAPI_NO_UNROLL
        for (tmap_u32 j = 0; j < f.k; ++j) {
            tmap_xy u = tmap_nbb_tau(f, j);
            place += u.y < t.y || (u.y == t.y && u.x < t.x);
        }
        rows[place] = t.x;
        rows[16 + place] = t.y;
    } else if (i >= 32 && i < TMAP_ROWS_WORDS) {
        tmap_u32 above = 0;
        TMAPI_NO_UNROLL
        for (tmap_u32 j = 0; j < f.k; ++j) above += tmap_nbb_tau(f, j).y < i - 32;
        rows[i] = above;
    }
}

// The most cells in a table: with its row starts and a second table it takes less than the 48 KB of
// shared memory that any launch may use.
#define TMAPI_ROWS_CELLS_MOST 40000

// Words for the row starts of a table: one more than it has rows.
TMAP_FN tmap_u32 tmapi_rows_starts(tmap_nbb f, tmap_u32 m) { return tmapi_pow32(f.sy, m) + 1; }

// The highest level that two tables can hold. Example: gasket 16, carpet 10, Candy 8.
TMAP_FN tmap_u32 tmap_rows_level_max(tmap_nbb f) {
    tmap_u32 m = tmap_nbb_tile_level(f, TMAP_LEVEL_MAX, 256); // columns fit a byte
    const tmap_u32 linear = tmap_nbb_linear_level_max32(f);
    while (tmap_nbb_cells(f, m) > TMAPI_ROWS_CELLS_MOST) --m;
    return 2 * m < linear ? 2 * m : linear;
}

// Bytes of shared memory for the rows of fractal f of level r, a multiple of 4 below 48 KB; 0 if r
// is above tmap_rows_level_max. Example: gasket, r = 10: 572.
TMAP_FN tmap_u32 tmap_rows_bytes(tmap_nbb f, tmap_u32 r) {
    tmap_u32 low = r - r / 2, high = r / 2, words, bytes;
    if (r > tmap_rows_level_max(f)) return 0;
    words = TMAP_ROWS_WORDS + tmapi_rows_starts(f, low);
    bytes = tmapi_pow32(f.k, low);
    if (high != low) words += tmapi_rows_starts(f, high), bytes += tmapi_pow32(f.k, high);
    return 4 * words + (bytes + 3) / 4 * 4;
}

// The number of cells of the fractal of level m above row y. y >= sy^m counts as sy^m.
TMAP_FN tmap_u32 tmapi_rows_above(tmap_nbb f, tmap_u32 m, tmap_u32 y, const tmap_u32 *rows) {
    tmap_u32 side = tmapi_pow32(f.sy, m), cells = tmapi_pow32(f.k, m), copies = 1, above = 0;
    if (y >= side) return cells;
    TMAPI_NO_UNROLL
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

// The two tables, in shared memory.
typedef struct tmap_rows {
    tmap_u32 side_x, side_y, cells; // of the fractal of level `low`
    tmap_u32 height;                // of the fractal of level `high`
    const tmap_u32 *low, *high;     // where rows begin; one entry more than rows
    const unsigned char *x_low, *x_high;
} tmap_rows;

// A cell: its row, and its position in the row.
typedef struct tmap_row {
    tmap_u32 y, i;          // the row; the cell's number in it, counted from the left
    tmap_u32 cells;         // in the row: those of row y_high times those of row y_low
    tmap_u32 y_low, y_high; // y = y_high * side_y + y_low
    tmap_u32 low, high;     // where these rows begin in the tables
    tmap_u32 n_low, magic;  // cells in row y_low; for divisions by n_low
} tmap_row;

// The last of `n` rows that begins at or before cell i; starts[0] == 0.
TMAP_FN tmap_u32 tmapi_rows_search(const tmap_u32 *starts, tmap_u32 n, tmap_u32 i) {
    tmap_u32 y = 0, end = n; // starts[y] <= i, and i < starts[end] or end == n
    TMAPI_NO_UNROLL
    while (end - y > 1) {
        tmap_u32 middle = (y + end) / 2;
        if (starts[middle] <= i)
            y = middle;
        else
            end = middle;
    }
    return y;
}

// Sets what follows from y_low and y_high.
TMAP_FN void tmapi_rows_enter(const tmap_rows *rows, tmap_row *row) {
    row->y = row->y_high * rows->side_y + row->y_low;
    row->low = rows->low[row->y_low], row->high = rows->high[row->y_high];
    row->n_low = rows->low[row->y_low + 1] - row->low;
    row->cells = row->n_low * (rows->high[row->y_high + 1] - row->high);
    row->magic = 0xffffffffu / (row->n_low ? row->n_low : 1);
}

// Finds cell i of the fractal, counted row by row; i < k^r, larger ones give the last row.
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

// Moves *row on by `count` cells. Past the last cell *row means nothing, but remains inside the
// tables. Cost: a comparison, and a few reads and a division for each row that it leaves.
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

// The column of the cell `right` cells to the right of *row, in the same row:
// row->i + right < row->cells. Cost: a product for the quotient, two reads of bytes. The
// quotient is exact: (i + 1) * magic / 2^32 is less than 2^-15 below (i + 1) / n_low, for
// i < 2^16 and n_low <= 256.
TMAP_FN tmap_u32 tmap_rows_x(const tmap_rows *rows, const tmap_row *row, tmap_u32 right) {
    tmap_u32 i = row->i + right, q = (tmap_u32)((tmap_u64)(i + 1) * row->magic >> 32);
    return rows->x_high[row->high + q] * rows->side_x +
           rows->x_low[row->low + (i - q * row->n_low)];
}

#if TMAP_CUDA

// Fills a table of level m, whose rows begin at `starts`, with the column of each cell.
TMAP_DEVICE void tmapi_rows_cells_make(tmap_nbb f, tmap_u32 m, const tmap_u32 *replicas,
                                       tmap_u32 rank, tmap_u32 threads, const tmap_u32 *starts,
                                       unsigned char *x) {
    // i / k = i by_k / 2^32, rounded down, as i is below 2^16; k = 1 has cell 0 alone.
    const tmap_u32 by_k = f.k > 1 ? 0xffffffffu / f.k + 1 : 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 cell = rank; cell < tmapi_pow32(f.k, m); cell += threads) {
        tmap_u32 i = cell, cx = 0, cy = 0, side_x = 1, side_y = 1, place = 0, copies = 1;
        TMAPI_NO_UNROLL
        for (tmap_u32 mu = 0; mu < m; ++mu) {
            tmap_u32 rest = (tmap_u32)((tmap_u64)i * by_k >> 32), beta = i - rest * f.k;
            tmap_u32 strip = replicas[16 + beta], first = replicas[32 + strip];
            i = rest;
            cx += replicas[beta] * side_x, side_x *= f.sx;
            cy += strip * side_y, side_y *= f.sy;
            place += (beta - first) * copies; // among the cells of its row
            copies *= replicas[33 + strip] - first;
        }
        x[starts[cy] + place] = (unsigned char)cx;
    }
}

// Fills the tables of the levels `low` and `high`, which is `low` or one less, in shared memory.
TMAPI_DEVICE_CALL void tmapi_rows_tables(tmap_nbb f, tmap_u32 low, tmap_u32 high,
                                         tmap_u32 *shared) {
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    tmap_u32 *starts = shared + TMAP_ROWS_WORDS;
    unsigned char *x = (unsigned char *)(starts + tmapi_rows_starts(f, low) +
                                         (high == low ? 0 : tmapi_rows_starts(f, high)));
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < TMAP_ROWS_WORDS; i += threads) tmapi_rows_fill(f, i, shared);
    TMAPI_NO_UNROLL
    for (tmap_u32 m = low;; m = high) {
        __syncthreads();
        TMAPI_NO_UNROLL
        for (tmap_u32 y = rank; y < tmapi_rows_starts(f, m); y += threads)
            starts[y] = tmapi_rows_above(f, m, y, shared);
        __syncthreads();
        tmapi_rows_cells_make(f, m, shared, rank, threads, starts, x);
        if (m == high) break;
        starts += tmapi_rows_starts(f, m), x += tmapi_pow32(f.k, m);
    }
    __syncthreads();
}

// Makes the tables of fractal f of level r <= tmap_rows_level_max(f) in `shared`,
// tmap_rows_bytes(f, r) bytes of shared memory, which the block may reuse after a __syncthreads()
// that follows its last use of the tables. Collective for the block, with barriers. Cost: a
// few dozen instructions for each of k^ceil(r/2) cells, divided among the block's threads; so use
// few, large blocks.
TMAP_DEVICE tmap_rows tmap_rows_make(tmap_nbb f, tmap_u32 r, tmap_u32 *shared) {
    const tmap_u32 low = r - r / 2, high = r / 2;
    tmap_rows rows;
    tmapi_rows_tables(f, low, high, shared);
    rows.low = shared + TMAP_ROWS_WORDS;
    rows.high = high == low ? rows.low : rows.low + tmapi_rows_starts(f, low);
    rows.x_low = (const unsigned char *)(rows.high + tmapi_rows_starts(f, high));
    rows.x_high = high == low ? rows.x_low : rows.x_low + tmapi_pow32(f.k, low);
    rows.side_x = tmapi_pow32(f.sx, low), rows.side_y = tmapi_pow32(f.sy, low);
    rows.cells = tmapi_pow32(f.k, low), rows.height = tmapi_pow32(f.sy, high);
    return rows;
}

#endif // TMAP_CUDA

#endif
