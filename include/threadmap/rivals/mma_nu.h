// SPDX-License-Identifier: MIT
// mma_nu.h: nu, the inverse of lambda, on tensor cores, exact at every level.
//
// index = sum over mu of beta^mu * k^(mu-1): the same product, its digits beta found by membership
// in each level's boxes. A lane reads 8 consecutive levels of a cell; odd levels are k = 0..15 of
// A, even ones k = 16..31. Columns 0..3 are the limbs of wx, 4..7 those of wy; or 0..7 those of a
// 64-bit linear index.
//
// Encoding, fragments and collectiveness are those of mma.h.
#ifndef TMAP_RIVALS_MMA_NU_H
#define TMAP_RIVALS_MMA_NU_H

#include "mma.h"

#if TMAP_CUDA

// What a lane prepares for nu.
typedef struct tmap_mma_inverse {
    tmap_warp warp;
    tmap_u32 r;
    tmap_u64 reciprocal_x, reciprocal_y; // ceil(2^64 / s^(8q))
    int whole_x, whole_y;                // s^(8q) = 1
    tmap_u32 b0, b1;                     // limbs of wx or wy
    tmap_u32 l0, l1;                     // limbs of a linear index
} tmap_mma_inverse;

// Bytes of limb `limb` of k^e, k^(e+step), ... of levels mu, mu + 2, ..., 0 past level r.
TMAP_DEVICE tmap_u32 tmapi_mma_limbs64(tmap_u32 k, tmap_u32 e, tmap_u32 step, tmap_u32 mu,
                                       tmap_u32 r, tmap_u32 limb) {
    tmap_u32 bytes = 0;
    for (tmap_u32 i = 0; i < 4; ++i)
        if (mu + 2 * i <= r)
            bytes |= (tmap_u32)(tmapi_pow64(k, e + i * step) >> 8 * limb & 0xffu) << 8 * i;
    return tmapi_mma_keep(bytes);
}

// Prepares this lane for nu of fractal f of level r <= level_max32.
TMAP_DEVICE tmap_mma_inverse tmap_mma_inverse_make(tmap_warp w, tmap_nbb f, tmap_u32 r) {
    tmap_mma_inverse s;
    tmap_u32 q = w.lane & 3u, g = w.lane / 4;
    tmap_u64 px = tmapi_pow64(f.sx, 8 * q), py = tmapi_pow64(f.sy, 8 * q);
    int has = 8 * q < r;
    s.warp = w;
    s.r = r;
    s.whole_x = px == 1;
    s.whole_y = py == 1;
    s.reciprocal_x = has && px ? ~0ull / px + 1 : 0;
    s.reciprocal_y = has && py ? ~0ull / py + 1 : 0;
    s.b0 = g < 4 ? tmapi_mma_limbs64(f.k, 4 * q, 1, 8 * q + 1, r, g) : 0;
    s.b1 = g < 4 ? 0 : tmapi_mma_limbs64(f.k, 4 * q, 1, 8 * q + 2, r, g - 4);
    s.l0 = tmapi_mma_limbs64(f.k, 8 * q, 2, 8 * q + 1, r, g);
    s.l1 = tmapi_mma_limbs64(f.k, 8 * q + 1, 2, 8 * q + 2, r, g);
    return s;
}

// The betas of this lane's 8 levels of a cell: odd levels in .x, even ones in .y.
TMAP_DEVICE tmapi_mma_bytes tmapi_mma_betas(const tmap_mma_inverse *s, tmap_nbb f, tmap_u32 x,
                                            tmap_u32 y) {
    tmapi_mma_bytes b = {0, 0};
    if (!s->whole_x) x = (tmap_u32)__umul64hi(x, s->reciprocal_x);
    if (!s->whole_y) y = (tmap_u32)__umul64hi(y, s->reciprocal_y);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        tmap_u32 beta = tmapi_nbb_match_beta(f.k, tmapi_nbb_match(f, x % f.sx, y % f.sy));
        x /= f.sx;
        y /= f.sy;
        if (i & 1)
            b.y |= beta << 4 * (i - 1);
        else
            b.x |= beta << 4 * i;
    }
    return b;
}

// The sums of 16 cells, those of lanes from..from+15: rows 0..15 of the product.
TMAP_DEVICE tmapi_mma_sums tmapi_mma_nu_sums(const tmap_mma_inverse *s, tmap_nbb f, tmap_u32 x,
                                             tmap_u32 y, tmap_u32 from, tmap_u32 b0, tmap_u32 b1) {
    tmapi_mma_sums d = {0, 0, 0, 0};
    int row = (int)(from + s->warp.lane / 4);
    tmap_u32 x0 = __shfl_sync(0xffffffffu, x, row), y0 = __shfl_sync(0xffffffffu, y, row);
    tmap_u32 x8 = __shfl_sync(0xffffffffu, x, row + 8), y8 = __shfl_sync(0xffffffffu, y, row + 8);
    tmapi_mma_bytes a = tmapi_mma_betas(s, f, x0, y0), b = tmapi_mma_betas(s, f, x8, y8);
    tmapi_mma(s->warp.lane, &d, a.x, b.x, a.y, b.y, b0, b1);
    return d;
}

// This lane's own of four words that lanes 4t + offset hold of cells t, t + 8, t + 16, t + 24.
TMAP_DEVICE tmap_u32 tmapi_mma_own(tmap_u32 lane, tmap_u32 offset, tmap_u32 v0, tmap_u32 v8,
                                   tmap_u32 v16, tmap_u32 v24) {
    int from = (int)(4 * (lane & 7u) + offset);
    tmap_u32 a = __shfl_sync(0xffffffffu, v0, from), b = __shfl_sync(0xffffffffu, v8, from);
    tmap_u32 c = __shfl_sync(0xffffffffu, v16, from), d = __shfl_sync(0xffffffffu, v24, from);
    return lane & 16u ? (lane & 8u ? d : c) : (lane & 8u ? b : a);
}

// nu of each lane's own cell (x, y): 32 cells by two products. Of a place that is not a cell, and
// past its range, it agrees with tmap_nbb_nu.
// Law: tmap_mma_nu(&s, f, x, y) == tmap_nbb_nu(f, x, y, r). Cost: 8 levels a lane for each of 4
// cells, 20 shuffles. Example: carpet, r = 1: (2,1) -> (4,0).
TMAP_DEVICE tmap_xy tmap_mma_nu(const tmap_mma_inverse *s, tmap_nbb f, tmap_u32 x, tmap_u32 y) {
    tmap_xy w;
    tmap_u32 lane = s->warp.lane, v0, v8, v16, v24;
    tmapi_mma_sums d;
    if (s->warp.lanes < 32) return tmap_nbb_nu(f, x, y, s->r);
    d = tmapi_mma_nu_sums(s, f, x, y, 0, s->b0, s->b1);
    v0 = tmapi_mma_join(lane, d.d0, d.d1);
    v8 = tmapi_mma_join(lane, d.d2, d.d3);
    d = tmapi_mma_nu_sums(s, f, x, y, 16, s->b0, s->b1);
    v16 = tmapi_mma_join(lane, d.d0, d.d1);
    v24 = tmapi_mma_join(lane, d.d2, d.d3);
    w.x = tmapi_mma_own(lane, 0, v0, v8, v16, v24);
    w.y = tmapi_mma_own(lane, 2, v0, v8, v16, v24);
    return w;
}

// The eight limbs of an index from the four lanes that hold two each.
TMAP_DEVICE tmap_u64 tmapi_mma_join64(tmap_u32 lane, tmap_u32 low, tmap_u32 high) {
    tmap_u64 v = ((tmap_u64)low + ((tmap_u64)high << 8)) << 16 * (lane & 3u);
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

// The linear index of each lane's own cell, modulo 2^64: tmap_nbb_nu_linear64 for coordinates below
// 2^32. r <= level_max32 and, for the index to fit, linear_level_max64.
// Example: gasket, r = 2: (1,3) -> 5.
TMAP_DEVICE tmap_u64 tmap_mma_nu_linear(const tmap_mma_inverse *s, tmap_nbb f, tmap_u32 x,
                                        tmap_u32 y) {
    tmap_u32 lane = s->warp.lane, low, high;
    tmap_u64 v0, v8, v16, v24;
    tmapi_mma_sums d;
    if (s->warp.lanes < 32) return tmap_nbb_nu_linear64(f, x, y, s->r);
    d = tmapi_mma_nu_sums(s, f, x, y, 0, s->l0, s->l1);
    v0 = tmapi_mma_join64(lane, d.d0, d.d1);
    v8 = tmapi_mma_join64(lane, d.d2, d.d3);
    d = tmapi_mma_nu_sums(s, f, x, y, 16, s->l0, s->l1);
    v16 = tmapi_mma_join64(lane, d.d0, d.d1);
    v24 = tmapi_mma_join64(lane, d.d2, d.d3);
    low = tmapi_mma_own(lane, 0, (tmap_u32)v0, (tmap_u32)v8, (tmap_u32)v16, (tmap_u32)v24);
    high = tmapi_mma_own(lane, 0, (tmap_u32)(v0 >> 32), (tmap_u32)(v8 >> 32), (tmap_u32)(v16 >> 32),
                         (tmap_u32)(v24 >> 32));
    return low | (tmap_u64)high << 32;
}

#endif // TMAP_CUDA
#endif
