// SPDX-License-Identifier: MIT
// each_walk.h: the loops behind tmap_each, tmap_update and tmap_fold: every cell of a plan's share,
// handed to functions of the user's.
//
// A loop that only stores hands over cell by cell. One that reads has its reads in flight before it
// uses the first of them, in two steps for a batch of cells: memory that is read and written
// in turn takes twice as long or more.
//
// Function pointers that are constants are folded by the compiler, and their calls inlined.
#ifndef TMAP_FRACTAL_EACH_WALK_H
#define TMAP_FRACTAL_EACH_WALK_H

#include "each_plan.h"
#include "../value.h"

// A cell: its coordinates in the fractal, and its element: of a matrix offset + y * pitch + x, of
// compact storage offset + tmap_compact_index(f, x, y, r).
typedef struct tmap_cell {
    tmap_u32 x, y;
    tmap_u64 at;
} tmap_cell;

#if TMAP_CUDA

// What a user hands to tmap_each, and the two steps of tmap_update.
typedef void (*tmap_each_visit)(void *job, tmap_cell cell);
typedef void (*tmap_update_read)(void *job, tmap_cell cell, void *value);
typedef void (*tmap_update_use)(void *job, tmap_cell cell, const void *value);

// The functions of a walk: `visit` alone, or `read` and `use`; the others are null. into, size: the
// matrix that is stored to and bytes of its elements; 0: unknown.
typedef struct tmapi_each_calls {
    tmap_each_visit visit;
    tmap_update_read read;
    tmap_update_use use;
    void *job;
    const void *into;
    tmap_u32 size;
} tmapi_each_calls;

// Asks memory for the sector of *place.
TMAP_DEVICE void tmapi_each_fetch(const void *place) {
#if defined(__CUDA_ARCH__)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(place)));
#else
    (void)place;
#endif
}

// Elements up to this size are small: a sector holds many of them. With lanes on the columns of a
// tile, a row lies in one sector or two, for which it pays to ask even where cells are few; along
// the rows a store costs less than to ask.
#define TMAPI_EACH_SIZE_SMALL 2u

// The first step at a cell, and the second.
TMAP_DEVICE void tmapi_each_first(const tmap_each_plan *plan, tmapi_each_calls calls,
                                  tmap_cell cell, void *value) {
    if (calls.read) calls.read(calls.job, cell, value);
    if (calls.size && (calls.size <= TMAPI_EACH_SIZE_SMALL ? plan->holes : plan->dense))
        tmapi_each_fetch((const unsigned char *)calls.into + cell.at * calls.size);
}
TMAP_DEVICE void tmapi_each_second(tmapi_each_calls calls, tmap_cell cell, const void *value) {
    if (calls.visit)
        calls.visit(calls.job, cell);
    else
        calls.use(calls.job, cell, value);
}

// Cells of a batch.
#define TMAPI_EACH_BATCH 8

// The whole warps of a block. The threads behind the last of them take part in barriers alone.
TMAP_DEVICE tmap_u32 tmapi_each_warps(void) { return blockDim.x * blockDim.y * blockDim.z / 32; }

TMAP_DEVICE tmap_cell tmapi_each_cell(const tmap_each_plan *plan, tmap_u32 x, tmap_u32 y) {
    tmap_cell cell;
    cell.x = x, cell.y = y;
    cell.at = plan->offset + y * plan->pitch + x;
    return cell;
}

// Cell number i by tmap_nbb_lambda_linear.
TMAP_DEVICE tmap_cell tmapi_each_linear_cell(const tmap_each_plan *plan, tmap_u64 i) {
    tmap_cell cell;
    if (i >> 32) {
        const tmap_xy64 p = tmap_nbb_lambda_linear64(plan->f, i, plan->r);
        cell = tmapi_each_cell(plan, (tmap_u32)p.x, (tmap_u32)p.y);
    } else {
        const tmap_xy p = tmap_nbb_lambda_linear(plan->f, (tmap_u32)i, plan->r);
        cell = tmapi_each_cell(plan, p.x, p.y);
    }
    if (plan->pitch == TMAP_COMPACT) cell.at = plan->offset + i;
    return cell;
}

// A thread for each cell. The share may be one of tiles: tile t has the cells from t k^m on.
TMAP_DEVICE void tmapi_each_linear(const tmap_each_plan *plan, tmapi_each_calls calls) {
    const tmap_u64 threads = (tmap_u64)blockDim.x * blockDim.y * blockDim.z;
    const tmap_u64 of_item = tmapi_pow64(plan->f.k, plan->tile_level);
    const tmap_u64 end = (plan->first + plan->count) * of_item;
    tmap_u64 i = plan->first * of_item + blockIdx.x * threads + tmap_thread_rank();
    for (; i < end; i += gridDim.x * threads) {
        const tmap_cell cell = tmapi_each_linear_cell(plan, i);
        tmapi_value value;
        if (calls.read) calls.read(calls.job, cell, &value);
        tmapi_each_second(calls, cell, &value);
    }
}

// A warp's tiles, a lane for each column; in narrow tiles several lanes share one, a band of rows
// each. cells: the rows of the column that are cells; bits: those of the lane's band, from its
// first.
typedef struct tmapi_each_tile {
    tmap_tiles tiles;
    tmap_u32 width, height; // of a tile
    tmap_u32 column, row;   // of the lane's first place
    tmap_u32 rows;          // of a band
    tmap_u32 cells, bits;
} tmapi_each_tile;

TMAP_DEVICE tmapi_each_tile tmapi_each_tile_begin(const tmap_each_plan *plan) {
    const tmap_u32 m = plan->tile_level, lane = tmap_thread_rank() % 32;
    tmapi_each_tile t;
    tmap_u32 bands, band;
    t.tiles = tmap_tiles_begin(plan->f, plan->r, m);
    t.width = tmapi_pow32(plan->f.sx, m), t.height = tmapi_pow32(plan->f.sy, m);
    bands = 32 / t.width, band = lane / t.width;
    t.rows = (t.height + bands - 1) / bands;
    t.column = lane - band * t.width, t.row = band * t.rows;
    t.cells = tmap_tile_column(plan->f, m, t.height, t.column);
    t.bits = band < bands && t.row < t.height ? t.cells >> t.row : 0;
    if (t.rows < 32) t.bits &= (1u << t.rows) - 1;
    return t;
}

TMAP_DEVICE void tmapi_each_columns(const tmap_each_plan *plan, tmapi_each_calls calls) {
    tmapi_each_tile t;
    tmap_u64 i;
    if (tmap_thread_rank() / 32 >= tmapi_each_warps()) return;
    t = tmapi_each_tile_begin(plan);
    for (i = plan->first + t.tiles.first; i < plan->first + plan->count; i += t.tiles.stride) {
        const tmap_xy tile = tmap_tiles_at(&t.tiles, plan->f, (tmap_u32)i);
        tmap_cell cell =
            tmapi_each_cell(plan, tile.x * t.width + t.column, tile.y * t.height + t.row);
        tmap_u32 bits = t.bits;
        for (tmap_u32 y = 0; y < t.rows; y += TMAPI_EACH_BATCH, bits >>= TMAPI_EACH_BATCH) {
            tmapi_value value[TMAPI_EACH_BATCH];
            if (calls.read || calls.size) {
                tmap_cell ahead = cell;
#pragma unroll
                for (int j = 0; j < TMAPI_EACH_BATCH; ++j, ++ahead.y, ahead.at += plan->pitch)
                    if (bits >> j & 1) tmapi_each_first(plan, calls, ahead, &value[j]);
                __syncwarp(); // keeps reads and uses apart
            }
#pragma unroll
            for (int j = 0; j < TMAPI_EACH_BATCH; ++j, ++cell.y, cell.at += plan->pitch)
                if (bits >> j & 1) tmapi_each_second(calls, cell, &value[j]);
        }
    }
}

// The tables of a plan's rows. Collective for the block.
TMAP_DEVICE tmap_rows tmapi_each_rows_make(const tmap_each_plan *plan) {
    extern __shared__ uint4 tmapi_each_shared[];
    return tmap_rows_make(plan->f, plan->r, (tmap_u32 *)tmapi_each_shared);
}

// All warps along the rows, each lane on a way of its own through its warp's chunk.
TMAP_DEVICE void tmapi_each_rows(const tmap_each_plan *plan, tmapi_each_calls calls) {
    const tmap_rows rows = tmapi_each_rows_make(plan);
    const tmap_u32 warps = tmapi_each_warps(), rank = tmap_thread_rank(), lane = rank % 32;
    const tmap_u64 end = plan->first + plan->count, chunk = plan->chunk;
    tmap_u64 first = plan->first + (blockIdx.x * (tmap_u64)warps + rank / 32) * chunk;
    if (calls.size <= TMAPI_EACH_SIZE_SMALL) calls.size = 0;
    if (rank / 32 >= warps) return;
    for (; first < end; first += gridDim.x * (tmap_u64)warps * chunk) {
        const tmap_u32 count = end - first < chunk ? (tmap_u32)(end - first) : (tmap_u32)chunk;
        tmap_row row = tmap_rows_seek(&rows, (tmap_u32)first + lane);
        for (tmap_u32 i = lane; i - lane < count; i += 32 * TMAPI_EACH_BATCH) {
            tmapi_value value[TMAPI_EACH_BATCH];
            tmap_cell cell[TMAPI_EACH_BATCH];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j, tmap_rows_skip(&rows, 32, &row))
                if (i + 32 * j < count) {
                    cell[j] = tmapi_each_cell(plan, tmap_rows_x(&rows, &row, 0), row.y);
                    tmapi_each_first(plan, calls, cell[j], &value[j]);
                }
            __syncwarp(); // keeps coordinates and reads apart from uses
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j)
                if (i + 32 * j < count) tmapi_each_second(calls, cell[j], &value[j]);
        }
    }
}

// Cell i of a tile in compact storage. place: of each cell in a tile, x | y << 16.
TMAP_DEVICE tmap_cell tmapi_each_compact_cell(tmap_xy corner, tmap_u64 at, const tmap_u32 *place,
                                              tmap_u32 i) {
    const tmap_u32 p = place[i];
    tmap_cell cell;
    cell.x = corner.x + (p & 0xffff), cell.y = corner.y + (p >> 16), cell.at = at + i;
    return cell;
}

// Compact storage: a warp for each tile, whose elements lie side by side.
TMAP_DEVICE void tmapi_each_compact(const tmap_each_plan *plan, tmapi_each_calls calls) {
    extern __shared__ uint4 tmapi_each_shared[];
    tmap_u32 *place = (tmap_u32 *)tmapi_each_shared;
    const tmap_u32 m = plan->tile_level, cells = tmapi_pow32(plan->f.k, m);
    const tmap_u32 width = tmapi_pow32(plan->f.sx, m), height = tmapi_pow32(plan->f.sy, m);
    const tmap_u32 rank = tmap_thread_rank(), lane = rank % 32;
    tmap_tiles tiles;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < cells; i += blockDim.x * blockDim.y * blockDim.z) {
        const tmap_xy p = tmap_nbb_lambda_linear(plan->f, i, m);
        place[i] = p.x | p.y << 16;
    }
    __syncthreads();
    if (rank / 32 >= tmapi_each_warps()) return;
    tiles = tmap_tiles_begin(plan->f, plan->r, m);
    for (tmap_u64 t = plan->first + tiles.first; t < plan->first + plan->count; t += tiles.stride) {
        tmap_xy corner = tmap_tiles_at(&tiles, plan->f, (tmap_u32)t);
        const tmap_u64 at = plan->offset + t * cells;
        corner.x *= width, corner.y *= height;
        for (tmap_u32 i = lane; i - lane < cells; i += 32 * TMAPI_EACH_BATCH) {
            tmapi_value value[TMAPI_EACH_BATCH];
            if (calls.read) {
#pragma unroll
                for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j)
                    if (i + 32 * j < cells)
                        calls.read(calls.job,
                                   tmapi_each_compact_cell(corner, at, place, i + 32 * j),
                                   &value[j]);
                __syncwarp(); // keeps reads and uses apart
            }
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j)
                if (i + 32 * j < cells)
                    tmapi_each_second(calls, tmapi_each_compact_cell(corner, at, place, i + 32 * j),
                                      &value[j]);
        }
    }
}

// Every cell of the plan's share. All threads of all blocks call it.
TMAP_DEVICE void tmapi_each_walk(const tmap_each_plan *plan, tmapi_each_calls calls) {
    if (plan->loop == TMAP_EACH_COLUMNS)
        tmapi_each_columns(plan, calls);
    else if (plan->loop == TMAP_EACH_ROWS)
        tmapi_each_rows(plan, calls);
    else if (plan->loop == TMAP_EACH_COMPACT)
        tmapi_each_compact(plan, calls);
    else
        tmapi_each_linear(plan, calls);
}

#endif // TMAP_CUDA
#endif
