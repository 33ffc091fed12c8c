// SPDX-License-Identifier: MIT
// box.h: fractals by boxes of blocks, as their paper launches them: the bounding box (BB), and the
// 2-orthotope of tiles with each way to compute lambda.
//
// With BB each block has one position in the box, as in the paper. With the other maps a block
// walks down a column of the box in steps of gridDim.y: what a lane prepares for its level then
// serves many tiles, and fewer blocks are launched.
//
// Source: Navarro, Quezada, Hitschfeld, Vega, Bustos, FGCS 113 (2020), sections 3.3 and 6.
#ifndef TMAP_PAPERS_BOX_H
#define TMAP_PAPERS_BOX_H

#include "../fractal/nbb.h"
#include "../fractal/warp.h"

// How blocks find their position.
typedef enum tmap_box_map {
    TMAP_BOX_BB,             // bounding box: a thread for each place of the embedding
    TMAP_BOX_BB_WALK,        // the same places, with fewer blocks that walk down the embedding
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
// rho) x ceil(height / rho) blocks. Lambda: the orthotope of the tiles, with blocks of one tile,
// whose side is rho rounded down to a power of s. rho: 1 to 32.
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
        b.tile_level = 0, b.level = r;
        b.bx = b.width < rho ? (tmap_u32)b.width : rho;
        b.by = b.height < rho ? (tmap_u32)b.height : rho;
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

// A thread's walk down its column of the box.
typedef struct tmapi_box_walk {
    tmap_warp_level level; // prepared for the warp forms of lambda
    int inside;            // 1: this thread's position in a tile is a cell
} tmapi_box_walk;

TMAP_DEVICE tmapi_box_walk tmapi_box_walk_begin(int map, tmap_nbb f, tmap_box b, tmap_warp warp) {
    tmapi_box_walk w;
    w.inside =
        map != TMAP_BOX_BB_WALK && tmap_nbb_contains(f, threadIdx.x, threadIdx.y, b.tile_level);
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
    else if (map == TMAP_BOX_LAMBDA)
        tile = tmapi_box_lambda(f, blockIdx.x, wy, b.level);
    else
        tile.x = blockIdx.x, tile.y = wy;
    place->x = (tmap_u64)tile.x * blockDim.x + threadIdx.x;
    place->y = (tmap_u64)tile.y * blockDim.y + threadIdx.y;
    if (map == TMAP_BOX_BB_WALK)
        return tmapi_box_contains(f, (tmap_u32)place->x, (tmap_u32)place->y, b.level);
    return w->inside;
}

#endif // TMAP_CUDA
#endif
