// SPDX-License-Identifier: MIT
// ask_domain.h: the domain that ask.h subdivides, and its parameters (g, r, B).
#ifndef TMAP_ADAPTIVE_ASK_DOMAIN_H
#define TMAP_ADAPTIVE_ASK_DOMAIN_H

#include "region.h"

// The most levels that a subdivision can have.
#define TMAP_ASK_LEVELS_MAX 32

// The parameters of a subdivision, the paper's (g, r, B): level 0 has g parts along each axis, each
// part is cut into r parts, and cutting ends at side b.
typedef struct tmap_ask_params {
    tmap_u32 g, r, b;
} tmap_ask_params;

// A domain of nx x ny, or nx x ny x nz elements, with its subdivision.
typedef struct tmap_ask_domain {
    tmap_u32 nx, ny, nz; // nz = 1 for two axes
    tmap_u32 dims;       // 2 or 3
    tmap_u32 g, r, b;
    tmap_u32 levels; // tau
} tmap_ask_domain;

// A part number has 21 bits, so that three of them fit a scalar.
#define TMAPI_ASK_PARTS_MAX   0x200000ull
#define TMAPI_ASK_ENTRIES_MAX 0xffffffffull

// Fills a domain: tau levels by tmap_region_levels, of g r^level parts along each axis.
// dims: 2, where nz is not read, or 3. a: g >= 1, r >= 2, b >= 1, b <= n / g, where n is the
// longest side.
// The function returns TMAP_OK; TMAP_EINVAL for a side of 0, dims, g, r or b; TMAP_ERANGE for
// b > n / g, a side beyond 2^31 - 1, more than 2^21 parts along an axis, 2^32 regions at level 0 or
// more, a region of level 0 with 2^31 elements (a frame of 31 more along each axis included), or
// r^dims above 2^20. *out is written only on success.
// Example: 16384 x 16384, (32, 2, 32): 4 levels with regions of side 512, 256, 128, 64.
TMAP_FN int tmap_ask_domain_make(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_u32 dims,
                                 tmap_ask_params a, tmap_ask_domain *out) {
    tmap_u64 n = nx > ny ? nx : ny, elements;
    tmap_ask_domain d;
    int error;
    if (!out || dims < 2 || dims > 3) return TMAP_EINVAL;
    if (dims == 2) nz = 1;
    if (nz > n) n = nz;
    if (nx == 0 || ny == 0 || nz == 0) return TMAP_EINVAL;
    if ((error = tmap_region_check(n, a.g, a.r, a.b)) != TMAP_OK) return error;
    d.levels = tmap_region_levels(n, a.g, a.r, a.b);
    if (n > 0x7fffffffull) return TMAP_ERANGE;
    if (tmap_region_parts(a.g, a.r, d.levels - 1) > TMAPI_ASK_PARTS_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, a.g, dims) > TMAPI_ASK_ENTRIES_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, a.r, dims) > 1u << 20) return TMAP_ERANGE;
    elements =
        tmapi_region_mul(tmap_region_side_max(nx, a.g) + 31, tmap_region_side_max(ny, a.g) + 31);
    if (dims == 3) elements = tmapi_region_mul(elements, tmap_region_side_max(nz, a.g) + 31);
    if (elements > 0x7fffffffull) return TMAP_ERANGE; // steps of 2^31 from one to another fit
    d.nx = (tmap_u32)nx, d.ny = (tmap_u32)ny, d.nz = (tmap_u32)nz;
    d.dims = dims;
    d.g = a.g, d.r = a.r, d.b = a.b;
    *out = d;
    return TMAP_OK;
}

#endif
