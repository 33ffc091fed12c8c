// SPDX-License-Identifier: MIT
// ask.h: adaptive serial kernels (ASK): subdivision of a domain whose work is found at run time,
// one launch after another instead of recursion. What all problems share: parameters, workspace and
// counters (ask_domain.h), how the threads of a grid come by regions and elements (ask_work.h), and
// here what the host does. A problem of one's own is stamped out by ask_stamp.h; mandelbrot.h is
// one.
//
// Level 0 has g parts along each axis, level l has g r^l (region.h). Every region of a level is
// asked whether it is uniform; then it is finished by a terminal work, or at the last level by a
// leaf work, or else its r^dims children are the regions of the next level.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5. Differences, all of them for speed: a table holds
// the regions that subdivide, each of which stands for its r^dims children, so that it is r^dims
// times shorter than the paper's (equation 26); tables are allocated once; counts stay on the
// device; and MBR leaves terminal and leaf work of all levels to one launch at the end.
#ifndef TMAP_ADAPTIVE_ASK_H
#define TMAP_ADAPTIVE_ASK_H

#include "ask_domain.h"
#include "ask_work.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// 1 where the graph driver is: nvcc with CUDA 12.4 or later.
#if defined(__CUDACC_VER_MAJOR__) && defined(CUDART_VERSION) && CUDART_VERSION >= 12040
#define TMAP_ASK_GRAPHS 1
#else
#define TMAP_ASK_GRAPHS 0
#endif

// The CUDA error for a code of tmap_ask_domain_make.
static inline cudaError_t tmapi_ask_error(int code) {
    return code == TMAP_OK ? cudaSuccess : cudaErrorInvalidValue;
}

// A workspace in memory allocated here; arguments as for tmap_ask_workspace_bytes. Returns
// cudaErrorInvalidValue for parameters that are refused, else what cudaMalloc returns.
static inline cudaError_t tmap_ask_workspace_create(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz,
                                                    tmap_ask_params a, tmap_u64 capacity,
                                                    tmap_ask_workspace *out) {
    tmap_u64 bytes = tmap_ask_workspace_bytes(nx, ny, nz, a, capacity);
    void *memory = 0;
    cudaError_t status;
    int error;
    if (!out || !bytes) return cudaErrorInvalidValue;
    if ((status = cudaMalloc(&memory, bytes)) != cudaSuccess) return status;
    error = tmap_ask_workspace_set(nx, ny, nz, a, capacity, memory, bytes, out);
    if (error) cudaFree(memory);
    return tmapi_ask_error(error);
}

// Frees what tmap_ask_workspace_create allocated.
static inline cudaError_t tmap_ask_workspace_destroy(tmap_ask_workspace *w) {
    cudaError_t status = w ? cudaFree(w->memory) : cudaErrorInvalidValue;
    if (w) w->memory = 0;
    return status;
}

// What the last run with this workspace counted. Waits for the stream.
// Example, n = 1024, (2, 2, 1), dwell 512 on the paper's window: subdivided = 4, 14, 50, 170, ...
static inline cudaError_t tmap_ask_counts_read(const tmap_ask_workspace *w, tmap_ask_counts *out,
                                               cudaStream_t stream) {
    tmapi_ask_control control;
    tmap_ask_counts c;
    cudaError_t status;
    if (!w || !w->memory || !out) return cudaErrorInvalidValue;
    status = cudaMemcpyAsync(&control, w->control, sizeof control, cudaMemcpyDeviceToHost, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    if (status != cudaSuccess) return status;
    c.levels = w->domain.levels;
    c.refused = 0;
    for (tmap_u32 l = 0; l < TMAP_ASK_LEVELS_MAX; ++l) {
        const tmapi_ask_level *from = &control.level[l];
        tmap_ask_level_counts *to = &c.level[l];
        to->refused = from->refused;
        to->subdivided = from->subdivided - from->refused;
        to->filled = from->filled;
        to->leaves = from->leaves + from->refused;
        to->empty = from->empty;
        to->regions = to->subdivided + to->filled + to->leaves;
        c.refused += to->refused;
    }
    *out = c;
    return cudaSuccess;
}

// Blocks of a launch for `items` pieces of work, `per_block` to each, on this device: as many as
// stay resident, or fewer if there is less work.
static inline cudaError_t tmapi_ask_blocks(tmap_u64 items, tmap_u64 per_block, tmap_u32 resident,
                                           unsigned *out) {
    int device, processors;
    tmap_u64 most, need = items / per_block + (items % per_block != 0);
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    most = (tmap_u64)processors * resident;
    *out = (unsigned)(need < 1 ? 1 : need < most ? need : most);
    return cudaSuccess;
}

#endif
#endif
