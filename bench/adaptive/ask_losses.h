// SPDX-License-Identifier: MIT
// ask_losses.h: dynamic parallelism in bench_ask: its best subdivision at a raised limit of pending
// launches, and what is lost at the limit that a device has by itself.
#ifndef BENCH_ASK_LOSSES_H
#define BENCH_ASK_LOSSES_H

#include "ask_energy.h"

#if BENCH_DP
enum { PENDING_DEFAULT = 2048, PENDING_RAISED = 1 << 20 };

static void dp_limit(size_t pending) {
    while (cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending) != cudaSuccess) {
        (void)cudaGetLastError();
        if ((pending /= 2) < PENDING_DEFAULT) return;
    }
}

// Draws with as many pending launches as there are by default; says what was lost.
static void dp_losses(sweep *s, job *j) {
    char row[512];
    tmap_u64 lost;
    ask_tally t;
    t = job_draw(j);
    CHECK(cudaMemcpy(&lost, s->lost, sizeof lost, cudaMemcpyDeviceToHost));
    snprintf(row, sizeof row,
             "\"work\": \"dp_lost\", \"variant\": \"%s\", \"domain\": \"mandelbrot\", \"size\": "
             "%u, \"n\": %u, \"dwell\": %u, \"g\": %u, \"r\": %u, \"B\": %u, \"pending\": %d, "
             "\"launches_lost\": %llu, \"pixels_lost\": %llu",
             variant_name(j->variant), j->m.nx, j->m.nx, j->m.dwell, j->a.g, j->a.r, j->a.b,
             PENDING_DEFAULT, lost, t.poison);
    bench_results_row(&s->results, row);
    if (lost || t.poison)
        printf("| %u | %s | (%u, %u, %u) | %d pending launches: %llu lost, %llu pixels |\n",
               j->m.nx, variant_name(j->variant), j->a.g, j->a.r, j->a.b, PENDING_DEFAULT, lost,
               t.poison);
}

// One subdivision by DP with a raised limit; it must be what ASK draws. Returns its time, 0 if it
// is not to be had without loss.
static double dp_run(sweep *s, job *j) {
    job ask = *j;
    ask_tally t, of_ask;
    tmap_u64 lost;
    bench_time time;
    bench_progress(s->done, s->all, variant_name(j->variant));
    ask.variant = MBR, ask.driver = TMAP_ASK_STREAM;
    if (!job_prepare(&ask)) return 0;
    of_ask = job_verify(&ask, 0);
    j->columns = ask.columns; // DP has the same memory
    t = job_draw(j);
    CHECK(cudaMemcpy(&lost, s->lost, sizeof lost, cudaMemcpyDeviceToHost));
    if (lost) {
        printf("| %u | %s | (%u, %u, %u) | %llu launches lost at the raised limit: no time |\n",
               j->m.nx, variant_name(j->variant), j->a.g, j->a.r, j->a.b, lost);
        return 0;
    }
    if (t.poison || t.hash != of_ask.hash) wrong(j, "not the picture of ASK", t.poison);
    time = bench_measure(job_run, j, s->o.budget_ms / 4);
    j->part = "dp";
    job_row(j, time, &t, 0);
    return time.ms;
}

static void sweep_dp(sweep *s, job j, size *z) {
    static const tmap_ask_params all[] = {
        {4, 4, 32},  {8, 2, 16},  {8, 2, 32},  {8, 4, 32},  {16, 2, 32}, {16, 2, 64}, {16, 4, 16},
        {16, 4, 32}, {32, 2, 32}, {32, 2, 64}, {32, 4, 32}, {32, 4, 64}, {64, 2, 32}, {64, 4, 64}};
    enum { ALL = sizeof all / sizeof *all };
    for (int form = 0; form < 2; ++form) {
        double best = 0;
        bench_time time = {0, 0, 0};
        tmap_ask_params candidates[ALL], best_of = all[0];
        int count = ALL;
        memcpy(candidates, all, sizeof all);
        if (z->n > 16384 && s->dp_best[form].g) { // what was best up to there, also coarser
            count = 3;
            for (int i = 0; i < count; ++i) candidates[i] = s->dp_best[form], candidates[i].b <<= i;
        }
        j.variant = form ? DP_MBR : DP_SBR;
        dp_limit(PENDING_RAISED);
        for (int i = 0; i < count; ++i) {
            double ms;
            j.a = candidates[i];
            ms = dp_run(s, &j);
            if (ms > 0 && (best == 0 || ms < best)) best = ms, best_of = j.a;
        }
        if (best > 0 && z->n <= 16384) s->dp_best[form] = best_of;
        if (best > 0 && has_energy(s, z)) {
            j.a = best_of;
            if (job_prepare(&j)) energy_row(&j, best);
        }
        dp_limit(PENDING_DEFAULT);
        for (int i = 0; i < count; ++i) {
            j.a = candidates[i];
            if (job_prepare(&j)) dp_losses(s, &j);
        }
        if (best == 0) continue;
        j.a = best_of;
        time.ms = best;
        print_row(&j, time, 0);
    }
}
#else
static void sweep_dp(sweep *s, job j, size *z) { (void)s, (void)j, (void)z; }
#endif

#endif
