// SPDX-License-Identifier: MIT
// 10_tensor_sum.cu: a sum of floats over a block, with tensor cores and with shuffles.
//
// A sum is a product with a matrix of ones. On tensor cores the values are cut into bytes and added
// as integers, so that no addition rounds. With shuffles floats are added, in up to ten steps that
// round.
// nvcc -O3 -arch=native -I include samples/reduce/10_tensor_sum.cu -o tensor_sum
#include "../check.h"

#include <threadmap/reduce.h>

#include <math.h>

enum {
    BLOCKS = 8,
    THREADS = 256 // of a block
};

__global__ void sums(const float *in, float *by_tensor_cores, float *by_shuffles) {
    __shared__ tmap_i64 scratch[32];
    const float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    const float exact = tmap_block_sum_f32_mma(value, scratch); // all threads call it
    __syncthreads();                                            // scratch is free again
    const float rounded = tmap_block_sum_f32_shuffle(value, scratch);
    if (threadIdx.x == 0) { // thread 0 has the sums
        by_tensor_cores[blockIdx.x] = exact;
        by_shuffles[blockIdx.x] = rounded;
    }
}

// Large numbers of both signs whose sum is small.
static float number(int i) {
    const float large = i % 2 ? -1e6f : 1e6f;
    const float small = (float)(i * i % 1000) / 1000;
    return large + small;
}

// 1 if the sum by shuffles is off by more than ten roundings of the sum of all |values|.
static int is_off(float by_shuffles, double sum, double sum_of_sizes) {
    const double rounding = ldexp(1, -24);
    return !(fabs(by_shuffles - sum) <= 10 * rounding * 1.000001 * sum_of_sizes);
}

int main(void) {
    static float numbers[BLOCKS][THREADS];
    float by_tensor_cores[BLOCKS];
    float by_shuffles[BLOCKS];
    check_gpu();

    for (int i = 0; i < BLOCKS * THREADS; ++i) numbers[i / THREADS][i % THREADS] = number(i);
    float *in;
    float *out[2];
    CHECK(cudaMalloc((void **)&in, sizeof numbers));
    CHECK(cudaMalloc((void **)&out[0], sizeof by_tensor_cores));
    CHECK(cudaMalloc((void **)&out[1], sizeof by_shuffles));
    CHECK(cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    sums<<<BLOCKS, THREADS>>>(in, out[0], out[1]);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(by_tensor_cores, out[0], sizeof by_tensor_cores, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(by_shuffles, out[1], sizeof by_shuffles, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out[0]));
    CHECK(cudaFree(out[1]));

    int wrong = 0;
    puts("block  by tensor cores   by shuffles   in double precision");
    for (int b = 0; b < BLOCKS; ++b) {
        double sum = 0;
        double sum_of_sizes = 0;
        for (int i = 0; i < THREADS; ++i) {
            sum += numbers[b][i];
            sum_of_sizes += fabs(numbers[b][i]);
        }
        printf("%5d  %15.4f  %12.4f  %20.4f\n", b, by_tensor_cores[b], by_shuffles[b], sum);
        wrong += by_tensor_cores[b] != (float)sum; // exact, as the values are multiples of 1/16
        wrong += is_off(by_shuffles[b], sum, sum_of_sizes);
    }
    return check_result("by tensor cores exact, by shuffles within 10 roundings", wrong);
}
