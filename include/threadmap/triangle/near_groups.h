// SPDX-License-Identifier: MIT
// near_groups.h: groups of points that are linked, directly or through others: friends of friends,
// single linkage at one height; with near_rows.h also DBSCAN. No list of pairs is stored.
//
//     static __device__ int linked(void *job, tmap_pair pair, const void *a, const void *b) {
//         return squared_distance(a, b) < ((search *)job)->squared;
//     }
//     const tmap_near points = {{j.to.set, 0, sizeof(float), 3}, reach, 0}; // in your kernel
//     tmap_near_link(&plan, points, linked, &j.to, &j);
//     ... tmap_near_groups_plan_make(shape, (const void *)link_points, &plan);
//     ... cudaMalloc(&j.to.nodes, tmap_near_groups_bytes(&plan));
//     ... tmap_near_groups(&plan, &j, &j.to, stream);
//
// Points are nodes of a forest (forest.h). Pairs that are near as a whole need no test and one
// union for each pair of boxes; a point that is known to be of a leaf's group is not tested with
// it.
//
// DBSCAN (Ester et al. 1996), with min_samples = least + 1:
//     a kernel of tmap_near_rows counts the neighbours of each point
//     tmap_near_cores(n, order, counts, least, cores, stream);
//     tmap_near_prepare(shape, points, cores, core_set, stream); // of n places, some of no point
//     tmap_near_groups(&plan, &j, &j.to, stream);                // j.to.set = core_set
//     a kernel of tmap_near_rows with points.b = core_set, and tmap_near_plan_others(&rows, n),
//         finds the least number j of each point's neighbours, from zero = 0xffffffff on
//     tmap_near_borders(n, least_numbers, j.to.labels, stream);
#ifndef TMAP_TRIANGLE_NEAR_GROUPS_H
#define TMAP_TRIANGLE_NEAR_GROUPS_H

#include "near.h"

// The label of what is no point, or of noise.
#define TMAP_NEAR_NO_GROUP 0xffffffffu

// Where groups are found; all pointers are device memory.
typedef struct tmap_near_groups_to {
    const void *set;  // prepared, the one that the kernel links
    void *nodes;      // tmap_near_groups_bytes bytes at a multiple of 16; any content
    tmap_u32 *labels; // receives n labels, in the order of your array
    tmap_u32 *count;  // receives the number of groups; or 0
    int dense;        // 0: a label is its group's smallest number; 1: 0, 1, ... in that order
} tmap_near_groups_to;

// ---- the workspace ------------------------------------------------------------------------------
//
// A node for each place of a leaf. Those of a leaf that are linked among themselves have the first
// of them as their parent at the beginning, and its place as their `part`.

typedef struct tmapi_near_nodes {
    tmap_u64 least, parts, solid, words, bytes; // where things begin; parents are at 0
    tmap_u64 slots, tiles;                      // places of all leaves; blocks of 1024 points
} tmapi_near_nodes;

TMAP_FN tmapi_near_nodes tmapi_near_nodes_of(const tmap_near_plan *plan) {
    tmapi_near_nodes w;
    w.slots = (tmap_u64)tmapi_near_leaves(plan->set.n) * TMAP_NEAR_LEAF;
    w.tiles = ((tmap_u64)plan->set.n + 1023) / 1024;
    w.least = w.slots * 4, w.words = w.least + w.slots * 4;
    w.parts = w.words + (w.tiles + 2) * 8, w.solid = w.parts + w.slots;
    w.bytes = w.solid + 32ull * (plan->mine.level[2] + plan->mine.top);
    return w;
}

// Bytes of the workspace of tmap_near_groups: 9 for each point, and 2 % more.
TMAP_FN tmap_u64 tmap_near_groups_bytes(const tmap_near_plan *plan) {
    return tmapi_near_nodes_of(plan).bytes;
}

// Makes the plan of tmap_near_groups_plan_make from facts, without a CUDA call; out->kernel is 0.
TMAP_FN int tmap_near_groups_plan_of(tmap_near_shape set, const tmap_facts *facts,
                                     tmap_near_plan *out) {
    return tmapi_near_plan_kind(set, TMAP_NEAR_KIND_GROUPS, 0, facts, out);
}

#if TMAP_CUDA

// ---- parts of a leaf ----------------------------------------------------------------------------

// Your function: non-zero if a pair is linked. The arguments are those of tmap_pairs_visit. It must
// give the same answer for (i, j) and (j, i).
typedef int (*tmap_near_linked)(void *job, tmap_pair pair, const void *a, const void *b);

// The number of a point in your array.
TMAP_DEVICE tmap_u32 tmapi_near_of_slot(const tmapi_near *s, tmap_u32 slot) {
    return tmapi_near_number(s->mine, s->how.points, slot / 32, slot % 32);
}

// The first place of the leaf that each lane's point is linked with, directly or through points of
// the leaf. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_near_parts(const tmapi_near *s, tmap_near_linked linked,
                                      const tmapi_pairs_point *own, tmap_u32 count) {
    const tmap_u32 lane = threadIdx.x % 32, d = s->how.points.d, size = s->how.points.size;
    const tmap_u32 queue = TMAPI_NEAR_QUEUE * size;
    tmap_u32 adjacent = 0, part = lane;
    tmapi_near_copy(d, s->queue + lane * size, queue, own->bytes, size, size);
    __syncwarp();
    TMAPI_NO_UNROLL
    for (tmap_u32 step = 1; step <= 16; ++step) { // each pair once; those 16 apart twice
        const tmap_u32 behind = (lane - step) % 32, other = (lane + step) % 32;
        tmapi_pairs_row row;
        tmap_pair pair;
        int hit = lane < count && other < count;
        tmapi_near_copy(d, row.bytes, size, s->queue + other * size, queue, size);
        pair.i = tmapi_near_of_slot(s, s->leaf * 32 + other), row.set = 0;
        pair.j = tmapi_near_of_slot(s, s->leaf * 32 + lane);
        if (hit) hit = linked(s->job, pair, row.bytes, own->bytes) != 0;
        const tmap_u32 hits = __ballot_sync(0xffffffffu, hit);
        if (hit) adjacent |= 1u << other;
        adjacent |= (hits >> behind & 1) << behind;
    }
    const tmap_u32 busy = __ballot_sync(0xffffffffu, adjacent != 0);
    __syncwarp(); // the queue is free
    for (int moved = busy != 0; moved;) {
        tmap_u32 first = part;
        TMAPI_NO_UNROLL
        for (tmap_u32 left = busy; left; left &= left - 1) {
            const tmap_u32 y = (tmap_u32)__ffs((int)left) - 1;
            const tmap_u32 other = __shfl_sync(0xffffffffu, part, (int)y);
            if (adjacent >> y & 1 && other < first) first = other;
        }
        first = __shfl_sync(0xffffffffu, first, (int)first);
        moved = __any_sync(0xffffffffu, first != part);
        part = first;
    }
    return part;
}

// 1 if all pairs of a box are linked, and its first leaf has a point.
TMAP_DEVICE int tmapi_near_solid(const tmapi_near *s, tmap_u32 level, tmap_u32 b) {
    const tmap_near_box box = tmapi_near_box_of(s->mine, &s->plan->mine, s->how.points.d, level, b);
    return s->how.reach(s->job, &box, &box) == TMAP_NEAR_ALL;
}

// Begins the forest: the leaves of an item, a warp a leaf, and the larger boxes that begin with
// them.
TMAP_DEVICE void tmapi_near_link_begin(tmapi_near *s, tmap_near_linked linked, unsigned char *nodes,
                                       const tmapi_near_nodes *w, tmap_u64 item) {
    const tmap_near_plan *plan = s->plan;
    const tmap_u32 lane = threadIdx.x % 32;
    unsigned char *solid = nodes + w->solid;
    TMAPI_NO_UNROLL
    for (tmap_u32 k = threadIdx.x / 32; k < plan->run; k += TMAPI_NEAR_WARPS) {
        const tmap_u64 leaf = tmapi_near_unit(s, (tmap_u32)item, k), slot = leaf * 32 + lane;
        tmapi_pairs_point own;
        if (leaf >= tmapi_near_leaves(plan->set.n)) break;
        if (s->me) continue; // a leaf's first unit does it
        s->leaf = (tmap_u32)leaf;
        const tmap_u32 count = tmapi_near_count_of(s->mine, &plan->mine, s->how.points.d, s->leaf);
        tmapi_near_point(s->mine, s->how.points, s->leaf, lane, own.bytes);
        const tmap_u32 part = tmapi_near_parts(s, linked, &own, count);
        const int whole = __all_sync(0xffffffffu, part == 0 || lane >= count);
        ((tmap_u32 *)nodes)[slot] = s->leaf * 32 + part;
        ((tmap_u32 *)(nodes + w->least))[slot] = TMAP_NEAR_NO_GROUP;
        nodes[w->parts + slot] = (unsigned char)part;
        if (lane) continue;
        solid[leaf] = whole && count;
        if (leaf % 32 == 0)
            solid[plan->mine.level[1] * 32 + leaf / 32] =
                count && tmapi_near_solid(s, 1, s->leaf / 32);
        if (leaf % 1024 == 0)
            solid[plan->mine.level[2] * 32 + leaf / 1024] =
                count && tmapi_near_solid(s, 2, s->leaf / 1024);
    }
}

// ---- pairs of leaves ----------------------------------------------------------------------------

// Finds out which root all parts of the leaf have, if it is one.
TMAP_DEVICE void tmapi_near_link_root(tmapi_near *s) {
    const tmap_u32 lane = threadIdx.x % 32;
    const int begins = s->parts >> lane & 1;
    const tmap_u32 root = begins ? tmapi_forest_root(s->parent, s->leaf * 32 + lane) : 0;
    const tmap_u32 first = __shfl_sync(0xffffffffu, root, __ffs((int)s->parts) - 1);
    s->root = __all_sync(0xffffffffu, !begins || root == first) ? first : TMAP_NEAR_NO_GROUP;
}

// Tests `many` points of the queue, 1 to 32, from point `first` on, with the lane's row. Then each
// lane unites one of these points with the parts of the leaf that it is linked with.
TMAP_DEVICE void tmapi_near_link_few(tmapi_near *s, tmap_near_linked linked, tmap_u32 first,
                                     tmap_u32 many) {
    const tmap_u32 lane = threadIdx.x % 32, size = s->how.points.size;
    const tmap_u32 same = __match_any_sync(0xffffffffu, s->row_number[lane]); // rows of a part
    tmap_u32 links = 0; // rows that are linked with the lane's point of the queue
    tmapi_pairs_row row;
    tmap_pair pair;
    tmapi_near_row(s, lane, row.bytes), row.set = 0;
    pair.i = tmapi_near_of_slot(s, s->leaf * 32 + lane);
    TMAPI_NO_UNROLL
    for (tmap_u32 q = 0; q < many; ++q) {
        const tmap_u32 at = first + q;
        tmapi_pairs_point point;
        tmapi_near_copy(s->how.points.d, point.bytes, size, s->queue + at * size,
                        TMAPI_NEAR_QUEUE * size, size);
        pair.j = tmapi_near_of_slot(s, s->number[at]);
        const int hit = lane < s->box->count && linked(s->job, pair, row.bytes, point.bytes) != 0;
        const tmap_u32 hits = __ballot_sync(0xffffffffu, hit);
        if (lane == q) links = hits;
    }
    TMAPI_NO_UNROLL
    for (tmap_u32 left = s->parts; left; left &= left - 1) {
        const tmap_u32 part = (tmap_u32)__ffs((int)left) - 1;
        if (__shfl_sync(0xffffffffu, same, (int)part) & links)
            tmapi_forest_unite(s->parent, s->leaf * 32 + part, s->number[first + lane],
                               tmapi_near_earlier, 0);
    }
}

// Tests 64 points of the queue, from point `first` on, with the leaf, until all are linked with all
// parts; and unites what is linked: a point and a part of the leaf once.
TMAP_DEVICE void tmapi_near_link_many(tmapi_near *s, tmap_near_linked linked, tmap_u32 first) {
    const tmap_u32 size = s->how.points.size, d = s->how.points.d, step = 16 / size;
    tmapi_pairs_point points[2];
    tmap_u32 slots[2], links[2] = {0, 0};
    tmapi_near_fetch(s, first, 2, TMAPI_NEAR_BATCH, points, slots);
    const tmap_u32 numbers[2] = {tmapi_near_of_slot(s, slots[0]), tmapi_near_of_slot(s, slots[1])};
    TMAPI_NO_UNROLL
    for (tmap_u32 y = 0; y < s->box->count; y += step) {
        tmapi_value vector[TMAP_PAIRS_D_MAX];
        tmapi_near_copy(d, vector, 16, s->rows + y * size, TMAP_NEAR_LEAF * size, 16);
#pragma unroll
        for (tmap_u32 r = 0; r < step; ++r) {
            tmapi_pairs_row row;
            tmap_pair pair;
            if (y + r >= s->box->count) break;
            const tmap_u32 part = 1u << s->row_number[y + r];
            pair.i = tmapi_near_of_slot(s, s->leaf * 32 + y + r), row.set = 0;
            tmapi_near_copy(d, row.bytes, size, vector->bytes + r * size, 16, size);
#pragma unroll
            for (tmap_u32 c = 0; c < 2; ++c) {
                pair.j = numbers[c];
                if (linked(s->job, pair, row.bytes, points[c].bytes)) links[c] |= part;
            }
        }
        if (__all_sync(0xffffffffu, (links[0] & links[1]) == s->parts)) break;
    }
#pragma unroll
    for (tmap_u32 c = 0; c < 2; ++c)
        for (tmap_u32 rest = links[c]; rest; rest &= rest - 1)
            tmapi_forest_unite(s->parent, s->leaf * 32 + (tmap_u32)__ffs((int)rest) - 1, slots[c],
                               tmapi_near_earlier, 0);
}

// 1 if the unit's leaf and the next one are one tree each: then they are united first, by its first
// unit. In the order of the points most of a dense group are united so, and are then one tree for
// the warps that visit all of it.
TMAP_DEVICE int tmapi_near_link_next(tmapi_near *s, tmap_u32 item, tmap_u32 k) {
    const tmap_u64 leaf = tmapi_near_unit(s, item, k);
    return !s->me && leaf + 1 < tmapi_near_leaves(s->plan->set.n) && s->solid[leaf] &&
           s->solid[leaf + 1];
}

// The step of tmap_near_groups that your kernel does, in three launches: the first finds groups
// within leaves, the second one unites each leaf with the next, the third one with all. All threads
// of all blocks call it, in blocks of TMAP_NEAR_THREADS threads, with the same `to` as
// tmap_near_groups. points.a: to->set. linked: a __device__ function without barriers or
// collectives; where reach says ALL it would return non-zero for all pairs. plan: of
// tmap_near_groups_plan_make; with a plan of another kind the call does nothing.
TMAP_DEVICE void tmap_near_link(const tmap_near_plan *plan, tmap_near points,
                                tmap_near_linked linked, const tmap_near_groups_to *to, void *job) {
    unsigned char *nodes = (unsigned char *)to->nodes;
    const tmapi_near_nodes w = tmapi_near_nodes_of(plan);
    const tmap_u32 lane = threadIdx.x % 32;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_GROUPS, "tmap_near_link")) return;
    if (plan->kind != TMAP_NEAR_KIND_GROUPS) return;
    points.bulk = 0;
    tmapi_near s = tmapi_near_begin(plan, points, 0, job, 0);
    s.parent = (tmap_u32 *)nodes, s.solid = nodes + w.solid;
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        if (plan->phase == 0) {
            tmapi_near_link_begin(&s, linked, nodes, &w, plan->first + t);
            continue;
        }
        TMAPI_NO_UNROLL
        for (tmap_u32 k = threadIdx.x / 32; k < plan->run; k += TMAPI_NEAR_WARPS) {
            const tmap_u32 item = (tmap_u32)(plan->first + t);
            if (plan->phase == 1 && !tmapi_near_link_next(&s, item, k)) continue;
            if (!tmapi_near_take(&s, item, k) || !s.box->count) continue;
            const tmap_u32 part = nodes[w.parts + s.leaf * 32ull + lane];
            s.parts = __ballot_sync(0xffffffffu, lane < s.box->count && part == lane);
            s.row_number[lane] = part;
            __syncwarp();
            tmapi_near_link_root(&s);
            if (plan->phase == 1) { // only the next leaf is left
                const tmap_u32 next = s.leaf + 1, d = points.points.d;
                if (lane == 0) s.walk->some[1] = 0, s.walk->top = ~0u;
                tmapi_near_open(&s, next / 32, 1u << next % 32,
                                tmapi_near_count_of(s.mine, &plan->mine, d, next));
                __syncwarp();
            }
            TMAPI_NO_UNROLL
            for (tmap_u32 many; (many = tmapi_near_next(&s)) != 0;) {
                tmap_u32 first = 0;
                TMAPI_NO_UNROLL
                for (; first + 64 <= many; first += 64) tmapi_near_link_many(&s, linked, first);
                TMAPI_NO_UNROLL
                for (; first < many; first += 32)
                    tmapi_near_link_few(&s, linked, first, many - first < 32 ? many - first : 32);
                __syncwarp();
                tmapi_near_link_root(&s);
            }
        }
    }
}

#if !TMAP_NVRTC

// ---- labels -------------------------------------------------------------------------------------

typedef struct tmapi_near_labels {
    tmap_near_plan plan;
    tmap_near_groups_to to;
    tmapi_near_nodes w;
} tmapi_near_labels;

// 1 if place `slot` has a point with finite coordinates, whose number is *number; else that of
// another point or of none.
TMAP_DEVICE int tmapi_near_labels_point(const tmapi_near_labels *j, tmap_u64 slot,
                                        tmap_u32 *number) {
    const unsigned char *set = (const unsigned char *)j->to.set;
    const tmap_u32 leaf = (tmap_u32)(slot / 32), d = j->plan.set.d;
    const tmap_points points = {set, 0, j->plan.set.size, d};
    *number = tmapi_near_number(set, points, leaf, (tmap_u32)slot % 32);
    return slot % 32 < tmapi_near_count_of(set, &j->plan.mine, d, leaf);
}

// What a lane's box is: the root of its only tree, or one of these.
#define TMAPI_NEAR_SEVERAL 0xffffffffu // trees
#define TMAPI_NEAR_EMPTY   0xfffffffeu // no points

// What the boxes of all lanes are together; SEVERAL if the first one is empty. Collective.
TMAP_DEVICE tmap_u32 tmapi_near_together(tmap_u32 root) {
    const tmap_u32 first = __shfl_sync(0xffffffffu, root, 0);
    const int one = root == first || (root == TMAPI_NEAR_EMPTY && first != TMAPI_NEAR_EMPTY);
    return __all_sync(0xffffffffu, one) ? first : TMAPI_NEAR_SEVERAL;
}

// Marks the larger boxes that have become one tree: a leaf of this tree need not visit them. A
// block has a box of level 2, a warp one of level 1, a lane a leaf.
static __global__ void __launch_bounds__(1024) tmapi_near_whole_kernel(tmapi_near_labels j) {
    __shared__ tmap_u32 roots[32];
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, *level = j.plan.mine.level;
    const tmap_u64 leaf = blockIdx.x * 1024ull + threadIdx.x;
    const unsigned char *set = (const unsigned char *)j.to.set;
    unsigned char *solid = (unsigned char *)j.to.nodes + j.w.solid;
    tmap_u32 root = TMAPI_NEAR_EMPTY;
    if (leaf * 32 < j.w.slots &&
        tmapi_near_count_of(set, &j.plan.mine, j.plan.set.d, (tmap_u32)leaf))
        root = solid[leaf] ? tmapi_forest_root((tmap_u32 *)j.to.nodes, (tmap_u32)leaf * 32)
                           : TMAPI_NEAR_SEVERAL;
    root = tmapi_near_together(root);
    if (lane == 0 && root < TMAPI_NEAR_EMPTY) solid[level[1] * 32ull + leaf / 32] = 1;
    if (lane == 0) roots[warp] = root;
    __syncthreads();
    if (warp) return;
    root = tmapi_near_together(roots[lane]);
    if (lane == 0 && root < TMAPI_NEAR_EMPTY) solid[level[2] * 32ull + blockIdx.x] = 1;
}

// The smallest number of each tree, at its root.
static __global__ void __launch_bounds__(256) tmapi_near_least_kernel(tmapi_near_labels j) {
    const tmap_u64 slot = blockIdx.x * 256ull + threadIdx.x;
    tmap_u32 *parent = (tmap_u32 *)j.to.nodes, number;
    tmap_u32 *least = (tmap_u32 *)((unsigned char *)j.to.nodes + j.w.least);
    if (slot == 0 && j.to.count) *j.to.count = 0;
    if (slot >= j.w.slots || !tmapi_near_labels_point(&j, slot, &number)) return;
    least += tmapi_forest_root(parent, (tmap_u32)slot);
    if (number < __ldcg(least)) atomicMin(least, number); // few of a large group
}

// Labels and their count. A point that is not finite is a group of its own.
static __global__ void __launch_bounds__(256) tmapi_near_labels_kernel(tmapi_near_labels j) {
    const tmap_u64 slot = blockIdx.x * 256ull + threadIdx.x;
    tmap_u32 *parent = (tmap_u32 *)j.to.nodes, number = TMAP_NEAR_NO_GROUP;
    const tmap_u32 *least = (const tmap_u32 *)((unsigned char *)j.to.nodes + j.w.least);
    int first = 0; // of its group
    if (slot < j.w.slots) {
        const int is = tmapi_near_labels_point(&j, slot, &number);
        tmap_u32 label = number;
        if (is) label = least[tmapi_forest_root(parent, (tmap_u32)slot)];
        if (number < j.plan.set.n) j.to.labels[number] = label, first = label == number;
    }
    const int groups = __syncthreads_count(first);
    if (threadIdx.x == 0 && groups && j.to.count) atomicAdd(j.to.count, (tmap_u32)groups);
}

// Ranks of the labels: 1024 points a block, in the order in which blocks begin.
static __global__ void __launch_bounds__(1024) tmapi_near_rank_kernel(tmapi_near_labels j) {
    __shared__ tmap_u64 sums[33], tile;
    tmap_u64 *words = (tmap_u64 *)((unsigned char *)j.to.nodes + j.w.words);
    tmap_u32 *rank = (tmap_u32 *)((unsigned char *)j.to.nodes + j.w.least); // no longer in use
    if (threadIdx.x == 0) tile = atomicAdd(words, 1ull);
    __syncthreads();
    const tmap_u64 i = tile * 1024 + threadIdx.x;
    const int first = i < j.plan.set.n && j.to.labels[i] == i;
    tmap_u32 firsts = 0;
    const tmap_u32 at = tmapi_warp_place(threadIdx.x % 32, &firsts, first);
    const tmap_u64 before = tmapi_near_scan(sums, 32, words + 2, tile, firsts);
    if (first) rank[i] = (tmap_u32)before + at;
}

static __global__ void __launch_bounds__(256) tmapi_near_dense_kernel(tmapi_near_labels j) {
    const tmap_u64 i = blockIdx.x * 256ull + threadIdx.x;
    const tmap_u32 *rank = (const tmap_u32 *)((unsigned char *)j.to.nodes + j.w.least);
    if (i >= j.plan.set.n) return;
    const tmap_u32 label = j.to.labels[i];
    if (label < j.plan.set.n) j.to.labels[i] = rank[label];
}

// Finds the groups of a prepared set. plan: of tmap_near_groups_plan_make, not a share of it. job:
// of your kernel, which calls tmap_near_link. Points that the set's order leaves out get
// TMAP_NEAR_NO_GROUP; a point that is not finite is a group of its own.
// Returns cudaErrorInvalidValue for a null pointer, wrong alignment and a plan of another kind, a
// share of one, or one with a second set; else the error of a CUDA call. Does not wait; can be
// captured in a graph. Labels are the same in every run.
// Cost: three launches of your kernel, and three of kernels that read the forest; two more for
// dense labels.
static inline cudaError_t tmap_near_groups(const tmap_near_plan *plan, tmap_job job,
                                           const tmap_near_groups_to *to, cudaStream_t stream) {
    tmapi_near_labels j;
    void *arguments[1] = {&j};
    cudaError_t error;
    if (!plan || !to || plan->kind != TMAP_NEAR_KIND_GROUPS || plan->others ||
        plan->count != plan->items || !to->set || !to->nodes || !to->labels ||
        (tmap_u64)to->set % 128 || (tmap_u64)to->nodes % 16 || (tmap_u64)to->labels % 4 ||
        (tmap_u64)to->count % 4)
        return cudaErrorInvalidValue;
    j.plan = *plan, j.to = *to, j.w = tmapi_near_nodes_of(plan);
    const tmapi_launch_shape slots = {(j.w.slots + 255) / 256 + !j.w.slots, 256, 0};
    const tmapi_launch_shape tiles = {j.w.tiles, 1024, 0};
    const tmapi_launch_shape boxes = {(j.w.slots + 32767) / 32768, 1024, 0}; // of level 2
    error = cudaMemsetAsync(to->labels, 0xff, plan->set.n * 4ull, stream);
    for (j.plan.phase = 0; j.plan.phase < 3 && !error; ++j.plan.phase) {
        if (j.plan.phase == 2 && boxes.grid)
            error = tmapi_launch((const void *)tmapi_near_whole_kernel, boxes, arguments, stream);
        if (!error) error = tmap_near_launch(&j.plan, job, stream);
    }
    if (!error)
        error = tmapi_launch((const void *)tmapi_near_least_kernel, slots, arguments, stream);
    if (!error)
        error = tmapi_launch((const void *)tmapi_near_labels_kernel, slots, arguments, stream);
    if (error || !to->dense || !plan->set.n) return error;
    error = cudaMemsetAsync((char *)to->nodes + j.w.words, 0, (j.w.tiles + 2) * 8, stream);
    if (!error)
        error = tmapi_launch((const void *)tmapi_near_rank_kernel, tiles, arguments, stream);
    if (!error)
        error = tmapi_launch((const void *)tmapi_near_dense_kernel, slots, arguments, stream);
    return error;
}

// Makes the plan of a kernel that calls tmap_near_link. Errors as tmap_near_plan_make.
static inline cudaError_t tmap_near_groups_plan_make(tmap_near_shape set, const void *kernel,
                                                     tmap_near_plan *out) {
    return tmapi_near_plan_for(set, TMAP_NEAR_KIND_GROUPS, 0, kernel, out);
}

// ---- DBSCAN -------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(256)
    tmapi_near_cores_kernel(tmap_u32 n, const tmap_u32 *order, const tmap_u32 *counts,
                            tmap_u32 least, tmap_u32 *cores) {
    const tmap_u64 i = blockIdx.x * 256ull + threadIdx.x;
    if (i >= n) return;
    const tmap_u32 number = order ? order[i] : (tmap_u32)i;
    cores[i] = number < n && counts[number] >= least ? number : 0xffffffffu;
}

static __global__ void __launch_bounds__(256)
    tmapi_near_borders_kernel(tmap_u32 n, const tmap_u32 *cores, tmap_u32 *labels) {
    const tmap_u64 i = blockIdx.x * 256ull + threadIdx.x;
    if (i >= n || labels[i] != TMAP_NEAR_NO_GROUP || cores[i] >= n) return;
    labels[i] = labels[cores[i]];
}

// The order of the core points: those with at least `least` neighbours, themselves not counted
// (scikit-learn's min_samples is one more). counts: of each point, in the order of your array.
// order: as for tmap_near_prepare, or 0. cores: receives n numbers, the order of a set of the core
// points alone. All are device memory. Returns cudaErrorInvalidValue for a null pointer, else the
// error of the launch; n = 0 launches nothing.
static inline cudaError_t tmap_near_cores(tmap_u32 n, const tmap_u32 *order, const tmap_u32 *counts,
                                          tmap_u32 least, tmap_u32 *cores, cudaStream_t stream) {
    const tmapi_launch_shape shape = {((tmap_u64)n + 255) / 256, 256, 0};
    void *arguments[5] = {&n, &order, &counts, &least, &cores};
    if (!n) return cudaSuccess;
    if (!counts || !cores) return cudaErrorInvalidValue;
    return tmapi_launch((const void *)tmapi_near_cores_kernel, shape, arguments, stream);
}

// Gives each point that has no group the group of core point number cores[i], if there is one
// (cores[i] < n); the others remain noise, TMAP_NEAR_NO_GROUP. labels: of tmap_near_groups for the
// set of core points. Errors as tmap_near_cores.
static inline cudaError_t tmap_near_borders(tmap_u32 n, const tmap_u32 *cores, tmap_u32 *labels,
                                            cudaStream_t stream) {
    const tmapi_launch_shape shape = {((tmap_u64)n + 255) / 256, 256, 0};
    void *arguments[3] = {&n, &cores, &labels};
    if (!n) return cudaSuccess;
    if (!cores || !labels) return cudaErrorInvalidValue;
    return tmapi_launch((const void *)tmapi_near_borders_kernel, shape, arguments, stream);
}

#endif

#endif // TMAP_CUDA
#endif
