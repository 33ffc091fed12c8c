// SPDX-License-Identifier: MIT
// cluster_work.h: clusterings from a condensed matrix, molecules/gromos.h and molecules/linkage.h,
// beside one reading of the matrix. The frames are points in 8 dimensions: groups of them far
// apart, few, some or many, or a cloud whose density varies.
//
// The clustering of Daura et al. is compared with a serial one on the host, and its bit matrix with
// what a thread for each pair says. A tree is the minimum spanning tree if no pair comes before the
// last edge on the way between its two ends, which a thread for each pair looks up.
#ifndef BENCH_TRIANGLE_CLUSTER_WORK_H
#define BENCH_TRIANGLE_CLUSTER_WORK_H

#include "../driver.h"

#include <threadmap/molecules/gromos.h>
#include <threadmap/molecules/linkage.h>
#include <threadmap/triangle/pdist.h>

enum { CLUSTER_DIMENSIONS = 8, CLUSTER_LEVELS = 32 };

// Frames, and a cut-off for them. groups: 0: one cloud.
typedef struct cluster_data {
    const char *name;
    tmap_u32 groups;
    float cutoff;
} cluster_data;
enum { CLUSTER_DATA = 4 };
static const cluster_data cluster_all[CLUSTER_DATA] = {
    {"few", 10, 0.1f}, {"some", 300, 0.1f}, {"many", 5000, 0.1f}, {"cloud", 0, 0.3f}};

// What is in device memory for one size.
typedef struct cluster_work {
    tmap_u32 n;
    float cutoff, *distances;
    tmap_cluster_plan gromos, linkage;
    tmap_u32 *bits;
    tmap_clusters clusters;
    tmap_linkage_edge *edges;
    void *workspace;
} cluster_work;

// ---- frames -------------------------------------------------------------------------------------

TMAP_FN float cluster_unit(tmap_u32 a, tmap_u32 b) {
    return (float)((tmap_u32)check_hash(a, b) >> 8) / 16777216.0f;
}

// Groups are 0.02 wide, in no order. In the cloud, coordinates are sums of three numbers, and wider
// for some frames than for others.
static __global__ void cluster_points(tmap_u32 n, tmap_u32 groups, float *points) {
    const tmap_u32 stride = gridDim.x * blockDim.x;
    for (tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const tmap_u32 group = groups ? (tmap_u32)check_hash(i, 77) % groups : 0;
        const float wide = 0.1f + cluster_unit(i, 78) * 0.9f;
        for (tmap_u32 k = 0; k < CLUSTER_DIMENSIONS; ++k) {
            const float sum =
                cluster_unit(i, k) + cluster_unit(i, k + 10) + cluster_unit(i, k + 20);
            points[i * (tmap_u64)CLUSTER_DIMENSIONS + k] =
                groups ? cluster_unit(group + 1000000, k) + 0.02f * cluster_unit(i, k)
                       : wide * (sum - 1.5f);
        }
    }
}

static void cluster_distances(const cluster_work *w, const cluster_data *data) {
    float *points = (float *)kit_device((tmap_u64)w->n * CLUSTER_DIMENSIONS * 4);
    void *arguments[3] = {(void *)&w->n, (void *)&data->groups, &points};
    const tmap_pdist_points in = {points, w->n, CLUSTER_DIMENSIONS};
    CHECK(cudaLaunchKernel((const void *)cluster_points, dim3(264), dim3(256), arguments, 0, 0));
    CHECK(tmap_pdist_f32(in, TMAP_PDIST_EUCLIDEAN, TMAP_PAIRS_CONDENSED, w->distances, 0));
}

static cluster_work cluster_begin(tmap_u32 n) {
    cluster_work w;
    tmap_u64 of_bits;
    CHECK(tmap_gromos_plan_make(n, &w.gromos));
    CHECK(tmap_linkage_plan_make(n, &w.linkage));
    of_bits = w.gromos.workspace - w.gromos.bits;
    w.n = n, w.cutoff = 0;
    w.distances = (float *)kit_device(tmap_condensed_cells(n) * 4);
    w.bits = (tmap_u32 *)kit_device(w.gromos.bits);
    w.clusters.labels = (tmap_u32 *)kit_device(n * 12ull + 16);
    w.clusters.centres = w.clusters.labels + n, w.clusters.sizes = w.clusters.centres + n;
    w.clusters.count = (tmap_u64 *)kit_device(8);
    w.edges = (tmap_linkage_edge *)kit_device(n * sizeof *w.edges);
    w.workspace = kit_device(of_bits > w.linkage.workspace ? of_bits : w.linkage.workspace);
    return w;
}
// ---- what is timed ------------------------------------------------------------------------------

static void cluster_bits(void *context) {
    const cluster_work *w = (const cluster_work *)context;
    CHECK(tmap_gromos_bits(&w->gromos, w->distances, w->cutoff, w->bits, 0));
}
static void cluster_of_bits(void *context) {
    const cluster_work *w = (const cluster_work *)context;
    CHECK(tmap_gromos_of_bits(&w->gromos, w->bits, w->workspace, w->clusters, 0));
}
static void cluster_gromos(void *context) {
    cluster_bits(context);
    cluster_of_bits(context);
}
static void cluster_linkage(void *context) {
    const cluster_work *w = (const cluster_work *)context;
    CHECK(tmap_linkage(&w->linkage, w->distances, w->workspace, w->edges, 0));
}
static void cluster_labels(void *context) {
    const cluster_work *w = (const cluster_work *)context;
    CHECK(tmap_linkage_labels(&w->linkage, w->edges, w->cutoff, w->workspace, w->clusters, 0));
}
static void cluster_read(void *context) {
    const cluster_work *w = (const cluster_work *)context;
    bench_buffers t;
    t.a = (uint4 *)w->distances, t.b = (uint4 *)w->clusters.count;
    t.bytes = (size_t)(tmap_condensed_cells(w->n) / 4 * 16);
    bench_read(&t);
}

// ---- verification of the greedy algorithm -------------------------------------------------------

static __global__ void cluster_differ(tmap_u32 n, tmap_u32 words, float cutoff, const float *d,
                                      const tmap_u32 *bits, tmap_u64 *differ) {
    const tmap_u64 cells = (tmap_u64)n * words * 32;
    tmap_u64 sum = 0;
    BENCH_EACH(k, cells) {
        const tmap_u64 i = k / (words * 32), j = k % (words * 32);
        tmap_u32 near = i == j;
        if (i < j && j < n) near = d[tmap_condensed_index(i, j, n)] <= cutoff;
        if (j < i) near = d[tmap_condensed_index(j, i, n)] <= cutoff;
        sum += (bits[k / 32] >> k % 32 & 1) != near;
    }
    if (sum) atomicAdd(differ, sum);
}

// The result must be that of the serial algorithm on the bit matrix, which is looked at first.
// Returns the number of clusters.
static tmap_u64 cluster_verify_gromos(const bench_row *row, const cluster_work *w) {
    const tmap_u32 n = w->n, words = (tmap_u32)w->gromos.words;
    tmap_u32 *labels, *centres, *sizes, *bits, left = n, number = 0;
    tmap_u32 *counts = (tmap_u32 *)kit_zeroed(n * 4ull);
    tmap_u32 *number_of = (tmap_u32 *)kit_host(n * 4ull);
    tmap_u64 clusters;
    CHECK(cudaMemset(w->clusters.labels, 0xff, n * 12ull));
    cluster_gromos((void *)w);
    CHECK(cudaMemcpy(&clusters, w->clusters.count, 8, cudaMemcpyDeviceToHost));
    cluster_differ<<<2048, 256>>>(n, words, w->cutoff, w->distances, w->bits, bench_counter());
    if (bench_count()) bench_wrong(row, "bits");
    bits = (tmap_u32 *)kit_to_host(w->bits, w->gromos.bits);
    labels = (tmap_u32 *)kit_to_host(w->clusters.labels, n * 4ull);
    centres = (tmap_u32 *)kit_to_host(w->clusters.centres, n * 4ull);
    sizes = (tmap_u32 *)kit_to_host(w->clusters.sizes, n * 4ull);
    for (tmap_u32 i = 0; i < n; ++i) {
        number_of[i] = ~0u;
        for (tmap_u32 k = 0; k < words; ++k)
            counts[i] += (tmap_u32)__builtin_popcount(bits[i * (tmap_u64)words + k]);
    }
    for (; left && number < clusters; ++number) {
        tmap_u32 centre = ~0u, size = 0;
        for (tmap_u32 i = 0; i < n; ++i)
            if (number_of[i] == ~0u && (centre == ~0u || counts[i] > counts[centre])) centre = i;
        if (centres[number] != centre || sizes[number] != counts[centre])
            bench_wrong(row, "centre or size");
        for (tmap_u32 i = 0; i < n; ++i) {
            const tmap_u32 *row = bits + i * (tmap_u64)words;
            if (number_of[i] != ~0u || !(row[centre / 32] >> centre % 32 & 1)) continue;
            number_of[i] = number, ++size, --left;
            for (tmap_u32 k = 0; k < words; ++k)
                for (tmap_u32 b = row[k]; b; b &= b - 1) --counts[k * 32 + __builtin_ctz(b)];
        }
        if (size != sizes[number]) bench_wrong(row, "size");
    }
    if (left || number != clusters) bench_wrong(row, "number of clusters");
    if (memcmp(labels, number_of, n * 4ull)) bench_wrong(row, "labels");
    return clusters;
}

// ---- verification of a tree ---------------------------------------------------------------------

// In the order of leaves at[v], vertices that an edge has joined stand side by side. last[l][k]:
// the last of the edges that have joined the places from k to k + 2^l.
typedef struct cluster_order {
    tmap_u32 n;
    const tmap_u32 *at, *last;
    const tmap_linkage_edge *edges;
} cluster_order;

static __global__ void cluster_before(cluster_order o, const float *d, tmap_u64 *wrong) {
    const tmap_u64 pairs = tmap_condensed_cells(o.n);
    tmap_u64 sum = 0;
    BENCH_EACH(k, pairs) {
        const tmap_pair64 p = tmap_condensed_map64(k, o.n);
        const tmap_u32 a = o.at[p.i], b = o.at[p.j], from = a < b ? a : b, to = a < b ? b : a;
        const tmap_u32 level = 31 - (tmap_u32)__clz((int)(to - from));
        const tmap_u32 u = o.last[(tmap_u64)level * o.n + from];
        const tmap_u32 v = o.last[(tmap_u64)level * o.n + to - (1u << level)];
        const tmap_linkage_edge e = o.edges[u > v ? u : v];
        const tmap_u64 edge = tmap_condensed_index(e.i, e.j, o.n);
        sum += d[k] < e.distance || (d[k] == e.distance && k < edge) ||
               (k == edge && d[k] != e.distance);
    }
    if (sum) atomicAdd(wrong, sum);
}

static void cluster_verify_linkage(const bench_row *row, const cluster_work *w) {
    const tmap_u32 n = w->n;
    tmap_u32 *host = (tmap_u32 *)kit_host(n * 16ull), *levels, levels_n = 1;
    tmap_u32 *up = host, *first = up + n, *end = first + n, *next = end + n; // of a root's list
    tmap_linkage_edge *edges;
    cluster_order o;
    CHECK(cudaMemset(w->edges, 0xff, n * sizeof *w->edges));
    cluster_linkage((void *)w);
    edges = (tmap_linkage_edge *)kit_to_host(w->edges, (n - 1) * sizeof *edges);
    while ((1u << levels_n) < n) ++levels_n;
    levels = (tmap_u32 *)kit_zeroed((tmap_u64)n * (levels_n + 1) * 4);
    for (tmap_u32 v = 0; v < n; ++v) up[v] = first[v] = end[v] = v;
    for (tmap_u32 k = 0; k + 1 < n; ++k) {
        const tmap_linkage_edge e = edges[k], *f = edges + k - 1;
        tmap_u32 a, b;
        if (e.i >= e.j || e.j >= n) bench_wrong(row, "edge");
        if (k && (e.distance < f->distance ||
                  (e.distance == f->distance && (e.i < f->i || (e.i == f->i && e.j < f->j)))))
            bench_wrong(row, "order of edges");
        for (a = e.i; up[a] != a;) a = up[a] = up[up[a]];
        for (b = e.j; up[b] != b;) b = up[b] = up[up[b]];
        if (a == b) bench_wrong(row, "circle");
        levels[end[a]] = k; // by vertices at first
        next[end[a]] = first[b], end[a] = end[b], up[b] = a;
    }
    { // from vertices to places
        tmap_u32 *at = (tmap_u32 *)kit_host(n * 4ull), *last = (tmap_u32 *)kit_host(n * 4ull), v;
        tmap_u32 root;
        for (root = 0; up[root] != root;) root = up[root];
        v = first[root];
        for (tmap_u32 k = 0; k < n; ++k) {
            at[v] = k, last[k] = levels[v];
            v = k + 1 < n ? next[v] : v;
        }
        memcpy(levels, last, n * 4ull);
        for (tmap_u32 l = 1; l <= levels_n; ++l)
            for (tmap_u32 k = 0; k + (1u << l) < n; ++k) {
                const tmap_u32 *below = levels + (tmap_u64)(l - 1) * n;
                const tmap_u32 p = below[k], q = below[k + (1u << (l - 1))];
                levels[(tmap_u64)l * n + k] = p > q ? p : q;
            }
        o.at = (const tmap_u32 *)kit_to_device(at, n * 4ull);
        o.last = (const tmap_u32 *)kit_to_device(levels, (tmap_u64)n * (levels_n + 1) * 4);
    }
    o.n = n, o.edges = w->edges;
    cluster_before<<<2048, 256>>>(o, w->distances, bench_counter());
    if (bench_count()) bench_wrong(row, "tree");
}

// ---- in a size ----------------------------------------------------------------------------------

static bench_row cluster_row(const bench_driver *d, const char *variant, const char *data,
                             tmap_u32 n) {
    bench_row row = bench_row_begin(d, "cluster", variant, "triangle");
    bench_key_text(&row, "data", data);
    bench_key(&row, "size", "%u", n);
    bench_key_text(&row, "dtype", "f32");
    row.limit_ms = 4e-9 * (double)tmap_condensed_cells(n) / d->ceilings.read_tbs;
    return row;
}

// Times what has been verified, and writes its row.
static void cluster_time(bench_driver *d, bench_row *row, tmap_u64 clusters, bench_body body,
                         cluster_work *w) {
    row->verified = 1;
    bench_key(row, "clusters", "%llu", clusters);
    bench_time_row(row, body, w);
    bench_row_end(d, row);
}

// The rows of one size. Their limit is one reading of the matrix at the measured bandwidth.
// clusters: those of the greedy algorithm, and those that single linkage has at the same cut-off.
static void cluster_sweep_size(bench_driver *d, tmap_u32 n) {
    cluster_work w;
    memset(&w, 0, sizeof w);
    for (int k = 0; k < CLUSTER_DATA; ++k) {
        const cluster_data *data = &cluster_all[k];
        bench_row read = cluster_row(d, "read", data->name, n);
        bench_row gromos = cluster_row(d, "gromos", data->name, n);
        bench_row linkage = cluster_row(d, "linkage", data->name, n);
        const int reads = k == 0 && bench_wants(d, &read), greedy = bench_wants(d, &gromos);
        const int tree = bench_wants(d, &linkage);
        tmap_u64 clusters;
        int mark;
        if (!reads && !greedy && !tree) continue;
        if (!w.n) w = cluster_begin(n);
        mark = kit_mark();
        cluster_distances(&w, data);
        w.cutoff = data->cutoff;
        if (reads) cluster_time(d, &read, 0, cluster_read, &w);
        if (greedy) {
            clusters = cluster_verify_gromos(&gromos, &w);
            cluster_time(d, &gromos, clusters, cluster_gromos, &w);
        }
        if (tree) {
            cluster_verify_linkage(&linkage, &w);
            cluster_labels(&w);
            CHECK(cudaMemcpy(&clusters, w.clusters.count, 8, cudaMemcpyDeviceToHost));
            cluster_time(d, &linkage, clusters, cluster_linkage, &w);
        }
        kit_release(mark);
    }
    kit_release(0);
}

#endif
