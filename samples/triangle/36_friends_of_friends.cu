// SPDX-License-Identifier: MIT
// 36_friends_of_friends.cu: groups of points: two points are friends if they are closer than a
// linking length, and friends of friends are of one group (tmap_near_groups). Here these are halos in
// a box of n points: clumps, and single points everywhere.
// nvcc -O3 -arch=native -I include samples/triangle/36_friends_of_friends.cu -o friends
#include "../check.h"
#include "../picture.h"

#include <threadmap/triangle/near_groups.h>
#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_sort.h>

enum {
    N = 20000,  // points
    SIDE = 512, // pixels and length of the box
    HALOS = 30, // clumps
    LEAST = 20  // points of a halo
};

typedef struct search {
    tmap_near_groups_to to; // the set, the workspace, the labels
    float length, squared;  // linking length
} search;

TMAP_FN float squared_distance(const float *a, const float *b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

TMAP_DEVICE int reach(void *job, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_within(a, b, 3, ((const search *)job)->length);
}

// [snippet: friends]
TMAP_DEVICE int are_friends(void *job, tmap_pair, const void *a, const void *b) {
    return squared_distance((const float *)a, (const float *)b) < ((const search *)job)->squared;
}

__global__ void __launch_bounds__(TMAP_NEAR_THREADS) link_points(tmap_near_plan plan, search s) {
    const tmap_near points = {{s.to.set, 0, sizeof(float), 3}, reach, 0};
    tmap_near_link(&plan, points, are_friends, &s.to, &s);
}
// [/snippet]

// A number from 0 to 1.
static float uniform(tmap_u32 *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * 0x1p-24f;
}

// Half of the points in clumps of several sizes, half anywhere.
static void make_points(float (*points)[3], tmap_u32 n) {
    tmap_u32 state = 1;
    for (tmap_u32 i = 0; i < n; ++i) {
        const tmap_u32 clump = i / 2 % HALOS;
        for (int k = 0; k < 3; ++k) {
            tmap_u32 place = (3 * clump + (tmap_u32)k + 1) * 2654435769u;
            place = (place ^ place >> 15) * 2246822519u;
            const float centre = 32 + (SIDE - 64) * uniform(&place);
            const float wide = 4 + 16 * (float)clump / HALOS;
            float offset = 0;
            for (int t = 0; t < 6; ++t) offset += uniform(&state) - 0.5f;
            points[i][k] = i % 2 ? centre + wide * offset : SIDE * uniform(&state);
        }
    }
}

// Counts the labels that are not the smallest number of a group, by all pairs.
static tmap_u64 check_groups(float (*points)[3], tmap_u32 n, const search *s) {
    tmap_u32 *label = (tmap_u32 *)malloc(n * sizeof *label), *todo = (tmap_u32 *)malloc(n * 4ull);
    tmap_u64 wrong = 0;
    memset(label, 0xff, n * sizeof *label);
    for (tmap_u32 i = 0; i < n; ++i) {
        tmap_u32 many = label[i] == TMAP_NEAR_NO_GROUP;
        if (many) label[i] = todo[0] = i;
        while (many) { // all that is reached from point i
            const tmap_u32 from = todo[--many];
            for (tmap_u32 j = i + 1; j < n; ++j)
                if (label[j] == TMAP_NEAR_NO_GROUP &&
                    squared_distance(points[from], points[j]) < s->squared)
                    label[j] = i, todo[many++] = j;
        }
        wrong += s->to.labels[i] != label[i];
    }
    free(label), free(todo);
    return wrong;
}

// Draws halos in colours, other points grey.
static tmap_u32 draw(float (*points)[3], tmap_u32 n, const tmap_u32 *labels) {
    static const unsigned colours[] = {0xc1440e, 0x173f5f, 0x3caea3, 0xe0a100, 0x7a3b8f, 0x4f8a10};
    tmap_u32 *sizes = (tmap_u32 *)calloc(n, sizeof *sizes), halos = 0;
    picture p = picture_make(SIDE, SIDE, 1, "Friends of friends");
    for (tmap_u32 i = 0; i < n; ++i) halos += ++sizes[labels[i]] == LEAST;
    for (tmap_u32 i = 0, shown = 0; i < n && shown < 3; ++i)
        if (sizes[i] >= 10 * LEAST) printf("halo of point %u: %u points\n", i, sizes[i]), ++shown;
    for (int big = 0; big < 2; ++big)
        for (tmap_u32 i = 0; i < n; ++i) {
            const float x = points[i][0], y = points[i][1];
            if ((sizes[labels[i]] >= LEAST) != big || x < 0 || y < 0 || x >= SIDE || y >= SIDE)
                continue;
            picture_set(&p, (unsigned)x, (unsigned)y,
                        big ? colours[(labels[i] * 2654435769u >> 20) % 6] : 0xd0d0d0);
        }
    picture_key(&p, colours[1], "halo, a colour each");
    picture_key(&p, 0xd0d0d0, "other point");
    picture_save(&p, "friends_of_friends");
    free(sizes);
    return halos;
}

int main(void) {
    check_gpu();
    const tmap_u32 n = N;
    float(*points)[3];
    search s;
    memset(&s, 0, sizeof s);
    CHECK(cudaMallocManaged((void **)&points, n * sizeof *points));
    make_points(points, n);
    s.length = 0.2f * SIDE / cbrtf((float)n), s.squared = s.length * s.length;

    const tmap_near_shape shape = {n, 3, sizeof(float)};
    tmap_near_sort_plan sort;
    tmap_near_plan plan;
    void *set, *workspace;
    tmap_u32 *order;
    CHECK(tmap_near_sort_plan_make(n, 3, sizeof(float), 0, &sort)); // once
    CHECK(tmap_near_groups_plan_make(shape, (const void *)link_points, &plan));
    CHECK(cudaMalloc(&workspace, sort.workspace));
    CHECK(cudaMalloc((void **)&order, n * sizeof *order));
    CHECK(cudaMalloc(&set, tmap_near_set_bytes(shape)));
    CHECK(cudaMalloc(&s.to.nodes, tmap_near_groups_bytes(&plan)));
    CHECK(cudaMallocManaged((void **)&s.to.labels, n * sizeof(tmap_u32)));
    CHECK(cudaMallocManaged((void **)&s.to.count, sizeof(tmap_u32)));
    s.to.set = set;

    CHECK(tmap_near_sort(&sort, points, workspace, order, 0));
    CHECK(tmap_near_prepare(shape, points, order, set, 0));
    CHECK(tmap_near_groups(&plan, &s, &s.to, 0));
    CHECK(cudaDeviceSynchronize());

    const tmap_u32 halos = draw(points, n, s.to.labels);
    printf("%u points, linking length %.2f: %u groups, %u of them with %u points or more\n", n,
           s.length, *s.to.count, halos, LEAST);
    const tmap_u64 wrong = check_groups(points, n, &s);
    for (void *p : {(void *)points, set, workspace, (void *)order, s.to.nodes, (void *)s.to.labels,
                    (void *)s.to.count})
        CHECK(cudaFree(p));
    return check_result("the groups", wrong);
}
