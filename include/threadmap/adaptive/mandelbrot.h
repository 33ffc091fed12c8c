// SPDX-License-Identifier: MIT
// mandelbrot.h: the dwell of every pixel of a picture of the Mandelbrot set by adaptive subdivision
// (ASK), in float. mandelbrot_f64.h does the same in double.
//
// The dwell of c is the number of steps z = z^2 + c from z = c on, before |z| >= 2, or `dwell`:
//
//     d = 0; z = c; while (d < dwell && |z|^2 < 4) z = z^2 + c, d = d + 1;
//
// By the rule of Mariani and Silver a region whose border has a single dwell is filled with it. The
// border of the region [x0, x1) x [y0, y1) is the ring x0, x1, y0, y1, or the picture's last lines.
// The set of points of dwell d or more is connected: no part of it is inside such a border without
// crossing it, unless all of it is. So a window larger than the set needs g > 1. A filament thinner
// than a pixel may cross a border between pixels, in a few pixels of a hundred million.
//
// All kernels and the host function take the same steps with the same rounding, so a pixel has the
// same dwell wherever it is computed. In float here, with fma(a, b, c) = a b + c rounded once:
//
//     dx = (float)((m.x1 - m.x0) / m.nx), cr = fma(x, dx, (float)m.x0); ci likewise from y; z = c
//     |z|^2 is fma(zr, zr, zi zi), with the product zi zi rounded
//     a step: t = fma(zr, zr, cr), zr' = fma(-zi, zi, t), zi' = fma(zr + zr, zi, ci)
//
//     tmap_mandelbrot m = tmap_mandelbrot_make(4096, 4096, 512);
//     tmap_ask_params a = {0, 0, 0}; // the plan samples some pixels and chooses a subdivision, or
//     tmap_mandelbrot_workspace_create(&m, a, 0, &workspace); // none if that is faster
//     tmap_mandelbrot_plan_make_f32(&m, &workspace, &plan);
//     tmap_mandelbrot_f32(&plan, out, stream); // any number of times
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 6.
#ifndef TMAP_ADAPTIVE_MANDELBROT_H
#define TMAP_ADAPTIVE_MANDELBROT_H

#include "mandelbrot_picture.h"

#if TMAP_CUDA

typedef float tmapi_mandelbrot_f32_real;

TMAP_FN float tmapi_mandelbrot_f32_fma(float a, float b, float c) { return fmaf(a, b, c); }

// A product that no compiler fuses with an addition.
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

// The plan of a picture. `ask`: as tmap_ask_plan_make makes it. `plain`: not 0 if the plan chose to
// compute every pixel without a subdivision.
typedef tmapi_mandelbrot_f32_plan tmap_mandelbrot_plan_f32;

// The kernels of a plan, for tmap_ask_facts_get.
static inline tmap_ask_kernels tmap_mandelbrot_kernels_f32(void) {
    return tmapi_mandelbrot_f32_kernels();
}

// Makes the plan of tmap_mandelbrot_plan_make_f32 from facts of the kernels. w: a workspace for
// this number of pixels, which has the subdivision: from tmap_mandelbrot_workspace_create or _set,
// or from tmap_ask_workspace_create, which costs a tenth more time. With parameters (0, 0, 0) the
// plan chooses the subdivision, in half a millisecond on the host. Returns TMAP_EINVAL for a null
// pointer, a picture that tmap_mandelbrot_check refuses, or a workspace for another number of
// pixels; else the result of tmap_ask_plan_of. Writes *out only on success.
static inline int tmap_mandelbrot_plan_of_f32(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                              const tmap_ask_facts *facts,
                                              tmap_mandelbrot_plan_f32 *out) {
    return tmapi_mandelbrot_f32_plan_of(m, w, facts, out);
}

// Makes the plan of a picture on the current device. Parameters: as tmap_mandelbrot_plan_of_f32;
// errors: as tmap_ask_plan_make. The plan serves any number of launches.
static inline cudaError_t tmap_mandelbrot_plan_make_f32(const tmap_mandelbrot *m,
                                                        const tmap_ask_workspace *w,
                                                        tmap_mandelbrot_plan_f32 *out) {
    return tmapi_mandelbrot_f32_plan_make(m, w, out);
}

// Writes the dwells of a picture, computed in float, by tmap_ask_stream of its plan. out: nx x ny
// integers in device memory, row after row; faster at a multiple of 16 bytes with nx a multiple of
// 4. Returns cudaErrorInvalidValue for a null or misaligned pointer, else the result of
// tmap_ask_stream. tmap_ask_counts_read returns the counts of the run and errors of its kernels.
static inline cudaError_t tmap_mandelbrot_f32(const tmap_mandelbrot_plan_f32 *plan, int *out,
                                              cudaStream_t stream) {
    return tmapi_mandelbrot_f32_launch(plan, out, 0, stream);
}

// tmap_mandelbrot_f32 driven by the host: tmap_ask_host of the plan.
static inline cudaError_t tmap_mandelbrot_host_f32(const tmap_mandelbrot_plan_f32 *plan, int *out,
                                                   cudaStream_t stream) {
    return tmapi_mandelbrot_f32_launch(plan, out, 1, stream);
}

// The dwell of pixel (x, y) computed on the host, equal to that of the kernels. m: a picture that
// tmap_mandelbrot_check accepts; x < nx, y < ny.
// Example: 4 x 4 pixels, dwell 100: pixel (3, 2), c = 0, 100; pixel (0, 0), c = -1.5 - i, 1.
static inline int tmap_mandelbrot_dwell_f32(const tmap_mandelbrot *m, tmap_u32 x, tmap_u32 y) {
    const tmapi_mandelbrot_f32_job p = tmapi_mandelbrot_f32_job_make(m);
    return tmapi_mandelbrot_f32_dwell(&p, x, y);
}

#endif
#endif
