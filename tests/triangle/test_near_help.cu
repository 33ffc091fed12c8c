// SPDX-License-Identifier: MIT
// test_near_help: where warps of a block share a leaf, which begins at 2^18 points and here at once:
// two calls of tmap_near_each in one kernel visit each pair once, and a leaf without a finite point
// has no bulk.
#define TMAPI_NEAR_UNITS 1u // a unit is a leaf, for any n
#define TMAPI_NEAR_ITEMS 16384u
#define TMAPI_NEAR_ALONE 1u
#include "kit.h"

#include <math.h>

#include <threadmap/triangle/near.h>
#include <threadmap/triangle/near_prepare.h>

typedef struct job {
    void *set;
    float radius; // below 0: no pair of leaves is near
    tmap_u64 *found;
    tmap_fold_to to;
} job;

static __device__ int is_near(const float *a, const float *b, float radius) {
    const float x = a[0] - b[0], y = a[1] - b[1];
    return x * x + y * y < radius * radius && radius > 0;
}
static __device__ int reach(void *at, const tmap_near_box *a, const tmap_near_box *b) {
    const float radius = ((job *)at)->radius;
    return radius < 0 ? TMAP_NEAR_NONE : tmap_near_within(a, b, 2, radius);
}
static __device__ void visit(void *at, void *, tmap_pair, const void *a, const void *b) {
    const job *j = (const job *)at;
    if (is_near((const float *)a, (const float *)b, j->radius)) atomicAdd(j->found, 1ull);
}
static __device__ void add(void *at, void *sum, tmap_pair, const void *a, const void *b) {
    *(tmap_u64 *)sum += is_near((const float *)a, (const float *)b, ((job *)at)->radius);
}
static __device__ void bulk(void *, void *sum, const tmap_near_box *, const tmap_near_box *) {
    *(tmap_u64 *)sum += 1; // of any boxes
}
static __device__ void join(void *, void *sum, const void *other) {
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}

static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) twice(tmap_near_plan plan, job j) {
    const tmap_near points = {{j.set, 0, sizeof(float), 2}, reach, 0};
    tmap_near_each(&plan, points, visit, &j);
    j.radius = -1;
    tmap_near_each(&plan, points, visit, &j);
}
static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) folded(tmap_near_plan plan, job j) {
    const tmap_near points = {{j.set, 0, sizeof(float), 2}, reach, bulk};
    const tmap_u64 zero = 0;
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_near_fold(&plan, points, add, fold, j.to, &j);
}

// Points of which half lie together; from number `finite` on they are NaN.
static float *points_of(tmap_u32 n, tmap_u32 finite) {
    float *points = (float *)malloc(n * 2 * sizeof *points);
    tmap_u64 state = 1;
    for (tmap_u32 i = 0; i < n; ++i) {
        const tmap_u32 x =
            2 * i < n ? 40 * i / n : 20480 * (tmap_u64)i / n; // so that squares are exact
        points[2 * i] = i < finite ? (float)x : NAN;
        points[2 * i + 1] = (float)kit_below(&state, 10);
    }
    return points;
}

static void run(tmap_u32 n, tmap_u32 finite, float radius) {
    const tmap_near_shape shape = {n, 2, sizeof(float)};
    float *points = points_of(n, finite);
    const int mark = kit_mark();
    void *device = kit_to_device(points, n * 2 * sizeof *points);
    tmap_near_plan plan, fold;
    job j;
    tmap_u64 want = 0;
    CHECK(tmap_near_plan_make(shape, (const void *)twice, &plan));
    CHECK(tmap_near_plan_make(shape, (const void *)folded, &fold));
    EXPECT(plan.parts == 1, "%u points: the warps of a block share leaves", n);
    j.set = kit_device(tmap_near_set_bytes(shape)), j.radius = radius;
    j.found = (tmap_u64 *)kit_device(8), j.to.result = kit_device(8);
    j.to.workspace = kit_device(tmap_near_fold_bytes(&fold, 8));
    CHECK(cudaMemset(j.to.workspace, 0, tmap_near_fold_clear(&fold)));
    CHECK(cudaMemset(j.found, 0, 8));
    CHECK(tmap_near_prepare(shape, device, 0, j.set, 0));
    CHECK(tmap_near_launch(&plan, &j, 0));
    for (tmap_u32 i = 0; i < finite; ++i)
        for (tmap_u32 k = 0; k < i; ++k) {
            const float x = points[2 * i] - points[2 * k];
            const float y = points[2 * i + 1] - points[2 * k + 1];
            want += x * x + y * y < radius * radius;
        }
    EXPECT(kit_number(j.found) == want, "%u points: %llu pairs", n, want);
    CHECK(tmap_near_launch(&fold, &j, 0));
    if (finite < 2) EXPECT(kit_number(j.to.result) == 0, "%u points, no pair", n);
    free(points);
    kit_release(mark);
}

int main(void) {
    kit_begin();
    for (tmap_u32 n = 1600; n <= 6400; n += 800) run(n, n, 50.5f);
    run(33, 1, 1e6f);
    run(5000, 1, 1e6f);
    return kit_end("test_near_help");
}
