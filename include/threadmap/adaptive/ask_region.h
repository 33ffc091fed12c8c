// SPDX-License-Identifier: MIT
// ask_region.h: the regions of a run of ask.h as the functions of a problem see them, and how a
// thread finds the region of a scalar and its boundaries without a division.
#ifndef TMAP_ADAPTIVE_ASK_REGION_H
#define TMAP_ADAPTIVE_ASK_REGION_H

#include "ask_domain.h"

// The level of the whole domain, whose children are the regions of level 0.
#define TMAP_ASK_WHOLE 0xffffffffu

// A region: the elements [x0, x1) x [y0, y1) x [z0, z1), of which there is at least one, and its
// part numbers in its level. z0 = 0, z1 = 1 for two axes.
typedef struct tmap_ask_region {
    tmap_u32 x0, x1, y0, y1, z0, z1;
    tmap_u32 px, py, pz;
    tmap_u32 level; // 0 to levels - 1, or TMAP_ASK_WHOLE
    tmap_u32 fine;  // parts of the last level along each of its axes
} tmap_ask_region;

// The most elements that a region of a level has along each axis.
typedef struct tmap_ask_sides {
    tmap_u32 x, y, z;
} tmap_ask_sides;

// The threads that work on a region together: four or eight lanes of a warp side by side, a warp,
// or all warps of a block.
typedef struct tmap_ask_team {
    tmap_u32 rank, size; // of the calling thread; threads
    tmap_u32 lanes;      // of the calling thread's warp that are in the team, a bit each
    void *scratch;       // this warp's scratch: tmap_ask_kernels.scratch bytes of shared memory
} tmap_ask_team;

// What a thread finds in its part of a region: the least and the largest value. The engine takes
// the least and the largest over the team, and the region is uniform if they are equal. A thread
// that looked at nothing returns tmap_ask_range_none(); a single value v is {v, v}.
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

// The number of elements of a region; below 2^31.
TMAP_FN tmap_u32 tmap_ask_region_elements(const tmap_ask_region *t) {
    return (t->x1 - t->x0) * (t->y1 - t->y0) * (t->z1 - t->z0);
}

// The place of element i, 0 to tmap_ask_region_elements - 1, row after row; a larger i lies behind
// the region along its last axis. Cost: two divisions.
// Example: the region [4, 6) x [8, 10): 0..3 -> (4,8)(5,8)(4,9)(5,9).
TMAP_FN tmap_xyz tmap_ask_region_at(const tmap_ask_region *t, tmap_u32 i) {
    const tmap_u32 wide = t->x1 > t->x0 ? t->x1 - t->x0 : 1, row = i / wide;
    const tmap_u32 high = t->y1 > t->y0 ? t->y1 - t->y0 : 1;
    tmap_xyz at;
    at.x = t->x0 + i - row * wide;
    at.y = t->y0 + row % high;
    at.z = t->z0 + row / high;
    return at;
}

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

// level: 0 to levels - 1, or TMAP_ASK_WHOLE.
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

TMAP_DEVICE tmap_ask_sides tmapi_ask_grid_sides(const tmapi_ask_grid *grid) {
    tmap_ask_sides s;
    s.x = grid->x.step + (grid->x.rest != 0);
    s.y = grid->y.step + (grid->y.rest != 0);
    s.z = grid->z.step + (grid->z.rest != 0);
    return s;
}

// ---- scalars ------------------------------------------------------------------------------------

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

// n^dims
TMAP_DEVICE tmap_u32 tmapi_ask_power(tmap_u32 dims, tmap_u32 n) {
    return dims == 2 ? n * n : n * n * n;
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

#endif // TMAP_CUDA
#endif
