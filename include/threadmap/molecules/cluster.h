// SPDX-License-Identifier: MIT
// cluster.h: what the clusterings of gromos.h and linkage.h share: the order of distances, one
// launch of all rounds, with barriers of all its blocks, and the ranks of keys.
#ifndef TMAP_MOLECULES_CLUSTER_H
#define TMAP_MOLECULES_CLUSTER_H

#include "../warp.h"

// A key, by `high`, then `middle`, then `low`.
typedef struct tmapi_cluster_key {
    tmap_u32 high, middle, low, none;
} tmapi_cluster_key;

#define TMAPI_CLUSTER_KEY_BYTES 16u

// ---- the order of distances ---------------------------------------------------------------------

typedef union tmapi_cluster_word {
    float value;
    tmap_u32 bits;
} tmapi_cluster_word;

// Integers in the order of distances, for finite distances and infinity; -0 is 0. A NaN gives some
// number that no other distance has. Laws: tmapi_cluster_value(tmapi_cluster_order(d)) == d.
TMAP_FN tmap_u32 tmapi_cluster_order(float distance) {
    tmapi_cluster_word w;
    w.value = distance;
    if (w.bits == 0x80000000u) return w.bits;
    return w.bits & 0x80000000u ? ~w.bits : w.bits | 0x80000000u;
}
TMAP_FN float tmapi_cluster_value(tmap_u32 order) {
    tmapi_cluster_word w;
    w.bits = order & 0x80000000u ? order & 0x7fffffffu : ~order;
    return w.value;
}

#define TMAPI_CLUSTER_INFINITE 0xff800000u // the order of infinity
#define TMAPI_CLUSTER_LEAST    0x007fffffu // the order of -infinity

#if TMAP_CUDA

// a < b, a <= b, and the lesser of a number a and any b. A NaN is neither less nor at most
// anything. Compiled with -ftz=true, as by --use_fast_math, the compiler's own comparisons take all
// numbers below the normal ones for 0; these are always those of the orders.
TMAP_DEVICE int tmapi_cluster_less(float a, float b) {
#if defined(__CUDA_ARCH__)
    int less;
    asm("{ .reg .pred p; setp.lt.f32 p, %1, %2; selp.s32 %0, 1, 0, p; }"
        : "=r"(less)
        : "f"(a), "f"(b));
    return less;
#else
    const tmap_u32 u = tmapi_cluster_order(a), v = tmapi_cluster_order(b);
    return TMAPI_CLUSTER_LEAST <= u && u < v && v <= TMAPI_CLUSTER_INFINITE;
#endif
}
TMAP_DEVICE int tmapi_cluster_at_most(float a, float b) {
#if defined(__CUDA_ARCH__)
    int at_most;
    asm("{ .reg .pred p; setp.le.f32 p, %1, %2; selp.s32 %0, 1, 0, p; }"
        : "=r"(at_most)
        : "f"(a), "f"(b));
    return at_most;
#else
    const tmap_u32 u = tmapi_cluster_order(a), v = tmapi_cluster_order(b);
    return TMAPI_CLUSTER_LEAST <= u && u <= v && v <= TMAPI_CLUSTER_INFINITE;
#endif
}
TMAP_DEVICE float tmapi_cluster_min(float a, float b) {
#if defined(__CUDA_ARCH__)
    float least;
    asm("min.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
#else
    return tmapi_cluster_less(b, a) ? b : a;
#endif
}

// ---- a launch of all rounds ---------------------------------------------------------------------

// The most threads of a block.
#define TMAPI_CLUSTER_THREADS 1024u

// What a thread knows of its launch. turn: of the barrier; 0 before the first one.
typedef struct tmapi_cluster_grid {
    tmap_u32 *arrived; // 0 before the launch
    tmap_u32 turn;
    tmap_u32 lane, warp, warps; // of all blocks
    tmap_u32 thread, threads;
} tmapi_cluster_grid;

TMAP_DEVICE tmapi_cluster_grid tmapi_cluster_self(tmap_u32 *arrived) {
    tmapi_cluster_grid g;
    g.arrived = arrived, g.turn = 0;
    g.lane = threadIdx.x % 32;
    g.thread = blockIdx.x * blockDim.x + threadIdx.x, g.threads = gridDim.x * blockDim.x;
    g.warp = g.thread / 32, g.warps = g.threads / 32;
    return g;
}

// A barrier of all threads of the launch: what they have written before it is there to be read by
// plain loads after it.
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
        atomicAdd(g->arrived, 1u); // of a single block
#endif
    }
    __syncthreads();
}

// Words that other threads may be changing.
TMAP_DEVICE tmap_u32 tmapi_cluster_load(const tmap_u32 *from) {
    return *(const volatile tmap_u32 *)from;
}
TMAP_DEVICE tmap_u64 tmapi_cluster_load64(const tmap_u64 *from) {
    return *(const volatile tmap_u64 *)from;
}

// The largest v of a full warp, in all lanes.
TMAP_DEVICE tmap_u32 tmapi_cluster_max(tmap_u32 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
    for (tmap_u32 step = 16; step; step >>= 1) {
        const tmap_u32 other = __shfl_xor_sync(0xffffffffu, v, step);
        v = other > v ? other : v;
    }
    return v;
#else
    return __reduce_max_sync(0xffffffffu, v);
#endif
}

// The same of 64 bits.
TMAP_DEVICE tmap_u64 tmapi_cluster_max64(tmap_u64 v) {
    const tmap_u32 high = tmapi_cluster_max((tmap_u32)(v >> 32));
    const tmap_u32 low = tmapi_cluster_max((tmap_u32)(v >> 32) == high ? (tmap_u32)v : 0);
    return (tmap_u64)high << 32 | low;
}

// A place in a list, for each lane that wants one: the leader adds to *count for all of them, in no
// order. Returns the lane's place. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_cluster_append(tmap_u32 *count, int wanted) {
    const tmap_u32 lanes = __ballot_sync(0xffffffffu, wanted), lane = threadIdx.x % 32;
    tmap_u32 first = 0;
    if (!lanes) return 0; // the same in all lanes
    if (lane == 0) first = atomicAdd(count, (tmap_u32)__popc(lanes));
    return __shfl_sync(0xffffffffu, first, 0) + __popc(lanes & ((1u << lane) - 1));
}

// ---- ranks --------------------------------------------------------------------------------------

#define TMAPI_CLUSTER_CHUNK 512u // keys in shared memory

TMAP_DEVICE int tmapi_cluster_below(tmapi_cluster_key a, tmapi_cluster_key b) {
    const tmap_u64 u = (tmap_u64)a.middle << 32 | a.low, v = (tmap_u64)b.middle << 32 | b.low;
    return a.high < b.high || (a.high == b.high && u < v);
}

// Adds to ranks[k] how many of `count` keys are below key k, for all k. Each block compares some
// keys with some others, which it holds in shared memory: count^2 comparisons in all, six
// instructions each. chunk: TMAPI_CLUSTER_CHUNK keys in shared memory. Collective for the launch.
TMAP_DEVICE void tmapi_cluster_rank(const tmapi_cluster_key *keys, tmap_u32 count, tmap_u32 *ranks,
                                    tmapi_cluster_key *chunk) {
    const tmap_u32 parts = (count + TMAPI_CLUSTER_CHUNK - 1) / TMAPI_CLUSTER_CHUNK;
    const tmap_u64 units = (tmap_u64)((count + blockDim.x - 1) / blockDim.x) * parts;
#pragma unroll 1
    for (tmap_u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const tmap_u32 group = (tmap_u32)(unit / parts), part = (tmap_u32)(unit % parts);
        const tmap_u32 k = group * blockDim.x + threadIdx.x, first = part * TMAPI_CLUSTER_CHUNK;
        const tmap_u32 left = count - first;
        const tmap_u32 size = left < TMAPI_CLUSTER_CHUNK ? left : TMAPI_CLUSTER_CHUNK;
        __syncthreads(); // all are through with the chunk before
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
#include <cuda_runtime.h>

// Launches a kernel whose blocks wait for each other, all of which the device holds at once. warps:
// how many would have something to do.
static inline cudaError_t tmapi_cluster_launch(const void *kernel, tmap_u64 warps, void **arguments,
                                               cudaStream_t stream) {
    int device, processors, concurrent, resident;
    unsigned threads = 128;
    tmap_u64 blocks;
    cudaError_t error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (!error) error = cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentKernels, device);
    if (error) return error;
    // A device that does one thing at a time runs a single block, a small one.
    while (concurrent && threads < TMAPI_CLUSTER_THREADS &&
           warps > (tmap_u64)processors * (threads / 32))
        threads *= 2;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)threads, 0);
    if (error) return error;
    if (resident < 1) return cudaErrorLaunchOutOfResources;
    blocks = (warps + threads / 32 - 1) / (threads / 32);
    if (blocks > (tmap_u64)processors) blocks = (tmap_u64)processors;
    if (!concurrent || !blocks) blocks = 1;
    return cudaLaunchCooperativeKernel(kernel, dim3((unsigned)blocks), dim3(threads), arguments, 0,
                                       stream);
}

#endif

#endif
