// SPDX-License-Identifier: MIT
// published_work.h: the three tests of the fractals' paper as published (papers/box_published.h),
// by the bounding box, by lambda and by its variants 1 and 2 on tensor cores: rows `published_bb`,
// `published_lambda`, `published_wmma1` and `_wmma2` of bench_fractal, which stand beside `bb`,
// `lambda_block` and `wmma_fp16`. What they read, place by place what they must write,
// and their times. No row has a limit: BB of the reduction reads every place.
#ifndef BENCH_FRACTAL_PUBLISHED_WORK_H
#define BENCH_FRACTAL_PUBLISHED_WORK_H

#include "fractal_work.h"

#include <threadmap/papers/box_published.h>
#include <threadmap/papers/tensor.h>

typedef struct published_job {
    int task, map; // SW_U8, RD_I32 or CA_U8; as for tmap_box_published_sw_u8
    tmap_u32 r, rho;
    void *in, *out; // the matrix before and after, or the sum; the state with its border
} published_job;

static void published_run(void *context) {
    const published_job *j = (const published_job *)context;
    const unsigned char *in = (const unsigned char *)j->in;
    unsigned char *out = (unsigned char *)j->out;
    if (j->task == SW_U8)
        CHECK(tmap_box_published_sw_u8(j->r, j->rho, j->map, 7, out, 0));
    else if (j->task == RD_I32)
        CHECK(tmap_box_published_rd_i32(j->r, j->rho, j->map, (const int *)in, (double *)out, 0));
    else
        CHECK(tmap_box_published_ca_u8(j->r, j->rho, j->map, in, out, 0));
}

// Cells are 0 to 4095 or, in a state, 0 or 1; all other places, and the border, are 0.
static __global__ void published_fill(tmap_nbb f, tmap_u32 r, tmap_u64 side, int bytes, void *in) {
    CHECK_EACH_PLACE(x, y, side, side) {
        const tmap_u64 at = y * side + x, b = (tmap_u64)bytes; // a state has a border of 1
        const tmap_u32 h = check_hash(at, 54) & (bytes ? 1 : 4095);
        const tmap_u32 value = tmap_nbb_contains64(f, x - b, y - b, r) ? h : 0;
        if (bytes)
            ((unsigned char *)in)[at] = (unsigned char)value;
        else
            ((int *)in)[at] = (int)value;
    }
}

// Counts the places of a state that are not the next one of B2/S23 (cells), or not poison
// (elsewhere).
static __global__ void published_check_ca(tmap_nbb f, tmap_u32 r, tmap_u64 side,
                                          const unsigned char *in, const unsigned char *out,
                                          tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    CHECK_EACH_PLACE(x, y, side, side) {
        tmap_u32 living = 0, want = CHECK_POISON_U8;
        if (tmap_nbb_contains64(f, x - 1, y - 1, r)) {
            for (int i = 0; i < 9; ++i)
                living += i != 4 && in[(y + i / 3 - 1) * side + x + i % 3 - 1];
            want = living == 2 || (living == 3 && in[y * side + x]);
        }
        mine += out[y * side + x] != want;
    }
    if (mine) atomicAdd(wrong, mine);
}

// Runs a job once, on poisoned memory where it writes, and compares every place.
static void published_verify(bench_row *row, published_job *j, tmap_u64 side) {
    const tmap_nbb f = tmap_fractal_gasket();
    const dim3 grid = check_grid(side, side);
    const unsigned char *in = (const unsigned char *)j->in, *out = (const unsigned char *)j->out;
    tmap_u64 *count, found;
    double sum;
    CHECK(cudaMemset(j->out, CHECK_POISON_U8, j->task == RD_I32 ? sizeof sum : side * side));
    published_run(j);
    count = bench_counter();
    if (j->task == SW_U8)
        check_written_u8<<<grid, 256>>>(f, j->r, side, side, 7, out, count);
    else if (j->task == RD_I32)
        check_sum_i32<<<grid, 256>>>(f, j->r, side, side, (const int *)in, count);
    else
        published_check_ca<<<grid, 256>>>(f, j->r, side, in, out, count);
    found = bench_count();
    if (j->task == RD_I32) {
        CHECK(cudaMemcpy(&sum, j->out, sizeof sum, cudaMemcpyDeviceToHost));
        found = sum != (double)found;
    }
    bench_verify(row, found, "places or sums");
}

// The rows of a test at one level of the gasket, if it fits the memory: both maps, by blocks of each
// rho that the paper's authors have data of.
static void published_task(bench_driver *d, int task, tmap_u32 r, bench_numbers rhos) {
    enum { MAPS = 4 };
    static const struct {
        int map;
        const char *name;
    } maps[MAPS] = {{TMAP_BOX_BB, "published_bb"},
                    {TMAP_BOX_LAMBDA, "published_lambda"},
                    {TMAP_BOX_PUBLISHED_WMMA1, "published_wmma1"},
                    {TMAP_BOX_PUBLISHED_WMMA2, "published_wmma2"}};
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_u64 n = (tmap_u64)1 << r, side = task == CA_U8 ? n + 2 : n;
    const tmap_u64 need = side * side * tasks[task].size * (tmap_u64)tasks[task].matrices;
    const int mark = kit_mark();
    published_job j = {task, 0, r, 0, NULL, NULL};
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    for (int i = 0; i < MAPS * rhos.count; ++i) {
        bench_row row = bench_row_begin(d, tasks[task].work, maps[i % MAPS].name, "gasket");
        tmap_box box;
        j.map = maps[i % MAPS].map, j.rho = rhos.value[i / MAPS];
        const int tensor = j.map >= TMAP_BOX_PUBLISHED_WMMA1,
                  four = j.map == TMAP_BOX_PUBLISHED_WMMA2;
        const int form = four ? TMAP_TENSOR_WMMA2 : TMAP_TENSOR_WMMA1;
        bench_key(&row, "size", "%u", r);
        bench_key(&row, "rho", "%u", j.rho);
        bench_key_text(&row, "dtype", tasks[task].dtype);
        if (task == CA_U8) bench_key_text(&row, "rule", "B2S23");
        if ((j.rho != 8 && j.rho != 16 && j.rho != 32) || n < j.rho || (tensor && j.rho == 8) ||
            (four && task == CA_U8) ||
            (tensor ? tmap_tensor_box(f, r, j.rho, form, &box)
                    : tmap_box_make(f, r, j.rho, j.map, &box)) ||
            !bench_wants(d, &row))
            continue;
        if (need > free_bytes) {
            bench_left_out(&row, "%.1f GB", 1e-9 * (double)need);
            continue;
        }
        if (!j.out) {
            j.out = kit_guarded(task == RD_I32 ? sizeof(double) : side * side);
            j.in = task == SW_U8 ? NULL : kit_device(side * side * tasks[task].size);
            if (j.in)
                published_fill<<<check_grid(side, side), 256>>>(f, r, side, task == CA_U8, j.in);
            CHECK(cudaGetLastError());
        }
        published_verify(&row, &j, side);
        bench_key(&row, "n", "%.0f", (double)n);
        bench_key(&row, "threads", "%.0f", (double)tmap_box_threads(box));
        bench_key(&row, "cells", "%.0f", (double)tmap_nbb_cells(f, r));
        row.unit = "Gcell/s", row.each = 1e-6 * (double)tmap_nbb_cells(f, r);
        bench_row_run(d, &row, published_run, &j);
    }
    kit_release(mark);
}

static void published_sweep(bench_driver *d, tmap_u32 r, bench_numbers rhos) {
    if (r > TMAP_BOX_PUBLISHED_LEVEL_MAX) return;
    published_task(d, SW_U8, r, rhos);
    published_task(d, RD_I32, r, rhos);
    published_task(d, CA_U8, r, rhos);
}

#endif
