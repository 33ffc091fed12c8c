// SPDX-License-Identifier: MIT
// pairs_work.h: works of bench_pairs that have one result of all pairs, through the library's
// engine, as a user writes it, and by a thread for each pair: pairs within a radius (pairs_count.h),
// the terms of dRMSD, and a histogram of distances by atomics in a block's shared memory.
#ifndef BENCH_TRIANGLE_PAIRS_WORK_H
#define BENCH_TRIANGLE_PAIRS_WORK_H

#include "pairs_count.h"
#include "pairs_sweep.h"

// ---- pairs within a radius, by a thread for each ------------------------------------------------

static __global__ void pairs_count_thread(tmap_u32 n, tmap_u64 pairs, pairs_job j) {
    tmap_u64 sum = 0;
    BENCH_EACH(k, pairs) {
        const tmap_pair64 p = tmap_condensed_map64(k, n);
        sum += pairs_near(j.points + 3 * p.i, j.points + 3 * p.j, j.minus_r2);
    }
    sum = (tmap_u64)tmap_warp_sum_i64(tmap_warp_full(), (tmap_i64)sum);
    if (threadIdx.x % 32 == 0) atomicAdd((tmap_u64 *)j.to.result, sum);
}

// ---- terms of dRMSD -----------------------------------------------------------------------------

// The GPU's root, off by a place, of numbers that are 0 or normal.
TMAP_DEVICE float pairs_root(float x) {
#if defined(__CUDA_ARCH__)
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrtf(x);
#endif
}

// A point is an atom in two frames. The terms of a thread in a tile are added as floats, the tiles'
// sums in double.
TMAP_DEVICE float pairs_drmsd(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    const float p = u[3] - v[3], q = u[4] - v[4], r = u[5] - v[5];
    const float d = pairs_root(x * x + y * y + z * z) - pairs_root(p * p + q * q + r * r);
    return d * d;
}
typedef struct pairs_terms {
    float part;
    tmap_u32 none;
    double sum;
} pairs_terms;
TMAP_DEVICE void pairs_drmsd_add(void *, void *sum, tmap_pair, const void *a, const void *b) {
    ((pairs_terms *)sum)->part += pairs_drmsd((const float *)a, (const float *)b);
}
TMAP_DEVICE void pairs_drmsd_join(void *, void *sum, const void *other) {
    pairs_terms *s = (pairs_terms *)sum;
    const pairs_terms *o = (const pairs_terms *)other;
    s->sum += (double)s->part + ((double)o->part + o->sum), s->part = 0;
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 1)
    pairs_drmsd_sum(tmap_pairs_plan plan, pairs_job j) {
    const tmap_points points = {j.points, 0, sizeof(float), 6};
    const pairs_terms zero = {0, 0, 0};
    const tmap_fold sum = {&zero, sizeof zero, pairs_drmsd_join};
    tmap_pairs_fold(&plan, points, pairs_drmsd_add, sum, j.to, 0);
}
static __global__ void pairs_drmsd_thread(tmap_u32 n, tmap_u64 pairs, pairs_job j) {
    double sum = 0;
    BENCH_EACH(k, pairs) {
        const tmap_pair64 p = tmap_condensed_map64(k, n);
        sum += (double)pairs_drmsd(j.points + 6 * p.i, j.points + 6 * p.j);
    }
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd((double *)j.to.result, sum);
}

// ---- in a size ----------------------------------------------------------------------------------

// A work, ready to run in both ways.
typedef struct pairs_fold_work {
    pairs_job job;
    pairs_call engine, thread;
} pairs_fold_work;

static void pairs_fold_begin(const pairs_sweep *s, tmap_u32 d, const void *kernel,
                             const void *thread, tmap_u32 bytes, pairs_fold_work *w) {
    w->engine = pairs_call_engine(&w->job);
    CHECK(tmap_pairs_plan_make(s->n, d, sizeof(float), kernel, &w->engine.plan));
    w->job.points = pairs_points(s, d), w->job.minus_r2 = -PAIRS_RADIUS * PAIRS_RADIUS;
    w->job.to.workspace = kit_device(tmap_pairs_fold_bytes(&w->engine.plan, bytes));
    CHECK(cudaMemset(w->job.to.workspace, 0, (size_t)tmap_pairs_fold_clear(&w->engine.plan)));
    w->job.to.result = kit_device(bytes);
    w->thread = pairs_call_thread(s, thread, &w->job, w->job.to.result, 8);
}
// What a run of the engine gives on poisoned memory, then what threads give, to got and want.
static void pairs_fold_results(pairs_fold_work *w, void *got, size_t bytes, void *want) {
    CHECK(cudaMemset(w->job.to.result, 0xff, bytes));
    pairs_call_run(&w->engine);
    CHECK(cudaMemcpy(got, w->job.to.result, bytes, cudaMemcpyDeviceToHost));
    pairs_call_run(&w->thread);
    CHECK(cudaMemcpy(want, w->job.to.result, 8, cudaMemcpyDeviceToHost));
}

// The count of a run of the engine, which is that of a thread for each pair, or the program ends.
static tmap_u64 pairs_count_verify(bench_row *row, pairs_fold_work *w) {
    pairs_counts got;
    tmap_u64 want;
    pairs_fold_results(w, &got, sizeof got, &want);
    pairs_verify(row, got.sum + got.part == want, (double)(got.sum + got.part), (double)want);
    return want;
}

static bench_row pairs_count_row(const pairs_sweep *s, int variant, double radius) {
    bench_row row = pairs_row(s, variant, PAIRS_COUNT, 3);
    bench_key(&row, "radius", "%.4f", radius);
    return row;
}

// The least number of instructions for a pair, as the GPU has them: 3 differences, 3 multiplications
// and additions, and 1 sign added.
static void pairs_sweep_count(pairs_sweep *s) {
    bench_row row = pairs_count_row(s, PAIRS_COUNT, PAIRS_RADIUS);
    bench_row thread = pairs_count_row(s, PAIRS_THREAD, PAIRS_RADIUS);
    const int engine = bench_wants(&s->d, &row), other = bench_wants(&s->d, &thread);
    pairs_fold_work w;
    tmap_u64 hits;
    if (!engine && !other) return;
    pairs_fold_begin(s, 3, (const void *)pairs_count, (const void *)pairs_count_thread,
                     sizeof(pairs_counts), &w);
    hits = pairs_count_verify(&row, &w), thread.verified = 1;
    bench_key(&row, "hits", "%llu", hits);
    bench_key(&thread, "hits", "%llu", hits);
    if (engine) s->count_ms = pairs_time(s, &row, &w.engine, pairs_limit_ms(s, 7));
    if (other) pairs_time(s, &thread, &w.thread, pairs_limit_ms(s, 7));
}

// 6 differences, 6 multiplications and additions, 2 roots, a difference, and a multiplication and
// addition.
static void pairs_sweep_drmsd(pairs_sweep *s) {
    bench_row row = pairs_row(s, PAIRS_DRMSD, PAIRS_DRMSD, 6);
    bench_row thread = pairs_row(s, PAIRS_THREAD, PAIRS_DRMSD, 6);
    const int engine = bench_wants(&s->d, &row), other = bench_wants(&s->d, &thread);
    pairs_fold_work w;
    pairs_terms got;
    double want;
    if (!engine && !other) return;
    pairs_fold_begin(s, 6, (const void *)pairs_drmsd_sum, (const void *)pairs_drmsd_thread,
                     sizeof(pairs_terms), &w);
    pairs_fold_results(&w, &got, sizeof got, &want);
    got.sum += (double)got.part;
    pairs_verify(&row, fabs(got.sum - want) <= 1e-6 * want, got.sum, want), thread.verified = 1;
    if (engine) pairs_time(s, &row, &w.engine, pairs_limit_ms(s, 16));
    if (other) pairs_time(s, &thread, &w.thread, pairs_limit_ms(s, 16));
}

// ---- pairs by distance --------------------------------------------------------------------------

#define PAIRS_BINS 64u // a block has them once

typedef struct pairs_histogram_job {
    const float *points;
    tmap_u64 *total;
    tmap_u32 *bins; // of the block, in shared memory
} pairs_histogram_job;

// The number of widths that is nearest to the distance, which is below sqrt(3): 63 at most. Added
// to 2^23, a number below that is rounded and stands in the low bits; a conversion would take as
// long as the root.
TMAP_DEVICE tmap_u32 pairs_bin(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    const float distance = pairs_root(fmaf(z, z, fmaf(y, y, x * x)));
    return __float_as_uint(fmaf(distance, 36.4f, 8388608.0f)) - 0x4b000000u;
}
TMAP_DEVICE void pairs_bin_add(void *job, void *, tmap_pair, const void *a, const void *b) {
    atomicAdd(((pairs_histogram_job *)job)->bins + pairs_bin((const float *)a, (const float *)b),
              1u);
}
TMAP_DEVICE void pairs_bins_clear(tmap_u32 *bins) {
    for (tmap_u32 i = threadIdx.x; i < PAIRS_BINS; i += blockDim.x) bins[i] = 0;
    __syncthreads();
}
// Adds a block's counts to those in memory.
TMAP_DEVICE void pairs_bins_flush(const tmap_u32 *bins, tmap_u64 *total) {
    __syncthreads();
    if (threadIdx.x < PAIRS_BINS) atomicAdd(total + threadIdx.x, (tmap_u64)bins[threadIdx.x]);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    pairs_histogram(tmap_pairs_plan plan, pairs_histogram_job j) {
    __shared__ tmap_u32 bins[PAIRS_BINS];
    const tmap_points points = {j.points, 0, sizeof(float), 3};
    pairs_bins_clear(bins);
    j.bins = bins;
    tmap_pairs_each(&plan, points, pairs_bin_add, &j);
    pairs_bins_flush(bins, j.total);
}
static __global__ void pairs_histogram_thread(tmap_u32 n, tmap_u64 pairs, pairs_histogram_job j) {
    __shared__ tmap_u32 bins[PAIRS_BINS];
    pairs_bins_clear(bins);
    BENCH_EACH(k, pairs) {
        const tmap_pair64 p = tmap_condensed_map64(k, n);
        atomicAdd(bins + pairs_bin(j.points + 3 * p.i, j.points + 3 * p.j), 1u);
    }
    pairs_bins_flush(bins, j.total);
}

static bench_row pairs_histogram_row(const pairs_sweep *s, int variant) {
    bench_row row = pairs_row(s, variant, PAIRS_HISTOGRAM, 3);
    bench_key(&row, "copies", "1");
    return row;
}

// 3 differences, 3 multiplications and additions, a root, the bin, its place, and an atomic.
static void pairs_sweep_histogram(pairs_sweep *s) {
    bench_row row = pairs_histogram_row(s, PAIRS_HISTOGRAM);
    bench_row other = pairs_histogram_row(s, PAIRS_THREAD);
    const int engine = bench_wants(&s->d, &row), threads = bench_wants(&s->d, &other);
    pairs_histogram_job j;
    pairs_call call = pairs_call_engine(&j), thread;
    tmap_u64 want[PAIRS_BINS], got[PAIRS_BINS], all = 0;
    if (!engine && !threads) return;
    bench_key(&row, "bins", "%u", PAIRS_BINS), bench_key(&other, "bins", "%u", PAIRS_BINS);
    j.points = pairs_points(s, 3), j.bins = 0;
    j.total = (tmap_u64 *)kit_guarded(sizeof got);
    call.clear = j.total, call.bytes = sizeof got;
    thread = pairs_call_thread(s, (const void *)pairs_histogram_thread, &j, j.total, sizeof got);
    CHECK(tmap_pairs_plan_make(s->n, 3, sizeof(float), (const void *)pairs_histogram, &call.plan));
    pairs_call_run(&thread);
    CHECK(cudaMemcpy(want, j.total, sizeof want, cudaMemcpyDeviceToHost));
    pairs_call_run(&call);
    CHECK(cudaMemcpy(got, j.total, sizeof got, cudaMemcpyDeviceToHost));
    for (tmap_u32 bin = 0; bin < PAIRS_BINS; ++bin) {
        all += want[bin];
        pairs_verify(&row, got[bin] == want[bin], (double)got[bin], (double)want[bin]);
    }
    pairs_verify(&other, all == s->pairs, (double)all, (double)s->pairs);
    if (engine) pairs_time(s, &row, &call, pairs_limit_ms(s, 10));
    if (threads) pairs_time(s, &other, &thread, pairs_limit_ms(s, 10));
}

#endif
