// SPDX-License-Identifier: MIT
// ask_published.h: the forms that the paper describes, in bench_ask: over its landscape of
// (g, r, B), in its blocks of an A100 (Table 2), and its best subdivision's neighbours until none
// is faster. Rows: work "mandelbrot", part "published".
#ifndef BENCH_ASK_PUBLISHED_H
#define BENCH_ASK_PUBLISHED_H

#include "ask_dp_sweep.h"

#if BENCH_DP
static const tmap_u32 published_threads[] = {256, 256, 256, 512, 512, 256, 512, 256};

typedef struct published_job {
    const sweep *s;
    const tmap_mandelbrot *m;
    tmap_published_call how;
#if TMAPI_PUBLISHED_GRAPHS
    tmap_published_graph graph;
#endif
} published_job;

static void published_run(void *context) {
    published_job *j = (published_job *)context;
#if TMAPI_PUBLISHED_GRAPHS
    if (j->how.form == TMAP_PUBLISHED_GRAPH) {
        CHECK(cudaGraphLaunch(j->graph.exec, 0));
        return;
    }
#endif
    CHECK(ask_published_run(j->m, &j->how, j->s->out));
}

static int published_dp(int form) {
    return form == TMAP_PUBLISHED_DP_SBR || form == TMAP_PUBLISHED_DP_MBR ||
           form == TMAP_PUBLISHED_DP_SBR_RUN;
}

// Kernels that kernels launch, at most.
static tmap_u64 published_children(tmap_u32 n, tmap_ask_params a, int form) {
    const tmap_u32 levels = levels_of(n, a);
    const tmap_u64 parts = tmap_region_parts(a.g, a.r, levels - 1);
    return form != TMAP_PUBLISHED_DP_SBR ? 2 * parts * parts : parts * parts / (a.r * a.r) * 2;
}

// One subdivision by one form, verified and timed.
static void published_try(sweep *s, const tmap_mandelbrot *m, int form, tmap_ask_params a) {
    const tmap_u64 pixels = (tmap_u64)m->nx * m->ny;
    published_job j;
    bench_row row = bench_row_begin(&s->d, "mandelbrot", tmap_published_name(form), "mandelbrot");
    ask_tally t;
    memset(&j, 0, sizeof j);
    j.s = s, j.m = m;
    j.how.form = form, j.how.a = a, j.how.threads = published_threads[form], j.how.lost = s->lost;
    if (published_dp(form) && published_children(m->nx, a, form) > 1u << 19)
        return; // more launches than a device keeps pending
    bench_key_text(&row, "part", "published");
    bench_key(&row, "size", "%u", m->nx);
    if (form) {
        bench_key(&row, "g", "%u", a.g);
        bench_key(&row, "r", "%u", a.r);
        bench_key(&row, "B", "%u", a.b);
    }
    bench_key(&row, "threads", "%u", j.how.threads);
    if (!bench_wants(&s->d, &row)) return;
    if (published_dp(form)) bench_key(&row, "pending", "%llu", (tmap_u64)dp_pending);
#if TMAPI_PUBLISHED_GRAPHS
    if (form == TMAP_PUBLISHED_GRAPH) CHECK(tmap_published_graph_make(m, &j.how, s->out, &j.graph));
#endif
    CHECK(cudaMemset(s->out, ASK_POISON_BYTE, pixels * sizeof(int)));
    CHECK(cudaMemset(s->lost, 0, sizeof *s->lost));
    published_run(&j);
    t = ask_tally_of(s->out, s->truth, pixels, s->tally);
    if (!launches_lost(s)) {
        bench_verify(&row, t.poison, "pixels not written");
        if (t.differ > (form ? pixels / 1000 : 0)) bench_verify(&row, t.differ, "pixels differ");
        row.budget_ms /= 4;
        bench_time_row(&row, published_run, &j);
        bench_energy_row(&s->d, &row, published_run, &j);
        row_size(&row, m->nx, m->dwell);
        bench_key_text(&row, "dtype", "f32");
        bench_key_text(&row, "options", "none");
        bench_key(&row, "differ", "%llu", t.differ);
        if (form) bench_key(&row, "levels", "%u", levels_of(m->nx, a));
        bench_row_end(&s->d, &row);
    }
#if TMAPI_PUBLISHED_GRAPHS
    tmap_published_graph_free(&j.graph);
#endif
}

// All forms at one size: the landscape where the size has one, else the few candidates, and the optima
// that the paper's abstracts name.
static void sweep_published(sweep *s, const size *z, int landscape) {
    static const tmap_ask_params named[] = {
        {32, 2, 32}, {2, 2, 32}, {4, 2, 32}, {16, 2, 32}, {8, 4, 32}};
    tmap_ask_params others[FEW + COUNT(named)];
    const tmap_mandelbrot m = tmap_mandelbrot_make(z->n, z->n, s->o.dwell);
    const int all = landscape ? params_listed(s, 1) : FEW, count = all + (int)COUNT(named);
    memcpy(others, few_candidates, sizeof few_candidates);
    memcpy(others + (landscape ? 0 : FEW), named, sizeof named);
    dp_raise(z->n);
    for (int form = 0; form < TMAP_PUBLISHED_COUNT; ++form) {
        if (form == TMAP_PUBLISHED_GRAPH && !TMAPI_PUBLISHED_GRAPHS) continue;
        for (int i = 0; i < (form ? count : 1); ++i) {
            const tmap_ask_params a = params_at(s, landscape ? all : 0, others, i);
            if (form && (tmap_region_check(z->n, a.g, a.r, a.b) || levels_of(z->n, a) < 2))
                continue;
            if (search_over(s)) return;
            published_try(s, &m, form, a);
        }
    }
}
#else
static void sweep_published(sweep *s, const size *z, int landscape) {
    (void)s, (void)z, (void)landscape;
}
#endif

#endif
