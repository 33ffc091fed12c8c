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
// A tile of pairs (pairs_rows_tile.h) leaves a part for each of its points in memory; the block
// that is the last one to leave a part for some points joins all their parts in the order of the
// tiles. No two threads ever add to the same place: results are the same in every bit whatever the
// grid.
#ifndef TMAP_TRIANGLE_PAIRS_ROWS_H
#define TMAP_TRIANGLE_PAIRS_ROWS_H

#include "pairs_rows_tile.h"

// Tiles along a side of the triangle, at most: so many parts has a point. The sides of the smallest
// tiles: the columns that a warp takes at a time are a divisor of it.
#define TMAPI_PAIRS_ROWS_ACROSS   128u
#ifndef TMAPI_PAIRS_ROWS_SIDE_MIN
#define TMAPI_PAIRS_ROWS_SIDE_MIN 128u
#endif
#ifndef TMAPI_PAIRS_ROWS_FEW
#define TMAPI_PAIRS_ROWS_FEW 8192u
#endif
#ifndef TMAPI_ROWS_MERGED
#define TMAPI_ROWS_MERGED 1
#endif

// ---- the plan -----------------------------------------------------------------------------------

// The sides of tiles: 256 times a power of two.
TMAP_FN tmap_u32 tmapi_pairs_rows_side(tmap_u32 n) {
    tmap_u32 side = n <= TMAPI_PAIRS_ROWS_FEW ? TMAPI_PAIRS_ROWS_SIDE_MIN : 256u;
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

// The tile of an item, counted in tiles, as the points of the last ones need not be below 2^32.
TMAP_FN tmapi_pairs_place tmapi_pairs_rows_place(const tmap_pairs_plan *plan, tmap_u64 item) {
    return tmapi_pairs_place_by(plan, item, 1);
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
// rows and all columns of each tile of the plan's share. A tile has 256 points along its sides, or
// as much more as makes up to 128 tiles across: this is 129 accumulators for each point at most,
// and only where the second one of two sets has more points than the first, more. Shares of a plan
// that run one after the other may use the same memory, as much as the largest one needs.
// Saturates. Example: n = 131072, accumulators of 12 bytes: 202900480 bytes, of which 1024 are
// cleared once.
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

// As tmap_pairs_launch, for a kernel that calls tmap_pairs_rows: a plan that tmap_pairs_rows_plan_make
// has not made is refused with cudaErrorInvalidValue.
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

// A tile's number in its set.
TMAP_DEVICE tmap_u64 tmapi_pairs_rows_number(const tmap_pairs_plan *plan, tmap_u32 block,
                                             tmap_u32 k, int columns) {
    const tmap_u64 i = columns ? k : block, j = columns ? block : k;
    return plan->others ? i * plan->across + j : tmap_upper_index(i, j, plan->across);
}

// The first k of a range whose tile has at least this number, which grows with k.
TMAP_DEVICE tmap_u32 tmapi_pairs_rows_seek(const tmap_pairs_plan *plan, tmap_u32 block, int columns,
                                           tmapi_pairs_rows_range range, tmap_u64 number) {
    TMAPI_NO_UNROLL
    while (range.from < range.to) {
        const tmap_u32 middle = range.from + (range.to - range.from) / 2;
        if (tmapi_pairs_rows_number(plan, block, middle, columns) < number)
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
        range.to =
            tmapi_pairs_rows_seek(plan, block, columns, range, last > begin ? last - begin : 0);
    if (plan->first > begin)
        range.from = tmapi_pairs_rows_seek(plan, block, columns, range, plan->first - begin);
    return range;
}

// Joins the parts of a range to the accumulator of point x of a block, some of them in flight.
TMAP_DEVICE void tmapi_pairs_rows_join(const tmapi_pairs_rows_call *r, tmap_u64 set, tmap_u32 block,
                                       int columns, tmapi_pairs_rows_range range, tmap_u32 x,
                                       tmapi_pairs_rows_sum *sum) {
    const tmap_u32 at_once = r->bytes <= 12 ? 8 : r->bytes <= 24 ? 4 : 2;
    const tmap_u64 size = (tmap_u64)r->side * r->bytes;
    tmap_u64 tile = tmapi_pairs_rows_number(r->plan, block, range.from, columns);
    tile += set * r->plan->tiles - r->plan->first; // modulo 2^64 on the way
    TMAPI_NO_UNROLL
    for (tmap_u32 k = range.from; k < range.to;) {
        tmapi_pairs_rows_sum other[8];
        const tmap_u32 left = range.to - k;
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
            if (s < left) {
                tmapi_pairs_rows_get(r, r->parts + (tile * 2 + (tmap_u32)columns) * size, x,
                                     &other[s]);
                ++k; // the tile to the right, or the one below
                tile += !columns ? 1 : r->plan->across - (r->plan->others ? 0 : k);
            }
#pragma unroll
        for (tmap_u32 s = 0; s < at_once; ++s)
            if (s < left) r->join(r->job, sum, &other[s]);
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

#if TMAPI_ROWS_MERGED
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
#else
TMAP_DEVICE void tmapi_pairs_rows_finish1(const tmapi_pairs_rows_call *r, tmap_u64 set,
                                         tmap_u32 block, int second) {
    const tmapi_pairs_rows_parts parts = tmapi_pairs_rows_parts_of(r, set, block, second);
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->side);
    tmap_u64 *counters = r->counters + set * tmapi_pairs_rows_blocks(r->plan);
    if (!tmapi_fold_last(counters + block + (second ? of_first : 0), parts.count)) return;
    tmapi_pairs_rows_all(r, set, block, second, parts);
}
TMAP_DEVICE void tmapi_pairs_rows_finish(const tmapi_pairs_rows_call *r, tmap_u64 set,
                                         tmap_pair tile) {
    __syncthreads();
    TMAPI_NO_UNROLL
    for (int columns = 0; columns < 2; ++columns)
        tmapi_pairs_rows_finish1(r, set, columns ? tile.j : tile.i, columns && r->plan->others);
}
#endif

// The results of points without a pair in the share.
TMAP_DEVICE void tmapi_pairs_rows_none(const tmapi_pairs_rows_call *r) {
    const tmap_u32 of_first = tmapi_pairs_tiles(r->plan->n, r->side);
    const tmap_u64 blocks = tmapi_pairs_rows_blocks(r->plan);
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
// one of tmap_pairs_rows_plan_make for the same size, d and bytes; by a plan of another kind, or with
// too little shared memory for these, nothing is written, and tmap_pairs_rows_launch refuses one of
// another kind. points, others, size, d: as for tmap_pairs_each. give: a __device__ function without barriers and collectives. zero: what an
// accumulator begins with; it is joined any number of times. bytes: of an accumulator, a multiple
// of 4 up to TMAP_FOLD_BYTES_MAX, a constant. parts: tmap_pairs_rows_bytes bytes of device memory
// at a multiple of 16, the first tmap_pairs_rows_clear of which are zero before the first launch
// that uses them; each launch leaves them so. Launches that run at the same time need parts of
// their own. result: device memory for an accumulator of each point of all sets. A point without a
// pair in the share gets zero; the results of shares are the user's to join. result_others: the
// same for the points of the second set; not looked at where there is none. All threads of all
// blocks call it, once in a launch, in blocks of TMAP_PAIRS_THREADS threads.
// Exactness: results hang on the plan's share alone, not on the grid. What a point gets is added up
// within a tile, in which a thread adds up to as many terms as the tile has points along a side,
// and then tile by tile: sums of floats of n = 131072 points are of 1024 terms, and of 128 of
// these. Cost: for each pair what give costs, and a share of a shuffle for each word of an
// accumulator, a load from shared memory for each 16 bytes of a point, and two instructions or
// three. The share is an eighth where a point and its accumulator have up to 40 bytes together, a
// fourth up to 80 bytes, else a half. Such kernels take 96 to 128 registers; __launch_bounds__(128,
// 5) holds one to 96.
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
            few.mine = TMAPI_PAIRS_ROWS_SIDE_MIN / 32;
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
