// SPDX-License-Identifier: MIT
// tile_forms.h: SW and RD on the gasket by persistent tiles of 32 x 32, the same kernel around four
// forms of the map: shuffles, the reduction instruction, ballots, and tensor cores, 16 tiles a
// multiplication. What a form saves shows here against a whole kernel; dummy.h has the maps alone.
#ifndef BENCH_TILE_FORMS_H
#define BENCH_TILE_FORMS_H

#include <threadmap/fractals.h>
#include <threadmap/mma.h>
#include <threadmap/tile.h>

#include <cuda_runtime.h>

enum { FORM_SHUFFLE, FORM_REDUX, FORM_BALLOT, FORM_MMA, FORMS };

// A tile's cells, a lane for each column: written (in null) or added up.
TMAP_DEVICE tmap_i64 form_tile(tmap_xy tile, tmap_u32 rows, tmap_u64 width, tmap_u32 lane,
                               const int *in, int value, int *out) {
    tmap_u64 at = tile.y * 32ull * width + tile.x * 32ull + lane;
    tmap_i64 sum = 0;
#pragma unroll
    for (tmap_u32 y = 0; y < 32; ++y, at += width) {
        if (in && (rows >> y & 1)) sum += in[at];
        if (!in && (rows >> y & 1)) out[at] = value;
    }
    return sum;
}

TMAP_DEVICE void form_walk(int form, tmap_u32 r, const int *in, int value, int *out,
                           tmap_i64 *sum) {
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_tiles tiles = tmap_tiles_begin(f, r, 5);
    tmap_u32 lane = tiles.level.warp.lane, rows = tmap_tile_column(f, 5, 32, lane);
    tmap_u64 width = 1ull << r;
    tmap_i64 mine = 0;
    __shared__ tmap_i64 scratch[32];
    if (form == FORM_MMA) {
        tmap_mma_tiles mma = tmap_mma_tiles_make_linear(tiles.level.warp, f, r - 5, 0);
        for (tmap_u32 t = tiles.first; t < tiles.count; t += 16 * tiles.stride) {
            tmap_mma_batch batch = tmap_mma_tiles_map(&mma, f, t, tiles.stride);
            for (int j = 0; j < 16 && t + j * tiles.stride < tiles.count; ++j)
                mine += form_tile(tmap_mma_tiles_cell(&mma, f, batch, j), rows, width, lane, in,
                                  value, out);
        }
    } else {
        for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
            tmap_xy tile = form == FORM_SHUFFLE ? tmap_warp_level_shuffle(&tiles.level, f, t, t)
                           : form == FORM_REDUX ? tmap_warp_level_redux(&tiles.level, f, t, t)
                                                : tmap_warp_level_ballot(&tiles.level, f, t, t);
            mine += form_tile(tile, rows, width, lane, in, value, out);
        }
    }
    if (!in) return;
    mine = tmap_block_sum_i64(mine, scratch);
    if (mine) atomicAdd((tmap_u64 *)sum, (tmap_u64)mine);
}

#define FORM_KERNELS(name, form) \
    static __global__ void __launch_bounds__(256) \
        form_sw_##name(tmap_u32 r, int value, int *out) { \
        form_walk(form, r, NULL, value, out, NULL); \
    } \
    static __global__ void __launch_bounds__(256) \
        form_rd_##name(tmap_u32 r, const int *in, tmap_i64 *sum) { \
        form_walk(form, r, in, 0, NULL, sum); \
    }
FORM_KERNELS(shuffle, FORM_SHUFFLE)
FORM_KERNELS(redux, FORM_REDUX)
FORM_KERNELS(ballot, FORM_BALLOT)
FORM_KERNELS(mma, FORM_MMA)
#undef FORM_KERNELS

// Blocks for each multiprocessor: as many as the library's own kernels launch.
static inline cudaError_t form_sw(int form, tmap_u32 r, int value, int *out, int processors) {
    static void (*const kernels[FORMS])(tmap_u32, int, int *) = {form_sw_shuffle, form_sw_redux,
                                                                 form_sw_ballot, form_sw_mma};
    kernels[form]<<<(unsigned)processors * 16, 256>>>(r, value, out);
    return cudaGetLastError();
}

static inline cudaError_t form_rd(int form, tmap_u32 r, const int *in, tmap_i64 *sum,
                                  int processors) {
    static void (*const kernels[FORMS])(tmap_u32, const int *, tmap_i64 *) = {
        form_rd_shuffle, form_rd_redux, form_rd_ballot, form_rd_mma};
    cudaError_t status = cudaMemsetAsync(sum, 0, sizeof *sum, 0);
    if (status != cudaSuccess) return status;
    kernels[form]<<<(unsigned)processors * 8, 256>>>(r, in, sum);
    return cudaGetLastError();
}

#endif
