// SPDX-License-Identifier: MIT
// ask.h: adaptive serial kernels (ASK): subdivides a domain whose work is only known at run time,
// with one launch for each level instead of recursion. This header is for kernels; ask_plan.h
// launches them.
//
// Level 0 has g parts along each axis, level l has g r^l (region.h). Your functions, with the
// paper's letters:
//
//     query     Q  returns the least and the largest value in a region
//     terminal  T  finishes a region whose values are equal: it is uniform
//     leaf      A  computes the elements of other regions at the last level (its work is L)
//
// A table (OLT, olt.h) receives the other regions, the paper's work S; their children are the next
// level. samples/adaptive has complete programs.
//
//     __global__ void __launch_bounds__(256) disc_ask(tmap_ask_run run, disc job) {
//         tmap_ask_query(&run, disc_query, disc_terminal, tmap_ask_every_element, disc_leaf, &job);
//     }
//     __global__ void __launch_bounds__(256) disc_end(tmap_ask_run run, disc job) {
//         tmap_ask_finish(&run, disc_terminal, tmap_ask_every_element, disc_leaf, &job);
//     }
//
// Name the functions in these calls, so that they are inlined.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5, form MBR: all blocks share the elements of all
// regions of a level. Differences: a table has the regions that subdivide, not their children;
// counts remain on the device; one launch at the end does the terminal and leaf work of all levels.
#ifndef TMAP_ADAPTIVE_ASK_H
#define TMAP_ADAPTIVE_ASK_H

#include "../launch.h"
#include "olt.h"

// ---- the domain ---------------------------------------------------------------------------------

// The most levels that a subdivision can have.
#define TMAP_ASK_LEVELS_MAX 32

// a, limited to 1 .. most.
TMAP_FN tmap_u32 tmapi_ask_within(tmap_u64 a, tmap_u32 most) {
    return a < 1 ? 1 : a < most ? (tmap_u32)a : most;
}

// The paper's (g, r, B): level 0 has g parts along each axis, each part is cut into r parts, and b
// sets the number of levels (tmap_region_levels): regions of the last one have sides from r b to
// r^2 b. With (0, 0, 0) the library chooses them.
typedef struct tmap_ask_params {
    tmap_u32 g, r, b;
} tmap_ask_params;

// A domain of nx x ny or nx x ny x nz elements and its subdivision, made by tmap_ask_domain_make.
typedef struct tmap_ask_domain {
    tmap_u32 nx, ny, nz; // nz = 1 for two axes
    tmap_u32 dims;       // 2 or 3
    tmap_u32 g, r, b;    // b = 0: the library chose them
    tmap_u32 levels;     // number of levels, tau
} tmap_ask_domain;

// The level of the complete domain, whose children are the regions of level 0.
#define TMAP_ASK_WHOLE 0xffffffffu

// A region: the elements [x0, x1) x [y0, y1) x [z0, z1), at least one, and its part numbers in its
// level. With two axes z0 = 0, z1 = 1.
typedef struct tmap_ask_region {
    tmap_u32 x0, x1, y0, y1, z0, z1;
    tmap_u32 px, py, pz;
    tmap_u32 level; // 0 to levels - 1, or TMAP_ASK_WHOLE
    tmap_u32 fine;  // parts of the last level along each of its axes
} tmap_ask_region;

// Number of elements of a region, below 2^31.
TMAP_FN tmap_u32 tmap_ask_region_elements(const tmap_ask_region *t) {
    return (t->x1 - t->x0) * (t->y1 - t->y0) * (t->z1 - t->z0);
}

// Position of element i, row after row; after the last element it continues along the last axis,
// outside the region. Cost: two divisions.
// Example: the region [4, 6) x [8, 10): 1, 2 -> (5,8) (4,9).
TMAP_FN tmap_xyz tmap_ask_region_at(const tmap_ask_region *t, tmap_u32 i) {
    const tmap_u32 wide = t->x1 > t->x0 ? t->x1 - t->x0 : 1, row = i / wide;
    const tmap_u32 high = t->y1 > t->y0 ? t->y1 - t->y0 : 1;
    const tmap_xyz at = {t->x0 + i - row * wide, t->y0 + row % high, t->z0 + row / high};
    return at;
}

// The threads that process a region together. A query's team is four or eight lanes, a warp, or a
// block. A terminal's team is eight lanes, a warp, or several warps, which may run at different
// times and in different blocks. So your functions synchronize and reduce within `lanes` only: the
// calling warp's part of the team, contiguous and at a multiple of its length (4, 8 or 32).
typedef struct tmap_ask_team {
    tmap_u32 rank, size; // of the calling thread in the team; number of threads
    tmap_u32 lanes;      // a mask of the team's lanes in the calling warp, for __any_sync, ...
    void *scratch;       // shared memory of this warp: tmap_ask_kernels.scratch bytes
} tmap_ask_team;

// The least and the largest value in a thread's part of a region.
typedef struct tmap_ask_range {
    tmap_u32 least, most;
} tmap_ask_range;

// The range of a thread that has read no value. A region without any value is uniform.
TMAP_FN tmap_ask_range tmap_ask_range_none(void) {
    tmap_ask_range a = {0xffffffffu, 0};
    return a;
}

// The range of the values of `a` and of one more.
TMAP_FN tmap_ask_range tmap_ask_range_add(tmap_ask_range a, tmap_u32 value) {
    if (value < a.least) a.least = value;
    if (value > a.most) a.most = value;
    return a;
}

// ---- parameters of the kernels of a run ---------------------------------------------------------

// A level's counters, in device memory.
typedef struct tmapi_ask_level {
    tmap_u64 subdivided; // insertions into the table that the next level reads, refused ones too
    tmap_u64 filled, leaves, empty, refused;
    tmap_u64 ticket; // chunks of shared elements taken so far
} tmapi_ask_level;

// The counters of a run; all must be 0 before it.
typedef struct tmapi_ask_control {
    tmapi_ask_level level[TMAP_ASK_LEVELS_MAX];
    tmap_u64 whole_ticket, leaf_ticket, fill_ticket; // chunks taken so far
} tmapi_ask_control;

// The memory of a run, besides the problem's. Only one run at a time may use a workspace.
typedef struct tmap_ask_workspace {
    tmap_ask_domain domain;
    tmapi_ask_control *control;
    tmap_u64 *even, *odd;  // the tables that levels of even and of odd number fill
    tmap_u64 *leaf, *fill; // regions for the last launch
    tmap_u32 *value;       // values of the regions in `fill`
    tmap_u64 table_capacity, list_capacity;
    tmap_workspace memory; // the memory that contains all of these
    tmap_workspace rest;   // its unused end, at a multiple of 256, for your data
} tmap_ask_workspace;

// Numbers that only affect speed. All except fill_eight and the sides are 1 or more.
typedef struct tmap_ask_tuning {
    // Leaves and shared borders are computed in chunks. chunk: the most elements of one. chunks:
    // number of chunks for each warp, which sets their size. chunks_last: the same for the smaller
    // chunks of the last eighth of all elements.
    tmap_u32 chunk, chunks, chunks_last;
    // Uniform regions are finished in pieces of fill_elements elements, by eight lanes if they have
    // up to fill_eight. One warp in fill_warps begins the last launch with these regions, the
    // others with leaves.
    tmap_u32 fill_elements, fill_eight, fill_warps;
    // Half of a region's border, x + y or x y + y z + z x elements, decides who queries it: above
    // warp_sides a block, up to four_sides four lanes, up to eight_sides eight, else a warp.
    tmap_u32 warp_sides, four_sides, eight_sides;
} tmap_ask_tuning;

// The first parameter of a problem's kernels. The second is your own struct, the job.
typedef struct tmap_ask_run {
    tmap_ask_workspace workspace;
    tmap_ask_tuning tuning;
    tmap_u32 scratch; // bytes of shared memory for each warp, a multiple of 128
    tmap_u32 level;
    tmap_u32 part, parts; // of the bands of level 0: every parts-th one, from number `part` on
} tmap_ask_run;

// Number of bands of a run: rows of g regions of level 0, or layers of them with three axes.
TMAP_FN tmap_u32 tmapi_ask_bands(const tmap_ask_run *run) {
    const tmap_u32 g = run->workspace.domain.g;
    return g > run->part ? (g - run->part - 1) / run->parts + 1 : 0;
}

// The shape of a work: `regions` regions of a level with at most `sides` elements along the axes;
// if they are cut, `parts` parts along each axis with `child` elements; `warps` warps share them.
typedef struct tmap_ask_extent {
    tmap_xyz sides, child;
    tmap_u32 level, parts, regions, warps;
} tmap_ask_extent;

// Returns the most elements of a region of this extent, below 2^31, that a work computes.
typedef tmap_u32 (*tmap_ask_elements_fn)(const void *job, const tmap_ask_extent *extent);

// All elements of a region, one by one: tmap_ask_element returns their positions.
TMAP_FN tmap_u32 tmap_ask_every_element(const void *job, const tmap_ask_extent *extent) {
    (void)job;
    return extent->sides.x * extent->sides.y * extent->sides.z;
}

// ---- shared memory: 64 words; for each warp a tmapi_ask_common; for each warp its scratch -------

// An axis of n elements at a level, with its divisions computed.
typedef struct tmapi_ask_axis {
    tmap_u32 step, rest;
    tmap_u32 low, high; // 2^43 rest / parts, rounded up
} tmapi_ask_axis;

// The axes of a level.
typedef struct tmapi_ask_grid {
    tmapi_ask_axis x, y, z;
    tmap_u32 level;
    tmap_u32 fine; // parts of the last level in one of this
} tmapi_ask_grid;

// What is the same for all lanes of a warp in a work.
typedef struct tmapi_ask_common {
    tmapi_ask_grid grid, child;
    tmap_u64 total;
    tmap_u64 many;    // number of chunks of size[0]; the others have size[1]
    tmap_u32 size[2]; // the second one is not larger
    tmap_u32 stride;  // number of warps
} tmapi_ask_common;

#define TMAPI_ASK_BLOCK_BYTES 256
#define TMAPI_ASK_WARP_BYTES  ((tmap_u32)(sizeof(tmapi_ask_common) + 31) / 32 * 32)

// Beginning of the scratch of the warps, at a multiple of 1024.
TMAP_FN tmap_u32 tmapi_ask_scratch_first(tmap_u32 threads) {
    return (TMAPI_ASK_BLOCK_BYTES + threads * (TMAPI_ASK_WARP_BYTES / 32) + 1023) / 1024 * 1024;
}

#if TMAP_CUDA

TMAP_DEVICE unsigned char *tmapi_ask_shared(void) {
    extern __shared__ int4 tmapi_ask_shared_memory[];
    return (unsigned char *)tmapi_ask_shared_memory;
}

TMAP_DEVICE void *tmapi_ask_scratch(const tmap_ask_run *run) {
    return tmapi_ask_shared() + tmapi_ask_scratch_first(blockDim.x) +
           threadIdx.x / 32 * run->scratch;
}

// ---- division by a number that is known before the loop -----------------------------------------

typedef struct tmapi_ask_divider {
    tmap_u32 by, reciprocal;
} tmapi_ask_divider;

// by: 0 counts as 1.
TMAP_DEVICE tmapi_ask_divider tmapi_ask_divider_make(tmap_u32 by) {
    const tmapi_ask_divider d = {by ? by : 1, 0xffffffffu / (by ? by : 1)};
    return d;
}

// floor(i / by), and the remainder in *rest. The product is at most 1 too small: 2^32 - reciprocal
// * by <= by.
TMAP_DEVICE tmap_u32 tmapi_ask_divide(tmapi_ask_divider d, tmap_u32 i, tmap_u32 *rest) {
    tmap_u32 q = __umulhi(i, d.reciprocal), left = i - q * d.by;
    if (left >= d.by) ++q, left -= d.by;
    *rest = left;
    return q;
}

// ---- boundaries ---------------------------------------------------------------------------------

TMAP_DEVICE tmapi_ask_axis tmapi_ask_axis_make(tmap_u32 n, tmap_u32 parts) {
    tmapi_ask_axis a;
    tmap_u64 ratio;
    a.step = n / parts;
    a.rest = n - a.step * parts;
    ratio = a.rest ? (((tmap_u64)a.rest << 43) - 1) / parts + 1 : 0;
    a.low = (tmap_u32)ratio, a.high = (tmap_u32)(ratio >> 32);
    return a;
}

// floor(n i / parts), i <= parts <= 2^21. Exact: the ratio's error contributes less than 2^-22, and
// rest i / parts is at least 2^-21 below the next integer.
TMAP_DEVICE tmap_u32 tmapi_ask_edge(tmapi_ask_axis a, tmap_u32 i) {
    return a.step * i + ((__umulhi(a.low, i) + a.high * i) >> 11);
}

TMAP_DEVICE tmapi_ask_grid tmapi_ask_grid_make(const tmap_ask_domain *d, tmap_u32 level) {
    tmapi_ask_grid grid;
    tmap_u32 parts = 1, fine = 1;
    for (tmap_u32 l = 0; l < d->levels; ++l) {
        const tmap_u32 more = l ? d->r : d->g;
        if (l <= level && level != TMAP_ASK_WHOLE)
            parts *= more;
        else
            fine *= more;
    }
    grid.x = tmapi_ask_axis_make(d->nx, parts);
    grid.y = tmapi_ask_axis_make(d->ny, parts);
    grid.z = tmapi_ask_axis_make(d->dims == 3 ? d->nz : 1, d->dims == 3 ? parts : 1);
    grid.level = level;
    grid.fine = fine;
    return grid;
}

TMAP_DEVICE tmap_xyz tmapi_ask_grid_sides(const tmapi_ask_grid *grid) {
    const tmap_xyz s = {grid->x.step + (grid->x.rest != 0), grid->y.step + (grid->y.rest != 0),
                        grid->z.step + (grid->z.rest != 0)};
    return s;
}

// ---- scalars ------------------------------------------------------------------------------------

// A region's scalar: its canonical number in a level of 2^32 parts, or 2^21 with three axes.
TMAP_DEVICE tmap_u64 tmapi_ask_pack(tmap_u32 dims, tmap_u32 x, tmap_u32 y, tmap_u32 z) {
    return dims == 2 ? (tmap_u64)y << 32 | x : (tmap_u64)z << 42 | (tmap_u64)y << 21 | x;
}

TMAP_DEVICE void tmapi_ask_unpack(tmap_u32 dims, tmap_u64 scalar, tmap_u32 *x, tmap_u32 *y,
                                  tmap_u32 *z) {
    *x = (tmap_u32)scalar & (dims == 2 ? 0xffffffffu : 0x1fffffu);
    *y = dims == 2 ? (tmap_u32)(scalar >> 32) : (tmap_u32)(scalar >> 21) & 0x1fffffu;
    *z = dims == 2 ? 0 : (tmap_u32)(scalar >> 42);
}

TMAP_DEVICE tmap_u32 tmapi_ask_power(tmap_u32 dims, tmap_u32 n) {
    return dims == 2 ? n * n : n * n * n;
}

// Child c of a region that has r parts along each axis.
TMAP_DEVICE tmap_u64 tmapi_ask_child(tmap_u32 dims, tmap_u32 r, tmap_u64 parent, tmap_u32 c) {
    tmap_u32 x, y, z, row = c / r;
    tmapi_ask_unpack(dims, parent, &x, &y, &z);
    return dims == 2 ? tmapi_ask_pack(2, x * r + c - row * r, y * r + row, 0)
                     : tmapi_ask_pack(3, x * r + c - row * r, y * r + row % r, z * r + row / r);
}

// The region of a scalar; returns 0 if it is empty.
TMAP_DEVICE int tmapi_ask_region(tmap_u32 dims, const tmapi_ask_grid *grid, tmap_u64 scalar,
                                 tmap_ask_region *out) {
    tmapi_ask_unpack(dims, scalar, &out->px, &out->py, &out->pz);
    out->x0 = tmapi_ask_edge(grid->x, out->px), out->x1 = tmapi_ask_edge(grid->x, out->px + 1);
    out->y0 = tmapi_ask_edge(grid->y, out->py), out->y1 = tmapi_ask_edge(grid->y, out->py + 1);
    out->z0 = 0, out->z1 = 1;
    if (dims == 3)
        out->z0 = tmapi_ask_edge(grid->z, out->pz), out->z1 = tmapi_ask_edge(grid->z, out->pz + 1);
    out->level = grid->level;
    out->fine = grid->fine;
    return out->x0 < out->x1 && out->y0 < out->y1 && out->z0 < out->z1;
}

// ---- levels -------------------------------------------------------------------------------------

TMAP_DEVICE tmap_u64 tmapi_ask_load(const tmap_u64 *count) {
    return *(volatile const tmap_u64 *)count;
}

// The table that a level fills and the next one reads; two tables alternate.
TMAP_DEVICE tmap_olt tmapi_ask_table(const tmap_ask_run *run, tmap_u32 level) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_olt t = {level & 1 ? s->odd : s->even, &s->control->level[level].subdivided,
                        s->table_capacity};
    return t;
}

// Number of regions of a level, including empty ones.
TMAP_DEVICE tmap_u32 tmapi_ask_regions(const tmap_ask_run *run, tmap_u32 level) {
    const tmap_ask_domain *d = &run->workspace.domain;
    if (level == 0) return tmapi_ask_bands(run) * (d->dims == 2 ? d->g : d->g * d->g);
    return (tmap_u32)tmap_olt_stored(tmapi_ask_table(run, level - 1)) *
           tmapi_ask_power(d->dims, d->r);
}

// The scalar of region i of a level: a region of level 0, or a child of a region in the table.
TMAP_DEVICE tmap_u64 tmapi_ask_scalar(const tmap_ask_run *run, tmap_u32 level, tmap_u32 i) {
    const tmap_ask_domain *d = &run->workspace.domain;
    const tmap_u32 children = tmapi_ask_power(d->dims, d->r), parent = i / children;
    if (level == 0) {
        const tmap_u32 across = d->dims == 2 ? d->g : d->g * d->g, band = i / across;
        return tmapi_ask_child(d->dims, d->g, 0,
                               i + (band * (run->parts - 1) + run->part) * across);
    }
    return tmapi_ask_child(d->dims, d->r, tmapi_ask_table(run, level - 1).entries[parent],
                           i - parent * children);
}

// ---- work: distributing elements to lanes -------------------------------------------------------
//
// The elements of many regions form one sequence, `per` of each; warps take chunks of it.

// The element number that a lane without an element receives.
#define TMAP_ASK_NO_ELEMENT 0xffffffffu

// A warp's part of the work. The members before `common` are for your functions.
typedef struct tmap_ask_work {
    tmap_ask_region region; // of the element that tmap_ask_take has given to this lane
    tmap_ask_extent extent;
    void *scratch; // shared memory of this warp: tmap_ask_kernels.scratch bytes
    const tmapi_ask_common *common;
    tmap_u32 dims;
    const tmap_u64 *entries; // scalars of the regions; null: a single region
    tmap_u64 only;           // with this scalar
    tmapi_ask_divider per, wide, high;
    tmap_u64 *ticket;       // counter of chunks; null: each warp takes every stride-th one
    tmap_u64 coming;        // lane 0: number of the next chunk, or
    int asked;              // its ticket, if `asked`
    tmap_u32 left;          // elements of the chunk not yet taken
    tmap_u32 number, place; // of the lane's region; its next element there
    tmap_u64 scalar;        // of that region, if `another`
    int another, some;      // the region changed; the region is not empty
    tmap_u32 lane;
} tmap_ask_work;

// Returns the least and the largest value in the thread's part of a region: elements rank, rank +
// size, ... or any other division. The engine joins the results of a team; those of a block first
// within each warp. All threads of a team call a query or a terminal together; all lanes of a warp
// call a work together. None of the three may contain a block barrier; collectives use team.lanes.
typedef tmap_ask_range (*tmap_ask_query_fn)(const void *job, const tmap_ask_region *region,
                                            tmap_ask_team team);
// Finishes the thread's part of a uniform region, whose elements all have `value`.
typedef void (*tmap_ask_terminal_fn)(const void *job, const tmap_ask_region *region, tmap_u32 value,
                                     tmap_ask_team team);
// Computes elements, which it takes with tmap_ask_take until there are none.
typedef void (*tmap_ask_work_fn)(const void *job, tmap_ask_work *work);

TMAP_DEVICE tmap_u64 tmapi_ask_work_scalar(const tmap_ask_work *w) {
    return w->entries ? w->entries[w->number] : w->only;
}

// Takes the next chunk or piece, for lane 0 of a warp. It adds the lane's number, 0: for a uniform
// addend the compiler would sum over the warp and wait for the ticket at once.
TMAP_DEVICE tmap_u64 tmapi_ask_ticket(tmap_u64 *counter) {
    tmap_u64 one = 1;
#if defined(__CUDA_ARCH__)
    tmap_u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    one += lane;
#endif
    return atomicAdd(counter, one);
}

// Number of elements of a chunk, a multiple of 32: each / chunks, but at most `most`.
TMAP_DEVICE tmap_u32 tmapi_ask_chunk(tmap_u64 each, tmap_u32 chunks, tmap_u32 most) {
    const tmap_u32 n = each < (tmap_u64)most * chunks ? (tmap_u32)each / chunks : most;
    return n < 64 ? 32 : n / 32 * 32;
}

// Advances to the warp's next chunk, if there is one.
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
        // The ticket is needed when this chunk is done: using it here would wait for it.
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

// The warps that share a work; this one is number `warp`. ticket: a counter that begins at 0, from
// which they take chunks; null: each takes every warps-th one.
typedef struct tmapi_ask_workers {
    tmap_u32 warp, warps;
    tmap_u64 *ticket;
} tmapi_ask_workers;

TMAP_DEVICE tmapi_ask_workers tmapi_ask_all_workers(tmap_u64 *ticket) {
    const tmapi_ask_workers all = {(blockIdx.x * blockDim.x + threadIdx.x) / 32,
                                   gridDim.x * blockDim.x / 32, ticket};
    return all;
}

// The regions whose elements a work takes.
typedef struct tmapi_ask_source {
    tmap_u32 level, regions;
    tmap_u32 parts;          // into which the regions are cut; 0, a constant, for leaves
    const tmap_u64 *entries; // their scalars; null: a single region, with scalar `only`
    tmap_u64 only;
} tmapi_ask_source;

// Begins a work. elements: the number of elements of each region. Collective for a full warp.
TMAP_DEVICE void tmapi_ask_work_begin(tmap_ask_work *w, const tmap_ask_run *run,
                                      tmapi_ask_source of, tmapi_ask_workers by,
                                      tmap_ask_elements_fn elements, const void *job) {
    const tmap_ask_domain *d = &run->workspace.domain;
    const tmapi_ask_grid grid = tmapi_ask_grid_make(d, of.level);
    tmapi_ask_common *common = (tmapi_ask_common *)(tmapi_ask_shared() + TMAPI_ASK_BLOCK_BYTES +
                                                    threadIdx.x / 32 * TMAPI_ASK_WARP_BYTES);
    tmap_u32 per;
    w->lane = threadIdx.x & 31u;
    w->common = common;
    w->scratch = tmapi_ask_scratch(run);
    w->dims = d->dims;
    w->extent.sides = w->extent.child = tmapi_ask_grid_sides(&grid);
    w->extent.level = of.level, w->extent.parts = of.parts;
    w->extent.regions = of.regions, w->extent.warps = by.warps;
    w->entries = of.entries, w->only = of.only, w->ticket = by.ticket;
    w->asked = w->some = 0, w->left = 0;
    __syncwarp(); // the warp may still read *common
    if (of.parts) {
        const tmapi_ask_grid child = tmapi_ask_grid_make(d, of.level + 1);
        w->extent.child = tmapi_ask_grid_sides(&child);
        if (w->lane == 0) common->child = child;
    }
    per = elements(job, &w->extent);
    w->per = tmapi_ask_divider_make(per);
    w->wide = tmapi_ask_divider_make(w->extent.sides.x);
    w->high = tmapi_ask_divider_make(w->extent.sides.y);
    if (w->lane == 0) {
        const tmap_u64 total = (tmap_u64)of.regions * per, each = total / by.warps;
        common->grid = grid;
        common->total = total;
        common->stride = by.warps;
        common->size[0] = tmapi_ask_chunk(each, run->tuning.chunks, run->tuning.chunk);
        common->size[1] = tmapi_ask_chunk(each, run->tuning.chunks_last, run->tuning.chunk);
        if (common->size[1] > common->size[0]) common->size[1] = common->size[0];
        common->many = (total - total / 8) / common->size[0];
    }
    __syncwarp();
    w->coming = by.warp; // the first one is known; tickets are for later ones
    tmapi_ask_work_advance(w);
}

// Gives each lane of the warp its next element: *i is its number in work->region, or
// TMAP_ASK_NO_ELEMENT. Returns 0 when no elements are left. Every region has as many elements here
// as the largest one, so the caller must skip elements outside the region. Collective for a full
// warp.
// Example: while (tmap_ask_take(work, &i)) if (tmap_ask_element(work, i, &at)) ... at.x, at.y ... ;
TMAP_DEVICE int tmap_ask_take(tmap_ask_work *w, tmap_u32 *i) {
    *i = TMAP_ASK_NO_ELEMENT;
    if (w->left == 0) return 0;
    if (w->another) w->some = tmapi_ask_region(w->dims, &w->common->grid, w->scalar, &w->region);
    if (w->lane < w->left && w->some) *i = w->place;
    w->left -= w->left < 32 ? w->left : 32;
    if (w->left == 0) { // what is read here is only needed next time
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

// Position of element i of the work's region, as tmap_ask_every_element numbers them. Returns 0,
// with *at undefined, for TMAP_ASK_NO_ELEMENT and for elements outside the region.
TMAP_DEVICE int tmap_ask_element(const tmap_ask_work *w, tmap_u32 i, tmap_xyz *at) {
    const tmap_ask_region *t = &w->region;
    tmap_u32 x, y, z;
    if (i == TMAP_ASK_NO_ELEMENT) return 0;
    z = tmapi_ask_divide(w->high, tmapi_ask_divide(w->wide, i, &x), &y);
    at->x = t->x0 + x, at->y = t->y0 + y, at->z = t->z0 + z;
    return at->x < t->x1 && at->y < t->y1 && at->z < t->z1;
}

// Beginning of child s of the work's region along an axis; s = parts: the end of the last child.
TMAP_DEVICE tmap_u32 tmap_ask_child_x(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->common->child.x, w->region.px * w->extent.parts + s);
}
TMAP_DEVICE tmap_u32 tmap_ask_child_y(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->common->child.y, w->region.py * w->extent.parts + s);
}
TMAP_DEVICE tmap_u32 tmap_ask_child_z(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->common->child.z, w->region.pz * w->extent.parts + s);
}

// ---- a level: its regions are queried, and listed or finished -----------------------------------

#define TMAPI_ASK_NONE      0
#define TMAPI_ASK_EMPTY     1
#define TMAPI_ASK_FILL      2
#define TMAPI_ASK_LEAF      3
#define TMAPI_ASK_SUBDIVIDE 4

TMAP_DEVICE tmap_u32 tmapi_ask_verdict(const tmap_ask_run *run, tmap_u32 level,
                                       tmap_ask_range range) {
    if (range.least >= range.most) return TMAPI_ASK_FILL; // also if no value was found
    return level + 1 < run->workspace.domain.levels ? TMAPI_ASK_SUBDIVIDE : TMAPI_ASK_LEAF;
}

TMAP_DEVICE tmap_ask_range tmapi_ask_range_team(tmap_ask_range a, tmap_u32 size) {
    for (tmap_u32 d = 1; d < size; d *= 2) {
        a.least = min(a.least, __shfl_xor_sync(0xffffffffu, a.least, (int)d));
        a.most = max(a.most, __shfl_xor_sync(0xffffffffu, a.most, (int)d));
    }
    return a;
}

// Joins ranges over a block of full warps, in all threads.
TMAP_DEVICE tmap_ask_range tmapi_ask_range_block(tmap_ask_range a) {
    tmap_u32 *scratch = (tmap_u32 *)tmapi_ask_shared();
    tmap_u32 lane = threadIdx.x & 31u, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    a = tmapi_ask_range_team(a, 32);
    if (lane == 0) scratch[warp] = a.least, scratch[32 + warp] = a.most;
    __syncthreads();
    a = tmap_ask_range_none();
    if (lane < warps) a.least = scratch[lane], a.most = scratch[32 + lane];
    return tmapi_ask_range_team(a, 32);
}

// Beginning of a level's part of the list of fills: after the requests of earlier levels.
TMAP_DEVICE tmap_u64 tmapi_ask_fill_base(const tmap_ask_run *run, tmap_u32 level) {
    tmap_u64 base = 0;
    for (tmap_u32 l = 0; l < level; ++l)
        base += tmapi_ask_load(&run->workspace.control->level[l].filled);
    return base;
}

// Lists a region for each lane. Returns 1 in the lanes whose region did not fit.
TMAP_DEVICE int tmapi_ask_list(const tmap_ask_run *run, tmap_u32 level, tmap_u64 scalar,
                               tmap_u32 verdict, tmap_u32 value) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_warp warp = tmap_warp_full();
    const int fill = verdict == TMAPI_ASK_FILL, leaf = verdict == TMAPI_ASK_LEAF;
    const int subdivide = verdict == TMAPI_ASK_SUBDIVIDE;
    tmapi_ask_level *counts = &s->control->level[level];
    const tmap_u64 fills =
        tmap_olt_slot_warp(warp, &counts->filled, fill) + tmapi_ask_fill_base(run, level);
    const tmap_u64 leaves = tmap_olt_slot_warp(warp, &counts->leaves, leaf);
    const tmap_u64 slot = fill ? fills : leaves;
    int failed;
    (void)tmap_olt_slot_warp(warp, &counts->empty, verdict == TMAPI_ASK_EMPTY);
    failed = (fill || leaf) && slot >= s->list_capacity;
    if (fill && !failed) s->fill[slot] = scalar, s->value[slot] = value;
    if (leaf && !failed) s->leaf[slot] = scalar;
    if (__any_sync(0xffffffffu, subdivide)) {
        const int refused =
            subdivide & !tmap_olt_insert_warp(warp, tmapi_ask_table(run, level), subdivide, scalar);
        (void)tmap_olt_slot_warp(warp, &counts->refused, refused);
        failed |= refused;
    }
    return failed;
}

TMAP_DEVICE void tmapi_ask_leaf_now(const tmap_ask_run *run, tmap_u32 level, tmap_u64 scalar,
                                    tmapi_ask_workers by, tmap_ask_elements_fn leaf_elements,
                                    tmap_ask_work_fn leaf, const void *job) {
    const tmapi_ask_source of = {level, 1, 0, 0, scalar};
    tmap_ask_work work;
    tmapi_ask_work_begin(&work, run, of, by, leaf_elements, job);
    leaf(job, &work);
}

// The blocks or warps that query the regions of a level: this one is number `asker` of `askers`,
// with `teams` teams, and queries `batch` regions before they are listed.
typedef struct tmapi_ask_askers {
    int by_block;
    tmap_u32 asker, askers, teams, batch;
    tmap_ask_team team;
} tmapi_ask_askers;

// A block queries each large region; a warp, or four or eight of its lanes, the others.
TMAP_DEVICE tmapi_ask_askers tmapi_ask_askers_make(const tmap_ask_run *run,
                                                   const tmapi_ask_grid *grid, tmap_u32 items) {
    const tmapi_ask_workers all = tmapi_ask_all_workers(0);
    const tmap_xyz sides = tmapi_ask_grid_sides(grid);
    const tmap_u64 along =
        run->workspace.domain.dims == 3
            ? (tmap_u64)sides.x * sides.y + (tmap_u64)(sides.x + sides.y) * sides.z
            : (tmap_u64)sides.x + sides.y;
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

TMAP_DEVICE int tmapi_ask_check(int own, const char *function) {
    return TMAPI_CHECK(own, function, "tmap_ask_kernels has this kernel in another one's place");
}

// Queries all regions of the run's level and lists them; a region that does not fit the list or
// table is finished at once. Only these use `leaf` here; it may be shorter and slower than in
// tmap_ask_finish. All threads of the grid call it, in one-dimensional blocks of full warps.
TMAP_DEVICE void tmap_ask_query(const tmap_ask_run *run, tmap_ask_query_fn query,
                                tmap_ask_terminal_fn terminal, tmap_ask_elements_fn leaf_elements,
                                tmap_ask_work_fn leaf, const void *job) {
    if (!tmapi_ask_check(run->level < run->workspace.domain.levels, "tmap_ask_query")) return;
    const tmap_u32 dims = run->workspace.domain.dims, lane = threadIdx.x & 31u;
    const tmap_u32 level = run->level, items = tmapi_ask_regions(run, level);
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&run->workspace.domain, level);
    const tmapi_ask_askers a = tmapi_ask_askers_make(run, &grid, items);
    for (tmap_u64 first = (tmap_u64)a.asker * a.batch; first < items;
         first += (tmap_u64)a.askers * a.batch) {
        const tmap_u32 count = items - first < a.batch ? (tmap_u32)(items - first) : a.batch;
        tmap_u32 verdict = TMAPI_ASK_NONE, value = 0, failed; // lane i: for region first + i
        const tmap_u64 scalar =
            lane < count ? tmapi_ask_scalar(run, level, (tmap_u32)first + lane) : 0;
        for (tmap_u32 i = 0; i < count; i += a.teams) {
            const tmap_u32 mine = a.teams > 1 ? i + lane / a.team.size : i;
            const tmap_u32 from = (lane - i) * a.team.size & 31u;
            const tmap_u64 one = __shfl_sync(0xffffffffu, scalar, (int)(mine < count ? mine : i));
            tmap_ask_range range = tmap_ask_range_none();
            tmap_ask_region region;
            tmap_u32 verdict_one;
            const int some = tmapi_ask_region(dims, &grid, one, &region);
            if (some) range = query(job, &region, a.team);
            range = a.by_block ? tmapi_ask_range_block(range)
                               : tmapi_ask_range_team(range, a.team.size);
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
                const tmapi_ask_workers this_warp = {0, 1, 0};
                tmapi_ask_leaf_now(run, level, one, this_warp, leaf_elements, leaf, job);
            }
        }
    }
}

// ---- the last launch: uniform regions and leaves of all levels ----------------------------------

// Does the leaf work of all regions in the list.
TMAP_DEVICE void tmapi_ask_leaves(const tmap_ask_run *run, tmap_ask_elements_fn leaf_elements,
                                  tmap_ask_work_fn leaf, const void *job) {
    const tmap_ask_workspace *s = &run->workspace;
    tmapi_ask_source of = {s->domain.levels - 1, 0, 0, s->leaf, 0};
    tmap_u64 count = tmapi_ask_load(&s->control->level[of.level].leaves);
    tmap_ask_work work;
    if (count > s->list_capacity) count = s->list_capacity;
    if (!count) return;
    of.regions = (tmap_u32)count;
    tmapi_ask_work_begin(&work, run, of, tmapi_ask_all_workers(&s->control->leaf_ticket),
                         leaf_elements, job);
    leaf(job, &work);
}

// Does the terminal work of all regions in the list, in pieces: parts of a large region, or several
// small ones. Lane l holds the number of pieces of level l, and of all levels up to it.
TMAP_DEVICE void tmapi_ask_fills(const tmap_ask_run *run, tmap_ask_terminal_fn terminal,
                                 const void *job) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_ask_domain *d = &s->domain;
    const tmap_u32 lane = threadIdx.x & 31u;
    tmap_u64 first = 0, listed = 0, pieces, upto, all, coming = 0;
    tmap_u32 elements = 1, parts, several, tiny; // parts of a region, or several regions
    tmap_u32 known = TMAP_ASK_WHOLE;             // the level of `grid`: none yet
    tmapi_ask_grid grid;
    if (lane < d->levels) {
        tmapi_ask_grid mine = tmapi_ask_grid_make(d, lane);
        tmap_xyz sides = tmapi_ask_grid_sides(&mine);
        first = tmapi_ask_fill_base(run, lane);
        listed = first + tmapi_ask_load(&s->control->level[lane].filled);
        if (listed > s->list_capacity) listed = s->list_capacity;
        listed = first < listed ? listed - first : 0;
        elements = sides.x * sides.y * sides.z; // below 2^32
    }
    parts = tmapi_ask_within(elements / run->tuning.fill_elements, 1u << 26);
    several = tmapi_ask_within(run->tuning.fill_elements / elements, 32);
    tiny = parts == 1 && elements <= run->tuning.fill_eight; // parts are for full warps
    pieces = (listed + several - 1) / several * parts;       // one of both is 1
    upto = tmapi_warp_scan64(lane, pieces);
    all = __shfl_sync(0xffffffffu, upto, 31);
    if (lane == 0) coming = tmapi_ask_ticket(&s->control->fill_ticket);
    for (;;) {
        tmap_u64 piece = __shfl_sync(0xffffffffu, coming, 0), scalar = 0, place, end;
        tmap_u32 level, value = 0, part, parts_here, count, size;
        tmap_ask_team team;
        if (piece >= all) return;
        if (lane == 0) coming = tmapi_ask_ticket(&s->control->fill_ticket);
        level = (tmap_u32)__ffs((int)__ballot_sync(0xffffffffu, piece < upto)) - 1;
        piece -= __shfl_sync(0xffffffffu, upto - pieces, (int)level);
        parts_here = __shfl_sync(0xffffffffu, parts, (int)level);
        count = __shfl_sync(0xffffffffu, several, (int)level);
        size = __shfl_sync(0xffffffffu, tiny, (int)level) ? 8 : 32;
        place = __shfl_sync(0xffffffffu, first, (int)level);
        end = place + __shfl_sync(0xffffffffu, listed, (int)level);
        place += piece / parts_here * count, part = (tmap_u32)(piece % parts_here);
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

// Finishes the listed regions: uniform regions and leaves. Called like tmap_ask_query.
TMAP_DEVICE void tmap_ask_finish(const tmap_ask_run *run, tmap_ask_terminal_fn terminal,
                                 tmap_ask_elements_fn leaf_elements, tmap_ask_work_fn leaf,
                                 const void *job) {
    const tmap_u32 warp = tmapi_ask_all_workers(0).warp;
    if (!tmapi_ask_check(run->level == 0, "tmap_ask_finish")) return;
    if (warp % run->tuning.fill_warps == 0) tmapi_ask_fills(run, terminal, job);
    tmapi_ask_leaves(run, leaf_elements, leaf, job);
    tmapi_ask_fills(run, terminal, job);
}

// ---- borders that children share ----------------------------------------------------------------

// Calls `share` for the regions that the run's level subdivides, for problems whose queries read
// computed values: share writes the values that queries of the children read, except on the
// region's own border. Before level 0 it is called at level TMAP_ASK_WHOLE, for the complete domain
// as work->region, when nothing is written yet. Called like tmap_ask_query.
TMAP_DEVICE void tmap_ask_share(const tmap_ask_run *run, tmap_ask_elements_fn share_elements,
                                tmap_ask_work_fn share, const void *job) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_u32 level = run->level;
    const int whole = level == TMAP_ASK_WHOLE;
    const tmap_olt table = tmapi_ask_table(run, whole ? 0 : level);
    const tmapi_ask_source of = {level, whole ? 1 : (tmap_u32)tmap_olt_stored(table),
                                 whole ? s->domain.g : s->domain.r, whole ? 0 : table.entries, 0};
    tmap_u64 *ticket = whole ? &s->control->whole_ticket : &s->control->level[level].ticket;
    tmap_ask_work work;
    if (!tmapi_ask_check(whole || level < s->domain.levels, "tmap_ask_share")) return;
    if (!of.regions || (!whole && level + 1 >= s->domain.levels)) return;
    tmapi_ask_work_begin(&work, run, of, tmapi_ask_all_workers(ticket), share_elements, job);
    share(job, &work);
}

#endif // TMAP_CUDA
#endif
