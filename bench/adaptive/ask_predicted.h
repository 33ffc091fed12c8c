// SPDX-License-Identifier: MIT
// ask_predicted.h: the cost model in bench_ask: the curves that were measured, and every
// subdivision as predicted from them beside its time.
#ifndef BENCH_ASK_PREDICTED_H
#define BENCH_ASK_PREDICTED_H

#include "ask_job.h"

#include <threadmap/papers/ask_model.h>

static tmap_ask_case plan_of(tmap_u32 n, tmap_ask_params a) {
    tmap_ask_case p = {n, n, 0, a.g, a.r, a.b, 2};
    return p;
}

static void write_curve(sweep *s, size *z) {
    char row[2048], side[512] = "", count[512] = "", work[512] = "";
    for (tmap_u32 k = 0; k < z->curve.curve.points; ++k) {
        const char *comma = k ? ", " : "";
        sprintf(side + strlen(side), "%s%.6g", comma, z->curve.side[k]);
        sprintf(count + strlen(count), "%s%.0f", comma, z->curve.count[k]);
        sprintf(work + strlen(work), "%s%.3f", comma, z->curve.work[k]);
    }
    snprintf(row, sizeof row,
             "\"work\": \"curve\", \"variant\": \"exhaustive\", \"domain\": \"mandelbrot\", "
             "\"size\": %u, \"n\": %u, \"dwell\": %u, \"whole\": %.3f, \"side\": [%s], \"count\": "
             "[%s], \"mean\": [%s]",
             z->n, z->n, s->o.dwell, z->curve.curve.whole, side, count, work);
    bench_results_row(&s->results, row);
}

// The prediction of one form at one size beside what was measured: the candidate that should be the
// best, and what it costs compared with the best.
static void predict(sweep *s, size *z, int variant, const tmap_ask_rates *rates, int samples) {
    tmap_ask_prediction p;
    const run *chosen = NULL, *paper = NULL;
    double best_ms = 0, off = 0, least = 0, least_steps = 0;
    const run *best = z->best[variant] < 0 ? NULL : &s->runs[z->best[variant]];
    int seen = 0, length;
    static char row[65536], measured[32768], predicted[32768];
    *measured = *predicted = 0;
    for (int i = 0; best && i < s->run_count; ++i) {
        const run *r = &s->runs[i];
        tmap_ask_case plan = plan_of(z->n, r->a);
        tmap_ask_model m = {z->n, r->a.g, r->a.r, r->a.b, 0, 0, 10, 132, 128};
        double steps;
        if (r->size != (int)(z - s->sizes) || r->variant != variant) continue;
        if (tmap_ask_predict_curve(&plan, ask_curve_at(&z->curve), rates, &p)) continue;
        // the model of one cost A and one P, with the mean of the picture and of the levels
        m.element_cost = z->curve.curve.whole;
        m.chance = p.regions > 0 ? (p.cut + p.leaves) / p.regions : 0;
        steps = variant == SBR ? tmap_ask_model_time_sbr(&m) : tmap_ask_model_time_mbr(&m);
        if (!paper || steps < least_steps) paper = r, least_steps = steps;
        off += p.time > r->ms ? p.time / r->ms - 1 : 1 - p.time / r->ms;
        if (strlen(measured) + 32 < sizeof measured) {
            sprintf(measured + strlen(measured), "%s%.5f", seen ? ", " : "", r->ms);
            sprintf(predicted + strlen(predicted), "%s%.5f", seen ? ", " : "", p.time);
        }
        ++seen;
        if (!chosen || p.time < least) chosen = r, least = p.time;
    }
    if (!seen) return;
    best_ms = best->ms;
    length = snprintf(
        row, sizeof row,
        "\"work\": \"predict\", \"variant\": \"%s\", \"domain\": \"mandelbrot\", \"size\": %u, "
        "\"n\": %u, \"dwell\": %u, \"candidates\": %d, \"samples\": %d, \"mean_error_pct\": %.2f, "
        "\"g\": %u, \"r\": %u, \"B\": %u, \"predicted_ms\": %.5f, \"ms\": %.5f, \"best_g\": %u, "
        "\"best_r\": %u, \"best_B\": %u, \"best_ms\": %.5f, \"ratio\": %.4f",
        variant_name(variant), z->n, z->n, s->o.dwell, seen, samples, 100 * off / seen, chosen->a.g,
        chosen->a.r, chosen->a.b, least, chosen->ms, best->a.g, best->a.r, best->a.b, best_ms,
        chosen->ms / best_ms);
    snprintf(row + length, sizeof row - (size_t)length,
             ", \"paper_g\": %u, \"paper_r\": %u, \"paper_B\": %u, \"paper_ratio\": %.4f, "
             "\"measured\": [%s], \"predicted\": [%s]",
             paper->a.g, paper->a.r, paper->a.b, paper->ms / best_ms, measured, predicted);
    bench_results_row(&s->results, row);
    printf("| %u | %s | (%u, %u, %u) | %.4f | %.4f | (%u, %u, %u) | %.4f | %.3f | %.1f%% | (%u, "
           "%u, %u) %.3f |\n",
           z->n, variant_name(variant), chosen->a.g, chosen->a.r, chosen->a.b, least, chosen->ms,
           best->a.g, best->a.r, best->a.b, best_ms, chosen->ms / best_ms, 100 * off / seen,
           paper->a.g, paper->a.r, paper->a.b, paper->ms / best_ms);
}

// Rates of a form from the few candidates of all sizes; then predictions for all that was run.
static void sweep_model(sweep *s) {
    static tmap_ask_prediction counted[RUNS];
    static double times[RUNS];
    static const char *const names[TMAPI_ASK_RATES] = {
        "border_work", "leaf_work", "border_element", "fill_element", "leaf_element", "region",
        "cut",         "level",     "once",           "border_depth", "leaf_depth"};
    puts("\n| n | form | predicted best | its time as predicted | measured | measured best | its "
         "time | ratio | mean error | best of the paper's model, ratio |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (int variant = SBR; variant <= MBR; ++variant) {
        tmap_ask_rates rates;
        char row[1024];
        int length, samples = 0;
        for (int i = 0; i < s->run_count; ++i) {
            run *r = &s->runs[i];
            size *z = &s->sizes[r->size];
            tmap_ask_case plan = plan_of(z->n, r->a);
            if (!r->few || r->variant != variant) continue;
            if (tmap_ask_predict_curve(&plan, ask_curve_at(&z->curve), NULL, &counted[samples]))
                continue;
            times[samples++] = r->ms;
        }
        for (int k = 0; k < TMAPI_ASK_RATES; ++k) *tmapi_ask_rate(&rates, k) = 1; // all are fitted
        if (tmap_ask_rates_fit(counted, times, (tmap_u32)samples, 0, &rates, NULL)) continue;
        length = snprintf(row, sizeof row,
                          "\"work\": \"rates\", \"variant\": \"%s\", \"domain\": \"mandelbrot\", "
                          "\"samples\": %d, \"unit\": \"ms\"",
                          variant_name(variant), samples);
        for (int k = 0; k < TMAPI_ASK_RATES; ++k)
            length += snprintf(row + length, sizeof row - (size_t)length, ", \"%s\": %.6g",
                               names[k], *tmapi_ask_rate(&rates, k));
        bench_results_row(&s->results, row);
        for (int i = 0; i < s->o.n.count; ++i) predict(s, &s->sizes[i], variant, &rates, samples);
    }
}

#endif
