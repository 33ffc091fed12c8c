// SPDX-License-Identifier: MIT
// dp.h: dynamic parallelism in a benchmark. Its kernels are relocatable code (-rdc=true) and are
// compiled apart, in a file that defines BENCH_DP_HERE; the others are compiled with BENCH_DP=1 if
// that file is linked. The CPU machine launches from any kernel.
#ifndef BENCH_DP_H
#define BENCH_DP_H

#if !defined(BENCH_DP)
#if defined(__CUDACC_VER_MAJOR__)
#define BENCH_DP 0
#else
#define BENCH_DP      1
#define BENCH_DP_HERE 1
#define TMAP_DP       1
#endif
#endif

#endif
