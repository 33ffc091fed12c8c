// SPDX-License-Identifier: MIT
// Vector types with CUDA's alignment (UBSan reports a misaligned access), dim3, min and max.
#ifndef SIMT_TYPES_H
#define SIMT_TYPES_H

#define SIMT_VECTORS(T, V, align1, align2, align4)                                                 \
    struct alignas(align1) V##1 { T x; };                                                          \
    struct alignas(align2) V##2 { T x, y; };                                                       \
    struct alignas(align1) V##3 { T x, y, z; };                                                    \
    struct alignas(align4) V##4 { T x, y, z, w; };                                                 \
    inline V##1 make_##V##1(T x) { return {x}; }                                                   \
    inline V##2 make_##V##2(T x, T y) { return {x, y}; }                                           \
    inline V##3 make_##V##3(T x, T y, T z) { return {x, y, z}; }                                   \
    inline V##4 make_##V##4(T x, T y, T z, T w) { return {x, y, z, w}; }

SIMT_VECTORS(signed char, char, 1, 2, 4)
SIMT_VECTORS(unsigned char, uchar, 1, 2, 4)
SIMT_VECTORS(short, short, 2, 4, 8)
SIMT_VECTORS(unsigned short, ushort, 2, 4, 8)
SIMT_VECTORS(int, int, 4, 8, 16)
SIMT_VECTORS(unsigned, uint, 4, 8, 16)
SIMT_VECTORS(long, long, 8, 16, 16)
SIMT_VECTORS(unsigned long, ulong, 8, 16, 16)
SIMT_VECTORS(long long, longlong, 8, 16, 16)
SIMT_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
SIMT_VECTORS(float, float, 4, 8, 16)
SIMT_VECTORS(double, double, 8, 16, 16)
#undef SIMT_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

// CUDA's global min and max, mixed signedness included: std::min(int, unsigned) does not exist.
#define SIMT_MIN_MAX(R, A, B)                                                                      \
    constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                                \
    constexpr R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
#define SIMT_MIN_MAX_INTEGER(I)                                                                    \
    SIMT_MIN_MAX(I, I, I)                                                                          \
    SIMT_MIN_MAX(unsigned I, unsigned I, unsigned I)                                               \
    SIMT_MIN_MAX(unsigned I, I, unsigned I)                                                        \
    SIMT_MIN_MAX(unsigned I, unsigned I, I)
SIMT_MIN_MAX_INTEGER(int)
SIMT_MIN_MAX_INTEGER(long)
SIMT_MIN_MAX_INTEGER(long long)
#undef SIMT_MIN_MAX_INTEGER
#undef SIMT_MIN_MAX

// On floating point they are fmin and fmax: a NaN loses.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }

#endif
