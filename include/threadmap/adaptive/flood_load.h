// SPDX-License-Identifier: MIT
// flood_load.h: the bits of a block, from heights: all of them, or those alone of tiles that a
// level goes through.
#ifndef TMAP_ADAPTIVE_FLOOD_LOAD_H
#define TMAP_ADAPTIVE_FLOOD_LOAD_H

#include "flood_label.h"

#if TMAP_CUDA

#define TMAPI_FLOOD_ALL 0xffffffffu // all tiles of a block are read

// size: here and below, the bytes of a height, 2 or 4; a constant.

// Loads a tile of 32 x 16 cells: a row a load of the warp, 16 of them in flight. Any alignment.
TMAP_DEVICE void tmapi_flood_load_tile(const tmapi_flood *f, const tmapi_flood_block *b,
                                       const tmapi_flood_area *a, tmap_u32 tile,
                                       const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, word = tile % TMAPI_FLOOD_WORDS;
    const tmap_u32 row = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u64 x = a->x + word * 32 + lane, y = a->y + row;
    const tmap_flood_map *map = &f->plan.map;
    tmap_u32 mine = 0, cells[16];
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r)
        cells[r] = x < map->width && y + r < map->height
                       ? tmapi_flood_cell(f->heights, (y + r) * map->pitch + x, size)
                       : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r) {
        const int inside = x < map->width && y + r < map->height;
        const int wet = inside && tmapi_flood_cell_below(&f->level, cells[r]) &&
                        !(f->level.has_nodata && tmapi_flood_cell_dry(&f->level, cells[r]));
        const tmap_u32 bits = __ballot_sync(~0u, wet);
        if (lane == r) mine = bits;
    }
    if (lane < 16) b->bits[tmapi_flood_place(row + lane, word)] = mine;
}

// 1 if rows of a block can be read 16 bytes at a time, wherever they begin. What is read beyond a
// row's end lies in the map.
TMAP_DEVICE int tmapi_flood_whole(const tmapi_flood *f, const tmapi_flood_area *a,
                                  const tmap_u32 size) {
    const tmap_flood_map *map = &f->plan.map;
    return a->x + 512 <= map->width &&
           a->y + f->plan.rows + (map->pitch % (16 / size) != 0) <= map->height &&
           (tmap_u64)f->heights % 16 == 0;
}

// The bits of 8 groups of 16 bytes of a row each, or of two rows, as bytes that the lanes have in
// the order of cells. v: group by group, 32 * 16 bytes apart, one of each lane.
TMAP_DEVICE void tmapi_flood_bytes_of(const tmapi_flood_level *l, const uint4 *v, tmap_u32 *bytes,
                                      const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, upper = lane / 16 * 4; // lanes 16 to 31: odd groups
    tmap_u32 own, low, high;
    if (size == 2) {
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) bytes[i] = tmapi_flood_byte(v[i], l);
        return;
    }
    own = tmapi_flood_nibbles(l, v, 8);
    low = __shfl_sync(~0u, own, (int)(2 * lane % 32)) >> upper & 0x0f0f0f0fu;
    high = __shfl_sync(~0u, own, (int)(2 * lane % 32 + 1)) >> upper & 0x0f0f0f0fu;
    low |= high << 4;
#pragma unroll
    for (tmap_u32 i = 0; i < 4; ++i) bytes[i] = low >> 8 * i & 255;
}

// Loads such a block: 8 loads of 16 bytes in flight. Of a row that begins between multiples of 16
// bytes, lanes load from the multiple before, and take what lacks from the next lane.
TMAP_DEVICE void tmapi_flood_load_rows(const tmapi_flood *f, const tmapi_flood_block *b,
                                       const tmapi_flood_area *a, const tmap_u32 size) {
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u32 each = 16 / size, rows = 8 / size; // cells of a group; rows at a time
    const tmap_u64 pitch = f->plan.map.pitch;
    unsigned char *bytes = (unsigned char *)b->bits;
#pragma unroll 1
    for (tmap_u32 row = warp; row < b->rows; row += rows * warps) {
        const tmap_u64 from = (a->y + row) * pitch + a->x;
        tmap_u32 halves[8];
        uint4 v[8], more[4];
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) {
            const uint4 *groups = (const uint4 *)f->heights +
                                  (from + i / size * warps * pitch) / each + i % size * 32;
            v[i] = __ldcs(groups + lane);
            if (i % size == size - 1 && pitch % each && lane == 0)
                more[i / size] = __ldcs(groups + 32);
        }
        tmapi_flood_bytes_of(&f->level, v, halves, size);
#pragma unroll
        for (tmap_u32 i = 0; i < rows; ++i) {
            tmap_u32 left = halves[2 * i], right = halves[2 * i + 1];
            if (pitch % each) {
                const tmap_u32 skip = (tmap_u32)((from + i * warps * pitch) % each);
                const tmap_u32 last = lane        ? 0
                                      : size == 2 ? tmapi_flood_byte(more[i], &f->level)
                                                  : tmapi_flood_nibbles(&f->level, more + i, 1);
                const tmap_u32 middle = __shfl_sync(~0u, right, 0);
                const tmap_u32 end = __shfl_sync(~0u, last, 0);
                const tmap_u32 after_left = __shfl_down_sync(~0u, left, 1);
                const tmap_u32 after_right = __shfl_down_sync(~0u, right, 1);
                left |= (lane < 31 ? after_left : middle) << 8;
                right |= (lane < 31 ? after_right : end) << 8;
                left >>= skip, right >>= skip;
            }
            bytes[tmapi_flood_place(row + i * warps, 0) * 4 + lane] = (unsigned char)left;
            bytes[tmapi_flood_place(row + i * warps, 8) * 4 + lane] = (unsigned char)right;
        }
    }
}

// 1 if tiles can be read by 16 bytes. Those of a whole area.
TMAP_DEVICE int tmapi_flood_quick(const tmapi_flood *f, const tmapi_flood_area *a,
                                  const tmap_u32 size) {
    const tmap_flood_map *map = &f->plan.map;
    return a->x + 512 <= map->width && a->y + f->plan.rows <= map->height &&
           map->pitch % (16 / size) == 0 && (tmap_u64)f->heights % 16 == 0;
}

// A tile's heights, if they can be read so: 2 * size lanes have a row, each of them 16 bytes.
TMAP_DEVICE void tmapi_flood_read_tile(const tmapi_flood *f, const tmapi_flood_area *a,
                                       tmap_u32 tile, uint4 *v, const tmap_u32 size) {
    const tmap_u64 pitch = f->plan.map.pitch;
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, rows = 16 / size;
    const char *from =
        (const char *)f->heights + ((a->y + tile / TMAPI_FLOOD_WORDS * 16 + lane / lanes) * pitch +
                                    a->x + tile % TMAPI_FLOOD_WORDS * 32 + lane % lanes * rows) *
                                       size;
#pragma unroll
    for (tmap_u32 i = 0; i < size; ++i)
        v[i] = __ldcs((const uint4 *)(from + i * rows * pitch * size));
}

// Loads up to 8 / size tiles of a list so, 8 loads in flight.
TMAP_DEVICE void tmapi_flood_load_quick(const tmapi_flood *f, const tmapi_flood_block *b,
                                        const tmapi_flood_area *a, const tmap_u32 *tiles,
                                        tmap_u32 count, const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, odd = lane % 2;
    tmap_u32 own = 0, other;
    uint4 v[8];
#pragma unroll
    for (tmap_u32 i = 0; i < 8 / size; ++i)
        if (i < count) tmapi_flood_read_tile(f, a, tiles[i], v + i * size, size);
    if (size == 4) {
        // a byte of two lanes: of groups 0, 2, 4, 6 in the even lane, of the others in the odd
        own = tmapi_flood_nibbles(&f->level, v, 4);
        if (count > 1) own |= tmapi_flood_nibbles(&f->level, v + 4, 4) << 16;
        other = __shfl_xor_sync(~0u, (odd ? own : own >> 4) & 0x0f0f0f0fu, 1);
        own = odd ? other | (own & 0xf0f0f0f0u) : (own & 0x0f0f0f0fu) | other << 4;
    }
#pragma unroll
    for (tmap_u32 i = 0; i < 16 / size; ++i) { // bytes of the lane, two a tile
        const tmap_u32 tile = tiles[i / 2], group = size == 4 ? 2 * i + odd : i;
        const tmap_u32 row =
            tile / TMAPI_FLOOD_WORDS * 16 + group % size * 16 / size + lane / lanes;
        const tmap_u32 at = tmapi_flood_place(row, tile % TMAPI_FLOOD_WORDS) * 4;
        if (i / 2 < count)
            ((unsigned char *)b->bits)[at + lane % lanes * 2 / size] =
                (unsigned char)(size == 4 ? own >> 8 * i : tmapi_flood_byte(v[i], &f->level));
    }
}

// Of tiles whose ranges are known: writes the bits of those that are dry or full, and lists the
// others where slots will be. Returns how many are listed, or TMAPI_FLOOD_ALL, and writes nothing,
// where so many are mixed that reading the whole block by rows is faster. Barriers of the block.
TMAP_DEVICE tmap_u32 tmapi_flood_sort_tiles(const tmapi_flood *f, const tmapi_flood_block *b,
                                            const tmapi_flood_area *a) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2;
    const tmap_flood_range range = f->tiles[a->block * b->rows + tile];
    const int dry = range.low > f->level.last;
    const int full = !dry && range.high <= f->level.last && range.high < TMAPI_FLOOD_KEY_MAX;
    tmap_u32 mixed;
    if (threadIdx.x == 0) b->scan[0] = 0;
    mixed = (tmap_u32)__syncthreads_count(half == 0 && !dry && !full);
    if (mixed > b->rows / 4 * 3)
        mixed = TMAPI_FLOOD_ALL;
    else if (dry || full) {
#pragma unroll
        for (tmap_u32 r = 0; r < 8; ++r)
            b->bits[tmapi_flood_place(tile / TMAPI_FLOOD_WORDS * 16 + half * 8 + r,
                                      tile % TMAPI_FLOOD_WORDS)] = full ? ~0u : 0;
    } else if (half == 0)
        b->slots[atomicAdd(b->scan, 1u)] = (unsigned short)tile;
    __syncthreads();
    return mixed;
}

// Loads a block, or the tiles of the list. listed: what tmapi_flood_sort_tiles returned.
TMAP_DEVICE void tmapi_flood_load_cells(const tmapi_flood *f, const tmapi_flood_block *b,
                                        const tmapi_flood_area *a, tmap_u32 listed,
                                        const tmap_u32 size) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int all = listed == TMAPI_FLOOD_ALL;
    const tmap_u32 count = all ? b->rows : listed;
    if (all && tmapi_flood_whole(f, a, size))
        tmapi_flood_load_rows(f, b, a, size);
    else if (!all && tmapi_flood_quick(f, a, size))
        for (tmap_u32 i = warp; i < count; i += 8 / size * warps) {
            tmap_u32 tiles[4] = {0, 0, 0, 0}, some = 0;
#pragma unroll
            for (tmap_u32 k = 0; k < 8 / size; ++k)
                if (i + k * warps < count) tiles[k] = b->slots[i + k * warps], ++some;
            tmapi_flood_load_quick(f, b, a, tiles, some, size);
        }
    else
        for (tmap_u32 i = warp; i < count; i += warps)
            tmapi_flood_load_tile(f, b, a, all ? i : b->slots[i], size);
}

// Loads a block's bits and stores them in the workspace. Returns what it holds, in all threads.
TMAP_DEVICE tmap_u32 tmapi_flood_load(const tmapi_flood *f, const tmapi_flood_block *b,
                                      const tmapi_flood_area *a) {
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    tmap_u32 any = 0, all = ~0u, kind;
    if (f->level.none)
        for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x)
            b->bits[i] = 0;
    else {
        const tmap_u32 listed = f->tiles ? tmapi_flood_sort_tiles(f, b, a) : TMAPI_FLOOD_ALL;
        if (f->plan.map.type == TMAP_FLOOD_I16)
            tmapi_flood_load_cells(f, b, a, listed, 2);
        else
            tmapi_flood_load_cells(f, b, a, listed, 4);
    }
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
