// SPDX-License-Identifier: MIT
// mandelbrot.h: the dwell of every pixel of a picture of the Mandelbrot set by adaptive subdivision
// (ASK), in float. mandelbrot_f64.h does the same in double.
//
// The dwell of c is the number of steps z = z^2 + c, from z = c on, that are taken before |z| >= 2,
// and `dwell` at most:
//
//     d = 0; z = c; while (d < dwell && |z|^2 < 4) z = z^2 + c, d = d + 1;
//
// By the rule of Mariani and Silver a region whose border has one dwell is filled with it. The
// border of the region [x0, x1) x [y0, y1) is the ring x0, x1, y0, y1, or the picture's last lines.
// The set of points of dwell d or more is connected: no part of it lies inside such a border
// unseen, unless all of it does. So a window that is larger than the set needs g > 1. A filament
// thinner than a pixel may cross a border unseen, in a few pixels of a hundred million.
//
// All kernels and the host function take the same steps with the same rounding: a pixel has the
// same dwell wherever it is computed.
//
//     tmap_mandelbrot m = tmap_mandelbrot_make(4096, 4096, 512);
//     tmap_ask_params a = {0, 0, 0}; // the plan looks at some pixels and chooses a subdivision, or
//     tmap_mandelbrot_workspace_create(&m, a, 0, &workspace); // none where that is quicker
//     tmap_mandelbrot_plan_make_f32(&m, &workspace, &plan);
//     tmap_mandelbrot_f32(&plan, out, stream); // as often as one likes
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 6.
#ifndef TMAP_ADAPTIVE_MANDELBROT_H
#define TMAP_ADAPTIVE_MANDELBROT_H

#include "mandelbrot_picture.h"

#if TMAP_CUDA

typedef float tmapi_mandelbrot_f32_real;

TMAP_FN float tmapi_mandelbrot_f32_fma(float a, float b, float c) { return fmaf(a, b, c); }

// A product that no compiler joins with an addition.
TMAP_FN float tmapi_mandelbrot_f32_mul(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f32
#include "mandelbrot_stamp.h"

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// The launches of a picture: `ask` is as of tmap_ask_plan_make. `plain` is not 0 where the plan
// chose to compute each pixel by itself.
typedef tmapi_mandelbrot_f32_plan tmap_mandelbrot_plan_f32;

// The kernels of a plan, for tmap_ask_facts_get.
static inline tmap_ask_kernels tmap_mandelbrot_kernels_f32(void) {
    return tmapi_mandelbrot_f32_kernels();
}

// Makes the plan of a picture from facts of the kernels. w: a workspace for as many pixels, which
// has the subdivision, of tmap_mandelbrot_workspace_create or _set, or of tmap_ask_workspace_create
// at a tenth more time. If its parameters are (0, 0, 0) the plan chooses, in half a millisecond.
// Returns TMAP_EINVAL for a null pointer, a picture that tmap_mandelbrot_check refuses, or a
// workspace for another number of pixels; else what tmap_ask_plan_of returns. *out is written only
// on success.
static inline int tmap_mandelbrot_plan_of_f32(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                              const tmap_ask_facts *facts,
                                              tmap_mandelbrot_plan_f32 *out) {
    return tmapi_mandelbrot_f32_plan_of(m, w, facts, out);
}

// The same on the current device; errors as of tmap_ask_plan_make.
static inline cudaError_t tmap_mandelbrot_plan_make_f32(const tmap_mandelbrot *m,
                                                        const tmap_ask_workspace *w,
                                                        tmap_mandelbrot_plan_f32 *out) {
    return tmapi_mandelbrot_f32_plan_make(m, w, out);
}

// Writes the dwells of a picture, computed in float: tmap_ask_stream of its plan. out: nx x ny
// integers in device memory, row after row; quicker at a multiple of 16 bytes with nx a multiple of
// 4. Returns cudaErrorInvalidValue for a null or misaligned pointer, else what tmap_ask_stream
// returns. tmap_ask_counts_read tells what was counted.
static inline cudaError_t tmap_mandelbrot_f32(const tmap_mandelbrot_plan_f32 *plan, int *out,
                                              cudaStream_t stream) {
    return tmapi_mandelbrot_f32_launch(plan, out, 0, stream);
}

// The same by tmap_ask_host.
static inline cudaError_t tmap_mandelbrot_host_f32(const tmap_mandelbrot_plan_f32 *plan, int *out,
                                                   cudaStream_t stream) {
    return tmapi_mandelbrot_f32_launch(plan, out, 1, stream);
}

// The dwell of pixel (x, y) on the host: bit by bit that of the kernels. m: as
// tmap_mandelbrot_check has it.
// Example: 4 x 4 pixels, dwell 100: pixel (3, 2), c = 0, 100; pixel (0, 0), c = -1.5 - i, 1.
static inline int tmap_mandelbrot_dwell_f32(const tmap_mandelbrot *m, tmap_u32 x, tmap_u32 y) {
    const tmapi_mandelbrot_f32_job p = tmapi_mandelbrot_f32_job_make(m);
    return tmapi_mandelbrot_f32_dwell(&p, x, y);
}

#endif
#endif
