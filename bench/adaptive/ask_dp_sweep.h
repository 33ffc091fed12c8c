// SPDX-License-Identifier: MIT
// ask_dp_sweep.h: dynamic parallelism in bench_ask: over the subdivisions that ASK has, with a
// raised limit of pending launches, from coarse to fine around the best; and what is lost at the
// limit that a device has by itself.
#ifndef BENCH_ASK_DP_SWEEP_H
#define BENCH_ASK_DP_SWEEP_H

#include "ask_search.h"

#if BENCH_DP
// DP_CHILDREN: launches of a plan that is tried, at most.
// CONCURRENT: kernels that a device is asked to run at once, fewer than it keeps pending.
enum { PENDING_DEFAULT = 2048, DP_CHILDREN = 1 << 20, CONCURRENT = 1024 };

static size_t dp_pending = PENDING_DEFAULT; // the device's limit now

// Raises the limit of pending launches to that of the authors' benchmark.sh for n, unless it is there.
// A larger one makes each launch slower, and one that is lowered can stop a device for ever.
static void dp_raise(tmap_u32 n) {
    size_t pending = n < 8192 ? 1 << 15 : n < 32768 ? 1 << 16 : 1 << 17;
    while (pending > dp_pending &&
           cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending) != cudaSuccess) {
        (void)cudaGetLastError();
        pending /= 2;
    }
    if (pending > dp_pending) dp_pending = pending;
}

// Kernels that kernels launch: one for each region that is cut, in form MBR also one for each that
// is finished.
static tmap_u64 dp_children(const tmap_ask_counts *c, int form) {
    tmap_u64 children = 0;
    for (tmap_u32 l = 0; l < c->levels; ++l) {
        children += c->level[l].subdivided;
        if (form == TMAP_ASK_MBR) children += c->level[l].filled + c->level[l].leaves;
    }
    return children;
}

// Draws the same plan by ASK: gives the picture and its counts, and the memory that DP has, too.
// Returns 0 if there is no such subdivision.
static int dp_prepare(job *j, ask_tally *of_ask) {
    tmap_ask_counts counts;
    job ask = *j;
    ask.variant = MBR, ask.driver = TMAP_ASK_STREAM, ask.threads = 0;
    if (!job_prepare(&ask)) return 0;
    *of_ask = job_draw(&ask);
    CHECK(tmap_ask_counts_read(&ask.workspace, &counts, 0));
    j->columns = ask.columns;
    j->children = dp_children(&counts, form_of(j->variant));
    return 1;
}

// Draws with as many pending launches as there are; says what was lost.
static void dp_losses(sweep *s, job *j) {
    ask_tally t;
    j->row = job_row_of(j, "dp_lost");
    if (!bench_wants(&s->d, &j->row) || !dp_prepare(j, &t)) return;
    t = job_draw(j);
    row_size(&j->row, j->m.nx, j->m.dwell);
    bench_key(&j->row, "levels", "%u", levels_of(j->m.nx, j->a));
    bench_key(&j->row, "children", "%llu", j->children);
    bench_key(&j->row, "pending", "%d", PENDING_DEFAULT);
    bench_key(&j->row, "launches_lost", "%llu", launches_lost(s));
    bench_key(&j->row, "pixels_lost", "%llu", t.poison);
    bench_row_end(&s->d, &j->row);
}

// Losses of all sizes, before the limit is raised: a limit that is lowered after launches has
// stopped a run for ever.
static void sweep_losses(sweep *s) {
    static const tmap_ask_params all[] = {{4, 4, 32},  {8, 2, 16},  {8, 2, 32},  {8, 4, 32},
                                          {16, 2, 64}, {16, 4, 16}, {16, 4, 32}, {32, 2, 64},
                                          {32, 4, 16}, {32, 4, 32}, {16, 4, 4}};
    job j;
    memset(&j, 0, sizeof j);
    j.s = s;
    for (int i = 0; i < s->o.n.count; ++i)
        for (j.variant = DP_SBR; j.variant <= DP_MBR; ++j.variant)
            for (int k = 0; k < (int)COUNT(all); ++k) {
                j.a = all[k];
                j.m = tmap_mandelbrot_make(s->o.n.value[i], s->o.n.value[i], s->o.dwell);
                if (levels_of(j.m.nx, j.a) > 1) dp_losses(s, &j);
            }
    CHECK(cudaDeviceSynchronize());
}

// How many kernels that a kernel launched run at once.
static void sweep_concurrent(sweep *s) {
    unsigned got[2] = {0, 0};
    bench_row row = bench_row_begin(&s->d, "concurrent", "dp", "kernels");
    bench_key(&row, "kernels", "%d", CONCURRENT);
    if (!bench_wants(&s->d, &row)) return;
    CHECK(cudaMemset(s->lost, 0, sizeof got));
    ask_dp_concurrent(CONCURRENT, s->cpu ? 1 : 20000, (unsigned *)s->lost);
    CHECK(cudaMemcpy(got, s->lost, sizeof got, cudaMemcpyDeviceToHost));
    if (got[0] || !got[1]) bench_wrong(&row, "%u still run, %u did at once", got[0], got[1]);
    bench_key(&row, "at_once", "%u", got[1]);
    bench_row_end(&s->d, &row);
}

// One subdivision by DP with the raised limit; it must be what ASK draws.
static void dp_try(sweep *s, job *j, size *z, double budget) {
    ask_tally t, of_ask;
    tmap_u64 lost = 1;
    bench_time time = {0, 0, 0};
    t.hash = 0, j->part = "dp";
    if (job_wants(j) && dp_prepare(j, &of_ask) && j->children <= DP_CHILDREN) {
        if (of_ask.poison) wrong(j, "pixels that ASK did not write", of_ask.poison);
        t = job_draw(j);
        lost = launches_lost(s);
        if (lost) bench_left_out(&j->row, "%llu of %llu launches lost", lost, j->children);
    }
    if (!lost) {
        if (t.poison || t.hash != of_ask.hash) wrong(j, "not the picture of ASK", t.poison);
        j->row.verified = 1;
        time = search_time(j, z, budget);
        job_row(j, &t, 0);
    }
    run_add(s, z, j, time.ms, t.hash);
}

// All plans of a variant that are in the lists of ASK and are deep enough, each set of regions
// once.
static void dp_coarse(sweep *s, job j, size *z, int landscape, double budget) {
    const int all = params_listed(s, landscape);
    for (int i = 0; i < all + FEW; ++i) {
        j.a = params_at(s, all, few_candidates, i);
        if (tmap_region_check(z->n, j.a.g, j.a.r, j.a.b) || levels_of(z->n, j.a) < 2) continue;
        if (search_over(s)) return;
        if (run_find(s, z, j.variant, j.a) < 0) dp_try(s, &j, z, budget);
    }
}

static void sweep_dp(sweep *s, job j, size *z, int landscape) {
    const double budget = s->d.budget_ms / 4;
    dp_raise(z->n);
    for (j.variant = DP_SBR; j.variant <= FLAT_MBR; ++j.variant) {
        if (is_flat(j.variant)) {
            // Regions of some 16 to 128 pixels, and those of the best plan that recurses.
            for (tmap_u32 side = 128; side >= 16; side /= 2)
                if (params_of(z->n, z->n / side, 2, 1, &j.a) && run_find(s, z, j.variant, j.a) < 0)
                    dp_try(s, &j, z, budget);
            if (z->best[DP_SBR] >= 0) {
                const run *deep = &s->runs[z->best[DP_SBR]];
                tmap_u64 parts = tmap_region_parts(deep->a.g, deep->a.r, deep->levels - 1);
                if (params_of(z->n, parts, 2, 1, &j.a) && run_find(s, z, j.variant, j.a) < 0)
                    dp_try(s, &j, z, budget);
            }
        } else {
            dp_coarse(s, j, z, landscape, budget);
        }
        search_climb(s, j, z, dp_try, budget);
        if (z->best[j.variant] < 0) continue;
        j.a = s->runs[z->best[j.variant]].a;
        if (has_energy(s, z)) {
            ask_tally t;
            if (dp_prepare(&j, &t)) energy_row(&j, s->runs[z->best[j.variant]].ms);
        }
    }
}
#else
static void sweep_concurrent(sweep *s) { (void)s; }
static void sweep_losses(sweep *s) { (void)s; }
static void sweep_dp(sweep *s, job j, size *z, int landscape) {
    (void)s, (void)j, (void)z, (void)landscape;
}
static void dp_try(sweep *s, job *j, size *z, double budget) {
    (void)s, (void)j, (void)z, (void)budget;
}
static int dp_prepare(job *j, ask_tally *of_ask) { return j && of_ask ? 0 : 0; }
#endif

// The best plan of each variant in blocks of all sizes: what Table 2 of the paper asks.
static void sweep_blocks(sweep *s, job j, size *z) {
    j.part = "blocks";
    for (j.variant = SBR; j.variant <= FLAT; ++j.variant) {
        if (j.variant == PLAIN || z->best[j.variant] < 0) continue;
        j.a = s->runs[z->best[j.variant]].a;
        for (int i = 0; i < 2 * ASK_THREADS; ++i) {
            ask_tally t;
            j.threads = ask_threads[i / 2], j.driver = i % 2 ? (int)CAPTURED : (int)TMAP_ASK_STREAM;
            if (is_dp(j.variant) && (j.threads > ASK_DP_THREADS || i % 2)) continue;
            if (!is_dp(j.variant) && j.driver == CAPTURED && !BENCH_GRAPHS) continue;
            if (!job_wants(&j)) continue;
            if (is_dp(j.variant) ? !dp_prepare(&j, &t) : !job_prepare(&j)) continue;
            if (is_dp(j.variant)) {
                (void)job_draw(&j);
                if (launches_lost(s)) continue;
            } else if (j.driver == CAPTURED) {
                job_capture(&j);
            }
            t = job_verify(&j, s->runs[z->best[j.variant]].hash);
            job_time(&j, s->d.budget_ms / 2);
            job_row(&j, &t, 0);
            job_capture_free(&j);
        }
    }
}

#endif
