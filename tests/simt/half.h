// SPDX-License-Identifier: MIT
// cuda_fp16.h: IEEE binary16 in software. Sums, products, quotients and roots go through float,
// whose 24 bits are enough (2 * 11 + 2) for the second rounding to change nothing.
#ifndef SIMT_HALF_H
#define SIMT_HALF_H

namespace simt {

// mode: one of the FE_ constants.
inline unsigned short half_bits(double v, int mode = FE_TONEAREST) {
    unsigned sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    if (a != a) return 0x7fff;
    if (isinf(a)) return (unsigned short)(sign | 0x7c00);
    bool away = mode == (sign ? FE_DOWNWARD : FE_UPWARD);
    int e;
    frexp(a, &e); // a in [2^(e-1), 2^e)
    int unit = (e < -13 ? -13 : e) - 11; // exponent of the last place; -24 for subnormals
    double scaled = ldexp(a, -unit);     // exact; below 2048
    double units = mode == FE_TONEAREST ? nearbyint(scaled) : away ? ceil(scaled) : floor(scaled);
    a = ldexp(units, unit);
    if (a > 65504) return (unsigned short)(sign | (mode == FE_TONEAREST || away ? 0x7c00 : 0x7bff));
    if (a < ldexp(1, -14)) return (unsigned short)(sign | (unsigned)units);
    frexp(a, &e);
    return (unsigned short)(sign | (unsigned)((e + 14) << 10) |
                            ((unsigned)ldexp(a, 11 - e) & 0x3ff));
}

inline float half_value(unsigned short bits) {
    int e = bits >> 10 & 31, m = bits & 0x3ff;
    float v = e == 31 ? (m ? NAN : INFINITY)
                      : ldexpf((float)(e ? m | 0x400 : m), (e ? e : 1) - 25);
    return bits & 0x8000 ? -v : v;
}

} // namespace simt

struct __half {
    unsigned short bits;
    __half() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
    __half(T v) : bits(simt::half_bits((double)v)) {}
    operator float() const { return simt::half_value(bits); }
    __half operator+() const { return *this; }
    __half operator-() const { return from_bits(bits ^ 0x8000); }
    static __half from_bits(unsigned b) {
        __half h;
        h.bits = (unsigned short)b;
        return h;
    }
};
typedef __half half;

struct alignas(4) __half2 {
    __half x, y;
};
typedef __half2 half2;

#define SIMT_HALF_OPERATOR(op)                                                                     \
    inline __half operator op(__half a, __half b) { return __half((float)a op(float) b); }         \
    inline __half &operator op##=(__half &a, __half b) { return a = a op b; }                      \
    inline __half2 operator op(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; }
SIMT_HALF_OPERATOR(+)
SIMT_HALF_OPERATOR(-)
SIMT_HALF_OPERATOR(*)
SIMT_HALF_OPERATOR(/)
#undef SIMT_HALF_OPERATOR
#define SIMT_HALF_COMPARE(op, name)                                                                \
    inline bool operator op(__half a, __half b) { return (float)a op(float) b; }                   \
    inline bool name(__half a, __half b) { return a op b; }
SIMT_HALF_COMPARE(==, __heq)
SIMT_HALF_COMPARE(!=, __hne)
SIMT_HALF_COMPARE(<, __hlt)
SIMT_HALF_COMPARE(<=, __hle)
SIMT_HALF_COMPARE(>, __hgt)
SIMT_HALF_COMPARE(>=, __hge)
#undef SIMT_HALF_COMPARE

inline __half __hadd(__half a, __half b) { return a + b; }
inline __half __hsub(__half a, __half b) { return a - b; }
inline __half __hmul(__half a, __half b) { return a * b; }
inline __half __hdiv(__half a, __half b) { return a / b; }
inline __half __hneg(__half a) { return -a; }
inline __half __habs(__half a) { return __half::from_bits(a.bits & 0x7fffu); }
inline __half __hmin(__half a, __half b) { return __half(fminf(a, b)); }
inline __half __hmax(__half a, __half b) { return __half(fmaxf(a, b)); }
inline __half __hfma(__half a, __half b, __half c) {
    return __half((double)(float)a * (double)(float)b + (double)(float)c);
}
inline __half hsqrt(__half a) { return __half(sqrtf(a)); }
inline bool __hisnan(__half a) { return (a.bits & 0x7fff) > 0x7c00; }
inline int __hisinf(__half a) { return (a.bits & 0x7fff) == 0x7c00 ? (a.bits >> 15 ? -1 : 1) : 0; }
inline __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
inline __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
inline __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

// Of the atomics, addition. That of a __half2 is one of each half.
#define SIMT_HALF_ATOMIC(H)                                                                        \
    inline H atomicAdd(H *p, H v) {                                                                \
        H old = *p;                                                                                \
        *p = old + v;                                                                              \
        return old;                                                                                \
    }                                                                                              \
    inline H atomicAdd_block(H *p, H v) { return atomicAdd(p, v); }                                \
    inline H atomicAdd_system(H *p, H v) { return atomicAdd(p, v); }
SIMT_HALF_ATOMIC(__half)
SIMT_HALF_ATOMIC(__half2)
#undef SIMT_HALF_ATOMIC

inline float __half2float(__half h) { return h; }
inline __half __float2half(float v) { return __half(v); }
inline __half __double2half(double v) { return __half(v); }
#define SIMT_TO_HALF(from, T)                                                                      \
    inline __half __##from##2half_rn(T v) { return __half((double)v); }                            \
    inline __half __##from##2half_rz(T v) {                                                        \
        return __half::from_bits(simt::half_bits((double)v, FE_TOWARDZERO));                       \
    }                                                                                              \
    inline __half __##from##2half_rd(T v) {                                                        \
        return __half::from_bits(simt::half_bits((double)v, FE_DOWNWARD));                         \
    }                                                                                              \
    inline __half __##from##2half_ru(T v) {                                                        \
        return __half::from_bits(simt::half_bits((double)v, FE_UPWARD));                           \
    }
SIMT_TO_HALF(float, float)
SIMT_TO_HALF(int, int)
SIMT_TO_HALF(uint, unsigned)
SIMT_TO_HALF(short, short)
SIMT_TO_HALF(ushort, unsigned short)
#undef SIMT_TO_HALF
#define SIMT_FROM_HALF(to, T)                                                                      \
    inline T __half2##to##_rn(__half h) { return simt::saturated<T>(nearbyint((float)h)); }        \
    inline T __half2##to##_rz(__half h) { return simt::saturated<T>(trunc((float)h)); }            \
    inline T __half2##to##_rd(__half h) { return simt::saturated<T>(floor((float)h)); }            \
    inline T __half2##to##_ru(__half h) { return simt::saturated<T>(ceil((float)h)); }
SIMT_FROM_HALF(int, int)
SIMT_FROM_HALF(uint, unsigned)
SIMT_FROM_HALF(short, short)
SIMT_FROM_HALF(ushort, unsigned short)
#undef SIMT_FROM_HALF

inline unsigned short __half_as_ushort(__half h) { return h.bits; }
inline short __half_as_short(__half h) { return (short)h.bits; }
inline __half __ushort_as_half(unsigned short b) { return __half::from_bits(b); }
inline __half __short_as_half(short b) { return __half::from_bits((unsigned short)b); }

inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 h) { return {h.x, h.y}; }
inline __half __low2half(__half2 h) { return h.x; }
inline __half __high2half(__half2 h) { return h.y; }
inline float __low2float(__half2 h) { return h.x; }
inline float __high2float(__half2 h) { return h.y; }

#endif
