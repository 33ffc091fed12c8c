// SPDX-License-Identifier: MIT
// mandelbrot_picture.h: the pictures of explore mandelbrot: the dwells of the set, and the regions
// that it was cut into.
#ifndef EXPLORE_MANDELBROT_PICTURE_H
#define EXPLORE_MANDELBROT_PICTURE_H

#include "mandelbrot_serial.h"
#include "picture.h"

#include <threadmap/adaptive/mandelbrot.h>

#include <math.h>

// A picture's pixels on a canvas: every `step`-th one, `grow` pixels wide.
typedef struct mandelbrot_view {
    unsigned step, grow, wide, high;
} mandelbrot_view;

static mandelbrot_view view_of(const tmap_mandelbrot *m) {
    const unsigned side = m->nx > m->ny ? m->nx : m->ny;
    mandelbrot_view v;
    v.step = (side + 1023) / 1024, v.grow = side < 512 ? 512 / side : 1;
    v.wide = (m->nx + v.step - 1) / v.step, v.high = (m->ny + v.step - 1) / v.step;
    return v;
}

static canvas view_canvas(mandelbrot_view v, const char *title, const option *to) {
    const unsigned wide = v.wide * v.grow, least = 512; // for the legend
    canvas c = canvas_make(wide > least ? wide : least, v.high * v.grow + 3 * CANVAS_STRIP, to);
    canvas_text(&c, 6, 6, title);
    return c;
}

static void view_pixel(canvas *c, mandelbrot_view v, unsigned x, unsigned y, unsigned colour) {
    canvas_fill(c, x * v.grow, CANVAS_STRIP + y * v.grow, v.grow, v.grow, colour);
}

// The dwells by their logarithm, above a scale.
static void picture_set(const tmap_mandelbrot *m, const int *dwell, output *o, const option *to) {
    const mandelbrot_view v = view_of(m);
    const double whole = log1p((double)m->dwell);
    char title[128];
    snprintf(title, sizeof title, "dwells, %u x %u, at most %u", m->nx, m->ny, m->dwell);
    canvas c = view_canvas(v, title, to);
    for (unsigned y = 0; y < v.high; ++y)
        for (unsigned x = 0; x < v.wide; ++x) {
            const int d = dwell[(tmap_u64)y * v.step * m->nx + (tmap_u64)x * v.step];
            view_pixel(&c, v, x, y, canvas_shade(log1p(d) / whole));
        }
    const double ends[2] = {0, expm1(whole)};
    canvas_scale(&c, 6, c.high - 34, c.wide - 12, ends, 1);
    canvas_end(&c, o, to);
}

// The regions: uniform ones darker with each level, computed ones orange, their edges dark.
static void picture_regions(const tmap_mandelbrot *m, const serial *s, output *o,
                            const option *to) {
    const mandelbrot_view v = view_of(m);
    const tmap_u32 levels = s->domain.levels;
    char text[128];
    snprintf(text, sizeof text, "regions, %u x %u, g %u, r %u, B %u", m->nx, m->ny, s->domain.g,
             s->domain.r, s->domain.b);
    canvas c = view_canvas(v, text, to);
    const unsigned leaf = 0xe6873c;
#define REGION_COLOUR(level) canvas_shade(0.1 + 0.5 * (level) / levels)
    for (unsigned y = 0; y < v.high; ++y)
        for (unsigned x = 0; x < v.wide; ++x) {
            const int mark = s->mark[(tmap_u64)y * v.step * m->nx + (tmap_u64)x * v.step];
            view_pixel(&c, v, x, y,
                       mark & MARK_EDGE      ? (unsigned)CANVAS_INK
                       : mark & MARK_UNIFORM ? REGION_COLOUR(mark / MARK_LEVEL)
                                             : leaf);
        }
    unsigned x = canvas_key(&c, 6, c.high - 34, leaf, "pixel by pixel");
    canvas_text(&c, x, c.high - 34, "at once, by level:");
    x = 6;
    for (tmap_u32 l = 0; l < levels && l < 10; ++l) {
        snprintf(text, sizeof text, "%u", l);
        x = canvas_key(&c, x, c.high - 14, REGION_COLOUR(l), text);
    }
#undef REGION_COLOUR
    canvas_end(&c, o, to);
}

#endif
