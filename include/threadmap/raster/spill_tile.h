// SPDX-License-Identifier: MIT
// spill_tile.h: a tile of spill.h: its plan, and the first launch, which finds for each cell the
// level at which water leaves the tile and where, and what other tiles need to know.
#ifndef TMAP_RASTER_SPILL_TILE_H
#define TMAP_RASTER_SPILL_TILE_H

#include "../warp.h"
#include "map.h"

// Forms of a result. The result of column x and row y is number y * width + x.
#define TMAP_SPILL_LEVEL 0 // the level, of the type of the heights
#define TMAP_SPILL_DEPTH 1 // a float: level - height

// Outlets beside those of a mask, to be added.
#define TMAP_SPILL_BORDER 1 // cells of the first and last row and column
#define TMAP_SPILL_NODATA 2 // cells that touch NODATA, or NaN; without it these are walls

// How a map is divided, and the parts of the workspace.
typedef struct tmap_spill_plan {
    tmap_raster_map map;
    int form, outlets;
    tmap_u32 tiles_x, tiles_y; // tiles of 64 x 64 cells
    tmap_u32 rounds, blocks;   // most rounds; blocks of a launch in a round
    tmap_u64 at_keys, at_numbers, at_saddles, at_links, at_parent, at_level, at_exits, at_counts;
    tmap_u64 at_done, at_hooked;
    tmap_u64 workspace; // bytes
} tmap_spill_plan;

// ---- tiles, their rings, and nodes --------------------------------------------------------------
//
// Heights have keys: unsigned numbers in the same order. The ring of a tile is its outermost
// cells, in the order of a walk around it:
//     0 to 62      first row, from the left      126 to 188   last row, from the right
//     63 to 125    last column, from the top     189 to 251   first column, from the bottom
// Water leaves a tile over its ring, so the tile finds for each cell the level at which water
// leaves it, and a cell of the ring where it does. A cell of the ring passes water on to a lower
// one of the ring; those without a lower one are the tile's nodes, with numbers from 1 on. Two
// cells next to each other are never both nodes, so there are 126 at most.

#define TMAPI_SPILL_SIDE   64u
#define TMAPI_SPILL_LAST   63u
#define TMAPI_SPILL_CELLS  4096u
#define TMAPI_SPILL_AROUND 252u  // cells of a ring
#define TMAPI_SPILL_RING   256u  // room for them
#define TMAPI_SPILL_NODES  128u  // room for the nodes of a tile; number 0 is outside for all tiles
#define TMAPI_SPILL_BLOCK  256u  // threads of a tile
#define TMAPI_SPILL_ROWS   16u   // cells of a thread, below each other
#define TMAPI_SPILL_OUT    4096u // the place of outlets, after those of cells
#define TMAPI_SPILL_WALL   4097u // that of walls, and of places outside the map
#define TMAPI_SPILL_NONE   0xffffffffu

// Numbers of basins in a tile: 0 outlets, 1 to 126 nodes, 127 walls, from 128 on minima inside.
// Two neighbours are never both minima, which leaves 31 * 31 inside, or half of 62 * 62 of them
// without corners.
#define TMAPI_SPILL_SOLID 127u
#define TMAPI_SPILL_INNER 128u
TMAP_FN tmap_u32 tmapi_spill_basins(int connectivity) {
    return TMAPI_SPILL_INNER + (connectivity == 8 ? 962 : 1922); // an even number
}

// Numbers of cells that have no node.
#define TMAPI_SPILL_DRY     254u // walls, and cells that water cannot leave
#define TMAPI_SPILL_MISSING 255u // NODATA

// The argument of all kernels.
typedef struct tmapi_spill {
    tmap_spill_plan plan;
    tmap_u32 nodata, round; // the key of NODATA; the round of all tiles
    int has_nodata;
    const void *heights;
    const unsigned char *mask; // of outlets, or null
    void *out;                 // between launches the level at which water leaves the tile
    unsigned char *nodes;      // the number of each cell's node, 4096 a tile
    tmap_u32 *keys;            // of the ring, 256 a tile
    unsigned char *numbers;    // nodes of the ring
    tmap_u32 *saddles;         // 128 a tile: a node's way to another one in the tile,
    unsigned char *links;      // and that one's number, or TMAPI_SPILL_DRY
    tmap_u32 *parent;          // of nodes: their component
    tmap_u32 *level;           // of nodes: the key of the level so far
    tmap_u64 *exits;           // two sets: of components: saddle and neighbour
    unsigned char *counts;     // nodes of a tile, without 0
    unsigned char *done;       // 1 for a tile whose edges are all within a component
    tmap_u32 *hooked;          // of each round: 1 if components were joined
} tmapi_spill;

TMAP_FN tmap_u64 tmapi_spill_tiles(const tmap_spill_plan *p) {
    return (tmap_u64)p->tiles_x * p->tiles_y;
}

// Bytes of shared memory of a tile: words of basins; keys, labels and a list of cells; sums.
TMAP_FN tmap_u32 tmapi_spill_bytes(int connectivity) {
    return tmapi_spill_basins(connectivity) * 8 + TMAPI_SPILL_CELLS * 8 + TMAPI_SPILL_BLOCK / 8;
}

#if TMAP_CUDA && !TMAP_NVRTC

// The bits of a height, 16-bit ones extended by their sign, and their key.
TMAP_DEVICE tmap_u32 tmapi_spill_bits(const tmapi_spill *f, tmap_u64 at) {
    return f->plan.map.type == TMAP_RASTER_I16 ? (tmap_u32)((const short *)f->heights)[at]
                                               : ((const tmap_u32 *)f->heights)[at];
}
TMAP_DEVICE tmap_u32 tmapi_spill_key(const tmapi_spill *f, tmap_u32 bits) {
    const int floats = f->plan.map.type == TMAP_RASTER_F32;
    return (floats ? (tmap_u32)tmapi_raster_float_key(bits) : bits) ^ 0x80000000u;
}
// The bits of the height of a key.
TMAP_DEVICE tmap_u32 tmapi_spill_unkey(const tmapi_spill *f, tmap_u32 key) {
    const int floats = f->plan.map.type == TMAP_RASTER_F32;
    const tmap_u32 bits = key ^ 0x80000000u;
    return floats && bits >> 31 ? bits ^ 0x7fffffffu : bits;
}

// 1 for a cell of a tile on the ring, by its place 64 y + x: y or x is 0 or 63.
TMAP_DEVICE int tmapi_spill_on_ring(tmap_u32 place) {
    return !((place + 1) & 62) || !((place + 64) & 62 << 6);
}
// The position of such a cell, and the place of a position.
TMAP_DEVICE tmap_u32 tmapi_spill_position(tmap_u32 place) {
    const tmap_u32 x = place % TMAPI_SPILL_SIDE, y = place / TMAPI_SPILL_SIDE;
    if (y == 0) return x;
    if (x == TMAPI_SPILL_LAST) return TMAPI_SPILL_LAST + y;
    return y == TMAPI_SPILL_LAST ? 3 * TMAPI_SPILL_LAST - x : 4 * TMAPI_SPILL_LAST - y;
}
TMAP_DEVICE tmap_u32 tmapi_spill_place(tmap_u32 position) {
    const tmap_u32 along = position % TMAPI_SPILL_LAST, back = TMAPI_SPILL_LAST - along;
    switch (position / TMAPI_SPILL_LAST) {
    case 0: return along;
    case 1: return along * TMAPI_SPILL_SIDE + TMAPI_SPILL_LAST;
    case 2: return TMAPI_SPILL_LAST * TMAPI_SPILL_SIDE + back;
    default: return back * TMAPI_SPILL_SIDE;
    }
}

// ---- a tile -------------------------------------------------------------------------------------
//
// A block of threads takes a tile; a thread takes cells below each other. Labels are places of
// cells at first: a cell's label is its lowest neighbour, and pointer jumping makes it the minimum
// below the cell. Then basins get numbers, and a label is the number of a cell's basin from there
// on. Only basins are joined; a cell of no basin's border is not looked at again.
//
// A component is a root: a basin that all of the component were joined to. In a round each
// component looks for its lowest exit: the least of max(key, key of the neighbour) over its cells
// and their neighbours of other components; among equal ones, the neighbour with the least number.
// It joins that one. So chains of joined components end in a pair that chose each other; the one
// with the lesser number remains.
//
//     word of a root           [ saddle of its exit | 1 | the exit's component ], or all ones
//     word of another basin    [ level of its way   | 0 | its component        ]
//
// One minimum on a root's word finds both halves of an exit.
//
// First only components without a node are joined, as these cannot leave the tile in another
// way. A component that joins another one over its lowest exit spills at that level, and if the
// exit of what it has become is higher, at that one. Then the nodes themselves are joined: these
// exits are the least tree that connects them, and all that other tiles need to know.

// The tile and the part of a thread.
typedef struct tmapi_spill_tile {
    const tmapi_spill *f;
    tmap_u64 *word; // of basins
    tmap_u32 *key;  // of cells
    tmap_u32 *sums; // of warps
    unsigned short *label, *list;
    tmap_u64 number, left, top; // of the tile; its first column and row
    tmap_u32 wide, high;        // columns and rows of the map from there on, 2^31 at most
    tmap_u32 x, y, place;       // the thread's column and first row in the tile, and that cell
    tmap_u32 missing;           // its cells of NODATA: row i is bit i
    tmap_u32 nodes, end;        // how many nodes; one after the last basin
    tmap_u32 listed;            // cells of the warp's part of the list
    int eight;                  // 1: neighbours over corners
} tmapi_spill_tile;

// The place of cell n, 0 to 8, of the nine around one. A place outside the tile is moved to the
// tile's edge, where it is a neighbour too, or the cell itself.
TMAP_DEVICE tmap_u32 tmapi_spill_around(tmap_u32 place, int n) {
    const int row = n / 3 - 1, column = n % 3 - 1;
    const tmap_u32 x = place % TMAPI_SPILL_SIDE, y = place / TMAPI_SPILL_SIDE;
    const int beyond_y = row < 0 ? y == 0 : row > 0 && y == TMAPI_SPILL_LAST;
    const int beyond_x = column < 0 ? x == 0 : column > 0 && x == TMAPI_SPILL_LAST;
    return place + (beyond_y ? 0u : (tmap_u32)row * TMAPI_SPILL_SIDE) +
           (beyond_x ? 0u : (tmap_u32)column);
}

// The same around the thread's cell i, where most of this is known to the compiler.
TMAP_DEVICE tmap_u32 tmapi_spill_beside(const tmapi_spill_tile *t, tmap_u32 i, int n) {
    const int row = n / 3 - 1, column = n % 3 - 1;
    const int up = row < 0 && i == 0 && t->y == 0;
    const int down =
        row > 0 && i == TMAPI_SPILL_ROWS - 1 && t->y == TMAPI_SPILL_SIDE - TMAPI_SPILL_ROWS;
    const int left = column < 0 && t->x == 0, right = column > 0 && t->x == TMAPI_SPILL_LAST;
    return t->place + i * TMAPI_SPILL_SIDE + (up || down ? 0u : (tmap_u32)row * TMAPI_SPILL_SIDE) +
           (left || right ? 0u : (tmap_u32)column);
}

// 1 if cell n of nine is a neighbour.
TMAP_DEVICE int tmapi_spill_near(const tmapi_spill_tile *t, int n) {
    return n % 2 || (t->eight && n != 4);
}

// Reads the thread's cells. Labels: TMAPI_SPILL_OUT, _WALL, or the cell itself.
TMAP_DEVICE void tmapi_spill_load(tmapi_spill_tile *t) {
    const tmapi_spill *f = t->f;
    const tmap_raster_map *map = &f->plan.map;
    const tmap_u64 x = t->left + t->x, y = t->top + t->y;
    const int floats = map->type == TMAP_RASTER_F32, border = f->plan.outlets & TMAP_SPILL_BORDER;
    const int column = border && (x == 0 || t->x + 1 == t->wide);
    tmap_u32 bits[TMAPI_SPILL_ROWS];
    t->missing = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        bits[i] = 0;
        if (t->x < t->wide && t->y + i < t->high)
            bits[i] = tmapi_spill_bits(f, (y + i) * map->pitch + x);
    }
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE;
        tmap_u32 key = tmapi_spill_key(f, bits[i]), label = place;
        if (!(t->x < t->wide && t->y + i < t->high)) {
            key = TMAPI_SPILL_NONE, label = TMAPI_SPILL_WALL;
        } else if ((floats && key == TMAPI_SPILL_NONE) || (f->has_nodata && key == f->nodata)) {
            const int out = f->plan.outlets & TMAP_SPILL_NODATA;
            key = out ? 0 : TMAPI_SPILL_NONE, label = out ? TMAPI_SPILL_OUT : TMAPI_SPILL_WALL;
            t->missing |= 1u << i;
        } else if (column || (border && (y + i == 0 || t->y + i + 1 == t->high)) ||
                   (f->mask && f->mask[(y + i) * map->width + x])) {
            label = TMAPI_SPILL_OUT;
        }
        t->key[place] = key, t->label[place] = (unsigned short)label;
    }
    if (threadIdx.x < 2) // after the last cell; the list is not in use yet
        t->label[TMAPI_SPILL_OUT + threadIdx.x] = (unsigned short)(TMAPI_SPILL_OUT + threadIdx.x);
    __syncthreads();
}

// The lower one of two neighbours on the ring, or the cell itself. Walls are never lower.
TMAP_DEVICE tmap_u32 tmapi_spill_ring_lower(const tmapi_spill_tile *t, tmap_u32 position) {
    const tmap_u32 place = tmapi_spill_place(position);
    const tmap_u32 beside[2] = {
        tmapi_spill_place(position ? position - 1 : TMAPI_SPILL_AROUND - 1),
        tmapi_spill_place(position + 1 < TMAPI_SPILL_AROUND ? position + 1 : 0)};
    tmap_u32 to = t->label[place];
    if (to >= TMAPI_SPILL_OUT) return to;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const tmap_u32 other = beside[i], key = t->key[to], there = t->key[other];
        if ((there < key || (there == key && other < to)) && t->label[other] != TMAPI_SPILL_WALL)
            to = other;
    }
    return to;
}

// Makes each cell's label the minimum below it, or TMAPI_SPILL_OUT. Of equal heights the first one
// is lower, so that a plain has one minimum, or a few. A cell of the largest integer may become a
// wall, which gets the same level. Barriers of the block.
TMAP_DEVICE void tmapi_spill_descend(const tmapi_spill_tile *t) {
    tmap_u32 to[TMAPI_SPILL_ROWS], key[3][3], ring = 0;
    int changed = 1;
#pragma unroll
    for (int n = 0; n < 6; ++n) key[1 + n / 3][n % 3] = t->key[tmapi_spill_beside(t, 0, n)];
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE;
        tmap_u32 at = place, least;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            key[0][k] = key[1][k], key[1][k] = key[2][k];
            key[2][k] = t->key[tmapi_spill_beside(t, i, 6 + k)];
        }
        least = key[1][1];
#pragma unroll
        for (int n = 3; n >= 0; --n) // those before the cell, from the last one
            if (tmapi_spill_near(t, n) && key[n / 3][n % 3] <= least)
                least = key[n / 3][n % 3], at = tmapi_spill_beside(t, i, n);
#pragma unroll
        for (int n = 5; n < 9; ++n)
            if (tmapi_spill_near(t, n) && key[n / 3][n % 3] < least)
                least = key[n / 3][n % 3], at = tmapi_spill_beside(t, i, n);
        to[i] = t->label[place] < TMAPI_SPILL_OUT ? at : t->label[place];
    }
    if (threadIdx.x < TMAPI_SPILL_AROUND) ring = tmapi_spill_ring_lower(t, threadIdx.x);
    __syncthreads();
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i)
        if (!tmapi_spill_on_ring(t->place + i * TMAPI_SPILL_SIDE))
            t->label[t->place + i * TMAPI_SPILL_SIDE] = (unsigned short)to[i];
    if (threadIdx.x < TMAPI_SPILL_AROUND)
        t->label[tmapi_spill_place(threadIdx.x)] = (unsigned short)ring;
    __syncthreads();
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i)
        to[i] = t->label[t->place + i * TMAPI_SPILL_SIDE];
    while (changed) { // pointer jumping, three steps between barriers
#pragma unroll
        for (int step = 0; step < 3; ++step) {
            changed = 0;
#pragma unroll
            for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
                const tmap_u32 next = t->label[to[i]];
                changed |= next != to[i], to[i] = next;
            }
        }
        changed = __syncthreads_or(changed);
#pragma unroll
        for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i)
            t->label[t->place + i * TMAPI_SPILL_SIDE] = (unsigned short)to[i];
        __syncthreads();
    }
}

// The sum of a value over the threads before the calling one, and over all. A barrier of the block.
TMAP_DEVICE tmap_u32 tmapi_spill_scan(const tmapi_spill_tile *t, tmap_u32 own, tmap_u32 *all) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u32 before = tmapi_warp_scan(lane, own), sum = 0;
    if (lane == 31) t->sums[warp] = before;
    __syncthreads();
    for (tmap_u32 k = 0; k < TMAPI_SPILL_BLOCK / 32; ++k) {
        if (k == warp) before += sum;
        sum += t->sums[k];
    }
    *all = sum;
    return before - own;
}

// Numbers the basins, nodes in the order of the ring, and makes these the cells' labels. Clears
// the words. Barriers of the block.
TMAP_DEVICE void tmapi_spill_number(tmapi_spill_tile *t) {
    const tmap_u32 i = threadIdx.x;
    const tmap_u32 place = tmapi_spill_place(i < TMAPI_SPILL_AROUND ? i : 0);
    const tmap_u32 node = i < TMAPI_SPILL_AROUND && t->label[place] == place;
    tmap_u32 roots = 0, all;
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_SPILL_ROWS; ++k) {
        const tmap_u32 at = t->place + k * TMAPI_SPILL_SIDE;
        roots |= (tmap_u32)(t->label[at] == at && !tmapi_spill_on_ring(at)) << k;
    }
    // nodes in the high half
    const tmap_u32 before = tmapi_spill_scan(t, node << 16 | tmapi_raster_count(roots), &all);
    t->nodes = all >> 16, t->end = TMAPI_SPILL_INNER + (all & 0xffff);
    if (node) t->list[place] = (unsigned short)(1 + (before >> 16));
    for (tmap_u32 next = TMAPI_SPILL_INNER + (before & 0xffff); roots; roots &= roots - 1)
        t->list[t->place + (tmap_u32)(__ffs((int)roots) - 1) * TMAPI_SPILL_SIDE] =
            (unsigned short)next++;
    __syncthreads();
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_SPILL_ROWS; ++k) {
        unsigned short *label = t->label + t->place + k * TMAPI_SPILL_SIDE;
        *label = *label == TMAPI_SPILL_OUT    ? 0
                 : *label == TMAPI_SPILL_WALL ? TMAPI_SPILL_SOLID
                                              : t->list[*label];
    }
    for (tmap_u32 k = i; k < t->end; k += TMAPI_SPILL_BLOCK) t->word[k] = ~0ull;
    __syncthreads();
}

// Where entry k of the warp's part of the list is: warps take 32 entries in turn.
TMAP_DEVICE tmap_u32 tmapi_spill_entry(tmap_u32 k) {
    return (k / 32 * (TMAPI_SPILL_BLOCK / 32) + threadIdx.x / 32) * 32 + k % 32;
}

// Lists the cells that have a neighbour of another basin. Barriers of the block.
TMAP_DEVICE void tmapi_spill_list(tmapi_spill_tile *t) {
    const tmap_u32 warp = threadIdx.x / 32, warps = TMAPI_SPILL_BLOCK / 32;
    tmap_u32 label[3][3], bits = 0, all;
#pragma unroll
    for (int n = 0; n < 6; ++n) label[1 + n / 3][n % 3] = t->label[tmapi_spill_beside(t, 0, n)];
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        tmap_u32 other = 0;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            label[0][k] = label[1][k], label[1][k] = label[2][k];
            label[2][k] = t->label[tmapi_spill_beside(t, i, 6 + k)];
        }
#pragma unroll
        for (int n = 0; n < 9; ++n) other |= label[n / 3][n % 3] ^ label[1][1];
        bits |= (tmap_u32)(other != 0) << i;
    }
    // row by row: cells above each other are in one bank of shared memory
    tmap_u32 next = __shfl_sync(~0u, tmapi_spill_scan(t, tmapi_raster_count(bits), &all), 0);
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 at = tmapi_warp_place(threadIdx.x % 32, &next, bits >> i & 1);
        if (bits >> i & 1) t->list[at] = (unsigned short)(t->place + i * TMAPI_SPILL_SIDE);
    }
    const tmap_u32 groups = all / 32, left = all % 32;
    t->listed = (groups + warps - 1 - warp) / warps * 32 + (groups % warps == warp ? left : 0);
    __syncthreads();
}

// The component of a basin.
TMAP_DEVICE tmap_u32 tmapi_spill_component(const tmapi_spill_tile *t, tmap_u32 basin) {
    const tmap_u32 low = (tmap_u32)t->word[basin];
    return low >> 31 ? basin : low;
}

// Offers the exits of a cell to its component, if that may join: its number is `first` at least.
// Returns 0 if the cell has no neighbour of another component.
TMAP_DEVICE int tmapi_spill_offer(const tmapi_spill_tile *t, tmap_u32 cell, tmap_u32 first) {
    const tmap_u32 own = tmapi_spill_component(t, t->label[cell]), key = t->key[cell];
    tmap_u64 exit = ~0ull;
    if (own == TMAPI_SPILL_SOLID) return 0;
    if (own < first) return 1;
#pragma unroll
    for (int n = 0; n < 9; ++n) {
        const tmap_u32 there = tmapi_spill_around(cell, n);
        const tmap_u32 other = tmapi_spill_component(t, t->label[there]);
        if (!tmapi_spill_near(t, n) || other == own || other == TMAPI_SPILL_SOLID) continue;
        const tmap_u32 high = t->key[there], saddle = high > key ? high : key;
        const tmap_u64 way = (tmap_u64)saddle << 32 | 1u << 31 | other;
        exit = way < exit ? way : exit;
    }
    if (exit == ~0ull) return 0;
    // most offers are no better, and need no atomic
    if (exit < *(volatile tmap_u64 *)(t->word + own)) atomicMin(t->word + own, exit);
    return 1;
}

// Offers the exits of all cells of the list, and keeps those that may have one in the next round.
TMAP_DEVICE void tmapi_spill_exits(tmapi_spill_tile *t, tmap_u32 first) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 kept = 0;
    for (tmap_u32 k = 0; k < t->listed; k += 32) {
        const int is = k + lane < t->listed;
        const tmap_u32 cell = t->list[tmapi_spill_entry(is ? k + lane : k)];
        const int open = is && tmapi_spill_offer(t, cell, first);
        __syncwarp();
        const tmap_u32 at = tmapi_warp_place(lane, &kept, open);
        if (open) t->list[tmapi_spill_entry(at)] = (unsigned short)cell;
        __syncwarp();
    }
    t->listed = kept;
}

// The word of a basin after its component and those that follow have joined others.
TMAP_DEVICE tmap_u64 tmapi_spill_follow(const tmapi_spill_tile *t, tmap_u32 basin) {
    tmap_u64 word = t->word[basin];
    tmap_u32 at = basin, level = 0;
    if (!((tmap_u32)word >> 31)) {
        at = (tmap_u32)word, level = (tmap_u32)(word >> 32);
        word = t->word[at];
    }
    while (word != ~0ull) {
        const tmap_u32 to = (tmap_u32)word & 0xffff, high = (tmap_u32)(word >> 32);
        const tmap_u64 next = t->word[to];
        if (at < to && ((tmap_u32)next & 0xffff) == at) break; // they chose each other
        level = high > level ? high : level, at = to, word = next;
    }
    return at == basin ? ~0ull : (tmap_u64)level << 32 | at;
}

// Joins components of numbers from `first` on until none has an exit. A node that joins another
// one writes its link. Barriers of the block.
TMAP_DEVICE void tmapi_spill_rounds(tmapi_spill_tile *t, tmap_u32 first) {
    const tmap_u32 most = (TMAPI_SPILL_INNER + 1922 - 1) / TMAPI_SPILL_BLOCK + 1;
    tmap_u64 word[most];
    for (;;) {
        int joined = 0;
        tmapi_spill_exits(t, first);
        __syncthreads();
#pragma unroll
        for (tmap_u32 k = 0; k < most; ++k) {
            const tmap_u32 basin = first + threadIdx.x + k * TMAPI_SPILL_BLOCK;
            if (basin >= t->end) break;
            const tmap_u64 old = t->word[basin];
            word[k] = tmapi_spill_follow(t, basin);
            if (!((tmap_u32)old >> 31) || word[k] == ~0ull) continue;
            joined = 1;
            if (basin < TMAPI_SPILL_INNER) {
                const tmap_u64 node = t->number * TMAPI_SPILL_NODES + basin;
                t->f->links[node] = (unsigned char)old;
                t->f->saddles[node] = (tmap_u32)(old >> 32);
            }
        }
        if (!__syncthreads_or(joined)) return;
#pragma unroll
        for (tmap_u32 k = 0; k < most; ++k) {
            const tmap_u32 basin = first + threadIdx.x + k * TMAPI_SPILL_BLOCK;
            if (basin < t->end) t->word[basin] = word[k];
        }
        __syncthreads();
    }
}

// The node of a cell, or where its water goes instead.
TMAP_DEVICE tmap_u32 tmapi_spill_node_of(tmap_u32 component) {
    return component < TMAPI_SPILL_SOLID ? component : TMAPI_SPILL_DRY;
}

// Writes the thread's levels and nodes, and those of the tile without edges.
TMAP_DEVICE void tmapi_spill_keep(const tmapi_spill_tile *t) {
    const tmapi_spill *f = t->f;
    const tmap_u64 all = tmapi_spill_tiles(&f->plan) * TMAPI_SPILL_NODES;
    const tmap_u64 width = f->plan.map.width, at = (t->top + t->y) * width + t->left + t->x;
    const int shorts = f->plan.map.type == TMAP_RASTER_I16 && f->plan.form == TMAP_SPILL_LEVEL;
    unsigned char *nodes = f->nodes + t->number * TMAPI_SPILL_CELLS + t->place;
    if (threadIdx.x < TMAPI_SPILL_AROUND) {
        const tmap_u64 i = t->number * TMAPI_SPILL_RING + threadIdx.x;
        const tmap_u32 place = tmapi_spill_place(threadIdx.x);
        f->keys[i] = t->key[place];
        f->numbers[i] =
            (unsigned char)tmapi_spill_node_of(tmapi_spill_component(t, t->label[place]));
    }
    if (threadIdx.x <= t->nodes) {
        const tmap_u64 node = t->number * TMAPI_SPILL_NODES + threadIdx.x;
        f->links[node] = TMAPI_SPILL_DRY, f->parent[node] = (tmap_u32)node, f->level[node] = 0;
        f->exits[node] = f->exits[all + node] = ~0ull;
    }
    if (threadIdx.x == 0) f->counts[t->number] = (unsigned char)t->nodes, f->done[t->number] = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE, basin = t->label[place];
        const tmap_u64 word = t->word[basin];
        const int root = (tmap_u32)word >> 31;
        const tmap_u32 node = tmapi_spill_node_of(root ? basin : (tmap_u32)word);
        const tmap_u32 key = t->key[place], up = root ? 0 : (tmap_u32)(word >> 32);
        const tmap_u32 level = key > up ? key : up;
        if (!(t->x < t->wide && t->y + i < t->high)) continue;
        nodes[i * TMAPI_SPILL_SIDE] =
            (unsigned char)(t->missing >> i & 1 ? TMAPI_SPILL_MISSING : node);
        if (shorts)
            ((short *)f->out)[at + i * width] = (short)(level ^ 0x80000000u);
        else
            ((tmap_u32 *)f->out)[at + i * width] = level;
    }
    __syncthreads();
}

// Solves the tiles, a block each.
static __global__ void __launch_bounds__(TMAPI_SPILL_BLOCK, 4)
    tmapi_spill_tile_kernel(tmapi_spill f) {
    extern __shared__ uint4 tmapi_spill_memory[];
    tmapi_spill_tile t;
    t.f = &f, t.word = (tmap_u64 *)tmapi_spill_memory;
    t.key = (tmap_u32 *)(t.word + tmapi_spill_basins(f.plan.map.connectivity));
    t.label = (unsigned short *)(t.key + TMAPI_SPILL_CELLS), t.list = t.label + TMAPI_SPILL_CELLS;
    t.sums = (tmap_u32 *)(t.list + TMAPI_SPILL_CELLS);
    t.number = blockIdx.x;
    t.left = (tmap_u64)(blockIdx.x % f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    t.top = (tmap_u64)(blockIdx.x / f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    t.x = threadIdx.x % TMAPI_SPILL_SIDE;
    t.y = threadIdx.x / TMAPI_SPILL_SIDE * TMAPI_SPILL_ROWS;
    t.place = t.y * TMAPI_SPILL_SIDE + t.x;
    t.wide = (tmap_u32)(f.plan.map.width - t.left), t.high = (tmap_u32)(f.plan.map.height - t.top);
    t.eight = f.plan.map.connectivity == 8;
    if (blockIdx.x == 0 && threadIdx.x < f.plan.rounds) f.hooked[threadIdx.x] = 0;
    tmapi_spill_load(&t);
    tmapi_spill_descend(&t);
    tmapi_spill_number(&t);
    tmapi_spill_list(&t);
    tmapi_spill_rounds(&t, TMAPI_SPILL_INNER);
    tmapi_spill_keep(&t);
    tmapi_spill_rounds(&t, 1);
}

#endif

#endif
