// SPDX-License-Identifier: MIT
// tile_forms.h: SW and RD on the gasket by persistent tiles, each the same kernel around four forms
// of the map: shuffles, the reduction instruction, ballots, and tensor cores, 32 tiles at a time by
// two multiplications. What a form saves shows here against a whole kernel; dummy.h has the maps alone.
// SW goes down the columns of tiles of 32 x 32, RD by groups of four columns of tiles of 64 x 64.
#ifndef BENCH_TILE_FORMS_H
#define BENCH_TILE_FORMS_H

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/rows.h>
#include <threadmap/papers/mma.h>

#include <cuda_runtime.h>

enum { FORM_SHUFFLE, FORM_REDUX, FORM_BALLOT, FORM_MMA, FORMS };

// Tile t by any form but tensor cores.
TMAP_DEVICE tmap_xy form_map(int form, const tmap_tiles *tiles, tmap_nbb f, tmap_u32 t) {
    return form == FORM_SHUFFLE ? tmap_warp_level_shuffle(&tiles->level, f, t, t)
           : form == FORM_REDUX ? tmap_warp_level_redux(&tiles->level, f, t, t)
                                : tmap_warp_level_ballot(&tiles->level, f, t, t);
}

// Tile t + lane * step by tensor cores, in one word, and number j of these 32.
TMAP_DEVICE tmap_u32 form_own(const tmap_mma_tiles *mma, tmap_nbb f, tmap_u32 t, tmap_u32 step) {
    tmap_xy c = tmap_mma_tiles_own(mma, f, t, step);
    return c.x | c.y << 16; // below 2^16 for r <= 17 and these tiles
}
TMAP_DEVICE tmap_xy form_cell(tmap_u32 own, int j) {
    tmap_u32 v = __shfl_sync(0xffffffffu, own, j);
    tmap_xy c = {v & 0xffff, v >> 16};
    return c;
}

// SW: a tile's rows, a lane for each column.
TMAP_DEVICE void form_sw_tile(tmap_xy tile, tmap_u32 rows, tmap_u64 width, tmap_u32 lane, int value,
                              int *out) {
    int *p = out + tile.y * 32ull * width + tile.x * 32ull + lane;
#pragma unroll
    for (tmap_u32 y = 0; y < 32; ++y, p += width)
        if (rows >> y & 1) *p = value;
}

TMAP_DEVICE void form_sw_walk(int form, tmap_u32 r, int value, int *out) {
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_tiles tiles = tmap_tiles_begin(f, r, 5);
    tmap_u32 lane = tiles.level.warp.lane, rows = tmap_tile_column(f, 5, 32, lane);
    tmap_u64 width = 1ull << r;
    if (form != FORM_MMA) {
        for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride)
            form_sw_tile(form_map(form, &tiles, f, t), rows, width, lane, value, out);
        return;
    }
    tmap_mma_tiles mma = tmap_mma_tiles_make_linear(tiles.level.warp, f, r - 5, 0);
    for (tmap_u32 t = tiles.first; t < tiles.count; t += 32 * tiles.stride) {
        tmap_u32 own = form_own(&mma, f, t, tiles.stride);
        for (int j = 0; j < 32 && t + j * tiles.stride < tiles.count; ++j)
            form_sw_tile(form_cell(own, j), rows, width, lane, value, out);
    }
}

// RD: of a tile of 64 x 64 a lane takes four columns of 32 rows. bits: its cells, four of a row.
typedef struct form_group {
    tmap_u32 bits[4];
} form_group;

TMAP_DEVICE form_group form_group_make(tmap_nbb f, tmap_u32 lane) {
    form_group g = {{0, 0, 0, 0}};
#pragma unroll
    for (tmap_u32 y = 0; y < 32; ++y) {
        const tmap_u64 row = tmap_tile_row(f, 6, lane / 16 * 32 + y) >> (lane % 16 * 4);
        g.bits[y / 8] |= (tmap_u32)(row & 15) << (y % 8 * 4);
    }
    return g;
}

TMAP_DEVICE tmap_i64 form_rd_tile(tmap_xy tile, const form_group *group, tmap_u64 width,
                                  tmap_u32 lane, const int *in) {
    const int *p = in + (tile.y * 64ull + lane / 16 * 32) * width + tile.x * 64ull + lane % 16 * 4;
    tmap_i64 sum = 0;
#pragma unroll
    for (tmap_u32 half = 0; half < 2; ++half) {
        int4 v[16];
#pragma unroll
        for (tmap_u32 j = 0; j < 16; ++j) {
            const tmap_u32 y = 16 * half + j;
            if (group->bits[y / 8] >> y % 8 * 4 & 15) v[j] = *(const int4 *)(p + y * width);
        }
#pragma unroll
        for (tmap_u32 j = 0; j < 16; ++j) {
            const tmap_u32 y = 16 * half + j, bits = group->bits[y / 8] >> y % 8 * 4;
            if (bits & 1) sum += v[j].x;
            if (bits & 2) sum += v[j].y;
            if (bits & 4) sum += v[j].z;
            if (bits & 8) sum += v[j].w;
        }
    }
    return sum;
}

TMAP_DEVICE void form_rd_walk(int form, tmap_u32 r, const int *in, tmap_i64 *sum) {
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_tiles tiles = tmap_tiles_begin(f, r, 6);
    tmap_u32 lane = tiles.level.warp.lane;
    const form_group cells = form_group_make(f, lane);
    __shared__ tmap_i64 scratch[32];
    tmap_u64 width = 1ull << r;
    tmap_i64 mine = 0;
    if (form == FORM_MMA) {
        tmap_mma_tiles mma = tmap_mma_tiles_make_linear(tiles.level.warp, f, r - 6, 0);
        for (tmap_u32 t = tiles.first; t < tiles.count; t += 32 * tiles.stride) {
            tmap_u32 own = form_own(&mma, f, t, tiles.stride);
            for (int j = 0; j < 32 && t + j * tiles.stride < tiles.count; ++j)
                mine += form_rd_tile(form_cell(own, j), &cells, width, lane, in);
        }
    } else {
        for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride)
            mine += form_rd_tile(form_map(form, &tiles, f, t), &cells, width, lane, in);
    }
    mine = tmap_block_sum_i64(mine, scratch);
    if (threadIdx.x == 0) atomicAdd((tmap_u64 *)sum, (tmap_u64)mine);
}

#define FORM_KERNELS(name, form) \
    static __global__ void __launch_bounds__(512) \
        form_sw_##name(tmap_u32 r, int value, int *out) { \
        form_sw_walk(form, r, value, out); \
    } \
    static __global__ void __launch_bounds__(128, 4) \
        form_rd_##name(tmap_u32 r, const int *in, tmap_i64 *sum) { \
        form_rd_walk(form, r, in, sum); \
    }
FORM_KERNELS(shuffle, FORM_SHUFFLE)
FORM_KERNELS(redux, FORM_REDUX)
FORM_KERNELS(ballot, FORM_BALLOT)
FORM_KERNELS(mma, FORM_MMA)
#undef FORM_KERNELS

// As many blocks as the multiprocessors hold: of SW one of 512 threads, as the library's own kernels
// do best; of RD four or five of 128, by their registers.
static inline cudaError_t form_sw(int form, tmap_u32 r, int value, int *out, int processors) {
    static void (*const kernels[FORMS])(tmap_u32, int, int *) = {form_sw_shuffle, form_sw_redux,
                                                                 form_sw_ballot, form_sw_mma};
    kernels[form]<<<(unsigned)processors, 512>>>(r, value, out);
    return cudaGetLastError();
}

static inline cudaError_t form_rd(int form, tmap_u32 r, const int *in, tmap_i64 *sum,
                                  int processors) {
    static void (*const kernels[FORMS])(tmap_u32, const int *, tmap_i64 *) = {
        form_rd_shuffle, form_rd_redux, form_rd_ballot, form_rd_mma};
    int blocks;
    cudaError_t status =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels[form], 128, 0);
    if (status == cudaSuccess) status = cudaMemsetAsync(sum, 0, sizeof *sum, 0);
    if (status != cudaSuccess) return status;
    kernels[form]<<<(unsigned)(processors * blocks), 128>>>(r, in, sum);
    return cudaGetLastError();
}

#endif
