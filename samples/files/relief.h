// SPDX-License-Identifier: MIT
// relief.h: a picture of a map of heights: shaded hills, and water by its depth.
#ifndef FILES_RELIEF_H
#define FILES_RELIEF_H

#include "heights_type.h"

#include <math.h>

// Writes a picture in the format PPM, a pixel a cell. depth: of water on each cell, 0 where there
// is none. Hills are lit from the north-west, with colours from green over brown to white by
// height; water is blue, the darker the deeper; cells without data are black. Returns 0, or -1
// where the file cannot be written.
static inline int relief_write(const char *path, const heights *h, const float *depth) {
    const input_u64 w = h->width, cells = w * h->height;
    double low = 1e300, high = -1e300, deepest = 0, steep = 0;
    FILE *file = fopen(path, "wb");
    if (!file) return -1;
    for (input_u64 i = 0; i < cells; ++i) {
        const double v = heights_value(h, i);
        if (h->has_nodata && v == h->nodata) continue;
        low = fmin(low, v), high = fmax(high, v), deepest = fmax(deepest, (double)depth[i]);
        if (i % w) steep += fabs(v - heights_value(h, i - 1)) / (double)cells;
    }
    fprintf(file, "P6\n%llu %llu\n255\n", w, h->height);
    for (input_u64 i = 0; i < cells; ++i) {
        static const double ground[4][3] = {
            {70, 110, 60}, {150, 140, 90}, {140, 115, 90}, {250, 250, 250}};
        const double v = heights_value(h, i), up = 3 * (v - low) / (high - low + 1e-9);
        const double west = i % w ? heights_value(h, i - 1) : v, part = fmod(up, 1);
        const double north = i >= w ? heights_value(h, i - w) : v;
        const double light = 0.8 + 0.2 * tanh((2 * v - west - north) / (4 * steep + 1e-9));
        const int band = up < 3 ? (int)up : 2, none = h->has_nodata && v == h->nodata;
        for (int c = 0; c < 3; ++c) {
            static const double water[3] = {110, 170, 225};
            const double deep = (double)depth[i] / (deepest + 1e-9);
            double colour = ground[band][c] * (1 - part) + ground[band + 1][c] * part;
            colour = depth[i] > 0 ? water[c] * (1 - 0.65 * deep) : colour * light;
            fputc(none ? 0 : (int)fmin(255, colour), file);
        }
    }
    return fclose(file) ? -1 : 0;
}

#endif
