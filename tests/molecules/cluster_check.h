// SPDX-License-Identifier: MIT
// cluster_check.h: what the tests of clusterings share: condensed matrices of many kinds, and
// memory with guards.
#ifndef TESTS_MOLECULES_CLUSTER_CHECK_H
#define TESTS_MOLECULES_CLUSTER_CHECK_H

#include "kit.h"

#include <threadmap/molecules/cluster.h>

#include <math.h>

// Kinds of distances.
enum {
    CLUSTER_PLANE,    // of points in a square
    CLUSTER_GROUPS,   // of points in small squares that lie far apart; for odd n in no order
    CLUSTER_INTEGERS, // 1 to 5, at random
    CLUSTER_LINE,     // j - i
    CLUSTER_FALLING,  // the nearest of a vertex is the next one, nearer and nearer
    CLUSTER_EQUAL,    // all 3
    CLUSTER_STAR,     // 1 from vertex n / 2 to the others, else 4
    CLUSTER_BLOCKS,   // infinite but in blocks of 7 vertices, in no order; for some n large numbers
    CLUSTER_INFINITE, // all of them
    CLUSTER_ODD,      // some are NaN, infinite, negative, -0 or 0
    CLUSTER_TINY,     // numbers below the normal ones, of either sign, 0 and -0
    CLUSTER_KINDS
};

static inline double cluster_unit(tmap_u64 a, tmap_u64 b) {
    return (double)(check_hash(a, b) % 1000003) / 1000003.0;
}

static inline tmap_u64 cluster_group(tmap_u32 n, tmap_u32 i) {
    return n % 2 ? check_hash(i, 7) % 9 : i * 9ull / n;
}

static inline float cluster_distance(int kind, tmap_u32 n, tmap_u32 i, tmap_u32 j) {
    const tmap_u64 hash = check_hash((tmap_u64)i << 32 | j, n);
    switch (kind) {
    case CLUSTER_PLANE:
    case CLUSTER_GROUPS: {
        const double wide = kind == CLUSTER_PLANE ? 1 : 0.02;
        const tmap_u64 at_i = kind == CLUSTER_PLANE ? 0 : cluster_group(n, i);
        const tmap_u64 at_j = kind == CLUSTER_PLANE ? 0 : cluster_group(n, j);
        const double x = wide * (cluster_unit(i, 1) - cluster_unit(j, 1));
        const double y = wide * (cluster_unit(i, 2) - cluster_unit(j, 2));
        const double apart = (double)at_i - (double)at_j;
        return (float)sqrt((x + apart) * (x + apart) + y * y);
    }
    case CLUSTER_INTEGERS: return (float)(1 + hash % 5);
    case CLUSTER_LINE: return (float)(j - i);
    case CLUSTER_FALLING: return (float)((j - i) * 2.0 * n - (double)i);
    case CLUSTER_EQUAL: return 3;
    case CLUSTER_STAR: return i == n / 2 || j == n / 2 ? 1.0f : 4.0f;
    case CLUSTER_BLOCKS:
        return check_hash(i, n) % (n / 7 + 1) == check_hash(j, n) % (n / 7 + 1)
                   ? (float)(hash % 100) * (n % 4 == 2 ? 3.4e36f : 0.125f)
                   : INFINITY;
    case CLUSTER_INFINITE: return INFINITY;
    case CLUSTER_TINY: {
        const float tiny[] = {0.0f, -0.0f, 1.17549435e-38f, -3e-45f, 1e-44f, 1e-39f, 1.1e-38f};
        return hash % 3 ? (float)(1 + hash / 8 % 1000) * 1.4e-45f : tiny[hash / 8 % 7];
    }
    default: {
        const float odd[] = {NAN, INFINITY, -1.5f, -0.0f, 0.0f, -INFINITY, 3e38f, -NAN};
        return hash % 3 ? (float)(hash / 8 % 1000) * 0.01f : odd[hash / 8 % 8];
    }
    }
}

// A matrix, condensed; of n < 2 one number, which is none of its own.
static inline float *cluster_matrix(int kind, tmap_u32 n) {
    const tmap_u64 cells = tmap_condensed_cells(n);
    float *d = (float *)kit_host((cells + 1) * sizeof *d), *to = d;
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = i + 1; j < n; ++j) *to++ = cluster_distance(kind, n, i, j);
    return d;
}

static inline float cluster_at(const float *d, tmap_u32 n, tmap_u32 i, tmap_u32 j) {
    return i < j ? d[tmap_condensed_index(i, j, n)] : d[tmap_condensed_index(j, i, n)];
}

// A matrix on the device, `skew` floats behind a multiple of 256 bytes.
static inline const float *cluster_on_device(const float *d, tmap_u32 n, tmap_u32 skew) {
    const tmap_u64 cells = tmap_condensed_cells(n);
    float *distances = (float *)kit_device((cells + skew) * 4 + 4) + skew;
    if (cells) CHECK(cudaMemcpy(distances, d, cells * 4, cudaMemcpyHostToDevice));
    return distances;
}

// Memory for the clusters of n frames.
static inline tmap_clusters clusters_alloc(tmap_u32 n) {
    tmap_clusters c;
    c.labels = (tmap_u32 *)kit_guarded(n * 4ull);
    c.centres = (tmap_u32 *)kit_guarded(n * 4ull), c.sizes = (tmap_u32 *)kit_guarded(n * 4ull);
    c.count = (tmap_u64 *)kit_guarded(8);
    return c;
}

// The content of guarded memory; `used` bytes may have been written.
static inline void *cluster_fetch(const void *memory, tmap_u64 bytes, tmap_u64 used) {
    unsigned char *host = (unsigned char *)kit_to_host(memory, bytes);
    expect(kit_all(host + used, bytes - used, KIT_POISON), "written beyond the result");
    return host;
}

// The launch of a kernel by the facts of this device is the one by facts that are written down, and
// on a device that runs one block at a time it is one small block.
static inline void cluster_check_plans(const void *kernel) {
    tmap_facts facts;
    CHECK(tmap_facts_get(kernel, &facts));
    for (tmap_u64 warps = 0; warps < 100000; warps = 3 * warps + 1) {
        const tmap_u64 processors = facts.device.processors;
        tmapi_launch_shape plan = {0, 0, 0}, alone = {0, 0, 0};
        facts.device.concurrent = 1;
        expect(tmapi_cluster_shape_of(warps, &facts, &plan) == TMAP_OK, "a shape");
        facts.device.concurrent = 0;
        expect(tmapi_cluster_shape_of(warps, &facts, &alone) == TMAP_OK, "a shape");
        expect(alone.grid == 1 && alone.block == 128, "one block");
        expect(plan.grid >= 1 && plan.grid <= processors, "blocks");
        expect(plan.block >= 128 && plan.block <= TMAPI_CLUSTER_THREADS, "threads");
        expect(plan.block == TMAPI_CLUSTER_THREADS || plan.block / 32 * processors >= warps,
               "threads");
        expect(plan.grid == processors || plan.grid * (plan.block / 32) >= warps, "all warps");
    }
}

#endif
