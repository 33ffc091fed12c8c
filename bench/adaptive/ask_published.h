// SPDX-License-Identifier: MIT
// ask_published.h: the forms that the paper describes, in bench_ask: over its landscape of
// (g, r, B), in its blocks of an A100 (Table 2), and its best subdivision's neighbours until none
// is faster. Rows: work "mandelbrot", part "published".
#ifndef BENCH_ASK_PUBLISHED_H
#define BENCH_ASK_PUBLISHED_H

#include "ask_search.h"

#if BENCH_DP
static const tmap_u32 published_threads[] = {256, 256, 256, 512, 512, 256};

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

// Kernels that kernels launch, at most.
static tmap_u64 published_children(tmap_u32 n, tmap_ask_params a, int form) {
    const tmap_u32 levels = levels_of(n, a);
    const tmap_u64 parts = tmap_region_parts(a.g, a.r, levels - 1);
    return form == TMAP_PUBLISHED_DP_MBR ? 2 * parts * parts : parts * parts / (a.r * a.r) * 2;
}

// One subdivision by one form, verified and timed. *best: the least time so far, and its plan.
static void published_try(sweep *s, const tmap_mandelbrot *m, int form, tmap_ask_params a,
                          run *best) {
    const tmap_u64 pixels = (tmap_u64)m->nx * m->ny;
    published_job j;
    bench_time time;
    ask_tally t;
    tmap_u64 lost = 0;
    char row[640], plan[96] = "";
    memset(&j, 0, sizeof j);
    j.s = s, j.m = m;
    j.how.form = form, j.how.a = a, j.how.threads = published_threads[form], j.how.lost = s->lost;
    if ((form == TMAP_PUBLISHED_DP_SBR || form == TMAP_PUBLISHED_DP_MBR) &&
        published_children(m->nx, a, form) > 1u << 19)
        return; // more launches than a device keeps pending
    bench_progress(s->done, s->all, tmap_published_name(form));
#if TMAPI_PUBLISHED_GRAPHS
    if (form == TMAP_PUBLISHED_GRAPH) CHECK(tmap_published_graph_make(m, &j.how, s->out, &j.graph));
#endif
    CHECK(cudaMemset(s->out, ASK_POISON_BYTE, pixels * sizeof(int)));
    CHECK(cudaMemset(s->lost, 0, sizeof lost));
    published_run(&j);
    t = ask_tally_of(s->out, s->truth, pixels, s->tally);
    CHECK(cudaMemcpy(&lost, s->lost, sizeof lost, cudaMemcpyDeviceToHost));
    if (!lost && (t.poison || t.differ > (form ? pixels / 1000 : 0))) {
        fprintf(stderr, "%s n=%u (%u,%u,%u): WRONG, %llu pixels not written, %llu differ\n",
                tmap_published_name(form), m->nx, a.g, a.r, a.b, t.poison, t.differ);
        exit(1);
    }
    if (!lost) {
        time = bench_measure(published_run, &j, s->o.budget_ms / 4);
        if (best->ms == 0 || time.ms < best->ms) {
            best->ms = time.ms;
            if (form) best->a = a;
        }
        if (form)
            snprintf(plan, sizeof plan, ", \"g\": %u, \"r\": %u, \"B\": %u, \"levels\": %u", a.g,
                     a.r, a.b, levels_of(m->nx, a));
        snprintf(row, sizeof row,
                 "\"work\": \"mandelbrot\", \"part\": \"published\", \"variant\": \"%s\", "
                 "\"domain\": \"mandelbrot\", \"size\": %u, \"n\": %u, \"dwell\": %u, \"dtype\": "
                 "\"f32\", \"options\": \"none\", \"ms\": %.5f, \"noise_pct\": %.2f, \"threads\": "
                 "%u, \"differ\": %llu, \"verified\": true%s",
                 tmap_published_name(form), m->nx, m->nx, m->dwell, time.ms, time.noise_pct,
                 j.how.threads, t.differ, plan);
        bench_results_row(&s->results, row);
    }
#if TMAPI_PUBLISHED_GRAPHS
    tmap_published_graph_free(&j.graph);
#endif
}

// All forms at one size: the landscape where the size has one, else the few candidates and the
// optima that the paper's abstracts name.
static void sweep_published(sweep *s, const size *z, int landscape) {
    static const tmap_ask_params named[] = {
        {32, 2, 32}, {2, 2, 32}, {4, 2, 32}, {16, 2, 32}, {8, 4, 32}};
    enum { NAMED = sizeof named / sizeof *named };
    const settings *o = &s->o;
    const int all = landscape ? o->g.count * o->r.count * o->B.count : FEW;
    const tmap_mandelbrot m = tmap_mandelbrot_make(z->n, z->n, o->dwell);
    for (int form = 0; form < TMAP_PUBLISHED_COUNT; ++form) {
        run best;
        memset(&best, 0, sizeof best);
        if (form == TMAP_PUBLISHED_GRAPH && !TMAPI_PUBLISHED_GRAPHS) continue;
        for (int i = 0; i < (form ? all + NAMED : 1); ++i) {
            tmap_ask_params a = named[i < all ? 0 : i - all];
            if (i < all && landscape) {
                a.b = o->B.value[i % o->B.count];
                a.r = o->r.value[i / o->B.count % o->r.count];
                a.g = o->g.value[i / o->B.count / o->r.count];
            } else if (i < all) {
                a = few_candidates[i];
            }
            if (form && (tmap_region_check(z->n, a.g, a.r, a.b) || levels_of(z->n, a) < 2))
                continue;
            if (search_over(s)) return;
            published_try(s, &m, form, a, &best);
        }
        printf("| %u | %s | (%u, %u, %u) | | | %.4f | | %.2f |\n", z->n, tmap_published_name(form),
               best.a.g, best.a.r, best.a.b, best.ms, best.ms > 0 ? z->plain_ms / best.ms : 0);
        fflush(stdout);
    }
}
#else
static void sweep_published(sweep *s, const size *z, int landscape) {
    (void)s, (void)z, (void)landscape;
}
#endif

#endif
