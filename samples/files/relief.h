// SPDX-License-Identifier: MIT
// relief.h: a picture of a map of heights: shaded hills, and water by its depth.
#ifndef FILES_RELIEF_H
#define FILES_RELIEF_H

#include "heights_type.h"
#include "image.h"

#include <math.h>

// The height of the cell `back` places before cell i, or `v` where nothing was measured there.
static inline double relief_before(const heights *h, input_u64 i, input_u64 back, double v) {
    const double before = heights_value(h, i - back);
    return h->has_nodata && before == h->nodata ? v : before;
}

// The pixels of a map, one a cell. depth: of water on each cell, 0 where there is none. rgb: three
// bytes a cell. Hills are lit from the north-west, with colours from green over brown to white by
// height; water is blue, the darker the deeper; cells without data are black.
static inline void relief_draw(const heights *h, const float *depth, unsigned char *rgb) {
    const input_u64 w = h->width, cells = w * h->height;
    double low = 1e300, high = -1e300, deepest = 0, steep = 0;
    for (input_u64 i = 0; i < cells; ++i) {
        const double v = heights_value(h, i);
        if (h->has_nodata && v == h->nodata) continue;
        low = fmin(low, v), high = fmax(high, v), deepest = fmax(deepest, (double)depth[i]);
        if (i % w) steep += fabs(v - relief_before(h, i, 1, v)) / (double)cells;
    }
    for (input_u64 i = 0; i < cells; ++i) {
        static const double ground[4][3] = {
            {70, 110, 60}, {150, 140, 90}, {140, 115, 90}, {250, 250, 250}};
        const double v = heights_value(h, i), up = 3 * (v - low) / (high - low + 1e-9);
        const double west = i % w ? relief_before(h, i, 1, v) : v;
        const double north = i >= w ? relief_before(h, i, w, v) : v;
        const double light = 0.8 + 0.2 * tanh((2 * v - west - north) / (4 * steep + 1e-9));
        const int none = h->has_nodata && v == h->nodata, band = none || up >= 3 ? 2 : (int)up;
        const double part = up - band;
        for (int c = 0; c < 3; ++c) {
            static const double water[3] = {110, 170, 225};
            const double deep = (double)depth[i] / (deepest + 1e-9);
            double colour = ground[band][c] * (1 - part) + ground[band + 1][c] * part;
            colour = depth[i] > 0 ? water[c] * (1 - 0.65 * deep) : colour * light;
            rgb[3 * i + (input_u64)c] = (unsigned char)(none ? 0 : (int)fmin(255, colour));
        }
    }
}

// Writes that picture, by image.h. Returns 0, or -1 where there is no memory for it or the file
// cannot be written.
static inline int relief_write(const char *path, const heights *h, const float *depth) {
    const input in = input_make(NULL, 0, NULL, 0);
    unsigned char *rgb = (unsigned char *)input_memory(&in, h->width * h->height, 3);
    FILE *file = rgb ? fopen(path, "wb") : NULL;
    int result = -1;
    if (file) {
        relief_draw(h, depth, rgb);
        result = image_write(file, h->width, h->height, rgb);
        result |= fclose(file) ? -1 : 0;
    }
    free(rgb);
    return result;
}

#endif
