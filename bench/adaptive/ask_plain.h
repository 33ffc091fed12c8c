// SPDX-License-Identifier: MIT
// ask_plain.h: the exhaustive picture as one writes it first: a thread for each pixel, an escape
// test in every step. In blocks of several shapes, of which the fastest is the baseline.
#ifndef BENCH_ASK_PLAIN_H
#define BENCH_ASK_PLAIN_H

#include "../timing.h"

#include <threadmap/adaptive/mandelbrot.h>

enum { ASK_PLAIN_SHAPES = 19 };
// A warp of 8 x n blocks has 8 x 4 pixels, whose dwells differ least; of 32 x n, 32 in a row. From
// one warp to the largest block.
static const unsigned ask_plain_shapes[ASK_PLAIN_SHAPES][2] = {
    {16, 16}, {8, 8},  {8, 16}, {8, 32}, {32, 4}, {32, 8}, {64, 4},  {8, 4},   {4, 8},  {16, 4},
    {16, 8},  {4, 16}, {32, 1}, {32, 2}, {64, 8}, {8, 64}, {16, 32}, {32, 16}, {32, 32}};

// The library's step, with fused multiply-adds: two operations for |z|^2, four for z^2 + c.
static __global__ void ask_plain_kernel(tmapi_mandelbrot_f32_job p) {
    tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 y = blockIdx.y * blockDim.y + threadIdx.y;
    tmapi_mandelbrot_f32_point a;
    int d = 0;
    if (x >= p.to.nx || y >= p.to.ny) return;
    a = tmapi_mandelbrot_f32_begin(&p, x, y);
    while (d < p.to.dwell && tmapi_mandelbrot_f32_norm(a.zr, a.zi) < 4) {
        tmapi_mandelbrot_f32_step(&a);
        ++d;
    }
    p.to.out[(tmap_u64)y * p.to.nx + x] = d;
}

static void ask_plain_run(const tmap_mandelbrot *m, int shape, int *out) {
    dim3 block(ask_plain_shapes[shape][0], ask_plain_shapes[shape][1]);
    dim3 grid((m->nx + block.x - 1) / block.x, (m->ny + block.y - 1) / block.y);
    tmapi_mandelbrot_f32_job job = tmapi_mandelbrot_f32_job_make(m);
    job.to.out = out;
    ask_plain_kernel<<<grid, block>>>(job);
    CHECK(cudaGetLastError());
}

#endif
