// SPDX-License-Identifier: MIT
// near_key.h: the Hilbert curve in two and three axes: the number of a cell along the curve, the
// cell of a number, and the number of a point in a box of any sides. Points sorted by it are near
// in space where they are near in the order, so that 32 consecutive points have a small box.
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
//     const double sides[3] = {8, 2, 2};
//     const float low[3] = {0, 0, 0};
//     const tmap_near_key_grid grid = tmap_near_key_grid_make(sides, 3, 30); // 12, 10, 10 bits
//     key[i] = (tmap_u32)tmap_near_key_point_f32(&points[3 * i], low, 4096.0f / 8, &grid);
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

// ---- boxes --------------------------------------------------------------------------------------
//
// Cells are cubes in a longer box, too, because distances are measured alike along all axes. So the
// bits of a key go where the extent is: with as many for each axis, a line of 10^7 points would
// have 8 of 24 bits. If x, y and z have 5, 3 and 1 bits, a key is
//
//     2 bits of x | 4 bits of the curve through x, y | 3 bits of the curve through x, y, z
//
// It cuts the longest axis, then the two longer ones into squares, then all into cubes. A curve
// ends at the end of its first axis, so the next piece along this axis begins beside it. From one
// square to the next the curve through cubes jumps; boxes of 32 points grow by up to an eighth.

// 1 if there are keys for these bits.
TMAP_FN int tmapi_near_key_box_fits(tmap_xyz bits) {
    return bits.x - 1 < 32 && bits.y <= bits.x && bits.z <= bits.y &&
           bits.x + bits.y + bits.z <= 64;
}

// The key of a cell of a box with 2^bits.x cells along x, 2^bits.y along y and 2^bits.z along z.
// bits: descending, 0 to 32, of x at least 1, and at most 64 in all; else the key is 0. Laws: a
// bijection between cells and 0 ... 2^(sum of the bits) - 1; for three equal numbers the key of
// tmap_near_key_xyz, for two and a 0 that of tmap_near_key_xy; consecutive cells differ by 1 along
// one axis if bits.z is 0 or bits.y.
// Cost: that of the two curves (nothing for one without bits), and about 30 instructions, or 10
// with three equal numbers.
// Examples: bits = {3,1,0}: (0,0,0) (0,1,0) (1,1,0) (1,0,0) (2,0,0) -> 0 1 2 3 4.
TMAP_FN tmap_u64 tmap_near_key_box(tmap_xyz cell, tmap_xyz bits) {
    tmap_u64 front = 0;
    if (!tmapi_near_key_box_fits(bits)) return 0;
    if (bits.x > bits.z) { // cubes, the usual case, take no longer
        const tmap_u32 squares = bits.y - bits.z;
        const tmap_xy square = {cell.x >> bits.z, cell.y >> bits.z};
        front = (tmap_u64)(cell.x & ~0u >> (32 - bits.x)) >> bits.y << squares << squares;
        front = (front | tmap_near_key_xy(square, squares)) << 3 * bits.z;
    }
    return front | tmap_near_key_xyz(cell, bits.z);
}

// The inverse of tmap_near_key_box. Example: bits = {3,1,0}, 4 -> (2,0,0).
TMAP_FN tmap_xyz tmap_near_key_box_at(tmap_u64 key, tmap_xyz bits) {
    const tmap_u32 squares = bits.y - bits.z;
    tmap_xyz cell = {0, 0, 0};
    if (!tmapi_near_key_box_fits(bits)) return cell;
    cell = tmap_near_key_xyz_at(key, bits.z);
    key >>= 3 * bits.z;
    const tmap_xy square = tmap_near_key_xy_at(key, squares);
    const tmap_u64 line = key >> squares >> squares << bits.y;
    cell.x |= square.x << bits.z | ((tmap_u32)line & ~0u >> (32 - bits.x));
    cell.y |= square.y << bits.z;
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

// A box cut into cubes for keys of a number of bits, made by tmap_near_key_grid_make.
typedef struct tmap_near_key_grid {
    tmap_u32 axis[3]; // the axes, from the one with the most cells on; 0 in place of a missing one
    tmap_u32 bits[3]; // 2^bits cells along each of them; a key has the sum of the bits
} tmap_near_key_grid;

// Bits of a key if the longest side has 2^levels cells.
TMAP_FN tmap_u32 tmapi_near_key_sum(const tmap_u32 *halvings, tmap_u32 levels) {
    tmap_u32 sum = 0;
    for (int k = 0; k < 3; ++k) sum += levels > halvings[k] ? levels - halvings[k] : 0;
    return sum;
}

// Cuts a box: the longest side has 2^grid.bits[0] cells, a side of at most 2^-e of it e bits less.
// A key has `bits` bits or up to 2 more; fewer where the longest side would have more than 32, or a
// key more than 64. sides: of the box, `axes` numbers in any unit. axes: 2 or 3. bits: 1 to 64,
// with three axes to 63; outside of both ranges grid.bits are 0. A box without a positive side, or
// with an infinite one, is cut like a cube.
// Examples: sides 1, 1, 1, 24 bits: 8, 8, 8 bits; 1, 0, 0: 24, 0, 0; 1, 0.001, 0.001: 14, 5, 5.
TMAP_FN tmap_near_key_grid tmap_near_key_grid_make(const double *sides, tmap_u32 axes,
                                                   tmap_u32 bits) {
    tmap_near_key_grid g = {{0, 0, 0}, {0, 0, 0}};
    tmap_u32 halvings[3] = {0, 0, axes == 2 ? 32u : 0u}, levels;
    double longest = 0;
    if ((axes != 2 && axes != 3) || bits - 1 >= (axes == 2 ? 64 : 63)) return g;
    g.axis[1] = 1, g.axis[2] = axes == 2 ? 0 : 2;
    for (tmap_u32 k = 0; k < 3; ++k)
        if (k < axes && sides[k] > longest) longest = sides[k];
    for (tmap_u32 k = 0; k < 3; ++k) {
        double side = k < axes ? sides[k] : longest;
        if (!(longest / 2 < longest)) break; // 0 or infinite
        for (; side <= longest / 2 && halvings[k] < 32; side *= 2) ++halvings[k];
    }
    for (levels = axes == 2 ? (bits + 1) / 2 : (bits + 2) / 3; levels < 32; ++levels)
        if (tmapi_near_key_sum(halvings, levels) >= bits ||
            tmapi_near_key_sum(halvings, levels + 1) > 64)
            break;
    for (int step = 0; step < 3; ++step) { // sorts the axes; equal ones keep their order
        const int k = step % 2;
        const tmap_u32 fewer = halvings[k], first = g.axis[k];
        if (fewer <= halvings[k + 1]) continue;
        halvings[k] = halvings[k + 1], halvings[k + 1] = fewer;
        g.axis[k] = g.axis[k + 1], g.axis[k + 1] = first;
    }
    for (int k = 0; k < 3; ++k) g.bits[k] = levels > halvings[k] ? levels - halvings[k] : 0;
    return g;
}

// The key of the cell of a point, whose coordinates are in the order of the grid. nan: the point
// has a NaN.
TMAP_FN tmap_u64 tmapi_near_key_of(const tmap_u32 *cell, const tmap_near_key_grid *grid, int nan) {
    const tmap_xyz at = {cell[0], cell[1], cell[2]};
    const tmap_xyz bits = {grid->bits[0], grid->bits[1], grid->bits[2]};
    const tmap_u32 sum = bits.x + bits.y + bits.z;
    return nan && sum - 1 < 64 ? ~0ull >> (64 - sum) : tmap_near_key_box(at, bits);
}

// The key of a point x in the box that begins at low. x, low: a number for each axis. scale: cells
// a unit, 2^grid->bits[0] / the longest side. A point with a NaN among these coordinates has the
// largest key.
// Example: x = {0.9, 0.1}, low = {0, 0}, scale = 2, a grid of 1 and 1 bits: cell (1,0), key 3.
TMAP_FN tmap_u64 tmap_near_key_point_f32(const float *x, const float *low, float scale,
                                         const tmap_near_key_grid *grid) {
    const tmap_u32 *axis = grid->axis;
    const float v[3] = {x[axis[0]], x[axis[1]], x[axis[2]]}; // loaded at once
    tmap_u32 cell[3];
    int nan = 0;
    for (int i = 0; i < 3; ++i) {
        cell[i] = tmap_near_key_cell_f32(v[i], low[axis[i]], scale, grid->bits[i]);
        nan |= v[i] != v[i];
    }
    return tmapi_near_key_of(cell, grid, nan);
}
TMAP_FN tmap_u64 tmap_near_key_point_f64(const double *x, const double *low, double scale,
                                         const tmap_near_key_grid *grid) {
    const tmap_u32 *axis = grid->axis;
    const double v[3] = {x[axis[0]], x[axis[1]], x[axis[2]]}; // loaded at once
    tmap_u32 cell[3];
    int nan = 0;
    for (int i = 0; i < 3; ++i) {
        cell[i] = tmap_near_key_cell_f64(v[i], low[axis[i]], scale, grid->bits[i]);
        nan |= v[i] != v[i];
    }
    return tmapi_near_key_of(cell, grid, nan);
}

#endif
