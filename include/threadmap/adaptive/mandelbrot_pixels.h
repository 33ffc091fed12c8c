// SPDX-License-Identifier: MIT
// mandelbrot_pixels.h: of mandelbrot.h: the picture and its workspace, the definition of a pixel,
// and the pixels of a region on the device.
#ifndef TMAP_ADAPTIVE_MANDELBROT_PIXELS_H
#define TMAP_ADAPTIVE_MANDELBROT_PIXELS_H

#include "ask_plan.h"

// ---- the picture --------------------------------------------------------------------------------

// Options, a bit each. BULBS: a formula finds the points of the main cardioid and of the disc of
// period 2. F64: all numbers are doubles.
#define TMAP_MANDELBROT_BULBS 1u
#define TMAP_MANDELBROT_F64   2u

// A picture of the Mandelbrot set.
typedef struct tmap_mandelbrot {
    tmap_u32 nx, ny;       // pixels: 1 to 2^24 along each axis
    double x0, x1, y0, y1; // window: pixel (x, y) is c = (x0 + (x1 - x0) / nx x, y0 + ...)
    tmap_u32 dwell;        // most steps of a pixel, 1 to 2^30
    tmap_u32 options;
} tmap_mandelbrot;

// nx x ny pixels of the paper's window [-1.5, 0.5] x [-1, 1], no options. The paper's dwell is 512.
TMAP_FN tmap_mandelbrot tmap_mandelbrot_make(tmap_u32 nx, tmap_u32 ny, tmap_u32 dwell) {
    const tmap_mandelbrot m = {nx, ny, -1.5, 0.5, -1, 1, dwell, 0};
    return m;
}

// Checks a picture. Returns TMAP_OK, or TMAP_EINVAL for a null pointer, a number outside its range
// in tmap_mandelbrot, a window whose sides are not positive and finite, or an unknown option.
TMAP_FN int tmap_mandelbrot_check(const tmap_mandelbrot *m) {
    const tmap_u32 most = 1u << 24;
    if (!m || m->nx - 1 >= most || m->ny - 1 >= most) return TMAP_EINVAL;
    if (m->dwell - 1 >= 1u << 30 || m->options > 3) return TMAP_EINVAL;
    if (!(m->x0 < m->x1) || !(m->y0 < m->y1)) return TMAP_EINVAL; // NaN is not less either
    if (!(m->x1 - m->x0 < 1e300) || !(m->y1 - m->y0 < 1e300)) return TMAP_EINVAL;
    return TMAP_OK;
}

// ---- the workspace ------------------------------------------------------------------------------
//
// A column of pixels touches a row of memory for each pixel, so the columns of borders have their
// own memory in the rest of the workspace. Without a rest, or with more regions side by side than
// pixels, they are kept in the picture, which is slower.

// Pixels before a column's first one, and pitch: a region reads from a multiple of 16 bytes on.
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

#if TMAP_CUDA

// ---- numbers ------------------------------------------------------------------------------------
//
// A number of a picture: `f` or, with f64 = 1, `d`; the other one is 0. Kernels pass f64 as a
// constant, so that a number has the registers of its type and an operation is one instruction.
typedef struct tmapi_real {
    float f;
    double d;
} tmapi_real;

TMAP_FN tmapi_real tmapi_real_of(int f64, double x) {
    const tmapi_real r = {f64 ? 0 : (float)x, f64 ? x : 0};
    return r;
}
TMAP_FN tmapi_real tmapi_real_add(int f64, tmapi_real a, tmapi_real b) {
    const tmapi_real r = {f64 ? 0 : a.f + b.f, f64 ? a.d + b.d : 0};
    return r;
}

// A product that no compiler fuses with an addition.
TMAP_FN tmapi_real tmapi_real_mul(int f64, tmapi_real a, tmapi_real b) {
#if defined(__CUDA_ARCH__)
    const tmapi_real r = {f64 ? 0 : __fmul_rn(a.f, b.f), f64 ? __dmul_rn(a.d, b.d) : 0};
#else
    const tmapi_real r = {f64 ? 0 : a.f * b.f, f64 ? a.d * b.d : 0};
#endif
    return r;
}

// a b + c, rounded once.
TMAP_FN tmapi_real tmapi_real_fma(int f64, tmapi_real a, tmapi_real b, tmapi_real c) {
    const tmapi_real r = {f64 ? 0 : fmaf(a.f, b.f, c.f), f64 ? fma(a.d, b.d, c.d) : 0};
    return r;
}

// a <= b; 0 with NaN.
TMAP_FN int tmapi_real_at_most(int f64, tmapi_real a, tmapi_real b) {
    return f64 ? a.d <= b.d : a.f <= b.f;
}

// ---- the definition -----------------------------------------------------------------------------

// A picture, as the kernels receive it: c = (x0 + dx x, y0 + dy y), each rounded once.
typedef struct tmapi_mandelbrot_job {
    tmap_u32 nx, ny;
    int dwell;
    tmap_u32 options;
    int *out, *columns; // columns of borders; null: they are kept in the picture
    tmap_u32 pitch;     // of columns
    int special;        // 0: every pixel is steady, and no formula is used
    int f64;
    tmapi_real x0, y0, dx, dy;
    tmap_u32 origin_x, origin_y; // the origin is from this line on and before the next one
    tmap_u32 part, parts;        // of the rows of blocks, without a subdivision
} tmapi_mandelbrot_job;

// A point of the plane.
typedef struct tmapi_mandelbrot_z {
    tmapi_real re, im;
} tmapi_mandelbrot_z;

// Line number i of the picture: begin + i side.
TMAP_FN tmapi_real tmapi_mandelbrot_line(int f64, tmap_u32 i, tmapi_real side, tmapi_real begin) {
    const tmapi_real at = {f64 ? 0 : (float)i, f64 ? (double)i : 0};
    return tmapi_real_fma(f64, at, side, begin);
}

// The point c of pixel (x, y).
TMAP_FN tmapi_mandelbrot_z tmapi_mandelbrot_c(const tmapi_mandelbrot_job *p, tmap_u32 x,
                                              tmap_u32 y) {
    const tmapi_mandelbrot_z c = {tmapi_mandelbrot_line(p->f64, x, p->dx, p->x0),
                                  tmapi_mandelbrot_line(p->f64, y, p->dy, p->y0)};
    return c;
}

// |z|^2 < limit, with the product of imaginary parts rounded before the fused addition; 0 with NaN.
TMAP_FN int tmapi_mandelbrot_within(int f64, tmapi_mandelbrot_z z, double limit) {
    const tmapi_real norm = tmapi_real_fma(f64, z.re, z.re, tmapi_real_mul(f64, z.im, z.im));
    return f64 ? norm.d < limit : norm.f < (float)limit;
}

// |z| < 2. NaN has escaped.
TMAP_FN int tmapi_mandelbrot_inside(int f64, tmapi_mandelbrot_z z) {
    return tmapi_mandelbrot_within(f64, z, 4);
}

// z = z^2 + c in three fused operations and an exact sum, in this order.
TMAP_FN void tmapi_mandelbrot_step(int f64, tmapi_mandelbrot_z *z, tmapi_mandelbrot_z c) {
    const tmapi_real twice = tmapi_real_add(f64, z->re, z->re), minus = {-z->im.f, -z->im.d};
    const tmapi_real t = tmapi_real_fma(f64, z->re, z->re, c.re);
    z->re = tmapi_real_fma(f64, minus, z->im, t);
    z->im = tmapi_real_fma(f64, twice, z->im, c.im);
}

// 1 if a formula shows that the point never escapes: the main cardioid and the disc of period 2.
TMAP_FN int tmapi_mandelbrot_known(const tmapi_mandelbrot_job *p, tmapi_mandelbrot_z c) {
    const int f64 = p->f64;
    const tmapi_real x = tmapi_real_add(f64, c.re, tmapi_real_of(f64, -0.25));
    const tmapi_real x1 = tmapi_real_add(f64, c.re, tmapi_real_of(f64, 1));
    const tmapi_real y2 = tmapi_real_mul(f64, c.im, c.im), q = tmapi_real_fma(f64, x, x, y2);
    return (p->options & TMAP_MANDELBROT_BULBS) &&
           (tmapi_real_at_most(f64, tmapi_real_mul(f64, q, tmapi_real_add(f64, q, x)),
                               tmapi_real_mul(f64, y2, tmapi_real_of(f64, 0.25))) ||
            tmapi_real_at_most(f64, tmapi_real_fma(f64, x1, x1, y2), tmapi_real_of(f64, 0.0625)));
}

// The dwell by its definition, from z after d steps on.
TMAP_FN int tmapi_mandelbrot_tested(const tmapi_mandelbrot_job *p, tmapi_mandelbrot_z c,
                                    tmapi_mandelbrot_z z, int d) {
    for (; d < p->dwell && tmapi_mandelbrot_inside(p->f64, z); ++d)
        tmapi_mandelbrot_step(p->f64, &z, c);
    return d;
}

// The dwell of pixel (x, y) with a test in every step.
TMAP_FN int tmapi_mandelbrot_dwell(const tmapi_mandelbrot_job *p, tmap_u32 x, tmap_u32 y) {
    const tmapi_mandelbrot_z c = tmapi_mandelbrot_c(p, x, y);
    return tmapi_mandelbrot_known(p, c) ? p->dwell : tmapi_mandelbrot_tested(p, c, c, 0);
}

// 1 if a point that has escaped remains beyond 2 whatever the rounding: |z'| >= |z|^2 - |c| grows
// by more than rounding errors if |c| is not close to 2.
TMAP_FN int tmapi_mandelbrot_steady(int f64, tmapi_mandelbrot_z c) {
    return tmapi_mandelbrot_within(f64, c, 3.9);
}

// Of n lines, the last one that is not beyond 0; 0xffffffff if 0 is not between two of them.
TMAP_FN tmap_u32 tmapi_mandelbrot_origin(tmap_u32 n, tmapi_real side, tmapi_real begin) {
    const double at = -((double)begin.f + begin.d) / ((double)side.f + side.d);
    return at >= 0 && at < (double)n - 1 ? (tmap_u32)at : 0xffffffffu; // NaN is not less either
}

// The job of a picture; the side of a pixel is divided in double.
TMAP_FN tmapi_mandelbrot_job tmapi_mandelbrot_job_make(const tmap_mandelbrot *m) {
    const int f64 = (m->options & TMAP_MANDELBROT_F64) != 0;
    tmapi_mandelbrot_job p;
    p.nx = m->nx, p.ny = m->ny;
    p.dwell = (int)m->dwell;
    p.options = m->options;
    p.out = p.columns = 0;
    p.pitch = tmapi_mandelbrot_pitch(m->ny);
    p.f64 = f64, p.part = 0, p.parts = 1;
    p.x0 = tmapi_real_of(f64, m->x0), p.dx = tmapi_real_of(f64, (m->x1 - m->x0) / m->nx);
    p.y0 = tmapi_real_of(f64, m->y0), p.dy = tmapi_real_of(f64, (m->y1 - m->y0) / m->ny);
    p.origin_x = tmapi_mandelbrot_origin(m->nx, p.dx, p.x0);
    p.origin_y = tmapi_mandelbrot_origin(m->ny, p.dy, p.y0);
    // The largest |c| is at a corner.
    p.special = (m->options & TMAP_MANDELBROT_BULBS) != 0;
    for (int corner = 0; corner < 4; ++corner)
        p.special |= !tmapi_mandelbrot_steady(
            f64, tmapi_mandelbrot_c(&p, corner & 1 ? m->nx - 1 : 0, corner & 2 ? m->ny - 1 : 0));
    return p;
}

// ---- where pixels are kept ----------------------------------------------------------------------

// The column number of a pixel that is kept in the picture.
#define TMAPI_MANDELBROT_PICTURE 0xffffffffu

// Address of pixel (x, y). column: TMAPI_MANDELBROT_PICTURE or the number of a column.
TMAP_DEVICE int *tmapi_mandelbrot_kept(const tmapi_mandelbrot_job *p, tmap_u32 x, tmap_u32 y,
                                       tmap_u32 column) {
    return column != TMAPI_MANDELBROT_PICTURE && p->columns
               ? p->columns + (tmap_u64)column * p->pitch + y + TMAPI_MANDELBROT_ABOVE
               : p->out + (tmap_u64)y * p->nx + x;
}

// The last line of the border of a region that ends before line `end` of n lines.
TMAP_DEVICE tmap_u32 tmapi_mandelbrot_last(tmap_u32 end, tmap_u32 n) {
    return end < n ? end : n - 1;
}

// ---- querying and filling -----------------------------------------------------------------------

// Reads of a border that a lane has in flight.
#define TMAPI_MANDELBROT_READS 4

// The range of the thread's part of a region's border: a quarter of the team walks each side, with
// TMAPI_MANDELBROT_READS reads in flight, of four pixels each at a multiple of 16 bytes. The origin
// counts as a pixel of the region that has it.
TMAP_DEVICE tmap_ask_range tmapi_mandelbrot_query(const void *job, const tmap_ask_region *region,
                                                  tmap_ask_team team) {
    const tmapi_mandelbrot_job *p = (const tmapi_mandelbrot_job *)job;
    const tmap_u32 x1 = tmapi_mandelbrot_last(region->x1, p->nx);
    const tmap_u32 y1 = tmapi_mandelbrot_last(region->y1, p->ny);
    const tmap_u32 side = team.rank % 4, part = team.rank / 4, parts = team.size / 4;
    const int column = side >= 2, last = side & 1;
    const tmap_u32 across = x1 - region->x0 + 1, down = y1 - region->y0 + 1;
    const tmap_u32 count = !column ? across : down > 1 ? down - 2 : 0; // corners are in rows
    const tmap_u32 most = across > down ? across : down;
    const tmap_u32 x = column && last ? x1 : region->x0;
    const tmap_u32 y = column ? region->y0 + 1 : last ? y1 : region->y0;
    const tmap_u32 kept =
        column ? (region->px + (tmap_u32)last) * region->fine : TMAPI_MANDELBROT_PICTURE;
    const int *at = tmapi_mandelbrot_kept(p, x, y, kept);
    const tmap_u64 step = column && !p->columns ? p->nx : 1;
    // For all sides or none, so that lanes do not diverge: the regions of a level are similar.
    const int wide = __all_sync(team.lanes, step == 1 && (tmap_u64)at % 16 == 0);
    const tmap_u32 each = wide ? 4 : 1, turn = each * parts;
    const tmap_u32 corner = (tmap_u32)p->out[(tmap_u64)region->y0 * p->nx + region->x0];
    const int origin = p->origin_x - region->x0 < region->x1 - region->x0 &&
                       p->origin_y - region->y0 < region->y1 - region->y0;
    tmap_ask_range range = {corner, origin ? (tmap_u32)p->dwell : corner};
    for (tmap_u32 i = each * part; i - each * part < most; i += TMAPI_MANDELBROT_READS * turn) {
        int4 v[TMAPI_MANDELBROT_READS];
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_MANDELBROT_READS; ++k) {
            const tmap_u32 from = i + k * turn;
            v[k] = make_int4((int)corner, (int)corner, (int)corner, (int)corner);
            if (wide && from + 4 <= count)
                v[k] = *(const int4 *)(at + from);
            else if (from < count) { // one, or the last few
                v[k].x = at[step * from];
                if (wide && from + 1 < count) v[k].y = at[from + 1];
                if (wide && from + 2 < count) v[k].z = at[from + 2];
            }
        }
#pragma unroll
        for (tmap_u32 k = 0; k < 4 * TMAPI_MANDELBROT_READS; ++k)
            range = tmap_ask_range_add(range, (tmap_u32)(&v[k / 4].x)[k % 4]);
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
    const tmapi_mandelbrot_job *p = (const tmapi_mandelbrot_job *)job;
    const tmap_u32 width = region->x1 - region->x0, height = region->y1 - region->y0;
    const int wide = p->nx % 4 == 0 && (tmap_u64)p->out % 16 == 0, v = (int)value;
    tmap_u32 head = wide ? (0 - region->x0) & 3u : width;
    int *corner = p->out + (tmap_u64)region->y0 * p->nx + region->x0;
    if (head > width) head = width;
    const tmap_u32 vectors = (width - head) / 4, tail = width - head - 4 * vectors;
    if (vectors) tmapi_mandelbrot_fill(corner + head, p->nx, vectors, height, v, team, 1);
    if (head) tmapi_mandelbrot_fill(corner, p->nx, head, height, v, team, 0);
    if (tail) tmapi_mandelbrot_fill(corner + width - tail, p->nx, tail, height, v, team, 0);
}

// Fills a uniform region with the shortest code, for the kernel that queries.
TMAP_DEVICE void tmapi_mandelbrot_terminal_short(const void *job, const tmap_ask_region *region,
                                                 tmap_u32 value, tmap_ask_team team) {
    const tmapi_mandelbrot_job *p = (const tmapi_mandelbrot_job *)job;
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
    tmapi_ask_divider wide;
    tmap_u32 parts, rows;
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
    tmapi_mandelbrot_runs a;
    a.wide = tmapi_ask_divider_make(wide);
    a.parts = (high + most - 1) / most;
    if (a.parts > 0x7fffffffu / wide) a.parts = 0x7fffffffu / wide;
    a.rows = a.parts ? (high + a.parts - 1) / a.parts : 0;
    return a;
}

TMAP_DEVICE tmap_u32 tmapi_mandelbrot_share_elements(const void *, const tmap_ask_extent *e) {
    const tmapi_mandelbrot_runs a = tmapi_mandelbrot_runs_of(e, TMAPI_MANDELBROT_SHARE);
    return a.wide.by * a.parts;
}
TMAP_DEVICE tmap_u32 tmapi_mandelbrot_leaf_elements(const void *, const tmap_ask_extent *e) {
    const tmapi_mandelbrot_runs a = tmapi_mandelbrot_runs_of(e, TMAPI_MANDELBROT_LEAF);
    return a.wide.by * a.parts;
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

// Begins element i. Of a leaf, also copies the lane's part of the leaf's first column into the
// picture, and of the picture's last column if the leaf ends there. Of the lines between children:
// rows with their ends, columns without. kind: a constant.
TMAP_DEVICE void tmapi_mandelbrot_begin(const tmapi_mandelbrot_job *p, const tmap_ask_work *work,
                                        const tmapi_mandelbrot_runs *runs, int kind, tmap_u32 i,
                                        tmapi_mandelbrot_run *run) {
    const tmap_ask_region *t = &work->region;
    const tmap_u32 x1 = tmapi_mandelbrot_last(t->x1, p->nx);
    const tmap_u32 y1 = tmapi_mandelbrot_last(t->y1, p->ny);
    const tmap_u32 whole = t->level == TMAP_ASK_WHOLE, parts = work->extent.parts;
    tmap_u32 rest, line = tmapi_ask_divide(runs->wide, i, &rest);
    if (kind == TMAPI_MANDELBROT_LEAF) {
        const tmap_u32 left = t->px * t->fine, right = left + t->fine;
        run->y = t->y0 + 1 + line;
        run->x = t->x0 + 1 + rest;
        run->end = run->x < x1 ? y1 : 0;
        for (tmap_u32 y = t->y0 + 1 + i; p->columns && y < y1; y += runs->wide.by * runs->parts) {
            p->out[(tmap_u64)y * p->nx + t->x0] = *tmapi_mandelbrot_kept(p, t->x0, y, left);
            if (t->x1 == p->nx)
                p->out[(tmap_u64)y * p->nx + x1] = *tmapi_mandelbrot_kept(p, x1, y, right);
        }
        return;
    }
    run->upright = rest > work->extent.sides.x;
    if (run->upright) {
        run->x = t->y0 + rest - work->extent.sides.x;
        run->y = t->px * parts, run->axis = work->common->child.x, run->border = x1;
    } else {
        run->x = t->x0 + rest;
        run->y = t->py * parts, run->axis = work->common->child.y, run->border = y1;
    }
    const int outside = run->upright ? run->x >= y1 : run->x > x1;
    run->end = outside ? 0 : run->y + parts + whole;
    run->y += 1 - whole + line;
}

// ---- several steps at once ----------------------------------------------------------------------

// Powers of two: the first steps of a pixel, and the steps between two tests of them.
#define TMAPI_MANDELBROT_FIRST 64
#define TMAPI_MANDELBROT_SHORT 8
// The steps between two later tests, and the parts they are taken in: z is stored after each, so
// that only a part must be repeated to find the last step.
#define TMAPI_MANDELBROT_STEPS 64
#define TMAPI_MANDELBROT_PARTS 4
// Lanes without a pixel before new pixels are taken, 1 to 32; 32: all together.
#define TMAPI_MANDELBROT_WAIT 16

// Without a subdivision: the first steps, each with a test, of a pixel where many escape at once;
// how often eight with a test follow; and the steps between two later tests, four times eight.
#define TMAPI_MANDELBROT_TESTED 4
#define TMAPI_MANDELBROT_EIGHTS 4
#define TMAPI_MANDELBROT_PLAIN  32

TMAP_DEVICE int tmapi_mandelbrot_same(int f64, tmapi_mandelbrot_z a, tmapi_mandelbrot_z b) {
    return f64 ? a.re.d == b.re.d && a.im.d == b.im.d : a.re.f == b.re.f && a.im.f == b.im.f;
}

// z after `count` steps, a constant.
TMAP_DEVICE tmapi_mandelbrot_z tmapi_mandelbrot_steps(int f64, tmapi_mandelbrot_z z,
                                                      tmapi_mandelbrot_z c, const int count) {
#pragma unroll
    for (int i = 0; i < count; ++i) tmapi_mandelbrot_step(f64, &z, c);
    return z;
}

// Moves *z forward by `steps` steps, to `after`, if |z| < 2 there. Returns the steps: all or none.
TMAP_DEVICE int tmapi_mandelbrot_jump(int f64, tmapi_mandelbrot_z *z, tmapi_mandelbrot_z after,
                                      int steps) {
    const int inside = tmapi_mandelbrot_inside(f64, after);
    if (inside) *z = after;
    return inside ? steps : 0;
}

// How many of the next `steps` steps, a power of two, are taken before |z| >= 2, if at least one is
// and not all are. By halving: points that have escaped remain so.
TMAP_DEVICE int tmapi_mandelbrot_last_steps(int f64, tmapi_mandelbrot_z z, tmapi_mandelbrot_z c,
                                            int steps) {
    int taken = 1;
#pragma unroll
    for (int half = steps / 2; half; half /= 2)
        taken += tmapi_mandelbrot_jump(f64, &z, tmapi_mandelbrot_steps(f64, z, c, half), half);
    return taken;
}

// The dwell of a point for a picture without a subdivision; a point that returns to an earlier
// position never escapes. tested: 1: the first steps are tested one by one.
TMAP_DEVICE int tmapi_mandelbrot_dwell_plain(const tmapi_mandelbrot_job *p, tmapi_mandelbrot_z c,
                                             int tested) {
    const int f64 = p->f64, part = TMAPI_MANDELBROT_PLAIN / 4;
    tmapi_mandelbrot_z z = c, before; // d steps on
    int d = 0, eights = 0;            // windows of eight steps
    if (p->special || tested) {
#pragma unroll
        for (; d < TMAPI_MANDELBROT_TESTED; ++d) {
            if (!tmapi_mandelbrot_inside(f64, z)) return d;
            tmapi_mandelbrot_step(f64, &z, c);
        }
        if (!tmapi_mandelbrot_inside(f64, z)) return d;
    }
    if (p->special) {
        if (tmapi_mandelbrot_known(p, c)) return p->dwell;
        if (!tmapi_mandelbrot_steady(f64, c)) return tmapi_mandelbrot_tested(p, c, z, d);
    }
    before = z;
#pragma unroll
    for (; eights < TMAPI_MANDELBROT_EIGHTS && d < p->dwell; ++eights, d += part) {
        z = tmapi_mandelbrot_steps(f64, before, c, part);
        if (!tmapi_mandelbrot_inside(f64, z)) break;
        before = z;
    }
    if (eights == TMAPI_MANDELBROT_EIGHTS)
        while (d < p->dwell) {
            z = tmapi_mandelbrot_steps(f64, before, c, TMAPI_MANDELBROT_PLAIN);
            if (!tmapi_mandelbrot_inside(f64, z)) break;
            d = tmapi_mandelbrot_same(f64, z, before) ? p->dwell : d + TMAPI_MANDELBROT_PLAIN;
            before = z;
        }
    // All lanes arrive here together, and search the last step together.
    if (d >= p->dwell) return d;
    if (eights == TMAPI_MANDELBROT_EIGHTS) {
        z = tmapi_mandelbrot_steps(f64, before, c, 2 * part);
        d += tmapi_mandelbrot_jump(f64, &before, z, 2 * part);
        z = tmapi_mandelbrot_steps(f64, before, c, part);
        d += tmapi_mandelbrot_jump(f64, &before, z, part);
    }
    return d + tmapi_mandelbrot_last_steps(f64, before, c, part);
}

// ---- the pixels of a region's work --------------------------------------------------------------

// A leaf with the shortest code, for the kernel that queries. The region's first row is already in
// the picture, and may be the last row of another region.
TMAP_DEVICE void tmapi_mandelbrot_leaf_short(const void *job, tmap_ask_work *work) {
    const tmapi_mandelbrot_job *p = (const tmapi_mandelbrot_job *)job;
    tmap_u32 i;
    tmap_xyz at;
    while (tmap_ask_take(work, &i))
        if (tmap_ask_element(work, i, &at) && at.y > work->region.y0)
            p->out[(tmap_u64)at.y * p->nx + at.x] = tmapi_mandelbrot_dwell(p, at.x, at.y);
}

// A warp's scratch: pixels that continue after their first steps wait here until lanes are free.
typedef struct tmapi_mandelbrot_queue {
    tmap_u32 x[64], y[64], column[64];
    union {
        float f[2][64];
        double d[2][64];
    } z;
} tmapi_mandelbrot_queue;

TMAP_DEVICE void tmapi_mandelbrot_put(int f64, tmapi_mandelbrot_queue *queue, tmap_u32 i,
                                      tmapi_mandelbrot_z z) {
    if (f64)
        queue->z.d[0][i] = z.re.d, queue->z.d[1][i] = z.im.d;
    else
        queue->z.f[0][i] = z.re.f, queue->z.f[1][i] = z.im.f;
}
TMAP_DEVICE tmapi_mandelbrot_z tmapi_mandelbrot_take(int f64, const tmapi_mandelbrot_queue *queue,
                                                     tmap_u32 i) {
    const tmapi_mandelbrot_z z = {{f64 ? 0 : queue->z.f[0][i], f64 ? queue->z.d[0][i] : 0},
                                  {f64 ? 0 : queue->z.f[1][i], f64 ? queue->z.d[1][i] : 0}};
    return z;
}

// Takes the first steps of up to 32 new pixels, TMAPI_MANDELBROT_SHORT between tests. Most pixels
// end here; the others are queued. *re: of all pixels of a leaf's element. Collective for the warp.
TMAP_DEVICE void tmapi_mandelbrot_first_steps(const tmapi_mandelbrot_job *p, tmap_ask_work *work,
                                              const tmapi_mandelbrot_runs *runs, int kind,
                                              tmapi_mandelbrot_run *run, tmapi_real *re) {
    const int f64 = p->f64, part = TMAPI_MANDELBROT_SHORT / 2;
    tmapi_mandelbrot_queue *queue = (tmapi_mandelbrot_queue *)work->scratch;
    tmapi_mandelbrot_z c, z;
    tmap_u32 i, survivors, column = TMAPI_MANDELBROT_PICTURE;
    tmap_xy place;
    int mine, known = 0, alive;
    if (run->left == 0) {
        run->more = tmap_ask_take(work, &i);
        if (!run->more) return;
        run->end = 0;
        run->left = runs->rows;
        if (i != TMAP_ASK_NO_ELEMENT) {
            tmapi_mandelbrot_begin(p, work, runs, kind, i, run);
            if (kind == TMAPI_MANDELBROT_LEAF)
                *re = tmapi_mandelbrot_line(f64, run->x, p->dx, p->x0);
        }
    }
    --run->left;
    mine = run->y < run->end;
    if (kind == TMAPI_MANDELBROT_LEAF) {
        place.x = run->x, place.y = run->y;
        c.re = *re;
        c.im = tmapi_mandelbrot_line(f64, place.y, p->dy, p->y0);
    } else {
        tmap_u32 at = tmapi_ask_edge(run->axis, run->y);
        if (at > run->border) at = run->border;
        place.x = run->upright ? at : run->x, place.y = run->upright ? run->x : at;
        if (run->upright) column = run->y * work->common->child.fine;
        c = tmapi_mandelbrot_c(p, place.x, place.y);
    }
    z = c;
    run->y += runs->parts;
    alive = mine;
    if (p->special && mine) {
        alive = tmapi_mandelbrot_steady(f64, c) && !tmapi_mandelbrot_known(p, c);
        if (!alive)
            known = tmapi_mandelbrot_known(p, c) ? p->dwell : tmapi_mandelbrot_tested(p, c, c, 0);
    }
    if (alive) {
        // Steps from z to b and from b to z alternate: a lane that leaves has the earlier point in
        // the other one, and the point between in `half`.
        tmapi_mandelbrot_z b = z, half = z;
#pragma unroll
        for (int steps = 0; steps < TMAPI_MANDELBROT_FIRST; steps += 4 * part) {
            half = tmapi_mandelbrot_steps(f64, z, c, part);
            b = tmapi_mandelbrot_steps(f64, half, c, part);
            if (!tmapi_mandelbrot_inside(f64, b)) break;
            known += 2 * part;
            half = tmapi_mandelbrot_steps(f64, b, c, part);
            z = tmapi_mandelbrot_steps(f64, half, c, part);
            if (!tmapi_mandelbrot_inside(f64, z)) break;
            known += 2 * part;
        }
        if (known < TMAPI_MANDELBROT_FIRST) {
            alive = 0;
            if (!(known & 2 * part)) b = z;
            known += tmapi_mandelbrot_jump(f64, &b, half, part);
            known += tmapi_mandelbrot_last_steps(f64, b, c, part);
        }
        alive = alive && known < p->dwell;
    }
    if (mine && !alive)
        *tmapi_mandelbrot_kept(p, place.x, place.y, column) = known < p->dwell ? known : p->dwell;
    survivors = __ballot_sync(0xffffffffu, alive);
    if (alive) {
        i = run->queued + (tmap_u32)__popc(survivors & ((1u << (threadIdx.x & 31u)) - 1));
        tmapi_mandelbrot_put(f64, queue, i, z);
        queue->x[i] = place.x, queue->y[i] = place.y;
        if (kind != TMAPI_MANDELBROT_LEAF) queue->column[i] = column;
    }
    run->queued += (tmap_u32)__popc(survivors);
}

// Computes the elements of `work`: the first steps of all pixels, then further steps of those that
// need them. There, lanes take TMAPI_MANDELBROT_STEPS steps without a test, then test once. A lane
// whose pixel has escaped repeats those steps from the z before them, until TMAPI_MANDELBROT_WAIT
// lanes have no pixel; then these find their last step, store it and take new pixels, while the
// others keep theirs. The inner loop has no branch. kind: a constant.
TMAP_DEVICE void tmapi_mandelbrot_compute(const tmapi_mandelbrot_job *p, tmap_ask_work *work,
                                          int kind) {
    const tmapi_mandelbrot_runs runs = tmapi_mandelbrot_runs_of(&work->extent, kind);
    const tmapi_mandelbrot_queue *queue = (const tmapi_mandelbrot_queue *)work->scratch;
    const int f64 = p->f64, part = TMAPI_MANDELBROT_STEPS / TMAPI_MANDELBROT_PARTS;
    tmapi_mandelbrot_z c = {}, z = {}, before = {};              // before: the last steps
    tmapi_mandelbrot_z between[TMAPI_MANDELBROT_PARTS - 1] = {}; // after each part but the last
    tmapi_real re;                                               // of a leaf's column
    // times: how often the steps of a queued pixel are taken, to `end` steps in all. left: how
    // often they remain to be taken; above 0 meanwhile, and negated when the lane is done.
    const int times =
        (p->dwell - TMAPI_MANDELBROT_FIRST + TMAPI_MANDELBROT_STEPS - 1) / TMAPI_MANDELBROT_STEPS;
    const int end = TMAPI_MANDELBROT_FIRST + times * TMAPI_MANDELBROT_STEPS;
    int busy = 0, left = 0;
    tmapi_mandelbrot_run run;
    int *out = p->out;
    run.left = run.queued = 0;
    run.more = 1;
    for (;;) {
        int least; // lanes in progress
        while (run.more && run.queued < 32)
            tmapi_mandelbrot_first_steps(p, work, &runs, kind, &run, &re);
        __syncwarp(); // the queue has been read
        const tmap_u32 idle = __ballot_sync(0xffffffffu, !busy);
        const tmap_u32 rank = (tmap_u32)__popc(idle & ((1u << (threadIdx.x & 31u)) - 1));
        if (!busy && rank < run.queued) {
            const tmap_u32 i = run.queued - 1 - rank, x = queue->x[i], y = queue->y[i];
            c = tmapi_mandelbrot_c(p, x, y);
            z = tmapi_mandelbrot_take(f64, queue, i);
            out = tmapi_mandelbrot_kept(p, x, y,
                                        kind == TMAPI_MANDELBROT_LEAF ? TMAPI_MANDELBROT_PICTURE
                                                                      : queue->column[i]);
            left = times;
            busy = 1;
        }
        __syncwarp();
        run.queued -= (tmap_u32)__popc(idle) < run.queued ? (tmap_u32)__popc(idle) : run.queued;
        least = run.more || run.queued ? 33 - TMAPI_MANDELBROT_WAIT : 1;
        while (__popc(__ballot_sync(0xffffffffu, left > 0)) >= least) {
            int after;
            if (left > 0) before = z;
            z = before; // a lane that is done repeats the same steps
#pragma unroll
            for (int i = 0; i < TMAPI_MANDELBROT_PARTS; ++i) {
                z = tmapi_mandelbrot_steps(f64, z, c, part);
                if (i + 1 < TMAPI_MANDELBROT_PARTS) between[i] = z;
            }
            after = tmapi_mandelbrot_inside(f64, z) ? left - 1 : 0;
            // A z that equals the one before these steps never escapes: nearly half of the steps of
            // the lines of level 0, which cross the set.
            if (kind == TMAPI_MANDELBROT_SHARE && left > 0 && tmapi_mandelbrot_same(f64, z, before))
                left = after = 0;
            left = after > 0 ? after : left < -left ? left : -left;
        }
        if (busy && left <= 0) {
            tmapi_mandelbrot_z b = before;
            int steps = end + left * TMAPI_MANDELBROT_STEPS;
#pragma unroll
            for (int half = TMAPI_MANDELBROT_PARTS / 2; half; half /= 2) {
                const int taken = tmapi_mandelbrot_jump(f64, &b, between[half - 1], half * part);
                steps += taken;
#pragma unroll
                for (int i = 0; i + 1 < half; ++i)
                    if (taken) between[i] = between[half + i];
            }
            steps += tmapi_mandelbrot_last_steps(f64, b, c, part);
            *out = steps < p->dwell ? steps : p->dwell;
            busy = 0;
        }
        if (!run.more && !run.queued && !__any_sync(0xffffffffu, busy)) return;
    }
}

TMAP_DEVICE void tmapi_mandelbrot_share(const void *job, tmap_ask_work *work) {
    tmapi_mandelbrot_compute((const tmapi_mandelbrot_job *)job, work, TMAPI_MANDELBROT_SHARE);
}
TMAP_DEVICE void tmapi_mandelbrot_leaf(const void *job, tmap_ask_work *work) {
    tmapi_mandelbrot_compute((const tmapi_mandelbrot_job *)job, work, TMAPI_MANDELBROT_LEAF);
}

#endif // TMAP_CUDA

#endif
