// SPDX-License-Identifier: MIT
// mandelbrot_f64.h: mandelbrot.h in double, for windows whose pixels are equal in float. The
// picture, its subdivision and its workspace are the same.
#ifndef TMAP_ADAPTIVE_MANDELBROT_F64_H
#define TMAP_ADAPTIVE_MANDELBROT_F64_H

#include "mandelbrot_picture.h"

#if TMAP_CUDA

typedef double tmapi_mandelbrot_f64_real;

TMAP_FN double tmapi_mandelbrot_f64_fma(double a, double b, double c) { return fma(a, b, c); }

// A product that no compiler fuses with an addition.
TMAP_FN double tmapi_mandelbrot_f64_mul(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f64
#include "mandelbrot_stamp.h"

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// The functions and types of mandelbrot.h with _f64 for _f32: all numbers are doubles, the order of
// operations is the same.
typedef tmapi_mandelbrot_f64_plan tmap_mandelbrot_plan_f64;
static inline tmap_ask_kernels tmap_mandelbrot_kernels_f64(void) {
    return tmapi_mandelbrot_f64_kernels();
}
static inline int tmap_mandelbrot_plan_of_f64(const tmap_mandelbrot *m, const tmap_ask_workspace *w,
                                              const tmap_ask_facts *facts,
                                              tmap_mandelbrot_plan_f64 *out) {
    return tmapi_mandelbrot_f64_plan_of(m, w, facts, out);
}
static inline cudaError_t tmap_mandelbrot_plan_make_f64(const tmap_mandelbrot *m,
                                                        const tmap_ask_workspace *w,
                                                        tmap_mandelbrot_plan_f64 *out) {
    return tmapi_mandelbrot_f64_plan_make(m, w, out);
}
static inline cudaError_t tmap_mandelbrot_f64(const tmap_mandelbrot_plan_f64 *plan, int *out,
                                              cudaStream_t stream) {
    return tmapi_mandelbrot_f64_launch(plan, out, 0, stream);
}
static inline cudaError_t tmap_mandelbrot_host_f64(const tmap_mandelbrot_plan_f64 *plan, int *out,
                                                   cudaStream_t stream) {
    return tmapi_mandelbrot_f64_launch(plan, out, 1, stream);
}
static inline int tmap_mandelbrot_dwell_f64(const tmap_mandelbrot *m, tmap_u32 x, tmap_u32 y) {
    const tmapi_mandelbrot_f64_job p = tmapi_mandelbrot_f64_job_make(m);
    return tmapi_mandelbrot_f64_dwell(&p, x, y);
}

#endif
#endif
