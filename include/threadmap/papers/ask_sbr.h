// SPDX-License-Identifier: MIT
// ask_sbr.h: adaptive serial kernels in the paper's other form, a single block per region (SBR): a
// block queries each region and finishes or subdivides it, with one kernel a level. adaptive/ask.h
// has form MBR, multiple blocks per region.
//
//     __global__ void blocks(tmap_ask_run run, disc job) {
//         const tmap_ask_pass leaves = {tmap_ask_every_element, disc_leaf}, none = {0, 0};
//         tmap_ask_sbr(&run, disc_query, disc_terminal, leaves, none, &job);
//     }
//     ...
//     tmap_ask_sbr_plan_make(&workspace, &kernels, &plan);
//     tmap_ask_stream(&plan, &job, stream);
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5.
#ifndef TMAP_PAPERS_ASK_SBR_H
#define TMAP_PAPERS_ASK_SBR_H

#include "../adaptive/ask_plan.h"

// How threads are assigned to regions.
typedef enum tmap_ask_form {
    TMAP_ASK_SBR, // a single block for each region
    TMAP_ASK_MBR  // multiple blocks: the elements of a level's regions over all blocks
} tmap_ask_form;

#define TMAP_ASK_FORM_COUNT 2

// The name of a form: "sbr", "mbr"; "?" for any other number.
TMAP_FN const char *tmap_ask_form_name(int form) {
    return form == TMAP_ASK_SBR ? "sbr" : form == TMAP_ASK_MBR ? "mbr" : "?";
}

#if TMAP_CUDA

// A work of the problem: the number of elements of a region, and the function that computes them.
typedef struct tmap_ask_pass {
    tmap_ask_elements_fn elements;
    tmap_ask_work_fn work; // null: there is none
} tmap_ask_pass;

// Queries all regions of the run's level, one block a region. The block finishes the region, or
// inserts it into the table (OLT) and computes the borders of its children. A region that does not
// fit the table is a leaf. share: its work is null if no query reads values that others have
// written. Called like tmap_ask_query.
TMAP_DEVICE void tmap_ask_sbr(const tmap_ask_run *run, tmap_ask_query_fn query,
                              tmap_ask_terminal_fn terminal, tmap_ask_pass leaf,
                              tmap_ask_pass share, const void *job) {
    const tmap_ask_domain *d = &run->workspace.domain;
    const tmap_u32 level = run->level, items = tmapi_ask_regions(run, level);
    const tmapi_ask_workers block = {threadIdx.x / 32, blockDim.x / 32, 0};
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
        } else if (!stored) {
            tmapi_ask_leaf_now(run, level, scalar, block, leaf.elements, leaf.work, job);
        } else if (share.work) {
            const tmapi_ask_source of = {level, 1, d->r, 0, scalar};
            tmap_ask_work work;
            tmapi_ask_work_begin(&work, run, of, block, share.elements, job);
            share.work(job, &work);
        }
        __syncthreads(); // the block's words
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Makes a plan for tmap_ask_stream and tmap_ask_host. kernels: query calls tmap_ask_sbr; finish is
// unused; share calls tmap_ask_share and is only launched for the complete domain; 0 threads: 128.
// Returns the errors of tmap_ask_plan_make.
static inline cudaError_t tmap_ask_sbr_plan_make(const tmap_ask_workspace *w,
                                                 const tmap_ask_kernels *kernels,
                                                 tmap_ask_plan *out) {
    tmap_ask_kernels all;
    cudaError_t status;
    if (!kernels || !out) return cudaErrorInvalidValue;
    all = *kernels;
    all.finish = all.query;
    if (all.threads == 0) all.threads = 128;
    status = tmap_ask_plan_make(w, &all, out);
    if (status == cudaSuccess) out->finish.kernel = out->share.kernel = 0; // only out->whole has it
    return status;
}

#endif
#endif
