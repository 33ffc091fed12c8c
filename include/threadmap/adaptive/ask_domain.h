// SPDX-License-Identifier: MIT
// ask_domain.h: the domain that ask.h subdivides, and its parameters (g, r, B).
#ifndef TMAP_ADAPTIVE_ASK_DOMAIN_H
#define TMAP_ADAPTIVE_ASK_DOMAIN_H

#include "region.h"

// The most levels that a subdivision can have.
#define TMAP_ASK_LEVELS_MAX 32

// The parameters of a subdivision, the paper's (g, r, B): level 0 has g parts along each axis, each
// part is cut into r parts, and cutting ends at side b. (0, 0, 0) leaves them to the library.
typedef struct tmap_ask_params {
    tmap_u32 g, r, b;
} tmap_ask_params;

// A domain of nx x ny, or nx x ny x nz elements, with its subdivision.
typedef struct tmap_ask_domain {
    tmap_u32 nx, ny, nz; // nz = 1 for two axes
    tmap_u32 dims;       // 2 or 3
    tmap_u32 g, r, b;    // b = 0: the library chose them
    tmap_u32 levels;     // tau
} tmap_ask_domain;

// A part number has 21 bits, so that three of them fit a scalar.
#define TMAPI_ASK_PARTS_MAX   0x200000ull
#define TMAPI_ASK_ENTRIES_MAX 0xffffffffull

// The elements of a region of level 0 with a frame of 31 more along each axis: below 2^31, so that
// steps of 2^31 from one to another fit.
TMAP_FN tmap_u64 tmapi_ask_frame(const tmap_ask_domain *d) {
    const tmap_u64 elements = tmapi_region_mul(tmap_region_side_max(d->nx, d->g) + 31,
                                               tmap_region_side_max(d->ny, d->g) + 31);
    return d->dims == 3 ? tmapi_region_mul(elements, tmap_region_side_max(d->nz, d->g) + 31)
                        : elements;
}

// Chooses a subdivision: r = 4, and regions of the last level have a side of 16, of 32 where rows
// of them begin anywhere, or of 8 with three axes, as long as there are not more than 2048 or 128
// of them along an axis; level 0 has up to 128 or 16. docs/notebook.md has the times.
TMAP_FN void tmapi_ask_choose(tmap_ask_domain *d) {
    const tmap_u32 most = d->dims == 3 ? 128 : 2048, coarse = d->dims == 3 ? 16 : 128;
    tmap_u32 n = d->nx > d->ny ? d->nx : d->ny, least = d->nx < d->ny ? d->nx : d->ny, parts;
    if (d->dims == 3 && d->nz > n) n = d->nz;
    if (d->dims == 3 && d->nz < least) least = d->nz;
    parts = n / (d->dims == 3 ? 8 : d->nx % 64 ? 32 : 16);
    if (parts > least / 4) parts = least / 4;
    if (parts > most) parts = most;
    if (parts == 0) parts = 1;
    for (d->levels = 1; parts > coarse; ++d->levels) parts = (parts + 2) / 4;
    d->g = parts, d->r = 4, d->b = 0;
    while (d->g < 1u << 15 && tmapi_ask_frame(d) > 0x7fffffffull) d->g *= 2;
}

// Fills a domain: tau levels by tmap_region_levels, of g r^level parts along each axis.
// dims: 2, where nz is not read, or 3. a: g >= 1, r >= 2, b >= 1, b <= n / g, where n is the
// longest side; or all three 0, for which they are chosen by the sides.
// The function returns TMAP_OK; TMAP_EINVAL for a side of 0, dims, g, r or b; TMAP_ERANGE for
// b > n / g, a side beyond 2^31 - 1, more than 2^21 parts along an axis, 2^32 regions at level 0 or
// more, a region of level 0 with 2^31 elements (a frame of 31 more along each axis included), or
// r^dims above 2^20. *out is written only on success.
// Example: 16384 x 16384, (32, 2, 32): 4 levels with regions of side 512, 256, 128, 64.
TMAP_FN int tmap_ask_domain_make(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_u32 dims,
                                 tmap_ask_params a, tmap_ask_domain *out) {
    tmap_u64 n = nx > ny ? nx : ny;
    tmap_ask_domain d;
    int error, chosen;
    if (!out || dims < 2 || dims > 3) return TMAP_EINVAL;
    if (dims == 2) nz = 1;
    if (nz > n) n = nz;
    if (nx == 0 || ny == 0 || nz == 0) return TMAP_EINVAL;
    chosen = !a.g && !a.r && !a.b;
    if (!chosen && (error = tmap_region_check(n, a.g, a.r, a.b)) != TMAP_OK) return error;
    if (n > 0x7fffffffull) return TMAP_ERANGE;
    d.nx = (tmap_u32)nx, d.ny = (tmap_u32)ny, d.nz = (tmap_u32)nz;
    d.dims = dims;
    if (chosen) {
        tmapi_ask_choose(&d);
    } else {
        d.g = a.g, d.r = a.r, d.b = a.b;
        d.levels = tmap_region_levels(n, a.g, a.r, a.b);
    }
    if (tmap_region_parts(d.g, d.r, d.levels - 1) > TMAPI_ASK_PARTS_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, d.g, dims) > TMAPI_ASK_ENTRIES_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, d.r, dims) > 1u << 20) return TMAP_ERANGE;
    if (tmapi_ask_frame(&d) > 0x7fffffffull) return TMAP_ERANGE;
    *out = d;
    return TMAP_OK;
}

#endif
