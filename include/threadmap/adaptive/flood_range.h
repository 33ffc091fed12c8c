// SPDX-License-Identifier: MIT
// flood_range.h: the lowest and the highest height of each tile of 32 x 16 cells, and their sum.
#ifndef TMAP_ADAPTIVE_FLOOD_RANGE_H
#define TMAP_ADAPTIVE_FLOOD_RANGE_H

#include "flood_load.h"
#include "flood_write.h"

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
#endif
