// SPDX-License-Identifier: MIT
// region_hilbert.h: Hilbert order of regions: one scalar for each, as the canonical and the Morton
// order of adaptive/region.h are, in which regions that follow each other share a side.
//
// The cube has k axes of 2^bits regions, k * bits <= 64. Laws: a bijection onto 0 ... 2^(k bits) -
// 1; neighbours in the order differ by 1 along one axis; the first is the origin; any aligned 2^(k
// m) numbers are a cube of side 2^m. So a domain of other sides takes the numbers that are in it,
// in order.
//
// Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004);
// Bohm, arXiv 2008.01684, which the paper (FGCS 145, section 7) names for such orders. Cost: some 8
// operations a bit and axis, where Morton order takes 10 an axis in all.
//
// All functions are total: for k = 0, bits = 0 or k * bits > 64 a scalar is 0 and coordinates are
// 0; bits of a coordinate from `bits` on, and of a scalar from k * bits on, are ignored.
#ifndef TMAP_PAPERS_REGION_HILBERT_H
#define TMAP_PAPERS_REGION_HILBERT_H

#include "../adaptive/region.h"

// Turns and mirrors what is below bit q, as the curve goes into the half of axis i: if the bit is
// set, the first axis is mirrored, else it changes places with axis i.
TMAP_FN void tmapi_region_hilbert_turn(tmap_u32 *x, tmap_u32 i, tmap_u32 q) {
    const tmap_u32 below = q - 1;
    if (x[i] & q) {
        x[0] ^= below;
    } else {
        tmap_u32 t = (x[0] ^ x[i]) & below;
        x[0] ^= t, x[i] ^= t;
    }
}

// 1 if there is such a cube.
TMAP_FN int tmapi_region_hilbert_fits(tmap_u32 k, tmap_u32 bits) {
    return k - 1 < 64 && bits - 1 < 32 && k * bits <= 64;
}

// The place of (x_0 ... x_{k-1}) in the order. x: k numbers, which are overwritten.
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

// The place of (x, y). bits: 1 to 32. Law: hilbert2(hilbert2_at(s, bits), bits) == s.
// Example: bits = 1, (0,0) (0,1) (1,1) (1,0) -> 0 1 2 3.
TMAP_FN tmap_u64 tmap_region_hilbert2(tmap_xy p, tmap_u32 bits) {
    tmap_u32 x[2];
    if (!tmapi_region_hilbert_fits(2, bits)) return 0;
    x[0] = p.x & ~0u >> (32 - bits), x[1] = p.y & ~0u >> (32 - bits);
    return tmapi_region_hilbert_of(2, bits, x);
}

TMAP_FN tmap_xy tmap_region_hilbert2_at(tmap_u64 s, tmap_u32 bits) {
    tmap_u32 x[2] = {0, 0};
    tmap_xy p;
    if (tmapi_region_hilbert_fits(2, bits)) tmapi_region_hilbert_at(2, bits, s, x);
    p.x = x[0], p.y = x[1];
    return p;
}

// The same with three axes; bits: 1 to 21.
TMAP_FN tmap_u64 tmap_region_hilbert3(tmap_xyz p, tmap_u32 bits) {
    tmap_u32 x[3];
    if (!tmapi_region_hilbert_fits(3, bits)) return 0;
    x[0] = p.x & ~0u >> (32 - bits), x[1] = p.y & ~0u >> (32 - bits);
    x[2] = p.z & ~0u >> (32 - bits);
    return tmapi_region_hilbert_of(3, bits, x);
}

TMAP_FN tmap_xyz tmap_region_hilbert3_at(tmap_u64 s, tmap_u32 bits) {
    tmap_u32 x[3] = {0, 0, 0};
    tmap_xyz p;
    if (tmapi_region_hilbert_fits(3, bits)) tmapi_region_hilbert_at(3, bits, s, x);
    p.x = x[0], p.y = x[1], p.z = x[2];
    return p;
}

// The same with k axes, 1 to 64. x: k numbers. Example: k = 3, bits = 1: (0,0,0) (0,0,1) (0,1,1)
// (0,1,0) (1,1,0) (1,1,1) (1,0,1) (1,0,0) -> 0 ... 7.
TMAP_FN tmap_u64 tmap_region_hilbert(tmap_u32 k, const tmap_u32 *x, tmap_u32 bits) {
    tmap_u32 copy[64], i;
    if (!tmapi_region_hilbert_fits(k, bits)) return 0;
    for (i = 0; i < k; ++i) copy[i] = x[i] & ~0u >> (32 - bits);
    return tmapi_region_hilbert_of(k, bits, copy);
}

TMAP_FN void tmap_region_hilbert_at(tmap_u32 k, tmap_u64 s, tmap_u32 bits, tmap_u32 *x) {
    tmap_u32 i;
    for (i = 0; i < k; ++i) x[i] = 0;
    if (tmapi_region_hilbert_fits(k, bits)) tmapi_region_hilbert_at(k, bits, s, x);
}

#endif
