// SPDX-License-Identifier: MIT
// 03_fold_update.cu: a matrix that is read at the cells of a fractal. tmap_update reads elements and
// then writes them, here a[c] *= s; tmap_fold folds them into one value, here their sum.
// nvcc -arch=native -I include samples/fractal/03_fold_update.cu -o fold_update && ./fold_update
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

typedef struct matrix {
    int s, *a, *sum, *blocks; // blocks: for tmap_fold_grid, what each block has
} matrix;
// [snippet: update]
TMAP_DEVICE void load(void *m, tmap_cell c, void *v) { *(int *)v = ((matrix *)m)->a[c.at]; }
TMAP_DEVICE void store(void *m, tmap_cell c, const void *v) { // after the reads of several cells
    ((matrix *)m)->a[c.at] = ((matrix *)m)->s * *(const int *)v;
}
__global__ void __launch_bounds__(512, 2) scale_cells(tmap_each_plan plan, matrix m) {
    tmap_update(&plan, load, store, &m);
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
    enum { R = 3, SIDE = 27, BYTES = SIDE * SIDE * sizeof(int) }; // 3^3
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_each_plan update, fold;
    matrix m = {4, NULL, NULL, NULL};
    int devices, want = 0, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMallocManaged((void **)&m.a, BYTES + sizeof *m.sum));
    m.sum = m.a + SIDE * SIDE;
    for (int i = 0; i < SIDE * SIDE; ++i) m.a[i] = 1 + i % SIDE / 14; // 1, on the right 2
    // [snippet: fold-launch]
    CHECK(tmap_update_plan_make(f, R, 0, (const void *)scale_cells, &update));
    CHECK(tmap_fold_plan_make(f, R, 0, (const void *)sum_cells, &fold));
    CHECK(cudaMalloc((void **)&m.blocks, tmap_fold_grid_bytes(&fold, sizeof *m.sum)));
    CHECK(cudaMemset(m.blocks, 0, 16)); // once; launches leave it so
    CHECK(tmap_each_launch(&update, &m, 0));
    CHECK(tmap_each_launch(&fold, &m, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    for (tmap_u32 i = 0; i < SIDE * SIDE; ++i) {
        const int cell = tmap_nbb_contains(f, i % SIDE, i / SIDE, R), value = 1 + i % SIDE / 14;
        wrong += m.a[i] != (cell ? m.s : 1) * value, want += cell ? m.s * value : 0;
        printf(i % SIDE == SIDE - 1 ? "%d\n" : "%d ", m.a[i]);
    }
    wrong += *m.sum != want;
    printf("cells times %d; their sum is %d: %s\n", m.s, *m.sum, wrong ? "WRONG" : "verified");
    return cudaFree(m.a) || cudaFree(m.blocks) || wrong;
}
