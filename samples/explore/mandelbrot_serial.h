// SPDX-License-Identifier: MIT
// mandelbrot_serial.h: subdivision by Mariani and Silver on the host, region by region, with the
// dwells of an exhaustive picture. A run on the GPU must give the same pixels and counts.
#ifndef EXPLORE_MANDELBROT_SERIAL_H
#define EXPLORE_MANDELBROT_SERIAL_H

#include <threadmap/adaptive/ask_plan.h>

// What is known of each pixel's region.
enum { MARK_EDGE = 1, MARK_UNIFORM = 2, MARK_LEVEL = 4 }; // MARK_LEVEL: times the level

typedef struct serial {
    tmap_ask_domain domain;
    const int *exhaustive; // the dwell of every pixel
    int dwell;             // of the set
    tmap_u64 x, y;         // of the origin, which is in the set: from here on, before the next one
    int *want;             // the dwells by subdivision
    unsigned char *mark;
    tmap_ask_counts counts;
} serial;

// 1 if the border of [x0, x1) x [y0, y1) has one dwell, and the origin no other one. The border of
// a region is shared: x1 and y1 are the first lines of the next regions, or the picture's last ones.
static int serial_uniform(const serial *s, tmap_u64 x0, tmap_u64 x1, tmap_u64 y0, tmap_u64 y1) {
    const tmap_u64 nx = s->domain.nx, ny = s->domain.ny;
    const tmap_u64 right = x1 < nx ? x1 : nx - 1, below = y1 < ny ? y1 : ny - 1;
    const int value = s->exhaustive[y0 * nx + x0];
    if (value < s->dwell && x0 <= s->x && s->x < x1 && y0 <= s->y && s->y < y1) return 0;
    for (tmap_u64 y = y0; y <= below; ++y) {
        const tmap_u64 step = y == y0 || y == below || right == x0 ? 1 : right - x0;
        for (tmap_u64 x = x0; x <= right; x += step)
            if (s->exhaustive[y * nx + x] != value) return 0;
    }
    return 1;
}

// Region (i, j) of a level, and all within it.
static void serial_region(serial *s, tmap_u32 level, tmap_u32 i, tmap_u32 j) {
    const tmap_ask_domain *d = &s->domain;
    const tmap_u64 parts = tmap_region_parts(d->g, d->r, level), nx = d->nx;
    const tmap_u64 x0 = tmap_region_edge(nx, parts, i), x1 = tmap_region_edge(nx, parts, i + 1);
    const tmap_u64 y0 = tmap_region_edge(d->ny, parts, j);
    const tmap_u64 y1 = tmap_region_edge(d->ny, parts, j + 1);
    tmap_ask_level_counts *c = &s->counts.level[level];
    if (x0 == x1 || y0 == y1) {
        ++c->empty;
        return;
    }
    const int uniform = serial_uniform(s, x0, x1, y0, y1);
    const int cut = !uniform && level + 1 < d->levels;
    ++c->regions;
    ++*(uniform ? &c->filled : cut ? &c->subdivided : &c->leaves);
    for (tmap_u32 k = 0; cut && k < d->r * d->r; ++k)
        serial_region(s, level + 1, i * d->r + k % d->r, j * d->r + k / d->r);
    for (tmap_u64 y = y0; !cut && y < y1; ++y)
        for (tmap_u64 x = x0; x < x1; ++x) {
            s->want[y * nx + x] = s->exhaustive[uniform ? y0 * nx + x0 : y * nx + x];
            s->mark[y * nx + x] =
                (unsigned char)(level * MARK_LEVEL + (uniform ? MARK_UNIFORM : 0) +
                                (x == x0 || y == y0 ? MARK_EDGE : 0));
        }
}

// The whole picture. plain: 1: without regions.
static void serial_run(serial *s, int plain) {
    const tmap_u32 g = s->domain.g;
    for (tmap_u64 i = 0; plain && i < (tmap_u64)s->domain.nx * s->domain.ny; ++i)
        s->want[i] = s->exhaustive[i], s->mark[i] = 0;
    if (plain) return;
    for (tmap_u32 i = 0; i < g * g; ++i) serial_region(s, 0, i % g, i / g);
}

#endif
