// SPDX-License-Identifier: MIT
// flood_nodes.h: a flood's second pass, on the nodes of all blocks: joins those that touch over the
// edges of blocks, and finds those that are joined with a source.
//
// Nodes are trees, as in flood_label.h: each points to another one, or is a root. Whoever climbs a
// tree lets the node that he comes from point as far as he has come; as all do so, paths halve.
#ifndef TMAP_ADAPTIVE_FLOOD_NODES_H
#define TMAP_ADAPTIVE_FLOOD_NODES_H

#include "flood_run.h"

#if TMAP_CUDA

#define TMAPI_FLOOD_UNITE 320u // threads of a block: 16 for each of 20 words of edges

// The root of a node.
TMAP_DEVICE tmap_u32 tmapi_flood_climb(tmap_u32 *parent, tmap_u32 node) {
    tmap_u32 up = __ldcg(parent + node), top;
    while ((top = __ldcg(parent + up)) != up) {
        __stcg(parent + node, top);
        up = top;
    }
    return up;
}

TMAP_DEVICE void tmapi_flood_unite(tmap_u32 *parent, tmap_u32 a, tmap_u32 b) {
    for (;;) {
        tmap_u32 high, old;
        a = tmapi_flood_climb(parent, a), b = tmapi_flood_climb(parent, b);
        if (a == b) return;
        high = a > b ? a : b;
        old = atomicCAS(parent + high, high, a ^ b ^ high);
        if (old == high) return;
        a ^= b ^ high, b = old; // the lower one, and where the other one points to now
    }
}

// The node of a run of a block's first or last row, of the run that holds column `bit` of a word.
TMAP_DEVICE tmap_u32 tmapi_flood_row_node(tmap_u32 block, tmap_u32 word, tmap_u32 row, tmap_u32 bit,
                                          int lower) {
    const tmap_u32 first = tmapi_flood_starts(row) & tmapi_flood_upto(bit);
    return block * TMAPI_FLOOD_NODES + (lower ? 0 : 256) + word * 16 +
           (31 - (tmap_u32)__clz((int)first)) / 2;
}

// The contacts of a word of a block's last row with the first row of the block below; of its
// columns in `part`.
TMAP_DEVICE void tmapi_flood_unite_row(const tmapi_flood *f, tmap_u32 block, tmap_u32 word,
                                       tmap_u32 part) {
    const tmap_u32 eight = f->plan.map.connectivity == 8, across = f->plan.blocks_x;
    const tmap_u32 *upper = f->edges + (tmap_u64)block * TMAPI_FLOOD_EDGES + 16;
    const tmap_u32 *lower = f->edges + (tmap_u64)(block + across) * TMAPI_FLOOD_EDGES;
    const tmap_u32 a = upper[word], b = lower[word];
    tmap_u32 touch = tmapi_flood_starts(a & b) & part;               // one bit at most
    if (word) touch &= ~((upper[word - 1] & lower[word - 1]) >> 31); // the contact goes on
    if (touch)
        tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, touch, 0),
                          tmapi_flood_row_node(block + across, word, b, touch, 1));
    if (!eight) return;
    touch = a & b << 1 & ~(a << 1) & ~b & part; // with the column to the left
    while (touch) {
        const tmap_u32 bit = touch & (0u - touch);
        touch ^= bit;
        tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, bit, 0),
                          tmapi_flood_row_node(block + across, word, b, bit >> 1, 1));
    }
    touch = a & b >> 1 & ~(a >> 1) & ~b & part; // to the right
    while (touch) {
        const tmap_u32 bit = touch & (0u - touch);
        touch ^= bit;
        tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, bit, 0),
                          tmapi_flood_row_node(block + across, word, b, bit << 1, 1));
    }
    if (part & 1 & a && (word || block % across)) { // in the word to the left
        const tmap_u32 other = (word ? block : block - 1) + across, w = (word + 15) % 16;
        const tmap_u32 left = f->edges[(tmap_u64)other * TMAPI_FLOOD_EDGES + w];
        if (left >> 31 && !(b & 1))
            tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, 1, 0),
                              tmapi_flood_row_node(other, w, left, 0x80000000u, 1));
    }
    if ((part & a) >> 31 && (word < 15 || block % across + 1 < across)) { // to the right
        const tmap_u32 other = (word < 15 ? block : block + 1) + across, w = (word + 1) % 16;
        const tmap_u32 right = f->edges[(tmap_u64)other * TMAPI_FLOOD_EDGES + w];
        if (right & 1 && !(b >> 31))
            tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, 0x80000000u, 0),
                              tmapi_flood_row_node(other, w, right, 1, 1));
    }
}

// The contacts of 32 rows of a block's last column with the first column of the next block; of
// those in `part`.
TMAP_DEVICE void tmapi_flood_unite_column(const tmapi_flood *f, tmap_u32 block, tmap_u32 word,
                                          tmap_u32 part) {
    const tmap_u32 *left = f->edges + (tmap_u64)block * TMAPI_FLOOD_EDGES + 36;
    const tmap_u32 *right = f->edges + (tmap_u64)(block + 1) * TMAPI_FLOOD_EDGES + 32;
    const tmap_u32 a = left[word], b = right[word];
    const tmap_u32 from = block * TMAPI_FLOOD_NODES + 576 + word * 16;
    const tmap_u32 to = (block + 1) * TMAPI_FLOOD_NODES + 512 + word * 16;
    const int eight = f->plan.map.connectivity == 8;
    // by double rows: the even bit of each
    tmap_u32 touch = tmapi_flood_starts(a & b);
    if (word) touch &= ~((left[word - 1] & right[word - 1]) >> 31);
    if (eight) touch = (a | a >> 1) & (b | b >> 1) & 0x55555555u;
    touch &= part;
    while (touch) {
        const tmap_u32 at = (31 - (tmap_u32)__clz((int)touch)) / 2;
        touch &= ~(3u << 2 * at);
        tmapi_flood_unite(f->parent, from + at, to + at);
    }
    if (!eight) return;
    // by a corner, from the last row of a double row to the first one of the next
    const tmap_u32 next_a = word < 3 ? left[word + 1] : 0, next_b = word < 3 ? right[word + 1] : 0;
    tmap_u32 down = a & (b >> 1 | next_b << 31) & 0xaaaaaaaau & part;
    tmap_u32 up = b & (a >> 1 | next_a << 31) & 0xaaaaaaaau & part;
    while (down | up) {
        const tmap_u32 at = (31 - (tmap_u32)__clz((int)(down | up))) / 2, bit = 2u << 2 * at;
        if (down & bit) tmapi_flood_unite(f->parent, from + at, to + at + 1);
        if (up & bit) tmapi_flood_unite(f->parent, from + at + 1, to + at);
        down &= ~bit, up &= ~bit;
    }
}

// Joins the nodes of touching blocks. Blocks of TMAPI_FLOOD_UNITE threads, one for each block of
// the map: for each of 20 words of its edges, two columns or rows a thread, so that lanes read
// nodes side by side.
TMAP_DEVICE void tmapi_flood_unite_edges(const tmapi_flood *f) {
    const tmap_u32 block = blockIdx.x, word = threadIdx.x / 16, part = 3u << threadIdx.x % 16 * 2;
    const tmap_u32 across = f->plan.blocks_x;
    if (word < 16) {
        if (block / across + 1 < f->plan.blocks_y) tmapi_flood_unite_row(f, block, word, part);
    } else if (block % across + 1 < across)
        tmapi_flood_unite_column(f, block, word - 16, part);
}

// Marks the roots of the seeds' nodes. A thread a seed.
TMAP_DEVICE void tmapi_flood_mark(const tmapi_flood *f) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 node, next;
    if (i >= f->seed_count || (node = f->entries[2 * i]) == TMAPI_FLOOD_NONE) return;
    while ((next = __ldcg(f->parent + node) & ~TMAPI_FLOOD_MARK) != node) node = next;
    atomicOr(f->parent + node, TMAPI_FLOOD_MARK);
}

// Writes which nodes of a block are flooded. Blocks of TMAPI_FLOOD_NODES threads, one for each
// block of the map.
TMAP_DEVICE void tmapi_flood_write_flags(const tmapi_flood *f) {
    const tmap_u32 n = threadIdx.x;
    const tmap_u32 *edges = f->edges + (tmap_u64)blockIdx.x * TMAPI_FLOOD_EDGES;
    const tmap_u32 two =
        (n < 512 ? tmapi_flood_starts(edges[n / 16]) : edges[32 + (n - 512) / 16]) >> n % 16 * 2 &
        3;
    int flooded = 0;
    tmap_u32 bits;
    if (two) {
        const tmap_u32 node = blockIdx.x * TMAPI_FLOOD_NODES + n;
        tmap_u32 up = __ldcg(f->parent + node) & ~TMAPI_FLOOD_MARK, top;
        for (;;) { // only roots are marked
            top = __ldcg(f->parent + up);
            if ((top & ~TMAPI_FLOOD_MARK) == up) break;
            __stcg(f->parent + node, top);
            up = top;
        }
        flooded = top >> 31;
    }
    bits = __ballot_sync(~0u, flooded);
    if (n % 32 == 0) f->flags[(tmap_u64)blockIdx.x * (TMAPI_FLOOD_NODES / 32) + n / 32] = bits;
}

#endif // TMAP_CUDA
#endif
