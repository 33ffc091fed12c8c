// SPDX-License-Identifier: MIT
// ask.h: adaptive serial kernels (ASK): subdivision of a domain whose work is found at run time,
// one launch after another instead of recursion. A problem of one's own is three functions and two
// kernels of three lines; mandelbrot.h is one with borders that neighbours share.
//
// Level 0 has g parts along each axis, level l has g r^l (region.h). Every region of a level is
// asked whether it is uniform; then it is finished by a terminal work, or at the last level by a
// leaf work, or else its r^dims children are the regions of the next level.
//
//     static __device__ tmap_ask_range disc_query(const void *job, const tmap_ask_region *region,
//                                                 tmap_ask_team team) { ... }
//     ...
//     __global__ void __launch_bounds__(256) disc_ask(tmap_ask_run run, disc job) {
//         tmap_ask_query(&run, disc_query, disc_terminal, tmap_ask_every_element, disc_leaf, &job);
//     }
//     __global__ void __launch_bounds__(256) disc_end(tmap_ask_run run, disc job) {
//         tmap_ask_finish(&run, disc_terminal, tmap_ask_every_element, disc_leaf, &job);
//     }
//
//     tmap_ask_kernels kernels = {(const void *)disc_ask, (const void *)disc_end, 0, 0, 0};
//     tmap_ask_workspace_create(nx, ny, 0, params, 0, &workspace);
//     tmap_ask_plan_make(&workspace, &kernels, &plan);
//     tmap_ask_stream(&plan, &job, stream); // as often as one likes
//
// The functions are named where they are used, so that the compiler writes them in place; they get
// the address of the kernel's own copy of the job. samples/adaptive has the whole program.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5, form MBR: the elements of all regions of a level
// are shared out among all blocks. Differences, all of them for speed: a table holds the regions
// that subdivide, each of which stands for its r^dims children, so that it is r^dims times shorter
// than the paper's (equation 26); tables are allocated once; counts stay on the device; terminal
// and leaf work of all levels are left to one launch at the end.
#ifndef TMAP_ADAPTIVE_ASK_H
#define TMAP_ADAPTIVE_ASK_H

#include "ask_plan.h"

// ---- ask work -----------------------------------------------------------------------------------
//
// How the lanes of all warps come by elements of many regions in a run of ask.h, so
// that every warp has work to the end, however large or few regions are.

// What a lane that was given no element gets in the place of its number.
#define TMAP_ASK_NO_ELEMENT 0xffffffffu

#if TMAP_CUDA

// ---- work: elements handed out to lanes ---------------------------------------------------------
//
// The elements of many regions stand in one row, `per` of each region, and warps take chunks of it.
// A lane works out the region of its element for itself, and again when it comes to another one; so
// all lanes have an element, be the regions as small as they may.

// A warp's part of the work. The members up to scratch are for the problem's functions.
typedef struct tmap_ask_work {
    tmap_ask_region region; // of the element that tmap_ask_take has just given to this lane
    tmap_ask_extent extent;
    void *scratch; // this warp's: tmap_ask_kernels.scratch bytes of shared memory
    const tmapi_ask_common *common;
    tmap_u32 dims;
    const tmap_u64 *entries; // scalars of the regions; null: there is one region,
    tmap_u64 only;           // of this scalar
    tmapi_ask_divider per, wide, high;
    tmap_u64 *ticket;       // of chunks; null: every stride-th one
    tmap_u64 coming;        // lane 0: number of the chunk after this one, or
    int asked;              // its ticket
    tmap_u32 left;          // elements of the chunk not yet given
    tmap_u32 number, place; // of the lane's region; of its next element there
    tmap_u64 scalar;        // of that region, where `another`
    int another, some;      // it is not the region before; it is not empty
    tmap_u32 lane;
} tmap_ask_work;

// What all lanes of a work's warp call together, until there is nothing left to take.
typedef void (*tmap_ask_work_fn)(const void *job, tmap_ask_work *work);

// The parts of shared memory of the calling thread's warp: the engine's and the problem's.
TMAP_DEVICE tmapi_ask_common *tmapi_ask_of_warp(void) {
    return (tmapi_ask_common *)(tmapi_ask_shared() + TMAPI_ASK_BLOCK_BYTES +
                                threadIdx.x / 32 * TMAPI_ASK_WARP_BYTES);
}
TMAP_DEVICE void *tmapi_ask_scratch(const tmap_ask_run *run) {
    return tmapi_ask_shared() + tmapi_ask_scratch_first(blockDim.x) +
           threadIdx.x / 32 * run->scratch;
}

TMAP_DEVICE tmap_u64 tmapi_ask_work_scalar(const tmap_ask_work *w) {
    return w->entries ? w->entries[w->number] : w->only;
}

// The number of the next chunk or piece, for lane 0 of a warp. The lane's number is in the addend,
// 0 here, because an addend that is known to be the same in all lanes makes the compiler sum up
// their requests, and wait at once for the answer, to hand it out to them.
TMAP_DEVICE tmap_u64 tmapi_ask_ticket(tmap_u64 *counter) {
    tmap_u64 one = 1;
#if defined(__CUDA_ARCH__)
    tmap_u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    one += lane;
#endif
    return atomicAdd(counter, one);
}

// The elements of a chunk, a whole number of warps: one in `chunks` of `each` elements, or `most`.
TMAP_DEVICE tmap_u32 tmapi_ask_chunk(tmap_u64 each, tmap_u32 chunks, tmap_u32 most) {
    const tmap_u32 n = each < (tmap_u64)most * chunks ? (tmap_u32)each / chunks : most;
    return n < 64 ? 32 : n / 32 * 32;
}

// Goes on to the warp's next chunk, if there is one.
TMAP_DEVICE void tmapi_ask_work_advance(tmap_ask_work *w) {
    const tmapi_ask_common *common = w->common;
    const tmap_u64 chunk =
        __shfl_sync(0xffffffffu, w->coming, 0) + (w->asked ? (tmap_u64)common->stride : 0);
    const int last = chunk >= common->many;
    const tmap_u32 size = common->size[last];
    tmap_u64 start = chunk * size, left;
    if (last) start += common->many * (common->size[0] - size);
    if (start >= common->total) return;
    w->asked = w->ticket != 0;
    if (w->asked) {
        // Asked for now, needed when this chunk is done: nothing may be added to it here, which
        // would wait for it.
        if (w->lane == 0) w->coming = tmapi_ask_ticket(w->ticket);
    } else {
        w->coming = chunk + common->stride;
    }
    left = common->total - start;
    w->left = left < size ? (tmap_u32)left : size;
    start += w->lane < w->left ? w->lane : 0;
    if (start >> 32) {
        w->number = (tmap_u32)(start / w->per.by);
        w->place = (tmap_u32)(start - (tmap_u64)w->number * w->per.by);
    } else {
        w->number = tmapi_ask_divide(w->per, (tmap_u32)start, &w->place);
    }
    w->another = 1;
    w->scalar = tmapi_ask_work_scalar(w);
}

// Who does a work: warps, of which the caller is number `warp`. ticket: a counter at 0 for warps
// that ask for their chunks; null: each has every warps-th one.
typedef struct tmapi_ask_workers {
    tmap_u32 warp, warps;
    tmap_u64 *ticket;
} tmapi_ask_workers;

// All warps of the grid.
TMAP_DEVICE tmapi_ask_workers tmapi_ask_all_workers(tmap_u64 *ticket) {
    tmapi_ask_workers all;
    all.warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32; // blocks of ASK have one axis
    all.warps = gridDim.x * blockDim.x / 32;
    all.ticket = ticket;
    return all;
}

// Elements of `regions` regions of a level, `elements` says how many of each. entries: the regions'
// scalars, or null for one region, of the scalar `only`. parts: into how many parts regions are
// cut; 0, a constant, for leaves. Collective for a full warp.
TMAP_DEVICE void tmapi_ask_work_begin(tmap_ask_work *w, const tmap_ask_run *run, tmap_u32 level,
                                      const tmap_u64 *entries, tmap_u64 only, tmap_u32 regions,
                                      tmap_u32 parts, tmapi_ask_workers by,
                                      tmap_ask_elements_fn elements, const void *job) {
    const tmap_ask_domain *d = &run->workspace.domain;
    const tmapi_ask_grid grid = tmapi_ask_grid_make(d, level);
    tmapi_ask_common *common = tmapi_ask_of_warp();
    tmap_u32 per;
    w->lane = threadIdx.x & 31u;
    w->common = common;
    w->scratch = tmapi_ask_scratch(run);
    w->dims = d->dims;
    w->extent.sides = w->extent.child = tmapi_ask_grid_sides(&grid);
    w->extent.level = level;
    w->extent.parts = parts;
    w->extent.regions = regions;
    w->extent.warps = by.warps;
    w->entries = entries;
    w->only = only;
    w->ticket = by.ticket;
    w->asked = 0;
    w->left = 0;
    w->some = 0;
    __syncwarp(); // what stands there may be in use
    if (parts) {
        const tmapi_ask_grid child = tmapi_ask_grid_make(d, level + 1);
        w->extent.child = tmapi_ask_grid_sides(&child);
        if (w->lane == 0) common->child = child;
    }
    per = elements(job, &w->extent);
    w->per = tmapi_ask_divider_make(per);
    w->wide = tmapi_ask_divider_make(w->extent.sides.x);
    w->high = tmapi_ask_divider_make(w->extent.sides.y);
    if (w->lane == 0) {
        const tmap_u64 total = (tmap_u64)regions * per, each = total / by.warps;
        common->grid = grid;
        common->total = total;
        common->stride = by.warps;
        common->size[0] = tmapi_ask_chunk(each, run->tuning.chunks, run->tuning.chunk);
        common->size[1] = tmapi_ask_chunk(each, run->tuning.chunks_last, run->tuning.chunk);
        if (common->size[1] > common->size[0]) common->size[1] = common->size[0];
        common->many = (total - total / 8) / common->size[0];
    }
    __syncwarp();
    w->coming = by.warp; // the first one is known, tickets are for those after
    tmapi_ask_work_advance(w);
}

// Gives each lane of the warp its next element, of whatever region: *i is the element's number in
// work->region, or TMAP_ASK_NO_ELEMENT, as for some lanes where a chunk of work comes to its end.
// All lanes of a full warp call it together. It returns 0 when there is nothing left. Every region
// is handed out as if it had the most sides: what lies outside of it is for the caller to skip.
// Example: while (tmap_ask_take(work, &i)) if (tmap_ask_element(work, i, &at)) ... at.x, at.y ... ;
TMAP_DEVICE int tmap_ask_take(tmap_ask_work *w, tmap_u32 *i) {
    *i = TMAP_ASK_NO_ELEMENT;
    if (w->left == 0) return 0;
    if (w->another) w->some = tmapi_ask_region(w->dims, &w->common->grid, w->scalar, &w->region);
    if (w->lane < w->left && w->some) *i = w->place;
    w->left -= w->left < 32 ? w->left : 32;
    if (w->left == 0) { // what is read here is needed only next time
        tmapi_ask_work_advance(w);
    } else {
        w->place += 32;
        w->another = w->place >= w->per.by;
        if (w->another) {
            w->number += tmapi_ask_divide(w->per, w->place, &w->place);
            if (w->lane < w->left) w->scalar = tmapi_ask_work_scalar(w);
        }
    }
    return 1;
}

// The place of element i of the work's region where elements are those of tmap_ask_every_element,
// row after row of the most sides. It returns 0, and leaves *at undefined, for TMAP_ASK_NO_ELEMENT
// and for what lies outside of the region.
TMAP_DEVICE int tmap_ask_element(const tmap_ask_work *w, tmap_u32 i, tmap_xyz *at) {
    const tmap_ask_region *t = &w->region;
    tmap_u32 x, y, z;
    if (i == TMAP_ASK_NO_ELEMENT) return 0;
    z = tmapi_ask_divide(w->high, tmapi_ask_divide(w->wide, i, &x), &y);
    at->x = t->x0 + x, at->y = t->y0 + y, at->z = t->z0 + z;
    return at->x < t->x1 && at->y < t->y1 && at->z < t->z1;
}

// Where child number s of the work's region begins along an axis, s = 0..parts; s = parts: where
// the last one ends. For shared borders.
TMAP_DEVICE tmap_u32 tmap_ask_child_x(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->common->child.x, w->region.px * w->extent.parts + s);
}
TMAP_DEVICE tmap_u32 tmap_ask_child_y(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->common->child.y, w->region.py * w->extent.parts + s);
}
TMAP_DEVICE tmap_u32 tmap_ask_child_z(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->common->child.z, w->region.pz * w->extent.parts + s);
}

#endif // TMAP_CUDA

// ---- ask query ----------------------------------------------------------------------------------
//
// One level of a run of ask.h: all its regions are asked, and listed or finished.

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

// ---- ask finish ---------------------------------------------------------------------------------
//
// The last launch of a run of ask.h: uniform regions and leaves of all levels.

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

// ---- ask share ----------------------------------------------------------------------------------
//
// Borders of a run of ask.h, for problems whose queries read what others have written:
// what the children of a region share is computed once, when the region is subdivided.

// Calls `share` for the regions that the run's level subdivides, before their children are asked:
// it writes what queries read of the children and what is not there yet. At level TMAP_ASK_WHOLE,
// which comes before level 0, that is all that queries read of level 0: work->region is the whole
// domain, its children are the g parts of level 0 along each axis. Elsewhere the region's own
// border is there already. tmap_ask_child_x, _y and _z tell where children begin.
// All threads of the grid call it, in blocks of one axis with full warps. share_elements and share:
// names of functions, which the compiler then writes in place.
TMAP_DEVICE void tmap_ask_share(const tmap_ask_run *run, tmap_ask_elements_fn share_elements,
                                tmap_ask_work_fn share, const void *job) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_u32 level = tmapi_ask_level_of(run);
    const int whole = level == TMAP_ASK_WHOLE;
    const tmap_olt table = tmapi_ask_table(run, whole ? 0 : level);
    const tmap_u32 count = whole ? 1 : (tmap_u32)tmap_olt_stored(table);
    tmap_u64 *ticket = whole ? &s->control->whole_ticket : &s->control->level[level].ticket;
    tmap_ask_work work;
    if (!count || (!whole && level + 1 >= s->domain.levels)) return;
    tmapi_ask_work_begin(&work, run, level, whole ? 0 : table.entries, 0, count,
                         whole ? s->domain.g : s->domain.r, tmapi_ask_all_workers(ticket),
                         share_elements, job);
    share(job, &work);
}

#endif // TMAP_CUDA

#endif
