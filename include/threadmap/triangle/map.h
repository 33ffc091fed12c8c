// SPDX-License-Identifier: MIT
// triangle/map.h: the map g(lambda) of triangular domains, exact for every lambda, and its inverse.
//
// The cells (i, j) of a triangle are numbered row by row: 0 -> (0,0), 1 -> (1,0), 2 -> (1,1), ...
// where j <= i; or, without the diagonal ("strict"), 0 -> (1,0), 1 -> (2,0), 2 -> (2,1), ... where
// j < i. A grid of n(n+1)/2 blocks or threads then covers n rows, and none is launched for nothing.
//
// Source: Navarro, Hitschfeld, "Improving the GPU space of computation under triangular domain
// problems" (2014), equations 9 and 10. In equation 10 the printed column is that of the map with
// the diagonal; j = lambda - i(i-1)/2 is meant (docs/errata.md). The paper's own ways to the root,
// which are exact for the first few thousand rows, are in rivals/triangle_roots.h. Here a root of
// any rounding is followed by one integer step, which makes the result right and the same on every
// machine:
//
//   floor(sqrt(2 lambda)) is i or i + 1, because i + 0.4 < sqrt(2 lambda) < i + 1.5 from row 1 on,
//   and an error of the root below 0.4 leaves it so. Which of the two it is shows in the sign of
//   the remainder 2 lambda - i(i+1), which is small and so can be computed modulo 2^32.
//
// Every function is total; those of this file are right for every argument of their type unless
// they say otherwise. size.h has counts and tiles, condensed.h the upper triangle.
#ifndef TMAP_TRIANGLE_MAP_H
#define TMAP_TRIANGLE_MAP_H

#include "root.h"

// A cell of a triangle: row i, column j.
typedef struct tmap_pair {
    tmap_u32 i, j;
} tmap_pair;

// The same with 64-bit coordinates.
typedef struct tmap_pair64 {
    tmap_u64 i, j;
} tmap_pair64;

// ---- from numbers to cells ----------------------------------------------------------------------

// g(lambda), equation 9: cell (i, j), j <= i, of number lambda.
// lambda: any; rows up to 92681. Laws: a bijection onto the cells;
// tmap_triangle_index(map(lambda)) == lambda; i(i+1)/2 <= lambda < (i+1)(i+2)/2.
// Cost: 10 instructions on sm_90, one of them a square root, no branch; as many as LTM-R, which is
// wrong from row 2055 on. Exact for all 2^32 lambdas, each of which was tried on an H200.
// Example: 0..5 -> (0,0)(1,0)(1,1)(2,0)(2,1)(2,2); 4294967295 -> (92681,37074).
TMAP_FN tmap_pair tmap_triangle_map(tmap_u32 lambda) {
    tmap_pair p;
    tmap_u32 i = (tmap_u32)tmapi_sqrt(2.0f * (float)lambda);
    int twice_j = (int)(2 * lambda - i * (i + 1)), j = twice_j >> 1;
    if (twice_j < 0) j += (int)i, --i; // one row too far
    p.i = i;
    p.j = (tmap_u32)j;
    return p;
}

// g(lambda) without the diagonal, equation 10: cell (i, j), j < i. As above; rows 1 to 92682.
// Law: tmap_triangle_index_strict(map_strict(lambda)) == lambda.
// Example: 0..5 -> (1,0)(2,0)(2,1)(3,0)(3,1)(3,2).
TMAP_FN tmap_pair tmap_triangle_map_strict(tmap_u32 lambda) {
    tmap_pair p = tmap_triangle_map(lambda);
    ++p.i;
    return p;
}

// g(lambda) in 64 bits. lambda: any; rows up to 6074000999 (below 2^32 for lambda < 2^63).
// Laws: as of tmap_triangle_map, to which it is equal where both apply.
// Cost: 38 instructions on sm_90, one of them an rsqrt; no branch, no double precision. The root of
// single precision is carried to full width by one Newton step on the exact remainder. It is kept
// low by 2^-20, more than its error, so that the step goes upwards; the step errs by less than 1/4,
// and rounding it gives i or i + 1. Exact for all lambdas; tried on an H200: both ends of all
// 6074001000 rows, and 7 * 10^9 random numbers of 32 to 64 bits.
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
    p.i = i;
    p.j = (tmap_u64)j;
    return p;
}

// The same without the diagonal. Rows 1 to 6074001000. Example: 2^63 - 1 -> (4294967296,
// 2147483647).
TMAP_FN tmap_pair64 tmap_triangle_map_strict64(tmap_u64 lambda) {
    tmap_pair64 p = tmap_triangle_map64(lambda);
    ++p.i;
    return p;
}

// ---- from cells to numbers ----------------------------------------------------------------------

// n(n+1)/2 modulo 2^64; the number itself for n <= 6074000999. One of n and n + 1 is halved first.
TMAP_FN tmap_u64 tmapi_triangle(tmap_u64 n) { return (n | 1) * ((n >> 1) + (n & 1)); }

// The same modulo 2^32; the number itself for n <= 92681.
TMAP_FN tmap_u32 tmapi_triangle32(tmap_u32 n) { return (n | 1) * ((n >> 1) + (n & 1)); }

// The number of cell (i, j), j <= i: the inverse of map and of map64 below row 2^32.
// A j > i counts on into the next rows. Example: (2,1) -> 4; (4294967295,0) -> 2^63 - 2^31.
TMAP_FN tmap_u64 tmap_triangle_index(tmap_u32 i, tmap_u32 j) { return tmapi_triangle(i) + j; }

// The number of cell (i, j), j < i. i = 0, a row without a cell, counts as row 1 does, from 0.
// Example: (3,1) -> 4.
TMAP_FN tmap_u64 tmap_triangle_index_strict(tmap_u32 i, tmap_u32 j) {
    return tmapi_triangle(i ? i - 1 : 0) + j;
}

// The same for 64-bit coordinates: the inverse of map64. i <= 6074000999; beyond, modulo 2^64.
TMAP_FN tmap_u64 tmap_triangle_index64(tmap_u64 i, tmap_u64 j) { return tmapi_triangle(i) + j; }

// The inverse of map_strict64. i <= 6074001000; beyond, modulo 2^64.
TMAP_FN tmap_u64 tmap_triangle_index_strict64(tmap_u64 i, tmap_u64 j) {
    return tmapi_triangle(i ? i - 1 : 0) + j;
}

#endif
