// SPDX-License-Identifier: MIT
// fractal_box.h: a task of explore fractal, and its works by bounding box and by lambda: one thread
// per place of a box.
#ifndef EXPLORE_FRACTAL_BOX_H
#define EXPLORE_FRACTAL_BOX_H

#include "tool.h"

#include <threadmap/fractal.h>
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/rd.h>
#include <threadmap/fractal/sw.h>
#include <threadmap/warp.h>

enum { WRITE, SUM, LIFE, WORKS };
enum { BOX, LAMBDA, ENGINE, WAYS };
static const char *const work_names[WORKS] = {"write", "sum", "life"};

// The content of memory before a run, and the value that `write` stores.
enum { POISON = 0x5a, POISON_INT = 0x5a5a5a5a, VALUE = 7 };

typedef struct fractal_task {
    int work, way;
    tmap_nbb f;
    tmap_u32 r, rho;
    tmap_ca_rule rule;
    tmap_u64 seed, wide, high, places, cells;
    void *in, *out, *blocks;        // in device memory
    unsigned char *state, *written; // life, on the host: `in`, and what is or was in `out`
    tmap_i64 sum;                   // the expected one
    tmap_each_plan plan;
    tmap_ca_plan life;
} fractal_task;

// The box that a launch covers: the embedding, or the orthotope.
static tmap_xy64 task_box(const fractal_task *t) {
    const tmap_xy64 embedding = {t->wide, t->high};
    return t->way == BOX ? embedding : tmap_nbb_orthotope(t->f, t->r);
}

// Its grid. If the box has more rows of blocks than a grid may have, each block takes several.
static dim3 task_grid(const fractal_task *t) {
    const tmap_xy64 box = task_box(t);
    const tmap_u64 columns = (box.x + t->rho - 1) / t->rho, rows = (box.y + t->rho - 1) / t->rho;
    if (columns > 0x7fffffff) bad("--level: a grid cannot be so wide", "");
    return dim3((unsigned)columns, (unsigned)(rows < 65535 ? rows : 65535));
}

// The cell of place (x, y) of the box; 0 if there is none.
TMAP_DEVICE int cell_of(int way, tmap_nbb f, tmap_u32 r, tmap_u64 x, tmap_u64 y, tmap_xy *cell) {
    if (way == LAMBDA) {
        *cell = tmap_nbb_lambda(f, (tmap_u32)x, (tmap_u32)y, r);
        return 1;
    }
    cell->x = (tmap_u32)x, cell->y = (tmap_u32)y;
    return tmap_nbb_contains(f, cell->x, cell->y, r);
}

static __global__ void box_work(fractal_task t, tmap_xy64 box) {
    const tmap_u64 x = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    const tmap_u64 step = (tmap_u64)gridDim.y * blockDim.y;
    tmap_i64 sum = 0;
    for (tmap_u64 y = blockIdx.y * (tmap_u64)blockDim.y + threadIdx.y; y < box.y; y += step) {
        tmap_xy cell;
        if (x >= box.x || !cell_of(t.way, t.f, t.r, x, y, &cell)) continue;
        const tmap_u64 at = cell.y * t.wide + cell.x;
        if (t.work == WRITE) ((int *)t.out)[at] = VALUE;
        if (t.work == SUM) sum += ((const int *)t.in)[at];
        if (t.work == LIFE)
            ((unsigned char *)t.out)[at] =
                tmap_ca_cell((const unsigned char *)t.in, t.wide, t.high, cell.x, cell.y, t.rule);
    }
    if (t.work != SUM) return;
    const tmap_warp warp = tmap_warp_self();
    sum = tmap_warp_sum_i64(warp, sum);
    if (warp.lane == 0 && sum) atomicAdd((tmap_u64 *)t.out, (tmap_u64)sum);
}

#endif
