// SPDX-License-Identifier: MIT
// flood_write.h: what comes out of a flood: bytes, bits, depths, or area and volume.
#ifndef TMAP_ADAPTIVE_FLOOD_WRITE_H
#define TMAP_ADAPTIVE_FLOOD_WRITE_H

#include "flood_fill.h"

#if TMAP_CUDA

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

#endif // TMAP_CUDA
#endif
