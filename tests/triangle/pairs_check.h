// SPDX-License-Identifier: MIT
// pairs_check.h: what tests of the pairs engine share: shapes of problems, points, and what is said
// of a failure.
#ifndef TESTS_TRIANGLE_PAIRS_CHECK_H
#define TESTS_TRIANGLE_PAIRS_CHECK_H

#include "kit.h"

#include <threadmap/triangle.h>

// Points of a set, rows of pairs, points of the second set (0: none), sets; coordinates, bytes.
typedef struct shape {
    tmap_u32 n, rows, others, sets, d, size;
} shape;

static inline shape shape_of(tmap_u32 n) {
    const shape s = {n, n, 0, 1, 3, 4};
    return s;
}

// The case: a shape.
static inline void of_shape(shape s) {
    kit_case("n = %u, rows %u, others %u, sets %u, d = %u, %u bytes", s.n, s.rows, s.others, s.sets,
             s.d, s.size);
}

// Points that know who they are: coordinate k of point p of set b is 8 p + k + 3 b.
static inline void *numbered_points(int, tmap_u32 n, shape s) {
    const tmap_u64 count = (tmap_u64)n * s.sets * s.d;
    void *host = kit_host(count * s.size);
    for (tmap_u64 i = 0; i < count; ++i) {
        const tmap_u64 p = i / s.d;
        const double value = (double)(8 * (p % n) + i % s.d + 3 * (p / n));
        if (s.size == 8)
            ((double *)host)[i] = value;
        else
            ((float *)host)[i] = (float)value;
    }
    return kit_to_device(host, count * s.size);
}

// Points of the second set. Where there is none, 0 or, for an odd n, points that nobody may read.
static inline void *second_points(shape s) {
    const tmap_u64 bytes = (tmap_u64)s.n * s.sets * s.d * s.size + 1;
    if (s.others) return numbered_points(1, s.others, s);
    if (s.n % 2 == 0) return 0;
    void *stray = kit_device(bytes);
    CHECK(cudaMemset(stray, 0x55, bytes));
    return stray;
}

// Points of two coordinates, whole numbers below 1024.
static inline float *random_points(int seed, tmap_u32 n, shape s) {
    const tmap_u64 count = (tmap_u64)n * s.sets * 2;
    float *host = (float *)kit_host(count * 4);
    for (tmap_u64 i = 0; i < count; ++i)
        host[i] = (float)(check_hash(i, (tmap_u64)seed + n) % 1024);
    return host;
}

static inline void make_plan(shape s, const void *kernel, tmap_pairs_plan *plan) {
    CHECK(tmap_pairs_plan_make(s.n, s.d, s.size, kernel, plan));
    CHECK(tmap_pairs_plan_rows(plan, s.rows));
    if (s.others) CHECK(tmap_pairs_plan_others(plan, s.others));
    CHECK(tmap_pairs_plan_sets(plan, s.sets));
}

#endif
