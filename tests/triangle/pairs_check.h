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

// Sets number `at` of an array of floats or doubles.
TMAP_FN void put_number(void *array, tmap_u64 at, tmap_u32 size, double value) {
    if (size == 8)
        ((double *)array)[at] = value;
    else
        ((float *)array)[at] = (float)value;
}

// Points that know who they are: coordinate k of point p of set b is 8 p + k + 3 b, below 2^24.
static inline void *numbered_points(tmap_u32 n, shape s) {
    const tmap_u64 count = (tmap_u64)n * s.sets * s.d;
    void *host = kit_host(count * s.size);
    for (tmap_u64 i = 0; i < count; ++i) {
        const tmap_u64 p = i / s.d;
        put_number(host, i, s.size, (double)(8 * (p % n) + i % s.d + 3 * (p / n)));
    }
    return kit_to_device(host, count * s.size);
}

static __device__ inline tmap_u32 coordinate(const void *point, tmap_u32 size, tmap_u32 k) {
    return (tmap_u32)(size == 8 ? ((const double *)point)[k] : ((const float *)point)[k]);
}

// 1 if these are the points of a pair, both of the same set, which is *set. size, d: constants.
static __device__ inline int are_points(tmap_pair pair, const void *a, const void *b, tmap_u32 d,
                                        tmap_u32 size, tmap_u32 *set) {
    int right = 1;
    *set = (coordinate(a, size, 0) - pair.i * 8) / 3;
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k)
        right = right && coordinate(a, size, k) == pair.i * 8 + k + *set * 3 &&
                coordinate(b, size, k) == pair.j * 8 + k + *set * 3;
    return right;
}

// Points of the second set. Where there is none, 0 or, for an odd n, points that nobody may read.
static inline void *second_points(shape s) {
    const tmap_u64 bytes = (tmap_u64)s.n * s.sets * s.d * s.size + 1;
    if (s.others) return numbered_points(s.others, s);
    if (s.n % 2 == 0) return 0;
    return kit_filled(bytes, 0x55);
}

// Points of two coordinates, whole numbers below 1024.
static inline float *random_points(int seed, tmap_u32 n, shape s) {
    const tmap_u64 count = (tmap_u64)n * s.sets * 2;
    float *host = (float *)kit_host(count * 4);
    for (tmap_u64 i = 0; i < count; ++i)
        host[i] = (float)(check_hash(i, (tmap_u64)seed + n) % 1024);
    return host;
}

// Restricts a plan of all pairs of a set to a shape's.
static inline void restrict_plan(shape s, tmap_pairs_plan *plan) {
    CHECK(tmap_pairs_plan_rows(plan, s.rows));
    if (s.others) CHECK(tmap_pairs_plan_others(plan, s.others));
    CHECK(tmap_pairs_plan_sets(plan, s.sets));
}
static inline void make_plan(shape s, const void *kernel, tmap_pairs_plan *plan) {
    CHECK(tmap_pairs_plan_make(s.n, s.d, s.size, kernel, plan));
    restrict_plan(s, plan);
}

// Share number i of `shares` of a plan. It begins at item *first, which is moved on.
static inline tmap_pairs_plan share_of(const tmap_pairs_plan *plan, tmap_u32 i, tmap_u32 shares,
                                       tmap_u64 *first) {
    const tmap_u64 left = plan->items - *first;
    const tmap_u64 count = i + 1 == shares ? left : check_hash(i, plan->n) % (left / 2 + 1);
    tmap_pairs_plan part = *plan;
    CHECK(tmap_pairs_plan_share(&part, *first, count));
    *first += count;
    return part;
}

// Shapes that an engine must get right: all small n (every `step`-th beyond 5), `sizes` of six
// around tiles, each with all rows and some, one set of points and two; and many sets. number: of
// the case.
static inline void each_shape(tmap_u32 step, tmap_u32 sizes,
                              void (*run)(shape s, tmap_u32 number, tmap_u32 shares)) {
    static const tmap_u32 some[] = {511, 512, 513, 1024, 1025, 1537};
    for (tmap_u32 n = 0; n <= 300; n += n > 5 ? step : 1) run(shape_of(n), n, 1);
    for (tmap_u32 i = 0; i < sizes; ++i) {
        shape s = shape_of(some[i]);
        run(s, i, 4);
        s.rows = some[i] / 3;
        run(s, i + 1, 1);
        s.rows = some[i] - 10, s.others = some[sizes - 1 - i] + 1;
        run(s, i + 2, 3);
    }
    for (tmap_u32 sets = 2; sets <= (kit_small ? 4 : 5); ++sets) {
        shape s = shape_of(sets * (kit_small ? 131 : 211));
        s.sets = sets;
        run(s, sets, 2);
        s.others = 65;
        run(s, sets + 1, 3);
    }
}

#endif
