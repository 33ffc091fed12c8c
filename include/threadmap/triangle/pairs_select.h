// SPDX-License-Identifier: MIT
// pairs_select.h: lists the pairs of n points for which your function returns non-zero, as (i, j)
// and a value: radius graphs, contacts, candidates for a slower test.
//
//     const tmap_points points = {j.points, 0, sizeof(float), 3};
//     const tmap_pairs_choice near = {is_near, sizeof(float), TMAP_PAIRS_FIXED_ORDER};
//     tmap_pairs_select(&plan, points, near, &j.list, &j); // in your kernel
//     ... tmap_pairs_plan_make(n, 3, sizeof(float), (const void *)list_near, &plan);
//     ... tmap_pairs_select_launch(&plan, &j.list, &j, stream);
//
// samples/triangle/16_radius_graph.cu is the complete program.
//
// A thread keeps the results for 32 pairs in one word. Words that are not 0 enter a queue of the
// warp in shared memory. When the queue is full or the tile is done, the warp computes the values
// and takes positions in the list. In the fixed order, the hits of a tile begin after those of all
// earlier tiles; blocks exchange these sums by decoupled look-back (Merrill and Garland 2016).
#ifndef TMAP_TRIANGLE_PAIRS_SELECT_H
#define TMAP_TRIANGLE_PAIRS_SELECT_H

#include "pairs.h"

// Orders of a list. ANY: the order may differ from launch to launch. FIXED: it depends only on the
// plan's share, tile by tile in the order of the plan's items.
enum { TMAP_PAIRS_ANY_ORDER, TMAP_PAIRS_FIXED_ORDER };

// Where hits are written; all pointers are device memory.
typedef struct tmap_pairs_list {
    tmap_pair *pairs;  // `capacity` pairs at a multiple of 8 bytes
    void *values;      // `capacity` values at a multiple of their size; 0: no values
    tmap_u64 capacity; // the most hits that are written; may be 0
    tmap_u64 *count;   // receives the number of hits, which may exceed the capacity
    void *workspace;   // tmap_pairs_select_bytes bytes at a multiple of 8
} tmap_pairs_list;

// Bytes of the workspace of tmap_pairs_select. They must be zero before the first launch that uses
// them; every launch leaves them zero. Launches that overlap need one workspace each. order:
// TMAP_PAIRS_ANY_ORDER or _FIXED_ORDER. Saturates. Example: n = 131072, fixed order: 263184.
TMAP_FN tmap_u64 tmap_pairs_select_bytes(const tmap_pairs_plan *plan, int order) {
    const tmap_u64 words = tmap_mul_saturate(plan->count, 8);
    if (order != TMAP_PAIRS_FIXED_ORDER) return 16;
    return words > ~0ull - 16 ? ~0ull : words + 16;
}

#if TMAP_CUDA

// Your function: returns non-zero to list the pair. value: 16 bytes for the pair's value, which is
// used only for a listed pair. job, pair, a, b: as for tmap_pairs_visit.
typedef int (*tmap_pairs_choose)(void *job, tmap_pair pair, const void *a, const void *b,
                                 void *value);

// What is listed; constants of the kernel.
typedef struct tmap_pairs_choice {
    tmap_pairs_choose choose; // a __device__ function without barriers or collectives that depends
                              // only on its arguments; called more than once for a listed pair
    tmap_u32 bytes;           // of a value: 0, 4 or 8
    int order;                // TMAP_PAIRS_ANY_ORDER or TMAP_PAIRS_FIXED_ORDER
} tmap_pairs_choice;

#define TMAPI_PAIRS_SELECT_ROWS  8u   // rows of a word
#define TMAPI_PAIRS_SELECT_QUEUE 448u // words of a warp
#define TMAPI_PAIRS_SELECT_WARPS (TMAP_PAIRS_THREADS / 32)

// A lane's results for ROWS rows and its points, and their position: first row / ROWS * 32 + lane.
typedef struct tmapi_pairs_select_word {
    alignas(8) tmap_u32 bits;
    tmap_u32 from;
} tmapi_pairs_select_word;

typedef struct tmapi_pairs_select_shared {
    tmapi_pairs_select_word queue[TMAPI_PAIRS_SELECT_WARPS][TMAPI_PAIRS_SELECT_QUEUE];
    tmap_u32 hits[TMAPI_PAIRS_SELECT_WARPS];
    tmap_u64 tile, at;
} tmapi_pairs_select_shared;

// What a thread knows of the launch and of its tile.
typedef struct tmapi_pairs_select {
    const tmap_pairs_plan *plan;
    tmapi_pairs p;
    tmap_pairs_choice choice;
    const tmap_pairs_list *list;
    tmap_u64 *total; // 0: positions in the list continue from `at`; else they are taken from here
    tmap_u64 at;
    tmapi_pairs_select_word *queue; // the warp's
    tmap_u32 words;                 // in the queue
    tmap_u32 lower;                 // the lanes below this one
    tmap_u32 hits;                  // hits of this thread since the queue was empty
    int lost;                       // 1: words were dropped
} tmapi_pairs_select;

// ---- writing the queue --------------------------------------------------------------------------

// Writes hit number `at`: bit `bit` of a word.
TMAP_DEVICE void tmapi_pairs_select_write(const tmapi_pairs_select *s, tmapi_pairs_place place,
                                          tmap_u32 from, tmap_u32 bit, tmap_u64 at) {
    const tmap_u32 size = s->p.points.size, d = s->p.points.d, bytes = s->choice.bytes;
    const tmap_u32 others = tmapi_pairs_columns(s->plan), warp = threadIdx.x / 32;
    const tmap_u32 y = from / 32 * TMAPI_PAIRS_SELECT_ROWS + bit / TMAPI_PAIRS_MINE;
    const tmap_pairs_list *list = s->list;
    tmap_pair pair;
    if (at >= list->capacity || !list->pairs || !tmapi_value_size_fits(8, list->pairs)) return;
    pair.i = place.i + y;
    pair.j = place.j + bit % TMAPI_PAIRS_MINE * TMAP_PAIRS_THREADS + warp * 32 + from % 32;
    if (bytes && list->values && tmapi_value_size_fits(bytes, list->values)) {
        const unsigned char *other = tmapi_pairs_second(s->plan, &s->p);
        const unsigned char *row = tmapi_pairs_memory() + y * size;
        tmapi_pairs_row a;
        tmapi_pairs_point b;
        tmapi_value value;
        a.set = (tmap_u32)place.set;
        other += (place.set * others + pair.j) * d * size;
#pragma unroll
        for (tmap_u32 k = 0; k < d * size; k += size) {
            tmapi_value_copy(a.bytes + k, row + k * TMAP_PAIRS_SIDE, size);
            tmapi_value_copy(b.bytes + k, other + k, size);
        }
        s->choice.choose(s->p.job, pair, a.bytes, b.bytes, value.bytes);
        tmapi_value_copy((unsigned char *)list->values + at * bytes, &value, bytes);
    }
    pair.i += (tmap_u32)place.set * s->plan->n, pair.j += (tmap_u32)place.set * others;
    tmapi_value_copy(list->pairs + at, &pair, sizeof pair);
}

// Writes the hits of the queue and empties it. Collective for the warp.
TMAP_DEVICE void tmapi_pairs_select_flush(tmapi_pairs_select *s, tmapi_pairs_place place) {
    const tmap_u32 lane = threadIdx.x % 32, words = s->words;
    __syncwarp();
    if (s->total) {
        const tmap_u32 all = tmap_warp_sum_redux(tmap_warp_full(), s->hits);
        if (lane == 0 && all) s->at = atomicAdd(s->total, (tmap_u64)all);
        s->at = __shfl_sync(0xffffffffu, s->at, 0);
    }
    for (tmap_u32 first = 0; first < words; first += 32) {
        tmapi_pairs_select_word word = {0, 0};
        if (first + lane < words) tmapi_value_copy(&word, &s->queue[first + lane], sizeof word);
        const tmap_u32 hits = __popc(word.bits), sum = tmapi_warp_scan(lane, hits);
        tmap_u64 at = s->at + sum - hits;
        for (; word.bits; word.bits &= word.bits - 1, ++at)
            tmapi_pairs_select_write(s, place, word.from, (tmap_u32)__ffs((int)word.bits) - 1, at);
        s->at += __shfl_sync(0xffffffffu, sum, 31);
    }
    __syncwarp();
    s->words = 0, s->hits = 0;
}

// ---- filling it ---------------------------------------------------------------------------------

// Adds two words of each lane to the queue, those of the rows from y and from y + ROWS on. Writes a
// full queue first; with write = 0 drops it, but counts its hits. Collective for the warp.
TMAP_DEVICE void tmapi_pairs_select_push(tmapi_pairs_select *s, tmapi_pairs_place place, tmap_u32 y,
                                         const tmap_u32 *bits, int write) {
    const tmap_u32 have[2] = {__ballot_sync(0xffffffffu, bits[0] != 0),
                              __ballot_sync(0xffffffffu, bits[1] != 0)};
    if (!(have[0] | have[1])) return;
    if (s->words > TMAPI_PAIRS_SELECT_QUEUE - 64) {
        if (write) {
            tmapi_pairs_select_flush(s, place);
        } else {
            __syncwarp(); // before other lanes overwrite the words
            s->words = 0, s->lost = 1;
        }
    }
#pragma unroll
    for (tmap_u32 w = 0; w < 2; ++w) {
        tmapi_pairs_select_word *to = s->queue + s->words + __popc(have[w] & s->lower);
        if (bits[w])
            to->bits = bits[w],
            to->from = (y / TMAPI_PAIRS_SELECT_ROWS + w) * 32 + threadIdx.x % 32;
        s->words += __popc(have[w]), s->hits += __popc(bits[w]);
    }
}

// Sets `bits` in a word if `hit` is not 0, by one predicated instruction. Compilers use a select
// and an addition.
TMAP_DEVICE tmap_u32 tmapi_pairs_select_mark(tmap_u32 word, int hit, tmap_u32 bits) {
#if defined(__CUDA_ARCH__)
    asm("{ .reg .pred hit; setp.ne.s32 hit, %1, 0; @hit or.b32 %0, %0, %2; }"
        : "+r"(word)
        : "r"(hit), "r"(bits));
    return word;
#else
    return hit ? word | bits : word;
#endif
}

// Calls choose for the pairs of 16 / size rows from row y + r on, r < ROWS, and of the same number
// of rows ROWS further down; the results are bits of two words. whole: a constant, 1: all pairs
// exist; 0: only those below the points' heights.
TMAP_DEVICE void tmapi_pairs_select_rows(const tmapi_pairs_select *s, tmapi_pairs_place place,
                                         const tmapi_pairs_point *mine, tmap_u32 y, tmap_u32 r,
                                         tmap_u32 *bits, int whole) {
    const tmap_u32 size = s->p.points.size, d = s->p.points.d, step = 16 / size;
#pragma unroll
    for (tmap_u32 x = 0; x < 2 * TMAPI_PAIRS_MINE; ++x) {
        const tmap_u32 c = x % TMAPI_PAIRS_MINE, w = x / TMAPI_PAIRS_MINE;
        const tmap_u32 height = whole ? TMAP_PAIRS_SIDE : tmapi_pairs_height(s->plan, place, c);
        const tmap_u32 first = y + w * TMAPI_PAIRS_SELECT_ROWS + r;
        tmapi_value vector[TMAP_PAIRS_D_MAX];
        if (!whole && first >= height) continue; // on the diagonal, half of all
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k)
            tmapi_value_copy(&vector[k],
                             tmapi_pairs_memory() + (k * TMAP_PAIRS_SIDE + first) * size, 16);
#pragma unroll
        for (tmap_u32 q = 0; q < step; ++q) {
            const tmap_pair pair = {place.i + first + q,
                                    place.j + c * TMAP_PAIRS_THREADS + threadIdx.x};
            tmapi_pairs_row row;
            tmapi_value value;
            row.set = (tmap_u32)place.set;
            if (!whole && first + q >= height) break;
#pragma unroll
            for (tmap_u32 k = 0; k < d; ++k)
                tmapi_value_copy(row.bytes + k * size, vector[k].bytes + q * size, size);
            bits[w] = tmapi_pairs_select_mark(
                bits[w], s->choice.choose(s->p.job, pair, row.bytes, mine[c].bytes, value.bytes),
                1u << ((r + q) * TMAPI_PAIRS_MINE + c));
        }
    }
}

// Finds the hits of all pairs of a tile. Collective for the warp.
TMAP_DEVICE void tmapi_pairs_select_tile(tmapi_pairs_select *s, tmapi_pairs_place place,
                                         const tmapi_pairs_point *mine, int write) {
    const tmap_u32 height = tmapi_pairs_rows_left(s->plan, place), step = 16 / s->p.points.size;
    const int whole = tmapi_pairs_whole(s->plan, place);
    for (tmap_u32 y = 0; y < height; y += 2 * TMAPI_PAIRS_SELECT_ROWS) {
        tmap_u32 bits[2] = {0, 0};
        if (whole) {
#pragma unroll
            for (tmap_u32 r = 0; r < TMAPI_PAIRS_SELECT_ROWS; r += step)
                tmapi_pairs_select_rows(s, place, mine, y, r, bits, 1);
        } else {
#pragma unroll 1
            for (tmap_u32 r = 0; r < TMAPI_PAIRS_SELECT_ROWS; r += step)
                tmapi_pairs_select_rows(s, place, mine, y, r, bits, 0);
        }
        tmapi_pairs_select_push(s, place, y, bits, write);
    }
}

// ---- positions in the fixed order ---------------------------------------------------------------

// Position in the list of this warp's first hit. Collective for the block, with barriers.
TMAP_DEVICE tmap_u64 tmapi_pairs_select_place(tmapi_pairs_select_shared *shared, tmap_u64 *words,
                                              tmap_u64 t, tmap_u32 hits) {
    const tmap_u32 warp = threadIdx.x / 32, all = tmap_warp_sum_redux(tmap_warp_full(), hits);
    tmap_u64 before = 0;
    if (threadIdx.x % 32 == 0) shared->hits[warp] = all;
    __syncthreads();
    if (warp == 0) {
        tmap_u64 of_tile = 0, at;
        for (tmap_u32 w = 0; w < TMAPI_PAIRS_SELECT_WARPS; ++w) of_tile += shared->hits[w];
        at = tmapi_fold_before(words, t, of_tile);
        if (threadIdx.x == 0) shared->at = at;
    }
    __syncthreads();
    for (tmap_u32 w = 0; w < warp; ++w) before += shared->hits[w];
    return shared->at + before;
}

// ---- the launch ---------------------------------------------------------------------------------

// The last of `blocks` blocks writes the number of hits and clears the workspace.
TMAP_DEVICE void tmapi_pairs_select_end(const tmap_pairs_plan *plan, const tmap_pairs_list *list,
                                        int fixed, tmap_u32 blocks) {
    volatile tmap_u64 *state = (volatile tmap_u64 *)list->workspace;
    const tmap_u64 words = fixed ? plan->count : 0;
    __syncthreads(); // thread 0 then fences for the block's writes
    if (!tmapi_fold_last((tmap_u64 *)list->workspace, blocks)) return;
    if (threadIdx.x == 0) {
        const tmap_u64 all = fixed && !words ? 0 : state[1 + words]; // the last tile's word
        *list->count = all & TMAPI_FOLD_SUM, state[1] = 0;
    }
    __syncthreads();
    for (tmap_u64 i = threadIdx.x; i < words; i += TMAP_PAIRS_THREADS) state[2 + i] = 0;
}

// Lists the pairs of the plan's share for which choose returns non-zero, each once. Writes (i, j)
// to list->pairs, and the value of choice.choose(job, pair, a, b, &value) to list->values unless
// that is null. Writes the number of hits to *list->count, even if it exceeds the capacity; the
// list then has `capacity` hits, in the fixed order the first ones. With several sets, the listed i
// and j number points in memory: point i of set b is b * n + i, or b * others + j in the second
// set, modulo 2^32. `choose` receives the numbers within the set; tmap_pairs_set(a) is the set's.
// plan: of tmap_pairs_plan_make. list: the same for all threads. All threads of all blocks call it,
// in blocks of TMAP_PAIRS_THREADS threads, at most once in a launch.
// Errors: the call does nothing if the count or the workspace is null or not at a multiple of 8. If
// the pairs are, the capacity counts as 0; if the values are null or not at a multiple of
// choice.bytes, no values are written. tmap_pairs_select_launch reports all of this except the
// values.
// Cost: for each pair, choose without its value, and about two instructions. For each hit, some
// tens of instructions of a warp, shared by the hits in its queue. In the fixed order a tile is
// visited twice if a warp has more words than its queue holds, from about one hit in 120 pairs on.
// Shared memory: 14 KiB beside the plan's.
// Example: points 0, 1, 3, 4 on a line, distances below 2: (0,1) and (2,3), count 2.
TMAP_DEVICE void tmap_pairs_select(const tmap_pairs_plan *plan, tmap_points points,
                                   tmap_pairs_choice choice, const tmap_pairs_list *list,
                                   void *job) {
    __shared__ tmapi_pairs_select_shared shared;
    const int fixed = choice.order == TMAP_PAIRS_FIXED_ORDER;
    tmap_u64 *state = (tmap_u64 *)list->workspace, t = blockIdx.x;
    tmap_u32 blocks = gridDim.x;
    tmapi_pairs_select s;
    if (!tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_EACH, "tmap_pairs_select") ||
        !TMAPI_CHECK(list->count && state && ((tmap_u64)list->count | (tmap_u64)state) % 8 == 0,
                     "tmap_pairs_select", "list.count or .workspace is null or misaligned"))
        return;
    if (!tmapi_value_size_fits(8, list->count) || !tmapi_value_size_fits(8, state)) return;
    if (!list->count || !state) return;
    if (fixed) { // blocks beyond those the device holds would find no tile
        if (blocks > plan->resident) blocks = plan->resident;
        if (blockIdx.x >= blocks) return;
    }
    s.plan = plan, s.p = tmapi_pairs_make(points, 0, 0, job);
    s.choice = choice, s.list = list, s.total = fixed ? 0 : state + 1;
    s.queue = shared.queue[threadIdx.x / 32], s.lower = (1u << threadIdx.x % 32) - 1;
    for (;; t += gridDim.x) {
        tmapi_pairs_place place;
        tmapi_pairs_point mine[TMAPI_PAIRS_MINE];
        __syncthreads(); // before the next tile's points arrive
        if (fixed) {
            if (threadIdx.x == 0) shared.tile = atomicAdd(state + 1, 1ull);
            __syncthreads();
            t = shared.tile;
        }
        if (t >= plan->count) break;
        place = tmapi_pairs_place_of(plan, plan->first + t);
        tmapi_pairs_load(plan, &s.p, place, mine);
        s.at = 0, s.words = 0, s.hits = 0, s.lost = 0;
        for (int again = !fixed;; again = 1) {
            tmapi_pairs_select_tile(&s, place, mine, again);
            if (again) break;
            s.at = tmapi_pairs_select_place(&shared, state + 2, t, s.hits);
            if (!s.lost) break;
            s.words = 0;
        }
        tmapi_pairs_select_flush(&s, place);
    }
    tmapi_pairs_select_end(plan, list, fixed, blocks);
}

#if !TMAP_NVRTC

// Launches a kernel that calls tmap_pairs_select, as tmap_pairs_launch does. list: the one that the
// kernel uses, read on the host. Returns cudaErrorInvalidValue for a plan of another kind, a count
// or a workspace that is null or not at a multiple of 8, and for pairs that are not at a multiple
// of 8, or null with a capacity.
static inline cudaError_t tmap_pairs_select_launch(const tmap_pairs_plan *plan,
                                                   const tmap_pairs_list *list, tmap_job job,
                                                   cudaStream_t stream) {
    if (!list || !list->count || !list->workspace || (list->capacity && !list->pairs) ||
        ((tmap_u64)list->count | (tmap_u64)list->workspace | (tmap_u64)list->pairs) % 8)
        return cudaErrorInvalidValue;
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_EACH, job, stream);
}

#endif

#endif // TMAP_CUDA
#endif
