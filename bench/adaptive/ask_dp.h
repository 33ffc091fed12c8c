// SPDX-License-Identifier: MIT
// ask_dp.h: pictures by dynamic parallelism, which need code of their own kind (-rdc=true) and are
// therefore compiled apart, in ask_dp.cu; the CPU machine launches from any kernel.
#ifndef BENCH_ASK_DP_H
#define BENCH_ASK_DP_H

#if !defined(BENCH_DP)
#if defined(__CUDACC_VER_MAJOR__)
#define BENCH_DP 0
#else
#define BENCH_DP           1
#define BENCH_DP_HERE      1
#define TMAP_MANDELBROT_DP 1
#endif
#endif

#if defined(BENCH_DP_HERE)
#include <threadmap/papers/mandelbrot_dp.h>
#else
#include <threadmap/adaptive/mandelbrot.h>
#endif

enum { ASK_DP_THREADS = 512 }; // the most of a block

#if BENCH_DP
// form: a tmap_ask_form. threads: of a block, 0 for 256. columns: memory for those of borders, or
// null. *lost, in device memory, becomes the number of launches that found no place among the
// pending ones.
cudaError_t ask_dp_run(const tmap_mandelbrot *m, int form, tmap_ask_params a, tmap_u32 threads,
                       int *columns, tmap_u64 *lost, int *out);
#endif

#if defined(BENCH_DP_HERE)
cudaError_t ask_dp_run(const tmap_mandelbrot *m, int form, tmap_ask_params a, tmap_u32 threads,
                       int *columns, tmap_u64 *lost, int *out) {
    return tmap_mandelbrot_dp_f32(m, form, a, threads, 0, columns, lost, out, 0);
}
#endif

#endif
