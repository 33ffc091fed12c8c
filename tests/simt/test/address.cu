// SPDX-License-Identifier: MIT
// Kernels by address: launched with arguments behind pointers where their type is not known any
// more, their attributes and their occupancy.
#include "kit.h"

#include "address_kernels.h"

struct plan { // as a library would keep it
    const void *kernel;
    dim3 grid, block;
    size_t shared;
};
static cudaError_t run(const struct plan *p, void **arguments) {
    return cudaLaunchKernel(p->kernel, p->grid, p->block, arguments, p->shared, 0);
}
static struct plan plan_of(const void *kernel) {
    struct plan p = {kernel, dim3(1), dim3(1), 0};
    return p;
}

struct wide {
    int a[9];
    char c;
};

static __global__ void set(int *p, int v) { *p = v; }
static __global__ void add(int *p, // of several lines
                           int v) {
    atomicAdd(p, v);
}
__global__ void sum(int *p, struct wide w, unsigned char c, double d, const int n) {
    *p = w.a[8] + w.c + c + (int)d + n;
}
static __global__ void __launch_bounds__(256) overloaded(int *p) { *p = 1; }
static __global__ void __launch_bounds__(256, 2) overloaded(unsigned *p, int v) { *p = 10u + v; }
template <class T, int N>
static __global__ void templated(T *p) {
    *p = N;
}
template <>
__global__ void templated<int, 5>(int *p) {
    *p = 55;
}
extern "C" __global__ void c_linkage(int *p) { *p = 6; }
namespace inner {
static __global__ void named(int *p) { *p = 7; }
} // namespace inner
__global__ void dynamic(int *p, int n) {
    extern __shared__ int room[];
    for (int i = 0; i < n; i++) room[i] = i;
    *p = room[n - 1];
}
__global__ void no_arguments(void) {}

#define JOINED(a, b) a##_##b
#define NAMED(name)  JOINED(name, joined)
static __global__ void __launch_bounds__(64) NAMED(by_macro)(int *p) { *p = 8; }
#define STAMP(name, bounds, PARAMS, value) \
    static __global__ void bounds stamped_##name PARAMS { *p = value; }
STAMP(nine, , (int *p), 9)
STAMP(ten, __launch_bounds__(32), (int *p, int v), 10 + v)
#define HEAD(name) static __global__ void __launch_bounds__(32) head_##name(int *p)
HEAD(eleven) { *p = 11; }

static int read_int(const int *p) {
    int v = -1;
    CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    return v;
}

static void check_kernels(int *p) {
    int v = 3;
    void *with_v[] = {&p, &v};
    const struct {
        const void *kernel;
        int want;
    } kernels[] = {{(const void *)set, 3},
                   {(const void *)add, 6},
                   {(const void *)c_linkage, 6},
                   {(const void *)(void (*)(int *))overloaded, 1},
                   {(const void *)static_cast<void (*)(unsigned *, int)>(&overloaded), 13},
                   {(const void *)templated<int, 4>, 4},
                   {(const void *)templated<int, 5>, 55},
                   {(const void *)inner::named, 7},
                   {(const void *)by_macro_joined, 8},
                   {(const void *)stamped_nine, 9},
                   {(const void *)stamped_ten, 13},
                   {(const void *)head_eleven, 11},
                   {(const void *)of_header, 12}};
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct plan plan = plan_of(kernels[i].kernel);
        CHECK(run(&plan, with_v));
        RETURNS(read_int(p), kernels[i].want);
    }
    struct plan plan = plan_of((const void *)add);
    plan.grid = dim3(2, 3), plan.block = dim3(32, 2);
    CHECK(cudaMemset(p, 0, sizeof *p));
    CHECK(run(&plan, with_v));
    RETURNS(read_int(p), 6 * 64 * 3);

    struct wide w = {{0, 0, 0, 0, 0, 0, 0, 0, 100}, 20};
    unsigned char c = 3;
    double d = 4.5;
    void *all[] = {&p, &w, &c, &d, &v};
    plan = plan_of((const void *)sum);
    CHECK(run(&plan, all));
    w.a[8] = 0; // what the launch got are copies
    RETURNS(read_int(p), 100 + 20 + 3 + 4 + 3);
    plan = plan_of((const void *)no_arguments);
    CHECK(run(&plan, NULL));
    CHECK(cudaLaunchKernel(set, dim3(1), dim3(1), with_v)); // and by name
    RETURNS(read_int(p), 3);

    int n = 20000;
    void *with_n[] = {&p, &n};
    plan = plan_of((const void *)dynamic);
    plan.shared = n * sizeof n;
    RETURNS(run(&plan, with_n), cudaErrorInvalidValue);
    RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(plan.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)plan.shared));
    CHECK(run(&plan, with_n));
    RETURNS(read_int(p), n - 1);
}

// A launch returns how it went itself; errors are kept until they are asked for.
static void check_errors(int *p) {
    int v = 1;
    void *arguments[] = {&p, &v};
    struct plan plan = plan_of((const void *)set), wrong = plan;
    wrong.block = dim3(2000);
    CHECK(cudaGetLastError());
    const cudaError_t refused = run(&wrong, arguments);
    RETURNS(refused, cudaErrorInvalidValue);
    RETURNS(cudaPeekAtLastError(), refused);
    CHECK(run(&plan, arguments)); // right, and the error stays
    RETURNS(cudaGetLastError(), refused);
    CHECK(cudaGetLastError());
}

static void check_configured(int *p) {
    int v = 21;
    void *arguments[] = {&p, &v};
    const void *kernel = (const void *)set;
    cudaLaunchAttribute attributes[2];
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeCooperative;
    attributes[1].val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(3);
    config.blockDim = dim3(32);
    CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
    RETURNS(read_int(p), 21);
    v = 22;
    config.attrs = attributes;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
    RETURNS(read_int(p), 22);
    CHECK(cudaLaunchKernelEx(&config, set, p, 23));
    RETURNS(read_int(p), 23);
    config.gridDim = dim3(1);
    config.numAttrs = 2;
    v = 24;
    CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
    RETURNS(read_int(p), 24);
    config.gridDim = dim3(1 << 20); // blocks that cannot all be there at once
    RETURNS(cudaLaunchKernelExC(&config, kernel, arguments), cudaErrorCooperativeLaunchTooLarge);
    RETURNS(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    v = 25;
    CHECK(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(32), arguments, 0, 0));
    RETURNS(read_int(p), 25);
    RETURNS(cudaLaunchCooperativeKernel(kernel, dim3(1 << 20), dim3(32), arguments, 0, 0),
            cudaErrorCooperativeLaunchTooLarge);
    RETURNS(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
}

static int resident(const void *kernel, int threads, size_t shared) {
    int blocks = -1, flagged = -1;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&flagged, kernel, threads, shared,
                                                                 0));
    RETURNS(flagged, blocks);
    return blocks;
}

static void check_attributes(void) {
    const void *kernel = (const void *)dynamic;
    cudaFuncAttributes a;
    int v = 0, threads = 0, shared = 0, blocks;
    CHECK(cudaFuncGetAttributes(&a, kernel));
    HOLDS(a.maxThreadsPerBlock == 1024 && a.numRegs > 0 && a.binaryVersion >= 70);
    HOLDS(a.sharedSizeBytes == 0 && a.maxDynamicSharedSizeBytes == 80000); // set above
    CHECK(cudaFuncGetAttributes(&a, (const void *)set));
    RETURNS(a.maxDynamicSharedSizeBytes, 48 * 1024);
    size_t offset = 9, size = 9;
    CHECK(cudaFuncGetParamInfo((const void *)set, 1, &offset, &size));
    HOLDS(offset == sizeof(int *) && size == sizeof(int));
    HOLDS(cudaFuncGetParamInfo((const void *)set, 2, &offset, &size) == cudaErrorInvalidValue);
    HOLDS(cudaGetLastError() == cudaErrorInvalidValue);

    CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
    blocks = resident(kernel, 256, 0);
    HOLDS(blocks >= 1 && blocks * 256 <= threads);
    HOLDS(resident(kernel, 512, 0) == blocks / 2 && resident(kernel, 257, 0) <= blocks);
    blocks = resident(kernel, 32, 40000);
    HOLDS(blocks >= 1 && blocks * 40000 <= shared && resident(kernel, 32, 80000) < blocks);
    RETURNS(resident(kernel, 1025, 0), 0);
    RETURNS(resident(kernel, 32, 1 << 20), 0);

    const cudaDeviceAttr positive[] = {cudaDevAttrMultiProcessorCount,
                                       cudaDevAttrMaxSharedMemoryPerBlock,
                                       cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       cudaDevAttrReservedSharedMemoryPerBlock,
                                       cudaDevAttrMaxGridDimX,
                                       cudaDevAttrMaxGridDimY,
                                       cudaDevAttrComputeCapabilityMajor,
                                       cudaDevAttrL2CacheSize,
                                       cudaDevAttrCooperativeLaunch,
                                       cudaDevAttrMaxPitch,
                                       cudaDevAttrMaxRegistersPerMultiprocessor,
                                       cudaDevAttrUnifiedAddressing};
    for (unsigned i = 0; i < sizeof positive / sizeof *positive; i++) {
        CHECK(cudaDeviceGetAttribute(&v, positive[i], 0));
        HOLDS(v > 0);
    }
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
    RETURNS(v, 32);
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrComputeCapabilityMinor, 0));
    CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrConcurrentKernels, 0));
}

int main(void) {
    int *p;
    CHECK(cudaMalloc(&p, sizeof *p));
    check_kernels(p);
    check_errors(p);
    check_configured(p);
    check_attributes();
    CHECK(cudaGetLastError());
    CHECK(cudaFree(p));
    return kit_end("simt address");
}
