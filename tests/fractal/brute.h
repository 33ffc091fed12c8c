// SPDX-License-Identifier: MIT
// brute.h: fractals by brute force, from text and without any map of threadmap, for the maps to be
// compared with: lists of cells, grown level by level from the definition, and single cells of
// large levels. In two dimensions, in three, and with turned copies.
#ifndef BRUTE_H
#define BRUTE_H

#include "../kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/turned.h>

#define BRUTE_SIDE_MAX 16

// What a fractal is read as: rows of BRUTE_PLAIN; layers of rows; and layers with turned copies.
enum { BRUTE_PLAIN, BRUTE_DEEP, BRUTE_TURNED, BRUTE_KINDS };

typedef struct brute {
    char
        text[BRUTE_SIDE_MAX * (BRUTE_SIDE_MAX + 1)]; // rows with '/' between them, layers with "//"
    int kind, axes;                                  // axes of threads: 2 or 3
    int s[3], k, boxes;                              // sides, replicas, boxes
    // the k replicas in their order, and then the empty boxes; and how each copy is turned
    int box[BRUTE_SIDE_MAX * BRUTE_SIDE_MAX][3], element[BRUTE_SIDE_MAX * BRUTE_SIDE_MAX];
} brute;

// A cell and its thread; its linear index is its place in a list.
typedef struct brute_cell {
    tmap_u64 at[3], w[3];
} brute_cell;

// ---- fractals -----------------------------------------------------------------------------------

// The element of a character of turned text, 0 for '#', or -1.
static inline int brute_element(char c) {
    return c == '#' ? 0 : c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'v' ? c - 'a' + 26 : -1;
}

// text: rows of equal length, with '/' or a line feed between them, and two of these between
// layers.
static inline brute brute_read(const char *text, int kind) {
    brute b;
    int at[3] = {0, 0, 0};
    memset(&b, 0, sizeof b);
    snprintf(b.text, sizeof b.text, "%s", text);
    b.kind = kind, b.axes = kind == BRUTE_PLAIN ? 2 : 3;
    for (int full = 1; full >= 0; --full) {
        memset(at, 0, sizeof at);
        for (const char *p = text; *p; ++p) {
            if (*p == '/' || *p == '\n') { // the row has ended, else the layer
                at[1] = at[0] ? at[1] + 1 : 0, at[2] += !at[0], at[0] = 0;
                continue;
            }
            if ((brute_element(*p) >= 0) == full) {
                memcpy(b.box[b.boxes], at, sizeof at);
                b.element[b.boxes++] = full ? brute_element(*p) : 0;
            }
            ++at[0];
        }
        if (full) b.k = b.boxes;
    }
    b.s[0] = at[0], b.s[1] = at[1] + 1, b.s[2] = at[2] + 1;
    return b;
}

static inline brute brute_make(const char *rows) { return brute_read(rows, BRUTE_PLAIN); }

// The new coordinate of each axis before flips, by the table in the first comment of turned.h.
static const int brute_axes[6][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0},
                                     {0, 2, 1}, {2, 0, 1}, {2, 1, 0}};

// Moves v by an element, in a box of these sides.
static inline void brute_move(int element, const tmap_u64 *side, tmap_u64 *v) {
    const tmap_u64 old[3] = {v[0], v[1], v[2]};
    for (int a = 0; a < 3 && element; ++a) {
        const tmap_u64 n = old[brute_axes[element / 8][a]];
        v[a] = element >> a & 1 ? side[a] - 1 - n : n;
    }
}

// An own fractal at random, any of the boxes in any order. Sides up to 16 in two dimensions, small
// ones more often, else up to 4; of turned fractals two in three are squares or cubes.
static inline brute brute_random(tmap_u64 *state, int kind) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv";
    const int flat = kind == BRUTE_PLAIN || (kind == BRUTE_TURNED && kit_below(state, 2));
    const int equal = kind == BRUTE_TURNED && kit_below(state, 3);
    char text[BRUTE_SIDE_MAX * (BRUTE_SIDE_MAX + 1)], *p = text;
    int s[3] = {1, 1, 1};
    for (int a = 0; a < (flat ? 2 : 3); ++a) {
        const tmap_u64 most = kind == BRUTE_PLAIN ? 1 + kit_below(state, BRUTE_SIDE_MAX) : 4;
        s[a] = a && equal ? s[0] : 1 + (int)kit_below(state, most);
    }
    const int boxes = s[0] * s[1] * s[2], limit = kind == BRUTE_PLAIN ? 16 : 32;
    int k = 1 + (int)kit_below(state, (tmap_u64)(boxes < limit ? boxes : limit));
    for (int i = 0; i < boxes; ++i) { // each of the boxes that are left is a replica, or not
        const int taken = (int)kit_below(state, (tmap_u64)(boxes - i)) < k;
        int element = 0, fits = kind != BRUTE_TURNED || !taken;
        while (!fits) { // exchanges of axes of equal sides only
            const int *axes = brute_axes[(element = (int)kit_below(state, 48)) / 8];
            fits = s[axes[0]] == s[0] && s[axes[1]] == s[1] && s[axes[2]] == s[2];
            if (flat && element & ~11) fits = 0;
        }
        if (i && i % s[0] == 0) *p++ = '/';
        if (i && i % (s[0] * s[1]) == 0) *p++ = '/';
        *p++ = !taken ? '.' : element ? letters[element] : '#', k -= taken;
    }
    *p = 0;
    brute b = brute_read(text, kind);
    for (int i = 0; i < b.k; ++i) {
        const int j = i + (int)kit_below(state, (tmap_u64)(b.k - i)), e = b.element[i];
        int box[3];
        memcpy(box, b.box[i], sizeof box), memcpy(b.box[i], b.box[j], sizeof box);
        memcpy(b.box[j], box, sizeof box), b.element[i] = b.element[j], b.element[j] = e;
    }
    return b;
}

// The library's description of a fractal, digit by digit.
static inline tmap_nbb brute_nbb(const brute *b) {
    tmap_nbb f = tmap_nbb_make((tmap_u32)b->k, (tmap_u32)b->s[0], (tmap_u32)b->s[1], 0, 0);
    for (int i = 0; i < b->k; ++i)
        f.tau_x |= (tmap_u64)b->box[i][0] << 4 * i, f.tau_y |= (tmap_u64)b->box[i][1] << 4 * i;
    return f;
}

static inline tmap_turned brute_turned(const brute *b) {
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

// The other way round, by the digits of the struct. Without the empty boxes, and without text.
static inline brute brute_of_turned(tmap_turned t) {
    const tmap_u64 tau[] = {t.f.tau_x, t.f.tau_y, t.f.tau_z};
    const tmap_u64 turn[] = {t.turn_a, t.turn_b, t.turn_c};
    brute b;
    memset(&b, 0, sizeof b);
    b.kind = BRUTE_TURNED, b.axes = 3, b.k = b.boxes = (int)t.f.k;
    b.s[0] = (int)t.f.sx, b.s[1] = (int)t.f.sy, b.s[2] = (int)t.f.sz;
    for (int i = 0; i < b.k; ++i)
        for (int a = 0; a < 3; ++a) {
            b.box[i][a] = (int)(tau[a] >> 2 * i & 3);
            b.element[i] |= (int)(turn[a] >> 2 * i & 3) << 2 * a;
        }
    snprintf(b.text, sizeof b.text, "tau %llx %llx %llx, turned %llx %llx %llx", tau[0], tau[1],
             tau[2], turn[0], turn[1], turn[2]);
    return b;
}

static inline brute brute_of(tmap_nbb f) {
    brute b;
    memset(&b, 0, sizeof b);
    b.axes = 2, b.k = b.boxes = (int)f.k;
    b.s[0] = (int)f.sx, b.s[1] = (int)f.sy, b.s[2] = 1;
    for (int i = 0; i < b.k; ++i)
        b.box[i][0] = (int)(f.tau_x >> 4 * i & 15), b.box[i][1] = (int)(f.tau_y >> 4 * i & 15);
    return b;
}

// Number i of the fractals that the exhaustive tests go through: those of the catalogue, by their
// text; all that are 2 x 2 or 2 x 2 x 2, or the 512 relatives of the gasket; then random ones.
static inline int brute_known(int kind) { // those before the random ones
    return kind == BRUTE_PLAIN  ? TMAP_FRACTAL_COUNT + 15
           : kind == BRUTE_DEEP ? TMAP_FRACTAL3_COUNT + 255
                                : TMAP_TURNED_COUNT + 512;
}
static inline int brute_catalogue(int kind) {
    return kind == BRUTE_PLAIN  ? TMAP_FRACTAL_COUNT
           : kind == BRUTE_DEEP ? TMAP_FRACTAL3_COUNT
                                : TMAP_TURNED_COUNT;
}
static inline brute brute_at(int kind, int i) {
#define BRUTE_ROWS(name, title, rows, k, sx, sy, tau_x, tau_y)                rows,
#define BRUTE_LAYERS(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) layers,
    static const char *const rows[] = {TMAP_FRACTALS(BRUTE_ROWS)};
    static const char *const layers[] = {TMAP_FRACTALS3(BRUTE_LAYERS)};
    static const tmap_u32 flat[] = {0, 1, 2, 3, 8, 9, 10, 11};
    const int own = i - brute_catalogue(kind);
    char text[] = "../..//../..";
    tmap_u64 state = 1000003ull * (tmap_u64)(own + 1);
    if (i >= brute_known(kind)) return brute_random(&state, kind);
    if (kind == BRUTE_TURNED)
        return brute_of_turned(
            own < 0 ? tmap_turned_at(i)
                    : tmap_turned_relative(flat[own & 7], flat[own >> 3 & 7], flat[own >> 6]));
    if (own < 0) return brute_read(kind == BRUTE_PLAIN ? rows[i] : layers[i], kind);
    for (int box = 0; box < 8; ++box)
        if ((own + 1) >> box & 1) text[box + box / 2 + box / 4] = '#';
    if (kind == BRUTE_PLAIN) text[5] = 0;
    return brute_read(text, kind);
}

// ---- replication --------------------------------------------------------------------------------

// base^e; the caller knows that it fits.
static inline tmap_u64 brute_pow(int base, int e) {
    tmap_u64 p = 1;
    while (e-- > 0) p *= (tmap_u64)base;
    return p;
}

// The cells of level r, from the n cells of level r - 1 in `cells`, in place: one copy for each
// replica, in their order. Returns how many there are now; cells has room for them. Level 0 is one
// cell of zeros.
static inline size_t brute_grow(const brute *b, int r, brute_cell *cells, size_t n) {
    const tmap_u64 side[3] = {brute_pow(b->s[0], r - 1), brute_pow(b->s[1], r - 1),
                              brute_pow(b->s[2], r - 1)};
    // the levels in turn make the orthotope k times wider, higher, and of three axes deeper
    const tmap_u64 step = brute_pow(b->k, (r - 1) / b->axes);
    for (int beta = b->k - 1; beta >= 0; --beta) // the last first: copy 0 overwrites its source
        for (size_t i = 0; i < n; ++i) {
            brute_cell c = cells[i];
            brute_move(b->element[beta], side, c.at);
            for (int a = 0; a < 3; ++a) c.at[a] += side[a] * (tmap_u64)b->box[beta][a];
            c.w[(r - 1) % b->axes] += step * (tmap_u64)beta;
            cells[n * (size_t)beta + i] = c;
        }
    return n * (size_t)b->k;
}

// The place of digits[0..r-1], the finest level's first, which are boxes: from level to level the
// place is turned in its box, and moved to where the box is. An empty box makes it a place that is
// no cell.
static inline void brute_place(const brute *b, tmap_u32 r, const int *digits, tmap_u64 *at) {
    tmap_u64 side[3] = {1, 1, 1};
    memset(at, 0, 3 * sizeof *at);
    for (tmap_u32 mu = 0; mu < r; ++mu) {
        brute_move(b->element[digits[mu]], side, at);
        for (int a = 0; a < 3; ++a) {
            at[a] += side[a] * (tmap_u64)b->box[digits[mu]][a];
            side[a] *= (tmap_u64)b->s[a];
        }
    }
}

// 1 if (x, y) is a cell of level r in two dimensions: the finest level first, box by box.
static inline int brute_contains(const brute *b, tmap_u64 x, tmap_u64 y, int r) {
    for (; r > 0; --r) {
        int i = 0;
        while (i < b->k && ((tmap_u64)b->box[i][0] != x % (tmap_u64)b->s[0] ||
                            (tmap_u64)b->box[i][1] != y % (tmap_u64)b->s[1]))
            ++i;
        if (i == b->k) return 0;
        x /= (tmap_u64)b->s[0], y /= (tmap_u64)b->s[1];
    }
    return x == 0 && y == 0;
}

#endif
