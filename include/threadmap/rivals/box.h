// SPDX-License-Identifier: MIT
// box.h: what the fractal kernels share: the ways to map blocks, the grid of a launch, and its
// limits.
//
// A launch covers a box of blocks, the bounding box of the fractal (BB) or the orthotope of its
// tiles (lambda). Under BB each block has one place in the box, as in the paper. Under lambda, a
// block walks down a column of the orthotope in steps of gridDim.y: what a lane prepares for its
// level then serves many tiles, and fewer blocks are launched, of which a GPU starts about one in
// 0.6 ns (measured on an H200), in which its memory takes 2.7 KB.
#ifndef TMAP_RIVALS_BOX_H
#define TMAP_RIVALS_BOX_H

#include "../fractal/catalogue.h"
#include "../fractal/size.h"
#include "../fractal/rows_tables.h"
#include "../fractal/tile.h"
#include "../fractal/warp.h"
#include "../fractal/small.h"

// How blocks find their place.
typedef enum tmap_map {
    TMAP_MAP_BB,             // bounding box: a thread for each place of the embedding
    TMAP_MAP_BB_WALK,        // the same places, by fewer blocks that walk down the embedding
    TMAP_MAP_LAMBDA,         // lambda, each thread on its own
    TMAP_MAP_LAMBDA_SHUFFLE, // lambda, one level per lane, added up by shuffles
    TMAP_MAP_LAMBDA_REDUX,   // the same by the integer reduction instruction
    TMAP_MAP_LAMBDA_BALLOT,  // the same by ballot; fractals with s = 2
    TMAP_MAP_LAMBDA_LINEAR,  // a thread for some cells, from a linear index; takes rho = 32
    TMAP_MAP_TILE,           // persistent tiles, a warp for each (tile.h); takes rho = 32
    TMAP_MAP_ROWS            // persistent warps, row by row (rows.h); takes rho = 32
} tmap_map;

#define TMAP_MAP_COUNT 9

// The name of a map in tables and results: "bb", "lambda", "lambda_shuffle", ...; "?" for any other
// number.
TMAP_FN const char *tmap_map_name(int map) {
    switch (map) {
    case TMAP_MAP_BB: return "bb";
    case TMAP_MAP_BB_WALK: return "bb_walk";
    case TMAP_MAP_LAMBDA: return "lambda";
    case TMAP_MAP_LAMBDA_SHUFFLE: return "lambda_shuffle";
    case TMAP_MAP_LAMBDA_REDUX: return "lambda_redux";
    case TMAP_MAP_LAMBDA_BALLOT: return "lambda_ballot";
    case TMAP_MAP_LAMBDA_LINEAR: return "lambda_linear";
    case TMAP_MAP_TILE: return "tile";
    case TMAP_MAP_ROWS: return "rows";
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
    tmap_u32 shared;        // bytes of dynamic shared memory for each block
    tmap_u32 each;          // by rows, each cell alone: cells that a thread takes at a time; else 0
    tmap_u32 chunk;         // by rows: cells that a warp takes at a time; set with the grid
    tmap_u32 share;         // by rows: cells of a block, at least so many until the grid is set;
                            // 0: all blocks walk through all cells together
} tmap_box;

// The most cells in the table of a tile. Wide tiles split fewer sectors of memory between two
// stores (SW, carpet, r = 10: 12.7 ms with 64 cells, 8.1 with 512, 6.4 with 4096).
#define TMAPI_TABLE_MOST 4096

// The tile level for TMAP_MAP_TILE: as many cells as the table holds, if the fractal has 8192 times
// as many, since each block makes its own; 256 for smaller ones, if they have so many.
TMAP_FN void tmapi_box_tile(tmap_nbb f, tmap_u32 r, tmap_box *b) {
    tmap_u64 cells = tmap_nbb_cells(f, r), most = cells / 8192, table = 1, height = 1;
    tmap_u32 m = 0;
    if (most < 256) most = 256;
    if (most > TMAPI_TABLE_MOST) most = TMAPI_TABLE_MOST;
    while (m < r && table * f.k <= most && height * f.sy * b->width <= 0x100000000ull)
        table *= f.k, height *= f.sy, ++m;
    b->tile_level = m;
    b->level = r - m;
}

// 1 if every coordinate of the cells of level r, of the orthotope and, if asked, the linear index
// fits 32 bits: r <= tmap_nbb_level_max32 or linear_level_max32, at the price of a few products.
TMAP_FN int tmapi_box_fits32(tmap_nbb f, tmap_u32 r, int linear) {
    const tmap_u64 most = 0x100000000ull;
    return tmap_nbb_side_x(f, r) <= most && tmap_nbb_side_y(f, r) <= most &&
           tmapi_pow_saturate(f.k, linear ? r : r - r / 2) <= most && r <= TMAP_LEVEL_MAX;
}

// The box of the maps by linear index, whose threads stand on cells alone.
TMAP_FN int tmapi_box_linear(tmap_nbb f, tmap_u32 r, int map, tmap_box *b) {
    b->tile_level = 0, b->level = r;
    if (map == TMAP_MAP_TILE) tmapi_box_tile(f, r, b);
    if (map == TMAP_MAP_LAMBDA_LINEAR && r) b->tile_level = 1, b->level = r - 1;
    if (!tmapi_box_fits32(f, map == TMAP_MAP_TILE ? b->level : r, 1)) return TMAP_ERANGE;
    if (map == TMAP_MAP_TILE && !tmapi_box_fits32(f, r - tmap_tile_level(f, r), 1))
        return TMAP_ERANGE;
    if (map == TMAP_MAP_ROWS && (b->shared = tmap_rows_bytes(f, r)) == 0) return TMAP_ERANGE;
    b->bx = (tmap_u32)tmap_nbb_cells(f, b->tile_level);
    b->by = 1;
    b->columns = tmap_nbb_cells(f, b->level);
    b->rows = 1;
    return TMAP_OK;
}

// The box of a launch for fractal f of level r, blocks of side rho (1..32).
// BB: ceil(width / rho) x ceil(height / rho) blocks. Lambda: the orthotope of the tiles, blocks of
// one tile.
// Returns TMAP_OK, TMAP_EINVAL (an unknown map, rho outside 1..32, ballot for s > 2, a fractal that
// none of the constructors makes) or TMAP_ERANGE (a level whose coordinates in block space do not
// fit 32 bits, or a grid too wide, or for TMAP_MAP_ROWS a level above tmap_rows_level_max).
TMAP_FN int tmap_box_make(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, tmap_box *out) {
    tmap_box b;
    int error = TMAP_OK;
    if (!out || map < 0 || map >= TMAP_MAP_COUNT || rho < 1 || rho > 32) return TMAP_EINVAL;
    if (f.k < 1 || f.k > TMAP_REPLICAS_MAX || f.sx < 1 || f.sx > TMAP_SIDE_MAX) return TMAP_EINVAL;
    if (f.sy < 1 || f.sy > TMAP_SIDE_MAX) return TMAP_EINVAL;
    if (map == TMAP_MAP_LAMBDA_BALLOT && !tmap_nbb_has_ballot(f)) return TMAP_EINVAL;
    if (map >= TMAP_MAP_LAMBDA_LINEAR && rho != 32) return TMAP_EINVAL;
    if (r > TMAP_LEVEL_MAX) return TMAP_ERANGE;
    b.shared = b.each = b.chunk = b.share = 0;
    b.width = tmap_nbb_side_x(f, r);
    b.height = tmap_nbb_side_y(f, r);
    if (map <= TMAP_MAP_BB_WALK) {
        b.tile_level = 0, b.level = r;
        b.bx = b.width < rho ? (tmap_u32)b.width : rho;
        b.by = b.height < rho ? (tmap_u32)b.height : rho;
        b.columns = (b.width + b.bx - 1) / b.bx;
        b.rows = (b.height + b.by - 1) / b.by;
    } else if (map >= TMAP_MAP_LAMBDA_LINEAR) {
        error = tmapi_box_linear(f, r, map, &b);
    } else {
        tmap_u32 m = tmap_nbb_tile_level(f, r, rho);
        tmap_xy64 orthotope = tmap_nbb_orthotope(f, r - m);
        b.tile_level = m, b.level = r - m;
        b.bx = (tmap_u32)tmap_nbb_side_x(f, m);
        b.by = (tmap_u32)tmap_nbb_side_y(f, m);
        b.columns = orthotope.x;
        b.rows = orthotope.y;
    }
    if (error) return error;
    if (map < TMAP_MAP_LAMBDA_LINEAR) { // a grid's x; a loop over y
        if (!tmapi_box_fits32(f, b.level, 0)) return TMAP_ERANGE;
        if (b.columns > 0x7fffffffull || b.rows > 0x7fffffffull) return TMAP_ERANGE;
    }
    *out = b;
    return TMAP_OK;
}

// The threads that a launch spends on its box; saturates.
TMAP_FN tmap_u64 tmap_box_threads(tmap_box b) {
    return tmap_mul_saturate(tmap_mul_saturate(b.columns, b.rows), (tmap_u64)b.bx * b.by);
}

// ---- sparse fractals by rows --------------------------------------------------------------------

// The most cells that a row has in the mean where SW and RD find each cell alone instead of going
// through rows. (r = 10, ms, before blocks had shares: Vicsek and X, 165 cells a row: SW 0.163 and
// 0.209 by chunks of rows, 0.150 and 0.207 alone; RD 0.069 and 0.089, and 0.062 and 0.082. Dense
// ones lose: H, 4784 cells,
// SW 1.97 by rows and 2.33 alone, RD 0.729 and 0.764; carpet, 18171, SW 4.44 and 5.70.)
#ifndef TMAPI_ROWS_SPARSE // a test sets it lower
#define TMAPI_ROWS_SPARSE 400
#endif

// 1 for fractals whose rows grow by two cells a level in the mean, or fewer. Others never need it,
// and their kernels do without the code.
TMAP_FN int tmapi_rows_sparse(tmap_nbb f) { return f.k <= 2 * f.sy; }

// Chooses that for map TMAP_MAP_ROWS and fractal f of level r, with `each` cells in flight in a
// thread; blocks have shares if `shares`, at least as many cells as a table.
TMAP_FN void tmapi_box_rows(tmap_nbb f, tmap_u32 r, int map, tmap_u32 each, int shares,
                            tmap_box *b) {
    tmap_u32 bytes;
    if (map != TMAP_MAP_ROWS || !tmapi_rows_sparse(f)) return;
    if (b->columns > TMAPI_ROWS_SPARSE * b->height) return;
    if ((bytes = tmap_rows_tables_bytes(f, r)) == 0) return;
    b->shared = bytes, b->each = each;
    b->share = shares ? (tmap_u32)tmap_nbb_cells(f, r - r / 2) : 0;
}

#if TMAP_CUDA

// BB: the place of this thread in the embedding; 1 if it is a cell. row: of blocks, where this
// launch begins.
TMAP_DEVICE int tmapi_bb_place(tmap_nbb f, tmap_box b, tmap_u32 row, tmap_xy *place) {
    place->x = blockIdx.x * blockDim.x + threadIdx.x;
    place->y = (row + blockIdx.y) * blockDim.y + threadIdx.y;
    if (f.sx == 2 &&
        f.sy == 2) // 2^r - 1 is at hand: five instructions fewer in each of n * n threads
        return tmapi_nbb_contains_bits(f, place->x, place->y, (tmap_u32)b.width - 1);
    return tmap_nbb_contains(f, place->x, place->y, b.level);
}

// A thread's walk down its column of the box.
typedef struct tmapi_walk {
    tmap_warp_level level; // prepared for the warp forms of lambda
    int inside;            // is this thread's place in a tile a cell?
} tmapi_walk;

TMAP_DEVICE tmapi_walk tmapi_walk_begin(int map, tmap_nbb f, tmap_box b, tmap_warp warp) {
    tmapi_walk w;
    w.inside =
        map != TMAP_MAP_BB_WALK && tmap_nbb_contains(f, threadIdx.x, threadIdx.y, b.tile_level);
    w.level = tmap_warp_level_make(warp, f, b.level);
    return w;
}

// 1 if the block is whole warps. A walk is compiled twice, for that case with the constant
// tmap_warp_full() in the place of tmap_warp_self(): collectives of a mask that is not a constant
// cost a test for divergence each.
TMAP_DEVICE int tmapi_walk_full(void) { return blockDim.x * blockDim.y % 32 == 0; }

// The place of this thread in row `wy` of the box; 1 if it is a cell. Collective for the warp
// forms: all threads of the block call it. For a constant map only one branch is compiled.
TMAP_DEVICE int tmapi_walk_place(const tmapi_walk *w, int map, tmap_nbb f, tmap_box b, tmap_u32 wy,
                                 tmap_xy64 *place) {
    tmap_xy tile;
    if (map == TMAP_MAP_LAMBDA_SHUFFLE)
        tile = tmap_warp_level_shuffle(&w->level, f, blockIdx.x, wy);
    else if (map == TMAP_MAP_LAMBDA_REDUX)
        tile = tmap_warp_level_redux(&w->level, f, blockIdx.x, wy);
    else if (map == TMAP_MAP_LAMBDA_BALLOT)
        tile = tmap_warp_level_ballot(&w->level, f, blockIdx.x, wy);
    else if (map == TMAP_MAP_LAMBDA)
        tile = tmap_nbb_lambda(f, blockIdx.x, wy, b.level);
    else
        tile.x = blockIdx.x, tile.y = wy;
    place->x = (tmap_u64)tile.x * blockDim.x + threadIdx.x;
    place->y = (tmap_u64)tile.y * blockDim.y + threadIdx.y;
    if (map == TMAP_MAP_BB_WALK)
        return tmap_nbb_contains(f, (tmap_u32)place->x, (tmap_u32)place->y, b.level);
    return w->inside;
}

// The level of the fractal of a box.
TMAP_FN tmap_u32 tmapi_box_level(tmap_box b) { return b.level + b.tile_level; }

// By linear index, one map serves k cells: p of level b.level = r - 1, and its copies in the
// replicas of the top level, or the replicas of the lowest level in the place of p. (Chandelier, r
// = 10, SW with a map for each cell: 8.4 us, 1.8 of them to start four times as many blocks.)
TMAP_DEVICE tmap_u32 tmapi_linear_copies(tmap_nbb f, tmap_box b) { return b.tile_level ? f.k : 1; }

// The offset of p's copy in the embedding.
TMAP_DEVICE tmap_u64 tmapi_linear_copy(tmap_nbb f, tmap_box b, tmap_xy p, tmap_u32 copy) {
    if (b.tile_level) {
        tmap_xy t = tmap_nbb_tau(f, copy);
        p.x += t.x * tmapi_pow32(f.sx, b.level);
        p.y += t.y * tmapi_pow32(f.sy, b.level);
    }
    return p.y * b.width + p.x;
}

// By rows: this warp's chunks, the first one and the others every `stride`.
typedef struct tmapi_share {
    tmap_u64 first, end;
    tmap_u32 stride;
} tmapi_share;

TMAP_DEVICE tmapi_share tmapi_share_make(tmap_box b) {
    const tmap_u32 warps = blockDim.x / 32;
    const tmap_u64 begin = blockIdx.x * (tmap_u64)(b.share ? b.share : warps * b.chunk);
    tmapi_share s;
    s.first = begin + threadIdx.x / 32 * b.chunk;
    s.end = b.share && begin + b.share < b.columns ? begin + b.share : b.columns;
    s.stride = (b.share ? 1 : gridDim.x) * warps * b.chunk;
    return s;
}

// How many cells there are in the chunk from `first` on.
TMAP_DEVICE tmap_u32 tmapi_share_count(const tmapi_share *s, tmap_box b, tmap_u64 first) {
    const tmap_u64 left = s->end - first;
    return left < b.chunk ? (tmap_u32)left : b.chunk;
}

// The tables of a block.
#define TMAPI_ROWS_EACH(tables, f, b) \
    extern __shared__ tmap_u64 tmapi_rows_shared64[]; \
    const tmap_rows_tables tables = \
        tmap_rows_tables_make(f, tmapi_box_level(b), tmapi_rows_shared64)
#define TMAPI_ROWS_TABLES(rows, f, b) \
    extern __shared__ tmap_u32 tmapi_rows_shared[]; \
    const tmap_rows rows = tmap_rows_make(f, tmapi_box_level(b), tmapi_rows_shared)

// Asks memory for the sector in which *p is.
TMAP_DEVICE void tmapi_prefetch(const void *p) {
#if defined(__CUDA_ARCH__)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
#else
    (void)p;
#endif
}

// How many of `left` cells from *row on stand in its row.
TMAP_DEVICE tmap_u32 tmapi_rows_run(const tmap_row *row, tmap_u32 left) {
    tmap_u32 rest = row->cells - row->i;
    return rest < left ? rest : left;
}

// The sides of a warp's tile of fractal f at a level that is large enough: constants for a constant
// f.
TMAP_DEVICE tmap_u32 tmapi_tile_width(tmap_nbb f) {
    return tmapi_pow32(f.sx, tmap_tile_level(f, TMAP_LEVEL_MAX));
}
TMAP_DEVICE tmap_u32 tmapi_tile_height(tmap_nbb f) {
    return tmapi_pow32(f.sy, tmap_tile_level(f, TMAP_LEVEL_MAX));
}

// 1 if tiles of groups fit this fractal: it is as large as one, and rows begin at multiples of
// `bytes`, the width of an access.
TMAP_DEVICE int tmapi_groups_fit(tmap_nbb f, tmap_box b, const void *matrix, tmap_u32 bytes) {
    return tmapi_box_level(b) >= tmap_group_level(f) && (tmap_u64)matrix % bytes == 0;
}

// Stamps the kernels of one piece of work for one fractal, a kernel for each map: WORK_bb_NAME,
// WORK_lambda_NAME, ... PARAMS is their parameter list, which begins with `tmap_nbb f, tmap_box b,
// tmap_u32 row`; ARGS that of the function WORK, which does the work and may name `map`, `constant`
// and `f`. CONSTANT is 1 where FRACTAL is a constructor, so that the kernel's fractal is a
// constant, and 0 where it is `f` itself: own fractals are passed at run time and cost a division
// for each level. By rows two blocks of 512 threads share a multiprocessor.
#define TMAPI_STAMP_KERNEL(work, suffix, bounds, number, name, is_constant, fractal, PARAMS, ARGS) \
    static __global__ void bounds work##_##suffix##_##name PARAMS { \
        const int map = number, constant = is_constant; \
        (void)constant, (void)row; /* not every work needs them */ \
        f = fractal; \
        if (map == TMAP_MAP_LAMBDA_BALLOT && !tmap_nbb_has_ballot(f)) return; /* refused before */ \
        work ARGS; \
    }
#define TMAPI_STAMP(work, name, constant, fractal, PARAMS, ARGS) \
    TMAPI_STAMP_KERNEL(work, bb, , TMAP_MAP_BB, name, constant, fractal, PARAMS, ARGS) \
    TMAPI_STAMP_KERNEL(work, walk, , TMAP_MAP_BB_WALK, name, constant, fractal, PARAMS, ARGS) \
    TMAPI_STAMP_KERNEL(work, lambda, , TMAP_MAP_LAMBDA, name, constant, fractal, PARAMS, ARGS) \
    TMAPI_STAMP_KERNEL(work, shuffle, , TMAP_MAP_LAMBDA_SHUFFLE, name, constant, fractal, PARAMS, \
                       ARGS) \
    TMAPI_STAMP_KERNEL(work, redux, , TMAP_MAP_LAMBDA_REDUX, name, constant, fractal, PARAMS, \
                       ARGS) \
    TMAPI_STAMP_KERNEL(work, ballot, , TMAP_MAP_LAMBDA_BALLOT, name, constant, fractal, PARAMS, \
                       ARGS) \
    TMAPI_STAMP_KERNEL(work, linear, , TMAP_MAP_LAMBDA_LINEAR, name, constant, fractal, PARAMS, \
                       ARGS) \
    TMAPI_STAMP_KERNEL(work, tile, , TMAP_MAP_TILE, name, constant, fractal, PARAMS, ARGS) \
    TMAPI_STAMP_KERNEL(work, rows, __launch_bounds__(512, 2), TMAP_MAP_ROWS, name, constant, \
                       fractal, PARAMS, ARGS)

// The kernels of a fractal in the order of tmap_map: a row of a launcher's table.
#define TMAPI_STAMP_ROW(work, name) \
    {work##_bb_##name,      work##_walk_##name,  work##_lambda_##name, \
     work##_shuffle_##name, work##_redux_##name, work##_ballot_##name, \
     work##_linear_##name,  work##_tile_##name,  work##_rows_##name},

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// How many blocks a piece of work likes.
typedef struct tmapi_tuning {
    tmap_u64 waves;        // by blocks: of as many as the device holds at once
    tmap_u64 linear_waves; // the same by linear index
    tmap_u64 tile_warps;   // by tiles: warps for each multiprocessor
    unsigned tile_threads; // and threads of a block
    tmap_u64 rows_blocks;  // by rows: blocks of 512 threads for each multiprocessor
    tmap_u64 rows_chunk;   // by rows: the most cells that a warp takes at a time
} tmapi_tuning;

// The cells of a block's share where blocks have shares. Blocks begin as others end, on the
// multiprocessors that are quicker: so there are many, as large as pays for their tables. (SW, r =
// 10: shares of 74000 cells, one for each multiprocessor, some of which end after two thirds of the
// time, X 203 us, Vicsek 148; of 4700 cells, 198 and 140; list 203 and 148.)
static inline tmap_u32 tmapi_box_share(const tmap_box *b, tmap_u64 processors, unsigned unit) {
    tmap_u64 share = (b->columns + processors - 1) / processors;
    if (share > 4096) share = 4096;
    if (share < b->share) share = b->share;
    return (tmap_u32)((share + unit - 1) / unit * unit);
}

// The launch of a one-dimensional grid of the maps by linear index. By rows, blocks are large,
// since each makes tables.
static inline void tmapi_box_grid_linear(tmap_box *b, int map, tmapi_tuning t, tmap_u64 processors,
                                         dim3 *grid, dim3 *block) {
    const int rows = map == TMAP_MAP_ROWS;
    const unsigned size = rows ? 512 : map == TMAP_MAP_TILE ? t.tile_threads : 256;
    const unsigned warps = size / 32;
    tmap_u64 blocks = (b->columns + size - 1) / size, most = processors * 8 * t.linear_waves;
    if (map == TMAP_MAP_LAMBDA_LINEAR && blocks > most) // the same number of turns for each block
        blocks = (blocks + blocks / most) / (blocks / most + 1);
    if (map == TMAP_MAP_TILE)
        blocks = (b->columns + warps - 1) / warps, most = processors * t.tile_warps / warps;
    if (rows && b->each) {
        b->chunk = 32 * b->each, most = processors;
        if (b->share) {
            b->share = tmapi_box_share(b, processors, warps * b->chunk);
            most = (b->columns + b->share - 1) / b->share;
        }
    } else if (rows) { // chunks that end together
        tmap_u64 turns;
        most = processors * t.rows_blocks;
        turns = (b->columns + most * warps * t.rows_chunk - 1) / (most * warps * t.rows_chunk);
        b->chunk =
            (tmap_u32)((b->columns + most * warps * turns - 1) / (most * warps * turns) + 31) / 32 *
            32;
    }
    if (rows) blocks = (b->columns + warps * b->chunk - 1) / (warps * b->chunk);
    *block = dim3(size, 1, 1);
    *grid = dim3((unsigned)(blocks < most ? blocks : most), 1, 1);
}

// The launch of a box. BB: a block for each, 65535 rows at a time, the most that a grid can have;
// the launcher goes on from row grid->y. By linear index: see above. Otherwise whole rows of
// blocks, at least one.
static inline cudaError_t tmapi_box_grid(tmap_box *b, int map, tmapi_tuning t, dim3 *grid,
                                         dim3 *block) {
    tmap_u64 rows = b->rows;
    *block = dim3(b->bx, b->by, 1);
    if (map != TMAP_MAP_BB) {
        int device, processors;
        tmap_u64 threads = (tmap_u64)b->bx * b->by;
        cudaError_t status = cudaGetDevice(&device);
        if (status != cudaSuccess) return status;
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        if (status != cudaSuccess) return status;
        if (map >= TMAP_MAP_LAMBDA_LINEAR) {
            tmapi_box_grid_linear(b, map, t, (tmap_u64)processors, grid, block);
            if (b->share) { // one block at a time for each multiprocessor: with two, 2 us more
                int bytes = 0;
                status = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                                device);
                if (b->shared < (tmap_u32)bytes / 2) b->shared = (tmap_u32)bytes / 2;
            }
            return status;
        }
        rows = t.waves * (tmap_u64)processors * (threads > 64 ? 2048 / threads : 32) / b->columns;
        if (rows > b->rows) rows = b->rows;
        if (rows < 1) rows = 1;
    }
    *grid = dim3((unsigned)b->columns, (unsigned)(rows < 65535 ? rows : 65535), 1);
    return cudaSuccess;
}

// Launches KERNEL over the box with these arguments after `f, b, row`: once, or for BB once for
// each 65535 rows of blocks. `b`, `map`, `grid`, `block`, `stream` and `status` are the launcher's;
// status becomes the first error.
#define TMAPI_LAUNCH(kernel, f, ...) \
    do { \
        tmap_u64 row = 0; \
        do { \
            if (map == TMAP_MAP_BB && b.rows - row < grid.y) grid.y = (unsigned)(b.rows - row); \
            if (b.shared > 49152) \
                status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, \
                                              (int)b.shared); \
            if (status == cudaSuccess) { \
                kernel<<<grid, block, b.shared, stream>>>(f, b, (tmap_u32)row, __VA_ARGS__); \
                status = cudaGetLastError(); \
            } \
            row += grid.y; \
        } while (status == cudaSuccess && map == TMAP_MAP_BB && row < b.rows); \
    } while (0)

// The row of a fractal in a launcher's table: its number in the catalogue, or the last one for own
// fractals.
static inline int tmapi_table_index(tmap_nbb f) {
    int i = tmap_fractal_index(f);
    return i < 0 ? TMAP_FRACTAL_COUNT : i;
}

// The CUDA error that a launcher returns for a refused box.
static inline cudaError_t tmapi_box_error(int code) {
    if (code == TMAP_OK) return cudaSuccess;
    return code == TMAP_ERANGE ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
}

#endif
#endif
