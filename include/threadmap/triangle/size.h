// SPDX-License-Identifier: MIT
// triangle/size.h: how large triangles and their launches are: cells, the most rows that fit, and
// tiles with the ragged ones at the edge.
//
// Counts are 64-bit; one that does not fit saturates at 2^64 - 1 and never wraps.
#ifndef TMAP_TRIANGLE_SIZE_H
#define TMAP_TRIANGLE_SIZE_H

#include "map.h"

// The most rows whose cells, with the diagonal, can be counted in 32 and in 64 bits. Without the
// diagonal it is one row more.
#define TMAP_TRIANGLE_ROWS_MAX32 92681u
#define TMAP_TRIANGLE_ROWS_MAX64 6074000999ull

// The cells of n rows with the diagonal, n(n+1)/2. Any n. Example: 46341 -> 1073767311.
TMAP_FN tmap_u64 tmap_triangle_cells(tmap_u64 n) {
    return n > TMAP_TRIANGLE_ROWS_MAX64 ? ~0ull : tmapi_triangle(n);
}

// The cells of n rows without the diagonal, n(n-1)/2. Any n. Example: 0 -> 0, 1 -> 0, 65537 ->
// 2147516416.
TMAP_FN tmap_u64 tmap_triangle_cells_strict(tmap_u64 n) {
    return n ? tmap_triangle_cells(n - 1) : 0;
}

// ---- tiles --------------------------------------------------------------------------------------
//
// A triangle of n rows, cut into squares of side rho, is a triangle of tiles, the diagonal always
// included, and one block takes one tile: section III of the paper. Tiles of the last row have
// n mod rho rows if rho does not divide n; those of the diagonal are triangles themselves.

// Rows of tiles, ceil(n / rho). rho = 0 counts as 1. Example: n = 100, rho = 16: 7.
TMAP_FN tmap_u32 tmap_triangle_tile_rows(tmap_u32 n, tmap_u32 rho) {
    if (rho < 2) return n;
    return n / rho + (n % rho != 0);
}

// The number of tiles, which is that of blocks to launch. Example: n = 100, rho = 16: 28.
TMAP_FN tmap_u64 tmap_triangle_tiles(tmap_u32 n, tmap_u32 rho) {
    return tmap_triangle_cells(tmap_triangle_tile_rows(n, rho));
}

// A tile: cells (i + y, j + x) for y < rows, x < columns, and on the diagonal x <= y (x < y for a
// strict triangle).
typedef struct tmap_triangle_tile {
    tmap_u32 i, j;          // of its first row and column
    tmap_u32 rows, columns; // rho, or fewer at the edge; 0 rows for a tile outside
    int diagonal;           // 1 for a tile on the diagonal, i == j
} tmap_triangle_tile;

TMAP_FN tmap_triangle_tile tmapi_triangle_tile(tmap_u64 row, tmap_u64 column, tmap_u32 n,
                                               tmap_u32 rho) {
    tmap_triangle_tile t;
    tmap_u64 i, left;
    if (rho < 1) rho = 1;
    i = row * rho;
    left = row >> 32 == 0 && i < n ? n - i : 0; // row * rho has not wrapped
    t.i = (tmap_u32)i;
    t.j = (tmap_u32)(column * rho);
    t.rows = left < rho ? (tmap_u32)left : rho;
    t.diagonal = row == column;
    t.columns = t.diagonal ? t.rows : rho;
    return t;
}

// Tile number `lambda` of a triangle of n rows. lambda < tmap_triangle_tiles(n, rho); a tile
// outside has no rows. Laws: over all lambdas every cell is in one tile; lambda counts tiles as
// tmap_triangle_map counts cells. Cost: that map and a dozen instructions.
// Example: n = 100, rho = 16, lambda = 21..27: i = 96, j = 0, 16, ..., 96, 4 rows each; the last is
// on the diagonal and has 4 columns.
TMAP_FN tmap_triangle_tile tmap_triangle_tile_map(tmap_u32 lambda, tmap_u32 n, tmap_u32 rho) {
    tmap_pair p = tmap_triangle_map(lambda);
    return tmapi_triangle_tile(p.i, p.j, n, rho);
}

// The same for a 64-bit number, for triangles of more than 92681 rows of tiles.
TMAP_FN tmap_triangle_tile tmap_triangle_tile_map64(tmap_u64 lambda, tmap_u32 n, tmap_u32 rho) {
    tmap_pair64 p = tmap_triangle_map64(lambda);
    return tmapi_triangle_tile(p.i, p.j, n, rho);
}

// 1 if thread (x, y) of a tile has a cell, (t.i + y, t.j + x), in the triangle with the diagonal.
TMAP_FN int tmap_triangle_tile_contains(tmap_triangle_tile t, tmap_u32 x, tmap_u32 y) {
    return y < t.rows && x < t.columns && (!t.diagonal || x <= y);
}

// The same for the triangle without the diagonal.
TMAP_FN int tmap_triangle_tile_contains_strict(tmap_triangle_tile t, tmap_u32 x, tmap_u32 y) {
    return y < t.rows && x < t.columns && (!t.diagonal || x < y);
}

// The cells in a tile, with the diagonal. Example: a whole tile of side 16: 256; on the diagonal
// 136.
TMAP_FN tmap_u64 tmap_triangle_tile_cells(tmap_triangle_tile t) {
    return t.diagonal ? tmap_triangle_cells(t.rows) : (tmap_u64)t.rows * t.columns;
}

// The same without the diagonal. Example: a tile of side 16 on the diagonal: 120.
TMAP_FN tmap_u64 tmap_triangle_tile_cells_strict(tmap_triangle_tile t) {
    return t.diagonal ? tmap_triangle_cells_strict(t.rows) : (tmap_u64)t.rows * t.columns;
}

#endif
