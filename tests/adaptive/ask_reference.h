// SPDX-License-Identifier: MIT
// ask_reference.h: adaptive subdivision by the Mariani-Silver rule, serially on the host: what the
// kernels are compared with, pixel by pixel and region by region. C11 and C++.
//
// The domain is nx x ny pixels, each with one value, dwell(context, x, y). Level l has
// gx r^l x gy r^l regions with the boundaries of region.h. A region is its pixels [x0, x1) x
// [y0, y1); its border is their outermost ring, x = x0, x = x1 - 1, y = y0, y = y1 - 1. A region
//
//   without a pixel is nothing;
//   whose border pixels all have one value is filled with it, unless it has a point that is known
//   to have another value;
//   of the last level, tau - 1, is computed pixel by pixel;
//   else is cut into r x r regions of the next level.
//
// Every pixel is written by the one region that ends there, so the picture does not depend on the
// order of regions. Nor does it depend on what a kernel keeps of a border: a pixel has one value.
#ifndef TESTS_ASK_REFERENCE_H
#define TESTS_ASK_REFERENCE_H

#include <threadmap/adaptive/region.h>

#include <stddef.h>
#include <string.h>

#define ASK_LEVELS_MAX 64

// The value of pixel (x, y).
typedef int (*ask_dwell)(const void *context, tmap_u32 x, tmap_u32 y);

// What there was at a level. regions: those looked at, none of them empty; = subdivided + filled +
// leaves. Pixels are counted as the rule asks for them: each region's own border, whether or not
// one of its ancestors has asked for the same pixel, and each leaf's inside.
typedef struct ask_level {
    tmap_u64 regions, subdivided, filled, leaves, empty;
    tmap_u64 border_pixels, filled_pixels, leaf_pixels; // of filled and leaves: without the border
    tmap_u64 border_work, leaf_work;                    // the values of those pixels, summed
} ask_level;

typedef struct ask_counts {
    tmap_u32 levels;
    ask_level level[ASK_LEVELS_MAX];
    tmap_u64 border_pixels, leaf_pixels, filled_pixels; // of all levels
    tmap_u64 work;                                      // values of all pixels asked for, summed
} ask_counts;

// How a domain is cut. ask_split_make is for a square split; gx and gy may differ.
typedef struct ask_split {
    tmap_u32 nx, ny, gx, gy, r, tau;
    int shared; // 1: neighbours share the line between them
    // A point from column point_x and row point_y on and before the next ones has point_value.
    // 0: there is no such point.
    tmap_u32 point_x, point_y;
    int point_value;
} ask_split;

// g parts along both axes, and tau from the longer one. Returns 0 or what tmap_region_check says.
static inline int ask_split_make(tmap_u32 nx, tmap_u32 ny, tmap_u32 g, tmap_u32 r, tmap_u32 B,
                                 ask_split *split) {
    tmap_u32 n = nx > ny ? nx : ny;
    int error = nx && ny ? tmap_region_check(n, g, r, B) : TMAP_EINVAL;
    if (error) return error;
    split->nx = nx, split->ny = ny;
    split->gx = split->gy = g;
    split->r = r;
    split->tau = tmap_region_levels(n, g, r, B);
    split->shared = split->point_value = 0;
    return TMAP_OK;
}

// A subdivision in progress.
typedef struct ask_run {
    ask_split split;
    ask_dwell dwell;
    const void *context;
    int *out;
    ask_counts *counts;
} ask_run;

// The value of a border pixel; counted and written.
static inline int ask_border_pixel(const ask_run *run, ask_level *level, tmap_u32 x, tmap_u32 y) {
    int value = run->dwell(run->context, x, y);
    run->out[(size_t)y * run->split.nx + x] = value;
    ++level->border_pixels;
    level->border_work += (tmap_u64)value;
    return value;
}

// 1 if the border has one value. Every pixel of it is computed, each once.
static inline int ask_border(const ask_run *run, ask_level *level, tmap_u32 x0, tmap_u32 y0,
                             tmap_u32 x1, tmap_u32 y1, int *value) {
    int same = 1;
    *value = ask_border_pixel(run, level, x0, y0);
    for (tmap_u32 x = x0 + 1; x < x1; ++x) same &= ask_border_pixel(run, level, x, y0) == *value;
    if (y1 - y0 > 1)
        for (tmap_u32 x = x0; x < x1; ++x)
            same &= ask_border_pixel(run, level, x, y1 - 1) == *value;
    for (tmap_u32 y = y0 + 1; y + 1 < y1; ++y) {
        same &= ask_border_pixel(run, level, x0, y) == *value;
        if (x1 - x0 > 1) same &= ask_border_pixel(run, level, x1 - 1, y) == *value;
    }
    return same;
}

// Region (i, j) of level l.
static inline void ask_region(const ask_run *run, tmap_u32 l, tmap_u64 i, tmap_u64 j) {
    const ask_split *s = &run->split;
    tmap_u64 px = tmap_region_parts(s->gx, s->r, l), py = tmap_region_parts(s->gy, s->r, l);
    tmap_u32 x0 = (tmap_u32)tmap_region_edge(s->nx, px, i);
    tmap_u32 x1 = (tmap_u32)tmap_region_edge(s->nx, px, i + 1);
    tmap_u32 y0 = (tmap_u32)tmap_region_edge(s->ny, py, j);
    tmap_u32 y1 = (tmap_u32)tmap_region_edge(s->ny, py, j + 1);
    ask_level *level = &run->counts->level[l];
    const int point = s->point_value && x0 <= s->point_x && s->point_x < x1 && y0 <= s->point_y &&
                      s->point_y < y1;
    int value, same;
    if (x0 == x1 || y0 == y1) {
        ++level->empty;
        return;
    }
    ++level->regions;
    if (s->shared) { // to where the border is; what lies beyond it, of the same value, is filled
        x1 += x1 < s->nx;
        y1 += y1 < s->ny;
    }
    same = ask_border(run, level, x0, y0, x1, y1, &value);
    if (point && value != s->point_value) same = 0;
    if (!same && l + 1 < s->tau) {
        ++level->subdivided;
        for (tmap_u32 c = 0; c < s->r * s->r; ++c)
            ask_region(run, l + 1, i * s->r + c % s->r, j * s->r + c / s->r);
        return;
    }
    if (same)
        ++level->filled;
    else
        ++level->leaves;
    for (tmap_u32 y = y0 + 1; y + 1 < y1; ++y)
        for (tmap_u32 x = x0 + 1; x + 1 < x1; ++x) {
            int v = same ? value : run->dwell(run->context, x, y);
            run->out[(size_t)y * s->nx + x] = v;
            if (same) {
                ++level->filled_pixels;
            } else {
                ++level->leaf_pixels;
                level->leaf_work += (tmap_u64)v;
            }
        }
}

// Writes nx x ny values to `out`, row after row, and what it counted to `counts`. Values are 0 or
// more where their sums are asked for. split: of ask_split_make, or with 1 <= tau <= 64.
static inline void ask_reference(ask_split split, ask_dwell dwell, const void *context, int *out,
                                 ask_counts *counts) {
    ask_run run;
    memset(counts, 0, sizeof *counts);
    counts->levels = split.tau;
    run.split = split;
    run.dwell = dwell, run.context = context;
    run.out = out, run.counts = counts;
    for (tmap_u32 j = 0; j < split.gy; ++j)
        for (tmap_u32 i = 0; i < split.gx; ++i) ask_region(&run, 0, i, j);
    for (tmap_u32 l = 0; l < split.tau; ++l) {
        const ask_level *level = &counts->level[l];
        counts->border_pixels += level->border_pixels;
        counts->leaf_pixels += level->leaf_pixels;
        counts->filled_pixels += level->filled_pixels;
        counts->work += level->border_work + level->leaf_work;
    }
}

// Every pixel by itself; returns the sum of all values.
static inline tmap_u64 ask_exhaustive(tmap_u32 nx, tmap_u32 ny, ask_dwell dwell,
                                      const void *context, int *out) {
    tmap_u64 work = 0;
    for (tmap_u32 y = 0; y < ny; ++y)
        for (tmap_u32 x = 0; x < nx; ++x) {
            int value = dwell(context, x, y);
            out[(size_t)y * nx + x] = value;
            work += (tmap_u64)value;
        }
    return work;
}

// In how many pixels two pictures differ.
static inline tmap_u64 ask_difference(const int *a, const int *b, tmap_u64 pixels) {
    tmap_u64 differ = 0;
    for (tmap_u64 i = 0; i < pixels; ++i) differ += a[i] != b[i];
    return differ;
}

#endif
