// SPDX-License-Identifier: MIT
// mandelbrot_approaches.h: pictures of the Mandelbrot set by all compared approaches: exhaustively,
// and by adaptive serial kernels (ASK) in both forms, SBR and MBR, with both drivers.
#ifndef TMAP_PAPERS_MANDELBROT_APPROACHES_H
#define TMAP_PAPERS_MANDELBROT_APPROACHES_H

#include "../adaptive/mandelbrot.h"
#include "ask_sbr.h"

// Steps of a pixel of the exhaustive approach between two tests.
#define TMAPI_MANDELBROT_UNROLLED 32

typedef enum tmap_mandelbrot_approach {
    TMAP_MANDELBROT_EXHAUSTIVE,          // a thread for each pixel, a test in every step
    TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED, // the same, with a test every 32 steps
    TMAP_MANDELBROT_ASK_SBR,             // subdivision, one block for each region
    TMAP_MANDELBROT_ASK_MBR              // subdivision, the elements of a level over all blocks
} tmap_mandelbrot_approach;

#define TMAP_MANDELBROT_APPROACH_COUNT 4

// How a subdivision proceeds from level to level.
typedef enum tmap_ask_driver {
    TMAP_ASK_HOST,  // tmap_ask_host, as in the paper
    TMAP_ASK_STREAM // tmap_ask_stream
} tmap_ask_driver;

#define TMAP_ASK_DRIVER_COUNT 2

// The name of a driver: "host", "stream"; "?" for any other number.
TMAP_FN const char *tmap_ask_driver_name(int driver) {
    return driver == TMAP_ASK_HOST ? "host" : driver == TMAP_ASK_STREAM ? "stream" : "?";
}

// The name of an approach in results: "exhaustive", "unrolled", "ask_sbr", "ask_mbr"; "?" for any
// other number.
TMAP_FN const char *tmap_mandelbrot_approach_name(int approach) {
    switch (approach) {
    case TMAP_MANDELBROT_EXHAUSTIVE: return "exhaustive";
    case TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED: return "unrolled";
    case TMAP_MANDELBROT_ASK_SBR: return "ask_sbr";
    case TMAP_MANDELBROT_ASK_MBR: return "ask_mbr";
    default: return "?";
    }
}

#if TMAP_CUDA && !TMAP_NVRTC

// ---- exhaustive ---------------------------------------------------------------------------------

// A thread for each pixel, a test in every step.
TMAP_DEVICE void tmapi_mandelbrot_exhaustive(tmapi_mandelbrot_job p, int f64) {
    tmap_u32 x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
    p.f64 = f64;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 16 * gridDim.y)
        p.out[(tmap_u64)y * p.nx + x] = tmapi_mandelbrot_dwell(&p, x, y);
}

// The dwell with a test every TMAPI_MANDELBROT_UNROLLED steps. Repeats the last ones with tests.
TMAP_DEVICE int tmapi_mandelbrot_dwell_unrolled(const tmapi_mandelbrot_job *p, tmap_u32 x,
                                                tmap_u32 y) {
    const tmapi_mandelbrot_z c = tmapi_mandelbrot_c(p, x, y);
    tmapi_mandelbrot_z z = c, saved;
    int d = 0;
    if (tmapi_mandelbrot_known(p, c)) return p->dwell;
    if (tmapi_mandelbrot_steady(p->f64, c))
        while (d <= p->dwell - TMAPI_MANDELBROT_UNROLLED) {
            saved = z;
            z = tmapi_mandelbrot_steps(p->f64, z, c, TMAPI_MANDELBROT_UNROLLED);
            if (!tmapi_mandelbrot_inside(p->f64, z)) {
                z = saved;
                break;
            }
            d += TMAPI_MANDELBROT_UNROLLED;
        }
    return tmapi_mandelbrot_tested(p, c, z, d);
}

// A warp has 8 x 4 pixels, whose dwells differ less than those of 32 in a row.
TMAP_DEVICE void tmapi_mandelbrot_unrolled(tmapi_mandelbrot_job p, int f64) {
    tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u32 x = blockIdx.x * 16 + warp % 2 * 8 + lane % 8;
    tmap_u32 y = blockIdx.y * 16 + warp / 2 * 4 + lane / 8;
    p.f64 = f64;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 16 * gridDim.y)
        p.out[(tmap_u64)y * p.nx + x] = tmapi_mandelbrot_dwell_unrolled(&p, x, y);
}

// ---- subdivision, a block for each region -------------------------------------------------------

TMAP_DEVICE void tmapi_mandelbrot_block(tmap_ask_run *run, tmapi_mandelbrot_job *job, int f64) {
    const tmap_ask_pass leaves = {tmapi_mandelbrot_leaf_elements, tmapi_mandelbrot_leaf};
    const tmap_ask_pass lines = {tmapi_mandelbrot_share_elements, tmapi_mandelbrot_share};
    run->workspace.domain.dims = 2, job->f64 = f64;
    tmap_ask_sbr(run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal, leaves, lines, job);
}

// ---- kernels ------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(256)
    tmapi_mandelbrot_exhaustive_f32(tmapi_mandelbrot_job p) {
    tmapi_mandelbrot_exhaustive(p, 0);
}
static __global__ void __launch_bounds__(256)
    tmapi_mandelbrot_exhaustive_f64(tmapi_mandelbrot_job p) {
    tmapi_mandelbrot_exhaustive(p, 1);
}
static __global__ void __launch_bounds__(256)
    tmapi_mandelbrot_unrolled_f32(tmapi_mandelbrot_job p) {
    tmapi_mandelbrot_unrolled(p, 0);
}
static __global__ void __launch_bounds__(256)
    tmapi_mandelbrot_unrolled_f64(tmapi_mandelbrot_job p) {
    tmapi_mandelbrot_unrolled(p, 1);
}
static __global__ void __launch_bounds__(128, 8)
    tmapi_mandelbrot_block_f32(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_block(&run, &job, 0);
}
static __global__ void __launch_bounds__(128, 8)
    tmapi_mandelbrot_block_f64(tmap_ask_run run, tmapi_mandelbrot_job job) {
    tmapi_mandelbrot_block(&run, &job, 1);
}

// ---- host functions -----------------------------------------------------------------------------

// The plans of a picture.
typedef struct tmap_mandelbrot_approaches {
    tmap_ask_plan ask[TMAP_ASK_FORM_COUNT]; // set if there is a workspace
    tmapi_mandelbrot_job job;               // `out` is not set
    int subdivided;
} tmap_mandelbrot_approaches;

// Makes the plans of a picture. w: a workspace for it, or null for the exhaustive approaches only.
// Returns the errors of tmap_mandelbrot_plan_make.
static inline cudaError_t tmap_mandelbrot_approaches_make(const tmap_mandelbrot *m,
                                                          const tmap_ask_workspace *w,
                                                          tmap_mandelbrot_approaches *out) {
    tmap_ask_kernels kernels;
    cudaError_t status;
    if (!out || tmap_mandelbrot_check(m)) return cudaErrorInvalidValue;
    out->subdivided = w != 0;
    out->job = tmapi_mandelbrot_job_make(m);
    if (!w) return cudaSuccess;
    if (tmapi_mandelbrot_job_in(m, w, &out->job)) return cudaErrorInvalidValue;
    kernels = tmap_mandelbrot_kernels(m);
    status = tmap_ask_plan_make(w, &kernels, &out->ask[TMAP_ASK_MBR]);
    if (status != cudaSuccess) return status;
    kernels.query =
        (const void *)(out->job.f64 ? tmapi_mandelbrot_block_f64 : tmapi_mandelbrot_block_f32);
    kernels.threads = 0;
    return tmap_ask_sbr_plan_make(w, &kernels, &out->ask[TMAP_ASK_SBR]);
}

// Writes the dwells of a picture by an approach, a tmap_mandelbrot_approach. driver: a
// tmap_ask_driver, for the two ASK approaches. out: as for tmap_mandelbrot_stream. Returns
// cudaErrorInvalidValue for an unknown approach or driver, a null or misaligned pointer, and an ASK
// approach without a workspace; else the error of the driver or the launch.
static inline cudaError_t tmap_mandelbrot_approach_run(const tmap_mandelbrot_approaches *p,
                                                       int approach, int driver, int *out,
                                                       cudaStream_t stream) {
    tmapi_mandelbrot_job job;
    tmap_u32 columns, rows;
    void *arguments[] = {&job};
    const void *kernel;
    if (!p || !out || (tmap_u64)out % sizeof *out || approach < 0 ||
        approach >= TMAP_MANDELBROT_APPROACH_COUNT)
        return cudaErrorInvalidValue;
    job = p->job;
    job.out = out;
    if (approach > TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED) {
        const tmap_ask_plan *ask =
            &p->ask[approach == TMAP_MANDELBROT_ASK_SBR ? TMAP_ASK_SBR : TMAP_ASK_MBR];
        if (!p->subdivided || driver < 0 || driver >= TMAP_ASK_DRIVER_COUNT)
            return cudaErrorInvalidValue;
        return (driver == TMAP_ASK_HOST ? tmap_ask_host : tmap_ask_stream)(ask, &job, stream);
    }
    columns = (job.nx + 15) / 16, rows = (job.ny + 15) / 16;
    if (approach == TMAP_MANDELBROT_EXHAUSTIVE)
        kernel = (const void *)(job.f64 ? tmapi_mandelbrot_exhaustive_f64
                                        : tmapi_mandelbrot_exhaustive_f32);
    else
        kernel =
            (const void *)(job.f64 ? tmapi_mandelbrot_unrolled_f64 : tmapi_mandelbrot_unrolled_f32);
    return cudaLaunchKernel(kernel, dim3(columns, rows < 65535 ? rows : 65535, 1), dim3(256, 1, 1),
                            arguments, 0, stream);
}

#endif
#endif
