// SPDX-License-Identifier: MIT
// label_input.h: cells of a map as bits: a warp reads a row of 1024 cells, and each lane gets a word
// of it.
#ifndef TMAP_ADAPTIVE_LABEL_INPUT_H
#define TMAP_ADAPTIVE_LABEL_INPUT_H

#include "label_job.h"

#define TMAP_LABEL_MASK 0 // bytes: cells that are not 0 belong to components
#define TMAP_LABEL_U8   1 // values: neighbours of equal values belong together
#define TMAP_LABEL_I16  2
#define TMAP_LABEL_I32  3
#define TMAP_LABEL_F32  4 // a NaN belongs to no component

#if TMAP_CUDA

// ---- masks --------------------------------------------------------------------------------------

// 16 bits: which of 16 bytes are not 0.
TMAP_DEVICE tmap_u32 tmapi_label_pack4(tmap_u32 x, tmap_u32 bits) {
    const tmap_u32 top = (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
    return __funnelshift_l(top * 0x00204081u, bits, 4); // four bits come together at the top
}
TMAP_DEVICE tmap_u32 tmapi_label_pack16(uint4 x) {
    tmap_u32 bits = tmapi_label_pack4(x.w, 0);
    bits = tmapi_label_pack4(x.z, bits);
    bits = tmapi_label_pack4(x.y, bits);
    return tmapi_label_pack4(x.x, bits);
}

// Half rows of 512 bytes as they come from memory.
typedef struct tmapi_label_bytes {
    uint4 half[2];
} tmapi_label_bytes;

// 1 if a row can be read by 16 bytes.
TMAP_DEVICE int tmapi_label_whole(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y) {
    const unsigned char *row = (const unsigned char *)job->cells + y * job->pitch + x;
    return y < job->height && x + TMAPI_LABEL_CELLS <= job->width && (tmap_u64)row % 16 == 0;
}
TMAP_DEVICE void tmapi_label_read(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y,
                                  tmapi_label_bytes *to) {
    const uint4 *row = (const uint4 *)((const unsigned char *)job->cells + y * job->pitch + x);
    to->half[0] = __ldcs(row + threadIdx.x % 32), to->half[1] = __ldcs(row + threadIdx.x % 32 + 32);
}
TMAP_DEVICE tmap_u32 tmapi_label_word(const tmapi_label_bytes *from) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 both =
        tmapi_label_pack16(from->half[0]) | tmapi_label_pack16(from->half[1]) << 16;
    const tmap_u32 low = __shfl_sync(0xffffffffu, both, 2 * lane % 32);
    const tmap_u32 high = __shfl_sync(0xffffffffu, both, 2 * lane % 32 + 1);
    return __byte_perm(low, high, lane < 16 ? 0x5410 : 0x7632);
}

// The same of any row, byte by byte; 0 beyond the map.
TMAP_DEVICE tmap_u32 tmapi_label_word_slow(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y) {
    const tmap_u32 lane = threadIdx.x % 32;
    const unsigned char *row = (const unsigned char *)job->cells + y * job->pitch + x;
    tmap_u32 word = 0;
    if (y >= job->height) return 0;
#pragma unroll 8
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u32 at = k * 32 + lane;
        const tmap_u32 bits = __ballot_sync(0xffffffffu, x + at < job->width && row[at] != 0);
        if (k == lane) word = bits;
    }
    return word;
}

// ---- values -------------------------------------------------------------------------------------

// A value as bits, equal for equal values. ok: 0 if it belongs to no component.
TMAP_DEVICE int tmapi_label_value(const tmapi_label_job *job, tmap_u64 at, int *ok) {
    int v;
    *ok = 1;
    switch (job->type) {
    case TMAP_LABEL_U8: v = ((const unsigned char *)job->cells)[at]; break;
    case TMAP_LABEL_I16: v = ((const short *)job->cells)[at]; break;
    case TMAP_LABEL_I32: v = ((const int *)job->cells)[at]; break;
    default: {
        const float f = ((const float *)job->cells)[at];
        v = f == 0 ? 0 : __float_as_int(f);
        *ok = f == f;
    }
    }
    if (job->has_background && v == job->background) *ok = 0;
    return v;
}

// The row's bits, and which cells have the value of the cell above; across corners too where eight.
// above: 0: there is no row above that counts.
TMAP_DEVICE void tmapi_label_values(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y, int above,
                                    tmapi_label_row *row, tmap_u32 *same) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u64 line = y * job->pitch;
    row->in = row->starts = same[0] = same[1] = same[2] = 0;
    if (y >= job->height) return;
    if (y == 0) above = 0;
#pragma unroll 1
    for (tmap_u32 k = 0; k < 32 && x + k * 32 < job->width; ++k) {
        const tmap_u64 at = x + k * 32 + lane;
        int in = 0, starts = 0, up[3] = {0, 0, 0}, ok;
        tmap_u32 bits;
        if (at < job->width) {
            const int v = tmapi_label_value(job, line + at, &in);
            if (in) {
                starts = at == x || tmapi_label_value(job, line + at - 1, &ok) != v;
                if (above) {
                    const tmap_u64 over = line - job->pitch + at;
                    up[0] = tmapi_label_value(job, over, &ok) == v;
                    if (job->eight) {
                        up[1] = at > x && tmapi_label_value(job, over - 1, &ok) == v;
                        up[2] = at + 1 < job->width && at + 1 < x + TMAPI_LABEL_CELLS &&
                                tmapi_label_value(job, over + 1, &ok) == v;
                    }
                }
            }
        }
        bits = __ballot_sync(0xffffffffu, in);
        if (k == lane) row->in = bits;
        bits = __ballot_sync(0xffffffffu, starts);
        if (k == lane) row->starts = bits;
        if (!above) continue;
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            bits = __ballot_sync(0xffffffffu, up[i]);
            if (k == lane) same[i] = bits;
        }
    }
}

#endif
#endif
