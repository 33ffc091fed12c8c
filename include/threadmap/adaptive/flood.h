// SPDX-License-Identifier: MIT
// flood.h: the flooded region of a height map: sources and a level in, all cells out that water
// reaches. flood_map.h says what that means.
//
//     tmap_flood_map map = {width, height, width, 0, 0, TMAP_FLOOD_I16, 4};
//     tmap_flood_plan plan;
//     tmap_flood_plan_make(&map, TMAP_FLOOD_U8, 1, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_flood(&plan, heights, seeds, 1, level, workspace, out, stream);
//
// Source: the "construction of regions" of the lecture slides to Filipovic, Plhak, Strelak, HPCS
// 2015: regions of tiles in shared memory, joined over tiles' borders, and one pass that writes.
// Here, five launches, whatever the map:
//     local   heights become bits; the components of each block of 512 x 128 cells (flood_label.h)
//     unite   components that touch over the edges of blocks are joined (flood_nodes.h)
//     mark    those with a source are marked
//     flags   which components on blocks' borders are flooded
//     last    each tile of 32 x 16 cells is filled from its border (flood_fill.h)
//
// A map that is flooded again, at other levels or from other sources: flood_again.h.
#ifndef TMAP_ADAPTIVE_FLOOD_H
#define TMAP_ADAPTIVE_FLOOD_H

#include "../launch.h"
#include "flood_local.h"
#include "flood_nodes.h"
#include "flood_plan.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(256, 3) tmapi_flood_local_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    tmapi_flood_local(&f, tmapi_flood_shared);
}
static __global__ void __launch_bounds__(TMAPI_FLOOD_UNITE)
    tmapi_flood_unite_kernel(tmapi_flood f) {
    tmapi_flood_unite_edges(&f);
}
static __global__ void tmapi_flood_mark_kernel(tmapi_flood f) { tmapi_flood_mark(&f); }
static __global__ void __launch_bounds__(TMAPI_FLOOD_NODES)
    tmapi_flood_flags_kernel(tmapi_flood f) {
    tmapi_flood_write_flags(&f);
}
static __global__ void __launch_bounds__(128, 8) tmapi_flood_last_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    tmapi_flood_last(&f, tmapi_flood_shared);
}
// ---- launches -----------------------------------------------------------------------------------

static inline cudaError_t tmapi_flood_launch(const void *kernel, tmap_u64 grid, tmap_u32 block,
                                             tmap_u32 shared, const tmapi_flood *f,
                                             cudaStream_t stream) {
    void *arguments[1] = {(void *)f};
    return cudaLaunchKernel(kernel, dim3((unsigned)grid), dim3(block), arguments, shared, stream);
}

// All launches of a flood.
static inline cudaError_t tmapi_flood_run(const tmapi_flood *f, cudaStream_t stream) {
    const void *local = (const void *)tmapi_flood_local_kernel;
    const tmap_u64 blocks = tmapi_flood_blocks(&f->plan);
    const tmap_u32 rows = f->plan.rows, room = tmapi_flood_block_bytes(rows);
    cudaError_t error = tmapi_launch_shared(local, room);
    if (!error) error = tmapi_flood_launch(local, blocks, 2 * rows, room, f, stream);
    if (!error && blocks > 1)
        error = tmapi_flood_launch((const void *)tmapi_flood_unite_kernel, blocks,
                                   TMAPI_FLOOD_UNITE, 0, f, stream);
    if (!error && f->seed_count)
        error = tmapi_flood_launch((const void *)tmapi_flood_mark_kernel,
                                   ((tmap_u64)f->seed_count + 127) / 128, 128, 0, f, stream);
    if (!error)
        error = tmapi_flood_launch((const void *)tmapi_flood_flags_kernel, blocks,
                                   TMAPI_FLOOD_NODES, 0, f, stream);
    if (error) return error;
    return tmapi_flood_launch((const void *)tmapi_flood_last_kernel, blocks, rows,
                              tmapi_flood_room_bytes(rows), f, stream);
}

// 1 if the arguments of a flood cannot be right.
static inline int tmapi_flood_wrong(const tmap_flood_plan *plan, const void *heights,
                                    const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                    const void *workspace, const void *out, tmap_u64 out_align) {
    const tmap_u64 align = !plan || plan->map.type == TMAP_FLOOD_I16 ? 2 : 4;
    return !plan || !heights || (tmap_u64)heights % align || seed_count > plan->seeds ||
           (seed_count && (!seeds || (tmap_u64)seeds % 8)) || !workspace ||
           (tmap_u64)workspace % 16 || !out || (tmap_u64)out % out_align;
}

// Writes the flood of a map.
// plan: of the map. heights: plan->map.height rows of plan->map.pitch heights. seeds: seed_count
// sources, at most plan->seeds; those outside of the map or on dry cells flood nothing. level:
// cells below it are wet; any number, and of NaN no cell is. workspace: plan->workspace bytes at a
// multiple of 16, which need not be set to anything. out: width * height bytes or floats, or
// tmap_flood_words(width) * height words of 4 bytes; all of them are written. All are device memory
// and do not overlap. Launches that run at the same time need workspaces of their own.
// Returns cudaErrorInvalidValue for a null or misaligned pointer or too many sources, before
// anything is launched; else the first error of its own calls.
// Nothing is allocated and nobody waits: the call can be captured. Results are the same in every
// run, and do not depend on the order of sources.
// Cost: heights are read once, for depths those of flooded cells twice, and a bit for each cell is
// written and read; every block looks at every source, which counts from some thousands on. Heights
// of 16 and 32 bits run at 60 to 75% of the bandwidth of copies where water is in lakes, at 20 to
// 30% in noise. Fastest if `heights`, pitch * size of a height, and width are multiples of 16
// bytes; slow only if `heights` is none.
// Example: heights 1 5 1 1, source (2, 0), level 3, 4-connected: 0 0 1 1.
static inline cudaError_t tmap_flood(const tmap_flood_plan *plan, const void *heights,
                                     const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                     double level, void *workspace, void *out,
                                     cudaStream_t stream) {
    tmapi_flood f;
    if (tmapi_flood_wrong(plan, heights, seeds, seed_count, workspace, out,
                          plan && plan->form == TMAP_FLOOD_U8 ? 1 : 4))
        return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, heights, seeds, seed_count, level, workspace, out);
    return tmapi_flood_run(&f, stream);
}

#endif
#endif
