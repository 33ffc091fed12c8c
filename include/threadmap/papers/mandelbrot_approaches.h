// SPDX-License-Identifier: MIT
// mandelbrot_approaches.h: pictures of the Mandelbrot set in float by all compared approaches:
// exhaustively, and by adaptive serial kernels (ASK) in both forms, SBR and MBR, with both drivers.
#ifndef TMAP_PAPERS_MANDELBROT_APPROACHES_H
#define TMAP_PAPERS_MANDELBROT_APPROACHES_H

#include "../adaptive/mandelbrot.h"
#include "mandelbrot_approaches_stamp.h"

#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f32
#include "mandelbrot_approaches_stamp.h"

#if TMAP_CUDA && !TMAP_NVRTC

typedef tmapi_mandelbrot_f32_approaches tmap_mandelbrot_approaches_f32;

// Makes the plans of a picture. w: a workspace for it, or null for the exhaustive approaches only.
// Returns the errors of tmap_mandelbrot_plan_make_f32.
static inline cudaError_t tmap_mandelbrot_approaches_make_f32(const tmap_mandelbrot *m,
                                                              const tmap_ask_workspace *w,
                                                              tmap_mandelbrot_approaches_f32 *out) {
    return tmapi_mandelbrot_f32_approaches_make(m, w, out);
}

// Writes the dwells of a picture by an approach, a tmap_mandelbrot_approach. driver: a
// tmap_ask_driver, for the two ASK approaches. out: as for tmap_mandelbrot_f32. Returns
// cudaErrorInvalidValue for an unknown approach or driver, a null or misaligned pointer, and an ASK
// approach without a workspace; else the error of the driver or the launch.
static inline cudaError_t tmap_mandelbrot_approach_f32(const tmap_mandelbrot_approaches_f32 *p,
                                                       int approach, int driver, int *out,
                                                       cudaStream_t stream) {
    return tmapi_mandelbrot_f32_approach(p, approach, driver, out, stream);
}

#endif
#endif
