// SPDX-License-Identifier: MIT
// pairs.h: the engine for everything that looks at two of n points, called from a kernel of the
// user's own: a plan on the host, and a function for every pair.
//
//     tmap_pairs_each     calls a function for every pair (this header)
//     tmap_pairs_fold     joins what a function accumulates of all pairs to one value (this header)
//     tmap_pairs_select   lists the pairs to which a function says yes
//     tmap_pairs_rows     gives each point what a function makes of its pairs, both at once
//     tmap_pairs_store    stores a value for each pair in a condensed, square or lower matrix
//     tmap_pairs_frames   accumulates over all pairs in each of many frames
//
// Pairs nearer than a radius, counted (all of it: samples/triangle/15_farthest_pair.cu):
//
//     static __device__ void add(void *job, void *sum, tmap_pair pair, const void *a,
//                                const void *b) { // pointers to coordinates
//         if (distance(a, b) < ((near_job *)job)->radius) ++*(tmap_u64 *)sum;
//     }
//     const tmap_points points = {j.points, 0, sizeof(float), 3}; // in a kernel of the user's
//     const tmap_fold sum = {&zero, sizeof zero, join};
//     tmap_pairs_fold(&plan, points, add, sum, j.to, &j);
//     ... tmap_pairs_plan_make(n, 3, sizeof(float), (const void *)count_near, &plan);
//     ... tmap_pairs_launch(&plan, &j, stream);
//
// nvcc seldom takes the best number of registers: try a second number in __launch_bounds__, 12 for
// short functions, 1 for long ones.
#ifndef TMAP_TRIANGLE_PAIRS_H
#define TMAP_TRIANGLE_PAIRS_H

#include "../fold.h"
#include "../launch.h"
#include "../value.h"
#include "condensed.h"

// ---- points and plans ---------------------------------------------------------------------------

// Points along the sides of a tile, threads of a block, coordinates of a point.
#define TMAP_PAIRS_SIDE    512u
#define TMAP_PAIRS_THREADS 128u
#define TMAP_PAIRS_D_MAX   8u

// Points in device memory, at a multiple of `size`: d coordinates side by side, point i at i * d.
typedef struct tmap_points {
    const void *a; // the plan's n points, of all its sets one after the other
    const void *b; // the second set, or 0; it is looked at only where the plan has one
    tmap_u32 size; // bytes of a coordinate, 4 or 8: the plan's, a constant
    tmap_u32 d;    // coordinates: the plan's, a constant
} tmap_points;

// Layouts of a matrix with a value for each pair (pairs_store.h, pdist.h).
enum {
    TMAP_PAIRS_CONDENSED = 1, // scipy's order of pairs: tmap_condensed_index(i, j, n)
    TMAP_PAIRS_SQUARE,        // row i after row i - 1, all columns
    TMAP_PAIRS_LOWER,         // the same matrix; only j <= i is written
    TMAPI_PAIRS_LAYOUT = 3,
    TMAP_PAIRS_HOLLOW = 4 // added to a matrix: its diagonal is zero bytes, and not asked for
};
// Points along a side, and pitches, of such a plan at most.
#define TMAP_PAIRS_STORE_MAX 0x7ffffffu

// Kinds of plans, by the functions that go by them.
enum {
    TMAP_PAIRS_KIND_EACH = 1, // tmap_pairs_each, tmap_pairs_fold, tmap_pairs_select
    TMAP_PAIRS_KIND_ROWS,     // tmap_pairs_rows
    TMAP_PAIRS_KIND_STORE,    // tmap_pairs_store, tmap_pairs_store_sums
    TMAP_PAIRS_KIND_FRAMES    // tmap_pairs_frames
};

// A plan. Items are what a share of the work is counted in: tiles of `side` x `side` pairs, those
// of the first set first, row by row in the order of tmap_upper_map, of a matrix where there are
// two sets or a square is stored, of tmap_triangle_map for a lower one. A few tiles are cut into
// bands of rows, which are the items then.
typedef struct tmap_pairs_plan {
    tmap_u32 n, rows;             // points of a set; pairs with i below it
    tmap_u32 others;              // points of the second set; 0: there is none
    tmap_u32 d, size;             // coordinates of a point, bytes of a coordinate
    tmap_u32 sets, across;        // of points, equal ones; tiles of the first row of tiles
    tmap_u32 kind;                // TMAP_PAIRS_KIND_EACH, _ROWS or _STORE
    tmap_u64 tiles, items;        // items of a set and of all sets
    tmap_u64 first, count;        // this launch's share of them
    const void *kernel;           // the launch
    tmap_u32 grid, block, shared; // blocks, threads of a block, bytes
    tmap_u32 resident, side;      // blocks that the device holds at once; of tiles, in points
    tmap_u32 cut, cut_most, band; // a tile is 2^cut items, at most; rows of an item
    tmap_u32 layout, value;       // of what is stored, else 0; bytes of a value
    tmap_u32 before;              // columns before a tile's own that may be written with them
    tmap_u64 pitch;               // values from one row to the next; 0: as many as there are
    tmap_u64 step, values;        // the same but never 0, and values of a set
} tmap_pairs_plan;

// The pairs of a plan, all sets together; saturates. Example: n = 131072: 8589869056.
TMAP_FN tmap_u64 tmap_pairs_plan_pairs(const tmap_pairs_plan *plan) {
    tmap_u64 pairs = tmap_condensed_cells(plan->n) - tmap_condensed_cells(plan->n - plan->rows);
    if (plan->others) pairs = tmap_mul_saturate(plan->rows, plan->others);
    return tmap_mul_saturate(pairs, plan->sets);
}

// Points j of a set.
TMAP_FN tmap_u32 tmapi_pairs_columns(const tmap_pairs_plan *plan) {
    return plan->others ? plan->others : plan->n;
}

// ---- tiles --------------------------------------------------------------------------------------

TMAP_FN tmap_u32 tmapi_pairs_tiles(tmap_u32 n, tmap_u32 side) { return n / side + (n % side != 0); }

// Row *i and column *j of tile number `tile`, row by row. layout: the tiles that there are: all
// (TMAP_PAIRS_SQUARE), those of the lower triangle (TMAP_PAIRS_LOWER), in which row r has r + 1 +
// skew tiles, else those of the upper one. across: tiles of the first row. wide: a constant, 1 for
// numbers of 64 bits, but of a lower triangle.
TMAP_FN void tmapi_pairs_tile_of(tmap_u64 tile, tmap_u32 layout, tmap_u32 across, tmap_u32 skew,
                                 int wide, tmap_u32 *i, tmap_u32 *j) {
    const tmap_u32 low = (tmap_u32)tile;
    if (layout == TMAP_PAIRS_SQUARE) {
        const tmap_u64 row = wide ? tile / across : low / across;
        *i = (tmap_u32)row, *j = (tmap_u32)(tile - row * across);
    } else if (layout == TMAP_PAIRS_LOWER) {
        const tmap_pair p = tmap_triangle_map(low + skew);
        *i = p.i - skew, *j = p.j;
    } else if (wide) {
        const tmap_pair64 p = tmap_upper_map64(tile, across);
        *i = (tmap_u32)p.i, *j = (tmap_u32)p.j;
    } else {
        const tmap_pair p = tmap_upper_map(low, across);
        *i = p.i, *j = p.j;
    }
}

// An item's first pair, and its set.
typedef struct tmapi_pairs_place {
    tmap_u32 i, j;
    tmap_u64 set;
} tmapi_pairs_place;

TMAP_FN tmapi_pairs_place tmapi_pairs_place_of(const tmap_pairs_plan *plan, tmap_u64 item) {
    const tmap_u32 layout = plan->others ? TMAP_PAIRS_SQUARE : TMAP_PAIRS_CONDENSED;
    tmapi_pairs_place place;
    tmap_u32 band;
    place.set = plan->sets > 1 ? item / plan->tiles : 0, item -= place.set * plan->tiles;
    band = (tmap_u32)item & ((1u << plan->cut) - 1);
    tmapi_pairs_tile_of(item >> plan->cut, layout, plan->across, 0, 1, &place.i, &place.j);
    place.i = place.i * plan->side + band * plan->band;
    place.j *= plan->side;
    return place;
}

// ---- the plan of facts --------------------------------------------------------------------------

// The grid for the plan's share: a few times as many blocks as the device holds, since tiles of the
// diagonal end sooner; a block for each tile of what is stored, or none where no launch takes as
// many.
TMAP_FN void tmapi_pairs_plan_spread(tmap_pairs_plan *plan) {
    const tmap_u64 most = plan->layout ? 0x7fffffff : plan->resident * 16ull;
    plan->grid = (tmap_u32)(plan->count < most ? plan->count : most);
    if (!plan->grid) plan->grid = 1;
    if (plan->layout && plan->items > most) plan->grid = 0;
}

// Where the rows of what is stored lie: bits are counted in words of 32.
TMAP_FN void tmapi_pairs_plan_rows_of(tmap_pairs_plan *plan) {
    const tmap_u32 columns = tmapi_pairs_columns(plan);
    plan->step = plan->value ? columns : columns / 32 + (columns % 32 != 0);
    if (plan->pitch) plan->step = plan->pitch;
    plan->values = plan->rows * plan->step;
    if ((plan->layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED)
        plan->values = tmap_condensed_cells(plan->n) - tmap_condensed_cells(plan->n - plan->rows);
}

// Tiles are cut until there are that many items, whatever the device, or bands have 16 rows.
#define TMAPI_PAIRS_CUT 5u
#ifndef TMAPI_PAIRS_ITEMS
#define TMAPI_PAIRS_ITEMS 2048u
#endif

// The tiles of what the plan is restricted to, all of them.
TMAP_FN void tmapi_pairs_plan_tiles(tmap_pairs_plan *plan) {
    const tmap_u64 rows = tmapi_pairs_tiles(plan->rows, plan->side);
    const tmap_u32 layout = plan->layout & TMAPI_PAIRS_LAYOUT, skew = plan->before != 0;
    plan->across = tmapi_pairs_tiles(tmapi_pairs_columns(plan) + plan->before, plan->side);
    if (layout == TMAP_PAIRS_LOWER)
        plan->tiles = tmap_triangle_cells(rows + skew) - skew; // row r has r + 1 + skew
    else if (plan->others || layout == TMAP_PAIRS_SQUARE)
        plan->tiles = rows * plan->across;
    else
        plan->tiles = tmap_triangle_cells(plan->across) - tmap_triangle_cells(plan->across - rows);
    for (plan->cut = 0; plan->cut < plan->cut_most; ++plan->cut, plan->tiles *= 2)
        if (plan->tiles * plan->sets >= TMAPI_PAIRS_ITEMS) break;
    plan->band = TMAP_PAIRS_SIDE >> plan->cut;
    plan->items = plan->tiles * plan->sets; // below 2^46 times 2^16: see tmap_pairs_plan_sets
    plan->first = 0, plan->count = plan->items;
    tmapi_pairs_plan_rows_of(plan);
    tmapi_pairs_plan_spread(plan);
}

// What every plan begins with: one set of points, nothing stored, no tiles yet.
TMAP_FN tmap_pairs_plan tmapi_pairs_plan_begin(tmap_u32 kind, tmap_u32 n, tmap_u32 d,
                                               tmap_u32 size) {
    tmap_pairs_plan p;
    p.kind = kind, p.n = p.rows = n, p.others = 0, p.d = d, p.size = size, p.sets = 1;
    p.kernel = 0, p.block = TMAP_PAIRS_THREADS, p.shared = p.resident = 0;
    p.side = TMAP_PAIRS_SIDE, p.cut = p.cut_most = 0;
    p.layout = p.value = p.before = 0, p.pitch = 0;
    return p;
}

// Ends a plan: the blocks that the device holds, and its tiles. TMAP_ERANGE where it holds none.
TMAP_FN int tmapi_pairs_plan_end(tmap_pairs_plan *p, const tmap_facts *facts,
                                 tmap_pairs_plan *out) {
    p->resident = tmap_resident_blocks(facts, p->block, p->shared) * facts->device.processors;
    if (!p->resident) return TMAP_ERANGE;
    tmapi_pairs_plan_tiles(p);
    *out = *p;
    return TMAP_OK;
}

// tmap_pairs_plan_make from facts, without a call of CUDA: out->kernel is 0. Returns TMAP_EINVAL
// for a null pointer and for numbers outside the ranges, TMAP_ERANGE for a kernel whose block
// does not fit the device. *out is written only on success.
TMAP_FN int tmap_pairs_plan_of(tmap_u32 n, tmap_u32 d, tmap_u32 size, const tmap_facts *facts,
                               tmap_pairs_plan *out) {
    tmap_pairs_plan p = tmapi_pairs_plan_begin(TMAP_PAIRS_KIND_EACH, n, d, size);
    if (!out || !facts || n > 0xffffffffu - TMAP_PAIRS_SIDE) return TMAP_EINVAL;
    if (d < 1 || d > TMAP_PAIRS_D_MAX || (size != 4 && size != 8)) return TMAP_EINVAL;
    p.shared = TMAP_PAIRS_SIDE * d * size, p.cut_most = TMAPI_PAIRS_CUT;
    return tmapi_pairs_plan_end(&p, facts, out);
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- plans and launches -------------------------------------------------------------------------

// Ends a plan maker: what `_of` returned, and its plan.
static inline cudaError_t tmapi_pairs_plan_keep(int code, tmap_pairs_plan *p, const void *kernel,
                                                tmap_pairs_plan *out) {
    cudaError_t error = out ? tmapi_launch_error(code) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_shared(kernel, p->shared);
    if (!error) p->kernel = kernel, *out = *p;
    return error;
}

// The plan of a kernel over all pairs of n points of d coordinates of `size` bytes each. n: 0 to
// 2^32 - 1 - TMAP_PAIRS_SIDE. d: 1 to TMAP_PAIRS_D_MAX. size: 4 or 8. kernel: a __global__ function
// of TMAP_PAIRS_THREADS threads, cast to const void *. A plan serves any number of launches on the
// device that was the current one.
// Returns cudaErrorInvalidValue for a null pointer and numbers outside these ranges,
// cudaErrorInvalidConfiguration if no block of the kernel fits the device; else a CUDA error.
// *out is written only on success. Cost: calls of the CUDA runtime that do not wait for the device.
// Example: tmap_pairs_plan_make(131072, 3, sizeof(float), (const void *)look, &plan).
static inline cudaError_t tmap_pairs_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                               const void *kernel, tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get(kernel, &facts);
    if (error) return error;
    return tmapi_pairs_plan_keep(tmap_pairs_plan_of(n, d, size, &facts, &p), &p, kernel, out);
}

// The next four restrict or widen a plan; all but the last forget a share. They return
// cudaErrorInvalidValue for a null pointer and numbers outside the ranges.

// Changes a number of a plan, all of whose tiles it then has.
static inline cudaError_t tmapi_pairs_plan_change(tmap_pairs_plan *plan, tmap_u32 *number,
                                                  tmap_u32 to) {
    *number = to;
    tmapi_pairs_plan_tiles(plan);
    return cudaSuccess;
}

// Restricts a plan to the pairs with i < rows, 0 to n: the first rows of the condensed matrix.
static inline cudaError_t tmap_pairs_plan_rows(tmap_pairs_plan *plan, tmap_u32 rows) {
    if (!plan || rows > plan->n) return cudaErrorInvalidValue;
    return tmapi_pairs_plan_change(plan, &plan->rows, rows);
}

// Makes a plan one of two sets: all pairs (i, j) of i < n and j < others, where point j is one of
// the second set. others: 1 to 2^32 - 1 - TMAP_PAIRS_SIDE; 0 goes back to one set. Of plans of
// pairs_store.h it takes those of a square alone, up to TMAP_PAIRS_STORE_MAX: a rectangle.
static inline cudaError_t tmap_pairs_plan_others(tmap_pairs_plan *plan, tmap_u32 others) {
    const tmap_u32 layout = plan ? plan->layout & TMAPI_PAIRS_LAYOUT : 0;
    if (!plan || others > (layout ? TMAP_PAIRS_STORE_MAX : 0xffffffffu - TMAP_PAIRS_SIDE) ||
        (layout && layout != TMAP_PAIRS_SQUARE))
        return cudaErrorInvalidValue;
    return tmapi_pairs_plan_change(plan, &plan->others, others);
}

// Makes a plan one of `sets` equal sets, 1 to 65536: set b has the points from b * n on (and the
// second ones from b * others on), and pairs are those within one set. The user's functions are
// not told which set a pair is of; tmap_pairs_fold has a result for each.
static inline cudaError_t tmap_pairs_plan_sets(tmap_pairs_plan *plan, tmap_u32 sets) {
    if (!plan || sets < 1 || sets > 65536) return cudaErrorInvalidValue;
    return tmapi_pairs_plan_change(plan, &plan->sets, sets);
}

// Restricts a plan to `count` of its items from item `first` on: one GPU's share of the work, or a
// batch of it. Shares that together are all items visit every pair once.
static inline cudaError_t tmap_pairs_plan_share(tmap_pairs_plan *plan, tmap_u64 first,
                                                tmap_u64 count) {
    if (!plan || first > plan->items || count > plan->items - first) return cudaErrorInvalidValue;
    plan->first = first, plan->count = count;
    tmapi_pairs_plan_spread(plan);
    return cudaSuccess;
}

// Launches the plan's kernel, whose parameters are the plan and one struct of the user's, both by
// value. job: the address of that struct. Returns the launch's own error; one that an earlier call
// has left is neither reported nor cleared. Can be captured. A plan without an item is launched
// too, as a fold has a result then. Returns cudaErrorInvalidValue for a null pointer and for what
// no plan maker has made; the launchers of other headers also for plans that are not theirs.
static inline cudaError_t tmap_pairs_launch(const tmap_pairs_plan *plan, tmap_job job,
                                            cudaStream_t stream) {
    if (!plan || !plan->kernel || !job || plan->kind < TMAP_PAIRS_KIND_EACH ||
        plan->kind > TMAP_PAIRS_KIND_STORE)
        return cudaErrorInvalidValue;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

// The same for plans of one kind; others are refused.
static inline cudaError_t tmapi_pairs_launch_as(const tmap_pairs_plan *plan, tmap_u32 kind,
                                                tmap_job job, cudaStream_t stream) {
    return plan && plan->kind == kind ? tmap_pairs_launch(plan, job, stream)
                                      : cudaErrorInvalidValue;
}

#endif

#if TMAP_CUDA

// 1 if a call of an engine of this kind fits the plan and the launch.
TMAP_DEVICE int tmapi_pairs_check(const tmap_pairs_plan *plan, tmap_points points, tmap_u32 kind,
                                  const char *function) {
    return TMAPI_CHECK(plan->kind == kind, function, "the plan is one of another engine") &&
           TMAPI_CHECK(points.d == plan->d, function, "points.d is not the plan's d") &&
           TMAPI_CHECK(points.size == plan->size, function, "points.size is not the plan's") &&
           TMAPI_CHECK(points.b || !plan->others, function, "there is no second set, points.b") &&
           TMAPI_CHECK(blockDim.x == plan->block, function, "blocks have other threads");
}

// ---- all pairs of a tile ------------------------------------------------------------------------
//
// A block takes a tile of 512 x 512 pairs, or a band of its rows. Each of its 128 threads has four
// points j in registers; the points i are in shared memory, coordinate by coordinate, and all
// threads read the same ones, 16 bytes at a time.

// pair: i < j, or a point of each set. a, b: point i and point j, d coordinates of the user's type.
// accumulator: of tmap_pairs_fold, else 0.
typedef void (*tmap_pairs_visit)(void *job, void *accumulator, tmap_pair pair, const void *a,
                                 const void *b);

// What is constant in a launch; sizes and functions are constants of the compiler's.
typedef struct tmapi_pairs {
    tmap_points points; // b is a where there is no second set
    tmap_pairs_visit visit;
    void *accumulator, *job;
} tmapi_pairs;

// A function, since nvcc does not fold the members of an initialised struct as well.
TMAP_DEVICE tmapi_pairs tmapi_pairs_make(tmap_points points, tmap_pairs_visit visit,
                                         void *accumulator, void *job) {
    tmapi_pairs p;
    p.points = points, p.visit = visit, p.accumulator = accumulator, p.job = job;
    if (!points.b) p.points.b = points.a;
    return p;
}

#define TMAPI_PAIRS_MINE (TMAP_PAIRS_SIDE / TMAP_PAIRS_THREADS) // points j of a thread

typedef struct tmapi_pairs_point {
    alignas(16) unsigned char bytes[8 * TMAP_PAIRS_D_MAX];
} tmapi_pairs_point;

// The block's dynamic shared memory.
TMAP_DEVICE unsigned char *tmapi_pairs_memory(void) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    return (unsigned char *)tmapi_pairs_shared;
}

// The points j: the plan says if there is a second set, whatever points.b is.
TMAP_DEVICE const unsigned char *tmapi_pairs_second(const tmap_pairs_plan *plan,
                                                    const tmapi_pairs *p) {
    return (const unsigned char *)(plan->others ? p->points.b : p->points.a);
}

// The points of a tile: of its rows in shared memory, and the thread's own four. Points that do not
// exist are 0. Collective for the block, with a barrier.
TMAP_DEVICE void tmapi_pairs_load(const tmap_pairs_plan *plan, const tmapi_pairs *p,
                                  tmapi_pairs_place place, tmapi_pairs_point *mine) {
    const tmap_u32 size = p->points.size, d = p->points.d, count = tmapi_pairs_columns(plan);
    const unsigned char *points =
        (const unsigned char *)p->points.a + place.set * plan->n * d * size;
    const unsigned char *others = tmapi_pairs_second(plan, p) + place.set * count * d * size;
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_PAIRS_MINE; ++c) {
        const tmap_u32 at = c * TMAP_PAIRS_THREADS + threadIdx.x;
        const tmap_u64 i = (tmap_u64)place.i + at, j = (tmap_u64)place.j + at;
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k) {
            unsigned char *to = tmapi_pairs_memory() + (k * TMAP_PAIRS_SIDE + at) * size;
            if (at < plan->band && i < plan->n)
                tmapi_value_copy(to, points + (i * d + k) * size, size);
            else if (at < plan->band)
                tmapi_value_zero(to, size);
            if (j < count)
                tmapi_value_copy(mine[c].bytes + k * size, others + (j * d + k) * size, size);
            else
                tmapi_value_zero(mine[c].bytes + k * size, size);
        }
    }
    __syncthreads();
}

// The rows of an item that are there.
TMAP_DEVICE tmap_u32 tmapi_pairs_rows_left(const tmap_pairs_plan *plan, tmapi_pairs_place place) {
    const tmap_u32 left = plan->rows > place.i ? plan->rows - place.i : 0;
    return left < plan->band ? left : plan->band;
}

// How many of them, from the first one on, have a pair with the thread's point c.
TMAP_DEVICE tmap_u32 tmapi_pairs_height(const tmap_pairs_plan *plan, tmapi_pairs_place place,
                                        tmap_u32 c) {
    const tmap_u32 j = place.j + c * TMAP_PAIRS_THREADS + threadIdx.x;
    const tmap_u32 height = tmapi_pairs_rows_left(plan, place);
    const tmap_u32 above = j > place.i ? j - place.i : 0; // rows i < j
    if (j >= tmapi_pairs_columns(plan)) return 0;
    return plan->others || height < above ? height : above;
}

// 1 if all pairs of an item are there.
TMAP_DEVICE int tmapi_pairs_whole(const tmap_pairs_plan *plan, tmapi_pairs_place place) {
    return tmapi_pairs_rows_left(plan, place) == plan->band &&
           tmapi_pairs_columns(plan) - place.j >= TMAP_PAIRS_SIDE &&
           (plan->others || place.i + plan->band <= place.j);
}

// 16 bytes of rows from row y of the tile on, all of them where `whole` is 1, a constant, or those
// below `height`, by the thread's points from `first` to `last` - 1.
TMAP_DEVICE void tmapi_pairs_rows_by(const tmapi_pairs *p, tmapi_pairs_place place,
                                     const tmapi_pairs_point *mine, tmap_u32 first, tmap_u32 last,
                                     tmap_u32 y, tmap_u32 height, int whole) {
    const tmap_u32 size = p->points.size, d = p->points.d, step = 16 / size;
    tmapi_value vector[TMAP_PAIRS_D_MAX];
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k)
        tmapi_value_copy(&vector[k], tmapi_pairs_memory() + (k * TMAP_PAIRS_SIDE + y) * size, 16);
#pragma unroll
    for (tmap_u32 r = 0; r < step; ++r) {
        tmapi_pairs_point row;
        tmap_pair pair;
        pair.i = place.i + y + r;
#pragma unroll
        for (tmap_u32 k = 0; k < d; ++k)
            tmapi_value_copy(row.bytes + k * size, vector[k].bytes + r * size, size);
#pragma unroll
        for (tmap_u32 c = first; c < last; ++c) {
            pair.j = place.j + c * TMAP_PAIRS_THREADS + threadIdx.x;
            if (whole || y + r < height)
                p->visit(p->job, p->accumulator, pair, row.bytes, mine[c].bytes);
        }
    }
}

// All pairs of a tile. All threads are through with the block's shared memory after the next
// barrier. Collective for the block.
TMAP_DEVICE void tmapi_pairs_tile(const tmap_pairs_plan *plan, const tmapi_pairs *p,
                                  tmapi_pairs_place place) {
    const tmap_u32 step = 16 / p->points.size, band = plan->band;
    tmapi_pairs_point mine[TMAPI_PAIRS_MINE];
    tmapi_pairs_load(plan, p, place, mine);
    if (tmapi_pairs_whole(plan, place)) {
        for (tmap_u32 y = 0; y < band; y += 2 * step)
#pragma unroll
            for (tmap_u32 k = 0; k < 2; ++k)
                tmapi_pairs_rows_by(p, place, mine, 0, TMAPI_PAIRS_MINE, y + k * step, band, 1);
        return;
    }
#pragma unroll // each point has rows of its own: on the diagonal half as many in all
    for (tmap_u32 c = 0; c < TMAPI_PAIRS_MINE; ++c) {
        const tmap_u32 height = tmapi_pairs_height(plan, place, c);
        for (tmap_u32 y = 0; y < height; y += step)
            tmapi_pairs_rows_by(p, place, mine, c, c + 1, y, height, 0);
    }
}

// ---- a function on every pair -------------------------------------------------------------------

// Calls visit(job, 0, pair, a, b) once for every pair of the plan's share, by some thread, in no
// particular order: for what goes to memory by atomics, such as a histogram. All threads of all
// blocks call it, in blocks of TMAP_PAIRS_THREADS threads. visit: a __device__ function without
// barriers and collectives. After it, all threads of a block see what its visits have written to
// its shared memory. Cost: for each pair what visit costs, and a fourth to a half of an
// instruction.
TMAP_DEVICE void tmap_pairs_each(const tmap_pairs_plan *plan, tmap_points points,
                                 tmap_pairs_visit visit, void *job) {
    const tmapi_pairs p = tmapi_pairs_make(points, visit, 0, job);
    if (!tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_EACH, "tmap_pairs_each")) return;
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        tmapi_pairs_tile(plan, &p, tmapi_pairs_place_of(plan, plan->first + t));
        __syncthreads(); // before the next tile's points come
    }
}

#endif // TMAP_CUDA

// ---- all pairs to one value ---------------------------------------------------------------------

// Bytes at the beginning of the workspace that are zero before the first launch which uses it. Each
// launch leaves them so. Examples: 1 set: 16, 5 sets: 48.
TMAP_FN tmap_u64 tmap_pairs_fold_clear(const tmap_pairs_plan *plan) {
    return (8ull * plan->sets + 15) / 16 * 16;
}

// Bytes of the workspace of tmap_pairs_fold for accumulators of `bytes` bytes.
TMAP_FN tmap_u64 tmap_pairs_fold_bytes(const tmap_pairs_plan *plan, tmap_u32 bytes) {
    return tmap_pairs_fold_clear(plan) + plan->count * bytes;
}

// The share's items of a set: from *first on, counted from the share's first one.
TMAP_FN tmap_u64 tmapi_pairs_items(const tmap_pairs_plan *plan, tmap_u64 set, tmap_u64 *first) {
    const tmap_u64 begin = set * plan->tiles, end = begin + plan->tiles;
    const tmap_u64 from = begin > plan->first ? begin : plan->first;
    const tmap_u64 last = plan->first + plan->count, to = end < last ? end : last;
    *first = from - plan->first;
    return to > from ? to - from : 0;
}

#if TMAP_CUDA

// Accumulates add(job, accumulator, pair, a, b) over all pairs of each set of the plan's share,
// joins what threads have by fold.join(job, accumulator, &other), and writes an accumulator for
// each set to to.result; a set without a pair in the share gets fold.zero. to.workspace:
// tmap_pairs_fold_bytes bytes. All threads of all blocks call it, once in a launch, in blocks of
// TMAP_PAIRS_THREADS threads. add: a __device__ function without barriers and collectives.
// Exactness: results are the same in every bit for a plan's share, whatever the grid. An
// accumulator begins anew in each tile. A thread adds up 2048 pairs of it: counts of 32 bits and
// sums of floats go far. Cost: as tmap_pairs_each.
TMAP_DEVICE void tmap_pairs_fold(const tmap_pairs_plan *plan, tmap_points points,
                                 tmap_pairs_visit add, tmap_fold fold, tmap_fold_to to, void *job) {
    __shared__ tmapi_fold_words scratch[TMAP_PAIRS_THREADS / 32];
    tmapi_fold_words sum;
    const tmapi_pairs p = tmapi_pairs_make(points, add, &sum, job);
    unsigned char *part = (unsigned char *)to.workspace + tmap_pairs_fold_clear(plan);
    unsigned char *results = (unsigned char *)to.result;
    const tmap_u32 bytes = fold.bytes;
    tmap_u64 first;
    if (!tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_EACH, "tmap_pairs_fold") ||
        !tmapi_fold_check(fold, "tmap_pairs_fold"))
        return;
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        const tmapi_pairs_place place = tmapi_pairs_place_of(plan, plan->first + t);
        const tmap_u64 items = tmapi_pairs_items(plan, place.set, &first);
        tmapi_fold_move(&sum, fold.zero, bytes);
        tmapi_pairs_tile(plan, &p, place);
        tmap_fold_block(&sum, fold, job, scratch);
        if (items > 1) {
            if (threadIdx.x == 0) tmapi_fold_move(part + t * bytes, &sum, bytes);
            if (!tmapi_fold_last((tmap_u64 *)to.workspace + place.set, items)) continue;
            tmapi_fold_parts(&sum, fold.zero, bytes, fold.join, job, scratch, part + first * bytes,
                             items);
        }
        if (threadIdx.x == 0) tmapi_fold_move(results + place.set * bytes, &sum, bytes);
    }
    if (blockIdx.x == 0) // sets of which the share has nothing
        for (tmap_u64 set = threadIdx.x; set < plan->sets; set += blockDim.x)
            if (!tmapi_pairs_items(plan, set, &first))
                tmapi_fold_move(results + set * bytes, fold.zero, bytes);
}

#endif // TMAP_CUDA

#endif
