// SPDX-License-Identifier: MIT
// test_near_sort: tmap_near_sort gives a permutation in which the keys of the points, by a box that
// the host finds, do not decrease and equal ones are in the order of their numbers: for small and
// odd n, all d, floats and doubles, numbers of bits, distributions, NaN and infinities, boxes of
// the caller's; that 32 consecutive points are close together; what is refused.
#include "kit.h"

#include <threadmap/triangle/near_sort.h>

static tmap_u64 state = 1;
static double uniform(void) { return (double)(kit_random(&state) >> 11) / 9007199254740992.0; }

enum { UNIFORM, CLUSTERS, LINE, NEEDLE, ONE_POINT, WILD, HUGE_BOX, NOT_FINITE, DISTRIBUTIONS };

static double coordinate(int distribution, tmap_u32 i, tmap_u32 k, int f64) {
    const double infinite = 1e308 * 10, most = f64 ? 1.7e308 : 3.3e38;
    const tmap_u64 draw = kit_below(&state, 8);
    switch (distribution) {
    case CLUSTERS: return (double)(i % 7 * (k + 3) % 7) + 1e-3 * uniform();
    case LINE: return k == 1 ? 5 + uniform() : -2;
    case NEEDLE: return uniform() * (k == 1 ? 1000 : k);
    case ONE_POINT: return 3;
    case WILD:
        return draw == 0 ? infinite * 0 : draw == 1 ? infinite : draw == 2 ? -infinite : uniform();
    case HUGE_BOX: return most * (2 * uniform() - 1);
    case NOT_FINITE: return draw < 4 ? infinite * 0 : infinite;
    default: return uniform() * (k == 0 ? 10 : 1) - 3;
    }
}

// The key of a point, as the header says, in arithmetic of the coordinates' type.
template <class Real>
static tmap_u64 key_at(Real most, const tmap_near_sort_plan *plan, const double *box,
                       const double *point) {
    Real x[3] = {0, 0, 0}, low[3] = {0, 0, 0}, half = 0, scale = 0;
    double halves[3];
    for (tmap_u32 k = 0; k < plan->axes; ++k) {
        x[k] = (Real)point[k], low[k] = (Real)box[k];
        const Real side = (Real)box[k + 3] * (Real)0.5 - low[k] * (Real)0.5;
        half = side > half ? side : half, halves[k] = (double)side;
    }
    const tmap_near_key_grid grid = tmap_near_key_grid_make(halves, plan->axes, plan->bits);
    const tmap_u32 bits = grid.bits[0] + grid.bits[1] + grid.bits[2];
    const Real cells = (Real)((tmap_u64)1 << grid.bits[0]) * (Real)0.5;
    if (half > 0) scale = cells / half < most ? cells / half : most;
    const tmap_u64 key =
        sizeof(Real) == 4
            ? tmap_near_key_point_f32((float *)x, (float *)low, (float)scale, &grid)
            : tmap_near_key_point_f64((double *)x, (double *)low, (double)scale, &grid);
    for (tmap_u32 k = 0; k < plan->axes; ++k)
        if (x[k] != x[k]) expect(key == ~0ull >> (64 - bits), "NaN is last");
    return bits > plan->bits ? key >> (bits - plan->bits) : key;
}

static tmap_u32 *sorted(const tmap_near_sort_plan *plan, const void *points) {
    void *workspace = kit_guarded(plan->workspace);
    tmap_u32 *order = (tmap_u32 *)kit_guarded(4ull * plan->n);
    RETURNS(tmap_near_sort(plan, points, workspace, order, 0), cudaSuccess);
    CHECK(cudaDeviceSynchronize());
    return (tmap_u32 *)kit_to_host(order, 4ull * plan->n);
}

static void run(tmap_u32 n, tmap_u32 d, int f64, tmap_u32 bits, int distribution, int boxed) {
    if (!check_turn()) return;
    const int mark = kit_mark();
    const tmap_u32 size = f64 ? 8 : 4, axes = d == 2 ? 2 : 3;
    double *host = (double *)kit_host(8ull * n * d + 8);
    void *packed = kit_host((tmap_u64)size * n * d + 8);
    double box[6] = {1e308 * 10, 1e308 * 10, 1e308 * 10, -1e308 * 10, -1e308 * 10, -1e308 * 10};
    unsigned char *seen = (unsigned char *)kit_zeroed(n + 1);
    tmap_near_sort_plan plan;
    for (tmap_u32 i = 0; i < n * d; ++i) {
        host[i] = coordinate(distribution, i / d, i % d, f64);
        if (f64)
            ((double *)packed)[i] = host[i];
        else
            host[i] = (double)(((float *)packed)[i] = (float)host[i]);
        if (i % d >= axes || host[i] - host[i] != 0) continue;
        if (host[i] < box[i % d]) box[i % d] = host[i];
        if (host[i] > box[i % d + 3]) box[i % d + 3] = host[i];
    }
    kit_case("n = %u, d = %u, f64 %d, %u bits, distribution %d, box %d", n, d, f64, bits,
             distribution, boxed);
    RETURNS(tmap_near_sort_plan_make(n, d, size, bits, &plan), cudaSuccess);
    expect(plan.bits == (bits ? bits : tmap_near_sort_bits(n)), "the bits of the plan");
    if (boxed) {
        for (int k = 0; k < 3; ++k) box[k] = -1, box[k + 3] = 2 + k;
        RETURNS(tmap_near_sort_plan_box(&plan, box, box + 3), cudaSuccess);
    }
    const tmap_u32 *order = sorted(&plan, kit_to_device(packed, (tmap_u64)size * n * d));
    tmap_u64 before = 0;
    for (tmap_u32 i = 0; i < n; ++i) {
        const double *point = host + (tmap_u64)order[i] * d;
        if (order[i] >= n || seen[order[i]]++) {
            expect(0, "a permutation");
            break;
        }
        const tmap_u64 key = f64 ? key_at<double>(1.7976931348623157e308, &plan, box, point)
                                 : key_at<float>(3.402823466e38f, &plan, box, point);
        expect(before <= key, "keys do not decrease");
        expect(!i || before < key || order[i - 1] < order[i], "equal keys are in order");
        before = key;
    }
    kit_release(mark);
}

// 32 consecutive points of uniform ones fit a box of little more than their share.
static void check_close(tmap_u32 n, tmap_u32 d, tmap_u32 bits, double most) {
    const int mark = kit_mark();
    float *host = (float *)kit_host(4ull * n * d);
    tmap_near_sort_plan plan;
    double sum = 0, side = 1;
    for (tmap_u32 i = 0; i < n * d; ++i) host[i] = (float)uniform();
    kit_case("%u points of %u coordinates, %u bits", n, d, bits);
    CHECK(tmap_near_sort_plan_make(n, d, 4, bits, &plan));
    const tmap_u32 *order = sorted(&plan, kit_to_device(host, 4ull * n * d));
    while ((d == 2 ? side * side : side * side * side) * n > 32) side *= 0.99;
    for (tmap_u32 i = 0; i + 32 <= n; i += 32)
        for (tmap_u32 k = 0; k < d; ++k) {
            float low = 1, high = 0;
            for (tmap_u32 p = i; p < i + 32; ++p) {
                const float x = host[order[p] * d + k];
                low = x < low ? x : low, high = x > high ? x : high;
            }
            sum += (double)(high - low) / (d * (n / 32)) / side;
        }
    EXPECT(sum > 0.5 && sum < most, "sides of boxes are %g of a cube's for 32 points", sum);
    kit_release(mark);
}

static void check_refused(void) {
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, bad[3] = {1, -1, 1};
    const double infinite[3] = {1, 1, 1e308 * 10};
    tmap_near_sort_plan plan, none = {0, 0, 0, 0, 0, 0, {0, 0}, {0}, {0}, 0, 0}, poison;
    kit_case("what is refused");
    memset(&plan, KIT_POISON, sizeof plan), poison = plan;
    REFUSED(tmap_near_sort_plan_make(10, 1, 4, 0, &plan));
    REFUSED(tmap_near_sort_plan_make(10, 9, 4, 0, &plan));
    REFUSED(tmap_near_sort_plan_make(10, 3, 2, 0, &plan));
    REFUSED(tmap_near_sort_plan_make(10, 3, 4, 64, &plan));
    REFUSED(tmap_near_sort_plan_make(10, 2, 4, 65, &plan));
    REFUSED(tmap_near_sort_plan_make(0x80000001u, 3, 4, 0, &plan));
    REFUSED(tmap_near_sort_plan_make(10, 3, 4, 0, NULL));
    HOLDS(!memcmp(&plan, &poison, sizeof plan));
    CHECK(tmap_near_sort_plan_make(10, 3, 4, 0, &plan));
    poison = plan;
    REFUSED(tmap_near_sort_plan_box(&plan, low, bad));
    REFUSED(tmap_near_sort_plan_box(&plan, low, infinite));
    REFUSED(tmap_near_sort_plan_box(&plan, NULL, high));
    REFUSED(tmap_near_sort_plan_box(&plan, low, NULL));
    REFUSED(tmap_near_sort_plan_box(NULL, low, high));
    REFUSED(tmap_near_sort_plan_box(&none, low, high));
    HOLDS(!memcmp(&plan, &poison, sizeof plan));
    char *memory = (char *)kit_device(plan.workspace + 1000);
    tmap_u32 *order = (tmap_u32 *)kit_device(100);
    REFUSED(tmap_near_sort(NULL, memory, memory, order, 0));
    REFUSED(tmap_near_sort(&none, memory, memory, order, 0));
    REFUSED(tmap_near_sort(&plan, NULL, memory, order, 0));
    REFUSED(tmap_near_sort(&plan, memory + 2, memory, order, 0));
    REFUSED(tmap_near_sort(&plan, memory, NULL, order, 0));
    REFUSED(tmap_near_sort(&plan, memory, memory + 8, order, 0));
    REFUSED(tmap_near_sort(&plan, memory, memory, NULL, 0));
    CHECK(tmap_near_sort_plan_make(TMAP_NEAR_SORT_MAX, 3, 4, 0, &plan));
    HOLDS(plan.bits == 32 && plan.workspace >> 31 == 12);
    CHECK(tmap_near_sort_plan_make(TMAP_NEAR_SORT_MAX, 8, 8, 63, &plan));
    HOLDS(plan.bits == 63 && plan.workspace >> 31 == 20);
    CHECK(tmap_near_sort_plan_make(0, 3, 4, 0, &plan));
    RETURNS(tmap_near_sort(&plan, NULL, NULL, NULL, 0), cudaSuccess);
    kit_release(0);
}

int main(void) {
    static const tmap_u32 sizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 500, 501, 1700, 4097};
    static const tmap_u32 numbers[][2] = {
        {0, 8},       {1024, 8},      {1025, 16},           {4096, 16},       {262144, 16},
        {262145, 24}, {1u << 26, 24}, {(1u << 26) + 1, 32}, {0x80000000u, 32}};
    kit_begin();
    check_refused();
    for (tmap_u32 i = 0; i < COUNT(numbers); ++i)
        EXPECT(tmap_near_sort_bits(numbers[i][0]) == numbers[i][1], "%u points", numbers[i][0]);
    for (tmap_u32 i = 0; i < COUNT(sizes); ++i)
        for (int distribution = 0; distribution < DISTRIBUTIONS; ++distribution)
            for (int f64 = 0; f64 < 2; ++f64)
                for (int turn = 0; turn < 3; ++turn) {
                    const tmap_u32 d = 2 + (tmap_u32)kit_below(&state, turn ? 7 : 2);
                    const tmap_u32 most = d == 2 ? 65 : 64;
                    run(sizes[i], d, f64, turn ? (tmap_u32)kit_edge_below(&state, most) : 0,
                        distribution, turn == 2);
                }
    check_close(4096, 3, 0, 1.3);
    check_close(4096, 2, 0, 1.3);
    check_close(kit_full ? 1000000 : 8192, 3, 0, 1.3);
    check_close(2000, 3, 63, 1.3);
    return kit_end("test_near_sort");
}
