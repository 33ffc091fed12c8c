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
//     tmap_u32 rows = tmap_tile_column(f, m, height, lane); // lane: a column of the tile
//     for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
//         tmap_xy tile = tmap_tiles_at(&tiles, f, t);
//         for (int y = 0; y < height; ++y)
//             if (rows >> y & 1) out[(tile.y * height + y) * pitch + tile.x * width + lane] = 1;
//     }
#ifndef TMAP_FRACTAL_TILE_H
#define TMAP_FRACTAL_TILE_H

#include "size.h"
#include "rows_cell.h"
#include "warp.h"

// The level of a tile that a warp takes with a lane for each column: as wide and as high as 32
// allows, at most r. Example: gasket, r = 16: 5 (32 x 32); carpet: 3 (27 x 27); Candy: 2 (16 x 16).
TMAP_FN tmap_u32 tmap_tile_level(tmap_nbb f, tmap_u32 r) { return tmap_nbb_tile_level(f, r, 32); }

// The rows of column x of a tile of level m that are cells: bit y for (x, y), y < height <= 32.
// x: any. Example: gasket, m = 2, height = 4: x = 0..3 -> 1111b, 1010b, 1100b, 1000b.
TMAP_FN tmap_u32 tmap_tile_column(tmap_nbb f, tmap_u32 m, tmap_u32 height, tmap_u32 x) {
    tmap_u32 rows = 0;
    for (tmap_u32 y = 0; y < height && y < 32; ++y)
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

#endif // TMAP_CUDA

// ---- four columns a lane ------------------------------------------------------------------------
//
// Where the sides are powers of two, tiles begin at multiples of four places, and a lane takes four
// columns, a group, with one wide access. A tile of side T has T / 4 groups, and the lanes stand on
// 128 / T bands of T^2 / 128 rows each, which a lane walks down.

// 1 for fractals whose sides are equal and powers of two, 2 or more.
TMAP_FN int tmap_nbb_has_groups(tmap_nbb f) {
    return f.sx >= 2 && f.sy == f.sx && (f.sx & (f.sx - 1)) == 0;
}

// The level of a tile of groups: as large as 64 allows, a lane's band then being 32 rows.
// Example: gasket 6 (64 x 64), Candy 3 (64 x 64). Such tiles need a fractal of at least that level.
TMAP_FN tmap_u32 tmap_group_level(tmap_nbb f) { return tmap_nbb_tile_level(f, TMAP_LEVEL_MAX, 64); }

// A lane's groups: nibble i of word i / 8 has bit c for place (4 * group + c, row + i).
typedef struct tmap_groups {
    tmap_u32 word[4];
} tmap_groups;

// Eight rows of a lane's groups, four bits each; rows past `end` are empty.
TMAP_FN tmap_u32 tmapi_groups_word(tmap_nbb f, tmap_u32 m, tmap_u32 group, tmap_u32 row,
                                   tmap_u32 end) {
    tmap_u32 word = 0;
    for (tmap_u32 i = 0; i < 32; ++i)
        if (row + i / 4 < end && tmap_nbb_contains(f, 4 * group + i % 4, row + i / 4, m))
            word |= 1u << i;
    return word;
}

// The cells of `rows` <= 32 rows from `row` on of a tile of level m. Example: gasket, m = 2, group
// 0, row 0, 4 rows: word 0 is 0xf531.
TMAP_FN tmap_groups tmap_groups_make(tmap_nbb f, tmap_u32 m, tmap_u32 group, tmap_u32 row,
                                     tmap_u32 rows) {
    tmap_groups g; // word by word: an index that is no constant would put it into local memory
    g.word[0] = tmapi_groups_word(f, m, group, row, row + rows);
    g.word[1] = tmapi_groups_word(f, m, group, row + 8, row + rows);
    g.word[2] = tmapi_groups_word(f, m, group, row + 16, row + rows);
    g.word[3] = tmapi_groups_word(f, m, group, row + 24, row + rows);
    return g;
}

// Row i of it: bit c for column c. A constant i keeps the words in registers.
TMAP_FN tmap_u32 tmap_groups_row(const tmap_groups *g, tmap_u32 i) {
    return g->word[i / 8 & 3] >> (i % 8 * 4) & 15;
}

// ---- a table of a tile's cells ------------------------------------------------------------------
//
// The second intra-block mapping of the paper (section 5.2), for a warp: the cells of a tile, row
// by row, as offsets in the embedding, in shared memory. A block makes it once and its warps then
// find a cell of any tile by one read of it, with all lanes on cells, and neighbouring lanes on
// neighbouring memory.

#if TMAP_CUDA

// Words of shared memory for the table of a tile with `cells` cells.
#define TMAP_TILE_TABLE_WORDS(cells) ((cells) + TMAP_ROWS_WORDS)

// Fills offsets[0..k^m-1] with y * pitch + x of the cells (x, y) of a tile of level m, row by row,
// and what follows with the rows of f. Collective for the block, with a barrier at its end.
// offsets: TMAP_TILE_TABLE_WORDS(k^m) words of shared memory. sy^m * pitch <= 2^32.
TMAP_DEVICE void tmap_tile_table_make(tmap_nbb f, tmap_u32 m, tmap_u32 pitch, tmap_u32 *offsets) {
    tmap_u32 cells = tmapi_pow32(f.k, m), *rows = offsets + cells;
    tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    for (tmap_u32 i = rank; i < TMAP_ROWS_WORDS; i += threads) tmapi_rows_fill(f, i, rows);
    __syncthreads();
    for (tmap_u32 i = rank; i < cells; i += threads) {
        tmap_xy p = tmapi_rows_cell(f, m, i, rows);
        offsets[i] = p.y * pitch + p.x;
    }
    __syncthreads();
}

#endif // TMAP_CUDA
#endif
