// SPDX-License-Identifier: MIT
// 34_near_pairs.cu: the neighbour list of n points (tmap_near_select): all pairs that are closer than
// a cutoff, with their distances. It has both directions of each pair, as graph libraries take them:
// edge_index, an array of 2 x edges numbers of 64 bits. Then the same in compressed rows
// (tmap_near_graph).
//
// The points are sorted along a Hilbert curve, so 32 consecutive ones have a small box. The engine
// looks only at the points of boxes that may be near each other. The numbers in the list are yours.
// nvcc -O3 -arch=native -I include samples/triangle/34_near_pairs.cu -o near_pairs
#include "../check.h"

#include <threadmap/triangle/near_graph.h>
#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_select.h>
#include <threadmap/triangle/near_sort.h>

enum { N = 3000, SIDE = 1024, CUTOFF = 100 }; // points, side of their cube, a distance

typedef struct search {
    void *set;                // the prepared points
    tmap_near_list edges;     // where the list is written
    tmap_near_graph_to graph; // and the compressed rows
} search;

TMAP_FN float squared_distance(const float *a, const float *b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// [snippet: near-list]
// Returns 1 to list the pair with its value.
TMAP_DEVICE int is_near(void *, tmap_pair, const void *a, const void *b, void *value) {
    const float squared = squared_distance((const float *)a, (const float *)b);
    *(float *)value = sqrtf(squared);
    return squared < CUTOFF * CUTOFF;
}

// Says of two boxes of points whether no pair, some pairs or all pairs are near.
TMAP_DEVICE int reach(void *, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_within(a, b, 3, CUTOFF);
}

__global__ void __launch_bounds__(TMAP_NEAR_THREADS) list_pairs(tmap_near_plan plan, search s) {
    const tmap_near points = {{s.set, 0, sizeof(float), 3}, reach, 0}; // one set, 3 coordinates
    const tmap_near_choice both = {is_near, sizeof(float), 8, 1};      // numbers of 8 bytes
    tmap_near_select(&plan, points, both, &s.edges, &s);
}
// [/snippet]

// [snippet: near-graph]
__global__ void __launch_bounds__(TMAP_NEAR_THREADS) connect(tmap_near_plan plan, search s) {
    const tmap_near points = {{s.set, 0, sizeof(float), 3}, reach, 0};
    const tmap_near_choice both = {is_near, 0, 4, 1}; // no values, columns of 4 bytes, both ways
    tmap_near_connect(&plan, points, both, &s.graph, &s);
}
// [/snippet]

// Counts the pairs that are missing, listed twice or not near, and the wrong distances.
static tmap_u64 check_list(float points[N][3], const tmap_u64 *i, const tmap_u64 *j,
                           const float *distance, tmap_u64 count) {
    static unsigned char listed[N][N];
    tmap_u64 wrong = 0;
    for (tmap_u64 e = 0; e < count; ++e) {
        const float want = sqrtf(squared_distance(points[i[e]], points[j[e]]));
        wrong += !(fabsf(distance[e] - want) <= 1e-6f * want);
        ++listed[i[e]][j[e]];
    }
    for (int a = 0; a < N; ++a)
        for (int b = 0; b < N; ++b) {
            const int near = squared_distance(points[a], points[b]) < CUTOFF * CUTOFF;
            wrong += listed[a][b] != (a != b && near);
        }
    return wrong;
}

// Counts the rows that are not the neighbours of their point, ascending.
static int check_rows(float points[N][3], const tmap_near_graph_to *got) {
    const tmap_u32 *column = (const tmap_u32 *)got->columns;
    int wrong = 0;
    for (tmap_u32 a = 0; a < N; ++a) {
        tmap_u64 at = got->starts[a];
        for (tmap_u32 b = 0; b < N; ++b)
            if (a != b && squared_distance(points[a], points[b]) < CUTOFF * CUTOFF)
                wrong += at >= got->capacity || column[at++] != b;
        wrong += at != got->starts[a + 1];
    }
    return wrong;
}

int main(void) {
    check_gpu();
    float(*points)[3];
    tmap_u32 *order, random = 1;
    search s = {}; // capacity 0: the first launch only counts
    CHECK(cudaMallocManaged((void **)&points, N * sizeof *points));
    for (int i = 0; i < 3 * N; ++i) { // whole numbers, so that squared distances are exact
        random = random * 1664525u + 1013904223u;
        points[i / 3][i % 3] = (float)(random >> 22);
    }

    const tmap_near_shape shape = {N, 3, sizeof(float)};
    tmap_near_sort_plan sort;
    void *workspace;
    CHECK(tmap_near_sort_plan_make(N, 3, sizeof(float), 0, &sort)); // once
    CHECK(cudaMalloc(&workspace, sort.workspace));
    CHECK(cudaMalloc((void **)&order, N * sizeof *order));
    CHECK(cudaMalloc(&s.set, tmap_near_set_bytes(shape)));

    CHECK(tmap_near_sort(&sort, points, workspace, order, 0)); // their order along the curve
    CHECK(tmap_near_prepare(shape, points, order, s.set, 0));

    // [snippet: near-list-launch]
    tmap_near_plan plan;
    CHECK(tmap_near_plan_make(shape, (const void *)list_pairs, &plan)); // once
    const tmap_u64 bytes = tmap_near_select_bytes(&plan);
    CHECK(cudaMalloc(&s.edges.workspace, bytes));
    CHECK(cudaMemset(s.edges.workspace, 0, bytes)); // once
    CHECK(cudaMallocManaged((void **)&s.edges.count, sizeof(tmap_u64)));
    CHECK(tmap_near_select_launch(&plan, &s.edges, 8, &s, 0));
    CHECK(cudaDeviceSynchronize());

    tmap_u64 *edge_index; // i of all edges, then j of all edges
    const tmap_u64 count = s.edges.capacity = *s.edges.count;
    CHECK(cudaMallocManaged((void **)&edge_index, 2 * count * sizeof *edge_index));
    CHECK(cudaMallocManaged(&s.edges.values, count * sizeof(float)));
    s.edges.i = edge_index, s.edges.j = edge_index + count;
    CHECK(tmap_near_select_launch(&plan, &s.edges, 8, &s, 0));
    CHECK(cudaDeviceSynchronize());
    // [/snippet]

    // [snippet: near-graph-launch]
    tmap_near_plan rows;
    CHECK(tmap_near_graph_plan_make(shape, (const void *)connect, &rows)); // once
    CHECK(cudaMalloc(&s.graph.workspace, tmap_near_graph_bytes(&rows)));   // need not be cleared
    CHECK(cudaMallocManaged((void **)&s.graph.starts, (N + 1) * sizeof(tmap_u64)));
    CHECK(cudaMallocManaged(&s.graph.columns, count * sizeof(tmap_u32)));
    s.graph.capacity = count, s.graph.number = sizeof(tmap_u32);
    s.graph.values = NULL, s.graph.bytes = 0;
    CHECK(tmap_near_graph(&rows, &s, &s.graph, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    const float *distance = (const float *)s.edges.values;
    for (tmap_u64 e = 0; e < count; e += count / 4)
        printf("edge %5llu: points %4llu and %4llu, %.2f apart\n", e, edge_index[e],
               edge_index[count + e], distance[e]);
    printf("%llu edges of %d points, %.1f neighbours of a point\n", count, N, (double)count / N);
    tmap_u64 wrong = check_list(points, edge_index, edge_index + count, distance, count);
    wrong += *s.edges.count != count || s.graph.starts[N] != count;
    wrong += check_rows(points, &s.graph);
    for (void *p : {(void *)points, workspace, (void *)order, s.set, s.edges.workspace,
                    (void *)s.edges.count, s.edges.values, (void *)edge_index, s.graph.workspace,
                    (void *)s.graph.starts, s.graph.columns})
        CHECK(cudaFree(p));
    return check_result("the neighbour list", wrong);
}
