// SPDX-License-Identifier: MIT
// pdist.h: writes the distances of all pairs of n points at about the speed of the memory.
//
//     const tmap_pdist_points points = {coordinates, n, d}; // n x d floats in device memory
//     ... cudaMalloc(&out, 4 * tmap_pdist_values(n, TMAP_PAIRS_CONDENSED));
//     ... tmap_pdist_f32(points, TMAP_PDIST_EUCLIDEAN, TMAP_PAIRS_CONDENSED, out, stream);
//
// Every metric is a sum of squares, a sum of absolute values or a maximum, followed by a root, a
// factor and a limit. Coordinates are subtracted before they are squared, because products of
// points would lose the difference of two close ones. tmap_pdist_f32_products uses products, in
// double precision and for points that are not close.
#ifndef TMAP_TRIANGLE_PDIST_H
#define TMAP_TRIANGLE_PDIST_H

#include "pairs_store.h"

// The metrics of points u and v of d coordinates, a line each; nothing else says what a metric is.
// X(NAME, name in scipy, sum over the coordinates, 1: its root is taken, of SQUARES alone,
// points are scaled to): to
// 0: nothing; 1: length sqrt(1/2), so that the sum is 1 - cos; 2: the same, less their own mean.
// New ones at the end: numbers stay.
#define TMAP_PDIST_METRICS(X) \
    X(EUCLIDEAN, euclidean, SQUARES, 1, 0)     /* sqrt(sum (u_k - v_k)^2) */ \
    X(SQEUCLIDEAN, sqeuclidean, SQUARES, 0, 0) /* sum (u_k - v_k)^2 */ \
    X(CITYBLOCK, cityblock, ABSOLUTE, 0, 0)    /* sum |u_k - v_k| */ \
    X(COSINE, cosine, SQUARES, 0, 1)           /* 1 - u.v / (|u| |v|) */ \
    X(CHEBYSHEV, chebyshev, MOST, 0, 0)        /* max |u_k - v_k|; a NaN is ignored */ \
    X(CORRELATION, correlation, SQUARES, 0, 2) /* the cosine distance less the points' means */

enum { TMAPI_PDIST_SQUARES, TMAPI_PDIST_ABSOLUTE, TMAPI_PDIST_MOST }; // sums

// TMAP_PDIST_EUCLIDEAN and so on.
#define TMAPI_PDIST_METRIC(NAME, name, sum, root, scaled) TMAP_PDIST_##NAME,
typedef enum tmap_pdist_metric {
    TMAP_PDIST_METRICS(TMAPI_PDIST_METRIC) TMAP_PDIST_METRIC_COUNT
} tmap_pdist_metric;
#undef TMAPI_PDIST_METRIC

// How a metric is computed: the numbers of its line.
typedef struct tmapi_pdist_rule {
    int sum, root, scaled;
} tmapi_pdist_rule;

// metric: below TMAP_PDIST_METRIC_COUNT.
TMAP_FN tmapi_pdist_rule tmapi_pdist_rule_of(int metric) {
#define TMAPI_PDIST_METRIC(NAME, name, sum, root, scaled) {TMAPI_PDIST_##sum, root, scaled},
    const tmapi_pdist_rule rules[] = {TMAP_PDIST_METRICS(TMAPI_PDIST_METRIC)};
#undef TMAPI_PDIST_METRIC
    return rules[metric];
}

// The name of a metric in scipy; "?" for any other number.
TMAP_FN const char *tmap_pdist_metric_name(int metric) {
#define TMAPI_PDIST_METRIC(NAME, name, sum, root, scaled) #name,
    const char *const names[] = {TMAP_PDIST_METRICS(TMAPI_PDIST_METRIC)};
#undef TMAPI_PDIST_METRIC
    return metric >= 0 && metric < (int)TMAP_PDIST_METRIC_COUNT ? names[metric] : "?";
}

// Number of values of `out`: n(n-1)/2 if condensed, else n^2; saturates. layout:
// TMAP_PAIRS_CONDENSED, _SQUARE or _LOWER. Example: 30720 condensed: 471843840.
TMAP_FN tmap_u64 tmap_pdist_values(tmap_u64 n, int layout) {
    return layout == TMAP_PAIRS_CONDENSED ? tmap_condensed_cells(n) : tmap_mul_saturate(n, n);
}

#if TMAP_CUDA

// ---- metrics ------------------------------------------------------------------------------------

// How a distance is computed. size, d: bytes of a coordinate and coordinates of points in
// registers, constants; parts: 1: the sum is taken in parts.
typedef struct tmapi_pdist_way {
    tmap_u32 size, d;
    int parts, sum, root;
    float limit;
} tmapi_pdist_way;

TMAP_DEVICE tmapi_pdist_way tmapi_pdist_way_of(tmapi_pdist_rule rule, tmap_u32 size) {
    tmapi_pdist_way way = {size, 4, 0, rule.sum, rule.root, 0};
    // Rounding may give opposite directions more than 2.
    way.limit = rule.scaled ? 2.0f : __uint_as_float(0x7f800000);
    return way;
}

// The root of a float, also of 0 and infinity. exact: 0: the GPU's own root, off by up to one unit
// in the last place; 1: with a Newton step on the remainder, off by half a unit; 2: as 1, for a
// normal x, with two instructions less.
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

// The root of a double: the GPU's approximation, which has half of the bits, one Newton step, and
// one step on the remainder. Returns 0, infinity and NaN as they are. Not for subnormal numbers.
TMAP_DEVICE double tmapi_pdist_root_f64(double x) {
#if defined(__CUDA_ARCH__)
    double inverse, root, half, rest;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(x));
    root = x * inverse, half = 0.5 * inverse;
    rest = fma(-root, half, 0.5);
    root = fma(root, rest, root), half = fma(half, rest, half);
    root = fma(fma(-root, root, x), half, root);
    return root == root ? root : x;
#else
    return sqrt(x);
#endif
}

// ---- sums, in floats or in doubles --------------------------------------------------------------
//
// Numbers have `size` bytes and are computed in that type; a double holds either.

// Adds coordinates u and v of two points to a sum. k = 0: they are the first ones, the sum is 0. A
// maximum ignores NaN.
TMAP_DEVICE double tmapi_pdist_more(tmap_u32 size, int way, tmap_u32 k, double sum, double u,
                                    double v) {
    if (size == 4) {
        const float t = (float)u - (float)v, s = (float)sum;
        if (way == TMAPI_PDIST_SQUARES) return k ? fmaf(t, t, s) : t * t;
        if (way == TMAPI_PDIST_ABSOLUTE) return k ? s + fabsf(t) : fabsf(t);
        return fmaxf(s, fabsf(t));
    }
    const double t = u - v, most = fabs(t);
    if (way == TMAPI_PDIST_SQUARES) return k ? fma(t, t, sum) : t * t;
    if (way == TMAPI_PDIST_ABSOLUTE) return k ? sum + most : most;
    return most > sum ? most : sum;
}

// Converts a sum to the distance. few: a constant, 1 for points in registers.
TMAP_DEVICE void tmapi_pdist_put(const tmapi_pdist_way *way, int few, double sum, void *value) {
    const int limited = !few || (way->sum == TMAPI_PDIST_SQUARES && !way->root);
    if (way->size == 8) {
        if (limited && sum > (double)way->limit) sum = (double)way->limit;
        *(double *)value = way->root ? tmapi_pdist_root_f64(sum) : sum;
    } else {
        const float x = (float)sum, most = limited && x > way->limit ? way->limit : x; // or NaN
        *(float *)value = way->root ? tmapi_pdist_root(x, few) : most;
    }
}

// The value of points in registers. Four squares of floats are added in two short chains, which is
// more exact than one.
TMAP_DEVICE void tmapi_pdist_value(void *job, tmap_pair, const void *a, const void *b,
                                   void *value) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    const int chains = way->size == 4 && way->sum == TMAPI_PDIST_SQUARES && way->d == 4;
    double sum = 0, late = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        if (k >= way->d) break;
        const double u = tmapi_store_get_number(a, way->size, k);
        const double v = tmapi_store_get_number(b, way->size, k);
        if (chains && k >= 2)
            late = tmapi_pdist_more(way->size, way->sum, k - 2, late, u, v);
        else
            sum = tmapi_pdist_more(way->size, way->sum, k, sum, u, v);
    }
    tmapi_pdist_put(way, 1, chains ? (float)sum + (float)late : sum, value);
}

// Long sums. Four floats are first added to each other (absolute values in two pairs), so that a
// long sum is rounded once in four terms. A sum in parts carries its rounding error on.
typedef struct tmapi_pdist_sum_f32 {
    float part, sum;
} tmapi_pdist_sum_f32;

TMAP_DEVICE void tmapi_pdist_start(void *job, void *sum) {
    if (((const tmapi_pdist_way *)job)->size == 8)
        *(double *)sum = 0;
    else
        ((tmapi_pdist_sum_f32 *)sum)->part = ((tmapi_pdist_sum_f32 *)sum)->sum = 0;
}
TMAP_DEVICE void tmapi_pdist_add(void *job, void *sum, const void *a, const void *b) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    const tmap_u32 size = way->size;
    const int fours = size == 4 && way->sum != TMAPI_PDIST_MOST;
    const double before = tmapi_store_get_number(sum, size, 0);
    double after = fours ? 0 : before;
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k)
        if (k < 16 / size)
            after = tmapi_pdist_more(size, way->sum, 1, after, tmapi_store_get_number(a, size, k),
                                     tmapi_store_get_number(b, size, k));
    if (fours && way->sum == TMAPI_PDIST_ABSOLUTE) {
        const float *u = (const float *)a, *v = (const float *)b;
        after =
            (fabsf(u[0] - v[0]) + fabsf(u[1] - v[1])) + (fabsf(u[2] - v[2]) + fabsf(u[3] - v[3]));
    }
    tmapi_store_set_number(sum, size, 0, fours ? (float)before + (float)after : after);
}
// Adds the part to the sum; `part` becomes the rounding error of the sum, with which the next part
// begins. The error of a sum that is infinite or NaN does not change it.
TMAP_DEVICE void tmapi_pdist_carry_f32(void *, void *sum) {
    tmapi_pdist_sum_f32 *s = (tmapi_pdist_sum_f32 *)sum;
    const float before = s->sum;
    s->sum += s->part;
    s->part -= s->sum - before;
    s->part = fmaxf(s->part, -3.402823466e38f); // for -infinity and NaN
}
TMAP_DEVICE void tmapi_pdist_finish(void *job, tmap_pair, const void *sum, void *value) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    double total = tmapi_store_get_number(sum, way->size, 0);
    if (way->parts) total = ((const tmapi_pdist_sum_f32 *)sum)->sum + (float)total;
    tmapi_pdist_put(way, 0, total, value);
}

// ---- kernels of differences ---------------------------------------------------------------------

#define TMAPI_PDIST_PART_WARPS 4 // of a block of tmapi_pdist_f32_part

typedef struct tmapi_pdist_job {
    const void *points;
    void *out;
    tmapi_pdist_rule rule;
} tmapi_pdist_job;

// Cosines: points of length sqrt(1/2) have half the squared distance of points of length 1.
TMAP_DEVICE tmapi_store_scale tmapi_pdist_scale(const tmapi_pdist_job *j, unsigned char *behind) {
    const tmapi_store_scale scale = {j->rule.scaled ? 0.70710678118654752 : 0, j->rule.scaled == 2,
                                     (double *)behind};
    return scale;
}

// The tile of this block. Setting one set of points as constants saves code.
TMAP_DEVICE tmapi_store tmapi_pdist_tile(const tmap_pairs_plan *plan, const tmapi_pdist_job *j,
                                         tmap_u32 side, tmap_u32 warps, tmap_u32 lanes,
                                         tmap_u32 size) {
    const tmap_points points = {j->points, 0, size, plan->d};
    tmap_pairs_plan one = *plan;
    one.sets = 1, one.others = 0;
    return tmapi_store_make(&one, blockIdx.x, side, warps, lanes, points, size, j->out);
}

// Computes the values of a row. Those that do not exist are dropped.
TMAP_DEVICE void tmapi_pdist_few_row(const tmapi_store *s, const tmapi_store_strip *, int,
                                     const tmapi_pairs_row *row, const tmapi_store_whole *columns,
                                     tmapi_store_out *out, void *way) {
    const tmap_pair pair = {0, 0};
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
        tmapi_pdist_value(way, pair, row->bytes, columns[c].bytes, out->bytes + c * s->bytes);
}

// Computes all values of a tile with constant sum and root.
TMAP_DEVICE void tmapi_pdist_few_by(tmapi_store s, tmapi_pdist_way way, tmap_u32 d, int sum,
                                    int root) {
    s.d = way.d = d, way.sum = sum, way.root = root;
    tmapi_store_each(&s, tmapi_pairs_memory(), tmapi_pdist_few_row, &way);
}
TMAP_DEVICE void tmapi_pdist_few_of(const tmapi_store *s, tmapi_pdist_way way, tmap_u32 d) {
    if (way.sum == TMAPI_PDIST_ABSOLUTE)
        tmapi_pdist_few_by(*s, way, d, TMAPI_PDIST_ABSOLUTE, 0);
    else if (way.sum == TMAPI_PDIST_MOST)
        tmapi_pdist_few_by(*s, way, d, TMAPI_PDIST_MOST, 0);
    else if (!way.root)
        tmapi_pdist_few_by(*s, way, d, TMAPI_PDIST_SQUARES, 0);
    else
        tmapi_pdist_few_by(*s, way, d, TMAPI_PDIST_SQUARES, 1);
}

// Computes a block's tile for 1 to 4 coordinates. The second and third are 0 if they do not exist.
TMAP_DEVICE void tmapi_pdist_few_tile(const tmap_pairs_plan *plan, const tmapi_pdist_job *j,
                                      tmap_u32 size) {
    unsigned char *staged = tmapi_pairs_memory();
    const tmapi_store s = tmapi_pdist_tile(plan, j, TMAPI_STORE_BAND, TMAPI_STORE_WARPS, 1, size);
    const tmapi_store_scale scale = tmapi_pdist_scale(j, staged);
    tmapi_pdist_way way = tmapi_pdist_way_of(j->rule, size);
    tmapi_store_stage(&s, 0, 0, size / 4, staged);
    if (s.d == 1 && way.root) way.root = 0, way.sum = TMAPI_PDIST_ABSOLUTE; // no square overflows
    tmapi_store_ready(&s, 1, 0, size / 4, &scale, staged);
    if (s.d < 4)
        tmapi_pdist_few_of(&s, way, 3);
    else
        tmapi_pdist_few_of(&s, way, 4);
}

// Computes a block's tile for any number of coordinates.
TMAP_DEVICE void tmapi_pdist_sums_tile(const tmap_pairs_plan *plan, const tmapi_pdist_job *j,
                                       tmap_u32 size, tmap_u32 side, tmap_u32 warps) {
    unsigned char *staged = tmapi_pairs_memory();
    const int part = warps == TMAPI_PDIST_PART_WARPS;
    tmapi_store s = tmapi_pdist_tile(plan, j, side, warps, 4, size);
    const tmapi_store_scale scale =
        tmapi_pdist_scale(j, staged + plan->shared - 16 * tmapi_store_places(side, size));
    tmapi_pdist_way way = tmapi_pdist_way_of(j->rule, size), squares, absolute, most;
    tmapi_store_ways w = {{tmapi_pdist_start, tmapi_pdist_add, 0, tmapi_pdist_finish, 8, 0},
                          {&squares, &absolute, &most},
                          way.sum};
    way.parts = size == 4 && !part;
    squares = absolute = most = way;
    squares.sum = TMAPI_PDIST_SQUARES;
    absolute.sum = TMAPI_PDIST_ABSOLUTE;
    most.sum = TMAPI_PDIST_MOST;
    if (part) s.wide = TMAPI_STORE_WIDEST;
    if (way.parts) w.sum.part = tmapi_pdist_carry_f32;
    // Long sums of floats are taken in parts; more coordinates have larger parts, as the errors of
    // many parts cancel.
    w.sum.period = w.way == TMAPI_PDIST_MOST ? 0x80000000u : s.d > 256 ? 64 : s.d > 64 ? 32 : 16;
    tmapi_store_sums(&s, staged, &scale, &w);
}

// ---- products on tensor cores -------------------------------------------------------------------
//
// |u - v|^2 = |u|^2 + |v|^2 - 2 u.v takes one multiplication a coordinate. Tensor cores multiply
// doubles as fast as the GPU multiplies floats. Close points would lose all digits in floats, but
// not in doubles:
//   - A first kernel writes all points to a workspace, as doubles, relative to a point in the
//     middle of the cloud; for cosines divided by their lengths, as half the squared distance of
//     two unit vectors is 1 - cos.
//   - In doubles the sum of d coordinates is off by at most 2^-53 (2 d + 3) (|u|^2 + |v|^2). From
//     17 coordinates on 23 bits may cancel, from 33 on 22, and so on to 8 bits for 2^20: the square
//     is then off by 1.05 * 2^-24 of itself.
//   - Closer pairs are computed again from their differences, and so are squares outside the normal
//     range of a float.
//
// Compute capabilities 8.0 and 9.0 have such cores. Code compiled for 8.0 also runs on GPUs where a
// double takes 32 times as long, so the launcher checks the GPU.

#define TMAPI_PRODUCTS_SIDE  64u // points along a tile
#define TMAPI_PRODUCTS_CHUNK 16u // coordinates at a time
// A block has 4 warps of 32 x 32 pairs each. Three chunks of the tile's points are in shared memory
// or in flight.
#define TMAPI_PRODUCTS_THREADS 128u
#define TMAPI_PRODUCTS_BLOCKS  3
#define TMAPI_PRODUCTS_STAGES  3
// Doubles of a point in shared memory, and of a chunk of the points of both sides. With this pitch
// the lanes of half a warp read from different banks.
#define TMAPI_PRODUCTS_PITCH 20u
#define TMAPI_PRODUCTS_STEP  (2 * TMAPI_PRODUCTS_SIDE * TMAPI_PRODUCTS_PITCH)
#define TMAPI_PRODUCTS_BYTES (8u * TMAPI_PRODUCTS_STAGES * TMAPI_PRODUCTS_STEP)
// Floats of a row of the tile's results in shared memory.
#define TMAPI_PRODUCTS_OUT (TMAPI_PRODUCTS_SIDE + 8)

typedef struct tmapi_products {
    const float *points;
    float *out;
    tmap_u64 d;
    tmap_u32 n, layout;
    int root, scaled;       // of the metric
    tmap_u32 width, tiles;  // coordinates of a staged point; tiles of the first row
    tmap_u32 bits;          // bits that may cancel
    double *staged, *norms; // points of `width` doubles, and the squares of their lengths
} tmapi_products;

// Bytes of a workspace: full tiles of points, full chunks of coordinates.
TMAP_FN tmap_u64 tmapi_products_workspace(tmap_u64 n, tmap_u64 d) {
    return 8ull * tmapi_facts_round((tmap_u32)n, TMAPI_PRODUCTS_SIDE) *
           (tmapi_facts_round((tmap_u32)d, TMAPI_PRODUCTS_CHUNK) + 1ull);
}

// D += A B by a full warp; A 16 x 16, B 16 x 8. With g = lane / 4 and q = lane % 4, a lane holds
//   a[2k], a[2k + 1] = A[g][4k + q], A[g + 8][4k + q]   b[k] = B[4k + q][g]
//   d0, d1 = D[g][2q], D[g][2q + 1]                     d2, d3 = D[g + 8][2q], D[g + 8][2q + 1]
TMAP_DEVICE void tmapi_products_mma(double *d, const double *a, const double *b) {
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
        // Without tensor cores, also on the CPU.
        const int lane = (int)threadIdx.x % 32;
        for (int x = 0; x < 16; ++x) {
            const int c = x / 4, q = x % 4;
            const double row = __shfl_sync(0xffffffffu, a[2 * k + c / 2], lane / 4 * 4 + q);
            const double column = __shfl_sync(0xffffffffu, b[k], lane % 4 * 8 + c % 2 * 4 + q);
            d[c] = fma(row, column, d[c]);
        }
#endif
    }
#endif
}

TMAP_DEVICE double tmapi_products_warp_sum(double x) {
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// The origin of coordinate k: the median of the first, the last and the middle point.
TMAP_DEVICE float tmapi_products_centre(const tmapi_products *p, tmap_u64 k) {
    const float a = __ldg(p->points + k), b = __ldg(p->points + (p->n / 2 * p->d + k));
    const float c = __ldg(p->points + ((p->n - 1) * p->d + k));
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

// Writes a point to the workspace, with one warp. Points that do not exist are 0.
TMAP_DEVICE void tmapi_products_stage(const tmapi_products *p, tmap_u64 point) {
    const tmap_u32 lane = threadIdx.x % 32;
    const int cosine = p->scaled != 0;
    const float *from = p->points + point * p->d;
    const tmap_u64 d = point < p->n ? p->d : 0;
    double *to = p->staged + point * p->width;
    double mean = 0, inverse = 1, sum = 0;
    if (p->scaled == 2) {
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
            const double centre = (double)tmapi_products_centre(p, k);
            value = ((double)from[k] - (cosine ? mean : centre)) * inverse;
        }
        to[k] = value, sum = fma(value, value, sum);
    }
    sum = tmapi_products_warp_sum(sum);
    if (lane == 0) p->norms[point] = fabs(sum); // drops the sign of a NaN
}

// Begins to copy a chunk of the tile's points, 64 rows and 64 columns, 8 threads a point. rows,
// columns, to: source and target of the thread's first 16 bytes.
TMAP_DEVICE void tmapi_products_chunk(tmap_u32 width, const double *rows, const double *columns,
                                      double *to) {
#pragma unroll
    for (tmap_u32 y = 0; y < 2 * TMAPI_PRODUCTS_SIDE; y += TMAPI_PRODUCTS_THREADS / 8) {
        const double *from = y < TMAPI_PRODUCTS_SIDE ? rows : columns;
        tmapi_async_copy(to + y * TMAPI_PRODUCTS_PITCH,
                         from + (tmap_u64)width * (y % TMAPI_PRODUCTS_SIDE), 16);
    }
}

// sums[m][n]: products of 16 rows from 16 m on and 8 columns from 8 n on of the warp's part of the
// tile, in the layout of tmapi_products_mma. Collective for the block, with barriers.
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
        tmapi_async_commit();
        rows += TMAPI_PRODUCTS_CHUNK, columns += TMAPI_PRODUCTS_CHUNK;
    }
#pragma unroll 1
    for (tmap_u32 c = 0; c < chunks; ++c) {
        const double *a_at = staged + turn * TMAPI_PRODUCTS_STEP + (warp / 2 * 32 + g) * pitch + q;
        const double *b_at = staged + turn * TMAPI_PRODUCTS_STEP +
                             (TMAPI_PRODUCTS_SIDE + warp % 2 * 32 + g) * pitch + q;
        double a[2][8], b[4];
        tmapi_async_wait(1);
        __syncthreads(); // this chunk is here, and all threads have used the previous one
        if (c + TMAPI_PRODUCTS_STAGES - 1 < chunks)
            tmapi_products_chunk(p->width, rows, columns, to + ahead * TMAPI_PRODUCTS_STEP);
        tmapi_async_commit();
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
            for (tmap_u32 m = 0; m < 2; ++m) tmapi_products_mma(sums[m][n], a[m], b);
        }
    }
}

// The high half of a double; ordered as the doubles are if these are not negative.
TMAP_DEVICE int tmapi_products_high(double x) { return __double2hiint(x); }
TMAP_DEVICE int tmapi_products_most(int most, double x) {
    const int high = tmapi_products_high(x);
    return most > high ? most : high;
}

// Converts the products to squared distances, in place. Returns a bit for each one that must be
// computed from differences: bit 16 m + 4 n + c for sums[m][n][c]. row, column: of the warp's part.
TMAP_DEVICE tmap_u32 tmapi_products_squares(const tmapi_products *p, tmap_u32 row, tmap_u32 column,
                                            double (*sums)[4][4]) {
    const tmap_u32 lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const double *rows = p->norms + (row + g), *columns = p->norms + (column + 2 * q);
    double of_row[4];
    int high = 0, least = 0x7fffffff, limit;
    tmap_u32 nearby = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < 4; ++r) high = tmapi_products_most(high, of_row[r] = rows[8 * r]);
#pragma unroll
    for (tmap_u32 n = 0; n < 4; ++n) {
        const double even = columns[8 * n], odd = columns[8 * n + 1];
        high = tmapi_products_most(tmapi_products_most(high, even), odd);
#pragma unroll
        for (tmap_u32 k = 0; k < 8; ++k) {
            double *sum = &sums[k / 4][n][k % 4];
            *sum = fma(-2.0, *sum, of_row[k / 2] + (k % 2 ? odd : even));
            if (tmapi_products_high(*sum) < least) least = tmapi_products_high(*sum);
        }
    }
    // Compares high halves: no sum of norms exceeds twice the largest norm. The loop below also
    // handles values that overflow a float or are not normal as one.
    limit = high - (((int)p->bits - 1) << 20);
    if (limit < 0x38100000) limit = 0x38100000;
    if (high < 0x47500000 && least > limit) return 0;
#pragma unroll
    for (tmap_u32 k = 0; k < 32; ++k) {
        const double sum = sums[k / 16][k / 4 % 4][k % 4];
        const double both = rows[(k / 16 * 2 + k / 2 % 2) * 8] + columns[k / 4 % 4 * 8 + k % 2];
        const int apart = sum * (double)(1u << p->bits) > both && sum >= 0x1p-126 && both < 0x1p119;
        nearby |= (tmap_u32)!apart << k;
    }
    return nearby;
}

// The distance of two points from their differences: of the original points, because values
// relative to the middle have lost digits of a point much closer to the origin; or of unit vectors.
// 0 for points that do not exist. i, j: the same in all lanes. Collective for the warp.
TMAP_DEVICE float tmapi_products_near(const tmapi_products *p, tmap_u32 i, tmap_u32 j) {
    const float *u = p->points + i * p->d, *v = p->points + j * p->d;
    const double *a = p->staged + (tmap_u64)i * p->width, *b = p->staged + (tmap_u64)j * p->width;
    const int cosine = p->scaled != 0;
    double sum = 0;
    if (i == j || i >= p->n || j >= p->n) return 0;
#pragma unroll 4
    for (tmap_u64 k = threadIdx.x % 32; k < p->d; k += 32) {
        const double t = cosine ? a[k] - b[k] : (double)u[k] - (double)v[k];
        sum = fma(t, t, sum);
    }
    sum = tmapi_products_warp_sum(sum);
    if (cosine) return sum > 4 ? 2 : (float)(sum * 0.5);
    return (float)(p->root ? sqrt(sum) : sum);
}

// Writes the warp's distances to `to`, whose rows have TMAPI_PRODUCTS_OUT floats. root: 1: takes
// the root; 0: multiplies the square by factor: 1, or 1/2 for cosines, whose limit is 2.
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

// Writes a tile from the distances at `from`, one row a warp. whole: 1: all of the tile exists.
TMAP_DEVICE void tmapi_products_store(const tmapi_products *p, tmap_u32 row, tmap_u32 column,
                                      const float *from, int whole) {
    const tmap_u32 warps = TMAPI_PRODUCTS_THREADS / 32, lane = threadIdx.x % 32;
    const tmap_u32 warp = threadIdx.x / 32, i = row + warp, j = column + lane;
    const int condensed = p->layout == TMAP_PAIRS_CONDENSED;
    // Column 0 of row 0 of a condensed matrix is before the beginning: modulo 2^64.
    const tmap_u64 begin = condensed ? i * (2ull * p->n - i - 3) / 2 - 1 : (tmap_u64)i * p->n;
    float *at = p->out + (begin + j);
    tmap_u64 step = (tmap_u64)warps * p->n; // to the warp's next row
    if (condensed) step = (tmap_u64)warps * (p->n - 2 - i) - warps * (warps - 1) / 2;
    from += warp * TMAPI_PRODUCTS_OUT + lane;
#pragma unroll 4
    for (tmap_u32 r = 0; r < TMAPI_PRODUCTS_SIDE; r += warps) {
#pragma unroll
        for (tmap_u32 c = 0; c < TMAPI_PRODUCTS_SIDE; c += 32)
            if (whole || (i + r < p->n && j + c < p->n && (!condensed || i + r < j + c) &&
                          (p->layout != TMAP_PAIRS_LOWER || i + r >= j + c)))
                TMAPI_STCS(at + c, from[r * TMAPI_PRODUCTS_OUT + c]);
        at += step;
        if (condensed) step -= warps * warps;
    }
}

TMAP_DEVICE void tmapi_products_tile(const tmapi_products *p, double *staged) {
    tmap_u32 row, column;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const tmap_u32 y = warp / 2 * 32, x = warp % 2 * 32; // the warp's part
    float *out = (float *)staged, *part = out + y * TMAPI_PRODUCTS_OUT + x;
    float *mine = part + g * TMAPI_PRODUCTS_OUT + 2 * q;
    double sums[2][4][4] = {{{0}}};
    tmap_u32 nearby;
    tmapi_pairs_tile_of(blockIdx.x, p->layout, p->tiles, 0, 0, &row, &column);
    row *= TMAPI_PRODUCTS_SIDE, column *= TMAPI_PRODUCTS_SIDE;
    tmapi_products_sums(p, row, column, staged, sums);
    nearby = tmapi_products_squares(p, row + y, column + x, sums);
    __syncthreads(); // the last chunk's memory is reused for the distances
    if (p->root)
        tmapi_products_put(sums, 1, 1, mine);
    else
        tmapi_products_put(sums, 0, p->scaled ? 0.5f : 1, mine);
    TMAPI_NO_UNROLL
    for (;;) { // one pair after the other, each with all lanes of the warp
        const tmap_u32 lanes = __ballot_sync(0xffffffffu, nearby != 0);
        const int from = __ffs((int)lanes) - 1;
        if (!lanes) break;
        const tmap_u32 k = (tmap_u32)__shfl_sync(0xffffffffu, __ffs((int)nearby) - 1, from);
        const tmap_u32 i = k / 16 * 16 + k / 2 % 2 * 8 + (tmap_u32)from / 4;
        const tmap_u32 j = k / 4 % 4 * 8 + k % 2 + (tmap_u32)from % 4 * 2;
        const float value = tmapi_products_near(p, row + y + i, column + x + j);
        if (lane != (tmap_u32)from) continue;
        part[i * TMAPI_PRODUCTS_OUT + j] = value;
        nearby &= nearby - 1;
    }
    __syncthreads();
    if (row + TMAPI_PRODUCTS_SIDE <= p->n && column + TMAPI_PRODUCTS_SIDE <= p->n &&
        (row != column || p->layout == TMAP_PAIRS_SQUARE))
        tmapi_products_store(p, row, column, out, 1);
    else
        tmapi_products_store(p, row, column, out, 0);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, TMAP_PAIRS_STORE_BLOCKS)
    tmapi_pdist_f32_few(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmapi_pdist_few_tile(&plan, &j, 4);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, 2)
    tmapi_pdist_f64_few(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmapi_pdist_few_tile(&plan, &j, 8);
}
// Sums in one part, for up to 16 coordinates of many points. They take fewer registers, so a lane
// has twice as many columns, and a block half the threads.
static __global__ void __launch_bounds__(32 * TMAPI_PDIST_PART_WARPS, 4)
    tmapi_pdist_f32_part(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmapi_pdist_sums_tile(&plan, &j, 4, 2 * TMAPI_STORE_BAND, TMAPI_PDIST_PART_WARPS);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS)
    tmapi_pdist_f32_any(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmapi_pdist_sums_tile(&plan, &j, 4, TMAPI_STORE_BAND, TMAPI_STORE_SUMS_WARPS);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS)
    tmapi_pdist_f64_any(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmapi_pdist_sums_tile(&plan, &j, 8, plan.side, TMAPI_STORE_SUMS_WARPS);
}
static __global__ void tmapi_pdist_products_stage(tmapi_products p) {
    tmapi_products_stage(&p, blockIdx.x * (tmap_u64)(blockDim.x / 32) + threadIdx.x / 32);
}
// Compiled for 7.5, whose tensor cores have no doubles, it does nothing and is not launched.
static __global__ void __launch_bounds__(TMAPI_PRODUCTS_THREADS, TMAPI_PRODUCTS_BLOCKS)
    tmapi_pdist_products(tmapi_products p) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    tmapi_products_tile(&p, (double *)tmapi_pairs_memory());
#else
    (void)p;
#endif
}

// ---- launches -----------------------------------------------------------------------------------

// Points in device memory, at a multiple of the size of a coordinate.
typedef struct tmap_pdist_points {
    const void *data; // n x d coordinates row by row, floats or doubles by the function's name
    tmap_u64 n;       // the matrix must fit memory and the grid: up to 8388352, 5931520 if square
    tmap_u64 d;       // 1 to TMAP_PAIRS_SUMS_D_MAX; points of 1 to 4 are held in registers
} tmap_pdist_points;

// 1 if the current GPU has tensor cores that multiply doubles as fast as floats, and the kernel was
// compiled for them (code for 7.5 runs on it too).
static inline int tmapi_pdist_has_tensor(void) {
    tmap_facts facts;
    if (tmap_facts_get((const void *)tmapi_pdist_products, &facts) != cudaSuccess) return 0;
    return (facts.device.capability == 80 || facts.device.capability == 90) &&
           facts.kernel.ptx >= 80;
}

// Bytes of the workspace of tmap_pdist_f32_products, about 8 n d; 0 where it uses no products on
// any GPU: below 17 coordinates or 1024 points, and for more than TMAP_PAIRS_SUMS_D_MAX coordinates
// or TMAP_PAIRS_STORE_MAX points. Example: n = 30720, d = 64: 15974400.
static inline tmap_u64 tmap_pdist_workspace(tmap_u64 n, tmap_u64 d) {
    if (d < 17 || d > TMAP_PAIRS_SUMS_D_MAX || n < 1024 || n > TMAP_PAIRS_STORE_MAX) return 0;
    return tmapi_products_workspace(n, d);
}

// 1 if a metric can be computed from products.
static inline int tmapi_pdist_multiplies(int metric) {
    return tmapi_pdist_rule_of(metric).sum == TMAPI_PDIST_SQUARES;
}

// Launches the products. workspace: at a multiple of 16. The number of tiles is the only thing not
// yet checked.
static inline cudaError_t tmapi_products_launch(tmap_pdist_points points, int metric, int layout,
                                                void *workspace, void *out, cudaStream_t stream) {
    const tmapi_pdist_rule rule = tmapi_pdist_rule_of(metric);
    const void *kernel = (const void *)tmapi_pdist_products;
    const tmap_u64 staged = tmapi_facts_round((tmap_u32)points.n, TMAPI_PRODUCTS_SIDE);
    const tmap_u64 tiles = staged / TMAPI_PRODUCTS_SIDE;
    const tmap_u64 width = tmapi_facts_round((tmap_u32)points.d, TMAPI_PRODUCTS_CHUNK);
    const tmapi_launch_shape stage = {staged / 8, 32 * 8, 0};
    const tmapi_launch_shape pairs = {layout == TMAP_PAIRS_SQUARE ? tiles * tiles
                                                                  : tmap_triangle_cells(tiles),
                                      TMAPI_PRODUCTS_THREADS, TMAPI_PRODUCTS_BYTES};
    tmapi_products p = {(const float *)points.data,
                        (float *)out,
                        points.d,
                        (tmap_u32)points.n,
                        (tmap_u32)layout,
                        rule.root,
                        rule.scaled,
                        (tmap_u32)width,
                        (tmap_u32)tiles,
                        24,
                        (double *)workspace,
                        (double *)workspace + staged * width};
    void *arguments[1] = {&p};
    cudaError_t error;
    for (tmap_u64 more = (p.d - 1) / 16; more && p.bits > 8; more /= 2) --p.bits;
    if (pairs.grid > 0x7fffffff) return cudaErrorInvalidConfiguration; // before the first launch
    if ((error = tmapi_launch_shared(kernel, TMAPI_PRODUCTS_BYTES)) != cudaSuccess) return error;
    error = tmapi_launch((const void *)tmapi_pdist_products_stage, stage, arguments, stream);
    return error ? error : tmapi_launch(kernel, pairs, arguments, stream);
}

// Launches either form. size: bytes of a coordinate. workspace: of products, or null.
static inline cudaError_t tmapi_pdist_launch(tmap_pdist_points points, tmap_u32 size, int metric,
                                             int layout, void *workspace, void *out,
                                             cudaStream_t stream) {
    const tmap_u64 n = points.n, d = points.d;
    const tmap_u32 hollow = layout == TMAP_PAIRS_CONDENSED ? 0 : TMAP_PAIRS_HOLLOW;
    const int few = d <= 4, part = !few && size == 4 && d <= 16 && n >= TMAPI_STORE_LARGE;
    const void *kernel = few && size == 4 ? (const void *)tmapi_pdist_f32_few
                         : few            ? (const void *)tmapi_pdist_f64_few
                         : size == 8      ? (const void *)tmapi_pdist_f64_any
                         : part           ? (const void *)tmapi_pdist_f32_part
                                          : (const void *)tmapi_pdist_f32_any;
    tmapi_pdist_job job = {points.data, out, {0, 0, 0}};
    const tmap_pairs_store_shape shape = {(tmap_u32)n, few ? 4 : (tmap_u32)d, size,
                                          (tmap_u32)layout | hollow, size};
    tmap_pairs_plan plan;
    cudaError_t error;
    if (metric < 0 || metric >= (int)TMAP_PDIST_METRIC_COUNT || layout < TMAP_PAIRS_CONDENSED ||
        layout > TMAP_PAIRS_LOWER || d == 0 || (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    if (tmap_pdist_values(n, layout) == 0) return cudaSuccess;
    if (!points.data || !out || ((tmap_u64)points.data | (tmap_u64)out) % size)
        return cudaErrorInvalidValue;
    if (n > TMAP_PAIRS_STORE_MAX || d > TMAP_PAIRS_SUMS_D_MAX) return cudaErrorInvalidConfiguration;
    job.rule = tmapi_pdist_rule_of(metric);
    if (workspace && tmap_pdist_workspace(n, d) && tmapi_pdist_multiplies(metric) &&
        tmapi_pdist_has_tensor())
        return tmapi_products_launch(points, metric, layout, workspace, out, stream);
    error = few ? tmap_pairs_store_plan_make(shape, kernel, &plan)
                : tmap_pairs_store_sums_plan_make(shape, kernel, &plan);
    if (error) return error;
    plan.d = (tmap_u32)d;
    if (part) plan.block = 32 * TMAPI_PDIST_PART_WARPS;
    if (layout != TMAP_PAIRS_CONDENSED && n % (TMAPI_STORE_SECTOR / size) == 0 &&
        (tmap_u64)out % TMAPI_STORE_SECTOR == 0) // all rows begin at a sector
        plan.before = 0, tmapi_pairs_plan_tiles(&plan);
    if (d > 4 && job.rule.scaled)
        plan.shared += 16 * tmapi_store_places(plan.side, size); // means and factors of the points
    return tmap_pairs_launch(&plan, &job, stream);
}

// Writes the distances of all pairs of points in single precision.
// out: tmap_pdist_values(n, layout) floats in device memory that do not overlap the points. metric:
// a tmap_pdist_metric. layout: TMAP_PAIRS_CONDENSED, _SQUARE or _LOWER, which leaves values above
// the diagonal unchanged. n = 0 does nothing, nor does n = 1 if condensed: the pointers may then be
// null.
// Returns cudaErrorInvalidValue for an unknown metric or layout, d = 0, and a null or misaligned
// pointer; cudaErrorInvalidConfiguration for an n too large for the grid or a d above its range;
// else the launch's own error, not one that an earlier call left, which it does not clear either.
// Exactness: the values of (i, j) and (j, i) are equal in every bit, and that of (i, i) is 0. NaN
// and infinity propagate as in scipy. With u = 2^-24 (doubles: 2^-53) the error is at most
//   (t/2 + 4) u              of a Euclidean distance
//   (t + 4) u                of a squared or cityblock distance
//   u                        of a Chebyshev distance
//   (t + 4) u of c, and s (2 sqrt(c) + s)    of a cosine or correlation c
// t: d; in floats at most 8 up to d = 64, 12 up to 256, else 20. s: 1.5 u, from rounding the unit
// vectors, and for each of the two points 2^-52 (d + 4), in correlations times 1 + |mean| sqrt(d) /
// (length less the mean).
// Range: a Euclidean distance is the root of a sum of squares, which loses up to d 2^-150 (doubles:
// d 2^-1075) below the normal numbers. So from d = 2 on, distances below 1.1e-19 sqrt(d) have fewer
// correct digits, those below 1.1e-19 may be 0, and those above 1.8e19 are infinite; in doubles,
// 1.5e-154 and 1.3e154. Squared distances lose the same. Other distances have the range of their
// type; the lengths in cosines of floats that of a double.
// Cost: 2 d to 2.6 d instructions, a root and a store for each pair. Up to d = 4 it is bound by the
// stores; for larger d than 16 see tmap_pdist_f32_products.
// Example: points 0, 1, 3 of d = 1: condensed euclidean 1, 3, 2.
static inline cudaError_t tmap_pdist_f32(tmap_pdist_points points, int metric, int layout,
                                         float *out, cudaStream_t stream) {
    return tmapi_pdist_launch(points, 4, metric, layout, 0, out, stream);
}

// tmap_pdist_f32 in double precision: coordinates, arithmetic and results are doubles.
static inline cudaError_t tmap_pdist_f64(tmap_pdist_points points, int metric, int layout,
                                         double *out, cudaStream_t stream) {
    return tmapi_pdist_launch(points, 8, metric, layout, 0, out, stream);
}

// As tmap_pdist_f32, but with products on tensor cores, for which it needs a workspace. It uses
// them on GPUs of compute capability 8.0 and 9.0 for Euclidean and squared distances, cosines and
// correlations, from 17 coordinates and 1024 points on; else it does what tmap_pdist_f32 does, with
// the errors and the range of that.
// workspace: tmap_pdist_workspace(n, d) bytes of device memory with any content, free again after
// the launch; or null: no products. Calls that overlap need one workspace each. Returns the errors
// of tmap_pdist_f32, and cudaErrorInvalidValue for a workspace that is not at a multiple of 16.
// Exactness of products, up to d = 2^20: the error is at most 3 u of a Euclidean distance and 4 u
// of the others, whatever d is, and of a cosine or correlation also s (2 sqrt(c) + s), where s has
// no 1.5 u. Euclidean distances have the complete range of floats.
// Cost: d multiplications of doubles on tensor cores and about 20 instructions a pair; one launch
// more. On an H200, 1.4 times as fast as tmap_pdist_f32 at d = 17, 2.2 to 2.7 times at d = 64. A
// pair closer than 1/4000 of its distance from the middle of the cloud (1/700 for d = 300) takes as
// long as a hundred others.
// Example: n = 30720, d = 64: a workspace of 16 MB.
static inline cudaError_t tmap_pdist_f32_products(tmap_pdist_points points, int metric, int layout,
                                                  void *workspace, float *out,
                                                  cudaStream_t stream) {
    return tmapi_pdist_launch(points, 4, metric, layout, workspace, out, stream);
}

#endif

#endif
