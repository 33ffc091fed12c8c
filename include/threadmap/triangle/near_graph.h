// SPDX-License-Identifier: MIT
// near_graph.h: the graph of points near each other in compressed rows (CSR): the neighbours of
// point i are columns[starts[i]] to columns[starts[i + 1] - 1], ascending.
//
//     const tmap_near points = {{j.set, 0, sizeof(float), 3}, reach, 0}; // in your kernel
//     const tmap_near_choice choice = {is_near, sizeof(float), 4, 1};
//     tmap_near_connect(&plan, points, choice, &j.graph, &j);
//     ... tmap_near_graph_plan_make(shape, (const void *)connect, &plan);
//     ... cudaMalloc(&j.graph.workspace, tmap_near_graph_bytes(&plan));
//     ... tmap_near_graph(&plan, &j, &j.graph, stream);
//
// Your kernel runs twice, to count and to write; then rows are sorted. With a second set, rows are
// points of the first one and columns those of the second.
#ifndef TMAP_TRIANGLE_NEAR_GRAPH_H
#define TMAP_TRIANGLE_NEAR_GRAPH_H

#include "near_select.h"

// A graph; all pointers are device memory.
typedef struct tmap_near_graph_to {
    tmap_u64
        *starts;   // n + 1 numbers; the last one is that of all neighbours, whatever the capacity
    void *columns; // `capacity` numbers at a multiple of their size, 4 or 8
    void *values;  // `capacity` values of 4 or 8 bytes at a multiple of their size; 0: none
    tmap_u64 capacity; // room; rows that do not fit as a whole are not written
    tmap_u32 number;   // bytes of a column: 4 or 8
    tmap_u32 bytes;    // of a value: 0, 4 or 8
    void *workspace;   // tmap_near_graph_bytes bytes at a multiple of 8; any content
} tmap_near_graph_to;

// Blocks of 1024 rows, whose sums are found by look-back.
TMAP_FN tmap_u64 tmapi_near_graph_tiles(const tmap_near_plan *plan) {
    return ((tmap_u64)plan->set.n + 1023) / 1024;
}

// Bytes of the workspace of tmap_near_graph.
TMAP_FN tmap_u64 tmap_near_graph_bytes(const tmap_near_plan *plan) {
    return (tmapi_near_graph_tiles(plan) + 2) * 8;
}

// Makes the plan of tmap_near_graph_plan_make from facts, without a CUDA call; out->kernel is 0.
TMAP_FN int tmap_near_graph_plan_of(tmap_near_shape set, const tmap_facts *facts,
                                    tmap_near_plan *out) {
    return tmapi_near_plan_kind(set, TMAP_NEAR_KIND_GRAPH, 0, facts, out);
}

#if TMAP_CUDA

// ---- your kernel --------------------------------------------------------------------------------

// Writes a neighbour of a row at `at`.
TMAP_DEVICE void tmapi_near_graph_put(const tmap_near_graph_to *to, tmap_u64 at, tmap_u32 column,
                                      const tmapi_value *value) {
    if (to->number == 8)
        ((tmap_u64 *)to->columns)[at] = column;
    else
        ((tmap_u32 *)to->columns)[at] = column;
    if (to->bytes && to->values)
        tmapi_value_copy((unsigned char *)to->values + at * to->bytes, value, to->bytes);
}

// Counts or writes the neighbours of the leaf's points among 64 of the queue at a time. next:
// shared, for each of these points how many it has, or where the next one goes.
TMAP_DEVICE void tmapi_near_graph_queue(const tmapi_near *s, const tmap_near_choice *choice,
                                        const tmap_near_graph_to *to, tmap_u64 *next,
                                        tmap_u32 many) {
    const tmap_u32 lane = threadIdx.x % 32;
    TMAPI_NO_UNROLL
    for (tmap_u32 first = 0; first < many; first += 64) {
        tmapi_pairs_point points[2];
        tmap_u32 numbers[2];
        const tmap_u32 exists = tmapi_near_fetch(s, first, 2, many, points, numbers);
        TMAPI_NO_UNROLL
        for (tmap_u32 y = 0; y < s->box->count; ++y) {
            tmapi_pairs_row row;
            tmapi_value value[2];
            tmap_u32 hits[2];
            tmap_pair pair;
            tmapi_near_row(s, y, row.bytes), row.set = 0;
            pair.i = s->row_number[y];
#pragma unroll
            for (tmap_u32 c = 0; c < 2; ++c) {
                int hit = exists >> c & 1;
                pair.j = numbers[c];
                if (!s->plan->others) hit = hit && pair.i != pair.j;
                if (hit)
                    hit = choice->choose(s->job, pair, row.bytes, points[c].bytes,
                                         value[c].bytes) != 0;
                hits[c] = __ballot_sync(0xffffffffu, hit);
            }
            const tmap_u32 sum = __popc(hits[0]) + __popc(hits[1]);
            tmap_u64 at = 0;
            if (!sum) continue;
            if (lane == 0) at = atomicAdd(next + y, (tmap_u64)sum);
            if (!s->plan->phase) continue;
            at = __shfl_sync(0xffffffffu, at, 0);
            if (at > to->capacity) continue; // the row does not fit
#pragma unroll
            for (tmap_u32 c = 0; c < 2; ++c) {
                if (hits[c] >> lane & 1)
                    tmapi_near_graph_put(to, at + __popc(hits[c] & ((1u << lane) - 1)), numbers[c],
                                         &value[c]);
                at += __popc(hits[c]);
            }
        }
    }
}

// The step of tmap_near_graph that your kernel does, in two launches: the first counts the
// neighbours of each point, the second one writes them. choice.both is 1, .number and .bytes those
// of `to`. All threads of all blocks call it, in blocks of TMAP_NEAR_THREADS threads, with the same
// `to` as tmap_near_graph. plan: of tmap_near_graph_plan_make; with a plan of another kind the call
// does nothing.
TMAP_DEVICE void tmap_near_connect(const tmap_near_plan *plan, tmap_near points,
                                   tmap_near_choice choice, const tmap_near_graph_to *to,
                                   void *job) {
    __shared__ tmap_u64 next[TMAP_NEAR_LEAF];
    const tmap_u32 lane = threadIdx.x;
    const tmap_near_graph_to given = *to;
    tmap_near_graph_to out = given;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_GRAPH, "tmap_near_connect")) return;
    if (plan->kind != TMAP_NEAR_KIND_GRAPH) return;
    out.number = choice.number, out.bytes = choice.bytes; // constants
    points.bulk = 0;
    tmapi_near s = tmapi_near_begin(plan, points, 0, job);
    s.both = 1;
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        TMAPI_NO_UNROLL
        for (tmap_u32 k = 0; k < plan->run; ++k) {
            if (!tmapi_near_take(&s, (tmap_u32)(plan->first + t), k)) break;
            const tmap_u32 number = lane < TMAP_NEAR_LEAF ? s.row_number[lane] : 0xffffffffu;
            const int is = number < plan->set.n;
            if (lane < TMAP_NEAR_LEAF) {
                next[lane] = is && plan->phase ? out.starts[number] : 0;
                // A row that does not fit begins behind the room, and so writes nothing.
                if (is && plan->phase && out.starts[number + 1] > out.capacity)
                    next[lane] = 1ull << 63;
            }
            __syncthreads();
            TMAPI_NO_UNROLL
            for (tmap_u32 many; (many = tmapi_near_next(&s)) != 0;)
                tmapi_near_graph_queue(&s, &choice, &out, next, many);
            __syncthreads();
            if (is && !plan->phase) out.starts[number] = next[lane];
        }
    }
}

#if !TMAP_NVRTC

// ---- rows ---------------------------------------------------------------------------------------

typedef struct tmapi_near_rows_job {
    tmap_near_graph_to to;
    tmap_u32 n;
} tmapi_near_rows_job;

// Numbers of neighbours become starts: 1024 rows a block, in the order in which blocks begin.
static __global__ void __launch_bounds__(1024) tmapi_near_starts_kernel(tmapi_near_rows_job j) {
    __shared__ tmap_u64 sums[32], tile, before;
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tmap_u64 *words = (tmap_u64 *)j.to.workspace;
    if (threadIdx.x == 0) tile = atomicAdd(words, 1ull);
    __syncthreads();
    const tmap_u64 i = tile * 1024 + threadIdx.x, own = i < j.n ? j.to.starts[i] : 0;
    tmap_u64 sum = own;
#pragma unroll
    for (tmap_u32 step = 1; step < 32; step *= 2) {
        const tmap_u64 left = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        tmap_u64 all = 0;
        for (tmap_u32 w = 0; w < 32; ++w) all += sums[w];
        all = tmapi_pairs_select_before(words + 2, tile, all);
        if (lane == 0) before = all;
    }
    __syncthreads();
    sum += before;
    for (tmap_u32 w = 0; w < warp; ++w) sum += sums[w];
    if (i < j.n) j.to.starts[i] = sum - own;
    if (i + 1 == j.n) j.to.starts[j.n] = sum;
}

// Neighbours of a row that is sorted in shared memory.
#define TMAPI_NEAR_ROW 256u

// A row while it is sorted: in shared memory, or in place.
typedef struct tmapi_near_row_of {
    void *columns, *values;
    tmap_u32 number, bytes;
} tmapi_near_row_of;

TMAP_DEVICE tmap_u64 tmapi_near_column(const tmapi_near_row_of *r, tmap_u64 at) {
    return r->number == 8 ? ((const tmap_u64 *)r->columns)[at] : ((const tmap_u32 *)r->columns)[at];
}

// Exchanges neighbours a < b of a row if they are in the wrong order.
TMAP_DEVICE void tmapi_near_exchange(const tmapi_near_row_of *r, tmap_u64 a, tmap_u64 b) {
    const tmap_u64 x = tmapi_near_column(r, a), y = tmapi_near_column(r, b);
    tmapi_value left, right;
    if (x <= y) return;
    if (r->number == 8)
        ((tmap_u64 *)r->columns)[a] = y, ((tmap_u64 *)r->columns)[b] = x;
    else
        ((tmap_u32 *)r->columns)[a] = (tmap_u32)y, ((tmap_u32 *)r->columns)[b] = (tmap_u32)x;
    if (!r->values) return;
    tmapi_value_copy(&left, (char *)r->values + a * r->bytes, r->bytes);
    tmapi_value_copy(&right, (char *)r->values + b * r->bytes, r->bytes);
    tmapi_value_copy((char *)r->values + a * r->bytes, &right, r->bytes);
    tmapi_value_copy((char *)r->values + b * r->bytes, &left, r->bytes);
}

// Sorts `count` neighbours by threads first, first + threads, ... of a block, or of a warp alone: a
// bitonic network (Batcher 1968) whose first step of each stage is mirrored, so that any count will
// do.
TMAP_DEVICE void tmapi_near_row_sort(const tmapi_near_row_of *r, tmap_u64 count, tmap_u32 first,
                                     tmap_u32 threads) {
    for (tmap_u64 stage = 2; stage < 2 * count; stage *= 2)
        for (tmap_u64 step = stage / 2; step; step /= 2) {
            const tmap_u64 mask = step == stage / 2 ? stage - 1 : step;
            for (tmap_u64 i = first; i < ((count - 1) | (stage - 1)) / 2 + 1; i += threads) {
                const tmap_u64 a = 2 * i - (i & (step - 1)), b = a ^ mask;
                if (b < count) tmapi_near_exchange(r, a, b);
            }
            if (threads > 32)
                __syncthreads();
            else
                __syncwarp();
        }
}

// Sorts rows: a warp each in shared memory, then those that are longer, a block each, in place.
static __global__ void __launch_bounds__(128) tmapi_near_sort_kernel(tmapi_near_rows_job j) {
    __shared__ tmap_u64 values[4][TMAPI_NEAR_ROW];
    __shared__ tmap_u32 columns[4][TMAPI_NEAR_ROW];
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tmap_u64 rows = blockIdx.x * 4ull;
    const int some = j.to.bytes && j.to.values;
    for (tmap_u32 w = 0; w < 4; ++w) {
        const tmap_u64 row = rows + w;
        if (row >= j.n) break;
        const tmap_u64 start = j.to.starts[row], end = j.to.starts[row + 1], count = end - start;
        tmapi_near_row_of r = {(char *)j.to.columns + start * j.to.number, 0, j.to.number,
                               j.to.bytes};
        if (some) r.values = (char *)j.to.values + start * j.to.bytes;
        if (end > j.to.capacity) break;
        if (count > TMAPI_NEAR_ROW) {
            __syncthreads();
            tmapi_near_row_sort(&r, count, threadIdx.x, 128);
            continue;
        }
        if (w != warp) continue;
        const tmapi_near_row_of copied = {columns[w], some ? values[w] : 0, 4, j.to.bytes};
        for (tmap_u32 i = lane; i < count; i += 32) {
            columns[w][i] = (tmap_u32)tmapi_near_column(&r, i);
            if (some)
                tmapi_value_copy((char *)values[w] + i * r.bytes, (char *)r.values + i * r.bytes,
                                 r.bytes);
        }
        __syncwarp();
        tmapi_near_row_sort(&copied, count, lane, 32);
        for (tmap_u32 i = lane; i < count; i += 32) {
            tmapi_value value;
            if (some) tmapi_value_copy(&value, (char *)values[w] + i * r.bytes, r.bytes);
            tmapi_near_graph_put(&j.to, start + i, columns[w][i], &value);
        }
    }
}

// ---- the call -----------------------------------------------------------------------------------

// Finds the graph of a prepared set. plan: of tmap_near_graph_plan_make, not a share of it. job: of
// your kernel, which calls tmap_near_connect. If there are more neighbours than to->capacity,
// starts[n] says so; rows that end within the capacity are complete, and nothing is written behind
// it. Points that are not finite have no neighbours; those that the set's order leaves out must not
// exist. Returns cudaErrorInvalidValue for a null pointer, wrong alignment, sizes other than those
// named, and a plan of another kind or a share of one; else the error of a CUDA call. Does not
// wait; can be captured in a graph. The result is the same in every run.
// Cost: your kernel twice, a pass over the starts, and a sort of each row.
static inline cudaError_t tmap_near_graph(const tmap_near_plan *plan, tmap_job job,
                                          const tmap_near_graph_to *to, cudaStream_t stream) {
    tmapi_near_rows_job j;
    tmap_near_plan p;
    void *arguments[1] = {&j};
    cudaError_t error;
    if (!plan || !to || plan->kind != TMAP_NEAR_KIND_GRAPH || plan->count != plan->items ||
        !to->starts || !to->workspace || ((tmap_u64)to->starts | (tmap_u64)to->workspace) % 8 ||
        (to->number != 4 && to->number != 8) || (tmap_u64)to->columns % to->number ||
        (to->bytes != 0 && to->bytes != 4 && to->bytes != 8) ||
        (to->bytes && (tmap_u64)to->values % to->bytes) || (to->capacity && !to->columns))
        return cudaErrorInvalidValue;
    p = *plan, j.to = *to, j.n = plan->set.n;
    error = cudaMemsetAsync(to->starts, 0, (j.n + 1ull) * 8, stream);
    if (error || !j.n) return error;
    error = cudaMemsetAsync(to->workspace, 0, tmap_near_graph_bytes(plan), stream);
    const tmapi_launch_shape starts = {tmapi_near_graph_tiles(plan), 1024, 0};
    const tmapi_launch_shape rows = {(j.n + 3ull) / 4, 128, 0};
    p.phase = 0;
    if (!error) error = tmap_near_launch(&p, job, stream);
    if (!error)
        error = tmapi_launch((const void *)tmapi_near_starts_kernel, starts, arguments, stream);
    p.phase = 1;
    if (!error) error = tmap_near_launch(&p, job, stream);
    if (!error) error = tmapi_launch((const void *)tmapi_near_sort_kernel, rows, arguments, stream);
    return error;
}

// Makes the plan of a kernel that calls tmap_near_connect. Errors as tmap_near_plan_make.
static inline cudaError_t tmap_near_graph_plan_make(tmap_near_shape set, const void *kernel,
                                                    tmap_near_plan *out) {
    return tmapi_near_plan_for(set, TMAP_NEAR_KIND_GRAPH, 0, kernel, out);
}

#endif

#endif // TMAP_CUDA
#endif
