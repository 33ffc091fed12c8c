// SPDX-License-Identifier: MIT
// ca_rule.h: rules of cellular automata (CA) of the family of Conway's Life, and the next state of
// one cell, or of 32 cells of one bit each. ca.h and compact_life.h apply them.
#ifndef TMAP_FRACTAL_CA_RULE_H
#define TMAP_FRACTAL_CA_RULE_H

#include "../core.h"

// A rule: with bit n of `born` a dead cell with n live neighbours becomes alive, with bit n of
// `survive` a live one remains alive. Bits 0..8; in three dimensions (life3.h) 0..26.
typedef struct tmap_ca_rule {
    tmap_u32 born, survive;
} tmap_ca_rule;

// The rule of Conway's Life, B3/S23.
TMAP_FN tmap_ca_rule tmap_ca_life(void) {
    tmap_ca_rule rule = {1u << 3, 1u << 2 | 1u << 3};
    return rule;
}

// Reads the rule from a text such as "B3/S23" (either case; no digit twice; B or S may have no
// digits). Returns TMAP_OK; or TMAP_EINVAL, and then leaves *out unchanged.
TMAP_FN int tmap_ca_rule_from_text(const char *text, tmap_ca_rule *out) {
    tmap_u32 mask[2] = {0, 0};
    if (!text || !out) return TMAP_EINVAL;
    for (int part = 0; part < 2; ++part) {
        if (*text != "BS"[part] && *text != "bs"[part]) return TMAP_EINVAL;
        for (++text; *text >= '0' && *text <= '8'; ++text) {
            if (mask[part] >> (*text - '0') & 1) return TMAP_EINVAL;
            mask[part] |= 1u << (*text - '0');
        }
        if (part == 0 && *text++ != '/') return TMAP_EINVAL;
    }
    if (*text) return TMAP_EINVAL;
    out->born = mask[0];
    out->survive = mask[1];
    return TMAP_OK;
}

// 1 if a cell with `neighbours` live neighbours lives in the next step, else 0: that bit of the
// rule. neighbours: 0 to 31; a larger number counts modulo 32.
TMAP_FN int tmap_ca_next(tmap_ca_rule rule, int alive, tmap_u32 neighbours) {
    return (int)((alive ? rule.survive : rule.born) >> (neighbours & 31) & 1);
}

// The next state (0 or 1) of cell (x, y) of a matrix of `width` x `height` bytes, row by row
// without gaps, alive where not 0, and 0 outside the fractal. Places past the matrix's edge
// count as dead.
TMAP_FN unsigned char tmap_ca_cell(const unsigned char *in, tmap_u64 width, tmap_u64 height,
                                   tmap_u64 x, tmap_u64 y, tmap_ca_rule rule) {
    int neighbours = 0;
    const unsigned char *row = in + y * width + x;
    int left = x > 0, right = x + 1 < width;
    if (y > 0) {
        const unsigned char *up = row - width;
        neighbours += (left && up[-1]) + (up[0] != 0) + (right && up[1]);
    }
    neighbours += (left && row[-1]) + (right && row[1]);
    if (y + 1 < height) {
        const unsigned char *down = row + width;
        neighbours += (left && down[-1]) + (down[0] != 0) + (right && down[1]);
    }
    return (unsigned char)tmap_ca_next(rule, row[0] != 0, (tmap_u32)neighbours);
}

// ---- 32 cells at a time -------------------------------------------------------------------------

// A rule as masks of a word: element n is all ones where a dead place with n living neighbours is
// born, or a living one survives; otherwise 0.
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

// 32 places of a row, and the places to the left and to the right of each.
typedef struct tmapi_life_three {
    tmap_u32 left, here, right;
} tmapi_life_three;

TMAP_DEVICE tmap_u32 tmapi_life_carry(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    return (a & b) | (a & c) | (b & c);
}
TMAP_DEVICE tmap_u32 tmapi_life_pick(tmap_u32 s, tmap_u32 one, tmap_u32 zero) {
    return (s & one) | (~s & zero);
}

// The next states of 32 places from three rows. Adds up the neighbours of all places as four-bit
// numbers, bit by bit, and picks one of nine results for each place.
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
