// SPDX-License-Identifier: MIT
// triangle_maps.h: the map g(lambda) as the paper computes it, LTM-X, LTM-N and LTM-R, and the maps
// that it is compared with: bounding box (BB), rectangular box (RB), recursive partition (REC) and
// upper-triangular mapping (UTM).
//
// Arithmetic only, without tables. Each is a map of blocks or of threads, depending on what x, y, q
// and N count; N is then the side of the triangle in blocks or in threads. Cells are (i, j), j <= i
// < N; UTM has a different convention. For a triangle without the diagonal use the map of N - 1,
// and i + 1.
//
// Source: Navarro, Hitschfeld, "Improving the GPU space of computation under triangular domain
// problems" (2013), section III.B, which describes maps of Jung and O'Leary (RB), Ries et al. (REC)
// and Avril et al. (UTM). Formulas printed wrong there are corrected here (docs/errata.md); tests
// check that each map is a bijection.
//
// All functions return a value for all arguments; x, y, q outside the grid give some pair.
#ifndef TMAP_PAPERS_TRIANGLE_MAPS_H
#define TMAP_PAPERS_TRIANGLE_MAPS_H

#include "../triangle/map.h"

// ---- LTM-X, LTM-N, LTM-R ------------------------------------------------------------------------
//
// The map g(lambda) in the three implementations of its paper, which differ only in the root: i =
// floor(sqrt(1/4 + 2 lambda) - 1/2 + epsilon), j = lambda - i(i+1)/2, and without the diagonal i =
// floor(sqrt(1/4 + 2 lambda) + 1/2 + epsilon), j = lambda - i(i-1)/2 (the printed column, lambda -
// i(i+1)/2, is an error: docs/errata.md). triangle/map.h costs no more and is always exact.
//
// Source: the same paper, equations 9, 10 and 16, section III.A. It finds LTM-N and LTM-R exact up
// to N = 30720 with blocks of 16 x 16, which are 1920 rows of blocks.
//
// TMAP_TRIANGLE_ROWS_*: the map is right for triangles of this number of rows (rows of blocks, if
// it maps blocks); without the diagonal one row more. All 2^32 lambdas were tested on an H200:
//
//           right for  first wrong lambda  where this holds
//   LTM-X   4607 rows  10619135            on every machine: it rounds as in IEEE 754
//   LTM-N   1949 rows   1900275            if a product and a sum are fused into one rounding, as
//                                          by nvcc; else (-fmad=false) 1622 rows, 1316253
//   LTM-R   2055 rows   2112540            on the H200; another GPU's rsqrt may round differently
//
// On the host LTM-R has a correctly rounded rsqrt, and is right for at least these rows.
//
// All functions return a value for all arguments: above the range possibly a neighbouring row, with
// a j outside it or negative (modulo 2^32); from row 65536 on, where i(i+1) exceeds 32 bits, any j.

#define TMAP_TRIANGLE_ROWS_SQRT           4607u
#define TMAP_TRIANGLE_ROWS_NEWTON         1949u
#define TMAP_TRIANGLE_ROWS_NEWTON_UNFUSED 1622u
#define TMAP_TRIANGLE_ROWS_RSQRT          2055u

// The number that LTM-N and LTM-R add to the row before they round it down.
#define TMAP_TRIANGLE_EPSILON 1e-4f

// sqrt(x) rounded to nearest, as in IEEE 754: the same bits on every machine. x: 0 or a normal
// number. Double precision makes the root of a float so exact that a second rounding is harmless:
// no such root is within 2^-51 of the middle between two floats.
TMAP_FN float tmapi_sqrt_nearest(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("sqrt.rn.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    double s = (double)(x * tmapi_rsqrt_newton(x)), wide = (double)x;
    if (x == 0.0f) return 0.0f;
    s = 0.5 * (s + wide / s);
    s = 0.5 * (s + wide / s);
    return (float)s;
#endif
}

// 1 / sqrt(x), x a normal number: the GPU's rsqrt, CUDA's rsqrtf; on the host the nearest float.
TMAP_FN float tmapi_rsqrt_nearest(float x) {
#if defined(__CUDA_ARCH__)
    return tmapi_rsqrt(x);
#else
    double y = (double)tmapi_rsqrt_newton(x), half_x = 0.5 * (double)x;
    y *= 1.5 - half_x * y * y;
    return (float)(y * (1.5 - half_x * y * y));
#endif
}

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

// LTM-X: the root rounded as in IEEE 754, no epsilon. Cost: a root of about 10 instructions, with a
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

// LTM-R, equation 16: x * rsqrtf(x) on the special-function unit, and epsilon. Cost: 2 instructions
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

// ---- BB: the bounding box -----------------------------------------------------------------------
//
// Grid: N x N. The cell of (x, y) is (i, j) = (y, x).

// 1 if (x, y) is on or below the diagonal. A block returns at once if this is 0; a block with x ==
// y also tests its threads. Example: (2,1) -> 0, (1,1) -> 1.
TMAP_FN int tmap_triangle_bb_contains(tmap_u32 x, tmap_u32 y) { return x <= y; }

// ---- RB: the rectangular box --------------------------------------------------------------------
//
// The columns right of the middle are rotated by half a turn and put above the rest.

// The grid of RB: N/2 wide and N + 1 high for even N, (N+1)/2 wide and N high for odd N. Law: its
// area is N(N+1)/2. Example: 4 -> 2 x 5; 5 -> 3 x 5; 0 -> 0 x 1.
TMAP_FN tmap_xy tmap_triangle_rb_grid(tmap_u32 n) {
    tmap_xy grid;
    grid.x = n / 2 + (n & 1);
    grid.y = n + 1 - (n & 1);
    return grid;
}

// The cell of (x, y) in RB. x, y inside tmap_triangle_rb_grid(n). Law: a bijection onto the cells.
// Even N: (y - 1, x) below the diagonal, (N - 1 - y, N - 1 - x) on and above it; the column is
// printed as N - i - 1, which is not a bijection. Odd N: (y, x) on and below, (N - 1 - y, N - x)
// above.
// Example: N = 4, rows of the grid: (3,3)(3,2) / (0,0)(2,2) / (1,0)(1,1) / (2,0)(2,1) / (3,0)(3,1).
TMAP_FN tmap_pair tmap_triangle_rb_map(tmap_u32 x, tmap_u32 y, tmap_u32 n) {
    tmap_pair p;
    tmap_u32 even = ~n & 1;
    int below = y >= x + even;
    p.i = below ? y - even : n - 1 - y;
    p.j = below ? x : n - even - x;
    return p;
}

// ---- REC: the recursive partition ---------------------------------------------------------------
//
// N = m 2^k. One pass covers the 2^k triangles of side m on the diagonal; then k levels, l =
// 0..k-1, each cover 2^(k-1-l) squares of side m 2^l, doubling the triangles: k + 1 launches.

// The numbers of a recursive partition.
typedef struct tmap_triangle_rec {
    tmap_u32 m, k;
} tmap_triangle_rec;

// N as m 2^k with the largest k for which m is a multiple of m0; m = N, k = 0 for an N that is not
// a multiple of m0. m0: the smallest triangle, the block size of the paper, or 1 in units of
// blocks; 0 counts as 1. Example: (1920, 1) -> m = 15, k = 7; (96, 16) -> m = 48, k = 1.
TMAP_FN tmap_triangle_rec tmap_triangle_rec_make(tmap_u32 n, tmap_u32 m0) {
    tmap_triangle_rec rec = {n, 0};
    if (m0 < 1) m0 = 1;
    while (rec.m && rec.m % 2 == 0 && rec.m / 2 % m0 == 0) rec.m /= 2, ++rec.k;
    return rec;
}

// Number of triangles of the diagonal pass, 2^k; launch m by m by 2^k threads or blocks, and skip
// those with x > y. 0 if it does not fit. Example: k = 7: 128.
TMAP_FN tmap_u32 tmap_triangle_rec_triangles(tmap_triangle_rec rec) {
    return rec.k < 32 ? 1u << rec.k : 0;
}

// The diagonal pass: the cell of (x, y), x, y < m, in triangle q < 2^k, for (x, y) with
// tmap_triangle_bb_contains. Example: m = 2, q = 3: (0,0) -> (6,6), (0,1) -> (7,6), (1,1) -> (7,7).
TMAP_FN tmap_pair tmap_triangle_rec_diagonal(tmap_triangle_rec rec, tmap_u32 x, tmap_u32 y,
                                             tmap_u32 q) {
    tmap_pair p;
    p.i = q * rec.m + y;
    p.j = q * rec.m + x;
    return p;
}

// The grid of level l: x is the side of its squares, m 2^l, y their number, 2^(k-1-l); so launch x
// by x by y threads or blocks. l < k; otherwise no square. Example: m = 15, k = 7, l = 6: 960, 1.
TMAP_FN tmap_xy tmap_triangle_rec_grid(tmap_triangle_rec rec, tmap_u32 l) {
    tmap_xy grid = {0, 0};
    if (l >= rec.k || rec.k > 32) return grid;
    grid.x = rec.m << l;
    grid.y = 1u << (rec.k - 1 - l);
    return grid;
}

// Level l: the cell of (x, y), x, y < m 2^l, in square q < 2^(k-1-l). Law: with the diagonal pass,
// all levels together are a bijection onto the cells.
// Example: m = 1, k = 2: l = 0: q = 0 -> (1,0), q = 1 -> (3,2); l = 1: (0,0) -> (2,0), (1,0) ->
// (2,1), (0,1) -> (3,0), (1,1) -> (3,1).
TMAP_FN tmap_pair tmap_triangle_rec_map(tmap_triangle_rec rec, tmap_u32 l, tmap_u32 x, tmap_u32 y,
                                        tmap_u32 q) {
    tmap_pair p;
    tmap_u32 side = rec.m << (l & 31);
    p.i = (2 * q + 1) * side + y;
    p.j = 2 * q * side + x;
    return p;
}

// ---- UTM: the upper-triangular mapping ----------------------------------------------------------
//
// Pairs a < b < n by rows, the order of triangle/condensed.h: a = floor(((2n+1) - sqrt(4n^2 - 4n -
// 8k + 1)) / 2), b = a + 1 + k - (a-1)(2n-a)/2, with k from 0, and a and b (only in this formula)
// from 1. The functions return a and b from 0.

// The most points for which tmap_triangle_utm_sqrt is exact for every k: n = 4098 is the first with
// a wrong result at some end of a row (every n up to 65536 was tested on an H200). It rounds as in
// IEEE 754, so this holds on every machine.
#define TMAP_TRIANGLE_UTM_SQRT_MAX 4097u

// 4n^2 - 4n - 8k + 1 = (2n-1)^2 - 8k. n < 2^31, k < n(n-1)/2.
TMAP_FN tmap_u64 tmapi_triangle_utm_discriminant(tmap_u32 k, tmap_u32 n) {
    tmap_u64 m = 2ull * n - 1;
    return m * m - 8ull * k;
}

// Pair (a, b) of number k, from row a, which begins at a(2n - 1 - a)/2. Modulo 2^32.
TMAP_FN tmap_pair tmapi_triangle_utm_in_row(tmap_u32 k, tmap_u32 n, tmap_u32 a) {
    tmap_pair p;
    p.i = a;
    p.j = a + 1 + k - (tmap_u32)((tmap_u64)a * (2 * n - 1 - a) >> 1);
    return p;
}

// The row a >= 1 of a root, in single precision, numbered from 0; 0 for roots of k out of range.
TMAP_FN tmap_u32 tmapi_triangle_utm_row(float root, tmap_u32 n) {
    float a = (2.0f * (float)n + 1.0f - root) * 0.5f;
    return a >= 1.0f && a < 4294967040.0f ? (tmap_u32)a - 1 : 0;
}

// UTM for threads, as printed: the single-precision root, without repair. k < n(n-1)/2. Exact for n
// <= TMAP_TRIANGLE_UTM_SQRT_MAX; above, some pairs are from a neighbouring row. Example: n = 4:
// 0..5 -> (0,1)(0,2)(0,3)(1,2)(1,3)(2,3).
TMAP_FN tmap_pair tmap_triangle_utm_sqrt(tmap_u32 k, tmap_u32 n) {
    float root = tmapi_sqrt_nearest((float)tmapi_triangle_utm_discriminant(k, n));
    return tmapi_triangle_utm_in_row(k, n, tmapi_triangle_utm_row(root, n));
}

// The pair of a root that is off by one row at most.
TMAP_FN tmap_pair tmapi_triangle_utm_repaired(float root, tmap_u32 k, tmap_u32 n) {
    tmap_pair p = tmapi_triangle_utm_in_row(k, n, tmapi_triangle_utm_row(root, n));
    if ((int)(p.j - p.i) <= 0) // k is before this row
        p.j += n - 1 - p.i, --p.i;
    else if ((int)(p.j - n) >= 0) // k is after it
        p.j -= n - 2 - p.i, ++p.i;
    return p;
}

// UTM for threads with the conditionals that repair it: one row down or up. Range: n <= 92682, k <
// n(n-1)/2. Law: a bijection; equal to tmap_condensed_map. Exact.
TMAP_FN tmap_pair tmap_triangle_utm_map(tmap_u32 k, tmap_u32 n) {
    return tmapi_triangle_utm_repaired(tmapi_sqrt((float)tmapi_triangle_utm_discriminant(k, n)), k,
                                       n);
}

// UTM for blocks: tile (a, b), a <= b < n, of number k. It includes the diagonal, so it is UTM of n
// + 1 with b - 1. Range: n <= 92681, k < n(n+1)/2. Law: a bijection; equal to tmap_upper_map.
// Exact. Example: n = 3: 0..5 -> (0,0)(0,1)(0,2)(1,1)(1,2)(2,2).
TMAP_FN tmap_pair tmap_triangle_utm_blocks(tmap_u32 k, tmap_u32 n) {
    tmap_pair p = tmap_triangle_utm_map(k, n + 1);
    --p.j;
    return p;
}

// UTM for blocks without conditionals, with a root rounded as in IEEE 754: right for n < 4097, as
// tmap_triangle_utm_sqrt is up to TMAP_TRIANGLE_UTM_SQRT_MAX. Example: as tmap_triangle_utm_blocks.
TMAP_FN tmap_pair tmap_triangle_utm_blocks_sqrt(tmap_u32 k, tmap_u32 n) {
    tmap_pair p = tmap_triangle_utm_sqrt(k, n + 1);
    --p.j;
    return p;
}

// x rounded towards 0, and the nearest number of 32 bits where that does not fit; in PTX, whose
// conversion does so, without a test.
TMAP_FN tmap_u32 tmapi_triangle_utm_whole(float x) {
#if defined(__CUDA_ARCH__)
    tmap_u32 n;
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(n) : "f"(x));
    return n;
#else
    return x >= 4294967296.0f ? 0xffffffffu : x > 0.0f ? (tmap_u32)x : 0;
#endif
}

// UTM for blocks without conditionals, by x rsqrt(x) and an epsilon: what the paper's conclusions
// expect of UTM. The root of a row's first number is an integer, which must not be rounded down,
// and that of its last one is more than 1 / (n + 1) below the next row's. With a correctly rounded
// rsqrt an epsilon of 1.3e-4 to 4.8e-4 suffices at n = 1920; the paper's 1e-4 does not. The
// discriminant is exact as a float for n <= 2047; up to there the function is right on the host,
// while a GPU's rsqrt must be tested. Example: as tmap_triangle_utm_blocks.
#define TMAP_TRIANGLE_UTM_EPSILON  2.5e-4f
#define TMAP_TRIANGLE_UTM_ROWS_MAX 2047u
TMAP_FN tmap_pair tmap_triangle_utm_blocks_rsqrt(tmap_u32 k, tmap_u32 n) {
    float x = (float)tmapi_triangle_utm_discriminant(k, n + 1), root = x * tmapi_rsqrt_nearest(x);
    float a = (2.0f * (float)(n + 1) + 1.0f - root) * 0.5f + TMAP_TRIANGLE_UTM_EPSILON;
    tmap_pair p = tmapi_triangle_utm_in_row(k, n + 1, tmapi_triangle_utm_whole(a) - 1);
    --p.j;
    return p;
}

#endif
