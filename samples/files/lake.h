// SPDX-License-Identifier: MIT
// lake.h: the lake that a source fills up to a level, by its definition, on the host: from cell to
// cell. What programs that flood a map faster are compared with.
#ifndef FILES_LAKE_H
#define FILES_LAKE_H

#include "heights_type.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A cell is wet where it is below the level and was measured.
static inline int lake_wet(const heights *h, input_u64 i, double level) {
    const double v = heights_value(h, i);
    return v < level && !(h->has_nodata && v == h->nodata);
}

// Fills the lake of the source cell `from`, y * width + x, over `ways` = 4 or 8 neighbours of a
// cell. depth: of water on each cell of the map, level - height, 0 where there is none. cells: room
// for a number of each cell; those of the lake come to stand there, in the order of their steps
// from the source. volume: the sum of depths. Returns how many cells the lake has.
static inline input_u64 lake_fill(const heights *h, input_u64 from, double level, int ways,
                                  float *depth, input_u64 *cells, double *volume) {
    const input_u64 w = h->width;
    input_u64 area = 0;
    for (input_u64 i = 0; i < w * h->height; ++i) depth[i] = 0;
    if (lake_wet(h, from, level)) depth[from] = -1, cells[area++] = from; // -1: it is in `cells`
    for (input_u64 next = 0; next < area; ++next) {
        const input_u64 x = cells[next] % w, y = cells[next] / w;
        for (unsigned k = 0; k < 9; ++k) { // x and y less one, of 0, are beyond the map, too
            const input_u64 u = x + k % 3 - 1, v = y + k / 3 - 1, at = v * w + u;
            if (u >= w || v >= h->height || (ways == 4 && k % 2 == 0)) continue;
            if (depth[at] == 0 && lake_wet(h, at, level)) depth[at] = -1, cells[area++] = at;
        }
    }
    *volume = 0;
    for (input_u64 k = 0; k < area; ++k) {
        const double deep = level - heights_value(h, cells[k]);
        depth[cells[k]] = input_narrow(deep), *volume += deep;
    }
    return area;
}

// Whether a lake that something else has found is that of lake_fill: its area, its volume up to
// rounding in double, and, unless `depth` is null, the water on each cell of the map. Says so and
// returns 0, too, where there is no memory to find out.
static inline int lake_is(const heights *h, input_u64 from, double level, int ways, input_u64 area,
                          double volume, const float *depth) {
    const input_u64 count = h->width * h->height;
    float *want = (float *)malloc((size_t)count * sizeof *want);
    input_u64 *cells = (input_u64 *)malloc((size_t)count * sizeof *cells);
    int same = want && cells;
    if (!same) fputs("there is no memory to verify the lake\n", stderr);
    if (same) {
        double sum, rounded;
        same = lake_fill(h, from, level, ways, want, cells, &sum) == area;
        rounded = 1e-9 * (sum + (double)area * fabs(level));
        same &= fabs(volume - sum) <= rounded;
        for (input_u64 i = 0; depth && i < count; ++i) same &= depth[i] == want[i];
    }
    free(want), free(cells);
    return same;
}

#endif
