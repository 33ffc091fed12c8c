// SPDX-License-Identifier: MIT
// flood_last.h: of flood.h: fills each tile from its border, and writes bytes, bits, depths, or
// area and volume.
#ifndef TMAP_RASTER_FLOOD_LAST_H
#define TMAP_RASTER_FLOOD_LAST_H

#include "flood_base.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- last: the tiles ----------------------------------------------------------------------------
//
// A thread has a tile of 32 x 16 cells in registers. Water spreads along a row by carries, from a
// word's low bits up, and from those of its reverse up. A step would need both orders, so rows
// alternate between them. From row to row it goes down and up again until nothing changes.

// A tile's wet cells, in both orders of bits.
typedef struct tmapi_flood_tile {
    tmap_u32 row[TMAPI_FLOOD_TILE], back[TMAPI_FLOOD_TILE];
} tmapi_flood_tile;

// Index of the word of a row of a block in `cells`.
TMAP_DEVICE tmap_u32 tmapi_flood_cell_word(tmap_u32 row, tmap_u32 word) {
    return row / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH + row % TMAPI_FLOOD_TILE * TMAPI_FLOOD_WORDS +
           word;
}

// Spreads water to row r. from: water of the row before, in its order; to: water of row r, in the
// order of row r.
TMAP_DEVICE tmap_u32 tmapi_flood_spread(const tmapi_flood_tile *t, int r, tmap_u32 from,
                                        tmap_u32 to, int eight) {
    const tmap_u32 theirs = r & 1 ? t->row[r] : t->back[r]; // row r in the order of its neighbours
    const tmap_u32 own = r & 1 ? t->back[r] : t->row[r];
    const tmap_u32 reach = theirs & (eight ? tmapi_flood_wide(from) : from);
    return tmapi_flood_up(own, __brev(tmapi_flood_up(theirs, reach)) | to);
}

// Fills a tile. fill: complete runs, the words of odd rows reversed. All lanes participate.
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

// Reads the flags of a block's components: those of nodes, and of those that contain a seed; and
// the seeds, into `cells`.
TMAP_DEVICE void tmapi_flood_read_flags(const tmapi_flood_block *b, int seeds) {
    const tmapi_flood *f = b->f;
    const tmap_u32 words = b->f->plan.rows / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH;
    for (tmap_u32 i = threadIdx.x; i < 20; i += blockDim.x)
        b->flags[i] = f->flags[b->number * 20 + i];
    if (seeds) {
        for (tmap_u32 i = threadIdx.x; i < 8 * b->f->plan.rows; i += blockDim.x)
            b->flags[20 + i] = 0;
        for (tmap_u32 i = threadIdx.x; i < words; i += blockDim.x) b->cells[i] = 0;
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; seeds && i < f->seed_count; i += blockDim.x) {
        tmap_u32 x, y, component, at;
        if (!tmapi_flood_seed_here(b, i, &x, &y)) continue;
        component = f->entries[2 * i + 1];
        if (component == TMAPI_FLOOD_NONE) continue;
        at = component & TMAPI_FLOOD_BORDER ? component ^ TMAPI_FLOOD_BORDER : 640 + component;
        atomicOr(b->flags + at / 32, 1u << at % 32);
        atomicOr(b->cells + tmapi_flood_cell_word(y, x / 32), 1u << x % 32);
    }
}

// Returns those of `runs`, beginnings of runs, whose component is flooded; a list has components.
TMAP_DEVICE tmap_u32 tmapi_flood_flooded(const tmapi_flood_block *b, const unsigned short **list,
                                         tmap_u32 runs, int seeds) {
    tmap_u32 flooded = 0;
    while (runs) {
        const tmap_u32 bit = runs & (0u - runs), component = *(*list)++;
        const tmap_u32 border = component & TMAPI_FLOOD_BORDER;
        const tmap_u32 at = border ? component ^ TMAPI_FLOOD_BORDER : 640 + component;
        if ((border || seeds) && b->flags[at / 32] >> at % 32 & 1) flooded |= bit;
        runs ^= bit;
    }
    return flooded;
}

// Floods the calling thread's tile of a mixed block, into `cells`. Barriers of the block.
TMAP_DEVICE void tmapi_flood_tile_of(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    const tmap_u32 t = threadIdx.x, word = t % TMAPI_FLOOD_WORDS, top = t / 16 * TMAPI_FLOOD_TILE;
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    const tmap_u32 *from = f->bits + (b->y + top) * words + b->x / 32 + word;
    const unsigned short *offsets = f->offsets + b->number * (2 * b->f->plan.rows + 1), *list;
    tmap_u32 *cells = b->cells + tmapi_flood_cell_word(top, word);
    tmap_u32 fill[TMAPI_FLOOD_TILE], any = 0, all = ~0u, left = 0, right = 0, total;
    tmap_u32 flooded_row, flooded_last, flooded_left, flooded_right, some;
    tmapi_flood_tile tile;
    const int seeds = tmapi_flood_seeds_here(b);
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) tile.row[r] = from[r * words];
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        tile.back[r] = __brev(tile.row[r]);
        any |= tile.row[r], all &= tile.row[r];
        left |= (tile.row[r] & 1) << r, right |= tile.row[r] >> 31 << r;
    }
    tmapi_flood_read_flags(b, seeds);
    total = offsets[2 * b->f->plan.rows];
    for (tmap_u32 i = t; i < total; i += blockDim.x)
        b->table[i] = f->table[b->number * b->f->plan.rows * TMAPI_FLOOD_QUADS + i];
    __syncthreads();
    list = (const unsigned short *)(b->table + offsets[2 * t]);
    flooded_row = tmapi_flood_flooded(b, &list, tmapi_flood_starts(tile.row[0]), seeds);
    flooded_left = tmapi_flood_flooded(b, &list, tmapi_flood_starts(left), seeds);
    list = (const unsigned short *)(b->table + offsets[2 * t + 1]);
    flooded_last =
        tmapi_flood_flooded(b, &list, tmapi_flood_starts(tile.row[TMAPI_FLOOD_TILE - 1]), seeds);
    flooded_right = tmapi_flood_flooded(b, &list, tmapi_flood_starts(right), seeds);
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

// ---- last: bytes, bits, depths, or area and volume ----------------------------------------------

#define TMAPI_FLOOD_MEASURE 3 // a form: area and sum of heights of each block

// Four bits as four bytes.
TMAP_DEVICE tmap_u32 tmapi_flood_bytes4(tmap_u32 bits) {
    return (bits & 15) * 0x00204081u & 0x01010101u;
}

// A warp writes a row: 16 cells a lane from the first multiple of 16 bytes on, and the cells before
// and after these one by one.
TMAP_DEVICE void tmapi_flood_write_bytes(const tmapi_flood_block *b) {
    const tmap_u64 width = b->f->plan.map.width, rows_left = b->f->plan.map.height - b->y;
    const tmap_u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u32 rows = rows_left < b->f->plan.rows ? (tmap_u32)rows_left : b->f->plan.rows;
    const tmap_u32 columns = width - b->x < 512 ? (tmap_u32)(width - b->x) : 512;
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < rows; row += warps) {
        unsigned char *out = (unsigned char *)b->f->out + (b->y + row) * width + b->x;
        const tmap_u32 *cells = b->cells + tmapi_flood_cell_word(row, 0);
        const tmap_u32 head = (tmap_u32)(0 - (tmap_u64)out) % 16, x = head + lane * 16;
        const tmap_u32 tail = columns < head ? columns : (columns - head) / 16 * 16 + head;
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
    const tmap_u64 words = tmap_flood_words(b->f->plan.map.width);
    tmap_u32 *out = (tmap_u32 *)b->f->out + b->y * words + b->x / 32;
    for (tmap_u32 i = threadIdx.x; i < b->f->plan.rows * TMAPI_FLOOD_WORDS; i += blockDim.x) {
        const tmap_u32 row = i / TMAPI_FLOOD_WORDS, word = i % TMAPI_FLOOD_WORDS;
        if (b->x / 32 + word < words && b->y + row < b->f->plan.map.height)
            out[row * words + word] = b->cells[tmapi_flood_cell_word(row, word)];
    }
}

TMAP_DEVICE float tmapi_flood_depth(const tmapi_flood *f, tmap_u32 bits, const int type) {
    return tmapi_raster_float(f->surface - (type == TMAP_RASTER_F32
                                                ? tmapi_raster_double(__uint_as_float(bits))
                                                : (int)bits));
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

// A warp writes a row: four cells a lane from the first multiple of 16 bytes on, and the cells
// before and after these one by one. Heights are read only for flooded cells, with four loads in
// flight. type: a constant.
TMAP_DEVICE void tmapi_flood_write_depths(const tmapi_flood_block *b, const int type) {
    const tmapi_flood *f = b->f;
    const tmap_raster_map *map = &f->plan.map;
    const tmap_u64 rows_left = map->height - b->y, columns_left = map->width - b->x;
    const tmap_u32 lane = threadIdx.x % 32, size = type == TMAP_RASTER_I16 ? 2 : 4;
    const tmap_u32 rows = rows_left < b->f->plan.rows ? (tmap_u32)rows_left : b->f->plan.rows;
    const tmap_u32 columns = columns_left < 512 ? (tmap_u32)columns_left : 512;
#pragma unroll 1
    for (tmap_u32 row = threadIdx.x / 32; row < rows; row += blockDim.x / 32) {
        const tmap_u32 *bits = b->cells + tmapi_flood_cell_word(row, 0);
        const tmap_u64 from = (b->y + row) * map->pitch + b->x;
        float *out = (float *)f->out + (b->y + row) * map->width + b->x;
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
            cells[i] = make_uint4(0, 0, 0, 0);
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
            // of all four: a conversion under a condition would be a branch
            const float4 all = make_float4(
                tmapi_flood_depth(f, cells[i].x, type), tmapi_flood_depth(f, cells[i].y, type),
                tmapi_flood_depth(f, cells[i].z, type), tmapi_flood_depth(f, cells[i].w, type));
            const float4 depth =
                make_float4(flooded[i] & 1 ? all.x : 0, flooded[i] & 2 ? all.y : 0,
                            flooded[i] & 4 ? all.z : 0, flooded[i] & 8 ? all.w : 0);
            if (x + i * 128 + 4 <= columns) TMAPI_STCS((float4 *)(out + x + i * 128), depth);
        }
        if (edge < columns)
            out[edge] =
                bits[edge / 32] >> edge % 32 & 1
                    ? tmapi_flood_depth(f, tmapi_flood_cell(f->heights, from + edge, size), type)
                    : 0;
    }
}

// The sum over a warp, in lane 0.
TMAP_DEVICE double tmapi_flood_sum(double x) {
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
    return x;
}

// Sum of the heights of the flooded cells of a lane's column of a tile with words `words`. All
// loads are in flight together.
TMAP_DEVICE double tmapi_flood_measure_column(const tmapi_flood *f, const tmap_u32 *words,
                                              tmap_u64 from, const tmap_u32 size) {
    const int floats = size == 4 && f->plan.map.type == TMAP_RASTER_F32;
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
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        const double height = tmapi_raster_double(__uint_as_float(cells[r]));
        if (floats)
            sum += height;
        else
            whole += (int)cells[r];
    }
    return floats ? sum : (double)whole;
}

// Area and sum of heights of the flooded cells of a block. Sums of full tiles are known.
TMAP_DEVICE void tmapi_flood_measure_block(const tmapi_flood_block *b) {
    const tmapi_flood *f = b->f;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    double *sums = (double *)b->table; // sums, then areas, of each warp
    tmap_u32 area = 0;
    double sum = 0;
    __syncthreads(); // the table has been read
    for (tmap_u32 tile = warp; tile < b->f->plan.rows; tile += warps) {
        const tmap_u32 word = tile % TMAPI_FLOOD_WORDS, top = tile / 16 * TMAPI_FLOOD_TILE;
        const tmap_u32 *cells = b->cells + tmapi_flood_cell_word(top, word);
        const tmap_u32 mine = lane < 16 ? cells[lane * TMAPI_FLOOD_WORDS] : ~0u;
        if (lane < 16) area += (tmap_u32)__popc(mine);
        if (__all_sync(~0u, mine == ~0u)) {
            if (lane == 0) sum += f->tile_sums[b->number * b->f->plan.rows + tile];
        } else if (__any_sync(~0u, lane < 16 && mine)) {
            const tmap_u64 from = (b->y + top) * f->plan.map.pitch + b->x + word * 32 + lane;
            sum += f->plan.map.type == TMAP_RASTER_I16
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
    f->areas[b->number] = area, f->sums[b->number] = sum;
}

// Blocks of `rows` threads.
static __global__ void __launch_bounds__(128, 8) tmapi_flood_last_kernel(tmapi_flood f) {
    extern __shared__ uint4 tmapi_flood_shared[];
    tmapi_flood_block b = tmapi_flood_block_at(&f);
    const tmap_u32 kind = f.kinds[b.number];
    b.cells = (tmap_u32 *)tmapi_flood_shared;
    b.flags = b.cells + f.plan.rows / TMAPI_FLOOD_TILE * TMAPI_FLOOD_PITCH;
    b.table = (tmap_u64 *)(b.flags + 20 + 8 * f.plan.rows);
    if (kind == TMAPI_FLOOD_MIXED)
        tmapi_flood_tile_of(&b);
    else {
        const tmap_u32 word =
            kind == TMAPI_FLOOD_FULL && f.flags[b.number * 20] & 1 ? ~0u : 0; // node 0
        for (tmap_u32 i = threadIdx.x; i < f.plan.rows * 17; i += blockDim.x) b.cells[i] = word;
    }
    __syncthreads();
    if (f.plan.form == TMAP_FLOOD_U8)
        tmapi_flood_write_bytes(&b);
    else if (f.plan.form == TMAP_FLOOD_BITS)
        tmapi_flood_write_bits(&b);
    else if (f.plan.form == TMAPI_FLOOD_MEASURE)
        tmapi_flood_measure_block(&b);
    else if (f.plan.map.type == TMAP_RASTER_I16)
        tmapi_flood_write_depths(&b, TMAP_RASTER_I16);
    else if (f.plan.map.type == TMAP_RASTER_I32)
        tmapi_flood_write_depths(&b, TMAP_RASTER_I32);
    else
        tmapi_flood_write_depths(&b, TMAP_RASTER_F32);
}

#define TMAPI_FLOOD_TOTAL 512u // threads

// The area and volume of a complete flood, from its blocks. One block of threads.
static __global__ void __launch_bounds__(TMAPI_FLOOD_TOTAL)
    tmapi_flood_total_kernel(tmapi_flood f, tmap_flood_lake *lake) {
    __shared__ double sums[TMAPI_FLOOD_TOTAL];
    __shared__ tmap_u64 areas[TMAPI_FLOOD_TOTAL];
    const tmap_u64 blocks = tmapi_flood_blocks(&f.plan);
    double sum = 0;
    tmap_u64 area = 0;
    for (tmap_u64 i = threadIdx.x; i < blocks; i += blockDim.x)
        sum += f.sums[i], area += f.areas[i];
    sums[threadIdx.x] = sum, areas[threadIdx.x] = area;
    for (tmap_u32 half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half],
                areas[threadIdx.x] += areas[threadIdx.x + half];
    }
    if (threadIdx.x) return;
    lake->area = areas[0];
    lake->volume = areas[0] ? (double)areas[0] * f.surface - sums[0] : 0;
}

#endif

#endif
