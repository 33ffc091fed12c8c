// SPDX-License-Identifier: MIT
// near_kernels.h: the kernels of bench_near, as a user writes them.
#ifndef BENCH_TRIANGLE_NEAR_KERNELS_H
#define BENCH_TRIANGLE_NEAR_KERNELS_H

#include "pairs_count.h"

#include <threadmap/triangle/near_graph.h>
#include <threadmap/triangle/near_groups.h>
#include <threadmap/triangle/near_nearest.h>
#include <threadmap/triangle/near_rows.h>
#include <threadmap/triangle/near_select.h>

typedef struct near_job {
    void *set;
    float radius, minus_r2, scale; // scale: 1 / radius^2
    tmap_fold_to to;
    tmap_near_list list;
    float4 *rows;
    tmap_near_graph_to graph;
    tmap_near_groups_to groups;
    tmap_near_nearest_to nearest;
} near_job;

TMAP_DEVICE int near_reach(void *job, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_within(a, b, 3, ((const near_job *)job)->radius);
}

// ---- count --------------------------------------------------------------------------------------

TMAP_DEVICE void near_add(void *job, void *sum, tmap_pair, const void *a, const void *b) {
    ((pairs_counts *)sum)->part +=
        pairs_near((const float *)a, (const float *)b, ((const near_job *)job)->minus_r2);
}
TMAP_DEVICE void near_bulk(void *, void *sum, const tmap_near_box *a, const tmap_near_box *b) {
    ((pairs_counts *)sum)->sum += (tmap_u64)a->count * b->count;
}
#define NEAR_COUNT(name, bulk) \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        name(tmap_near_plan plan, near_job j) { \
        const tmap_near points = {{j.set, 0, sizeof(float), 3}, near_reach, bulk}; \
        const pairs_counts zero = {0, 0, 0}; \
        const tmap_fold count = {&zero, sizeof zero, pairs_count_join}; \
        tmap_near_fold(&plan, points, near_add, count, j.to, &j); \
    }
NEAR_COUNT(near_count, near_bulk)
NEAR_COUNT(near_count_visits, 0)

// ---- lists, compressed rows and groups ----------------------------------------------------------

TMAP_DEVICE int near_linked(void *job, tmap_pair, const void *a, const void *b) {
    return pairs_near((const float *)a, (const float *)b, ((const near_job *)job)->minus_r2) != 0;
}
TMAP_DEVICE int near_choose(void *job, tmap_pair pair, const void *a, const void *b, void *) {
    return near_linked(job, pair, a, b);
}
static __global__ void __launch_bounds__(TMAP_NEAR_THREADS)
    near_list(tmap_near_plan plan, near_job j) {
    const tmap_near points = {{j.set, 0, sizeof(float), 3}, near_reach, 0};
    const tmap_near_choice once = {near_choose, 0, 4, 0};
    tmap_near_select(&plan, points, once, &j.list, &j);
}
static __global__ void __launch_bounds__(TMAP_NEAR_THREADS)
    near_graph(tmap_near_plan plan, near_job j) {
    const tmap_near points = {{j.set, 0, sizeof(float), 3}, near_reach, 0};
    const tmap_near_choice both = {near_choose, 0, 4, 1};
    tmap_near_connect(&plan, points, both, &j.graph, &j);
}
static __global__ void __launch_bounds__(TMAP_NEAR_THREADS)
    near_groups(tmap_near_plan plan, near_job j) {
    const tmap_near points = {{j.set, 0, sizeof(float), 3}, near_reach, 0};
    tmap_near_link(&plan, points, near_linked, &j.groups, &j);
}

// ---- rows ---------------------------------------------------------------------------------------

// The force of b on a: that of Lennard and Jones with the radius as length, kept finite where points
// are close. w: the energy.
TMAP_DEVICE float4 near_force(const float *a, const float *b, float scale) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    const float s = __fdividef(1, 0.5f + (x * x + y * y + z * z) * scale), s3 = s * s * s;
    const float times = s * s3 * (2 * s3 - 1);
    return make_float4(times * x, times * y, times * z, s3 * (s3 - 1));
}
TMAP_DEVICE void near_pull(float4 *sum, float4 f) {
    sum->x += f.x, sum->y += f.y, sum->z += f.z, sum->w += f.w;
}
TMAP_DEVICE void near_give(void *job, tmap_pair, const void *a, const void *b, void *to, void *) {
    const float *u = (const float *)a, *v = (const float *)b;
    const near_job *j = (const near_job *)job;
    if (pairs_near(u, v, j->minus_r2)) near_pull((float4 *)to, near_force(u, v, j->scale));
}
TMAP_DEVICE void near_join(void *, void *sum, const void *other) {
    near_pull((float4 *)sum, *(const float4 *)other);
}
#define NEAR_ROWS(name, reach, give) \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        name(tmap_near_plan plan, near_job j) { \
        const tmap_near points = {{j.set, 0, sizeof(float), 3}, reach, 0}; \
        const float4 zero = {0, 0, 0, 0}; \
        const tmap_fold sum = {&zero, sizeof zero, near_join}; \
        tmap_near_rows(&plan, points, give, sum, j.rows, &j); \
    }
NEAR_ROWS(near_rows, near_reach, near_give)

// The same where the cube is repeated along each axis: with the image of b that is nearest to a.
TMAP_DEVICE int near_periodic(void *job, const tmap_near_box *a, const tmap_near_box *b) {
    const float sides[3] = {1, 1, 1};
    return tmap_near_periodic(a, b, 3, sides, ((const near_job *)job)->radius);
}
TMAP_DEVICE void near_image(const float *a, const float *b, float *image) {
    for (int k = 0; k < 3; ++k) image[k] = b[k] + rintf(a[k] - b[k]);
}
TMAP_DEVICE void near_give_image(void *job, tmap_pair pair, const void *a, const void *b, void *to,
                                 void *from) {
    float image[3];
    near_image((const float *)a, (const float *)b, image);
    near_give(job, pair, a, image, to, from);
}
NEAR_ROWS(near_rows_periodic, near_periodic, near_give_image)

// ---- the nearest --------------------------------------------------------------------------------

TMAP_DEVICE float near_square(const float *a, const float *b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return fmaf(z, z, fmaf(y, y, x * x));
}
TMAP_DEVICE void near_measure(void *, const void *a, const void *b, void *value) {
    *(float *)value = near_square((const float *)a, (const float *)b);
}
TMAP_DEVICE float near_bound(void *, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_least_square(a, b, 3);
}
#define NEAR_NEAREST(name, k) \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        name(tmap_near_plan plan, near_job j) { \
        const tmap_points points = {j.set, 0, sizeof(float), 3}; \
        const tmap_near_k nearest = {k, near_measure, near_bound, 0, 1}; \
        tmap_near_nearest(&plan, points, nearest, &j.nearest, &j); \
    }
NEAR_NEAREST(near_nearest_8, 8)
NEAR_NEAREST(near_nearest_16, 16)

#endif
