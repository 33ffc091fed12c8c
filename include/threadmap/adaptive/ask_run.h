// SPDX-License-Identifier: MIT
// ask_run.h: what the kernels of a run of ask.h get by value, the types of the functions that a
// problem gives to the engine, and the engine's use of shared memory.
#ifndef TMAP_ADAPTIVE_ASK_RUN_H
#define TMAP_ADAPTIVE_ASK_RUN_H

#include "ask_region.h"
#include "ask_workspace.h"
#include "olt.h"

// Numbers that decide about speed alone: the result is the same with every value. Those of the
// first two groups are 1 or more, but for fill_eight.
typedef struct tmap_ask_tuning {
    // Elements of leaves and of shared borders are handed out to warps in chunks. chunk: the most
    // elements of one. chunks: how many of them a warp should get, and chunks_last: how many from
    // the last eighth of all elements on, which is what warps may be late by.
    tmap_u32 chunk, chunks, chunks_last;
    // A uniform region is finished in pieces of fill_elements elements; several smaller regions are
    // one piece, and those of fill_eight elements or fewer are finished by eight lanes each. One
    // warp in fill_warps begins the last launch with uniform regions, which take memory, the others
    // begin with leaves, which take arithmetic, so that both are busy.
    tmap_u32 fill_elements, fill_eight, fill_warps;
    // Sums of a region's sides: above warp_sides a block asks the region, up to four_sides four
    // lanes, up to eight_sides eight, and a warp in between.
    tmap_u32 warp_sides, four_sides, eight_sides;
} tmap_ask_tuning;

// What was the best for the Mandelbrot set on an H200. A plan makes fill_elements less for a small
// domain.
TMAP_FN tmap_ask_tuning tmap_ask_tuning_make(void) {
    tmap_ask_tuning t;
    t.chunk = 256, t.chunks = 12, t.chunks_last = 24;
    t.fill_elements = 16384, t.fill_eight = 512, t.fill_warps = 8;
    t.warp_sides = 256, t.four_sides = 19, t.eight_sides = 69;
    return t;
}

// The level of a launch that finds its number in the workspace: for drivers on the device.
#define TMAP_ASK_LEVEL_NOW 0xfffffffeu

// The first parameter of a problem's kernels; the second is the problem's own, its job.
typedef struct tmap_ask_run {
    tmap_ask_workspace workspace;
    tmap_ask_tuning tuning;
    tmap_u32 scratch; // bytes of shared memory for each warp, a multiple of 128
    tmap_u32 level;
} tmap_ask_run;

// What a work is about: `regions` regions of a level that have `sides` elements at most and, where
// they are cut, `parts` parts along each axis with `child` elements at most; `warps` warps share
// them.
typedef struct tmap_ask_extent {
    tmap_ask_sides sides, child;
    tmap_u32 level, parts, regions, warps;
} tmap_ask_extent;

// How many elements each region has at most; below 2^31.
typedef tmap_u32 (*tmap_ask_elements_fn)(const void *job, const tmap_ask_extent *extent);

// The elements of an extent's region one by one: for problems without a better idea.
TMAP_FN tmap_u32 tmap_ask_every_element(const void *job, const tmap_ask_extent *extent) {
    (void)job;
    return extent->sides.x * extent->sides.y * extent->sides.z;
}

#if TMAP_CUDA

// What the calling thread finds in its part of a region. All threads of the team call it together,
// the same number of times; collectives name team.lanes.
typedef tmap_ask_range (*tmap_ask_query_fn)(const void *job, const tmap_ask_region *region,
                                            tmap_ask_team team);
// The calling thread's part in finishing a uniform region. value = least = most.
typedef void (*tmap_ask_terminal_fn)(const void *job, const tmap_ask_region *region, tmap_u32 value,
                                     tmap_ask_team team);

// ---- shared memory ------------------------------------------------------------------------------
//
// Kernels have no shared memory of their own but what the launch asks for. It begins with 64 words
// of the block; then comes, for each warp, what its lanes know of their work, and at the end the
// problem's scratch for each warp.

#define TMAPI_ASK_BLOCK_BYTES 256

TMAP_DEVICE unsigned char *tmapi_ask_shared(void) {
    extern __shared__ int4 tmapi_ask_shared_memory[];
    return (unsigned char *)tmapi_ask_shared_memory;
}

// ---- levels -------------------------------------------------------------------------------------

TMAP_DEVICE tmap_u64 tmapi_ask_load(const tmap_u64 *count) {
    return *(volatile const tmap_u64 *)count;
}

TMAP_DEVICE tmap_u32 tmapi_ask_level_of(const tmap_ask_run *run) {
    return run->level == TMAP_ASK_LEVEL_NOW ? run->workspace.control->level_now : run->level;
}

// The table that a level fills.
TMAP_DEVICE tmap_olt tmapi_ask_table(const tmap_ask_run *run, tmap_u32 level) {
    tmap_olt_pair p;
    p.even = run->workspace.even, p.odd = run->workspace.odd;
    p.counts = &run->workspace.control->level[0].subdivided;
    p.stride = sizeof(tmapi_ask_level) / sizeof(tmap_u64);
    p.capacity = run->workspace.table_capacity;
    return tmap_olt_written(p, level);
}

// The regions of a level that a launch may find, empty ones among them.
TMAP_DEVICE tmap_u32 tmapi_ask_regions(const tmap_ask_run *run, tmap_u32 level) {
    const tmap_ask_domain *d = &run->workspace.domain;
    if (level == 0) return tmapi_ask_power(d->dims, d->g);
    return (tmap_u32)tmap_olt_stored(tmapi_ask_table(run, level - 1)) *
           tmapi_ask_power(d->dims, d->r);
}

// The scalar of region i of a level: a region of level 0, or a child of a region in the table.
TMAP_DEVICE tmap_u64 tmapi_ask_scalar(const tmap_ask_run *run, tmap_u32 level, tmap_u32 i) {
    const tmap_ask_domain *d = &run->workspace.domain;
    const tmap_u32 children = tmapi_ask_power(d->dims, d->r), parent = i / children;
    if (level == 0) return tmapi_ask_first(d->dims, d->g, i);
    return tmapi_ask_child(d->dims, d->r, tmapi_ask_table(run, level - 1).entries[parent],
                           i - parent * children);
}

#endif // TMAP_CUDA
#endif
