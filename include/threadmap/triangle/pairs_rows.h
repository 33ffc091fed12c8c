// SPDX-License-Identifier: MIT
// pairs_rows.h: for each of n points a few values accumulated over all the others, where each pair
// is looked at once and gives to both of its points: forces, densities, sums of kernels.
//
//     const tmap_points points = {j.bodies, 0, sizeof(float), 4};
//     const tmap_fold sums = {&zero, sizeof zero, join};
//     tmap_pairs_rows(&plan, points, pull, sums, j.to, &j); // in a kernel of the user's
//     ... tmap_pairs_rows_plan_make(n, 4, sizeof(float), sizeof(vec3), (const void *)pulls, &plan);
//     ... tmap_pairs_rows_launch(&plan, &j, stream);
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
    void *workspace; // tmap_pairs_rows_bytes bytes at a multiple of 16, the first
                     // tmap_pairs_rows_clear of which are zero before the first launch; launches
                     // that overlap need one each
    void *result;    // an accumulator of each point of all sets
    void *result_others; // the same of the second set; not looked at where there is none
} tmap_pairs_rows_to;

// ---- the plan -----------------------------------------------------------------------------------

// Tiles along a side of the triangle, at most, as each leaves a point a part; the least side.
#define TMAPI_PAIRS_ROWS_ACROSS 128u
#define TMAPI_PAIRS_ROWS_SIDE   128u

// The points j of a lane: as many as registers have room for.
TMAP_FN tmap_u32 tmapi_pairs_rows_mine(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    return d * size + bytes <= 80 ? 4 : 2;
}

// Bytes of a block's shared memory: 64 points of each warp, and later the accumulators of the
// points j.
TMAP_FN tmap_u32 tmapi_pairs_rows_shared(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 points = 2 * d * size, sums = tmapi_pairs_rows_mine(d, size, bytes) * bytes;
    return TMAP_PAIRS_THREADS * (points > sums ? points : sums);
}

// Blocks of points that are waited for together, in a set: of the first set, then of the second.
TMAP_FN tmap_u64 tmapi_pairs_rows_blocks(const tmap_pairs_plan *plan) {
    return (tmap_u64)tmapi_pairs_tiles(plan->n, plan->side) + (plan->others ? plan->across : 0);
}

// Bytes at the beginning of the workspace that are zero before the first launch which uses it. Each
// launch leaves them so.
TMAP_FN tmap_u64 tmap_pairs_rows_clear(const tmap_pairs_plan *plan) {
    return (8 * tmap_mul_saturate(tmapi_pairs_rows_blocks(plan), plan->sets) + 15) / 16 * 16;
}

// Bytes of the workspace for accumulators of `bytes` bytes: those of all rows and all columns of
// each tile of the share. A tile has 128 points along its sides, beyond 16384 points as many more
// as make up to 128 tiles across: 129 accumulators for each point at most, and more only where the
// second set has more points than the first. Saturates. Example: n = 131072, 12 bytes: 202900480.
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
    p.kind = TMAP_PAIRS_KIND_ROWS, p.cut_most = 0, p.side = TMAPI_PAIRS_ROWS_SIDE;
    while (n && (n - 1) / p.side >= TMAPI_PAIRS_ROWS_ACROSS) p.side *= 2;
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
    const int code = error ? 0 : tmap_pairs_rows_plan_of(n, d, size, bytes, &facts, &p);
    return error ? error : tmapi_pairs_plan_keep(code, &p, kernel, out);
}

// As tmap_pairs_launch; a plan that tmap_pairs_rows_plan_make has not made is refused with
// cudaErrorInvalidValue.
static inline cudaError_t tmap_pairs_rows_launch(const tmap_pairs_plan *plan, const void *job,
                                                 cudaStream_t stream) {
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_ROWS, job, stream);
}

#endif

#if TMAP_CUDA

// ---- pairs of a tile ----------------------------------------------------------------------------
//
// A warp takes 32 points i by 32 m points j. Each lane has m of the points j in registers, with
// what they have so far. The points i go round: at each step lane l meets number (l + step) mod 32
// of them, which it reads from shared memory, and what they have so far travels from lane to lane
// by shuffles: a shuffle for each of its words and m pairs.

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
    tmap_u32 mine;        // points j of a lane
} tmapi_give;

// Copies point x of a warp's 64 in shared memory, which are its 32 points i twice: `width` bytes of
// each, then the next ones. to_shared: whether `point` becomes number x; else it is read.
TMAP_DEVICE void tmapi_give_move(const tmapi_give *r, unsigned char *shared, tmap_u32 x,
                                 unsigned char *point, int to_shared) {
    const tmap_u32 bytes = r->points.d * r->points.size;
    const tmap_u32 width = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
#pragma unroll
    for (tmap_u32 at = 0; at < bytes; at += width) {
        unsigned char *there = shared + at * 64 + x * width;
        tmapi_value_copy(to_shared ? there : point + at, to_shared ? point + at : there, width);
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

// The accumulators of 32 points of a part stand together, word by word: word k of point x is 32 k
// words behind word 0.
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

// A step: point first.i + (lane + step) mod 32, whose accumulator this lane has, by points j of the
// lane; then the accumulator goes on to the lane before. whole: a constant, 1: all pairs are there;
// else those below the ends of rows and columns, and of one set those with i < j. Collective for
// the warp.
TMAP_DEVICE void tmapi_give_step(const tmapi_give *r, unsigned char *shared, tmap_pair first,
                                 tmap_u32 step, tmapi_pairs_point *mine, tmapi_fold_words *to_i,
                                 tmapi_fold_words *to_j, int whole) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = tmapi_pairs_columns(plan);
    tmapi_pairs_point row;
    tmap_pair pair;
    tmapi_give_move(r, shared, lane + step, row.bytes, 0);
    pair.i = first.i + (lane + step) % 32;
#pragma unroll
    for (tmap_u32 c = 0; c < r->mine; ++c) {
        pair.j = first.j + c * 32 + lane;
        if (whole || (pair.i < plan->rows && pair.j < count && (plan->others || pair.i < pair.j)))
            r->give(r->job, pair, row.bytes, mine[c].bytes, to_i, &to_j[c]);
    }
#pragma unroll
    for (tmap_u32 k = 0; k < r->fold.bytes / 4; ++k)
        to_i->word[k] = __shfl_sync(0xffffffffu, to_i->word[k], (int)(lane + 1) % 32);
}

// 32 points i from first.i on by the warp's points j. to_i: of point first.i + lane. Collective for
// the warp.
TMAP_DEVICE void tmapi_give_group(const tmapi_give *r, const unsigned char *points,
                                  unsigned char *shared, tmap_pair first, tmapi_pairs_point *mine,
                                  tmapi_fold_words *to_i, tmapi_fold_words *to_j) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32;
    tmapi_pairs_point own;
    tmapi_give_load(r, points, (tmap_u64)first.i + lane, plan->n, &own);
    __syncwarp(); // all lanes are through with the points before
    tmapi_give_move(r, shared, lane, own.bytes, 1);
    tmapi_give_move(r, shared, lane + 32, own.bytes, 1);
    __syncwarp();
    if (plan->rows - first.i >= 32 && tmapi_pairs_columns(plan) - first.j >= 32 * r->mine &&
        (plan->others || first.i < first.j)) { // multiples of 32
#pragma unroll 4
        for (tmap_u32 step = 0; step < 32; ++step)
            tmapi_give_step(r, shared, first, step, mine, to_i, to_j, 1);
    } else {
#pragma unroll 1
        for (tmap_u32 step = 0; step < 32; ++step)
            tmapi_give_step(r, shared, first, step, mine, to_i, to_j, 0);
    }
}

// Joins what the four warps have for the same points j, a warp for each of a lane's, and puts it
// into a part from point x on. Collective for the block.
TMAP_DEVICE void tmapi_give_columns(const tmapi_give *r, unsigned char *part, tmap_u32 x,
                                    const tmapi_fold_words *to_j) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, words = r->fold.bytes / 4;
    // By columns of a lane, words, threads.
    tmapi_value_u32 *sums = (tmapi_value_u32 *)tmapi_pairs_memory();
    __syncthreads(); // all warps are through with their points
#pragma unroll
    for (tmap_u32 c = 0; c < r->mine; ++c)
#pragma unroll
        for (tmap_u32 k = 0; k < words; ++k)
            sums[(c * words + k) * TMAP_PAIRS_THREADS + threadIdx.x] = to_j[c].word[k];
    __syncthreads();
    if (warp < r->mine) {
        tmapi_fold_words sum, other;
#pragma unroll
        for (tmap_u32 w = 0; w < TMAP_PAIRS_THREADS / 32; ++w) {
            tmapi_fold_words *to = w ? &other : &sum;
#pragma unroll
            for (tmap_u32 k = 0; k < words; ++k)
                to->word[k] = sums[(warp * words + k) * TMAP_PAIRS_THREADS + w * 32 + lane];
            if (w) r->fold.join(r->job, &sum, &other);
        }
        tmapi_give_put(r, part, x + threadIdx.x, &sum);
    }
    __syncthreads();
}

// All pairs of a tile from pair (tile.i, tile.j) on, and a part for each of its rows and of its
// columns. The warps take turns at groups of 32 rows; a thread gets back the accumulators that it
// has put itself. Collective for the block.
TMAP_DEVICE void tmapi_give_tile(const tmapi_give *r, tmapi_pairs_place tile,
                                 unsigned char *parts) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, width = 32 * r->mine;
    const tmap_u32 count = tmapi_pairs_columns(plan), bytes = r->points.d * r->points.size;
    const unsigned char *points = (const unsigned char *)r->points.a;
    const unsigned char *others = (const unsigned char *)(plan->others ? r->points.b : points);
    tmapi_pairs_point mine[4];
    tmapi_fold_words to_i, to_j[4];
    points += tile.set * plan->n * bytes, others += tile.set * count * bytes;
    for (tmap_u32 x = 0; x < plan->side && x < count - tile.j; x += width) {
        const tmap_u32 j = tile.j + x;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c) {
            tmapi_give_load(r, others, (tmap_u64)j + c * 32 + lane, count, &mine[c]);
            tmapi_fold_move(&to_j[c], r->fold.zero, r->fold.bytes);
        }
        for (tmap_u32 y = warp * 32; y < plan->side; y += TMAP_PAIRS_THREADS) {
            const tmap_u64 i = (tmap_u64)tile.i + y;
            const int some = i < plan->rows && (plan->others || i < (tmap_u64)j + width - 1);
            if (x && !some) continue;
            tmapi_fold_move(&to_i, r->fold.zero, r->fold.bytes);
            if (x) tmapi_give_get(r, parts, y + lane, &to_i);
            if (some) {
                const tmap_pair first = {(tmap_u32)i, j};
                tmapi_give_group(r, points, tmapi_pairs_memory() + warp * 64 * bytes, first, mine,
                                 &to_i, to_j);
            }
            tmapi_give_put(r, parts, y + lane, &to_i);
        }
        tmapi_give_columns(r, parts + (tmap_u64)plan->side * r->fold.bytes, x, to_j);
    }
}

// ---- parts of a point ---------------------------------------------------------------------------

// A block of points of a set, the second one or not, and its tiles: (block, k) for k from `first`
// to `across` - 1, then (k, block) for k below `down`.
typedef struct tmapi_give_block {
    tmap_u64 set;
    tmap_u32 block, first, across, down;
    int second;
} tmapi_give_block;

TMAP_DEVICE tmapi_give_block tmapi_give_block_of(const tmapi_give *r, tmap_u64 set, tmap_u32 block,
                                                 int second) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 down = tmapi_pairs_tiles(plan->rows, plan->side);
    tmapi_give_block b = {set, block, 0, 0, 0, second};
    if (!second && block < down) b.first = plan->others ? 0 : block, b.across = plan->across;
    if (second || !plan->others) b.down = plan->others || block >= down ? down : block + 1;
    return b;
}

// The place in the share of the tile of a block and k; not below plan->count where it has none.
TMAP_DEVICE tmap_u64 tmapi_give_tile_of(const tmapi_give *r, const tmapi_give_block *b, tmap_u32 k,
                                        int columns) {
    const tmap_u64 i = columns ? k : b->block, j = columns ? b->block : k, across = r->plan->across;
    const tmap_u64 tile = r->plan->others ? i * across + j : tmap_upper_index(i, j, across);
    return b->set * r->plan->tiles + tile - r->plan->first; // modulo 2^64
}

// The parts that the share has for a block of points. Collective for the block.
TMAP_DEVICE tmap_u64 tmapi_give_parts(const tmapi_give *r, const tmapi_give_block *b) {
    tmap_u64 parts = 0;
    if (r->plan->count == r->plan->items) return (tmap_u64)(b->across - b->first) + b->down;
    for (int c = 0; c < 2; ++c) {
        const tmap_u32 end = c ? b->down : b->across;
        for (tmap_u64 k = c ? 0 : b->first; k < end; k += TMAP_PAIRS_THREADS) {
            const tmap_u64 tile = tmapi_give_tile_of(r, b, (tmap_u32)k + threadIdx.x, c);
            parts += (tmap_u64)__syncthreads_count(k + threadIdx.x < end && tile < r->plan->count);
        }
    }
    return parts;
}

// Joins all parts of a block of points, those of columns first; without a part they get fold.zero.
TMAP_DEVICE void tmapi_give_finish(const tmapi_give *r, const tmapi_give_block *b) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 points = b->second ? plan->others : plan->n, bytes = r->fold.bytes;
    const tmap_u32 first = b->block * plan->side, left = points - first;
    unsigned char *results = (unsigned char *)(b->second ? r->to.result_others : r->to.result);
    for (tmap_u32 x = threadIdx.x; x < plan->side && x < left; x += TMAP_PAIRS_THREADS) {
        tmapi_fold_words sum, other;
        tmapi_fold_move(&sum, r->fold.zero, bytes);
#pragma unroll
        for (int c = 1; c >= 0; --c)
#pragma unroll 4
            for (tmap_u32 k = c ? 0 : b->first; k < (c ? b->down : b->across); ++k) {
                const tmap_u64 tile = tmapi_give_tile_of(r, b, k, c);
                if (tile >= plan->count) continue;
                tmapi_give_get(r, r->parts + (tile * 2 + (tmap_u32)c) * plan->side * bytes, x,
                               &other);
                r->fold.join(r->job, &sum, &other);
            }
        tmapi_fold_move(results + (b->set * points + first + x) * bytes, &sum, bytes);
    }
}

// Counts the parts of a tile's rows and columns, which the calling block has just written, and
// finishes those points for which they were the last ones. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_give_count(const tmapi_give *r, tmapi_pairs_place tile) {
    const tmap_pairs_plan *plan = r->plan;
    tmap_u64 *counters = (tmap_u64 *)r->to.workspace + tile.set * tmapi_pairs_rows_blocks(plan);
    __syncthreads(); // the parts are written
    for (int columns = 0; columns < 2; ++columns) {
        const int second = columns && plan->others;
        const tmap_u32 block = (columns ? tile.j : tile.i) / plan->side;
        const tmapi_give_block b = tmapi_give_block_of(r, tile.set, block, second);
        tmap_u64 *counter = counters + block;
        if (second) counter += tmapi_pairs_tiles(plan->n, plan->side);
        if (tmapi_fold_last(counter, tmapi_give_parts(r, &b))) tmapi_give_finish(r, &b);
    }
}

// The results of points without a pair in the share. Collective for the block.
TMAP_DEVICE void tmapi_give_none(const tmapi_give *r) {
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->plan->side);
    const tmap_u64 blocks = tmapi_pairs_rows_blocks(r->plan);
    if (r->plan->count && r->plan->count == r->plan->items && r->plan->rows == r->plan->n) return;
    for (tmap_u64 k = blockIdx.x; k < blocks * r->plan->sets; k += gridDim.x) {
        const tmap_u64 set = k / blocks, at = k - set * blocks;
        const int second = at >= of_first;
        const tmap_u32 block = (tmap_u32)at - (second ? of_first : 0);
        const tmapi_give_block b = tmapi_give_block_of(r, set, block, second);
        if (!tmapi_give_parts(r, &b)) tmapi_give_finish(r, &b);
    }
}

// ---- the call -----------------------------------------------------------------------------------

// Calls give(job, pair, a, b, to_i, to_j) once for every pair of the plan's share, joins what has
// been given to each point by fold.join(job, accumulator, &other), and writes it to the point's
// place in to.result. A point without a pair in the share gets fold.zero; the results of shares are
// the user's to join. plan: one of tmap_pairs_rows_plan_make for the same points and fold.bytes;
// by another kind of plan nothing is written. give: a __device__ function without barriers and
// collectives. All threads of all blocks call it, once in a launch, in blocks of TMAP_PAIRS_THREADS
// threads.
// Exactness: results depend on the plan's share alone, not on the grid. Terms are added up within a
// tile, as many as it has points along a side, and then tile by tile: sums of floats of n = 131072
// points are of 1024 terms, and of 128 of these.
// Cost: for each pair what give costs, two instructions or three, and a share of a load from shared
// memory for each word of a point (or each 16 or 8 bytes, where these divide it) and of a shuffle
// for each word of an accumulator: a fourth where both have up to 80 bytes together, else a half.
TMAP_DEVICE void tmap_pairs_rows(const tmap_pairs_plan *plan, tmap_points points,
                                 tmap_pairs_give give, tmap_fold fold, tmap_pairs_rows_to to,
                                 void *job) {
    unsigned char *parts = (unsigned char *)to.workspace + tmap_pairs_rows_clear(plan);
    const tmap_u32 mine = tmapi_pairs_rows_mine(points.d, points.size, fold.bytes);
    const tmapi_give r = {plan, points, give, fold, to, job, parts, mine};
    if (plan->kind != TMAP_PAIRS_KIND_ROWS) return;
    if (plan->shared < tmapi_pairs_rows_shared(points.d, points.size, fold.bytes)) return;
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        const tmapi_pairs_place tile = tmapi_pairs_place_of(plan, plan->first + t);
        tmapi_give_tile(&r, tile, parts + t * 2 * plan->side * fold.bytes);
        tmapi_give_count(&r, tile);
    }
    tmapi_give_none(&r);
}

#endif // TMAP_CUDA

#endif
