// SPDX-License-Identifier: MIT
// pairs_count.h: the count of the pairs within a radius through the engine for all pairs, as a user
// writes it; and when a pair is near, for all ways to count.
#ifndef BENCH_TRIANGLE_PAIRS_COUNT_H
#define BENCH_TRIANGLE_PAIRS_COUNT_H

#include "../driver.h"

#include <threadmap/triangle.h>

typedef struct pairs_job {
    const float *points;
    float minus_r2; // of the radius
    tmap_fold_to to;
} pairs_job;

// The sum of squares minus that of the radius: it is negative where a pair is near. The sign bit is
// added, which costs an instruction; a comparison and a count cost three.
TMAP_DEVICE tmap_u32 pairs_near(const float *u, const float *v, float minus_r2) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return __float_as_uint(fmaf(z, z, fmaf(y, y, fmaf(x, x, minus_r2)))) >> 31;
}
// A thread's count of a tile fits 32 bits, that of a launch does not.
typedef struct pairs_counts {
    tmap_u32 part, none;
    tmap_u64 sum;
} pairs_counts;
TMAP_DEVICE void pairs_near_add(void *job, void *sum, tmap_pair, const void *a, const void *b) {
    ((pairs_counts *)sum)->part +=
        pairs_near((const float *)a, (const float *)b, ((const pairs_job *)job)->minus_r2);
}
TMAP_DEVICE void pairs_count_join(void *, void *sum, const void *other) {
    pairs_counts *s = (pairs_counts *)sum;
    const pairs_counts *o = (const pairs_counts *)other;
    s->sum += s->part + (o->part + o->sum), s->part = 0;
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 12)
    pairs_count(tmap_pairs_plan plan, pairs_job j) {
    const tmap_points points = {j.points, 0, sizeof(float), 3};
    const pairs_counts zero = {0, 0, 0};
    const tmap_fold count = {&zero, sizeof zero, pairs_count_join};
    tmap_pairs_fold(&plan, points, pairs_near_add, count, j.to, &j);
}

#endif
