// SPDX-License-Identifier: MIT
// pairs_frames_plan.h: the plan of a launch over all pairs of n points in each of many frames: how
// points are cut into tiles and frames into groups, and the grid and shared memory that they take
// on this device.
//
// A frame is n places in space, floats x, y, z side by side. A warp takes the same pairs of up to
// 32 frames at once, a frame in each lane; or of 16 or 8 frames, where its halves or quarters take
// different pairs. A block has the points of a tile's rows and columns, of one group of frames, in
// shared memory, while those of the next group come; and what the pairs of the tile have of their
// own (their distances in a reference, say), which is made once for all frames of the block. Where
// all pairs fit one block, they are one tile.
//
// pairs_frames.h has the function that a kernel of the user's calls.
#ifndef TMAP_TRIANGLE_PAIRS_FRAMES_PLAN_H
#define TMAP_TRIANGLE_PAIRS_FRAMES_PLAN_H

#include "../fold.h"
#include "../launch.h"
#include "pairs_plan.h"

// Threads of a block; floats that a pair may have of its own, and a frame.
#ifndef TMAP_PAIRS_FRAMES_THREADS
#define TMAP_PAIRS_FRAMES_THREADS 512u
#endif
#define TMAP_PAIRS_FRAMES_OWN_MAX   4u
#define TMAP_PAIRS_FRAMES_FRAME_MAX 8u

// Points i that a lane holds at once; frames of a lane; frames of a group, at most.
#define TMAPI_FRAMES_ROWS 8u
#ifndef TMAPI_FRAMES_LANE
#define TMAPI_FRAMES_LANE 1u
#endif
#define TMAPI_FRAMES_WARPS (TMAP_PAIRS_FRAMES_THREADS / 32)

// A plan. Points are cut into `bands` of `side` points, pairs into `tiles` of two bands, row by row
// as in tmap_upper_map; frames into ranges of `range` frames, and these into groups of `group`. A
// block takes one range of frames and one of `splits` shares of the tiles.
typedef struct tmap_pairs_frames_plan {
    tmap_u32 n;                    // points that count, of a frame
    tmap_u32 kind;                 // TMAP_PAIRS_KIND_FRAMES
    tmap_u64 frames;               // how many
    tmap_u32 own, bytes;           // floats of a pair, bytes of an accumulator
    tmap_u32 side, bands, pitch;   // pitch: floats of a frame in shared memory
    tmap_u64 tiles, ranges;        //
    tmap_u32 group, range;         // frames
    tmap_u32 splits;               // 1 where there is one tile
    const void *kernel;            // the launch
    tmap_u32 grid, block, shared;  // blocks, threads of a block, bytes
    tmap_u32 processors, resident; // multiprocessors, blocks that one may hold
    tmap_u32 room, room_of_all;    // bytes that a block may have, and all blocks of one
} tmap_pairs_frames_plan;

TMAP_FN tmap_u32 tmapi_frames_round(tmap_u32 x, tmap_u32 to) { return (x + to - 1) / to * to; }
TMAP_FN tmap_u64 tmapi_frames_pieces(tmap_u64 x, tmap_u64 of) { return x / of + (x % of != 0); }

// ---- shared memory: two stages of points, what pairs have of their own, sums --------------------

// Bytes of a stage: the frames of a group, and the reference.
TMAP_FN tmap_u32 tmapi_frames_stage(const tmap_pairs_frames_plan *plan) {
    return (plan->group + 1) * plan->pitch * 4;
}

// 4 columns of a block of rows are what the table is counted in; those of a tile.
TMAP_FN tmap_u32 tmapi_frames_cells(const tmap_pairs_frames_plan *plan) {
    const tmap_u32 blocks = plan->side / TMAPI_FRAMES_ROWS, quads = plan->side / 4;
    if (plan->bands > 1) return blocks * quads;
    return (quads + TMAPI_FRAMES_ROWS / 4) * blocks / 2; // no row has what is left of the diagonal
}
TMAP_FN tmap_u32 tmapi_frames_table(const tmap_pairs_frames_plan *plan) {
    return tmapi_frames_cells(plan) * TMAPI_FRAMES_ROWS * 4 * plan->own * 4;
}

// Where in shared memory things are: after the stages and the table the sums of warps, twice; those
// of the block's frames, where there is more than one tile; and what is joined over the block.
TMAP_FN tmap_u32 tmapi_frames_at_sums(const tmap_pairs_frames_plan *plan) {
    return 2 * tmapi_frames_stage(plan) + tmapi_frames_table(plan);
}
TMAP_FN tmap_u32 tmapi_frames_sums(const tmap_pairs_frames_plan *plan) {
    return tmapi_frames_round(TMAPI_FRAMES_WARPS * plan->group * plan->bytes, 16);
}
TMAP_FN tmap_u64 tmapi_frames_at_all(const tmap_pairs_frames_plan *plan) {
    return tmapi_frames_at_sums(plan) + 2ull * tmapi_frames_sums(plan);
}
TMAP_FN tmap_u64 tmapi_frames_at_pairs(const tmap_pairs_frames_plan *plan) {
    const tmap_u64 frames = plan->bands > 1 ? plan->range : 0;
    const tmap_u64 at = tmapi_frames_at_all(plan) + (frames * plan->bytes + 15) / 16 * 16;
    const tmap_u64 least = TMAP_PAIRS_FRAMES_THREADS * plan->bytes; // for the join of all blocks
    return at > least ? at : least;
}
TMAP_FN tmap_u64 tmapi_frames_shared(const tmap_pairs_frames_plan *plan) {
    return tmapi_frames_at_pairs(plan) + (1 + TMAPI_FRAMES_WARPS) * ((plan->bytes + 15) / 16 * 16);
}

// ---- memory for the sums of blocks --------------------------------------------------------------

// Bytes at the beginning of the workspace that are zero before the first launch which uses it: a
// counter for each range of frames. Each launch leaves them so. 0 where there is no workspace.
TMAP_FN tmap_u64 tmap_pairs_frames_clear(const tmap_pairs_frames_plan *plan) {
    return plan->splits > 1 ? (8 * plan->ranges + 15) / 16 * 16 : 0;
}

// Bytes of device memory that tmap_pairs_frames needs: 0 where all pairs of a frame are one
// block's, else an accumulator of each block for each of its frames, a few megabytes.
TMAP_FN tmap_u64 tmap_pairs_frames_bytes(const tmap_pairs_frames_plan *plan) {
    const tmap_u64 parts = plan->ranges * plan->splits * (plan->range + 1ull) * plan->bytes;
    return plan->splits > 1 ? tmap_pairs_frames_clear(plan) + parts : 0;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- the plan -----------------------------------------------------------------------------------

// What a block does is counted in rounds, in which each warp takes 8 x 4 pairs of 32 frames; what
// else it does takes about as long as so many of them: its start, the handing over from group to
// group, a group at least; and so many pairs of the table are made in one.
#define TMAPI_FRAMES_START  3.0
#define TMAPI_FRAMES_HAND   0.5
#define TMAPI_FRAMES_LATENT 2.0
#define TMAPI_FRAMES_MADE   (28.0 * TMAP_PAIRS_FRAMES_THREADS)
// Frames of a block, at most, where there are several tiles; blocks for each multiprocessor.
#define TMAPI_FRAMES_RANGE 512u
#define TMAPI_FRAMES_WAVES 64u

// Rounds for a group of frames in a tile with so many 8 x 4 pairs.
static inline double tmapi_frames_rounds(const tmap_pairs_frames_plan *p, tmap_u32 units) {
    const tmap_u32 ways = 32 * TMAPI_FRAMES_LANE / p->group * TMAPI_FRAMES_WARPS;
    const double rounds = TMAPI_FRAMES_LANE * (double)tmapi_frames_pieces(units, ways);
    return rounds + TMAPI_FRAMES_HAND > TMAPI_FRAMES_LATENT ? rounds + TMAPI_FRAMES_HAND
                                                            : TMAPI_FRAMES_LATENT;
}

// Cuts points into bands of about `side` points and frames into groups of `group` frames. Returns
// the rounds for a group in a tile, on an average.
static inline double tmapi_frames_cut(tmap_pairs_frames_plan *p, tmap_u32 side, tmap_u32 group) {
    double diagonal, whole;
    tmap_u32 rows;
    p->bands = p->n ? (tmap_u32)tmapi_frames_pieces(p->n, side) : 1;
    p->side = (tmap_u32)tmapi_frames_pieces(p->n ? p->n : 1, p->bands);
    p->side = tmapi_frames_round(p->side, TMAPI_FRAMES_ROWS);
    p->tiles = tmap_triangle_cells(p->bands);
    p->pitch = 3 * p->side * (p->bands > 1 ? 2 : 1) + 4; // 4 times an odd number
    p->group = group;
    rows = p->side / TMAPI_FRAMES_ROWS;
    diagonal = tmapi_frames_rounds(p, rows * (rows - 1) / 2 * (TMAPI_FRAMES_ROWS / 4) + rows);
    whole = tmapi_frames_rounds(p, rows * rows * (TMAPI_FRAMES_ROWS / 4));
    return whole + (diagonal - whole) * p->bands / (double)p->tiles;
}

// Divides the work: so many groups of frames and tiles for a block. Returns about how long that
// takes, in rounds; a negative number where it is not possible. tile: rounds for one and a group.
static inline double tmapi_frames_divide(tmap_pairs_frames_plan *p, double tile, tmap_u64 groups,
                                         tmap_u64 tiles) {
    const double pairs = (double)p->side * p->side / (p->bands > 1 ? 1 : 2);
    const tmap_u64 frames = groups * p->group, splits = tmapi_frames_pieces(p->tiles, tiles);
    tmap_u64 items, held;
    if (frames > 0xffffffffull || splits > 0x7fffffff) return -1;
    p->range = (tmap_u32)frames, p->splits = (tmap_u32)splits;
    p->ranges = tmapi_frames_pieces(p->frames, frames);
    items = p->ranges * splits;
    if (items > 0x7fffffff || tmapi_frames_shared(p) > p->room) return -1;
    p->grid = (tmap_u32)items, p->shared = (tmap_u32)tmapi_frames_shared(p);
    held = p->room_of_all / (p->shared + 1024); // CUDA takes 1024 bytes of each block
    held = held > p->resident ? p->resident : held ? held : 1;
    return (double)tmapi_frames_pieces(items, p->processors) *
           (TMAPI_FRAMES_START / (double)held +
            (double)tiles * (tile * (double)groups + p->own * pairs / TMAPI_FRAMES_MADE));
}

// The divisions of a cut that might be good, compared with the best so far.
static inline void tmapi_frames_try(tmap_pairs_frames_plan p, double tile, double *least,
                                    tmap_pairs_frames_plan *best) {
    const tmap_u64 all = p.frames ? tmapi_frames_pieces(p.frames, p.group) : 1;
    tmap_u64 groups = p.bands > 1 ? 1 : tmapi_frames_pieces(all, p.processors * p.resident);
    for (;; groups = 2 * groups < all ? 2 * groups : all) {
        const tmap_u64 ranges = tmapi_frames_pieces(all, groups);
        for (tmap_u64 tiles = 1;; tiles = 2 * tiles < p.tiles ? 2 * tiles : p.tiles) {
            const tmap_u64 items = ranges * tmapi_frames_pieces(p.tiles, tiles);
            const int few = items <= (tmap_u64)p.processors * TMAPI_FRAMES_WAVES;
            const double cost = few || (tiles == p.tiles && groups * p.group >= TMAPI_FRAMES_RANGE)
                                    ? tmapi_frames_divide(&p, tile, groups, tiles)
                                    : -1;
            if (cost >= 0 && (*least < 0 || cost < *least)) *least = cost, *best = p;
            if (tiles == p.tiles || items <= p.processors) break;
        }
        if (p.bands == 1 || groups == all || 2 * groups * p.group > TMAPI_FRAMES_RANGE) break;
    }
}

// The plan that takes least. side, group: 0, or what they shall be.
static inline int tmapi_frames_choose(tmap_pairs_frames_plan *p, tmap_u32 side, tmap_u32 group) {
    tmap_pairs_frames_plan best = *p;
    double least = -1;
    for (tmap_u32 s = TMAPI_FRAMES_ROWS; s <= 512; s += TMAPI_FRAMES_ROWS)
        for (tmap_u32 g = 8; g <= 32; g *= 2) {
            if ((side && s != side) || (group && g != group)) continue;
            if (s > TMAPI_FRAMES_ROWS && p->n <= s - TMAPI_FRAMES_ROWS) continue; // as before
            const double tile = tmapi_frames_cut(p, s, g);
            tmapi_frames_try(*p, tile, &least, &best);
        }
    *p = best;
    return least >= 0;
}

// The plan of a kernel over the pairs of n points in each of `frames` frames. n: up to 2^24.
// frames: up to 2^31. own: floats that a pair has of its own, 0 to TMAP_PAIRS_FRAMES_OWN_MAX.
// bytes: of an accumulator, a multiple of 4 up to TMAP_FOLD_BYTES_MAX. kernel: a __global__
// function of TMAP_PAIRS_FRAMES_THREADS threads, cast to const void *; its limit of shared memory is
// raised to what the device has. Made once, a plan serves any number of launches on the device that was the
// current one.
// Returns cudaErrorInvalidValue for a null pointer and for numbers outside these ranges,
// cudaErrorInvalidConfiguration for a kernel of which no block fits the device; else a CUDA error.
// *out is written only on success.
// Cost: some calls of the CUDA runtime, which do not wait for the device.
// Example: tmap_pairs_frames_plan_make(200, 4096, 1, 8, (const void *)look, &plan).
static inline cudaError_t tmap_pairs_frames_plan_make(tmap_u32 n, tmap_u64 frames, tmap_u32 own,
                                                      tmap_u32 bytes, const void *kernel,
                                                      tmap_pairs_frames_plan *out) {
    struct cudaFuncAttributes attributes;
    tmap_pairs_frames_plan p;
    int device, processors, room, room_of_all, blocks = 0;
    cudaError_t error;
    if (!out || !kernel || n > 1u << 24 || frames > 1ull << 31) return cudaErrorInvalidValue;
    if (own > TMAP_PAIRS_FRAMES_OWN_MAX || bytes < 4 || bytes > TMAP_FOLD_BYTES_MAX || bytes % 4)
        return cudaErrorInvalidValue;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    error = cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error) return error;
    error =
        cudaDeviceGetAttribute(&room_of_all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    if (error) return error;
    if ((error = cudaFuncGetAttributes(&attributes, kernel)) != cudaSuccess) return error;
    room -= (int)attributes.sharedSizeBytes;
    p.kind = TMAP_PAIRS_KIND_FRAMES, p.n = n, p.frames = frames, p.own = own, p.bytes = bytes, p.kernel = kernel;
    p.block = TMAP_PAIRS_FRAMES_THREADS;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)p.block, 0);
    if (error) return error;
    p.processors = (tmap_u32)processors, p.resident = (tmap_u32)blocks;
    p.room = room > 0 ? (tmap_u32)room : 0, p.room_of_all = (tmap_u32)room_of_all;
    if (blocks < 1 || !tmapi_frames_choose(&p, 0, 0)) return cudaErrorInvalidConfiguration;
    if ((error = tmapi_launch_shared(kernel, p.room)) != cudaSuccess) return error;
    *out = p;
    return cudaSuccess;
}

// Launches the plan's kernel, whose parameters are the plan and one struct of the user's, both by
// value. job: the address of that struct. The result is the launch's own error; one that an
// earlier call has left is neither reported nor cleared. Can be captured. Without a frame there is
// no launch. Returns cudaErrorInvalidValue for a null pointer, and for a plan that
// tmap_pairs_frames_plan_make has not made.
static inline cudaError_t tmap_pairs_frames_launch(const tmap_pairs_frames_plan *plan,
                                                   const void *job, cudaStream_t stream) {
    void *arguments[2];
    if (!plan || !plan->kernel || !job) return cudaErrorInvalidValue;
    if (plan->kind != TMAP_PAIRS_KIND_FRAMES) return cudaErrorInvalidValue;
    if (!plan->frames) return cudaSuccess;
    arguments[0] = (void *)plan, arguments[1] = (void *)job;
    return cudaLaunchKernel(plan->kernel, dim3(plan->grid), dim3(plan->block), arguments,
                            plan->shared, stream);
}

#endif
#endif
