// SPDX-License-Identifier: MIT
// life_bits.h: a step of a two-state automaton for 32 cells at a time, one bit each. A part of
// life.h and compact_life.h.
#ifndef TMAP_FRACTAL_LIFE_BITS_H
#define TMAP_FRACTAL_LIFE_BITS_H

#include "ca_rule.h"

// A rule as masks of a word: element n is all ones where n living neighbours bring a dead place to
// life or keep a living one alive, else 0.
typedef struct tmapi_life_rule {
    tmap_u32 born[9], survive[9];
} tmapi_life_rule;

TMAP_FN tmapi_life_rule tmapi_life_rule_make(tmap_ca_rule rule) {
    tmapi_life_rule masks;
    for (tmap_u32 n = 0; n < 9; ++n) {
        masks.born[n] = 0u - (rule.born >> n & 1);
        masks.survive[n] = 0u - (rule.survive >> n & 1);
    }
    return masks;
}

#if TMAP_CUDA

// 32 places of a row, and those to the left and to the right of each.
typedef struct tmapi_life_three {
    tmap_u32 left, here, right;
} tmapi_life_three;

TMAP_DEVICE tmap_u32 tmapi_life_carry(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    return (a & b) | (a & c) | (b & c);
}
TMAP_DEVICE tmap_u32 tmapi_life_pick(tmap_u32 s, tmap_u32 one, tmap_u32 zero) {
    return (s & one) | (~s & zero);
}

// The next states of 32 places from three rows: the neighbours of each are added up as four-bit
// numbers, bit by bit of all places at once, and pick one of nine answers.
TMAP_DEVICE tmap_u32 tmapi_life_next32(tmapi_life_three u, tmapi_life_three c, tmapi_life_three d,
                                       const tmapi_life_rule *rule) {
    tmap_u32 u0 = u.left ^ u.here ^ u.right, u1 = tmapi_life_carry(u.left, u.here, u.right);
    tmap_u32 d0 = d.left ^ d.here ^ d.right, d1 = tmapi_life_carry(d.left, d.here, d.right);
    tmap_u32 c0 = c.left ^ c.right, c1 = c.left & c.right;
    tmap_u32 n0 = u0 ^ d0 ^ c0, carry0 = tmapi_life_carry(u0, d0, c0);
    tmap_u32 sum = u1 ^ d1 ^ c1, carry = tmapi_life_carry(u1, d1, c1);
    tmap_u32 n1 = sum ^ carry0, carry1 = sum & carry0, n2 = carry ^ carry1, n3 = carry & carry1;
    tmap_u32 v[9];
#pragma unroll
    for (int n = 0; n < 9; ++n) v[n] = tmapi_life_pick(c.here, rule->survive[n], rule->born[n]);
    v[0] = tmapi_life_pick(n0, v[1], v[0]), v[2] = tmapi_life_pick(n0, v[3], v[2]);
    v[4] = tmapi_life_pick(n0, v[5], v[4]), v[6] = tmapi_life_pick(n0, v[7], v[6]);
    v[0] = tmapi_life_pick(n1, v[2], v[0]), v[4] = tmapi_life_pick(n1, v[6], v[4]);
    return tmapi_life_pick(n3, v[8], tmapi_life_pick(n2, v[4], v[0]));
}

#endif // TMAP_CUDA
#endif
