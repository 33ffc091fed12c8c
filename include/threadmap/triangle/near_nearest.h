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
// the leaves beside it, and then looks at boxes that are nearer than the worst distance on these
// lists.
#ifndef TMAP_TRIANGLE_NEAR_NEAREST_H
#define TMAP_TRIANGLE_NEAR_NEAREST_H

#include "near.h"

// The most neighbours of a point.
#define TMAP_NEAR_K_MAX 64u

// ---- plans --------------------------------------------------------------------------------------

// Makes the plan of tmap_near_nearest_plan_make from facts, without a CUDA call; out->kernel is 0.
TMAP_FN int tmap_near_nearest_plan_of(tmap_near_shape set, const tmap_facts *facts,
                                      tmap_near_plan *out) {
    return tmapi_near_plan_kind(set, TMAP_NEAR_KIND_NEAREST,
                                TMAP_NEAR_THREADS * (set.d * set.size + 4), facts, out);
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

// Where neighbours are written, in the order of your array, k of each point; device memory.
typedef struct tmap_near_nearest_to {
    tmap_u32 *numbers; // of the neighbours, nearest first; 2^32 - 1: there is none
    void *distances;   // floats or doubles, infinite where there is none; or 0
    tmap_u32 *counts;  // neighbours of each point, up to k; or 0
    double limit;      // only points with a smaller measure; 0: any
} tmap_near_nearest_to;

// A bound for squares of distances along the first `axes` coordinates, computed by differences.
TMAP_DEVICE float tmap_near_least_square(const tmap_near_box *a, const tmap_near_box *b,
                                         tmap_u32 axes) {
    float least = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < axes; ++k) {
        const float low = tmapi_near_least(a, b, k);
        least = fmaf(low, low, least);
    }
    return least * (2 - TMAPI_NEAR_ROOM);
}

// ---- a point's list -----------------------------------------------------------------------------
//
// An entry is the bits of a measure, whose order is that of the measures, and the neighbour's
// number. With floats both are in one word; with doubles the number is beside it.

typedef struct tmapi_near_entry {
    tmap_u64 key;
    tmap_u32 number;
} tmapi_near_entry;

TMAP_DEVICE tmapi_near_entry tmapi_near_entry_of(const void *value, tmap_u32 size,
                                                 tmap_u32 number) {
    tmapi_near_entry e;
    e.number = number;
    if (size == 8)
        e.key = (tmap_u64)__double_as_longlong(*(const double *)value);
    else
        e.key = (tmap_u64)__float_as_uint(*(const float *)value) << 32 | number;
    return e;
}

// An entry behind all with smaller measures: what a list begins with.
TMAP_DEVICE tmapi_near_entry tmapi_near_entry_last(double limit, tmap_u32 size) {
    const double most = limit > 0 ? limit : __longlong_as_double(0x7ff0000000000000);
    const float rounded = __double2float_ru(most);
    return tmapi_near_entry_of(size == 8 ? (const void *)&most : (const void *)&rounded, size, 0);
}

TMAP_DEVICE int tmapi_near_before(tmapi_near_entry a, tmapi_near_entry b, tmap_u32 size) {
    return a.key < b.key || (size == 8 && a.key == b.key && a.number < b.number);
}

// Puts an entry into a list of k, a constant, whose last one drops out.
TMAP_DEVICE void tmapi_near_insert(tmapi_near_entry *list, tmap_u32 k, tmapi_near_entry e,
                                   tmap_u32 size) {
    int here = 1; // e is before entry x
#pragma unroll
    for (tmap_u32 x = TMAP_NEAR_K_MAX; x-- > 0;)
        if (x < k) {
            const int shift = x > 0 && tmapi_near_before(e, list[x > 0 ? x - 1 : 0], size);
            if (shift)
                list[x] = list[x > 0 ? x - 1 : 0];
            else if (here)
                list[x] = e;
            here = shift;
        }
}

// ---- the search ---------------------------------------------------------------------------------

typedef struct tmapi_near_search {
    const tmap_near_plan *plan;
    tmap_points points;
    tmap_near_k k;
    void *job;
    const unsigned char *mine, *other; // prepared sets
    unsigned char *queue;              // shared: the points of a leaf, by coordinates
    tmap_u32 *number;                  // and their numbers
    tmap_u32 own, count;               // the number of the lane's point; points of the warp's leaf
    float worst;                       // the greatest measure that some lane could still use
} tmapi_near_search;

// The greatest last measure of the lanes with a point, rounded up.
TMAP_DEVICE float tmapi_near_worst(const tmapi_near_search *s, tmapi_near_entry last) {
    float v = 0;
    if (threadIdx.x % 32 < s->count) {
        if (s->points.size == 8)
            v = __double2float_ru(__longlong_as_double((tmap_i64)last.key));
        else
            v = __uint_as_float((tmap_u32)(last.key >> 32));
    }
    return __uint_as_float(~tmapi_near_min(~__float_as_uint(v))); // none is negative
}

// Puts the points of a leaf into the lanes' lists. Collective for the warp.
TMAP_DEVICE void tmapi_near_search_leaf(tmapi_near_search *s, const tmap_near_box *box,
                                        tmap_u32 leaf, const unsigned char *own,
                                        tmapi_near_entry *list) {
    const tmap_u32 lane = threadIdx.x % 32, d = s->points.d, size = s->points.size;
    const tmap_near_box there = tmapi_near_box_of(s->other, &s->plan->other, d, 0, leaf);
    tmapi_pairs_point point;
    tmap_near_box single;
    tmap_u32 hits;
    int in = lane < there.count;
    tmapi_near_point(s->other, s->points, leaf, lane, point.bytes);
    tmapi_near_box_make(&single, point.bytes, d, size);
    in = in && s->k.bound(s->job, box, &single) <= s->worst;
    hits = __ballot_sync(0xffffffffu, in);
    __syncwarp(); // the last leaf has been read
    if (in) {
        const tmap_u32 at = __popc(hits & ((1u << lane) - 1));
#pragma unroll
        for (tmap_u32 c = 0; c < d; ++c)
            tmapi_value_copy(s->queue + (c * TMAP_NEAR_LEAF + at) * size, point.bytes + c * size,
                             size);
        s->number[at] = tmapi_near_number(s->other, s->points, leaf, lane);
    }
    __syncwarp();
    TMAPI_NO_UNROLL
    for (tmap_u32 q = 0; q < (tmap_u32)__popc(hits); ++q) {
        tmapi_value value;
        tmapi_near_entry e;
#pragma unroll
        for (tmap_u32 c = 0; c < d; ++c)
            tmapi_value_copy(point.bytes + c * size, s->queue + (c * TMAP_NEAR_LEAF + q) * size,
                             size);
        s->k.measure(s->job, own, point.bytes, &value);
        e = tmapi_near_entry_of(&value, size, s->number[q]);
        if (!s->k.self && !s->plan->others && e.number == s->own) continue;
        if (tmapi_near_before(e, list[s->k.k - 1], size)) tmapi_near_insert(list, s->k.k, e, size);
    }
    s->worst = tmapi_near_worst(s, list[s->k.k - 1]);
}

// The bound of the lane's box, number b of its level; NaN, which is below nothing, if there is
// none.
TMAP_DEVICE float tmapi_near_search_look(const tmapi_near_search *s, const tmap_near_box *box,
                                         tmap_u32 level, tmap_u32 b) {
    const tmap_near_box there = tmapi_near_box_of(s->other, &s->plan->other, s->points.d, level, b);
    return there.count ? s->k.bound(s->job, box, &there) : __uint_as_float(0x7fc00000);
}

// A leaf of the second set that is not far from a box: the nearest box of each level.
TMAP_DEVICE tmap_u32 tmapi_near_search_begin(const tmapi_near_search *s, const tmap_near_box *box) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 found = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 3; level-- > 0;) {
        const tmap_u32 first = level == 2 ? 0 : found, groups = level == 2 ? s->plan->other.top : 1;
        tmap_u32 best = 0xffffffffu;
        TMAPI_NO_UNROLL
        for (tmap_u32 g = first; g < first + groups; ++g) {
            const tmap_u32 v =
                __float_as_uint(tmapi_near_search_look(s, box, level, g * 32 + lane));
            const tmap_u32 least = tmapi_near_min(v);
            if (least >= best) continue;
            best = least;
            found = g * 32 + (tmap_u32)__ffs((int)__ballot_sync(0xffffffffu, v == least)) - 1;
        }
    }
    return found;
}

// Searches all leaves but those that have been searched: `begin` and the ones beside it.
TMAP_DEVICE void tmapi_near_search_all(tmapi_near_search *s, const tmap_near_box *box,
                                       tmap_u32 begin, const unsigned char *own,
                                       tmapi_near_entry *list) {
    const tmap_u32 lane = threadIdx.x % 32;
    TMAPI_NO_UNROLL
    for (tmap_u32 g2 = 0; g2 < s->plan->other.top; ++g2) {
        tmap_u32 some2 = __ballot_sync(
            0xffffffffu, tmapi_near_search_look(s, box, 2, g2 * 32 + lane) <= s->worst);
        TMAPI_NO_UNROLL
        for (; some2; some2 &= some2 - 1) {
            const tmap_u32 g1 = g2 * 32 + (tmap_u32)__ffs((int)some2) - 1;
            tmap_u32 some1 = __ballot_sync(
                0xffffffffu, tmapi_near_search_look(s, box, 1, g1 * 32 + lane) <= s->worst);
            TMAPI_NO_UNROLL
            for (; some1; some1 &= some1 - 1) {
                const tmap_u32 g0 = g1 * 32 + (tmap_u32)__ffs((int)some1) - 1;
                const float least = tmapi_near_search_look(s, box, 0, g0 * 32 + lane);
                tmap_u32 some = __ballot_sync(0xffffffffu, least <= s->worst);
                TMAPI_NO_UNROLL
                for (; some; some &= some - 1) {
                    const int from = __ffs((int)some) - 1;
                    const tmap_u32 leaf = g0 * 32 + (tmap_u32)from;
                    if (leaf + 1 >= begin && leaf <= begin + 1) continue;
                    if (__shfl_sync(0xffffffffu, least, from) > s->worst) continue;
                    tmapi_near_search_leaf(s, box, leaf, own, list);
                }
            }
        }
    }
}

// ---- the call -----------------------------------------------------------------------------------

// Writes a point's list.
TMAP_DEVICE void tmapi_near_search_write(const tmapi_near_search *s, tmapi_near_entry last,
                                         const tmapi_near_entry *list,
                                         const tmap_near_nearest_to *to) {
    const tmap_u64 at = s->own * (tmap_u64)s->k.k;
    tmap_u32 count = 0;
    if (s->own >= s->plan->set.n) return;
#pragma unroll
    for (tmap_u32 x = 0; x < TMAP_NEAR_K_MAX; ++x) {
        if (x >= s->k.k) continue;
        const int is =
            threadIdx.x % 32 < s->count && tmapi_near_before(list[x], last, s->points.size);
        const tmap_u64 key = list[x].key;
        if (s->points.size == 8) {
            const double v =
                is ? __longlong_as_double((tmap_i64)key) : __longlong_as_double(0x7ff0000000000000);
            to->numbers[at + x] = is ? list[x].number : 0xffffffffu;
            if (to->distances) ((double *)to->distances)[at + x] = s->k.root ? sqrt(v) : v;
        } else {
            const float v =
                is ? __uint_as_float((tmap_u32)(key >> 32)) : __uint_as_float(0x7f800000);
            to->numbers[at + x] = is ? (tmap_u32)key : 0xffffffffu;
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
// collectives. to->numbers: n * k.k of them at a multiple of 4; to->distances: at a multiple of
// their size. Exactness: the result depends neither on the order nor on the grid. A measure that is
// NaN or infinite is no neighbour's.
// Errors: a plan of another kind, or k.k outside 1 to TMAP_NEAR_K_MAX: nothing is written. Cost:
// for each leaf the boxes and leaves that are nearer than its worst k-th neighbour; for each point
// of these the measure, and 5 k instructions if it enters a list of the warp. 2 k registers (3 k
// with doubles).
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
    s.number =
        (tmap_u32 *)(tmapi_pairs_memory() + TMAP_NEAR_THREADS * bytes) + warp * TMAP_NEAR_LEAF;
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
            tmap_u32 begin = (tmap_u32)leaf;
            tmapi_near_point(s.mine, points, begin, lane, own.bytes);
            s.own = tmapi_near_number(s.mine, points, begin, lane), s.count = box.count;
#pragma unroll
            for (tmap_u32 x = 0; x < TMAP_NEAR_K_MAX; ++x)
                if (x < k.k) list[x] = last;
            s.worst = tmapi_near_worst(&s, last);
            if (box.count) {
                if (plan->others) begin = tmapi_near_search_begin(&s, &box);
                const tmap_u32 from = begin ? begin - 1 : 0;
                const tmap_u32 end = tmapi_near_leaves(plan->others ? plan->others : plan->set.n);
                TMAPI_NO_UNROLL
                for (tmap_u32 beside = from; beside < end && beside <= begin + 1; ++beside)
                    tmapi_near_search_leaf(&s, &box, beside, own.bytes, list);
                tmapi_near_search_all(&s, &box, begin, own.bytes, list);
            }
            tmapi_near_search_write(&s, last, list, to);
        }
    }
}

#if !TMAP_NVRTC

// Makes the plan of a kernel that calls tmap_near_nearest. Errors as tmap_near_plan_make.
static inline cudaError_t tmap_near_nearest_plan_make(tmap_near_shape set, const void *kernel,
                                                      tmap_near_plan *out) {
    return tmapi_near_plan_for(set, TMAP_NEAR_KIND_NEAREST,
                               TMAP_NEAR_THREADS * (set.d * set.size + 4), kernel, out);
}

#endif

#endif // TMAP_CUDA
#endif
