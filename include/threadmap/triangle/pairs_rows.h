// SPDX-License-Identifier: MIT
// pairs_rows.h: for each of n points a few values accumulated over all the others, where each pair
// is looked at once and gives to both of its points: forces, densities, sums of kernels.
//
//     typedef struct body { float x, y, z, mass; } body;
//     typedef struct vec3 { float x, y, z; } vec3;
//     typedef struct pull_job { const body *bodies; float eps2; void *parts; vec3 *out; } pull_job;
//     static __device__ void pull(void *job, tmap_pair pair, const void *a, const void *b,
//                                 void *to_i, void *to_j) {
//         const body *u = (const body *)a, *v = (const body *)b;
//         const float x = v->x - u->x, y = v->y - u->y, z = v->z - u->z;
//         const float r = rsqrtf(((pull_job *)job)->eps2 + x * x + y * y + z * z);
//         const float w = r * r * r, i = v->mass * w, j = u->mass * w;
//         vec3 *p = (vec3 *)to_i, *q = (vec3 *)to_j;
//         p->x += i * x, p->y += i * y, p->z += i * z;
//         q->x -= j * x, q->y -= j * y, q->z -= j * z;
//     }
//     static __device__ void join(void *job, void *sum, const void *other) {
//         vec3 *p = (vec3 *)sum;
//         const vec3 *q = (const vec3 *)other;
//         p->x += q->x, p->y += q->y, p->z += q->z;
//     }
//     __global__ void __launch_bounds__(128) pulls(tmap_pairs_plan plan, pull_job j) {
//         const vec3 zero = {0, 0, 0};
//         tmap_pairs_rows(&plan, j.bodies, 0, sizeof(float), 4, pull, &zero, sizeof zero, join, &j,
//                         j.parts, j.out, 0);
//     }
//     ... tmap_pairs_rows_plan_make(n, 4, sizeof(float), sizeof(vec3), (const void *)pulls, &plan);
//     ... tmap_pairs_rows_clear(&plan) bytes of tmap_pairs_rows_bytes(&plan, sizeof(vec3)) cleared
//     ... tmap_pairs_rows_launch(&plan, &j, stream);
//
// A tile of pairs (pairs_rows.h) leaves a part for each of its points in memory; the block
// that is the last one to leave a part for some points joins all their parts in the order of the
// tiles. No two threads ever add to the same place: results are the same in every bit whatever the
// grid.
#ifndef TMAP_TRIANGLE_PAIRS_ROWS_H
#define TMAP_TRIANGLE_PAIRS_ROWS_H

#include "../fold.h"
#include "pairs.h"

// ---- pairs rows tile ----------------------------------------------------------------------------
//
// The loop behind tmap_pairs_rows: all pairs of a tile, each of which gives to
// both of its points.
//
// A warp takes 32 points i by 32 m points j. Each lane has m of the points j in registers, with
// what they have so far. The points i go round: at each step lane l meets number (l + step) mod 32
// of them, which it reads from shared memory, and what they have so far travels from lane to lane
// by shuffles: a shuffle for each of its words and m pairs, and nothing is added up twice. With 8
// points j and three words all of this costs an instruction for each pair. Accumulators in shared
// memory, which are loaded and stored, would cost two, and sums over the lanes for each point five.
//
// Private to the library.

// The points j of a lane: as many as registers have room for.
TMAP_FN tmap_u32 tmapi_pairs_rows_mine(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 words = (d * size + bytes) / 4; // of a point and its accumulator
    return words <= 10 ? 8 : words <= 20 ? 4 : 2;
}

#if TMAP_CUDA

// pair: i < j, or a point of each set. a, b: point i and point j. to_i, to_j: what they have so
// far, of the user's type, to which the function adds what the pair gives to each of them.
typedef void (*tmap_pairs_give)(void *job, tmap_pair pair, const void *a, const void *b, void *to_i,
                                void *to_j);

typedef struct tmapi_pairs_rows_sum {
    alignas(16) unsigned char bytes[TMAP_FOLD_BYTES_MAX];
} tmapi_pairs_rows_sum;

// What is constant in a launch; sizes and functions are constants of the compiler's.
typedef struct tmapi_pairs_rows_call {
    const tmap_pairs_plan *plan;
    const unsigned char *points, *others;
    tmap_u32 size, d, bytes, mine;
    tmap_u32 side; // of the plan's tiles
    tmap_pairs_give give;
    tmap_fold_join join;
    const void *zero;
    void *job;
    tmap_u64 *counters;
    unsigned char *parts, *result, *result_others;
} tmapi_pairs_rows_call;

// A warp's points i in shared memory, numbers 0 to 31 twice, so that those from any lane's on lie
// side by side: 16 bytes of each, then the next 16, or 8 and 4 that are left. Lanes side by side
// read and write without bank conflicts. to_shared: 1: `point` becomes number x; 0: it is read.
TMAP_DEVICE void tmapi_pairs_rows_move(const tmapi_pairs_rows_call *r, unsigned char *shared,
                                       tmap_u32 x, unsigned char *point, int to_shared) {
    const tmap_u32 bytes = r->d * r->size;
#pragma unroll
    for (tmap_u32 at = 0; at < 8 * TMAP_PAIRS_D_MAX; at += 4) {
        const tmap_u32 begin = at / 16 * 16, left = bytes - begin;
        tmap_u32 width = 0;
        unsigned char *there;
        if (at >= bytes) continue;
        if (left >= 16)
            width = at == begin ? 16 : 0;
        else if (at == begin)
            width = left >= 8 ? 8 : 4;
        else if (at == begin + 8)
            width = 4; // 12 bytes are left
        there = shared + at * 64 + x * width;
        if (to_shared)
            tmapi_value_copy(there, point + at, width);
        else
            tmapi_value_copy(point + at, there, width);
    }
}

// Point `at` of a set of `count`; 0 where there is none.
TMAP_DEVICE void tmapi_pairs_rows_load(const tmapi_pairs_rows_call *r, const unsigned char *points,
                                       tmap_u64 at, tmap_u32 count, tmapi_pairs_point *point) {
#pragma unroll
    for (tmap_u32 k = 0; k < r->d; ++k) {
        tmapi_value_zero(point->bytes + k * r->size, r->size);
        if (at < count)
            tmapi_value_copy(point->bytes + k * r->size, points + (at * r->d + k) * r->size,
                             r->size);
    }
}

// Where the accumulator of point x of a part begins: those of 32 points stand together, word by
// word, so that word k of one is 32 k words further on.
TMAP_DEVICE tmap_u64 tmapi_pairs_rows_at(const tmapi_pairs_rows_call *r, tmap_u32 x) {
    return (tmap_u64)(x - x % 32) * r->bytes + x % 32 * 4;
}

TMAP_DEVICE void tmapi_pairs_rows_put(const tmapi_pairs_rows_call *r, unsigned char *part,
                                      tmap_u32 x, const void *sum) {
    tmapi_value_u32 *to = (tmapi_value_u32 *)(part + tmapi_pairs_rows_at(r, x));
#pragma unroll
    for (tmap_u32 k = 0; k < r->bytes / 4; ++k) to[k * 32] = ((const tmapi_value_u32 *)sum)[k];
}

TMAP_DEVICE void tmapi_pairs_rows_get(const tmapi_pairs_rows_call *r, const unsigned char *part,
                                      tmap_u32 x, void *sum) {
    const volatile tmapi_value_u32 *from =
        (const volatile tmapi_value_u32 *)(part + tmapi_pairs_rows_at(r, x));
#pragma unroll
    for (tmap_u32 k = 0; k < r->bytes / 4; ++k) ((tmapi_value_u32 *)sum)[k] = from[k * 32];
}

// The lane's points j that a step looks at, by their numbers, all constants: from `begin` to `end`
// - 1. Those from `sure` to `unsure` - 1 have a pair with every point i of the group.
typedef struct tmapi_pairs_rows_span {
    tmap_u32 begin, sure, unsure, end;
} tmapi_pairs_rows_span;

// A step: point first.i + (lane + step) mod 32, which is `row` and whose accumulator this lane has,
// by points j of the lane; then the accumulator goes on to the lane before. Of pairs that are not
// sure, those below the ends of rows and columns exist, and of one set those with i < j. Collective
// for the warp.
TMAP_DEVICE void tmapi_pairs_rows_step(const tmapi_pairs_rows_call *r, tmapi_pairs_point row,
                                       tmap_pair first, tmap_u32 step,
                                       const tmapi_pairs_point *mine, tmapi_pairs_rows_sum *to_i,
                                       tmapi_pairs_rows_sum *to_j, tmapi_pairs_rows_span span) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = plan->others ? plan->others : plan->n;
    tmap_pair pair;
    pair.i = first.i + (lane + step) % 32;
#pragma unroll
    for (tmap_u32 c = span.begin; c < span.end; ++c) {
        pair.j = first.j + c * 32 + lane;
        if ((c >= span.sure && c < span.unsure) ||
            (pair.i < plan->rows && pair.j < count && (plan->others || pair.i < pair.j)))
            r->give(r->job, pair, row.bytes, mine[c].bytes, to_i->bytes, to_j[c].bytes);
    }
#pragma unroll
    for (tmap_u32 k = 0; k < r->bytes / 4; ++k) {
        tmapi_value_u32 *word = (tmapi_value_u32 *)to_i->bytes + k;
        *word = __shfl_sync(0xffffffffu, *word, (int)(lane + 1) % 32);
    }
}

// All 32 steps, where not all pairs are sure.
TMAP_DEVICE void tmapi_pairs_rows_some(const tmapi_pairs_rows_call *r, unsigned char *shared,
                                       tmap_pair first, const tmapi_pairs_point *mine,
                                       tmapi_pairs_rows_sum *to_i, tmapi_pairs_rows_sum *to_j,
                                       tmapi_pairs_rows_span span) {
    tmapi_pairs_point row;
#pragma unroll 1
    for (tmap_u32 step = 0; step < 32; ++step) {
        tmapi_pairs_rows_move(r, shared, threadIdx.x % 32 + step, row.bytes, 0);
        tmapi_pairs_rows_step(r, row, first, step, mine, to_i, to_j, span);
    }
}

// 32 points i from first.i on by the warp's points j from first.j on. to_i: of point first.i +
// lane. Collective for the warp.
TMAP_DEVICE void tmapi_pairs_rows_group(const tmapi_pairs_rows_call *r, const unsigned char *points,
                                        unsigned char *shared, tmap_pair first,
                                        const tmapi_pairs_point *mine, tmapi_pairs_rows_sum *to_i,
                                        tmapi_pairs_rows_sum *to_j) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, count = plan->others ? plan->others : plan->n;
    const tmapi_pairs_rows_span all = {0, 0, r->mine, r->mine}, none = {0, 0, 0, r->mine};
    const int below = plan->rows - first.i >= 32, before = count - first.j >= 32 * r->mine;
    const int above = plan->others || first.i < first.j; // multiples of 32
    tmapi_pairs_point own, row, next;
    tmapi_pairs_rows_load(r, points, (tmap_u64)first.i + lane, plan->n, &own);
    __syncwarp(); // all lanes are through with the points before
    tmapi_pairs_rows_move(r, shared, lane, own.bytes, 1);
    tmapi_pairs_rows_move(r, shared, lane + 32, own.bytes, 1);
    __syncwarp();
    if (below && before && above && r->mine <= 4) { // registers have room for the point to come
        tmapi_pairs_rows_move(r, shared, lane, next.bytes, 0);
#pragma unroll 4
        for (tmap_u32 step = 0; step < 32; ++step) {
            row = next;
            tmapi_pairs_rows_move(r, shared, lane + step + 1, next.bytes, 0);
            tmapi_pairs_rows_step(r, row, first, step, mine, to_i, to_j, all);
        }
    } else if (below && before && above) {
#pragma unroll 4
        for (tmap_u32 step = 0; step < 32; ++step) {
            tmapi_pairs_rows_move(r, shared, lane + step, row.bytes, 0);
            tmapi_pairs_rows_step(r, row, first, step, mine, to_i, to_j, all);
        }
    } else if (below && before != above) {
        // One of the lane's points has some of its pairs: on the diagonal those after it have all
        // of theirs, at the end of the columns those before it.
        const tmap_u32 some = before ? (first.i - first.j) / 32 : (count - first.j) / 32;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c) {
            const tmapi_pairs_rows_span diagonal = {c, c + 1, r->mine, r->mine};
            const tmapi_pairs_rows_span end = {0, 0, c, c + 1};
            if (c != some) continue;
            if (before)
                tmapi_pairs_rows_some(r, shared, first, mine, to_i, to_j, diagonal);
            else
                tmapi_pairs_rows_some(r, shared, first, mine, to_i, to_j, end);
        }
    } else {
        tmapi_pairs_rows_some(r, shared, first, mine, to_i, to_j, none);
    }
}

// Joins what the four warps have for the same points j and puts it into a part from point x on.
// Collective for the block.
TMAP_DEVICE void tmapi_pairs_rows_columns(const tmapi_pairs_rows_call *r, unsigned char *shared,
                                          unsigned char *part, tmap_u32 x,
                                          const tmapi_pairs_rows_sum *to_j) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u32 at_once = r->mine < 4 ? r->mine : 4, words = r->bytes / 4;
    tmapi_value_u32 *sums = (tmapi_value_u32 *)shared; // by columns of a lane, words, threads
    __syncthreads();                                   // all warps are through with their points
#pragma unroll
    for (tmap_u32 c = 0; c < r->mine; c += at_once) {
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
#pragma unroll
            for (tmap_u32 k = 0; k < words; ++k)
                sums[(s * words + k) * TMAP_PAIRS_THREADS + threadIdx.x] =
                    ((const tmapi_value_u32 *)to_j[c + s].bytes)[k];
        __syncthreads();
        if (warp < at_once) { // a column of each lane for each warp
            tmapi_pairs_rows_sum sum, other;
#pragma unroll
            for (tmap_u32 w = 0; w < TMAP_PAIRS_THREADS / 32; ++w) {
                tmapi_pairs_rows_sum *to = w ? &other : &sum;
#pragma unroll
                for (tmap_u32 k = 0; k < words; ++k)
                    ((tmapi_value_u32 *)to->bytes)[k] =
                        sums[(warp * words + k) * TMAP_PAIRS_THREADS + w * 32 + lane];
                if (w) r->join(r->job, &sum, &other);
            }
            tmapi_pairs_rows_put(r, part, x + (c + warp) * 32 + lane, &sum);
        }
        __syncthreads();
    }
}

// All pairs of tile (tile.i, tile.j), and a part for each of its rows and of its columns. The warps
// take turns at groups of 32 rows; a thread gets back the accumulators that it has put itself.
// Collective for the block.
TMAP_DEVICE void tmapi_pairs_rows_tile(const tmapi_pairs_rows_call *r, tmap_u64 set, tmap_pair tile,
                                       unsigned char *shared, unsigned char *parts) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, width = 32 * r->mine;
    const tmap_u32 count = plan->others ? plan->others : plan->n;
    const unsigned char *points = r->points + set * plan->n * r->d * r->size;
    const unsigned char *others = r->others + set * count * r->d * r->size;
    unsigned char *own = shared + warp * 64 * r->d * r->size;
    tmapi_pairs_point mine[8];
    tmapi_pairs_rows_sum to_i, to_j[8];
#pragma unroll 1
    for (tmap_u32 x = 0; x < r->side; x += width) {
        const tmap_u64 j = (tmap_u64)tile.j * r->side + x;
        if (j >= count) break;
#pragma unroll
        for (tmap_u32 c = 0; c < r->mine; ++c) {
            tmapi_pairs_rows_load(r, others, j + c * 32 + lane, count, &mine[c]);
            tmapi_fold_move(&to_j[c], r->zero, r->bytes);
        }
#pragma unroll 1
        for (tmap_u32 y = warp * 32; y < r->side; y += TMAP_PAIRS_THREADS) {
            const tmap_u64 i = (tmap_u64)tile.i * r->side + y;
            const int some = i < plan->rows && (plan->others || i < j + width - 1);
            if (x && !some) continue;
            tmapi_fold_move(&to_i, r->zero, r->bytes);
            if (x) tmapi_pairs_rows_get(r, parts, y + lane, &to_i);
            if (some) {
                tmap_pair first;
                first.i = (tmap_u32)i, first.j = (tmap_u32)j;
                tmapi_pairs_rows_group(r, points, own, first, mine, &to_i, to_j);
            }
            tmapi_pairs_rows_put(r, parts, y + lane, &to_i);
        }
        tmapi_pairs_rows_columns(r, shared, parts + (tmap_u64)r->side * r->bytes, x, to_j);
    }
}

#endif // TMAP_CUDA

// ---- pairs rows ---------------------------------------------------------------------------------

// Tiles along a side of the triangle, at most: so many parts has a point. The sides of the smallest
// tiles: of few points, so that there are many tiles for so few; of more, the columns that a warp
// takes at a time are a divisor of it.
#define TMAPI_PAIRS_ROWS_ACROSS   128u
#define TMAPI_PAIRS_ROWS_SIDE_FEW 128u
#define TMAPI_PAIRS_ROWS_SIDE_MIN 256u
#define TMAPI_PAIRS_ROWS_FEW      6144u // points

// ---- the plan -----------------------------------------------------------------------------------

// The sides of tiles: of few points 128, else 256 times a power of two.
TMAP_FN tmap_u32 tmapi_pairs_rows_side(tmap_u32 n) {
    tmap_u32 side = TMAPI_PAIRS_ROWS_SIDE_MIN;
    if (n <= TMAPI_PAIRS_ROWS_FEW) return TMAPI_PAIRS_ROWS_SIDE_FEW;
    while ((n - (n != 0)) / side >= TMAPI_PAIRS_ROWS_ACROSS) side *= 2;
    return side;
}

// Bytes of a block's shared memory: 64 points of each warp, and later the accumulators of up to
// four points j of each thread.
TMAP_FN tmap_u32 tmapi_pairs_rows_shared(tmap_u32 d, tmap_u32 size, tmap_u32 bytes) {
    const tmap_u32 mine = tmapi_pairs_rows_mine(d, size, bytes);
    const tmap_u32 points = TMAP_PAIRS_THREADS * 2 * d * size;
    const tmap_u32 sums = TMAP_PAIRS_THREADS * (mine < 4 ? mine : 4) * bytes;
    return points > sums ? points : sums;
}

// The tile of an item, counted in tiles, of which a set has many only by its other points.
TMAP_FN tmapi_pairs_place tmapi_pairs_rows_place(const tmap_pairs_plan *plan, tmap_u64 item) {
    tmapi_pairs_place place;
    place.set = 0;
    if (plan->sets > 1) place.set = item / plan->tiles, item -= place.set * plan->tiles;
    if (plan->others) {
        place.i = (tmap_u32)(item / plan->across);
        place.j = (tmap_u32)(item - (tmap_u64)place.i * plan->across);
    } else {
        const tmap_pair p = tmap_upper_map((tmap_u32)item, plan->across);
        place.i = p.i, place.j = p.j;
    }
    return place;
}

// Blocks of points that are waited for together, in a set: those of the first set, then those of
// the second one.
TMAP_FN tmap_u64 tmapi_pairs_rows_blocks(const tmap_pairs_plan *plan) {
    return (tmap_u64)tmapi_pairs_tiles(plan->n, plan->side) + (plan->others ? plan->across : 0);
}

// Bytes at the beginning of the workspace that are zero before the first launch which uses it: a
// counter for some points side by side. Each launch leaves them so.
TMAP_FN tmap_u64 tmap_pairs_rows_clear(const tmap_pairs_plan *plan) {
    return (8 * tmap_mul_saturate(tmapi_pairs_rows_blocks(plan), plan->sets) + 15) / 16 * 16;
}

// Bytes of device memory that tmap_pairs_rows needs for accumulators of `bytes` bytes: those of all
// rows and all columns of each tile of the plan's share. A tile has 128 points along its sides,
// beyond 6144 points 256, or as much more as makes up to 128 tiles across: this is 129 accumulators
// for each point at most, and only where the second one of two sets has more points than the first,
// more. Shares of a plan that run one after the other may use the same memory, as much as the
// largest one needs. Saturates. Example: n = 131072, accumulators of 12 bytes: 202900480 bytes, of
// which 1024 are cleared once.
TMAP_FN tmap_u64 tmap_pairs_rows_bytes(const tmap_pairs_plan *plan, tmap_u32 bytes) {
    const tmap_u64 parts = tmap_mul_saturate(plan->count, 2ull * plan->side * bytes);
    const tmap_u64 all = parts + tmap_pairs_rows_clear(plan);
    return all < parts ? ~0ull : all;
}

#if TMAP_CUDA && !TMAP_NVRTC

// The plan of a kernel that calls tmap_pairs_rows with accumulators of `bytes` bytes, a multiple of
// 4 up to TMAP_FOLD_BYTES_MAX. Other parameters and errors: as tmap_pairs_plan_make. The functions
// that restrict a plan (tmap_pairs_plan_rows and its like) may follow.
static inline cudaError_t tmap_pairs_rows_plan_make(tmap_u32 n, tmap_u32 d, tmap_u32 size,
                                                    tmap_u32 bytes, const void *kernel,
                                                    tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    int device, processors, blocks = 0;
    cudaError_t error;
    if (!out || bytes < 4 || bytes > TMAP_FOLD_BYTES_MAX || bytes % 4) return cudaErrorInvalidValue;
    if ((error = tmap_pairs_plan_make(n, d, size, kernel, &p)) != cudaSuccess) return error;
    p.shared = tmapi_pairs_rows_shared(d, size, bytes);
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)p.block, p.shared);
    if (error) return error;
    if (blocks < 1) return cudaErrorInvalidConfiguration;
    p.resident = (tmap_u32)blocks * (tmap_u32)processors;
    p.kind = TMAP_PAIRS_KIND_ROWS, p.side = tmapi_pairs_rows_side(n), p.cut_most = 0;
    tmapi_pairs_plan_tiles(&p);
    *out = p;
    return cudaSuccess;
}

// As tmap_pairs_launch, for a kernel that calls tmap_pairs_rows: a plan that
// tmap_pairs_rows_plan_make has not made is refused with cudaErrorInvalidValue.
static inline cudaError_t tmap_pairs_rows_launch(const tmap_pairs_plan *plan, const void *job,
                                                 cudaStream_t stream) {
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_ROWS, job, stream);
}

#endif

#if TMAP_CUDA

// ---- parts --------------------------------------------------------------------------------------

// Tiles (block, k) or, by columns, (k, block) of the share: from <= k < to.
typedef struct tmapi_pairs_rows_range {
    tmap_u32 from, to;
} tmapi_pairs_rows_range;

// A tile's number in its set. two: whether there are two sets.
TMAP_DEVICE tmap_u64 tmapi_pairs_rows_number(int two, tmap_u32 across, tmap_u32 block, tmap_u32 k,
                                             int columns) {
    const tmap_u64 i = columns ? k : block, j = columns ? block : k;
    return two ? i * across + j : tmap_upper_index(i, j, across);
}

// The first k of a range whose tile has at least this number, which grows with k. A call, as shares
// alone ask for it.
TMAPI_DEVICE_CALL tmap_u32 tmapi_pairs_rows_seek(int two, tmap_u32 across, tmap_u32 block,
                                                 int columns, tmapi_pairs_rows_range range,
                                                 tmap_u64 number) {
    TMAPI_NO_UNROLL
    while (range.from < range.to) {
        const tmap_u32 middle = range.from + (range.to - range.from) / 2;
        if (tmapi_pairs_rows_number(two, across, block, middle, columns) < number)
            range.from = middle + 1;
        else
            range.to = middle;
    }
    return range.from;
}

TMAP_DEVICE tmapi_pairs_rows_range tmapi_pairs_rows_range_of(const tmapi_pairs_rows_call *r,
                                                             tmap_u64 set, tmap_u32 block,
                                                             int columns) {
    const tmap_pairs_plan *plan = r->plan;
    const tmap_u32 down = tmapi_pairs_tiles(plan->rows, r->side);
    const tmap_u64 begin = set * plan->tiles, end = begin + plan->tiles;
    const tmap_u64 last = plan->first + plan->count;
    tmapi_pairs_rows_range range = {0, 0};
    if (columns)
        range.to = plan->others || block >= down ? down : block + 1;
    else if (block < down)
        range.from = plan->others ? 0 : block, range.to = plan->across;
    if (last < end)
        range.to = tmapi_pairs_rows_seek(plan->others != 0, plan->across, block, columns, range,
                                         last > begin ? last - begin : 0);
    if (plan->first > begin)
        range.from = tmapi_pairs_rows_seek(plan->others != 0, plan->across, block, columns, range,
                                           plan->first - begin);
    return range;
}

// Joins the parts of a range to the accumulator of point x of a block, some of them in flight: in
// the last turn the last one once more, as nothing then waits for a branch.
TMAP_DEVICE void tmapi_pairs_rows_join(const tmapi_pairs_rows_call *r, tmap_u64 set, tmap_u32 block,
                                       int columns, tmapi_pairs_rows_range range, tmap_u32 x,
                                       tmapi_pairs_rows_sum *sum) {
    const tmap_u32 at_once = r->bytes <= 12 ? 8 : r->bytes <= 24 ? 4 : 2;
    const tmap_u32 across = r->plan->across, two = r->plan->others != 0;
    const tmap_u64 size = (tmap_u64)r->side * r->bytes;
    tmap_u64 tile = tmapi_pairs_rows_number((int)two, across, block, range.from, columns);
    const unsigned char *part;
    tile += set * r->plan->tiles - r->plan->first; // modulo 2^64 on the way
    part = r->parts + (tile * 2 + (tmap_u32)columns) * size;
    TMAPI_NO_UNROLL
    for (tmap_u32 k = range.from; k < range.to; k += at_once) {
        tmapi_pairs_rows_sum other[8];
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s) {
            const tmap_u32 next = k + s + 1; // the tile to the right, or the one below
            const tmap_u32 tiles = !columns ? 1 : across - (two ? 0 : next);
            tmapi_pairs_rows_get(r, part, x, &other[s]);
            part += 2 * size * (next < range.to ? tiles : 0);
        }
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
            if (k + s < range.to) r->join(r->job, sum, &other[s]);
    }
}

// How many parts the points of a block of one of the sets get, and from where. second: points of
// the second set.
typedef struct tmapi_pairs_rows_parts {
    tmapi_pairs_rows_range rows, columns;
    tmap_u64 count;
} tmapi_pairs_rows_parts;

TMAP_DEVICE tmapi_pairs_rows_parts tmapi_pairs_rows_parts_of(const tmapi_pairs_rows_call *r,
                                                             tmap_u64 set, tmap_u32 block,
                                                             int second) {
    tmapi_pairs_rows_parts parts = {{0, 0}, {0, 0}, 0};
    if (!second) parts.rows = tmapi_pairs_rows_range_of(r, set, block, 0);
    if (second || !r->plan->others) parts.columns = tmapi_pairs_rows_range_of(r, set, block, 1);
    parts.count =
        (tmap_u64)(parts.rows.to - parts.rows.from) + (parts.columns.to - parts.columns.from);
    return parts;
}

// Where the result of point x of a block is; 0: there is no such point.
TMAP_DEVICE unsigned char *tmapi_pairs_rows_result(const tmapi_pairs_rows_call *r, tmap_u64 set,
                                                   tmap_u32 block, int second, tmap_u32 x) {
    const tmap_u32 points = second ? r->plan->others : r->plan->n;
    const tmap_u64 point = (tmap_u64)block * r->side + x;
    if (point >= points) return 0;
    return (second ? r->result_others : r->result) + (set * points + point) * r->bytes;
}

// Joins all parts of a block of points. Collective for the block.
TMAP_DEVICE void tmapi_pairs_rows_all(const tmapi_pairs_rows_call *r, tmap_u64 set, tmap_u32 block,
                                      int second, tmapi_pairs_rows_parts parts) {
    TMAPI_NO_UNROLL
    for (tmap_u32 x = threadIdx.x; x < r->side; x += TMAP_PAIRS_THREADS) {
        unsigned char *result = tmapi_pairs_rows_result(r, set, block, second, x);
        tmapi_pairs_rows_sum sum;
        if (!result) break;
        tmapi_fold_move(&sum, r->zero, r->bytes);
        TMAPI_NO_UNROLL
        for (int columns = 1; columns >= 0; --columns)
            tmapi_pairs_rows_join(r, set, block, columns, columns ? parts.columns : parts.rows, x,
                                  &sum);
        tmapi_fold_move(result, &sum, r->bytes);
    }
}

// Counts the parts of a tile's rows and columns, which the calling block has just written, and
// joins all parts of those points of which they were the last ones. Collective for the block, with
// barriers.
TMAP_DEVICE void tmapi_pairs_rows_finish(const tmapi_pairs_rows_call *r, tmap_u64 set,
                                         tmap_pair tile) {
    const int two = r->plan->others != 0;
    const tmapi_pairs_rows_parts of_i = tmapi_pairs_rows_parts_of(r, set, tile.i, 0);
    const tmapi_pairs_rows_parts of_j = tmapi_pairs_rows_parts_of(r, set, tile.j, two);
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->side);
    tmap_u64 *counters = r->counters + set * tmapi_pairs_rows_blocks(r->plan);
    tmap_u64 *i = counters + tile.i, *j = counters + tile.j + (two ? of_first : 0);
    int last_i = 0, last_j = 0;
    __syncthreads(); // the parts are written
    if (threadIdx.x == 0) {
        tmap_u64 before_i, before_j;
        __threadfence(); // and there before they are counted
        before_i = atomicAdd(i, 1ull), before_j = atomicAdd(j, 1ull);
        last_i = before_i == of_i.count - 1, last_j = before_j == of_j.count - 1;
        if (last_i) *i = 0;
        if (last_j) *j = 0;
    }
    last_i = __syncthreads_or(last_i), last_j = __syncthreads_or(last_j);
    if (!last_i && !last_j) return;
    __threadfence();
    TMAPI_NO_UNROLL
    for (int columns = 0; columns < 2; ++columns)
        if (columns ? last_j : last_i)
            tmapi_pairs_rows_all(r, set, columns ? tile.j : tile.i, columns && two,
                                 columns ? of_j : of_i);
}

// The results of points without a pair in the share.
TMAP_DEVICE void tmapi_pairs_rows_none(const tmapi_pairs_rows_call *r) {
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->side);
    const tmap_u64 blocks = tmapi_pairs_rows_blocks(r->plan);
    if (r->plan->count && r->plan->count == r->plan->items && r->plan->rows == r->plan->n) return;
    TMAPI_NO_UNROLL
    for (tmap_u64 b = blockIdx.x; b < blocks * r->plan->sets; b += gridDim.x) {
        const tmap_u64 set = b / blocks;
        const int second = b - set * blocks >= of_first;
        const tmap_u32 block = (tmap_u32)(b - set * blocks) - (second ? of_first : 0);
        if (tmapi_pairs_rows_parts_of(r, set, block, second).count) continue;
        TMAPI_NO_UNROLL
        for (tmap_u32 x = threadIdx.x; x < r->side; x += TMAP_PAIRS_THREADS) {
            unsigned char *result = tmapi_pairs_rows_result(r, set, block, second, x);
            if (!result) break;
            tmapi_fold_move(result, r->zero, r->bytes);
        }
    }
}

// ---- the call -----------------------------------------------------------------------------------

// Calls give(job, pair, a, b, to_i, to_j) once for every pair of the plan's share, joins what has
// been given to each point by join(job, accumulator, &other), and writes it to result[point]. plan:
// one of tmap_pairs_rows_plan_make for the same size, d and bytes; by a plan of another kind, or
// with too little shared memory for these, nothing is written, and tmap_pairs_rows_launch refuses
// one of another kind. points, others, size, d: as for tmap_pairs_each. give: a __device__ function
// without barriers and collectives. zero: what an accumulator begins with; it is joined any number
// of times. bytes: of an accumulator, a multiple of 4 up to TMAP_FOLD_BYTES_MAX, a constant. parts:
// tmap_pairs_rows_bytes bytes of device memory at a multiple of 16, the first tmap_pairs_rows_clear
// of which are zero before the first launch that uses them; each launch leaves them so. Launches
// that run at the same time need parts of their own. result: device memory for an accumulator of
// each point of all sets. A point without a pair in the share gets zero; the results of shares are
// the user's to join. result_others: the same for the points of the second set; not looked at where
// there is none. All threads of all blocks call it, once in a launch, in blocks of
// TMAP_PAIRS_THREADS threads.
// Exactness: results hang on the plan's share alone, not on the grid. What a point gets is added up
// within a tile, in which a thread adds up to as many terms as the tile has points along a side,
// and then tile by tile: sums of floats of n = 131072 points are of 1024 terms, and of 128 of
// these.
// Cost: for each pair what give costs, and a share of a shuffle for each word of an accumulator, a
// load from shared memory for each 16 bytes of a point, and two instructions or three. The share is
// an eighth where a point and its accumulator have up to 40 bytes together, a fourth up to 80
// bytes, else a half. Such kernels take 96 to 144 registers; the pull of bodies is quickest with
// __launch_bounds__(128, 4), which holds one to 128.
TMAP_DEVICE void tmap_pairs_rows(const tmap_pairs_plan *plan, const void *points,
                                 const void *others, tmap_u32 size, tmap_u32 d,
                                 tmap_pairs_give give, const void *zero, tmap_u32 bytes,
                                 tmap_fold_join join, void *job, void *parts, void *result,
                                 void *result_others) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    tmapi_pairs_rows_call r;
    if (plan->kind != TMAP_PAIRS_KIND_ROWS) return;
    if (plan->shared < tmapi_pairs_rows_shared(d, size, bytes)) return;
    r.plan = plan, r.points = (const unsigned char *)points;
    r.others = plan->others ? (const unsigned char *)others : r.points;
    r.size = size, r.d = d, r.bytes = bytes, r.mine = tmapi_pairs_rows_mine(d, size, bytes);
    r.side = plan->side, r.give = give, r.join = join, r.zero = zero, r.job = job;
    r.counters = (tmap_u64 *)parts;
    r.parts = (unsigned char *)parts + tmap_pairs_rows_clear(plan);
    r.result = (unsigned char *)result, r.result_others = (unsigned char *)result_others;
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        const tmapi_pairs_place place = tmapi_pairs_rows_place(plan, plan->first + t);
        const tmap_pair tile = {place.i, place.j};
        unsigned char *shared = (unsigned char *)tmapi_pairs_shared;
        unsigned char *of_tile = r.parts + t * 2 * r.side * bytes;
        if (r.side < 32 * r.mine) {
            tmapi_pairs_rows_call few = r;
            few.side = TMAPI_PAIRS_ROWS_SIDE_FEW, few.mine = few.side / 32;
            tmapi_pairs_rows_tile(&few, place.set, tile, shared, of_tile);
        } else {
            tmapi_pairs_rows_tile(&r, place.set, tile, shared, of_tile);
        }
        tmapi_pairs_rows_finish(&r, place.set, tile);
    }
    tmapi_pairs_rows_none(&r);
}

#endif // TMAP_CUDA

#endif
