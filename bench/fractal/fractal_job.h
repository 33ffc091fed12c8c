// SPDX-License-Identifier: MIT
// fractal_job.h: one variant of bench_fractal: a task, a map or an engine, a fractal, a level and a
// block; and a run of it.
#ifndef BENCH_FRACTAL_FRACTAL_JOB_H
#define BENCH_FRACTAL_FRACTAL_JOB_H

#include "engine.h"
#include "fractal_work.h"
#include "list.h"
#include "tensor_forms.h"
#include "tile_forms.h"

#include <threadmap/fractal/ca.h>
#include <threadmap/papers/box_kernels.h>

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
    fractal_work w;
    tmap_u32 rho;
    int variant;
    tmap_box box; // of the variants of boxes and of tensor.h
    bench_list list;
    tmap_each_plan plan; // of the engine
    tmap_ca_plan life;   // of bytes
    void *blocks;
    int processors;
} job;

// The name of a variant in results: the engine's is that of its verb.
static inline const char *job_variant(const job *j) {
    return j->variant == ENGINE ? tasks[j->w.task].engine : variant_name(j->variant);
}

// A thread for each cell: by the plain map, or by the list.
static inline void cells_run(job *j) {
    static const void *const kernels[3] = {(const void *)list_sw, (const void *)list_rd,
                                           (const void *)list_ca};
    fractal_work *w = &j->w;
    const int listed = j->variant == LIST, test = w->task == SW_I32 ? 0 : w->task == RD_I32 ? 1 : 2;
    const unsigned blocks = (unsigned)((w->cells + 255) / 256), few = blocks < 1056 ? blocks : 1056;
    int value = 7;
    tmap_ca_rule rule = tmap_ca_life();
    void *first = listed ? (void *)&j->list.entries : &w->f;
    void *second = listed ? (void *)&j->list.wide : &w->r;
    void *write[] = {first, second, &w->cells, &w->width, &value, &w->out};
    void *sum[] = {first, second, &w->cells, &w->width, &w->in, &w->sum};
    void *step[] = {first, second, &w->cells, &w->width, &w->height, &rule, &w->in, &w->out};
    void **const arguments[] = {write, sum, step};
    if (test == 1) CHECK(cudaMemsetAsync(w->sum, 0, 8, 0));
    CHECK(cudaLaunchKernel(listed ? kernels[test] : plain_kernel(w->f, test),
                           dim3(test == 1 ? few : blocks), dim3(256), arguments[test], 0, 0));
}

static inline void box_run(job *j) {
    if (j->w.task == SW_I32)
        CHECK(tmap_box_sw_i32(j->w.f, j->w.r, j->rho, j->variant, 7, (int *)j->w.out, 0));
    else if (j->w.task == RD_I32)
        CHECK(tmap_box_rd_i32(j->w.f, j->w.r, j->rho, j->variant, (const int *)j->w.in,
                              (tmap_i64 *)j->w.sum, 0));
    else
        CHECK(tmap_box_ca_u8(j->w.f, j->w.r, j->rho, j->variant, tmap_ca_life(),
                             (const unsigned char *)j->w.in, (unsigned char *)j->w.out, 0));
}

static inline void tensor_run(job *j) {
    const int form = tensor_form(j->variant);
    fractal_work *w = &j->w;
    int value = 7;
    tmap_ca_rule rule = tmap_ca_life();
    void *write[] = {&w->f, &j->box, &value, &w->out}, *sum[] = {&w->f, &j->box, &w->in, &w->sum};
    void *step[] = {&w->f, &j->box, &rule, &w->in, &w->out};
    void **const arguments[] = {write, sum, step};
    const int test = w->task == SW_I32 ? 0 : w->task == RD_I32 ? 1 : 2;
    if (test == 1) CHECK(cudaMemsetAsync(w->sum, 0, 8, 0));
    CHECK(tensor_launch(tensor_find(test, form, w->f), j->box, tensor_walk(j->variant),
                        arguments[test]));
}

// The plan of the task's kernel. Made once, before anything is timed.
static inline void engine_prepare(job *j) {
    static const void *const kernels[TASKS] = {
        (const void *)engine_write_i32, (const void *)engine_write_u8, (const void *)engine_update,
        (const void *)engine_sum_i32,   (const void *)engine_sum_f32,  (const void *)engine_sum_u8,
        (const void *)engine_life,      (const void *)engine_heat};
    const int work = j->w.task <= SW_U8        ? TMAP_EACH_VISIT
                     : j->w.task == UPDATE_F32 ? TMAP_EACH_UPDATE
                     : j->w.task <= RD_U8      ? TMAP_EACH_FOLD
                                               : TMAP_EACH_STENCIL;
    CHECK(tmap_each_plan_make(work, j->w.f, j->w.r, 0, kernels[j->w.task], &j->plan));
    j->blocks = kit_device(tmap_each_fold_bytes(&j->plan, 8));
    CHECK(cudaMemset(j->blocks, 0, 16));
}

static inline void engine_run(job *j) {
    const write_i32 words = {(int *)j->w.out, 7};
    const write_u8 bytes = {(unsigned char *)j->w.out, 7};
    const scaling scale = {(float *)j->w.out, j->w.factor};
    const summing sum = {j->w.in, {j->blocks, j->w.sum}};
    const heat_step heat = {(const float *)j->w.in, (float *)j->w.out, HEAT_RATE};
    const life_step life = {(const unsigned char *)j->w.in, (unsigned char *)j->w.out};
    const void *const jobs[TASKS] = {&words, &bytes, &scale, &sum, &sum, &sum, &life, &heat};
    CHECK(tmap_each_launch(&j->plan, jobs[j->w.task], 0));
}

static inline void job_run(void *context) {
    job *j = (job *)context;
    if (j->variant < LINEAR)
        box_run(j);
    else if (j->variant <= LIST)
        cells_run(j);
    else if (j->variant == ENGINE)
        engine_run(j);
    else if (j->variant >= TENSOR)
        tensor_run(j);
    else if (j->variant == LIFE)
        CHECK(tmap_ca(&j->life, tmap_ca_life(), j->w.in, j->w.out, 0));
    else if (j->w.task == SW_I32)
        CHECK(form_sw(j->variant - TILE_FORM, j->w.r, 7, (int *)j->w.out, j->processors));
    else
        CHECK(form_rd(j->variant - TILE_FORM, j->w.r, (const int *)j->w.in, (tmap_i64 *)j->w.sum,
                      j->processors));
}

#endif
