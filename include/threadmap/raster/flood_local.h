// SPDX-License-Identifier: MIT
// flood_local.h: of flood.h: a block of 512 x 128 cells: heights to bits, its components, and the
// lists of runs on the borders of its tiles.
#ifndef TMAP_RASTER_FLOOD_LOCAL_H
#define TMAP_RASTER_FLOOD_LOCAL_H

#include "flood_base.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- local: heights to bits ---------------------------------------------------------------------
//
// size: here and below, the bytes of a height, 2 or 4; a constant.

#define TMAPI_FLOOD_ALL 0xffffffffu // all tiles of a block are read

// 1 if a height with these bits is below the level; 1 if it is NODATA, for levels that have it.
TMAP_DEVICE int tmapi_flood_cell_below(const tmapi_flood_level *l, tmap_u32 bits) {
    return bits - l->first <= l->span && bits <= l->top;
}
TMAP_DEVICE int tmapi_flood_cell_dry(const tmapi_flood_level *l, tmap_u32 bits) {
    return ((bits ^ l->dry) & l->mask) == 0;
}

// A bit for each of 8 heights of 16 bits, 1 if wet.
TMAP_DEVICE tmap_u32 tmapi_flood_byte(const tmapi_flood_level *l, uint4 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    // 1 if dry: min(max(h, last) - last, 1), two at a time
    const tmap_u32 one = 0x00010001u, last = (tmap_u32)(l->last & 0xffff) * one;
    const tmap_u32 less = (tmap_u32)(-l->last & 0xffff) * one;
    tmap_u32 a = __viaddmin_u16x2(__vmaxs2(v.x, last), less, one);
    tmap_u32 b = __viaddmin_u16x2(__vmaxs2(v.y, last), less, one);
    tmap_u32 c = __viaddmin_u16x2(__vmaxs2(v.z, last), less, one);
    tmap_u32 d = __viaddmin_u16x2(__vmaxs2(v.w, last), less, one), all;
    if (l->has_nodata) {
        const tmap_u32 nodata = (tmap_u32)(l->nodata & 0xffff) * one;
        a |= one ^ __viaddmin_u16x2(v.x ^ nodata, 0, one);
        b |= one ^ __viaddmin_u16x2(v.y ^ nodata, 0, one);
        c |= one ^ __viaddmin_u16x2(v.z ^ nodata, 0, one);
        d |= one ^ __viaddmin_u16x2(v.w ^ nodata, 0, one);
    }
    all = ((d * 4 + c) * 4 + b) * 4 + a;
    return ~(all | all >> 15) & 255u;
#else
    const tmap_u32 two[4] = {v.x, v.y, v.z, v.w};
    tmap_u32 bits = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int height = (short)(two[i / 2] >> i % 2 * 16);
        bits |= (tmap_u32)(height <= l->last && !(l->has_nodata && height == l->nodata)) << i;
    }
    return bits;
#endif
}

// A bit for each of 4 heights of 32 bits: 1 below the level; 1 for NODATA.
TMAP_DEVICE tmap_u32 tmapi_flood_below4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_below(l, v.x) |
           (tmap_u32)tmapi_flood_cell_below(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_below(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_below(l, v.w) << 3;
}
TMAP_DEVICE tmap_u32 tmapi_flood_dry4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_dry(l, v.x) | (tmap_u32)tmapi_flood_cell_dry(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.w) << 3;
}

// A bit for each height of `count` such groups, up to 8. There is a single branch: with one for
// each group, the loads would not be in flight together.
TMAP_DEVICE tmap_u32 tmapi_flood_nibbles(const tmapi_flood_level *l, const uint4 *v,
                                         const tmap_u32 count) {
    tmap_u32 bits = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i) bits |= tmapi_flood_below4(l, v[i]) << 4 * i;
    if (l->has_nodata)
#pragma unroll
        for (tmap_u32 i = 0; i < count; ++i) bits &= ~(tmapi_flood_dry4(l, v[i]) << 4 * i);
    return bits;
}

// Loads a tile of any alignment: each load of the warp reads a row.
TMAP_DEVICE void tmapi_flood_load_tile(const tmapi_flood_block *b, tmap_u32 tile,
                                       const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, word = tile % TMAPI_FLOOD_WORDS;
    const tmap_u32 row = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u64 x = b->x + word * 32 + lane, y = b->y + row;
    tmap_u32 mine = 0, cells[16];
    const tmap_raster_map *map = &b->f->plan.map;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r)
        cells[r] = x < map->width && y + r < map->height
                       ? tmapi_flood_cell(b->f->heights, (y + r) * map->pitch + x, size)
                       : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r) {
        const int inside = x < map->width && y + r < map->height;
        const int wet = inside && tmapi_flood_cell_below(&b->f->level, cells[r]) &&
                        !(b->f->level.has_nodata && tmapi_flood_cell_dry(&b->f->level, cells[r]));
        const tmap_u32 bits = __ballot_sync(~0u, wet);
        if (lane == r) mine = bits;
    }
    if (lane < 16) b->bits[tmapi_flood_place(row + lane, word)] = mine;
}

// 1 if the rows of a block can be read 16 bytes at a time wherever they begin: what is read after a
// row's end is inside the map.
TMAP_DEVICE int tmapi_flood_by_rows(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->plan.map;
    return b->x + 512 <= map->width &&
           b->y + b->f->plan.rows + (map->pitch % (16 / size) != 0) <= map->height &&
           (tmap_u64)b->f->heights % 16 == 0;
}

// Converts heights to bytes of bits, which the lanes hold in the order of cells. v: 8 groups of 16
// bytes a lane, 32 * 16 bytes apart.
TMAP_DEVICE void tmapi_flood_bytes_of(const tmapi_flood_level *l, const uint4 *v, tmap_u32 *bytes,
                                      const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, upper = lane / 16 * 4; // lanes 16 to 31: odd groups
    tmap_u32 own, low, high;
    if (size == 2) {
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) bytes[i] = tmapi_flood_byte(l, v[i]);
        return;
    }
    own = tmapi_flood_nibbles(l, v, 8);
    low = __shfl_sync(~0u, own, (int)(2 * lane % 32)) >> upper & 0x0f0f0f0fu;
    high = __shfl_sync(~0u, own, (int)(2 * lane % 32 + 1)) >> upper & 0x0f0f0f0fu;
    low |= high << 4;
#pragma unroll
    for (tmap_u32 i = 0; i < 4; ++i) bytes[i] = low >> 8 * i & 255;
}

// Loads such a block with 8 loads of 16 bytes in flight. If a row begins between multiples of 16
// bytes, lanes load from the previous multiple and take the missing cells from the next lane.
TMAP_DEVICE void tmapi_flood_load_rows(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmapi_flood_level *l = &b->f->level;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u32 each = 16 / size, rows = 8 / size; // cells of a group; rows at a time
    const tmap_u64 pitch = b->f->plan.map.pitch;
    unsigned char *bytes = (unsigned char *)b->bits;
#pragma unroll 1
    for (tmap_u32 row = warp; row < b->rows; row += rows * warps) {
        const tmap_u64 from = (b->y + row) * pitch + b->x;
        tmap_u32 halves[8];
        uint4 v[8], more[4];
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) {
            const uint4 *groups = (const uint4 *)b->f->heights +
                                  (from + i / size * warps * pitch) / each + i % size * 32;
            v[i] = __ldcs(groups + lane);
            if (i % size == size - 1 && pitch % each && lane == 0)
                more[i / size] = __ldcs(groups + 32);
        }
        tmapi_flood_bytes_of(l, v, halves, size);
#pragma unroll
        for (tmap_u32 i = 0; i < rows; ++i) {
            tmap_u32 left = halves[2 * i], right = halves[2 * i + 1];
            if (pitch % each) {
                const tmap_u32 skip = (tmap_u32)((from + i * warps * pitch) % each);
                const tmap_u32 last = lane        ? 0
                                      : size == 2 ? tmapi_flood_byte(l, more[i])
                                                  : tmapi_flood_nibbles(l, more + i, 1);
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

// 1 if the tiles of a block can be read 16 bytes at a time.
TMAP_DEVICE int tmapi_flood_by_tiles(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->plan.map;
    return b->x + 512 <= map->width && b->y + b->f->plan.rows <= map->height &&
           map->pitch % (16 / size) == 0 && (tmap_u64)b->f->heights % 16 == 0;
}

// Reads such a tile: 2 * size lanes have a row, each of them 16 bytes.
TMAP_DEVICE void tmapi_flood_read_tile(const tmapi_flood_block *b, tmap_u32 tile, uint4 *v,
                                       const tmap_u32 size) {
    const tmap_u64 pitch = b->f->plan.map.pitch;
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, rows = 16 / size;
    const char *from = (const char *)b->f->heights +
                       ((b->y + tile / TMAPI_FLOOD_WORDS * 16 + lane / lanes) * pitch + b->x +
                        tile % TMAPI_FLOOD_WORDS * 32 + lane % lanes * rows) *
                           size;
#pragma unroll
    for (tmap_u32 i = 0; i < size; ++i)
        v[i] = __ldcs((const uint4 *)(from + i * rows * pitch * size));
}

// Loads up to 8 / size such tiles of a list, with 8 loads in flight.
TMAP_DEVICE void tmapi_flood_load_tiles(const tmapi_flood_block *b, const tmap_u32 *tiles,
                                        tmap_u32 count, const tmap_u32 size) {
    const tmapi_flood_level *l = &b->f->level;
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, odd = lane % 2;
    tmap_u32 own = 0, other;
    uint4 v[8];
#pragma unroll
    for (tmap_u32 i = 0; i < 8 / size; ++i)
        if (i < count) tmapi_flood_read_tile(b, tiles[i], v + i * size, size);
    if (size == 4) {
        // a byte of two lanes: of groups 0, 2, 4, 6 in the even lane, of the others in the odd one
        own = tmapi_flood_nibbles(l, v, 4);
        if (count > 1) own |= tmapi_flood_nibbles(l, v + 4, 4) << 16;
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
                (unsigned char)(size == 4 ? own >> 8 * i : tmapi_flood_byte(l, v[i]));
    }
}

// For tiles with known ranges: writes the bits of dry and full tiles, and lists the others in the
// memory of the slots. Returns their number; or TMAPI_FLOOD_ALL, without writing anything, if
// reading the complete block by rows is faster. Barriers of the block.
TMAP_DEVICE tmap_u32 tmapi_flood_sort_tiles(const tmapi_flood_block *b) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2;
    const tmap_flood_range range = b->f->tiles[b->number * b->rows + tile];
    const int dry = range.low > b->f->level.last;
    const int full = !dry && range.high <= b->f->level.last && range.high < TMAPI_FLOOD_KEY_MAX;
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

// Loads a block, or the tiles of the list. listed: the result of tmapi_flood_sort_tiles.
TMAP_DEVICE void tmapi_flood_load_cells(const tmapi_flood_block *b, tmap_u32 listed,
                                        const tmap_u32 size) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int all = listed == TMAPI_FLOOD_ALL;
    const tmap_u32 count = all ? b->rows : listed;
    if (all && tmapi_flood_by_rows(b, size))
        tmapi_flood_load_rows(b, size);
    else if (!all && tmapi_flood_by_tiles(b, size))
        for (tmap_u32 i = warp; i < count; i += 8 / size * warps) {
            tmap_u32 tiles[4] = {0, 0, 0, 0}, some = 0;
#pragma unroll
            for (tmap_u32 k = 0; k < 8 / size; ++k)
                if (i + k * warps < count) tiles[k] = b->slots[i + k * warps], ++some;
            tmapi_flood_load_tiles(b, tiles, some, size);
        }
    else
        for (tmap_u32 i = warp; i < count; i += warps)
            tmapi_flood_load_tile(b, all ? i : b->slots[i], size);
}

// Loads a block's bits and stores them in the workspace. Returns the block's kind to all threads.
TMAP_DEVICE tmap_u32 tmapi_flood_load(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    tmap_u32 any = 0, all = ~0u, kind;
    if (f->level.none)
        for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x)
            b->bits[i] = 0;
    else {
        const tmap_u32 listed = f->tiles ? tmapi_flood_sort_tiles(b) : TMAPI_FLOOD_ALL;
        if (f->plan.map.type == TMAP_RASTER_I16)
            tmapi_flood_load_cells(b, listed, 2);
        else
            tmapi_flood_load_cells(b, listed, 4);
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x) {
        const uint4 v = *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
        any |= v.x | v.y | v.z | v.w, all &= v.x & v.y & v.z & v.w;
    }
    kind = __syncthreads_and(!any)         ? TMAPI_FLOOD_DRY
           : __syncthreads_and(all == ~0u) ? TMAPI_FLOOD_FULL
                                           : TMAPI_FLOOD_MIXED;
    if (threadIdx.x == 0) f->kinds[b->number] = (unsigned char)kind;
    if (kind == TMAPI_FLOOD_MIXED)
        for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x)
            *(uint4 *)(f->bits + (b->y + i / 4) * words + b->x / 32 + i % 4 * 4) =
                *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
    return kind;
}

// ---- local: the components of a block -----------------------------------------------------------
//
// 16 threads have 8 rows, each thread 32 columns. Two rows are processed together, a double row:
// its components are intervals of columns, found by arithmetic on words. Each has a slot, which
// holds the slot of another component that it is joined to, or its own: a root. Slots of higher
// components have lower numbers.
//     1  each component points to the first one above that it touches: no two write the same slot
//     2  rounds: all slots jump until they point to roots; then, for each other contact, one of
//        the two roots is put below the other. If two threads do so with one root, one of them
//        succeeds, and the other tries again in the next round
// The wait is mostly for shared memory, so loops have four loads in flight at a time.

#define TMAPI_FLOOD_STRIP  8u // rows of a thread
#define TMAPI_FLOOD_DOUBLE 4u // double rows of a thread

// The slot of component k of a word of a double row, up to 32 of them; banks as tmapi_flood_place.
TMAP_DEVICE tmap_u32 tmapi_flood_slot(tmap_u32 pair, tmap_u32 word, tmap_u32 k) {
    return pair * 512 + ((k >> 1) ^ (pair >> 2 & 1)) * 32 + word * 2 + (k & 1);
}

// The first columns of the components of a double row. eight: connectivity.
TMAP_DEVICE tmap_u32 tmapi_flood_firsts(tmap_u32 a, tmap_u32 b, int eight) {
    const tmap_u32 both = a | b;
    return both & ~(eight ? both << 1 : (a & a << 1) | (b & b << 1));
}

// The number of the component that contains column `bit`, a power of two.
TMAP_DEVICE tmap_u32 tmapi_flood_rank(tmap_u32 firsts, tmap_u32 bit) {
    return (tmap_u32)__popc(firsts & tmapi_flood_upto(bit)) - 1;
}

// The slot of a cell's component, or TMAPI_FLOOD_NONE.
TMAP_DEVICE tmap_u32 tmapi_flood_cell_slot(const tmapi_flood_block *b, tmap_u32 x, tmap_u32 y,
                                           int eight) {
    const tmap_u32 word = x / 32, bit = 1u << x % 32;
    const tmap_u32 upper = b->bits[tmapi_flood_place(y & ~1u, word)];
    const tmap_u32 lower = b->bits[tmapi_flood_place(y | 1, word)];
    if (!((y & 1 ? lower : upper) & bit)) return TMAPI_FLOOD_NONE;
    return tmapi_flood_slot(y / 2, word,
                            tmapi_flood_rank(tmapi_flood_firsts(upper, lower, eight), bit));
}

// The root of a slot: one that holds itself or a node's number.
TMAP_DEVICE tmap_u32 tmapi_flood_root(const tmapi_flood_block *b, tmap_u32 slot) {
    tmap_u32 next;
    while ((next = b->slots[slot]) != slot && !(next & TMAPI_FLOOD_BORDER)) slot = next;
    return slot;
}

// Removes runs that touch only one other run, up to half of the components: the rest is joined as
// before, and the last pass floods the removed runs again. Keeps the cells on the border of a tile.
// For 4-connected cells. Barriers of the block.
TMAP_DEVICE void tmapi_flood_prune(const tmapi_flood_block *b) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 first = strip * TMAPI_FLOOD_STRIP;
    tmap_u32 m[TMAPI_FLOOD_STRIP + 2];
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP + 2; ++r) {
        const tmap_u32 row = first + r - 1;
        m[r] = row < b->rows ? b->bits[tmapi_flood_place(row, word)] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < 2; ++turn) // upwards, then downwards
#pragma unroll
        for (tmap_u32 i = 1; i <= TMAPI_FLOOD_STRIP; ++i) {
            const tmap_u32 r = turn ? i : TMAPI_FLOOD_STRIP + 1 - i;
            const tmap_u32 behind = m[turn ? r - 1 : r + 1], ahead = m[turn ? r + 1 : r - 1];
            const tmap_u32 row = m[r], touch = tmapi_flood_starts(row & ahead);
            // a run is kept for a contact behind, or for a second one ahead: in row + touch, the
            // carry of the first contact ends at the run's end, so the second one remains set
            tmap_u32 stay = (row & (behind | 0x80000001u)) | (touch & (row + touch));
            if ((r == 1 && strip % 2 == 0) || (r == TMAPI_FLOOD_STRIP && strip % 2)) stay = row;
            m[r] = tmapi_flood_whole(row, __brev(row), stay);
        }
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP; ++r)
        b->bits[tmapi_flood_place(first + r, word)] = m[r + 1];
    __syncthreads();
}

// A thread's data of its double rows. firsts: also of the one above them. others: columns of
// further contacts with the double row above. left: the component to the left of the first one, or
// NONE. above_left, above_right: contacts over corners; a bit each.
typedef struct tmapi_flood_strip {
    tmap_u32 firsts[TMAPI_FLOOD_DOUBLE + 1], others[TMAPI_FLOOD_DOUBLE], left[TMAPI_FLOOD_DOUBLE];
    tmap_u32 above_left[TMAPI_FLOOD_DOUBLE], above_right;
} tmapi_flood_strip;

// Makes components and points each to the first one above. No two threads write the same slot.
TMAP_DEVICE void tmapi_flood_point(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 above = 0;
    s->firsts[0] = s->above_right = 0;
    if (strip) {
        above = b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 1, word)];
        s->firsts[0] = tmapi_flood_firsts(
            b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 2, word)], above, eight);
    }
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 row = strip * TMAPI_FLOOD_STRIP + 2 * j, pair = row / 2;
        const tmap_u32 upper = b->bits[tmapi_flood_place(row, word)];
        const tmap_u32 lower = b->bits[tmapi_flood_place(row + 1, word)];
        const tmap_u32 firsts = tmapi_flood_firsts(upper, lower, eight);
        const tmap_u32 last = (tmap_u32)__popc(firsts) - 1;
        // the word to the left: its last column and its last component
        const tmap_u32 edge = upper >> 31 | lower >> 31 << 1 | (last & 31) << 2;
        const tmap_u32 beside = __shfl_up_sync(~0u, edge, 1);
        const int joined = eight ? (upper | lower) & 1 && beside & 3
                                 : (upper & beside & 1) || (lower & beside >> 1 & 1);
        tmap_u32 left = firsts, low = firsts & (0u - firsts), others = 0, k = 0;
        s->left[j] = word && joined ? beside >> 2 : TMAPI_FLOOD_NONE;
        if (eight) {
            const tmap_u32 rank = ((tmap_u32)__popc(s->firsts[j]) - 1) & 31;
            const tmap_u32 before = __shfl_up_sync(~0u, above >> 31 | rank << 1, 1);
            const tmap_u32 after = __shfl_down_sync(~0u, above & 1, 1);
            s->above_left[j] = word && upper & 1 && before & 1 ? before >> 1 : TMAPI_FLOOD_NONE;
            if (word < TMAPI_FLOOD_WORDS - 1 && upper >> 31 && after) s->above_right |= 1u << j;
        }
#pragma unroll 1
        while (left) {
            tmap_u32 next, touch, parent = tmapi_flood_slot(pair, word, k);
            const tmap_u32 slot = parent;
            left &= left - 1;
            next = left & (0u - left);
            touch = upper & (next - low); // the component's columns: from low to below next
            touch = above & (eight ? tmapi_flood_wide(touch) : touch);
            low = next;
            if (touch) {
                parent = tmapi_flood_slot(pair - 1, word,
                                          tmapi_flood_rank(s->firsts[j], touch & (0u - touch)));
                if (j) parent = b->slots[parent];
            }
            b->slots[slot] = (unsigned short)parent;
            // 8-connected contacts of a gap of one column belong to the component to their left
            others |= tmapi_flood_starts(touch) & touch & (touch - 1);
            ++k;
        }
        if (k & 1) { // the other half of its word of memory: a root, so that jumps end there
            const tmap_u32 slot = tmapi_flood_slot(pair, word, k);
            b->slots[slot] = (unsigned short)slot;
        }
        s->others[j] = others, s->firsts[j + 1] = firsts;
        above = lower;
    }
    __syncthreads();
}

// Points all components to roots, two of each double row at a time. most: of a thread's words.
TMAP_DEVICE void tmapi_flood_jump(const tmapi_flood_block *b, const tmapi_flood_strip *s,
                                  tmap_u32 most) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 counts[TMAPI_FLOOD_DOUBLE];
    int changed;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        counts[j] = (tmap_u32)__popc(s->firsts[j + 1]);
    do {
        changed = 0;
#pragma unroll 1
        for (tmap_u32 k = 0; k < most; k += 2) {
            volatile tmap_u32 *twos = (volatile tmap_u32 *)b->slots +
                                      tmapi_flood_slot(strip * TMAPI_FLOOD_DOUBLE, word, k) / 2;
            tmap_u32 up[TMAPI_FLOOD_DOUBLE], top[TMAPI_FLOOD_DOUBLE];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j]) up[j] = twos[j * 256];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j])
                    top[j] = b->slots[up[j] & 0xffff] | (tmap_u32)b->slots[up[j] >> 16] << 16;
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j] && up[j] != top[j]) twos[j * 256] = top[j], changed = 1;
        }
    } while (__syncthreads_or(changed));
}

// Puts the higher root below the lower one, for each pair of slots (x[j], y[j]) that point to
// roots. Returns a bit for each pair with different roots. Equal slots are not a pair.
TMAP_DEVICE tmap_u32 tmapi_flood_hook(const tmapi_flood_block *b, tmap_u32 *x, tmap_u32 *y) {
    tmap_u32 different = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) x[j] = b->slots[x[j]], y[j] = b->slots[y[j]];
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) {
            const tmap_u32 high = x[j] > y[j] ? x[j] : y[j];
            b->slots[high] = (unsigned short)(x[j] ^ y[j] ^ high);
            different |= 1u << j;
        }
    return different;
}

// One round for all contacts except the first ones. Returns 1 if the thread found different roots.
// Drops contacts within one root; the threads that joined it retry if others overwrote that.
TMAP_DEVICE int tmapi_flood_join(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 pair = strip * TMAPI_FLOOD_DOUBLE;
    tmap_u32 others[TMAPI_FLOOD_DOUBLE], x[TMAPI_FLOOD_DOUBLE], y[TMAPI_FLOOD_DOUBLE];
    tmap_u32 different, any = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        others[j] = s->others[j];
        x[j] = y[j] = 0;
        if (s->left[j] != TMAPI_FLOOD_NONE)
            x[j] = tmapi_flood_slot(pair + j, word, 0),
            y[j] = tmapi_flood_slot(pair + j, word - 1, s->left[j]);
    }
    any = different = tmapi_flood_hook(b, x, y);
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (!(different >> j & 1)) s->left[j] = TMAPI_FLOOD_NONE;
    if (eight) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_left[j] != TMAPI_FLOOD_NONE)
                x[j] = tmapi_flood_slot(pair + j, word, 0),
                y[j] = tmapi_flood_slot(pair + j - 1, word - 1, s->above_left[j]);
        }
        any |= tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_right >> j & 1)
                x[j] = tmapi_flood_slot(pair + j, word, (tmap_u32)__popc(s->firsts[j + 1]) - 1),
                y[j] = tmapi_flood_slot(pair + j - 1, word + 1, 0);
        }
        any |= tmapi_flood_hook(b, x, y);
    }
    while (others[0] | others[1] | others[2] | others[3]) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            x[j] = y[j] = 0;
            if (bit)
                x[j] = tmapi_flood_slot(pair + j - 1, word, tmapi_flood_rank(s->firsts[j], bit)),
                y[j] = tmapi_flood_slot(pair + j, word, tmapi_flood_rank(s->firsts[j + 1], bit));
        }
        any |= different = tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            others[j] ^= bit;
            if (!(different >> j & 1)) s->others[j] &= ~bit;
        }
    }
    return any != 0;
}

// Joins the components of a block: all slots then point to roots. Barriers of the block.
TMAP_DEVICE void tmapi_flood_components(const tmapi_flood_block *b, int eight) {
    tmapi_flood_strip s;
    tmap_u32 most = 0;
    tmapi_flood_point(b, &s, eight);
#pragma unroll
    for (tmap_u32 j = 1; j <= TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 count = (tmap_u32)__popc(s.firsts[j]);
        most = count > most ? count : most;
    }
    do tmapi_flood_jump(b, &s, most);
    while (__syncthreads_or(tmapi_flood_join(b, &s, eight)));
}

// ---- local: nodes, and lists of runs on tiles' borders ------------------------------------------

TMAP_DEVICE void tmapi_flood_write_edges(const tmapi_flood_block *b) {
    const tmap_u32 t = threadIdx.x;
    tmap_u32 *edges = b->f->edges + b->number * TMAPI_FLOOD_EDGES;
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

// The slot of the component at a node's position, or NONE.
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

// Numbers the components on the border, each by any of its nodes, and writes the parents of nodes.
// A barrier of the block.
TMAP_DEVICE void tmapi_flood_number(const tmapi_flood_block *b, int eight) {
    tmap_u32 *parent = b->f->parent + b->number * TMAPI_FLOOD_NODES;
    tmap_u32 *pairs = (tmap_u32 *)b->slots, roots[5]; // of up to 5 nodes
#pragma unroll
    for (tmap_u32 i = 0; i < 5; ++i) {
        const tmap_u32 node = threadIdx.x + i * blockDim.x;
        roots[i] = TMAPI_FLOOD_NONE;
        if (node < TMAPI_FLOOD_NODES) roots[i] = tmapi_flood_node_slot(b, node, eight);
        if (roots[i] == TMAPI_FLOOD_NONE) continue;
        const tmap_u32 root = tmapi_flood_root(b, roots[i]), shift = root % 2 * 16;
        for (;;) { // the first thread to arrive
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
            parent[threadIdx.x + i * blockDim.x] = (tmap_u32)b->number * TMAPI_FLOOD_NODES +
                                                   (b->slots[roots[i]] & (TMAPI_FLOOD_BORDER - 1));
}

// The component of a slot: its node's number with TMAPI_FLOOD_BORDER, or its root.
TMAP_DEVICE tmap_u32 tmapi_flood_component(const tmapi_flood_block *b, tmap_u32 slot) {
    const tmap_u32 root = tmapi_flood_root(b, slot), held = b->slots[root];
    return held & TMAPI_FLOOD_BORDER ? held : root;
}

// Writes the node and the component of each seed in the block. Block 0 also writes that seeds
// outside the map have none.
TMAP_DEVICE void tmapi_flood_write_seeds(const tmapi_flood_block *b, tmap_u32 kind, int eight) {
    const tmapi_flood *f = b->f;
    for (tmap_u32 i = threadIdx.x; i < f->seed_count; i += blockDim.x) {
        tmap_u32 node = TMAPI_FLOOD_NONE, component = TMAPI_FLOOD_NONE, x, y;
        const tmap_flood_seed s = f->seeds[i];
        const int outside = s.x >= f->plan.map.width || s.y >= f->plan.map.height;
        if (!(outside ? b->number == 0 : tmapi_flood_seed_here(b, i, &x, &y))) continue;
        if (!outside && kind == TMAPI_FLOOD_FULL) component = TMAPI_FLOOD_BORDER; // node 0
        if (!outside && kind == TMAPI_FLOOD_MIXED) {
            const tmap_u32 slot = tmapi_flood_cell_slot(b, x, y, eight);
            if (slot != TMAPI_FLOOD_NONE) component = tmapi_flood_component(b, slot);
        }
        if (component != TMAPI_FLOOD_NONE && component & TMAPI_FLOOD_BORDER)
            node = (tmap_u32)b->number * TMAPI_FLOOD_NODES + (component & (TMAPI_FLOOD_BORDER - 1));
        f->entries[2 * i] = node, f->entries[2 * i + 1] = component;
    }
}

// A list of components, written four at a time.
typedef struct tmapi_flood_list {
    tmap_u64 *to, four;
    tmap_u32 count;
} tmapi_flood_list;

TMAP_DEVICE void tmapi_flood_append(tmapi_flood_list *l, tmap_u32 component) {
    l->four = l->four >> 16 | (tmap_u64)component << 48;
    if (++l->count % 4 == 0) *l->to++ = l->four;
}

// Writes the lists of the tiles: components in the order of runs. An even thread writes those of a
// tile's first row, then of its first column; an odd one those of its last row and column.
TMAP_DEVICE void tmapi_flood_write_lists(const tmapi_flood_block *b, int eight) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2;
    const tmap_u32 word = tile % TMAPI_FLOOD_WORDS, top = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u32 y = top + 15 * half;
    unsigned short *offsets = b->f->offsets + b->number * (blockDim.x + 1);
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
    sum = tmapi_warp_scan(threadIdx.x % 32, quads);
    if (threadIdx.x % 32 == 31) b->scan[threadIdx.x / 32] = sum;
    __syncthreads();
    at = sum - quads;
    for (tmap_u32 w = 0; w < threadIdx.x / 32; ++w) at += b->scan[w];
    offsets[threadIdx.x] = (unsigned short)at;
    if (threadIdx.x == blockDim.x - 1) offsets[blockDim.x] = (unsigned short)(at + quads);
    list.to = b->f->table + b->number * b->rows * TMAPI_FLOOD_QUADS + at;
    for (; row; row &= row - 1) {
        const tmap_u32 rank = tmapi_flood_rank(firsts, row & (0u - row));
        tmapi_flood_append(&list, tmapi_flood_component(b, tmapi_flood_slot(y / 2, word, rank)));
    }
    for (; column; column &= column - 1) {
        const tmap_u32 x = word * 32 + 31 * half, r = top + (tmap_u32)__ffs((int)column) - 1;
        tmapi_flood_append(&list, tmapi_flood_component(b, tmapi_flood_cell_slot(b, x, r, eight)));
    }
    if (list.count % 4) *list.to = list.four >> 16 * (4 - list.count % 4);
}

// Blocks of 2 * rows threads.
static __global__ void __launch_bounds__(256, 3) tmapi_flood_local_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    const int eight = f.plan.map.connectivity == 8;
    tmapi_flood_block b = tmapi_flood_block_at(&f);
    tmap_u32 kind;
    b.rows = f.plan.rows;

    int seeds;
    b.slots = (unsigned short *)tmapi_flood_shared; // first, so that slots have a constant base
    b.bits = (tmap_u32 *)tmapi_flood_shared + 128 * b.rows;
    b.scan = b.bits + TMAPI_FLOOD_WORDS * b.rows;
    kind = tmapi_flood_load(&b), seeds = tmapi_flood_seeds_here(&b);
    tmapi_flood_write_edges(&b);
    if (kind == TMAPI_FLOOD_MIXED) {
        __syncthreads();
        if (!eight && !seeds) tmapi_flood_prune(&b); // a seed may be on any cell
        if (eight)
            tmapi_flood_components(&b, 1);
        else
            tmapi_flood_components(&b, 0);
        tmapi_flood_number(&b, eight);
        tmapi_flood_write_lists(&b, eight);
    } else if (kind == TMAPI_FLOOD_FULL) // node 0 is its only node
        for (tmap_u32 node = threadIdx.x; node < TMAPI_FLOOD_NODES; node += blockDim.x)
            if (tmapi_flood_node_slot(&b, node, eight) != TMAPI_FLOOD_NONE)
                f.parent[b.number * TMAPI_FLOOD_NODES + node] =
                    (tmap_u32)b.number * TMAPI_FLOOD_NODES;
    if (seeds || b.number == 0) tmapi_flood_write_seeds(&b, kind, eight);
}

#endif

#endif
