// SPDX-License-Identifier: MIT
// flood_slides.h: the flood of a map (raster/map.h), in the steps of the lecture slides about it:
//
//   naive     a thread for each point, until nothing changes
//   line      a line moves through the map in four directions
//   tiles     the moving line in tiles; those without newly flooded neighbours are skipped
//   uniform   the same, with special code for tiles completely above or below the level
//
// Their last step, the construction of regions, is what the library does.
//
// A flood repeats rounds until one changes nothing, which the host must detect: it launches some
// rounds ahead, twice as many each time, and then synchronizes. Superfluous rounds return at once.
// So tmap_flood_slides_run cannot be captured; its parts can, except tmap_flood_slides_look.
//
// Source: Filipovic, lecture slides "Flood maps, dRMSD computation".
#ifndef TMAP_PAPERS_FLOOD_SLIDES_H
#define TMAP_PAPERS_FLOOD_SLIDES_H

#include "../adaptive/olt.h"
#include "../raster/map.h"

// ---- flood state --------------------------------------------------------------------------------
//
// The data that all floods of this header share: a byte for each cell, the tables of the tiles to
// process, and how a flood begins and ends.
//
// Tiles of 128 x 128 cells cover the map. A cell's byte is 0 if it is dry, 2 if it is wet and 3 if
// it is flooded; four of them make a word. Cells of tiles outside the map are dry.
//
// Rounds continue until one changes nothing. A ring has three counters: round r reads counter r %
// 3, which is not 0 if work is left, adds to the next one, and clears the third. So rounds can be
// launched ahead, and superfluous ones return at once.

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_SLIDES_SIDE  128u // of a tile, in cells
#define TMAPI_SLIDES_WORDS 32u  // of a row of a tile
#define TMAPI_SLIDES_ONES  0x01010101u

// The content of a tile.
enum { TMAPI_SLIDES_ALL_DRY, TMAPI_SLIDES_MIXED, TMAPI_SLIDES_ALL_WET, TMAPI_SLIDES_ALL_FLOODED };

// When a height is wet, in the type of the heights: at most `most`, or below `below`; and not equal
// to `nodata`, if there is such a value.
typedef struct tmapi_slides_test {
    int has_nodata, most, nodata;
    float below, nodata_float;
} tmapi_slides_test;

// A flood in progress. Arrays in your workspace.
typedef struct tmapi_slides_state {
    tmap_raster_map map;
    tmapi_slides_test test;
    const void *heights;
    unsigned char *out;
    tmap_u64 tiles_x, tiles_y, tiles;
    tmap_u64 pitch;        // words from one row of cells to the next
    tmap_u32 *words;       // tiles_y * 128 rows of them
    tmap_u64 *queues[2];   // tiles that a round must process; two tables alternate
    tmap_u64 *counts;      // the ring; the number of rounds that had work; see `tally`
    tmap_u32 *stamps;      // for each tile, 1 + the last round whose table it is in
    unsigned char *kinds;  // for each tile
    int by_kinds, aligned; // 1: kinds are used; 1: four heights can be read at once
    int tally;             // 1: counts[4] is the number of words that kernels read
} tmapi_slides_state;

// ---- when a cell is wet -------------------------------------------------------------------------

static inline float tmapi_slides_of_bits(tmap_u32 bits) {
    union {
        tmap_u32 u;
        float f;
    } value;
    value.u = bits;
    return value.f;
}

// The least float that is not below x; -infinity for NaN.
static inline float tmapi_slides_float_from(double x) {
    const float infinite = tmapi_slides_of_bits(0x7f800000),
                most = tmapi_slides_of_bits(0x7f7fffff);
    union {
        float f;
        tmap_u32 u;
    } value;
    if (!(x > -(double)infinite)) return -infinite;
    if (x > (double)most) return infinite;
    if (x <= -(double)most) return -most;
    value.f = (float)x;
    if ((double)value.f >= x) return value.f;
    if (value.f == 0) return tmapi_slides_of_bits(1);
    value.u += value.f > 0 ? 1u : 0xffffffffu; // towards plus infinity
    return value.f;
}

// The same test as tmap_flood_wet, for all heights of the map's type.
static inline tmapi_slides_test tmapi_slides_test_make(const tmap_raster_map *map, double level) {
    const double nodata = map->nodata;
    tmapi_slides_test t = {0, 0, 0, 0, 0};
    if (map->type == TMAP_RASTER_F32) {
        t.below = tmapi_slides_float_from(level);
        t.nodata_float = tmapi_slides_float_from(nodata);
        t.has_nodata = map->has_nodata && (double)t.nodata_float == nodata;
        return t;
    }
    t.has_nodata = map->has_nodata && nodata >= -2147483648.0 && nodata <= 2147483647.0;
    if (t.has_nodata) t.nodata = (int)nodata;
    t.has_nodata = t.has_nodata && (double)t.nodata == nodata;
    if (!(level > -2147483648.0)) { // nothing is wet, also for a NaN level
        t.has_nodata = 1, t.most = t.nodata = -2147483647 - 1;
        return t;
    }
    t.most = level > 2147483647.0 ? 2147483647 : (int)level;
    if ((double)t.most >= level) --t.most;
    return t;
}

TMAP_DEVICE int tmapi_slides_wet_int(const tmapi_slides_test *t, int height) {
    return height <= t->most && !(t->has_nodata && height == t->nodata);
}
TMAP_DEVICE int tmapi_slides_wet_float(const tmapi_slides_test *t, float height) {
    return height < t->below && !(t->has_nodata && height == t->nodata_float);
}

typedef struct tmapi_slides_four16 {
    alignas(8) short h[4];
} tmapi_slides_four16;
typedef struct tmapi_slides_four32 {
    alignas(16) int h[4];
} tmapi_slides_four32;

// The word of four cells from column x on. type: that of the map, a constant.
TMAP_DEVICE tmap_u32 tmapi_slides_classify(const tmapi_slides_state *s, int type, tmap_u64 x,
                                           tmap_u64 y) {
    const tmap_u64 at = y * s->map.pitch + x;
    const tmap_u32 here = x + 4 <= s->map.width ? 4 : (tmap_u32)(s->map.width - x);
    tmapi_slides_four32 four = {{0, 0, 0, 0}};
    tmap_u32 word = 0;
    if (here == 4 && s->aligned && type == TMAP_RASTER_I16) {
        const tmapi_slides_four16 v =
            *(const tmapi_slides_four16 *)((const short *)s->heights + at);
        for (tmap_u32 k = 0; k < 4; ++k) four.h[k] = v.h[k];
    } else if (here == 4 && s->aligned) {
        four = *(const tmapi_slides_four32 *)((const int *)s->heights + at);
    } else {
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k)
            if (k < here)
                four.h[k] = type == TMAP_RASTER_I16 ? ((const short *)s->heights)[at + k]
                            : type == TMAP_RASTER_I32
                                ? ((const int *)s->heights)[at + k]
                                : __float_as_int(((const float *)s->heights)[at + k]);
    }
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        const int wet = type == TMAP_RASTER_F32
                            ? tmapi_slides_wet_float(&s->test, __int_as_float(four.h[k]))
                            : tmapi_slides_wet_int(&s->test, four.h[k]);
        if (wet && k < here) word |= 2u << 8 * k;
    }
    return word;
}

// ---- rounds and tables --------------------------------------------------------------------------

// 1 if a round has work. first: 1 in the first of a round's kernels.
TMAP_DEVICE int tmapi_slides_round(const tmapi_slides_state *s, tmap_u32 round, int first) {
    const int active = s->counts[round % 3] != 0;
    if (first && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        s->counts[(round + 2) % 3] = 0;
        if (active) ++s->counts[3];
    }
    return active;
}

// Records that the next round has work.
TMAP_DEVICE void tmapi_slides_again(const tmapi_slides_state *s, tmap_u32 round) {
    s->counts[(round + 1) % 3] = 1;
}

// The table that a round reads.
TMAP_DEVICE tmap_olt tmapi_slides_table(const tmapi_slides_state *s, tmap_u32 round) {
    tmap_olt t;
    t.entries = s->queues[round & 1], t.count = s->counts + round % 3, t.capacity = s->tiles;
    return t;
}

// Adds to the number of words read, where they are counted. Reads that are the same in all rounds
// are not counted here.
TMAP_DEVICE void tmapi_slides_tally(const tmapi_slides_state *s, tmap_u32 read) {
    if (s->tally && read) atomicAdd(s->counts + 4, (tmap_u64)read);
}

// Inserts a tile into the table of a round, once.
TMAP_DEVICE void tmapi_slides_queue(const tmapi_slides_state *s, tmap_u32 round, tmap_u64 tile) {
    if (atomicExch(s->stamps + tile, round + 1) != round + 1)
        tmap_olt_insert(tmapi_slides_table(s, round), tile);
}

// ---- beginning and end --------------------------------------------------------------------------

// Computes the bytes of a tile, and its kind. Collective for the block.
TMAP_DEVICE void tmapi_slides_begin_tile(const tmapi_slides_state *s, int type, tmap_u64 tile) {
    const tmap_u64 tile_y = tile / s->tiles_x, tile_x = tile - tile_y * s->tiles_x;
    const tmap_u64 x = tile_x * TMAPI_SLIDES_SIDE + threadIdx.x % 32 * 4;
    int all = 1, any = 0;
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE; row += blockDim.x / 32) {
        const tmap_u64 y = tile_y * TMAPI_SLIDES_SIDE + row;
        tmap_u32 word = 0;
        if (x < s->map.width && y < s->map.height) word = tmapi_slides_classify(s, type, x, y);
        s->words[y * s->pitch + x / 4] = word;
        all &= word == 2 * TMAPI_SLIDES_ONES, any |= word != 0;
    }
    all = __syncthreads_and(all);
    any = __syncthreads_or(any);
    if (threadIdx.x) return;
    s->kinds[tile] = all ? TMAPI_SLIDES_ALL_WET : any ? TMAPI_SLIDES_MIXED : TMAPI_SLIDES_ALL_DRY;
    s->stamps[tile] = 0;
}

static __global__ void __launch_bounds__(256) tmapi_slides_begin(tmapi_slides_state s) {
    for (tmap_u64 tile = blockIdx.x; tile < s.tiles; tile += gridDim.x) {
        if (s.map.type == TMAP_RASTER_I16)
            tmapi_slides_begin_tile(&s, TMAP_RASTER_I16, tile);
        else if (s.map.type == TMAP_RASTER_I32)
            tmapi_slides_begin_tile(&s, TMAP_RASTER_I32, tile);
        else
            tmapi_slides_begin_tile(&s, TMAP_RASTER_F32, tile);
    }
}

// Floods the wet cells of sources and inserts their tiles into the first table.
static __global__ void __launch_bounds__(256)
    tmapi_slides_sources(tmapi_slides_state s, const tmap_flood_seed *seeds, tmap_u64 count) {
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * (tmap_u64)blockDim.x) {
        const tmap_u64 x = seeds[i].x, y = seeds[i].y;
        const tmap_u32 shift = (tmap_u32)(x % 4) * 8;
        if (x >= s.map.width || y >= s.map.height) continue;
        if (!(atomicAdd(s.words + y * s.pitch + x / 4, 0u) >> shift & 2)) continue;
        atomicOr(s.words + y * s.pitch + x / 4, 1u << shift);
        tmapi_slides_queue(&s, 0, y / TMAPI_SLIDES_SIDE * s.tiles_x + x / TMAPI_SLIDES_SIDE);
    }
}

// Writes the flooded cells to the output.
static __global__ void __launch_bounds__(256) tmapi_slides_end(tmapi_slides_state s) {
    const int wide = s.map.width % 4 == 0 && (tmap_u64)s.out % 4 == 0;
    for (tmap_u64 tile = blockIdx.x; tile < s.tiles; tile += gridDim.x) {
        const tmap_u64 tile_y = tile / s.tiles_x, tile_x = tile - tile_y * s.tiles_x;
        const tmap_u64 x = tile_x * TMAPI_SLIDES_SIDE + threadIdx.x % 32 * 4;
        const int known = s.by_kinds && s.kinds[tile] != TMAPI_SLIDES_MIXED;
        const tmap_u32 all = s.kinds[tile] == TMAPI_SLIDES_ALL_FLOODED ? TMAPI_SLIDES_ONES : 0;
        tmap_u32 read = 0;
#pragma unroll 4
        for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE; row += blockDim.x / 32) {
            const tmap_u64 y = tile_y * TMAPI_SLIDES_SIDE + row;
            unsigned char *const at = s.out + y * s.map.width + x;
            tmap_u32 word = all;
            if (x >= s.map.width || y >= s.map.height) continue;
            if (!known) word = s.words[y * s.pitch + x / 4] & TMAPI_SLIDES_ONES, ++read;
            if (wide)
                *(tmap_u32 *)at = word;
            else
                for (tmap_u32 k = 0; k < 4 && x + k < s.map.width; ++k)
                    at[k] = (unsigned char)(word >> 8 * k & 1);
        }
        tmapi_slides_tally(&s, read);
    }
}

// Number of blocks of a loop over tiles.
static inline unsigned tmapi_slides_blocks(tmap_u64 tiles) {
    return tiles < 1u << 16 ? (unsigned)tiles : 1u << 16;
}

#endif // TMAP_CUDA && !TMAP_NVRTC

// ---- flood naive --------------------------------------------------------------------------------
//
// The naive flood of the lecture slides: a thread for each point of the map floods it if it is wet
// and has a flooded neighbour, repeatedly until nothing changes.
//
// Water advances one cell a round, or a few if threads happen to run in its direction; a round
// reads every cell.

#if TMAP_CUDA && !TMAP_NVRTC

// Threads of a block along a row, and rows of a block.
#define TMAPI_SLIDES_NAIVE_X 128u
#define TMAPI_SLIDES_NAIVE_Y 4u

// 1 if a cell's neighbour is in the map and flooded.
TMAP_DEVICE int tmapi_slides_naive_flooded(const tmapi_slides_state *s, tmap_u64 x, tmap_u64 y) {
    // Coordinates before the first one wrap to very large numbers.
    return x < s->map.width && y < s->map.height &&
           (((volatile const unsigned char *)(s->words + y * s->pitch))[x] & 1);
}

TMAP_DEVICE int tmapi_slides_naive_reached(const tmapi_slides_state *s, tmap_u64 x, tmap_u64 y) {
    if (tmapi_slides_naive_flooded(s, x - 1, y) || tmapi_slides_naive_flooded(s, x + 1, y) ||
        tmapi_slides_naive_flooded(s, x, y - 1) || tmapi_slides_naive_flooded(s, x, y + 1))
        return 1;
    return s->map.connectivity == 8 && (tmapi_slides_naive_flooded(s, x - 1, y - 1) ||
                                        tmapi_slides_naive_flooded(s, x + 1, y - 1) ||
                                        tmapi_slides_naive_flooded(s, x - 1, y + 1) ||
                                        tmapi_slides_naive_flooded(s, x + 1, y + 1));
}

static __global__ void __launch_bounds__(TMAPI_SLIDES_NAIVE_X *TMAPI_SLIDES_NAIVE_Y)
    tmapi_slides_naive(tmapi_slides_state s, tmap_u32 round) {
    const tmap_u64 x = blockIdx.x * (tmap_u64)TMAPI_SLIDES_NAIVE_X + threadIdx.x % 128;
    const tmap_u64 rows = gridDim.y * (tmap_u64)TMAPI_SLIDES_NAIVE_Y;
    if (!tmapi_slides_round(&s, round, 1) || x >= s.map.width) return;
    for (tmap_u64 y = blockIdx.y * TMAPI_SLIDES_NAIVE_Y + threadIdx.x / 128; y < s.map.height;
         y += rows) {
        volatile unsigned char *const at = (volatile unsigned char *)(s.words + y * s.pitch) + x;
        if (*at != 2 || !tmapi_slides_naive_reached(&s, x, y)) continue;
        *at = 3;
        tmapi_slides_again(&s, round);
    }
}

// Launches a round.
static inline cudaError_t tmapi_slides_naive_round(const tmapi_slides_state *s, tmap_u32 round,
                                                   cudaStream_t stream) {
    const tmap_u64 rows = (s->map.height + TMAPI_SLIDES_NAIVE_Y - 1) / TMAPI_SLIDES_NAIVE_Y;
    void *arguments[] = {(void *)s, &round};
    return cudaLaunchKernel((const void *)tmapi_slides_naive,
                            dim3((unsigned)s->tiles_x, rows < 65535 ? (unsigned)rows : 65535u),
                            dim3(TMAPI_SLIDES_NAIVE_X * TMAPI_SLIDES_NAIVE_Y), arguments, 0,
                            stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

// ---- flood line ---------------------------------------------------------------------------------
//
// The moving line of the lecture slides: a line of threads moves through the map in each of four
// directions and carries water through wet cells.
//
// A line that moves down or up extends along a row, so that its threads read neighbouring words; a
// thread has four columns. A line that moves right or left extends along a column: a warp has 32
// rows, and copies 128 columns of them at a time to shared memory, from which each thread reads its
// own row. Either line moves forth and back in a launch.
//
// With 8 neighbours the lines along rows read the three cells behind each cell; the lines along
// columns handle the other two. A warp may read outdated words of its neighbours. A round that
// changes anything is not the last one, and in one that changes nothing all reads are up to date.

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_SLIDES_LINE_ROWS 32u // rows that a warp reads ahead

// The columns that four flooded cells, bits 0 of the bytes of c, reach in the next row over edges
// and corners. left, right: the neighbouring words.
TMAP_DEVICE tmap_u32 tmapi_slides_line_spread(tmap_u32 c, tmap_u32 left, tmap_u32 right) {
    const tmap_u32 spread = c | c << 8 | c >> 8 | left >> 24 | right << 24;
    return spread & TMAPI_SLIDES_ONES;
}

// Four cells after water reaches those whose bytes are 1 in c.
TMAP_DEVICE tmap_u32 tmapi_slides_line_wet(tmap_u32 word, tmap_u32 c) {
    return word | (c & word >> 1);
}

// Four cells of a row after water moves through them, to the right (to higher bytes) or to the
// left. carry: 1 if there is water before the first one.
TMAP_DEVICE tmap_u32 tmapi_slides_line_right(tmap_u32 word, tmap_u32 carry) {
    const tmap_u32 wet = word >> 1 & TMAPI_SLIDES_ONES, two = wet & wet << 8;
    tmap_u32 f = (word & TMAPI_SLIDES_ONES) | (carry & wet);
    f |= f << 8 & wet;
    f |= f << 16 & two;
    return word | f;
}
TMAP_DEVICE tmap_u32 tmapi_slides_line_left(tmap_u32 word, tmap_u32 carry) {
    const tmap_u32 wet = word >> 1 & TMAPI_SLIDES_ONES, two = wet & wet >> 8;
    tmap_u32 f = (word & TMAPI_SLIDES_ONES) | (carry << 24 & wet);
    f |= f >> 8 & wet;
    f |= f >> 16 & two;
    return word | f;
}

// ---- down and up --------------------------------------------------------------------------------

// Some rows of a thread's four columns. side: the neighbouring word, for the first and the last
// thread of a warp with 8 neighbours.
typedef struct tmapi_slides_line_piece {
    tmap_u32 word[TMAPI_SLIDES_LINE_ROWS], side[TMAPI_SLIDES_LINE_ROWS];
} tmapi_slides_line_piece;

// Reads the rows from `at` on, `step` words apart, if `any`. beside: the offset of the neighbouring
// word, or 0.
TMAP_DEVICE void tmapi_slides_line_read(const tmap_u32 *at, tmap_i64 step, tmap_i64 beside, int any,
                                        tmapi_slides_line_piece *piece) {
    if (!any) return;
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_SLIDES_LINE_ROWS; ++k, at += step) {
        piece->word[k] = *at;
        piece->side[k] = beside ? ((volatile const tmap_u32 *)at)[beside] : 0;
    }
}

// Moves a line through the map in one of two directions. up, eight: constants. Returns 1 if any
// cell of the thread was flooded. Collective for the warp.
TMAP_DEVICE int tmapi_slides_line_go(const tmapi_slides_state *s, tmap_u64 column, int up,
                                     int eight) {
    const tmap_u64 height = s->tiles_y * TMAPI_SLIDES_SIDE; // a multiple of TMAPI_SLIDES_LINE_ROWS
    const tmap_i64 step = up ? -(tmap_i64)s->pitch : (tmap_i64)s->pitch;
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 *at = s->words + (up ? height - 1 : 0) * s->pitch + column;
    tmap_u32 c = 0, aside = 0, changed = 0; // aside: flooded cells of the word beside, a row back
    tmap_i64 beside = 0;
    tmapi_slides_line_piece now, next;
    if (eight && lane == 0 && column > 0) beside = -1;
    if (eight && lane == 31 && column + 1 < s->pitch) beside = 1;
    tmapi_slides_line_read(at, step, beside, 1, &next);
#pragma unroll 1
    for (tmap_u64 from = TMAPI_SLIDES_LINE_ROWS; from <= height; from += TMAPI_SLIDES_LINE_ROWS) {
        now = next;
        tmapi_slides_line_read(at + TMAPI_SLIDES_LINE_ROWS * step, step, beside, from < height,
                               &next);
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_SLIDES_LINE_ROWS; ++k, at += step) {
            tmap_u32 word;
            if (eight) {
                tmap_u32 left = __shfl_up_sync(0xffffffffu, c, 1);
                tmap_u32 right = __shfl_down_sync(0xffffffffu, c, 1);
                if (lane == 0) left = aside;
                if (lane == 31) right = aside;
                c = tmapi_slides_line_spread(c, left, right);
                aside = now.side[k] & TMAPI_SLIDES_ONES;
            }
            word = tmapi_slides_line_wet(now.word[k], c);
            if (word != now.word[k]) *at = word, changed = 1;
            c = word & TMAPI_SLIDES_ONES;
        }
    }
    return (int)changed;
}

static __global__ void __launch_bounds__(32)
    tmapi_slides_line_columns(tmapi_slides_state s, tmap_u32 round) {
    const tmap_u64 column = blockIdx.x * 32ull + threadIdx.x;
    int changed;
    if (!tmapi_slides_round(&s, round, 1)) return;
    if (s.map.connectivity == 8) {
        changed = tmapi_slides_line_go(&s, column, 0, 1);
        changed |= tmapi_slides_line_go(&s, column, 1, 1);
    } else {
        changed = tmapi_slides_line_go(&s, column, 0, 0);
        changed |= tmapi_slides_line_go(&s, column, 1, 0);
    }
    if (changed) tmapi_slides_again(&s, round);
}

// ---- right and left -----------------------------------------------------------------------------

// Reads 32 words of each of 32 rows; a lane reads the same word of all rows.
TMAP_DEVICE void tmapi_slides_line_fetch(const tmapi_slides_state *s, tmap_u64 y, tmap_u64 tile,
                                         tmap_u32 *words) {
    const tmap_u32 *at = s->words + y * s->pitch + tile * 32 + threadIdx.x;
    if (tile >= s->tiles_x) return; // also tiles before the first one
#pragma unroll
    for (tmap_u32 k = 0; k < 32; ++k) words[k] = at[k * s->pitch];
}

// Moves through the 32 rows from y on. left: a constant. Collective for the warp.
TMAP_DEVICE int tmapi_slides_line_sweep(const tmapi_slides_state *s, tmap_u64 y, int left,
                                        tmap_u32 shared[32][33]) {
    const tmap_u32 lane = threadIdx.x;
    tmap_u32 ahead[32], carry = 0, changed = 0;
    tmapi_slides_line_fetch(s, y, left ? s->tiles_x - 1 : 0, ahead);
#pragma unroll 1
    for (tmap_u64 i = 0; i < s->tiles_x; ++i) {
        const tmap_u64 tile = left ? s->tiles_x - 1 - i : i;
        tmap_u32 here = 0, rows;
#pragma unroll
        for (tmap_u32 k = 0; k < 32; ++k) shared[k][lane] = ahead[k];
        __syncwarp();
        tmapi_slides_line_fetch(s, y, left ? tile - 1 : tile + 1, ahead);
#pragma unroll 8
        for (tmap_u32 k = 0; k < 32; ++k) {
            tmap_u32 *const at = &shared[lane][left ? 31 - k : k];
            const tmap_u32 before = *at;
            const tmap_u32 word = left ? tmapi_slides_line_left(before, carry)
                                       : tmapi_slides_line_right(before, carry);
            *at = word, here |= word ^ before;
            carry = left ? word & 1 : word >> 24 & 1;
        }
        rows = __ballot_sync(0xffffffffu, here != 0); // the changed rows
        __syncwarp();                                 // a ballot does not order memory
        changed |= rows;
        for (; rows; rows &= rows - 1) {
            const tmap_u32 k = (tmap_u32)__ffs((int)rows) - 1;
            s->words[(y + k) * s->pitch + tile * 32 + lane] = shared[k][lane];
        }
        __syncwarp();
    }
    return changed != 0;
}

static __global__ void __launch_bounds__(32)
    tmapi_slides_line_rows(tmapi_slides_state s, tmap_u32 round) {
    __shared__ tmap_u32 shared[32][33];
    int changed;
    if (!tmapi_slides_round(&s, round, 0)) return;
    changed = tmapi_slides_line_sweep(&s, blockIdx.x * 32ull, 0, shared);
    changed |= tmapi_slides_line_sweep(&s, blockIdx.x * 32ull, 1, shared);
    if (changed && threadIdx.x == 0) tmapi_slides_again(&s, round);
}

// Launches a round: both lines, forth and back.
static inline cudaError_t tmapi_slides_line_round(const tmapi_slides_state *s, tmap_u32 round,
                                                  cudaStream_t stream) {
    void *arguments[] = {(void *)s, &round};
    cudaError_t error =
        cudaLaunchKernel((const void *)tmapi_slides_line_columns, dim3((unsigned)s->tiles_x),
                         dim3(32), arguments, 0, stream);
    if (error) return error;
    return cudaLaunchKernel((const void *)tmapi_slides_line_rows, dim3((unsigned)(s->tiles_y * 4)),
                            dim3(32), arguments, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

// ---- flood tiles --------------------------------------------------------------------------------
//
// The tiled moving line of the lecture slides: tiles that water has reached since they were last
// processed are copied to shared memory, where the moving line passes through them until nothing
// changes; tiles without newly flooded neighbours are skipped.
//
// A round reads its tiles from an offset lookup table (adaptive/olt.h), and inserts the tiles that
// they have sent water to into the table of the next round. With the special code, tiles completely
// above the level never enter a table, and tiles completely below it are flooded as soon as water
// reaches them, without being read.

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_SLIDES_TILES_THREADS 128u // one for each row; a warp for each 32 rows of columns

// A tile in shared memory with its surroundings: row 0 is the last one of the tile above, word 0 of
// a row the last one of the tile to the left. 35 words, so that 32 rows are in 32 banks.
typedef struct tmapi_slides_tile {
    tmap_u32 row[TMAPI_SLIDES_SIDE + 2][35];
    tmap_u32 reached; // a bit for each neighbouring tile that received water, by rows
} tmapi_slides_tile;

// Copies a tile and its surroundings to shared memory.
TMAP_DEVICE void tmapi_slides_tiles_fetch(const tmapi_slides_state *s, tmap_u64 tile_x,
                                          tmap_u64 tile_y, tmapi_slides_tile *tile) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u64 column = tile_x * 32 + lane;
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE + 2; row += 4) {
        const int there =
            (row > 0 || tile_y > 0) && (row <= TMAPI_SLIDES_SIDE || tile_y + 1 < s->tiles_y);
        const tmap_u32 *at = s->words;
        if (there) at += (tile_y * TMAPI_SLIDES_SIDE + row - 1) * s->pitch + column;
        tile->row[row][lane + 1] = there ? *(volatile const tmap_u32 *)at : 0;
        if (lane == 0)
            tile->row[row][0] = there && tile_x > 0 ? *(volatile const tmap_u32 *)(at - 1) : 0;
        if (lane == 31)
            tile->row[row][33] =
                there && tile_x + 1 < s->tiles_x ? *(volatile const tmap_u32 *)(at + 1) : 0;
    }
}

// Moves a warp's line down or up through its 32 rows. up, eight: constants. Returns 1 if a cell was
// flooded. Collective for the block.
TMAP_DEVICE int tmapi_slides_tiles_rows(tmapi_slides_tile *tile, int up, int eight) {
    const tmap_u32 lane = threadIdx.x % 32, first = threadIdx.x / 32 * 32 + (up ? 32 : 1);
    const tmap_u32 before = up ? first + 1 : first - 1, edge = lane == 31 ? 33 : 0;
    tmap_u32 c = tile->row[before][lane + 1] & TMAPI_SLIDES_ONES, changed = 0;
    tmap_u32 aside = tile->row[before][edge] & TMAPI_SLIDES_ONES;
    __syncthreads(); // all threads have read the row before theirs
#pragma unroll 8
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u32 row = up ? first - k : first + k, old = tile->row[row][lane + 1];
        tmap_u32 word;
        if (eight) {
            tmap_u32 left = __shfl_up_sync(0xffffffffu, c, 1);
            tmap_u32 right = __shfl_down_sync(0xffffffffu, c, 1);
            if (lane == 0) left = aside;
            if (lane == 31) right = aside;
            c = tmapi_slides_line_spread(c, left, right);
            aside = tile->row[row][edge] & TMAPI_SLIDES_ONES;
        }
        word = tmapi_slides_line_wet(old, c);
        if (word != old) tile->row[row][lane + 1] = word, changed = 1;
        c = word & TMAPI_SLIDES_ONES;
    }
    __syncthreads();
    return (int)changed;
}

// Moves through a thread's row, to the right and back.
TMAP_DEVICE int tmapi_slides_tiles_columns(tmapi_slides_tile *tile) {
    tmap_u32 *const row = tile->row[threadIdx.x + 1];
    tmap_u32 carry = row[0] >> 24 & 1, changed = 0;
#pragma unroll 8
    for (tmap_u32 k = 1; k <= 32; ++k) {
        const tmap_u32 word = tmapi_slides_line_right(row[k], carry);
        changed |= word ^ row[k], row[k] = word;
        carry = word >> 24 & 1;
    }
    carry = row[33] & 1;
#pragma unroll 8
    for (tmap_u32 k = 32; k >= 1; --k) {
        const tmap_u32 word = tmapi_slides_line_left(row[k], carry);
        changed |= word ^ row[k], row[k] = word;
        carry = word & 1;
    }
    return changed != 0;
}

// Repeats the moving line until nothing changes. Returns 1 if it changed. Collective for the block.
TMAP_DEVICE int tmapi_slides_tiles_settle(tmapi_slides_tile *tile, int eight) {
    int changed, any = 0;
    do {
        if (eight) {
            changed = tmapi_slides_tiles_rows(tile, 0, 1);
            changed |= tmapi_slides_tiles_rows(tile, 1, 1);
        } else {
            changed = tmapi_slides_tiles_rows(tile, 0, 0);
            changed |= tmapi_slides_tiles_rows(tile, 1, 0);
        }
        changed |= tmapi_slides_tiles_columns(tile);
        changed = __syncthreads_or(changed);
        any |= changed;
    } while (changed);
    return any;
}

// A bit for each neighbouring tile, bit 3 (dy + 1) + dx + 1, that touches newly flooded cells of a
// word: bits 0 of the bytes of `news`.
TMAP_DEVICE tmap_u32 tmapi_slides_tiles_reached(tmap_u32 row, tmap_u32 lane, tmap_u32 news) {
    const int left = lane == 0 && (news & 1), right = lane == 31 && news >> 24;
    tmap_u32 reached = (left ? 1u << 3 : 0) | (right ? 1u << 5 : 0);
    if (!news) return 0;
    if (row == 0) reached |= 1u << 1 | (left ? 1u << 0 : 0) | (right ? 1u << 2 : 0);
    if (row == TMAPI_SLIDES_SIDE - 1)
        reached |= 1u << 7 | (left ? 1u << 6 : 0) | (right ? 1u << 8 : 0);
    return reached;
}

// Stores the changed words of a tile; sets the bits of the affected neighbours in tile->reached. In
// the first round cells of sources count as newly flooded. Collective for the block.
TMAP_DEVICE void tmapi_slides_tiles_store(const tmapi_slides_state *s, tmap_u64 tile_x,
                                          tmap_u64 tile_y, int sources, tmapi_slides_tile *tile) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 reached = 0;
    if (threadIdx.x == 0) tile->reached = 0;
    __syncthreads();
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE; row += 4) {
        tmap_u32 *const at =
            s->words + (tile_y * TMAPI_SLIDES_SIDE + row) * s->pitch + tile_x * 32 + lane;
        const tmap_u32 word = tile->row[row + 1][lane + 1];
        tmap_u32 old = *at;
        if (sources) old &= 2 * TMAPI_SLIDES_ONES;
        if (word == old) continue;
        *at = word;
        reached |= tmapi_slides_tiles_reached(row, lane, word ^ old);
    }
    if (reached) atomicOr(&tile->reached, reached);
    tmapi_slides_tally(s, TMAPI_SLIDES_SIDE / 4);
    __syncthreads();
}

// Inserts the neighbouring tiles marked in `reached` into the table of the next round, each by one
// of the first nine threads.
TMAP_DEVICE void tmapi_slides_tiles_send(const tmapi_slides_state *s, tmap_u64 tile_x,
                                         tmap_u64 tile_y, tmap_u32 reached, tmap_u32 round) {
    const tmap_u32 k = threadIdx.x;
    const tmap_u64 x = tile_x + k % 3 - 1, y = tile_y + k / 3 - 1;
    const int corner = k % 2 == 0; // or the tile itself
    if (k >= 9 || k == 4 || !(reached >> k & 1) || x >= s->tiles_x || y >= s->tiles_y) return;
    if (corner && s->map.connectivity == 4) return;
    if (s->by_kinds) {
        const unsigned char kind = ((volatile const unsigned char *)s->kinds)[y * s->tiles_x + x];
        if (kind == TMAPI_SLIDES_ALL_DRY || kind == TMAPI_SLIDES_ALL_FLOODED) return;
    }
    tmapi_slides_queue(s, round + 1, y * s->tiles_x + x);
}

// Floods a tile that is completely wet.
TMAP_DEVICE void tmapi_slides_tiles_whole(const tmapi_slides_state *s, tmap_u64 tile_x,
                                          tmap_u64 tile_y) {
#pragma unroll 8
    for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE; row += 4)
        s->words[(tile_y * TMAPI_SLIDES_SIDE + row) * s->pitch + tile_x * 32 + threadIdx.x % 32] =
            3 * TMAPI_SLIDES_ONES;
    if (threadIdx.x == 0)
        ((volatile unsigned char *)s->kinds)[tile_y * s->tiles_x + tile_x] =
            TMAPI_SLIDES_ALL_FLOODED;
}

static __global__ void __launch_bounds__(TMAPI_SLIDES_TILES_THREADS)
    tmapi_slides_tiles(tmapi_slides_state s, tmap_u32 round) {
    __shared__ tmapi_slides_tile tile;
    const tmap_olt table = tmapi_slides_table(&s, round);
    const tmap_u64 count = tmap_olt_stored(table);
    if (!tmapi_slides_round(&s, round, 1)) return;
    for (tmap_u64 i = blockIdx.x; i < count; i += gridDim.x) {
        const tmap_u64 number = table.entries[i], y = number / s.tiles_x;
        const tmap_u64 x = number - y * s.tiles_x;
        const unsigned char kind = s.by_kinds ? s.kinds[number] : (unsigned char)TMAPI_SLIDES_MIXED;
        if (kind == TMAPI_SLIDES_ALL_FLOODED) continue; // flooded when it was inserted
        if (kind == TMAPI_SLIDES_ALL_WET) {
            __syncthreads(); // all threads have read the kind
            tmapi_slides_tiles_whole(&s, x, y);
            tmapi_slides_tiles_send(&s, x, y, 0x1ffu, round);
            continue;
        }
        tmapi_slides_tiles_fetch(&s, x, y, &tile);
        __syncthreads();
        if (threadIdx.x == 0)
            tmapi_slides_tally(&s, (TMAPI_SLIDES_SIDE + (y > 0) + (y + 1 < s.tiles_y)) *
                                       (TMAPI_SLIDES_WORDS + (x > 0) + (x + 1 < s.tiles_x)));
        // Either ends with a barrier after the last read of the tile's rows.
        if (tmapi_slides_tiles_settle(&tile, s.map.connectivity == 8) || round == 0) {
            tmapi_slides_tiles_store(&s, x, y, round == 0, &tile);
            tmapi_slides_tiles_send(&s, x, y, tile.reached, round);
        }
    }
}

// Launches a round: blocks that take tiles in turns, at most `blocks`.
static inline cudaError_t tmapi_slides_tiles_round(const tmapi_slides_state *s, tmap_u32 round,
                                                   unsigned blocks, cudaStream_t stream) {
    void *arguments[] = {(void *)s, &round};
    return cudaLaunchKernel((const void *)tmapi_slides_tiles,
                            dim3(s->tiles < blocks ? (unsigned)s->tiles : blocks),
                            dim3(TMAPI_SLIDES_TILES_THREADS), arguments, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

// ---- flood slides -------------------------------------------------------------------------------

// The forms of a flood.
enum {
    TMAP_FLOOD_SLIDES_NAIVE,
    TMAP_FLOOD_SLIDES_LINE,
    TMAP_FLOOD_SLIDES_TILES,
    TMAP_FLOOD_SLIDES_UNIFORM,
    TMAP_FLOOD_SLIDES_FORMS
};

// The name of a form: "naive", "line", "tiles", "uniform"; "?" for any other number.
TMAP_FN const char *tmap_flood_slides_name(int form) {
    return form == TMAP_FLOOD_SLIDES_NAIVE     ? "naive"
           : form == TMAP_FLOOD_SLIDES_LINE    ? "line"
           : form == TMAP_FLOOD_SLIDES_TILES   ? "tiles"
           : form == TMAP_FLOOD_SLIDES_UNIFORM ? "uniform"
                                               : "?";
}

#if TMAP_CUDA && !TMAP_NVRTC

// A flood that is ready to run. Its members are internal.
typedef struct tmap_flood_slides {
    tmapi_slides_state state;
    int form;
    unsigned blocks;
} tmap_flood_slides;

static inline int tmapi_slides_valid(const tmap_raster_map *map) {
    return map && map->width >= 1 && map->width < 1ull << 31 && map->height >= 1 &&
           map->height < 1ull << 31 && map->pitch >= map->width && map->pitch < 1ull << 32 &&
           map->type >= TMAP_RASTER_I16 && map->type <= TMAP_RASTER_F32 &&
           (map->connectivity == 4 || map->connectivity == 8);
}

// Bytes of the workspace of a map, about 1.002 for each cell of its tiles of 128 x 128; 0 for a map
// that tmap_flood_slides_make refuses. Example: width = height = 1000: 64 tiles, 1050048.
static inline tmap_u64 tmap_flood_slides_bytes(const tmap_raster_map *map) {
    tmap_u64 tiles;
    if (!tmapi_slides_valid(map)) return 0;
    tiles = ((map->width + 127) / 128) * ((map->height + 127) / 128);
    return tiles * (128 * 128 + 2 * 8 + 4 + 1) / 16 * 16 + 16 + 64;
}

// Makes a flood of a map.
// form: a form above. map: width and height 1 to 2^31 - 1, pitch below 2^32. heights, out,
// workspace: device memory; heights at a multiple of their size, out of width * height bytes, and
// workspace of tmap_flood_slides_bytes(map) bytes at a multiple of 16. level: lower cells are wet.
// Returns cudaErrorInvalidValue for an argument outside these ranges, else a device query's error.
static inline cudaError_t tmap_flood_slides_make(int form, const tmap_raster_map *map,
                                                 const void *heights, double level, void *workspace,
                                                 unsigned char *out, tmap_flood_slides *flood) {
    const tmap_u64 bytes = map && map->type == TMAP_RASTER_I16 ? 2 : 4;
    tmap_flood_slides f;
    tmapi_slides_state *s = &f.state;
    int device, processors;
    cudaError_t error;
    if (form < 0 || form >= TMAP_FLOOD_SLIDES_FORMS || !tmapi_slides_valid(map) || !heights ||
        (tmap_u64)heights % bytes || !workspace || (tmap_u64)workspace % 16 || !out || !flood)
        return cudaErrorInvalidValue;
    error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    f.form = form, f.blocks = (unsigned)processors * 8;
    s->map = *map, s->test = tmapi_slides_test_make(map, level);
    s->heights = heights, s->out = out;
    s->tiles_x = (map->width + 127) / 128, s->tiles_y = (map->height + 127) / 128;
    s->tiles = s->tiles_x * s->tiles_y, s->pitch = s->tiles_x * TMAPI_SLIDES_WORDS;
    s->counts = (tmap_u64 *)workspace;
    s->queues[0] = s->counts + 8, s->queues[1] = s->queues[0] + s->tiles;
    // Words are at a multiple of 16 bytes: each tile has 16384 bytes of them.
    s->words = (tmap_u32 *)(s->queues[1] + s->tiles);
    s->stamps = s->words + s->tiles * 4096;
    s->kinds = (unsigned char *)(s->stamps + s->tiles);
    s->by_kinds = form == TMAP_FLOOD_SLIDES_UNIFORM, s->tally = 0;
    s->aligned = (tmap_u64)heights % (4 * bytes) == 0 && map->pitch % 4 == 0;
    *flood = f;
    return cudaSuccess;
}

// Launches the beginning of a flood: finds the wet cells, and floods the sources. seeds: seed_count
// of them in device memory; null if there are none. Returns cudaErrorInvalidValue for a null or
// misaligned pointer, else the error of a launch.
static inline cudaError_t tmap_flood_slides_begin(const tmap_flood_slides *flood,
                                                  const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                                  cudaStream_t stream) {
    const tmapi_slides_state *s;
    void *arguments[3];
    cudaError_t error;
    if (!flood || (seed_count && (!seeds || (tmap_u64)seeds % 8))) return cudaErrorInvalidValue;
    s = &flood->state;
    arguments[0] = (void *)s, arguments[1] = &seeds, arguments[2] = &seed_count;
    error = cudaMemsetAsync(s->counts, 0, 64, stream);
    if (error) return error;
    error = cudaLaunchKernel((const void *)tmapi_slides_begin, dim3(tmapi_slides_blocks(s->tiles)),
                             dim3(256), arguments, 0, stream);
    if (error || !seed_count) return error;
    return cudaLaunchKernel((const void *)tmapi_slides_sources,
                            dim3(tmapi_slides_blocks((seed_count + 255) / 256)), dim3(256),
                            arguments, 0, stream);
}

// Launches rounds number `first` to first + count - 1. The first round of a flood is 0; launch each
// round once, in order, up to 2^32 - 2. Returns cudaErrorInvalidValue for a null pointer or too
// many rounds, else the error of a launch.
static inline cudaError_t tmap_flood_slides_rounds(const tmap_flood_slides *flood, tmap_u32 first,
                                                   tmap_u32 count, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    if (!flood || count > 0xffffffffu - first) return cudaErrorInvalidValue;
    for (tmap_u32 round = first; round < first + count && !error; ++round)
        error = flood->form == TMAP_FLOOD_SLIDES_NAIVE
                    ? tmapi_slides_naive_round(&flood->state, round, stream)
                : flood->form == TMAP_FLOOD_SLIDES_LINE
                    ? tmapi_slides_line_round(&flood->state, round, stream)
                    : tmapi_slides_tiles_round(&flood->state, round, flood->blocks, stream);
    return error;
}

// Synchronizes with the rounds below number `next`. Sets *done to 1 if no work is left, and
// *rounds, unless it is null, to the number of rounds that had work. Returns cudaErrorInvalidValue
// for a null pointer, else the error of the copy or the stream.
static inline cudaError_t tmap_flood_slides_look(const tmap_flood_slides *flood, tmap_u32 next,
                                                 int *done, tmap_u64 *rounds, cudaStream_t stream) {
    tmap_u64 counts[4];
    cudaError_t error;
    if (!flood || !done) return cudaErrorInvalidValue;
    error =
        cudaMemcpyAsync(counts, flood->state.counts, sizeof counts, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    if (error) return error;
    *done = counts[next % 3] == 0;
    if (rounds) *rounds = counts[3];
    return cudaSuccess;
}

// Whether later floods count what they read. on: 1 or 0, which is the default. Nothing for a null
// pointer.
static inline void tmap_flood_slides_count(tmap_flood_slides *flood, int on) {
    if (flood) flood->state.tally = on;
}

// Synchronizes with a flood that has ended and that counted. Sets *read to the bytes of heights and
// cells that its threads read in global memory, from beginning to end; not those of sources,
// tables, kinds and counters, and not what naive reads of the neighbours of wet cells. Returns
// cudaErrorInvalidValue for a null pointer, else the error of the copy or the stream. Example:
// line, 128 x 128 cells of 16 bits, all wet, one source, 4 neighbours: 2 rounds of 4 movements read
// 131072 bytes, the beginning and the end 49152: 180224.
static inline cudaError_t tmap_flood_slides_reads(const tmap_flood_slides *flood, tmap_u64 *read,
                                                  cudaStream_t stream) {
    const tmapi_slides_state *s;
    tmap_u64 counts[5], cells, bytes, beside, round = 0;
    cudaError_t error;
    if (!flood || !read) return cudaErrorInvalidValue;
    s = &flood->state;
    error = cudaMemcpyAsync(counts, s->counts, sizeof counts, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    if (error) return error;
    cells = s->map.width * s->map.height, bytes = s->tiles * 128 * 128;
    beside = s->map.connectivity == 8 ? (s->tiles_x - 1) * s->tiles_y * 128 * 2 * 4 : 0;
    if (flood->form == TMAP_FLOOD_SLIDES_NAIVE) round = cells;
    if (flood->form == TMAP_FLOOD_SLIDES_LINE) round = 4 * bytes + 2 * beside;
    *read = cells * (s->map.type == TMAP_RASTER_I16 ? 2 : 4) + counts[3] * round + 4 * counts[4];
    return cudaSuccess;
}

// Launches the end of a flood, which writes the result: 1 for a flooded cell, 0 for any other.
static inline cudaError_t tmap_flood_slides_end(const tmap_flood_slides *flood,
                                                cudaStream_t stream) {
    void *arguments[1];
    if (!flood) return cudaErrorInvalidValue;
    arguments[0] = (void *)&flood->state;
    return cudaLaunchKernel((const void *)tmapi_slides_end,
                            dim3(tmapi_slides_blocks(flood->state.tiles)), dim3(256), arguments, 0,
                            stream);
}

// Runs a flood. The host synchronizes with the device about log2 of the number of rounds times,
// later once in 256 rounds.
// seeds, seed_count: as for tmap_flood_slides_begin. rounds_max: the most rounds that are launched;
// if they do not suffice, nothing is written to `out`. rounds: null, or receives the number of
// rounds.
// Returns cudaSuccess; cudaErrorNotReady if rounds_max is too small; or an error of its parts.
// Cost: the heights are read; a byte for each cell is written at the beginning and read at the end;
// and the rounds. naive: a round reads a byte for each cell; rounds: the cells on the longest path
// of the water. line: a round reads four bytes for each cell; rounds: about the turns of that path.
// tiles: a round is a launch and the work of its tiles; rounds: the tiles on that path.
// Example: 3 x 1 cells of heights 1, 1, 5, level 2, a source at (0, 0): 1, 1, 0.
static inline cudaError_t tmap_flood_slides_run(const tmap_flood_slides *flood,
                                                const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                                tmap_u32 rounds_max, tmap_u64 *rounds,
                                                cudaStream_t stream) {
    cudaError_t error = tmap_flood_slides_begin(flood, seeds, seed_count, stream);
    tmap_u32 next = 0, step = 4;
    int done = 0;
    while (!error && !done) {
        if (step > rounds_max - next) step = rounds_max - next;
        error = tmap_flood_slides_rounds(flood, next, step, stream);
        if (error) return error;
        next += step;
        error = tmap_flood_slides_look(flood, next, &done, rounds, stream);
        if (!error && !done && next == rounds_max) return cudaErrorNotReady;
        if (step < 256) step *= 2;
    }
    return error ? error : tmap_flood_slides_end(flood, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#endif
