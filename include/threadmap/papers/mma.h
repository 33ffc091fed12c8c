// SPDX-License-Identifier: MIT
// mma.h: lambda on tensor cores, exact at every level.
//
// Lambda is a matrix product: coordinate = sum over mu of tau^mu * s^(mu-1), digits times powers.
// The paper stores both in half precision (wmma.h), which represents s^(mu-1) exactly only up to
// 2048 in general. Here it is a product of bytes with 32-bit sums: a digit tau is below 16, and a
// power is cut into its four bytes, its limbs, each in a separate column:
//
//            k = 0..15     k = 16..31                     columns 0..3    columns 4..7
//   row t  ( tau_x^mu(t)   tau_y^mu(t) )  x  k = 0..15  ( sx^(mu-1)[n]         0        )
//                                            k = 16..31 (      0         sy^(mu-1)[n-4] )
//
// A sum is below 32 * 15 * 255 < 2^17, and coordinate = sum of limb sums << 8n is exact modulo
// 2^32. The rows are 16 different omega, so that one product maps the next 16 tiles of a warp
// (tmap_mma_tiles_map); or all rows are the same omega, and every lane has the result without a
// shuffle (variants 1 and 3 of the paper).
//
// A lane computes four consecutive digits of an omega together, by arithmetic on four packed
// digits, and looks all four up with one byte permutation.
//
// Source: Navarro et al., FGCS 113 (2020), section 6.3; limbs, packed digits and tiles in rows are
// additions of this library.
//
// The fragments of mma.sync have the layout of the PTX manual (mma.m16n8k32; on sm_75, m8n8k16), so
// no shared memory is needed. Machines without it compute the same results by shuffles.
//
// Functions are collective: all lanes of the warp in `warp` must call together. Warps of fewer than
// 32 threads (a block's last one, or blocks below 32 threads) use no tensor cores. Ranges are those
// of tmap_nbb_lambda: level r + m <= tmap_nbb_level_max32(f); above, an unspecified value.
#ifndef TMAP_PAPERS_MMA_H
#define TMAP_PAPERS_MMA_H

#include "../fractal/warp.h"
#include "../reduce.h"

// ---- mma ----------------------------------------------------------------------------------------

// Tiles of one batch: the rows of A.
#define TMAP_MMA_TILES 16

#if TMAP_CUDA

// ---- four digits at a time ----------------------------------------------------------------------

// v, hidden from the compiler, which would otherwise repeat the preparation of a lane in the loop
// over tiles: two thirds of the loop's instructions.
TMAP_DEVICE tmap_u32 tmapi_mma_keep(tmap_u32 v) {
#if defined(__CUDA_ARCH__)
    asm("" : "+r"(v));
#endif
    return v;
}

// Converts digits to offsets: byte beta of x0..x3 (y0..y3) is tau_x (tau_y) of replica beta.
typedef struct tmapi_mma_table {
    tmap_u32 by_pair;  // ceil(2^32 / k^2)
    tmap_u32 by_digit; // ceil(2^12 / k)
    tmap_u32 x0, x1, x2, x3, y0, y1, y2, y3;
} tmapi_mma_table;

// Four digits of an omega that a lane reads, and their weights.
typedef struct tmapi_mma_word {
    tmap_u64 reciprocal;         // ceil(2^64 / k^(e+n)): digits e..e+n-1, n <= 4; 0 for none
    tmap_u32 power;              // k^n
    tmap_u32 reads_y;            // 1: digits of wy
    tmap_u32 b0, b1;             // B for tiles: limb (lane / 4) % 4 of x, of y, or limbs of both
    tmap_u32 x01, y01, x23, y23; // B for one omega: limb lane / 4 % 2 and the limb two above it
} tmapi_mma_word;

typedef struct tmapi_mma_bytes {
    tmap_u32 x, y;
} tmapi_mma_bytes;

// Bytes 0..3 from nibbles 0..3.
TMAP_DEVICE tmap_u32 tmapi_mma_spread(tmap_u32 v) {
    v &= 0xffffu;
    v = (v | v << 8) & 0x00ff00ffu;
    return (v | v << 4) & 0x0f0f0f0fu;
}

TMAP_DEVICE tmapi_mma_table tmapi_mma_table_make(tmap_nbb f) {
    tmapi_mma_table t;
    t.by_pair = 0xffffffffu / (f.k * f.k) + 1; // 0 for k = 1, whose digits are all 0
    t.by_digit = (4095 + f.k) / f.k;
    t.x0 = tmapi_mma_spread((tmap_u32)f.tau_x);
    t.x1 = tmapi_mma_spread((tmap_u32)(f.tau_x >> 16));
    t.x2 = tmapi_mma_spread((tmap_u32)(f.tau_x >> 32));
    t.x3 = tmapi_mma_spread((tmap_u32)(f.tau_x >> 48));
    t.y0 = tmapi_mma_spread((tmap_u32)f.tau_y);
    t.y1 = tmapi_mma_spread((tmap_u32)(f.tau_y >> 16));
    t.y2 = tmapi_mma_spread((tmap_u32)(f.tau_y >> 32));
    t.y3 = tmapi_mma_spread((tmap_u32)(f.tau_y >> 48));
    return t;
}

// Limb `limb` of four powers as four bytes: base^(m + mu - 1) for mu = first, first + step, ...,
// four of them; 0 above level r.
TMAP_DEVICE tmap_u32 tmapi_mma_limbs(tmap_u32 base, tmap_u32 r, tmap_u32 m, tmap_u32 first,
                                     tmap_u32 step, tmap_u32 limb) {
    tmap_u32 bytes = 0, power = tmapi_pow32(base, (m + first - 1) & 63);
    for (int i = 0; i < 4; ++i) {
        if (first <= r) bytes |= (power >> 8 * limb & 0xffu) << 8 * i;
        first += step;
        power *= step == 2 ? base * base : base;
    }
    return bytes;
}

// Digits e..e+3 of an omega of `digits` digits, of levels mu = first, first + step, ...
TMAP_DEVICE tmapi_mma_word tmapi_mma_word_make(tmap_u32 lane, tmap_nbb f, tmap_u32 r, tmap_u32 m,
                                               int packed, tmap_u32 e, tmap_u32 digits,
                                               tmap_u32 first, tmap_u32 step) {
    tmapi_mma_word w;
    tmap_u32 n = e >= digits ? 0 : digits - e < 4 ? digits - e : 4;
    tmap_u32 g = lane / 4, limb = packed ? g & 1u : g & 3u;
    int is_y = packed ? (g >> 1 & 1u) != 0 : g >= 4;
    tmap_u64 p = tmapi_pow64(f.k, (e + n) & 63);
    w.reciprocal = n && p ? ~0ull / p + 1 : 0; // k = 1: 2^64 becomes 0, and the digits are 0
    w.power = tmapi_mma_keep(tmapi_pow32(f.k, n));
    w.reads_y = 0;
    w.b0 = tmapi_mma_keep(is_y ? 0 : tmapi_mma_limbs(f.sx, r, m, first, step, limb));
    w.b1 = tmapi_mma_keep(is_y ? tmapi_mma_limbs(f.sy, r, m, first, step, limb) : 0);
    w.x01 = tmapi_mma_keep(tmapi_mma_limbs(f.sx, r, m, first, step, g & 1u));
    w.y01 = tmapi_mma_keep(tmapi_mma_limbs(f.sy, r, m, first, step, g & 1u));
    w.x23 = tmapi_mma_keep(tmapi_mma_limbs(f.sx, r, m, first, step, (g & 1u) + 2));
    w.y23 = tmapi_mma_keep(tmapi_mma_limbs(f.sy, r, m, first, step, (g & 1u) + 2));
    return w;
}

// Looks up byte i for nibble i of `select`, in 8 or 16 bytes.
TMAP_DEVICE tmap_u32 tmapi_mma_lookup(tmap_u32 k, tmap_u32 select, tmap_u32 t0, tmap_u32 t1,
                                      tmap_u32 t2, tmap_u32 t3) {
    if (k <= 8) {
        return __byte_perm(t0, t1, select);
    } else {
        tmap_u32 upper = __byte_perm(0, 0xffffffffu, (select & 0x8888u) >> 1); // 0xff: beta >= 8
        tmap_u32 low = select & 0x7777u;
        return (__byte_perm(t0, t1, low) & ~upper) | (__byte_perm(t2, t3, low) & upper);
    }
}

// The offsets of this lane's four digits of omega, the lowest digit in the lowest byte.
//
// With p = k^(e+n), the n digits together are the integer part of k^n * frac(omega / p), exact for
// p <= 2^32 (see tmap_warp_level). A number below k^4 <= 2^16 is then split into two pairs of
// digits, 16 bits apart, and both pairs at once into digits, 4 bits apart: v * ceil(2^12 / k) is
// below 2^16 for v < k^2, and its error below one unit of the quotient, since k^3 < 2^12 for every
// k that is not a power of two.
TMAP_DEVICE tmapi_mma_bytes tmapi_mma_digits(const tmapi_mma_table *t, const tmapi_mma_word *w,
                                             tmap_nbb f, tmap_u32 omega) {
    tmapi_mma_bytes b;
    tmap_u64 fraction = omega * w->reciprocal;
    tmap_u32 four =
        (tmap_u32)(((fraction >> 32) * w->power + __umulhi((tmap_u32)fraction, w->power)) >> 32);
    tmap_u32 pairs = four + __umulhi(four, t->by_pair) * (65536 - f.k * f.k);
    tmap_u32 digits = pairs + (pairs * t->by_digit >> 12 & 0x000f000fu) * (16 - f.k);
    digits |= digits >> 8;
    b.x = tmapi_mma_lookup(f.k, digits, t->x0, t->x1, t->x2, t->x3);
    b.y = tmapi_mma_lookup(f.k, digits, t->y0, t->y1, t->y2, t->y3);
    return b;
}

// 1 if all coordinates of a fractal of level r fit 16 bits.
TMAP_DEVICE int tmapi_mma_packed(tmap_nbb f, tmap_u32 r) {
    tmap_u32 side = 1, s = f.sx > f.sy ? f.sx : f.sy;
    for (tmap_u32 i = 0; i < r && side <= 0x10000u && s > 1; ++i) side *= s;
    return side <= 0x10000u;
}

// ---- variants 1 to 3: a block at a time ---------------------------------------------------------

// A lane's data for the variants. Make it once, before a loop.
typedef struct tmap_mma {
    tmap_warp warp;
    tmap_u32 r, m;
    int linear; // of tiles: omega is a linear index
    int packed; // all coordinates fit 16 bits: two limbs suffice
    int single; // 16 digits suffice
    tmapi_mma_table table;
    tmapi_mma_word first, second;
} tmap_mma;

// Prepares this lane for fractal f of level r and orthotope coordinates. m: cells and tiles are
// multiplied by s^m: 0 gives the coordinates of tiles; the level m of the tiles gives those of each
// tile's first cell. w: tmap_warp_full() in blocks of full warps, else tmap_warp_self().
TMAP_DEVICE tmap_mma tmap_mma_make(tmap_warp w, tmap_nbb f, tmap_u32 r, tmap_u32 m) {
    tmap_mma s;
    tmap_u32 q = w.lane & 3u, x = r / 2 + r % 2, y = r / 2;
    s.warp = w;
    s.r = r;
    s.m = m;
    s.linear = 0;
    s.packed = tmapi_mma_packed(f, r + m);
    s.single = r <= 16;
    s.table = tmapi_mma_table_make(f);
    if (s.single) { // lanes q = 0, 1 read 8 digits of wx, q = 2, 3 those of wy
        tmap_u32 is_y = q >> 1, e = 4 * (q & 1u);
        s.first =
            tmapi_mma_word_make(w.lane, f, r, m, s.packed, e, is_y ? y : x, 2 * e + 1 + is_y, 2);
        s.first.reads_y = is_y;
        s.second = s.first; // unused
    } else {
        s.first = tmapi_mma_word_make(w.lane, f, r, m, s.packed, 4 * q, x, 8 * q + 1, 2);
        s.second = tmapi_mma_word_make(w.lane, f, r, m, s.packed, 4 * q, y, 8 * q + 2, 2);
        s.second.reads_y = 1;
    }
    return s;
}

// Lambda times s^m, computed by one thread: for partial warps.
TMAP_DEVICE tmap_xy tmapi_mma_alone(const tmap_mma *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy) {
    tmap_xy c = s->linear ? tmap_nbb_lambda_linear(f, wx, s->r) : tmap_nbb_lambda(f, wx, wy, s->r);
    c.x *= tmapi_pow32(f.sx, s->m & 63);
    c.y *= tmapi_pow32(f.sy, s->m & 63);
    return c;
}

// Variant 3: lambda(omega) * s^m + (tx, ty), with C the thread's position in its tile: the cell of
// each thread. A, B and C are full: rows 0..7 of A are the digits of x, rows 8..15 those of y, and
// columns alternate between two limbs, so that each lane's four sums are the limbs of its own x and
// y. For any tile of level m <= level_max32 - r: 16 x 16 or 32 x 32 threads in the paper.
// wx, wy: the block's omega, the same in all lanes; tx, ty < s^m: the thread's own.
// Law: tmap_mma3_lambda(&s, f, wx, wy, tx, ty) == tmap_nbb_lambda(f, wx, wy, r) * s^m + (tx, ty).
// Cost: one product if coordinates fit 16 bits and r <= 16, else two or four; no shuffle. Alone it
// is slower than shuffles (H200, gasket, level 16: 0.65 to 0.7 of their speed), because its digits
// take 27 integer multiplications, which that chip issues at half rate; in a memory-bound kernel
// this makes no difference. tmap_mma_tiles_map shares the work of a product among 16 tiles.
// Example: gasket, r = 2, m = 4, omega (2, 1), thread (3, 5): (1,3) * 16 + (3,5) = (19,53).
TMAP_DEVICE tmap_xy tmap_mma3_lambda(const tmap_mma *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                     tmap_u32 tx, tmap_u32 ty) {
    tmap_xy c;
    tmapi_mma_sums low = {tx, 0, ty, 0}, high = {0, 0, 0, 0};
    tmap_u32 lane = s->warp.lane;
    tmapi_mma_bytes a;
    if (s->warp.lanes < 32) {
        c = tmapi_mma_alone(s, f, wx, wy);
        c.x += tx;
        c.y += ty;
        return c;
    }
    a = tmapi_mma_digits(&s->table, &s->first, f, s->first.reads_y ? wy : wx);
    tmapi_mma(lane, &low, a.x, 0, 0, a.y, s->first.x01, s->first.y01);
    if (!s->packed) tmapi_mma(lane, &high, a.x, 0, 0, a.y, s->first.x23, s->first.y23);
    if (!s->single) {
        a = tmapi_mma_digits(&s->table, &s->second, f, wy);
        tmapi_mma(lane, &low, a.x, 0, 0, a.y, s->second.x01, s->second.y01);
        if (!s->packed) tmapi_mma(lane, &high, a.x, 0, 0, a.y, s->second.x23, s->second.y23);
    }
    c.x = low.d0 + (low.d1 << 8);
    c.y = low.d2 + (low.d3 << 8);
    if (!s->packed) {
        c.x += (high.d0 << 16) + (high.d1 << 24);
        c.y += (high.d2 << 16) + (high.d3 << 24);
    }
    return c;
}

// Variant 1: lambda(omega) * s^m for the warp, in all its lanes, by one product; arguments are the
// same in all lanes. Cost: as tmap_mma3_lambda.
// Law: with m = 0, tmap_mma1_lambda(&s, f, wx, wy) == tmap_nbb_lambda(f, wx, wy, r).
// Example: carpet, r = 1, m = 0: wx = 0..7 -> (0,0)(1,0)(2,0)(0,1)(2,1)(0,2)(1,2)(2,2).
TMAP_DEVICE tmap_xy tmap_mma1_lambda(const tmap_mma *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy) {
    return tmap_mma3_lambda(s, f, wx, wy, 0, 0);
}

// ---- many omega in one product ------------------------------------------------------------------

// The cells of the 16 rows of a product: lanes 4t..4t+3 have those of rows t and t + 8. Read them
// with tmap_mma_tiles_cell.
typedef struct tmap_mma_batch {
    tmap_u32 rows0, rows8;
    tmap_u32 first, step; // the arguments, for partial warps
} tmap_mma_batch;

// The sums of limbs of a coordinate, or of x + 2^16 y, from the lanes with two limbs each: in two
// (packed: four) lanes.
TMAP_DEVICE tmap_u32 tmapi_mma_join(tmap_u32 lane, tmap_u32 low, tmap_u32 high) {
    tmap_u32 unit = lane & 1u ? 0x10000u : 1u;
    tmap_u32 v = low * unit + high * (unit << 8);
    return v + __shfl_xor_sync(0xffffffffu, v, 1);
}

// The cell of row t % 16. Packed: x and y in one word.
TMAP_DEVICE tmap_xy tmapi_mma_row_cell(int packed, tmap_u32 rows0, tmap_u32 rows8, tmap_u32 t) {
    tmap_xy c;
    tmap_u32 rows = t & 8u ? rows8 : rows0;
    int lane = (int)(4 * (t & 7u));
    tmap_u32 v = __shfl_sync(0xffffffffu, rows, lane);
    if (packed) {
        c.x = v & 0xffffu;
        c.y = v >> 16;
    } else {
        c.x = v;
        c.y = __shfl_sync(0xffffffffu, rows, lane + 2);
    }
    return c;
}

// Variant 2: up to 8 omega, those of the sub-blocks of a block, by one product; each lane gets the
// cell of one of them. Lane l passes omega number l / 4. own: 0..7, the omega whose cell this lane
// gets (others: own % 8); the same in all lanes or not. In a partial warp, the last lane's omega
// replaces that of an `own` without a lane.
// Cost: one product for r <= 16, else two; 2 shuffles, and one or two more for each distinct word.
// Example: gasket, r = 1, m = 0, wx = l / 4, own = 2: (1,1).
TMAP_DEVICE tmap_xy tmap_mma2_lambda(const tmap_mma *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                     tmap_u32 own) {
    tmapi_mma_sums d = {0, 0, 0, 0};
    tmap_u32 lane = s->warp.lane, rows, v;
    tmapi_mma_bytes a;
    tmap_xy c;
    int from = (int)(4 * (own & 7u));
    if (s->warp.lanes < 32) {
        if (from >= (int)s->warp.lanes) from = (int)s->warp.lanes - 1;
        wx = __shfl_sync(s->warp.mask, wx, from);
        wy = __shfl_sync(s->warp.mask, wy, from);
        return tmapi_mma_alone(s, f, wx, wy);
    }
    a = tmapi_mma_digits(&s->table, &s->first, f, s->first.reads_y ? wy : wx);
    tmapi_mma(lane, &d, a.x, 0, a.y, 0, s->first.b0, s->first.b1);
    if (!s->single) {
        a = tmapi_mma_digits(&s->table, &s->second, f, wy);
        tmapi_mma(lane, &d, a.x, 0, a.y, 0, s->second.b0, s->second.b1);
    }
    rows = tmapi_mma_join(lane, d.d0, d.d1);
    v = __shfl_sync(0xffffffffu, rows, from);
    c.x = s->packed ? v & 0xffffu : v;
    c.y = s->packed ? v >> 16 : __shfl_sync(0xffffffffu, rows, from + 2);
    return c;
}

// A lane's data for mapping 16 tiles at a time. Make it once, before the loop over tiles.
typedef struct tmap_mma_tiles {
    tmap_mma mma;         // its first word reads what changes from tile to tile
    tmap_u32 fixed, wx;   // 1: a column, and its wx
    tmap_u32 even0, odd0; // C: the sums that wx adds to every tile
} tmap_mma_tiles;

// Prepares this lane for tiles with consecutive linear indices. Range: r <= linear_level_max32(f);
// m as in tmap_mma_make.
TMAP_DEVICE tmap_mma_tiles tmap_mma_tiles_make_linear(tmap_warp w, tmap_nbb f, tmap_u32 r,
                                                      tmap_u32 m) {
    tmap_mma_tiles t;
    tmap_mma s;
    tmap_u32 e = 4 * (w.lane & 3u);
    s.warp = w;
    s.r = r;
    s.m = m;
    s.linear = 1;
    s.packed = tmapi_mma_packed(f, r + m);
    s.single = r <= 16;
    s.table = tmapi_mma_table_make(f);
    s.first = tmapi_mma_word_make(w.lane, f, r, m, s.packed, e, r, e + 1, 1);
    s.second = s.first; // unused if one is enough: it takes a long division
    if (!s.single) s.second = tmapi_mma_word_make(w.lane, f, r, m, s.packed, e + 16, r, e + 17, 1);
    t.mma = s;
    t.fixed = 0;
    t.wx = 0;
    t.even0 = t.odd0 = 0;
    return t;
}

// Prepares this lane for tiles (wx, wy) of one column of the orthotope. The levels that read wx are
// summed here, once; a product then has at most 16 levels for every r. Range: r <= level_max32(f).
TMAP_DEVICE tmap_mma_tiles tmap_mma_tiles_make_column(tmap_warp w, tmap_nbb f, tmap_u32 r,
                                                      tmap_u32 m, tmap_u32 wx) {
    tmap_mma_tiles t;
    tmapi_mma_sums d = {0, 0, 0, 0};
    tmap_u32 e = 4 * (w.lane & 3u);
    tmapi_mma_word odd;
    tmapi_mma_bytes a;
    t.mma.warp = w;
    t.mma.r = r;
    t.mma.m = m;
    t.mma.linear = 0;
    t.mma.packed = tmapi_mma_packed(f, r + m);
    t.mma.single = 1;
    t.mma.table = tmapi_mma_table_make(f);
    odd = tmapi_mma_word_make(w.lane, f, r, m, t.mma.packed, e, r / 2 + r % 2, 2 * e + 1, 2);
    t.mma.first = tmapi_mma_word_make(w.lane, f, r, m, t.mma.packed, e, r / 2, 2 * e + 2, 2);
    t.mma.second = t.mma.first; // unused
    if (w.lanes == 32) {
        a = tmapi_mma_digits(&t.mma.table, &odd, f, wx);
        tmapi_mma(w.lane, &d, a.x, 0, a.y, 0, odd.b0, odd.b1);
    }
    t.fixed = 1;
    t.wx = wx;
    t.even0 = d.d0;
    t.odd0 = d.d1;
    return t;
}

// Maps 16 tiles: tile j has linear index, or wy, first + j * step. Arguments are equal in all
// lanes. first, step: any; a tile after the last one gives an unspecified cell, which the caller
// ignores.
// Cost: one product for the 16 (two for linear indices of r > 16) and about 70 instructions, where
// 16 lambdas by shuffles take 670. On an H200, gasket, level 16: 8 instructions and 2.9 clocks of a
// multiprocessor a tile, including tmap_mma_tiles_cell, compared with 42 and 15.5.
//
//     tmap_mma_tiles t = tmap_mma_tiles_make_linear(tmap_warp_full(), f, r, 0);
//     for (i = warp; i < tiles; i += 16 * warps) {
//         tmap_mma_batch b = tmap_mma_tiles_map(&t, f, i, warps);
//         for (j = 0; j < 16 && i + j * warps < tiles; ++j)
//             ... tmap_mma_tiles_cell(&t, f, b, j) ...
//     }
TMAP_DEVICE tmap_mma_batch tmap_mma_tiles_map(const tmap_mma_tiles *t, tmap_nbb f, tmap_u32 first,
                                              tmap_u32 step) {
    tmap_mma_batch batch;
    const tmap_mma *s = &t->mma;
    tmap_u32 lane = s->warp.lane, w = first + (lane / 4) * step;
    tmapi_mma_sums d = {t->even0, t->odd0, t->even0, t->odd0};
    tmapi_mma_bytes a, b;
    batch.first = first;
    batch.step = step;
    batch.rows0 = batch.rows8 = 0;
    if (s->warp.lanes < 32) return batch;
    a = tmapi_mma_digits(&s->table, &s->first, f, w);
    b = tmapi_mma_digits(&s->table, &s->first, f, w + 8 * step);
    tmapi_mma(lane, &d, a.x, b.x, a.y, b.y, s->first.b0, s->first.b1);
    if (!s->single) {
        a = tmapi_mma_digits(&s->table, &s->second, f, w);
        b = tmapi_mma_digits(&s->table, &s->second, f, w + 8 * step);
        tmapi_mma(lane, &d, a.x, b.x, a.y, b.y, s->second.b0, s->second.b1);
    }
    batch.rows0 = tmapi_mma_join(lane, d.d0, d.d1);
    batch.rows8 = tmapi_mma_join(lane, d.d2, d.d3);
    return batch;
}

// The cell of tile j of a batch, in all lanes; collective, j the same in all lanes, 0..15 (others:
// j % 16 in full warps). Law: with m = 0, that of tmap_nbb_lambda(_linear) of its omega. Cost: a
// shuffle if coordinates fit 16 bits, else two.
TMAP_DEVICE tmap_xy tmap_mma_tiles_cell(const tmap_mma_tiles *t, tmap_nbb f, tmap_mma_batch b,
                                        tmap_u32 j) {
    tmap_u32 w = b.first + j * b.step;
    if (t->mma.warp.lanes < 32) return tmapi_mma_alone(&t->mma, f, t->fixed ? t->wx : w, w);
    return tmapi_mma_row_cell(t->mma.packed, b.rows0, b.rows8, j);
}

// Maps 32 tiles: lane l gets the cell of tile first + l * step; broadcast it with __shfl_sync.
// first, step: as for tmap_mma_tiles_map. In partial warps each lane maps one. Cost: two calls of
// tmap_mma_tiles_map, and 4 shuffles if coordinates fit 16 bits, else 8; one or two more for each
// tile that you broadcast.
TMAP_DEVICE tmap_xy tmap_mma_tiles_own(const tmap_mma_tiles *t, tmap_nbb f, tmap_u32 first,
                                       tmap_u32 step) {
    const tmap_u32 lane = t->mma.warp.lane;
    tmap_xy c[4];
    if (t->mma.warp.lanes < 32) {
        tmap_u32 w = first + lane * step;
        return tmapi_mma_alone(&t->mma, f, t->fixed ? t->wx : w, w);
    }
#pragma unroll
    for (tmap_u32 half = 0; half < 2; ++half) {
        tmap_mma_batch b = tmap_mma_tiles_map(t, f, first + 16 * half * step, step);
        c[2 * half] = tmapi_mma_row_cell(t->mma.packed, b.rows0, b.rows0, lane);
        c[2 * half + 1] = tmapi_mma_row_cell(t->mma.packed, b.rows8, b.rows8, lane);
    }
    c[0].x = lane & 8u ? c[1].x : c[0].x, c[0].y = lane & 8u ? c[1].y : c[0].y;
    c[2].x = lane & 8u ? c[3].x : c[2].x, c[2].y = lane & 8u ? c[3].y : c[2].y;
    return lane & 16u ? c[2] : c[0];
}

#endif // TMAP_CUDA

#endif
