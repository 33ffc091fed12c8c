// SPDX-License-Identifier: MIT
// mandelbrot_stamp.h: the functions and kernels of mandelbrot.h for one type of numbers. It is
// included by mandelbrot.h for float and by mandelbrot_f64.h for double, and defines nothing
// without TMAPI_MANDELBROT_REAL.
#ifndef TMAP_ADAPTIVE_MANDELBROT_STAMP_H
#define TMAP_ADAPTIVE_MANDELBROT_STAMP_H

#include "mandelbrot_picture.h"

#define TMAPI_MANDELBROT_PASTE2(a, b) a##_##b
#define TMAPI_MANDELBROT_PASTE(a, b)  TMAPI_MANDELBROT_PASTE2(a, b)
// A name of this type: tmapi_mandelbrot_f32_dwell, ...
#define TMAPI_MANDELBROT(name) TMAPI_MANDELBROT_PASTE(TMAPI_MANDELBROT_NAME, name)
#define TMAPI_MANDELBROT_JOB   TMAPI_MANDELBROT(job)

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

// The first steps of a pixel where many escape at once, each with a test; then so many times eight
// steps with a test; and the steps between two tests from then on, four times eight.
#define TMAPI_MANDELBROT_TESTED 4
#define TMAPI_MANDELBROT_EIGHTS 4
#define TMAPI_MANDELBROT_PLAIN  32

// Groups of pixels along each axis that a survey looks at, the distance between the pixels of one
// group, and the most steps that it takes.
#define TMAPI_MANDELBROT_GROUPS 16
#define TMAPI_MANDELBROT_APART  16
#define TMAPI_MANDELBROT_LOOK   512

#if TMAP_CUDA && !TMAP_NVRTC

// What a look at some pixels tells of a picture.
typedef struct tmapi_mandelbrot_survey {
    double steps;  // of a pixel: its dwell
    double taken;  // the same, but a point that comes back to where it was is through
    double mixed;  // the part of groups with several dwells
    double rough;  // steps taken by pixels of these groups, over all groups
    double coarse; // the part of neighbouring groups with several dwells
    double most;   // steps taken by any pixel
} tmapi_mandelbrot_survey;

// A picture on a device. rate: warp instructions a microsecond. weight: how many of them a step in
// these numbers takes the time of. tip: the end of the set at c = -2 lies in the window, where
// every step is tested.
typedef struct tmapi_mandelbrot_case {
    double warps, longest, dwell, rate, weight;
    double around; // nx + ny, in warps
    int odd, tip;  // odd: rows of regions begin anywhere
} tmapi_mandelbrot_case;

static inline cudaError_t tmapi_mandelbrot_case_make(const tmap_mandelbrot *m, int wide,
                                                     tmapi_mandelbrot_case *out) {
    int device, processors, ratio = 1;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess && wide)
        status =
            cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
    if (status != cudaSuccess) return status;
    out->warps = (double)m->nx * m->ny / 32;
    out->around = ((double)m->nx + m->ny) / 32;
    out->longest = m->nx > m->ny ? m->nx : m->ny;
    out->dwell = m->dwell;
    out->rate = processors * 7900.0; // four a clock, at nearly 2 GHz
    out->weight = ratio > 1 ? ratio : 1;
    out->odd = m->nx % 64 != 0;
    out->tip = m->x0 < -1.98 && m->x1 > -1.98 && m->y0 <= 0 && m->y1 >= 0;
    return cudaSuccess;
}

// The part of regions with such a side that have several dwells. It grows by the same factor with
// each doubling of the side: from groups, with a side of 16, to neighbouring groups. Where dwells
// differ at all, a line between them crosses the picture, and with it as many regions as lie along
// an axis: few points of a survey may be near that line.
static inline double tmapi_mandelbrot_mixed(const tmapi_mandelbrot_case *c,
                                            const tmapi_mandelbrot_survey *s, double side) {
    const double far = c->longest / TMAPI_MANDELBROT_GROUPS;
    double part = s->mixed > 0.002 ? s->mixed : 0.002, factor = 1.1, coarse = 0, x;
    if (s->mixed + s->coarse == 0) return 0;
    for (; factor < 1.6; factor += 0.02) {
        coarse = part;
        for (x = TMAPI_MANDELBROT_APART; x < far; x *= 2) coarse *= factor;
        if (coarse >= s->coarse) break;
    }
    for (x = side / TMAPI_MANDELBROT_APART; x >= 2; x /= 2) part *= factor;
    for (; x < 1; x *= 2) part /= factor;
    part *= 1 + (factor - 1) * (x - 1);
    if (part < side / c->longest) part = side / c->longest;
    return part < 1 ? part : 1;
}

// Microseconds. The numbers are fitted to 3000 pictures of nine windows in both types, of sides
// from 1000 to 16384, on an H200; an error of a sixth is common.
static inline double tmapi_mandelbrot_plain_cost(const tmapi_mandelbrot_case *c,
                                                 const tmapi_mandelbrot_survey *s) {
    const double pixel = s->taken < 8 ? 47 : 57;
    const double steps = 3.5 * s->taken + 2 * s->steps + 8.1 * s->rough;
    return 3.5 + c->warps * (pixel + c->weight * steps) / c->rate + 0.0055 * c->weight * s->most +
           (c->tip ? 0.037 * c->dwell : 0);
}

// g, levels: of a subdivision with r = 4.
static inline double tmapi_mandelbrot_ask_cost(const tmapi_mandelbrot_case *c,
                                               const tmapi_mandelbrot_survey *s, tmap_u32 g,
                                               tmap_u32 levels) {
    const double rough = s->mixed > 0 ? s->rough / s->mixed : s->taken; // steps of a leaf's pixel
    double side = c->longest / g, lines = 0, leaves, fill, work;
    for (tmap_u32 l = 1; l < levels; ++l) { // lines between the children of mixed regions
        lines += 2 * 0.75 * tmapi_mandelbrot_mixed(c, s, side) / (side / 4);
        side /= 4;
    }
    leaves = tmapi_mandelbrot_mixed(c, s, side);
    fill = 34.5 + (c->odd ? 60 + 305 / side : 0);
    work = c->around * g * (742 + 5.1 * c->weight * s->taken) +
           c->warps *
               (344 * c->weight * lines + leaves * (302 + c->weight * (92 + 6.4 * rough)) + fill);
    return 11 + 14.8 * levels + work / c->rate + 0.0141 * c->weight * s->most +
           (c->tip ? 0.03 * c->dwell : 0);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

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


// The dwell of a point that is not told by a formula and still inside after d steps, |c| being
// small enough for steps without a test. A point that comes back to where it was never escapes.
TMAP_DEVICE int TMAPI_MANDELBROT(dwell_plain)(const TMAPI_MANDELBROT_JOB *p,
                                              TMAPI_MANDELBROT(point) a, int d) {
    TMAPI_MANDELBROT(point) before = a; // so many steps on as d says
    TMAPI_MANDELBROT(z) after;
    int eights = 0; // done
#pragma unroll
    for (; eights < TMAPI_MANDELBROT_EIGHTS && d < p->dwell; ++eights) {
        a = before;
        TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN / 4, 0);
        if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) break;
        before = a;
        d += TMAPI_MANDELBROT_PLAIN / 4;
    }
    if (eights == TMAPI_MANDELBROT_EIGHTS)
        while (d < p->dwell) {
            a = before;
            TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN, 0);
            if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) break;
            d = a.zr == before.zr && a.zi == before.zi ? p->dwell : d + TMAPI_MANDELBROT_PLAIN;
            before = a;
        }
    // All lanes come here together, and look for the last step together.
    if (d >= p->dwell) return d;
    if (eights == TMAPI_MANDELBROT_EIGHTS) {
        a = before;
        TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN / 2, &after);
        d += TMAPI_MANDELBROT(jump)(&before, after, TMAPI_MANDELBROT_PLAIN / 2);
        a = before;
        TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN / 4, &after);
        d += TMAPI_MANDELBROT(jump)(&before, after, TMAPI_MANDELBROT_PLAIN / 4);
    }
    return d + TMAPI_MANDELBROT(last_steps)(before, TMAPI_MANDELBROT_PLAIN / 4);
}

// The same for any point. tested: the first steps are tested one by one, which is all that points
// outside of the set take where they escape at once.
TMAP_DEVICE int TMAPI_MANDELBROT(dwell_any)(const TMAPI_MANDELBROT_JOB *p,
                                            TMAPI_MANDELBROT(point) a, int tested) {
    const TMAPI_MANDELBROT(point) begin = a;
    int d = 0;
    if (p->special || tested) {
#pragma unroll
        for (; d < TMAPI_MANDELBROT_TESTED; ++d) {
            if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) return d;
            TMAPI_MANDELBROT(step)(&a);
        }
        if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) return d;
    }
    if (p->special) {
        if (TMAPI_MANDELBROT(known)(p, begin)) return p->dwell;
        if (!TMAPI_MANDELBROT(steady)(begin)) return TMAPI_MANDELBROT(tested)(a, d, p->dwell);
    }
    return TMAPI_MANDELBROT(dwell_plain)(p, a, d);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Every pixel by itself. A block has `wide` x 256 / wide pixels, in warps of 8 x 4, whose dwells
// differ least, or of 32 x 1, which write whole lines of memory: wide is 16 or 32. It goes on with
// the block that is gridDim.y blocks further down. The counters of a subdivision are cleared.
static __global__ void __launch_bounds__(256)
    TMAPI_MANDELBROT(plain)(TMAPI_MANDELBROT_JOB p, tmapi_ask_control *control, tmap_u32 wide) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 x = blockIdx.x * wide + (wide == 32 ? lane : warp % 2 * 8 + lane % 8);
    tmap_u32 y = blockIdx.y * (256 / wide) + (wide == 32 ? warp : warp / 2 * 4 + lane / 8);
    if (blockIdx.x == 0 && blockIdx.y == 0)
        for (tmap_u32 i = threadIdx.x; i < sizeof *control / sizeof(tmap_u64); i += 256)
            ((tmap_u64 *)control)[i] = 0;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 256 / wide * gridDim.y) {
        const int d =
            TMAPI_MANDELBROT(dwell_any)(&p, TMAPI_MANDELBROT(begin)(&p, x, y), wide == 32);
        p.out[(tmap_u64)y * p.nx + x] = d < p.dwell ? d : p.dwell;
    }
}

// Blocks of a picture: as many as an H200 holds at once 16 times, as beginning a block takes longer
// than its pixels may.
#define TMAPI_MANDELBROT_BLOCKS 16384

static inline cudaError_t TMAPI_MANDELBROT(launch_plain)(const TMAPI_MANDELBROT_JOB *job,
                                                         tmapi_ask_control *control, tmap_u32 wide,
                                                         cudaStream_t stream) {
    const tmap_u32 columns = (job->nx + wide - 1) / wide;
    const tmap_u32 rows = (job->ny + 256 / wide - 1) / (256 / wide);
    tmap_u32 most = TMAPI_MANDELBROT_BLOCKS / columns;
    void *arguments[3];
    arguments[0] = (void *)job, arguments[1] = &control, arguments[2] = &wide;
    if (most == 0) most = 1;
    return cudaLaunchKernel((const void *)TMAPI_MANDELBROT(plain),
                            dim3(columns, rows < most ? rows : most, 1), dim3(256, 1, 1), arguments,
                            0, stream);
}

// The same with its milliseconds, which waits.
static inline cudaError_t TMAPI_MANDELBROT(time_plain)(const TMAPI_MANDELBROT_JOB *job,
                                                       tmapi_ask_control *control, tmap_u32 wide,
                                                       float *ms, cudaStream_t stream) {
    cudaEvent_t events[2] = {0, 0};
    cudaError_t status = cudaEventCreate(&events[0]);
    if (status == cudaSuccess) status = cudaEventCreate(&events[1]);
    if (status == cudaSuccess) status = cudaEventRecord(events[0], stream);
    if (status == cudaSuccess) status = TMAPI_MANDELBROT(launch_plain)(job, control, wide, stream);
    *ms = 0;
    if (status == cudaSuccess) status = tmapi_ask_mark(ms, events, 0, stream);
    for (int i = 0; i < 2; ++i)
        if (events[i]) cudaEventDestroy(events[i]);
    return status;
}

// ---- the choice ---------------------------------------------------------------------------------

// Looks at groups of three pixels, (x, y), (x + 16, y) and (x, y + 16), all over the picture. Their
// dwells are about those of the picture: nothing is rounded as there.
// Cost: half a millisecond at most.
static inline tmapi_mandelbrot_survey TMAPI_MANDELBROT(survey)(const TMAPI_MANDELBROT_JOB *p) {
    enum { GROUPS = TMAPI_MANDELBROT_GROUPS };
    const int most = p->dwell < TMAPI_MANDELBROT_LOOK ? p->dwell : TMAPI_MANDELBROT_LOOK;
    tmapi_mandelbrot_survey s = {0, 0, 0, 0, 0, 0};
    int all[GROUPS * GROUPS];
    for (int group = 0; group < GROUPS * GROUPS; ++group) {
        // Somewhere in a cell of the picture: the parts of multiples of two irrational numbers.
        const double in_x = group * 0.6180339887, in_y = group * 0.7548776662;
        const double x = (group % GROUPS + in_x - (int)in_x) * p->nx / GROUPS;
        const double y = (group / GROUPS + in_y - (int)in_y) * p->ny / GROUPS;
        TMAPI_MANDELBROT_REAL cr[3], ci[3], zr[3], zi[3], sr[3], si[3];
        int dwell[3], taken = p->dwell, left = 3;
        for (int i = 0; i < 3; ++i) {
            const double dx = i == 1 ? TMAPI_MANDELBROT_APART : 0;
            const double dy = i == 2 ? TMAPI_MANDELBROT_APART : 0;
            zr[i] = cr[i] = p->x0 + p->dx * (TMAPI_MANDELBROT_REAL)(x + dx);
            zi[i] = ci[i] = p->y0 + p->dy * (TMAPI_MANDELBROT_REAL)(y + dy);
            sr[i] = si[i] = 4;
            dwell[i] = -1;
        }
        for (int k = 0; k < most && left; ++k)
            for (int i = 0; i < 3; ++i) { // three at once, as each waits for itself
                const TMAPI_MANDELBROT_REAL rr = zr[i] * zr[i], ii = zi[i] * zi[i];
                if (dwell[i] >= 0) continue;
                if (!(rr + ii < 4))
                    dwell[i] = k;
                else if (k % 32 == 0 && zr[i] == sr[i] && zi[i] == si[i])
                    dwell[i] = p->dwell;
                if (dwell[i] >= 0 && i == 0) taken = k;
                left -= dwell[i] >= 0;
                if (k % 32 == 0) sr[i] = zr[i], si[i] = zi[i];
                zi[i] = 2 * zr[i] * zi[i] + ci[i];
                zr[i] = rr - ii + cr[i];
            }
        for (int i = 0; i < 3; ++i)
            if (dwell[i] < 0) dwell[i] = p->dwell;
        all[group] = dwell[0];
        s.steps += dwell[0], s.taken += taken;
        if (dwell[0] != dwell[1] || dwell[0] != dwell[2]) s.mixed += 1, s.rough += taken;
        if (s.most < taken) s.most = taken;
    }
    for (int y = 0; y + 1 < GROUPS; ++y)
        for (int x = 0; x + 1 < GROUPS; ++x) {
            const int *at = all + y * GROUPS + x;
            s.coarse += at[0] != at[1] || at[0] != at[GROUPS];
        }
    s.coarse /= (GROUPS - 1) * (GROUPS - 1);
    s.steps /= GROUPS * GROUPS, s.taken /= GROUPS * GROUPS;
    s.mixed /= GROUPS * GROUPS, s.rough /= GROUPS * GROUPS;
    return s;
}

// Chooses how a picture is computed: *plain becomes how wide a block of it is, or 0 for a
// subdivision. *d: the workspace's subdivision, which may become a coarser one of r = 4.
static inline cudaError_t TMAPI_MANDELBROT(choose)(const tmap_mandelbrot *m,
                                                   const TMAPI_MANDELBROT_JOB *job,
                                                   tmap_ask_domain *d, tmap_u32 *plain) {
    const tmapi_mandelbrot_survey s = TMAPI_MANDELBROT(survey)(job);
    const tmap_ask_domain finest = *d;
    // Parts of level 0 beside those of the finest one, in eighths, and how many levels more.
    const tmap_u32 parts[] = {8, 2, 4, 1, 16}, more[] = {1, 2, 1, 2, 0};
    tmapi_mandelbrot_case c;
    double best, now;
    const cudaError_t status =
        tmapi_mandelbrot_case_make(m, sizeof(TMAPI_MANDELBROT_REAL) == 8, &c);
    if (status != cudaSuccess) return status;
    best = tmapi_mandelbrot_ask_cost(&c, &s, d->g, d->levels);
    for (int i = 0; i < 6; ++i) {
        tmap_ask_domain other = finest;
        if (i < 5) {
            other.g = finest.g * parts[i] / 8;
            other.levels = finest.levels + more[i] - 1;
            if (other.g < 2 || other.g > 128 || other.levels < 1) continue;
        } else { // where nearly all is uniform
            other.g = 8, other.levels = 1;
            if (finest.g < 8) continue;
        }
        if (tmapi_ask_frame(&other) > 0x7fffffffull) continue;
        now = tmapi_mandelbrot_ask_cost(&c, &s, other.g, other.levels);
        if (now < best) best = now, *d = other;
    }
    *plain =
        tmapi_mandelbrot_plain_cost(&c, &s) < best ? (s.taken < 8 && c.warps > 20000 ? 32 : 16) : 0;
    return cudaSuccess;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
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
