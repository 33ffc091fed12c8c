// SPDX-License-Identifier: MIT
// mandelbrot.h: the dwell of every pixel of a picture of the Mandelbrot set by adaptive subdivision
// (ASK), in float, or in double for windows whose pixels are equal in float.
//
// The dwell of c is the number of steps z = z^2 + c from z = c on, before |z| >= 2, or `dwell`:
//
//     d = 0; z = c; while (d < dwell && |z|^2 < 4) z = z^2 + c, d = d + 1;
//
// By the rule of Mariani and Silver a region whose border has a single dwell is filled with it. The
// border of the region [x0, x1) x [y0, y1) is the ring x0, x1, y0, y1, or the picture's last lines.
// The points of dwell d or more form a connected set without holes, which contains the origin. So
// nothing else is inside such a border, unless all of the set is: then the origin is inside, and
// the region is not filled with less than `dwell`. No island of the set is lost, whatever the
// window. A border is known at its pixels only: where it seems to be in the set, a channel thinner
// than a pixel may enter between two of them, whose few pixels then count as the set.
//
// All kernels and the host function take the same steps with the same rounding, so a pixel has the
// same dwell wherever it is computed. With numbers of one type, `real`, and fma(a, b, c) = a b + c
// rounded once:
//
//     dx = (real)((m.x1 - m.x0) / m.nx), cr = fma(x, dx, (real)m.x0); ci likewise from y; z = c
//     |z|^2 is fma(zr, zr, zi zi), with the product zi zi rounded
//     a step: t = fma(zr, zr, cr), zr' = fma(-zi, zi, t), zi' = fma(zr + zr, zi, ci)
//
//     tmap_mandelbrot m = tmap_mandelbrot_make(4096, 4096, 512); // in float
//     m.options = TMAP_MANDELBROT_F64;                           // in double
//     tmap_ask_params a = {0, 0, 0}; // the plan samples some pixels and chooses a subdivision, or
//     tmap_mandelbrot_workspace_create(&m, a, 0, &workspace); // none if that is faster
//     tmap_mandelbrot_plan_make(&m, &workspace, &plan);
//     tmap_mandelbrot_stream(&plan, out, stream); // any number of times
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 6.
#ifndef TMAP_ADAPTIVE_MANDELBROT_H
#define TMAP_ADAPTIVE_MANDELBROT_H

#include "mandelbrot_pixels.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------
//
// Each kernel makes the type of numbers and the number of axes constants. A multiprocessor has four
// blocks of the kernel that queries, which waits for memory, else three.

TMAP_DEVICE void tmapi_mandelbrot_query_all(tmap_ask_run *run, tmapi_mandelbrot_job *job, int f64) {
    run->workspace.domain.dims = 2, job->f64 = f64;
    tmap_ask_query(run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal_short,
                   tmap_ask_every_element, tmapi_mandelbrot_leaf_short, job);
}
TMAP_DEVICE void tmapi_mandelbrot_share_all(tmap_ask_run *run, tmapi_mandelbrot_job *job, int f64) {
    run->workspace.domain.dims = 2, job->f64 = f64;
    tmap_ask_share(run, tmapi_mandelbrot_share_elements, tmapi_mandelbrot_share, job);
}
TMAP_DEVICE void tmapi_mandelbrot_finish_all(tmap_ask_run *run, tmapi_mandelbrot_job *job,
                                             int f64) {
    run->workspace.domain.dims = 2, job->f64 = f64;
    tmap_ask_finish(run, tmapi_mandelbrot_terminal, tmapi_mandelbrot_leaf_elements,
                    tmapi_mandelbrot_leaf, job);
}

// A picture without a subdivision: a block takes `width` x 256 / width pixels: 16 by warps of
// 8 x 4, whose dwells differ least, or 32 by warps of 32 x 1, which write full lines of memory.
// Also clears the counters of a subdivision.
TMAP_DEVICE void tmapi_mandelbrot_plain_all(tmapi_mandelbrot_job p, tmapi_ask_control *control,
                                            tmap_u32 width, int f64) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 x = blockIdx.x * width + (width == 32 ? lane : warp % 2 * 8 + lane % 8);
    tmap_u32 y = (blockIdx.y * p.parts + p.part) * (256 / width) +
                 (width == 32 ? warp : warp / 2 * 4 + lane / 8);
    p.f64 = f64;
    if (blockIdx.x == 0 && blockIdx.y == 0)
        for (tmap_u32 i = threadIdx.x; i < sizeof *control / sizeof(tmap_u64); i += 256)
            ((tmap_u64 *)control)[i] = 0;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 256 / width * gridDim.y * p.parts) {
        const int d = tmapi_mandelbrot_dwell_plain(&p, tmapi_mandelbrot_c(&p, x, y), width == 32);
        p.out[(tmap_u64)y * p.nx + x] = d < p.dwell ? d : p.dwell;
    }
}

static __global__ void __launch_bounds__(256, 4)
    tmapi_mandelbrot_query_f32(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_query_all(&run, &job, 0);
}
static __global__ void __launch_bounds__(256, 4)
    tmapi_mandelbrot_query_f64(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_query_all(&run, &job, 1);
}
static __global__ void __launch_bounds__(256, 3)
    tmapi_mandelbrot_share_f32(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_share_all(&run, &job, 0);
}
static __global__ void __launch_bounds__(256, 3)
    tmapi_mandelbrot_share_f64(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_share_all(&run, &job, 1);
}
static __global__ void __launch_bounds__(256, 3)
    tmapi_mandelbrot_finish_f32(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_finish_all(&run, &job, 0);
}
static __global__ void __launch_bounds__(256, 3)
    tmapi_mandelbrot_finish_f64(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_finish_all(&run, &job, 1);
}
static __global__ void __launch_bounds__(256)
    tmapi_mandelbrot_plain_f32(tmapi_mandelbrot_job p, tmapi_ask_control *control, tmap_u32 width) {
    tmapi_mandelbrot_plain_all(p, control, width, 0);
}
static __global__ void __launch_bounds__(256)
    tmapi_mandelbrot_plain_f64(tmapi_mandelbrot_job p, tmapi_ask_control *control, tmap_u32 width) {
    tmapi_mandelbrot_plain_all(p, control, width, 1);
}

// ---- the choice of a subdivision ----------------------------------------------------------------
//
// For parameters (0, 0, 0), the host samples some pixels, predicts times and chooses the least.

// Groups of pixels along each axis, the distance between those of a group, and the most steps.
#define TMAPI_MANDELBROT_GROUPS 16
#define TMAPI_MANDELBROT_APART  16
#define TMAPI_MANDELBROT_LOOK   512

// Statistics of a picture on a device. Dwells are approximate: rounding differs from the kernels.
typedef struct tmapi_mandelbrot_case {
    const tmap_mandelbrot *m;
    double steps;  // of a pixel: its dwell
    double taken;  // steps until a point returns to an earlier position, which ends it
    double mixed;  // fraction of groups with several dwells
    double rough;  // steps taken by pixels of these groups, over all groups
    double coarse; // fraction of neighbouring groups with several dwells
    double most;   // steps taken by any pixel
    double warps, longest;
    double rate;   // warp instructions a microsecond
    double weight; // instructions that take the time of a step in these numbers
    int tip;       // the end of the set at c = -2 is in the window: every step is tested
} tmapi_mandelbrot_case;

TMAP_FN double tmapi_mandelbrot_round(int f64, double x) { return f64 ? x : (double)(float)x; }

// The dwell of pixel (x, y) in double; p->dwell if the point takes more steps, or returns to an
// earlier position in numbers of the picture. *taken: the steps until this is known.
static inline int tmapi_mandelbrot_look(const tmapi_mandelbrot_job *p, double x, double y,
                                        int *taken) {
    const double dx = (double)p->dx.f + p->dx.d, dy = (double)p->dy.f + p->dy.d;
    const double cr = tmapi_mandelbrot_round(p->f64, (double)p->x0.f + p->x0.d + dx * x);
    const double ci = tmapi_mandelbrot_round(p->f64, (double)p->y0.f + p->y0.d + dy * y);
    double zr = cr, zi = ci, before_r = 4, before_i = 4;
    for (int k = 0; k < p->dwell && k < TMAPI_MANDELBROT_LOOK; ++k) {
        const double rr = zr * zr, ii = zi * zi;
        *taken = k;
        if (!(rr + ii < 4)) return k;
        if (k % 32 == 0) {
            const double r = tmapi_mandelbrot_round(p->f64, zr);
            const double i = tmapi_mandelbrot_round(p->f64, zi);
            if (r == before_r && i == before_i) return p->dwell;
            before_r = r, before_i = i;
        }
        zi = 2 * zr * zi + ci;
        zr = rr - ii + cr;
    }
    return *taken = p->dwell;
}

// Samples groups of three pixels all over the picture.
static inline tmapi_mandelbrot_case tmapi_mandelbrot_case_of(const tmap_mandelbrot *m,
                                                             const tmap_device_facts *device,
                                                             const tmapi_mandelbrot_job *job) {
    enum { GROUPS = TMAPI_MANDELBROT_GROUPS };
    tmapi_mandelbrot_case c = {};
    int all[GROUPS * GROUPS];
    for (int group = 0; group < GROUPS * GROUPS; ++group) {
        // A position in a cell of the picture: fractions of multiples of two irrational numbers.
        const double in_x = group * 0.6180339887, in_y = group * 0.7548776662;
        const double x = (group % GROUPS + in_x - (int)in_x) * m->nx / GROUPS;
        const double y = (group / GROUPS + in_y - (int)in_y) * m->ny / GROUPS;
        const int *above = all + group - GROUPS;
        int taken, other;
        const int dwell = all[group] = tmapi_mandelbrot_look(job, x, y, &taken);
        c.steps += dwell, c.taken += taken;
        if (tmapi_mandelbrot_look(job, x + TMAPI_MANDELBROT_APART, y, &other) != dwell ||
            tmapi_mandelbrot_look(job, x, y + TMAPI_MANDELBROT_APART, &other) != dwell)
            c.mixed += 1, c.rough += taken;
        if (c.most < taken) c.most = taken;
        if (group >= GROUPS && group % GROUPS < GROUPS - 1)
            c.coarse += above[0] != above[1] || above[0] != dwell;
    }
    c.coarse /= (GROUPS - 1) * (GROUPS - 1);
    c.steps /= GROUPS * GROUPS, c.taken /= GROUPS * GROUPS;
    c.mixed /= GROUPS * GROUPS, c.rough /= GROUPS * GROUPS;
    c.m = m, c.warps = (double)m->nx * m->ny / 32;
    c.longest = m->nx > m->ny ? m->nx : m->ny;
    c.rate = device->processors * 7900.0; // four a clock, at nearly 2 GHz
    c.weight = job->f64 && device->floats_per_double > 1 ? device->floats_per_double : 1;
    c.tip = m->x0 < -1.98 && m->x1 > -1.98 && m->y0 <= 0 && m->y1 >= 0;
    return c;
}

// The fraction of regions with this side that have several dwells. It grows by the same factor with
// each doubling of the side, from groups to neighbouring groups. If dwells differ at all, it is at
// least a line of regions across the picture, which a survey may miss.
static inline double tmapi_mandelbrot_mixed(const tmapi_mandelbrot_case *c, double side) {
    const double apart = c->longest / TMAPI_MANDELBROT_GROUPS;
    double part = c->mixed > 0.002 ? c->mixed : 0.002, factor = 1.1, coarse = 0, x;
    if (c->mixed + c->coarse == 0) return 0;
    for (; factor < 1.6; factor += 0.02) {
        coarse = part;
        for (x = TMAPI_MANDELBROT_APART; x < apart; x *= 2) coarse *= factor;
        if (coarse >= c->coarse) break;
    }
    for (x = side / TMAPI_MANDELBROT_APART; x >= 2; x /= 2) part *= factor;
    for (; x < 1; x *= 2) part /= factor;
    part *= 1 + (factor - 1) * (x - 1);
    if (part < side / c->longest) part = side / c->longest;
    return part < 1 ? part : 1;
}

// Microseconds of a subdivision with r = 4, and of a launch without one: fitted to 3000 pictures of
// nine windows in both types, with sides from 1000 to 16384, on an H200. Usual errors: a sixth.
static inline double tmapi_mandelbrot_ask_cost(const tmapi_mandelbrot_case *c, tmap_u32 g,
                                               tmap_u32 levels) {
    const double rough = c->mixed > 0 ? c->rough / c->mixed : c->taken; // steps of a leaf's pixel
    double side = c->longest / g, lines = 0, leaves, fill, work;
    for (tmap_u32 l = 1; l < levels; ++l) { // lines between the children of mixed regions
        lines += 2 * 0.75 * tmapi_mandelbrot_mixed(c, side) / (side / 4);
        side /= 4;
    }
    leaves = tmapi_mandelbrot_mixed(c, side);
    fill = 34.5 + (c->m->nx % 64 ? 60 + 305 / side : 0); // then rows of regions begin anywhere
    work = ((double)c->m->nx + c->m->ny) / 32 * g * (742 + 5.1 * c->weight * c->taken) +
           c->warps *
               (344 * c->weight * lines + leaves * (302 + c->weight * (92 + 6.4 * rough)) + fill);
    return 11 + 14.8 * levels + work / c->rate + 0.0141 * c->weight * c->most +
           (c->tip ? 0.03 * c->m->dwell : 0);
}

static inline double tmapi_mandelbrot_plain_cost(const tmapi_mandelbrot_case *c) {
    const double pixel = c->taken < 8 ? 47 : 57;
    const double steps = 3.5 * c->taken + 2 * c->steps + 8.1 * c->rough;
    return 3.5 + c->warps * (pixel + c->weight * steps) / c->rate + 0.0055 * c->weight * c->most +
           (c->tip ? 0.037 * c->m->dwell : 0);
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

// ---- the plan and the picture -------------------------------------------------------------------

// 1 if pixels are closer than half the distance of two numbers from 1 to 2. Then rounding decides
// dwells, and a border says nothing about what is inside.
static inline int tmapi_mandelbrot_blurred(const tmap_mandelbrot *m) {
    const double least = m->options & TMAP_MANDELBROT_F64 ? 1.0 / (1ull << 53) : 1.0 / (1 << 24);
    return (m->x1 - m->x0) / m->nx < least || (m->y1 - m->y0) / m->ny < least;
}

// The plan of a picture.
typedef struct tmap_mandelbrot_plan {
    tmap_ask_plan ask;        // as tmap_ask_plan_make makes it
    tmapi_mandelbrot_job job; // `out` is not set
    tmap_u32 plain;           // without a subdivision: the width of a block of pixels; else 0
} tmap_mandelbrot_plan;

// The kernels of a picture's plan, for tmap_ask_facts_get.
static inline tmap_ask_kernels tmap_mandelbrot_kernels(const tmap_mandelbrot *m) {
    const int f64 = (m->options & TMAP_MANDELBROT_F64) != 0;
    const tmap_ask_kernels kernels = {
        (const void *)(f64 ? tmapi_mandelbrot_query_f64 : tmapi_mandelbrot_query_f32),
        (const void *)(f64 ? tmapi_mandelbrot_finish_f64 : tmapi_mandelbrot_finish_f32),
        (const void *)(f64 ? tmapi_mandelbrot_share_f64 : tmapi_mandelbrot_share_f32), 256,
        sizeof(tmapi_mandelbrot_queue)};
    return kernels;
}

// The job of a picture in this workspace.
static inline int tmapi_mandelbrot_job_in(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                          tmapi_mandelbrot_job *job) {
    if (tmap_mandelbrot_check(m) || !w || w->domain.dims != 2 || w->domain.nx != m->nx ||
        w->domain.ny != m->ny)
        return TMAP_EINVAL;
    *job = tmapi_mandelbrot_job_make(m);
    const tmap_u64 bytes = tmapi_mandelbrot_columns(&w->domain);
    if (bytes && bytes <= w->rest.bytes) job->columns = (int *)w->rest.data;
    return TMAP_OK;
}

// Makes the plan of tmap_mandelbrot_plan_make from facts of the kernels. w: a workspace for this
// number of pixels, which has the subdivision: from tmap_mandelbrot_workspace_create or _set, or
// from tmap_ask_workspace_create, which costs a tenth more time. With parameters (0, 0, 0) the plan
// chooses the subdivision, in half a millisecond on the host. With any parameters there is none for
// pixels that are closer than 2^-24 in float or 2^-53 in double. Returns TMAP_EINVAL for a null
// pointer, a picture that tmap_mandelbrot_check refuses, or a workspace for another number of
// pixels; else the result of tmap_ask_plan_of. Writes *out only on success.
static inline int tmap_mandelbrot_plan_of(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                          const tmap_ask_facts *facts, tmap_mandelbrot_plan *out) {
    tmap_mandelbrot_plan p;
    int error = out ? tmapi_mandelbrot_job_in(m, w, &p.job) : TMAP_EINVAL;
    if (error) return error;
    const tmap_ask_kernels kernels = tmap_mandelbrot_kernels(m);
    if ((error = tmap_ask_plan_of(w, &kernels, facts, &p.ask))) return error;
    p.plain = 0;
    if (w->domain.b == 0) {
        const tmapi_mandelbrot_case c = tmapi_mandelbrot_case_of(m, &facts->device, &p.job);
        p.plain = tmapi_mandelbrot_choose(&c, &p.ask.run.workspace.domain);
    }
    if (tmapi_mandelbrot_blurred(m)) p.plain = 16;
    *out = p;
    return TMAP_OK;
}

// Makes the plan of a picture on the current device. Parameters: as tmap_mandelbrot_plan_of;
// errors: as tmap_ask_plan_make. The plan serves any number of pictures, one after the other.
static inline cudaError_t tmap_mandelbrot_plan_make(const tmap_mandelbrot *m,
                                                    const tmap_ask_workspace *w,
                                                    tmap_mandelbrot_plan *out) {
    tmap_ask_facts facts;
    tmap_mandelbrot_plan p;
    if (!m || !out) return cudaErrorInvalidValue;
    const tmap_ask_kernels kernels = tmap_mandelbrot_kernels(m);
    cudaError_t status = tmap_ask_facts_get(&kernels, &facts);
    if (status == cudaSuccess)
        status = tmapi_ask_plan_ready(tmap_mandelbrot_plan_of(m, w, &facts, &p), &p.ask);
    if (status == cudaSuccess) *out = p;
    return status;
}

// Restricts a plan to part number `part` of `parts`, for several GPUs. A part has bands of rows all
// over the picture: every parts-th band of level 0 (tmap_ask_plan_part), or, without a subdivision,
// every parts-th row of blocks. Other rows of the picture need no memory (share_memory.h), except
// for the first one of each band and the last one of the picture, where borders of bands are
// written. Returns TMAP_EINVAL for a null pointer, a plan that no plan maker has made, and part >=
// parts; nothing changes then.
static inline int tmap_mandelbrot_plan_part(tmap_mandelbrot_plan *plan, tmap_u32 part,
                                            tmap_u32 parts) {
    if (!plan || tmap_ask_plan_part(&plan->ask, part, parts)) return TMAP_EINVAL;
    plan->job.part = part, plan->job.parts = parts;
    return TMAP_OK;
}

// The part that has row y < ny of the picture, of the plan's parts. Cost: two divisions.
static inline tmap_u32 tmap_mandelbrot_plan_part_of(const tmap_mandelbrot_plan *plan, tmap_u32 y) {
    const tmap_u64 g = plan->ask.run.workspace.domain.g;
    const tmap_u64 band =
        plan->plain ? y / (256 / plan->plain) : ((y + 1ull) * g - 1) / plan->job.ny;
    return (tmap_u32)(band % plan->job.parts);
}

// Writes the dwells of a picture by tmap_ask_stream of its plan. out: nx x ny integers in device
// memory, row after row; faster at a multiple of 16 bytes with nx a multiple of 4. Returns
// cudaErrorInvalidValue for a null or misaligned pointer, else the result of tmap_ask_stream.
// tmap_ask_counts_read returns the counts of the run and errors of its kernels.
static inline cudaError_t tmap_mandelbrot_stream(const tmap_mandelbrot_plan *plan, int *out,
                                                 cudaStream_t stream) {
    if (!plan || !out || (tmap_u64)out % sizeof *out) return cudaErrorInvalidValue;
    tmapi_mandelbrot_job job = plan->job;
    job.out = out;
    if (!plan->plain) return tmap_ask_stream(&plan->ask, &job, stream);
    tmapi_ask_control *control = plan->ask.run.workspace.control;
    tmap_u32 width = plan->plain, height = 256 / width;
    const tmap_u32 columns = (job.nx + width - 1) / width;
    const tmap_u32 rows = ((job.ny + height - 1) / height + job.parts - 1) / job.parts;
    // 16 times the blocks that an H200 holds: starting a block may take longer than its pixels.
    const tmap_u32 most = 16384 / columns ? 16384 / columns : 1;
    void *arguments[] = {&job, &control, &width};
    return cudaLaunchKernel(
        (const void *)(job.f64 ? tmapi_mandelbrot_plain_f64 : tmapi_mandelbrot_plain_f32),
        dim3(columns, rows < most ? rows : most), dim3(256), arguments, 0, stream);
}

// The dwell of pixel (x, y) computed on the host, equal to that of the kernels. m: a picture that
// tmap_mandelbrot_check accepts; x < nx, y < ny.
// Example: 4 x 4 pixels, dwell 100: pixel (3, 2), c = 0, 100; pixel (0, 0), c = -1.5 - i, 1.
static inline int tmap_mandelbrot_dwell(const tmap_mandelbrot *m, tmap_u32 x, tmap_u32 y) {
    const tmapi_mandelbrot_job p = tmapi_mandelbrot_job_make(m);
    return tmapi_mandelbrot_dwell(&p, x, y);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
