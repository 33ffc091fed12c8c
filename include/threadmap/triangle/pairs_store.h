// SPDX-License-Identifier: MIT
// pairs_store.h: a value for each pair of n points, written by whole sectors of memory.
//
//     typedef struct far_job { const float *points; float *out; } far_job;
//     static __device__ void chebyshev(void *job, tmap_pair pair, const void *a, const void *b,
//                                      void *value) {
//         const float *u = (const float *)a, *v = (const float *)b;
//         *(float *)value = fmaxf(fmaxf(fabsf(u[0] - v[0]), fabsf(u[1] - v[1])),
//                                 fabsf(u[2] - v[2]));
//     }
//     __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, TMAP_PAIRS_STORE_BLOCKS)
//     distances(tmap_pairs_plan plan, far_job j) {
//         tmap_pairs_store(&plan, j.points, 0, sizeof(float), 3, chebyshev, sizeof(float), j.out,
//                          &j);
//     }
//     ... tmap_pairs_store_plan_make(n, 3, sizeof(float), TMAP_PAIRS_CONDENSED, sizeof(float),
//                                    (const void *)distances, &plan);
//     ... cudaMalloc(&j.out, tmap_pairs_store_bytes(&plan));
//     ... tmap_pairs_store_launch(&plan, &j, stream);
//
// A value is 4 or 8 bytes of any type, or one bit: whether a pair is an edge of a graph, whose
// adjacency matrix is then rows of 32-bit words. pairs_store_sums.h is for points of more than 8
// coordinates.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_H
#define TMAP_TRIANGLE_PAIRS_STORE_H

#include "pairs_store_stage.h"

// Threads of a block, and how many blocks of them a multiprocessor should hold at once, so that it
// always has stores under way: for points of up to 16 bytes and a value of some instructions.
#define TMAP_PAIRS_STORE_THREADS (32u * TMAPI_STORE_WARPS)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750 // 1024 threads a multiprocessor, not 1536
#define TMAP_PAIRS_STORE_BLOCKS 2
#else
#define TMAP_PAIRS_STORE_BLOCKS 3
#endif

// `value` as the size of a value: one bit for each pair.
#define TMAP_PAIRS_BIT 0u

// Bytes of the output of a plan: all its sets, to the end of the last row. Saturates.
// Example: n = 30720, condensed floats: 1887375360.
TMAP_FN tmap_u64 tmap_pairs_store_bytes(const tmap_pairs_plan *plan) {
    const tmap_u64 bytes = plan->value ? plan->value : 4;
    return tmap_mul_saturate(tmap_mul_saturate(plan->values, plan->sets), bytes);
}

#if TMAP_CUDA

// From a pair and its points to its value, of the type that the user chose; of bits a tmap_u32
// that is 0 or not. a, b: point i and point j, d coordinates of the user's type. pair: i < j in a
// condensed matrix; in a square or a lower one also i > j and, unless the layout is hollow, i ==
// j.
typedef void (*tmap_pairs_value)(void *job, tmap_pair pair, const void *a, const void *b,
                                 void *value);

typedef struct tmapi_store_whole {
    alignas(16) unsigned char bytes[16 * TMAPI_STORE_VECTORS];
} tmapi_store_whole;

// A whole point, whose vectors are `plane` bytes apart.
TMAP_DEVICE void tmapi_store_get(const tmapi_store *s, const unsigned char *from, tmap_u32 plane,
                                 tmapi_store_whole *point) {
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_STORE_VECTORS; ++k)
        if (k * 16 < s->d * s->size) tmapi_value_copy(point->bytes + 16 * k, from + k * plane, 16);
}

// The columns of a lane.
TMAP_DEVICE void tmapi_store_columns(const tmapi_store *s, const tmapi_store_strip *strip,
                                     tmapi_store_whole *columns) {
    const tmap_u32 v = tmapi_store_values(s->bytes), plane = tmapi_store_plane(s->side, s->bytes);
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
        tmapi_store_get(s, TMAPI_STORE_COLUMN(strip, v, c), plane, &columns[c]);
}

// The full rows of a strip, the first ones.
TMAP_DEVICE void tmapi_store_rows(const tmapi_store *s, tmapi_store_strip strip,
                                  tmap_pairs_value value, void *job) {
    const tmap_u32 v = tmapi_store_values(s->bytes), bytes = s->bytes ? s->bytes : 4;
    tmapi_store_whole columns[TMAPI_STORE_WIDE], row;
    tmapi_store_columns(s, &strip, columns);
#pragma unroll 1
    while (strip.full > 0) {
        tmapi_store_out out;
        tmap_pair pair;
        pair.i = (tmap_u32)strip.i;
        tmapi_store_get(s, strip.rows, tmapi_store_plane(s->side, s->bytes), &row);
#pragma unroll
        for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c) {
            pair.j = (tmap_u32)(strip.j + tmapi_store_column((int)v, c));
            value(job, pair, row.bytes, columns[c].bytes, out.bytes + c * bytes);
        }
        tmapi_store_write(s, &strip, 1, &out);
        tmapi_store_next(s, &strip);
    }
}

// Computes the values of a row of a strip, those that are asked for.
typedef void (*tmapi_store_row_do)(const tmapi_store *s, const tmapi_store_strip *strip,
                                   const tmapi_store_whole *row, const tmapi_store_whole *columns,
                                   tmapi_store_out *out, void *context);

// The strip's other rows. They are few, but at the end of a launch nothing else is left: so the
// columns of a row go side by side here too.
TMAP_DEVICE void tmapi_store_edges(const tmapi_store *s, tmapi_store_strip strip,
                                   tmapi_store_row_do values, void *context) {
    tmapi_store_whole columns[TMAPI_STORE_WIDE], row;
    tmapi_store_columns(s, &strip, columns);
#pragma unroll 1
    for (int r = 0; r < TMAPI_STORE_ROWS; ++r) {
        __syncwarp(); // or the compiler makes a loop for each metric and each layout
        if (strip.i >= s->rows) break;
        if (strip.full <= 0) {
            tmapi_store_out out;
            tmapi_store_get(s, strip.rows, tmapi_store_plane(s->side, s->bytes), &row);
            values(s, &strip, &row, columns, &out, context);
            tmapi_store_write(s, &strip, 0, &out);
        }
        tmapi_store_next(s, &strip);
    }
}

// What is done with a strip's full rows.
typedef void (*tmapi_store_strip_do)(const tmapi_store *s, const tmapi_store_strip *strip,
                                     void *context);

// All strips of a tile whose points are staged. A strip is made again for its rows that are not
// full, so that the others have all registers.
TMAP_DEVICE void tmapi_store_each(const tmapi_store *s, const unsigned char *staged,
                                  tmapi_store_strip_do full, tmapi_store_row_do values,
                                  void *context) {
#pragma unroll 1
    for (tmap_u32 turn = 0; turn < tmapi_store_strips(s); ++turn) {
        tmapi_store_strip strip = tmapi_store_strip_make(s, turn, staged);
        const int edges = strip.full < TMAPI_STORE_ROWS;
        if (strip.full > 0) full(s, &strip, context);
        if (!edges) continue;
        strip = tmapi_store_strip_make(s, tmapi_store_again(turn), staged);
        tmapi_store_edges(s, strip, values, context);
    }
}

typedef struct tmapi_store_value {
    tmap_pairs_value value;
    void *job;
} tmapi_store_value;

TMAP_DEVICE void tmapi_store_value_rows(const tmapi_store *s, const tmapi_store_strip *strip,
                                        void *context) {
    const tmapi_store_value *v = (const tmapi_store_value *)context;
    tmapi_store_rows(s, *strip, v->value, v->job);
}

// Of a row that is not full: the user's function is asked for pairs that exist alone.
TMAP_DEVICE void tmapi_store_value_row(const tmapi_store *s, const tmapi_store_strip *strip,
                                       const tmapi_store_whole *row,
                                       const tmapi_store_whole *columns, tmapi_store_out *out,
                                       void *context) {
    const tmapi_store_value *v = (const tmapi_store_value *)context;
    const tmap_u32 bytes = s->bytes ? s->bytes : 4;
    int first;
    const int end = tmapi_store_range(s, strip->i, &first);
    tmap_pair pair;
    pair.i = (tmap_u32)strip->i;
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c) {
        const int j = strip->j + tmapi_store_column((int)tmapi_store_values(s->bytes), c);
        pair.j = (tmap_u32)j;
        tmapi_value_zero(out->bytes + c * bytes, bytes);
        if (j >= first && j < end && !(s->hollow && j == strip->i))
            v->value(v->job, pair, row->bytes, columns[c].bytes, out->bytes + c * bytes);
    }
}

// Writes value(job, pair, a, b, ...) for every pair of the plan's share to its place in the
// output, of which nothing else is touched. All threads of all blocks call it, with the same
// arguments, in blocks of TMAP_PAIRS_STORE_THREADS threads.
// plan: one of tmap_pairs_store_plan_make. points: the plan's points in device memory, at a
// multiple of `size`. others: the second set, or 0. size, d, bytes: the plan's, as constants; d is
// 1 to TMAP_PAIRS_D_MAX. value: a __device__ function without barriers and collectives. out:
// tmap_pairs_store_bytes(plan) bytes of device memory at a multiple of `bytes`, or of 4 for bits,
// which are 0 beyond a row's last column, and in a word of a lower matrix beyond the diagonal. It
// does not overlap the points.
// Cost: for each pair what value costs, about 2.5 instructions, and a store. For points of
// more than 16 bytes, the kernel's bound on blocks is better left away.
TMAP_DEVICE void tmap_pairs_store(const tmap_pairs_plan *plan, const void *points,
                                  const void *others, tmap_u32 size, tmap_u32 d,
                                  tmap_pairs_value value, tmap_u32 bytes, void *out, void *job) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    unsigned char *staged = (unsigned char *)tmapi_pairs_shared;
    const tmap_u32 planes = tmapi_store_vectors(size, d);
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        const tmapi_store s =
            tmapi_store_make(plan, (tmap_u32)plan->first + t, TMAPI_STORE_BAND, TMAPI_STORE_WARPS,
                             1, points, others, size, d, bytes, out);
        const tmapi_store_scale none = {0, 0, 0, 0};
        tmapi_store_value v = {value, job};
        tmapi_store_stage(&s, 0, 0, planes, staged);
        tmapi_store_ready(&s, 1, 0, planes, &none, staged);
        tmapi_store_each(&s, staged, tmapi_store_value_rows, tmapi_store_value_row, &v);
        __syncthreads(); // before the next tile's points come
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The plan of tiles of `side` points by `threads` threads, which share `vectors` of each point.
static inline cudaError_t tmapi_store_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                tmap_u32 layout, tmap_u32 value, tmap_u32 side,
                                                tmap_u32 threads, tmap_u32 vectors,
                                                const void *kernel, tmap_pairs_plan *out) {
    const tmap_u32 matrix = layout & TMAPI_PAIRS_LAYOUT;
    tmap_pairs_plan p;
    if (!out || !kernel || n > TMAP_PAIRS_STORE_MAX || d < 1) return cudaErrorInvalidValue;
    if ((size != 4 && size != 8) || (value != 4 && value != 8 && value != TMAP_PAIRS_BIT))
        return cudaErrorInvalidValue;
    if (!matrix || layout & ~(tmap_u32)(TMAPI_PAIRS_LAYOUT | TMAP_PAIRS_HOLLOW))
        return cudaErrorInvalidValue;
    if (matrix == TMAP_PAIRS_CONDENSED && value == TMAP_PAIRS_BIT) return cudaErrorInvalidValue;
    p.n = p.rows = n, p.others = 0, p.d = d, p.size = size, p.sets = 1, p.resident = 0;
    p.kind = TMAP_PAIRS_KIND_STORE;
    p.layout = layout, p.value = value, p.before = tmapi_store_before(value), p.pitch = 0;
    p.kernel = kernel, p.block = threads, p.side = side, p.cut = p.cut_most = 0;
    p.shared = tmapi_store_plane(side, value) * vectors;
    tmapi_pairs_plan_tiles(&p);
    *out = p;
    return cudaSuccess;
}

// The plan of a kernel that stores a value for every pair of n points. n: 0 to
// TMAP_PAIRS_STORE_MAX. d: coordinates of a point, 1 to TMAP_PAIRS_D_MAX, of `size` bytes, 4 or 8.
// layout: a TMAP_PAIRS_CONDENSED, TMAP_PAIRS_SQUARE or TMAP_PAIRS_LOWER, to which
// TMAP_PAIRS_HOLLOW may be added; two sets have no diagonal. value: bytes of a value, 4 or 8, or
// TMAP_PAIRS_BIT. kernel: a __global__ function of TMAP_PAIRS_STORE_THREADS threads, cast to const
// void *. tmap_pairs_plan_rows, _sets, _share and, for a square, _others restrict or widen the
// plan as they do that of tmap_pairs_plan_make: the output then has those rows alone; sets lie one
// behind the other; a share of the items, tiles of 128 x 128 pairs, leaves the rest of the output
// as it is. Returns cudaErrorInvalidValue for a null pointer, for numbers outside these ranges and
// for bits in a condensed matrix. *out is written only on success. A launch of more than 2^31 - 1
// tiles, by then 10^13 values, is refused with cudaErrorInvalidConfiguration.
// Cost: some arithmetic, no call of CUDA.
// Example: tmap_pairs_store_plan_make(30720, 3, 4, TMAP_PAIRS_CONDENSED, 4, kernel, &plan).
static inline cudaError_t tmap_pairs_store_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                     tmap_u32 layout, tmap_u32 value,
                                                     const void *kernel, tmap_pairs_plan *out) {
    if (d > TMAP_PAIRS_D_MAX) return cudaErrorInvalidValue;
    return tmapi_store_plan_make(n, d, size, layout, value, TMAPI_STORE_BAND,
                                 TMAP_PAIRS_STORE_THREADS, tmapi_store_vectors(size, d), kernel,
                                 out);
}

// As tmap_pairs_launch, for a kernel that calls tmap_pairs_store or tmap_pairs_store_sums: a plan of
// another kind is refused with cudaErrorInvalidValue.
static inline cudaError_t tmap_pairs_store_launch(const tmap_pairs_plan *plan, const void *job,
                                                  cudaStream_t stream) {
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_STORE, job, stream);
}

// Sets how many values, or words of 32 bits, lie from one row of a square or lower matrix to the
// next: at least a row's own, and at most TMAP_PAIRS_STORE_MAX; 0 goes back to just these. It may
// be any number; sets then lie `rows` of them apart.
// Returns cudaErrorInvalidValue for a null pointer, a plan of another kind, and for numbers
// outside.
static inline cudaError_t tmap_pairs_store_plan_pitch(tmap_pairs_plan *plan, tmap_u64 pitch) {
    tmap_pairs_plan p;
    if (!plan || (plan->layout & TMAPI_PAIRS_LAYOUT) < TMAP_PAIRS_SQUARE)
        return cudaErrorInvalidValue;
    p = *plan, p.pitch = 0;
    tmapi_pairs_plan_rows_of(&p);
    if (pitch && (pitch < p.step || pitch > TMAP_PAIRS_STORE_MAX)) return cudaErrorInvalidValue;
    plan->pitch = pitch;
    tmapi_pairs_plan_rows_of(plan);
    return cudaSuccess;
}

#endif
#endif
