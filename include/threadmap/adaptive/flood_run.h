// SPDX-License-Identifier: MIT
// flood_run.h: what the kernels of a flood share: how a map is divided, and what stands in the
// workspace.
//
// A map is cut into blocks of 512 columns and 128 (or 64) rows, a block of threads each; a block
// into tiles of 32 x 16 cells. The flood is found on the blocks' borders: a node stands for the
// cells of a block that are joined inside of it and lie, among others, at a place of its border.
// Places, and so nodes, of a block are
//     0 to 255     its first row: two columns each, which hold the beginning of one run at most
//     256 to 511   its last row
//     512 to 575   its first column: two rows each
//     576 to 639   its last column
#ifndef TMAP_ADAPTIVE_FLOOD_RUN_H
#define TMAP_ADAPTIVE_FLOOD_RUN_H

#include "flood_bits.h"

#define TMAPI_FLOOD_WORDS  16u  // of a block's row
#define TMAPI_FLOOD_NODES  640u // of a block
#define TMAPI_FLOOD_EDGES  40u  // words of a block's border: rows 16 and 16, columns 4 and 4
#define TMAPI_FLOOD_NONE   0xffffffffu
#define TMAPI_FLOOD_MARK   0x80000000u // at the root of a flooded region
#define TMAPI_FLOOD_BORDER 0x8000u     // a component is numbered by a node of its block
// 8-byte words of the table of runs, for each row of a block, at most
#define TMAPI_FLOOD_QUADS 12u

// What a block holds.
#define TMAPI_FLOOD_MIXED 0u
#define TMAPI_FLOOD_DRY   1u // no wet cell
#define TMAPI_FLOOD_FULL  2u // wet cells alone

// The lowest and highest keys of a tile's cells. Cells that are never wet count for `high` alone,
// as the highest of all.
typedef struct tmap_flood_range {
    int low, high;
} tmap_flood_range;

// How a map is divided, and where things are in the workspace.
typedef struct tmap_flood_plan {
    tmap_flood_map map;
    int form;
    tmap_u32 rows, blocks_x, blocks_y; // rows of a block, blocks
    tmap_u64 seeds;                    // at most
    tmap_u64 at_parent, at_edges, at_offsets, at_table, at_flags, at_entries, at_kinds, at_sums;
    tmap_u64 workspace; // bytes
} tmap_flood_plan;

// The argument of all kernels.
typedef struct tmapi_flood {
    tmap_flood_plan plan;
    tmapi_flood_level level;
    double surface; // the level
    const void *heights;
    const tmap_flood_seed *seeds;
    tmap_u32 seed_count;
    const tmap_flood_range *tiles; // of all tiles of all blocks, or null
    const double *tile_sums;       // of the heights of each tile, if sums are asked for
    tmap_u32 *bits;                // blocks_x * 16 words a row
    tmap_u32 *parent;              // of the nodes
    tmap_u32 *edges;
    unsigned short *offsets; // 2 rows + 1 a block: where a tile's lists are in its table
    tmap_u64 *table;         // of the components of runs on tiles' borders, four in a word
    tmap_u32 *flags;         // 20 words a block: its flooded nodes
    tmap_u32 *entries;       // two words a seed: its node, and its component as in tables
    unsigned char *kinds;
    tmap_u64 *areas; // of each block
    double *sums;
    void *out;
} tmapi_flood;

// The blocks of a plan.
TMAP_FN tmap_u64 tmapi_flood_blocks(const tmap_flood_plan *p) {
    return (tmap_u64)p->blocks_x * p->blocks_y;
}

#if TMAP_CUDA

TMAP_DEVICE tmap_u32 tmapi_flood_starts(tmap_u32 row) { return row & ~(row << 1); }
// The lowest bit of `bits` and all below it; all of them if there is none.
TMAP_DEVICE tmap_u32 tmapi_flood_upto(tmap_u32 bits) { return bits ^ (bits - 1); }
TMAP_DEVICE tmap_u32 tmapi_flood_wide(tmap_u32 row) { return row | row << 1 | row >> 1; }
// Of the runs of `row`: what lies in a run at or above one of its `seeds`. A carry goes up from
// the lowest seed of a run to its end.
TMAP_DEVICE tmap_u32 tmapi_flood_up(tmap_u32 row, tmap_u32 seeds) {
    return row & (~(row + seeds) | seeds);
}
// The runs of `row` with a seed in them. back: row, its bits in reverse.
TMAP_DEVICE tmap_u32 tmapi_flood_whole(tmap_u32 row, tmap_u32 back, tmap_u32 seeds) {
    return __brev(tmapi_flood_up(back, __brev(tmapi_flood_up(row, seeds))));
}

// The part of the map that is a block of threads' own.
typedef struct tmapi_flood_area {
    tmap_u64 block; // its number, row by row
    tmap_u64 x, y;  // its first column and row
} tmapi_flood_area;

TMAP_DEVICE tmapi_flood_area tmapi_flood_area_here(const tmapi_flood *f) {
    tmapi_flood_area a;
    a.block = blockIdx.x;
    a.x = (tmap_u64)(blockIdx.x % f->plan.blocks_x) * 512;
    a.y = (tmap_u64)(blockIdx.x / f->plan.blocks_x) * f->plan.rows;
    return a;
}

// Where a seed lies in an area; 0 if elsewhere or outside of the map.
TMAP_DEVICE int tmapi_flood_seed_here(const tmapi_flood *f, const tmapi_flood_area *a,
                                      tmap_u32 seed, tmap_u32 *x, tmap_u32 *y) {
    const tmap_flood_seed s = f->seeds[seed];
    *x = (tmap_u32)(s.x - a->x), *y = (tmap_u32)(s.y - a->y);
    return s.x < f->plan.map.width && s.y < f->plan.map.height && s.x >= a->x && s.y >= a->y &&
           s.x - a->x < 512 && s.y - a->y < f->plan.rows;
}

// Whether any seed lies in the area. A barrier of the block.
TMAP_DEVICE int tmapi_flood_seeds_here(const tmapi_flood *f, const tmapi_flood_area *a) {
    int here = 0;
    tmap_u32 x, y;
    for (tmap_u32 i = threadIdx.x; i < f->seed_count; i += blockDim.x)
        here |= tmapi_flood_seed_here(f, a, i, &x, &y);
    return __syncthreads_or(here);
}

#endif // TMAP_CUDA
#endif
