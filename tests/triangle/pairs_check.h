// SPDX-License-Identifier: MIT
// pairs_check.h: what tests of the pairs engine share: shapes of problems, points, and what is said
// of a failure.
#ifndef TESTS_TRIANGLE_PAIRS_CHECK_H
#define TESTS_TRIANGLE_PAIRS_CHECK_H

#include "cuda_check.h"
#include "triangle/devices_check.h"
#include <threadmap/triangle.h>

static int failures, cases;
static int pairs_small; // 1: few cases, for slow machines and sanitizers
static char pairs_machine[256];

// Points of a set, rows of pairs, points of the second set (0: none), sets; coordinates, bytes.
typedef struct shape {
    tmap_u32 n, rows, others, sets, d, size;
} shape;

static inline shape shape_of(tmap_u32 n) {
    const shape s = {n, n, 0, 1, 3, 4};
    return s;
}

static inline void expect(int ok, const char *what, shape s) {
    ++cases;
    if (ok || ++failures > 20) return;
    printf("FAIL %s: n = %u, rows %u, others %u, sets %u, d = %u, %u bytes\n", what, s.n, s.rows,
           s.others, s.sets, s.d, s.size);
}

static inline void *to_device(const void *host, tmap_u64 bytes) {
    void *device;
    CHECK(cudaMalloc(&device, bytes ? bytes : 1));
    if (bytes) CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

// Points that know who they are: coordinate k of point p of set b is 8 p + k + 3 b.
static inline void *numbered_points(int, tmap_u32 n, shape s) {
    const tmap_u64 count = (tmap_u64)n * s.sets * s.d;
    void *host = malloc(count * s.size + 1), *device;
    for (tmap_u64 i = 0; i < count; ++i) {
        const tmap_u64 p = i / s.d;
        const double value = (double)(8 * (p % n) + i % s.d + 3 * (p / n));
        if (s.size == 8)
            ((double *)host)[i] = value;
        else
            ((float *)host)[i] = (float)value;
    }
    device = to_device(host, count * s.size);
    free(host);
    return device;
}

// Points of the second set. Where there is none, 0 or, for an odd n, points that nobody may read.
static inline void *second_points(shape s) {
    const tmap_u64 bytes = (tmap_u64)s.n * s.sets * s.d * s.size + 1;
    void *stray;
    if (s.others) return numbered_points(1, s.others, s);
    if (s.n % 2 == 0) return 0;
    CHECK(cudaMalloc(&stray, bytes));
    CHECK(cudaMemset(stray, 0x55, bytes));
    return stray;
}

// Points of two coordinates, whole numbers below 1024.
static inline float *random_points(int seed, tmap_u32 n, shape s) {
    const tmap_u64 count = (tmap_u64)n * s.sets * 2;
    float *host = (float *)malloc(count * 4 + 4);
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

// Returns 77 where there is no GPU.
static inline int pairs_begin(void) {
    struct cudaDeviceProp properties;
    int devices = 0;
    pairs_small = getenv("TMAP_TEST_SMALL") || getenv("SIMT_SEED"); // the latter: sanitized
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices)
        return puts("SKIP: no NVIDIA GPU"), 77;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    snprintf(pairs_machine, sizeof pairs_machine, "%s", properties.name);
    return 0;
}

static inline int pairs_end(const char *name) {
    CHECK(cudaDeviceSynchronize());
    printf("%s: %s: %d cases, %d failures\n", pairs_machine, name, cases, failures);
    return failures != 0;
}

#endif
