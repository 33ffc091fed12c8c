// SPDX-License-Identifier: MIT
// 03_reduction.cu: reading at the cells of a fractal. tmap_each_fold makes one value of all cells,
// here their sum: the test RD (reduction) of Navarro et al., FGCS 113 (2020), section 6.2. Before
// that, tmap_each_update reads elements and then writes them, here a[c] = factor * a[c].
//
// Places of the matrix that are no cells keep their value and are not in the sum.
// nvcc -O3 -arch=native -I include samples/fractal/03_reduction.cu -o reduction
#include "../check.h"

#include <threadmap/fractal.h>

enum {
    R = 3,     // level of the fractal
    SIDE = 27, // of the matrix: 3^R
    PLACES = SIDE * SIDE
};

// [snippet: update]
typedef struct scaling {
    int *a;
    int factor;
} scaling;

TMAP_DEVICE void read(void *job, tmap_cell cell, void *value) {
    const scaling *j = (const scaling *)job;
    *(int *)value = j->a[cell.at];
}

TMAP_DEVICE void scale(void *job, tmap_cell cell, const void *value) { // after several cells' reads
    scaling *j = (scaling *)job;
    j->a[cell.at] = j->factor * *(const int *)value;
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

// Element i at the start: 1 in the left half of the matrix, 2 in the right half.
static int start(int i) { return i % SIDE < SIDE / 2 + 1 ? 1 : 2; }

// Counts the wrong elements (only cells are scaled), and one more if the sum is wrong.
static int check_places(tmap_nbb f, int factor, const int *a, int sum) {
    int wrong = 0;
    int want = 0;
    for (int i = 0; i < PLACES; ++i) {
        const int cell = tmap_nbb_contains(f, (tmap_u32)i % SIDE, (tmap_u32)i / SIDE, R);
        wrong += a[i] != (cell ? factor * start(i) : start(i));
        if (cell) want += factor * start(i);
    }
    return wrong + (sum != want);
}

int main(void) {
    const tmap_nbb f = tmap_fractal_carpet();
    check_gpu();

    int *a;
    CHECK(cudaMallocManaged((void **)&a, PLACES * sizeof *a));
    for (int i = 0; i < PLACES; ++i) a[i] = start(i);
    const scaling times = {a, 4};
    summing sum = {a, {NULL, NULL}};

    // [snippet: fold-launch]
    tmap_each_plan update;
    tmap_each_plan fold;
    CHECK(tmap_each_plan_make(TMAP_EACH_UPDATE, f, R, 0, (const void *)scale_cells, &update));
    CHECK(tmap_each_plan_make(TMAP_EACH_FOLD, f, R, 0, (const void *)sum_cells, &fold));
    const tmap_u64 bytes = tmap_each_fold_bytes(&fold, sizeof(int));
    CHECK(cudaMalloc(&sum.to.workspace, bytes));
    CHECK(cudaMemset(sum.to.workspace, 0, bytes)); // once: each launch leaves it cleared
    CHECK(cudaMallocManaged(&sum.to.result, sizeof(int)));

    CHECK(tmap_each_launch(&update, &times, 0));
    CHECK(tmap_each_launch(&fold, &sum, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    const int result = *(const int *)sum.to.result;
    puts("the matrix: cells are multiplied by 4, places that are no cells stay 1 or 2");
    for (int i = 0; i < PLACES; ++i) printf("%d%c", a[i], i % SIDE == SIDE - 1 ? '\n' : ' ');
    printf("the sum of the %llu cells is %d\n", tmap_nbb_cells(f, R), result);
    const int wrong = check_places(f, times.factor, a, result);
    CHECK(cudaFree(a));
    CHECK(cudaFree(sum.to.result));
    CHECK(cudaFree(sum.to.workspace));
    return check_result("cells scaled and summed", wrong);
}
