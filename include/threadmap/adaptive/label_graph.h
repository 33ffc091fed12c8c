// SPDX-License-Identifier: MIT
// label_graph.h: components of the whole map from those of blocks: unions over the edges of blocks,
// and the numbers of components.
//
// A node's parent is a node whose first cell lies before its own, so that the root of a component
// is the node that has its first cell.
#ifndef TMAP_ADAPTIVE_LABEL_GRAPH_H
#define TMAP_ADAPTIVE_LABEL_GRAPH_H

#include "label_input.h"

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
#endif
