// SPDX-License-Identifier: MIT
// tile.h: persistent tiles: a warp walks the tiles of a fractal, its lanes on the cells of a tile.
//
// A tile is the fractal of level m, sx^m x sy^m places, and the tiles of a fractal of level r are a
// fractal of level r - m. A launch of a few blocks for each multiprocessor takes all of them: each
// warp maps one tile after another from its linear index, which costs a digit, a product and a
// reduction (or two ballots), and spends the rest of its time on memory. each.h makes such a walk
// of a user's function; these are its parts, for loops of one's own:
//
//     tmap_tiles tiles = tmap_tiles_begin(f, r, m);
//     tmap_u32 rows = tmap_tile_column(f, m, height, lane); // lane: a column of the tile
//     for (tmap_u64 t = tiles.first; t < tiles.count; t += tiles.stride) { // t may pass 2^32
//         tmap_xy tile = tmap_tiles_at(&tiles, f, (tmap_u32)t);
//         for (int y = 0; y < height; ++y)
//             if (rows >> y & 1) out[(tile.y * height + y) * pitch + tile.x * width + lane] = 1;
//     }
#ifndef TMAP_FRACTAL_TILE_H
#define TMAP_FRACTAL_TILE_H

#include "size.h"
#include "warp.h"

// The level of a tile that a warp takes with a lane for each column: as wide and as high as 32
// allows, at most r. Example: gasket, r = 16: 5 (32 x 32); carpet: 3 (27 x 27); Candy: 2 (16 x 16).
TMAP_FN tmap_u32 tmap_tile_level(tmap_nbb f, tmap_u32 r) { return tmap_nbb_tile_level(f, r, 32); }

// The places of a line of a tile that are cells: of row y by the columns, or of column x by the
// rows, whose sides and digits are given as those of the line.
TMAP_FN tmap_u64 tmapi_tile_line(tmap_u32 k, tmap_u32 side_across, tmap_u32 side_along,
                                 tmap_u64 tau_across, tmap_u64 tau_along, tmap_u32 m, tmap_u32 at) {
    tmap_u64 bits = 1;
    tmap_u32 side = 1;
    if (side_across == 0) return 0; // no fractal, and no trap
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < m; ++level, side *= side_along) {
        const tmap_u32 rest = at / side_across, digit = at - rest * side_across;
        tmap_u64 next = 0;
        TMAPI_NO_UNROLL
        for (tmap_u32 beta = 0; beta < k; ++beta)
            if (tmapi_nbb_digit(k, tau_across, beta) == digit)
                next |= bits << (tmapi_nbb_digit(k, tau_along, beta) * side & 63);
        bits = next, at = rest;
    }
    return at ? 0 : bits;
}

// The columns of row y of a tile of level m that are cells: bit x for (x, y), sx^m <= 64; 0 for a
// row past the tile. Cost: k m comparisons and m divisions.
// Example: gasket, m = 2: y = 0..3 -> 0001b, 0011b, 0101b, 1111b.
TMAP_FN tmap_u64 tmap_tile_row(tmap_nbb f, tmap_u32 m, tmap_u32 y) {
    return tmapi_tile_line(f.k, f.sy, f.sx, f.tau_y, f.tau_x, m, y);
}

// The rows of column x of a tile of level m that are cells: bit y for (x, y), y < height; sy^m <=
// 64, height <= 32; 0 for a column past the tile. Cost: as above.
// Example: gasket, m = 2, height = 4: x = 0..3 -> 1111b, 1010b, 1100b, 1000b.
TMAP_FN tmap_u32 tmap_tile_column(tmap_nbb f, tmap_u32 m, tmap_u32 height, tmap_u32 x) {
    const tmap_u32 rows = (tmap_u32)tmapi_tile_line(f.k, f.sx, f.sy, f.tau_x, f.tau_y, m, x);
    return height < 32 ? rows & ((1u << height) - 1) : rows;
}

#if TMAP_CUDA

// A warp's share of the tiles: those numbered first, first + stride, ... below count.
typedef struct tmap_tiles {
    tmap_warp_level level; // for the linear index of a tile
    tmap_u32 first, stride, count;
} tmap_tiles;

// The share of the calling warp of the tiles of fractal f of level r, in tiles of level m <= r,
// k^(r-m) < 2^32 of them. Collective for a full warp, in blocks of any shape and grids of one axis
// and fewer than 2^32 warps.
// A block's last warp, if it is no full one, takes no part in it: it must not call.
// Cost: that of tmap_warp_level_make.
TMAP_DEVICE tmap_tiles tmap_tiles_begin(tmap_nbb f, tmap_u32 r, tmap_u32 m) {
    const tmap_u32 warps = blockDim.x * blockDim.y * blockDim.z / 32;
    tmap_tiles t;
    t.level = tmap_warp_level_make_linear(tmap_warp_full(), f, r - m);
    t.first = blockIdx.x * warps + tmap_thread_rank() / 32;
    t.stride = gridDim.x * warps;
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

#endif // TMAP_CUDA
#endif
