// SPDX-License-Identifier: MIT
// condensed.h: the upper triangle row by row: scipy's condensed order of pairs i < j, and the
// packed order of i <= j.
//
// The maps are those of map.h with all indices reversed: the last cell of the upper triangle is the
// first of the lower one, and each earlier row is one cell longer.
//
// `condensed` is the order of scipy.spatial.distance.pdist and of itertools.combinations: n = 4:
// 0..5 -> (0,1)(0,2)(0,3)(1,2)(1,3)(2,3). `upper` is the order of numpy.triu_indices and of packed
// symmetric matrices: n = 3: 0..5 -> (0,0)(0,1)(0,2)(1,1)(1,2)(2,2).
//
// Maps without 64 in their name compute in 32 bits; index and cell functions and maps with it in
// 64. All functions return a value for all arguments.
#ifndef TMAP_TRIANGLE_CONDENSED_H
#define TMAP_TRIANGLE_CONDENSED_H

#include "map.h"

// ---- i < j --------------------------------------------------------------------------------------

// Length of a condensed matrix of n points, n(n-1)/2; saturates. Example: 30720 -> 471843840.
TMAP_FN tmap_u64 tmap_condensed_cells(tmap_u64 n) { return tmap_triangle_cells_strict(n); }

// Pair (i, j), i < j < n, with number k. Range: n <= 92682 (the count fits 32 bits), k < n(n-1)/2;
// outside, an unspecified pair of numbers.
// Laws: a bijection; tmap_condensed_index(i, j, n) == k for the pair (i, j) of k.
// Cost: tmap_triangle_map and 3 instructions; 6 more depend only on n and are the same for all
// threads.
// Example: n = 4: 0..5 -> (0,1)(0,2)(0,3)(1,2)(1,3)(2,3).
TMAP_FN tmap_pair tmap_condensed_map(tmap_u32 k, tmap_u32 n) {
    tmap_pair p = tmap_triangle_map(tmapi_triangle32(n - 1) - 1 - k);
    p.i = n - 2 - p.i;
    p.j = n - 1 - p.j;
    return p;
}

// tmap_condensed_map in 64 bits. Range: n <= 6074001000, k < n(n-1)/2.
// Example: n = 6074001000: 18446744070963499499 -> (6074000998, 6074000999), the last pair.
TMAP_FN tmap_pair64 tmap_condensed_map64(tmap_u64 k, tmap_u64 n) {
    tmap_pair64 p = tmap_triangle_map64(tmapi_triangle(n - 1) - 1 - k);
    p.i = n - 2 - p.i;
    p.j = n - 1 - p.j;
    return p;
}

// Number of pair (i, j), i < j < n: the inverse of both maps. Range: n <= 6074001000; above, modulo
// 2^64. Example: n = 4: (1,3) -> 4.
TMAP_FN tmap_u64 tmap_condensed_index(tmap_u64 i, tmap_u64 j, tmap_u64 n) {
    return tmapi_triangle(n - 1) - tmapi_triangle(n - 1 - i) + (j - i - 1);
}

// ---- i <= j -------------------------------------------------------------------------------------

// Cell (i, j), i <= j < n, with number k. Range: n <= 92681, k < n(n+1)/2; outside, an unspecified
// pair of numbers. Laws and cost: as tmap_condensed_map, with tmap_upper_index. Example: n = 3:
// 0..5 -> (0,0)(0,1)(0,2)(1,1)(1,2)(2,2).
TMAP_FN tmap_pair tmap_upper_map(tmap_u32 k, tmap_u32 n) {
    tmap_pair p = tmap_triangle_map(tmapi_triangle32(n) - 1 - k);
    p.i = n - 1 - p.i;
    p.j = n - 1 - p.j;
    return p;
}

// tmap_upper_map in 64 bits. Range: n <= 6074000999, k < n(n+1)/2.
TMAP_FN tmap_pair64 tmap_upper_map64(tmap_u64 k, tmap_u64 n) {
    tmap_pair64 p = tmap_triangle_map64(tmapi_triangle(n) - 1 - k);
    p.i = n - 1 - p.i;
    p.j = n - 1 - p.j;
    return p;
}

// Number of cell (i, j), i <= j < n: the inverse of both maps. Range: n <= 6074000999; above,
// modulo 2^64. Example: n = 3: (1,2) -> 4.
TMAP_FN tmap_u64 tmap_upper_index(tmap_u64 i, tmap_u64 j, tmap_u64 n) {
    return tmapi_triangle(n) - tmapi_triangle(n - i) + (j - i);
}

#endif
