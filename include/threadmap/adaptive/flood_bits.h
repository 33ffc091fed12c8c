// SPDX-License-Identifier: MIT
// flood_bits.h: which cells of a map lie below a level, as bits: word w of a row has columns 32 w
// to 32 w + 31, the lowest in bit 0.
//
// Heights of all types have keys: 32-bit integers in the order of heights. Ranges of heights are
// ranges of keys. A single height is compared as the bits that it has in memory, by one comparison
// for all types: wet heights are a range of bits.
#ifndef TMAP_ADAPTIVE_FLOOD_BITS_H
#define TMAP_ADAPTIVE_FLOOD_BITS_H

#include "flood_map.h"

#define TMAPI_FLOOD_KEY_MIN (-2147483647 - 1)
#define TMAPI_FLOOD_KEY_MAX 2147483647

// A level, for heights of a type: cells of keys <= last are wet, but for those of key `nodata`.
// Of the bits of a height in memory, those of 16 bits extended by their sign: the wet ones are
// first, first + 1, ..., first + span, which may wrap around, except for those above `top`, which
// are NaN. Bits that equal `dry` where `mask` is set are NODATA.
typedef struct tmapi_flood_level {
    int last, none; // none: 1 if no height is below the level
    int nodata, has_nodata;
    tmap_u32 first, span, top, dry, mask;
} tmapi_flood_level;

// The key of a float, of its bits: the largest one for NaN, which no level reaches; -0 is 0.
TMAP_FN int tmapi_flood_float_key(tmap_u32 bits) {
    if ((bits & 0x7fffffffu) > 0x7f800000u) return TMAPI_FLOOD_KEY_MAX;
    if (bits == 0x80000000u) return 0;
    return (int)(bits ^ (bits >> 31 ? 0x7fffffffu : 0));
}

// The key of the largest integer below a level, at least `low` and at most `high`; *none: 1 if it
// is less.
TMAP_FN int tmapi_flood_integer_last(double level, int low, int high, int *none) {
    int last;
    *none = !(level > low);
    if (*none) return low;
    if (level > high) return high;
    last = (int)level; // towards 0
    return (double)last < level ? last : last - 1;
}

#if TMAP_CUDA

// The bits of cell number `at`. size: bytes of a height, 2 or 4; a constant.
TMAP_DEVICE tmap_u32 tmapi_flood_cell(const void *heights, tmap_u64 at, const tmap_u32 size) {
    return size == 2 ? (tmap_u32)((const short *)heights)[at] : ((const tmap_u32 *)heights)[at];
}

// 1 if a height of these bits is below the level, which is not `none`; 1 if it is NODATA, where the
// level has that.
TMAP_DEVICE int tmapi_flood_cell_below(const tmapi_flood_level *l, tmap_u32 bits) {
    return bits - l->first <= l->span && bits <= l->top;
}
TMAP_DEVICE int tmapi_flood_cell_dry(const tmapi_flood_level *l, tmap_u32 bits) {
    return ((bits ^ l->dry) & l->mask) == 0;
}

// A bit for each of 8 heights of 16 bits. last: of the level; nodata: a height that is dry.
TMAP_DEVICE tmap_u32 tmapi_flood_byte(uint4 v, const tmapi_flood_level *l) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    // 1 where dry: min(max(h, last) - last, 1), two at a time
    const tmap_u32 one = 0x00010001u, last = (tmap_u32)(l->last & 0xffff) * one;
    const tmap_u32 less = (tmap_u32)(-l->last & 0xffff) * one;
    tmap_u32 a = __viaddmin_u16x2(__vmaxs2(v.x, last), less, one);
    tmap_u32 b = __viaddmin_u16x2(__vmaxs2(v.y, last), less, one);
    tmap_u32 c = __viaddmin_u16x2(__vmaxs2(v.z, last), less, one);
    tmap_u32 d = __viaddmin_u16x2(__vmaxs2(v.w, last), less, one), all;
    if (l->has_nodata) {
        const tmap_u32 nodata = (tmap_u32)(l->nodata & 0xffff) * one;
        a |= one ^ __viaddmin_u16x2(v.x ^ nodata, 0, one);
        b |= one ^ __viaddmin_u16x2(v.y ^ nodata, 0, one);
        c |= one ^ __viaddmin_u16x2(v.z ^ nodata, 0, one);
        d |= one ^ __viaddmin_u16x2(v.w ^ nodata, 0, one);
    }
    all = ((d * 4 + c) * 4 + b) * 4 + a;
    return ~(all | all >> 15) & 255u;
#else
    const tmap_u32 two[4] = {v.x, v.y, v.z, v.w};
    tmap_u32 bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int low = (short)(two[i] & 0xffff), high = (short)(two[i] >> 16);
        bits |= (tmap_u32)(low <= l->last && !(l->has_nodata && low == l->nodata)) << 2 * i;
        bits |= (tmap_u32)(high <= l->last && !(l->has_nodata && high == l->nodata)) << (2 * i + 1);
    }
    return bits;
#endif
}

// A bit for each of 4 heights of 32 bits: of those below the level, or those of NODATA.
TMAP_DEVICE tmap_u32 tmapi_flood_below4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_below(l, v.x) |
           (tmap_u32)tmapi_flood_cell_below(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_below(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_below(l, v.w) << 3;
}
TMAP_DEVICE tmap_u32 tmapi_flood_dry4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_dry(l, v.x) | (tmap_u32)tmapi_flood_cell_dry(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.w) << 3;
}

// A bit for each of `count` groups of such heights, up to 8, four for each. One branch for all, so
// that the groups can be in flight together.
TMAP_DEVICE tmap_u32 tmapi_flood_nibbles(const tmapi_flood_level *l, const uint4 *v,
                                         const tmap_u32 count) {
    tmap_u32 bits = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i) bits |= tmapi_flood_below4(l, v[i]) << 4 * i;
    if (l->has_nodata)
#pragma unroll
        for (tmap_u32 i = 0; i < count; ++i) bits &= ~(tmapi_flood_dry4(l, v[i]) << 4 * i);
    return bits;
}

#endif // TMAP_CUDA

#if !TMAP_NVRTC
// The key of a float.
static inline int tmapi_flood_key_of(float value) {
    tmap_u32 bits;
    for (int i = 0; i < 4; ++i) ((unsigned char *)&bits)[i] = ((const unsigned char *)&value)[i];
    return tmapi_flood_float_key(bits);
}

// The bits of the float of a key.
static inline tmap_u32 tmapi_flood_key_bits(int key) {
    return (tmap_u32)key ^ (key < 0 ? 0x7fffffffu : 0);
}

// A level of a map. Below NaN there is nothing.
static inline tmapi_flood_level tmapi_flood_level_of(const tmap_flood_map *map, double level) {
    tmapi_flood_level l = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    const double largest = 3.4028234663852886e38; // a float's
    if (map->type == TMAP_FLOOD_F32) {
        l.none = !(level - level == 0 || level > 0); // NaN and -infinity
        if (level > largest)
            l.last = 0x7f7fffff;
        else if (!(level >= -largest))
            l.last = (int)0x807fffffu; // of -infinity
        else
            l.last = tmapi_flood_key_of((float)level) - ((double)(float)level >= level);
    } else if (map->type == TMAP_FLOOD_I16)
        l.last = tmapi_flood_integer_last(level, -32768, 32767, &l.none);
    else
        l.last = tmapi_flood_integer_last(level, TMAPI_FLOOD_KEY_MIN, TMAPI_FLOOD_KEY_MAX, &l.none);
    if (map->has_nodata && map->type == TMAP_FLOOD_F32 && map->nodata == map->nodata) {
        l.nodata = tmapi_flood_key_of((float)map->nodata);
        l.has_nodata = (double)(float)map->nodata == map->nodata;
    } else if (map->has_nodata && map->type != TMAP_FLOOD_F32 && map->nodata >= -2147483648.0 &&
               map->nodata <= 2147483647.0) {
        l.nodata = (int)map->nodata;
        l.has_nodata = (double)l.nodata == map->nodata;
    }
    if (map->type == TMAP_FLOOD_I16 && (l.nodata < -32768 || l.nodata > 32767)) l.has_nodata = 0;
    // negative numbers come first; of floats, those nearest to 0
    l.first = 0x80000000u, l.span = (tmap_u32)l.last - l.first, l.top = l.mask = ~0u;
    l.dry = (tmap_u32)l.nodata;
    if (map->type == TMAP_FLOOD_F32) {
        l.top = 0xff800000u; // -infinity
        if (l.last < 0) {    // the key -1 is no float's
            l.first = l.last == -1 ? 0x80000001u : tmapi_flood_key_bits(l.last);
            l.span = l.top - l.first;
        }
        l.dry = tmapi_flood_key_bits(l.nodata);
        if (l.nodata == 0) l.mask = 0x7fffffffu; // 0 and -0
    }
    return l;
}
#endif
#endif
