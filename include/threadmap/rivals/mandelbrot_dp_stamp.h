// SPDX-License-Identifier: MIT
// mandelbrot_dp_stamp.h: the kernels of mandelbrot_dp.h for one type of numbers. Included by
// mandelbrot_dp.h, once for float and once for double; defines nothing without
// TMAPI_MANDELBROT_NAME.
#ifndef TMAP_RIVALS_MANDELBROT_DP_STAMP_H
#define TMAP_RIVALS_MANDELBROT_DP_STAMP_H
#include "../adaptive/mandelbrot.h"
#endif

#if defined(TMAPI_MANDELBROT_NAME)

// DP-MBR: many blocks for the leaf work of one region.
static __global__ void __launch_bounds__(TMAPI_ASK_THREADS)
    TMAPI_MANDELBROT(dp_leaf_kernel)(TMAPI_MANDELBROT_PARAMS p, tmap_ask_domain d, tmap_u64 scalar,
                                     tmap_u32 level) {
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&d, 2, level);
    const tmap_ask_sides sides = tmapi_ask_grid_sides(&grid);
    const tmap_u32 warps = gridDim.x * blockDim.x / 32;
    tmap_ask_work work;
    tmapi_ask_work_begin(&work, &d, 2, &grid, &scalar, 1,
                         TMAPI_MANDELBROT(leaf_elements)(&p, &sides, 1, warps), 0,
                         (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps);
    TMAPI_MANDELBROT(leaf)(&p, &work);
}

// DP-MBR: many blocks for the terminal work of one region.
static __global__ void __launch_bounds__(TMAPI_ASK_THREADS)
    TMAPI_MANDELBROT(dp_fill_kernel)(TMAPI_MANDELBROT_PARAMS p, tmap_ask_domain d, tmap_u64 scalar,
                                     tmap_u32 level, tmap_u32 value) {
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&d, 2, level);
    tmap_ask_region region;
    if (tmapi_ask_region(2, &grid, scalar, &region)) TMAPI_MANDELBROT(terminal)
    (&p, &region, value, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

// A block asks one region: at level 0 that of its block numbers, else that child of `parent`.
static __global__ void __launch_bounds__(TMAPI_ASK_THREADS)
    TMAPI_MANDELBROT(dp_kernel)(TMAPI_MANDELBROT_PARAMS p, tmap_ask_domain d, tmap_u64 parent,
                                tmap_u32 level, int form, tmap_u64 *lost) {
    __shared__ tmap_u32 scratch[64];
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&d, 2, level);
    const tmap_ask_sides sides = tmapi_ask_grid_sides(&grid);
    const tmap_u32 leaf_elements = TMAPI_MANDELBROT(leaf_elements)(&p, &sides, 1, warps);
    const tmap_u64 scalar = level ? tmapi_ask_child(2, d.r, parent, blockIdx.y * d.r + blockIdx.x)
                                  : tmapi_ask_pack(2, blockIdx.x, blockIdx.y, 0);
    tmap_ask_work work;
    tmap_ask_region region;
    tmap_ask_range range;
    if (!tmapi_ask_region(2, &grid, scalar, &region)) return; // the same in all threads
    range = TMAPI_MANDELBROT(query)(&p, &region, threadIdx.x, blockDim.x);
    range = tmapi_ask_range_block(range, scratch);
    if (range.least == range.most) {
        if (form == TMAP_ASK_SBR)
            TMAPI_MANDELBROT(terminal)(&p, &region, range.least, threadIdx.x, blockDim.x);
        else if (threadIdx.x == 0) {
            unsigned blocks = (region.x1 - region.x0) * (region.y1 - region.y0) / 4096 + 1;
            TMAPI_MANDELBROT(
                dp_fill_kernel)<<<blocks, TMAPI_ASK_THREADS, 0, TMAPI_MANDELBROT_DP_STREAM>>>(
                p, d, scalar, level, range.least);
            if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
        }
    } else if (level + 1 == d.levels) {
        if (form == TMAP_ASK_SBR) {
            tmapi_ask_work_begin(&work, &d, 2, &grid, &scalar, 1, leaf_elements, 0, warp, warps);
            TMAPI_MANDELBROT(leaf)(&p, &work);
        } else if (threadIdx.x == 0) {
            const tmap_u32 pixels = TMAPI_MANDELBROT(leaf_elements)(&p, &sides, 1, 0xffffffffu);
            unsigned blocks = pixels / TMAPI_ASK_THREADS + 1;
            TMAPI_MANDELBROT(
                dp_leaf_kernel)<<<blocks, TMAPI_ASK_THREADS, 0, TMAPI_MANDELBROT_DP_STREAM>>>(
                p, d, scalar, level);
            if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
        }
    } else {
        const tmapi_ask_grid child = tmapi_ask_grid_make(&d, 2, level + 1);
        const tmap_ask_sides child_sides = tmapi_ask_grid_sides(&child);
        tmapi_ask_work_begin(
            &work, &d, 2, &grid, &scalar, 1,
            TMAPI_MANDELBROT(share_elements)(&p, &sides, &child_sides, d.r, 1, warps), 0, warp,
            warps);
        TMAPI_MANDELBROT(share)(&p, &work);
        __syncthreads(); // a child sees what its parent's block wrote before
        if (threadIdx.x == 0) {
            TMAPI_MANDELBROT(
                dp_kernel)<<<dim3(d.r, d.r, 1), TMAPI_ASK_THREADS, 0, TMAPI_MANDELBROT_DP_STREAM>>>(
                p, d, scalar, level + 1, form, lost);
            if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
        }
    }
}

// The borders of the regions of level 0, by all warps of the grid.
static __global__ void __launch_bounds__(TMAPI_ASK_THREADS)
    TMAPI_MANDELBROT(dp_border_kernel)(TMAPI_MANDELBROT_PARAMS p, tmap_ask_domain d) {
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&d, 2, 0);
    const tmap_ask_sides sides = tmapi_ask_grid_sides(&grid);
    tmap_ask_work work;
    tmapi_ask_work_begin(&work, &d, 2, &grid, 0, d.g * d.g,
                         TMAPI_MANDELBROT(border_elements)(&p, &sides), 0,
                         (blockIdx.x * blockDim.x + threadIdx.x) / 32, gridDim.x * blockDim.x / 32);
    TMAPI_MANDELBROT(border)(&p, &work);
}

static inline cudaError_t TMAPI_MANDELBROT(dp_launch)(const tmap_mandelbrot *m, int form,
                                                      tmap_ask_params a, tmap_u64 pending,
                                                      tmap_u64 *lost, int *out,
                                                      cudaStream_t stream) {
    TMAPI_MANDELBROT_PARAMS p;
    tmap_ask_domain d;
    cudaError_t status;
    unsigned blocks;
    if (tmap_mandelbrot_check(m) || form < 0 || form >= TMAP_ASK_FORM_COUNT || !lost || !out ||
        (tmap_u64)out % sizeof *out || tmap_ask_domain_make(m->nx, m->ny, 1, 2, a, &d) ||
        d.g > 65535)
        return cudaErrorInvalidValue;
    p = TMAPI_MANDELBROT(make)(m, out);
    if (tmap_region_parts(d.g, d.r, d.levels - 1) > d.nx) p.columns = 0; // as in ASK
    if (pending) {
        status = cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, (size_t)pending);
        if (status != cudaSuccess) return status;
    }
    if ((status = cudaMemsetAsync(lost, 0, sizeof *lost, stream)) != cudaSuccess) return status;
    status = tmapi_ask_blocks(2 * ((tmap_u64)d.nx + d.ny) * d.g, TMAPI_ASK_THREADS,
                              TMAPI_ASK_BLOCKS, &blocks);
    if (status != cudaSuccess) return status;
    TMAPI_MANDELBROT(dp_border_kernel)<<<blocks, TMAPI_ASK_THREADS, 0, stream>>>(p, d);
    if ((status = cudaGetLastError()) != cudaSuccess) return status;
    TMAPI_MANDELBROT(dp_kernel)<<<dim3(d.g, d.g, 1), TMAPI_ASK_THREADS, 0, stream>>>(p, d, 0, 0,
                                                                                     form, lost);
    return cudaGetLastError();
}

#undef TMAPI_MANDELBROT_NAME

#endif // TMAPI_MANDELBROT_NAME
