// SPDX-License-Identifier: MIT
// Conversions between numbers: rounding as named, out of range saturates, NaN gives 0; and bit
// patterns.
#ifndef SIMT_CONVERT_H
#define SIMT_CONVERT_H

namespace simt {

// Evaluates f in a rounding mode. The operands are volatile so that nothing is computed before.
template <class F> auto rounded(int mode, F f) {
    if (mode == FE_TONEAREST) return f();
    int old = fegetround();
    fesetround(mode);
    volatile auto result = f();
    fesetround(old);
    return (decltype(f()))result;
}

template <class I> I saturated(double v) {
    constexpr double half = (double)(1ULL << (sizeof(I) * 8 - 1));
    constexpr double past = std::is_signed<I>::value ? half : 2 * half;
    if (v != v) return 0;
    if (v >= past) return std::is_signed<I>::value ? (I)(~0ULL >> (65 - sizeof(I) * 8)) : (I)~0ULL;
    if (std::is_signed<I>::value && v < -past) return (I)(1ULL << (sizeof(I) * 8 - 1));
    if (!std::is_signed<I>::value && v < 0) return 0;
    return (I)v;
}

} // namespace simt

#define SIMT_TO_INTEGER(from, to, F, I)                                                            \
    inline I __##from##2##to##_rn(F v) { return simt::saturated<I>(nearbyint((double)v)); }        \
    inline I __##from##2##to##_rz(F v) { return simt::saturated<I>(trunc((double)v)); }            \
    inline I __##from##2##to##_rd(F v) { return simt::saturated<I>(floor((double)v)); }            \
    inline I __##from##2##to##_ru(F v) { return simt::saturated<I>(ceil((double)v)); }
SIMT_TO_INTEGER(float, int, float, int)
SIMT_TO_INTEGER(float, uint, float, unsigned)
SIMT_TO_INTEGER(float, ll, float, long long)
SIMT_TO_INTEGER(float, ull, float, unsigned long long)
SIMT_TO_INTEGER(double, int, double, int)
SIMT_TO_INTEGER(double, uint, double, unsigned)
SIMT_TO_INTEGER(double, ll, double, long long)
SIMT_TO_INTEGER(double, ull, double, unsigned long long)
#undef SIMT_TO_INTEGER

#define SIMT_TO_FLOAT_IN(from, to, suffix, mode, A, F)                                             \
    inline F __##from##2##to##suffix(A a) {                                                        \
        volatile A v = a;                                                                          \
        return simt::rounded(mode, [&] { return (F)v; });                                          \
    }
#define SIMT_TO_FLOAT(from, to, A, F)                                                              \
    inline F __##from##2##to##_rn(A a) { return (F)a; }                                            \
    SIMT_TO_FLOAT_IN(from, to, _rz, FE_TOWARDZERO, A, F)                                           \
    SIMT_TO_FLOAT_IN(from, to, _rd, FE_DOWNWARD, A, F)                                             \
    SIMT_TO_FLOAT_IN(from, to, _ru, FE_UPWARD, A, F)
SIMT_TO_FLOAT(int, float, int, float)
SIMT_TO_FLOAT(uint, float, unsigned, float)
SIMT_TO_FLOAT(ll, float, long long, float)
SIMT_TO_FLOAT(ull, float, unsigned long long, float)
SIMT_TO_FLOAT(ll, double, long long, double)
SIMT_TO_FLOAT(ull, double, unsigned long long, double)
SIMT_TO_FLOAT(double, float, double, float)
#undef SIMT_TO_FLOAT
#undef SIMT_TO_FLOAT_IN
inline double __int2double_rn(int v) { return v; }
inline double __uint2double_rn(unsigned v) { return v; }

#define SIMT_BITS(name, From, To)                                                                  \
    inline To name(From v) {                                                                       \
        To r;                                                                                      \
        static_assert(sizeof r == sizeof v, "");                                                   \
        memcpy(&r, &v, sizeof r);                                                                  \
        return r;                                                                                  \
    }
SIMT_BITS(__int_as_float, int, float)
SIMT_BITS(__uint_as_float, unsigned, float)
SIMT_BITS(__float_as_int, float, int)
SIMT_BITS(__float_as_uint, float, unsigned)
SIMT_BITS(__longlong_as_double, long long, double)
SIMT_BITS(__double_as_longlong, double, long long)
#undef SIMT_BITS
inline int __double2hiint(double v) { return (int)(__double_as_longlong(v) >> 32); }
inline int __double2loint(double v) { return (int)__double_as_longlong(v); }
inline double __hiloint2double(int hi, int lo) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo));
}

#endif
