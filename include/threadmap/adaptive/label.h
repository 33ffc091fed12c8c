// SPDX-License-Identifier: MIT
// label.h: connected components of a map: each cell gets the number of its component.
#ifndef TMAP_ADAPTIVE_LABEL_H
#define TMAP_ADAPTIVE_LABEL_H

#include "label_local.h"
#include "label_plan.h"
#include "label_write.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

#ifndef TMAPI_LABEL_RESIDENT
#define TMAPI_LABEL_RESIDENT 2
#endif

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, TMAPI_LABEL_RESIDENT)
    tmapi_label_mask_kernel(tmapi_label_job job, int stages) {
    extern __shared__ uint4 tmapi_label_memory[];
    unsigned short *parents = (unsigned short *)tmapi_label_memory;
    tmapi_label_local_mask(
        &job, parents,
        (tmapi_label_local *)(parents + TMAPI_LABEL_ROWS_MASK * TMAPI_LABEL_SLOTS_MASK), stages);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, TMAPI_LABEL_RESIDENT)
    tmapi_label_values_kernel(tmapi_label_job job, int stages) {
    extern __shared__ uint4 tmapi_label_memory[];
    unsigned short *parents = (unsigned short *)tmapi_label_memory;
    tmapi_label_local_values(
        &job, parents,
        (tmapi_label_local *)(parents + TMAPI_LABEL_ROWS_VALUES * TMAPI_LABEL_SLOTS_VALUES),
        stages);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_UNITE_WARPS * 32)
    tmapi_label_unite_kernel(tmapi_label_job job) {
    tmapi_label_unite_block(&job);
}
static __global__ void __launch_bounds__(128) tmapi_label_roots_kernel(tmapi_label_job job) {
    tmapi_label_roots(&job);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_SCAN_THREADS)
    tmapi_label_sum_kernel(tmapi_label_job job) {
    __shared__ tmap_u64 sums[TMAPI_LABEL_SCAN_THREADS / 32];
    __shared__ tmap_u32 last;
    tmapi_label_sum(&job, sums, &last);
}
static __global__ void __launch_bounds__(128) tmapi_label_name_kernel(tmapi_label_job job) {
    __shared__ tmap_u32 dead[TMAPI_LABEL_PARTS];
    tmapi_label_name(&job, dead);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS * 32)
    tmapi_label_write_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS_WIDE * 32)
    tmapi_label_write_wide_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 1);
}

static inline cudaError_t tmapi_label_launch(const void *kernel, tmap_u64 blocks, tmap_u32 threads,
                                             tmap_u32 shared, tmapi_label_job *job, int *stages,
                                             cudaStream_t stream) {
    void *arguments[2];
    cudaError_t error = cudaSuccess;
    arguments[0] = job, arguments[1] = stages;
    if (shared > 48 * 1024)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)shared);
    if (error != cudaSuccess) return error;
    return cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(threads), arguments, shared,
                            stream);
}

// which: a bit for each kernel
static inline cudaError_t tmapi_label_run(const tmap_label_plan *plan, const void *cells,
                                          void *workspace, void *labels, tmap_u64 *count,
                                          cudaStream_t stream, int which, int stages) {
    tmapi_label_job job = plan->job;
    const int mask = job.type == TMAP_LABEL_MASK;
    const tmap_u32 size = job.wide ? 8 : 4;
    const tmap_u32 warps = job.wide ? TMAPI_LABEL_WRITE_WARPS_WIDE : TMAPI_LABEL_WRITE_WARPS;
    const tmap_u32 slots = job.rows * job.slots;
    const tmap_u32 shared = slots * 2 + (tmap_u32)sizeof(tmapi_label_local) + slots / 8;
    const tmap_u32 room = (4 + size) * TMAPI_LABEL_PARTS + size * job.nodes +
                          warps * (TMAPI_LABEL_WORDS * 16 + size * job.slots);
    tmap_u64 bytes;
    cudaError_t error = cudaSuccess;
    tmapi_label_place_all(&job, (char *)workspace, &bytes);
    job.cells = cells, job.labels = labels, job.found = count;
    if (which & 1)
        error = tmapi_label_launch(mask ? (const void *)tmapi_label_mask_kernel
                                        : (const void *)tmapi_label_values_kernel,
                                   plan->blocks, TMAPI_LABEL_WARPS * 32, shared, &job, &stages,
                                   stream);
    if (error != cudaSuccess) return error;
    if (which & 2)
        error = tmapi_label_launch((const void *)tmapi_label_unite_kernel, plan->blocks,
                                   TMAPI_LABEL_UNITE_WARPS * 32, 0, &job, 0, stream);
    if (error != cudaSuccess) return error;
    if (which & 4)
        error = tmapi_label_launch((const void *)tmapi_label_roots_kernel, plan->blocks, 128, 0,
                                   &job, 0, stream);
    if (error != cudaSuccess) return error;
    if (which & 8)
        error = tmapi_label_launch((const void *)tmapi_label_sum_kernel,
                                   (job.counts + TMAPI_LABEL_CHUNK - 1) / TMAPI_LABEL_CHUNK,
                                   TMAPI_LABEL_SCAN_THREADS, 0, &job, 0, stream);
    if (error != cudaSuccess) return error;
    if (which & 16)
        error = tmapi_label_launch((const void *)tmapi_label_name_kernel, plan->blocks, 128, 0,
                                   &job, 0, stream);
    if (error != cudaSuccess) return error;
    if (which & 32)
        error = tmapi_label_launch(job.wide ? (const void *)tmapi_label_write_wide_kernel
                                            : (const void *)tmapi_label_write_kernel,
                                   plan->blocks, warps * 32, room, &job, 0, stream);
    return error;
}

static inline cudaError_t tmap_label(const tmap_label_plan *plan, const void *cells,
                                     void *workspace, void *labels, tmap_u64 *count,
                                     cudaStream_t stream) {
    return tmapi_label_run(plan, cells, workspace, labels, count, stream, 63, 9);
}

#endif
#endif
