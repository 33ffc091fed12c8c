// SPDX-License-Identifier: MIT
// near.h: the engine for pairs of points that are near each other: neighbour lists, forces within a
// cutoff, clusters, correlation functions. It is adaptive subdivision (adaptive/ask.h) of the
// triangle of pairs (map.h): points in an order in which neighbours lie together make blocks of
// this triangle that are empty, because their points are far apart, and blocks whose pairs are all
// near.
//
//     tmap_near_each     calls a function for every pair that may be near (this header)
//     tmap_near_fold     accumulates over these pairs and joins to one value (this header)
//     tmap_near_rows     accumulates for each point over its neighbours (near_rows.h)
//     tmap_near_select   lists the pairs for which a function returns non-zero (near_select.h)
//     tmap_near_connect  finds the graph of all neighbours in compressed rows (near_graph.h)
//     tmap_near_nearest  finds the k nearest of each point (near_nearest.h)
//     tmap_near_link     finds groups of points that are linked (near_groups.h)
//
// The functions for a pair are those of pairs.h. You also give a function for two boxes of points:
//
//     static __device__ int reach(void *job, const tmap_near_box *a, const tmap_near_box *b) {
//         return tmap_near_within(a, b, 3, ((search *)job)->radius);
//     }
//     const tmap_near points = {{j.set, 0, sizeof(float), 3}, reach, 0}; // in your kernel
//     tmap_near_fold(&plan, points, add, sum, j.to, &j);
//     ... tmap_near_prepare(shape, points, order, set, stream);
//     ... tmap_near_plan_make(shape, (const void *)count_pairs, &plan);
//     ... tmap_near_launch(&plan, &j, stream);
//
// tmap_near_prepare (near_prepare.h) copies the points, in an order of yours, and finds the boxes
// of each 32, 1024, 32768 and 2^20 points. near_sort.h makes an order (a Hilbert curve); points in
// a good order already need none. Results do not depend on the order, only the time does.
//
//     one leaf of 32 points against all later ones:
//     boxes of 32768   . . # . . . . .     .  cannot be near: reach says NONE
//     boxes of  1024   . # A . #            #  may be near: SOME; its parts are looked at
//     boxes of    32   . # # . . # . #      A  all pairs are near: ALL; a fold with a function
//     points           . # # # . # ...         `bulk` adds them at once, others visit each
//
// A pair is near if your own function says so. Boxes only leave out pairs that it would refuse:
// their bounds are rounded outward. A point with a coordinate that is not finite has no pairs.
#ifndef TMAP_TRIANGLE_NEAR_H
#define TMAP_TRIANGLE_NEAR_H

#include "../forest.h"
#include "near_set.h"

// ---- the plan of facts --------------------------------------------------------------------------

// Kinds of plans: which engine a plan is for.
enum {
    TMAP_NEAR_KIND_EACH = 1, // tmap_near_each, tmap_near_fold, tmap_near_select
    TMAP_NEAR_KIND_ROWS,     // tmap_near_rows
    TMAP_NEAR_KIND_GROUPS,   // tmap_near_link (near_groups.h)
    TMAP_NEAR_KIND_GRAPH,    // tmap_near_connect (near_graph.h)
    TMAP_NEAR_KIND_NEAREST   // tmap_near_nearest (near_nearest.h)
};

// A plan of near pairs. A unit is work for a warp: a leaf of the set, or a part of one; its pairs
// are those of the leaf with later leaves, or with the second set. An item is work for a block: a
// run of units, which its warps take in turn.
typedef struct tmap_near_plan {
    tmap_near_shape set;                    // of the points i
    tmap_u32 others;                        // points of the second set; 0: there is no second set
    tmapi_near_layout mine, other;          // of the set, and of the one with the points j
    tmap_u32 kind;                          // a TMAP_NEAR_KIND
    tmap_u32 phase;                         // of near_groups.h and near_graph.h
    tmap_u32 run, parts;                    // units of an item, of a leaf (a power of two)
    tmap_u64 items, first, count;           // all items; the share: its first item, their number
    const void *kernel;                     // the kernel to launch
    tmap_u32 grid, block, shared, resident; // as in tmap_pairs_plan
} tmap_near_plan;

// Points of a warp's queue: a block of 128 for the warp's lanes, and the next leaf.
#define TMAPI_NEAR_BATCH 128u
#define TMAPI_NEAR_QUEUE (TMAPI_NEAR_BATCH + TMAP_NEAR_LEAF)
#define TMAPI_NEAR_WARPS (TMAP_NEAR_THREADS / 32)

// Bytes of dynamic shared memory of a warp and of a block: a leaf's points and the queue, with the
// points' numbers; the leaf's box; where the warp is.
TMAP_FN tmap_u32 tmapi_near_shared_warp(tmap_u32 d, tmap_u32 size) {
    return (TMAP_NEAR_LEAF + TMAPI_NEAR_QUEUE) * (d * size + 4) +
           (2 * TMAP_PAIRS_D_MAX + 12) * 4; // a multiple of 16
}
TMAP_FN tmap_u32 tmapi_near_shared(tmap_u32 d, tmap_u32 size) {
    return TMAPI_NEAR_WARPS * tmapi_near_shared_warp(d, size);
}

// UNITS units or more keep a device busy; the results of ITEMS items are joined quickly. A
// thread sees fewer than 2^32 pairs of an item.
#ifndef TMAPI_NEAR_UNITS
#define TMAPI_NEAR_UNITS 8192u
#define TMAPI_NEAR_ITEMS 16384u
#endif
#define TMAPI_NEAR_PARTS 64u // of a leaf, at most
#ifndef TMAPI_NEAR_ALONE
#define TMAPI_NEAR_ALONE 16u // boxes of level 1 that a warp takes before others share them
#endif

// Units of a leaf. A graph's blocks have a leaf each.
TMAP_FN tmap_u32 tmapi_near_plan_parts(tmap_u32 kind, tmap_u32 leaves) {
    tmap_u32 parts = 1;
    if (kind == TMAP_NEAR_KIND_NEAREST) return 1;
    if (kind == TMAP_NEAR_KIND_GRAPH) return TMAPI_NEAR_WARPS;
    if (kind == TMAP_NEAR_KIND_ROWS) return leaves < TMAPI_NEAR_UNITS ? TMAPI_NEAR_WARPS : 1;
    while (parts < TMAPI_NEAR_PARTS && leaves * parts < TMAPI_NEAR_UNITS) parts *= 2;
    return parts;
}

TMAP_FN void tmapi_near_plan_items(tmap_near_plan *p) {
    const tmap_u32 leaves = tmapi_near_leaves(p->set.n);
    const tmap_u64 n = p->others ? p->others : p->set.n, most = (1ull << 32) / (n + 16384);
    p->parts = tmapi_near_plan_parts(p->kind, leaves);
    const tmap_u32 units = leaves * p->parts, turn = TMAPI_NEAR_WARPS * TMAPI_NEAR_ITEMS;
    p->run = units / turn + (units % turn != 0);
    if (p->run > most) p->run = (tmap_u32)most;
    p->run = (p->run ? p->run : 1) * TMAPI_NEAR_WARPS;
    p->mine = p->other = tmapi_near_layout_of(p->set);
    if (p->others) {
        tmap_near_shape second = p->set;
        second.n = p->others, p->other = tmapi_near_layout_of(second);
    }
    p->items = units / p->run + (units % p->run != 0);
    p->first = 0, p->count = p->items;
    p->grid = p->count ? (tmap_u32)p->count : 1;
}

// Makes a plan of a kind from facts. shared: bytes of dynamic shared memory; 0: those of the
// queues.
TMAP_FN int tmapi_near_plan_kind(tmap_near_shape set, tmap_u32 kind, tmap_u32 shared,
                                 const tmap_facts *facts, tmap_near_plan *out) {
    tmap_near_plan p;
    if (!out || !facts || !tmapi_near_shape_fits(set)) return TMAP_EINVAL;
    p.set = set, p.others = 0, p.kind = kind, p.phase = 0, p.kernel = 0;
    p.block = TMAP_NEAR_THREADS, p.shared = shared ? shared : tmapi_near_shared(set.d, set.size);
    p.resident = tmap_resident_blocks(facts, p.block, p.shared) * facts->device.processors;
    if (!p.resident) return TMAP_ERANGE;
    tmapi_near_plan_items(&p);
    *out = p;
    return TMAP_OK;
}

// Makes the plan of tmap_near_plan_make from facts, without a CUDA call; out->kernel is 0. Errors
// as there: TMAP_EINVAL, TMAP_ERANGE. Writes *out only on success.
TMAP_FN int tmap_near_plan_of(tmap_near_shape set, const tmap_facts *facts, tmap_near_plan *out) {
    return tmapi_near_plan_kind(set, TMAP_NEAR_KIND_EACH, 0, facts, out);
}

// The number of points below which the engines of pairs.h take less time with your function for a
// pair, where the radius is up to a tenth of the points' extent; it is higher for larger radii.
// kind: TMAP_NEAR_KIND_EACH or _ROWS; else 0. prepared: 0: near pairs begin with unsorted points;
// 1: with a prepared set.
// Source: times on an H200 for 3000 and 30720 uniform points (bench/results), joined by straight
// lines in n for near pairs and in n^2 for all pairs; nothing was measured between.
// Example: tmap_near_least_points(TMAP_NEAR_KIND_EACH, 0): 16384.
TMAP_FN tmap_u32 tmap_near_least_points(tmap_u32 kind, int prepared) {
    if (kind == TMAP_NEAR_KIND_EACH) return prepared ? 8192 : 16384;
    return kind == TMAP_NEAR_KIND_ROWS && !prepared ? 8192 : 0;
}

TMAP_FN int tmapi_near_plan_made(const tmap_near_plan *plan) {
    return plan && plan->kind >= TMAP_NEAR_KIND_EACH && plan->kind <= TMAP_NEAR_KIND_NEAREST;
}

// The next two functions change a plan, without CUDA. They return TMAP_EINVAL for a null pointer, a
// plan that no plan maker has made and a number outside its range, and then leave the plan as it
// was. Without _of they return cudaErrorInvalidValue instead.

// Gives a plan a second set, prepared like the first, with the same d and size. Pairs are then (i,
// j) with i of the first and j of the second set. Sets the share to all items. others: 1 to 2^31;
// 0: back to one set.
TMAP_FN int tmap_near_plan_others_of(tmap_near_plan *plan, tmap_u32 others) {
    if (!tmapi_near_plan_made(plan) || others > 0x80000000u) return TMAP_EINVAL;
    plan->others = others;
    tmapi_near_plan_items(plan);
    return TMAP_OK;
}

// Restricts a plan to `count` of its items, from item `first` on (share.h). If shares cover all
// items without overlap, every pair is visited once, and tmap_near_rows writes every point once.
// first + count: at most plan->items.
TMAP_FN int tmap_near_plan_share_of(tmap_near_plan *plan, tmap_u64 first, tmap_u64 count) {
    if (!tmapi_near_plan_made(plan) || first > plan->items || count > plan->items - first)
        return TMAP_EINVAL;
    plan->first = first, plan->count = count;
    plan->grid = count ? (tmap_u32)count : 1;
    return TMAP_OK;
}

#if TMAP_CUDA

// Your function for two boxes; one of them may be a single point. A pair is visited only where it
// returns SOME or ALL. A function that returns SOME is always right, and slow.
typedef int (*tmap_near_reach)(void *job, const tmap_near_box *a, const tmap_near_box *b);

// Your function for all a->count * b->count pairs of two boxes for which reach returned ALL. It
// does to the accumulator what the function for a pair would have done with each of them.
typedef void (*tmap_near_bulk)(void *job, void *accumulator, const tmap_near_box *a,
                               const tmap_near_box *b);

// Prepared points and how they are near. points.a and .b: sets that tmap_near_prepare has filled,
// at a multiple of 128. The other members are constants of the kernel. bulk: for tmap_near_fold, or
// 0.
typedef struct tmap_near {
    tmap_points points;
    tmap_near_reach reach;
    tmap_near_bulk bulk;
} tmap_near;

// ---- a leaf against all others ------------------------------------------------------------------
//
// A warp has a leaf in shared memory. It looks at the boxes of other points, a lane a box: at all
// of the highest level; at the parts of those that may be near; and so on, down to points. Points
// that may be near the leaf's box enter the warp's queue.
// A full queue is worked off: all its points with all points of the leaf.

// Where a warp is on levels 2 and 3, in shared memory.
typedef struct tmapi_near_walk {
    tmap_u32 some[2], group[2]; // which boxes of the level's group are left; the groups
    tmap_u32 top;               // the next group of level 3
    tmap_u32 turn, unused[2];   // boxes of level 0 that have been dealt
} tmapi_near_walk;

typedef struct tmapi_near {
    const tmap_near_plan *plan;
    tmap_near how;
    void *job, *accumulator;
    const unsigned char *mine, *other; // prepared sets
    unsigned char *rows, *queue;       // shared: the leaf's points, the queue, by coordinates
    tmap_u32 *row_number, *number;     // their numbers
    tmap_near_box *box;                // shared: the leaf's
    tmapi_near_walk *walk;             // shared
    tmap_u32 leaf, have;               // points in the queue
    tmap_u32 me;                       // this warp among all that share the leaf
    tmap_u32 turn;                     // boxes of level 1 that have been dealt to them
    tmap_u32 help, share, round;       // 1: warps of the block share leaves; see tmapi_near_turn
    int deals;                         // a constant, 1: boxes of level 1 are dealt
    int both;                          // a constant, 1: all other points, not only later leaves
    tmap_u32 group[2], some[2];        // of levels 0 and 1, as in tmapi_near_walk
    tmap_u32 count;                    // of the group of level 0: points of the lane's box,
    const unsigned char *at;           // the lane's point of the first box
    // Of near_groups.h, else parent is 0, a constant: the forest, which boxes are one group, the
    // first places of the leaf's parts, as bits, and their root, if they have one; and the looks
    // until the next one that tests the leaf's points.
    tmap_u32 *parent;
    const unsigned char *solid;
    tmap_u32 parts, root, wait;
} tmapi_near;

// 1 if node a is before node b.
TMAP_DEVICE int tmapi_near_earlier(const void *, tmap_u32 a, tmap_u32 b) { return a < b; }

// Unites the leaf with box number b of a level, if it is one group and all of it is near. Returns 0
// if the box needs no visit.
TMAP_DEVICE int tmapi_near_link_box(tmapi_near *s, tmap_u32 level, tmap_u32 b, int all) {
    const tmap_u32 first = b << 5 * (level + 1);
    if (!s->solid[s->plan->mine.level[level] * 32 + b]) return 1;
    if (tmapi_forest_root(s->parent, first) == s->root) return 0;
    if (!all) return 1;
    for (tmap_u32 left = s->parts; left; left &= left - 1)
        tmapi_forest_unite(s->parent, s->leaf * 32 + (tmap_u32)__ffs((int)left) - 1, first,
                           tmapi_near_earlier, 0);
    return 0;
}

// Coordinates of row y of the leaf.
TMAP_DEVICE void tmapi_near_row(const tmapi_near *s, tmap_u32 y, unsigned char *to) {
    const tmap_u32 size = s->how.points.size;
    tmapi_near_copy(s->how.points.d, to, size, s->rows + y * size, TMAP_NEAR_LEAF * size, size);
}

// A look that finds more boxes than MANY may test the leaf's points with them; if half or more of
// the boxes stay, the next WAIT such looks do not.
#define TMAPI_NEAR_MANY 8u
#define TMAPI_NEAR_WAIT 8u

// Which of a group's boxes, `some`, may be near a point of the leaf. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_near_meet(const tmapi_near *s, tmap_u32 level, tmap_u32 group,
                                     tmap_u32 some) {
    const tmap_u32 lane = threadIdx.x % 32, d = s->how.points.d;
    tmapi_pairs_point own;
    tmap_near_box point;
    tmap_u32 kept = 0;
    tmapi_near_row(s, lane, own.bytes);
    tmapi_near_box_make(&point, own.bytes, d, s->how.points.size);
    TMAPI_NO_UNROLL
    for (tmap_u32 left = some; left; left &= left - 1) {
        const tmap_u32 b = group * 32 + (tmap_u32)__ffs((int)left) - 1;
        const tmap_near_box box = tmapi_near_box_of(s->other, &s->plan->other, d, level, b);
        const int meets =
            lane < s->box->count && s->how.reach(s->job, &point, &box) != TMAP_NEAR_NONE;
        if (__any_sync(0xffffffffu, meets)) kept |= left & (0u - left);
    }
    return kept;
}

// Sets what is known of a group of level 0.
TMAP_DEVICE void tmapi_near_open(tmapi_near *s, tmap_u32 group, tmap_u32 some, tmap_u32 count) {
    const tmap_u32 d = s->how.points.d, size = s->how.points.size;
    s->group[0] = group, s->some[0] = some, s->count = count;
    s->at = s->other + group * (tmap_u64)(32 * tmapi_near_leaf_bytes(d, size)) +
            threadIdx.x % 32 * size;
}

// Looks at the boxes of a group, a lane each: those that may be near are left to be visited. Not
// left are boxes that do not exist, are earlier, or were added as a whole. Warps that share the
// boxes of level 0 take them in turn. Collective for the warp.
// For groups: a leaf whose points are far from each other, as where the order leaves a cluster, has
// a box that meets very many boxes which none of its points is near. So where a look finds many,
// the leaf's points are tested now and then; and at each look as long as that leaves less than
// half.
TMAP_DEVICE void tmapi_near_look(tmapi_near *s, tmap_u32 level, tmap_u32 group) {
    const tmap_u32 lane = threadIdx.x % 32, b = group * 32 + lane, first = b << 5 * level;
    const tmap_u32 last = first | ((1u << 5 * level) - 1); // leaves
    const tmap_near_box box =
        tmapi_near_box_in(s->other, &s->plan->other, s->how.points.d, level, group, lane);
    const int after = s->both || s->plan->others ? -1 : (int)s->leaf, later = (int)first > after;
    const int alone = level == 0 || s->plan->parts == 1; // the box is this warp's
    const int says = s->how.reach(s->job, s->box, &box);
    int may = says & 1 && box.count && (int)last > after, all = may && says >> 1 & 1;
    if (s->parent && level <= 1) {
        const tmap_u32 maybe = __ballot_sync(0xffffffffu, may & ~all);
        const tmap_u32 found = (tmap_u32)__popc(maybe);
        if (found > TMAPI_NEAR_MANY && s->wait-- == 0) {
            const tmap_u32 kept = tmapi_near_meet(s, level, group, maybe);
            may &= ~((maybe & ~kept) >> lane);
            s->wait = 2 * (tmap_u32)__popc(kept) > found ? TMAPI_NEAR_WAIT : 0;
        }
    }
    const tmap_u32 dealt = s->deals ? TMAPI_NEAR_WARPS : 1; // warps that are dealt boxes of level 1
    if (level == 0 && s->plan->parts > dealt) {
        tmap_u32 turn = s->walk->turn;
        const tmap_u32 mine = tmapi_warp_place(lane, &turn, may) & (s->plan->parts / dealt - 1);
        __syncwarp(); // all lanes have read it
        if (lane == 0) s->walk->turn = turn;
        may = may && mine == s->me / dealt, all = may && all;
    }
    if (s->how.bulk && later && all) {
        if (level == 0 || s->me == 0) s->how.bulk(s->job, s->accumulator, s->box, &box);
        may = 0;
    }
    if (s->parent && level < 3 && alone && later && may)
        may = tmapi_near_link_box(s, level, b, all);
    const tmap_u32 some = __ballot_sync(0xffffffffu, may);
    if (level == 0)
        tmapi_near_open(s, group, some, box.count);
    else if (level == 1)
        s->group[1] = group, s->some[1] = some;
    else if (lane == 0)
        s->walk->group[level - 2] = group, s->walk->some[level - 2] = some;
    __syncwarp();
}

// Moves the points behind a batch to the front of the queue.
TMAP_DEVICE void tmapi_near_keep(tmapi_near *s) {
    const tmap_u32 lane = threadIdx.x % 32, size = s->how.points.size;
    const tmap_u32 step = TMAPI_NEAR_QUEUE * size;
    __syncwarp();
    unsigned char *to = s->queue + lane * size;
    tmapi_near_copy(s->how.points.d, to, step, to + TMAPI_NEAR_BATCH * size, step, size);
    s->number[lane] = s->number[TMAPI_NEAR_BATCH + lane];
    s->have -= TMAPI_NEAR_BATCH;
    __syncwarp();
}

// Reads the lane's point of box `of` of the group.
TMAP_DEVICE tmap_u32 tmapi_near_read(const tmapi_near *s, tmap_u32 of, tmapi_pairs_point *point) {
    const tmap_u32 lane = threadIdx.x % 32, d = s->how.points.d, size = s->how.points.size;
    const unsigned char *from = s->at + of * (tmap_u64)tmapi_near_leaf_bytes(d, size);
    tmapi_near_copy(d, point->bytes, size, from, TMAP_NEAR_LEAF * size, size);
    if (s->parent) return (s->group[0] * 32 + of) * 32 + lane;
    return *(const tmap_u32 *)(from + 32 * d * size - lane * (size - 4));
}

// Adds the points of the group's boxes that may be near to the queue, or to the accumulator those
// that are near all of the leaf, until the queue is full. Collective for the warp.
TMAP_DEVICE void tmapi_near_push(tmapi_near *s) {
    const tmap_u32 lane = threadIdx.x % 32, d = s->how.points.d, size = s->how.points.size;
    const tmap_near_box own = *s->box; // in registers
    tmapi_pairs_point next;
    tmap_u32 of = (tmap_u32)__ffs((int)s->some[0]) - 1, after = 0;
    if (s->some[0]) after = tmapi_near_read(s, of, &next);
    TMAPI_NO_UNROLL
    while (s->some[0] && s->have < TMAPI_NEAR_BATCH) {
        const tmap_u32 count = __shfl_sync(0xffffffffu, s->count, (int)of), number = after;
        const tmapi_pairs_point point = next;
        tmap_near_box box;
        s->some[0] &= s->some[0] - 1;
        if (s->some[0]) of = (tmap_u32)__ffs((int)s->some[0]) - 1;
        after = tmapi_near_read(s, of, &next); // while the present box is tested
        tmapi_near_box_make(&box, point.bytes, d, size);
        const int says = s->how.reach(s->job, &own, &box);
        const int whole = s->how.bulk && says >> 1 & 1;
        int in = lane < count && says & 1 && !whole;
        if (whole && lane < count) s->how.bulk(s->job, s->accumulator, &own, &box);
        if (s->parent && in) in = tmapi_forest_root(s->parent, number) != s->root;
        const tmap_u32 hits = __ballot_sync(0xffffffffu, in);
        if (in) {
            const tmap_u32 at = s->have + __popc(hits & ((1u << lane) - 1));
            tmapi_near_copy(d, s->queue + at * size, TMAPI_NEAR_QUEUE * size, point.bytes, size,
                            size);
            s->number[at] = number;
        }
        s->have += __popc(hits);
    }
    __syncwarp();
}

// Looks at the next group of the lowest level that has one, unless it is another warp's. Returns 0
// at the end. Collective for the warp.
TMAP_DEVICE int tmapi_near_descend(tmapi_near *s) {
    tmapi_near_walk *w = s->walk;
    if (s->some[1]) {
        const tmap_u32 of = (tmap_u32)__ffs((int)s->some[1]) - 1, turn = s->turn;
        if (s->help && !s->share && turn == TMAPI_NEAR_ALONE) return 0;
        const tmap_u32 parts = s->help ? TMAPI_NEAR_WARPS : s->plan->parts;
        const int mine = ((turn ^ s->me) & (parts - 1) & (TMAPI_NEAR_WARPS - 1)) == 0;
        s->some[1] &= s->some[1] - 1, s->turn = turn + 1;
        if (!s->deals || (s->help ? !s->share || (mine && turn >= TMAPI_NEAR_ALONE) : mine))
            tmapi_near_look(s, 0, s->group[1] * 32 + of);
        return 1;
    }
    const tmap_u32 level = w->some[0] ? 2 : w->some[1] ? 3 : 4;
    tmap_u32 group = w->top;
    if (level == 4 && group >= s->plan->other.high) return 0;
    const tmap_u32 left = level == 4 ? 0 : w->some[level - 2];
    if (level < 4) group = w->group[level - 2] * 32 + (tmap_u32)__ffs((int)left) - 1;
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        if (level == 4)
            w->top = group + 1;
        else
            w->some[level - 2] = left & (left - 1);
    }
    tmapi_near_look(s, level - 1, group);
    return 1;
}

// Continues through all points that may be near the leaf until the queue is full. Returns how many
// points at its beginning are to be worked off before the next call: 0 at the end. Collective for
// the warp.
TMAP_DEVICE tmap_u32 tmapi_near_next(tmapi_near *s) {
    if (s->have >= TMAPI_NEAR_BATCH) tmapi_near_keep(s);
    TMAPI_NO_UNROLL
    do {
        tmapi_near_push(s);
        if (s->have >= TMAPI_NEAR_BATCH) return TMAPI_NEAR_BATCH;
    } while (tmapi_near_descend(s));
    const tmap_u32 rest = s->have;
    s->have = 0;
    return rest;
}

// Takes `per` points of each lane, a constant, from point `first` of the queue on. Returns which of
// them are among the first `many`: bit c for point c.
TMAP_DEVICE tmap_u32 tmapi_near_fetch(const tmapi_near *s, tmap_u32 first, tmap_u32 per,
                                      tmap_u32 many, tmapi_pairs_point *points, tmap_u32 *numbers) {
    const tmap_u32 size = s->how.points.size;
    tmap_u32 exists = 0;
#pragma unroll
    for (tmap_u32 c = 0; c < per; ++c) {
        const tmap_u32 at = first + c * 32 + threadIdx.x % 32;
        if (at < many) exists |= 1u << c;
        tmapi_near_copy(s->how.points.d, points[c].bytes, size, s->queue + at * size,
                        TMAPI_NEAR_QUEUE * size, size);
        numbers[c] = s->number[at];
    }
    return exists;
}

// 1 in the warp that forms the pairs of a leaf with itself, which are not in the queue.
TMAP_DEVICE int tmapi_near_own(const tmapi_near *s) {
    return !s->both && !s->plan->others && (s->leaf & (s->plan->parts - 1)) == s->me && !s->share;
}

// Sets up what all leaves of a launch share. help, a constant: 1: the engine takes units by
// tmapi_near_turn. Collective for nothing.
TMAP_DEVICE tmapi_near tmapi_near_begin(const tmap_near_plan *plan, tmap_near how,
                                        void *accumulator, void *job, int help) {
    const tmap_u32 bytes = how.points.d * how.points.size, warp = threadIdx.x / 32;
    unsigned char *memory =
        tmapi_pairs_memory() + warp * tmapi_near_shared_warp(how.points.d, how.points.size);
    tmapi_near s;
    s.plan = plan, s.how = how, s.job = job, s.accumulator = accumulator;
    s.mine = (const unsigned char *)how.points.a;
    s.other = (const unsigned char *)(plan->others ? how.points.b : how.points.a);
    s.rows = memory, s.queue = memory + TMAP_NEAR_LEAF * bytes;
    s.row_number = (tmap_u32 *)(s.queue + TMAPI_NEAR_QUEUE * bytes);
    s.number = s.row_number + TMAP_NEAR_LEAF;
    s.walk = (tmapi_near_walk *)(s.number + TMAPI_NEAR_QUEUE);
    s.box = (tmap_near_box *)(s.walk + 1);
    s.leaf = s.have = s.turn = s.me = s.count = s.wait = 0, s.both = 0;
    s.group[0] = s.group[1] = s.some[0] = s.some[1] = 0;
    s.deals = help, s.help = help && plan->parts == 1, s.share = s.round = 0, s.at = 0;
    s.parent = 0, s.solid = 0, s.parts = 0, s.root = 0;
    return s;
}

// The leaf of unit k of an item, or one behind all. If the block's warps help each other, the
// item's leaves are far apart, because leaves with much work lie together.
TMAP_DEVICE tmap_u32 tmapi_near_unit(tmapi_near *s, tmap_u32 item, tmap_u32 k) {
    const tmap_u32 parts = s->plan->parts;
    if (s->help) return k * (tmap_u32)s->plan->items + item;
    const tmap_u32 unit = item * s->plan->run + k;
    s->me = unit & (parts - 1);
    return unit >> __popc(parts - 1);
}

// Takes unit k of an item, if it exists: its leaf's points into shared memory. Collective for the
// warp.
TMAP_DEVICE int tmapi_near_take(tmapi_near *s, tmap_u32 item, tmap_u32 k) {
    const tmap_u32 size = s->how.points.size, lane = threadIdx.x % 32;
    const tmap_u32 leaf = tmapi_near_unit(s, item, k);
    tmapi_pairs_point point;
    s->have = s->turn = s->some[0] = s->some[1] = 0;
    if (leaf >= tmapi_near_leaves(s->plan->set.n)) return 0;
    __syncwarp(); // the last leaf has been worked off
    s->leaf = leaf, s->wait = TMAPI_NEAR_WAIT;
    if (lane == 0) { // at the only box of level 2, or at the groups of level 3
        const tmapi_near_layout *o = &s->plan->other;
        s->walk->some[0] = 0, s->walk->some[1] = o->high ? 0 : o->top, s->walk->group[1] = 0;
        s->walk->top = s->both || s->plan->others ? 0 : leaf >> 20; // earlier ones: earlier leaves
        s->walk->turn = 0;
    }
    // All loads before the first store.
    const tmap_u32 d = s->how.points.d, last = lane < 2 * d ? lane : 2 * d;
    const tmap_u32 word = tmapi_near_box_word(s->mine, &s->plan->mine, d, leaf, last);
    const tmap_u32 number = tmapi_near_number(s->mine, s->how.points, leaf, lane);
    tmapi_near_point(s->mine, s->how.points, leaf, lane, point.bytes);
    tmapi_near_copy(d, s->rows + lane * size, TMAP_NEAR_LEAF * size, point.bytes, size, size);
    s->row_number[lane] = number;
    float *bounds = lane % 2 ? s->box->high : s->box->low;
    if (lane < 2 * d) bounds[lane / 2] = __uint_as_float(word);
    if (lane == 2 * d) s->box->count = word;
    __syncwarp();
    return 1;
}

// Turns of an item: eight for each unit of a warp. In the first turn the warp takes the unit, with
// TMAPI_NEAR_ALONE boxes of level 1 or fewer. In the next four turns the block's warps share the
// other boxes of their units: share 1 goes on with the warp's own unit. Without help a unit has the
// first turn alone: q steps by tmapi_near_turns. Returns 0 if the turn has no work. Collective for
// the block.
TMAP_DEVICE int tmapi_near_turn(tmapi_near *s, tmap_u32 item, tmap_u32 q) {
    __shared__ unsigned char more[2][TMAPI_NEAR_WARPS]; // of these units and, in turn, of the next
    const tmap_u32 warp = threadIdx.x / 32, share = q % 8;
    const tmap_u32 of = share ? (warp + share - 1) % TMAPI_NEAR_WARPS : warp;
    if (share == 1) {
        s->round ^= 1;
        if (threadIdx.x % 32 == 0) more[s->round][warp] = s->some[1] != 0;
        __syncthreads();
    }
    if (share > TMAPI_NEAR_WARPS || (share && !more[s->round][of])) return 0;
    s->share = share, s->me = share ? share - 1 : 0;
    if (share == 1) return 1;
    return tmapi_near_take(s, item, q / 8 * TMAPI_NEAR_WARPS + of) && s->box->count;
}
TMAP_DEVICE tmap_u32 tmapi_near_turns(const tmapi_near *s) { return s->help ? 1 : 8; }

// 1 if a call of an engine of this kind fits the plan and the launch (only with -DTMAP_CHECK).
TMAP_DEVICE int tmapi_near_check(const tmap_near_plan *plan, tmap_points points, tmap_u32 kind,
                                 const char *function) {
    return tmapi_pairs_check_plan(plan->kind, kind, function) &&
           TMAPI_CHECK(points.d == plan->set.d, function, "points.d is not the plan's d") &&
           TMAPI_CHECK(points.size == plan->set.size, function, "points.size is not the plan's") &&
           TMAPI_CHECK(points.b || !plan->others, function, "there is no second set, points.b") &&
           TMAPI_CHECK(blockDim.x == plan->block, function, "blocks have other threads");
}

// The sum of `hits`, a number of each warp, over the warps of all tiles before t and over those of
// tile t before this one. sums: shared, for each warp and one more. Collective, with barriers.
TMAP_DEVICE tmap_u64 tmapi_near_scan(tmap_u64 *sums, tmap_u32 warps, tmap_u64 *words, tmap_u64 t,
                                     tmap_u64 hits) {
    const tmap_u32 warp = threadIdx.x / 32;
    tmap_u64 sum = 0;
    if (threadIdx.x % 32 == 0) sums[warp] = hits;
    __syncthreads();
    if (warp == 0) {
        for (tmap_u32 w = 0; w < warps; ++w) sum += sums[w];
        sum = tmapi_fold_before(words, t, sum);
        if (threadIdx.x == 0) sums[warps] = sum;
    }
    __syncthreads();
    sum = sums[warps];
    for (tmap_u32 w = 0; w < warp; ++w) sum += sums[w];
    return sum;
}

// ---- a function on every pair -------------------------------------------------------------------

// Visits the pairs of `count` rows of the leaf from row y on, a constant, with four points of each
// lane.
TMAP_DEVICE void tmapi_near_visit_rows(const tmapi_near *s, tmap_pairs_visit visit, tmap_u32 y,
                                       tmap_u32 count, const tmapi_pairs_point *points,
                                       const tmap_u32 *numbers) {
    const tmap_u32 size = s->how.points.size, d = s->how.points.d;
    tmapi_value vector[TMAP_PAIRS_D_MAX];
    tmapi_near_copy(d, vector, 16, s->rows + y * size, TMAP_NEAR_LEAF * size, count * size);
#pragma unroll
    for (tmap_u32 r = 0; r < count; ++r) {
        tmapi_pairs_row row;
        tmap_pair pair;
        pair.i = s->row_number[y + r], row.set = 0;
        tmapi_near_copy(d, row.bytes, size, vector->bytes + r * size, 16, size);
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c) {
            pair.j = numbers[c];
            visit(s->job, s->accumulator, pair, row.bytes, points[c].bytes);
        }
    }
}

// Visits the pairs of a full queue, four points a lane, with all rows.
TMAP_DEVICE void tmapi_near_visit_full(const tmapi_near *s, tmap_pairs_visit visit) {
    const tmap_u32 step = 16 / s->how.points.size, rows = s->box->count;
    tmapi_pairs_point points[4];
    tmap_u32 numbers[4], y = 0;
    tmapi_near_fetch(s, 0, 4, TMAPI_NEAR_BATCH, points, numbers);
    TMAPI_NO_UNROLL
    for (; y + step <= rows; y += step) tmapi_near_visit_rows(s, visit, y, step, points, numbers);
    TMAPI_NO_UNROLL
    for (; y < rows; ++y) tmapi_near_visit_rows(s, visit, y, 1, points, numbers);
}

// Visits the pairs of the lane's row with `many` points of the queue from point q on, at most four
// of floats or two of doubles.
TMAP_DEVICE void tmapi_near_visit_some(const tmapi_near *s, tmap_pairs_visit visit,
                                       const tmapi_pairs_row *row, tmap_u32 q, tmap_u32 many) {
    const tmap_u32 size = s->how.points.size, d = s->how.points.d;
    tmapi_value vector[TMAP_PAIRS_D_MAX];
    tmap_pair pair;
    pair.i = s->row_number[threadIdx.x % 32];
    tmapi_near_copy(d, vector, 16, s->queue + q * size, TMAPI_NEAR_QUEUE * size, 16);
#pragma unroll
    for (tmap_u32 r = 0; r < 16 / size; ++r) {
        tmapi_pairs_point point;
        pair.j = s->number[q + r];
        tmapi_near_copy(d, point.bytes, size, vector->bytes + r * size, 16, size);
        if (r < many) visit(s->job, s->accumulator, pair, row->bytes, point.bytes);
    }
}

// Visits the pairs of the lane's row with the first `many` points of the queue.
TMAP_DEVICE void tmapi_near_visit_few(const tmapi_near *s, tmap_pairs_visit visit, tmap_u32 many) {
    const tmap_u32 step = 16 / s->how.points.size;
    tmapi_pairs_row row;
    tmap_u32 q = 0;
    if (threadIdx.x % 32 >= s->box->count) return;
    tmapi_near_row(s, threadIdx.x % 32, row.bytes), row.set = 0;
    TMAPI_NO_UNROLL
    for (; q + step <= many; q += step) tmapi_near_visit_some(s, visit, &row, q, step);
    if (q < many) tmapi_near_visit_some(s, visit, &row, q, many - q);
}

// Visits the pairs of the lane's row and row y.
TMAP_DEVICE void tmapi_near_visit_row(const tmapi_near *s, tmap_pairs_visit visit,
                                      const tmapi_pairs_row *row, tmap_u32 y) {
    const tmap_pair pair = {s->row_number[threadIdx.x % 32], s->row_number[y]};
    tmapi_pairs_point other;
    tmapi_near_row(s, y, other.bytes);
    visit(s->job, s->accumulator, pair, row->bytes, other.bytes);
}

// Visits the pairs of a leaf with itself: of each row with the half of the rows that follow it; the
// first row follows the last.
TMAP_DEVICE void tmapi_near_visit_own(const tmapi_near *s, tmap_pairs_visit visit) {
    const tmap_u32 lane = threadIdx.x % 32, count = s->box->count, half = count / 2;
    tmapi_pairs_row row;
    tmap_u32 y = lane;
    if (lane >= count) return;
    tmapi_near_row(s, lane, row.bytes), row.set = 0;
    TMAPI_UNROLL_4
    for (tmap_u32 k = 1; 2 * k < count; ++k) {
        y = y + 1 < count ? y + 1 : 0;
        tmapi_near_visit_row(s, visit, &row, y);
    }
    if (count % 2 == 0 && lane < half) tmapi_near_visit_row(s, visit, &row, lane + half);
}

// Visits all pairs of a leaf and what may be near it.
TMAP_DEVICE void tmapi_near_leaf(tmapi_near *s, tmap_pairs_visit visit) {
    TMAPI_NO_UNROLL
    for (tmap_u32 many; (many = tmapi_near_next(s)) != 0;) {
        if (many == TMAPI_NEAR_BATCH)
            tmapi_near_visit_full(s, visit);
        else
            tmapi_near_visit_few(s, visit, many);
    }
    if (tmapi_near_own(s)) tmapi_near_visit_own(s, visit);
}

// Calls visit(job, 0, pair, a, b) once for every pair of the plan's share that reach does not rule
// out, in no particular order. pair: the numbers of the points in your array, i of a and j of b;
// with one set i may be the larger one. It suits results that you add with atomics. All threads of
// all blocks call it, in blocks of TMAP_NEAR_THREADS threads. visit: a __device__ function without
// barriers or collectives. plan: of tmap_near_plan_make.
// Errors: none are returned; a program compiled with -DTMAP_CHECK stops if the call does not fit
// the plan.
// Cost: with n points in a good order, for each leaf some boxes of each level that it meets, then
// visit for the pairs of the leaf's points with those that may be near the leaf's box.
TMAP_DEVICE void tmap_near_each(const tmap_near_plan *plan, tmap_near points,
                                tmap_pairs_visit visit, void *job) {
    points.bulk = 0;
    tmapi_near s = tmapi_near_begin(plan, points, 0, job, 1);
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_EACH, "tmap_near_each")) return;
    TMAPI_NO_UNROLL
    for (tmap_u32 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        TMAPI_NO_UNROLL
        for (tmap_u32 q = 0; q < 2 * plan->run; q += tmapi_near_turns(&s))
            if (tmapi_near_turn(&s, (tmap_u32)plan->first + t, q)) tmapi_near_leaf(&s, visit);
    }
    if (s.help) __syncthreads(); // before a call that follows writes what the last turns read
}

#endif // TMAP_CUDA

// ---- all pairs to one value ---------------------------------------------------------------------

// The results of items are joined in groups of this many, and then those of the groups.
#define TMAPI_NEAR_JOIN 128u

TMAP_FN tmap_u64 tmapi_near_joins(const tmap_near_plan *plan) {
    return (plan->count + TMAPI_NEAR_JOIN - 1) / TMAPI_NEAR_JOIN;
}

// Bytes at the beginning of the workspace of tmap_near_fold that must be zero before its first
// launch. Every launch leaves them zero.
TMAP_FN tmap_u64 tmap_near_fold_clear(const tmap_near_plan *plan) {
    return (8 * (1 + tmapi_near_joins(plan)) + 15) / 16 * 16;
}

// Bytes of the workspace of tmap_near_fold for accumulators of `bytes` bytes. Compute both numbers
// after the last change of the plan. Example: 10^6 points, 8 bytes: 128048.
TMAP_FN tmap_u64 tmap_near_fold_bytes(const tmap_near_plan *plan, tmap_u32 bytes) {
    return tmap_near_fold_clear(plan) + (plan->count + tmapi_near_joins(plan)) * bytes;
}

#if TMAP_CUDA

// Accumulates add(job, accumulator, pair, a, b) over all pairs of the plan's share that reach does
// not rule out, and writes an accumulator to to.result. Where points.bulk is not 0, it gets the
// boxes for which reach returns ALL. fold.join(job, accumulator, &other) joins accumulators. You
// join the results of several shares. to.workspace: tmap_near_fold_bytes bytes. All threads of all
// blocks call it, once in a launch. The rest is as for tmap_near_each.
// Exactness: the result is the same in every bit in every run and with every grid. A thread's
// accumulator begins again at fold.zero with each item and sees fewer than 2^32 pairs, without
// those of bulk.
TMAP_DEVICE void tmap_near_fold(const tmap_near_plan *plan, tmap_near points, tmap_pairs_visit add,
                                tmap_fold fold, tmap_fold_to to, void *job) {
    __shared__ tmapi_fold_words scratch[TMAPI_NEAR_WARPS];
    tmapi_fold_words sum;
    tmapi_near s = tmapi_near_begin(plan, points, &sum, job, 1);
    const tmap_u32 bytes = fold.bytes;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_EACH, "tmap_near_fold") ||
        !tmapi_fold_check(fold, "tmap_near_fold"))
        return;
    if (!plan->count && blockIdx.x == 0 && threadIdx.x == 0)
        tmapi_fold_move(to.result, fold.zero, bytes);
    TMAPI_NO_UNROLL
    for (tmap_u32 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        tmapi_fold_move(&sum, fold.zero, bytes);
        TMAPI_NO_UNROLL
        for (tmap_u32 q = 0; q < 2 * plan->run; q += tmapi_near_turns(&s))
            if (tmapi_near_turn(&s, (tmap_u32)plan->first + t, q)) tmapi_near_leaf(&s, add);
        tmap_fold_block(&sum, fold, job, scratch);
        const tmap_u64 group = t / TMAPI_NEAR_JOIN, from = group * TMAPI_NEAR_JOIN;
        const tmap_u64 left = plan->count - from, groups = tmapi_near_joins(plan);
        const tmap_u64 many = left < TMAPI_NEAR_JOIN ? left : TMAPI_NEAR_JOIN;
        unsigned char *part = (unsigned char *)to.workspace + tmap_near_fold_clear(plan);
        unsigned char *joined = part + plan->count * bytes;
        if (threadIdx.x == 0) tmapi_fold_move(part + t * bytes, &sum, bytes);
        if (!tmapi_fold_last((tmap_u64 *)to.workspace + 1 + group, many)) continue;
        tmapi_fold_parts(&sum, fold.zero, bytes, fold.join, job, scratch, part + from * bytes,
                         many);
        if (threadIdx.x == 0) tmapi_fold_move(joined + group * bytes, &sum, bytes);
        __syncthreads(); // scratch
        if (!tmapi_fold_last((tmap_u64 *)to.workspace, groups)) continue;
        tmapi_fold_parts(&sum, fold.zero, bytes, fold.join, job, scratch, joined, groups);
        if (threadIdx.x == 0) tmapi_fold_move(to.result, &sum, bytes);
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- plans and launches -------------------------------------------------------------------------

// Makes a plan of a kind for a kernel, as tmapi_near_plan_kind does from facts.
static inline cudaError_t tmapi_near_plan_for(tmap_near_shape set, tmap_u32 kind, tmap_u32 shared,
                                              const void *kernel, tmap_near_plan *out) {
    tmap_near_plan p;
    tmap_facts facts;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmapi_near_plan_kind(set, kind, shared, &facts, &p));
    if (!error) error = tmapi_launch_shared(kernel, p.shared);
    if (!error) p.kernel = kernel, *out = p;
    return error;
}

// Makes the plan of a kernel that calls tmap_near_each, tmap_near_fold or tmap_near_select for a
// prepared set. kernel: a __global__ function of TMAP_NEAR_THREADS threads, cast to const void *. A
// plan is for the device that is current here, and serves any number of launches on it, with any
// set of this shape.
// Returns cudaErrorInvalidValue for a null pointer or a number outside its range,
// cudaErrorInvalidConfiguration if no block of the kernel fits the device, else the error of a CUDA
// call. Writes *out only on success.
static inline cudaError_t tmap_near_plan_make(tmap_near_shape set, const void *kernel,
                                              tmap_near_plan *out) {
    return tmapi_near_plan_for(set, TMAP_NEAR_KIND_EACH, 0, kernel, out);
}

// The changes of a plan above, with an error of CUDA.
static inline cudaError_t tmap_near_plan_others(tmap_near_plan *plan, tmap_u32 others) {
    return tmapi_launch_error(tmap_near_plan_others_of(plan, others));
}
static inline cudaError_t tmap_near_plan_share(tmap_near_plan *plan, tmap_u64 first,
                                               tmap_u64 count) {
    return tmapi_launch_error(tmap_near_plan_share_of(plan, first, count));
}

// Launches the plan's kernel, whose parameters are the plan and one struct of your own, both by
// value. job: the address of that struct. The launch can be captured in a graph.
// Returns cudaErrorInvalidValue for a null pointer and for a plan that no plan maker has made, else
// the launch's own error. It neither reports nor clears an error that an earlier call left.
static inline cudaError_t tmap_near_launch(const tmap_near_plan *plan, tmap_job job,
                                           cudaStream_t stream) {
    if (!tmapi_near_plan_made(plan) || !plan->kernel || !job) return cudaErrorInvalidValue;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

#endif

#endif
