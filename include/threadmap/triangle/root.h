// SPDX-License-Identifier: MIT
// root.h: approximate square and cube roots, from which the maps of triangles and of the simplex
// start.
//
// Private to the library: the maps correct these roots by an integer step, so that what they return
// does not hang on a GPU's rounding. The instructions are written as PTX, because their names in C
// need CUDA's headers, and because those add a test for subnormal numbers that no map needs. Where
// there is no GPU the roots are Newton iterations, without the C library.
#ifndef TMAP_TRIANGLE_ROOT_H
#define TMAP_TRIANGLE_ROOT_H

#include "../core.h"

typedef union tmapi_float {
    float value;
    tmap_u32 bits;
} tmapi_float;

// 1 / sqrt(x) by three Newton iterations from the start 0x5f3759df. x: 0 or a normal number; some
// finite number for 0. Relative error below 2^-21.
TMAP_FN float tmapi_rsqrt_newton(float x) {
    tmapi_float y;
    float half = 0.5f * x;
    y.value = x;
    y.bits = 0x5f3759dfu - (y.bits >> 1);
    y.value *= 1.5f - half * y.value * y.value;
    y.value *= 1.5f - half * y.value * y.value;
    y.value *= 1.5f - half * y.value * y.value;
    return y.value;
}

// 1 / sqrt(x), x a normal number. Relative error below 2^-21.
TMAP_FN float tmapi_rsqrt(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return tmapi_rsqrt_newton(x);
#endif
}

// sqrt(x), x 0 or a normal number. Relative error below 2^-21.
TMAP_FN float tmapi_sqrt(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    // For 0 the iterations would square a number near 2^64, which -ffast-math takes to infinity.
    return x * tmapi_rsqrt_newton(x == 0.0f ? 1.0f : x);
#endif
}

// sqrt(x) rounded to nearest, as IEEE 754 has it: the same bits on every machine. x: 0 or a normal
// number. Double precision carries the root of a float so far that rounding it once more is
// harmless: no such root lies within 2^-51 of the middle between two floats.
TMAP_FN float tmapi_sqrt_nearest(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("sqrt.rn.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    double s = (double)(x * tmapi_rsqrt_newton(x)), wide = (double)x;
    if (x == 0.0f) return 0.0f;
    s = 0.5 * (s + wide / s);
    s = 0.5 * (s + wide / s);
    return (float)s;
#endif
}

// 1 / sqrt(x), x a normal number: the GPU's own rsqrt; on the host the nearest float.
TMAP_FN float tmapi_rsqrt_nearest(float x) {
#if defined(__CUDA_ARCH__)
    return tmapi_rsqrt(x);
#else
    double y = (double)tmapi_rsqrt_newton(x), half = 0.5 * (double)x;
    y *= 1.5 - half * y * y;
    return (float)(y * (1.5 - half * y * y));
#endif
}

// 1 / x, x a normal number. Relative error below 2^-22.
TMAP_FN float tmapi_reciprocal(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

// cbrt(x) * (1 - 2^-16), x a normal number from 2^-1 to 2^67: low by a known little. Relative error
// of the rest below 2^-17, of which PTX grants the logarithm 2^-18.
TMAP_FN float tmapi_cbrt_low(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    y = y * 0.33333333f - 2.2014e-5f; // log2(1 - 2^-16)
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(y));
    return y;
#else
    tmapi_float y;
    y.value = x;
    y.bits = y.bits / 3 + 0x2a5137a0u; // a third of the exponent: within 4 %
    for (int step = 0; step < 3; ++step)
        y.value = (2.0f * y.value + x / (y.value * y.value)) * 0.33333333f;
    return y.value * 0.99998474f;
#endif
}

#endif
