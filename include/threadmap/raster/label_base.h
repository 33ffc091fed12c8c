// SPDX-License-Identifier: MIT
// label_base.h: what label.h, label3.h and label_measure.h share: arrays of labels, bits of bytes
// and the scan of counts. It has no kernels.
#ifndef TMAP_RASTER_LABEL_BASE_H
#define TMAP_RASTER_LABEL_BASE_H

#include "../fold.h"
#include "map.h"

// Forms of labels.
#define TMAP_LABEL_INT32 0 // for maps that cannot have more than 2^31 - 1 components
#define TMAP_LABEL_INT64 1

#define TMAPI_LABEL_CHUNK        4096u // counts that a block scans
#define TMAPI_LABEL_SCAN_THREADS 512u

// An array of labels: of a picture (depth 1), of a volume, or of a batch of images. The label of
// column x, row y and slice z is number (z * height + y) * width + x.
typedef struct tmap_label_array {
    tmap_u64 width, height, depth; // 1 to 2^31 - 1
    int form;                      // TMAP_LABEL_INT32 or TMAP_LABEL_INT64
    int images;                    // 1: each slice has labels of its own
} tmap_label_array;

// 1 for a valid array.
TMAP_FN int tmapi_label_is_array(const tmap_label_array *of) {
    return of->width && of->height && of->depth && of->width <= 0x7fffffff &&
           of->height <= 0x7fffffff && of->depth <= 0x7fffffff &&
           (unsigned)of->form <= TMAP_LABEL_INT64;
}

// Doubles the extents 2^log[k] of a box of cells `steps` times: the shortest one first, and only
// where the array has more cells. Images are taken whole before a box takes more than one.
TMAP_FN void tmapi_label_box(const tmap_label_array *of, tmap_u32 steps, tmap_u32 *log) {
    for (; steps; --steps) {
        const tmap_u64 x = 1ull << log[0], y = 1ull << log[1], z = 1ull << log[2];
        const int more_x = x < of->width, more_y = y < of->height, more_z = z < of->depth;
        if (more_z && (of->images ? !more_x && !more_y : (!more_x || z < x) && (!more_y || z < y)))
            ++log[2];
        else if (more_y && (!more_x || y < x))
            ++log[1];
        else if (more_x)
            ++log[0];
    }
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

#endif

#endif
