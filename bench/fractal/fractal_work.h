// SPDX-License-Identifier: MIT
// fractal_work.h: what is done to the cells of an embedded fractal, and with which elements: the memory
// that it reads and writes, whether what was written is right, place by place, and what the memory
// needs for it at least.
#ifndef BENCH_FRACTAL_FRACTAL_WORK_H
#define BENCH_FRACTAL_FRACTAL_WORK_H

#include "../../tests/fractal/fractal_check.h"
#include "../driver.h"

#define HEAT_RATE 0.125f

// In a task of two matrices the second one is written.
enum { SW_I32, SW_U8, UPDATE_F32, RD_I32, RD_F32, RD_U8, CA_U8, CA_F32, TASKS };
static const struct {
    const char *work, *dtype, *engine; // the engine's variant
    tmap_u32 size;                     // of an element
    int matrices;
} tasks[TASKS] = {
    {"sw", "i32", "each", 4, 1},    {"sw", "u8", "each", 1, 1},  {"update", "f32", "update", 4, 1},
    {"rd", "i32", "fold", 4, 1},    {"rd", "f32", "fold", 4, 1}, {"rd", "u8", "fold", 1, 1},
    {"ca", "u8", "stencil", 1, 2},  // the Game of Life
    {"ca", "f32", "stencil", 4, 2}, // heat, which flows between four neighbours
};

static inline int task_sums(int task) { return task >= RD_I32 && task <= RD_U8; }

// A task at one level.
typedef struct fractal_work {
    tmap_nbb f;
    tmap_u32 r;
    int task;
    tmap_u64 cells, places, width, height;
    void *in, *out; // the matrix before and after; the same one where there is one
    void *sum;      // 8 bytes
    float factor;   // of the update
    double limit_ms;
} fractal_work;

static inline fractal_work fractal_work_make(tmap_nbb f, tmap_u32 r) {
    fractal_work w;
    memset(&w, 0, sizeof w);
    w.f = f, w.r = r, w.factor = 1;
    w.width = tmap_nbb_side_x(f, r), w.height = tmap_nbb_side_y(f, r);
    w.places = tmap_mul_saturate(w.width, w.height), w.cells = tmap_nbb_cells(f, r);
    return w;
}

// Bytes of a task's matrices.
static inline tmap_u64 fractal_work_bytes(const fractal_work *w) {
    return tmap_mul_saturate(tmap_mul_saturate(w->places, tasks[w->task].size),
                             (tmap_u64)tasks[w->task].matrices);
}

static inline dim3 check_grid(tmap_u64 width, tmap_u64 height) {
    const tmap_u64 columns = (width + 255) / 256;
    return dim3((unsigned)(height < 65535 ? height : 65535),
                (unsigned)(columns < 64 ? columns : 64));
}

// What a task reads.
static inline void fractal_work_fill(const fractal_work *w) {
    const dim3 grid = check_grid(w->width, w->height);
    const tmap_nbb f = w->f;
    if (w->task == RD_I32)
        check_fill_i32<<<grid, 256>>>(f, w->r, w->width, w->height, 1, (int *)w->in);
    if (w->task == RD_U8)
        check_fill_u8<<<grid, 256>>>(f, w->r, w->width, w->height, 1, (unsigned char *)w->in);
    if (w->task == UPDATE_F32 || w->task == RD_F32 || w->task == CA_F32)
        check_fill_f32<<<grid, 256>>>(f, w->r, w->width, w->height, 1, (float *)w->in);
    if (w->task == CA_U8)
        check_fill_alive<<<grid, 256>>>(f, w->r, w->width, w->height, 2, 2, (unsigned char *)w->in);
    CHECK(cudaGetLastError());
}

// ---- verification -------------------------------------------------------------------------------

// What is wrong with a matrix, or the sum that is right.
static inline tmap_u64 fractal_work_check(const fractal_work *p) {
    const dim3 grid = check_grid(p->width, p->height);
    const tmap_nbb f = p->f;
    const tmap_u32 r = p->r;
    const tmap_u64 w = p->width, h = p->height;
    const unsigned char *in = (const unsigned char *)p->in, *out = (const unsigned char *)p->out;
    tmap_u64 *count = bench_counter();
    switch (p->task) {
    case SW_I32: check_written_i32<<<grid, 256>>>(f, r, w, h, 7, (const int *)out, count); break;
    case SW_U8: check_written_u8<<<grid, 256>>>(f, r, w, h, 7, out, count); break;
    case UPDATE_F32:
        check_doubled_f32<<<grid, 256>>>(f, r, w, h, 1, (const float *)out, count);
        break;
    case RD_I32: check_sum_i32<<<grid, 256>>>(f, r, w, h, (const int *)in, count); break;
    case RD_F32:
        check_sum_f32<<<grid, 256>>>(f, r, w, h, (const float *)in, (double *)count);
        break;
    case RD_U8: check_sum_u8<<<grid, 256>>>(f, r, w, h, in, count); break;
    case CA_U8: check_step_u8<<<grid, 256>>>(f, r, w, h, tmap_ca_life(), in, out, count); break;
    default:
        check_heat_f32<<<grid, 256>>>(f, r, w, h, HEAT_RATE, (const float *)in, (const float *)out,
                                      count);
    }
    return bench_count();
}

// Runs a job of this work once, on poisoned memory where it writes, and compares every place.
static inline void fractal_work_verify(bench_row *row, fractal_work *w, bench_body run, void *job) {
    tmap_u64 sum = 0, found;
    if (!task_sums(w->task) && w->task != UPDATE_F32)
        CHECK(cudaMemset(w->out, CHECK_POISON_U8, w->places * tasks[w->task].size));
    CHECK(cudaMemset(w->sum, CHECK_POISON_U8, sizeof sum));
    w->factor = 2;
    run(job);
    w->factor = 1;
    found = fractal_work_check(w);
    CHECK(cudaMemcpy(&sum, w->sum, sizeof sum, cudaMemcpyDeviceToHost));
    bench_verify(row, task_sums(w->task) ? found != sum : found, "places or sums");
    if (w->task == UPDATE_F32) fractal_work_fill(w);
}

// ---- memory -------------------------------------------------------------------------------------

// Bytes of the granules of `bytes` bytes that hold a cell (reach 0) or a cell or a neighbour of one
// (reach 1).
static inline double granule_bytes(const fractal_work *w, tmap_u32 bytes, int reach) {
    check_granules<<<4096, 256>>>(w->f, w->r, w->width, w->height, bytes / tasks[w->task].size,
                                  reach, bench_counter());
    return (double)bytes * (double)bench_count();
}

// Memory of kit.h for the task, with what it reads in it; and its limit. Writes go to memory in
// sectors of 32 bytes, reads come from it in pairs of them.
static inline void fractal_work_begin(fractal_work *w, bench_ceilings c) {
    const tmap_u64 need = fractal_work_bytes(w), matrix = need / (tmap_u64)tasks[w->task].matrices;
    w->in = kit_device(need + 64), w->sum = kit_device(8); // `out` begins at a sector
    w->out = tasks[w->task].matrices == 2 ? (char *)w->in + (matrix + 31) / 32 * 32 : w->in;
    fractal_work_fill(w);
    w->limit_ms = 0;
    if (w->task > SW_U8) w->limit_ms += 1e-9 * granule_bytes(w, 64, w->task == CA_U8) / c.read_tbs;
    if (!task_sums(w->task)) w->limit_ms += 1e-9 * granule_bytes(w, 32, 0) / c.fill_tbs;
}

#endif
