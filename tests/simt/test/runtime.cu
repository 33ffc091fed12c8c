// SPDX-License-Identifier: MIT
// Launch forms and launch errors, memory, streams and events, attributes.
#include "kit.h"


struct pair { int a; float b; };
typedef void (*kernel_fn)(int *, int);

__global__ void set(int *p, int v) { *p = v; }
__global__ void add(int *p, int v) { *p += v; }
__global__ void by_value(int *p, struct pair v, unsigned char c) { *p = v.a + (int)v.b + c; }
template <class T, int N> __global__ void templated(T *p) { *p = N; }
__global__ void no_arguments() {}
__global__ void needs(int *p, int bytes) {
    extern __shared__ __align__(16) unsigned char buffer[];
    for (int i = 0; i < bytes; i++) buffer[i] = (unsigned char)i;
    *p = buffer[bytes - 1];
}
__global__ void rows(int *p) {
    extern __shared__ float matrix[][4];
    matrix[3][3] = 5;
    *p = (int)matrix[3][3];
}
// What an earlier block left must not be there: each block counts from what it wrote itself.
__global__ void count_blocks(int *p) {
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    atomicAdd(&n, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(p, n);
}

static int calls;
static dim3 grid_of(int n) {
    calls++;
    return dim3(n);
}
static kernel_fn pick(int add_it) { return add_it ? add : set; }
static int read_int(const int *p) {
    int v = -1;
    CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    return v;
}

#define LAUNCH(k, ...) k<<<1, 1>>>(__VA_ARGS__)

static void launch_forms(int *p) {
    kernel_fn table[2][2] = {{set, add}, {add, set}};
    struct { kernel_fn k; } holder = {add}, *pointer = &holder;
    kernel_fn f = set;
    const char *text = "set<<<1, 1>>>(p, 99)"; // and set<<<1, 1>>>(p, 98);
    set<<<1, 1>>>(p, 1);
    RETURNS(read_int(p), 1);
    table[0][1]<<<1, 1>>>(p, 2);
    RETURNS(read_int(p), 3);
    (*f)<<<grid_of(1), dim3(1, 1, 1), 0, 0>>>(p, 10);
    RETURNS(read_int(p), 10);
    RETURNS(calls, 1);
    if (calls == 1) (*table[1][0])<<<1, 1>>>(p, 5);
    RETURNS(read_int(p), 15);
    holder.k<<<1, 1>>>(p, 1);
    pointer->k<<<1, 1>>>(p, 1);
    ::set<<<1, 1>>>(p + 0, read_int(p) + 3);
    RETURNS(read_int(p), 20);
    pick(1)<<<1, 1>>>(p, 4);
    RETURNS(read_int(p), 24);
    templated<int, (7 > 3 ? 1'000 : 2)>
        <<<
            dim3(1, 1), // a comment with >>> in it
            1
        >>>(p);
    RETURNS(read_int(p), 1000);
    LAUNCH(set, p, 6);
    RETURNS(read_int(p), 6);
    by_value<<<1, 1>>>(p, pair{3, 4.5f}, 'a');
    RETURNS(read_int(p), 3 + 4 + 'a');
    no_arguments<<<3, 5>>>();
    RETURNS(strlen(text), 20);
    RETURNS(__LINE__, 80); // rewriting moves no line
    CHECK(cudaMemset(p, 0, sizeof *p));
    count_blocks<<<100, 37>>>(p);
    RETURNS(read_int(p), 3700);
    rows<<<1, 1, 64>>>(p);
    RETURNS(read_int(p), 5);
    CHECK(cudaGetLastError());
}

// The manual says cudaErrorInvalidConfiguration; CUDA 13.0 on an H200 says cudaErrorInvalidValue.
#define REFUSED_SHAPE(grid, block, shared) \
    do { \
        set<<<grid, block, shared>>>(p, 1); \
        RETURNS(cudaPeekAtLastError(), cudaErrorInvalidValue); \
        RETURNS(cudaGetLastError(), cudaErrorInvalidValue); \
        RETURNS(cudaGetLastError(), cudaSuccess); \
    } while (0)

static void launch_errors(int *p) {
    CHECK(cudaMemset(p, 0, sizeof *p));
    REFUSED_SHAPE(0, 1, 0);
    REFUSED_SHAPE(1, 0, 0);
    REFUSED_SHAPE(1, 1025, 0);
    REFUSED_SHAPE(1, dim3(32, 33), 0);
    REFUSED_SHAPE(1, dim3(1, 1, 65), 0);
    REFUSED_SHAPE(dim3(1, 65536), 1, 0);
    REFUSED_SHAPE(dim3(1, 1, 65536), 1, 0);
    REFUSED_SHAPE(dim3(0x80000000u), 1, 0);
    REFUSED_SHAPE(1, 1, 48 * 1024 + 1);
    RETURNS(read_int(p), 0); // none of them ran

    needs<<<1, 1, 48 * 1024>>>(p, 48 * 1024);
    RETURNS(read_int(p), 255);
    CHECK(cudaFuncSetAttribute(needs, cudaFuncAttributeMaxDynamicSharedMemorySize, 65540));
    needs<<<1, 1, 65540>>>(p, 65540);
    RETURNS(read_int(p), 3);
    RETURNS(cudaFuncSetAttribute(needs, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
                cudaErrorInvalidValue);
    RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
    HOLDS(!strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
    HOLDS(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
}

// What a call returns and leaves as the last error, without and with an error of an earlier call.
#define GIVES(call, error, left) \
    do { \
        for (int earlier = 0; earlier < 2; earlier++) { \
            cudaGetLastError(); \
            if (earlier) RETURNS(cudaMalloc(&no_memory, too_much), cudaErrorMemoryAllocation); \
            RETURNS(call, error); \
            RETURNS(cudaGetLastError(), error ? error : earlier ? left : cudaSuccess); \
        } \
    } while (0)

static int host_function(int x) { return x; }

// The errors that CUDA 13.0 was measured to give.
static void errors_by_address(int *p) {
    static int variable;
    const size_t too_much = (size_t)1 << 60;
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    int n = 0;
    void *no_memory, *arguments[] = {&p, &n};
    cudaFuncAttributes attributes;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    const void *no_kernels[] = {(const void *)host_function, &variable, NULL};
    for (int i = 0; i < 3; i++) {
        const void *none = no_kernels[i];
        const cudaError_t no =
            none ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
        GIVES(cudaLaunchKernel(none, dim3(1), dim3(1), arguments, 0, 0), no, no);
        GIVES(cudaLaunchKernelExC(&config, none, arguments), no, no);
        GIVES(cudaFuncGetAttributes(&attributes, none), no, no);
        GIVES(cudaFuncSetAttribute(none, most, 1000), no, no);
        GIVES(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 128, 1000), no, no);
    }

    const void *kernel = (const void *)needs;
    const cudaError_t left = cudaErrorMemoryAllocation;
    GIVES(cudaLaunchKernel((const void *)set, dim3(1), dim3(1), arguments, 0, 0), cudaSuccess,
          left);
    GIVES(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess, left);
    GIVES(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, 128, 1000), cudaSuccess, left);
    GIVES(cudaGetDevice(&n), cudaSuccess, left);
    GIVES(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0), cudaSuccess, left);
    GIVES(cudaMemset(p, 0, sizeof *p), cudaSuccess, left);
    GIVES(cudaDeviceSynchronize(), cudaSuccess, left);
    GIVES(cudaFuncSetAttribute(kernel, most, 65540), cudaSuccess, cudaSuccess); // clears it
    GIVES(cudaFuncSetAttribute(kernel, most, 1 << 20), cudaErrorInvalidValue, cudaSuccess);
#if CUDART_VERSION >= 12080
    cudaKernel_t handle;
    GIVES(cudaGetKernel(&handle, kernel), cudaSuccess, left);
    GIVES(cudaKernelSetAttributeForDevice(handle, most, 65540, 0), cudaSuccess, left);
#endif
}

static void memory(void) {
    size_t free_before, free_after, total;
    char *a = NULL, *b = NULL, *host = NULL, h[64], g[64];
    CHECK(cudaMemGetInfo(&free_before, &total));
    HOLDS(free_before <= total);
    RETURNS(cudaMalloc(&a, total * 2), cudaErrorMemoryAllocation);
    RETURNS(cudaGetLastError(), cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&a, 64));
    CHECK(cudaMallocAsync(&b, 64, 0));
    CHECK(cudaMallocHost(&host, 64));
    RETURNS((size_t)a % 256, 0);
    for (int i = 0; i < 64; i++) h[i] = host[i] = (char)i;
    CHECK(cudaMemcpy(a, h, 64, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, a, 64, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(b + 8, 1, 8));
    CHECK(cudaMemcpyAsync(g, b, 64, cudaMemcpyDefault, 0));
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < 64; i++) RETURNS(g[i], i / 8 == 1 ? 1 : i);
    // A 4 x 3 part of rows of 16 to rows of 8.
    CHECK(cudaMemset(b, 0, 64));
    CHECK(cudaMemcpy2D(b, 8, host + 2, 16, 4, 3, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(g, b, 64, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        RETURNS(g[i], i < 24 && i % 8 < 4 ? i / 8 * 16 + 2 + i % 8 : 0);
    RETURNS(cudaMemcpy(a, h, 1 << 30, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaFree(a));
    CHECK(cudaFreeAsync(b, 0));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(NULL));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemGetInfo(&free_after, &total));
    HOLDS(free_after + (64 << 20) >= free_before);
}

static void streams_and_device(int *p) {
    cudaStream_t s, t;
    cudaEvent_t from, to;
    float ms = -1;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaEventRecord(from, s));
    set<<<1, 1, 0, s>>>(p, 41);
    add<<<1, 1, 0, s>>>(p, 1);
    CHECK(cudaEventRecord(to, s));
    CHECK(cudaStreamWaitEvent(t, to, 0));
    add<<<1, 1, 0, t>>>(p, 1);
    CHECK(cudaStreamSynchronize(t));
    RETURNS(read_int(p), 43);
    CHECK(cudaEventElapsedTime(&ms, from, to));
    HOLDS(ms >= 0);
    CHECK(cudaEventDestroy(from));
    CHECK(cudaEventDestroy(to));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(t));

    int device = -1, count = 0, sms = 0, blocks = 0;
    cudaDeviceProp prop;
    cudaFuncAttributes attributes;
    CHECK(cudaGetDeviceCount(&count));
    HOLDS(count >= 1);
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&prop, device));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    HOLDS(sms == prop.multiProcessorCount && sms > 0 && prop.name[0] && prop.warpSize == 32);
    HOLDS(prop.maxGridSize[0] == 0x7fffffff && prop.maxGridSize[1] == 65535);
    RETURNS(cudaSetDevice(1000), cudaErrorInvalidDevice);
    RETURNS(cudaGetLastError(), cudaErrorInvalidDevice);
    CHECK(cudaFuncGetAttributes(&attributes, set));
    HOLDS(attributes.maxThreadsPerBlock > 0 && attributes.maxThreadsPerBlock <= 1024);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, set, 256, 0));
    HOLDS(blocks >= 1 && blocks * 256 <= prop.maxThreadsPerMultiProcessor);
}

// A cooperative launch has its arguments behind pointers, and one block.
static void cooperative(int *p) {
    int v = 42, got = 0;
    void *arguments[] = {&p, &v};
    CHECK(cudaLaunchCooperativeKernel(set, dim3(1), dim3(32), arguments, 0, 0));
    CHECK(cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost));
    HOLDS(got == 42);
    HOLDS(cudaLaunchCooperativeKernel(set, dim3(2), dim3(32), arguments, 0, 0) ==
          cudaErrorCooperativeLaunchTooLarge);
    HOLDS(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
}

int main(void) {
    int *p;
    CHECK(cudaMalloc(&p, sizeof *p));
    launch_forms(p);
    launch_errors(p);
    errors_by_address(p);
    memory();
    streams_and_device(p);
    cooperative(p);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(p));
    return kit_end("simt runtime");
}
