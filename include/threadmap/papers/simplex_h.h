// SPDX-License-Identifier: MIT
// simplex_h.h: map H of 2-simplices and 3-simplices, by operations on bits instead of roots, for
// tiles: n is the side of the simplex in tiles.
//
// In two dimensions squares of side b = 1, 2, 4, ... and the diagonal make a triangle of 2^k rows.
// Row y of the grid has all squares of side b = 2^floor(log2(y + 1)) side by side:
//
//     n = 4, 2 x 5: the cell (i, j) of (x, y)     n = 3, 1 x 5: columns 0 and 1
//         y = 0   (0,0) (2,2)                         y = 0   (0,0)
//         y = 1   (1,0) (1,1)                         y = 1   (1,0)
//         y = 2   (2,0) (2,1)                         y = 2   (2,0)
//         y = 3   (3,0) (3,1)                         y = 3   (1,1)
//         y = 4   (3,2) (3,3)                         y = 4   (2,1); then (2,2)
//
// In three dimensions the simplex X + Y + Z < n is a cube of side n/2 at the origin and three
// simplices of half the side. What the cube has beyond the simplex is the size of the one above it,
// and is turned onto it; the other two are cut again. So a level has cubes of one side, above each
// other's squares. Here (i, j, k) = (X + Y + Z, X + Y, X), k <= j <= i < n.
//
// Source: Navarro, Hitschfeld and others, "A scalable and energy efficient GPU
// thread map for m-simplex domains", FGCS (2023), arXiv 2208.11617, which needs n = 2^k. Its
// authors (github.com/crinavar/gpumaps, commit 6d956be) launch a trapezoid for each bit of another
// n in two dimensions, and the diagonal of three dimensions apart; here it is in the same grid.
#ifndef TMAP_PAPERS_SIMPLEX_H_H
#define TMAP_PAPERS_SIMPLEX_H_H

#include "../triangle/simplex.h"

// The largest power of two <= t; 1 for t = 0.
TMAP_FN tmap_u32 tmapi_simplex_power(tmap_u32 t) {
    t |= 1;
#if defined(__CUDA_ARCH__) && !defined(__clang__) // whose headers declare it later
    return 0x80000000u >> __clz((int)t);
#else
    for (int step = 1; step < 32; step *= 2) t |= t >> step;
    return t ^ t >> 1;
#endif
}

// ---- two dimensions -----------------------------------------------------------------------------

// The first columns of a triangle of n rows that one launch covers: b, the largest power of two <=
// n. The rest is a triangle of n - b rows, whose first cell is (b, b). Example: 30: 16, 8, 4, 2.
TMAP_FN tmap_u32 tmap_simplex_h2_columns(tmap_u32 n) { return n ? tmapi_simplex_power(n) : 0; }

// Their grid: b/2 wide and 2n - b + 1 high, without idle tiles; 1 x 1 for n = 1. n <= 2^31.
// Example: 4: 2 x 5; 3: 1 x 5.
TMAP_FN tmap_xy tmap_simplex_h2_grid(tmap_u32 n) {
    const tmap_u32 b = tmap_simplex_h2_columns(n);
    tmap_xy grid;
    grid.x = b > 1 ? b / 2 : b;
    grid.y = b > 1 ? 2 * n - b + 1 : b;
    return grid;
}

// The cell (i, j), j <= i < n, j < b, of (x, y) inside that grid; outside some pair.
// Law: a bijection. Cost: 21 instructions on sm_90, two of them counts of leading zeros.
TMAP_FN tmap_pair tmap_simplex_h2_map(tmap_u32 x, tmap_u32 y, tmap_u32 n) {
    const tmap_u32 columns = tmap_simplex_h2_columns(n), b = tmapi_simplex_power(y + 1);
    const tmap_u32 left = x & ~(b - 1); // of its square, among squares without gaps
    tmap_pair p;
    p.i = y + 2 * left, p.j = x + left;
    if (y >= n) p.i = y - n + columns - 1, p.j = x + columns / 2; // the right half of long rows
    return p;
}

// ---- three dimensions ---------------------------------------------------------------------------

// Half of the side of the simplex that is cut: half of the least power of two >= n, at least 1.
// The grid is h x h x tmap_simplex_h3_planes(n). n <= 2^31. Example: 1, 2: 1; 4: 2; 5: 4.
TMAP_FN tmap_u32 tmap_simplex_h3_half(tmap_u32 n) { return n > 2 ? tmapi_simplex_power(n - 1) : 1; }

// Planes of the grid: 3h/2, rounded down, and 3 more for layer 2h - 1 if n has it. For n = 2^k the
// grid has 9/8 of the tiles of the simplex and 3n^2/4 more; for other n up to 8 times as many.
// Example: 4: 6; 5: 6; 8: 9.
TMAP_FN tmap_u32 tmap_simplex_h3_planes(tmap_u32 n) {
    const tmap_u32 h = tmap_simplex_h3_half(n);
    return h + h / 2 + (n == 2 * h ? 3 : 0);
}

// 1 and the triple (i, j, k), k <= j <= i < n, of (x, y, z) inside that grid, or 0 if it has none.
// Law: a bijection onto the triples. Cost: 30 to 60 instructions on sm_90, two of them counts of
// leading zeros.
TMAP_FN int tmap_simplex_h3_map(tmap_xy at, tmap_u32 z, tmap_u32 n, tmap_triple *t) {
    const tmap_u32 h = tmap_simplex_h3_half(n), top = h + h / 2;
    tmap_u32 x = at.x, y = at.y, b = h, x0 = 0, y0 = 0; // a cube: its side, its corner
    if (z >= top) {                                     // the last layer, a triangle
        const tmap_u32 row = (z - top) * h + y;
        const tmap_pair p = tmap_simplex_h2_map(x, row, 2 * h);
        t->i = 2 * h - 1, t->j = p.i, t->k = p.j;
        return n == 2 * h && row <= 2 * h;
    }
    if (z >= h) {
        z -= h, b = tmapi_simplex_power(y);
        if (y == 0 || z >= b) return 0;
        x0 = 2 * (x & ~(b - 1)), y0 = 2 * h - 2 * b - x0;
        x &= b - 1, y -= b;
    }
    if (x + y + z >= 2 * b - 1) x = b - 1 - x, y = b - 1 - y, z = 2 * b - 1 - z;
    t->k = x0 + x, t->j = t->k + y0 + y, t->i = t->j + z;
    return t->i < n;
}

#endif
