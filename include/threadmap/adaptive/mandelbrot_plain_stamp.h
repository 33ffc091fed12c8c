// SPDX-License-Identifier: MIT
// mandelbrot_plain_stamp.h: pictures of the Mandelbrot set without a subdivision, for one type of
// numbers, and when they are quicker than subdivided ones. Included by mandelbrot_stamp.h; it
// defines nothing without TMAPI_MANDELBROT_REAL.
#ifndef TMAP_ADAPTIVE_MANDELBROT_PLAIN_STAMP_H
#define TMAP_ADAPTIVE_MANDELBROT_PLAIN_STAMP_H

#include "mandelbrot_picture.h"

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

#endif
#endif

#if defined(TMAPI_MANDELBROT_REAL)
#if TMAP_CUDA

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
#endif // TMAPI_MANDELBROT_REAL
