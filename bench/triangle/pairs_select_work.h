// SPDX-License-Identifier: MIT
// pairs_select_work.h: the work of bench_pairs that lists the pairs within a radius: through the
// library's engine, as a user writes it, in both of its orders, and by a thread for each pair, which
// takes places in the list by an atomic.
#ifndef BENCH_TRIANGLE_PAIRS_SELECT_WORK_H
#define BENCH_TRIANGLE_PAIRS_SELECT_WORK_H

#include "pairs_work.h"

typedef struct pairs_select_job {
    const float *points;
    float minus_r2;
    tmap_pairs_list list;
} pairs_select_job;

// Negative where a pair is near, as in the count.
TMAP_DEVICE float pairs_apart(const float *u, const float *v, float minus_r2) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return fmaf(z, z, fmaf(y, y, fmaf(x, x, minus_r2)));
}
TMAP_DEVICE int pairs_is_near(void *job, tmap_pair, const void *a, const void *b, void *) {
    return pairs_apart((const float *)a, (const float *)b,
                       ((const pairs_select_job *)job)->minus_r2) < 0;
}
#define PAIRS_SELECT_KERNEL(name, order) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS) \
        pairs_select_##name(tmap_pairs_plan plan, pairs_select_job j) { \
        const tmap_points points = {j.points, 0, sizeof(float), 3}; \
        const tmap_pairs_choice near = {pairs_is_near, 0, order}; \
        tmap_pairs_select(&plan, points, near, &j.list, &j); \
    }
PAIRS_SELECT_KERNEL(any, TMAP_PAIRS_ANY_ORDER)
PAIRS_SELECT_KERNEL(fixed, TMAP_PAIRS_FIXED_ORDER)
#undef PAIRS_SELECT_KERNEL
static __global__ void pairs_select_thread(tmap_u32 n, tmap_u64 pairs, pairs_select_job j) {
    BENCH_EACH(k, pairs) {
        const tmap_pair64 p = tmap_condensed_map64(k, n);
        if (pairs_apart(j.points + 3 * p.i, j.points + 3 * p.j, j.minus_r2) < 0) {
            const tmap_u64 at = atomicAdd(j.list.count, 1ull);
            if (at >= j.list.capacity) continue;
            j.list.pairs[at].i = (tmap_u32)p.i, j.list.pairs[at].j = (tmap_u32)p.j;
        }
    }
}

// ---- verification -------------------------------------------------------------------------------

// Of a list, or of all hits: how many, how many pairs that are none, and the sum of a hash. Lists of
// as many hits with the same sum have the same pairs.
typedef struct pairs_select_seen {
    tmap_u64 hits, bad, hash;
} pairs_select_seen;

TMAP_FN tmap_u64 pairs_select_hash(tmap_u64 i, tmap_u64 j) {
    tmap_u64 h = (i << 32 | j) * 0x9e3779b97f4a7c15ull;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    return h ^ h >> 29;
}
TMAP_DEVICE void pairs_select_see(pairs_select_seen mine, pairs_select_seen *all) {
    if (mine.hits) atomicAdd(&all->hits, mine.hits), atomicAdd(&all->hash, mine.hash);
    if (mine.bad) atomicAdd(&all->bad, mine.bad);
}
static __global__ void pairs_select_see_hits(tmap_u32 n, float minus_r2, const float *points,
                                             pairs_select_seen *all) {
    pairs_select_seen mine = {0, 0, 0};
    for (tmap_u64 i = blockIdx.x; i < n; i += gridDim.x)
        for (tmap_u64 j = i + 1 + threadIdx.x; j < n; j += blockDim.x)
            if (pairs_apart(points + 3 * i, points + 3 * j, minus_r2) < 0)
                ++mine.hits, mine.hash += pairs_select_hash(i, j);
    pairs_select_see(mine, all);
}
static __global__ void pairs_select_see_list(tmap_u32 n, tmap_u64 count, float minus_r2,
                                             const float *points, const tmap_pair *list,
                                             pairs_select_seen *all) {
    pairs_select_seen mine = {0, 0, 0};
    BENCH_EACH(k, count) {
        const tmap_u64 i = list[k].i, j = list[k].j;
        ++mine.hits, mine.hash += pairs_select_hash(i, j);
        if (i >= j || j >= n || !(pairs_apart(points + 3 * i, points + 3 * j, minus_r2) < 0))
            ++mine.bad;
    }
    pairs_select_see(mine, all);
}
static __global__ void pairs_select_differ(tmap_u64 words, const tmap_u64 *a, const tmap_u64 *b,
                                           tmap_u64 *differ) {
    tmap_u64 sum = 0;
    BENCH_EACH(k, words)
    sum += a[k] != b[k];
    if (sum) atomicAdd(differ, sum);
}

// All hits, by rows.
static pairs_select_seen pairs_select_want(const pairs_sweep *s, const pairs_select_job *j) {
    pairs_select_seen seen, *all = (pairs_select_seen *)kit_device(sizeof *all);
    CHECK(cudaMemset(all, 0, sizeof *all));
    pairs_select_see_hits<<<s->processors * 16, 256>>>(s->n, j->minus_r2, j->points, all);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&seen, all, sizeof seen, cudaMemcpyDeviceToHost));
    return seen;
}

// Runs a call into poisoned memory, and again if it is in the fixed order; the program ends if the
// lists are not what they should be.
static void pairs_select_verify(const pairs_sweep *s, bench_row *row, pairs_call *call, int fixed,
                                pairs_select_seen want) {
    const pairs_select_job *j = (const pairs_select_job *)call->job;
    const tmap_u64 bytes = j->list.capacity * sizeof *j->list.pairs;
    pairs_select_seen seen, *all = (pairs_select_seen *)kit_device(sizeof *all);
    tmap_u64 count;
    CHECK(cudaMemset(j->list.pairs, 0xff, (size_t)bytes));
    CHECK(cudaMemset(all, 0, sizeof *all));
    pairs_call_run(call);
    CHECK(cudaMemcpy(&count, j->list.count, sizeof count, cudaMemcpyDeviceToHost));
    pairs_verify(row, count == want.hits, (double)count, (double)want.hits);
    pairs_select_see_list<<<s->processors * 16, 256>>>(s->n, count, j->minus_r2, j->points,
                                                       j->list.pairs, all);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&seen, all, sizeof seen, cudaMemcpyDeviceToHost));
    bench_verify(row, seen.bad, "of the list are no hits");
    pairs_verify(row, seen.hash == want.hash, (double)seen.hash, (double)want.hash);
    if (fixed) {
        void *first = kit_device(bytes);
        CHECK(cudaMemcpy(first, j->list.pairs, (size_t)bytes, cudaMemcpyDeviceToDevice));
        CHECK(cudaMemset(j->list.pairs, 0xff, (size_t)bytes));
        pairs_call_run(call);
        pairs_select_differ<<<s->processors * 16, 256>>>(
            bytes / 8, (const tmap_u64 *)first, (const tmap_u64 *)j->list.pairs, bench_counter());
        bench_verify(row, bench_count(), "words of the list differ in a second run");
    }
}

// ---- in a size ----------------------------------------------------------------------------------

// The time of the count with the same radius: that of its row, or measured here.
static double pairs_select_count_ms(pairs_sweep *s) {
    bench_row row = pairs_count_row(s, PAIRS_COUNT, PAIRS_RADIUS);
    pairs_fold_work w;
    if (s->count_ms > 0) return s->count_ms;
    pairs_fold_begin(s, 3, (const void *)pairs_count, (const void *)pairs_count_thread,
                     sizeof(pairs_counts), &w);
    pairs_count_verify(&row, &w);
    s->count_ms = bench_measure(pairs_call_run, &w.engine, s->d.budget_ms).ms;
    return s->count_ms;
}

static bench_row pairs_select_row(const pairs_sweep *s, int variant, const char *order) {
    bench_row row = pairs_row(s, variant, PAIRS_SELECT, 3);
    bench_key_text(&row, "order", order);
    row.limit_ms = pairs_limit_ms(s, 8);
    return row;
}

// 3 differences, 3 multiplications and additions, a comparison, and its bit.
static void pairs_sweep_select(pairs_sweep *s) {
    const void *kernels[2] = {(const void *)pairs_select_any, (const void *)pairs_select_fixed};
    const int orders[2] = {TMAP_PAIRS_ANY_ORDER, TMAP_PAIRS_FIXED_ORDER};
    bench_row rows[3] = {pairs_select_row(s, PAIRS_SELECT, "any"),
                         pairs_select_row(s, PAIRS_SELECT, "fixed"),
                         pairs_select_row(s, PAIRS_THREAD, "any")};
    int wanted[3], any = 0;
    pairs_select_job j;
    pairs_select_seen want;
    for (int k = 0; k < 3; ++k) any |= wanted[k] = bench_wants(&s->d, &rows[k]);
    if (!any) return;
    j.points = pairs_points(s, 3), j.minus_r2 = -PAIRS_RADIUS * PAIRS_RADIUS;
    want = pairs_select_want(s, &j);
    j.list.capacity = want.hits + 64, j.list.values = 0, j.list.workspace = 0;
    j.list.pairs = (tmap_pair *)kit_device(j.list.capacity * sizeof *j.list.pairs);
    j.list.count = (tmap_u64 *)kit_device(sizeof *j.list.count);
    for (int k = 0; k < 3; ++k) {
        const int mark = kit_mark();
        pairs_call call = pairs_call_engine(&j);
        tmap_u64 bytes = 1;
        if (!wanted[k]) continue;
        if (k < 2) {
            CHECK(tmap_pairs_plan_make(s->n, 3, sizeof(float), kernels[k], &call.plan));
            bytes = tmap_pairs_select_bytes(&call.plan, orders[k]);
        } else {
            call = pairs_call_thread(s, (const void *)pairs_select_thread, &j, j.list.count, 8);
        }
        j.list.workspace = kit_device(bytes);
        CHECK(cudaMemset(j.list.workspace, 0, (size_t)bytes));
        pairs_select_verify(s, &rows[k], &call, k == 1, want);
        bench_time_row(&rows[k], pairs_call_run, &call);
        bench_key(&rows[k], "hits", "%llu", want.hits);
        if (k < 2)
            bench_key(&rows[k], "of_count", "%.3f", rows[k].time.ms / pairs_select_count_ms(s));
        bench_row_end(&s->d, &rows[k]);
        kit_release(mark);
    }
}

#endif
