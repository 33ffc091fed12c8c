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
#endif

#if defined(BENCH_DP_HERE)
cudaError_t ask_dp_run(const tmap_mandelbrot *m, const tmap_mandelbrot_dp *how, int *out) {
    return tmap_mandelbrot_dp_run(m, how, out, 0);
}

cudaError_t ask_published_run(const tmap_mandelbrot *m, const tmap_published_call *how, int *out) {
    return tmap_mandelbrot_published_f32(m, how, out, 0);
}
#endif

#endif
