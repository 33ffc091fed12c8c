// SPDX-License-Identifier: MIT
// cholesky_work.h: the Cholesky factor L of a symmetric n x n matrix A = L L^T in floats, by tiles of
// 16 x 16 with a thread for each cell. The td-problem is the triangle behind a step, updated by one
// launch: block lambda takes tile g(lambda) (ltm_exact), or leaves if its tile is above the diagonal
// (bb).
//
// A step factors a tile of the diagonal, solves for the tiles below it, and subtracts their products
// from the triangle behind them. The first one reads A, others read what is there of L. L has whole
// numbers, so each sum is a whole number below 2^24, roots and quotients are exact, and L must come
// out bit by bit.
#ifndef BENCH_TRIANGLE_CHOLESKY_WORK_H
#define BENCH_TRIANGLE_CHOLESKY_WORK_H

#include "../driver.h"

#include <threadmap/triangle/map.h>

enum { CHOLESKY_SIDE = 16 }; // of a tile; n is a multiple of it

typedef struct cholesky_call {
    const float *a;
    float *l;
    tmap_u32 n;
    int bb;
} cholesky_call;

// Of column `step` of tiles: the one on the diagonal, or those below it, a block each.
static __global__ void cholesky_column(const float *from, float *l, tmap_u32 n, tmap_u32 step,
                                       int below) {
    __shared__ float diagonal[CHOLESKY_SIDE][CHOLESKY_SIDE + 1], own[16][CHOLESKY_SIDE + 1];
    float(*d)[CHOLESKY_SIDE + 1] = below ? diagonal : own;
    const tmap_u32 x = threadIdx.x, y = threadIdx.y, j = step * CHOLESKY_SIDE;
    const tmap_u64 at = (j + (below + blockIdx.x) * CHOLESKY_SIDE + y) * (tmap_u64)n + j + x;
    if (below) d[y][x] = l[(j + y) * (tmap_u64)n + j + x];
    own[y][x] = from[at];
    for (tmap_u32 c = 0; c < CHOLESKY_SIDE; ++c) {
        __syncthreads();
        const float root = below ? d[c][c] : sqrtf(d[c][c]);
        __syncthreads();
        if (x == c && (below || y >= c)) own[y][c] = below || y > c ? own[y][c] / root : root;
        __syncthreads();
        if (x > c && (below || y >= x)) own[y][x] -= own[y][c] * d[x][c];
    }
    l[at] = own[y][x];
}

// The triangle behind column `step` of tiles.
static __global__ void cholesky_update(const float *from, float *l, tmap_u32 n, tmap_u32 step,
                                       int bb) {
    __shared__ float rows[CHOLESKY_SIDE][CHOLESKY_SIDE + 1], columns[16][CHOLESKY_SIDE + 1];
    const tmap_u32 x = threadIdx.x, y = threadIdx.y, first = (step + 1) * CHOLESKY_SIDE;
    tmap_pair tile = {blockIdx.y, blockIdx.x};
    if (!bb) tile = tmap_triangle_map(blockIdx.x);
    if (tile.j > tile.i) return;
    const tmap_u64 i = first + tile.i * CHOLESKY_SIDE, j = first + tile.j * CHOLESKY_SIDE;
    rows[y][x] = l[(i + y) * n + step * CHOLESKY_SIDE + x];
    columns[y][x] = l[(j + y) * n + step * CHOLESKY_SIDE + x];
    __syncthreads();
    float rest = from[(i + y) * n + j + x];
    for (tmap_u32 k = 0; k < CHOLESKY_SIDE; ++k) rest -= rows[y][k] * columns[x][k];
    l[(i + y) * n + j + x] = rest;
}

static void cholesky_run(void *context) {
    const cholesky_call *c = (const cholesky_call *)context;
    const dim3 block(CHOLESKY_SIDE, CHOLESKY_SIDE);
    const float *from = c->a;
    for (tmap_u32 step = 0, rows = c->n / CHOLESKY_SIDE; rows--; ++step, from = c->l) {
        cholesky_column<<<1, block>>>(from, c->l, c->n, step, 0);
        if (!rows) break;
        cholesky_column<<<rows, block>>>(from, c->l, c->n, step, 1);
        cholesky_update<<<c->bb ? dim3(rows, rows) : dim3((unsigned)tmap_triangle_cells(rows)),
                          block>>>(from, c->l, c->n, step, c->bb);
    }
    CHECK(cudaGetLastError());
}

// L: -2 to 2, on the diagonal 1 to 3.
TMAP_DEVICE int cholesky_value(tmap_u32 i, tmap_u32 j) {
    tmap_u32 h = (i * 40503u + j + 1) * 2654435769u;
    h = (h ^ h >> 15) * 2246822519u;
    return i == j ? 1 + (int)((h >> 8) % 3) : (int)((h >> 8) % 5) - 2;
}

// A by its definition, or, with `wrong`, how many numbers of L are wrong, those in tiles above the
// diagonal's too: nothing writes them.
static __global__ void cholesky_numbers(cholesky_call c, float *a, tmap_u64 *wrong) {
    BENCH_EACH(at, (tmap_u64)c.n * c.n) {
        const tmap_u32 i = (tmap_u32)(at / c.n), j = (tmap_u32)(at % c.n);
        int want = j <= i && wrong ? cholesky_value(i, j) : 0;
        for (tmap_u32 k = 0; k <= j && j <= i && a; ++k)
            want += cholesky_value(i, k) * cholesky_value(j, k);
        if (a) a[at] = (float)want;
        if (wrong && (j <= i ? c.l[at] != (float)want
                             : j / CHOLESKY_SIDE > i / CHOLESKY_SIDE && c.l[at] == c.l[at]))
            atomicAdd(wrong, 1ull);
    }
}

// Both variants, of n rows. l: n x n floats.
static void cholesky_sweep(bench_driver *d, tmap_u32 n, float *l) {
    const size_t bytes = (size_t)n * n * sizeof *l;
    const int mark = kit_mark();
    cholesky_call c = {NULL, l, n, 1};
    double bb_ms = 0;
    for (; c.bb >= 0; --c.bb) {
        bench_row row = bench_row_begin(d, "cholesky", c.bb ? "bb" : "ltm_exact", "triangle");
        bench_key(&row, "size", "%u", n);
        bench_key(&row, "rho", "%d", CHOLESKY_SIDE);
        bench_key_text(&row, "dtype", "f32");
        if (!bench_wants(d, &row)) continue;
        if (!c.a) {
            float *a = (float *)kit_device(bytes);
            cholesky_numbers<<<4096, 256>>>(c, a, NULL);
            c.a = a;
        }
        CHECK(cudaMemset(l, 0xff, bytes)); // not a number
        cholesky_run(&c);
        cholesky_numbers<<<4096, 256>>>(c, NULL, bench_counter());
        bench_verify(&row, bench_count(), "numbers");
        row.rate = "tflops", row.unit = "TFLOP/s", row.each = 1e-9 / 3 * n * n * n;
        bench_time_row(&row, cholesky_run, &c);
        if (c.bb) bb_ms = row.time.ms;
        if (bb_ms > 0) bench_key(&row, "i", "%.4f", bb_ms / row.time.ms);
        bench_row_end(d, &row);
    }
    kit_release(mark);
}

#endif
