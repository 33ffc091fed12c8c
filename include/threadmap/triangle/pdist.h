// SPDX-License-Identifier: MIT
// pdist.h: the distances of all pairs of n points, written as fast as the memory takes them: an
// instance of pairs_store.h for the metrics that everyone asks for.
//
// Coordinates are subtracted first, then squared and added: no product of the points with
// themselves, in which the difference of two near points is lost. The one exception is in double
// precision, for points that are not near: pdist.h, on GPUs whose tensor cores make it
// faster.
#ifndef TMAP_TRIANGLE_PDIST_H
#define TMAP_TRIANGLE_PDIST_H

#include "pairs_store.h"
#include "pdist_products.h"

// ---- pdist metric -------------------------------------------------------------------------------
//
// The metrics of pdist.h, as functions of a pair for pairs_store.h and
// pairs_store.h.
//
// All of them are one of three sums: of squares, of absolute values, or a maximum. What is
// different afterwards is a root, a factor and a limit. Cosines are squares of unit vectors'
// differences: the points are divided by their lengths in shared memory.
//
// Private to the library.

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

// ---- pdist tensor -------------------------------------------------------------------------------
//
// The Euclidean distances of pdist.h on tensor cores, in double precision.
//
// |u - v|^2 = |u|^2 + |v|^2 - 2 u.v takes one multiplication a coordinate, where differences take a
// subtraction and a multiplication, and tensor cores that multiply doubles as fast as the GPU
// multiplies floats do all of them. In floats the formula is of no use: near points lose all their
// digits. Not so here:
//   - u and v are measured from a point in the middle of the cloud, so that a cloud far from the
//     origin loses nothing;
//   - in doubles the sum of d coordinates is off by 2^-53 (2 d + 3) (|u|^2 + |v|^2) at most: with
//     16 of them 24 bits may cancel, and the distance is off by half a place of a float;
//   - pairs that are nearer, with a square below 2^-24 of the norms, are computed again from their
//     differences, and so are squares that a float cannot hold.
//
// This is for 5 to 16 coordinates, and needs no memory besides; pdist_products.h is for more.
//
// Compute capabilities 8.0 and 9.0 have such cores. What is compiled for 8.0 also runs on GPUs that
// take 32 times as long for a double: the launcher asks for the GPU.

#define TMAPI_PDIST_BAND   128 // 8 rows of all 16 sets
#define TMAPI_PDIST_PERIOD 16
#define TMAPI_PDIST_SECTOR 32 // bytes

// A launch.
typedef struct tmapi_pdist {
    const void *points;
    void *out;
    tmap_u64 d;
    tmap_u32 n, layout, metric;
    tmap_u32 tiles; // in a row of the square, or in the first row of the condensed matrix
    tmap_u32 skew;  // 1 if rows begin elsewhere than at sectors: a row of tiles then has one more
} tmapi_pdist;

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

// How many values before a multiple of 32 columns the strips of row i begin, so as to begin at a
// sector of memory. The same for each 16th row.
TMAP_DEVICE int tmapi_pdist_shift(tmapi_pdist p, int i) {
    return (int)(((tmap_u64)p.out / 4 + tmapi_pdist_begin(p.n, p.layout, (tmap_u64)i)) &
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
    const int first = p.layout == TMAP_PDIST_CONDENSED ? i + 1 : 0;
    const int end = p.layout == TMAP_PDIST_LOWER ? i + 1 : (int)p.n;
    float4 vector;
    vector.x = tmapi_pdist_finish(metric, squares[0], 2);
    vector.y = tmapi_pdist_finish(metric, squares[1], 2);
    vector.z = tmapi_pdist_finish(metric, squares[2], 2);
    vector.w = tmapi_pdist_finish(metric, squares[3], 2);
    if (inside || (j >= first && j + 4 <= end && (tmap_u32)(i - j) >= 4)) {
        __stcs((float4 *)at, vector);
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
    const float *points = (const float *)p.points;
    if ((tmap_u32)point >= p.n || k >= p.d) return 0;
    return (double)__ldg(points + ((tmap_u64)(tmap_u32)point * p.d + k)) - centre;
}

// Writes the distance of points i and j, computed from their differences, where the layout has it.
TMAP_DEVICE void tmapi_pdist_write_near(tmapi_pdist p, int metric, int i, int j) {
    const float *u = (const float *)p.points + (tmap_u64)(tmap_u32)i * p.d;
    const float *v = (const float *)p.points + (tmap_u64)(tmap_u32)j * p.d;
    const float *end = u + p.d;
    double sum = 0;
    if (i >= (int)p.n || j < 0 || j >= (int)p.n || i == j ||
        (p.layout == TMAP_PDIST_CONDENSED && j < i) || (p.layout == TMAP_PDIST_LOWER && j > i))
        return;
#pragma unroll 1
    for (; u != end; ++u, ++v) {
        double t = (double)*u - (double)*v;
        sum = fma(t, t, sum);
    }
    ((float *)p.out)[tmapi_pdist_begin(p.n, p.layout, (tmap_u64)i) + (tmap_u64)j] =
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
    if (p.layout == TMAP_PDIST_CONDENSED) return edge + 31 <= top;
    return p.layout == TMAP_PDIST_LOWER && edge > top + 7 * TMAPI_PDIST_PERIOD;
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
    int above = p.layout != TMAP_PDIST_LOWER && edge > bottom;
    int below = p.layout != TMAP_PDIST_CONDENSED && edge + 32 <= top;
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

// ---- up to 16 coordinates -----------------------------------------------------------------------

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
        at[r] = (float *)p.out +
                (tmapi_pdist_begin(p.n, p.layout, (tmap_u64)i) + (tmap_u64)(tmap_i64)(j + 4 * g));
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
    const tmap_pair tile = tmapi_pdist_place(p);
    const int row = (int)tile.i * TMAPI_PDIST_TENSOR_SIDE;
    const int column = (int)tile.j * TMAPI_PDIST_TENSOR_SIDE;
    const int q = (int)threadIdx.x % 4;
    float centre[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        centre[k] = tmapi_pdist_centre((const float *)p.points, p.n, p.d, (tmap_u64)(4 * k + q));
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

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

// Bytes of shared memory that they are launched with.
#define TMAPI_PDIST_TENSOR_BYTES \
    (8u * (TMAPI_PDIST_TENSOR_SIDE + TMAPI_PDIST_BEFORE) * TMAPI_PDIST_PITCH)

// Compiled for 7.5, whose tensor cores know no doubles, they do nothing, and are not launched.
static __global__ void __launch_bounds__(32 * TMAPI_PDIST_TENSOR_WARPS, 2)
    tmapi_pdist_f32_tensor(tmapi_pdist p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
#else
    extern __shared__ uint4 tmapi_pairs_shared[];
    tmapi_pdist_tensor(p, (int)p.metric, (double *)tmapi_pairs_shared);
#endif
}

#endif // TMAP_CUDA && !TMAP_NVRTC

// ---- pdist --------------------------------------------------------------------------------------

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

#ifndef TMAPI_PDIST_TENSOR
#define TMAPI_PDIST_TENSOR 1 // 0: the kernel of the tensor form is not launched
#endif
// Points from which on it is taken, for 5 to 16 coordinates; tests set it lower. It is faster only
// from about 14 to 16 on, but always exact to a place of the last bit, where sums of floats are off
// by 2.
#ifndef TMAPI_PDIST_TENSOR_N
#define TMAPI_PDIST_TENSOR_N 8192
#endif
#define TMAPI_PDIST_PART_WARPS 4 // of a block of tmapi_pdist_f32_part

// ---- kernels ------------------------------------------------------------------------------------

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
    tmap_pairs_plan one = *plan;
    one.sets = 1, one.others = 0;
    return tmapi_store_make(&one, blockIdx.x, side, warps, lanes, j->points, 0, size, plan->d, size,
                            j->out);
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
    extern __shared__ uint4 tmapi_pairs_shared[];
    unsigned char *staged = (unsigned char *)tmapi_pairs_shared;
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

// A block's tile, for any number of coordinates.
TMAP_DEVICE void tmapi_pdist_sums_tile(const tmap_pairs_plan *plan, const tmapi_pdist_job *j,
                                       tmap_u32 size, tmap_u32 side, tmap_u32 warps, tmap_u32 wide,
                                       tmap_pairs_sum *sum, tmap_pairs_add absolute,
                                       tmap_pairs_add most) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    unsigned char *staged = (unsigned char *)tmapi_pairs_shared;
    tmapi_store s = tmapi_pdist_tile(plan, j, side, warps, 4, size);
    tmapi_pdist_way way = tmapi_pdist_way_of(j->metric, 0);
    const tmapi_store_ways ways = {sum, {absolute, most}, way.sum, &way};
    const tmapi_store_scale scale =
        tmapi_pdist_scale(j, staged + plan->shared - 16 * tmapi_store_places(side, size));
    s.wide = wide;
    // Long sums of floats are taken by parts, larger ones where the errors of more parts cancel.
    sum->period = way.sum == TMAPI_PDIST_MOST ? 0x80000000u : s.d > 256 ? 64 : s.d > 64 ? 32 : 16;
    tmapi_store_sums(&s, staged, &scale, &ways);
}

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
    tmap_pairs_sum sum = {tmapi_pdist_start_part_f32,
                          tmapi_pdist_add_squares_f32,
                          0,
                          tmapi_pdist_finish_part_f32,
                          4,
                          0};
    tmapi_pdist_sums_tile(&plan, &j, 4, 2 * TMAPI_STORE_BAND, TMAPI_PDIST_PART_WARPS,
                          TMAPI_STORE_WIDEST, &sum, tmapi_pdist_add_absolute_f32,
                          tmapi_pdist_add_most_f32);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS)
    tmapi_pdist_f32_any(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmap_pairs_sum sum = {tmapi_pdist_start_f32,
                          tmapi_pdist_add_squares_f32,
                          tmapi_pdist_carry_f32,
                          tmapi_pdist_finish_f32,
                          8,
                          0};
    tmapi_pdist_sums_tile(&plan, &j, 4, TMAPI_STORE_BAND, TMAPI_STORE_SUMS_WARPS, TMAPI_STORE_WIDE,
                          &sum, tmapi_pdist_add_absolute_f32, tmapi_pdist_add_most_f32);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS)
    tmapi_pdist_f64_any(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmap_pairs_sum sum = {
        tmapi_pdist_start_f64, tmapi_pdist_add_squares_f64, 0, tmapi_pdist_finish_f64, 8, 0};
    tmapi_pdist_sums_tile(&plan, &j, 8, plan.side, TMAPI_STORE_SUMS_WARPS, TMAPI_STORE_WIDE, &sum,
                          tmapi_pdist_add_absolute_f64, tmapi_pdist_add_most_f64);
}

// ---- launches -----------------------------------------------------------------------------------

// Whether the current GPU has tensor cores for doubles that are as fast as its floats, and the
// kernel was compiled for them: code for 7.5 runs on it too.
static inline int tmapi_pdist_has_tensor(const void *kernel) {
    struct cudaFuncAttributes attributes;
    int device, major, minor;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        return 0;
    if (minor != 0 || (major != 8 && major != 9)) return 0;
    return cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess && attributes.ptxVersion >= 80;
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

// The launch of pdist.h. p: all but its tiles.
static inline cudaError_t tmapi_pdist_launch_tensor(tmapi_pdist p, cudaStream_t stream) {
    const tmap_u64 side = TMAPI_PDIST_TENSOR_SIDE, rows = (p.n + side - 1) / side;
    tmap_u64 blocks;
    void *arguments[1];
    p.tiles = (tmap_u32)((p.n + p.skew * 7ull + side - 1) / side);
    blocks = tmap_triangle_cells(p.tiles);
    if (p.layout == TMAP_PDIST_SQUARE) blocks = rows * p.tiles;
    if (p.layout == TMAP_PDIST_LOWER) blocks = tmap_triangle_cells(rows + p.skew) - p.skew;
    if (blocks > 0x7fffffffull) return cudaErrorInvalidConfiguration;
    arguments[0] = &p;
    return cudaLaunchKernel((const void *)tmapi_pdist_f32_tensor, dim3((unsigned)blocks),
                            dim3(32 * TMAPI_PDIST_TENSOR_WARPS), arguments,
                            TMAPI_PDIST_TENSOR_BYTES, stream);
}

// The launch of either type; `size` bytes a value. workspace: of pdist_products.h, or null.
static inline cudaError_t tmapi_pdist_launch(const void *points, tmap_u64 n, tmap_u64 d, void *out,
                                             tmap_u32 size, int metric, int layout, void *workspace,
                                             cudaStream_t stream) {
    const int few = d <= 4, part = size == 4 && d <= 16 && n >= TMAPI_STORE_LARGE;
    const tmap_u32 sector = TMAPI_PDIST_SECTOR / size;
    const int skew = layout == TMAP_PDIST_CONDENSED || n % sector ||
                     (tmap_u64)out % TMAPI_PDIST_SECTOR; // rows begin anywhere in a sector
    const tmap_u32 kind = (tmap_u32)(TMAP_PAIRS_CONDENSED + layout + TMAP_PAIRS_HOLLOW);
    const void *kernel = (const void *)(size == 8 ? tmapi_pdist_f64_any
                                        : part    ? tmapi_pdist_f32_part
                                                  : tmapi_pdist_f32_any);
    tmap_pairs_plan plan;
    tmapi_pdist_job job;
    if (metric < 0 || metric >= TMAP_PDIST_METRIC_COUNT || layout < 0 ||
        layout >= TMAP_PDIST_LAYOUT_COUNT || d == 0 || (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    if (tmap_pdist_values(n, layout) == 0) return cudaSuccess;
    if (!points || !out || (tmap_u64)points % size || (tmap_u64)out % size)
        return cudaErrorInvalidValue;
    if (n > TMAP_PAIRS_STORE_MAX || d > TMAP_PAIRS_SUMS_D_MAX) return cudaErrorInvalidConfiguration;
    if (workspace && tmap_pdist_workspace(n, d) && tmapi_pdist_multiplies(metric) &&
        tmapi_pdist_has_tensor((const void *)tmapi_pdist_products))
        return tmapi_products_launch((const float *)points, n, d, (float *)out, metric, layout,
                                     workspace, stream);
    if (TMAPI_PDIST_TENSOR && size == 4 && metric <= TMAP_PDIST_SQEUCLIDEAN && !few &&
        d <= TMAPI_PDIST_TENSOR_CHUNK && n >= TMAPI_PDIST_TENSOR_N) {
        tmapi_pdist p;
        p.points = points, p.out = out, p.d = d, p.n = (tmap_u32)n, p.layout = (tmap_u32)layout;
        p.skew = (tmap_u32)skew, p.metric = (tmap_u32)metric;
        if (tmapi_pdist_has_tensor((const void *)tmapi_pdist_f32_tensor))
            return tmapi_pdist_launch_tensor(p, stream);
    }
    if (few) {
        kernel = (const void *)(size == 4 ? tmapi_pdist_f32_few : tmapi_pdist_f64_few);
        tmap_pairs_store_plan_make((tmap_u32)n, 4, size, kind, size, kernel, &plan);
        plan.d = (tmap_u32)d;
    } else {
        tmap_pairs_store_sums_plan_make((tmap_u32)n, (tmap_u32)d, size, kind, size, kernel, &plan);
        if (part) plan.block = 32 * TMAPI_PDIST_PART_WARPS;
    }
    if (!skew) plan.before = 0, tmapi_pairs_plan_tiles(&plan);
    if (!plan.grid) return cudaErrorInvalidConfiguration;
    if (d > 4 && (metric == TMAP_PDIST_COSINE || metric == TMAP_PDIST_CORRELATION))
        plan.shared += 16 * tmapi_store_places(plan.side, size); // what points are scaled by
    job.points = points, job.out = out, job.metric = (tmap_u32)metric;
    job.share = 1.0 / (double)d;
    return tmap_pairs_launch(&plan, &job, stream);
}

// Writes the distances of all pairs of n points in d dimensions.
// points: n x d values row by row, out: tmap_pdist_values(n, layout) values, both in device
// memory, at any multiple of the size of a value; they do not overlap. metric: a
// tmap_pdist_metric. layout: a tmap_pdist_layout; of the lower one, values above the diagonal are
// not touched. n: any whose matrix fits memory; the grid allows 8388352, or 5931520 of a square. n
// = 0 does nothing, nor does a condensed n = 1. d: 1 to TMAP_PAIRS_SUMS_D_MAX; for 1 to 4, points
// stay in registers.
// Returns cudaErrorInvalidValue for an unknown metric or layout, d = 0, a null or misaligned
// pointer; cudaErrorInvalidConfiguration for an n beyond the grid or a d beyond its range; else
// the launch's own error: one that an earlier call has left is neither reported nor cleared.
// Exactness: docs/maps/triangle.md. The result for (i, j) is that for (j, i), bit for bit, and 0
// for (i, i), always; NaN and infinity go through as in scipy: a NaN does not count in a Chebyshev
// distance, which is 0 where there is nothing else.
// Range: a Euclidean distance goes through its square. From d = 2 on, distances below 1.1e-19 have
// fewer right digits and may be 0, and those above 1.8e19 are infinite; in doubles, 1.5e-154 and
// 1.3e154. All others go as far as their type, and lengths of cosines of floats as far as a
// double. Cost: 2 d to 2.6 d instructions and a root a pair, one store. Euclidean metrics of 5
// to 16 coordinates, n >= 8192, on GPUs of compute capability 8.0 and 9.0: d multiplications of
// doubles on tensor cores, and about 25 instructions. Up to d = 4 the stores take the time, and
// from d = 17 on tmap_pdist_f32_products is faster.
// Example: points 0, 1, 3 of d = 1: condensed euclidean 1, 3, 2.
static inline cudaError_t tmap_pdist_f32(const float *points, tmap_u64 n, tmap_u64 d, float *out,
                                         int metric, int layout, cudaStream_t stream) {
    return tmapi_pdist_launch(points, n, d, out, 4, metric, layout, 0, stream);
}

// The same by products on tensor cores, for which it takes memory of yours, on GPUs of compute
// capability 8.0 and 9.0, where it can: for Euclidean and squared distances, cosines and
// correlations, from 17 coordinates and 1024 points on. Elsewhere it does what tmap_pdist_f32 does.
// workspace: tmap_pdist_workspace(n, d) bytes of device memory at a multiple of 16, which need not
// be set to anything and are free again after the launch; or null: none. Calls that run at the same
// time need workspaces of their own. All else, and the result, as for tmap_pdist_f32; a workspace
// at another address is refused with cudaErrorInvalidValue.
// Exactness: within a place of the last bit of the distance in double precision, whatever d is, and
// Euclidean distances in the whole range of floats. Cost: d multiplications of doubles on tensor
// cores and about 20 instructions a pair; a launch of a kernel more. Pairs that are nearer to each
// other than 1/4000 of their distance from the middle of the cloud, or 1/700 for d = 300, take as
// long as a hundred others, each.
// Example: n = 30720, d = 64: a workspace of 16 MB.
static inline cudaError_t tmap_pdist_f32_products(const float *points, tmap_u64 n, tmap_u64 d,
                                                  float *out, int metric, int layout,
                                                  void *workspace, cudaStream_t stream) {
    return tmapi_pdist_launch(points, n, d, out, 4, metric, layout, workspace, stream);
}

// The same in double precision.
static inline cudaError_t tmap_pdist_f64(const double *points, tmap_u64 n, tmap_u64 d, double *out,
                                         int metric, int layout, cudaStream_t stream) {
    return tmapi_pdist_launch(points, n, d, out, 8, metric, layout, 0, stream);
}

#endif

#endif
