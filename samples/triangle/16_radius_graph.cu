// SPDX-License-Identifier: MIT
// 16_radius_graph.cu: the pairs of points within a radius, as a list, by tmap_pairs_select.
// nvcc -O3 -arch=native -I include samples/triangle/16_radius_graph.cu -o radius_graph
#include <stdio.h>
#include <threadmap/triangle/pairs_select.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { N = 1000, RADIUS = 40, ROOM = 10000 };
// [snippet: radius-graph]
typedef struct graph {
    float *points;
    tmap_pairs_list edges;
} graph;
TMAP_FN float squared(const float *u, const float *v) {
    return (u[0] - v[0]) * (u[0] - v[0]) + (u[1] - v[1]) * (u[1] - v[1]);
}
TMAP_DEVICE int is_near(void *, tmap_pair, const void *a, const void *b, void *distance) {
    const float apart = squared((const float *)a, (const float *)b);
    *(float *)distance = sqrtf(apart); // costs nothing where the answer is no
    return apart < RADIUS * RADIUS;
}
__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) connect(tmap_pairs_plan plan, graph g) {
    const tmap_points points = {g.points, 0, sizeof(float), 2};
    // The fixed order gives the same list in every run.
    const tmap_pairs_choice near = {is_near, sizeof(float), TMAP_PAIRS_FIXED_ORDER};
    tmap_pairs_select(&plan, points, near, &g.edges, &g);
}
// [/snippet]
int main(void) {
    static unsigned char seen[N][N];
    tmap_pairs_plan plan;
    graph g = {0, {0, 0, ROOM, 0, 0}};
    tmap_u64 want = 0, wrong, k = 0;
    int devices;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMallocManaged((void **)&g.points, 2 * N * sizeof(float)));
    for (tmap_u32 i = 0; i < 2 * N; ++i) // spread over a square of 1024
        g.points[i] = (float)((i % 2 ? i * i : i) * 2654435769u >> 22);
    // [snippet: radius-graph-launch]
    CHECK(tmap_pairs_plan_make(N, 2, sizeof(float), (const void *)connect, &plan)); // once
    tmap_u64 bytes = tmap_pairs_select_bytes(&plan, TMAP_PAIRS_FIXED_ORDER);
    CHECK(cudaMalloc(&g.edges.workspace, bytes) || cudaMemset(g.edges.workspace, 0, bytes)); // once
    CHECK(cudaMallocManaged((void **)&g.edges.count, sizeof(tmap_u64)));
    CHECK(cudaMallocManaged((void **)&g.edges.pairs, ROOM * sizeof(tmap_pair)));
    CHECK(cudaMallocManaged(&g.edges.values, ROOM * sizeof(float)));
    CHECK(tmap_pairs_select_launch(&plan, &g.edges, &g, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < i; ++j)
            want += squared(g.points + 2 * i, g.points + 2 * j) < RADIUS * RADIUS;
    wrong = *g.edges.count != want;
    for (const tmap_pair *e = g.edges.pairs; k < want && !wrong; ++k, ++e) {
        const float real = sqrtf(squared(g.points + 2 * e->i, g.points + 2 * e->j));
        const float distance = ((const float *)g.edges.values)[k];
        wrong += !(fabsf(distance - real) <= 1e-5f * real && real < RADIUS) || seen[e->i][e->j]++;
        if (k % 300 == 0) printf("edge %llu: %u - %u, %g apart\n", k, e->i, e->j, distance);
    }
    printf("%llu edges of %d points: %s\n", *g.edges.count, N, wrong ? "WRONG" : "ok");
    return cudaFree(g.points) || cudaFree(g.edges.workspace) || cudaFree(g.edges.count) ||
           cudaFree(g.edges.pairs) || cudaFree(g.edges.values) || wrong;
}
