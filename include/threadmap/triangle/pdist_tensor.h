// SPDX-License-Identifier: MIT
// pdist_tensor.h: the Euclidean distances of pdist.h on tensor cores, in double precision.
//
// |u - v|^2 = |u|^2 + |v|^2 - 2 u.v takes one multiplication a coordinate, where differences take a
// subtraction and a multiplication, and tensor cores that multiply doubles as fast as the GPU
// multiplies floats do all of them. In floats the formula is of no use: near points lose all their
// digits. Not so here:
//   - u and v are measured from a point in the middle of the cloud, so that a cloud far from the
//     origin loses nothing;
//   - in doubles the sum of d coordinates is off by 2^-53 (2 d + 3) (|u|^2 + |v|^2) at most: with
//     16 of them 24 bits may cancel, and the distance is off by half a place of a float;
//   - pairs that are nearer, with a square below 2^-24 of the norms (fewer bits for more
//     coordinates), are computed again from their differences, and so are squares that a float
//     cannot hold.
//
// Compute capabilities 8.0 and 9.0 have such cores. What is compiled for 8.0 also runs on GPUs that
// take 32 times as long for a double: the launcher asks for the GPU.
#ifndef TMAP_TRIANGLE_PDIST_TENSOR_H
#define TMAP_TRIANGLE_PDIST_TENSOR_H

#include "pdist_out.h"

#if TMAP_CUDA

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

// Where row i of the output would have its column 0. Modulo 2^64: row 0 of a condensed matrix has
// it before the beginning.
TMAP_DEVICE tmap_u64 tmapi_pdist_begin(tmapi_pdist p, tmap_u64 i) {
    return p.layout == TMAP_PDIST_CONDENSED ? i * (2ull * p.n - i - 3) / 2 - 1 : i * p.n;
}

// How many values before a multiple of 32 columns the strips of row i begin, so as to begin at a
// sector of memory. The same for each 16th row.
TMAP_DEVICE int tmapi_pdist_shift(tmapi_pdist p, int i) {
    return (int)(((tmap_u64)p.out / 4 + tmapi_pdist_begin(p, (tmap_u64)i)) &
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
// Columns at a time if the coordinates come in chunks: the sums of 16 rows stay in registers.
#define TMAPI_PDIST_STRIP 64

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

// Coordinate k of a point, measured from `centre`; 0 if there is none.
TMAP_DEVICE double tmapi_pdist_centred(tmapi_pdist p, int point, tmap_u64 k, float centre) {
    const float *points = (const float *)p.points;
    if ((tmap_u32)point >= p.n || k >= p.d) return 0;
    return (double)__ldg(points + ((tmap_u64)(tmap_u32)point * p.d + k)) - centre;
}

// The middle one of coordinate k of the first, the last and the middle point.
TMAP_DEVICE float tmapi_pdist_centre(tmapi_pdist p, tmap_u64 k) {
    const float *points = (const float *)p.points;
    float a, b, c;
    if (k >= p.d) return 0;
    a = __ldg(points + k), b = __ldg(points + (p.n / 2 * p.d + k));
    c = __ldg(points + ((p.n - 1) * p.d + k));
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
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
    ((float *)p.out)[tmapi_pdist_begin(p, (tmap_u64)i) + (tmap_u64)j] =
        tmapi_pdist_finish(metric, (float)sum, 1);
}

// The high half of a double: in the order of the doubles, if they are not negative.
TMAP_DEVICE int tmapi_pdist_high(double x) { return __double2hiint(x); }

// |u|^2 of four lanes' shares of the coordinates; of a NaN without its sign.
TMAP_DEVICE double tmapi_pdist_norm(double share) {
    share += __shfl_xor_sync(0xffffffffu, share, 1);
    share += __shfl_xor_sync(0xffffffffu, share, 2);
    return fabs(share);
}

// How many bits may cancel in a sum of d coordinates, so that a distance is off by half a place.
TMAP_DEVICE int tmapi_pdist_bits(tmap_u64 d) {
    int bits = 24;
    for (d = (d - 1) / 16; d && bits > 8; d /= 2) --bits;
    return bits;
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
// of any norm in these columns and rows; bits: that may cancel.
TMAP_DEVICE void tmapi_pdist_tensor_write(tmapi_pdist p, const int metric, int top, int edge,
                                          float *const *at, const double (*sums)[4],
                                          const double *norm, const double *norms, int high,
                                          const int bits) {
    const int lane = (int)threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const int i = top + 2 * q * TMAPI_PDIST_PERIOD, j = edge + 4 * g;
    const int bottom = top + 7 * TMAPI_PDIST_PERIOD;
    int above = p.layout != TMAP_PDIST_LOWER && edge > bottom;
    int below = p.layout != TMAP_PDIST_CONDENSED && edge + 32 <= top;
    int inside = (above || below) && edge >= 0 && edge + 32 <= (int)p.n && bottom < (int)p.n;
    int least = 0x7fffffff, limit = high - ((bits - 1) << 20);
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
        const double part = 1 / (double)(1 << bits);
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
        at[r] =
            (float *)p.out + (tmapi_pdist_begin(p, (tmap_u64)i) + (tmap_u64)(tmap_i64)(j + 4 * g));
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
            tmapi_pdist_tensor_write(p, metric, top, j, to, sums, norm, norms + 2 * x, high, 24);
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
    for (int k = 0; k < 4; ++k) centre[k] = tmapi_pdist_centre(p, (tmap_u64)(4 * k + q));
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

// ---- any number of coordinates ------------------------------------------------------------------

// Points that are staged at a time: 16 rows for each warp, and a strip of columns.
#define TMAPI_PDIST_TENSOR_ROWS  (16 * TMAPI_PDIST_TENSOR_WARPS)
#define TMAPI_PDIST_TENSOR_STAGE (TMAPI_PDIST_TENSOR_ROWS + TMAPI_PDIST_STRIP + TMAPI_PDIST_BEFORE)
// Those of which a thread stages a fourth.
#define TMAPI_PDIST_TENSOR_STEP  (8 * TMAPI_PDIST_TENSOR_WARPS)
#define TMAPI_PDIST_TENSOR_SHARE ((TMAPI_PDIST_TENSOR_STAGE - 1) / TMAPI_PDIST_TENSOR_STEP + 1)

// Stages 16 coordinates from `first` on of the points of which the calling thread has a share, and
// adds its share of their squares to norm. row: of warp 0. Points that do not exist are taken to be
// the first or the last one.
TMAP_DEVICE void tmapi_pdist_tensor_stage(tmapi_pdist p, int row, int column, tmap_u64 first,
                                          const float *centre, double *staged, double *norm) {
    const int q = (int)threadIdx.x % 4, t = (int)threadIdx.x / 4, last = (int)p.n - 1;
    const int left =
        p.d - first < TMAPI_PDIST_TENSOR_CHUNK ? (int)(p.d - first) : TMAPI_PDIST_TENSOR_CHUNK;
    const float *points = (const float *)p.points + first + q;
    double middle[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) middle[k] = centre[4 * k + q];
#pragma unroll
    for (int s = 0; s < TMAPI_PDIST_TENSOR_SHARE; ++s) {
        const int x = s * TMAPI_PDIST_TENSOR_STEP + t;
        int point = column - TMAPI_PDIST_BEFORE + (x - TMAPI_PDIST_TENSOR_ROWS);
        if (s * TMAPI_PDIST_TENSOR_STEP < TMAPI_PDIST_TENSOR_ROWS)
            point = row + x / 16 + x % 16 * TMAPI_PDIST_PERIOD;
        if (x >= TMAPI_PDIST_TENSOR_STAGE) break;
        point = point < 0 ? 0 : point > last ? last : point;
        const float *from = points + (tmap_u64)(tmap_u32)point * p.d;
        double *to = staged + x * TMAPI_PDIST_PITCH + q;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float coordinate = 0;
            if (4 * k + q < left) coordinate = __ldg(from + 4 * k);
            double value = (double)coordinate - middle[k];
            norm[s] = fma(value, value, norm[s]);
            to[4 * k] = value;
        }
    }
}

// One strip of 64 columns of the 16 rows of each warp, which begin at row + its number. centre:
// room for the middles of two chunks; those of the first one are there, now and afterwards.
TMAP_DEVICE void tmapi_pdist_tensor_strip(tmapi_pdist p, const int metric, int row, int column,
                                          double *staged, float *centre) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, g = lane / 4,
              q = lane % 4;
    const int shift = tmapi_pdist_shift(p, row + warp);
    double sums[2][2][2][4] = {{{{0}}}}; // of 32 columns and 8 rows each
    double norm[TMAPI_PDIST_TENSOR_SHARE] = {0};
    const double *rows = staged + 16 * warp * TMAPI_PDIST_PITCH;
    const double *columns =
        staged + (TMAPI_PDIST_TENSOR_ROWS + TMAPI_PDIST_BEFORE - shift) * TMAPI_PDIST_PITCH;
    int turn = 0;
#pragma unroll 1
    for (tmap_u64 first = 0; first < p.d; first += TMAPI_PDIST_TENSOR_CHUNK, turn ^= 1) {
        tmap_u64 next = first + TMAPI_PDIST_TENSOR_CHUNK;
        double b[2][4];
        tmapi_pdist_tensor_stage(p, row, column, first, centre + turn * TMAPI_PDIST_TENSOR_CHUNK,
                                 staged, norm);
        if (threadIdx.x < TMAPI_PDIST_TENSOR_CHUNK)
            centre[(turn ^ 1) * TMAPI_PDIST_TENSOR_CHUNK + (int)threadIdx.x] =
                tmapi_pdist_centre(p, next + threadIdx.x);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k)
            b[k / 4][k % 4] = rows[(8 * (k / 4) + g) * TMAPI_PDIST_PITCH + 4 * (k % 4) + q];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const double *from = columns + (c / 2 * 32 + 4 * g + c % 2 * 2) * TMAPI_PDIST_PITCH;
            double a[8];
#pragma unroll
            for (int k = 0; k < 8; ++k) a[k] = from[k % 2 * TMAPI_PDIST_PITCH + k / 2 * 4 + q];
#pragma unroll
            for (int x = 0; x < 2; ++x) tmapi_pdist_mma(sums[c / 2][x][c % 2], a, b[x]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < TMAPI_PDIST_TENSOR_SHARE; ++s) {
        const int x = s * TMAPI_PDIST_TENSOR_STEP + (int)threadIdx.x / 4;
        const double sum = tmapi_pdist_norm(norm[s]);
        if (q == 0 && x < TMAPI_PDIST_TENSOR_STAGE)
            staged[x * TMAPI_PDIST_PITCH + TMAPI_PDIST_TENSOR_CHUNK] = sum;
    }
    if (threadIdx.x < TMAPI_PDIST_TENSOR_CHUNK)
        centre[threadIdx.x] = tmapi_pdist_centre(p, threadIdx.x);
    __syncthreads();
    row += warp, column -= shift;
    if (row >= (int)p.n) return;
#pragma unroll
    for (int h = 0; h < 2; ++h, column += 32) {
        double of_columns[4];
        int most = 0;
        if (column >= (int)p.n) break;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            of_columns[c] =
                columns[(32 * h + 4 * g + c) * TMAPI_PDIST_PITCH + TMAPI_PDIST_TENSOR_CHUNK];
            int high = tmapi_pdist_high(of_columns[c]);
            most = high > most ? high : most;
        }
#pragma unroll
        for (int x = 0; x < 2; ++x) {
            const int top = row + x * TMAPI_PDIST_BAND;
            double of_rows[2];
            float *at[2];
            int high = most;
            if (tmapi_pdist_outside(p, top, column)) continue;
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const int i = 8 * x + 2 * q + r;
                of_rows[r] = rows[i * TMAPI_PDIST_PITCH + TMAPI_PDIST_TENSOR_CHUNK];
                int of_row = tmapi_pdist_high(of_rows[r]);
                high = of_row > high ? of_row : high;
                at[r] = (float *)p.out +
                        (tmapi_pdist_begin(p, (tmap_u64)(row + i * TMAPI_PDIST_PERIOD)) +
                         (tmap_u64)(tmap_i64)(column + 4 * g));
            }
#pragma unroll
            for (int c = 0; c < 8; ++c)
                sums[h][x][c / 4][c % 4] =
                    fma(-2.0, sums[h][x][c / 4][c % 4], of_columns[c / 2] + of_rows[c % 2]);
            tmapi_pdist_tensor_write(p, metric, top, column, at, sums[h][x], of_columns, of_rows,
                                     high, tmapi_pdist_bits(p.d));
        }
    }
}

// One tile, strip by strip, 8 of the 16 sets of rows at a time.
TMAP_DEVICE void tmapi_pdist_tensor_any(tmapi_pdist p, const int metric, double *staged,
                                        float *centre) {
    const tmap_pair tile = tmapi_pdist_place(p);
    const int row = (int)tile.i * TMAPI_PDIST_TENSOR_SIDE;
    const int column = (int)tile.j * TMAPI_PDIST_TENSOR_SIDE;
    const int halves = TMAPI_PDIST_PERIOD / TMAPI_PDIST_TENSOR_WARPS;
    if (threadIdx.x < TMAPI_PDIST_TENSOR_CHUNK)
        centre[threadIdx.x] = tmapi_pdist_centre(p, threadIdx.x);
    __syncthreads();
#pragma unroll 1
    for (int s = 0; s < TMAPI_PDIST_TENSOR_SIDE / TMAPI_PDIST_STRIP * halves; ++s) {
        const int at = column + s / halves * TMAPI_PDIST_STRIP;
        if (at - TMAPI_PDIST_BEFORE >= (int)p.n) break;
        tmapi_pdist_tensor_strip(p, metric, row + s % halves * TMAPI_PDIST_TENSOR_WARPS, at, staged,
                                 centre);
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

// Bytes of shared memory that they are launched with.
#define TMAPI_PDIST_TENSOR_BYTES \
    (8u * (TMAPI_PDIST_TENSOR_SIDE + TMAPI_PDIST_BEFORE) * TMAPI_PDIST_PITCH)
#define TMAPI_PDIST_TENSOR_ANY_BYTES \
    (8u * TMAPI_PDIST_TENSOR_STAGE * TMAPI_PDIST_PITCH + 4u * 2 * TMAPI_PDIST_TENSOR_CHUNK)

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
static __global__ void __launch_bounds__(32 * TMAPI_PDIST_TENSOR_WARPS, 2)
    tmapi_pdist_f32_tensor_any(tmapi_pdist p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
#else
    extern __shared__ uint4 tmapi_pairs_shared[];
    double *staged = (double *)tmapi_pairs_shared;
    tmapi_pdist_tensor_any(p, (int)p.metric, staged,
                           (float *)(staged + TMAPI_PDIST_TENSOR_STAGE * TMAPI_PDIST_PITCH));
#endif
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#endif
