// SPDX-License-Identifier: MIT
// ask_theory.h: the curves of the paper's figures 3 and 4, from ask_model.h: work reduction Omega
// and speedups S_SBR and S_MBR against n, and against g, r and B with the other two at their best.
#ifndef BENCH_ASK_THEORY_H
#define BENCH_ASK_THEORY_H

#include "../driver.h"

#include <threadmap/papers/ask_model.h>

enum { ASK_THEORY_VALUES = 10, ASK_THEORY_CURVES = 4 };
// The search space of section 4.2.2: powers of two.
static const tmap_u32 ask_theory_values[ASK_THEORY_VALUES] = {2,  4,   8,   16,  32,
                                                              64, 128, 256, 512, 1024};

// One curve: a goal against a variable, with one parameter away from the others' common values.
typedef struct ask_theory {
    int goal;              // TMAP_ASK_OMEGA, ...
    const char *axis;      // "n", "g", "r", "B"
    const char *parameter; // "P", "A", "lambda", "n", "q", "c"
    double value;
} ask_theory;

// The best value of the goal over g, r and B; the axis, if it is one of them, stays at `fixed`.
// 0 if there is no such subdivision.
static double ask_theory_best(const ask_theory *t, tmap_u64 n, tmap_u32 fixed) {
    tmap_ask_candidates list = {ask_theory_values, ask_theory_values, ask_theory_values,
                                ASK_THEORY_VALUES, ASK_THEORY_VALUES, ASK_THEORY_VALUES};
    tmap_ask_model m = {n, 0, 0, 0, 8, 0.7, 100, 128, 64};
    double value = 0;
    if (t->parameter[0] == 'P') m.chance = t->value;
    if (t->parameter[0] == 'A') m.element_cost = t->value;
    if (t->parameter[0] == 'l') m.lambda = t->value;
    if (t->parameter[0] == 'n') m.n = (tmap_u64)t->value;
    if (t->parameter[0] == 'q') m.q = (tmap_u64)t->value;
    if (t->parameter[0] == 'c') m.c = (tmap_u64)t->value;
    if (t->axis[0] == 'g') list.g = &fixed, list.g_count = 1;
    if (t->axis[0] == 'r') list.r = &fixed, list.r_count = 1;
    if (t->axis[0] == 'B') list.b = &fixed, list.b_count = 1;
    return tmap_ask_model_search(&m, &list, t->goal, &value) ? 0 : value;
}

static void ask_theory_row(bench_driver *d, const ask_theory *t) {
    static const char *const goals[] = {"omega", "sbr", "mbr"};
    bench_row row = bench_row_begin(d, "theory", goals[t->goal], "mandelbrot");
    char x[512] = "", y[512] = "";
    const int along_n = t->axis[0] == 'n';
    bench_key_text(&row, "axis", t->axis);
    bench_key_text(&row, "parameter", t->parameter);
    bench_key(&row, "value", "%.10g", t->value);
    if (!bench_wants(d, &row)) return;
    for (int i = 0; i < (along_n ? 25 : ASK_THEORY_VALUES); ++i) {
        double at = along_n ? (double)(256ull << i) : ask_theory_values[i];
        double value = along_n ? ask_theory_best(t, 256ull << i, 0)
                               : ask_theory_best(t, 1ull << 24, ask_theory_values[i]);
        if (!(value > 0)) continue;
        snprintf(x + strlen(x), sizeof x - strlen(x), "%s%.0f", *x ? "," : "", at);
        snprintf(y + strlen(y), sizeof y - strlen(y), "%s%.5g", *y ? "," : "", value);
    }
    bench_key(&row, "x", "[%s]", x);
    bench_key(&row, "y", "[%s]", y);
    bench_row_end(d, &row);
}

// All curves: also g, r and B at several n, and times with other numbers of multiprocessors (q) and
// of their cores (c), which Omega does not know. What is not varied: A = 8, P = 0.7, lambda = 100,
// 128 multiprocessors of 64 cores, n = 2^24. These and the values below are those of the authors'
// scripts/theo-genplots.sh.
static void ask_theory_rows(bench_driver *d) {
    static const char *const axes[] = {"n", "g", "r", "B"};
    static const char *const parameters[] = {"P", "A", "lambda", "n", "q", "c"};
    static const double values[6][ASK_THEORY_CURVES] = {
        {0.6, 0.7, 0.8, 0.9}, {2, 4, 8, 16},
        {1, 100, 1e4, 1e6},   {256, 65536, 1 << 24, 4294967296.0},
        {1, 128, 256, 512},   {1, 16, 64, 128}};
    for (int goal = TMAP_ASK_OMEGA; goal <= TMAP_ASK_SPEEDUP_MBR; ++goal)
        for (int axis = 0; axis < 4; ++axis)
            for (int parameter = 0; parameter < 6; ++parameter) {
                if (parameter == 3 && axis == 0) continue;
                if (parameter > 3 && goal == TMAP_ASK_OMEGA) continue;
                for (int i = 0; i < ASK_THEORY_CURVES; ++i) {
                    ask_theory t = {goal, axes[axis], parameters[parameter], values[parameter][i]};
                    ask_theory_row(d, &t);
                }
            }
}

#endif
