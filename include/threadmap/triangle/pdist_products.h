// SPDX-License-Identifier: MIT
// pdist_products.h: the distances of points of many coordinates by products on tensor cores, in
// double precision.
//
// |u - v|^2 = |u|^2 + |v|^2 - 2 u.v takes one multiplication a coordinate, where differences take a
// subtraction and a multiplication, and tensor cores that multiply doubles as fast as the GPU
// multiplies floats do all of them. What doubles cost besides is paid once for each point instead
// of once for each tile: a first kernel writes all points, as doubles, to a workspace.
//   - Euclidean: measured from a point in the middle of the cloud, so that a cloud far from the
//     origin loses nothing. Cosines: divided by their lengths; half the square of the difference of
//     two unit vectors is 1 - cos.
//   - In doubles the sum of d coordinates is off by 2^-53 (2 d + 3) (|u|^2 + |v|^2) at most: 24
//     bits may cancel (fewer for more coordinates), and the distance is off by half a place of a
//     float.
//   - Pairs that are nearer are computed again from their differences, and so are squares that a
//     float cannot hold: their roots are taken in double precision.
//
// Private to the library: pdist.h has the functions.
#ifndef TMAP_TRIANGLE_PDIST_PRODUCTS_H
#define TMAP_TRIANGLE_PDIST_PRODUCTS_H

#include "../core.h"
#include "../launch.h"
#include "condensed.h"

// ---- pdist out ----------------------------------------------------------------------------------
//
// What pdist.h writes: metrics and layouts, and the root of a distance.

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

// ---- pdist mma ----------------------------------------------------------------------------------
//
// What both forms of pdist.h on tensor cores share: the multiplication of doubles,
// which compute capabilities 8.0 and 9.0 have as fast as that of floats, and what keeps the digits.
// Private to the library.

// D += A B of a full warp; A 16 x 16, B 16 x 8. With g = lane / 4 and q = lane % 4, a lane holds
//   a[2k], a[2k + 1] = A[g][4k + q], A[g + 8][4k + q]   b[k] = B[4k + q][g]
//   d0, d1 = D[g][2q], D[g][2q + 1]                     d2, d3 = D[g + 8][2q], D[g + 8][2q + 1]
TMAP_DEVICE void tmapi_pdist_mma(double *d, const double *a, const double *b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        for (int h = 0; h < 2; ++h)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
                : "d"(a[2 * k + h]), "d"(b[k]));
#else
        // Without tensor cores, as on the CPU.
        const int lane = (int)threadIdx.x % 32;
        for (int q = 0; q < 4; ++q) {
            double even = __shfl_sync(0xffffffffu, b[k], lane % 4 * 8 + q);
            double odd = __shfl_sync(0xffffffffu, b[k], lane % 4 * 8 + 4 + q);
            for (int h = 0; h < 2; ++h) {
                double row = __shfl_sync(0xffffffffu, a[2 * k + h], lane / 4 * 4 + q);
                d[2 * h] = fma(row, even, d[2 * h]);
                d[2 * h + 1] = fma(row, odd, d[2 * h + 1]);
            }
        }
#endif
    }
#endif
}

// Bits that may cancel in a sum of up to 16 coordinates, so that a distance is off by half a place
// of a float.
#define TMAPI_PDIST_BITS 24

// Where coordinate k of n points is measured from: the middle one of the first, the last and the
// middle point.
TMAP_DEVICE float tmapi_pdist_centre(const float *points, tmap_u32 n, tmap_u64 d, tmap_u64 k) {
    float a, b, c;
    if (k >= d) return 0;
    a = __ldg(points + k), b = __ldg(points + (n / 2 * d + k)),
    c = __ldg(points + ((n - 1) * d + k));
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

// The high half of a double: in the order of the doubles, if they are not negative.
TMAP_DEVICE int tmapi_pdist_high(double x) { return __double2hiint(x); }

#endif // TMAP_CUDA

// ---- pdist products -----------------------------------------------------------------------------

#define TMAPI_PRODUCTS_SIDE  64u // of a tile
#define TMAPI_PRODUCTS_CHUNK 16u // coordinates at a time

// The coordinates of a staged point.
TMAP_FN tmap_u64 tmapi_products_width(tmap_u64 d) {
    return (d + TMAPI_PRODUCTS_CHUNK - 1) / TMAPI_PRODUCTS_CHUNK * TMAPI_PRODUCTS_CHUNK;
}

// The points that are staged, whole tiles of them.
TMAP_FN tmap_u64 tmapi_products_points(tmap_u64 n) {
    return (n + TMAPI_PRODUCTS_SIDE - 1) / TMAPI_PRODUCTS_SIDE * TMAPI_PRODUCTS_SIDE;
}

#if TMAP_CUDA

// A launch. staged: points of `width` doubles; norms: the squares of their lengths.
typedef struct tmapi_products {
    const float *points;
    double *staged, *norms;
    float *out;
    tmap_u64 d;
    tmap_u32 n, width, metric, layout;
    tmap_u32 tiles; // in a row of the square
    tmap_u32 bits;  // that may cancel
} tmapi_products;

// ---- the workspace ------------------------------------------------------------------------------

TMAP_DEVICE double tmapi_products_warp_sum(double x) {
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// Stages a point, by a warp. Points that do not exist are 0.
TMAP_DEVICE void tmapi_products_stage(const tmapi_products *p, tmap_u64 point) {
    const tmap_u32 lane = threadIdx.x % 32;
    const int cosine = p->metric == TMAP_PDIST_COSINE || p->metric == TMAP_PDIST_CORRELATION;
    const float *from = p->points + point * p->d;
    const tmap_u64 d = point < p->n ? p->d : 0;
    double *to = p->staged + point * p->width;
    double mean = 0, inverse = 1, sum = 0;
    if (p->metric == TMAP_PDIST_CORRELATION) {
        TMAPI_NO_UNROLL
        for (tmap_u64 k = lane; k < d; k += 32) mean += (double)from[k];
        mean = tmapi_products_warp_sum(mean) / (double)p->d;
    }
    if (cosine) {
        TMAPI_NO_UNROLL
        for (tmap_u64 k = lane; k < d; k += 32)
            sum = fma((double)from[k] - mean, (double)from[k] - mean, sum);
        inverse = 1 / sqrt(tmapi_products_warp_sum(sum)), sum = 0;
    }
    TMAPI_NO_UNROLL
    for (tmap_u64 k = lane; k < p->width; k += 32) {
        double value = 0;
        if (k < d) {
            const double centre = (double)tmapi_pdist_centre(p->points, p->n, p->d, k);
            value = (double)from[k] - (cosine ? mean : centre);
            value *= inverse;
        }
        to[k] = value, sum = fma(value, value, sum);
    }
    sum = tmapi_products_warp_sum(sum);
    if (lane == 0) p->norms[point] = fabs(sum); // of a NaN without its sign
}

// ---- products of a tile -------------------------------------------------------------------------

// A block has 4 warps, each of which has 32 x 32 pairs of the tile; three chunks of its points are
// in shared memory or under way.
#define TMAPI_PRODUCTS_THREADS 128u
#define TMAPI_PRODUCTS_BLOCKS  3
#define TMAPI_PRODUCTS_STAGES  3
// Doubles of a point in shared memory, and of a chunk of both sides' points. The lanes of half a
// warp then read from banks of their own.
#define TMAPI_PRODUCTS_PITCH 20u
#define TMAPI_PRODUCTS_STEP  (2 * TMAPI_PRODUCTS_SIDE * TMAPI_PRODUCTS_PITCH)
#define TMAPI_PRODUCTS_BYTES (8u * TMAPI_PRODUCTS_STAGES * TMAPI_PRODUCTS_STEP)
// Floats of a row of the tile's results there.
#define TMAPI_PRODUCTS_OUT (TMAPI_PRODUCTS_SIDE + 8)

// Copies 16 bytes to shared memory, in the background.
TMAP_DEVICE void tmapi_products_copy(double *to, const double *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#else
    to[0] = from[0], to[1] = from[1];
#endif
}

// Ends a group of copies.
TMAP_DEVICE void tmapi_products_commit(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups but the last one.
TMAP_DEVICE void tmapi_products_wait(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

// Begins to copy a chunk of the tile's points: 8 threads a point, 64 rows and 64 columns. rows,
// columns, to: where the thread's first 16 bytes are, and go.
TMAP_DEVICE void tmapi_products_chunk(tmap_u32 width, const double *rows, const double *columns,
                                      double *to) {
    const tmap_u32 step = TMAPI_PRODUCTS_THREADS / 8;
#pragma unroll
    for (tmap_u32 y = 0; y < TMAPI_PRODUCTS_SIDE; y += step)
        tmapi_products_copy(to + y * TMAPI_PRODUCTS_PITCH, rows + (tmap_u64)width * y);
#pragma unroll
    for (tmap_u32 y = 0; y < TMAPI_PRODUCTS_SIDE; y += step)
        tmapi_products_copy(to + (TMAPI_PRODUCTS_SIDE + y) * TMAPI_PRODUCTS_PITCH,
                            columns + (tmap_u64)width * y);
}

// sums[m][n]: the products of rows 16 m and columns 8 n on of the warp's part of the tile, as
// tmapi_pdist_mma leaves them. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_products_sums(const tmapi_products *p, tmap_u32 row, tmap_u32 column,
                                     double *staged, double (*sums)[4][4]) {
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const tmap_u32 point = threadIdx.x / 8, part = threadIdx.x % 8 * 2;
    const tmap_u32 chunks = p->width / TMAPI_PRODUCTS_CHUNK, pitch = TMAPI_PRODUCTS_PITCH;
    const double *rows = p->staged + (tmap_u64)(row + point) * p->width + part;
    const double *columns = p->staged + (tmap_u64)(column + point) * p->width + part;
    double *to = staged + point * pitch + part;
    tmap_u32 turn = 0, ahead = TMAPI_PRODUCTS_STAGES - 1;
#pragma unroll
    for (tmap_u32 c = 0; c + 1 < TMAPI_PRODUCTS_STAGES; ++c) {
        if (c < chunks) tmapi_products_chunk(p->width, rows, columns, to + c * TMAPI_PRODUCTS_STEP);
        tmapi_products_commit();
        rows += TMAPI_PRODUCTS_CHUNK, columns += TMAPI_PRODUCTS_CHUNK;
    }
#pragma unroll 1
    for (tmap_u32 c = 0; c < chunks; ++c) {
        const double *a_at = staged + turn * TMAPI_PRODUCTS_STEP + (warp / 2 * 32 + g) * pitch + q;
        const double *b_at = staged + turn * TMAPI_PRODUCTS_STEP +
                             (TMAPI_PRODUCTS_SIDE + warp % 2 * 32 + g) * pitch + q;
        double a[2][8], b[4];
        tmapi_products_wait();
        __syncthreads(); // this chunk is there, and all are through with the one before
        if (c + TMAPI_PRODUCTS_STAGES - 1 < chunks)
            tmapi_products_chunk(p->width, rows, columns, to + ahead * TMAPI_PRODUCTS_STEP);
        tmapi_products_commit();
        rows += TMAPI_PRODUCTS_CHUNK, columns += TMAPI_PRODUCTS_CHUNK;
        turn = turn + 1 == TMAPI_PRODUCTS_STAGES ? 0 : turn + 1;
        ahead = ahead + 1 == TMAPI_PRODUCTS_STAGES ? 0 : ahead + 1;
#pragma unroll
        for (tmap_u32 k = 0; k < 16; ++k)
            a[k / 8][k % 8] = a_at[(k / 8 * 16 + k % 2 * 8) * pitch + k % 8 / 2 * 4];
#pragma unroll
        for (tmap_u32 n = 0; n < 4; ++n) {
#pragma unroll
            for (tmap_u32 k = 0; k < 4; ++k) b[k] = b_at[n * 8 * pitch + k * 4];
#pragma unroll
            for (tmap_u32 m = 0; m < 2; ++m) tmapi_pdist_mma(sums[m][n], a[m], b);
        }
    }
}

// ---- distances ----------------------------------------------------------------------------------

TMAP_DEVICE int tmapi_products_most(int a, int b) { return a > b ? a : b; }

// From the products to squares of distances, in place. Returns a bit for each of those that are to
// be computed from their differences: bit 16 m + 4 n + c is sums[m][n][c]. row, column: of the
// warp's part.
TMAP_DEVICE tmap_u32 tmapi_products_squares(const tmapi_products *p, tmap_u32 row, tmap_u32 column,
                                            double (*sums)[4][4]) {
    const tmap_u32 lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const double *rows = p->norms + (row + g), *columns = p->norms + (column + 2 * q);
    double of_row[4];
    int high = 0, least = 0x7fffffff, limit;
    tmap_u32 near = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < 4; ++r) {
        of_row[r] = rows[8 * r];
        high = tmapi_products_most(high, tmapi_pdist_high(of_row[r]));
    }
#pragma unroll
    for (tmap_u32 n = 0; n < 4; ++n) {
        const double even = columns[8 * n], odd = columns[8 * n + 1];
        high = tmapi_products_most(high, tmapi_pdist_high(even));
        high = tmapi_products_most(high, tmapi_pdist_high(odd));
#pragma unroll
        for (tmap_u32 k = 0; k < 8; ++k) {
            double *sum = &sums[k / 4][n][k % 4];
            const double both = of_row[k / 2] + (k % 2 ? odd : even);
            *sum = fma(-2.0, *sum, both);
            if (tmapi_pdist_high(*sum) < least) least = tmapi_pdist_high(*sum);
        }
    }
    // By their high halves: no sum of norms is above twice the largest one. What overflows a float
    // or is not normal as one is left to the same code.
    limit = high - (((int)p->bits - 1) << 20);
    if (limit < 0x38100000) limit = 0x38100000;
    if (high < 0x47500000 && least > limit) return 0;
#pragma unroll
    for (tmap_u32 k = 0; k < 32; ++k) {
        const double sum = sums[k / 16][k / 4 % 4][k % 4];
        const double both = rows[(k / 16 * 2 + k / 2 % 2) * 8] + columns[k / 4 % 4 * 8 + k % 2];
        near |=
            (tmap_u32) !(sum * (double)(1u << p->bits) > both && sum >= 0x1p-126 && both < 0x1p119)
            << k;
    }
    return near;
}

// The distance of two points from their differences: of the points themselves, as what is measured
// from the middle has lost the digits of a point much nearer to the origin; or of unit vectors. 0
// for points that do not exist. i, j: the same in all lanes. Collective for the warp.
TMAP_DEVICE float tmapi_products_near(const tmapi_products *p, tmap_u32 i, tmap_u32 j) {
    const tmap_u32 lane = threadIdx.x % 32;
    double sum = 0;
    if (i == j || i >= p->n || j >= p->n) return 0;
    if (p->metric <= TMAP_PDIST_SQEUCLIDEAN) {
        const float *u = p->points + i * p->d, *v = p->points + j * p->d;
#pragma unroll 4
        for (tmap_u64 k = lane; k < p->d; k += 32) {
            const double t = (double)u[k] - (double)v[k];
            sum = fma(t, t, sum);
        }
        sum = tmapi_products_warp_sum(sum);
        return (float)(p->metric == TMAP_PDIST_EUCLIDEAN ? sqrt(sum) : sum);
    }
    const double *u = p->staged + (tmap_u64)i * p->width;
    const double *v = p->staged + (tmap_u64)j * p->width;
    TMAPI_NO_UNROLL
    for (tmap_u32 k = lane; k < p->width; k += 32) sum = fma(u[k] - v[k], u[k] - v[k], sum);
    sum = tmapi_products_warp_sum(sum);
    return sum > 4 ? 2 : (float)(sum * 0.5);
}

// Puts the warp's distances to `to`, a row of which has TMAPI_PRODUCTS_OUT floats. root: 1: they
// are roots; else the squares times factor, which is 1, or 1/2 for cosines, that are 2 at most.
TMAP_DEVICE void tmapi_products_put(const double (*sums)[4][4], const int root, float factor,
                                    float *to) {
#pragma unroll
    for (tmap_u32 k = 0; k < 16; ++k) {
        const double *sum = sums[k / 2 % 2][k / 4] + k % 2 * 2;
        float *at = to + (k / 2 % 2 * 16 + k % 2 * 8) * TMAPI_PRODUCTS_OUT + k / 4 * 8;
        float2 pair;
        pair.x = (float)sum[0], pair.y = (float)sum[1];
        if (root) {
            pair.x = tmapi_pdist_root(pair.x, 2), pair.y = tmapi_pdist_root(pair.y, 2);
        } else if (factor != 1) {
            pair.x = fminf(pair.x * factor, 2), pair.y = fminf(pair.y * factor, 2);
        }
        *(float2 *)at = pair;
    }
}

// ---- to memory ----------------------------------------------------------------------------------

// Writes a tile whose distances are at `from`, a row by a warp. whole: all of it is there.
TMAP_DEVICE void tmapi_products_store(const tmapi_products *p, tmap_u32 row, tmap_u32 column,
                                      const float *from, int whole) {
    const tmap_u32 warps = TMAPI_PRODUCTS_THREADS / 32, lane = threadIdx.x % 32;
    const tmap_u32 warp = threadIdx.x / 32, i = row + warp, j = column + lane;
    const int condensed = p->layout == TMAP_PDIST_CONDENSED;
    float *at = p->out + (tmapi_pdist_begin(p->n, p->layout, i) + j);
    tmap_u64 step = (tmap_u64)warps * p->n; // to the warp's next row
    if (condensed) step = (tmap_u64)warps * (p->n - 2 - i) - warps * (warps - 1) / 2;
    from += warp * TMAPI_PRODUCTS_OUT + lane;
#pragma unroll 4
    for (tmap_u32 r = 0; r < TMAPI_PRODUCTS_SIDE; r += warps) {
#pragma unroll
        for (tmap_u32 c = 0; c < TMAPI_PRODUCTS_SIDE; c += 32) {
            int wanted = whole;
            if (!whole)
                wanted = i + r < p->n && j + c < p->n && (!condensed || i + r < j + c) &&
                         (p->layout != TMAP_PDIST_LOWER || i + r >= j + c);
            if (wanted) __stcs(at + c, from[r * TMAPI_PRODUCTS_OUT + c]);
        }
        at += step;
        if (condensed) step -= warps * warps;
    }
}

// The tile of this block, in units of tiles.
TMAP_DEVICE tmap_pair tmapi_products_place(const tmapi_products *p) {
    tmap_pair t;
    if (p->layout == TMAP_PDIST_CONDENSED) return tmap_upper_map(blockIdx.x, p->tiles);
    if (p->layout == TMAP_PDIST_LOWER) return tmap_triangle_map(blockIdx.x);
    t.i = blockIdx.x / p->tiles;
    t.j = blockIdx.x % p->tiles;
    return t;
}

TMAP_DEVICE void tmapi_products_tile(const tmapi_products *p, double *staged) {
    const tmap_pair tile = tmapi_products_place(p);
    const tmap_u32 row = tile.i * TMAPI_PRODUCTS_SIDE, column = tile.j * TMAPI_PRODUCTS_SIDE;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const tmap_u32 y = warp / 2 * 32, x = warp % 2 * 32; // the warp's part
    float *out = (float *)staged, *part = out + y * TMAPI_PRODUCTS_OUT + x;
    double sums[2][4][4] = {{{0}}};
    tmap_u32 near;
    tmapi_products_sums(p, row, column, staged, sums);
    near = tmapi_products_squares(p, row + y, column + x, sums);
    __syncthreads(); // all are through with the last chunk, whose place the distances take
    if (p->metric == TMAP_PDIST_EUCLIDEAN)
        tmapi_products_put(sums, 1, 1, part + g * TMAPI_PRODUCTS_OUT + 2 * q);
    else
        tmapi_products_put(sums, 0, p->metric == TMAP_PDIST_SQEUCLIDEAN ? 1 : 0.5f,
                           part + g * TMAPI_PRODUCTS_OUT + 2 * q);
    TMAPI_NO_UNROLL
    for (;;) { // one pair after the other, each by the whole warp
        const tmap_u32 lanes = __ballot_sync(0xffffffffu, near != 0);
        const int from = __ffs((int)lanes) - 1;
        tmap_u32 k, i, j;
        float value;
        if (!lanes) break;
        k = (tmap_u32)__shfl_sync(0xffffffffu, __ffs((int)near) - 1, from);
        i = k / 16 * 16 + k / 2 % 2 * 8 + (tmap_u32)from / 4;
        j = k / 4 % 4 * 8 + k % 2 + (tmap_u32)from % 4 * 2;
        value = tmapi_products_near(p, row + y + i, column + x + j);
        if (lane == (tmap_u32)from) {
            part[i * TMAPI_PRODUCTS_OUT + j] = value;
            near &= near - 1;
        }
    }
    __syncthreads();
    if (row + TMAPI_PRODUCTS_SIDE <= p->n && column + TMAPI_PRODUCTS_SIDE <= p->n &&
        (row != column || p->layout == TMAP_PDIST_SQUARE))
        tmapi_products_store(p, row, column, out, 1);
    else
        tmapi_products_store(p, row, column, out, 0);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Compiled for 7.5, whose tensor cores know no doubles, they do nothing, and are not launched.
static __global__ void tmapi_pdist_products_stage(tmapi_products p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
#else
    tmapi_products_stage(&p, blockIdx.x * (tmap_u64)(blockDim.x / 32) + threadIdx.x / 32);
#endif
}
static __global__ void __launch_bounds__(TMAPI_PRODUCTS_THREADS, TMAPI_PRODUCTS_BLOCKS)
    tmapi_pdist_products(tmapi_products p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
#else
    extern __shared__ uint4 tmapi_pairs_shared[];
    tmapi_products_tile(&p, (double *)tmapi_pairs_shared);
#endif
}

// Launches both; all is checked but the number of tiles. workspace: at a multiple of 16.
static inline cudaError_t tmapi_products_launch(const float *points, tmap_u64 n, tmap_u64 d,
                                                float *out, int metric, int layout, void *workspace,
                                                cudaStream_t stream) {
    const void *kernel = (const void *)tmapi_pdist_products;
    const tmap_u64 staged = tmapi_products_points(n), tiles = staged / TMAPI_PRODUCTS_SIDE;
    const tmap_u64 blocks =
        layout == TMAP_PDIST_SQUARE ? tiles * tiles : tmap_triangle_cells(tiles);
    const unsigned warps = TMAPI_PRODUCTS_SIDE / 8;
    tmapi_products p;
    void *arguments[1];
    cudaError_t error;
    if (blocks > 0x7fffffffull) return cudaErrorInvalidConfiguration;
    p.points = points, p.out = out, p.d = d, p.n = (tmap_u32)n, p.metric = (tmap_u32)metric;
    p.layout = (tmap_u32)layout, p.tiles = (tmap_u32)tiles;
    p.width = (tmap_u32)tmapi_products_width(d), p.bits = TMAPI_PDIST_BITS;
    for (tmap_u64 more = (d - 1) / 16; more && p.bits > 8; more /= 2) --p.bits;
    p.staged = (double *)workspace, p.norms = p.staged + staged * p.width;
    arguments[0] = &p;
    if ((error = tmapi_launch_shared(kernel, TMAPI_PRODUCTS_BYTES)) != cudaSuccess) return error;
    error =
        cudaLaunchKernel((const void *)tmapi_pdist_products_stage, dim3((unsigned)(staged / warps)),
                         dim3(32 * warps), arguments, 0, stream);
    if (error) return error;
    return cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(TMAPI_PRODUCTS_THREADS), arguments,
                            TMAPI_PRODUCTS_BYTES, stream);
}

#endif

#endif
