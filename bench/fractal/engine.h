// SPDX-License-Identifier: MIT
// engine.h: the work of the benchmark through the library's engine, as a user writes it: a function
// for a cell, a kernel of one's own, and a plan.
#ifndef BENCH_FRACTAL_ENGINE_H
#define BENCH_FRACTAL_ENGINE_H

#include <threadmap/fractal.h>
#include <threadmap/fractal/ca_rule.h>

// ---- single write -------------------------------------------------------------------------------

#define ENGINE_WRITE(name, type) \
    typedef struct write_##name { \
        type *out; \
        type value; \
    } write_##name; \
    static __device__ void write_cell_##name(void *job, tmap_cell cell) { \
        write_##name *w = (write_##name *)job; \
        w->out[cell.at] = w->value; \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        engine_write_##name(tmap_each_plan plan, write_##name w) { \
        const tmap_array out = {w.out, sizeof *w.out}; \
        tmap_each_into(&plan, write_cell_##name, out, &w); \
    }
ENGINE_WRITE(i32, int)
ENGINE_WRITE(u8, unsigned char)
#undef ENGINE_WRITE

// ---- update -------------------------------------------------------------------------------------

// a[c] *= s. The benchmark's s is 1, so that any number of runs leaves the same.
typedef struct scaling {
    float *a;
    float s;
} scaling;

static __device__ void scaling_read(void *job, tmap_cell cell, void *value) {
    *(float *)value = ((scaling *)job)->a[cell.at];
}
static __device__ void scaling_use(void *job, tmap_cell cell, const void *value) {
    scaling *j = (scaling *)job;
    j->a[cell.at] = j->s * *(const float *)value;
}
static __global__ void __launch_bounds__(512, 2) engine_update(tmap_each_plan plan, scaling j) {
    tmap_each_update(&plan, scaling_read, scaling_use, &j);
}

// ---- reduction ----------------------------------------------------------------------------------

typedef struct summing {
    const void *in;
    tmap_fold_to to;
} summing;

#define ENGINE_SUM(name, type, total) \
    static __device__ void sum_add_##name(void *job, void *sum, tmap_cell cell, \
                                          const void *value) { \
        (void)job, (void)cell; \
        *(total *)sum += *(const type *)value; \
    } \
    static __device__ void sum_join_##name(void *job, void *sum, const void *other) { \
        (void)job; \
        *(total *)sum += *(const total *)other; \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        engine_sum_##name(tmap_each_plan plan, summing j) { \
        const total zero = 0; \
        const tmap_array in = {j.in, sizeof(type)}; \
        const tmap_fold fold = {&zero, sizeof zero, sum_join_##name}; \
        tmap_each_fold(&plan, in, sum_add_##name, fold, j.to, 0); \
    }
ENGINE_SUM(i32, int, tmap_i64)
ENGINE_SUM(u8, unsigned char, tmap_i64)
ENGINE_SUM(f32, float, double)
#undef ENGINE_SUM

// ---- stencils -----------------------------------------------------------------------------------

// Heat flows between neighbours that are cells, and nowhere else.
typedef struct heat_step {
    const float *in;
    float *out;
    float rate;
} heat_step;

static __device__ void heat_rule(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                 void *next) {
    const float *v = (const float *)nine, here = v[TMAP_HERE];
    float sum = 0;
    (void)cell;
    if (around >> TMAP_NORTH & 1) sum += v[TMAP_NORTH] - here;
    if (around >> TMAP_WEST & 1) sum += v[TMAP_WEST] - here;
    if (around >> TMAP_EAST & 1) sum += v[TMAP_EAST] - here;
    if (around >> TMAP_SOUTH & 1) sum += v[TMAP_SOUTH] - here;
    *(float *)next = here + ((heat_step *)job)->rate * sum;
}
static __global__ void __launch_bounds__(512, 2) engine_heat(tmap_each_plan plan, heat_step s) {
    const tmap_array in = {s.in, sizeof *s.in};
    tmap_each_stencil(&plan, in, heat_rule, s.out, &s);
}

// The Game of Life as a rule of the user's own: what tmap_ca does by sectors, in general form.
typedef struct life_step {
    const unsigned char *in;
    unsigned char *out;
} life_step;

static __device__ void life_rule(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                 void *next) {
    const unsigned char *v = (const unsigned char *)nine;
    tmap_u32 neighbours = 0;
    (void)job, (void)cell, (void)around;
    for (int i = 0; i < 9; ++i) neighbours += i != TMAP_HERE && v[i];
    *(unsigned char *)next = neighbours == 3 || (neighbours == 2 && v[TMAP_HERE]);
}
static __global__ void __launch_bounds__(512, 2) engine_life(tmap_each_plan plan, life_step s) {
    const tmap_array in = {s.in, sizeof *s.in};
    tmap_each_stencil(&plan, in, life_rule, s.out, &s);
}

// ---- the plain map ------------------------------------------------------------------------------

// A thread for each cell by its linear index, which is all that a kernel without the engine needs. The
// fractal is a constant of each kernel, as in a program for one fractal: nvcc then turns the divisions
// into multiplications.
TMAP_DEVICE tmap_xy64 plain_cell(tmap_nbb f, tmap_u64 i, tmap_u32 r) {
    if (i >> 32) return tmap_nbb_lambda_linear64(f, i, r);
    const tmap_xy cell = tmap_nbb_lambda_linear(f, (tmap_u32)i, r);
    const tmap_xy64 wide = {cell.x, cell.y};
    return wide;
}
TMAP_DEVICE void plain_write(tmap_nbb f, tmap_u32 r, tmap_u64 cells, tmap_u64 width, int value,
                             int *out) {
    const tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (i >= cells) return;
    const tmap_xy64 cell = plain_cell(f, i, r);
    out[cell.y * width + cell.x] = value;
}
// Four cells a thread and turn, so that as many reads are in flight; one atomic a block.
TMAP_DEVICE void plain_sum(tmap_nbb f, tmap_u32 r, tmap_u64 cells, tmap_u64 width, const int *in,
                           tmap_i64 *sum) {
    __shared__ tmap_i64 scratch[32];
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    tmap_i64 mine = 0;
#pragma unroll 4
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < cells; i += stride) {
        const tmap_xy64 cell = plain_cell(f, i, r);
        mine += in[cell.y * width + cell.x];
    }
    mine = tmap_block_sum_i64(mine, scratch);
    if (threadIdx.x == 0) atomicAdd((tmap_u64 *)sum, (tmap_u64)mine);
}
TMAP_DEVICE void plain_life(tmap_nbb f, tmap_u32 r, tmap_u64 cells, tmap_u64 width, tmap_u64 height,
                            tmap_ca_rule rule, const unsigned char *in, unsigned char *out) {
    const tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (i >= cells) return;
    const tmap_xy64 cell = plain_cell(f, i, r);
    out[cell.y * width + cell.x] = tmap_ca_cell(in, width, height, cell.x, cell.y, rule);
}

#define PLAIN_KERNELS(name, fractal) \
    static __global__ void plain_write_##name(tmap_nbb f, tmap_u32 r, tmap_u64 cells, \
                                              tmap_u64 width, int value, int *out) { \
        f = fractal; \
        plain_write(f, r, cells, width, value, out); \
    } \
    static __global__ void plain_sum_##name(tmap_nbb f, tmap_u32 r, tmap_u64 cells, \
                                            tmap_u64 width, const int *in, tmap_i64 *sum) { \
        f = fractal; \
        plain_sum(f, r, cells, width, in, sum); \
    } \
    static __global__ void plain_life_##name(tmap_nbb f, tmap_u32 r, tmap_u64 cells, \
                                             tmap_u64 width, tmap_u64 height, tmap_ca_rule rule, \
                                             const unsigned char *__restrict__ in, \
                                             unsigned char *__restrict__ out) { \
        f = fractal; \
        plain_life(f, r, cells, width, height, rule, in, out); \
    }
#define PLAIN_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) \
    PLAIN_KERNELS(name, tmap_fractal_##name())
TMAP_FRACTALS(PLAIN_FRACTAL)
PLAIN_KERNELS(any, f)
#undef PLAIN_FRACTAL
#undef PLAIN_KERNELS

// The kernel of test 0, write, 1, sum, or 2, life.
static inline const void *plain_kernel(tmap_nbb f, int test) {
#define PLAIN_ROW(name) \
    { \
        (const void *)plain_write_##name, (const void *)plain_sum_##name, \
            (const void *)plain_life_##name \
    }
#define PLAIN_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) PLAIN_ROW(name),
    static const void *const kernels[TMAP_FRACTAL_COUNT + 1][3] = {TMAP_FRACTALS(PLAIN_FRACTAL)
                                                                       PLAIN_ROW(any)};
#undef PLAIN_FRACTAL
#undef PLAIN_ROW
    const int index = tmap_fractal_index(f);
    return kernels[index < 0 ? TMAP_FRACTAL_COUNT : index][test];
}

#endif
