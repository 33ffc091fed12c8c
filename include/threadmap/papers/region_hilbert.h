// SPDX-License-Identifier: MIT
// region_hilbert.h: one scalar for each region (adaptive/region.h): its number in the canonical,
// the Morton or the Hilbert order. Consecutive regions in Hilbert order share a side.
//
// Hilbert order: the cube has k axes of 2^bits regions, k * bits <= 64. Laws: a bijection onto 0
// ... 2^(k bits) - 1; neighbours in the order differ by 1 along one axis; the first is the origin;
// any aligned 2^(k m) numbers are a cube of side 2^m. A domain with other sides uses the numbers
// inside it, in order.
//
// Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004);
// Bohm, arXiv 2008.01684, which the paper (FGCS 145, section 7) cites for such orders. Cost: about
// 8 operations a bit and axis, where Morton order takes 10 an axis in total.
//
// All functions return a value for all arguments: for k = 0, bits = 0 or k * bits > 64 a scalar is
// 0 and coordinates are 0; bits of a coordinate from `bits` on, and of a scalar from k * bits on,
// are ignored.
#ifndef TMAP_PAPERS_REGION_HILBERT_H
#define TMAP_PAPERS_REGION_HILBERT_H

#include "../adaptive/region.h"

// ---- canonical order: row after row -------------------------------------------------------------

// The canonical number of a region: f(x_0 ... x_{k-1}) = sum of x_i prod_{j<i} n_j, equation 33,
// for k axes, modulo 2^64; y n_x + x for two (29, 31), z n_x n_y + y n_x + x for three (32). n[k -
// 1] is not read. k = 0 gives 0. Example: n = {5, 4, 3}, x = {2, 3, 1} -> 37.
TMAP_FN tmap_u64 tmap_region_canonical(tmap_u32 k, const tmap_u32 *x, const tmap_u32 *n) {
    tmap_u64 s = 0;
    while (k--) {
        s += x[k]; // Horner: the last axis first
        if (k) s *= n[k - 1];
    }
    return s;
}

// The inverse of tmap_region_canonical: x_i = floor(s / prod_{j<i} n_j) mod n_i; the last axis gets
// the rest. Writes k numbers. n_i = 0 counts as 1; n[k - 1] is not read. Example: n = {5, 4, 3}, 37
// -> {2, 3, 1}.
TMAP_FN void tmap_region_canonical_at(tmap_u32 k, tmap_u64 s, const tmap_u32 *n, tmap_u32 *x) {
    tmap_u32 i;
    for (i = 0; i + 1 < k; ++i) {
        tmap_u32 side = n[i] ? n[i] : 1;
        x[i] = (tmap_u32)(s % side);
        s /= side;
    }
    if (k) x[k - 1] = (tmap_u32)s;
}

// ---- Morton order: bit after bit ----------------------------------------------------------------
//
// The bits of the coordinates alternate, x first, so neighbours in space are mostly neighbours in
// the table. n_x is not needed. For r = 2 child c of region s is 4 s + c; with three axes 8 s + c.

// Moves bit i of v to bit k i, for the lower `bits` bits.
TMAP_FN tmap_u64 tmapi_region_spread(tmap_u32 v, tmap_u32 k, tmap_u32 bits) {
    tmap_u64 s = 0;
    for (tmap_u32 i = 0; i < bits; ++i) s |= (tmap_u64)(v >> i & 1) << k * i;
    return s;
}

// The inverse of tmapi_region_spread; other bits are ignored.
TMAP_FN tmap_u32 tmapi_region_gather(tmap_u64 s, tmap_u32 k, tmap_u32 bits) {
    tmap_u32 v = 0;
    for (tmap_u32 i = 0; i < bits; ++i) v |= (tmap_u32)(s >> k * i & 1) << i;
    return v;
}

// The Morton number of two coordinates of 32 bits: bit i of x at 2i, of y at 2i + 1. Any arguments.
// Law: morton2_at(morton2(p)) == p, and morton2(morton2_at(s)) == s. Example:
// (0,0)(1,0)(0,1)(1,1)(2,0) -> 0 1 2 3 4; (3,5) -> 39.
TMAP_FN tmap_u64 tmap_region_morton2(tmap_xy p) {
    return tmapi_region_spread(p.x, 2, 32) | tmapi_region_spread(p.y, 2, 32) << 1;
}

// The inverse of tmap_region_morton2.
TMAP_FN tmap_xy tmap_region_morton2_at(tmap_u64 s) {
    const tmap_xy p = {tmapi_region_gather(s, 2, 32), tmapi_region_gather(s >> 1, 2, 32)};
    return p;
}

// The Morton number of three coordinates of 21 bits: bit i of x at 3i, of y at 3i + 1, of z at 3i +
// 2. Higher bits of a coordinate, and bit 63 of s, are ignored. Laws as above.
// Example: (1,2,3) -> 53.
TMAP_FN tmap_u64 tmap_region_morton3(tmap_xyz p) {
    return tmapi_region_spread(p.x, 3, 21) | tmapi_region_spread(p.y, 3, 21) << 1 |
           tmapi_region_spread(p.z, 3, 21) << 2;
}

// The inverse of tmap_region_morton3.
TMAP_FN tmap_xyz tmap_region_morton3_at(tmap_u64 s) {
    const tmap_xyz p = {tmapi_region_gather(s, 3, 21), tmapi_region_gather(s >> 1, 3, 21),
                        tmapi_region_gather(s >> 2, 3, 21)};
    return p;
}

// ---- Hilbert order ------------------------------------------------------------------------------

// Rotates and mirrors the bits below q, as the curve enters the half of axis i: if the bit is set,
// the first axis is mirrored, else it is exchanged with axis i.
TMAP_FN void tmapi_region_hilbert_turn(tmap_u32 *x, tmap_u32 i, tmap_u32 q) {
    const tmap_u32 below = q - 1;
    if (x[i] & q) {
        x[0] ^= below;
    } else {
        tmap_u32 t = (x[0] ^ x[i]) & below;
        x[0] ^= t, x[i] ^= t;
    }
}

// 1 if k and bits describe such a cube.
TMAP_FN int tmapi_region_hilbert_fits(tmap_u32 k, tmap_u32 bits) {
    return k - 1 < 64 && bits - 1 < 32 && k * bits <= 64;
}

// The number of (x_0 ... x_{k-1}) in the order. x: k numbers, which are overwritten.
TMAP_FN tmap_u64 tmapi_region_hilbert_of(tmap_u32 k, tmap_u32 bits, tmap_u32 *x) {
    const tmap_u32 top = 1u << (bits - 1);
    tmap_u32 i, q, flip = 0;
    tmap_u64 s = 0;
    for (q = top; q > 1; q >>= 1)
        for (i = 0; i < k; ++i) tmapi_region_hilbert_turn(x, i, q);
    for (i = 1; i < k; ++i) x[i] ^= x[i - 1]; // from Gray code
    for (q = top; q > 1; q >>= 1)
        if (x[k - 1] & q) flip ^= q - 1;
    for (q = top; q; q >>= 1)
        for (i = 0; i < k; ++i) s = s << 1 | (((x[i] ^ flip) & q) != 0);
    return s;
}

// The inverse; writes k numbers.
TMAP_FN void tmapi_region_hilbert_at(tmap_u32 k, tmap_u32 bits, tmap_u64 s, tmap_u32 *x) {
    const tmap_u32 top = 1u << (bits - 1);
    tmap_u32 i, q, last;
    for (i = 0; i < k; ++i) x[i] = 0;
    for (q = 1; q; q = q == top ? 0 : q << 1)
        for (i = k; i--; s >>= 1)
            if (s & 1) x[i] |= q;
    last = x[k - 1] >> 1;
    for (i = k; --i;) x[i] ^= x[i - 1]; // to Gray code
    x[0] ^= last;
    for (q = 2; bits > 1 && q; q = q == top ? 0 : q << 1)
        for (i = k; i--;) tmapi_region_hilbert_turn(x, i, q);
}

// The Hilbert number of (x, y). Range: bits: 1 to 32. Law: hilbert2(hilbert2_at(s, bits), bits) ==
// s. Example: bits = 1, (0,0) (0,1) (1,1) (1,0) -> 0 1 2 3.
TMAP_FN tmap_u64 tmap_region_hilbert2(tmap_xy p, tmap_u32 bits) {
    tmap_u32 x[2];
    if (!tmapi_region_hilbert_fits(2, bits)) return 0;
    x[0] = p.x & ~0u >> (32 - bits), x[1] = p.y & ~0u >> (32 - bits);
    return tmapi_region_hilbert_of(2, bits, x);
}

// The inverse of tmap_region_hilbert2.
TMAP_FN tmap_xy tmap_region_hilbert2_at(tmap_u64 s, tmap_u32 bits) {
    tmap_u32 x[2] = {0, 0};
    tmap_xy p;
    if (tmapi_region_hilbert_fits(2, bits)) tmapi_region_hilbert_at(2, bits, s, x);
    p.x = x[0], p.y = x[1];
    return p;
}

// The Hilbert number of (x, y, z). Range: bits: 1 to 21.
TMAP_FN tmap_u64 tmap_region_hilbert3(tmap_xyz p, tmap_u32 bits) {
    tmap_u32 x[3];
    if (!tmapi_region_hilbert_fits(3, bits)) return 0;
    x[0] = p.x & ~0u >> (32 - bits), x[1] = p.y & ~0u >> (32 - bits);
    x[2] = p.z & ~0u >> (32 - bits);
    return tmapi_region_hilbert_of(3, bits, x);
}

// The inverse of tmap_region_hilbert3.
TMAP_FN tmap_xyz tmap_region_hilbert3_at(tmap_u64 s, tmap_u32 bits) {
    tmap_u32 x[3] = {0, 0, 0};
    tmap_xyz p;
    if (tmapi_region_hilbert_fits(3, bits)) tmapi_region_hilbert_at(3, bits, s, x);
    p.x = x[0], p.y = x[1], p.z = x[2];
    return p;
}

// The Hilbert number with k axes, 1 to 64. x: k numbers. Example: k = 3, bits = 1: (0,0,0) (0,0,1)
// (0,1,1) (0,1,0) (1,1,0) (1,1,1) (1,0,1) (1,0,0) -> 0 ... 7.
TMAP_FN tmap_u64 tmap_region_hilbert(tmap_u32 k, const tmap_u32 *x, tmap_u32 bits) {
    tmap_u32 copy[64], i;
    if (!tmapi_region_hilbert_fits(k, bits)) return 0;
    for (i = 0; i < k; ++i) copy[i] = x[i] & ~0u >> (32 - bits);
    return tmapi_region_hilbert_of(k, bits, copy);
}

// The inverse of tmap_region_hilbert. Writes k numbers.
TMAP_FN void tmap_region_hilbert_at(tmap_u32 k, tmap_u64 s, tmap_u32 bits, tmap_u32 *x) {
    tmap_u32 i;
    for (i = 0; i < k; ++i) x[i] = 0;
    if (tmapi_region_hilbert_fits(k, bits)) tmapi_region_hilbert_at(k, bits, s, x);
}

#endif
