// SPDX-License-Identifier: MIT
// label_base.h: what label.h and label3.h share: forms of labels, bits of bytes, roots of trees,
// the scan of counts, and tables of measures. It has no kernels.
#ifndef TMAP_RASTER_LABEL_BASE_H
#define TMAP_RASTER_LABEL_BASE_H

#include "../fold.h"
#include "map.h"

// Forms of labels.
#define TMAP_LABEL_INT32 0 // for maps that cannot have more than 2^31 - 1 components
#define TMAP_LABEL_INT64 1

#define TMAPI_LABEL_CHUNK         4096u // counts that a block scans
#define TMAPI_LABEL_SCAN_THREADS  512u
#define TMAPI_LABEL_MEASURE_TABLE 1024u
#define TMAPI_LABEL_MEASURE_TRIES 4u

#if TMAP_CUDA && !TMAP_NVRTC

// Appends a bit for each of 4 bytes to `bits`, 1 if it is not zero. Below: the bits of 16 bytes.
TMAP_DEVICE tmap_u32 tmapi_label_pack4(tmap_u32 x, tmap_u32 bits) {
    const tmap_u32 top = (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
    return __funnelshift_l(top * 0x00204081u, bits, 4); // gathers four bits at the top
}
TMAP_DEVICE tmap_u32 tmapi_label_pack16(uint4 x) {
    tmap_u32 bits = tmapi_label_pack4(x.w, 0);
    bits = tmapi_label_pack4(x.z, bits);
    bits = tmapi_label_pack4(x.y, bits);
    return tmapi_label_pack4(x.x, bits);
}

// The root of a node. Shortens the path to it.
TMAP_DEVICE tmap_u32 tmapi_label_node_root(tmap_u32 *parent, tmap_u32 node) {
    volatile tmap_u32 *p = parent;
    for (;;) {
        const tmap_u32 up = p[node];
        tmap_u32 next;
        if (up == node) return node;
        next = p[up];
        if (next == up) return up;
        p[node] = next, node = next;
    }
}

// Read and write arrays of labels. wide: of 64 bits.
TMAP_DEVICE tmap_u64 tmapi_label_get(const void *from, tmap_u32 i, const int wide) {
    return wide ? ((const tmap_u64 *)from)[i] : ((const tmap_u32 *)from)[i];
}
TMAP_DEVICE void tmapi_label_put(void *to, tmap_u32 i, tmap_u64 label, const int wide) {
    if (wide)
        ((tmap_u64 *)to)[i] = label;
    else
        ((tmap_u32 *)to)[i] = (tmap_u32)label;
}

// Writes four labels at a multiple of 16 bytes.
TMAP_DEVICE void tmapi_label_put4(void *to, const tmap_u64 *v, const int wide) {
    if (wide) {
        TMAPI_STCS((ulonglong2 *)to, make_ulonglong2(v[0], v[1]));
        TMAPI_STCS((ulonglong2 *)to + 1, make_ulonglong2(v[2], v[3]));
    } else
        TMAPI_STCS((uint4 *)to,
                   make_uint4((tmap_u32)v[0], (tmap_u32)v[1], (tmap_u32)v[2], (tmap_u32)v[3]));
}

// ---- the scan of counts -------------------------------------------------------------------------

// An exclusive scan over the block's threads. total: the sum of all.
TMAP_DEVICE tmap_u64 tmapi_label_scan(tmap_u64 value, tmap_u64 *sums, tmap_u64 *total) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u64 sum = value, before = 0, all = 0;
#pragma unroll
    for (tmap_u32 d = 1; d < 32; d *= 2) {
        const tmap_u64 other = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += other;
    }
    __syncthreads();
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
#pragma unroll 2
    for (tmap_u32 k = 0; k < TMAPI_LABEL_SCAN_THREADS / 32; ++k) {
        if (k < warp) before += sums[k];
        all += sums[k];
    }
    *total = all;
    return before + sum - value;
}

// Converts *counts counts at *count to sums of the previous ones in a chunk. The last block does so
// for the chunks, and writes the sum of all to **found. **counter: 0 before the launch. Arguments
// are addresses of the kernel's parameters, which are loaded where they are needed.
TMAP_DEVICE void tmapi_label_sum(tmap_u32 *const *count, const tmap_u64 *counts,
                                 tmap_u64 *const *chunk, tmap_u64 *const *counter,
                                 tmap_u64 *const *found) {
    __shared__ tmap_u64 sums[TMAPI_LABEL_SCAN_THREADS / 32];
    const tmap_u32 each = TMAPI_LABEL_CHUNK / TMAPI_LABEL_SCAN_THREADS;
    const tmap_u64 from = (tmap_u64)blockIdx.x * TMAPI_LABEL_CHUNK + threadIdx.x * each;
    tmap_u32 own[TMAPI_LABEL_CHUNK / TMAPI_LABEL_SCAN_THREADS], sum = 0;
    tmap_u64 total, before;
#pragma unroll
    for (tmap_u32 k = 0; k < each; ++k)
        own[k] = from + k < *counts ? (*count)[from + k] : 0, sum += own[k];
    before = tmapi_label_scan(sum, sums, &total);
#pragma unroll
    for (tmap_u32 k = 0; k < each; ++k) {
        if (from + k < *counts) (*count)[from + k] = (tmap_u32)before;
        before += own[k];
    }
    if (threadIdx.x == 0) (*chunk)[blockIdx.x] = total;
    if (!tmapi_fold_last(*counter, gridDim.x)) return;
    before = 0;
    for (tmap_u64 first = 0; first < gridDim.x; first += TMAPI_LABEL_SCAN_THREADS) {
        const tmap_u64 at = first + threadIdx.x;
        const tmap_u64 value = at < gridDim.x ? __ldcg(*chunk + at) : 0;
        const tmap_u64 ahead = tmapi_label_scan(value, sums, &total);
        if (at < gridDim.x) (*chunk)[at] = before + ahead;
        before += total;
    }
    if (threadIdx.x == 0) **found = before;
}

// ---- tables of measures -------------------------------------------------------------------------

// The components in a tile. label: 0 for a free entry. first: row and column in the tile.
typedef struct tmapi_label_table {
    tmap_u64 label[TMAPI_LABEL_MEASURE_TABLE];
    tmap_u32 area[TMAPI_LABEL_MEASURE_TABLE], first[TMAPI_LABEL_MEASURE_TABLE];
    tmap_u32 left[TMAPI_LABEL_MEASURE_TABLE], right[TMAPI_LABEL_MEASURE_TABLE];
    tmap_u32 last[TMAPI_LABEL_MEASURE_TABLE];
} tmapi_label_table;

// Decrease or increase a number by atomics, unless a plain load shows that this is unnecessary.
TMAP_DEVICE void tmapi_label_least(tmap_u32 *to, tmap_u32 value) {
    if (*(volatile tmap_u32 *)to > value) atomicMin(to, value);
}
TMAP_DEVICE void tmapi_label_largest(tmap_u32 *to, tmap_u32 value) {
    if (*(volatile tmap_u32 *)to < value) atomicMax(to, value);
}

// Entry of a label in a table; TMAPI_LABEL_MEASURE_TABLE if there is no free one.
TMAP_DEVICE tmap_u32 tmapi_label_table_find(tmapi_label_table *table, tmap_u64 label) {
    tmap_u32 at = ((tmap_u32)label ^ (tmap_u32)(label >> 32)) * 0x9e3779b1u >> 16;
    for (tmap_u32 k = 0; k < TMAPI_LABEL_MEASURE_TRIES; ++k, ++at) {
        tmap_u64 *place = table->label + at % TMAPI_LABEL_MEASURE_TABLE;
        tmap_u64 there = *(volatile tmap_u64 *)place;
        if (there == 0) there = atomicCAS(place, 0ull, label);
        if (there == 0 || there == label) return at % TMAPI_LABEL_MEASURE_TABLE;
    }
    return TMAPI_LABEL_MEASURE_TABLE;
}

#endif

#endif
