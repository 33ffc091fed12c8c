// SPDX-License-Identifier: MIT
// 14_radial_histogram.cu: your own function on every pair of n points (tmap_pairs_each). Here it
// counts the pairs by distance: a radial distribution.
//
// Each block counts its pairs in shared memory and then adds its counts to those in global memory.
// nvcc -O3 -arch=native -I include samples/triangle/14_radial_histogram.cu -o radial_histogram
#include "../check.h"

#include <threadmap/triangle.h>

enum {
    SIDE = 30,       // the points form a square lattice
    N = SIDE * SIDE, // points
    BINS = 21        // bins of the histogram, each 2 units wide
};

// A block visits fewer than 2^32 pairs of a million points, so 32 bits hold the bins of a block.
static_assert(N <= 1000000, "more points need several launches, each of a share of the plan");

typedef struct radial {
    const float *points;
    tmap_u64 *total; // counts of all blocks, in global memory
    tmap_u32 *bins;  // counts of this block, in shared memory: right up to a million points
} radial;

TMAP_FN int bin_of(const float *u, const float *v) {
    const float x = u[0] - v[0];
    const float y = u[1] - v[1];
    return (int)(sqrtf(x * x + y * y) * 0.5f);
}

// [snippet: each-pair]
TMAP_DEVICE void count(void *job, void *, tmap_pair, const void *a, const void *b) {
    const radial *r = (const radial *)job;
    atomicAdd(&r->bins[bin_of((const float *)a, (const float *)b)], 1u);
}

__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) histogram(tmap_pairs_plan plan, radial r) {
    __shared__ tmap_u32 bins[BINS];
    for (tmap_u32 bin = threadIdx.x; bin < BINS; bin += TMAP_PAIRS_THREADS) bins[bin] = 0;
    __syncthreads();

    r.bins = bins;
    const tmap_points points = {r.points, 0, sizeof(float), 2}; // one set, 2 coordinates
    tmap_pairs_each(&plan, points, count, &r);                  // ends with a barrier

    for (tmap_u32 bin = threadIdx.x; bin < BINS; bin += TMAP_PAIRS_THREADS)
        atomicAdd(&r.total[bin], 1ull * bins[bin]);
}
// [/snippet]

int main(void) {
    static float points[N][2];
    tmap_u64 got[BINS];
    check_gpu();

    for (int i = 0; i < N; ++i) {
        points[i][0] = (float)(i % SIDE);
        points[i][1] = (float)(i / SIDE);
    }
    radial r = {NULL, NULL, NULL};
    CHECK(cudaMalloc((void **)&r.points, sizeof points));
    CHECK(cudaMalloc((void **)&r.total, sizeof got));
    CHECK(cudaMemcpy((void *)r.points, points, sizeof points, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(r.total, 0, sizeof got));

    tmap_pairs_plan plan;
    CHECK(tmap_pairs_plan_make(N, 2, sizeof(float), (const void *)histogram, &plan)); // once
    CHECK(tmap_pairs_launch(&plan, &r, 0));
    CHECK(cudaMemcpy(got, r.total, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree((void *)r.points));
    CHECK(cudaFree(r.total));

    tmap_u64 want[BINS] = {0};
    for (int i = 0; i < N; ++i)
        for (int j = i + 1; j < N; ++j) ++want[bin_of(points[i], points[j])];

    const int pairs_per_mark = 700;
    int wrong = 0;
    puts("distance  pairs");
    for (int bin = 0; bin < BINS; ++bin) {
        printf("%8d %6llu ", 2 * bin, got[bin]);
        for (tmap_u64 mark = 1; mark <= got[bin] / pairs_per_mark; ++mark) putchar('#');
        putchar('\n');
        wrong += got[bin] != want[bin];
    }
    return check_result("pairs by distance on a square lattice", wrong);
}
