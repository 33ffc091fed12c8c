// SPDX-License-Identifier: MIT
// 25_wmma_sum.cu: a sum over a warp by WMMA, the C++ interface of CUDA to tensor cores, beside the
// exact sum of this library.
//
// A sum is a product with a matrix of ones: with B the 256 numbers of a warp, 16 x 16, every row of
// ones x B holds the sums of the columns. The operands are of half precision, which holds integers
// up to 2048, and the sums of single precision, which holds them up to 2^24. Larger numbers are
// rounded. tmap_warp_sum_i32_mma cuts integers into bytes and is exact for all of them; it needs
// no shared memory.
// nvcc -O3 -arch=native -I include samples/reduce/25_wmma_sum.cu -o wmma_sum
#include <threadmap/reduce.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdio.h>

#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { SIDE = 16, NUMBERS = SIDE * SIDE };

// [snippet: wmma-sum]
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
    wmma::mma_sync(sums, ones, values, sums);
    wmma::store_matrix_sync(columns, sums, SIDE, wmma::mem_row_major);
    __syncwarp();
    float column = threadIdx.x < SIDE ? columns[threadIdx.x] : 0.0f;
    return tmap_warp_sum_f32_shuffle(tmap_warp_self(), column);
}
// [/snippet]

// sums[0]: by WMMA in half precision; sums[1]: by tensor cores in bytes. One warp.
__global__ void warp_sums(const int *in, tmap_i64 *sums) {
    __shared__ alignas(32) half numbers[NUMBERS];
    int mine = 0;
    for (tmap_u32 i = threadIdx.x; i < NUMBERS; i += 32) {
        numbers[i] = __float2half((float)in[i]);
        mine += in[i];
    }
    __syncwarp();
    float rounded = sum_by_wmma(numbers);
    tmap_i64 exact = tmap_warp_sum_i32_mma(tmap_warp_self(), mine);
    if (threadIdx.x == 0) {
        sums[0] = (tmap_i64)rounded;
        sums[1] = exact;
    }
}

int main(void) {
    const int largest[] = {100, 2048, 30000};
    int host[NUMBERS];
    int *in;
    tmap_i64 got[2];
    tmap_i64 *sums;
    int devices;
    int wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;

    CHECK(cudaMalloc((void **)&in, sizeof host));
    CHECK(cudaMalloc((void **)&sums, sizeof got));
    puts("largest number  by WMMA, half precision  by tensor cores, bytes      true sum");
    for (int l = 0; l < 3; ++l) {
        tmap_i64 want = 0;
        for (int i = 0; i < NUMBERS; ++i) {
            host[i] = largest[l] - 3 * (i % 16);
            want += host[i];
        }
        CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
        warp_sums<<<1, 32>>>(in, sums);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
        printf("%14d  %23lld  %22lld  %12lld\n", largest[l], got[0], got[1], want);
        wrong += got[1] != want;
        wrong += largest[l] <= 2048 && got[0] != want;
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(sums));
    printf("exact in bytes, and by WMMA up to 2048: %s\n", wrong ? "WRONG" : "ok");
    return wrong;
}
