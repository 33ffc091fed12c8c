// SPDX-License-Identifier: MIT
// pairs_frames.h: accumulates your function over every pair of n points in each of many frames, and
// joins the sums to one value for each frame: how far the distances in a frame are from those of a
// reference, contacts, energies.
//
// Contacts of a reference that a frame keeps (docs/maps/triangle.md has the functions):
//
//     const tmap_pairs_frames_points points = {j.reference, j.frames, j.n, 0};
//     const tmap_pairs_frames_calls calls = {1, native, 0, 0, look, finish};
//     const tmap_fold sum = {&zero, sizeof zero, join};
//     tmap_pairs_frames(&plan, points, calls, sum, j.workspace, &j); // in your kernel
//     ... tmap_pairs_frames_plan_make(n, frames, 1, 4, (const void *)native_contacts, &plan);
//     ... tmap_pairs_frames_launch(&plan, &j, stream); // workspace: tmap_pairs_frames_bytes
//
// A frame is n positions in space, floats x, y, z side by side. A warp takes the same pairs of up
// to 32 frames at once, one frame a lane; or of 16 or 8 frames, and its halves or quarters take
// different pairs. A block holds in shared memory the points of a tile's rows and columns of one
// group of frames, while those of the next group are copied, and the data of the tile's pairs,
// computed once for all frames of the block. Sums are joined in a fixed order.
#ifndef TMAP_TRIANGLE_PAIRS_FRAMES_H
#define TMAP_TRIANGLE_PAIRS_FRAMES_H

#include "pairs.h"

// ---- the plan -----------------------------------------------------------------------------------

// Threads of a block; the most floats of a pair's own data, and of a frame's.
#ifndef TMAP_PAIRS_FRAMES_THREADS
#define TMAP_PAIRS_FRAMES_THREADS 512u
#endif
#define TMAP_PAIRS_FRAMES_OWN_MAX   4u
#define TMAP_PAIRS_FRAMES_FRAME_MAX 8u

#define TMAPI_FRAMES_ROWS  8u // points i that a lane holds at once
#define TMAPI_FRAMES_WARPS (TMAP_PAIRS_FRAMES_THREADS / 32)

// A plan for many frames. Points are cut into `bands` of `side` points, pairs into `tiles` of two
// bands in the order of tmap_upper_map, frames into ranges of `range` frames and these into groups
// of `group`. A block takes one range of frames and one of `splits` shares of the tiles.
typedef struct tmap_pairs_frames_plan {
    tmap_u32 n;                  // points of a frame that count
    tmap_u32 kind;               // TMAP_PAIRS_KIND_FRAMES
    tmap_u64 frames;             // number of frames
    tmap_u32 own, bytes;         // floats of a pair's own data, bytes of an accumulator
    tmap_u32 side, bands, pitch; // pitch: floats of a frame in shared memory
    tmap_u64 tiles, ranges;
    tmap_u32 group, range;         // frames of a group and of a range
    tmap_u32 splits;               // shares of the tiles; 1 if there is one tile
    const void *kernel;            // the kernel to launch
    tmap_u32 grid, block, shared;  // blocks, threads of a block, dynamic shared memory in bytes
    tmap_u32 processors, resident; // multiprocessors, the most blocks of one
    tmap_u32 room, room_of_all;    // bytes of shared memory: of a block, of a multiprocessor
} tmap_pairs_frames_plan;

TMAP_FN tmap_u64 tmapi_frames_pieces(tmap_u64 x, tmap_u64 of) { return x / of + (x % of != 0); }

// Byte offsets in a block's shared memory: two stages of points (the frames of a group and the
// reference); a table of the own data of a tile's pairs, by 4 columns of a block of rows; the sums
// of warps, twice; those of the block's frames, if there is more than one tile; those of all pairs,
// with scratch for a join over the block.
typedef struct tmapi_frames_layout {
    tmap_u32 stage, sums, at_sums, at_all, at_pairs, bytes;
} tmapi_frames_layout;

TMAP_FN tmapi_frames_layout tmapi_frames_layout_of(const tmap_pairs_frames_plan *plan) {
    const tmap_u32 blocks = plan->side / TMAPI_FRAMES_ROWS, quads = plan->side / 4;
    const tmap_u32 frames = plan->bands > 1 ? plan->range : 0;
    tmap_u32 cells = blocks * quads;
    tmapi_frames_layout l;
    if (plan->bands == 1) // no row has the part left of the diagonal
        cells = (quads + TMAPI_FRAMES_ROWS / 4) * blocks / 2;
    l.stage = (plan->group + 1) * plan->pitch * 4;
    l.sums = tmapi_facts_round(TMAPI_FRAMES_WARPS * plan->group * plan->bytes, 16);
    l.at_sums = 2 * l.stage + cells * TMAPI_FRAMES_ROWS * 4 * plan->own * 4;
    l.at_all = l.at_sums + 2 * l.sums;
    l.at_pairs = l.at_all + tmapi_facts_round(frames * plan->bytes, 16);
    if (l.at_pairs < TMAP_PAIRS_FRAMES_THREADS * plan->bytes) // the join of blocks begins at byte 0
        l.at_pairs = TMAP_PAIRS_FRAMES_THREADS * plan->bytes;
    l.bytes = l.at_pairs + (1 + TMAPI_FRAMES_WARPS) * tmapi_facts_round(plan->bytes, 16);
    return l;
}

// Bytes at the beginning of the workspace of tmap_pairs_frames that must be zero before its first
// launch; every launch leaves them zero. 0 if there is no workspace.
TMAP_FN tmap_u64 tmap_pairs_frames_clear(const tmap_pairs_frames_plan *plan) {
    return plan->splits > 1 ? (8 * plan->ranges + 15) / 16 * 16 : 0;
}

// Bytes of device memory that tmap_pairs_frames needs: 0 if one block takes all pairs of a frame,
// else a counter for each range and an accumulator for each frame of each block, a few megabytes.
TMAP_FN tmap_u64 tmap_pairs_frames_bytes(const tmap_pairs_frames_plan *plan) {
    const tmap_u64 parts = plan->ranges * plan->splits * (plan->range + 1ull) * plan->bytes;
    return plan->splits > 1 ? tmap_pairs_frames_clear(plan) + parts : 0;
}

// ---- how the work is divided --------------------------------------------------------------------

// Work is counted in rounds, in which each warp takes 8 x 4 pairs of 32 frames. The rounds of: the
// start of a block; the change from one group to the next; a group at least. The pairs of the table
// that take one round.
#define TMAPI_FRAMES_START  3.0
#define TMAPI_FRAMES_HAND   0.5
#define TMAPI_FRAMES_LATENT 2.0
#define TMAPI_FRAMES_MADE   (28.0 * TMAP_PAIRS_FRAMES_THREADS)
// The most frames of a block if there are several tiles; the most blocks of a multiprocessor.
#define TMAPI_FRAMES_RANGE 512u
#define TMAPI_FRAMES_WAVES 64u

// Rounds of a group of frames in a tile with `units` times 8 x 4 pairs.
TMAP_FN double tmapi_frames_rounds(const tmap_pairs_frames_plan *p, tmap_u32 units) {
    const tmap_u32 ways = 32 / p->group * TMAPI_FRAMES_WARPS;
    const double rounds = (double)tmapi_frames_pieces(units, ways) + TMAPI_FRAMES_HAND;
    return rounds > TMAPI_FRAMES_LATENT ? rounds : TMAPI_FRAMES_LATENT;
}

// Cuts points into bands of about `side` points and frames into groups of `group`. Returns the
// average number of rounds of a group in a tile.
TMAP_FN double tmapi_frames_cut(tmap_pairs_frames_plan *p, tmap_u32 side, tmap_u32 group) {
    double diagonal, whole;
    tmap_u32 rows;
    p->bands = p->n ? (tmap_u32)tmapi_frames_pieces(p->n, side) : 1;
    p->side = (tmap_u32)tmapi_frames_pieces(p->n ? p->n : 1, p->bands);
    p->side = tmapi_facts_round(p->side, TMAPI_FRAMES_ROWS);
    p->tiles = tmap_triangle_cells(p->bands);
    p->pitch = 3 * p->side * (p->bands > 1 ? 2 : 1) + 4; // 4 times an odd number
    p->group = group;
    rows = p->side / TMAPI_FRAMES_ROWS;
    diagonal = tmapi_frames_rounds(p, rows * (rows - 1) / 2 * (TMAPI_FRAMES_ROWS / 4) + rows);
    whole = tmapi_frames_rounds(p, rows * rows * (TMAPI_FRAMES_ROWS / 4));
    return whole + (diagonal - whole) * p->bands / (double)p->tiles;
}

// Finds the number of groups of frames and of tiles for a block that takes the fewest estimated
// rounds, and keeps it if it beats *least. tile: rounds of a tile and a group.
TMAP_FN void tmapi_frames_try(tmap_pairs_frames_plan p, double tile, double *least,
                              tmap_pairs_frames_plan *best) {
    const double made = p.own * (double)p.side * p.side / (p.bands > 1 ? 1 : 2);
    const tmap_u64 all = p.frames ? tmapi_frames_pieces(p.frames, p.group) : 1;
    tmap_u64 groups = p.bands > 1 ? 1 : tmapi_frames_pieces(all, p.processors * p.resident);
    for (;; groups = 2 * groups < all ? 2 * groups : all) {
        p.range = (tmap_u32)groups * p.group, p.ranges = tmapi_frames_pieces(p.frames, p.range);
        p.shared = tmapi_frames_layout_of(&p).bytes;
        if (p.shared > p.room) break;
        for (tmap_u64 tiles = 1;; tiles = 2 * tiles < p.tiles ? 2 * tiles : p.tiles) {
            const tmap_u64 splits = tmapi_frames_pieces(p.tiles, tiles);
            const tmap_u64 items = tmapi_frames_pieces(all, groups) * splits;
            // CUDA takes 1024 bytes of each block.
            const tmap_u32 most = p.room_of_all / (p.shared + 1024), few = most ? most : 1;
            const tmap_u32 held = few > p.resident ? p.resident : few;
            const double cost =
                (double)tmapi_frames_pieces(p.ranges * splits, p.processors) *
                (TMAPI_FRAMES_START / held +
                 (double)tiles * (tile * (double)groups + made / TMAPI_FRAMES_MADE));
            if ((items <= (tmap_u64)p.processors * TMAPI_FRAMES_WAVES ||
                 (tiles == p.tiles && p.range >= TMAPI_FRAMES_RANGE)) &&
                (*least < 0 || cost < *least)) {
                p.splits = (tmap_u32)splits, p.grid = (tmap_u32)(p.ranges * splits);
                *least = cost, *best = p;
            }
            if (tiles == p.tiles || items <= p.processors) break;
        }
        if (p.bands == 1 || groups == all || 2 * p.range > TMAPI_FRAMES_RANGE) break;
    }
}

// Chooses the plan with the fewest rounds. side, group: fixed numbers, or 0.
TMAP_FN int tmapi_frames_choose(tmap_pairs_frames_plan *p, tmap_u32 side, tmap_u32 group) {
    tmap_pairs_frames_plan best = *p;
    double least = -1;
    for (tmap_u32 s = TMAPI_FRAMES_ROWS; s <= 512; s += TMAPI_FRAMES_ROWS)
        for (tmap_u32 g = 8; g <= 32; g *= 2) {
            if ((side && s != side) || (group && g != group)) continue;
            if (s > TMAPI_FRAMES_ROWS && p->n <= s - TMAPI_FRAMES_ROWS) continue; // as last s
            const double tile = tmapi_frames_cut(p, s, g);
            tmapi_frames_try(*p, tile, &least, &best);
        }
    *p = best;
    return least >= 0;
}

// Makes the plan of tmap_pairs_frames_plan_make from facts: as tmap_pairs_plan_of.
TMAP_FN int tmap_pairs_frames_plan_of(tmap_u32 n, tmap_u64 frames, tmap_u32 own, tmap_u32 bytes,
                                      const tmap_facts *facts, tmap_pairs_frames_plan *out) {
    // n, kind, frames, own, bytes; the cut and the launch are chosen below
    tmap_pairs_frames_plan p = {
        n, TMAP_PAIRS_KIND_FRAMES,    frames, own, bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, TMAP_PAIRS_FRAMES_THREADS, 0,      0,   0,     0, 0};
    if (!out || !facts || n > 1u << 24 || frames > 1ull << 31) return TMAP_EINVAL;
    if (own > TMAP_PAIRS_FRAMES_OWN_MAX || bytes < 4 || bytes > TMAP_FOLD_BYTES_MAX || bytes % 4)
        return TMAP_EINVAL;
    p.processors = facts->device.processors;
    p.resident = tmap_resident_blocks(facts, p.block, 0);
    p.room = facts->device.block_shared - facts->kernel.shared;
    p.room_of_all = facts->device.shared;
    if (!p.resident || !tmapi_frames_choose(&p, 0, 0)) return TMAP_ERANGE;
    *out = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// Makes the plan of a kernel over the pairs of n points in each of `frames` frames. Range: n: 0 to
// 2^24. frames: 0 to 2^31. own: floats of a pair's own data, 0 to TMAP_PAIRS_FRAMES_OWN_MAX. bytes:
// of an accumulator, a multiple of 4, 4 to TMAP_FOLD_BYTES_MAX. kernel: a __global__ function of
// TMAP_PAIRS_FRAMES_THREADS threads. Errors and cost: as tmap_pairs_plan_make.
// Example: tmap_pairs_frames_plan_make(200, 4096, 1, 8, (const void *)look, &plan).
static inline cudaError_t tmap_pairs_frames_plan_make(tmap_u32 n, tmap_u64 frames, tmap_u32 own,
                                                      tmap_u32 bytes, const void *kernel,
                                                      tmap_pairs_frames_plan *out) {
    tmap_pairs_frames_plan p;
    tmap_facts facts;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error)
        error = tmapi_launch_error(tmap_pairs_frames_plan_of(n, frames, own, bytes, &facts, &p));
    if (!error) error = tmapi_launch_shared(kernel, p.room);
    if (!error) p.kernel = kernel, *out = p;
    return error;
}

// Launches a kernel that calls tmap_pairs_frames, as tmap_pairs_launch does; does nothing without a
// frame. Returns cudaErrorInvalidValue for a plan that tmap_pairs_frames_plan_make has not made.
static inline cudaError_t tmap_pairs_frames_launch(const tmap_pairs_frames_plan *plan, tmap_job job,
                                                   cudaStream_t stream) {
    if (!plan || !plan->kernel || !job || plan->kind != TMAP_PAIRS_KIND_FRAMES)
        return cudaErrorInvalidValue;
    if (!plan->frames) return cudaSuccess;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

#endif

#if TMAP_CUDA

// ---- points and your functions ------------------------------------------------------------------

// The points, in device memory. reference: shape (points, 3), or 0 if pairs have no own data.
// frames: shape (plan's frames, points, 3). points: points of a frame in memory. numbers: the
// plan's n points that count, each number below `points`, in any order: pairs number them 0, 1,
// ...; 0: the first n.
typedef struct tmap_pairs_frames_points {
    const float *reference, *frames;
    tmap_u32 points;
    const tmap_u32 *numbers;
} tmap_pairs_frames_points;

// Computes a pair's own data from the reference: writes calls.own floats to of_pair. Called once
// for every pair in every block, before any frame. If calls.sums is 1 it also adds to *sum. This
// and the next three are your __device__ functions, without barriers or collectives, constants of
// the kernel. a, b: x, y, z of points i < j, numbered as in tmap_pairs_frames_points.numbers.
typedef void (*tmap_pairs_frames_pair)(void *job, void *sum, tmap_pair pair, const float *a,
                                       const float *b, float *of_pair);
// Computes a frame's own data, up to TMAP_PAIRS_FRAMES_FRAME_MAX floats. Each lane calls it before
// its pairs of the frame in a tile.
typedef void (*tmap_pairs_frames_frame)(void *job, tmap_u64 frame, float *of_frame);
// Adds a pair of a frame to *sum. It does not receive the frame's number.
typedef void (*tmap_pairs_frames_add)(void *job, void *sum, tmap_pair pair, const float *a,
                                      const float *b, const float *of_pair, const float *of_frame);
// Stores the result of a frame from its sum and from the sum of all pairs (fold.zero if calls.sums
// is 0). Called once for each frame.
typedef void (*tmap_pairs_frames_finish)(void *job, tmap_u64 frame, const void *sum,
                                         const void *pairs);
// Your functions, and what they share.
typedef struct tmap_pairs_frames_calls {
    tmap_u32 own;                   // floats of a pair's own data, the plan's
    tmap_pairs_frames_pair of_pair; // or 0: pairs have no own data
    int sums; // 1 if of_pair also adds to *sum, once over all pairs, for every frame's finish
    tmap_pairs_frames_frame of_frame; // or 0: frames have no own data
    tmap_pairs_frames_add add;
    tmap_pairs_frames_finish finish;
} tmap_pairs_frames_calls;

// ---- tiles --------------------------------------------------------------------------------------

// What is constant in a launch. Sizes and functions are compile-time constants.
typedef struct tmapi_frames {
    const tmap_pairs_frames_plan *plan;
    tmap_pairs_frames_points points;
    tmap_pairs_frames_calls calls;
    tmap_fold fold;
    void *job;
    tmapi_frames_layout at;
    tmap_u64 first, tile, tiles; // the block's frames, and its tiles from `tile` on
    tmap_u32 count, groups;      // number of frames and of their groups
} tmapi_frames;

// A tile, and the lane's share of its pairs: every step-th block of rows from `head` on, for its
// pairs that are in no quad; and `count` quads from a position on.
typedef struct tmapi_frames_tile {
    tmap_u32 i, j, rows, columns; // first points, their numbers
    tmap_u32 blocks, quads, of_j; // blocks of rows; full quads; where points j are in a stage
    int diagonal;
    tmap_u32 head, heads, step, block, quad, count;
} tmapi_frames_tile;

// Float number `at` of the block's shared memory. With an index the compiler knows that the memory
// is shared.
TMAP_DEVICE float *tmapi_frames_shared_at(tmap_u32 at) {
    return (float *)tmapi_pairs_memory() + at;
}

// Number of quads left of the diagonal in blocks of rows 0 to `block`; first quad of a block.
TMAP_DEVICE tmap_u32 tmapi_frames_left_of(tmap_u32 block) {
    return TMAPI_FRAMES_ROWS / 4 * (block * (block + 1) / 2);
}
TMAP_DEVICE tmap_u32 tmapi_frames_first(const tmapi_frames_tile *t, tmap_u32 block) {
    return t->diagonal ? (block + 1) * (TMAPI_FRAMES_ROWS / 4) : 0;
}

// Position in the table of the own data of a row's pairs with a quad: the first of 4 floats for
// each of `own`.
TMAP_DEVICE tmap_u32 tmapi_frames_place(const tmapi_frames *f, const tmapi_frames_tile *t,
                                        tmap_u32 block, tmap_u32 quad, tmap_u32 row) {
    const tmap_u32 quads = f->plan->side / 4;
    const tmap_u32 base = block * quads - (t->diagonal ? tmapi_frames_left_of(block) : 0);
    return f->at.stage / 2 + ((base + quad) * TMAPI_FRAMES_ROWS + row) * f->calls.own * 4;
}

// Tile number `tile`, without a share of its pairs.
TMAP_DEVICE tmapi_frames_tile tmapi_frames_tile_of(const tmapi_frames *f, tmap_u64 tile) {
    const tmap_pairs_frames_plan *plan = f->plan;
    tmapi_frames_tile t;
    tmap_u32 row = 0, column = 0;
    if (plan->bands > 1)
        tmapi_pairs_tile_of(tile, TMAP_PAIRS_CONDENSED, plan->bands, 0, 1, &row, &column);
    t.diagonal = row == column;
    t.i = row * plan->side, t.j = column * plan->side;
    t.rows = plan->n - t.i < plan->side ? plan->n - t.i : plan->side;
    t.columns = plan->n - t.j < plan->side ? plan->n - t.j : plan->side;
    t.of_j = t.diagonal ? 0 : 3 * plan->side;
    t.blocks = (t.rows + TMAPI_FRAMES_ROWS - 1) / TMAPI_FRAMES_ROWS, t.quads = t.columns / 4;
    t.head = t.heads = t.step = t.block = t.quad = t.count = 0;
    return t;
}

// Beginning of share v of `step` equal shares of `all`.
TMAP_DEVICE tmap_u32 tmapi_frames_begin(tmap_u32 all, tmap_u32 step, tmap_u32 v) {
    return all / step * v + (v < all % step ? v : all % step);
}

// Sets share v of `step`: every step-th head, and the consecutive quads that make shares equal.
TMAP_DEVICE void tmapi_frames_share(tmapi_frames_tile *t, tmap_u32 v, tmap_u32 step) {
    const tmap_u32 most = t->quads / (TMAPI_FRAMES_ROWS / 4);
    const tmap_u32 with = t->diagonal && most < t->blocks ? most : t->blocks; // blocks with quads
    tmap_u32 all = with * t->quads - (t->diagonal ? tmapi_frames_left_of(with) : 0);
    t->heads = t->diagonal || t->columns % 4 ? t->blocks : 0;
    t->head = v, t->step = step, t->block = 0, all += t->heads;
    t->quad = tmapi_frames_begin(all, step, v) - tmapi_frames_begin(t->heads, step, v);
    t->count = tmapi_frames_begin(all, step, v + 1) - tmapi_frames_begin(t->heads, step, v + 1);
    t->count -= t->quad;
    while (t->count && t->quad >= t->quads - tmapi_frames_first(t, t->block))
        t->quad -= t->quads - tmapi_frames_first(t, t->block), ++t->block;
    t->quad += tmapi_frames_first(t, t->block);
}

// ---- loading points -----------------------------------------------------------------------------

// Copies `count` points of a frame, from number `first` of those that count, with one warp.
TMAP_DEVICE void tmapi_frames_bring_row(const tmapi_frames *f, const float *frame, tmap_u32 first,
                                        tmap_u32 count, tmap_u32 at) {
    const tmap_u32 lane = threadIdx.x % 32, floats = 3 * count;
    const float *from = frame + first * 3ull;
    float *to = tmapi_frames_shared_at(at);
    const tmap_u32 *numbers = f->points.numbers;
    tmap_u32 x = lane;
    if (!numbers && (tmap_u64)from % 16 == 0) {
        for (x = 4 * lane; x + 4 <= floats; x += 128) tmapi_async_copy(to + x, from + x, 16);
        x = floats / 4 * 4 + lane;
    }
    for (; x < floats; x += 32) {
        const float *at = numbers ? frame + numbers[first + x / 3] * 3ull + x % 3 : from + x;
        tmapi_async_copy(to + x, at, 4);
    }
}

// Copies the tile's points of `count` frames to a stage, in a batch. A warp takes half of a frame's
// points: its rows or its columns, or on the diagonal one of two halves.
TMAP_DEVICE void tmapi_frames_bring(const tmapi_frames *f, const tmapi_frames_tile *t,
                                    const float *frames, tmap_u32 count, tmap_u32 stage) {
    const tmap_u32 warp = threadIdx.x / 32, half = (t->rows + 7) / 8 * 4;
    const tmap_u32 middle = t->diagonal && half < t->rows ? half : t->rows;
    tmap_u32 from = t->i, points = middle;
    if (warp % 2) {
        from = t->diagonal ? t->i + middle : t->j;
        points = t->diagonal ? t->rows - middle : t->columns;
        stage += t->diagonal ? 3 * middle : t->of_j;
    }
    for (tmap_u32 row = warp / 2; row < count; row += TMAPI_FRAMES_WARPS / 2)
        tmapi_frames_bring_row(f, frames + (tmap_u64)row * f->points.points * 3, from, points,
                               stage + row * f->plan->pitch);
    tmapi_async_commit();
}

// ---- the pairs ----------------------------------------------------------------------------------
//
// A lane has a frame. It holds 8 points i, a block of rows, and takes 4 points j at a time, a quad
// of columns, from shared memory by loads of 16 bytes. The own data of the 32 pairs is the same for
// all frames, and read by 16 bytes for 4 pairs.

typedef struct tmapi_frames_places {
    alignas(16) float at[TMAPI_FRAMES_ROWS][3];
} tmapi_frames_places;
// A lane's frame: its position in shared memory, its own data, and its sums.
typedef struct tmapi_frames_lane {
    tmap_u32 at;
    float of_frame[TMAP_PAIRS_FRAMES_FRAME_MAX];
    tmapi_fold_words run, total;
} tmapi_frames_lane;

// Reads `count` points of a frame, a multiple of 4, from shared memory.
TMAP_DEVICE void tmapi_frames_read(tmapi_frames_places *to, const float *from, tmap_u32 count) {
#pragma unroll
    for (tmap_u32 k = 0; k < 3 * count / 4; ++k)
        tmapi_value_copy(&to->at[0][0] + 4 * k, from + 4 * k, 16);
}

// Adds all 8 x 4 pairs of a block of rows and a quad. columns: the quad's points; own: their data.
TMAP_DEVICE void tmapi_frames_step(const tmapi_frames *f, tmapi_frames_lane *lane, tmap_pair first,
                                   const tmapi_frames_places *a, const float *columns,
                                   const float *own) {
    tmapi_frames_places b;
    tmapi_frames_read(&b, columns, 4);
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FRAMES_ROWS; ++r) {
        alignas(16) float row[TMAP_PAIRS_FRAMES_OWN_MAX][4];
#pragma unroll
        for (tmap_u32 k = 0; k < f->calls.own; ++k)
            tmapi_value_copy(row[k], own + (r * f->calls.own + k) * 4, 16);
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c) {
            const tmap_pair pair = {first.i + r, first.j + c};
            float mine[TMAP_PAIRS_FRAMES_OWN_MAX];
#pragma unroll
            for (tmap_u32 k = 0; k < f->calls.own; ++k) mine[k] = row[k][c];
            f->calls.add(f->job, &lane->run, pair, a->at[r], b.at[c], mine, lane->of_frame);
        }
    }
}

// Adds a single pair. own: position of its data in shared memory.
TMAP_DEVICE void tmapi_frames_pair_of(const tmapi_frames *f, tmapi_frames_lane *lane,
                                      tmap_pair pair, const float *a, const float *b,
                                      tmap_u32 own) {
    float mine[TMAP_PAIRS_FRAMES_OWN_MAX];
#pragma unroll
    for (tmap_u32 k = 0; k < f->calls.own; ++k) mine[k] = *tmapi_frames_shared_at(own + 4 * k);
    f->calls.add(f->job, &lane->run, pair, a, b, mine, lane->of_frame);
}

// Adds a block of rows' pairs that are in no quad: on the diagonal those among its points, and the
// columns after the last full quad.
TMAP_DEVICE void tmapi_frames_head(const tmapi_frames *f, const tmapi_frames_tile *t,
                                   tmapi_frames_lane *lane, tmap_u32 block) {
    const tmap_u32 row = block * TMAPI_FRAMES_ROWS;
    tmapi_frames_places a;
    tmapi_frames_read(&a, tmapi_frames_shared_at(lane->at + 3 * row), TMAPI_FRAMES_ROWS);
    tmapi_fold_move(&lane->run, f->fold.zero, f->fold.bytes);
    if (t->diagonal) {
#pragma unroll
        for (tmap_u32 c = 1; c < TMAPI_FRAMES_ROWS; ++c) {
            if (row + c >= t->rows) break;
#pragma unroll
            for (tmap_u32 k = 0; k < c; ++k) {
                const tmap_pair pair = {t->i + row + k, t->j + row + c};
                const tmap_u32 own = tmapi_frames_place(f, t, block, row / 4 + c / 4, k) + c % 4;
                tmapi_frames_pair_of(f, lane, pair, a.at[k], a.at[c], own);
            }
        }
    }
    for (tmap_u32 j = 4 * t->quads; j < t->columns; ++j) {
        float b[3];
        if (t->diagonal && j < row + TMAPI_FRAMES_ROWS) continue;
#pragma unroll
        for (tmap_u32 k = 0; k < 3; ++k)
            b[k] = *tmapi_frames_shared_at(lane->at + t->of_j + 3 * j + k);
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_FRAMES_ROWS; ++k) {
            const tmap_pair pair = {t->i + row + k, t->j + j};
            const tmap_u32 own = tmapi_frames_place(f, t, block, t->quads, k) + j % 4;
            tmapi_frames_pair_of(f, lane, pair, a.at[k], b, own);
        }
    }
    f->fold.join(f->job, &lane->total, &lane->run);
}

// Adds all pairs of the lane's share of a tile.
TMAP_DEVICE void tmapi_frames_walk(const tmapi_frames *f, const tmapi_frames_tile *t,
                                   tmapi_frames_lane *lane) {
    const float *end = tmapi_frames_shared_at(lane->at + t->of_j + 12 * t->quads); // of the rows
    const float *columns = end, *own = end;
    tmap_u32 left = t->count, block = t->block - 1, quad = t->quad;
    tmapi_frames_places a;
    for (tmap_u32 head = t->head; head < t->heads; head += t->step)
        tmapi_frames_head(f, t, lane, head);
    while (left) {
        const tmap_u32 stop = left > 4 ? left - 4 : 0; // sums of 128 terms
        tmapi_fold_move(&lane->run, f->fold.zero, f->fold.bytes);
        for (; left > stop; --left) {
            tmap_pair first;
            if (columns == end) { // the next block of rows
                const tmap_u32 at = 3 * TMAPI_FRAMES_ROWS * ++block;
                own = tmapi_frames_shared_at(tmapi_frames_place(f, t, block, quad, 0));
                columns = tmapi_frames_shared_at(lane->at + t->of_j + 12 * quad);
                tmapi_frames_read(&a, tmapi_frames_shared_at(lane->at + at), TMAPI_FRAMES_ROWS);
                quad = tmapi_frames_first(t, block + 1);
            }
            first.i = t->i + block * TMAPI_FRAMES_ROWS;
            first.j = t->j + t->quads * 4 - (tmap_u32)(end - columns) / 3;
            tmapi_frames_step(f, lane, first, &a, columns, own);
            own += TMAPI_FRAMES_ROWS * f->calls.own * 4;
            columns += 12;
        }
        f->fold.join(f->job, &lane->total, &lane->run);
    }
}

// ---- blocks -------------------------------------------------------------------------------------

// Accumulator number x in the block's shared memory, from a byte on.
TMAP_DEVICE unsigned char *tmapi_frames_sum_at(const tmapi_frames *f, tmap_u32 byte, tmap_u32 x) {
    return (unsigned char *)tmapi_frames_shared_at(byte / 4) + x * f->fold.bytes;
}

// Joins the accumulator at `from` to a sum.
TMAP_DEVICE void tmapi_frames_take(const tmapi_frames *f, tmapi_fold_words *sum, const void *from) {
    tmapi_fold_words other;
    tmapi_fold_move(&other, from, f->fold.bytes);
    f->fold.join(f->job, sum, &other);
}

// Number of frames of group g of the block.
TMAP_DEVICE tmap_u32 tmapi_frames_of_group(const tmapi_frames *f, tmap_u32 g) {
    const tmap_u32 left = f->count - g * f->plan->group;
    return left < f->plan->group ? left : f->plan->group;
}

// Joins the warps' sums of a group's frames, one thread a frame, and adds those of earlier tiles;
// finishes the frames after the last tile. sums: where the sums of all warps begin.
TMAP_DEVICE void tmapi_frames_gather(const tmapi_frames *f, tmap_u32 g, tmap_u32 sums, int first,
                                     int last) {
    const tmap_u32 x = g * f->plan->group + threadIdx.x;
    void *all = tmapi_frames_sum_at(f, f->at.at_all, x);
    tmapi_fold_words sum;
    if (threadIdx.x >= tmapi_frames_of_group(f, g)) return;
    tmapi_fold_move(&sum, tmapi_frames_sum_at(f, sums, threadIdx.x), f->fold.bytes);
#pragma unroll 4
    for (tmap_u32 w = 1; w < TMAPI_FRAMES_WARPS; ++w)
        tmapi_frames_take(f, &sum, tmapi_frames_sum_at(f, sums, w * f->plan->group + threadIdx.x));
    if (!first) tmapi_frames_take(f, &sum, all);
    if (last)
        f->calls.finish(f->job, f->first + x, &sum, tmapi_frames_sum_at(f, f->at.at_pairs, 0));
    else
        tmapi_fold_move(all, &sum, f->fold.bytes);
}

// Computes the table of a tile, 4 pairs a thread at a time, and what its pairs accumulate. at: of
// the reference's points. Collective for the block; a barrier must follow.
TMAP_DEVICE void tmapi_frames_make(const tmapi_frames *f, const tmapi_frames_tile *t, tmap_u32 at,
                                   int first) {
    const float *reference = tmapi_frames_shared_at(at);
    const tmap_u32 row = threadIdx.x % TMAPI_FRAMES_ROWS, quads = (t->columns + 3) / 4;
    unsigned char *pairs = tmapi_frames_sum_at(f, f->at.at_pairs, 0);
    tmapi_fold_words sum;
    tmapi_fold_move(&sum, f->fold.zero, f->fold.bytes);
    for (tmap_u32 x = threadIdx.x / TMAPI_FRAMES_ROWS; x < t->blocks * quads;
         x += TMAP_PAIRS_FRAMES_THREADS / TMAPI_FRAMES_ROWS) {
        const tmap_u32 block = x / quads, quad = x % quads, i = block * TMAPI_FRAMES_ROWS + row;
        float *to = tmapi_frames_shared_at(tmapi_frames_place(f, t, block, quad, row));
        tmapi_frames_places b;
        alignas(16) float own[TMAP_PAIRS_FRAMES_OWN_MAX][4];
        if (t->diagonal && quad < block * (TMAPI_FRAMES_ROWS / 4)) continue;
        tmapi_frames_read(&b, reference + t->of_j + 12 * quad, 4);
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c) {
            const tmap_u32 j = 4 * quad + c;
            const tmap_pair pair = {t->i + i, t->j + j};
            float mine[TMAP_PAIRS_FRAMES_OWN_MAX] = {0, 0, 0, 0};
            if (i < t->rows && j < t->columns && (!t->diagonal || i < j))
                f->calls.of_pair(f->job, &sum, pair, reference + 3 * i, b.at[c], mine);
#pragma unroll
            for (tmap_u32 k = 0; k < f->calls.own; ++k) own[k][c] = mine[k];
        }
#pragma unroll
        for (tmap_u32 k = 0; k < f->calls.own; ++k) tmapi_value_copy(to + 4 * k, own[k], 16);
    }
    if (!f->calls.sums) return;
    tmap_fold_block(&sum, f->fold, f->job, pairs + (f->fold.bytes + 15) / 16 * 16);
    if (threadIdx.x) return;
    if (!first) tmapi_frames_take(f, &sum, pairs);
    tmapi_fold_move(pairs, &sum, f->fold.bytes);
}

// Adds the pairs of a group of frames in a tile. Joins the sums of a warp's lanes with the same
// frame and writes them to shared memory. stage, sums: where those of all warps begin.
TMAP_DEVICE void tmapi_frames_group(const tmapi_frames *f, const tmapi_frames_tile *t, tmap_u32 g,
                                    tmap_u32 stage, tmap_u32 sums) {
    const tmap_u32 frames = tmapi_frames_of_group(f, g), lanes = f->plan->group;
    const tmap_u32 me = threadIdx.x % 32, to = threadIdx.x / 32 * lanes + me;
    tmap_u32 mine = threadIdx.x % lanes;
    tmapi_frames_lane lane;
    if (mine >= frames) mine = frames - 1; // its sums are never read
    lane.at = stage + mine * f->plan->pitch;
    if (f->calls.of_frame) f->calls.of_frame(f->job, f->first + g * lanes + mine, lane.of_frame);
    tmapi_fold_move(&lane.total, f->fold.zero, f->fold.bytes);
    tmapi_frames_walk(f, t, &lane);
    __syncwarp();
    TMAPI_NO_UNROLL
    for (tmap_u32 step = 16; step >= lanes; step /= 2) {
        tmapi_fold_words other;
#pragma unroll
        for (tmap_u32 i = 0; i < f->fold.bytes / 4; ++i)
            other.word[i] = __shfl_down_sync(0xffffffffu, lane.total.word[i], step);
        if (me < step) f->fold.join(f->job, &lane.total, &other);
    }
    if (me < lanes) tmapi_fold_move(tmapi_frames_sum_at(f, sums, to), &lane.total, f->fold.bytes);
}

// Processes all tiles and frames of a block. Step x loads the points of group x, adds group x - 1
// and joins the sums of group x - 2, through all tiles.
TMAP_DEVICE void tmapi_frames_work(const tmapi_frames *f) {
    const tmap_pairs_frames_plan *plan = f->plan;
    const tmap_u32 ways = 32 / plan->group, group = plan->group;
    const tmap_u32 way = threadIdx.x / 32 * ways + threadIdx.x % 32 * ways / 32;
    const tmap_u64 steps = f->tiles * f->groups, of_frame = f->points.points * 3ull;
    tmapi_frames_tile t = tmapi_frames_tile_of(f, f->tile), next = t;
    tmap_u32 coming = 0, here = 0, before = 0; // numbers of groups
    tmap_u64 tile = 0;                         // the tile that is being loaded
    for (tmap_u64 x = 0; x < steps + 2; ++x) {
        const int look = x >= 1 && x <= steps;
        const tmap_u32 odd = (tmap_u32)x & 1, even = odd ^ 1;
        const tmap_u32 to = odd * (f->at.stage / 4), from = even * (f->at.stage / 4);
        if (look && here == 0) {
            t = next;
            tmapi_frames_share(&t, way, ways * TMAPI_FRAMES_WARPS);
            if (f->calls.of_pair) {
                tmapi_async_wait(1);
                __syncthreads(); // the reference is loaded, and the table is free
                tmapi_frames_make(f, &t, from + group * plan->pitch, x == 1);
            }
        }
        tmapi_async_wait(0);
        __syncthreads(); // points and table are ready, the other stage and its sums are free
        if (x < steps) {
            if (coming == 0 && tile) next = tmapi_frames_tile_of(f, f->tile + tile);
            if (coming == 0 && f->calls.of_pair) // in a separate batch
                tmapi_frames_bring(f, &next, f->points.reference, 1, to + group * plan->pitch);
            tmapi_frames_bring(f, &next,
                               f->points.frames + (f->first + (tmap_u64)coming * group) * of_frame,
                               tmapi_frames_of_group(f, coming), to);
            if (++coming == f->groups) coming = 0, ++tile;
        }
        if (x >= 2) {
            tmapi_frames_gather(f, before, f->at.at_sums + odd * f->at.sums, x - 2 < f->groups,
                                plan->splits == 1 && x >= steps + 2 - f->groups);
            if (++before == f->groups) before = 0;
        }
        if (look) {
            tmapi_frames_group(f, &t, here, from, f->at.at_sums + even * f->at.sums);
            if (++here == f->groups) here = 0;
        }
    }
}

// Writes the sums of a block's frames to memory. The last block of a range joins those of all
// blocks and finishes the frames, 32 at a time: each warp joins a slice of the blocks.
TMAP_DEVICE void tmapi_frames_join(const tmapi_frames *f, void *workspace) {
    const tmap_pairs_frames_plan *plan = f->plan;
    const tmap_u64 range = blockIdx.x / plan->splits, bytes = f->fold.bytes;
    const tmap_u64 row = (plan->range + 1ull) * bytes; // the pairs and the frames of a block
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned char *rows = (unsigned char *)workspace + tmap_pairs_frames_clear(plan);
    unsigned char *pairs = tmapi_frames_sum_at(f, f->at.at_pairs, 0);
    tmapi_fold_words sum, other;
    __syncthreads();
    for (tmap_u32 x = threadIdx.x; x <= f->count; x += TMAP_PAIRS_FRAMES_THREADS)
        tmapi_fold_move(rows + blockIdx.x * row + x * bytes,
                        x ? tmapi_frames_sum_at(f, f->at.at_all, x - 1) : pairs, f->fold.bytes);
    __syncthreads();
    if (!tmapi_fold_last((tmap_u64 *)workspace + range, plan->splits)) return;
    rows += range * plan->splits * row;
    TMAPI_NO_UNROLL
    for (tmap_u32 begin = 0; begin <= f->count; begin += 32) {
        const tmap_u32 x = begin + lane;
        const int mine = x <= f->count;
        tmapi_fold_move(&sum, f->fold.zero, f->fold.bytes);
#pragma unroll 4
        for (tmap_u32 s = warp; s < plan->splits && mine; s += TMAPI_FRAMES_WARPS) {
            tmapi_fold_fetch(&other, rows + s * row + x * bytes, f->fold.bytes);
            f->fold.join(f->job, &sum, &other);
        }
        tmapi_fold_move(tmapi_frames_sum_at(f, 0, threadIdx.x), &sum, f->fold.bytes);
        __syncthreads();
        for (tmap_u32 w = 1; w < TMAPI_FRAMES_WARPS && !warp; ++w)
            tmapi_frames_take(f, &sum, tmapi_frames_sum_at(f, 0, 32 * w + lane));
        if (threadIdx.x == 0 && !begin) tmapi_fold_move(pairs, &sum, f->fold.bytes);
        __syncthreads();
        if (!warp && x && mine) f->calls.finish(f->job, f->first + x - 1, &sum, pairs);
    }
}

// Accumulates calls.add over all pairs of every frame and passes each frame's sum to calls.finish.
// plan: of tmap_pairs_frames_plan_make for the same calls.own and fold.bytes; with another plan the
// call does nothing. fold.bytes: a multiple of 4. workspace: tmap_pairs_frames_bytes bytes of
// device memory at a multiple of 16; the first tmap_pairs_frames_clear of them must be zero before
// the first launch; launches that overlap need one workspace each. All threads of all blocks call
// it, once in a launch, in blocks of TMAP_PAIRS_FRAMES_THREADS threads.
// Exactness: results are the same in every run of a plan. The division of the pairs depends on the
// number of frames and on the device, so sums of floats may differ between plans. An accumulator
// begins again after at most 128 pairs.
// Cost: for each pair and frame, add and half an instruction; of_pair for each pair in each block.
// With fewer than 8 frames lanes are idle: for one or two frames tmap_pairs_fold is faster.
TMAP_DEVICE void tmap_pairs_frames(const tmap_pairs_frames_plan *plan,
                                   tmap_pairs_frames_points points, tmap_pairs_frames_calls calls,
                                   tmap_fold fold, void *workspace, void *job) {
    tmapi_frames f;
    if (!tmapi_pairs_check_plan(plan->kind, TMAP_PAIRS_KIND_FRAMES, "tmap_pairs_frames") ||
        !TMAPI_CHECK(plan->own == calls.own && plan->bytes == fold.bytes, "tmap_pairs_frames",
                     "calls.own or fold.bytes is not the plan's") ||
        !TMAPI_CHECK(blockDim.x == plan->block, "tmap_pairs_frames", "blocks have other threads"))
        return;
    if (plan->own != calls.own || plan->bytes != fold.bytes) return;
    const tmap_u32 split = blockIdx.x % plan->splits;
    f.plan = plan, f.points = points, f.calls = calls, f.fold = fold, f.job = job;
    f.at = tmapi_frames_layout_of(plan);
    f.first = (tmap_u64)(blockIdx.x / plan->splits) * plan->range, f.count = plan->range;
    if (plan->frames - f.first < f.count) f.count = (tmap_u32)(plan->frames - f.first);
    f.groups = (f.count + plan->group - 1) / plan->group;
    f.tile = plan->tiles * split / plan->splits;
    f.tiles = plan->tiles * (split + 1) / plan->splits - f.tile;
    if (!calls.sums && threadIdx.x == 0)
        tmapi_fold_move(tmapi_frames_sum_at(&f, f.at.at_pairs, 0), fold.zero, fold.bytes);
    tmapi_frames_work(&f);
    if (plan->splits > 1) tmapi_frames_join(&f, workspace);
}

#endif // TMAP_CUDA

#endif
