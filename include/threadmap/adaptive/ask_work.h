// SPDX-License-Identifier: MIT
// ask_work.h: how the threads of a grid come by regions and elements in a run of ask.h.
#ifndef TMAP_ADAPTIVE_ASK_WORK_H
#define TMAP_ADAPTIVE_ASK_WORK_H

#include "ask_domain.h"

// ---- regions and elements, as the functions of a problem see them -------------------------------

// A region: the elements [x0, x1) x [y0, y1) x [z0, z1), of which there is at least one, and its
// part numbers in its level. z0 = 0, z1 = 1 for two axes.
typedef struct tmap_ask_region {
    tmap_u32 x0, x1, y0, y1, z0, z1;
    tmap_u32 px, py, pz;
    tmap_u32 level;
    tmap_u32 fine; // parts of the last level along each of its axes
} tmap_ask_region;

// The most elements that a region of a level has along each axis.
typedef struct tmap_ask_sides {
    tmap_u32 x, y, z;
} tmap_ask_sides;

// What a thread found out about its part of a region; over all threads the least and the largest
// are taken, and a region is uniform if they are equal. A thread that looked at nothing returns
// tmap_ask_range_none(), a single value v is {v, v}.
typedef struct tmap_ask_range {
    tmap_u32 least, most;
} tmap_ask_range;

TMAP_FN tmap_ask_range tmap_ask_range_none(void) {
    tmap_ask_range a = {0xffffffffu, 0};
    return a;
}

TMAP_FN tmap_ask_range tmap_ask_range_add(tmap_ask_range a, tmap_u32 value) {
    if (value < a.least) a.least = value;
    if (value > a.most) a.most = value;
    return a;
}

// What a lane that was given no element gets in the place of its number.
#define TMAP_ASK_NO_ELEMENT 0xffffffffu

// Threads of a block, and blocks that a multiprocessor holds at once: as many are launched, since a
// warp of a block that came later would begin when all others are through. (H200, n = 16384 and
// 65536: three blocks, which have registers enough, 1.15 and 9.97 ms, four 1.17 and 10.4.)
#ifndef TMAPI_ASK_THREADS
#define TMAPI_ASK_THREADS 256
#endif
#ifndef TMAPI_ASK_BLOCKS
#define TMAPI_ASK_BLOCKS 3
#endif
// The same of the kernels of lines. Their warps end with few pixels each, so that fewer warps lose
// less. (H200, n = 16384, a whole run with one block to four: 1.33, 1.21, 1.20, 1.22 ms.)
#ifndef TMAPI_ASK_LINE_BLOCKS
#define TMAPI_ASK_LINE_BLOCKS 3
#endif
// The same of the kernel that asks, which waits for memory.
#ifndef TMAPI_ASK_QUERY_BLOCKS
#define TMAPI_ASK_QUERY_BLOCKS 4
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750 // 1024 threads a multiprocessor
#define TMAPI_ASK_QUERY_RESIDENT 4
#else
#define TMAPI_ASK_QUERY_RESIDENT TMAPI_ASK_QUERY_BLOCKS
#endif
// The same of SBR.
#ifndef TMAPI_ASK_SBR_THREADS
#define TMAPI_ASK_SBR_THREADS 128
#endif
#ifndef TMAPI_ASK_SBR_BLOCKS
#define TMAPI_ASK_SBR_BLOCKS 8
#endif

// Warps of the largest block.
#define TMAPI_ASK_WARPS \
    ((TMAPI_ASK_THREADS > TMAPI_ASK_SBR_THREADS ? TMAPI_ASK_THREADS : TMAPI_ASK_SBR_THREADS) / 32)

#if TMAP_CUDA

// ---- division by a number that is known before the loop -----------------------------------------

typedef struct tmapi_ask_divider {
    tmap_u32 by, reciprocal;
} tmapi_ask_divider;

// by: 0 counts as 1.
TMAP_DEVICE tmapi_ask_divider tmapi_ask_divider_make(tmap_u32 by) {
    tmapi_ask_divider d;
    d.by = by ? by : 1;
    d.reciprocal = 0xffffffffu / d.by;
    return d;
}

// floor(i / by), and the remainder in *rest. The product with the reciprocal, which is rounded
// down, falls short by 1 at most: 2^32 - reciprocal * by <= by, and so i / by - i * reciprocal /
// 2^32 < 1.
TMAP_DEVICE tmap_u32 tmapi_ask_divide(tmapi_ask_divider d, tmap_u32 i, tmap_u32 *rest) {
    tmap_u32 q = __umulhi(i, d.reciprocal), left = i - q * d.by;
    if (left >= d.by) ++q, left -= d.by;
    *rest = left;
    return q;
}

// ---- boundaries ---------------------------------------------------------------------------------

// An axis of n elements at a level, as tmap_region_axis, with its divisions done.
typedef struct tmapi_ask_axis {
    tmap_u32 step, rest, parts;
    tmap_u32 low, high; // 2^43 rest / parts, rounded up
} tmapi_ask_axis;

TMAP_DEVICE tmapi_ask_axis tmapi_ask_axis_make(tmap_u32 n, tmap_u32 parts) {
    tmapi_ask_axis a;
    tmap_u64 ratio;
    a.parts = parts;
    a.step = n / parts;
    a.rest = n - a.step * parts;
    ratio = a.rest ? (((tmap_u64)a.rest << 43) - 1) / parts + 1 : 0;
    a.low = (tmap_u32)ratio, a.high = (tmap_u32)(ratio >> 32);
    return a;
}

// floor(n i / parts), i <= parts <= 2^21. Exact: the ratio's error, below 1, makes one below 2^-22
// here, and rest i / parts is not closer than 2^-21 below a whole number.
TMAP_DEVICE tmap_u32 tmapi_ask_edge(tmapi_ask_axis a, tmap_u32 i) {
    return a.step * i + ((__umulhi(a.low, i) + a.high * i) >> 11);
}

// A level: its axes.
typedef struct tmapi_ask_grid {
    tmapi_ask_axis x, y, z;
    tmap_u32 level;
    tmap_u32 fine; // parts of the last level in one of this
} tmapi_ask_grid;

TMAP_DEVICE tmapi_ask_grid tmapi_ask_grid_make(const tmap_ask_domain *d, tmap_u32 dims,
                                               tmap_u32 level) {
    tmapi_ask_grid grid;
    tmap_u32 parts = d->g;
    for (tmap_u32 l = 0; l < level; ++l) parts *= d->r;
    grid.x = tmapi_ask_axis_make(d->nx, parts);
    grid.y = tmapi_ask_axis_make(d->ny, parts);
    grid.z = tmapi_ask_axis_make(dims == 3 ? d->nz : 1, dims == 3 ? parts : 1);
    grid.level = level;
    grid.fine = 1;
    for (tmap_u32 l = level + 1; l < d->levels; ++l) grid.fine *= d->r;
    return grid;
}

TMAP_DEVICE tmap_ask_sides tmapi_ask_grid_sides(const tmapi_ask_grid *grid) {
    tmap_ask_sides s;
    s.x = grid->x.step + (grid->x.rest != 0);
    s.y = grid->y.step + (grid->y.rest != 0);
    s.z = grid->z.step + (grid->z.rest != 0);
    return s;
}

// A region's scalar is its place in canonical order (equations 31 and 32) in a level of 2^32 parts
// along x, or 2^21 along x and y for three axes: taken apart without a division.
TMAP_DEVICE tmap_u64 tmapi_ask_pack(tmap_u32 dims, tmap_u32 x, tmap_u32 y, tmap_u32 z) {
    return dims == 2 ? (tmap_u64)y << 32 | x : (tmap_u64)z << 42 | (tmap_u64)y << 21 | x;
}

TMAP_DEVICE void tmapi_ask_unpack(tmap_u32 dims, tmap_u64 scalar, tmap_u32 *x, tmap_u32 *y,
                                  tmap_u32 *z) {
    *x = (tmap_u32)scalar & (dims == 2 ? 0xffffffffu : 0x1fffffu);
    *y = dims == 2 ? (tmap_u32)(scalar >> 32) : (tmap_u32)(scalar >> 21) & 0x1fffffu;
    *z = dims == 2 ? 0 : (tmap_u32)(scalar >> 42);
}

// Region number i of level 0: row after row.
TMAP_DEVICE tmap_u64 tmapi_ask_first(tmap_u32 dims, tmap_u32 g, tmap_u32 i) {
    tmap_u32 row = i / g;
    return dims == 2 ? tmapi_ask_pack(2, i - row * g, row, 0)
                     : tmapi_ask_pack(3, i - row * g, row % g, row / g);
}

// Child c of a region.
TMAP_DEVICE tmap_u64 tmapi_ask_child(tmap_u32 dims, tmap_u32 r, tmap_u64 parent, tmap_u32 c) {
    tmap_u32 x, y, z, row = c / r;
    tmapi_ask_unpack(dims, parent, &x, &y, &z);
    return dims == 2 ? tmapi_ask_pack(2, x * r + c - row * r, y * r + row, 0)
                     : tmapi_ask_pack(3, x * r + c - row * r, y * r + row % r, z * r + row / r);
}

// The region of a scalar; 0 if it is empty.
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

// ---- work: elements handed out to lanes ---------------------------------------------------------
//
// The elements of many regions stand in one row, `per` of each region, and warps take chunks of it:
// so every warp has work to the end, however large or few regions are. A lane works out the region
// of its element for itself, and again when it comes to another one; so all lanes have an element,
// be the regions as small as they may.

// The largest chunk; how many chunks there are of a warp's share of the row, if it has so many of
// 32 elements and they are not too large; and how many of the last eighth, which is what warps may
// be late by. Asking for one takes 1.2 ns on an H200, for one warp after the other.
#ifndef TMAPI_ASK_CHUNK
#define TMAPI_ASK_CHUNK 256
#endif
#ifndef TMAPI_ASK_CHUNKS
#define TMAPI_ASK_CHUNKS 12
#endif
#ifndef TMAPI_ASK_CHUNKS_LAST
#define TMAPI_ASK_CHUNKS_LAST 24
#endif

// What all lanes of a warp know, in shared memory.
typedef struct tmapi_ask_plan {
    tmapi_ask_grid grid, child;
    tmap_u64 total;
    tmap_u64 many; // so many chunks of size[0], then others of size[1]
    tmap_u32 size[2];
    tmap_u32 stride; // warps
} tmapi_ask_plan;

typedef struct tmap_ask_work {
    tmap_ask_region region;     // of the element that tmap_ask_take has just given to this lane
    tmap_ask_sides sides;       // the most elements of these regions along each axis
    tmap_u32 r;                 // into how many parts they are cut
    tmap_ask_sides child_sides; // the most elements of their children
    tmap_u32 regions, warps;    // that this work is about, and that share it
    // for this header alone
    const tmapi_ask_plan *plan;
    tmap_u32 dims, g;
    const tmap_u64 *entries; // null: the regions of level 0
    tmapi_ask_divider per;
    tmap_u64 *ticket;       // of chunks; null: every stride-th one
    tmap_u64 coming;        // lane 0: number of the chunk after this one, or
    int asked;              // its ticket
    tmap_u32 left;          // elements of the chunk not yet given
    tmap_u32 number, place; // of the lane's region; of its next element there
    tmap_u64 scalar;        // of that region, where `another`
    int another, some;      // it is not the region before; it is not empty
    tmap_u32 lane;
} tmap_ask_work;

TMAP_DEVICE tmap_u64 tmapi_ask_work_scalar(const tmap_ask_work *w) {
    return w->entries ? w->entries[w->number] : tmapi_ask_first(w->dims, w->g, w->number);
}

// The number of the next chunk or piece, for lane 0 of a warp. The lane's number is in the addend,
// 0 here, because an addend that is known to be the same in all lanes makes the compiler sum up
// their requests, and wait at once for the answer, to hand it out to them (H200, n = 16384: 0.03
// ms).
TMAP_DEVICE tmap_u64 tmapi_ask_ticket(tmap_u64 *counter) {
    tmap_u64 one = 1;
#if defined(__CUDA_ARCH__)
    tmap_u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    one += lane;
#endif
    return atomicAdd(counter, one);
}

// A whole number of warps, as near to `elements` as may be.
TMAP_DEVICE tmap_u32 tmapi_ask_chunk(tmap_u64 elements) {
    return elements < 64                ? 32
           : elements > TMAPI_ASK_CHUNK ? TMAPI_ASK_CHUNK
                                        : (tmap_u32)elements / 32 * 32;
}

// Goes on to the warp's next chunk, if there is one.
TMAP_DEVICE void tmapi_ask_work_advance(tmap_ask_work *w) {
    const tmapi_ask_plan *plan = w->plan;
    const tmap_u64 chunk =
        __shfl_sync(0xffffffffu, w->coming, 0) + (w->asked ? (tmap_u64)plan->stride : 0);
    const int last = chunk >= plan->many;
    const tmap_u32 size = plan->size[last];
    tmap_u64 start = chunk * size, left;
    if (last) start += plan->many * (plan->size[0] - size);
    if (start >= plan->total) return;
    w->asked = w->ticket != 0;
    if (w->asked) {
        // Asked for now, needed when this chunk is done: nothing may be added to it here, which
        // would wait for it.
        if (w->lane == 0) w->coming = tmapi_ask_ticket(w->ticket);
    } else {
        w->coming = chunk + plan->stride;
    }
    left = plan->total - start;
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

// Elements of `regions` regions, `per` each, shared out among `warps` warps, of which the caller is
// number `warp`. entries: the regions' scalars; a single one may stand anywhere in memory.
// ticket: a counter at 0 for warps that ask for their chunks; null: each has every warps-th one.
// Collective for a full warp.
TMAP_DEVICE void tmapi_ask_work_begin(tmap_ask_work *w, const tmap_ask_domain *d, tmap_u32 dims,
                                      const tmapi_ask_grid *grid, const tmap_u64 *entries,
                                      tmap_u32 regions, tmap_u32 per, tmap_u64 *ticket,
                                      tmap_u32 warp, tmap_u32 warps) {
    __shared__ tmapi_ask_plan plans[TMAPI_ASK_WARPS];
    const tmapi_ask_grid child = tmapi_ask_grid_make(d, dims, grid->level + 1); // or not used
    tmapi_ask_plan *plan = &plans[threadIdx.x / 32];
    w->lane = threadIdx.x & 31u; // blocks of ASK have one axis
    w->plan = plan;
    w->dims = dims;
    w->g = d->g;
    w->r = d->r;
    w->sides = tmapi_ask_grid_sides(grid);
    w->child_sides = tmapi_ask_grid_sides(&child);
    w->regions = regions;
    w->warps = warps;
    w->entries = entries;
    w->per = tmapi_ask_divider_make(per);
    w->ticket = ticket;
    w->asked = 0;
    w->left = 0;
    w->some = 0;
    __syncwarp(); // the plan before may be in use
    if (w->lane == 0) {
        const tmap_u64 total = (tmap_u64)regions * per, each = total / warps;
        plan->grid = *grid, plan->child = child;
        plan->total = total;
        plan->stride = warps;
        plan->size[0] = tmapi_ask_chunk(each / TMAPI_ASK_CHUNKS);
        plan->size[1] = tmapi_ask_chunk(each / TMAPI_ASK_CHUNKS_LAST);
        plan->many = (total - total / 8) / plan->size[0];
    }
    __syncwarp();
    w->coming = warp; // the first one is known, tickets are for those after
    tmapi_ask_work_advance(w);
}

// Gives each lane of the warp its next element, of whatever region: *i is the element's number in
// work->region, or TMAP_ASK_NO_ELEMENT, as for some lanes where a chunk of work comes to its end.
// Collective for a full warp. Returns 0 when there is nothing left. Every region is handed out as
// if it had the most sides: what lies outside of it is for the caller to skip.
// Example: while (tmap_ask_take(work, &i)) if (i != TMAP_ASK_NO_ELEMENT) ... work->region ... ;
TMAP_DEVICE int tmap_ask_take(tmap_ask_work *w, tmap_u32 *i) {
    *i = TMAP_ASK_NO_ELEMENT;
    if (w->left == 0) return 0;
    if (w->another) w->some = tmapi_ask_region(w->dims, &w->plan->grid, w->scalar, &w->region);
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

// Where child number s of the work's region begins along an axis, s = 0..r; s = r: where the last
// one ends.
TMAP_DEVICE tmap_u32 tmap_ask_child_x(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->plan->child.x, w->region.px * w->r + s);
}
TMAP_DEVICE tmap_u32 tmap_ask_child_y(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->plan->child.y, w->region.py * w->r + s);
}
TMAP_DEVICE tmap_u32 tmap_ask_child_z(const tmap_ask_work *w, tmap_u32 s) {
    return tmapi_ask_edge(w->plan->child.z, w->region.pz * w->r + s);
}

// ---- what is left for the last launch -----------------------------------------------------------

TMAP_DEVICE tmap_u64 tmapi_ask_load(const tmap_u64 *count) {
    return *(volatile const tmap_u64 *)count;
}

// The regions of a level that a launch may find, empty ones among them.
TMAP_DEVICE tmap_u32 tmapi_ask_regions(const tmap_ask_workspace *s, tmap_u32 dims, tmap_u32 level) {
    const tmap_ask_domain *d = &s->domain;
    tmap_u64 parents;
    if (level == 0) return dims == 2 ? d->g * d->g : d->g * d->g * d->g;
    parents = tmapi_ask_load(&s->control->level[level - 1].subdivided);
    if (parents > s->olt_capacity) parents = s->olt_capacity;
    return (tmap_u32)parents * (dims == 2 ? d->r * d->r : d->r * d->r * d->r);
}

// The table that a level fills.
TMAP_DEVICE tmap_olt tmapi_ask_olt(const tmap_ask_workspace *s, tmap_u32 level) {
    tmap_olt_pair p;
    p.even = s->even, p.odd = s->odd;
    p.counts = &s->control->level[0].subdivided;
    p.stride = sizeof(tmapi_ask_level) / sizeof(tmap_u64);
    p.capacity = s->olt_capacity;
    return tmap_olt_written(p, level);
}

// Where in the list of fills a level's begin: after all that the levels before it asked for.
TMAP_DEVICE tmap_u64 tmapi_ask_fill_base(const tmap_ask_workspace *s, tmap_u32 level) {
    tmap_u64 base = 0;
    for (tmap_u32 l = 0; l < level; ++l) base += tmapi_ask_load(&s->control->level[l].filled);
    return base;
}

// A barrier of all threads of a cooperative launch. turn: 0 before the first one.
TMAP_DEVICE void tmapi_ask_barrier(tmapi_ask_control *control, tmap_u32 *turn) {
    __syncthreads();
    *turn += gridDim.x;
    if (tmap_thread_rank() == 0) {
        __threadfence();
        atomicAdd(&control->arrived, 1u);
        while (*(volatile tmap_u32 *)&control->arrived < *turn) {
        }
        __threadfence();
    }
    __syncthreads();
}

// The least and the largest over a full warp, in all lanes.
TMAP_DEVICE tmap_ask_range tmapi_ask_range_warp(tmap_ask_range a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (tmap_u32 step = 16; step; step >>= 1) {
        tmap_u32 least = __shfl_xor_sync(0xffffffffu, a.least, step);
        tmap_u32 most = __shfl_xor_sync(0xffffffffu, a.most, step);
        if (least < a.least) a.least = least;
        if (most > a.most) a.most = most;
    }
#else
    a.least = __reduce_min_sync(0xffffffffu, a.least);
    a.most = __reduce_max_sync(0xffffffffu, a.most);
#endif
    return a;
}

// The same over each `size` lanes of a full warp, a power of two.
TMAP_DEVICE tmap_ask_range tmapi_ask_range_team(tmap_ask_range a, tmap_u32 size) {
    for (tmap_u32 d = 1; d < size; d *= 2) {
        tmap_u32 least = __shfl_xor_sync(0xffffffffu, a.least, (int)d);
        tmap_u32 most = __shfl_xor_sync(0xffffffffu, a.most, (int)d);
        if (least < a.least) a.least = least;
        if (most > a.most) a.most = most;
    }
    return a;
}

// The same over a block of full warps, in all threads. scratch: 64 words of shared memory, free
// again after the next __syncthreads().
TMAP_DEVICE tmap_ask_range tmapi_ask_range_block(tmap_ask_range a, tmap_u32 *scratch) {
    tmap_u32 lane = threadIdx.x & 31u, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    a = tmapi_ask_range_warp(a);
    if (lane == 0) scratch[warp] = a.least, scratch[32 + warp] = a.most;
    __syncthreads();
    a = tmap_ask_range_none();
    if (lane < warps) a.least = scratch[lane], a.most = scratch[32 + lane];
    return tmapi_ask_range_warp(a);
}

#endif // TMAP_CUDA

#endif
