// SPDX-License-Identifier: MIT
// triangle_maps.h: the kernels of the paper's experiments on triangles, for its map and all rival
// maps: one that only maps, and the Euclidean distance matrix (EDM), a thread for each pair.
//
// Source: Navarro, Hitschfeld, "Improving the GPU space of computation under triangular domain
// problems" (2014), sections III and IV. Blocks are rho x rho threads. BB leaves blocks above the
// diagonal at their first instruction; RB and UTM map threads, as in the paper, the others blocks.
#ifndef BENCH_TRIANGLE_MAPS_H
#define BENCH_TRIANGLE_MAPS_H

#include "../timing.h"

#include <threadmap/triangle/condensed.h>
#include <threadmap/papers/triangle_maps.h>

// X(name, kind): the variants, as they are named in results.
#define TRIANGLE_VARIANTS(X) \
    X(bb, BB) \
    X(ltm_sqrt, LTM_SQRT) \
    X(ltm_newton, LTM_NEWTON) \
    X(ltm_rsqrt, LTM_RSQRT) \
    X(ltm_exact, LTM_EXACT) \
    X(rb, RB) \
    X(rec, REC) \
    X(utm, UTM) \
    X(utm_blocks, UTM_BLOCKS) \
    X(utm_blocks_sqrt, UTM_BLOCKS_SQRT) \
    X(utm_blocks_rsqrt, UTM_BLOCKS_RSQRT)

enum {
#define TRIANGLE_ENUM(name, kind) TRIANGLE_##kind,
    TRIANGLE_VARIANTS(TRIANGLE_ENUM) TRIANGLE_VARIANT_COUNT
#undef TRIANGLE_ENUM
};

static inline const char *triangle_variant_name(int variant) {
    static const char *const names[] = {
#define TRIANGLE_NAME(name, kind) #name,
        TRIANGLE_VARIANTS(TRIANGLE_NAME)
#undef TRIANGLE_NAME
    };
    return names[variant];
}

// A launch: n rows of cells; for REC the partition and the level of this launch, k for the diagonal
// pass.
typedef struct triangle_size {
    tmap_u32 n, level;
    tmap_triangle_rec rec;
} triangle_size;

// The cell of this thread; 0 if it has none.
static __device__ __forceinline__ int triangle_cell(const int variant, triangle_size s,
                                                    tmap_pair *cell) {
    tmap_u32 x = blockIdx.x, y = blockIdx.y, rho = blockDim.x;
    tmap_pair block = {y, x};
    if (variant == TRIANGLE_RB) {
        tmap_xy grid = tmap_triangle_rb_grid(s.n);
        x = x * rho + threadIdx.x, y = y * rho + threadIdx.y;
        if (x >= grid.x || y >= grid.y) return 0;
        *cell = tmap_triangle_rb_map(x, y, s.n);
        return 1;
    }
    if (variant == TRIANGLE_UTM) { // rows of the upper triangle are columns of the lower one
        tmap_u64 k = (tmap_u64)x * rho * rho + threadIdx.y * rho + threadIdx.x;
        if (k >= tmap_triangle_cells(s.n)) return 0;
        block = tmap_triangle_utm_blocks((tmap_u32)k, s.n);
        cell->i = block.j, cell->j = block.i;
        return 1;
    }
    if (variant == TRIANGLE_BB && x > y) return 0;
    if (variant == TRIANGLE_LTM_SQRT) block = tmap_triangle_map_sqrt(x);
    if (variant == TRIANGLE_LTM_NEWTON) block = tmap_triangle_map_newton(x);
    if (variant == TRIANGLE_LTM_RSQRT) block = tmap_triangle_map_rsqrt(x);
    if (variant == TRIANGLE_LTM_EXACT) block = tmap_triangle_map(x);
    if (variant >= TRIANGLE_UTM_BLOCKS) {
        tmap_u32 rows = tmap_triangle_tile_rows(s.n, rho);
        tmap_pair p = variant == TRIANGLE_UTM_BLOCKS ? tmap_triangle_utm_blocks(x, rows)
                      : variant == TRIANGLE_UTM_BLOCKS_SQRT
                          ? tmap_triangle_utm_blocks_sqrt(x, rows)
                          : tmap_triangle_utm_blocks_rsqrt(x, rows);
        block.i = p.j, block.j = p.i;
    }
    if (variant == TRIANGLE_REC) {
        if (s.level < s.rec.k) {
            block = tmap_triangle_rec_map(s.rec, s.level, x, y, blockIdx.z);
        } else {
            if (x > y) return 0;
            block = tmap_triangle_rec_diagonal(s.rec, x, y, blockIdx.z);
        }
    }
    cell->i = block.i * rho + threadIdx.y;
    cell->j = block.j * rho + threadIdx.x;
    return cell->i < s.n && cell->j <= cell->i;
}

// Blocks of a variant as they ran: all, those without a cell, those with cells and idle threads;
// and idle threads. The paper counts blocks above the diagonal, which are those without a cell.
typedef struct triangle_waste {
    tmap_u64 blocks, wasted, partial, idle;
} triangle_waste;

static __device__ __forceinline__ void triangle_count(int busy, triangle_waste *out) {
    const tmap_u32 threads = blockDim.x * blockDim.y;
    const tmap_u32 cells = (tmap_u32)__syncthreads_count(busy);
    if (threadIdx.x || threadIdx.y) return;
    atomicAdd(&out->blocks, 1ull);
    if (cells == 0) atomicAdd(&out->wasted, 1ull);
    if (cells && cells < threads) atomicAdd(&out->partial, 1ull);
    if (cells < threads) atomicAdd(&out->idle, (tmap_u64)(threads - cells));
}

// dummy: adds the coordinates and writes the sum to one place, which keeps the map from being
// optimized away. EDM-dD: points in d arrays of n coordinates; out: n x n, j <= i is written.
#define TRIANGLE_KERNELS(name, kind) \
    static __global__ void __launch_bounds__(1024) \
        triangle_dummy_##name(triangle_size s, const float *points, float *out) { \
        tmap_pair cell; \
        (void)points; \
        if (triangle_cell(TRIANGLE_##kind, s, &cell)) *(tmap_u32 *)out = cell.i + cell.j; \
    } \
    static __global__ void __launch_bounds__(1024) \
        triangle_count_##name(triangle_size s, const float *points, float *out) { \
        tmap_pair cell; \
        (void)points; \
        triangle_count(triangle_cell(TRIANGLE_##kind, s, &cell), (triangle_waste *)out); \
    } \
    TRIANGLE_EDM(name, kind, 1) \
    TRIANGLE_EDM(name, kind, 2) \
    TRIANGLE_EDM(name, kind, 3) \
    TRIANGLE_EDM(name, kind, 4)
#define TRIANGLE_EDM(name, kind, d) \
    static __global__ void __launch_bounds__(1024) triangle_edm##d##_##name( \
        triangle_size s, const float *__restrict__ points, float *__restrict__ out) { \
        tmap_pair cell; \
        if (triangle_cell(TRIANGLE_##kind, s, &cell)) \
            out[(tmap_u64)cell.i * s.n + cell.j] = triangle_distance(points, s.n, d, cell); \
    }

static __device__ __forceinline__ float triangle_distance(const float *__restrict__ points,
                                                          tmap_u32 n, const int d, tmap_pair cell) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < d; ++k) {
        float t = points[(tmap_u64)k * n + cell.i] - points[(tmap_u64)k * n + cell.j];
        sum += t * t;
    }
    return sqrtf(sum);
}

TRIANGLE_VARIANTS(TRIANGLE_KERNELS)

typedef void (*triangle_kernel)(triangle_size, const float *, float *);

// [variant][0: dummy, d: EDM-dD, 5: counts]
enum { TRIANGLE_COUNT = 5 };
static const triangle_kernel triangle_kernels[][6] = {
#define TRIANGLE_ROW(name, kind) \
    {triangle_dummy_##name, triangle_edm1_##name, triangle_edm2_##name, \
     triangle_edm3_##name,  triangle_edm4_##name, triangle_count_##name},
    TRIANGLE_VARIANTS(TRIANGLE_ROW)
#undef TRIANGLE_ROW
};

// Blocks that a variant launches, those of them without a cell, and launches.
typedef struct triangle_blocks {
    tmap_u64 all, wasted;
    tmap_u32 launches;
} triangle_blocks;

// Launches a variant on n rows by blocks of rho x rho: once, or REC k + 1 times, one after the
// other in the stream. run = 0: only counts.
static triangle_blocks triangle_launch(int variant, int d, tmap_u32 n, tmap_u32 rho, int run,
                                       const float *points, float *out) {
    triangle_kernel kernel = triangle_kernels[variant][d];
    tmap_u32 rows = tmap_triangle_tile_rows(n, rho);
    tmap_u64 tiles = tmap_triangle_tiles(n, rho), threads = (tmap_u64)rho * rho;
    triangle_blocks count = {tiles, 0, 1};
    triangle_size s = {n, 0, {0, 0}};
    dim3 grid((unsigned)tiles), block(rho, rho);
    if (variant == TRIANGLE_BB) grid = dim3(rows, rows);
    if (variant == TRIANGLE_RB) {
        tmap_xy cells = tmap_triangle_rb_grid(n);
        grid = dim3((cells.x + rho - 1) / rho, (cells.y + rho - 1) / rho);
    }
    if (variant == TRIANGLE_UTM)
        grid = dim3((unsigned)((tmap_triangle_cells(n) + threads - 1) / threads));
    if (variant != TRIANGLE_REC) {
        count.all = (tmap_u64)grid.x * grid.y;
        if (variant == TRIANGLE_BB) count.wasted = tmap_triangle_cells_strict(rows);
        if (run) kernel<<<grid, block>>>(s, points, out);
        CHECK(cudaGetLastError());
        return count;
    }
    s.rec = tmap_triangle_rec_make(rows, 1);
    s.level = s.rec.k;
    grid = dim3(s.rec.m, s.rec.m, tmap_triangle_rec_triangles(s.rec));
    count.all = (tmap_u64)s.rec.m * s.rec.m * grid.z;
    count.wasted = tmap_triangle_cells_strict(s.rec.m) * grid.z;
    if (run) kernel<<<grid, block>>>(s, points, out);
    CHECK(cudaGetLastError());
    for (s.level = 0; s.level < s.rec.k; ++s.level) {
        tmap_xy squares = tmap_triangle_rec_grid(s.rec, s.level);
        count.all += (tmap_u64)squares.x * squares.x * squares.y;
        ++count.launches;
        if (run) kernel<<<dim3(squares.x, squares.x, squares.y), block>>>(s, points, out);
        CHECK(cudaGetLastError());
    }
    return count;
}

// Whether UTM by x rsqrt(x) is right for so many rows of blocks, which hangs on the device's rsqrt:
// all blocks are compared with the exact map of the upper triangle.
static __global__ void triangle_utm_wrong(tmap_u32 rows, tmap_u64 blocks, tmap_u64 *wrong) {
    tmap_u64 bad = 0;
    for (tmap_u64 k = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; k < blocks;
         k += (tmap_u64)gridDim.x * blockDim.x) {
        tmap_pair p = tmap_triangle_utm_blocks_rsqrt((tmap_u32)k, rows);
        tmap_pair q = tmap_upper_map((tmap_u32)k, rows);
        bad += p.i != q.i || p.j != q.j;
    }
    if (bad) atomicAdd(wrong, bad);
}

static int triangle_utm_right(tmap_u32 rows) {
    static tmap_u32 known;
    static int right;
    tmap_u64 *wrong, count;
    if (rows > TMAP_TRIANGLE_UTM_ROWS_MAX) return 0;
    if (rows == known) return right;
    CHECK(cudaMalloc((void **)&wrong, sizeof *wrong));
    CHECK(cudaMemset(wrong, 0, sizeof *wrong));
    triangle_utm_wrong<<<64, 256>>>(rows, tmap_triangle_cells(rows), wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(wrong));
    known = rows, right = count == 0;
    return right;
}

// 1 if a variant is right for n rows: the paper's maps are, up to some number of rows of blocks.
static int triangle_in_range(int variant, tmap_u32 n, tmap_u32 rho) {
    tmap_u32 rows = tmap_triangle_tile_rows(n, rho);
    if (variant == TRIANGLE_LTM_SQRT) return rows <= TMAP_TRIANGLE_ROWS_SQRT;
    if (variant == TRIANGLE_LTM_NEWTON) return rows <= TMAP_TRIANGLE_ROWS_NEWTON;
    if (variant == TRIANGLE_LTM_RSQRT) return rows <= TMAP_TRIANGLE_ROWS_RSQRT;
    if (variant == TRIANGLE_UTM_BLOCKS_SQRT) return rows < TMAP_TRIANGLE_UTM_SQRT_MAX;
    if (variant == TRIANGLE_UTM_BLOCKS_RSQRT) return triangle_utm_right(rows);
    return 1;
}

#endif
