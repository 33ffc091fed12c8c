// SPDX-License-Identifier: MIT
// pdist_out.h: what pdist.h writes: metrics and layouts, and how values go into the output.
#ifndef TMAP_TRIANGLE_PDIST_OUT_H
#define TMAP_TRIANGLE_PDIST_OUT_H

#include "condensed.h"

// The distance of points u and v of d coordinates.
typedef enum tmap_pdist_metric {
    TMAP_PDIST_EUCLIDEAN,   // sqrt(sum (u_k - v_k)^2)
    TMAP_PDIST_SQEUCLIDEAN, // sum (u_k - v_k)^2
    TMAP_PDIST_CITYBLOCK,   // sum |u_k - v_k|
    TMAP_PDIST_COSINE       // 1 - u.v / (|u| |v|), computed as |u/|u| - v/|v||^2 / 2
} tmap_pdist_metric;

#define TMAP_PDIST_METRIC_COUNT 4

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

#define TMAPI_PDIST_BAND   128 // 8 rows of all 16 sets
#define TMAPI_PDIST_PERIOD 16
#define TMAPI_PDIST_SECTOR 32 // bytes

// A launch.
typedef struct tmapi_pdist {
    const void *points;
    void *out;
    tmap_u64 d;
    tmap_u32 n, layout;
    tmap_u32 tiles; // in a row of the square, or in the first row of the condensed matrix
    tmap_u32 skew;  // 1 if rows begin elsewhere than at sectors: a row of tiles then has one more
} tmapi_pdist;

template <class tmapi_real>
union tmapi_pdist_vector {
    uint4 bits;
    tmapi_real value[16 / sizeof(tmapi_real)];
};

// The tile of this block, in units of tiles.
TMAP_DEVICE tmap_pair tmapi_pdist_place(tmapi_pdist p) {
    tmap_pair t;
    if (p.layout == TMAP_PDIST_CONDENSED) return tmap_upper_map(blockIdx.x, p.tiles);
    if (p.layout == TMAP_PDIST_LOWER) {
        t = tmap_triangle_map(blockIdx.x + p.skew); // row i has i + 1 + skew tiles
        t.i -= p.skew;
        return t;
    }
    t.i = blockIdx.x / p.tiles;
    t.j = blockIdx.x % p.tiles;
    return t;
}

// Where row i of the output would have its column 0. Modulo 2^64: row 0 of a condensed matrix has
// it before the beginning.
TMAP_DEVICE tmap_u64 tmapi_pdist_begin(tmapi_pdist p, tmap_u64 i) {
    return p.layout == TMAP_PDIST_CONDENSED ? i * (2ull * p.n - i - 3) / 2 - 1 : i * p.n;
}

// How many values before a multiple of 128 columns the strips of row i begin, so as to begin at a
// sector of memory. The same for each 16th row.
template <class tmapi_real>
TMAP_DEVICE int tmapi_pdist_shift(tmapi_pdist p, int i) {
    const int sector = TMAPI_PDIST_SECTOR / sizeof(tmapi_real);
    return (int)(((tmap_u64)p.out / sizeof(tmapi_real) + tmapi_pdist_begin(p, (tmap_u64)i)) &
                 (tmap_u64)(sector - 1));
}

// The root of a float, of 0 and of infinity too. exact: one Newton step on the remainder, which
// leaves half a place of error, for 8 instructions; without it the GPU's own root, off by up to one
// place. 2: the same for a normal x, for 5.
TMAP_DEVICE float tmapi_pdist_root(float x, int exact) {
#if defined(__CUDA_ARCH__)
    float y, root;
    if (!exact) return tmapi_sqrt(x);
    y = tmapi_rsqrt(exact == 2 ? x : fmaxf(x, 1.17549435e-38f));
    root = x * y;
    root = fmaf(fmaf(-root, root, x), 0.5f * y, root);
    if (exact == 2) return root;
    return x <= 3.402823466e38f ? root : x; // infinity and NaN as they are
#else
    (void)exact;
    return sqrtf(x);
#endif
}

// From the sum to the distance.
template <class tmapi_real>
TMAP_DEVICE tmapi_real tmapi_pdist_finish(int metric, tmapi_real sum, int exact) {
    if (metric == TMAP_PDIST_EUCLIDEAN)
        return sizeof sum == 8 ? (tmapi_real)sqrt((double)sum)
                               : (tmapi_real)tmapi_pdist_root((float)sum, exact);
    if (metric == TMAP_PDIST_COSINE) {
        sum *= (tmapi_real)0.5;
        if (sum > (tmapi_real)2) sum = 2; // opposite directions, rounded; NaN stays
    }
    return sum;
}

// Stores a lane's `wide` values of row i: vectors of v columns, the first at column j and at `at`,
// each further one 32 v columns on. Columns outside the layout are left out; inside: there are
// none, nor the diagonal.
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_store(tmapi_pdist p, int metric, int exact, int wide, int inside,
                                   int i, int j, tmapi_real *at, const tmapi_real *sums) {
    const int v = 16 / sizeof(tmapi_real);
    int first = p.layout == TMAP_PDIST_CONDENSED ? i + 1 : 0;
    int end = p.layout == TMAP_PDIST_LOWER ? i + 1 : (int)p.n;
#pragma unroll
    for (int g = 0; g < wide / v; ++g, j += 32 * v, at += 32 * v) {
        union tmapi_pdist_vector<tmapi_real> vector;
#pragma unroll
        for (int c = 0; c < v; ++c)
            vector.value[c] = tmapi_pdist_finish<tmapi_real>(metric, sums[g * v + c], exact);
        if (inside || (j >= first && j + v <= end && (tmap_u32)(i - j) >= (tmap_u32)v)) {
            __stcs((uint4 *)at, vector.bits);
        } else {
#pragma unroll
            for (int c = 0; c < v; ++c)
                if (j + c >= first && j + c < end) at[c] = i == j + c ? 0 : vector.value[c];
        }
    }
}

#endif // TMAP_CUDA

#endif
