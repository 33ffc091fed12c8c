// SPDX-License-Identifier: MIT
// nbb.h: NBB fractals: the map lambda from threads to cells, its inverse nu, membership, and the
// sizes of a fractal and its launches.
//
// An NBB fractal (non-overlapping bottom-up boxes) of level r is k copies, the replicas, of itself
// at level r - 1, in k of the sx * sy boxes of a grid; level 0 is one cell. It has k^r cells in an
// embedding sx^r wide and sy^r high. Lambda maps each thread omega = (wx, wy) of a box k^ceil(r/2)
// wide and k^floor(r/2) high, the 2-orthotope, to one cell of the fractal, so no thread is launched
// for an empty place.
//
// Source: Navarro, Quezada, Hitschfeld, Vega, Bustos, "Efficient GPU Thread Mapping on
// Embedded 2D Fractals", FGCS 113 (2020), equations 4 to 9; odd levels act on wx and even ones
// on wy (docs/errata.md).
//
// Every function is total: an argument outside its range gives some defined value. Functions
// without a suffix compute in 32 bits and are correct up to level tmap_nbb_level_max32(f) (_linear:
// linear_level_max32); those ending in 64 up to tmap_nbb_level_max64(f).
//
// Cost: a constant fractal folds to multiplications and shifts, without a division, a table or a
// memory access; one filled at run time costs a division per level, nu and contains two.
#ifndef TMAP_FRACTAL_NBB_H
#define TMAP_FRACTAL_NBB_H

#include "../core.h"

#define TMAP_REPLICAS_MAX 16
#define TMAP_SIDE_MAX     16

// An NBB fractal: k replicas in a grid sx wide and sy high, 1 <= k, sx, sy <= 16, no two in one
// box. Digit beta of tau_x and tau_y, four bits each from the lowest, is the column and row of
// replica beta: the paper's hash tables H[], in two numbers. Make one with a constructor of
// catalogue.h, with tmap_nbb_from_rows, or with tmap_nbb_make.
typedef struct tmap_nbb {
    tmap_u32 k, sx, sy;
    tmap_u64 tau_x, tau_y;
} tmap_nbb;

// Makes the fractal of these numbers without a check; tmap_nbb_check tells whether they are valid.
// Example: the gasket, "#. / ##": (3, 2, 2, 0x100, 0x110), replicas (0,0), (0,1), (1,1).
TMAP_FN tmap_nbb tmap_nbb_make(tmap_u32 k, tmap_u32 sx, tmap_u32 sy, tmap_u64 tau_x,
                               tmap_u64 tau_y) {
    const tmap_nbb f = {k, sx, sy, tau_x, tau_y};
    return f;
}

// Returns TMAP_OK if f is an NBB fractal; TMAP_EREPLICAS for a k and TMAP_ESIDE for a side outside
// 1 to 16; TMAP_EOUTSIDE for a replica outside the grid; TMAP_ETWICE for two in one box. Digits of
// tau past replica k - 1 are ignored.
// Example: tmap_nbb_make(3, 2, 2, 0x300, 0x110) has a replica in column 3 of two: TMAP_EOUTSIDE.
TMAP_FN int tmap_nbb_check(tmap_nbb f) {
    if (f.k < 1 || f.k > TMAP_REPLICAS_MAX) return TMAP_EREPLICAS;
    if (f.sx < 1 || f.sx > TMAP_SIDE_MAX || f.sy < 1 || f.sy > TMAP_SIDE_MAX) return TMAP_ESIDE;
    for (tmap_u32 i = 0; i < f.k; ++i) {
        const tmap_u32 x = (tmap_u32)(f.tau_x >> 4 * i) & 15u,
                       y = (tmap_u32)(f.tau_y >> 4 * i) & 15u;
        if (x >= f.sx || y >= f.sy) return TMAP_EOUTSIDE;
        for (tmap_u32 j = 0; j < i; ++j)
            if (((f.tau_x >> 4 * j) & 15u) == x && ((f.tau_y >> 4 * j) & 15u) == y)
                return TMAP_ETWICE;
    }
    return TMAP_OK;
}

// ---- the pieces of the map ----------------------------------------------------------------------

// The fractal with 1 in place of every 0 that a map divides by: a struct of zeros is no fractal,
// but must not trap.
TMAP_FN tmap_nbb tmapi_nbb_total(tmap_nbb f) {
    f.k = f.k ? f.k : 1;
    f.sx = f.sx ? f.sx : 1;
    f.sy = f.sy ? f.sy : 1;
    return f;
}

// Digit `beta` of a packed offset. Up to 8 replicas fit 32 bits, which halves the shift on a GPU.
TMAP_FN tmap_u32 tmapi_nbb_digit(tmap_u32 k, tmap_u64 tau, tmap_u32 beta) {
    if (k <= 8) return ((tmap_u32)tau >> (4 * beta & 31)) & 15u;
    return (tmap_u32)(tau >> (4 * beta & 63)) & 15u;
}

// base^e modulo 2^32, e < 64, by squaring: six steps, and for a constant base six constants.
TMAP_FN tmap_u32 tmapi_pow32(tmap_u32 base, tmap_u32 e) {
    tmap_u32 p = 1;
    for (int bit = 0; bit < 6; ++bit, base *= base)
        if (e >> bit & 1) p *= base;
    return p;
}

// base^e modulo 2^64, e < 64.
TMAP_FN tmap_u64 tmapi_pow64(tmap_u64 base, tmap_u32 e) {
    tmap_u64 p = 1;
    for (int bit = 0; bit < 6; ++bit, base *= base)
        if (e >> bit & 1) p *= base;
    return p;
}

// tau = H[beta], equation 5: the box (column, row) of replica beta = 0..k-1 in the fractal's grid.
// Example: carpet: H[0..7] = (0,0)(1,0)(2,0)(0,1)(2,1)(0,2)(1,2)(2,2).
TMAP_FN tmap_xy tmap_nbb_tau(tmap_nbb f, tmap_u32 beta) {
    const tmap_xy t = {tmapi_nbb_digit(f.k, f.tau_x, beta), tmapi_nbb_digit(f.k, f.tau_y, beta)};
    return t;
}

// beta_mu(omega), equation 4: the replica 0..k-1 of level mu = 1..level_max32 that thread (wx, wy)
// belongs to. Odd levels read wx, even ones wy: digit ceil(mu/2) - 1, base k. Cost: a power and two
// divisions; lambda takes the digits one after another, which is cheaper.
TMAP_FN tmap_u32 tmap_nbb_beta(tmap_nbb f, tmap_u32 wx, tmap_u32 wy, tmap_u32 mu) {
    f = tmapi_nbb_total(f);
    tmap_u32 p = tmapi_pow32(f.k, (mu + 1) / 2 - 1);
    return p ? (mu & 1 ? wx : wy) / p % f.k : 0; // p == 0: k is even, and mu is past the range
}

// Delta^mu, equation 6: what replica beta of level mu = 1..level_max32 adds to the coordinates,
// H[beta] * (sx^(mu-1), sy^(mu-1)).
TMAP_FN tmap_xy tmap_nbb_delta(tmap_nbb f, tmap_u32 beta, tmap_u32 mu) {
    tmap_xy t = tmap_nbb_tau(f, beta);
    t.x *= tmapi_pow32(f.sx, mu - 1);
    t.y *= tmapi_pow32(f.sy, mu - 1);
    return t;
}

// The replica of f in box (dx, dy), as bit 4 * beta of the result; 0 if there is none. Compares all
// digits at once.
TMAP_FN tmap_u64 tmapi_nbb_match(tmap_nbb f, tmap_u32 dx, tmap_u32 dy) {
    if (f.k <= 8) {
        tmap_u32 differ =
            ((tmap_u32)f.tau_x ^ dx * 0x11111111u) | ((tmap_u32)f.tau_y ^ dy * 0x11111111u);
        differ |= differ >> 2;
        differ |= differ >> 1;
        return ~differ & 0x11111111u & (0xffffffffu >> ((32 - 4 * f.k) & 31));
    } else {
        tmap_u64 ones = 0x1111111111111111ull;
        tmap_u64 differ = (f.tau_x ^ dx * ones) | (f.tau_y ^ dy * ones);
        differ |= differ >> 2;
        differ |= differ >> 1;
        return ~differ & ones & (~0ull >> ((64 - 4 * f.k) & 63));
    }
}

// beta of a match with one bit, bit 4 * beta: the product moves digit `beta` of a ramp to the top.
// 0 for no match.
TMAP_FN tmap_u32 tmapi_nbb_match_beta(tmap_u32 k, tmap_u64 match) {
    if (k <= 8) return (tmap_u32)match * 0x01234567u >> 28;
    return (tmap_u32)(match * 0x0123456789abcdefull >> 60);
}

// The inverse of H: the replica in box (dx, dy), or k if the box is empty. dx < sx, dy < sy.
// Example: gasket: (0,0) -> 0, (1,0) -> 3 (empty), (0,1) -> 1, (1,1) -> 2.
TMAP_FN tmap_u32 tmap_nbb_replica(tmap_nbb f, tmap_u32 dx, tmap_u32 dy) {
    tmap_u64 match = tmapi_nbb_match(f, dx, dy);
    return match ? tmapi_nbb_match_beta(f.k, match) : f.k;
}

// 1 if every offset is a single bit (sx, sy <= 2): ballots over levels are then
// coordinates (tmap_warp_lambda_ballot).
TMAP_FN int tmap_nbb_has_ballot(tmap_nbb f) { return f.sx <= 2 && f.sy <= 2; }

// ---- lambda: from threads to cells --------------------------------------------------------------

// lambda(omega), equations 7 to 9: the cell of thread (wx, wy). wx < k^ceil(r/2), wy <
// k^floor(r/2), r <= level_max32; digits of wx and wy past level r are ignored.
// Laws: a bijection from the orthotope onto the cells; tmap_nbb_nu(f, lambda(w), r) == w.
// Cost: r times a multiplication-high, a shift and two multiply-adds for a constant fractal.
// Example: carpet, r = 1: wx = 0..7 -> (0,0)(1,0)(2,0)(0,1)(2,1)(0,2)(1,2)(2,2).
TMAP_FN tmap_xy tmap_nbb_lambda(tmap_nbb f, tmap_u32 wx, tmap_u32 wy, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_xy cell = {0, 0};
    tmap_u32 side_x = 1, side_y = 1; // sx^(mu-1), sy^(mu-1)
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_u32 beta = wx % f.k, rest = wx / f.k;
        tmap_xy tau = tmap_nbb_tau(f, beta);
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
        wx = wy, wy = rest; // the next level reads the other axis
    }
    return cell;
}

// H[] in memory, where tmap_nbb_tau takes digits of two numbers in registers. A kernel's argument
// `const __grid_constant__ tmap_nbb_table h` is in constant memory, which gives the lanes of a warp
// one box after another; without __grid_constant__ nvcc copies it. In shared memory they read
// different boxes at once:
//
//     __shared__ tmap_nbb_table s;
//     if (threadIdx.x < TMAP_REPLICAS_MAX) s.tau[threadIdx.x] = h.tau[threadIdx.x];
//     __syncthreads();
typedef struct tmap_nbb_table {
    tmap_xy tau[TMAP_REPLICAS_MAX]; // H[beta]; (0, 0) from replica k on
} tmap_nbb_table;

// The table of f. Example: carpet: as tmap_nbb_tau.
TMAP_FN tmap_nbb_table tmap_nbb_table_make(tmap_nbb f) {
    tmap_nbb_table h;
    const tmap_xy none = {0, 0};
    for (tmap_u32 i = 0; i < TMAP_REPLICAS_MAX; ++i) h.tau[i] = i < f.k ? tmap_nbb_tau(f, i) : none;
    return h;
}

// tmap_nbb_lambda with the boxes of h, the table of f, wherever it is. Cost: a read for each level
// in place of two shifts. tmap_fractal_NAME_hash (catalogue.h) computes the box instead: quicker
// for the gasket and the Cantor set, but slower than shared memory for carpet, H and bottles.
TMAP_FN tmap_xy tmap_nbb_lambda_table(const tmap_nbb_table *h, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                      tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_xy cell = {0, 0};
    tmap_u32 side_x = 1, side_y = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u32 rest = wx / f.k;
        const tmap_xy tau = h->tau[wx % f.k % TMAP_REPLICAS_MAX];
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
        wx = wy, wy = rest;
    }
    return cell;
}

// tmap_nbb_lambda in 64 bits. r <= level_max64.
TMAP_FN tmap_xy64 tmap_nbb_lambda64(tmap_nbb f, tmap_u64 wx, tmap_u64 wy, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_xy64 cell = {0, 0};
    tmap_u64 side_x = 1, side_y = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_u64 rest = wx / f.k;
        tmap_xy tau = tmap_nbb_tau(f, (tmap_u32)(wx % f.k));
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
        wx = wy, wy = rest;
    }
    return cell;
}

// Lambda from a linear index: the cell of thread i < k^r, r <= linear_level_max32. Digit mu - 1 of
// i, base k, is beta_mu: each run of k^m indices fills one box of level m, so the threads of a warp
// stay close together. Digits of i past level r are ignored.
// Laws: a bijection from 0..k^r-1 onto the cells; tmap_nbb_nu_linear(f, lambda_linear(i), r) == i.
// Example: gasket, r = 2: 0..8 -> (0,0)(0,1)(1,1)(0,2)(0,3)(1,3)(2,2)(2,3)(3,3).
TMAP_FN tmap_xy tmap_nbb_lambda_linear(tmap_nbb f, tmap_u32 i, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_xy cell = {0, 0};
    tmap_u32 side_x = 1, side_y = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_xy tau = tmap_nbb_tau(f, i % f.k);
        i /= f.k;
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
    }
    return cell;
}

// tmap_nbb_lambda_linear in 64 bits. r <= linear_level_max64.
TMAP_FN tmap_xy64 tmap_nbb_lambda_linear64(tmap_nbb f, tmap_u64 i, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_xy64 cell = {0, 0};
    tmap_u64 side_x = 1, side_y = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_xy tau = tmap_nbb_tau(f, (tmap_u32)(i % f.k));
        i /= f.k;
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
    }
    return cell;
}

// ---- nu: from cells back to threads -------------------------------------------------------------

// nu, the inverse of lambda: the thread (wx, wy) of cell (x, y). x < sx^r, y < sy^r, r <=
// level_max32. For a place that is no cell, each level without a replica counts as digit 0; call
// tmap_nbb_contains first. Law: lambda(nu(x, y)) == (x, y) for every cell.
// Example: carpet, r = 1: (2,1) -> (4,0).
TMAP_FN tmap_xy tmap_nbb_nu(tmap_nbb f, tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_xy w = {0, 0};
    tmap_u32 power = 1; // k^(ceil(mu/2)-1)
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_u32 beta = tmapi_nbb_match_beta(f.k, tmapi_nbb_match(f, x % f.sx, y % f.sy));
        x /= f.sx, y /= f.sy;
        if (mu & 1)
            w.x += beta * power;
        else
            w.y += beta * power, power *= f.k;
    }
    return w;
}

// tmap_nbb_nu in 64 bits. r <= level_max64.
TMAP_FN tmap_xy64 tmap_nbb_nu64(tmap_nbb f, tmap_u64 x, tmap_u64 y, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_xy64 w = {0, 0};
    tmap_u64 power = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_u32 beta = tmapi_nbb_match_beta(
            f.k, tmapi_nbb_match(f, (tmap_u32)(x % f.sx), (tmap_u32)(y % f.sy)));
        x /= f.sx, y /= f.sy;
        if (mu & 1)
            w.x += beta * power;
        else
            w.y += beta * power, power *= f.k;
    }
    return w;
}

// The inverse of tmap_nbb_lambda_linear: the index of cell (x, y). r <= linear_level_max32.
// Example: gasket, r = 2: (1,3) -> 5.
TMAP_FN tmap_u32 tmap_nbb_nu_linear(tmap_nbb f, tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_u32 i = 0, power = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        i += tmapi_nbb_match_beta(f.k, tmapi_nbb_match(f, x % f.sx, y % f.sy)) * power;
        x /= f.sx, y /= f.sy, power *= f.k;
    }
    return i;
}

// tmap_nbb_nu_linear in 64 bits. r <= linear_level_max64.
TMAP_FN tmap_u64 tmap_nbb_nu_linear64(tmap_nbb f, tmap_u64 x, tmap_u64 y, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    tmap_u64 i = 0, power = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_u64 match = tmapi_nbb_match(f, (tmap_u32)(x % f.sx), (tmap_u32)(y % f.sy));
        i += tmapi_nbb_match_beta(f.k, match) * power;
        x /= f.sx, y /= f.sy, power *= f.k;
    }
    return i;
}

// ---- membership ---------------------------------------------------------------------------------

// Membership where s = 2, for all levels at once: bit mu - 1 of x and y is the box of level mu.
TMAP_FN int tmapi_nbb_contains_bits(tmap_nbb f, tmap_u32 x, tmap_u32 y, tmap_u32 levels) {
    tmap_u32 outside = (x | y) & ~levels;
    if (!tmapi_nbb_match(f, 0, 0)) outside |= ~x & ~y & levels;
    if (!tmapi_nbb_match(f, 1, 0)) outside |= x & ~y & levels;
    if (!tmapi_nbb_match(f, 0, 1)) outside |= ~x & y & levels;
    if (!tmapi_nbb_match(f, 1, 1)) outside |= x & y & levels;
    return outside == 0;
}

// Membership level by level.
TMAP_FN int tmapi_nbb_contains_levels(tmap_nbb f, tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        if (!tmapi_nbb_match(f, x % f.sx, y % f.sy)) return 0;
        x /= f.sx, y /= f.sy;
    }
    return (x | y) == 0;
}

// 1 if (x, y) is a cell of the fractal of level r, else 0; any x, y; r <= level_max32.
// Cost: sides of 2 x 2 take neither a division nor a loop over levels, sides of 3 x 3 no division,
// even if the fractal is filled at run time; other sides then take two divisions per level.
// Example: gasket, r = 2: (1,1) -> 1, (1,2) -> 0, (4,0) -> 0.
TMAP_FN int tmap_nbb_contains(tmap_nbb f, tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    if (f.sx == 2 && f.sy == 2)
        return tmapi_nbb_contains_bits(f, x, y, r < 32 ? (1u << r) - 1 : 0xffffffffu);
    if (f.sx == 3 && f.sy == 3) {
        f.sx = f.sy = 3; // constants from here on
        return tmapi_nbb_contains_levels(f, x, y, r);
    }
    return tmapi_nbb_contains_levels(f, x, y, r);
}

// tmap_nbb_contains in 64 bits. r <= level_max64.
TMAP_FN int tmap_nbb_contains64(tmap_nbb f, tmap_u64 x, tmap_u64 y, tmap_u32 r) {
    f = tmapi_nbb_total(f);
    if (f.sx == 2 && f.sy == 2) {
        tmap_u64 levels = r < 64 ? (1ull << r) - 1 : ~0ull;
        return tmapi_nbb_contains_bits(f, (tmap_u32)x, (tmap_u32)y, (tmap_u32)levels) &&
               tmapi_nbb_contains_bits(f, (tmap_u32)(x >> 32), (tmap_u32)(y >> 32),
                                       (tmap_u32)(levels >> 32));
    }
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        if (!tmapi_nbb_match(f, (tmap_u32)(x % f.sx), (tmap_u32)(y % f.sy))) return 0;
        x /= f.sx, y /= f.sy;
    }
    return (x | y) == 0;
}

// ---- size ---------------------------------------------------------------------------------------
//
// All in 64 bits; a value that does not fit saturates at 2^64 - 1 and never wraps.

// No level in this library is above this one.
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
    const tmap_xy64 p = {tmapi_pow_saturate(f.k, r / 2 + r % 2), tmapi_pow_saturate(f.k, r / 2)};
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
    tmap_u32 x = tmapi_level_fit(f.sx, limit), y = tmapi_level_fit(f.sy, limit);
    tmap_u32 w = 2 * tmapi_level_fit(f.k, limit), r = x < y ? x : y;
    return r < w ? r : w;
}

// The largest level at which every coordinate of the cells and of the orthotope fits 32 or 64 bits:
// the range of tmap_nbb_lambda, nu and contains, and of their 64-bit forms. Example: gasket 32 and
// 64, carpet 20 and 40.
TMAP_FN tmap_u32 tmap_nbb_level_max32(tmap_nbb f) { return tmapi_nbb_level_fit(f, 0xffffffffull); }
TMAP_FN tmap_u32 tmap_nbb_level_max64(tmap_nbb f) { return tmapi_nbb_level_fit(f, ~0ull); }

// The largest level at which the linear index fits 32 or 64 bits, too: the range of
// tmap_nbb_lambda_linear and nu_linear, and of their 64-bit forms. Example: gasket 20 and 40,
// carpet 10 and 21.
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
// serves all threads of the block.

// The tile level m of blocks of side rho: the largest m <= r with sx^m <= rho and sy^m <= rho; a
// block has sx^m x sy^m threads. rho = 0 counts as 1.
// Example: gasket, rho = 16: 4; carpet, 32: 3 (27 x 27 threads); Chandelier, 32: 3 (27 x 8).
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
