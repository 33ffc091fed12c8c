// SPDX-License-Identifier: MIT
// torus.h: steps of Life and of heat on full square boards whose edges meet, by board.h and by a
// thread for each cell, which is also what they are verified by.
#ifndef BENCH_FRACTAL_TORUS_H
#define BENCH_FRACTAL_TORUS_H

#include "../driver.h"

#include <threadmap/fractal/board_ca.h>

enum { TORUS_BOARD, TORUS_PLAIN, TORUS_VARIANTS };

// A step. heat: floats, else bytes.
typedef struct torus_job {
    tmap_board_ca_plan life;
    tmap_board_plan plan;
    tmap_u64 side;
    const void *in;
    void *out;
    int heat, variant;
} torus_job;

// The next value of a cell from nine; the sum in the order north, west, east, south.
TMAP_DEVICE float torus_flow(const float *v) {
    const float here = v[TMAP_HERE];
    float sum = v[TMAP_NORTH] - here;
    sum += v[TMAP_WEST] - here, sum += v[TMAP_EAST] - here, sum += v[TMAP_SOUTH] - here;
    return fmaf(0.2f, sum, here);
}
static __device__ void torus_rule(void *, tmap_cell, tmap_u32, const void *nine, void *next) {
    *(float *)next = torus_flow((const float *)nine);
}
static __global__ void __launch_bounds__(256, 4) torus_heat(tmap_board_plan plan, torus_job j) {
    const tmap_array in = {j.in, sizeof(float)};
    tmap_board_stencil(&plan, in, torus_rule, j.out, &j);
}

// By a thread for each cell: stores it, or counts it in *wrong if it is not what `out` holds.
TMAP_DEVICE void torus_cell(const torus_job *j, tmap_u64 *wrong, const int heat) {
    const tmap_u32 w = (tmap_u32)j->side, x = blockIdx.x * blockDim.x + threadIdx.x;
    const tmap_u32 y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= w) return;
    const tmap_u32 column[3] = {x ? x - 1 : w - 1, x, x + 1 < w ? x + 1 : 0};
    const tmap_u64 row[3] = {(y ? y - 1 : w - 1) * (tmap_u64)w, y * (tmap_u64)w,
                             (y + 1 < w ? y + 1 : 0) * (tmap_u64)w};
    float v[9], next;
    int n = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const tmap_u64 at = row[k / 3] + column[k % 3];
        if (heat && (k % 2 || k == TMAP_HERE)) v[k] = ((const float *)j->in)[at];
        if (!heat) n += (k == TMAP_HERE ? 16 : 1) * ((const unsigned char *)j->in)[at];
    }
    next = heat ? torus_flow(v) : (float)(n % 16 == 3 || n == 18);
    const tmap_u64 i = row[1] + x;
    if (wrong) {
        const float is = heat ? ((const float *)j->out)[i] : ((const unsigned char *)j->out)[i];
        if (is != next) atomicAdd(wrong, 1ull);
    } else if (heat) {
        ((float *)j->out)[i] = next;
    } else {
        ((unsigned char *)j->out)[i] = (unsigned char)next;
    }
}
static __global__ void torus_cell_life(torus_job j, tmap_u64 *wrong) { torus_cell(&j, wrong, 0); }
static __global__ void torus_cell_heat(torus_job j, tmap_u64 *wrong) { torus_cell(&j, wrong, 1); }

static __global__ void torus_fill(torus_job j) {
    BENCH_EACH(i, j.side * j.side) {
        const tmap_u32 h = (tmap_u32)check_hash(i, 1);
        if (j.heat)
            ((float *)j.in)[i] = (float)(h % 1024);
        else
            ((unsigned char *)j.in)[i] = h % 2;
    }
}

static void torus_run_plain(const torus_job *j, tmap_u64 *wrong) {
    const tmap_u32 side = (tmap_u32)j->side;
    const dim3 grid((side + 31) / 32, (side + 7) / 8), block(32, 8);
    if (j->heat)
        torus_cell_heat<<<grid, block>>>(*j, wrong);
    else
        torus_cell_life<<<grid, block>>>(*j, wrong);
    CHECK(cudaGetLastError());
}

static void torus_run(void *context) {
    const torus_job *j = (const torus_job *)context;
    if (j->variant == TORUS_PLAIN)
        torus_run_plain(j, NULL);
    else if (j->heat)
        CHECK(tmap_board_launch(&j->plan, j, 0));
    else
        CHECK(tmap_board_ca(&j->life, tmap_ca_life(), j->in, j->out, 0));
}

static void torus_sweep(bench_driver *d, tmap_u64 side) {
    static const char *const names[] = {"board", "thread_a_cell"};
    const tmap_board board = {side, side, 0, TMAP_BOARD_PERIODIC_X | TMAP_BOARD_PERIODIC_Y};
    const double cells = (double)side * (double)side;
    torus_job j;
    for (int k = 0; k < 2 * TORUS_VARIANTS; ++k) {
        const int mark = kit_mark();
        j.heat = k / 2, j.variant = k % 2, j.side = side;
        const tmap_u64 bytes = side * side * (j.heat ? 4 : 1);
        bench_row row =
            bench_row_begin(d, j.heat ? "torus_heat" : "torus_life", names[j.variant], "torus");
        bench_key(&row, "size", "%llu", side);
        bench_key_text(&row, "dtype", j.heat ? "f32" : "u8");
        if (!bench_wants(d, &row)) continue;
        j.in = kit_device(bytes), j.out = kit_guarded(bytes);
        CHECK(tmap_board_ca_plan_make(&board, 1, &j.life));
        CHECK(tmap_board_plan_make(&board, (const void *)torus_heat, &j.plan));
        torus_fill<<<2048, 256>>>(j);
        CHECK(cudaGetLastError());
        torus_run(&j);
        torus_run_plain(&j, bench_counter());
        bench_verify(&row, bench_count(), "cells");
        bench_key(&row, "cells", "%.0f", cells);
        row.unit = "Gcell/s", row.each = 1e-6 * cells;
        row.limit_ms = 2e-9 * (double)bytes / d->ceilings.copy_tbs;
        bench_row_run(d, &row, torus_run, &j);
        kit_release(mark);
    }
}

#endif
