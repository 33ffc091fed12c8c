// SPDX-License-Identifier: MIT
// ask_query.h: one level of a run of ask.h: all its regions are asked, and listed or finished.
#ifndef TMAP_ADAPTIVE_ASK_QUERY_H
#define TMAP_ADAPTIVE_ASK_QUERY_H

#include "ask_work.h"

#if TMAP_CUDA

// What becomes of a region.
#define TMAPI_ASK_NONE      0
#define TMAPI_ASK_EMPTY     1
#define TMAPI_ASK_FILL      2
#define TMAPI_ASK_LEAF      3
#define TMAPI_ASK_SUBDIVIDE 4

TMAP_DEVICE tmap_u32 tmapi_ask_verdict(const tmap_ask_run *run, tmap_u32 level,
                                       tmap_ask_range range) {
    if (range.least >= range.most) return TMAPI_ASK_FILL; // all that nobody looked at is one, too
    return level + 1 < run->workspace.domain.levels ? TMAPI_ASK_SUBDIVIDE : TMAPI_ASK_LEAF;
}

// ---- ranges of teams ----------------------------------------------------------------------------

// The least and the largest over each `size` lanes of a full warp, a power of two.
TMAP_DEVICE tmap_ask_range tmapi_ask_range_team(tmap_ask_range a, tmap_u32 size) {
    for (tmap_u32 d = 1; d < size; d *= 2) {
        tmap_u32 least = __shfl_xor_sync(0xffffffffu, a.least, (int)d);
        tmap_u32 most = __shfl_xor_sync(0xffffffffu, a.most, (int)d);
        if (least < a.least) a.least = least;
        if (most > a.most) a.most = most;
    }
    return a;
}

// The same over a full warp.
TMAP_DEVICE tmap_ask_range tmapi_ask_range_warp(tmap_ask_range a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return tmapi_ask_range_team(a, 32);
#else
    a.least = __reduce_min_sync(0xffffffffu, a.least);
    a.most = __reduce_max_sync(0xffffffffu, a.most);
    return a;
#endif
}

// The same over a block of full warps, in all threads. The block's words of shared memory are free
// again after the next __syncthreads().
TMAP_DEVICE tmap_ask_range tmapi_ask_range_block(tmap_ask_range a) {
    tmap_u32 *scratch = (tmap_u32 *)tmapi_ask_shared();
    tmap_u32 lane = threadIdx.x & 31u, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    a = tmapi_ask_range_warp(a);
    if (lane == 0) scratch[warp] = a.least, scratch[32 + warp] = a.most;
    __syncthreads();
    a = tmap_ask_range_none();
    if (lane < warps) a.least = scratch[lane], a.most = scratch[32 + lane];
    return tmapi_ask_range_warp(a);
}

// ---- lists --------------------------------------------------------------------------------------

// Where in the list of fills a level's begin: after all that the levels before it asked for.
TMAP_DEVICE tmap_u64 tmapi_ask_fill_base(const tmap_ask_run *run, tmap_u32 level) {
    tmap_u64 base = 0;
    for (tmap_u32 l = 0; l < level; ++l)
        base += tmapi_ask_load(&run->workspace.control->level[l].filled);
    return base;
}

// Lists up to 32 regions of a warp, one for each lane. Returns 1 in the lanes for whose region
// there is no place.
TMAP_DEVICE int tmapi_ask_list(const tmap_ask_run *run, tmap_u32 level, tmap_u64 scalar,
                               tmap_u32 verdict, tmap_u32 value) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_u32 lane = threadIdx.x & 31u, before = (1u << lane) - 1;
    const tmap_warp warp = tmap_warp_full();
    tmapi_ask_level *counts = &s->control->level[level];
    const tmap_u32 empty = __ballot_sync(0xffffffffu, verdict == TMAPI_ASK_EMPTY);
    const tmap_u32 fill = __ballot_sync(0xffffffffu, verdict == TMAPI_ASK_FILL);
    const tmap_u32 leaf = __ballot_sync(0xffffffffu, verdict == TMAPI_ASK_LEAF);
    tmap_u64 slot = 0, fills, leaves;
    int failed = 0;
    // Three counters at once, each by a lane.
    if (lane == 0 && fill) slot = atomicAdd(&counts->filled, (tmap_u64)__popc(fill));
    if (lane == 1 && leaf) slot = atomicAdd(&counts->leaves, (tmap_u64)__popc(leaf));
    if (lane == 2 && empty) slot = atomicAdd(&counts->empty, (tmap_u64)__popc(empty));
    fills = __shfl_sync(0xffffffffu, slot, 0) + tmapi_ask_fill_base(run, level);
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
        int refused = mine & !tmap_olt_insert_warp(warp, tmapi_ask_table(run, level), mine, scalar);
        if (__any_sync(0xffffffffu, refused))
            (void)tmap_olt_slot_warp(warp, &counts->refused, refused);
        failed |= refused;
    }
    return failed;
}

// The leaf work of one region by the warps of a team.
TMAP_DEVICE void tmapi_ask_leaf_now(const tmap_ask_run *run, tmap_u32 level, tmap_u64 scalar,
                                    tmap_u32 warp, tmap_u32 warps,
                                    tmap_ask_elements_fn leaf_elements, tmap_ask_work_fn leaf,
                                    const void *job) {
    const tmapi_ask_workers team = {warp, warps, 0};
    tmap_ask_work work;
    tmapi_ask_work_begin(&work, run, level, 0, scalar, 1, 0, team, leaf_elements, job);
    leaf(job, &work);
}

// ---- a level ------------------------------------------------------------------------------------

// Who asks the regions of a level: `askers` blocks or warps, of which the calling thread's is
// number `asker`, by `teams` teams each, and `batch` regions before they are listed.
typedef struct tmapi_ask_askers {
    int by_block;
    tmap_u32 asker, askers, teams, batch;
    tmap_ask_team team;
} tmapi_ask_askers;

// Large regions, which are few, are asked by a block each; others by a warp, or by four or eight
// lanes, as four then wait for memory at once.
TMAP_DEVICE tmapi_ask_askers tmapi_ask_askers_make(const tmap_ask_run *run,
                                                   const tmapi_ask_grid *grid, tmap_u32 items) {
    const tmapi_ask_workers all = tmapi_ask_all_workers(0);
    const tmap_ask_sides sides = tmapi_ask_grid_sides(grid);
    const tmap_u32 along = sides.x + sides.y + (run->workspace.domain.dims == 3 ? sides.z : 0);
    const tmap_u32 lane = threadIdx.x & 31u, few = along <= run->tuning.four_sides    ? 4
                                                   : along <= run->tuning.eight_sides ? 8
                                                                                      : 32;
    tmapi_ask_askers a;
    a.by_block = along > run->tuning.warp_sides;
    a.asker = a.by_block ? blockIdx.x : all.warp;
    a.askers = a.by_block ? gridDim.x : all.warps;
    a.team.size = a.by_block ? blockDim.x : few;
    a.team.rank = a.by_block ? threadIdx.x : lane & (few - 1);
    a.team.lanes =
        a.team.size < 32 ? ((1u << few) - 1) << (lane & (0u - a.team.size)) : 0xffffffffu;
    a.team.scratch = tmapi_ask_scratch(run);
    a.teams = a.team.size < 32 ? 32 / a.team.size : 1;
    a.batch = a.by_block ? 1 : items / a.askers + (items % a.askers != 0); // items: up to 2^32 - 1
    if (a.batch > 32) a.batch = 32;
    a.batch = (a.batch + a.teams - 1) / a.teams * a.teams;
    return a;
}

// Asks all regions of the run's level. Regions that are not uniform go to the table, whose children
// the next level asks, or at the last level to the list of leaves; uniform ones go to the list of
// fills. What finds no place there is finished at once: no region is ever lost.
// All threads of the grid call it, in blocks of one axis with full warps. query, terminal,
// leaf_elements and leaf: names of functions, which the compiler then writes in place; leaf, which
// is for what finds no place, may be a shorter and slower one than that of tmap_ask_finish.
TMAP_DEVICE void tmap_ask_query(const tmap_ask_run *run, tmap_ask_query_fn query,
                                tmap_ask_terminal_fn terminal, tmap_ask_elements_fn leaf_elements,
                                tmap_ask_work_fn leaf, const void *job) {
    const tmap_u32 dims = run->workspace.domain.dims, lane = threadIdx.x & 31u;
    const tmap_u32 level = tmapi_ask_level_of(run), items = tmapi_ask_regions(run, level);
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&run->workspace.domain, level);
    const tmapi_ask_askers a = tmapi_ask_askers_make(run, &grid, items);
    for (tmap_u64 first = (tmap_u64)a.asker * a.batch; first < items;
         first += (tmap_u64)a.askers * a.batch) {
        const tmap_u32 count = items - first < a.batch ? (tmap_u32)(items - first) : a.batch;
        tmap_u32 verdict = TMAPI_ASK_NONE, value = 0, failed;
        const tmap_u64 scalar =
            lane < count ? tmapi_ask_scalar(run, level, (tmap_u32)first + lane) : 0;
        for (tmap_u32 i = 0; i < count;
             i += a.teams) { // lane i keeps what is found out of region i
            const tmap_u32 mine = a.teams > 1 ? i + lane / a.team.size : i;
            const tmap_u32 from = (lane - i) * a.team.size & 31u;
            const tmap_u64 one = __shfl_sync(0xffffffffu, scalar, (int)(mine < count ? mine : i));
            tmap_ask_range range = tmap_ask_range_none();
            tmap_ask_region region;
            tmap_u32 verdict_one;
            const int some = tmapi_ask_region(dims, &grid, one, &region);
            if (some) range = query(job, &region, a.team);
            range = a.by_block         ? tmapi_ask_range_block(range)
                    : a.team.size < 32 ? tmapi_ask_range_team(range, a.team.size)
                                       : tmapi_ask_range_warp(range);
            verdict_one = some ? tmapi_ask_verdict(run, level, range) : TMAPI_ASK_EMPTY;
            if (!some) range.least = 0;
            verdict_one = __shfl_sync(0xffffffffu, verdict_one, (int)from);
            range.least = __shfl_sync(0xffffffffu, range.least, (int)from);
            if (lane >= i && lane < i + a.teams && lane < count)
                verdict = verdict_one, value = range.least;
        }
        if (a.by_block) {
            __syncthreads();                 // the block's words
            if (threadIdx.x >= 32) continue; // one warp lists the region
        }
        failed = (tmap_u32)tmapi_ask_list(run, level, scalar, verdict, value);
        for (failed = __ballot_sync(0xffffffffu, failed); failed; failed &= failed - 1) {
            const int from = __ffs((int)failed) - 1;
            const tmap_u64 one = __shfl_sync(0xffffffffu, scalar, from);
            const tmap_u32 one_value = __shfl_sync(0xffffffffu, value, from);
            if (__shfl_sync(0xffffffffu, verdict, from) == TMAPI_ASK_FILL) {
                const tmap_ask_team warp = {lane, 32, 0xffffffffu, a.team.scratch};
                tmap_ask_region region;
                (void)tmapi_ask_region(dims, &grid, one, &region);
                terminal(job, &region, one_value, warp);
            } else {
                tmapi_ask_leaf_now(run, level, one, 0, 1, leaf_elements, leaf, job);
            }
        }
    }
}

#endif // TMAP_CUDA
#endif
