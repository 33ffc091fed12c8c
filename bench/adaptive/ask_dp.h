// SPDX-License-Identifier: MIT
// ask_dp.h: pictures by dynamic parallelism, which need code of their own kind (-rdc=true) and are
// therefore compiled apart, in ask_dp.cu; the CPU machine launches from any kernel.
#ifndef BENCH_ASK_DP_H
#define BENCH_ASK_DP_H

#include "../dp.h"

#include <threadmap/papers/mandelbrot_published.h>

enum { ASK_DP_THREADS = 512 }; // the most of a block

#if BENCH_DP
cudaError_t ask_dp_run(const tmap_mandelbrot *m, const tmap_mandelbrot_dp *how, int *out);
cudaError_t ask_published_run(const tmap_mandelbrot *m, const tmap_published_call *how, int *out);

// Launches `kernels` kernels of one thread each from a kernel; each ends after `reads` reads in turn.
// at: two zeros in device memory; at[1] receives how many ran at once.
void ask_dp_concurrent(unsigned kernels, unsigned reads, unsigned *at);
#endif

#if defined(BENCH_DP_HERE)
cudaError_t ask_dp_run(const tmap_mandelbrot *m, const tmap_mandelbrot_dp *how, int *out) {
    return tmap_mandelbrot_dp_run(m, how, out, 0);
}

cudaError_t ask_published_run(const tmap_mandelbrot *m, const tmap_published_call *how, int *out) {
    return tmap_mandelbrot_published_f32(m, how, out, 0);
}

static __global__ void ask_dp_child(unsigned *at, unsigned reads) {
    atomicMax(&at[1], atomicAdd(&at[0], 1u) + 1);
    for (; reads; reads -= *(volatile unsigned *)at != ~0u) {
    } // waits for each
    atomicSub(&at[0], 1u);
}
static __global__ void ask_dp_parent(unsigned kernels, unsigned reads, unsigned *at) {
    for (; kernels; --kernels) ask_dp_child<<<1, 1, 0, TMAPI_MANDELBROT_DP_STREAM>>>(at, reads);
}
void ask_dp_concurrent(unsigned kernels, unsigned reads, unsigned *at) {
    ask_dp_parent<<<1, 1>>>(kernels, reads, at);
}
#endif

#endif
