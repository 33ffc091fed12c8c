// SPDX-License-Identifier: MIT
// pdist.h: the distances of all pairs of n points, written as fast as the memory takes them: an
// instance of pairs_store.h for the metrics that everyone asks for.
//
// Coordinates are subtracted first, then squared and added: no product of the points with
// themselves, in which the difference of two near points is lost. The one exception is in double
// precision, for points that are not near: pdist_tensor.h, on GPUs whose tensor cores make it
// faster.
#ifndef TMAP_TRIANGLE_PDIST_H
#define TMAP_TRIANGLE_PDIST_H

#include "pdist_metric.h"
#include "pdist_products.h"
#include "pdist_tensor.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

#ifndef TMAPI_PDIST_TENSOR
#define TMAPI_PDIST_TENSOR 1 // 0: the kernel of pdist_tensor.h is not launched
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
    tmapi_pdist_few few = {tmapi_pdist_root_of_f32,
                           tmapi_pdist_squares_f32,
                           tmapi_pdist_absolute_f32,
                           tmapi_pdist_most_of_f32,
                           {0, 0, 0, 0, 0},
                           0};
    tmapi_pdist_few_tile(&plan, &j, 4, &few);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, 2)
    tmapi_pdist_f64_few(tmap_pairs_plan plan, tmapi_pdist_job j) {
    tmapi_pdist_few few = {tmapi_pdist_root_of_f64,
                           tmapi_pdist_squares_f64,
                           tmapi_pdist_absolute_f64,
                           tmapi_pdist_most_of_f64,
                           {0, 0, 0, 0, 0},
                           0};
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

// The launch of pdist_tensor.h. p: all but its tiles.
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
// Exactness: docs/maps/triangle.md. The result for (i, j) is that for (j, i), and 0 for (i, i),
// always; NaN and infinity go through as in scipy.
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
