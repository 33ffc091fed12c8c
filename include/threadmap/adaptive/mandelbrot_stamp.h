// SPDX-License-Identifier: MIT
// mandelbrot_stamp.h: the functions and kernels of mandelbrot.h for one type of numbers. It is
// included by mandelbrot.h for float and by mandelbrot_f64.h for double, and defines nothing
// without TMAPI_MANDELBROT_REAL.
#ifndef TMAP_ADAPTIVE_MANDELBROT_STAMP_H
#define TMAP_ADAPTIVE_MANDELBROT_STAMP_H

#include "mandelbrot_picture.h"

// The first steps of a pixel, and those between two tests of them, powers of two.
#define TMAPI_MANDELBROT_FIRST 64
#define TMAPI_MANDELBROT_SHORT 8
// The steps between two tests from then on, a power of two, and in how many parts they are taken:
// z is known after each, so that only a part need be taken again to find the last step.
#define TMAPI_MANDELBROT_STEPS 64
#define TMAPI_MANDELBROT_PARTS 4
// Lanes without a pixel in progress until new ones are taken, 1 to 32; 32: all together.
#define TMAPI_MANDELBROT_WAIT 16
// Reads of a border that a lane has in flight.
#define TMAPI_MANDELBROT_READS 4

#endif

#include "mandelbrot_dwell_stamp.h"
#include "mandelbrot_plain_stamp.h"

#if defined(TMAPI_MANDELBROT_REAL)
#if TMAP_CUDA

// ---- asking and filling -------------------------------------------------------------------------

// Where pixel (x, y) is kept: column is TMAPI_MANDELBROT_PICTURE or the number of a column.
TMAP_DEVICE int *TMAPI_MANDELBROT(kept)(const TMAPI_MANDELBROT_JOB *p, tmap_u32 x, tmap_u32 y,
                                        tmap_u32 column) {
    return column != TMAPI_MANDELBROT_PICTURE && p->columns
               ? p->columns + (tmap_u64)column * p->pitch + y + TMAPI_MANDELBROT_ABOVE
               : p->out + (tmap_u64)y * p->nx + x;
}

// What a thread finds on its part of a region's border, which has four sides: rows y0 and y1 and
// columns x0 and x1. A quarter of the team walks each of them, with TMAPI_MANDELBROT_READS reads in
// flight, of four pixels each where they stand side by side at a multiple of 16 bytes.
TMAP_DEVICE tmap_ask_range TMAPI_MANDELBROT(query)(const void *job, const tmap_ask_region *region,
                                                   tmap_ask_team team) {
    const TMAPI_MANDELBROT_JOB *p = (const TMAPI_MANDELBROT_JOB *)job;
    const tmapi_mandelbrot_box box = tmapi_mandelbrot_closed(p->nx, p->ny, region);
    const tmap_u32 side = team.rank % 4, part = team.rank / 4, parts = team.size / 4;
    const int column = side >= 2, last = side & 1;
    const tmap_u32 high = box.y1 > box.y0 ? box.y1 - box.y0 - 1 : 0;
    const tmap_u32 count = column ? high : box.x1 - box.x0 + 1; // corners are in rows
    const tmap_u32 most =
        1 + (box.x1 - box.x0 > box.y1 - box.y0 ? box.x1 - box.x0 : box.y1 - box.y0);
    const int *at = TMAPI_MANDELBROT(kept)(p, column && last ? box.x1 : box.x0,
                                           column ? box.y0 + 1
                                           : last ? box.y1
                                                  : box.y0,
                                           column ? (region->px + (tmap_u32)last) * region->fine
                                                  : TMAPI_MANDELBROT_PICTURE);
    const tmap_u64 step = column && !p->columns ? p->nx : 1;
    // Of all sides or of none, so that lanes stay together: a level's regions are much alike.
    const int wide = __all_sync(team.lanes, step == 1 && (tmap_u64)at % 16 == 0);
    const tmap_u32 each = wide ? 4 : 1, turn = each * parts;
    const tmap_u32 corner = (tmap_u32)p->out[(tmap_u64)box.y0 * p->nx + box.x0];
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

TMAP_DEVICE void TMAPI_MANDELBROT(terminal)(const void *job, const tmap_ask_region *region,
                                            tmap_u32 value, tmap_ask_team team) {
    const TMAPI_MANDELBROT_JOB *p = (const TMAPI_MANDELBROT_JOB *)job;
    tmap_fill_i32(p->out, p->nx, region, (int)value, team);
}

// ---- pixels by the shortest code: of regions that found no place in a table ---------------------

TMAP_DEVICE void TMAPI_MANDELBROT(terminal_short)(const void *job, const tmap_ask_region *region,
                                                  tmap_u32 value, tmap_ask_team team) {
    const TMAPI_MANDELBROT_JOB *p = (const TMAPI_MANDELBROT_JOB *)job;
    for (tmap_u32 y = region->y0; y < region->y1; ++y)
        for (tmap_u32 x = region->x0 + team.rank; x < region->x1; x += team.size)
            p->out[(tmap_u64)y * p->nx + x] = (int)value;
}

// The region's first row is in the picture, and may be another's last one.
TMAP_DEVICE void TMAPI_MANDELBROT(leaf_short)(const void *job, tmap_ask_work *work) {
    const TMAPI_MANDELBROT_JOB *p = (const TMAPI_MANDELBROT_JOB *)job;
    tmap_u32 i;
    tmap_xyz at;
    while (tmap_ask_take(work, &i))
        if (tmap_ask_element(work, i, &at) && at.y > work->region.y0)
            p->out[(tmap_u64)at.y * p->nx + at.x] = TMAPI_MANDELBROT(dwell)(p, at.x, at.y);
}

// ---- pixels by the quickest code: of leaves and of lines between children -----------------------

// A pixel that is not through after its first steps, kept in shared memory until a lane is free.
typedef struct TMAPI_MANDELBROT(survivor) {
    TMAPI_MANDELBROT_REAL zr, zi;
    tmap_u32 x, y, column;
} TMAPI_MANDELBROT(survivor);

// A negative array size here means that 64 of them do not fit the scratch of a warp.
typedef char TMAPI_MANDELBROT(
    survivors_fit)[64 * sizeof(TMAPI_MANDELBROT(survivor)) <= TMAPI_MANDELBROT_SCRATCH ? 1 : -1];

// Where a lane is in its element: at (x, y), y below `end`, in a leaf. Between children: at `x`
// along line number y of an axis, y below `end`; `border` is where the region's border is.
typedef struct TMAPI_MANDELBROT(run) {
    TMAPI_MANDELBROT_REAL cr;
    tmap_u32 x, y, end;
    tmap_u32 left; // pixels, the same in all lanes
    tmap_u32 copy; // a row of the leaf's first column and its pixel, not yet in the picture; or 0
    int copied;
    int upright; // the line is a column
    tmap_u32 border;
    tmapi_ask_axis axis;
} TMAPI_MANDELBROT(run);

// Begins element i of a leaf, and makes the copies that go with it: of the leaf's first column, and
// of the picture's last one where the leaf ends there. The lanes of a leaf share out its rows among
// them. The first copy of a lane is left for later, as what it reads takes time to come.
TMAP_DEVICE void TMAPI_MANDELBROT(leaf_begin)(const TMAPI_MANDELBROT_JOB *p,
                                              const tmap_ask_work *work, tmapi_ask_divider wide,
                                              tmap_u32 parts, tmap_u32 i,
                                              TMAPI_MANDELBROT(run) * run) {
    const tmap_ask_region *t = &work->region;
    const tmapi_mandelbrot_box box = tmapi_mandelbrot_closed(p->nx, p->ny, t);
    const tmap_u32 left = t->px * t->fine, right = left + t->fine;
    tmap_u32 rest;
    run->y = t->y0 + 1 + tmapi_ask_divide(wide, i, &rest);
    run->x = t->x0 + 1 + rest;
    run->end = run->x < box.x1 ? box.y1 : 0;
    run->cr = TMAPI_MANDELBROT_FMA((TMAPI_MANDELBROT_REAL)run->x, p->dx, p->x0);
    if (!p->columns) return;
    run->copy = t->y0 + 1 + i;
    if (run->copy < box.y1) run->copied = *TMAPI_MANDELBROT(kept)(p, t->x0, run->copy, left);
    for (tmap_u32 y = run->copy; y < box.y1; y += wide.by * parts) {
        if (y != run->copy)
            p->out[(tmap_u64)y * p->nx + t->x0] = *TMAPI_MANDELBROT(kept)(p, t->x0, y, left);
        if (t->x1 == p->nx)
            p->out[(tmap_u64)y * p->nx + box.x1] = *TMAPI_MANDELBROT(kept)(p, box.x1, y, right);
    }
    if (run->copy >= box.y1) run->copy = 0;
}

// Begins element i of the lines between children: rows with their ends, columns without. Where they
// cross, pixels are computed twice. The whole domain has its first and its last line, too.
TMAP_DEVICE void TMAPI_MANDELBROT(share_begin)(const TMAPI_MANDELBROT_JOB *p,
                                               const tmap_ask_work *work, tmapi_ask_divider wide,
                                               tmap_u32 i, TMAPI_MANDELBROT(run) * run) {
    const tmap_ask_region *t = &work->region;
    const tmapi_mandelbrot_box box = tmapi_mandelbrot_closed(p->nx, p->ny, t);
    const tmap_u32 whole = t->level == TMAP_ASK_WHOLE, parts = work->extent.parts;
    tmap_u32 rest, line = 1 - whole + tmapi_ask_divide(wide, i, &rest);
    run->upright = rest > work->extent.sides.x;
    if (run->upright) {
        run->x = t->y0 + rest - work->extent.sides.x;
        run->y = t->px * parts + line, run->end = (t->px + 1) * parts + whole;
        run->axis = work->common->child.x, run->border = box.x1;
        if (run->x >= box.y1) run->end = 0;
    } else {
        run->x = t->x0 + rest;
        run->y = t->py * parts + line, run->end = (t->py + 1) * parts + whole;
        run->axis = work->common->child.y, run->border = box.y1;
        if (run->x > box.x1) run->end = 0;
    }
}

// The first steps of up to 32 new pixels, TMAPI_MANDELBROT_SHORT between tests. Most pixels end
// here, without the price of coming and going one by one; the others are queued. Returns how many
// are. *more becomes 0 when there are no new pixels. *run: where the lanes are in their elements;
// its `left` and `copy` are 0 at first. Collective.
TMAP_DEVICE tmap_u32 TMAPI_MANDELBROT(first_steps)(
    const TMAPI_MANDELBROT_JOB *p, tmap_ask_work *work, const tmapi_mandelbrot_runs *runs,
    tmapi_ask_divider wide, int kind, TMAPI_MANDELBROT(run) * run, int *more,
    TMAPI_MANDELBROT(survivor) * queue, tmap_u32 queued) {
    TMAPI_MANDELBROT(point) a, b;
    tmap_u32 i, survivors, column = TMAPI_MANDELBROT_PICTURE;
    tmap_xy place;
    int mine, known = 0, alive;
    if (run->left == 0) {
        if (kind == TMAPI_MANDELBROT_LEAF && run->copy)
            p->out[(tmap_u64)run->copy * p->nx + work->region.x0] = run->copied;
        run->copy = 0;
        *more = tmap_ask_take(work, &i);
        if (!*more) return queued;
        run->end = 0;
        run->left = runs->rows;
        if (i != TMAP_ASK_NO_ELEMENT) {
            if (kind == TMAPI_MANDELBROT_LEAF)
                TMAPI_MANDELBROT(leaf_begin)(p, work, wide, runs->parts, i, run);
            else
                TMAPI_MANDELBROT(share_begin)(p, work, wide, i, run);
        }
    }
    --run->left;
    mine = run->y < run->end;
    if (kind == TMAPI_MANDELBROT_LEAF) {
        place.x = run->x, place.y = run->y;
        a.zr = a.cr = run->cr;
        a.zi = a.ci = TMAPI_MANDELBROT_FMA((TMAPI_MANDELBROT_REAL)place.y, p->dy, p->y0);
    } else {
        tmap_u32 at = tmapi_ask_edge(run->axis, run->y);
        if (at > run->border) at = run->border;
        place.x = run->upright ? at : run->x, place.y = run->upright ? run->x : at;
        if (run->upright) column = run->y * work->common->child.fine;
        a = TMAPI_MANDELBROT(begin)(p, place.x, place.y);
    }
    run->y += runs->parts;
    alive = mine;
    if (p->special && mine) {
        alive = TMAPI_MANDELBROT(steady)(a) && !TMAPI_MANDELBROT(known)(p, a);
        if (!alive)
            known =
                TMAPI_MANDELBROT(known)(p, a) ? p->dwell : TMAPI_MANDELBROT(tested)(a, 0, p->dwell);
    }
    if (alive) {
        // Steps from a to b and from b to a in turn: a lane that leaves has in the other one what
        // was before, and in `half` what was between, and nothing need be saved.
        TMAPI_MANDELBROT(z) half = {0, 0};
        b = a;
#pragma unroll
        for (int steps = 0; steps < TMAPI_MANDELBROT_FIRST; steps += 2 * TMAPI_MANDELBROT_SHORT) {
            b.zr = a.zr, b.zi = a.zi;
            TMAPI_MANDELBROT(steps)(&b, TMAPI_MANDELBROT_SHORT / 2, &half);
            TMAPI_MANDELBROT(steps)(&b, TMAPI_MANDELBROT_SHORT / 2, 0);
            if (!(TMAPI_MANDELBROT(norm)(b.zr, b.zi) < 4)) break;
            known += TMAPI_MANDELBROT_SHORT;
            a.zr = b.zr, a.zi = b.zi;
            TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_SHORT / 2, &half);
            TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_SHORT / 2, 0);
            if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) break;
            known += TMAPI_MANDELBROT_SHORT;
        }
        if (known < TMAPI_MANDELBROT_FIRST) {
            alive = 0;
            b.zr = known & TMAPI_MANDELBROT_SHORT ? b.zr : a.zr;
            b.zi = known & TMAPI_MANDELBROT_SHORT ? b.zi : a.zi;
            known += TMAPI_MANDELBROT(jump)(&b, half, TMAPI_MANDELBROT_SHORT / 2);
            known += TMAPI_MANDELBROT(last_steps)(b, TMAPI_MANDELBROT_SHORT / 2);
        }
        alive = alive && known < p->dwell;
    }
    if (mine && !alive)
        *TMAPI_MANDELBROT(kept)(p, place.x, place.y, column) = known < p->dwell ? known : p->dwell;
    survivors = __ballot_sync(0xffffffffu, alive);
    if (alive) {
        tmap_u32 rank = (tmap_u32)__popc(survivors & ((1u << (threadIdx.x & 31u)) - 1));
        TMAPI_MANDELBROT(survivor) *entry = queue + queued + rank;
        entry->zr = a.zr, entry->zi = a.zi, entry->x = place.x, entry->y = place.y;
        if (kind != TMAPI_MANDELBROT_LEAF) entry->column = column;
    }
    return queued + (tmap_u32)__popc(survivors);
}

// Computes the elements of `work`: the first steps of all, then the others of those that need them.
// There, lanes take TMAPI_MANDELBROT_STEPS steps without a test, then look once. A lane that is
// through waits, taking those steps again from the z before them, until TMAPI_MANDELBROT_WAIT lanes
// are without a pixel in progress; then they find their last step, store and take new pixels, while
// the others keep theirs. No branch in the inner loop. kind: a constant.
TMAP_DEVICE void TMAPI_MANDELBROT(compute)(const TMAPI_MANDELBROT_JOB *p, tmap_ask_work *work,
                                           int kind) {
    const tmapi_mandelbrot_runs runs = tmapi_mandelbrot_runs_of(&work->extent, kind);
    const tmapi_ask_divider wide = tmapi_ask_divider_make(runs.wide);
    TMAPI_MANDELBROT(survivor) *queue = (TMAPI_MANDELBROT(survivor) *)work->scratch;
    TMAPI_MANDELBROT(point) a = {0, 0, 0, 0};
    TMAPI_MANDELBROT_REAL zr = 0, zi = 0; // before the last steps
    // After each part of them but the last one.
    TMAPI_MANDELBROT(z) between[TMAPI_MANDELBROT_PARTS - 1] = {};
    const int part = TMAPI_MANDELBROT_STEPS / TMAPI_MANDELBROT_PARTS;
    // times: how often the steps of a survivor are taken, to `end` steps in all. left: how often
    // still; above 0 while they are taken, and negated when the lane is through.
    const int times =
        (p->dwell - TMAPI_MANDELBROT_FIRST + TMAPI_MANDELBROT_STEPS - 1) / TMAPI_MANDELBROT_STEPS;
    const int end = TMAPI_MANDELBROT_FIRST + times * TMAPI_MANDELBROT_STEPS;
    int busy = 0, left = 0, more = 1;
    TMAPI_MANDELBROT(run) run;
    tmap_u32 queued = 0;
    int *out = p->out;
    run.left = run.copy = 0;
    for (;;) {
        int least; // lanes in progress
        tmap_u32 idle, rank;
        while (more && queued < 32)
            queued = TMAPI_MANDELBROT(first_steps)(p, work, &runs, wide, kind, &run, &more, queue,
                                                   queued);
        __syncwarp(); // the queue is read
        idle = __ballot_sync(0xffffffffu, !busy);
        rank = (tmap_u32)__popc(idle & ((1u << (threadIdx.x & 31u)) - 1));
        if (!busy && rank < queued) {
            const TMAPI_MANDELBROT(survivor) *entry = queue + (queued - 1 - rank);
            a = TMAPI_MANDELBROT(begin)(p, entry->x, entry->y);
            a.zr = entry->zr, a.zi = entry->zi;
            out = TMAPI_MANDELBROT(kept)(p, entry->x, entry->y,
                                         kind == TMAPI_MANDELBROT_LEAF ? TMAPI_MANDELBROT_PICTURE
                                                                       : entry->column);
            left = times;
            busy = 1;
        }
        __syncwarp();
        queued -= (tmap_u32)__popc(idle) < queued ? (tmap_u32)__popc(idle) : queued;
        least = more || queued ? 33 - TMAPI_MANDELBROT_WAIT : 1;
        while (__popc(__ballot_sync(0xffffffffu, left > 0)) >= least) {
            int after;
            zr = left > 0 ? a.zr : zr;
            zi = left > 0 ? a.zi : zi;
            a.zr = zr, a.zi = zi; // a lane that is through takes the same steps again
#pragma unroll
            for (int i = 0; i < TMAPI_MANDELBROT_PARTS; ++i)
                TMAPI_MANDELBROT(steps)(&a, part, i + 1 < TMAPI_MANDELBROT_PARTS ? between + i : 0);
            after = TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4 ? left - 1 : 0;
            // Where z is what it was before these steps, it comes back for ever: as good as through
            // with all of them. Nearly half of the steps of the lines of level 0, which cross the
            // set; later ones meet the set at its edge, where z takes too long to settle.
            if (kind == TMAPI_MANDELBROT_SHARE && left > 0 && a.zr == zr && a.zi == zi)
                left = after = 0;
            left = after > 0 ? after : left < -left ? left : -left;
        }
        if (busy && left <= 0) {
            TMAPI_MANDELBROT(point) b = a;
            int steps = end + left * TMAPI_MANDELBROT_STEPS;
            b.zr = zr, b.zi = zi;
#pragma unroll
            for (int half = TMAPI_MANDELBROT_PARTS / 2; half; half /= 2) {
                const int taken = TMAPI_MANDELBROT(jump)(&b, between[half - 1], half * part);
                steps += taken;
#pragma unroll
                for (int i = 0; i + 1 < half; ++i)
                    if (taken) between[i] = between[half + i];
            }
            steps += TMAPI_MANDELBROT(last_steps)(b, part);
            *out = steps < p->dwell ? steps : p->dwell;
            busy = 0;
        }
        if (!more && !queued && !__any_sync(0xffffffffu, busy)) return;
    }
}

TMAP_DEVICE tmap_u32 TMAPI_MANDELBROT(share_elements)(const void *, const tmap_ask_extent *e) {
    const tmapi_mandelbrot_runs a = tmapi_mandelbrot_runs_of(e, TMAPI_MANDELBROT_SHARE);
    return a.wide * a.parts;
}
TMAP_DEVICE tmap_u32 TMAPI_MANDELBROT(leaf_elements)(const void *, const tmap_ask_extent *e) {
    const tmapi_mandelbrot_runs a = tmapi_mandelbrot_runs_of(e, TMAPI_MANDELBROT_LEAF);
    return a.wide * a.parts;
}
TMAP_DEVICE void TMAPI_MANDELBROT(share)(const void *job, tmap_ask_work *work) {
    TMAPI_MANDELBROT(compute)((const TMAPI_MANDELBROT_JOB *)job, work, TMAPI_MANDELBROT_SHARE);
}
TMAP_DEVICE void TMAPI_MANDELBROT(leaf)(const void *job, tmap_ask_work *work) {
    TMAPI_MANDELBROT(compute)((const TMAPI_MANDELBROT_JOB *)job, work, TMAPI_MANDELBROT_LEAF);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------
//
// Blocks of a multiprocessor: four for the kernel that asks, which waits for memory; three for the
// others, which have registers enough then.

static __global__ void __launch_bounds__(256, 4)
    TMAPI_MANDELBROT(query_kernel)(tmap_ask_run run, TMAPI_MANDELBROT_JOB job) {
    run.workspace.domain.dims = 2; // a constant: no third axis is computed
    tmap_ask_query(&run, TMAPI_MANDELBROT(query), TMAPI_MANDELBROT(terminal_short),
                   tmap_ask_every_element, TMAPI_MANDELBROT(leaf_short), &job);
}

static __global__ void __launch_bounds__(256, 3)
    TMAPI_MANDELBROT(share_kernel)(tmap_ask_run run, TMAPI_MANDELBROT_JOB job) {
    run.workspace.domain.dims = 2; // a constant: no third axis is computed
    tmap_ask_share(&run, TMAPI_MANDELBROT(share_elements), TMAPI_MANDELBROT(share), &job);
}

static __global__ void __launch_bounds__(256, 3)
    TMAPI_MANDELBROT(finish_kernel)(tmap_ask_run run, TMAPI_MANDELBROT_JOB job) {
    run.workspace.domain.dims = 2; // a constant: no third axis is computed
    tmap_ask_finish(&run, TMAPI_MANDELBROT(terminal), TMAPI_MANDELBROT(leaf_elements),
                    TMAPI_MANDELBROT(leaf), &job);
}

// ---- the host's part ----------------------------------------------------------------------------

typedef struct TMAPI_MANDELBROT(plan) {
    tmap_ask_plan ask;
    TMAPI_MANDELBROT_JOB job; // without `out`
    tmap_u32 plain;           // pixels side by side of a block without a subdivision; 0: with one
} TMAPI_MANDELBROT(plan);

// The job of a picture in this workspace.
static inline cudaError_t TMAPI_MANDELBROT(job_in)(const tmap_mandelbrot *m,
                                                   const tmap_ask_workspace *w,
                                                   TMAPI_MANDELBROT_JOB *job) {
    tmap_u64 bytes;
    if (tmap_mandelbrot_check(m) || !w || w->domain.dims != 2 || w->domain.nx != m->nx ||
        w->domain.ny != m->ny)
        return cudaErrorInvalidValue;
    *job = TMAPI_MANDELBROT(job_make)(m);
    bytes = tmapi_mandelbrot_columns(&w->domain);
    if (bytes && bytes <= w->rest_bytes) job->columns = (int *)w->rest;
    return cudaSuccess;
}

static inline cudaError_t TMAPI_MANDELBROT(plan_make)(const tmap_mandelbrot *m,
                                                      const tmap_ask_workspace *w,
                                                      TMAPI_MANDELBROT(plan) * out) {
    const tmap_ask_kernels kernels = {
        (const void *)TMAPI_MANDELBROT(query_kernel), (const void *)TMAPI_MANDELBROT(finish_kernel),
        (const void *)TMAPI_MANDELBROT(share_kernel), 256, TMAPI_MANDELBROT_SCRATCH};
    TMAPI_MANDELBROT(plan) p;
    cudaError_t status;
    if (!out) return cudaErrorInvalidValue;
    p.plain = 0;
    status = TMAPI_MANDELBROT(job_in)(m, w, &p.job);
    if (status == cudaSuccess) status = tmap_ask_plan_make(w, &kernels, &p.ask);
    if (status == cudaSuccess && w->domain.b == 0)
        status = TMAPI_MANDELBROT(choose)(m, &p.job, &p.ask.run.workspace.domain, &p.plain);
    if (status == cudaSuccess) *out = p;
    return status;
}

// host: by the host driver.
static inline cudaError_t TMAPI_MANDELBROT(launch)(const TMAPI_MANDELBROT(plan) * p, int *out,
                                                   int host, float *level_ms, cudaStream_t stream) {
    TMAPI_MANDELBROT_JOB job;
    if (!p || !out || (tmap_u64)out % sizeof *out) return cudaErrorInvalidValue;
    job = p->job;
    job.out = out;
    if (p->plain) {
        tmapi_ask_control *control = p->ask.run.workspace.control;
        return host && level_ms
                   ? TMAPI_MANDELBROT(time_plain)(&job, control, p->plain, level_ms, stream)
                   : TMAPI_MANDELBROT(launch_plain)(&job, control, p->plain, stream);
    }
    return host ? tmap_ask_host(&p->ask, &job, level_ms, stream)
                : tmap_ask_stream(&p->ask, &job, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#undef TMAPI_MANDELBROT_REAL
#undef TMAPI_MANDELBROT_NAME
#undef TMAPI_MANDELBROT_FMA
#undef TMAPI_MANDELBROT_MUL

#endif // TMAPI_MANDELBROT_REAL
