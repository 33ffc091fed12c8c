// SPDX-License-Identifier: MIT
// ask_finish.h: the last launch of a run of ask.h: uniform regions and leaves of all levels.
#ifndef TMAP_ADAPTIVE_ASK_FINISH_H
#define TMAP_ADAPTIVE_ASK_FINISH_H

#include "ask_query.h"

#if TMAP_CUDA

// The leaf work of all regions in the list.
TMAP_DEVICE void tmapi_ask_leaves(const tmap_ask_run *run, tmap_ask_elements_fn leaf_elements,
                                  tmap_ask_work_fn leaf, const void *job) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_u32 last = s->domain.levels - 1;
    tmap_u64 count = tmapi_ask_load(&s->control->level[last].leaves);
    tmap_ask_work work;
    if (count > s->list_capacity) count = s->list_capacity;
    if (!count) return;
    tmapi_ask_work_begin(&work, run, last, s->leaf, 0, (tmap_u32)count, 0,
                         tmapi_ask_all_workers(&s->control->leaf_ticket), leaf_elements, job);
    leaf(job, &work);
}

// The terminal work of all regions in the list, in pieces: parts of a large region, or several
// small ones. Lane l knows how many pieces level l has, and those of all levels up to it.
TMAP_DEVICE void tmapi_ask_fills(const tmap_ask_run *run, tmap_ask_terminal_fn terminal,
                                 const void *job) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_ask_domain *d = &s->domain;
    const tmap_u32 lane = threadIdx.x & 31u;
    tmap_u64 first = 0, listed = 0, pieces, upto, all, coming = 0;
    tmap_u32 elements = 1, parts, several;
    tmap_u32 known = TMAP_ASK_WHOLE; // the level of `grid`: none yet
    tmapi_ask_grid grid;
    if (lane < d->levels) {
        tmapi_ask_grid mine = tmapi_ask_grid_make(d, lane);
        tmap_ask_sides sides = tmapi_ask_grid_sides(&mine);
        first = tmapi_ask_fill_base(run, lane);
        listed = first + tmapi_ask_load(&s->control->level[lane].filled);
        if (listed > s->list_capacity) listed = s->list_capacity;
        listed = first < listed ? listed - first : 0;
        elements = sides.x * sides.y * sides.z; // below 2^32
    }
    parts = elements / run->tuning.fill_elements; // of a region
    if (parts == 0) parts = 1;
    if (parts > 1u << 26) parts = 1u << 26;         // of 32 threads each
    several = run->tuning.fill_elements / elements; // regions
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
        tmap_ask_team team;
        if (piece >= all) return;
        if (lane == 0) coming = tmapi_ask_ticket(&s->control->fill_ticket);
        level = (tmap_u32)__ffs((int)__ballot_sync(0xffffffffu, piece < upto)) - 1;
        piece -= __shfl_sync(0xffffffffu, upto - pieces, (int)level);
        parts_here = __shfl_sync(0xffffffffu, parts, (int)level);
        count = __shfl_sync(0xffffffffu, several, (int)level);
        // A region in parts is for full warps, whatever its size: eight lanes make no team there.
        size = parts_here == 1 &&
                       __shfl_sync(0xffffffffu, elements, (int)level) <= run->tuning.fill_eight
                   ? 8
                   : 32;
        place = __shfl_sync(0xffffffffu, first, (int)level);
        end = place + __shfl_sync(0xffffffffu, listed, (int)level);
        if (parts_here > 1)
            place += piece / parts_here, part = (tmap_u32)(piece % parts_here);
        else
            place += piece * count;
        if (count > end - place) count = (tmap_u32)(end - place);
        if (level != known) grid = tmapi_ask_grid_make(d, level), known = level;
        if (lane < count) scalar = s->fill[place + lane], value = s->value[place + lane];
        team.rank = part * size + lane % size, team.size = parts_here * size;
        team.lanes = size < 32 ? 0xffu << (lane & ~7u) : 0xffffffffu;
        team.scratch = tmapi_ask_scratch(run);
        for (tmap_u32 i = 0; i < count; i += 32 / size) {
            const tmap_u32 which = i + lane / size, from = which < count ? which : i;
            const tmap_u64 one = __shfl_sync(0xffffffffu, scalar, (int)from);
            const tmap_u32 one_value = __shfl_sync(0xffffffffu, value, (int)from);
            tmap_ask_region region;
            if (tmapi_ask_region(d->dims, &grid, one, &region) && which < count)
                terminal(job, &region, one_value, team);
            __syncwarp();
        }
    }
}

// Finishes what the levels have listed: uniform regions by `terminal`, leaves by `leaf`, both at
// once on a multiprocessor. All threads of the grid call it, in blocks of one axis with full warps.
// The parameters are those of tmap_ask_query.
TMAP_DEVICE void tmap_ask_finish(const tmap_ask_run *run, tmap_ask_terminal_fn terminal,
                                 tmap_ask_elements_fn leaf_elements, tmap_ask_work_fn leaf,
                                 const void *job) {
    const tmap_u32 warp = tmapi_ask_all_workers(0).warp;
    if (warp % run->tuning.fill_warps == 0) tmapi_ask_fills(run, terminal, job);
    tmapi_ask_leaves(run, leaf_elements, leaf, job);
    tmapi_ask_fills(run, terminal, job);
}

#endif // TMAP_CUDA
#endif
