// SPDX-License-Identifier: MIT
// test_near_nearest: the k nearest against sorting all distances: every small n and some larger ones,
// 1 to 8 coordinates, floats and doubles, one set and two, orders, points that coincide or are not
// finite, three measures, with and without the point itself, limits, more neighbours than points;
// rows that are cut short, numbers of 8 bytes; shares and grids.
#define TMAPI_NEAR_UNITS 48u // so that small sizes have runs of leaves
#define TMAPI_NEAR_ITEMS 30u
#include "triangle/near_check.h"

#include <threadmap/triangle/near_nearest.h>

typedef struct job {
    tmap_u32 d, size, way; // way: the measure, a WAY
    void *set, *second;
    tmap_near_nearest_to to;
} job;

enum { SQUARE, SUM, MAX, WAYS };

// A measure in the type of the coordinates: the square of the distance, the sum or the largest of
// the differences.
#define MEASURE_OF(name, type, abs) \
    TMAP_FN type name(tmap_u32 way, tmap_u32 d, const void *a, const void *b) { \
        type found = 0; \
        for (tmap_u32 k = 0; k < d; ++k) { \
            const type t = ((const type *)a)[k] - ((const type *)b)[k], far = abs(t); \
            if (way == SQUARE) found += t * t; \
            if (way == SUM) found += far; \
            if (way == MAX && far > found) found = far; \
        } \
        return found; \
    }
MEASURE_OF(measure_f32, float, fabsf)
MEASURE_OF(measure_f64, double, fabs)

static __device__ void measure(void *at, const void *a, const void *b, void *value) {
    const job *j = (const job *)at;
    if (j->size == 8)
        *(double *)value = measure_f64(j->way, j->d, a, b);
    else
        *(float *)value = measure_f32(j->way, j->d, a, b);
}
static __device__ float bound(void *at, const tmap_near_box *a, const tmap_near_box *b) {
    const job *j = (const job *)at;
    return j->way == SUM   ? tmap_near_least_sum(a, b, j->d)
           : j->way == MAX ? tmap_near_least_max(a, b, j->d)
                           : tmap_near_least_square(a, b, j->d);
}

#define KERNELS_OF(K) \
    K(3, float, 16, 0, 1) \
    K(3, float, 1, 0, 0) \
    K(2, double, 5, 0, 0) \
    K(1, float, 64, 1, 0) K(8, float, 7, 1, 1) K(5, double, 64, 0, 1) K(2, float, 2, 1, 0)
#define KERNEL(D, type, K, self, root) \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        find_##D##_##type##_##K(tmap_near_plan plan, job j) { \
        const tmap_points points = {j.set, j.second, sizeof(type), D}; \
        const tmap_near_k k = {K, measure, bound, self, root}; \
        j.d = D, j.size = sizeof(type); \
        tmap_near_nearest(&plan, points, k, &j.to, &j); \
    }
#define NAME(D, type, K, self, root) \
    {D, sizeof(type), K, self, root, (const void *)find_##D##_##type##_##K},
KERNELS_OF(KERNEL)
static const struct kernel_of {
    tmap_u32 d, size, k;
    int self, root;
    const void *kernel;
} kernels[] = {KERNELS_OF(NAME)};

typedef struct neighbour {
    double measure;
    tmap_u32 number;
} neighbour;

static int compare(const void *a, const void *b) {
    const neighbour *x = (const neighbour *)a, *y = (const neighbour *)b;
    if (x->measure != y->measure) return x->measure < y->measure ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// What must be written for a point: fills `want` with k neighbours and returns their number.
static tmap_u32 want_of(const struct kernel_of *kernel, tmap_near_shape s, const unsigned char *a,
                        const unsigned char *b, tmap_u32 m, tmap_u32 i, int two, const job *j,
                        neighbour *all) {
    const tmap_u32 bytes = s.d * s.size;
    const tmap_near_shape second = {m, s.d, s.size};
    tmap_u32 count = 0;
    for (tmap_u32 c = 0; c < m && is_finite(s, a, i); ++c) {
        const unsigned char *u = a + (tmap_u64)i * bytes, *v = b + (tmap_u64)c * bytes;
        if ((!two && i == c && !kernel->self) || !is_finite(second, b, c)) continue;
        const double value =
            s.size == 8 ? measure_f64(j->way, s.d, u, v) : (double)measure_f32(j->way, s.d, u, v);
        if (j->to.limit > 0 && !(value < j->to.limit)) continue;
        all[count].measure = value, all[count].number = c, ++count;
    }
    qsort(all, count, sizeof *all, compare);
    return count < kernel->k ? count : kernel->k;
}

static void run(tmap_u64 *state, tmap_u32 n, tmap_u32 others) {
    const struct kernel_of *k = &kernels[kit_random(state) % COUNT(kernels)];
    const int kind = (int)(kit_random(state) % KINDS), two = others > 0, turn = check_turn();
    const double limits[] = {0, 0, 0.0625, 1e-9}, limit = limits[kit_random(state) % COUNT(limits)];
    const tmap_near_shape shape = {n, k->d, k->size}, second = {others, k->d, k->size};
    const tmap_u32 m = two ? others : n;
    if (!turn) return;
    kit_case("n = %u, others %u, d = %u, %u bytes, k = %u, points %d, limit %g", n, others, k->d,
             k->size, k->k, kind, limit);
    unsigned char *a = (unsigned char *)points_of(state, shape, kind, 0), *b = a;
    job j;
    memset(&j, 0, sizeof j);
    j.way = (tmap_u32)(kit_random(state) % WAYS);
    j.set =
        prepared(shape, kit_to_device(a, (tmap_u64)n * k->d * k->size), order_of(state, shape, a));
    if (two) {
        b = (unsigned char *)points_of(state, second, (int)(kit_random(state) % KINDS), 0);
        j.second = prepared(second, kit_to_device(b, (tmap_u64)m * k->d * k->size),
                            order_of(state, second, b));
    }
    const tmap_u32 row = kit_random(state) % 2 ? 1 + (tmap_u32)(kit_random(state) % k->k) : 0;
    const tmap_u32 many = row ? row : k->k;
    const int wide = kit_random(state) % 2;
    const tmap_u64 cells = (tmap_u64)n * many;
    const int bare = kit_random(state) % 4 == 0; // numbers alone
    tmap_near_plan plan;
    j.to.numbers = (tmap_u32 *)kit_guarded(cells * (wide ? 8 : 4)), j.to.limit = limit;
    j.to.row = row, j.to.wide = wide;
    if (!bare) j.to.distances = kit_guarded(cells * k->size);
    if (!bare) j.to.counts = (tmap_u32 *)kit_guarded(n * 4ull);
    CHECK(tmap_near_nearest_plan_make(shape, k->kernel, &plan));
    if (two) CHECK(tmap_near_plan_others(&plan, others));
    tmap_u64 first = 0;
    for (int part = 0; part < 3; ++part) {
        const tmap_u64 left = plan.items - first,
                       count = part == 2 ? left : kit_random(state) % (left + 1);
        tmap_near_plan some = plan;
        CHECK(tmap_near_plan_share(&some, first, count));
        if (kit_random(state) % 2) some.grid = 1 + (tmap_u32)(kit_random(state) % 3);
        CHECK(tmap_near_launch(&some, &j, 0));
        first += count;
    }
    const void *numbers = kit_to_host(j.to.numbers, cells * (wide ? 8 : 4));
    const tmap_u32 *counts = NULL;
    const unsigned char *distances = NULL;
    if (!bare) distances = (const unsigned char *)kit_to_host(j.to.distances, cells * k->size);
    if (!bare) counts = (const tmap_u32 *)kit_to_host(j.to.counts, n * 4ull);
    neighbour *want = (neighbour *)kit_host((m + 1) * sizeof *want);
    tmap_u64 wrong[3] = {0, 0, 0};
    for (tmap_u32 i = 0; i < n; ++i) {
        tmap_u32 count = want_of(k, shape, a, b, m, i, two, &j, want);
        if (count > many) count = many;
        for (tmap_u32 x = 0; x < many; ++x) {
            const tmap_u64 at = (tmap_u64)i * many + x;
            const tmap_u64 got =
                wide ? ((const tmap_u64 *)numbers)[at] : ((const tmap_u32 *)numbers)[at];
            double v = x < count ? want[x].measure : (double)INFINITY;
            wrong[0] += got != (x < count ? want[x].number : wide ? m : 0xffffffffu);
            if (bare) continue;
            if (k->size == 8) {
                if (k->root) v = sqrt(v);
                wrong[1] += memcmp(distances + at * 8, &v, 8) != 0;
            } else {
                const float f = k->root ? sqrtf((float)v) : (float)v;
                wrong[1] += memcmp(distances + at * 4, &f, 4) != 0;
            }
        }
        if (!bare) wrong[2] += counts[i] != count;
    }
    expect(wrong[0] == 0, "numbers");
    expect(wrong[1] == 0, "distances");
    expect(wrong[2] == 0, "counts");
    kit_release(0);
}

int main(void) {
    static const tmap_u32 some[] = {1023, 1025, 1500, 2100};
    tmap_u64 state = 4711;
    tmap_near_plan plan;
    const tmap_near_shape shape = {100, 3, 4}, bad = {100, 9, 4};
    kit_begin();
    for (tmap_u32 n = 0; n <= 300; n += n < 70 ? 1 : kit_full ? 1 : 13) {
        run(&state, n, 0);
        run(&state, n, (tmap_u32)(kit_random(&state) % 150));
    }
    for (size_t i = 0; i < COUNT(some) - (kit_small ? 2u : 0u); ++i)
        run(&state, some[i], i % 2 * 700);
    for (int i = 0; i < (kit_full ? 300 : 30); ++i)
        run(&state, (tmap_u32)(kit_random(&state) % 400),
            (tmap_u32)(kit_random(&state) % 2 * 1333));
    kit_case("refused");
    REFUSED(tmap_near_nearest_plan_make(bad, kernels[0].kernel, &plan));
    REFUSED(tmap_near_nearest_plan_make(shape, kernels[0].kernel, NULL));
    return kit_end("test_near_nearest");
}
