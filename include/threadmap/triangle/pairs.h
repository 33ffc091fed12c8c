// SPDX-License-Identifier: MIT
// pairs.h: the engine for all pairs of n points. You make a plan on the host and call the engine
// from your own kernel with a function for a pair:
//
//     tmap_pairs_each     calls a function for every pair (this header)
//     tmap_pairs_fold     accumulates over all pairs and joins to one value (this header)
//     tmap_pairs_select   lists the pairs for which a function returns non-zero
//     tmap_pairs_rows     accumulates per point; each pair is visited once for both of its points
//     tmap_pairs_store    stores a value for each pair in a condensed, square or lower matrix
//     tmap_pairs_frames   accumulates over all pairs in each of many frames
//
// Counts the pairs closer than a radius (a complete program: samples/triangle/15_farthest_pair.cu):
//
//     static __device__ void add(void *job, void *sum, tmap_pair pair, const void *a,
//                                const void *b) { // pointers to coordinates
//         if (distance(a, b) < ((near_job *)job)->radius) ++*(tmap_u64 *)sum;
//     }
//     const tmap_points points = {j.points, 0, sizeof(float), 3}; // in your kernel
//     const tmap_fold sum = {&zero, sizeof zero, join};
//     tmap_pairs_fold(&plan, points, add, sum, j.to, &j);
//     ... tmap_pairs_plan_make(n, 3, sizeof(float), (const void *)count_near, &plan);
//     ... tmap_pairs_launch(&plan, &j, stream);
//
// The second number in __launch_bounds__ limits the registers that nvcc takes: measure a few, from
// 1 for long functions to 12 for short ones.
#ifndef TMAP_TRIANGLE_PAIRS_H
#define TMAP_TRIANGLE_PAIRS_H

#include "../fold.h"
#include "../launch.h"
#include "../value.h"
#include "condensed.h"

// ---- points and plans ---------------------------------------------------------------------------

// Points along a side of a tile, threads of a block, most coordinates of a point.
#define TMAP_PAIRS_SIDE    512u
#define TMAP_PAIRS_THREADS 128u
#define TMAP_PAIRS_D_MAX   8u

// Points in device memory at a multiple of `size`. The d coordinates of point i begin at coordinate
// i * d.
typedef struct tmap_points {
    const void *a; // the plan's n points of each set, one set after the other
    const void *b; // the second set, or 0; read only if the plan has one
    tmap_u32 size; // bytes of a coordinate, 4 or 8: the plan's; a constant
    tmap_u32 d;    // coordinates of a point: the plan's; a constant
} tmap_points;

// Layouts of a matrix with one value for each pair (pairs_store.h, pdist.h).
enum {
    TMAP_PAIRS_CONDENSED = 1, // scipy's order: pair (i, j) at tmap_condensed_index(i, j, n)
    TMAP_PAIRS_SQUARE,        // row i after row i - 1, all columns
    TMAP_PAIRS_LOWER,         // the same matrix, but only j <= i is written
    TMAPI_PAIRS_LAYOUT = 3,
    TMAP_PAIRS_HOLLOW = 4 // added to a matrix: writes zero bytes on the diagonal without a call
};
// The most points along a side, and the largest pitch, of a plan that stores.
#define TMAP_PAIRS_STORE_MAX 0x7ffffffu

// Kinds of plans: which engine a plan is for.
enum {
    TMAP_PAIRS_KIND_EACH = 1, // tmap_pairs_each, tmap_pairs_fold, tmap_pairs_select
    TMAP_PAIRS_KIND_ROWS,     // tmap_pairs_rows
    TMAP_PAIRS_KIND_STORE,    // tmap_pairs_store, tmap_pairs_store_sums
    TMAP_PAIRS_KIND_FRAMES    // tmap_pairs_frames
};

// A plan of pairs. Its items are tiles of `side` x `side` pairs, or bands of rows of tiles if there
// are few. Sets follow each other. The tiles of a set are in the order of tmap_upper_map; for two
// sets or a square row by row through the matrix; for a lower matrix as in tmap_triangle_map.
typedef struct tmap_pairs_plan {
    tmap_u32 n, rows;             // points of a set; only pairs with i < rows are included
    tmap_u32 others;              // points of the second set; 0: there is no second set
    tmap_u32 d, size;             // coordinates of a point, bytes of a coordinate
    tmap_u32 sets, across;        // number of sets of points; tiles of the first row of tiles
    tmap_u32 kind;                // a TMAP_PAIRS_KIND
    tmap_u64 tiles, items;        // items of one set, items of all sets
    tmap_u64 first, count;        // the share: its first item, its number of items
    const void *kernel;           // the kernel to launch
    tmap_u32 grid, block, shared; // blocks, threads of a block, dynamic shared memory in bytes
    tmap_u32 resident, side;      // blocks that the device holds at once; points along a tile
    tmap_u32 cut, cut_most, band; // a tile is 2^cut items; the largest cut; rows of an item
    tmap_u32 layout, value;       // of the stored matrix, else 0; bytes of a value or accumulator
    tmap_u32 before;              // columns before a tile's own that it may write
    tmap_u64 pitch;               // values between the beginnings of rows; 0: rows are packed
    tmap_u64 step, values;        // the pitch in use, never 0; values of a set
} tmap_pairs_plan;

// Number of points j of a set.
TMAP_FN tmap_u32 tmapi_pairs_columns(const tmap_pairs_plan *plan) {
    return plan->others ? plan->others : plan->n;
}

// ---- tiles --------------------------------------------------------------------------------------

TMAP_FN tmap_u32 tmapi_pairs_tiles(tmap_u32 n, tmap_u32 side) { return n / side + (n % side != 0); }

// Row *i and column *j of tile number `tile`. layout: TMAP_PAIRS_SQUARE: all tiles, row by row;
// TMAP_PAIRS_LOWER: the lower triangle, whose row r has r + 1 + skew tiles; else the upper
// triangle. across: tiles of the first row. wide: a constant, 1 to compute in 64 bits (not for a
// lower triangle).
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

// The first pair of an item, and the item's set.
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

// Sets the grid for the plan's share. Tiles on the diagonal end sooner, so the grid is up to 16
// times as many blocks as the device holds. A plan that stores has a block for each tile; its grid
// is 0 if no launch can have that many.
TMAP_FN void tmapi_pairs_plan_spread(tmap_pairs_plan *plan) {
    const tmap_u64 most = plan->layout ? 0x7fffffff : plan->resident * 16ull;
    plan->grid = (tmap_u32)(plan->count < most ? plan->count : most);
    if (!plan->grid) plan->grid = 1;
    if (plan->layout && plan->items > most) plan->grid = 0;
}

// Number of values of a row. Bits are counted in 32-bit words.
TMAP_FN tmap_u32 tmapi_pairs_plan_row(const tmap_pairs_plan *plan) {
    const tmap_u32 columns = tmapi_pairs_columns(plan);
    return plan->value ? columns : columns / 32 + (columns % 32 != 0);
}

// Sets the distance between stored rows and the values of a set.
TMAP_FN void tmapi_pairs_plan_rows_of(tmap_pairs_plan *plan) {
    plan->step = plan->pitch ? plan->pitch : tmapi_pairs_plan_row(plan);
    plan->values = plan->rows * plan->step;
    if ((plan->layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED)
        plan->values = tmap_condensed_cells(plan->n) - tmap_condensed_cells(plan->n - plan->rows);
}

// Tiles are cut until there are TMAPI_PAIRS_ITEMS items, or bands of 16 rows, on every device.
#define TMAPI_PAIRS_CUT 5u
#ifndef TMAPI_PAIRS_ITEMS
#define TMAPI_PAIRS_ITEMS 2048u
#endif

// Sets the tiles of a plan, and its share to all of them.
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

// The members that every plan begins with: one set of points, nothing stored, no tiles yet.
TMAP_FN tmap_pairs_plan tmapi_pairs_plan_begin(tmap_u32 kind, tmap_u32 n, tmap_u32 d,
                                               tmap_u32 size) {
    tmap_pairs_plan p;
    p.kind = kind, p.n = p.rows = n, p.others = 0, p.d = d, p.size = size, p.sets = 1;
    p.kernel = 0, p.block = TMAP_PAIRS_THREADS, p.shared = p.resident = 0;
    p.side = TMAP_PAIRS_SIDE, p.cut = p.cut_most = 0;
    p.layout = p.value = p.before = 0, p.pitch = 0;
    return p;
}

// Completes a plan: resident blocks and tiles. Returns TMAP_ERANGE if the device holds no block.
TMAP_FN int tmapi_pairs_plan_end(tmap_pairs_plan *p, const tmap_facts *facts,
                                 tmap_pairs_plan *out) {
    p->resident = tmap_resident_blocks(facts, p->block, p->shared) * facts->device.processors;
    if (!p->resident) return TMAP_ERANGE;
    tmapi_pairs_plan_tiles(p);
    *out = *p;
    return TMAP_OK;
}

// Makes the plan of tmap_pairs_plan_make from facts, without a CUDA call; out->kernel is 0. Returns
// TMAP_EINVAL for a null pointer or a number outside its range, TMAP_ERANGE if no block of the
// kernel fits the device. Writes *out only on success.
TMAP_FN int tmap_pairs_plan_of(tmap_u32 n, tmap_u32 d, tmap_u32 size, const tmap_facts *facts,
                               tmap_pairs_plan *out) {
    tmap_pairs_plan p = tmapi_pairs_plan_begin(TMAP_PAIRS_KIND_EACH, n, d, size);
    if (!out || !facts || n > 0xffffffffu - TMAP_PAIRS_SIDE) return TMAP_EINVAL;
    if (d < 1 || d > TMAP_PAIRS_D_MAX || (size != 4 && size != 8)) return TMAP_EINVAL;
    p.shared = TMAP_PAIRS_SIDE * d * size, p.cut_most = TMAPI_PAIRS_CUT;
    return tmapi_pairs_plan_end(&p, facts, out);
}

// ---- changes of a plan --------------------------------------------------------------------------
//
// The next four functions change a plan, in any order and without CUDA. All but
// tmap_pairs_plan_share_of set the share to all items. They return TMAP_EINVAL for a null pointer,
// a plan that no plan maker has made and a number outside its range, and then leave the plan as it
// was. Without _of, for example tmap_pairs_plan_rows, they return cudaErrorInvalidValue instead.

// 1 if a plan is of one of the plan makers whose plans can be changed.
TMAP_FN int tmapi_pairs_plan_made(const tmap_pairs_plan *plan) {
    return plan && plan->kind >= TMAP_PAIRS_KIND_EACH && plan->kind <= TMAP_PAIRS_KIND_STORE;
}

// Replaces a plan by a changed one and computes its tiles again. Refuses rows beyond the pitch.
TMAP_FN int tmapi_pairs_plan_change(tmap_pairs_plan *plan, tmap_pairs_plan changed) {
    if (changed.pitch && changed.pitch < tmapi_pairs_plan_row(&changed)) return TMAP_EINVAL;
    tmapi_pairs_plan_tiles(&changed);
    *plan = changed;
    return TMAP_OK;
}

// Restricts a plan to the pairs with i < rows, the first rows of the matrix. rows: 0 to plan->n.
TMAP_FN int tmap_pairs_plan_rows_of(tmap_pairs_plan *plan, tmap_u32 rows) {
    tmap_pairs_plan changed;
    if (!tmapi_pairs_plan_made(plan) || rows > plan->n) return TMAP_EINVAL;
    changed = *plan, changed.rows = rows;
    return tmapi_pairs_plan_change(plan, changed);
}

// Gives a plan a second set of points. Pairs are then all (i, j) with i < n and j < others, point j
// from the second set. others: 1 to 2^32 - 1 - TMAP_PAIRS_SIDE; 0: back to one set. Of the plans of
// pairs_store.h only those of a square can have a second set, of up to TMAP_PAIRS_STORE_MAX points;
// they store a rectangle, whose rows must fit a pitch that has been set.
TMAP_FN int tmap_pairs_plan_others_of(tmap_pairs_plan *plan, tmap_u32 others) {
    tmap_pairs_plan changed;
    tmap_u32 layout;
    if (!tmapi_pairs_plan_made(plan)) return TMAP_EINVAL;
    layout = plan->layout & TMAPI_PAIRS_LAYOUT;
    if (others > (layout ? TMAP_PAIRS_STORE_MAX : 0xffffffffu - TMAP_PAIRS_SIDE) ||
        (layout && layout != TMAP_PAIRS_SQUARE))
        return TMAP_EINVAL;
    changed = *plan, changed.others = others;
    return tmapi_pairs_plan_change(plan, changed);
}

// Makes a plan process `sets` sets of equal size in one launch. Set b has the points from b * n on,
// and the second points from b * others on; pairs are only formed within a set. Your functions
// receive i and j within the set and copies of the coordinates; tmap_pairs_set tells them the set's
// number. tmap_pairs_fold writes a result for each set. sets: 1 to 65536.
TMAP_FN int tmap_pairs_plan_sets_of(tmap_pairs_plan *plan, tmap_u32 sets) {
    tmap_pairs_plan changed;
    if (!tmapi_pairs_plan_made(plan) || sets < 1 || sets > 65536) return TMAP_EINVAL;
    changed = *plan, changed.sets = sets;
    return tmapi_pairs_plan_change(plan, changed);
}

// Restricts a plan to `count` of its items, from item `first` on: the share of one GPU or one
// batch (share.h). If the shares cover all items without overlap, every pair is visited once. first
// + count: at most plan->items.
TMAP_FN int tmap_pairs_plan_share_of(tmap_pairs_plan *plan, tmap_u64 first, tmap_u64 count) {
    if (!tmapi_pairs_plan_made(plan) || first > plan->items || count > plan->items - first)
        return TMAP_EINVAL;
    plan->first = first, plan->count = count;
    tmapi_pairs_plan_spread(plan);
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- plans and launches -------------------------------------------------------------------------

// Completes a plan maker: `code` is the result of its `_of` function, p the plan.
static inline cudaError_t tmapi_pairs_plan_keep(int code, tmap_pairs_plan *p, const void *kernel,
                                                tmap_pairs_plan *out) {
    cudaError_t error = out ? tmapi_launch_error(code) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_shared(kernel, p->shared);
    if (!error) p->kernel = kernel, *out = *p;
    return error;
}

// Makes the plan of a kernel over all pairs of n points of d coordinates of `size` bytes each.
// Range: n: 0 to 2^32 - 1 - TMAP_PAIRS_SIDE. d: 1 to TMAP_PAIRS_D_MAX. size: 4 or 8. kernel: a
// __global__ function of TMAP_PAIRS_THREADS threads, cast to const void *. A plan is for the device
// that is current here, and serves any number of launches on it.
// Returns cudaErrorInvalidValue for a null pointer or a number outside its range,
// cudaErrorInvalidConfiguration if no block of the kernel fits the device, else the error of a CUDA
// call. Writes *out only on success.
// Cost: CUDA runtime calls that do not wait for the device.
// Example: tmap_pairs_plan_make(131072, 3, sizeof(float), (const void *)look, &plan).
static inline cudaError_t tmap_pairs_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                               const void *kernel, tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get(kernel, &facts);
    if (error) return error;
    return tmapi_pairs_plan_keep(tmap_pairs_plan_of(n, d, size, &facts, &p), &p, kernel, out);
}

// The changes of a plan above, with an error of CUDA.
static inline cudaError_t tmap_pairs_plan_rows(tmap_pairs_plan *plan, tmap_u32 rows) {
    return tmapi_launch_error(tmap_pairs_plan_rows_of(plan, rows));
}
static inline cudaError_t tmap_pairs_plan_others(tmap_pairs_plan *plan, tmap_u32 others) {
    return tmapi_launch_error(tmap_pairs_plan_others_of(plan, others));
}
static inline cudaError_t tmap_pairs_plan_sets(tmap_pairs_plan *plan, tmap_u32 sets) {
    return tmapi_launch_error(tmap_pairs_plan_sets_of(plan, sets));
}
static inline cudaError_t tmap_pairs_plan_share(tmap_pairs_plan *plan, tmap_u64 first,
                                                tmap_u64 count) {
    return tmapi_launch_error(tmap_pairs_plan_share_of(plan, first, count));
}

// Launches the plan's kernel, whose parameters are the plan and one struct of your own, both by
// value. job: the address of that struct. A plan without items is launched too, because a fold
// still writes its result. The launch can be captured in a graph.
// Returns cudaErrorInvalidValue for a null pointer and for a plan that no plan maker has made, else
// the launch's own error. It neither reports nor clears an error that an earlier call left. The
// launchers of other headers also refuse plans of another kind.
static inline cudaError_t tmap_pairs_launch(const tmap_pairs_plan *plan, tmap_job job,
                                            cudaStream_t stream) {
    if (!tmapi_pairs_plan_made(plan) || !plan->kernel || !job) return cudaErrorInvalidValue;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

// tmap_pairs_launch for plans of one kind; refuses others.
static inline cudaError_t tmapi_pairs_launch_as(const tmap_pairs_plan *plan, tmap_u32 kind,
                                                tmap_job job, cudaStream_t stream) {
    return plan && plan->kind == kind ? tmap_pairs_launch(plan, job, stream)
                                      : cudaErrorInvalidValue;
}

#endif

#if TMAP_CUDA

// 1 if a plan is one for this engine. of: the engine whose maker has made it, 0 if none has.
TMAP_DEVICE int tmapi_pairs_check_plan(tmap_u32 of, tmap_u32 engine, const char *function) {
    return TMAPI_CHECK(of == engine, function, "the plan is one of another engine, or of none");
}

// 1 if a call of an engine of this kind fits the plan and the launch (only with -DTMAP_CHECK).
TMAP_DEVICE int tmapi_pairs_check(const tmap_pairs_plan *plan, tmap_points points, tmap_u32 kind,
                                  const char *function) {
    return tmapi_pairs_check_plan(plan->kind, kind, function) &&
           TMAPI_CHECK(points.d == plan->d, function, "points.d is not the plan's d") &&
           TMAPI_CHECK(points.size == plan->size, function, "points.size is not the plan's") &&
           TMAPI_CHECK(points.b || !plan->others, function, "there is no second set, points.b") &&
           TMAPI_CHECK(blockDim.x == plan->block, function, "blocks have other threads");
}

// ---- all pairs of a tile ------------------------------------------------------------------------
//
// A block takes a tile of 512 x 512 pairs, or a band of its rows. Each of its 128 threads holds
// four points j in registers. The points i are in shared memory, ordered by coordinate; all threads
// read the same ones, 16 bytes at a time.

// Your function for a pair. pair: i < j, or with two sets any i and j; both count within the set of
// points (tmap_pairs_plan_sets), whose number is tmap_pairs_set(a). a, b: points i and j, copies of
// their d coordinates as you stored them, in registers. accumulator: that of tmap_pairs_fold, else
// 0.
typedef void (*tmap_pairs_visit)(void *job, void *accumulator, tmap_pair pair, const void *a,
                                 const void *b);

// What is constant in a launch. Sizes and functions are compile-time constants.
typedef struct tmapi_pairs {
    tmap_points points; // b is a if there is no second set
    tmap_pairs_visit visit;
    void *accumulator, *job;
} tmapi_pairs;

// A function, because nvcc does not fold the members of an initialised struct as well.
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

// A point i that your function receives, and its set.
typedef struct tmapi_pairs_row {
    alignas(16) unsigned char bytes[8 * TMAP_PAIRS_D_MAX];
    tmap_u32 set;
} tmapi_pairs_row;

// The number of the pair's set. a: the pointer to point i that tmap_pairs_each, _fold, _select,
// _rows or _store has passed to your function; not a copy of the point, and not that of
// tmap_pairs_store_sums. Range: 0 to the plan's sets - 1. Cost: a register, if it is called.
// Example: const float *box = j->boxes + 3 * tmap_pairs_set(a);
TMAP_DEVICE tmap_u32 tmap_pairs_set(const void *a) { return ((const tmapi_pairs_row *)a)->set; }

// The block's dynamic shared memory.
TMAP_DEVICE unsigned char *tmapi_pairs_memory(void) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    return (unsigned char *)tmapi_pairs_shared;
}

// The points j. The plan decides whether there is a second set, not points.b.
TMAP_DEVICE const unsigned char *tmapi_pairs_second(const tmap_pairs_plan *plan,
                                                    const tmapi_pairs *p) {
    return (const unsigned char *)(plan->others ? p->points.b : p->points.a);
}

// Loads the points of a tile: the rows into shared memory, the thread's own four into `mine`.
// Points that do not exist are 0. Collective for the block, with a barrier.
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

// Number of rows of an item that exist.
TMAP_DEVICE tmap_u32 tmapi_pairs_rows_left(const tmap_pairs_plan *plan, tmapi_pairs_place place) {
    const tmap_u32 left = plan->rows > place.i ? plan->rows - place.i : 0;
    return left < plan->band ? left : plan->band;
}

// Number of rows, from the item's first one, that have a pair with the thread's point c.
TMAP_DEVICE tmap_u32 tmapi_pairs_height(const tmap_pairs_plan *plan, tmapi_pairs_place place,
                                        tmap_u32 c) {
    const tmap_u32 j = place.j + c * TMAP_PAIRS_THREADS + threadIdx.x;
    const tmap_u32 height = tmapi_pairs_rows_left(plan, place);
    const tmap_u32 above = j > place.i ? j - place.i : 0; // rows i < j
    if (j >= tmapi_pairs_columns(plan)) return 0;
    return plan->others || height < above ? height : above;
}

// 1 if all pairs of an item exist.
TMAP_DEVICE int tmapi_pairs_whole(const tmap_pairs_plan *plan, tmapi_pairs_place place) {
    return tmapi_pairs_rows_left(plan, place) == plan->band &&
           tmapi_pairs_columns(plan) - place.j >= TMAP_PAIRS_SIDE &&
           (plan->others || place.i + plan->band <= place.j);
}

// Visits the pairs of 16 bytes of rows, from row y of the tile on, with the thread's points first
// to last - 1. whole: a constant, 1: all rows exist; 0: only rows below `height`.
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
        tmapi_pairs_row row;
        tmap_pair pair;
        pair.i = place.i + y + r, row.set = (tmap_u32)place.set;
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

// Visits all pairs of a tile. The block's shared memory is free again after the next barrier.
// Collective for the block.
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
#pragma unroll // points differ in their rows: on the diagonal half of all pairs exist
    for (tmap_u32 c = 0; c < TMAPI_PAIRS_MINE; ++c) {
        const tmap_u32 height = tmapi_pairs_height(plan, place, c);
        for (tmap_u32 y = 0; y < height; y += step)
            tmapi_pairs_rows_by(p, place, mine, c, c + 1, y, height, 0);
    }
}

// ---- a function on every pair -------------------------------------------------------------------

// Calls visit(job, 0, pair, a, b) once for every pair of the plan's share, in no particular order.
// This suits results that you add with atomics, such as a histogram. All threads of all blocks call
// it, in blocks of TMAP_PAIRS_THREADS threads. visit: a __device__ function without barriers or
// collectives. After the call all threads of a block see what its visits wrote to the block's
// shared memory.
// Errors: none are returned; a program compiled with -DTMAP_CHECK stops if the call does not fit
// the plan.
// Cost: for each pair, visit and a quarter to half an instruction.
TMAP_DEVICE void tmap_pairs_each(const tmap_pairs_plan *plan, tmap_points points,
                                 tmap_pairs_visit visit, void *job) {
    const tmapi_pairs p = tmapi_pairs_make(points, visit, 0, job);
    if (!tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_EACH, "tmap_pairs_each")) return;
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        tmapi_pairs_tile(plan, &p, tmapi_pairs_place_of(plan, plan->first + t));
        __syncthreads(); // before the next tile's points arrive
    }
}

#endif // TMAP_CUDA

// ---- all pairs to one value ---------------------------------------------------------------------

// Bytes at the beginning of the workspace of tmap_pairs_fold that must be zero before its first
// launch: a counter for each set. Every launch leaves them zero. Examples: 1 set: 16, 5 sets: 48.
TMAP_FN tmap_u64 tmap_pairs_fold_clear(const tmap_pairs_plan *plan) {
    return (8ull * plan->sets + 15) / 16 * 16;
}

// Bytes of the workspace of tmap_pairs_fold for accumulators of `bytes` bytes; saturates. Compute
// both numbers after the last change of the plan.
TMAP_FN tmap_u64 tmap_pairs_fold_bytes(const tmap_pairs_plan *plan, tmap_u32 bytes) {
    const tmap_u64 parts = tmap_mul_saturate(plan->count, bytes);
    const tmap_u64 all = parts + tmap_pairs_fold_clear(plan);
    return all < parts ? ~0ull : all;
}

// Number of the share's items in a set. They begin at item *first of the share.
TMAP_FN tmap_u64 tmapi_pairs_items(const tmap_pairs_plan *plan, tmap_u64 set, tmap_u64 *first) {
    const tmap_u64 begin = set * plan->tiles, end = begin + plan->tiles;
    const tmap_u64 from = begin > plan->first ? begin : plan->first;
    const tmap_u64 last = plan->first + plan->count, to = end < last ? end : last;
    *first = from - plan->first;
    return to > from ? to - from : 0;
}

#if TMAP_CUDA

// Accumulates add(job, accumulator, pair, a, b) over all pairs of the plan's share, separately for
// each set, and writes an accumulator for each set to to.result. fold.join(job, accumulator,
// &other) joins accumulators; a set without a pair in the share gets fold.zero. You join the
// results of several shares. to.workspace: tmap_pairs_fold_bytes bytes. All threads of all blocks
// call it, once in a launch, in blocks of TMAP_PAIRS_THREADS threads. add: a __device__ function
// without barriers or collectives. fold.bytes: a multiple of 4, 4 to TMAP_FOLD_BYTES_MAX.
// Exactness: the result of a share is the same in every bit, whatever the grid. A thread's
// accumulator begins again at fold.zero in each tile and sees at most 2048 pairs. So add may count
// in 32 bits, even in the low word of a 64-bit count, if join adds in 64 bits.
// Errors and cost: as tmap_pairs_each.
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
    if (blockIdx.x == 0) // sets without an item in the share
        for (tmap_u64 set = threadIdx.x; set < plan->sets; set += blockDim.x)
            if (!tmapi_pairs_items(plan, set, &first))
                tmapi_fold_move(results + set * bytes, fold.zero, bytes);
}

#endif // TMAP_CUDA

#endif
