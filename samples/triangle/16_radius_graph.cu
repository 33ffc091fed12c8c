// SPDX-License-Identifier: MIT
// 16_radius_graph.cu: a list of those pairs of n points that your own function chooses, each with a
// value (tmap_pairs_select). Here it lists the edges of a radius graph: pairs closer than a radius.
// nvcc -O3 -arch=native -I include samples/triangle/16_radius_graph.cu -o radius_graph
#include "../check.h"
#include "../picture.h"

#include <threadmap/triangle/pairs_select.h>

enum {
    N = 1000,         // points
    SIDE = 512,       // of the square that they lie in
    RADIUS = 20,      // a distance
    CAPACITY = 10000, // edges that the list can hold
    DOT = 4,          // pixels of a point, each way
    EDGE = 0x5f98d0   // a colour
};

typedef struct graph {
    float2 *points; // x, y of each
    tmap_pairs_list edges;
} graph;

TMAP_FN float squared_distance(float2 a, float2 b) {
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// [snippet: radius-graph]
// Returns 1 to list the pair with its value. The compiler leaves out the root for other pairs.
TMAP_DEVICE int is_near(void *, tmap_pair, const void *a, const void *b, void *value) {
    const float squared = squared_distance(*(const float2 *)a, *(const float2 *)b);
    *(float *)value = sqrtf(squared);
    return squared < RADIUS * RADIUS;
}

__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) connect(tmap_pairs_plan plan, graph g) {
    const tmap_points points = {g.points, 0, sizeof(float), 2}; // one set, 2 coordinates
    // The fixed order gives the same list in every run.
    const tmap_pairs_choice near = {is_near, sizeof(float), TMAP_PAIRS_FIXED_ORDER};
    tmap_pairs_select(&plan, points, near, &g.edges, &g);
}
// [/snippet]

// Counts the pairs that are listed wrongly, and the wrong distances.
static int check_edges(const float2 *points, const tmap_pair *edges, const float *distances,
                       tmap_u64 count) {
    static int listed[N][N];       // how often
    const float tolerance = 1e-5f; // relative
    int wrong = 0;
    for (tmap_u64 e = 0; e < count; ++e) {
        ++listed[edges[e].i][edges[e].j];
        const float want = sqrtf(squared_distance(points[edges[e].i], points[edges[e].j]));
        wrong += !(fabsf(distances[e] - want) <= tolerance * want);
    }
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
            const int near = squared_distance(points[i], points[j]) < RADIUS * RADIUS;
            wrong += listed[i][j] != (i < j && near);
        }
    return wrong;
}

// Draws the edges as lines, and then the points as squares.
static void draw(const float2 *points, const tmap_pair *edges, tmap_u64 count) {
    picture p = picture_make(SIDE, SIDE, 1, "Radius graph of 1000 points");
    for (tmap_u64 e = 0; e < count; ++e) {
        const float2 a = points[edges[e].i];
        const float2 b = points[edges[e].j];
        for (int step = 0; step < RADIUS; ++step) {
            const float x = a.x + (b.x - a.x) * step / RADIUS;
            const float y = a.y + (b.y - a.y) * step / RADIUS;
            picture_set(&p, (unsigned)x, (unsigned)y, EDGE);
        }
    }
    for (int i = 0; i < N; ++i)
        canvas_fill(&p.all, PICTURE_MARGIN + (unsigned)points[i].x - DOT / 2,
                    PICTURE_TOP + (unsigned)points[i].y - DOT / 2, DOT, DOT, CANVAS_INK);
    picture_key(&p, CANVAS_INK, "point");
    picture_key(&p, EDGE, "edge, shorter than 20");
    picture_save(&p, "radius_graph");
}

int main(void) {
    check_gpu();

    graph g;
    CHECK(cudaMallocManaged((void **)&g.points, N * sizeof *g.points));
    for (tmap_u32 i = 0; i < N; ++i) { // the upper 9 bits of hashes
        g.points[i].x = (float)(2 * i * 2654435769u >> 23);
        g.points[i].y = (float)((2 * i + 1) * (2 * i + 1) * 2654435769u >> 23);
    }

    tmap_pairs_plan plan;
    CHECK(tmap_pairs_plan_make(N, 2, sizeof(float), (const void *)connect, &plan)); // once
    const tmap_u64 bytes = tmap_pairs_select_bytes(&plan, TMAP_PAIRS_FIXED_ORDER);
    CHECK(cudaMalloc(&g.edges.workspace, bytes));
    CHECK(cudaMemset(g.edges.workspace, 0, bytes)); // once
    CHECK(cudaMallocManaged((void **)&g.edges.count, sizeof(tmap_u64)));
    CHECK(cudaMallocManaged((void **)&g.edges.pairs, CAPACITY * sizeof(tmap_pair)));
    CHECK(cudaMallocManaged(&g.edges.values, CAPACITY * sizeof(float)));
    g.edges.capacity = CAPACITY;
    CHECK(tmap_pairs_select_launch(&plan, &g.edges, &g, 0));
    CHECK(cudaDeviceSynchronize());

    const tmap_u64 count = min(*g.edges.count, g.edges.capacity); // edges that fit the list
    const float *distances = (const float *)g.edges.values;
    for (tmap_u64 e = 0; e < count; e += 500)
        printf("edge %4llu: points %3u and %3u, %.2f apart\n", e, g.edges.pairs[e].i,
               g.edges.pairs[e].j, distances[e]);
    printf("%llu edges of %d points\n", *g.edges.count, N);
    const int wrong = check_edges(g.points, g.edges.pairs, distances, count);
    draw(g.points, g.edges.pairs, count);
    CHECK(cudaFree(g.points));
    CHECK(cudaFree(g.edges.workspace));
    CHECK(cudaFree(g.edges.count));
    CHECK(cudaFree(g.edges.pairs));
    CHECK(cudaFree(g.edges.values));
    return check_result("the radius graph", wrong);
}
