// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

static __global__ void elsewhere(int *p) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) *p += sum;
}

static __global__ void twin(int *p) { *p = 2; }
const void *kernel_elsewhere(void) { return (const void *)twin; }

cudaError_t launch_elsewhere(int *p) {
    elsewhere<<<1, 64>>>(p);
    return cudaGetLastError();
}
