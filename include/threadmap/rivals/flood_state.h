// SPDX-License-Identifier: MIT
// flood_state.h: what the floods of flood_slides.h have in common: a byte for each cell, the tables
// of tiles that are to be looked at, and how a flood begins and ends.
//
// The map is covered by tiles of 128 x 128 cells. A cell's byte is 0 if it is dry, 2 if it is wet
// and 3 if it is flooded; four of them make a word. Cells of tiles that are not in the map are dry.
//
// Rounds go on until one changes nothing. Their numbers are in a ring of three counters: round r
// reads counter r % 3, which is not 0 if there is anything left to do, adds to the next one, and
// clears the third. So rounds can be launched ahead, and those that are too many return at once.
#ifndef TMAP_RIVALS_FLOOD_STATE_H
#define TMAP_RIVALS_FLOOD_STATE_H

#include "../adaptive/flood_map.h"
#include "../adaptive/olt.h"

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_SLIDES_SIDE  128u // of a tile, in cells
#define TMAPI_SLIDES_WORDS 32u  // of a row of a tile
#define TMAPI_SLIDES_ONES  0x01010101u

// What a tile is made of.
enum { TMAPI_SLIDES_ALL_DRY, TMAPI_SLIDES_MIXED, TMAPI_SLIDES_ALL_WET, TMAPI_SLIDES_ALL_FLOODED };

// When a height is wet, in the type of the heights: at most `most`, or below `below`; and it is not
// `nodata`, if there is such a value.
typedef struct tmapi_slides_test {
    int has_nodata, most, nodata;
    float below, nodata_float;
} tmapi_slides_test;

// A flood on its way. Arrays in the caller's workspace.
typedef struct tmapi_slides_state {
    tmap_flood_map map;
    tmapi_slides_test test;
    const void *heights;
    unsigned char *out;
    tmap_u64 tiles_x, tiles_y, tiles;
    tmap_u64 pitch;        // words from a row of cells to the next
    tmap_u32 *words;       // tiles_y * 128 rows of them
    tmap_u64 *queues[2];   // tiles that a round has to look at, by turns
    tmap_u64 *counts;      // the ring; then the number of rounds that did anything
    tmap_u32 *stamps;      // for each tile, 1 + the last round in whose queue it is
    unsigned char *kinds;  // for each tile
    int by_kinds, aligned; // whether kinds are used; whether four heights can be read at once
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

// The least float that is not below x; the least of all for a number that is none.
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

// The same as tmap_flood_wet, for all heights of the map's type.
static inline tmapi_slides_test tmapi_slides_test_make(const tmap_flood_map *map, double level) {
    const double nodata = map->nodata;
    tmapi_slides_test t = {0, 0, 0, 0, 0};
    if (map->type == TMAP_FLOOD_F32) {
        t.below = tmapi_slides_float_from(level);
        t.nodata_float = tmapi_slides_float_from(nodata);
        t.has_nodata = map->has_nodata && (double)t.nodata_float == nodata;
        return t;
    }
    t.has_nodata = map->has_nodata && nodata >= -2147483648.0 && nodata <= 2147483647.0;
    if (t.has_nodata) t.nodata = (int)nodata;
    t.has_nodata = t.has_nodata && (double)t.nodata == nodata;
    if (!(level > -2147483648.0)) { // none is wet, nor for a level that is no number
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
    if (here == 4 && s->aligned && type == TMAP_FLOOD_I16) {
        const tmapi_slides_four16 v =
            *(const tmapi_slides_four16 *)((const short *)s->heights + at);
        for (tmap_u32 k = 0; k < 4; ++k) four.h[k] = v.h[k];
    } else if (here == 4 && s->aligned) {
        four = *(const tmapi_slides_four32 *)((const int *)s->heights + at);
    } else {
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k)
            if (k < here)
                four.h[k] = type == TMAP_FLOOD_I16 ? ((const short *)s->heights)[at + k]
                            : type == TMAP_FLOOD_I32
                                ? ((const int *)s->heights)[at + k]
                                : __float_as_int(((const float *)s->heights)[at + k]);
    }
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        const int wet = type == TMAP_FLOOD_F32
                            ? tmapi_slides_wet_float(&s->test, __int_as_float(four.h[k]))
                            : tmapi_slides_wet_int(&s->test, four.h[k]);
        if (wet && k < here) word |= 2u << 8 * k;
    }
    return word;
}

// ---- rounds and tables --------------------------------------------------------------------------

// Whether there is anything to do in a round. Of all kernels of a round one is the first.
TMAP_DEVICE int tmapi_slides_round(const tmapi_slides_state *s, tmap_u32 round, int first) {
    const int active = s->counts[round % 3] != 0;
    if (first && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        s->counts[(round + 2) % 3] = 0;
        if (active) ++s->counts[3];
    }
    return active;
}

// There is something to do in the round after this one.
TMAP_DEVICE void tmapi_slides_again(const tmapi_slides_state *s, tmap_u32 round) {
    s->counts[(round + 1) % 3] = 1;
}

// The table that a round reads.
TMAP_DEVICE tmap_olt tmapi_slides_table(const tmapi_slides_state *s, tmap_u32 round) {
    tmap_olt t;
    t.entries = s->queues[round & 1], t.count = s->counts + round % 3, t.capacity = s->tiles;
    return t;
}

// Puts a tile into the table of a round, once.
TMAP_DEVICE void tmapi_slides_queue(const tmapi_slides_state *s, tmap_u32 round, tmap_u64 tile) {
    if (atomicExch(s->stamps + tile, round + 1) != round + 1)
        tmap_olt_insert(tmapi_slides_table(s, round), tile);
}

// ---- the beginning and the end ------------------------------------------------------------------

// The bytes of a tile, and its kind. Collective for the block.
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
        if (s.map.type == TMAP_FLOOD_I16)
            tmapi_slides_begin_tile(&s, TMAP_FLOOD_I16, tile);
        else if (s.map.type == TMAP_FLOOD_I32)
            tmapi_slides_begin_tile(&s, TMAP_FLOOD_I32, tile);
        else
            tmapi_slides_begin_tile(&s, TMAP_FLOOD_F32, tile);
    }
}

// Floods the wet cells of sources and puts their tiles into the first table.
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

// What has been flooded, as the caller wants it.
static __global__ void __launch_bounds__(256) tmapi_slides_end(tmapi_slides_state s) {
    const int wide = s.map.width % 4 == 0 && (tmap_u64)s.out % 4 == 0;
    for (tmap_u64 tile = blockIdx.x; tile < s.tiles; tile += gridDim.x) {
        const tmap_u64 tile_y = tile / s.tiles_x, tile_x = tile - tile_y * s.tiles_x;
        const tmap_u64 x = tile_x * TMAPI_SLIDES_SIDE + threadIdx.x % 32 * 4;
        const int known = s.by_kinds && s.kinds[tile] != TMAPI_SLIDES_MIXED;
        const tmap_u32 all = s.kinds[tile] == TMAPI_SLIDES_ALL_FLOODED ? TMAPI_SLIDES_ONES : 0;
#pragma unroll 4
        for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE; row += blockDim.x / 32) {
            const tmap_u64 y = tile_y * TMAPI_SLIDES_SIDE + row;
            unsigned char *const at = s.out + y * s.map.width + x;
            tmap_u32 word = all;
            if (x >= s.map.width || y >= s.map.height) continue;
            if (!known) word = s.words[y * s.pitch + x / 4] & TMAPI_SLIDES_ONES;
            if (wide)
                *(tmap_u32 *)at = word;
            else
                for (tmap_u32 k = 0; k < 4 && x + k < s.map.width; ++k)
                    at[k] = (unsigned char)(word >> 8 * k & 1);
        }
    }
}

// So many blocks for a loop over tiles.
static inline unsigned tmapi_slides_blocks(tmap_u64 tiles) {
    return tiles < 1u << 16 ? (unsigned)tiles : 1u << 16;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
