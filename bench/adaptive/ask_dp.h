// SPDX-License-Identifier: MIT
// ask_dp.h: pictures by dynamic parallelism, which need code of their own kind (-rdc=true) and are
// therefore compiled apart, in ask_dp.cu; the CPU machine has none.
#ifndef BENCH_ASK_DP_H
#define BENCH_ASK_DP_H

#include <threadmap/adaptive/mandelbrot.h>

#ifndef BENCH_DP
#define BENCH_DP 0
#endif

#if BENCH_DP
// form: a tmap_ask_form. columns: memory for those of borders, or null. *lost, in device memory,
// becomes the number of launches that found no place among the pending ones.
cudaError_t ask_dp_run(const tmap_mandelbrot *m, int form, tmap_ask_params a, int *columns,
                       tmap_u64 *lost, int *out);
#endif

#endif
