// SPDX-License-Identifier: MIT
// pairs_rows.h: accumulates a few values for each of n points over all other points: forces,
// densities, sums of kernels. Each pair is visited once and adds to both of its points.
//
//     const tmap_points points = {j.bodies, 0, sizeof(float), 4}; // x, y, z, mass
//     const tmap_fold sums = {&zero, sizeof zero, join}; // adds two vec3
//     tmap_pairs_rows(&plan, points, pull, sums, j.to, &j); // in your kernel
//     ... tmap_pairs_rows_plan_make(n, 4, sizeof(float), sizeof(vec3), (const void *)pulls, &plan);
//     ... tmap_pairs_rows_launch(&plan, &j, stream); // j.to: a tmap_pairs_rows_to
//
// samples/triangle/17_gravity.cu is the complete program.
//
// Each tile of pairs writes a partial result for each of its points to memory. The block that
// writes the last partial result of a range of points joins all of them, in the order of the tiles.
// No two threads add to the same address, so results are the same in every bit whatever the grid.
#ifndef TMAP_TRIANGLE_PAIRS_ROWS_H
#define TMAP_TRIANGLE_PAIRS_ROWS_H

#include "pairs.h"

// Where results are written, in device memory.
typedef struct tmap_pairs_rows_to {
    void *workspace;     // tmap_pairs_rows_bytes bytes at a multiple of 16; the first
                         // tmap_pairs_rows_clear of them must be zero before the first launch;
                         // launches that overlap need one workspace each
    void *result;        // an accumulator for each point, one set after the other
    void *result_others; // the same for the second set; unused if there is none
} tmap_pairs_rows_to;

// ---- the plan -----------------------------------------------------------------------------------

// The most tiles along a side of the triangle: the partial results of a point. The sides of the
// smallest tiles, for few points (so that there are many tiles) and for more.
#define TMAPI_PAIRS_ROWS_ACROSS   128u
#define TMAPI_PAIRS_ROWS_SIDE_FEW 128u
#define TMAPI_PAIRS_ROWS_SIDE_MIN 256u
#define TMAPI_PAIRS_ROWS_FEW      6144u // points

// The side of tiles: 128 for few points, else 256 times a power of two.
TMAP_FN tmap_u32 tmapi_pairs_rows_side(tmap_u32 n) {
    tmap_u32 side = TMAPI_PAIRS_ROWS_SIDE_MIN;
    if (n <= TMAPI_PAIRS_ROWS_FEW) return TMAPI_PAIRS_ROWS_SIDE_FEW;
    while ((n - (n != 0)) / side >= TMAPI_PAIRS_ROWS_ACROSS) side *= 2;
    return side;
}

// The largest accumulator of a point, in bytes.
#define TMAP_PAIRS_ROWS_BYTES_MAX 256u

// The points j of a lane: the number that fits into registers.
TMAP_FN tmap_u32 tmapi_pairs_rows_mine(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 words = (d * size + bytes) / 4; // of a point and its accumulator
    return words <= 10 ? 8 : words <= 20 ? 4 : words <= 48 ? 2 : 1;
}

// Bytes of a block's shared memory: 64 points for each warp, reused for the accumulators of up to
// four points j of each thread.
TMAP_FN tmap_u32 tmapi_pairs_rows_shared(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 mine = tmapi_pairs_rows_mine(d, size, bytes);
    const tmap_u32 points = TMAP_PAIRS_THREADS * 2 * d * size;
    const tmap_u32 sums = TMAP_PAIRS_THREADS * (mine < 4 ? mine : 4) * bytes;
    return points > sums ? points : sums;
}

// The tile of an item. Only with a second set can a set have 2^32 tiles or more.
TMAP_FN tmapi_pairs_place tmapi_pairs_rows_place(const tmap_pairs_plan *plan, tmap_u64 item) {
    tmapi_pairs_place place;
    place.set = 0;
    if (plan->sets > 1) place.set = item / plan->tiles, item -= place.set * plan->tiles;
    if (plan->others)
        tmapi_pairs_tile_of(item, TMAP_PAIRS_SQUARE, plan->across, 0, 1, &place.i, &place.j);
    else
        tmapi_pairs_tile_of(item, TMAP_PAIRS_CONDENSED, plan->across, 0, 0, &place.i, &place.j);
    return place;
}

// Number of blocks of points in a set: those of the first set of points, then those of the second.
TMAP_FN tmap_u64 tmapi_pairs_rows_blocks(const tmap_pairs_plan *plan) {
    return (tmap_u64)tmapi_pairs_tiles(plan->n, plan->side) + (plan->others ? plan->across : 0);
}

// Bytes at the beginning of the workspace of tmap_pairs_rows that must be zero before its first
// launch: a counter for each block of points. Every launch leaves them zero. 0 for a plan of zeros.
TMAP_FN tmap_u64 tmap_pairs_rows_clear(const tmap_pairs_plan *plan) {
    if (!plan->side) return 0;
    return (8 * tmap_mul_saturate(tmapi_pairs_rows_blocks(plan), plan->sets) + 15) / 16 * 16;
}

// Bytes of the workspace of tmap_pairs_rows for accumulators of `bytes` bytes; saturates. It holds
// an accumulator for each row and each column of each tile of the share: at most 129 for each
// point, unless the second set has more points than the first. Shares that run one after the other
// may use the same memory. Example: n = 131072, accumulators of 12 bytes: 202900480 bytes; 1024 of
// them are cleared once.
TMAP_FN tmap_u64 tmap_pairs_rows_bytes(const tmap_pairs_plan *plan, tmap_u32 bytes) {
    const tmap_u64 parts = tmap_mul_saturate(plan->count, 2ull * plan->side * bytes);
    const tmap_u64 all = parts + tmap_pairs_rows_clear(plan);
    return all < parts ? ~0ull : all;
}

// Makes the plan of tmap_pairs_rows_plan_make from facts: as tmap_pairs_plan_of.
TMAP_FN int tmap_pairs_rows_plan_of(tmap_u32 n, tmap_u32 d, tmap_u32 size, tmap_u32 bytes,
                                    const tmap_facts *facts, tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    int error;
    if (!out || bytes < 4 || bytes > TMAP_PAIRS_ROWS_BYTES_MAX || bytes % 4) return TMAP_EINVAL;
    if ((error = tmap_pairs_plan_of(n, d, size, facts, &p)) != TMAP_OK) return error;
    p.shared = tmapi_pairs_rows_shared(d, size, bytes), p.value = bytes;
    p.kind = TMAP_PAIRS_KIND_ROWS, p.side = tmapi_pairs_rows_side(n), p.cut_most = 0;
    return tmapi_pairs_plan_end(&p, facts, out);
}

#if TMAP_CUDA && !TMAP_NVRTC

// Makes the plan of a kernel that calls tmap_pairs_rows with accumulators of `bytes` bytes. Range:
// bytes: a multiple of 4, 4 to TMAP_PAIRS_ROWS_BYTES_MAX. Other parameters, errors and cost: as
// tmap_pairs_plan_make. tmap_pairs_plan_rows, _others, _sets and _share may follow.
static inline cudaError_t tmap_pairs_rows_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                    tmap_u32 bytes, const void *kernel,
                                                    tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get(kernel, &facts);
    if (error) return error;
    return tmapi_pairs_plan_keep(tmap_pairs_rows_plan_of(n, d, size, bytes, &facts, &p), &p, kernel,
                                 out);
}

// Launches a kernel that calls tmap_pairs_rows, as tmap_pairs_launch does. Returns
// cudaErrorInvalidValue for a plan that tmap_pairs_rows_plan_make has not made.
static inline cudaError_t tmap_pairs_rows_launch(const tmap_pairs_plan *plan, tmap_job job,
                                                 cudaStream_t stream) {
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_ROWS, job, stream);
}

#endif

#if TMAP_CUDA

// ---- pairs of a tile ----------------------------------------------------------------------------
//
// A warp takes 32 points i and 32 m points j. Each lane holds m of the points j and their
// accumulators in registers. In each step lane l takes point i number (l + step) mod 32, which it
// reads from shared memory. The accumulators of the points i move from lane to lane: one shuffle
// for each word and m pairs. With m = 8 and three words this costs an instruction for each pair;
// accumulators in shared memory would cost two.

// Your function for a pair. pair, a, b: as tmap_pairs_visit. to_i, to_j: the accumulators of points
// i and j so far, to which the function adds what the pair contributes to each.
typedef void (*tmap_pairs_give)(void *job, tmap_pair pair, const void *a, const void *b, void *to_i,
                                void *to_j);

// An accumulator, which may be larger than that of a fold, and a copy of one.
typedef struct tmapi_give_words {
    alignas(16) tmap_u32 word[TMAP_PAIRS_ROWS_BYTES_MAX / 4];
} tmapi_give_words;

TMAP_DEVICE void tmapi_give_copy(void *to, const void *from, tmap_u32 bytes) {
#pragma unroll
    for (tmap_u32 k = 0; k < bytes / 4; ++k)
        ((tmapi_value_u32 *)to)[k] = ((const tmapi_value_u32 *)from)[k];
}

// What is constant in a launch. Sizes and functions are compile-time constants.
typedef struct tmapi_give {
    const tmap_pairs_plan *plan;
    tmap_points points;
    tmap_pairs_give give;
    tmap_fold fold;
    tmap_pairs_rows_to to;
    void *job;
    unsigned char *parts; // after the workspace's counters
    tmap_u32 mine, side;  // points j of a lane; points along a tile
} tmapi_give;

// Copies point x of the warp's 64 in shared memory, which are its 32 points i twice, so that the 32
// points from any lane on are contiguous. Stored in pieces of 16 bytes (then 8 and 4): a piece of
// all points, then the next, without bank conflicts. to_shared: 1: writes `point` as number x; 0:
// reads number x.
TMAP_DEVICE void tmapi_give_move(const tmapi_give *r, unsigned char *shared, tmap_u32 x,
                                 unsigned char *point, int to_shared) {
    const tmap_u32 bytes = r->points.d * r->points.size;
#pragma unroll
    for (tmap_u32 at = 0, width; at < bytes; at += width) {
        width = bytes - at >= 16 ? 16 : bytes - at >= 8 ? 8 : 4;
        if (to_shared)
            tmapi_value_copy(shared + at * 64 + x * width, point + at, width);
        else
            tmapi_value_copy(point + at, shared + at * 64 + x * width, width);
    }
}

// Loads point `at` of a set of `count`; zero bytes if it does not exist.
TMAP_DEVICE void tmapi_give_load(const tmapi_give *r, const unsigned char *points, tmap_u64 at,
                                 tmap_u32 count, tmapi_pairs_row *point) {
    const tmap_u32 size = r->points.size, d = r->points.d;
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k) {
        tmapi_value_zero(point->bytes + k * size, size);
        if (at < count)
            tmapi_value_copy(point->bytes + k * size, points + (at * d + k) * size, size);
    }
}

// The accumulators of 32 points are interleaved: word k of a point is 32 k words after its word 0.
TMAP_DEVICE tmapi_value_u32 *tmapi_give_at(const tmapi_give *r, unsigned char *part, tmap_u32 x) {
    return (tmapi_value_u32 *)(part + (tmap_u64)(x - x % 32) * r->fold.bytes + x % 32 * 4);
}
TMAP_DEVICE void tmapi_give_put(const tmapi_give *r, unsigned char *part, tmap_u32 x,
                                const tmapi_give_words *sum) {
    tmapi_value_u32 *to = tmapi_give_at(r, part, x);
#pragma unroll
    for (tmap_u32 k = 0; k < r->fold.bytes / 4; ++k) to[k * 32] = sum->word[k];
}
TMAP_DEVICE void tmapi_give_get(const tmapi_give *r, unsigned char *part, tmap_u32 x,
                                tmapi_give_words *sum) {
    const volatile tmapi_value_u32 *from = tmapi_give_at(r, part, x);
#pragma unroll
    for (tmap_u32 k = 0; k < r->fold.bytes / 4; ++k) sum->word[k] = from[k * 32];
}

// The lane's points j in a step, by their constant numbers: from `begin` to `end` - 1. Those from
// `sure` to `unsure` - 1 have a pair with every point i of the group.
typedef struct tmapi_give_span {
    tmap_u32 begin, sure, unsure, end;
} tmapi_give_span;

// One step: point first.i + (lane + step) mod 32, which is `row` and whose accumulator this lane
// holds, against points j of the lane. Then the accumulator moves to the lane before. Other points
// than the sure ones are compared with the ends of rows and columns and, in one set, must have i <
// j. Collective for the warp.
TMAP_DEVICE void tmapi_give_step(const tmapi_give *r, tmapi_pairs_row row, tmap_pair first,
                                 tmap_u32 step, const tmapi_pairs_row *mine, tmapi_give_words *to_i,
                                 tmapi_give_words *to_j, tmapi_give_span span) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = tmapi_pairs_columns(plan);
    tmap_pair pair;
    pair.i = first.i + (lane + step) % 32, row.set = mine[0].set;
#pragma unroll
    for (tmap_u32 c = span.begin; c < span.end; ++c) {
        pair.j = first.j + c * 32 + lane;
        if ((c >= span.sure && c < span.unsure) ||
            (pair.i < plan->rows && pair.j < count && (plan->others || pair.i < pair.j)))
            r->give(r->job, pair, row.bytes, mine[c].bytes, to_i, &to_j[c]);
    }
#pragma unroll
    for (tmap_u32 k = 0; k < r->fold.bytes / 4; ++k)
        to_i->word[k] = __shfl_sync(0xffffffffu, to_i->word[k], (int)(lane + 1) % 32);
}

// All 32 steps, for groups in which some pairs do not exist.
TMAP_DEVICE void tmapi_give_some(const tmapi_give *r, unsigned char *shared, tmap_pair first,
                                 const tmapi_pairs_row *mine, tmapi_give_words *to_i,
                                 tmapi_give_words *to_j, tmapi_give_span span) {
    tmapi_pairs_row row;
#pragma unroll 1
    for (tmap_u32 step = 0; step < 32; ++step) {
        tmapi_give_move(r, shared, threadIdx.x % 32 + step, row.bytes, 0);
        tmapi_give_step(r, row, first, step, mine, to_i, to_j, span);
    }
}

// Takes the 32 points i from first.i on against the warp's points j. to_i: the accumulator of point
// first.i + lane. Collective for the warp.
TMAP_DEVICE void tmapi_give_group(const tmapi_give *r, const unsigned char *points,
                                  unsigned char *shared, tmap_pair first,
                                  const tmapi_pairs_row *mine, tmapi_give_words *to_i,
                                  tmapi_give_words *to_j) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = tmapi_pairs_columns(plan);
    const tmapi_give_span all = {0, 0, r->mine, r->mine}, none = {0, 0, 0, r->mine};
    const int below = plan->rows - first.i >= 32, before = count - first.j >= 32 * r->mine;
    const int above = plan->others || first.i < first.j; // multiples of 32
    const int ahead = r->mine <= 4;                      // registers suffice for the next point
    tmapi_pairs_row own, row, next;
    tmapi_give_load(r, points, (tmap_u64)first.i + lane, plan->n, &own);
    __syncwarp(); // all lanes have read the previous points
    tmapi_give_move(r, shared, lane, own.bytes, 1);
    tmapi_give_move(r, shared, lane + 32, own.bytes, 1);
    __syncwarp();
    if (below && before && above) {
        if (ahead) tmapi_give_move(r, shared, lane, next.bytes, 0);
#pragma unroll 4
        for (tmap_u32 step = 0; step < 32; ++step) {
            if (ahead) row = next;
            if (ahead)
                tmapi_give_move(r, shared, lane + step + 1, next.bytes, 0);
            else
                tmapi_give_move(r, shared, lane + step, row.bytes, 0);
            tmapi_give_step(r, row, first, step, mine, to_i, to_j, all);
        }
    } else if (below && before != above) {
        // Only one of the lane's points lacks some of its pairs. On the diagonal the points after
        // it have all pairs, at the end of the columns the points before it.
        const tmap_u32 some = before ? (first.i - first.j) / 32 : (count - first.j) / 32;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c) {
            const tmapi_give_span diagonal = {c, c + 1, r->mine, r->mine}, end = {0, 0, c, c + 1};
            if (c != some) continue;
            if (before)
                tmapi_give_some(r, shared, first, mine, to_i, to_j, diagonal);
            else
                tmapi_give_some(r, shared, first, mine, to_i, to_j, end);
        }
    } else {
        tmapi_give_some(r, shared, first, mine, to_i, to_j, none);
    }
}

// Joins the accumulators of the four warps for the same points j and stores them in a part, from
// point x on. Collective for the block.
TMAP_DEVICE void tmapi_give_columns(const tmapi_give *r, unsigned char *part, tmap_u32 x,
                                    const tmapi_give_words *to_j) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 at_once = r->mine < 4 ? r->mine : 4, words = r->fold.bytes / 4;
    // Ordered by column of a lane, word, thread.
    tmapi_value_u32 *sums = (tmapi_value_u32 *)tmapi_pairs_memory();
    __syncthreads(); // all warps have read their points
#pragma unroll
    for (tmap_u32 c = 0; c < r->mine; c += at_once) {
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
#pragma unroll
            for (tmap_u32 k = 0; k < words; ++k)
                sums[(s * words + k) * TMAP_PAIRS_THREADS + threadIdx.x] = to_j[c + s].word[k];
        __syncthreads();
        if (warp < at_once) { // each warp joins one column of the lanes
            tmapi_give_words sum, other;
#pragma unroll
            for (tmap_u32 w = 0; w < TMAP_PAIRS_THREADS / 32; ++w) {
                tmapi_give_words *to = w ? &other : &sum;
#pragma unroll
                for (tmap_u32 k = 0; k < words; ++k)
                    to->word[k] = sums[(warp * words + k) * TMAP_PAIRS_THREADS + w * 32 + lane];
                if (w) r->fold.join(r->job, &sum, &other);
            }
            tmapi_give_put(r, part, x + (c + warp) * 32 + lane, &sum);
        }
        __syncthreads();
    }
}

// Visits all pairs of tile (tile.i, tile.j) and writes a part for each of its rows and columns. The
// warps take turns at groups of 32 rows; a thread reads back only accumulators that it wrote.
// Collective for the block.
TMAP_DEVICE void tmapi_give_tile(const tmapi_give *r, tmapi_pairs_place tile,
                                 unsigned char *parts) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, width = 32 * r->mine;
    const tmap_u32 count = tmapi_pairs_columns(plan), bytes = r->points.d * r->points.size;
    const unsigned char *points = (const unsigned char *)r->points.a;
    const unsigned char *others = (const unsigned char *)(plan->others ? r->points.b : points);
    unsigned char *own = tmapi_pairs_memory() + warp * 64 * bytes;
    tmapi_pairs_row mine[8];
    tmapi_give_words to_i, to_j[8];
    points += tile.set * plan->n * bytes, others += tile.set * count * bytes;
#pragma unroll 1
    for (tmap_u32 x = 0; x < r->side; x += width) {
        const tmap_u64 j = (tmap_u64)tile.j * r->side + x;
        if (j >= count) break;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c) {
            tmapi_give_load(r, others, j + c * 32 + lane, count, &mine[c]);
            mine[c].set = (tmap_u32)tile.set;
            tmapi_give_copy(&to_j[c], r->fold.zero, r->fold.bytes);
        }
#pragma unroll 1
        for (tmap_u32 y = warp * 32; y < r->side; y += TMAP_PAIRS_THREADS) {
            const tmap_u64 i = (tmap_u64)tile.i * r->side + y;
            const int some = i < plan->rows && (plan->others || i < j + width - 1);
            if (x && !some) continue;
            tmapi_give_copy(&to_i, r->fold.zero, r->fold.bytes);
            if (x) tmapi_give_get(r, parts, y + lane, &to_i);
            if (some) {
                tmap_pair first;
                first.i = (tmap_u32)i, first.j = (tmap_u32)j;
                tmapi_give_group(r, points, own, first, mine, &to_i, to_j);
            }
            tmapi_give_put(r, parts, y + lane, &to_i);
        }
        tmapi_give_columns(r, parts + (tmap_u64)r->side * r->fold.bytes, x, to_j);
    }
}

// ---- parts of a point ---------------------------------------------------------------------------

// Tiles (block, k), or by columns (k, block), of the share: from <= k < to.
typedef struct tmapi_give_range {
    tmap_u32 from, to;
} tmapi_give_range;

// The number of a tile within its set. two: 1 with a second set.
TMAP_DEVICE tmap_u64 tmapi_give_number(int two, tmap_u32 across, tmap_u32 block, tmap_u32 k,
                                       int columns) {
    const tmap_u64 i = columns ? k : block, j = columns ? block : k;
    return two ? i * across + j : tmap_upper_index(i, j, across);
}

// Binary search: the first k of a range whose tile number, which grows with k, is at least
// `number`. Not inlined, because only shares need it.
TMAPI_DEVICE_CALL tmap_u32 tmapi_give_seek(int two, tmap_u32 across, tmap_u32 block, int columns,
                                           tmapi_give_range range, tmap_u64 number) {
    TMAPI_NO_UNROLL
    while (range.from < range.to) {
        const tmap_u32 middle = range.from + (range.to - range.from) / 2;
        if (tmapi_give_number(two, across, block, middle, columns) < number)
            range.from = middle + 1;
        else
            range.to = middle;
    }
    return range.from;
}

TMAP_DEVICE tmapi_give_range tmapi_give_range_of(const tmapi_give *r, tmap_u64 set, tmap_u32 block,
                                                 int columns) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 down = tmapi_pairs_tiles(plan->rows, r->side);
    const tmap_u64 begin = set * plan->tiles, end = begin + plan->tiles;
    const tmap_u64 last = plan->first + plan->count;
    const int two = plan->others != 0;
    tmapi_give_range range = {0, 0};
    if (columns)
        range.to = plan->others || block >= down ? down : block + 1;
    else if (block < down)
        range.from = plan->others ? 0 : block, range.to = plan->across;
    if (last < end)
        range.to = tmapi_give_seek(two, plan->across, block, columns, range,
                                   last > begin ? last - begin : 0);
    if (plan->first > begin)
        range.from = tmapi_give_seek(two, plan->across, block, columns, range, plan->first - begin);
    return range;
}

// A block of points of a set (second: of the second set), and the ranges and number of its parts.
typedef struct tmapi_give_block {
    tmap_u64 set;
    tmap_u32 block;
    int second;
    tmapi_give_range rows, columns;
    tmap_u64 count;
} tmapi_give_block;

TMAP_DEVICE tmapi_give_block tmapi_give_block_of(const tmapi_give *r, tmap_u64 set, tmap_u32 block,
                                                 int second) {
    tmapi_give_block b = {set, block, second, {0, 0}, {0, 0}, 0};
    if (!second) b.rows = tmapi_give_range_of(r, set, block, 0);
    if (second || !r->plan->others) b.columns = tmapi_give_range_of(r, set, block, 1);
    b.count = (tmap_u64)(b.rows.to - b.rows.from) + (b.columns.to - b.columns.from);
    return b;
}

// Joins the parts of a range to the accumulator of point x of a block, with several loads in
// flight. The last turn repeats the last load instead of branching.
TMAP_DEVICE void tmapi_give_join(const tmapi_give *r, const tmapi_give_block *b, int columns,
                                 tmap_u32 x, tmapi_give_words *sum) {
    const tmapi_give_range range = columns ? b->columns : b->rows;
    const tmap_u32 at_once = r->fold.bytes <= 12                    ? 8
                             : r->fold.bytes <= 24                  ? 4
                             : r->fold.bytes <= TMAP_FOLD_BYTES_MAX ? 2
                                                                    : 1;
    const tmap_u32 across = r->plan->across, two = r->plan->others != 0;
    const tmap_u64 size = (tmap_u64)r->side * r->fold.bytes;
    tmap_u64 tile = tmapi_give_number((int)two, across, b->block, range.from, columns);
    unsigned char *part = r->parts;
    tile += b->set * r->plan->tiles - r->plan->first; // modulo 2^64 until `first` is subtracted
    part += (tile * 2 + (tmap_u32)columns) * size;
    TMAPI_NO_UNROLL
    for (tmap_u32 k = range.from; k < range.to; k += at_once) {
        tmapi_give_words other[8];
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s) {
            const tmap_u32 next = k + s + 1; // the tile to the right, or the one below
            const tmap_u32 tiles = !columns ? 1 : across - (two ? 0 : next);
            tmapi_give_get(r, part, x, &other[s]);
            part += 2 * size * (next < range.to ? tiles : 0);
        }
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
            if (k + s < range.to) r->fold.join(r->job, sum, &other[s]);
    }
}

// Address of the result of point x of a block; 0 if the point does not exist.
TMAP_DEVICE unsigned char *tmapi_give_result(const tmapi_give *r, const tmapi_give_block *b,
                                             tmap_u32 x) {
    const tmap_u32 points = b->second ? r->plan->others : r->plan->n;
    const tmap_u64 point = (tmap_u64)b->block * r->side + x;
    unsigned char *result = (unsigned char *)(b->second ? r->to.result_others : r->to.result);
    return point < points ? result + (b->set * points + point) * r->fold.bytes : 0;
}

// Joins all parts of a block of points, possibly none. Collective for the block.
TMAP_DEVICE void tmapi_give_finish(const tmapi_give *r, tmapi_give_block b) {
    TMAPI_NO_UNROLL
    for (tmap_u32 x = threadIdx.x; x < r->side; x += TMAP_PAIRS_THREADS) {
        unsigned char *result = tmapi_give_result(r, &b, x);
        tmapi_give_words sum;
        if (!result) break;
        tmapi_give_copy(&sum, r->fold.zero, r->fold.bytes);
        TMAPI_NO_UNROLL
        for (int columns = 1; columns >= 0 && b.count; --columns)
            tmapi_give_join(r, &b, columns, x, &sum);
        tmapi_give_copy(result, &sum, r->fold.bytes);
    }
}

// Counts the parts of a tile's rows and columns, which the calling block has just written, and
// finishes the points whose last parts these were. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_give_count(const tmapi_give *r, tmapi_pairs_place tile) {
    const int two = r->plan->others != 0;
    const tmapi_give_block of_i = tmapi_give_block_of(r, tile.set, tile.i, 0);
    const tmapi_give_block of_j = tmapi_give_block_of(r, tile.set, tile.j, two);
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->side);
    tmap_u64 *counters = (tmap_u64 *)r->to.workspace + tile.set * tmapi_pairs_rows_blocks(r->plan);
    tmap_u64 *i = counters + tile.i, *j = counters + tile.j + (two ? of_first : 0);
    int last_i = 0, last_j = 0;
    __syncthreads(); // the block's threads have written the parts
    if (threadIdx.x == 0) {
        tmap_u64 before_i, before_j;
        __threadfence(); // makes them visible before they are counted
        before_i = atomicAdd(i, 1ull), before_j = atomicAdd(j, 1ull);
        last_i = tmapi_fold_cleared(before_i, of_i.count) && before_i == of_i.count - 1;
        last_j = tmapi_fold_cleared(before_j, of_j.count) && before_j == of_j.count - 1;
        if (last_i) *i = 0;
        if (last_j) *j = 0;
    }
    last_i = __syncthreads_or(last_i), last_j = __syncthreads_or(last_j);
    if (!last_i && !last_j) return;
    __threadfence();
    TMAPI_NO_UNROLL
    for (int columns = 0; columns < 2; ++columns)
        if (columns ? last_j : last_i) tmapi_give_finish(r, columns ? of_j : of_i);
}

// Writes the results of points without a pair in the share.
TMAP_DEVICE void tmapi_give_none(const tmapi_give *r) {
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->side);
    const tmap_u64 blocks = tmapi_pairs_rows_blocks(r->plan);
    if (r->plan->count && r->plan->count == r->plan->items && r->plan->rows == r->plan->n) return;
    TMAPI_NO_UNROLL
    for (tmap_u64 k = blockIdx.x; k < blocks * r->plan->sets; k += gridDim.x) {
        const tmap_u64 set = k / blocks;
        const int second = k - set * blocks >= of_first;
        const tmap_u32 block = (tmap_u32)(k - set * blocks) - (second ? of_first : 0);
        const tmapi_give_block b = tmapi_give_block_of(r, set, block, second);
        if (!b.count) tmapi_give_finish(r, b);
    }
}

// ---- the call -----------------------------------------------------------------------------------

// Calls give(job, pair, a, b, to_i, to_j) once for every pair of the plan's share and writes an
// accumulator for each point to to.result. fold.join(job, accumulator, &other) joins partial
// results; a point without a pair in the share gets fold.zero. You join the results of several
// shares. plan: made by tmap_pairs_rows_plan_make for the same points and fold.bytes; with a plan
// of another kind, or with too little shared memory for these, the call writes nothing. give: a
// __device__ function without barriers or collectives. All threads of all blocks call it, once in a
// launch, in blocks of TMAP_PAIRS_THREADS threads.
// Exactness: results depend only on the plan's share, not on the grid. Terms are first added within
// a tile, one for each point along its side, then tile by tile: for n = 131072 points, floats are
// summed over 1024 terms, then over 128 of these sums.
// Cost: for each pair, give, two or three instructions, a load from shared memory for each 16 bytes
// of a point, and 1/m shuffles for each word of an accumulator: m is 8 if a point and its
// accumulator have up to 40 bytes together, 4 up to 80, else 2. Gravity
// (samples/triangle/17_gravity.cu) runs fastest with __launch_bounds__(128, 4).
TMAP_DEVICE void tmap_pairs_rows(const tmap_pairs_plan *plan, tmap_points points,
                                 tmap_pairs_give give, tmap_fold fold, tmap_pairs_rows_to to,
                                 void *job) {
    const int fits = fold.bytes % 4 == 0 && fold.bytes - 4 <= TMAP_PAIRS_ROWS_BYTES_MAX - 4;
    if (!tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_ROWS, "tmap_pairs_rows") ||
        !TMAPI_CHECK(fits, "tmap_pairs_rows", "fold.bytes is not a multiple of 4 from 4 to 256") ||
        !TMAPI_CHECK(plan->value == fold.bytes, "tmap_pairs_rows", "fold.bytes is not the plan's"))
        return;
    if (!fits || plan->kind != TMAP_PAIRS_KIND_ROWS) return;
    if (plan->shared < tmapi_pairs_rows_shared(points.d, points.size, fold.bytes)) return;
    const tmap_u32 mine = tmapi_pairs_rows_mine(points.d, points.size, fold.bytes);
    unsigned char *parts = (unsigned char *)to.workspace + tmap_pairs_rows_clear(plan);
    const tmapi_give r = {plan, points, give, fold, to, job, parts, mine, plan->side};
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        const tmapi_pairs_place tile = tmapi_pairs_rows_place(plan, plan->first + t);
        unsigned char *of_tile = r.parts + t * 2 * r.side * fold.bytes;
        if (r.side < 32 * r.mine) {
            tmapi_give few = r;
            few.side = TMAPI_PAIRS_ROWS_SIDE_FEW, few.mine = few.side / 32;
            tmapi_give_tile(&few, tile, of_tile);
        } else {
            tmapi_give_tile(&r, tile, of_tile);
        }
        tmapi_give_count(&r, tile);
    }
    tmapi_give_none(&r);
}

#endif // TMAP_CUDA

#endif
