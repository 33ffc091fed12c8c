// SPDX-License-Identifier: MIT
// label.h: connected components of a map: each cell gets the number of its component.
//
// A component is a maximal set of cells joined by paths of neighbours: of non-zero cells in a mask,
// of cells with one value in a map of values. Components are numbered from 1 in the order of their
// first cells, row by row from the top and from left to right in a row, so labels are the same in
// every run and on every machine; labels with gaps only where blocks have as much shared memory.
// Cells of no component get 0.
//
//     const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_MASK, 8};
//     tmap_label_plan plan;
//     tmap_label_plan_make(&map, TMAP_LABEL_INT32, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_label(&plan, cells, workspace, labels, count, stream); // label_measure.h: their shapes
//
// Six launches; three for labels with gaps, TMAP_LABEL_ROOTS, whose `write` climbs to the roots of
// nodes: local, unite, write:
//     local   a block of threads finds the components of 1024 columns and 64 rows (32 of values) in
//             shared memory; those that reach an edge to another block are nodes of a graph
//     unite   unites nodes of touching blocks, by union-find in global memory
//     roots   gives each node its root; components whose first cell is elsewhere are not counted
//     sum     scans the counts of first cells: the first label of each row of a block
//     name    gives nodes their labels
//     write   gives cells their labels
// Between the launches the results of a block are stored in the memory of its labels: two bytes for
// each run of cells. Unions happen in any order, but a parent's first cell is always before its
// child's, so roots do not depend on the order.
//
// Maps with periodic axes, as longitudes: label3.h, as a volume of one slice.
//
// A batch of images is labelled by the same call with a plan of tmap_label_images_plan_make. Images
// have blocks of their own. Where they are narrow, a block takes 2 to 16 images side by side, each
// from a multiple of 64 columns of the block on. No run goes from one image to the next, and
// numbers of components begin anew in each; the runs are stored in the workspace.
#ifndef TMAP_RASTER_LABEL_H
#define TMAP_RASTER_LABEL_H

#include "label_local.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- unite, roots: components of the map --------------------------------------------------------
//
// A node's parent is a node with an earlier first cell, so the root of a component is the node with
// its first cell.

// 1 if the first cell of node a is before that of node b.
TMAP_DEVICE int tmapi_label_earlier(const void *key, tmap_u32 a, tmap_u32 b) {
    return ((const tmap_u64 *)key)[a] < ((const tmap_u64 *)key)[b];
}

// Joins the trees of two nodes.
TMAPI_DEVICE_CALL void tmapi_label_node_unite(tmap_u32 *parent, const tmap_u64 *key, tmap_u32 a,
                                              tmap_u32 b) {
    tmapi_forest_unite(parent, a, b, tmapi_label_earlier, key);
}

#define TMAPI_LABEL_UNITE_WARPS 4u

// A warp's queue of pairs of nodes, and the pairs that its block has lately had.
typedef struct tmapi_label_pairs {
    tmap_u64 *queue; // 64 pairs
    tmap_u32 count;
    volatile tmap_u64 *recent; // TMAPI_LABEL_UNITE_WARPS * 32
} tmapi_label_pairs;

// Unites the last 32 pairs of a queue. Collective for the warp.
TMAP_DEVICE void tmapi_label_flush(const tmapi_label_job *job, tmapi_label_pairs *p) {
    const tmap_u32 lane = threadIdx.x % 32, left = p->count < 32 ? 0 : p->count - 32;
    __syncwarp();
    if (left + lane < p->count) {
        const tmap_u64 pair = p->queue[left + lane];
        tmapi_label_node_unite(job->parent, job->key, (tmap_u32)(pair >> 32), (tmap_u32)pair);
    }
    __syncwarp();
    p->count = left;
}

// Appends two touching cells of neighbouring blocks, given by the codes of their slots, if there
// are both; not if the lane before or the block has lately had this pair. Collective for the warp.
TMAP_DEVICE void tmapi_label_pair(const tmapi_label_job *job, tmapi_label_pairs *p,
                                  tmap_u32 block_a, tmap_u32 code_a, tmap_u32 block_b,
                                  tmap_u32 code_b) {
    const int both = code_a != TMAPI_LABEL_NONE && code_b != TMAPI_LABEL_NONE;
    const tmap_u32 a = block_a * job->nodes + (code_a & ~TMAPI_LABEL_NODE);
    const tmap_u32 b = block_b * job->nodes + (code_b & ~TMAPI_LABEL_NODE);
    const tmap_u64 pair = both ? (tmap_u64)a << 32 | b : 0; // blocks differ, so no pair is 0
    const tmap_u64 before = __shfl_up_sync(~0u, pair, 1);
    volatile tmap_u64 *recent =
        p->recent + (a * 0x9e3779b1u ^ b * 0x85ebca6bu) / (~0u / TMAPI_LABEL_UNITE_WARPS / 32 + 1);
    const int wanted = pair && *recent != pair && (threadIdx.x % 32 == 0 || before != pair);
    const tmap_u32 at = tmapi_warp_place(threadIdx.x % 32, &p->count, wanted);
    if (wanted) *recent = p->queue[at] = pair;
    if (p->count >= 32) tmapi_label_flush(job, p);
}

// Appends the touches `rest` of one kind between a block's first row and the row above. Collective
// for the warp.
TMAP_DEVICE void tmapi_label_edge(const tmapi_label_job *job, const tmapi_label_area *area,
                                  const tmapi_label_row *up, const tmapi_label_row *low,
                                  tmap_u32 rest, int kind, tmapi_label_pairs *p) {
    const unsigned short *under = (const unsigned short *)tmapi_label_codes(job, area, 0);
    const tmapi_label_area above = {area->block - job->bx, area->column, area->band - 1,
                                    area->image,           area->x,      area->y - job->rows};
    const unsigned short *over =
        (const unsigned short *)tmapi_label_codes(job, &above, job->rows - 1);
    while (__any_sync(~0u, rest != 0)) {
        const tmap_u32 bit = rest & (0u - rest);
        tmap_u32 a = TMAPI_LABEL_NONE, b = TMAPI_LABEL_NONE;
        if (rest) {
            a = under[tmapi_label_slot(low, bit)];
            b = over[tmapi_label_above(up, bit, kind == 1, kind == 2)];
        }
        tmapi_label_pair(job, p, area->block, a, above.block, b);
        rest &= rest - 1;
    }
}

// Appends the first cell of row r of a block and a cell of the block to its left: that of the same
// row, of the row above (kind 1) or below (2); none (3). Collective for the warp; any r.
TMAP_DEVICE void tmapi_label_side(const tmapi_label_job *job, const tmapi_label_area *area,
                                  tmap_u32 r, tmap_u32 kind, tmapi_label_pairs *p) {
    const tmap_u32 by = kind == 1 ? ~0u : kind == 2, s = r + by, rows = job->rows;
    const tmap_u32 block = area->block - 1 + (s == rows ? job->bx : s > rows ? 0u - job->bx : 0);
    const tmap_u64 y = area->y + r, z = y + (kind == 1 ? ~0ull : kind == 2);
    tmap_u32 a = TMAPI_LABEL_NONE, b = TMAPI_LABEL_NONE;
    if (kind < 3 && y < job->height && z < job->height) {
        a = job->edge[((tmap_u64)block * 2 + 1) * rows + (s & (rows - 1))];
        b = job->edge[(tmap_u64)area->block * 2 * rows + r];
        if (job->type != TMAP_RASTER_MASK && a != TMAPI_LABEL_NONE && b != TMAPI_LABEL_NONE) {
            int ok;
            if (tmapi_label_value(job, z * job->pitch + area->x - 1, job->type, &ok) !=
                tmapi_label_value(job, y * job->pitch + area->x, job->type, &ok))
                a = TMAPI_LABEL_NONE;
        }
    }
    tmapi_label_pair(job, p, block, a, area->block, b);
}

// Unites a block with the blocks above it and to its left.
static __global__ void __launch_bounds__(TMAPI_LABEL_UNITE_WARPS * 32)
    tmapi_label_unite_kernel(tmapi_label_job job) {
    __shared__ tmap_u64 queue[TMAPI_LABEL_UNITE_WARPS * 64], recent[TMAPI_LABEL_UNITE_WARPS * 32];
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u32 part = 0xffu << threadIdx.x / 32 * 8, kinds = job.eight ? 3 : 1;
    tmapi_label_pairs p = {queue + threadIdx.x / 32 * 64, 0, recent};
    recent[threadIdx.x] = 0; // no pair
    __syncthreads();
    if (a.y) {
        tmapi_label_row up, low;
        tmapi_label_touch t;
        const tmap_u64 at = tmapi_label_row_of(&job, &a, 0) * job.words +
                            a.column * TMAPI_LABEL_WORDS + threadIdx.x % 32;
        up.in = job.in[at - job.words], low.in = job.in[at];
        up.slot = low.slot = 0;
        if (job.type == TMAP_RASTER_MASK) {
            up.starts = up.in & ~tmapi_label_from_left(up.in, job.last);
            low.starts = low.in & ~tmapi_label_from_left(low.in, job.last);
            t = tmapi_label_touch_mask(&up, &low, job.eight, job.last);
        } else {
            const tmap_xy64 from = {a.x, a.y};
            tmap_u32 same[1][3];
            tmapi_label_values(&job, from, 1, &low, same, 1);
            up.starts = job.starts[at - job.words];
            t = tmapi_label_touch_values(&low, same[0], job.eight);
        }
        tmapi_label_slots(&up, &low, 0, 0);
#pragma unroll 1
        for (tmap_u32 k = 0; k < kinds; ++k) {
            const tmap_u32 rest = k == 0 ? t.straight : k == 1 ? t.left : t.right;
            tmapi_label_edge(&job, &a, &up, &low, rest & part, (int)k, &p);
        }
    }
    if (a.column)
        for (tmap_u32 i = threadIdx.x; i - threadIdx.x % 32 < job.rows * kinds; i += blockDim.x) {
            const tmap_u32 kind = i / job.rows;
            tmapi_label_side(&job, &a, i & (job.rows - 1), kind < kinds ? kind : 3, &p);
        }
    while (p.count) tmapi_label_flush(&job, &p);
}

// Position of a node's number in its row, among the bits of the block. row: the block's first.
TMAP_DEVICE tmap_u32 tmapi_label_place(const tmapi_label_job *job, tmap_u64 key, tmap_u64 row) {
    return (tmap_u32)((key >> 32) - row) << job->shift | (key & 1023);
}

// Gives each node its root. The first cells of other nodes' components are not counted.
static __global__ void __launch_bounds__(128) tmapi_label_roots_kernel(tmapi_label_job job) {
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u32 used = job.used[a.block];
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = a.block * job.nodes + i;
        const tmap_u32 root = tmapi_forest_root(job.parent, node);
        if (root != node) {
            const tmap_u32 at =
                tmapi_label_place(&job, job.key[node], tmapi_label_row_of(&job, &a, 0));
            const tmap_u32 image = (at & ((1u << job.shift) - 1)) >> (job.shift - job.beside);
            atomicSub(job.scan.count + tmapi_label_count_at(&job, &a, at >> job.shift, image), 1u);
        }
    }
}

// ---- sum, name: labels of rows and of nodes -----------------------------------------------------

// Sets the bits of a block's components with first cells in other blocks, because the numbers in a
// row count them too. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_label_dead(const tmapi_label_job *job, tmap_u32 *dead) {
    const tmap_u32 block = blockIdx.x, used = job->used[block];
    const tmap_u64 row = (tmap_u64)(block / job->bx) * job->rows;
    for (tmap_u32 i = threadIdx.x; i < job->rows << job->shift >> 5; i += blockDim.x) dead[i] = 0;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = block * job->nodes + i;
        if (job->parent[node] != node) {
            const tmap_u32 at = tmapi_label_place(job, job->key[node], row);
            atomicOr(dead + at / 32, 1u << at % 32);
        }
    }
    __syncthreads();
}

// Number of components that are counted before an image.
TMAP_DEVICE tmap_u64 tmapi_label_before_image(const tmapi_label_job *job, tmap_u32 image) {
    return tmapi_label_before(&job->scan, (tmap_u64)image * (job->bands * job->rows) * job->bx);
}

// The label of the first component of row r of a block, in image i of those side by side.
TMAP_DEVICE tmap_u64 tmapi_label_first_of(const tmapi_label_job *job, const tmapi_label_area *a,
                                          tmap_u32 r, tmap_u32 i) {
    const tmap_u64 label = tmapi_label_before(&job->scan, tmapi_label_count_at(job, a, r, i)) + 1;
    return job->images > 1 ? label - tmapi_label_before_image(job, a->image + i) : label;
}

// Labels the block's nodes that are roots.
static __global__ void __launch_bounds__(128) tmapi_label_name_kernel(tmapi_label_job job) {
    __shared__ tmap_u32 dead[TMAPI_LABEL_PARTS];
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u32 used = job.used[a.block], number = job.shift - job.beside;
    const tmap_u32 per = 1u << job.beside;
    if (used == 0) return;
    tmapi_label_dead(&job, dead);
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = a.block * job.nodes + i;
        tmap_u64 key, label;
        tmap_u32 at, first;
        if (job.parent[node] != node) continue;
        key = job.key[node], at = tmapi_label_place(&job, key, tmapi_label_row_of(&job, &a, 0));
        first = at >> number << number;
        label = tmapi_label_first_of(&job, &a, at >> job.shift, (first >> number) & (per - 1)) +
                at - first;
        label -= tmapi_raster_count(dead[at / 32] & ((1u << at % 32) - 1));
        for (first /= 32; first < at / 32; ++first) label -= tmapi_raster_count(dead[first]);
        tmapi_label_put(job.node_label, node, label, job.wide);
    }
}

// ---- write: labels of cells ---------------------------------------------------------------------

#define TMAPI_LABEL_WRITE_WARPS      16u
#define TMAPI_LABEL_WRITE_WARPS_WIDE 8u

// Shared memory. dead: of tmapi_label_dead. base: the label of the first of 32 components of a row.
// nodes: labels of the block's nodes. For each warp, names: labels of its row's slots; line: words
// of its row: in, starts, slot.
typedef struct tmapi_label_room {
    tmap_u32 *dead;
    void *base, *nodes, *names;
    uint4 *line;
} tmapi_label_room;

TMAP_DEVICE tmapi_label_room tmapi_label_rooms(const tmapi_label_job *job, uint4 *memory,
                                               const int wide, const int roots) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32, size = wide ? 8 : 4;
    char *at = (char *)memory;
    tmapi_label_room room;
    room.dead = (tmap_u32 *)at, at += roots ? 0 : 4 * TMAPI_LABEL_PARTS;
    room.base = at, at += roots ? 0 : size * TMAPI_LABEL_PARTS;
    room.nodes = at, at += size * job->nodes;
    room.line = (uint4 *)at + warp * TMAPI_LABEL_WORDS, at += warps * TMAPI_LABEL_WORDS * 16;
    room.names = at + warp * size * job->slots;
    return room;
}

// Computes the labels of nodes, and of components inside the block, row by row.
TMAP_DEVICE void tmapi_label_bases(const tmapi_label_job *job, const tmapi_label_room *room,
                                   const int wide) {
    const tmapi_label_area a = tmapi_label_area_here(job);
    const tmap_u32 used = job->used[a.block], parts = 1u << job->shift >> 5;
    const tmap_u32 log = job->shift - job->beside - 5; // log2 of the parts of an image
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 root = job->parent[a.block * job->nodes + i];
        tmapi_label_put(room->nodes, i, tmapi_label_get(job->node_label, root, wide), wide);
    }
    for (tmap_u32 r = threadIdx.x; r < job->rows && a.y + r < job->height; r += blockDim.x) {
        tmap_u64 label = 0;
        for (tmap_u32 k = 0; k < parts; ++k) {
            if ((k & ((1u << log) - 1)) == 0) label = tmapi_label_first_of(job, &a, r, k >> log);
            tmapi_label_put(room->base, r * parts + k, label, wide);
            label += 32 - tmapi_raster_count(room->dead[r * parts + k]);
        }
    }
}

// Labels with gaps: that of a component with its number in row y of a column of blocks; and those
// of nodes.
TMAP_DEVICE tmap_u64 tmapi_label_gapped(const tmapi_label_job *job, tmap_u64 y, tmap_u32 column,
                                        tmap_u32 number) {
    return ((y * job->bx + column) << job->shift) + number + 1;
}
TMAP_DEVICE void tmapi_label_roots_of(const tmapi_label_job *job, const tmapi_label_room *room,
                                      tmap_u32 block, const int wide) {
    const tmap_u32 used = job->used[block];
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 root = tmapi_forest_root(job->parent, block * job->nodes + i);
        const tmap_u64 key = job->key[root];
        tmapi_label_put(room->nodes, i,
                        tmapi_label_gapped(job, key >> 32, (tmap_u32)key / 1024, key & 1023), wide);
    }
}

// Computes the labels of a row's slots.
TMAP_DEVICE void tmapi_label_names(const tmapi_label_job *job, const tmapi_label_area *a,
                                   const tmapi_label_room *room, const tmap_u32 *codes,
                                   tmap_u32 total, const int wide, const int roots) {
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < total; i += 32) {
        const tmap_u32 pair = codes[i];
#pragma unroll
        for (tmap_u32 k = 0; k < 2; ++k) {
            const tmap_u32 code = k ? pair >> 16 : pair & 0xffff, part = code / 32;
            tmap_u64 label;
            if (2 * i + k == 0 || 2 * i + k >= total) continue;
            if (code & TMAPI_LABEL_NODE)
                label = tmapi_label_get(room->nodes, code & ~TMAPI_LABEL_NODE, wide);
            else if (roots)
                label = tmapi_label_gapped(job, a->y + (code >> job->shift), a->column,
                                           code & ((1u << job->shift) - 1));
            else
                label = tmapi_label_get(room->base, part, wide) + code % 32 -
                        tmapi_raster_count(room->dead[part] & ((1u << code % 32) - 1));
            tmapi_label_put(room->names, 2 * i + k, label, wide);
        }
    }
}

// Writes four cells of a word, from cell `first` on.
TMAP_DEVICE void tmapi_label_four(const tmapi_label_room *room, uint4 word, tmap_u32 first,
                                  void *out, const int wide) {
    const tmap_u32 in = word.x >> first, starts = word.y >> first;
    tmap_u32 slot = word.z + tmapi_raster_count(word.y & ((1u << first) - 1));
    tmap_u64 v[4];
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        slot += starts >> k & 1;
        v[k] = in >> k & 1 ? tmapi_label_get(room->names, slot, wide) : 0;
    }
    tmapi_label_put4(out, v, wide);
}

TMAP_DEVICE void tmapi_label_write(const tmapi_label_job *job, uint4 *memory, const int wide,
                                   const int roots) {
    const tmap_u32 parts = roots ? 2 : 1, r0 = blockIdx.x % parts * (job->rows / parts);
    const tmapi_label_area a = tmapi_label_area_of(job, blockIdx.x / parts);
    const tmap_u32 lane = threadIdx.x % 32, size = wide ? 8 : 4;
    const tmapi_label_room room = tmapi_label_rooms(job, memory, wide, roots);
    const tmap_u64 cells = job->width * job->height;
    const tmap_u32 own = a.image + threadIdx.x;
    if (!roots && job->images > 1 && a.block % (job->bands * job->bx) == 0 &&
        threadIdx.x < 1u << job->beside && own < job->images)
        job->found[own] =
            (own + 1 < job->images ? tmapi_label_before_image(job, own + 1) : *job->scan.total) -
            tmapi_label_before_image(job, own);
    if (roots)
        tmapi_label_roots_of(job, &room, a.block, wide);
    else {
        tmapi_label_dead(job, room.dead);
        tmapi_label_bases(job, &room, wide);
    }
    __syncthreads();
    for (tmap_u32 r = r0 + threadIdx.x / 32; r < r0 + job->rows / parts && a.y + r < job->height;
         r += blockDim.x / 32) {
        const tmap_u64 y = a.y + r, width = TMAPI_LABEL_CELLS >> job->beside;
        const tmap_u64 at =
            tmapi_label_row_of(job, &a, r) * job->words + a.column * TMAPI_LABEL_WORDS + lane;
        char *out = (char *)job->labels + (a.image * cells + y * job->width + a.x) * size;
        tmapi_label_row row, none;
        tmap_u32 total;
        row.in = job->in[at], row.slot = none.slot = none.in = none.starts = 0;
        row.starts = job->starts[at];
        if (job->type == TMAP_RASTER_MASK)
            row.starts = row.in & ~tmapi_label_from_left(row.in, job->last);
        total = (tmapi_label_slots(&row, &none, 0, 0) & 0xffff) - tmapi_label_blank(job, a.column);
        room.line[lane] = make_uint4(row.in, row.starts, row.slot, 0);
        tmapi_label_names(job, &a, &room, tmapi_label_codes(job, &a, r), total, wide, roots);
        __syncwarp();
        if (a.x + width <= job->width && a.image + (1u << job->beside) <= job->images &&
            (tmap_u64)out % 16 == 0) {
#pragma unroll 4
            for (tmap_u32 k = lane / 8; k < 32; k += 4) {
                const tmap_u64 to =
                    (k >> (5 - job->beside)) * cells + (k & job->last) * 32 + lane % 8 * 4;
                tmapi_label_four(&room, room.line[k], lane % 8 * 4, out + to * size, wide);
            }
        } else {
            for (tmap_u32 k = 0; k < 32; ++k) {
                const uint4 word = room.line[k];
                const tmap_u32 upto = 1u << lane | ((1u << lane) - 1);
                const tmap_u32 slot = word.z + tmapi_raster_count(word.y & upto);
                const tmap_u32 image = k >> (5 - job->beside),
                               x = a.x + (k & job->last) * 32 + lane;
                if (x < job->width && a.image + image < job->images)
                    tmapi_label_put(
                        out + image * cells * size, x - a.x,
                        word.x >> lane & 1 ? tmapi_label_get(room.names, slot, wide) : 0, wide);
            }
        }
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS * 32)
    tmapi_label_write_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 0, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS_WIDE * 32)
    tmapi_label_write_wide_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 1, 0);
}

// The same for labels with gaps: a block of threads has half of the rows of a block.
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS * 32)
    tmapi_label_write_roots_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 0, 1);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS_WIDE * 32)
    tmapi_label_write_roots_wide_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 1, 1);
}

// ---- labels -------------------------------------------------------------------------------------

// Makes the plan of the labels of a map on the current device: tmap_label_plan_of with its facts.
// Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for TMAP_ERANGE, or
// the error of a device query. Cost: calls that do not wait for the device.
static inline cudaError_t tmap_label_plan_make(const tmap_raster_map *map, int form,
                                               tmap_label_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_label_mask_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_label_plan_of(map, form, &facts, plan));
}

// Makes the plan of the labels of each image of a batch, a mask of bytes or bits.
// map: an image. images: their number, 0 to 2^31 - 1. slice: cells or words from an image to the
// next, pitch * height to 2^60 - 1. form: without TMAP_LABEL_ROOTS. Labels and their numbers begin
// anew in each image: tmap_label writes those of image z from labels[z * height * width] on, and
// its number of components to count[z].
// plan->workspace: for each cell 1.5 bytes for images of at most 512 columns and 0.4 to 0.6 for
// wider ones, for which a device whose blocks have 64 KB of shared memory (7.5) takes 0.25 more.
// Returns cudaErrorInvalidValue for TMAP_EINVAL of tmap_label_images_plan_of,
// cudaErrorInvalidConfiguration for TMAP_ERANGE, or the error of a device query. Cost: as
// tmap_label_plan_make.
// Example: two images of 2 x 2 cells, 1 0 / 0 1 and 0 0 / 0 1, with 4 neighbours: labels 1 0 / 0 2
// and 0 0 / 0 1, counts 2 and 1.
static inline cudaError_t tmap_label_images_plan_make(const tmap_raster_map *map, tmap_u64 images,
                                                      tmap_u64 slice, int form,
                                                      tmap_label_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_label_mask_kernel, &facts);
    return error ? error
                 : tmapi_launch_error(
                       tmap_label_images_plan_of(map, images, slice, form, &facts, plan));
}

// 1 if the memory of a call cannot be valid (tmapi_label_wrong).
static inline int tmapi_label_job_wrong(const tmap_label_plan *plan, const void *cells,
                                        tmapi_raster_memory work, const void *labels,
                                        tmapi_raster_memory count) {
    const tmapi_label_job *job = &plan->job;
    const tmap_u32 size = job->bits ? 4 : tmap_raster_size(job->type);
    const tmap_u64 row = job->bits ? tmap_flood_words(job->width) : job->width;
    const tmap_u64 image = tmapi_raster_span(job->height - 1, job->pitch, row);
    const tmap_u64 all = tmapi_raster_span(job->images - 1, job->slice, image);
    const tmapi_raster_memory in = {cells, tmap_mul_saturate(all, size)};
    return tmapi_label_wrong(&plan->array, in, size, work, labels, count);
}

// The six launches.
typedef struct tmapi_label_steps {
    tmapi_raster_step step[6];
} tmapi_label_steps;

static inline tmapi_label_steps tmapi_label_steps_of(const tmap_label_plan *plan,
                                                     const tmapi_label_job *job) {
    const tmap_u64 blocks = plan->blocks, dense = plan->roots ? 0 : blocks;
    tmap_u32 warps = job->wide ? TMAPI_LABEL_WRITE_WARPS_WIDE : TMAPI_LABEL_WRITE_WARPS;
    const void *write = plan->roots ? job->wide ? (const void *)tmapi_label_write_roots_wide_kernel
                                                : (const void *)tmapi_label_write_roots_kernel
                        : job->wide ? (const void *)tmapi_label_write_wide_kernel
                                    : (const void *)tmapi_label_write_kernel;
    while ((warps > job->rows || tmapi_label_write_bytes(job, warps, plan->roots) > plan->shared) &&
           warps > 1)
        warps /= 2;
    tmapi_label_steps steps = {
        {{job->type == TMAP_RASTER_MASK ? (const void *)tmapi_label_mask_kernel
                                        : (const void *)tmapi_label_values_kernel,
          {blocks, plan->threads, tmapi_label_local_bytes(job->rows * job->slots)}},
         {(const void *)tmapi_label_unite_kernel, {blocks, TMAPI_LABEL_UNITE_WARPS * 32, 0}},
         {(const void *)tmapi_label_roots_kernel, {dense, 128, 0}},
         tmapi_label_sum_step(&job->scan),
         {(const void *)tmapi_label_name_kernel, {dense, 128, 0}},
         {write,
          {plan->roots ? 2 * blocks : blocks, 32 * warps,
           tmapi_label_write_bytes(job, warps, plan->roots)}}}};
    if (plan->roots) steps.step[3].shape.grid = 0;
    return steps;
}

// Labels the components of a map, or of each image of a batch.
// plan: that of the map or of the batch. All pointers are device memory that does not overlap.
// cells: at a multiple of their size. workspace: plan->workspace bytes at a multiple of 16, with
// any content. labels: width * height int or long long (the form); that of column x and row y is
// number y * width + x.
// count: receives the number of components, for a batch one number an image; at a multiple of 8;
// not used for labels with gaps.
// Calls that run at the same time need one workspace each. A map without cells needs none of these
// but `count`, whose numbers become 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps, else
// the launches' error.
// Allocates nothing and does not synchronize, so the call can be captured.
// Cost: cells are read once and labels written once. The work in shared memory grows with the
// number of runs of cells in rows.
// Labels with gaps: 1 + 512 b + k (1024 for values) for the k-th of the components of a block of
// 1024 columns that begin in the same row of it, from 0 on, where b = row * blocks of a row +
// block. k depends on the rows of a block, and these on the shared memory of the device.
// Example: the mask 1 1 0 / 0 0 1 / 1 0 1 gives 1 1 0 / 0 0 2 / 3 0 2 and count 3 with 4
// neighbours, 1 1 0 / 0 0 1 / 2 0 1 and count 2 with 8.
static inline cudaError_t tmap_label(const tmap_label_plan *plan, const void *cells,
                                     void *workspace, void *labels, tmap_u64 *count,
                                     cudaStream_t stream) {
    tmapi_label_job job;
    if (!plan || !plan->map.connectivity) return cudaErrorInvalidValue;
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmap_u64 each = plan->roots ? 0 : 8;
    const tmapi_raster_memory counts = {count,
                                        plan->array.images ? each * plan->array.depth : each};
    if (tmapi_label_job_wrong(plan, cells, work, labels, counts)) return cudaErrorInvalidValue;
    if (!plan->blocks) return tmapi_label_empty(counts, stream);
    job = plan->job;
    tmapi_label_divide(&job, (tmap_u64)workspace);
    job.cells = cells, job.labels = labels, job.found = count;
    if (job.images == 1) job.scan.total = count;
    return tmapi_raster_run(tmapi_label_steps_of(plan, &job).step, 6, &job, stream);
}

#endif

#endif
