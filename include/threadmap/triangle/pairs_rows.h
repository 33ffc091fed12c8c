// SPDX-License-Identifier: MIT
// pairs_rows.h: for each of n points a few values accumulated over all the others, where each pair
// is looked at once and gives to both of its points: forces, densities, sums of kernels.
//
//     const tmap_points points = {j.bodies, 0, sizeof(float), 4}; // x, y, z, mass
//     const tmap_fold sums = {&zero, sizeof zero, join}; // adds two vec3
//     tmap_pairs_rows(&plan, points, pull, sums, j.to, &j); // in a kernel of the user's
//     ... tmap_pairs_rows_plan_make(n, 4, sizeof(float), sizeof(vec3), (const void *)pulls, &plan);
//     ... tmap_pairs_rows_launch(&plan, &j, stream); // j.to: a tmap_pairs_rows_to
//
// samples/triangle/17_gravity.cu has all of it.
//
// A tile of pairs leaves a part for each of its points in memory. The block that leaves the last
// part for some points joins all their parts in the order of the tiles. No two threads ever add to
// the same place: results are the same in every bit whatever the grid.
#ifndef TMAP_TRIANGLE_PAIRS_ROWS_H
#define TMAP_TRIANGLE_PAIRS_ROWS_H

#include "pairs.h"

// Where results go, in device memory.
typedef struct tmap_pairs_rows_to {
    void *workspace; // tmap_pairs_rows_bytes bytes at a multiple of 16; the first
                     // tmap_pairs_rows_clear of them must be zero before the first launch;
                     // launches that overlap need one each
    void *result;    // an accumulator of each point of all sets
    void *result_others; // the same of the second set; not looked at where there is none
} tmap_pairs_rows_to;

// ---- the plan -----------------------------------------------------------------------------------

// Tiles along a side of the triangle, at most, which are the parts of a point. The sides of the
// smallest tiles: of few points, so that there are many tiles; and of more.
#define TMAPI_PAIRS_ROWS_ACROSS   128u
#define TMAPI_PAIRS_ROWS_SIDE_FEW 128u
#define TMAPI_PAIRS_ROWS_SIDE_MIN 256u
#define TMAPI_PAIRS_ROWS_FEW      6144u // points

// The sides of tiles: of few points 128, else 256 times a power of two.
TMAP_FN tmap_u32 tmapi_pairs_rows_side(tmap_u32 n) {
    tmap_u32 side = TMAPI_PAIRS_ROWS_SIDE_MIN;
    if (n <= TMAPI_PAIRS_ROWS_FEW) return TMAPI_PAIRS_ROWS_SIDE_FEW;
    while ((n - (n != 0)) / side >= TMAPI_PAIRS_ROWS_ACROSS) side *= 2;
    return side;
}

// The points j of a lane: as many as registers have room for.
TMAP_FN tmap_u32 tmapi_pairs_rows_mine(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 words = (d * size + bytes) / 4; // of a point and its accumulator
    return words <= 10 ? 8 : words <= 20 ? 4 : 2;
}

// Bytes of a block's shared memory: 64 points of each warp, and later the accumulators of up to
// four points j of each thread.
TMAP_FN tmap_u32 tmapi_pairs_rows_shared(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 mine = tmapi_pairs_rows_mine(d, size, bytes);
    const tmap_u32 points = TMAP_PAIRS_THREADS * 2 * d * size;
    const tmap_u32 sums = TMAP_PAIRS_THREADS * (mine < 4 ? mine : 4) * bytes;
    return points > sums ? points : sums;
}

// The tile of an item. A set has 2^32 tiles or more only by its other points.
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

// Blocks of points of a set: those of the first set, then those of the second one.
TMAP_FN tmap_u64 tmapi_pairs_rows_blocks(const tmap_pairs_plan *plan) {
    return (tmap_u64)tmapi_pairs_tiles(plan->n, plan->side) + (plan->others ? plan->across : 0);
}

// Bytes at the beginning of the workspace that are zero before the first launch which uses it: a
// counter for some points side by side. Each launch leaves them so.
TMAP_FN tmap_u64 tmap_pairs_rows_clear(const tmap_pairs_plan *plan) {
    return (8 * tmap_mul_saturate(tmapi_pairs_rows_blocks(plan), plan->sets) + 15) / 16 * 16;
}

// Bytes of the workspace for accumulators of `bytes` bytes: those of all rows and all columns of
// each tile of the plan's share, 129 accumulators for each point at most, and more only where the
// second set has more points than the first. Shares that run one after the other may use the same
// memory. Saturates. Example: n = 131072, accumulators of 12 bytes: 202900480 bytes; 1024 of
// them are cleared once.
TMAP_FN tmap_u64 tmap_pairs_rows_bytes(const tmap_pairs_plan *plan, tmap_u32 bytes) {
    const tmap_u64 parts = tmap_mul_saturate(plan->count, 2ull * plan->side * bytes);
    const tmap_u64 all = parts + tmap_pairs_rows_clear(plan);
    return all < parts ? ~0ull : all;
}

// tmap_pairs_rows_plan_make from facts: as tmap_pairs_plan_of.
TMAP_FN int tmap_pairs_rows_plan_of(tmap_u32 n, tmap_u32 d, tmap_u32 size, tmap_u32 bytes,
                                    const tmap_facts *facts, tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    int error;
    if (!out || bytes < 4 || bytes > TMAP_FOLD_BYTES_MAX || bytes % 4) return TMAP_EINVAL;
    if ((error = tmap_pairs_plan_of(n, d, size, facts, &p)) != TMAP_OK) return error;
    p.shared = tmapi_pairs_rows_shared(d, size, bytes);
    p.kind = TMAP_PAIRS_KIND_ROWS, p.side = tmapi_pairs_rows_side(n), p.cut_most = 0;
    return tmapi_pairs_plan_end(&p, facts, out);
}

#if TMAP_CUDA && !TMAP_NVRTC

// The plan of a kernel that calls tmap_pairs_rows with accumulators of `bytes` bytes, a multiple of
// 4 up to TMAP_FOLD_BYTES_MAX. Other parameters and errors: as tmap_pairs_plan_make. The functions
// that restrict a plan (tmap_pairs_plan_rows, _others, _sets, _share) may follow.
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

// As tmap_pairs_launch, for a kernel that calls tmap_pairs_rows: a plan that
// tmap_pairs_rows_plan_make has not made is refused with cudaErrorInvalidValue.
static inline cudaError_t tmap_pairs_rows_launch(const tmap_pairs_plan *plan, tmap_job job,
                                                 cudaStream_t stream) {
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_ROWS, job, stream);
}

#endif

#if TMAP_CUDA

// ---- pairs of a tile ----------------------------------------------------------------------------
//
// A warp takes 32 points i by 32 m points j. Each lane has m of the points j in registers, with
// what they have so far. At each step lane l meets point i number (l + step) mod 32, which it reads
// from shared memory, and what the points i have so far travels from lane to lane by shuffles: a
// shuffle for each of its words and m pairs. With 8 points j and three words all of this costs an
// instruction for each pair; accumulators in shared memory would cost two.

// pair: i < j, or a point of each set. a, b: point i and point j. to_i, to_j: what they have so
// far, of the user's type, to which the function adds what the pair gives to each of them.
typedef void (*tmap_pairs_give)(void *job, tmap_pair pair, const void *a, const void *b, void *to_i,
                                void *to_j);

// What is constant in a launch; sizes and functions are constants of the compiler's.
typedef struct tmapi_give {
    const tmap_pairs_plan *plan;
    tmap_points points;
    tmap_pairs_give give;
    tmap_fold fold;
    tmap_pairs_rows_to to;
    void *job;
    unsigned char *parts; // behind the workspace's counters
    tmap_u32 mine, side;  // points j of a lane; of the plan's tiles
} tmapi_give;

// Copies point x of a warp's 64 in shared memory, which are its 32 points i twice, so that those
// from any lane's on lie side by side: 16 bytes of each, then the next 16, or 8 and 4 that are
// left, without bank conflicts. to_shared: whether `point` becomes number x; else it is read.
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

// Point `at` of a set of `count`; 0 where there is none.
TMAP_DEVICE void tmapi_give_load(const tmapi_give *r, const unsigned char *points, tmap_u64 at,
                                 tmap_u32 count, tmapi_pairs_point *point) {
    const tmap_u32 size = r->points.size, d = r->points.d;
#pragma unroll
    for (tmap_u32 k = 0; k < d; ++k) {
        tmapi_value_zero(point->bytes + k * size, size);
        if (at < count)
            tmapi_value_copy(point->bytes + k * size, points + (at * d + k) * size, size);
    }
}

// The accumulators of 32 points of a part lie together: word k of point x is 32 k words behind its
// word 0.
TMAP_DEVICE tmapi_value_u32 *tmapi_give_at(const tmapi_give *r, unsigned char *part, tmap_u32 x) {
    return (tmapi_value_u32 *)(part + (tmap_u64)(x - x % 32) * r->fold.bytes + x % 32 * 4);
}
TMAP_DEVICE void tmapi_give_put(const tmapi_give *r, unsigned char *part, tmap_u32 x,
                                const tmapi_fold_words *sum) {
    tmapi_value_u32 *to = tmapi_give_at(r, part, x);
#pragma unroll
    for (tmap_u32 k = 0; k < r->fold.bytes / 4; ++k) to[k * 32] = sum->word[k];
}
TMAP_DEVICE void tmapi_give_get(const tmapi_give *r, unsigned char *part, tmap_u32 x,
                                tmapi_fold_words *sum) {
    const volatile tmapi_value_u32 *from = tmapi_give_at(r, part, x);
#pragma unroll
    for (tmap_u32 k = 0; k < r->fold.bytes / 4; ++k) sum->word[k] = from[k * 32];
}

// The lane's points j that a step looks at, by their numbers, all constants: from `begin` to `end`
// - 1. Those from `sure` to `unsure` - 1 have a pair with every point i of the group.
typedef struct tmapi_give_span {
    tmap_u32 begin, sure, unsure, end;
} tmapi_give_span;

// A step: point first.i + (lane + step) mod 32, which is `row` and whose accumulator this lane has,
// by points j of the lane; then the accumulator goes on to the lane before. Pairs that are not sure
// are compared with the ends of rows and columns and, of one set, must have i < j. Collective for
// the warp.
TMAP_DEVICE void tmapi_give_step(const tmapi_give *r, tmapi_pairs_point row, tmap_pair first,
                                 tmap_u32 step, const tmapi_pairs_point *mine,
                                 tmapi_fold_words *to_i, tmapi_fold_words *to_j,
                                 tmapi_give_span span) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = tmapi_pairs_columns(plan);
    tmap_pair pair;
    pair.i = first.i + (lane + step) % 32;
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

// All 32 steps, where not all pairs are sure.
TMAP_DEVICE void tmapi_give_some(const tmapi_give *r, unsigned char *shared, tmap_pair first,
                                 const tmapi_pairs_point *mine, tmapi_fold_words *to_i,
                                 tmapi_fold_words *to_j, tmapi_give_span span) {
    tmapi_pairs_point row;
#pragma unroll 1
    for (tmap_u32 step = 0; step < 32; ++step) {
        tmapi_give_move(r, shared, threadIdx.x % 32 + step, row.bytes, 0);
        tmapi_give_step(r, row, first, step, mine, to_i, to_j, span);
    }
}

// 32 points i from first.i on by the warp's points j. to_i: of point first.i + lane. Collective for
// the warp.
TMAP_DEVICE void tmapi_give_group(const tmapi_give *r, const unsigned char *points,
                                  unsigned char *shared, tmap_pair first,
                                  const tmapi_pairs_point *mine, tmapi_fold_words *to_i,
                                  tmapi_fold_words *to_j) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = tmapi_pairs_columns(plan);
    const tmapi_give_span all = {0, 0, r->mine, r->mine}, none = {0, 0, 0, r->mine};
    const int below = plan->rows - first.i >= 32, before = count - first.j >= 32 * r->mine;
    const int above = plan->others || first.i < first.j; // multiples of 32
    const int ahead = r->mine <= 4; // registers have room for the point to come
    tmapi_pairs_point own, row, next;
    tmapi_give_load(r, points, (tmap_u64)first.i + lane, plan->n, &own);
    __syncwarp(); // all lanes are through with the points before
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
        // One of the lane's points has some of its pairs: on the diagonal those after it have all
        // of theirs, at the end of the columns those before it.
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

// Joins what the four warps have for the same points j and puts it into a part from point x on.
// Collective for the block.
TMAP_DEVICE void tmapi_give_columns(const tmapi_give *r, unsigned char *part, tmap_u32 x,
                                    const tmapi_fold_words *to_j) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 at_once = r->mine < 4 ? r->mine : 4, words = r->fold.bytes / 4;
    // By columns of a lane, words, threads.
    tmapi_value_u32 *sums = (tmapi_value_u32 *)tmapi_pairs_memory();
    __syncthreads(); // all warps are through with their points
#pragma unroll
    for (tmap_u32 c = 0; c < r->mine; c += at_once) {
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
#pragma unroll
            for (tmap_u32 k = 0; k < words; ++k)
                sums[(s * words + k) * TMAP_PAIRS_THREADS + threadIdx.x] = to_j[c + s].word[k];
        __syncthreads();
        if (warp < at_once) { // a column of each lane for each warp
            tmapi_fold_words sum, other;
#pragma unroll
            for (tmap_u32 w = 0; w < TMAP_PAIRS_THREADS / 32; ++w) {
                tmapi_fold_words *to = w ? &other : &sum;
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

// All pairs of tile (tile.i, tile.j), and a part for each of its rows and of its columns. The warps
// take turns at groups of 32 rows; a thread gets back the accumulators that it has put itself.
// Collective for the block.
TMAP_DEVICE void tmapi_give_tile(const tmapi_give *r, tmapi_pairs_place tile,
                                 unsigned char *parts) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, width = 32 * r->mine;
    const tmap_u32 count = tmapi_pairs_columns(plan), bytes = r->points.d * r->points.size;
    const unsigned char *points = (const unsigned char *)r->points.a;
    const unsigned char *others = (const unsigned char *)(plan->others ? r->points.b : points);
    unsigned char *own = tmapi_pairs_memory() + warp * 64 * bytes;
    tmapi_pairs_point mine[8];
    tmapi_fold_words to_i, to_j[8];
    points += tile.set * plan->n * bytes, others += tile.set * count * bytes;
#pragma unroll 1
    for (tmap_u32 x = 0; x < r->side; x += width) {
        const tmap_u64 j = (tmap_u64)tile.j * r->side + x;
        if (j >= count) break;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c) {
            tmapi_give_load(r, others, j + c * 32 + lane, count, &mine[c]);
            tmapi_fold_move(&to_j[c], r->fold.zero, r->fold.bytes);
        }
#pragma unroll 1
        for (tmap_u32 y = warp * 32; y < r->side; y += TMAP_PAIRS_THREADS) {
            const tmap_u64 i = (tmap_u64)tile.i * r->side + y;
            const int some = i < plan->rows && (plan->others || i < j + width - 1);
            if (x && !some) continue;
            tmapi_fold_move(&to_i, r->fold.zero, r->fold.bytes);
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

// Tiles (block, k) or, by columns, (k, block) of the share: from <= k < to.
typedef struct tmapi_give_range {
    tmap_u32 from, to;
} tmapi_give_range;

// A tile's number in its set. two: whether there are two sets.
TMAP_DEVICE tmap_u64 tmapi_give_number(int two, tmap_u32 across, tmap_u32 block, tmap_u32 k,
                                       int columns) {
    const tmap_u64 i = columns ? k : block, j = columns ? block : k;
    return two ? i * across + j : tmap_upper_index(i, j, across);
}

// The first k of a range whose tile has at least this number, which grows with k. A call, as shares
// alone ask for it.
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

// A block of points of a set, the second one or not, and how many parts they get, and from where.
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

// Joins the parts of a range to the accumulator of point x of a block, some of them in flight: in
// the last turn the last one once more, as nothing then waits for a branch.
TMAP_DEVICE void tmapi_give_join(const tmapi_give *r, const tmapi_give_block *b, int columns,
                                 tmap_u32 x, tmapi_fold_words *sum) {
    const tmapi_give_range range = columns ? b->columns : b->rows;
    const tmap_u32 at_once = r->fold.bytes <= 12 ? 8 : r->fold.bytes <= 24 ? 4 : 2;
    const tmap_u32 across = r->plan->across, two = r->plan->others != 0;
    const tmap_u64 size = (tmap_u64)r->side * r->fold.bytes;
    tmap_u64 tile = tmapi_give_number((int)two, across, b->block, range.from, columns);
    unsigned char *part = r->parts;
    tile += b->set * r->plan->tiles - r->plan->first; // modulo 2^64 on the way
    part += (tile * 2 + (tmap_u32)columns) * size;
    TMAPI_NO_UNROLL
    for (tmap_u32 k = range.from; k < range.to; k += at_once) {
        tmapi_fold_words other[8];
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

// Where the result of point x of a block is; 0: there is no such point.
TMAP_DEVICE unsigned char *tmapi_give_result(const tmapi_give *r, const tmapi_give_block *b,
                                             tmap_u32 x) {
    const tmap_u32 points = b->second ? r->plan->others : r->plan->n;
    const tmap_u64 point = (tmap_u64)b->block * r->side + x;
    unsigned char *result = (unsigned char *)(b->second ? r->to.result_others : r->to.result);
    return point < points ? result + (b->set * points + point) * r->fold.bytes : 0;
}

// Joins all parts of a block of points; there may be none. Collective for the block.
TMAP_DEVICE void tmapi_give_finish(const tmapi_give *r, tmapi_give_block b) {
    TMAPI_NO_UNROLL
    for (tmap_u32 x = threadIdx.x; x < r->side; x += TMAP_PAIRS_THREADS) {
        unsigned char *result = tmapi_give_result(r, &b, x);
        tmapi_fold_words sum;
        if (!result) break;
        tmapi_fold_move(&sum, r->fold.zero, r->fold.bytes);
        TMAPI_NO_UNROLL
        for (int columns = 1; columns >= 0 && b.count; --columns)
            tmapi_give_join(r, &b, columns, x, &sum);
        tmapi_fold_move(result, &sum, r->fold.bytes);
    }
}

// Counts the parts of a tile's rows and columns, which the calling block has just written, and
// finishes those points for which they were the last ones. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_give_count(const tmapi_give *r, tmapi_pairs_place tile) {
    const int two = r->plan->others != 0;
    const tmapi_give_block of_i = tmapi_give_block_of(r, tile.set, tile.i, 0);
    const tmapi_give_block of_j = tmapi_give_block_of(r, tile.set, tile.j, two);
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->side);
    tmap_u64 *counters = (tmap_u64 *)r->to.workspace + tile.set * tmapi_pairs_rows_blocks(r->plan);
    tmap_u64 *i = counters + tile.i, *j = counters + tile.j + (two ? of_first : 0);
    int last_i = 0, last_j = 0;
    __syncthreads(); // the parts are written
    if (threadIdx.x == 0) {
        tmap_u64 before_i, before_j;
        __threadfence(); // and there before they are counted
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

// The results of points without a pair in the share.
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

// Calls give(job, pair, a, b, to_i, to_j) once for every pair of the plan's share, joins what has
// been given to each point by fold.join(job, accumulator, &other), and writes it to the point's
// place in to.result. A point without a pair in the share gets fold.zero; the results of shares are
// the user's to join. plan: one of tmap_pairs_rows_plan_make for the same points and fold.bytes; by
// a plan of another kind, or with too little shared memory for these, nothing is written. give: a
// __device__ function without barriers and collectives. All threads of all blocks call it, once in
// a launch, in blocks of TMAP_PAIRS_THREADS threads.
// Exactness: results depend on the plan's share alone. Terms are added up within a tile, as many as
// it has points along a side, and then tile by tile: sums of floats of n = 131072 points are of
// 1024 terms, and of 128 of these.
// Cost: for each pair what give costs, a share of a shuffle for each word of an accumulator, a load
// from shared memory for each 16 bytes of a point, and two instructions or three. The share is an
// eighth where a point and its accumulator have up to 40 bytes together, a fourth up to 80, else a
// half. The pull of bodies is quickest with __launch_bounds__(128, 4).
TMAP_DEVICE void tmap_pairs_rows(const tmap_pairs_plan *plan, tmap_points points,
                                 tmap_pairs_give give, tmap_fold fold, tmap_pairs_rows_to to,
                                 void *job) {
    const tmap_u32 mine = tmapi_pairs_rows_mine(points.d, points.size, fold.bytes);
    unsigned char *parts = (unsigned char *)to.workspace + tmap_pairs_rows_clear(plan);
    const tmapi_give r = {plan, points, give, fold, to, job, parts, mine, plan->side};
    if (!tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_ROWS, "tmap_pairs_rows") ||
        !tmapi_fold_check(fold, "tmap_pairs_rows") ||
        !TMAPI_CHECK(plan->shared >= tmapi_pairs_rows_shared(points.d, points.size, fold.bytes),
                     "tmap_pairs_rows", "fold.bytes is more than the plan's"))
        return;
    if (plan->kind != TMAP_PAIRS_KIND_ROWS) return;
    if (plan->shared < tmapi_pairs_rows_shared(points.d, points.size, fold.bytes)) return;
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
