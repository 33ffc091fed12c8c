// SPDX-License-Identifier: MIT
// 37_nearest.cu: the 8 nearest neighbours of each of n points (tmap_near_nearest), as for normals of
// surfaces, densities, interpolation. A measure of your own takes the place of the distance.
// nvcc -O3 -arch=native -I include samples/triangle/37_nearest.cu -o nearest
#include "../check.h"

#include <threadmap/triangle/near_nearest.h>
#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_sort.h>

enum { N = 3000, K = 8 };

typedef struct search {
    void *set;               // the prepared points
    tmap_near_nearest_to to; // where neighbours are written
} search;

TMAP_FN float squared_distance(const float *a, const float *b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// [snippet: nearest]
TMAP_DEVICE void measure(void *, const void *a, const void *b, void *value) {
    *(float *)value = squared_distance((const float *)a, (const float *)b);
}

// No two points of two boxes have a smaller measure.
TMAP_DEVICE float bound(void *, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_least_square(a, b, 3);
}

__global__ void __launch_bounds__(TMAP_NEAR_THREADS) find(tmap_near_plan plan, search s) {
    const tmap_points points = {s.set, 0, sizeof(float), 3};
    const tmap_near_k nearest = {K, measure, bound, 0, 1}; // not itself; roots of the measures
    tmap_near_nearest(&plan, points, nearest, &s.to, &s);
}
// [/snippet]

// Counts the points that have a nearer one than the last of their list, by all pairs, or a list that is
// not in order.
static tmap_u64 check_nearest(float (*points)[3], const search *s) {
    tmap_u64 wrong = 0;
    for (tmap_u32 i = 0; i < N; ++i) {
        const tmap_u32 *list = s->to.numbers + i * K;
        int nearer = 0, right = 1;
        for (int k = 0; k < K; ++k) {
            const float d = squared_distance(points[i], points[list[k]]);
            right &= list[k] != i;
            right &=
                fabsf(((const float *)s->to.distances)[i * K + k] - sqrtf(d)) <= 1e-6f * sqrtf(d);
            if (k) right &= squared_distance(points[i], points[list[k - 1]]) <= d;
        }
        const float last = squared_distance(points[i], points[list[K - 1]]);
        for (tmap_u32 j = 0; j < N; ++j)
            nearer += j != i && squared_distance(points[i], points[j]) < last;
        wrong += !right || nearer >= K;
    }
    return wrong;
}

int main(void) {
    check_gpu();
    float(*points)[3];
    tmap_u32 random = 1;
    search s;
    memset(&s, 0, sizeof s);
    CHECK(cudaMallocManaged((void **)&points, N * sizeof *points));
    for (int i = 0; i < 3 * N; ++i) { // whole numbers, so that squares are exact
        random = random * 1664525u + 1013904223u;
        points[i / 3][i % 3] = (float)(random >> 22);
    }

    const tmap_near_shape shape = {N, 3, sizeof(float)};
    tmap_near_sort_plan sort;
    tmap_near_plan plan;
    void *workspace;
    tmap_u32 *order;
    CHECK(tmap_near_sort_plan_make(N, 3, sizeof(float), 0, &sort)); // once
    CHECK(tmap_near_nearest_plan_make(shape, (const void *)find, &plan));
    CHECK(cudaMalloc(&workspace, sort.workspace));
    CHECK(cudaMalloc((void **)&order, N * sizeof *order));
    CHECK(cudaMalloc(&s.set, tmap_near_set_bytes(shape)));
    CHECK(cudaMallocManaged((void **)&s.to.numbers, N * K * sizeof(tmap_u32)));
    CHECK(cudaMallocManaged(&s.to.distances, N * K * sizeof(float)));

    CHECK(tmap_near_sort(&sort, points, workspace, order, 0));
    CHECK(tmap_near_prepare(shape, points, order, s.set, 0));
    CHECK(tmap_near_launch(&plan, &s, 0));
    CHECK(cudaDeviceSynchronize());

    double sum = 0;
    for (int i = 0; i < N; ++i) sum += ((const float *)s.to.distances)[i * K + K - 1];
    for (int i = 0; i < N; i += N / 3)
        printf("point %4d: the nearest is point %4u, %.2f away\n", i, s.to.numbers[i * K],
               ((const float *)s.to.distances)[i * K]);
    printf("neighbour %d of a point is %.2f away, the mean of %d points\n", K, sum / N, N);
    const tmap_u64 wrong = check_nearest(points, &s);
    for (void *p :
         {(void *)points, workspace, (void *)order, s.set, (void *)s.to.numbers, s.to.distances})
        CHECK(cudaFree(p));
    return check_result("the nearest neighbours", wrong);
}
