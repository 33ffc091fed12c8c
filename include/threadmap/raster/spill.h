// SPDX-License-Identifier: MIT
// spill.h: the level at which each cell of a height map floods: the lowest level at which water from
// the outlets reaches it, for all levels in one call. Hydrologists call it filling of depressions.
//
//     level(c) = min over paths from an outlet to c of the highest cell of the path, both ends in it
//
// A path goes from a cell to one of its 4 neighbours (over edges), or of its 8 (over corners too).
// Outlets are cells of the map's border, cells that touch NODATA, and cells of a mask. A cell is
// part of the flood of flood.h from all outlets at a level L if level(c) < L.
//
//     const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_F32, 8};
//     tmap_spill_plan plan;
//     tmap_spill_plan_make(&map, TMAP_SPILL_LEVEL, TMAP_SPILL_BORDER, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_spill(&plan, heights, 0, workspace, levels, stream);
//
// Sources: the division into tiles whose borders a graph of their own joins is that of R. Barnes,
// "Parallel priority-flood depression filling for trillion cell digital elevation models on desktops
// or clusters", Computers & Geosciences 96, 2016. Here a tile is solved by the rounds of O. Boruvka,
// 1926, as all tiles together are: each basin joins the neighbour over its lowest saddle.
//
// Launches: one that solves tiles, three for each round, of which those after the last round that
// joins anything return at once, and one that writes.
#ifndef TMAP_RASTER_SPILL_H
#define TMAP_RASTER_SPILL_H

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
    tmap_u64 at_keys, at_numbers, at_saddles, at_links, at_parent, at_level, at_exits, at_done;
    tmap_u64 at_hooked;
    tmap_u64 workspace; // bytes
} tmap_spill_plan;

// ---- tiles, their rings, and nodes --------------------------------------------------------------
//
// Heights have keys: unsigned numbers in the same order. The ring of a tile is its outermost cells,
// in the order of a walk around it:
//     0 to 62      first row, from the left      126 to 188   last row, from the right
//     63 to 125    last column, from the top     189 to 251   first column, from the bottom
// Water leaves a tile over its ring, so the tile finds for each cell the level at which water leaves
// it, and a cell of the ring where it does. A cell of the ring passes water on to a lower one of the
// ring; those without a lower one are the tile's nodes. Two cells next to each other are never both
// nodes, so a node has the number 1 + position / 2, 1 to 126.

#define TMAPI_SPILL_SIDE  64u
#define TMAPI_SPILL_CELLS 4096u
#define TMAPI_SPILL_RING  256u  // room for the cells of a ring
#define TMAPI_SPILL_NODES 128u  // room for the nodes of a tile; number 0 is outside for all tiles
#define TMAPI_SPILL_BLOCK 512u  // threads of a tile
#define TMAPI_SPILL_ROWS  8u    // cells of a thread, below each other
#define TMAPI_SPILL_OUT   4096u // the label of outlets in a tile, after those of its cells
#define TMAPI_SPILL_WALL  0xffffu
#define TMAPI_SPILL_NONE  0xffffffffu

// Numbers of cells that have no node.
#define TMAPI_SPILL_DRY     254u // walls, and cells that water cannot leave
#define TMAPI_SPILL_MISSING 255u // NODATA

// The argument of all kernels.
typedef struct tmapi_spill {
    tmap_spill_plan plan;
    tmap_u32 nodata, round; // the key of NODATA
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
    unsigned char *done;       // 1 for a tile whose edges are all within a component
    tmap_u32 *hooked;          // of each round: 1 if components were joined
} tmapi_spill;

TMAP_FN tmap_u64 tmapi_spill_tiles(const tmap_spill_plan *p) {
    return (tmap_u64)p->tiles_x * p->tiles_y;
}

// Bytes of shared memory of a tile: keys, saddles and neighbours of cells, labels.
TMAP_FN tmap_u32 tmapi_spill_bytes(void) { return TMAPI_SPILL_CELLS * 14 + 16; }

// Makes the plan of tmap_spill_plan_make from the facts of a device.
// map: its ranges are in raster/map.h; type: TMAP_RASTER_I16, _I32 or _F32. form: TMAP_SPILL_LEVEL
// or _DEPTH. outlets: a sum of TMAP_SPILL_BORDER and _NODATA, or 0 for a mask alone.
// plan->workspace: about 2.3 bytes a cell; 16384 x 16384 cells: 612 MB. Writes *plan only on
// success. Returns TMAP_EINVAL for a null pointer and an argument outside its range, or a device
// whose blocks have less than 57360 bytes of shared memory; TMAP_ERANGE for a map of 2^25 tiles of
// 64 x 64 cells or more, about 10^11 cells.
TMAP_FN int tmap_spill_plan_of(const tmap_raster_map *map, int form, int outlets,
                               const tmap_facts *facts, tmap_spill_plan *plan) {
    tmap_spill_plan p;
    tmap_u64 tiles, end = 0;
    if (!tmapi_raster_valid(map, TMAP_RASTER_I16, TMAP_RASTER_F32) || form < TMAP_SPILL_LEVEL ||
        form > TMAP_SPILL_DEPTH || outlets < 0 ||
        outlets > (TMAP_SPILL_BORDER | TMAP_SPILL_NODATA) || !facts || !plan ||
        facts->device.block_shared < tmapi_spill_bytes())
        return TMAP_EINVAL;
    p.map = *map, p.form = form, p.outlets = outlets;
    p.tiles_x = (tmap_u32)((map->width + TMAPI_SPILL_SIDE - 1) / TMAPI_SPILL_SIDE);
    p.tiles_y = (tmap_u32)((map->height + TMAPI_SPILL_SIDE - 1) / TMAPI_SPILL_SIDE);
    tiles = tmapi_spill_tiles(&p);
    if (tiles >= 1u << 25) return TMAP_ERANGE; // nodes have numbers of 32 bits
    // A round leaves half of the components at most.
    for (p.rounds = 1; tiles * TMAPI_SPILL_NODES >> p.rounds; ++p.rounds) {
    }
    p.blocks = facts->device.processors * 16;
    tmapi_raster_part(&end, tiles * TMAPI_SPILL_CELLS); // nodes
    p.at_keys = tmapi_raster_part(&end, tiles * TMAPI_SPILL_RING * 4);
    p.at_numbers = tmapi_raster_part(&end, tiles * TMAPI_SPILL_RING);
    p.at_saddles = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 4);
    p.at_links = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES);
    p.at_parent = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 4);
    p.at_level = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 4);
    p.at_exits = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 16);
    p.at_done = tmapi_raster_part(&end, tiles);
    p.at_hooked = tmapi_raster_part(&end, p.rounds * 4ull);
    p.workspace = end;
    *plan = p;
    return TMAP_OK;
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

// 1 for a cell of a tile, by its place 64 y + x, on the ring.
TMAP_DEVICE int tmapi_spill_on_ring(tmap_u32 place) {
    const tmap_u32 x = place % TMAPI_SPILL_SIDE, y = place / TMAPI_SPILL_SIDE;
    return (x + 1) % TMAPI_SPILL_SIDE <= 1 || (y + 1) % TMAPI_SPILL_SIDE <= 1;
}
// The position of such a cell.
TMAP_DEVICE tmap_u32 tmapi_spill_position(tmap_u32 place) {
    const tmap_u32 x = place % TMAPI_SPILL_SIDE, y = place / TMAPI_SPILL_SIDE;
    if (y == 0) return x;
    if (x == TMAPI_SPILL_SIDE - 1) return TMAPI_SPILL_SIDE - 1 + y;
    return y == TMAPI_SPILL_SIDE - 1 ? 3 * (TMAPI_SPILL_SIDE - 1) - x
                                     : 4 * (TMAPI_SPILL_SIDE - 1) - y;
}
// The number of the node of a label.
TMAP_DEVICE tmap_u32 tmapi_spill_number(tmap_u32 label) {
    if (label == TMAPI_SPILL_OUT) return 0;
    return label == TMAPI_SPILL_WALL || !tmapi_spill_on_ring(label)
               ? TMAPI_SPILL_DRY
               : 1 + tmapi_spill_position(label) / 2;
}

// ---- a tile -------------------------------------------------------------------------------------
//
// A block of threads takes a tile; a thread takes eight cells below each other. Labels are places
// of cells. At first a cell's label is its lowest neighbour, and pointer jumping makes it the
// minimum below the cell. From then on it is the component of the cell's basin, and a component is
// a root: a cell that is its own label. In a round each component looks for its lowest exit: the
// least of max(key, key of the neighbour) over its cells and their neighbours of other components;
// among equal ones, the neighbour with the least label. It joins that one. So chains of joined
// components end in a pair that chose each other, of which the one with the lesser label remains.
//
// First only components without a node are joined, as these cannot leave the tile in another way. A
// component that joins another one over its lowest exit spills at that level, and if the exit of
// what it has become is higher, at that one. Then the nodes themselves are joined: these exits are
// the least tree that connects them, and all that other tiles need to know.

// The tile and the part of a thread.
typedef struct tmapi_spill_tile {
    const tmapi_spill *f;
    tmap_u32 *key, *low, *best; // of cells; of components: the exit and its neighbour
    unsigned short *label;
    tmap_u64 number, left, top; // of the tile; its first column and row
    tmap_u32 x, y;              // the thread's column and first row in the tile
    int eight, nodes;           // 1: neighbours over corners; nodes are joined
} tmapi_spill_tile;

// What a thread knows of its cells.
typedef struct tmapi_spill_cells {
    tmap_u32 level[TMAPI_SPILL_ROWS]; // keys of the level at which water leaves the tile
    tmap_u32 exit[TMAPI_SPILL_ROWS];  // lowest way to a neighbour of another component
    tmap_u32 missing;                 // bits of rows: NODATA
    int active;                       // 1: there may be such a neighbour
} tmapi_spill_cells;

// A cell of a row, and those to its left and right: at the tile's edge the cell itself.
typedef struct tmapi_spill_row {
    tmap_u32 place[3], key[3], label[3];
} tmapi_spill_row;

TMAP_DEVICE tmapi_spill_row tmapi_spill_row_at(const tmapi_spill_tile *t, tmap_u32 y) {
    const tmap_u32 at = y * TMAPI_SPILL_SIDE + t->x;
    tmapi_spill_row row;
    row.place[0] = at - (t->x > 0), row.place[1] = at;
    row.place[2] = at + (t->x < TMAPI_SPILL_SIDE - 1);
#pragma unroll
    for (int i = 0; i < 3; ++i)
        row.key[i] = t->key[row.place[i]], row.label[i] = t->label[row.place[i]];
    return row;
}

// Three rows around one of the thread's: above[0], the row itself, and the one below. Row `y` is
// the last one read; a row outside the tile is that of its edge, which adds no neighbour.
TMAP_DEVICE void tmapi_spill_rows_begin(const tmapi_spill_tile *t, tmapi_spill_row *rows) {
    rows[1] = tmapi_spill_row_at(t, t->y ? t->y - 1 : 0), rows[2] = tmapi_spill_row_at(t, t->y);
}
TMAP_DEVICE void tmapi_spill_rows_next(const tmapi_spill_tile *t, tmap_u32 i,
                                       tmapi_spill_row *rows) {
    const tmap_u32 y = t->y + i + 1;
    rows[0] = rows[1], rows[1] = rows[2];
    rows[2] = tmapi_spill_row_at(t, y < TMAPI_SPILL_SIDE ? y : TMAPI_SPILL_SIDE - 1);
}

// 1 if cell i of row r, both 0 to 2, is a neighbour of the one in the middle.
TMAP_DEVICE int tmapi_spill_near(const tmapi_spill_tile *t, int r, int i) {
    return (r != 1) != (i != 1) || (t->eight && r != 1 && i != 1);
}

// 1 for a component that may join another one now.
TMAP_DEVICE int tmapi_spill_joins(const tmapi_spill_tile *t, tmap_u32 label) {
    return label < TMAPI_SPILL_OUT && (t->nodes || !tmapi_spill_on_ring(label));
}

// Reads the thread's cells. Labels: TMAPI_SPILL_OUT, _WALL, or the cell itself.
TMAP_DEVICE void tmapi_spill_load(const tmapi_spill_tile *t, tmapi_spill_cells *c) {
    const tmapi_spill *f = t->f;
    const tmap_raster_map *map = &f->plan.map;
    const tmap_u64 x = t->left + t->x;
    tmap_u32 bits[TMAPI_SPILL_ROWS];
    c->missing = 0, c->active = 1;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u64 y = t->top + t->y + i;
        bits[i] = 0;
        if (x < map->width && y < map->height) bits[i] = tmapi_spill_bits(f, y * map->pitch + x);
    }
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u64 y = t->top + t->y + i;
        const tmap_u32 place = (t->y + i) * TMAPI_SPILL_SIDE + t->x;
        tmap_u32 key = tmapi_spill_key(f, bits[i]), label = place;
        const int nan = map->type == TMAP_RASTER_F32 && key == TMAPI_SPILL_NONE;
        if (!(x < map->width && y < map->height)) {
            key = TMAPI_SPILL_NONE, label = TMAPI_SPILL_WALL;
        } else if (nan || (f->has_nodata && key == f->nodata)) {
            const int out = f->plan.outlets & TMAP_SPILL_NODATA;
            key = out ? 0 : TMAPI_SPILL_NONE, label = out ? TMAPI_SPILL_OUT : TMAPI_SPILL_WALL;
            c->missing |= 1u << i;
        } else if (((f->plan.outlets & TMAP_SPILL_BORDER) &&
                    (x == 0 || y == 0 || x == map->width - 1 || y == map->height - 1)) ||
                   (f->mask && f->mask[y * map->width + x])) {
            label = TMAPI_SPILL_OUT;
        }
        c->level[i] = key, t->key[place] = key, t->label[place] = (unsigned short)label;
    }
}

// Makes each cell's label the minimum below it, or TMAPI_SPILL_OUT. Cells of the ring go to cells of
// the ring. Of equal heights the first one is lower. Barriers of the block.
TMAP_DEVICE void tmapi_spill_descend(const tmapi_spill_tile *t) {
    tmapi_spill_row rows[3];
    tmap_u32 to[TMAPI_SPILL_ROWS];
    int changed = 1;
    tmapi_spill_rows_begin(t, rows);
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        tmapi_spill_rows_next(t, i, rows);
        tmap_u32 key = rows[1].key[1], at = rows[1].label[1];
        const int ring = tmapi_spill_on_ring(rows[1].place[1]);
        if (at < TMAPI_SPILL_OUT)
#pragma unroll
            for (int r = 0; r < 3; ++r)
#pragma unroll
                for (int k = 0; k < 3; ++k) {
                    const tmap_u32 there = rows[r].key[k], place = rows[r].place[k];
                    if (tmapi_spill_near(t, r, k) &&
                        (there < key || (there == key && place < at)) &&
                        rows[r].label[k] != TMAPI_SPILL_WALL &&
                        (!ring || tmapi_spill_on_ring(place)))
                        key = there, at = place;
                }
        to[i] = at;
    }
    while (__syncthreads_or(changed)) {
#pragma unroll
        for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i)
            t->label[(t->y + i) * TMAPI_SPILL_SIDE + t->x] = (unsigned short)to[i];
        __syncthreads();
        changed = 0;
#pragma unroll
        for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i)
            if (to[i] != TMAPI_SPILL_WALL) {
                const tmap_u32 next = t->label[to[i]];
                changed |= next != to[i], to[i] = next;
            }
    }
}

// Clears the exits of the thread's components that may join others. Returns 1 if there are any.
TMAP_DEVICE int tmapi_spill_clear(const tmapi_spill_tile *t) {
    int any = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = (t->y + i) * TMAPI_SPILL_SIDE + t->x;
        if (t->label[place] != place || !tmapi_spill_joins(t, place)) continue;
        t->low[place] = t->best[place] = TMAPI_SPILL_NONE, any = 1;
    }
    return any;
}

// Lowers the exit of a component. Most offers are no better, and need no atomic.
TMAP_DEVICE void tmapi_spill_offer(const tmapi_spill_tile *t, tmap_u32 label, tmap_u32 exit) {
    if (exit < *(volatile tmap_u32 *)(t->low + label)) atomicMin(t->low + label, exit);
}

// Finds the exits of the thread's cells, and those of components. A thread offers one for all of
// its cells of a component that follow each other.
TMAP_DEVICE void tmapi_spill_exits(const tmapi_spill_tile *t, tmapi_spill_cells *c) {
    tmapi_spill_row rows[3];
    tmap_u32 last = TMAPI_SPILL_NONE, least = TMAPI_SPILL_NONE; // the component and its exit
    int active = 0;
    tmapi_spill_rows_begin(t, rows);
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        tmap_u32 lowest = TMAPI_SPILL_NONE;
        tmapi_spill_rows_next(t, i, rows);
        const tmap_u32 own = rows[1].label[1];
        if (!tmapi_spill_joins(t, own)) continue;
#pragma unroll
        for (int r = 0; r < 3; ++r)
#pragma unroll
            for (int k = 0; k < 3; ++k) {
                const tmap_u32 other = rows[r].label[k], there = rows[r].key[k];
                if (!tmapi_spill_near(t, r, k) || other == own || other == TMAPI_SPILL_WALL)
                    continue;
                active = 1, lowest = there < lowest ? there : lowest;
            }
        c->exit[i] = rows[1].key[1] > lowest ? rows[1].key[1] : lowest;
        if (own != last) {
            if (least != TMAPI_SPILL_NONE) tmapi_spill_offer(t, last, least);
            last = own, least = TMAPI_SPILL_NONE;
        }
        least = c->exit[i] < least ? c->exit[i] : least;
    }
    if (least != TMAPI_SPILL_NONE) tmapi_spill_offer(t, last, least);
    c->active = active;
}

// Finds the neighbours of components' exits.
TMAP_DEVICE void tmapi_spill_choose(const tmapi_spill_tile *t, const tmapi_spill_cells *c) {
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 y = t->y + i, place = y * TMAPI_SPILL_SIDE + t->x;
        const tmap_u32 own = t->label[place], key = t->key[place];
        tmap_u32 best = TMAPI_SPILL_NONE;
        if (!tmapi_spill_joins(t, own) || c->exit[i] != t->low[own]) continue;
        for (int r = 0; r < 3; ++r) {
            const tmap_u32 there = y + r - 1 < TMAPI_SPILL_SIDE ? y + (tmap_u32)r - 1 : y;
            const tmapi_spill_row row = tmapi_spill_row_at(t, there);
            for (int k = 0; k < 3; ++k)
                if (tmapi_spill_near(t, r, k) && row.label[k] != own && row.label[k] < best &&
                    row.label[k] != TMAPI_SPILL_WALL &&
                    (key > row.key[k] ? key : row.key[k]) == c->exit[i])
                    best = row.label[k];
        }
        if (best != TMAPI_SPILL_NONE) atomicMin(t->best + own, best);
    }
}

// Joins the thread's components to the neighbours of their exits; a node writes its link. Returns
// the rows of components that have been joined as bits; *more: 1 if another one had an exit.
TMAP_DEVICE tmap_u32 tmapi_spill_join(const tmapi_spill_tile *t, int *more) {
    tmap_u32 joined = 0;
    *more = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = (t->y + i) * TMAPI_SPILL_SIDE + t->x;
        if (t->label[place] != place || !tmapi_spill_joins(t, place)) continue;
        const tmap_u32 to = t->best[place];
        if (to == TMAPI_SPILL_NONE) continue;
        if (place < to && tmapi_spill_joins(t, to) && t->best[to] == place) {
            *more = 1;
            continue;
        }
        t->label[place] = (unsigned short)to, joined |= 1u << i;
        if (!t->nodes) continue;
        const tmap_u64 node = t->number * TMAPI_SPILL_NODES + tmapi_spill_number(place);
        t->f->links[node] = (unsigned char)tmapi_spill_number(to);
        t->f->saddles[node] = t->low[place];
    }
    return joined;
}

// Moves the thread's cells to the components that theirs were joined to, and raises their levels to
// the exits. A barrier of the block.
TMAP_DEVICE void tmapi_spill_move(const tmapi_spill_tile *t, tmap_u32 joined,
                                  tmapi_spill_cells *c) {
    tmap_u32 root[TMAPI_SPILL_ROWS];
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u32 place = (t->y + i) * TMAPI_SPILL_SIDE + t->x, up = t->label[place];
        const tmap_u32 from = joined >> i & 1 ? place : up;
        root[i] = up;
        if (!tmapi_spill_joins(t, from)) continue;
        if (t->best[from] != TMAPI_SPILL_NONE && t->low[from] > c->level[i])
            c->level[i] = t->low[from];
        for (tmap_u32 next; (next = t->label[root[i]]) != root[i];) root[i] = next;
    }
    __syncthreads();
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i)
        t->label[(t->y + i) * TMAPI_SPILL_SIDE + t->x] = (unsigned short)root[i];
}

// Joins components until none has an exit. Barriers of the block.
TMAP_DEVICE void tmapi_spill_rounds(const tmapi_spill_tile *t, tmapi_spill_cells *c) {
    int more = tmapi_spill_clear(t);
    c->active = 1;
    while (__syncthreads_or(more)) {
        if (c->active) tmapi_spill_exits(t, c);
        __syncthreads();
        if (c->active) tmapi_spill_choose(t, c);
        __syncthreads();
        const tmap_u32 joined = tmapi_spill_join(t, &more);
        __syncthreads();
        tmapi_spill_move(t, joined, c);
        tmapi_spill_clear(t);
    }
}

// Writes the thread's levels and nodes, and the ring.
TMAP_DEVICE void tmapi_spill_keep(const tmapi_spill_tile *t, const tmapi_spill_cells *c) {
    const tmapi_spill *f = t->f;
    const tmap_raster_map *map = &f->plan.map;
    const tmap_u64 x = t->left + t->x;
    const int shorts = map->type == TMAP_RASTER_I16 && f->plan.form == TMAP_SPILL_LEVEL;
#pragma unroll
    for (tmap_u32 i = 0; i < TMAPI_SPILL_ROWS; ++i) {
        const tmap_u64 y = t->top + t->y + i;
        const tmap_u32 place = (t->y + i) * TMAPI_SPILL_SIDE + t->x;
        const tmap_u32 number = tmapi_spill_number(t->label[place]);
        if (tmapi_spill_on_ring(place)) {
            const tmap_u64 at = t->number * TMAPI_SPILL_RING + tmapi_spill_position(place);
            f->keys[at] = t->key[place], f->numbers[at] = (unsigned char)number;
        }
        if (!(x < map->width && y < map->height)) continue;
        f->nodes[t->number * TMAPI_SPILL_CELLS + place] =
            (unsigned char)(c->missing >> i & 1 ? TMAPI_SPILL_MISSING : number);
        if (shorts)
            ((short *)f->out)[y * map->width + x] = (short)(c->level[i] ^ 0x80000000u);
        else
            ((tmap_u32 *)f->out)[y * map->width + x] = c->level[i];
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
    t.eight = f.plan.map.connectivity == 8, t.nodes = 0;
    tmapi_spill_load(&t, &c);
    if (threadIdx.x == 0) {
        t.label[TMAPI_SPILL_OUT] = TMAPI_SPILL_OUT;
        f.done[t.number] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x < f.plan.rounds) f.hooked[threadIdx.x] = 0;
    if (threadIdx.x < TMAPI_SPILL_NODES) {
        const tmap_u64 nodes = tmapi_spill_tiles(&f.plan) * TMAPI_SPILL_NODES;
        const tmap_u64 node = t.number * TMAPI_SPILL_NODES + threadIdx.x;
        f.links[node] = TMAPI_SPILL_DRY, f.parent[node] = (tmap_u32)node, f.level[node] = 0;
        f.exits[node] = f.exits[nodes + node] = ~0ull;
    }
    __syncthreads();
    tmapi_spill_descend(&t);
    tmapi_spill_rounds(&t, &c);
    tmapi_spill_keep(&t, &c);
    t.nodes = 1;
    tmapi_spill_rounds(&t, &c);
}

// ---- all tiles ----------------------------------------------------------------------------------
//
// The same rounds for the nodes of all tiles. Node 0 is outside: nothing it needs, and it joins
// none. Edges are the links in tiles, and neighbours of two tiles' rings, which are compared anew
// in each round until all of a tile's are within a component. An exit is one word of 64 bits: the
// saddle above and the neighbour below, so that one minimum finds both.

// The round's exits.
TMAP_DEVICE tmap_u64 *tmapi_spill_exits_of(const tmapi_spill *f, tmap_u32 round) {
    return f->exits + (round % 2 ? tmapi_spill_tiles(&f->plan) * TMAPI_SPILL_NODES : 0);
}

// 1 if the last round joined nothing.
TMAP_DEVICE int tmapi_spill_over(const tmapi_spill *f) {
    return f->round && !f->hooked[f->round - 1];
}

// The node of a number in a tile.
TMAP_DEVICE tmap_u32 tmapi_spill_node(tmap_u64 tile, tmap_u32 number) {
    return number ? (tmap_u32)(tile * TMAPI_SPILL_NODES) + number : 0;
}

// An edge between two nodes: lowers the exits of their components. Returns 0 if they have the same.
TMAP_DEVICE int tmapi_spill_edge(const tmapi_spill *f, tmap_u32 a, tmap_u32 b, tmap_u32 saddle) {
    tmap_u64 *exits = tmapi_spill_exits_of(f, f->round);
    const tmap_u32 up[2] = {f->parent[a], f->parent[b]};
    if (up[0] == up[1]) return 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const tmap_u64 exit = (tmap_u64)saddle << 32 | up[1 - i];
        if (up[i] && exit < *(volatile tmap_u64 *)(exits + up[i])) atomicMin(exits + up[i], exit);
    }
    return 1;
}

// The same between position p of a tile's ring and position q of another one's.
TMAP_DEVICE int tmapi_spill_seam(const tmapi_spill *f, tmap_u64 tile, tmap_u32 p, tmap_u64 other,
                                 tmap_u32 q) {
    const tmap_u64 i = tile * TMAPI_SPILL_RING + p, k = other * TMAPI_SPILL_RING + q;
    const tmap_u32 a = f->numbers[i], b = f->numbers[k];
    if (a >= TMAPI_SPILL_DRY || b >= TMAPI_SPILL_DRY) return 0;
    return tmapi_spill_edge(f, tmapi_spill_node(tile, a), tmapi_spill_node(other, b),
                            f->keys[i] > f->keys[k] ? f->keys[i] : f->keys[k]);
}

// The edges of a thread of 128 for a tile: the link of a node; a cell of the last column or row and
// its neighbours in the next tile; two corners. Returns 0 if all are within a component.
TMAP_DEVICE int tmapi_spill_tile_edges(const tmapi_spill *f, tmap_u64 tile) {
    const tmap_u32 across = f->plan.tiles_x, tx = (tmap_u32)(tile % across);
    const tmap_u32 last = TMAPI_SPILL_SIDE - 1, i = threadIdx.x % TMAPI_SPILL_SIDE;
    const tmap_u64 node = tile * TMAPI_SPILL_NODES + threadIdx.x;
    const int down = threadIdx.x >= TMAPI_SPILL_SIDE, eight = f->plan.map.connectivity == 8;
    const int right = tx + 1 < across, below = tile / across + 1 < f->plan.tiles_y;
    int open = 0;
    if (f->links[node] != TMAPI_SPILL_DRY)
        open = tmapi_spill_edge(f, tmapi_spill_node(tile, threadIdx.x),
                                tmapi_spill_node(tile, f->links[node]), f->saddles[node]);
    if (down ? below : right)
        for (tmap_u32 k = i - (eight && i); k <= i + (eight && i < last); ++k)
            open |=
                down ? tmapi_spill_seam(f, tile, 3 * last - i, tile + across, k)
                     : tmapi_spill_seam(f, tile, last + i, tile + 1, (4 * last - k) % (4 * last));
    if (eight && below && threadIdx.x == 0 && right)
        open |= tmapi_spill_seam(f, tile, 2 * last, tile + across + 1, 0);
    if (eight && below && threadIdx.x == TMAPI_SPILL_SIDE && tx)
        open |= tmapi_spill_seam(f, tile, 3 * last, tile + across - 1, last);
    return open;
}

// Finds the exits of components.
static __global__ void __launch_bounds__(TMAPI_SPILL_NODES)
    tmapi_spill_edges_kernel(tmapi_spill f) {
    const tmap_u64 tiles = tmapi_spill_tiles(&f.plan);
    if (tmapi_spill_over(&f)) return;
    for (tmap_u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (f.done[tile]) continue;
        const int open = __syncthreads_or(tmapi_spill_tile_edges(&f, tile));
        if (!open && threadIdx.x == 0) f.done[tile] = 1;
    }
}

// Joins components to the neighbours of their exits.
static __global__ void __launch_bounds__(256) tmapi_spill_hook_kernel(tmapi_spill f) {
    const tmap_u64 nodes = tmapi_spill_tiles(&f.plan) * TMAPI_SPILL_NODES;
    const tmap_u64 *exits = tmapi_spill_exits_of(&f, f.round);
    int hooked = 0;
    if (tmapi_spill_over(&f)) return;
    for (tmap_u64 i = (tmap_u64)blockIdx.x * 256 + threadIdx.x; i < nodes;
         i += gridDim.x * 256ull) {
        const tmap_u32 to = (tmap_u32)exits[i];
        if (exits[i] == ~0ull || (i < to && (tmap_u32)exits[to] == i)) continue;
        f.parent[i] = to, hooked = 1;
    }
    if (hooked) f.hooked[f.round] = 1;
}

// Raises the levels of nodes to the exits of their components, moves them to those that these were
// joined to, and clears the exits of the next round.
static __global__ void __launch_bounds__(256) tmapi_spill_move_kernel(tmapi_spill f) {
    const tmap_u64 nodes = tmapi_spill_tiles(&f.plan) * TMAPI_SPILL_NODES;
    const tmap_u64 *exits = tmapi_spill_exits_of(&f, f.round);
    tmap_u64 *next = tmapi_spill_exits_of(&f, f.round + 1);
    if (tmapi_spill_over(&f)) return;
    for (tmap_u64 i = (tmap_u64)blockIdx.x * 256 + threadIdx.x; i < nodes;
         i += gridDim.x * 256ull) {
        // a component's own parent may be new already
        const tmap_u32 from = exits[i] != ~0ull ? (tmap_u32)i : __ldcg(f.parent + i);
        const tmap_u64 exit = exits[from];
        next[i] = ~0ull;
        if (exit == ~0ull) continue;
        if ((tmap_u32)(exit >> 32) > f.level[i]) f.level[i] = (tmap_u32)(exit >> 32);
        tmapi_raster_root(f.parent, (tmap_u32)i);
    }
}

// Writes the results of a tile: the higher one of the level at which a cell's water leaves the tile
// and that of its node.
static __global__ void __launch_bounds__(256) tmapi_spill_write_kernel(tmapi_spill f) {
    __shared__ tmap_u32 level[TMAPI_SPILL_NODES];
    const tmap_raster_map *map = &f.plan.map;
    const tmap_u64 left = (tmap_u64)(blockIdx.x % f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    const tmap_u64 top = (tmap_u64)(blockIdx.x / f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    const tmap_u32 most = map->type == TMAP_RASTER_I16   ? 0x80007fffu // keys of +infinity
                          : map->type == TMAP_RASTER_F32 ? 0xff800000u
                                                         : TMAPI_SPILL_NONE;
    const int depth = f.plan.form == TMAP_SPILL_DEPTH, shorts = map->type == TMAP_RASTER_I16;
    if (threadIdx.x < TMAPI_SPILL_NODES) {
        const tmap_u64 node = (tmap_u64)blockIdx.x * TMAPI_SPILL_NODES + threadIdx.x;
        level[threadIdx.x] = threadIdx.x && f.parent[node] ? most : f.level[node];
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < TMAPI_SPILL_CELLS; i += 256) {
        const tmap_u64 x = left + i % TMAPI_SPILL_SIDE, y = top + i / TMAPI_SPILL_SIDE;
        const tmap_u64 at = y * map->width + x;
        if (!(x < map->width && y < map->height)) continue;
        const tmap_u32 number = f.nodes[(tmap_u64)blockIdx.x * TMAPI_SPILL_CELLS + i];
        const int missing = number == TMAPI_SPILL_MISSING;
        tmap_u32 bits = 0, key = number < TMAPI_SPILL_DRY ? level[number] : most;
        if (missing || depth) bits = tmapi_spill_bits(&f, y * map->pitch + x);
        if (!missing) {
            const tmap_u32 within = shorts && !depth
                                        ? (tmap_u32)((const short *)f.out)[at] ^ 0x80000000u
                                        : ((const tmap_u32 *)f.out)[at];
            key = within > key ? within : key;
        }
        if (depth) {
            const int floats = map->type == TMAP_RASTER_F32;
            const tmap_u32 high = tmapi_spill_unkey(&f, key);
            const double low = floats ? tmapi_raster_double(__uint_as_float(bits)) : (int)bits;
            const double up = floats ? tmapi_raster_double(__uint_as_float(high)) : (int)high;
            ((float *)f.out)[at] = missing || up == low ? 0.0f : tmapi_raster_float(up - low);
            continue;
        }
        if (!missing) bits = tmapi_spill_unkey(&f, key);
        if (shorts)
            ((short *)f.out)[at] = (short)bits;
        else
            ((tmap_u32 *)f.out)[at] = bits;
    }
}

// ---- calls --------------------------------------------------------------------------------------

// Makes the plan of the spill levels of a map on the current device: tmap_spill_plan_of with its
// facts. Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for
// TMAP_ERANGE, or the error of a device query. Cost: calls that do not wait for the device.
static inline cudaError_t tmap_spill_plan_make(const tmap_raster_map *map, int form, int outlets,
                                               tmap_spill_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_spill_tile_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_spill_plan_of(map, form, outlets, &facts, plan));
}

// The argument of the kernels.
static inline tmapi_spill tmapi_spill_of(const tmap_spill_plan *plan, const void *heights,
                                         const void *mask, void *workspace, void *out) {
    const tmap_raster_map *map = &plan->map;
    unsigned char *at = (unsigned char *)workspace;
    tmapi_spill f;
    int nodata;
    f.plan = *plan, f.heights = heights, f.mask = (const unsigned char *)mask, f.out = out;
    f.has_nodata = tmapi_raster_nodata(map, &nodata), f.round = 0;
    if (map->type == TMAP_RASTER_F32) nodata = tmapi_raster_float_key((tmap_u32)nodata);
    f.nodata = (tmap_u32)nodata ^ 0x80000000u;
    f.nodes = at, f.keys = (tmap_u32 *)(at + plan->at_keys), f.numbers = at + plan->at_numbers;
    f.saddles = (tmap_u32 *)(at + plan->at_saddles), f.links = at + plan->at_links;
    f.parent = (tmap_u32 *)(at + plan->at_parent), f.level = (tmap_u32 *)(at + plan->at_level);
    f.exits = (tmap_u64 *)(at + plan->at_exits), f.done = at + plan->at_done;
    f.hooked = (tmap_u32 *)(at + plan->at_hooked);
    return f;
}

// Writes the level at which each cell of a map floods: the lowest one at which water from an outlet
// reaches it. That of an outlet is its height. A cell of NODATA gets its value again, or depth 0; one
// that no water can reach gets the largest level of its type, or +infinity; -0 is 0.
// plan: that of the map, which says what outlets are. heights: of the map, device memory. mask: null,
// or a byte for each cell, width * height of them: outlets where it is not 0. workspace:
// plan->workspace bytes at a multiple of 16, with any content. out: width * height heights or
// floats; all are written. All pointers are device memory and do not overlap; calls that run at the
// same time need one workspace each. A map without cells needs none of them: the call does nothing.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps, before
// any launch; else the first error of its calls. Allocates nothing, does not wait, and can be
// captured. Results are exact and the same in every run.
// Cost: heights are read once (twice for depths); a byte and a level a cell are written and read; in
// a tile of 64 x 64 cells some 40 instructions a cell and round, as many rounds as the logarithm of
// its minima. log2 of the number of nodes, at most 126 a tile, bounds the rounds of all tiles; each
// reads about 2000 bytes of a tile with edges between components. Not measured on a GPU yet.
// Example: heights 5 1 3 2 4, a map of one row without corners, outlet (0, 0) alone: 5 5 5 5 5; with
// the outlet (4, 0) alone: 5 4 4 4 4.
static inline cudaError_t tmap_spill(const tmap_spill_plan *plan, const void *heights,
                                     const void *mask, void *workspace, void *out,
                                     cudaStream_t stream) {
    if (!plan) return cudaErrorInvalidValue;
    const tmap_raster_map *map = &plan->map;
    const tmap_u64 tiles = tmapi_spill_tiles(plan), nodes = tiles * TMAPI_SPILL_NODES;
    const tmap_u64 cells = map->width * map->height, size = tmap_raster_size(map->type);
    const tmap_u64 of_out = plan->form == TMAP_SPILL_DEPTH ? 4 : size;
    const tmap_u64 most = plan->blocks, hooks = (nodes + 255) / 256;
    if (!tiles) return cudaSuccess;
    const tmapi_raster_memory all[4] = {
        {workspace, plan->workspace},
        {out, cells * of_out},
        {heights,
         tmap_mul_saturate(tmapi_raster_span(map->height - 1, map->pitch, map->width), size)},
        {mask, mask ? cells : 0}};
    if (!tmapi_raster_aligned(heights, size) || !tmapi_raster_aligned(workspace, 16) ||
        !tmapi_raster_aligned(out, of_out) || tmapi_raster_overlap(all, 2, 4))
        return cudaErrorInvalidValue;
    tmapi_spill f = tmapi_spill_of(plan, heights, mask, workspace, out);
    const tmapi_raster_step first = {(const void *)tmapi_spill_tile_kernel,
                                     {tiles, TMAPI_SPILL_BLOCK, tmapi_spill_bytes()}};
    const tmapi_raster_step last = {(const void *)tmapi_spill_write_kernel, {tiles, 256, 0}};
    const tmapi_raster_step round[3] = {
        {(const void *)tmapi_spill_edges_kernel,
         {tiles < most ? tiles : most, TMAPI_SPILL_NODES, 0}},
        {(const void *)tmapi_spill_hook_kernel, {hooks < most ? hooks : most, 256, 0}},
        {(const void *)tmapi_spill_move_kernel, {hooks < most ? hooks : most, 256, 0}}};
    cudaError_t error = tmapi_raster_run(&first, 1, &f, stream);
    for (; f.round < plan->rounds && !error; ++f.round)
        error = tmapi_raster_run(round, 3, &f, stream);
    return error ? error : tmapi_raster_run(&last, 1, &f, stream);
}

#endif

#endif
