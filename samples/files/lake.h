// SPDX-License-Identifier: MIT
// lake.h: the lake that a source fills up to a level, found on the host from cell to cell. Programs
// that flood a map faster compare their results with it.
#ifndef FILES_LAKE_H
#define FILES_LAKE_H

#include "heights_type.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A cell is wet if it has data and is below the level.
static inline int lake_wet(const heights *h, input_u64 i, double level) {
    const double v = heights_value(h, i);
    return v < level && !(h->has_nodata && v == h->nodata);
}

// Fills the lake of the source cell `from`, y * width + x, over 4 or 8 neighbours of a cell (ways).
// depth: receives the water on each cell of the map, level - height, 0 where there is none. cells:
// memory for a number of each cell; receives the lake's cells by their steps from the source.
// volume: receives the sum of depths. Returns how many cells the lake has.
static inline input_u64 lake_fill(const heights *h, input_u64 from, double level, int ways,
                                  float *depth, input_u64 *cells, double *volume) {
    const float found = -1; // of cells in `cells`, until their depths are known
    const input_u64 w = h->width;
    input_u64 area = 0;
    for (input_u64 i = 0; i < w * h->height; ++i) depth[i] = 0;
    if (lake_wet(h, from, level)) {
        depth[from] = found;
        cells[area++] = from;
    }
    for (input_u64 next = 0; next < area; ++next) {
        const input_u64 x = cells[next] % w;
        const input_u64 y = cells[next] / w;
        for (unsigned k = 0; k < 9; ++k) {     // the 3 x 3 cells around (x, y)
            const input_u64 u = x + k % 3 - 1; // 0 - 1 wraps around to a column beyond the map
            const input_u64 v = y + k / 3 - 1;
            if (u >= w || v >= h->height) continue;
            if (ways == 4 && k % 2 == 0) continue; // a corner, or the cell itself
            const input_u64 at = v * w + u;
            if (depth[at] != 0 || !lake_wet(h, at, level)) continue;
            depth[at] = found;
            cells[area++] = at;
        }
    }
    *volume = 0;
    for (input_u64 k = 0; k < area; ++k) {
        const double deep = level - heights_value(h, cells[k]);
        depth[cells[k]] = input_narrow(deep);
        *volume += deep;
    }
    return area;
}

// Returns 1 if a lake is that of lake_fill: its area, its volume up to rounding in double, and,
// unless `depth` is null, the water on each cell of the map. Returns 0 if not, and also, after a
// line on stderr, if there is no memory to find out.
static inline int lake_is(const heights *h, input_u64 from, double level, int ways, input_u64 area,
                          double volume, const float *depth) {
    const input_u64 count = h->width * h->height;
    float *want = (float *)malloc((size_t)count * sizeof *want);
    input_u64 *cells = (input_u64 *)malloc((size_t)count * sizeof *cells);
    int same = want && cells;
    if (!same) fputs("there is no memory to verify the lake\n", stderr);
    if (same) {
        double sum;
        same = lake_fill(h, from, level, ways, want, cells, &sum) == area;
        const double rounding = 1e-9 * (sum + (double)area * fabs(level));
        same &= fabs(volume - sum) <= rounding;
        for (input_u64 i = 0; depth && i < count; ++i) same &= depth[i] == want[i];
    }
    free(want);
    free(cells);
    return same;
}

#endif
