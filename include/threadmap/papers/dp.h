// SPDX-License-Identifier: MIT
// dp.h: whether kernels may launch kernels (CUDA dynamic parallelism) in this file. TMAP_DP is 1 in
// files compiled with -rdc=true, which are linked with cudadevrt, else 0. Define it as 1 before the
// include if such launches work although the compiler is not nvcc.
#ifndef TMAP_PAPERS_DP_H
#define TMAP_PAPERS_DP_H

#if !defined(TMAP_DP)
#if defined(__CUDACC_RDC__)
#define TMAP_DP 1
#else
#define TMAP_DP 0
#endif
#endif

#endif
