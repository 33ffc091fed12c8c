// SPDX-License-Identifier: MIT
// reduce_wmma.h: the sum of 256 numbers in half precision by a warp, with WMMA, CUDA's C++ interface
// to tensor cores (Navarro et al., FGCS 113 (2020), section 6.2).
//
// A row of ones times the matrix of the numbers holds the sums of its columns. Halves are exact for
// integers up to 2048, the sums for those up to 2^24; tmap_warp_sum_i32_mma (reduce.h) is exact for
// all, and needs no memory.
#ifndef TMAP_REDUCE_WMMA_H
#define TMAP_REDUCE_WMMA_H

#include "warp.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_fp16.h>
#include <mma.h>

// The sum, in all lanes of a full warp, which calls it together. numbers: 256 halves, columns: 256
// floats of any content, in shared memory at multiples of 32 bytes, for reuse after a __syncwarp().
// Cost: one product, 1 KB written to shared memory, 5 shuffles.
// Example: 256 times 2048: 524288; 2049 is 2048 as a half.
TMAP_DEVICE float tmap_warp_sum_f16_wmma(const __half *numbers, float *columns) {
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> a;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major> b;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
    const tmap_warp w = tmap_warp_full();
    nvcuda::wmma::fill_fragment(a, __float2half(1.0f));
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    nvcuda::wmma::load_matrix_sync(b, numbers, 16);
    nvcuda::wmma::mma_sync(sums, a, b, sums);
    nvcuda::wmma::store_matrix_sync(columns, sums, 16, nvcuda::wmma::mem_row_major);
    __syncwarp();
    return tmap_warp_sum_f32_shuffle(w, w.lane < 16 ? columns[w.lane] : 0);
}

#endif

#endif
