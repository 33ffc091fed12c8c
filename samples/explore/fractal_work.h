// SPDX-License-Identifier: MIT
// fractal_work.h: the works of explore fractal (write, sum, life) by bounding box, by lambda and by
// the engine, and their verification.
#ifndef EXPLORE_FRACTAL_WORK_H
#define EXPLORE_FRACTAL_WORK_H

#include "fractal_box.h"

// ---- a run --------------------------------------------------------------------------------------

// Runs the task's work in the task's way.
static void task_run(void *job) {
    const fractal_task *t = (const fractal_task *)job;
    const int value = VALUE;
    const tmap_fold_to to = {t->blocks, t->out};
    if (t->way != ENGINE) {
        if (t->work == SUM) CHECK(cudaMemsetAsync(t->out, 0, sizeof(tmap_i64), 0));
        box_work<<<task_grid(t), dim3(t->rho, t->rho)>>>(*t, task_box(t));
        CHECK(cudaGetLastError());
    } else if (t->work == WRITE) {
        CHECK(tmap_sw(&t->plan, &value, t->out, 0));
    } else if (t->work == SUM) {
        CHECK(tmap_rd(&t->plan, t->in, to, 0));
    } else {
        CHECK(tmap_ca(&t->life, t->rule, t->in, t->out, 0));
    }
}

// Number of threads of that launch.
static double task_threads(const fractal_task *t) {
    const tmap_each_plan *p = t->work == LIFE ? &t->life.each : &t->plan;
    const dim3 grid = task_grid(t);
    if (t->way != ENGINE) return (double)grid.x * grid.y * t->rho * t->rho;
    if (t->work == LIFE && t->life.by_sectors)
        return (double)t->life.life.grid * t->life.life.block;
    return (double)p->grid * p->block;
}

// ---- before a run -------------------------------------------------------------------------------

// A random number for a place, of all 32 bits.
TMAP_FN int random_at(tmap_u64 seed, tmap_u64 place) {
    tmap_u64 z = (place + (seed << 40) + seed) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9ull;
    return (int)(tmap_u32)(z >> 32);
}

static __global__ void fill_random(int *out, tmap_u64 count, tmap_u64 seed) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    for (; i < count; i += gridDim.x * (tmap_u64)blockDim.x) out[i] = random_at(seed, i);
}

// Allocates and fills what the task needs. Sizes saturate; saturated ones are refused.
static void task_begin(fractal_task *t, const option *level) {
    const tmap_u64 bytes = tmap_mul_saturate(t->places, t->work == LIFE ? 1 : sizeof(int));
    if (t->work == LIFE && bytes < ~0ull / 2) {
        t->state = (unsigned char *)host_memory(2 * bytes, level);
        t->written = t->state + bytes;
    }
    if (t->work != WRITE) t->in = device_memory(bytes, level);
    t->out = device_memory(t->work == SUM ? sizeof(tmap_i64) : bytes, level);
    if (t->work == WRITE) {
        CHECK(tmap_sw_plan_make(t->f, t->r, 0, sizeof(int), &t->plan));
    } else if (t->work == SUM) {
        CHECK(tmap_rd_plan_make(t->f, t->r, 0, TMAP_RD_I32, &t->plan));
        t->blocks = device_memory(tmap_each_fold_bytes(&t->plan, sizeof(tmap_i64)), level);
        CHECK(cudaMemset(t->blocks, 0, 16));
        fill_random<<<1024, 256>>>((int *)t->in, t->places, t->seed);
        CHECK(cudaGetLastError());
    } else {
        CHECK(tmap_ca_plan_make(t->f, t->r, 0, 1, &t->life));
        for (tmap_u64 i = 0; i < t->places; ++i)
            t->state[i] = (random_at(t->seed, i) & 1) &&
                          tmap_nbb_contains64(t->f, i % t->wide, i / t->wide, t->r);
        CHECK(cudaMemcpy(t->in, t->state, bytes, cudaMemcpyHostToDevice));
    }
}

// Overwrites the output of the next run with poison. Life's places that are no cells hold 0 before
// and after it.
static void task_poison(fractal_task *t) {
    if (t->work == LIFE) {
        for (tmap_u64 i = 0; i < t->places; ++i)
            t->written[i] = tmap_nbb_contains64(t->f, i % t->wide, i / t->wide, t->r) ? POISON : 0;
        CHECK(cudaMemcpy(t->out, t->written, t->places, cudaMemcpyHostToDevice));
    } else {
        CHECK(cudaMemset(t->out, POISON, t->work == SUM ? sizeof(tmap_i64) : t->places * 4));
    }
}

// ---- after it -----------------------------------------------------------------------------------

// Reads every place of a matrix of integers, a band of rows at a time. Returns how many are wrong.
// After a write, cells hold VALUE and other places poison; otherwise all places hold random
// numbers, and t->sum receives their sum over the cells.
static tmap_u64 wrong_places(fractal_task *t, const int *matrix, const option *level) {
    const tmap_u64 most = (64u << 20) / (t->wide * sizeof(int)) + 1;
    tmap_u64 rows = most < t->high ? most : t->high, wrong = 0, cells = 0;
    int *band = (int *)host_memory(rows * t->wide * sizeof(int), level);
    tmap_u64 sum = 0; // modulo 2^64, as in the kernels
    for (tmap_u64 top = 0; top < t->high; top += rows) {
        if (rows > t->high - top) rows = t->high - top;
        CHECK(cudaMemcpy(band, matrix + top * t->wide, rows * t->wide * sizeof(int),
                         cudaMemcpyDeviceToHost));
        for (tmap_u64 i = 0; i < rows * t->wide; ++i) {
            const int cell = tmap_nbb_contains64(t->f, i % t->wide, top + i / t->wide, t->r);
            const int random = random_at(t->seed, top * t->wide + i);
            wrong += band[i] != (t->work == SUM ? random : cell ? (int)VALUE : (int)POISON_INT);
            if (cell) sum += (tmap_u64)(tmap_i64)random, ++cells;
        }
    }
    free(band);
    t->sum = (tmap_i64)sum;
    return wrong + (cells != t->cells);
}

// 1 if t->written is the next state of t->state in every place.
static int right_life(const fractal_task *t) {
    const unsigned char *in = t->state;
    for (tmap_u64 y = 0; y < t->high; ++y)
        for (tmap_u64 x = 0; x < t->wide; ++x) {
            const int cell = tmap_nbb_contains64(t->f, x, y, t->r);
            tmap_u32 near = 0; // a coordinate of -1 wraps to a place that is no cell
            for (tmap_u64 i = 0; cell && i < 9; ++i) {
                const tmap_u64 nx = x + i % 3 - 1, ny = y + i / 3 - 1;
                if (i != 4 && tmap_nbb_contains64(t->f, nx, ny, t->r))
                    near += in[ny * t->wide + nx];
            }
            if (t->written[y * t->wide + x] !=
                (cell && tmap_ca_next(t->rule, in[y * t->wide + x], near)))
                return 0;
        }
    return 1;
}

// 1 if the result of the last run is right.
static int task_right(fractal_task *t, const option *level) {
    tmap_i64 sum;
    if (t->work == WRITE) return wrong_places(t, (const int *)t->out, level) == 0;
    if (t->work == LIFE) {
        CHECK(cudaMemcpy(t->written, t->out, t->places, cudaMemcpyDeviceToHost));
        return right_life(t);
    }
    CHECK(cudaMemcpy(&sum, t->out, sizeof sum, cudaMemcpyDeviceToHost));
    return wrong_places(t, (const int *)t->in, level) == 0 && sum == t->sum;
}

static void task_end(fractal_task *t) {
    CHECK(cudaFree(t->in));
    CHECK(cudaFree(t->out));
    CHECK(cudaFree(t->blocks));
    free(t->state);
}

#endif
