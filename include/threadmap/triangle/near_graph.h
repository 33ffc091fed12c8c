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
// Your kernel runs twice, to count and to write. To write, a block lists the points near a leaf in
// shared memory, sorts the list by number, and takes its points in this order for all 32 rows. If
// the list is full, it goes through the numbers in several ranges. With a second set, rows are
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

// Points of a leaf's list that each thread sorts.
TMAP_FN tmap_u32 tmapi_near_graph_per(tmap_u32 d, tmap_u32 size) {
    return d * size <= 16 ? 8 : d * size <= 32 ? 4 : 2;
}

// Bytes of dynamic shared memory: the queues, and behind them the list.
TMAP_FN tmap_u32 tmapi_near_graph_shared(tmap_near_shape set) {
    return tmapi_near_shared(set.d, set.size) +
           tmapi_near_graph_per(set.d, set.size) * TMAP_NEAR_THREADS * (set.d * set.size + 4);
}

// Makes the plan of tmap_near_graph_plan_make from facts, without a CUDA call; out->kernel is 0.
TMAP_FN int tmap_near_graph_plan_of(tmap_near_shape set, const tmap_facts *facts,
                                    tmap_near_plan *out) {
    return tmapi_near_plan_kind(set, TMAP_NEAR_KIND_GRAPH, tmapi_near_graph_shared(set), facts,
                                out);
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

// What a block knows of its leaf's list: the points near the leaf whose numbers are `from` to from
// + width - 1.
typedef struct tmapi_near_listing {
    unsigned char *points;           // shared: coordinates, `room` of each
    tmap_u32 *number, *many, *after; // shared: numbers; how many; the least number behind these
    tmap_u32 room, from, width;
} tmapi_near_listing;

// Adds the first `many` points of the warp's queue that belong to the list. Those behind its room
// are only counted. Returns the least number behind the list's that the lane has seen, or `after`.
TMAP_DEVICE tmap_u32 tmapi_near_graph_gather(const tmapi_near *s, const tmapi_near_listing *l,
                                             tmap_u32 many, tmap_u32 after) {
    const tmap_u32 lane = threadIdx.x % 32, size = s->how.points.size;
    TMAPI_NO_UNROLL
    for (tmap_u32 first = 0; first < many; first += 32) {
        tmapi_pairs_point point;
        tmap_u32 number, at = 0;
        const tmap_u32 exists = tmapi_near_fetch(s, first, 1, many, &point, &number);
        const int in = exists && number - l->from < l->width;
        const tmap_u32 hits = __ballot_sync(0xffffffffu, in);
        if (exists && number >= l->from + l->width && number < after) after = number;
        if (lane == 0) at = atomicAdd(l->many, (tmap_u32)__popc(hits));
        at = __shfl_sync(0xffffffffu, at, 0) + (tmap_u32)__popc(hits & ((1u << lane) - 1));
        if (!in || at >= l->room) continue;
        tmapi_near_copy(s->how.points.d, l->points + at * size, l->room * size, point.bytes, size,
                        size);
        l->number[at] = number;
    }
    return after;
}

// Sorts the list's numbers: a bitonic network (Batcher 1968). A thread has `per` that follow each
// other in registers, and takes those of other threads by shuffles, of other warps through memory.
TMAP_DEVICE void tmapi_near_graph_order(tmap_u32 *number, tmap_u32 many, tmap_u32 per) {
    const tmap_u32 t = threadIdx.x, vector = per < 4 ? per : 4;
    alignas(16) tmap_u32 key[8];
#pragma unroll
    for (tmap_u32 q = 0; q < per; q += vector)
        tmapi_value_copy(key + q, number + t * per + q, vector * 4);
#pragma unroll
    for (tmap_u32 q = 0; q < per; ++q)
        if (t * per + q >= many) key[q] = ~0u;
    TMAPI_NO_UNROLL
    for (tmap_u32 stage = 2; stage < 2 * many; stage *= 2) {
        TMAPI_NO_UNROLL
        for (tmap_u32 step = stage / 2; step >= per; step /= 2) {
            const tmap_u32 mask = step / per, least = !(t & mask) == !(t * per & stage);
            if (mask >= 32) {
                __syncthreads();
#pragma unroll
                for (tmap_u32 q = 0; q < per; ++q) number[t + q * TMAP_NEAR_THREADS] = key[q];
                __syncthreads();
            }
#pragma unroll
            for (tmap_u32 q = 0; q < per; ++q) {
                const tmap_u32 other = mask >= 32 ? number[(t ^ mask) + q * TMAP_NEAR_THREADS]
                                                  : __shfl_xor_sync(0xffffffffu, key[q], mask);
                key[q] = least ? min(key[q], other) : max(key[q], other);
            }
        }
#pragma unroll
        for (tmap_u32 step = per / 2; step; step /= 2)
#pragma unroll
            for (tmap_u32 q = 0; q < per; ++q) {
                const tmap_u32 a = key[q], b = key[q ^ step];
                if (q & step || step >= stage) continue;
                const int up = !((t * per + q) & stage);
                key[q] = up ? min(a, b) : max(a, b), key[q ^ step] = up ? max(a, b) : min(a, b);
            }
    }
    __syncthreads();
#pragma unroll
    for (tmap_u32 q = 0; q < per; q += vector)
        tmapi_value_copy(number + t * per + q, key + q, vector * 4);
    __syncthreads();
}

// Sorts the list by number. Collective for the block.
TMAP_DEVICE void tmapi_near_graph_sort(const tmapi_near *s, const tmapi_near_listing *l,
                                       tmap_u32 many, tmap_u32 per) {
    const tmap_u32 size = s->how.points.size;
    tmap_u32 number[8], to[8];
#pragma unroll
    for (tmap_u32 q = 0; q < per; ++q) number[q] = l->number[threadIdx.x + q * TMAP_NEAR_THREADS];
    tmapi_near_graph_order(l->number, many, per);
#pragma unroll
    for (tmap_u32 q = 0; q < per; ++q) {
        to[q] = 0;
#pragma unroll
        for (tmap_u32 step = per * TMAP_NEAR_THREADS / 2; step; step /= 2)
            if (l->number[to[q] + step - 1] < number[q]) to[q] += step;
    }
#pragma unroll
    for (tmap_u32 k = 0; k < s->how.points.d; ++k) {
        unsigned char *points = l->points + k * l->room * size;
        tmapi_value value[8];
#pragma unroll
        for (tmap_u32 q = 0; q < per; ++q)
            tmapi_value_copy(&value[q], points + (threadIdx.x + q * TMAP_NEAR_THREADS) * size,
                             size);
        __syncthreads();
#pragma unroll
        for (tmap_u32 q = 0; q < per; ++q)
            if (threadIdx.x + q * TMAP_NEAR_THREADS < many)
                tmapi_value_copy(points + to[q] * size, &value[q], size);
    }
    __syncthreads();
}

// What is known of the leaf's rows, in shared memory: where they begin, and how many of their
// neighbours have been counted or written.
typedef struct tmapi_near_graph_rows {
    tmap_u64 start[TMAP_NEAR_LEAF]; // ~0: the row does not fit, and is not written
    tmap_u32 count[TMAP_NEAR_LEAF];
} tmapi_near_graph_rows;

// Counts the neighbours of all rows among the first `many` points of the queue. Returns those of
// row `lane`.
TMAP_DEVICE tmap_u32 tmapi_near_graph_count(const tmapi_near *s, const tmap_near_choice *choice,
                                            tmap_u32 many) {
    const tmap_u32 lane = threadIdx.x % 32, step = 16 / s->how.points.size, rows = s->box->count;
    tmap_u32 count = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 first = 0; first < many; first += 64) {
        tmapi_pairs_point points[2];
        tmap_u32 numbers[2];
        const tmap_u32 exists = tmapi_near_pick_two(s, first, many, points, numbers);
        TMAPI_NO_UNROLL
        for (tmap_u32 y = 0; y < rows; y += step) {
            const tmapi_near_group g = tmapi_near_group_of(s, y);
            tmap_u32 sums = 0; // a byte for each row: at most 64
#pragma unroll
            for (tmap_u32 r = 0; r < step; ++r)
#pragma unroll
                for (tmap_u32 c = 0; c < 2; ++c) {
                    tmap_pair pair;
                    tmapi_value value;
                    sums += (exists >> c & tmapi_near_chosen(s, choice, &g, r, &points[c],
                                                             numbers[c], &pair, &value))
                            << 8 * r;
                }
            sums = tmap_warp_sum_redux(tmap_warp_full(), sums);
            if (lane - y < step) count += sums >> 8 * (lane - y) & 255;
        }
    }
    return count;
}

// Writes the neighbours of each row among the list's `many` points, a warp every fourth group of
// rows.
TMAP_DEVICE void tmapi_near_graph_write(const tmapi_near *s, const tmap_near_choice *choice,
                                        const tmap_near_graph_to *to, const tmapi_near_listing *l,
                                        tmapi_near_graph_rows *of, tmap_u32 many) {
    const tmap_u32 lane = threadIdx.x % 32, step = 16 / s->how.points.size;
    TMAPI_NO_UNROLL
    for (tmap_u32 y = threadIdx.x / 32 * step; y < s->box->count; y += TMAPI_NEAR_WARPS * step) {
        const tmapi_near_group g = tmapi_near_group_of(s, y);
        tmap_near_graph_to row[4];
        tmap_u32 count[4], fits = 0; // bits: the rows that are written
#pragma unroll
        for (tmap_u32 r = 0; r < step; ++r) {
            const tmap_u64 start = of->start[y + r];
            row[r] = *to, count[r] = of->count[y + r];
            if (start == ~0ull) continue;
            fits |= 1u << r, row[r].columns = (char *)to->columns + start * to->number;
            if (to->values) row[r].values = (char *)to->values + start * to->bytes;
        }
        TMAPI_NO_UNROLL
        for (tmap_u32 first = 0; first < many; first += 32) {
            tmapi_pairs_point point;
            const tmap_u32 at = first + lane, in = at < many ? fits : 0;
            const tmap_u32 number = tmapi_near_pick(s, l->points, l->room, l->number,
                                                    at < many ? at : many - 1, &point);
#pragma unroll
            for (tmap_u32 r = 0; r < step; ++r) {
                tmap_pair pair;
                tmapi_value value;
                const tmap_u32 hit =
                    in >> r & tmapi_near_chosen(s, choice, &g, r, &point, number, &pair, &value);
                const tmap_u32 hits = __ballot_sync(0xffffffffu, hit);
                if (hit)
                    tmapi_near_graph_put(&row[r],
                                         count[r] + (tmap_u32)__popc(hits & ((1u << lane) - 1)),
                                         number, &value);
                count[r] += (tmap_u32)__popc(hits);
            }
        }
        __syncwarp(); // all lanes have read the counts
#pragma unroll
        for (tmap_u32 r = 0; r < step; ++r)
            if (lane == r) of->count[y + r] = count[r];
    }
}

// The step of tmap_near_graph that your kernel does, in two launches: the first counts the
// neighbours of each point, the second one writes them. choice.both is 1, .number and .bytes those
// of `to`, else the call does nothing. All threads of all blocks call it, in blocks of
// TMAP_NEAR_THREADS threads, with the same `to` as tmap_near_graph. plan: of
// tmap_near_graph_plan_make; with a plan of another kind the call does nothing.
TMAP_DEVICE void tmap_near_connect(const tmap_near_plan *plan, tmap_near points,
                                   tmap_near_choice choice, const tmap_near_graph_to *to,
                                   void *job) {
    __shared__ tmapi_near_graph_rows of;
    __shared__ tmap_u32 found, behind;
    const tmap_u32 lane = threadIdx.x % 32, d = points.points.d, size = points.points.size;
    const tmap_u32 total = plan->others ? plan->others : plan->set.n;
    const tmap_u32 per = tmapi_near_graph_per(d, size), room = per * TMAP_NEAR_THREADS;
    unsigned char *memory = tmapi_pairs_memory() + tmapi_near_shared(d, size);
    tmapi_near_listing l = {
        memory, (tmap_u32 *)(memory + room * d * size), &found, &behind, room, 0, total};
    tmap_near_graph_to out = *to;
    tmap_u32 width = total;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_GRAPH, "tmap_near_connect")) return;
    const int agree = to->number == choice.number && to->bytes == choice.bytes && choice.both != 0;
    if (!TMAPI_CHECK(agree, "tmap_near_connect",
                     "choice is not both ways or has other sizes than to"))
        return;
    if (plan->kind != TMAP_NEAR_KIND_GRAPH || !agree) return;
    out.number = choice.number, out.bytes = choice.bytes; // constants
    points.bulk = 0;
    tmapi_near s = tmapi_near_begin(plan, points, 0, job, 0);
    s.both = 1;
    TMAPI_NO_UNROLL
    for (tmap_u64 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        TMAPI_NO_UNROLL
        for (tmap_u32 k = threadIdx.x / 32; k < plan->run;) { // all warps have the same leaf
            tmap_u32 count = 0, after = total;
            __syncthreads();
            if (!tmapi_near_take(&s, (tmap_u32)(plan->first + t), k)) break;
            const tmap_u32 number = s.row_number[lane];
            l.width = width < total - l.from ? width : total - l.from;
            if (threadIdx.x < TMAP_NEAR_LEAF && l.from == 0) {
                of.count[lane] = 0, of.start[lane] = ~0ull;
                if (plan->phase && lane < s.box->count && out.starts[number + 1] <= out.capacity)
                    of.start[lane] = out.starts[number];
            }
            if (threadIdx.x == 0) found = 0, behind = total;
            tmapi_near_fill(&s);
            __syncthreads();
            TMAPI_NO_UNROLL
            for (tmap_u32 many; (many = tmapi_near_next(&s)) != 0;)
                if (plan->phase)
                    after = tmapi_near_graph_gather(&s, &l, many, after);
                else
                    count += tmapi_near_graph_count(&s, &choice, many);
            if (!plan->phase) {
                if (count && lane < s.box->count) atomicAdd(&of.count[lane], count);
                __syncthreads();
                if (threadIdx.x < TMAP_NEAR_LEAF && number < plan->set.n)
                    out.starts[number] = of.count[lane];
                k += TMAPI_NEAR_WARPS;
                continue;
            }
            after = tmapi_near_min(after);
            if (lane == 0) atomicMin(&behind, after);
            __syncthreads();
            const tmap_u32 next = behind;
            tmap_u32 many = found;
            __syncthreads();
            if (many > room) { // once more, with fewer numbers
                width = 1 + (tmap_u32)((l.width - 1) * (tmap_u64)(room / 8 * 7) / many);
                if (l.width > 1) continue;
                many = room; // an order with one number many times
            }
            tmapi_near_graph_sort(&s, &l, many, per);
            tmapi_near_graph_write(&s, &choice, &out, &l, &of, many);
            if (many < room / 3 && width == l.width) width = width < total / 2 ? 2 * width : total;
            l.from = next;
            if (next < total) continue;
            l.from = 0, k += TMAPI_NEAR_WARPS;
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
    __shared__ tmap_u64 sums[33], tile;
    tmap_u64 *words = (tmap_u64 *)j.to.workspace;
    if (threadIdx.x == 0) tile = atomicAdd(words, 1ull);
    __syncthreads();
    const tmap_u64 i = tile * 1024 + threadIdx.x, own = i < j.n ? j.to.starts[i] : 0;
    tmap_u64 sum = tmapi_warp_scan64(threadIdx.x % 32, own);
    sum += tmapi_near_scan(sums, 32, words + 2, tile, __shfl_sync(0xffffffffu, sum, 31));
    if (i < j.n) j.to.starts[i] = sum - own;
    if (i + 1 == j.n) j.to.starts[j.n] = sum;
}

// ---- the call -----------------------------------------------------------------------------------

// Finds the graph of a prepared set. plan: of tmap_near_graph_plan_make, not a share of it. job: of
// your kernel, which calls tmap_near_connect. If there are more neighbours than to->capacity,
// starts[n] says so; rows that end within the capacity are complete, and nothing is written behind
// it. Points that are not finite have no neighbours; those that the set's order leaves out must not
// exist. Returns cudaErrorInvalidValue for a null pointer, wrong alignment, sizes other than those
// named, and a plan of another kind or a share of one; else the error of a CUDA call. Does not
// wait; can be captured in a graph. The result is the same in every run.
// Cost: your kernel twice and a pass over the starts. The second time it sorts the points near each
// leaf, in ranges of at most 1024 (256 with 64 bytes a point), and looks for them once a range.
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
    p.phase = 0;
    if (!error) error = tmap_near_launch(&p, job, stream);
    if (!error)
        error = tmapi_launch((const void *)tmapi_near_starts_kernel, starts, arguments, stream);
    p.phase = 1;
    if (!error) error = tmap_near_launch(&p, job, stream);
    return error;
}

// Makes the plan of a kernel that calls tmap_near_connect. Errors as tmap_near_plan_make.
static inline cudaError_t tmap_near_graph_plan_make(tmap_near_shape set, const void *kernel,
                                                    tmap_near_plan *out) {
    return tmapi_near_plan_for(set, TMAP_NEAR_KIND_GRAPH, tmapi_near_graph_shared(set), kernel,
                               out);
}

#endif

#endif // TMAP_CUDA
#endif
