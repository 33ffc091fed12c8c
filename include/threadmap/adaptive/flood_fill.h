// SPDX-License-Identifier: MIT
// flood_fill.h: a flood's last pass: fills each tile from the flooded runs on its border, and
// writes the result.
//
// A thread has a tile of 32 x 16 cells in registers. Water spreads along a row by carries, up from
// a word's low bits, and up from those of its reverse; as every step would need both orders, rows
// alternate between them. From row to row it goes down and up again until nothing changes.
#ifndef TMAP_ADAPTIVE_FLOOD_FILL_H
#define TMAP_ADAPTIVE_FLOOD_FILL_H

#include "flood_run.h"

#if TMAP_CUDA

#define TMAPI_FLOOD_TILE  16u  // rows of a tile
#define TMAPI_FLOOD_PITCH 272u // words of a row of tiles in shared memory: other banks for each

// A tile's wet cells, in both orders of bits.
typedef struct tmapi_flood_tile {
    tmap_u32 row[TMAPI_FLOOD_TILE], back[TMAPI_FLOOD_TILE];
} tmapi_flood_tile;

// Shared memory of a block, for its rows.
typedef struct tmapi_flood_room {
    tmap_u32 *cells; // flooded: TMAPI_FLOOD_PITCH words for 16 rows
    tmap_u32 *flags; // of nodes 20 words, then of slots 8 a row
    tmap_u64 *table; // TMAPI_FLOOD_QUADS a row
} tmapi_flood_room;

TMAP_FN tmap_u32 tmapi_flood_room_bytes(tmap_u32 rows) {
    return rows / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH * 4 + 80 + rows * 32 +
           rows * TMAPI_FLOOD_QUADS * 8;
}

TMAP_DEVICE tmapi_flood_room tmapi_flood_room_at(void *memory, tmap_u32 rows) {
    tmapi_flood_room r;
    r.cells = (tmap_u32 *)memory;
    r.flags = r.cells + rows / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH;
    r.table = (tmap_u64 *)(r.flags + 20 + 8 * rows);
    return r;
}

// The word of a row of a block in `cells`.
TMAP_DEVICE tmap_u32 tmapi_flood_cell_word(tmap_u32 row, tmap_u32 word) {
    return row / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH + row % TMAPI_FLOOD_TILE * TMAPI_FLOOD_WORDS +
           word;
}

// Lets water of a row spread to the next one. r: the next row; from: of the row before, in its
// order; to: of row r, in its own.
TMAP_DEVICE tmap_u32 tmapi_flood_spread(const tmapi_flood_tile *t, int r, tmap_u32 from,
                                        tmap_u32 to, int eight) {
    const tmap_u32 theirs = r & 1 ? t->row[r] : t->back[r]; // row r in the order of its neighbours
    const tmap_u32 own = r & 1 ? t->back[r] : t->row[r];
    const tmap_u32 reach = theirs & (eight ? tmapi_flood_wide(from) : from);
    return tmapi_flood_up(own, __brev(tmapi_flood_up(theirs, reach)) | to);
}

// Fills a tile. fill: whole runs, the words of odd rows in reverse. All lanes take part.
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

// The flags of a block's components: of the nodes from the second pass, and of those that hold a
// seed; and the seeds themselves, in `cells`.
TMAP_DEVICE void tmapi_flood_read_flags(const tmapi_flood *f, const tmapi_flood_room *r,
                                        const tmapi_flood_area *a, int seeds) {
    const tmap_u32 words = f->plan.rows / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH;
    for (tmap_u32 i = threadIdx.x; i < 20; i += blockDim.x)
        r->flags[i] = f->flags[a->block * 20 + i];
    if (seeds) {
        for (tmap_u32 i = threadIdx.x; i < 8 * f->plan.rows; i += blockDim.x) r->flags[20 + i] = 0;
        for (tmap_u32 i = threadIdx.x; i < words; i += blockDim.x) r->cells[i] = 0;
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; seeds && i < f->seed_count; i += blockDim.x) {
        tmap_u32 x, y, component, at;
        if (!tmapi_flood_seed_here(f, a, i, &x, &y)) continue;
        component = f->entries[2 * i + 1];
        if (component == TMAPI_FLOOD_NONE) continue;
        at = component & TMAPI_FLOOD_BORDER ? component ^ TMAPI_FLOOD_BORDER : 640 + component;
        atomicOr(r->flags + at / 32, 1u << at % 32);
        atomicOr(r->cells + tmapi_flood_cell_word(y, x / 32), 1u << x % 32);
    }
}

// Of `runs`, the beginnings of runs, those whose components are flooded. list: their components, in
// the order of runs; it is moved on.
TMAP_DEVICE tmap_u32 tmapi_flood_flooded(const tmapi_flood_room *r, const unsigned short **list,
                                         tmap_u32 runs, int seeds) {
    tmap_u32 flooded = 0;
    while (runs) {
        const tmap_u32 bit = runs & (0u - runs), component = *(*list)++;
        const tmap_u32 border = component & TMAPI_FLOOD_BORDER;
        const tmap_u32 at = border ? component ^ TMAPI_FLOOD_BORDER : 640 + component;
        if ((border || seeds) && r->flags[at / 32] >> at % 32 & 1) flooded |= bit;
        runs ^= bit;
    }
    return flooded;
}

// Floods the tile of the calling thread in a block that holds wet and dry cells, and puts it into
// `cells`. Barriers of the block.
TMAP_DEVICE void tmapi_flood_tile_of(const tmapi_flood *f, const tmapi_flood_room *room,
                                     const tmapi_flood_area *a) {
    const tmap_u32 t = threadIdx.x, word = t % TMAPI_FLOOD_WORDS, top = t / 16 * TMAPI_FLOOD_TILE;
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    const tmap_u32 *from = f->bits + (a->y + top) * words + a->x / 32 + word;
    const unsigned short *offsets = f->offsets + a->block * (2 * f->plan.rows + 1), *list;
    tmap_u32 *cells = room->cells + tmapi_flood_cell_word(top, word);
    tmap_u32 fill[TMAPI_FLOOD_TILE], any = 0, all = ~0u, left = 0, right = 0, total;
    tmap_u32 flooded_row, flooded_last, flooded_left, flooded_right, some;
    tmapi_flood_tile tile;
    const int seeds = tmapi_flood_seeds_here(f, a);
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) tile.row[r] = from[r * words];
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        tile.back[r] = __brev(tile.row[r]);
        any |= tile.row[r], all &= tile.row[r];
        left |= (tile.row[r] & 1) << r, right |= tile.row[r] >> 31 << r;
    }
    tmapi_flood_read_flags(f, room, a, seeds);
    total = offsets[2 * f->plan.rows];
    for (tmap_u32 i = t; i < total; i += blockDim.x)
        room->table[i] = f->table[a->block * f->plan.rows * TMAPI_FLOOD_QUADS + i];
    __syncthreads();
    list = (const unsigned short *)(room->table + offsets[2 * t]);
    flooded_row = tmapi_flood_flooded(room, &list, tmapi_flood_starts(tile.row[0]), seeds);
    flooded_left = tmapi_flood_flooded(room, &list, tmapi_flood_starts(left), seeds);
    list = (const unsigned short *)(room->table + offsets[2 * t + 1]);
    flooded_last =
        tmapi_flood_flooded(room, &list, tmapi_flood_starts(tile.row[TMAPI_FLOOD_TILE - 1]), seeds);
    flooded_right = tmapi_flood_flooded(room, &list, tmapi_flood_starts(right), seeds);
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

#endif // TMAP_CUDA
#endif
