// SPDX-License-Identifier: MIT
// map.h: the map g(lambda) of triangular domains (LTM in the paper), exact for every lambda, and
// its inverse.
//
//     tmap_pair p = tmap_triangle_map(lambda);       // pair (i, j), j <= i
//     tmap_pair q = tmap_triangle_map_strict(lambda); // pair (i, j), j < i
//
// The cells (i, j) of a triangle are numbered row by row: 0 -> (0,0), 1 -> (1,0), 2 -> (1,1), ...
// for j <= i; or, without the diagonal ("strict"), 0 -> (1,0), 1 -> (2,0), 2 -> (2,1), ... for j <
// i. A grid of n(n+1)/2 blocks or threads covers n rows and has no unused one.
//
// Source: Navarro, Hitschfeld, "Improving the GPU space of computation under triangular domain
// problems" (2013), equations 9 and 10. Equation 10 is printed with the column of the map with the
// diagonal; the right one is j = lambda - i(i-1)/2 (docs/errata.md).
//
// The paper's roots (papers/triangle_maps.h) are exact for the first few thousand rows. Here one
// integer step corrects an approximate root: floor(sqrt(2 lambda)) is i or i + 1, because i + 0.4 <
// sqrt(2 lambda) < i + 1.5 from row 1 on, and remains so if the error of the root is below 0.4. The
// sign of the remainder 2 lambda - i(i+1) tells which; it is small, and correct modulo 2^32.
//
// Every function returns a value for all arguments, the right one unless its comment gives a range.
#ifndef TMAP_TRIANGLE_MAP_H
#define TMAP_TRIANGLE_MAP_H

#include "../core.h"

// A cell of a triangle: row i, column j.
typedef struct tmap_pair {
    tmap_u32 i, j;
} tmap_pair;

// A cell with 64-bit coordinates.
typedef struct tmap_pair64 {
    tmap_u64 i, j;
} tmap_pair64;

// ---- approximate roots and quotients ------------------------------------------------------------
//
// In PTX, because the C names need CUDA's headers and test for subnormal numbers. On the CPU
// roots are Newton iterations, without the C library. Relative errors are below 2^-21.

typedef union tmapi_float {
    float value;
    tmap_u32 bits;
} tmapi_float;

// 1 / sqrt(x) by three Newton iterations from the start 0x5f3759df. x: 0 or a normal number; for 0
// some finite number.
TMAP_FN float tmapi_rsqrt_newton(float x) {
    tmapi_float y;
    y.value = x;
    y.bits = 0x5f3759dfu - (y.bits >> 1);
    for (int step = 0; step < 3; ++step) y.value *= 1.5f - 0.5f * x * y.value * y.value;
    return y.value;
}

// 1 / sqrt(x). x: a normal number.
TMAP_FN float tmapi_rsqrt(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return tmapi_rsqrt_newton(x);
#endif
}

// sqrt(x). x: 0 or a normal number.
TMAP_FN float tmapi_sqrt(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    // For 0 the iterations would square a number near 2^64, which -ffast-math turns into infinity.
    return x * tmapi_rsqrt_newton(x == 0.0f ? 1.0f : x);
#endif
}

// 1 / x. x: a normal number. Relative error below 2^-22.
TMAP_FN float tmapi_reciprocal(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

// ---- from numbers to cells ----------------------------------------------------------------------

// g(lambda), equation 9: the cell (i, j), j <= i, with number lambda. Range: any lambda; rows up to
// 92681.
// Laws: a bijection onto the cells; tmap_triangle_index(i, j) == lambda for the cell (i, j) of
// lambda; i(i+1)/2 <= lambda < (i+1)(i+2)/2.
// Cost: 10 instructions on sm_90, no branch; the same number as LTM-R, which is wrong from row 2055
// on. Exact for all 2^32 lambdas, each tested on an H200.
// Example: 0..5 -> (0,0)(1,0)(1,1)(2,0)(2,1)(2,2); 4294967295 -> (92681,37074).
TMAP_FN tmap_pair tmap_triangle_map(tmap_u32 lambda) {
    tmap_u32 i = (tmap_u32)tmapi_sqrt(2.0f * (float)lambda);
    int twice_j = (int)(2 * lambda - i * (i + 1)), j = twice_j >> 1;
    tmap_pair p;
    if (twice_j < 0) j += (int)i, --i; // one row too far
    p.i = i, p.j = (tmap_u32)j;
    return p;
}

// g(lambda) without the diagonal, equation 10: the cell (i, j), j < i, with number lambda. Range:
// any lambda; rows 1 to 92682. Law: tmap_triangle_index_strict(i, j) == lambda. Cost: as
// tmap_triangle_map, and an addition.
// Example: 0..5 -> (1,0)(2,0)(2,1)(3,0)(3,1)(3,2).
TMAP_FN tmap_pair tmap_triangle_map_strict(tmap_u32 lambda) {
    tmap_pair p = tmap_triangle_map(lambda);
    ++p.i;
    return p;
}

// g(lambda) in 64 bits. Range: any lambda; rows up to 6074000999 (below 2^32 for lambda < 2^63).
// Cost: 38 instructions on sm_90; no branch, no double precision. One Newton step on the exact
// remainder extends a single-precision root, reduced by 2^-20, to full width; its error is below
// 1/4, and rounding it gives i or i + 1. Exact for all lambdas; tested on an H200: both ends of all
// rows, and 7 * 10^9 random numbers of 32 to 64 bits.
// Example: 2^63 - 1 -> (4294967295, 2147483647).
TMAP_FN tmap_pair64 tmap_triangle_map64(tmap_u64 lambda) {
    tmap_pair64 p;
    float x = 1.9999962f * (float)lambda + 0.25f, r = tmapi_rsqrt(x);
    tmap_u64 i = (tmap_u64)(x * r);
    tmap_i64 twice_j = (tmap_i64)(2 * lambda - i * (i + 1)), j;
    i += (tmap_u32)((float)twice_j * (0.5f * r) + 0.5f);
    twice_j = (tmap_i64)(2 * lambda - i * (i + 1));
    j = twice_j >> 1;
    if (twice_j < 0) j += (tmap_i64)i, --i;
    p.i = i, p.j = (tmap_u64)j;
    return p;
}

// g(lambda) without the diagonal in 64 bits. Range: any lambda; rows 1 to 6074001000.
// Example: 2^63 - 1 -> (4294967296, 2147483647).
TMAP_FN tmap_pair64 tmap_triangle_map_strict64(tmap_u64 lambda) {
    tmap_pair64 p = tmap_triangle_map64(lambda);
    ++p.i;
    return p;
}

// ---- from cells to numbers ----------------------------------------------------------------------

// n(n+1)/2 modulo 2^64; exact for n <= 6074000999. One of n and n + 1 is halved first.
TMAP_FN tmap_u64 tmapi_triangle(tmap_u64 n) { return (n | 1) * ((n >> 1) + (n & 1)); }

// n(n+1)/2 modulo 2^32; exact for n <= 92681.
TMAP_FN tmap_u32 tmapi_triangle32(tmap_u32 n) { return (n | 1) * ((n >> 1) + (n & 1)); }

// Number of cell (i, j), j <= i: the inverse of map and map64. Range: i <= 6074000999; above,
// modulo 2^64. j > i continues into the next rows. Example: (2,1) -> 4;
// (4294967295,0) -> 2^63 - 2^31.
TMAP_FN tmap_u64 tmap_triangle_index(tmap_u64 i, tmap_u64 j) { return tmapi_triangle(i) + j; }

// Number of cell (i, j), j < i: the inverse of map_strict and map_strict64. Range: i <= 6074001000;
// above, modulo 2^64. i = 0, a row without cells, gives the result of row 1. Example: (3,1) -> 4.
TMAP_FN tmap_u64 tmap_triangle_index_strict(tmap_u64 i, tmap_u64 j) {
    return tmapi_triangle(i ? i - 1 : 0) + j;
}

// ---- size ---------------------------------------------------------------------------------------

// The most rows whose cells can be counted in 32 and in 64 bits; one more without the diagonal.
#define TMAP_TRIANGLE_ROWS_MAX32 92681u
#define TMAP_TRIANGLE_ROWS_MAX64 6074000999ull

// Number of cells of n rows with the diagonal, n(n+1)/2; saturates at 2^64 - 1, as all counts do.
// Example: 46341 -> 1073767311.
TMAP_FN tmap_u64 tmap_triangle_cells(tmap_u64 n) {
    return n > TMAP_TRIANGLE_ROWS_MAX64 ? ~0ull : tmapi_triangle(n);
}

// Number of cells of n rows without the diagonal, n(n-1)/2; saturates. Example: 0 -> 0, 1 -> 0,
// 65537 -> 2147516416.
TMAP_FN tmap_u64 tmap_triangle_cells_strict(tmap_u64 n) {
    return n ? tmap_triangle_cells(n - 1) : 0;
}

// ---- tiles --------------------------------------------------------------------------------------
//
// Section III of the paper: a triangle of n rows, cut into squares of side rho, is a triangle of
// tiles with its diagonal, and a block takes a tile. Tiles of the last row have n mod rho rows if
// rho does not divide n; tiles on the diagonal are triangles.

// Number of rows of tiles, ceil(n / rho). rho = 0 counts as 1. Example: n = 100, rho = 16: 7.
TMAP_FN tmap_u32 tmap_triangle_tile_rows(tmap_u32 n, tmap_u32 rho) {
    return rho < 2 ? n : n / rho + (n % rho != 0);
}

// Number of tiles: the blocks to launch. Example: n = 100, rho = 16: 28.
TMAP_FN tmap_u64 tmap_triangle_tiles(tmap_u32 n, tmap_u32 rho) {
    return tmap_triangle_cells(tmap_triangle_tile_rows(n, rho));
}

// A tile: cells (i + y, j + x) for y < rows, x < columns, and on the diagonal x <= y (x < y for a
// strict triangle).
typedef struct tmap_triangle_tile {
    tmap_u32 i, j;          // the first row and column
    tmap_u32 rows, columns; // rho, or fewer at the edge; rows is 0 for a tile outside
    int diagonal;           // 1 for a tile on the diagonal, i == j
} tmap_triangle_tile;

TMAP_FN tmap_triangle_tile tmapi_triangle_tile(tmap_u64 row, tmap_u64 column, tmap_u32 n,
                                               tmap_u32 rho) {
    const tmap_u64 side = rho ? rho : 1, i = row * side;
    const tmap_u64 left = row >> 32 == 0 && i < n ? n - i : 0; // row * side has not wrapped
    tmap_triangle_tile t;
    t.i = (tmap_u32)i, t.j = (tmap_u32)(column * side);
    t.rows = (tmap_u32)(left < side ? left : side);
    t.diagonal = row == column;
    t.columns = t.diagonal ? t.rows : (tmap_u32)side;
    return t;
}

// Tile number `lambda` of a triangle of n rows. Range: lambda < tmap_triangle_tiles(n, rho); a tile
// outside has 0 rows. Laws: every cell is in exactly one tile; tiles are numbered as
// tmap_triangle_map numbers cells. Cost: that map and about 12 instructions.
// Example: n = 100, rho = 16, lambda = 21..27: i = 96, j = 0, 16, ..., 96, 4 rows each; the last is
// on the diagonal and has 4 columns.
TMAP_FN tmap_triangle_tile tmap_triangle_tile_map(tmap_u32 lambda, tmap_u32 n, tmap_u32 rho) {
    const tmap_pair p = tmap_triangle_map(lambda);
    return tmapi_triangle_tile(p.i, p.j, n, rho);
}

// tmap_triangle_tile_map for a 64-bit number: triangles of more than 92681 rows of tiles.
TMAP_FN tmap_triangle_tile tmap_triangle_tile_map64(tmap_u64 lambda, tmap_u32 n, tmap_u32 rho) {
    const tmap_pair64 p = tmap_triangle_map64(lambda);
    return tmapi_triangle_tile(p.i, p.j, n, rho);
}

// 1 if thread (x, y) of a tile has a cell, (t.i + y, t.j + x), in the triangle with the diagonal.
TMAP_FN int tmap_triangle_tile_contains(tmap_triangle_tile t, tmap_u32 x, tmap_u32 y) {
    return y < t.rows && x < t.columns && (!t.diagonal || x <= y);
}

// 1 if thread (x, y) of a tile has a cell in the triangle without the diagonal.
TMAP_FN int tmap_triangle_tile_contains_strict(tmap_triangle_tile t, tmap_u32 x, tmap_u32 y) {
    return y < t.rows && x < t.columns && (!t.diagonal || x < y);
}

// Number of cells in a tile, with the diagonal. Example: side 16: 256; on the diagonal 136.
TMAP_FN tmap_u64 tmap_triangle_tile_cells(tmap_triangle_tile t) {
    return t.diagonal ? tmap_triangle_cells(t.rows) : (tmap_u64)t.rows * t.columns;
}

#endif
