// SPDX-License-Identifier: MIT
// ask_stamp.h: stamps out adaptive subdivision (ask.h) for a problem: define a name, a parameter
// type and a few device functions, include this header, and use the drivers that it defines. It may
// be included again with other names; without TMAP_ASK_NAME it defines nothing.
//
//     #define TMAP_ASK_NAME   ball         // begins the names of all functions here
//     #define TMAP_ASK_PARAMS ball_params  // a type that is passed by value to kernels
//     #define TMAP_ASK_DIMS   3            // 2 or 3
//     #define TMAP_ASK_SHARES 0            // 1: the problem has the functions of borders below
//     #include <threadmap/adaptive/ask_stamp.h>
//
// The functions, all TMAP_DEVICE, p being a const TMAP_ASK_PARAMS *:
//
//     tmap_ask_range ball_query(p, const tmap_ask_region *region, tmap_u32 rank, tmap_u32 size)
//         what thread `rank` of a team of `size` finds in its part of the region. The region is
//         uniform if least == most over the team, which is four or eight lanes of a warp side by
//         side, a warp, or several. Collectives name the lanes of the team: others may be
//         elsewhere.
//     void ball_terminal(p, const tmap_ask_region *region, tmap_u32 value, tmap_u32 rank,
//                        tmap_u32 size)
//         thread rank's part in finishing a uniform region; value = least = most.
//     tmap_u32 ball_leaf_elements(p, const tmap_ask_sides *sides, tmap_u32 regions, tmap_u32 warps)
//         how many elements the leaf work has in a region with these sides, below 2^32. `regions`
//         such regions are shared out among `warps` warps: a problem whose elements are several
//         pixels each may make them smaller where there are few.
//     void ball_leaf(p, tmap_ask_work *work)
//         computes elements, which it takes from `work`; all lanes of a warp call it together:
//             tmap_u32 i;
//             while (tmap_ask_take(work, &i))
//                 if (i != TMAP_ASK_NO_ELEMENT) ... element i of work->region, if it has one ...
//
// and where queries read what others have written, with TMAP_ASK_SHARES 1:
//
//     tmap_u32 ball_border_elements(p, const tmap_ask_sides *sides)
//     void ball_border(p, tmap_ask_work *work)
//         writes what a query reads of a region of level 0.
//     tmap_u32 ball_share_elements(p, const tmap_ask_sides *sides, const tmap_ask_sides *child,
//                                  tmap_u32 r, tmap_u32 regions, tmap_u32 warps)
//     void ball_share(p, tmap_ask_work *work)
//         writes what queries read of the r^dims children of a region and what is not there yet:
//         the region's own border is. tmap_ask_child_x, _y, _z tell where children begin.
//
// What comes of it, all returning the first CUDA error, and cudaErrorInvalidValue for a null
// pointer, an unknown form, or a workspace for another number of axes:
//
//     ball_ask_host(p, form, workspace, stream)    waits for the count of every level
//     ball_ask_stream(p, form, workspace, stream)  enqueues everything; can be captured
//     ball_ask_graph_make(p, form, workspace, &exec) a graph of it, for cudaGraphLaunch; CUDA 12.4
//     ball_ask_graph(p, form, workspace, stream)   makes, launches and destroys one; waits
//     ball_ask_cooperative(p, form, workspace, stream)
//         cudaErrorNotSupported where the device has no cooperative launch
//     ball_ask(p, form, driver, workspace, stream) one of them by number
//
// No region is ever lost: whatever finds no place in a table or list is finished at once by the
// threads that found it, a region that should have been subdivided by the leaf work.
#ifndef TMAP_ADAPTIVE_ASK_STAMP_H
#define TMAP_ADAPTIVE_ASK_STAMP_H

#include "ask.h"

#define TMAPI_ASK_PASTE2(a, b) a##_##b
#define TMAPI_ASK_PASTE(a, b)  TMAPI_ASK_PASTE2(a, b)
#define TMAPI_ASK(name)        TMAPI_ASK_PASTE(TMAP_ASK_NAME, name)

// What becomes of a region.
#define TMAPI_ASK_NONE      0
#define TMAPI_ASK_EMPTY     1
#define TMAPI_ASK_FILL      2
#define TMAPI_ASK_LEAF      3
#define TMAPI_ASK_SUBDIVIDE 4

// The level of a launch that reads it from the workspace.
#define TMAPI_ASK_LEVEL_NOW 0xffffffffu

// Elements of a uniform region that a warp finishes in one piece.
#ifndef TMAPI_ASK_FILL_ELEMENTS
#define TMAPI_ASK_FILL_ELEMENTS 4096
#endif
// Smaller regions than this are finished by eight lanes, four at a time.
#ifndef TMAPI_ASK_FILL_EIGHT
#define TMAPI_ASK_FILL_EIGHT 512
#endif
// One warp in so many begins the last launch with uniform regions, which take memory, the others
// with leaves, which take arithmetic, so that both are busy.
#ifndef TMAPI_ASK_FILL_WARPS
#define TMAPI_ASK_FILL_WARPS 8
#endif
// Regions with more elements than this along their axes are asked by a block, others by a warp.
#ifndef TMAPI_ASK_WARP_SIDES
#define TMAPI_ASK_WARP_SIDES 256
#endif
// Regions with no more than this are asked by four lanes, by eight lanes.
#ifndef TMAPI_ASK_FOUR_SIDES
#define TMAPI_ASK_FOUR_SIDES 20
#endif
#ifndef TMAPI_ASK_EIGHT_SIDES
#define TMAPI_ASK_EIGHT_SIDES 70
#endif

#endif

#if defined(TMAP_ASK_NAME)

#ifndef TMAP_ASK_SHARES
#define TMAP_ASK_SHARES 0
#endif

#if TMAP_CUDA

// ---- pieces -------------------------------------------------------------------------------------

// What becomes of a region with this range.
TMAP_DEVICE tmap_u32 TMAPI_ASK(ask_verdict)(const tmap_ask_workspace *s, tmap_u32 level,
                                            tmap_ask_range range) {
    if (range.least >= range.most) return TMAPI_ASK_FILL; // all that nobody looked at is one, too
    return level + 1 < s->domain.levels ? TMAPI_ASK_SUBDIVIDE : TMAPI_ASK_LEAF;
}

// The leaf work of one region, whose scalar stands at *entry, by the warps of a team.
TMAP_DEVICE void TMAPI_ASK(ask_leaf_now)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s,
                                         const tmapi_ask_grid *grid, const tmap_u64 *entry,
                                         tmap_u32 warp, tmap_u32 warps) {
    tmap_ask_work work;
    tmap_ask_sides sides = tmapi_ask_grid_sides(grid);
    tmapi_ask_work_begin(&work, &s->domain, TMAP_ASK_DIMS, grid, entry, 1,
                         TMAPI_ASK(leaf_elements)(p, &sides, 1, warps), 0, warp, warps);
    TMAPI_ASK(leaf)(p, &work);
}

// The same in a call of its own, with arguments passed by value: where it is rare, its registers
// should not be those of the kernel.
static __device__ __noinline__ void TMAPI_ASK(ask_leaf_refused)(TMAP_ASK_PARAMS p,
                                                                tmap_ask_workspace s,
                                                                tmap_u32 level, tmap_u64 scalar) {
    tmapi_ask_grid grid = tmapi_ask_grid_make(&s.domain, TMAP_ASK_DIMS, level);
    TMAPI_ASK(ask_leaf_now)(&p, &s, &grid, &scalar, 0, 1);
}

// The leaf work of all regions in the list, by all warps of the grid.
TMAP_DEVICE void TMAPI_ASK(ask_leaves)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s) {
    const tmap_u32 last = s->domain.levels - 1;
    tmapi_ask_grid grid = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, last);
    tmap_ask_sides sides = tmapi_ask_grid_sides(&grid);
    tmap_u64 count = tmapi_ask_load(&s->control->level[last].leaves);
    const tmap_u32 warps = gridDim.x * blockDim.x / 32;
    tmap_ask_work work;
    if (count > s->list_capacity) count = s->list_capacity;
    if (!count) return;
    tmapi_ask_work_begin(&work, &s->domain, TMAP_ASK_DIMS, &grid, s->leaf, (tmap_u32)count,
                         TMAPI_ASK(leaf_elements)(p, &sides, (tmap_u32)count, warps),
                         &s->control->leaf_ticket, (blockIdx.x * blockDim.x + threadIdx.x) / 32,
                         warps);
    TMAPI_ASK(leaf)(p, &work);
}

// The terminal work of all regions in the list, in pieces: parts of a large region, or several
// small ones. Lane l knows how many pieces level l has, and those of all levels up to it.
TMAP_DEVICE void TMAPI_ASK(ask_fills)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s) {
    const tmap_u32 lane = threadIdx.x & 31u;
    tmap_u64 first = 0, listed = 0, elements = 1, parts, several, pieces, upto, all, coming = 0;
    tmap_u32 known = TMAPI_ASK_LEVEL_NOW; // the level of `grid`
    tmapi_ask_grid grid = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, 0);
    if (lane < s->domain.levels) {
        tmapi_ask_grid mine = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, lane);
        tmap_ask_sides sides = tmapi_ask_grid_sides(&mine);
        first = tmapi_ask_fill_base(s, lane);
        listed = first + tmapi_ask_load(&s->control->level[lane].filled);
        if (listed > s->list_capacity) listed = s->list_capacity;
        listed = first < listed ? listed - first : 0;
        elements = (tmap_u64)sides.x * sides.y * sides.z;
    }
    parts = elements / TMAPI_ASK_FILL_ELEMENTS; // of a region
    if (parts == 0) parts = 1;
    several = TMAPI_ASK_FILL_ELEMENTS / elements; // regions
    if (several == 0) several = 1;
    if (several > 32) several = 32;
    pieces = parts > 1 ? listed * parts : (listed + several - 1) / several;
    upto = pieces;
    for (tmap_u32 step = 1; step < 32; step *= 2) {
        tmap_u64 before = __shfl_up_sync(0xffffffffu, upto, step);
        if (lane >= step) upto += before;
    }
    all = __shfl_sync(0xffffffffu, upto, 31);
    if (lane == 0) coming = tmapi_ask_ticket(&s->control->fill_ticket);
    for (;;) {
        tmap_u64 piece = __shfl_sync(0xffffffffu, coming, 0), scalar = 0, place, end;
        tmap_u32 level, value = 0, part = 0, parts_here, count, size;
        if (piece >= all) return;
        if (lane == 0) coming = tmapi_ask_ticket(&s->control->fill_ticket);
        level = (tmap_u32)__ffs((int)__ballot_sync(0xffffffffu, piece < upto)) - 1;
        piece -= __shfl_sync(0xffffffffu, upto - pieces, (int)level);
        parts_here = (tmap_u32)__shfl_sync(0xffffffffu, parts, (int)level);
        count = (tmap_u32)__shfl_sync(0xffffffffu, several, (int)level);
        size = __shfl_sync(0xffffffffu, elements, (int)level) <= TMAPI_ASK_FILL_EIGHT ? 8 : 32;
        place = __shfl_sync(0xffffffffu, first, (int)level);
        end = place + __shfl_sync(0xffffffffu, listed, (int)level);
        if (parts_here > 1)
            place += piece / parts_here, part = (tmap_u32)(piece % parts_here);
        else
            place += piece * count;
        if (count > end - place) count = (tmap_u32)(end - place);
        if (level != known)
            grid = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, level), known = level;
        if (lane < count) scalar = s->fill[place + lane], value = s->value[place + lane];
        for (tmap_u32 i = 0; i < count; i += 32 / size) {
            const tmap_u32 which = i + lane / size, from = which < count ? which : i;
            const tmap_u64 one = __shfl_sync(0xffffffffu, scalar, (int)from);
            const tmap_u32 one_value = __shfl_sync(0xffffffffu, value, (int)from);
            tmap_ask_region region;
            if (tmapi_ask_region(TMAP_ASK_DIMS, &grid, one, &region) && which < count)
                TMAPI_ASK(terminal)
            (p, &region, one_value, part * size + lane % size, parts_here * size);
            __syncwarp();
        }
    }
}

#if TMAP_ASK_SHARES
// Borders of the regions of level 0, by all warps of the grid.
TMAP_DEVICE void TMAPI_ASK(ask_borders)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s) {
    tmapi_ask_grid grid = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, 0);
    tmap_ask_sides sides = tmapi_ask_grid_sides(&grid);
    tmap_ask_work work;
    tmapi_ask_work_begin(&work, &s->domain, TMAP_ASK_DIMS, &grid, 0,
                         tmapi_ask_regions(s, TMAP_ASK_DIMS, 0),
                         TMAPI_ASK(border_elements)(p, &sides), &s->control->border_ticket,
                         (blockIdx.x * blockDim.x + threadIdx.x) / 32, gridDim.x * blockDim.x / 32);
    TMAPI_ASK(border)(p, &work);
}

TMAP_DEVICE tmap_u32 TMAPI_ASK(ask_share_per)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s,
                                              const tmapi_ask_grid *grid, tmap_u32 regions,
                                              tmap_u32 warps) {
    tmapi_ask_grid child = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, grid->level + 1);
    tmap_ask_sides sides = tmapi_ask_grid_sides(grid), child_sides = tmapi_ask_grid_sides(&child);
    return TMAPI_ASK(share_elements)(p, &sides, &child_sides, s->domain.r, regions, warps);
}

// What the regions that a level subdivides share with their children, by all warps of the grid.
TMAP_DEVICE void TMAPI_ASK(ask_shares)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s,
                                       tmap_u32 level) {
    tmap_olt olt = tmapi_ask_olt(s, level);
    tmap_u32 count = (tmap_u32)tmap_olt_stored(olt);
    const tmap_u32 warps = gridDim.x * blockDim.x / 32;
    tmapi_ask_grid grid;
    tmap_ask_work work;
    if (!count || level + 1 >= s->domain.levels) return;
    grid = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, level);
    tmapi_ask_work_begin(&work, &s->domain, TMAP_ASK_DIMS, &grid, olt.entries, count,
                         TMAPI_ASK(ask_share_per)(p, s, &grid, count, warps),
                         &s->control->level[level].ticket,
                         (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps);
    TMAPI_ASK(share)(p, &work);
}
#endif

// The scalar of item i of a level: a region of level 0, or a child of a region in the table.
TMAP_DEVICE tmap_u64 TMAPI_ASK(ask_scalar)(const tmap_ask_workspace *s, tmap_u32 level,
                                           tmap_u32 i) {
    const tmap_ask_domain *d = &s->domain;
    const tmap_u32 children = TMAP_ASK_DIMS == 2 ? d->r * d->r : d->r * d->r * d->r;
    tmap_u32 parent = i / children;
    if (level == 0) return tmapi_ask_first(TMAP_ASK_DIMS, d->g, i);
    return tmapi_ask_child(TMAP_ASK_DIMS, d->r, tmapi_ask_olt(s, level - 1).entries[parent],
                           i - parent * children);
}

// MBR: lists up to 32 regions of a warp, one for each lane, and finishes at once those for which
// there is no place.
TMAP_DEVICE void TMAPI_ASK(ask_list)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s,
                                     const tmapi_ask_grid *grid, tmap_u64 scalar, tmap_u32 verdict,
                                     tmap_u32 value) {
    const tmap_u32 lane = threadIdx.x & 31u;
    const tmap_warp warp = tmap_warp_full();
    tmapi_ask_level *counts = &s->control->level[grid->level];
    const tmap_u32 before = (1u << lane) - 1;
    const tmap_u32 empty = __ballot_sync(0xffffffffu, verdict == TMAPI_ASK_EMPTY);
    const tmap_u32 fill = __ballot_sync(0xffffffffu, verdict == TMAPI_ASK_FILL);
    const tmap_u32 leaf = __ballot_sync(0xffffffffu, verdict == TMAPI_ASK_LEAF);
    tmap_u64 slot = 0, fills, leaves;
    tmap_u32 now;
    int failed = 0;
    // Three counters at once, each by a lane.
    if (lane == 0 && fill) slot = atomicAdd(&counts->filled, (tmap_u64)__popc(fill));
    if (lane == 1 && leaf) slot = atomicAdd(&counts->leaves, (tmap_u64)__popc(leaf));
    if (lane == 2 && empty) slot = atomicAdd(&counts->empty, (tmap_u64)__popc(empty));
    fills = __shfl_sync(0xffffffffu, slot, 0) + tmapi_ask_fill_base(s, grid->level);
    leaves = __shfl_sync(0xffffffffu, slot, 1);
    if (verdict == TMAPI_ASK_FILL) {
        slot = fills + (tmap_u64)__popc(fill & before);
        failed = slot >= s->list_capacity;
        if (!failed) s->fill[slot] = scalar, s->value[slot] = value;
    } else if (verdict == TMAPI_ASK_LEAF) {
        slot = leaves + (tmap_u64)__popc(leaf & before);
        failed = slot >= s->list_capacity;
        if (!failed) s->leaf[slot] = scalar;
    }
    if (__any_sync(0xffffffffu, verdict == TMAPI_ASK_SUBDIVIDE)) {
        int mine = verdict == TMAPI_ASK_SUBDIVIDE;
        int refused =
            mine & !tmap_olt_insert_warp(warp, tmapi_ask_olt(s, grid->level), mine, scalar);
        if (__any_sync(0xffffffffu, refused))
            (void)tmap_olt_slot_warp(warp, &counts->refused, refused);
        failed |= refused;
    }
    now = __ballot_sync(0xffffffffu, failed);
    for (; now; now &= now - 1) {
        int from = __ffs((int)now) - 1;
        tmap_u64 one = __shfl_sync(0xffffffffu, scalar, from);
        tmap_u32 one_value = __shfl_sync(0xffffffffu, value, from);
        if (__shfl_sync(0xffffffffu, verdict, from) == TMAPI_ASK_FILL) {
            tmap_ask_region region;
            (void)tmapi_ask_region(TMAP_ASK_DIMS, grid, one, &region);
            TMAPI_ASK(terminal)(p, &region, one_value, lane, 32);
        } else {
            TMAPI_ASK(ask_leaf_refused)(*p, *s, grid->level, one);
        }
    }
}

// MBR: asks all regions of a level. Large ones, which are few, by a block each; others by a warp,
// which takes as many as it must before it lists them.
TMAP_DEVICE void TMAPI_ASK(ask_queries)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s,
                                        tmap_u32 level) {
    __shared__ tmap_u32 scratch[64];
    const tmap_u32 lane = threadIdx.x & 31u, items = tmapi_ask_regions(s, TMAP_ASK_DIMS, level);
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, level);
    const tmap_ask_sides sides = tmapi_ask_grid_sides(&grid);
    if (sides.x + sides.y + (TMAP_ASK_DIMS == 3 ? sides.z : 0) > TMAPI_ASK_WARP_SIDES) {
        for (tmap_u64 i = blockIdx.x; i < items; i += gridDim.x) {
            tmap_u64 scalar = TMAPI_ASK(ask_scalar)(s, level, (tmap_u32)i);
            tmap_ask_range range = tmap_ask_range_none();
            tmap_ask_region region;
            int some = tmapi_ask_region(TMAP_ASK_DIMS, &grid, scalar, &region);
            if (some) range = TMAPI_ASK(query)(p, &region, threadIdx.x, blockDim.x);
            range = tmapi_ask_range_block(range, scratch);
            if (threadIdx.x < 32) {
                tmap_u32 verdict = some ? TMAPI_ASK(ask_verdict)(s, level, range) : TMAPI_ASK_EMPTY;
                TMAPI_ASK(ask_list)
                (p, s, &grid, scalar, lane ? TMAPI_ASK_NONE : verdict, range.least);
            }
            __syncthreads(); // scratch
        }
    } else {
        const tmap_u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
        const tmap_u32 warps = gridDim.x * blockDim.x / 32;
        // Small regions, which are many, by eight lanes each: four wait for memory at once.
        const tmap_u32 along = sides.x + sides.y + sides.z;
        const tmap_u32 size = along <= TMAPI_ASK_FOUR_SIDES    ? 4
                              : along <= TMAPI_ASK_EIGHT_SIDES ? 8
                                                               : 32;
        const tmap_u32 teams = 32 / size;
        tmap_u32 batch = (items + warps - 1) / warps;
        if (batch > 32) batch = 32;
        batch = (batch + teams - 1) / teams * teams;
        for (tmap_u64 first = (tmap_u64)warp * batch; first < items;
             first += (tmap_u64)warps * batch) {
            tmap_u32 count = items - first < batch ? (tmap_u32)(items - first) : batch;
            tmap_u32 verdict = TMAPI_ASK_NONE, value = 0;
            tmap_u64 scalar =
                lane < count ? TMAPI_ASK(ask_scalar)(s, level, (tmap_u32)first + lane) : 0;
            for (tmap_u32 i = 0; i < count; i += teams) {
                tmap_u32 which = i + lane / size < count ? i + lane / size : i;
                tmap_u64 one = __shfl_sync(0xffffffffu, scalar, (int)which);
                tmap_ask_range range = tmap_ask_range_none();
                tmap_ask_region region;
                tmap_u32 verdict_one, from = (lane - i) * size & 31u;
                int some = tmapi_ask_region(TMAP_ASK_DIMS, &grid, one, &region);
                if (some) range = TMAPI_ASK(query)(p, &region, lane % size, size);
                range = size < 32 ? tmapi_ask_range_team(range, size) : tmapi_ask_range_warp(range);
                verdict_one = some ? TMAPI_ASK(ask_verdict)(s, level, range) : TMAPI_ASK_EMPTY;
                if (!some) range.least = 0;
                verdict_one = __shfl_sync(0xffffffffu, verdict_one, (int)from);
                range.least = __shfl_sync(0xffffffffu, range.least, (int)from);
                if (lane >= i && lane < i + teams && lane < count)
                    verdict = verdict_one, value = range.least;
            }
            TMAPI_ASK(ask_list)(p, s, &grid, scalar, verdict, value);
        }
    }
}

// SBR: a block asks a region of a level and finishes it, or shares its border with its children and
// puts it into the table.
TMAP_DEVICE void TMAPI_ASK(ask_blocks)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s,
                                       tmap_u32 level) {
    __shared__ tmap_u32 scratch[64];
    __shared__ int stored;
    const tmap_u32 items = tmapi_ask_regions(s, TMAP_ASK_DIMS, level);
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&s->domain, TMAP_ASK_DIMS, level);
    tmapi_ask_level *counts = &s->control->level[level];
    for (tmap_u64 i = blockIdx.x; i < items; i += gridDim.x) {
        tmap_u64 scalar = TMAPI_ASK(ask_scalar)(s, level, (tmap_u32)i);
        tmap_ask_region region;
        tmap_ask_range range;
        tmap_u32 verdict;
        if (!tmapi_ask_region(TMAP_ASK_DIMS, &grid, scalar, &region)) { // the same in all threads
            if (threadIdx.x == 0) atomicAdd(&counts->empty, 1ull);
            continue;
        }
        range = TMAPI_ASK(query)(p, &region, threadIdx.x, blockDim.x);
        range = tmapi_ask_range_block(range, scratch);
        verdict = TMAPI_ASK(ask_verdict)(s, level, range);
        if (threadIdx.x == 0) {
            stored = 0;
            if (verdict == TMAPI_ASK_FILL) atomicAdd(&counts->filled, 1ull);
            if (verdict == TMAPI_ASK_LEAF) atomicAdd(&counts->leaves, 1ull);
            if (verdict == TMAPI_ASK_SUBDIVIDE) {
                stored = tmap_olt_insert(tmapi_ask_olt(s, level), scalar);
                if (!stored) atomicAdd(&counts->refused, 1ull);
            }
        }
        __syncthreads();
        if (verdict == TMAPI_ASK_FILL) {
            TMAPI_ASK(terminal)(p, &region, range.least, threadIdx.x, blockDim.x);
        } else if (stored) {
#if TMAP_ASK_SHARES
            tmap_ask_work work;
            tmapi_ask_work_begin(&work, &s->domain, TMAP_ASK_DIMS, &grid, &scalar, 1,
                                 TMAPI_ASK(ask_share_per)(p, s, &grid, 1, warps), 0, warp, warps);
            TMAPI_ASK(share)(p, &work);
#endif
        } else {
            TMAPI_ASK(ask_leaf_now)(p, s, &grid, &scalar, warp, warps);
        }
        __syncthreads(); // scratch and stored
    }
}

// MBR: what was left for the end.
TMAP_DEVICE void TMAPI_ASK(ask_rest)(const TMAP_ASK_PARAMS *p, const tmap_ask_workspace *s) {
    const tmap_u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (warp % TMAPI_ASK_FILL_WARPS == 0) TMAPI_ASK(ask_fills)(p, s);
    TMAPI_ASK(ask_leaves)(p, s);
    TMAPI_ASK(ask_fills)(p, s);
}

#endif // TMAP_CUDA

#include "ask_stamp_host.h"

#undef TMAP_ASK_NAME
#undef TMAP_ASK_PARAMS
#undef TMAP_ASK_DIMS
#undef TMAP_ASK_SHARES

#endif // TMAP_ASK_NAME
