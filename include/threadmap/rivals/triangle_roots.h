// SPDX-License-Identifier: MIT
// triangle_roots.h: the map g(lambda) of triangles in the three implementations of its paper,
// LTM-X, LTM-N and LTM-R, each with the range in which it is exact.
//
// They differ in the root alone: i = floor(sqrt(1/4 + 2 lambda) - 1/2 + epsilon), j = lambda -
// i(i+1)/2, and without the diagonal i = floor(sqrt(1/4 + 2 lambda) + 1/2 + epsilon), j = lambda -
// i(i-1)/2 (the printed column, lambda - i(i+1)/2, is a slip: docs/errata.md). For a map that is
// exact for every lambda, at no higher cost, use triangle/map.h.
//
// Source: Navarro, Hitschfeld, "Improving the GPU space of computation under triangular domain
// problems" (2014), equations 9, 10 and 16, section III.A. The paper finds LTM-N and LTM-R exact up
// to N = 30720 with blocks of 16 x 16, which are 1920 rows of blocks.
//
// TMAP_TRIANGLE_ROWS_*: a triangle of so many rows (of blocks, if the map is used for blocks) is
// mapped right; without the diagonal it is one row more. All 2^32 lambdas were tried on an H200:
//
//           right for  first wrong lambda  where that holds
//   LTM-X   4607 rows  10619135            on every machine: it rounds as IEEE 754 has it
//   LTM-N   1949 rows   1900275            where a product and a sum are fused into one rounding,
//                                          as by nvcc; else (-fmad=false) 1622 rows, 1316253
//   LTM-R   2055 rows   2112540            on the H200; another GPU's rsqrt may round otherwise
//
// On the host, where LTM-R has a correctly rounded rsqrt, it is right for at least as many rows.
//
// All functions are total: beyond the range they may return a neighbouring row, with a j that is
// outside it or negative (modulo 2^32); from row 65536 on, where i(i+1) leaves 32 bits, any j.
#ifndef TMAP_RIVALS_TRIANGLE_ROOTS_H
#define TMAP_RIVALS_TRIANGLE_ROOTS_H

#include "../triangle/map.h"

#define TMAP_TRIANGLE_ROWS_SQRT           4607u
#define TMAP_TRIANGLE_ROWS_NEWTON         1949u
#define TMAP_TRIANGLE_ROWS_NEWTON_UNFUSED 1622u
#define TMAP_TRIANGLE_ROWS_RSQRT          2055u

// What LTM-N and LTM-R add to the row before they round it down.
#define TMAP_TRIANGLE_EPSILON 1e-4f

// Cell (i, lambda - i(i+1)/2).
TMAP_FN tmap_pair tmapi_triangle_in_row(tmap_u32 lambda, tmap_u32 i) {
    tmap_pair p;
    p.i = i;
    p.j = lambda - i * (i + 1) / 2;
    return p;
}

// Cell (i, lambda - i(i-1)/2).
TMAP_FN tmap_pair tmapi_triangle_in_row_strict(tmap_u32 lambda, tmap_u32 i) {
    tmap_pair p;
    p.i = i;
    p.j = lambda - i * (i - 1) / 2;
    return p;
}

// LTM-X: the root as IEEE 754 rounds it, no epsilon. Cost: a root of some 10 instructions, with a
// branch. Exact for TMAP_TRIANGLE_ROWS_SQRT rows. Example: 0..5 -> (0,0)(1,0)(1,1)(2,0)(2,1)(2,2).
TMAP_FN tmap_pair tmap_triangle_map_sqrt(tmap_u32 lambda) {
    float x = 0.25f + 2.0f * (float)lambda;
    return tmapi_triangle_in_row(lambda, (tmap_u32)(tmapi_sqrt_nearest(x) - 0.5f));
}

// LTM-X without the diagonal. Exact for TMAP_TRIANGLE_ROWS_SQRT + 1 rows.
// Example: 0..5 -> (1,0)(2,0)(2,1)(3,0)(3,1)(3,2).
TMAP_FN tmap_pair tmap_triangle_map_strict_sqrt(tmap_u32 lambda) {
    float x = 0.25f + 2.0f * (float)lambda;
    return tmapi_triangle_in_row_strict(lambda, (tmap_u32)(tmapi_sqrt_nearest(x) + 0.5f));
}

// LTM-N: three Newton iterations from the start 0x5f3759df, and epsilon. Cost: 13 instructions for
// the root. Exact for TMAP_TRIANGLE_ROWS_NEWTON rows. Example: as LTM-X.
TMAP_FN tmap_pair tmap_triangle_map_newton(tmap_u32 lambda) {
    float x = 0.25f + 2.0f * (float)lambda;
    float root = x * tmapi_rsqrt_newton(x);
    return tmapi_triangle_in_row(lambda, (tmap_u32)(root - 0.5f + TMAP_TRIANGLE_EPSILON));
}

// LTM-N without the diagonal. Exact for TMAP_TRIANGLE_ROWS_NEWTON + 1 rows.
TMAP_FN tmap_pair tmap_triangle_map_strict_newton(tmap_u32 lambda) {
    float x = 0.25f + 2.0f * (float)lambda;
    float root = x * tmapi_rsqrt_newton(x);
    return tmapi_triangle_in_row_strict(lambda, (tmap_u32)(root + 0.5f + TMAP_TRIANGLE_EPSILON));
}

// LTM-R, equation 16: x * rsqrt(x) by the special-function unit, and epsilon. Cost: 2 instructions
// for the root. Exact for TMAP_TRIANGLE_ROWS_RSQRT rows. Example: as LTM-X.
TMAP_FN tmap_pair tmap_triangle_map_rsqrt(tmap_u32 lambda) {
    float x = 0.25f + 2.0f * (float)lambda;
    float root = x * tmapi_rsqrt_nearest(x);
    return tmapi_triangle_in_row(lambda, (tmap_u32)(root - 0.5f + TMAP_TRIANGLE_EPSILON));
}

// LTM-R without the diagonal. Exact for TMAP_TRIANGLE_ROWS_RSQRT + 1 rows.
TMAP_FN tmap_pair tmap_triangle_map_strict_rsqrt(tmap_u32 lambda) {
    float x = 0.25f + 2.0f * (float)lambda;
    float root = x * tmapi_rsqrt_nearest(x);
    return tmapi_triangle_in_row_strict(lambda, (tmap_u32)(root + 0.5f + TMAP_TRIANGLE_EPSILON));
}

#endif
