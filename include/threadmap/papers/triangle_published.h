// SPDX-License-Identifier: MIT
// triangle_published.h: five forms of maps of triangles that the paper prints, tries or expects,
// which are not in triangle_maps.h:
//
//     UTM as printed   all in single precision, nothing repaired (section III.B)
//     UTM by Newton    the root by three steps of Newton, and repaired, as its authors ran it
//     LTM by a table   the pair of each block from a table in global memory (section III.A)
//     BB by threads    each thread computes its cell and tests it, in every block (section III.B)
//     REC recursive    a kernel launches itself for the next level (expected in section V)
//
// BB that leaves by blocks, the paper's choice, is tmap_triangle_bb_contains of triangle_maps.h.
//
// Cells are (i, j), j <= i < n. The maps are for host and device and return a value for all
// arguments, but for the one by a table.
//
// Launches by kernels are only for files compiled with -rdc=true and linked with cudadevrt;
// elsewhere TMAP_DP (dp.h) is 0, tmap_triangle_recursive_next does nothing and
// tmap_triangle_recursive_launch returns cudaErrorNotSupported.
//
// Source: Navarro, Hitschfeld, "Improving the GPU space of computation under triangular domain
// problems" (2013), sections III and V.
#ifndef TMAP_PAPERS_TRIANGLE_PUBLISHED_H
#define TMAP_PAPERS_TRIANGLE_PUBLISHED_H

#include "dp.h"
#include "triangle_maps.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>
#endif

// ---- UTM as printed -----------------------------------------------------------------------------
//
// a = floor((-(2n+1) + sqrt(4n^2 - 4n - 8k + 1)) / -2), b = (a+1) + k - (a-1)(2n-a)/2, section
// III.B. The formula is right; what the paper does not print makes it wrong:
//
// - Where it counts from: k from 0, a and b from 1 (docs/errata.md, B3). With a and b taken from 0
//   the n-1 pairs of row 0 would be missing, and n-1 others would be outside of the triangle.
// - How exact the root must be. Here all that is under the root is a float, in the printed order,
//   and no conditional repairs the row. A wrong row gives a column outside of that row, so that a
//   thread has its own pair or none, and never that of another thread.

// The most points for which every k has its pair (docs/errata.md, B4). n = 4098 misses one, k =
// 4096, and each n from there to 92682 misses some: 903 of 12497500 for n = 5000, 0.11% for n =
// 30721, 0.23% for n = 65537. On a GPU 4n^2 and the sum after it are two roundings, so that all
// kernels agree. If a host fuses them, it misses other numbers of pairs from n = 4099 on.
#define TMAP_TRIANGLE_UTM_PRINTED_MAX 4097u

// a b, which a GPU does not fuse with the sum that follows.
TMAP_FN float tmapi_triangle_product(float a, float b) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
#else
    return a * b;
#endif
}

// UTM for threads: 1 and the pair (a, b), a < b < n, counted from 0, of number k; or 0, where the
// printed formula gives none, and then *pair is not written. n <= 92682, k < n(n-1)/2.
// Law: for n <= TMAP_TRIANGLE_UTM_PRINTED_MAX a bijection, equal to tmap_condensed_map; beyond,
// equal to it where it returns 1. Cost: the root of LTM-X and a product of 64 bits.
// Example: n = 4: 0..5 -> (0,1)(0,2)(0,3)(1,2)(1,3)(2,3).
TMAP_FN int tmap_triangle_utm_printed(tmap_u32 k, tmap_u32 n, tmap_pair *pair) {
    float m = (float)n, square = tmapi_triangle_product(4.0f * m, m), a; // the one inexact product
    float x = square - 4.0f * m - 8.0f * (float)k + 1.0f;
    tmap_pair p;
    if (!(x >= 0.0f)) return 0; // rounded below 0
    a = (-(2.0f * m + 1.0f) + tmapi_sqrt_nearest(x)) / -2.0f;
    if (!(a >= 1.0f && a < m)) return 0;
    p = tmapi_triangle_utm_in_row(k, n, (tmap_u32)a - 1);
    if (p.j <= p.i || p.j >= n) return 0; // from a neighbouring row
    *pair = p;
    return 1;
}

// The same for a triangle with its diagonal: 1 and the cell (i, j), j <= i < n, of thread k; or 0.
// It is UTM of n + 1 points, transposed into the lower triangle. n <= 92681, k < n(n+1)/2.
// Law: for n < TMAP_TRIANGLE_UTM_PRINTED_MAX a bijection onto the cells.
// Example: n = 2: 0..2 -> (0,0)(1,0)(1,1).
TMAP_FN int tmap_triangle_utm_printed_cell(tmap_u32 k, tmap_u32 n, tmap_pair *cell) {
    tmap_pair p;
    if (!tmap_triangle_utm_printed(k, n + 1, &p)) return 0;
    cell->i = p.j - 1, cell->j = p.i;
    return 1;
}

// UTM for threads with the root that its authors ran, by three steps of Newton in single precision
// (github.com/crinavar/gpumaps, commit 784ec1c, 2-simplex), and the conditionals that repair it.
// What is under the root is exact here; theirs is a float. Range, law and example: those of
// tmap_triangle_utm_map.
TMAP_FN tmap_pair tmap_triangle_utm_newton(tmap_u32 k, tmap_u32 n) {
    const float x = (float)tmapi_triangle_utm_discriminant(k, n);
    return tmapi_triangle_utm_repaired(x * tmapi_rsqrt_newton(x), k, n);
}

// ---- LTM by a table -----------------------------------------------------------------------------
//
// Entry lambda is the pair (i, j) of block lambda: i in the upper 16 bits, j in the lower ones. All
// threads of a block read the same entry. The paper's table is not described further; it was as
// slow as LTM-X, and is not in its figures.

// The most rows of a table: (i, j) in 32 bits.
#define TMAP_TRIANGLE_TABLE_ROWS_MAX 65536u

// Bytes of the table of `rows` rows; 0 for more than TMAP_TRIANGLE_TABLE_ROWS_MAX.
// Example: 1920, the rows of blocks of 16 x 16 at N = 30720: 7376640.
TMAP_FN tmap_u64 tmap_triangle_table_bytes(tmap_u32 rows) {
    return rows > TMAP_TRIANGLE_TABLE_ROWS_MAX ? 0 : 4 * tmap_triangle_cells(rows);
}

// Writes entries `first`, `first` + `step`, ... of row i, from the definition: row i begins at
// i(i+1)/2. i < TMAP_TRIANGLE_TABLE_ROWS_MAX, step >= 1.
TMAP_FN void tmapi_triangle_table_row(tmap_u32 *table, tmap_u32 i, tmap_u32 first, tmap_u32 step) {
    tmap_u32 *row = table + (tmap_u64)i * (i + 1) / 2;
    for (tmap_u32 j = first; j <= i; j += step) row[j] = i << 16 | j;
}

// Fills a table of `rows` rows in the host's memory. rows <= TMAP_TRIANGLE_TABLE_ROWS_MAX; beyond,
// nothing is written. Cost: a store for each entry.
TMAP_FN void tmap_triangle_table_fill(tmap_u32 *table, tmap_u32 rows) {
    if (rows > TMAP_TRIANGLE_TABLE_ROWS_MAX) return;
    for (tmap_u32 i = 0; i < rows; ++i) tmapi_triangle_table_row(table, i, 0, 1);
}

// g(lambda) by a table: the cell of number lambda < rows(rows+1)/2 of the table's rows; it must not
// be called beyond. Law: equal to tmap_triangle_map. Cost: a load of 4 bytes and 2 instructions.
// Example: 0..5 -> (0,0)(1,0)(1,1)(2,0)(2,1)(2,2).
TMAP_FN tmap_pair tmap_triangle_table_map(const tmap_u32 *table, tmap_u32 lambda) {
#if defined(__CUDA_ARCH__)
    const tmap_u32 entry = __ldg(table + lambda);
#else
    const tmap_u32 entry = table[lambda];
#endif
    tmap_pair p;
    p.i = entry >> 16, p.j = entry & 0xffffu;
    return p;
}

// ---- BB by threads ------------------------------------------------------------------------------

// BB that computes the cell of every thread and tests it afterwards, for which the paper says that
// its own BB is faster: 1 and the cell (i, j) = (y, x) of thread (x, y) of the n x n box, or 0
// where that is above the diagonal or outside. Blocks above the diagonal compute cells, too.
// Example: n = 3: (2,1) -> 0; (1,2) -> 1 and the cell (2,1).
TMAP_FN int tmap_triangle_bb_by_threads(tmap_u32 x, tmap_u32 y, tmap_u32 n, tmap_pair *cell) {
    cell->i = y, cell->j = x;
    return y < n && x <= y;
}

// ---- REC by recursive launches ------------------------------------------------------------------
//
// The partition is that of tmap_triangle_rec in units of blocks, with the smallest triangle 1: k
// levels of squares and the triangles on the diagonal. One launch of the host starts step 0, the
// largest square; the first thread of each step launches the kernel again for the next one, with
// squares half as wide, and step k is the diagonal. No step needs another one's result, so the
// largest comes first: its work covers the launches of the others.
//
//     __global__ void mine(tmap_triangle_recursive r, const void *in, void *out) {
//         tmap_pair cell;
//         tmap_triangle_recursive_next(mine, r, in, out);
//         if (tmap_triangle_recursive_cell(&r, &cell)) ... // every cell in one thread
//     }
//     tmap_triangle_recursive r = tmap_triangle_recursive_make(n, rho, lost);
//     tmap_triangle_recursive_launch((const void *)mine, r, rho, in, out, stream);
//
// Source: section V expects that REC becomes faster on GPUs that allow recursive kernel invocation;
// its own REC launches each level from the host.

// A launch: the partition, its step 0..rec.k, the rows of cells, and what counts lost launches.
typedef struct tmap_triangle_recursive {
    tmap_triangle_rec rec;
    tmap_u32 step, n;
    tmap_u64 *lost; // in device memory: each launch that fails adds 1; its cells and those of the
                    // steps after it are not visited
} tmap_triangle_recursive;

// Step 0 for n rows of cells and blocks of rho x rho threads. Example: n = 30720, rho = 16: m = 15,
// k = 7, so 8 steps.
TMAP_FN tmap_triangle_recursive tmap_triangle_recursive_make(tmap_u32 n, tmap_u32 rho,
                                                             tmap_u64 *lost) {
    tmap_triangle_recursive r;
    r.rec = tmap_triangle_rec_make(tmap_triangle_tile_rows(n, rho), 1);
    r.step = 0, r.n = n, r.lost = lost;
    return r;
}

// The grid of a step: x the side of its squares or triangles in blocks, y their number; so launch x
// by x by y blocks. Example: m = 15, k = 7: step 0: 960, 1; step 6: 15, 64; step 7: 15, 128.
TMAP_FN tmap_xy tmap_triangle_recursive_grid(const tmap_triangle_recursive *r) {
    tmap_xy grid;
    if (r->step < r->rec.k) return tmap_triangle_rec_grid(r->rec, r->rec.k - 1 - r->step);
    grid.x = r->rec.m, grid.y = tmap_triangle_rec_triangles(r->rec);
    return grid;
}

// 1 and the block's place (i, j), j <= i, in the triangle of blocks; or 0 for blocks of the last
// step above the diagonal. x, y: in its square or triangle q. Law: all steps together are a
// bijection onto the blocks.
TMAP_FN int tmap_triangle_recursive_block(const tmap_triangle_recursive *r, tmap_u32 x, tmap_u32 y,
                                          tmap_u32 q, tmap_pair *block) {
    if (r->step < r->rec.k) {
        *block = tmap_triangle_rec_map(r->rec, r->rec.k - 1 - r->step, x, y, q);
        return 1;
    }
    *block = tmap_triangle_rec_diagonal(r->rec, x, y, q);
    return tmap_triangle_bb_contains(x, y);
}

#if TMAP_CUDA && !TMAP_NVRTC

// The user's kernel. in, out: as they were given to the launch.
typedef void (*tmap_triangle_recursive_kernel)(tmap_triangle_recursive r, const void *in,
                                               void *out);

// A parent does not wait for the next step, and the next step does not wait for it.
#if defined(cudaStreamFireAndForget)
#define TMAPI_TRIANGLE_DP_STREAM cudaStreamFireAndForget
#else
#define TMAPI_TRIANGLE_DP_STREAM ((cudaStream_t)0)
#endif

// Launches the next step, in the first thread of the grid; nothing in other threads and after the
// last step. kernel: the one that calls this. Without launches in kernels it does nothing.
TMAP_DEVICE void tmap_triangle_recursive_next(tmap_triangle_recursive_kernel kernel,
                                              tmap_triangle_recursive r, const void *in,
                                              void *out) {
#if TMAP_DP
    if (blockIdx.x | blockIdx.y | blockIdx.z | threadIdx.x | threadIdx.y | threadIdx.z) return;
    if (r.step >= r.rec.k) return;
    ++r.step;
    const tmap_xy grid = tmap_triangle_recursive_grid(&r);
    kernel<<<dim3(grid.x, grid.x, grid.y), dim3(blockDim.x, blockDim.y, 1), 0,
             TMAPI_TRIANGLE_DP_STREAM>>>(r, in, out);
    if (cudaGetLastError() != cudaSuccess) atomicAdd(r.lost, 1ull);
#else
    (void)kernel, (void)r, (void)in, (void)out;
#endif
}

// 1 and the cell of this thread, or 0 if it has none. Blocks: rho x rho threads.
TMAP_DEVICE int tmap_triangle_recursive_cell(const tmap_triangle_recursive *r, tmap_pair *cell) {
    tmap_pair block;
    if (!tmap_triangle_recursive_block(r, blockIdx.x, blockIdx.y, blockIdx.z, &block)) return 0;
    cell->i = block.i * blockDim.y + threadIdx.y;
    cell->j = block.j * blockDim.x + threadIdx.x;
    return cell->i < r->n && cell->j <= cell->i;
}

// Launches step 0 of a user's kernel by blocks of rho x rho threads, rho = 1..32. Returns
// cudaErrorInvalidValue for no kernel or no r.lost, n = 0, another rho, or more triangles than a
// grid takes, 65535; cudaErrorNotSupported without launches in kernels; else the launch's error.
static inline cudaError_t tmap_triangle_recursive_launch(const void *kernel,
                                                         tmap_triangle_recursive r, tmap_u32 rho,
                                                         const void *in, void *out,
                                                         cudaStream_t stream) {
    const tmap_xy grid = tmap_triangle_recursive_grid(&r);
    void *arguments[] = {&r, &in, &out};
    if (!kernel || !r.lost || r.n == 0 || rho < 1 || rho > 32 ||
        tmap_triangle_rec_triangles(r.rec) > 65535)
        return cudaErrorInvalidValue;
    if (!TMAP_DP) return cudaErrorNotSupported;
    return cudaLaunchKernel(kernel, dim3(grid.x, grid.x, grid.y), dim3(rho, rho, 1), arguments, 0,
                            stream);
}

// ---- the table on the device --------------------------------------------------------------------

static __global__ void __launch_bounds__(256) tmapi_triangle_table_kernel(tmap_u32 *table) {
    tmapi_triangle_table_row(table, blockIdx.x, threadIdx.x, blockDim.x);
}

// Fills a table of `rows` rows, tmap_triangle_table_bytes(rows) bytes of device memory, by a
// kernel. Returns cudaErrorInvalidValue for a null pointer, no rows or more than
// TMAP_TRIANGLE_TABLE_ROWS_MAX; else the launch's error. Cost: a store for each entry.
static inline cudaError_t tmap_triangle_table_make(tmap_u32 *table, tmap_u32 rows,
                                                   cudaStream_t stream) {
    void *arguments[] = {&table};
    if (!table || rows == 0 || rows > TMAP_TRIANGLE_TABLE_ROWS_MAX) return cudaErrorInvalidValue;
    return cudaLaunchKernel((const void *)tmapi_triangle_table_kernel, dim3(rows, 1, 1),
                            dim3(256, 1, 1), arguments, 0, stream);
}

#endif
#endif
