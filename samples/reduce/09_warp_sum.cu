// SPDX-License-Identifier: MIT
// 09_warp_sum.cu: sums over a warp and over a block with shuffles.
//
// With a shuffle a lane reads another lane's register. In step 16 lane i adds the value of lane
// i xor 16, then that of lane i xor 8, 4, 2 and 1. After these five steps every lane has the sum of
// all 32.
// nvcc -O3 -arch=native -I include samples/reduce/09_warp_sum.cu -o warp_sum
#include "../check.h"

#include <threadmap/reduce.h>

enum {
    LANES = 32, // of a warp
    BLOCKS = 2,
    THREADS = 128, // of a block
    N = BLOCKS * THREADS,
    WARPS = N / LANES
};

// [snippet: warp-sum]
// warps: the sum of each warp's numbers. blocks: the sum of each block's numbers.
__global__ void sums(const int *in, tmap_u32 *warps, tmap_i64 *blocks) {
    __shared__ tmap_i64 scratch[32];
    const tmap_warp warp = tmap_warp_self();
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    const tmap_u32 sum = tmap_warp_sum_shuffle(warp, (tmap_u32)in[i]); // in all lanes
    const tmap_i64 total = tmap_block_sum_i32_shuffle(in[i], scratch); // in thread 0, no overflow
    if (warp.lane == 0) warps[i / 32] = sum;
    if (threadIdx.x == 0) blocks[blockIdx.x] = total;
}
// [/snippet]

// The sum of `count` numbers.
static int sum_on_host(const int *numbers, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += numbers[i];
    return sum;
}

int main(void) {
    int numbers[N];
    tmap_u32 warp_sums[WARPS];
    tmap_i64 block_sums[BLOCKS];
    check_gpu();

    for (int i = 0; i < N; ++i) numbers[i] = i * i % 100;
    int *in;
    tmap_u32 *warps;
    tmap_i64 *blocks;
    CHECK(cudaMalloc((void **)&in, sizeof numbers));
    CHECK(cudaMalloc((void **)&warps, sizeof warp_sums));
    CHECK(cudaMalloc((void **)&blocks, sizeof block_sums));
    CHECK(cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    sums<<<BLOCKS, THREADS>>>(in, warps, blocks);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(warp_sums, warps, sizeof warp_sums, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(block_sums, blocks, sizeof block_sums, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(warps));
    CHECK(cudaFree(blocks));

    int wrong = 0;
    for (int w = 0; w < WARPS; ++w) {
        const int *of_warp = &numbers[w * LANES];
        for (int lane = 0; lane < LANES; ++lane) printf(lane ? "+%d" : "%d", of_warp[lane]);
        printf(" = %u\n", warp_sums[w]);
        wrong += warp_sums[w] != (tmap_u32)sum_on_host(of_warp, LANES);
    }
    for (int b = 0; b < BLOCKS; ++b) {
        printf("block %d: %lld\n", b, block_sums[b]);
        wrong += block_sums[b] != sum_on_host(&numbers[b * THREADS], THREADS);
    }
    return check_result("sums of 8 warps and 2 blocks", wrong);
}
