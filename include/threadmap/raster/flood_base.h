// SPDX-License-Identifier: MIT
// flood_base.h: of flood.h: levels, how a map is divided into blocks, tiles and nodes, and what its
// kernels are given.
#ifndef TMAP_RASTER_FLOOD_BASE_H
#define TMAP_RASTER_FLOOD_BASE_H

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

// The bits of a height. size: its bytes, 2 or 4, a constant.
TMAP_DEVICE tmap_u32 tmapi_flood_cell(const void *heights, tmap_u64 at, const tmap_u32 size) {
    return size == 2 ? (tmap_u32)((const short *)heights)[at] : ((const tmap_u32 *)heights)[at];
}

#endif

#endif
