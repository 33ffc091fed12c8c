// SPDX-License-Identifier: MIT
// brute.h: fractals by brute force, from rows of text and without any map of threadmap, for the maps
// to be compared with: pictures and lists of cells by replication, membership from the top down.
#ifndef BRUTE_H
#define BRUTE_H

#include "../kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

#define BRUTE_SIDE_MAX 16

typedef struct brute {
    char text[BRUTE_SIDE_MAX * (BRUTE_SIDE_MAX + 1)]; // rows with '/' between them
    char row[BRUTE_SIDE_MAX][BRUTE_SIDE_MAX];
    int sx, sy, k;
    int tau_x[BRUTE_SIDE_MAX * BRUTE_SIDE_MAX], tau_y[BRUTE_SIDE_MAX * BRUTE_SIDE_MAX];
} brute;

// A cell with the labels that replication gave it: its thread; its linear index is its place in a
// list.
typedef struct brute_cell {
    tmap_u64 x, y;
    unsigned wx, wy;
} brute_cell;

// ---- fractals -----------------------------------------------------------------------------------

// rows: '#' and '.', of equal length, with '/' or a line feed between them.
static inline brute brute_make(const char *rows) {
    brute b;
    memset(&b, 0, sizeof b);
    snprintf(b.text, sizeof b.text, "%s", rows);
    b.sy = 1;
    for (int x = 0; *rows; ++rows) {
        if (*rows == '/' || *rows == '\n') {
            ++b.sy;
            x = 0;
            continue;
        }
        b.row[b.sy - 1][x] = *rows;
        if (*rows == '#') {
            b.tau_x[b.k] = x;
            b.tau_y[b.k++] = b.sy - 1;
        }
        b.sx = ++x;
    }
    return b;
}

// An own fractal at random: sides up to 16, small ones more often, up to 16 replicas in any boxes.
static inline brute brute_random_fractal(tmap_u64 *state) {
    char text[BRUTE_SIDE_MAX * (BRUTE_SIDE_MAX + 1)];
    int sx = 1 + (int)kit_below(state, 1 + (tmap_u32)kit_below(state, BRUTE_SIDE_MAX));
    int sy = 1 + (int)kit_below(state, 1 + (tmap_u32)kit_below(state, BRUTE_SIDE_MAX));
    int k = 1 + (int)kit_below(state, sx * sy < 16 ? (unsigned)(sx * sy) : 16u);
    memset(text, '.', sizeof text);
    for (int y = 1; y < sy; ++y) text[y * (sx + 1) - 1] = '/';
    text[sy * (sx + 1) - 1] = 0;
    while (k) {
        char *c = text + (tmap_u32)kit_below(state, (unsigned)sy) * (unsigned)(sx + 1) +
                  (tmap_u32)kit_below(state, (unsigned)sx);
        k -= *c == '.';
        *c = '#';
    }
    return brute_make(text);
}

// Number i of the fractals that the exhaustive tests go through: those of the catalogue, by their rows,
// all 15 that are 2 x 2, then random ones.
#define BRUTE_COUNT (TMAP_FRACTAL_COUNT + 15 + 200)
static inline brute brute_at(int i) {
#define BRUTE_ROWS(name, title, rows, k, sx, sy, tau_x, tau_y) rows,
    static const char *const catalogue[] = {TMAP_FRACTALS(BRUTE_ROWS)};
    const int own = i - TMAP_FRACTAL_COUNT;
    tmap_u64 state = 1000003ull * (tmap_u64)(own + 1);
    if (own < 0) return brute_make(catalogue[i]);
    if (own < 15) {
        char text[6] = "../..";
        for (int box = 0; box < 4; ++box)
            if ((own + 1) >> box & 1) text[box + box / 2] = '#';
        return brute_make(text);
    }
    return brute_random_fractal(&state);
}

// The library's description of a fractal, or the test ends.
static inline tmap_nbb brute_nbb(const brute *b) {
    tmap_nbb f = {0, 0, 0, 0, 0};
    const int code = tmap_nbb_from_rows(b->text, &f);
    if (code != TMAP_OK) printf("FAIL %s: %s\n", b->text, tmap_strerror(code)), exit(1);
    return f;
}

// base^e; the caller knows that it fits.
static inline tmap_u64 brute_pow(int base, int e) {
    tmap_u64 p = 1;
    while (e-- > 0) p *= (tmap_u64)base;
    return p;
}

// ---- replication --------------------------------------------------------------------------------

// The cells of level r, from the n cells of level r - 1 in `cells`, in place: one copy for each
// replica, in their order. Returns how many there are now; cells has room for them.
static inline size_t brute_grow_cells(const brute *b, int r, brute_cell *cells, size_t n) {
    tmap_u64 width = brute_pow(b->sx, r - 1), height = brute_pow(b->sy, r - 1);
    // odd levels make the orthotope k times wider, even ones k times higher
    unsigned step = (unsigned)brute_pow(b->k, (r - 1) / 2);
    for (int beta = b->k - 1; beta >= 0; --beta) // the last first: copy 0 overwrites its source
        for (size_t i = 0; i < n; ++i) {
            brute_cell c = cells[i];
            c.x += width * (tmap_u64)b->tau_x[beta];
            c.y += height * (tmap_u64)b->tau_y[beta];
            if (r % 2)
                c.wx += step * (unsigned)beta;
            else
                c.wy += step * (unsigned)beta;
            cells[n * (size_t)beta + i] = c;
        }
    return n * (size_t)b->k;
}

// The picture of level r, a byte a place, from that of level r - 1: a copy for each '#'.
static inline void brute_grow_picture(const brute *b, int r, const char *small, char *large) {
    size_t width = (size_t)brute_pow(b->sx, r - 1), height = (size_t)brute_pow(b->sy, r - 1);
    size_t pitch = width * (size_t)b->sx;
    memset(large, 0, pitch * height * (size_t)b->sy);
    for (int beta = 0; beta < b->k; ++beta)
        for (size_t y = 0; y < height; ++y)
            memcpy(large + (y + height * (size_t)b->tau_y[beta]) * pitch +
                       width * (size_t)b->tau_x[beta],
                   small + y * width, width);
}

// 1 if (x, y) is a cell of level r, whose sides the caller knows to fit 64 bits: the box of the
// coarsest level first.
static inline int brute_contains(const brute *b, tmap_u64 x, tmap_u64 y, int r) {
    tmap_u64 width = brute_pow(b->sx, r - 1), height = brute_pow(b->sy, r - 1);
    if (r == 0) return x == 0 && y == 0;
    if (x / width >= (tmap_u64)b->sx || y / height >= (tmap_u64)b->sy) return 0;
    for (; r > 0; --r) {
        if (b->row[y / height][x / width] != '#') return 0;
        x %= width;
        y %= height;
        width /= (tmap_u64)b->sx;
        height /= (tmap_u64)b->sy;
    }
    return 1;
}

#endif
