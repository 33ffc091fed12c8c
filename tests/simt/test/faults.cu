// SPDX-License-Identifier: MIT
// One fault per argument; faults.py says how the CPU machine must answer each. Not for a GPU.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

__global__ void unreached_barrier(int *p) { // threads 3 and up wait in a warp that 0..2 do not join
    if (threadIdx.x >= 3) __shfl_sync(0xffffffff, p[0], 0);
    else __syncthreads();
}
__global__ void different_barriers() {
    if (threadIdx.x < 32) __syncthreads();
    else __syncthreads();
}
__global__ void not_in_mask(int *p) { p[threadIdx.x] = __shfl_sync(0x7u, 1, 0); }
__global__ void different_masks(int *p) {
    unsigned mask = threadIdx.x % 2 ? 0xffffffffu : 0x7fffffffu;
    if (threadIdx.x < 31) p[threadIdx.x] = (int)__ballot_sync(mask, 1);
}
__global__ void different_collectives(int *p) {
    if (threadIdx.x % 2) p[threadIdx.x] = __any_sync(0xffffffff, 1);
    else p[threadIdx.x] = __all_sync(0xffffffff, 1);
}
__global__ void wrong_width(int *p) { p[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0, 12); }
__global__ void assumption(int *p) {
    __builtin_assume(p == 0);
    *p = 1;
}
__global__ void fixed_bounds(int *p, int n) {
    __shared__ int a[32];
    a[threadIdx.x] = 1;
    a[n] = 2;
    *p = a[0];
}
__global__ void dynamic_bounds(int *p, int n) {
    extern __shared__ int a[];
    a[n] = 2;
    *p = a[0];
}
__global__ void global_bounds(int *p, int n) { p[n] = 1; }
__global__ void local_bounds(int *p, int n) {
    int a[8], *volatile q = a;
    for (int i = 0; i < 8; i++) a[i] = i;
    __syncthreads(); // on to other stacks
    if (threadIdx.x == 9) q[n] = 1;
    p[threadIdx.x] = q[threadIdx.x % 8];
}
__global__ void misaligned(int *p) { *(int4 *)(p + 1) = make_int4(1, 2, 3, 4); }
__global__ void deep(int *p, int n) {
    volatile char big[4096];
    big[n % 4096] = 1;
    if (n) deep(p, n - 1);
    *p += big[n % 4096];
}
__global__ void divide(int *p, int by) {
    if (threadIdx.x == 5 && blockIdx.y == 1) p[0] = p[1] / by;
}
__global__ void null_pointer(int *p) {
    if (threadIdx.x == 3) *(volatile int *)p = 1;
}
__global__ void cast(int *p, float v) { p[0] = (int)v; }

// Right only if a barrier stands between the write and the read.
__global__ void shift(int *p, int barrier) {
    __shared__ int a[64];
    a[threadIdx.x] = (int)threadIdx.x;
    if (barrier) __syncthreads();
    p[threadIdx.x] = a[(threadIdx.x + 1) % 64];
}
// Right when warps run in turn, from lane 0 up: only another order shows the missing barrier.
__global__ void prefix(int *p, int barrier) {
    __shared__ int a[64];
    a[threadIdx.x] = 1;
    if (barrier) __syncthreads();
    p[threadIdx.x] = threadIdx.x ? a[threadIdx.x - 1] : 1;
}
__global__ void stale(int *p) { // reads shared memory that it never wrote
    __shared__ int a[2];
    if (blockIdx.x == 0) a[0] = a[1] = 0;
    p[blockIdx.x] = a[0];
}
__global__ void stale_dynamic(int *p) {
    extern __shared__ int a[];
    p[0] = a[3];
}

int main(int argc, char **argv) {
    const char *fault = argc > 1 ? argv[1] : "";
    int *p, h[64];
    if (cudaMalloc(&p, sizeof h)) return 2;
#define IS(name) !strcmp(fault, name)
    if (IS("unreached_barrier")) unreached_barrier<<<1, 32>>>(p);
    else if (IS("different_barriers")) different_barriers<<<1, 64>>>();
    else if (IS("not_in_mask")) not_in_mask<<<1, 32>>>(p);
    else if (IS("different_masks")) different_masks<<<1, 32>>>(p);
    else if (IS("different_collectives")) different_collectives<<<1, 32>>>(p);
    else if (IS("wrong_width")) wrong_width<<<1, 32>>>(p);
    else if (IS("assumption")) assumption<<<1, 1>>>(p);
    else if (IS("fixed_bounds")) fixed_bounds<<<1, 32>>>(p, 32);
    else if (IS("dynamic_bounds")) dynamic_bounds<<<1, 1, 10 * sizeof(int)>>>(p, 10);
    else if (IS("dynamic_far")) dynamic_bounds<<<1, 1, 10 * sizeof(int)>>>(p, 4096);
    else if (IS("no_dynamic")) dynamic_bounds<<<1, 1>>>(p, 0);
    else if (IS("no_dynamic_far")) dynamic_bounds<<<dim3(1, 2), 1>>>(p, 10000);
    else if (IS("divide")) divide<<<dim3(1, 2), 8>>>(p, 0);
    else if (IS("null_pointer")) null_pointer<<<1, 8>>>(NULL);
    else if (IS("cast")) cast<<<1, 1>>>(p, 3e9f);
    else if (IS("global_bounds")) global_bounds<<<1, 1>>>(p, 64);
    else if (IS("local_bounds")) local_bounds<<<1, 32>>>(p, 8);
    else if (IS("misaligned")) misaligned<<<1, 1>>>(p);
    else if (IS("deep")) deep<<<1, 1>>>(p, 1000);
    else if (IS("shift")) shift<<<1, 64>>>(p, 0);
    else if (IS("shift_with_barrier")) shift<<<1, 64>>>(p, 1);
    else if (IS("prefix")) prefix<<<1, 64>>>(p, 0);
    else if (IS("prefix_with_barrier")) prefix<<<1, 64>>>(p, 1);
    else if (IS("stale")) stale<<<2, 1>>>(p);
    else if (IS("stale_dynamic")) stale_dynamic<<<1, 1, 64>>>(p);
    else if (IS("uninitialised")) ;
    else if (IS("free_twice")) {
        cudaFree(p);
        return cudaFree(p) == cudaErrorInvalidValue ? 0 : 1;
    } else if (IS("use_after_free")) {
        cudaFree(p);
        global_bounds<<<1, 1>>>(p, 0);
        return 0;
    } else if (IS("leak")) {
        return 0;
    } else if (IS("host_pointer")) { // not device memory
        int e = cudaMemcpy(h, h + 32, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue;
        e += cudaMemcpy(p, p + 32, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue;
        e += cudaMemset(h, 0, 4) == cudaErrorInvalidValue;
        e += cudaMemcpy(p + 60, h, 20, cudaMemcpyHostToDevice) == cudaErrorInvalidValue;
        cudaFree(p);
        return e == 4 ? 0 : 1;
    } else {
        return 2;
    }
    if (cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost)) return 2;
    cudaFree(p);
    // Prints what came out; faults.py knows what is right.
    int right = 1, poison = 0;
    for (int i = 0; i < 64; i++) {
        if (h[i] != (strstr(fault, "shift") ? (i + 1) % 64 : 1)) right = 0;
        poison += h[i] == (int)0xa5a5a5a5;
    }
    printf("%s, first %d, poison %d\n", right ? "right" : "wrong", h[0], poison);
    return !right;
}
