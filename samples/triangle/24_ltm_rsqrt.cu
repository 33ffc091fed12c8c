// SPDX-License-Identifier: MIT
// 24_ltm_rsqrt.cu: for how many rows the paper's LTM map g(lambda) is right with its square root by
// sqrtf (LTM-X), Newton's iteration (LTM-N) and rsqrtf (LTM-R), compared with the library's map.
//
// The map sends lambda to the pair
//     g(lambda) = (i, lambda - i(i+1)/2),     i = floor(sqrt(1/4 + 2 lambda) - 1/2).
// A root in single precision has 24 bits: from some row on the result can be a neighbouring row.
// The library's map corrects the row with one integer step and costs no more.
// nvcc -O3 -arch=native -I include samples/triangle/24_ltm_rsqrt.cu -o ltm_rsqrt
#include "../check.h"

#include <threadmap/papers/triangle_maps.h>

enum {
    ROWS = 20000, // that are tried
    THREADS = 256 // of a block
};

enum { LTM_X, LTM_N, LTM_R, LIBRARY, MAPS };

// [snippet: ltm-rsqrt]
// The paper's LTM-R, equation 16: sqrt(x) as x rsqrtf(x), and a small epsilon.
__device__ tmap_pair ltm_rsqrt(tmap_u32 lambda) {
    const float x = 0.25f + 2.0f * (float)lambda;
    tmap_pair p;
    p.i = (tmap_u32)(x * rsqrtf(x) - 0.5f + 1e-4f);
    p.j = lambda - p.i * (p.i + 1) / 2;
    return p;
}
// [/snippet]

__device__ tmap_pair pair_of(int map, tmap_u32 lambda) {
    switch (map) {
    case LTM_X: return tmap_triangle_map_sqrt(lambda);
    case LTM_N: return tmap_triangle_map_newton(lambda);
    case LTM_R: return ltm_rsqrt(lambda);
    default: return tmap_triangle_map(lambda);
    }
}

// first_wrong[map]: the first row in which the map sends lambda to another pair. Each thread tries
// the first and the last lambda of one row, where an inexact root first gives a neighbouring row.
__global__ void try_rows(tmap_u32 *first_wrong) {
    const tmap_u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS) return;

    const tmap_u32 lambda = row * (row + 1) / 2; // of pair (row, 0)
    for (int map = 0; map < MAPS; ++map) {
        const tmap_pair left = pair_of(map, lambda);
        const tmap_pair right = pair_of(map, lambda + row);
        const int ok = left.i == row && left.j == 0 && right.i == row && right.j == row;
        if (!ok) atomicMin(&first_wrong[map], row);
    }
}

int main(void) {
    const char *const names[MAPS] = {"LTM-X, sqrtf", "LTM-N, Newton", "LTM-R, rsqrtf", "library"};
    // At least this many rows are right on every machine. rsqrtf rounds in different ways: LTM-R is
    // right for 2055 rows on an H200.
    const tmap_u32 promised[MAPS] = {TMAP_TRIANGLE_ROWS_SQRT, TMAP_TRIANGLE_ROWS_NEWTON_UNFUSED,
                                     2000, ROWS};
    check_gpu();

    tmap_u32 rows[MAPS];
    for (int map = 0; map < MAPS; ++map) rows[map] = ROWS; // none is wrong yet
    tmap_u32 *first_wrong;
    CHECK(cudaMalloc((void **)&first_wrong, sizeof rows));
    CHECK(cudaMemcpy(first_wrong, rows, sizeof rows, cudaMemcpyHostToDevice));
    try_rows<<<(ROWS + THREADS - 1) / THREADS, THREADS>>>(first_wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(rows, first_wrong, sizeof rows, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(first_wrong));

    int wrong = 0;
    for (int map = 0; map < MAPS; ++map) {
        const char *all = rows[map] == ROWS ? ", all that were tried" : "";
        printf("%-13s  right for %5u rows%s\n", names[map], rows[map], all);
        wrong += rows[map] < promised[map];
    }
    return check_result("every map is right for the rows it promises", wrong);
}
