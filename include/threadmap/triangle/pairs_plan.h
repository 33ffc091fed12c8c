// SPDX-License-Identifier: MIT
// pairs_plan.h: the plan of a launch over all pairs of n points: the tiles of pairs, and the grid,
// block and shared memory that they take on this device.
//
// A point is d coordinates, floats or doubles, side by side in memory; point i is at
// points[i * d]. A plan is made on the host for so many points and one kernel of the user's, and
// is passed to that kernel by value; there tmap_pairs_each and tmap_pairs_fold (pairs_fold.h) go
// by it:
//
//     __global__ void __launch_bounds__(128) look(tmap_pairs_plan plan, job j) {
//         tmap_pairs_each(&plan, j.points, 0, sizeof(float), 3, look_at_pair, &j);
//     }
//     tmap_pairs_plan plan;
//     cudaError_t error = tmap_pairs_plan_make(n, 3, sizeof(float), (const void *)look, &plan);
//     if (!error) error = tmap_pairs_launch(&plan, &j, stream);
//
// How many registers a kernel takes is nvcc's choice, and it is seldom the best one: try a second
// number in __launch_bounds__, the blocks of a multiprocessor, such as 12 for short functions (a
// count of near pairs is 1.14 times as fast with n = 30720) and 1 for long ones (dRMSD: 1.07).
//
// Pairs are (i, j), i < j, each once. Restricted plans have the first rows of these alone (i below
// a number), pairs of points of two sets (all i of the first one, all j of the second one), many
// equal sets one behind the other, or a share of the tiles.
#ifndef TMAP_TRIANGLE_PAIRS_PLAN_H
#define TMAP_TRIANGLE_PAIRS_PLAN_H

#include "condensed.h"

// Points along the sides of a tile, threads of a block, coordinates of a point.
#define TMAP_PAIRS_SIDE    512u
#define TMAP_PAIRS_THREADS 128u
#define TMAP_PAIRS_D_MAX   8u

// Layouts of what tmap_pairs_store (pairs_store.h) writes.
enum {
    TMAP_PAIRS_CONDENSED = 1, // scipy's order of pairs: tmap_condensed_index(i, j, n)
    TMAP_PAIRS_SQUARE,        // row i after row i - 1, all columns
    TMAP_PAIRS_LOWER,         // the same matrix, of which only j <= i is written
    TMAPI_PAIRS_LAYOUT = 3,
    TMAP_PAIRS_HOLLOW = 4 // added to a matrix: its diagonal is zero bytes, and not asked for
};
// Points along a side, and pitches, that such a plan may have at most.
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
// two sets or a square is stored, of tmap_triangle_map for a lower one. Where there are few tiles,
// each is cut into bands of rows, which are the items then.
typedef struct tmap_pairs_plan {
    tmap_u32 n;                   // points of a set
    tmap_u32 rows;                // pairs with i below it
    tmap_u32 others;              // points of the second set; 0: there is none
    tmap_u32 d, size;             // coordinates of a point, bytes of a coordinate
    tmap_u32 sets;                // of points, equal ones
    tmap_u32 across;              // tiles of the first row of tiles
    tmap_u32 kind;                // TMAP_PAIRS_KIND_EACH, _ROWS or _STORE
    tmap_u64 tiles;               // items of a set
    tmap_u64 items;               // of all sets
    tmap_u64 first, count;        // this launch's share of them
    const void *kernel;           // the launch
    tmap_u32 grid, block, shared; // blocks, threads of a block, bytes
    tmap_u32 resident;            // blocks that the device holds at once
    tmap_u32 side;                // points along the sides of a tile
    tmap_u32 cut, cut_most;       // a tile is 2^cut items; what cut may be at most
    tmap_u32 band;                // rows of an item
    tmap_u32 layout, value;       // of what pairs_store.h writes, else 0; bytes of a value
    tmap_u32 before;              // columns before a tile's own that may be written with them
    tmap_u64 pitch;               // values from one row to the next; 0: as many as there are
    tmap_u64 step, values;        // the same but never 0, and values of a set
} tmap_pairs_plan;

TMAP_FN tmap_u32 tmapi_pairs_tiles(tmap_u32 n, tmap_u32 side) { return n / side + (n % side != 0); }

// The pairs of a plan, all sets together; saturates.
// Example: n = 131072: 8589869056.
TMAP_FN tmap_u64 tmap_pairs_plan_pairs(const tmap_pairs_plan *plan) {
    tmap_u64 pairs = tmap_condensed_cells(plan->n) - tmap_condensed_cells(plan->n - plan->rows);
    if (plan->others) pairs = tmap_mul_saturate(plan->rows, plan->others);
    return tmap_mul_saturate(pairs, plan->sets);
}

// An item's first pair, and its set.
typedef struct tmapi_pairs_place {
    tmap_u32 i, j;
    tmap_u64 set;
} tmapi_pairs_place;

// Where an item begins. side: how much a tile counts along its sides: its points, or 1 for the
// numbers of the tile itself.
TMAP_FN tmapi_pairs_place tmapi_pairs_place_by(const tmap_pairs_plan *plan, tmap_u64 item,
                                               tmap_u32 side) {
    tmapi_pairs_place place;
    tmap_u64 tile = item;
    tmap_u32 band;
    place.set = 0;
    if (plan->sets > 1) place.set = item / plan->tiles, tile -= place.set * plan->tiles;
    band = (tmap_u32)tile & ((1u << plan->cut) - 1), tile >>= plan->cut;
    if (plan->others) {
        const tmap_u64 row = tile / plan->across;
        place.i = (tmap_u32)row, place.j = (tmap_u32)(tile - row * plan->across);
    } else {
        const tmap_pair64 p = tmap_upper_map64(tile, plan->across);
        place.i = (tmap_u32)p.i, place.j = (tmap_u32)p.j;
    }
    place.i = place.i * side + band * plan->band;
    place.j *= side;
    return place;
}
TMAP_FN tmapi_pairs_place tmapi_pairs_place_of(const tmap_pairs_plan *plan, tmap_u64 item) {
    return tmapi_pairs_place_by(plan, item, TMAP_PAIRS_SIDE);
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The grid for the plan's share: a few times as many blocks as the device holds, since tiles of
// the diagonal end sooner and multiprocessors are not equally quick; where values are stored,
// tiles are small, and each has a block of its own.
static inline void tmapi_pairs_plan_spread(tmap_pairs_plan *plan) {
    const tmap_u64 most = plan->layout ? 0x7fffffff : plan->resident * 16ull;
    const tmap_u64 blocks = plan->count < most ? plan->count : most;
    plan->grid = blocks ? (tmap_u32)blocks : 1;
    if (plan->layout && plan->items > most) plan->grid = 0; // which no launch takes
}

// Where the rows of what is stored lie: bits are counted in words of 32.
static inline void tmapi_pairs_plan_rows_of(tmap_pairs_plan *plan) {
    const tmap_u32 columns = plan->others ? plan->others : plan->n;
    plan->step = plan->value ? columns : columns / 32 + (columns % 32 != 0);
    if (plan->pitch) plan->step = plan->pitch;
    plan->values = plan->rows * plan->step;
    if ((plan->layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED)
        plan->values = tmap_condensed_cells(plan->n) - tmap_condensed_cells(plan->n - plan->rows);
}

// Tiles are cut until there are so many items, whatever the device, or bands have 16 rows.
#define TMAPI_PAIRS_CUT 5u
#ifndef TMAPI_PAIRS_ITEMS
#define TMAPI_PAIRS_ITEMS 2048u
#endif

// The tiles of what the plan is restricted to, all of them.
static inline void tmapi_pairs_plan_tiles(tmap_pairs_plan *plan) {
    const tmap_u64 rows = tmapi_pairs_tiles(plan->rows, plan->side);
    const tmap_u32 columns = (plan->others ? plan->others : plan->n) + plan->before;
    const tmap_u32 layout = plan->layout & TMAPI_PAIRS_LAYOUT, skew = plan->before != 0;
    plan->across = tmapi_pairs_tiles(columns, plan->side);
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

// The plan of a kernel over all pairs of n points of d coordinates of `size` bytes each. n: 0 to
// 2^32 - 1 - TMAP_PAIRS_SIDE. d: 1 to TMAP_PAIRS_D_MAX. size: 4 or 8. kernel: a __global__ function
// of TMAP_PAIRS_THREADS threads, cast to const void *. Made once, a plan serves any number of
// launches on the device that was the current one.
// Returns cudaErrorInvalidValue for a null pointer and for numbers outside these ranges,
// cudaErrorInvalidConfiguration for a kernel of which no block fits the device; else a CUDA error.
// *out is written only on success.
// Cost: some calls of the CUDA runtime, which do not wait for the device.
// Example: tmap_pairs_plan_make(131072, 3, sizeof(float), (const void *)look, &plan).
static inline cudaError_t tmap_pairs_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                               const void *kernel, tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    int device, processors, blocks = 0;
    cudaError_t error;
    if (!out || !kernel || n > 0xffffffffu - TMAP_PAIRS_SIDE) return cudaErrorInvalidValue;
    if (d < 1 || d > TMAP_PAIRS_D_MAX || (size != 4 && size != 8)) return cudaErrorInvalidValue;
    p.n = p.rows = n, p.others = 0, p.d = d, p.size = size, p.sets = 1;
    p.kind = TMAP_PAIRS_KIND_EACH, p.kernel = kernel, p.block = TMAP_PAIRS_THREADS, p.shared = TMAP_PAIRS_SIDE * d * size;
    p.side = TMAP_PAIRS_SIDE, p.layout = p.value = p.before = 0, p.pitch = 0;
    p.cut = 0, p.cut_most = TMAPI_PAIRS_CUT;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)p.block, p.shared);
    if (error) return error;
    if (blocks < 1) return cudaErrorInvalidConfiguration;
    p.resident = (tmap_u32)blocks * (tmap_u32)processors;
    tmapi_pairs_plan_tiles(&p);
    *out = p;
    return cudaSuccess;
}

// Restricts a plan to the pairs with i < rows, the first rows of the condensed matrix. A share that
// was set before is forgotten. Returns cudaErrorInvalidValue for a null pointer and for more rows
// than points.
static inline cudaError_t tmap_pairs_plan_rows(tmap_pairs_plan *plan, tmap_u32 rows) {
    if (!plan || rows > plan->n) return cudaErrorInvalidValue;
    plan->rows = rows;
    tmapi_pairs_plan_tiles(plan);
    return cudaSuccess;
}

// Makes a plan one of two sets: all pairs (i, j) of i < n and j < others, where point j is one of
// the second set. others: 1 to 2^32 - 1 - TMAP_PAIRS_SIDE; 0 goes back to one set. A share that
// was set before is forgotten. Returns cudaErrorInvalidValue for a null pointer or a number
// outside, and for plans of pairs_store.h but those of a square, of which this makes a rectangle.
static inline cudaError_t tmap_pairs_plan_others(tmap_pairs_plan *plan, tmap_u32 others) {
    if (!plan || others > 0xffffffffu - TMAP_PAIRS_SIDE) return cudaErrorInvalidValue;
    if (plan->layout &&
        ((plan->layout & TMAPI_PAIRS_LAYOUT) != TMAP_PAIRS_SQUARE || others > TMAP_PAIRS_STORE_MAX))
        return cudaErrorInvalidValue;
    plan->others = others;
    tmapi_pairs_plan_tiles(plan);
    return cudaSuccess;
}

// Makes a plan one of `sets` equal sets, 1 to 65536: set b has the points from b * n on (and the
// second ones from b * others on), and pairs are those within one set. The functions of the user
// are not told which set a pair is of; tmap_pairs_fold has a result for each. A share that was set
// before is forgotten. Returns cudaErrorInvalidValue for a null pointer or a number outside.
static inline cudaError_t tmap_pairs_plan_sets(tmap_pairs_plan *plan, tmap_u32 sets) {
    if (!plan || sets < 1 || sets > 65536) return cudaErrorInvalidValue;
    plan->sets = sets;
    tmapi_pairs_plan_tiles(plan);
    return cudaSuccess;
}

// Restricts a plan to `count` of its items from item `first` on: one GPU's share of the work, or a
// batch of it. Shares that together are all items visit every pair once.
// Returns cudaErrorInvalidValue for a null pointer and for items that the plan does not have.
static inline cudaError_t tmap_pairs_plan_share(tmap_pairs_plan *plan, tmap_u64 first,
                                                tmap_u64 count) {
    if (!plan || first > plan->items || count > plan->items - first) return cudaErrorInvalidValue;
    plan->first = first, plan->count = count;
    tmapi_pairs_plan_spread(plan);
    return cudaSuccess;
}

// Launches the plan's kernel, whose parameters are the plan and one struct of the user's, both by
// value. job: the address of that struct. The result is the launch's own error; one that an
// earlier call has left is neither reported nor cleared. Can be captured. A plan without an item
// is launched too, as a fold has a result then.
// Returns cudaErrorInvalidValue for a null pointer and for what no plan maker has made. It takes
// plans of every kind, and cannot know which one the kernel goes by: tmap_pairs_select_launch,
// tmap_pairs_rows_launch and tmap_pairs_store_launch refuse the others.
static inline cudaError_t tmap_pairs_launch(const tmap_pairs_plan *plan, const void *job,
                                            cudaStream_t stream) {
    void *arguments[2];
    if (!plan || !plan->kernel || !job) return cudaErrorInvalidValue;
    if (plan->kind < TMAP_PAIRS_KIND_EACH || plan->kind > TMAP_PAIRS_KIND_STORE)
        return cudaErrorInvalidValue;
    if (!plan->grid) return cudaErrorInvalidConfiguration; // drivers do not agree on this one
    arguments[0] = (void *)plan, arguments[1] = (void *)job;
    return cudaLaunchKernel(plan->kernel, dim3(plan->grid), dim3(plan->block), arguments,
                            plan->shared, stream);
}

// The same for a kernel that goes by plans of one kind.
static inline cudaError_t tmapi_pairs_launch_as(const tmap_pairs_plan *plan, tmap_u32 kind,
                                                const void *job, cudaStream_t stream) {
    if (!plan || plan->kind != kind) return cudaErrorInvalidValue;
    return tmap_pairs_launch(plan, job, stream);
}

#endif
#endif
