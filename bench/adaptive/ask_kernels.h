// SPDX-License-Identifier: MIT
// ask_kernels.h: kernels of bench_ask beside the library's: the exhaustive picture as one writes it
// first, a thread for each pixel and an escape test in every step, in blocks of several shapes, of
// which the fastest is the baseline; and ASK in blocks of any size.
#ifndef BENCH_ASK_KERNELS_H
#define BENCH_ASK_KERNELS_H

#include "../timing.h"

#include <threadmap/papers/mandelbrot_approaches.h>

// ---- a thread for each pixel --------------------------------------------------------------------

enum { ASK_PLAIN_SHAPES = 19 };
// A warp of 8 x n blocks has 8 x 4 pixels, whose dwells differ least; of 32 x n, 32 in a row. From
// one warp to the largest block.
static const unsigned ask_plain_shapes[ASK_PLAIN_SHAPES][2] = {
    {16, 16}, {8, 8},  {8, 16}, {8, 32}, {32, 4}, {32, 8}, {64, 4},  {8, 4},   {4, 8},  {16, 4},
    {16, 8},  {4, 16}, {32, 1}, {32, 2}, {64, 8}, {8, 64}, {16, 32}, {32, 16}, {32, 32}};

// The library's step, with fused multiply-adds: two operations for |z|^2, four for z^2 + c.
static __global__ void ask_plain_kernel(tmapi_mandelbrot_job p) {
    tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 y = blockIdx.y * blockDim.y + threadIdx.y;
    tmapi_mandelbrot_z c, z;
    int d = 0;
    if (x >= p.nx || y >= p.ny) return;
    p.f64 = 0; // a constant
    z = c = tmapi_mandelbrot_c(&p, x, y);
    for (; d < p.dwell && tmapi_mandelbrot_inside(p.f64, z); ++d)
        tmapi_mandelbrot_step(p.f64, &z, c);
    p.out[(tmap_u64)y * p.nx + x] = d;
}

static void ask_plain_run(const tmap_mandelbrot *m, int shape, int *out) {
    dim3 block(ask_plain_shapes[shape][0], ask_plain_shapes[shape][1]);
    dim3 grid((m->nx + block.x - 1) / block.x, (m->ny + block.y - 1) / block.y);
    tmapi_mandelbrot_job job = tmapi_mandelbrot_job_make(m);
    job.out = out;
    ask_plain_kernel<<<grid, block>>>(job);
    CHECK(cudaGetLastError());
}

// ---- ASK in blocks of any size ------------------------------------------------------------------

// The kernels are those of the library but for their launch bounds, which leave a thread as many
// registers as theirs do.
enum { ASK_THREADS = 6 };
static const tmap_u32 ask_threads[ASK_THREADS] = {32, 64, 128, 256, 512, 768};

// 80 registers. The library's kernel has 64, for eight blocks of 128 threads on a multiprocessor;
// this one would spill.
static __global__ void __launch_bounds__(768)
    ask_shapes_block(tmap_ask_run run, tmapi_mandelbrot_job job) {
    const tmap_ask_pass leaves = {tmapi_mandelbrot_leaf_elements, tmapi_mandelbrot_leaf};
    const tmap_ask_pass lines = {tmapi_mandelbrot_share_elements, tmapi_mandelbrot_share};
    run.workspace.domain.dims = 2, job.f64 = 0;
    tmap_ask_sbr(&run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal, leaves, lines, &job);
}

// 64 registers: four blocks of 256.
static __global__ void __launch_bounds__(1024)
    ask_shapes_query(tmap_ask_run run, tmapi_mandelbrot_job job) {
    run.workspace.domain.dims = 2, job.f64 = 0;
    tmap_ask_query(&run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal_short,
                   tmap_ask_every_element, tmapi_mandelbrot_leaf_short, &job);
}

// 80 registers: three blocks of 256.
static __global__ void __launch_bounds__(768)
    ask_shapes_share(tmap_ask_run run, tmapi_mandelbrot_job job) {
    run.workspace.domain.dims = 2, job.f64 = 0;
    tmap_ask_share(&run, tmapi_mandelbrot_share_elements, tmapi_mandelbrot_share, &job);
}

static __global__ void __launch_bounds__(768)
    ask_shapes_finish(tmap_ask_run run, tmapi_mandelbrot_job job) {
    run.workspace.domain.dims = 2, job.f64 = 0;
    tmap_ask_finish(&run, tmapi_mandelbrot_terminal, tmapi_mandelbrot_leaf_elements,
                    tmapi_mandelbrot_leaf, &job);
}

// The plan of a form in blocks of `threads`. Returns cudaErrorInvalidConfiguration where a
// multiprocessor does not hold such a block, else what tmap_ask_plan_make does.
static cudaError_t ask_shapes_plan(const tmap_ask_workspace *w, int form, tmap_u32 threads,
                                   tmap_ask_plan *out) {
    const tmap_ask_kernels kernels = {
        form == TMAP_ASK_SBR ? (const void *)ask_shapes_block : (const void *)ask_shapes_query,
        (const void *)ask_shapes_finish, (const void *)ask_shapes_share, threads,
        sizeof(tmapi_mandelbrot_queue)};
    return form == TMAP_ASK_SBR ? tmap_ask_sbr_plan_make(w, &kernels, out)
                                : tmap_ask_plan_make(w, &kernels, out);
}

static cudaError_t ask_shapes_run(const tmap_ask_plan *plan, const tmapi_mandelbrot_job *job,
                                  int *out, cudaStream_t stream) {
    tmapi_mandelbrot_job now = *job;
    now.out = out;
    return tmap_ask_stream(plan, &now, stream);
}

#endif
