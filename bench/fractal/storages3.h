// SPDX-License-Identifier: MIT
// storages3.h: a write, an update, a sum and a step of heat of f32 by the engine in three
// dimensions, in compact storage and in a volume; and of fractals that are a layer of one also by
// the engine in two dimensions, so that the two can be compared.
#ifndef BENCH_FRACTAL_STORAGES3_H
#define BENCH_FRACTAL_STORAGES3_H

#include <threadmap/fractal.h>
#include <threadmap/fractal3.h>

enum { STORE_WRITE, STORE_UPDATE, STORE_SUM, STORE_HEAT, STORE_WORKS };
static const char *const store_works[STORE_WORKS] = {"write", "update", "sum", "heat"};
static const int store_kinds[STORE_WORKS] = {TMAP_EACH_VISIT, TMAP_EACH_UPDATE, TMAP_EACH_FOLD,
                                             TMAP_EACH_STENCIL};

// Storages, each by one of the engines.
enum { STORE_COMPACT, STORE_MATRIX, STORE_COMPACT_2D, STORE_MATRIX_2D, STORE_VARIANTS };
static const char *const store_variants[STORE_VARIANTS] = {"compact", "matrix", "compact_2d",
                                                           "matrix_2d"};

typedef struct store_step {
    const float *in;
    float *out, value; // value: what is written; the factor of an update
    tmap_fold_to to;
} store_step;

#define STORE_RATE 0.03125f

// The next value of a cell from `count` places around it.
TMAP_FN float store_heat(const float *v, tmap_u32 around, tmap_u32 here, tmap_u32 count) {
    float sum = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i)
        if (around >> i & 1) sum += v[i] - v[here];
    return fmaf(STORE_RATE, sum, v[here]);
}

static __device__ void store_join(void *, void *sum, const void *other) {
    *(double *)sum += *(const double *)other;
}

// The four works by an engine. each: the prefix of its calls; cell: its cells; here, count: of the
// places of its stencil.
#define STORE_ENGINE(each, cell_type, stencil_here, count) \
    static __device__ void each##_store_write(void *job, cell_type cell) { \
        ((store_step *)job)->out[cell.at] = ((store_step *)job)->value; \
    } \
    static __device__ void each##_store_read(void *job, cell_type cell, void *value) { \
        *(float *)value = ((store_step *)job)->in[cell.at]; \
    } \
    static __device__ void each##_store_use(void *job, cell_type cell, const void *value) { \
        ((store_step *)job)->out[cell.at] = ((store_step *)job)->value * *(const float *)value; \
    } \
    static __device__ void each##_store_add(void *, void *sum, cell_type, const void *value) { \
        *(double *)sum += *(const float *)value; \
    } \
    static __device__ void each##_store_heat(void *, cell_type, tmap_u32 around, \
                                             const void *places, void *next) { \
        *(float *)next = store_heat((const float *)places, around, stencil_here, count); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        each##_write(tmap_##each##_plan plan, store_step s) { \
        tmap_##each(&plan, each##_store_write, &s); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        each##_update(tmap_##each##_plan plan, store_step s) { \
        tmap_##each##_update(&plan, each##_store_read, each##_store_use, &s); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        each##_sum(tmap_##each##_plan plan, store_step s) { \
        const double zero = 0; \
        const tmap_array in = {s.in, sizeof *s.in}; \
        const tmap_fold fold = {&zero, sizeof zero, store_join}; \
        tmap_##each##_fold(&plan, in, each##_store_add, fold, s.to, 0); \
    } \
    static __global__ void __launch_bounds__(HEAT_BOUNDS) \
        each##_heat(tmap_##each##_plan plan, store_step s) { \
        const tmap_array in = {s.in, sizeof *s.in}; \
        tmap_##each##_stencil(&plan, in, each##_store_heat, s.out, &s); \
    } \
    static const void *const each##_kernels[STORE_WORKS] = { \
        (const void *)each##_write, (const void *)each##_update, (const void *)each##_sum, \
        (const void *)each##_heat};
#define HEAT_BOUNDS 256, 3 // leaves 80 registers
STORE_ENGINE(each3, tmap_cell3, TMAP_HERE3, TMAP_AROUND3)
#undef HEAT_BOUNDS
#define HEAT_BOUNDS 512, 2
STORE_ENGINE(each, tmap_cell, TMAP_HERE, 9)
#undef HEAT_BOUNDS
#undef STORE_ENGINE

typedef struct store_job {
    tmap_nbb3 f;
    tmap_nbb flat; // the same in two dimensions; k is 0 for other fractals
    tmap_u32 r;
    int work, variant;
    tmap_pitch3 pitch;
    tmap_u64 cells, elements;
    tmap_each3_plan plan3;
    tmap_each_plan plan2;
    store_step step;
    double *want; // of a sum
} store_job;

static inline int store_is_2d(const store_job *j) { return j->variant >= STORE_COMPACT_2D; }

// A fractal of two dimensions as a layer of one.
static tmap_nbb3 store_layer(tmap_nbb f) {
    tmap_nbb3 layer = {f.k, f.sx, f.sy, 1, 0, 0, 0};
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        const tmap_xy t = tmap_nbb_tau(f, beta);
        layer.tau_x |= (tmap_u64)t.x << 2 * beta, layer.tau_y |= (tmap_u64)t.y << 2 * beta;
    }
    return layer;
}

static void store_plan(store_job *j) {
    const tmap_u64 pitch = j->pitch.row;
    if (store_is_2d(j))
        CHECK(tmap_each_plan_make(store_kinds[j->work], j->flat, j->r, pitch, each_kernels[j->work],
                                  &j->plan2));
    else
        CHECK(tmap_each3_plan_make(store_kinds[j->work], tmap_turned_plain(j->f), j->r, j->pitch,
                                   each3_kernels[j->work], &j->plan3));
}

static void store_run(void *context) {
    store_job *j = (store_job *)context;
    if (store_is_2d(j))
        CHECK(tmap_each_launch(&j->plan2, &j->step, 0));
    else
        CHECK(tmap_each3_launch(&j->plan3, &j->step, 0));
}

// ---- what is right ------------------------------------------------------------------------------

// The value that an element has at the start: a small number, so that sums are exact.
TMAP_FN float store_start(tmap_u64 element) { return (float)(check_hash(element, 17) & 0xff); }

static __device__ tmap_u64 store_element(const store_job *j, tmap_xyz64 c, tmap_u64 i) {
    const tmap_u64 width = tmap_nbb3_side_x(j->f, j->r);
    if (j->pitch.row == TMAP_COMPACT) return i;
    return (c.z * tmap_nbb3_side_y(j->f, j->r) + c.y) * width + c.x;
}

static __global__ void store_fill(float *to, tmap_u64 elements, int start) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < elements; i += gridDim.x * 256ull)
        to[i] = start ? store_start(i) : -1;
}

// Counts elements that a work has stored to; of a sum, adds up the cells instead.
static __global__ void store_count(store_job j, tmap_u64 *count) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < j.elements; i += gridDim.x * 256ull)
        if (j.step.out[i] != -1) atomicAdd(count, 1ull);
}
static __global__ void store_add_up(store_job j) {
    double sum = 0;
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < j.cells; i += gridDim.x * 256ull)
        sum += store_start(store_element(&j, tmap_nbb3_lambda_linear64(j.f, i, j.r), i));
    for (int lanes = 16; lanes; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(j.want, sum);
}

// Compares cells at random, 64 in a row.
static __global__ void store_check(store_job j, tmap_u64 samples, tmap_u64 *wrong) {
    const tmap_u64 t = blockIdx.x * 256ull + threadIdx.x;
    float v[TMAP_AROUND3] = {0}, want = j.step.value;
    tmap_u32 around = 0;
    if (t >= samples) return;
    const tmap_u64 i = j.cells <= samples ? t : check_hash(t / 64, 5) % j.cells + t % 64;
    if (i >= j.cells) return;
    const tmap_xyz64 c = tmap_nbb3_lambda_linear64(j.f, i, j.r);
    const tmap_u64 at = store_element(&j, c, i);
    if (j.work == STORE_UPDATE) want *= store_start(at);
    for (tmap_u32 n = 0; j.work == STORE_HEAT && n < TMAP_AROUND3; ++n) {
        const tmap_xyz64 p = {c.x + n % 3 - 1, c.y + n / 3 % 3 - 1, c.z + n / 9 - 1};
        if (!tmap_nbb3_contains64(j.f, p, j.r)) continue;
        around |= 1u << n;
        v[n] = store_start(store_element(&j, p, tmap_nbb3_nu_linear64(j.f, p, j.r)));
    }
    if (j.work == STORE_HEAT) want = store_heat(v, around, TMAP_HERE3, TMAP_AROUND3);
    if (j.step.out[at] != want) atomicAdd(wrong, 1ull);
}

// Runs the job once and counts what is wrong.
static tmap_u64 store_wrong(store_job *j) {
    const tmap_u64 samples = 1 << 22;
    tmap_u64 wrong;
    store_fill<<<4096, 256>>>(j->step.out, j->elements, j->work == STORE_UPDATE);
    if (j->step.in) store_fill<<<4096, 256>>>((float *)j->step.in, j->elements, 1);
    if (j->work == STORE_SUM) {
        double sums[2];
        CHECK(cudaMemset(j->want, 0, 8));
        store_add_up<<<4096, 256>>>(*j);
        store_run(j);
        CHECK(cudaMemcpy(&sums[0], j->want, 8, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(&sums[1], j->step.to.result, 8, cudaMemcpyDeviceToHost));
        return sums[0] != sums[1];
    }
    store_run(j);
    store_check<<<(unsigned)(samples / 256), 256>>>(*j, samples, bench_counter());
    wrong = bench_count();
    if (j->work == STORE_UPDATE) return wrong; // other elements have values too
    store_count<<<4096, 256>>>(*j, bench_counter());
    return wrong + (bench_count() != j->cells);
}

#endif
