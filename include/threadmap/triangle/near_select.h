// SPDX-License-Identifier: MIT
// near_select.h: lists the pairs of points near each other for which your function returns
// non-zero: neighbour lists, radius graphs. near.h says how points are prepared and how functions
// of two boxes are written.
//
//     const tmap_near points = {{j.set, 0, sizeof(float), 3}, reach, 0}; // in your kernel
//     const tmap_near_choice choice = {is_near, sizeof(float), 4, 1};
//     tmap_near_select(&plan, points, choice, &j.list, &j);
//     ... tmap_near_plan_make(shape, (const void *)list_near, &plan);
//     ... tmap_near_select_launch(&plan, &j.list, 4, &j, stream);
//
// A block counts the pairs of an item, gets the number of pairs of all earlier items by look-back
// (fold.h), and visits its pairs once more to write them.
#ifndef TMAP_TRIANGLE_NEAR_SELECT_H
#define TMAP_TRIANGLE_NEAR_SELECT_H

#include "near.h"
#include "pairs_select.h"

// Where a list is written; all pointers are device memory. Numbers have 4 or 8 bytes each, the
// choice's, as graph libraries have them (edge_index).
typedef struct tmap_near_list {
    void *i, *j;       // `capacity` numbers each, at a multiple of their size
    void *values;      // `capacity` values at a multiple of their size; 0: no values
    tmap_u64 capacity; // the most pairs that are written; may be 0
    tmap_u64 *count;   // receives the number of pairs, which may exceed the capacity
    void *workspace;   // tmap_near_select_bytes bytes at a multiple of 8
} tmap_near_list;

// Bytes of the workspace of tmap_near_select. They must be zero before the first launch that uses
// them; every launch leaves them zero. Launches that overlap need one workspace each. Compute them
// after the last change of the plan.
TMAP_FN tmap_u64 tmap_near_select_bytes(const tmap_near_plan *plan) { return 8 * plan->count + 16; }

#if TMAP_CUDA

// What is listed; constants of the kernel.
typedef struct tmap_near_choice {
    tmap_pairs_choose choose; // as in tmap_pairs_choice; called several times for a pair, and for a
                              // point with itself, which is no pair
    tmap_u32 bytes;           // of a value: 0, 4 or 8
    tmap_u32 number;          // bytes of a number: 4 or 8
    int both;                 // 1: (i, j) and (j, i); 0: each pair once, i < j
} tmap_near_choice;

// Rows of the leaf that are looked at together: a vector of each coordinate.
typedef struct tmapi_near_group {
    tmapi_value vector[TMAP_PAIRS_D_MAX], number;
} tmapi_near_group;

TMAP_DEVICE tmapi_near_group tmapi_near_group_of(const tmapi_near *s, tmap_u32 y) {
    const tmap_u32 size = s->how.points.size;
    tmapi_near_group g;
    tmapi_near_copy(s->how.points.d, g.vector, 16, s->rows + y * size, TMAP_NEAR_LEAF * size, 16);
    tmapi_value_copy(&g.number, s->row_number + y, 64 / size);
    return g;
}

// Fills the places behind the leaf's points with its first one, so that whole groups can be looked
// at without a branch for each pair. Collective for the warp; `take` comes before.
TMAP_DEVICE void tmapi_near_fill(const tmapi_near *s) {
    const tmap_u32 size = s->how.points.size, step = TMAP_NEAR_LEAF * size, t = threadIdx.x % 32;
    if (s->box->count == TMAP_NEAR_LEAF) return;
    if (t >= s->box->count) {
        s->row_number[t] = s->row_number[0];
        tmapi_near_copy(s->how.points.d, s->rows + t * size, step, s->rows, step, size);
    }
    __syncwarp();
}

// Takes point `at` of an array with `stride` of each coordinate. Returns its number.
TMAP_DEVICE tmap_u32 tmapi_near_pick(const tmapi_near *s, const unsigned char *points,
                                     tmap_u32 stride, const tmap_u32 *numbers, tmap_u32 at,
                                     tmapi_pairs_point *point) {
    const tmap_u32 size = s->how.points.size;
    tmapi_near_copy(s->how.points.d, point->bytes, size, points + at * size, stride * size, size);
    return numbers[at];
}

// Takes two points of each lane from point `first` of the queue on, in place of those behind
// `many` the last one. Returns which are not behind it, as tmapi_near_fetch.
TMAP_DEVICE tmap_u32 tmapi_near_pick_two(const tmapi_near *s, tmap_u32 first, tmap_u32 many,
                                         tmapi_pairs_point *points, tmap_u32 *numbers) {
    const tmap_u32 at = first + threadIdx.x % 32;
#pragma unroll
    for (tmap_u32 c = 0; c < 2; ++c)
        numbers[c] = tmapi_near_pick(s, s->queue, TMAPI_NEAR_QUEUE, s->number,
                                     at + c * 32 < many ? at + c * 32 : many - 1, &points[c]);
    return (tmap_u32)(at < many) | (tmap_u32)(at + 32 < many) << 1;
}

// 1 if choose takes row r of a group and a point, 0 if not or if both are one point. pair: receives
// their numbers.
TMAP_DEVICE tmap_u32 tmapi_near_chosen(const tmapi_near *s, const tmap_near_choice *choice,
                                       const tmapi_near_group *g, tmap_u32 r,
                                       const tmapi_pairs_point *point, tmap_u32 number,
                                       tmap_pair *pair, tmapi_value *value) {
    const tmap_u32 size = s->how.points.size;
    tmapi_pairs_row row;
    row.set = 0, pair->j = number;
    tmapi_value_copy(&pair->i, g->number.bytes + 4 * r, 4);
    tmapi_near_copy(s->how.points.d, row.bytes, size, g->vector->bytes + r * size, 16, size);
    const tmap_u32 two = !s->both | (s->plan->others != 0) | (pair->i != number);
    return two & (choice->choose(s->job, *pair, row.bytes, point->bytes, value->bytes) != 0);
}

// What a warp knows of its list.
typedef struct tmapi_near_listed {
    tmap_near_choice choice;
    const tmap_near_list *list;
    int writes;    // 1 after the item's pairs have been counted
    tmap_u64 hits; // pairs that the lane has counted
    tmap_u64 at;   // the warp's position in the list
} tmapi_near_listed;

// Writes a pair at position `at`.
TMAP_DEVICE void tmapi_near_list_put(const tmapi_near *s, const tmapi_near_listed *l,
                                     const tmap_near_list *list, tmap_u32 at, tmap_pair pair,
                                     const tmapi_value *value) {
    if (!s->both && !s->plan->others && pair.i > pair.j) {
        const tmap_u32 i = pair.i;
        pair.i = pair.j, pair.j = i;
    }
    if (l->choice.number == 8) {
        ((tmap_u64 *)list->i)[at] = pair.i, ((tmap_u64 *)list->j)[at] = pair.j;
    } else {
        ((tmap_u32 *)list->i)[at] = pair.i, ((tmap_u32 *)list->j)[at] = pair.j;
    }
    if (l->choice.bytes && list->values)
        tmapi_value_copy((unsigned char *)list->values + (tmap_u64)at * l->choice.bytes, value,
                         l->choice.bytes);
}

// Counts or writes the chosen pairs of a group of rows with `per` points of each lane, a constant.
// exists: bit r * per + c: row r of the group and the lane's point c are a pair. Collective for the
// warp.
TMAP_DEVICE void tmapi_near_list_rows(const tmapi_near *s, tmapi_near_listed *l, tmap_u32 y,
                                      const tmapi_pairs_point *points, const tmap_u32 *numbers,
                                      tmap_u32 exists, tmap_u32 per) {
    const tmap_u32 step = 16 / s->how.points.size, lane = threadIdx.x % 32;
    const tmapi_near_group g = tmapi_near_group_of(s, y);
    tmapi_value value;
    tmap_pair pair;
    tmap_u32 hits = 0, sum = 0, room = ~0u;
#pragma unroll
    for (tmap_u32 b = 0; b < step * per; ++b)
        hits |= tmapi_near_chosen(s, &l->choice, &g, b / per, &points[b % per], numbers[b % per],
                                  &pair, &value)
                << b;
    hits &= exists;
    if (!l->writes) {
        l->hits += (tmap_u32)__popc(hits);
        return;
    }
    tmap_near_list rest = *l->list; // from the warp's position on
    if (rest.capacity - l->at < room) room = (tmap_u32)(rest.capacity - l->at);
    if (rest.capacity <= l->at) room = 0;
    if (room) {
        rest.i = (char *)rest.i + l->at * l->choice.number;
        rest.j = (char *)rest.j + l->at * l->choice.number;
        if (rest.values) rest.values = (char *)rest.values + l->at * l->choice.bytes;
    }
#pragma unroll
    for (tmap_u32 b = 0; b < step * per; ++b) {
        const tmap_u32 at = tmapi_warp_place(lane, &sum, (int)(hits >> b & 1));
        if (!(hits >> b & 1) || at >= room) continue;
        tmapi_value_copy(&pair.i, g.number.bytes + 4 * (b / per), 4), pair.j = numbers[b % per];
        if (l->choice.bytes)
            tmapi_near_chosen(s, &l->choice, &g, b / per, &points[b % per], numbers[b % per], &pair,
                              &value);
        tmapi_near_list_put(s, l, &rest, at, pair, &value);
    }
    l->at += sum;
}

// The same for a leaf: 64 points of the queue at a time, and the leaf with itself.
TMAP_DEVICE void tmapi_near_list_leaf(tmapi_near *s, tmapi_near_listed *l) {
    const tmap_u32 lane = threadIdx.x % 32, step = 16 / s->how.points.size, rows = s->box->count;
    tmapi_pairs_point points[2];
    tmap_u32 numbers[2];
    TMAPI_NO_UNROLL
    for (tmap_u32 many; (many = tmapi_near_next(s)) != 0;) {
        TMAPI_NO_UNROLL
        for (tmap_u32 first = 0; first < many; first += 64) {
            const tmap_u32 has = tmapi_near_pick_two(s, first, many, points, numbers) * 0x55u;
            TMAPI_NO_UNROLL
            for (tmap_u32 y = 0; y < rows; y += step)
                tmapi_near_list_rows(s, l, y, points, numbers,
                                     y + step <= rows ? has : has & ((1u << 2 * (rows - y)) - 1),
                                     2);
        }
    }
    if (!tmapi_near_own(s)) return;
    tmapi_near_row(s, lane, points[0].bytes), numbers[0] = s->row_number[lane];
    TMAPI_NO_UNROLL
    for (tmap_u32 y = 0; y < rows; y += step) // rows before the lane's point
        tmapi_near_list_rows(s, l, y, points, numbers,
                             lane < rows && lane > y ? (1u << (lane - y)) - 1 : 0, 1);
}

// Lists the pairs of the plan's share for which choice.choose returns non-zero: writes i, j and,
// unless list->values is null, a value of each, and the number of pairs to *list->count, even if it
// exceeds the capacity; the list then has the first `capacity` pairs. i and j are numbers in your
// arrays. choose receives the pair as the function of tmap_near_each does. plan: of
// tmap_near_plan_make. list: the same for all threads. All threads of all blocks call it, in blocks
// of TMAP_NEAR_THREADS threads, at most once in a launch.
// Order: it depends only on the prepared set and the plan's share, not on the grid or on the run.
// Errors: the call does nothing if the count or the workspace is null or not at a multiple of 8; if
// i or j is null or not at a multiple of choice.number, the capacity counts as 0; if the values are
// not at a multiple of choice.bytes, no values are written. tmap_near_select_launch reports all of
// this except the values.
// Cost: every pair that may be near is looked at twice, to count and to write.
TMAP_DEVICE void tmap_near_select(const tmap_near_plan *plan, tmap_near points,
                                  tmap_near_choice choice, const tmap_near_list *list, void *job) {
    __shared__ tmap_u64 ticket, sums[TMAPI_NEAR_WARPS + 1];
    const tmap_u32 all = plan->resident;
    const tmap_u32 blocks = gridDim.x < all ? gridDim.x : all; // others would find no item
    tmap_u64 *state = (tmap_u64 *)list->workspace;
    tmap_near_list to = *list;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_EACH, "tmap_near_select") ||
        !TMAPI_CHECK(list->count && state && ((tmap_u64)list->count | (tmap_u64)state) % 8 == 0,
                     "tmap_near_select", "list.count or .workspace is null or misaligned"))
        return;
    if (!list->count || !state || ((tmap_u64)list->count | (tmap_u64)state) % 8) return;
    if (!to.i || !to.j || ((tmap_u64)to.i | (tmap_u64)to.j) % choice.number) to.capacity = 0;
    if (!tmapi_value_size_fits(choice.bytes, to.values)) to.values = 0;
    if (blockIdx.x >= blocks) return;
    points.bulk = 0;
    tmapi_near s = tmapi_near_begin(plan, points, 0, job, 0);
    tmapi_near_listed l = {choice, &to, 0, 0, 0};
    s.both = choice.both;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) ticket = atomicAdd(state + 1, 1ull);
        __syncthreads();
        const tmap_u64 t = ticket, item = plan->first + t;
        if (t >= plan->count) break;
        l.hits = 0;
        TMAPI_NO_UNROLL
        for (l.writes = 0; l.writes < 2; ++l.writes) {
            TMAPI_NO_UNROLL
            for (tmap_u32 k = threadIdx.x / 32; k < plan->run; k += TMAPI_NEAR_WARPS)
                if (tmapi_near_take(&s, (tmap_u32)item, k))
                    tmapi_near_fill(&s), tmapi_near_list_leaf(&s, &l);
            if (l.writes) continue;
            l.hits = (tmap_u64)tmap_warp_sum_i64(tmap_warp_full(), (tmap_i64)l.hits);
            l.at = tmapi_near_scan(sums, TMAPI_NEAR_WARPS, state + 2, t, l.hits);
        }
    }
    __syncthreads(); // thread 0 then fences for the block's writes
    if (!tmapi_fold_last(state, blocks)) return;
    if (threadIdx.x == 0) {
        const volatile tmap_u64 *last = state + 1 + plan->count; // the last item's word
        *list->count = plan->count ? *last & TMAPI_FOLD_SUM : 0, state[1] = 0;
    }
    __syncthreads();
    for (tmap_u64 k = threadIdx.x; k < plan->count; k += TMAP_NEAR_THREADS) state[2 + k] = 0;
}

#if !TMAP_NVRTC

// Launches a kernel that calls tmap_near_select, as tmap_near_launch does. list: the one that the
// kernel uses, read on the host. number: the choice's. Returns cudaErrorInvalidValue for a plan of
// another kind, a count or a workspace that is null or not at a multiple of 8, and for i or j that
// are not at a multiple of `number`, or null with a capacity.
static inline cudaError_t tmap_near_select_launch(const tmap_near_plan *plan,
                                                  const tmap_near_list *list, tmap_u32 number,
                                                  tmap_job job, cudaStream_t stream) {
    if (!plan || plan->kind != TMAP_NEAR_KIND_EACH || !list || !list->count || !list->workspace ||
        ((tmap_u64)list->count | (tmap_u64)list->workspace) % 8 || (number != 4 && number != 8) ||
        ((tmap_u64)list->i | (tmap_u64)list->j) % number ||
        (list->capacity && (!list->i || !list->j)))
        return cudaErrorInvalidValue;
    return tmap_near_launch(plan, job, stream);
}

#endif

#endif // TMAP_CUDA
#endif
