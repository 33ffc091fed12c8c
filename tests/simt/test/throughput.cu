// SPDX-License-Identifier: MIT
// How many threads, barriers and shuffles the CPU machine runs in a second. Its times say nothing
// about a GPU. With two numbers (millions a second without and with waiting), fails below them.
#include "kit.h"

__global__ void plain(unsigned *p) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i & 0xffff] = i;
}
__global__ void barriers(unsigned *p) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++) {
        p[i & 0xffff] = i;
        __syncthreads();
    }
}
__global__ void shuffles(unsigned *p) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
    for (int k = 0; k < 16; k++) v = __shfl_xor_sync(0xffffffff, v, 1);
    p[i & 0xffff] = v;
}

static float rate(const char *what, double count, cudaEvent_t from, cudaEvent_t to) {
    float ms = 0;
    CHECK(cudaEventSynchronize(to));
    CHECK(cudaEventElapsedTime(&ms, from, to));
    float m = (float)(count * 1e-3 / ms);
    printf("%-30s %8.1f M/s\n", what, m);
    return m;
}

int main(int argc, char **argv) {
    unsigned *p;
    cudaEvent_t a, b;
    CHECK(cudaMalloc(&p, 65536 * sizeof *p));
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    plain<<<1024, 256>>>(p);
    cudaEventRecord(a);
    plain<<<1 << 16, 256>>>(p);
    cudaEventRecord(b);
    float without = rate("threads", 256.0 * (1 << 16), a, b);
    cudaEventRecord(a);
    barriers<<<1024, 256>>>(p);
    cudaEventRecord(b);
    float with = rate("barriers, a thread", 16 * 256.0 * 1024, a, b);
    cudaEventRecord(a);
    shuffles<<<1024, 256>>>(p);
    cudaEventRecord(b);
    with = min(with, rate("shuffles, a thread", 16 * 256.0 * 1024, a, b));
    CHECK(cudaGetLastError());
    cudaEventDestroy(a);
    cudaEventDestroy(b);
    cudaFree(p);
    if (argc > 2) HOLDS(without >= atof(argv[1]) && with >= atof(argv[2]));
    return kit_end("simt throughput");
}
