// SPDX-License-Identifier: MIT
// triples.h: the engine for all triples i > j > k of n points. You make a plan on the host and call
// the engine from your own kernel with a function for a triple:
//
//     tmap_triples_each     calls a function for every triple
//     tmap_triples_fold     accumulates over all triples and joins to one value
//     tmap_triples_select   lists the triples for which a function returns non-zero
//
// Adds the areas of all triangles (a complete program: samples/triangle/27_axilrod_teller.cu):
//
//     static __device__ void add(void *job, void *sum, tmap_triple triple, const void *a,
//                                const void *b, const void *c) { // pointers to coordinates
//         ((area *)sum)->part += area_of(a, b, c);
//     }
//     const tmap_points points = {j.points, 0, sizeof(float), 3}; // in your kernel
//     const tmap_fold sum = {&zero, sizeof zero, join};
//     tmap_triples_fold(&plan, points, add, sum, j.to, &j);
//     ... tmap_triples_plan_make(n, 3, sizeof(float), (const void *)add_areas, &plan);
//     ... tmap_triples_launch(&plan, &j, stream);
//
// Points are cut into tiles of 64. A block takes three tiles I >= J >= K, whose numbers are the
// triple of simplex.h, i >= j >= k, of the block's item. A thread holds four points i and two
// points j in registers; the points k are in shared memory, and all threads read the same ones. So
// what your function computes from two points is computed once for several triples: from i and j
// before the loop over k, from i and k for two points j, from j and k for four points i.
#ifndef TMAP_TRIANGLE_TRIPLES_H
#define TMAP_TRIANGLE_TRIPLES_H

#include "pairs_select.h"
#include "simplex.h"

// ---- plans --------------------------------------------------------------------------------------

// Points of a tile, threads of a block, and the most points: n(n-1)(n-2)/6 fits 64 bits.
#define TMAP_TRIPLES_SIDE    64u
#define TMAP_TRIPLES_THREADS 128u
#define TMAP_TRIPLES_N_MAX   4801280u

#define TMAPI_TRIPLES_ROWS    4u                       // points i of a thread at a time
#define TMAPI_TRIPLES_COLUMNS (TMAP_TRIPLES_SIDE / 32) // points j of a thread
// Points i that the block takes at a time, and the largest cut.
#define TMAPI_TRIPLES_STEP (TMAP_TRIPLES_THREADS / 32 * TMAPI_TRIPLES_ROWS)
#define TMAPI_TRIPLES_CUT  2u
// Tiles are cut until there are this number of items, on every device.
#ifndef TMAPI_TRIPLES_ITEMS
#define TMAPI_TRIPLES_ITEMS 2048u
#endif
// The most parts of a share, and members of a group that are joined at a time.
#ifndef TMAPI_TRIPLES_PARTS
#define TMAPI_TRIPLES_PARTS 65536u
#endif
#ifndef TMAPI_TRIPLES_GROUP
#define TMAPI_TRIPLES_GROUP 128u
#endif

// A plan of triples. Its items are triples of tiles in the order of tmap_simplex_map64, or bands of
// the rows i of each if there are few. A part is a run of items that a block takes one after
// another.
typedef struct tmap_triples_plan {
    tmap_u32 n, d, size;          // points, coordinates of a point, bytes of a coordinate
    tmap_u32 side;                // points of a tile: each engine has a side of its own
    tmap_u32 cut, band;           // three tiles are 2^cut items, of `band` points i each
    tmap_u64 items;               // of all triples
    tmap_u64 first, count;        // the share: its first item, its number of items
    tmap_u64 run, parts;          // items of a part, parts of the share
    tmap_u64 workspace;           // bytes of the workspace, the same for every share
    const void *kernel;           // the kernel to launch
    tmap_u32 grid, block, shared; // blocks, threads of a block, dynamic shared memory in bytes
} tmap_triples_plan;

// Number of triples of n points, n(n-1)(n-2)/6; saturates. Example: n = 4096: 11444858880.
TMAP_FN tmap_u64 tmap_triples_cells(tmap_u64 n) { return n < 3 ? 0 : tmap_simplex_cells(n - 2); }

// Parts are joined in groups, groups in groups of groups, and so on to one. Number of groups of
// `members` members, and of all groups up to the last.
TMAP_FN tmap_u64 tmapi_triples_groups(tmap_u64 members) {
    return members / TMAPI_TRIPLES_GROUP + (members % TMAPI_TRIPLES_GROUP != 0);
}
TMAP_FN tmap_u64 tmapi_triples_groups_all(tmap_u64 members) {
    tmap_u64 all = 0;
    for (; members > 1; all += members) members = tmapi_triples_groups(members);
    return all;
}

// The most parts of a share of a plan with this number of items.
TMAP_FN tmap_u64 tmapi_triples_most(tmap_u64 items) {
    return items < TMAPI_TRIPLES_PARTS ? items : TMAPI_TRIPLES_PARTS;
}

// Bytes of the workspace before the accumulators: a counter for each group, at the same place for
// every share and every plan.
TMAP_FN tmap_u64 tmapi_triples_counters(void) {
    return 16 + (8 * tmapi_triples_groups_all(TMAPI_TRIPLES_PARTS) + 15) / 16 * 16;
}

// Sets the share, its parts and the grid.
TMAP_FN void tmapi_triples_plan_spread(tmap_triples_plan *plan, tmap_u64 first, tmap_u64 count) {
    plan->first = first, plan->count = count;
    plan->run = count / TMAPI_TRIPLES_PARTS + (count % TMAPI_TRIPLES_PARTS != 0);
    if (!plan->run) plan->run = 1;
    plan->parts = count / plan->run + (count % plan->run != 0);
    plan->grid = plan->parts ? (tmap_u32)plan->parts : 1;
}

// Completes a plan of tiles of `side` points, which are cut at most `most` times. Returns
// TMAP_ERANGE if no block of the kernel fits the device.
TMAP_FN int tmapi_triples_plan_end(tmap_triples_plan *p, const tmap_facts *facts, tmap_u32 most,
                                   tmap_triples_plan *out) {
    tmap_u64 parts;
    if (!tmap_resident_blocks(facts, p->block, p->shared)) return TMAP_ERANGE;
    p->kernel = 0, p->items = tmap_simplex_cells(tmapi_pairs_tiles(p->n, p->side));
    for (p->cut = 0; p->cut < most; ++p->cut, p->items *= 2)
        if (p->items >= TMAPI_TRIPLES_ITEMS) break;
    p->band = p->side >> p->cut;
    parts = tmapi_triples_most(p->items);
    p->workspace =
        tmapi_triples_counters() + TMAP_FOLD_BYTES_MAX * (parts + tmapi_triples_groups_all(parts));
    tmapi_triples_plan_spread(p, 0, p->items);
    *out = *p;
    return TMAP_OK;
}

// Makes the plan of tmap_triples_plan_make from facts, without a CUDA call; out->kernel is 0.
// Returns TMAP_EINVAL for a null pointer or a number outside its range, TMAP_ERANGE if no block of
// the kernel fits the device. Writes *out only on success.
TMAP_FN int tmap_triples_plan_of(tmap_u32 n, tmap_u32 d, tmap_u32 size, const tmap_facts *facts,
                                 tmap_triples_plan *out) {
    tmap_triples_plan p;
    if (!out || !facts || n > TMAP_TRIPLES_N_MAX) return TMAP_EINVAL;
    if (d < 1 || d > TMAP_PAIRS_D_MAX || (size != 4 && size != 8)) return TMAP_EINVAL;
    p.n = n, p.d = d, p.size = size, p.side = TMAP_TRIPLES_SIDE, p.block = TMAP_TRIPLES_THREADS;
    p.shared = 2 * TMAP_TRIPLES_SIDE * d * size;
    return tmapi_triples_plan_end(&p, facts, TMAPI_TRIPLES_CUT, out);
}

// Restricts a plan to `count` of its items, from item `first` on: the share of one GPU or one
// batch. If the shares cover all items without overlap, every triple is visited once. first +
// count: at most plan->items. Returns TMAP_EINVAL for a null pointer, a plan that no plan maker has
// made and a number outside its range, and then leaves the plan as it was.
TMAP_FN int tmap_triples_plan_share_of(tmap_triples_plan *plan, tmap_u64 first, tmap_u64 count) {
    if (!plan || !plan->side || first > plan->items || count > plan->items - first)
        return TMAP_EINVAL;
    tmapi_triples_plan_spread(plan, first, count);
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// Makes the plan of a kernel over all triples of n points of d coordinates of `size` bytes each.
// Range: n: 0 to TMAP_TRIPLES_N_MAX. d: 1 to TMAP_PAIRS_D_MAX. size: 4 or 8. kernel: a __global__
// function of TMAP_TRIPLES_THREADS threads, cast to const void *. A plan is for the device that is
// current here, and serves any number of launches on it.
// Allocate plan.workspace bytes of device memory for the kernel, at a multiple of 16, and zero them
// once: at most 4.3 MB. Every launch leaves them ready for the next, of this or of another plan.
// Launches that overlap need one each.
// Returns cudaErrorInvalidValue for a null pointer or a number outside its range,
// cudaErrorInvalidConfiguration if no block of the kernel fits the device, else the error of a CUDA
// call. Writes *out only on success.
// Cost: CUDA runtime calls that do not wait for the device.
// Example: tmap_triples_plan_make(4096, 3, sizeof(float), (const void *)look, &plan): 45760 items.
static inline cudaError_t tmap_triples_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                 const void *kernel, tmap_triples_plan *out) {
    tmap_triples_plan p;
    tmap_facts facts;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmap_triples_plan_of(n, d, size, &facts, &p));
    if (!error) error = tmapi_launch_shared(kernel, p.shared);
    if (!error) p.kernel = kernel, *out = p;
    return error;
}

// tmap_triples_plan_share_of, with an error of CUDA.
static inline cudaError_t tmap_triples_plan_share(tmap_triples_plan *plan, tmap_u64 first,
                                                  tmap_u64 count) {
    return tmapi_launch_error(tmap_triples_plan_share_of(plan, first, count));
}

// Launches a plan with tiles of `side` points; refuses others.
static inline cudaError_t tmapi_triples_launch_as(const tmap_triples_plan *plan, tmap_u32 side,
                                                  tmap_job job, cudaStream_t stream) {
    if (!plan || !plan->kernel || !job || plan->side != side) return cudaErrorInvalidValue;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

// Launches the plan's kernel, whose parameters are the plan and one struct of your own, both by
// value. job: the address of that struct. A plan without items is launched too, because a fold
// still writes its result. The launch can be captured in a graph. Returns cudaErrorInvalidValue for
// a null pointer or a plan of another header, else the launch's own error. It neither reports nor
// clears an error that an earlier call left.
static inline cudaError_t tmap_triples_launch(const tmap_triples_plan *plan, tmap_job job,
                                              cudaStream_t stream) {
    return tmapi_triples_launch_as(plan, TMAP_TRIPLES_SIDE, job, stream);
}

#endif

#if TMAP_CUDA

// ---- all triples of three tiles -----------------------------------------------------------------

// Your function for a triple. triple: i > j > k. a, b, c: points i, j and k, copies of their d
// coordinates as you stored them, in registers. accumulator: that of tmap_triples_fold, else 0.
typedef void (*tmap_triples_visit)(void *job, void *accumulator, tmap_triple triple, const void *a,
                                   const void *b, const void *c);

// Your function of tmap_triples_select: returns non-zero to list the triple.
typedef int (*tmap_triples_choose)(void *job, tmap_triple triple, const void *a, const void *b,
                                   const void *c);

// Where hits are written; all pointers are device memory.
typedef struct tmap_triples_list {
    tmap_triple *triples; // `capacity` triples at a multiple of 4 bytes
    tmap_u64 capacity;    // the most hits that are written; may be 0
    tmap_u64 *count;      // receives the number of hits, which may exceed the capacity
    void *workspace;      // plan.workspace bytes
} tmap_triples_list;

// What is constant in a launch. Sizes and functions are compile-time constants.
typedef struct tmapi_triples {
    tmap_points points;
    tmap_triples_visit visit; // or:
    tmap_triples_choose choose;
    const tmap_triples_list *list;
    void *accumulator, *job;
    tmap_u32 n;
} tmapi_triples;

// A function, because nvcc does not fold the members of an initialised struct as well.
TMAP_DEVICE tmapi_triples tmapi_triples_make(const tmap_triples_plan *plan, tmap_points points,
                                             tmap_triples_visit visit, void *accumulator,
                                             void *job) {
    tmapi_triples p;
    p.points = points, p.visit = visit, p.choose = 0, p.list = 0, p.n = plan->n;
    p.accumulator = accumulator, p.job = job;
    return p;
}

// 1 if a call fits the plan and the launch (only with -DTMAP_CHECK).
TMAP_DEVICE int tmapi_triples_check(const tmap_triples_plan *plan, tmap_points points,
                                    const char *function) {
    return tmapi_pairs_check_plan(plan->side, TMAP_TRIPLES_SIDE, function) &&
           TMAPI_CHECK(points.d == plan->d, function, "points.d is not the plan's d") &&
           TMAPI_CHECK(points.size == plan->size, function, "points.size is not the plan's") &&
           TMAPI_CHECK(!points.b, function, "triples have no second set, points.b") &&
           TMAPI_CHECK(blockDim.x == plan->block, function, "blocks have other threads");
}

// Coordinate x of point `at` of the tile of points k, or of points i.
TMAP_DEVICE unsigned char *tmapi_triples_shared(const tmapi_triples *p, int i, tmap_u32 x,
                                                tmap_u32 at) {
    const tmap_u32 size = p->points.size, d = p->points.d;
    return tmapi_pairs_memory() + (((i ? d : 0) + x) * TMAP_TRIPLES_SIDE + at) * size;
}

// Copies coordinate x of a point; of a point that does not exist, 0.
TMAP_DEVICE void tmapi_triples_fetch(const tmapi_triples *p, void *to, tmap_u32 point, tmap_u32 x) {
    const tmap_u32 size = p->points.size, d = p->points.d;
    const unsigned char *points = (const unsigned char *)p->points.a;
    if (point < p->n)
        tmapi_value_copy(to, points + ((tmap_u64)point * d + x) * size, size);
    else
        tmapi_value_zero(to, size);
}

// Adds the hits of a warp to the list. bits: of each lane; bit b is row b / columns % ROWS, column
// first + b % columns, and point k + b / columns / ROWS. Collective for the warp.
TMAP_DEVICE void tmapi_triples_append(const tmapi_triples *p, tmap_triple at, tmap_u32 columns,
                                      tmap_u32 bits) {
    const tmap_triples_list *list = p->list;
    const tmap_u32 lane = threadIdx.x % 32, hits = __popc(bits);
    tmap_u64 to = 0;
    if (!__any_sync(0xffffffffu, hits != 0)) return;
    const tmap_u32 sum = tmapi_warp_scan(lane, hits);
    if (lane == 31) to = atomicAdd((tmap_u64 *)list->workspace + 1, (tmap_u64)sum);
    to = __shfl_sync(0xffffffffu, to, 31) + sum - hits;
    for (; bits; bits &= bits - 1, ++to) {
        const tmap_u32 bit = (tmap_u32)__ffs((int)bits) - 1, r = bit / columns;
        if (to >= list->capacity || !list->triples) break;
        list->triples[to].i = at.i + r % TMAPI_TRIPLES_ROWS;
        list->triples[to].j = at.j + bit % columns * 32;
        list->triples[to].k = at.k + r / TMAPI_TRIPLES_ROWS;
    }
}

// Visits the triples of a thread's rows, of its columns first to last - 1, and of 16 bytes of
// points k. at: its first triple; the point at.k is number k of its tile. Constants: below: 1: all
// i exist and are above all j; 0: only triples with j < i < n are visited. left: 1: all k are below
// all j; 0: only triples with k < j are visited. Collective for the warp.
TMAP_DEVICE void tmapi_triples_by(const tmapi_triples *p, tmap_triple at,
                                  const tmapi_pairs_point *rows, const tmapi_pairs_point *columns,
                                  tmap_u32 first, tmap_u32 last, tmap_u32 k, int below, int left) {
    const tmap_u32 size = p->points.size, d = p->points.d, step = 16 / size;
    tmap_u32 bits = 0;
    tmapi_value vector[TMAP_PAIRS_D_MAX];
#pragma unroll
    for (tmap_u32 x = 0; x < d; ++x)
        tmapi_value_copy(&vector[x], tmapi_triples_shared(p, 0, x, k), 16);
    at.j += first * 32;
#pragma unroll
    for (tmap_u32 q = 0; q < step; ++q) {
        tmapi_pairs_point third;
#pragma unroll
        for (tmap_u32 x = 0; x < d; ++x)
            tmapi_value_copy(third.bytes + x * size, vector[x].bytes + q * size, size);
#pragma unroll
        for (tmap_u32 c = first; c < last; ++c) {
            if (!left && at.k + q >= at.j + (c - first) * 32) continue;
#pragma unroll
            for (tmap_u32 r = 0; r < TMAPI_TRIPLES_ROWS; ++r) {
                const tmap_triple t = {at.i + r, at.j + (c - first) * 32, at.k + q};
                const tmap_u32 bit = (q * TMAPI_TRIPLES_ROWS + r) * (last - first) + c - first;
                if (!below && !(t.j < t.i && t.i < p->n)) continue;
                if (p->choose)
                    bits = tmapi_pairs_select_mark(
                        bits, p->choose(p->job, t, rows[r].bytes, columns[c].bytes, third.bytes),
                        1u << bit);
                else
                    p->visit(p->job, p->accumulator, t, rows[r].bytes, columns[c].bytes,
                             third.bytes);
            }
        }
    }
    if (p->choose) tmapi_triples_append(p, at, last - first, bits);
}

// Visits all triples of an item. The block's shared memory is free again after the next barrier.
// Collective for the block, with a barrier.
TMAP_DEVICE void tmapi_triples_item(const tmap_triples_plan *plan, const tmapi_triples *p,
                                    tmap_u64 item) {
    const tmap_u32 size = p->points.size, d = p->points.d, side = TMAP_TRIPLES_SIDE;
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 top = ((tmap_u32)item & ((1u << plan->cut) - 1)) * plan->band;
    const tmap_triple tile = tmap_simplex_map64(item >> plan->cut);
    const int below = tile.i > tile.j && tile.i * side + side <= p->n, left = tile.j > tile.k;
    tmapi_pairs_point columns[TMAPI_TRIPLES_COLUMNS];
    for (tmap_u32 at = threadIdx.x; at < 2 * side; at += TMAP_TRIPLES_THREADS) {
        const tmap_u32 i = at / side, point = (i ? tile.i : tile.k) * side + at % side;
#pragma unroll
        for (tmap_u32 x = 0; x < d; ++x)
            tmapi_triples_fetch(p, tmapi_triples_shared(p, (int)i, x, at % side), point, x);
    }
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_TRIPLES_COLUMNS; ++c)
#pragma unroll
        for (tmap_u32 x = 0; x < d; ++x)
            tmapi_triples_fetch(p, columns[c].bytes + x * size, tile.j * side + c * 32 + lane, x);
    __syncthreads();
    for (tmap_u32 row = top + warp * TMAPI_TRIPLES_ROWS; row < top + plan->band;
         row += TMAPI_TRIPLES_STEP) {
        tmap_triple at = {tile.i * side + row, tile.j * side + lane, tile.k * side};
        tmapi_pairs_point rows[TMAPI_TRIPLES_ROWS];
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_TRIPLES_ROWS; ++r)
#pragma unroll
            for (tmap_u32 x = 0; x < d; ++x)
                tmapi_value_copy(rows[r].bytes + x * size, tmapi_triples_shared(p, 1, x, row + r),
                                 size);
        if (below && left) {
#pragma unroll 1
            for (tmap_u32 k = 0; k < side; k += 16 / size, at.k += 16 / size)
                tmapi_triples_by(p, at, rows, columns, 0, TMAPI_TRIPLES_COLUMNS, k, 1, 1);
            continue;
        }
#pragma unroll // columns differ in the points k before them
        for (tmap_u32 c = 0; c < TMAPI_TRIPLES_COLUMNS; ++c) {
            const tmap_u32 end = left ? side : 32 * c + 32;
            if (at.i >= p->n || tile.j * side + 32 * c >= at.i + TMAPI_TRIPLES_ROWS) break;
            at.k = tile.k * side;
#pragma unroll 1
            for (tmap_u32 k = 0; k < end; k += 16 / size, at.k += 16 / size)
                if (below)
                    tmapi_triples_by(p, at, rows, columns, c, c + 1, k, 1, 0);
                else
                    tmapi_triples_by(p, at, rows, columns, c, c + 1, k, 0, 0);
        }
    }
}

// Item number `at` of part `part` of the share; *left: the part's items from there on.
TMAP_DEVICE tmap_u64 tmapi_triples_part(const tmap_triples_plan *plan, tmap_u64 part,
                                        tmap_u64 *left) {
    const tmap_u64 from = part * plan->run;
    *left = plan->count - from < plan->run ? plan->count - from : plan->run;
    return plan->first + from;
}

// Visits all triples of a part of the share. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_triples_visit_part(const tmap_triples_plan *plan, const tmapi_triples *p,
                                          tmap_u64 part) {
    tmap_u64 left, item = tmapi_triples_part(plan, part, &left);
    for (; left; --left, ++item) {
        tmapi_triples_item(plan, p, item);
        __syncthreads(); // before the next item's points arrive
    }
}

// Joins the accumulators of a part over the block; the last block of a group joins the group's, and
// the last of all writes the result. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_triples_join(const tmap_triples_plan *plan, tmap_u64 part, void *all,
                                    tmap_fold fold, tmap_fold_to to, void *job) {
    const tmap_u32 bytes = fold.bytes;
    tmap_u64 *counters = (tmap_u64 *)to.workspace, at = part, members = plan->parts;
    unsigned char *parts = (unsigned char *)to.workspace + tmapi_triples_counters();
    void *scratch = tmapi_fold_scratch(bytes);
    tmap_fold_block(all, fold, job, scratch);
    while (members > 1) { // all: member `at` of `members`
        const tmap_u64 group = at / TMAPI_TRIPLES_GROUP, first = group * TMAPI_TRIPLES_GROUP;
        tmap_u64 count = members - first;
        if (count > TMAPI_TRIPLES_GROUP) count = TMAPI_TRIPLES_GROUP;
        if (threadIdx.x == 0) tmapi_fold_move(parts + at * bytes, all, bytes);
        if (!tmapi_fold_last(counters + group, count)) break;
        tmapi_fold_parts(all, fold.zero, bytes, fold.join, job, scratch, parts + first * bytes,
                         count);
        parts += members * bytes, at = group;
        members = tmapi_triples_groups(members), counters += members;
    }
    if (members == 1 && threadIdx.x == 0) tmapi_fold_move(to.result, all, bytes);
    __syncthreads(); // before `scratch` is written again
}

// ---- the engines --------------------------------------------------------------------------------

// Calls visit(job, 0, triple, a, b, c) once for every triple of the plan's share, in no particular
// order. This suits results that you add with atomics, such as a histogram. All threads of all
// blocks call it, in blocks of TMAP_TRIPLES_THREADS threads. visit: a __device__ function without
// barriers or collectives. After the call all threads of a block see what its visits wrote to the
// block's shared memory.
// Errors: none are returned; a program compiled with -DTMAP_CHECK stops if the call does not fit
// the plan.
// Cost: for each triple, visit less what it shares with others, and a quarter of an instruction.
TMAP_DEVICE void tmap_triples_each(const tmap_triples_plan *plan, tmap_points points,
                                   tmap_triples_visit visit, void *job) {
    const tmapi_triples p = tmapi_triples_make(plan, points, visit, 0, job);
    if (!tmapi_triples_check(plan, points, "tmap_triples_each")) return;
    for (tmap_u64 part = blockIdx.x; part < plan->parts; part += gridDim.x)
        tmapi_triples_visit_part(plan, &p, part);
}

// Accumulates add(job, accumulator, triple, a, b, c) over all triples of the plan's share and
// writes one accumulator to to.result. fold.join(job, accumulator, &other) joins accumulators; a
// share without a triple gets fold.zero. You join the results of several shares. to.workspace:
// plan.workspace bytes. All threads of all blocks call it, once in a launch, in blocks of
// TMAP_TRIPLES_THREADS threads. add: a __device__ function without barriers or collectives.
// fold.bytes: a multiple of 4, 4 to TMAP_FOLD_BYTES_MAX.
// Exactness: the result of a share is the same in every bit, whatever the grid. A thread's
// accumulator begins again at fold.zero in each item and sees at most 2048 triples. So add may
// count in 32 bits or sum floats, if join adds in 64 bits or in double precision.
// Errors and cost: as tmap_triples_each.
TMAP_DEVICE void tmap_triples_fold(const tmap_triples_plan *plan, tmap_points points,
                                   tmap_triples_visit add, tmap_fold fold, tmap_fold_to to,
                                   void *job) {
    tmapi_fold_words sum, all;
    const tmapi_triples p = tmapi_triples_make(plan, points, add, &sum, job);
    const tmap_u32 bytes = fold.bytes;
    if (!tmapi_triples_check(plan, points, "tmap_triples_fold") ||
        !tmapi_fold_check(fold, "tmap_triples_fold"))
        return;
    for (tmap_u64 part = blockIdx.x; part < plan->parts; part += gridDim.x) {
        tmap_u64 left, item = tmapi_triples_part(plan, part, &left);
        tmapi_fold_move(&all, fold.zero, bytes);
        for (; left; --left, ++item) {
            tmapi_fold_move(&sum, fold.zero, bytes);
            tmapi_triples_item(plan, &p, item);
            fold.join(job, &all, &sum);
            __syncthreads(); // before the next item's points arrive
        }
        tmapi_triples_join(plan, part, &all, fold, to, job);
    }
    if (!plan->parts && blockIdx.x == 0 && threadIdx.x == 0)
        tmapi_fold_move(to.result, fold.zero, bytes);
}

// Lists the triples of the plan's share for which choose(job, triple, a, b, c) returns non-zero,
// each once, in an order that differs from launch to launch. Writes them to list->triples and their
// number to *list->count, even if it exceeds the capacity; the list then has `capacity` of them.
// choose: a __device__ function without barriers or collectives. All threads of all blocks call it,
// in blocks of TMAP_TRIPLES_THREADS threads, at most once in a launch. list: the same for all
// threads.
// Errors: the call does nothing if the count or the workspace is null or not at a multiple of 8. If
// the triples are null, the capacity counts as 0. tmap_triples_select_launch reports all of this.
// Cost: for each triple, choose and about one instruction; for each warp and 1024 triples with a
// hit among them, some 50 instructions and an atomic.
// Example: points 0, 1, 3, 4 on a line, all within a distance of 3: (2,1,0) and (3,2,1), count 2.
TMAP_DEVICE void tmap_triples_select(const tmap_triples_plan *plan, tmap_points points,
                                     tmap_triples_choose choose, const tmap_triples_list *list,
                                     void *job) {
    tmap_u64 *state = (tmap_u64 *)list->workspace;
    tmapi_triples p = tmapi_triples_make(plan, points, 0, 0, job);
    p.choose = choose, p.list = list;
    if (!tmapi_triples_check(plan, points, "tmap_triples_select") ||
        !TMAPI_CHECK(list->count && state && ((tmap_u64)list->count | (tmap_u64)state) % 8 == 0,
                     "tmap_triples_select", "list.count or .workspace is null or misaligned"))
        return;
    if (!list->count || !state || ((tmap_u64)list->count | (tmap_u64)state) % 8) return;
    for (tmap_u64 part = blockIdx.x; part < plan->parts; part += gridDim.x)
        tmapi_triples_visit_part(plan, &p, part);
    __syncthreads(); // thread 0 then fences for the block's writes
    if (!tmapi_fold_last(state, gridDim.x) || threadIdx.x != 0) return;
    *list->count = ((volatile tmap_u64 *)state)[1], state[1] = 0;
}

#if !TMAP_NVRTC

// Launches a kernel that calls tmap_triples_select, as tmap_triples_launch does. list: the one that
// the kernel uses, read on the host. Returns cudaErrorInvalidValue for a count or a workspace that
// is null or not at a multiple of 8, and for triples that are not at a multiple of 4, or null with
// a capacity.
static inline cudaError_t tmap_triples_select_launch(const tmap_triples_plan *plan,
                                                     const tmap_triples_list *list, tmap_job job,
                                                     cudaStream_t stream) {
    if (!list || !list->count || !list->workspace || (list->capacity && !list->triples) ||
        ((tmap_u64)list->count | (tmap_u64)list->workspace) % 8 || (tmap_u64)list->triples % 4)
        return cudaErrorInvalidValue;
    return tmap_triples_launch(plan, job, stream);
}

#endif

#endif // TMAP_CUDA
#endif
