// SPDX-License-Identifier: MIT
// ca_rule.h: rules of the cellular automata of ca.h and life.h, and the next state of one cell.
#ifndef TMAP_FRACTAL_CA_RULE_H
#define TMAP_FRACTAL_CA_RULE_H

#include "../core.h"

// A rule: bit n of `born` says that a dead cell with n live neighbours becomes alive, bit n of
// `survive` that a live one stays alive; bits 0..8.
typedef struct tmap_ca_rule {
    tmap_u32 born, survive;
} tmap_ca_rule;

// Conway's Life, B3/S23.
TMAP_FN tmap_ca_rule tmap_ca_life(void) {
    tmap_ca_rule rule = {1u << 3, 1u << 2 | 1u << 3};
    return rule;
}

// The rule of a text such as "B3/S23" (either case; no digit twice; B or S alone may stand without
// digits).
// Returns TMAP_OK, or TMAP_EINVAL, and then leaves *out alone.
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

// 1 if a cell with `neighbours` live neighbours lives in the next step. Total: past 8 neighbours it
// does not.
TMAP_FN int tmap_ca_next(tmap_ca_rule rule, int alive, tmap_u32 neighbours) {
    return (int)((alive ? rule.survive : rule.born) >> (neighbours & 31) & 1);
}

// The next state (0 or 1) of cell (x, y) of an embedding `width` x `height`, whose places outside
// the fractal hold 0. in: one byte a place, row by row, alive where not 0. A place outside the
// embedding counts as dead.
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

#endif
