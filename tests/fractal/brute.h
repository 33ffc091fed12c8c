// SPDX-License-Identifier: MIT
// brute.h: fractals by brute force, in two dimensions from rows and in three from layers of text and
// without any map of threadmap, for the maps to be compared with: pictures and lists of cells by
// replication, membership from the top down.
#ifndef BRUTE_H
#define BRUTE_H

#include "../kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/catalogue3.h>
#include <threadmap/fractal/nbb.h>

#define BRUTE_SIDE_MAX 16

typedef struct brute {
    char
        text[BRUTE_SIDE_MAX * (BRUTE_SIDE_MAX + 1)]; // rows with '/' between them, layers with "//"
    char row[BRUTE_SIDE_MAX][BRUTE_SIDE_MAX];        // row y of layer z is row[z * sy + y]
    int dims, sx, sy, sz, k;                         // dims: 2, where sz = 1, or 3
    int tau_x[BRUTE_SIDE_MAX * BRUTE_SIDE_MAX], tau_y[BRUTE_SIDE_MAX * BRUTE_SIDE_MAX];
    int tau_z[BRUTE_SIDE_MAX * BRUTE_SIDE_MAX];
} brute;

// A cell with the labels that replication gave it: its thread; its linear index is its place in a
// list.
typedef struct brute_cell {
    tmap_u64 x, y, z;
    unsigned wx, wy, wz;
} brute_cell;

// ---- fractals -----------------------------------------------------------------------------------

// text: rows of '#' and '.', of equal length, with '/' or a line feed between them, and two of these
// between layers. dims: 2 or 3.
static inline brute brute_read(const char *text, int dims) {
    brute b;
    int rows = 1;
    memset(&b, 0, sizeof b);
    snprintf(b.text, sizeof b.text, "%s", text);
    b.dims = dims, b.sz = 1;
    for (int x = 0; *text; ++text) {
        if (*text == '/' || *text == '\n') {
            if (x) // the row has ended, else the layer
                ++rows;
            else
                ++b.sz;
            x = 0;
            continue;
        }
        b.row[rows - 1][x] = *text;
        b.sx = ++x;
    }
    b.sy = rows / b.sz;
    for (int i = 0; i < rows * b.sx; ++i)
        if (b.row[i / b.sx][i % b.sx] == '#') {
            b.tau_x[b.k] = i % b.sx;
            b.tau_y[b.k] = i / b.sx % b.sy;
            b.tau_z[b.k++] = i / b.sx / b.sy;
        }
    return b;
}

static inline brute brute_make(const char *rows) { return brute_read(rows, 2); }
static inline brute brute_make3(const char *layers) { return brute_read(layers, 3); }

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

// An own fractal in three dimensions: sides up to 4, up to 32 replicas in any boxes.
static inline brute brute_random_fractal3(tmap_u64 *state) {
    char text[4 * 4 * 5 + 4], *p = text;
    const int sx = 1 + (int)kit_below(state, 4), sy = 1 + (int)kit_below(state, 4);
    const int sz = 1 + (int)kit_below(state, 4), boxes = sx * sy * sz;
    int k = 1 + (int)kit_below(state, boxes < 32 ? (unsigned)boxes : 32u);
    // each of the boxes that are left is one of the k replicas that are left, or not
    for (int i = 0; i < boxes; ++i) {
        const int taken = (int)kit_below(state, (unsigned)(boxes - i)) < k;
        *p++ = taken ? '#' : '.', k -= taken;
        if ((i + 1) % sx == 0 && i + 1 < boxes) *p++ = '/';
        if ((i + 1) % (sx * sy) == 0 && i + 1 < boxes) *p++ = '/';
    }
    *p = 0;
    return brute_make3(text);
}

// Number i of the fractals in three dimensions: those of the catalogue, by their layers, all 255 that
// are 2 x 2 x 2, then random ones.
#define BRUTE3_COUNT (TMAP_FRACTAL3_COUNT + 255 + 200)
static inline brute brute3_at(int i) {
#define BRUTE_LAYERS(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) layers,
    static const char *const catalogue[] = {TMAP_FRACTALS3(BRUTE_LAYERS)};
    const int own = i - TMAP_FRACTAL3_COUNT;
    tmap_u64 state = 1000003ull * (tmap_u64)(own + 1);
    if (own < 0) return brute_make3(catalogue[i]);
    if (own < 255) {
        char text[] = "../..//../..";
        for (int box = 0; box < 8; ++box)
            if ((own + 1) >> box & 1) text[box + box / 2 + box / 4] = '#';
        return brute_make3(text);
    }
    return brute_random_fractal3(&state);
}

// The library's description of a fractal, or the test ends.
static inline tmap_nbb brute_nbb(const brute *b) {
    tmap_nbb f = {0, 0, 0, 0, 0};
    const int code = tmap_nbb_from_rows(b->text, &f);
    if (code != TMAP_OK) printf("FAIL %s: %s\n", b->text, tmap_strerror(code)), exit(1);
    return f;
}

static inline tmap_nbb3 brute_nbb3(const brute *b) {
    tmap_nbb3 f = {0, 0, 0, 0, 0, 0, 0};
    const int code = tmap_nbb3_from_layers(b->text, &f);
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
    tmap_u64 depth = brute_pow(b->sz, r - 1);
    // the levels in turn make the orthotope k times wider, higher, and in three dimensions deeper
    unsigned step = (unsigned)brute_pow(b->k, (r - 1) / b->dims);
    const int axis = (r - 1) % b->dims;
    for (int beta = b->k - 1; beta >= 0; --beta) // the last first: copy 0 overwrites its source
        for (size_t i = 0; i < n; ++i) {
            brute_cell c = cells[i];
            c.x += width * (tmap_u64)b->tau_x[beta];
            c.y += height * (tmap_u64)b->tau_y[beta];
            c.z += depth * (tmap_u64)b->tau_z[beta];
            *(axis == 0 ? &c.wx : axis == 1 ? &c.wy : &c.wz) += step * (unsigned)beta;
            cells[n * (size_t)beta + i] = c;
        }
    return n * (size_t)b->k;
}

// The picture of level r, a byte a place, from that of level r - 1: a copy for each '#'.
static inline void brute_grow_picture(const brute *b, int r, const char *small, char *large) {
    size_t width = (size_t)brute_pow(b->sx, r - 1), height = (size_t)brute_pow(b->sy, r - 1);
    size_t depth = (size_t)brute_pow(b->sz, r - 1);
    size_t pitch = width * (size_t)b->sx, layer = pitch * height * (size_t)b->sy;
    memset(large, 0, layer * depth * (size_t)b->sz);
    for (int beta = 0; beta < b->k; ++beta) {
        char *corner = large + depth * (size_t)b->tau_z[beta] * layer +
                       height * (size_t)b->tau_y[beta] * pitch + width * (size_t)b->tau_x[beta];
        for (size_t z = 0; z < depth; ++z)
            for (size_t y = 0; y < height; ++y)
                memcpy(corner + z * layer + y * pitch, small + (z * height + y) * width, width);
    }
}

// 1 if (x, y, z) is a cell of level r, whose sides the caller knows to fit 64 bits: the box of the
// coarsest level first.
static inline int brute_contains3(const brute *b, tmap_u64 x, tmap_u64 y, tmap_u64 z, int r) {
    tmap_u64 width = brute_pow(b->sx, r - 1), height = brute_pow(b->sy, r - 1);
    tmap_u64 depth = brute_pow(b->sz, r - 1);
    const tmap_u64 sx = (tmap_u64)b->sx, sy = (tmap_u64)b->sy, sz = (tmap_u64)b->sz;
    if (r == 0) return x == 0 && y == 0 && z == 0;
    if (x / width >= sx || y / height >= sy || z / depth >= sz) return 0;
    for (; r > 0; --r) {
        if (b->row[z / depth * sy + y / height][x / width] != '#') return 0;
        x %= width, y %= height, z %= depth;
        width /= sx, height /= sy, depth /= sz;
    }
    return 1;
}

static inline int brute_contains(const brute *b, tmap_u64 x, tmap_u64 y, int r) {
    return brute_contains3(b, x, y, 0, r);
}

#endif
