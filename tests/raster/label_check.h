// SPDX-License-Identifier: MIT
// label_check.h: maps to label, as functions of a cell, some of them those of flood_inputs.h; and
// their components and shapes by the definition: a serial flood fill.
#ifndef TESTS_RASTER_LABEL_CHECK_H
#define TESTS_RASTER_LABEL_CHECK_H

#include "kit.h"
#include "flood_inputs.h"
#include <threadmap/raster/label.h>
#include <threadmap/raster/label_measure.h>

static int failures, cases;

static tmap_u64 random_next(void) {
    static tmap_u64 state = 1;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state >> 33 ^ state << 31;
}

// One of 0..n-1: the first or the last in one case of four each.
static tmap_u64 random_below(tmap_u64 n) {
    const tmap_u64 i = random_next();
    return i % 4 == 0 ? n - 1 : i % 4 == 1 ? 0 : random_next() % n;
}

enum { TYPES = 5 };
enum {
    NOISE,
    VALUES,
    SPARSE,
    ALL,
    NONE,
    CHECKER,
    SNAKE_H,
    SNAKE_V,
    SPIRAL,
    COMB,
    HILLS,
    RISING,
    FALLING,
    KINDS
};

typedef struct test_case {
    tmap_raster_map map;
    int form, kind;
    tmap_u64 seed;
} test_case;

static const int types[TYPES] = {TMAP_RASTER_MASK, TMAP_RASTER_U8, TMAP_RASTER_I16, TMAP_RASTER_I32,
                                 TMAP_RASTER_F32};

static void expect(int ok, const char *what, const test_case *c) {
    ++cases;
    if (!ok && ++failures <= 20)
        printf("FAIL %s: %llu x %llu, pitch %llu, type %d, connectivity %d, nodata %d %g, form "
               "%d, kind %d, seed %llu\n",
               what, c->map.width, c->map.height, c->map.pitch, c->map.type, c->map.connectivity,
               c->map.has_nodata, c->map.nodata, c->form, c->kind, c->seed);
}

static tmap_u32 mix(tmap_u64 x) {
    x ^= x >> 32, x *= 0xd6e8feb86659fd93ull, x ^= x >> 32, x *= 0xd6e8feb86659fd93ull;
    return (tmap_u32)(x >> 32);
}

// 1 where a map to flood is wet.
static int cell_wet(const test_case *c, int input, int x, int y) {
    return flood_input(input, (tmap_u32)x, (tmap_u32)y, (tmap_u32)c->map.width,
                       (tmap_u32)c->map.height) < 0;
}

// A small number for a cell; those of masks are 0 or not.
static int cell_value(const test_case *c, int x, int y) {
    const int h = (int)c->map.height;
    const tmap_u32 r = mix(c->seed * 1000003 + (tmap_u64)y * 50021 + (tmap_u64)x);
    switch (c->kind) {
    case NOISE: return r % 1000 < 593;
    case VALUES: return (int)(r % 3);
    case SPARSE: return r % 1000 < c->seed % 7 * 100 + 50;
    case ALL: return cell_wet(c, FLOOD_WET, x, y);
    case NONE: return cell_wet(c, FLOOD_DRY, x, y);
    case CHECKER: return cell_wet(c, FLOOD_CHECKERBOARD, x, y);
    case SNAKE_H: return cell_wet(c, FLOOD_SERPENTINE_H, x, y);
    case SNAKE_V: return cell_wet(c, FLOOD_SERPENTINE_V, x, y);
    case SPIRAL: return cell_wet(c, FLOOD_SPIRAL, x, y);
    case RISING: return (x + y) % 16 == 15; // through corners of blocks
    case FALLING: return (x + 16 * h - y) % 16 == 0;
    case COMB: return y % 16 == 15 || x % 2 == 0;
    default: return ((x / 9 + y / 5) ^ (x / 31)) % 4;
    }
}

// The number stands for itself in a map of values; f32 also has negative zeros and NaN.
static void cell_set(const test_case *c, void *cells, tmap_u64 at, int v, tmap_u32 r) {
    switch (c->map.type) {
    case TMAP_RASTER_MASK:
        ((unsigned char *)cells)[at] = (unsigned char)(v ? v << r % 8 : 0);
        break;
    case TMAP_RASTER_U8: ((unsigned char *)cells)[at] = (unsigned char)(v * 127); break;
    case TMAP_RASTER_I16: ((short *)cells)[at] = (short)(v * 257 - 300); break;
    case TMAP_RASTER_I32: ((int *)cells)[at] = v * 65536 - 70000; break;
    default:
        ((float *)cells)[at] = v == 0 && r % 2 ? -0.f : (float)v * 0.1f;
        if (v == 2 || r % 512 == 0) {
            const tmap_u32 nan = 0x7fc00000u + r % 2;
            memcpy((float *)cells + at, &nan, 4);
        }
    }
}

static double cell_get(const test_case *c, const void *cells, tmap_u64 at) {
    switch (c->map.type) {
    case TMAP_RASTER_MASK: return ((const unsigned char *)cells)[at] != 0;
    case TMAP_RASTER_U8: return ((const unsigned char *)cells)[at];
    case TMAP_RASTER_I16: return ((const short *)cells)[at];
    case TMAP_RASTER_I32: return ((const int *)cells)[at];
    default: return (double)((const float *)cells)[at];
    }
}

static int cell_belongs(const test_case *c, double v) {
    if (c->map.type == TMAP_RASTER_MASK) return v != 0;
    return v == v && !(c->map.has_nodata && v == c->map.nodata);
}

// Labels and shapes by the definition. Returns the count.
static tmap_u64 reference(const test_case *c, const void *cells, tmap_u64 *labels,
                          tmap_label_shape *shapes, tmap_u64 *stack) {
    const tmap_u64 w = c->map.width, h = c->map.height;
    tmap_u64 count = 0;
    memset(labels, 0, w * h * sizeof *labels);
    for (tmap_u64 first = 0; first < w * h; ++first) {
        const double v = cell_get(c, cells, first / w * c->map.pitch + first % w);
        tmap_label_shape *s = shapes + count;
        tmap_u64 depth = 1;
        if (labels[first] || !cell_belongs(c, v)) continue;
        s->area = 0, s->first = first, s->left = s->right = (tmap_u32)(first % w);
        s->top = s->bottom = (tmap_u32)(first / w), s->front = s->back = 0;
        stack[0] = first, labels[first] = ++count;
        while (depth) {
            const tmap_u64 at = stack[--depth];
            const tmap_i64 x = (tmap_i64)(at % w), y = (tmap_i64)(at / w);
            ++s->area;
            if (x < s->left) s->left = (tmap_u32)x;
            if (x > s->right) s->right = (tmap_u32)x;
            if (y > s->bottom) s->bottom = (tmap_u32)y;
            for (int k = 0; k < 9; ++k) {
                const tmap_i64 nx = x + k % 3 - 1, ny = y + k / 3 - 1;
                const tmap_u64 to = (tmap_u64)ny * w + (tmap_u64)nx;
                if ((c->map.connectivity == 4 && k % 2 == 0) || nx < 0 || ny < 0 ||
                    nx >= (tmap_i64)w || ny >= (tmap_i64)h || labels[to] ||
                    cell_get(c, cells, (tmap_u64)ny * c->map.pitch + (tmap_u64)nx) != v)
                    continue;
                labels[to] = count, stack[depth++] = to;
            }
        }
    }
    return count;
}

#endif
