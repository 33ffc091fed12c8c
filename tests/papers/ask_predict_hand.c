// SPDX-License-Identifier: MIT
// ask_predict_hand.c: ask_predict.h and ask_fit.h against predictions by hand, and on a solid of
// three axes.
#include <threadmap/papers/ask_model.h>

#include "check.h"

#include <stdlib.h>
#include <string.h>

static double relative(double a, double b) {
    double error = a > b ? a - b : b - a, size = b < 0 ? -b : b;
    return size > 0 ? error / size : error;
}

// ---- three axes ---------------------------------------------------------------------------------

static const tmap_u32 solid[3] = {32, 16, 64};

// The work of an element: more in a ball than outside.
static int ball(const tmap_u32 *at) {
    int d = 0;
    for (int a = 0; a < 3; ++a) {
        int from = 2 * (int)at[a] + 1 - (int)solid[a];
        d += from * from;
    }
    return d < 180 ? 9 : 2;
}

typedef struct octants {
    double regions[8], several[8], border_elements[8], border_work[8], known[8];
    double leaf_elements, leaf_work;
} octants;

// A box and all that is cut from it, two parts an axis, counted element by element. `above` has the
// box's parent, for the elements that the parent's border has.
static void count_box(octants *o, int level, int levels, const tmap_u32 *from, const tmap_u32 *side,
                      const tmap_u32 *above) {
    int first = ball(from), several = 0;
    double inside = 0, inside_work = 0;
    tmap_u32 at[3];
    ++o->regions[level];
    for (at[2] = from[2]; at[2] < from[2] + side[2]; ++at[2])
        for (at[1] = from[1]; at[1] < from[1] + side[1]; ++at[1])
            for (at[0] = from[0]; at[0] < from[0] + side[0]; ++at[0]) {
                int rim = 0, rim_above = 0, value = ball(at);
                for (int a = 0; a < 3; ++a) {
                    rim |= at[a] == from[a] || at[a] == from[a] + side[a] - 1;
                    rim_above |=
                        level && (at[a] == above[a] || at[a] == above[a] + 2 * side[a] - 1);
                }
                if (!rim) {
                    ++inside;
                    inside_work += value;
                    continue;
                }
                several |= value != first;
                ++o->border_elements[level];
                o->known[level] += rim_above;
                o->border_work[level] += value;
            }
    if (!several) return;
    ++o->several[level];
    if (level + 1 == levels) {
        o->leaf_elements += inside;
        o->leaf_work += inside_work;
        return;
    }
    for (int c = 0; c < 8; ++c) {
        tmap_u32 half[3], start[3];
        for (int a = 0; a < 3; ++a) {
            half[a] = side[a] / 2;
            start[a] = from[a] + (c >> a & 1 ? half[a] : 0);
        }
        count_box(o, level + 1, levels, start, half, from);
    }
}

static void check_solid(void) {
    tmap_ask_case plan = {32, 16, 64, 2, 2, 4, 0};
    tmap_u32 levels = tmap_ask_case_levels(&plan);
    double side[8], count[8], work[8], border = 0, known = 0, work_borders = 0, all = 0;
    tmap_ask_curve curve = {side, count, work, 0, 0, 0};
    tmap_ask_prediction p;
    octants o;
    memset(&o, 0, sizeof o);
    memset(&p, 0, sizeof p);
    CHECK(levels == 3, "%u levels", levels); // sides 32, 16, 8 of the longest axis
    for (tmap_u32 c = 0; c < 8; ++c) {
        tmap_u32 half[3], from[3];
        for (int a = 0; a < 3; ++a) half[a] = solid[a] / 2, from[a] = (c >> a & 1) * half[a];
        count_box(&o, 0, (int)levels, from, half, from);
    }
    for (tmap_u32 i = 0; i < levels; ++i) {
        all += o.regions[i], border += o.border_elements[i], known += o.known[i];
        work_borders += o.border_work[i];
    }
    CHECK(tmap_ask_curve_from_run(
              &plan, o.several, o.border_elements, o.border_work, o.leaf_elements, o.leaf_work,
              o.border_work[0] / o.border_elements[0], side, count, work, &curve) == TMAP_OK,
          "%s", "curve");
    CHECK(tmap_ask_predict_curve(&plan, &curve, NULL, &p) == TMAP_OK, "%s", "prediction");
    CHECK(p.regions == all && p.leaves == o.several[2] && o.several[2] > 20, "%g %g", p.regions,
          p.leaves);
    CHECK(p.border_elements == border, "%g, not %g", p.border_elements, border);
    CHECK(p.leaf_elements == o.leaf_elements, "%g, not %g", p.leaf_elements, o.leaf_elements);
    CHECK(relative(p.border_work, work_borders) < 1e-12, "%g, not %g", p.border_work, work_borders);
    CHECK(relative(p.leaf_work, o.leaf_work) < 1e-12, "%g, not %g", p.leaf_work, o.leaf_work);
    plan.shared = 1;
    CHECK(tmap_ask_predict_curve(&plan, &curve, NULL, &p) == TMAP_OK, "%s", "shared");
    CHECK(relative(p.border_elements, border - known) < 1e-12 && known > 0, "%g, not %g",
          p.border_elements, border - known);
}

// Lines between regions, marked one by one. All regions are cut, and the domain goes on beyond its
// last element, as the prediction has it.
static void check_lines(void) {
    static const double count[] = {4, 36}, work[] = {1, 1}, side[] = {48, 16};
    const tmap_ask_curve curve = {side, count, work, 2, 96, 1};
    const tmap_ask_case plan = {96, 96, 0, 2, 3, 5, 2};
    tmap_ask_prediction p;
    int lines = 0;
    for (int y = 0; y < 96; ++y)
        for (int x = 0; x < 96; ++x) lines += x % 16 == 0 || y % 16 == 0;
    CHECK(tmap_ask_predict_curve(&plan, &curve, NULL, &p) == TMAP_OK, "%s", "lines");
    CHECK(p.levels == 2 && p.leaves == 36, "%u levels, %g leaves", p.levels, p.leaves);
    CHECK(relative(p.border_elements, lines) < 1e-12, "%g, not %d", p.border_elements, lines);
    CHECK(relative(p.leaf_elements, 96 * 96 - lines) < 1e-12, "%g", p.leaf_elements);
}

// ---- the arithmetic of a prediction -------------------------------------------------------------

// A curve that is a power law, N = (n / d)^1.5, sampled every octave; and times by hand.
static void check_curve(void) {
    double side[10], count[10], work[10];
    tmap_ask_curve c = {side, count, work, 10, 1024, 100};
    tmap_ask_case plan = {1024, 512, 0, 2, 2, 200, 0}, search = {1024, 1024, 0, 0, 0, 0, 0};
    tmap_ask_rates rates = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
    tmap_ask_prediction p, q;
    static const tmap_u32 g[] = {2000, 4}, r[] = {1, 2}, B[] = {0, 16};
    tmap_ask_candidates list = {g, r, B, 2, 2, 2};
    for (int k = 0; k < 10; ++k) {
        side[k] = 512.0 / (1 << k);
        count[k] = (double)(1ull << 3 * (k + 1)); // 8^(k+1) = (n / d)^3, a square and a root above
        work[k] = 100.0 - 5 * (k + 1);
    }
    for (int k = 0; k < 10; ++k) { // half way in the logarithm, sqrt(2) longer than the side
        double middle = side[k] * 1.4142135623730951;
        CHECK(relative(tmap_ask_curve_count(&c, middle), count[k] / 2.8284271247461903) < 1e-12,
              "%g: %g", middle, tmap_ask_curve_count(&c, middle));
        CHECK(relative(tmap_ask_curve_work(&c, middle), work[k] + 2.5) < 1e-12, "%g", middle);
    }
    CHECK(tmap_ask_curve_count(&c, 1024) == 1 && tmap_ask_curve_count(&c, 5000) == 1, "%s", "n");
    CHECK(relative(tmap_ask_curve_count(&c, 0.25), count[9] * 64) < 1e-12, "%s", "below the last");
    CHECK(tmap_ask_curve_work(&c, 0.25) == work[9], "%s", "below the last");
    count[9] = 0;
    CHECK(relative(tmap_ask_curve_count(&c, 1.4142135623730951), count[8] / 2) < 1e-12, "%s",
          "half way to nothing");
    CHECK(tmap_ask_curve_count(&c, 0.5) == 0 && tmap_ask_curve_count(&c, 1) == 0, "%s", "nothing");
    // 1024 x 512 in 2 x 2 regions of 512 x 256, and of those cut 2 x 2 of 256 x 128
    count[0] = 3;
    count[1] = 5;
    plan.b = 128;
    CHECK(tmap_ask_predict_curve(&plan, &c, &rates, &p) == TMAP_OK, "%s", "curve");
    CHECK(p.levels == 2 && p.regions == 16 && p.cut == 3 && p.filled == 8 && p.leaves == 5, "%s",
          "regions");
    CHECK(p.border_elements == 4 * 1532 + 12 * 764, "%g", p.border_elements);
    CHECK(p.fill_elements == 510 * 254 + 7 * 254 * 126, "%g", p.fill_elements);
    CHECK(p.leaf_elements == 5 * 254 * 126, "%g", p.leaf_elements);
    CHECK(relative(p.border_work, 4 * 1532 * 100.0 + 12 * 764 * 95.0) < 1e-12, "%g", p.border_work);
    CHECK(relative(p.leaf_work, 5 * 254 * 126 * 90.0) < 1e-12, "%g", p.leaf_work);
    CHECK(p.border_depth == 1532 + 764 && p.leaf_depth == 254 * 126, "%g", p.border_depth);
    CHECK(relative(p.omega, 1024.0 * 512 * 100 / p.work) < 1e-12, "%g", p.omega);
    CHECK(relative(p.time, 2 * p.border_work + 3 * p.leaf_work + 5 * p.border_elements +
                               7 * p.fill_elements + 11 * p.leaf_elements + 13 * 16 + 17 * 3 +
                               19 * 2 + 23 + 29 * p.border_depth + 31 * p.leaf_depth) < 1e-12,
          "%g", p.time);
    plan.shared = 1;
    CHECK(tmap_ask_predict_curve(&plan, &c, &rates, &q) == TMAP_OK, "%s", "shared");
    CHECK(q.border_elements == p.border_elements - 3 * 1532, "%g", q.border_elements);
    count[1] = 13; // one more than there are children
    CHECK(tmap_ask_predict_curve(&plan, &c, &rates, &q) == TMAP_OK && q.leaves == 12, "%g",
          q.leaves);
    CHECK(q.filled == 1, "%g", q.filled);
    // the search passes over what is impossible: the one plan left is (4, 2, 16)
    CHECK(tmap_ask_predict_search(&search, &list, &c, &rates, &p) == TMAP_OK && search.g == 4 &&
              search.r == 2 && search.b == 16,
          "(%llu,%llu,%llu)", search.g, search.r, search.b);
    list.g_count = 1;
    CHECK(tmap_ask_predict_search(&search, &list, &c, &rates, &p) == TMAP_ERANGE, "%s", "g > n");
    CHECK(tmap_ask_predict_search(NULL, &list, &c, &rates, &p) == TMAP_EINVAL, "%s", "null");
    side[3] = side[2];
    CHECK(tmap_ask_curve_check(&c) == TMAP_EINVAL, "%s", "sides that do not fall");
    CHECK(tmap_ask_predict_curve(&plan, &c, NULL, &p) == TMAP_EINVAL, "%s", "a bad curve");
    c.points = 0;
    CHECK(tmap_ask_curve_check(&c) == TMAP_EINVAL, "%s", "no point");
    plan.ny = 0;
    CHECK(tmap_ask_case_check(&plan) == TMAP_EINVAL, "%s", "ny = 0");
    plan.ny = 1024, plan.b = 513;
    CHECK(tmap_ask_case_check(&plan) == TMAP_ERANGE, "%s", "B > n / g");
}

// Rates from times that are exactly of the form, and what the fit refuses.
static void check_exact_fit(void) {
    tmap_ask_rates rates = {2e-3, 3e-3, 0, 1e-4, 0, 0.5, 30, 40, 100, 0, 0.02}, fit = rates, bad;
    tmap_ask_prediction counted[60];
    double time[60], worst = -1, room[3][3] = {{512, 64, 8}, {3, 90, 1100}, {180, 110, 50}};
    tmap_ask_curve c = {room[0], room[1], room[2], 3, 1024, 200};
    unsigned n = 0;
    for (tmap_u64 g = 2; g <= 64; g *= 2)
        for (tmap_u64 r = 2; r <= 8; r *= 2)
            for (tmap_u64 B = 2; B <= 16; B *= 2) {
                tmap_ask_case plan = {1024, 1024, 0, g, r, B, (int)(B & 2)};
                if (n == 60 || tmap_ask_predict_curve(&plan, &c, &rates, &counted[n])) continue;
                time[n] = counted[n].time;
                ++n;
            }
    CHECK(n == 60, "%u plans", n);
    CHECK(tmap_ask_rates_fit(counted, time, n, 200000, &fit, &worst) == TMAP_OK, "%s", "fit");
    CHECK(worst < 1e-6, "%g", worst);
    CHECK(fit.border_element == 0 && fit.leaf_element == 0 && fit.border_depth == 0, "%s",
          "rates that were not asked for");
    bad = fit;
    CHECK(tmap_ask_rates_fit(counted, time, 0, 1, &bad, NULL) == TMAP_EINVAL, "%s", "no plan");
    CHECK(tmap_ask_rates_fit(NULL, time, n, 1, &bad, NULL) == TMAP_EINVAL, "%s", "null");
    time[7] = 0;
    CHECK(tmap_ask_rates_fit(counted, time, n, 1, &bad, &worst) == TMAP_EINVAL, "%s", "time 0");
    CHECK(memcmp(&bad, &fit, sizeof fit) == 0, "%s", "outputs of a failure");
    printf("an exact fit leaves %.2g\n", worst);
}

// The search's best time on a picture's curve is the least of all candidates.
static void check_time_search(void) {
    static const tmap_u32 gs[] = {4, 8, 16, 32, 64}, rs[] = {2, 4, 8}, Bs[] = {8, 16, 32, 64};
    tmap_ask_candidates all = {gs, rs, Bs, 5, 3, 4};
    static const double side[] = {4096, 256, 16}, count[] = {1, 200, 6000}, work[] = {200, 110, 50};
    tmap_ask_curve c = {side, count, work, 3, 16384, 200};
    tmap_ask_rates rates = {1e-9, 6e-10, 1e-9, 2e-10, 1e-9, 1e-8, 1e-8, 5e-6, 3e-5, 2e-8, 1e-8};
    for (int shared = 0; shared < 2; ++shared) {
        tmap_ask_case best = {16384, 16384, 0, 0, 0, 0, shared};
        tmap_ask_prediction p, one;
        memset(&one, 0, sizeof one);
        CHECK(tmap_ask_predict_search(&best, &all, &c, &rates, &p) == TMAP_OK, "%s", "search");
        for (int i = 0; i < 60; ++i) {
            tmap_ask_case plan = {16384, 16384, 0, gs[i / 12], rs[i / 4 % 3], Bs[i % 4], shared};
            CHECK(tmap_ask_predict_curve(&plan, &c, &rates, &one) == TMAP_OK, "%d", i);
            CHECK(one.time >= p.time, "%d: %g < %g", i, one.time, p.time);
            if (plan.g == best.g && plan.r == best.r && plan.b == best.b)
                CHECK(one.time == p.time, "%d", i);
        }
    }
}

int main(void) {
    check_curve();
    check_time_search();
    check_exact_fit();
    check_solid();
    check_lines();
    return check_result("ask_predict_hand");
}
