// SPDX-License-Identifier: MIT
// tile.h: persistent tiles: a warp walks the tiles of a fractal, its lanes on the cells of a tile.
//
// A tile is the fractal of level m, sx^m x sy^m places, and the tiles of a fractal of level r are a
// fractal of level r - m. A launch of a few blocks for each multiprocessor takes all of them: each
// warp maps one tile after another from its linear index, which costs a digit, a product and a
// reduction (or two ballots), and spends the rest of its time on memory. This is the form to prefer
// for work on a whole fractal: no block is launched for a tile, and no lane computes a map that its
// neighbours compute too.
//
//     tmap_tiles tiles = tmap_tiles_begin(f, r, m);
//     tmap_u32 rows = tmap_tile_column(f, m, tiles.level.warp.lane);   // lane = column of a tile
//     for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
//         tmap_xy tile = tmap_tiles_at(&tiles, f, t);
//         for (int y = 0; y < height; ++y)
//             if (rows >> y & 1) out[(tile.y * height + y) * pitch + tile.x * width + lane] = 1;
//     }
#ifndef TMAP_TILE_H
#define TMAP_TILE_H

#include "nbb_size.h"
#include "warp.h"

// The level of a tile that a warp takes with a lane for each column: as wide and as high as 32
// allows, at most r. Example: gasket, r = 16: 5 (32 x 32); carpet: 3 (27 x 27); Candy: 2 (16 x 16).
TMAP_FN tmap_u32 tmap_tile_level(tmap_nbb f, tmap_u32 r) { return tmap_nbb_tile_level(f, r, 32); }

// The rows of column x of a tile of level m that are cells: bit y for (x, y).
// x: any; m: at most tmap_tile_level. Example: gasket, m = 2: x = 0..3 -> 1111b, 1010b, 1100b,
// 1000b.
TMAP_FN tmap_u32 tmap_tile_column(tmap_nbb f, tmap_u32 m, tmap_u32 x) {
    tmap_u32 rows = 0;
    for (tmap_u32 y = 0; y < 32; ++y)
        if (tmap_nbb_contains(f, x, y, m)) rows |= 1u << y;
    return rows;
}

#if TMAP_CUDA

// A warp's share of the tiles: those numbered first, first + stride, ... below count.
typedef struct tmap_tiles {
    tmap_warp_level level; // for the linear index of a tile
    tmap_u32 first, stride, count;
} tmap_tiles;

// The share of the calling warp of a one-dimensional grid of whole warps: fractal f of level r in
// tiles of level m <= r, k^(r-m) < 2^32 of them. Collective. Cost: that of tmap_warp_level_make.
TMAP_DEVICE tmap_tiles tmap_tiles_begin(tmap_nbb f, tmap_u32 r, tmap_u32 m) {
    tmap_tiles t;
    t.level = tmap_warp_level_make_linear(tmap_warp_full(), f, r - m);
    t.first = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    t.stride = gridDim.x * blockDim.x / 32;
    t.count = (tmap_u32)tmap_nbb_cells(f, r - m);
    return t;
}

// Tile number t in units of tiles: by ballot where s = 2, else by the reduction instruction.
// Collective; t is the same for all lanes, and any t is allowed (see tmap_nbb_lambda_linear).
TMAP_DEVICE tmap_xy tmap_tiles_at(const tmap_tiles *tiles, tmap_nbb f, tmap_u32 t) {
    if (tiles->level.several) return tmap_nbb_lambda_linear(f, t, tiles->level.r);
    if (tmap_nbb_has_ballot(f)) return tmap_warp_level_ballot(&tiles->level, f, t, t);
    return tmap_warp_level_redux(&tiles->level, f, t, t);
}

// Which of the eight tiles around `tile` belong to the fractal of level `level` (r - m): bit 0 NW,
// 1 N, 2 NE, 3 W, 4 E, 5 SW, 6 S, 7 SE. Eight lanes ask at once. Collective.
TMAP_DEVICE tmap_u32 tmap_tile_neighbours(tmap_nbb f, tmap_xy tile, tmap_u32 level) {
    tmap_u32 lane = tmap_warp_full().lane, place = lane < 4 ? lane : lane + 1; // of 3 x 3
    tmap_u32 x = tile.x + place % 3 - 1, y = tile.y + place / 3 - 1; // 0 - 1 is outside any fractal
    return __ballot_sync(0xffffffffu, lane < 8 && tmap_nbb_contains(f, x, y, level));
}

// ---- four columns a lane ------------------------------------------------------------------------
//
// Where sx and sy are powers of two, tiles begin at multiples of four places, and a lane takes four
// columns with one wide access: a tile of side T has T / 4 groups of four, and the lanes stand on
// as many rows at once as that leaves.

// 1 for fractals whose sides are powers of two, at least 2.
TMAP_FN int tmap_nbb_has_groups(tmap_nbb f) {
    return f.sx >= 2 && f.sy == f.sx && (f.sx & (f.sx - 1)) == 0;
}

// The cells of a lane's groups: bit i of in[c] is place (4 * group + c, row + i * step) of the
// tile.
typedef struct tmap_groups {
    tmap_u32 in[4];
    tmap_u32 any; // rows with a cell
} tmap_groups;

// group: 0..T/4-1; rows row, row + step, ... below T: at most 32 of them. m: T = sx^m.
TMAP_FN tmap_groups tmap_groups_make(tmap_nbb f, tmap_u32 m, tmap_u32 side, tmap_u32 group,
                                     tmap_u32 row, tmap_u32 step) {
    tmap_groups g = {{0, 0, 0, 0}, 0};
    for (tmap_u32 i = 0, y = row; i < 32 && y < side; ++i, y += step) {
        g.in[0] |= (tmap_u32)tmap_nbb_contains(f, 4 * group + 0, y, m) << i;
        g.in[1] |= (tmap_u32)tmap_nbb_contains(f, 4 * group + 1, y, m) << i;
        g.in[2] |= (tmap_u32)tmap_nbb_contains(f, 4 * group + 2, y, m) << i;
        g.in[3] |= (tmap_u32)tmap_nbb_contains(f, 4 * group + 3, y, m) << i;
    }
    g.any = g.in[0] | g.in[1] | g.in[2] | g.in[3];
    return g;
}

#endif // TMAP_CUDA
#endif
