// SPDX-License-Identifier: MIT
// label.h: connected components of a map: each cell gets the number of its component.
//
// A component is a greatest set of cells that paths of neighbours join: in a mask, of cells that
// are not 0; in a map of values, of cells of one value. Neighbours share an edge, or a corner too.
// Components are numbered from 1 on in the order of their first cells, row by row from above and
// from left to right in a row, so that labels are the same in every run and on every machine; cells
// of no component get 0.
//
// Six launches:
//   local   a block of threads has 1024 columns and 64 rows (32 of values; half of either on
//           compute capability 7.5) as words of bits, and finds its components in shared memory
//           (label.h); those that reach an edge to another block become nodes of a graph
//   unite   nodes of blocks side by side become one, by union-find in global memory (label.h)
//   roots   each node gets its root; first cells are counted for each row of a block
//   sum     sums of those counts say which label a row of a block begins with
//   name    nodes get labels
//   write   cells do (label.h)
//
// In between, what a block found stands where its labels will be: two bytes for each run of cells.
// The order of unions is any, but a parent's first cell always lies before its child's, so that
// roots do not depend on it.
//
// label_measure.h has areas and bounding boxes.
#ifndef TMAP_RASTER_LABEL_H
#define TMAP_RASTER_LABEL_H

#include "../launch.h"
#include "label_map.h"

// ---- label local --------------------------------------------------------------------------------
//
// The first kernel of label.h: components of each block by themselves.

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

// ---- label graph --------------------------------------------------------------------------------
//
// Components of the whole map from those of blocks: unions over the edges of blocks,
// and the numbers of components.
//
// A node's parent is a node whose first cell lies before its own, so that the root of a component
// is the node that has its first cell.

#if TMAP_CUDA

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

// The trees of two nodes become one.
TMAPI_DEVICE_CALL void tmapi_label_node_unite(tmap_u32 *parent, const tmap_u64 *key, tmap_u32 a,
                                              tmap_u32 b) {
    for (;;) {
        tmap_u32 high;
        a = tmapi_label_node_root(parent, a), b = tmapi_label_node_root(parent, b);
        if (a == b) return;
        if (key[a] < key[b]) high = b, b = a, a = high;
        if (atomicCAS(parent + a, a, b) == a) return;
    }
}

// Two cells of neighbouring blocks, of rows y and columns of blocks, by what their slots say.
TMAP_DEVICE void tmapi_label_codes_unite(const tmapi_label_job *job, tmap_u32 block_a,
                                         tmap_u32 code_a, tmap_u32 block_b, tmap_u32 code_b) {
    tmapi_label_node_unite(job->parent, job->key,
                           block_a * job->nodes + (code_a & ~TMAPI_LABEL_NODE),
                           block_b * job->nodes + (code_b & ~TMAPI_LABEL_NODE));
}

// Touches of one kind between a block's first row and the last row of the block above it.
TMAP_DEVICE void tmapi_label_edge(const tmapi_label_job *job, tmap_u64 y, const tmapi_label_row *up,
                                  const tmapi_label_row *low, tmap_u32 rest, int left, int right) {
    const tmap_u32 block = blockIdx.x, column = block % job->bx;
    const unsigned short *under = (const unsigned short *)tmapi_label_codes(job, y, column);
    const unsigned short *over = (const unsigned short *)tmapi_label_codes(job, y - 1, column);
    tmap_u32 last_a = TMAPI_LABEL_NONE, last_b = TMAPI_LABEL_NONE;
    while (rest) {
        const tmap_u32 bit = rest & (0u - rest);
        const tmap_u32 a = under[tmapi_label_slot(low, bit)];
        const tmap_u32 b = over[tmapi_label_above(up, bit, left, right)];
        if (a != last_a || b != last_b) tmapi_label_codes_unite(job, block, a, block - job->bx, b);
        last_a = a, last_b = b;
        rest &= rest - 1;
    }
}

// 1 if the cells at column x of row y and at column x + 1 of row z, which are in blocks side by
// side, belong together; both are in components.
TMAP_DEVICE int tmapi_label_across(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    int ok;
    if (job->type == TMAP_LABEL_MASK) return 1;
    return tmapi_label_value(job, y * job->pitch + x, job->type, &ok) ==
           tmapi_label_value(job, z * job->pitch + x + 1, job->type, &ok);
}

// The cell at the right edge of a row and the one at the left edge of a row in the next block.
TMAP_DEVICE void tmapi_label_side(const tmapi_label_job *job, tmap_u32 block_a, tmap_u64 y,
                                  tmap_u32 block_b, tmap_u64 z) {
    const tmap_u64 x = (tmap_u64)(block_a % job->bx + 1) * TMAPI_LABEL_CELLS - 1;
    const tmap_u32 a = job->edge[((tmap_u64)block_a * 2 + 1) * job->rows + y % job->rows];
    const tmap_u32 b = job->edge[(tmap_u64)block_b * 2 * job->rows + z % job->rows];
    if (a == TMAPI_LABEL_NONE || b == TMAPI_LABEL_NONE) return;
    if (tmapi_label_across(job, x, y, z)) tmapi_label_codes_unite(job, block_a, a, block_b, b);
}

#define TMAPI_LABEL_UNITE_WARPS 4u

// A block's unions with the blocks above it and to its left.
TMAP_DEVICE void tmapi_label_unite_block(const tmapi_label_job *job) {
    const tmap_u32 block = blockIdx.x, column = block % job->bx, lane = threadIdx.x % 32;
    const tmap_u64 band = block / job->bx, y0 = band * job->rows;
    const tmap_u64 x0 = (tmap_u64)column * TMAPI_LABEL_CELLS;
    const tmap_u32 part = 0xffu << threadIdx.x / 32 * 8;
    if (band) {
        tmapi_label_row up, low;
        tmapi_label_touch t;
        const tmap_u64 at = y0 * job->words + column * TMAPI_LABEL_WORDS + lane;
        up.in = job->in[at - job->words], low.in = job->in[at];
        up.slot = low.slot = 0;
        if (job->type == TMAP_LABEL_MASK) {
            up.starts = up.in & ~tmapi_label_from_left(up.in);
            low.starts = low.in & ~tmapi_label_from_left(low.in);
            t = tmapi_label_touch_mask(&up, &low, job->eight);
        } else {
            tmap_u32 same[1][3];
            tmapi_label_values(job, x0, y0, 1, &low, same, 1);
            up.starts = job->starts[at - job->words];
            t = tmapi_label_touch_values(&low, same[0][0], same[0][1], same[0][2], job->eight);
        }
        tmapi_label_slots(&up, &low, 0, 0);
        tmapi_label_edge(job, y0, &up, &low, t.straight & part, 0, 0);
        if (job->eight) {
            tmapi_label_edge(job, y0, &up, &low, t.left & part, 1, 0);
            tmapi_label_edge(job, y0, &up, &low, t.right & part, 0, 1);
        }
        if (job->eight && threadIdx.x == 0) {
            if (column) tmapi_label_side(job, block - job->bx - 1, y0 - 1, block, y0);
            if (column + 1 < job->bx) // the cell above is in the block to the right
            {
                const tmap_u64 x = x0 + TMAPI_LABEL_CELLS - 1;
                const tmap_u32 other = block - job->bx + 1;
                const tmap_u32 a = job->edge[((tmap_u64)block * 2 + 1) * job->rows];
                const tmap_u32 b = job->edge[(tmap_u64)other * 2 * job->rows + job->rows - 1];
                if (a != TMAPI_LABEL_NONE && b != TMAPI_LABEL_NONE &&
                    tmapi_label_across(job, x, y0, y0 - 1))
                    tmapi_label_codes_unite(job, block, a, other, b);
            }
        }
    }
    if (column == 0) return;
    for (tmap_u32 r = threadIdx.x; r < job->rows && y0 + r < job->height;
         r += TMAPI_LABEL_UNITE_WARPS * 32) {
        const tmap_u64 y = y0 + r;
        tmapi_label_side(job, block - 1, y, block, y);
        if (!job->eight) continue;
        if (r) tmapi_label_side(job, block - 1, y - 1, block, y);
        if (r + 1 < job->rows && y + 1 < job->height)
            tmapi_label_side(job, block - 1, y + 1, block, y);
    }
}

// Every node gets its root; roots count as first cells.
TMAP_DEVICE void tmapi_label_roots(const tmapi_label_job *job) {
    const tmap_u32 block = blockIdx.x, used = job->used[block];
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = block * job->nodes + i;
        volatile const tmap_u32 *p = job->parent;
        tmap_u32 root = node, up;
        while ((up = p[root]) != root) root = up;
        job->parent[node] = root;
        if (root == node)
            atomicAdd(job->count + (job->key[node] >> 32) * job->bx + block % job->bx, 1u);
    }
}

#define TMAPI_LABEL_SCAN_THREADS 512u

// An exclusive sum over the block's threads. total: of all.
TMAP_DEVICE tmap_u64 tmapi_label_scan(tmap_u64 value, tmap_u64 *sums, tmap_u64 *total) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u64 sum = value, before = 0, all = 0;
#pragma unroll
    for (tmap_u32 d = 1; d < 32; d *= 2) {
        const tmap_u64 other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += other;
    }
    __syncthreads();
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    for (tmap_u32 k = 0; k < TMAPI_LABEL_SCAN_THREADS / 32; ++k) {
        if (k < warp) before += sums[k];
        all += sums[k];
    }
    *total = all;
    return before + sum - value;
}

// Counts become sums of those before: in a chunk, and by the last block that is ready, of chunks.
TMAP_DEVICE void tmapi_label_sum(const tmapi_label_job *job, tmap_u64 *sums, tmap_u32 *last) {
    const tmap_u32 each = TMAPI_LABEL_CHUNK / TMAPI_LABEL_SCAN_THREADS;
    const tmap_u64 from = (tmap_u64)blockIdx.x * TMAPI_LABEL_CHUNK + threadIdx.x * each;
    tmap_u32 own[TMAPI_LABEL_CHUNK / TMAPI_LABEL_SCAN_THREADS], sum = 0;
    tmap_u64 total, before;
#pragma unroll
    for (tmap_u32 k = 0; k < each; ++k)
        own[k] = from + k < job->counts ? job->count[from + k] : 0, sum += own[k];
    before = tmapi_label_scan(sum, sums, &total);
#pragma unroll
    for (tmap_u32 k = 0; k < each; ++k) {
        if (from + k < job->counts) job->count[from + k] = (tmap_u32)before;
        before += own[k];
    }
    if (threadIdx.x == 0) {
        job->chunk[blockIdx.x] = total;
        __threadfence();
        *last = atomicAdd(job->ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!*last) return;
    __threadfence();
    before = 0;
    for (tmap_u64 first = 0; first < gridDim.x; first += TMAPI_LABEL_SCAN_THREADS) {
        const tmap_u64 at = first + threadIdx.x;
        const tmap_u64 value = at < gridDim.x ? __ldcg(job->chunk + at) : 0;
        const tmap_u64 ahead = tmapi_label_scan(value, sums, &total);
        if (at < gridDim.x) job->chunk[at] = before + ahead;
        before += total;
    }
    if (threadIdx.x == 0) {
        *job->ticket = 0;
        if (job->found) *job->found = before;
    }
}

// How many components have first cells before those of a row's block.
TMAP_DEVICE tmap_u64 tmapi_label_before(const tmapi_label_job *job, tmap_u64 y, tmap_u32 column) {
    const tmap_u64 at = y * job->bx + column;
    return job->chunk[at / TMAPI_LABEL_CHUNK] + job->count[at];
}

// Where a node's number in its row is, in bits of the block.
TMAP_DEVICE tmap_u32 tmapi_label_place(const tmapi_label_job *job, tmap_u64 key, tmap_u64 y0) {
    return (tmap_u32)((key >> 32) - y0) << job->shift | (key & 1023);
}

// The bits of a block's components that have their first cells in other blocks: numbers in rows
// count these too. Barriers before and after are in it.
TMAP_DEVICE void tmapi_label_dead(const tmapi_label_job *job, tmap_u32 *dead) {
    const tmap_u32 block = blockIdx.x, used = job->used[block];
    const tmap_u64 y0 = (tmap_u64)(block / job->bx) * job->rows;
    for (tmap_u32 i = threadIdx.x; i < job->rows << job->shift >> 5; i += blockDim.x) dead[i] = 0;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = block * job->nodes + i;
        if (job->parent[node] != node) {
            const tmap_u32 at = tmapi_label_place(job, job->key[node], y0);
            atomicOr(dead + at / 32, 1u << at % 32);
        }
    }
    __syncthreads();
}

// Labels of the block's nodes that are roots.
TMAP_DEVICE void tmapi_label_name(const tmapi_label_job *job, tmap_u32 *dead) {
    const tmap_u32 block = blockIdx.x, column = block % job->bx, used = job->used[block];
    const tmap_u64 y0 = (tmap_u64)(block / job->bx) * job->rows;
    if (used == 0) return;
    tmapi_label_dead(job, dead);
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = block * job->nodes + i;
        tmap_u64 key, label;
        tmap_u32 at, first;
        if (job->parent[node] != node) continue;
        key = job->key[node], at = tmapi_label_place(job, key, y0);
        first = at >> job->shift << job->shift;
        label = tmapi_label_before(job, key >> 32, column) + (at - first) + 1;
        label -= (tmap_u32)__popc((int)(dead[at / 32] & ((1u << at % 32) - 1)));
        for (first /= 32; first < at / 32; ++first) label -= (tmap_u32)__popc((int)dead[first]);
        if (job->wide)
            ((tmap_i64 *)job->node_label)[node] = (tmap_i64)label;
        else
            ((int *)job->node_label)[node] = (int)label;
    }
}

#endif

// ---- label write --------------------------------------------------------------------------------
//
// The last kernel of label.h: from what slots say to labels of cells.

#define TMAPI_LABEL_WRITE_WARPS      16u
#define TMAPI_LABEL_WRITE_WARPS_WIDE 8u

#if TMAP_CUDA

// Arrays of labels; wide: of 64 bits.
TMAP_DEVICE tmap_u64 tmapi_label_get(const void *from, tmap_u32 i, const int wide) {
    return wide ? ((const tmap_u64 *)from)[i] : ((const tmap_u32 *)from)[i];
}
TMAP_DEVICE void tmapi_label_put(void *to, tmap_u32 i, tmap_u64 label, const int wide) {
    if (wide)
        ((tmap_u64 *)to)[i] = label;
    else
        ((tmap_u32 *)to)[i] = (tmap_u32)label;
}

// Where things are in shared memory. dead: tmapi_label_dead. base: of 32 components of a row, one
// after the other, the label that the first one would have. nodes: labels of the block's nodes. Of
// a warp: line: words of its row: in, starts, slot. names: labels of its row's slots.
typedef struct tmapi_label_room {
    tmap_u32 *dead;
    void *base, *nodes;
    uint4 *line;
    void *names;
} tmapi_label_room;

TMAP_DEVICE tmapi_label_room tmapi_label_rooms(const tmapi_label_job *job, uint4 *memory,
                                               const int wide) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32, size = wide ? 8 : 4;
    char *at = (char *)memory;
    tmapi_label_room room;
    room.dead = (tmap_u32 *)at, at += 4 * TMAPI_LABEL_PARTS;
    room.base = at, at += size * TMAPI_LABEL_PARTS;
    room.nodes = at, at += size * job->nodes;
    room.line = (uint4 *)at + warp * TMAPI_LABEL_WORDS, at += warps * TMAPI_LABEL_WORDS * 16;
    room.names = at + warp * size * job->slots;
    return room;
}

// Labels of nodes, and of components that lie in the block, row by row.
TMAP_DEVICE void tmapi_label_bases(const tmapi_label_job *job, const tmapi_label_room *room,
                                   const int wide) {
    const tmap_u32 block = blockIdx.x, column = block % job->bx, used = job->used[block];
    const tmap_u64 y0 = (tmap_u64)(block / job->bx) * job->rows;
    const tmap_u32 parts = 1u << job->shift >> 5;
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 root = job->parent[block * job->nodes + i];
        const tmap_u64 label = wide ? ((const tmap_u64 *)job->node_label)[root]
                                    : ((const tmap_u32 *)job->node_label)[root];
        tmapi_label_put(room->nodes, i, label, wide);
    }
    for (tmap_u32 r = threadIdx.x; r < job->rows && y0 + r < job->height; r += blockDim.x) {
        tmap_u64 label = tmapi_label_before(job, y0 + r, column) + 1;
        for (tmap_u32 k = 0; k < parts; ++k) {
            tmapi_label_put(room->base, r * parts + k, label, wide);
            label += 32 - (tmap_u32)__popc((int)room->dead[r * parts + k]);
        }
    }
}

// Labels of a row's slots.
TMAP_DEVICE void tmapi_label_names(const tmapi_label_room *room, const tmap_u32 *codes,
                                   tmap_u32 total, const int wide) {
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < total; i += 32) {
        const tmap_u32 pair = codes[i];
#pragma unroll
        for (tmap_u32 k = 0; k < 2; ++k) {
            const tmap_u32 code = k ? pair >> 16 : pair & 0xffff, part = code / 32;
            tmap_u64 label;
            if (2 * i + k == 0 || 2 * i + k >= total) continue;
            if (code & TMAPI_LABEL_NODE)
                label = tmapi_label_get(room->nodes, code & ~TMAPI_LABEL_NODE, wide);
            else
                label = tmapi_label_get(room->base, part, wide) + code % 32 -
                        (tmap_u32)__popc((int)(room->dead[part] & ((1u << code % 32) - 1)));
            tmapi_label_put(room->names, 2 * i + k, label, wide);
        }
    }
}

// Four cells of a word, from cell `first` on: what they are, and the slot before them.
TMAP_DEVICE void tmapi_label_four(const tmapi_label_room *room, uint4 word, tmap_u32 first,
                                  void *out, const int wide) {
    const tmap_u32 in = word.x >> first, starts = word.y >> first;
    tmap_u32 slot = word.z + (tmap_u32)__popc((int)(word.y & ((1u << first) - 1)));
    tmap_u64 v[4];
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        slot += starts >> k & 1;
        v[k] = in >> k & 1 ? tmapi_label_get(room->names, slot, wide) : 0;
    }
    if (wide) {
        __stcs((ulonglong2 *)out, make_ulonglong2(v[0], v[1]));
        __stcs((ulonglong2 *)out + 1, make_ulonglong2(v[2], v[3]));
    } else
        __stcs((uint4 *)out,
               make_uint4((tmap_u32)v[0], (tmap_u32)v[1], (tmap_u32)v[2], (tmap_u32)v[3]));
}

TMAP_DEVICE void tmapi_label_write(const tmapi_label_job *job, uint4 *memory, const int wide) {
    const tmap_u32 block = blockIdx.x, column = block % job->bx, lane = threadIdx.x % 32;
    const tmap_u64 y0 = (tmap_u64)(block / job->bx) * job->rows;
    const tmap_u64 x0 = (tmap_u64)column * TMAPI_LABEL_CELLS;
    const tmapi_label_room room = tmapi_label_rooms(job, memory, wide);
    const tmap_u32 size = wide ? 8 : 4;
    tmapi_label_dead(job, room.dead);
    tmapi_label_bases(job, &room, wide);
    __syncthreads();
    for (tmap_u32 r = threadIdx.x / 32; r < job->rows && y0 + r < job->height;
         r += blockDim.x / 32) {
        const tmap_u64 y = y0 + r, at = y * job->words + column * TMAPI_LABEL_WORDS + lane;
        char *out = (char *)job->labels + (y * job->width + x0) * size;
        tmapi_label_row row, none;
        tmap_u32 total;
        row.in = job->in[at], row.slot = none.slot = none.in = none.starts = 0;
        row.starts = job->starts[at];
        if (job->type == TMAP_LABEL_MASK) row.starts = row.in & ~tmapi_label_from_left(row.in);
        total = (tmapi_label_slots(&row, &none, 0, 0) & 0xffff) - tmapi_label_blank(job, column);
        room.line[lane] = make_uint4(row.in, row.starts, row.slot, 0);
        tmapi_label_names(&room, (const tmap_u32 *)out, total, wide);
        __syncwarp();
        if (x0 + TMAPI_LABEL_CELLS <= job->width && (tmap_u64)out % 16 == 0) {
#pragma unroll 4
            for (tmap_u32 k = lane / 8; k < 32; k += 4)
                tmapi_label_four(&room, room.line[k], lane % 8 * 4,
                                 out + (k * 32 + lane % 8 * 4) * size, wide);
        } else {
            for (tmap_u32 k = 0; k < 32 && x0 + k * 32 < job->width; ++k) {
                const uint4 word = room.line[k];
                const tmap_u32 to = 1u << lane | ((1u << lane) - 1);
                if (x0 + k * 32 + lane < job->width)
                    tmapi_label_put(
                        out, k * 32 + lane,
                        word.x >> lane & 1
                            ? tmapi_label_get(room.names,
                                              word.z + (tmap_u32)__popc((int)(word.y & to)), wide)
                            : 0,
                        wide);
            }
        }
        __syncwarp();
    }
}

#endif

// ---- label --------------------------------------------------------------------------------------

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

#ifndef TMAPI_LABEL_RESIDENT
#define TMAPI_LABEL_RESIDENT 2
#endif

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, TMAPI_LABEL_RESIDENT)
    tmapi_label_mask_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    unsigned short *parents = (unsigned short *)tmapi_label_memory;
    tmapi_label_local_mask(&job, parents,
                           (tmapi_label_local *)(parents + job.rows * TMAPI_LABEL_SLOTS_MASK));
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, TMAPI_LABEL_RESIDENT)
    tmapi_label_values_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    unsigned short *parents = (unsigned short *)tmapi_label_memory;
    tmapi_label_local_values(&job, parents,
                             (tmapi_label_local *)(parents + job.rows * TMAPI_LABEL_SLOTS_VALUES));
}
static __global__ void __launch_bounds__(TMAPI_LABEL_UNITE_WARPS * 32)
    tmapi_label_unite_kernel(tmapi_label_job job) {
    tmapi_label_unite_block(&job);
}
static __global__ void __launch_bounds__(128) tmapi_label_roots_kernel(tmapi_label_job job) {
    tmapi_label_roots(&job);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_SCAN_THREADS)
    tmapi_label_sum_kernel(tmapi_label_job job) {
    __shared__ tmap_u64 sums[TMAPI_LABEL_SCAN_THREADS / 32];
    __shared__ tmap_u32 last;
    tmapi_label_sum(&job, sums, &last);
}
static __global__ void __launch_bounds__(128) tmapi_label_name_kernel(tmapi_label_job job) {
    __shared__ tmap_u32 dead[TMAPI_LABEL_PARTS];
    tmapi_label_name(&job, dead);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS * 32)
    tmapi_label_write_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS_WIDE * 32)
    tmapi_label_write_wide_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 1);
}

static inline cudaError_t tmapi_label_launch(const void *kernel, tmap_u64 blocks, tmap_u32 threads,
                                             tmap_u32 shared, tmapi_label_job *job,
                                             cudaStream_t stream) {
    void *arguments[1];
    cudaError_t error = cudaSuccess;
    arguments[0] = job;
    if (shared) error = tmapi_launch_shared(kernel, shared);
    if (error != cudaSuccess) return error;
    return cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(threads), arguments, shared,
                            stream);
}

// Shared memory of the last kernel.
static inline tmap_u32 tmapi_label_shared_write(const tmapi_label_job *job, tmap_u32 warps) {
    const tmap_u32 size = job->wide ? 8 : 4;
    return (4 + size) * TMAPI_LABEL_PARTS + size * job->nodes +
           warps * (TMAPI_LABEL_WORDS * 16 + size * job->slots);
}

// Launch number `step` of 6.
static inline cudaError_t tmapi_label_step(const tmap_label_plan *plan, tmapi_label_job *job,
                                           int step, cudaStream_t stream) {
    const void *kernel;
    tmap_u64 blocks = plan->blocks;
    tmap_u32 threads = 128, shared = 0;
    switch (step) {
    case 0:
        kernel = job->type == TMAP_LABEL_MASK ? (const void *)tmapi_label_mask_kernel
                                              : (const void *)tmapi_label_values_kernel;
        threads = plan->threads, shared = tmapi_label_shared_local(job->rows * job->slots);
        break;
    case 1:
        kernel = (const void *)tmapi_label_unite_kernel, threads = TMAPI_LABEL_UNITE_WARPS * 32;
        break;
    case 2: kernel = (const void *)tmapi_label_roots_kernel; break;
    case 3:
        kernel = (const void *)tmapi_label_sum_kernel, threads = TMAPI_LABEL_SCAN_THREADS;
        blocks = (job->counts + TMAPI_LABEL_CHUNK - 1) / TMAPI_LABEL_CHUNK;
        break;
    case 4: kernel = (const void *)tmapi_label_name_kernel; break;
    default:
        kernel = job->wide ? (const void *)tmapi_label_write_wide_kernel
                           : (const void *)tmapi_label_write_kernel;
        threads = job->wide ? TMAPI_LABEL_WRITE_WARPS_WIDE : TMAPI_LABEL_WRITE_WARPS;
        while (tmapi_label_shared_write(job, threads) > plan->shared && threads > 1) threads /= 2;
        shared = tmapi_label_shared_write(job, threads), threads *= 32;
    }
    return tmapi_label_launch(kernel, blocks, threads, shared, job, stream);
}

// Labels the components of a map.
// plan: of tmap_label_plan_make. In device memory: cells, at a multiple of their type's size, as
// many as the plan's map says; workspace: plan->workspace bytes at a multiple of 16; labels:
// width * height int or long long, that of column x and row y at number y * width + x; count: the
// number of components goes there.
// Returns cudaErrorInvalidValue where an address is null or misaligned, or what the launches do.
// Nothing is allocated and nothing waits: the launches may be captured. Two runs at a time want two
// workspaces.
// Cost: cells are read once and labels are written once; the more runs of cells there are in rows,
// the more is done in shared memory in between. Each launch has a block for 1024 x 64 cells, or for
// 1024 x 32 of values.
// Example: the mask 1 1 0 / 0 0 1 / 1 0 1 gives 1 1 0 / 0 0 2 / 3 0 2 and count 3 by edges, and
// 1 1 0 / 0 0 1 / 2 0 1 and count 2 by corners too.
static inline cudaError_t tmap_label(const tmap_label_plan *plan, const void *cells,
                                     void *workspace, void *labels, tmap_u64 *count,
                                     cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    tmapi_label_job job;
    tmap_u64 bytes, size;
    if (!plan || !cells || !workspace || !labels || !count) return cudaErrorInvalidValue;
    job = plan->job;
    size = job.type == TMAP_LABEL_I16 ? 2 : job.type >= TMAP_LABEL_I32 ? 4 : 1;
    if ((tmap_u64)cells % size || (tmap_u64)workspace % 16 || (tmap_u64)count % 8 ||
        (tmap_u64)labels % (job.wide ? 8 : 4))
        return cudaErrorInvalidValue;
    tmapi_label_place_all(&job, (tmap_u64)workspace, &bytes);
    job.cells = cells, job.labels = labels, job.found = count;
    for (int step = 0; step < 6 && error == cudaSuccess; ++step)
        error = tmapi_label_step(plan, &job, step, stream);
    return error;
}

#endif

#endif
