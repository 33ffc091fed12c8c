// SPDX-License-Identifier: MIT
// turned.h: fractals whose copies are turned and mirrored: each replica of an NBB fractal carries
// one of the 48 symmetries of a cube, so that curves that fill space (Hilbert, Peano), the
// Sierpinski arrowhead, Koch curves of boxes and the relatives of the Sierpinski gasket are maps of
// threads too.
//
// A fractal of level r is k copies of itself at level r - 1, each in its box and turned by its own
// element T of the octahedral group. So the place of a cell follows from the bottom up, level by
// level: v becomes tau * side + T(v), where side is that of level mu - 1. With all elements 0 the
// maps are those of nbb3.h.
//
// An element t = 8 * p + flips, 0..47, acts on a place v of a box: first it permutes the axes, then
// it mirrors axes within the box, v.x -> side - 1 - v.x for bit 0 of flips, y for bit 1, z for
// bit 2. Permutation p gives (x, y, z) the new coordinates
//   0: (x, y, z)   1: (y, x, z)   2: (y, z, x)   3: (x, z, y)   4: (z, x, y)   5: (z, y, x)
// that is, an exchange of x and y where p is odd, then p / 2 times (x, y, z) -> (y, z, x).
// In two dimensions, sz = 1, the eight elements are
//   0: as it is   1: x mirrored   2: y mirrored   3: a half turn
//   8: mirrored at the diagonal x = y   9: a quarter turn, x to y   10: a quarter turn, y to x
//   11: mirrored at the other diagonal
//
// Every function is total. The levels that 32 and 64 bits hold are those of the plain fractal t.f:
// tmap_nbb3_level_max32(t.f) and so on.
//
// Cost: of constants, no division, no table and no memory access; per level of lambda, what
// tmap_nbb3_lambda takes and a few shifts and logical operations for each axis that is mirrored,
// for the exchange of x and y, and for the other permutations. Axes of side 1, and permutations
// that no replica has, cost nothing. nu and contains go through the levels twice, because turns are
// known from the top down.
#ifndef TMAP_FRACTAL_TURNED_H
#define TMAP_FRACTAL_TURNED_H

#include "catalogue3.h"
#include "nbb3.h"

#define TMAP_TURNED_ELEMENTS 48

// A fractal with turned copies. Digit beta of turn_a, turn_b and turn_c, two bits each from the
// lowest, has bits 0-1, 2-3 and 4-5 of the element of replica beta. Make one with a constructor of
// the catalogue below, with tmap_turned_from_layers, or with tmap_turned_make and tmap_turned_set.
typedef struct tmap_turned {
    tmap_nbb3 f;
    tmap_u64 turn_a, turn_b, turn_c;
} tmap_turned;

// Makes the fractal of these numbers without a check; tmap_turned_check tells whether they are
// valid.
TMAP_FN tmap_turned tmap_turned_make(tmap_nbb3 f, tmap_u64 turn_a, tmap_u64 turn_b,
                                     tmap_u64 turn_c) {
    const tmap_turned t = {f, turn_a, turn_b, turn_c};
    return t;
}

// f itself: no copy is turned.
TMAP_FN tmap_turned tmap_turned_plain(tmap_nbb3 f) { return tmap_turned_make(f, 0, 0, 0); }

// The element of replica beta = 0..k-1.
TMAP_FN tmap_u32 tmap_turned_element(tmap_turned t, tmap_u32 beta) {
    return tmapi_nbb3_digit(t.f.k, t.turn_a, beta) | tmapi_nbb3_digit(t.f.k, t.turn_b, beta) << 2 |
           tmapi_nbb3_digit(t.f.k, t.turn_c, beta) << 4;
}

// t with `element` = 0..47 for replica beta = 0..31; t itself for any other beta.
// Example: tmap_turned_set(tmap_turned_plain(f), 1, 9) turns replica 1 by a quarter.
TMAP_FN tmap_turned tmap_turned_set(tmap_turned t, tmap_u32 beta, tmap_u32 element) {
    if (beta >= TMAP_REPLICAS3_MAX) return t;
    const tmap_u64 digit = 3ull << 2 * beta;
    t.turn_a = (t.turn_a & ~digit) | (tmap_u64)(element & 3) << 2 * beta;
    t.turn_b = (t.turn_b & ~digit) | (tmap_u64)(element >> 2 & 3) << 2 * beta;
    t.turn_c = (t.turn_c & ~digit) | (tmap_u64)(element >> 4 & 3) << 2 * beta;
    return t;
}

// 1 if a and b are the same fractal with the same numbering and turns of replicas.
TMAP_FN int tmap_turned_equal(tmap_turned a, tmap_turned b) {
    return tmap_nbb3_equal(a.f, b.f) && a.turn_a == b.turn_a && a.turn_b == b.turn_b &&
           a.turn_c == b.turn_c;
}

// ---- elements -----------------------------------------------------------------------------------

// The permutation of an element.
TMAP_FN tmap_xyz tmapi_turned_permute(tmap_u32 element, tmap_xyz v) {
    const tmap_u32 differ =
        (v.x ^ v.y) & (0u - (element >> 3 & 1)); // exchanges x and y, or nothing
    const tmap_xyz s = {v.x ^ differ, v.y ^ differ, v.z};
    const tmap_xyz one = {s.y, s.z, s.x}, two = {s.z, s.x, s.y};
    return element & 16 ? one : element & 32 ? two : s;
}

// T(v): place v of a box after `element` = 0..47. last: the box's sides, each less 1, equal for the
// axes that the element exchanges. Example: element 9, side 4: (3,1,0) -> (2,3,0).
TMAP_FN tmap_xyz tmap_turned_apply(tmap_u32 element, tmap_xyz v, tmap_xyz last) {
    v = tmapi_turned_permute(element, v);
    v.x = element & 1 ? last.x - v.x : v.x;
    v.y = element & 2 ? last.y - v.y : v.y;
    v.z = element & 4 ? last.z - v.z : v.z;
    return v;
}

// The flips after a permutation of axes: bit 0 of the result is that of the axis that became x.
TMAP_FN tmap_u32 tmapi_turned_flips(tmap_u32 element, tmap_u32 flips) {
    const tmap_xyz v = {flips & 1, flips >> 1 & 1, flips >> 2 & 1};
    const tmap_xyz p = tmapi_turned_permute(element, v);
    return p.x | p.y << 1 | p.z << 2;
}

// The element that does b first and then a; a, b = 0..47.
// Law: apply(compose(a, b), v) == apply(a, apply(b, v)). Example: 9 and 9 -> 3, a half turn.
TMAP_FN tmap_u32 tmap_turned_compose(tmap_u32 a, tmap_u32 b) {
    const tmap_u32 flips = (a & 7) ^ tmapi_turned_flips(a, b & 7);
    // an exchange before a turn is the turn backwards before the exchange
    const tmap_u32 turn = (a >> 4) + (a & 8 && b >> 4 ? 3 - (b >> 4) : b >> 4);
    return flips | ((a ^ b) & 8) | (turn >= 3 ? turn - 3 : turn) << 4;
}

// The permutation that undoes that of an element. An exchange, with a turn or not, undoes itself.
TMAP_FN tmap_u32 tmapi_turned_back(tmap_u32 a) {
    return a & 8 || !(a >> 4) ? a & ~7u : (3 - (a >> 4)) << 4;
}

// The element that undoes a = 0..47. Law: compose(a, inverse(a)) == compose(inverse(a), a) == 0.
// Example: 9 -> 10, the quarter turns.
TMAP_FN tmap_u32 tmap_turned_inverse(tmap_u32 a) {
    const tmap_u32 back = tmapi_turned_back(a);
    return back | tmapi_turned_flips(back, a & 7);
}

// Returns TMAP_OK if t is a fractal with turned copies; the codes of tmap_nbb3_check(t.f); or
// TMAP_EINVAL for an element past 47 and one that exchanges axes of unequal sides.
TMAP_FN int tmap_turned_check(tmap_turned t) {
    const int code = tmap_nbb3_check(t.f);
    const tmap_xyz sides = {t.f.sx, t.f.sy, t.f.sz};
    if (code != TMAP_OK) return code;
    for (tmap_u32 beta = 0; beta < t.f.k; ++beta) {
        const tmap_u32 element = tmap_turned_element(t, beta);
        const tmap_xyz p = tmapi_turned_permute(element, sides);
        if (element >= TMAP_TURNED_ELEMENTS) return TMAP_EINVAL;
        if (p.x != sides.x || p.y != sides.y || p.z != sides.z) return TMAP_EINVAL;
    }
    return TMAP_OK;
}

// ---- lambda: from threads to cells --------------------------------------------------------------

// What makes elements of t simpler that a compiler cannot see in digits: nothing is permuted but x
// and y where no replica has another permutation, and an axis of side 1 is not mirrored.
TMAP_FN tmap_u32 tmapi_turned_mask(tmap_turned t) {
    return (t.f.sx == 1 ? 0u : 1u) | (t.f.sy == 1 ? 0u : 2u) | (t.f.sz == 1 ? 0u : 4u) |
           (t.turn_b & 0xaaaaaaaaaaaaaaaaull ? 8u : 0u) | (t.turn_c ? 48u : 0u);
}

// An element in the form that is cheapest: all bits of flip.x, y and z are those of bits 0, 1 and
// 2, all of swap are bit 3, and turn is bits 4 and 5.
typedef struct tmapi_turn {
    tmap_xyz flip;
    tmap_u32 swap, turn;
} tmapi_turn;

// Digit `beta` of a packed number, in the two highest of 32 bits.
TMAP_FN tmap_u32 tmapi_turned_high(tmap_u32 k, tmap_u64 turn, tmap_u32 beta) {
    if (k <= 16) return (tmap_u32)turn << ((30 - 2 * beta) & 31);
    return (tmap_u32)(turn << ((62 - 2 * beta) & 63) >> 32);
}

// The highest bit of n in all bits.
TMAP_FN tmap_u32 tmapi_turned_spread(tmap_u32 n) { return (tmap_u32)((int)n >> 31); }

TMAP_FN tmapi_turn tmapi_turned_masks(tmap_turned t, tmap_u32 beta) {
    const tmap_u32 a = tmapi_turned_high(t.f.k, t.turn_a, beta);
    const tmap_u32 b = tmapi_turned_high(t.f.k, t.turn_b, beta), mask = tmapi_turned_mask(t);
    const tmapi_turn e = {{mask & 1 ? tmapi_turned_spread(a << 1) : 0,
                           mask & 2 ? tmapi_turned_spread(a) : 0,
                           mask & 4 ? tmapi_turned_spread(b << 1) : 0},
                          mask & 8 ? tmapi_turned_spread(b) : 0,
                          mask & 16 ? tmapi_nbb3_digit(t.f.k, t.turn_c, beta) : 0};
    return e;
}

// One level of lambda: the cell of a copy becomes that of the whole, for replica beta. side: the
// sides of the copy, which become those of the whole.
TMAP_FN void tmapi_turned_up(tmap_turned t, tmap_u32 beta, tmap_xyz *c, tmap_xyz *side) {
    const tmapi_turn e = tmapi_turned_masks(t, beta);
    const tmap_xyz tau = tmap_nbb3_tau(t.f, beta);
    const tmap_u32 x = e.flip.x, y = e.flip.y, z = e.flip.z;
    const tmap_u32 differ = (c->x ^ c->y) & e.swap;
    const tmap_xyz s = {c->x ^ differ, c->y ^ differ, c->z}, one = {s.y, s.z, s.x},
                   two = {s.z, s.x, s.y};
    const tmap_xyz v = e.turn & 1 ? one : e.turn & 2 ? two : s;
    // tau * side + side - 1 - v is (tau + 1) * side + ~v
    c->x = (tau.x - x) * side->x + (v.x ^ x);
    c->y = (tau.y - y) * side->y + (v.y ^ y);
    c->z = (tau.z - z) * side->z + (v.z ^ z);
    side->x *= t.f.sx; // of equal sides, which constants show, one is enough
    side->y = t.f.sy == t.f.sx ? side->x : side->y * t.f.sy;
    side->z = t.f.sz == t.f.sx ? side->x : side->z * t.f.sz;
}

TMAP_FN void tmapi_turned_up64(tmap_turned t, tmap_u32 beta, tmap_xyz64 *c, tmap_xyz64 *side) {
    const tmapi_turn e = tmapi_turned_masks(t, beta);
    const tmap_xyz tau = tmap_nbb3_tau(t.f, beta);
    const tmap_u64 x = (tmap_u64)(tmap_i64)(int)e.flip.x, y = (tmap_u64)(tmap_i64)(int)e.flip.y,
                   z = (tmap_u64)(tmap_i64)(int)e.flip.z;
    const tmap_u64 differ = (c->x ^ c->y) & (tmap_u64)(tmap_i64)(int)e.swap;
    const tmap_xyz64 s = {c->x ^ differ, c->y ^ differ, c->z}, one = {s.y, s.z, s.x},
                     two = {s.z, s.x, s.y};
    const tmap_xyz64 v = e.turn & 1 ? one : e.turn & 2 ? two : s;
    // tau * side + side - 1 - v is (tau + 1) * side + ~v
    c->x = (tau.x - x) * side->x + (v.x ^ x);
    c->y = (tau.y - y) * side->y + (v.y ^ y);
    c->z = (tau.z - z) * side->z + (v.z ^ z);
    side->x *= t.f.sx; // of equal sides, which constants show, one is enough
    side->y = t.f.sy == t.f.sx ? side->x : side->y * t.f.sy;
    side->z = t.f.sz == t.f.sx ? side->x : side->z * t.f.sz;
}

// lambda(omega): the cell of thread w of the orthotope tmap_nbb3_orthotope(t.f, r).
// r <= tmap_nbb3_level_max32(t.f); digits of w past level r are ignored.
// Laws: a bijection from the orthotope onto the cells; tmap_turned_nu(t, lambda(w), r) == w.
TMAP_FN tmap_xyz tmap_turned_lambda(tmap_turned t, tmap_xyz w, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz cell = {0, 0, 0}, side = {1, 1, 1};
    TMAPI_UNROLL_4
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u32 rest = w.x / t.f.k;
        tmapi_turned_up(t, w.x % t.f.k, &cell, &side);
        w.x = w.y, w.y = w.z, w.z = rest; // the next level reads the next axis
    }
    return cell;
}

// tmap_turned_lambda in 64 bits. r <= tmap_nbb3_level_max64(t.f).
TMAP_FN tmap_xyz64 tmap_turned_lambda64(tmap_turned t, tmap_xyz64 w, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz64 cell = {0, 0, 0}, side = {1, 1, 1};
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u64 rest = w.x / t.f.k;
        tmapi_turned_up64(t, (tmap_u32)(w.x % t.f.k), &cell, &side);
        w.x = w.y, w.y = w.z, w.z = rest;
    }
    return cell;
}

// Lambda from a linear index: the cell of thread i < k^r, r <= tmap_nbb3_linear_level_max32(t.f).
// Each run of k^m indices fills one box of level m, in the order of the turned copies: for the
// curves of the catalogue successive indices are neighbours.
// Laws: a bijection from 0..k^r-1 onto the cells; nu_linear(t, lambda_linear(t, i, r), r) == i.
// Example: Hilbert curve, r = 2: 0..6 -> (0,0,0)(1,0,0)(1,1,0)(0,1,0)(0,2,0)(0,3,0)(1,3,0).
TMAP_FN tmap_xyz tmap_turned_lambda_linear(tmap_turned t, tmap_u32 i, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz cell = {0, 0, 0}, side = {1, 1, 1};
    TMAPI_UNROLL_4
    for (tmap_u32 mu = 1; mu <= r; ++mu, i /= t.f.k) tmapi_turned_up(t, i % t.f.k, &cell, &side);
    return cell;
}

// tmap_turned_lambda_linear in 64 bits. r <= tmap_nbb3_linear_level_max64(t.f).
TMAP_FN tmap_xyz64 tmap_turned_lambda_linear64(tmap_turned t, tmap_u64 i, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz64 cell = {0, 0, 0}, side = {1, 1, 1};
    for (tmap_u32 mu = 1; mu <= r; ++mu, i /= t.f.k)
        tmapi_turned_up64(t, (tmap_u32)(i % t.f.k), &cell, &side);
    return cell;
}

// Tile i < k^r of a fractal of level r + m that is cut into tiles of level m: returns the tile's
// corner, in tiles, and in *element how its content is turned, 0..47. With S the tile's sides, the
// cell at place p of the fractal of level m is corner * S + apply(*element, p, S - 1), for each
// axis. r <= tmap_nbb3_linear_level_max32(t.f).
// Example: Hilbert curve, r = 1, i = 3: (1,0,0), *element = 11.
TMAP_FN tmap_xyz tmap_turned_tile(tmap_turned t, tmap_u32 i, tmap_u32 r, tmap_u32 *element) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz corner = {0, 0, 0}, side = {1, 1, 1};
    tmap_u32 e = 0;
    for (tmap_u32 mu = 1; mu <= r; ++mu, i /= t.f.k) {
        const tmap_u32 beta = i % t.f.k, mask = tmapi_turned_mask(t);
        tmapi_turned_up(t, beta, &corner, &side);
        e = tmap_turned_compose(tmap_turned_element(t, beta) & mask, e) & mask;
    }
    *element = e;
    return corner;
}

// ---- nu: from cells back to threads -------------------------------------------------------------

// The digits of c in the reverse order, so that the coarsest level's come first; c becomes what is
// left of it past level r, (0, 0, 0) inside the embedding.
TMAP_FN tmap_xyz tmapi_turned_reverse(tmap_nbb3 f, tmap_xyz *c, tmap_u32 r) {
    tmap_xyz back = {0, 0, 0};
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_xyz d = tmapi_nbb3_down(f, c);
        back.x = back.x * f.sx + d.x, back.y = back.y * f.sy + d.y, back.z = back.z * f.sz + d.z;
    }
    return back;
}

TMAP_FN tmap_xyz64 tmapi_turned_reverse64(tmap_nbb3 f, tmap_xyz64 *c, tmap_u32 r) {
    tmap_xyz64 back = {0, 0, 0};
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_xyz d = tmapi_nbb3_down64(f, c);
        back.x = back.x * f.sx + d.x, back.y = back.y * f.sy + d.y, back.z = back.z * f.sz + d.z;
    }
    return back;
}

// The replica of box d, as tmapi_nbb3_match has it, where *undo is the element that undoes the
// turns of all levels above: an element acts on a place as it does on each digit of it. *undo goes
// on to the level below.
TMAP_FN tmap_u64 tmapi_turned_match(tmap_turned t, tmap_xyz d, tmap_u32 *undo) {
    const tmap_xyz last = {t.f.sx - 1, t.f.sy - 1, t.f.sz - 1};
    const tmap_u32 mask = tmapi_turned_mask(t);
    const tmap_u64 match = tmapi_nbb3_match(t.f, tmap_turned_apply(*undo & mask, d, last));
    const tmap_u32 e = tmap_turned_element(t, tmapi_nbb3_match_beta(t.f.k, match)) & mask;
    // the inverse of e after *undo: the flips of both meet before the permutation of e is undone
    *undo = tmap_turned_compose(tmapi_turned_back(e), (*undo ^ (e & 7)) & mask);
    return match;
}

// nu, the inverse of lambda: the thread of cell c, r <= tmap_nbb3_level_max32(t.f). For a place
// that is no cell, each level without a replica counts as digit 0; call tmap_turned_contains first.
// Law: lambda(nu(c)) == c for every cell.
TMAP_FN tmap_xyz tmap_turned_nu(tmap_turned t, tmap_xyz c, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz back = tmapi_turned_reverse(t.f, &c, r), w = {0, 0, 0};
    tmap_u32 undo = 0, axis = r % 3; // the level's axis plus 1, modulo 3
    for (tmap_u32 mu = r; mu > 0; --mu) {
        const tmap_u64 match = tmapi_turned_match(t, tmapi_nbb3_down(t.f, &back), &undo);
        const tmap_u32 beta = tmapi_nbb3_match_beta(t.f.k, match);
        if (axis == 1)
            w.x = w.x * t.f.k + beta, axis = 0;
        else if (axis == 2)
            w.y = w.y * t.f.k + beta, axis = 1;
        else
            w.z = w.z * t.f.k + beta, axis = 2;
    }
    return w;
}

// tmap_turned_nu in 64 bits. r <= tmap_nbb3_level_max64(t.f).
TMAP_FN tmap_xyz64 tmap_turned_nu64(tmap_turned t, tmap_xyz64 c, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz64 back = tmapi_turned_reverse64(t.f, &c, r), w = {0, 0, 0};
    tmap_u32 undo = 0, axis = r % 3;
    for (tmap_u32 mu = r; mu > 0; --mu) {
        const tmap_u64 match = tmapi_turned_match(t, tmapi_nbb3_down64(t.f, &back), &undo);
        const tmap_u32 beta = tmapi_nbb3_match_beta(t.f.k, match);
        if (axis == 1)
            w.x = w.x * t.f.k + beta, axis = 0;
        else if (axis == 2)
            w.y = w.y * t.f.k + beta, axis = 1;
        else
            w.z = w.z * t.f.k + beta, axis = 2;
    }
    return w;
}

// The inverse of tmap_turned_lambda_linear: the index of cell c. r <= linear_level_max32(t.f).
// Example: Hilbert curve, r = 2: (1,3,0) -> 6.
TMAP_FN tmap_u32 tmap_turned_nu_linear(tmap_turned t, tmap_xyz c, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz back = tmapi_turned_reverse(t.f, &c, r);
    tmap_u32 undo = 0, i = 0;
    for (tmap_u32 mu = r; mu > 0; --mu) {
        const tmap_u64 match = tmapi_turned_match(t, tmapi_nbb3_down(t.f, &back), &undo);
        i = i * t.f.k + tmapi_nbb3_match_beta(t.f.k, match);
    }
    return i;
}

// tmap_turned_nu_linear in 64 bits. r <= linear_level_max64(t.f).
TMAP_FN tmap_u64 tmap_turned_nu_linear64(tmap_turned t, tmap_xyz64 c, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz64 back = tmapi_turned_reverse64(t.f, &c, r);
    tmap_u32 undo = 0;
    tmap_u64 i = 0;
    for (tmap_u32 mu = r; mu > 0; --mu) {
        const tmap_u64 match = tmapi_turned_match(t, tmapi_nbb3_down64(t.f, &back), &undo);
        i = i * t.f.k + tmapi_nbb3_match_beta(t.f.k, match);
    }
    return i;
}

// 1 if c is a cell of the fractal of level r, else 0; any c; r <= tmap_nbb3_level_max32(t.f).
TMAP_FN int tmap_turned_contains(tmap_turned t, tmap_xyz c, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz back = tmapi_turned_reverse(t.f, &c, r);
    tmap_u32 undo = 0;
    if (c.x | c.y | c.z) return 0; // outside
    for (tmap_u32 mu = r; mu > 0; --mu)
        if (!tmapi_turned_match(t, tmapi_nbb3_down(t.f, &back), &undo)) return 0;
    return 1;
}

// tmap_turned_contains in 64 bits. r <= tmap_nbb3_level_max64(t.f).
TMAP_FN int tmap_turned_contains64(tmap_turned t, tmap_xyz64 c, tmap_u32 r) {
    t.f = tmapi_nbb3_total(t.f);
    tmap_xyz64 back = tmapi_turned_reverse64(t.f, &c, r);
    tmap_u32 undo = 0;
    if (c.x | c.y | c.z) return 0;
    for (tmap_u32 mu = r; mu > 0; --mu)
        if (!tmapi_turned_match(t, tmapi_nbb3_down64(t.f, &back), &undo)) return 0;
    return 1;
}

// ---- the catalogue ------------------------------------------------------------------------------
//
// X(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, turn_a, turn_b, turn_c).
//
// hilbert, peano, hilbert3: every place, in the order of the curve: successive cells share a side.
// koch: six boxes along a line with a hat, in 4 x 4: a quadratic Koch curve of boxes that touch and
// do not overlap; successive cells share a side.
// arrowhead: the gasket as the cells x + y + z = 2^r - 1 of a cube, in the order of the Sierpinski
// arrowhead: successive cells are neighbours in the triangular grid, one step along one axis and
// one step back along another. Without z the cells are those of a gasket in the square grid,
// x & y == 0: its turns by a third are no symmetries of a square, but they are of the cube.
// vicsek: the centre first, then the arms, turned so that replica 1 of each arm points outwards.
//
// The dragon curve and Levy's are missing: their copies are turned by an eighth of a circle and
// share boxes, so that they are no NBB fractals.
// clang-format off
#define TMAP_TURNED(X) \
    X(hilbert, "Hilbert curve", 4, 2, 2, 1, 0x50ull, 0x14ull, 0x0ull, 0xc0ull, 0x82ull, 0x0ull) \
    X(peano, "Peano curve", 9, 3, 3, 1, \
      0x2a540ull, 0x241a4ull, 0x0ull, 0x4b84ull, 0x0ull, 0x0ull) \
    X(koch, "Koch curve of boxes", 6, 4, 4, 1, \
      0xe94ull, 0x50ull, 0x0ull, 0x300ull, 0x208ull, 0x0ull) \
    X(vicsek, "Vicsek fractal with turned arms", 5, 3, 3, 1, \
      0x119ull, 0x65ull, 0x0ull, 0x2d0ull, 0x220ull, 0x0ull) \
    X(arrowhead, "Sierpinski arrowhead", 3, 2, 2, 2, \
      0x1ull, 0x4ull, 0x10ull, 0x0ull, 0x22ull, 0x1ull) \
    X(hilbert3, "Hilbert curve in 3D", 8, 2, 2, 2, \
      0x5500ull, 0x1414ull, 0x550ull, 0xd6c0ull, 0x1500ull, 0x9446ull)
// clang-format on

// tmap_turned_hilbert(), tmap_turned_peano(), ...: the fractal, as a constant.
#define TMAPI_TURNED(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    TMAP_FN tmap_turned tmap_turned_##name(void) { \
        const tmap_turned t = {{k, sx, sy, sz, tau_x, tau_y, tau_z}, a, b, c}; \
        return t; \
    }
TMAP_TURNED(TMAPI_TURNED)
#undef TMAPI_TURNED

#define TMAP_TURNED_COUNT 6

// Number i of the catalogue, 0 <= i < TMAP_TURNED_COUNT; any other i gives the Hilbert curve.
TMAP_FN tmap_turned tmap_turned_at(int i) {
    int n = 0;
#define TMAPI_TURNED(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    if (i == n++) return tmap_turned_##name();
    TMAP_TURNED(TMAPI_TURNED)
#undef TMAPI_TURNED
    return tmap_turned_hilbert();
}

TMAP_FN const char *tmapi_turned_text(int i, int titled) {
    int n = 0;
#define TMAPI_TURNED(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    if (i == n++) return titled ? title : #name;
    TMAP_TURNED(TMAPI_TURNED)
#undef TMAPI_TURNED
    return titled ? "own fractal" : "own";
}

// The name of number i of the catalogue ("hilbert"), as tmap_turned_from_text takes it; "own" for
// any other i.
TMAP_FN const char *tmap_turned_name(int i) { return tmapi_turned_text(i, 0); }
// The title of number i of the catalogue ("Hilbert curve"); "own fractal" for any other i.
TMAP_FN const char *tmap_turned_title(int i) { return tmapi_turned_text(i, 1); }

// A relative of the Sierpinski gasket: replicas (0,0), (0,1) and (1,1), as in the gasket, turned by
// elements a, b and c of the eight in two dimensions, 0..3 and 8..11.
// Source: 512 choices, the Sierpinski relatives of Peitgen, Juergens and Saupe, "Chaos and
// Fractals" (1992), chapter 5. Example: 0, 0, 0 is the gasket.
TMAP_FN tmap_turned tmap_turned_relative(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    const tmap_turned gasket = {{3, 2, 2, 1, 0x10, 0x14, 0}, 0, 0, 0};
    return tmap_turned_set(tmap_turned_set(tmap_turned_set(gasket, 0, a), 1, b), 2, c);
}

// ---- your own -----------------------------------------------------------------------------------

// Makes a fractal from layers as for tmap_nbb3_from_layers (one layer in two dimensions), where
// each replica is the letter of its element: A to Z are 0 to 25, a to v are 26 to 47, and '#' is 0.
// *out is written only on success.
// Returns: as tmap_nbb3_from_layers; TMAP_EINVAL, too, for an element that exchanges axes of
// unequal sides.
// Example: "A./AJ" is the gasket whose last copy makes a quarter turn, element 9.
TMAP_FN int tmap_turned_from_layers(const char *layers, tmap_turned *out) {
    char boxes[100]; // the layers with '#' for every letter: 84 characters at most
    tmap_u32 at = 0, beta = 0;
    tmap_turned t = {{0, 0, 0, 0, 0, 0, 0}, 0, 0, 0};
    int kind, code;
    char c;
    if (!layers || !out) return TMAP_EINVAL;
    do {
        kind = tmapi_rows_next(&layers, &c);
        if (at == sizeof boxes) return TMAP_ESIDE;
        if (kind != 2)
            boxes[at++] = kind ? '/' : 0;
        else {
            const tmap_u32 element = c >= 'A' && c <= 'Z'   ? (tmap_u32)(c - 'A')
                                     : c >= 'a' && c <= 'v' ? (tmap_u32)(c - 'a') + 26
                                                            : 0;
            const int letter = element || c == 'A' || c == '#';
            if (letter) t = tmap_turned_set(t, beta++, element);
            boxes[at++] = letter ? '#' : c;
        }
    } while (kind);
    code = tmap_nbb3_from_layers(boxes, &t.f);
    if (code == TMAP_OK) code = tmap_turned_check(t);
    if (code == TMAP_OK) *out = t;
    return code;
}

// Makes a fractal from a command line: a name of the catalogue, or layers as for
// tmap_turned_from_layers, whose errors it has. Letters alone are a word, and TMAP_ECHARACTER if it
// is no name of the catalogue; so a single row of letters needs a separator at its end.
// Example: "hilbert"; "A./AJ"; "AB/".
TMAP_FN int tmap_turned_from_text(const char *text, tmap_turned *out) {
    const char *end = text;
    if (!text || !out) return TMAP_EINVAL;
    for (int i = 0; i < TMAP_TURNED_COUNT; ++i)
        if (tmapi_same_text(text, tmap_turned_name(i))) {
            *out = tmap_turned_at(i);
            return TMAP_OK;
        }
    while ((*end >= 'A' && *end <= 'Z') || (*end >= 'a' && *end <= 'z')) ++end;
    return *text && !*end ? TMAP_ECHARACTER : tmap_turned_from_layers(text, out);
}

#endif
