// SPDX-License-Identifier: MIT
// mandelbrot_stamp.h: the functions of mandelbrot.h for one type of numbers. Included by
// mandelbrot.h, once for float and once for double; defines nothing without TMAPI_MANDELBROT_REAL.
#ifndef TMAP_ADAPTIVE_MANDELBROT_STAMP_H
#define TMAP_ADAPTIVE_MANDELBROT_STAMP_H

#define TMAPI_MANDELBROT_PASTE2(a, b) a##_##b
#define TMAPI_MANDELBROT_PASTE(a, b)  TMAPI_MANDELBROT_PASTE2(a, b)
// A function of this type: tmapi_mandelbrot_f32_dwell, ...
#define TMAPI_MANDELBROT(name)  TMAPI_MANDELBROT_PASTE(TMAPI_MANDELBROT_NAME, name)
#define TMAPI_MANDELBROT_PARAMS TMAPI_MANDELBROT(params)

#endif

#if defined(TMAPI_MANDELBROT_REAL)

// A picture, as kernels get it: c = (x0 + dx x, y0 + dy y), rounded once each.
typedef struct TMAPI_MANDELBROT_PARAMS {
    TMAPI_MANDELBROT_REAL x0, y0, dx, dy;
    tmap_u32 nx, ny;
    int dwell;
    tmap_u32 options;
    int *out, *columns;
    tmap_u32 pitch; // of columns
    int special;    // 0: every pixel is steady, and none is told by a formula
} TMAPI_MANDELBROT_PARAMS;

// A point c, and z on its way.
typedef struct TMAPI_MANDELBROT(point) {
    TMAPI_MANDELBROT_REAL cr, ci, zr, zi;
} TMAPI_MANDELBROT(point);

// |z|^2
TMAP_FN TMAPI_MANDELBROT_REAL TMAPI_MANDELBROT(norm)(TMAPI_MANDELBROT_REAL zr,
                                                     TMAPI_MANDELBROT_REAL zi) {
    return TMAPI_MANDELBROT_FMA(zr, zr, TMAPI_MANDELBROT_MUL(zi, zi));
}

// z = z^2 + c in four operations, each rounded once: zr + zr is exact.
TMAP_FN void TMAPI_MANDELBROT(step)(TMAPI_MANDELBROT(point) * a) {
    TMAPI_MANDELBROT_REAL twice = a->zr + a->zr, t = TMAPI_MANDELBROT_FMA(a->zr, a->zr, a->cr);
    a->zr = TMAPI_MANDELBROT_FMA(-a->zi, a->zi, t);
    a->zi = TMAPI_MANDELBROT_FMA(twice, a->zi, a->ci);
}

// The point of pixel (x, y), at its beginning z = c.
TMAP_FN TMAPI_MANDELBROT(point)
    TMAPI_MANDELBROT(begin)(const TMAPI_MANDELBROT_PARAMS *p, tmap_u32 x, tmap_u32 y) {
    TMAPI_MANDELBROT(point) a;
    a.zr = a.cr = TMAPI_MANDELBROT_FMA((TMAPI_MANDELBROT_REAL)x, p->dx, p->x0);
    a.zi = a.ci = TMAPI_MANDELBROT_FMA((TMAPI_MANDELBROT_REAL)y, p->dy, p->y0);
    return a;
}

// 1 if c lies in the main cardioid or in the disc of period 2, from which nothing escapes.
TMAP_FN int TMAPI_MANDELBROT(bulbs)(TMAPI_MANDELBROT_REAL cr, TMAPI_MANDELBROT_REAL ci) {
    TMAPI_MANDELBROT_REAL x = cr - (TMAPI_MANDELBROT_REAL)0.25, y2 = TMAPI_MANDELBROT_MUL(ci, ci);
    TMAPI_MANDELBROT_REAL q = TMAPI_MANDELBROT_FMA(x, x, y2), x1 = cr + 1;
    return TMAPI_MANDELBROT_MUL(q, q + x) <= y2 * (TMAPI_MANDELBROT_REAL)0.25 ||
           TMAPI_MANDELBROT_FMA(x1, x1, y2) <= (TMAPI_MANDELBROT_REAL)0.0625;
}

// The dwell by its definition, from a state after d steps on. A comparison with NaN is false, and
// NaN has escaped.
TMAP_FN int TMAPI_MANDELBROT(tested)(TMAPI_MANDELBROT(point) a, int d, int dwell) {
    for (; d < dwell; ++d) {
        if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) break;
        TMAPI_MANDELBROT(step)(&a);
    }
    return d;
}

// 1 if the dwell of this point can be told without a step.
TMAP_FN int TMAPI_MANDELBROT(known)(const TMAPI_MANDELBROT_PARAMS *p, TMAPI_MANDELBROT(point) a) {
    return (p->options & TMAP_MANDELBROT_BULBS) && TMAPI_MANDELBROT(bulbs)(a.cr, a.ci);
}

// The dwell of pixel (x, y) with a test in every step.
TMAP_FN int TMAPI_MANDELBROT(dwell)(const TMAPI_MANDELBROT_PARAMS *p, tmap_u32 x, tmap_u32 y) {
    TMAPI_MANDELBROT(point) a = TMAPI_MANDELBROT(begin)(p, x, y);
    return TMAPI_MANDELBROT(known)(p, a) ? p->dwell : TMAPI_MANDELBROT(tested)(a, 0, p->dwell);
}

// 1 if what has once escaped is beyond 2 in every later step, whatever the rounding: then steps may
// be taken without a test. |z'| >= |z|^2 - |c| grows by a margin that rounding cannot take away if
// |c| is not close to 2.
TMAP_FN int TMAPI_MANDELBROT(steady)(TMAPI_MANDELBROT(point) a) {
    return TMAPI_MANDELBROT(norm)(a.cr, a.ci) < (TMAPI_MANDELBROT_REAL)3.9;
}

#if TMAP_CUDA

// The same dwell with a test in every TMAPI_MANDELBROT_UNROLLED steps; the last ones are taken
// again with tests.
TMAP_DEVICE int TMAPI_MANDELBROT(dwell_unrolled)(const TMAPI_MANDELBROT_PARAMS *p, tmap_u32 x,
                                                 tmap_u32 y) {
    TMAPI_MANDELBROT(point) a = TMAPI_MANDELBROT(begin)(p, x, y), saved;
    int d = 0;
    if (TMAPI_MANDELBROT(known)(p, a)) return p->dwell;
    if (TMAPI_MANDELBROT(steady)(a))
        while (d <= p->dwell - TMAPI_MANDELBROT_UNROLLED) {
            saved = a;
#pragma unroll
            for (int i = 0; i < TMAPI_MANDELBROT_UNROLLED; ++i) TMAPI_MANDELBROT(step)(&a);
            if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) {
                a = saved;
                break;
            }
            d += TMAPI_MANDELBROT_UNROLLED;
        }
    return TMAPI_MANDELBROT(tested)(a, d, p->dwell);
}

// ---- the functions of the subdivision -----------------------------------------------------------

// Where pixel (x, y) is kept: column is TMAPI_MANDELBROT_PICTURE or the number of a column.
TMAP_DEVICE int *TMAPI_MANDELBROT(kept)(const TMAPI_MANDELBROT_PARAMS *p, tmap_u32 x, tmap_u32 y,
                                        tmap_u32 column) {
    return column != TMAPI_MANDELBROT_PICTURE && p->columns
               ? p->columns + (tmap_u64)column * p->pitch + y + TMAPI_MANDELBROT_ABOVE
               : p->out + (tmap_u64)y * p->nx + x;
}

// What a thread finds on its part of a region's border, which has four sides: rows y0 and y1 and
// columns x0 and x1. A quarter of the team walks each of them, with TMAPI_MANDELBROT_READS reads in
// flight, of four pixels each where they stand side by side at a multiple of 16 bytes.
TMAP_DEVICE tmap_ask_range TMAPI_MANDELBROT(query)(const TMAPI_MANDELBROT_PARAMS *p,
                                                   const tmap_ask_region *region, tmap_u32 rank,
                                                   tmap_u32 size) {
    const tmapi_mandelbrot_box box = tmapi_mandelbrot_closed(p->nx, p->ny, region);
    const tmap_u32 lane = threadIdx.x & 31u, side = rank % 4, part = rank / 4, parts = size / 4;
    const tmap_u32 lanes = size < 32 ? ((1u << size) - 1) << (lane & (0u - size)) : 0xffffffffu;
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
    const int wide = __all_sync(lanes, step == 1 && (tmap_u64)at % 16 == 0);
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
        if (__any_sync(lanes, range.least != range.most)) break;
    }
    return range;
}

TMAP_DEVICE void TMAPI_MANDELBROT(terminal)(const TMAPI_MANDELBROT_PARAMS *p,
                                            const tmap_ask_region *region, tmap_u32 value,
                                            tmap_u32 rank, tmap_u32 size) {
    tmapi_fill_rows(p->out, p->nx, region->x0, region->x1, region->y0, region->y1, (int)value, rank,
                    size);
}

// z without its c.
typedef struct TMAPI_MANDELBROT(z) {
    TMAPI_MANDELBROT_REAL zr, zi;
} TMAPI_MANDELBROT(z);

// `count` steps, a constant; *after: where they lead to, unless it is null.
TMAP_DEVICE void TMAPI_MANDELBROT(steps)(TMAPI_MANDELBROT(point) * a, const int count,
                                         TMAPI_MANDELBROT(z) * after) {
#pragma unroll
    for (int i = 0; i < count; ++i) TMAPI_MANDELBROT(step)(a);
    if (after) after->zr = a->zr, after->zi = a->zi;
}

// Where |z| < 2 still holds after `steps` steps more, known as `after`, *a goes there. Returns the
// steps that it took: those or none.
TMAP_DEVICE int TMAPI_MANDELBROT(jump)(TMAPI_MANDELBROT(point) * a, TMAPI_MANDELBROT(z) after,
                                       int steps) {
    const int inside = TMAPI_MANDELBROT(norm)(after.zr, after.zi) < 4;
    a->zr = inside ? after.zr : a->zr;
    a->zi = inside ? after.zi : a->zi;
    return inside ? steps : 0;
}

// How many of the next `steps` steps, a power of two, are taken before |z| >= 2, if at least one is
// and not all are: halving, as what has escaped stays escaped.
TMAP_DEVICE int TMAPI_MANDELBROT(last_steps)(TMAPI_MANDELBROT(point) a, int steps) {
    int taken = 1;
#pragma unroll
    for (int half = steps / 2; half; half /= 2) {
        TMAPI_MANDELBROT(point) b = a;
        TMAPI_MANDELBROT(z) after;
        TMAPI_MANDELBROT(steps)(&b, half, &after);
        taken += TMAPI_MANDELBROT(jump)(&a, after, half);
    }
    return taken;
}

// A pixel that is not through after its first steps, kept in shared memory until a lane is free.
typedef struct TMAPI_MANDELBROT(survivor) {
    TMAPI_MANDELBROT_REAL zr, zi;
    tmap_u32 x, y, column;
} TMAPI_MANDELBROT(survivor);

// Where a lane is in its element: at (x, y), y below `end`, in a leaf. Between children: at `x`
// along line number y of an axis, line number `end` being the region's last one; `border` is where
// the region's border is.
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
TMAP_DEVICE void TMAPI_MANDELBROT(leaf_begin)(const TMAPI_MANDELBROT_PARAMS *p,
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
// cross, pixels are computed twice.
TMAP_DEVICE void TMAPI_MANDELBROT(share_begin)(const TMAPI_MANDELBROT_PARAMS *p,
                                               const tmap_ask_work *work, tmapi_ask_divider wide,
                                               tmap_u32 i, TMAPI_MANDELBROT(run) * run) {
    const tmap_ask_region *t = &work->region;
    const tmapi_mandelbrot_box box = tmapi_mandelbrot_closed(p->nx, p->ny, t);
    tmap_u32 rest, line = 1 + tmapi_ask_divide(wide, i, &rest);
    run->upright = rest > work->sides.x;
    if (run->upright) {
        run->x = t->y0 + rest - work->sides.x;
        run->y = t->px * work->r + line, run->end = (t->px + 1) * work->r;
        run->axis = work->plan->child.x, run->border = box.x1;
        if (run->x >= box.y1) run->end = 0;
    } else {
        run->x = t->x0 + rest;
        run->y = t->py * work->r + line, run->end = (t->py + 1) * work->r;
        run->axis = work->plan->child.y, run->border = box.y1;
        if (run->x > box.x1) run->end = 0;
    }
}

// The first steps of up to 32 new pixels, TMAPI_MANDELBROT_SHORT between tests. Most pixels end
// here (n = 16384, (16, 2, 8): three of four within 32 steps), without the price of coming and
// going one by one; the others are queued. Returns how many are. *more becomes 0 when there are no
// new pixels. *run: where the lanes are in their elements; its `left` and `copy` are 0 at first.
// Collective.
TMAP_DEVICE tmap_u32 TMAPI_MANDELBROT(first_steps)(
    const TMAPI_MANDELBROT_PARAMS *p, tmap_ask_work *work, const tmapi_mandelbrot_runs *runs,
    tmapi_ask_divider wide, int kind, TMAPI_MANDELBROT(run) * run, int *more,
    TMAPI_MANDELBROT(survivor) * queue, tmap_u32 queued) {
    TMAPI_MANDELBROT(point) a, b;
    tmap_u32 i, survivors, column = TMAPI_MANDELBROT_PICTURE;
    tmap_xy place = {0, 0};
    int mine = 0, known = 0, alive;
    if (run->left == 0) {
        if (kind == TMAPI_MANDELBROT_LEAF && run->copy)
            p->out[(tmap_u64)run->copy * p->nx + work->region.x0] = run->copied;
        run->copy = 0;
        *more = tmap_ask_take(work, &i);
        if (!*more) return queued;
        run->end = 0;
        run->left = kind == TMAPI_MANDELBROT_BORDER ? 1 : runs->rows;
        if (i != TMAP_ASK_NO_ELEMENT) {
            if (kind == TMAPI_MANDELBROT_LEAF)
                TMAPI_MANDELBROT(leaf_begin)(p, work, wide, runs->parts, i, run);
            else if (kind == TMAPI_MANDELBROT_SHARE)
                TMAPI_MANDELBROT(share_begin)(p, work, wide, i, run);
            else
                mine = tmapi_mandelbrot_place(work, p->nx, p->ny, i, &place, &column);
        }
    }
    --run->left;
    if (kind == TMAPI_MANDELBROT_LEAF) {
        place.x = run->x, place.y = run->y;
        mine = run->y < run->end;
        run->y += runs->parts;
        a.zr = a.cr = run->cr;
        a.zi = a.ci = TMAPI_MANDELBROT_FMA((TMAPI_MANDELBROT_REAL)place.y, p->dy, p->y0);
    } else {
        if (kind == TMAPI_MANDELBROT_SHARE) {
            tmap_u32 at = tmapi_ask_edge(run->axis, run->y);
            if (at > run->border) at = run->border;
            place.x = run->upright ? at : run->x, place.y = run->upright ? run->x : at;
            if (run->upright) column = run->y * work->plan->child.fine;
            mine = run->y < run->end;
            run->y += runs->parts;
        }
        a = TMAPI_MANDELBROT(begin)(p, place.x, place.y);
    }
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

// Computes the elements of `work`, of one of the three kinds: the first steps of all, then the
// others of those that need them. There, lanes take TMAPI_MANDELBROT_STEPS steps without a test,
// then look once. A lane that is through waits, taking those steps again from the z before them,
// until TMAPI_MANDELBROT_WAIT lanes are without a pixel in progress; then they find their last
// step, store and take new pixels, while the others keep theirs. No branch in the inner loop. Where
// z is known between the steps, a quarter of them is left to find the last one in. (H200, n =
// 16384: all 32 steps halved 1.20 ms, with quarters 1.15, 64 steps 1.13.)
TMAP_DEVICE void TMAPI_MANDELBROT(compute)(const TMAPI_MANDELBROT_PARAMS *p, tmap_ask_work *work,
                                           int kind) {
    __shared__ TMAPI_MANDELBROT(survivor) queues[TMAPI_ASK_THREADS / 32][64];
    const tmapi_mandelbrot_runs runs =
        tmapi_mandelbrot_runs_of(&work->sides, work->r, work->regions, work->warps, kind);
    const tmapi_ask_divider wide = tmapi_ask_divider_make(runs.wide);
    TMAPI_MANDELBROT(survivor) *queue = queues[threadIdx.x / 32];
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
            // with all of them. Nearly half of the steps of level 0, whose borders cross the set;
            // later ones meet the set at its edge, where z takes too long to settle.
            if (kind == TMAPI_MANDELBROT_BORDER && left > 0 && a.zr == zr && a.zi == zi)
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

TMAP_DEVICE tmap_u32 TMAPI_MANDELBROT(border_elements)(const TMAPI_MANDELBROT_PARAMS *,
                                                       const tmap_ask_sides *sides) {
    return tmapi_mandelbrot_border_elements(sides);
}
TMAP_DEVICE tmap_u32 TMAPI_MANDELBROT(share_elements)(const TMAPI_MANDELBROT_PARAMS *,
                                                      const tmap_ask_sides *sides,
                                                      const tmap_ask_sides *, tmap_u32 r,
                                                      tmap_u32 regions, tmap_u32 warps) {
    const tmapi_mandelbrot_runs a =
        tmapi_mandelbrot_runs_of(sides, r, regions, warps, TMAPI_MANDELBROT_SHARE);
    return a.wide * a.parts;
}
TMAP_DEVICE tmap_u32 TMAPI_MANDELBROT(leaf_elements)(const TMAPI_MANDELBROT_PARAMS *,
                                                     const tmap_ask_sides *sides, tmap_u32 regions,
                                                     tmap_u32 warps) {
    const tmapi_mandelbrot_runs a =
        tmapi_mandelbrot_runs_of(sides, 2, regions, warps, TMAPI_MANDELBROT_LEAF);
    return a.wide * a.parts;
}
TMAP_DEVICE void TMAPI_MANDELBROT(border)(const TMAPI_MANDELBROT_PARAMS *p, tmap_ask_work *work) {
    TMAPI_MANDELBROT(compute)(p, work, TMAPI_MANDELBROT_BORDER);
}
TMAP_DEVICE void TMAPI_MANDELBROT(share)(const TMAPI_MANDELBROT_PARAMS *p, tmap_ask_work *work) {
    TMAPI_MANDELBROT(compute)(p, work, TMAPI_MANDELBROT_SHARE);
}
TMAP_DEVICE void TMAPI_MANDELBROT(leaf)(const TMAPI_MANDELBROT_PARAMS *p, tmap_ask_work *work) {
    TMAPI_MANDELBROT(compute)(p, work, TMAPI_MANDELBROT_LEAF);
}

#endif // TMAP_CUDA

#define TMAP_ASK_NAME   TMAPI_MANDELBROT_NAME
#define TMAP_ASK_PARAMS TMAPI_MANDELBROT_PARAMS
#define TMAP_ASK_DIMS   2
#define TMAP_ASK_SHARES 1
#include "ask_stamp.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- exhaustive ---------------------------------------------------------------------------------

// A thread for each pixel, a test in every step.
static __global__ void __launch_bounds__(256)
    TMAPI_MANDELBROT(plain_kernel)(TMAPI_MANDELBROT_PARAMS p) {
    tmap_u32 x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 16 * gridDim.y)
        p.out[(tmap_u64)y * p.nx + x] = TMAPI_MANDELBROT(dwell)(&p, x, y);
}

// The same with a test once in TMAPI_MANDELBROT_UNROLLED steps. A warp has 8 x 4 pixels, whose
// dwells differ less than those of 32 in a row.
static __global__ void __launch_bounds__(256)
    TMAPI_MANDELBROT(unrolled_kernel)(TMAPI_MANDELBROT_PARAMS p) {
    tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u32 x = blockIdx.x * 16 + warp % 2 * 8 + lane % 8;
    tmap_u32 y = blockIdx.y * 16 + warp / 2 * 4 + lane / 8;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 16 * gridDim.y)
        p.out[(tmap_u64)y * p.nx + x] = TMAPI_MANDELBROT(dwell_unrolled)(&p, x, y);
}

// The picture in numbers of this type; the pixel's side is divided in double.
static inline TMAPI_MANDELBROT_PARAMS TMAPI_MANDELBROT(make)(const tmap_mandelbrot *m, int *out) {
    TMAPI_MANDELBROT_PARAMS p;
    p.x0 = (TMAPI_MANDELBROT_REAL)m->x0, p.y0 = (TMAPI_MANDELBROT_REAL)m->y0;
    p.dx = (TMAPI_MANDELBROT_REAL)((m->x1 - m->x0) / m->nx);
    p.dy = (TMAPI_MANDELBROT_REAL)((m->y1 - m->y0) / m->ny);
    p.nx = m->nx, p.ny = m->ny;
    p.dwell = (int)m->dwell;
    p.options = m->options;
    p.out = out;
    p.columns = m->columns;
    p.pitch = tmapi_mandelbrot_pitch(m->ny);
    // The largest |c| is at a corner.
    p.special = (m->options & TMAP_MANDELBROT_BULBS) != 0;
    for (int corner = 0; corner < 4; ++corner)
        p.special |= !TMAPI_MANDELBROT(steady)(
            TMAPI_MANDELBROT(begin)(&p, corner & 1 ? m->nx - 1 : 0, corner & 2 ? m->ny - 1 : 0));
    return p;
}

static inline cudaError_t TMAPI_MANDELBROT(launch)(const tmap_mandelbrot *m, int approach,
                                                   tmap_ask_params a, int driver,
                                                   const tmap_ask_workspace *s, int *out,
                                                   cudaStream_t stream) {
    TMAPI_MANDELBROT_PARAMS p;
    int error = tmap_mandelbrot_check(m);
    if (error || !out || (tmap_u64)out % sizeof *out) return cudaErrorInvalidValue;
    if (approach < 0 || approach >= TMAP_MANDELBROT_APPROACH_COUNT) return cudaErrorInvalidValue;
    p = TMAPI_MANDELBROT(make)(m, out);
    if (approach <= TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED) {
        tmap_u32 columns = (m->nx + 15) / 16, rows = (m->ny + 15) / 16;
        dim3 grid(columns, rows < 65535 ? rows : 65535, 1);
        if (approach == TMAP_MANDELBROT_EXHAUSTIVE)
            TMAPI_MANDELBROT(plain_kernel)<<<grid, 256, 0, stream>>>(p);
        else
            TMAPI_MANDELBROT(unrolled_kernel)<<<grid, 256, 0, stream>>>(p);
        return cudaGetLastError();
    }
    if (!tmapi_mandelbrot_fits(m, a, s)) return cudaErrorInvalidValue;
    // With more columns of regions than of pixels some would fall onto others: they have no memory
    // of their own then.
    if (tmap_region_parts(a.g, a.r, s->domain.levels - 1) > m->nx) p.columns = 0;
    return TMAPI_MANDELBROT(ask)(
        &p, approach == TMAP_MANDELBROT_ASK_SBR ? TMAP_ASK_SBR : TMAP_ASK_MBR, driver, s, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#undef TMAPI_MANDELBROT_REAL
#undef TMAPI_MANDELBROT_NAME
#undef TMAPI_MANDELBROT_FMA
#undef TMAPI_MANDELBROT_MUL

#endif // TMAPI_MANDELBROT_REAL
