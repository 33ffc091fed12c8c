// SPDX-License-Identifier: MIT
// Atomics: on one core a plain update. Of CUDA's types those of integers, float and double are here
// and addition of __half and __half2 is in half.h; 128 bits, __nv_bfloat16 and float2 are missing.
#ifndef SIMT_ATOMICS_H
#define SIMT_ATOMICS_H

namespace simt {
template <class T, class... Allowed>
constexpr bool one_of = (std::is_same<T, Allowed>::value || ...);
template <class T> struct Same { using type = T; };
template <class T> using Value = typename Same<T>::type; // converts like a plain parameter
using ull = unsigned long long;

// Integers wrap, in signed types too.
template <class T> T wrapping_add(T a, T b) {
    if constexpr (std::is_integral<T>::value) return (T)((ull)a + (ull)b);
    else return a + b;
}
} // namespace simt

#define SIMT_ATOMIC(name, result, ...)                                                             \
    template <class T> T atomic##name(T *p, simt::Value<T> v) {                                    \
        static_assert(simt::one_of<T, __VA_ARGS__>,                                                \
                      "CUDA has no atomic" #name " of this type, or it is not modelled here");     \
        T old = *p;                                                                                \
        *p = (result);                                                                             \
        return old;                                                                                \
    }                                                                                              \
    template <class T> T atomic##name##_block(T *p, simt::Value<T> v) {                            \
        return atomic##name(p, v);                                                                 \
    }                                                                                              \
    template <class T> T atomic##name##_system(T *p, simt::Value<T> v) {                           \
        return atomic##name(p, v);                                                                 \
    }
SIMT_ATOMIC(Add, simt::wrapping_add<T>(old, v), int, unsigned, simt::ull, float, double)
SIMT_ATOMIC(Sub, (T)((unsigned)old - (unsigned)v), int, unsigned)
SIMT_ATOMIC(Min, v < old ? v : old, int, unsigned, long long, simt::ull)
SIMT_ATOMIC(Max, v > old ? v : old, int, unsigned, long long, simt::ull)
SIMT_ATOMIC(And, old & v, int, unsigned, simt::ull)
SIMT_ATOMIC(Or, old | v, int, unsigned, simt::ull)
SIMT_ATOMIC(Xor, old ^ v, int, unsigned, simt::ull)
SIMT_ATOMIC(Exch, v, int, unsigned, simt::ull, float)
SIMT_ATOMIC(Inc, old >= v ? 0 : old + 1, unsigned)
SIMT_ATOMIC(Dec, old == 0 || old > v ? v : old - 1, unsigned)
#undef SIMT_ATOMIC

template <class T> T atomicCAS(T *p, simt::Value<T> expected, simt::Value<T> v) {
    static_assert(simt::one_of<T, int, unsigned, simt::ull, unsigned short>,
                  "CUDA has no atomicCAS of this type, or it is not modelled here");
    T old = *p;
    if (old == expected) *p = v;
    return old;
}
template <class T> T atomicCAS_block(T *p, simt::Value<T> expected, simt::Value<T> v) {
    return atomicCAS(p, expected, v);
}
template <class T> T atomicCAS_system(T *p, simt::Value<T> expected, simt::Value<T> v) {
    return atomicCAS(p, expected, v);
}

#endif
