// SPDX-License-Identifier: MIT
// ask_sbr.h: the other form of adaptive serial kernels: a single block for each region (SBR), which
// asks it, and finishes or subdivides it in one kernel a level.
//
// Source: Quezada, Navarro, Romero, Aguilera, FGCS 145 (2023), section 5.
#ifndef TMAP_RIVALS_ASK_SBR_H
#define TMAP_RIVALS_ASK_SBR_H

#include "../adaptive/ask.h"

// How threads are given to regions.
typedef enum tmap_ask_form {
    TMAP_ASK_SBR, // a single block for each region
    TMAP_ASK_MBR  // multiple blocks: the elements of a level's regions over all blocks
} tmap_ask_form;

#define TMAP_ASK_FORM_COUNT 2

// "sbr", "mbr"; "?" for any other number.
TMAP_FN const char *tmap_ask_form_name(int form) {
    return form == TMAP_ASK_SBR ? "sbr" : form == TMAP_ASK_MBR ? "mbr" : "?";
}

#if TMAP_CUDA

// Asks all regions of the run's level, a block each, which finishes the region, or puts it into the
// table and shares its border with its children. What finds no place is a leaf. share: null where
// no query reads what others have written; the other parameters are those of tmap_ask_query.
TMAP_DEVICE void tmap_ask_blocks(const tmap_ask_run *run, tmap_ask_query_fn query,
                                 tmap_ask_terminal_fn terminal, tmap_ask_elements_fn leaf_elements,
                                 tmap_ask_work_fn leaf, tmap_ask_elements_fn share_elements,
                                 tmap_ask_work_fn share, const void *job) {
    const tmap_ask_domain *d = &run->workspace.domain;
    const tmap_u32 level = tmapi_ask_level_of(run), items = tmapi_ask_regions(run, level);
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const tmapi_ask_workers workers = {warp, warps, 0};
    const tmapi_ask_grid grid = tmapi_ask_grid_make(d, level);
    const tmap_ask_team team = {threadIdx.x, blockDim.x, 0xffffffffu, tmapi_ask_scratch(run)};
    tmapi_ask_level *counts = &run->workspace.control->level[level];
    for (tmap_u64 i = blockIdx.x; i < items; i += gridDim.x) {
        const tmap_u64 scalar = tmapi_ask_scalar(run, level, (tmap_u32)i);
        tmap_ask_region region;
        tmap_ask_range range;
        tmap_u32 verdict;
        int stored = 0;
        if (!tmapi_ask_region(d->dims, &grid, scalar, &region)) { // the same in all threads
            if (threadIdx.x == 0) atomicAdd(&counts->empty, 1ull);
            continue;
        }
        range = tmapi_ask_range_block(query(job, &region, team));
        verdict = tmapi_ask_verdict(run, level, range);
        if (threadIdx.x == 0) {
            if (verdict == TMAPI_ASK_FILL) atomicAdd(&counts->filled, 1ull);
            if (verdict == TMAPI_ASK_LEAF) atomicAdd(&counts->leaves, 1ull);
            if (verdict == TMAPI_ASK_SUBDIVIDE) {
                stored = tmap_olt_insert(tmapi_ask_table(run, level), scalar);
                if (!stored) atomicAdd(&counts->refused, 1ull);
            }
        }
        stored = __syncthreads_or(stored);
        if (verdict == TMAPI_ASK_FILL) {
            terminal(job, &region, range.least, team);
        } else if (stored) {
            if (share) {
                tmap_ask_work work;
                tmapi_ask_work_begin(&work, run, level, 0, scalar, 1, d->r, workers, share_elements,
                                     job);
                share(job, &work);
            }
        } else {
            tmapi_ask_leaf_now(run, level, scalar, warp, warps, leaf_elements, leaf, job);
        }
        __syncthreads(); // the block's words
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Makes a plan for tmap_ask_stream and tmap_ask_host. kernels: query calls tmap_ask_blocks, finish
// is not used, share calls tmap_ask_share and is launched for the whole domain alone; 0 threads
// stand for 128. Returns what tmap_ask_plan_make does.
static inline cudaError_t tmap_ask_sbr_plan_make(const tmap_ask_workspace *w,
                                                 const tmap_ask_kernels *kernels,
                                                 tmap_ask_plan *out) {
    tmap_ask_kernels all;
    tmap_ask_plan p;
    cudaError_t status;
    if (!kernels || !out) return cudaErrorInvalidValue;
    all = *kernels;
    all.finish = all.query;
    if (all.threads == 0) all.threads = 128;
    status = tmap_ask_plan_make(w, &all, &p);
    if (status != cudaSuccess) return status;
    p.finish.kernel = p.share.kernel = 0; // p.whole keeps it
    *out = p;
    return cudaSuccess;
}

#endif
#endif
