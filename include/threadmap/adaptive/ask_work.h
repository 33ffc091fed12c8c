// SPDX-License-Identifier: MIT
// ask_work.h: how the lanes of all warps come by elements of many regions in a run of ask.h, so
// that every warp has work to the end, however large or few regions are.
#ifndef TMAP_ADAPTIVE_ASK_WORK_H
#define TMAP_ADAPTIVE_ASK_WORK_H

#include "ask_run.h"

// What a lane that was given no element gets in the place of its number.
#define TMAP_ASK_NO_ELEMENT 0xffffffffu

#if TMAP_CUDA

// ---- work: elements handed out to lanes ---------------------------------------------------------
//
// The elements of many regions stand in one row, `per` of each region, and warps take chunks of it.
// A lane works out the region of its element for itself, and again when it comes to another one; so
// all lanes have an element, be the regions as small as they may.

// What all lanes of a warp know, in shared memory.
typedef struct tmapi_ask_common {
    tmapi_ask_grid grid, child;
    tmap_u64 total;
    tmap_u64 many; // so many chunks of size[0], then others of size[1]
    tmap_u32 size[2]; // the second one is not larger
    tmap_u32 stride;  // warps
} tmapi_ask_common;

#define TMAPI_ASK_WARP_BYTES ((tmap_u32)(sizeof(tmapi_ask_common) + 31) / 32 * 32)

// Where the scratch of the warps begins in the shared memory of a block: at a multiple of 1024, as
// asynchronous copies from other places are slower.
TMAP_FN tmap_u32 tmapi_ask_scratch_first(tmap_u32 threads) {
    return (TMAPI_ASK_BLOCK_BYTES + threads * (TMAPI_ASK_WARP_BYTES / 32) + 1023) / 1024 * 1024;
}

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
#endif
