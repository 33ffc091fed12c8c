// SPDX-License-Identifier: MIT
// forest.h: union-find in global memory: trees of nodes that belong together.
//
// A node's parent is a node of the same component, or the node itself: a root. A root is before all
// nodes of its tree, in an order of the caller's, so it does not depend on the order of unions.
#ifndef TMAP_FOREST_H
#define TMAP_FOREST_H

#include "value.h"

#if TMAP_CUDA

// 1 if node a is before node b. A constant of the kernel, which nvcc folds.
typedef int (*tmapi_forest_before)(const void *job, tmap_u32 a, tmap_u32 b);

// The root of a node. Points the node to each node that it has reached: others do so at the same
// time, so paths become short.
TMAP_DEVICE tmap_u32 tmapi_forest_root(tmap_u32 *parent, tmap_u32 node) {
    tmap_u32 up = __ldcg(parent + node), top;
    for (; (top = __ldcg(parent + up)) != up; up = top) TMAPI_STCG(parent + node, top);
    return up;
}

// Joins the trees of two nodes.
TMAP_DEVICE void tmapi_forest_unite(tmap_u32 *parent, tmap_u32 a, tmap_u32 b,
                                    tmapi_forest_before before, const void *job) {
    for (;;) {
        tmap_u32 high, old;
        a = tmapi_forest_root(parent, a), b = tmapi_forest_root(parent, b);
        if (a == b) return;
        high = before(job, a, b) ? b : a;
        old = atomicCAS(parent + high, high, a ^ b ^ high);
        if (old == high) return;
        a ^= b ^ high, b = old; // the first one, and the new parent of the other one
    }
}

#endif // TMAP_CUDA
#endif
