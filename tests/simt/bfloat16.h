// SPDX-License-Identifier: MIT
// cuda_bf16.h: bfloat16, the upper 16 bits of a float, rounded to nearest even. Conversions and WMMA
// alone: there is no arithmetic, and none by a conversion that nobody wrote, because CUDA rounds it.
#ifndef SIMT_BFLOAT16_H
#define SIMT_BFLOAT16_H

namespace simt {

inline unsigned short bfloat16_bits(double v) {
    if (v != v) return 0x7fff;
    int e = 0;
    if (!isinf(v)) frexp(v, &e);          // |v| in [2^(e-1), 2^e)
    int unit = (e < -125 ? -125 : e) - 8; // exponent of the last of 8 places; -133 for subnormals
    float rounded = (float)ldexp(nearbyint(ldexp(v, -unit)), unit); // exact, or infinite
    unsigned bits;
    memcpy(&bits, &rounded, sizeof bits);
    return (unsigned short)(bits >> 16);
}

inline float bfloat16_value(unsigned short b) {
    unsigned bits = (unsigned)b << 16;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

} // namespace simt

struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
    __nv_bfloat16(T v) : bits(simt::bfloat16_bits((double)v)) {}
    explicit operator float() const { return simt::bfloat16_value(bits); }
};
typedef __nv_bfloat16 nv_bfloat16;

inline float __bfloat162float(__nv_bfloat16 v) { return (float)v; }
inline __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
inline __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
inline __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    __nv_bfloat16 v;
    v.bits = bits;
    return v;
}

#endif
