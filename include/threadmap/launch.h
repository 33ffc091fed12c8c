// SPDX-License-Identifier: MIT
// launch.h: the facts of a device and of a kernel from which plans are made, the number of resident
// blocks, and the launch of a plan.
//
// A plan is a pure function of facts. tmap_X_plan_make queries the CUDA runtime for them.
// tmap_X_plan_of takes them as an argument, calls nothing of CUDA and compiles as C11: for a GPU
// that is not present, for launches with the driver API, and for kernels compiled at run time.
#ifndef TMAP_LAUNCH_H
#define TMAP_LAUNCH_H

#include "check.h"
#include "core.h"

// ---- memory -------------------------------------------------------------------------------------

// Memory of the caller that a plan or a run works in. The function that takes it says its size, its
// alignment, and whether it must be zeroed.
typedef struct tmap_workspace {
    void *data;
    tmap_u64 bytes;
} tmap_workspace;

// ---- facts --------------------------------------------------------------------------------------

// A device. Next to each member is its name in cudaDeviceGetAttribute.
typedef struct tmap_device_facts {
    tmap_u32 capability;        // 10 ComputeCapabilityMajor + ComputeCapabilityMinor: 90, 120
    tmap_u32 processors;        // MultiProcessorCount
    tmap_u32 threads;           // most per multiprocessor: MaxThreadsPerMultiprocessor
    tmap_u32 blocks;            // most per multiprocessor: MaxBlocksPerMultiprocessor
    tmap_u32 registers;         // per multiprocessor: MaxRegistersPerMultiprocessor
    tmap_u32 block_registers;   // most per block: MaxRegistersPerBlock
    tmap_u32 shared;            // bytes per multiprocessor: MaxSharedMemoryPerMultiprocessor
    tmap_u32 block_shared;      // most bytes per block: MaxSharedMemoryPerBlockOptin
    tmap_u32 reserved_shared;   // bytes per block for CUDA: ReservedSharedMemoryPerBlock
    tmap_u32 floats_per_double; // SingleToDoublePrecisionPerfRatio
    tmap_u32 concurrent;        // 1 if several blocks and kernels run at a time: ConcurrentKernels
} tmap_device_facts;

// A kernel on that device. Next to each member is its name in cudaFuncGetAttributes.
typedef struct tmap_kernel_facts {
    tmap_u32 registers; // per thread: numRegs
    tmap_u32 shared;    // static shared memory in bytes: sharedSizeBytes
    tmap_u32 threads;   // most per block: maxThreadsPerBlock
    tmap_u32 ptx;       // the architecture that it was compiled for: ptxVersion, 90
} tmap_kernel_facts;

// The facts from which a plan is made. Example: an H200, and a kernel of 64 registers for blocks of
// up to 512 threads:
//     {{90, 132, 2048, 32, 65536, 65536, 233472, 232448, 1024, 2, 1}, {64, 0, 512, 90}}
typedef struct tmap_facts {
    tmap_device_facts device;
    tmap_kernel_facts kernel;
} tmap_facts;

TMAP_FN tmap_u32 tmapi_facts_round(tmap_u32 a, tmap_u32 to) { return (a + to - 1) / to * to; }

// The number of blocks of a kernel that a multiprocessor holds at once, by the rules of compute
// capability 7.5 to 12.x: a warp's registers are counted in units of 256 and lie in one of four
// partitions; a block's shared memory, with what CUDA reserves, is counted in units of 128 bytes
// (256 before 8.0). threads: per block, 1 to 1024. shared: bytes of dynamic shared memory; the
// kernel's current limit does not matter. Returns what
// cudaOccupancyMaxActiveBlocksPerMultiprocessor does; 0 for a block that cannot run.
// Example: 9.0, 64 registers, 512 threads, no shared memory: 2; with 100 KB each: 2; 120 KB: 1.
TMAP_FN tmap_u32 tmap_resident_blocks(const tmap_facts *facts, tmap_u32 threads, tmap_u64 shared) {
    const tmap_device_facts *device = &facts->device;
    const tmap_kernel_facts *kernel = &facts->kernel;
    const tmap_u32 warps = (threads + 31) / 32, unit = device->capability < 80 ? 256 : 128;
    const tmap_u32 of_warp = tmapi_facts_round(kernel->registers * 32, 256);
    const tmap_u64 bytes = kernel->shared + shared;
    tmap_u32 blocks = device->blocks, most;
    if (threads < 1 || threads > kernel->threads || bytes > device->block_shared) return 0;
    // A launch fails if a block has too many registers, its warps rounded up to a multiple of 4.
    if (of_warp * tmapi_facts_round(warps, 4) > device->block_registers) return 0;
    most = device->threads / 32 / warps;
    if (most < blocks) blocks = most;
    if (of_warp) {
        most = device->registers / 4 / of_warp * 4 / warps;
        if (most < blocks) blocks = most;
    }
    most = tmapi_facts_round((tmap_u32)bytes + device->reserved_shared, unit);
    if (most && device->shared / most < blocks) blocks = device->shared / most;
    return blocks;
}

// The blocks of a launch along one axis, the threads of a block, and its dynamic shared memory.
typedef struct tmapi_launch_shape {
    tmap_u64 grid;
    tmap_u32 block, shared;
} tmapi_launch_shape;

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Gets the facts of the current device. Returns cudaErrorInvalidValue for a null pointer, or the
// error of a CUDA call; it neither reports nor clears an error that an earlier call left. *out is
// written only on success.
static inline cudaError_t tmap_device_facts_get(tmap_device_facts *out) {
    tmap_device_facts d;
    tmap_u32 major, minor;
    const struct {
        enum cudaDeviceAttr attribute;
        tmap_u32 *to;
    } asked[] = {
        {cudaDevAttrComputeCapabilityMajor, &major},
        {cudaDevAttrComputeCapabilityMinor, &minor},
        {cudaDevAttrMultiProcessorCount, &d.processors},
        {cudaDevAttrMaxThreadsPerMultiProcessor, &d.threads},
        {cudaDevAttrMaxBlocksPerMultiprocessor, &d.blocks},
        {cudaDevAttrMaxRegistersPerMultiprocessor, &d.registers},
        {cudaDevAttrMaxRegistersPerBlock, &d.block_registers},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, &d.shared},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, &d.block_shared},
        {cudaDevAttrReservedSharedMemoryPerBlock, &d.reserved_shared},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, &d.floats_per_double},
        {cudaDevAttrConcurrentKernels, &d.concurrent},
    };
    int value, device;
    cudaError_t error;
    if (!out) return cudaErrorInvalidValue;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
        error = cudaDeviceGetAttribute(&value, asked[i].attribute, device);
        if (error) return error;
        *asked[i].to = (tmap_u32)value;
    }
    d.capability = 10 * major + minor;
    *out = d;
    return cudaSuccess;
}

// Gets the facts of a kernel, a __global__ function cast to const void *, on the current device.
// Errors: as tmap_device_facts_get; cudaErrorInvalidDeviceFunction if it is no kernel.
static inline cudaError_t tmap_kernel_facts_get(const void *kernel, tmap_kernel_facts *out) {
    cudaFuncAttributes attributes;
    cudaError_t error;
    if (!kernel || !out) return cudaErrorInvalidValue;
    if ((error = cudaFuncGetAttributes(&attributes, kernel)) != cudaSuccess) return error;
    out->registers = (tmap_u32)attributes.numRegs;
    out->shared = (tmap_u32)attributes.sharedSizeBytes;
    out->threads = (tmap_u32)attributes.maxThreadsPerBlock;
    out->ptx = (tmap_u32)attributes.ptxVersion;
    return cudaSuccess;
}

// Gets the facts of a kernel and of the current device. Errors: as the two functions above. Cost:
// some calls of the CUDA runtime, which do not wait for the device.
static inline cudaError_t tmap_facts_get(const void *kernel, tmap_facts *out) {
    tmap_facts facts;
    cudaError_t error;
    if (!out) return cudaErrorInvalidValue;
    if ((error = tmap_kernel_facts_get(kernel, &facts.kernel)) != cudaSuccess) return error;
    if ((error = tmap_device_facts_get(&facts.device)) != cudaSuccess) return error;
    *out = facts;
    return cudaSuccess;
}

// ---- launches -----------------------------------------------------------------------------------

// The CUDA error for the code of a function that makes a plan from facts.
static inline cudaError_t tmapi_launch_error(int code) {
    return code == TMAP_OK       ? cudaSuccess
           : code == TMAP_ERANGE ? cudaErrorInvalidConfiguration
                                 : cudaErrorInvalidValue;
}

// Allows launches of a kernel with `bytes` of dynamic shared memory on the current device.
//
// It sets the limit once, to the device's maximum less the kernel's static shared memory, and never
// lowers it, so that plans made earlier or by other threads remain valid. The limit changes neither
// occupancy nor a launch that uses less.
// Returns cudaErrorInvalidConfiguration if the device has less, or the error of a CUDA call. From
// CUDA 12.8 on it neither reports nor clears an error that an earlier call left; before,
// cudaFuncSetAttribute clears it. Cost: one query where the limit already suffices.
static inline cudaError_t tmapi_launch_shared(const void *kernel, size_t bytes) {
    cudaFuncAttributes attributes;
    int device, most;
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error) return error;
    if ((size_t)attributes.maxDynamicSharedSizeBytes >= bytes) return cudaSuccess;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error) return error;
    if (attributes.sharedSizeBytes + bytes > (size_t)most) return cudaErrorInvalidConfiguration;
    most -= (int)attributes.sharedSizeBytes;
#if CUDART_VERSION >= 12080
    cudaKernel_t handle;
    if ((error = cudaGetKernel(&handle, kernel)) != cudaSuccess) return error;
    return cudaKernelSetAttributeForDevice(handle, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           most, device);
#else
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
#endif
}

// Launches a kernel with the parameters that `arguments` points to. Returns the launch's own error;
// it neither reports nor clears one that an earlier call left. Returns
// cudaErrorInvalidConfiguration for a grid without blocks, where drivers differ, and for one of
// 2^31 blocks or more.
static inline cudaError_t tmapi_launch(const void *kernel, tmapi_launch_shape shape,
                                       void **arguments, cudaStream_t stream) {
    if (!shape.grid || shape.grid > 0x7fffffff) return cudaErrorInvalidConfiguration;
    return cudaLaunchKernel(kernel, dim3((unsigned)shape.grid), dim3(shape.block), arguments,
                            shape.shared, stream);
}

// The address of a kernel's second parameter, your struct. Under TMAP_CHECK it also holds the
// struct's size, or 0 or 1 if the type gives none.
#if defined(TMAP_CHECK) && defined(__cplusplus)
struct tmap_job {
    void *data;
    size_t bytes;
    tmap_job(const void *address) : data((void *)address), bytes(0) {}
    template <class Job>
    tmap_job(const Job *address) : data((void *)address), bytes(sizeof(Job)) {}
    operator void *() const { return data; }
};
#else
typedef const void *tmap_job;
#endif

// Launches a kernel with a plan of `bytes` bytes and a job. Under TMAP_CHECK, from CUDA 12.4 on, it
// prints a message and returns cudaErrorInvalidValue if the kernel's parameters have other sizes.
static inline cudaError_t tmapi_launch_plan(const void *kernel, tmapi_launch_shape shape,
                                            const void *plan, size_t bytes, tmap_job job,
                                            cudaStream_t stream) {
    void *arguments[2] = {(void *)plan, (void *)job};
#if defined(TMAP_CHECK) && defined(__cplusplus) && CUDART_VERSION >= 12040
    const size_t want[2] = {bytes, job.bytes};
    for (int i = 0; i < 2; ++i) {
        size_t at, size = 0;
        const cudaError_t error = cudaFuncGetParamInfo(kernel, (size_t)i, &at, &size);
        if (!error && (size == want[i] || want[i] < 2)) continue;
        printf("threadmap: launch: parameter %d of the kernel has %llu bytes, the %s %llu\n", i + 1,
               (tmap_u64)size, i ? "job" : "plan", (tmap_u64)want[i]);
        return cudaErrorInvalidValue;
    }
#endif
    (void)bytes;
    return tmapi_launch(kernel, shape, arguments, stream);
}

#endif
#endif
