// SPDX-License-Identifier: MIT
// near_key.h: the Hilbert curve in two and three axes: the number of a cell along the curve, the
// cell of a number, and the number of a point in a box. Points sorted by it are near in space where
// they are near in the order, so that 32 consecutive points have a small bounding box.
//
// The box is cut into 2^bits cells along each axis. A curve of one bit visits the cells
//     two axes     (0,0) (0,1) (1,1) (1,0)
//     three axes   (0,0,0) (0,0,1) (0,1,1) (0,1,0) (1,1,0) (1,1,1) (1,0,1) (1,0,0)
// in this order, the Gray code; a curve of more bits visits a turned copy of the curve of one bit
// less in each of these. Laws, with k axes: a bijection between cells and 0 ... 2^(k bits) - 1; it
// begins at the origin and ends at (2^bits - 1, 0, 0); consecutive cells differ by 1 along one
// axis; the leading k m bits of a key are the key of the cell in the grid of m bits.
//
// So few bits suffice for few points, and a sort may compare any number of leading bits.
//
//     const float low[3] = {0, 0, 0}, scale[3] = {1024, 1024, 1024}; // cells a unit: a unit cube
//     key[i] = (tmap_u32)tmap_near_key_point_f32(&points[3 * i], low, scale, 3, 10); // 30 bits
//
// Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004). The
// curve is his; here the words are shifted by a bit a level, which needs no masks of lower bits,
// and the conditions are masks, so that there is no branch. Cost on sm_90: about 18 instructions a
// level with three axes and 12 with two, and 10 to 25 more for the Gray code.
//
// All functions return a value for all arguments: 0 and the origin if `bits` is outside its range;
// bits of a coordinate from `bits` on, and of a key from k bits on, are ignored.
#ifndef TMAP_TRIANGLE_NEAR_KEY_H
#define TMAP_TRIANGLE_NEAR_KEY_H

#include "../core.h"

// The most bits of an axis, so that a key has 64 and 63 bits.
#define TMAP_NEAR_KEY_BITS2 32u
#define TMAP_NEAR_KEY_BITS3 21u

// ---- cells --------------------------------------------------------------------------------------

// All bits set if the highest bit of v is.
TMAP_FN tmap_u32 tmapi_near_key_sign(tmap_u32 v) { return 0u - (v >> 31); }

// yes where a bit of mask is set, no elsewhere.
TMAP_FN tmap_u32 tmapi_near_key_select(tmap_u32 mask, tmap_u32 yes, tmap_u32 no) {
    return (mask & yes) | (~mask & no);
}

// The number whose Gray code v is.
TMAP_FN tmap_u64 tmapi_near_key_from_gray(tmap_u64 v) {
    v ^= v >> 32, v ^= v >> 16, v ^= v >> 8;
    v ^= v >> 4, v ^= v >> 2, v ^= v >> 1;
    return v;
}

// The lowest `width` bits of a key as Gray code.
TMAP_FN tmap_u64 tmapi_near_key_gray(tmap_u64 key, tmap_u32 width) {
    if (width < 64) key &= (1ull << width) - 1;
    return key ^ key >> 1;
}

// The key of a cell of two axes. bits: of each coordinate, 1 to 32; a key has twice as many.
// Examples: bits = 2: (0,0) (1,0) (1,1) (0,1) (0,2) -> 0 1 2 3 4.
TMAP_FN tmap_u64 tmap_near_key_xy(tmap_xy cell, tmap_u32 bits) {
    tmap_u64 gray = 0;
    tmap_u32 x, y;
    if (bits - 1 >= TMAP_NEAR_KEY_BITS2) return 0;
    x = cell.x << (32 - bits), y = cell.y << (32 - bits);
    for (tmap_u32 level = 0; level < bits; ++level) {
        const tmap_u32 a = tmapi_near_key_sign(x), b = tmapi_near_key_sign(y), turned = x ^ a;
        gray = gray << 2 | (a & 2) | (b & 1);
        x = tmapi_near_key_select(b, ~turned, y) << 1;
        y = tmapi_near_key_select(b, y, turned) << 1;
    }
    return tmapi_near_key_from_gray(gray);
}

// The inverse of tmap_near_key_xy. Example: bits = 2, 4 -> (0,2).
TMAP_FN tmap_xy tmap_near_key_xy_at(tmap_u64 key, tmap_u32 bits) {
    tmap_xy cell = {0, 0};
    tmap_u64 gray;
    if (bits - 1 >= TMAP_NEAR_KEY_BITS2) return cell;
    gray = tmapi_near_key_gray(key, 2 * bits);
    for (tmap_u32 level = 0; level < bits; ++level, gray >>= 2) { // the lowest first
        const tmap_u32 a = 0u - (tmap_u32)(gray >> 1 & 1), b = 0u - (tmap_u32)(gray & 1);
        const tmap_u32 turned = tmapi_near_key_select(b, ~cell.x, cell.y), bit = 1u << level;
        cell.y = tmapi_near_key_select(bit - 1, tmapi_near_key_select(b, cell.y, cell.x), b & bit);
        cell.x = tmapi_near_key_select(bit - 1, turned ^ a, a & bit);
    }
    return cell;
}

// The key of a cell of three axes. bits: of each coordinate, 1 to 21; a key has 3 times as many.
// Cost on sm_90: 182 instructions for a constant 10 and a key of 32 bits, about 410 for 21.
// Examples: bits = 1, (1,1,0) -> 4; bits = 10, (1023,0,0) -> 2^30 - 1.
TMAP_FN tmap_u64 tmap_near_key_xyz(tmap_xyz cell, tmap_u32 bits) {
    tmap_u64 gray = 0;
    tmap_u32 x, y, z;
    if (bits - 1 >= TMAP_NEAR_KEY_BITS3) return 0;
    x = cell.x << (32 - bits), y = cell.y << (32 - bits), z = cell.z << (32 - bits);
    for (tmap_u32 level = 0; level < bits; ++level) {
        const tmap_u32 a = tmapi_near_key_sign(x), b = tmapi_near_key_sign(y);
        const tmap_u32 c = tmapi_near_key_sign(z), turned = x ^ a;
        const tmap_u32 first = tmapi_near_key_select(b, turned, ~y);
        gray = gray << 3 | (a & 4) | (b & 2) | (c & 1);
        x = tmapi_near_key_select(c, first, z) << 1;
        y = tmapi_near_key_select(b, y, turned) << 1;
        z = tmapi_near_key_select(c, z, ~first) << 1;
    }
    return tmapi_near_key_from_gray(gray);
}

// The inverse of tmap_near_key_xyz. Example: bits = 1, 4 -> (1,1,0).
TMAP_FN tmap_xyz tmap_near_key_xyz_at(tmap_u64 key, tmap_u32 bits) {
    tmap_xyz cell = {0, 0, 0};
    tmap_u64 gray;
    if (bits - 1 >= TMAP_NEAR_KEY_BITS3) return cell;
    gray = tmapi_near_key_gray(key, 3 * bits);
    for (tmap_u32 level = 0; level < bits; ++level, gray >>= 3) { // the lowest first
        const tmap_u32 a = 0u - (tmap_u32)(gray >> 2 & 1), b = 0u - (tmap_u32)(gray >> 1 & 1);
        const tmap_u32 c = 0u - (tmap_u32)(gray & 1), bit = 1u << level;
        const tmap_u32 first = tmapi_near_key_select(c, cell.x, ~cell.z);
        const tmap_u32 z = tmapi_near_key_select(c, cell.z, cell.x);
        const tmap_u32 turned = tmapi_near_key_select(b, first, cell.y);
        const tmap_u32 y = tmapi_near_key_select(b, cell.y, ~first);
        cell.x = tmapi_near_key_select(bit - 1, turned ^ a, a & bit);
        cell.y = tmapi_near_key_select(bit - 1, y, b & bit);
        cell.z = tmapi_near_key_select(bit - 1, z, c & bit);
    }
    return cell;
}

// ---- points -------------------------------------------------------------------------------------

// The cell of a coordinate: floor((x - low) scale), at least 0 and at most 2^bits - 1. scale: cells
// a unit, 2^bits / (high - low) for a box from low to high; any number. bits: 1 to 32. Laws: does
// not decrease with x, for scale >= 0; -infinity gives 0, infinity and NaN give 2^bits - 1 (for
// scale > 0). Example: x = 0.5, low = 0, scale = 1024, bits = 10: 512.
TMAP_FN tmap_u32 tmap_near_key_cell_f32(float x, float low, float scale, tmap_u32 bits) {
    const float at = (x - low) * scale;
    if (bits - 1 >= 32) return 0;
    if (!(at < (float)(1ull << bits))) return ~0u >> (32 - bits); // NaN, too
    return at > 0 ? (tmap_u32)at : 0;
}
TMAP_FN tmap_u32 tmap_near_key_cell_f64(double x, double low, double scale, tmap_u32 bits) {
    const double at = (x - low) * scale;
    if (bits - 1 >= 32) return 0;
    if (!(at < (double)(1ull << bits))) return ~0u >> (32 - bits);
    return at > 0 ? (tmap_u32)at : 0;
}

// The key of a cell whose coordinates are numbers of an array. nan: the point has a NaN.
TMAP_FN tmap_u64 tmapi_near_key_of(const tmap_u32 *cell, tmap_u32 axes, tmap_u32 bits, int nan) {
    const tmap_xy two = {cell[0], cell[1]};
    const tmap_xyz three = {cell[0], cell[1], cell[2]};
    const tmap_u64 key = axes == 2 ? tmap_near_key_xy(two, bits) : tmap_near_key_xyz(three, bits);
    return nan && axes * bits - 1 < 64 ? ~0ull >> (64 - axes * bits) : key;
}

// The key of a point x in the box that begins at low and has scale[i] cells a unit along axis i.
// axes: 2 or 3, else the key is 0: numbers of x, low and scale. bits: of an axis. A point with a
// NaN among these coordinates has the largest key, 2^(axes bits) - 1, and so is last.
// Example: x = {0.9, 0.1}, low = {0, 0}, scale = {2, 2}, bits = 1: cell (1,0), key 3.
TMAP_FN tmap_u64 tmap_near_key_point_f32(const float *x, const float *low, const float *scale,
                                         tmap_u32 axes, tmap_u32 bits) {
    tmap_u32 cell[3] = {0, 0, 0};
    int nan = 0;
    if (axes != 2 && axes != 3) return 0;
    for (tmap_u32 i = 0; i < 3; ++i) {
        if (i >= axes) break;
        cell[i] = tmap_near_key_cell_f32(x[i], low[i], scale[i], bits);
        nan |= x[i] != x[i];
    }
    return tmapi_near_key_of(cell, axes, bits, nan);
}
TMAP_FN tmap_u64 tmap_near_key_point_f64(const double *x, const double *low, const double *scale,
                                         tmap_u32 axes, tmap_u32 bits) {
    tmap_u32 cell[3] = {0, 0, 0};
    int nan = 0;
    if (axes != 2 && axes != 3) return 0;
    for (tmap_u32 i = 0; i < 3; ++i) {
        if (i >= axes) break;
        cell[i] = tmap_near_key_cell_f64(x[i], low[i], scale[i], bits);
        nan |= x[i] != x[i];
    }
    return tmapi_near_key_of(cell, axes, bits, nan);
}

#endif
