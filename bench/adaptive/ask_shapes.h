// SPDX-License-Identifier: MIT
// ask_shapes.h: the Mandelbrot set by ASK in blocks of any size, in bench_ask: kernels that are
// those of the library but for their launch bounds, which leave a thread as many registers as
// theirs do.
#ifndef BENCH_ASK_SHAPES_H
#define BENCH_ASK_SHAPES_H

#include "../timing.h"

#include <threadmap/papers/mandelbrot_approaches.h>

enum { ASK_THREADS = 6 };
static const tmap_u32 ask_threads[ASK_THREADS] = {32, 64, 128, 256, 512, 768};

// 80 registers: with the 64 of the library's kernel, of which a multiprocessor holds eight blocks
// of 128, some stand in memory.
static __global__ void __launch_bounds__(768)
    ask_shapes_block(tmap_ask_run run, tmapi_mandelbrot_f32_job job) {
    const tmap_ask_pass leaves = {tmapi_mandelbrot_leaf_elements, tmapi_mandelbrot_f32_leaf};
    const tmap_ask_pass lines = {tmapi_mandelbrot_share_elements, tmapi_mandelbrot_f32_share};
    run.workspace.domain.dims = 2;
    tmap_ask_sbr(&run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal, leaves, lines, &job);
}

// 64 registers: four blocks of 256.
static __global__ void __launch_bounds__(1024)
    ask_shapes_query(tmap_ask_run run, tmapi_mandelbrot_f32_job job) {
    run.workspace.domain.dims = 2;
    tmap_ask_query(&run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal_short,
                   tmap_ask_every_element, tmapi_mandelbrot_f32_leaf_short, &job);
}

// 80 registers: three blocks of 256.
static __global__ void __launch_bounds__(768)
    ask_shapes_share(tmap_ask_run run, tmapi_mandelbrot_f32_job job) {
    run.workspace.domain.dims = 2;
    tmap_ask_share(&run, tmapi_mandelbrot_share_elements, tmapi_mandelbrot_f32_share, &job);
}

static __global__ void __launch_bounds__(768)
    ask_shapes_finish(tmap_ask_run run, tmapi_mandelbrot_f32_job job) {
    run.workspace.domain.dims = 2;
    tmap_ask_finish(&run, tmapi_mandelbrot_terminal, tmapi_mandelbrot_leaf_elements,
                    tmapi_mandelbrot_f32_leaf, &job);
}

// The plan of a form in blocks of `threads`. Returns cudaErrorInvalidConfiguration where a
// multiprocessor does not hold such a block, else what tmap_ask_plan_make does.
static cudaError_t ask_shapes_plan(const tmap_ask_workspace *w, int form, tmap_u32 threads,
                                   tmap_ask_plan *out) {
    const tmap_ask_kernels kernels = {
        form == TMAP_ASK_SBR ? (const void *)ask_shapes_block : (const void *)ask_shapes_query,
        (const void *)ask_shapes_finish, (const void *)ask_shapes_share, threads,
        TMAPI_MANDELBROT_SCRATCH};
    return form == TMAP_ASK_SBR ? tmap_ask_sbr_plan_make(w, &kernels, out)
                                : tmap_ask_plan_make(w, &kernels, out);
}

static cudaError_t ask_shapes_run(const tmap_ask_plan *plan, const tmapi_mandelbrot_f32_job *job,
                                  int *out, cudaStream_t stream) {
    tmapi_mandelbrot_f32_job now = *job;
    now.to.out = out;
    return tmap_ask_stream(plan, &now, stream);
}

#endif
