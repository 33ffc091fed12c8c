// SPDX-License-Identifier: MIT
// box.h: fractals by boxes of blocks, as their paper launches them: the bounding box (BB), and the
// 2-orthotope of tiles with each way to compute lambda.
//
// With BB each block has one position in the box, as in the paper. With the other maps a block
// walks down a column of the box in steps of gridDim.y: what a thread prepares for its column of
// places, or a lane for its level, then serves the whole walk, and fewer blocks are launched.
//
// Source: Navarro, Quezada, Hitschfeld, Vega, Bustos, FGCS 113 (2020), sections 3.3 and 6.
#ifndef TMAP_PAPERS_BOX_H
#define TMAP_PAPERS_BOX_H

#include "../fractal/nbb.h"
#include "../fractal/warp.h"

// How blocks find their position.
typedef enum tmap_box_map {
    TMAP_BOX_BB,             // bounding box: a thread for each place of the embedding
    TMAP_BOX_BB_WALK,        // the same places; each thread walks down a column of the embedding
    TMAP_BOX_LAMBDA,         // lambda, each thread alone
    TMAP_BOX_LAMBDA_SHUFFLE, // lambda, one level a lane, summed by shuffles
    TMAP_BOX_LAMBDA_REDUX,   // the same with the integer reduction instruction
    TMAP_BOX_LAMBDA_BALLOT   // the same with ballots; fractals with s = 2
} tmap_box_map;

#define TMAP_BOX_MAP_COUNT 6

// The name of a map in results: "bb", "lambda", "lambda_shuffle", ...; "?" for any other number.
TMAP_FN const char *tmap_box_map_name(int map) {
    switch (map) {
    case TMAP_BOX_BB: return "bb";
    case TMAP_BOX_BB_WALK: return "bb_walk";
    case TMAP_BOX_LAMBDA: return "lambda";
    case TMAP_BOX_LAMBDA_SHUFFLE: return "lambda_shuffle";
    case TMAP_BOX_LAMBDA_REDUX: return "lambda_redux";
    case TMAP_BOX_LAMBDA_BALLOT: return "lambda_ballot";
    default: return "?";
    }
}

// A launch: blocks of bx x by threads over a box of `columns` x `rows` blocks.
typedef struct tmap_box {
    tmap_u32 bx, by;
    tmap_u64 columns, rows;
    tmap_u32 level;         // of the map in block space, r_b; r for BB
    tmap_u32 tile_level;    // of the fractal inside a block, m; 0 for BB
    tmap_u64 width, height; // of the embedding
} tmap_box;

// Makes the box of a launch for fractal f of level r, with blocks of side rho. BB: ceil(width /
// rho) x ceil(height / rho) blocks; BB_WALK: the same with 32 for rho. Lambda: the orthotope of the
// tiles, with blocks of one tile, whose side is rho rounded down to a power of s. rho: 1 to 32.
// Returns TMAP_OK; TMAP_EINVAL for an unknown map, rho outside 1..32, and ballot with s > 2; the
// result of tmap_nbb_check; TMAP_ERANGE for a level whose coordinates in block space do not fit 32
// bits, or a grid that is too wide.
TMAP_FN int tmap_box_make(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, tmap_box *out) {
    tmap_box b;
    int error = tmap_nbb_check(f);
    if (error) return error;
    if (!out || map < 0 || map >= TMAP_BOX_MAP_COUNT || rho < 1 || rho > 32) return TMAP_EINVAL;
    if (map == TMAP_BOX_LAMBDA_BALLOT && !tmap_nbb_has_ballot(f)) return TMAP_EINVAL;
    if (r > TMAP_LEVEL_MAX) return TMAP_ERANGE;
    b.width = tmap_nbb_side_x(f, r);
    b.height = tmap_nbb_side_y(f, r);
    if (map <= TMAP_BOX_BB_WALK) {
        const int walks = map == TMAP_BOX_BB_WALK;
        b.tile_level = 0, b.level = r;
        b.bx = walks ? 32 : b.width < rho ? (tmap_u32)b.width : rho;
        b.by = walks ? 32 : b.height < rho ? (tmap_u32)b.height : rho;
        b.columns = (b.width + b.bx - 1) / b.bx;
        b.rows = (b.height + b.by - 1) / b.by;
    } else {
        const tmap_u32 m = tmap_nbb_tile_level(f, r, rho);
        const tmap_xy64 orthotope = tmap_nbb_orthotope(f, r - m);
        b.tile_level = m, b.level = r - m;
        b.bx = (tmap_u32)tmap_nbb_side_x(f, m);
        b.by = (tmap_u32)tmap_nbb_side_y(f, m);
        b.columns = orthotope.x;
        b.rows = orthotope.y;
    }
    if (b.level > tmap_nbb_level_max32(f)) return TMAP_ERANGE;
    if (b.columns > 0x7fffffffull || b.rows > 0x7fffffffull) return TMAP_ERANGE;
    *out = b;
    return TMAP_OK;
}

// Number of threads of a launch over its box; saturates.
TMAP_FN tmap_u64 tmap_box_threads(tmap_box b) {
    return tmap_mul_saturate(tmap_mul_saturate(b.columns, b.rows), (tmap_u64)b.bx * b.by);
}

#if TMAP_CUDA

// A fractal known only at run time costs a division by its sides or its k for each level. Those of
// the catalogue are tested for, to divide by constants, as in code for one fractal.
TMAP_DEVICE int tmapi_box_contains(tmap_nbb f, tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    if (f.sx == 3 && f.sy == 1)
        return tmap_nbb_contains(tmap_nbb_make(f.k, 3, 1, f.tau_x, f.tau_y), x, y, r);
    if (f.sx == 3 && f.sy == 2)
        return tmap_nbb_contains(tmap_nbb_make(f.k, 3, 2, f.tau_x, f.tau_y), x, y, r);
    if (f.sx == 4 && f.sy == 4)
        return tmap_nbb_contains(tmap_nbb_make(f.k, 4, 4, f.tau_x, f.tau_y), x, y, r);
    return tmap_nbb_contains(f, x, y, r);
}
TMAP_DEVICE tmap_xy tmapi_box_lambda(tmap_nbb f, tmap_u32 wx, tmap_u32 wy, tmap_u32 r) {
#define TMAPI_BOX_CASE(n) \
    case n: return tmap_nbb_lambda(tmap_nbb_make(n, f.sx, f.sy, f.tau_x, f.tau_y), wx, wy, r);
    switch (f.k) {
        TMAPI_BOX_CASE(2)
        TMAPI_BOX_CASE(3)
        TMAPI_BOX_CASE(4)
        TMAPI_BOX_CASE(5)
        TMAPI_BOX_CASE(7)
        TMAPI_BOX_CASE(8)
        TMAPI_BOX_CASE(12)
    default: return tmap_nbb_lambda(f, wx, wy, r);
    }
#undef TMAPI_BOX_CASE
}

// BB: the place of this thread in the embedding; returns 1 if it is a cell. row: first row of
// blocks of this launch.
TMAP_DEVICE int tmapi_box_bb_place(tmap_nbb f, tmap_box b, tmap_u32 row, tmap_xy *place) {
    place->x = blockIdx.x * blockDim.x + threadIdx.x;
    place->y = (row + blockIdx.y) * blockDim.y + threadIdx.y;
    if (f.sx == 2 && f.sy == 2) // with 2^r - 1, five instructions fewer in each thread
        return tmapi_nbb_contains_bits(f, place->x, place->y, (tmap_u32)b.width - 1);
    return tmapi_box_contains(f, place->x, place->y, b.level);
}

// ---- BB_WALK ------------------------------------------------------------------------------------

// A column of places for a walk down it. A row of places has a word: y itself if the sides are 2,
// else a field of sy bits for each of the lowest levels, in which the bit of y's digit is set.
// clear, set: bits that are never 0, or never 1, in the word of a row where this column has a cell.
typedef struct tmapi_box_column {
    tmap_u32 clear, set;
    tmap_u32 levels;        // of the words
    tmap_u32 above, height; // x / sx^levels, sy^levels: for the levels above
} tmapi_box_column;

TMAP_DEVICE int tmapi_box_by_bits(tmap_nbb f) { return f.sx == 2 && f.sy == 2; }

// The bits of dy for which replica (dx, dy) exists.
TMAP_DEVICE tmap_u32 tmapi_box_digits(tmap_nbb f, tmap_u32 dx) {
    tmap_u32 bits = 0;
#pragma unroll
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        const tmap_xy t = tmap_nbb_tau(f, beta);
        if (t.x == dx) bits |= 1u << t.y;
    }
    return bits;
}

TMAP_DEVICE tmapi_box_column tmapi_box_column_make(tmap_nbb f, tmap_box b, tmap_u32 x) {
    const tmap_u32 most = tmapi_box_by_bits(f) ? 32 : 32 / f.sy;
    tmapi_box_column c = {0, 0, 0, x, 1};
    c.levels = b.level < most ? b.level : most;
    if (tmapi_box_by_bits(f)) {
        const tmap_u32 levels = c.levels < 32 ? (1u << c.levels) - 1 : 0xffffffffu;
        const tmap_u32 zero = tmapi_box_digits(f, 0), one = tmapi_box_digits(f, 1);
        c.clear = ((zero & 1 ? 0 : ~x) | (one & 1 ? 0 : x)) & levels;
        c.set = ((zero & 2 ? 0 : ~x) | (one & 2 ? 0 : x)) & levels;
        c.above = 0;
    } else {
        TMAPI_NO_UNROLL
        for (tmap_u32 i = 0; i < c.levels; ++i, c.above /= f.sx, c.height *= f.sy)
            c.set |= (~tmapi_box_digits(f, c.above % f.sx) & ((1u << f.sy) - 1)) << i * f.sy;
    }
    return c;
}

// The word of row y.
TMAP_DEVICE tmap_u32 tmapi_box_row(tmap_nbb f, const tmapi_box_column *c, tmap_u32 y) {
    tmap_u32 word = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < c->levels; ++i, y /= f.sy) word |= 1u << (i * f.sy + y % f.sy);
    return word;
}

// Calls visit(job, x, y, cell) for places of this block, which walks down the embedding; cell: 1
// for a cell. Leaves out places only where a warp has no cell in 32 of its rows. All threads of the
// block call it, 32 x 32. A warp has one row at a time, and each lane makes the word of one of its
// next 32 rows.
TMAP_DEVICE void tmapi_box_walk_down(tmap_nbb f, tmap_box b,
                                     void (*visit)(void *job, tmap_u32 x, tmap_u32 y, int cell),
                                     void *job) {
    const tmap_u32 x = blockIdx.x * 32 + threadIdx.x, stride = gridDim.y * 32;
    const tmapi_box_column c = tmapi_box_column_make(f, b, x);
    for (tmap_u64 at = blockIdx.y * 32 + threadIdx.y; at < b.height; at += 32 * stride) {
        const tmap_u32 first = (tmap_u32)at;
        const tmap_u64 left = b.height - at;
        const tmap_u32 rows = left > 31 * stride ? 32 : ((tmap_u32)left - 1) / stride + 1;
        tmap_u32 words = 0, cells = 0;
        if (!tmapi_box_by_bits(f)) words = tmapi_box_row(f, &c, first + threadIdx.x * stride);
#pragma unroll
        for (tmap_u32 i = 0; i < 32; ++i) {
            const tmap_u32 row =
                tmapi_box_by_bits(f) ? first + i * stride : __shfl_sync(0xffffffffu, words, (int)i);
            if (!((c.clear & ~row) | (c.set & row))) cells |= 1u << i;
        }
        cells &= x < b.width ? 0xffffffffu >> (32 - rows) : 0;
        if (c.levels < b.level)
            for (tmap_u32 i = 0; i < rows; ++i)
                if (!tmapi_box_contains(f, c.above, (first + i * stride) / c.height,
                                        b.level - c.levels))
                    cells &= ~(1u << i);
        if (!__any_sync(0xffffffffu, cells != 0)) continue;
#pragma unroll 8
        for (tmap_u32 i = 0; i < 32; ++i) visit(job, x, first + i * stride, cells >> i & 1);
    }
}

// ---- lambda -------------------------------------------------------------------------------------

// A thread's walk down its column of the box.
typedef struct tmapi_box_walk {
    tmap_warp_level level; // prepared for the warp forms of lambda
    int inside;            // 1: this thread's position in a tile is a cell
} tmapi_box_walk;

TMAP_DEVICE tmapi_box_walk tmapi_box_walk_begin(tmap_nbb f, tmap_box b, tmap_warp warp) {
    tmapi_box_walk w;
    w.inside = tmap_nbb_contains(f, threadIdx.x, threadIdx.y, b.tile_level);
    w.level = tmap_warp_level_make(warp, f, b.level);
    return w;
}

// 1 if the block consists of full warps. A walk is compiled twice: in that case with the constant
// tmap_warp_full() instead of tmap_warp_self(), because collectives with a mask that is not
// constant cost a test for divergence each.
TMAP_DEVICE int tmapi_box_full(void) { return blockDim.x * blockDim.y % 32 == 0; }

// The place of this thread in row `wy` of the box; returns 1 if it is a cell. Collective for the
// warp forms: all threads of the block call it. For a constant map only one branch is compiled.
TMAP_DEVICE int tmapi_box_walk_place(const tmapi_box_walk *w, int map, tmap_nbb f, tmap_box b,
                                     tmap_u32 wy, tmap_xy64 *place) {
    tmap_xy tile;
    if (map == TMAP_BOX_LAMBDA_SHUFFLE)
        tile = tmap_warp_level_shuffle(&w->level, f, blockIdx.x, wy);
    else if (map == TMAP_BOX_LAMBDA_REDUX)
        tile = tmap_warp_level_redux(&w->level, f, blockIdx.x, wy);
    else if (map == TMAP_BOX_LAMBDA_BALLOT)
        tile = tmap_warp_level_ballot(&w->level, f, blockIdx.x, wy);
    else
        tile = tmapi_box_lambda(f, blockIdx.x, wy, b.level);
    place->x = (tmap_u64)tile.x * blockDim.x + threadIdx.x;
    place->y = (tmap_u64)tile.y * blockDim.y + threadIdx.y;
    return w->inside;
}

#endif // TMAP_CUDA
#endif
