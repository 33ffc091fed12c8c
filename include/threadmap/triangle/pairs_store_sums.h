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
//     ... tmap_pairs_store_launch(&plan, &j, stream);
#ifndef TMAP_TRIANGLE_PAIRS_STORE_SUMS_H
#define TMAP_TRIANGLE_PAIRS_STORE_SUMS_H

#include "pairs_store.h"

// Threads of a block, and how many blocks of them a multiprocessor should hold at once.
#define TMAPI_STORE_SUMS_WARPS  8
#define TMAP_PAIRS_SUMS_THREADS (32u * TMAPI_STORE_SUMS_WARPS)
#define TMAP_PAIRS_SUMS_BLOCKS  2
// The largest sum, in bytes, and the most coordinates.
#define TMAP_PAIRS_SUM_MAX    16u
#define TMAP_PAIRS_SUMS_D_MAX 0x7fffffffu

// Vectors of a point that are staged at once: all of up to 10, which are as many as fit the shared
// memory that every GPU has, else equal pieces of 5 at most, of which one is computed with and the
// next one on its way.
#define TMAPI_STORE_STAGED 10u
TMAP_FN tmap_u32 tmapi_store_all(tmap_u32 size, tmap_u32 d) {
    return d / (16 / size) + (d % (16 / size) != 0);
}
TMAP_FN tmap_u32 tmapi_store_piece(tmap_u32 all) {
    const tmap_u32 pieces = (all - 1) / (TMAPI_STORE_STAGED / 2) + 1;
    return all <= TMAPI_STORE_STAGED ? all : (all - 1) / pieces + 1;
}

// Points along a tile. Large tiles cost less a pair where a tile has little to compute, and too
// many blocks are idle at the end where there are few of them.
#ifndef TMAPI_STORE_LARGE
#define TMAPI_STORE_LARGE 8192u // points from which on tiles are large; tests set it lower
#endif
TMAP_FN tmap_u32 tmapi_store_side(tmap_u32 n, tmap_u32 all) {
    return all <= 4 && n >= TMAPI_STORE_LARGE ? 2 * TMAPI_STORE_BAND : TMAPI_STORE_BAND;
}

#if TMAP_CUDA

typedef void (*tmap_pairs_start)(void *job, void *sum);
// a, b: 16 bytes of the coordinates of point i and of point j, 4 floats or 2 doubles, the same
// ones; 0 beyond the last coordinate, as often as the compiler needs them. All functions are
// __device__ functions without barriers and collectives.
typedef void (*tmap_pairs_add)(void *job, void *sum, const void *a, const void *b);
typedef void (*tmap_pairs_part)(void *job, void *sum);
typedef void (*tmap_pairs_finish)(void *job, tmap_pair pair, const void *sum, void *value);

// How a value is computed: start, then add for all of the coordinates in an order that is the same
// for every pair of points, then finish. All of them may also be called for pairs that do not
// exist, whose values go nowhere.
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

// The values of 8 rows from their sums, and to memory. full: whether all rows are; else 8 values at
// a time by the same instructions, as there are many.
TMAP_DEVICE void tmapi_store_finish(const tmapi_store *s, tmapi_store_strip strip, const int full,
                                    tmap_pairs_finish finish, void *job,
                                    tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_values(s->bytes), bytes = s->bytes ? s->bytes : 4;
    const tmap_u32 rows = full ? TMAPI_STORE_ROWS : 8 / s->wide;
#pragma unroll 1
    for (tmap_u32 part = 0; part < TMAPI_STORE_ROWS / rows; ++part) {
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_STORE_ROWS; ++r) {
            tmapi_store_out out;
            tmap_pair pair;
            if (r >= rows) break;
            pair.i = (tmap_u32)strip.i;
#pragma unroll
            for (tmap_u32 c = 0; c < s->wide; ++c) {
                pair.j = (tmap_u32)(strip.j + tmapi_store_column((int)v, c));
                finish(job, pair, sums[r][c].bytes, out.bytes + c * bytes);
            }
            tmapi_store_write(s, &strip, full, &out);
            tmapi_store_next(s, &strip);
        }
#pragma unroll
        for (tmap_u32 x = 0; x < (TMAPI_STORE_ROWS - rows) * s->wide; ++x) // the next ones
            sums[x / s->wide][x % s->wide] = sums[x / s->wide + rows][x % s->wide];
    }
}

// How sums are computed: the user's functions, and more ways to add, of which all threads take
// number `way`; 0 is the sum's own.
typedef struct tmapi_store_ways {
    const tmap_pairs_sum *sum;
    tmap_pairs_add add[2];
    int way;
    void *job;
} tmapi_store_ways;

// Adds a vector of the coordinates, whose plane begins `at` bytes from the first one's, to the sums
// of 8 rows.
TMAP_DEVICE void tmapi_store_add(const tmapi_store *s, const tmapi_store_strip *strip, tmap_u32 at,
                                 const tmapi_value *columns, tmap_pairs_add add, void *job,
                                 tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_STORE_ROWS; ++r) {
        tmapi_value row;
        tmapi_value_copy(row.bytes, strip->rows + r * (TMAPI_STORE_PERIOD * 16) + at, 16);
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c)
            add(job, sums[r][c].bytes, row.bytes, columns[c].bytes);
    }
}

// Adds vectors from .. to - 1, of which there is at least one. One at a time: unrolled, the code no
// longer fits the instruction cache. The last one first, which takes fewer registers.
TMAP_DEVICE void tmapi_store_add_all(const tmapi_store *s, const tmapi_store_strip *strip,
                                     tmap_u32 from, tmap_u32 to, const tmapi_store_ways *w,
                                     tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_values(s->bytes);
    const tmap_u32 plane = tmapi_store_plane(s->side, s->bytes);
#pragma unroll 1
    do {
        const tmap_u32 at = --to * plane;
        tmapi_value columns[TMAPI_STORE_WIDEST];
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c)
            tmapi_value_copy(columns[c].bytes, TMAPI_STORE_COLUMN(strip, v, c) + at, 16);
        if (w->way == 0)
            tmapi_store_add(s, strip, at, columns, w->sum->add, w->job, sums);
        else if (w->way == 1)
            tmapi_store_add(s, strip, at, columns, w->add[0], w->job, sums);
        else
            tmapi_store_add(s, strip, at, columns, w->add[1], w->job, sums);
    } while (to > from);
}

// Adds the staged vectors first .. first + here - 1 of a point, of `all`, with a part after each
// period.
TMAP_DEVICE void tmapi_store_add_parts(const tmapi_store *s, const tmapi_store_strip *strip,
                                       tmap_u32 first, tmap_u32 here, tmap_u32 all,
                                       const tmapi_store_ways *w,
                                       tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 period = w->sum->part ? w->sum->period / (16 / s->size) : 1;
    tmap_u32 from = 0;
#pragma unroll 1
    do {
        tmap_u32 to = here;
        if (w->sum->part) {
            const tmap_u32 next = from + period - ((first + from) & (period - 1));
            to = next < here ? next : here;
        }
        tmapi_store_add_all(s, strip, from, to, w, sums);
        if (w->sum->part && ((first + to) & (period - 1)) == 0 && first + to < all) {
#pragma unroll
            for (tmap_u32 x = 0; x < TMAPI_STORE_ROWS * s->wide; ++x)
                w->sum->part(w->job, sums[x / s->wide][x % s->wide].bytes);
        }
        from = to;
    } while (w->sum->part && from < here);
}

TMAP_DEVICE void tmapi_store_start(const tmapi_store *s, const tmapi_store_ways *w,
                                   tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
#pragma unroll
    for (tmap_u32 x = 0; x < TMAPI_STORE_ROWS * s->wide; ++x)
        w->sum->start(w->job, sums[x / s->wide][x % s->wide].bytes);
}

// A tile. Points that are staged in one piece are staged once, for all strips; else each strip
// goes through all pieces, the next of which is always on its way. Collective for the block.
TMAP_DEVICE void tmapi_store_sums(const tmapi_store *s, unsigned char *staged,
                                  const tmapi_store_scale *scale, const tmapi_store_ways *w) {
    const tmap_u32 per = 16 / s->size, all = tmapi_store_all(s->size, s->d);
    const tmap_u32 piece = tmapi_store_piece(all), strips = tmapi_store_strips(s);
    tmapi_store_sum sums[TMAPI_STORE_ROWS][TMAPI_STORE_WIDEST];
    const tmap_u32 other = piece < all ? piece * tmapi_store_plane(s->side, s->bytes) : 0;
    tmap_u32 turn = 0, k = all; // the strip, and the vector of its points, none at first
    tmap_u32 at = other;        // of what is computed with, in shared memory
    tmapi_store_start(s, w, sums);
#pragma unroll 1
    for (;;) {
        const tmap_u32 then = k + piece < all ? k + piece : 0;
        const int more = k == all || (piece < all && (then || turn + 1 < strips));
        if (more) tmapi_store_stage(s, 1, then * per, piece, staged + (other - at));
        if (k < all) {
            tmapi_store_strip strip = tmapi_store_strip_make(s, turn, staged + at);
            tmapi_store_add_parts(s, &strip, k, all - k < piece ? all - k : piece, all, w, sums);
            if (!then) {
                strip = tmapi_store_strip_make(s, tmapi_store_again(turn), staged);
                if (strip.full == TMAPI_STORE_ROWS)
                    tmapi_store_finish(s, strip, 1, w->sum->finish, w->job, sums);
                else
                    tmapi_store_finish(s, strip, 0, w->sum->finish, w->job, sums);
                if (++turn == strips) return;
                tmapi_store_start(s, w, sums);
            }
        }
        if (more) { // all are through with what was before it
            at = other - at;
            if (k == all && piece < all && scale->length != 0) tmapi_store_measure(s, scale);
            tmapi_store_ready(s, piece == all, then * per, piece, scale, staged + at);
        }
        k = then;
    }
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
    const tmapi_store_scale none = {0, 0, 0, 0};
    const tmapi_store_ways ways = {sum, {sum->add, sum->add}, 0, job};
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        const tmapi_store s =
            tmapi_store_make(plan, (tmap_u32)plan->first + t, plan->side, TMAPI_STORE_SUMS_WARPS, 4,
                             points, others, size, plan->d, bytes, out);
        tmapi_store_sums(&s, staged, &none, &ways);
        __syncthreads(); // before the next tile's points come
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// The plan of such a kernel. d: 1 to TMAP_PAIRS_SUMS_D_MAX. kernel: a __global__ function of
// TMAP_PAIRS_SUMS_THREADS threads. All else: as for tmap_pairs_store_plan_make; but where there are
// many points of few coordinates, tiles are of 256 x 256 pairs.
// Example: tmap_pairs_store_sums_plan_make(4096, 300, 4, TMAP_PAIRS_LOWER, 4, kernel, &plan).
static inline cudaError_t tmap_pairs_store_sums_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                          tmap_u32 layout, tmap_u32 value,
                                                          const void *kernel,
                                                          tmap_pairs_plan *out) {
    const tmap_u32 all = d && (size == 4 || size == 8) ? tmapi_store_all(size, d) : 1;
    const tmap_u32 pieces = all > TMAPI_STORE_STAGED ? 2 : 1; // that are staged
    if (d > TMAP_PAIRS_SUMS_D_MAX) return cudaErrorInvalidValue;
    return tmapi_store_plan_make(n, d, size, layout, value, tmapi_store_side(n, all),
                                 TMAP_PAIRS_SUMS_THREADS, pieces * tmapi_store_piece(all), kernel,
                                 out);
}

#endif
#endif
