// SPDX-License-Identifier: MIT
// 09_warp_sum.cu: sums over a warp and a block by shuffles, in which lanes read each other's
// registers. In step 16 lane i adds what lane i xor 16 has, and so on with 8, 4, 2, 1; after five
// steps every lane has the sum of all 32.
// nvcc -O3 -arch=native -I include samples/reduce/09_warp_sum.cu -o warp_sum
#include <threadmap/reduce.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

// [snippet: warp-sum]
// warps: the sum of each warp's numbers; blocks: that of each block's, by all of its threads.
__global__ void sums(const int *in, tmap_u32 *warps, tmap_i64 *blocks) {
    __shared__ tmap_i64 scratch[32];
    tmap_warp warp = tmap_warp_self();
    tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 sum = tmap_warp_sum_shuffle(warp, (tmap_u32)in[i]);
    tmap_i64 total = tmap_block_sum_i32_shuffle(in[i], scratch); // does not overflow
    if (warp.lane == 0) warps[i / 32] = sum;
    if (threadIdx.x == 0) blocks[blockIdx.x] = total;
}
// [/snippet]

int main(void) {
    enum { BLOCKS = 2, THREADS = 128, N = BLOCKS * THREADS };
    static int host[N], *in;
    tmap_u32 warp[N / 32], *warps;
    tmap_i64 block[BLOCKS], *blocks, of_warp = 0, of_block = 0;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int i = 0; i < N; ++i) host[i] = i * i % 100;
    CHECK(cudaMalloc((void **)&in, sizeof host));
    CHECK(cudaMalloc((void **)&warps, sizeof warp));
    CHECK(cudaMalloc((void **)&blocks, sizeof block));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    sums<<<BLOCKS, THREADS>>>(in, warps, blocks);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(warp, warps, sizeof warp, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(block, blocks, sizeof block, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i) {
        of_warp += host[i], of_block += host[i];
        printf("%d%s", host[i], i % 32 < 31 ? "+" : "");
        if (i % 32 < 31) continue;
        printf(" = %u\n", warp[i / 32]);
        wrong += warp[i / 32] != of_warp, of_warp = 0;
        if (i % THREADS < THREADS - 1) continue;
        printf("block %d: %lld\n", i / THREADS, block[i / THREADS]);
        wrong += block[i / THREADS] != of_block, of_block = 0;
    }
    printf("%d warps, %d blocks: %s\n", N / 32, BLOCKS, wrong ? "WRONG" : "ok");
    return cudaFree(in) || cudaFree(warps) || cudaFree(blocks) || wrong;
}
