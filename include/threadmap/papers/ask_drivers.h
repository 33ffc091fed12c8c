// SPDX-License-Identifier: MIT
// ask_drivers.h: a problem of adaptive/ask.h in both forms and by all drivers, by number: for
// comparisons.
#ifndef TMAP_PAPERS_ASK_DRIVERS_H
#define TMAP_PAPERS_ASK_DRIVERS_H

#include "../adaptive/ask.h"

// ---- ask sbr ------------------------------------------------------------------------------------
//
// The other form of adaptive serial kernels: a single block for each region (SBR), which
// asks it, and finishes or subdivides it in one kernel a level.
//
// Source: Quezada, Navarro, Romero, Aguilera, FGCS 145 (2023), section 5.

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

// ---- ask cooperative ----------------------------------------------------------------------------
//
// A run of adaptive/ask.h in one cooperative launch, with barriers of the whole
// grid between the levels.

#if TMAP_CUDA

// A barrier of all threads of a cooperative launch. turn: 0 before the first one.
TMAP_DEVICE void tmapi_ask_barrier(tmapi_ask_control *control, tmap_u32 *turn) {
    __syncthreads();
    *turn += gridDim.x;
    if (tmap_thread_rank() == 0) {
        __threadfence();
        atomicAdd(&control->arrived, 1u);
        while (*(volatile tmap_u32 *)&control->arrived < *turn) {
        }
        __threadfence();
    }
    __syncthreads();
}

// All levels of a run. run->level is the form, a tmap_ask_form. share: null where no query reads
// what others have written. short_elements, short_leaf: of regions that find no place in form MBR.
// The other parameters are those of tmap_ask_query.
TMAP_DEVICE void
tmap_ask_all_levels(const tmap_ask_run *run, tmap_ask_query_fn query, tmap_ask_terminal_fn terminal,
                    tmap_ask_elements_fn leaf_elements, tmap_ask_work_fn leaf,
                    tmap_ask_elements_fn short_elements, tmap_ask_work_fn short_leaf,
                    tmap_ask_elements_fn share_elements, tmap_ask_work_fn share, const void *job) {
    const int form = (int)run->level;
    tmap_ask_run now = *run;
    tmap_u32 turn = 0;
    for (now.level = TMAP_ASK_WHOLE; now.level + 1 <= now.workspace.domain.levels; ++now.level) {
        if (now.level != TMAP_ASK_WHOLE) {
            if (form == TMAP_ASK_SBR)
                tmap_ask_blocks(&now, query, terminal, leaf_elements, leaf, share_elements, share,
                                job);
            else
                tmap_ask_query(&now, query, terminal, short_elements, short_leaf, job);
            tmapi_ask_barrier(now.workspace.control, &turn);
            // the same in all threads
            if (tmap_olt_stored(tmapi_ask_table(&now, now.level)) == 0) break;
        }
        if (share && (form == TMAP_ASK_MBR || now.level == TMAP_ASK_WHOLE)) {
            tmap_ask_share(&now, share_elements, share, job);
            tmapi_ask_barrier(now.workspace.control, &turn);
        }
    }
    if (form == TMAP_ASK_MBR) tmap_ask_finish(&now, terminal, leaf_elements, leaf, job);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// One launch of all levels.
typedef struct tmap_ask_cooperative_plan {
    tmap_ask_run run;
    tmap_ask_launch all; // its blocks must be resident at once
} tmap_ask_cooperative_plan;

// kernel: calls tmap_ask_all_levels, with parameters as in tmap_ask_kernels. threads: 0 stands for
// 256. Returns what tmap_ask_plan_make does.
static inline cudaError_t tmap_ask_cooperative_plan_make(const tmap_ask_workspace *w,
                                                         const void *kernel, tmap_u32 threads,
                                                         tmap_u32 scratch,
                                                         tmap_ask_cooperative_plan *out) {
    const tmap_ask_kernels all = {kernel, kernel, 0, threads, scratch};
    tmap_ask_plan p;
    cudaError_t status = out ? tmap_ask_plan_make(w, &all, &p) : cudaErrorInvalidValue;
    if (status != cudaSuccess) return status;
    out->run = p.run, out->all = p.query;
    return cudaSuccess;
}

// Runs a plan in a form. Returns cudaErrorNotSupported where the device has no cooperative launch,
// cudaErrorInvalidValue for a null pointer or an unknown form, else the first CUDA error.
static inline cudaError_t tmap_ask_cooperative(const tmap_ask_cooperative_plan *p, int form,
                                               const void *job, cudaStream_t stream) {
    int device, cooperative = 0;
    void *arguments[2];
    tmap_ask_run run;
    cudaError_t status;
    if (!p || !job || form < 0 || form >= TMAP_ASK_FORM_COUNT) return cudaErrorInvalidValue;
    if ((status = cudaGetDevice(&device)) != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (status != cudaSuccess) return status;
    if (!cooperative) return cudaErrorNotSupported;
    run = p->run;
    run.level = (tmap_u32)form;
    status = cudaMemsetAsync(run.workspace.control, 0, sizeof *run.workspace.control, stream);
    if (status != cudaSuccess) return status;
    arguments[0] = &run, arguments[1] = (void *)job;
    return cudaLaunchCooperativeKernel(p->all.kernel, dim3(p->all.blocks, 1, 1),
                                       dim3(p->all.threads, 1, 1), arguments, p->all.shared,
                                       stream);
}

#endif

// ---- ask graph ----------------------------------------------------------------------------------
//
// A run of adaptive/ask.h as a CUDA graph with a loop over the levels (a WHILE node),
// which ends on the device when no region is left. CUDA 12.4 or later.

#if TMAP_CUDA && !TMAP_NVRTC

// 1 where graphs with loops are: nvcc with CUDA 12.4 or later.
#if defined(__CUDACC_VER_MAJOR__) && defined(CUDART_VERSION) && CUDART_VERSION >= 12040
#define TMAP_ASK_GRAPHS 1
#else
#define TMAP_ASK_GRAPHS 0
#endif

#if TMAP_ASK_GRAPHS

// The end of a level: on to the next one, if it has a region.
static __global__ void tmapi_ask_next_kernel(tmap_ask_workspace s,
                                             cudaGraphConditionalHandle more) {
    tmap_u32 level = s.control->level_now++;
    cudaGraphSetConditional(more, level + 1 < s.domain.levels &&
                                      tmapi_ask_load(&s.control->level[level].subdivided) != 0);
}

static inline cudaError_t tmapi_ask_enqueue_next(const tmap_ask_plan *p,
                                                 cudaGraphConditionalHandle more,
                                                 cudaStream_t stream) {
    tmap_ask_workspace s = p->run.workspace;
    void *arguments[2] = {&s, &more};
    return cudaLaunchKernel((const void *)tmapi_ask_next_kernel, dim3(1, 1, 1), dim3(1, 1, 1),
                            arguments, 0, stream);
}

// Captures a part of a run into a graph: 0 what comes before the levels, 1 a level, 2 the rest.
static inline cudaError_t tmapi_ask_capture(const tmap_ask_plan *p, const void *job, int part,
                                            cudaGraphConditionalHandle more, cudaGraph_t into,
                                            cudaStream_t stream) {
    const tmap_ask_domain *d = &p->run.workspace.domain;
    const tmap_u64 most = tmapi_ask_most(d, d->levels - 1);
    cudaGraph_t captured = 0;
    cudaError_t ended, status = cudaStreamBeginCaptureToGraph(stream, into, 0, 0, 0,
                                                              cudaStreamCaptureModeThreadLocal);
    if (status != cudaSuccess) return status;
    if (part == 0) status = tmapi_ask_enqueue_first(p, job, stream);
    if (part == 1) {
        status = tmapi_ask_enqueue_query(p, TMAP_ASK_LEVEL_NOW, most, job, stream);
        if (status == cudaSuccess)
            status = tmapi_ask_enqueue_share(p, TMAP_ASK_LEVEL_NOW, most, job, stream);
        if (status == cudaSuccess) status = tmapi_ask_enqueue_next(p, more, stream);
    }
    if (part == 2) status = tmapi_ask_enqueue_finish(p, job, stream);
    ended = cudaStreamEndCapture(stream, &captured);
    return status != cudaSuccess ? status : ended;
}

// Adds a captured part to the graph as a node, after the node *before if there is one.
static inline cudaError_t tmapi_ask_add(const tmap_ask_plan *p, const void *job, int part,
                                        cudaGraph_t graph, cudaGraphNode_t *before,
                                        cudaStream_t stream) {
    cudaGraph_t child = 0;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle none = 0;
    cudaError_t status = cudaGraphCreate(&child, 0);
    if (status != cudaSuccess) return status;
    status = tmapi_ask_capture(p, job, part, none, child, stream);
    if (status == cudaSuccess)
        status = cudaGraphAddChildGraphNode(&node, graph, part ? before : 0, part ? 1 : 0, child);
    cudaGraphDestroy(child); // the node has a copy
    if (status == cudaSuccess) *before = node;
    return status;
}

static inline cudaError_t tmapi_ask_graph_build(const tmap_ask_plan *p, const void *job,
                                                cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphConditionalHandle more;
    cudaGraphNodeParams parameters = {};
    cudaGraphNode_t last, loop;
    cudaError_t status =
        cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault);
    if (status != cudaSuccess) return status;
    status = tmapi_ask_add(p, job, 0, graph, &last, stream);
    if (status != cudaSuccess) return status;
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = more;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
#if CUDART_VERSION >= 13000
    status = cudaGraphAddNode(&loop, graph, &last, 0, 1, &parameters);
#else
    status = cudaGraphAddNode(&loop, graph, &last, 1, &parameters);
#endif
    if (status != cudaSuccess) return status;
    status = tmapi_ask_capture(p, job, 1, more, parameters.conditional.phGraph_out[0], stream);
    if (status != cudaSuccess || !p->finish.kernel) return status;
    return tmapi_ask_add(p, job, 2, graph, &loop, stream);
}

// Makes a graph of a plan's run with this job, to be launched any number of times. Returns
// cudaErrorInvalidValue for a null pointer, else the first CUDA error.
static inline cudaError_t tmap_ask_graph_make(const tmap_ask_plan *p, const void *job,
                                              cudaGraphExec_t *exec) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaError_t status;
    if (!exec || tmapi_ask_refused(p, job)) return cudaErrorInvalidValue;
    status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (status != cudaSuccess) return status;
    status = cudaGraphCreate(&graph, 0);
    if (status == cudaSuccess) {
        status = tmapi_ask_graph_build(p, job, graph, stream);
        if (status == cudaSuccess) status = cudaGraphInstantiate(exec, graph, 0);
        cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
    return status;
}

// Makes such a graph, launches it, waits, and destroys it.
static inline cudaError_t tmap_ask_graph(const tmap_ask_plan *p, const void *job,
                                         cudaStream_t stream) {
    cudaGraphExec_t exec;
    cudaError_t status = tmap_ask_graph_make(p, job, &exec);
    if (status != cudaSuccess) return status;
    status = cudaGraphLaunch(exec, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    return status;
}
#endif // TMAP_ASK_GRAPHS

#endif

// ---- ask drivers --------------------------------------------------------------------------------

// Who goes from level to level.
typedef enum tmap_ask_driver {
    TMAP_ASK_HOST,       // the host reads the count and launches the next level: the paper's
    TMAP_ASK_STREAM,     // all levels are enqueued at once, kernels read the count: no waiting
    TMAP_ASK_GRAPH,      // a graph with a WHILE node (CUDA >= 12.4)
    TMAP_ASK_COOPERATIVE // one cooperative launch with barriers over the grid
} tmap_ask_driver;

#define TMAP_ASK_DRIVER_COUNT 4

// "host", "stream", "graph", "cooperative"; "?" for any other number.
TMAP_FN const char *tmap_ask_driver_name(int driver) {
    switch (driver) {
    case TMAP_ASK_HOST: return "host";
    case TMAP_ASK_STREAM: return "stream";
    case TMAP_ASK_GRAPH: return "graph";
    case TMAP_ASK_COOPERATIVE: return "cooperative";
    default: return "?";
    }
}

#if TMAP_CUDA && !TMAP_NVRTC

// The plans of all of them.
typedef struct tmap_ask_drivers_plan {
    tmap_ask_plan form[TMAP_ASK_FORM_COUNT];
    tmap_ask_cooperative_plan cooperative;
} tmap_ask_drivers_plan;

// kernels: of form MBR. blocks, cooperative: kernels that call tmap_ask_blocks and
// tmap_ask_all_levels. Returns what tmap_ask_plan_make does.
static inline cudaError_t tmap_ask_drivers_plan_make(const tmap_ask_workspace *w,
                                                     const tmap_ask_kernels *kernels,
                                                     const void *blocks, const void *cooperative,
                                                     tmap_ask_drivers_plan *out) {
    tmap_ask_drivers_plan p;
    tmap_ask_kernels sbr;
    cudaError_t status;
    if (!kernels || !out) return cudaErrorInvalidValue;
    sbr = *kernels;
    sbr.query = blocks;
    sbr.threads = 0;
    status = tmap_ask_plan_make(w, kernels, &p.form[TMAP_ASK_MBR]);
    if (status == cudaSuccess) status = tmap_ask_sbr_plan_make(w, &sbr, &p.form[TMAP_ASK_SBR]);
    if (status == cudaSuccess)
        status = tmap_ask_cooperative_plan_make(w, cooperative, kernels->threads, kernels->scratch,
                                                &p.cooperative);
    if (status == cudaSuccess) *out = p;
    return status;
}

// Runs a problem. level_ms: null, or numbers for the host driver. Returns cudaErrorInvalidValue for
// a null pointer or an unknown form or driver, cudaErrorNotSupported for a driver that is not
// there, else the first CUDA error.
static inline cudaError_t tmap_ask_drive(const tmap_ask_drivers_plan *p, int form, int driver,
                                         const void *job, float *level_ms, cudaStream_t stream) {
    if (!p || !job || form < 0 || form >= TMAP_ASK_FORM_COUNT) return cudaErrorInvalidValue;
    switch (driver) {
    case TMAP_ASK_HOST: return tmap_ask_host(&p->form[form], job, level_ms, stream);
    case TMAP_ASK_STREAM: return tmap_ask_stream(&p->form[form], job, stream);
    case TMAP_ASK_COOPERATIVE: return tmap_ask_cooperative(&p->cooperative, form, job, stream);
    case TMAP_ASK_GRAPH:
#if TMAP_ASK_GRAPHS
        return tmap_ask_graph(&p->form[form], job, stream);
#else
        return cudaErrorNotSupported;
#endif
    default: return cudaErrorInvalidValue;
    }
}

#endif

#endif
