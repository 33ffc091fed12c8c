// SPDX-License-Identifier: MIT
// 24_ltm_rsqrt.cu: the map g(lambda) of the paper's LTM, with its root by sqrtf (X), by Newton's
// iteration (N) and by rsqrtf (R), beside the exact map of this library.
//
// A kernel computes i = floor(sqrt(1/4 + 2 lambda) - 1/2) and j = lambda - i(i+1)/2 for the first
// and the last lambda of every row. A root of single precision has 24 bits, so that from some row
// on it gives the row before or after. The exact map adds one integer correction, at no more cost.
// nvcc -O3 -arch=native -I include samples/triangle/24_ltm_rsqrt.cu -o ltm_rsqrt
#include <threadmap/papers/triangle_maps.h>
#include <stdio.h>

#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { ROWS = 20000, MAPS = 4 };

// [snippet: ltm-rsqrt]
// The paper's LTM-R, equation 16: sqrt(x) as x rsqrtf(x), and a small epsilon.
__device__ tmap_pair ltm_rsqrt(tmap_u32 lambda) {
    float x = 0.25f + 2.0f * (float)lambda;
    tmap_pair p;
    p.i = (tmap_u32)(x * rsqrtf(x) - 0.5f + 1e-4f);
    p.j = lambda - p.i * (p.i + 1) / 2;
    return p;
}
// [/snippet]

__device__ tmap_pair map_of(int form, tmap_u32 lambda) {
    if (form == 0) return tmap_triangle_map_sqrt(lambda);
    if (form == 1) return tmap_triangle_map_newton(lambda);
    if (form == 2) return ltm_rsqrt(lambda);
    return tmap_triangle_map(lambda);
}

// first[form]: the first row with a cell that the map puts elsewhere.
__global__ void first_wrong_rows(tmap_u32 *first) {
    tmap_u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS) return;
    tmap_u32 begin = row * (row + 1) / 2;
    for (int form = 0; form < MAPS; ++form) {
        tmap_pair a = map_of(form, begin);
        tmap_pair b = map_of(form, begin + row);
        int right = a.i == row && a.j == 0 && b.i == row && b.j == row;
        if (!right) atomicMin(&first[form], row);
    }
}

int main(void) {
    const char *const name[MAPS] = {"LTM-X, sqrtf", "LTM-N, Newton", "LTM-R, rsqrtf", "exact"};
    // rsqrtf rounds in its own way on each machine: 2055 rows on an H200.
    const tmap_u32 promised[MAPS] = {TMAP_TRIANGLE_ROWS_SQRT, TMAP_TRIANGLE_ROWS_NEWTON_UNFUSED,
                                     2000, ROWS};
    tmap_u32 got[MAPS];
    tmap_u32 *first;
    int devices;
    int wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;

    for (int form = 0; form < MAPS; ++form) got[form] = ROWS;
    CHECK(cudaMalloc((void **)&first, sizeof got));
    CHECK(cudaMemcpy(first, got, sizeof got, cudaMemcpyHostToDevice));
    first_wrong_rows<<<(ROWS + 255) / 256, 256>>>(first);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, first, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(first));

    for (int form = 0; form < MAPS; ++form) {
        printf("%-13s  right for %5u rows%s\n", name[form], got[form],
               got[form] == ROWS ? ", all that were tried" : "");
        wrong += got[form] < promised[form];
    }
    printf("every map is right for the rows that are promised: %s\n", wrong ? "WRONG" : "ok");
    return wrong;
}
