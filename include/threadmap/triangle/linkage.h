// SPDX-License-Identifier: MIT
// linkage.h: clustering by single linkage: the minimum spanning tree of n vertices from a condensed
// distance matrix, its components below a cut-off, and scipy's linkage matrix.
//
// Edges (i, j), i < j, have a total order: by distance, then by the condensed index, which is by i
// and then by j. The tree is the only one whose edges are least in it, that of Kruskal's and of
// Prim's algorithm. Joining its edges in their order is single linkage (Gower and Ross 1969,
// Applied Statistics 18, 54).
#ifndef TMAP_TRIANGLE_LINKAGE_H
#define TMAP_TRIANGLE_LINKAGE_H

#include "linkage_rounds.h"

// The most vertices.
#define TMAP_LINKAGE_MAX 4194304u

// Bytes of the workspace of tmap_linkage, for n vertices; saturates. Example: n = 32768: 1703952.
TMAP_FN tmap_u64 tmap_linkage_bytes(tmap_u64 n) {
    const tmap_u64 bytes = tmap_mul_saturate(n, TMAPI_CLUSTER_KEY_BYTES + 2 * 8 + 5 * 4);
    return bytes > ~0ull - 16 ? ~0ull : bytes + 16;
}

// Bytes of the workspace of tmap_linkage_labels; saturates. Example: n = 32768: 139280.
TMAP_FN tmap_u64 tmap_linkage_labels_bytes(tmap_u64 n) {
    const tmap_u64 words = n / 32 + (n % 32 != 0);
    return n > ~0ull / 8 ? ~0ull : 16 + 4 * n + 8 * words;
}

// ---- scipy's linkage matrix, on the host --------------------------------------------------------

// The cluster that cluster or vertex v is in by now. up: of a cluster the next one that it is part
// of, itself for the last one.
TMAP_FN tmap_u32 tmapi_linkage_top(tmap_u32 *up, tmap_u32 v) {
    while (up[v] != v) {
        up[v] = up[up[v]];
        v = up[v];
    }
    return v;
}

// Turns the edges of a tree into the matrix of scipy.cluster.hierarchy.linkage(..., 'single'): row
// k joins clusters z[4k] < z[4k + 1] at distance z[4k + 2] to cluster n + k of z[4k + 3] vertices.
// edges: n - 1 edges as tmap_linkage writes them, by distance. z: 4 (n - 1) numbers. scratch: 2n
// numbers. All are memory of the caller's, the host's on the host. n: up to 2^31 - 1.
// Returns 0; TMAP_EINVAL for a null pointer (of n < 2 all may be null), for a vertex from n on, and
// for edges that are no tree; TMAP_ERANGE for a larger n.
// Where distances are equal, scipy may join in another order.
// Example: n = 3, edges (0,1) 1, (1,2) 2: rows 0 1 1 2 and 2 3 2 3.
TMAP_FN int tmap_linkage_z(const tmap_linkage_edge *edges, tmap_u64 n, double *z,
                           tmap_u32 *scratch) {
    if (n < 2) return TMAP_OK;
    if (!edges || !z || !scratch) return TMAP_EINVAL;
    if (n > 0x7fffffffu) return TMAP_ERANGE;
    for (int write = 0; write < 2; ++write) { // not before it is known to be a tree
        for (tmap_u64 v = 0; v < 2 * n - 1; ++v) scratch[v] = (tmap_u32)v;
        for (tmap_u64 k = 0; k + 1 < n; ++k) {
            tmap_u32 a, b;
            if (edges[k].i >= n || edges[k].j >= n) return TMAP_EINVAL;
            a = tmapi_linkage_top(scratch, edges[k].i), b = tmapi_linkage_top(scratch, edges[k].j);
            if (a == b) return TMAP_EINVAL;
            scratch[a] = scratch[b] = (tmap_u32)(n + k);
            if (!write) continue;
            z[4 * k] = a < b ? a : b, z[4 * k + 1] = a < b ? b : a;
            z[4 * k + 2] = (double)edges[k].distance;
            z[4 * k + 3] = (a < n ? 1 : z[4 * (a - n) + 3]) + (b < n ? 1 : z[4 * (b - n) + 3]);
        }
    }
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

static __global__ void __launch_bounds__(TMAPI_CLUSTER_THREADS, 1)
    tmapi_linkage_tree(tmapi_linkage l) {
    __shared__ tmapi_cluster_key chunk[TMAPI_CLUSTER_CHUNK];
    tmapi_linkage_run(&l, chunk);
}
static __global__ void __launch_bounds__(TMAPI_CLUSTER_THREADS, 1)
    tmapi_linkage_components(tmapi_linkage_cut c) {
    tmapi_linkage_cut_run(&c);
}

// Writes the minimum spanning tree of n vertices: n - 1 edges, sorted by (distance, i, j).
// distances: condensed, tmap_condensed_cells(n) floats, at any multiple of 4: any numbers; a NaN is
// taken as infinity, and -0 as 0. edges: n - 1 of them, at a multiple of 4. workspace:
// tmap_linkage_bytes(n) bytes at a multiple of 16, which need not be set to anything. All are
// device memory and do not overlap. Launches that run at the same time need workspaces of their
// own. n: up to TMAP_LINKAGE_MAX; n < 2 does nothing.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, cudaErrorInvalidConfiguration for
// a larger n, else the first error of its own calls. The call allocates nothing, does not wait, and
// can be captured. The launch is a cooperative one. Results are the same in every run.
// Cost: at most log2(n) passes over the matrix, one for each round; 12 instructions a distance and
// pass. Later passes leave out sectors of memory whose pairs are joined already. Sorting takes n^2
// comparisons.
// Example: n = 3, distances 1, 5, 2: edges (0,1) 1 and (1,2) 2.
static inline cudaError_t tmap_linkage(const float *distances, tmap_u64 n, tmap_linkage_edge *edges,
                                       void *workspace, cudaStream_t stream) {
    unsigned char *at = (unsigned char *)workspace;
    tmapi_linkage l;
    void *arguments[1];
    cudaError_t error;
    if (n < 2) return cudaSuccess;
    if (!distances || !edges || !workspace || (tmap_u64)distances % 4 || (tmap_u64)edges % 4 ||
        (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    if (n > TMAP_LINKAGE_MAX) return cudaErrorInvalidConfiguration;
    l.distances = distances, l.n = (tmap_u32)n, l.edges = edges;
    l.control = (tmap_u32 *)at, at += 16;
    l.keys = (tmapi_cluster_key *)at, at += n * sizeof *l.keys;
    l.best = (tmap_u64 *)at, l.pair = l.best + n;
    l.least = (tmap_u32 *)(l.pair + n), l.of = l.least + n, l.parent = l.of + n;
    l.low = l.parent + n, l.ranks = l.low + n;
    error = cudaMemsetAsync(l.control, 0, 16, stream);
    if (error) return error;
    arguments[0] = &l;
    return tmapi_cluster_launch((const void *)tmapi_linkage_tree, n, arguments, stream);
}

// Writes the components of the tree's edges of distance <= cutoff, which are those of all edges.
// edges: as tmap_linkage writes them; sorted they need not be. labels: n numbers, the component of
// each vertex; components are numbered by their lowest vertices. clusters: how many there are.
// workspace: tmap_linkage_labels_bytes(n) bytes at a multiple of 16. n = 0 writes *clusters alone;
// of n = 1, edges may be null. All else as above.
// Example: n = 3, edges (0,1) 1, (1,2) 2, cutoff 1: labels 0, 0, 1, clusters 2.
static inline cudaError_t tmap_linkage_labels(const tmap_linkage_edge *edges, tmap_u64 n,
                                              float cutoff, tmap_u32 *labels, tmap_u64 *clusters,
                                              void *workspace, cudaStream_t stream) {
    tmapi_linkage_cut c;
    void *arguments[1];
    cudaError_t error;
    if (!clusters || (tmap_u64)clusters % 8) return cudaErrorInvalidValue;
    if (n == 0) return cudaMemsetAsync(clusters, 0, sizeof *clusters, stream);
    if ((n > 1 && !edges) || !labels || !workspace || (tmap_u64)edges % 4 || (tmap_u64)labels % 4 ||
        (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    if (n > TMAP_LINKAGE_MAX) return cudaErrorInvalidConfiguration;
    c.edges = edges, c.n = (tmap_u32)n, c.cutoff = cutoff, c.labels = labels;
    c.clusters = clusters, c.control = (tmap_u32 *)workspace, c.parent = c.control + 4;
    c.roots = c.parent + n, c.before = c.roots + (n + 31) / 32;
    error = cudaMemsetAsync(c.control, 0, 16, stream);
    if (error) return error;
    arguments[0] = &c;
    return tmapi_cluster_launch((const void *)tmapi_linkage_components, n / 32 + 1, arguments,
                                stream);
}

#endif
#endif
