// SPDX-License-Identifier: MIT
// near.h: the engine for pairs of points that are near each other: neighbour lists, forces within a
// cutoff, clusters, correlation functions. It is adaptive subdivision (adaptive/ask.h) of the
// triangle of pairs (map.h): points in an order in which neighbours lie together make blocks of this
// triangle that are empty, because their points are far apart, and blocks whose pairs are all near.
//
//     tmap_near_each     calls a function for every pair that may be near
//     tmap_near_fold     accumulates over these pairs and joins to one value
//     tmap_near_rows     accumulates for each point over its neighbours
//     tmap_near_select   lists the pairs for which a function returns non-zero
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
// tmap_near_prepare (near_prepare.h) copies the points, in an order of yours, and finds the boxes of each 32, 1024
// and 32768 points. near_sort.h makes an order (a Hilbert curve); points that lie in a good order
// already need none. Results do not depend on the order, only the time does.
//
//     one leaf of 32 points against all later ones:
//     boxes of 32768    . . # . . . . .          .  cannot be near: reach says NONE
//     boxes of  1024    . # A . #                 #  may be near: SOME; its parts are looked at
//     boxes of    32    . # # . . # . #           A  all pairs are near: ALL; a fold with a function
//     points            . # # # . # ...              `bulk` adds them at once, others visit each
//
// A pair is near if your own function says so. Boxes only leave out pairs that it would refuse:
// their bounds are rounded outward. A point with a coordinate that is not finite has no pairs.
#ifndef TMAP_TRIANGLE_NEAR_H
#define TMAP_TRIANGLE_NEAR_H

#include "near_set.h"
#include "pairs_select.h"

// ---- the plan of facts --------------------------------------------------------------------------

// Kinds of plans: which engine a plan is for.
enum {
    TMAP_NEAR_KIND_EACH = 1, // tmap_near_each, tmap_near_fold, tmap_near_select
    TMAP_NEAR_KIND_ROWS,     // tmap_near_rows
    TMAP_NEAR_KIND_NEAREST   // tmap_near_nearest (near_nearest.h)
};

// A plan of near pairs. An item is a run of leaves of the set, or a part of one leaf if there are
// few; its pairs are those of these leaves with later leaves, or with the second set.
typedef struct tmap_near_plan {
    tmap_near_shape set;                    // of the points i
    tmap_u32 others;                        // points of the second set; 0: there is no second set
    tmapi_near_layout mine, other;          // of the set, and of the one with the points j
    tmap_u32 kind;                          // a TMAP_NEAR_KIND
    tmap_u32 run, parts;                    // leaves of an item; items of a leaf, a power of two
    tmap_u64 items, first, count;           // all items; the share: its first item, their number
    const void *kernel;                     // the kernel to launch
    tmap_u32 grid, block, shared, resident; // as in tmap_pairs_plan
} tmap_near_plan;

// Points of a warp's queue: a block of 128 for the warp's lanes, and the next leaf.
#define TMAPI_NEAR_BATCH 128u
#define TMAPI_NEAR_QUEUE (TMAPI_NEAR_BATCH + TMAP_NEAR_LEAF)
#define TMAPI_NEAR_WARPS (TMAP_NEAR_THREADS / 32)

// Bytes of dynamic shared memory: the leaf's points and the queues, with the points' numbers.
TMAP_FN tmap_u32 tmapi_near_shared(tmap_u32 d, tmap_u32 size) {
    return (TMAP_NEAR_LEAF + TMAPI_NEAR_WARPS * TMAPI_NEAR_QUEUE) * (d * size + 4);
}

// Items of a plan: so many that a device is busy, so few that their results are joined quickly.
#ifndef TMAPI_NEAR_ITEMS
#define TMAPI_NEAR_ITEMS      2048u
#define TMAPI_NEAR_ITEMS_MOST 16384u
#endif
#define TMAPI_NEAR_PARTS 16u // a leaf's

TMAP_FN void tmapi_near_plan_items(tmap_near_plan *p) {
    const tmap_u32 leaves = tmapi_near_leaves(p->set.n);
    p->run = leaves / TMAPI_NEAR_ITEMS_MOST + (leaves % TMAPI_NEAR_ITEMS_MOST != 0);
    if (!p->run) p->run = 1;
    if (p->kind == TMAP_NEAR_KIND_NEAREST) // a leaf for each warp
        p->run = (p->run + TMAPI_NEAR_WARPS - 1) / TMAPI_NEAR_WARPS * TMAPI_NEAR_WARPS;
    p->parts = 1;
    p->mine = p->other = tmapi_near_layout_of(p->set);
    if (p->others) {
        tmap_near_shape second = p->set;
        second.n = p->others, p->other = tmapi_near_layout_of(second);
    }
    if (p->kind == TMAP_NEAR_KIND_EACH)
        while (p->parts < TMAPI_NEAR_PARTS && leaves * p->parts < TMAPI_NEAR_ITEMS) p->parts *= 2;
    p->items = (tmap_u64)((leaves + p->run - 1) / p->run) * p->parts;
    p->first = 0, p->count = p->items;
    p->grid = p->count ? (tmap_u32)p->count : 1;
}

// Makes the plan of tmap_near_plan_make from facts, without a CUDA call; out->kernel is 0. Errors as
// there: TMAP_EINVAL, TMAP_ERANGE. Writes *out only on success.
TMAP_FN int tmap_near_plan_of(tmap_near_shape set, const tmap_facts *facts, tmap_near_plan *out) {
    tmap_near_plan p;
    if (!out || !facts || !tmapi_near_shape_fits(set)) return TMAP_EINVAL;
    p.set = set, p.others = 0, p.kind = TMAP_NEAR_KIND_EACH, p.kernel = 0;
    p.block = TMAP_NEAR_THREADS, p.shared = tmapi_near_shared(set.d, set.size);
    p.resident = tmap_resident_blocks(facts, p.block, p.shared) * facts->device.processors;
    if (!p.resident) return TMAP_ERANGE;
    tmapi_near_plan_items(&p);
    *out = p;
    return TMAP_OK;
}

// The same for tmap_near_rows, with accumulators of `bytes` bytes.
TMAP_FN int tmap_near_rows_plan_of(tmap_near_shape set, tmap_u32 bytes, const tmap_facts *facts,
                                   tmap_near_plan *out) {
    tmap_near_plan p;
    const int code = tmap_near_plan_of(set, facts, &p);
    if (code) return code;
    if (bytes < 4 || bytes > TMAP_FOLD_BYTES_MAX || bytes % 4) return TMAP_EINVAL;
    p.kind = TMAP_NEAR_KIND_ROWS;
    if (p.shared < TMAP_NEAR_THREADS * bytes) p.shared = TMAP_NEAR_THREADS * bytes;
    p.resident = tmap_resident_blocks(facts, p.block, p.shared) * facts->device.processors;
    if (!p.resident) return TMAP_ERANGE;
    tmapi_near_plan_items(&p);
    *out = p;
    return TMAP_OK;
}

TMAP_FN int tmapi_near_plan_made(const tmap_near_plan *plan) {
    return plan && plan->kind >= TMAP_NEAR_KIND_EACH && plan->kind <= TMAP_NEAR_KIND_NEAREST;
}

// The next two functions change a plan, without CUDA. They return TMAP_EINVAL for a null pointer, a
// plan that no plan maker has made and a number outside its range, and then leave the plan as it
// was. Without _of they return cudaErrorInvalidValue instead.

// Gives a plan a second set, prepared like the first, with the same d and size. Pairs are then (i,
// j) with i of the first and j of the second set. Sets the share to all items. others: 1 to 2^31; 0:
// back to one set.
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

// Your function for all a->count * b->count pairs of two boxes for which reach returned ALL. It does
// to the accumulator what the function for a pair would have done with each of them.
typedef void (*tmap_near_bulk)(void *job, void *accumulator, const tmap_near_box *a,
                               const tmap_near_box *b);

// Your function for a point and one that may be near it, and the accumulator of the first. It is the
// function of tmap_pairs_rows: what it adds to to_j is dropped, and it is called once more with both
// points exchanged.
typedef void (*tmap_near_give)(void *job, tmap_pair pair, const void *a, const void *b, void *to_i,
                               void *to_j);

// Where a list is written; all pointers are device memory. Numbers have 4 or 8 bytes each, the
// choice's, as graph libraries have them (edge_index).
typedef struct tmap_near_list {
    void *i, *j;       // `capacity` numbers each, at a multiple of their size
    void *values;      // `capacity` values at a multiple of their size; 0: no values
    tmap_u64 capacity; // the most pairs that are written; may be 0
    tmap_u64 *count;   // receives the number of pairs, which may exceed the capacity
    void *workspace;   // tmap_near_select_bytes bytes at a multiple of 8
} tmap_near_list;

// What is listed; constants of the kernel.
typedef struct tmap_near_choice {
    tmap_pairs_choose choose; // as in tmap_pairs_choice
    tmap_u32 bytes;           // of a value: 0, 4 or 8
    tmap_u32 number;          // bytes of a number: 4 or 8
    int both;                 // 1: (i, j) and (j, i); 0: each pair once, i < j
} tmap_near_choice;

// Prepared points and how they are near. points.a and .b: sets that tmap_near_prepare has filled, at
// a multiple of 128. The other members are constants of the kernel. bulk: for tmap_near_fold, or 0.
typedef struct tmap_near {
    tmap_points points;
    tmap_near_reach reach;
    tmap_near_bulk bulk;
} tmap_near;

// ---- a leaf against all others ------------------------------------------------------------------
//
// A block has a leaf, `mine`, in shared memory. Its warps look at the boxes of other points, a lane a
// box: at all boxes of 32768 points; at the parts of those that may be near; at the leaves of these;
// and at the points of these. Points that may be near the leaf's box enter the warp's queue. A full
// queue is worked off: all its points with all points of the leaf.

typedef struct tmapi_near {
    const tmap_near_plan *plan;
    tmap_near how;
    void *job, *accumulator;
    tmap_pairs_visit visit; // of the engine that has one
    tmap_near_give give;
    tmap_near_choice choice;
    const tmap_near_list *list;
    const unsigned char *mine, *other; // prepared sets
    unsigned char *rows, *queue; // shared: the leaf's points, the warp's queue, by coordinates
    tmap_u32 *row_number, *number;
    tmap_near_box *box;        // of the leaf; outside, because nvcc keeps no array of a struct
                               // in registers whose other members it must know first
    tmap_u32 leaf, have, turn; // points in the queue; boxes that have been dealt
    tmap_u32 me, warps;        // this warp among all that share the leaf
    int both;                  // a constant, 1: all other points, not only later leaves
    int writes;                // of a list: 1 after its hits have been counted
    tmap_u64 at;               // hits of the warp so far, then its position in the list
} tmapi_near;

// Boxes are dealt to the warps at this level: at level 0 if several blocks share a leaf.
TMAP_DEVICE tmap_u32 tmapi_near_dealt(const tmapi_near *s) { return s->plan->parts > 1 ? 0 : 1; }

// What reach says of the lane's box, number b of its level. above: what it said of the larger box.
// NONE for boxes that do not exist, are earlier, are those of another warp, or were added as a whole.
TMAP_DEVICE int tmapi_near_look(tmapi_near *s, tmap_u32 level, tmap_u32 b, int above,
                                tmap_u32 *count) {
    const tmap_u32 span = 1u << 5 * level, dealt = tmapi_near_dealt(s);
    const tmap_near_box box =
        tmapi_near_box_of(s->other, &s->plan->other, s->how.points.d, level, b);
    const int later = s->both || s->plan->others || b * span > s->leaf;
    int says = TMAP_NEAR_NONE;
    if (box.count && (later || (b + 1) * span > s->leaf + 1))
        says = above == TMAP_NEAR_ALL ? TMAP_NEAR_ALL : s->how.reach(s->job, s->box, &box);
    if (level == dealt) {
        const tmap_u32 hits = __ballot_sync(0xffffffffu, says != TMAP_NEAR_NONE);
        const tmap_u32 turn = s->turn + __popc(hits & ((1u << threadIdx.x % 32) - 1));
        if ((turn & (s->warps - 1)) != s->me) says = TMAP_NEAR_NONE;
        s->turn += __popc(hits);
    }
    if (s->how.bulk && level <= dealt && later && says == TMAP_NEAR_ALL) {
        s->how.bulk(s->job, s->accumulator, s->box, &box);
        says = TMAP_NEAR_NONE;
    }
    *count = box.count;
    return says;
}

// Coordinates of row y of the leaf.
TMAP_DEVICE void tmapi_near_row(const tmapi_near *s, tmap_u32 y, tmapi_pairs_point *to) {
    const tmap_u32 size = s->how.points.size;
#pragma unroll
    for (tmap_u32 k = 0; k < s->how.points.d; ++k)
        tmapi_value_copy(to->bytes + k * size, s->rows + (k * TMAP_NEAR_LEAF + y) * size, size);
}

// Visits the pairs of `count` rows of the leaf from row y on, a constant, with `per` points of each
// lane. exists: bit c: the lane has point c.
TMAP_DEVICE void tmapi_near_visit(const tmapi_near *s, tmap_u32 y, tmap_u32 count,
                                  const tmapi_pairs_point *points, const tmap_u32 *numbers,
                                  tmap_u32 per, tmap_u32 exists) {
    const tmap_u32 size = s->how.points.size, d = s->how.points.d;
    tmapi_value vector[TMAP_PAIRS_D_MAX];
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k)
        tmapi_value_copy(&vector[k], s->rows + (k * TMAP_NEAR_LEAF + y) * size, count * size);
#pragma unroll
    for (tmap_u32 r = 0; r < count; ++r) {
        tmapi_pairs_point row;
        tmap_pair pair;
        pair.i = s->row_number[y + r];
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k)
            tmapi_value_copy(row.bytes + k * size, vector[k].bytes + r * size, size);
#pragma unroll
        for (tmap_u32 c = 0; c < per; ++c) {
            pair.j = numbers[c];
            if (exists >> c & 1) s->visit(s->job, s->accumulator, pair, row.bytes, points[c].bytes);
        }
    }
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
#pragma unroll
        for (tmap_u32 k = 0; k < s->how.points.d; ++k)
            tmapi_value_copy(points[c].bytes + k * size,
                             s->queue + (k * TMAPI_NEAR_QUEUE + at) * size, size);
        numbers[c] = s->number[at];
    }
    return exists;
}

// Visits the pairs of `per` points of each lane, from point `first` of the queue on, with all rows.
TMAP_DEVICE void tmapi_near_visit_rows(const tmapi_near *s, tmap_u32 first, tmap_u32 per,
                                       tmap_u32 many, int whole) {
    const tmap_u32 step = 16 / s->how.points.size, rows = s->box->count;
    tmapi_pairs_point points[4];
    tmap_u32 numbers[4], y = 0;
    tmap_u32 exists = tmapi_near_fetch(s, first, per, many, points, numbers);
    if (whole) exists = (1u << per) - 1; // a constant
    for (; y + step <= rows; y += step) tmapi_near_visit(s, y, step, points, numbers, per, exists);
    for (; y < rows; ++y) tmapi_near_visit(s, y, 1, points, numbers, per, exists);
}

TMAP_DEVICE void tmapi_near_visit_queue(tmapi_near *s, tmap_u32 many) {
    if (many == TMAPI_NEAR_BATCH) {
        tmapi_near_visit_rows(s, 0, 4, many, 1);
        return;
    }
    TMAPI_NO_UNROLL
    for (tmap_u32 first = 0; first < many; first += 64) tmapi_near_visit_rows(s, first, 2, many, 0);
}

// Calls give for every point of the queue and the lane's row.
TMAP_DEVICE void tmapi_near_give_queue(tmapi_near *s, tmap_u32 many) {
    const tmap_u32 size = s->how.points.size, d = s->how.points.d, step = 16 / size;
    const tmap_u32 lane = threadIdx.x % 32;
    tmapi_pairs_point own;
    tmap_pair pair;
    if (lane >= s->box->count) return;
    tmapi_near_row(s, lane, &own);
    pair.i = s->row_number[lane];
    TMAPI_NO_UNROLL
    for (tmap_u32 q = 0; q < many; q += step) {
        tmapi_value vector[TMAP_PAIRS_D_MAX];
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k)
            tmapi_value_copy(&vector[k], s->queue + (k * TMAPI_NEAR_QUEUE + q) * size, 16);
#pragma unroll
        for (tmap_u32 r = 0; r < step; ++r) {
            tmapi_pairs_point point;
            tmapi_fold_words dropped = {{0}};
            pair.j = s->number[q + r];
#pragma unroll
            for (tmap_u32 k = 0; k < d; ++k)
                tmapi_value_copy(point.bytes + k * size, vector[k].bytes + r * size, size);
            if (q + r < many && (s->plan->others || pair.j != pair.i))
                s->give(s->job, pair, own.bytes, point.bytes, s->accumulator, &dropped);
        }
    }
}

// Writes a pair at position `at`.
TMAP_DEVICE void tmapi_near_list_put(const tmapi_near *s, tmap_u64 at, tmap_pair pair,
                                     const tmapi_value *value) {
    const tmap_u32 bytes = s->choice.bytes;
    const tmap_near_list *list = s->list;
    if (at >= list->capacity) return;
    if (!s->both && !s->plan->others && pair.i > pair.j) {
        const tmap_u32 i = pair.i;
        pair.i = pair.j, pair.j = i;
    }
    if (s->choice.number == 8) {
        ((tmap_u64 *)list->i)[at] = pair.i, ((tmap_u64 *)list->j)[at] = pair.j;
    } else {
        ((tmap_u32 *)list->i)[at] = pair.i, ((tmap_u32 *)list->j)[at] = pair.j;
    }
    if (bytes && list->values && tmapi_value_size_fits(bytes, list->values))
        tmapi_value_copy((unsigned char *)list->values + at * bytes, value, bytes);
}

// Counts or writes the chosen pairs of the lanes' points, `per` each, with a row. exists: bit c: the
// lane has point c. The lanes' pairs with a row follow each other. Collective for the warp.
TMAP_DEVICE void tmapi_near_list_row(tmapi_near *s, tmap_u32 y, const tmapi_pairs_point *points,
                                     const tmap_u32 *numbers, tmap_u32 per, tmap_u32 exists) {
    tmapi_pairs_point row;
    tmap_pair pair;
    tmapi_near_row(s, y, &row);
    pair.i = s->row_number[y];
#pragma unroll
    for (tmap_u32 c = 0; c < per; ++c) {
        tmapi_value value;
        tmap_u32 hits;
        int hit = exists >> c & 1;
        pair.j = numbers[c];
        if (s->both && !s->plan->others) hit = hit && pair.i != pair.j;
        if (hit) hit = s->choice.choose(s->job, pair, row.bytes, points[c].bytes, value.bytes) != 0;
        hits = __ballot_sync(0xffffffffu, hit);
        if (hit && s->writes)
            tmapi_near_list_put(s, s->at + __popc(hits & ((1u << threadIdx.x % 32) - 1)), pair,
                                &value);
        s->at += __popc(hits);
    }
}

// The same for the queue and all rows, 64 points at a time.
TMAP_DEVICE void tmapi_near_list_queue(tmapi_near *s, tmap_u32 many) {
    TMAPI_NO_UNROLL
    for (tmap_u32 first = 0; first < many; first += 64) {
        tmapi_pairs_point points[2];
        tmap_u32 numbers[2];
        const tmap_u32 exists = tmapi_near_fetch(s, first, 2, many, points, numbers);
        TMAPI_NO_UNROLL
        for (tmap_u32 y = 0; y < s->box->count; ++y)
            tmapi_near_list_row(s, y, points, numbers, 2, exists);
    }
}

// Works off the first `many` points of the queue.
TMAP_DEVICE void tmapi_near_work(tmapi_near *s, tmap_u32 many) {
    if (s->give)
        tmapi_near_give_queue(s, many);
    else if (s->list)
        tmapi_near_list_queue(s, many);
    else
        tmapi_near_visit_queue(s, many);
}

// Moves the points behind a batch to the front of the queue.
TMAP_DEVICE void tmapi_near_keep(tmapi_near *s) {
    const tmap_u32 lane = threadIdx.x % 32, size = s->how.points.size;
    __syncwarp();
#pragma unroll
    for (tmap_u32 k = 0; k < s->how.points.d; ++k) {
        unsigned char *to = s->queue + (k * TMAPI_NEAR_QUEUE + lane) * size;
        tmapi_value_copy(to, to + TMAPI_NEAR_BATCH * size, size);
    }
    s->number[lane] = s->number[TMAPI_NEAR_BATCH + lane];
    s->have -= TMAPI_NEAR_BATCH;
    __syncwarp();
}

// Adds the points of a leaf that may be near to the queue. Collective for the warp.
TMAP_DEVICE void tmapi_near_push(tmapi_near *s, tmap_u32 leaf, int all, tmap_u32 count) {
    const tmap_u32 lane = threadIdx.x % 32, d = s->how.points.d, size = s->how.points.size;
    tmapi_pairs_point point;
    int in = lane < count;
    tmap_u32 hits;
    tmapi_near_point(s->other, s->how.points, leaf, lane, point.bytes);
    if (in && !all) {
        tmap_near_box box;
        tmapi_near_box_make(&box, point.bytes, d, size);
        in = s->how.reach(s->job, s->box, &box) != TMAP_NEAR_NONE;
    }
    hits = __ballot_sync(0xffffffffu, in);
    if (in) {
        const tmap_u32 at = s->have + __popc(hits & ((1u << lane) - 1));
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k)
            tmapi_value_copy(s->queue + (k * TMAPI_NEAR_QUEUE + at) * size, point.bytes + k * size,
                             size);
        s->number[at] = tmapi_near_number(s->other, &s->plan->other, leaf, lane);
    }
    s->have += __popc(hits);
    __syncwarp();
    if (s->have >= TMAPI_NEAR_BATCH) {
        tmapi_near_work(s, TMAPI_NEAR_BATCH);
        tmapi_near_keep(s);
    }
}

// Visits the boxes of a group of level 0.
TMAP_DEVICE void tmapi_near_leaves_of(tmapi_near *s, tmap_u32 group, int above) {
    tmap_u32 count;
    const int says = tmapi_near_look(s, 0, group * 32 + threadIdx.x % 32, above, &count);
    tmap_u32 some = __ballot_sync(0xffffffffu, says != TMAP_NEAR_NONE);
    TMAPI_NO_UNROLL
    for (; some; some &= some - 1) {
        const int from = __ffs((int)some) - 1;
        const int all = __shfl_sync(0xffffffffu, says, from) == TMAP_NEAR_ALL;
        tmapi_near_push(s, group * 32 + (tmap_u32)from, all, __shfl_sync(0xffffffffu, count, from));
    }
}

// Works through all points of the other set that may be near the leaf. Collective for the warp.
TMAP_DEVICE void tmapi_near_walk(tmapi_near *s) {
    const tmap_u32 lane = threadIdx.x % 32, top = s->plan->other.top;
    tmap_u32 ignored;
    s->have = 0, s->turn = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 g2 = 0; g2 < top; ++g2) {
        const int says2 = tmapi_near_look(s, 2, g2 * 32 + lane, TMAP_NEAR_SOME, &ignored);
        tmap_u32 some2 = __ballot_sync(0xffffffffu, says2 != TMAP_NEAR_NONE);
        TMAPI_NO_UNROLL
        for (; some2; some2 &= some2 - 1) {
            const int from2 = __ffs((int)some2) - 1;
            const tmap_u32 g1 = g2 * 32 + (tmap_u32)from2;
            const int above2 = __shfl_sync(0xffffffffu, says2, from2);
            const int says1 = tmapi_near_look(s, 1, g1 * 32 + lane, above2, &ignored);
            tmap_u32 some1 = __ballot_sync(0xffffffffu, says1 != TMAP_NEAR_NONE);
            TMAPI_NO_UNROLL
            for (; some1; some1 &= some1 - 1) {
                const int from1 = __ffs((int)some1) - 1;
                tmapi_near_leaves_of(s, g1 * 32 + (tmap_u32)from1,
                                     __shfl_sync(0xffffffffu, says1, from1));
            }
        }
    }
    if (s->have) tmapi_near_work(s, s->have);
}

// Sets up what all leaves of a launch share. Collective for nothing.
TMAP_DEVICE tmapi_near tmapi_near_begin(const tmap_near_plan *plan, tmap_near how,
                                        tmap_near_box *box, void *accumulator, void *job) {
    const tmap_u32 bytes = how.points.d * how.points.size, warp = threadIdx.x / 32;
    unsigned char *memory = tmapi_pairs_memory(), *queues = memory + TMAP_NEAR_LEAF * bytes;
    tmap_u32 *numbers = (tmap_u32 *)(queues + TMAPI_NEAR_WARPS * TMAPI_NEAR_QUEUE * bytes);
    tmapi_near s;
    s.plan = plan, s.how = how, s.job = job, s.accumulator = accumulator;
    s.visit = 0, s.give = 0, s.choice.choose = 0, s.list = 0, s.box = box;
    s.mine = (const unsigned char *)how.points.a;
    s.other = (const unsigned char *)(plan->others ? how.points.b : how.points.a);
    s.rows = memory, s.queue = queues + warp * TMAPI_NEAR_QUEUE * bytes;
    s.row_number = numbers, s.number = numbers + TMAP_NEAR_LEAF + warp * TMAPI_NEAR_QUEUE;
    s.leaf = s.have = s.turn = s.me = 0, s.warps = TMAPI_NEAR_WARPS, s.both = s.writes = 0,
    s.at = 0;
    return s;
}

// Takes leaf number `leaf`, if it exists, for part `part` of it: its points into shared memory.
// Collective for the block, with two barriers.
TMAP_DEVICE int tmapi_near_take(tmapi_near *s, tmap_u64 leaf, tmap_u32 part) {
    const tmap_u32 size = s->how.points.size;
    const int exists = leaf < tmapi_near_leaves(s->plan->set.n);
    __syncthreads(); // the last leaf has been worked off
    if (!exists) return 0;
    s->leaf = (tmap_u32)leaf;
    *s->box = tmapi_near_box_of(s->mine, &s->plan->mine, s->how.points.d, 0, s->leaf);
    s->me = part * TMAPI_NEAR_WARPS + threadIdx.x / 32;
    s->warps = s->plan->parts * TMAPI_NEAR_WARPS;
    if (threadIdx.x < TMAP_NEAR_LEAF) {
        tmapi_pairs_point point;
        tmapi_near_point(s->mine, s->how.points, s->leaf, threadIdx.x, point.bytes);
#pragma unroll
        for (tmap_u32 k = 0; k < s->how.points.d; ++k)
            tmapi_value_copy(s->rows + (k * TMAP_NEAR_LEAF + threadIdx.x) * size,
                             point.bytes + k * size, size);
        s->row_number[threadIdx.x] =
            tmapi_near_number(s->mine, &s->plan->mine, s->leaf, threadIdx.x);
    }
    __syncthreads();
    return 1;
}

// 1 if a call of an engine of this kind fits the plan and the launch (only with -DTMAP_CHECK).
TMAP_DEVICE int tmapi_near_check(const tmap_near_plan *plan, tmap_points points, tmap_u32 kind,
                                 const char *function) {
    return tmapi_pairs_check_plan(plan->kind, kind, function) &&
           TMAPI_CHECK(points.d == plan->set.d, function, "points.d is not the plan's d") &&
           TMAPI_CHECK(points.size == plan->set.size, function, "points.size is not the plan's") &&
           TMAPI_CHECK(points.b || !plan->others, function, "there is no second set, points.b") &&
           TMAPI_CHECK(blockDim.x == plan->block, function, "blocks have other threads");
}

// ---- a function on every pair -------------------------------------------------------------------

// Visits all pairs of a leaf and what may be near it.
TMAP_DEVICE void tmapi_near_leaf(tmapi_near *s) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmapi_near_walk(s);
    if (s->both || s->plan->others || (s->leaf & (s->warps - 1)) != s->me) return;
    tmapi_pairs_point own; // the leaf with itself
    const tmap_u32 number = s->row_number[lane];
    tmapi_near_row(s, lane, &own);
    TMAPI_NO_UNROLL
    for (tmap_u32 y = 0; y + 1 < s->box->count; ++y) {
        const tmap_u32 exists = lane > y && lane < s->box->count;
        if (s->list)
            tmapi_near_list_row(s, y, &own, &number, 1, exists);
        else
            tmapi_near_visit(s, y, 1, &own, &number, 1, exists);
    }
}

// Calls visit(job, 0, pair, a, b) once for every pair of the plan's share that reach does not rule
// out, in no particular order. pair: the numbers of the points in your array, i of a and j of b; with
// one set i may be the larger one. It suits results that you add with atomics. All threads of all
// blocks call it, in blocks of TMAP_NEAR_THREADS threads. visit: a __device__ function without
// barriers or collectives. plan: of tmap_near_plan_make.
// Errors: none are returned; a program compiled with -DTMAP_CHECK stops if the call does not fit the
// plan.
// Cost: with n points in a good order, for each leaf some boxes of each level that it meets, then
// visit for the pairs of the leaf's points with those that may be near the leaf's box.
TMAP_DEVICE void tmap_near_each(const tmap_near_plan *plan, tmap_near points,
                                tmap_pairs_visit visit, void *job) {
    points.bulk = 0;
    tmap_near_box box;
    tmapi_near s = tmapi_near_begin(plan, points, &box, 0, job);
    s.visit = visit;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_EACH, "tmap_near_each")) return;
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        const tmap_u64 item = plan->first + t, first = item / plan->parts * plan->run;
        TMAPI_NO_UNROLL
        for (tmap_u32 k = 0; k < plan->run; ++k)
            if (tmapi_near_take(&s, first + k, (tmap_u32)item & (plan->parts - 1)))
                tmapi_near_leaf(&s);
    }
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
// not rule out, and writes an accumulator to to.result. Where points.bulk is not 0, it gets the boxes
// for which reach returns ALL. fold.join(job, accumulator, &other) joins accumulators. You join the
// results of several shares. to.workspace: tmap_near_fold_bytes bytes. All threads of all blocks call
// it, once in a launch. The rest is as for tmap_near_each.
// Exactness: the result is the same in every bit in every run and with every grid. A thread's
// accumulator begins again at fold.zero with each leaf and sees fewer than 2^32 pairs, without those
// of bulk.
TMAP_DEVICE void tmap_near_fold(const tmap_near_plan *plan, tmap_near points, tmap_pairs_visit add,
                                tmap_fold fold, tmap_fold_to to, void *job) {
    __shared__ tmapi_fold_words scratch[TMAPI_NEAR_WARPS];
    tmapi_fold_words sum, of_leaf;
    tmap_near_box box;
    tmapi_near s = tmapi_near_begin(plan, points, &box, &of_leaf, job);
    const tmap_u32 bytes = fold.bytes;
    const tmap_u64 groups = tmapi_near_joins(plan);
    unsigned char *part = (unsigned char *)to.workspace + tmap_near_fold_clear(plan);
    unsigned char *joined = part + plan->count * bytes;
    s.visit = add;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_EACH, "tmap_near_fold") ||
        !tmapi_fold_check(fold, "tmap_near_fold"))
        return;
    if (!plan->count && blockIdx.x == 0 && threadIdx.x == 0)
        tmapi_fold_move(to.result, fold.zero, bytes);
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        const tmap_u64 item = plan->first + t, first = item / plan->parts * plan->run;
        const tmap_u64 group = t / TMAPI_NEAR_JOIN, from = group * TMAPI_NEAR_JOIN;
        const tmap_u64 left = plan->count - from;
        const tmap_u64 many = left < TMAPI_NEAR_JOIN ? left : TMAPI_NEAR_JOIN;
        tmapi_fold_move(&sum, fold.zero, bytes);
        TMAPI_NO_UNROLL
        for (tmap_u32 k = 0; k < plan->run; ++k)
            if (tmapi_near_take(&s, first + k, (tmap_u32)item & (plan->parts - 1))) {
                tmapi_fold_move(&of_leaf, fold.zero, bytes);
                tmapi_near_leaf(&s);
                fold.join(job, &sum, &of_leaf);
            }
        tmap_fold_block(&sum, fold, job, scratch);
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

// ---- a value for each point ---------------------------------------------------------------------

// Accumulates give(job, pair, a, b, to_i, to_j) for each point of the first set over all points of
// the same set, or of the second one, that reach does not rule out, and writes an accumulator for
// each to result, in the order of your array; fold.zero where there are none. What give adds to to_j
// is dropped: a pair is visited from both sides. fold.join joins four partial results. A share writes
// the points of its own leaves. plan: of tmap_near_rows_plan_make for the same fold.bytes; with a
// plan of another kind the call writes nothing. result: n accumulators, at a multiple of 4. The rest
// is as for tmap_near_each.
// Exactness: as tmap_near_fold.
TMAP_DEVICE void tmap_near_rows(const tmap_near_plan *plan, tmap_near points, tmap_near_give give,
                                tmap_fold fold, void *result, void *job) {
    tmapi_fold_words sum;
    const tmap_u32 bytes = fold.bytes;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_ROWS, "tmap_near_rows") ||
        !tmapi_fold_check(fold, "tmap_near_rows"))
        return;
    if (plan->kind != TMAP_NEAR_KIND_ROWS || plan->shared < TMAP_NEAR_THREADS * bytes) return;
    points.bulk = 0;
    tmap_near_box box;
    tmapi_near s = tmapi_near_begin(plan, points, &box, &sum, job);
    s.give = give, s.both = 1;
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x * (tmap_u64)plan->run; t < plan->count * plan->run;
         t += gridDim.x * (tmap_u64)plan->run)
        TMAPI_NO_UNROLL
    for (tmap_u32 k = 0; k < plan->run; ++k) {
        unsigned char *parts = tmapi_pairs_memory();
        if (!tmapi_near_take(&s, plan->first * plan->run + t + k, 0)) break;
        const tmap_u32 number = s.row_number[threadIdx.x % 32];
        tmapi_fold_move(&sum, fold.zero, bytes);
        tmapi_near_walk(&s);
        __syncthreads(); // all queues are free
        tmapi_fold_move(parts + threadIdx.x * bytes, &sum, bytes);
        __syncthreads();
        if (threadIdx.x >= TMAP_NEAR_LEAF || number >= plan->set.n) continue;
        TMAPI_NO_UNROLL
        for (tmap_u32 w = 1; w < TMAPI_NEAR_WARPS; ++w) {
            tmapi_fold_words other;
            tmapi_fold_move(&other, parts + (w * 32 + threadIdx.x) * bytes, bytes);
            fold.join(job, &sum, &other);
        }
        tmapi_fold_move((unsigned char *)result + number * (tmap_u64)bytes, &sum, bytes);
    }
}

#endif // TMAP_CUDA

// ---- lists --------------------------------------------------------------------------------------

// Bytes of the workspace of tmap_near_select. They must be zero before the first launch that uses
// them; every launch leaves them zero. Launches that overlap need one workspace each.
TMAP_FN tmap_u64 tmap_near_select_bytes(const tmap_near_plan *plan) { return 8 * plan->count + 16; }

#if TMAP_CUDA

// Visits an item's leaves for a list.
TMAP_DEVICE void tmapi_near_list_item(tmapi_near *s, tmap_u64 item) {
    const tmap_near_plan *plan = s->plan;
    const tmap_u64 first = item / plan->parts * plan->run;
    TMAPI_NO_UNROLL
    for (tmap_u32 k = 0; k < plan->run; ++k)
        if (tmapi_near_take(s, first + k, (tmap_u32)item & (plan->parts - 1))) tmapi_near_leaf(s);
}

// Lists the pairs of the plan's share for which choice.choose returns non-zero: writes i, j and, unless
// list->values is null, a value of each, and the number of pairs to *list->count, even if it exceeds
// the capacity; the list then has the first `capacity` pairs. i and j are numbers in your arrays.
// choose receives the pair as tmap_near_each does. plan: of tmap_near_plan_make. list: the same for all
// threads. All threads of all blocks call it, in blocks of TMAP_NEAR_THREADS threads, at most once in
// a launch.
// Order: it depends only on the prepared set and the plan's share, not on the grid or on the run.
// Errors: the call does nothing if the count or the workspace is null or not at a multiple of 8; if i
// or j is null or not at a multiple of choice.number, the capacity counts as 0; if the values are
// not at a multiple of choice.bytes, no values are written.
// Cost: every pair that may be near is looked at twice, to count and to write.
TMAP_DEVICE void tmap_near_select(const tmap_near_plan *plan, tmap_near points,
                                  tmap_near_choice choice, const tmap_near_list *list, void *job) {
    __shared__ tmap_u64 ticket, before, hits[TMAPI_NEAR_WARPS];
    const tmap_u32 warp = threadIdx.x / 32, all = plan->resident;
    const tmap_u32 blocks = gridDim.x < all ? gridDim.x : all; // others would find no item
    tmap_u64 *state = (tmap_u64 *)list->workspace;
    tmap_near_list to = *list;
    tmap_near_box box;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_EACH, "tmap_near_select") ||
        !TMAPI_CHECK(list->count && state && ((tmap_u64)list->count | (tmap_u64)state) % 8 == 0,
                     "tmap_near_select", "list.count or .workspace is null or misaligned"))
        return;
    if (!list->count || !state || ((tmap_u64)list->count | (tmap_u64)state) % 8) return;
    if (!to.i || !to.j || ((tmap_u64)to.i | (tmap_u64)to.j) % choice.number) to.capacity = 0;
    if (blockIdx.x >= blocks) return;
    points.bulk = 0;
    tmapi_near s = tmapi_near_begin(plan, points, &box, 0, job);
    s.choice = choice, s.list = &to, s.both = choice.both;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) ticket = atomicAdd(state + 1, 1ull);
        __syncthreads();
        const tmap_u64 t = ticket;
        if (t >= plan->count) break;
        TMAPI_NO_UNROLL
        for (s.writes = 0, s.at = 0; s.writes < 2; ++s.writes) {
            tmapi_near_list_item(&s, plan->first + t);
            if (s.writes) continue;
            if (threadIdx.x % 32 == 0) hits[warp] = s.at;
            __syncthreads();
            if (warp == 0) {
                tmap_u64 sum = 0;
                for (tmap_u32 w = 0; w < TMAPI_NEAR_WARPS; ++w) sum += hits[w];
                sum = tmapi_pairs_select_before(state + 2, t, sum);
                if (threadIdx.x == 0) before = sum;
            }
            __syncthreads();
            s.at = before;
            for (tmap_u32 w = 0; w < warp; ++w) s.at += hits[w];
        }
    }
    __syncthreads(); // thread 0 then fences for the block's writes
    if (!tmapi_fold_last(state, blocks)) return;
    if (threadIdx.x == 0) {
        const volatile tmap_u64 *last = state + 1 + plan->count; // the last item's word
        *list->count = plan->count ? *last & TMAPI_PAIRS_SELECT_SUM : 0, state[1] = 0;
    }
    __syncthreads();
    for (tmap_u64 k = threadIdx.x; k < plan->count; k += TMAP_NEAR_THREADS) state[2 + k] = 0;
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- plans and launches -------------------------------------------------------------------------

// Completes a plan maker: `code` is the result of its `_of` function, p the plan.
static inline cudaError_t tmapi_near_plan_keep(int code, tmap_near_plan *p, const void *kernel,
                                               tmap_near_plan *out) {
    cudaError_t error = out ? tmapi_launch_error(code) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_shared(kernel, p->shared);
    if (!error) p->kernel = kernel, *out = *p;
    return error;
}

// Makes the plan of a kernel that calls tmap_near_each, tmap_near_fold or tmap_near_select for a
// prepared set. kernel: a __global__ function of TMAP_NEAR_THREADS threads, cast to const void *. A
// plan is for the device that is current here, and serves any number of launches on it, with any set
// of this shape.
// Returns cudaErrorInvalidValue for a null pointer or a number outside its range,
// cudaErrorInvalidConfiguration if no block of the kernel fits the device, else the error of a CUDA
// call. Writes *out only on success.
static inline cudaError_t tmap_near_plan_make(tmap_near_shape set, const void *kernel,
                                              tmap_near_plan *out) {
    tmap_near_plan p;
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get(kernel, &facts);
    if (error) return error;
    return tmapi_near_plan_keep(tmap_near_plan_of(set, &facts, &p), &p, kernel, out);
}

// The same for a kernel that calls tmap_near_rows with accumulators of `bytes` bytes: a multiple of
// 4, 4 to TMAP_FOLD_BYTES_MAX.
static inline cudaError_t tmap_near_rows_plan_make(tmap_near_shape set, tmap_u32 bytes,
                                                   const void *kernel, tmap_near_plan *out) {
    tmap_near_plan p;
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get(kernel, &facts);
    if (error) return error;
    return tmapi_near_plan_keep(tmap_near_rows_plan_of(set, bytes, &facts, &p), &p, kernel, out);
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
