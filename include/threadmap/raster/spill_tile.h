// SPDX-License-Identifier: MIT
// spill_tile.h: a tile of spill.h: its plan, and the first launch, which finds for each cell the
// level at which water leaves the tile and where, and what other tiles need to know.
#ifndef TMAP_RASTER_SPILL_TILE_H
#define TMAP_RASTER_SPILL_TILE_H

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
#define TMAPI_SPILL_BLOCK  512u  // threads of a tile
#define TMAPI_SPILL_ROWS   8u    // cells of a thread, below each other
#define TMAPI_SPILL_OUT    4096u // the label of outlets, after those of cells
#define TMAPI_SPILL_WALL   4097u // that of walls, and of places outside the map
#define TMAPI_SPILL_NONE   0xffffffffu

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

// Bytes of shared memory of a tile: keys, saddles and neighbours of cells, labels.
TMAP_FN tmap_u32 tmapi_spill_bytes(void) { return TMAPI_SPILL_CELLS * 14 + 16; }

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
// A block of threads takes a tile; a thread takes eight cells below each other. Labels are places
// of cells. At first a cell's label is its lowest neighbour, and pointer jumping makes it the
// minimum below the cell. From then on it is the component of the cell's basin, and a component is
// a root: a cell that is its own label. In a round each component looks for its lowest exit: the
// least of max(key, key of the neighbour) over its cells and their neighbours of other components;
// among equal ones, the neighbour with the least label. It joins that one. So chains of joined
// components end in a pair that chose each other; the one with the lesser label remains.
//
// First only components without a node are joined, as these cannot leave the tile in another
// way. A component that joins another one over its lowest exit spills at that level, and if the
// exit of what it has become is higher, at that one. Then the nodes themselves are joined: these
// exits are the least tree that connects them, and all that other tiles need to know.

// The tile and the part of a thread.
typedef struct tmapi_spill_tile {
    const tmapi_spill *f;
    tmap_u32 *key, *low, *best; // of cells; of components: the exit and its neighbour
    unsigned short *label;
    tmap_u64 number, left, top; // of the tile; its first column and row
    tmap_u32 wide, high;        // columns and rows of the map from there on, 2^31 at most
    tmap_u32 x, y, place;       // the thread's column and first row in the tile, and that cell
    int eight, nodes;           // 1: neighbours over corners; nodes are joined
} tmapi_spill_tile;

// What a thread knows of its cells. In bits, row i is bit i.
typedef struct tmapi_spill_cells {
    tmap_u32 level[TMAPI_SPILL_ROWS]; // keys of the level at which water leaves the tile
    tmap_u32 exit[TMAPI_SPILL_ROWS];  // lowest way to a neighbour of another component
    tmap_u32 missing;                 // bits: NODATA
    tmap_u32 roots, moved; // bits: components that may join others; labels that may change
    int active;            // 1: there may be a neighbour of another component
} tmapi_spill_cells;

// The place of cell n, 0 to 8, of the nine around the thread's cell i. One outside the tile is
// moved to the tile's edge, where it is a neighbour too, or the cell itself.
TMAP_DEVICE tmap_u32 tmapi_spill_around(const tmapi_spill_tile *t, tmap_u32 i, int n) {
    const int row = n / 3 - 1, column = n % 3 - 1;
    const int up = row < 0 && i == 0 && t->y == 0;
    const int down =
        row > 0 && i == TMAPI_SPILL_ROWS - 1 && t->y == TMAPI_SPILL_SIDE - TMAPI_SPILL_ROWS;
    const int left = column < 0 && t->x == 0, right = column > 0 && t->x == TMAPI_SPILL_LAST;
    return t->place + i * TMAPI_SPILL_SIDE + (up || down ? 0u : (tmap_u32)row * TMAPI_SPILL_SIDE) +
           (left || right ? 0u : (tmap_u32)column);
}

// 1 if that cell is a neighbour.
TMAP_DEVICE int tmapi_spill_near(const tmapi_spill_tile *t, int n) {
    return n % 2 || (t->eight && n != 4);
}

// 1 for a component that may join another one now.
TMAP_DEVICE int tmapi_spill_joins(const tmapi_spill_tile *t, tmap_u32 label) {
    return label < TMAPI_SPILL_OUT && (t->nodes || !tmapi_spill_on_ring(label));
}

// Reads the thread's cells. Labels: TMAPI_SPILL_OUT, _WALL, or the cell itself.
TMAP_DEVICE void tmapi_spill_load(const tmapi_spill_tile *t, tmapi_spill_cells *c) {
    const tmapi_spill *f = t->f;
    const tmap_raster_map *map = &f->plan.map;
    const tmap_u64 x = t->left + t->x, y = t->top + t->y;
    const int floats = map->type == TMAP_RASTER_F32, border = f->plan.outlets & TMAP_SPILL_BORDER;
    const int column = border && (x == 0 || t->x + 1 == t->wide);
    tmap_u32 bits[TMAPI_SPILL_ROWS];
    c->missing = 0;
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
            c->missing |= 1u << i;
        } else if (column || (border && (y + i == 0 || t->y + i + 1 == t->high)) ||
                   (f->mask && f->mask[(y + i) * map->width + x])) {
            label = TMAPI_SPILL_OUT;
        }
        c->level[i] = key, t->key[place] = key, t->label[place] = (unsigned short)label;
    }
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
    for (int n = 0; n < 6; ++n) key[1 + n / 3][n % 3] = t->key[tmapi_spill_around(t, 0, n)];
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE;
        tmap_u32 at = place, least;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            key[0][k] = key[1][k], key[1][k] = key[2][k];
            key[2][k] = t->key[tmapi_spill_around(t, i, 6 + k)];
        }
        least = key[1][1];
#pragma unroll
        for (int n = 3; n >= 0; --n) // those before the cell, from the last one
            if (tmapi_spill_near(t, n) && key[n / 3][n % 3] <= least)
                least = key[n / 3][n % 3], at = tmapi_spill_around(t, i, n);
#pragma unroll
        for (int n = 5; n < 9; ++n)
            if (tmapi_spill_near(t, n) && key[n / 3][n % 3] < least)
                least = key[n / 3][n % 3], at = tmapi_spill_around(t, i, n);
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
    while (changed) { // pointer jumping
        changed = 0;
#pragma unroll
        for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
            const tmap_u32 next = t->label[to[i]];
            changed |= next != to[i], to[i] = next;
        }
        changed = __syncthreads_or(changed);
#pragma unroll
        for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i)
            t->label[t->place + i * TMAPI_SPILL_SIDE] = (unsigned short)to[i];
        __syncthreads();
    }
}

// Clears the exits of the thread's components.
TMAP_DEVICE void tmapi_spill_clear(const tmapi_spill_tile *t, tmap_u32 roots) {
    for (; roots; roots &= roots - 1) {
        const tmap_u32 place = t->place + (tmap_u32)(__ffs((int)roots) - 1) * TMAPI_SPILL_SIDE;
        t->low[place] = t->best[place] = TMAPI_SPILL_NONE;
    }
}

// Lowers the exit of a component. Most offers are no better, and need no atomic.
TMAP_DEVICE void tmapi_spill_offer(const tmapi_spill_tile *t, tmap_u32 label, tmap_u32 exit) {
    if (exit < *(volatile tmap_u32 *)(t->low + label)) atomicMin(t->low + label, exit);
}

// The component of a label. Nodes are joined without new labels for all cells.
TMAP_DEVICE tmap_u32 tmapi_spill_component(const tmapi_spill_tile *t, tmap_u32 label) {
    return t->nodes ? t->label[label] : label;
}

// Finds the exits of the thread's cells, and those of components. A thread offers one for all of
// its cells of a component that follow each other. Keys are read only where labels differ.
TMAP_DEVICE void tmapi_spill_exits(const tmapi_spill_tile *t, tmapi_spill_cells *c) {
    tmap_u32 label[3][3], last = TMAPI_SPILL_NONE, least = TMAPI_SPILL_NONE;
    c->active = 0;
#pragma unroll
    for (int n = 0; n < 6; ++n) label[1 + n / 3][n % 3] = t->label[tmapi_spill_around(t, 0, n)];
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        tmap_u32 lowest = TMAPI_SPILL_NONE, other = 0;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            label[0][k] = label[1][k], label[1][k] = label[2][k];
            label[2][k] = t->label[tmapi_spill_around(t, i, 6 + k)];
        }
#pragma unroll
        for (int n = 0; n < 9; ++n) other |= label[n / 3][n % 3] ^ label[1][1];
        const tmap_u32 own = tmapi_spill_component(t, label[1][1]);
        c->exit[i] = TMAPI_SPILL_NONE;
        if (!other || !tmapi_spill_joins(t, own)) continue;
#pragma unroll
        for (int n = 0; n < 9; ++n) {
            const tmap_u32 there = tmapi_spill_component(t, label[n / 3][n % 3]);
            if (!tmapi_spill_near(t, n) || there == own || there == TMAPI_SPILL_WALL) continue;
            const tmap_u32 high = t->key[tmapi_spill_around(t, i, n)];
            c->active = 1, lowest = high < lowest ? high : lowest;
        }
        const tmap_u32 key = t->key[t->place + i * TMAPI_SPILL_SIDE];
        c->exit[i] = key > lowest ? key : lowest;
        if (own != last && least != TMAPI_SPILL_NONE)
            tmapi_spill_offer(t, last, least), least = TMAPI_SPILL_NONE;
        last = own, least = c->exit[i] < least ? c->exit[i] : least;
    }
    if (least != TMAPI_SPILL_NONE) tmapi_spill_offer(t, last, least);
}

// Finds the neighbours of components' exits.
TMAP_DEVICE void tmapi_spill_choose(const tmapi_spill_tile *t, const tmapi_spill_cells *c) {
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE, key = t->key[place];
        const tmap_u32 own = tmapi_spill_component(t, t->label[place]);
        tmap_u32 best = TMAPI_SPILL_NONE;
        if (!tmapi_spill_joins(t, own) || c->exit[i] != t->low[own]) continue;
#pragma unroll 1
        for (tmap_u32 n = 0; n < 9; ++n) { // few cells come here
            const tmap_u32 x = t->x + n % 3 - 1, there = place + (n / 3 - 1) * TMAPI_SPILL_SIDE;
            if (x >= TMAPI_SPILL_SIDE || there >= TMAPI_SPILL_CELLS) continue;
            const tmap_u32 high = t->key[there - t->x + x];
            const tmap_u32 other = tmapi_spill_component(t, t->label[there - t->x + x]);
            if (tmapi_spill_near(t, (int)n) && other != own && other < best &&
                other != TMAPI_SPILL_WALL && (key > high ? key : high) == c->exit[i])
                best = other;
        }
        if (best != TMAPI_SPILL_NONE) atomicMin(t->best + own, best);
    }
}

// The node of a component, which tmapi_spill_keep has numbered.
TMAP_DEVICE tmap_u64 tmapi_spill_node_at(const tmapi_spill_tile *t, tmap_u32 label) {
    return t->number * TMAPI_SPILL_NODES +
           t->f->numbers[t->number * TMAPI_SPILL_RING + tmapi_spill_position(label)];
}

// Joins the thread's components to the neighbours of their exits; a node writes its link. Returns
// the bits of those that have been joined.
TMAP_DEVICE tmap_u32 tmapi_spill_join(const tmapi_spill_tile *t, tmapi_spill_cells *c) {
    tmap_u32 joined = 0;
    for (tmap_u32 left = c->roots; left; left &= left - 1) {
        const tmap_u32 bit = left & (0 - left);
        const tmap_u32 place = t->place + (tmap_u32)(__ffs((int)bit) - 1) * TMAPI_SPILL_SIDE;
        const tmap_u32 to = t->best[place];
        if (to == TMAPI_SPILL_NONE) {
            c->roots ^= bit; // no exit, and none later
            continue;
        }
        if (place < to && tmapi_spill_joins(t, to) && t->best[to] == place) continue;
        t->label[place] = (unsigned short)to, c->roots ^= bit, joined |= bit;
        if (!t->nodes) continue;
        const tmap_u64 node = tmapi_spill_node_at(t, place);
        t->f->links[node] = to == TMAPI_SPILL_OUT
                                ? 0
                                : (unsigned char)(tmapi_spill_node_at(t, to) % TMAPI_SPILL_NODES);
        t->f->saddles[node] = t->low[place];
    }
    return joined;
}

// Moves the thread's cells to the components that theirs were joined to, and raises their levels to
// the exits; of joined nodes, only the nodes themselves. A barrier of the block.
TMAP_DEVICE void tmapi_spill_move(const tmapi_spill_tile *t, tmap_u32 joined,
                                  tmapi_spill_cells *c) {
    tmap_u32 root[TMAPI_SPILL_ROWS];
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE;
        if (!(c->moved >> i & 1)) continue;
        root[i] = t->label[place];
        const tmap_u32 from = joined >> i & 1 ? place : root[i];
        if (!t->nodes && t->best[from] != TMAPI_SPILL_NONE && t->low[from] > c->level[i])
            c->level[i] = t->low[from];
        for (tmap_u32 next; (next = t->label[root[i]]) != root[i];) root[i] = next;
    }
    __syncthreads();
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        if (!(c->moved >> i & 1)) continue;
        t->label[t->place + i * TMAPI_SPILL_SIDE] = (unsigned short)root[i];
        if (!t->nodes && !tmapi_spill_joins(t, root[i])) c->moved ^= 1u << i; // it has a node
    }
}

// Joins components until none has an exit. Barriers of the block.
TMAP_DEVICE void tmapi_spill_rounds(const tmapi_spill_tile *t, tmapi_spill_cells *c) {
    c->roots = c->moved = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE, label = t->label[place];
        const tmap_u32 joins = (tmap_u32)tmapi_spill_joins(t, label) << i;
        c->roots |= label == place ? joins : 0;
        c->moved |= label == place || !t->nodes ? joins : 0;
    }
    c->active = t->nodes || c->moved;
    tmapi_spill_clear(t, c->roots);
    while (__syncthreads_or(c->roots != 0)) {
        if (c->active) tmapi_spill_exits(t, c);
        __syncthreads();
        if (c->active) tmapi_spill_choose(t, c);
        __syncthreads();
        const tmap_u32 joined = tmapi_spill_join(t, c);
        if (!__syncthreads_or(joined != 0)) break;
        tmapi_spill_move(t, joined, c);
        tmapi_spill_clear(t, c->roots);
    }
}

// The number of a cell's node, from that of its component in t->best.
TMAP_DEVICE tmap_u32 tmapi_spill_number(const tmapi_spill_tile *t, tmap_u32 place) {
    const tmap_u32 label = t->label[place];
    if (label >= TMAPI_SPILL_OUT) return label == TMAPI_SPILL_OUT ? 0 : TMAPI_SPILL_DRY;
    return t->best[label];
}

// Numbers the nodes in the order of the ring, and writes the ring and nodes without edges.
// Barriers of the block.
TMAP_DEVICE void tmapi_spill_keep_nodes(const tmapi_spill_tile *t) {
    const tmapi_spill *f = t->f;
    const tmap_u64 all = tmapi_spill_tiles(&f->plan) * TMAPI_SPILL_NODES;
    const tmap_u32 i = threadIdx.x, warp = i / 32;
    const tmap_u32 place = tmapi_spill_place(i < TMAPI_SPILL_AROUND ? i : 0);
    const int is = i < TMAPI_SPILL_AROUND && t->label[place] == place;
    const tmap_u32 bits = __ballot_sync(~0u, is);
    tmap_u32 before = tmapi_raster_count(bits & ((1u << i % 32) - 1)), count = 0;
    if (i % 32 == 0) t->low[warp] = tmapi_raster_count(bits);
    __syncthreads();
    for (tmap_u32 k = 0; k < TMAPI_SPILL_RING / 32; ++k) {
        if (k == warp) before += count;
        count += t->low[k];
    }
    if (is) t->best[place] = 1 + before;
    __syncthreads();
    if (i < TMAPI_SPILL_AROUND) {
        const tmap_u64 at = t->number * TMAPI_SPILL_RING + i;
        f->keys[at] = t->key[place], f->numbers[at] = (unsigned char)tmapi_spill_number(t, place);
    }
    if (i <= count) {
        const tmap_u64 node = t->number * TMAPI_SPILL_NODES + i;
        f->links[node] = TMAPI_SPILL_DRY, f->parent[node] = (tmap_u32)node, f->level[node] = 0;
        f->exits[node] = f->exits[all + node] = ~0ull;
    }
    if (i == 0) f->counts[t->number] = (unsigned char)count, f->done[t->number] = 0;
}

// Writes the thread's levels and nodes, and those of the tile. Barriers of the block.
TMAP_DEVICE void tmapi_spill_keep(const tmapi_spill_tile *t, const tmapi_spill_cells *c) {
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) { // components that water cannot leave
        const tmap_u32 place = t->place + i * TMAPI_SPILL_SIDE;
        if (t->label[place] == place && !tmapi_spill_on_ring(place))
            t->best[place] = TMAPI_SPILL_DRY;
    }
    tmapi_spill_keep_nodes(t);

    const tmapi_spill *f = t->f;
    const tmap_u64 width = f->plan.map.width, at = (t->top + t->y) * width + t->left + t->x;
    const int shorts = f->plan.map.type == TMAP_RASTER_I16 && f->plan.form == TMAP_SPILL_LEVEL;
    unsigned char *nodes = f->nodes + t->number * TMAPI_SPILL_CELLS + t->place;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 number = tmapi_spill_number(t, t->place + i * TMAPI_SPILL_SIDE);
        if (!(t->x < t->wide && t->y + i < t->high)) continue;
        nodes[i * TMAPI_SPILL_SIDE] =
            (unsigned char)(c->missing >> i & 1 ? TMAPI_SPILL_MISSING : number);
        if (shorts)
            ((short *)f->out)[at + i * width] = (short)(c->level[i] ^ 0x80000000u);
        else
            ((tmap_u32 *)f->out)[at + i * width] = c->level[i];
    }
}

// Solves the tiles, a block each.
static __global__ void __launch_bounds__(TMAPI_SPILL_BLOCK, 2)
    tmapi_spill_tile_kernel(tmapi_spill f) {
    extern __shared__ uint4 tmapi_spill_memory[];
    tmapi_spill_tile t;
    tmapi_spill_cells c;
    t.f = &f, t.key = (tmap_u32 *)tmapi_spill_memory, t.low = t.key + TMAPI_SPILL_CELLS;
    t.best = t.low + TMAPI_SPILL_CELLS;
    t.label = (unsigned short *)(t.best + TMAPI_SPILL_CELLS);
    t.number = blockIdx.x;
    t.left = (tmap_u64)(blockIdx.x % f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    t.top = (tmap_u64)(blockIdx.x / f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    t.x = threadIdx.x % TMAPI_SPILL_SIDE;
    t.y = threadIdx.x / TMAPI_SPILL_SIDE * TMAPI_SPILL_ROWS;
    t.place = t.y * TMAPI_SPILL_SIDE + t.x;
    t.wide = (tmap_u32)(f.plan.map.width - t.left), t.high = (tmap_u32)(f.plan.map.height - t.top);
    t.eight = f.plan.map.connectivity == 8, t.nodes = 0;
    tmapi_spill_load(&t, &c);
    if (threadIdx.x < 2)
        t.label[TMAPI_SPILL_OUT + threadIdx.x] = (unsigned short)(TMAPI_SPILL_OUT + threadIdx.x);
    if (blockIdx.x == 0 && threadIdx.x < f.plan.rounds) f.hooked[threadIdx.x] = 0;
    __syncthreads();
    tmapi_spill_descend(&t);
    tmapi_spill_rounds(&t, &c);
    tmapi_spill_keep(&t, &c);
    __syncthreads();
    t.nodes = 1;
    tmapi_spill_rounds(&t, &c);
}

#endif

#endif
