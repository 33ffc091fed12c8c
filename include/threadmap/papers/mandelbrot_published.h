// SPDX-License-Identifier: MIT
// mandelbrot_published.h: the Mandelbrot set in the forms that the paper describes, written as
// published: each region computes its own border, every pixel tests for escape in every step. As
// published, too, the set is lost if all of it is inside the border of one region.
//
//     exhaustive  a thread for each pixel
//     ask_sbr     adaptive serial kernels, a block for each region: a kernel for each level, offset
//                 lookup tables (OLT) filled by atomic adds, a host loop that allocates each table
//                 for the regions of its level (section 5.3.2)
//     ask_mbr     the same; filling and leaves are kernels with several blocks for each region
//     dp_sbr      dynamic parallelism: a block launches a kernel for the children of its region
//     dp_mbr      the same; filling and leaves are launches, too (Adinetz, 2014)
//     ask_sbr_run ask_sbr as its authors ran it: a table has a region that subdivides, and the grid
//                 its children
//     dp_sbr_run  dp_sbr as its authors ran it: filling and leaves are launches of one block; no
//                 launch waits for another
//     graph       ask_sbr; a conditional node of a CUDA graph is the level loop, without the host
//
// The library's own forms are adaptive/mandelbrot.h and mandelbrot_dp.h; the bench compares them.
//
// Source: Quezada, Navarro, Romero, Aguilera, FGCS 145 (2023), sections 3, 5 and 6; what was run:
// github.com/temporal-hpc/GPU-dynamic-parallelism, commit a905ba7.
#ifndef TMAP_PAPERS_MANDELBROT_PUBLISHED_H
#define TMAP_PAPERS_MANDELBROT_PUBLISHED_H

#include "mandelbrot_dp.h"

typedef enum tmap_mandelbrot_published {
    TMAP_PUBLISHED_EXHAUSTIVE,
    TMAP_PUBLISHED_ASK_SBR,
    TMAP_PUBLISHED_ASK_MBR,
    TMAP_PUBLISHED_DP_SBR, // -rdc=true, as mandelbrot_dp.h
    TMAP_PUBLISHED_DP_MBR, // -rdc=true
    TMAP_PUBLISHED_ASK_SBR_RUN,
    TMAP_PUBLISHED_DP_SBR_RUN, // -rdc=true
    TMAP_PUBLISHED_GRAPH       // CUDA 12.4 or later
} tmap_mandelbrot_published;

#define TMAP_PUBLISHED_COUNT 8

// "published_exhaustive", "published_ask_sbr", ..., "graph_conditional"; "?" for other numbers.
TMAP_FN const char *tmap_published_name(int form) {
    switch (form) {
    case TMAP_PUBLISHED_EXHAUSTIVE: return "published_exhaustive";
    case TMAP_PUBLISHED_ASK_SBR: return "published_ask_sbr";
    case TMAP_PUBLISHED_ASK_MBR: return "published_ask_mbr";
    case TMAP_PUBLISHED_DP_SBR: return "published_dp_sbr";
    case TMAP_PUBLISHED_DP_MBR: return "published_dp_mbr";
    case TMAP_PUBLISHED_ASK_SBR_RUN: return "published_ask_sbr_run";
    case TMAP_PUBLISHED_DP_SBR_RUN: return "published_dp_sbr_run";
    case TMAP_PUBLISHED_GRAPH: return "graph_conditional";
    default: return "?";
    }
}

#if TMAP_CUDA && !TMAP_NVRTC

#if defined(__CUDACC_VER_MAJOR__) && CUDART_VERSION >= 12040
#define TMAPI_PUBLISHED_GRAPHS 1
#else
#define TMAPI_PUBLISHED_GRAPHS 0
#endif

// ---- on the device ------------------------------------------------------------------------------

// A region that has one dwell.
typedef struct tmapi_published_fill {
    tmap_u64 scalar;
    int dwell;
} tmapi_published_fill;

// Counters of a level.
typedef struct tmapi_published_counts {
    tmap_u32 subdivided, filled, leaves;
    tmap_u32 level, regions; // of the graph, which the host does not step
} tmapi_published_counts;

// What all kernels know.
typedef struct tmapi_published {
    tmapi_mandelbrot_job job;
    tmap_ask_domain domain;
    tmap_u32 level;
    const tmap_u64 *read;        // the regions of the level; null: all of level 0
    tmap_u64 *write;             // the children of those that subdivide
    tmapi_published_fill *fills; // of MBR
    tmap_u64 *leaves;            // of MBR
    tmapi_published_counts *counts;
} tmapi_published;

TMAP_DEVICE int tmapi_published_region(const tmapi_published *p, tmap_u64 scalar,
                                       tmap_ask_region *out) {
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&p->domain, p->level);
    return tmapi_ask_region(2, &grid, scalar, out);
}

// The dwell of a pixel, with a test in every step.
TMAP_DEVICE int tmapi_published_dwell(const tmapi_published *p, tmap_u32 x, tmap_u32 y) {
    tmapi_mandelbrot_job job = p->job;
    tmapi_mandelbrot_z c;
    job.f64 = 0; // a constant
    c = tmapi_mandelbrot_c(&job, x, y);
    return tmapi_mandelbrot_tested(&job, c, c, 0);
}

// The query: the block computes the dwells of the region's border. Returns 1 in all threads if they
// are equal; *dwell is then their value.
TMAP_DEVICE int tmapi_published_uniform(const tmapi_published *p, const tmap_ask_region *r,
                                        int *dwell) {
    __shared__ int least, most;
    const tmap_u32 wide = r->x1 - r->x0, high = r->y1 - r->y0, border = 2 * (wide + high);
    if (threadIdx.x == 0) least = 0x7fffffff, most = -1;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < border; i += blockDim.x) {
        const tmap_u32 k = i < 2 * wide ? i % wide : (i - 2 * wide) % high;
        const int row = i < 2 * wide, apart = row ? i >= wide : i - 2 * wide >= high;
        const tmap_u32 x = row ? r->x0 + k : apart ? r->x1 - 1 : r->x0;
        const tmap_u32 y = row ? (apart ? r->y1 - 1 : r->y0) : r->y0 + k;
        const int d = tmapi_published_dwell(p, x, y);
        atomicMin(&least, d);
        atomicMax(&most, d);
    }
    __syncthreads();
    *dwell = least;
    const int uniform = least == most;
    __syncthreads(); // the next query of this block resets both
    return uniform;
}

// Writes `dwell`, or each pixel's own dwell for -1, to pixels `first`, first + `step`, ... of a
// region.
TMAP_DEVICE void tmapi_published_pixels(const tmapi_published *p, const tmap_ask_region *r,
                                        int dwell, tmap_u32 first, tmap_u32 step) {
    const tmap_u32 wide = r->x1 - r->x0, pixels = wide * (r->y1 - r->y0);
    for (tmap_u32 i = first; i < pixels; i += step) {
        const tmap_u32 x = r->x0 + i % wide, y = r->y0 + i / wide;
        p->job.out[(tmap_u64)y * p->job.nx + x] =
            dwell < 0 ? tmapi_published_dwell(p, x, y) : dwell;
    }
}

static __global__ void __launch_bounds__(512) tmapi_published_exhaustive(tmapi_published p) {
    const tmap_u32 x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
    if (x < p.job.nx && y < p.job.ny)
        p.job.out[(tmap_u64)y * p.job.nx + x] = tmapi_published_dwell(&p, x, y);
}

// Region i of a level of ASK: the block fills it, computes it, or puts its children into the OLT.
// In form MBR it puts regions to fill and to compute into lists.
TMAP_DEVICE void tmapi_published_ask(const tmapi_published *p, int form, tmap_u32 i) {
    const tmap_u64 scalar =
        p->read ? p->read[i] : tmapi_ask_pack(2, i % p->domain.g, i / p->domain.g, 0);
    const tmap_u32 r = p->domain.r;
    tmap_ask_region region;
    int dwell;
    if (!tmapi_published_region(p, scalar, &region)) return;
    if (tmapi_published_uniform(p, &region, &dwell)) {
        if (form == TMAP_ASK_SBR) {
            tmapi_published_pixels(p, &region, dwell, threadIdx.x, blockDim.x);
        } else if (threadIdx.x == 0) {
            const tmapi_published_fill fill = {scalar, dwell};
            p->fills[atomicAdd(&p->counts->filled, 1u)] = fill;
        }
    } else if (p->level + 1 == p->domain.levels) {
        if (form == TMAP_ASK_SBR)
            tmapi_published_pixels(p, &region, -1, threadIdx.x, blockDim.x);
        else if (threadIdx.x == 0)
            p->leaves[atomicAdd(&p->counts->leaves, 1u)] = scalar;
    } else if (threadIdx.x == 0) {
        tmap_u64 *children = p->write + (tmap_u64)atomicAdd(&p->counts->subdivided, 1u) * r * r;
        for (tmap_u32 c = 0; c < r * r; ++c) children[c] = tmapi_ask_child(2, r, scalar, c);
    }
}

static __global__ void __launch_bounds__(512)
    tmapi_published_ask_kernel(tmapi_published p, int form) {
    tmapi_published_ask(&p, form, blockIdx.x);
}

// As its authors ran it: region (y, z) of the children of entry x, or of level 0. The table gets a
// region that subdivides.
static __global__ void __launch_bounds__(512) tmapi_published_ask_run_kernel(tmapi_published p) {
    const tmap_u32 r = p.domain.r, y = blockIdx.y, z = blockIdx.z;
    const tmap_u64 scalar =
        p.read ? tmapi_ask_child(2, r, p.read[blockIdx.x], z * r + y) : tmapi_ask_pack(2, y, z, 0);
    tmap_ask_region region;
    int dwell;
    if (!tmapi_published_region(&p, scalar, &region)) return;
    if (!tmapi_published_uniform(&p, &region, &dwell)) dwell = -1;
    if (dwell >= 0 || p.level + 1 == p.domain.levels)
        tmapi_published_pixels(&p, &region, dwell, threadIdx.x, blockDim.x);
    else if (threadIdx.x == 0)
        p.write[atomicAdd(&p.counts->subdivided, 1u)] = scalar;
}

// MBR: gridDim.y blocks for each region of a list. fills: 1 to fill, 0 to compute leaves.
static __global__ void __launch_bounds__(512) tmapi_published_finish(tmapi_published p, int fills) {
    const tmap_u64 scalar = fills ? p.fills[blockIdx.x].scalar : p.leaves[blockIdx.x];
    const int dwell = fills ? p.fills[blockIdx.x].dwell : -1;
    tmap_ask_region region;
    if (tmapi_published_region(&p, scalar, &region))
        tmapi_published_pixels(&p, &region, dwell, blockIdx.y * blockDim.x + threadIdx.x,
                               gridDim.y * blockDim.x);
}

// ---- dynamic parallelism ------------------------------------------------------------------------

#if TMAP_DP
// MBR: the blocks of the grid fill a region, or compute it if dwell is -1.
static __global__ void __launch_bounds__(512)
    tmapi_published_dp_pixels(tmapi_published p, tmap_u64 scalar, int dwell) {
    tmap_ask_region region;
    if (tmapi_published_region(&p, scalar, &region))
        tmapi_published_pixels(&p, &region, dwell, blockIdx.x * blockDim.x + threadIdx.x,
                               gridDim.x * blockDim.x);
}

// A block for each child of `parent`, or for each region of level 0.
static __global__ void __launch_bounds__(512)
    tmapi_published_dp_kernel(tmapi_published p, tmap_u64 parent, int form, tmap_u64 *lost) {
    const tmap_u32 r = p.domain.r;
    const tmap_u64 scalar = p.level ? tmapi_ask_child(2, r, parent, blockIdx.y * r + blockIdx.x)
                                    : tmapi_ask_pack(2, blockIdx.x, blockIdx.y, 0);
    tmap_ask_region region;
    int dwell, leaf;
    if (!tmapi_published_region(&p, scalar, &region)) return;
    if (!tmapi_published_uniform(&p, &region, &dwell)) dwell = -1;
    leaf = p.level + 1 == p.domain.levels;
    if (dwell < 0 && !leaf) {
        if (threadIdx.x) return;
        ++p.level;
        tmapi_published_dp_kernel<<<dim3(r, r, 1), blockDim.x>>>(p, scalar, form, lost);
        if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
    } else if (form == TMAP_ASK_SBR) {
        tmapi_published_pixels(&p, &region, dwell, threadIdx.x, blockDim.x);
    } else if (threadIdx.x == 0) {
        const tmap_u32 pixels = tmap_ask_region_elements(&region);
        tmapi_published_dp_pixels<<<(pixels + blockDim.x - 1) / blockDim.x, blockDim.x>>>(p, scalar,
                                                                                          dwell);
        if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull);
    }
}

// SBR as its authors ran it.
static __global__ void __launch_bounds__(512)
    tmapi_published_dp_run_kernel(tmapi_published p, tmap_u64 parent, tmap_u64 *lost) {
    const tmap_u32 r = p.domain.r;
    const tmap_u64 scalar = p.level ? tmapi_ask_child(2, r, parent, blockIdx.y * r + blockIdx.x)
                                    : tmapi_ask_pack(2, blockIdx.x, blockIdx.y, 0);
    tmap_ask_region region;
    int dwell;
    if (!tmapi_published_region(&p, scalar, &region)) return;
    if (!tmapi_published_uniform(&p, &region, &dwell)) dwell = -1;
    if (threadIdx.x) return;
    if (dwell >= 0 || p.level + 1 == p.domain.levels) {
        tmapi_published_dp_pixels<<<1, blockDim.x, 0, TMAPI_MANDELBROT_DP_STREAM>>>(p, scalar,
                                                                                    dwell);
    } else {
        ++p.level;
        tmapi_published_dp_run_kernel<<<dim3(r, r, 1), blockDim.x, 0, TMAPI_MANDELBROT_DP_STREAM>>>(
            p, scalar, lost);
    }
    if (cudaGetLastError() != cudaSuccess) atomicAdd(lost, 1ull); // of the one launch above
}
#endif

// ---- the host loop ------------------------------------------------------------------------------

// What a picture needs from the caller.
typedef struct tmap_published_call {
    int form;          // tmap_mandelbrot_published
    tmap_ask_params a; // as for tmap_mandelbrot_workspace_bytes; g <= 65535
    tmap_u32 threads;  // of a block, 32 to 512, a multiple of 32; EXHAUSTIVE: 256
    tmap_u64 *lost;    // DP: device memory, the number of launches that failed
} tmap_published_call;

static inline cudaError_t tmapi_published_launch(const void *kernel, dim3 grid, tmap_u32 threads,
                                                 void **arguments, cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, dim3(threads, 1, 1), arguments, 0, stream);
}

// One level of ASK, its tables already allocated. *subdivided: how many of its regions subdivide.
static inline cudaError_t tmapi_published_level(tmapi_published *p, int form, dim3 grid,
                                                tmap_u32 threads, tmap_u32 *subdivided,
                                                cudaStream_t stream) {
    const int run = form == TMAP_PUBLISHED_ASK_SBR_RUN, mbr = form == TMAP_PUBLISHED_ASK_MBR;
    int rule = mbr ? TMAP_ASK_MBR : TMAP_ASK_SBR;
    const tmap_u64 side = (tmap_u64)p->domain.nx / p->domain.g + 1;
    tmapi_published_counts counts;
    void *query[] = {p, &rule};
    tmap_u64 pixels = side;
    cudaError_t status = cudaMemsetAsync(p->counts, 0, sizeof counts, stream);
    for (tmap_u32 l = 0; l < p->level; ++l) pixels = pixels / p->domain.r + 1;
    const tmap_u64 blocks = (pixels * pixels + threads - 1) / threads;
    const tmap_u32 parts = (tmap_u32)(blocks < 65535 ? blocks : 65535);
    if (!status)
        status = tmapi_published_launch(run ? (const void *)tmapi_published_ask_run_kernel
                                            : (const void *)tmapi_published_ask_kernel,
                                        grid, threads, query, stream);
    if (!status)
        status = cudaMemcpyAsync(&counts, p->counts, sizeof counts, cudaMemcpyDeviceToHost, stream);
    if (!status) status = cudaStreamSynchronize(stream);
    for (int fills = 0; !status && mbr && fills < 2; ++fills) {
        const tmap_u32 count = fills ? counts.filled : counts.leaves;
        void *finish[] = {p, &fills};
        if (count)
            status = tmapi_published_launch((const void *)tmapi_published_finish,
                                            dim3(count, parts, 1), threads, finish, stream);
    }
    *subdivided = status ? 0 : counts.subdivided;
    return status;
}

// The loop of section 5.3.2: each level's table is allocated when the level's regions are known.
static inline cudaError_t tmapi_published_levels(tmapi_published p, int form, tmap_u32 threads,
                                                 cudaStream_t stream) {
    const int run = form == TMAP_PUBLISHED_ASK_SBR_RUN, mbr = form == TMAP_PUBLISHED_ASK_MBR;
    const tmap_u32 children = p.domain.r * p.domain.r;
    tmap_u32 regions = p.domain.g * p.domain.g, subdivided;
    dim3 grid = run ? dim3(1, p.domain.g, p.domain.g) : dim3(regions, 1, 1);
    void *read = NULL;
    cudaError_t status = cudaMalloc((void **)&p.counts, sizeof *p.counts);
    for (p.level = 0; !status && regions; ++p.level) {
        const int last = p.level + 1 == p.domain.levels;
        void *write = NULL, *fills = NULL, *leaves = NULL;
        if (!last) status = cudaMalloc(&write, sizeof(tmap_u64) * regions * (run ? 1 : children));
        if (!status && mbr) status = cudaMalloc(&fills, regions * sizeof(tmapi_published_fill));
        if (!status && mbr && last) status = cudaMalloc(&leaves, regions * sizeof(tmap_u64));
        p.read = (const tmap_u64 *)read, p.write = (tmap_u64 *)write;
        p.fills = (tmapi_published_fill *)fills, p.leaves = (tmap_u64 *)leaves;
        if (!status) status = tmapi_published_level(&p, form, grid, threads, &subdivided, stream);
        regions = status ? 0 : subdivided * children;
        grid = run ? dim3(subdivided, p.domain.r, p.domain.r) : dim3(regions, 1, 1);
        cudaFree(read), cudaFree(fills), cudaFree(leaves);
        read = write;
    }
    cudaFree(read), cudaFree(p.counts);
    return status;
}

// ---- a conditional node -------------------------------------------------------------------------

#if TMAPI_PUBLISHED_GRAPHS
// A level of the graph; blocks take the level's regions in turn. The tables are swapped by parity.
static __global__ void __launch_bounds__(512)
    tmapi_published_graph_level(tmapi_published p, tmap_u64 *tables, tmap_u64 room) {
    const tmap_u32 regions = p.counts->regions;
    p.level = p.counts->level;
    p.read = p.level ? tables + (p.level & 1) * room : NULL;
    p.write = tables + (~p.level & 1) * room;
    for (tmap_u32 i = blockIdx.x; i < regions; i += gridDim.x)
        tmapi_published_ask(&p, TMAP_ASK_SBR, i);
}

static __global__ void tmapi_published_graph_step(tmapi_published p,
                                                  cudaGraphConditionalHandle more) {
    p.counts->regions = p.counts->subdivided * p.domain.r * p.domain.r;
    p.counts->subdivided = 0;
    p.counts->level += 1;
    cudaGraphSetConditional(more, p.counts->regions != 0);
}

// A graph that draws a picture: the counters, then a loop of two kernels while there are regions.
typedef struct tmap_published_graph {
    cudaGraphExec_t exec;
    tmap_u64 *tables;
    tmapi_published_counts *counts, *start; // start: what a picture begins with
} tmap_published_graph;

static inline void tmap_published_graph_free(tmap_published_graph *g) {
    if (g->exec) cudaGraphExecDestroy(g->exec);
    cudaFree(g->tables), cudaFree(g->counts), cudaFree(g->start);
    memset(g, 0, sizeof *g);
}

static inline cudaError_t tmapi_published_graph_nodes(cudaGraph_t graph, tmapi_published *p,
                                                      tmap_published_graph *g, tmap_u64 room,
                                                      tmap_u32 blocks, tmap_u32 threads) {
    void *level[] = {p, &g->tables, &room};
    cudaGraphConditionalHandle more;
    void *step[] = {p, &more};
    cudaGraphNode_t start, loop, first, second;
    cudaGraphNodeParams node = {};
    cudaKernelNodeParams kernel = {};
    cudaError_t status = cudaGraphAddMemcpyNode1D(&start, graph, NULL, 0, g->counts, g->start,
                                                  sizeof *g->counts, cudaMemcpyDeviceToDevice);
    if (!status)
        status = cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault);
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = more;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
#if CUDART_VERSION >= 13000
    if (!status) status = cudaGraphAddNode(&loop, graph, &start, NULL, 1, &node);
#else
    if (!status) status = cudaGraphAddNode(&loop, graph, &start, 1, &node);
#endif
    if (status) return status;
    kernel.func = (void *)tmapi_published_graph_level;
    kernel.gridDim = dim3(blocks, 1, 1), kernel.blockDim = dim3(threads, 1, 1);
    kernel.kernelParams = level;
    cudaGraph_t body = node.conditional.phGraph_out[0];
    status = cudaGraphAddKernelNode(&first, body, NULL, 0, &kernel);
    kernel.func = (void *)tmapi_published_graph_step;
    kernel.gridDim = kernel.blockDim = dim3(1, 1, 1);
    kernel.kernelParams = step;
    return status ? status : cudaGraphAddKernelNode(&second, body, &first, 1, &kernel);
}
#endif

// ---- calls --------------------------------------------------------------------------------------

// Checks a call and fills what the kernels know. Returns cudaErrorInvalidValue for what is refused.
static inline cudaError_t tmapi_published_make(const tmap_mandelbrot *m,
                                               const tmap_published_call *how, int *out,
                                               tmapi_published *p) {
    memset(p, 0, sizeof *p);
    if (tmap_mandelbrot_check(m) || !how || !out || (tmap_u64)out % sizeof *out || how->form < 0 ||
        how->form >= TMAP_PUBLISHED_COUNT || how->threads % 32 || how->threads < 32 ||
        how->threads > 512 || m->options & TMAP_MANDELBROT_F64)
        return cudaErrorInvalidValue;
    p->job = tmapi_mandelbrot_job_make(m);
    p->job.out = out;
    if (how->form == TMAP_PUBLISHED_EXHAUSTIVE) return cudaSuccess;
    if (tmap_ask_domain_make(tmapi_mandelbrot_box(m), how->a, &p->domain) || p->domain.g > 65535)
        return cudaErrorInvalidValue;
    p->domain.dims = 2;
    return cudaSuccess;
}

// Draws a picture in float, in a form other than GRAPH. out: as for tmap_mandelbrot_stream. ASK
// allocates and synchronizes, as published. Returns cudaErrorInvalidValue for what is out of range;
// cudaErrorNotSupported for DP without -rdc=true and for GRAPH; else the first error of CUDA.
static inline cudaError_t tmap_mandelbrot_published_f32(const tmap_mandelbrot *m,
                                                        const tmap_published_call *how, int *out,
                                                        cudaStream_t stream) {
    tmapi_published p;
    const cudaError_t status = tmapi_published_make(m, how, out, &p);
    if (status) return status;
    if (how->form == TMAP_PUBLISHED_EXHAUSTIVE) {
        void *arguments[] = {&p};
        const dim3 grid((m->nx + 15) / 16, (m->ny + 15) / 16, 1);
        if (grid.y > 65535) return cudaErrorInvalidValue;
        return tmapi_published_launch((const void *)tmapi_published_exhaustive, grid, 256,
                                      arguments, stream);
    }
    if (how->form == TMAP_PUBLISHED_ASK_SBR || how->form == TMAP_PUBLISHED_ASK_MBR ||
        how->form == TMAP_PUBLISHED_ASK_SBR_RUN)
        return tmapi_published_levels(p, how->form, how->threads, stream);
#if TMAP_DP
    if (how->form != TMAP_PUBLISHED_GRAPH) {
        int form = how->form == TMAP_PUBLISHED_DP_SBR ? TMAP_ASK_SBR : TMAP_ASK_MBR;
        tmap_u64 parent = 0, *lost = how->lost;
        const int run = how->form == TMAP_PUBLISHED_DP_SBR_RUN;
        void *arguments[] = {&p, &parent, &form, &lost}, *arguments_run[] = {&p, &parent, &lost};
        if (!lost) return cudaErrorInvalidValue;
        const cudaError_t cleared = cudaMemsetAsync(lost, 0, sizeof *lost, stream);
        if (cleared) return cleared;
        return tmapi_published_launch(run ? (const void *)tmapi_published_dp_run_kernel
                                          : (const void *)tmapi_published_dp_kernel,
                                      dim3(p.domain.g, p.domain.g, 1), how->threads,
                                      run ? arguments_run : arguments, stream);
    }
#endif
    return cudaErrorNotSupported;
}

#if TMAPI_PUBLISHED_GRAPHS
// Makes a graph that draws a picture to `out` at each cudaGraphLaunch(g->exec, stream); frees with
// tmap_published_graph_free. Returns cudaErrorInvalidValue for what is out of range, or if
// how->form is not GRAPH; else the first error of CUDA.
static inline cudaError_t tmap_published_graph_make(const tmap_mandelbrot *m,
                                                    const tmap_published_call *how, int *out,
                                                    tmap_published_graph *g) {
    tmapi_published p;
    tmapi_published_counts start;
    tmap_u64 room = 1;
    tmap_facts facts;
    cudaGraph_t graph;
    cudaError_t status = g ? tmapi_published_make(m, how, out, &p) : cudaErrorInvalidValue;
    if (!status && how->form != TMAP_PUBLISHED_GRAPH) status = cudaErrorInvalidValue;
    if (status) return status;
    memset(g, 0, sizeof *g);
    memset(&start, 0, sizeof start);
    start.regions = p.domain.g * p.domain.g;
    for (tmap_u32 l = 0; l < p.domain.levels; ++l) room *= l ? p.domain.r : p.domain.g;
    room *= room; // no level has more regions
    status = cudaMalloc((void **)&g->tables, 2 * room * sizeof *g->tables);
    if (!status) status = cudaMalloc((void **)&g->counts, sizeof *g->counts);
    if (!status) status = cudaMalloc((void **)&g->start, sizeof *g->start);
    if (!status) status = cudaMemcpy(g->start, &start, sizeof start, cudaMemcpyHostToDevice);
    if (!status) status = tmap_facts_get((const void *)tmapi_published_graph_level, &facts);
    p.counts = g->counts;
    if (!status) status = cudaGraphCreate(&graph, 0);
    if (!status) {
        status = tmapi_published_graph_nodes(
            graph, &p, g, room,
            facts.device.processors * tmap_resident_blocks(&facts, how->threads, 0), how->threads);
        if (!status) status = cudaGraphInstantiate(&g->exec, graph, 0);
        cudaGraphDestroy(graph);
    }
    if (status) tmap_published_graph_free(g);
    return status;
}
#endif

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
