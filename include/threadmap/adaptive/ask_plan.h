// SPDX-License-Identifier: MIT
// ask_plan.h: the host's part of ask.h: a plan of the launches of a run for this device, and the
// two drivers that go from level to level.
#ifndef TMAP_ADAPTIVE_ASK_PLAN_H
#define TMAP_ADAPTIVE_ASK_PLAN_H

#include "../launch.h"
#include "olt.h"
#include "region.h"

// ---- ask domain ---------------------------------------------------------------------------------
//
// The domain that ask.h subdivides, and its parameters (g, r, B).

// The most levels that a subdivision can have.
#define TMAP_ASK_LEVELS_MAX 32

// The parameters of a subdivision, the paper's (g, r, B): level 0 has g parts along each axis, each
// part is cut into r parts, and cutting ends at side b. (0, 0, 0) leaves them to the library.
typedef struct tmap_ask_params {
    tmap_u32 g, r, b;
} tmap_ask_params;

// A domain of nx x ny, or nx x ny x nz elements, with its subdivision.
typedef struct tmap_ask_domain {
    tmap_u32 nx, ny, nz; // nz = 1 for two axes
    tmap_u32 dims;       // 2 or 3
    tmap_u32 g, r, b;    // b = 0: the library chose them
    tmap_u32 levels;     // tau
} tmap_ask_domain;

// A part number has 21 bits, so that three of them fit a scalar.
#define TMAPI_ASK_PARTS_MAX   0x200000ull
#define TMAPI_ASK_ENTRIES_MAX 0xffffffffull

// The elements of a region of level 0 with a frame of 31 more along each axis: below 2^31, so that
// steps of 2^31 from one to another fit.
TMAP_FN tmap_u64 tmapi_ask_frame(const tmap_ask_domain *d) {
    const tmap_u64 elements = tmapi_region_mul(tmap_region_side_max(d->nx, d->g) + 31,
                                               tmap_region_side_max(d->ny, d->g) + 31);
    return d->dims == 3 ? tmapi_region_mul(elements, tmap_region_side_max(d->nz, d->g) + 31)
                        : elements;
}

// Chooses a subdivision: r = 4, and regions of the last level have a side of 16, of 32 where rows
// of them begin anywhere, or of 8 with three axes, as long as there are not more than 2048 or 128
// of them along an axis; level 0 has up to 128 or 16. docs/notebook.md has the times.
TMAP_FN void tmapi_ask_choose(tmap_ask_domain *d) {
    const tmap_u32 most = d->dims == 3 ? 128 : 2048, coarse = d->dims == 3 ? 16 : 128;
    tmap_u32 n = d->nx > d->ny ? d->nx : d->ny, least = d->nx < d->ny ? d->nx : d->ny, parts;
    if (d->dims == 3 && d->nz > n) n = d->nz;
    if (d->dims == 3 && d->nz < least) least = d->nz;
    parts = n / (d->dims == 3 ? 8 : d->nx % 64 ? 32 : 16);
    if (parts > least / 4) parts = least / 4;
    if (parts > most) parts = most;
    if (parts == 0) parts = 1;
    for (d->levels = 1; parts > coarse; ++d->levels) parts = (parts + 2) / 4;
    d->g = parts, d->r = 4, d->b = 0;
    while (d->g < 1u << 15 && tmapi_ask_frame(d) > 0x7fffffffull) d->g *= 2;
}

// Fills a domain: tau levels by tmap_region_levels, of g r^level parts along each axis.
// dims: 2, where nz is not read, or 3. a: g >= 1, r >= 2, b >= 1, b <= n / g, where n is the
// longest side; or all three 0, for which they are chosen by the sides.
// The function returns TMAP_OK; TMAP_EINVAL for a side of 0, dims, g, r or b; TMAP_ERANGE for
// b > n / g, a side beyond 2^31 - 1, more than 2^21 parts along an axis, 2^32 regions at level 0 or
// more, a region of level 0 with 2^31 elements (a frame of 31 more along each axis included), or
// r^dims above 2^20. *out is written only on success.
// Example: 16384 x 16384, (32, 2, 32): 4 levels with regions of side 512, 256, 128, 64.
TMAP_FN int tmap_ask_domain_make(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_u32 dims,
                                 tmap_ask_params a, tmap_ask_domain *out) {
    tmap_u64 n = nx > ny ? nx : ny;
    tmap_ask_domain d;
    int error, chosen;
    if (!out || dims < 2 || dims > 3) return TMAP_EINVAL;
    if (dims == 2) nz = 1;
    if (nz > n) n = nz;
    if (nx == 0 || ny == 0 || nz == 0) return TMAP_EINVAL;
    chosen = !a.g && !a.r && !a.b;
    if (!chosen && (error = tmap_region_check(n, a.g, a.r, a.b)) != TMAP_OK) return error;
    if (n > 0x7fffffffull) return TMAP_ERANGE;
    d.nx = (tmap_u32)nx, d.ny = (tmap_u32)ny, d.nz = (tmap_u32)nz;
    d.dims = dims;
    if (chosen) {
        tmapi_ask_choose(&d);
    } else {
        d.g = a.g, d.r = a.r, d.b = a.b;
        d.levels = tmap_region_levels(n, a.g, a.r, a.b);
    }
    if (tmap_region_parts(d.g, d.r, d.levels - 1) > TMAPI_ASK_PARTS_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, d.g, dims) > TMAPI_ASK_ENTRIES_MAX) return TMAP_ERANGE;
    if (tmap_region_olt_size(1, d.r, dims) > 1u << 20) return TMAP_ERANGE;
    if (tmapi_ask_frame(&d) > 0x7fffffffull) return TMAP_ERANGE;
    *out = d;
    return TMAP_OK;
}

// ---- ask region ---------------------------------------------------------------------------------
//
// The regions of a run of ask.h as the functions of a problem see them, and how a
// thread finds the region of a scalar and its boundaries without a division.

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

// ---- ask workspace ------------------------------------------------------------------------------
//
// The device memory of a run of ask.h: its tables, lists and counters.

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>
#endif

// ---- counters -----------------------------------------------------------------------------------

// A level's part of the counters, in device memory.
typedef struct tmapi_ask_level {
    tmap_u64 subdivided; // insertions asked for: the count of the table that the next level reads
    tmap_u64 filled, leaves, empty, refused;
    tmap_u64 ticket; // chunks of shared elements handed out
} tmapi_ask_level;

// All that must be 0 before a run.
typedef struct tmapi_ask_control {
    tmapi_ask_level level[TMAP_ASK_LEVELS_MAX];
    tmap_u64 whole_ticket, leaf_ticket, fill_ticket; // chunks handed out
    tmap_u32 level_now;                              // of TMAP_ASK_LEVEL_NOW (ask_plan.h)
    tmap_u32 arrived; // at barriers of a grid that stays on the device
} tmapi_ask_control;

// What a run counted at a level. regions = subdivided + filled + leaves; empty regions, which have
// no element, are not among them. refused counts the regions that should have been subdivided and
// found no place in the table: the leaf work computed them, and they are among the leaves.
typedef struct tmap_ask_level_counts {
    tmap_u64 regions, empty, subdivided, filled, leaves, refused;
} tmap_ask_level_counts;

typedef struct tmap_ask_counts {
    tmap_u32 levels;
    tmap_u64 refused; // of all levels; 0: the tables were large enough
    tmap_ask_level_counts level[TMAP_ASK_LEVELS_MAX];
} tmap_ask_counts;

// ---- the workspace ------------------------------------------------------------------------------

// Everything that a run needs besides the problem. One run at a time may use a workspace; runs in
// one stream, one after the other, may share it. The makers below fill it.
typedef struct tmap_ask_workspace {
    tmap_ask_domain domain;
    tmapi_ask_control *control;
    tmap_u64 *even, *odd, *leaf, *fill; // the two tables; regions that wait for the last launch
    tmap_u32 *value;                    // of the regions in `fill`
    tmap_u64 table_capacity, list_capacity;
    void *memory;
    tmap_u64 bytes;
    void *rest; // memory behind all that, for the problem, at a multiple of 256
    tmap_u64 rest_bytes;
} tmap_ask_workspace;

// The entries that tables and lists need at most, or `capacity` if that is less and not 0.
TMAP_FN void tmapi_ask_capacities(const tmap_ask_domain *d, tmap_u64 capacity, tmap_u64 *table,
                                  tmap_u64 *list) {
    tmap_u64 children = tmap_region_olt_size(1, d->r, d->dims);
    tmap_u64 last = tmap_region_parts(d->g, d->r, d->levels - 1);
    tmap_u64 most = TMAPI_ASK_ENTRIES_MAX / children; // the children's numbers have 32 bits
    *list = tmap_region_olt_size(1, last, d->dims);
    *table = *list / children; // tau = 1: no table is needed; a few entries do no harm
    if (capacity && *table > capacity) *table = capacity;
    if (capacity && *list > capacity) *list = capacity;
    if (*table > most) *table = most;
    if (*list > TMAPI_ASK_ENTRIES_MAX) *list = TMAPI_ASK_ENTRIES_MAX;
}

#define TMAPI_ASK_ALIGN(bytes) (((bytes) + 255) / 256 * 256)

// The bytes of device memory that tables, lists and counters take; a problem's own come on top.
// nx, ny, nz: elements along the axes, nz = 0 for two axes. a: as for tmap_ask_domain_make.
// capacity: the most entries of each table and list; 0 stands for as many as can ever be needed, so
// that no region is refused. A run with less is right all the same, and slower.
// The function returns 0 for parameters that tmap_ask_domain_make refuses.
// Cost of capacity 0: 20 bytes for each region that the last level can have, and 16 / r^dims more.
// Example: n = 65536, (16, 4, 16): 22 MB beside the 17 GB of a picture of 32-bit pixels.
TMAP_FN tmap_u64 tmap_ask_workspace_bytes(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_ask_params a,
                                          tmap_u64 capacity) {
    tmap_ask_domain d;
    tmap_u64 table, list;
    if (tmap_ask_domain_make(nx, ny, nz, nz ? 3 : 2, a, &d)) return 0;
    tmapi_ask_capacities(&d, capacity, &table, &list);
    return TMAPI_ASK_ALIGN(sizeof(tmapi_ask_control)) + 2 * TMAPI_ASK_ALIGN(8 * table) +
           2 * TMAPI_ASK_ALIGN(8 * list) + TMAPI_ASK_ALIGN(4 * list);
}

// Makes a workspace in memory of the caller's: `bytes` bytes of device memory at a multiple of 256,
// at least tmap_ask_workspace_bytes. What is left of them stands in out->rest and out->rest_bytes.
// The function returns TMAP_OK, TMAP_EINVAL (a null or misaligned pointer, too few bytes) or what
// tmap_ask_domain_make returns. *out is written only on success.
TMAP_FN int tmap_ask_workspace_set(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_ask_params a,
                                   tmap_u64 capacity, void *memory, tmap_u64 bytes,
                                   tmap_ask_workspace *out) {
    tmap_ask_workspace w;
    unsigned char *at = (unsigned char *)memory;
    tmap_u64 need;
    int error;
    if (!out) return TMAP_EINVAL;
    if ((error = tmap_ask_domain_make(nx, ny, nz, nz ? 3 : 2, a, &w.domain)) != TMAP_OK)
        return error;
    need = tmap_ask_workspace_bytes(nx, ny, nz, a, capacity);
    if (!memory || (tmap_u64)memory % 256 || bytes < need) return TMAP_EINVAL;
    tmapi_ask_capacities(&w.domain, capacity, &w.table_capacity, &w.list_capacity);
    w.memory = memory;
    w.bytes = bytes;
    w.control = (tmapi_ask_control *)at;
    at += TMAPI_ASK_ALIGN(sizeof(tmapi_ask_control));
    w.even = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.table_capacity);
    w.odd = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.table_capacity);
    w.leaf = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.list_capacity);
    w.fill = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.list_capacity);
    w.value = (tmap_u32 *)at;
    w.rest = (unsigned char *)memory + need;
    w.rest_bytes = bytes - need;
    *out = w;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// The CUDA error for a code of the functions above.
static inline cudaError_t tmapi_ask_error(int code) {
    return code == TMAP_OK ? cudaSuccess : cudaErrorInvalidValue;
}

// Makes a workspace in memory that is allocated here, without a rest; the arguments are those of
// tmap_ask_workspace_bytes. The function returns cudaErrorInvalidValue for parameters that are
// refused, else what cudaMalloc returns.
static inline cudaError_t tmap_ask_workspace_create(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz,
                                                    tmap_ask_params a, tmap_u64 capacity,
                                                    tmap_ask_workspace *out) {
    tmap_u64 bytes = tmap_ask_workspace_bytes(nx, ny, nz, a, capacity);
    void *memory = 0;
    cudaError_t status;
    int error;
    if (!out || !bytes) return cudaErrorInvalidValue;
    if ((status = cudaMalloc(&memory, bytes)) != cudaSuccess) return status;
    error = tmap_ask_workspace_set(nx, ny, nz, a, capacity, memory, bytes, out);
    if (error) cudaFree(memory);
    return tmapi_ask_error(error);
}

// Frees the memory that a function named _create allocated.
static inline cudaError_t tmap_ask_workspace_destroy(tmap_ask_workspace *w) {
    cudaError_t status = w ? cudaFree(w->memory) : cudaErrorInvalidValue;
    if (w) w->memory = 0;
    return status;
}

// Reads what the last run with this workspace counted. Where the library chose the subdivision,
// levels are those that had a region, none where nothing was subdivided. The function waits for the
// stream, and returns cudaErrorInvalidValue for a null pointer, else what the copy and the wait
// return.
// Example, n = 1024, (2, 2, 1), dwell 512 on the paper's window: subdivided = 4, 14, 50, 170, ...
static inline cudaError_t tmap_ask_counts_read(const tmap_ask_workspace *w, tmap_ask_counts *out,
                                               cudaStream_t stream) {
    tmapi_ask_control control;
    tmap_ask_counts c;
    cudaError_t status;
    if (!w || !w->memory || !out) return cudaErrorInvalidValue;
    status = cudaMemcpyAsync(&control, w->control, sizeof control, cudaMemcpyDeviceToHost, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    if (status != cudaSuccess) return status;
    c.levels = w->domain.b ? w->domain.levels : 0;
    c.refused = 0;
    for (tmap_u32 l = 0; l < TMAP_ASK_LEVELS_MAX; ++l) {
        const tmapi_ask_level *from = &control.level[l];
        tmap_ask_level_counts *to = &c.level[l];
        to->refused = from->refused;
        to->subdivided = from->subdivided - from->refused;
        to->filled = from->filled;
        to->leaves = from->leaves + from->refused;
        to->empty = from->empty;
        to->regions = to->subdivided + to->filled + to->leaves;
        c.refused += to->refused;
        if (w->domain.b == 0 && to->regions) c.levels = l + 1;
    }
    *out = c;
    return cudaSuccess;
}

#endif

// ---- ask run ------------------------------------------------------------------------------------
//
// What the kernels of a run of ask.h get by value, the types of the functions that a
// problem gives to the engine, and the engine's use of shared memory.

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

// ---- ask plan -----------------------------------------------------------------------------------

#if TMAP_CUDA && !TMAP_NVRTC

// The kernels of a problem. Each is a __global__ function with two parameters, a tmap_ask_run and
// the problem's job, both by value, and calls one function of the engine for all of its threads:
// query tmap_ask_query, finish tmap_ask_finish, share tmap_ask_share.
typedef struct tmap_ask_kernels {
    const void *query, *finish;
    const void *share; // null where no query reads what others have written
    tmap_u32 threads;  // of a block: a multiple of 32 up to 1024; 0 stands for 256
    tmap_u32 scratch; // bytes of shared memory that the functions of the problem want for each warp
} tmap_ask_kernels;

// A kernel of a plan with its launch.
typedef struct tmap_ask_launch {
    const void *kernel; // null: there is none
    tmap_u32 threads;   // of a block
    tmap_u32 blocks;    // the most that are launched: as many as stay resident, since a warp of a
                        // later block would begin when all others are through
    tmap_u32 shared;    // bytes of dynamic shared memory of a block
} tmap_ask_launch;

// The launches of a run: `whole` once, then for each level `query` and `share`, and `finish` once.
// A caller may change run.tuning, and may lower the blocks of a launch; that changes the speed and
// never the result. A plan belongs to the device that was current when it was made.
typedef struct tmap_ask_plan {
    tmap_ask_run run; // what the kernels get, but for the level
    tmap_ask_launch whole, query, share, finish;
} tmap_ask_plan;

// The most elements of a region of a level, or of the whole domain.
static inline tmap_u64 tmapi_ask_volume(const tmap_ask_domain *d, tmap_u32 level) {
    const tmap_u64 parts = level == TMAP_ASK_WHOLE ? 1 : tmap_region_parts(d->g, d->r, level);
    tmap_u64 elements =
        tmapi_region_mul(tmap_region_side_max(d->nx, parts), tmap_region_side_max(d->ny, parts));
    return d->dims == 3 ? tmapi_region_mul(elements, tmap_region_side_max(d->nz, parts)) : elements;
}

// Fills a launch: `threads` threads in a block, `scratch` bytes for each warp, as many blocks as
// this device holds at once. kernel: may be null.
static inline cudaError_t tmapi_ask_launch_make(const void *kernel, tmap_u32 threads,
                                                tmap_u32 scratch, tmap_ask_launch *out) {
    tmap_ask_launch l = {kernel, threads, 0, 0};
    int device, processors, resident = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    l.shared = tmapi_ask_scratch_first(threads) + threads / 32 * scratch;
    if (kernel) {
        status = tmapi_launch_shared(kernel, l.shared);
        if (status != cudaSuccess) return status;
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)threads,
                                                               l.shared);
        if (status != cudaSuccess) return status;
        if (resident < 1) return cudaErrorInvalidConfiguration;
        l.blocks = (tmap_u32)(processors * resident);
    }
    *out = l;
    return cudaSuccess;
}

// Makes the plan of a problem's runs in a workspace, on the current device. Cost: some tens of
// microseconds of the host's; the plan serves any number of runs, with any job.
// The function returns cudaErrorInvalidValue for a null pointer (only kernels->share may be null),
// a workspace without memory, a number of threads that is not a multiple of 32 up to 1024, or more
// than 4096 bytes of scratch; cudaErrorInvalidConfiguration where a multiprocessor does not hold
// one such block; else the first CUDA error. *out is written only on success.
static inline cudaError_t tmap_ask_plan_make(const tmap_ask_workspace *w,
                                             const tmap_ask_kernels *kernels, tmap_ask_plan *out) {
    tmap_ask_plan p;
    tmap_u64 elements;
    tmap_u32 threads;
    cudaError_t status;
    if (!w || !w->memory || !kernels || !out || !kernels->query || !kernels->finish)
        return cudaErrorInvalidValue;
    threads = kernels->threads ? kernels->threads : 256;
    if (threads % 32 || threads > 1024 || kernels->scratch > 4096) return cudaErrorInvalidValue;
    p.run.workspace = *w;
    p.run.tuning = tmap_ask_tuning_make();
    p.run.scratch = (kernels->scratch + 127) / 128 * 128;
    p.run.level = 0;
    status = tmapi_ask_launch_make(kernels->query, threads, p.run.scratch, &p.query);
    if (status != cudaSuccess) return status;
    status = tmapi_ask_launch_make(kernels->share, threads, p.run.scratch, &p.share);
    if (status != cudaSuccess) return status;
    status = tmapi_ask_launch_make(kernels->finish, threads, p.run.scratch, &p.finish);
    if (status != cudaSuccess) return status;
    p.whole = p.share;
    // A warp should find three pieces or more, of 2048 elements at least.
    elements = tmapi_ask_volume(&w->domain, TMAP_ASK_WHOLE) / (threads / 32 * 3) / p.finish.blocks;
    if (elements < 2048) elements = 2048;
    if (elements < p.run.tuning.fill_elements) p.run.tuning.fill_elements = (tmap_u32)elements;
    *out = p;
    return cudaSuccess;
}

// ---- launches -----------------------------------------------------------------------------------

// Launches a kernel of the plan for `items` pieces of work, `per_block` to a block. The result is
// the launch's own: an earlier error of the caller's is neither returned nor cleared.
static inline cudaError_t tmapi_ask_enqueue(const tmap_ask_plan *p, const tmap_ask_launch *l,
                                            tmap_u32 level, tmap_u64 items, tmap_u64 per_block,
                                            const void *job, cudaStream_t stream) {
    const tmap_u64 need = items / per_block + (items % per_block != 0);
    tmap_ask_run run = p->run;
    void *arguments[2];
    if (!l->kernel || !need) return cudaSuccess;
    run.level = level;
    arguments[0] = &run, arguments[1] = (void *)job;
    return cudaLaunchKernel(l->kernel, dim3(need < l->blocks ? (unsigned)need : l->blocks, 1, 1),
                            dim3(l->threads, 1, 1), arguments, l->shared, stream);
}

// The most regions that a level can have.
static inline tmap_u64 tmapi_ask_most(const tmap_ask_domain *d, tmap_u32 level) {
    return tmap_region_olt_size(1, tmap_region_parts(d->g, d->r, level), d->dims);
}

// What comes before the levels: the counters are cleared, and the whole domain is shared.
static inline cudaError_t tmapi_ask_enqueue_first(const tmap_ask_plan *p, const void *job,
                                                  cudaStream_t stream) {
    const tmap_ask_workspace *w = &p->run.workspace;
    cudaError_t status = cudaMemsetAsync(w->control, 0, sizeof *w->control, stream);
    if (status != cudaSuccess) return status;
    return tmapi_ask_enqueue(p, &p->whole, TMAP_ASK_WHOLE,
                             tmapi_ask_volume(&w->domain, TMAP_ASK_WHOLE), p->whole.threads, job,
                             stream);
}

// regions: of the level, at most. A block, a warp or a few lanes take one.
static inline cudaError_t tmapi_ask_enqueue_query(const tmap_ask_plan *p, tmap_u32 level,
                                                  tmap_u64 regions, const void *job,
                                                  cudaStream_t stream) {
    return tmapi_ask_enqueue(p, &p->query, level, regions, 1, job, stream);
}

// subdivided: the regions that the level subdivides, at most.
static inline cudaError_t tmapi_ask_enqueue_share(const tmap_ask_plan *p, tmap_u32 level,
                                                  tmap_u64 subdivided, const void *job,
                                                  cudaStream_t stream) {
    const tmap_u64 each = level == TMAP_ASK_LEVEL_NOW
                              ? 0x1000000 // not known
                              : tmapi_ask_volume(&p->run.workspace.domain, level);
    return tmapi_ask_enqueue(p, &p->share, level, tmapi_region_mul(subdivided, each),
                             p->share.threads, job, stream);
}

static inline cudaError_t tmapi_ask_enqueue_finish(const tmap_ask_plan *p, const void *job,
                                                   cudaStream_t stream) {
    return tmapi_ask_enqueue(p, &p->finish, 0,
                             tmapi_ask_volume(&p->run.workspace.domain, TMAP_ASK_WHOLE),
                             p->finish.threads, job, stream);
}

static inline int tmapi_ask_refused(const tmap_ask_plan *p, const void *job) {
    const tmap_ask_tuning *t;
    if (!p || !job || !p->run.workspace.memory || !p->query.kernel) return 1;
    t = &p->run.tuning;
    return !t->chunk || !t->chunks || !t->chunks_last || !t->fill_elements || !t->fill_warps;
}

// ---- drivers ------------------------------------------------------------------------------------

// Runs a plan: enqueues all levels at once, whose kernels read on the device how many regions there
// are, and returns without waiting. It can be captured into a graph. job: what the kernels get as
// their second parameter, of exactly its type; it is read before the function returns. No memory is
// allocated. Cost: one launch and two for each level, and a memset.
// The function returns cudaErrorInvalidValue for a null pointer or a tuning number of 0, else the
// first error of its own launches.
static inline cudaError_t tmap_ask_stream(const tmap_ask_plan *p, const void *job,
                                          cudaStream_t stream) {
    const tmap_ask_domain *d;
    cudaError_t status;
    if (tmapi_ask_refused(p, job)) return cudaErrorInvalidValue;
    d = &p->run.workspace.domain;
    status = tmapi_ask_enqueue_first(p, job, stream);
    for (tmap_u32 l = 0; l < d->levels && status == cudaSuccess; ++l) {
        const tmap_u64 most = tmapi_ask_most(d, l);
        status = tmapi_ask_enqueue_query(p, l, most, job, stream);
        if (status == cudaSuccess && l + 1 < d->levels)
            status = tmapi_ask_enqueue_share(p, l, most, job, stream);
    }
    return status == cudaSuccess ? tmapi_ask_enqueue_finish(p, job, stream) : status;
}

// Adds the milliseconds since the last mark to level_ms[level], and starts over. It waits.
static inline cudaError_t tmapi_ask_mark(float *level_ms, cudaEvent_t events[2], tmap_u32 level,
                                         cudaStream_t stream) {
    cudaError_t status;
    float ms = 0;
    if (!level_ms) return cudaSuccess;
    if ((status = cudaEventRecord(events[1], stream)) != cudaSuccess) return status;
    if ((status = cudaEventSynchronize(events[1])) != cudaSuccess) return status;
    if ((status = cudaEventElapsedTime(&ms, events[0], events[1])) != cudaSuccess) return status;
    level_ms[level] += ms;
    return cudaEventRecord(events[0], stream);
}

static inline cudaError_t tmapi_ask_levels_by_host(const tmap_ask_plan *p, const void *job,
                                                   float *level_ms, cudaEvent_t events[2],
                                                   cudaStream_t stream) {
    const tmap_ask_workspace *w = &p->run.workspace;
    const tmap_u64 children = tmap_region_olt_size(1, w->domain.r, w->domain.dims);
    tmap_u64 regions = tmapi_ask_most(&w->domain, 0);
    cudaError_t status = tmapi_ask_enqueue_first(p, job, stream);
    for (tmap_u32 l = 0; status == cudaSuccess && regions && l < w->domain.levels; ++l) {
        tmap_u64 subdivided = 0;
        status = tmapi_ask_enqueue_query(p, l, regions, job, stream);
        if (status == cudaSuccess)
            status = cudaMemcpyAsync(&subdivided, &w->control->level[l].subdivided,
                                     sizeof subdivided, cudaMemcpyDeviceToHost, stream);
        if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
        if (subdivided > w->table_capacity) subdivided = w->table_capacity;
        if (status == cudaSuccess) status = tmapi_ask_enqueue_share(p, l, subdivided, job, stream);
        if (status == cudaSuccess) status = tmapi_ask_mark(level_ms, events, l, stream);
        regions = subdivided * children;
    }
    if (status == cudaSuccess) status = tmapi_ask_enqueue_finish(p, job, stream);
    if (status == cudaSuccess) status = tmapi_ask_mark(level_ms, events, w->domain.levels, stream);
    return status;
}

// The same from the host, which reads the count of each level and launches the next one: for times
// of levels, and for devices on which empty launches cost more than waiting. level_ms: null, or
// TMAP_ASK_LEVELS_MAX + 1 numbers, of which the first `levels` become the milliseconds of the
// levels and the next one those of the last launch; level 0 includes what comes before it.
// The function returns what tmap_ask_stream does, or the first error of a copy, a wait or an event.
static inline cudaError_t tmap_ask_host(const tmap_ask_plan *p, const void *job, float *level_ms,
                                        cudaStream_t stream) {
    cudaEvent_t events[2] = {0, 0};
    cudaError_t status = cudaSuccess;
    if (tmapi_ask_refused(p, job)) return cudaErrorInvalidValue;
    if (level_ms) {
        for (tmap_u32 l = 0; l <= p->run.workspace.domain.levels; ++l) level_ms[l] = 0;
        if ((status = cudaEventCreate(&events[0])) != cudaSuccess) return status;
        status = cudaEventCreate(&events[1]);
        if (status == cudaSuccess) status = cudaEventRecord(events[0], stream);
    }
    if (status == cudaSuccess) status = tmapi_ask_levels_by_host(p, job, level_ms, events, stream);
    for (int i = 0; i < 2; ++i)
        if (events[i]) cudaEventDestroy(events[i]);
    return status;
}

#endif

#endif
