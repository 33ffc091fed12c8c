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
//   - pairs that are nearer, with a square below 2^-24 of the norms, are computed again from their
//     differences, and so are squares that a float cannot hold.
//
// This is for 5 to 16 coordinates, and needs no memory besides; pdist_products.h is for more.
//
// Compute capabilities 8.0 and 9.0 have such cores. What is compiled for 8.0 also runs on GPUs that
// take 32 times as long for a double: the launcher asks for the GPU.
#ifndef TMAP_TRIANGLE_PDIST_TENSOR_H
#define TMAP_TRIANGLE_PDIST_TENSOR_H

#include "pdist_mma.h"
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

#endif
