// SPDX-License-Identifier: MIT
// mandelbrot_dwell_stamp.h: the dwell of a point for one type of numbers: steps, tests, and how the
// last step is found when several were taken at once. Included by mandelbrot_stamp.h; it defines
// nothing without TMAPI_MANDELBROT_REAL.
#ifndef TMAP_ADAPTIVE_MANDELBROT_DWELL_STAMP_H
#define TMAP_ADAPTIVE_MANDELBROT_DWELL_STAMP_H

#include "mandelbrot_picture.h"

#define TMAPI_MANDELBROT_PASTE2(a, b) a##_##b
#define TMAPI_MANDELBROT_PASTE(a, b)  TMAPI_MANDELBROT_PASTE2(a, b)
// A name of this type: tmapi_mandelbrot_f32_dwell, ...
#define TMAPI_MANDELBROT(name) TMAPI_MANDELBROT_PASTE(TMAPI_MANDELBROT_NAME, name)
#define TMAPI_MANDELBROT_JOB   TMAPI_MANDELBROT(job)

#endif

#if defined(TMAPI_MANDELBROT_REAL)

// A picture, as kernels get it: c = (x0 + dx x, y0 + dy y), rounded once each.
typedef struct TMAPI_MANDELBROT_JOB {
    TMAPI_MANDELBROT_REAL x0, y0, dx, dy;
    tmap_u32 nx, ny;
    int dwell;
    tmap_u32 options;
    int *out, *columns; // columns: of borders; null: they stand in the picture
    tmap_u32 pitch;     // of columns
    int special;        // 0: every pixel is steady, and none is told by a formula
} TMAPI_MANDELBROT_JOB;

// A point c, and z on its way.
typedef struct TMAPI_MANDELBROT(point) {
    TMAPI_MANDELBROT_REAL cr, ci, zr, zi;
} TMAPI_MANDELBROT(point);

// z without its c.
typedef struct TMAPI_MANDELBROT(z) {
    TMAPI_MANDELBROT_REAL zr, zi;
} TMAPI_MANDELBROT(z);

// ---- the definition -----------------------------------------------------------------------------

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
    TMAPI_MANDELBROT(begin)(const TMAPI_MANDELBROT_JOB *p, tmap_u32 x, tmap_u32 y) {
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
TMAP_FN int TMAPI_MANDELBROT(known)(const TMAPI_MANDELBROT_JOB *p, TMAPI_MANDELBROT(point) a) {
    return (p->options & TMAP_MANDELBROT_BULBS) && TMAPI_MANDELBROT(bulbs)(a.cr, a.ci);
}

// The dwell of pixel (x, y) with a test in every step.
TMAP_FN int TMAPI_MANDELBROT(dwell)(const TMAPI_MANDELBROT_JOB *p, tmap_u32 x, tmap_u32 y) {
    TMAPI_MANDELBROT(point) a = TMAPI_MANDELBROT(begin)(p, x, y);
    return TMAPI_MANDELBROT(known)(p, a) ? p->dwell : TMAPI_MANDELBROT(tested)(a, 0, p->dwell);
}

// 1 if what has once escaped is beyond 2 in every later step, whatever the rounding: then steps may
// be taken without a test. |z'| >= |z|^2 - |c| grows by a margin that rounding cannot take away if
// |c| is not close to 2.
TMAP_FN int TMAPI_MANDELBROT(steady)(TMAPI_MANDELBROT(point) a) {
    return TMAPI_MANDELBROT(norm)(a.cr, a.ci) < (TMAPI_MANDELBROT_REAL)3.9;
}

// The picture in numbers of this type; the pixel's side is divided in double.
TMAP_FN TMAPI_MANDELBROT_JOB TMAPI_MANDELBROT(job_make)(const tmap_mandelbrot *m) {
    TMAPI_MANDELBROT_JOB p;
    p.x0 = (TMAPI_MANDELBROT_REAL)m->x0, p.y0 = (TMAPI_MANDELBROT_REAL)m->y0;
    p.dx = (TMAPI_MANDELBROT_REAL)((m->x1 - m->x0) / m->nx);
    p.dy = (TMAPI_MANDELBROT_REAL)((m->y1 - m->y0) / m->ny);
    p.nx = m->nx, p.ny = m->ny;
    p.dwell = (int)m->dwell;
    p.options = m->options;
    p.out = p.columns = 0;
    p.pitch = tmapi_mandelbrot_pitch(m->ny);
    // The largest |c| is at a corner.
    p.special = (m->options & TMAP_MANDELBROT_BULBS) != 0;
    for (int corner = 0; corner < 4; ++corner)
        p.special |= !TMAPI_MANDELBROT(steady)(
            TMAPI_MANDELBROT(begin)(&p, corner & 1 ? m->nx - 1 : 0, corner & 2 ? m->ny - 1 : 0));
    return p;
}

// ---- several steps at once ----------------------------------------------------------------------

#if TMAP_CUDA

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

#endif // TMAP_CUDA
#endif // TMAPI_MANDELBROT_REAL
