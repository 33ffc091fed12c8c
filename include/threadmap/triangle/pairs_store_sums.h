// SPDX-License-Identifier: MIT
// pairs_store_sums.h: a value for each pair of points of any number of coordinates, which come by
// 64 bytes at a time: a sum (or a maximum, or a few sums) of what the coordinates give.
//
//     typedef struct dot_job { const float *points; float *out; } dot_job;
//     static __device__ void start(void *job, void *sum) { *(float *)sum = 0; }
//     static __device__ void add(void *job, void *sum, const void *a, const void *b) {
//         const float *u = (const float *)a, *v = (const float *)b;
//         for (int k = 0; k < 4; ++k) *(float *)sum += u[k] * v[k];
//     }
//     static __device__ void finish(void *job, tmap_pair pair, const void *sum, void *value) {
//         *(float *)value = *(const float *)sum;
//     }
//     __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS)
//     products(tmap_pairs_plan plan, dot_job j) {
//         const tmap_pairs_sum sum = {start, add, 0, finish, sizeof(float), 0};
//         tmap_pairs_store_sums(&plan, j.points, 0, sizeof(float), &sum, sizeof(float),
//                               j.out, &j);
//     }
//     ... tmap_pairs_store_sums_plan_make(n, d, sizeof(float), TMAP_PAIRS_CONDENSED,
//                                         sizeof(float), (const void *)products, &plan);
//     ... tmap_pairs_launch(&plan, &j, stream);
#ifndef TMAP_TRIANGLE_PAIRS_STORE_SUMS_H
#define TMAP_TRIANGLE_PAIRS_STORE_SUMS_H

#include "pairs_store.h"

// Threads of a block, and how many blocks of them a multiprocessor should hold at once.
#define TMAP_PAIRS_SUMS_THREADS 256u
#define TMAP_PAIRS_SUMS_BLOCKS  2
// The largest sum, in bytes, and the most coordinates.
#define TMAP_PAIRS_SUM_MAX    16u
#define TMAP_PAIRS_SUMS_D_MAX 0x7fffffffu

#if TMAP_CUDA

typedef void (*tmap_pairs_start)(void *job, void *sum);
// a, b: 16 bytes of the coordinates of point i and of point j, 4 floats or 2 doubles, the same
// ones; 0 beyond the last coordinate, as often as the compiler needs them. All functions are
// __device__ functions without barriers and collectives.
typedef void (*tmap_pairs_add)(void *job, void *sum, const void *a, const void *b);
typedef void (*tmap_pairs_part)(void *job, void *sum);
typedef void (*tmap_pairs_finish)(void *job, tmap_pair pair, const void *sum, void *value);

// How a value is computed: start, then add for all of the coordinates in an order that is the same
// for every pair of points, then finish.
typedef struct tmap_pairs_sum {
    tmap_pairs_start start;
    tmap_pairs_add add;
    tmap_pairs_part part; // or 0: called after each `period` coordinates but the last
    tmap_pairs_finish finish;
    tmap_u32 bytes;  // of a sum, a constant, a multiple of 4 up to TMAP_PAIRS_SUM_MAX
    tmap_u32 period; // a power of two, 64 bytes of coordinates or more; need be no constant
} tmap_pairs_sum;

typedef struct tmapi_store_sum {
    alignas(16) unsigned char bytes[TMAP_PAIRS_SUM_MAX];
} tmapi_store_sum;

// Adds `vectors` vectors of the coordinates to the sums of 8 rows. One at a time: unrolled, the
// code no longer fits the instruction cache. The last one first, which takes fewer registers.
TMAP_DEVICE void tmapi_store_add(const tmapi_store *s, const tmapi_store_shape f,
                                 const tmapi_store_strip *strip, int vectors, tmap_pairs_add add,
                                 void *job, tmapi_store_sum (*sums)[TMAPI_STORE_WIDE]) {
    const tmap_u32 v = tmapi_store_values(s->bytes);
    const int places = ((int)f.side + (int)tmapi_store_before(s->bytes) + 1) * 16;
#pragma unroll 1
    for (int k = vectors - 1; k >= 0; --k) {
        tmapi_value row, columns[TMAPI_STORE_WIDE];
#pragma unroll
        for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
            if (c < f.wide)
                tmapi_value_copy(columns[c].bytes, TMAPI_STORE_COLUMN(strip, v, c) + k * places,
                                 16);
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_STORE_ROWS; ++r) {
            tmapi_value_copy(row.bytes,
                             strip->rows + (r * TMAPI_STORE_PERIOD * f.vectors + (tmap_u32)k) * 16,
                             16);
#pragma unroll
            for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
                if (c < f.wide) add(job, sums[r][c].bytes, row.bytes, columns[c].bytes);
        }
    }
}

// The values of 8 rows from their sums, and to memory: half of them, and the other half by the
// same instructions, as there are many.
TMAP_DEVICE void tmapi_store_finish(const tmapi_store *s, const tmapi_store_shape f,
                                    tmapi_store_strip strip, tmap_pairs_finish finish, void *job,
                                    tmapi_store_sum (*sums)[TMAPI_STORE_WIDE]) {
    const tmap_u32 v = tmapi_store_values(s->bytes), bytes = s->bytes ? s->bytes : 4;
    const tmap_u32 half = TMAPI_STORE_ROWS / 2;
#pragma unroll 1
    for (tmap_u32 part = 0; part < 2; ++part) {
#pragma unroll
        for (tmap_u32 r = 0; r < half; ++r) {
            const tmapi_store_bits bits = tmapi_store_bits_of(s, &strip, f.wide);
            tmapi_store_out out;
            tmap_pair pair;
            pair.i = (tmap_u32)strip.i;
#pragma unroll
            for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c) {
                if (c >= f.wide) break;
                pair.j = (tmap_u32)(strip.j + tmapi_store_column((int)v, c));
                tmapi_value_zero(out.bytes + c * bytes, bytes);
                if (bits.wanted >> c & 1)
                    finish(job, pair, sums[r][c].bytes, out.bytes + c * bytes);
                sums[r][c] = sums[half + r][c];
            }
            tmapi_store_write(s, &strip, f.wide, bits.placed, &out);
            tmapi_store_next(s, &strip);
        }
    }
}

// A tile. add1, add2: more ways to add, of which all threads take number `way`; 0 is the sum's
// own. scale: as for tmapi_store_stage. Collective for the block.
TMAP_DEVICE void tmapi_store_sums(const tmapi_store *s, const tmapi_store_shape f,
                                  unsigned char *staged, const double *scale,
                                  const tmap_pairs_sum *sum, tmap_pairs_add add1,
                                  tmap_pairs_add add2, int way, void *job) {
    const tmap_u32 per = 16 / s->size, width = f.vectors * per;
    tmap_u32 first = ~0u; // coordinate that is staged
#pragma unroll 1
    for (int y = (int)(threadIdx.x / 32); y < TMAPI_STORE_PERIOD; y += (int)f.warps) {
        const int shift = tmapi_store_shift(s, s->row + y);
        const tmapi_store_strip strip = tmapi_store_strip_make(s, f, y, shift, staged);
        tmapi_store_sum sums[TMAPI_STORE_ROWS][TMAPI_STORE_WIDE];
        tmap_u32 k = 0;
#pragma unroll
        for (tmap_u32 x = 0; x < TMAPI_STORE_ROWS * TMAPI_STORE_WIDE; ++x)
            sum->start(job, sums[x / TMAPI_STORE_WIDE][x % TMAPI_STORE_WIDE].bytes);
        for (;; k += width) {
            const tmap_u32 left = s->d - k < width ? s->d - k : width;
            const int vectors = (int)((left + per - 1) / per);
            if (k != first) {
                if (first != ~0u) __syncthreads(); // all are through with the last ones
                tmapi_store_stage(s, f, 1, k, scale, staged);
                first = k;
            }
            if (sum->part && k && (k & (sum->period - 1)) == 0) {
#pragma unroll
                for (tmap_u32 x = 0; x < TMAPI_STORE_ROWS * TMAPI_STORE_WIDE; ++x)
                    sum->part(job, sums[x / TMAPI_STORE_WIDE][x % TMAPI_STORE_WIDE].bytes);
            }
            if (way == 0)
                tmapi_store_add(s, f, &strip, vectors, sum->add, job, sums);
            else if (way == 1)
                tmapi_store_add(s, f, &strip, vectors, add1, job, sums);
            else
                tmapi_store_add(s, f, &strip, vectors, add2, job, sums);
            if (s->d - k <= width) break;
        }
        tmapi_store_finish(s, f, strip, sum->finish, job, sums);
    }
}

// A tile of 128 x 128 points, 4 columns a lane, 8 warps, 64 bytes of coordinates.
TMAP_DEVICE tmapi_store_shape tmapi_store_shape_any(void) {
    tmapi_store_shape f;
    f.side = 128, f.wide = 4, f.warps = TMAP_PAIRS_SUMS_THREADS / 32;
    f.vectors = TMAPI_STORE_VECTORS;
    return f;
}

// Writes the value of every pair of the plan's share to its place in the output, of which nothing
// else is touched. All threads of all blocks call it, with the same arguments, in blocks of
// TMAP_PAIRS_SUMS_THREADS threads.
// plan: one of tmap_pairs_store_sums_plan_make; it says how many coordinates there are. points:
// the plan's points in device memory, at a multiple of `size`; at one of 16, and of so many
// coordinates that they are a multiple of 16 bytes, they come faster. others: the second set, or
// 0. size, bytes: the plan's, as constants. sum: how a value is computed; all but its period are
// constants. out: as for tmap_pairs_store.
// Cost: for each pair and 16 bytes of coordinates what add costs, and a third of an instruction
// for each 4 bytes; for each pair what finish costs, about 4 instructions, and a store.
TMAP_DEVICE void tmap_pairs_store_sums(const tmap_pairs_plan *plan, const void *points,
                                       const void *others, tmap_u32 size, const tmap_pairs_sum *sum,
                                       tmap_u32 bytes, void *out, void *job) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    unsigned char *staged = (unsigned char *)tmapi_pairs_shared;
    const tmapi_store_shape f = tmapi_store_shape_any();
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        const tmapi_store s = tmapi_store_make(plan, (tmap_u32)plan->first + t, f, points, others,
                                               size, plan->d, bytes, out);
        tmapi_store_sums(&s, f, staged, 0, sum, sum->add, sum->add, 0, job);
        __syncthreads(); // before the next tile's points come
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// The plan of such a kernel. d: 1 to TMAP_PAIRS_SUMS_D_MAX. kernel: a __global__ function of
// TMAP_PAIRS_SUMS_THREADS threads. All else: as for tmap_pairs_store_plan_make.
// Example: tmap_pairs_store_sums_plan_make(4096, 300, 4, TMAP_PAIRS_LOWER, 4, kernel, &plan).
static inline cudaError_t tmap_pairs_store_sums_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                          tmap_u32 layout, tmap_u32 value,
                                                          const void *kernel,
                                                          tmap_pairs_plan *out) {
    if (d > TMAP_PAIRS_SUMS_D_MAX) return cudaErrorInvalidValue;
    return tmapi_store_plan_make(n, d, size, layout, value, 128, TMAP_PAIRS_SUMS_THREADS,
                                 TMAPI_STORE_VECTORS, kernel, out);
}

#endif
#endif
