// SPDX-License-Identifier: MIT
// mandelbrot_stamp.h: the dwell of a pixel and the kernels for one type of numbers. mandelbrot.h
// and mandelbrot_f64.h include it after they define TMAPI_MANDELBROT_NAME and, with names that
// begin with it, the type `real` and its operations fma and mul. Otherwise it defines nothing.
#ifndef TMAP_ADAPTIVE_MANDELBROT_STAMP_H
#define TMAP_ADAPTIVE_MANDELBROT_STAMP_H

#include "mandelbrot_picture.h"

// TMAPI_MB(dwell) is tmapi_mandelbrot_f32_dwell or tmapi_mandelbrot_f64_dwell.
#define TMAPI_MB_PASTE2(a, b) a##_##b
#define TMAPI_MB_PASTE(a, b)  TMAPI_MB_PASTE2(a, b)
#define TMAPI_MB(name)        TMAPI_MB_PASTE(TMAPI_MANDELBROT_NAME, name)

// Powers of two: the first steps of a pixel, and the steps between two tests of them.
#define TMAPI_MANDELBROT_FIRST 64
#define TMAPI_MANDELBROT_SHORT 8
// The steps between two later tests, and the parts they are taken in: z is stored after each, so
// that only a part must be repeated to find the last step.
#define TMAPI_MANDELBROT_STEPS 64
#define TMAPI_MANDELBROT_PARTS 4
// Lanes without a pixel before new pixels are taken, 1 to 32; 32: all together.
#define TMAPI_MANDELBROT_WAIT 16

// Without a subdivision: the first steps of a pixel where many escape at once, each with a test;
// then the number of times eight steps with a test; and the steps between two later tests, four
// times eight.
#define TMAPI_MANDELBROT_TESTED 4
#define TMAPI_MANDELBROT_EIGHTS 4
#define TMAPI_MANDELBROT_PLAIN  32

#endif

#if defined(TMAPI_MANDELBROT_NAME)

// A picture, as the kernels receive it: c = (x0 + dx x, y0 + dy y), each rounded once.
typedef struct TMAPI_MB(job) {
    tmapi_mandelbrot_canvas to;
    TMAPI_MB(real) x0, y0, dx, dy;
} TMAPI_MB(job);

// A point c, and its current z.
typedef struct TMAPI_MB(point) {
    TMAPI_MB(real) cr, ci, zr, zi;
} TMAPI_MB(point);

// z without its c.
typedef struct TMAPI_MB(z) {
    TMAPI_MB(real) zr, zi;
} TMAPI_MB(z);

// ---- the definition -----------------------------------------------------------------------------

// z|^2, with zi zi rounded before the fused addition of zr zr.
TMAP_FN TMAPI_MB(real) TMAPI_MB(norm)(TMAPI_MB(real) zr, TMAPI_MB(real) zi) {
    return TMAPI_MB(fma)(zr, zr, TMAPI_MB(mul)(zi, zi));
}

// z = z^2 + c in three fused operations and an exact sum, in this order.
TMAP_FN void TMAPI_MB(step)(TMAPI_MB(point) * a) {
    TMAPI_MB(real) twice = a->zr + a->zr, t = TMAPI_MB(fma)(a->zr, a->zr, a->cr);
    a->zr = TMAPI_MB(fma)(-a->zi, a->zi, t);
    a->zi = TMAPI_MB(fma)(twice, a->zi, a->ci);
}

// The point of pixel (x, y), with z = c.
TMAP_FN TMAPI_MB(point) TMAPI_MB(begin)(const TMAPI_MB(job) * p, tmap_u32 x, tmap_u32 y) {
    TMAPI_MB(point) a;
    a.zr = a.cr = TMAPI_MB(fma)((TMAPI_MB(real))x, p->dx, p->x0);
    a.zi = a.ci = TMAPI_MB(fma)((TMAPI_MB(real))y, p->dy, p->y0);
    return a;
}

// 1 if a formula gives the dwell of this point: for the main cardioid and the disc of period 2,
// from which nothing escapes.
TMAP_FN int TMAPI_MB(known)(const TMAPI_MB(job) * p, TMAPI_MB(point) a) {
    TMAPI_MB(real) x = a.cr - (TMAPI_MB(real))0.25, y2 = TMAPI_MB(mul)(a.ci, a.ci);
    TMAPI_MB(real) q = TMAPI_MB(fma)(x, x, y2), x1 = a.cr + 1;
    return (p->to.options & TMAP_MANDELBROT_BULBS) &&
           (TMAPI_MB(mul)(q, q + x) <= y2 * (TMAPI_MB(real))0.25 ||
            TMAPI_MB(fma)(x1, x1, y2) <= (TMAPI_MB(real))0.0625);
}

// The dwell by its definition, from a state after d steps on. A comparison with NaN is false, so
// NaN has escaped.
TMAP_FN int TMAPI_MB(tested)(TMAPI_MB(point) a, int d, int dwell) {
    for (; d < dwell; ++d) {
        if (!(TMAPI_MB(norm)(a.zr, a.zi) < 4)) break;
        TMAPI_MB(step)(&a);
    }
    return d;
}

// The dwell of pixel (x, y) with a test in every step.
TMAP_FN int TMAPI_MB(dwell)(const TMAPI_MB(job) * p, tmap_u32 x, tmap_u32 y) {
    TMAPI_MB(point) a = TMAPI_MB(begin)(p, x, y);
    return TMAPI_MB(known)(p, a) ? p->to.dwell : TMAPI_MB(tested)(a, 0, p->to.dwell);
}

// 1 if a point that has escaped remains beyond 2 whatever the rounding: |z'| >= |z|^2 - |c| grows
// by more than rounding errors if |c| is not close to 2.
TMAP_FN int TMAPI_MB(steady)(TMAPI_MB(point) a) {
    return TMAPI_MB(norm)(a.cr, a.ci) < (TMAPI_MB(real))3.9;
}

// The picture in numbers of this type; the side of a pixel is divided in double.
TMAP_FN TMAPI_MB(job) TMAPI_MB(job_make)(const tmap_mandelbrot *m) {
    TMAPI_MB(job) p;
    p.x0 = (TMAPI_MB(real))m->x0, p.y0 = (TMAPI_MB(real))m->y0;
    p.dx = (TMAPI_MB(real))((m->x1 - m->x0) / m->nx);
    p.dy = (TMAPI_MB(real))((m->y1 - m->y0) / m->ny);
    p.to.nx = m->nx, p.to.ny = m->ny;
    p.to.dwell = (int)m->dwell;
    p.to.options = m->options;
    p.to.out = p.to.columns = 0;
    p.to.pitch = tmapi_mandelbrot_pitch(m->ny);
    // The largest |c| is at a corner.
    p.to.special = (m->options & TMAP_MANDELBROT_BULBS) != 0;
    for (int corner = 0; corner < 4; ++corner)
        p.to.special |= !TMAPI_MB(steady)(
            TMAPI_MB(begin)(&p, corner & 1 ? m->nx - 1 : 0, corner & 2 ? m->ny - 1 : 0));
    return p;
}

// ---- several steps at once ----------------------------------------------------------------------

#if TMAP_CUDA

// Takes `count` steps, a constant. *after: receives the z they lead to, unless it is null.
TMAP_DEVICE void TMAPI_MB(steps)(TMAPI_MB(point) * a, const int count, TMAPI_MB(z) * after) {
#pragma unroll
    for (int i = 0; i < count; ++i) TMAPI_MB(step)(a);
    if (after) after->zr = a->zr, after->zi = a->zi;
}

// Moves *a forward by `steps` steps, to `after`, if |z| < 2 there. Returns the steps: all or none.
TMAP_DEVICE int TMAPI_MB(jump)(TMAPI_MB(point) * a, TMAPI_MB(z) after, int steps) {
    const int inside = TMAPI_MB(norm)(after.zr, after.zi) < 4;
    a->zr = inside ? after.zr : a->zr;
    a->zi = inside ? after.zi : a->zi;
    return inside ? steps : 0;
}

// How many of the next `steps` steps, a power of two, are taken before |z| >= 2, if at least one is
// and not all are. By halving: points that have escaped remain so.
TMAP_DEVICE int TMAPI_MB(last_steps)(TMAPI_MB(point) a, int steps) {
    int taken = 1;
#pragma unroll
    for (int half = steps / 2; half; half /= 2) {
        TMAPI_MB(point) b = a;
        TMAPI_MB(z) after;
        TMAPI_MB(steps)(&b, half, &after);
        taken += TMAPI_MB(jump)(&a, after, half);
    }
    return taken;
}

// The dwell of a point for a picture without a subdivision; a point that returns to an earlier
// position never escapes. tested: 1: the first steps are tested one by one.
TMAP_DEVICE int TMAPI_MB(dwell_plain)(const TMAPI_MB(job) * p, TMAPI_MB(point) a, int tested) {
    const TMAPI_MB(point) begin = a;
    TMAPI_MB(point) before; // d steps on
    TMAPI_MB(z) after;
    int d = 0, eights = 0; // windows of eight steps
    if (p->to.special || tested) {
#pragma unroll
        for (; d < TMAPI_MANDELBROT_TESTED; ++d) {
            if (!(TMAPI_MB(norm)(a.zr, a.zi) < 4)) return d;
            TMAPI_MB(step)(&a);
        }
        if (!(TMAPI_MB(norm)(a.zr, a.zi) < 4)) return d;
    }
    if (p->to.special) {
        if (TMAPI_MB(known)(p, begin)) return p->to.dwell;
        if (!TMAPI_MB(steady)(begin)) return TMAPI_MB(tested)(a, d, p->to.dwell);
    }
    before = a;
#pragma unroll
    for (; eights < TMAPI_MANDELBROT_EIGHTS && d < p->to.dwell; ++eights) {
        a = before;
        TMAPI_MB(steps)(&a, TMAPI_MANDELBROT_PLAIN / 4, 0);
        if (!(TMAPI_MB(norm)(a.zr, a.zi) < 4)) break;
        before = a;
        d += TMAPI_MANDELBROT_PLAIN / 4;
    }
    if (eights == TMAPI_MANDELBROT_EIGHTS)
        while (d < p->to.dwell) {
            a = before;
            TMAPI_MB(steps)(&a, TMAPI_MANDELBROT_PLAIN, 0);
            if (!(TMAPI_MB(norm)(a.zr, a.zi) < 4)) break;
            d = a.zr == before.zr && a.zi == before.zi ? p->to.dwell : d + TMAPI_MANDELBROT_PLAIN;
            before = a;
        }
    // All lanes arrive here together, and search the last step together.
    if (d >= p->to.dwell) return d;
    if (eights == TMAPI_MANDELBROT_EIGHTS) {
        a = before;
        TMAPI_MB(steps)(&a, TMAPI_MANDELBROT_PLAIN / 2, &after);
        d += TMAPI_MB(jump)(&before, after, TMAPI_MANDELBROT_PLAIN / 2);
        a = before;
        TMAPI_MB(steps)(&a, TMAPI_MANDELBROT_PLAIN / 4, &after);
        d += TMAPI_MB(jump)(&before, after, TMAPI_MANDELBROT_PLAIN / 4);
    }
    return d + TMAPI_MB(last_steps)(before, TMAPI_MANDELBROT_PLAIN / 4);
}

// ---- pixels that a region computes --------------------------------------------------------------

// A leaf with the shortest code, for the kernel that queries. The region's first row is already in
// the picture, and may be the last row of another region.
TMAP_DEVICE void TMAPI_MB(leaf_short)(const void *job, tmap_ask_work *work) {
    const TMAPI_MB(job) *p = (const TMAPI_MB(job) *)job;
    tmap_u32 i;
    tmap_xyz at;
    while (tmap_ask_take(work, &i))
        if (tmap_ask_element(work, i, &at) && at.y > work->region.y0)
            p->to.out[(tmap_u64)at.y * p->to.nx + at.x] = TMAPI_MB(dwell)(p, at.x, at.y);
}

// A pixel that continues after its first steps, kept in shared memory until a lane is free.
typedef struct TMAPI_MB(survivor) {
    TMAPI_MB(real) zr, zi;
    tmap_u32 x, y, column;
} TMAPI_MB(survivor);

typedef char
    TMAPI_MB(survivors_fit)[64 * sizeof(TMAPI_MB(survivor)) <= TMAPI_MANDELBROT_SCRATCH ? 1 : -1];

// Takes the first steps of up to 32 new pixels, TMAPI_MANDELBROT_SHORT between tests. Most pixels
// end here; the others are queued. *cr: of all pixels of a leaf's element. Collective for the warp.
TMAP_DEVICE void TMAPI_MB(first_steps)(const TMAPI_MB(job) * p, tmap_ask_work *work,
                                       const tmapi_mandelbrot_runs *runs, tmapi_ask_divider wide,
                                       int kind, tmapi_mandelbrot_run *run, TMAPI_MB(real) * cr,
                                       TMAPI_MB(survivor) * queue) {
    TMAPI_MB(point) a, b;
    tmap_u32 i, survivors, column = TMAPI_MANDELBROT_PICTURE;
    tmap_xy place;
    int mine, known = 0, alive;
    if (run->left == 0) {
        run->more = tmap_ask_take(work, &i);
        if (!run->more) return;
        run->end = 0;
        run->left = runs->rows;
        if (i != TMAP_ASK_NO_ELEMENT) {
            if (kind == TMAPI_MANDELBROT_LEAF) {
                tmapi_mandelbrot_leaf_begin(&p->to, work, wide, runs->parts, i, run);
                *cr = TMAPI_MB(fma)((TMAPI_MB(real))run->x, p->dx, p->x0);
            } else {
                tmapi_mandelbrot_share_begin(&p->to, work, wide, i, run);
            }
        }
    }
    --run->left;
    mine = run->y < run->end;
    if (kind == TMAPI_MANDELBROT_LEAF) {
        place.x = run->x, place.y = run->y;
        a.zr = a.cr = *cr;
        a.zi = a.ci = TMAPI_MB(fma)((TMAPI_MB(real))place.y, p->dy, p->y0);
    } else {
        tmap_u32 at = tmapi_ask_edge(run->axis, run->y);
        if (at > run->border) at = run->border;
        place.x = run->upright ? at : run->x, place.y = run->upright ? run->x : at;
        if (run->upright) column = run->y * work->common->child.fine;
        a = TMAPI_MB(begin)(p, place.x, place.y);
    }
    run->y += runs->parts;
    alive = mine;
    if (p->to.special && mine) {
        alive = TMAPI_MB(steady)(a) && !TMAPI_MB(known)(p, a);
        if (!alive)
            known = TMAPI_MB(known)(p, a) ? p->to.dwell : TMAPI_MB(tested)(a, 0, p->to.dwell);
    }
    if (alive) {
        // Steps from a to b and from b to a alternate: a lane that leaves has the earlier z in the
        // other one, and the z between in `half`.
        TMAPI_MB(z) half = {0, 0};
        b = a;
#pragma unroll
        for (int steps = 0; steps < TMAPI_MANDELBROT_FIRST; steps += 2 * TMAPI_MANDELBROT_SHORT) {
            b.zr = a.zr, b.zi = a.zi;
            TMAPI_MB(steps)(&b, TMAPI_MANDELBROT_SHORT / 2, &half);
            TMAPI_MB(steps)(&b, TMAPI_MANDELBROT_SHORT / 2, 0);
            if (!(TMAPI_MB(norm)(b.zr, b.zi) < 4)) break;
            known += TMAPI_MANDELBROT_SHORT;
            a.zr = b.zr, a.zi = b.zi;
            TMAPI_MB(steps)(&a, TMAPI_MANDELBROT_SHORT / 2, &half);
            TMAPI_MB(steps)(&a, TMAPI_MANDELBROT_SHORT / 2, 0);
            if (!(TMAPI_MB(norm)(a.zr, a.zi) < 4)) break;
            known += TMAPI_MANDELBROT_SHORT;
        }
        if (known < TMAPI_MANDELBROT_FIRST) {
            alive = 0;
            b.zr = known & TMAPI_MANDELBROT_SHORT ? b.zr : a.zr;
            b.zi = known & TMAPI_MANDELBROT_SHORT ? b.zi : a.zi;
            known += TMAPI_MB(jump)(&b, half, TMAPI_MANDELBROT_SHORT / 2);
            known += TMAPI_MB(last_steps)(b, TMAPI_MANDELBROT_SHORT / 2);
        }
        alive = alive && known < p->to.dwell;
    }
    if (mine && !alive)
        *tmapi_mandelbrot_kept(&p->to, place.x, place.y, column) =
            known < p->to.dwell ? known : p->to.dwell;
    survivors = __ballot_sync(0xffffffffu, alive);
    if (alive) {
        tmap_u32 rank = (tmap_u32)__popc(survivors & ((1u << (threadIdx.x & 31u)) - 1));
        TMAPI_MB(survivor) *entry = queue + run->queued + rank;
        entry->zr = a.zr, entry->zi = a.zi, entry->x = place.x, entry->y = place.y;
        if (kind != TMAPI_MANDELBROT_LEAF) entry->column = column;
    }
    run->queued += (tmap_u32)__popc(survivors);
}

// Computes the elements of `work`: the first steps of all pixels, then further steps of those that
// need them. There, lanes take TMAPI_MANDELBROT_STEPS steps without a test, then test once. A lane
// whose pixel has escaped repeats those steps from the z before them, until TMAPI_MANDELBROT_WAIT
// lanes have no pixel; then these find their last step, store it and take new pixels, while the
// others keep theirs. The inner loop has no branch. kind: a constant.
TMAP_DEVICE void TMAPI_MB(compute)(const TMAPI_MB(job) * p, tmap_ask_work *work, int kind) {
    const tmapi_mandelbrot_runs runs = tmapi_mandelbrot_runs_of(&work->extent, kind);
    const tmapi_ask_divider wide = tmapi_ask_divider_make(runs.wide);
    TMAPI_MB(survivor) *queue = (TMAPI_MB(survivor) *)work->scratch;
    TMAPI_MB(point) a = {0, 0, 0, 0};
    TMAPI_MB(real) cr, zr = 0, zi = 0; // cr: of a leaf's column; z: before the last steps
    // After each part of them except the last one.
    TMAPI_MB(z) between[TMAPI_MANDELBROT_PARTS - 1] = {};
    const int part = TMAPI_MANDELBROT_STEPS / TMAPI_MANDELBROT_PARTS;
    // times: how often the steps of a queued pixel are taken, to `end` steps in all. left: how
    // often they remain to be taken; above 0 meanwhile, and negated when the lane is done.
    const int times = (p->to.dwell - TMAPI_MANDELBROT_FIRST + TMAPI_MANDELBROT_STEPS - 1) /
                      TMAPI_MANDELBROT_STEPS;
    const int end = TMAPI_MANDELBROT_FIRST + times * TMAPI_MANDELBROT_STEPS;
    int busy = 0, left = 0;
    tmapi_mandelbrot_run run;
    int *out = p->to.out;
    run.left = run.queued = 0;
    run.more = 1;
    for (;;) {
        int least; // lanes in progress
        tmap_u32 idle, rank;
        while (run.more && run.queued < 32)
            TMAPI_MB(first_steps)(p, work, &runs, wide, kind, &run, &cr, queue);
        __syncwarp(); // the queue has been read
        idle = __ballot_sync(0xffffffffu, !busy);
        rank = (tmap_u32)__popc(idle & ((1u << (threadIdx.x & 31u)) - 1));
        if (!busy && rank < run.queued) {
            const TMAPI_MB(survivor) *entry = queue + (run.queued - 1 - rank);
            a = TMAPI_MB(begin)(p, entry->x, entry->y);
            a.zr = entry->zr, a.zi = entry->zi;
            out = tmapi_mandelbrot_kept(&p->to, entry->x, entry->y,
                                        kind == TMAPI_MANDELBROT_LEAF ? TMAPI_MANDELBROT_PICTURE
                                                                      : entry->column);
            left = times;
            busy = 1;
        }
        __syncwarp();
        run.queued -= (tmap_u32)__popc(idle) < run.queued ? (tmap_u32)__popc(idle) : run.queued;
        least = run.more || run.queued ? 33 - TMAPI_MANDELBROT_WAIT : 1;
        while (__popc(__ballot_sync(0xffffffffu, left > 0)) >= least) {
            int after;
            zr = left > 0 ? a.zr : zr;
            zi = left > 0 ? a.zi : zi;
            a.zr = zr, a.zi = zi; // a lane that is done repeats the same steps
#pragma unroll
            for (int i = 0; i < TMAPI_MANDELBROT_PARTS; ++i)
                TMAPI_MB(steps)(&a, part, i + 1 < TMAPI_MANDELBROT_PARTS ? between + i : 0);
            after = TMAPI_MB(norm)(a.zr, a.zi) < 4 ? left - 1 : 0;
            // A z that equals the one before these steps never escapes: nearly half of the steps of
            // the lines of level 0, which cross the set.
            if (kind == TMAPI_MANDELBROT_SHARE && left > 0 && a.zr == zr && a.zi == zi)
                left = after = 0;
            left = after > 0 ? after : left < -left ? left : -left;
        }
        if (busy && left <= 0) {
            TMAPI_MB(point) b = a;
            int steps = end + left * TMAPI_MANDELBROT_STEPS;
            b.zr = zr, b.zi = zi;
#pragma unroll
            for (int half = TMAPI_MANDELBROT_PARTS / 2; half; half /= 2) {
                const int taken = TMAPI_MB(jump)(&b, between[half - 1], half * part);
                steps += taken;
#pragma unroll
                for (int i = 0; i + 1 < half; ++i)
                    if (taken) between[i] = between[half + i];
            }
            steps += TMAPI_MB(last_steps)(b, part);
            *out = steps < p->to.dwell ? steps : p->to.dwell;
            busy = 0;
        }
        if (!run.more && !run.queued && !__any_sync(0xffffffffu, busy)) return;
    }
}

TMAP_DEVICE void TMAPI_MB(share)(const void *job, tmap_ask_work *work) {
    TMAPI_MB(compute)((const TMAPI_MB(job) *)job, work, TMAPI_MANDELBROT_SHARE);
}
TMAP_DEVICE void TMAPI_MB(leaf)(const void *job, tmap_ask_work *work) {
    TMAPI_MB(compute)((const TMAPI_MB(job) *)job, work, TMAPI_MANDELBROT_LEAF);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// ---- a picture without a subdivision ------------------------------------------------------------

// A block takes `wide` x 256 / wide pixels: 16 by warps of 8 x 4, whose dwells differ least, or 32
// by warps of 32 x 1, which write full lines of memory. Also clears the counters of a subdivision.
static __global__ void __launch_bounds__(256)
    TMAPI_MB(plain)(TMAPI_MB(job) p, tmapi_ask_control *control, tmap_u32 wide) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 x = blockIdx.x * wide + (wide == 32 ? lane : warp % 2 * 8 + lane % 8);
    tmap_u32 y = blockIdx.y * (256 / wide) + (wide == 32 ? warp : warp / 2 * 4 + lane / 8);
    if (blockIdx.x == 0 && blockIdx.y == 0)
        for (tmap_u32 i = threadIdx.x; i < sizeof *control / sizeof(tmap_u64); i += 256)
            ((tmap_u64 *)control)[i] = 0;
    if (x >= p.to.nx) return;
    for (; y < p.to.ny; y += 256 / wide * gridDim.y) {
        const int d = TMAPI_MB(dwell_plain)(&p, TMAPI_MB(begin)(&p, x, y), wide == 32);
        p.to.out[(tmap_u64)y * p.to.nx + x] = d < p.to.dwell ? d : p.to.dwell;
    }
}

// A tmapi_mandelbrot_look.
static inline int TMAPI_MB(look)(const void *job, double x, double y, int dwell[3]) {
    const TMAPI_MB(job) *p = (const TMAPI_MB(job) *)job;
    const int most = p->to.dwell < TMAPI_MANDELBROT_LOOK ? p->to.dwell : TMAPI_MANDELBROT_LOOK;
    TMAPI_MB(real) cr[3], ci[3], zr[3], zi[3], sr[3], si[3];
    int taken = p->to.dwell, left = 3;
    for (int i = 0; i < 3; ++i) {
        zr[i] = cr[i] = p->x0 + p->dx * (TMAPI_MB(real))(x + (i == 1 ? TMAPI_MANDELBROT_APART : 0));
        zi[i] = ci[i] = p->y0 + p->dy * (TMAPI_MB(real))(y + (i == 2 ? TMAPI_MANDELBROT_APART : 0));
        sr[i] = si[i] = 4;
        dwell[i] = -1;
    }
    for (int k = 0; k < most && left; ++k)
        for (int i = 0; i < 3; ++i) { // three at once, to overlap their latencies
            const TMAPI_MB(real) rr = zr[i] * zr[i], ii = zi[i] * zi[i];
            if (dwell[i] >= 0) continue;
            if (!(rr + ii < 4))
                dwell[i] = k;
            else if (k % 32 == 0 && zr[i] == sr[i] && zi[i] == si[i])
                dwell[i] = p->to.dwell;
            if (dwell[i] >= 0 && i == 0) taken = k;
            left -= dwell[i] >= 0;
            if (k % 32 == 0) sr[i] = zr[i], si[i] = zi[i];
            zi[i] = 2 * zr[i] * zi[i] + ci[i];
            zr[i] = rr - ii + cr[i];
        }
    for (int i = 0; i < 3; ++i)
        if (dwell[i] < 0) dwell[i] = p->to.dwell;
    return taken;
}

// ---- kernels ------------------------------------------------------------------------------------
//
// Blocks of a multiprocessor: four for the kernel that queries, which waits for memory, else three.

static __global__ void __launch_bounds__(256, 4)
    TMAPI_MB(query_kernel)(tmap_ask_run run, TMAPI_MB(job) job) {
    run.workspace.domain.dims = 2; // a constant: no third axis is computed
    tmap_ask_query(&run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal_short,
                   tmap_ask_every_element, TMAPI_MB(leaf_short), &job);
}

static __global__ void __launch_bounds__(256, 3)
    TMAPI_MB(share_kernel)(tmap_ask_run run, TMAPI_MB(job) job) {
    run.workspace.domain.dims = 2; // a constant: no third axis is computed
    tmap_ask_share(&run, tmapi_mandelbrot_share_elements, TMAPI_MB(share), &job);
}

static __global__ void __launch_bounds__(256, 3)
    TMAPI_MB(finish_kernel)(tmap_ask_run run, TMAPI_MB(job) job) {
    run.workspace.domain.dims = 2; // a constant: no third axis is computed
    tmap_ask_finish(&run, tmapi_mandelbrot_terminal, tmapi_mandelbrot_leaf_elements, TMAPI_MB(leaf),
                    &job);
}

// ---- the plan -----------------------------------------------------------------------------------

typedef struct TMAPI_MB(plan) {
    tmap_ask_plan ask;
    TMAPI_MB(job) job; // `out` is not set
    tmap_u32 plain;    // width of a block of pixels without a subdivision; 0: with one
} TMAPI_MB(plan);

static inline tmap_ask_kernels TMAPI_MB(kernels)(void) {
    const tmap_ask_kernels kernels = {
        (const void *)TMAPI_MB(query_kernel), (const void *)TMAPI_MB(finish_kernel),
        (const void *)TMAPI_MB(share_kernel), 256, TMAPI_MANDELBROT_SCRATCH};
    return kernels;
}

// The job of a picture in this workspace.
static inline int TMAPI_MB(job_in)(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                   TMAPI_MB(job) * job) {
    tmap_u64 bytes;
    if (tmap_mandelbrot_check(m) || !w || w->domain.dims != 2 || w->domain.nx != m->nx ||
        w->domain.ny != m->ny)
        return TMAP_EINVAL;
    *job = TMAPI_MB(job_make)(m);
    bytes = tmapi_mandelbrot_columns(&w->domain);
    if (bytes && bytes <= w->rest.bytes) job->to.columns = (int *)w->rest.data;
    return TMAP_OK;
}

static inline int TMAPI_MB(plan_of)(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                    const tmap_ask_facts *facts, TMAPI_MB(plan) * out) {
    const tmap_ask_kernels kernels = TMAPI_MB(kernels)();
    TMAPI_MB(plan) p;
    int error = out ? TMAPI_MB(job_in)(m, w, &p.job) : TMAP_EINVAL;
    if (!error) error = tmap_ask_plan_of(w, &kernels, facts, &p.ask);
    if (error) return error;
    p.plain = 0;
    if (w->domain.b == 0) {
        const tmapi_mandelbrot_case c = tmapi_mandelbrot_case_of(
            m, &facts->device, sizeof(TMAPI_MB(real)) == 8, TMAPI_MB(look), &p.job);
        p.plain = tmapi_mandelbrot_choose(&c, &p.ask.run.workspace.domain);
    }
    *out = p;
    return TMAP_OK;
}

static inline cudaError_t TMAPI_MB(plan_make)(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                              TMAPI_MB(plan) * out) {
    const tmap_ask_kernels kernels = TMAPI_MB(kernels)();
    tmap_ask_facts facts;
    TMAPI_MB(plan) p;
    cudaError_t status = out ? tmap_ask_facts_get(&kernels, &facts) : cudaErrorInvalidValue;
    if (status == cudaSuccess)
        status = tmapi_ask_plan_ready(TMAPI_MB(plan_of)(m, w, &facts, &p), &p.ask);
    if (status == cudaSuccess) *out = p;
    return status;
}

// Launches a picture. host: 1: with the host driver.
static inline cudaError_t TMAPI_MB(launch)(const TMAPI_MB(plan) * p, int *out, int host,
                                           cudaStream_t stream) {
    TMAPI_MB(job) job;
    tmap_u32 wide, columns, rows, most;
    tmapi_ask_control *control;
    void *arguments[] = {&job, &control, &wide};
    if (!p || !out || (tmap_u64)out % sizeof *out) return cudaErrorInvalidValue;
    job = p->job;
    job.to.out = out;
    if (!p->plain) return (host ? tmap_ask_host : tmap_ask_stream)(&p->ask, &job, stream);
    control = p->ask.run.workspace.control, wide = p->plain;
    columns = (job.to.nx + wide - 1) / wide, rows = (job.to.ny + 256 / wide - 1) / (256 / wide);
    // 16 times the blocks that an H200 holds: starting a block may take longer than its pixels.
    most = 16384 / columns ? 16384 / columns : 1;
    return cudaLaunchKernel((const void *)TMAPI_MB(plain), dim3(columns, rows < most ? rows : most),
                            dim3(256), arguments, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#undef TMAPI_MANDELBROT_NAME

#endif // TMAPI_MANDELBROT_NAME
