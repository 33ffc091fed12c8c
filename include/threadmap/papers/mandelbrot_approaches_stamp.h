// SPDX-License-Identifier: MIT
// mandelbrot_approaches_stamp.h: the kernels of mandelbrot_approaches.h for one type of numbers. It
// defines nothing without TMAPI_MANDELBROT_NAME.
#ifndef TMAP_PAPERS_MANDELBROT_APPROACHES_STAMP_H
#define TMAP_PAPERS_MANDELBROT_APPROACHES_STAMP_H

#include "../adaptive/mandelbrot_picture.h"
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

#endif

#if defined(TMAPI_MANDELBROT_NAME)
#if TMAP_CUDA && !TMAP_NVRTC

// ---- exhaustive ---------------------------------------------------------------------------------

// A thread for each pixel, a test in every step.
static __global__ void __launch_bounds__(256) TMAPI_MB(plain_kernel)(TMAPI_MB(job) p) {
    tmap_u32 x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
    if (x >= p.to.nx) return;
    for (; y < p.to.ny; y += 16 * gridDim.y)
        p.to.out[(tmap_u64)y * p.to.nx + x] = TMAPI_MB(dwell)(&p, x, y);
}

// The dwell with a test every TMAPI_MANDELBROT_UNROLLED steps. Repeats the last ones with tests.
TMAP_DEVICE int TMAPI_MB(dwell_unrolled)(const TMAPI_MB(job) * p, tmap_u32 x, tmap_u32 y) {
    TMAPI_MB(point) a = TMAPI_MB(begin)(p, x, y), saved;
    int d = 0;
    if (TMAPI_MB(known)(p, a)) return p->to.dwell;
    if (TMAPI_MB(steady)(a))
        while (d <= p->to.dwell - TMAPI_MANDELBROT_UNROLLED) {
            saved = a;
#pragma unroll
            for (int i = 0; i < TMAPI_MANDELBROT_UNROLLED; ++i) TMAPI_MB(step)(&a);
            if (!(TMAPI_MB(norm)(a.zr, a.zi) < 4)) {
                a = saved;
                break;
            }
            d += TMAPI_MANDELBROT_UNROLLED;
        }
    return TMAPI_MB(tested)(a, d, p->to.dwell);
}

// A warp has 8 x 4 pixels, whose dwells differ less than those of 32 in a row.
static __global__ void __launch_bounds__(256) TMAPI_MB(unrolled_kernel)(TMAPI_MB(job) p) {
    tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u32 x = blockIdx.x * 16 + warp % 2 * 8 + lane % 8;
    tmap_u32 y = blockIdx.y * 16 + warp / 2 * 4 + lane / 8;
    if (x >= p.to.nx) return;
    for (; y < p.to.ny; y += 16 * gridDim.y)
        p.to.out[(tmap_u64)y * p.to.nx + x] = TMAPI_MB(dwell_unrolled)(&p, x, y);
}

// ---- subdivision, a block for each region -------------------------------------------------------

static __global__ void __launch_bounds__(128, 8)
    TMAPI_MB(block_kernel)(tmap_ask_run run, TMAPI_MB(job) job) {
    const tmap_ask_pass leaves = {tmapi_mandelbrot_leaf_elements, TMAPI_MB(leaf)};
    const tmap_ask_pass lines = {tmapi_mandelbrot_share_elements, TMAPI_MB(share)};
    run.workspace.domain.dims = 2;
    tmap_ask_sbr(&run, tmapi_mandelbrot_query, tmapi_mandelbrot_terminal, leaves, lines, &job);
}

// ---- host functions -----------------------------------------------------------------------------

typedef struct TMAPI_MB(approaches) {
    tmap_ask_plan ask[TMAP_ASK_FORM_COUNT]; // set if there is a workspace
    TMAPI_MB(job) job;                      // `out` is not set
    int subdivided;
} TMAPI_MB(approaches);

static inline cudaError_t TMAPI_MB(approaches_make)(const tmap_mandelbrot *m,
                                                    const tmap_ask_workspace *w,
                                                    TMAPI_MB(approaches) * out) {
    tmap_ask_kernels kernels = TMAPI_MB(kernels)();
    cudaError_t status;
    if (!out || tmap_mandelbrot_check(m)) return cudaErrorInvalidValue;
    out->subdivided = w != 0;
    out->job = TMAPI_MB(job_make)(m);
    if (!w) return cudaSuccess;
    if (TMAPI_MB(job_in)(m, w, &out->job)) return cudaErrorInvalidValue;
    status = tmap_ask_plan_make(w, &kernels, &out->ask[TMAP_ASK_MBR]);
    if (status != cudaSuccess) return status;
    kernels.query = (const void *)TMAPI_MB(block_kernel);
    kernels.threads = 0;
    return tmap_ask_sbr_plan_make(w, &kernels, &out->ask[TMAP_ASK_SBR]);
}

static inline cudaError_t TMAPI_MB(approach)(const TMAPI_MB(approaches) * p, int approach,
                                             int driver, int *out, cudaStream_t stream) {
    TMAPI_MB(job) job;
    tmap_u32 columns, rows;
    void *arguments[1];
    if (!p || !out || (tmap_u64)out % sizeof *out || approach < 0 ||
        approach >= TMAP_MANDELBROT_APPROACH_COUNT)
        return cudaErrorInvalidValue;
    job = p->job;
    job.to.out = out;
    if (approach > TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED) {
        const tmap_ask_plan *ask =
            &p->ask[approach == TMAP_MANDELBROT_ASK_SBR ? TMAP_ASK_SBR : TMAP_ASK_MBR];
        if (!p->subdivided || driver < 0 || driver >= TMAP_ASK_DRIVER_COUNT)
            return cudaErrorInvalidValue;
        return (driver == TMAP_ASK_HOST ? tmap_ask_host : tmap_ask_stream)(ask, &job, stream);
    }
    columns = (job.to.nx + 15) / 16, rows = (job.to.ny + 15) / 16;
    arguments[0] = &job;
    return cudaLaunchKernel(
        approach == TMAP_MANDELBROT_EXHAUSTIVE ? (const void *)TMAPI_MB(plain_kernel)
                                               : (const void *)TMAPI_MB(unrolled_kernel),
        dim3(columns, rows < 65535 ? rows : 65535, 1), dim3(256, 1, 1), arguments, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#undef TMAPI_MANDELBROT_NAME

#endif // TMAPI_MANDELBROT_NAME
