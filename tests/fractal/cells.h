// SPDX-License-Identifier: MIT
// cells.h: the cells of a fractal by replication, with their neighbours by coordinates, for tests
// of what is computed on them: the host's half, without any map of the library.
#ifndef TESTS_FRACTAL_CELLS_H
#define TESTS_FRACTAL_CELLS_H

#include "fractal/brute.h"
#include "fractal/engine.h"

// Cell number i of the fractal of a level, in the order of compact storage. near[i]: the numbers of
// the nine places around it, row by row, or -1. In memory of kit.h, which kit_release frees.
typedef struct cells {
    tmap_nbb f;
    tmap_u32 r;
    int count, width, height;
    int *x, *y, (*near)[9];
} cells;

// The caller knows that the places fit an int.
static inline cells cells_make(tmap_nbb f, tmap_u32 r) {
    const brute b = brute_of(f);
    const tmap_u64 most = brute_pow(b.k, (int)r);
    cells c;
    c.f = f, c.r = r;
    c.x = (int *)kit_host(most * sizeof(int)), c.y = (int *)kit_host(most * sizeof(int));
    c.near = (int(*)[9])kit_host(most * sizeof *c.near);
    const int kept = kit_mark();
    brute_cell *list = (brute_cell *)kit_zeroed(most * sizeof *list);
    size_t n = 1;
    for (int level = 1; level <= (int)r; ++level) n = brute_grow(&b, level, list, n);
    c.count = (int)n, c.width = (int)brute_pow(b.s[0], (int)r);
    c.height = (int)brute_pow(b.s[1], (int)r);
    int *number = (int *)kit_host((tmap_u64)c.width * (tmap_u64)c.height * sizeof(int));
    memset(number, 0xff, (size_t)c.width * (size_t)c.height * sizeof(int));
    for (int i = 0; i < c.count; ++i) {
        c.x[i] = (int)list[i].at[0], c.y[i] = (int)list[i].at[1];
        number[c.y[i] * c.width + c.x[i]] = i;
    }
    for (int i = 0; i < c.count; ++i)
        for (int p = 0; p < 9; ++p) {
            const int x = c.x[i] + p % 3 - 1, y = c.y[i] + p / 3 - 1;
            const int inside = x >= 0 && x < c.width && y >= 0 && y < c.height;
            c.near[i][p] = inside ? number[y * c.width + x] : -1;
        }
    kit_release(kept);
    return c;
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
