// SPDX-License-Identifier: MIT
// mandelbrot_approaches_stamp.h: the kernels of mandelbrot_approaches.h for one type of numbers. It
// defines nothing without TMAPI_MANDELBROT_NAME.
#ifndef TMAP_PAPERS_MANDELBROT_APPROACHES_STAMP_H
#define TMAP_PAPERS_MANDELBROT_APPROACHES_STAMP_H

#include "../adaptive/mandelbrot_picture.h"
#include "ask_drivers.h"

// Steps of a pixel of the exhaustive approach between two tests.
#define TMAPI_MANDELBROT_UNROLLED 32

typedef enum tmap_mandelbrot_approach {
    TMAP_MANDELBROT_EXHAUSTIVE,          // a thread for each pixel, a test in every step
    TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED, // the same, a test once in 32 steps
    TMAP_MANDELBROT_ASK_SBR,             // subdivision, one block for each region
    TMAP_MANDELBROT_ASK_MBR              // subdivision, the elements of a level over all blocks
} tmap_mandelbrot_approach;

#define TMAP_MANDELBROT_APPROACH_COUNT 4

// The name of an approach in tables and results: "exhaustive", "unrolled", "ask_sbr", "ask_mbr";
// "?" for any other number.
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
static __global__ void __launch_bounds__(256)
    TMAPI_MANDELBROT(plain_kernel)(TMAPI_MANDELBROT_JOB p) {
    tmap_u32 x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 16 * gridDim.y)
        p.out[(tmap_u64)y * p.nx + x] = TMAPI_MANDELBROT(dwell)(&p, x, y);
}

// The dwell with a test in every TMAPI_MANDELBROT_UNROLLED steps; the last ones are taken again
// with tests.
TMAP_DEVICE int TMAPI_MANDELBROT(dwell_unrolled)(const TMAPI_MANDELBROT_JOB *p, tmap_u32 x,
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

// A warp has 8 x 4 pixels, whose dwells differ less than those of 32 in a row.
static __global__ void __launch_bounds__(256)
    TMAPI_MANDELBROT(unrolled_kernel)(TMAPI_MANDELBROT_JOB p) {
    tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u32 x = blockIdx.x * 16 + warp % 2 * 8 + lane % 8;
    tmap_u32 y = blockIdx.y * 16 + warp / 2 * 4 + lane / 8;
    if (x >= p.nx) return;
    for (; y < p.ny; y += 16 * gridDim.y)
        p.out[(tmap_u64)y * p.nx + x] = TMAPI_MANDELBROT(dwell_unrolled)(&p, x, y);
}

// ---- forms and drivers of ASK -------------------------------------------------------------------

static __global__ void __launch_bounds__(128, 8)
    TMAPI_MANDELBROT(block_kernel)(tmap_ask_run run, TMAPI_MANDELBROT_JOB job) {
    run.workspace.domain.dims = 2;
    tmap_ask_blocks(&run, TMAPI_MANDELBROT(query), TMAPI_MANDELBROT(terminal),
                    TMAPI_MANDELBROT(leaf_elements), TMAPI_MANDELBROT(leaf),
                    TMAPI_MANDELBROT(share_elements), TMAPI_MANDELBROT(share), &job);
}

static __global__ void __launch_bounds__(256, 2)
    TMAPI_MANDELBROT(cooperative_kernel)(tmap_ask_run run, TMAPI_MANDELBROT_JOB job) {
    run.workspace.domain.dims = 2;
    tmap_ask_all_levels(&run, TMAPI_MANDELBROT(query), TMAPI_MANDELBROT(terminal),
                        TMAPI_MANDELBROT(leaf_elements), TMAPI_MANDELBROT(leaf),
                        tmap_ask_every_element, TMAPI_MANDELBROT(leaf_short),
                        TMAPI_MANDELBROT(share_elements), TMAPI_MANDELBROT(share), &job);
}

// ---- the host's part ----------------------------------------------------------------------------

typedef struct TMAPI_MANDELBROT(approaches) {
    tmap_ask_drivers_plan ask; // where there is a workspace
    TMAPI_MANDELBROT_JOB job;  // without `out`
    int subdivided;
} TMAPI_MANDELBROT(approaches);

static inline cudaError_t TMAPI_MANDELBROT(approaches_make)(const tmap_mandelbrot *m,
                                                            const tmap_ask_workspace *w,
                                                            TMAPI_MANDELBROT(approaches) * out) {
    const tmap_ask_kernels kernels = {
        (const void *)TMAPI_MANDELBROT(query_kernel), (const void *)TMAPI_MANDELBROT(finish_kernel),
        (const void *)TMAPI_MANDELBROT(share_kernel), 256, TMAPI_MANDELBROT_SCRATCH};
    cudaError_t status;
    if (!out || tmap_mandelbrot_check(m)) return cudaErrorInvalidValue;
    out->subdivided = w != 0;
    out->job = TMAPI_MANDELBROT(job_make)(m);
    if (!w) return cudaSuccess;
    status = TMAPI_MANDELBROT(job_in)(m, w, &out->job);
    if (status != cudaSuccess) return status;
    return tmap_ask_drivers_plan_make(w, &kernels, (const void *)TMAPI_MANDELBROT(block_kernel),
                                      (const void *)TMAPI_MANDELBROT(cooperative_kernel),
                                      &out->ask);
}

static inline cudaError_t TMAPI_MANDELBROT(approach)(const TMAPI_MANDELBROT(approaches) * p,
                                                     int approach, int driver, float *level_ms,
                                                     int *out, cudaStream_t stream) {
    TMAPI_MANDELBROT_JOB job;
    tmap_u32 columns, rows;
    void *arguments[1];
    if (!p || !out || (tmap_u64)out % sizeof *out || approach < 0 ||
        approach >= TMAP_MANDELBROT_APPROACH_COUNT)
        return cudaErrorInvalidValue;
    job = p->job;
    job.out = out;
    if (approach > TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED) {
        const int form = approach == TMAP_MANDELBROT_ASK_SBR ? TMAP_ASK_SBR : TMAP_ASK_MBR;
        if (!p->subdivided) return cudaErrorInvalidValue;
        return tmap_ask_drive(&p->ask, form, driver, &job, level_ms, stream);
    }
    columns = (job.nx + 15) / 16, rows = (job.ny + 15) / 16;
    arguments[0] = &job;
    return cudaLaunchKernel(
        approach == TMAP_MANDELBROT_EXHAUSTIVE ? (const void *)TMAPI_MANDELBROT(plain_kernel)
                                               : (const void *)TMAPI_MANDELBROT(unrolled_kernel),
        dim3(columns, rows < 65535 ? rows : 65535, 1), dim3(256, 1, 1), arguments, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#undef TMAPI_MANDELBROT_NAME

#endif // TMAPI_MANDELBROT_NAME
