// SPDX-License-Identifier: MIT
// 15_farthest_pair.cu: one value from all pairs of n points (tmap_pairs_fold). Here it is the pair
// that is farthest apart.
//
// Each thread keeps the farthest of its pairs in an accumulator. The engine joins the accumulators
// of all threads with your function `join`, in an order that does not depend on the grid.
// nvcc -O3 -arch=native -I include samples/triangle/15_farthest_pair.cu -o farthest_pair
#include "../check.h"

#include <threadmap/triangle.h>

enum { N = 1600 }; // points

TMAP_FN float squared_distance(const float *a, const float *b) {
    const float x = a[0] - b[0];
    const float y = a[1] - b[1];
    return x * x + y * y;
}

// [snippet: farthest-pair]
typedef struct best { // the accumulator: the farthest pair so far
    float squared;    // its distance
    tmap_pair pair;
} best;

typedef struct farthest {
    const float *points; // x, y of each
    tmap_fold_to to;     // the result, and workspace for the engine
} farthest;

TMAP_DEVICE void join(void *, void *mine, const void *other) {
    if (((const best *)other)->squared > ((best *)mine)->squared) *(best *)mine = *(best *)other;
}

TMAP_DEVICE void visit(void *, void *mine, tmap_pair pair, const void *a, const void *b) {
    const best here = {squared_distance((const float *)a, (const float *)b), pair};
    join(NULL, mine, &here);
}

__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) find(tmap_pairs_plan plan, farthest f) {
    const tmap_points points = {f.points, 0, sizeof(float), 2}; // one set, 2 coordinates
    const best none = {-1, {0, 0}};                             // less than any pair
    const tmap_fold farther = {&none, sizeof none, join};
    tmap_pairs_fold(&plan, points, visit, farther, f.to, 0);
}
// [/snippet]

// The largest squared distance from one of the first `rows` points to any point.
static float farthest_on_host(float points[N][2], int rows) {
    float most = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < N; ++j) most = fmaxf(most, squared_distance(points[i], points[j]));
    return most;
}

// Prints a pair, and returns 0 if it is as far apart as the farthest pair that the host finds.
static int check_pair(float points[N][2], best found, int rows) {
    const float *a = points[found.pair.i];
    const float *b = points[found.pair.j];
    printf("from the first %4d points to all: (%4g, %4g) to (%4g, %4g), %.2f apart\n", rows, a[0],
           a[1], b[0], b[1], sqrtf(found.squared));
    const float want = farthest_on_host(points, rows);
    return found.squared != want || squared_distance(a, b) != want;
}

int main(void) {
    static float points[N][2];
    check_gpu();

    // Whole numbers below 2^10, so that floats hold all squared distances exactly.
    for (tmap_u32 i = 0; i < N; ++i)
        for (tmap_u32 k = 0; k < 2; ++k) {
            const tmap_u32 number = 2 * i + k;
            points[i][k] = (float)(number * number * 2654435769u >> 22);
        }
    farthest f;
    CHECK(cudaMalloc((void **)&f.points, sizeof points));
    CHECK(cudaMemcpy((void *)f.points, points, sizeof points, cudaMemcpyHostToDevice));

    // [snippet: farthest-pair-launch]
    tmap_pairs_plan plan;
    CHECK(tmap_pairs_plan_make(N, 2, sizeof(float), (const void *)find, &plan)); // once
    CHECK(cudaMalloc(&f.to.workspace, tmap_pairs_fold_bytes(&plan, sizeof(best))));
    CHECK(cudaMemset(f.to.workspace, 0, tmap_pairs_fold_clear(&plan))); // once
    CHECK(cudaMalloc(&f.to.result, sizeof(best)));

    best found;
    CHECK(tmap_pairs_launch(&plan, &f, 0));
    CHECK(cudaMemcpy(&found, f.to.result, sizeof found, cudaMemcpyDeviceToHost));
    // [/snippet]
    int wrong = check_pair(points, found, N);

    // The same plan, restricted to pairs with i < rows. It has fewer items, so the workspace is
    // large enough.
    for (int rows = N / 2; rows >= 100; rows /= 2) {
        CHECK(tmap_pairs_plan_rows(&plan, (tmap_u32)rows));
        CHECK(tmap_pairs_launch(&plan, &f, 0));
        CHECK(cudaMemcpy(&found, f.to.result, sizeof found, cudaMemcpyDeviceToHost));
        wrong += check_pair(points, found, rows);
    }
    CHECK(cudaFree((void *)f.points));
    CHECK(cudaFree(f.to.workspace));
    CHECK(cudaFree(f.to.result));
    return check_result("the farthest pair", wrong);
}
