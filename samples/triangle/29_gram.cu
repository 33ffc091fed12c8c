// SPDX-License-Identifier: MIT
// 29_gram.cu: the lower triangle of a product A B^T on tensor cores, tile by tile, as machine learning
// has it: the Gram matrix X X^T, or the queries and keys of causal attention.
//
// The tiles on and below the diagonal are numbered by the map g(lambda). As many blocks as the GPU
// holds at once take them in turn; no block has more than one tile more than another. The same kernel
// also takes all tiles of the square, for comparison. Sums have a fixed order, so results are the same
// in every run. Tiles on the diagonal are computed and written whole.
//
// The map is exact. A row from a root in single precision, ceil(sqrt(2 lambda + 9/4) - 1/2) - 1, as
// some schedulers of tiles have it, is not: the sample counts for how many numbers it is wrong.
// nvcc -O3 -arch=native -I include samples/triangle/29_gram.cu -o gram
#include "../check.h"

#include <threadmap/launch.h>
#include <threadmap/triangle/map.h>

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;
typedef __nv_bfloat16 bfloat;

enum {
    MOST = 8192,       // rows of A and B
    D = 128,           // numbers in a row of A and B
    SIDE = 64,         // of a tile
    F = 16,            // side of the matrices that a warp multiplies
    THREADS = 128,     // of a block: a warp for 16 rows of a tile
    PITCH = D + 8,     // of a row in shared memory, so that 8 rows are in different banks
    LAUNCHES = 10,     // that are timed
    NUMBERS = 12500000 // of tiles, for which a root is tried
};

// Copies SIDE rows to shared memory; each thread 16 bytes of every eighth row.
__device__ void stage(const bfloat *from, bfloat (*to)[PITCH]) {
    const tmap_u32 y = threadIdx.x / (D / 8);
    const tmap_u32 x = threadIdx.x % (D / 8) * 8;
    from += y * D + x;
    for (tmap_u32 row = 0; row < SIDE; row += THREADS / (D / 8))
        *(uint4 *)&to[row + y][x] = *(const uint4 *)&from[row * D];
}

// out[r][c] = rows[r] . columns[c] for a tile; rows of `out` are n apart.
__device__ void multiply(bfloat (*rows)[PITCH], bfloat (*columns)[PITCH], float *out, tmap_u32 n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 // older tensor cores have no bfloat16
    wmma::fragment<wmma::matrix_a, F, F, F, bfloat, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, F, F, F, bfloat, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, F, F, F, float> sums[SIDE / F];
    const tmap_u32 top = threadIdx.x / 32 * F;
    for (int c = 0; c < SIDE / F; ++c) wmma::fill_fragment(sums[c], 0.0f);
#pragma unroll
    for (int k = 0; k < D; k += F) {
        wmma::load_matrix_sync(a, &rows[top][k], PITCH);
        for (int c = 0; c < SIDE / F; ++c) {
            wmma::load_matrix_sync(b, &columns[c * F][k], PITCH);
            wmma::mma_sync(sums[c], a, b, sums[c]);
        }
    }
    out += (tmap_u64)top * n;
    for (int c = 0; c < SIDE / F; ++c)
        wmma::store_matrix_sync(&out[c * F], sums[c], n, wmma::mem_row_major);
#endif
}

// out = a b^T, n x n. n: a multiple of SIDE. all: also the tiles above the diagonal.
__global__ void __launch_bounds__(THREADS, 6)
    gram(const bfloat *a, const bfloat *b, tmap_u32 n, int all, float *out) {
    __shared__ alignas(32) bfloat rows[SIDE][PITCH];
    __shared__ alignas(32) bfloat columns[SIDE][PITCH];
    const tmap_u32 side = n / SIDE;
    const tmap_u64 tiles = all ? (tmap_u64)side * side : tmap_triangle_tiles(n, SIDE);
    for (tmap_u32 lambda = blockIdx.x; lambda < tiles; lambda += gridDim.x) {
        const tmap_triangle_tile tile = tmap_triangle_tile_map(lambda, n, SIDE);
        const tmap_u64 i = all ? lambda / side * SIDE : tile.i;
        const tmap_u64 j = all ? lambda % side * SIDE : tile.j;
        stage(&a[i * D], rows);
        stage(&b[j * D], columns);
        __syncthreads();
        multiply(rows, columns, &out[i * n + j], n);
        __syncthreads(); // `rows` and `columns` are free
    }
}

// Compares rows with the host's, which are exact, as are the kernel's: whole numbers below 2^24.
// Nothing may be written above the triangle's tiles. Of a large result every 37th row.
static tmap_u64 wrong_values(const bfloat *x, tmap_u32 n, int all, const float *out) {
    static float got[MOST];
    tmap_u64 wrong = 0;
    for (tmap_u32 i = 0; i<n; i += n> 1024 ? 37 : 1) {
        CHECK(cudaMemcpy(got, out + (tmap_u64)i * n, n * sizeof *got, cudaMemcpyDeviceToHost));
        for (tmap_u32 j = 0; j < n; ++j) {
            float want = 0;
            for (tmap_u32 k = 0; k < D; ++k)
                want += __bfloat162float(x[i * D + k]) * __bfloat162float(x[j * D + k]);
            wrong += all || j / SIDE <= i / SIDE ? got[j] != want : got[j] == got[j];
        }
    }
    return wrong;
}

// low: the root is one place too small, as approximate roots may be.
static void try_root(int low) {
    tmap_u32 wrong = 0;
    tmap_u32 first = 0;
    for (tmap_u32 lambda = NUMBERS; lambda-- > 0;) {
        float root = sqrtf(2.0f * (float)lambda + 2.25f);
        if (low) root = nextafterf(root, 0.0f);
        if ((tmap_u32)ceilf(root - 0.5f) - 1 == tmap_triangle_map(lambda).i) continue;
        first = lambda;
        ++wrong;
    }
    printf("a root%s: wrong for %u of %u tiles, first for number %u in row %u\n",
           low ? ", one place low" : "", wrong, NUMBERS, first, tmap_triangle_map(first).i);
}

int main(void) {
    static bfloat host[MOST * D];
    check_gpu();
    tmap_facts facts;
    CHECK(tmap_facts_get((const void *)gram, &facts));
    if (facts.device.capability < 80) {
        puts("SKIP: tensor cores have bfloat16 from compute capability 8.0 on");
        return 77;
    }
    const tmap_u32 n = facts.device.processors > 3 ? MOST : 512; // the CPU machine has 3
    const unsigned blocks = tmap_resident_blocks(&facts, THREADS, 0) * facts.device.processors;

    for (tmap_u32 k = 0; k < n * D; ++k) host[k] = __float2bfloat16((float)(k * 37 % 201) - 100.0f);
    bfloat *x;
    float *out;
    cudaEvent_t event[2];
    CHECK(cudaMalloc((void **)&x, n * D * sizeof *x));
    CHECK(cudaMalloc((void **)&out, (size_t)n * n * sizeof *out));
    CHECK(cudaMemcpy(x, host, n * D * sizeof *x, cudaMemcpyHostToDevice));
    for (int e = 0; e < 2; ++e) CHECK(cudaEventCreate(&event[e]));

    tmap_u64 wrong = 0;
    float ms[2]; // of all launches
    for (int all = 0; all < 2; ++all) {
        CHECK(cudaMemset(out, 0xff, (size_t)n * n * sizeof *out)); // not a number
        gram<<<blocks, THREADS>>>(x, x, n, all, out);
        CHECK(cudaEventRecord(event[0], 0));
        for (int k = 0; k < LAUNCHES; ++k) gram<<<blocks, THREADS>>>(x, x, n, all, out);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(event[1], 0));
        CHECK(cudaEventSynchronize(event[1]));
        CHECK(cudaEventElapsedTime(&ms[all], event[0], event[1]));
        wrong += wrong_values(host, n, all, out);
    }
    printf("X X^T of %u rows: %llu tiles of side %d, %u blocks\n", n,
           tmap_triangle_tiles(n, SIDE), SIDE, blocks);
    printf("%d tiles in the square\n", n / SIDE * (n / SIDE));
    if (n == MOST) // times of the CPU machine say nothing
        printf("%.4f ms, all tiles %.4f ms, ratio %.3f\n", ms[0] / LAUNCHES, ms[1] / LAUNCHES,
               ms[1] / ms[0]);
    for (int low = 0; low < 2; ++low) try_root(low);

    for (int e = 0; e < 2; ++e) CHECK(cudaEventDestroy(event[e]));
    CHECK(cudaFree(x));
    CHECK(cudaFree(out));
    return check_result("the triangle's products, and all", wrong);
}
