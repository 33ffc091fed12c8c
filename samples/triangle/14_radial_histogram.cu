// SPDX-License-Identifier: MIT
// 14_radial_histogram.cu: a function of one's own on every pair of n points, by the engine
// tmap_pairs_each. Here it counts how many pairs are how far apart: a radial distribution.
//
// The engine hands over the two points; the pair is counted by its block, and then in memory.
// nvcc -O3 -arch=native -I include samples/triangle/14_radial_histogram.cu -o radial_histogram
#include <stdio.h>
#include <threadmap/triangle.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { N = 900, BINS = 21 }; // of 2 units each
// [snippet: each-pair]
typedef struct radial {
    const float *points;
    tmap_u64 *total;
    tmap_u32 *bins; // of the block, in shared memory
} radial;

TMAP_FN int bin_of(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1];
    return (int)(sqrtf(x * x + y * y) * 0.5f);
}
TMAP_DEVICE void count(void *job, void *, tmap_pair, const void *a, const void *b) {
    atomicAdd(&((radial *)job)->bins[bin_of((const float *)a, (const float *)b)], 1u);
}
__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) histogram(tmap_pairs_plan plan, radial r) {
    __shared__ tmap_u32 bins[BINS];
    for (tmap_u32 bin = threadIdx.x; bin < BINS; bin += TMAP_PAIRS_THREADS) bins[bin] = 0;
    __syncthreads();
    r.bins = bins;
    const tmap_points points = {r.points, 0, sizeof(float), 2}; // one set, 2 coordinates
    tmap_pairs_each(&plan, points, count, &r);
    for (tmap_u32 bin = threadIdx.x; bin < BINS; bin += TMAP_PAIRS_THREADS) // of all visits
        atomicAdd(&r.total[bin], 1ull * bins[bin]);
}
// [/snippet]

int main(void) {
    static float host[N][2];
    tmap_u64 got[BINS], want[BINS] = {0};
    tmap_pairs_plan plan;
    radial r = {0, 0, 0};
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int i = 0; i < N; ++i) host[i][0] = (float)(i % 30), host[i][1] = (float)(i / 30);
    CHECK(cudaMalloc((void **)&r.points, sizeof host));
    CHECK(cudaMalloc((void **)&r.total, sizeof got));
    CHECK(cudaMemcpy((void *)r.points, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(r.total, 0, sizeof got));
    // [snippet: each-pair-launch]
    CHECK(tmap_pairs_plan_make(N, 2, sizeof(float), (const void *)histogram, &plan)); // once
    CHECK(tmap_pairs_launch(&plan, &r, 0));
    // [/snippet]
    CHECK(cudaMemcpy(got, r.total, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i)
        for (int j = i + 1; j < N; ++j) ++want[bin_of(host[i], host[j])];
    for (int bin = 0; bin < BINS; wrong += got[bin] != want[bin], ++bin)
        printf("%2d %6llu %.*s\n", 2 * bin, got[bin], (int)(got[bin] / 700),
               "############################################################");
    printf("pairs by distance on a square lattice: %s\n", wrong ? "WRONG" : "ok");
    return cudaFree((void *)r.points) || cudaFree(r.total) || wrong;
}
