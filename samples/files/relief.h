// SPDX-License-Identifier: MIT
// relief.h: a picture of a map of heights: shaded hills, water by its depth, and a legend of both.
#ifndef FILES_RELIEF_H
#define FILES_RELIEF_H

#include "heights_type.h"
#include "../picture.h"

#include <math.h>

enum {
    RELIEF_VIEW = 800,   // pixels along the longer side of a map of enlarged cells, at most
    RELIEF_ZOOM = 8,     // pixels of a cell, each way, at most
    RELIEF_LEGEND = 540, // pixels of the legend's width
    RELIEF_NO_DATA = 0   // the colour of cells without data: black
};

// What a map holds: the lowest and the highest height, the deepest water, and the mean difference
// of neighbouring heights.
typedef struct relief_range {
    double low, high, deepest, steep;
} relief_range;

static inline int relief_is_data(const heights *h, input_u64 i) {
    return !h->has_nodata || heights_value(h, i) != h->nodata;
}

static inline relief_range relief_range_of(const heights *h, const float *depth) {
    const input_u64 cells = h->width * h->height;
    relief_range r = {1e300, -1e300, 0, 0};
    for (input_u64 i = 0; i < cells; ++i) {
        if (!relief_is_data(h, i)) continue;
        const double v = heights_value(h, i);
        r.low = fmin(r.low, v);
        r.high = fmax(r.high, v);
        r.deepest = fmax(r.deepest, (double)depth[i]);
        if (i % h->width && relief_is_data(h, i - 1))
            r.steep += fabs(v - heights_value(h, i - 1)) / (double)cells;
    }
    if (r.low > r.high) r.low = r.high = 0; // no data at all
    return r;
}

// ---- colours ------------------------------------------------------------------------------------

// The colour between two others, `from` at part = 0 and `to` at 1, `light` times as bright.
static inline unsigned relief_mix(unsigned from, unsigned to, double part, double light) {
    unsigned colour = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const double a = from >> shift & 255;
        const double b = to >> shift & 255;
        colour |= (unsigned)(light * (a + part * (b - a))) << shift;
    }
    return colour;
}

// The colour of ground, from the lowest (part = 0) to the highest (1): green, olive, brown, white.
static inline unsigned relief_ground(double part, double light) {
    static const unsigned colours[4] = {0x466e3c, 0x968c5a, 0x8c735a, 0xfafafa};
    const double at = 3 * part;
    const int band = at < 1 ? 0 : at < 2 ? 1 : 2;
    return relief_mix(colours[band], colours[band + 1], at - band, light);
}

// The colour of water, from the shallowest (part = 0) to the deepest (1): the blue gets darker.
static inline unsigned relief_water(double part, double light) {
    return relief_mix(0x6eaae1, 0x263b4f, part, light);
}

// How bright a cell with data is under light from the north-west, 0.6 to 1: by its height above its
// western and northern neighbours.
static inline double relief_light(const heights *h, input_u64 i, double steep) {
    const double v = heights_value(h, i);
    double rise = 0;
    if (i % h->width && relief_is_data(h, i - 1)) rise += v - heights_value(h, i - 1);
    if (i >= h->width && relief_is_data(h, i - h->width))
        rise += v - heights_value(h, i - h->width);
    return 0.8 + 0.2 * tanh(rise / (4 * steep + 1e-9));
}

// ---- the picture --------------------------------------------------------------------------------

// Draws a line of the legend: a name, and the colours between two values. up: pixels from its upper
// end to the lower end of the picture.
static inline void relief_scale(picture *p, unsigned up, const char *name, double low, double high,
                                unsigned (*colour)(double part, double light)) {
    enum { BAR = 192, WIDE = 160 }; // pixels before the colours, and of the colours
    const unsigned x = PICTURE_MARGIN;
    const unsigned y = p->all.high - up;
    char number[32];
    canvas_text(&p->all, x, y, name);
    snprintf(number, sizeof number, "%.4g", low);
    const unsigned letters = CANVAS_LETTER * (unsigned)strlen(number);
    canvas_text(&p->all, x + BAR - CANVAS_LETTER - letters, y, number);
    for (unsigned i = 0; i < WIDE; ++i)
        canvas_fill(&p->all, x + BAR + i, y - 1, 1, 12, colour((i + 0.5) / WIDE, 1));
    snprintf(number, sizeof number, "%.4g", high);
    p->next = canvas_text(&p->all, x + BAR + WIDE + CANVAS_LETTER, y, number) + 2 * CANVAS_LETTER;
}

// Draws a map. depth: of the water on each cell, 0 where there is none.
static inline picture relief_make(const heights *h, const float *depth, const char *title) {
    const unsigned wide = (unsigned)h->width;
    const unsigned high = (unsigned)h->height;
    const unsigned longest = wide > high ? wide : high;
    unsigned zoom = RELIEF_VIEW / longest;
    if (zoom < 1) zoom = 1;
    if (zoom > RELIEF_ZOOM) zoom = RELIEF_ZOOM;
    const unsigned legend = RELIEF_LEGEND / zoom;

    const relief_range r = relief_range_of(h, depth);
    picture p = picture_make(wide > legend ? wide : legend, high, zoom, title);
    for (input_u64 i = 0; i < h->width * h->height; ++i) {
        unsigned colour = RELIEF_NO_DATA;
        if (depth[i] > 0)
            colour = relief_water((double)depth[i] / r.deepest, 1);
        else if (relief_is_data(h, i))
            colour = relief_ground((heights_value(h, i) - r.low) / (r.high - r.low + 1e-9),
                                   relief_light(h, i, r.steep));
        picture_set(&p, (unsigned)(i % h->width), (unsigned)(i / h->width), colour);
    }
    relief_scale(&p, 34, "water depth", 0, r.deepest, relief_water);
    relief_scale(&p, 16, "ground level", r.low, r.high, relief_ground);
    if (h->has_nodata) picture_key(&p, RELIEF_NO_DATA, "no data");
    return p;
}

#endif
