// SPDX-License-Identifier: MIT
// drmsd_mma.h: the dRMSD of all frames of a trajectory against all, on tensor cores: several times
// as fast as drmsd_matrix.h, and less exact.
//
// Vectors of distances are measured from their mean over some frames, rounded to numbers of half
// precision, and multiplied: |u - v|^2 = |u|^2 + |v|^2 - 2 u v. How: see drmsd_mma_tile.h.
// Source: as for drmsd_atoms.h.
#ifndef TMAP_TRIANGLE_DRMSD_MMA_H
#define TMAP_TRIANGLE_DRMSD_MMA_H

#include "../launch.h"
#include "drmsd_matrix.h"
#include "drmsd_mma_tile.h"

// As what a distance is multiplied.
typedef enum tmap_drmsd_mma_form {
    TMAP_DRMSD_MMA_HALF = 1, // a number of 11 bits: one product
    TMAP_DRMSD_MMA_SPLIT = 2 // the sum of two of them: three products, and 22 bits
} tmap_drmsd_mma_form;

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- kernels ------------------------------------------------------------------------------------

// Compiled for less than compute capability 8.0, they do nothing, and are not launched.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define TMAPI_DRMSD_MMA 0
#else
#define TMAPI_DRMSD_MMA 1
#endif

static __global__ void __launch_bounds__(TMAPI_MATRIX_SIDE)
    tmapi_drmsd_mma_write_kernel(tmapi_matrix m) {
#if TMAPI_DRMSD_MMA
    __shared__ uint4 bricks[4 * TMAPI_DRMSD_MMA_BRICK];
    tmapi_drmsd_mma_write(&m, bricks);
#else
    (void)m;
#endif
}
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS)
    tmapi_drmsd_mma_half_kernel(tmapi_matrix m) {
#if TMAPI_DRMSD_MMA
    extern __shared__ uint4 tmapi_pairs_shared[];
    tmapi_drmsd_mma_tile(&m, 1, tmapi_pairs_shared);
#else
    (void)m;
#endif
}
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS)
    tmapi_drmsd_mma_split_kernel(tmapi_matrix m) {
#if TMAPI_DRMSD_MMA
    extern __shared__ uint4 tmapi_pairs_shared[];
    tmapi_drmsd_mma_tile(&m, 2, tmapi_pairs_shared);
#else
    (void)m;
#endif
}

// ---- launches -----------------------------------------------------------------------------------

// Makes a plan for tensor cores. form: a tmap_drmsd_mma_form; all else as for
// tmap_drmsd_matrix_plan_make. The workspace has 2 or 4 bytes for each distance, which makes it as
// large as that of drmsd_matrix.h or half as large.
// Returns cudaErrorInvalidValue for an unknown form, and what that function returns; else
// cudaErrorNotSupported where the current GPU has no such tensor cores (before compute capability
// 8.0), or the program was not compiled for them: drmsd_matrix.h runs there.
static inline cudaError_t tmap_drmsd_mma_plan_make(tmap_u64 frames, tmap_u32 n,
                                                   const tmap_drmsd_atoms *which, int form,
                                                   tmap_u64 most, tmap_drmsd_matrix_plan *plan) {
    struct cudaFuncAttributes attributes;
    cudaError_t error;
    if (form != TMAP_DRMSD_MMA_HALF && form != TMAP_DRMSD_MMA_SPLIT) return cudaErrorInvalidValue;
    error = cudaFuncGetAttributes(&attributes, (const void *)tmapi_drmsd_mma_half_kernel);
    if (error) return error;
    if (attributes.ptxVersion < 80 || attributes.binaryVersion < 80) return cudaErrorNotSupported;
    return tmapi_matrix_plan_make(frames, n, which, (tmap_u32)form, most, plan);
}

// Writes the dRMSD of all pairs of frames. plan: of tmap_drmsd_mma_plan_make, which was called for
// the current GPU. All else as for tmap_drmsd_matrix, but for what follows.
// Exactness. Let a and b be the dRMSD of both frames from the median of up to 32 frames, and P the
// pairs of atoms that count. The result is that of distances, measured from the median, that are
// rounded to 11 bits: it is off by 2^-11 (a + b) at most, and as rounding errors cancel, by some
// 2^-12 (a + b) / sqrt(P). Of TMAP_DRMSD_MMA_SPLIT this is 2^-21 (a + b) at most, and the square of
// the result is off by up to 2^-22 (a + b)^2 for the product of the second halves, left out.
// What tensor cores cut off adds some 2^-23 (a^2 + b^2) to the square. Before all that a distance
// is a float, off by 2^-22 of itself at most: this adds up to 2^-21 of the root mean square d of
// the distances, and as errors cancel, some 2^-22 d / sqrt(P). So frames that are as far from each
// other as from the median have 6 or 5 right digits, and those a hundred times nearer 3; of frames
// of 200 atoms that all differ by 0.001 Angstrom, TMAP_DRMSD_MMA_SPLIT has 4 or 5.
// Equal frames have 0, always; no result is negative. The same in every run; GPUs of different
// kinds may differ in what tensor cores cut off.
// Range: all distances are scaled by one power of two, by which the largest extent of a frame fits
// a number of half precision. One frame that is 10^4 times as large as the others costs these
// nothing.
// Cost: one or three multiplications of tensor cores for each pair of atoms and pair of frames; for
// each distance some 25 instructions.
static inline cudaError_t tmap_drmsd_mma(const tmap_drmsd_matrix_plan *plan, const float *frames,
                                         const tmap_drmsd_atoms *which, tmap_u64 reference,
                                         void *workspace, float *out, cudaStream_t stream) {
    tmapi_matrix_form form = {(const void *)tmapi_drmsd_mma_write_kernel,
                              (const void *)tmapi_drmsd_mma_half_kernel, TMAPI_DRMSD_MMA_NORM,
                              TMAPI_DRMSD_MMA_BYTES};
    cudaError_t error;
    if (!plan || !plan->planes) return cudaErrorInvalidValue;
    if (plan->planes == TMAP_DRMSD_MMA_SPLIT)
        form.sums = (const void *)tmapi_drmsd_mma_split_kernel;
    error = tmapi_launch_shared(form.sums, TMAPI_DRMSD_MMA_BYTES);
    if (error) return error;
    return tmapi_matrix_run(plan, &form, frames, which, reference, workspace, out, stream);
}

#endif
#endif
