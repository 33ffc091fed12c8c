// SPDX-License-Identifier: MIT
// ask_stamp_host.h: the second half of ask_stamp.h: kernels, their launches and the drivers of a
// problem. Included there alone, once for each problem; without TMAP_ASK_NAME it defines nothing.
#ifndef TMAP_ADAPTIVE_ASK_STAMP_HOST_H
#define TMAP_ADAPTIVE_ASK_STAMP_HOST_H

#include "ask.h"

#endif

#if defined(TMAP_ASK_NAME)
#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(TMAPI_ASK_THREADS, TMAPI_ASK_QUERY_RESIDENT)
    TMAPI_ASK(ask_query_kernel)(TMAP_ASK_PARAMS p, tmap_ask_workspace s, tmap_u32 level) {
    TMAPI_ASK(ask_queries)(&p, &s, level == TMAPI_ASK_LEVEL_NOW ? s.control->level_now : level);
}

static __global__ void __launch_bounds__(TMAPI_ASK_THREADS, TMAPI_ASK_BLOCKS)
    TMAPI_ASK(ask_rest_kernel)(TMAP_ASK_PARAMS p, tmap_ask_workspace s) {
    TMAPI_ASK(ask_rest)(&p, &s);
}

static __global__ void __launch_bounds__(TMAPI_ASK_SBR_THREADS, TMAPI_ASK_SBR_BLOCKS)
    TMAPI_ASK(ask_block_kernel)(TMAP_ASK_PARAMS p, tmap_ask_workspace s, tmap_u32 level) {
    TMAPI_ASK(ask_blocks)(&p, &s, level == TMAPI_ASK_LEVEL_NOW ? s.control->level_now : level);
}

#if TMAP_ASK_SHARES
static __global__ void __launch_bounds__(TMAPI_ASK_THREADS, TMAPI_ASK_LINE_BLOCKS)
    TMAPI_ASK(ask_border_kernel)(TMAP_ASK_PARAMS p, tmap_ask_workspace s) {
    TMAPI_ASK(ask_borders)(&p, &s);
}

static __global__ void __launch_bounds__(TMAPI_ASK_THREADS, TMAPI_ASK_LINE_BLOCKS)
    TMAPI_ASK(ask_share_kernel)(TMAP_ASK_PARAMS p, tmap_ask_workspace s, tmap_u32 level) {
    TMAPI_ASK(ask_shares)(&p, &s, level == TMAPI_ASK_LEVEL_NOW ? s.control->level_now : level);
}
#endif

static __global__ void __launch_bounds__(TMAPI_ASK_THREADS, 2)
    TMAPI_ASK(ask_cooperative_kernel)(TMAP_ASK_PARAMS p, tmap_ask_workspace s, int form) {
    tmap_u32 turn = 0;
#if TMAP_ASK_SHARES
    TMAPI_ASK(ask_borders)(&p, &s);
    tmapi_ask_barrier(s.control, &turn);
#endif
    for (tmap_u32 level = 0; level < s.domain.levels; ++level) {
        if (form == TMAP_ASK_SBR)
            TMAPI_ASK(ask_blocks)(&p, &s, level);
        else
            TMAPI_ASK(ask_queries)(&p, &s, level);
        tmapi_ask_barrier(s.control, &turn);
        if (tmap_olt_stored(tmapi_ask_olt(&s, level)) == 0) break; // the same in all threads
#if TMAP_ASK_SHARES
        if (form == TMAP_ASK_MBR) {
            TMAPI_ASK(ask_shares)(&p, &s, level);
            tmapi_ask_barrier(s.control, &turn);
        }
#endif
    }
    if (form == TMAP_ASK_MBR) TMAPI_ASK(ask_rest)(&p, &s);
}

// ---- launches -----------------------------------------------------------------------------------

// The blocks for `items` pieces of work; zero for an error, which goes to *status.
static inline unsigned TMAPI_ASK(ask_size)(tmap_u64 items, tmap_u64 per_block, tmap_u32 resident,
                                           cudaError_t *status) {
    unsigned blocks = 0;
    if (*status == cudaSuccess) *status = tmapi_ask_blocks(items, per_block, resident, &blocks);
    return *status == cudaSuccess ? blocks : 0;
}

// Clears the counters and shares the borders of level 0.
static inline cudaError_t TMAPI_ASK(ask_enqueue_first)(const TMAP_ASK_PARAMS *p,
                                                       const tmap_ask_workspace *s,
                                                       cudaStream_t stream) {
    cudaError_t status = cudaMemsetAsync(s->control, 0, sizeof *s->control, stream);
#if TMAP_ASK_SHARES
    const tmap_ask_domain *d = &s->domain;
    tmap_u64 sides = 2 * ((tmap_u64)d->nx + d->ny + d->nz) * d->g; // more or less of elements
    unsigned blocks = TMAPI_ASK(ask_size)(sides, TMAPI_ASK_THREADS, TMAPI_ASK_LINE_BLOCKS, &status);
    if (blocks) {
        TMAPI_ASK(ask_border_kernel)<<<blocks, TMAPI_ASK_THREADS, 0, stream>>>(*p, *s);
        status = cudaGetLastError();
    }
#else
    (void)p;
#endif
    return status;
}

// One level. regions: of the level, as far as is known. subdivided: the same of regions that it
// subdivides. They bound the grids. part: 1 asks, 2 shares, 3 both.
static inline cudaError_t TMAPI_ASK(ask_enqueue_level)(const TMAP_ASK_PARAMS *p, int form,
                                                       const tmap_ask_workspace *s, tmap_u32 level,
                                                       int part, tmap_u64 regions,
                                                       tmap_u64 subdivided, cudaStream_t stream) {
    cudaError_t status = cudaSuccess;
    unsigned blocks;
    if (form == TMAP_ASK_SBR) {
        if (!(part & 1)) return status;
        blocks = TMAPI_ASK(ask_size)(regions, 1, TMAPI_ASK_SBR_BLOCKS, &status);
        if (!blocks) return status;
        TMAPI_ASK(ask_block_kernel)<<<blocks, TMAPI_ASK_SBR_THREADS, 0, stream>>>(*p, *s, level);
        return cudaGetLastError();
    }
    if (part & 1) {
        // a region takes a warp or a block
        blocks = TMAPI_ASK(ask_size)(regions, 1, TMAPI_ASK_QUERY_BLOCKS, &status);
        if (!blocks) return status;
        TMAPI_ASK(ask_query_kernel)<<<blocks, TMAPI_ASK_THREADS, 0, stream>>>(*p, *s, level);
        status = cudaGetLastError();
    }
#if TMAP_ASK_SHARES
    if ((part & 2) && subdivided) {
        const tmap_ask_domain *d = &s->domain;
        tmap_u64 n = d->nx > d->ny ? d->nx : d->ny;
        tmap_u64 each = level == TMAPI_ASK_LEVEL_NOW
                            ? 0x1000000 // not known
                            : 4 * d->r * (n / tmap_region_parts(d->g, d->r, level) + 1);
        blocks = TMAPI_ASK(ask_size)(tmapi_region_mul(subdivided, each), TMAPI_ASK_THREADS,
                                     TMAPI_ASK_LINE_BLOCKS, &status);
        if (!blocks) return status;
        TMAPI_ASK(ask_share_kernel)<<<blocks, TMAPI_ASK_THREADS, 0, stream>>>(*p, *s, level);
        status = cudaGetLastError();
    }
#else
    (void)subdivided;
#endif
    return status;
}

// MBR: the last launch.
static inline cudaError_t TMAPI_ASK(ask_enqueue_rest)(const TMAP_ASK_PARAMS *p, int form,
                                                      const tmap_ask_workspace *s,
                                                      cudaStream_t stream) {
    cudaError_t status = cudaSuccess;
    const tmap_ask_domain *d = &s->domain;
    unsigned blocks;
    if (form == TMAP_ASK_SBR) return cudaSuccess;
    blocks =
        TMAPI_ASK(ask_size)((tmap_u64)d->nx * d->ny, TMAPI_ASK_THREADS, TMAPI_ASK_BLOCKS, &status);
    if (!blocks) return status;
    TMAPI_ASK(ask_rest_kernel)<<<blocks, TMAPI_ASK_THREADS, 0, stream>>>(*p, *s);
    return cudaGetLastError();
}

static inline int TMAPI_ASK(ask_refused)(const TMAP_ASK_PARAMS *p, int form,
                                         const tmap_ask_workspace *s) {
    return !p || !s || !s->memory || form < 0 || form >= TMAP_ASK_FORM_COUNT ||
           s->domain.dims != TMAP_ASK_DIMS;
}

// The most regions that a level can have, and can subdivide.
static inline tmap_u64 TMAPI_ASK(ask_most)(const tmap_ask_workspace *s, tmap_u32 level) {
    const tmap_ask_domain *d = &s->domain;
    return tmap_region_olt_size(1, tmap_region_parts(d->g, d->r, level), d->dims);
}

// ---- drivers ------------------------------------------------------------------------------------

static inline cudaError_t TMAPI_ASK(ask_stream)(const TMAP_ASK_PARAMS *p, int form,
                                                const tmap_ask_workspace *s, cudaStream_t stream) {
    cudaError_t status;
    if (TMAPI_ASK(ask_refused)(p, form, s)) return cudaErrorInvalidValue;
    status = TMAPI_ASK(ask_enqueue_first)(p, s, stream);
    for (tmap_u32 l = 0; l < s->domain.levels && status == cudaSuccess; ++l) {
        tmap_u64 most = TMAPI_ASK(ask_most)(s, l);
        status = TMAPI_ASK(ask_enqueue_level)(p, form, s, l, 3, most,
                                              l + 1 < s->domain.levels ? most : 0, stream);
    }
    if (status == cudaSuccess) status = TMAPI_ASK(ask_enqueue_rest)(p, form, s, stream);
    return status;
}

// Adds the time since the last mark to level_ms[level]; starts over. Waits.
static inline cudaError_t TMAPI_ASK(ask_mark)(const tmap_ask_workspace *s, cudaEvent_t events[2],
                                              tmap_u32 level, cudaStream_t stream) {
    cudaError_t status;
    float ms = 0;
    if (!s->level_ms) return cudaSuccess;
    if ((status = cudaEventRecord(events[1], stream)) != cudaSuccess) return status;
    if ((status = cudaEventSynchronize(events[1])) != cudaSuccess) return status;
    if ((status = cudaEventElapsedTime(&ms, events[0], events[1])) != cudaSuccess) return status;
    s->level_ms[level] += ms;
    return cudaEventRecord(events[0], stream);
}

static inline cudaError_t TMAPI_ASK(ask_levels_by_host)(const TMAP_ASK_PARAMS *p, int form,
                                                        const tmap_ask_workspace *s,
                                                        cudaEvent_t events[2],
                                                        cudaStream_t stream) {
    tmap_u32 children = (tmap_u32)tmap_region_olt_size(1, s->domain.r, s->domain.dims), level = 0;
    tmap_u64 regions = TMAPI_ASK(ask_most)(s, 0);
    cudaError_t status = TMAPI_ASK(ask_enqueue_first)(p, s, stream);
    for (; status == cudaSuccess && regions && level < s->domain.levels; ++level) {
        tmap_u64 subdivided = 0;
        status = TMAPI_ASK(ask_enqueue_level)(p, form, s, level, 1, regions, 0, stream);
        if (status == cudaSuccess)
            status = cudaMemcpyAsync(&subdivided, &s->control->level[level].subdivided,
                                     sizeof subdivided, cudaMemcpyDeviceToHost, stream);
        if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
        if (subdivided > s->olt_capacity) subdivided = s->olt_capacity;
        if (status == cudaSuccess && subdivided)
            status =
                TMAPI_ASK(ask_enqueue_level)(p, form, s, level, 2, regions, subdivided, stream);
        if (status == cudaSuccess) status = TMAPI_ASK(ask_mark)(s, events, level, stream);
        regions = subdivided * children;
    }
    if (status == cudaSuccess) status = TMAPI_ASK(ask_enqueue_rest)(p, form, s, stream);
    if (status == cudaSuccess) status = TMAPI_ASK(ask_mark)(s, events, s->domain.levels, stream);
    return status;
}

static inline cudaError_t TMAPI_ASK(ask_host)(const TMAP_ASK_PARAMS *p, int form,
                                              const tmap_ask_workspace *s, cudaStream_t stream) {
    cudaEvent_t events[2] = {0, 0};
    cudaError_t status = cudaSuccess;
    if (TMAPI_ASK(ask_refused)(p, form, s)) return cudaErrorInvalidValue;
    if (s->level_ms) {
        for (tmap_u32 l = 0; l <= s->domain.levels; ++l) s->level_ms[l] = 0;
        if ((status = cudaEventCreate(&events[0])) != cudaSuccess) return status;
        status = cudaEventCreate(&events[1]);
        if (status == cudaSuccess) status = cudaEventRecord(events[0], stream);
    }
    if (status == cudaSuccess) status = TMAPI_ASK(ask_levels_by_host)(p, form, s, events, stream);
    for (int i = 0; i < 2; ++i)
        if (events[i]) cudaEventDestroy(events[i]);
    return status;
}

static inline cudaError_t TMAPI_ASK(ask_cooperative)(const TMAP_ASK_PARAMS *p, int form,
                                                     const tmap_ask_workspace *s,
                                                     cudaStream_t stream) {
    int device, cooperative = 0, processors, resident = 0;
    unsigned blocks;
    void *arguments[3];
    cudaError_t status;
    if (TMAPI_ASK(ask_refused)(p, form, s)) return cudaErrorInvalidValue;
    if ((status = cudaGetDevice(&device)) != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (status != cudaSuccess) return status;
    if (!cooperative) return cudaErrorNotSupported;
    status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, TMAPI_ASK(ask_cooperative_kernel), TMAPI_ASK_THREADS, 0);
    if (status != cudaSuccess) return status;
    status = cudaMemsetAsync(s->control, 0, sizeof *s->control, stream);
    if (status != cudaSuccess) return status;
    blocks = s->cooperative_blocks ? s->cooperative_blocks : (unsigned)(processors * resident);
    arguments[0] = (void *)p, arguments[1] = (void *)s, arguments[2] = &form;
    return cudaLaunchCooperativeKernel(TMAPI_ASK(ask_cooperative_kernel), dim3(blocks, 1, 1),
                                       dim3(TMAPI_ASK_THREADS, 1, 1), arguments, 0, stream);
}

#if TMAP_ASK_GRAPHS
// The end of a level: on to the next one, if it has a region.
static __global__ void TMAPI_ASK(ask_next_kernel)(tmap_ask_workspace s,
                                                  cudaGraphConditionalHandle more) {
    tmap_u32 level = s.control->level_now++;
    cudaGraphSetConditional(more, level + 1 < s.domain.levels &&
                                      tmapi_ask_load(&s.control->level[level].subdivided) != 0);
}

// Captures a part of a run into a graph: 0 what comes before the levels, 1 a level, 2 the rest.
static inline cudaError_t TMAPI_ASK(ask_capture)(const TMAP_ASK_PARAMS *p, int form,
                                                 const tmap_ask_workspace *s, int part,
                                                 cudaGraphConditionalHandle more, cudaGraph_t into,
                                                 cudaStream_t stream) {
    tmap_u64 most = TMAPI_ASK(ask_most)(s, s->domain.levels - 1);
    cudaGraph_t captured = 0;
    cudaError_t ended, status = cudaStreamBeginCaptureToGraph(stream, into, 0, 0, 0,
                                                              cudaStreamCaptureModeThreadLocal);
    if (status != cudaSuccess) return status;
    if (part == 0) status = TMAPI_ASK(ask_enqueue_first)(p, s, stream);
    if (part == 1) {
        status =
            TMAPI_ASK(ask_enqueue_level)(p, form, s, TMAPI_ASK_LEVEL_NOW, 3, most, most, stream);
        if (status == cudaSuccess) {
            TMAPI_ASK(ask_next_kernel)<<<1, 1, 0, stream>>>(*s, more);
            status = cudaGetLastError();
        }
    }
    if (part == 2) status = TMAPI_ASK(ask_enqueue_rest)(p, form, s, stream);
    ended = cudaStreamEndCapture(stream, &captured);
    return status != cudaSuccess ? status : ended;
}

// Adds a captured part to the graph as a node, after the node *before if there is one.
static inline cudaError_t TMAPI_ASK(ask_add)(const TMAP_ASK_PARAMS *p, int form,
                                             const tmap_ask_workspace *s, int part,
                                             cudaGraph_t graph, cudaGraphNode_t *before,
                                             cudaStream_t stream) {
    cudaGraph_t child = 0;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle none = 0;
    cudaError_t status = cudaGraphCreate(&child, 0);
    if (status != cudaSuccess) return status;
    status = TMAPI_ASK(ask_capture)(p, form, s, part, none, child, stream);
    if (status == cudaSuccess)
        status = cudaGraphAddChildGraphNode(&node, graph, part ? before : 0, part ? 1 : 0, child);
    cudaGraphDestroy(child); // the node has a copy
    if (status == cudaSuccess) *before = node;
    return status;
}

static inline cudaError_t TMAPI_ASK(ask_graph_build)(const TMAP_ASK_PARAMS *p, int form,
                                                     const tmap_ask_workspace *s, cudaGraph_t graph,
                                                     cudaStream_t stream) {
    cudaGraphConditionalHandle more;
    cudaGraphNodeParams parameters = {};
    cudaGraphNode_t last, loop;
    cudaError_t status =
        cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault);
    if (status != cudaSuccess) return status;
    status = TMAPI_ASK(ask_add)(p, form, s, 0, graph, &last, stream);
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
    status =
        TMAPI_ASK(ask_capture)(p, form, s, 1, more, parameters.conditional.phGraph_out[0], stream);
    if (status != cudaSuccess || form == TMAP_ASK_SBR) return status;
    return TMAPI_ASK(ask_add)(p, form, s, 2, graph, &loop, stream);
}

static inline cudaError_t TMAPI_ASK(ask_graph_make)(const TMAP_ASK_PARAMS *p, int form,
                                                    const tmap_ask_workspace *s,
                                                    cudaGraphExec_t *exec) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaError_t status;
    if (!exec || TMAPI_ASK(ask_refused)(p, form, s)) return cudaErrorInvalidValue;
    status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (status != cudaSuccess) return status;
    status = cudaGraphCreate(&graph, 0);
    if (status == cudaSuccess) {
        status = TMAPI_ASK(ask_graph_build)(p, form, s, graph, stream);
        if (status == cudaSuccess) status = cudaGraphInstantiate(exec, graph, 0);
        cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
    return status;
}

static inline cudaError_t TMAPI_ASK(ask_graph)(const TMAP_ASK_PARAMS *p, int form,
                                               const tmap_ask_workspace *s, cudaStream_t stream) {
    cudaGraphExec_t exec;
    cudaError_t status = TMAPI_ASK(ask_graph_make)(p, form, s, &exec);
    if (status != cudaSuccess) return status;
    status = cudaGraphLaunch(exec, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    return status;
}
#endif

static inline cudaError_t TMAPI_ASK(ask)(const TMAP_ASK_PARAMS *p, int form, int driver,
                                         const tmap_ask_workspace *s, cudaStream_t stream) {
    switch (driver) {
    case TMAP_ASK_HOST: return TMAPI_ASK(ask_host)(p, form, s, stream);
    case TMAP_ASK_STREAM: return TMAPI_ASK(ask_stream)(p, form, s, stream);
    case TMAP_ASK_COOPERATIVE: return TMAPI_ASK(ask_cooperative)(p, form, s, stream);
    case TMAP_ASK_GRAPH:
#if TMAP_ASK_GRAPHS
        return TMAPI_ASK(ask_graph)(p, form, s, stream);
#else
        return cudaErrorNotSupported;
#endif
    default: return cudaErrorInvalidValue;
    }
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif // TMAP_ASK_NAME
