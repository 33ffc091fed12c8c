// SPDX-License-Identifier: MIT
// flood.h: the flooded region of a height map: sources and a level in, all cells out that water
// reaches. flood_map.h says what that means.
//
//     tmap_flood_map map = {width, height, width, 0, 0, TMAP_FLOOD_I16, 4};
//     tmap_flood_plan plan;
//     tmap_flood_plan_make(&map, TMAP_FLOOD_U8, 1, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_flood(&plan, heights, seeds, 1, level, workspace, out, stream);
//
// Source: the "construction of regions" of the lecture slides to Filipovic, Plhak, Strelak, HPCS
// 2015: regions of tiles in shared memory, joined over tiles' borders, and one pass that writes.
// Here, five launches, whatever the map:
//     local   heights become bits; the components of each block of 512 x 128 cells (flood_local.h)
//     unite   components that touch over the edges of blocks are joined (flood.h)
//     mark    those with a source are marked
//     flags   which components on blocks' borders are flooded
//     last    each tile of 32 x 16 cells is filled from its border (flood.h)
//
// A map that is flooded again, at other levels or from other sources: flood.h.
#ifndef TMAP_RASTER_FLOOD_H
#define TMAP_RASTER_FLOOD_H

#include "../launch.h"
#include "flood_local.h"

// ---- flood fill ---------------------------------------------------------------------------------
//
// A flood's last pass: fills each tile from the flooded runs on its border, and
// writes the result.
//
// A thread has a tile of 32 x 16 cells in registers. Water spreads along a row by carries, up from
// a word's low bits, and up from those of its reverse; as every step would need both orders, rows
// alternate between them. From row to row it goes down and up again until nothing changes.

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

// ---- flood write --------------------------------------------------------------------------------
//
// What comes out of a flood: bytes, bits, depths, or area and volume.

#define TMAPI_FLOOD_MEASURE 3 // a form: area and sum of heights of each block

// Four bits as four bytes.
TMAP_DEVICE tmap_u32 tmapi_flood_bytes4(tmap_u32 bits) {
    return (bits & 15) * 0x00204081u & 0x01010101u;
}

// A warp a row: 16 cells a lane from the first multiple of 16 bytes on, and one by one what is
// before and behind these.
TMAP_DEVICE void tmapi_flood_write_bytes(const tmapi_flood *f, const tmapi_flood_room *room,
                                         const tmapi_flood_area *a) {
    const tmap_u64 width = f->plan.map.width, rows_left = f->plan.map.height - a->y;
    const tmap_u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u32 rows = rows_left < f->plan.rows ? (tmap_u32)rows_left : f->plan.rows;
    const tmap_u32 columns = width - a->x < 512 ? (tmap_u32)(width - a->x) : 512;
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < rows; row += warps) {
        unsigned char *out = (unsigned char *)f->out + (a->y + row) * width + a->x;
        const tmap_u32 *cells = room->cells + tmapi_flood_cell_word(row, 0);
        const tmap_u32 head = (tmap_u32)(0 - (tmap_u64)out) % 16, x = head + lane * 16;
        const tmap_u32 tail = columns < head ? columns : (columns - head) / 16 * 16 + head;
        if (x + 16 <= columns) {
            const tmap_u32 word = cells[x / 32], next = x % 32 > 16 ? cells[x / 32 + 1] : 0;
            const tmap_u32 bits = __funnelshift_r(word, next, x % 32);
            __stcs((uint4 *)(out + x),
                   make_uint4(tmapi_flood_bytes4(bits), tmapi_flood_bytes4(bits >> 4),
                              tmapi_flood_bytes4(bits >> 8), tmapi_flood_bytes4(bits >> 12)));
        }
        if (lane < head && lane < columns) out[lane] = (unsigned char)(cells[0] >> lane & 1);
        if (tail + lane < columns)
            out[tail + lane] = (unsigned char)(cells[(tail + lane) / 32] >> (tail + lane) % 32 & 1);
    }
}

TMAP_DEVICE void tmapi_flood_write_bits(const tmapi_flood *f, const tmapi_flood_room *room,
                                        const tmapi_flood_area *a) {
    const tmap_u64 words = tmap_flood_words(f->plan.map.width);
    tmap_u32 *out = (tmap_u32 *)f->out + a->y * words + a->x / 32;
    for (tmap_u32 i = threadIdx.x; i < f->plan.rows * TMAPI_FLOOD_WORDS; i += blockDim.x) {
        const tmap_u32 row = i / TMAPI_FLOOD_WORDS, word = i % TMAPI_FLOOD_WORDS;
        if (a->x / 32 + word < words && a->y + row < f->plan.map.height)
            out[row * words + word] = room->cells[tmapi_flood_cell_word(row, word)];
    }
}

// The depth of a cell whose height has these bits. type: of heights; a constant.
TMAP_DEVICE float tmapi_flood_depth(const tmapi_flood *f, tmap_u32 bits, const int type) {
    return (float)(f->surface -
                   (type == TMAP_FLOOD_F32 ? (double)__uint_as_float(bits) : (int)bits));
}

// The bits of four heights side by side, which lie at a multiple of 4 * size bytes.
TMAP_DEVICE uint4 tmapi_flood_cells4(const void *heights, tmap_u64 at, const tmap_u32 size) {
    if (size == 2) {
        const uint2 v = __ldcs((const uint2 *)((const short *)heights + at));
        return make_uint4((tmap_u32)(short)v.x, (tmap_u32)((int)v.x >> 16), (tmap_u32)(short)v.y,
                          (tmap_u32)((int)v.y >> 16));
    }
    return __ldcs((const uint4 *)((const tmap_u32 *)heights + at));
}

// A warp a row: four cells a lane from the first multiple of 16 bytes on, and one by one what is
// before and behind these. Heights are read where cells are flooded, with four loads in flight.
// type: of heights; a constant.
TMAP_DEVICE void tmapi_flood_write_depths(const tmapi_flood *f, const tmapi_flood_room *room,
                                          const tmapi_flood_area *a, const int type) {
    const tmap_flood_map *map = &f->plan.map;
    const tmap_u64 rows_left = map->height - a->y, columns_left = map->width - a->x;
    const tmap_u32 lane = threadIdx.x % 32, size = type == TMAP_FLOOD_I16 ? 2 : 4;
    const tmap_u32 rows = rows_left < f->plan.rows ? (tmap_u32)rows_left : f->plan.rows;
    const tmap_u32 columns = columns_left < 512 ? (tmap_u32)columns_left : 512;
#pragma unroll 1
    for (tmap_u32 row = threadIdx.x / 32; row < rows; row += blockDim.x / 32) {
        const tmap_u32 *bits = room->cells + tmapi_flood_cell_word(row, 0);
        const tmap_u64 from = (a->y + row) * map->pitch + a->x;
        float *out = (float *)f->out + (a->y + row) * map->width + a->x;
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
            float4 depth = make_float4(0, 0, 0, 0);
            if (flooded[i] & 1) depth.x = tmapi_flood_depth(f, cells[i].x, type);
            if (flooded[i] & 2) depth.y = tmapi_flood_depth(f, cells[i].y, type);
            if (flooded[i] & 4) depth.z = tmapi_flood_depth(f, cells[i].z, type);
            if (flooded[i] & 8) depth.w = tmapi_flood_depth(f, cells[i].w, type);
            if (x + i * 128 + 4 <= columns) __stcs((float4 *)(out + x + i * 128), depth);
        }
        if (edge < columns)
            out[edge] =
                bits[edge / 32] >> edge % 32 & 1
                    ? tmapi_flood_depth(f, tmapi_flood_cell(f->heights, from + edge, size), type)
                    : 0;
    }
}

// The sum of a number of each lane of a warp, in lane 0, in an order of its own.
TMAP_DEVICE double tmapi_flood_sum(double x) {
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
    return x;
}

// The sum of heights of the flooded cells of a lane's column of a tile, whose words are `words`;
// integers are added as such. All loads are in flight. size: the bytes of a height, 2 or 4; a
// constant.
TMAP_DEVICE double tmapi_flood_measure_column(const tmapi_flood *f, const tmap_u32 *words,
                                              tmap_u64 from, const tmap_u32 size) {
    const int floats = size == 4 && f->plan.map.type == TMAP_FLOOD_F32;
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
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
        if (floats)
            sum += (double)__uint_as_float(cells[r]);
        else
            whole += (int)cells[r];
    return floats ? sum : (double)whole;
}

// Area and heights of the flooded cells of a block. Tiles that are flooded as a whole are known.
TMAP_DEVICE void tmapi_flood_measure_block(const tmapi_flood *f, const tmapi_flood_room *room,
                                           const tmapi_flood_area *a) {
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    double *sums = (double *)room->table; // of each warp, and their areas
    tmap_u32 area = 0;
    double sum = 0;
    __syncthreads(); // the table has been read
    for (tmap_u32 tile = warp; tile < f->plan.rows; tile += warps) {
        const tmap_u32 word = tile % TMAPI_FLOOD_WORDS, top = tile / 16 * TMAPI_FLOOD_TILE;
        const tmap_u32 *cells = room->cells + tmapi_flood_cell_word(top, word);
        const tmap_u32 mine = lane < 16 ? cells[lane * TMAPI_FLOOD_WORDS] : ~0u;
        if (lane < 16) area += (tmap_u32)__popc(mine);
        if (__all_sync(~0u, mine == ~0u)) {
            if (lane == 0) sum += f->tile_sums[a->block * f->plan.rows + tile];
        } else if (__any_sync(~0u, lane < 16 && mine)) {
            const tmap_u64 from = (a->y + top) * f->plan.map.pitch + a->x + word * 32 + lane;
            sum += f->plan.map.type == TMAP_FLOOD_I16
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
    f->areas[a->block] = area, f->sums[a->block] = sum;
}

// The last pass. Blocks of rows() threads, tmapi_flood_room_bytes of shared memory.
TMAP_DEVICE void tmapi_flood_last(const tmapi_flood *f, void *shared) {
    const tmapi_flood_area a = tmapi_flood_area_here(f);
    const tmapi_flood_room room = tmapi_flood_room_at(shared, f->plan.rows);
    const tmap_u32 kind = f->kinds[a.block];
    if (kind == TMAPI_FLOOD_MIXED)
        tmapi_flood_tile_of(f, &room, &a);
    else {
        const tmap_u32 word =
            kind == TMAPI_FLOOD_FULL && f->flags[a.block * 20] & 1 ? ~0u : 0; // node 0
        for (tmap_u32 i = threadIdx.x; i < f->plan.rows * 17; i += blockDim.x) room.cells[i] = word;
    }
    __syncthreads();
    if (f->plan.form == TMAP_FLOOD_U8)
        tmapi_flood_write_bytes(f, &room, &a);
    else if (f->plan.form == TMAP_FLOOD_BITS)
        tmapi_flood_write_bits(f, &room, &a);
    else if (f->plan.form == TMAPI_FLOOD_MEASURE)
        tmapi_flood_measure_block(f, &room, &a);
    else if (f->plan.map.type == TMAP_FLOOD_I16)
        tmapi_flood_write_depths(f, &room, &a, TMAP_FLOOD_I16);
    else if (f->plan.map.type == TMAP_FLOOD_I32)
        tmapi_flood_write_depths(f, &room, &a, TMAP_FLOOD_I32);
    else
        tmapi_flood_write_depths(f, &room, &a, TMAP_FLOOD_F32);
}

// The area and volume of a whole flood, from its blocks. One block of threads, `sums` for each of
// its threads.
typedef struct tmap_flood_lake {
    tmap_u64 area; // cells
    double volume; // sum of level - height over them, in units of heights times cells
} tmap_flood_lake;

TMAP_DEVICE void tmapi_flood_total(const tmapi_flood *f, tmap_flood_lake *lake, double *sums,
                                   tmap_u64 *areas) {
    const tmap_u64 blocks = tmapi_flood_blocks(&f->plan);
    double sum = 0;
    tmap_u64 area = 0;
    for (tmap_u64 i = threadIdx.x; i < blocks; i += blockDim.x)
        sum += f->sums[i], area += f->areas[i];
    sums[threadIdx.x] = sum, areas[threadIdx.x] = area;
    for (tmap_u32 half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half],
                areas[threadIdx.x] += areas[threadIdx.x + half];
    }
    if (threadIdx.x) return;
    lake->area = areas[0];
    lake->volume = areas[0] ? (double)areas[0] * f->surface - sums[0] : 0;
}

// ---- flood local --------------------------------------------------------------------------------
//
// A flood's first pass: of each block the nodes of its border, and for each of its
// tiles a list of the components that the runs on the tile's border belong to.

// The rows and columns of a block's border, as they stand in `edges`.
TMAP_DEVICE void tmapi_flood_write_edges(const tmapi_flood_block *b, tmap_u32 *edges) {
    const tmap_u32 t = threadIdx.x;
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

// The slot of the component at a node's place, or NONE.
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

// Numbers the components on the border, each by one of its nodes, and writes which one each node
// belongs to. Of components with several nodes it depends on the run which one it is; results do
// not. A barrier of the block.
TMAP_DEVICE void tmapi_flood_number(const tmapi_flood *f, const tmapi_flood_block *b,
                                    tmap_u64 block, int eight) {
    tmap_u32 *parent = f->parent + block * TMAPI_FLOOD_NODES;
    tmap_u32 *pairs = (tmap_u32 *)b->slots, roots[5]; // of up to 5 nodes
#pragma unroll
    for (tmap_u32 i = 0; i < 5; ++i) {
        const tmap_u32 node = threadIdx.x + i * blockDim.x;
        roots[i] = TMAPI_FLOOD_NONE;
        if (node < TMAPI_FLOOD_NODES) roots[i] = tmapi_flood_node_slot(b, node, eight);
        if (roots[i] == TMAPI_FLOOD_NONE) continue;
        const tmap_u32 root = tmapi_flood_root(b, roots[i]), shift = root % 2 * 16;
        for (;;) { // the first one to come
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
            parent[threadIdx.x + i * blockDim.x] = (tmap_u32)block * TMAPI_FLOOD_NODES +
                                                   (b->slots[roots[i]] & (TMAPI_FLOOD_BORDER - 1));
}

// Writes of each seed in the block its node and its component; of those outside of the map, block 0
// writes that there is none. kind: what the block holds.
TMAP_DEVICE void tmapi_flood_write_seeds(const tmapi_flood *f, const tmapi_flood_block *b,
                                         const tmapi_flood_area *a, tmap_u32 kind, int eight) {
    for (tmap_u32 i = threadIdx.x; i < f->seed_count; i += blockDim.x) {
        tmap_u32 node = TMAPI_FLOOD_NONE, component = TMAPI_FLOOD_NONE, x, y;
        const tmap_flood_seed s = f->seeds[i];
        const int outside = s.x >= f->plan.map.width || s.y >= f->plan.map.height;
        if (!(outside ? a->block == 0 : tmapi_flood_seed_here(f, a, i, &x, &y))) continue;
        if (!outside && kind == TMAPI_FLOOD_FULL) component = TMAPI_FLOOD_BORDER; // node 0
        if (!outside && kind == TMAPI_FLOOD_MIXED) {
            const tmap_u32 slot = tmapi_flood_cell_slot(b, x, y, eight);
            if (slot != TMAPI_FLOOD_NONE) {
                const tmap_u32 root = tmapi_flood_root(b, slot), held = b->slots[root];
                component = held & TMAPI_FLOOD_BORDER ? held : root;
            }
        }
        if (component != TMAPI_FLOOD_NONE && component & TMAPI_FLOOD_BORDER)
            node = (tmap_u32)a->block * TMAPI_FLOOD_NODES + (component & (TMAPI_FLOOD_BORDER - 1));
        f->entries[2 * i] = node, f->entries[2 * i + 1] = component;
    }
}

// Four entries of a list at a time.
typedef struct tmapi_flood_list {
    tmap_u64 *to, four;
    tmap_u32 count;
} tmapi_flood_list;

TMAP_DEVICE void tmapi_flood_append(tmapi_flood_list *l, const tmapi_flood_block *b,
                                    tmap_u32 slot) {
    const tmap_u32 root = tmapi_flood_root(b, slot), held = b->slots[root];
    l->four = l->four >> 16 | (tmap_u64)(held & TMAPI_FLOOD_BORDER ? held : root) << 48;
    if (++l->count % 4 == 0) *l->to++ = l->four;
}

// Writes the lists of the tiles: an even thread that of a tile's first row, then of its first
// column; an odd one that of its last row, then of its last column. In the order of runs, each
// the number of its component's node with TMAPI_FLOOD_BORDER, or the slot of its root.
TMAP_DEVICE void tmapi_flood_write_lists(const tmapi_flood *f, const tmapi_flood_block *b,
                                         tmap_u64 block, int eight) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2, lane = threadIdx.x % 32;
    const tmap_u32 word = tile % TMAPI_FLOOD_WORDS, top = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u32 y = top + 15 * half;
    unsigned short *offsets = f->offsets + block * (blockDim.x + 1);
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
    sum = quads; // with those of all lanes before
#pragma unroll
    for (tmap_u32 step = 1; step < 32; step *= 2) {
        const tmap_u32 before = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += before;
    }
    if (lane == 31) b->scan[threadIdx.x / 32] = sum;
    __syncthreads();
    at = sum - quads;
    for (tmap_u32 w = 0; w < threadIdx.x / 32; ++w) at += b->scan[w];
    offsets[threadIdx.x] = (unsigned short)at;
    if (threadIdx.x == blockDim.x - 1) offsets[blockDim.x] = (unsigned short)(at + quads);
    list.to = f->table + block * b->rows * TMAPI_FLOOD_QUADS + at;
    for (; row; row &= row - 1)
        tmapi_flood_append(
            &list, b, tmapi_flood_slot(y / 2, word, tmapi_flood_rank(firsts, row & (0u - row))));
    for (; column; column &= column - 1)
        tmapi_flood_append(&list, b,
                           tmapi_flood_cell_slot(b, word * 32 + 31 * half,
                                                 top + (tmap_u32)__ffs((int)column) - 1, eight));
    if (list.count % 4) *list.to = list.four >> 16 * (4 - list.count % 4);
}

// The first pass. Blocks of 2 rows() threads, tmapi_flood_block_bytes of shared memory.
TMAP_DEVICE void tmapi_flood_local(const tmapi_flood *f, void *shared) {
    const int eight = f->plan.map.connectivity == 8;
    const tmapi_flood_block b = tmapi_flood_block_at(shared, f->plan.rows);
    const tmapi_flood_area a = tmapi_flood_area_here(f);
    const tmap_u64 block = a.block;
    const tmap_u32 kind = tmapi_flood_load(f, &b, &a);
    const int seeds = tmapi_flood_seeds_here(f, &a);
    tmapi_flood_write_edges(&b, f->edges + block * TMAPI_FLOOD_EDGES);
    if (kind == TMAPI_FLOOD_MIXED) {
        __syncthreads();
        if (!eight && !seeds) tmapi_flood_prune(&b); // a seed may lie on any cell
        if (eight)
            tmapi_flood_label(&b, 1);
        else
            tmapi_flood_label(&b, 0);
        tmapi_flood_number(f, &b, block, eight);
        tmapi_flood_write_lists(f, &b, block, eight);
    } else if (kind == TMAPI_FLOOD_FULL) // all of its nodes are node 0
        for (tmap_u32 node = threadIdx.x; node < TMAPI_FLOOD_NODES; node += blockDim.x)
            if (tmapi_flood_node_slot(&b, node, eight) != TMAPI_FLOOD_NONE)
                f->parent[block * TMAPI_FLOOD_NODES + node] = (tmap_u32)block * TMAPI_FLOOD_NODES;
    if (seeds || block == 0) tmapi_flood_write_seeds(f, &b, &a, kind, eight);
}

// ---- flood nodes --------------------------------------------------------------------------------
//
// A flood's second pass, on the nodes of all blocks: joins those that touch over the
// edges of blocks, and finds those that are joined with a source.
//
// Nodes are trees, as in flood_local.h: each points to another one, or is a root. Whoever climbs a
// tree lets the node that he comes from point as far as he has come; as all do so, paths halve.

#define TMAPI_FLOOD_UNITE 320u // threads of a block: 16 for each of 20 words of edges

// The root of a node.
TMAP_DEVICE tmap_u32 tmapi_flood_climb(tmap_u32 *parent, tmap_u32 node) {
    tmap_u32 up = __ldcg(parent + node), top;
    while ((top = __ldcg(parent + up)) != up) {
        __stcg(parent + node, top);
        up = top;
    }
    return up;
}

TMAP_DEVICE void tmapi_flood_unite(tmap_u32 *parent, tmap_u32 a, tmap_u32 b) {
    for (;;) {
        tmap_u32 high, old;
        a = tmapi_flood_climb(parent, a), b = tmapi_flood_climb(parent, b);
        if (a == b) return;
        high = a > b ? a : b;
        old = atomicCAS(parent + high, high, a ^ b ^ high);
        if (old == high) return;
        a ^= b ^ high, b = old; // the lower one, and where the other one points to now
    }
}

// The node of a run of a block's first or last row, of the run that holds column `bit` of a word.
TMAP_DEVICE tmap_u32 tmapi_flood_row_node(tmap_u32 block, tmap_u32 word, tmap_u32 row, tmap_u32 bit,
                                          int lower) {
    const tmap_u32 first = tmapi_flood_starts(row) & tmapi_flood_upto(bit);
    return block * TMAPI_FLOOD_NODES + (lower ? 0 : 256) + word * 16 +
           (31 - (tmap_u32)__clz((int)first)) / 2;
}

// The contacts of a word of a block's last row with the first row of the block below; of its
// columns in `part`.
TMAP_DEVICE void tmapi_flood_unite_row(const tmapi_flood *f, tmap_u32 block, tmap_u32 word,
                                       tmap_u32 part) {
    const tmap_u32 eight = f->plan.map.connectivity == 8, across = f->plan.blocks_x;
    const tmap_u32 *upper = f->edges + (tmap_u64)block * TMAPI_FLOOD_EDGES + 16;
    const tmap_u32 *lower = f->edges + (tmap_u64)(block + across) * TMAPI_FLOOD_EDGES;
    const tmap_u32 a = upper[word], b = lower[word];
    tmap_u32 touch = tmapi_flood_starts(a & b) & part;               // one bit at most
    if (word) touch &= ~((upper[word - 1] & lower[word - 1]) >> 31); // the contact goes on
    if (touch)
        tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, touch, 0),
                          tmapi_flood_row_node(block + across, word, b, touch, 1));
    if (!eight) return;
    touch = a & b << 1 & ~(a << 1) & ~b & part; // with the column to the left
    while (touch) {
        const tmap_u32 bit = touch & (0u - touch);
        touch ^= bit;
        tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, bit, 0),
                          tmapi_flood_row_node(block + across, word, b, bit >> 1, 1));
    }
    touch = a & b >> 1 & ~(a >> 1) & ~b & part; // to the right
    while (touch) {
        const tmap_u32 bit = touch & (0u - touch);
        touch ^= bit;
        tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, bit, 0),
                          tmapi_flood_row_node(block + across, word, b, bit << 1, 1));
    }
    if (part & 1 & a && (word || block % across)) { // in the word to the left
        const tmap_u32 other = (word ? block : block - 1) + across, w = (word + 15) % 16;
        const tmap_u32 left = f->edges[(tmap_u64)other * TMAPI_FLOOD_EDGES + w];
        if (left >> 31 && !(b & 1))
            tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, 1, 0),
                              tmapi_flood_row_node(other, w, left, 0x80000000u, 1));
    }
    if ((part & a) >> 31 && (word < 15 || block % across + 1 < across)) { // to the right
        const tmap_u32 other = (word < 15 ? block : block + 1) + across, w = (word + 1) % 16;
        const tmap_u32 right = f->edges[(tmap_u64)other * TMAPI_FLOOD_EDGES + w];
        if (right & 1 && !(b >> 31))
            tmapi_flood_unite(f->parent, tmapi_flood_row_node(block, word, a, 0x80000000u, 0),
                              tmapi_flood_row_node(other, w, right, 1, 1));
    }
}

// The contacts of 32 rows of a block's last column with the first column of the next block; of
// those in `part`.
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
    // by a corner, from the last row of a double row to the first one of the next
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

// Joins the nodes of touching blocks. Blocks of TMAPI_FLOOD_UNITE threads, one for each block of
// the map: for each of 20 words of its edges, two columns or rows a thread, so that lanes read
// nodes side by side.
TMAP_DEVICE void tmapi_flood_unite_edges(const tmapi_flood *f) {
    const tmap_u32 block = blockIdx.x, word = threadIdx.x / 16, part = 3u << threadIdx.x % 16 * 2;
    const tmap_u32 across = f->plan.blocks_x;
    if (word < 16) {
        if (block / across + 1 < f->plan.blocks_y) tmapi_flood_unite_row(f, block, word, part);
    } else if (block % across + 1 < across)
        tmapi_flood_unite_column(f, block, word - 16, part);
}

// Marks the roots of the seeds' nodes. A thread a seed.
TMAP_DEVICE void tmapi_flood_mark(const tmapi_flood *f) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 node, next;
    if (i >= f->seed_count || (node = f->entries[2 * i]) == TMAPI_FLOOD_NONE) return;
    while ((next = __ldcg(f->parent + node) & ~TMAPI_FLOOD_MARK) != node) node = next;
    atomicOr(f->parent + node, TMAPI_FLOOD_MARK);
}

// Writes which nodes of a block are flooded. Blocks of TMAPI_FLOOD_NODES threads, one for each
// block of the map.
TMAP_DEVICE void tmapi_flood_write_flags(const tmapi_flood *f) {
    const tmap_u32 n = threadIdx.x;
    const tmap_u32 *edges = f->edges + (tmap_u64)blockIdx.x * TMAPI_FLOOD_EDGES;
    const tmap_u32 two =
        (n < 512 ? tmapi_flood_starts(edges[n / 16]) : edges[32 + (n - 512) / 16]) >> n % 16 * 2 &
        3;
    int flooded = 0;
    tmap_u32 bits;
    if (two) {
        const tmap_u32 node = blockIdx.x * TMAPI_FLOOD_NODES + n;
        tmap_u32 up = __ldcg(f->parent + node) & ~TMAPI_FLOOD_MARK, top;
        for (;;) { // only roots are marked
            top = __ldcg(f->parent + up);
            if ((top & ~TMAPI_FLOOD_MARK) == up) break;
            __stcg(f->parent + node, top);
            up = top;
        }
        flooded = top >> 31;
    }
    bits = __ballot_sync(~0u, flooded);
    if (n % 32 == 0) f->flags[(tmap_u64)blockIdx.x * (TMAPI_FLOOD_NODES / 32) + n / 32] = bits;
}

#endif // TMAP_CUDA

// ---- flood plan ---------------------------------------------------------------------------------
//
// How a map is divided for a flood, and the workspace that it takes.

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The next part of a workspace: `bytes` at a multiple of 16.
static inline tmap_u64 tmapi_flood_part(tmap_u64 *end, tmap_u64 bytes) {
    const tmap_u64 at = *end;
    *end = at + (bytes + 15) / 16 * 16;
    return at;
}

// Divides a map into blocks of some rows.
static inline void tmapi_flood_divide(tmap_flood_plan *p, tmap_u32 rows) {
    const tmap_u64 across = (p->map.width + 511) / 512, down = (p->map.height + rows - 1) / rows;
    const tmap_u64 blocks = across * down;
    tmap_u64 end = 0;
    p->rows = rows, p->blocks_x = (tmap_u32)across, p->blocks_y = (tmap_u32)down;
    tmapi_flood_part(&end, blocks * rows * 64); // bits
    p->at_parent = tmapi_flood_part(&end, blocks * TMAPI_FLOOD_NODES * 4);
    p->at_edges = tmapi_flood_part(&end, blocks * TMAPI_FLOOD_EDGES * 4);
    p->at_offsets = tmapi_flood_part(&end, blocks * (2 * rows + 1) * 2);
    p->at_table = tmapi_flood_part(&end, blocks * rows * TMAPI_FLOOD_QUADS * 8);
    p->at_flags = tmapi_flood_part(&end, blocks * (TMAPI_FLOOD_NODES / 8));
    p->at_entries = tmapi_flood_part(&end, p->seeds * 8);
    p->at_kinds = tmapi_flood_part(&end, blocks);
    p->at_sums = tmapi_flood_part(&end, blocks * 16);
    p->workspace = end;
}

// Makes a plan.
// map: the map; its comment has the ranges. form: of results, TMAP_FLOOD_U8, _BITS or _DEPTH.
// seeds: sources of a flood, at most, up to 2^31 - 1. *plan: written on success; plan->workspace:
// the bytes that floods need, about 3 bits a cell, and 8 bytes a source.
// Returns cudaErrorInvalidValue for a null pointer, a size of 0, a pitch below the width, and a
// type, connectivity or form that is none; cudaErrorInvalidConfiguration for a map of more than
// 2^31 / 640 blocks of 512 x 128 cells, about 2 * 10^11 cells; else the error of asking the device.
// Example: 16384 x 16384 cells, one source: 106 MB.
static inline cudaError_t tmap_flood_plan_make(const tmap_flood_map *map, int form, tmap_u64 seeds,
                                               tmap_flood_plan *plan) {
    const tmap_u64 most = 0x7fffffffu;
    tmap_flood_plan p;
    int device = 0, shared = 0;
    cudaError_t error;
    if (!map || !plan || !map->width || !map->height || map->width > most || map->height > most ||
        map->pitch < map->width || map->type < TMAP_FLOOD_I16 || map->type > TMAP_FLOOD_F32 ||
        (map->connectivity != 4 && map->connectivity != 8) || form < TMAP_FLOOD_U8 ||
        form > TMAP_FLOOD_DEPTH || seeds > most)
        return cudaErrorInvalidValue;
    error = cudaGetDevice(&device);
    if (!error)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error) return error;
    p.map = *map, p.form = form, p.seeds = seeds;
    tmapi_flood_divide(&p, shared >= (int)tmapi_flood_block_bytes(128) ? 128 : 64);
    if (tmapi_flood_blocks(&p) * TMAPI_FLOOD_NODES > most) return cudaErrorInvalidConfiguration;
    *plan = p;
    return cudaSuccess;
}

// The argument of the kernels.
static inline tmapi_flood tmapi_flood_of(const tmap_flood_plan *plan, const void *heights,
                                         const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                         double level, void *workspace, void *out) {
    unsigned char *at = (unsigned char *)workspace;
    tmapi_flood f;
    f.plan = *plan, f.level = tmapi_flood_level_of(&plan->map, level), f.surface = level;
    f.heights = heights, f.seeds = seeds, f.seed_count = (tmap_u32)seed_count, f.out = out;
    f.tiles = 0, f.tile_sums = 0;
    f.bits = (tmap_u32 *)at, f.parent = (tmap_u32 *)(at + plan->at_parent);
    f.edges = (tmap_u32 *)(at + plan->at_edges);
    f.offsets = (unsigned short *)(at + plan->at_offsets);
    f.table = (tmap_u64 *)(at + plan->at_table), f.flags = (tmap_u32 *)(at + plan->at_flags);
    f.entries = (tmap_u32 *)(at + plan->at_entries), f.kinds = at + plan->at_kinds;
    f.areas = (tmap_u64 *)(at + plan->at_sums);
    f.sums = (double *)(f.areas + tmapi_flood_blocks(plan));
    return f;
}

#endif

// ---- flood --------------------------------------------------------------------------------------

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(256, 3) tmapi_flood_local_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    tmapi_flood_local(&f, tmapi_flood_shared);
}
static __global__ void __launch_bounds__(TMAPI_FLOOD_UNITE)
    tmapi_flood_unite_kernel(tmapi_flood f) {
    tmapi_flood_unite_edges(&f);
}
static __global__ void tmapi_flood_mark_kernel(tmapi_flood f) { tmapi_flood_mark(&f); }
static __global__ void __launch_bounds__(TMAPI_FLOOD_NODES)
    tmapi_flood_flags_kernel(tmapi_flood f) {
    tmapi_flood_write_flags(&f);
}
static __global__ void __launch_bounds__(128, 8) tmapi_flood_last_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    tmapi_flood_last(&f, tmapi_flood_shared);
}
// ---- launches -----------------------------------------------------------------------------------

static inline cudaError_t tmapi_flood_launch(const void *kernel, tmap_u64 grid, tmap_u32 block,
                                             tmap_u32 shared, const tmapi_flood *f,
                                             cudaStream_t stream) {
    void *arguments[1] = {(void *)f};
    return cudaLaunchKernel(kernel, dim3((unsigned)grid), dim3(block), arguments, shared, stream);
}

// All launches of a flood.
static inline cudaError_t tmapi_flood_run(const tmapi_flood *f, cudaStream_t stream) {
    const void *local = (const void *)tmapi_flood_local_kernel;
    const tmap_u64 blocks = tmapi_flood_blocks(&f->plan);
    const tmap_u32 rows = f->plan.rows, room = tmapi_flood_block_bytes(rows);
    cudaError_t error = tmapi_launch_shared(local, room);
    if (!error) error = tmapi_flood_launch(local, blocks, 2 * rows, room, f, stream);
    if (!error && blocks > 1)
        error = tmapi_flood_launch((const void *)tmapi_flood_unite_kernel, blocks,
                                   TMAPI_FLOOD_UNITE, 0, f, stream);
    if (!error && f->seed_count)
        error = tmapi_flood_launch((const void *)tmapi_flood_mark_kernel,
                                   ((tmap_u64)f->seed_count + 127) / 128, 128, 0, f, stream);
    if (!error)
        error = tmapi_flood_launch((const void *)tmapi_flood_flags_kernel, blocks,
                                   TMAPI_FLOOD_NODES, 0, f, stream);
    if (error) return error;
    return tmapi_flood_launch((const void *)tmapi_flood_last_kernel, blocks, rows,
                              tmapi_flood_room_bytes(rows), f, stream);
}

// 1 if the arguments of a flood cannot be right.
static inline int tmapi_flood_wrong(const tmap_flood_plan *plan, const void *heights,
                                    const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                    const void *workspace, const void *out, tmap_u64 out_align) {
    const tmap_u64 align = !plan || plan->map.type == TMAP_FLOOD_I16 ? 2 : 4;
    return !plan || !heights || (tmap_u64)heights % align || seed_count > plan->seeds ||
           (seed_count && (!seeds || (tmap_u64)seeds % 8)) || !workspace ||
           (tmap_u64)workspace % 16 || !out || (tmap_u64)out % out_align;
}

// Writes the flood of a map.
// plan: of the map. heights: plan->map.height rows of plan->map.pitch heights. seeds: seed_count
// sources, at most plan->seeds; those outside of the map or on dry cells flood nothing. level:
// cells below it are wet; any number, and of NaN no cell is. workspace: plan->workspace bytes at a
// multiple of 16, which need not be set to anything. out: width * height bytes or floats, or
// tmap_flood_words(width) * height words of 4 bytes; all of them are written. All are device memory
// and do not overlap. Launches that run at the same time need workspaces of their own.
// Returns cudaErrorInvalidValue for a null or misaligned pointer or too many sources, before
// anything is launched; else the first error of its own calls.
// Nothing is allocated and nobody waits: the call can be captured. Results are the same in every
// run, and do not depend on the order of sources.
// Cost: heights are read once, for depths those of flooded cells twice, and a bit for each cell is
// written and read; every block looks at every source, which counts from some thousands on. Heights
// of 16 and 32 bits run at 60 to 75% of the bandwidth of copies where water is in lakes, at 20 to
// 30% in noise. Fastest if `heights`, pitch * size of a height, and width are multiples of 16
// bytes; slow only if `heights` is none.
// Example: heights 1 5 1 1, source (2, 0), level 3, 4-connected: 0 0 1 1.
static inline cudaError_t tmap_flood(const tmap_flood_plan *plan, const void *heights,
                                     const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                     double level, void *workspace, void *out,
                                     cudaStream_t stream) {
    tmapi_flood f;
    if (tmapi_flood_wrong(plan, heights, seeds, seed_count, workspace, out,
                          plan && plan->form == TMAP_FLOOD_U8 ? 1 : 4))
        return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, heights, seeds, seed_count, level, workspace, out);
    return tmapi_flood_run(&f, stream);
}

#endif

// ---- flood range --------------------------------------------------------------------------------
//
// The lowest and the highest height of each tile of 32 x 16 cells, and their sum.

#if TMAP_CUDA

// Writes a tile's range and sum, from those of all lanes.
TMAP_DEVICE void tmapi_flood_write_range(const tmapi_flood *f, const tmapi_flood_area *a,
                                         tmap_flood_range *ranges, double *tile_sums, tmap_u32 tile,
                                         int low, int high, double sum) {
    tmap_flood_range range;
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) {
        const int l = __shfl_xor_sync(~0u, low, step), h = __shfl_xor_sync(~0u, high, step);
        low = l < low ? l : low, high = h > high ? h : high;
    }
    sum = tmapi_flood_sum(sum);
    if (threadIdx.x % 32) return;
    range.low = low, range.high = high;
    ranges[a->block * f->plan.rows + tile] = range;
    tile_sums[a->block * f->plan.rows + tile] = sum;
}

// A tile of heights of 16 bits that can be read by 16 bytes, all of which may be wet.
TMAP_DEVICE void tmapi_flood_range_shorts(const tmapi_flood *f, const tmapi_flood_area *a,
                                          tmap_flood_range *ranges, double *tile_sums,
                                          tmap_u32 tile) {
    int low = 32767, high = -32768, sum = 0;
    uint4 v[2];
    tmapi_flood_read_tile(f, a, tile, v, 2);
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
    tmapi_flood_write_range(f, a, ranges, tile_sums, tile, low, high, sum);
}

// Any tile. size: the bytes of a height, 2 or 4; a constant.
TMAP_DEVICE void tmapi_flood_range_tile(const tmapi_flood *f, const tmapi_flood_area *a,
                                        tmap_flood_range *ranges, double *tile_sums, tmap_u32 tile,
                                        const tmap_u32 size) {
    const tmap_flood_map *map = &f->plan.map;
    const tmap_u64 x = a->x + tile % TMAPI_FLOOD_WORDS * 32 + threadIdx.x % 32;
    const tmap_u64 y = a->y + tile / TMAPI_FLOOD_WORDS * TMAPI_FLOOD_TILE;
    const int floats = size == 4 && map->type == TMAP_FLOOD_F32;
    int low = TMAPI_FLOOD_KEY_MAX, high = TMAPI_FLOOD_KEY_MIN;
    tmap_u32 cells[TMAPI_FLOOD_TILE];
    double sum = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
        cells[r] = x < map->width && y + r < map->height
                       ? tmapi_flood_cell(f->heights, (y + r) * map->pitch + x, size)
                       : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        const int key = floats ? tmapi_flood_float_key(cells[r]) : (int)cells[r];
        const int never = !(x < map->width && y + r < map->height) ||
                          (f->level.has_nodata && key == f->level.nodata) ||
                          (floats && key == TMAPI_FLOOD_KEY_MAX);
        if (!never && key < low) low = key;
        if (never || key > high) high = never ? TMAPI_FLOOD_KEY_MAX : key;
        if (!never) sum += floats ? (double)__uint_as_float(cells[r]) : key;
    }
    tmapi_flood_write_range(f, a, ranges, tile_sums, tile, low, high, sum);
}

// The range of each tile of a block's area, and the sum of its heights, as far as they can be wet.
// A warp a tile.
TMAP_DEVICE void tmapi_flood_range_tiles(const tmapi_flood *f, tmap_flood_range *ranges,
                                         double *tile_sums) {
    const tmapi_flood_area a = tmapi_flood_area_here(f);
    const int shorts = f->plan.map.type == TMAP_FLOOD_I16;
    const int quick = shorts && tmapi_flood_quick(f, &a, 2) && !f->level.has_nodata;
    for (tmap_u32 tile = threadIdx.x / 32; tile < f->plan.rows; tile += blockDim.x / 32)
        if (quick)
            tmapi_flood_range_shorts(f, &a, ranges, tile_sums, tile);
        else if (shorts)
            tmapi_flood_range_tile(f, &a, ranges, tile_sums, tile, 2);
        else
            tmapi_flood_range_tile(f, &a, ranges, tile_sums, tile, 4);
}

#endif // TMAP_CUDA

// ---- flood again --------------------------------------------------------------------------------
//
// Many floods of one map: other levels, other sources, and water that rises.
//
// The lowest and highest height of each tile of 32 x 16 cells are found once. Then a flood reads
// heights of those tiles alone that its level goes through. A block in which it goes through more
// than three of four tiles is read as a whole, as that is faster.

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_FLOOD_TOTAL 512u // threads

static __global__ void __launch_bounds__(256, 4)
    tmapi_flood_tiles_kernel(tmapi_flood f, tmap_flood_range *ranges, double *sums) {
    tmapi_flood_range_tiles(&f, ranges, sums);
}
static __global__ void __launch_bounds__(TMAPI_FLOOD_TOTAL)
    tmapi_flood_total_kernel(tmapi_flood f, tmap_flood_lake *lake) {
    __shared__ double sums[TMAPI_FLOOD_TOTAL];
    __shared__ tmap_u64 areas[TMAPI_FLOOD_TOTAL];
    tmapi_flood_total(&f, lake, sums, areas);
}

// Bytes of the tiles of a plan's map: 1/32 of a byte a cell. Example: 16384 x 16384: 8388608.
static inline tmap_u64 tmap_flood_tiles_bytes(const tmap_flood_plan *plan) {
    return plan
               ? tmapi_flood_blocks(plan) * plan->rows * (sizeof(tmap_flood_range) + sizeof(double))
               : 0;
}

// Finds the lowest and highest height, and the sum, of each tile. plan, heights: as for tmap_flood;
// tiles hold for that map and its NODATA value, whatever the form of results. tiles:
// tmap_flood_tiles_bytes(plan) bytes at a multiple of 16. Returns cudaErrorInvalidValue for a null
// or misaligned pointer, else the launch's own error. Cost: heights are read once.
static inline cudaError_t tmap_flood_tiles(const tmap_flood_plan *plan, const void *heights,
                                           void *tiles, cudaStream_t stream) {
    const tmap_u64 align = !plan || plan->map.type == TMAP_FLOOD_I16 ? 2 : 4;
    tmap_flood_range *ranges = (tmap_flood_range *)tiles;
    tmapi_flood f;
    double *sums;
    void *arguments[3] = {&f, &ranges, &sums};
    if (!plan || !heights || (tmap_u64)heights % align || !tiles || (tmap_u64)tiles % 16)
        return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, heights, 0, 0, 0, 0, 0);
    sums = (double *)(ranges + tmapi_flood_blocks(plan) * plan->rows);
    return cudaLaunchKernel((const void *)tmapi_flood_tiles_kernel,
                            dim3((unsigned)tmapi_flood_blocks(plan)), dim3(256), arguments, 0,
                            stream);
}

// The argument of a flood that knows its tiles.
static inline tmapi_flood tmapi_flood_with_tiles(const tmap_flood_plan *plan, const void *heights,
                                                 const void *tiles, const tmap_flood_seed *seeds,
                                                 tmap_u64 seed_count, double level, void *workspace,
                                                 void *out) {
    tmapi_flood f = tmapi_flood_of(plan, heights, seeds, seed_count, level, workspace, out);
    f.tiles = (const tmap_flood_range *)tiles;
    f.tile_sums = (const double *)(f.tiles + tmapi_flood_blocks(plan) * plan->rows);
    return f;
}

// tmap_flood on a map whose tiles are known. tiles: as tmap_flood_tiles has written them, of the
// same map and heights. All else as there, the result too.
// Cost: ranges of all tiles, and heights of those that the level goes through; where it goes
// through most of them, that of tmap_flood.
static inline cudaError_t tmap_flood_again(const tmap_flood_plan *plan, const void *heights,
                                           const void *tiles, const tmap_flood_seed *seeds,
                                           tmap_u64 seed_count, double level, void *workspace,
                                           void *out, cudaStream_t stream) {
    tmapi_flood f;
    if (tmapi_flood_wrong(plan, heights, seeds, seed_count, workspace, out,
                          plan && plan->form == TMAP_FLOOD_U8 ? 1 : 4) ||
        !tiles || (tmap_u64)tiles % 16)
        return cudaErrorInvalidValue;
    f = tmapi_flood_with_tiles(plan, heights, tiles, seeds, seed_count, level, workspace, out);
    return tmapi_flood_run(&f, stream);
}

// Rising water: area and volume of the flood at each of some levels, in any order; from a list of
// levels that ascends it is the curve of a reservoir.
// levels: level_count numbers in the host's memory, which is read before the call returns. lakes:
// level_count of them, device memory at a multiple of 8; those of levels without flood are 0. All
// else as for tmap_flood_again.
// Exactness: areas are exact. Volumes of integer heights are area * level less an exact sum, as
// long as sums are below 2^53 and so for all maps of 16 bits up to 2^38 cells; others are rounded,
// and the same in every run.
// Returns what tmap_flood_again returns; after an error some lakes may not be written.
// Cost: for each level that of a flood without a result, and heights of flooded tiles that are not
// flooded as a whole. Each level is a flood of its own: many levels at a time would share only the
// labels of tiles that no level goes through, which cost little.
// Example: heights 0 2 4, source (0, 0), levels 1, 3: (1, 1), (2, 4).
static inline cudaError_t tmap_flood_levels(const tmap_flood_plan *plan, const void *heights,
                                            const void *tiles, const tmap_flood_seed *seeds,
                                            tmap_u64 seed_count, const double *levels,
                                            tmap_u64 level_count, void *workspace,
                                            tmap_flood_lake *lakes, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    if (!level_count) return cudaSuccess;
    if (tmapi_flood_wrong(plan, heights, seeds, seed_count, workspace, lakes, 8) || !levels ||
        !tiles || (tmap_u64)tiles % 16)
        return cudaErrorInvalidValue;
    for (tmap_u64 i = 0; i < level_count && !error; ++i) {
        tmap_flood_lake *lake = lakes + i;
        tmapi_flood f = tmapi_flood_with_tiles(plan, heights, tiles, seeds, seed_count, levels[i],
                                               workspace, 0);
        void *arguments[2] = {&f, &lake};
        f.plan.form = TMAPI_FLOOD_MEASURE;
        error = tmapi_flood_run(&f, stream);
        if (!error)
            error = cudaLaunchKernel((const void *)tmapi_flood_total_kernel, dim3(1),
                                     dim3(TMAPI_FLOOD_TOTAL), arguments, 0, stream);
    }
    return error;
}

#endif

#endif
