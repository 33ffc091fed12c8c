// SPDX-License-Identifier: MIT
// pairs_histogram_work.h: the work of bench_pairs that counts how many pairs are how far apart, by
// atomics in a block's shared memory: through the library's engine, as a user writes it, and by a
// thread for each pair.
#ifndef BENCH_TRIANGLE_PAIRS_HISTOGRAM_WORK_H
#define BENCH_TRIANGLE_PAIRS_HISTOGRAM_WORK_H

#include "pairs_work.h"

// The counts of a block stand once, or once for each lane, so that no two lanes of a warp add to
// the same bank.
#define PAIRS_BINS  64u
#define PAIRS_LANES 32u

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
TMAP_DEVICE void pairs_bin_add_lanes(void *job, void *, tmap_pair, const void *a, const void *b) {
    atomicAdd(((pairs_histogram_job *)job)->bins +
                  pairs_bin((const float *)a, (const float *)b) * PAIRS_LANES,
              1u);
}
TMAP_DEVICE void pairs_bins_clear(tmap_u32 *bins, tmap_u32 count) {
    for (tmap_u32 i = threadIdx.x; i < count; i += blockDim.x) bins[i] = 0;
    __syncthreads();
}
// Adds a block's counts, of `copies` for each bin, to those in memory.
TMAP_DEVICE void pairs_bins_flush(const tmap_u32 *bins, tmap_u32 copies, tmap_u64 *total) {
    __syncthreads();
    if (threadIdx.x >= PAIRS_BINS) return;
    tmap_u64 sum = 0;
    for (tmap_u32 k = 0; k < copies; ++k) // each thread from another bank on
        sum += bins[threadIdx.x * copies + (threadIdx.x + k) % copies];
    atomicAdd(total + threadIdx.x, sum);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    pairs_histogram(tmap_pairs_plan plan, pairs_histogram_job j) {
    __shared__ tmap_u32 bins[PAIRS_BINS];
    const tmap_points points = {j.points, 0, sizeof(float), 3};
    pairs_bins_clear(bins, PAIRS_BINS);
    j.bins = bins;
    tmap_pairs_each(&plan, points, pairs_bin_add, &j);
    pairs_bins_flush(bins, 1, j.total);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    pairs_histogram_lanes(tmap_pairs_plan plan, pairs_histogram_job j) {
    __shared__ tmap_u32 bins[PAIRS_BINS * PAIRS_LANES];
    const tmap_points points = {j.points, 0, sizeof(float), 3};
    pairs_bins_clear(bins, PAIRS_BINS * PAIRS_LANES);
    j.bins = bins + threadIdx.x % PAIRS_LANES;
    tmap_pairs_each(&plan, points, pairs_bin_add_lanes, &j);
    pairs_bins_flush(bins, PAIRS_LANES, j.total);
}
static __global__ void pairs_histogram_thread(tmap_u32 n, tmap_u64 pairs, pairs_histogram_job j) {
    __shared__ tmap_u32 bins[PAIRS_BINS];
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    pairs_bins_clear(bins, PAIRS_BINS);
    for (tmap_u64 k = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; k < pairs; k += stride) {
        const tmap_pair64 p = tmap_condensed_map64(k, n);
        atomicAdd(bins + pairs_bin(j.points + 3 * p.i, j.points + 3 * p.j), 1u);
    }
    pairs_bins_flush(bins, 1, j.total);
}

// ---- in a size ----------------------------------------------------------------------------------

// 3 differences, 3 multiplications and additions, a root, the bin, its place, and an atomic.
static void pairs_sweep_histogram(pairs_sweep *s) {
    const void *kernels[2] = {(const void *)pairs_histogram, (const void *)pairs_histogram_lanes};
    const tmap_u32 copies[2] = {1, PAIRS_LANES};
    const double limit = pairs_limit_ms(s, 10);
    pairs_histogram_job j;
    pairs_call thread;
    tmap_u64 want[PAIRS_BINS], got[PAIRS_BINS], all = 0;
    char more[64];
    if (!pairs_wants(s, PAIRS_HISTOGRAM, PAIRS_HISTOGRAM) &&
        !pairs_wants(s, PAIRS_THREAD, PAIRS_HISTOGRAM))
        return;
    j.points = pairs_points(s, 3), j.bins = 0;
    j.total = (tmap_u64 *)pairs_alloc(sizeof got);
    thread = pairs_call_thread(s, (const void *)pairs_histogram_thread, &j, j.total, sizeof got);
    pairs_call_run(&thread);
    CHECK(cudaMemcpy(want, j.total, sizeof want, cudaMemcpyDeviceToHost));
    for (tmap_u32 bin = 0; bin < PAIRS_BINS; ++bin) all += want[bin];
    if (all != s->pairs)
        pairs_wrong(s, PAIRS_THREAD, PAIRS_HISTOGRAM, (double)all, (double)s->pairs);
    for (int form = 0; form < 2; ++form) {
        pairs_call engine = pairs_call_engine(&j);
        engine.clear = j.total, engine.bytes = sizeof got;
        CHECK(tmap_pairs_plan_make(s->n, 3, sizeof(float), kernels[form], &engine.plan));
        pairs_call_run(&engine);
        CHECK(cudaMemcpy(got, j.total, sizeof got, cudaMemcpyDeviceToHost));
        for (tmap_u32 bin = 0; bin < PAIRS_BINS; ++bin)
            if (got[bin] != want[bin])
                pairs_wrong(s, PAIRS_HISTOGRAM, PAIRS_HISTOGRAM, (double)got[bin],
                            (double)want[bin]);
        snprintf(more, sizeof more, "\"bins\": %u, \"copies\": %u", PAIRS_BINS, copies[form]);
        pairs_time(s, PAIRS_HISTOGRAM, PAIRS_HISTOGRAM, 3, &engine, limit, more);
    }
    snprintf(more, sizeof more, "\"bins\": %u, \"copies\": 1", PAIRS_BINS);
    pairs_time(s, PAIRS_THREAD, PAIRS_HISTOGRAM, 3, &thread, limit, more);
    CHECK(cudaFree((void *)j.points));
    CHECK(cudaFree(j.total));
}

#endif
