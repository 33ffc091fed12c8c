// SPDX-License-Identifier: MIT
// linkage.h: clustering by single linkage: the minimum spanning tree of n vertices from a condensed
// distance matrix, its components below a cutoff, and scipy's linkage matrix.
//
// Edges (i, j), i < j, have a total order: by distance, then by i, then by j, so the tree is
// unique. Joining its edges in order is single linkage (Gower, Ross 1969, Applied Statistics 18).
//
//     const tmap_clusters components = {labels, 0, 0, count}; // n numbers, and one
//     tmap_cluster_plan plan;
//     cudaError_t error = tmap_linkage_plan_make(n, &plan);
//     ... cudaMalloc(&workspace, plan.workspace); // of either call
//     if (!error) error = tmap_linkage(&plan, distances, workspace, edges, stream); // n - 1 edges
//     if (!error) error = tmap_linkage_labels(&plan, edges, 0.15f, workspace, components, stream);
#ifndef TMAP_MOLECULES_LINKAGE_H
#define TMAP_MOLECULES_LINKAGE_H

#include "cluster.h"

// The most vertices.
#define TMAP_LINKAGE_MAX 4194304u

// An edge of the tree, i < j.
typedef struct tmap_linkage_edge {
    tmap_u32 i, j;
    float distance;
} tmap_linkage_edge;

// ---- scipy's linkage matrix, on the host --------------------------------------------------------

// The cluster that contains cluster or vertex v. up: what a cluster is part of, the last of itself.
TMAP_FN tmap_u32 tmapi_linkage_top(tmap_u32 *up, tmap_u32 v) {
    for (; up[v] != v; v = up[v]) up[v] = up[up[v]];
    return v;
}

// Converts the edges of a tree to the matrix of scipy.cluster.hierarchy.linkage(..., 'single'): row
// k joins clusters z[4k] < z[4k + 1] at distance z[4k + 2] to cluster n + k of z[4k + 3] vertices.
// edges: n - 1 edges as tmap_linkage writes them, by distance. scratch: 2n numbers. z: 4 (n - 1)
// numbers. All are memory that the calling processor can access; host memory on the host. n: up to
// 2^31 - 1.
// Returns TMAP_OK; TMAP_EINVAL for a null pointer (with n < 2 all may be null), a vertex of n or
// more, and edges that are not a tree; TMAP_ERANGE for an n above its range. With equal distances
// scipy may join in another order.
// Example: n = 3, edges (0,1) 1, (1,2) 2: rows 0 1 1 2 and 2 3 2 3.
TMAP_FN int tmap_linkage_z(const tmap_linkage_edge *edges, tmap_u64 n, tmap_u32 *scratch,
                           double *z) {
    if (n < 2) return TMAP_OK;
    if (!edges || !z || !scratch) return TMAP_EINVAL;
    if (n > 0x7fffffffu) return TMAP_ERANGE;
    for (int write = 0; write < 2; ++write) { // writes only if the edges are a tree
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

// ---- a pass over the matrix ---------------------------------------------------------------------
//
// Finds for each vertex the nearest one of another component. A warp takes 32 rows of 128 columns,
// a lane four columns. The minimum of a row is computed only if a lane has a value not above the
// row's best. Pairs within one component are not loaded.

#define TMAPI_LINKAGE_NONE    (~(tmap_u64)0)
#define TMAPI_LINKAGE_ROWS    32u
#define TMAPI_LINKAGE_COLUMNS 128u
#define TMAPI_LINKAGE_MINE    4u // columns of a lane
#define TMAPI_LINKAGE_BATCH   4u // rows whose loads are in flight together

// Arrays have an element for each vertex; those of components use the element of the lowest vertex.
// best[v]: order of the distance * 2^32 + the other vertex, for the nearest vertex of another
// component at a finite distance; else TMAPI_LINKAGE_NONE.
typedef struct tmapi_linkage {
    const float *distances;
    tmap_u32 n;
    tmap_linkage_edge *edges;
    tmapi_cluster_control *control;
    tmap_u64 *best, *pair;   // of a component: i * 2^32 + j of its least edge
    tmapi_cluster_key *keys; // unsorted edges
    tmap_u32 *least, *of;    // order of that edge's distance; the component of a vertex
    tmap_u32 *parent, *low;  // of a component: what it joins; lowest vertex of those that join it
    tmap_u32 *ranks;         // of edges
} tmapi_linkage;

typedef struct tmapi_linkage_tile {
    tmap_u32 i, j;                     // its first pair
    tmap_u32 mine[TMAPI_LINKAGE_MINE]; // components of the lane's columns
    tmap_u32 row;                      // component of row `lane`
    float limit;                       // that row's best, or the largest finite number
    float least[TMAPI_LINKAGE_MINE];   // of the lane's columns, and their rows
    tmap_u32 at[TMAPI_LINKAGE_MINE];
} tmapi_linkage_tile;

// Updates row i with the least value of the lanes' `d` and its column. Collective for the warp.
TMAP_DEVICE void tmapi_linkage_row(const tmapi_linkage *l, const tmapi_linkage_tile *t, tmap_u32 i,
                                   const float *d, float mine) {
    const tmap_u32 order = ~tmapi_cluster_max(~tmapi_cluster_order(mine));
    const float least = tmapi_cluster_value(order);
    tmap_u32 column = 0xffffffffu;
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
        const tmap_u32 lanes = __ballot_sync(0xffffffffu, tmapi_cluster_less(d[k], least, 1));
        if (lanes && column == 0xffffffffu)
            column = t->j + k * 32 + (tmap_u32)__ffs((int)lanes) - 1;
    }
    if (threadIdx.x % 32 == 0) atomicMin(l->best + i, (tmap_u64)order << 32 | column);
}

// Visits the rows of a tile. whole: 1: all pairs exist; 0: only those with i < j < n.
TMAP_DEVICE void tmapi_linkage_rows(const tmapi_linkage *l, tmapi_linkage_tile *t,
                                    const int whole) {
    const tmap_u32 lane = threadIdx.x % 32, n = l->n, i = t->i, j = t->j + lane;
    const float *from = l->distances + (tmap_i64)(tmap_condensed_index(i, t->j, n) + lane);
    const float infinite = tmapi_cluster_value(TMAPI_CLUSTER_INFINITE);
    tmap_i64 step = (tmap_i64)n - i - 2; // to the next row
#pragma unroll 1
    for (tmap_u32 r = 0; r < TMAPI_LINKAGE_ROWS; r += TMAPI_LINKAGE_BATCH) {
        float d[TMAPI_LINKAGE_BATCH][TMAPI_LINKAGE_MINE];
#pragma unroll
        for (tmap_u32 q = 0; q < TMAPI_LINKAGE_BATCH; ++q, from += step--) {
            const tmap_u32 component = __shfl_sync(0xffffffffu, t->row, r + q);
#pragma unroll
            for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
                const tmap_u32 column = j + k * 32;
                d[q][k] = infinite;
                if (component != t->mine[k] && (whole || (i + r + q < column && column < n)))
                    d[q][k] = from[k * 32];
            }
        }
#pragma unroll
        for (tmap_u32 q = 0; q < TMAPI_LINKAGE_BATCH; ++q) {
            const float limit = __shfl_sync(0xffffffffu, t->limit, r + q);
            float least = infinite;
#pragma unroll
            for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
                least = tmapi_cluster_min(least, d[q][k]); // a NaN is never less
                if (tmapi_cluster_less(d[q][k], t->least[k], 0))
                    t->least[k] = d[q][k], t->at[k] = r + q;
            }
            if (__any_sync(0xffffffffu, tmapi_cluster_less(least, limit, 1)))
                tmapi_linkage_row(l, t, i + r + q, d[q], least);
        }
    }
}

TMAP_DEVICE void tmapi_linkage_columns(const tmapi_linkage *l, const tmapi_linkage_tile *t) {
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
        const tmap_u32 column = t->j + k * 32 + threadIdx.x % 32;
        const tmap_u32 order = tmapi_cluster_order(t->least[k]);
        const tmap_u64 key = (tmap_u64)order << 32 | (t->i + t->at[k]);
        if (order < TMAPI_CLUSTER_INFINITE && key < tmapi_cluster_load64(l->best + column))
            atomicMin(l->best + column, key);
    }
}

// A pass over the complete matrix, between barriers.
TMAP_DEVICE void tmapi_linkage_read(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    const tmap_u32 n = l->n, tiles = (n + TMAPI_LINKAGE_COLUMNS - 1) / TMAPI_LINKAGE_COLUMNS;
    const tmap_u32 parts = TMAPI_LINKAGE_COLUMNS / TMAPI_LINKAGE_ROWS; // of a square
    const tmap_u64 count = tmap_triangle_cells(tiles) * parts;
#pragma unroll 1
    for (tmap_u64 number = grid->warp; number < count; number += grid->warps) {
        const tmap_pair square = tmap_upper_map((tmap_u32)(number / parts), tiles);
        const float infinite = tmapi_cluster_value(TMAPI_CLUSTER_INFINITE);
        tmapi_linkage_tile t;
        tmap_u32 row, first;
        int same;
        t.i = square.i * TMAPI_LINKAGE_COLUMNS + (tmap_u32)(number % parts) * TMAPI_LINKAGE_ROWS;
        t.j = square.j * TMAPI_LINKAGE_COLUMNS;
        if (t.i >= n) continue;
        row = t.i + grid->lane < n ? t.i + grid->lane : n - 1;
        t.row = l->of[row], first = __shfl_sync(0xffffffffu, t.row, 0), same = t.row == first;
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_LINKAGE_MINE; ++k) {
            const tmap_u32 column = t.j + k * 32 + grid->lane;
            t.mine[k] = l->of[column < n ? column : n - 1];
            t.least[k] = infinite, t.at[k] = 0;
            same = same && t.mine[k] == first;
        }
        if (__all_sync(0xffffffffu, same)) continue;
        t.limit = tmapi_cluster_value(TMAPI_CLUSTER_INFINITE - 1);
        const tmap_u64 best = tmapi_cluster_load64(l->best + row);
        if (best != TMAPI_LINKAGE_NONE) t.limit = tmapi_cluster_value((tmap_u32)(best >> 32));
        if (square.i < square.j && t.j + TMAPI_LINKAGE_COLUMNS <= n)
            tmapi_linkage_rows(l, &t, 1);
        else
            tmapi_linkage_rows(l, &t, 0);
        tmapi_linkage_columns(l, &t);
    }
}

// ---- rounds -------------------------------------------------------------------------------------
//
// The minimum spanning tree by Boruvka's algorithm, all rounds in one launch. In a round each
// component takes the least edge that leaves it. As edges have a total order, no cycle arises.
//
// A component has the number of its lowest vertex. If only infinite distances leave it, its least
// edge is that of vertex 0 and its lowest vertex; all others then join the component of vertex 0.

// Finds each component's least edge: its distance (pairs = 0), then its vertices (1; a constant).
TMAP_DEVICE void tmapi_linkage_least(const tmapi_linkage *l, const tmapi_cluster_grid *grid,
                                     const int pairs) {
    for (tmap_u32 v = grid->thread; v < l->n; v += grid->threads) {
        const tmap_u64 best = l->best[v];
        const tmap_u32 order = (tmap_u32)(best >> 32), other = (tmap_u32)best, c = l->of[v];
        const tmap_u64 pair = v < other ? (tmap_u64)v << 32 | other : (tmap_u64)other << 32 | v;
        if (best == TMAPI_LINKAGE_NONE) continue;
        if (!pairs && order < tmapi_cluster_load(l->least + c)) atomicMin(l->least + c, order);
        if (pairs && order == l->least[c] && pair < tmapi_cluster_load64(l->pair + c))
            atomicMin(l->pair + c, pair);
    }
}

// Joins each component to the one its edge leads to; of two with the same edge the lower remains.
TMAP_DEVICE void tmapi_linkage_join(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->warp; w * 32 < l->n; w += grid->warps) {
        const tmap_u32 c = w * 32 + grid->lane;
        const int component = c < l->n && l->of[c] == c;
        tmap_u32 order = TMAPI_CLUSTER_INFINITE, other = 0, place;
        tmap_u64 pair = c; // vertex 0 and this one
        int joins = component && c;
        if (component && l->pair[c] != TMAPI_LINKAGE_NONE) {
            pair = l->pair[c], order = l->least[c];
            other = l->of[pair >> 32] == c ? l->of[(tmap_u32)pair] : l->of[pair >> 32];
            joins = l->pair[other] != pair || other < c;
        }
        if (component) l->parent[c] = joins ? other : c;
        place = tmapi_cluster_append(&l->control->found, joins);
        const tmapi_cluster_key key = {order, (tmap_u32)(pair >> 32), (tmap_u32)pair, 0};
        if (joins) l->keys[place] = key;
    }
}

// Finds the root of each component's tree; roots find their lowest vertex.
TMAP_DEVICE void tmapi_linkage_root(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    for (tmap_u32 c = grid->thread; c < l->n; c += grid->threads) {
        tmap_u32 root, next;
        if (l->of[c] != c) continue;
        root = tmapi_cluster_load(l->parent + c);
        while ((next = tmapi_cluster_load(l->parent + root)) != root)
            *(volatile tmap_u32 *)(l->parent + c) = root = next;
        if (c < tmapi_cluster_load(l->low + root)) atomicMin(l->low + root, c);
    }
}

// Gives vertices their new components; they keep a nearest vertex that is still in another.
TMAP_DEVICE void tmapi_linkage_rename(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    for (tmap_u32 v = grid->thread; v < l->n; v += grid->threads) {
        const tmap_u64 best = l->best[v];
        const tmap_u32 component = l->low[l->parent[l->of[v]]];
        if (best != TMAPI_LINKAGE_NONE) { // the other's component may already be new
            const tmap_u32 other = tmapi_cluster_load(l->of + (tmap_u32)best);
            if (l->low[l->parent[other]] == component) l->best[v] = TMAPI_LINKAGE_NONE;
        }
        *(volatile tmap_u32 *)(l->of + v) = component;
        l->least[v] = 0xffffffffu, l->pair[v] = TMAPI_LINKAGE_NONE;
    }
}

static __global__ void __launch_bounds__(TMAPI_CLUSTER_THREADS, 1)
    tmapi_linkage_tree(tmapi_linkage l) {
    tmapi_cluster_grid grid = tmapi_cluster_self(l.control);
    const tmap_u32 edges = l.n - 1;
    for (tmap_u32 v = grid.thread; v < l.n; v += grid.threads) {
        l.best[v] = l.pair[v] = TMAPI_LINKAGE_NONE, l.least[v] = 0xffffffffu;
        l.of[v] = l.low[v] = v, l.ranks[v] = 0;
    }
    tmapi_cluster_barrier(&grid);
#pragma unroll 1
    while (tmapi_cluster_load(&l.control->found) < edges) { // the same in all threads
        tmapi_linkage_read(&l, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_least(&l, &grid, 0);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_least(&l, &grid, 1);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_join(&l, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_root(&l, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_rename(&l, &grid);
        tmapi_cluster_barrier(&grid);
    }
    tmapi_cluster_rank(l.keys, edges, l.ranks);
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 k = grid.thread; k < edges; k += grid.threads) {
        tmap_linkage_edge *to = l.edges + l.ranks[k];
        to->i = l.keys[k].middle, to->j = l.keys[k].low;
        to->distance = tmapi_cluster_value(l.keys[k].high);
    }
}

// Writes the minimum spanning tree of n vertices: n - 1 edges, sorted by (distance, i, j).
// distances: any numbers; NaN counts as infinity, -0 as 0. edges: n - 1 of them at a multiple of 4.
// n < 2 does nothing. The launch is cooperative.
// Cost: at most log2(n) passes over the matrix, with 12 instructions a distance and pass, none for
// pairs already joined. Sorting takes n^2 comparisons.
// Example: n = 3, distances 1, 5, 2: edges (0,1) 1 and (1,2) 2.
static inline cudaError_t tmap_linkage(const tmap_cluster_plan *plan, const float *distances,
                                       void *workspace, tmap_linkage_edge *edges,
                                       cudaStream_t stream) {
    tmap_u64 n;
    tmapi_linkage l;
    if (!plan || plan->kind != TMAPI_CLUSTER_LINKAGE || !tmapi_cluster_has(plan, 2, distances, 4) ||
        !tmapi_cluster_has(plan, 2, edges, 4) || !tmapi_cluster_has(plan, 2, workspace, 16))
        return cudaErrorInvalidValue;
    if ((n = plan->n) < 2) return cudaSuccess;
    l.distances = distances, l.n = (tmap_u32)n, l.edges = edges;
    l.control = (tmapi_cluster_control *)workspace;
    l.keys = (tmapi_cluster_key *)(l.control + 1);
    l.best = (tmap_u64 *)(l.keys + n), l.pair = l.best + n;
    l.least = (tmap_u32 *)(l.pair + n), l.of = l.least + n, l.parent = l.of + n;
    l.low = l.parent + n, l.ranks = l.low + n;
    return tmapi_cluster_launch((const void *)tmapi_linkage_tree, plan->first, l.control, &l,
                                stream);
}

// ---- components below a cutoff ------------------------------------------------------------------

typedef struct tmapi_linkage_cut {
    const tmap_linkage_edge *edges;
    tmap_u32 n;
    float cutoff;
    tmap_clusters to;
    tmapi_cluster_control *control;
    tmap_u32 *parent, *roots, *before; // a lower vertex; a bit for each root; roots before a word
} tmapi_linkage_cut;

TMAP_DEVICE tmap_u32 tmapi_linkage_find(tmap_u32 *parent, tmap_u32 v) {
    tmap_u32 up, next;
    while ((up = tmapi_cluster_load(parent + v)) != v) {
        next = tmapi_cluster_load(parent + up);
        if (next != up) *(volatile tmap_u32 *)(parent + v) = next;
        v = up;
    }
    return v;
}

// Computes the components; the root of each is its lowest vertex.
static __global__ void __launch_bounds__(TMAPI_CLUSTER_THREADS, 1)
    tmapi_linkage_components(tmapi_linkage_cut c) {
    tmapi_cluster_grid grid = tmapi_cluster_self(c.control);
    const tmap_u32 words = (c.n + 31) / 32;
    for (tmap_u32 v = grid.thread; v < c.n; v += grid.threads) c.parent[v] = v;
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 k = grid.thread; k < c.n - 1; k += grid.threads) {
        tmap_u32 u = c.edges[k].i, v = c.edges[k].j;
        const int nearby = tmapi_cluster_less(c.edges[k].distance, c.cutoff, 1);
        if (!nearby || u >= c.n || v >= c.n) continue;
        for (;;) {
            const tmap_u32 a = tmapi_linkage_find(c.parent, u), b = tmapi_linkage_find(c.parent, v);
            u = a < b ? a : b, v = a < b ? b : a;
            if (u == v || atomicCAS(c.parent + v, v, u) == v) break;
        }
    }
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 w = grid.warp; w < words; w += grid.warps) {
        const tmap_u32 v = w * 32 + grid.lane;
        const int root = v < c.n && tmapi_linkage_find(c.parent, v) == v;
        const tmap_u32 lanes = __ballot_sync(0xffffffffu, root);
        if (grid.lane == 0) c.roots[w] = lanes;
    }
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 w = grid.warp; w < words; w += grid.warps) {
        tmap_u32 sum = 0;
        for (tmap_u32 k = grid.lane; k < w; k += 32) sum += __popc(c.roots[k]);
        sum = tmap_warp_sum_redux(tmap_warp_full(), sum);
        if (grid.lane == 0) c.before[w] = sum;
        if (grid.lane == 0 && w == words - 1) *c.to.count = sum + __popc(c.roots[w]);
    }
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 v = grid.thread; v < c.n; v += grid.threads) {
        const tmap_u32 root = tmapi_linkage_find(c.parent, v);
        const tmap_u32 below = c.roots[root / 32] & ((1u << root % 32) - 1);
        c.to.labels[v] = c.before[root / 32] + __popc(below);
    }
}

// Makes the plan for n vertices on the current device. n: up to TMAP_LINKAGE_MAX.
// Example: n = 32768: 1703952 bytes.
static inline cudaError_t tmap_linkage_plan_make(tmap_u64 n, tmap_cluster_plan *out) {
    tmap_cluster_plan p = {0, n, 0, 0, TMAPI_CLUSTER_LINKAGE, {0, 0, 0}, {0, 0, 0}};
    p.workspace = 16 + n * (sizeof(tmapi_cluster_key) + 2 * 8 + 5 * 4); // of components less
    return tmapi_cluster_plan_make(p, TMAP_LINKAGE_MAX, (const void *)tmapi_linkage_tree,
                                   (const void *)tmapi_linkage_components, out);
}

// Writes the components that the tree's edges of distance <= cutoff form; the edges of the complete
// graph form the same ones. edges: as tmap_linkage writes them, in any order; null if n = 1.
// clusters: labels, numbered by the lowest vertices of components, and count; centres and sizes may
// be null. n = 0 writes only *clusters.count. Else as tmap_linkage.
// Example: n = 3, edges (0,1) 1, (1,2) 2, cutoff 1: labels 0, 0, 1, count 2.
static inline cudaError_t tmap_linkage_labels(const tmap_cluster_plan *plan,
                                              const tmap_linkage_edge *edges, float cutoff,
                                              void *workspace, tmap_clusters clusters,
                                              cudaStream_t stream) {
    tmap_u64 n;
    tmapi_linkage_cut c;
    if (!tmapi_cluster_ready(plan, TMAPI_CLUSTER_LINKAGE, workspace, clusters) ||
        !tmapi_cluster_has(plan, 2, edges, 4))
        return cudaErrorInvalidValue;
    if (!(n = plan->n)) return cudaMemsetAsync(clusters.count, 0, sizeof *clusters.count, stream);
    c.edges = edges, c.n = (tmap_u32)n, c.cutoff = cutoff, c.to = clusters;
    c.control = (tmapi_cluster_control *)workspace, c.parent = (tmap_u32 *)(c.control + 1);
    c.roots = c.parent + n, c.before = c.roots + (n + 31) / 32;
    return tmapi_cluster_launch((const void *)tmapi_linkage_components, plan->second, c.control, &c,
                                stream);
}

#endif
#endif
