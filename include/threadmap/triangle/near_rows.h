// SPDX-License-Identifier: MIT
// near_rows.h: a value for each point from those that may be near it: forces, densities, numbers of
// neighbours. near.h says how points are prepared and how functions of two boxes are written.
//
//     const tmap_near points = {{j.set, 0, sizeof(float), 3}, reach, 0}; // in your kernel
//     tmap_near_rows(&plan, points, give, sum, j.forces, &j);
//     ... tmap_near_rows_plan_make(shape, 12, (const void *)push, &plan);
//     ... tmap_near_launch(&plan, &j, stream);
#ifndef TMAP_TRIANGLE_NEAR_ROWS_H
#define TMAP_TRIANGLE_NEAR_ROWS_H

#include "near.h"
#include "pairs_rows.h"

// ---- plans --------------------------------------------------------------------------------------

// Bytes of dynamic shared memory: the queues, or later an accumulator of each thread.
TMAP_FN tmap_u32 tmapi_near_rows_shared(tmap_near_shape set, tmap_u32 bytes) {
    const tmap_u32 queues = tmapi_near_shared(set.d, set.size);
    return queues > TMAP_NEAR_THREADS * bytes ? queues : TMAP_NEAR_THREADS * bytes;
}

// Makes the plan of tmap_near_rows_plan_make from facts, without a CUDA call; out->kernel is 0.
TMAP_FN int tmap_near_rows_plan_of(tmap_near_shape set, tmap_u32 bytes, const tmap_facts *facts,
                                   tmap_near_plan *out) {
    if (bytes < 4 || bytes > TMAP_PAIRS_ROWS_BYTES_MAX || bytes % 4) return TMAP_EINVAL;
    return tmapi_near_plan_kind(set, TMAP_NEAR_KIND_ROWS, tmapi_near_rows_shared(set, bytes), facts,
                                out);
}

#if TMAP_CUDA

// ---- the call -----------------------------------------------------------------------------------

// Calls give for every point of the queue and the lane's row.
TMAP_DEVICE void tmapi_near_give_queue(const tmapi_near *s, tmap_pairs_give give, tmap_u32 many) {
    const tmap_u32 size = s->how.points.size, d = s->how.points.d, step = 16 / size;
    const tmap_u32 lane = threadIdx.x % 32;
    tmapi_pairs_row own;
    tmap_pair pair;
    if (lane >= s->box->count) return;
    tmapi_near_row(s, lane, own.bytes), own.set = 0;
    pair.i = s->row_number[lane];
    TMAPI_NO_UNROLL
    for (tmap_u32 q = 0; q < many; q += step) {
        tmapi_value vector[TMAP_PAIRS_D_MAX];
        tmapi_near_copy(d, vector, 16, s->queue + q * size, TMAPI_NEAR_QUEUE * size, 16);
#pragma unroll
        for (tmap_u32 r = 0; r < step; ++r) {
            tmapi_pairs_point point;
            tmapi_give_words dropped = {{0}};
            pair.j = s->number[q + r];
            tmapi_near_copy(d, point.bytes, size, vector->bytes + r * size, 16, size);
            if (q + r < many && (s->plan->others || pair.j != pair.i))
                give(s->job, pair, own.bytes, point.bytes, s->accumulator, &dropped);
        }
    }
}

// Accumulates give(job, pair, a, b, to_i, to_j) for each point of the first set over all points of
// the same set, or of the second one, that reach does not rule out, and writes an accumulator for
// each to result, in the order of your array; fold.zero where there are none. give is the function
// of tmap_pairs_rows. What it adds to to_j is dropped, and it is called once more with both points
// exchanged. fold.join joins four partial results where there are few points. A share
// writes the points of its own leaves. plan: of tmap_near_rows_plan_make for the same fold.bytes;
// with a plan of another kind the call writes nothing. result: n accumulators, at a multiple of 4.
// The rest is as for tmap_near_each.
// Exactness: as tmap_near_fold.
TMAP_DEVICE void tmap_near_rows(const tmap_near_plan *plan, tmap_near points, tmap_pairs_give give,
                                tmap_fold fold, void *result, void *job) {
    tmapi_give_words sum;
    const tmap_u32 bytes = fold.bytes;
    const int fits = bytes % 4 == 0 && bytes - 4 <= TMAP_PAIRS_ROWS_BYTES_MAX - 4;
    if (!tmapi_near_check(plan, points.points, TMAP_NEAR_KIND_ROWS, "tmap_near_rows") ||
        !TMAPI_CHECK(fits, "tmap_near_rows", "fold.bytes is not a multiple of 4 from 4 to 256"))
        return;
    if (!fits || plan->kind != TMAP_NEAR_KIND_ROWS || plan->shared < TMAP_NEAR_THREADS * bytes)
        return;
    points.bulk = 0;
    tmapi_near s = tmapi_near_begin(plan, points, &sum, job, 0);
    s.both = 1;
    TMAPI_NO_UNROLL
    for (tmap_u32 t = blockIdx.x; t < plan->count; t += gridDim.x) {
        TMAPI_NO_UNROLL
        for (tmap_u32 k = threadIdx.x / 32; k < plan->run; k += TMAPI_NEAR_WARPS) {
            unsigned char *parts = tmapi_pairs_memory();
            if (!tmapi_near_take(&s, (tmap_u32)plan->first + t, k)) break;
            const tmap_u32 number = s.row_number[threadIdx.x % 32];
            tmapi_give_copy(&sum, fold.zero, bytes);
            TMAPI_NO_UNROLL
            for (tmap_u32 many; (many = tmapi_near_next(&s)) != 0;)
                tmapi_near_give_queue(&s, give, many);
            if (plan->parts > 1) { // the block's warps share the leaf
                __syncthreads();   // all queues are free
                tmapi_give_copy(parts + threadIdx.x * bytes, &sum, bytes);
                __syncthreads();
                TMAPI_NO_UNROLL
                for (tmap_u32 w = 1; w < TMAPI_NEAR_WARPS && !s.me; ++w) {
                    tmapi_give_words other;
                    tmapi_give_copy(&other, parts + (w * 32 + threadIdx.x) * bytes, bytes);
                    fold.join(job, &sum, &other);
                }
                __syncthreads();
            }
            if (s.me == 0 && number < plan->set.n)
                tmapi_give_copy((unsigned char *)result + number * (tmap_u64)bytes, &sum, bytes);
        }
    }
}

#if !TMAP_NVRTC

// Makes the plan of a kernel that calls tmap_near_rows with accumulators of `bytes` bytes: a
// multiple of 4, 4 to TMAP_PAIRS_ROWS_BYTES_MAX.
static inline cudaError_t tmap_near_rows_plan_make(tmap_near_shape set, tmap_u32 bytes,
                                                   const void *kernel, tmap_near_plan *out) {
    if (bytes < 4 || bytes > TMAP_PAIRS_ROWS_BYTES_MAX || bytes % 4) return cudaErrorInvalidValue;
    return tmapi_near_plan_for(set, TMAP_NEAR_KIND_ROWS, tmapi_near_rows_shared(set, bytes), kernel,
                               out);
}

#endif

#endif // TMAP_CUDA
#endif
