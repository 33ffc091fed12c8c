// SPDX-License-Identifier: MIT
// fractal/size.h: how large an NBB fractal and its launches are: sides, cells, the orthotope, the
// largest level that fits.
//
// Everything is computed in 64 bits; a value that does not fit saturates at 2^64 - 1 and never
// wraps.
#ifndef TMAP_FRACTAL_SIZE_H
#define TMAP_FRACTAL_SIZE_H

#include "nbb.h"

// No function of this library is asked for a level above this one.
#define TMAP_LEVEL_MAX 64

// base^e, or 2^64 - 1 where that does not fit.
TMAP_FN tmap_u64 tmapi_pow_saturate(tmap_u64 base, tmap_u32 e) {
    tmap_u64 p = 1;
    while (e-- && base != 1 && p != ~0ull) p = tmap_mul_saturate(p, base);
    return p;
}

// The width sx^r of the embedding, in cells. Example: carpet, r = 3: 27.
TMAP_FN tmap_u64 tmap_nbb_side_x(tmap_nbb f, tmap_u32 r) { return tmapi_pow_saturate(f.sx, r); }

// The height sy^r of the embedding, in cells. Example: Cantor set, any r: 1.
TMAP_FN tmap_u64 tmap_nbb_side_y(tmap_nbb f, tmap_u32 r) { return tmapi_pow_saturate(f.sy, r); }

// The number of cells V = k^r, equation 2. Example: gasket, r = 16: 43046721.
TMAP_FN tmap_u64 tmap_nbb_cells(tmap_nbb f, tmap_u32 r) { return tmapi_pow_saturate(f.k, r); }

// The 2-orthotope of lemma 2: k^ceil(r/2) wide, k^floor(r/2) high. Example: gasket, r = 3: 9 x 3.
TMAP_FN tmap_xy64 tmap_nbb_orthotope(tmap_nbb f, tmap_u32 r) {
    tmap_xy64 p;
    p.x = tmapi_pow_saturate(f.k, r / 2 + r % 2);
    p.y = tmapi_pow_saturate(f.k, r / 2);
    return p;
}

// The largest e <= TMAP_LEVEL_MAX for which base^e - 1 is at most `limit`.
TMAP_FN tmap_u32 tmapi_level_fit(tmap_u64 base, tmap_u64 limit) {
    tmap_u32 e = 0;
    tmap_u64 last = 0; // base^e - 1
    if (base < 2) return TMAP_LEVEL_MAX;
    while (e < TMAP_LEVEL_MAX && last <= (limit - (base - 1)) / base)
        last = last * base + (base - 1), ++e;
    return e;
}

TMAP_FN tmap_u32 tmapi_nbb_level_fit(tmap_nbb f, tmap_u64 limit) {
    tmap_u32 x = tmapi_level_fit(f.sx, limit), y = tmapi_level_fit(f.sy, limit),
             w = 2 * tmapi_level_fit(f.k, limit);
    tmap_u32 r = x < y ? x : y;
    return r < w ? r : w;
}

// The largest level at which every coordinate of the cells and of the orthotope fits 32 or 64 bits:
// the range of tmap_nbb_lambda, nu and contains, and of their 64-bit forms. Example: gasket 32 and
// 64, carpet 20 and 40.
TMAP_FN tmap_u32 tmap_nbb_level_max32(tmap_nbb f) { return tmapi_nbb_level_fit(f, 0xffffffffull); }
TMAP_FN tmap_u32 tmap_nbb_level_max64(tmap_nbb f) { return tmapi_nbb_level_fit(f, ~0ull); }

// The same where the linear index must fit too: the range of tmap_nbb_lambda_linear and nu_linear,
// and of their 64-bit forms. Example: gasket 20 and 40, carpet 10 and 21.
TMAP_FN tmap_u32 tmap_nbb_linear_level_max32(tmap_nbb f) {
    tmap_u32 r = tmap_nbb_level_max32(f), i = tmapi_level_fit(f.k, 0xffffffffull);
    return r < i ? r : i;
}
TMAP_FN tmap_u32 tmap_nbb_linear_level_max64(tmap_nbb f) {
    tmap_u32 r = tmap_nbb_level_max64(f), i = tmapi_level_fit(f.k, ~0ull);
    return r < i ? r : i;
}

// ---- block space (section 3.3 of the paper) -----------------------------------------------------
//
// A block of threads takes one tile: the fractal of level m, sx^m x sy^m places. The tiles of a
// fractal of level r are themselves a fractal of level r_b = r - m, so one lambda of level r_b
// serves the whole block.

// The tile level m of blocks of side rho: the largest m <= r with sx^m <= rho and sy^m <= rho. A
// rho that is not a power of s is rounded down to one: the block is sx^m x sy^m threads. rho = 0
// counts as 1.
// Example: gasket, rho = 16: 4; carpet, rho = 32: 3 (27 x 27 threads); Chandelier, rho = 32: 3 (27
// x 8).
TMAP_FN tmap_u32 tmap_nbb_tile_level(tmap_nbb f, tmap_u32 r, tmap_u32 rho) {
    tmap_u32 m = 0;
    tmap_u64 side = 1, s = f.sx > f.sy ? f.sx : f.sy;
    if (rho == 0) rho = 1;
    while (m < r && side * s <= rho) side *= s, ++m;
    return m;
}

// The level of the map in block space, r_b = r - log_s rho. Example: gasket, r = 16, rho = 16: 12.
TMAP_FN tmap_u32 tmap_nbb_block_level(tmap_nbb f, tmap_u32 r, tmap_u32 rho) {
    return r - tmap_nbb_tile_level(f, r, rho);
}

#endif
