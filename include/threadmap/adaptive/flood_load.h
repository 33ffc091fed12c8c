// SPDX-License-Identifier: MIT
// flood_load.h: the bits of a block, from heights: all of them, or those alone of tiles that a
// level goes through.
#ifndef TMAP_ADAPTIVE_FLOOD_LOAD_H
#define TMAP_ADAPTIVE_FLOOD_LOAD_H

#include "flood_label.h"

#if TMAP_CUDA

// Loads a tile of 32 x 16 cells: a row a load of the warp, 16 of them in flight. Any alignment.
TMAP_DEVICE void tmapi_flood_load_tile(const tmapi_flood *f, const tmapi_flood_block *b,
                                       const tmapi_flood_area *a, tmap_u32 tile) {
    const tmap_u32 lane = threadIdx.x % 32, word = tile % TMAPI_FLOOD_WORDS;
    const tmap_u32 row = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u64 x = a->x + word * 32 + lane, y = a->y + row;
    const tmap_flood_map *map = &f->plan.map;
    tmap_u32 mine = 0;
    int keys[16];
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r)
        keys[r] = x < map->width && y + r < map->height
                      ? tmapi_flood_key(map->type, f->heights, (y + r) * map->pitch + x)
                      : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r) {
        const int inside = x < map->width && y + r < map->height;
        const tmap_u32 bits = __ballot_sync(~0u, inside && tmapi_flood_key_wet(&f->level, keys[r]));
        if (lane == r) mine = bits;
    }
    if (lane < 16) b->bits[tmapi_flood_place(row + lane, word)] = mine;
}

// Loads a block of heights of 16 bits that is whole and aligned: 16 bytes a lane, 8 loads in
// flight.
TMAP_DEVICE void tmapi_flood_load_shorts(const tmapi_flood *f, const tmapi_flood_block *b,
                                         const tmapi_flood_area *a) {
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u64 pitch = f->plan.map.pitch;
    const short *from = (const short *)f->heights + (a->y + warp) * pitch + a->x + lane * 8;
    unsigned char *bytes = (unsigned char *)b->bits;
#pragma unroll 1
    for (tmap_u32 row = warp; row < b->rows; row += 4 * warps, from += 4 * warps * pitch) {
        uint4 v[8];
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i)
            v[i] = __ldcs((const uint4 *)(from + i / 2 * warps * pitch + i % 2 * 256));
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i)
            bytes[tmapi_flood_place(row + i / 2 * warps, i % 2 * 8) * 4 + lane] =
                (unsigned char)tmapi_flood_byte(v[i], &f->level);
    }
}

// 1 if tiles of heights of 16 bits can be read by 16 bytes. Those of a whole area.
TMAP_DEVICE int tmapi_flood_quick(const tmapi_flood *f, const tmapi_flood_area *a) {
    const tmap_flood_map *map = &f->plan.map;
    return map->type == TMAP_FLOOD_I16 && a->x + 512 <= map->width &&
           a->y + f->plan.rows <= map->height && map->pitch % 8 == 0 &&
           (tmap_u64)f->heights % 16 == 0;
}

// A tile's heights, if they can be read so: 8 of them in row lane / 4 and in the 8th after it.
TMAP_DEVICE void tmapi_flood_read_shorts(const tmapi_flood *f, const tmapi_flood_area *a,
                                         tmap_u32 tile, uint4 *v) {
    const tmap_u64 pitch = f->plan.map.pitch;
    const tmap_u32 lane = threadIdx.x % 32;
    const short *from = (const short *)f->heights +
                        (a->y + tile / TMAPI_FLOOD_WORDS * 16 + lane / 4) * pitch + a->x +
                        tile % TMAPI_FLOOD_WORDS * 32 + lane % 4 * 8;
    v[0] = __ldcs((const uint4 *)from), v[1] = __ldcs((const uint4 *)(from + 8 * pitch));
}

// Loads up to four tiles of a list so, 8 loads in flight.
TMAP_DEVICE void tmapi_flood_load_quick(const tmapi_flood *f, const tmapi_flood_block *b,
                                        const tmapi_flood_area *a, const tmap_u32 *tiles,
                                        tmap_u32 count) {
    const tmap_u32 lane = threadIdx.x % 32;
    uint4 v[4][2];
#pragma unroll
    for (tmap_u32 i = 0; i < 4; ++i)
        if (i < count) tmapi_flood_read_shorts(f, a, tiles[i], v[i]);
#pragma unroll
    for (tmap_u32 i = 0; i < 4; ++i)
#pragma unroll
        for (tmap_u32 half = 0; half < 2; ++half)
            if (i < count)
                ((unsigned char *)b->bits)[tmapi_flood_place(tiles[i] / TMAPI_FLOOD_WORDS * 16 +
                                                                 half * 8 + lane / 4,
                                                             tiles[i] % TMAPI_FLOOD_WORDS) *
                                               4 +
                                           lane % 4] =
                    (unsigned char)tmapi_flood_byte(v[i][half], &f->level);
}

// Of tiles whose ranges are known: writes the bits of those that are dry or full, and lists the
// others where slots will stand; b->scan[0] counts them.
TMAP_DEVICE void tmapi_flood_sort_tiles(const tmapi_flood *f, const tmapi_flood_block *b,
                                        const tmapi_flood_area *a) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2;
    const tmap_flood_range range = f->tiles[a->block * b->rows + tile];
    const int dry = range.low > f->level.last;
    const int full = !dry && range.high <= f->level.last && range.high < TMAPI_FLOOD_KEY_MAX;
    if (threadIdx.x == 0) b->scan[0] = 0;
    __syncthreads();
    if (dry || full) {
#pragma unroll
        for (tmap_u32 r = 0; r < 8; ++r)
            b->bits[tmapi_flood_place(tile / TMAPI_FLOOD_WORDS * 16 + half * 8 + r,
                                      tile % TMAPI_FLOOD_WORDS)] = full ? ~0u : 0;
    } else if (half == 0)
        b->slots[atomicAdd(b->scan, 1u)] = (unsigned short)tile;
    __syncthreads();
}

// Loads tiles: all, or those of the list.
TMAP_DEVICE void tmapi_flood_load_tiles(const tmapi_flood *f, const tmapi_flood_block *b,
                                        const tmapi_flood_area *a) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const tmap_u32 count = f->tiles ? b->scan[0] : b->rows;
    if (tmapi_flood_quick(f, a))
        for (tmap_u32 i = warp; i < count; i += 4 * warps) {
            tmap_u32 tiles[4], some = 0;
#pragma unroll
            for (tmap_u32 k = 0; k < 4; ++k)
                if (i + k * warps < count) tiles[k] = b->slots[i + k * warps], ++some;
            tmapi_flood_load_quick(f, b, a, tiles, some);
        }
    else
        for (tmap_u32 i = warp; i < count; i += warps)
            tmapi_flood_load_tile(f, b, a, f->tiles ? b->slots[i] : i);
    __syncthreads(); // the list has been read
}

// Loads a block's bits and stores them in the workspace. Returns what it holds, in all threads.
TMAP_DEVICE tmap_u32 tmapi_flood_load(const tmapi_flood *f, const tmapi_flood_block *b,
                                      const tmapi_flood_area *a) {
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    tmap_u32 any = 0, all = ~0u, kind;
    if (f->level.none)
        for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x)
            b->bits[i] = 0;
    else if (f->tiles || !tmapi_flood_quick(f, a)) {
        if (f->tiles) tmapi_flood_sort_tiles(f, b, a);
        tmapi_flood_load_tiles(f, b, a);
    } else
        tmapi_flood_load_shorts(f, b, a);
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x) {
        const uint4 v = *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
        any |= v.x | v.y | v.z | v.w, all &= v.x & v.y & v.z & v.w;
    }
    kind = __syncthreads_and(!any)         ? TMAPI_FLOOD_DRY
           : __syncthreads_and(all == ~0u) ? TMAPI_FLOOD_FULL
                                           : TMAPI_FLOOD_MIXED;
    if (threadIdx.x == 0) f->kinds[a->block] = (unsigned char)kind;
    if (kind == TMAPI_FLOOD_MIXED)
        for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x)
            *(uint4 *)(f->bits + (a->y + i / 4) * words + a->x / 32 + i % 4 * 4) =
                *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
    return kind;
}

#endif // TMAP_CUDA
#endif
