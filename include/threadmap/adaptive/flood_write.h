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

// Cells of 16 columns of a row a lane, if the area is whole and aligned; else a column a lane.
TMAP_DEVICE void tmapi_flood_write_bytes(const tmapi_flood *f, const tmapi_flood_room *room,
                                         const tmapi_flood_area *a) {
    const tmap_u64 width = f->plan.map.width, height = f->plan.map.height;
    const tmap_u32 lane = threadIdx.x % 32, warps = blockDim.x / 32, rows = f->plan.rows;
    unsigned char *out = (unsigned char *)f->out + a->y * width + a->x;
    if (a->x + 512 <= width && a->y + rows <= height && width % 16 == 0 &&
        (tmap_u64)f->out % 16 == 0) {
#pragma unroll 8
        for (tmap_u32 row = threadIdx.x / 32; row < rows; row += warps) {
            const tmap_u32 word = room->cells[tmapi_flood_cell_word(row, lane / 2)];
            const tmap_u32 bits = word >> lane % 2 * 16;
            __stcs((uint4 *)(out + row * width + lane * 16),
                   make_uint4(tmapi_flood_bytes4(bits), tmapi_flood_bytes4(bits >> 4),
                              tmapi_flood_bytes4(bits >> 8), tmapi_flood_bytes4(bits >> 12)));
        }
        return;
    }
    for (tmap_u32 i = threadIdx.x / 32; i < rows * TMAPI_FLOOD_WORDS; i += warps) {
        const tmap_u32 row = i / TMAPI_FLOOD_WORDS, x = i % TMAPI_FLOOD_WORDS * 32 + lane;
        if (a->x + x < width && a->y + row < height)
            out[row * width + x] =
                (unsigned char)(room->cells[tmapi_flood_cell_word(row, x / 32)] >> lane & 1);
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

TMAP_DEVICE void tmapi_flood_write_depths(const tmapi_flood *f, const tmapi_flood_room *room,
                                          const tmapi_flood_area *a) {
    const tmap_u64 width = f->plan.map.width;
    const tmap_u32 lane = threadIdx.x % 32;
#pragma unroll 4
    for (tmap_u32 i = threadIdx.x / 32; i < f->plan.rows * TMAPI_FLOOD_WORDS;
         i += blockDim.x / 32) {
        const tmap_u32 row = i / TMAPI_FLOOD_WORDS, word = i % TMAPI_FLOOD_WORDS;
        const tmap_u64 x = a->x + word * 32 + lane, y = a->y + row;
        const int flooded = room->cells[tmapi_flood_cell_word(row, word)] >> lane & 1;
        if (x < width && y < f->plan.map.height)
            ((float *)f->out)[y * width + x] =
                flooded ? (float)(f->surface - tmap_flood_height(&f->plan.map, f->heights, x, y))
                        : 0.0f;
    }
}

// The sum of a number of each lane of a warp, in lane 0, in an order of its own.
TMAP_DEVICE double tmapi_flood_sum(double x) {
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
    return x;
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
        } else
#pragma unroll 4
            for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
                if (cells[r * TMAPI_FLOOD_WORDS] >> lane & 1)
                    sum += tmap_flood_height(&f->plan.map, f->heights, a->x + word * 32 + lane,
                                             a->y + top + r);
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
    else if (f->plan.form == TMAP_FLOOD_DEPTH)
        tmapi_flood_write_depths(f, &room, &a);
    else
        tmapi_flood_measure_block(f, &room, &a);
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
