// SPDX-License-Identifier: MIT
// pairs_cells_work.h: the work of bench_pairs that counts the pairs within radii of all lengths, by the
// library's engine for all pairs and by a list of cells.
#ifndef BENCH_TRIANGLE_PAIRS_CELLS_WORK_H
#define BENCH_TRIANGLE_PAIRS_CELLS_WORK_H

#include "cell_list.h"
#include "pairs_work.h"

#define CELL_SIDES 128u // cells along a side, at most

// A radius in thousandths of the cube's side: the engine and the list of cells, which must count as
// many pairs. The radius is smaller by a ten-thousandth, so that cells of a round width are wider.
static void pairs_sweep_radius(pairs_sweep *s, pairs_fold_work *w, cell_list *c, tmap_u32 radius) {
    const float r = 0.9999e-3f * (float)radius;
    bench_row count = pairs_count_row(s, PAIRS_COUNT, r), list = pairs_count_row(s, PAIRS_CELLS, r);
    const int engine = bench_wants(&s->d, &count), cells = bench_wants(&s->d, &list);
    tmap_u64 want, got, looks;
    if (!engine && !cells) return;
    w->job.minus_r2 = -r * r;
    want = pairs_count_verify(&count, w);
    cell_list_make(c, radius, CELL_SIDES);
    looks = cell_list_result(c, -4); // of which all pairs are near that are looked at
    got = cell_list_result(c, w->job.minus_r2);
    pairs_verify(&list, got == want, (double)got, (double)want);
    count.limit_ms = pairs_limit_ms(s, 7);
    bench_time_row(&count, pairs_call_run, &w->engine);
    bench_key(&count, "hits", "%llu", want);
    if (engine) bench_row_end(&s->d, &count);
    if (!cells) return;
    list.limit_ms = 7 * (double)looks / s->instructions_a_ms;
    bench_time_row(&list, cell_list_run, c);
    bench_key(&list, "hits", "%llu", want);
    bench_key(&list, "cells", "%u", c->cells);
    bench_key(&list, "looks", "%llu", looks);
    bench_key(&list, "of_count", "%.3f", list.time.ms / count.time.ms);
    bench_row_end(&s->d, &list);
}

static void pairs_sweep_cells(pairs_sweep *s) {
    pairs_fold_work w;
    cell_list c;
    pairs_fold_begin(s, 3, (const void *)pairs_count, (const void *)pairs_count_thread,
                     sizeof(pairs_counts), &w);
    cell_list_begin(&c, s->n, w.job.points, CELL_SIDES);
    for (int k = 0; k < s->radii.count; ++k) pairs_sweep_radius(s, &w, &c, s->radii.value[k]);
}

#endif
