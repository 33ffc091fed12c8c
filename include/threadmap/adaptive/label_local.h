// SPDX-License-Identifier: MIT
// label_local.h: the first kernel of label.h: components of each block by themselves.
#ifndef TMAP_ADAPTIVE_LABEL_LOCAL_H
#define TMAP_ADAPTIVE_LABEL_LOCAL_H

#include "label_input.h"

#if TMAP_CUDA

#define TMAPI_LABEL_EACH_MASK   (TMAPI_LABEL_ROWS_MASK / TMAPI_LABEL_WARPS) // rows of a warp
#define TMAPI_LABEL_EACH_VALUES (TMAPI_LABEL_ROWS_VALUES / TMAPI_LABEL_WARPS)

// Marks the component of a slot.
TMAP_DEVICE void tmapi_label_mark(const unsigned short *parents, tmap_u32 *marks, tmap_u32 slot) {
    const tmap_u32 root = parents[slot], bit = 1u << root % 32;
    if (!(*(volatile tmap_u32 *)(marks + root / 32) & bit)) atomicOr(marks + root / 32, bit);
}

// The sum over a warp.
TMAP_DEVICE tmap_u32 tmapi_label_add(tmap_u32 value) {
#pragma unroll
    for (int d = 16; d; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
    return value;
}

// Slots of a warp's rows take their parents' parents, round after round, until all of the block
// have their roots, or `rounds` have passed: a path is half as long after each. While it runs,
// nothing is united. Four rows' pairs of slots are under way at a time, which hides that each load
// waits for another. total: slots of the rows, which are `pitch` apart, from `first` on. Collective
// for the block, with a barrier at the end.
TMAP_DEVICE void tmapi_label_flatten(unsigned short *parents, tmap_u32 first, const tmap_u32 pitch,
                                     const tmap_u32 *total, const tmap_u32 each, tmap_u32 rounds) {
    volatile tmap_u32 *pairs = (volatile tmap_u32 *)(parents + first);
    volatile const unsigned short *p = parents;
    tmap_u32 most = 0, open = 0xffffffffu; // a bit for 32 pairs of each row: some had no root yet
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) most = total[r] > most ? total[r] : most;
    do {
        tmap_u32 left = 0, bit = 1;
#pragma unroll 1
        for (tmap_u32 i = threadIdx.x % 32; 2 * i < most; i += 32, bit <<= 1) {
            tmap_u32 old[4], up[4], changed = 0;
            if (!(open & bit)) continue;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r) // the block's first slot is a root
                old[r] = 2 * i < total[r] ? pairs[r * (pitch / 2) + i] : 0;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r)
                up[r] = (tmap_u32)p[old[r] & 0xffff] | (tmap_u32)p[old[r] >> 16] << 16;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r)
                if (up[r] != old[r]) pairs[r * (pitch / 2) + i] = up[r], changed = bit;
            left |= changed;
        }
        open = left;
    } while (__syncthreads_or(open != 0) && --rounds);
}

// A block whose rows each warp has in registers: `each` rows, and what touches above them.
TMAP_DEVICE void tmapi_label_block(const tmapi_label_job *job, unsigned short *parents,
                                   tmapi_label_local *s, tmapi_label_row *row, tmap_u32 (*same)[3],
                                   const tmap_u32 each, const tmap_u32 pitch, const tmap_u32 shift,
                                   const int values) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, under = (1u << lane) - 1;
    const tmap_u32 block = blockIdx.x, column = block % job->bx, r0 = warp * each;
    const tmap_u64 band = block / job->bx, y0 = band * job->rows + r0;
    const tmap_u32 rows = job->rows;
    tmap_u32 total[4], roots[4], more[4], waiting, *codes;
    tmapi_label_touch touch[4];
    const tmap_u32 blank = tmapi_label_blank(job, column);
    const tmap_u32 left = column > 0, right = column + 1 < job->bx;
#pragma unroll
    for (tmap_u32 r = 0; r < each; r += 2) {
        const tmap_u32 both =
            tmapi_label_slots(row + r, row + r + 1, (r0 + r) * pitch, (r0 + r + 1) * pitch);
        total[r] = (both & 0xffff) - blank, total[r + 1] = (both >> 16) - blank;
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u64 at = (y0 + r) * job->words + column * TMAPI_LABEL_WORDS + lane;
        tmapi_label_alone(parents, (r0 + r) * pitch, total[r]);
        if (y0 + r < job->height) {
            job->in[at] = row[r].in;
            if (values) job->starts[at] = row[r].starts;
        }
    }
    s->last[warp][lane] = row[each - 1];
    for (tmap_u32 i = threadIdx.x; i < rows * pitch / 32; i += blockDim.x) s->marks[i] = 0;
    if (threadIdx.x == 0) s->nodes = 0;
    __syncthreads();
    tmapi_label_row up;
    up.in = up.starts = up.slot = 0;
    if (warp) up = s->last[warp - 1][lane];
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmapi_label_row *above = r ? row + r - 1 : &up;
        if (values)
            touch[r] =
                tmapi_label_touch_values(row + r, same[r][0], same[r][1], same[r][2], job->eight);
        else
            touch[r] = tmapi_label_touch_mask(above, row + r, job->eight);
        if (r == 0)
            tmapi_label_first(parents, above, row + r, touch + r, job->eight, 0);
        else
            tmapi_label_first(parents, above, row + r, touch + r, job->eight, 1);
        tmapi_label_join(parents, row + r);
        __syncwarp();
    }
    __syncthreads();
    if (TMAPI_LABEL_JUMPS > 0)
        tmapi_label_flatten(parents, r0 * pitch, pitch, total, each, TMAPI_LABEL_JUMPS);
    waiting = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r)
        waiting = tmapi_label_others(parents, s->queue + warp, waiting, r ? row + r - 1 : &up,
                                     row + r, touch + r, job->eight);
    tmapi_label_rest(parents, s->queue + warp, waiting);
    __syncthreads();
    tmapi_label_flatten(parents, r0 * pitch, pitch, total, each, 32);
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 inner = r0 + r, first = inner * pitch;
        const int cut = (inner == 0 && band > 0) || (inner == rows - 1 && band + 1 < job->by);
        if (cut)
            for (tmap_u32 i = lane; i < total[r]; i += 32)
                if (i) tmapi_label_mark(parents, s->marks, first + i);
        if (left && lane == 0 && (row[r].in & 1)) tmapi_label_mark(parents, s->marks, first + 1);
        if (right && lane == 31 && row[r].in >> 31)
            tmapi_label_mark(parents, s->marks, first + total[r] - 1);
    }
    __syncthreads();
    // roots get what their slots say; the other slots still point to them
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 first = (r0 + r) * pitch;
        tmap_u32 *pairs = (tmap_u32 *)(parents + first), rank = 0, inside = 0, bits = 0, end = 0;
        for (tmap_u32 i = lane, n = 0; 2 * n < total[r]; i += 32, n += 32) {
            const tmap_u32 slot = first + 2 * i, pair = 2 * i < total[r] ? pairs[i] : 0xffffffffu;
            const int a = (pair & 0xffff) == slot && i > 0 && 2 * i < total[r];
            const int b = pair >> 16 == slot + 1 && 2 * i + 1 < total[r];
            const tmap_u32 as = __ballot_sync(0xffffffffu, a), bs = __ballot_sync(0xffffffffu, b);
            const tmap_u32 before =
                rank + (tmap_u32)__popc((int)(as & under)) + (tmap_u32)__popc((int)(bs & under));
#pragma unroll
            for (tmap_u32 k = 0; k < 2; ++k) {
                const tmap_u32 mine = before + (k && a), at = slot + k;
                tmap_u32 code = (r0 + r) << shift | mine;
                if (!(k ? b : a)) continue;
                if (values && n == 512)
                    end |= 1u << k;
                else
                    bits |= 1u << (n / 16 + k);
                if (s->marks[at / 32] >> at % 32 & 1) {
                    const tmap_u32 node = atomicAdd(&s->nodes, 1u);
                    const tmap_u64 to = (tmap_u64)block * job->nodes + node;
                    job->parent[to] = (tmap_u32)to;
                    job->key[to] = tmapi_label_key(y0 + r, column, mine);
                    code = TMAPI_LABEL_NODE | node;
                } else
                    ++inside;
                parents[at] = (unsigned short)code;
            }
            rank += (tmap_u32)(__popc((int)as) + __popc((int)bs));
        }
        roots[r] = bits, more[r] = end;
        inside = tmapi_label_add(inside);
        if (lane == 0) job->count[(y0 + r) * job->bx + column] = inside;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        job->used[block] = s->nodes;
        if (block == 0) *job->ticket = 0;
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 first = (r0 + r) * pitch, *pairs = (const tmap_u32 *)(parents + first);
        tmap_u32 bits = roots[r];
        if (y0 + r >= job->height) continue;
        codes = tmapi_label_codes(job, y0 + r, column);
        for (tmap_u32 i = lane; 2 * i < total[r]; i += 32, bits >>= 2) {
            tmap_u32 pair = pairs[i], a = pair & 0xffff, b = pair >> 16;
            if (values && i >= 512) bits = more[r];
            if (i > 0 && !(bits & 1)) a = parents[a];
            if (!(bits & 2) && 2 * i + 1 < total[r]) b = parents[b];
            pair = a | b << 16;
            codes[i] = pair;
        }
        if (left | right) {
            unsigned short *edge = job->edge + ((tmap_u64)block * 2) * job->rows + r0 + r;
            __syncwarp();
            if (lane == 0)
                edge[0] = row[r].in & 1 ? ((const unsigned short *)codes)[1] : TMAPI_LABEL_NONE;
            if (lane == 31)
                edge[job->rows] = row[r].in >> 31 ? ((const unsigned short *)codes)[total[r] - 1]
                                                  : TMAPI_LABEL_NONE;
        }
    }
}

TMAP_DEVICE void tmapi_label_local_mask(const tmapi_label_job *job, unsigned short *parents,
                                        tmapi_label_local *s) {
    const tmap_u32 each = TMAPI_LABEL_EACH_MASK, r0 = threadIdx.x / 32 * each;
    const tmap_u64 x = (tmap_u64)(blockIdx.x % job->bx) * TMAPI_LABEL_CELLS;
    const tmap_u64 y = (tmap_u64)(blockIdx.x / job->bx) * job->rows + r0;
    tmapi_label_row row[4];
    tmapi_label_bytes bytes[4];
    int whole = 1;
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) whole = whole && tmapi_label_whole(job, x, y + r);
    if (whole) {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) tmapi_label_read(job, x, y + r, bytes + r);
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word(bytes + r);
    } else {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word_slow(job, x, y + r);
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r)
        row[r].starts = row[r].in & ~tmapi_label_from_left(row[r].in), row[r].slot = 0;
    tmapi_label_block(job, parents, s, row, 0, each, TMAPI_LABEL_SLOTS_MASK, 9, 0);
}

TMAP_DEVICE void tmapi_label_local_values(const tmapi_label_job *job, unsigned short *parents,
                                          tmapi_label_local *s) {
    const tmap_u32 each = TMAPI_LABEL_EACH_VALUES, r0 = threadIdx.x / 32 * each;
    const tmap_u64 x = (tmap_u64)(blockIdx.x % job->bx) * TMAPI_LABEL_CELLS;
    const tmap_u64 y = (tmap_u64)(blockIdx.x / job->bx) * job->rows + r0;
    tmapi_label_row row[4];
    tmap_u32 same[TMAPI_LABEL_EACH_VALUES][3];
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) row[r].slot = 0;
    tmapi_label_values(job, x, y, r0 > 0, row, same, (int)each);
    tmapi_label_block(job, parents, s, row, same, each, TMAPI_LABEL_SLOTS_VALUES, 10, 1);
}

#endif
#endif
