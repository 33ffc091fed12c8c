// SPDX-License-Identifier: MIT
// flood_local.h: a flood's first pass: of each block the nodes of its border, and for each of its
// tiles a list of the components that the runs on the tile's border belong to.
#ifndef TMAP_ADAPTIVE_FLOOD_LOCAL_H
#define TMAP_ADAPTIVE_FLOOD_LOCAL_H

#include "flood_load.h"

#if TMAP_CUDA

// The rows and columns of a block's border, as they stand in `edges`.
TMAP_DEVICE void tmapi_flood_write_edges(const tmapi_flood_block *b, tmap_u32 *edges) {
    const tmap_u32 t = threadIdx.x;
    if (t < 32)
        edges[t] = b->bits[tmapi_flood_place(t < 16 ? 0 : b->rows - 1, t % 16)];
    else if (t < 64)
        for (tmap_u32 k = 0; k < 8; ++k) {
            const tmap_u32 row = k % 4 * 32 + t % 32;
            const tmap_u32 word =
                row < b->rows ? b->bits[tmapi_flood_place(row, k < 4 ? 0 : TMAPI_FLOOD_WORDS - 1)]
                              : 0;
            const tmap_u32 column = __ballot_sync(~0u, (k < 4 ? word & 1 : word >> 31) != 0);
            if (t == 32) edges[32 + k] = column;
        }
}

// The slot of the component at a node's place, or NONE.
TMAP_DEVICE tmap_u32 tmapi_flood_node_slot(const tmapi_flood_block *b, tmap_u32 node, int eight) {
    tmap_u32 x, y;
    if (node < 512) {
        const tmap_u32 word = node / 16 % TMAPI_FLOOD_WORDS;
        y = node < 256 ? 0 : b->rows - 1;
        const tmap_u32 two =
            tmapi_flood_starts(b->bits[tmapi_flood_place(y, word)]) >> node % 16 * 2 & 3;
        if (!two) return TMAPI_FLOOD_NONE;
        x = word * 32 + node % 16 * 2 + (two >> 1);
    } else {
        y = node % 64 * 2, x = node < 576 ? 0 : 511;
        if (y >= b->rows) return TMAPI_FLOOD_NONE;
        if (!(b->bits[tmapi_flood_place(y, x / 32)] >> x % 32 & 1)) ++y;
    }
    return tmapi_flood_cell_slot(b, x, y, eight);
}

// Numbers the components on the border, each by one of its nodes, and writes which one each node
// belongs to. Of components with several nodes it depends on the run which one it is; results do
// not. A barrier of the block.
TMAP_DEVICE void tmapi_flood_number(const tmapi_flood *f, const tmapi_flood_block *b,
                                    tmap_u64 block, int eight) {
    tmap_u32 *parent = f->parent + block * TMAPI_FLOOD_NODES;
    tmap_u32 *pairs = (tmap_u32 *)b->slots, roots[5]; // of up to 5 nodes
#pragma unroll
    for (tmap_u32 i = 0; i < 5; ++i) {
        const tmap_u32 node = threadIdx.x + i * blockDim.x;
        roots[i] = TMAPI_FLOOD_NONE;
        if (node < TMAPI_FLOOD_NODES) roots[i] = tmapi_flood_node_slot(b, node, eight);
        if (roots[i] == TMAPI_FLOOD_NONE) continue;
        const tmap_u32 root = tmapi_flood_root(b, roots[i]), shift = root % 2 * 16;
        for (;;) { // the first one to come
            const tmap_u32 two = *(volatile tmap_u32 *)(pairs + root / 2);
            if (two >> shift & TMAPI_FLOOD_BORDER) break;
            if (atomicCAS(pairs + root / 2, two,
                          two ^ (root ^ (TMAPI_FLOOD_BORDER | node)) << shift) == two)
                break;
        }
        roots[i] = root;
    }
    __syncthreads();
#pragma unroll
    for (tmap_u32 i = 0; i < 5; ++i)
        if (roots[i] != TMAPI_FLOOD_NONE)
            parent[threadIdx.x + i * blockDim.x] = (tmap_u32)block * TMAPI_FLOOD_NODES +
                                                   (b->slots[roots[i]] & (TMAPI_FLOOD_BORDER - 1));
}

// Writes of each seed in the block its node and its component; of those outside of the map, block 0
// writes that there is none. kind: what the block holds.
TMAP_DEVICE void tmapi_flood_write_seeds(const tmapi_flood *f, const tmapi_flood_block *b,
                                         const tmapi_flood_area *a, tmap_u32 kind, int eight) {
    for (tmap_u32 i = threadIdx.x; i < f->seed_count; i += blockDim.x) {
        tmap_u32 node = TMAPI_FLOOD_NONE, component = TMAPI_FLOOD_NONE, x, y;
        const tmap_flood_seed s = f->seeds[i];
        const int outside = s.x >= f->plan.map.width || s.y >= f->plan.map.height;
        if (!(outside ? a->block == 0 : tmapi_flood_seed_here(f, a, i, &x, &y))) continue;
        if (!outside && kind == TMAPI_FLOOD_FULL) component = TMAPI_FLOOD_BORDER; // node 0
        if (!outside && kind == TMAPI_FLOOD_MIXED) {
            const tmap_u32 slot = tmapi_flood_cell_slot(b, x, y, eight);
            if (slot != TMAPI_FLOOD_NONE) {
                const tmap_u32 root = tmapi_flood_root(b, slot), held = b->slots[root];
                component = held & TMAPI_FLOOD_BORDER ? held : root;
            }
        }
        if (component != TMAPI_FLOOD_NONE && component & TMAPI_FLOOD_BORDER)
            node = (tmap_u32)a->block * TMAPI_FLOOD_NODES + (component & (TMAPI_FLOOD_BORDER - 1));
        f->entries[2 * i] = node, f->entries[2 * i + 1] = component;
    }
}

// Four entries of a list at a time.
typedef struct tmapi_flood_list {
    tmap_u64 *to, four;
    tmap_u32 count;
} tmapi_flood_list;

TMAP_DEVICE void tmapi_flood_append(tmapi_flood_list *l, const tmapi_flood_block *b,
                                    tmap_u32 slot) {
    const tmap_u32 root = tmapi_flood_root(b, slot), held = b->slots[root];
    l->four = l->four >> 16 | (tmap_u64)(held & TMAPI_FLOOD_BORDER ? held : root) << 48;
    if (++l->count % 4 == 0) *l->to++ = l->four;
}

// Writes the lists of the tiles: an even thread that of a tile's first row, then of its first
// column; an odd one that of its last row, then of its last column. In the order of runs, each
// the number of its component's node with TMAPI_FLOOD_BORDER, or the slot of its root.
TMAP_DEVICE void tmapi_flood_write_lists(const tmapi_flood *f, const tmapi_flood_block *b,
                                         tmap_u64 block, int eight) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2, lane = threadIdx.x % 32;
    const tmap_u32 word = tile % TMAPI_FLOOD_WORDS, top = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u32 y = top + 15 * half;
    unsigned short *offsets = f->offsets + block * (blockDim.x + 1);
    tmapi_flood_list list = {0, 0, 0};
    const tmap_u32 upper = b->bits[tmapi_flood_place(y & ~1u, word)];
    const tmap_u32 lower = b->bits[tmapi_flood_place(y | 1, word)];
    const tmap_u32 firsts = tmapi_flood_firsts(upper, lower, eight);
    tmap_u32 row, column = 0, quads, sum, at;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r) {
        const tmap_u32 bits = b->bits[tmapi_flood_place(top + r, word)];
        column |= (half ? bits >> 31 : bits & 1) << r;
    }
    row = tmapi_flood_starts(half ? lower : upper);
    column = tmapi_flood_starts(column);
    quads = ((tmap_u32)__popc(row) + (tmap_u32)__popc(column) + 3) / 4;
    sum = quads; // with those of all lanes before
#pragma unroll
    for (tmap_u32 step = 1; step < 32; step *= 2) {
        const tmap_u32 before = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += before;
    }
    if (lane == 31) b->scan[threadIdx.x / 32] = sum;
    __syncthreads();
    at = sum - quads;
    for (tmap_u32 w = 0; w < threadIdx.x / 32; ++w) at += b->scan[w];
    offsets[threadIdx.x] = (unsigned short)at;
    if (threadIdx.x == blockDim.x - 1) offsets[blockDim.x] = (unsigned short)(at + quads);
    list.to = f->table + block * b->rows * TMAPI_FLOOD_QUADS + at;
    for (; row; row &= row - 1)
        tmapi_flood_append(
            &list, b, tmapi_flood_slot(y / 2, word, tmapi_flood_rank(firsts, row & (0u - row))));
    for (; column; column &= column - 1)
        tmapi_flood_append(&list, b,
                           tmapi_flood_cell_slot(b, word * 32 + 31 * half,
                                                 top + (tmap_u32)__ffs((int)column) - 1, eight));
    if (list.count % 4) *list.to = list.four >> 16 * (4 - list.count % 4);
}

// The first pass. Blocks of 2 rows() threads, tmapi_flood_block_bytes of shared memory.
TMAP_DEVICE void tmapi_flood_local(const tmapi_flood *f, void *shared) {
    const int eight = f->plan.map.connectivity == 8;
    const tmapi_flood_block b = tmapi_flood_block_at(shared, f->plan.rows);
    const tmapi_flood_area a = tmapi_flood_area_here(f);
    const tmap_u64 block = a.block;
    const tmap_u32 kind = tmapi_flood_load(f, &b, &a);
    const int seeds = tmapi_flood_seeds_here(f, &a);
    tmapi_flood_write_edges(&b, f->edges + block * TMAPI_FLOOD_EDGES);
    if (kind == TMAPI_FLOOD_MIXED) {
        __syncthreads();
        if (!eight && !seeds) tmapi_flood_prune(&b); // a seed may lie on any cell
        if (eight)
            tmapi_flood_label(&b, 1);
        else
            tmapi_flood_label(&b, 0);
        tmapi_flood_number(f, &b, block, eight);
        tmapi_flood_write_lists(f, &b, block, eight);
    } else if (kind == TMAPI_FLOOD_FULL) // all of its nodes are node 0
        for (tmap_u32 node = threadIdx.x; node < TMAPI_FLOOD_NODES; node += blockDim.x)
            if (tmapi_flood_node_slot(&b, node, eight) != TMAPI_FLOOD_NONE)
                f->parent[block * TMAPI_FLOOD_NODES + node] = (tmap_u32)block * TMAPI_FLOOD_NODES;
    if (seeds || block == 0) tmapi_flood_write_seeds(f, &b, &a, kind, eight);
}

#endif // TMAP_CUDA
#endif
