// SPDX-License-Identifier: MIT
// label_input.h: cells of a map as bits: a warp reads a row of 1024 cells, and each lane gets a
// word of it.
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
    const tmap_u32 both = tmapi_label_pack16(from->half[0]) | tmapi_label_pack16(from->half[1])
                                                                  << 16;
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
TMAP_DEVICE int tmapi_label_value(const tmapi_label_job *job, tmap_u64 at, const int type,
                                  int *ok) {
    int v;
    *ok = 1;
    switch (type) {
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

// A row of cells, 32 at a time: a lane's value and whether it belongs to a component; the values of
// the lanes to the left, lane 0's from the 32 cells before.
typedef struct tmapi_label_line {
    int value, left, last;
    int in;
} tmapi_label_line;

// rows + 1 rows of the map, the first of which is the row above, from row y - 1 on: bits of `rows`
// rows, and which cells have the value of the cell above; across corners too where eight. above: 0:
// there is no row above that counts. Loads of TMAPI_LABEL_AHEAD * 32 cells of all rows are under
// way at a time.
#define TMAPI_LABEL_AHEAD 4
TMAP_DEVICE void tmapi_label_values_of(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y,
                                       int above, tmapi_label_row *row, tmap_u32 (*same)[3],
                                       const int rows, const int type) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmapi_label_line line[3];
    tmap_u32 skew[2] = {0, 0};
    int there[3];
    const tmap_u64 base = y * job->pitch + x;
    if (y == 0) above = 0;
    there[0] = above && y <= job->height;
#pragma unroll
    for (int r = 0; r <= rows; ++r) {
        if (r) there[r] = y + (tmap_u64)r <= job->height;
        if (r) row[r - 1].in = row[r - 1].starts = 0;
        if (r) same[r - 1][0] = same[r - 1][1] = same[r - 1][2] = 0;
        line[r].value = line[r].left = line[r].last = line[r].in = 0;
    }
#pragma unroll 1
    for (tmap_u32 k0 = 0; k0 < 32 && x + k0 * 32 < job->width; k0 += TMAPI_LABEL_AHEAD) {
        int value[TMAPI_LABEL_AHEAD][3], in[TMAPI_LABEL_AHEAD][3];
#pragma unroll
        for (tmap_u32 a = 0; a < TMAPI_LABEL_AHEAD; ++a) {
            const tmap_u32 at = (k0 + a) * 32 + lane;
            const int inside = x + at < job->width;
#pragma unroll
            for (int r = 0; r <= rows; ++r) {
                value[a][r] = in[a][r] = 0;
                if (inside && there[r])
                    value[a][r] = tmapi_label_value(
                        job, base + (tmap_u64)r * job->pitch - job->pitch + at, type, &in[a][r]);
            }
        }
#pragma unroll
        for (tmap_u32 a = 0; a < TMAPI_LABEL_AHEAD; ++a) {
            const tmap_u32 k = k0 + a;
#pragma unroll
            for (int r = 0; r <= rows; ++r) {
                const int turned = __shfl_sync(0xffffffffu, value[a][r], (int)(lane + 31) % 32);
                line[r].left = lane ? turned : line[r].last;
                line[r].last = turned;
                line[r].value = value[a][r], line[r].in = in[a][r];
            }
#pragma unroll
            for (int r = 1; r <= rows; ++r) {
                const tmapi_label_line *me = line + r, *up = me - 1;
                const int begins = me->in && (me->value != me->left || (k == 0 && lane == 0));
                tmap_u32 bits = __ballot_sync(0xffffffffu, me->in);
                if (k == lane) row[r - 1].in = bits;
                bits = __ballot_sync(0xffffffffu, begins);
                if (k == lane) row[r - 1].starts = bits;
                bits = __ballot_sync(0xffffffffu, me->in && up->in && me->value == up->value);
                if (k == lane) same[r - 1][0] = bits;
                if (!job->eight) continue;
                bits = __ballot_sync(0xffffffffu, me->in && me->value == up->left);
                if (k == lane) same[r - 1][1] = bits;
                bits = __ballot_sync(0xffffffffu, up->in && up->value == me->left);
                if (k == lane) skew[r - 1] = bits;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const tmap_u32 ends = tmapi_label_from_right(skew[r]);
        if (!there[r]) same[r][1] = 0;
        if (lane == 0) same[r][1] &= ~1u; // the block to the left has that corner
        same[r][2] = ends & row[r].in;
    }
}
TMAP_DEVICE void tmapi_label_values(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y, int above,
                                    tmapi_label_row *row, tmap_u32 (*same)[3], const int rows) {
    switch (job->type) {
    case TMAP_LABEL_U8:
        tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_U8);
        break;
    case TMAP_LABEL_I16:
        tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_I16);
        break;
    case TMAP_LABEL_I32:
        tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_I32);
        break;
    default: tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_F32);
    }
}

#endif
#endif
