// SPDX-License-Identifier: MIT
// cluster.h: what gromos.h and linkage.h share: their plan, the clusters they write, the order of
// distances, a launch with barriers across blocks, and the ranks of keys.
//
// Distances of n frames are floats in scipy's condensed order: tmap_condensed_cells(n) of them in
// device memory, at a multiple of 4. With n < 2 the pointer may be null.
//
// A plan maker writes *out only on success. It returns cudaErrorInvalidValue for a null pointer,
// cudaErrorInvalidConfiguration for an n above its range and if no block of a kernel fits the
// device, else the error of a CUDA call. A launch
// returns cudaErrorInvalidValue for a null or misaligned pointer that is needed and for a plan of
// another header; else the first error of its calls. All its pointers are to device memory and do
// not overlap; the workspace is at a multiple of 16, with any content, and one that no other launch
// uses at the same time. It can be captured. Results are the same in every run.
#ifndef TMAP_MOLECULES_CLUSTER_H
#define TMAP_MOLECULES_CLUSTER_H

#include "../launch.h"
#include "../reduce.h"
#include "../triangle/condensed.h"

// Clusters of n frames: arrays of n numbers each in device memory.
typedef struct tmap_clusters {
    tmap_u32 *labels;          // the cluster of each frame, from 0 on
    tmap_u32 *centres, *sizes; // of each cluster; tmap_linkage_labels does not use them
    tmap_u64 *count;           // number of clusters; at a multiple of 8
} tmap_clusters;

// A key, ordered by `high`, then `middle`, then `low`.
typedef struct tmapi_cluster_key {
    tmap_u32 high, middle, low, none;
} tmapi_cluster_key;

// ---- the plan -----------------------------------------------------------------------------------

#define TMAPI_CLUSTER_THREADS 1024u // the most of a block

// What a plan is for; a function refuses that of another.
#define TMAPI_CLUSTER_GROMOS  1
#define TMAPI_CLUSTER_LINKAGE 2

// A plan of tmap_gromos_plan_make or tmap_linkage_plan_make, for any number of launches. Its
// members are read-only for you.
typedef struct tmap_cluster_plan {
    tmap_u64 workspace; // bytes of the workspace
    tmap_u64 n;         // frames
    tmap_u64 words;     // of gromos.h: 32-bit words of a row of the bit matrix, a multiple of 8
    tmap_u64 bits;      // bytes of the bit matrix
    int kind;
    tmapi_launch_shape first, second; // of its launches
} tmap_cluster_plan;

// The shape of a launch of `warps` warps whose blocks wait for each other: the device holds all of
// them at once; one, if it runs one at a time. Returns TMAP_ERANGE if no block fits the device.
TMAP_FN int tmapi_cluster_shape_of(tmap_u64 warps, const tmap_facts *facts,
                                   tmapi_launch_shape *out) {
    const tmap_u64 processors = facts->device.processors;
    const tmap_u32 concurrent = facts->device.concurrent;
    tmap_u32 threads = 128;
    tmap_u64 blocks;
    while (concurrent && threads < TMAPI_CLUSTER_THREADS && warps > processors * (threads / 32))
        threads *= 2;
    if (!tmap_resident_blocks(facts, threads, 0)) return TMAP_ERANGE;
    blocks = (warps + threads / 32 - 1) / (threads / 32);
    if (blocks > processors) blocks = processors;
    out->grid = concurrent && blocks ? blocks : 1, out->block = threads;
    return TMAP_OK;
}

// ---- the order of distances ---------------------------------------------------------------------

// Integers in the order of distances, for finite and infinite ones; -0 equals 0. NaN gives a number
// that no distance has. Law: tmapi_cluster_value(tmapi_cluster_order(d)) == d.
TMAP_FN tmap_u32 tmapi_cluster_order(float distance) {
    tmapi_float w;
    w.value = distance;
    if (w.bits == 0x80000000u) return w.bits;
    return w.bits & 0x80000000u ? ~w.bits : w.bits | 0x80000000u;
}
TMAP_FN float tmapi_cluster_value(tmap_u32 order) {
    tmapi_float w;
    w.bits = order & 0x80000000u ? order & 0x7fffffffu : ~order;
    return w.value;
}

#define TMAPI_CLUSTER_INFINITE 0xff800000u // the order of infinity
#define TMAPI_CLUSTER_LEAST    0x007fffffu // the order of -infinity

#if TMAP_CUDA

// 1 if a < b, or a <= b with or_equal = 1, a constant; 0 for NaN; the same with -ftz=true.
TMAP_DEVICE int tmapi_cluster_less(float a, float b, int or_equal) {
#if defined(__CUDA_ARCH__)
    int less;
    if (or_equal)
        asm("set.le.s32.f32 %0, %1, %2;" : "=r"(less) : "f"(a), "f"(b));
    else
        asm("set.lt.s32.f32 %0, %1, %2;" : "=r"(less) : "f"(a), "f"(b));
    return less;
#else
    const tmap_u32 u = tmapi_cluster_order(a), v = tmapi_cluster_order(b), more = or_equal != 0;
    return TMAPI_CLUSTER_LEAST <= u && u < v + more && v <= TMAPI_CLUSTER_INFINITE;
#endif
}

// The lesser of a number a and any b, which may be NaN.
TMAP_DEVICE float tmapi_cluster_min(float a, float b) {
#if defined(__CUDA_ARCH__)
    float least;
    asm("min.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
#else
    return tmapi_cluster_less(b, a, 0) ? b : a;
#endif
}

// ---- all threads of a launch --------------------------------------------------------------------

// Counters at the beginning of a workspace, 0 before the launch: of the barrier, of frames that
// have left, and of clusters or edges found.
typedef struct tmapi_cluster_control {
    tmap_u32 arrived, gone, found, none;
} tmapi_cluster_control;

typedef struct tmapi_cluster_grid {
    tmap_u32 *arrived, turn;    // of the barrier; turn: 0 before the first
    tmap_u32 lane, warp, warps; // of all blocks
    tmap_u32 thread, threads;
} tmapi_cluster_grid;

TMAP_DEVICE tmapi_cluster_grid tmapi_cluster_self(tmapi_cluster_control *control) {
    tmapi_cluster_grid g;
    g.arrived = &control->arrived, g.turn = 0;
    g.lane = threadIdx.x % 32;
    g.thread = blockIdx.x * blockDim.x + threadIdx.x, g.threads = gridDim.x * blockDim.x;
    g.warp = g.thread / 32, g.warps = g.threads / 32;
    return g;
}

// A barrier of all threads of the launch. Plain loads after it read what was written before it.
TMAP_DEVICE void tmapi_cluster_barrier(tmapi_cluster_grid *g) {
    __syncthreads();
    g->turn += gridDim.x;
    if (threadIdx.x == 0) {
#if defined(__CUDA_ARCH__)
        tmap_u32 arrived;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(g->arrived) : "memory");
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(arrived)
                         : "l"(g->arrived)
                         : "memory");
        while ((int)(arrived - g->turn) < 0);
#else
        atomicAdd(g->arrived, 1u); // there is a single block
#endif
    }
    __syncthreads();
}

// Reads words that other threads may be changing.
TMAP_DEVICE tmap_u32 tmapi_cluster_load(const tmap_u32 *from) {
    return *(const volatile tmap_u32 *)from;
}
TMAP_DEVICE tmap_u64 tmapi_cluster_load64(const tmap_u64 *from) {
    return *(const volatile tmap_u64 *)from;
}

// The largest v of a full warp, in all lanes.
TMAP_DEVICE tmap_u32 tmapi_cluster_max(tmap_u32 v) { return tmapi_warp_max(tmap_warp_full(), v); }
TMAP_DEVICE tmap_u64 tmapi_cluster_max64(tmap_u64 v) {
    const tmap_u32 high = tmapi_cluster_max((tmap_u32)(v >> 32));
    const tmap_u32 low = tmapi_cluster_max((tmap_u32)(v >> 32) == high ? (tmap_u32)v : 0);
    return (tmap_u64)high << 32 | low;
}

// Appends to a list for each lane that wants it: returns the lane's position, in no order; *count
// is the list's length. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_cluster_append(tmap_u32 *count, int wanted) {
    const tmap_u32 lanes = __ballot_sync(0xffffffffu, wanted), lane = threadIdx.x % 32;
    tmap_u32 first = 0;
    if (!lanes) return 0; // in all lanes alike
    if (lane == 0) first = atomicAdd(count, (tmap_u32)__popc(lanes));
    return __shfl_sync(0xffffffffu, first, 0) + __popc(lanes & ((1u << lane) - 1));
}

#define TMAPI_CLUSTER_CHUNK 512u // keys in shared memory

TMAP_DEVICE int tmapi_cluster_below(tmapi_cluster_key a, tmapi_cluster_key b) {
    const tmap_u64 u = (tmap_u64)a.middle << 32 | a.low, v = (tmap_u64)b.middle << 32 | b.low;
    return a.high < b.high || (a.high == b.high && u < v);
}

// Adds to each ranks[k] the number of keys below key k, by count^2 comparisons of all threads.
TMAP_DEVICE void tmapi_cluster_rank(const tmapi_cluster_key *keys, tmap_u32 count,
                                    tmap_u32 *ranks) {
    __shared__ tmapi_cluster_key chunk[TMAPI_CLUSTER_CHUNK];
    const tmap_u32 parts = (count + TMAPI_CLUSTER_CHUNK - 1) / TMAPI_CLUSTER_CHUNK;
    const tmap_u64 units = (tmap_u64)((count + blockDim.x - 1) / blockDim.x) * parts;
#pragma unroll 1
    for (tmap_u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const tmap_u32 group = (tmap_u32)(unit / parts), part = (tmap_u32)(unit % parts);
        const tmap_u32 k = group * blockDim.x + threadIdx.x, first = part * TMAPI_CLUSTER_CHUNK;
        const tmap_u32 left = count - first;
        const tmap_u32 size = left < TMAPI_CLUSTER_CHUNK ? left : TMAPI_CLUSTER_CHUNK;
        __syncthreads(); // all threads have used the previous chunk
        for (tmap_u32 c = threadIdx.x; c < size; c += blockDim.x) chunk[c] = keys[first + c];
        __syncthreads();
        if (k < count) {
            const tmapi_cluster_key mine = keys[k];
            tmap_u32 below = 0;
#pragma unroll 4
            for (tmap_u32 c = 0; c < size; ++c) below += tmapi_cluster_below(chunk[c], mine);
            if (below) atomicAdd(ranks + k, below);
        }
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Makes a plan on the current device from one without shapes, for up to `most` frames: of a kernel
// with n warps and, unless it is null, of one with a bit for each frame.
static inline cudaError_t tmapi_cluster_plan_make(tmap_cluster_plan p, tmap_u64 most,
                                                  const void *first, const void *second,
                                                  tmap_cluster_plan *out) {
    tmap_facts facts;
    cudaError_t error = out ? cudaSuccess : cudaErrorInvalidValue;
    if (!error && p.n > most) error = cudaErrorInvalidConfiguration;
    if (!error) error = tmap_facts_get(first, &facts);
    if (!error) error = tmapi_launch_error(tmapi_cluster_shape_of(p.n, &facts, &p.first));
    if (!error && second) error = tmap_facts_get(second, &facts);
    if (!error && second)
        error = tmapi_launch_error(tmapi_cluster_shape_of(p.n / 32 + 1, &facts, &p.second));
    if (!error) *out = p;
    return error;
}

// Clears the counters and launches a kernel of one parameter whose blocks wait for each other.
static inline cudaError_t tmapi_cluster_launch(const void *kernel, tmapi_launch_shape shape,
                                               tmapi_cluster_control *control, void *argument,
                                               cudaStream_t stream) {
    const cudaError_t error = cudaMemsetAsync(control, 0, sizeof *control, stream);
    if (error) return error;
    return cudaLaunchCooperativeKernel(kernel, dim3((unsigned)shape.grid), dim3(shape.block),
                                       &argument, 0, stream);
}

// 1 if `p`, which `least` frames or more need, is at a multiple of `at`.
static inline int tmapi_cluster_has(const tmap_cluster_plan *plan, tmap_u64 least, const void *p,
                                    tmap_u64 at) {
    return plan->n < least || (p && (tmap_u64)p % at == 0);
}

// 1 if a plan is of this kind, and the pointers to a clustering's outputs and workspace are valid.
static inline int tmapi_cluster_ready(const tmap_cluster_plan *plan, int kind,
                                      const void *workspace, tmap_clusters to) {
    const tmap_u64 centres = kind == TMAPI_CLUSTER_GROMOS ? 1 : ~0ull;
    return plan && plan->kind == kind && tmapi_cluster_has(plan, 1, workspace, 16) &&
           tmapi_cluster_has(plan, 1, to.labels, 4) && tmapi_cluster_has(plan, 0, to.count, 8) &&
           tmapi_cluster_has(plan, centres, to.centres, 4) &&
           tmapi_cluster_has(plan, centres, to.sizes, 4);
}

#endif
#endif
