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

// tmap_mandelbrot_approaches_make_f32 in double.
static inline cudaError_t tmap_mandelbrot_approaches_make_f64(const tmap_mandelbrot *m,
                                                              const tmap_ask_workspace *w,
                                                              tmap_mandelbrot_approaches_f64 *out) {
    return tmapi_mandelbrot_f64_approaches_make(m, w, out);
}

// tmap_mandelbrot_approach_f32 in double.
static inline cudaError_t tmap_mandelbrot_approach_f64(const tmap_mandelbrot_approaches_f64 *p,
                                                       int approach, int driver, int *out,
                                                       cudaStream_t stream) {
    return tmapi_mandelbrot_f64_approach(p, approach, driver, out, stream);
}

#endif
#endif
