// SPDX-License-Identifier: MIT
// Integer intrinsics, loads and stores with cache hints, clocks.
#ifndef SIMT_INTRINSICS_H
#define SIMT_INTRINSICS_H

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned long long __brevll(unsigned long long v) {
    unsigned long long r = 0;
    for (int i = 0; i < 64; i++) r |= (v >> i & 1) << (63 - i);
    return r;
}
inline unsigned __brev(unsigned v) { return (unsigned)(__brevll(v) >> 32); }

inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__extension__ inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
__extension__ inline long long __mul64hi(long long a, long long b) {
    return (long long)((__int128)a * b >> 64);
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mul24(int a, int b) {
    int sa = (int)((unsigned)a << 8) >> 8, sb = (int)((unsigned)b << 8) >> 8;
    return (int)((unsigned)sa * (unsigned)sb);
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline unsigned __sad(int a, int b, unsigned c) {
    return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}
inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}

// Byte i of the result is the byte of y:x that nibble i of s names; its top bit spreads the sign.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned n = s >> 4 * i, b = (unsigned)(bytes >> 8 * (n & 7)) & 0xff;
        r |= (n & 8 ? (b & 0x80 ? 0xffu : 0u) : b) << 8 * i;
    }
    return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
    return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
    return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}
inline int __dp4a(int a, int b, int c) {
    unsigned r = (unsigned)c;
    for (int i = 0; i < 32; i += 8) r += (unsigned)((signed char)(a >> i) * (signed char)(b >> i));
    return (int)r;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}

#define SIMT_LOAD(name)                                                                            \
    template <class T> T name(const T *p) { return *p; }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcv)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD
#define SIMT_STORE(name)                                                                           \
    template <class T> void name(T *p, simt::Value<T> v) { *p = v; }
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwb)
SIMT_STORE(__stwt)
#undef SIMT_STORE

namespace simt {
inline long long nanoseconds() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
} // namespace simt
inline long long clock64() { return simt::nanoseconds(); }

#endif
