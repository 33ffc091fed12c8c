// SPDX-License-Identifier: MIT
// label_base.h: what label.h and label3.h share: bits of bytes, labels of two widths, and the scan
// of counts, which gives labels their order.
#ifndef TMAP_RASTER_LABEL_BASE_H
#define TMAP_RASTER_LABEL_BASE_H

#include "../fold.h"
#include "map.h"

#define TMAPI_LABEL_CHUNK        4096u // counts that a block scans
#define TMAPI_LABEL_SCAN_THREADS 512u

// Counts of components, and their scan.
typedef struct tmapi_label_scan {
    tmap_u64 counts;
    tmap_u32 *count;   // components; then the sum of the previous counts in the chunk
    tmap_u64 *chunk;   // components before a chunk
    tmap_u64 *counter; // of blocks that have finished: 0 before the launch
    tmap_u64 *total;   // all components
} tmapi_label_scan;

// Sets the addresses of a scan's parts of a workspace at w, whose end is *end; *s.total too.
TMAP_FN void tmapi_label_scan_divide(tmapi_label_scan *s, tmap_u64 w, tmap_u64 *end) {
    const tmap_u64 chunks = (s->counts + TMAPI_LABEL_CHUNK - 1) / TMAPI_LABEL_CHUNK;
    s->counter = (tmap_u64 *)(w + tmapi_raster_part(end, 16)), s->total = s->counter + 1;
    s->chunk = (tmap_u64 *)(w + tmapi_raster_part(end, chunks * 8));
    s->count = (tmap_u32 *)(w + tmapi_raster_part(end, s->counts * 4));
}

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
TMAP_DEVICE tmap_u64 tmapi_label_scan_block(tmap_u64 value, tmap_u64 *sums, tmap_u64 *total) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u64 sum = tmapi_warp_scan64(lane, value);
    tmap_u64 before = 0, all = 0;
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

// A block a chunk. The last one to finish scans the sums of the chunks. All jobs begin with their
// scan, so that a job is the argument of this kernel too.
static __global__ void __launch_bounds__(TMAPI_LABEL_SCAN_THREADS)
    tmapi_label_sum_kernel(tmapi_label_scan s) {
    __shared__ tmap_u64 sums[TMAPI_LABEL_SCAN_THREADS / 32];
    const tmap_u32 each = TMAPI_LABEL_CHUNK / TMAPI_LABEL_SCAN_THREADS;
    const tmap_u64 from = (tmap_u64)blockIdx.x * TMAPI_LABEL_CHUNK + threadIdx.x * each;
    tmap_u32 own[TMAPI_LABEL_CHUNK / TMAPI_LABEL_SCAN_THREADS], sum = 0;
    tmap_u64 total, before;
#pragma unroll
    for (tmap_u32 k = 0; k < each; ++k)
        own[k] = from + k < s.counts ? s.count[from + k] : 0, sum += own[k];
    before = tmapi_label_scan_block(sum, sums, &total);
#pragma unroll
    for (tmap_u32 k = 0; k < each; ++k) {
        if (from + k < s.counts) s.count[from + k] = (tmap_u32)before;
        before += own[k];
    }
    if (threadIdx.x == 0) s.chunk[blockIdx.x] = total;
    if (!tmapi_fold_last(s.counter, gridDim.x)) return;
    before = 0;
    for (tmap_u64 first = 0; first < gridDim.x; first += TMAPI_LABEL_SCAN_THREADS) {
        const tmap_u64 at = first + threadIdx.x;
        const tmap_u64 value = at < gridDim.x ? __ldcg(s.chunk + at) : 0;
        const tmap_u64 ahead = tmapi_label_scan_block(value, sums, &total);
        if (at < gridDim.x) s.chunk[at] = before + ahead;
        before += total;
    }
    if (threadIdx.x == 0) *s.total = before;
}

// The launch of this kernel.
static inline tmapi_raster_step tmapi_label_sum_step(const tmapi_label_scan *s) {
    const tmapi_raster_step step = {
        (const void *)tmapi_label_sum_kernel,
        {(s->counts + TMAPI_LABEL_CHUNK - 1) / TMAPI_LABEL_CHUNK, TMAPI_LABEL_SCAN_THREADS, 0}};
    return step;
}

// ---- calls --------------------------------------------------------------------------------------

// 1 if the memory of a call cannot be valid: null, misaligned or overlapping. For an array without
// labels only `count` matters. in: the cells, at a multiple of `size`. count: may have no bytes.
static inline int tmapi_label_wrong(const tmap_label_array *array, tmapi_raster_memory in,
                                    tmap_u32 size, tmapi_raster_memory work, const void *labels,
                                    tmapi_raster_memory count) {
    const tmap_u32 each = array->form == TMAP_LABEL_INT64 ? 8 : 4;
    const tmap_u64 cells = tmap_mul_saturate(array->width * array->height, array->depth);
    const tmapi_raster_memory all[4] = {work, {labels, tmap_mul_saturate(cells, each)}, count, in};
    if (count.bytes && !tmapi_raster_aligned(count.at, 8)) return 1;
    return cells && (!tmapi_raster_aligned(in.at, size) || !tmapi_raster_aligned(work.at, 16) ||
                     !tmapi_raster_aligned(labels, each) || tmapi_raster_overlap(all, 3, 4));
}

// The call for an array without labels: no component.
static inline cudaError_t tmapi_label_empty(tmapi_raster_memory count, cudaStream_t stream) {
    return count.bytes ? cudaMemsetAsync((void *)count.at, 0, count.bytes, stream) : cudaSuccess;
}

// Number of components that are counted before count `at`.
TMAP_DEVICE tmap_u64 tmapi_label_before(const tmapi_label_scan *s, tmap_u64 at) {
    return s->chunk[at / TMAPI_LABEL_CHUNK] + s->count[at];
}

#endif

#endif
