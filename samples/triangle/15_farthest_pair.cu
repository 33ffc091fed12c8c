// SPDX-License-Identifier: MIT
// 15_farthest_pair.cu: one value of all pairs of points by tmap_pairs_fold: the farthest pair.
// nvcc -O3 -arch=native -I include samples/triangle/15_farthest_pair.cu -o farthest_pair
#include <stdio.h>
#include <threadmap/triangle.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { N = 1600 };
// [snippet: farthest-pair]
typedef struct best { // what a thread has seen
    float squared;
    tmap_pair pair;
} best;
typedef struct farthest {
    float *points;
    tmap_fold_to to; // where the best pair goes, and memory for the engine
} farthest;
TMAP_FN float squared(const float *u, const float *v) {
    return (u[0] - v[0]) * (u[0] - v[0]) + (u[1] - v[1]) * (u[1] - v[1]);
}
TMAP_DEVICE void join(void *, void *mine, const void *other) {
    if (((const best *)other)->squared > ((best *)mine)->squared) *(best *)mine = *(best *)other;
}
TMAP_DEVICE void look(void *, void *mine, tmap_pair pair, const void *a, const void *b) {
    const best here = {squared((const float *)a, (const float *)b), pair};
    join(0, mine, &here);
}
__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) find(tmap_pairs_plan plan, farthest f) {
    const best none = {-1, {0, 0}};
    const tmap_points points = {f.points, 0, sizeof(float), 2};
    const tmap_fold farther = {&none, sizeof none, join};
    tmap_pairs_fold(&plan, points, look, farther, f.to, 0);
}
// [/snippet]
int main(void) {
    tmap_pairs_plan plan;
    farthest f;
    int devices, wrong = 0, most = 0; // all numbers are whole, and below 2^24
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMallocManaged((void **)&f.points, 2 * N * sizeof(float)));
    for (tmap_u32 i = 0; i < 2 * N; ++i) f.points[i] = (float)(i * i * 2654435769u >> 22);
    // [snippet: farthest-pair-launch]
    CHECK(tmap_pairs_plan_make(N, 2, sizeof(float), (const void *)find, &plan)); // once
    CHECK(cudaMalloc(&f.to.workspace, tmap_pairs_fold_bytes(&plan, sizeof(best))));
    CHECK(cudaMemset(f.to.workspace, 0, tmap_pairs_fold_clear(&plan))); // once
    CHECK(cudaMallocManaged(&f.to.result, sizeof(best)));
    const best *found = (const best *)f.to.result;
    // [/snippet]
    for (int rows = 100; rows <= N; rows *= 2) { // pairs whose first point is one of these
        CHECK(tmap_pairs_plan_rows(&plan, (tmap_u32)rows));
        CHECK(tmap_pairs_launch(&plan, &f, 0) || cudaDeviceSynchronize());
        const float *a = f.points + 2 * found->pair.i, *b = f.points + 2 * found->pair.j;
        for (int i = 0; i < rows * N; ++i)
            most = max(most, (int)squared(f.points + 2 * (i / N), f.points + 2 * (i % N)));
        wrong += found->squared != (float)most || squared(a, b) != (float)most;
        printf("%4d of %d: (%4g, %4g) and (%4g, %4g)\n", rows, N, a[0], a[1], b[0], b[1]);
    }
    printf("the farthest of all: %s\n", wrong ? "WRONG" : "ok");
    return cudaFree(f.points) || cudaFree(f.to.workspace) || cudaFree(f.to.result) || wrong;
}
