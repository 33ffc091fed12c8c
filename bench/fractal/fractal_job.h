// SPDX-License-Identifier: MIT
// fractal_job.h: one variant of bench_fractal: a task, a map or an engine, a fractal, a level and a
// block; and a run of it.
#ifndef BENCH_FRACTAL_FRACTAL_JOB_H
#define BENCH_FRACTAL_FRACTAL_JOB_H

#include "engine.h"
#include "list.h"
#include "tensor_forms.h"
#include "tile_forms.h"

#include <threadmap/fractal/ca.h>
#include <threadmap/papers/box_kernels.h>

// What is done to the cells. In a task of two matrices the second one is written.
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

// 1 for the three tests of the paper, which all variants do; the others are the engine's alone.
static inline int task_is_old(int task) {
    return task == SW_I32 || task == RD_I32 || task == CA_U8;
}

// Variants: the maps of box.h, then the others; the forms of tensor.h with a block for each tile, and
// all but the first of them with blocks that walk.
enum {
    LINEAR = TMAP_BOX_MAP_COUNT,
    LIST,
    TILE_FORM,
    ENGINE = TILE_FORM + FORMS,
    LIFE,
    TENSOR,
    TENSOR_WALK = TENSOR + TMAP_TENSOR_FORM_COUNT,
    VARIANTS = TENSOR_WALK + TMAP_TENSOR_FORM_COUNT - 1
};

// The form of tensor.h of a variant, and the tiles that a block takes in turn.
static inline int tensor_form(int variant) {
    return variant < TENSOR_WALK ? variant - TENSOR : variant - TENSOR_WALK + 1;
}
static inline tmap_u32 tensor_walk(int variant) { return variant < TENSOR_WALK ? 1 : 16; }

static inline const char *variant_name(int variant) {
    static const char *const names[TENSOR - LINEAR] = {
        "lambda_linear", "list",     "tile_shuffle", "tile_redux",
        "tile_ballot",   "tile_mma", "engine",       "life"};
    if (variant >= TENSOR) {
        const int form = tensor_form(variant);
        return tmap_tensor_is_half(form) ? "wmma_fp16" : tmap_tensor_form_name(form);
    }
    return variant < LINEAR ? tmap_box_map_name(variant) : names[variant - LINEAR];
}

// One variant of a task at one size.
typedef struct job {
    tmap_nbb f;
    tmap_u32 r, rho;
    int task, variant;
    tmap_box box; // of the variants of boxes and of tensor.h
    bench_list list;
    tmap_each_plan plan; // of the engine
    tmap_life_plan life;
    void *in, *out; // the matrix before and after; the same one where there is one
    void *sum, *blocks;
    float factor; // of the update
    int processors;
    tmap_u64 cells, places, width, height;
    double limit_ms; // what the memory needs at least
} job;

// The name of a variant in results: the engine's is that of its verb.
static inline const char *job_variant(const job *j) {
    return j->variant == ENGINE ? tasks[j->task].engine : variant_name(j->variant);
}

static inline void list_run(job *j) {
    const bench_list *l = &j->list;
    unsigned blocks = (unsigned)((l->cells + 255) / 256), few = blocks < 1056 ? blocks : 1056;
    if (j->task == SW_I32)
        list_sw<<<blocks, 256>>>(l->entries, l->wide, l->cells, j->width, 7, (int *)j->out);
    if (j->task == RD_I32) {
        CHECK(cudaMemsetAsync(j->sum, 0, 8, 0));
        list_rd<<<few, 256>>>(l->entries, l->wide, l->cells, j->width, (const int *)j->in,
                              (tmap_i64 *)j->sum);
    }
    if (j->task == CA_U8)
        list_ca<<<blocks, 256>>>(l->entries, l->wide, l->cells, j->width, j->height, tmap_ca_life(),
                                 (const unsigned char *)j->in, (unsigned char *)j->out);
    CHECK(cudaGetLastError());
}

static inline void linear_run(job *j) {
    unsigned blocks = (unsigned)((j->cells + 255) / 256), few = blocks < 1056 ? blocks : 1056;
    if (j->task == SW_I32)
        plain_write<<<blocks, 256>>>(j->f, j->r, j->cells, j->width, 7, (int *)j->out);
    if (j->task == RD_I32) {
        CHECK(cudaMemsetAsync(j->sum, 0, 8, 0));
        plain_sum<<<few, 256>>>(j->f, j->r, j->cells, j->width, (const int *)j->in,
                                (tmap_i64 *)j->sum);
    }
    if (j->task == CA_U8)
        plain_life<<<blocks, 256>>>(j->f, j->r, j->cells, j->width, j->height, tmap_ca_life(),
                                    (const unsigned char *)j->in, (unsigned char *)j->out);
    CHECK(cudaGetLastError());
}

static inline void box_run(job *j) {
    if (j->task == SW_I32)
        CHECK(tmap_box_sw_i32(j->f, j->r, j->rho, j->variant, 7, (int *)j->out, 0));
    else if (j->task == RD_I32)
        CHECK(tmap_box_rd_i32(j->f, j->r, j->rho, j->variant, (const int *)j->in,
                              (tmap_i64 *)j->sum, 0));
    else
        CHECK(tmap_box_ca_u8(j->f, j->r, j->rho, j->variant, tmap_ca_life(),
                             (const unsigned char *)j->in, (unsigned char *)j->out, 0));
}

static inline void tensor_run(job *j) {
    const int form = tensor_form(j->variant);
    const tmap_u32 walk = tensor_walk(j->variant);
    if (j->task == SW_I32)
        CHECK(tensor_sw(form, j->f, j->box, walk, 7, (int *)j->out));
    else if (j->task == RD_I32)
        CHECK(tensor_rd(form, j->f, j->box, walk, (const int *)j->in, (tmap_i64 *)j->sum));
    else
        CHECK(tensor_ca(form, j->f, j->box, walk, tmap_ca_life(), (const unsigned char *)j->in,
                        (unsigned char *)j->out));
}

// The plan of the task's kernel. Made once, before anything is timed.
static inline void engine_prepare(job *j) {
    static const void *const kernels[TASKS] = {
        (const void *)engine_write_i32, (const void *)engine_write_u8, (const void *)engine_update,
        (const void *)engine_sum_i32,   (const void *)engine_sum_f32,  (const void *)engine_sum_u8,
        (const void *)engine_life,      (const void *)engine_heat};
    const void *kernel = kernels[j->task];
    if (j->task <= SW_U8)
        CHECK(tmap_each_plan_make(j->f, j->r, 0, kernel, &j->plan));
    else if (j->task == UPDATE_F32)
        CHECK(tmap_each_update_plan_make(j->f, j->r, 0, kernel, &j->plan));
    else if (j->task <= RD_U8)
        CHECK(tmap_each_fold_plan_make(j->f, j->r, 0, kernel, &j->plan));
    else
        CHECK(tmap_each_stencil_plan_make(j->f, j->r, 0, kernel, &j->plan));
    CHECK(cudaMalloc(&j->blocks, tmap_each_fold_bytes(&j->plan, 8)));
    CHECK(cudaMemset(j->blocks, 0, 16));
}

#define HEAT_RATE 0.125f

static inline void engine_run(job *j) {
    const write_i32 words = {(int *)j->out, 7};
    const write_u8 bytes = {(unsigned char *)j->out, 7};
    const scaling scale = {(float *)j->out, j->factor};
    const summing sum = {j->in, {j->blocks, j->sum}};
    const heat_step heat = {(const float *)j->in, (float *)j->out, HEAT_RATE};
    const life_step life = {(const unsigned char *)j->in, (unsigned char *)j->out};
    const void *const jobs[TASKS] = {&words, &bytes, &scale, &sum, &sum, &sum, &life, &heat};
    CHECK(tmap_each_launch(&j->plan, jobs[j->task], 0));
}

static inline void job_run(void *context) {
    job *j = (job *)context;
    if (j->variant < LINEAR)
        box_run(j);
    else if (j->variant == LINEAR)
        linear_run(j);
    else if (j->variant == LIST)
        list_run(j);
    else if (j->variant == ENGINE)
        engine_run(j);
    else if (j->variant >= TENSOR)
        tensor_run(j);
    else if (j->variant == LIFE)
        CHECK(tmap_life(&j->life, tmap_ca_life(), (const unsigned char *)j->in,
                        (unsigned char *)j->out, 0));
    else if (j->task == SW_I32)
        CHECK(form_sw(j->variant - TILE_FORM, j->r, 7, (int *)j->out, j->processors));
    else
        CHECK(form_rd(j->variant - TILE_FORM, j->r, (const int *)j->in, (tmap_i64 *)j->sum,
                      j->processors));
}

#endif
