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

// The colour of a pixel that was computed, darker for more steps: orange to brown.
static unsigned computed_colour(double part) {
    return (unsigned)(250 - 140 * part) << 16 | (unsigned)(190 - 150 * part) << 8 |
           (unsigned)(110 - 90 * part);
}

// The colour of a region of a level that was filled at once, darker with each level: green to blue.
static unsigned filled_colour(tmap_u32 level, tmap_u32 levels) {
    return canvas_shade(0.1 + 0.8 * level / (levels > 1 ? levels - 1 : 1));
}

// 1 if an edge of a region crosses pixel (x, y) of the view, and edges of its level are far apart.
static int view_edge(mandelbrot_view v, const serial *s, unsigned x, unsigned y) {
    enum { FAR = 8 }; // pixels of the view
    const tmap_ask_domain *d = &s->domain;
    const tmap_u64 side = (d->nx < d->ny ? d->nx : d->ny) * v.grow / v.step;
    for (tmap_u64 j = y * v.step; j < d->ny && j < (y + 1) * v.step; ++j)
        for (tmap_u64 i = x * v.step; i < d->nx && i < (x + 1) * v.step; ++i) {
            const int mark = s->mark[j * d->nx + i];
            const tmap_u64 parts = tmap_region_parts(d->g, d->r, (tmap_u32)(mark / MARK_LEVEL));
            if ((mark & MARK_EDGE) && side >= FAR * parts) return 1;
        }
    return 0;
}

// The regions that were filled at once, by level, and the pixels of the others, by their dwells.
static void picture_regions(const tmap_mandelbrot *m, const serial *s, output *o,
                            const option *to) {
    const mandelbrot_view v = view_of(m);
    const tmap_u32 levels = s->domain.levels;
    char text[128];
    snprintf(text, sizeof text, "regions, %u x %u, g %u, r %u, B %u", m->nx, m->ny, s->domain.g,
             s->domain.r, s->domain.b);
    canvas c = view_canvas(v, text, to);
    for (unsigned y = 0; y < v.high; ++y)
        for (unsigned x = 0; x < v.wide; ++x) {
            const tmap_u64 at = (tmap_u64)y * v.step * m->nx + (tmap_u64)x * v.step;
            const int mark = s->mark[at];
            view_pixel(&c, v, x, y,
                       view_edge(v, s, x, y) ? (unsigned)CANVAS_INK
                       : mark & MARK_UNIFORM
                           ? filled_colour((tmap_u32)(mark / MARK_LEVEL), levels)
                           : computed_colour(log1p(s->want[at]) / log1p((double)m->dwell)));
        }
    unsigned x = canvas_text(&c, 6, c.high - 34, "pixel by pixel:") + CANVAS_LETTER;
    x = canvas_key(&c, x, c.high - 34, computed_colour(0), "few steps");
    canvas_key(&c, x, c.high - 34, computed_colour(1), "in the set");
    x = canvas_text(&c, 6, c.high - 14, "filled, by level:") + CANVAS_LETTER;
    for (tmap_u32 l = 0; l < levels && l < 10; ++l) {
        snprintf(text, sizeof text, "%u", l);
        x = canvas_key(&c, x, c.high - 14, filled_colour(l, levels), text);
    }
    canvas_end(&c, o, to);
}

#endif
