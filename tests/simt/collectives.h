// SPDX-License-Identifier: MIT
// Warp collectives. The last lane to come computes the results of all (see meet in sync.h).
#ifndef SIMT_COLLECTIVES_H
#define SIMT_COLLECTIVES_H

namespace simt {

template <class T> SIMT_UNCHECKED T get(const unsigned char *from) {
    T v;
    memcpy((void *)&v, from, sizeof v);
    return v;
}
template <class T> SIMT_UNCHECKED void put(unsigned char *to, const T &v) {
    static_assert(sizeof(T) <= 16, "an operand has at most 16 bytes");
    memcpy(to, &v, sizeof v);
}

// One value in, one out. Result is what `finish` puts.
template <class Result, class T>
SIMT_UNCHECKED Result exchange(unsigned mask, const T &v, int argument, const Site &site,
                               void (*finish)(Thread *, unsigned)) {
    Thread &me = *machine.current;
    put(me.in, v);
    me.argument = argument;
    meet(mask, site, finish);
    return get<Result>(me.out);
}

SIMT_UNCHECKED inline bool in(unsigned lanes, unsigned lane) { return lanes >> lane & 1; }

// `argument` is the lane to read. Reading a lane that takes no part is undefined: 0xA5 comes out.
template <class T> SIMT_UNCHECKED void finish_shuffle(Thread *warp, unsigned lanes) {
    for (unsigned l = 0; l < warp_lanes; l++) {
        if (!in(lanes, l)) continue;
        unsigned from = (unsigned)warp[l].argument;
        if (in(lanes, from)) memcpy(warp[l].out, warp[from].in, sizeof(T));
        else memset(warp[l].out, 0xA5, sizeof(T));
    }
}

template <class T> using Operand = decltype(+T()); // shuffles of short and char are of int
template <class T>
SIMT_UNCHECKED Operand<T> shuffle(unsigned mask, T v, int from, int width, const Site &site) {
    if (width < 1 || width > 32 || (width & (width - 1)))
        fail("%s at %s:%d: width %d is not a power of two up to 32", site.what, site.file,
             site.line, width);
    return exchange<Operand<T>>(mask, (Operand<T>)v, from, site, finish_shuffle<Operand<T>>);
}

SIMT_UNCHECKED inline int lane() { return (int)(machine.current->linear % warp_lanes); }

SIMT_UNCHECKED inline void finish_ballot(Thread *warp, unsigned lanes) {
    unsigned ballot = 0;
    for (unsigned l = 0; l < warp_lanes; l++)
        if (in(lanes, l)) ballot |= (unsigned)get<bool>(warp[l].in) << l;
    for (unsigned l = 0; l < warp_lanes; l++)
        if (in(lanes, l)) put(warp[l].out, uint2{ballot, lanes});
}
// x: lanes where the predicate holds, y: lanes that took part.
SIMT_UNCHECKED inline uint2 vote(unsigned mask, bool p, const Site &site) {
    return exchange<uint2>(mask, p, 0, site, finish_ballot);
}

template <class T> SIMT_UNCHECKED void finish_match(Thread *warp, unsigned lanes) {
    for (unsigned l = 0; l < warp_lanes; l++) {
        if (!in(lanes, l)) continue;
        unsigned same = 0;
        for (unsigned k = 0; k < warp_lanes; k++)
            same |= (unsigned)(in(lanes, k) && !memcmp(warp[l].in, warp[k].in, sizeof(T))) << k;
        put(warp[l].out, uint2{same, lanes});
    }
}
template <class T> SIMT_UNCHECKED uint2 match(unsigned mask, T v, const Site &site) {
    static_assert(std::is_arithmetic<T>::value && sizeof(T) >= 4, "4 or 8 bytes");
    return exchange<uint2>(mask, v, 0, site, finish_match<T>);
}

template <class T, T f(T, T)> SIMT_UNCHECKED void finish_reduce(Thread *warp, unsigned lanes) {
    bool first = true;
    T result{};
    for (unsigned l = 0; l < warp_lanes; l++) {
        if (!in(lanes, l)) continue;
        T v = get<T>(warp[l].in);
        result = first ? v : f(result, v);
        first = false;
    }
    for (unsigned l = 0; l < warp_lanes; l++)
        if (in(lanes, l)) put(warp[l].out, result);
}
template <class T> SIMT_UNCHECKED T reduce_add(T a, T b) { return (T)((unsigned)a + (unsigned)b); }
template <class T> SIMT_UNCHECKED T reduce_min(T a, T b) { return a < b ? a : b; }
template <class T> SIMT_UNCHECKED T reduce_max(T a, T b) { return a > b ? a : b; }
template <class T> SIMT_UNCHECKED T reduce_and(T a, T b) { return a & b; }
template <class T> SIMT_UNCHECKED T reduce_or(T a, T b) { return a | b; }
template <class T> SIMT_UNCHECKED T reduce_xor(T a, T b) { return a ^ b; }

} // namespace simt

template <class T>
SIMT_UNCHECKED auto __shfl_sync(unsigned mask, T v, int from, int width = 32, SIMT_CALLER) {
    int segment = simt::lane() & ~(width - 1);
    return simt::shuffle(mask, v, segment | (from & (width - 1)), width, SIMT_SITE("__shfl_sync"));
}
template <class T>
SIMT_UNCHECKED auto __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32,
                                   SIMT_CALLER) {
    int l = simt::lane(), from = l - (int)(delta & 31);
    return simt::shuffle(mask, v, from < (l & ~(width - 1)) ? l : from, width,
                         SIMT_SITE("__shfl_up_sync"));
}
template <class T>
SIMT_UNCHECKED auto __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32,
                                     SIMT_CALLER) {
    int l = simt::lane(), from = l + (int)(delta & 31);
    return simt::shuffle(mask, v, from > (l | (width - 1)) ? l : from, width,
                         SIMT_SITE("__shfl_down_sync"));
}
// Lanes of later segments cannot be read, those of earlier ones can.
template <class T>
SIMT_UNCHECKED auto __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32, SIMT_CALLER) {
    int l = simt::lane(), from = (l ^ bits) & 31;
    return simt::shuffle(mask, v, from > (l | (width - 1)) ? l : from, width,
                         SIMT_SITE("__shfl_xor_sync"));
}

SIMT_UNCHECKED inline unsigned __ballot_sync(unsigned mask, int p, SIMT_CALLER) {
    return simt::vote(mask, p != 0, SIMT_SITE("__ballot_sync")).x;
}
SIMT_UNCHECKED inline int __any_sync(unsigned mask, int p, SIMT_CALLER) {
    return simt::vote(mask, p != 0, SIMT_SITE("__any_sync")).x != 0;
}
SIMT_UNCHECKED inline int __all_sync(unsigned mask, int p, SIMT_CALLER) {
    uint2 v = simt::vote(mask, p != 0, SIMT_SITE("__all_sync"));
    return v.x == v.y;
}
template <class T>
SIMT_UNCHECKED unsigned __match_any_sync(unsigned mask, T v, SIMT_CALLER) {
    return simt::match(mask, v, SIMT_SITE("__match_any_sync")).x;
}
template <class T> unsigned __match_all_sync(unsigned mask, T v, int *all, SIMT_CALLER) {
    uint2 r = simt::match(mask, v, SIMT_SITE("__match_all_sync"));
    *all = r.x == r.y;
    return *all ? r.y : 0;
}

#define SIMT_REDUCE(name, T)                                                                       \
    SIMT_UNCHECKED inline T __reduce_##name##_sync(unsigned mask, T v, SIMT_CALLER) {              \
        return simt::exchange<T>(mask, v, 0, SIMT_SITE("__reduce_" #name "_sync"),                 \
                                 simt::finish_reduce<T, simt::reduce_##name<T>>);                  \
    }
SIMT_REDUCE(add, int)
SIMT_REDUCE(add, unsigned)
SIMT_REDUCE(min, int)
SIMT_REDUCE(min, unsigned)
SIMT_REDUCE(max, int)
SIMT_REDUCE(max, unsigned)
SIMT_REDUCE(and, unsigned)
SIMT_REDUCE(or, unsigned)
SIMT_REDUCE(xor, unsigned)
#undef SIMT_REDUCE

// Which lanes happen to be converged is up to the hardware; the caller alone is always a legal
// answer, and the one that code which expects more fails on.
inline unsigned __activemask() { return 1u << simt::lane(); }

#endif
