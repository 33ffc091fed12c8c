// SPDX-License-Identifier: MIT
// pdist.h: the distances of all pairs of n points, written as fast as the memory takes them.
//
//     const tmap_pdist_points points = {coordinates, n, d}; // n x d floats in device memory
//     ... cudaMalloc(&out, 4 * tmap_pdist_values(n, TMAP_PAIRS_CONDENSED));
//     ... tmap_pdist_f32(points, TMAP_PDIST_EUCLIDEAN, TMAP_PAIRS_CONDENSED, out, stream);
//
// It is an instance of pairs_store.h for the metrics that everyone asks for. All of them are one of
// three sums: of squares, of absolute values, or a maximum. What is different afterwards is a root,
// a factor and a limit. Coordinates are subtracted first, then squared and added: no product of the
// points with themselves, in which the difference of two near points is lost. The one exception is
// in double precision, for points that are not near, on GPUs whose tensor cores make it faster.
#ifndef TMAP_TRIANGLE_PDIST_H
#define TMAP_TRIANGLE_PDIST_H

#include "pairs_store.h"

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

// The values that `out` has room for: n(n-1)/2 condensed, else n^2; saturates. layout:
// TMAP_PAIRS_CONDENSED, _SQUARE or _LOWER.
// Example: 30720 condensed: 471843840.
TMAP_FN tmap_u64 tmap_pdist_values(tmap_u64 n, int layout) {
    if (layout == TMAP_PAIRS_CONDENSED) return tmap_condensed_cells(n);
    return n >> 32 ? ~0ull : n * n;
}

#if TMAP_CUDA

// ---- metrics ------------------------------------------------------------------------------------

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

// ---- kernels of differences ---------------------------------------------------------------------

#define TMAPI_PDIST_PART_WARPS 4 // of a block of tmapi_pdist_f32_part

typedef struct tmapi_pdist_job {
    const void *points;
    void *out;
    tmap_u32 metric;
    double share; // 1 / d
} tmapi_pdist_job;

// Cosines: points of length sqrt(1/2) have half of the square between points of length 1.
TMAP_DEVICE tmapi_store_scale tmapi_pdist_scale(const tmapi_pdist_job *j, unsigned char *behind) {
    const int centred = j->metric == TMAP_PDIST_CORRELATION;
    const double length = centred || j->metric == TMAP_PDIST_COSINE ? 0.70710678118654752 : 0;
    const tmapi_store_scale scale = {length, j->share, centred, (double *)behind};
    return scale;
}

// The tile of this block. The constants of a plan that has one set of points make less code.
TMAP_DEVICE tmapi_store tmapi_pdist_tile(const tmap_pairs_plan *plan, const tmapi_pdist_job *j,
                                         tmap_u32 side, tmap_u32 warps, tmap_u32 lanes,
                                         tmap_u32 size) {
    const tmap_points points = {j->points, 0, size, plan->d};
    tmap_pairs_plan one = *plan;
    one.sets = 1, one.others = 0;
    return tmapi_store_make(&one, blockIdx.x, side, warps, lanes, points, size, j->out);
}

// The values of a type for points of 1 to 4 coordinates.
typedef struct tmapi_pdist_few {
    tmap_pairs_value root, squares, absolute, most;
    tmapi_pdist_way way;
    tmap_u32 d;
} tmapi_pdist_few;

// The full rows of a strip, for points of d coordinates, a constant.
TMAP_DEVICE void tmapi_pdist_rows(const tmapi_store *s, const tmapi_store_strip *strip, tmap_u32 d,
                                  const tmapi_pdist_few *few) {
    tmapi_pdist_way way = few->way;
    tmapi_store known = *s;
    known.d = way.d = d, way.three = d == 3;
    if (way.sum == TMAPI_PDIST_ABSOLUTE)
        tmapi_store_rows(&known, *strip, few->absolute, &way);
    else if (way.sum == TMAPI_PDIST_MOST)
        tmapi_store_rows(&known, *strip, few->most, &way);
    else if (!way.root)
        tmapi_store_rows(&known, *strip, few->squares, &way);
    else if (d > 1)
        tmapi_store_rows(&known, *strip, few->root, &way);
}
TMAP_DEVICE void tmapi_pdist_few_rows(const tmapi_store *s, const tmapi_store_strip *strip,
                                      void *context) {
    const tmapi_pdist_few *few = (const tmapi_pdist_few *)context;
    if (few->d <= 2)
        tmapi_pdist_rows(s, strip, 2, few);
    else if (few->d == 3)
        tmapi_pdist_rows(s, strip, 3, few);
    else
        tmapi_pdist_rows(s, strip, 4, few);
}

// A row that is not full: values of 4 coordinates, some of which are 0, and of points that do not
// exist, which are 0 too; these go nowhere.
TMAP_DEVICE void tmapi_pdist_row_by(const tmapi_store *s, const tmapi_store_whole *row,
                                    const tmapi_store_whole *columns, tmap_pairs_value value,
                                    tmapi_pdist_way *way, tmapi_store_out *out) {
    const tmap_pair pair = {0, 0};
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
        value(way, pair, row->bytes, columns[c].bytes, out->bytes + c * s->bytes);
}
TMAP_DEVICE void tmapi_pdist_few_row(const tmapi_store *s, const tmapi_store_strip *,
                                     const tmapi_store_whole *row, const tmapi_store_whole *columns,
                                     tmapi_store_out *out, void *context) {
    const tmapi_pdist_few *few = (const tmapi_pdist_few *)context;
    tmapi_pdist_way way = few->way;
    if (way.sum == TMAPI_PDIST_ABSOLUTE)
        tmapi_pdist_row_by(s, row, columns, few->absolute, &way, out);
    else if (way.sum == TMAPI_PDIST_MOST)
        tmapi_pdist_row_by(s, row, columns, few->most, &way, out);
    else if (!way.root)
        tmapi_pdist_row_by(s, row, columns, few->squares, &way, out);
    else
        tmapi_pdist_row_by(s, row, columns, few->root, &way, out);
}

// A block's tile, for 1 to 4 coordinates.
TMAP_DEVICE void tmapi_pdist_few_tile(const tmap_pairs_plan *plan, const tmapi_pdist_job *j,
                                      tmap_u32 size, tmapi_pdist_few *few) {
    unsigned char *staged = tmapi_pairs_memory();
    const tmap_u32 side = TMAPI_STORE_BAND, planes = size / 4;
    const tmapi_store s = tmapi_pdist_tile(plan, j, side, TMAPI_STORE_WARPS, 1, size);
    const tmapi_store_scale scale = tmapi_pdist_scale(j, staged);
    tmapi_store padded = s;
    tmapi_store_stage(&s, 0, 0, planes, staged);
    few->way = tmapi_pdist_way_of(j->metric, 4), few->way.three = s.d == 3, few->d = s.d;
    if (s.d == 1 && few->way.root) // of its square, which may overflow
        few->way.root = 0, few->way.sum = TMAPI_PDIST_ABSOLUTE;
    tmapi_store_ready(&s, 1, 0, planes, &scale, staged);
    padded.d = 4;
    tmapi_store_each(&padded, staged, tmapi_pdist_few_rows, tmapi_pdist_few_row, few);
}

// A block's tile, for any number of coordinates. w: all but its way, its job and the sum's period.
TMAP_DEVICE void tmapi_pdist_sums_tile(const tmap_pairs_plan *plan, const tmapi_pdist_job *j,
                                       tmap_u32 size, tmap_u32 side, tmap_u32 warps, tmap_u32 wide,
                                       tmapi_store_ways w) {
    unsigned char *staged = tmapi_pairs_memory();
    tmapi_store s = tmapi_pdist_tile(plan, j, side, warps, 4, size);
    tmapi_pdist_way way = tmapi_pdist_way_of(j->metric, 0);
    const tmapi_store_scale scale =
        tmapi_pdist_scale(j, staged + plan->shared - 16 * tmapi_store_places(side, size));
    s.wide = wide, w.way = way.sum, w.job = &way;
    // Long sums of floats are taken by parts, larger ones where the errors of more parts cancel.
    w.sum.period = way.sum == TMAPI_PDIST_MOST ? 0x80000000u : s.d > 256 ? 64 : s.d > 64 ? 32 : 16;
    tmapi_store_sums(&s, staged, &scale, &w);
}

// ---- products on tensor cores -------------------------------------------------------------------
//
// |u - v|^2 = |u|^2 + |v|^2 - 2 u.v takes one multiplication a coordinate, where differences take a
// subtraction and a multiplication, and tensor cores that multiply doubles as fast as the GPU
// multiplies floats do all of them. In floats the formula is of no use: near points lose all their
// digits. Not so here:
//   - u and v are measured from a point in the middle of the cloud, so that a cloud far from the
//     origin loses nothing; for cosines they are divided by their lengths: half the square of the
//     difference of two unit vectors is 1 - cos;
//   - in doubles the sum of d coordinates is off by 2^-53 (2 d + 3) (|u|^2 + |v|^2) at most: with
//     16 of them 24 bits may cancel, with more of them fewer, and the distance is off by half a
//     place of a float;
//   - pairs that are nearer are computed again from their differences, and so are squares that a
//     float cannot hold.
//
// Compute capabilities 8.0 and 9.0 have such cores. What is compiled for 8.0 also runs on GPUs that
// take 32 times as long for a double: the launcher asks for the GPU.

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

// A launch. layout: as for tmap_pairs_tile_of.
typedef struct tmapi_pdist {
    const float *points;
    float *out;
    double *staged, *norms; // points of `width` doubles, and the squares of their lengths
    tmap_u64 d;
    tmap_u32 n, layout, metric, width;
    tmap_u32 bits;  // that may cancel
    tmap_u32 tiles; // in a row of the square, or in the first row of the condensed matrix
    tmap_u32 skew;  // 1 if rows begin elsewhere than at sectors: a row of tiles then has one more
} tmapi_pdist;

// Where row i of the output would have its column 0. Modulo 2^64: row 0 of a condensed matrix has
// it before the beginning.
TMAP_DEVICE tmap_u64 tmapi_pdist_begin(const tmapi_pdist *p, tmap_u64 i) {
    return p->layout == TMAP_PAIRS_CONDENSED ? i * (2ull * p->n - i - 3) / 2 - 1 : i * p->n;
}

// ---- 5 to 16 coordinates ------------------------------------------------------------------------
//
// Euclidean distances, without memory besides.

#define TMAPI_PDIST_BAND   128 // 8 rows of all 16 sets
#define TMAPI_PDIST_PERIOD 16
#define TMAPI_PDIST_SECTOR 32 // bytes

// How many values before a multiple of 32 columns the strips of row i begin, so as to begin at a
// sector of memory. The same for each 16th row.
TMAP_DEVICE int tmapi_pdist_shift(tmapi_pdist p, int i) {
    return (int)(((tmap_u64)p.out / 4 + tmapi_pdist_begin(&p, (tmap_u64)i)) &
                 (TMAPI_PDIST_SECTOR / 4 - 1));
}

// From the square to the distance. exact: as for tmapi_pdist_root.
TMAP_DEVICE float tmapi_pdist_finish(int metric, float square, int exact) {
    return metric == TMAP_PDIST_EUCLIDEAN ? tmapi_pdist_root(square, exact) : square;
}

// Stores a lane's four values of row i, the first at column j and at `at`. Columns outside the
// layout are left out; inside: there are none, nor the diagonal.
TMAP_DEVICE void tmapi_pdist_store(tmapi_pdist p, int metric, int inside, int i, int j, float *at,
                                   const float *squares) {
    const int first = p.layout == TMAP_PAIRS_CONDENSED ? i + 1 : 0;
    const int end = p.layout == TMAP_PAIRS_LOWER ? i + 1 : (int)p.n;
    float4 vector;
    vector.x = tmapi_pdist_finish(metric, squares[0], 2);
    vector.y = tmapi_pdist_finish(metric, squares[1], 2);
    vector.z = tmapi_pdist_finish(metric, squares[2], 2);
    vector.w = tmapi_pdist_finish(metric, squares[3], 2);
    if (inside || (j >= first && j + 4 <= end && (tmap_u32)(i - j) >= 4)) {
        TMAPI_STCS((float4 *)at, vector);
    } else {
        if (j >= first && j < end) at[0] = i == j ? 0 : vector.x;
        if (j + 1 >= first && j + 1 < end) at[1] = i == j + 1 ? 0 : vector.y;
        if (j + 2 >= first && j + 2 < end) at[2] = i == j + 2 ? 0 : vector.z;
        if (j + 3 >= first && j + 3 < end) at[3] = i == j + 3 ? 0 : vector.w;
    }
}

// Tiles of 256 x 256 points, 8 warps a block, 16 coordinates at a time.
#define TMAPI_PDIST_TENSOR_SIDE  256
#define TMAPI_PDIST_TENSOR_WARPS 8
#define TMAPI_PDIST_TENSOR_CHUNK 16
// Places of a staged point: its coordinates and |u|^2. Every fourth point then lies in banks of its
// own.
#define TMAPI_PDIST_PITCH (TMAPI_PDIST_TENSOR_CHUNK + 1)
// Columns before those of a tile that may be in the sector in which a row begins.
#define TMAPI_PDIST_BEFORE (TMAPI_PDIST_SECTOR / 4)

// Coordinate k of a point, measured from `centre`; 0 if there is none.
TMAP_DEVICE double tmapi_pdist_centred(tmapi_pdist p, int point, tmap_u64 k, float centre) {
    if ((tmap_u32)point >= p.n || k >= p.d) return 0;
    return (double)__ldg(p.points + ((tmap_u64)(tmap_u32)point * p.d + k)) - centre;
}

// Writes the distance of points i and j, computed from their differences, where the layout has it.
TMAP_DEVICE void tmapi_pdist_write_near(tmapi_pdist p, int metric, int i, int j) {
    const float *u = p.points + (tmap_u64)(tmap_u32)i * p.d;
    const float *v = p.points + (tmap_u64)(tmap_u32)j * p.d;
    const float *end = u + p.d;
    double sum = 0;
    if (i >= (int)p.n || j < 0 || j >= (int)p.n || i == j ||
        (p.layout == TMAP_PAIRS_CONDENSED && j < i) || (p.layout == TMAP_PAIRS_LOWER && j > i))
        return;
#pragma unroll 1
    for (; u != end; ++u, ++v) {
        double t = (double)*u - (double)*v;
        sum = fma(t, t, sum);
    }
    p.out[tmapi_pdist_begin(&p, (tmap_u64)i) + (tmap_u64)j] =
        tmapi_pdist_finish(metric, (float)sum, 1);
}

// |u|^2 of four lanes' shares of the coordinates; of a NaN without its sign.
TMAP_DEVICE double tmapi_pdist_norm(double share) {
    share += __shfl_xor_sync(0xffffffffu, share, 1);
    share += __shfl_xor_sync(0xffffffffu, share, 2);
    return fabs(share);
}

// Whether 32 columns from `edge` on have nothing to be written in 8 rows from `top` on.
TMAP_DEVICE int tmapi_pdist_outside(tmapi_pdist p, int top, int edge) {
    if (p.layout == TMAP_PAIRS_CONDENSED) return edge + 31 <= top;
    return p.layout == TMAP_PAIRS_LOWER && edge > top + 7 * TMAPI_PDIST_PERIOD;
}

// Writes the calling lane's part of 32 columns from `edge` on of the rows top, top + 16, .. 8 in
// all: 4 columns side by side of rows 2q and 2q + 1, where lane = 4g + q, so that 8 lanes write a
// line of memory. sums: the squares, as tmapi_pdist_mma leaves them; at: where the 4 columns of
// either row are; norm, norms: |u|^2 of the columns and of both rows; high: the largest high half
// of any norm in these columns and rows.
TMAP_DEVICE void tmapi_pdist_tensor_write(tmapi_pdist p, const int metric, int top, int edge,
                                          float *const *at, const double (*sums)[4],
                                          const double *norm, const double *norms, int high) {
    const int lane = (int)threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const int i = top + 2 * q * TMAPI_PDIST_PERIOD, j = edge + 4 * g;
    const int bottom = top + 7 * TMAPI_PDIST_PERIOD;
    int above = p.layout != TMAP_PAIRS_LOWER && edge > bottom;
    int below = p.layout != TMAP_PAIRS_CONDENSED && edge + 32 <= top;
    int inside = (above || below) && edge >= 0 && edge + 32 <= (int)p.n && bottom < (int)p.n;
    int least = 0x7fffffff, limit = high - ((TMAPI_PDIST_BITS - 1) << 20);
    tmap_u32 near = 0; // pairs to be computed from their differences
#pragma unroll
    for (int c = 0; c < 8; ++c) {
        int h = tmapi_pdist_high(sums[c / 4][c % 4]);
        least = h < least ? h : least;
    }
    // By their high halves: no sum of norms is above twice the largest one. What overflows a float
    // or is not normal as one is left to the same code.
    if (limit < 0x38100000) limit = 0x38100000;
    if (high >= 0x47500000 || least <= limit) {
        const double part = 1.0 / (1 << TMAPI_PDIST_BITS);
#pragma unroll
        for (int c = 0; c < 8; ++c) {
            double scale = norm[c / 2] + norms[c % 2];
            near |= (tmap_u32) !(sums[c / 4][c % 4] > scale * part &&
                                 sums[c / 4][c % 4] >= 0x1p-126 && scale < 0x1p119)
                    << c;
        }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const float values[8] = {(float)sums[0][r], (float)sums[0][2 + r], (float)sums[1][r],
                                 (float)sums[1][2 + r]};
        if (inside)
            tmapi_pdist_store(p, metric, 1, 0, 0, at[r], values);
        else if (i + r * TMAPI_PDIST_PERIOD < (int)p.n)
            tmapi_pdist_store(p, metric, 0, i + r * TMAPI_PDIST_PERIOD, j, at[r], values);
    }
#pragma unroll 1
    for (; near; near &= near - 1) {
        const int c = __ffs((int)near) - 1;
        tmapi_pdist_write_near(p, metric, i + c % 2 * TMAPI_PDIST_PERIOD, j + c / 2);
    }
}

// The 16 rows `row`, row + 16, .. of a tile, whose strips begin at column j; its columns are staged
// at `columns`. Rows are columns of B, columns rows of A.
TMAP_DEVICE void tmapi_pdist_tensor_rows(tmapi_pdist p, const int metric, int row, int j,
                                         const float *centre, const double *columns) {
    const int lane = (int)threadIdx.x % 32, g = lane / 4, q = lane % 4;
    double b[2][4], norms[4];
    float *at[4];
    int most = 0; // of the high halves of norms
#pragma unroll
    for (int x = 0; x < 2; ++x) {
        double norm = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            double value = tmapi_pdist_centred(p, row + (8 * x + g) * TMAPI_PDIST_PERIOD,
                                               (tmap_u64)(4 * k + q), centre[k]);
            norm = fma(value, value, norm);
            b[x][k] = -2 * value;
        }
        norm = tmapi_pdist_norm(norm);
        norms[2 * x] = __shfl_sync(0xffffffffu, norm, 8 * q);
        norms[2 * x + 1] = __shfl_sync(0xffffffffu, norm, 8 * q + 4);
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        int i = row + (r / 2 * 8 + 2 * q + r % 2) * TMAPI_PDIST_PERIOD;
        int high = tmapi_pdist_high(norms[r]);
        at[r] = p.out + (tmapi_pdist_begin(&p, (tmap_u64)i) + (tmap_u64)(tmap_i64)(j + 4 * g));
        most = high > most ? high : most;
    }
    columns += 4 * g * TMAPI_PDIST_PITCH;
#pragma unroll 1
    for (int s = 0; s < TMAPI_PDIST_TENSOR_SIDE / 32;
         ++s, columns += 32 * TMAPI_PDIST_PITCH, j += 32) {
        double a[2][8], norm[4];
        int high = most;
        if (j >= (int)p.n) break;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const double *from = columns + c * TMAPI_PDIST_PITCH;
            int h = tmapi_pdist_high(norm[c] = from[TMAPI_PDIST_TENSOR_CHUNK]);
            high = h > high ? h : high;
#pragma unroll
            for (int k = 0; k < 4; ++k) a[c / 2][2 * k + c % 2] = from[4 * k + q];
        }
#pragma unroll
        for (int x = 0; x < 2; ++x) {
            const int top = row + x * TMAPI_PDIST_BAND;
            float *const to[2] = {at[2 * x] + 32 * s, at[2 * x + 1] + 32 * s};
            double sums[2][4];
            if (tmapi_pdist_outside(p, top, j)) continue;
#pragma unroll
            for (int c = 0; c < 8; ++c) sums[c / 4][c % 4] = norm[c / 2] + norms[2 * x + c % 2];
#pragma unroll
            for (int c = 0; c < 2; ++c) tmapi_pdist_mma(sums[c], a[c], b[x]);
            tmapi_pdist_tensor_write(p, metric, top, j, to, sums, norm, norms + 2 * x, high);
        }
    }
}

// One tile, `staged` having room for its columns.
TMAP_DEVICE void tmapi_pdist_tensor(tmapi_pdist p, const int metric, double *staged) {
    const int columns = TMAPI_PDIST_TENSOR_SIDE + TMAPI_PDIST_BEFORE;
    const int q = (int)threadIdx.x % 4;
    float centre[4];
    tmap_pair tile;
    int row, column;
    tmapi_pairs_tile_of(blockIdx.x, p.layout, p.tiles, p.skew, 0, &tile.i, &tile.j);
    row = (int)tile.i * TMAPI_PDIST_TENSOR_SIDE, column = (int)tile.j * TMAPI_PDIST_TENSOR_SIDE;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        centre[k] = tmapi_pdist_centre(p.points, p.n, p.d, (tmap_u64)(4 * k + q));
#pragma unroll 1
    for (int x = 0; x < columns; x += 8 * TMAPI_PDIST_TENSOR_WARPS) {
        // Four threads a point, in the order in which a warp adds up the norms of rows.
        const int to = x + (int)threadIdx.x / 4;
        double norm = 0, value[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            value[k] = tmapi_pdist_centred(p, column - TMAPI_PDIST_BEFORE + to,
                                           (tmap_u64)(4 * k + q), centre[k]);
            norm = fma(value[k], value[k], norm);
        }
        norm = tmapi_pdist_norm(norm);
        if (to >= columns) continue;
        double *at = staged + to * TMAPI_PDIST_PITCH;
#pragma unroll
        for (int k = 0; k < 4; ++k) at[4 * k + q] = value[k];
        if (q == 0) at[TMAPI_PDIST_TENSOR_CHUNK] = norm;
    }
    __syncthreads();
#pragma unroll 1
    for (int y = (int)threadIdx.x / 32; y < TMAPI_PDIST_PERIOD; y += TMAPI_PDIST_TENSOR_WARPS) {
        const int shift = tmapi_pdist_shift(p, row + y);
        if (row + y >= (int)p.n) break;
        tmapi_pdist_tensor_rows(p, metric, row + y, column - shift, centre,
                                staged + (TMAPI_PDIST_BEFORE - shift) * TMAPI_PDIST_PITCH);
    }
}

// ---- 17 coordinates and more --------------------------------------------------------------------
//
// What doubles cost besides is paid once for each point instead of once for each tile: a first
// kernel writes all points, as doubles, to a workspace.

#define TMAPI_PRODUCTS_SIDE  64u // of a tile
#define TMAPI_PRODUCTS_CHUNK 16u // coordinates at a time

// The coordinates of a staged point, and the points that are staged, whole tiles of them.
TMAP_FN tmap_u64 tmapi_products_width(tmap_u64 d) {
    return (d + TMAPI_PRODUCTS_CHUNK - 1) / TMAPI_PRODUCTS_CHUNK * TMAPI_PRODUCTS_CHUNK;
}
TMAP_FN tmap_u64 tmapi_products_points(tmap_u64 n) {
    return (n + TMAPI_PRODUCTS_SIDE - 1) / TMAPI_PRODUCTS_SIDE * TMAPI_PRODUCTS_SIDE;
}

TMAP_DEVICE double tmapi_products_warp_sum(double x) {
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// Stages a point, by a warp. Points that do not exist are 0.
TMAP_DEVICE void tmapi_products_stage(const tmapi_pdist *p, tmap_u64 point) {
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

// Begins to copy a chunk of the tile's points: 8 threads a point, 64 rows and 64 columns. rows,
// columns, to: where the thread's first 16 bytes are, and go.
TMAP_DEVICE void tmapi_products_chunk(tmap_u32 width, const double *rows, const double *columns,
                                      double *to) {
    const tmap_u32 step = TMAPI_PRODUCTS_THREADS / 8;
#pragma unroll
    for (tmap_u32 y = 0; y < TMAPI_PRODUCTS_SIDE; y += step)
        tmapi_async_copy(to + y * TMAPI_PRODUCTS_PITCH, rows + (tmap_u64)width * y, 16);
#pragma unroll
    for (tmap_u32 y = 0; y < TMAPI_PRODUCTS_SIDE; y += step)
        tmapi_async_copy(to + (TMAPI_PRODUCTS_SIDE + y) * TMAPI_PRODUCTS_PITCH,
                         columns + (tmap_u64)width * y, 16);
}

// sums[m][n]: the products of rows 16 m and columns 8 n on of the warp's part of the tile, as
// tmapi_pdist_mma leaves them. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_products_sums(const tmapi_pdist *p, tmap_u32 row, tmap_u32 column,
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
        __syncthreads(); // this chunk is there, and all are through with the one before
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
            for (tmap_u32 m = 0; m < 2; ++m) tmapi_pdist_mma(sums[m][n], a[m], b);
        }
    }
}

// ---- distances ----------------------------------------------------------------------------------

TMAP_DEVICE int tmapi_products_most(int a, int b) { return a > b ? a : b; }

// From the products to squares of distances, in place. Returns a bit for each of those that are to
// be computed from their differences: bit 16 m + 4 n + c is sums[m][n][c]. row, column: of the
// warp's part.
TMAP_DEVICE tmap_u32 tmapi_products_squares(const tmapi_pdist *p, tmap_u32 row, tmap_u32 column,
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
TMAP_DEVICE float tmapi_products_near(const tmapi_pdist *p, tmap_u32 i, tmap_u32 j) {
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
TMAP_DEVICE void tmapi_products_store(const tmapi_pdist *p, tmap_u32 row, tmap_u32 column,
                                      const float *from, int whole) {
    const tmap_u32 warps = TMAPI_PRODUCTS_THREADS / 32, lane = threadIdx.x % 32;
    const tmap_u32 warp = threadIdx.x / 32, i = row + warp, j = column + lane;
    const int condensed = p->layout == TMAP_PAIRS_CONDENSED;
    float *at = p->out + (tmapi_pdist_begin(p, i) + j);
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
                         (p->layout != TMAP_PAIRS_LOWER || i + r >= j + c);
            if (wanted) TMAPI_STCS(at + c, from[r * TMAPI_PRODUCTS_OUT + c]);
        }
        at += step;
        if (condensed) step -= warps * warps;
    }
}

TMAP_DEVICE void tmapi_products_tile(const tmapi_pdist *p, double *staged) {
    tmap_u32 row, column;
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const tmap_u32 y = warp / 2 * 32, x = warp % 2 * 32; // the warp's part
    float *out = (float *)staged, *part = out + y * TMAPI_PRODUCTS_OUT + x;
    double sums[2][4][4] = {{{0}}};
    tmap_u32 near;
    tmapi_pairs_tile_of(blockIdx.x, p->layout, p->tiles, 0, 0, &row, &column);
    row *= TMAPI_PRODUCTS_SIDE, column *= TMAPI_PRODUCTS_SIDE;
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
    tmapi_pdist_few few = {tmapi_pdist_root_of_f32,  tmapi_pdist_squares_f32,
                           tmapi_pdist_absolute_f32, tmapi_pdist_most_of_f32,
                           {0, 0, 0, 0, 0},          0};
    tmapi_pdist_few_tile(&plan, &j, 4, &few);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, 2)
    tmapi_pdist_f64_few(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmapi_pdist_few few = {tmapi_pdist_root_of_f64,  tmapi_pdist_squares_f64,
                           tmapi_pdist_absolute_f64, tmapi_pdist_most_of_f64,
                           {0, 0, 0, 0, 0},          0};
    tmapi_pdist_few_tile(&plan, &j, 8, &few);
}
// Sums of one part, of up to 16 coordinates of many points: they take fewer registers, and so a
// lane has twice as many columns, and a block half of the threads.
static __global__ void __launch_bounds__(32 * TMAPI_PDIST_PART_WARPS, 4)
    tmapi_pdist_f32_part(tmap_pairs_plan plan, tmapi_pdist_job j) {
    const tmap_pairs_sum sum = {tmapi_pdist_start_part_f32,
                                tmapi_pdist_add_squares_f32,
                                0,
                                tmapi_pdist_finish_part_f32,
                                sizeof(float),
                                0};
    const tmapi_store_ways w = {
        sum, {tmapi_pdist_add_absolute_f32, tmapi_pdist_add_most_f32}, 0, 0};
    tmapi_pdist_sums_tile(&plan, &j, 4, 2 * TMAPI_STORE_BAND, TMAPI_PDIST_PART_WARPS,
                          TMAPI_STORE_WIDEST, w);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS)
    tmapi_pdist_f32_any(tmap_pairs_plan plan, tmapi_pdist_job j) {
    const tmap_pairs_sum sum = {tmapi_pdist_start_f32,       tmapi_pdist_add_squares_f32,
                                tmapi_pdist_carry_f32,       tmapi_pdist_finish_f32,
                                sizeof(tmapi_pdist_sum_f32), 0};
    const tmapi_store_ways w = {
        sum, {tmapi_pdist_add_absolute_f32, tmapi_pdist_add_most_f32}, 0, 0};
    tmapi_pdist_sums_tile(&plan, &j, 4, TMAPI_STORE_BAND, TMAPI_STORE_SUMS_WARPS, TMAPI_STORE_WIDE,
                          w);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS)
    tmapi_pdist_f64_any(tmap_pairs_plan plan, tmapi_pdist_job j) {
    const tmap_pairs_sum sum = {
        tmapi_pdist_start_f64, tmapi_pdist_add_squares_f64, 0, tmapi_pdist_finish_f64, 8, 0};
    const tmapi_store_ways w = {
        sum, {tmapi_pdist_add_absolute_f64, tmapi_pdist_add_most_f64}, 0, 0};
    tmapi_pdist_sums_tile(&plan, &j, 8, plan.side, TMAPI_STORE_SUMS_WARPS, TMAPI_STORE_WIDE, w);
}
// Tensor cores. Compiled for 7.5, whose tensor cores know no doubles, these kernels do nothing, and
// are not launched. BYTES: of shared memory that a launch takes.
#define TMAPI_PDIST_TENSOR_BYTES \
    (8u * (TMAPI_PDIST_TENSOR_SIDE + TMAPI_PDIST_BEFORE) * TMAPI_PDIST_PITCH)
static __global__ void __launch_bounds__(32 * TMAPI_PDIST_TENSOR_WARPS, 2)
    tmapi_pdist_f32_tensor(tmapi_pdist p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
#else
    tmapi_pdist_tensor(p, (int)p.metric, (double *)tmapi_pairs_memory());
#endif
}
static __global__ void tmapi_pdist_products_stage(tmapi_pdist p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
#else
    tmapi_products_stage(&p, blockIdx.x * (tmap_u64)(blockDim.x / 32) + threadIdx.x / 32);
#endif
}
static __global__ void __launch_bounds__(TMAPI_PRODUCTS_THREADS, TMAPI_PRODUCTS_BLOCKS)
    tmapi_pdist_products(tmapi_pdist p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
#else
    tmapi_products_tile(&p, (double *)tmapi_pairs_memory());
#endif
}

// ---- launches -----------------------------------------------------------------------------------

#ifndef TMAPI_PDIST_TENSOR
#define TMAPI_PDIST_TENSOR 1 // 0: the kernel of 5 to 16 coordinates is not launched
#endif
// Points from which on it is; tests set it lower. It is 1.1 to 1.3 times as fast with 16
// coordinates, slower below about 14, but always exact to a place of the last bit, where sums of
// floats are off by 2.
#ifndef TMAPI_PDIST_TENSOR_N
#define TMAPI_PDIST_TENSOR_N 8192
#endif

// Points in device memory, at any multiple of the size of a coordinate.
typedef struct tmap_pdist_points {
    const void *data; // n x d coordinates row by row, floats or doubles as the function's name says
    tmap_u64 n;       // any whose matrix fits memory and the grid: 8388352, or 5931520 of a square
    tmap_u64 d;       // 1 to TMAP_PAIRS_SUMS_D_MAX; for 1 to 4, points stay in registers
} tmap_pdist_points;

// Whether the current GPU has tensor cores for doubles that are as fast as its floats, and the
// kernel was compiled for them: code for 7.5 runs on it too.
static inline int tmapi_pdist_has_tensor(const void *kernel) {
    tmap_facts facts;
    if (tmap_facts_get(kernel, &facts) != cudaSuccess) return 0;
    if (facts.device.capability != 80 && facts.device.capability != 90) return 0;
    return facts.kernel.ptx >= 80;
}

// The bytes of memory that tmap_pdist_f32_products computes in, about 8 n d; 0 where it has no use
// for any: below 17 coordinates and 1024 points, and beyond what tmap_pdist_f32 takes.
// Example: n = 30720, d = 64: 15974400.
static inline tmap_u64 tmap_pdist_workspace(tmap_u64 n, tmap_u64 d) {
    if (d < 17 || d > TMAP_PAIRS_SUMS_D_MAX || n < 1024 || n > TMAP_PAIRS_STORE_MAX) return 0;
    return 8 * tmapi_products_points(n) * (tmapi_products_width(d) + 1);
}

// Whether a metric has a form of products.
static inline int tmapi_pdist_multiplies(int metric) {
    return metric != TMAP_PDIST_CITYBLOCK && metric != TMAP_PDIST_CHEBYSHEV;
}

// A launch of a kernel whose parameter is p.
static inline cudaError_t tmapi_pdist_launch_by(const void *kernel, tmapi_pdist *p, tmap_u64 blocks,
                                                tmap_u32 threads, tmap_u32 shared,
                                                cudaStream_t stream) {
    const tmapi_launch_shape shape = {blocks, threads, shared};
    void *arguments[1] = {p};
    return tmapi_launch(kernel, shape, arguments, stream);
}

// The launch for 5 to 16 coordinates on tensor cores. p: all but its tiles.
static inline cudaError_t tmapi_pdist_launch_tensor(tmapi_pdist p, cudaStream_t stream) {
    const tmap_u64 side = TMAPI_PDIST_TENSOR_SIDE, rows = (p.n + side - 1) / side;
    tmap_u64 blocks;
    p.tiles = (tmap_u32)((p.n + p.skew * 7ull + side - 1) / side);
    blocks = tmap_triangle_cells(p.tiles);
    if (p.layout == TMAP_PAIRS_SQUARE) blocks = rows * p.tiles;
    if (p.layout == TMAP_PAIRS_LOWER) blocks = tmap_triangle_cells(rows + p.skew) - p.skew;
    return tmapi_pdist_launch_by((const void *)tmapi_pdist_f32_tensor, &p, blocks,
                                 32 * TMAPI_PDIST_TENSOR_WARPS, TMAPI_PDIST_TENSOR_BYTES, stream);
}

// The launch by products. workspace: at a multiple of 16; all is checked but the number of tiles.
static inline cudaError_t tmapi_products_launch(tmapi_pdist p, void *workspace,
                                                cudaStream_t stream) {
    const void *kernel = (const void *)tmapi_pdist_products;
    const tmap_u64 staged = tmapi_products_points(p.n), tiles = staged / TMAPI_PRODUCTS_SIDE;
    const tmap_u64 blocks =
        p.layout == TMAP_PAIRS_SQUARE ? tiles * tiles : tmap_triangle_cells(tiles);
    const tmap_u32 warps = TMAPI_PRODUCTS_SIDE / 8;
    cudaError_t error;
    if (blocks > 0x7fffffffull) return cudaErrorInvalidConfiguration;
    p.tiles = (tmap_u32)tiles, p.width = (tmap_u32)tmapi_products_width(p.d);
    p.bits = TMAPI_PDIST_BITS;
    for (tmap_u64 more = (p.d - 1) / 16; more && p.bits > 8; more /= 2) --p.bits;
    p.staged = (double *)workspace, p.norms = p.staged + staged * p.width;
    if ((error = tmapi_launch_shared(kernel, TMAPI_PRODUCTS_BYTES)) != cudaSuccess) return error;
    error = tmapi_pdist_launch_by((const void *)tmapi_pdist_products_stage, &p, staged / warps,
                                  32 * warps, 0, stream);
    if (error) return error;
    return tmapi_pdist_launch_by(kernel, &p, blocks, TMAPI_PRODUCTS_THREADS, TMAPI_PRODUCTS_BYTES,
                                 stream);
}

// What is asked for: points of `size` bytes a coordinate, and where distances and products go.
typedef struct tmapi_pdist_call {
    tmap_pdist_points points;
    tmap_u32 size;
    int metric, layout;
    void *workspace, *out; // workspace: of products, or null
} tmapi_pdist_call;

static inline cudaError_t tmapi_pdist_launch(tmapi_pdist_call c, cudaStream_t stream) {
    const tmap_u64 n = c.points.n, d = c.points.d;
    const tmap_u32 size = c.size, sector = TMAPI_PDIST_SECTOR / size;
    const int few = d <= 4, part = size == 4 && d <= 16 && n >= TMAPI_STORE_LARGE;
    const int skew = c.layout == TMAP_PAIRS_CONDENSED || n % sector ||
                     (tmap_u64)c.out % TMAPI_PDIST_SECTOR; // rows begin anywhere in a sector
    const void *kernel = (const void *)(size == 8 ? tmapi_pdist_f64_any
                                        : part    ? tmapi_pdist_f32_part
                                                  : tmapi_pdist_f32_any);
    const tmapi_pdist p = {
        (const float *)c.points.data, (float *)c.out,     0, 0, d, (tmap_u32)n,
        (tmap_u32)c.layout,           (tmap_u32)c.metric, 0, 0, 0, (tmap_u32)skew};
    const tmapi_pdist_job job = {c.points.data, c.out, (tmap_u32)c.metric, 1.0 / (double)d};
    tmap_pairs_store_shape shape = {(tmap_u32)n, few ? 4 : (tmap_u32)d, size,
                                    (tmap_u32)(c.layout + TMAP_PAIRS_HOLLOW), size};
    tmap_pairs_plan plan;
    if (c.metric < 0 || c.metric >= TMAP_PDIST_METRIC_COUNT || c.layout < TMAP_PAIRS_CONDENSED ||
        c.layout > TMAP_PAIRS_LOWER || d == 0 || (tmap_u64)c.workspace % 16)
        return cudaErrorInvalidValue;
    if (tmap_pdist_values(n, c.layout) == 0) return cudaSuccess;
    if (!c.points.data || !c.out || ((tmap_u64)c.points.data | (tmap_u64)c.out) % size)
        return cudaErrorInvalidValue;
    if (n > TMAP_PAIRS_STORE_MAX || d > TMAP_PAIRS_SUMS_D_MAX) return cudaErrorInvalidConfiguration;
    if (c.workspace && tmap_pdist_workspace(n, d) && tmapi_pdist_multiplies(c.metric) &&
        tmapi_pdist_has_tensor((const void *)tmapi_pdist_products))
        return tmapi_products_launch(p, c.workspace, stream);
    if (TMAPI_PDIST_TENSOR && size == 4 && c.metric <= TMAP_PDIST_SQEUCLIDEAN && !few &&
        d <= TMAPI_PDIST_TENSOR_CHUNK && n >= TMAPI_PDIST_TENSOR_N &&
        tmapi_pdist_has_tensor((const void *)tmapi_pdist_f32_tensor))
        return tmapi_pdist_launch_tensor(p, stream);
    if (few) {
        kernel = (const void *)(size == 4 ? tmapi_pdist_f32_few : tmapi_pdist_f64_few);
        tmap_pairs_store_plan_make(shape, kernel, &plan);
        plan.d = (tmap_u32)d;
    } else {
        tmap_pairs_store_sums_plan_make(shape, kernel, &plan);
        if (part) plan.block = 32 * TMAPI_PDIST_PART_WARPS;
    }
    if (!skew) plan.before = 0, tmapi_pairs_plan_tiles(&plan);
    if (d > 4 && (c.metric == TMAP_PDIST_COSINE || c.metric == TMAP_PDIST_CORRELATION))
        plan.shared += 16 * tmapi_store_places(plan.side, size); // what points are scaled by
    return tmap_pairs_launch(&plan, &job, stream);
}

// Writes the distances of all pairs of points.
// out: tmap_pdist_values(n, layout) floats in device memory, which do not overlap the points.
// metric: a tmap_pdist_metric. layout: TMAP_PAIRS_CONDENSED, _SQUARE or _LOWER; of the lower one,
// values above the diagonal are not touched. n = 0 does nothing, nor does a condensed n = 1.
// Returns cudaErrorInvalidValue for an unknown metric or layout, d = 0, a null or misaligned
// pointer; cudaErrorInvalidConfiguration for an n beyond the grid or a d beyond its range; else
// the launch's own error: one that an earlier call has left is neither reported nor cleared.
// Exactness: docs/maps/triangle.md. The result for (i, j) is that for (j, i), bit for bit, and 0
// for (i, i), always; NaN and infinity go through as in scipy: a NaN does not count in a Chebyshev
// distance, which is 0 where there is nothing else.
// Range: a Euclidean distance goes through its square. From d = 2 on, distances below 1.1e-19 have
// fewer right digits and may be 0, and those above 1.8e19 are infinite; in doubles, 1.5e-154 and
// 1.3e154. All others go as far as their type, and lengths of cosines of floats as far as a double.
// Cost: 2 d to 2.6 d instructions and a root a pair, one store. Euclidean metrics of 5 to 16
// coordinates, n >= 8192, on GPUs of compute capability 8.0 and 9.0: d multiplications of doubles
// on tensor cores, and about 25 instructions. Up to d = 4 the stores take the time, and from d = 17
// on tmap_pdist_f32_products is faster.
// Example: points 0, 1, 3 of d = 1: condensed euclidean 1, 3, 2.
static inline cudaError_t tmap_pdist_f32(tmap_pdist_points points, int metric, int layout,
                                         float *out, cudaStream_t stream) {
    const tmapi_pdist_call call = {points, 4, metric, layout, 0, out};
    return tmapi_pdist_launch(call, stream);
}

// The same in double precision.
static inline cudaError_t tmap_pdist_f64(tmap_pdist_points points, int metric, int layout,
                                         double *out, cudaStream_t stream) {
    const tmapi_pdist_call call = {points, 8, metric, layout, 0, out};
    return tmapi_pdist_launch(call, stream);
}

// As tmap_pdist_f32, by products on tensor cores, for which it takes memory of yours, on GPUs of
// compute capability 8.0 and 9.0, where it can: for Euclidean and squared distances, cosines and
// correlations, from 17 coordinates and 1024 points on. Elsewhere it does what tmap_pdist_f32 does.
// workspace: tmap_pdist_workspace(n, d) bytes of device memory at a multiple of 16, which need not
// be set to anything and are free again after the launch; or null: none. Calls that overlap need
// one each. A workspace at another address is refused with cudaErrorInvalidValue.
// Exactness: within a place of the last bit of the distance in double precision, whatever d is, and
// Euclidean distances in the whole range of floats. Cost: d multiplications of doubles on tensor
// cores and about 20 instructions a pair; a launch of a kernel more. Pairs that are nearer to each
// other than 1/4000 of their distance from the middle of the cloud, or 1/700 for d = 300, take as
// long as a hundred others, each.
// Example: n = 30720, d = 64: a workspace of 16 MB.
static inline cudaError_t tmap_pdist_f32_products(tmap_pdist_points points, int metric, int layout,
                                                  void *workspace, float *out,
                                                  cudaStream_t stream) {
    const tmapi_pdist_call call = {points, 4, metric, layout, workspace, out};
    return tmapi_pdist_launch(call, stream);
}

#endif

#endif
