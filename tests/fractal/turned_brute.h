// SPDX-License-Identifier: MIT
// turned_brute.h: fractals with turned copies by brute force, without any map of threadmap: lists of
// cells, grown level by level from the definition, and single cells of large levels.
#ifndef TURNED_BRUTE_H
#define TURNED_BRUTE_H

#include "fractal/brute.h"

#include <threadmap/fractal/turned.h>

// The replicas in their order, and the element of each.
typedef struct turned_brute {
    int dims, s[3], k;
    int box[32][3], element[32];
} turned_brute;

// The new coordinate of each axis before flips, by the table in the header's first comment.
static const int turned_axes[6][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0},
                                      {0, 2, 1}, {2, 0, 1}, {2, 1, 0}};

// 1 if the element exchanges axes of equal sides only.
static inline int turned_fits(const turned_brute *b, int element) {
    for (int a = 0; a < 3; ++a)
        if (b->s[turned_axes[element / 8][a]] != b->s[a]) return 0;
    return 1;
}

static inline void turned_move(int element, const tmap_u64 *v, const tmap_u64 *side,
                               tmap_u64 *out) {
    for (int a = 0; a < 3; ++a) {
        const tmap_u64 n = v[turned_axes[element / 8][a]];
        out[a] = element >> a & 1 ? side[a] - 1 - n : n;
    }
}

// An own fractal at random, in two or three dimensions: boxes in any order, turned in any way.
static inline turned_brute turned_random(tmap_u64 *state, int dims) {
    turned_brute b;
    int at[64], boxes, equal = (int)kit_below(state, 3);
    memset(&b, 0, sizeof b);
    b.dims = dims;
    for (int a = 0; a < 3; ++a) b.s[a] = a < dims ? 1 + (int)kit_below(state, 4) : 1;
    for (int a = 1; a < dims && equal; ++a) b.s[a] = b.s[0]; // two in three are squares and cubes
    boxes = b.s[0] * b.s[1] * b.s[2];
    b.k = 1 + (int)kit_below(state, boxes < 32 ? (unsigned)boxes : 32u);
    for (int i = 0; i < boxes; ++i) at[i] = i;
    for (int i = 0; i < b.k; ++i) {
        const int j = i + (int)kit_below(state, (unsigned)(boxes - i)), box = at[j];
        at[j] = at[i];
        b.box[i][0] = box % b.s[0], b.box[i][1] = box / b.s[0] % b.s[1];
        b.box[i][2] = box / b.s[0] / b.s[1];
        do {
            b.element[i] = (int)kit_below(state, dims == 2 ? 16 : 48);
            if (dims == 2) b.element[i] &= 11;
        } while (!turned_fits(&b, b.element[i]));
    }
    return b;
}

// The library's description of b, digit by digit.
static inline tmap_turned turned_of(const turned_brute *b) {
    const tmap_xyz sides = {(tmap_u32)b->s[0], (tmap_u32)b->s[1], (tmap_u32)b->s[2]};
    tmap_u64 n[6] = {0};
    for (int i = 0; i < b->k; ++i)
        for (int a = 0; a < 3; ++a) {
            n[a] |= (tmap_u64)b->box[i][a] << 2 * i;
            n[3 + a] |= (tmap_u64)(b->element[i] >> 2 * a & 3) << 2 * i;
        }
    return tmap_turned_make(tmap_nbb3_make((tmap_u32)b->k, sides, n[0], n[1], n[2]), n[3], n[4],
                            n[5]);
}

// The other way round, by the digits of the struct.
static inline turned_brute turned_read(tmap_turned t) {
    turned_brute b;
    memset(&b, 0, sizeof b);
    b.k = (int)t.f.k, b.dims = t.f.sz == 1 ? 2 : 3;
    b.s[0] = (int)t.f.sx, b.s[1] = (int)t.f.sy, b.s[2] = (int)t.f.sz;
    for (int i = 0; i < b.k; ++i) {
        const tmap_u64 tau[] = {t.f.tau_x, t.f.tau_y, t.f.tau_z};
        const tmap_u64 turn[] = {t.turn_a, t.turn_b, t.turn_c};
        for (int a = 0; a < 3; ++a) {
            b.box[i][a] = (int)(tau[a] >> 2 * i & 3);
            b.element[i] |= (int)(turn[a] >> 2 * i & 3) << 2 * a;
        }
    }
    return b;
}

// The cells of level r, from the n cells of level r - 1 in `cells`, in place: a turned copy for each
// replica, in their order. Returns how many there are now.
static inline size_t turned_grow(const turned_brute *b, int r, brute_cell *cells, size_t n) {
    const unsigned step = (unsigned)brute_pow(b->k, (r - 1) / 3);
    tmap_u64 side[3];
    for (int a = 0; a < 3; ++a) side[a] = brute_pow(b->s[a], r - 1);
    for (int beta = b->k - 1; beta >= 0; --beta) // the last first: copy 0 overwrites its source
        for (size_t i = 0; i < n; ++i) {
            brute_cell c = cells[i];
            const tmap_u64 v[] = {c.x, c.y, c.z};
            tmap_u64 out[3];
            turned_move(b->element[beta], v, side, out);
            c.x = out[0] + side[0] * (tmap_u64)b->box[beta][0];
            c.y = out[1] + side[1] * (tmap_u64)b->box[beta][1];
            c.z = out[2] + side[2] * (tmap_u64)b->box[beta][2];
            *(r % 3 == 1 ? &c.wx : r % 3 == 2 ? &c.wy : &c.wz) += step * (unsigned)beta;
            cells[n * (size_t)beta + i] = c;
        }
    return n * (size_t)b->k;
}

// The cell of digits[0..r-1], the finest level's first: each level's box is turned, one after another,
// by the elements of all levels above, and put at its place. So no intermediate cell is made.
static inline brute_cell turned_cell(const turned_brute *b, int r, const int *digits) {
    brute_cell c;
    const tmap_u64 s[] = {(tmap_u64)b->s[0], (tmap_u64)b->s[1], (tmap_u64)b->s[2]};
    memset(&c, 0, sizeof c);
    for (int mu = r; mu-- > 0;) {
        tmap_u64 v[3], out[3];
        for (int a = 0; a < 3; ++a) v[a] = (tmap_u64)b->box[digits[mu]][a];
        for (int above = mu + 1; above < r; ++above) {
            turned_move(b->element[digits[above]], v, s, out);
            memcpy(v, out, sizeof v);
        }
        c.x = c.x * s[0] + v[0], c.y = c.y * s[1] + v[1], c.z = c.z * s[2] + v[2];
    }
    return c;
}

#endif
