// SPDX-License-Identifier: MIT
// mandelbrot_dp_stamp.h: the kernels of mandelbrot_dp.h for one type of numbers. mandelbrot_dp.h
// includes it once for float and once for double; it defines nothing without TMAPI_MANDELBROT_NAME.
#ifndef TMAP_PAPERS_MANDELBROT_DP_STAMP_H
#define TMAP_PAPERS_MANDELBROT_DP_STAMP_H
#include "../adaptive/mandelbrot_picture.h"
#include "ask_sbr.h"

// Launch bounds for numbers of this size: a thread has the registers with which a multiprocessor
// holds three blocks of 256 in float, and two in double.
#define TMAPI_MANDELBROT_DP_BOUND(bytes) ((bytes) > 4 ? 512 : 768)

// The most threads of a block: with more of them it would need more than 48 KB of shared memory.
#define TMAPI_MANDELBROT_DP_MOST 512

#if TMAP_CUDA
// The shared memory of a block.
TMAP_FN tmap_u32 tmapi_mandelbrot_dp_shared(tmap_u32 threads) {
    return tmapi_ask_scratch_first(threads) + threads / 32 * TMAPI_MANDELBROT_SCRATCH;
}
#endif

#endif

#if defined(TMAPI_MANDELBROT_NAME)

// In all kernels run.level is the level of the regions that are queried or finished. Children have
// the same number of threads in a block as their parent.
#define TMAPI_MANDELBROT_DP_BOUNDS \
    __launch_bounds__(TMAPI_MANDELBROT_DP_BOUND(sizeof(TMAPI_MB(z)) / 2), 1)

// DP-MBR: many blocks for the leaf work of one region.
static __global__ void TMAPI_MANDELBROT_DP_BOUNDS TMAPI_MB(dp_leaf_kernel)(TMAPI_MB(job) job,
                                                                           tmap_ask_run run,
                                                                           tmap_u64 scalar) {
    const tmapi_ask_workers all = tmapi_ask_all_workers(0);
    run.workspace.domain.dims = 2;
    tmapi_ask_leaf_now(&run, run.level, scalar, all, tmapi_mandelbrot_leaf_elements, TMAPI_MB(leaf),
                       &job);
}

// DP-MBR: many blocks for the terminal work of one region.
static __global__ void TMAPI_MANDELBROT_DP_BOUNDS TMAPI_MB(dp_fill_kernel)(TMAPI_MB(job) job,
                                                                           tmap_ask_run run,
                                                                           tmap_u64 scalar,
                                                                           tmap_u32 value) {
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&run.workspace.domain, run.level);
    const tmap_ask_team team = {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x,
                                0xffffffffu, tmapi_ask_scratch(&run)};
    tmap_ask_region region;
    if (tmapi_ask_region(2, &grid, scalar, &region))
        tmapi_mandelbrot_terminal(&job, &region, value, team);
}

// A block queries one region: at level 0 that of its block numbers, else that child of `parent`.
static __global__ void TMAPI_MANDELBROT_DP_BOUNDS TMAPI_MB(dp_kernel)(TMAPI_MB(job) job,
                                                                      tmap_ask_run run,
                                                                      tmap_u64 parent, int form,
                                                                      tmap_u64 *lost) {
    const tmap_ask_domain *d = &run.workspace.domain;
    const tmapi_ask_workers block = {threadIdx.x / 32, blockDim.x / 32, 0};
    const tmap_u32 shared = tmapi_mandelbrot_dp_shared(blockDim.x);
    const tmapi_ask_grid grid = tmapi_ask_grid_make(d, run.level);
    const tmap_u64 scalar = run.level
                                ? tmapi_ask_child(2, d->r, parent, blockIdx.y * d->r + blockIdx.x)
                                : tmapi_ask_pack(2, blockIdx.x, blockIdx.y, 0);
    const tmap_ask_team team = {threadIdx.x, blockDim.x, 0xffffffffu, tmapi_ask_scratch(&run)};
    tmap_ask_region region;
    tmap_ask_range range;
    if (!tmapi_ask_region(2, &grid, scalar, &region)) return; // the same in all threads
    run.workspace.domain.dims = 2;
    range = tmapi_ask_range_block(tmapi_mandelbrot_query(&job, &region, team));
    if (range.least == range.most) {
        if (form == TMAP_ASK_SBR)
            tmapi_mandelbrot_terminal(&job, &region, range.least, team);
        else if (threadIdx.x == 0) {
            unsigned blocks = tmap_ask_region_elements(&region) / 4096 + 1;
            TMAPI_MB(dp_fill_kernel)<<<blocks, blockDim.x, shared, TMAPI_MANDELBROT_DP_STREAM>>>(
                job, run, scalar, range.least);
            if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
        }
    } else if (run.level + 1 == d->levels) {
        if (form == TMAP_ASK_SBR) {
            tmapi_ask_leaf_now(&run, run.level, scalar, block, tmapi_mandelbrot_leaf_elements,
                               TMAPI_MB(leaf), &job);
        } else if (threadIdx.x == 0) {
            const tmap_u32 pixels = (region.x1 - region.x0 - 1) * (region.y1 - region.y0 - 1);
            unsigned blocks = pixels / blockDim.x + 1;
            TMAPI_MB(dp_leaf_kernel)<<<blocks, blockDim.x, shared, TMAPI_MANDELBROT_DP_STREAM>>>(
                job, run, scalar);
            if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
        }
    } else {
        const tmapi_ask_source of = {run.level, 1, d->r, 0, scalar};
        tmap_ask_work work;
        tmapi_ask_work_begin(&work, &run, of, block, tmapi_mandelbrot_share_elements, &job);
        TMAPI_MB(share)(&job, &work);
        __syncthreads(); // a child sees what its parent's block wrote before
        if (threadIdx.x == 0) {
            ++run.level;
            TMAPI_MB(
                dp_kernel)<<<dim3(d->r, d->r, 1), blockDim.x, shared, TMAPI_MANDELBROT_DP_STREAM>>>(
                job, run, scalar, form, lost);
            if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
        }
    }
}

// Computes the borders of the regions of level 0, with all warps of the grid.
static __global__ void TMAPI_MANDELBROT_DP_BOUNDS TMAPI_MB(dp_border_kernel)(TMAPI_MB(job) job,
                                                                             tmap_ask_run run) {
    const tmapi_ask_source of = {TMAP_ASK_WHOLE, 1, run.workspace.domain.g, 0, 0};
    tmap_ask_work work;
    run.workspace.domain.dims = 2;
    tmapi_ask_work_begin(&work, &run, of, tmapi_ask_all_workers(0), tmapi_mandelbrot_share_elements,
                         &job);
    TMAPI_MB(share)(&job, &work);
}

static inline cudaError_t TMAPI_MB(dp_launch)(const tmap_mandelbrot *m,
                                              const tmap_mandelbrot_dp *how, int *out,
                                              cudaStream_t stream) {
    const void *border_kernel = (const void *)TMAPI_MB(dp_border_kernel);
    tmapi_launch_shape border = {0, 0, 0};
    tmap_mandelbrot_dp h;
    tmap_facts facts;
    TMAPI_MB(job) job;
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
    run.scratch = TMAPI_MANDELBROT_SCRATCH;
    job = TMAPI_MB(job_make)(m);
    job.to.out = out;
    if (tmapi_mandelbrot_columns(d)) job.to.columns = h.columns;
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
    return cudaLaunchKernel((const void *)TMAPI_MB(dp_kernel), dim3(d->g, d->g, 1),
                            dim3(h.threads, 1, 1), arguments, border.shared, stream);
}

#undef TMAPI_MANDELBROT_DP_BOUNDS
#undef TMAPI_MANDELBROT_NAME

#endif // TMAPI_MANDELBROT_NAME
