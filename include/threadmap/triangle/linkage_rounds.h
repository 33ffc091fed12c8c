// SPDX-License-Identifier: MIT
// linkage_rounds.h: the rounds of linkage.h: the minimum spanning tree by Boruvka's algorithm, all
// in one launch, and the components below a cut-off.
//
// In a round each component takes the least edge that leaves it, by (distance, i, j): a total
// order, so that the tree is unique and no cycle arises. At least every second component vanishes.
// A pass over the matrix finds the nearest vertex for each vertex; the rest are steps over n
// vertices.
//
// Components have the number of their lowest vertex. One that only infinite distances lead out of
// needs no pass: the least of its edges is that of vertex 0 and its lowest vertex; and of the
// component of vertex 0, all others come to it.
#ifndef TMAP_TRIANGLE_LINKAGE_ROUNDS_H
#define TMAP_TRIANGLE_LINKAGE_ROUNDS_H

#include "linkage_pass.h"

// An edge of the tree, i < j.
typedef struct tmap_linkage_edge {
    tmap_u32 i, j;
    float distance;
} tmap_linkage_edge;

// What the kernel gets. Arrays have a place for each vertex; those of components are used at its
// lowest one.
typedef struct tmapi_linkage {
    const float *distances;
    tmap_u32 n;
    tmap_linkage_edge *edges;
    tmap_u32 *control;       // zero before the launch: the barrier, edges, passes
    tmap_u64 *best;          // as in a pass
    tmap_u64 *pair;          // of a component: i * 2^32 + j of its least edge
    tmapi_cluster_key *keys; // edges in no order
    tmap_u32 *least;         // of a component: the order of that edge's distance
    tmap_u32 *of;            // the component of a vertex
    tmap_u32 *parent, *low; // of a component: what it joins, and the lowest vertex of what joins it
    tmap_u32 *ranks;        // of edges
} tmapi_linkage;

#if TMAP_CUDA

// The least edge of a component: first its distance, then, of its vertices with this distance, the
// pair.
TMAP_DEVICE void tmapi_linkage_distance(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    for (tmap_u32 v = grid->thread; v < l->n; v += grid->threads) {
        const tmap_u64 best = l->best[v];
        const tmap_u32 order = (tmap_u32)(best >> 32), component = l->of[v];
        if (best != TMAPI_LINKAGE_NONE && order < tmapi_cluster_load(l->least + component))
            atomicMin(l->least + component, order);
    }
}
TMAP_DEVICE void tmapi_linkage_pair(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    for (tmap_u32 v = grid->thread; v < l->n; v += grid->threads) {
        const tmap_u64 best = l->best[v];
        const tmap_u32 other = (tmap_u32)best, component = l->of[v];
        const tmap_u64 pair = v < other ? (tmap_u64)v << 32 | other : (tmap_u64)other << 32 | v;
        if (best != TMAPI_LINKAGE_NONE && (tmap_u32)(best >> 32) == l->least[component] &&
            pair < tmapi_cluster_load64(l->pair + component))
            atomicMin(l->pair + component, pair);
    }
}

// Components join what their edges lead to; of two that have the same edge the lower one stays.
TMAP_DEVICE void tmapi_linkage_join(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->warp; w * 32 < l->n; w += grid->warps) {
        const tmap_u32 c = w * 32 + grid->lane;
        const int component = c < l->n && l->of[c] == c;
        tmap_u32 order = TMAPI_CLUSTER_INFINITE, other = 0, place;
        tmap_u64 pair = c; // of vertex 0 and this one
        int joins = component && c;
        if (component && l->pair[c] != TMAPI_LINKAGE_NONE) {
            pair = l->pair[c], order = l->least[c];
            other = l->of[pair >> 32] == c ? l->of[(tmap_u32)pair] : l->of[pair >> 32];
            joins = l->pair[other] != pair || other < c;
        }
        if (component) l->parent[c] = joins ? other : c;
        place = tmapi_cluster_append(l->control + 1, joins);
        if (joins) {
            l->keys[place].high = order, l->keys[place].none = 0;
            l->keys[place].middle = (tmap_u32)(pair >> 32), l->keys[place].low = (tmap_u32)pair;
        }
    }
}

// Each component finds the root of its tree, on ways that all threads shorten for each other; roots
// find their lowest vertex.
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

// A component's new number. Law: the number of a new number is itself.
TMAP_DEVICE tmap_u32 tmapi_linkage_new(const tmapi_linkage *l, tmap_u32 component) {
    return l->low[l->parent[component]];
}

// Vertices get their new components. What a vertex knows of its nearest one stays if that is still
// in another component.
TMAP_DEVICE void tmapi_linkage_rename(const tmapi_linkage *l, const tmapi_cluster_grid *grid) {
    for (tmap_u32 v = grid->thread; v < l->n; v += grid->threads) {
        const tmap_u64 best = l->best[v];
        const tmap_u32 component = tmapi_linkage_new(l, l->of[v]);
        if (best != TMAPI_LINKAGE_NONE) { // the other one's component may be the new one already
            const tmap_u32 other = tmapi_cluster_load(l->of + (tmap_u32)best);
            if (tmapi_linkage_new(l, other) == component) l->best[v] = TMAPI_LINKAGE_NONE;
        }
        *(volatile tmap_u32 *)(l->of + v) = component;
        l->least[v] = 0xffffffffu, l->pair[v] = TMAPI_LINKAGE_NONE;
    }
}

// All of it. chunk: TMAPI_CLUSTER_CHUNK keys in shared memory. Collective for the launch.
TMAP_DEVICE void tmapi_linkage_run(const tmapi_linkage *l, tmapi_cluster_key *chunk) {
    tmapi_cluster_grid grid = tmapi_cluster_self(l->control);
    const tmap_u32 edges = l->n - 1;
    tmap_u32 passes = 0;
    tmapi_linkage_pass pass;
    pass.distances = l->distances, pass.n = l->n, pass.of = l->of, pass.best = l->best;
    for (tmap_u32 v = grid.thread; v < l->n; v += grid.threads) {
        l->best[v] = l->pair[v] = TMAPI_LINKAGE_NONE, l->least[v] = 0xffffffffu;
        l->of[v] = l->low[v] = v, l->ranks[v] = 0;
    }
    tmapi_cluster_barrier(&grid);
#pragma unroll 1
    while (tmapi_cluster_load(l->control + 1) < edges) { // the same in all threads
        tmapi_linkage_read(&pass, &grid), ++passes;
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_distance(l, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_pair(l, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_join(l, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_root(l, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_linkage_rename(l, &grid);
        tmapi_cluster_barrier(&grid);
    }
    if (grid.thread == 0) l->control[2] = passes; // for measurements alone
    tmapi_cluster_rank(l->keys, edges, l->ranks, chunk);
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 k = grid.thread; k < edges; k += grid.threads) {
        tmap_linkage_edge *to = l->edges + l->ranks[k];
        to->i = l->keys[k].middle, to->j = l->keys[k].low;
        to->distance = tmapi_cluster_value(l->keys[k].high);
    }
}

// ---- components below a cut-off -----------------------------------------------------------------

// What the kernel gets.
typedef struct tmapi_linkage_cut {
    const tmap_linkage_edge *edges;
    tmap_u32 n;
    float cutoff;
    tmap_u32 *labels;
    tmap_u64 *clusters;
    tmap_u32 *control; // the barrier
    tmap_u32 *parent;  // of a vertex, a lower one
    tmap_u32 *roots;   // a bit for each vertex
    tmap_u32 *before;  // roots before those of a word
} tmapi_linkage_cut;

// The root of a vertex, on a way that others may be shortening or making longer.
TMAP_DEVICE tmap_u32 tmapi_linkage_find(tmap_u32 *parent, tmap_u32 v) {
    tmap_u32 up, next;
    while ((up = tmapi_cluster_load(parent + v)) != v) {
        next = tmapi_cluster_load(parent + up);
        if (next != up) *(volatile tmap_u32 *)(parent + v) = next;
        v = up;
    }
    return v;
}

// All of it. Roots are the lowest vertices of their components. Collective for the launch.
TMAP_DEVICE void tmapi_linkage_cut_run(const tmapi_linkage_cut *c) {
    tmapi_cluster_grid grid = tmapi_cluster_self(c->control);
    const tmap_u32 words = (c->n + 31) / 32;
    for (tmap_u32 v = grid.thread; v < c->n; v += grid.threads) c->parent[v] = v;
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 k = grid.thread; k < c->n - 1; k += grid.threads) {
        tmap_u32 u = c->edges[k].i, v = c->edges[k].j;
        if (!tmapi_cluster_at_most(c->edges[k].distance, c->cutoff)) continue;
        if (u >= c->n || v >= c->n) continue;
        for (;;) {
            const tmap_u32 a = tmapi_linkage_find(c->parent, u),
                           b = tmapi_linkage_find(c->parent, v);
            u = a < b ? a : b, v = a < b ? b : a;
            if (u == v || atomicCAS(c->parent + v, v, u) == v) break;
        }
    }
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 w = grid.warp; w < words; w += grid.warps) {
        const tmap_u32 v = w * 32 + grid.lane;
        const int root = v < c->n && tmapi_linkage_find(c->parent, v) == v;
        const tmap_u32 lanes = __ballot_sync(0xffffffffu, root);
        if (grid.lane == 0) c->roots[w] = lanes;
    }
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 w = grid.warp; w < words; w += grid.warps) {
        tmap_u32 sum = 0;
        for (tmap_u32 k = grid.lane; k < w; k += 32) sum += __popc(c->roots[k]);
        sum = tmap_warp_sum_redux(tmap_warp_full(), sum);
        if (grid.lane == 0) c->before[w] = sum;
        if (grid.lane == 0 && w == words - 1) *c->clusters = sum + __popc(c->roots[w]);
    }
    tmapi_cluster_barrier(&grid);
    for (tmap_u32 v = grid.thread; v < c->n; v += grid.threads) {
        const tmap_u32 root = tmapi_linkage_find(c->parent, v);
        const tmap_u32 below = c->roots[root / 32] & ((1u << root % 32) - 1);
        c->labels[v] = c->before[root / 32] + __popc(below);
    }
}

#endif // TMAP_CUDA
#endif
