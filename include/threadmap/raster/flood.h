// SPDX-License-Identifier: MIT
// flood.h: the flood of a height map: the cells that water reaches from sources at a level, and the
// area and volume of rising water.
//
// A cell is flooded if it is below the level and a path of such cells joins it to a source. A path
// goes from a cell to one of its 4 neighbours (over edges), or of its 8 (over corners too).
//
//     const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_I16, 4};
//     const tmap_flood_heights heights = {cells, 0};        // device memory
//     const tmap_flood_sources sources = {seeds, 1, level}; // device memory
//     tmap_flood_plan plan;
//     tmap_flood_plan_make(&map, TMAP_FLOOD_U8, 1, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_flood(&plan, heights, sources, workspace, out, stream);
//
// Source: the "construction of regions" of the lecture slides to Filipovic, Plhak, Strelak, HPCS
// 2015: regions of tiles in shared memory, joined over tiles' borders, and one pass that writes.
//
// Five launches for any map:
//     local   converts heights to bits, and finds the components of each block of 512 x 128 cells
//     unite   joins components that touch over the edges of blocks
//     mark    marks those with a source
//     flags   lists the flooded components on blocks' borders
//     last    fills each tile of 32 x 16 cells from its border, and writes the result
#ifndef TMAP_RASTER_FLOOD_H
#define TMAP_RASTER_FLOOD_H

#include "map.h"

// Forms of a result. The result of column x and row y is number y * width + x of bytes or floats.
#define TMAP_FLOOD_U8    0 // a byte: 1 flooded, 0 not
#define TMAP_FLOOD_BITS  1 // a bit: x % 32 of word y * tmap_flood_words(width) + x / 32
#define TMAP_FLOOD_DEPTH 2 // a float: level - height, 0 where not flooded

// Heights in device memory. tiles: null, or what tmap_flood_tiles wrote for them.
typedef struct tmap_flood_heights {
    const void *data, *tiles;
} tmap_flood_heights;

// Sources of a flood and its level. seeds: `count` of them in device memory. level: cells below it
// are wet; for NaN no cell is.
typedef struct tmap_flood_sources {
    const tmap_flood_seed *seeds;
    tmap_u64 count;
    double level;
} tmap_flood_sources;

// Rising water. seeds: in device memory. levels: in host memory, in any order.
typedef struct tmap_flood_rise {
    const tmap_flood_seed *seeds;
    tmap_u64 seed_count;
    const double *levels;
    tmap_u64 level_count;
} tmap_flood_rise;

// The size of a flood.
typedef struct tmap_flood_lake {
    tmap_u64 area; // cells
    double volume; // sum of level - height over them
} tmap_flood_lake;

// The lowest and highest keys (see below) of a tile's cells. Cells that are never wet only count
// for `high`, as the highest of all.
typedef struct tmap_flood_range {
    int low, high;
} tmap_flood_range;

// How a map is divided, and the parts of the workspace.
typedef struct tmap_flood_plan {
    tmap_raster_map map;
    int form;
    tmap_u32 rows, blocks_x, blocks_y; // rows of a block, blocks
    tmap_u64 seeds;                    // the most sources
    tmap_u64 at_parent, at_edges, at_offsets, at_table, at_flags, at_entries, at_kinds, at_sums;
    tmap_u64 workspace; // bytes
} tmap_flood_plan;

// ---- levels -------------------------------------------------------------------------------------
//
// Heights have keys, 32-bit integers in the same order, for ranges of tiles. A single height is
// compared by its bits in memory, in one way for all types: wet heights are a range of bits.

#define TMAPI_FLOOD_KEY_MIN (-2147483647 - 1)
#define TMAPI_FLOOD_KEY_MAX 2147483647

// A level, for heights of a type. By keys: cells with keys <= last are wet, except those with key
// `nodata`; none: 1 if no height is below the level. By bits (16-bit ones sign-extended): wet are
// first, first + 1, ..., first + span, which may wrap around, except those above `top`, which are
// NaN; bits that equal `dry` under `mask` are NODATA.
typedef struct tmapi_flood_level {
    int last, none, nodata, has_nodata;
    tmap_u32 first, span, top, dry, mask;
} tmapi_flood_level;

// The height of a key.
TMAP_FN double tmapi_flood_key_height(int key, int floats) {
    const tmap_u32 bits = (tmap_u32)key ^ (key < 0 ? 0x7fffffffu : 0);
    float height;
    tmapi_raster_copy4(&height, &bits);
    return floats ? tmapi_raster_double(height) : (double)key;
}

// Converts a level for the heights of a map.
TMAP_FN tmapi_flood_level tmapi_flood_level_of(const tmap_raster_map *map, double level) {
    const int floats = map->type == TMAP_RASTER_F32, shorts = map->type == TMAP_RASTER_I16;
    const int least = floats   ? (int)0x807fffffu
                      : shorts ? -32768
                               : TMAPI_FLOOD_KEY_MIN; // -infinity
    tmap_i64 high = floats ? 0x7f7fffff : shorts ? 32767 : TMAPI_FLOOD_KEY_MAX, low = least;
    tmapi_flood_level l;
    l.none = !(tmapi_flood_key_height(least, floats) < level);
    while (low < high) { // finds the last key below the level
        const tmap_i64 middle = high - (high - low) / 2;
        if (tmapi_flood_key_height((int)middle, floats) < level)
            low = middle;
        else
            high = middle - 1;
    }
    l.last = (int)low;
    l.has_nodata = tmapi_raster_nodata(map, &l.nodata);
    l.dry = (tmap_u32)l.nodata, l.mask = floats && l.nodata == 0 ? 0x7fffffffu : ~0u; // 0 and -0
    if (floats) l.nodata = tmapi_raster_float_key(l.dry);
    // negative numbers are first; with floats those nearest to 0
    l.first = 0x80000000u, l.span = (tmap_u32)l.last - l.first;
    l.top = floats ? 0xff800000u : ~0u; // -infinity
    if (floats && l.last < 0) l.first = (tmap_u32)l.last ^ 0x7fffffffu, l.span = l.top - l.first;
    return l;
}

// ---- blocks, tiles and nodes --------------------------------------------------------------------
//
// A block of threads takes 512 columns and 128 (or 64) rows of the map, in tiles of 32 x 16 cells.
// Word w of a row has columns 32 w to 32 w + 31, the lowest in bit 0. The flood is found on the
// blocks' borders: a node is a component of a block with a cell at a position of its border. The
// positions of a block, and so its nodes, are
//     0 to 255     its first row: two columns each, which contain the beginning of one run at most
//     256 to 511   its last row
//     512 to 575   its first column: two rows each
//     576 to 639   its last column

#define TMAPI_FLOOD_WORDS  16u  // of a block's row
#define TMAPI_FLOOD_TILE   16u  // rows of a tile
#define TMAPI_FLOOD_PITCH  272u // words of a row of tiles in the last pass: other banks for each
#define TMAPI_FLOOD_NODES  640u // of a block
#define TMAPI_FLOOD_EDGES  40u  // words of a block's border: rows 16 and 16, columns 4 and 4
#define TMAPI_FLOOD_QUADS  12u  // most words of 8 bytes of a table of runs, for each row
#define TMAPI_FLOOD_NONE   0xffffffffu
#define TMAPI_FLOOD_MARK   0x80000000u // set at the root of a flooded region
#define TMAPI_FLOOD_BORDER 0x8000u     // set if a component is numbered by a node of its block

#define TMAPI_FLOOD_MIXED 0u // a block of wet and dry cells
#define TMAPI_FLOOD_DRY   1u // only dry cells
#define TMAPI_FLOOD_FULL  2u // only wet cells

// The argument of all kernels.
typedef struct tmapi_flood {
    tmap_flood_plan plan;
    tmapi_flood_level level;
    double surface; // the level
    const void *heights;
    const tmap_flood_seed *seeds;
    tmap_u32 seed_count;
    tmap_flood_range *tiles; // of all tiles of all blocks, or null
    double *tile_sums;       // of the heights of each tile
    tmap_u32 *bits;          // blocks_x * 16 words a row
    tmap_u32 *parent;        // of the nodes
    tmap_u32 *edges;         // TMAPI_FLOOD_EDGES words a block
    unsigned short *offsets; // 2 rows + 1 a block: beginnings of tiles' lists in its table
    tmap_u64 *table;         // components of runs on tiles' borders, four in a word
    tmap_u32 *flags;         // 20 words a block: its flooded nodes
    tmap_u32 *entries;       // two words a seed: its node, and its component as in tables
    unsigned char *kinds;    // of each block: TMAPI_FLOOD_MIXED, ...
    tmap_u64 *areas;         // of each block; also sums of its heights
    double *sums;
    void *out;
} tmapi_flood;

TMAP_FN tmap_u64 tmapi_flood_blocks(const tmap_flood_plan *p) {
    return (tmap_u64)p->blocks_x * p->blocks_y;
}

// Bytes of shared memory of a block in the first pass, and in the last.
TMAP_FN tmap_u32 tmapi_flood_local_bytes(tmap_u32 rows) { return 576 * rows + 64; }
TMAP_FN tmap_u32 tmapi_flood_last_bytes(tmap_u32 rows) {
    return rows / 16 * TMAPI_FLOOD_PITCH * 4 + 80 + rows * 32 + rows * TMAPI_FLOOD_QUADS * 8;
}

// Divides a map into blocks of `rows` rows, and the workspace.
TMAP_FN void tmapi_flood_divide(tmap_flood_plan *p, tmap_u32 rows) {
    const tmap_u64 across = (p->map.width + 511) / 512, down = (p->map.height + rows - 1) / rows;
    const tmap_u64 blocks = across * down;
    tmap_u64 end = 0;
    p->rows = rows, p->blocks_x = (tmap_u32)across, p->blocks_y = (tmap_u32)down;
    tmapi_raster_part(&end, blocks * rows * 64); // bits
    p->at_parent = tmapi_raster_part(&end, blocks * TMAPI_FLOOD_NODES * 4);
    p->at_edges = tmapi_raster_part(&end, blocks * TMAPI_FLOOD_EDGES * 4);
    p->at_offsets = tmapi_raster_part(&end, blocks * (2 * rows + 1) * 2);
    p->at_table = tmapi_raster_part(&end, blocks * rows * TMAPI_FLOOD_QUADS * 8);
    p->at_flags = tmapi_raster_part(&end, blocks * (TMAPI_FLOOD_NODES / 8));
    p->at_entries = tmapi_raster_part(&end, p->seeds * 8);
    p->at_kinds = tmapi_raster_part(&end, blocks);
    p->at_sums = tmapi_raster_part(&end, blocks * 16);
    p->workspace = end;
}

// Makes the plan of tmap_flood_plan_make from facts, for the shared memory that a block can have.
// map: its ranges are in raster/map.h; type: TMAP_RASTER_I16, _I32 or _F32. form: TMAP_FLOOD_U8,
// _BITS or _DEPTH. seeds: the most sources of a flood, up to 2^31 - 1; a flood may have fewer.
// plan->workspace: about 3 bits a cell, and 8 bytes a source; 16384 x 16384 cells: 98 MB. Writes
// *plan only on success.
// Returns TMAP_EINVAL for a null pointer and an argument outside its range; TMAP_ERANGE for a map
// of more than 2^31 / 640 blocks of 512 x 128 cells, about 2 * 10^11 cells.
TMAP_FN int tmap_flood_plan_of(const tmap_raster_map *map, int form, tmap_u64 seeds,
                               const tmap_facts *facts, tmap_flood_plan *plan) {
    const tmap_u64 most = 0x7fffffffu;
    tmap_flood_plan p;
    if (!tmapi_raster_valid(map, TMAP_RASTER_I16, TMAP_RASTER_F32) || form < TMAP_FLOOD_U8 ||
        form > TMAP_FLOOD_DEPTH || seeds > most || !facts || !plan)
        return TMAP_EINVAL;
    p.map = *map, p.form = form, p.seeds = seeds;
    tmapi_flood_divide(&p, facts->device.block_shared >= tmapi_flood_local_bytes(128) ? 128 : 64);
    if (tmapi_flood_blocks(&p) * TMAPI_FLOOD_NODES > most) return TMAP_ERANGE;
    *plan = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// A block of threads: its part of the map, and its shared memory.
typedef struct tmapi_flood_block {
    const tmapi_flood *f;
    tmap_u64 number, x, y;          // in raster order; its first column and row
    tmap_u32 rows;                  // local: of a block
    volatile unsigned short *slots; // local: tmapi_flood_slot
    tmap_u32 *bits, *scan;          // local: tmapi_flood_place; a word for each warp, 8 at most
    tmap_u32 *cells;                // last: flooded cells: TMAPI_FLOOD_PITCH words for 16 rows
    tmap_u32 *flags;                // last: of nodes 20 words, then of slots 8 a row
    tmap_u64 *table;                // last: TMAPI_FLOOD_QUADS a row
} tmapi_flood_block;

TMAP_DEVICE tmapi_flood_block tmapi_flood_block_at(const tmapi_flood *f) {
    tmapi_flood_block b;
    b.f = f, b.number = blockIdx.x;
    b.x = (tmap_u64)(blockIdx.x % f->plan.blocks_x) * 512;
    b.y = (tmap_u64)(blockIdx.x / f->plan.blocks_x) * f->plan.rows;
    return b;
}

// Position of a row's word in `bits`: the lanes of a warp, which hold 16 words of rows 8 apart,
// read from 32 banks.
TMAP_DEVICE tmap_u32 tmapi_flood_place(tmap_u32 row, tmap_u32 word) {
    return (row * TMAPI_FLOOD_WORDS + word) ^ (row >> 3 & 1) << 4;
}

TMAP_DEVICE tmap_u32 tmapi_flood_starts(tmap_u32 row) { return row & ~(row << 1); }
// The lowest bit of `bits` and all below it; all bits if there is none.
TMAP_DEVICE tmap_u32 tmapi_flood_upto(tmap_u32 bits) { return bits ^ (bits - 1); }
TMAP_DEVICE tmap_u32 tmapi_flood_wide(tmap_u32 row) { return row | row << 1 | row >> 1; }
// The part of each run of `row` at or above one of its `seeds`: a carry goes from there to its end.
TMAP_DEVICE tmap_u32 tmapi_flood_up(tmap_u32 row, tmap_u32 seeds) {
    return row & (~(row + seeds) | seeds);
}
// The runs of `row` that contain a seed. back: row with its bits reversed.
TMAP_DEVICE tmap_u32 tmapi_flood_whole(tmap_u32 row, tmap_u32 back, tmap_u32 seeds) {
    return __brev(tmapi_flood_up(back, __brev(tmapi_flood_up(row, seeds))));
}

// Position of a seed in a block; returns 0 if it is elsewhere or outside the map.
TMAP_DEVICE int tmapi_flood_seed_here(const tmapi_flood_block *b, tmap_u32 seed, tmap_u32 *x,
                                      tmap_u32 *y) {
    const tmap_flood_seed s = b->f->seeds[seed];
    *x = (tmap_u32)(s.x - b->x), *y = (tmap_u32)(s.y - b->y);
    return s.x < b->f->plan.map.width && s.y < b->f->plan.map.height && s.x >= b->x &&
           s.y >= b->y && s.x - b->x < 512 && s.y - b->y < b->f->plan.rows;
}

// 1 if any seed is in the block. A barrier of the block.
TMAP_DEVICE int tmapi_flood_seeds_here(const tmapi_flood_block *b) {
    int here = 0;
    tmap_u32 x, y;
    for (tmap_u32 i = threadIdx.x; i < b->f->seed_count; i += blockDim.x)
        here |= tmapi_flood_seed_here(b, i, &x, &y);
    return __syncthreads_or(here);
}

// ---- local: heights to bits ---------------------------------------------------------------------
//
// size: here and below, the bytes of a height, 2 or 4; a constant.

#define TMAPI_FLOOD_ALL 0xffffffffu // all tiles of a block are read

TMAP_DEVICE tmap_u32 tmapi_flood_cell(const void *heights, tmap_u64 at, const tmap_u32 size) {
    return size == 2 ? (tmap_u32)((const short *)heights)[at] : ((const tmap_u32 *)heights)[at];
}

// 1 if a height with these bits is below the level; 1 if it is NODATA, for levels that have it.
TMAP_DEVICE int tmapi_flood_cell_below(const tmapi_flood_level *l, tmap_u32 bits) {
    return bits - l->first <= l->span && bits <= l->top;
}
TMAP_DEVICE int tmapi_flood_cell_dry(const tmapi_flood_level *l, tmap_u32 bits) {
    return ((bits ^ l->dry) & l->mask) == 0;
}

// A bit for each of 8 heights of 16 bits, 1 if wet.
TMAP_DEVICE tmap_u32 tmapi_flood_byte(const tmapi_flood_level *l, uint4 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    // 1 if dry: min(max(h, last) - last, 1), two at a time
    const tmap_u32 one = 0x00010001u, last = (tmap_u32)(l->last & 0xffff) * one;
    const tmap_u32 less = (tmap_u32)(-l->last & 0xffff) * one;
    tmap_u32 a = __viaddmin_u16x2(__vmaxs2(v.x, last), less, one);
    tmap_u32 b = __viaddmin_u16x2(__vmaxs2(v.y, last), less, one);
    tmap_u32 c = __viaddmin_u16x2(__vmaxs2(v.z, last), less, one);
    tmap_u32 d = __viaddmin_u16x2(__vmaxs2(v.w, last), less, one), all;
    if (l->has_nodata) {
        const tmap_u32 nodata = (tmap_u32)(l->nodata & 0xffff) * one;
        a |= one ^ __viaddmin_u16x2(v.x ^ nodata, 0, one);
        b |= one ^ __viaddmin_u16x2(v.y ^ nodata, 0, one);
        c |= one ^ __viaddmin_u16x2(v.z ^ nodata, 0, one);
        d |= one ^ __viaddmin_u16x2(v.w ^ nodata, 0, one);
    }
    all = ((d * 4 + c) * 4 + b) * 4 + a;
    return ~(all | all >> 15) & 255u;
#else
    const tmap_u32 two[4] = {v.x, v.y, v.z, v.w};
    tmap_u32 bits = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int height = (short)(two[i / 2] >> i % 2 * 16);
        bits |= (tmap_u32)(height <= l->last && !(l->has_nodata && height == l->nodata)) << i;
    }
    return bits;
#endif
}

// A bit for each of 4 heights of 32 bits: 1 below the level; 1 for NODATA.
TMAP_DEVICE tmap_u32 tmapi_flood_below4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_below(l, v.x) |
           (tmap_u32)tmapi_flood_cell_below(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_below(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_below(l, v.w) << 3;
}
TMAP_DEVICE tmap_u32 tmapi_flood_dry4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_dry(l, v.x) | (tmap_u32)tmapi_flood_cell_dry(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.w) << 3;
}

// A bit for each height of `count` such groups, up to 8. There is a single branch: with one for
// each group, the loads would not be in flight together.
TMAP_DEVICE tmap_u32 tmapi_flood_nibbles(const tmapi_flood_level *l, const uint4 *v,
                                         const tmap_u32 count) {
    tmap_u32 bits = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i) bits |= tmapi_flood_below4(l, v[i]) << 4 * i;
    if (l->has_nodata)
#pragma unroll
        for (tmap_u32 i = 0; i < count; ++i) bits &= ~(tmapi_flood_dry4(l, v[i]) << 4 * i);
    return bits;
}

// Loads a tile of any alignment: each load of the warp reads a row.
TMAP_DEVICE void tmapi_flood_load_tile(const tmapi_flood_block *b, tmap_u32 tile,
                                       const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, word = tile % TMAPI_FLOOD_WORDS;
    const tmap_u32 row = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u64 x = b->x + word * 32 + lane, y = b->y + row;
    tmap_u32 mine = 0, cells[16];
    const tmap_raster_map *map = &b->f->plan.map;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r)
        cells[r] = x < map->width && y + r < map->height
                       ? tmapi_flood_cell(b->f->heights, (y + r) * map->pitch + x, size)
                       : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r) {
        const int inside = x < map->width && y + r < map->height;
        const int wet = inside && tmapi_flood_cell_below(&b->f->level, cells[r]) &&
                        !(b->f->level.has_nodata && tmapi_flood_cell_dry(&b->f->level, cells[r]));
        const tmap_u32 bits = __ballot_sync(~0u, wet);
        if (lane == r) mine = bits;
    }
    if (lane < 16) b->bits[tmapi_flood_place(row + lane, word)] = mine;
}

// 1 if the rows of a block can be read 16 bytes at a time wherever they begin: what is read after a
// row's end is inside the map.
TMAP_DEVICE int tmapi_flood_by_rows(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->plan.map;
    return b->x + 512 <= map->width &&
           b->y + b->f->plan.rows + (map->pitch % (16 / size) != 0) <= map->height &&
           (tmap_u64)b->f->heights % 16 == 0;
}

// Converts heights to bytes of bits, which the lanes hold in the order of cells. v: 8 groups of 16
// bytes a lane, 32 * 16 bytes apart.
TMAP_DEVICE void tmapi_flood_bytes_of(const tmapi_flood_level *l, const uint4 *v, tmap_u32 *bytes,
                                      const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, upper = lane / 16 * 4; // lanes 16 to 31: odd groups
    tmap_u32 own, low, high;
    if (size == 2) {
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) bytes[i] = tmapi_flood_byte(l, v[i]);
        return;
    }
    own = tmapi_flood_nibbles(l, v, 8);
    low = __shfl_sync(~0u, own, (int)(2 * lane % 32)) >> upper & 0x0f0f0f0fu;
    high = __shfl_sync(~0u, own, (int)(2 * lane % 32 + 1)) >> upper & 0x0f0f0f0fu;
    low |= high << 4;
#pragma unroll
    for (tmap_u32 i = 0; i < 4; ++i) bytes[i] = low >> 8 * i & 255;
}

// Loads such a block with 8 loads of 16 bytes in flight. If a row begins between multiples of 16
// bytes, lanes load from the previous multiple and take the missing cells from the next lane.
TMAP_DEVICE void tmapi_flood_load_rows(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmapi_flood_level *l = &b->f->level;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u32 each = 16 / size, rows = 8 / size; // cells of a group; rows at a time
    const tmap_u64 pitch = b->f->plan.map.pitch;
    unsigned char *bytes = (unsigned char *)b->bits;
#pragma unroll 1
    for (tmap_u32 row = warp; row < b->rows; row += rows * warps) {
        const tmap_u64 from = (b->y + row) * pitch + b->x;
        tmap_u32 halves[8];
        uint4 v[8], more[4];
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) {
            const uint4 *groups = (const uint4 *)b->f->heights +
                                  (from + i / size * warps * pitch) / each + i % size * 32;
            v[i] = __ldcs(groups + lane);
            if (i % size == size - 1 && pitch % each && lane == 0)
                more[i / size] = __ldcs(groups + 32);
        }
        tmapi_flood_bytes_of(l, v, halves, size);
#pragma unroll
        for (tmap_u32 i = 0; i < rows; ++i) {
            tmap_u32 left = halves[2 * i], right = halves[2 * i + 1];
            if (pitch % each) {
                const tmap_u32 skip = (tmap_u32)((from + i * warps * pitch) % each);
                const tmap_u32 last = lane        ? 0
                                      : size == 2 ? tmapi_flood_byte(l, more[i])
                                                  : tmapi_flood_nibbles(l, more + i, 1);
                const tmap_u32 middle = __shfl_sync(~0u, right, 0);
                const tmap_u32 end = __shfl_sync(~0u, last, 0);
                const tmap_u32 after_left = __shfl_down_sync(~0u, left, 1);
                const tmap_u32 after_right = __shfl_down_sync(~0u, right, 1);
                left |= (lane < 31 ? after_left : middle) << 8;
                right |= (lane < 31 ? after_right : end) << 8;
                left >>= skip, right >>= skip;
            }
            bytes[tmapi_flood_place(row + i * warps, 0) * 4 + lane] = (unsigned char)left;
            bytes[tmapi_flood_place(row + i * warps, 8) * 4 + lane] = (unsigned char)right;
        }
    }
}

// 1 if the tiles of a block can be read 16 bytes at a time.
TMAP_DEVICE int tmapi_flood_by_tiles(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->plan.map;
    return b->x + 512 <= map->width && b->y + b->f->plan.rows <= map->height &&
           map->pitch % (16 / size) == 0 && (tmap_u64)b->f->heights % 16 == 0;
}

// Reads such a tile: 2 * size lanes have a row, each of them 16 bytes.
TMAP_DEVICE void tmapi_flood_read_tile(const tmapi_flood_block *b, tmap_u32 tile, uint4 *v,
                                       const tmap_u32 size) {
    const tmap_u64 pitch = b->f->plan.map.pitch;
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, rows = 16 / size;
    const char *from = (const char *)b->f->heights +
                       ((b->y + tile / TMAPI_FLOOD_WORDS * 16 + lane / lanes) * pitch + b->x +
                        tile % TMAPI_FLOOD_WORDS * 32 + lane % lanes * rows) *
                           size;
#pragma unroll
    for (tmap_u32 i = 0; i < size; ++i)
        v[i] = __ldcs((const uint4 *)(from + i * rows * pitch * size));
}

// Loads up to 8 / size such tiles of a list, with 8 loads in flight.
TMAP_DEVICE void tmapi_flood_load_tiles(const tmapi_flood_block *b, const tmap_u32 *tiles,
                                        tmap_u32 count, const tmap_u32 size) {
    const tmapi_flood_level *l = &b->f->level;
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, odd = lane % 2;
    tmap_u32 own = 0, other;
    uint4 v[8];
#pragma unroll
    for (tmap_u32 i = 0; i < 8 / size; ++i)
        if (i < count) tmapi_flood_read_tile(b, tiles[i], v + i * size, size);
    if (size == 4) {
        // a byte of two lanes: of groups 0, 2, 4, 6 in the even lane, of the others in the odd one
        own = tmapi_flood_nibbles(l, v, 4);
        if (count > 1) own |= tmapi_flood_nibbles(l, v + 4, 4) << 16;
        other = __shfl_xor_sync(~0u, (odd ? own : own >> 4) & 0x0f0f0f0fu, 1);
        own = odd ? other | (own & 0xf0f0f0f0u) : (own & 0x0f0f0f0fu) | other << 4;
    }
#pragma unroll
    for (tmap_u32 i = 0; i < 16 / size; ++i) { // bytes of the lane, two a tile
        const tmap_u32 tile = tiles[i / 2], group = size == 4 ? 2 * i + odd : i;
        const tmap_u32 row =
            tile / TMAPI_FLOOD_WORDS * 16 + group % size * 16 / size + lane / lanes;
        const tmap_u32 at = tmapi_flood_place(row, tile % TMAPI_FLOOD_WORDS) * 4;
        if (i / 2 < count)
            ((unsigned char *)b->bits)[at + lane % lanes * 2 / size] =
                (unsigned char)(size == 4 ? own >> 8 * i : tmapi_flood_byte(l, v[i]));
    }
}

// For tiles with known ranges: writes the bits of dry and full tiles, and lists the others in the
// memory of the slots. Returns their number; or TMAPI_FLOOD_ALL, without writing anything, if
// reading the complete block by rows is faster. Barriers of the block.
TMAP_DEVICE tmap_u32 tmapi_flood_sort_tiles(const tmapi_flood_block *b) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2;
    const tmap_flood_range range = b->f->tiles[b->number * b->rows + tile];
    const int dry = range.low > b->f->level.last;
    const int full = !dry && range.high <= b->f->level.last && range.high < TMAPI_FLOOD_KEY_MAX;
    tmap_u32 mixed;
    if (threadIdx.x == 0) b->scan[0] = 0;
    mixed = (tmap_u32)__syncthreads_count(half == 0 && !dry && !full);
    if (mixed > b->rows / 4 * 3)
        mixed = TMAPI_FLOOD_ALL;
    else if (dry || full) {
#pragma unroll
        for (tmap_u32 r = 0; r < 8; ++r)
            b->bits[tmapi_flood_place(tile / TMAPI_FLOOD_WORDS * 16 + half * 8 + r,
                                      tile % TMAPI_FLOOD_WORDS)] = full ? ~0u : 0;
    } else if (half == 0)
        b->slots[atomicAdd(b->scan, 1u)] = (unsigned short)tile;
    __syncthreads();
    return mixed;
}

// Loads a block, or the tiles of the list. listed: the result of tmapi_flood_sort_tiles.
TMAP_DEVICE void tmapi_flood_load_cells(const tmapi_flood_block *b, tmap_u32 listed,
                                        const tmap_u32 size) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int all = listed == TMAPI_FLOOD_ALL;
    const tmap_u32 count = all ? b->rows : listed;
    if (all && tmapi_flood_by_rows(b, size))
        tmapi_flood_load_rows(b, size);
    else if (!all && tmapi_flood_by_tiles(b, size))
        for (tmap_u32 i = warp; i < count; i += 8 / size * warps) {
            tmap_u32 tiles[4] = {0, 0, 0, 0}, some = 0;
#pragma unroll
            for (tmap_u32 k = 0; k < 8 / size; ++k)
                if (i + k * warps < count) tiles[k] = b->slots[i + k * warps], ++some;
            tmapi_flood_load_tiles(b, tiles, some, size);
        }
    else
        for (tmap_u32 i = warp; i < count; i += warps)
            tmapi_flood_load_tile(b, all ? i : b->slots[i], size);
}

// Loads a block's bits and stores them in the workspace. Returns the block's kind to all threads.
TMAP_DEVICE tmap_u32 tmapi_flood_load(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    tmap_u32 any = 0, all = ~0u, kind;
    if (f->level.none)
        for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x)
            b->bits[i] = 0;
    else {
        const tmap_u32 listed = f->tiles ? tmapi_flood_sort_tiles(b) : TMAPI_FLOOD_ALL;
        if (f->plan.map.type == TMAP_RASTER_I16)
            tmapi_flood_load_cells(b, listed, 2);
        else
            tmapi_flood_load_cells(b, listed, 4);
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x) {
        const uint4 v = *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
        any |= v.x | v.y | v.z | v.w, all &= v.x & v.y & v.z & v.w;
    }
    kind = __syncthreads_and(!any)         ? TMAPI_FLOOD_DRY
           : __syncthreads_and(all == ~0u) ? TMAPI_FLOOD_FULL
                                           : TMAPI_FLOOD_MIXED;
    if (threadIdx.x == 0) f->kinds[b->number] = (unsigned char)kind;
    if (kind == TMAPI_FLOOD_MIXED)
        for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x)
            *(uint4 *)(f->bits + (b->y + i / 4) * words + b->x / 32 + i % 4 * 4) =
                *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
    return kind;
}

// ---- local: the components of a block -----------------------------------------------------------
//
// 16 threads have 8 rows, each thread 32 columns. Two rows are processed together, a double row:
// its components are intervals of columns, found by arithmetic on words. Each has a slot, which
// holds the slot of another component that it is joined to, or its own: a root. Slots of higher
// components have lower numbers.
//     1  each component points to the first one above that it touches: no two write the same slot
//     2  rounds: all slots jump until they point to roots; then, for each other contact, one of
//        the two roots is put below the other. If two threads do so with one root, one of them
//        succeeds, and the other tries again in the next round
// The wait is mostly for shared memory, so loops have four loads in flight at a time.

#define TMAPI_FLOOD_STRIP  8u // rows of a thread
#define TMAPI_FLOOD_DOUBLE 4u // double rows of a thread

// The slot of component k of a word of a double row, up to 32 of them; banks as tmapi_flood_place.
TMAP_DEVICE tmap_u32 tmapi_flood_slot(tmap_u32 pair, tmap_u32 word, tmap_u32 k) {
    return pair * 512 + ((k >> 1) ^ (pair >> 2 & 1)) * 32 + word * 2 + (k & 1);
}

// The first columns of the components of a double row. eight: connectivity.
TMAP_DEVICE tmap_u32 tmapi_flood_firsts(tmap_u32 a, tmap_u32 b, int eight) {
    const tmap_u32 both = a | b;
    return both & ~(eight ? both << 1 : (a & a << 1) | (b & b << 1));
}

// The number of the component that contains column `bit`, a power of two.
TMAP_DEVICE tmap_u32 tmapi_flood_rank(tmap_u32 firsts, tmap_u32 bit) {
    return (tmap_u32)__popc(firsts & tmapi_flood_upto(bit)) - 1;
}

// The slot of a cell's component, or TMAPI_FLOOD_NONE.
TMAP_DEVICE tmap_u32 tmapi_flood_cell_slot(const tmapi_flood_block *b, tmap_u32 x, tmap_u32 y,
                                           int eight) {
    const tmap_u32 word = x / 32, bit = 1u << x % 32;
    const tmap_u32 upper = b->bits[tmapi_flood_place(y & ~1u, word)];
    const tmap_u32 lower = b->bits[tmapi_flood_place(y | 1, word)];
    if (!((y & 1 ? lower : upper) & bit)) return TMAPI_FLOOD_NONE;
    return tmapi_flood_slot(y / 2, word,
                            tmapi_flood_rank(tmapi_flood_firsts(upper, lower, eight), bit));
}

// The root of a slot: one that holds itself or a node's number.
TMAP_DEVICE tmap_u32 tmapi_flood_root(const tmapi_flood_block *b, tmap_u32 slot) {
    tmap_u32 next;
    while ((next = b->slots[slot]) != slot && !(next & TMAPI_FLOOD_BORDER)) slot = next;
    return slot;
}

// Removes runs that touch only one other run, up to half of the components: the rest is joined as
// before, and the last pass floods the removed runs again. Keeps the cells on the border of a tile.
// For 4-connected cells. Barriers of the block.
TMAP_DEVICE void tmapi_flood_prune(const tmapi_flood_block *b) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 first = strip * TMAPI_FLOOD_STRIP;
    tmap_u32 m[TMAPI_FLOOD_STRIP + 2];
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP + 2; ++r) {
        const tmap_u32 row = first + r - 1;
        m[r] = row < b->rows ? b->bits[tmapi_flood_place(row, word)] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < 2; ++turn) // upwards, then downwards
#pragma unroll
        for (tmap_u32 i = 1; i <= TMAPI_FLOOD_STRIP; ++i) {
            const tmap_u32 r = turn ? i : TMAPI_FLOOD_STRIP + 1 - i;
            const tmap_u32 behind = m[turn ? r - 1 : r + 1], ahead = m[turn ? r + 1 : r - 1];
            const tmap_u32 row = m[r], touch = tmapi_flood_starts(row & ahead);
            // a run is kept for a contact behind, or for a second one ahead: in row + touch, the
            // carry of the first contact ends at the run's end, so the second one remains set
            tmap_u32 stay = (row & (behind | 0x80000001u)) | (touch & (row + touch));
            if ((r == 1 && strip % 2 == 0) || (r == TMAPI_FLOOD_STRIP && strip % 2)) stay = row;
            m[r] = tmapi_flood_whole(row, __brev(row), stay);
        }
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP; ++r)
        b->bits[tmapi_flood_place(first + r, word)] = m[r + 1];
    __syncthreads();
}

// A thread's data of its double rows. firsts: also of the one above them. others: columns of
// further contacts with the double row above. left: the component to the left of the first one, or
// NONE. above_left, above_right: contacts over corners; a bit each.
typedef struct tmapi_flood_strip {
    tmap_u32 firsts[TMAPI_FLOOD_DOUBLE + 1], others[TMAPI_FLOOD_DOUBLE], left[TMAPI_FLOOD_DOUBLE];
    tmap_u32 above_left[TMAPI_FLOOD_DOUBLE], above_right;
} tmapi_flood_strip;

// Makes components and points each to the first one above. No two threads write the same slot.
TMAP_DEVICE void tmapi_flood_point(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 above = 0;
    s->firsts[0] = s->above_right = 0;
    if (strip) {
        above = b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 1, word)];
        s->firsts[0] = tmapi_flood_firsts(
            b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 2, word)], above, eight);
    }
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 row = strip * TMAPI_FLOOD_STRIP + 2 * j, pair = row / 2;
        const tmap_u32 upper = b->bits[tmapi_flood_place(row, word)];
        const tmap_u32 lower = b->bits[tmapi_flood_place(row + 1, word)];
        const tmap_u32 firsts = tmapi_flood_firsts(upper, lower, eight);
        const tmap_u32 last = (tmap_u32)__popc(firsts) - 1;
        // the word to the left: its last column and its last component
        const tmap_u32 edge = upper >> 31 | lower >> 31 << 1 | (last & 31) << 2;
        const tmap_u32 beside = __shfl_up_sync(~0u, edge, 1);
        const int joined = eight ? (upper | lower) & 1 && beside & 3
                                 : (upper & beside & 1) || (lower & beside >> 1 & 1);
        tmap_u32 left = firsts, low = firsts & (0u - firsts), others = 0, k = 0;
        s->left[j] = word && joined ? beside >> 2 : TMAPI_FLOOD_NONE;
        if (eight) {
            const tmap_u32 rank = ((tmap_u32)__popc(s->firsts[j]) - 1) & 31;
            const tmap_u32 before = __shfl_up_sync(~0u, above >> 31 | rank << 1, 1);
            const tmap_u32 after = __shfl_down_sync(~0u, above & 1, 1);
            s->above_left[j] = word && upper & 1 && before & 1 ? before >> 1 : TMAPI_FLOOD_NONE;
            if (word < TMAPI_FLOOD_WORDS - 1 && upper >> 31 && after) s->above_right |= 1u << j;
        }
#pragma unroll 1
        while (left) {
            tmap_u32 next, touch, parent = tmapi_flood_slot(pair, word, k);
            const tmap_u32 slot = parent;
            left &= left - 1;
            next = left & (0u - left);
            touch = upper & (next - low); // the component's columns: from low to below next
            touch = above & (eight ? tmapi_flood_wide(touch) : touch);
            low = next;
            if (touch) {
                parent = tmapi_flood_slot(pair - 1, word,
                                          tmapi_flood_rank(s->firsts[j], touch & (0u - touch)));
                if (j) parent = b->slots[parent];
            }
            b->slots[slot] = (unsigned short)parent;
            // 8-connected contacts of a gap of one column belong to the component to their left
            others |= tmapi_flood_starts(touch) & touch & (touch - 1);
            ++k;
        }
        if (k & 1) { // the other half of its word of memory: a root, so that jumps end there
            const tmap_u32 slot = tmapi_flood_slot(pair, word, k);
            b->slots[slot] = (unsigned short)slot;
        }
        s->others[j] = others, s->firsts[j + 1] = firsts;
        above = lower;
    }
    __syncthreads();
}

// Points all components to roots, two of each double row at a time. most: of a thread's words.
TMAP_DEVICE void tmapi_flood_jump(const tmapi_flood_block *b, const tmapi_flood_strip *s,
                                  tmap_u32 most) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 counts[TMAPI_FLOOD_DOUBLE];
    int changed;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        counts[j] = (tmap_u32)__popc(s->firsts[j + 1]);
    do {
        changed = 0;
#pragma unroll 1
        for (tmap_u32 k = 0; k < most; k += 2) {
            volatile tmap_u32 *twos = (volatile tmap_u32 *)b->slots +
                                      tmapi_flood_slot(strip * TMAPI_FLOOD_DOUBLE, word, k) / 2;
            tmap_u32 up[TMAPI_FLOOD_DOUBLE], top[TMAPI_FLOOD_DOUBLE];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j]) up[j] = twos[j * 256];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j])
                    top[j] = b->slots[up[j] & 0xffff] | (tmap_u32)b->slots[up[j] >> 16] << 16;
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j] && up[j] != top[j]) twos[j * 256] = top[j], changed = 1;
        }
    } while (__syncthreads_or(changed));
}

// Puts the higher root below the lower one, for each pair of slots (x[j], y[j]) that point to
// roots. Returns a bit for each pair with different roots. Equal slots are not a pair.
TMAP_DEVICE tmap_u32 tmapi_flood_hook(const tmapi_flood_block *b, tmap_u32 *x, tmap_u32 *y) {
    tmap_u32 different = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) x[j] = b->slots[x[j]], y[j] = b->slots[y[j]];
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) {
            const tmap_u32 high = x[j] > y[j] ? x[j] : y[j];
            b->slots[high] = (unsigned short)(x[j] ^ y[j] ^ high);
            different |= 1u << j;
        }
    return different;
}

// One round for all contacts except the first ones. Returns 1 if the thread found different roots.
// Drops contacts within one root; the threads that joined it retry if others overwrote that.
TMAP_DEVICE int tmapi_flood_join(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 pair = strip * TMAPI_FLOOD_DOUBLE;
    tmap_u32 others[TMAPI_FLOOD_DOUBLE], x[TMAPI_FLOOD_DOUBLE], y[TMAPI_FLOOD_DOUBLE];
    tmap_u32 different, any = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        others[j] = s->others[j];
        x[j] = y[j] = 0;
        if (s->left[j] != TMAPI_FLOOD_NONE)
            x[j] = tmapi_flood_slot(pair + j, word, 0),
            y[j] = tmapi_flood_slot(pair + j, word - 1, s->left[j]);
    }
    any = different = tmapi_flood_hook(b, x, y);
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (!(different >> j & 1)) s->left[j] = TMAPI_FLOOD_NONE;
    if (eight) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_left[j] != TMAPI_FLOOD_NONE)
                x[j] = tmapi_flood_slot(pair + j, word, 0),
                y[j] = tmapi_flood_slot(pair + j - 1, word - 1, s->above_left[j]);
        }
        any |= tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_right >> j & 1)
                x[j] = tmapi_flood_slot(pair + j, word, (tmap_u32)__popc(s->firsts[j + 1]) - 1),
                y[j] = tmapi_flood_slot(pair + j - 1, word + 1, 0);
        }
        any |= tmapi_flood_hook(b, x, y);
    }
    while (others[0] | others[1] | others[2] | others[3]) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            x[j] = y[j] = 0;
            if (bit)
                x[j] = tmapi_flood_slot(pair + j - 1, word, tmapi_flood_rank(s->firsts[j], bit)),
                y[j] = tmapi_flood_slot(pair + j, word, tmapi_flood_rank(s->firsts[j + 1], bit));
        }
        any |= different = tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            others[j] ^= bit;
            if (!(different >> j & 1)) s->others[j] &= ~bit;
        }
    }
    return any != 0;
}

// Joins the components of a block: all slots then point to roots. Barriers of the block.
TMAP_DEVICE void tmapi_flood_components(const tmapi_flood_block *b, int eight) {
    tmapi_flood_strip s;
    tmap_u32 most = 0;
    tmapi_flood_point(b, &s, eight);
#pragma unroll
    for (tmap_u32 j = 1; j <= TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 count = (tmap_u32)__popc(s.firsts[j]);
        most = count > most ? count : most;
    }
    do tmapi_flood_jump(b, &s, most);
    while (__syncthreads_or(tmapi_flood_join(b, &s, eight)));
}

// ---- local: nodes, and lists of runs on tiles' borders ------------------------------------------

TMAP_DEVICE void tmapi_flood_write_edges(const tmapi_flood_block *b) {
    const tmap_u32 t = threadIdx.x;
    tmap_u32 *edges = b->f->edges + b->number * TMAPI_FLOOD_EDGES;
    if (t < 32)
        edges[t] = b->bits[tmapi_flood_place(t < 16 ? 0 : b->rows - 1, t % 16)];
    else if (t < 64)
        for (tmap_u32 k = 0; k < 8; ++k) {
            const tmap_u32 row = k % 4 * 32 + t % 32;
            const tmap_u32 word =
                row < b->rows ? b->bits[tmapi_flood_place(row, k < 4 ? 0 : TMAPI_FLOOD_WORDS - 1)]
                              : 0;
            const tmap_u32 column = __ballot_sync(~0u, (k < 4 ? word & 1 : word >> 31) != 0);
            if (t == 32) edges[32 + k] = column;
        }
}

// The slot of the component at a node's position, or NONE.
TMAP_DEVICE tmap_u32 tmapi_flood_node_slot(const tmapi_flood_block *b, tmap_u32 node, int eight) {
    tmap_u32 x, y;
    if (node < 512) {
        const tmap_u32 word = node / 16 % TMAPI_FLOOD_WORDS;
        y = node < 256 ? 0 : b->rows - 1;
        const tmap_u32 two =
            tmapi_flood_starts(b->bits[tmapi_flood_place(y, word)]) >> node % 16 * 2 & 3;
        if (!two) return TMAPI_FLOOD_NONE;
        x = word * 32 + node % 16 * 2 + (two >> 1);
    } else {
        y = node % 64 * 2, x = node < 576 ? 0 : 511;
        if (y >= b->rows) return TMAPI_FLOOD_NONE;
        if (!(b->bits[tmapi_flood_place(y, x / 32)] >> x % 32 & 1)) ++y;
    }
    return tmapi_flood_cell_slot(b, x, y, eight);
}

// Numbers the components on the border, each by any of its nodes, and writes the parents of nodes.
// A barrier of the block.
TMAP_DEVICE void tmapi_flood_number(const tmapi_flood_block *b, int eight) {
    tmap_u32 *parent = b->f->parent + b->number * TMAPI_FLOOD_NODES;
    tmap_u32 *pairs = (tmap_u32 *)b->slots, roots[5]; // of up to 5 nodes
#pragma unroll
    for (tmap_u32 i = 0; i < 5; ++i) {
        const tmap_u32 node = threadIdx.x + i * blockDim.x;
        roots[i] = TMAPI_FLOOD_NONE;
        if (node < TMAPI_FLOOD_NODES) roots[i] = tmapi_flood_node_slot(b, node, eight);
        if (roots[i] == TMAPI_FLOOD_NONE) continue;
        const tmap_u32 root = tmapi_flood_root(b, roots[i]), shift = root % 2 * 16;
        for (;;) { // the first thread to arrive
            const tmap_u32 two = *(volatile tmap_u32 *)(pairs + root / 2);
            if (two >> shift & TMAPI_FLOOD_BORDER) break;
            if (atomicCAS(pairs + root / 2, two,
                          two ^ (root ^ (TMAPI_FLOOD_BORDER | node)) << shift) == two)
                break;
        }
        roots[i] = root;
    }
    __syncthreads();
#pragma unroll
    for (tmap_u32 i = 0; i < 5; ++i)
        if (roots[i] != TMAPI_FLOOD_NONE)
            parent[threadIdx.x + i * blockDim.x] = (tmap_u32)b->number * TMAPI_FLOOD_NODES +
                                                   (b->slots[roots[i]] & (TMAPI_FLOOD_BORDER - 1));
}

// The component of a slot: its node's number with TMAPI_FLOOD_BORDER, or its root.
TMAP_DEVICE tmap_u32 tmapi_flood_component(const tmapi_flood_block *b, tmap_u32 slot) {
    const tmap_u32 root = tmapi_flood_root(b, slot), held = b->slots[root];
    return held & TMAPI_FLOOD_BORDER ? held : root;
}

// Writes the node and the component of each seed in the block. Block 0 also writes that seeds
// outside the map have none.
TMAP_DEVICE void tmapi_flood_write_seeds(const tmapi_flood_block *b, tmap_u32 kind, int eight) {
    const tmapi_flood *f = b->f;
    for (tmap_u32 i = threadIdx.x; i < f->seed_count; i += blockDim.x) {
        tmap_u32 node = TMAPI_FLOOD_NONE, component = TMAPI_FLOOD_NONE, x, y;
        const tmap_flood_seed s = f->seeds[i];
        const int outside = s.x >= f->plan.map.width || s.y >= f->plan.map.height;
        if (!(outside ? b->number == 0 : tmapi_flood_seed_here(b, i, &x, &y))) continue;
        if (!outside && kind == TMAPI_FLOOD_FULL) component = TMAPI_FLOOD_BORDER; // node 0
        if (!outside && kind == TMAPI_FLOOD_MIXED) {
            const tmap_u32 slot = tmapi_flood_cell_slot(b, x, y, eight);
            if (slot != TMAPI_FLOOD_NONE) component = tmapi_flood_component(b, slot);
        }
        if (component != TMAPI_FLOOD_NONE && component & TMAPI_FLOOD_BORDER)
            node = (tmap_u32)b->number * TMAPI_FLOOD_NODES + (component & (TMAPI_FLOOD_BORDER - 1));
        f->entries[2 * i] = node, f->entries[2 * i + 1] = component;
    }
}

// A list of components, written four at a time.
typedef struct tmapi_flood_list {
    tmap_u64 *to, four;
    tmap_u32 count;
} tmapi_flood_list;

TMAP_DEVICE void tmapi_flood_append(tmapi_flood_list *l, tmap_u32 component) {
    l->four = l->four >> 16 | (tmap_u64)component << 48;
    if (++l->count % 4 == 0) *l->to++ = l->four;
}

// Writes the lists of the tiles: components in the order of runs. An even thread writes those of a
// tile's first row, then of its first column; an odd one those of its last row and column.
TMAP_DEVICE void tmapi_flood_write_lists(const tmapi_flood_block *b, int eight) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2;
    const tmap_u32 word = tile % TMAPI_FLOOD_WORDS, top = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u32 y = top + 15 * half;
    unsigned short *offsets = b->f->offsets + b->number * (blockDim.x + 1);
    tmapi_flood_list list = {0, 0, 0};
    const tmap_u32 upper = b->bits[tmapi_flood_place(y & ~1u, word)];
    const tmap_u32 lower = b->bits[tmapi_flood_place(y | 1, word)];
    const tmap_u32 firsts = tmapi_flood_firsts(upper, lower, eight);
    tmap_u32 row, column = 0, quads, sum, at;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r) {
        const tmap_u32 bits = b->bits[tmapi_flood_place(top + r, word)];
        column |= (half ? bits >> 31 : bits & 1) << r;
    }
    row = tmapi_flood_starts(half ? lower : upper);
    column = tmapi_flood_starts(column);
    quads = ((tmap_u32)__popc(row) + (tmap_u32)__popc(column) + 3) / 4;
    sum = tmapi_warp_scan(threadIdx.x % 32, quads);
    if (threadIdx.x % 32 == 31) b->scan[threadIdx.x / 32] = sum;
    __syncthreads();
    at = sum - quads;
    for (tmap_u32 w = 0; w < threadIdx.x / 32; ++w) at += b->scan[w];
    offsets[threadIdx.x] = (unsigned short)at;
    if (threadIdx.x == blockDim.x - 1) offsets[blockDim.x] = (unsigned short)(at + quads);
    list.to = b->f->table + b->number * b->rows * TMAPI_FLOOD_QUADS + at;
    for (; row; row &= row - 1) {
        const tmap_u32 rank = tmapi_flood_rank(firsts, row & (0u - row));
        tmapi_flood_append(&list, tmapi_flood_component(b, tmapi_flood_slot(y / 2, word, rank)));
    }
    for (; column; column &= column - 1) {
        const tmap_u32 x = word * 32 + 31 * half, r = top + (tmap_u32)__ffs((int)column) - 1;
        tmapi_flood_append(&list, tmapi_flood_component(b, tmapi_flood_cell_slot(b, x, r, eight)));
    }
    if (list.count % 4) *list.to = list.four >> 16 * (4 - list.count % 4);
}

// Blocks of 2 * rows threads.
static __global__ void __launch_bounds__(256, 3) tmapi_flood_local_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    const int eight = f.plan.map.connectivity == 8;
    tmapi_flood_block b = tmapi_flood_block_at(&f);
    tmap_u32 kind;
    b.rows = f.plan.rows;

    int seeds;
    b.slots = (unsigned short *)tmapi_flood_shared; // first, so that slots have a constant base
    b.bits = (tmap_u32 *)tmapi_flood_shared + 128 * b.rows;
    b.scan = b.bits + TMAPI_FLOOD_WORDS * b.rows;
    kind = tmapi_flood_load(&b), seeds = tmapi_flood_seeds_here(&b);
    tmapi_flood_write_edges(&b);
    if (kind == TMAPI_FLOOD_MIXED) {
        __syncthreads();
        if (!eight && !seeds) tmapi_flood_prune(&b); // a seed may be on any cell
        if (eight)
            tmapi_flood_components(&b, 1);
        else
            tmapi_flood_components(&b, 0);
        tmapi_flood_number(&b, eight);
        tmapi_flood_write_lists(&b, eight);
    } else if (kind == TMAPI_FLOOD_FULL) // node 0 is its only node
        for (tmap_u32 node = threadIdx.x; node < TMAPI_FLOOD_NODES; node += blockDim.x)
            if (tmapi_flood_node_slot(&b, node, eight) != TMAPI_FLOOD_NONE)
                f.parent[b.number * TMAPI_FLOOD_NODES + node] =
                    (tmap_u32)b.number * TMAPI_FLOOD_NODES;
    if (seeds || b.number == 0) tmapi_flood_write_seeds(&b, kind, eight);
}

// ---- unite, mark, flags: the nodes of all blocks ------------------------------------------------

#define TMAPI_FLOOD_UNITE 320u // threads of a block: 16 for each of 20 words of edges

// Nodes are in the order of their numbers.
TMAP_DEVICE int tmapi_flood_lower(const void *job, tmap_u32 a, tmap_u32 b) {
    return (void)job, a < b;
}
TMAP_DEVICE void tmapi_flood_unite(tmap_u32 *parent, tmap_u32 a, tmap_u32 b) {
    tmapi_forest_unite(parent, a, b, tmapi_flood_lower, 0);
}

// The node of the run of a word `row` that contains column `bit`. first: the word's first node.
TMAP_DEVICE tmap_u32 tmapi_flood_run_node(tmap_u32 first, tmap_u32 row, tmap_u32 bit) {
    const tmap_u32 start = tmapi_flood_starts(row) & tmapi_flood_upto(bit);
    return first + (31 - (tmap_u32)__clz((int)start)) / 2;
}

// Unites over the columns `part` of a word of a block's last row with the block below.
TMAP_DEVICE void tmapi_flood_unite_row(const tmapi_flood *f, tmap_u32 block, tmap_u32 word,
                                       tmap_u32 part) {
    const tmap_u32 eight = f->plan.map.connectivity == 8, across = f->plan.blocks_x;
    const tmap_u32 *upper = f->edges + (tmap_u64)block * TMAPI_FLOOD_EDGES + 16;
    const tmap_u32 *lower = f->edges + (tmap_u64)(block + across) * TMAPI_FLOOD_EDGES;
    const tmap_u32 a = upper[word], b = lower[word];
    const tmap_u32 from = block * TMAPI_FLOOD_NODES + 256 + word * 16;
    const tmap_u32 to = (block + across) * TMAPI_FLOOD_NODES + word * 16;
    tmap_u32 touch = tmapi_flood_starts(a & b) & part;               // one bit at most
    if (word) touch &= ~((upper[word - 1] & lower[word - 1]) >> 31); // it continues
    if (touch)
        tmapi_flood_unite(f->parent, tmapi_flood_run_node(from, a, touch),
                          tmapi_flood_run_node(to, b, touch));
    if (!eight) return;
#pragma unroll
    for (int right = 0; right < 2; ++right) { // with the column to the left, or to the right
        touch = a & (right ? b >> 1 : b << 1) & ~(right ? a >> 1 : a << 1) & ~b & part;
        while (touch) {
            const tmap_u32 bit = touch & (0u - touch);
            touch ^= bit;
            tmapi_flood_unite(f->parent, tmapi_flood_run_node(from, a, bit),
                              tmapi_flood_run_node(to, b, right ? bit << 1 : bit >> 1));
        }
    }
#pragma unroll
    for (int right = 0; right < 2; ++right) { // in the word to the left, or to the right
        const tmap_u32 end = right ? 0x80000000u : 1, w = (word + (right ? 1 : 15)) % 16;
        const int beside = right ? word == 15 : word == 0; // in another block, if it exists
        const int there = right ? block % across + 1 < across : block % across != 0;
        const tmap_u32 other = (beside ? right ? block + 1 : block - 1 : block) + across;
        tmap_u32 c;
        if (!(part & a & end) || (beside && !there)) continue;
        c = f->edges[(tmap_u64)other * TMAPI_FLOOD_EDGES + w];
        if (!(b & end) && (right ? c & 1 : c >> 31))
            tmapi_flood_unite(f->parent, tmapi_flood_run_node(from, a, end),
                              tmapi_flood_run_node(other * TMAPI_FLOOD_NODES + w * 16, c,
                                                   right ? 1 : 0x80000000u));
    }
}

// Unites over the rows `part`, of 32, of a block's last column with the next block.
TMAP_DEVICE void tmapi_flood_unite_column(const tmapi_flood *f, tmap_u32 block, tmap_u32 word,
                                          tmap_u32 part) {
    const tmap_u32 *left = f->edges + (tmap_u64)block * TMAPI_FLOOD_EDGES + 36;
    const tmap_u32 *right = f->edges + (tmap_u64)(block + 1) * TMAPI_FLOOD_EDGES + 32;
    const tmap_u32 a = left[word], b = right[word];
    const tmap_u32 from = block * TMAPI_FLOOD_NODES + 576 + word * 16;
    const tmap_u32 to = (block + 1) * TMAPI_FLOOD_NODES + 512 + word * 16;
    const int eight = f->plan.map.connectivity == 8;
    // by double rows: the even bit of each
    tmap_u32 touch = tmapi_flood_starts(a & b);
    if (word) touch &= ~((left[word - 1] & right[word - 1]) >> 31);
    if (eight) touch = (a | a >> 1) & (b | b >> 1) & 0x55555555u;
    touch &= part;
    while (touch) {
        const tmap_u32 at = (31 - (tmap_u32)__clz((int)touch)) / 2;
        touch &= ~(3u << 2 * at);
        tmapi_flood_unite(f->parent, from + at, to + at);
    }
    if (!eight) return;
    // over a corner, from the last row of a double row to the first one of the next
    const tmap_u32 next_a = word < 3 ? left[word + 1] : 0, next_b = word < 3 ? right[word + 1] : 0;
    tmap_u32 down = a & (b >> 1 | next_b << 31) & 0xaaaaaaaau & part;
    tmap_u32 up = b & (a >> 1 | next_a << 31) & 0xaaaaaaaau & part;
    while (down | up) {
        const tmap_u32 at = (31 - (tmap_u32)__clz((int)(down | up))) / 2, bit = 2u << 2 * at;
        if (down & bit) tmapi_flood_unite(f->parent, from + at, to + at + 1);
        if (up & bit) tmapi_flood_unite(f->parent, from + at + 1, to + at);
        down &= ~bit, up &= ~bit;
    }
}

// Joins the nodes of touching blocks. A thread has two columns or rows of one of 20 words of a
// block's edges, so that lanes read neighbouring nodes.
static __global__ void __launch_bounds__(TMAPI_FLOOD_UNITE)
    tmapi_flood_unite_kernel(tmapi_flood f) {
    const tmap_u32 block = blockIdx.x, word = threadIdx.x / 16, part = 3u << threadIdx.x % 16 * 2;
    const tmap_u32 across = f.plan.blocks_x;
    if (word < 16) {
        if (block / across + 1 < f.plan.blocks_y) tmapi_flood_unite_row(&f, block, word, part);
    } else if (block % across + 1 < across)
        tmapi_flood_unite_column(&f, block, word - 16, part);
}

// Marks the roots of the seeds' nodes, a thread a seed.
static __global__ void tmapi_flood_mark_kernel(tmapi_flood f) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 node, next;
    if (i >= f.seed_count || (node = f.entries[2 * i]) == TMAPI_FLOOD_NONE) return;
    while ((next = __ldcg(f.parent + node) & ~TMAPI_FLOOD_MARK) != node) node = next;
    atomicOr(f.parent + node, TMAPI_FLOOD_MARK);
}

// Writes which nodes are flooded, a thread a node.
static __global__ void __launch_bounds__(TMAPI_FLOOD_NODES)
    tmapi_flood_flags_kernel(tmapi_flood f) {
    const tmap_u32 n = threadIdx.x;
    const tmap_u32 *edges = f.edges + (tmap_u64)blockIdx.x * TMAPI_FLOOD_EDGES;
    const tmap_u32 two =
        (n < 512 ? tmapi_flood_starts(edges[n / 16]) : edges[32 + (n - 512) / 16]) >> n % 16 * 2 &
        3;
    const tmap_u32 node = blockIdx.x * TMAPI_FLOOD_NODES + n;
    tmap_u32 top = 0, bits;
    if (two) {
        tmap_u32 up = __ldcg(f.parent + node) & ~TMAPI_FLOOD_MARK;
        for (; ((top = __ldcg(f.parent + up)) & ~TMAPI_FLOOD_MARK) != up; up = top)
            TMAPI_STCG(f.parent + node, top); // only roots are marked
    }
    bits = __ballot_sync(~0u, top >> 31);
    if (n % 32 == 0) f.flags[(tmap_u64)blockIdx.x * (TMAPI_FLOOD_NODES / 32) + n / 32] = bits;
}

// ---- last: the tiles ----------------------------------------------------------------------------
//
// A thread has a tile of 32 x 16 cells in registers. Water spreads along a row by carries, from a
// word's low bits up, and from those of its reverse up. A step would need both orders, so rows
// alternate between them. From row to row it goes down and up again until nothing changes.

// A tile's wet cells, in both orders of bits.
typedef struct tmapi_flood_tile {
    tmap_u32 row[TMAPI_FLOOD_TILE], back[TMAPI_FLOOD_TILE];
} tmapi_flood_tile;

// Index of the word of a row of a block in `cells`.
TMAP_DEVICE tmap_u32 tmapi_flood_cell_word(tmap_u32 row, tmap_u32 word) {
    return row / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH + row % TMAPI_FLOOD_TILE * TMAPI_FLOOD_WORDS +
           word;
}

// Spreads water to row r. from: water of the row before, in its order; to: water of row r, in the
// order of row r.
TMAP_DEVICE tmap_u32 tmapi_flood_spread(const tmapi_flood_tile *t, int r, tmap_u32 from,
                                        tmap_u32 to, int eight) {
    const tmap_u32 theirs = r & 1 ? t->row[r] : t->back[r]; // row r in the order of its neighbours
    const tmap_u32 own = r & 1 ? t->back[r] : t->row[r];
    const tmap_u32 reach = theirs & (eight ? tmapi_flood_wide(from) : from);
    return tmapi_flood_up(own, __brev(tmapi_flood_up(theirs, reach)) | to);
}

// Fills a tile. fill: complete runs, the words of odd rows reversed. All lanes participate.
TMAP_DEVICE void tmapi_flood_fill(const tmapi_flood_tile *t, tmap_u32 *fill, int eight) {
    tmap_u32 changed;
    do {
        changed = 0;
#pragma unroll
        for (int r = 1; r < (int)TMAPI_FLOOD_TILE; ++r)
            fill[r] = tmapi_flood_spread(t, r, fill[r - 1], fill[r], eight);
#pragma unroll
        for (int r = (int)TMAPI_FLOOD_TILE - 2; r >= 0; --r) {
            const tmap_u32 now = tmapi_flood_spread(t, r, fill[r + 1], fill[r], eight);
            changed |= now ^ fill[r], fill[r] = now;
        }
    } while (__any_sync(~0u, changed != 0));
}

// Reads the flags of a block's components: those of nodes, and of those that contain a seed; and
// the seeds, into `cells`.
TMAP_DEVICE void tmapi_flood_read_flags(const tmapi_flood_block *b, int seeds) {
    const tmapi_flood *f = b->f;
    const tmap_u32 words = b->f->plan.rows / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH;
    for (tmap_u32 i = threadIdx.x; i < 20; i += blockDim.x)
        b->flags[i] = f->flags[b->number * 20 + i];
    if (seeds) {
        for (tmap_u32 i = threadIdx.x; i < 8 * b->f->plan.rows; i += blockDim.x)
            b->flags[20 + i] = 0;
        for (tmap_u32 i = threadIdx.x; i < words; i += blockDim.x) b->cells[i] = 0;
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; seeds && i < f->seed_count; i += blockDim.x) {
        tmap_u32 x, y, component, at;
        if (!tmapi_flood_seed_here(b, i, &x, &y)) continue;
        component = f->entries[2 * i + 1];
        if (component == TMAPI_FLOOD_NONE) continue;
        at = component & TMAPI_FLOOD_BORDER ? component ^ TMAPI_FLOOD_BORDER : 640 + component;
        atomicOr(b->flags + at / 32, 1u << at % 32);
        atomicOr(b->cells + tmapi_flood_cell_word(y, x / 32), 1u << x % 32);
    }
}

// Returns those of `runs`, beginnings of runs, whose component is flooded; a list has components.
TMAP_DEVICE tmap_u32 tmapi_flood_flooded(const tmapi_flood_block *b, const unsigned short **list,
                                         tmap_u32 runs, int seeds) {
    tmap_u32 flooded = 0;
    while (runs) {
        const tmap_u32 bit = runs & (0u - runs), component = *(*list)++;
        const tmap_u32 border = component & TMAPI_FLOOD_BORDER;
        const tmap_u32 at = border ? component ^ TMAPI_FLOOD_BORDER : 640 + component;
        if ((border || seeds) && b->flags[at / 32] >> at % 32 & 1) flooded |= bit;
        runs ^= bit;
    }
    return flooded;
}

// Floods the calling thread's tile of a mixed block, into `cells`. Barriers of the block.
TMAP_DEVICE void tmapi_flood_tile_of(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    const tmap_u32 t = threadIdx.x, word = t % TMAPI_FLOOD_WORDS, top = t / 16 * TMAPI_FLOOD_TILE;
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    const tmap_u32 *from = f->bits + (b->y + top) * words + b->x / 32 + word;
    const unsigned short *offsets = f->offsets + b->number * (2 * b->f->plan.rows + 1), *list;
    tmap_u32 *cells = b->cells + tmapi_flood_cell_word(top, word);
    tmap_u32 fill[TMAPI_FLOOD_TILE], any = 0, all = ~0u, left = 0, right = 0, total;
    tmap_u32 flooded_row, flooded_last, flooded_left, flooded_right, some;
    tmapi_flood_tile tile;
    const int seeds = tmapi_flood_seeds_here(b);
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) tile.row[r] = from[r * words];
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        tile.back[r] = __brev(tile.row[r]);
        any |= tile.row[r], all &= tile.row[r];
        left |= (tile.row[r] & 1) << r, right |= tile.row[r] >> 31 << r;
    }
    tmapi_flood_read_flags(b, seeds);
    total = offsets[2 * b->f->plan.rows];
    for (tmap_u32 i = t; i < total; i += blockDim.x)
        b->table[i] = f->table[b->number * b->f->plan.rows * TMAPI_FLOOD_QUADS + i];
    __syncthreads();
    list = (const unsigned short *)(b->table + offsets[2 * t]);
    flooded_row = tmapi_flood_flooded(b, &list, tmapi_flood_starts(tile.row[0]), seeds);
    flooded_left = tmapi_flood_flooded(b, &list, tmapi_flood_starts(left), seeds);
    list = (const unsigned short *)(b->table + offsets[2 * t + 1]);
    flooded_last =
        tmapi_flood_flooded(b, &list, tmapi_flood_starts(tile.row[TMAPI_FLOOD_TILE - 1]), seeds);
    flooded_right = tmapi_flood_flooded(b, &list, tmapi_flood_starts(right), seeds);
    some = flooded_row | flooded_last | flooded_left | flooded_right;
    if (__any_sync(~0u, any && (some || seeds) && !(some && all == ~0u))) {
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
            tmap_u32 seed = (flooded_left >> r & 1) | (flooded_right >> r & 1) << 31;
            if (seeds) seed |= cells[r * TMAPI_FLOOD_WORDS] & tile.row[r];
            if (r == 0) seed |= flooded_row;
            if (r == TMAPI_FLOOD_TILE - 1) seed |= flooded_last;
            seed = tmapi_flood_up(tile.back[r], __brev(tmapi_flood_up(tile.row[r], seed)));
            fill[r] = r & 1 ? seed : __brev(seed);
        }
        if (f->plan.map.connectivity == 8)
            tmapi_flood_fill(&tile, fill, 1);
        else
            tmapi_flood_fill(&tile, fill, 0);
#pragma unroll
        for (tmap_u32 r = 1; r < TMAPI_FLOOD_TILE; r += 2) fill[r] = __brev(fill[r]);
    } else
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
            fill[r] = some && all == ~0u ? ~0u : 0; // a tile without a dry cell
    __syncthreads();                                // seeds have been read
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) cells[r * TMAPI_FLOOD_WORDS] = fill[r];
}

// ---- last: bytes, bits, depths, or area and volume ----------------------------------------------

#define TMAPI_FLOOD_MEASURE 3 // a form: area and sum of heights of each block

// Four bits as four bytes.
TMAP_DEVICE tmap_u32 tmapi_flood_bytes4(tmap_u32 bits) {
    return (bits & 15) * 0x00204081u & 0x01010101u;
}

// A warp writes a row: 16 cells a lane from the first multiple of 16 bytes on, and the cells before
// and after these one by one.
TMAP_DEVICE void tmapi_flood_write_bytes(const tmapi_flood_block *b) {
    const tmap_u64 width = b->f->plan.map.width, rows_left = b->f->plan.map.height - b->y;
    const tmap_u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u32 rows = rows_left < b->f->plan.rows ? (tmap_u32)rows_left : b->f->plan.rows;
    const tmap_u32 columns = width - b->x < 512 ? (tmap_u32)(width - b->x) : 512;
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < rows; row += warps) {
        unsigned char *out = (unsigned char *)b->f->out + (b->y + row) * width + b->x;
        const tmap_u32 *cells = b->cells + tmapi_flood_cell_word(row, 0);
        const tmap_u32 head = (tmap_u32)(0 - (tmap_u64)out) % 16, x = head + lane * 16;
        const tmap_u32 tail = columns < head ? columns : (columns - head) / 16 * 16 + head;
        if (x + 16 <= columns) {
            const tmap_u32 word = cells[x / 32], next = x % 32 > 16 ? cells[x / 32 + 1] : 0;
            const tmap_u32 bits = __funnelshift_r(word, next, x % 32);
            TMAPI_STCS((uint4 *)(out + x),
                       make_uint4(tmapi_flood_bytes4(bits), tmapi_flood_bytes4(bits >> 4),
                                  tmapi_flood_bytes4(bits >> 8), tmapi_flood_bytes4(bits >> 12)));
        }
        if (lane < head && lane < columns) out[lane] = (unsigned char)(cells[0] >> lane & 1);
        if (tail + lane < columns)
            out[tail + lane] = (unsigned char)(cells[(tail + lane) / 32] >> (tail + lane) % 32 & 1);
    }
}

TMAP_DEVICE void tmapi_flood_write_bits(const tmapi_flood_block *b) {
    const tmap_u64 words = tmap_flood_words(b->f->plan.map.width);
    tmap_u32 *out = (tmap_u32 *)b->f->out + b->y * words + b->x / 32;
    for (tmap_u32 i = threadIdx.x; i < b->f->plan.rows * TMAPI_FLOOD_WORDS; i += blockDim.x) {
        const tmap_u32 row = i / TMAPI_FLOOD_WORDS, word = i % TMAPI_FLOOD_WORDS;
        if (b->x / 32 + word < words && b->y + row < b->f->plan.map.height)
            out[row * words + word] = b->cells[tmapi_flood_cell_word(row, word)];
    }
}

TMAP_DEVICE float tmapi_flood_depth(const tmapi_flood *f, tmap_u32 bits, const int type) {
    return tmapi_raster_float(f->surface - (type == TMAP_RASTER_F32
                                                ? tmapi_raster_double(__uint_as_float(bits))
                                                : (int)bits));
}

// The bits of four consecutive heights at a multiple of 4 * size bytes.
TMAP_DEVICE uint4 tmapi_flood_cells4(const void *heights, tmap_u64 at, const tmap_u32 size) {
    if (size == 2) {
        const uint2 v = __ldcs((const uint2 *)((const short *)heights + at));
        return make_uint4((tmap_u32)(short)v.x, (tmap_u32)((int)v.x >> 16), (tmap_u32)(short)v.y,
                          (tmap_u32)((int)v.y >> 16));
    }
    return __ldcs((const uint4 *)((const tmap_u32 *)heights + at));
}

// A warp writes a row: four cells a lane from the first multiple of 16 bytes on, and the cells
// before and after these one by one. Heights are read only for flooded cells, with four loads in
// flight. type: a constant.
TMAP_DEVICE void tmapi_flood_write_depths(const tmapi_flood_block *b, const int type) {
    const tmapi_flood *f = b->f;
    const tmap_raster_map *map = &f->plan.map;
    const tmap_u64 rows_left = map->height - b->y, columns_left = map->width - b->x;
    const tmap_u32 lane = threadIdx.x % 32, size = type == TMAP_RASTER_I16 ? 2 : 4;
    const tmap_u32 rows = rows_left < b->f->plan.rows ? (tmap_u32)rows_left : b->f->plan.rows;
    const tmap_u32 columns = columns_left < 512 ? (tmap_u32)columns_left : 512;
#pragma unroll 1
    for (tmap_u32 row = threadIdx.x / 32; row < rows; row += blockDim.x / 32) {
        const tmap_u32 *bits = b->cells + tmapi_flood_cell_word(row, 0);
        const tmap_u64 from = (b->y + row) * map->pitch + b->x;
        float *out = (float *)f->out + (b->y + row) * map->width + b->x;
        const tmap_u32 head = (tmap_u32)(0 - (tmap_u64)out / 4) % 4, x = head + lane * 4;
        const tmap_u32 tail = columns < head ? columns : (columns - head) / 4 * 4 + head;
        const tmap_u32 edge = lane < head ? lane : tail + lane - head;
        const int whole = ((tmap_u64)f->heights + (from + head) * size) % (4 * size) == 0;
        tmap_u32 flooded[4];
        uint4 cells[4];
#pragma unroll
        for (tmap_u32 i = 0; i < 4; ++i) {
            const tmap_u32 at = x + i * 128, last = (at + 3) % 512; // of the same word or the next
            flooded[i] = __funnelshift_r(bits[at / 32], bits[last / 32], at % 32) & 15;
            if (at + 4 > columns) flooded[i] = 0;
            cells[i] = make_uint4(0, 0, 0, 0);
        }
        if (whole)
#pragma unroll
            for (tmap_u32 i = 0; i < 4; ++i) {
                if (flooded[i]) cells[i] = tmapi_flood_cells4(f->heights, from + x + i * 128, size);
            }
        else
#pragma unroll
            for (tmap_u32 i = 0; i < 4; ++i) {
                const tmap_u64 at = from + x + i * 128;
                if (flooded[i])
                    cells[i] = make_uint4(tmapi_flood_cell(f->heights, at, size),
                                          tmapi_flood_cell(f->heights, at + 1, size),
                                          tmapi_flood_cell(f->heights, at + 2, size),
                                          tmapi_flood_cell(f->heights, at + 3, size));
            }
#pragma unroll
        for (tmap_u32 i = 0; i < 4; ++i) {
            // of all four: a conversion under a condition would be a branch
            const float4 all = make_float4(
                tmapi_flood_depth(f, cells[i].x, type), tmapi_flood_depth(f, cells[i].y, type),
                tmapi_flood_depth(f, cells[i].z, type), tmapi_flood_depth(f, cells[i].w, type));
            const float4 depth =
                make_float4(flooded[i] & 1 ? all.x : 0, flooded[i] & 2 ? all.y : 0,
                            flooded[i] & 4 ? all.z : 0, flooded[i] & 8 ? all.w : 0);
            if (x + i * 128 + 4 <= columns) TMAPI_STCS((float4 *)(out + x + i * 128), depth);
        }
        if (edge < columns)
            out[edge] =
                bits[edge / 32] >> edge % 32 & 1
                    ? tmapi_flood_depth(f, tmapi_flood_cell(f->heights, from + edge, size), type)
                    : 0;
    }
}

// The sum over a warp, in lane 0.
TMAP_DEVICE double tmapi_flood_sum(double x) {
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
    return x;
}

// Sum of the heights of the flooded cells of a lane's column of a tile with words `words`. All
// loads are in flight together.
TMAP_DEVICE double tmapi_flood_measure_column(const tmapi_flood *f, const tmap_u32 *words,
                                              tmap_u64 from, const tmap_u32 size) {
    const int floats = size == 4 && f->plan.map.type == TMAP_RASTER_F32;
    tmap_u32 cells[TMAPI_FLOOD_TILE];
    tmap_i64 whole = 0;
    double sum = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        cells[r] = 0;
        if (words[r * TMAPI_FLOOD_WORDS] >> threadIdx.x % 32 & 1)
            cells[r] = tmapi_flood_cell(f->heights, from + r * f->plan.map.pitch, size);
    }
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        const double height = tmapi_raster_double(__uint_as_float(cells[r]));
        if (floats)
            sum += height;
        else
            whole += (int)cells[r];
    }
    return floats ? sum : (double)whole;
}

// Area and sum of heights of the flooded cells of a block. Sums of full tiles are known.
TMAP_DEVICE void tmapi_flood_measure_block(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    double *sums = (double *)b->table; // sums, then areas, of each warp
    tmap_u32 area = 0;
    double sum = 0;
    __syncthreads(); // the table has been read
    for (tmap_u32 tile = warp; tile < b->f->plan.rows; tile += warps) {
        const tmap_u32 word = tile % TMAPI_FLOOD_WORDS, top = tile / 16 * TMAPI_FLOOD_TILE;
        const tmap_u32 *cells = b->cells + tmapi_flood_cell_word(top, word);
        const tmap_u32 mine = lane < 16 ? cells[lane * TMAPI_FLOOD_WORDS] : ~0u;
        if (lane < 16) area += (tmap_u32)__popc(mine);
        if (__all_sync(~0u, mine == ~0u)) {
            if (lane == 0) sum += f->tile_sums[b->number * b->f->plan.rows + tile];
        } else if (__any_sync(~0u, lane < 16 && mine)) {
            const tmap_u64 from = (b->y + top) * f->plan.map.pitch + b->x + word * 32 + lane;
            sum += f->plan.map.type == TMAP_RASTER_I16
                       ? tmapi_flood_measure_column(f, cells, from, 2)
                       : tmapi_flood_measure_column(f, cells, from, 4);
        }
    }
    sum = tmapi_flood_sum(sum);
    area = (tmap_u32)tmapi_flood_sum(area);
    if (lane == 0) sums[warp] = sum, sums[warps + warp] = area;
    __syncthreads();
    if (threadIdx.x) return;
    for (tmap_u32 w = 1; w < warps; ++w) sum += sums[w], area += (tmap_u32)sums[warps + w];
    f->areas[b->number] = area, f->sums[b->number] = sum;
}

// Blocks of `rows` threads.
static __global__ void __launch_bounds__(128, 8) tmapi_flood_last_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    tmapi_flood_block b = tmapi_flood_block_at(&f);
    const tmap_u32 kind = f.kinds[b.number];
    b.cells = (tmap_u32 *)tmapi_flood_shared;
    b.flags = b.cells + f.plan.rows / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH;
    b.table = (tmap_u64 *)(b.flags + 20 + 8 * f.plan.rows);
    if (kind == TMAPI_FLOOD_MIXED)
        tmapi_flood_tile_of(&b);
    else {
        const tmap_u32 word =
            kind == TMAPI_FLOOD_FULL && f.flags[b.number * 20] & 1 ? ~0u : 0; // node 0
        for (tmap_u32 i = threadIdx.x; i < f.plan.rows * 17; i += blockDim.x) b.cells[i] = word;
    }
    __syncthreads();
    if (f.plan.form == TMAP_FLOOD_U8)
        tmapi_flood_write_bytes(&b);
    else if (f.plan.form == TMAP_FLOOD_BITS)
        tmapi_flood_write_bits(&b);
    else if (f.plan.form == TMAPI_FLOOD_MEASURE)
        tmapi_flood_measure_block(&b);
    else if (f.plan.map.type == TMAP_RASTER_I16)
        tmapi_flood_write_depths(&b, TMAP_RASTER_I16);
    else if (f.plan.map.type == TMAP_RASTER_I32)
        tmapi_flood_write_depths(&b, TMAP_RASTER_I32);
    else
        tmapi_flood_write_depths(&b, TMAP_RASTER_F32);
}

#define TMAPI_FLOOD_TOTAL 512u // threads

// The area and volume of a complete flood, from its blocks. One block of threads.
static __global__ void __launch_bounds__(TMAPI_FLOOD_TOTAL)
    tmapi_flood_total_kernel(tmapi_flood f, tmap_flood_lake *lake) {
    __shared__ double sums[TMAPI_FLOOD_TOTAL];
    __shared__ tmap_u64 areas[TMAPI_FLOOD_TOTAL];
    const tmap_u64 blocks = tmapi_flood_blocks(&f.plan);
    double sum = 0;
    tmap_u64 area = 0;
    for (tmap_u64 i = threadIdx.x; i < blocks; i += blockDim.x)
        sum += f.sums[i], area += f.areas[i];
    sums[threadIdx.x] = sum, areas[threadIdx.x] = area;
    for (tmap_u32 half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half],
                areas[threadIdx.x] += areas[threadIdx.x + half];
    }
    if (threadIdx.x) return;
    lake->area = areas[0];
    lake->volume = areas[0] ? (double)areas[0] * f.surface - sums[0] : 0;
}

// ---- ranges of tiles ----------------------------------------------------------------------------

// Where ranges and sums of tiles are written.
typedef struct tmapi_flood_ranges {
    tmap_flood_range *ranges;
    double *sums;
} tmapi_flood_ranges;

// Writes a tile's range and sum, from those of all lanes.
TMAP_DEVICE void tmapi_flood_write_range(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                         tmap_u32 tile, int low, int high, double sum) {
    tmap_flood_range range;
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) {
        const int l = __shfl_xor_sync(~0u, low, step), h = __shfl_xor_sync(~0u, high, step);
        low = l < low ? l : low, high = h > high ? h : high;
    }
    sum = tmapi_flood_sum(sum);
    if (threadIdx.x % 32) return;
    range.low = low, range.high = high;
    to.ranges[b->number * b->f->plan.rows + tile] = range;
    to.sums[b->number * b->f->plan.rows + tile] = sum;
}

// Measures a tile of 16-bit heights, all possibly wet, that can be read by 16 bytes.
TMAP_DEVICE void tmapi_flood_range_shorts(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                          tmap_u32 tile) {
    int low = 32767, high = -32768, sum = 0;
    uint4 v[2];
    tmapi_flood_read_tile(b, tile, v, 2);
#pragma unroll
    for (tmap_u32 i = 0; i < 2; ++i) {
        const tmap_u32 twos[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
#pragma unroll
        for (tmap_u32 k = 0; k < 8; ++k) {
            const int height = (short)(twos[k / 2] >> k % 2 * 16);
            low = height < low ? height : low, high = height > high ? height : high;
            sum += height;
        }
    }
    tmapi_flood_write_range(b, to, tile, low, high, sum);
}

// Measures any tile.
TMAP_DEVICE void tmapi_flood_range_tile(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                        tmap_u32 tile, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->plan.map;
    const tmap_u64 x = b->x + tile % TMAPI_FLOOD_WORDS * 32 + threadIdx.x % 32;
    const tmap_u64 y = b->y + tile / TMAPI_FLOOD_WORDS * TMAPI_FLOOD_TILE;
    const int floats = size == 4 && map->type == TMAP_RASTER_F32;
    int low = TMAPI_FLOOD_KEY_MAX, high = TMAPI_FLOOD_KEY_MIN;
    tmap_u32 cells[TMAPI_FLOOD_TILE];
    double sum = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
        cells[r] = x < map->width && y + r < map->height
                       ? tmapi_flood_cell(b->f->heights, (y + r) * map->pitch + x, size)
                       : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        const int key = floats ? tmapi_raster_float_key(cells[r]) : (int)cells[r];
        const int never = !(x < map->width && y + r < map->height) ||
                          (b->f->level.has_nodata && key == b->f->level.nodata) ||
                          (floats && key == TMAPI_FLOOD_KEY_MAX);
        if (!never && key < low) low = key;
        if (never || key > high) high = never ? TMAPI_FLOOD_KEY_MAX : key;
        const double height = tmapi_raster_double(__uint_as_float(cells[r]));
        if (!never) sum += floats ? height : key;
    }
    tmapi_flood_write_range(b, to, tile, low, high, sum);
}

// Finds each tile's range, and the sum of its heights that can be wet. A warp a tile.
static __global__ void __launch_bounds__(256, 4)
    tmapi_flood_tiles_kernel(tmapi_flood f, tmap_flood_range *ranges, double *sums) {
    const tmapi_flood_block b = tmapi_flood_block_at(&f);
    const tmapi_flood_ranges to = {ranges, sums};
    const int shorts = f.plan.map.type == TMAP_RASTER_I16;
    const int quick = shorts && tmapi_flood_by_tiles(&b, 2) && !f.level.has_nodata;
    for (tmap_u32 tile = threadIdx.x / 32; tile < f.plan.rows; tile += blockDim.x / 32)
        if (quick)
            tmapi_flood_range_shorts(&b, to, tile);
        else if (shorts)
            tmapi_flood_range_tile(&b, to, tile, 2);
        else
            tmapi_flood_range_tile(&b, to, tile, 4);
}

// ---- floods -------------------------------------------------------------------------------------

// Makes the plan of floods of a map on the current device: tmap_flood_plan_of with its facts.
// Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for TMAP_ERANGE, or
// the error of a device query. Cost: calls that do not wait for the device.
static inline cudaError_t tmap_flood_plan_make(const tmap_raster_map *map, int form, tmap_u64 seeds,
                                               tmap_flood_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_flood_local_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_flood_plan_of(map, form, seeds, &facts, plan));
}

// 1 if the arguments of a flood of a map with cells cannot be valid: null, misaligned, overlapping.
// out: at a multiple of `align`.
static inline int tmapi_flood_wrong(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                    tmap_flood_sources sources, tmapi_raster_memory work,
                                    tmapi_raster_memory out, tmap_u64 align) {
    const tmap_raster_map *map = &plan->map;
    const tmap_u64 cells = tmapi_raster_span(map->height - 1, map->pitch, map->width);
    const tmap_u64 tiles = tmapi_flood_blocks(plan) * plan->rows * 16;
    const tmapi_raster_memory all[5] = {
        work,
        out,
        {heights.data, tmap_mul_saturate(cells, tmap_raster_size(map->type))},
        {heights.tiles, heights.tiles ? tiles : 0},
        {sources.seeds, sources.count * sizeof *sources.seeds}};
    return !tmapi_raster_aligned(heights.data, tmap_raster_size(map->type)) ||
           (tmap_u64)heights.tiles % 16 || sources.count > plan->seeds ||
           (sources.count && !tmapi_raster_aligned(sources.seeds, 8)) ||
           !tmapi_raster_aligned(work.at, 16) || !tmapi_raster_aligned(out.at, align) ||
           tmapi_raster_overlap(all, 2, 5);
}

// Bytes of the result of a flood.
static inline tmap_u64 tmapi_flood_out_bytes(const tmap_flood_plan *plan) {
    const tmap_u64 width = plan->map.width;
    return plan->map.height * (plan->form == TMAP_FLOOD_U8     ? width
                               : plan->form == TMAP_FLOOD_BITS ? 4 * tmap_flood_words(width)
                                                               : 4 * width);
}

// The argument of the kernels.
static inline tmapi_flood tmapi_flood_of(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                         tmap_flood_sources sources, void *workspace, void *out) {
    unsigned char *at = (unsigned char *)workspace;
    tmapi_flood f;
    f.plan = *plan;
    f.level = tmapi_flood_level_of(&plan->map, sources.level), f.surface = sources.level;
    f.heights = heights.data, f.tiles = (tmap_flood_range *)heights.tiles;
    f.tile_sums = (double *)(f.tiles + tmapi_flood_blocks(plan) * plan->rows);
    f.seeds = sources.seeds, f.seed_count = (tmap_u32)sources.count, f.out = out;
    f.bits = (tmap_u32 *)at, f.parent = (tmap_u32 *)(at + plan->at_parent);
    f.edges = (tmap_u32 *)(at + plan->at_edges);
    f.offsets = (unsigned short *)(at + plan->at_offsets);
    f.table = (tmap_u64 *)(at + plan->at_table), f.flags = (tmap_u32 *)(at + plan->at_flags);
    f.entries = (tmap_u32 *)(at + plan->at_entries), f.kinds = at + plan->at_kinds;
    f.areas = (tmap_u64 *)(at + plan->at_sums);
    f.sums = (double *)(f.areas + tmapi_flood_blocks(plan));
    return f;
}

// The launches of a flood.
typedef struct tmapi_flood_steps {
    tmapi_raster_step step[5];
} tmapi_flood_steps;

static inline tmapi_flood_steps tmapi_flood_steps_of(const tmapi_flood *f) {
    const tmap_u64 blocks = tmapi_flood_blocks(&f->plan);
    const tmap_u32 rows = f->plan.rows;
    const tmapi_flood_steps steps = {
        {{(const void *)tmapi_flood_local_kernel,
          {blocks, 2 * rows, tmapi_flood_local_bytes(rows)}},
         {(const void *)tmapi_flood_unite_kernel, {blocks > 1 ? blocks : 0, TMAPI_FLOOD_UNITE, 0}},
         {(const void *)tmapi_flood_mark_kernel, {(f->seed_count + 127ull) / 128, 128, 0}},
         {(const void *)tmapi_flood_flags_kernel, {blocks, TMAPI_FLOOD_NODES, 0}},
         {(const void *)tmapi_flood_last_kernel, {blocks, rows, tmapi_flood_last_bytes(rows)}}}};
    return steps;
}

static inline cudaError_t tmapi_flood_run(const tmapi_flood *f, cudaStream_t stream) {
    return tmapi_raster_run(tmapi_flood_steps_of(f).step, 5, f, stream);
}

// Writes the flood of a map: the cells below a level that water reaches from the sources.
// plan: that of the map. heights, sources: at most plan->seeds sources; those outside the map or on
// dry cells flood nothing. With heights.tiles, a launch reads only the tiles that are neither
// completely wet nor completely dry, or a complete block if more than three of four of its tiles
// are such. workspace: plan->workspace bytes at a multiple of 16, with any content. out: width *
// height bytes or floats, or tmap_flood_words(width) * height words; all are written. All pointers
// are device memory and do not overlap; floods that run at the same time need one workspace each. A
// map without cells needs none of them: the call does nothing.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, for memory that overlaps or too
// many sources, before any launch; else the first error of its calls. Allocates nothing, and can be
// captured. Results are the same in every run, with tiles or without.
// Cost: heights are read once (for depths, those of flooded cells twice); a bit for each cell is
// written and read; every block reads every source, which matters from some thousands of them on.
// 60 to 75% of the bandwidth of a copy if water is in lakes, 20% in noise. Fastest if `data`,
// pitch * size of a height, and width are multiples of 16 bytes; slow only if `data` is not.
// Example: heights 1 5 1 1, source (2, 0), level 3, 4-connected: 0 0 1 1.
static inline cudaError_t tmap_flood(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                     tmap_flood_sources sources, void *workspace, void *out,
                                     cudaStream_t stream) {
    tmapi_flood f;
    if (!plan) return cudaErrorInvalidValue;
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmapi_raster_memory to = {out, tmapi_flood_out_bytes(plan)};
    if (!tmapi_flood_blocks(plan)) return cudaSuccess;
    if (tmapi_flood_wrong(plan, heights, sources, work, to, plan->form == TMAP_FLOOD_U8 ? 1 : 4))
        return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, heights, sources, workspace, out);
    return tmapi_flood_run(&f, stream);
}

// Bytes of the tiles of a plan's map: 1/32 byte a cell. Example: 16384 x 16384: 8388608.
static inline tmap_u64 tmap_flood_tiles_bytes(const tmap_flood_plan *plan) {
    return plan ? tmapi_flood_blocks(plan) * plan->rows * 16 : 0;
}

// Measures the tiles of 32 x 16 cells of a map, for many floods of it. A tile has its lowest
// height, its highest one, where NODATA, NaN and what is outside the map are higher than any
// height, and the sum of the heights of the other cells. plan, heights: as for tmap_flood; the
// tiles are valid for all plans of that map and its NODATA value on this device. tiles:
// tmap_flood_tiles_bytes(plan) bytes of device memory at a multiple of 16 that do not overlap the
// heights. A map without cells has no tiles.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps, else
// the launch's own error. Cost: heights are read once.
static inline cudaError_t tmap_flood_tiles(const tmap_flood_plan *plan, const void *heights,
                                           void *tiles, cudaStream_t stream) {
    const tmap_flood_heights given = {heights, 0}, to = {heights, tiles};
    const tmap_flood_sources none = {0, 0, 0};
    tmapi_launch_shape shape = {0, 256, 0};
    tmapi_flood f;
    void *arguments[3] = {&f, &f.tiles, &f.tile_sums};
    const tmapi_raster_memory work = {tiles, 0}, out = {tiles, tmap_flood_tiles_bytes(plan)};
    if (!plan) return cudaErrorInvalidValue;
    if (!tmapi_flood_blocks(plan)) return cudaSuccess;
    if (tmapi_flood_wrong(plan, given, none, work, out, 16)) return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, to, none, 0, 0), shape.grid = tmapi_flood_blocks(plan);
    return tmapi_launch((const void *)tmapi_flood_tiles_kernel, shape, arguments, stream);
}

// Measures rising water: the area and volume of the flood at each of several levels. For ascending
// levels this is the curve of a reservoir.
// rise.levels: host memory, read before the call returns. heights: with tiles. lakes:
// rise.level_count of them, in device memory at a multiple of 8; 0 for levels without a flood.
// Other arguments and errors: as for tmap_flood. After an error some lakes may not be written.
// Exactness: areas are exact, and so are the sums of integer heights if below 2^53, as in all
// 16-bit maps of up to 2^38 cells; other volumes are rounded, the same in every run.
// Cost: a flood for each level, and the heights of partly flooded tiles.
// Example: heights 0 2 4, source (0, 0), levels 1, 3: (1, 1), (2, 4).
static inline cudaError_t tmap_flood_levels(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                            tmap_flood_rise rise, void *workspace,
                                            tmap_flood_lake *lakes, cudaStream_t stream) {
    const tmapi_launch_shape one = {1, TMAPI_FLOOD_TOTAL, 0};
    tmap_flood_sources sources = {rise.seeds, rise.seed_count, 0};
    cudaError_t error = cudaSuccess;
    if (!rise.level_count) return cudaSuccess;
    if (!plan || !tmapi_raster_aligned(lakes, 8)) return cudaErrorInvalidValue;
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmapi_raster_memory out = {lakes, tmap_mul_saturate(rise.level_count, sizeof *lakes)};
    if (!tmapi_flood_blocks(plan)) return cudaMemsetAsync(lakes, 0, out.bytes, stream);
    if (!rise.levels || !heights.tiles || tmapi_flood_wrong(plan, heights, sources, work, out, 8))
        return cudaErrorInvalidValue;
    for (tmap_u64 i = 0; i < rise.level_count && !error; ++i, ++lakes) {
        sources.level = rise.levels[i];
        tmapi_flood f = tmapi_flood_of(plan, heights, sources, workspace, 0);
        void *arguments[2] = {&f, &lakes};
        f.plan.form = TMAPI_FLOOD_MEASURE;
        error = tmapi_flood_run(&f, stream);
        if (!error)
            error = tmapi_launch((const void *)tmapi_flood_total_kernel, one, arguments, stream);
    }
    return error;
}

#endif

#endif
