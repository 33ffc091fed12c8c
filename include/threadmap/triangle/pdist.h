// SPDX-License-Identifier: MIT
// pdist.h: the distances of all pairs of n points, written as fast as the memory takes them.
//
// Coordinates are subtracted first, then squared and added: no product of the points with
// themselves, in which the difference of two near points is lost. The one exception is in double
// precision, for points that are not near: pdist_tensor.h, on GPUs whose tensor cores make it
// faster. What is written is a triangle, so blocks are sent to its tiles of 128 x 128 or 256 x 256
// pairs by the exact map of map.h.
//
// The time goes into stores, and memory takes whole sectors of 32 bytes at less than half the price
// of parts of them. But a row of a condensed matrix begins anywhere. Where it begins in its sector
// repeats every 16 rows, since i(i+1)/2 modulo 8 does: so a warp takes every 16th row of a tile,
// and keeps 4 columns a lane in registers that are shifted, once for all of these rows, to where
// the sectors begin. Tiles thus end where sectors do, not at multiples of 128 columns.
#ifndef TMAP_TRIANGLE_PDIST_H
#define TMAP_TRIANGLE_PDIST_H

#include "pdist_tensor.h"

#if TMAP_CUDA

// Measures of a block: a tile is a square of 128 or 256 points a side. A warp takes 8 rows of it at
// a time, every 16th one, in strips of 32 lanes of 4 or 8 columns. A vector is 16 bytes; points are
// staged in shared memory by 64 bytes of their coordinates, 4 vectors.
#define TMAPI_PDIST_ROWS    8
#define TMAPI_PDIST_VECTORS 4
#ifndef TMAPI_PDIST_WHOLE
#define TMAPI_PDIST_WHOLE 8192 // points from which on tiles of 256 are taken; tests set it lower
#endif
#ifndef TMAPI_PDIST_TENSOR
#define TMAPI_PDIST_TENSOR 1 // 0: no kernel of pdist_tensor.h is launched
#endif
// Coordinates from which on they are taken. They are faster only from about 14 to 16 on, but always
// exact to a place of the last bit, where sums of floats are off by 2.
#define TMAPI_PDIST_TENSOR_LEAST 5

// What a block stages. columns: those of a tile and of a sector before it, and one place more for
// each row of vectors, so that the vectors of a column lie in different banks.
typedef struct tmapi_pdist_staged {
    uint4 *rows, *columns;
    double *inverse; // 1 / |u| of rows and columns, cosine only
} tmapi_pdist_staged;

// 1 / |u| of `count` points from `point` on, in double precision, in which no float overflows.
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_norms(tmapi_pdist p, int point, int count, double *inverse) {
    for (int t = (int)threadIdx.x; t < count; t += (int)blockDim.x) {
        const tmapi_real *u = (const tmapi_real *)p.points + (tmap_u64)(point + t) * p.d;
        double sum = 0;
        if ((tmap_u32)(point + t) < p.n)
            for (tmap_u64 k = 0; k < p.d; ++k) sum += (double)u[k] * (double)u[k];
        inverse[t] = 1.0 / sqrt(sum);
    }
}

// Coordinates first .. first + width - 1 of all rows and columns of a tile into shared memory; 0
// for points and coordinates that do not exist. Column x of those staged lies at place x / v of row
// x % v, v values a vector: the lanes of a warp, which ask for every v-th column, read side by
// side. unit: values of a load, 1 or v. A thread always has the same coordinates, so that all
// addresses grow by constants.
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_stage(tmapi_pdist p, const int warps, const int side, const int unit,
                                   int row, int column, tmap_u64 first, const int width,
                                   const int cosine, tmapi_pdist_staged to) {
    const int v = 16 / sizeof(tmapi_real), sector = TMAPI_PDIST_SECTOR / sizeof(tmapi_real);
    const int columns = side + sector, pitch = columns + 1, units = width / unit;
    const int stride = 32 * warps / units; // points at a time, a multiple of v
    const int k = (int)threadIdx.x % units * unit, t = (int)threadIdx.x / units;
    const int exists = first + (tmap_u64)k < p.d;
    const tmapi_real *points = (const tmapi_real *)p.points + first + k;
    tmapi_real *rows = (tmapi_real *)to.rows + t * (TMAPI_PDIST_VECTORS * v) + k;
    tmapi_real *places =
        (tmapi_real *)to.columns + (k / v * pitch + t % v * (columns / v) + t / v) * v + k % v;
#pragma unroll
    for (int x = 0; x < side + columns; x += x < side && x + stride > side ? side - x : stride) {
        const int end = x < side ? side : side + columns;
        const int here = x + stride <= end || x + t < end;
        int point = x < side ? row + x + t : column - sector + (x - side) + t;
        tmapi_real *at = x < side ? rows + x * (TMAPI_PDIST_VECTORS * v) : places + (x - side);
        union tmapi_pdist_vector<tmapi_real> value;
        value.bits = make_uint4(0, 0, 0, 0);
        if (here && exists && (tmap_u32)point < p.n) {
            const tmapi_real *from = points + (tmap_u64)(tmap_u32)point * p.d;
            if (unit == 1)
                value.value[0] = __ldg(from);
            else
                value.bits = __ldg((const uint4 *)from);
        }
        if (here && cosine)
            for (int c = 0; c < unit; ++c)
                value.value[c] = (tmapi_real)(value.value[c] * to.inverse[x + t]);
        if (here && unit == 1) *at = value.value[0];
        if (here && unit != 1) *(uint4 *)at = value.bits;
    }
}

// The same by whole vectors where points lie at them. For few coordinates it is not worth the code.
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_stage_all(tmapi_pdist p, const int warps, const int side,
                                       const int dims, int row, int column, tmap_u64 first,
                                       const int width, const int cosine, tmapi_pdist_staged to) {
    const int v = 16 / sizeof(tmapi_real);
    if (dims == 0 && p.d % v == 0 && (tmap_u64)p.points % 16 == 0)
        tmapi_pdist_stage<tmapi_real>(p, warps, side, v, row, column, first, width, cosine, to);
    else
        tmapi_pdist_stage<tmapi_real>(p, warps, side, 1, row, column, first, width, cosine, to);
}

// sum + the contribution of one coordinate.
template <class tmapi_real>
TMAP_DEVICE tmapi_real tmapi_pdist_add(int metric, tmapi_real sum, tmapi_real u, tmapi_real v) {
    tmapi_real t = u - v;
    if (metric != TMAP_PDIST_CITYBLOCK)
        return sizeof t == 4 ? (tmapi_real)fmaf((float)t, (float)t, (float)sum) : sum + t * t;
    return sum + (tmapi_real)(sizeof t == 4 ? (tmapi_real)fabsf((float)t) : (tmapi_real)fabs(t));
}

// sum + the contribution of a vector of coordinates. Four floats are added to each other first, so
// that a long sum is rounded every fourth time: absolute values by pairs, which costs nothing,
// squares one after the other, for one addition more.
template <class tmapi_real>
TMAP_DEVICE tmapi_real tmapi_pdist_add_vector(int metric, tmapi_real sum,
                                              union tmapi_pdist_vector<tmapi_real> u,
                                              union tmapi_pdist_vector<tmapi_real> v) {
    const int floats = sizeof sum == 4, pairs = floats && metric == TMAP_PDIST_CITYBLOCK;
    tmapi_real part[2] = {floats ? 0 : sum, 0};
#pragma unroll
    for (int k = 0; k < (int)(16 / sizeof sum); ++k) {
        tmapi_real *to = part + (pairs ? k / 2 : 0);
        if (pairs && k % 2 == 0) // the compiler does not leave out 0 + |t|
            *to = (tmapi_real)fabsf((float)(u.value[k] - v.value[k]));
        else
            *to = tmapi_pdist_add<tmapi_real>(metric, *to, u.value[k], v.value[k]);
    }
    if (pairs) part[0] += part[1];
    return floats ? sum + part[0] : part[0];
}

// sum += part, for floats; part is then what the sum has lost by rounding, and the next part begins
// with it. What a sum that is infinite or NaN has lost does not change it.
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_carry(tmapi_real *sum, tmapi_real *part) {
    tmapi_real before = *sum;
    *sum += *part;
    *part -= *sum - before;
    *part = (tmapi_real)fmaxf((float)*part, -3.402823466e38f); // for -infinity and NaN
}

// A lane's share of a launch: its first row and column, where they are in the output, and how far
// the 16th next row is, which shrinks from one such step to the next in a condensed matrix.
template <class tmapi_real>
struct tmapi_pdist_lane {
    int i, j;
    tmapi_real *at;
    tmap_u32 step, shrink;
};

// Where the lane's column c is staged, from `mine` on: the place of its first four or, for vectors
// of two, two columns, and then 32 vectors further for each such group.
#define TMAPI_PDIST_COLUMN(mine, c) (mine)[(c) % v] + (c) / v * 32

// 8 rows of a strip, from lane.i on; `rows` and `mine` are where the first of them and the lane's
// first v columns are staged. dims, wide: as for tmapi_pdist_tile.
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_strip(tmapi_pdist p, int metric, int dims, const int wide, int pitch,
                                   int inside, struct tmapi_pdist_lane<tmapi_real> lane,
                                   const uint4 *rows, const uint4 *const mine[4]) {
    const int v = 16 / sizeof(tmapi_real);
    // Two short chains of additions are more exact than one.
    const int chains = dims == 4 && v == 4 && metric <= TMAP_PDIST_SQEUCLIDEAN;
    union tmapi_pdist_vector<tmapi_real> q;
    tmapi_real columns[8][4];
#pragma unroll
    for (int c = 0; c < wide; ++c)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (k % v == 0 && k < dims) q.bits = *(TMAPI_PDIST_COLUMN(mine, c) + k / v * pitch);
            if (k < dims) columns[c][k] = q.value[k % v];
        }
#pragma unroll 1
    for (int r = 0; r < TMAPI_PDIST_ROWS; ++r) {
        tmapi_real sums[8] = {0, 0, 0, 0, 0, 0, 0, 0}, late[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        if (!inside && lane.i >= (int)p.n) break;
#pragma unroll
        for (int k = 0; k < dims; ++k) {
            if (k % v == 0) q.bits = rows[k / v];
#pragma unroll
            for (int c = 0; c < wide; ++c) {
                tmapi_real *sum = chains && k > 1 ? late + c : sums + c;
                *sum = tmapi_pdist_add<tmapi_real>(metric, *sum, q.value[k % v], columns[c][k]);
            }
        }
#pragma unroll
        for (int c = 0; c < wide; ++c)
            if (chains) sums[c] += late[c];
        tmapi_pdist_store<tmapi_real>(p, metric, 1, wide, inside, lane.i, lane.j, lane.at, sums);
        rows += TMAPI_PDIST_PERIOD * TMAPI_PDIST_VECTORS;
        lane.i += TMAPI_PDIST_PERIOD;
        lane.at += lane.step;
        lane.step -= lane.shrink;
    }
}

// Adds `vectors` vectors of the coordinates to the sums of 8 rows. One at a time: unrolled, the
// code no longer fits the instruction cache. The last one first, which takes fewer registers.
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_accumulate(int metric, const int wide, int vectors, int pitch,
                                        const uint4 *rows, const uint4 *const mine[4],
                                        tmapi_real (*sums)[8]) {
    const int v = 16 / sizeof(tmapi_real);
#pragma unroll 1
    for (int s = vectors - 1; s >= 0; --s) {
        union tmapi_pdist_vector<tmapi_real> q, u[8];
#pragma unroll
        for (int c = 0; c < wide; ++c) u[c].bits = *(TMAPI_PDIST_COLUMN(mine, c) + s * pitch);
#pragma unroll
        for (int r = 0; r < TMAPI_PDIST_ROWS; ++r) {
            q.bits = rows[r * (TMAPI_PDIST_PERIOD * TMAPI_PDIST_VECTORS) + s];
#pragma unroll
            for (int c = 0; c < wide; ++c)
                sums[r][c] = tmapi_pdist_add_vector<tmapi_real>(metric, sums[r][c], q, u[c]);
        }
    }
}

// The share of the calling lane in a strip that begins at row i and column j.
template <class tmapi_real>
TMAP_DEVICE struct tmapi_pdist_lane<tmapi_real> tmapi_pdist_lane_make(tmapi_pdist p, int i, int j) {
    struct tmapi_pdist_lane<tmapi_real> lane;
    tmap_u64 begin = tmapi_pdist_begin(p, (tmap_u64)i);
    lane.i = i;
    lane.j = j + (int)threadIdx.x % 32 * (int)(16 / sizeof(tmapi_real));
    lane.at = (tmapi_real *)p.out + (begin + (tmap_u64)(tmap_i64)lane.j);
    lane.step = TMAPI_PDIST_PERIOD * p.n, lane.shrink = 0;
    if (p.layout == TMAP_PDIST_CONDENSED) {
        lane.step = (tmap_u32)(tmapi_pdist_begin(p, (tmap_u64)i + TMAPI_PDIST_PERIOD) - begin);
        lane.shrink = TMAPI_PDIST_PERIOD * TMAPI_PDIST_PERIOD;
    }
    return lane;
}

// One tile of `side` x `side` points by `warps` warps, `wide` columns a lane. dims: the coordinates
// if there are 1 to 4, which then stay in registers; 0: any number, taken by 64 bytes at a time,
// with the sums of 8 rows in registers (more than 64 bytes only where a strip is a tile wide and a
// band high).
template <class tmapi_real>
TMAP_DEVICE void tmapi_pdist_tile(tmapi_pdist p, const int metric, const int dims, const int side,
                                  const int wide, const int warps, tmapi_pdist_staged staged) {
    const int v = 16 / sizeof(tmapi_real), sector = TMAPI_PDIST_SECTOR / sizeof(tmapi_real);
    const int width = (dims ? (dims + v - 1) / v : TMAPI_PDIST_VECTORS) * v;
    const int pitch = side + sector + 1, strips = side / (32 * wide); // of a band
    const int cosine = metric == TMAP_PDIST_COSINE;
    // Long sums of floats are taken by parts, larger ones where the errors of more parts cancel.
    const int carries = v == 4 && side == TMAPI_PDIST_BAND;
    const tmap_u64 period = p.d > 256 ? 64 : p.d > 64 ? 32 : 16; // coordinates of a part
    tmap_pair tile = tmapi_pdist_place(p);
    int row = (int)tile.i * side, column = (int)tile.j * side;
    tmap_u64 first = 0; // coordinate that is staged
    if (cosine) {
        tmapi_pdist_norms<tmapi_real>(p, row, side, staged.inverse);
        tmapi_pdist_norms<tmapi_real>(p, column - sector, side + sector, staged.inverse + side);
        __syncthreads();
    }
    tmapi_pdist_stage_all<tmapi_real>(p, warps, side, dims, row, column, 0, width, cosine, staged);
    __syncthreads();
#pragma unroll 1
    for (int y = (int)threadIdx.x / 32; y < TMAPI_PDIST_PERIOD; y += warps) {
        const int shift = tmapi_pdist_shift<tmapi_real>(p, row + y);
#pragma unroll 1
        for (int strip = 0; strip < side / TMAPI_PDIST_BAND * strips; ++strip) {
            const int i = row + strip / strips * TMAPI_PDIST_BAND;
            const int b = strip % strips * (32 * wide), j = column - shift + b;
            int above = p.layout != TMAP_PDIST_LOWER && j >= i + TMAPI_PDIST_BAND;
            int below = p.layout != TMAP_PDIST_CONDENSED && j + 32 * wide <= i;
            int inside = (above || below) && j >= 0 && j + 32 * wide <= (int)p.n &&
                         i + TMAPI_PDIST_BAND <= (int)p.n;
            struct tmapi_pdist_lane<tmapi_real> lane;
            const uint4 *rows = staged.rows + (i - row + y) * TMAPI_PDIST_VECTORS;
            const uint4 *mine[4]; // this lane's first columns
            for (int c = 0; c < v; ++c) {
                int x = sector - shift + c; // and v more for each lane
                mine[c] = staged.columns + x % v * ((side + sector) / v) + x / v + b / v +
                          (int)threadIdx.x % 32;
            }
            if (dims) {
                lane = tmapi_pdist_lane_make<tmapi_real>(p, i + y, j);
                if (inside)
                    tmapi_pdist_strip<tmapi_real>(p, metric, dims, wide, pitch, 1, lane, rows,
                                                  mine);
                else
                    tmapi_pdist_strip<tmapi_real>(p, metric, dims, wide, pitch, 0, lane, rows,
                                                  mine);
                continue;
            }
            tmapi_real sums[TMAPI_PDIST_ROWS][8] = {{0}}, parts[TMAPI_PDIST_ROWS][8] = {{0}};
            for (tmap_u64 k = 0; k < p.d; k += width) {
                tmap_u64 left = p.d - k < (tmap_u64)width ? p.d - k : width;
                if (side == TMAPI_PDIST_BAND && k != first) {
                    __syncthreads();
                    tmapi_pdist_stage_all<tmapi_real>(p, warps, side, dims, row, column, k, width,
                                                      cosine, staged);
                    __syncthreads();
                    first = k;
                }
                if (carries && k && (k & (period - 1)) == 0) {
#pragma unroll
                    for (int r = 0; r < TMAPI_PDIST_ROWS; ++r)
#pragma unroll
                        for (int c = 0; c < wide; ++c)
                            tmapi_pdist_carry<tmapi_real>(&sums[r][c], &parts[r][c]);
                }
                tmapi_pdist_accumulate<tmapi_real>(metric, wide, ((int)left + v - 1) / v, pitch,
                                                   rows, mine, carries ? parts : sums);
                if (side != TMAPI_PDIST_BAND) break;
            }
            if (carries) {
#pragma unroll
                for (int r = 0; r < TMAPI_PDIST_ROWS; ++r)
#pragma unroll
                    for (int c = 0; c < wide; ++c) sums[r][c] += parts[r][c];
            }
            lane = tmapi_pdist_lane_make<tmapi_real>(p, i + y, j);
            if (inside) {
#pragma unroll
                for (int r = 0; r < TMAPI_PDIST_ROWS; ++r) {
                    tmapi_pdist_store<tmapi_real>(p, metric, 0, wide, 1, lane.i, lane.j, lane.at,
                                                  sums[r]);
                    lane.at += lane.step, lane.step -= lane.shrink;
                }
            } else {
#pragma unroll
                for (int r = 0; r < TMAPI_PDIST_ROWS; ++r) {
                    if (lane.i < (int)p.n)
                        tmapi_pdist_store<tmapi_real>(p, metric, 0, wide, 0, lane.i, lane.j,
                                                      lane.at, sums[r]);
                    lane.i += TMAPI_PDIST_PERIOD;
                    lane.at += lane.step, lane.step -= lane.shrink;
                }
            }
        }
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The kernels of one metric: for any number of coordinates, for 1 to 4, and for up to 64 bytes of
// them. blocks: that must fit a multiprocessor, which limits the registers.
#define TMAPI_PDIST_KERNEL(type, suffix, metric, number, name, dims, side, wide, warps, blocks) \
    static __global__ void __launch_bounds__(32 * warps, blocks) \
        tmapi_pdist_##suffix##_##metric##_##name(tmapi_pdist p) { \
        __shared__ uint4 rows[side * TMAPI_PDIST_VECTORS]; \
        __shared__ uint4 columns[(side + 9) * TMAPI_PDIST_VECTORS]; \
        __shared__ double inverse[2 * side + 8]; \
        tmapi_pdist_staged staged = {rows, columns, inverse}; \
        tmapi_pdist_tile<type>(p, number, dims, side, wide, warps, staged); \
    }
#define TMAPI_PDIST_STAMP(...) TMAPI_PDIST_KERNEL(__VA_ARGS__) // once the shape is spelled out
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750 // 1024 threads a multiprocessor, not 1536
#define TMAPI_PDIST_RESIDENT 2
#else
#define TMAPI_PDIST_RESIDENT 3
#endif
// side, wide, warps, blocks
#define TMAPI_PDIST_SHAPE_any_f32   128, 4, 8, 2
#define TMAPI_PDIST_SHAPE_few_f32   128, 4, 16, TMAPI_PDIST_RESIDENT
#define TMAPI_PDIST_SHAPE_whole_f32 256, 8, 4, 4
#define TMAPI_PDIST_SHAPE_any_f64   128, 4, 8, 2
#define TMAPI_PDIST_SHAPE_few_f64   128, 4, 16, 2
#define TMAPI_PDIST_SHAPE_whole_f64 256, 4, 8, 2
#define TMAPI_PDIST_METRIC(type, suffix, metric, number) \
    TMAPI_PDIST_STAMP(type, suffix, metric, number, 0, 0, TMAPI_PDIST_SHAPE_any_##suffix) \
    TMAPI_PDIST_STAMP(type, suffix, metric, number, 1, 1, TMAPI_PDIST_SHAPE_few_##suffix) \
    TMAPI_PDIST_STAMP(type, suffix, metric, number, 2, 2, TMAPI_PDIST_SHAPE_few_##suffix) \
    TMAPI_PDIST_STAMP(type, suffix, metric, number, 3, 3, TMAPI_PDIST_SHAPE_few_##suffix) \
    TMAPI_PDIST_STAMP(type, suffix, metric, number, 4, 4, TMAPI_PDIST_SHAPE_few_##suffix) \
    TMAPI_PDIST_STAMP(type, suffix, metric, number, whole, 0, TMAPI_PDIST_SHAPE_whole_##suffix)
#define TMAPI_PDIST_KERNELS(type, suffix) \
    TMAPI_PDIST_METRIC(type, suffix, euclidean, TMAP_PDIST_EUCLIDEAN) \
    TMAPI_PDIST_METRIC(type, suffix, sqeuclidean, TMAP_PDIST_SQEUCLIDEAN) \
    TMAPI_PDIST_METRIC(type, suffix, cityblock, TMAP_PDIST_CITYBLOCK) \
    TMAPI_PDIST_METRIC(type, suffix, cosine, TMAP_PDIST_COSINE)
TMAPI_PDIST_KERNELS(float, f32)
TMAPI_PDIST_KERNELS(double, f64)

typedef struct tmapi_pdist_kernel {
    void (*run)(tmapi_pdist);
    tmap_u32 side, threads; // of a tile and of a block
} tmapi_pdist_kernel;

#define TMAPI_PDIST_MEASURES(side, wide, warps, blocks) side, 32 * warps
#define TMAPI_PDIST_ENTRY(kernel, ...) \
    { kernel, TMAPI_PDIST_MEASURES(__VA_ARGS__) }
#define TMAPI_PDIST_ROW(suffix, metric) \
    { \
        TMAPI_PDIST_ENTRY(tmapi_pdist_##suffix##_##metric##_0, TMAPI_PDIST_SHAPE_any_##suffix), \
            TMAPI_PDIST_ENTRY(tmapi_pdist_##suffix##_##metric##_1, \
                              TMAPI_PDIST_SHAPE_few_##suffix), \
            TMAPI_PDIST_ENTRY(tmapi_pdist_##suffix##_##metric##_2, \
                              TMAPI_PDIST_SHAPE_few_##suffix), \
            TMAPI_PDIST_ENTRY(tmapi_pdist_##suffix##_##metric##_3, \
                              TMAPI_PDIST_SHAPE_few_##suffix), \
            TMAPI_PDIST_ENTRY(tmapi_pdist_##suffix##_##metric##_4, \
                              TMAPI_PDIST_SHAPE_few_##suffix), \
            TMAPI_PDIST_ENTRY(tmapi_pdist_##suffix##_##metric##_whole, \
                              TMAPI_PDIST_SHAPE_whole_##suffix) \
    }
#define TMAPI_PDIST_TABLE(suffix) \
    { \
        TMAPI_PDIST_ROW(suffix, euclidean), TMAPI_PDIST_ROW(suffix, sqeuclidean), \
            TMAPI_PDIST_ROW(suffix, cityblock), TMAPI_PDIST_ROW(suffix, cosine) \
    }
// The kernels of pdist_tensor.h for a metric: for up to 16 coordinates, and for any number.
#define TMAPI_PDIST_TENSOR_ROW(metric) \
    { \
        {tmapi_pdist_f32_##metric##_tensor, TMAPI_PDIST_TENSOR_SIDE, \
         32 * TMAPI_PDIST_TENSOR_WARPS}, \
            {tmapi_pdist_f32_##metric##_tensor_any, TMAPI_PDIST_TENSOR_SIDE, \
             32 * TMAPI_PDIST_TENSOR_WARPS}, \
    }

// Whether the current GPU has tensor cores for doubles that are as fast as its floats, and the
// kernel was compiled for them: code for 7.5 runs on it too.
static inline int tmapi_pdist_has_tensor(const tmapi_pdist_kernel *kernel) {
    struct cudaFuncAttributes attributes;
    int device, major, minor;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        return 0;
    if (minor != 0 || (major != 8 && major != 9)) return 0;
    return cudaFuncGetAttributes(&attributes, kernel->run) == cudaSuccess &&
           attributes.ptxVersion >= 80;
}

// The launch of either type; `size` bytes a value. tensor: kernels of metrics that are sums of
// squares, or null.
static inline cudaError_t tmapi_pdist_launch(const tmapi_pdist_kernel (*kernels)[6],
                                             const tmapi_pdist_kernel (*tensor)[2],
                                             const void *points, tmap_u64 n, tmap_u64 d, void *out,
                                             tmap_u64 size, int metric, int layout,
                                             cudaStream_t stream) {
    const tmap_u64 sector = TMAPI_PDIST_SECTOR / size;
    // Large tiles cost less a pair where a tile has much to compute, and too many blocks are idle
    // at the end where there are few of them.
    const int number = d <= 4 ? (int)d : d * size <= 64 && n >= TMAPI_PDIST_WHOLE ? 5 : 0;
    tmapi_pdist_kernel kernel;
    tmap_u64 side;
    tmapi_pdist p;
    tmap_u64 rows, blocks;
    void *arguments[1];
    if (metric < 0 || metric >= TMAP_PDIST_METRIC_COUNT || layout < 0 ||
        layout >= TMAP_PDIST_LAYOUT_COUNT || d == 0)
        return cudaErrorInvalidValue;
    if (tmap_pdist_values(n, layout) == 0) return cudaSuccess;
    if (!points || !out || (tmap_u64)points % size || (tmap_u64)out % size)
        return cudaErrorInvalidValue;
    if (n >> 31) return cudaErrorInvalidConfiguration;
    p.points = points, p.out = out, p.d = d, p.n = (tmap_u32)n, p.layout = (tmap_u32)layout;
    p.skew = layout == TMAP_PDIST_CONDENSED || n % sector ||
             (tmap_u64)out % TMAPI_PDIST_SECTOR; // rows begin anywhere in a sector
    kernel = kernels[metric][number];
    if (TMAPI_PDIST_TENSOR && tensor && metric <= TMAP_PDIST_SQEUCLIDEAN &&
        d >= TMAPI_PDIST_TENSOR_LEAST && n >= TMAPI_PDIST_WHOLE &&
        tmapi_pdist_has_tensor(&tensor[metric][d > TMAPI_PDIST_TENSOR_CHUNK]))
        kernel = tensor[metric][d > TMAPI_PDIST_TENSOR_CHUNK];
    side = kernel.side;
    rows = (n + side - 1) / side;
    p.tiles = (tmap_u32)((n + p.skew * (sector - 1) + side - 1) / side);
    blocks = tmap_triangle_cells(p.tiles);
    if (layout == TMAP_PDIST_SQUARE) blocks = rows * p.tiles;
    if (layout == TMAP_PDIST_LOWER) blocks = tmap_triangle_cells(rows + p.skew) - p.skew;
    if (blocks > 0x7fffffffull) return cudaErrorInvalidConfiguration;
    arguments[0] = &p;
    return cudaLaunchKernel((const void *)kernel.run, dim3((unsigned)blocks), dim3(kernel.threads),
                            arguments, 0, stream);
}

// Writes the distances of all pairs of n points in d dimensions.
// points: n x d values row by row, out: tmap_pdist_values(n, layout) values, both in device memory,
// at any multiple of the size of a value; they do not overlap. metric: a tmap_pdist_metric. layout:
// a tmap_pdist_layout; of the lower one, values above the diagonal are not touched.
// n: any whose matrix fits memory; the grid allows 8388352, or 5931520 of a square. n = 0 does
// nothing, nor does a condensed n = 1. d: 1 or more, any number; 1 to 4 have kernels of their own.
// Returns cudaErrorInvalidValue for an unknown metric or layout, d = 0, a null or misaligned
// pointer; cudaErrorInvalidConfiguration for an n beyond the grid; else the launch's own error: one
// that an earlier call has left is neither reported nor cleared.
// Exactness: docs/maps/triangle.md. The result for (i, j) is that for (j, i), and 0 for (i, i),
// always; NaN and infinity go through as in scipy.
// Cost: 2 d to 2.6 d instructions and a root a pair, one store. Euclidean metrics of 5 coordinates
// or more, n >= 8192, on GPUs of compute capability 8.0 and 9.0: d multiplications of doubles on
// tensor cores, and about 25 instructions. Up to d = 4 the stores take the time.
// Example: points 0, 1, 3 of d = 1: condensed euclidean 1, 3, 2.
static inline cudaError_t tmap_pdist_f32(const float *points, tmap_u64 n, tmap_u64 d, float *out,
                                         int metric, int layout, cudaStream_t stream) {
    static const tmapi_pdist_kernel kernels[][6] = TMAPI_PDIST_TABLE(f32);
    static const tmapi_pdist_kernel tensor[][2] = {TMAPI_PDIST_TENSOR_ROW(euclidean),
                                                   TMAPI_PDIST_TENSOR_ROW(sqeuclidean)};
    return tmapi_pdist_launch(kernels, tensor, points, n, d, out, sizeof *out, metric, layout,
                              stream);
}

// The same in double precision.
static inline cudaError_t tmap_pdist_f64(const double *points, tmap_u64 n, tmap_u64 d, double *out,
                                         int metric, int layout, cudaStream_t stream) {
    static const tmapi_pdist_kernel kernels[][6] = TMAPI_PDIST_TABLE(f64);
    return tmapi_pdist_launch(kernels, NULL, points, n, d, out, sizeof *out, metric, layout,
                              stream);
}

#endif
#endif
