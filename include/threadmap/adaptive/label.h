// SPDX-License-Identifier: MIT
// label.h: connected components of a map: each cell gets the number of its component.
//
// A component is a greatest set of cells that paths of neighbours join: in a mask, of cells that
// are not 0; in a map of values, of cells of one value. Neighbours share an edge, or a corner too.
// Components are numbered from 1 on in the order of their first cells, row by row from above and
// from left to right in a row, so that labels are the same in every run and on every machine; cells
// of no component get 0.
//
// Six launches:
//   local   a block of threads has 1024 columns and 64 rows (32 of values; half of either on
//           compute capability 7.5) as words of bits, and finds its components in shared memory
//           (label_local.h); those that reach an edge to another block become nodes of a graph
//   unite   nodes of blocks side by side become one, by union-find in global memory (label_graph.h)
//   roots   each node gets its root; first cells are counted for each row of a block
//   sum     sums of those counts say which label a row of a block begins with
//   name    nodes get labels
//   write   cells do (label_write.h)
//
// In between, what a block found stands where its labels will be: two bytes for each run of cells.
// The order of unions is any, but a parent's first cell always lies before its child's, so that
// roots do not depend on it.
//
// label_measure.h has areas and bounding boxes.
#ifndef TMAP_ADAPTIVE_LABEL_H
#define TMAP_ADAPTIVE_LABEL_H

#include "../launch.h"
#include "label_local.h"
#include "label_plan.h"
#include "label_write.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

#ifndef TMAPI_LABEL_RESIDENT
#define TMAPI_LABEL_RESIDENT 2
#endif

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, TMAPI_LABEL_RESIDENT)
    tmapi_label_mask_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    unsigned short *parents = (unsigned short *)tmapi_label_memory;
    tmapi_label_local_mask(&job, parents,
                           (tmapi_label_local *)(parents + job.rows * TMAPI_LABEL_SLOTS_MASK));
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, TMAPI_LABEL_RESIDENT)
    tmapi_label_values_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    unsigned short *parents = (unsigned short *)tmapi_label_memory;
    tmapi_label_local_values(&job, parents,
                             (tmapi_label_local *)(parents + job.rows * TMAPI_LABEL_SLOTS_VALUES));
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
                                             tmap_u32 shared, tmapi_label_job *job,
                                             cudaStream_t stream) {
    void *arguments[1];
    cudaError_t error = cudaSuccess;
    arguments[0] = job;
    if (shared) error = tmapi_launch_shared(kernel, shared);
    if (error != cudaSuccess) return error;
    return cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(threads), arguments, shared,
                            stream);
}

// Shared memory of the last kernel.
static inline tmap_u32 tmapi_label_shared_write(const tmapi_label_job *job, tmap_u32 warps) {
    const tmap_u32 size = job->wide ? 8 : 4;
    return (4 + size) * TMAPI_LABEL_PARTS + size * job->nodes +
           warps * (TMAPI_LABEL_WORDS * 16 + size * job->slots);
}

// Launch number `step` of 6.
static inline cudaError_t tmapi_label_step(const tmap_label_plan *plan, tmapi_label_job *job,
                                           int step, cudaStream_t stream) {
    const void *kernel;
    tmap_u64 blocks = plan->blocks;
    tmap_u32 threads = 128, shared = 0;
    switch (step) {
    case 0:
        kernel = job->type == TMAP_LABEL_MASK ? (const void *)tmapi_label_mask_kernel
                                              : (const void *)tmapi_label_values_kernel;
        threads = plan->threads, shared = tmapi_label_shared_local(job->rows * job->slots);
        break;
    case 1:
        kernel = (const void *)tmapi_label_unite_kernel, threads = TMAPI_LABEL_UNITE_WARPS * 32;
        break;
    case 2: kernel = (const void *)tmapi_label_roots_kernel; break;
    case 3:
        kernel = (const void *)tmapi_label_sum_kernel, threads = TMAPI_LABEL_SCAN_THREADS;
        blocks = (job->counts + TMAPI_LABEL_CHUNK - 1) / TMAPI_LABEL_CHUNK;
        break;
    case 4: kernel = (const void *)tmapi_label_name_kernel; break;
    default:
        kernel = job->wide ? (const void *)tmapi_label_write_wide_kernel
                           : (const void *)tmapi_label_write_kernel;
        threads = job->wide ? TMAPI_LABEL_WRITE_WARPS_WIDE : TMAPI_LABEL_WRITE_WARPS;
        while (tmapi_label_shared_write(job, threads) > plan->shared && threads > 1) threads /= 2;
        shared = tmapi_label_shared_write(job, threads), threads *= 32;
    }
    return tmapi_label_launch(kernel, blocks, threads, shared, job, stream);
}

// Labels the components of a map.
// plan: of tmap_label_plan_make. In device memory: cells, at a multiple of their type's size, as
// many as the plan's map says; workspace: plan->workspace bytes at a multiple of 16; labels:
// width * height int or long long, that of column x and row y at number y * width + x; count: the
// number of components goes there.
// Returns cudaErrorInvalidValue where an address is null or misaligned, or what the launches do.
// Nothing is allocated and nothing waits: the launches may be captured. Two runs at a time want two
// workspaces.
// Cost: cells are read once and labels are written once; the more runs of cells there are in rows,
// the more is done in shared memory in between. Each launch has a block for 1024 x 64 cells, or for
// 1024 x 32 of values.
// Example: the mask 1 1 0 / 0 0 1 / 1 0 1 gives 1 1 0 / 0 0 2 / 3 0 2 and count 3 by edges, and
// 1 1 0 / 0 0 1 / 2 0 1 and count 2 by corners too.
static inline cudaError_t tmap_label(const tmap_label_plan *plan, const void *cells,
                                     void *workspace, void *labels, tmap_u64 *count,
                                     cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    tmapi_label_job job;
    tmap_u64 bytes, size;
    if (!plan || !cells || !workspace || !labels || !count) return cudaErrorInvalidValue;
    job = plan->job;
    size = job.type == TMAP_LABEL_I16 ? 2 : job.type >= TMAP_LABEL_I32 ? 4 : 1;
    if ((tmap_u64)cells % size || (tmap_u64)workspace % 16 || (tmap_u64)count % 8 ||
        (tmap_u64)labels % (job.wide ? 8 : 4))
        return cudaErrorInvalidValue;
    tmapi_label_place_all(&job, (tmap_u64)workspace, &bytes);
    job.cells = cells, job.labels = labels, job.found = count;
    for (int step = 0; step < 6 && error == cudaSuccess; ++step)
        error = tmapi_label_step(plan, &job, step, stream);
    return error;
}

#endif
#endif
