// SPDX-License-Identifier: MIT
// compact.h: compact storage of a fractal: its k^r cells alone, side by side, where a matrix has
// sx^r * sy^r places.
//
// Element i is cell tmap_nbb_lambda_linear(i). Digit mu - 1 of i, base k, is the replica of level
// mu, so that every tile, of every level m at once, is a run of k^m elements, and tiles that share
// a box of the next level lie side by side: one order serves all tiles, whatever a loop takes, and
// a part of the fractal is a range of memory. Tiles stored as small matrices would need
// (sx sy / k)^m as much: of the gasket's 32 x 32 places 243 are cells.
//
// The engine's plans take TMAP_COMPACT in place of a pitch, and then a kernel that calls tmap_each,
// tmap_update, tmap_fold or tmap_stencil runs on compact storage: cell.at is the element, cell.x
// and cell.y what they are in a matrix.
//
//     tmap_stencil_plan_make(f, r, TMAP_COMPACT, (const void *)step_cells, &plan);
//
// Source: Navarro et al., FGCS 113 (2020), name compact storage as work to come (section 8); lambda
// and nu are theirs. The neighbour's element is found by its digits from the lowest one on, which
// ends at the first level at which both cells are in one box: after k / (k - 1) levels or a few
// more on the average, where nu takes r.
#ifndef TMAP_FRACTAL_COMPACT_H
#define TMAP_FRACTAL_COMPACT_H

#include "size.h"

// In place of a pitch: the plan is one of compact storage.
#define TMAP_COMPACT (~0ull)

// The element of cell (x, y), or 2^64 - 1 if that is no cell. Any x and y; r <=
// tmap_nbb_linear_level_max64(f).
// Law: tmap_compact_index(f, tmap_compact_cell(f, i, r), r) == i. Cost: that of contains and nu.
// Example: gasket, r = 2: (1,3) -> 5, (1,2) -> 2^64 - 1.
TMAP_FN tmap_u64 tmap_compact_index(tmap_nbb f, tmap_u64 x, tmap_u64 y, tmap_u32 r) {
    return tmap_nbb_contains64(f, x, y, r) ? tmap_nbb_nu_linear64(f, x, y, r) : ~0ull;
}

// The cell of element i < k^r. Example: gasket, r = 2: 5 -> (1,3).
TMAP_FN tmap_xy64 tmap_compact_cell(tmap_nbb f, tmap_u64 i, tmap_u32 r) {
    return tmap_nbb_lambda_linear64(f, i, r);
}

// Bytes of a state of `size` bytes a cell. Saturates. Example: gasket, r = 20, float: 13947137604.
TMAP_FN tmap_u64 tmap_compact_bytes(tmap_nbb f, tmap_u32 r, tmap_u32 size) {
    return tmap_mul_saturate(tmap_nbb_cells(f, r), size);
}

// The largest level whose elements have numbers of 64 bits and whose cells coordinates of 32: as
// far as plans of compact storage go. Example: gasket 32, carpet 20.
TMAP_FN tmap_u32 tmapi_compact_level_most(tmap_nbb f) {
    const tmap_u32 linear = tmap_nbb_linear_level_max64(f), plans = tmap_nbb_level_max32(f);
    return linear < plans ? linear : plans;
}

// The largest level of which `states` states of `size` bytes a cell fit `bytes` bytes, and which
// plans can be made of: what to ask before anything is allocated.
// Example: gasket, two states of floats in 141e9 bytes: 21.
TMAP_FN tmap_u32 tmap_compact_level_max(tmap_nbb f, tmap_u32 size, tmap_u32 states,
                                        tmap_u64 bytes) {
    tmap_u32 r = tmapi_compact_level_most(f);
    while (r && tmap_mul_saturate(tmap_compact_bytes(f, r, size), states) > bytes) --r;
    return r;
}

// ---- neighbours ---------------------------------------------------------------------------------

// The place beside a cell. none: 1 if no cell is there. x, y: 0, 0 if it is one of the same
// fractal; else it lies in the copy of it so many copies to the right and below, where a fractal of
// a higher level has one. index: of the cell, in its copy.
typedef struct tmap_compact_place {
    tmap_u32 index;
    int x, y, none;
} tmap_compact_place;

// n / k for 1 <= k <= 16, or for n and k below 2^16, without a division.
TMAP_FN tmap_u32 tmapi_compact_inverse(tmap_u32 k) { return k > 1 ? 0xffffffffu / k : 0xffffffffu; }
TMAP_FN tmap_u32 tmapi_compact_divide(tmap_u32 n, tmap_u32 k, tmap_u32 inverse) {
    const tmap_u32 low = (tmap_u32)((tmap_u64)n * inverse >> 32); // the quotient or 1 less
    return low + (n - low * k >= k);
}

// The place (dx, dy) beside cell `index` of the fractal of level r; dx and dy are -1, 0 or 1.
// index < k^r < 2^32. Total: of an index past the range, its digits up to level r count.
// Cost: about 25 instructions for each level up to the first at which both are in one box.
// Examples: gasket, r = 2: cell 3, which is (0,2): (0,-1) -> 1; (-1,0) -> in the copy to the left,
// where (3,2) would be: none. Cell 8, (3,3): (1,0) -> in the copy to the right, 4, which is (0,3).
TMAP_FN tmap_compact_place tmap_compact_beside(tmap_nbb f, tmap_u32 index, tmap_u32 r, int dx,
                                               int dy) {
    tmap_compact_place p;
    tmap_u32 inverse, rest = index, power = 1;
    f = tmapi_nbb_total(f);
    inverse = tmapi_compact_inverse(f.k);
    p.index = index, p.x = dx, p.y = dy, p.none = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < r && (p.x || p.y); ++level, power *= f.k) {
        const tmap_u32 quotient = tmapi_compact_divide(rest, f.k, inverse);
        const tmap_u32 beta = rest - quotient * f.k;
        const tmap_xy tau = tmap_nbb_tau(f, beta);
        int x = (int)tau.x + p.x, y = (int)tau.y + p.y;
        tmap_u64 match;
        p.x = x < 0 ? -1 : x >= (int)f.sx, p.y = y < 0 ? -1 : y >= (int)f.sy;
        x -= p.x * (int)f.sx, y -= p.y * (int)f.sy;
        match = tmapi_nbb_match(f, (tmap_u32)x, (tmap_u32)y);
        if (!match) {
            p.none = 1;
            return p;
        }
        p.index += (tmapi_nbb_match_beta(f.k, match) - beta) * power;
        rest = quotient;
    }
    p.none = (p.x && f.sx == 1) || (p.y && f.sy == 1); // nothing lies beside, at any level
    return p;
}

#endif
