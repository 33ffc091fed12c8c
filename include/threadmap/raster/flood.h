// SPDX-License-Identifier: MIT
// flood.h: the flood of a height map: the cells that water reaches from sources at a level, and the
// area and volume of rising water.
//
// A cell is flooded if it is below the level and a path of such cells joins it to a source. A path
// goes from a cell to one of its 4 neighbours (over edges), or of its 8 (over corners too).
//
//     const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_I16, 4};
//     const tmap_flood_heights heights = {cells, 0};        // device memory
//     const tmap_flood_sources sources = {seeds, 1, level}; // device memory
//     tmap_flood_plan plan;
//     tmap_flood_plan_make(&map, TMAP_FLOOD_U8, 1, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_flood(&plan, heights, sources, workspace, out, stream);
//
// Source: the "construction of regions" of the lecture slides to Filipovic, Plhak, Strelak, HPCS
// 2015: regions of blocks in shared memory, joined over their edges, and one pass that writes.
//
// Five launches for any map:
//     local         converts heights to bits, and finds the components of each block of 1024 x 64
//                   cells (label_rows.h)
//     unite, roots  joins components that touch over the edges of blocks
//     mark          marks those with a source
//     last          gives each run of cells what its component has, and writes the result
#ifndef TMAP_RASTER_FLOOD_H
#define TMAP_RASTER_FLOOD_H

#include "label_rows.h"

// Forms of a result. The result of column x and row y is number y * width + x of bytes or floats.
#define TMAP_FLOOD_U8    0 // a byte: 1 flooded, 0 not
#define TMAP_FLOOD_BITS  1 // a bit: x % 32 of word y * tmap_flood_words(width) + x / 32
#define TMAP_FLOOD_DEPTH 2 // a float: level - height, 0 where not flooded

// Heights in device memory. tiles: null, or what tmap_flood_tiles wrote for them.
typedef struct tmap_flood_heights {
    const void *data, *tiles;
} tmap_flood_heights;

// Sources of a flood and its level. seeds: `count` of them in device memory. level: cells below it
// are wet; for NaN no cell is.
typedef struct tmap_flood_sources {
    const tmap_flood_seed *seeds;
    tmap_u64 count;
    double level;
} tmap_flood_sources;

// Rising water. seeds: in device memory. levels: in host memory, in any order.
typedef struct tmap_flood_rise {
    const tmap_flood_seed *seeds;
    tmap_u64 seed_count;
    const double *levels;
    tmap_u64 level_count;
} tmap_flood_rise;

// The size of a flood.
typedef struct tmap_flood_lake {
    tmap_u64 area; // cells
    double volume; // sum of level - height over them
} tmap_flood_lake;

// The lowest and highest keys (see below) of a tile's cells. Cells that are never wet only count
// for `high`, as the highest of all.
typedef struct tmap_flood_range {
    int low, high;
} tmap_flood_range;

// How a map is divided, and the parts of the workspace.
typedef struct tmap_flood_plan {
    tmap_raster_map map;
    int form;
    tmap_u64 seeds;      // the most sources
    tmap_u64 workspace;  // bytes
    tmapi_label_job job; // with null addresses
} tmap_flood_plan;

// ---- levels -------------------------------------------------------------------------------------
//
// Heights have keys, 32-bit integers in the same order, for ranges of tiles. A single height is
// compared by its bits in memory, in one way for all types: wet heights are a range of bits.

#define TMAPI_FLOOD_KEY_MIN (-2147483647 - 1)
#define TMAPI_FLOOD_KEY_MAX 2147483647

// A level, for heights of a type. By keys: cells with keys <= last are wet, except those with key
// `nodata`; none: 1 if no height is below the level. By bits (16-bit ones sign-extended): wet are
// first, first + 1, ..., first + span, which may wrap around, except those above `top`, which are
// NaN; bits that equal `dry` under `mask` are NODATA.
typedef struct tmapi_flood_level {
    int last, none, nodata, has_nodata;
    tmap_u32 first, span, top, dry, mask;
} tmapi_flood_level;

// The key of a float's bits: the largest for NaN, which no level reaches; -0 is 0.
TMAP_FN int tmapi_flood_float_key(tmap_u32 bits) {
    if ((bits & 0x7fffffffu) > 0x7f800000u) return TMAPI_FLOOD_KEY_MAX;
    if (bits == 0x80000000u) return 0;
    return (int)(bits ^ (bits >> 31 ? 0x7fffffffu : 0));
}

// The height of a key.
TMAP_FN double tmapi_flood_key_height(int key, int floats) {
    const tmap_u32 bits = (tmap_u32)key ^ (key < 0 ? 0x7fffffffu : 0);
    float height;
    tmapi_raster_copy4(&height, &bits);
    return floats ? (double)height : (double)key;
}

// Converts a level for the heights of a map.
TMAP_FN tmapi_flood_level tmapi_flood_level_of(const tmap_raster_map *map, double level) {
    const int floats = map->type == TMAP_RASTER_F32, shorts = map->type == TMAP_RASTER_I16;
    const int least = floats   ? (int)0x807fffffu
                      : shorts ? -32768
                               : TMAPI_FLOOD_KEY_MIN; // -infinity
    tmap_i64 high = floats ? 0x7f7fffff : shorts ? 32767 : TMAPI_FLOOD_KEY_MAX, low = least;
    tmapi_flood_level l;
    l.none = !(tmapi_flood_key_height(least, floats) < level);
    while (low < high) { // finds the last key below the level
        const tmap_i64 middle = high - (high - low) / 2;
        if (tmapi_flood_key_height((int)middle, floats) < level)
            low = middle;
        else
            high = middle - 1;
    }
    l.last = (int)low;
    l.has_nodata = tmapi_raster_nodata(map, &l.nodata);
    l.dry = (tmap_u32)l.nodata, l.mask = floats && l.nodata == 0 ? 0x7fffffffu : ~0u; // 0 and -0
    if (floats) l.nodata = tmapi_flood_float_key(l.dry);
    // negative numbers are first; with floats those nearest to 0
    l.first = 0x80000000u, l.span = (tmap_u32)l.last - l.first;
    l.top = floats ? 0xff800000u : ~0u; // -infinity
    if (floats && l.last < 0) l.first = (tmap_u32)l.last ^ 0x7fffffffu, l.span = l.top - l.first;
    return l;
}

// ---- blocks and tiles ---------------------------------------------------------------------------
//
// A block of threads takes 1024 columns and 64 (or 32) rows of the map, in tiles of 32 x 16 cells.
// Word w of a row has columns 32 w to 32 w + 31, the lowest in bit 0.

#define TMAPI_FLOOD_WORDS 32u  // of a block's row
#define TMAPI_FLOOD_TILE  16u  // rows of a tile
#define TMAPI_FLOOD_LAST  256u // threads of the last pass
#define TMAPI_FLOOD_NONE  0xffffffffu
#define TMAPI_FLOOD_MARK  0x80000000u // set at the root of a flooded component

#define TMAPI_FLOOD_MIXED 0 // a block of wet and dry cells
#define TMAPI_FLOOD_DRY   1 // only dry cells
#define TMAPI_FLOOD_FULL  2 // only wet cells
#define TMAPI_FLOOD_SEEDS 4 // added if a component that is no node has a seed

// The argument of all kernels, which begins with that of label_rows.h's kernels.
typedef struct tmapi_flood {
    tmapi_label_job job;
    tmap_raster_map map;
    int form;
    tmapi_flood_level level;
    double surface; // the level
    const void *heights;
    const tmap_flood_seed *seeds;
    tmap_u32 seed_count;
    tmap_flood_range *tiles;        // of all tiles of all blocks, or null
    double *tile_sums;              // of the heights of each tile
    tmap_u32 *entries;              // of each seed: what the slot of its run says
    unsigned char *kinds;           // of each block: TMAPI_FLOOD_MIXED, ...
    struct tmapi_flood_size *sizes; // of each block
    void *out;
} tmapi_flood;

TMAP_FN tmap_u64 tmapi_flood_blocks(const tmapi_label_job *job) { return job->bx * job->by; }

// Bytes of shared memory of a block in the first pass, and in the last.
TMAP_FN tmap_u32 tmapi_flood_local_bytes(tmap_u32 rows) {
    return (tmapi_label_local_bytes(rows * TMAPI_LABEL_SLOTS_MASK) + 15) / 16 * 16 + rows * 128;
}
TMAP_FN tmap_u32 tmapi_flood_last_bytes(const tmapi_label_job *job) {
    return job->rows * 192 + (job->nodes + 31) / 32 * 4 + TMAPI_FLOOD_LAST / 16 * job->slots;
}

// Sets the addresses of the parts of a workspace at w. Returns its bytes.
TMAP_FN tmap_u64 tmapi_flood_parts(tmapi_flood *f, tmap_u64 seeds, tmap_u64 w) {
    const tmap_u64 blocks = tmapi_flood_blocks(&f->job);
    tmap_u64 end = tmapi_label_divide(&f->job, w);
    // two bytes a slot, 17 slots a word
    f->job.code_column = f->job.bx > 1 ? f->job.slots * 2 : (f->job.width + 31) / 32 * 36;
    f->job.code_row = f->job.bx * f->job.code_column;
    f->job.codes = (void *)(w + tmapi_raster_part(&end, f->job.by * f->job.rows * f->job.code_row));
    f->entries = (tmap_u32 *)(w + tmapi_raster_part(&end, seeds * 4));
    f->kinds = (unsigned char *)(w + tmapi_raster_part(&end, blocks));
    f->sizes = (struct tmapi_flood_size *)(w + tmapi_raster_part(&end, blocks * 16));
    return end;
}

// Divides a map into blocks of `rows` rows, and the workspace. Returns 0 for too many nodes.
TMAP_FN int tmapi_flood_divide(tmap_flood_plan *p, tmap_u32 rows) {
    const int ok = tmapi_label_job_make(&p->map, TMAP_RASTER_MASK, rows, &p->job);
    tmapi_flood f;
    f.job = p->job, p->workspace = tmapi_flood_parts(&f, p->seeds, 0);
    return ok && tmap_mul_saturate(tmapi_flood_blocks(&p->job), p->job.nodes) < TMAPI_FLOOD_MARK;
}

// Makes the plan of tmap_flood_plan_make from facts, for the shared memory that a block can have.
// map: its ranges are in raster/map.h; type: TMAP_RASTER_I16, _I32 or _F32. form: TMAP_FLOOD_U8,
// _BITS or _DEPTH. seeds: the most sources of a flood, up to 2^31 - 1; a flood may have fewer.
// plan->workspace: about 10 bits a cell, and 4 bytes a source; 16384 x 16384 cells: 390 MB. Writes
// *plan only on success.
// Returns TMAP_EINVAL for a null pointer and an argument outside its range; TMAP_ERANGE for a map
// of more than 2^31 / 1088 blocks of 1024 x 64 cells, about 1.3 * 10^11 cells.
TMAP_FN int tmap_flood_plan_of(const tmap_raster_map *map, int form, tmap_u64 seeds,
                               const tmap_facts *facts, tmap_flood_plan *plan) {
    const tmap_u64 most = 0x7fffffffu;
    tmap_flood_plan p;
    if (!tmapi_raster_valid(map, TMAP_RASTER_I16, TMAP_RASTER_F32) || form < TMAP_FLOOD_U8 ||
        form > TMAP_FLOOD_DEPTH || seeds > most || !facts || !plan)
        return TMAP_EINVAL;
    p.map = *map, p.form = form, p.seeds = seeds;
    if (!tmapi_flood_divide(&p, facts->device.block_shared >=
                                        tmapi_flood_local_bytes(TMAPI_LABEL_ROWS_MASK)
                                    ? TMAPI_LABEL_ROWS_MASK
                                    : TMAPI_LABEL_ROWS_MASK / 2))
        return TMAP_ERANGE;
    *plan = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// A block of threads: its part of the map, and its shared memory.
typedef struct tmapi_flood_block {
    const tmapi_flood *f;
    tmap_u64 x, y;                  // its first column and row
    tmap_u32 number, column, rows;  // in raster order; its column of blocks; its rows
    volatile unsigned short *slots; // local: a list of tiles
    tmap_u32 *bits, *scan;          // local: words of rows; their number
    tmap_u32 *cells;                // last: words of rows of flooded cells
    tmap_u32 *flags, *inner;        // last: of nodes; of other components with a source
} tmapi_flood_block;

TMAP_DEVICE tmapi_flood_block tmapi_flood_block_at(const tmapi_flood *f) {
    const tmapi_label_area a = tmapi_label_area_here(&f->job);
    tmapi_flood_block b;
    b.f = f, b.x = a.x, b.y = a.y, b.number = a.block, b.column = a.column, b.rows = f->job.rows;
    return b;
}

// Position of a seed in a block; returns 0 if it is elsewhere or outside the map.
TMAP_DEVICE int tmapi_flood_seed_here(const tmapi_flood_block *b, tmap_u32 seed, tmap_u32 *x,
                                      tmap_u32 *y) {
    const tmap_flood_seed s = b->f->seeds[seed];
    *x = (tmap_u32)(s.x - b->x), *y = (tmap_u32)(s.y - b->y);
    return s.x < b->f->map.width && s.y < b->f->map.height && s.x >= b->x && s.y >= b->y &&
           s.x - b->x < TMAPI_LABEL_CELLS && s.y - b->y < b->rows;
}

// ---- local: heights to bits ---------------------------------------------------------------------
//
// size: here and below, the bytes of a height, 2 or 4; a constant.

#define TMAPI_FLOOD_ALL 0xffffffffu // all tiles of a block are read

TMAP_DEVICE tmap_u32 tmapi_flood_cell(const void *heights, tmap_u64 at, const tmap_u32 size) {
    return size == 2 ? (tmap_u32)((const short *)heights)[at] : ((const tmap_u32 *)heights)[at];
}

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

// A bit for each of `count` groups of 4 heights of 32 bits, up to 8 groups. There is a single
// branch: with one for each group, the loads would not be in flight together.
TMAP_DEVICE tmap_u32 tmapi_flood_nibbles(const tmapi_flood_level *l, const uint4 *v,
                                         const tmap_u32 count) {
    tmap_u32 bits = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i) {
        const tmap_u32 h[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k)
            bits |= (tmap_u32)tmapi_flood_cell_below(l, h[k]) << (4 * i + k);
    }
    if (!l->has_nodata) return bits;
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i) {
        const tmap_u32 h[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k)
            bits &= ~((tmap_u32)tmapi_flood_cell_dry(l, h[k]) << (4 * i + k));
    }
    return bits;
}

// Reads a lane's column of a tile, cells outside the map as 0. Returns its rows inside the map.
// Each load of the warp reads a row.
TMAP_DEVICE tmap_u32 tmapi_flood_column(const tmapi_flood_block *b, tmap_u32 tile, tmap_u32 *cells,
                                        const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->map;
    const tmap_u64 x = b->x + tile % TMAPI_FLOOD_WORDS * 32 + threadIdx.x % 32;
    const tmap_u64 y = b->y + tile / TMAPI_FLOOD_WORDS * TMAPI_FLOOD_TILE;
    const tmap_u64 left = x < map->width && y < map->height ? map->height - y : 0;
    const tmap_u32 rows = left < TMAPI_FLOOD_TILE ? (tmap_u32)left : TMAPI_FLOOD_TILE;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
        cells[r] = r < rows ? tmapi_flood_cell(b->f->heights, (y + r) * map->pitch + x, size) : 0;
    return rows;
}

// Loads a tile of any alignment.
TMAP_DEVICE void tmapi_flood_load_tile(const tmapi_flood_block *b, tmap_u32 tile,
                                       const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, word = tile % TMAPI_FLOOD_WORDS;
    const tmap_u32 row = tile / TMAPI_FLOOD_WORDS * 16;
    const tmapi_flood_level *l = &b->f->level;
    tmap_u32 mine = 0, cells[TMAPI_FLOOD_TILE];
    const tmap_u32 rows = tmapi_flood_column(b, tile, cells, size);
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
        tmapi_raster_ballot(r < rows && tmapi_flood_cell_below(l, cells[r]) &&
                                !(l->has_nodata && tmapi_flood_cell_dry(l, cells[r])),
                            r, &mine);
    if (lane < 16) b->bits[(row + lane) * TMAPI_FLOOD_WORDS + word] = mine;
}

// 1 if the rows of a block can be read 16 bytes at a time wherever they begin: what is read after a
// row's end is inside the map.
TMAP_DEVICE int tmapi_flood_by_rows(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->map;
    return b->x + TMAPI_LABEL_CELLS <= map->width &&
           b->y + b->rows + (map->pitch % (16 / size) != 0) <= map->height &&
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
    const tmap_u32 lane = threadIdx.x % 32, warps = blockDim.x / 32, each = 16 / size;
    const tmap_u32 parts = 2 * size, rows = 8 / parts; // groups of a row for a lane; rows at a time
    const tmap_u64 pitch = b->f->map.pitch;
    unsigned char *bytes = (unsigned char *)b->bits;
#pragma unroll 1
    for (tmap_u32 row = threadIdx.x / 32; row < b->rows; row += rows * warps) {
        const tmap_u64 from = (b->y + row) * pitch + b->x;
        tmap_u32 bits[8];
        uint4 v[8], more[2];
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) {
            const uint4 *groups = (const uint4 *)b->f->heights +
                                  (from + i / parts * warps * pitch) / each + i % parts * 32;
            v[i] = __ldcs(groups + lane);
            if (i % parts == parts - 1 && pitch % each && lane == 0)
                more[i / parts] = __ldcs(groups + 32);
        }
        tmapi_flood_bytes_of(l, v, bits, size);
#pragma unroll
        for (tmap_u32 i = 0; i < rows; ++i) {
            const tmap_u32 skip = (tmap_u32)((from + i * warps * pitch) % each);
            tmap_u32 next = 0; // the byte after those of the lanes
            if (pitch % each && lane == 0)
                next =
                    size == 2 ? tmapi_flood_byte(l, more[i]) : tmapi_flood_nibbles(l, more + i, 1);
#pragma unroll
            for (tmap_u32 k = 4; k-- > 0;) {
                tmap_u32 byte = bits[4 * i + k];
                if (pitch % each) {
                    const tmap_u32 after = __shfl_down_sync(~0u, byte, 1);
                    const tmap_u32 end = __shfl_sync(~0u, next, 0);
                    next = byte;
                    byte = (byte | (lane < 31 ? after : end) << 8) >> skip;
                }
                bytes[(row + i * warps) * 128 + k * 32 + lane] = (unsigned char)byte;
            }
        }
    }
}

// 1 if the tiles of a block can be read 16 bytes at a time.
TMAP_DEVICE int tmapi_flood_by_tiles(const tmapi_flood_block *b, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->map;
    return b->x + TMAPI_LABEL_CELLS <= map->width && b->y + b->rows <= map->height &&
           map->pitch % (16 / size) == 0 && (tmap_u64)b->f->heights % 16 == 0;
}

// Reads such a tile: 2 * size lanes have a row, each of them 16 bytes.
TMAP_DEVICE void tmapi_flood_read_tile(const tmapi_flood_block *b, tmap_u32 tile, uint4 *v,
                                       const tmap_u32 size) {
    const tmap_u64 pitch = b->f->map.pitch;
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
        const tmap_u32 at = (row * TMAPI_FLOOD_WORDS + tile % TMAPI_FLOOD_WORDS) * 4;
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
    const tmap_u32 tiles = 2 * b->rows;
    int dry = 0, full = 0, there = tile < tiles;
    tmap_u32 mixed;
    if (there) {
        const tmap_flood_range range = b->f->tiles[(tmap_u64)b->number * tiles + tile];
        dry = range.low > b->f->level.last;
        full = !dry && range.high <= b->f->level.last && range.high < TMAPI_FLOOD_KEY_MAX;
    }
    if (threadIdx.x == 0) *b->scan = 0;
    mixed = (tmap_u32)__syncthreads_count(there && half == 0 && !dry && !full);
    if (mixed > tiles / 4 * 3)
        mixed = TMAPI_FLOOD_ALL;
    else if (dry || full) {
#pragma unroll
        for (tmap_u32 r = 0; r < 8; ++r)
            b->bits[(tile / TMAPI_FLOOD_WORDS * 16 + half * 8 + r) * TMAPI_FLOOD_WORDS +
                    tile % TMAPI_FLOOD_WORDS] = full ? ~0u : 0;
    } else if (there && half == 0)
        b->slots[atomicAdd(b->scan, 1u)] = (unsigned short)tile;
    __syncthreads();
    return mixed;
}

// Loads a block, or the tiles of the list. listed: the result of tmapi_flood_sort_tiles.
TMAP_DEVICE void tmapi_flood_load_cells(const tmapi_flood_block *b, tmap_u32 listed,
                                        const tmap_u32 size) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int all = listed == TMAPI_FLOOD_ALL;
    const tmap_u32 count = all ? 2 * b->rows : listed;
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

// Loads a block's bits. Returns the block's kind to all threads.
TMAP_DEVICE int tmapi_flood_load(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    tmap_u32 any = 0, all = ~0u;
    if (f->level.none) {
        for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x)
            b->bits[i] = 0;
    } else {
        const tmap_u32 listed = f->tiles ? tmapi_flood_sort_tiles(b) : TMAPI_FLOOD_ALL;
        if (f->map.type == TMAP_RASTER_I16)
            tmapi_flood_load_cells(b, listed, 2);
        else
            tmapi_flood_load_cells(b, listed, 4);
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x)
        any |= b->bits[i], all &= b->bits[i];
    if (!__syncthreads_or(any != 0)) return TMAPI_FLOOD_DRY;
    return __syncthreads_and(all == ~0u) ? TMAPI_FLOOD_FULL : TMAPI_FLOOD_MIXED;
}

// What a block without a wet cell leaves for its neighbours.
TMAP_DEVICE void tmapi_flood_leave_dry(const tmapi_flood_block *b) {
    const tmapi_label_job *job = &b->f->job;
    unsigned short *edge = job->edge + (tmap_u64)b->number * 2 * b->rows;
    for (tmap_u32 i = threadIdx.x; i < 2 * b->rows; i += blockDim.x) edge[i] = TMAPI_LABEL_NONE;
    for (tmap_u32 i = threadIdx.x; i < 2 * TMAPI_FLOOD_WORDS; i += blockDim.x) {
        const tmap_u64 y = b->y + (i < TMAPI_FLOOD_WORDS ? 0 : b->rows - 1);
        job->in[y * job->words + b->x / 32 + i % TMAPI_FLOOD_WORDS] = 0;
    }
    if (threadIdx.x == 0) job->used[b->number] = 0;
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, 2)
    tmapi_flood_local_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    __shared__ tmap_u32 scan;
    const tmapi_label_block runs = tmapi_label_block_at(&f.job, tmapi_flood_shared, 0);
    const tmap_u32 first = threadIdx.x / 32 * runs.each;
    tmapi_flood_block b = tmapi_flood_block_at(&f);
    int kind;
    b.slots = runs.parents, b.scan = &scan;
    b.bits = (tmap_u32 *)tmapi_flood_shared + tmapi_flood_local_bytes(b.rows) / 4 - b.rows * 32;
    kind = tmapi_flood_load(&b);
    if (threadIdx.x == 0) f.kinds[b.number] = (unsigned char)kind;
    if (kind == TMAPI_FLOOD_DRY)
        tmapi_flood_leave_dry(&b);
    else {
        tmapi_label_row row[4];
#pragma unroll
        for (tmap_u32 r = 0; r < runs.each; ++r) {
            row[r].in = b.bits[(first + r) * TMAPI_FLOOD_WORDS + threadIdx.x % 32];
            row[r].starts = row[r].in & ~tmapi_label_from_left(row[r].in), row[r].slot = 0;
        }
        tmapi_label_components(&f.job, runs, row, 0);
    }
}

// ---- mark: the sources --------------------------------------------------------------------------

// What the slot of a seed's run says, or NONE. The seed's block is not dry.
TMAP_DEVICE tmap_u32 tmapi_flood_code(const tmapi_label_job *job, tmap_flood_seed s) {
    const tmap_u32 column = (tmap_u32)(s.x / TMAPI_LABEL_CELLS), bit = 1u << s.x % 32;
    const tmap_u32 *row = job->in + s.y * job->words + column * TMAPI_FLOOD_WORDS;
    const tmap_u32 last = (tmap_u32)(s.x % TMAPI_LABEL_CELLS / 32);
    tmap_u32 slot = 0, carry = 0;
    if (!(row[last] & bit)) return TMAPI_FLOOD_NONE;
    for (tmap_u32 w = 0; w <= last; carry = row[w++] >> 31) {
        const tmap_u32 starts = row[w] & ~(row[w] << 1 | carry);
        slot += w < last ? tmapi_raster_count(starts) + 1
                         : tmapi_raster_count(starts & (bit | (bit - 1)));
    }
    return ((const unsigned short *)tmapi_label_codes(job, s.y, column))[slot];
}

// A thread a seed: marks the root of its node, or its block if its component is no node.
static __global__ void tmapi_flood_mark_kernel(tmapi_flood f) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 code = TMAPI_FLOOD_NONE;
    if (i >= f.seed_count) return;
    const tmap_flood_seed s = f.seeds[i];
    if (s.x < f.map.width && s.y < f.map.height) {
        const tmap_u32 block = (tmap_u32)(s.y / f.job.rows * f.job.bx + s.x / TMAPI_LABEL_CELLS);
        const unsigned char kind = f.kinds[block];
        if (kind != TMAPI_FLOOD_DRY) code = tmapi_flood_code(&f.job, s);
        if (code != TMAPI_FLOOD_NONE && (code & TMAPI_LABEL_NODE)) {
            const tmap_u32 node = block * f.job.nodes + (code & ~TMAPI_LABEL_NODE);
            atomicOr(f.job.parent + (__ldcg(f.job.parent + node) & ~TMAPI_FLOOD_MARK),
                     TMAPI_FLOOD_MARK);
        } else if (code != TMAPI_FLOOD_NONE)
            f.kinds[block] = kind | TMAPI_FLOOD_SEEDS;
    }
    f.entries[i] = code;
}

// ---- last: the runs -----------------------------------------------------------------------------

// Reads which nodes of a block are flooded, and which of its other components have a seed. Returns
// 1 if any. Barriers of the block.
TMAP_DEVICE int tmapi_flood_read_flags(const tmapi_flood_block *b, int seeds) {
    const tmapi_flood *f = b->f;
    const tmap_u32 used = f->job.used[b->number], *parent = f->job.parent;
    int any = 0;
    for (tmap_u32 i = threadIdx.x; i < (used + 31) / 32 * 32; i += blockDim.x) {
        const tmap_u32 node = b->number * f->job.nodes + i;
        const int wet = i < used && parent[parent[node] & ~TMAPI_FLOOD_MARK] >> 31;
        const tmap_u32 bits = __ballot_sync(~0u, wet);
        if (i % 32 == 0) b->flags[i / 32] = bits;
        any |= wet;
    }
    if (!seeds) return __syncthreads_or(any);
    for (tmap_u32 i = threadIdx.x; i < b->rows * 16; i += blockDim.x) b->inner[i] = 0;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < f->seed_count; i += blockDim.x) {
        const tmap_u32 code = f->entries[i];
        tmap_u32 x, y;
        if (code != TMAPI_FLOOD_NONE && !(code & TMAPI_LABEL_NODE) &&
            tmapi_flood_seed_here(b, i, &x, &y))
            atomicOr(b->inner + code / 32, 1u << code % 32), any = 1;
    }
    return __syncthreads_or(any);
}

// 1 if the component of a slot is flooded, by what the slot says.
TMAP_DEVICE tmap_u32 tmapi_flood_wet_code(const tmapi_flood_block *b, tmap_u32 code, int seeds) {
    if (code & TMAPI_LABEL_NODE) return b->flags[(code & ~TMAPI_LABEL_NODE) / 32] >> code % 32 & 1;
    return seeds ? b->inner[code / 32] >> code % 32 & 1 : 0;
}

// Writes the flooded cells of row r and of the one `step` rows below to `cells`; the loads of both
// are in flight together. wet: a byte for each slot of both. Collective for the warp.
TMAP_DEVICE void tmapi_flood_two_rows(const tmapi_flood_block *b, tmap_u32 r, tmap_u32 step,
                                      unsigned char *wet, int seeds) {
    const tmapi_label_job *job = &b->f->job;
    const tmap_u32 lane = threadIdx.x % 32, blank = tmapi_label_blank(job, b->column);
    const tmap_u32 *codes[2];
    tmapi_label_row row[2];
    tmap_u32 total[2], both;
#pragma unroll
    for (tmap_u32 k = 0; k < 2; ++k) {
        const tmap_u64 y = b->y + r + k * step;
        codes[k] = tmapi_label_codes(job, y, b->column);
        row[k].in = y < job->height ? job->in[y * job->words + b->x / 32 + lane] : 0;
        row[k].starts = row[k].in & ~tmapi_label_from_left(row[k].in);
    }
    both = tmapi_label_slots(row, row + 1, 0, 0);
#pragma unroll
    for (tmap_u32 k = 0; k < 2; ++k)
        total[k] = b->y + r + k * step < job->height ? (both >> 16 * k & 0xffff) - blank : 0;
    for (tmap_u32 i = lane; 2 * i < total[0] || 2 * i < total[1]; i += 32) {
        tmap_u32 pair[2];
#pragma unroll
        for (tmap_u32 k = 0; k < 2; ++k) pair[k] = 2 * i < total[k] ? codes[k][i] : 0;
#pragma unroll
        for (tmap_u32 k = 0; k < 2; ++k) {
            tmap_u32 two = 0; // the first slot of a row has no run
            if (i && 2 * i < total[k]) two = tmapi_flood_wet_code(b, pair[k] & 0xffff, seeds);
            if (2 * i + 1 < total[k]) two |= tmapi_flood_wet_code(b, pair[k] >> 16, seeds) << 8;
            ((unsigned short *)(wet + k * job->slots))[i] = (unsigned short)two;
        }
    }
    __syncwarp();
#pragma unroll
    for (tmap_u32 k = 0; k < 2; ++k) {
        const unsigned char *flag = wet + k * job->slots + row[k].slot;
        tmap_u32 flooded = row[k].in & ~row[k].starts & 1 ? *flag : 0;
        for (tmap_u32 rest = row[k].starts; rest; rest &= rest - 1)
            if (*++flag) flooded |= rest & (0u - rest);
        // a carry goes from each run's first cell to its end
        b->cells[(r + k * step) * TMAPI_FLOOD_WORDS + lane] =
            row[k].in & (~(row[k].in + flooded) | flooded);
    }
    __syncwarp();
}

// ---- last: bytes, bits, depths, or area and volume ----------------------------------------------

#define TMAPI_FLOOD_MEASURE 3    // a form: area and sum of heights of each block
#define TMAPI_FLOOD_TOTAL   512u // threads

// Four bits as four bytes.
TMAP_DEVICE tmap_u32 tmapi_flood_bytes4(tmap_u32 bits) {
    return (bits & 15) * 0x00204081u & 0x01010101u;
}

// Half a row of a block: its row, its first column, and its columns in the map; 0: none.
TMAP_DEVICE tmap_u32 tmapi_flood_half(const tmapi_flood_block *b, tmap_u32 i, tmap_u64 *x,
                                      tmap_u64 *y) {
    const tmap_raster_map *map = &b->f->map;
    *x = b->x + i % 2 * 512, *y = b->y + i / 2;
    if (*y >= map->height || *x >= map->width) return 0;
    return map->width - *x < 512 ? (tmap_u32)(map->width - *x) : 512;
}

// A warp writes half a row: 16 cells a lane from the first multiple of 16 bytes on, and the cells
// before and after these one by one.
TMAP_DEVICE void tmapi_flood_write_bytes(const tmapi_flood_block *b) {
    const tmap_u32 lane = threadIdx.x % 32;
#pragma unroll 4
    for (tmap_u32 i = threadIdx.x / 32; i < 2 * b->rows; i += blockDim.x / 32) {
        tmap_u64 x0, y0;
        const tmap_u32 columns = tmapi_flood_half(b, i, &x0, &y0);
        unsigned char *out = (unsigned char *)b->f->out + y0 * b->f->map.width + x0;
        const tmap_u32 *cells = b->cells + i * 16;
        const tmap_u32 head = (tmap_u32)(0 - (tmap_u64)out) % 16, x = head + lane * 16;
        const tmap_u32 tail = columns < head ? columns : (columns - head) / 16 * 16 + head;
        if (columns == 0) continue;
        if (x + 16 <= columns) {
            const tmap_u32 word = cells[x / 32], next = x % 32 > 16 ? cells[x / 32 + 1] : 0;
            const tmap_u32 bits = __funnelshift_r(word, next, x % 32);
            TMAPI_STCS((uint4 *)(out + x),
                       make_uint4(tmapi_flood_bytes4(bits), tmapi_flood_bytes4(bits >> 4),
                                  tmapi_flood_bytes4(bits >> 8), tmapi_flood_bytes4(bits >> 12)));
        }
        if (lane < head && lane < columns) out[lane] = (unsigned char)(cells[0] >> lane & 1);
        if (tail + lane < columns)
            out[tail + lane] = (unsigned char)(cells[(tail + lane) / 32] >> (tail + lane) % 32 & 1);
    }
}

TMAP_DEVICE void tmapi_flood_write_bits(const tmapi_flood_block *b) {
    const tmap_u64 words = tmap_flood_words(b->f->map.width);
    tmap_u32 *out = (tmap_u32 *)b->f->out + b->y * words + b->x / 32;
    for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x) {
        const tmap_u32 row = i / TMAPI_FLOOD_WORDS, word = i % TMAPI_FLOOD_WORDS;
        if (b->x / 32 + word < words && b->y + row < b->f->map.height)
            out[row * words + word] = b->cells[i];
    }
}

TMAP_DEVICE float tmapi_flood_depth(const tmapi_flood *f, tmap_u32 bits, const int type) {
    return (float)(f->surface -
                   (type == TMAP_RASTER_F32 ? (double)__uint_as_float(bits) : (int)bits));
}

// The bits of four consecutive heights at a multiple of 4 * size bytes.
TMAP_DEVICE uint4 tmapi_flood_cells4(const void *heights, tmap_u64 at, const tmap_u32 size) {
    if (size == 2) {
        const uint2 v = __ldcs((const uint2 *)((const short *)heights + at));
        return make_uint4((tmap_u32)(short)v.x, (tmap_u32)((int)v.x >> 16), (tmap_u32)(short)v.y,
                          (tmap_u32)((int)v.y >> 16));
    }
    return __ldcs((const uint4 *)((const tmap_u32 *)heights + at));
}

// A warp writes half a row: four cells a lane from the first multiple of 16 bytes on, and the cells
// before and after these one by one. Heights are read only for flooded cells, with four loads in
// flight. type: a constant.
TMAP_DEVICE void tmapi_flood_write_depths(const tmapi_flood_block *b, const int type) {
    const tmapi_flood *f = b->f;
    const tmap_raster_map *map = &f->map;
    const tmap_u32 lane = threadIdx.x % 32, size = type == TMAP_RASTER_I16 ? 2 : 4;
#pragma unroll 1
    for (tmap_u32 half = threadIdx.x / 32; half < 2 * b->rows; half += blockDim.x / 32) {
        tmap_u64 x0, y0;
        const tmap_u32 columns = tmapi_flood_half(b, half, &x0, &y0);
        const tmap_u32 *bits = b->cells + half * 16;
        const tmap_u64 from = y0 * map->pitch + x0;
        float *out = (float *)f->out + y0 * map->width + x0;
        const tmap_u32 head = (tmap_u32)(0 - (tmap_u64)out / 4) % 4, x = head + lane * 4;
        const tmap_u32 tail = columns < head ? columns : (columns - head) / 4 * 4 + head;
        const tmap_u32 edge = lane < head ? lane : tail + lane - head;
        const int whole = ((tmap_u64)f->heights + (from + head) * size) % (4 * size) == 0;
        tmap_u32 flooded[4];
        uint4 cells[4];
        if (columns == 0) continue;
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
            if (x + i * 128 + 4 <= columns) TMAPI_STCS((float4 *)(out + x + i * 128), depth);
        }
        if (edge < columns)
            out[edge] =
                bits[edge / 32] >> edge % 32 & 1
                    ? tmapi_flood_depth(f, tmapi_flood_cell(f->heights, from + edge, size), type)
                    : 0;
    }
}

// What is summed of a flood: the number of its cells, and their heights.
typedef struct tmapi_flood_size {
    tmap_u64 area;
    double sum;
} tmapi_flood_size;

TMAP_DEVICE void tmapi_flood_join_sizes(void *job, void *size, const void *other) {
    tmapi_flood_size *to = (tmapi_flood_size *)size;
    (void)job;
    to->area += ((const tmapi_flood_size *)other)->area;
    to->sum += ((const tmapi_flood_size *)other)->sum;
}

// Joins the sizes of a block's threads into that of thread 0.
TMAP_DEVICE void tmapi_flood_join_block(tmapi_flood_size *size) {
    __shared__ tmapi_flood_size scratch[TMAPI_FLOOD_TOTAL / 32];
    const tmapi_flood_size zero = {0, 0};
    const tmap_fold fold = {&zero, sizeof zero, tmapi_flood_join_sizes};
    tmap_fold_block(size, fold, 0, scratch);
}

// Sum of the heights of the flooded cells of a lane's column of a tile with words `words`. All
// loads are in flight together.
TMAP_DEVICE double tmapi_flood_measure_column(const tmapi_flood *f, const tmap_u32 *words,
                                              tmap_u64 from, const tmap_u32 size) {
    const int floats = size == 4 && f->map.type == TMAP_RASTER_F32;
    tmap_u32 cells[TMAPI_FLOOD_TILE];
    tmap_i64 whole = 0;
    double sum = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        cells[r] = 0;
        if (words[r * TMAPI_FLOOD_WORDS] >> threadIdx.x % 32 & 1)
            cells[r] = tmapi_flood_cell(f->heights, from + r * f->map.pitch, size);
    }
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
        if (floats)
            sum += (double)__uint_as_float(cells[r]);
        else
            whole += (int)cells[r];
    return floats ? sum : (double)whole;
}

// Area and sum of heights of the flooded cells of a block. Sums of full tiles are known.
TMAP_DEVICE void tmapi_flood_measure_block(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    tmapi_flood_size size = {0, 0};
    for (tmap_u32 tile = warp; tile < 2 * b->rows; tile += warps) {
        const tmap_u32 word = tile % TMAPI_FLOOD_WORDS;
        const tmap_u32 top = tile / TMAPI_FLOOD_WORDS * TMAPI_FLOOD_TILE;
        const tmap_u32 *cells = b->cells + top * TMAPI_FLOOD_WORDS + word;
        const tmap_u32 mine = lane < 16 ? cells[lane * TMAPI_FLOOD_WORDS] : ~0u;
        if (lane < 16) size.area += tmapi_raster_count(mine);
        if (__all_sync(~0u, mine == ~0u)) {
            if (lane == 0) size.sum += f->tile_sums[(tmap_u64)b->number * 2 * b->rows + tile];
        } else if (__any_sync(~0u, lane < 16 && mine)) {
            const tmap_u64 from = (b->y + top) * f->map.pitch + b->x + word * 32 + lane;
            size.sum += f->map.type == TMAP_RASTER_I16
                            ? tmapi_flood_measure_column(f, cells, from, 2)
                            : tmapi_flood_measure_column(f, cells, from, 4);
        }
    }
    tmapi_flood_join_block(&size);
    if (threadIdx.x == 0) f->sizes[b->number] = size;
}

static __global__ void __launch_bounds__(TMAPI_FLOOD_LAST, 4)
    tmapi_flood_last_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    tmapi_flood_block b = tmapi_flood_block_at(&f);
    const tmap_u32 warp = threadIdx.x / 32;
    const int seeds = f.kinds[b.number] & TMAPI_FLOOD_SEEDS, kind = f.kinds[b.number] ^ seeds;
    unsigned char *wet;
    int any;
    b.cells = (tmap_u32 *)tmapi_flood_shared, b.inner = b.cells + b.rows * TMAPI_FLOOD_WORDS;
    b.flags = b.inner + b.rows * 16;
    wet = (unsigned char *)(b.flags + (f.job.nodes + 31) / 32) + warp * 2 * f.job.slots;
    any = kind != TMAPI_FLOOD_DRY && tmapi_flood_read_flags(&b, seeds);
    if (any && kind == TMAPI_FLOOD_MIXED)
        for (tmap_u32 r = warp; r < b.rows; r += TMAPI_FLOOD_LAST / 16)
            tmapi_flood_two_rows(&b, r, TMAPI_FLOOD_LAST / 32, wet, seeds);
    else
        for (tmap_u32 i = threadIdx.x; i < b.rows * TMAPI_FLOOD_WORDS; i += TMAPI_FLOOD_LAST)
            b.cells[i] = any ? ~0u : 0;
    __syncthreads();
    if (f.form == TMAP_FLOOD_U8)
        tmapi_flood_write_bytes(&b);
    else if (f.form == TMAP_FLOOD_BITS)
        tmapi_flood_write_bits(&b);
    else if (f.form == TMAPI_FLOOD_MEASURE)
        tmapi_flood_measure_block(&b);
    else if (f.map.type == TMAP_RASTER_I16)
        tmapi_flood_write_depths(&b, TMAP_RASTER_I16);
    else if (f.map.type == TMAP_RASTER_I32)
        tmapi_flood_write_depths(&b, TMAP_RASTER_I32);
    else
        tmapi_flood_write_depths(&b, TMAP_RASTER_F32);
}

// The area and volume of a complete flood, from its blocks. One block of threads.
static __global__ void __launch_bounds__(TMAPI_FLOOD_TOTAL)
    tmapi_flood_total_kernel(tmapi_flood f, tmap_flood_lake *lake) {
    const tmap_u64 blocks = tmapi_flood_blocks(&f.job);
    tmapi_flood_size size = {0, 0};
    for (tmap_u64 i = threadIdx.x; i < blocks; i += blockDim.x)
        tmapi_flood_join_sizes(0, &size, f.sizes + i);
    tmapi_flood_join_block(&size);
    if (threadIdx.x) return;
    lake->area = size.area;
    lake->volume = size.area ? (double)size.area * f.surface - size.sum : 0;
}

// ---- ranges of tiles ----------------------------------------------------------------------------

// Where ranges and sums of tiles are written.
typedef struct tmapi_flood_ranges {
    tmap_flood_range *ranges;
    double *sums;
} tmapi_flood_ranges;

// Writes a tile's range and sum, from those of all lanes.
TMAP_DEVICE void tmapi_flood_write_range(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                         tmap_u32 tile, int low, int high, double sum) {
    tmap_flood_range range;
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) {
        const int l = __shfl_xor_sync(~0u, low, step), h = __shfl_xor_sync(~0u, high, step);
        low = l < low ? l : low, high = h > high ? h : high;
    }
    sum = tmap_warp_sum_f64_shuffle(tmap_warp_full(), sum);
    if (threadIdx.x % 32) return;
    range.low = low, range.high = high;
    to.ranges[(tmap_u64)b->number * 2 * b->rows + tile] = range;
    to.sums[(tmap_u64)b->number * 2 * b->rows + tile] = sum;
}

// Measures a tile of 16-bit heights, all possibly wet, that can be read by 16 bytes.
TMAP_DEVICE void tmapi_flood_range_shorts(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                          tmap_u32 tile) {
    int low = 32767, high = -32768, sum = 0;
    uint4 v[2];
    tmapi_flood_read_tile(b, tile, v, 2);
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
    tmapi_flood_write_range(b, to, tile, low, high, sum);
}

// Measures any tile.
TMAP_DEVICE void tmapi_flood_range_tile(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                        tmap_u32 tile, const tmap_u32 size) {
    const int floats = size == 4 && b->f->map.type == TMAP_RASTER_F32;
    int low = TMAPI_FLOOD_KEY_MAX, high = TMAPI_FLOOD_KEY_MIN;
    tmap_u32 cells[TMAPI_FLOOD_TILE];
    double sum = 0;
    const tmap_u32 rows = tmapi_flood_column(b, tile, cells, size);
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        const int key = floats ? tmapi_flood_float_key(cells[r]) : (int)cells[r];
        const int never = r >= rows || (b->f->level.has_nodata && key == b->f->level.nodata) ||
                          (floats && key == TMAPI_FLOOD_KEY_MAX);
        if (!never && key < low) low = key;
        if (never || key > high) high = never ? TMAPI_FLOOD_KEY_MAX : key;
        if (!never) sum += floats ? (double)__uint_as_float(cells[r]) : key;
    }
    tmapi_flood_write_range(b, to, tile, low, high, sum);
}

// Finds each tile's range, and the sum of its heights that can be wet. A warp a tile.
static __global__ void __launch_bounds__(256, 4)
    tmapi_flood_tiles_kernel(tmapi_flood f, tmap_flood_range *ranges, double *sums) {
    const tmapi_flood_block b = tmapi_flood_block_at(&f);
    const tmapi_flood_ranges to = {ranges, sums};
    const int shorts = f.map.type == TMAP_RASTER_I16;
    const int quick = shorts && tmapi_flood_by_tiles(&b, 2) && !f.level.has_nodata;
    for (tmap_u32 tile = threadIdx.x / 32; tile < 2 * b.rows; tile += blockDim.x / 32)
        if (quick)
            tmapi_flood_range_shorts(&b, to, tile);
        else if (shorts)
            tmapi_flood_range_tile(&b, to, tile, 2);
        else
            tmapi_flood_range_tile(&b, to, tile, 4);
}

// ---- floods -------------------------------------------------------------------------------------

// Makes the plan of floods of a map on the current device: tmap_flood_plan_of with its facts.
// Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for TMAP_ERANGE, or
// the error of a device query. Cost: calls that do not wait for the device.
static inline cudaError_t tmap_flood_plan_make(const tmap_raster_map *map, int form, tmap_u64 seeds,
                                               tmap_flood_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_flood_local_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_flood_plan_of(map, form, seeds, &facts, plan));
}

// 1 if the arguments of a flood cannot be valid. out_align: `out` must be a multiple of it.
static inline int tmapi_flood_wrong(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                    tmap_flood_sources sources, const void *workspace,
                                    const void *out, tmap_u64 out_align) {
    return !plan || !tmapi_raster_aligned(heights.data, tmap_raster_size(plan->map.type)) ||
           (tmap_u64)heights.tiles % 16 || sources.count > plan->seeds ||
           (sources.count && !tmapi_raster_aligned(sources.seeds, 8)) ||
           !tmapi_raster_aligned(workspace, 16) || !tmapi_raster_aligned(out, out_align);
}

// The argument of the kernels.
static inline tmapi_flood tmapi_flood_of(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                         tmap_flood_sources sources, void *workspace, void *out) {
    tmapi_flood f;
    f.job = plan->job, f.map = plan->map, f.form = plan->form;
    f.level = tmapi_flood_level_of(&plan->map, sources.level), f.surface = sources.level;
    f.heights = heights.data, f.tiles = (tmap_flood_range *)heights.tiles;
    f.tile_sums = (double *)(f.tiles + tmapi_flood_blocks(&plan->job) * 2 * plan->job.rows);
    f.seeds = sources.seeds, f.seed_count = (tmap_u32)sources.count, f.out = out;
    tmapi_flood_parts(&f, plan->seeds, (tmap_u64)workspace);
    return f;
}

// Runs all launches of a flood.
static inline cudaError_t tmapi_flood_run(const tmapi_flood *f, cudaStream_t stream) {
    const tmap_u64 blocks = tmapi_flood_blocks(&f->job), several = blocks > 1 ? blocks : 0;
    const tmap_u32 rows = f->job.rows;
    const tmapi_raster_step steps[5] = {
        {(const void *)tmapi_flood_local_kernel,
         {blocks, tmapi_label_threads(&f->job), tmapi_flood_local_bytes(rows)}},
        {(const void *)tmapi_label_unite_kernel, {several, TMAPI_LABEL_UNITE_WARPS * 32, 0}},
        {(const void *)tmapi_label_roots_kernel, {several, 128, 0}},
        {(const void *)tmapi_flood_mark_kernel, {(f->seed_count + 127ull) / 128, 128, 0}},
        {(const void *)tmapi_flood_last_kernel,
         {blocks, TMAPI_FLOOD_LAST, tmapi_flood_last_bytes(&f->job)}}};
    return tmapi_raster_run(steps, 5, f, stream);
}

// Writes the flood of a map: the cells below a level that water reaches from the sources.
// plan: that of the map. heights, sources: at most plan->seeds sources; those outside the map or on
// dry cells flood nothing. With heights.tiles, a launch reads only the tiles that are neither
// completely wet nor completely dry, or a complete block if more than three of four of its tiles
// are such. workspace: plan->workspace bytes at a multiple of 16, with any content. out: width *
// height bytes or floats, or tmap_flood_words(width) * height words; all are written. All pointers
// are device memory and do not overlap; floods that run at the same time need one workspace each.
// Returns cudaErrorInvalidValue for a null or misaligned pointer or too many sources, before any
// launch; else the first error of its calls. Allocates nothing, and can be captured. Results
// are the same in every run, with tiles or without.
// Cost: heights are read once (for depths, those of flooded cells twice); a bit for each cell is
// written and read. A block with a region of its own around a source reads all sources, which
// matters from some thousands of them on.
// 60 to 75% of the bandwidth of a copy if water is in lakes, 20 to 30% in noise. Fastest if `data`,
// pitch * size of a height, and width are multiples of 16 bytes; slow only if `data` is not.
// Example: heights 1 5 1 1, source (2, 0), level 3, 4-connected: 0 0 1 1.
static inline cudaError_t tmap_flood(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                     tmap_flood_sources sources, void *workspace, void *out,
                                     cudaStream_t stream) {
    tmapi_flood f;
    if (tmapi_flood_wrong(plan, heights, sources, workspace, out,
                          plan && plan->form == TMAP_FLOOD_U8 ? 1 : 4))
        return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, heights, sources, workspace, out);
    return tmapi_flood_run(&f, stream);
}

// Bytes of the tiles of a plan's map: 1/32 byte a cell. Example: 16384 x 16384: 8388608.
static inline tmap_u64 tmap_flood_tiles_bytes(const tmap_flood_plan *plan) {
    return plan ? tmapi_flood_blocks(&plan->job) * plan->job.rows * 32 : 0;
}

// Finds the lowest and highest height of each tile of 32 x 16 cells, and their sum, for many floods
// of one map. plan, heights: as for tmap_flood; the tiles are valid for that map and its NODATA
// value, for all forms of results. tiles: tmap_flood_tiles_bytes(plan) bytes of device memory at a
// multiple of 16. Returns cudaErrorInvalidValue for a null or misaligned pointer, else the launch's
// own error. Cost: heights are read once.
static inline cudaError_t tmap_flood_tiles(const tmap_flood_plan *plan, const void *heights,
                                           void *tiles, cudaStream_t stream) {
    const tmap_flood_heights given = {heights, tiles};
    const tmap_flood_sources none = {0, 0, 0};
    tmapi_launch_shape shape = {0, 256, 0};
    tmapi_flood f;
    void *arguments[3] = {&f, &f.tiles, &f.tile_sums};
    if (tmapi_flood_wrong(plan, given, none, tiles, tiles, 16)) return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, given, none, 0, 0), shape.grid = tmapi_flood_blocks(&plan->job);
    return tmapi_launch((const void *)tmapi_flood_tiles_kernel, shape, arguments, stream);
}

// Measures rising water: the area and volume of the flood at each of several levels. For ascending
// levels this is the curve of a reservoir.
// rise.levels: host memory, read before the call returns. heights: with tiles. lakes:
// rise.level_count of them, in device memory at a multiple of 8; 0 for levels without a flood.
// Other arguments and errors: as for tmap_flood. After an error some lakes may not be written.
// Exactness: areas are exact, and so are the sums of integer heights if below 2^53, as in all
// 16-bit maps of up to 2^38 cells; other volumes are rounded, the same in every run.
// Cost: a flood for each level, and the heights of partly flooded tiles.
// Example: heights 0 2 4, source (0, 0), levels 1, 3: (1, 1), (2, 4).
static inline cudaError_t tmap_flood_levels(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                            tmap_flood_rise rise, void *workspace,
                                            tmap_flood_lake *lakes, cudaStream_t stream) {
    const tmapi_launch_shape one = {1, TMAPI_FLOOD_TOTAL, 0};
    tmap_flood_sources sources = {rise.seeds, rise.seed_count, 0};
    cudaError_t error = cudaSuccess;
    if (!rise.level_count) return cudaSuccess;
    if (tmapi_flood_wrong(plan, heights, sources, workspace, lakes, 8) || !rise.levels ||
        !heights.tiles)
        return cudaErrorInvalidValue;
    for (tmap_u64 i = 0; i < rise.level_count && !error; ++i, ++lakes) {
        sources.level = rise.levels[i];
        tmapi_flood f = tmapi_flood_of(plan, heights, sources, workspace, 0);
        void *arguments[2] = {&f, &lakes};
        f.form = TMAPI_FLOOD_MEASURE;
        error = tmapi_flood_run(&f, stream);
        if (!error)
            error = tmapi_launch((const void *)tmapi_flood_total_kernel, one, arguments, stream);
    }
    return error;
}

#endif

#endif
