// SPDX-License-Identifier: MIT
// pdist_metric.h: the metrics of pdist.h, as functions of a pair for pairs_store.h and
// pairs_store_sums.h.
//
// All of them are one of three sums: of squares, of absolute values, or a maximum. What is
// different afterwards is a root, a factor and a limit. Cosines are squares of unit vectors'
// differences: the points are divided by their lengths in shared memory.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_PDIST_METRIC_H
#define TMAP_TRIANGLE_PDIST_METRIC_H

#include "pairs_store_sums.h"
#include "pdist_out.h"

#if TMAP_CUDA

// The ways to a sum, and from a sum to a distance: no more than limit, its root.
#define TMAPI_PDIST_SQUARES  0
#define TMAPI_PDIST_ABSOLUTE 1
#define TMAPI_PDIST_MOST     2
typedef struct tmapi_pdist_way {
    tmap_u32 d; // coordinates of points in registers, a constant
    int three;  // whether there are three of them
    int sum, root;
    float limit;
} tmapi_pdist_way;

TMAP_DEVICE tmapi_pdist_way tmapi_pdist_way_of(tmap_u32 metric, tmap_u32 d) {
    tmapi_pdist_way way;
    const int cosine = metric == TMAP_PDIST_COSINE || metric == TMAP_PDIST_CORRELATION;
    way.d = d, way.three = d == 3, way.root = metric == TMAP_PDIST_EUCLIDEAN;
    way.sum = metric == TMAP_PDIST_CITYBLOCK   ? TMAPI_PDIST_ABSOLUTE
              : metric == TMAP_PDIST_CHEBYSHEV ? TMAPI_PDIST_MOST
                                               : TMAPI_PDIST_SQUARES;
    // Opposite directions may be rounded to more than 2.
    way.limit = cosine ? 2.0f : __uint_as_float(0x7f800000);
    return way;
}

// ---- floats -------------------------------------------------------------------------------------

// x, but no more than `limit`; NaN stays. (One operand for x and the result, "+f", made nvcc 13.0
// lose x where two branches meet before it.)
TMAP_DEVICE float tmapi_pdist_limit_f32(float x, float limit) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(limit));
    return y;
#else
    return x > limit ? limit : x;
#endif
}

// Of four coordinates, two short chains of additions are more exact than one. Coordinates that do
// not exist are 0. d: a constant; or, where it is not known, 4, and the result is the same in every
// bit by `three`: whether there are three coordinates, whose chain is one.
TMAP_DEVICE float tmapi_pdist_square_f32(tmap_u32 d, int three, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    float sum = (u[0] - v[0]) * (u[0] - v[0]), late;
    if (d > 1) sum = fmaf(u[1] - v[1], u[1] - v[1], sum);
    if (d < 3) return sum;
    if (three) return fmaf(u[2] - v[2], u[2] - v[2], sum);
    late = (u[2] - v[2]) * (u[2] - v[2]);
    return sum + fmaf(u[3] - v[3], u[3] - v[3], late);
}
TMAP_DEVICE void tmapi_pdist_root_of_f32(void *job, tmap_pair, const void *a, const void *b,
                                         void *value) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    *(float *)value = tmapi_pdist_root(tmapi_pdist_square_f32(way->d, way->three, a, b), 1);
}
TMAP_DEVICE void tmapi_pdist_squares_f32(void *job, tmap_pair, const void *a, const void *b,
                                         void *value) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    const float square = tmapi_pdist_square_f32(way->d, way->three, a, b);
    *(float *)value = tmapi_pdist_limit_f32(square, way->limit);
}
TMAP_DEVICE void tmapi_pdist_absolute_f32(void *job, tmap_pair, const void *a, const void *b,
                                          void *value) {
    const tmap_u32 d = ((const tmapi_pdist_way *)job)->d;
    const float *u = (const float *)a, *v = (const float *)b;
    float sum = fabsf(u[0] - v[0]);
#pragma unroll
    for (tmap_u32 k = 1; k < 4; ++k)
        if (k < d) sum += fabsf(u[k] - v[k]);
    *(float *)value = sum;
}
TMAP_DEVICE void tmapi_pdist_most_of_f32(void *job, tmap_pair, const void *a, const void *b,
                                         void *value) {
    const tmap_u32 d = ((const tmapi_pdist_way *)job)->d;
    const float *u = (const float *)a, *v = (const float *)b;
    float most = 0; // so a NaN does not count
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k)
        if (k < d) most = fmaxf(most, fabsf(u[k] - v[k]));
    *(float *)value = most;
}

// Long sums. Four floats are added to each other first, so that a long sum is rounded every fourth
// time: absolute values by pairs, which costs nothing, squares one after the other, for one
// addition more. The sum itself is taken by parts, and carries what it has lost by rounding to the
// next one.
typedef struct tmapi_pdist_sum_f32 {
    float part, sum;
} tmapi_pdist_sum_f32;

TMAP_DEVICE void tmapi_pdist_start_part_f32(void *, void *sum) { *(float *)sum = 0; }
TMAP_DEVICE void tmapi_pdist_start_f32(void *, void *sum) {
    ((tmapi_pdist_sum_f32 *)sum)->part = 0, ((tmapi_pdist_sum_f32 *)sum)->sum = 0;
}
TMAP_DEVICE void tmapi_pdist_add_squares_f32(void *, void *sum, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    float four = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) four = fmaf(u[k] - v[k], u[k] - v[k], four);
    ((tmapi_pdist_sum_f32 *)sum)->part += four;
}
TMAP_DEVICE void tmapi_pdist_add_absolute_f32(void *, void *sum, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    const float two = fabsf(u[0] - v[0]) + fabsf(u[1] - v[1]);
    ((tmapi_pdist_sum_f32 *)sum)->part += two + (fabsf(u[2] - v[2]) + fabsf(u[3] - v[3]));
}
TMAP_DEVICE void tmapi_pdist_add_most_f32(void *, void *sum, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    float *most = &((tmapi_pdist_sum_f32 *)sum)->part;
#pragma unroll
    for (int k = 0; k < 4; ++k) *most = fmaxf(*most, fabsf(u[k] - v[k]));
}
// sum += part; part is then what the sum has lost by rounding, and the next part begins with it.
// What a sum that is infinite or NaN has lost does not change it.
TMAP_DEVICE void tmapi_pdist_carry_f32(void *, void *sum) {
    tmapi_pdist_sum_f32 *s = (tmapi_pdist_sum_f32 *)sum;
    const float before = s->sum;
    s->sum += s->part;
    s->part -= s->sum - before;
    s->part = fmaxf(s->part, -3.402823466e38f); // for -infinity and NaN
}
TMAP_DEVICE void tmapi_pdist_finish_part_f32(void *job, tmap_pair, const void *sum, void *value) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    const float total = *(const float *)sum;
    *(float *)value =
        way->root ? tmapi_pdist_root(total, 0) : tmapi_pdist_limit_f32(total, way->limit);
}
TMAP_DEVICE void tmapi_pdist_finish_f32(void *job, tmap_pair pair, const void *sum, void *value) {
    const tmapi_pdist_sum_f32 *s = (const tmapi_pdist_sum_f32 *)sum;
    const float total = s->sum + s->part;
    tmapi_pdist_finish_part_f32(job, pair, &total, value);
}

// ---- doubles ------------------------------------------------------------------------------------

// As fmax for an m that is a number, in fewer instructions.
TMAP_DEVICE double tmapi_pdist_most_f64(double m, double t) { return t > m ? t : m; }
// The root of a double: the GPU's own of the half of its bits, one step from there, and one on the
// remainder; 0, infinity and NaN as they are, and no root of what is not a normal number.
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
TMAP_DEVICE double tmapi_pdist_square_f64(tmap_u32 d, const void *a, const void *b) {
    const double *u = (const double *)a, *v = (const double *)b;
    double sum = (u[0] - v[0]) * (u[0] - v[0]);
#pragma unroll
    for (tmap_u32 k = 1; k < 4; ++k)
        if (k < d) sum = fma(u[k] - v[k], u[k] - v[k], sum);
    return sum;
}
TMAP_DEVICE void tmapi_pdist_root_of_f64(void *job, tmap_pair, const void *a, const void *b,
                                         void *value) {
    *(double *)value =
        tmapi_pdist_root_f64(tmapi_pdist_square_f64(((const tmapi_pdist_way *)job)->d, a, b));
}
TMAP_DEVICE void tmapi_pdist_squares_f64(void *job, tmap_pair, const void *a, const void *b,
                                         void *value) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    const double sum = tmapi_pdist_square_f64(way->d, a, b);
    *(double *)value = sum > (double)way->limit ? (double)way->limit : sum;
}
TMAP_DEVICE void tmapi_pdist_absolute_f64(void *job, tmap_pair, const void *a, const void *b,
                                          void *value) {
    const tmap_u32 d = ((const tmapi_pdist_way *)job)->d;
    const double *u = (const double *)a, *v = (const double *)b;
    double sum = fabs(u[0] - v[0]);
#pragma unroll
    for (tmap_u32 k = 1; k < 4; ++k)
        if (k < d) sum += fabs(u[k] - v[k]);
    *(double *)value = sum;
}
TMAP_DEVICE void tmapi_pdist_most_of_f64(void *job, tmap_pair, const void *a, const void *b,
                                         void *value) {
    const tmap_u32 d = ((const tmapi_pdist_way *)job)->d;
    const double *u = (const double *)a, *v = (const double *)b;
    double most = 0; // so a NaN does not count
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k)
        if (k < d) most = tmapi_pdist_most_f64(most, fabs(u[k] - v[k]));
    *(double *)value = most;
}
// Long sums.
TMAP_DEVICE void tmapi_pdist_start_f64(void *, void *sum) { *(double *)sum = 0; }
TMAP_DEVICE void tmapi_pdist_add_squares_f64(void *, void *sum, const void *a, const void *b) {
    const double *u = (const double *)a, *v = (const double *)b;
    *(double *)sum = fma(u[0] - v[0], u[0] - v[0], *(double *)sum);
    *(double *)sum = fma(u[1] - v[1], u[1] - v[1], *(double *)sum);
}
TMAP_DEVICE void tmapi_pdist_add_absolute_f64(void *, void *sum, const void *a, const void *b) {
    const double *u = (const double *)a, *v = (const double *)b;
    *(double *)sum += fabs(u[0] - v[0]);
    *(double *)sum += fabs(u[1] - v[1]);
}
TMAP_DEVICE void tmapi_pdist_add_most_f64(void *, void *sum, const void *a, const void *b) {
    const double *u = (const double *)a, *v = (const double *)b;
    *(double *)sum = tmapi_pdist_most_f64(*(double *)sum, fabs(u[0] - v[0]));
    *(double *)sum = tmapi_pdist_most_f64(*(double *)sum, fabs(u[1] - v[1]));
}
TMAP_DEVICE void tmapi_pdist_finish_f64(void *job, tmap_pair, const void *sum, void *value) {
    const tmapi_pdist_way *way = (const tmapi_pdist_way *)job;
    double total = *(const double *)sum;
    if (total > (double)way->limit) total = (double)way->limit;
    if (way->root) total = tmapi_pdist_root_f64(total);
    *(double *)value = total;
}

#endif // TMAP_CUDA
#endif
