// SPDX-License-Identifier: MIT
// ask_graph.h: a run of adaptive/ask.h as a CUDA graph with a loop over the levels (a WHILE node),
// which ends on the device when no region is left. CUDA 12.4 or later.
#ifndef TMAP_RIVALS_ASK_GRAPH_H
#define TMAP_RIVALS_ASK_GRAPH_H

#include "../adaptive/ask.h"

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
#endif
