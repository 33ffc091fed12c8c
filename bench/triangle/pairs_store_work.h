// SPDX-License-Identifier: MIT
// pairs_store_work.h: works of bench_pairs that store a value for each pair, in scipy's condensed
// order: through the library's engine, as a user writes it, and by a thread for each pair.
#ifndef BENCH_TRIANGLE_PAIRS_STORE_WORK_H
#define BENCH_TRIANGLE_PAIRS_STORE_WORK_H

#include "pairs_work.h"

typedef struct pairs_store_job {
    const float *points;
    float *out;
} pairs_store_job;

// ---- values and kernels -------------------------------------------------------------------------

TMAP_DEVICE float pairs_chebyshev(const float *u, const float *v) {
    return fmaxf(fmaxf(fabsf(u[0] - v[0]), fabsf(u[1] - v[1])), fabsf(u[2] - v[2]));
}
TMAP_DEVICE float pairs_euclidean(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return pairs_root(x * x + y * y + z * z);
}

// Through the engine, and a thread for each pair.
#define PAIRS_STORE_KERNELS(name) \
    TMAP_DEVICE void pairs_##name##_value(void *, tmap_pair, const void *a, const void *b, \
                                          void *value) { \
        *(float *)value = pairs_##name((const float *)a, (const float *)b); \
    } \
    static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, TMAP_PAIRS_STORE_BLOCKS) \
        pairs_store_##name(tmap_pairs_plan plan, pairs_store_job j) { \
        const tmap_points points = {j.points, 0, sizeof(float), 3}; \
        tmap_pairs_store(&plan, points, pairs_##name##_value, sizeof(float), j.out, 0); \
    } \
    static __global__ void pairs_store_##name##_thread(tmap_u32 n, tmap_u64 pairs, \
                                                       pairs_store_job j) { \
        BENCH_EACH(k, pairs) { \
            const tmap_pair64 p = tmap_condensed_map64(k, n); \
            j.out[k] = pairs_##name(j.points + 3 * p.i, j.points + 3 * p.j); \
        } \
    }
PAIRS_STORE_KERNELS(chebyshev)
PAIRS_STORE_KERNELS(euclidean)
#undef PAIRS_STORE_KERNELS

// ---- verification -------------------------------------------------------------------------------

// Counts the pairs, row by row, whose value is not the one computed in double: a maximum of exact
// differences exactly, a root up to its last places. Poison is no number, and so is wrong.
static __global__ void pairs_store_check(tmap_u32 n, int euclidean, pairs_store_job j,
                                         tmap_u64 *wrong) {
    for (tmap_u64 i = blockIdx.x; i + 1 < n; i += gridDim.x) {
        const float *row = j.out + i * (2ull * n - i - 1) / 2, *u = j.points + 3 * i;
        tmap_u64 bad = 0;
        for (tmap_u64 k = threadIdx.x; k < n - 1 - i; k += blockDim.x) {
            const float *v = u + 3 * (k + 1);
            double want = 0;
            for (int c = 0; c < 3; ++c) {
                const double x = fabs((double)u[c] - (double)v[c]);
                want = euclidean ? want + x * x : x > want ? x : want;
            }
            if (euclidean) want = sqrt(want);
            bad += !(fabs((double)row[k] - want) <= (euclidean ? 1e-6 * want : 0));
        }
        if (bad) atomicAdd(wrong, bad);
    }
}

// Runs a call on poisoned memory; the program ends if a value is wrong.
static void pairs_store_verify(const pairs_sweep *s, bench_row *row, int of, pairs_call *call) {
    const pairs_store_job j = *(const pairs_store_job *)call->job;
    CHECK(cudaMemset(j.out, 0xff, (size_t)(s->pairs * sizeof *j.out)));
    pairs_call_run(call);
    pairs_store_check<<<s->n, 256>>>(s->n, of == PAIRS_STORE_EUCLIDEAN, j, bench_counter());
    bench_verify(row, bench_count(), "values");
}

// ---- in a size ----------------------------------------------------------------------------------

// One of the two values. The limit is the time for the bytes of the output.
static void pairs_sweep_store(pairs_sweep *s, int of) {
    const int chebyshev = of == PAIRS_STORE_CHEBYSHEV;
    const tmap_pairs_store_shape shape = {s->n, 3, sizeof(float), TMAP_PAIRS_CONDENSED,
                                          sizeof(float)};
    const tmap_u64 bytes = s->pairs * sizeof(float);
    bench_row rows[2] = {pairs_row(s, of, of, 3), pairs_row(s, PAIRS_THREAD, of, 3)};
    const int engine = bench_wants(&s->d, &rows[0]), thread = bench_wants(&s->d, &rows[1]);
    const double limit = 1e-9 * (double)bytes / s->d.ceilings.fill_tbs;
    size_t free_bytes, total;
    pairs_store_job j;
    pairs_call calls[2];
    if (!engine && !thread) return;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (bytes > (tmap_u64)free_bytes / 10 * 9) {
        bench_left_out(&rows[0], "%.1f GB", 1e-9 * (double)bytes);
        return;
    }
    j.points = pairs_points(s, 3);
    j.out = (float *)kit_guarded(bytes);
    calls[0] = pairs_call_engine(&j);
    CHECK(tmap_pairs_store_plan_make(shape,
                                     chebyshev ? (const void *)pairs_store_chebyshev
                                               : (const void *)pairs_store_euclidean,
                                     &calls[0].plan));
    calls[1] = pairs_call_thread(s,
                                 chebyshev ? (const void *)pairs_store_chebyshev_thread
                                           : (const void *)pairs_store_euclidean_thread,
                                 &j, 0, 0);
    for (int k = 0; k < 2; ++k) {
        if (!(k ? thread : engine)) continue;
        pairs_store_verify(s, &rows[k], of, &calls[k]);
        pairs_time(s, &rows[k], &calls[k], limit);
    }
}

static void pairs_sweep_store_chebyshev(pairs_sweep *s) {
    pairs_sweep_store(s, PAIRS_STORE_CHEBYSHEV);
}
static void pairs_sweep_store_euclidean(pairs_sweep *s) {
    pairs_sweep_store(s, PAIRS_STORE_EUCLIDEAN);
}

#endif
