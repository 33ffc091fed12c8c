// SPDX-License-Identifier: MIT
// The facts of a device and a kernel (launch.h), and the blocks that a multiprocessor holds by
// tmap_resident_blocks: beside what the CUDA runtime says here, and, for devices that are not here,
// beside the formula of NVIDIA's <cuda_occupancy.h>, where the toolkit has it.
#include "kit.h"

#include <threadmap/launch.h>

#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#define NVIDIAS_FORMULA 1
#include <cuda_occupancy.h>
#endif
#endif

__global__ void few_registers(int *out) { out[threadIdx.x] = (int)blockIdx.x; }

__global__ void __launch_bounds__(256) static_memory(int *out) {
    __shared__ int all[3000];
    for (int i = (int)threadIdx.x; i < 3000; i += (int)blockDim.x) all[i] = out[i % 256] + i;
    __syncthreads();
    out[threadIdx.x] = all[(threadIdx.x * 37 + out[0]) % 3000];
}

static void same(const char *what, tmap_u64 got, tmap_u64 want) {
    EXPECT(got == want, "%s: %llu, not %llu", what, got, want);
}

// Compute capabilities 7.5 to 12.0, as NVIDIA's programming guide lists them.
typedef struct device {
    tmap_u32 capability, threads, blocks, shared, block_shared, reserved;
} device;
static const device devices[] = {
    {75, 1024, 16, 64 << 10, 64 << 10, 0},      {80, 2048, 32, 164 << 10, 163 << 10, 1024},
    {86, 1536, 16, 100 << 10, 99 << 10, 1024},  {89, 1536, 24, 100 << 10, 99 << 10, 1024},
    {90, 2048, 32, 228 << 10, 227 << 10, 1024}, {100, 2048, 32, 228 << 10, 227 << 10, 1024},
    {120, 1536, 24, 100 << 10, 99 << 10, 1024},
};

static tmap_facts facts_of(const device *d, tmap_u32 registers, tmap_u32 fixed) {
    tmap_facts f;
    f.device.capability = d->capability, f.device.processors = 10;
    f.device.threads = d->threads, f.device.blocks = d->blocks;
    f.device.registers = f.device.block_registers = 65536;
    f.device.shared = d->shared, f.device.block_shared = d->block_shared;
    f.device.reserved_shared = d->reserved, f.device.floats_per_double = 2;
    f.device.concurrent = 1;
    f.kernel.registers = registers, f.kernel.shared = fixed, f.kernel.threads = 1024;
    f.kernel.ptx = d->capability;
    return f;
}

#if defined(NVIDIAS_FORMULA)
static tmap_u32 nvidias(const device *d, tmap_u32 registers, tmap_u32 fixed, tmap_u32 threads,
                        tmap_u32 dynamic) {
    cudaOccDeviceProp device;
    cudaOccFuncAttributes kernel;
    cudaOccDeviceState state;
    cudaOccResult result;
    device.computeMajor = (int)d->capability / 10, device.computeMinor = (int)d->capability % 10;
    device.maxThreadsPerBlock = 1024, device.maxThreadsPerMultiprocessor = (int)d->threads;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536, device.warpSize = 32;
    device.sharedMemPerBlock = 48 << 10, device.sharedMemPerMultiprocessor = d->shared;
    device.sharedMemPerBlockOptin = d->block_shared, device.numSms = 10;
    device.reservedSharedMemPerBlock = d->reserved;
    kernel.maxThreadsPerBlock = 1024, kernel.numRegs = (int)registers;
    kernel.sharedSizeBytes = fixed, kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = d->block_shared - fixed, kernel.numBlockBarriers = 1;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, (int)threads,
                                                dynamic))
        return ~0u;
    return (tmap_u32)result.activeBlocksPerMultiprocessor;
}
#endif

// Every device, and steps through registers, threads and both kinds of shared memory.
static void beside_nvidias_formula(void) {
#if defined(NVIDIAS_FORMULA)
    for (size_t i = 0; i < COUNT(devices); ++i)
        for (tmap_u32 registers = 0; registers < 256; registers += 5)
            for (tmap_u32 threads = 1; threads <= 1024; threads += threads < 32 ? 31 : 32)
                for (tmap_u32 fixed = 0; fixed <= 48 << 10; fixed += 7000)
                    for (tmap_u32 dynamic = 0; dynamic <= devices[i].block_shared - fixed;
                         dynamic += 3333) {
                        const tmap_facts f = facts_of(devices + i, registers, fixed);
                        same("blocks by NVIDIA's formula",
                             tmap_resident_blocks(&f, threads, dynamic),
                             nvidias(devices + i, registers, fixed, threads, dynamic));
                    }
#endif
}

// By hand: 2048 threads, 65536 registers and 228 KB of a multiprocessor of 9.0.
static void known_answers(void) {
    const tmap_facts f64 = facts_of(devices + 4, 64, 0), f255 = facts_of(devices + 4, 255, 0);
    same("64 registers", tmap_resident_blocks(&f64, 512, 0), 2);
    same("100 KB", tmap_resident_blocks(&f64, 512, 100 << 10), 2);
    same("120 KB", tmap_resident_blocks(&f64, 512, 120 << 10), 1);
    same("227 KB", tmap_resident_blocks(&f64, 32, 227 << 10), 1);
    same("more than 227 KB", tmap_resident_blocks(&f64, 32, (227 << 10) + 1), 0);
    same("small blocks", tmap_resident_blocks(&f64, 32, 0), 32);
    same("no threads", tmap_resident_blocks(&f64, 0, 0), 0);
    same("1025 threads", tmap_resident_blocks(&f64, 1025, 0), 0); // more than the kernel's bound
    same("255 registers, 256 threads", tmap_resident_blocks(&f255, 256, 0), 1);
    same("255 registers, 288 threads", tmap_resident_blocks(&f255, 288, 0), 0);
    same("4 GB of shared memory", tmap_resident_blocks(&f64, 32, 1ull << 32), 0);
}

// What the runtime says of the kernels of this program on this device.
static void beside_the_runtime(const void *kernel, const char *name) {
    tmap_facts f;
    CHECK(tmap_facts_get(kernel, &f));
    // The runtime does not look at the bound of a kernel's threads; such a block cannot run.
    for (int threads = 32; threads <= (int)f.kernel.threads; threads += 32)
        for (size_t shared = 0; shared <= 48000; shared += 1500) {
            int blocks;
            if (shared + f.kernel.shared > 48 << 10) break; // without raising the limit
            CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
            same(name, tmap_resident_blocks(&f, (tmap_u32)threads, shared), (tmap_u64)blocks);
        }
}

static void refusals(void) {
    tmap_facts f;
    memset(&f, 7, sizeof f);
    REFUSED(tmap_facts_get(NULL, &f));
    REFUSED(tmap_facts_get((const void *)few_registers, NULL));
    expect(tmap_facts_get(&f, &f) != cudaSuccess, "something else");
    same("nothing is written", f.kernel.registers, 0x07070707);
    (void)cudaGetLastError();
}

int main(void) {
    int count = 0;
    known_answers();
    beside_nvidias_formula();
    if (cudaGetDeviceCount(&count) == cudaSuccess && count) {
        beside_the_runtime((const void *)few_registers, "few registers");
        beside_the_runtime((const void *)static_memory, "static shared memory");
        refusals();
    }
    return kit_end("test_facts");
}
