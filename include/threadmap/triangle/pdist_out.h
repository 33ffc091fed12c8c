// SPDX-License-Identifier: MIT
// pdist_out.h: what pdist.h writes: metrics and layouts, and the root of a distance.
#ifndef TMAP_TRIANGLE_PDIST_OUT_H
#define TMAP_TRIANGLE_PDIST_OUT_H

#include "condensed.h"

// The distance of points u and v of d coordinates.
typedef enum tmap_pdist_metric {
    TMAP_PDIST_EUCLIDEAN,   // sqrt(sum (u_k - v_k)^2)
    TMAP_PDIST_SQEUCLIDEAN, // sum (u_k - v_k)^2
    TMAP_PDIST_CITYBLOCK,   // sum |u_k - v_k|
    TMAP_PDIST_COSINE,      // 1 - u.v / (|u| |v|), computed as |u/|u| - v/|v||^2 / 2
    TMAP_PDIST_CHEBYSHEV,   // max |u_k - v_k|; a NaN does not count
    TMAP_PDIST_CORRELATION  // the cosine of u and v less their own means
} tmap_pdist_metric;

#define TMAP_PDIST_METRIC_COUNT 6

// What is written.
typedef enum tmap_pdist_layout {
    TMAP_PDIST_CONDENSED, // n(n-1)/2 values, scipy's order: tmap_condensed_index(i, j, n)
    TMAP_PDIST_SQUARE,    // n x n values row by row, symmetric, 0 on the diagonal
    TMAP_PDIST_LOWER      // the same matrix, of which only j <= i is written
} tmap_pdist_layout;

#define TMAP_PDIST_LAYOUT_COUNT 3

// The name of a metric, as scipy has it; "?" for any other number.
TMAP_FN const char *tmap_pdist_metric_name(int metric) {
    switch (metric) {
    case TMAP_PDIST_EUCLIDEAN: return "euclidean";
    case TMAP_PDIST_SQEUCLIDEAN: return "sqeuclidean";
    case TMAP_PDIST_CITYBLOCK: return "cityblock";
    case TMAP_PDIST_COSINE: return "cosine";
    case TMAP_PDIST_CHEBYSHEV: return "chebyshev";
    case TMAP_PDIST_CORRELATION: return "correlation";
    default: return "?";
    }
}

// The values that `out` has room for: n(n-1)/2 condensed, else n^2; saturates.
// Example: 30720 condensed: 471843840.
TMAP_FN tmap_u64 tmap_pdist_values(tmap_u64 n, int layout) {
    if (layout == TMAP_PDIST_CONDENSED) return tmap_condensed_cells(n);
    return n >> 32 ? ~0ull : n * n;
}

#if TMAP_CUDA

// Where row i of the output would have its column 0. Modulo 2^64: row 0 of a condensed matrix has
// it before the beginning.
TMAP_DEVICE tmap_u64 tmapi_pdist_begin(tmap_u32 n, tmap_u32 layout, tmap_u64 i) {
    return layout == TMAP_PDIST_CONDENSED ? i * (2ull * n - i - 3) / 2 - 1 : i * n;
}

// The root of a float, of 0 and of infinity too. exact: one Newton step on the remainder, which
// leaves half a place of error, for 7 instructions; without it the GPU's own root, off by up to one
// place. 2: the same for a normal x, for 5.
TMAP_DEVICE float tmapi_pdist_root(float x, int exact) {
#if defined(__CUDA_ARCH__)
    float y, root;
    if (!exact) return tmapi_sqrt(x);
    y = tmapi_rsqrt(x);
    root = x * y;
    root = fmaf(fmaf(-root, root, x), 0.5f * y, root);
    return exact == 2 || root == root ? root : x; // 0, infinity, NaN, and what has no inverse root
#else
    (void)exact;
    return sqrtf(x);
#endif
}

#endif // TMAP_CUDA

#endif
