// SPDX-License-Identifier: MIT
// pairs_store.h: stores a value for each pair of n points, in full memory sectors.
//
//     __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, TMAP_PAIRS_STORE_BLOCKS)
//     distances(tmap_pairs_plan plan, my_job j) { // value: your function
//         const tmap_points points = {j.points, 0, sizeof(float), 3};
//         tmap_pairs_store(&plan, points, value, sizeof(float), j.out, &j);
//     }
//     ... const tmap_pairs_store_shape shape = {n, 3, sizeof(float), TMAP_PAIRS_CONDENSED,
//                                               sizeof(float)};
//     ... tmap_pairs_store_plan_make(shape, (const void *)distances, &plan);
//     ... cudaMalloc(&j.out, tmap_pairs_store_bytes(&plan));
//     ... tmap_pairs_store_launch(&plan, &j, stream); // samples/triangle/18_own_metric.cu
//
// A value is 4 or 8 bytes of any type, or one bit: whether a pair is an edge of a graph. The
// adjacency matrix is then rows of 32-bit words. tmap_pairs_store takes points of up to 8
// coordinates, tmap_pairs_store_sums of any number.
//
// Writing full sectors of 32 bytes costs less than half of writing parts of them. The rows of a
// condensed matrix begin anywhere in a sector, but the offset repeats every 16 rows, as i(i+1)/2
// modulo 8 does and as in a matrix of any pitch. So a warp takes every 16th row of a tile. It holds
// 4 columns a lane in registers, shifted once for all of these rows to where the sectors begin.
// Tiles therefore end at sector boundaries, not at multiples of 128 columns.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_H
#define TMAP_TRIANGLE_PAIRS_STORE_H

#include "pairs_store_tiles.h"

#if TMAP_CUDA

// ---- a value for each pair ----------------------------------------------------------------------

// Your function: writes the value of a pair to *value, `bytes` bytes of the plan; for
// TMAP_PAIRS_BIT a 32-bit 0 or not 0. pair: i and j within the set, whose number is
// tmap_pairs_set(a). Condensed matrices: i < j only. Square matrices (and two sets): every (i, j),
// also i = j and i > j. Lower ones: j <= i, also i = j. The value of (i, i) need not be 0, nor that
// of (i, j) equal to that of (j, i). a, b: points i and j, copies of their d coordinates.
typedef void (*tmap_pairs_value)(void *job, tmap_pair pair, const void *a, const void *b,
                                 void *value);

typedef tmapi_pairs_point tmapi_store_whole; // of 16 * TMAPI_STORE_VECTORS bytes

// Reads a complete point, whose vectors are `plane` bytes apart.
TMAP_DEVICE void tmapi_store_get(const tmapi_store *s, const unsigned char *from, tmap_u32 plane,
                                 unsigned char *point) {
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_STORE_VECTORS; ++k)
        if (k * 16 < s->d * s->size) tmapi_value_copy(point + 16 * k, from + k * plane, 16);
}

// Computes a lane's values of a row of a strip.
typedef void (*tmapi_store_row_do)(const tmapi_store *s, const tmapi_store_strip *strip, int full,
                                   const tmapi_pairs_row *row, const tmapi_store_whole *columns,
                                   tmapi_store_out *out, void *context);

// Computes the full rows of a strip, which are its first ones, or its other rows. full: a constant.
TMAP_DEVICE void tmapi_store_rows(const tmapi_store *s, tmapi_store_strip strip, const int full,
                                  tmapi_store_row_do values, void *context) {
    const tmap_u32 v = tmapi_store_together(s), plane = tmapi_store_plane(s->side, s->bytes);
    tmapi_store_whole columns[TMAPI_STORE_WIDE];
    tmapi_pairs_row row;
    row.set = s->set;
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
        tmapi_store_get(s, TMAPI_STORE_COLUMN(&strip, v, c), plane, columns[c].bytes);
#pragma unroll 1
    for (int r = 0; full ? strip.full > 0 : r < TMAPI_STORE_ROWS; ++r) {
        if (!full) __syncwarp(); // or the compiler makes a loop for each metric and each layout
        if (!full && strip.i >= s->rows) break;
        if (full || strip.full <= 0) {
            tmapi_store_out out;
            tmapi_store_get(s, strip.rows, plane, row.bytes);
            values(s, &strip, full, &row, columns, &out, context);
            tmapi_store_write(s, &strip, full, &out);
        }
        tmapi_store_next(s, &strip);
    }
}

// Computes all strips of a tile whose points are staged. A strip is built again for its rows that
// are not full, so that the full rows have all registers.
TMAP_DEVICE void tmapi_store_each(const tmapi_store *s, const unsigned char *staged,
                                  tmapi_store_row_do values, void *context) {
#pragma unroll 1
    for (tmap_u32 turn = 0; turn < tmapi_store_strips(s); ++turn) {
        tmapi_store_strip strip = tmapi_store_strip_make(s, turn, staged);
        const int edges = strip.full < TMAPI_STORE_ROWS;
        if (strip.full > 0) tmapi_store_rows(s, strip, 1, values, context);
        if (!edges) continue;
        strip = tmapi_store_strip_make(s, tmapi_again(turn), staged);
        tmapi_store_rows(s, strip, 0, values, context);
    }
}

typedef struct tmapi_store_value {
    tmap_pairs_value value;
    void *job;
} tmapi_store_value;

// Calls your function only for pairs that exist in the output.
TMAP_DEVICE void tmapi_store_value_row(const tmapi_store *s, const tmapi_store_strip *strip,
                                       int full, const tmapi_pairs_row *row,
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
        const int j = strip->j + tmapi_store_column((int)tmapi_store_together(s), c);
        pair.j = (tmap_u32)j;
        if (!full) tmapi_value_zero(out->bytes + c * bytes, bytes);
        if (full || (j >= first && j < end && !(s->hollow && j == strip->i)))
            v->value(v->job, pair, row->bytes, columns[c].bytes, out->bytes + c * bytes);
    }
}
// 1 if a call fits the plan: tmapi_pairs_check, and the number of threads that tells the two
// engines apart.
TMAP_DEVICE int tmapi_store_check(const tmap_pairs_plan *plan, tmap_points points, tmap_u32 bytes,
                                  tmap_u32 threads, const char *function) {
    return tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_STORE, function) &&
           tmapi_pairs_check_plan(plan->block, threads, function) &&
           TMAPI_CHECK(plan->value == bytes, function, "bytes is not the plan's");
}

// Writes value(job, pair, a, b, &value) for every pair of the plan's share to its position in the
// output, and leaves the rest of the output unchanged. All threads of all blocks call it, with the
// same arguments, in blocks of TMAP_PAIRS_STORE_THREADS threads. plan: of
// tmap_pairs_store_plan_make. value: a __device__ function without barriers or collectives, called
// for (i, i) and i > j too in a square matrix, for i >= j in a lower one (tmap_pairs_value). bytes:
// of a value, the plan's, a constant. out: tmap_pairs_store_bytes(plan) bytes of device memory at a
// multiple of `bytes`, for bits of 4, that do not overlap the points. Bits after a row's last
// column, and in a lower matrix those of a word after the diagonal, become 0.
// Errors: as tmap_pairs_each. Cost: for each pair, value, about 2.5 instructions and a store. For
// points of more than 16 bytes, omit the second number of __launch_bounds__.
TMAP_DEVICE void tmap_pairs_store(const tmap_pairs_plan *plan, tmap_points points,
                                  tmap_pairs_value value, tmap_u32 bytes, void *out, void *job) {
    unsigned char *staged = tmapi_pairs_memory();
    const tmap_u32 planes = tmapi_store_vectors(points.size, points.d);
    if (!tmapi_store_check(plan, points, bytes, TMAP_PAIRS_STORE_THREADS, "tmap_pairs_store"))
        return;
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        const tmapi_store s = tmapi_store_make(plan, (tmap_u32)plan->first + t, TMAPI_STORE_BAND,
                                               TMAPI_STORE_WARPS, 1, points, bytes, out);
        const tmapi_store_scale none = {0, 0, 0};
        tmapi_store_value v = {value, job};
        tmapi_store_stage(&s, 0, 0, planes, staged);
        tmapi_store_ready(&s, 1, 0, planes, &none, staged);
        tmapi_store_each(&s, staged, tmapi_store_value_row, &v);
        __syncthreads(); // before the next tile's points arrive
    }
}

// ---- sums over any number of coordinates --------------------------------------------------------
//
// A value is made from a sum (or a maximum, or a few sums) over the coordinates, 16 bytes of them
// at a time.
//
//     static __device__ void start(void *job, void *sum) { *(float *)sum = 0; }
//     static __device__ void add(void *job, void *sum, const void *a, const void *b) {
//         const float *u = (const float *)a, *v = (const float *)b;
//         for (int k = 0; k < 4; ++k) *(float *)sum += u[k] * v[k];
//     }
//     static __device__ void finish(void *job, tmap_pair pair, const void *sum, void *value) {
//         *(float *)value = *(const float *)sum;
//     }
//     const tmap_pairs_sum sum = {start, add, 0, finish, sizeof(float), 0}; // in a kernel
//     tmap_pairs_store_sums(&plan, points, sum, sizeof(float), j.out, &j);
//     ... tmap_pairs_store_sums_plan_make(shape, (const void *)products, &plan);

// Sets a sum before its first coordinate. Your four functions have no barriers or collectives.
typedef void (*tmap_pairs_start)(void *job, void *sum);
// Adds 16 bytes of coordinates to a sum. a, b: the same 4 floats or 2 doubles of point i and of
// point j; 0 after the last coordinate, so a function that divides tests the divisor.
typedef void (*tmap_pairs_add)(void *job, void *sum, const void *a, const void *b);
// Ends a part of a sum, after each `period` coordinates except the last.
typedef void (*tmap_pairs_part)(void *job, void *sum);
// Writes the value of a pair from its sum. pair: i and j within the set.
typedef void (*tmap_pairs_finish)(void *job, tmap_pair pair, const void *sum, void *value);

// How a value is computed: start, then add for all coordinates in an order that is the same for
// every pair, then finish. Loops over the parts of a sum need constant bounds: else it is not held
// in registers. The matrix decides which pairs exist, as for tmap_pairs_value, (i, i) and i > j
// included; the functions may also be called for pairs that do not exist, whose values are dropped.
typedef struct tmap_pairs_sum {
    tmap_pairs_start start;
    tmap_pairs_add add;
    tmap_pairs_part part; // or 0: called after each `period` coordinates except the last
    tmap_pairs_finish finish;
    tmap_u32 bytes;  // of a sum, a constant: a multiple of 4, 4 to TMAP_PAIRS_SUM_MAX; of more than
                     // 16, the plan's (tmap_pairs_store_plan_sum)
    tmap_u32 period; // coordinates, a power of two, 64 bytes or more; need not be constant
} tmap_pairs_sum;

// A sum of up to 16 bytes, or a part of a larger one.
typedef struct tmapi_store_sum {
    alignas(16) unsigned char bytes[TMAPI_STORE_SUM_FEW];
} tmapi_store_sum;

// The sum of row r and column c among those of a lane, which are contiguous if they are large.
TMAP_DEVICE unsigned char *tmapi_store_sum_at(const tmapi_store *s,
                                              tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST],
                                              tmap_u32 r, tmap_u32 c) {
    return s->sum ? sums[0][0].bytes + (r * s->wide + c) * s->sum : sums[r][c].bytes;
}

// Copies sum number `from` of a lane to number `to`, both of `parts` parts.
TMAP_DEVICE void tmapi_store_sum_copy(tmapi_store_sum *sums, tmap_u32 to, tmap_u32 from,
                                      tmap_u32 parts) {
#pragma unroll
    for (tmap_u32 k = 0; k < parts; ++k) sums[to * parts + k] = sums[from * parts + k];
}

// Computes the values of a strip's rows from their sums and stores them. full: 1: all are full; 0:
// the same code stores 8 values at a time, or a row of large sums, because there is much of it.
TMAP_DEVICE void tmapi_store_finish(const tmapi_store *s, tmapi_store_strip strip, const int full,
                                    tmap_pairs_finish finish, void *job,
                                    tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_together(s), bytes = s->bytes ? s->bytes : 4;
    const tmap_u32 rows = s->tall < TMAPI_STORE_ROWS ? 1 : full ? TMAPI_STORE_ROWS : 8 / s->wide;
#pragma unroll 1
    for (tmap_u32 part = 0; part < s->tall / rows; ++part) {
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_STORE_ROWS; ++r) {
            tmapi_store_out out;
            tmap_pair pair;
            if (r >= rows) break;
            pair.i = (tmap_u32)strip.i;
#pragma unroll
            for (tmap_u32 c = 0; c < s->wide; ++c) {
                pair.j = (tmap_u32)(strip.j + tmapi_store_column((int)v, c));
                finish(job, pair, tmapi_store_sum_at(s, sums, r, c), out.bytes + c * bytes);
            }
            tmapi_store_write(s, &strip, full, &out);
            tmapi_store_next(s, &strip);
        }
#pragma unroll
        for (tmap_u32 x = 0; x < (s->tall - rows) * s->wide; ++x) { // the next ones
            if (s->sum)
                tmapi_store_sum_copy(sums[0], x, x + rows * s->wide, s->sum / 16);
            else
                sums[x / s->wide][x % s->wide] = sums[x / s->wide + rows][x % s->wide];
        }
    }
}

// How sums are computed: your functions, and the possible jobs of sum.add. All threads pass number
// `way` to it; the other functions receive jobs[0].
typedef struct tmapi_store_ways {
    tmap_pairs_sum sum;
    void *jobs[3];
    int way;
} tmapi_store_ways;

// Adds a vector of the coordinates, whose plane begins `at` bytes after the first one, to the sums
// of 8 rows.
TMAP_DEVICE void tmapi_store_add(const tmapi_store *s, const tmapi_store_strip *strip, tmap_u32 at,
                                 const tmapi_value *columns, tmap_pairs_add add, void *job,
                                 tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
#pragma unroll
    for (tmap_u32 r = 0; r < s->tall; ++r) {
        tmapi_value row;
        tmapi_value_copy(row.bytes, strip->rows + r * (TMAPI_STORE_PERIOD * 16) + at, 16);
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c)
            add(job, tmapi_store_sum_at(s, sums, r, c), row.bytes, columns[c].bytes);
    }
}

// Adds vectors from .. to - 1, at least one. One at a time: unrolled code would exceed the
// instruction cache. From the last one down, which takes fewer registers.
TMAP_DEVICE void tmapi_store_add_all(const tmapi_store *s, const tmapi_store_strip *strip,
                                     tmap_u32 from, tmap_u32 to, const tmapi_store_ways *w,
                                     tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_together(s);
    const tmap_u32 plane = tmapi_store_plane(s->side, s->bytes);
#pragma unroll 1
    do {
        const tmap_u32 at = --to * plane;
        tmapi_value columns[TMAPI_STORE_WIDEST];
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c)
            tmapi_value_copy(columns[c].bytes, TMAPI_STORE_COLUMN(strip, v, c) + at, 16);
        if (w->way == 0)
            tmapi_store_add(s, strip, at, columns, w->sum.add, w->jobs[0], sums);
        else if (w->way == 1)
            tmapi_store_add(s, strip, at, columns, w->sum.add, w->jobs[1], sums);
        else
            tmapi_store_add(s, strip, at, columns, w->sum.add, w->jobs[2], sums);
    } while (to > from);
}

// Starts all sums of a lane, or ends a part of them.
TMAP_DEVICE void tmapi_store_do_sums(const tmapi_store *s, tmap_pairs_part what, void *job,
                                     tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
#pragma unroll
    for (tmap_u32 x = 0; x < s->tall * s->wide; ++x)
        what(job, tmapi_store_sum_at(s, sums, x / s->wide, x % s->wide));
}

// Adds the staged vectors first .. first + here - 1, of `all` vectors of a point, and ends a part
// after each period.
TMAP_DEVICE void tmapi_store_add_parts(const tmapi_store *s, const tmapi_store_strip *strip,
                                       tmap_u32 first, tmap_u32 here, tmap_u32 all,
                                       const tmapi_store_ways *w,
                                       tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 period = w->sum.part ? w->sum.period / (16 / s->size) : 1;
    tmap_u32 from = 0;
#pragma unroll 1
    do {
        tmap_u32 to = here;
        if (w->sum.part) {
            const tmap_u32 next = from + period - ((first + from) & (period - 1));
            to = next < here ? next : here;
        }
        tmapi_store_add_all(s, strip, from, to, w, sums);
        if (w->sum.part && ((first + to) & (period - 1)) == 0 && first + to < all)
            tmapi_store_do_sums(s, w->sum.part, w->jobs[0], sums);
        from = to;
    } while (w->sum.part && from < here);
}

// Computes a tile. Points that fit one piece are staged once for all strips; else each strip goes
// through all pieces, the next piece always in flight. Collective for the block.
TMAP_DEVICE void tmapi_store_sums(const tmapi_store *s, unsigned char *staged,
                                  const tmapi_store_scale *scale, const tmapi_store_ways *w) {
    const tmap_u32 per = 16 / s->size, all = tmapi_store_all(s->size, s->d);
    const tmap_u32 most =
        s->tall < TMAPI_STORE_ROWS ? TMAPI_STORE_STAGED_LARGE : TMAPI_STORE_STAGED;
    const tmap_u32 piece = tmapi_store_piece(all, most), strips = tmapi_store_strips(s);
    tmapi_store_sum sums[TMAPI_STORE_ROWS][TMAPI_STORE_WIDEST];
    const tmap_u32 other = piece < all ? piece * tmapi_store_plane(s->side, s->bytes) : 0;
    tmap_u32 turn = 0, k = all; // the strip; its vector, `all` before the first
    tmap_u32 at = other;        // where the current piece is in shared memory
    tmapi_store_do_sums(s, w->sum.start, w->jobs[0], sums);
#pragma unroll 1
    for (;;) {
        const tmap_u32 then = k + piece < all ? k + piece : 0;
        const int more = k == all || (piece < all && (then || turn + 1 < strips));
        if (more) tmapi_store_stage(s, 1, then * per, piece, staged + (other - at));
        if (k < all) {
            tmapi_store_strip strip = tmapi_store_strip_make(s, turn, staged + at);
            tmapi_store_add_parts(s, &strip, k, all - k < piece ? all - k : piece, all, w, sums);
            if (!then) {
                strip = tmapi_store_strip_make(s, tmapi_again(turn), staged);
                if (s->tall == TMAPI_STORE_ROWS && strip.full == TMAPI_STORE_ROWS)
                    tmapi_store_finish(s, strip, 1, w->sum.finish, w->jobs[0], sums);
                else
                    tmapi_store_finish(s, strip, 0, w->sum.finish, w->jobs[0], sums);
                if (++turn == strips) return;
                tmapi_store_do_sums(s, w->sum.start, w->jobs[0], sums);
            }
        }
        if (more) { // all threads have used what was there
            at = other - at;
            if (k == all && piece < all && scale->length != 0) tmapi_store_measure(s, scale);
            tmapi_store_ready(s, piece == all, then * per, piece, scale, staged + at);
        }
        k = then;
    }
}

// Writes the value of every pair of the plan's share to its position in the output, as
// tmap_pairs_store does, with blocks of TMAP_PAIRS_SUMS_THREADS threads. plan: of
// tmap_pairs_store_sums_plan_make, which gives the number of coordinates; points.d is ignored.
// points: copied faster if they are at a multiple of 16 and have a multiple of 16 bytes each. sum:
// all members but the period are constants; with sum.bytes outside its range, or above 16 where
// tmap_pairs_store_plan_sum has not said so, nothing is written. bytes, out: as for
// tmap_pairs_store.
// Cost: for each pair and 16 bytes of coordinates, add, and a third of an instruction for each 4
// bytes; for each pair, finish, about 4 instructions and a store.
TMAP_DEVICE void tmap_pairs_store_sums(const tmap_pairs_plan *plan, tmap_points points,
                                       tmap_pairs_sum sum, tmap_u32 bytes, void *out, void *job) {
    const tmapi_store_scale none = {0, 0, 0};
    const tmapi_store_ways ways = {sum, {job, job, job}, 0};
    const tmap_points of_plan = {points.a, points.b, points.size, plan->d};
    const int large = sum.bytes > TMAPI_STORE_SUM_FEW;
    if (!tmapi_store_check(plan, of_plan, bytes, TMAP_PAIRS_SUMS_THREADS,
                           "tmap_pairs_store_sums") ||
        !TMAPI_CHECK(sum.bytes % 4 == 0 && sum.bytes - 4 <= TMAP_PAIRS_SUM_MAX - 4,
                     "tmap_pairs_store_sums", "sum.bytes is not a multiple of 4 from 4 to 256") ||
        !TMAPI_CHECK(large == (plan->side == TMAPI_STORE_SUM_SIDE), "tmap_pairs_store_sums",
                     "sum.bytes is not that of tmap_pairs_store_plan_sum"))
        return;
    if (large && (sum.bytes > TMAP_PAIRS_SUM_MAX || plan->side != TMAPI_STORE_SUM_SIDE)) return;
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        points.d = plan->d; // a number of the caller's would take more registers
        tmapi_store s = tmapi_store_make(plan, (tmap_u32)plan->first + t,
                                         large ? TMAPI_STORE_SUM_SIDE : plan->side,
                                         TMAPI_STORE_SUMS_WARPS, 4, points, bytes, out);
        if (large) {
            s.wide = TMAPI_STORE_SUM_WIDE, s.tall = tmapi_store_sum_rows(sum.bytes);
            s.sum = (sum.bytes + 15) / 16 * 16;
        }
        tmapi_store_sums(&s, tmapi_pairs_memory(), &none, &ways);
        __syncthreads(); // before the next tile's points arrive
    }
}

#endif // TMAP_CUDA

#endif
