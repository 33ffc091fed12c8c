// SPDX-License-Identifier: MIT
// mandelbrot_picture.h: a picture of the Mandelbrot set in float or double: the memory of its
// subdivision, the pixels that a region queries, fills and computes, and how it is subdivided.
#ifndef TMAP_ADAPTIVE_MANDELBROT_PICTURE_H
#define TMAP_ADAPTIVE_MANDELBROT_PICTURE_H

#include "ask_plan.h"

// ---- the picture --------------------------------------------------------------------------------

// Options, a bit each. BULBS: a formula finds the points of the main cardioid and of the disc of
// period 2.
#define TMAP_MANDELBROT_BULBS 1u

// A picture of the Mandelbrot set.
typedef struct tmap_mandelbrot {
    tmap_u32 nx, ny;       // pixels: 1 to 2^24 along each axis
    double x0, x1, y0, y1; // window: pixel (x, y) is c = (x0 + (x1 - x0) / nx x, y0 + ...)
    tmap_u32 dwell;        // most steps of a pixel, 1 to 2^30
    tmap_u32 options;
} tmap_mandelbrot;

// A picture of nx x ny pixels of the paper's window [-1.5, 0.5] x [-1, 1], without options. The
// paper's dwell is 512.
TMAP_FN tmap_mandelbrot tmap_mandelbrot_make(tmap_u32 nx, tmap_u32 ny, tmap_u32 dwell) {
    const tmap_mandelbrot m = {nx, ny, -1.5, 0.5, -1, 1, dwell, 0};
    return m;
}

// Checks a picture. Returns TMAP_OK, or TMAP_EINVAL for a null pointer, a number outside its range
// in tmap_mandelbrot, a window whose sides are not positive and finite, or an unknown option.
TMAP_FN int tmap_mandelbrot_check(const tmap_mandelbrot *m) {
    const tmap_u32 most = 1u << 24;
    if (!m || m->nx - 1 >= most || m->ny - 1 >= most) return TMAP_EINVAL;
    if (m->dwell - 1 >= 1u << 30 || m->options > TMAP_MANDELBROT_BULBS) return TMAP_EINVAL;
    if (!(m->x0 < m->x1) || !(m->y0 < m->y1)) return TMAP_EINVAL; // NaN is not less either
    if (!(m->x1 - m->x0 < 1e300) || !(m->y1 - m->y0 < 1e300)) return TMAP_EINVAL;
    return TMAP_OK;
}

// ---- the workspace ------------------------------------------------------------------------------
//
// A column of pixels touches a row of memory for each pixel, so the columns of borders have their
// own memory in the rest of the workspace. Without a rest, or with more regions side by side than
// pixels, they are kept in the picture, which is slower.

// Pixels before the first one of a column, and pitch of columns: what a region reads of a column
// begins at a multiple of 16 bytes.
#define TMAPI_MANDELBROT_ABOVE 3
TMAP_FN tmap_u32 tmapi_mandelbrot_pitch(tmap_u32 ny) {
    return (ny + TMAPI_MANDELBROT_ABOVE + 3) / 4 * 4;
}

// Bytes of the columns: 4 (ny + 3), rounded up to 16, for each column of regions of the last level
// and for one more. 0: they are kept in the picture.
TMAP_FN tmap_u64 tmapi_mandelbrot_columns(const tmap_ask_domain *d) {
    const tmap_u64 parts = tmap_region_parts(d->g, d->r, d->levels - 1);
    return parts > d->nx ? 0 : (parts + 1) * tmapi_mandelbrot_pitch(d->ny) * sizeof(int);
}

// The box of a picture; empty for one that tmap_mandelbrot_check refuses.
TMAP_FN tmap_ask_box tmapi_mandelbrot_box(const tmap_mandelbrot *m) {
    tmap_ask_box box = {0, 0, 0};
    if (tmap_mandelbrot_check(m) == TMAP_OK) box.nx = m->nx, box.ny = m->ny;
    return box;
}

// Bytes of device memory of a workspace for this picture: those of tmap_ask_workspace_bytes, with
// its parameters, and the columns of borders. Returns 0 for refused arguments. Example: 16384 x
// 16384, (16, 4, 4), capacity 0: 89212688.
TMAP_FN tmap_u64 tmap_mandelbrot_workspace_bytes(const tmap_mandelbrot *m, tmap_ask_params a,
                                                 tmap_u64 capacity) {
    const tmap_ask_box box = tmapi_mandelbrot_box(m);
    tmap_ask_domain d;
    if (tmap_ask_domain_make(box, a, &d)) return 0;
    return tmap_ask_workspace_bytes(box, a, capacity) + tmapi_mandelbrot_columns(&d);
}

// Makes a workspace for a picture in memory of your own: tmap_ask_workspace_set, with TMAP_EINVAL
// if the memory is smaller than tmap_mandelbrot_workspace_bytes.
TMAP_FN int tmap_mandelbrot_workspace_set(const tmap_mandelbrot *m, tmap_ask_params a,
                                          tmap_u64 capacity, tmap_workspace memory,
                                          tmap_ask_workspace *out) {
    if (memory.bytes < tmap_mandelbrot_workspace_bytes(m, a, capacity)) return TMAP_EINVAL;
    return tmap_ask_workspace_set(tmapi_mandelbrot_box(m), a, capacity, memory, out);
}

#if TMAP_CUDA && !TMAP_NVRTC
// Allocates device memory and makes a workspace for a picture in it; tmap_ask_workspace_destroy
// frees it. Returns cudaErrorInvalidValue for refused arguments, else the result of cudaMalloc.
static inline cudaError_t tmap_mandelbrot_workspace_create(const tmap_mandelbrot *m,
                                                           tmap_ask_params a, tmap_u64 capacity,
                                                           tmap_ask_workspace *out) {
    const tmap_u64 bytes = tmap_mandelbrot_workspace_bytes(m, a, capacity);
    return tmapi_ask_workspace_allocate(tmapi_mandelbrot_box(m), a, capacity, bytes, out);
}
#endif

// ---- where pixels are kept ----------------------------------------------------------------------

// Bytes of a warp's scratch: 64 queued pixels (mandelbrot_stamp.h).
#define TMAPI_MANDELBROT_SCRATCH 2048

// The first member of the job for either type of numbers.
typedef struct tmapi_mandelbrot_canvas {
    tmap_u32 nx, ny;
    int dwell;
    tmap_u32 options;
    int *out, *columns; // columns of borders; null: they are kept in the picture
    tmap_u32 pitch;     // of columns
    int special;        // 0: every pixel is steady, and no formula is used
} tmapi_mandelbrot_canvas;

#if TMAP_CUDA

// The column number of a pixel that is kept in the picture.
#define TMAPI_MANDELBROT_PICTURE 0xffffffffu

// Address of pixel (x, y). column: TMAPI_MANDELBROT_PICTURE or the number of a column.
TMAP_DEVICE int *tmapi_mandelbrot_kept(const tmapi_mandelbrot_canvas *p, tmap_u32 x, tmap_u32 y,
                                       tmap_u32 column) {
    return column != TMAPI_MANDELBROT_PICTURE && p->columns
               ? p->columns + (tmap_u64)column * p->pitch + y + TMAPI_MANDELBROT_ABOVE
               : p->out + (tmap_u64)y * p->nx + x;
}

// A region with its border: pixels x0 to x1 and y0 to y1, both included.
typedef struct tmapi_mandelbrot_ring {
    tmap_u32 x0, x1, y0, y1;
} tmapi_mandelbrot_ring;

TMAP_DEVICE tmapi_mandelbrot_ring tmapi_mandelbrot_closed(const tmapi_mandelbrot_canvas *p,
                                                          const tmap_ask_region *t) {
    const tmapi_mandelbrot_ring b = {t->x0, t->x1 < p->nx ? t->x1 : p->nx - 1, t->y0,
                                     t->y1 < p->ny ? t->y1 : p->ny - 1};
    return b;
}

// ---- querying and filling -----------------------------------------------------------------------

// Reads of a border that a lane has in flight.
#define TMAPI_MANDELBROT_READS 4

// The range of the thread's part of a region's border: a quarter of the team walks each side, with
// TMAPI_MANDELBROT_READS reads in flight, of four pixels each at a multiple of 16 bytes.
TMAP_DEVICE tmap_ask_range tmapi_mandelbrot_query(const void *job, const tmap_ask_region *region,
                                                  tmap_ask_team team) {
    const tmapi_mandelbrot_canvas *p = (const tmapi_mandelbrot_canvas *)job;
    const tmapi_mandelbrot_ring ring = tmapi_mandelbrot_closed(p, region);
    const tmap_u32 side = team.rank % 4, part = team.rank / 4, parts = team.size / 4;
    const int column = side >= 2, last = side & 1;
    const tmap_u32 across = ring.x1 - ring.x0 + 1, down = ring.y1 - ring.y0 + 1;
    const tmap_u32 count = !column ? across : down > 1 ? down - 2 : 0; // corners are in rows
    const tmap_u32 most = across > down ? across : down;
    const tmap_u32 x0 = column && last ? ring.x1 : ring.x0;
    const tmap_u32 y0 = column ? ring.y0 + 1 : last ? ring.y1 : ring.y0;
    const tmap_u32 kept =
        column ? (region->px + (tmap_u32)last) * region->fine : TMAPI_MANDELBROT_PICTURE;
    const int *at = tmapi_mandelbrot_kept(p, x0, y0, kept);
    const tmap_u64 step = column && !p->columns ? p->nx : 1;
    // For all sides or none, so that lanes do not diverge: the regions of a level are similar.
    const int wide = __all_sync(team.lanes, step == 1 && (tmap_u64)at % 16 == 0);
    const tmap_u32 each = wide ? 4 : 1, turn = each * parts;
    const tmap_u32 corner = (tmap_u32)p->out[(tmap_u64)ring.y0 * p->nx + ring.x0];
    tmap_ask_range range = {corner, corner};
    for (tmap_u32 i = each * part; i - each * part < most; i += TMAPI_MANDELBROT_READS * turn) {
        int4 v[TMAPI_MANDELBROT_READS];
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_MANDELBROT_READS; ++k) {
            const tmap_u32 x = i + k * turn;
            v[k].x = v[k].y = v[k].z = v[k].w = (int)corner;
            if (wide && x + 4 <= count)
                v[k] = *(const int4 *)(at + x);
            else if (x < count) { // one, or the last few
                v[k].x = at[step * x];
                if (wide && x + 1 < count) v[k].y = at[x + 1];
                if (wide && x + 2 < count) v[k].z = at[x + 2];
            }
        }
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_MANDELBROT_READS; ++k) {
            range = tmap_ask_range_add(range, (tmap_u32)v[k].x);
            range = tmap_ask_range_add(range, (tmap_u32)v[k].y);
            range = tmap_ask_range_add(range, (tmap_u32)v[k].z);
            range = tmap_ask_range_add(range, (tmap_u32)v[k].w);
        }
        if (__any_sync(team.lanes, range.least != range.most)) break;
    }
    return range;
}

// Writes the thread's part of `count` columns of `height` rows, several rows at a time. wide: a
// constant, 1 if a column has four pixels.
TMAP_DEVICE void tmapi_mandelbrot_fill(int *corner, tmap_u32 nx, tmap_u32 count, tmap_u32 height,
                                       int value, tmap_ask_team team, const int wide) {
    const tmap_u32 side = count < team.size ? count : team.size, rows = team.size / side;
    const tmap_u32 row = team.rank / side, first = team.rank - row * side;
    const tmap_u64 step = nx;
    if (row >= rows) return;
    for (tmap_u32 x = first; x < count; x += side) {
        int *at = corner + step * row + (wide ? 4 : 1) * x;
        for (tmap_u32 y = row; y < height; y += rows, at += step * rows) {
            if (wide)
                *(int4 *)at = make_int4(value, value, value, value);
            else
                *at = value;
        }
    }
}

// Fills a uniform region, 16 bytes at a time if rows permit.
TMAP_DEVICE void tmapi_mandelbrot_terminal(const void *job, const tmap_ask_region *region,
                                           tmap_u32 value, tmap_ask_team team) {
    const tmapi_mandelbrot_canvas *p = (const tmapi_mandelbrot_canvas *)job;
    const tmap_u32 width = region->x1 - region->x0, height = region->y1 - region->y0;
    const int wide = p->nx % 4 == 0 && (tmap_u64)p->out % 16 == 0, v = (int)value;
    tmap_u32 head = wide ? (0 - region->x0) & 3u : width, vectors, tail;
    int *corner = p->out + (tmap_u64)region->y0 * p->nx + region->x0;
    if (head > width) head = width;
    vectors = (width - head) / 4;
    tail = width - head - 4 * vectors;
    if (vectors) tmapi_mandelbrot_fill(corner + head, p->nx, vectors, height, v, team, 1);
    if (head) tmapi_mandelbrot_fill(corner, p->nx, head, height, v, team, 0);
    if (tail) tmapi_mandelbrot_fill(corner + width - tail, p->nx, tail, height, v, team, 0);
}

// Fills a uniform region with the shortest code, for the kernel that queries.
TMAP_DEVICE void tmapi_mandelbrot_terminal_short(const void *job, const tmap_ask_region *region,
                                                 tmap_u32 value, tmap_ask_team team) {
    const tmapi_mandelbrot_canvas *p = (const tmapi_mandelbrot_canvas *)job;
    for (tmap_u32 y = region->y0; y < region->y1; ++y)
        for (tmap_u32 x = region->x0 + team.rank; x < region->x1; x += team.size)
            p->out[(tmap_u64)y * p->nx + x] = (int)value;
}

// ---- pixels that a region computes --------------------------------------------------------------

// Kinds of work: the lines between a region's children; the pixels inside a leaf's border.
#define TMAPI_MANDELBROT_SHARE 0
#define TMAPI_MANDELBROT_LEAF  1

// The most pixels of a leaf's column, or lines between children, that a lane takes one after the
// other; fewer if it would do so less than TURNS times.
#define TMAPI_MANDELBROT_ROWS  15
#define TMAPI_MANDELBROT_TURNS 16

// The pixels of a kind of work in a region: `wide` in each row (of a leaf) or line (between
// children, first along x, then along y), and `parts` elements for those of one column. An element
// is every parts-th of its pixels, `rows` at most.
typedef struct tmapi_mandelbrot_runs {
    tmap_u32 wide, parts, rows;
} tmapi_mandelbrot_runs;

// kind: a constant. A leaf has at least one column, because its first one may have to be copied.
TMAP_DEVICE tmapi_mandelbrot_runs tmapi_mandelbrot_runs_of(const tmap_ask_extent *e, int kind) {
    const tmap_xyz *s = &e->sides;
    // The complete domain also has its first and its last line.
    const tmap_u32 lines = e->level == TMAP_ASK_WHOLE ? e->parts + 1 : e->parts - 1;
    const tmap_u32 wide = kind == TMAPI_MANDELBROT_SHARE ? s->x + s->y : s->x > 1 ? s->x - 1 : 1;
    const tmap_u32 high = kind == TMAPI_MANDELBROT_SHARE ? lines : s->y - 1;
    const tmap_u64 rows =
        (tmap_u64)wide * high * e->regions / ((tmap_u64)e->warps * (32 * TMAPI_MANDELBROT_TURNS));
    const tmap_u32 most = tmapi_ask_within(rows, TMAPI_MANDELBROT_ROWS);
    tmapi_mandelbrot_runs a = {wide, 0, 0};
    a.parts = (high + most - 1) / most;
    if (a.parts > 0x7fffffffu / wide) a.parts = 0x7fffffffu / wide;
    a.rows = a.parts ? (high + a.parts - 1) / a.parts : 0;
    return a;
}

TMAP_DEVICE tmap_u32 tmapi_mandelbrot_share_elements(const void *, const tmap_ask_extent *e) {
    const tmapi_mandelbrot_runs a = tmapi_mandelbrot_runs_of(e, TMAPI_MANDELBROT_SHARE);
    return a.wide * a.parts;
}
TMAP_DEVICE tmap_u32 tmapi_mandelbrot_leaf_elements(const void *, const tmap_ask_extent *e) {
    const tmapi_mandelbrot_runs a = tmapi_mandelbrot_runs_of(e, TMAPI_MANDELBROT_LEAF);
    return a.wide * a.parts;
}

// A lane's position in its element. In a leaf: at (x, y), y below `end`. Between children: at `x`
// along line number y of an axis, y below `end`; `border` is the position of the region's border.
typedef struct tmapi_mandelbrot_run {
    tmap_u32 x, y, end;
    tmap_u32 left;   // pixels; this and the next two are the same in all lanes
    tmap_u32 queued; // pixels in the queue
    int more;        // elements may remain
    int upright;     // the line is a column
    tmap_u32 border;
    tmapi_ask_axis axis;
} tmapi_mandelbrot_run;

// Begins element i of a leaf. Copies the lane's part of the leaf's first column into the picture,
// and of the picture's last column if the leaf ends there.
TMAP_DEVICE void tmapi_mandelbrot_leaf_begin(const tmapi_mandelbrot_canvas *p,
                                             const tmap_ask_work *work, tmapi_ask_divider wide,
                                             tmap_u32 parts, tmap_u32 i,
                                             tmapi_mandelbrot_run *run) {
    const tmap_ask_region *t = &work->region;
    const tmapi_mandelbrot_ring ring = tmapi_mandelbrot_closed(p, t);
    const tmap_u32 left = t->px * t->fine, right = left + t->fine;
    tmap_u32 rest;
    run->y = t->y0 + 1 + tmapi_ask_divide(wide, i, &rest);
    run->x = t->x0 + 1 + rest;
    run->end = run->x < ring.x1 ? ring.y1 : 0;
    for (tmap_u32 y = t->y0 + 1 + i; p->columns && y < ring.y1; y += wide.by * parts) {
        p->out[(tmap_u64)y * p->nx + t->x0] = *tmapi_mandelbrot_kept(p, t->x0, y, left);
        if (t->x1 == p->nx)
            p->out[(tmap_u64)y * p->nx + ring.x1] = *tmapi_mandelbrot_kept(p, ring.x1, y, right);
    }
}

// Begins element i of the lines between children: rows with their ends, columns without.
TMAP_DEVICE void tmapi_mandelbrot_share_begin(const tmapi_mandelbrot_canvas *p,
                                              const tmap_ask_work *work, tmapi_ask_divider wide,
                                              tmap_u32 i, tmapi_mandelbrot_run *run) {
    const tmap_ask_region *t = &work->region;
    const tmapi_mandelbrot_ring ring = tmapi_mandelbrot_closed(p, t);
    const tmap_u32 whole = t->level == TMAP_ASK_WHOLE, parts = work->extent.parts;
    tmap_u32 rest, line = 1 - whole + tmapi_ask_divide(wide, i, &rest);
    int outside;
    run->upright = rest > work->extent.sides.x;
    if (run->upright) {
        run->x = t->y0 + rest - work->extent.sides.x;
        run->y = t->px * parts, run->axis = work->common->child.x, run->border = ring.x1;
    } else {
        run->x = t->x0 + rest;
        run->y = t->py * parts, run->axis = work->common->child.y, run->border = ring.y1;
    }
    outside = run->upright ? run->x >= ring.y1 : run->x > ring.x1;
    run->end = outside ? 0 : run->y + parts + whole;
    run->y += line;
}

#endif // TMAP_CUDA

// ---- the choice of a subdivision ----------------------------------------------------------------
//
// For parameters (0, 0, 0), the host samples some pixels, predicts times and chooses the least.

#if TMAP_CUDA && !TMAP_NVRTC

// Groups of pixels along each axis, the distance between those of a group, and the most steps.
#define TMAPI_MANDELBROT_GROUPS 16
#define TMAPI_MANDELBROT_APART  16
#define TMAPI_MANDELBROT_LOOK   512

// Statistics of a picture on a device. Dwells are approximate: rounding differs from the kernels.
typedef struct tmapi_mandelbrot_case {
    double steps;  // of a pixel: its dwell
    double taken;  // steps until a point returns to an earlier position, which ends it
    double mixed;  // fraction of groups with several dwells
    double rough;  // steps taken by pixels of these groups, over all groups
    double coarse; // fraction of neighbouring groups with several dwells
    double most;   // steps taken by any pixel
    double warps, longest, dwell;
    double rate;   // warp instructions a microsecond
    double weight; // instructions that take the time of a step in these numbers
    double around; // nx + ny, in warps
    int odd;       // rows of regions begin anywhere
    int tip;       // the end of the set at c = -2 is in the window: every step is tested
} tmapi_mandelbrot_case;

// Computes the dwells of pixels (x, y), (x + 16, y) and (x, y + 16); returns the first's steps.
typedef int (*tmapi_mandelbrot_look)(const void *job, double x, double y, int dwell[3]);

// Samples groups of three pixels all over the picture. wide: 1: numbers are doubles.
static inline tmapi_mandelbrot_case tmapi_mandelbrot_case_of(const tmap_mandelbrot *m,
                                                             const tmap_device_facts *device,
                                                             int wide, tmapi_mandelbrot_look look,
                                                             const void *job) {
    enum { GROUPS = TMAPI_MANDELBROT_GROUPS };
    tmapi_mandelbrot_case c = {};
    int all[GROUPS * GROUPS];
    for (int group = 0; group < GROUPS * GROUPS; ++group) {
        // A position in a cell of the picture: fractions of multiples of two irrational numbers.
        const double in_x = group * 0.6180339887, in_y = group * 0.7548776662;
        int dwell[3];
        const int taken = look(job, (group % GROUPS + in_x - (int)in_x) * m->nx / GROUPS,
                               (group / GROUPS + in_y - (int)in_y) * m->ny / GROUPS, dwell);
        const int *above = all + group - GROUPS;
        all[group] = dwell[0];
        c.steps += dwell[0], c.taken += taken;
        if (dwell[0] != dwell[1] || dwell[0] != dwell[2]) c.mixed += 1, c.rough += taken;
        if (c.most < taken) c.most = taken;
        if (group >= GROUPS && group % GROUPS < GROUPS - 1)
            c.coarse += above[0] != above[1] || above[0] != dwell[0];
    }
    c.coarse /= (GROUPS - 1) * (GROUPS - 1);
    c.steps /= GROUPS * GROUPS, c.taken /= GROUPS * GROUPS;
    c.mixed /= GROUPS * GROUPS, c.rough /= GROUPS * GROUPS;
    c.warps = (double)m->nx * m->ny / 32;
    c.around = ((double)m->nx + m->ny) / 32;
    c.longest = m->nx > m->ny ? m->nx : m->ny;
    c.dwell = m->dwell;
    c.rate = device->processors * 7900.0; // four a clock, at nearly 2 GHz
    c.weight = wide && device->floats_per_double > 1 ? device->floats_per_double : 1;
    c.odd = m->nx % 64 != 0;
    c.tip = m->x0 < -1.98 && m->x1 > -1.98 && m->y0 <= 0 && m->y1 >= 0;
    return c;
}

// The fraction of regions with this side that have several dwells. It grows by the same factor with
// each doubling of the side, from groups to neighbouring groups. If dwells differ at all, it is at
// least a line of regions across the picture, which a survey may miss.
static inline double tmapi_mandelbrot_mixed(const tmapi_mandelbrot_case *c, double side) {
    const double far = c->longest / TMAPI_MANDELBROT_GROUPS;
    double part = c->mixed > 0.002 ? c->mixed : 0.002, factor = 1.1, coarse = 0, x;
    if (c->mixed + c->coarse == 0) return 0;
    for (; factor < 1.6; factor += 0.02) {
        coarse = part;
        for (x = TMAPI_MANDELBROT_APART; x < far; x *= 2) coarse *= factor;
        if (coarse >= c->coarse) break;
    }
    for (x = side / TMAPI_MANDELBROT_APART; x >= 2; x /= 2) part *= factor;
    for (; x < 1; x *= 2) part /= factor;
    part *= 1 + (factor - 1) * (x - 1);
    if (part < side / c->longest) part = side / c->longest;
    return part < 1 ? part : 1;
}

// Microseconds of a subdivision with r = 4, and of a launch without one. The numbers are fitted to
// 3000 pictures of nine windows in both types, with sides from 1000 to 16384, on an H200; errors of
// a sixth are common.
static inline double tmapi_mandelbrot_ask_cost(const tmapi_mandelbrot_case *c, tmap_u32 g,
                                               tmap_u32 levels) {
    const double rough = c->mixed > 0 ? c->rough / c->mixed : c->taken; // steps of a leaf's pixel
    double side = c->longest / g, lines = 0, leaves, fill, work;
    for (tmap_u32 l = 1; l < levels; ++l) { // lines between the children of mixed regions
        lines += 2 * 0.75 * tmapi_mandelbrot_mixed(c, side) / (side / 4);
        side /= 4;
    }
    leaves = tmapi_mandelbrot_mixed(c, side);
    fill = 34.5 + (c->odd ? 60 + 305 / side : 0);
    work = c->around * g * (742 + 5.1 * c->weight * c->taken) +
           c->warps *
               (344 * c->weight * lines + leaves * (302 + c->weight * (92 + 6.4 * rough)) + fill);
    return 11 + 14.8 * levels + work / c->rate + 0.0141 * c->weight * c->most +
           (c->tip ? 0.03 * c->dwell : 0);
}

static inline double tmapi_mandelbrot_plain_cost(const tmapi_mandelbrot_case *c) {
    const double pixel = c->taken < 8 ? 47 : 57;
    const double steps = 3.5 * c->taken + 2 * c->steps + 8.1 * c->rough;
    return 3.5 + c->warps * (pixel + c->weight * steps) / c->rate + 0.0055 * c->weight * c->most +
           (c->tip ? 0.037 * c->dwell : 0);
}

// Chooses how a picture is computed: returns the width of a block of pixels, or 0 for a
// subdivision. *d: the workspace's subdivision, the finest one; a coarser one may replace it.
static inline tmap_u32 tmapi_mandelbrot_choose(const tmapi_mandelbrot_case *c, tmap_ask_domain *d) {
    // Parts of level 0 in eighths of those of the finest one, and additional levels. The last one
    // is for a picture that is nearly uniform: one level of 8 parts.
    static const int others[][2] = {{2, 1}, {4, 0}, {1, 1}, {16, -1}, {0, 0}};
    const tmap_ask_domain finest = *d;
    double best = tmapi_mandelbrot_ask_cost(c, d->g, d->levels), now;
    for (int i = 0; i < 5; ++i) {
        tmap_ask_domain other = finest;
        other.g = others[i][0] ? finest.g * (tmap_u32)others[i][0] / 8 : 8;
        other.levels = others[i][0] ? finest.levels + (tmap_u32)others[i][1] : 1;
        if (other.g < 2 || other.g > 128 || other.levels < 1 || tmapi_ask_too_large(&other) ||
            (!others[i][0] && finest.g < 8))
            continue;
        now = tmapi_mandelbrot_ask_cost(c, other.g, other.levels);
        if (now < best) best = now, *d = other;
    }
    if (tmapi_mandelbrot_plain_cost(c) >= best) return 0;
    return c->taken < 8 && c->warps > 20000 ? 32 : 16;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
