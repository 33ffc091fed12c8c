// SPDX-License-Identifier: MIT
// The words that CUDA adds to C++, wherever they may stand.
#include "kit.h"

#include <stdint.h>

struct __align__(16) row {
    float x[3];
};
struct params {
    int a, b;
};

static __device__ __forceinline__ int inlined(int a) { return a + 1; }
__forceinline__ __device__ static int inlined_too(const int *__restrict__ a) { return *a + 1; }
static __device__ __noinline__ int called(int a) { return a * 2; }
__noinline__ static __host__ __device__ int called_too(int a) { return a * 2; }
__constant__ static int table[2];
static __device__ int counter;

// Each of these is aligned, of its own block, and poisoned as others are: nothing shows through.
template <class T>
static __global__ void __launch_bounds__(64) shared_forms(int *bad, T first) {
    __shared__ alignas(16) T a[3];
    static __shared__ T b;
    __shared__ static __align__(64) unsigned char c[3];
    alignas(32) __shared__ T d;
    __shared__ alignas(8) alignas(128) volatile unsigned char e, f;
    __shared__ alignas(T) static unsigned char g[5];
    __shared__ __align__(16) struct { char x, y; } h;
    if (threadIdx.x == 0) {
        a[0] = a[1] = a[2] = b = d = first;
        c[2] = e = f = g[4] = 7;
        h.x = h.y = 1;
        int wrong = (uintptr_t)a % 16 || (uintptr_t)c % 64 || (uintptr_t)&d % 32 ||
                    (uintptr_t)&e % 128 || (uintptr_t)&f % 128 || (uintptr_t)g % alignof(T) ||
                    (uintptr_t)&h % 16;
        if (wrong) atomicAdd(bad, 1);
    }
    __syncthreads();
    if (a[threadIdx.x % 3] != first || b != first || d != first) atomicAdd(bad, 1);
    if (c[2] + e + f + g[4] + h.x + h.y != 30) atomicAdd(bad, 1);
}

__global__ void __launch_bounds__(128, 2)
    qualified(const __grid_constant__ struct params p, int *__restrict__ out,
              const int *__restrict in) {
    extern __shared__ __align__(16) unsigned char bytes[];
    bytes[0] = 1;
    *out = inlined(p.a) + inlined_too(in) + called(p.b) + called_too(counter) + table[1] + bytes[0];
}

int main(void) {
    int *p, got[2] = {0, 100};
    CHECK(cudaMalloc(&p, sizeof got));
    CHECK(cudaMemcpy(p, got, sizeof got, cudaMemcpyHostToDevice));
    shared_forms<double><<<3, 64>>>(p, 2.5);
    shared_forms<short><<<3, 64>>>(p, -3);
    CHECK(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    RETURNS(got[0], 0);

    const int entries[2] = {1, 2}, count = 10;
    const struct params q = {3, 4};
    CHECK(cudaMemcpyToSymbol(table, entries, sizeof entries));
    CHECK(cudaMemcpyToSymbol(counter, &count, sizeof count));
    qualified<<<1, 1, 16>>>(q, p, p + 1);
    CHECK(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    RETURNS(got[0], 4 + 101 + 8 + 20 + 2 + 1);
    RETURNS(sizeof(struct row), 16);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(p));
    return kit_end("simt qualifiers");
}
