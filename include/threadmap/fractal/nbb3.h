// SPDX-License-Identifier: MIT
// nbb3.h: NBB fractals in three dimensions: the map lambda from threads to cells, its inverse nu,
// membership, and the sizes of a fractal. It is nbb.h with a third axis.
//
// An NBB fractal of level r is k copies, the replicas, of itself at level r - 1, in k of the
// sx * sy * sz boxes of a grid; level 0 is one cell. It has k^r cells in an embedding of
// sx^r x sy^r x sz^r places. Lambda maps each thread omega = (wx, wy, wz) of a box of k^ceil(r/3) x
// k^ceil((r-1)/3) x k^floor(r/3), the 3-orthotope, to one cell of the fractal.
//
// Source: Navarro, Quezada, Hitschfeld, Vega, Bustos, "Efficient GPU Thread Mapping on
// Embedded 2D Fractals", FGCS 113 (2020), equations 4 to 9, with three axes in place of two: level
// mu reads axis (mu - 1) mod 3 of omega.
//
// Every function is total: an argument outside its range gives some defined value. Functions
// without a suffix compute in 32 bits and are correct up to level tmap_nbb3_level_max32(f)
// (_linear: linear_level_max32); those ending in 64 up to tmap_nbb3_level_max64(f).
//
// Cost: a constant fractal folds to multiplications and shifts, without a division, a table or a
// memory access; one filled at run time costs a division per level, nu and contains three.
#ifndef TMAP_FRACTAL_NBB3_H
#define TMAP_FRACTAL_NBB3_H

#include "../core.h"
#include "nbb.h"

#define TMAP_REPLICAS3_MAX 32
#define TMAP_SIDE3_MAX     4

// An NBB fractal: k replicas in a grid sx wide, sy high and sz deep, 1 <= k <= 32, 1 <= sx, sy, sz
// <= 4, no two in one box. Digit beta of tau_x, tau_y and tau_z, two bits each from the lowest, is
// the box of replica beta. Make one with a constructor of catalogue3.h, with tmap_nbb3_from_layers,
// or with tmap_nbb3_make.
typedef struct tmap_nbb3 {
    tmap_u32 k, sx, sy, sz;
    tmap_u64 tau_x, tau_y, tau_z;
} tmap_nbb3;

// Makes the fractal of these numbers without a check; tmap_nbb3_check tells whether they are valid.
// Example: k = 4, sides (2,2,2), 0x04, 0x10, 0x40: replicas (0,0,0), (1,0,0), (0,1,0), (0,0,1).
TMAP_FN tmap_nbb3 tmap_nbb3_make(tmap_u32 k, tmap_xyz sides, tmap_u64 tau_x, tmap_u64 tau_y,
                                 tmap_u64 tau_z) {
    const tmap_nbb3 f = {k, sides.x, sides.y, sides.z, tau_x, tau_y, tau_z};
    return f;
}

// The boxes of f that replica beta takes, one bit each: 16 * z + 4 * y + x. beta < 32.
TMAP_FN tmap_u64 tmapi_nbb3_box(tmap_nbb3 f, tmap_u32 beta) {
    const tmap_u32 at = 2 * beta, x = (tmap_u32)(f.tau_x >> at) & 3u;
    const tmap_u32 y = (tmap_u32)(f.tau_y >> at) & 3u, z = (tmap_u32)(f.tau_z >> at) & 3u;
    if (x >= f.sx || y >= f.sy || z >= f.sz) return 0;
    return 1ull << (16 * z + 4 * y + x);
}

// Returns TMAP_OK if f is an NBB fractal; TMAP_EREPLICAS for a k outside 1 to 32 and TMAP_ESIDE for
// a side outside 1 to 4; TMAP_EOUTSIDE for a replica outside the grid; TMAP_ETWICE for two in one
// box. Digits of tau past replica k - 1 are ignored.
TMAP_FN int tmap_nbb3_check(tmap_nbb3 f) {
    tmap_u64 taken = 0;
    if (f.k < 1 || f.k > TMAP_REPLICAS3_MAX) return TMAP_EREPLICAS;
    if (f.sx < 1 || f.sx > TMAP_SIDE3_MAX || f.sy < 1 || f.sy > TMAP_SIDE3_MAX || f.sz < 1 ||
        f.sz > TMAP_SIDE3_MAX)
        return TMAP_ESIDE;
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        const tmap_u64 box = tmapi_nbb3_box(f, beta);
        if (!box) return TMAP_EOUTSIDE;
        if (taken & box) return TMAP_ETWICE;
        taken |= box;
    }
    return TMAP_OK;
}

// 1 if a and b are the same fractal with the same numbering of replicas.
TMAP_FN int tmap_nbb3_equal(tmap_nbb3 a, tmap_nbb3 b) {
    return a.k == b.k && a.sx == b.sx && a.sy == b.sy && a.sz == b.sz && a.tau_x == b.tau_x &&
           a.tau_y == b.tau_y && a.tau_z == b.tau_z;
}

// ---- the pieces of the map ----------------------------------------------------------------------

// The fractal with 1 in place of every 0 that a map divides by: a struct of zeros is no fractal,
// but must not trap.
TMAP_FN tmap_nbb3 tmapi_nbb3_total(tmap_nbb3 f) {
    f.k = f.k ? f.k : 1;
    f.sx = f.sx ? f.sx : 1;
    f.sy = f.sy ? f.sy : 1;
    f.sz = f.sz ? f.sz : 1;
    return f;
}

// Digit `beta` of a packed offset. Up to 16 replicas fit 32 bits, which halves the shift on a GPU.
TMAP_FN tmap_u32 tmapi_nbb3_digit(tmap_u32 k, tmap_u64 tau, tmap_u32 beta) {
    if (k <= 16) return ((tmap_u32)tau >> (2 * beta & 31)) & 3u;
    return (tmap_u32)(tau >> (2 * beta & 63)) & 3u;
}

// tau = H[beta], equation 5: the box of replica beta = 0..k-1 in the fractal's grid.
// Example: Menger sponge: H[0..3] = (0,0,0)(1,0,0)(2,0,0)(0,1,0), H[19] = (2,2,2).
TMAP_FN tmap_xyz tmap_nbb3_tau(tmap_nbb3 f, tmap_u32 beta) {
    const tmap_xyz t = {tmapi_nbb3_digit(f.k, f.tau_x, beta), tmapi_nbb3_digit(f.k, f.tau_y, beta),
                        tmapi_nbb3_digit(f.k, f.tau_z, beta)};
    return t;
}

// beta_mu(omega), equation 4: the replica 0..k-1 of level mu = 1..level_max32 that thread w belongs
// to: digit (mu - 1) / 3, base k, of axis (mu - 1) mod 3. Cost: a power and two divisions; lambda
// takes the digits one after another, which is cheaper.
TMAP_FN tmap_u32 tmap_nbb3_beta(tmap_nbb3 f, tmap_xyz w, tmap_u32 mu) {
    f = tmapi_nbb3_total(f);
    const tmap_u32 axis = (mu - 1) % 3, p = tmapi_pow32(f.k, (mu - 1) / 3);
    // p == 0: k is even, and mu is past the range
    return p ? (axis == 0 ? w.x : axis == 1 ? w.y : w.z) / p % f.k : 0;
}

// Delta^mu, equation 6: what replica beta of level mu = 1..level_max32 adds to the coordinates,
// H[beta] * (sx^(mu-1), sy^(mu-1), sz^(mu-1)).
TMAP_FN tmap_xyz tmap_nbb3_delta(tmap_nbb3 f, tmap_u32 beta, tmap_u32 mu) {
    tmap_xyz t = tmap_nbb3_tau(f, beta);
    t.x *= tmapi_pow32(f.sx, mu - 1);
    t.y *= tmapi_pow32(f.sy, mu - 1);
    t.z *= tmapi_pow32(f.sz, mu - 1);
    return t;
}

// The replica of f in box d, as bit 2 * beta of the result; 0 if there is none. Compares all digits
// at once.
TMAP_FN tmap_u64 tmapi_nbb3_match(tmap_nbb3 f, tmap_xyz d) {
    if (f.k <= 16) {
        const tmap_u32 ones = 0x55555555u;
        tmap_u32 differ = ((tmap_u32)f.tau_x ^ d.x * ones) | ((tmap_u32)f.tau_y ^ d.y * ones) |
                          ((tmap_u32)f.tau_z ^ d.z * ones);
        differ |= differ >> 1;
        return ~differ & ones & (0xffffffffu >> ((32 - 2 * f.k) & 31));
    } else {
        const tmap_u64 ones = 0x5555555555555555ull;
        tmap_u64 differ = (f.tau_x ^ d.x * ones) | (f.tau_y ^ d.y * ones) | (f.tau_z ^ d.z * ones);
        differ |= differ >> 1;
        return ~differ & ones & (~0ull >> ((64 - 2 * f.k) & 63));
    }
}

// beta of a match with one bit, bit 2 * beta. 0 for no match.
TMAP_FN tmap_u32 tmapi_nbb3_match_beta(tmap_u32 k, tmap_u64 match) {
#if defined(__CUDA_ARCH__) && !defined(__clang__)
    if (k <= 16) return (31 - (tmap_u32)__clz((int)((tmap_u32)match | 1))) / 2;
    return (63 - (tmap_u32)__clzll((long long)(match | 1))) / 2;
#elif defined(__GNUC__)
    (void)k;
    return (63 - (tmap_u32)__builtin_clzll(match | 1)) / 2;
#else
    tmap_u32 beta = 0;
    (void)k;
    while (match >>= 2) ++beta;
    return beta;
#endif
}

// The inverse of H: the replica in box d, or k if the box is empty. d.x < sx, d.y < sy, d.z < sz.
// Example: Menger sponge: (2,2,2) -> 19, (1,1,1) -> 20 (empty).
TMAP_FN tmap_u32 tmap_nbb3_replica(tmap_nbb3 f, tmap_xyz d) {
    const tmap_u64 match = tmapi_nbb3_match(f, d);
    return match ? tmapi_nbb3_match_beta(f.k, match) : f.k;
}

// The box of cell c within its level 1, (c.x % sx, c.y % sy, c.z % sz); *c becomes its parent.
TMAP_FN tmap_xyz tmapi_nbb3_down(tmap_nbb3 f, tmap_xyz *c) {
    const tmap_xyz d = {c->x % f.sx, c->y % f.sy, c->z % f.sz};
    c->x /= f.sx, c->y /= f.sy, c->z /= f.sz;
    return d;
}

TMAP_FN tmap_xyz tmapi_nbb3_down64(tmap_nbb3 f, tmap_xyz64 *c) {
    const tmap_xyz d = {(tmap_u32)(c->x % f.sx), (tmap_u32)(c->y % f.sy), (tmap_u32)(c->z % f.sz)};
    c->x /= f.sx, c->y /= f.sy, c->z /= f.sz;
    return d;
}

// ---- lambda: from threads to cells --------------------------------------------------------------

// lambda(omega), equations 7 to 9: the cell of thread w. w.x < k^ceil(r/3), w.y < k^ceil((r-1)/3),
// w.z < k^floor(r/3), r <= level_max32; digits of w past level r are ignored.
// Laws: a bijection from the orthotope onto the cells; tmap_nbb3_nu(f, lambda(w), r) == w.
// Cost: r times a multiplication-high, three shifts and multiply-adds for a constant fractal.
// Example: Menger sponge, r = 1: w.x = 0, 1, 2, 3, 4 -> (0,0,0)(1,0,0)(2,0,0)(0,1,0)(2,1,0).
TMAP_FN tmap_xyz tmap_nbb3_lambda(tmap_nbb3 f, tmap_xyz w, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_xyz cell = {0, 0, 0};
    tmap_u32 side_x = 1, side_y = 1, side_z = 1; // sx^(mu-1), sy^(mu-1), sz^(mu-1)
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u32 rest = w.x / f.k;
        const tmap_xyz tau = tmap_nbb3_tau(f, w.x % f.k);
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
        cell.z += tau.z * side_z, side_z *= f.sz;
        w.x = w.y, w.y = w.z, w.z = rest; // the next level reads the next axis
    }
    return cell;
}

// tmap_nbb3_lambda in 64 bits. r <= level_max64.
TMAP_FN tmap_xyz64 tmap_nbb3_lambda64(tmap_nbb3 f, tmap_xyz64 w, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_xyz64 cell = {0, 0, 0};
    tmap_u64 side_x = 1, side_y = 1, side_z = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u64 rest = w.x / f.k;
        const tmap_xyz tau = tmap_nbb3_tau(f, (tmap_u32)(w.x % f.k));
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
        cell.z += tau.z * side_z, side_z *= f.sz;
        w.x = w.y, w.y = w.z, w.z = rest;
    }
    return cell;
}

// Lambda from a linear index: the cell of thread i < k^r, r <= linear_level_max32. Digit mu - 1 of
// i, base k, is beta_mu: each run of k^m indices fills one box of level m, so the threads of a warp
// stay close together. Digits of i past level r are ignored.
// Laws: a bijection from 0..k^r-1 onto the cells; tmap_nbb3_nu_linear(f, lambda_linear(i), r) == i.
// Example: tetrahedron, r = 2: 0..4 -> (0,0,0)(1,0,0)(0,1,0)(0,0,1)(2,0,0).
TMAP_FN tmap_xyz tmap_nbb3_lambda_linear(tmap_nbb3 f, tmap_u32 i, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_xyz cell = {0, 0, 0};
    tmap_u32 side_x = 1, side_y = 1, side_z = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_xyz tau = tmap_nbb3_tau(f, i % f.k);
        i /= f.k;
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
        cell.z += tau.z * side_z, side_z *= f.sz;
    }
    return cell;
}

// tmap_nbb3_lambda_linear in 64 bits. r <= linear_level_max64.
TMAP_FN tmap_xyz64 tmap_nbb3_lambda_linear64(tmap_nbb3 f, tmap_u64 i, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_xyz64 cell = {0, 0, 0};
    tmap_u64 side_x = 1, side_y = 1, side_z = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_xyz tau = tmap_nbb3_tau(f, (tmap_u32)(i % f.k));
        i /= f.k;
        cell.x += tau.x * side_x, side_x *= f.sx;
        cell.y += tau.y * side_y, side_y *= f.sy;
        cell.z += tau.z * side_z, side_z *= f.sz;
    }
    return cell;
}

// ---- nu: from cells back to threads -------------------------------------------------------------

// nu, the inverse of lambda: the thread of cell c. c.x < sx^r, c.y < sy^r, c.z < sz^r, r <=
// level_max32. For a place that is no cell, each level without a replica counts as digit 0; call
// tmap_nbb3_contains first. Law: lambda(nu(c)) == c for every cell.
// Example: Menger sponge, r = 1: (2,2,2) -> (19,0,0).
TMAP_FN tmap_xyz tmap_nbb3_nu(tmap_nbb3 f, tmap_xyz c, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_xyz w = {0, 0, 0};
    tmap_u32 power = 1, axis = 0; // k^((mu-1)/3), (mu - 1) mod 3
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u32 beta =
            tmapi_nbb3_match_beta(f.k, tmapi_nbb3_match(f, tmapi_nbb3_down(f, &c)));
        if (axis == 0)
            w.x += beta * power, axis = 1;
        else if (axis == 1)
            w.y += beta * power, axis = 2;
        else
            w.z += beta * power, axis = 0, power *= f.k;
    }
    return w;
}

// tmap_nbb3_nu in 64 bits. r <= level_max64.
TMAP_FN tmap_xyz64 tmap_nbb3_nu64(tmap_nbb3 f, tmap_xyz64 c, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_xyz64 w = {0, 0, 0};
    tmap_u64 power = 1;
    tmap_u32 axis = 0;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u32 beta =
            tmapi_nbb3_match_beta(f.k, tmapi_nbb3_match(f, tmapi_nbb3_down64(f, &c)));
        if (axis == 0)
            w.x += beta * power, axis = 1;
        else if (axis == 1)
            w.y += beta * power, axis = 2;
        else
            w.z += beta * power, axis = 0, power *= f.k;
    }
    return w;
}

// The inverse of tmap_nbb3_lambda_linear: the index of cell c. r <= linear_level_max32.
// Example: tetrahedron, r = 2: (2,0,0) -> 4.
TMAP_FN tmap_u32 tmap_nbb3_nu_linear(tmap_nbb3 f, tmap_xyz c, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_u32 i = 0, power = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu, power *= f.k)
        i += tmapi_nbb3_match_beta(f.k, tmapi_nbb3_match(f, tmapi_nbb3_down(f, &c))) * power;
    return i;
}

// tmap_nbb3_nu_linear in 64 bits. r <= linear_level_max64.
TMAP_FN tmap_u64 tmap_nbb3_nu_linear64(tmap_nbb3 f, tmap_xyz64 c, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    tmap_u64 i = 0, power = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu, power *= f.k)
        i += tmapi_nbb3_match_beta(f.k, tmapi_nbb3_match(f, tmapi_nbb3_down64(f, &c))) * power;
    return i;
}

// ---- membership ---------------------------------------------------------------------------------

// Membership where s = 2, for all levels at once: bit mu - 1 of x, y and z is the box of level mu.
TMAP_FN int tmapi_nbb3_contains_bits(tmap_nbb3 f, tmap_xyz c, tmap_u32 levels) {
    tmap_u32 outside = (c.x | c.y | c.z) & ~levels;
    for (tmap_u32 box = 0; box < 8; ++box) {
        const tmap_xyz d = {box & 1, box >> 1 & 1, box >> 2};
        if (!tmapi_nbb3_match(f, d))
            outside |= (d.x ? c.x : ~c.x) & (d.y ? c.y : ~c.y) & (d.z ? c.z : ~c.z) & levels;
    }
    return outside == 0;
}

// Membership level by level.
TMAP_FN int tmapi_nbb3_contains_levels(tmap_nbb3 f, tmap_xyz c, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    for (tmap_u32 mu = 1; mu <= r; ++mu)
        if (!tmapi_nbb3_match(f, tmapi_nbb3_down(f, &c))) return 0;
    return (c.x | c.y | c.z) == 0;
}

// 1 if c is a cell of the fractal of level r, else 0; any c; r <= level_max32.
// Cost: sides of 2 x 2 x 2 take neither a division nor a loop over levels, sides of 3 x 3 x 3 no
// division, even if the fractal is filled at run time; other sides then take three per level.
// Example: tetrahedron, r = 2: (0,1,2) -> 1, (1,1,0) -> 0, (4,0,0) -> 0.
TMAP_FN int tmap_nbb3_contains(tmap_nbb3 f, tmap_xyz c, tmap_u32 r) {
    if (f.sx == 2 && f.sy == 2 && f.sz == 2)
        return tmapi_nbb3_contains_bits(f, c, r < 32 ? (1u << r) - 1 : 0xffffffffu);
    if (f.sx == 3 && f.sy == 3 && f.sz == 3) {
        f.sx = f.sy = f.sz = 3; // constants from here on
        return tmapi_nbb3_contains_levels(f, c, r);
    }
    return tmapi_nbb3_contains_levels(f, c, r);
}

// tmap_nbb3_contains in 64 bits. r <= level_max64.
TMAP_FN int tmap_nbb3_contains64(tmap_nbb3 f, tmap_xyz64 c, tmap_u32 r) {
    f = tmapi_nbb3_total(f);
    if (f.sx == 2 && f.sy == 2 && f.sz == 2) {
        const tmap_u64 levels = r < 64 ? (1ull << r) - 1 : ~0ull;
        const tmap_xyz low = {(tmap_u32)c.x, (tmap_u32)c.y, (tmap_u32)c.z};
        const tmap_xyz high = {(tmap_u32)(c.x >> 32), (tmap_u32)(c.y >> 32), (tmap_u32)(c.z >> 32)};
        return tmapi_nbb3_contains_bits(f, low, (tmap_u32)levels) &&
               tmapi_nbb3_contains_bits(f, high, (tmap_u32)(levels >> 32));
    }
    for (tmap_u32 mu = 1; mu <= r; ++mu)
        if (!tmapi_nbb3_match(f, tmapi_nbb3_down64(f, &c))) return 0;
    return (c.x | c.y | c.z) == 0;
}

// ---- size ---------------------------------------------------------------------------------------
//
// All in 64 bits; a value that does not fit saturates at 2^64 - 1 and never wraps.

// The sides sx^r, sy^r and sz^r of the embedding, in cells. Example: Menger sponge, r = 3: 27.
TMAP_FN tmap_u64 tmap_nbb3_side_x(tmap_nbb3 f, tmap_u32 r) { return tmapi_pow_saturate(f.sx, r); }
TMAP_FN tmap_u64 tmap_nbb3_side_y(tmap_nbb3 f, tmap_u32 r) { return tmapi_pow_saturate(f.sy, r); }
TMAP_FN tmap_u64 tmap_nbb3_side_z(tmap_nbb3 f, tmap_u32 r) { return tmapi_pow_saturate(f.sz, r); }

// The number of cells V = k^r, equation 2. Example: Menger sponge, r = 7: 1280000000.
TMAP_FN tmap_u64 tmap_nbb3_cells(tmap_nbb3 f, tmap_u32 r) { return tmapi_pow_saturate(f.k, r); }

// The 3-orthotope: k^ceil(r/3) x k^ceil((r-1)/3) x k^floor(r/3).
// Example: tetrahedron, r = 4: 16 x 4 x 4.
TMAP_FN tmap_xyz64 tmap_nbb3_orthotope(tmap_nbb3 f, tmap_u32 r) {
    const tmap_xyz64 p = {tmapi_pow_saturate(f.k, r / 3 + (r % 3 > 0)),
                          tmapi_pow_saturate(f.k, r / 3 + (r % 3 > 1)),
                          tmapi_pow_saturate(f.k, r / 3)};
    return p;
}

TMAP_FN tmap_u32 tmapi_nbb3_level_fit(tmap_nbb3 f, tmap_u64 limit) {
    const tmap_u32 x = tmapi_level_fit(f.sx, limit), y = tmapi_level_fit(f.sy, limit);
    const tmap_u32 z = tmapi_level_fit(f.sz, limit), w = 3 * tmapi_level_fit(f.k, limit);
    tmap_u32 r = x < y ? x : y;
    r = r < z ? r : z;
    return r < w ? r : w;
}

// The largest level at which every coordinate of the cells and of the orthotope fits 32 or 64 bits:
// the range of tmap_nbb3_lambda, nu and contains, and of their 64-bit forms. Example: tetrahedron
// 32 and 64, Menger sponge 20 and 40.
TMAP_FN tmap_u32 tmap_nbb3_level_max32(tmap_nbb3 f) {
    return tmapi_nbb3_level_fit(f, 0xffffffffull);
}
TMAP_FN tmap_u32 tmap_nbb3_level_max64(tmap_nbb3 f) { return tmapi_nbb3_level_fit(f, ~0ull); }

// The largest level at which the linear index fits 32 or 64 bits, too: the range of
// tmap_nbb3_lambda_linear and nu_linear, and of their 64-bit forms. Example: tetrahedron 16 and 32,
// Menger sponge 7 and 14.
TMAP_FN tmap_u32 tmap_nbb3_linear_level_max32(tmap_nbb3 f) {
    const tmap_u32 r = tmap_nbb3_level_max32(f), i = tmapi_level_fit(f.k, 0xffffffffull);
    return r < i ? r : i;
}
TMAP_FN tmap_u32 tmap_nbb3_linear_level_max64(tmap_nbb3 f) {
    const tmap_u32 r = tmap_nbb3_level_max64(f), i = tmapi_level_fit(f.k, ~0ull);
    return r < i ? r : i;
}

// ---- block space --------------------------------------------------------------------------------
//
// A block of threads takes one tile: the fractal of level m, sx^m x sy^m x sz^m places. The tiles
// of a fractal of level r are themselves a fractal of level r - m.

// The tile level m of blocks of side rho: the largest m <= r with sx^m, sy^m and sz^m <= rho.
// rho = 0 counts as 1. Example: tetrahedron, rho = 8: 3; Menger sponge, 8: 1 (3 x 3 x 3 places).
TMAP_FN tmap_u32 tmap_nbb3_tile_level(tmap_nbb3 f, tmap_u32 r, tmap_u32 rho) {
    tmap_u32 m = 0;
    tmap_u64 side = 1, s = f.sx > f.sy ? f.sx : f.sy;
    s = s > f.sz ? s : f.sz;
    if (rho == 0) rho = 1;
    while (m < r && side * s <= rho) side *= s, ++m;
    return m;
}

// The level of the map in block space, r - tile_level. Example: tetrahedron, r = 9, rho = 8: 6.
TMAP_FN tmap_u32 tmap_nbb3_block_level(tmap_nbb3 f, tmap_u32 r, tmap_u32 rho) {
    return r - tmap_nbb3_tile_level(f, r, rho);
}

#endif
