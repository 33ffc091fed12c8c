// SPDX-License-Identifier: MIT
// ask_search.h: the search for the best subdivision in bench_ask: what was tried, and from the best
// of a coarse list on all of its neighbours, until none of them is better. So no optimum is at the
// edge of what was tried.
#ifndef BENCH_ASK_SEARCH_H
#define BENCH_ASK_SEARCH_H

#include "ask_job.h"

// The candidates that every size runs.
static const tmap_ask_params few_candidates[] = {
    {2, 2, 16},  {4, 4, 16},  {8, 2, 16},   {8, 4, 8},   {8, 8, 16},  {16, 2, 8},  {16, 4, 16},
    {16, 4, 32}, {32, 2, 16}, {32, 2, 32},  {32, 4, 16}, {64, 2, 16}, {64, 2, 32}, {64, 4, 8},
    {32, 2, 8},  {32, 4, 8},  {128, 2, 16}, {16, 4, 4},  {64, 4, 4},
};
enum { FEW = sizeof few_candidates / sizeof *few_candidates };

static tmap_u32 levels_of(tmap_u32 n, tmap_ask_params a) {
    return tmap_region_levels(n, a.g, a.r, a.b);
}

// The largest B with which a plan has this number of levels: the last ones have regions of side r B
// or a little more. Returns 0 if there is none.
static int params_of(tmap_u32 n, tmap_u64 g, tmap_u64 r, tmap_u32 levels, tmap_ask_params *out) {
    tmap_u64 b;
    if (g < 1 || g > n || g > 65535 || r < 2 || r > 1024 || levels < 1) return 0;
    b = n / tmap_region_parts(g, r, levels);
    if (b < 1 && levels > 1) return 0;
    out->g = (tmap_u32)g, out->r = (tmap_u32)r, out->b = b < 1 ? 1 : (tmap_u32)b;
    return !tmap_region_check(n, g, r, out->b) && levels_of(n, *out) == levels;
}

// The run of a plan; plans of as many levels have the same regions, whatever their B, and of one
// level whatever their r. -1: none.
static int run_find(const sweep *s, const size *z, int variant, tmap_ask_params a) {
    const tmap_u32 levels = levels_of(z->n, a);
    for (int i = 0; i < s->run_count; ++i) {
        const run *r = &s->runs[i];
        if (r->size == (int)(z - s->sizes) && r->variant == variant && r->a.g == a.g &&
            r->levels == levels && (r->a.r == a.r || levels == 1))
            return i;
    }
    return -1;
}

// Keeps a run; ms: 0 for one that is not to be had.
static int run_add(sweep *s, size *z, const job *j, double ms, tmap_u64 hash) {
    run *r = &s->runs[s->run_count];
    if (s->run_count == RUNS) return -1;
    r->a = j->a, r->levels = levels_of(z->n, j->a), r->hash = hash, r->ms = ms;
    r->size = (int)(z - s->sizes), r->variant = j->variant;
    if (ms > 0 && (z->best[j->variant] < 0 || ms < s->runs[z->best[j->variant]].ms))
        z->best[j->variant] = s->run_count;
    return s->run_count++;
}

// Times a job that has been verified. One that takes twice as long as the best of its kind is not
// measured again.
static bench_time search_time(job *j, const size *z, double budget) {
    const int best = z->best[j->variant];
    bench_time t = {0, 0, 1};
    t.ms = (double)bench_once(job_run, j);
    if (!(best >= 0 && t.ms > 2 * j->s->runs[best].ms && t.ms > 0.1)) return job_time(j, budget);
    bench_row_time(&j->row, t);
    return t;
}

// What was lost of the launches of the last drawing.
static tmap_u64 launches_lost(const sweep *s) {
    tmap_u64 lost;
    CHECK(cudaMemcpy(&lost, s->lost, sizeof lost, cudaMemcpyDeviceToHost));
    return lost;
}

// All subdivisions of the lists of the command line, if `landscape`, and after them the others: number
// i. Returns how many there are of the lists.
static int params_listed(const sweep *s, int landscape) {
    return landscape ? s->o.g.count * s->o.r.count * s->o.B.count : 0;
}
static tmap_ask_params params_at(const sweep *s, int listed, const tmap_ask_params *others, int i) {
    const settings *o = &s->o;
    const tmap_ask_params a = {o->g.value[i < listed ? i / o->B.count / o->r.count : 0],
                               o->r.value[i / o->B.count % o->r.count], o->B.value[i % o->B.count]};
    return i < listed ? a : others[i - listed];
}

// 1 when searches end, so that a run as a whole keeps its time.
static int search_over(const sweep *s) { return bench_seconds(&s->d) > s->o.limit_s; }

// Tries the plan of a job, whose variant and parameters are set, and keeps it as a run.
typedef void (*search_try)(sweep *s, job *j, size *z, double budget);

enum { NEIGHBOURS = 14 };

// The plans beside a plan: g or r doubled or halved with the same number of levels, one more or one
// less, and the same g and r with one level more or less. A flat grid has g alone, a plan of DP
// that is not flat two levels at least. Returns how many there are.
static int neighbours_of(tmap_u32 n, int variant, tmap_ask_params a, tmap_ask_params *out) {
    const tmap_u32 levels = levels_of(n, a), least = is_dp(variant) && !is_flat(variant) ? 2 : 1;
    const tmap_u64 g[] = {2ull * a.g, a.g / 2, a.g, a.g, a.g};
    const tmap_u64 r[] = {a.r, a.r, 2ull * a.r, a.r / 2, a.r};
    int count = 0;
    if (is_flat(variant)) {
        for (int i = 0; i < 2; ++i) count += params_of(n, g[i], 2, 1, &out[count]);
        return count;
    }
    for (int i = 0; i < 5; ++i)
        for (tmap_u32 l = levels - 1; l <= levels + 1; ++l)
            if (l >= least && g[i] >= least && !(i == 4 && l == levels))
                count += params_of(n, g[i], r[i], l, &out[count]);
    return count;
}

// From the best plan of a variant to its best neighbour, until there is no better one; then a row
// that says so.
static void search_climb(sweep *s, job j, size *z, search_try attempt, double budget) {
    tmap_ask_params near[NEIGHBOURS + 1];
    int count = 0, from, tried = 0, had = 0;
    for (from = -1; z->best[j.variant] >= 0 && from != z->best[j.variant];) {
        from = z->best[j.variant];
        count = neighbours_of(z->n, j.variant, s->runs[from].a, near);
        for (int i = 0; i < count; ++i) {
            if (run_find(s, z, j.variant, near[i]) >= 0) continue;
            if (search_over(s)) return;
            j.a = near[i];
            attempt(s, &j, z, budget);
        }
    }
    if (from < 0) return;
    for (int i = 0; i < s->run_count; ++i)
        tried += s->runs[i].size == (int)(z - s->sizes) && s->runs[i].variant == j.variant;
    for (int i = 0; i < count; ++i) {
        int at = run_find(s, z, j.variant, near[i]);
        had += at >= 0 && s->runs[at].ms > 0;
    }
    j.part = NULL, j.a = s->runs[from].a;
    j.row = job_row_of(&j, "optimum");
    if (!bench_wants(&s->d, &j.row)) return;
    row_size(&j.row, z->n, s->o.dwell);
    bench_key(&j.row, "levels", "%u", s->runs[from].levels);
    bench_key(&j.row, "ms", "%.6g", s->runs[from].ms);
    bench_key(&j.row, "tried", "%d", tried);
    bench_key(&j.row, "neighbours", "%d", count);
    bench_key(&j.row, "measured", "%d", had);
    j.row.time.ms = s->runs[from].ms;
    bench_row_end(&s->d, &j.row);
}

#endif
