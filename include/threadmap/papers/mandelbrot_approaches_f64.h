// SPDX-License-Identifier: MIT
// mandelbrot_approaches_f64.h: mandelbrot_approaches.h in double.
#ifndef TMAP_PAPERS_MANDELBROT_APPROACHES_F64_H
#define TMAP_PAPERS_MANDELBROT_APPROACHES_F64_H

#include "../adaptive/mandelbrot_f64.h"
#include "mandelbrot_approaches_stamp.h"

#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f64
#include "mandelbrot_approaches_stamp.h"

#if TMAP_CUDA && !TMAP_NVRTC

typedef tmapi_mandelbrot_f64_approaches tmap_mandelbrot_approaches_f64;

// Makes the plans of a picture. w: a workspace for it, or null, which leaves the exhaustive
// approaches. Returns what tmap_mandelbrot_plan_make_f64 does.
static inline cudaError_t tmap_mandelbrot_approaches_make_f64(const tmap_mandelbrot *m,
                                                              const tmap_ask_workspace *w,
                                                              tmap_mandelbrot_approaches_f64 *out) {
    return tmapi_mandelbrot_f64_approaches_make(m, w, out);
}

// Writes the dwells of a picture by an approach, a tmap_mandelbrot_approach. driver, level_ms: of
// the two ASK approaches, as for tmap_ask_drive. Returns cudaErrorInvalidValue for an unknown
// approach or driver or a null or misaligned pointer, else what tmap_ask_drive or the launch does.
static inline cudaError_t tmap_mandelbrot_approach_f64(const tmap_mandelbrot_approaches_f64 *p,
                                                       int approach, int driver, float *level_ms,
                                                       int *out, cudaStream_t stream) {
    return tmapi_mandelbrot_f64_approach(p, approach, driver, level_ms, out, stream);
}

#endif
#endif
