// SPDX-License-Identifier: MIT
// region.h: the regions of an adaptive subdivision: their boundaries in any domain, and the number
// of levels.
//
// An axis of n elements is cut into g parts, each of them into r parts, and so on. Level l has g
// r^l parts. Part i of `parts` has the elements floor(n i / parts) to floor(n (i + 1) / parts) - 1.
// This is exact for every n, g and r:
//
//   each part of a level begins where the previous one ends: together they have all n elements;
//   the children of part i are the parts r i ... r i + r - 1 of the next level, since
//   floor(n (r i) / (r parts)) = floor(n i / parts): both ends of a part are ends of children;
//   a part has floor(n / parts) or ceil(n / parts) elements; if n < parts, some parts are empty.
//
//     first = tmap_region_edge(n, parts, i), end = tmap_region_edge(n, parts, i + 1);
//
// A region of a domain of k axes is one part along each axis. Every function accepts all values.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), sections 4.2.1 and 7.2.
#ifndef TMAP_ADAPTIVE_REGION_H
#define TMAP_ADAPTIVE_REGION_H

#include "../core.h"

// ---- boundaries along one axis ------------------------------------------------------------------

// First element of part i, floor(n i / parts); i = parts gives n. Range: n: any. parts: 1 to 2^32;
// 0 counts as 1, larger ones give an unspecified number. i: 0 to parts; larger ones count as parts.
// Laws: edge(n, r parts, r i) == edge(n, parts, i); edge(i) <= edge(i + 1). Cost: two 64-bit
// divisions.
// Example: n = 10, parts = 4: 0..4 -> 0 2 5 7 10.
TMAP_FN tmap_u64 tmap_region_edge(tmap_u64 n, tmap_u64 parts, tmap_u64 i) {
    if (parts == 0) parts = 1;
    if (i > parts) i = parts;
    return n / parts * i + n % parts * i / parts; // the rest is below parts: no product wraps
}

// The part that contains element e: the i with edge(i) <= e < edge(i + 1). Range: n: 1 to 2^32; 0
// gives 0. e: 0 to n - 1; larger ones count as n - 1. parts: any with (e + 1) parts / n < 2^64.
// Law: find(n, parts, edge(n, parts, i)) == i for every part i that is not empty.
// Example: n = 10, parts = 4: 0..9 -> 0 0 1 1 1 2 2 3 3 3.
TMAP_FN tmap_u64 tmap_region_find(tmap_u64 n, tmap_u64 parts, tmap_u64 e) {
    tmap_u64 rest;
    if (n == 0 || parts == 0) return 0;
    if (e >= n) e = n - 1;
    rest = parts % n;
    // floor(((e + 1) parts - 1) / n): edge(i) <= e means n i < (e + 1) parts
    return parts / n * (e + 1) + (rest * (e + 1) + n - 1) / n - 1;
}

// The most elements of a part, ceil(n / parts). parts = 0 counts as 1.
// Example: n = 10, parts = 4: 3.
TMAP_FN tmap_u64 tmap_region_side_max(tmap_u64 n, tmap_u64 parts) {
    if (parts == 0) parts = 1;
    return n / parts + (n % parts != 0);
}

// ---- numbers of levels, parts and regions -------------------------------------------------------

// Checks a subdivision (g, r, B). Range: n: elements along the longest axis. g: parts of level 0
// along it. r: parts of a part. b: sets the number of levels; see tmap_region_levels. Returns
// TMAP_OK; TMAP_EINVAL for n = 0, g = 0, r < 2 or b = 0; TMAP_ERANGE for b > n / g (n is the
// longest side) and g > 2^32.
TMAP_FN int tmap_region_check(tmap_u64 n, tmap_u64 g, tmap_u64 r, tmap_u64 b) {
    if (n == 0 || g == 0 || r < 2 || b == 0) return TMAP_EINVAL;
    if (g > 1ull << 32 || b > n / g) return TMAP_ERANGE;
    return TMAP_OK;
}

// Number of levels tau = floor(log_r(n / (g b))), at least 1: the largest t with g b r^t <= n
// (assumption iii of section 4.2.1), computed in integers. Regions of the last level have a side of
// r b to r^2 b elements; if n < g b r there is only level 0, with sides from b on. Arguments: as
// for tmap_region_check; refused ones give 1.
// Example: n = 65536, g = 32, r = 2, b = 32: 6.
TMAP_FN tmap_u32 tmap_region_levels(tmap_u64 n, tmap_u64 g, tmap_u64 r, tmap_u64 b) {
    tmap_u32 tau = 0;
    tmap_u64 left;
    if (tmap_region_check(n, g, r, b)) return 1;
    for (left = n / g / b / r; left; left /= r) ++tau;
    return tau ? tau : 1;
}

// Number of parts along an axis at a level, g r^level; saturates at 2^64 - 1. Example: g = 32, r =
// 2, level 5: 1024.
TMAP_FN tmap_u64 tmap_region_parts(tmap_u64 g, tmap_u64 r, tmap_u32 level) {
    while (level-- && r != 1 && g && g != ~0ull) g = tmap_mul_saturate(g, r);
    return g;
}

// Number of entries of an offset lookup table (OLT) if all of `regions` regions subdivide: G_i r^k,
// equations 26 (k = 2), 27 (k = 3) and 28; saturates at 2^64 - 1. Example: regions = 1024, r = 2, k
// = 2: 4096.
TMAP_FN tmap_u64 tmap_region_olt_size(tmap_u64 regions, tmap_u64 r, tmap_u32 k) {
    return tmap_region_parts(regions, r, k);
}

#endif
