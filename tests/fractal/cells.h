// SPDX-License-Identifier: MIT
// cells.h: the cells of a fractal by replication, with their neighbours by coordinates, for tests of
// what is computed on them: the host's half, without any map of the library.
#ifndef TESTS_FRACTAL_CELLS_H
#define TESTS_FRACTAL_CELLS_H

#include "fractal/engine.h"

// Cell number i of the fractal of a level, in the order in which level after level is replicated:
// that of compact storage. near[i]: its neighbours in the north, west, east and south, or -1.
typedef struct cells {
    int count, width, height;
    int *x, *y, (*near)[4];
} cells;

static inline int *cells_memory(tmap_u64 ints) {
    int *memory = (int *)malloc((ints ? ints : 1) * sizeof(int));
    if (!memory) exit(1);
    return memory;
}

// The caller knows that the places fit an int.
static inline cells cells_make(tmap_nbb f, tmap_u32 r) {
    static const int dx[4] = {0, -1, 1, 0}, dy[4] = {-1, 0, 0, 1};
    cells c;
    int *number, most = 1;
    c.count = c.width = c.height = 1;
    for (tmap_u32 level = 0; level < r; ++level) most *= (int)f.k;
    c.x = cells_memory((tmap_u64)most), c.y = cells_memory((tmap_u64)most);
    c.near = (int(*)[4])cells_memory(4 * (tmap_u64)most);
    c.x[0] = c.y[0] = 0;
    for (tmap_u32 level = 0; level < r; ++level) {
        for (int beta = (int)f.k - 1; beta >= 0; --beta) // the last first: copy 0 is in its place
            for (int i = 0; i < c.count; ++i) {
                c.x[beta * c.count + i] = c.x[i] + (int)(f.tau_x >> 4 * beta & 15) * c.width;
                c.y[beta * c.count + i] = c.y[i] + (int)(f.tau_y >> 4 * beta & 15) * c.height;
            }
        c.count *= (int)f.k, c.width *= (int)f.sx, c.height *= (int)f.sy;
    }
    number = cells_memory((tmap_u64)c.width * (tmap_u64)c.height);
    for (int p = 0; p < c.width * c.height; ++p) number[p] = -1;
    for (int i = 0; i < c.count; ++i) number[c.y[i] * c.width + c.x[i]] = i;
    for (int i = 0; i < c.count; ++i)
        for (int n = 0; n < 4; ++n) {
            const int x = c.x[i] + dx[n], y = c.y[i] + dy[n];
            const int inside = x >= 0 && x < c.width && y >= 0 && y < c.height;
            c.near[i][n] = inside ? number[y * c.width + x] : -1;
        }
    free(number);
    return c;
}

static inline void cells_free(cells *c) {
    free(c->x);
    free(c->y);
    free(c->near);
}

// The element of cell i in a plan's memory.
static inline tmap_u64 cells_at(const cells *c, const tmap_each_plan *plan, int i) {
    if (plan->pitch == TMAP_COMPACT) return plan->offset + (tmap_u64)i;
    return plan->offset + (tmap_u64)c->y[i] * plan->pitch + (tmap_u64)c->x[i];
}

// A plan of the same cells whose launch has another shape: number `shape` of CELLS_SHAPES, of which
// 0 is what the plan's maker chose. 0 if this fractal does not have it.
#define CELLS_SHAPES 5
static inline int cells_shape(tmap_each_plan *plan, int shape) {
    if (shape == 1) return tmap_each_plan_loop(plan, TMAP_EACH_LINEAR) == cudaSuccess;
    if (shape == 2) return tmap_each_plan_loop(plan, TMAP_EACH_ROWS) == cudaSuccess;
    if (shape == 3) plan->grid = plan->grid > 1 ? plan->grid / 2 : 2;
    if (shape == 4) plan->block = plan->block > 64 ? plan->block / 64 * 32 : 64, plan->grid = 3;
    return 1;
}

#endif
