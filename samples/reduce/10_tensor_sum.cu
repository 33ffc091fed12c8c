// SPDX-License-Identifier: MIT
// 10_tensor_sum.cu: a sum over a block by tensor cores. A sum is a product with a matrix of ones;
// here the values are cut into bytes and added as integers, without a rounding error on the way.
// nvcc -O3 -arch=native -I include samples/reduce/10_tensor_sum.cu -o tensor_sum
#include <threadmap/reduce.h>
#include <math.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

// [snippet: tensor-sum]
__global__ void sums(const float *in, float *by_tensor_cores, float *by_shuffles) {
    __shared__ tmap_i64 scratch[32];
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    float sum = tmap_block_sum_f32_mma(value, scratch); // all threads call; thread 0 has the sum
    __syncthreads();                                    // scratch is free again
    float other = tmap_block_sum_f32_shuffle(value, scratch);
    if (threadIdx.x == 0) by_tensor_cores[blockIdx.x] = sum, by_shuffles[blockIdx.x] = other;
}
// [/snippet]

int main(void) {
    enum { BLOCKS = 8, THREADS = 256 };
    static float host[BLOCKS][THREADS], got[2][BLOCKS];
    float *in, *out;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (tmap_u32 i = 0; i < BLOCKS * THREADS; ++i) // large numbers of both signs, small sums
        host[i / THREADS][i % THREADS] = (i % 2 ? -1e6f : 1e6f) + (float)(i * i % 1000) / 1000;
    CHECK(cudaMalloc((void **)&in, sizeof host));
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    sums<<<BLOCKS, THREADS>>>(in, out, out + BLOCKS);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    puts("block  by tensor cores   by shuffles   in double precision");
    for (int b = 0; b < BLOCKS; ++b) {
        double sum = 0, size = 0;
        for (int i = 0; i < THREADS; ++i) sum += host[b][i], size += fabs(host[b][i]);
        printf("%5d  %15.4f  %12.4f  %20.4f\n", b, got[0][b], got[1][b], sum);
        wrong += got[0][b] != (float)sum; // exact, as the values are multiples of 1/16
        wrong += !(fabs(got[1][b] - sum) <= 10.00001 * ldexp(size, -24));
    }
    printf("by tensor cores exact, by shuffles within 10 roundings: %s\n", wrong ? "WRONG" : "ok");
    return cudaFree(in) || cudaFree(out) || wrong;
}
