// SPDX-License-Identifier: MIT
// near_truth.h: what the results of bench_near must be, without boxes and order: by all pairs, a
// thread for each point, and groups by a serial union-find on the host.
#ifndef BENCH_TRIANGLE_NEAR_TRUTH_H
#define BENCH_TRIANGLE_NEAR_TRUTH_H

#include "near_kernels.h"

// ---- pairs --------------------------------------------------------------------------------------

TMAP_DEVICE void near_tell(tmap_u64 *to, tmap_u64 hits, tmap_u64 hash) {
    if (hits) atomicAdd(to, hits), atomicAdd(to + 1, hash);
}
// Counts near pairs, and adds their hashes.
static __global__ void near_truth(tmap_u32 n, const float *points, float minus_r2, tmap_u64 *to) {
    tmap_u64 hits = 0, hash = 0;
    BENCH_EACH(i, n)
    for (tmap_u64 j = i + 1; j < n; ++j)
        if (pairs_near(points + 3 * i, points + 3 * j, minus_r2)) ++hits, hash += check_hash(i, j);
    near_tell(to, hits, hash);
}
static __global__ void near_see_list(tmap_u64 count, tmap_near_list list, tmap_u64 *to) {
    tmap_u64 hits = 0, hash = 0;
    BENCH_EACH(k, count)
    ++hits, hash += check_hash(((const tmap_u32 *)list.i)[k], ((const tmap_u32 *)list.j)[k]);
    near_tell(to, hits, hash);
}
// near_force in double, and what size of numbers each value is the difference of.
TMAP_DEVICE void near_true_force(const float *a, const float *b, float minus_r2, double *force,
                                 double *size) {
    double v[3], square = 0;
    for (int k = 0; k < 3; ++k) v[k] = (double)a[k] - (double)b[k], square += v[k] * v[k];
    const double s = 1 / (0.5 - square / (double)minus_r2), s3 = s * s * s;
    for (int k = 0; k < 3; ++k) {
        force[k] = s * s3 * (2 * s3 - 1) * v[k];
        size[k] = s * s3 * (2 * s3 + 1) * fabs(v[k]);
    }
    force[3] = s3 * (s3 - 1), size[3] = s3 * (s3 + 1);
}
// Sums in double. Their bounds hold for sums of floats in any order (Higham 2002, chapter 4): with
// u = 2^-24, m terms are off by m u / (1 - m u) of the sum of their absolute values. A term of
// near_force is itself off by 90 u of its size at most: s by 11 u, s^3 by 35 u, the rest by a few.
// periodic: 1 if each b is the image nearest to a.
static __global__ void near_see_rows(tmap_u32 n, const float *points, float minus_r2, int periodic,
                                     const float4 *rows, tmap_u64 *wrong) {
    BENCH_EACH(i, n) {
        const double u = 0x1p-24, row[4] = {rows[i].x, rows[i].y, rows[i].z, rows[i].w};
        double sum[4] = {0, 0, 0, 0}, all[4] = {0, 0, 0, 0}, sizes[4] = {0, 0, 0, 0}, terms = 0;
        int bad = 0;
        for (tmap_u64 j = 0; j < n; ++j) {
            const float *a = points + 3 * i, *b = points + 3 * j;
            double force[4], size[4];
            float image[3];
            if (periodic) near_image(a, b, image), b = image;
            if (j == i || !pairs_near(a, b, minus_r2)) continue;
            near_true_force(a, b, minus_r2, force, size);
            for (int k = 0; k < 4; ++k)
                sum[k] += force[k], all[k] += fabs(force[k]), sizes[k] += size[k];
            ++terms;
        }
        const double grown = terms * u / (1 - terms * u);
        for (int k = 0; k < 4; ++k)
            bad |= !(fabs(sum[k] - row[k]) <= grown * all[k] + 95 * u * sizes[k] + 1e-30);
        if (bad) atomicAdd(wrong, 1ull);
    }
}
// Every row of a graph with `hits` pairs, place by place.
static __global__ void near_see_graph(tmap_u32 n, const float *points, float minus_r2,
                                      tmap_u64 hits, tmap_near_graph_to graph, tmap_u64 *wrong) {
    BENCH_EACH(i, n) {
        tmap_u64 at = graph.starts[i];
        const tmap_u64 end = graph.starts[i + 1];
        int bad = (i == 0 && at) || (i + 1 == n && end != 2 * hits) || end > graph.capacity;
        for (tmap_u64 j = 0; j < n && !bad; ++j) {
            if (j == i || !pairs_near(points + 3 * i, points + 3 * j, minus_r2)) continue;
            bad = at >= end || ((const tmap_u32 *)graph.columns)[at] != j;
            ++at;
        }
        if (bad || at != end) atomicAdd(wrong, 1ull);
    }
}

// ---- the nearest --------------------------------------------------------------------------------

// Points whose list is compared with all points. Points are independent, so that the first ones are
// a random sample.
enum { NEAR_SAMPLE = 16384 };

// Every list: in order, of other points, with their distances. Those of the sample: as many points
// are nearer than the last of the list, or as near with a smaller number, as are on the list.
static __global__ void near_see_nearest(tmap_u32 n, const float *points, tmap_u32 k,
                                        tmap_near_nearest_to to, tmap_u64 *wrong) {
    BENCH_EACH(i, n) {
        const tmap_u32 *list = to.numbers + i * k, many = k < n ? k : n - 1;
        const float *distances = (const float *)to.distances + i * k, *own = points + 3 * i;
        tmap_u32 last = 0, before = 0;
        float square = -1;
        int bad = 0;
        for (tmap_u32 x = 0; x < many && !bad; ++x) {
            const tmap_u32 j = list[x];
            bad = j >= n || j == i;
            if (bad) break;
            const float v = near_square(own, points + 3ull * j);
            bad = distances[x] != sqrtf(v) || v < square || (v == square && j <= last);
            square = v, last = j;
        }
        for (tmap_u32 x = many; x < k; ++x) bad |= list[x] != 0xffffffffu || distances[x] < 1e38f;
        if (i < NEAR_SAMPLE && !bad) {
            for (tmap_u32 j = 0; j < n; ++j) {
                const float v = near_square(own, points + 3ull * j);
                before += j != i && (v < square || (v == square && j <= last));
            }
            bad = before != many;
        }
        if (bad) atomicAdd(wrong, 1ull);
    }
}

// ---- groups -------------------------------------------------------------------------------------

typedef struct near_place {
    tmap_u64 cell;
    tmap_u32 point;
} near_place;

static int near_place_order(const void *a, const void *b) {
    const tmap_u64 x = ((const near_place *)a)->cell, y = ((const near_place *)b)->cell;
    return (x > y) - (x < y);
}
static tmap_u32 near_root(tmap_u32 *parent, tmap_u32 i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}
static void near_unite(tmap_u32 *parent, tmap_u32 a, tmap_u32 b) {
    a = near_root(parent, a), b = near_root(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}
static float near_host_value(const float *u, const float *v, float minus_r2) { // of pairs_near
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return fmaf(z, z, fmaf(y, y, fmaf(x, x, minus_r2)));
}

// Two cells, places a to a_end and b to b_end: one pair that is near unites them.
static void near_unite_cells(const float *points, float minus_r2, tmap_u32 *parent,
                             const near_place *a, const near_place *a_end, const near_place *b,
                             const near_place *b_end) {
    if (near_root(parent, a->point) == near_root(parent, b->point)) return;
    for (; a < a_end; ++a)
        for (const near_place *c = b; c < b_end; ++c)
            if (near_host_value(points + 3ull * a->point, points + 3ull * c->point, minus_r2) < 0) {
                near_unite(parent, a->point, c->point);
                return;
            }
}

// Writes the smallest number of each point's group to parent; returns the number of groups. Points
// are sorted by cells so small that all of a cell are near each other, numbered along x first. A
// near point is at most two cells away along each axis. The cells of another row that are near a
// cell are a range, which moves on with the cell.
static tmap_u32 near_host_groups(tmap_u32 n, const float *points, float radius, tmap_u32 *parent) {
    const double width = 0.57 * (double)radius; // below the root of 1 / 3
    const tmap_u64 side = (tmap_u64)(1 / width) + 5;
    const int mark = kit_mark();
    near_place *places = (near_place *)kit_host((n + 1ull) * sizeof *places);
    tmap_u32 *first = (tmap_u32 *)kit_host((n + 2ull) * sizeof *first), cells = 0, groups = 0;
    for (tmap_u32 i = 0; i < n; ++i) {
        const float *p = points + 3ull * i;
        tmap_u64 at = 0;
        for (int k = 3; k-- > 0;) at = at * side + (tmap_u64)((double)p[k] / width) + 2;
        places[i].cell = at, places[i].point = parent[i] = i;
    }
    qsort(places, n, sizeof *places, near_place_order);
    places[n].cell = ~0ull; // behind all
    for (tmap_u32 i = 0; i < n; ++i) {
        if (i == 0 || places[i].cell != places[i - 1].cell) first[cells++] = i;
        near_unite(parent, places[i].point, places[first[cells - 1]].point);
    }
    first[cells] = first[cells + 1] = n;
    for (tmap_u64 z = 0; z <= 2; ++z)
        for (tmap_u64 y = z ? 0 : 2; y <= 4; ++y) { // two less than z and y of the other row
            const int own = z == 0 && y == 2;
            const tmap_u64 from = own ? 1 : (z * side + y - 2) * side - 2; // modulo 2^64
            tmap_u32 begin = 0;
            for (tmap_u32 c = 0; c < cells; ++c) {
                const tmap_u64 low = places[first[c]].cell + from, high = low + (own ? 1 : 4);
                while (places[first[begin]].cell < low) ++begin;
                for (tmap_u32 d = begin; places[first[d]].cell <= high; ++d)
                    near_unite_cells(points, -radius * radius, parent, places + first[c],
                                     places + first[c + 1], places + first[d],
                                     places + first[d + 1]);
            }
        }
    for (tmap_u32 i = 0; i < n; ++i) {
        parent[i] = near_root(parent, i);
        groups += parent[i] == i;
    }
    kit_release(mark);
    return groups;
}
static __global__ void near_see_labels(tmap_u32 n, const tmap_u32 *labels, const tmap_u32 *right,
                                       tmap_u64 *wrong) {
    BENCH_EACH(i, n)
    if (labels[i] != right[i]) atomicAdd(wrong, 1ull);
}

#endif
