// SPDX-License-Identifier: MIT
// mandelbrot_plain_stamp.h: pictures of the Mandelbrot set without a subdivision, for one type of
// numbers, and when they are quicker than subdivided ones. Included by mandelbrot_stamp.h; it
// defines nothing without TMAPI_MANDELBROT_REAL.
#ifndef TMAP_ADAPTIVE_MANDELBROT_PLAIN_STAMP_H
#define TMAP_ADAPTIVE_MANDELBROT_PLAIN_STAMP_H

#include "mandelbrot_picture.h"

// The first steps of a pixel, each with a test; up to which step there is a test in eight; and how
// many steps come between two tests from then on, four times eight.
#define TMAPI_MANDELBROT_TESTED 4
#define TMAPI_MANDELBROT_EIGHTS 36
#define TMAPI_MANDELBROT_PLAIN  32

// Groups of pixels along each axis that a survey looks at, the distance between the pixels of one
// group, and the most steps that it takes.
#define TMAPI_MANDELBROT_GROUPS 16
#define TMAPI_MANDELBROT_APART  16
#define TMAPI_MANDELBROT_LOOK   512

#if TMAP_CUDA && !TMAP_NVRTC

// What a look at some pixels tells of a picture.
typedef struct tmapi_mandelbrot_survey {
    double steps; // of a pixel: its dwell
    double taken; // the same, but a point that comes back to where it was is through
    double mixed; // the part of groups with several dwells
    double rough; // steps taken by the pixels of these groups, over all groups
    double most;  // steps taken by any
    int uniform;  // all dwells are the same
} tmapi_mandelbrot_survey;

// A device in warp instructions per microsecond, and how many of them a step in these numbers takes
// the time of.
typedef struct tmapi_mandelbrot_device {
    double rate, weight;
} tmapi_mandelbrot_device;

static inline cudaError_t tmapi_mandelbrot_device_ask(int wide, tmapi_mandelbrot_device *out) {
    int device, processors, ratio = 1;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess && wide)
        status =
            cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
    if (status != cudaSuccess) return status;
    out->rate = processors * 8000.0; // four a clock at 2 GHz
    out->weight = ratio > 1 ? ratio : 1;
    return cudaSuccess;
}

// Microseconds, as fitted to pictures of nine windows, both types, dwells from 64 to 8192 and sides
// from 256 to 16384 on an H200; an error of a fifth is common. g, levels: of the subdivision, r = 4.
static inline double tmapi_mandelbrot_plain_cost(const tmap_mandelbrot *m,
                                                 const tmapi_mandelbrot_survey *s,
                                                 const tmapi_mandelbrot_device *d) {
    const double warps = (double)m->nx * m->ny / 32;
    return 3 +
           warps / d->rate * (63 + d->weight * (3.4 * s->taken + 2 * s->steps + 8.2 * s->rough)) +
           0.0058 * d->weight * s->most;
}

static inline double tmapi_mandelbrot_ask_cost(const tmap_mandelbrot *m,
                                               const tmapi_mandelbrot_survey *s,
                                               const tmapi_mandelbrot_device *d, tmap_u32 g,
                                               tmap_u32 levels) {
    const double warps = (double)m->nx * m->ny / 32, lines = ((double)m->nx + m->ny) * g / 32;
    return 19 + 12.7 * levels + 0.0114 * d->weight * s->most +
           (lines * d->weight * (198 + 9.4 * s->taken) +
            warps * d->weight * (180 * s->mixed + 9.5 * s->rough) + 38 * warps) /
               d->rate;
}

#endif
#endif

#if defined(TMAPI_MANDELBROT_REAL)
#if TMAP_CUDA

// The dwell of a point that is not told by a formula, |c| being small enough for steps without a
// test: 32 steps between two tests after the first ones. A point that comes back to where it was
// never escapes.
TMAP_DEVICE int TMAPI_MANDELBROT(dwell_plain)(const TMAPI_MANDELBROT_JOB *p,
                                              TMAPI_MANDELBROT(point) a, int d) {
    TMAPI_MANDELBROT(point) before = a, middle;
    TMAPI_MANDELBROT(z) after;
    int window = 0; // in so many steps from `before` on it escapes
#pragma unroll 1
    while (d < TMAPI_MANDELBROT_EIGHTS && d < p->dwell) {
        before = a;
        TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN / 4, 0);
        if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) {
            window = TMAPI_MANDELBROT_PLAIN / 4;
            break;
        }
        d += TMAPI_MANDELBROT_PLAIN / 4;
    }
    if (!window)
        while (d < p->dwell) { // two windows at a time, so that z need not be moved about
            before = middle = a;
            TMAPI_MANDELBROT(steps)(&middle, TMAPI_MANDELBROT_PLAIN, 0);
            if (!(TMAPI_MANDELBROT(norm)(middle.zr, middle.zi) < 4)) {
                window = TMAPI_MANDELBROT_PLAIN;
                break;
            }
            d += TMAPI_MANDELBROT_PLAIN;
            a = middle;
            TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN, 0);
            if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) {
                before = middle;
                window = TMAPI_MANDELBROT_PLAIN;
                break;
            }
            d = a.zr == before.zr && a.zi == before.zi ? p->dwell : d + TMAPI_MANDELBROT_PLAIN;
        }
    // All lanes come here together, and look for the last step together.
    if (window == TMAPI_MANDELBROT_PLAIN) {
        a = before;
        TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN / 2, &after);
        d += TMAPI_MANDELBROT(jump)(&before, after, TMAPI_MANDELBROT_PLAIN / 2);
        a = before;
        TMAPI_MANDELBROT(steps)(&a, TMAPI_MANDELBROT_PLAIN / 4, &after);
        d += TMAPI_MANDELBROT(jump)(&before, after, TMAPI_MANDELBROT_PLAIN / 4);
    }
    return window ? d + TMAPI_MANDELBROT(last_steps)(before, TMAPI_MANDELBROT_PLAIN / 4) : d;
}

// The same for any point: the first steps are tested one by one, which is all that most points
// outside of the set take.
TMAP_DEVICE int TMAPI_MANDELBROT(dwell_any)(const TMAPI_MANDELBROT_JOB *p,
                                            TMAPI_MANDELBROT(point) a) {
    const TMAPI_MANDELBROT(point) begin = a;
    int d = 0;
#pragma unroll
    for (; d < TMAPI_MANDELBROT_TESTED; ++d) {
        if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) return d;
        TMAPI_MANDELBROT(step)(&a);
    }
    if (!(TMAPI_MANDELBROT(norm)(a.zr, a.zi) < 4)) return d;
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
        const int d = TMAPI_MANDELBROT(dwell_any)(&p, TMAPI_MANDELBROT(begin)(&p, x, y));
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
    const int most = p->dwell < TMAPI_MANDELBROT_LOOK ? p->dwell : TMAPI_MANDELBROT_LOOK;
    const int groups = TMAPI_MANDELBROT_GROUPS;
    tmapi_mandelbrot_survey s = {0, 0, 0, 0, 0, 1};
    int only = -1;
    for (int group = 0; group < groups * groups; ++group) {
        // Somewhere in a cell of the picture: the parts of multiples of two irrational numbers.
        const double at_x = group % groups + group * 0.6180339887 - (int)(group * 0.6180339887);
        const double at_y = group / groups + group * 0.7548776662 - (int)(group * 0.7548776662);
        TMAPI_MANDELBROT_REAL cr[3], ci[3], zr[3], zi[3], sr[3], si[3];
        int dwell[3], taken[3], left = 3, mixed;
        for (int i = 0; i < 3; ++i) {
            zr[i] = cr[i] =
                p->x0 + p->dx * (TMAPI_MANDELBROT_REAL)(at_x * p->nx / groups +
                                                        (i == 1 ? TMAPI_MANDELBROT_APART : 0));
            zi[i] = ci[i] =
                p->y0 + p->dy * (TMAPI_MANDELBROT_REAL)(at_y * p->ny / groups +
                                                        (i == 2 ? TMAPI_MANDELBROT_APART : 0));
            sr[i] = si[i] = 4;
            dwell[i] = -1, taken[i] = p->dwell;
        }
        for (int k = 0; k < most && left; ++k)
            for (int i = 0; i < 3; ++i) { // three at once: each waits for itself
                const TMAPI_MANDELBROT_REAL rr = zr[i] * zr[i], ii = zi[i] * zi[i];
                if (dwell[i] >= 0) continue;
                if (!(rr + ii < 4)) dwell[i] = taken[i] = k, --left;
                if (k % 32 == 0) {
                    if (zr[i] == sr[i] && zi[i] == si[i]) dwell[i] = p->dwell, taken[i] = k, --left;
                    sr[i] = zr[i], si[i] = zi[i];
                }
                zi[i] = 2 * zr[i] * zi[i] + ci[i];
                zr[i] = rr - ii + cr[i];
            }
        for (int i = 0; i < 3; ++i)
            if (dwell[i] < 0) dwell[i] = p->dwell;
        mixed = dwell[0] != dwell[1] || dwell[0] != dwell[2];
        if (only < 0) only = dwell[0];
        s.uniform &= !mixed && dwell[0] == only;
        s.steps += dwell[0], s.taken += taken[0];
        if (mixed) s.mixed += 1, s.rough += taken[0];
        if (s.most < taken[0]) s.most = taken[0];
    }
    s.steps /= groups * groups, s.taken /= groups * groups;
    s.mixed /= groups * groups, s.rough /= groups * groups;
    return s;
}

// Chooses how a picture is computed: *plain becomes how wide a block of it is, or 0 for a
// subdivision, *d: the workspace's, whose level 0 may become coarser.
static inline cudaError_t TMAPI_MANDELBROT(choose)(const tmap_mandelbrot *m,
                                                   const TMAPI_MANDELBROT_JOB *job,
                                                   tmap_ask_domain *d, tmap_u32 *plain) {
    const tmapi_mandelbrot_survey s = TMAPI_MANDELBROT(survey)(job);
    tmap_ask_domain coarser = *d, even = *d;
    tmapi_mandelbrot_device device;
    const cudaError_t status =
        tmapi_mandelbrot_device_ask(sizeof(TMAPI_MANDELBROT_REAL) == 8, &device);
    if (status != cudaSuccess) return status;
    coarser.g /= 4, ++coarser.levels;
    even.g = 8, even.levels = 1;
    if (coarser.g >= 2 && tmapi_ask_frame(&coarser) <= 0x7fffffffull &&
        tmapi_mandelbrot_ask_cost(m, &s, &device, coarser.g, coarser.levels) <
            tmapi_mandelbrot_ask_cost(m, &s, &device, d->g, d->levels))
        *d = coarser;
    if (s.uniform && d->g > even.g && tmapi_ask_frame(&even) <= 0x7fffffffull)
        *d = even; // no level will find anything: be it one
    *plain = tmapi_mandelbrot_plain_cost(m, &s, &device) <
                     tmapi_mandelbrot_ask_cost(m, &s, &device, d->g, d->levels)
                 ? s.taken < 8 ? 32 : 16
                 : 0;
    return cudaSuccess;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif // TMAPI_MANDELBROT_REAL
