// SPDX-License-Identifier: MIT
// Floating-point intrinsics. Approximate ones are as exact as the C library here.
#ifndef SIMT_FASTMATH_H
#define SIMT_FASTMATH_H

// a op b in each of the four directions.
#define SIMT_ROUND1(name, mode, F, expression)                                                     \
    inline F name(F a) {                                                                           \
        volatile F x = a;                                                                          \
        return simt::rounded(mode, [&] { return expression; });                                    \
    }
#define SIMT_ROUND2(name, mode, F, expression)                                                     \
    inline F name(F a, F b) {                                                                      \
        volatile F x = a, y = b;                                                                   \
        return simt::rounded(mode, [&] { return (F)(expression); });                               \
    }
#define SIMT_ROUND3(name, mode, F, expression)                                                     \
    inline F name(F a, F b, F c) {                                                                 \
        volatile F x = a, y = b, z = c;                                                            \
        return simt::rounded(mode, [&] { return expression; });                                    \
    }
#define SIMT_DIRECTIONS(ROUND, name, F, expression)                                                \
    ROUND(name##_rn, FE_TONEAREST, F, expression)                                                  \
    ROUND(name##_rz, FE_TOWARDZERO, F, expression)                                                 \
    ROUND(name##_rd, FE_DOWNWARD, F, expression)                                                   \
    ROUND(name##_ru, FE_UPWARD, F, expression)
SIMT_DIRECTIONS(SIMT_ROUND2, __fadd, float, x + y)
SIMT_DIRECTIONS(SIMT_ROUND2, __fsub, float, x - y)
SIMT_DIRECTIONS(SIMT_ROUND2, __fmul, float, x *y)
SIMT_DIRECTIONS(SIMT_ROUND2, __fdiv, float, x / y)
SIMT_DIRECTIONS(SIMT_ROUND1, __frcp, float, 1.0f / x)
SIMT_DIRECTIONS(SIMT_ROUND1, __fsqrt, float, sqrtf(x))
SIMT_DIRECTIONS(SIMT_ROUND3, __fmaf, float, fmaf(x, y, z))
SIMT_DIRECTIONS(SIMT_ROUND2, __dadd, double, x + y)
SIMT_DIRECTIONS(SIMT_ROUND2, __dsub, double, x - y)
SIMT_DIRECTIONS(SIMT_ROUND2, __dmul, double, x *y)
SIMT_DIRECTIONS(SIMT_ROUND2, __ddiv, double, x / y)
SIMT_DIRECTIONS(SIMT_ROUND1, __drcp, double, 1.0 / x)
SIMT_DIRECTIONS(SIMT_ROUND1, __dsqrt, double, sqrt(x))
SIMT_DIRECTIONS(SIMT_ROUND3, __fma, double, fma(x, y, z))
#undef SIMT_DIRECTIONS
#undef SIMT_ROUND3
#undef SIMT_ROUND2
#undef SIMT_ROUND1

// One rounding from double: right to half an ulp but for rare ties.
inline float __frsqrt_rn(float v) { return (float)(1.0 / sqrt((double)v)); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float v) { return v > 0 ? (v < 1 ? v : 1.0f) : 0.0f; }

// Behind a macro each, because some C libraries declare functions of these names.
#define SIMT_FUNCTION(name, F, expression)                                                         \
    inline F simt_##name(F v) { return (F)(expression); }
SIMT_FUNCTION(rsqrtf, float, 1.0f / sqrtf(v))
SIMT_FUNCTION(rsqrt, double, 1.0 / sqrt(v))
SIMT_FUNCTION(rcbrtf, float, 1.0f / cbrtf(v))
SIMT_FUNCTION(sinpif, float, sin(3.14159265358979323846 * v))
SIMT_FUNCTION(cospif, float, cos(3.14159265358979323846 * v))
SIMT_FUNCTION(sinpi, double, sin(3.14159265358979323846 * v))
SIMT_FUNCTION(cospi, double, cos(3.14159265358979323846 * v))
#undef SIMT_FUNCTION
#define rsqrtf simt_rsqrtf
#define rsqrt simt_rsqrt
#define rcbrtf simt_rcbrtf
#define sinpif simt_sinpif
#define cospif simt_cospif
#define sinpi simt_sinpi
#define cospi simt_cospi
inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
inline float rnorm3df(float a, float b, float c) { return simt_rsqrtf(a * a + b * b + c * c); }

#define __sinf(v) sinf(v)
#define __cosf(v) cosf(v)
#define __tanf(v) tanf(v)
#define __sincosf(v, s, c) sincosf(v, s, c)
#define __expf(v) expf(v)
#define __exp10f(v) exp10f(v)
#define __logf(v) logf(v)
#define __log2f(v) log2f(v)
#define __log10f(v) log10f(v)
#define __powf(a, b) powf(a, b)

#endif
