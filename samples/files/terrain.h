// SPDX-License-Identifier: MIT
// terrain.h: a generated map of heights: hills by diamonds and squares (Fournier, Fussell,
// Carpenter, CACM 25 (1982)). The same map for a seed in every run.
#ifndef FILES_TERRAIN_H
#define FILES_TERRAIN_H

#include "heights_type.h"

// A number from -1 to 1 for a place and a seed.
static inline double terrain_chance(unsigned x, unsigned y, unsigned seed) {
    unsigned h = x * 0x9e3779b1u ^ (y + seed * 0x85ebca77u) * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du, h = (h ^ h >> 12) * 0x297a2d39u;
    return (double)(h ^ h >> 15) / 2147483648.0 - 1;
}

// The mean of the up to four heights at (dx, dy) from (x, y) and at its turns by 90 degrees.
static inline double terrain_mean(const float *map, int side, int x, int y, int dx, int dy) {
    double sum = 0;
    int count = 0;
    for (int k = 0, u = dx, v = dy, w; k < 4; ++k, w = u, u = -v, v = w)
        if (x + u >= 0 && x + u < side && y + v >= 0 && y + v < side)
            sum += (double)map[(y + v) * side + x + u], ++count;
    return sum / count;
}

// A map of 2^levels + 1 cells each way, 1 <= levels <= 14, of floats around 0: about +-500 metres
// in hills as wide as a third of the map. Returns 0, or -1 with one line in error of `room` bytes;
// h is untouched then. heights_free frees what h holds.
static inline int terrain_make(unsigned levels, unsigned seed, heights *h, char *error,
                               size_t room) {
    const input in = input_make(NULL, 0, error, room);
    const int side = (1 << levels) + 1;
    double rough = 400;
    heights g;
    if (heights_make(&in, (input_u64)side, (input_u64)side, HEIGHTS_F32, &g)) return -1;
    float *map = (float *)g.data;
    for (int k = 0; k < 4; ++k) {
        const int x = k % 2 * (side - 1), y = k / 2 * (side - 1);
        map[y * side + x] = (float)(rough * terrain_chance((unsigned)x, (unsigned)y, seed));
    }
    for (int step = side - 1; step > 1; step /= 2, rough *= 0.5) {
        const int half = step / 2;
        for (int y = half; y < side; y += step) // squares have a new corner in their middle
            for (int x = half; x < side; x += step)
                map[y * side + x] = (float)(terrain_mean(map, side, x, y, half, half) +
                                            rough * terrain_chance((unsigned)x, (unsigned)y, seed));
        for (int y = 0; y < side; y += half) // and so have diamonds
            for (int x = (y / half + 1) % 2 * half; x < side; x += step)
                map[y * side + x] = (float)(terrain_mean(map, side, x, y, half, 0) +
                                            rough * terrain_chance((unsigned)x, (unsigned)y, seed));
    }
    return heights_give(&in, &g, h);
}

#endif
