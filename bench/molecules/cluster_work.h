// SPDX-License-Identifier: MIT
// cluster_work.h: clusterings from a condensed matrix, molecules/gromos.h and molecules/linkage.h,
// beside one reading of the matrix. The frames are points in 8 dimensions: groups of them far
// apart, few, some or many, or a cloud whose density varies.
//
// The clustering of Daura et al. is compared with a serial one on the host, and its bit matrix with
// what a thread for each pair says; the tree with that of Prim's algorithm, a launch for each edge.
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

// Step k of Prim's algorithm from frame 0. An edge is its distance and, below it, its number in the
// matrix. step: in which step a frame has come into the tree; least: the least edge from the tree to a
// frame outside; edges[k]: the least of all these.
static __global__ void cluster_prim(tmap_u32 n, tmap_u32 k, const float *d, tmap_u32 *step,
                                    tmap_u64 *least, tmap_u64 *edges) {
    tmap_u32 next = 0;
    if (k) { // the end of the last edge that is not in the tree
        const tmap_pair64 p = tmap_condensed_map64((tmap_u32)edges[k - 1], n);
        next = (tmap_u32)(step[p.i] < k ? p.j : p.i);
    }
    BENCH_EACH(v, n) {
        if (v == next) step[v] = k;
        if (v == next || step[v] < k) continue;
        const tmap_u64 at =
            v < next ? tmap_condensed_index(v, next, n) : tmap_condensed_index(next, v, n);
        const tmap_u64 edge = (tmap_u64)__float_as_uint(d[at]) << 32 | at;
        if (edge < least[v]) least[v] = edge;
        if (least[v] < edges[k]) atomicMin(edges + k, least[v]); // few of them are
    }
}

static int cluster_compare(const void *a, const void *b) {
    const tmap_u64 x = *(const tmap_u64 *)a, y = *(const tmap_u64 *)b;
    return (x > y) - (x < y);
}

static void cluster_verify_linkage(const bench_row *row, const cluster_work *w) {
    const tmap_u32 n = w->n;
    tmap_u32 *step = (tmap_u32 *)kit_device(n * 4ull);
    tmap_u64 *least = (tmap_u64 *)kit_device(n * 8ull), *tree = (tmap_u64 *)kit_device(n * 8ull);
    const tmap_linkage_edge *edges;
    tmap_u64 *want;
    CHECK(cudaMemset(step, 0xff, n * 4ull));
    CHECK(cudaMemset(least, 0xff, n * 8ull));
    CHECK(cudaMemset(tree, 0xff, n * 8ull));
    for (tmap_u32 k = 0; k + 1 < n; ++k)
        cluster_prim<<<n / 256 + 1, 256>>>(n, k, w->distances, step, least, tree);
    CHECK(cudaGetLastError());
    CHECK(cudaMemset(w->edges, 0xff, n * sizeof *w->edges));
    cluster_linkage((void *)w);
    edges = (const tmap_linkage_edge *)kit_to_host(w->edges, (n - 1) * sizeof *edges);
    want = (tmap_u64 *)kit_to_host(tree, (n - 1) * 8ull);
    qsort(want, n - 1, sizeof *want, cluster_compare);
    for (tmap_u32 k = 0; k + 1 < n; ++k) {
        const tmap_u64 at = tmap_condensed_index(edges[k].i, edges[k].j, n);
        tmap_u32 bits;
        memcpy(&bits, &edges[k].distance, sizeof bits);
        if (edges[k].i >= edges[k].j || edges[k].j >= n || ((tmap_u64)bits << 32 | at) != want[k])
            bench_wrong(row, "edge %u", k);
    }
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
    bench_row_run(d, row, body, w);
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
