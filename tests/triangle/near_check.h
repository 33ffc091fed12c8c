// SPDX-License-Identifier: MIT
// near_check.h: what tests of near pairs share: points of many kinds, orders of them, prepared sets.
#ifndef TESTS_TRIANGLE_NEAR_CHECK_H
#define TESTS_TRIANGLE_NEAR_CHECK_H

#include "kit.h"

#include <math.h>
#include <threadmap/triangle/near_prepare.h>

TMAP_FN double coordinate_of(const void *point, tmap_u32 size, tmap_u32 k) {
    return size == 8 ? ((const double *)point)[k] : (double)((const float *)point)[k];
}

enum { CUBE, CLUSTERS, LINE, SAME, BAD, LATTICE, KINDS };

// Points in a cube of side 1, in clusters, in a line, a few places only, some of them not finite, or on
// a lattice, where many distances are a radius but for the last bits.
// widest: of the last coordinate, a radius of the point's own; 0: it is one as the others.
static inline void *points_of(tmap_u64 *state, tmap_near_shape p, int kind, double widest) {
    unsigned char *host = (unsigned char *)kit_host((tmap_u64)p.n * p.d * p.size + 1);
    for (tmap_u32 i = 0; i < p.n; ++i)
        for (tmap_u32 k = 0; k < p.d; ++k) {
            const double u = (double)(kit_random(state) >> 11) * 0x1p-53;
            double v = u;
            if (kind == CLUSTERS) v = (double)(check_hash(i % 7, k) % 100) / 100 + u * 0.02;
            if (kind == LINE && k) v = 0.5;
            if (kind == LATTICE) v = floor(u * 32) / 32;
            if (kind == SAME) v = (double)(i % 3) / 4;
            if (widest > 0 && k + 1 == p.d) v = u * widest;
            v = floor(v * 1024) / 1024; // squares and their sums are exact, with and without fma
            if (kind == BAD && check_hash(i, k) % 11 == 0)
                v = check_hash(i, k) % 3 == 0   ? NAN
                    : check_hash(i, k) % 3 == 1 ? INFINITY
                                                : -INFINITY;
            if (p.size == 8)
                ((double *)host)[(tmap_u64)i * p.d + k] = v;
            else
                ((float *)host)[(tmap_u64)i * p.d + k] = (float)v;
        }
    return host;
}

static inline int is_finite(tmap_near_shape p, const void *points, tmap_u32 i) {
    int finite = 1;
    for (tmap_u32 k = 0; k < p.d; ++k)
        finite &= isfinite(
            coordinate_of((const unsigned char *)points + (tmap_u64)i * p.d * p.size, p.size, k));
    return finite;
}

typedef struct near_key {
    double at;
    tmap_u32 number;
} near_key;

static inline int compare_keys(const void *a, const void *b) {
    const near_key *x = (const near_key *)a, *y = (const near_key *)b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// An order: by the first coordinate, or by chance; or none.
static inline tmap_u32 *order_of(tmap_u64 *state, tmap_near_shape p, const void *points) {
    const tmap_u32 n = p.n;
    const int how = (int)(kit_random(state) % 3);
    near_key *keys = (near_key *)kit_host((n + 1) * sizeof *keys);
    tmap_u32 *order = (tmap_u32 *)kit_host((n + 1) * 4ull);
    if (how == 0) return NULL;
    for (tmap_u32 i = 0; i < n; ++i) {
        const double x =
            coordinate_of((const unsigned char *)points + (tmap_u64)i * p.d * p.size, p.size, 0);
        keys[i].at = how == 2 ? (double)(kit_random(state) >> 40) : isfinite(x) ? x : 9;
        keys[i].number = i;
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (tmap_u32 i = 0; i < n; ++i) order[i] = keys[i].number;
    return (tmap_u32 *)kit_to_device(order, n * 4ull);
}

// A prepared set, between guards.
static inline void *prepared(tmap_near_shape shape, const void *points, const tmap_u32 *order) {
    void *set = kit_guarded(tmap_near_set_bytes(shape));
    CHECK(tmap_near_prepare(shape, points, order, set, 0));
    return set;
}

#endif
