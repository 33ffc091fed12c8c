// SPDX-License-Identifier: MIT
// mandelbrot_dp.h: the Mandelbrot set by CUDA dynamic parallelism (DP), the baseline of adaptive
// serial kernels. A block queries a region. To subdivide it, it launches a kernel for its children.
//
//     DP-SBR: the block fills a uniform region, or computes a leaf
//     DP-MBR: it launches a kernel of several blocks for that
//
// Dwell, rule, shared borders and regions are those of adaptive/mandelbrot.h, so the picture is
// that of ASK in every bit, unless launches were lost: a device keeps a limited number of launches
// pending (cudaLimitDevRuntimePendingLaunchCount, 2048 by default), and one beyond the limit does
// not happen. Each launch is checked on the device, and failed ones are counted.
//
// Only for files compiled with -rdc=true and linked with cudadevrt; elsewhere TMAP_DP (dp.h) is 0
// and the functions return cudaErrorNotSupported.
//
// Source: Quezada, Navarro, Romero, Aguilera, FGCS 145 (2023), sections 3 and 6.
#ifndef TMAP_PAPERS_MANDELBROT_DP_H
#define TMAP_PAPERS_MANDELBROT_DP_H

#include "../adaptive/mandelbrot.h"
#include "ask_sbr.h"
#include "dp.h"

#if TMAP_CUDA && !TMAP_NVRTC

// How dynamic parallelism computes a picture.
typedef struct tmap_mandelbrot_dp {
    int form;          // TMAP_ASK_SBR or TMAP_ASK_MBR
    tmap_ask_params a; // as for tmap_mandelbrot_workspace_bytes; g <= 65535
    tmap_u32 threads;  // of a block: a multiple of 32 up to 512; 0: 256
    tmap_u64 pending;  // 0, or the device's new limit of pending launches, which remains set after
                       // the call and takes device memory for each
    int *columns;      // null, or tmap_mandelbrot_dp_columns_bytes bytes of device memory for the
                       // columns of borders
    tmap_u64 *lost;    // in device memory: receives the number of failed launches, whose pixels
                       // are not written
} tmap_mandelbrot_dp;

// Bytes of the columns of borders; 0 if they are kept in the picture, or for refused arguments.
TMAP_FN tmap_u64 tmap_mandelbrot_dp_columns_bytes(const tmap_mandelbrot *m, tmap_ask_params a) {
    tmap_ask_domain d;
    if (tmap_ask_domain_make(tmapi_mandelbrot_box(m), a, &d)) return 0;
    return tmapi_mandelbrot_columns(&d);
}

#if TMAP_DP

// No kernel waits for a child, and children need not wait for each other.
#if defined(cudaStreamFireAndForget)
#define TMAPI_MANDELBROT_DP_STREAM cudaStreamFireAndForget
#else
#define TMAPI_MANDELBROT_DP_STREAM ((cudaStream_t)0)
#endif

// Launch bounds for numbers of a type: a thread has the registers with which a multiprocessor holds
// three blocks of 256 in float, and two in double.
#define TMAPI_MANDELBROT_DP_F32 768
#define TMAPI_MANDELBROT_DP_F64 512

// The most threads of a block: with more of them it would need more than 48 KB of shared memory.
#define TMAPI_MANDELBROT_DP_MOST 512

// The shared memory of a block.
TMAP_FN tmap_u32 tmapi_mandelbrot_dp_shared(tmap_u32 threads) {
    return tmapi_ask_scratch_first(threads) +
           threads / 32 * (tmap_u32)sizeof(tmapi_mandelbrot_queue);
}

// ---- kernels ------------------------------------------------------------------------------------
//
// In all of them run.level is the level of the regions that are queried or finished. Children have
// the same number of threads in a block as their parent.

static __global__ void tmapi_mandelbrot_dp_query_f32(tmapi_mandelbrot_job job, tmap_ask_run run,
                                                     tmap_u64 parent, int form, tmap_u64 *lost);
static __global__ void tmapi_mandelbrot_dp_query_f64(tmapi_mandelbrot_job job, tmap_ask_run run,
                                                     tmap_u64 parent, int form, tmap_u64 *lost);

// DP-MBR: many blocks for the terminal work of one region.
static __global__ void __launch_bounds__(TMAPI_MANDELBROT_DP_F32, 1)
    tmapi_mandelbrot_dp_fill(tmapi_mandelbrot_job job, tmap_ask_run run, tmap_u64 scalar,
                             tmap_u32 value) {
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&run.workspace.domain, run.level);
    const tmap_ask_team team = {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x,
                                0xffffffffu, tmapi_ask_scratch(&run)};
    tmap_ask_region region;
    if (tmapi_ask_region(2, &grid, scalar, &region))
        tmapi_mandelbrot_terminal(&job, &region, value, team);
}

// DP-MBR: many blocks for the leaf work of one region.
TMAP_DEVICE void tmapi_mandelbrot_dp_leaf(tmapi_mandelbrot_job *job, tmap_ask_run *run,
                                          tmap_u64 scalar, int f64) {
    const tmapi_ask_workers all = tmapi_ask_all_workers(0);
    run->workspace.domain.dims = 2, job->f64 = f64;
    tmapi_ask_leaf_now(run, run->level, scalar, all, tmapi_mandelbrot_leaf_elements,
                       tmapi_mandelbrot_leaf, job);
}
static __global__ void __launch_bounds__(TMAPI_MANDELBROT_DP_F32, 1)
    tmapi_mandelbrot_dp_leaf_f32(tmapi_mandelbrot_job job, tmap_ask_run run, tmap_u64 scalar) {
    tmapi_mandelbrot_dp_leaf(&job, &run, scalar, 0);
}
static __global__ void __launch_bounds__(TMAPI_MANDELBROT_DP_F64, 1)
    tmapi_mandelbrot_dp_leaf_f64(tmapi_mandelbrot_job job, tmap_ask_run run, tmap_u64 scalar) {
    tmapi_mandelbrot_dp_leaf(&job, &run, scalar, 1);
}

// A block queries one region: at level 0 that of its block numbers, else that child of `parent`.
TMAP_DEVICE void tmapi_mandelbrot_dp_query(tmapi_mandelbrot_job *job, tmap_ask_run *run,
                                           tmap_u64 parent, int form, tmap_u64 *lost, int f64) {
    const tmap_ask_domain *d = &run->workspace.domain;
    const tmapi_ask_workers block = {threadIdx.x / 32, blockDim.x / 32, 0};
    const tmap_u32 shared = tmapi_mandelbrot_dp_shared(blockDim.x);
    const tmapi_ask_grid grid = tmapi_ask_grid_make(d, run->level);
    const tmap_u64 scalar = run->level
                                ? tmapi_ask_child(2, d->r, parent, blockIdx.y * d->r + blockIdx.x)
                                : tmapi_ask_pack(2, blockIdx.x, blockIdx.y, 0);
    const tmap_ask_team team = {threadIdx.x, blockDim.x, 0xffffffffu, tmapi_ask_scratch(run)};
    tmap_ask_region region;
    tmap_ask_range range;
    if (!tmapi_ask_region(2, &grid, scalar, &region)) return; // the same in all threads
    run->workspace.domain.dims = 2, job->f64 = f64;
    range = tmapi_ask_range_block(tmapi_mandelbrot_query(job, &region, team));
    if (range.least == range.most) {
        if (form == TMAP_ASK_SBR) {
            tmapi_mandelbrot_terminal(job, &region, range.least, team);
            return;
        }
        if (threadIdx.x) return;
        tmapi_mandelbrot_dp_fill<<<tmap_ask_region_elements(&region) / 4096 + 1, blockDim.x, shared,
                                   TMAPI_MANDELBROT_DP_STREAM>>>(*job, *run, scalar, range.least);
    } else if (run->level + 1 == d->levels) {
        const tmap_u32 pixels = (region.x1 - region.x0 - 1) * (region.y1 - region.y0 - 1);
        const unsigned blocks = pixels / blockDim.x + 1;
        if (form == TMAP_ASK_SBR) {
            tmapi_ask_leaf_now(run, run->level, scalar, block, tmapi_mandelbrot_leaf_elements,
                               tmapi_mandelbrot_leaf, job);
            return;
        }
        if (threadIdx.x) return;
        if (f64)
            tmapi_mandelbrot_dp_leaf_f64<<<blocks, blockDim.x, shared,
                                           TMAPI_MANDELBROT_DP_STREAM>>>(*job, *run, scalar);
        else
            tmapi_mandelbrot_dp_leaf_f32<<<blocks, blockDim.x, shared,
                                           TMAPI_MANDELBROT_DP_STREAM>>>(*job, *run, scalar);
    } else {
        const tmapi_ask_source of = {run->level, 1, d->r, 0, scalar};
        const dim3 children(d->r, d->r, 1);
        tmap_ask_work work;
        tmapi_ask_work_begin(&work, run, of, block, tmapi_mandelbrot_share_elements, job);
        tmapi_mandelbrot_share(job, &work);
        __syncthreads(); // a child sees what its parent's block wrote before
        if (threadIdx.x) return;
        ++run->level;
        if (f64)
            tmapi_mandelbrot_dp_query_f64<<<children, blockDim.x, shared,
                                            TMAPI_MANDELBROT_DP_STREAM>>>(*job, *run, scalar, form,
                                                                          lost);
        else
            tmapi_mandelbrot_dp_query_f32<<<children, blockDim.x, shared,
                                            TMAPI_MANDELBROT_DP_STREAM>>>(*job, *run, scalar, form,
                                                                          lost);
    }
    if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull); // of the one launch above
}

// Computes the borders of the regions of level 0, with all warps of the grid.
TMAP_DEVICE void tmapi_mandelbrot_dp_border(tmapi_mandelbrot_job *job, tmap_ask_run *run, int f64) {
    const tmapi_ask_source of = {TMAP_ASK_WHOLE, 1, run->workspace.domain.g, 0, 0};
    tmap_ask_work work;
    run->workspace.domain.dims = 2, job->f64 = f64;
    tmapi_ask_work_begin(&work, run, of, tmapi_ask_all_workers(0), tmapi_mandelbrot_share_elements,
                         job);
    tmapi_mandelbrot_share(job, &work);
}

static __global__ void __launch_bounds__(TMAPI_MANDELBROT_DP_F32, 1)
    tmapi_mandelbrot_dp_query_f32(tmapi_mandelbrot_job job, tmap_ask_run run, tmap_u64 parent,
                                  int form, tmap_u64 *lost) {
    tmapi_mandelbrot_dp_query(&job, &run, parent, form, lost, 0);
}
static __global__ void __launch_bounds__(TMAPI_MANDELBROT_DP_F32, 1)
    tmapi_mandelbrot_dp_border_f32(tmapi_mandelbrot_job job, tmap_ask_run run) {
    tmapi_mandelbrot_dp_border(&job, &run, 0);
}
static __global__ void __launch_bounds__(TMAPI_MANDELBROT_DP_F64, 1)
    tmapi_mandelbrot_dp_query_f64(tmapi_mandelbrot_job job, tmap_ask_run run, tmap_u64 parent,
                                  int form, tmap_u64 *lost) {
    tmapi_mandelbrot_dp_query(&job, &run, parent, form, lost, 1);
}
static __global__ void __launch_bounds__(TMAPI_MANDELBROT_DP_F64, 1)
    tmapi_mandelbrot_dp_border_f64(tmapi_mandelbrot_job job, tmap_ask_run run) {
    tmapi_mandelbrot_dp_border(&job, &run, 1);
}

// ---- the host's part ----------------------------------------------------------------------------

static inline cudaError_t tmapi_mandelbrot_dp_launch(const tmap_mandelbrot *m,
                                                     const tmap_mandelbrot_dp *how, int *out,
                                                     cudaStream_t stream) {
    const void *border_kernel, *query_kernel;
    tmapi_launch_shape border = {0, 0, 0};
    tmap_mandelbrot_dp h;
    tmap_facts facts;
    tmapi_mandelbrot_job job;
    tmap_ask_run run;
    tmap_u64 parent = 0;
    tmap_ask_domain *d = &run.workspace.domain;
    void *border_arguments[] = {&job, &run}, *arguments[] = {&job, &run, &parent, &h.form, &h.lost};
    cudaError_t status;
    memset(&run, 0, sizeof run);
    if (tmap_mandelbrot_check(m) || !how || !out || (tmap_u64)out % sizeof *out)
        return cudaErrorInvalidValue;
    h = *how;
    if (h.form < 0 || h.form >= TMAP_ASK_FORM_COUNT || !h.lost || h.threads % 32 ||
        h.threads > TMAPI_MANDELBROT_DP_MOST || (tmap_u64)h.columns % sizeof *h.columns ||
        tmap_ask_domain_make(tmapi_mandelbrot_box(m), h.a, d) || d->g > 65535)
        return cudaErrorInvalidValue;
    if (h.threads == 0) h.threads = 256;
    run.tuning = tmap_ask_tuning_make();
    run.scratch = sizeof(tmapi_mandelbrot_queue);
    job = tmapi_mandelbrot_job_make(m);
    border_kernel =
        (const void *)(job.f64 ? tmapi_mandelbrot_dp_border_f64 : tmapi_mandelbrot_dp_border_f32);
    query_kernel =
        (const void *)(job.f64 ? tmapi_mandelbrot_dp_query_f64 : tmapi_mandelbrot_dp_query_f32);
    job.out = out;
    if (tmapi_mandelbrot_columns(d)) job.columns = h.columns;
    if (h.pending) {
        status = cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, (size_t)h.pending);
        if (status != cudaSuccess) return status;
    }
    if ((status = cudaMemsetAsync(h.lost, 0, sizeof *h.lost, stream)) != cudaSuccess) return status;
    if ((status = tmap_facts_get(border_kernel, &facts)) != cudaSuccess) return status;
    border.block = h.threads, border.shared = tmapi_mandelbrot_dp_shared(h.threads);
    border.grid =
        facts.device.processors * tmap_resident_blocks(&facts, border.block, border.shared);
    status = tmapi_launch(border_kernel, border, border_arguments, stream);
    if (status != cudaSuccess) return status;
    return cudaLaunchKernel(query_kernel, dim3(d->g, d->g, 1), dim3(h.threads, 1, 1), arguments,
                            border.shared, stream);
}

#endif // TMAP_DP

// Writes the dwells of a picture by dynamic parallelism. out: as for tmap_mandelbrot_stream.
// Returns cudaErrorInvalidValue for an argument outside its range, before any launch;
// cudaErrorNotSupported without -rdc=true; else the first error of the host's calls.
static inline cudaError_t tmap_mandelbrot_dp_run(const tmap_mandelbrot *m,
                                                 const tmap_mandelbrot_dp *how, int *out,
                                                 cudaStream_t stream) {
#if TMAP_DP
    return tmapi_mandelbrot_dp_launch(m, how, out, stream);
#else
    (void)m, (void)how, (void)out, (void)stream;
    return cudaErrorNotSupported;
#endif
}

#endif
#endif
