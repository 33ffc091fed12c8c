// SPDX-License-Identifier: MIT
// near_nearest.h: the k nearest neighbours of each point, of the same set or of a second one, by a
// measure of yours.
//
//     static __device__ void measure(void *, const void *a, const void *b, void *value) {
//         *(float *)value = squared_distance((const float *)a, (const float *)b);
//     }
//     static __device__ float bound(void *, const tmap_near_box *a, const tmap_near_box *b) {
//         return tmap_near_least_square(a, b, 3);
//     }
//     const tmap_points points = {j.set, 0, sizeof(float), 3}; // in your kernel; near_prepare.h
//     const tmap_near_k k = {16, measure, bound, 0, 1};
//     tmap_near_nearest(&plan, points, k, &j.to, &j);
//     ... tmap_near_nearest_plan_make(shape, (const void *)find, &plan);
//     ... tmap_near_launch(&plan, &j, stream);
//
// A warp has a leaf of 32 points, a lane a point with its list of k in registers. It begins with
// its own leaf and those beside it and then takes the boxes of each level nearest first. It leaves
// out boxes that are farther from each point than the worst on its list. A lane stacks the
// candidates of its point in shared memory and merges 8 of them at once into its list, by a network
// that sorts.
#ifndef TMAP_TRIANGLE_NEAR_NEAREST_H
#define TMAP_TRIANGLE_NEAR_NEAREST_H

#include "near.h"

// The most neighbours of a point.
#define TMAP_NEAR_K_MAX 64u

// Candidates that are merged at once, and those of a stack: 4 are tried before the next merge.
#define TMAPI_NEAR_MERGE 8u
#define TMAPI_NEAR_STACK (TMAPI_NEAR_MERGE + 3)

// ---- plans --------------------------------------------------------------------------------------

// Bytes of dynamic shared memory: the points of a leaf for each warp and their numbers; the stacks.
TMAP_FN tmap_u32 tmapi_near_nearest_shared(tmap_near_shape set) {
    return TMAP_NEAR_THREADS * (set.d * set.size + 4 + TMAPI_NEAR_STACK * (set.size == 8 ? 12 : 8));
}

// Makes the plan of tmap_near_nearest_plan_make from facts, without a CUDA call; out->kernel is 0.
TMAP_FN int tmap_near_nearest_plan_of(tmap_near_shape set, const tmap_facts *facts,
                                      tmap_near_plan *out) {
    return tmapi_near_plan_kind(set, TMAP_NEAR_KIND_NEAREST, tmapi_near_nearest_shared(set), facts,
                                out);
}

#if TMAP_CUDA

// ---- the measure --------------------------------------------------------------------------------

// Your function: the measure of two points, a and b as for tmap_pairs_visit, not negative: a
// distance, its square, or anything that grows with it. value: a float or a double, as the
// coordinates.
typedef void (*tmap_near_measure)(void *job, const void *a, const void *b, void *value);

// Your function for two boxes: no point of one and point of the other have a smaller measure.
typedef float (*tmap_near_bound)(void *job, const tmap_near_box *a, const tmap_near_box *b);

// What is sought; constants of the kernel.
typedef struct tmap_near_k {
    tmap_u32 k; // neighbours of a point, 1 to TMAP_NEAR_K_MAX
    tmap_near_measure measure;
    tmap_near_bound bound;
    int self; // 1: a point of the same set is its own neighbour; 0: it is not
    int root; // 1: distances are roots of measures; 0: measures
} tmap_near_k;

// Where neighbours are written, in the order of your array, k of each point; device memory. Members
// that are 0 are as if they were not there.
typedef struct tmap_near_nearest_to {
    tmap_u32 *numbers; // of the neighbours, nearest first; 2^32 - 1: there is none
    void *distances;   // floats or doubles, infinite where there is none; or 0
    tmap_u32 *counts;  // neighbours of each point, up to k; or 0
    double limit;      // only points with a smaller measure; 0: any
    tmap_u32 row;      // the k of a point that are written, 1 to k.k; 0: all
    int wide;          // 1: numbers have 8 bytes; none is the number of points that are searched
} tmap_near_nearest_to;

// Bounds for measures along the first `axes` coordinates, computed by differences: the square of
// the distance, the sum of the differences (Manhattan), the largest of them (Chebyshev). Boxes are
// floats, rounded outward, and a bound is rounded too: multiply one of yours by 1 - 2^-17 as well.
TMAP_DEVICE float tmap_near_least_square(const tmap_near_box *a, const tmap_near_box *b,
                                         tmap_u32 axes) {
    float least, most;
    tmapi_near_squares(a, b, axes, &least, &most);
    return least * (2 - TMAPI_NEAR_ROOM);
}
TMAP_DEVICE float tmap_near_least_sum(const tmap_near_box *a, const tmap_near_box *b,
                                      tmap_u32 axes) {
    float least = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < axes; ++k) least += tmapi_near_least(a, b, k);
    return least * (2 - TMAPI_NEAR_ROOM);
}
TMAP_DEVICE float tmap_near_least_max(const tmap_near_box *a, const tmap_near_box *b,
                                      tmap_u32 axes) {
    float least = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < axes; ++k) least = fmaxf(least, tmapi_near_least(a, b, k));
    return least * (2 - TMAPI_NEAR_ROOM);
}

// ---- a point's list -----------------------------------------------------------------------------
//
// An entry is the bits of a measure, whose order is that of the measures, and the neighbour's
// number: three words; floats use the first and the last. nvcc needs 6 instructions to order two of
// them, and 8 if they are words of 64 bits, as it then forms minimum and maximum.

typedef struct tmapi_near_entry {
    tmap_u32 high, low, number;
} tmapi_near_entry;

TMAP_DEVICE tmap_u64 tmapi_near_words(tmap_u32 high, tmap_u32 low) {
    return (tmap_u64)high << 32 | low;
}

TMAP_DEVICE tmapi_near_entry tmapi_near_entry_of(const void *value, tmap_u32 size,
                                                 tmap_u32 number) {
    const tmap_u64 bits = size == 8 ? (tmap_u64)__double_as_longlong(*(const double *)value)
                                    : (tmap_u64)__float_as_uint(*(const float *)value) << 32;
    const tmapi_near_entry e = {(tmap_u32)(bits >> 32), (tmap_u32)bits, number};
    return e;
}

// The measure of an entry.
TMAP_DEVICE double tmapi_near_double(tmapi_near_entry e) {
    return __longlong_as_double((tmap_i64)tmapi_near_words(e.high, e.low));
}

// An entry behind all with smaller measures: what a list begins with.
TMAP_DEVICE tmapi_near_entry tmapi_near_entry_last(double limit, tmap_u32 size) {
    const double most = limit > 0 ? limit : __longlong_as_double(0x7ff0000000000000);
    const float rounded = __double2float_ru(most);
    return tmapi_near_entry_of(size == 8 ? (const void *)&most : (const void *)&rounded, size, 0);
}

TMAP_DEVICE int tmapi_near_before(tmapi_near_entry a, tmapi_near_entry b, tmap_u32 size) {
    const tmap_u64 x = tmapi_near_words(a.high, size == 8 ? a.low : a.number);
    const tmap_u64 y = tmapi_near_words(b.high, size == 8 ? b.low : b.number);
    return x < y || (size == 8 && x == y && a.number < b.number);
}

// Puts the smaller one of two entries first.
TMAP_DEVICE void tmapi_near_order(tmapi_near_entry *a, tmapi_near_entry *b, tmap_u32 size) {
    const tmapi_near_entry x = *a, y = *b;
    const int swap = tmapi_near_before(y, x, size);
    a->high = swap ? y.high : x.high, b->high = swap ? x.high : y.high;
    a->low = swap ? y.low : x.low, b->low = swap ? x.low : y.low;
    a->number = swap ? y.number : x.number, b->number = swap ? x.number : y.number;
}

// Sorts a batch: Batcher's odd-even merge sort (Knuth, The Art of Computer Programming, 5.3.4).
TMAP_DEVICE void tmapi_near_batch_sort(tmapi_near_entry *batch, tmap_u32 size) {
#pragma unroll
    for (tmap_u32 p = 0; 1u << p < TMAPI_NEAR_MERGE; ++p)
#pragma unroll
        for (tmap_u32 q = p + 1; q-- > 0;)
#pragma unroll
            for (tmap_u32 x = 0; x + (1u << q) < TMAPI_NEAR_MERGE; ++x)
                if (x >= (q < p ? 1u << q : 0) && !((x - (q < p ? 1u << q : 0)) >> q & 1) &&
                    x >> (p + 1) == (x + (1u << q)) >> (p + 1))
                    tmapi_near_order(&batch[x], &batch[x + (1u << q)], size);
}

// The length of a list in registers, a constant: a power of two from k on.
TMAP_DEVICE tmap_u32 tmapi_near_length(tmap_u32 k) {
    return k <= TMAPI_NEAR_MERGE ? TMAPI_NEAR_MERGE : k <= 16 ? 16 : k <= 32 ? 32 : 64;
}

// Keeps the smallest entries of a sorted list and a sorted batch: the smaller of the list's end and
// the batch backwards make a bitonic sequence, which is sorted (Batcher 1968).
TMAP_DEVICE void tmapi_near_merge(tmapi_near_entry *list, tmap_u32 length,
                                  const tmapi_near_entry *batch, tmap_u32 size) {
#pragma unroll
    for (tmap_u32 x = 0; x < TMAPI_NEAR_MERGE; ++x)
        if (tmapi_near_before(batch[x], list[length - 1 - x], size))
            list[length - 1 - x] = batch[x];
#pragma unroll
    for (tmap_u32 b = 6; b-- > 0;)
#pragma unroll
        for (tmap_u32 x = 0; x < TMAP_NEAR_K_MAX; ++x)
            if (x + (1u << b) < length && !(x >> b & 1))
                tmapi_near_order(&list[x], &list[x + (1u << b)], size);
}

// ---- the search ---------------------------------------------------------------------------------

#define TMAPI_NEAR_NO_BOX 0xffffffffu

typedef struct tmapi_near_search {
    const tmap_near_plan *plan;
    tmap_points points;
    tmap_near_k k;
    void *job;
    const unsigned char *mine, *other; // prepared sets
    unsigned char *queue;              // shared: the points of a leaf, by coordinates
    tmap_u32 *number;                  // and their numbers
    uint2 *stack;                      // shared: candidates, a column for each lane
    tmap_u32 *stack_number;            // and their numbers, of doubles
    tmap_u32 column, end;              // where the lane's stack begins and ends; 32 apart
    tmap_u32 own, count;               // the number of the lane's point; points of the warp's leaf
    tmap_u32 skip;                     // own, if it is no neighbour of itself
    float reach; // the greatest measure that the lane could still use; NaN if it has no point
    float worst; // that of the warp
    // What is left of each level: the bounds of a group's boxes, a lane a box, and its number.
    float least[4];
    tmap_u32 group[4], first, top; // of the highest: the first group, and how many were looked at
    tmap_u32 turn;                 // of the first leaves
    tmap_u32 begin;                // this and the leaves beside it come first; 2^31: none do
} tmapi_near_search;

// Sets the reach from the last entry of the lane's list, rounded up. Collective for the warp.
TMAP_DEVICE void tmapi_near_reach(tmapi_near_search *s, tmapi_near_entry last) {
    const int is = threadIdx.x % 32 < s->count;
    const float v = s->points.size == 8 ? __double2float_ru(tmapi_near_double(last))
                                        : __uint_as_float(last.high);
    s->reach = is ? v : __uint_as_float(0x7fc00000);
    s->worst = __uint_as_float(~tmapi_near_min(is ? ~__float_as_uint(v) : ~0u)); // none is negative
}

// Takes candidates from the lanes' stacks into their lists. Collective for the warp.
TMAP_DEVICE void tmapi_near_take_stack(tmapi_near_search *s, tmapi_near_entry *list,
                                       tmapi_near_entry last) {
    const tmap_u32 size = s->points.size;
    tmapi_near_entry batch[TMAPI_NEAR_MERGE];
#pragma unroll
    for (tmap_u32 x = 0; x < TMAPI_NEAR_MERGE; ++x) {
        batch[x] = last;
        if (s->end <= s->column + x * 32) continue;
        const tmap_u32 at = s->end - (x + 1) * 32;
        const uint2 words = s->stack[at];
        batch[x].high = words.x, batch[x].low = batch[x].number = words.y;
        if (size == 8) batch[x].number = s->stack_number[at];
    }
    s->end =
        s->end < s->column + TMAPI_NEAR_MERGE * 32 ? s->column : s->end - TMAPI_NEAR_MERGE * 32;
    tmapi_near_batch_sort(batch, size);
    tmapi_near_merge(list, tmapi_near_length(s->k.k), batch, size);
    tmapi_near_reach(s, list[s->k.k - 1]);
}

// Puts the points of a leaf that may be near the warp's box into its queue, and others behind them.
// Returns their number. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_near_queue(tmapi_near_search *s, const tmap_near_box *box,
                                      tmap_u32 leaf) {
    const tmap_u32 lane = threadIdx.x % 32, d = s->points.d, size = s->points.size;
    const tmap_near_box there = tmapi_near_box_of(s->other, &s->plan->other, d, 0, leaf);
    tmapi_pairs_point point;
    tmap_near_box single;
    tmapi_near_point(s->other, s->points, leaf, lane, point.bytes);
    tmapi_near_box_make(&single, point.bytes, d, size);
    const int in = lane < there.count && s->k.bound(s->job, box, &single) <= s->worst;
    const tmap_u32 hits = __ballot_sync(0xffffffffu, in), below = (1u << lane) - 1;
    const tmap_u32 at = in ? __popc(hits & below) : __popc(hits) + __popc(~hits & below);
    __syncwarp(); // the last leaf has been read
    tmapi_near_copy(d, s->queue + at * size, TMAP_NEAR_LEAF * size, point.bytes, size, size);
    s->number[at] = tmapi_near_number(s->other, s->points, leaf, lane);
    __syncwarp();
    return __popc(hits);
}

// Puts points of the queue that the lanes could use onto their stacks: a vector from point q on, of
// `many` in the queue. One that is as far as the worst may be before it by its number.
TMAP_DEVICE void tmapi_near_try(tmapi_near_search *s, tmap_u32 q, tmap_u32 many,
                                const unsigned char *own) {
    const tmap_u32 d = s->points.d, size = s->points.size, step = 16 / size;
    tmapi_value vector[TMAP_PAIRS_D_MAX], numbers;
    tmapi_near_copy(d, vector, 16, s->queue + q * size, TMAP_NEAR_LEAF * size, 16);
    tmapi_value_copy(&numbers, s->number + q, step * 4);
#pragma unroll
    for (tmap_u32 r = 0; r < step; ++r) {
        tmapi_pairs_point point;
        tmapi_value value;
        tmap_u32 number;
        tmapi_near_copy(d, point.bytes, size, vector->bytes + r * size, 16, size);
        tmapi_value_copy(&number, numbers.bytes + r * 4, 4);
        s->k.measure(s->job, own, point.bytes, &value);
        const int may = size == 8 ? *(double *)&value <= s->reach : *(float *)&value <= s->reach;
        if (may & (q + r < many) & (number != s->skip)) {
            const tmapi_near_entry e = tmapi_near_entry_of(&value, size, number);
            s->stack[s->end] = make_uint2(e.high, size == 8 ? e.low : number);
            if (size == 8) s->stack_number[s->end] = number;
            s->end += 32;
        }
    }
}

// The bound of the lane's box, number b of its level; NaN, which is below nothing, if there is
// none.
TMAP_DEVICE float tmapi_near_search_look(const tmapi_near_search *s, const tmap_near_box *box,
                                         tmap_u32 level, tmap_u32 b) {
    const tmap_near_box there = tmapi_near_box_of(s->other, &s->plan->other, s->points.d, level, b);
    return there.count ? fmaxf(0.0f, s->k.bound(s->job, box, &there)) : __uint_as_float(0x7fc00000);
}

// The group of level 3 with the box that is nearest.
TMAP_DEVICE tmap_u32 tmapi_near_search_begin(const tmapi_near_search *s, const tmap_near_box *box) {
    tmap_u32 best = 0xffffffffu, found = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 g = 0; g < s->plan->other.high; ++g) {
        const float v = tmapi_near_search_look(s, box, 3, g * 32 + threadIdx.x % 32);
        const tmap_u32 least = tmapi_near_min(__float_as_uint(v));
        if (least < best) best = least, found = g;
    }
    return found;
}

// The nearest box that is left of a level, or NO_BOX. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_near_search_nearest(tmapi_near_search *s, tmap_u32 level) {
    const tmap_u32 v = __float_as_uint(s->least[level]), least = tmapi_near_min(v);
    if (!(__uint_as_float(least) <= s->worst)) return TMAPI_NEAR_NO_BOX;
    const tmap_u32 from = (tmap_u32)__ffs((int)__ballot_sync(0xffffffffu, v == least)) - 1;
    if (threadIdx.x % 32 == from) s->least[level] = __uint_as_float(0x7fc00000);
    return s->group[level] * 32 + from;
}

// The next leaf in which some lane could find a neighbour, or NO_BOX. one: the lane's point.
// Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_near_search_next(tmapi_near_search *s, const tmap_near_box *box,
                                            const tmap_near_box *one) {
    const tmap_u32 lane = threadIdx.x % 32;
    TMAPI_NO_UNROLL
    while (s->turn < 3) { // in those beside it a leaf whose parts are far apart finds near points
        const tmap_u32 leaf = s->turn < 2 ? s->begin + s->turn : s->begin - 1;
        ++s->turn;
        if (leaf < tmapi_near_leaves(s->plan->set.n)) return leaf;
    }
    TMAPI_NO_UNROLL
    for (;;) {
        tmap_u32 level = 0, b = tmapi_near_search_nearest(s, 0);
        if (b == TMAPI_NEAR_NO_BOX) level = 1, b = tmapi_near_search_nearest(s, 1);
        if (b == TMAPI_NEAR_NO_BOX) level = 2, b = tmapi_near_search_nearest(s, 2);
        if (b == TMAPI_NEAR_NO_BOX) level = 3, b = tmapi_near_search_nearest(s, 3);
        if (b == TMAPI_NEAR_NO_BOX) {
            if (s->top == s->plan->other.high) return TMAPI_NEAR_NO_BOX;
            s->group[3] = (s->first + s->top++) % s->plan->other.high;
            s->least[3] = tmapi_near_search_look(s, box, 3, s->group[3] * 32 + lane);
            continue;
        }
        if (!level && b - s->begin + 1 <= 2) continue;
        const tmap_near_box there =
            tmapi_near_box_of(s->other, &s->plan->other, s->points.d, level, b);
        if (!__any_sync(0xffffffffu, s->k.bound(s->job, one, &there) <= s->reach)) continue;
        if (!level) return b;
        const float least = tmapi_near_search_look(s, box, level - 1, b * 32 + lane);
        if (level == 1) s->least[0] = least, s->group[0] = b;
        if (level == 2) s->least[1] = least, s->group[1] = b;
        if (level == 3) s->least[2] = least, s->group[2] = b;
    }
}

// Finds the neighbours of the lanes' points. Collective for the warp.
TMAP_DEVICE void tmapi_near_search_all(tmapi_near_search *s, const tmap_near_box *box,
                                       const unsigned char *own, tmapi_near_entry *list,
                                       tmapi_near_entry last) {
    tmap_near_box one;
    tmapi_near_box_make(&one, own, s->points.d, s->points.size);
    s->end = s->column, s->top = 0;
    s->least[0] = s->least[1] = s->least[2] = s->least[3] = __uint_as_float(0x7fc00000);
    tmapi_near_reach(s, last);
    s->first = s->plan->others ? tmapi_near_search_begin(s, box) : s->begin >> 20;
    if (!s->plan->other.high) // there is one group of level 2
        s->group[2] = 0, s->least[2] = tmapi_near_search_look(s, box, 2, threadIdx.x % 32);
    if (s->plan->others) s->begin = 0x80000000u;
    s->turn = s->plan->others ? 3 : 0;
    tmap_u32 leaf, q;
    TMAPI_NO_UNROLL
    do {
        leaf = tmapi_near_search_next(s, box, &one);
        const int end = leaf == TMAPI_NEAR_NO_BOX; // then the stacks are emptied
        const tmap_u32 many = end ? 0 : tmapi_near_queue(s, box, leaf);
        const tmap_u32 full = s->column + (end ? 1 : TMAPI_NEAR_MERGE) * 32;
        q = 0;
        TMAPI_NO_UNROLL
        do {
            if (q < many) tmapi_near_try(s, q, many, own);
            TMAPI_NO_UNROLL
            while (__any_sync(0xffffffffu, s->end >= full)) tmapi_near_take_stack(s, list, last);
        } while ((q += 16 / s->points.size) < many);
    } while (leaf != TMAPI_NEAR_NO_BOX);
}

// ---- the call -----------------------------------------------------------------------------------

// Writes a point's list.
TMAP_DEVICE void tmapi_near_search_write(const tmapi_near_search *s, tmapi_near_entry last,
                                         const tmapi_near_entry *list,
                                         const tmap_near_nearest_to *to) {
    const tmap_u32 row = to->row && to->row < s->k.k ? to->row : s->k.k;
    const tmap_u32 none = s->plan->others ? s->plan->others : s->plan->set.n;
    const tmap_u64 at = s->own * (tmap_u64)row;
    tmap_u32 count = 0;
    if (s->own >= s->plan->set.n) return;
#pragma unroll
    for (tmap_u32 x = 0; x < TMAP_NEAR_K_MAX; ++x) {
        if (x >= s->k.k || x >= row) continue;
        const int is =
            threadIdx.x % 32 < s->count && tmapi_near_before(list[x], last, s->points.size);
        if (to->wide)
            ((tmap_u64 *)to->numbers)[at + x] = is ? list[x].number : none;
        else
            to->numbers[at + x] = is ? list[x].number : 0xffffffffu;
        if (s->points.size == 8) {
            const double v =
                is ? tmapi_near_double(list[x]) : __longlong_as_double(0x7ff0000000000000);
            if (to->distances) ((double *)to->distances)[at + x] = s->k.root ? sqrt(v) : v;
        } else {
            const float v = __uint_as_float(is ? list[x].high : 0x7f800000);
            if (to->distances) ((float *)to->distances)[at + x] = s->k.root ? sqrtf(v) : v;
        }
        count += (tmap_u32)is;
    }
    if (to->counts) to->counts[s->own] = count;
}

// Finds for each point of the first set the k.k points of the same set, or of the second one, with
// the smallest measures below to->limit, nearest first; of equal measures the smaller number is
// before. Fewer are filled up with number 2^32 - 1 and an infinite distance. A point that is not
// finite has no neighbours and is none. plan: of tmap_near_nearest_plan_make; a share writes the
// points of its own leaves. points.a, points.b: prepared sets. All threads of all blocks call it,
// in blocks of TMAP_NEAR_THREADS threads. measure, bound: __device__ functions without barriers or
// collectives. to->numbers: n * k.k of them, or n * to->row; they and to->distances are at a
// multiple of their size. Exactness: the result depends neither on the order nor on the grid. A
// measure that is NaN or infinite is no neighbour's.
// Errors: a plan of another kind, or k.k outside 1 to TMAP_NEAR_K_MAX: nothing is written. Cost:
// for each leaf the boxes that are nearer to one of its points than this point's worst neighbour;
// for each point of these leaves that is near the leaf the measure. 8 candidates enter a list of 16
// by about 400 instructions, with floats. 2 k registers (3 k with doubles), with k rounded up to a
// power of two from 8 on, and 16 more (24); 88 bytes of shared memory a thread (132).
TMAP_DEVICE void tmap_near_nearest(const tmap_near_plan *plan, tmap_points points, tmap_near_k k,
                                   const tmap_near_nearest_to *to, void *job) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, bytes = points.d * points.size;
    const tmap_u64 leaves = tmapi_near_leaves(plan->set.n), size = points.size;
    tmapi_near_search s;
    if (!tmapi_near_check(plan, points, TMAP_NEAR_KIND_NEAREST, "tmap_near_nearest") ||
        !TMAPI_CHECK(k.k - 1 < TMAP_NEAR_K_MAX, "tmap_near_nearest", "k is not 1 to 64"))
        return;
    if (plan->kind != TMAP_NEAR_KIND_NEAREST || k.k - 1 >= TMAP_NEAR_K_MAX) return;
    s.plan = plan, s.points = points, s.k = k, s.job = job;
    s.mine = (const unsigned char *)points.a;
    s.other = (const unsigned char *)(plan->others ? points.b : points.a);
    s.queue = tmapi_pairs_memory() + warp * TMAP_NEAR_LEAF * bytes;
    unsigned char *memory = tmapi_pairs_memory() + TMAP_NEAR_THREADS * bytes;
    s.number = (tmap_u32 *)memory + warp * TMAP_NEAR_LEAF, memory += TMAP_NEAR_THREADS * 4;
    s.column = warp * TMAPI_NEAR_STACK * 32 + lane;
    s.stack = (uint2 *)memory;
    s.stack_number = (tmap_u32 *)(memory + TMAP_NEAR_THREADS * TMAPI_NEAR_STACK * 8);
    const tmapi_near_entry last = tmapi_near_entry_last(to->limit, (tmap_u32)size);
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        TMAPI_NO_UNROLL
        for (tmap_u32 r = warp; r < plan->run; r += TMAPI_NEAR_WARPS) {
            const tmap_u64 leaf = (plan->first + t) * plan->run + r;
            tmapi_near_entry list[TMAP_NEAR_K_MAX];
            tmapi_pairs_point own;
            if (leaf >= leaves) break;
            const tmap_near_box box =
                tmapi_near_box_of(s.mine, &plan->mine, points.d, 0, (tmap_u32)leaf);
            s.begin = (tmap_u32)leaf;
            tmapi_near_point(s.mine, points, s.begin, lane, own.bytes);
            s.own = tmapi_near_number(s.mine, points, s.begin, lane), s.count = box.count;
            s.skip = k.self || plan->others ? 0xffffffffu : s.own;
#pragma unroll
            for (tmap_u32 x = 0; x < TMAP_NEAR_K_MAX; ++x)
                if (x < tmapi_near_length(k.k)) list[x] = last;
            if (box.count) tmapi_near_search_all(&s, &box, own.bytes, list, last);
            tmapi_near_search_write(&s, last, list, to);
        }
    }
}

#if !TMAP_NVRTC

// Makes the plan of a kernel that calls tmap_near_nearest. Errors as tmap_near_plan_make.
static inline cudaError_t tmap_near_nearest_plan_make(tmap_near_shape set, const void *kernel,
                                                      tmap_near_plan *out) {
    return tmapi_near_plan_for(set, TMAP_NEAR_KIND_NEAREST, tmapi_near_nearest_shared(set), kernel,
                               out);
}

#endif

#endif // TMAP_CUDA
#endif
