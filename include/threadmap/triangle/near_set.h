// SPDX-License-Identifier: MIT
// near_set.h: a set of points as near.h reads it: a copy in an order in which neighbours lie
// together, and the boxes of each 32, 1024, 32768 and 2^20 of them; and what is known of the
// distance of two boxes. near_prepare.h writes it.
#ifndef TMAP_TRIANGLE_NEAR_SET_H
#define TMAP_TRIANGLE_NEAR_SET_H

#include "pairs.h"

// ---- sets of points -----------------------------------------------------------------------------

// Points of the smallest box, threads of a block.
#define TMAP_NEAR_LEAF    32u
#define TMAP_NEAR_THREADS 128u

// A set of points. n: 0 to 2^31. d: coordinates of a point, 1 to TMAP_PAIRS_D_MAX. size: bytes of a
// coordinate, 4 (float) or 8 (double).
typedef struct tmap_near_shape {
    tmap_u32 n, d, size;
} tmap_near_shape;

TMAP_FN int tmapi_near_shape_fits(tmap_near_shape s) {
    return s.n <= 0x80000000u && s.d >= 1 && s.d <= TMAP_PAIRS_D_MAX &&
           (s.size == 4 || s.size == 8);
}

// The number of groups of 32 boxes of a level. Level 0 has a box for each leaf; a group of level l
// is a box of level l + 1.
TMAP_FN tmap_u32 tmapi_near_groups(tmap_u32 n, tmap_u32 level) {
    const tmap_u64 span = 1024ull << 5 * level; // points
    return (tmap_u32)((n + span - 1) / span);
}

TMAP_FN tmap_u32 tmapi_near_leaves(tmap_u32 n) {
    return n / TMAP_NEAR_LEAF + (n % TMAP_NEAR_LEAF != 0);
}

// Bytes of 32 boxes: for each coordinate 32 lower and 32 upper bounds, floats; 32 counts.
TMAP_FN tmap_u32 tmapi_near_group_bytes(tmap_u32 d) { return (2 * d + 1) * 128; }

// Bytes of a leaf: 32 of each coordinate and the points' numbers.
TMAP_FN tmap_u32 tmapi_near_leaf_bytes(tmap_u32 d, tmap_u32 size) {
    return TMAP_NEAR_LEAF * (d * size + 4);
}

// Where things are in a prepared set: the leaves, then the boxes, level by level.
typedef struct tmapi_near_layout {
    tmap_u64 boxes, bytes; // where the boxes begin; of the set
    tmap_u32 level[4];     // the first group of each level
    tmap_u32 top, high;    // groups of level 2; of level 3, 0 if there is one of level 2
} tmapi_near_layout;

TMAP_FN tmapi_near_layout tmapi_near_layout_of(tmap_near_shape s) {
    tmapi_near_layout l;
    l.boxes = (tmap_u64)tmapi_near_leaves(s.n) * tmapi_near_leaf_bytes(s.d, s.size);
    l.level[0] = 0, l.level[1] = tmapi_near_groups(s.n, 0);
    l.level[2] = l.level[1] + tmapi_near_groups(s.n, 1), l.top = tmapi_near_groups(s.n, 2);
    l.level[3] = l.level[2] + l.top, l.high = l.top > 1 ? tmapi_near_groups(s.n, 3) : 0;
    l.bytes = l.boxes + (tmap_u64)(l.level[3] + l.high) * tmapi_near_group_bytes(s.d);
    return l;
}

// Bytes of a prepared set: d * size + 4 for each point, and (2 d + 1) * 4 for each box.
// Example: 10^6 points of 3 floats: 16904064, 17 bytes a point.
TMAP_FN tmap_u64 tmap_near_set_bytes(tmap_near_shape shape) {
    return tmapi_near_layout_of(shape).bytes;
}

#if TMAP_CUDA

// ---- boxes --------------------------------------------------------------------------------------

// A box of points: bounds of each of their d coordinates, also of those that are no position, and
// their number. Doubles are rounded outward.
typedef struct tmap_near_box {
    float low[TMAP_PAIRS_D_MAX], high[TMAP_PAIRS_D_MAX];
    tmap_u32 count;
} tmap_near_box;

// What a function of yours says of two boxes. NONE: your function for a pair would refuse every
// pair of a point of one and a point of the other. ALL: it would take every pair. SOME: neither is
// sure.
enum { TMAP_NEAR_NONE = 0, TMAP_NEAR_SOME = 1, TMAP_NEAR_ALL = 3 }; // bits: may be near; all are

// ---- ready reaches ------------------------------------------------------------------------------
//
// They are for functions of a pair that compare a distance of differences of coordinates with a
// limit, squared or not, with < or <=. Such a function and a bound of a box differ by some
// roundings; the bounds below leave room for 64 of them.

#define TMAPI_NEAR_ROOM 1.00000763f // 1 + 2^-17

TMAP_DEVICE int tmapi_near_say(float least, float most, float limit, float other) {
    const int some = !(least > limit * TMAPI_NEAR_ROOM);
    return some | (some && most * TMAPI_NEAR_ROOM < other) << 1;
}

// The least and the greatest difference along axis k, from the same two subtractions.
TMAP_DEVICE float tmapi_near_least(const tmap_near_box *a, const tmap_near_box *b, tmap_u32 k) {
    return fmaxf(0.0f, fmaxf(a->low[k] - b->high[k], b->low[k] - a->high[k]));
}
TMAP_DEVICE float tmapi_near_most(const tmap_near_box *a, const tmap_near_box *b, tmap_u32 k) {
    return -fminf(a->low[k] - b->high[k], b->low[k] - a->high[k]);
}

// The squares of the least and the greatest distance.
TMAP_DEVICE void tmapi_near_squares(const tmap_near_box *a, const tmap_near_box *b, tmap_u32 axes,
                                    float *least, float *most) {
    *least = *most = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < axes; ++k) {
        const float low = tmapi_near_least(a, b, k), high = tmapi_near_most(a, b, k);
        *least = fmaf(low, low, *least), *most = fmaf(high, high, *most);
    }
}

// Points within a radius. axes: a constant, 1 to d: the first coordinates are the position. radius:
// not negative; 1.8e19 or more is all points. Great circles: unit vectors, with the chord
// 2 sin(angle / 2) as the radius.
TMAP_DEVICE int tmap_near_within(const tmap_near_box *a, const tmap_near_box *b, tmap_u32 axes,
                                 float radius) {
    float least, most;
    tmapi_near_squares(a, b, axes, &least, &most);
    return tmapi_near_say(least, most, radius * radius, radius * radius);
}

// Balls that touch: coordinate number `axes` of a point is its own radius, not negative, and two
// points are near if they are closer than the sum of their radii.
TMAP_DEVICE int tmap_near_touching(const tmap_near_box *a, const tmap_near_box *b, tmap_u32 axes) {
    const float widest = a->high[axes] + b->high[axes], smallest = a->low[axes] + b->low[axes];
    float least, most;
    tmapi_near_squares(a, b, axes, &least, &most);
    return tmapi_near_say(least, most, widest * widest, smallest * smallest);
}

// The greatest difference along an axis is below a limit (Chebyshev's distance).
TMAP_DEVICE int tmap_near_chebyshev(const tmap_near_box *a, const tmap_near_box *b, tmap_u32 axes,
                                    float limit) {
    float least = 0, most = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < axes; ++k) {
        least = fmaxf(least, tmapi_near_least(a, b, k));
        most = fmaxf(most, tmapi_near_most(a, b, k));
    }
    return tmapi_near_say(least, most, limit, limit);
}

// Points within a radius of the nearest image, in a right-angled box. lengths: of the box along
// each axis; 0: this axis is open. Points may lie outside the box. The function for a pair takes
// differences d - length * rint(d / length).
TMAP_DEVICE int tmap_near_periodic(const tmap_near_box *a, const tmap_near_box *b, tmap_u32 axes,
                                   const float *lengths, float radius) {
    float least = 0, most = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < axes; ++k) {
        const float length = lengths[k];
        float low = tmapi_near_least(a, b, k), high = tmapi_near_most(a, b, k);
        if (length > 0) {
            const float extent = 0.5f * (a->high[k] - a->low[k] + (b->high[k] - b->low[k]));
            const float apart = 0.5f * (a->high[k] + a->low[k]) - 0.5f * (b->high[k] + b->low[k]);
            const float image = fabsf(apart - length * rintf(apart / length));
            const float error =
                0x1p-20f * (fabsf(apart) + extent + length + fabsf(a->high[k]) + fabsf(b->high[k]));
            low = fmaxf(0.0f, image - extent - error);
            high = fminf(image + extent, 0.5f * length) + error;
        }
        least = fmaf(low, low, least), most = fmaf(high, high, most);
    }
    return tmapi_near_say(least, most, radius * radius, radius * radius);
}

// ---- a prepared set -----------------------------------------------------------------------------

// Box `of` of a group of a level. set, layout, d: of the prepared points.
TMAP_DEVICE tmap_near_box tmapi_near_box_in(const unsigned char *set,
                                            const tmapi_near_layout *layout, tmap_u32 d,
                                            tmap_u32 level, tmap_u32 group, tmap_u32 of) {
    const tmap_u64 skip = (layout->level[level] + group) * (tmap_u64)tmapi_near_group_bytes(d);
    const float *at = (const float *)(set + layout->boxes + skip) + of;
    tmap_near_box box;
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k) box.low[k] = at[64 * k], box.high[k] = at[64 * k + 32];
    box.count = ((const tmap_u32 *)at)[64 * d];
    return box;
}
TMAP_DEVICE tmap_near_box tmapi_near_box_of(const unsigned char *set,
                                            const tmapi_near_layout *layout, tmap_u32 d,
                                            tmap_u32 level, tmap_u32 b) {
    return tmapi_near_box_in(set, layout, d, level, b / 32, b % 32);
}

// Word 0 to 2 d of box b of level 0: its bounds, low and high in turn, and its count.
TMAP_DEVICE tmap_u32 tmapi_near_box_word(const unsigned char *set, const tmapi_near_layout *layout,
                                         tmap_u32 d, tmap_u32 b, tmap_u32 word) {
    const tmap_u64 group = b / 32;
    return ((const tmap_u32 *)(set + layout->boxes +
                               group * tmapi_near_group_bytes(d)))[32 * word + b % 32];
}

// The number of points in box b of level 0.
TMAP_DEVICE tmap_u32 tmapi_near_count_of(const unsigned char *set, const tmapi_near_layout *layout,
                                         tmap_u32 d, tmap_u32 b) {
    return tmapi_near_box_word(set, layout, d, b, 2 * d);
}

// Copies `bytes` bytes of each of d coordinates, a point or a vector of points, between arrays with
// `to_step` and `from_step` bytes from one coordinate to the next. d, bytes: constants.
TMAP_DEVICE void tmapi_near_copy(tmap_u32 d, void *to, tmap_u32 to_step, const void *from,
                                 tmap_u32 from_step, tmap_u32 bytes) {
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k)
        tmapi_value_copy((unsigned char *)to + k * to_step,
                         (const unsigned char *)from + k * from_step, bytes);
}

// Coordinates, one after another, of point `slot` of a leaf.
TMAP_DEVICE void tmapi_near_point(const unsigned char *set, tmap_points shape, tmap_u32 leaf,
                                  tmap_u32 slot, unsigned char *to) {
    const tmap_u32 size = shape.size;
    const unsigned char *from = set + (tmap_u64)leaf * tmapi_near_leaf_bytes(shape.d, size);
    tmapi_near_copy(shape.d, to, size, from + slot * size, TMAP_NEAR_LEAF * size, size);
}

TMAP_DEVICE tmap_u32 tmapi_near_number(const unsigned char *set, tmap_points shape, tmap_u32 leaf,
                                       tmap_u32 slot) {
    const tmap_u32 bytes = shape.d * shape.size;
    const unsigned char *from = set + (tmap_u64)leaf * tmapi_near_leaf_bytes(shape.d, shape.size);
    return ((const tmap_u32 *)(from + TMAP_NEAR_LEAF * bytes))[slot];
}

// A coordinate as bounds: itself, or doubles rounded down and up.
TMAP_DEVICE float tmapi_near_down(const void *coordinate, tmap_u32 size) {
    return size == 8 ? __double2float_rd(*(const double *)coordinate) : *(const float *)coordinate;
}
TMAP_DEVICE float tmapi_near_up(const void *coordinate, tmap_u32 size) {
    return size == 8 ? __double2float_ru(*(const double *)coordinate) : *(const float *)coordinate;
}

// The least of the warp's numbers.
TMAP_DEVICE tmap_u32 tmapi_near_min(tmap_u32 v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_min_sync(0xffffffffu, v);
#else
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) {
        const tmap_u32 other = __shfl_xor_sync(0xffffffffu, v, step);
        v = other < v ? other : v;
    }
    return v;
#endif
}

// The box of a single point.
TMAP_DEVICE void tmapi_near_box_make(tmap_near_box *box, const unsigned char *point, tmap_u32 d,
                                     tmap_u32 size) {
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k)
        box->low[k] = tmapi_near_down(point + k * size, size),
        box->high[k] = tmapi_near_up(point + k * size, size);
    box->count = 1;
}

#endif // TMAP_CUDA
#endif
