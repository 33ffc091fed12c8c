// SPDX-License-Identifier: MIT
// 03_fold_update.cu: reading at the cells of a fractal. tmap_update reads elements and then writes
// them, here a[c] *= s; tmap_fold makes one value of them, here their sum.
// nvcc -O3 -arch=native -I include samples/fractal/03_fold_update.cu -o fold_update
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

typedef struct matrix {
    int s, *a, *sum, *blocks; // blocks: what each block has, for tmap_fold_grid
} matrix;
// [snippet: update]
TMAP_DEVICE void read(void *m, tmap_cell c, void *v) { *(int *)v = ((matrix *)m)->a[c.at]; }
TMAP_DEVICE void scale(void *m, tmap_cell c, const void *v) { // after the reads of several cells
    ((matrix *)m)->a[c.at] = ((matrix *)m)->s * *(const int *)v;
}
__global__ void __launch_bounds__(512, 2) scale_cells(tmap_each_plan plan, matrix m) {
    tmap_update(&plan, read, scale, &m);
}
// [/snippet]
// [snippet: fold]
TMAP_DEVICE void add(void *, void *to, tmap_cell, const void *v) { *(int *)to += *(const int *)v; }
TMAP_DEVICE void join(void *, void *to, const void *v) { *(int *)to += *(const int *)v; }
__global__ void __launch_bounds__(512, 2) sum_cells(tmap_each_plan plan, matrix m) {
    __shared__ int scratch[32];
    int sum = 0, zero = 0;
    tmap_fold(&plan, m.a, sizeof *m.a, add, &sum, 0); // the cells of this thread, then all threads
    tmap_fold_grid(&sum, &zero, sizeof sum, join, 0, scratch, m.blocks, m.sum);
}
// [/snippet]

int main(void) {
    enum { R = 3, SIDE = 27, PLACES = SIDE * SIDE };
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_each_plan update, fold;
    matrix m;
    int devices, want = 0, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMallocManaged((void **)&m.a, (PLACES + 1) * sizeof *m.a));
    m.s = 4, m.sum = m.a + PLACES;
    for (int i = 0; i < PLACES; ++i) m.a[i] = i % SIDE < 14 ? 1 : 2; // left, right
    // [snippet: fold-launch]
    CHECK(tmap_update_plan_make(f, R, 0, (const void *)scale_cells, &update));
    CHECK(tmap_fold_plan_make(f, R, 0, (const void *)sum_cells, &fold));
    CHECK(cudaMalloc((void **)&m.blocks, tmap_fold_grid_bytes(&fold, sizeof *m.sum)));
    CHECK(cudaMemset(m.blocks, 0, 16)); // once; every launch leaves it so
    CHECK(tmap_each_launch(&update, &m, 0));
    CHECK(tmap_each_launch(&fold, &m, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        int cell = tmap_nbb_contains(f, i % SIDE, i / SIDE, R), before = i % SIDE < 14 ? 1 : 2;
        wrong += m.a[i] != (cell ? m.s : 1) * before, want += cell ? m.s * before : 0;
        printf(i % SIDE < SIDE - 1 ? "%d " : "%d\n", m.a[i]);
    }
    wrong += *m.sum != want;
    printf("cells times %d; their sum is %d: %s\n", m.s, *m.sum, wrong ? "WRONG" : "ok");
    return cudaFree(m.a) || cudaFree(m.blocks) || wrong;
}
