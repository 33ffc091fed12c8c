// SPDX-License-Identifier: MIT
// gram_work.h: the lower triangle of the Gram matrix X X^T of n rows of 128 numbers in bfloat16, by
// the tiles of the triangle (triangle) and by all tiles of the square (full), in one kernel on tensor
// cores: that of samples/triangle/29_gram.cu. As many blocks as the GPU holds take the tiles in turn.
//
// Verified before it is timed: every product against one of another kernel, and that nothing is
// written above the triangle's tiles.
#ifndef BENCH_TRIANGLE_GRAM_WORK_H
#define BENCH_TRIANGLE_GRAM_WORK_H

#include "../driver.h"

#include <threadmap/launch.h>
#include <threadmap/triangle/map.h>

#include <cuda_bf16.h>
#include <mma.h>

enum {
    GRAM_D = 128,
    GRAM_SIDE = 64,          // of a tile
    GRAM_F = 16,             // side of the matrices that a warp multiplies
    GRAM_THREADS = 128,      // of a block: a warp for 16 rows of a tile
    GRAM_PITCH = GRAM_D + 8, // of a row in shared memory, so that 8 rows are in different banks
    GRAM_CAPABILITY = 80     // tensor cores below have no bfloat16
};

// ---- the kernel ---------------------------------------------------------------------------------

TMAP_DEVICE void gram_stage(const __nv_bfloat16 *from, __nv_bfloat16 (*to)[GRAM_PITCH]) {
    const tmap_u32 y = threadIdx.x / (GRAM_D / 8), x = threadIdx.x % (GRAM_D / 8) * 8;
    from += y * GRAM_D + x;
#pragma unroll
    for (tmap_u32 row = 0; row < GRAM_SIDE; row += GRAM_THREADS / (GRAM_D / 8))
        *(uint4 *)&to[row + y][x] = *(const uint4 *)&from[row * GRAM_D];
}

TMAP_DEVICE void gram_multiply(__nv_bfloat16 (*rows)[GRAM_PITCH],
                               __nv_bfloat16 (*columns)[GRAM_PITCH], float *out, tmap_u32 n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using namespace nvcuda;
    enum { F = GRAM_F };
    wmma::fragment<wmma::matrix_a, F, F, F, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, F, F, F, __nv_bfloat16, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, F, F, F, float> sums[GRAM_SIDE / F];
    const tmap_u32 top = threadIdx.x / 32 * F;
#pragma unroll
    for (int c = 0; c < GRAM_SIDE / F; ++c) wmma::fill_fragment(sums[c], 0.0f);
#pragma unroll
    for (int k = 0; k < GRAM_D; k += F) {
        wmma::load_matrix_sync(a, &rows[top][k], GRAM_PITCH);
#pragma unroll
        for (int c = 0; c < GRAM_SIDE / F; ++c) {
            wmma::load_matrix_sync(b, &columns[c * F][k], GRAM_PITCH);
            wmma::mma_sync(sums[c], a, b, sums[c]);
        }
    }
    out += (tmap_u64)top * n;
#pragma unroll
    for (int c = 0; c < GRAM_SIDE / F; ++c)
        wmma::store_matrix_sync(&out[c * F], sums[c], n, wmma::mem_row_major);
#endif
}

// out = x x^T; n is a multiple of GRAM_SIDE. full: every tile, or those on and below the diagonal.
static __global__ void __launch_bounds__(GRAM_THREADS, 6)
    gram_kernel(const __nv_bfloat16 *x, tmap_u32 n, int full, float *out) {
    __shared__ alignas(32) __nv_bfloat16 rows[GRAM_SIDE][GRAM_PITCH];
    __shared__ alignas(32) __nv_bfloat16 columns[GRAM_SIDE][GRAM_PITCH];
    const tmap_u32 side = n / GRAM_SIDE;
    const tmap_u64 tiles = full ? (tmap_u64)side * side : tmap_triangle_tiles(n, GRAM_SIDE);
    for (tmap_u32 lambda = blockIdx.x; lambda < tiles; lambda += gridDim.x) {
        tmap_triangle_tile tile = tmap_triangle_tile_map(lambda, n, GRAM_SIDE);
        if (full) tile.i = lambda / side * GRAM_SIDE, tile.j = lambda % side * GRAM_SIDE;
        gram_stage(x + (tmap_u64)tile.i * GRAM_D, rows);
        gram_stage(x + (tmap_u64)tile.j * GRAM_D, columns);
        __syncthreads();
        gram_multiply(rows, columns, out + (tmap_u64)tile.i * n + tile.j, n);
        __syncthreads();
    }
}

// ---- verification -------------------------------------------------------------------------------

// Numbers from -1 to 1.
static __global__ void gram_numbers(tmap_u32 count, __nv_bfloat16 *x) {
    const tmap_u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 h = (at + 1) * 2654435769u;
    h = (h ^ h >> 15) * 2246822519u;
    if (at < count) x[at] = __float2bfloat16((float)(h >> 8) / 8388608.0f - 1.0f);
}

// Adds to *wrong how many places of row blockIdx.x are wrong.
static __global__ void gram_check(const __nv_bfloat16 *x, tmap_u32 n, int full, const float *out,
                                  tmap_u64 *wrong) {
    const tmap_u32 i = blockIdx.x, end = full ? n : (i / GRAM_SIDE + 1) * GRAM_SIDE;
    __shared__ float row[GRAM_D];
    for (tmap_u32 k = threadIdx.x; k < GRAM_D; k += blockDim.x)
        row[k] = __bfloat162float(x[(tmap_u64)i * GRAM_D + k]);
    __syncthreads();
    for (tmap_u32 j = threadIdx.x; j < n; j += blockDim.x) {
        const float got = out[(tmap_u64)i * n + j];
        float want = 0;
        if (j < end) {
            for (tmap_u32 k = 0; k < GRAM_D; ++k)
                want += row[k] * __bfloat162float(x[(tmap_u64)j * GRAM_D + k]);
            if (!(fabsf(got - want) < 1e-4f)) atomicAdd(wrong, 1ull);
        } else if (got == got) { // poison is not a number
            atomicAdd(wrong, 1ull);
        }
    }
}

// ---- in a size ----------------------------------------------------------------------------------

typedef struct gram_call {
    const __nv_bfloat16 *x;
    tmap_u32 n, blocks;
    int full;
    float *out;
} gram_call;

static void gram_run(void *context) {
    const gram_call *c = (const gram_call *)context;
    gram_kernel<<<c->blocks, GRAM_THREADS>>>(c->x, c->n, c->full, c->out);
    CHECK(cudaGetLastError());
}

// Runs a call once on poisoned memory and compares every product.
static void gram_verify(bench_row *row, gram_call *c) {
    CHECK(cudaMemset(c->out, 0xff, (size_t)c->n * c->n * sizeof *c->out));
    gram_run(c);
    gram_check<<<c->n, 128>>>(c->x, c->n, c->full, c->out, bench_counter());
    bench_verify(row, bench_count(), "products");
}

// Both variants, of n rows, rounded up to whole tiles. out: n x n floats.
static void gram_sweep(bench_driver *d, tmap_u32 n, float *out) {
    static const char *const names[2] = {"full", "triangle"};
    const double cells = (double)tmap_triangle_cells(n);
    double full_ms = 0;
    for (int variant = 0; variant < 2; ++variant) {
        bench_row row = bench_row_begin(d, "gram", names[variant], "triangle");
        const int mark = kit_mark();
        __nv_bfloat16 *x;
        tmap_facts facts;
        gram_call c = {NULL, n, 0, variant == 0, out};
        bench_key(&row, "size", "%u", n);
        bench_key(&row, "rho", "%d", GRAM_SIDE);
        bench_key(&row, "d", "%d", GRAM_D);
        bench_key_text(&row, "dtype", "bf16");
        if (!bench_wants(d, &row)) continue;
        CHECK(tmap_facts_get((const void *)gram_kernel, &facts));
        if (facts.device.capability < GRAM_CAPABILITY) {
            bench_left_out(&row, "compute capability below 8.0");
            continue;
        }
        c.blocks = tmap_resident_blocks(&facts, GRAM_THREADS, 0) * facts.device.processors;
        x = (__nv_bfloat16 *)kit_device((tmap_u64)n * GRAM_D * sizeof *x);
        gram_numbers<<<n * GRAM_D / 128, 128>>>(n * GRAM_D, x);
        CHECK(cudaGetLastError());
        c.x = x;
        gram_verify(&row, &c);
        row.rate = "tflops", row.unit = "TFLOP/s", row.each = 2e-9 * GRAM_D * cells;
        row.limit_ms = 4e-9 * cells / d->ceilings.fill_tbs;
        bench_time_row(&row, gram_run, &c);
        bench_key(&row, "blocks", "%u", c.blocks);
        bench_key(&row, "tiles", "%llu",
                  c.full ? (tmap_u64)(n / GRAM_SIDE) * (n / GRAM_SIDE)
                         : tmap_triangle_tiles(n, GRAM_SIDE));
        if (c.full) full_ms = row.time.ms;
        if (full_ms > 0) bench_key(&row, "i", "%.4f", full_ms / row.time.ms);
        bench_row_end(d, &row);
        kit_release(mark);
    }
}

#endif
