// SPDX-License-Identifier: MIT
// rd.h: reduction (RD): the sum of all cells of a fractal embedded in a matrix.
//
// The second of the three tests of Navarro et al., FGCS 113 (2020), section 6.2.
#ifndef TMAP_FRACTAL_RD_H
#define TMAP_FRACTAL_RD_H

#include "../rivals/box.h"

#if TMAP_CUDA

// Adds a block's sums to the total, by one atomic; a single block sets it. All threads call; warp:
// tmap_warp_full() where the block is whole warps.
TMAP_DEVICE void tmapi_rd_end(tmap_warp warp, tmap_i64 mine, tmap_i64 *sum) {
    __shared__ tmap_i64 scratch[32];
    mine = tmapi_block_sum(warp, tmap_warp_sum_i64(warp, mine), scratch);
    if (tmap_thread_rank()) return;
    if (gridDim.x * gridDim.y == 1)
        *sum = mine;
    else if (mine)
        atomicAdd((tmap_u64 *)sum, (tmap_u64)mine);
}

// Cells are added up in registers, then over the block, then to the total: one atomic a block. Four
// rows of a walk at a time keep four loads in flight.
TMAP_DEVICE void tmapi_rd_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, const int *in,
                               tmap_i64 *sum) {
    tmapi_walk walk = tmapi_walk_begin(map, f, b, warp);
    tmap_i64 mine = 0;
#pragma unroll 4
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_walk_place(&walk, map, f, b, wy, &p)) mine += in[p.y * b.width + p.x];
    }
    tmapi_rd_end(warp, mine, sum);
}

// All cells row by row, each lane on its own way through them, eight reads in flight. (H, r = 10:
// 0.75 ms; lanes side by side in a row, which wait for each row, 1.27.)
TMAP_DEVICE void tmapi_rd_by_rows(tmap_nbb f, tmap_box b, const int *in, tmap_i64 *sum) {
    TMAPI_ROWS_TABLES(rows, f, b);
    tmap_i64 mine = 0;
    const tmapi_share share = tmapi_share_make(b);
    for (tmap_u64 first = share.first; first < share.end; first += share.stride) {
        tmap_u32 count = tmapi_share_count(&share, b, first), lane = threadIdx.x % 32;
        tmap_row row = tmap_rows_seek(&rows, (tmap_u32)first + lane);
        for (tmap_u32 at = lane; at < count; at += 256) {
            int v[8];
#pragma unroll
            for (tmap_u32 j = 0; j < 8; ++j, tmap_rows_skip(&rows, 32, &row)) {
                v[j] = 0;
                if (at + 32 * j < count) v[j] = in[row.y * b.width + tmap_rows_x(&rows, &row, 0)];
            }
#pragma unroll
            for (tmap_u32 j = 0; j < 8; ++j) mine += v[j];
        }
    }
    tmapi_rd_end(tmap_warp_full(), mine, sum);
}

// The same for sparse fractals: each cell alone, four reads in flight.
#define TMAPI_RD_EACH 4
TMAP_DEVICE void tmapi_rd_by_cells(tmap_nbb f, tmap_box b, const int *in, tmap_i64 *sum) {
    TMAPI_ROWS_EACH(tables, f, b);
    const tmapi_share share = tmapi_share_make(b);
    const tmap_u32 end = (tmap_u32)share.end;
    tmap_i64 mine = 0;
    for (tmap_u32 first = (tmap_u32)share.first + threadIdx.x % 32; first < end;
         first += share.stride) {
        int v[TMAPI_RD_EACH];
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_RD_EACH; ++j) { // past the end, the last cell as 0
            tmap_u32 i = first + 32 * j;
            tmap_xy p = tmap_rows_at(&tables, i < end ? i : end - 1);
            v[j] = in[p.y * b.width + p.x];
            if (i >= end) v[j] = 0;
        }
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_RD_EACH; ++j) mine += v[j];
    }
    tmapi_rd_end(tmap_warp_full(), mine, sum);
}

// A map for k cells, from a linear index, all their reads in flight.
TMAP_DEVICE void tmapi_rd_linear(tmap_nbb f, tmap_box b, const int *in, tmap_i64 *sum) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    tmap_i64 mine = 0;
    for (; i < b.columns; i += gridDim.x * (tmap_u64)blockDim.x) {
        tmap_xy p = tmap_nbb_lambda_linear(f, (tmap_u32)i, b.level);
        int v[TMAP_REPLICAS_MAX];
#pragma unroll
        for (tmap_u32 copy = 0; copy < TMAP_REPLICAS_MAX; ++copy) {
            v[copy] = 0;
            if (copy < tmapi_linear_copies(f, b)) v[copy] = in[tmapi_linear_copy(f, b, p, copy)];
        }
#pragma unroll
        for (tmap_u32 copy = 0; copy < TMAP_REPLICAS_MAX; ++copy) mine += v[copy];
    }
    tmapi_rd_end(tmap_warp_full(), mine, sum);
}

// Small fractals (small.h), all reads of a thread in flight.
TMAP_DEVICE void tmapi_rd_small(tmap_nbb f, const tmapi_small *s, const int *in, tmap_i64 *sum) {
    const tmap_u32 top = tmapi_small_top(f, 2, 16);
    const tmap_u64 down = tmapi_small_down(s);
    tmap_i64 mine = 0;
    tmap_xy p;
    const int here = tmapi_small_place(f, s, &p);
    if (here) in += (tmap_u64)p.y * s->width + p.x;
    if (here && gridDim.y > 1) { // a copy for each row of blocks
        mine = in[tmapi_small_copy(f, s, down, top, blockIdx.y)];
    } else if (here) {
        int v[TMAP_REPLICAS_MAX];
#pragma unroll
        for (tmap_u32 copy = 0; copy < TMAP_REPLICAS_MAX; ++copy)
            v[copy] =
                copy < tmapi_pow32(f.k, top) ? in[tmapi_small_copy(f, s, down, top, copy)] : 0;
#pragma unroll
        for (tmap_u32 copy = 0; copy < TMAP_REPLICAS_MAX; ++copy) mine += v[copy];
    }
    tmapi_rd_end(tmap_warp_full(), mine, sum);
}

// A warp's tiles, a lane for each cell of a tile's table, eight reads in flight.
TMAP_DEVICE void tmapi_rd_table(tmap_nbb f, tmap_box b, const int *in, tmap_i64 *sum) {
    __shared__ tmap_u32 offsets[TMAP_TILE_TABLE_WORDS(TMAPI_TABLE_MOST)];
    tmap_u32 m = b.tile_level, cells = b.bx;
    tmap_u64 width = tmap_nbb_side_x(f, m), height = tmap_nbb_side_y(f, m);
    tmap_tiles tiles = tmap_tiles_begin(f, tmapi_box_level(b), m);
    tmap_i64 mine = 0;
    tmap_tile_table_make(f, m, (tmap_u32)b.width, offsets);
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        const int *p = in + tile.y * height * b.width + tile.x * width;
#pragma unroll 8
        for (tmap_u32 i = tiles.level.warp.lane; i < cells; i += 32) mine += p[offsets[i]];
    }
    tmapi_rd_end(tmap_warp_full(), mine, sum);
}

// The sum of a lane's groups of four columns in `rows` rows of one tile, from p on: 16 rows of 16
// bytes in flight.
TMAP_DEVICE tmap_i64 tmapi_rd_groups_tile(const tmap_groups *cells, tmap_u32 rows, const int *p,
                                          tmap_u64 width) {
    tmap_i64 mine = 0;
#pragma unroll
    for (tmap_u32 first = 0; first < rows; first += 16) {
        int4 v[16];
#pragma unroll
        for (tmap_u32 i = 0; i < 16; ++i, p += width)
            if (first + i < rows && tmap_groups_row(cells, first + i)) v[i] = *(const int4 *)p;
        __syncwarp(); // else some compilers wait for each read in turn (r = 16: 0.26 ms)
#pragma unroll
        for (tmap_u32 i = 0; i < 16; ++i) {
            tmap_u32 row = first + i < rows ? tmap_groups_row(cells, first + i) : 0;
            if (row & 1) mine += v[i].x;
            if (row & 2) mine += v[i].y;
            if (row & 4) mine += v[i].z;
            if (row & 8) mine += v[i].w;
        }
    }
    return mine;
}

// A warp's tiles by groups of four columns, for fractals with such groups. (Gasket, r = 16, in
// blocks of 256 threads: tiles of 64, 0.143 ms; of 32, 0.153; of 128, 0.152; a column a lane,
// 0.167.)
TMAP_DEVICE void tmapi_rd_groups(tmap_nbb f, tmap_box b, const int *in, tmap_i64 *sum) {
    const tmap_u32 m = tmap_group_level(f), side = tmapi_pow32(f.sx, m), groups = side / 4;
    const tmap_u32 rows = side * side / 128;
    tmap_tiles tiles = tmap_tiles_begin(f, tmapi_box_level(b), m);
    tmap_u32 lane = tiles.level.warp.lane, group = lane % groups, band = lane / groups * rows;
    tmap_groups cells = tmap_groups_make(f, m, group, band, rows);
    tmap_i64 mine = 0;
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        mine += tmapi_rd_groups_tile(&cells, rows,
                                     in + ((tmap_u64)tile.y * side + band) * b.width +
                                         (tmap_u64)tile.x * side + 4 * group,
                                     b.width);
    }
    tmapi_rd_end(tmap_warp_full(), mine, sum);
}

// BB adds up by warps: most have no cell and end at once, where a barrier would hold them all
// (gasket, r = 16: 16 ms against 7).
TMAP_DEVICE void tmapi_rd(int map, int constant, tmap_nbb f, tmap_box b, tmap_u32 row,
                          const int *in, tmap_i64 *sum) {
    if (map == TMAP_MAP_TILE) {
        if (constant && tmap_nbb_has_groups(f) && tmapi_groups_fit(f, b, in, 16))
            tmapi_rd_groups(f, b, in, sum);
        else
            tmapi_rd_table(f, b, in, sum);
    } else if (map == TMAP_MAP_LAMBDA_LINEAR) {
        tmapi_rd_linear(f, b, in, sum);
    } else if (map == TMAP_MAP_ROWS) {
        tmapi_rows_sparse(f) && b.each ? tmapi_rd_by_cells(f, b, in, sum)
                                       : tmapi_rd_by_rows(f, b, in, sum);
    } else if (map != TMAP_MAP_BB) {
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
    TMAPI_STAMP(tmapi_rd, name, 1, tmap_fractal_##name(), \
                (tmap_nbb f, tmap_box b, tmap_u32 row, const int *in, tmap_i64 *sum), \
                (map, constant, f, b, row, in, sum)) \
    TMAPI_SMALL_STAMP(tmapi_rd_small, name, (tmapi_small s, const int *in, tmap_i64 *sum), \
                      (f, &s, in, sum))
TMAP_FRACTALS(TMAPI_RD)
TMAPI_STAMP(tmapi_rd, own, 0, f,
            (tmap_nbb f, tmap_box b, tmap_u32 row, const int *in, tmap_i64 *sum),
            (map, constant, f, b, row, in, sum))
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
    dim3 grid, block;
    cudaError_t status = cudaSuccess;
    if (map == TMAP_MAP_LAMBDA_LINEAR && rho == 32 && in && sum) {
#define TMAPI_RD(name, ...) \
    TMAPI_SMALL_LAUNCH( \
        tmapi_rd_small_##name, name, 2, 16, 0, 1, \
        if (blocks > 1 && \
            (status = cudaMemsetAsync(sum, 0, sizeof *sum, stream)) != cudaSuccess) return status, \
        in, sum)
        TMAP_FRACTALS(TMAPI_RD)
#undef TMAPI_RD
    }
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !in || !sum) return tmapi_box_error(error ? error : TMAP_EINVAL);
    if (map == TMAP_MAP_ROWS) f = tmap_nbb_by_rows(f);
    tmapi_box_rows(f, r, map, TMAPI_RD_EACH, 0, &b);
    // By groups, as many warps as a multiprocessor holds, five blocks of 128 threads with 89
    // registers each. (Gasket, r = 16: 0.135 ms; four blocks of 256 threads, of which two are there
    // at a time, 0.142; six of 128, 0.166.)
    const int groups = map == TMAP_MAP_TILE && tmap_nbb_has_groups(f) &&
                       tmapi_table_index(f) < TMAP_FRACTAL_COUNT; // own ones go by table
    const tmapi_tuning tuning = {4, 16, groups ? 20u : 32u, groups ? 128u : 256u, 2, 1024};
    if ((status = tmapi_box_grid(&b, map, tuning, &grid, &block)) != cudaSuccess) return status;
    // A single block sets the sum, which saves the 1.3 us of this.
    if (map == TMAP_MAP_BB || grid.x * grid.y > 1)
        status = cudaMemsetAsync(sum, 0, sizeof *sum, stream);
    if (status != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)][map], f, in, sum);
    return status;
}

#endif
#endif
