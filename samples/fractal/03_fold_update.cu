// SPDX-License-Identifier: MIT
// 03_fold_update.cu: reading at the cells of a fractal. tmap_each_update reads elements and then writes
// them, here a[c] *= s; tmap_each_fold makes one value of them, here their sum.
// nvcc -O3 -arch=native -I include samples/fractal/03_fold_update.cu -o fold_update
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

// [snippet: update]
typedef struct scaling {
    int *a, s;
} scaling;

TMAP_DEVICE void read(void *job, tmap_cell cell, void *value) {
    *(int *)value = ((scaling *)job)->a[cell.at];
}
TMAP_DEVICE void scale(void *job, tmap_cell cell, const void *value) { // after several cells' reads
    scaling *j = (scaling *)job;
    j->a[cell.at] = j->s * *(const int *)value;
}
__global__ void __launch_bounds__(512, 2) scale_cells(tmap_each_plan plan, scaling j) {
    tmap_each_update(&plan, read, scale, &j);
}
// [/snippet]

// [snippet: fold]
typedef struct summing {
    const int *a;
    tmap_fold_to to;
} summing;

TMAP_DEVICE void add(void *, void *sum, tmap_cell, const void *value) { // an element to a sum
    *(int *)sum += *(const int *)value;
}
TMAP_DEVICE void join(void *, void *sum, const void *other) { // another thread's sum
    *(int *)sum += *(const int *)other;
}
__global__ void __launch_bounds__(512, 2) sum_cells(tmap_each_plan plan, summing j) {
    const int zero = 0;
    const tmap_array a = {j.a, sizeof *j.a};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_each_fold(&plan, a, add, fold, j.to, &j);
}
// [/snippet]

int main(void) {
    enum { R = 3, SIDE = 27, PLACES = SIDE * SIDE };
    const tmap_nbb f = tmap_fractal_carpet();
    int devices, *a, *result, want = 0, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMallocManaged((void **)&a, PLACES * sizeof *a));
    CHECK(cudaMallocManaged((void **)&result, sizeof *result));
    for (int i = 0; i < PLACES; ++i) a[i] = i % SIDE < 14 ? 1 : 2; // left, right

    tmap_each_plan update, fold;
    scaling times = {a, 4};
    summing sum = {a, {NULL, result}};
    // [snippet: fold-launch]
    CHECK(tmap_each_update_plan_make(f, R, 0, (const void *)scale_cells, &update));
    CHECK(tmap_each_fold_plan_make(f, R, 0, (const void *)sum_cells, &fold));
    const tmap_u64 bytes = tmap_each_fold_bytes(&fold, sizeof *result);
    CHECK(cudaMalloc(&sum.to.workspace, bytes));
    CHECK(cudaMemset(sum.to.workspace, 0, bytes)); // once; every launch leaves it as it must be

    CHECK(tmap_each_launch(&update, &times, 0));
    CHECK(tmap_each_launch(&fold, &sum, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    for (tmap_u32 i = 0; i < PLACES; ++i) {
        const int cell = tmap_nbb_contains(f, i % SIDE, i / SIDE, R);
        const int before = i % SIDE < 14 ? 1 : 2;
        wrong += a[i] != (cell ? times.s : 1) * before;
        want += cell ? times.s * before : 0;
        printf(i % SIDE < SIDE - 1 ? "%d " : "%d\n", a[i]);
    }
    wrong += *result != want;
    printf("cells times %d; their sum is %d: %s\n", times.s, *result, wrong ? "WRONG" : "ok");
    return cudaFree(a) || cudaFree(result) || cudaFree(sum.to.workspace) || wrong;
}
