// SPDX-License-Identifier: MIT
// 25_warp_and_wmma_sums.cu: a sum over a warp with WMMA, CUDA's C++ interface to tensor cores,
// compared with the exact sum of this library.
//
// A sum is a product with a matrix of ones. If the matrix B holds the 256 numbers of a warp,
// 16 x 16, every row of ones x B holds the sums of the columns. The operands have half precision,
// which is exact for integers up to 2048, and the sums have single precision, which is exact for
// them up to 2^24. Larger numbers are rounded. tmap_warp_sum_i32_mma cuts integers into bytes and
// is exact for all of them. It needs no shared memory.
// nvcc -O3 -arch=native -I include samples/reduce/25_warp_and_wmma_sums.cu -o warp_and_wmma_sums
#include "../check.h"

#include <threadmap/reduce.h>

#include <cuda_fp16.h>
#include <mma.h>

enum {
    SIDE = 16, // of the matrices
    NUMBERS = SIDE * SIDE,
    LANES = 32,       // of a warp
    HALF_EXACT = 2048 // half precision holds all integers up to it
};

using namespace nvcuda;

// The sum of 256 numbers, for one warp.
__device__ float sum_by_wmma(const half *numbers) {
    __shared__ alignas(32) float columns[NUMBERS];
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, half, wmma::row_major> ones;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, half, wmma::row_major> values;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sums;
    wmma::fill_fragment(ones, __float2half(1.0f));
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(values, numbers, SIDE);
    wmma::mma_sync(sums, ones, values, sums); // sums += ones x values
    wmma::store_matrix_sync(columns, sums, SIDE, wmma::mem_row_major);
    __syncwarp();
    const float column = threadIdx.x < SIDE ? columns[threadIdx.x] : 0.0f; // of the first row
    return tmap_warp_sum_f32_shuffle(tmap_warp_self(), column);
}

typedef struct results {
    tmap_i64 by_wmma;  // in half precision
    tmap_i64 by_bytes; // on tensor cores too
} results;

// For one warp.
__global__ void warp_sums(const int *in, results *out) {
    __shared__ alignas(32) half numbers[NUMBERS];
    int mine = 0;
    for (tmap_u32 i = threadIdx.x; i < NUMBERS; i += LANES) {
        numbers[i] = __float2half((float)in[i]);
        mine += in[i];
    }
    __syncwarp();
    const float rounded = sum_by_wmma(numbers);
    const tmap_i64 exact = tmap_warp_sum_i32_mma(tmap_warp_self(), mine);
    if (threadIdx.x == 0) {
        out->by_wmma = (tmap_i64)rounded;
        out->by_bytes = exact;
    }
}

int main(void) {
    const int largest[] = {100, HALF_EXACT, 30000};
    int numbers[NUMBERS];
    check_gpu();

    int *in;
    results *out;
    CHECK(cudaMalloc((void **)&in, sizeof numbers));
    CHECK(cudaMalloc((void **)&out, sizeof *out));
    int wrong = 0;
    puts("largest number  by WMMA, half precision  by tensor cores, bytes      true sum");
    for (int l = 0; l < 3; ++l) {
        tmap_i64 want = 0;
        for (int i = 0; i < NUMBERS; ++i) {
            numbers[i] = largest[l] - 3 * (i % 16);
            want += numbers[i];
        }
        results got;
        CHECK(cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice));
        warp_sums<<<1, LANES>>>(in, out);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
        printf("%14d  %23lld  %22lld  %12lld\n", largest[l], got.by_wmma, got.by_bytes, want);
        wrong += got.by_bytes != want;
        wrong += largest[l] <= HALF_EXACT && got.by_wmma != want;
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return check_result("exact in bytes, and by WMMA up to 2048", wrong);
}
