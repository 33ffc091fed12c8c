// SPDX-License-Identifier: MIT
// rd.h: reduction (RD): the sum of all cells of a fractal embedded in a matrix.
//
// The second of the three tests of Navarro et al., FGCS 113 (2020), section 6.2.
#ifndef TMAP_KERNELS_RD_H
#define TMAP_KERNELS_RD_H

#include "launch.h"

#if TMAP_CUDA

// Cells are added up in registers, then over the block, then to the total: one atomic a block. Four
// rows of a walk at a time keep four loads in flight.
TMAP_DEVICE void tmapi_rd_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, const int *in,
                               tmap_i64 *sum) {
    __shared__ tmap_i64 scratch[32];
    tmapi_walk walk = tmapi_walk_begin(map, f, b, warp);
    tmap_i64 mine = 0;
#pragma unroll 4
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_walk_place(&walk, map, f, b, wy, &p)) mine += in[p.y * b.width + p.x];
    }
    mine = tmap_block_sum_i64(mine, scratch);
    if (mine) atomicAdd((tmap_u64 *)sum, (tmap_u64)mine); // only thread 0 has a sum
}

// BB adds up by warps: most have no cell and end at once, where a barrier would hold them all
// (gasket, r = 16: 16 ms against 7).
TMAP_DEVICE void tmapi_rd(int map, tmap_nbb f, tmap_box b, tmap_u32 row, const int *in,
                          tmap_i64 *sum) {
    if (map != TMAP_MAP_BB) {
        tmapi_walk_full() ? tmapi_rd_walk(map, f, b, tmap_warp_full(), in, sum)
                          : tmapi_rd_walk(map, f, b, tmap_warp_self(), in, sum);
    } else {
        tmap_xy p;
        int cell = tmapi_bb_place(f, b, row, &p);
        if (__any_sync(0xffffffffu, cell)) { // lanes past the block's last thread count as exited
            tmap_warp warp = tmap_warp_self();
            tmap_i64 part = tmap_warp_sum_i32(warp, cell ? in[p.y * b.width + p.x] : 0);
            if (warp.lane == 0) atomicAdd((tmap_u64 *)sum, (tmap_u64)part);
        }
    }
}

#define TMAPI_RD(name, ...) \
    TMAPI_STAMP(tmapi_rd, name, tmap_fractal_##name(), \
                (tmap_nbb f, tmap_box b, tmap_u32 row, const int *in, tmap_i64 *sum), \
                (map, f, b, row, in, sum))
TMAP_FRACTALS(TMAPI_RD)
TMAPI_STAMP(tmapi_rd, own, f, (tmap_nbb f, tmap_box b, tmap_u32 row, const int *in, tmap_i64 *sum),
            (map, f, b, row, in, sum))
#undef TMAPI_RD

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Sets *sum to the sum of the cells of fractal f of level r; other places of the embedding are not
// read.
// rho, map: as for tmap_sw_i32. in: sx^r x sy^r integers, sum: one 64-bit integer, both in device
// memory.
// The sum is exact: 32-bit cells cannot overflow it below 2^32 cells, and past that it is right
// modulo 2^64.
// Returns what tmap_box_make refuses as cudaErrorInvalidValue or cudaErrorInvalidConfiguration,
// else the first error of the memset and the launch.
// Example: tmap_rd_i32(tmap_fractal_gasket(), 10, 32, TMAP_MAP_LAMBDA_BALLOT, in, sum, 0).
static inline cudaError_t tmap_rd_i32(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, const int *in,
                                      tmap_i64 *sum, cudaStream_t stream) {
    typedef void (*kernel)(tmap_nbb, tmap_box, tmap_u32, const int *, tmap_i64 *);
    static const kernel kernels[TMAP_FRACTAL_COUNT + 1][TMAP_MAP_COUNT] = {
#define TMAPI_RD(name, ...) TMAPI_STAMP_ROW(tmapi_rd, name)
        TMAP_FRACTALS(TMAPI_RD) TMAPI_STAMP_ROW(tmapi_rd, own)
#undef TMAPI_RD
    };
    tmap_box b;
    dim3 grid;
    cudaError_t status;
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !in || !sum) return tmapi_box_error(error ? error : TMAP_EINVAL);
    if ((status = tmapi_box_grid(b, map, 4, &grid)) != cudaSuccess) return status;
    if ((status = cudaMemsetAsync(sum, 0, sizeof *sum, stream)) != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)][map], f, grid, in, sum);
    return status;
}

#endif
#endif
