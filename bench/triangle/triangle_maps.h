// SPDX-License-Identifier: MIT
// triangle_maps.h: the kernels of the paper's experiments on triangles, for its map and all rival
// maps: one that only maps, and the Euclidean distance matrix (EDM), a thread for each pair.
//
// Source: Navarro, Hitschfeld, "Improving the GPU space of computation under triangular domain
// problems" (2013), sections III to V. Blocks are rho x rho threads. `bb` leaves blocks above the
// diagonal at their first instruction, `bb_by_threads` computes every thread's cell; RB and UTM map
// threads, as in the paper, the others blocks. UTM as printed is the one variant that may miss
// cells; they are counted. `published_bb` and the like are maps in EDM as their authors ran it
// (github.com/crinavar/gpumaps, commit 784ec1c, 2-simplex): points are float4 whatever d is, and the
// output is packed, with places of 32 bits: row after row, or, for UTM, thread after thread.
#ifndef BENCH_TRIANGLE_MAPS_H
#define BENCH_TRIANGLE_MAPS_H

#include "../driver.h"
#include "triangle_rec.h"

#include <threadmap/papers/simplex_h.h>
#include <threadmap/triangle/condensed.h>

// X(name, kind): the variants, as they are named in results; and those whose kernels are here.
#define TRIANGLE_VARIANTS(X) \
    TRIANGLE_VARIANTS_HERE(X) \
    X(rec_recursive, REC_RECURSIVE)
#define TRIANGLE_VARIANTS_HERE(X) \
    X(bb, BB) \
    X(bb_by_threads, BB_BY_THREADS) \
    X(ltm_sqrt, LTM_SQRT) \
    X(ltm_newton, LTM_NEWTON) \
    X(ltm_rsqrt, LTM_RSQRT) \
    X(ltm_exact, LTM_EXACT) \
    X(ltm_table, LTM_TABLE) \
    X(rb, RB) \
    X(rec, REC) \
    X(h, H) \
    X(utm, UTM) \
    X(utm_printed, UTM_PRINTED) \
    X(utm_blocks, UTM_BLOCKS) \
    X(utm_blocks_sqrt, UTM_BLOCKS_SQRT) \
    X(utm_blocks_rsqrt, UTM_BLOCKS_RSQRT) \
    X(published_bb, PUBLISHED_BB) \
    X(published_ltm_rsqrt, PUBLISHED_LTM_RSQRT) \
    X(published_rb, PUBLISHED_RB) \
    X(published_rec, PUBLISHED_REC) \
    X(published_utm, PUBLISHED_UTM)

enum {
#define TRIANGLE_ENUM(name, kind) TRIANGLE_##kind,
    TRIANGLE_VARIANTS(TRIANGLE_ENUM) TRIANGLE_VARIANT_COUNT
#undef TRIANGLE_ENUM
};

TMAP_FN int triangle_is_published(int variant) {
    return variant >= TRIANGLE_PUBLISHED_BB && variant <= TRIANGLE_PUBLISHED_UTM;
}

// The map of a variant.
TMAP_FN int triangle_map_of(int variant) {
    return variant == TRIANGLE_PUBLISHED_BB          ? TRIANGLE_BB
           : variant == TRIANGLE_PUBLISHED_LTM_RSQRT ? TRIANGLE_LTM_RSQRT
           : variant == TRIANGLE_PUBLISHED_RB        ? TRIANGLE_RB
           : variant == TRIANGLE_PUBLISHED_REC       ? TRIANGLE_REC
           : variant == TRIANGLE_PUBLISHED_UTM       ? TRIANGLE_UTM
                                                     : variant;
}

static inline const char *triangle_variant_name(int variant) {
    static const char *const names[] = {
#define TRIANGLE_NAME(name, kind) #name,
        TRIANGLE_VARIANTS(TRIANGLE_NAME)
#undef TRIANGLE_NAME
    };
    return names[variant];
}

// A launch: n rows of cells; for REC the partition and the level of this launch, k for the diagonal
// pass; for H its first row of blocks, as `level`, and how many it has, rec.m; for LTM by a table the table.
typedef struct triangle_size {
    tmap_u32 n, level;
    tmap_triangle_rec rec;
    const tmap_u32 *table;
} triangle_size;

// The cell of this thread; 0 if it has none.
static __device__ __forceinline__ int triangle_cell(const int form, triangle_size s,
                                                    tmap_pair *cell) {
    const int variant = triangle_map_of(form);
    tmap_u32 x = blockIdx.x, y = blockIdx.y, rho = blockDim.x;
    tmap_pair block = {y, x};
    if (variant == TRIANGLE_RB) {
        tmap_xy grid = tmap_triangle_rb_grid(s.n);
        x = x * rho + threadIdx.x, y = y * rho + threadIdx.y;
        if (x >= grid.x || y >= grid.y) return 0;
        *cell = tmap_triangle_rb_map(x, y, s.n);
        return 1;
    }
    if (variant == TRIANGLE_UTM || variant == TRIANGLE_UTM_PRINTED) {
        tmap_u64 k = (tmap_u64)x * rho * rho + threadIdx.y * rho + threadIdx.x;
        if (k >= tmap_triangle_cells(s.n)) return 0;
        if (variant == TRIANGLE_UTM_PRINTED)
            return tmap_triangle_utm_printed_cell((tmap_u32)k, s.n, cell);
        // rows of the upper triangle are columns of the lower one
        block = tmap_triangle_utm_blocks((tmap_u32)k, s.n);
        if (form == TRIANGLE_PUBLISHED_UTM)
            block = tmap_triangle_utm_newton((tmap_u32)k, s.n + 1), --block.j;
        cell->i = block.j, cell->j = block.i;
        return 1;
    }
    if (variant == TRIANGLE_BB && x > y) return 0;
    if (variant == TRIANGLE_BB_BY_THREADS)
        return tmap_triangle_bb_by_threads(x * rho + threadIdx.x, y * rho + threadIdx.y, s.n, cell);
    if (variant == TRIANGLE_LTM_SQRT) block = tmap_triangle_map_sqrt(x);
    if (variant == TRIANGLE_LTM_NEWTON) block = tmap_triangle_map_newton(x);
    if (variant == TRIANGLE_LTM_RSQRT) block = tmap_triangle_map_rsqrt(x);
    if (variant == TRIANGLE_LTM_EXACT) block = tmap_triangle_map(x);
    if (variant == TRIANGLE_LTM_TABLE) block = tmap_triangle_table_map(s.table, x);
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
    if (variant == TRIANGLE_H) {
        block = tmap_simplex_h2_map(x, y, s.rec.m);
        block.i += s.level, block.j += s.level;
    }
    cell->i = block.i * rho + threadIdx.y;
    cell->j = block.j * rho + threadIdx.x;
    return cell->i < s.n && cell->j <= cell->i;
}

// The distance and the place of a cell as published.
static __device__ __forceinline__ void triangle_published(const int variant, const float4 *points,
                                                          const int d, tmap_pair cell, float *out) {
    const float4 a = points[cell.i], b = points[cell.j];
    tmap_u32 place = cell.i * (cell.i + 1) / 2 + cell.j;
    float sum = (a.x - b.x) * (a.x - b.x);
    if (d > 1) sum += (a.y - b.y) * (a.y - b.y);
    if (d > 2) sum += (a.z - b.z) * (a.z - b.z);
    if (d > 3) sum += (a.w - b.w) * (a.w - b.w);
    if (variant == TRIANGLE_PUBLISHED_UTM)
        place = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[place] = sqrtf(sum);
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
        if (!triangle_cell(TRIANGLE_##kind, s, &cell)) return; \
        if (triangle_is_published(TRIANGLE_##kind)) \
            triangle_published(TRIANGLE_##kind, (const float4 *)points, d, cell, out); \
        else \
            out[(tmap_u64)cell.i * s.n + cell.j] = triangle_distance(points, s.n, d, cell); \
    }

TRIANGLE_VARIANTS_HERE(TRIANGLE_KERNELS)

typedef void (*triangle_kernel)(triangle_size, const float *, float *);

// [variant][0: dummy, d: EDM-dD, TRIANGLE_COUNT: counts]
static const triangle_kernel triangle_kernels[][6] = {
#define TRIANGLE_ROW(name, kind) \
    {triangle_dummy_##name, triangle_edm1_##name, triangle_edm2_##name, \
     triangle_edm3_##name,  triangle_edm4_##name, triangle_count_##name},
    TRIANGLE_VARIANTS_HERE(TRIANGLE_ROW)
#undef TRIANGLE_ROW
};

// Blocks that a variant launches, those of them without a cell, and launches.
typedef struct triangle_blocks {
    tmap_u64 all, wasted;
    tmap_u32 launches;
} triangle_blocks;

// What variants keep on the device between launches: the table of LTM, for `rows` rows of blocks,
// and the launches that recursive REC lost.
static struct {
    tmap_u32 *table, rows;
    tmap_u64 *lost;
} triangle_kept;

// Makes the table for a number of rows of blocks, unless it is that of the last call. Returns 0
// where there is no memory for it, or it is out of range.
static int triangle_table_ready(tmap_u32 rows) {
    if (rows > TMAP_TRIANGLE_TABLE_ROWS_MAX) return 0;
    if (rows == triangle_kept.rows) return 1;
    CHECK(cudaFree(triangle_kept.table));
    triangle_kept.table = NULL, triangle_kept.rows = 0;
    if (cudaMalloc((void **)&triangle_kept.table, tmap_triangle_table_bytes(rows)) != cudaSuccess) {
        triangle_kept.table = NULL;
        cudaGetLastError(); // no memory is no error of the next launch
        return 0;
    }
    CHECK(tmap_triangle_table_make(triangle_kept.table, rows, 0));
    triangle_kept.rows = rows;
    return 1;
}

// Where launches of recursive REC are counted that failed; 0 at first.
static tmap_u64 *triangle_lost(void) {
    if (!triangle_kept.lost) {
        CHECK(cudaMalloc((void **)&triangle_kept.lost, sizeof *triangle_kept.lost));
        CHECK(cudaMemset(triangle_kept.lost, 0, sizeof *triangle_kept.lost));
    }
    return triangle_kept.lost;
}

static tmap_u64 triangle_lost_count(void) {
    tmap_u64 count;
    CHECK(cudaMemcpy(&count, triangle_lost(), sizeof count, cudaMemcpyDeviceToHost));
    return count;
}

// triangle_launch of recursive REC: one launch by the host.
static triangle_blocks triangle_launch_recursive(int d, tmap_u32 n, tmap_u32 rho, int run,
                                                 const float *points, float *out) {
    tmap_triangle_recursive r = tmap_triangle_recursive_make(n, rho, triangle_lost());
    triangle_blocks count = {0, 0, r.rec.k + 1};
#if BENCH_DP
    if (run) CHECK(triangle_rec_run(d, r, rho, points, out));
#else
    (void)d, (void)run, (void)points, (void)out;
#endif
    for (r.step = 0; r.step <= r.rec.k; ++r.step) {
        tmap_xy grid = tmap_triangle_recursive_grid(&r);
        count.all += (tmap_u64)grid.x * grid.x * grid.y;
        if (r.step == r.rec.k) count.wasted = tmap_triangle_cells_strict(grid.x) * grid.y;
    }
    return count;
}

// Launches a variant on n rows by blocks of rho x rho: once, or REC k + 1 times, one after the
// other in the stream. run = 0: only counts.
static triangle_blocks triangle_launch(int variant, triangle_kernel kernel, tmap_u32 n,
                                       tmap_u32 rho, int run, const float *points, float *out) {
    variant = triangle_map_of(variant);
    tmap_u32 rows = tmap_triangle_tile_rows(n, rho);
    tmap_u64 tiles = tmap_triangle_tiles(n, rho), threads = (tmap_u64)rho * rho;
    const int box = variant == TRIANGLE_BB || variant == TRIANGLE_BB_BY_THREADS;
    triangle_blocks count = {tiles, 0, 1};
    triangle_size s = {n, 0, {0, 0}, triangle_kept.table};
    dim3 grid((unsigned)tiles), block(rho, rho);
    if (box) grid = dim3(rows, rows);
    if (variant == TRIANGLE_RB) {
        tmap_xy cells = tmap_triangle_rb_grid(n);
        grid = dim3((cells.x + rho - 1) / rho, (cells.y + rho - 1) / rho);
    }
    if (variant == TRIANGLE_UTM || variant == TRIANGLE_UTM_PRINTED)
        grid = dim3((unsigned)((tmap_triangle_cells(n) + threads - 1) / threads));
    if (variant == TRIANGLE_H) { // a trapezoid for each bit of the rows
        count.all = count.launches = 0;
        for (; s.level < rows; s.level += tmap_simplex_h2_columns(rows - s.level)) {
            const tmap_xy h = tmap_simplex_h2_grid(s.rec.m = rows - s.level);
            if (run) kernel<<<dim3(h.x, h.y), block>>>(s, points, out);
            CHECK(cudaGetLastError());
            count.all += (tmap_u64)h.x * h.y, ++count.launches;
        }
        return count;
    }
    if (variant != TRIANGLE_REC) {
        count.all = (tmap_u64)grid.x * grid.y;
        if (box) count.wasted = tmap_triangle_cells_strict(rows);
        if (run) kernel<<<grid, block>>>(s, points, out);
        CHECK(cudaGetLastError());
        return count;
    }
    // The diagonal first, then the levels' squares.
    s.rec = tmap_triangle_rec_make(rows, 1);
    count.all = 0, count.launches = s.rec.k + 1;
    for (tmap_u32 step = 0; step <= s.rec.k; ++step) {
        const tmap_xy squares = step ? tmap_triangle_rec_grid(s.rec, step - 1) : tmap_xy{0, 0};
        s.level = step ? step - 1 : s.rec.k;
        grid = step ? dim3(squares.x, squares.x, squares.y)
                    : dim3(s.rec.m, s.rec.m, tmap_triangle_rec_triangles(s.rec));
        if (!step) count.wasted = tmap_triangle_cells_strict(s.rec.m) * grid.z;
        count.all += (tmap_u64)grid.x * grid.y * grid.z;
        if (run) kernel<<<grid, block>>>(s, points, out);
        CHECK(cudaGetLastError());
    }
    return count;
}

// Whether UTM by x rsqrt(x) is right for this number of rows of blocks, which depends on the
// device's rsqrt: all blocks are compared with the exact map of the upper triangle.
static __global__ void triangle_utm_wrong(tmap_u32 rows, tmap_u64 blocks, tmap_u64 *wrong) {
    tmap_u64 bad = 0;
    BENCH_EACH(k, blocks) {
        tmap_pair p = tmap_triangle_utm_blocks_rsqrt((tmap_u32)k, rows);
        tmap_pair q = tmap_upper_map((tmap_u32)k, rows);
        bad += p.i != q.i || p.j != q.j;
    }
    if (bad) atomicAdd(wrong, bad);
}

static int triangle_utm_right(tmap_u32 rows) {
    static tmap_u32 known;
    static int right;
    if (rows > TMAP_TRIANGLE_UTM_ROWS_MAX) return 0;
    if (rows == known) return right;
    triangle_utm_wrong<<<64, 256>>>(rows, tmap_triangle_cells(rows), bench_counter());
    known = rows, right = bench_count() == 0;
    return right;
}

// Whether a variant is run with such blocks and d. For some one size is enough, the paper's; EDM as
// published has no dummy; and kernels that launch kernels are compiled apart.
static int triangle_has(int variant, tmap_u32 rho, tmap_u32 d) {
    if (variant == TRIANGLE_REC_RECURSIVE) return BENCH_DP && rho == 16;
    if (triangle_is_published(variant)) return rho == 16 && d > 0;
    return variant != TRIANGLE_UTM_PRINTED || rho == 16;
}

// 1 if a variant is right for n rows: the paper's maps are, up to some number of rows of blocks.
// UTM as printed is run beyond its range, too, and what it misses is counted.
static int triangle_in_range(int variant, tmap_u32 n, tmap_u32 rho) {
    tmap_u32 rows = tmap_triangle_tile_rows(n, rho);
    if (triangle_is_published(variant) && n > 65535) return 0; // i(i+1) must fit 32 bits
    variant = triangle_map_of(variant);
    if (variant == TRIANGLE_LTM_SQRT) return rows <= TMAP_TRIANGLE_ROWS_SQRT;
    if (variant == TRIANGLE_LTM_NEWTON) return rows <= TMAP_TRIANGLE_ROWS_NEWTON;
    if (variant == TRIANGLE_LTM_RSQRT) return rows <= TMAP_TRIANGLE_ROWS_RSQRT;
    if (variant == TRIANGLE_LTM_TABLE) return triangle_table_ready(rows);
    if (variant == TRIANGLE_UTM_BLOCKS_SQRT) return rows < TMAP_TRIANGLE_UTM_SQRT_MAX;
    if (variant == TRIANGLE_UTM_BLOCKS_RSQRT) return triangle_utm_right(rows);
    return 1;
}

#endif
