// SPDX-License-Identifier: MIT
// ask_predict.c: ask_model.h, ask_predict.h and ask_fit.h against what a serial Mariani-Silver
// counts, on the Mandelbrot set and on simple pictures.
#include <threadmap/papers/ask_model.h>

#include "check.h"
#include "adaptive/ask_reference.h"

#include <stdlib.h>

static double relative(double a, double b) {
    double error = a > b ? a - b : b - a, size = b < 0 ? -b : b;
    return size > 0 ? error / size : error;
}

// ---- pictures -----------------------------------------------------------------------------------

typedef struct picture {
    tmap_u32 nx, ny;
    int *pixels;
} picture;

static int look(const void *context, tmap_u32 x, tmap_u32 y) {
    const picture *p = (const picture *)context;
    return p->pixels[(size_t)y * p->nx + x];
}

static int mandelbrot(const void *context, tmap_u32 x, tmap_u32 y) {
    const picture *p = (const picture *)context;
    float cx = -1.5f + 2.0f * (float)x / (float)p->nx, cy = -1.0f + 2.0f * (float)y / (float)p->ny;
    float zx = cx, zy = cy;
    int i = 0;
    for (; i < 512 && zx * zx + zy * zy < 4.0f; ++i) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
    }
    return i;
}

static int half_plane(const void *context, tmap_u32 x, tmap_u32 y) {
    const picture *p = (const picture *)context;
    return 3 * (tmap_u64)x * p->ny + (tmap_u64)y * p->nx > (tmap_u64)p->nx * p->ny ? 9 : 1;
}

static int flat(const void *context, tmap_u32 x, tmap_u32 y) {
    return context && x < 0xffffffffu && y < 0xffffffffu ? 7 : 0;
}

static int chess(const void *context, tmap_u32 x, tmap_u32 y) {
    return context && ((x ^ y) & 1) ? 2 : 1;
}

// A subdivision by ask_reference, with what must hold of any.
static void subdivide(const picture *p, ask_split split, ask_counts *c, int *out) {
    tmap_u64 ends = 0;
    for (size_t i = 0; i < (size_t)p->nx * p->ny; ++i) out[i] = -1;
    ask_reference(split, look, p, out, c);
    for (size_t i = 0; i < (size_t)p->nx * p->ny; ++i) ends += out[i] < 0;
    CHECK(ends == 0, "%u x %u: %llu pixels not written", p->nx, p->ny, ends);
    for (tmap_u32 l = 0; l < c->levels; ++l) {
        const ask_level *v = &c->level[l];
        tmap_u64 above =
            l ? c->level[l - 1].subdivided * split.r * split.r : (tmap_u64)split.gx * split.gy;
        CHECK(v->regions == v->subdivided + v->filled + v->leaves, "level %u", l);
        CHECK(v->regions + v->empty == above, "level %u: %llu + %llu, not %llu", l, v->regions,
              v->empty, above);
        CHECK(l + 1 == c->levels || v->leaves == 0, "level %u", l);
    }
    CHECK(c->level[c->levels - 1].subdivided == 0, "%s", "the last level");
}

// Pictures that Mariani-Silver gets right, on domains that are neither square nor powers of two.
static void check_simple(void) {
    static const ask_dwell dwells[] = {half_plane, flat, chess};
    static const tmap_u32 sides[][2] = {{1, 1},   {2, 7},    {33, 20},   {64, 64},
                                        {100, 3}, {101, 77}, {128, 257}, {250, 250}};
    static ask_counts c;
    for (int d = 0; d < 3; ++d)
        for (int s = 0; s < 8; ++s)
            for (tmap_u32 g = 1; g <= 7; ++g)
                for (tmap_u32 r = 2; r <= 5; ++r)
                    for (tmap_u32 B = 1; B <= 9; B += 4) {
                        picture p = {sides[s][0], sides[s][1], NULL};
                        size_t n = (size_t)p.nx * p.ny;
                        ask_split split;
                        int *out;
                        if (ask_split_make(p.nx, p.ny, g, r, B, &split)) continue;
                        p.pixels = (int *)malloc(n * sizeof *out);
                        out = (int *)malloc(n * sizeof *out);
                        if (!p.pixels || !out) exit(2);
                        ask_exhaustive(p.nx, p.ny, dwells[d], &p, p.pixels);
                        subdivide(&p, split, &c, out);
                        CHECK(ask_difference(out, p.pixels, n) == 0, "%u x %u g=%u r=%u B=%u", p.nx,
                              p.ny, g, r, B);
                        if (d == 1) CHECK(c.level[0].subdivided == 0, "%u x %u", p.nx, p.ny);
                        if (d == 2 && g == 1)
                            CHECK(c.level[0].filled == (n == 1), "%u x %u", p.nx, p.ny);
                        free(p.pixels);
                        free(out);
                    }
}

// ---- counted work -------------------------------------------------------------------------------

#define SIDE 1024

static double whole; // mean dwell of the picture
static ask_counts run;

static void run_plan(const picture *p, const tmap_ask_case *plan, int *out) {
    ask_split split;
    if (ask_split_make((tmap_u32)plan->nx, (tmap_u32)plan->ny, (tmap_u32)plan->g, (tmap_u32)plan->r,
                       (tmap_u32)plan->b, &split))
        exit(2);
    subdivide(p, split, &run, out);
}

// Regions of each level with several values on their border.
static double several(tmap_u32 level) {
    return (double)(run.level[level].subdivided + run.level[level].leaves);
}

// Equation 16 with the P and costs that were counted: E[G_i], K_i and W_S are those of the run. The
// model's last level computes all of its regions, so A is that level's work for each of its pixels.
static void check_general(const tmap_ask_case *plan) {
    double P[64], R[64], Q[64], S[64], T[64], elements = (double)SIDE * SIDE, area, k = 0;
    tmap_u32 tau = tmap_ask_case_levels(plan), last = tau - 1;
    const ask_level *v = run.level;
    double A, fill = 0;
    for (tmap_u32 i = 0; i < tau; ++i) {
        P[i] = several(i) / (double)v[i].regions;
        R[i] = (double)(plan->r * plan->r);
        Q[i] = (double)v[i].border_work / (double)v[i].regions;
        S[i] = 0;
        T[i] = v[i].filled ? (double)v[i].filled_pixels / (double)v[i].filled : 0;
        CHECK(relative(tmap_ask_model_regions((double)(plan->g * plan->g), P, R, i),
                       (double)v[i].regions) < 1e-12,
              "level %u", i);
        if (i < last) {
            k += tmap_ask_model_level((double)v[i].regions, P[i], Q[i], S[i], T[i]);
            fill += (double)v[i].filled_pixels;
        }
    }
    area =
        (double)v[last].regions * tmap_ask_case_side(plan, last) * tmap_ask_case_side(plan, last);
    A = (double)(v[last].border_work + v[last].leaf_work) / area;
    CHECK(
        relative(tmap_ask_model_work(elements, A, (double)(plan->g * plan->g), tau, P, R, Q, S, T),
                 (double)run.work + fill) < 1e-12,
        "g=%llu r=%llu", plan->g, plan->r);
    CHECK(relative(tmap_ask_model_last(elements, A, P, tau), A * area) < 1e-12, "%s", "L");
    CHECK(relative(k + A * area, (double)run.work + fill) < 1e-12, "%s", "K + L");
}

static void same(const char *what, double got, double want, double grant,
                 const tmap_ask_case *plan) {
    CHECK(relative(got, want) <= grant, "%s of (%llu,%llu,%llu): %.9g, not %.9g", what, plan->g,
          plan->r, plan->b, got, want);
}

// A prediction against the run: all but the work on borders.
static void compare_counts(const tmap_ask_prediction *p, const tmap_ask_case *plan, double grant) {
    double regions = 0, cut = 0, filled = 0, leaf_work = 0, leaves = 0;
    for (tmap_u32 i = 0; i < run.levels; ++i) {
        const ask_level *v = &run.level[i];
        regions += (double)v->regions, cut += (double)v->subdivided;
        filled += (double)v->filled, leaves += (double)v->leaves;
        leaf_work += (double)v->leaf_work;
    }
    CHECK(p->levels == run.levels, "(%llu,%llu,%llu)", plan->g, plan->r, plan->b);
    same("regions", p->regions, regions, grant, plan);
    same("cut", p->cut, cut, grant, plan);
    same("filled", p->filled, filled, grant, plan);
    same("leaves", p->leaves, leaves, grant, plan);
    same("border elements", p->border_elements, (double)run.border_pixels, grant, plan);
    same("filled elements", p->fill_elements, (double)run.filled_pixels, grant, plan);
    same("leaf elements", p->leaf_elements, (double)run.leaf_pixels, grant, plan);
    same("leaf work", p->leaf_work, leaf_work, grant, plan);
}

static void compare(const tmap_ask_prediction *p, const tmap_ask_case *plan, double grant) {
    compare_counts(p, plan, grant);
    same("work", p->work, (double)run.work, grant, plan);
    same("omega", p->omega, whole * SIDE * SIDE / (double)run.work, grant, plan);
}

static void check_levels(const tmap_ask_case *plan) {
    double P[64], leaf_work = (double)run.level[run.levels - 1].leaf_work;
    tmap_ask_costs costs;
    tmap_ask_prediction p;
    memset(&p, 0, sizeof p);
    for (tmap_u32 i = 0; i < run.levels; ++i)
        P[i] = run.level[i].regions ? several(i) / (double)run.level[i].regions : 0;
    costs.whole = whole;
    costs.border = ((double)run.work - leaf_work) / (double)run.border_pixels;
    costs.leaf = run.leaf_pixels ? leaf_work / (double)run.leaf_pixels : 0;
    CHECK(tmap_ask_predict_levels(plan, P, &costs, NULL, &p) == TMAP_OK, "%s", "levels");
    compare(&p, plan, 1e-12);
    printf("(%llu,%llu,%llu): border %.1f, leaf %.1f, omega %.2f\n", plan->g, plan->r, plan->b,
           costs.border, costs.leaf, p.omega);
}

// The curve of the last run.
static tmap_ask_curve measure(const tmap_ask_case *plan, double room[3][64]) {
    double cut[64], elements[64], work[64];
    tmap_ask_curve curve = {NULL, NULL, NULL, 0, 0, 0};
    for (tmap_u32 i = 0; i < run.levels; ++i) {
        cut[i] = several(i);
        elements[i] = (double)run.level[i].border_pixels;
        work[i] = (double)run.level[i].border_work;
    }
    CHECK(tmap_ask_curve_from_run(plan, cut, elements, work, (double)run.leaf_pixels,
                                  (double)run.level[run.levels - 1].leaf_work, whole, room[0],
                                  room[1], room[2], &curve) == TMAP_OK,
          "%s", "curve");
    return curve;
}

// The laws of a curve on the plan that measured it: what was counted comes out again, but for the
// work of level 0, whose borders are taken to cost what the whole domain does.
static void check_curve(const tmap_ask_case *plan) {
    double room[3][64], above, level0 = (double)run.level[0].border_pixels * whole;
    tmap_ask_curve curve = measure(plan, room);
    tmap_ask_prediction p;
    memset(&p, 0, sizeof p);
    for (tmap_u32 k = 0; k < curve.points; ++k) {
        CHECK(tmap_ask_curve_count(&curve, curve.side[k]) == curve.count[k], "(%llu,%llu,%llu) %u",
              plan->g, plan->r, plan->b, k);
        CHECK(tmap_ask_curve_work(&curve, curve.side[k]) == curve.work[k], "(%llu,%llu,%llu) %u",
              plan->g, plan->r, plan->b, k);
    }
    CHECK(tmap_ask_predict_curve(plan, &curve, NULL, &p) == TMAP_OK, "%s", "curve");
    compare_counts(&p, plan, 1e-12);
    above = (double)run.work - (double)run.level[0].border_work;
    same("work below level 0", p.work - level0, above, 1e-12, plan);
}

// Border pixels that no ancestor has computed, counted in a picture: a level's borders, less those
// of the levels above.
static tmap_u64 new_border_pixels(const tmap_ask_case *plan) {
    tmap_u64 all = run.border_pixels;
    for (tmap_u32 l = 0; l + 1 < run.levels; ++l) {
        // each region that was cut hands its ring down, and all of its ring is rings of children
        tmap_u64 side = plan->nx / tmap_region_parts(plan->g, plan->r, l);
        all -= run.level[l].subdivided * (4 * side - 4);
    }
    return all;
}

// What a machine of 1056 places for blocks of 256 threads could take for the run, in microseconds:
// each level a launch, and the longer of its work on all places and its slowest region. Not the form
// of a prediction, which adds the two.
static double simulated_time(const tmap_ask_case *plan) {
    double time = 10;
    for (tmap_u32 l = 0; l < run.levels; ++l) {
        const ask_level *v = &run.level[l];
        double side = tmap_ask_case_side(plan, l), rounds = tmapi_ask_ceil(4 * side / 256);
        double inside = v->leaves ? tmapi_ask_ceil(side * side / 256) : 0;
        double all = (double)(v->border_work + v->leaf_work) / 2e6 +
                     (double)(v->border_pixels + v->filled_pixels + v->leaf_pixels) / 5e5 +
                     (double)v->regions / 4000;
        double slowest = 512 * 0.01 * (rounds + inside);
        time += 4 + (all > slowest ? all : slowest);
    }
    return time;
}

// Rates fitted to every fourth plan, by counts from the curve alone, find a plan whose time is
// within 10% of the best of all.
static void check_fit(const tmap_ask_curve *curve, const tmap_ask_case *plans, const double *time,
                      unsigned count) {
    static tmap_ask_prediction some[256];
    static double some_time[256];
    tmap_ask_rates rates = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tmap_ask_prediction p;
    double worst = 0, best = 1e300, least = 1e300, chosen = 0, mean = 0;
    unsigned n = 0, best_at = 0;
    for (unsigned i = 0; i < count; ++i) {
        if (time[i] < best) best = time[i], best_at = i;
        if (i % 4 || n == 256) continue;
        CHECK(tmap_ask_predict_curve(&plans[i], curve, NULL, &some[n]) == TMAP_OK, "plan %u", i);
        some_time[n++] = time[i];
    }
    CHECK(tmap_ask_rates_fit(some, some_time, n, 0, &rates, &worst) == TMAP_OK, "%s", "fit");
    for (unsigned i = 0; i < count; ++i) {
        CHECK(tmap_ask_predict_curve(&plans[i], curve, &rates, &p) == TMAP_OK, "plan %u", i);
        mean += relative(p.time, time[i]) / count;
        if (p.time < least) least = p.time, chosen = time[i];
    }
    printf("fitted to %u of %u times: mean error %.1f%%, worst of the fitted %.1f%%; the best by "
           "prediction takes %.1f%% longer than the best, (%llu,%llu,%llu)\n",
           n, count, 100 * mean, 100 * worst, 100 * (chosen / best - 1), plans[best_at].g,
           plans[best_at].r, plans[best_at].b);
    CHECK(chosen <= 1.1 * best, "%g, not %g", chosen, best);
    CHECK(mean < 0.1, "%g", mean);
}

// One run tells what others cost. Where sides are powers of two the curve is measured, else it is
// interpolated, and grids that are placed otherwise meet other pixels: few percent.
static void check_transfer(const picture *p, const tmap_ask_curve *curve, int *out) {
    static const tmap_u32 gs[] = {4, 6, 8, 12, 16, 24, 32, 48, 64}, rs[] = {2, 3, 4, 5, 8},
                          Bs[] = {2, 4, 8, 16, 32};
    tmap_ask_candidates all = {gs, rs, Bs, 9, 5, 5};
    tmap_ask_case best = {SIDE, SIDE, 0, 0, 0, 0, 0};
    tmap_ask_prediction predicted, prediction;
    double least = 1e300, chosen = 0, worst = 0, mean = 0, worst_even = 0;
    unsigned plans = 0, runs = 0;
    static tmap_ask_case tried[256];
    static double time[256];
    memset(&predicted, 0, sizeof predicted);
    CHECK(tmap_ask_predict_search(&best, &all, curve, NULL, &predicted) == TMAP_OK, "%s", "search");
    for (int i = 0; i < 9 * 5 * 5; ++i) {
        tmap_ask_case plan = {SIDE, SIDE, 0, gs[i / 25], rs[i / 5 % 5], Bs[i % 5], 0};
        double side, error;
        if (tmap_ask_predict_curve(&plan, curve, NULL, &prediction)) continue;
        run_plan(p, &plan, out);
        tried[runs] = plan;
        time[runs++] = simulated_time(&plan);
        side = tmap_ask_case_side(&plan, run.levels - 1);
        error = relative(prediction.work, (double)run.work);
        CHECK(prediction.work >= predicted.work, "(%llu,%llu,%llu)", plan.g, plan.r, plan.b);
        if ((double)run.work < least) least = (double)run.work;
        if (plan.g == best.g && plan.r == best.r && plan.b == best.b) chosen = (double)run.work;
        if (side <= 64) {
            ++plans;
            mean += error;
            if (error > worst) worst = error;
            if (SIDE % plan.g == 0 && plan.r % 2 == 0 && plan.r != 6 && error > worst_even)
                worst_even = error;
        }
    }
    mean /= plans;
    printf("%u plans with leaves of side 64 and less: mean error %.1f%%, worst %.1f%%, %.1f%% "
           "where sides are powers of two; the "
           "best by prediction, (%llu,%llu,%llu), needs %.1f%% more work than the best\n",
           plans, 100 * mean, 100 * worst, 100 * worst_even, best.g, best.r, best.b,
           100 * (chosen / least - 1));
    CHECK(plans > 100, "%u plans", plans);
    CHECK(mean < 0.02 && worst < 0.12 && worst_even < 0.03, "%g, %g, %g", mean, worst, worst_even);
    check_fit(curve, tried, time, runs);
    CHECK(chosen <= 1.05 * least, "the best by prediction: %g, not %g", chosen, least);
}

static void check_counted(void) {
    static const tmap_u64 cut[] = {4, 14, 50, 170, 541, 1681, 4872, 13720};
    picture p = {SIDE, SIDE, NULL};
    size_t n = (size_t)SIDE * SIDE;
    int *out = (int *)malloc(n * sizeof *out);
    tmap_ask_case fine = {SIDE, SIDE, 0, 2, 2, 1, 0},
                  others[] = {{SIDE, SIDE, 0, 32, 2, 8, 0}, {SIDE, SIDE, 0, 4, 4, 8, 0},
                              {SIDE, SIDE, 0, 8, 8, 2, 0},  {SIDE, SIDE, 0, 16, 2, 64, 0},
                              {SIDE, SIDE, 0, 1, 2, 8, 0},  {SIDE, SIDE, 0, 1, 4, 300, 0}};
    double room[3][64];
    tmap_ask_curve curve;
    tmap_ask_prediction once, shared;
    tmap_u64 work;
    p.pixels = (int *)malloc(n * sizeof *p.pixels);
    if (!out || !p.pixels) exit(2);
    work = ask_exhaustive(SIDE, SIDE, mandelbrot, &p, p.pixels);
    whole = (double)work / (double)n;
    run_plan(&p, &fine, out);
#if !defined(__FP_FAST_FMAF) // a machine that fuses products and sums gets other dwells
    CHECK(work == 209740749, "the sum of all dwells: %llu", work);
    for (int i = 0; i < 8; ++i)
        CHECK(run.level[i].subdivided == cut[i], "level %d: %llu, not %llu", i,
              run.level[i].subdivided, cut[i]);
    CHECK(ask_difference(out, p.pixels, n) == 5, "%llu pixels differ from exhaustive",
          ask_difference(out, p.pixels, n));
#else
    (void)cut;
#endif
    check_general(&fine);
    check_levels(&fine);
    curve = measure(&fine, room);
    check_curve(&fine);
    CHECK(tmap_ask_predict_curve(&fine, &curve, NULL, &once) == TMAP_OK, "%s", "curve");
    same("border elements by the curve", once.border_elements, (double)run.border_pixels, 1e-12,
         &fine);
    same("leaf work by the curve", once.leaf_work, (double)run.level[8].leaf_work, 1e-12, &fine);
    // level 0 alone is not exact: its borders are taken to cost what the whole domain does
    same("work by the curve", once.work, (double)run.work, 0.01, &fine);
    fine.shared = 1;
    CHECK(tmap_ask_predict_curve(&fine, &curve, NULL, &shared) == TMAP_OK, "%s", "curve");
    same("new border elements", shared.border_elements, (double)new_border_pixels(&fine), 1e-12,
         &fine);
    CHECK(shared.work < once.work && shared.leaf_work == once.leaf_work, "%s", "shared borders");
    for (int i = 0; i < 6; ++i) {
        run_plan(&p, &others[i], out);
        check_general(&others[i]);
        check_levels(&others[i]);
        check_curve(&others[i]);
    }
    check_transfer(&p, &curve, out);
    free(p.pixels);
    free(out);
}

// One region at first, on whose border there is one value: the curve says 0 at the domain's side.
static void check_flat(void) {
    const tmap_ask_case plans[] = {{SIDE, SIDE, 0, 1, 2, 16, 0}, {SIDE, SIDE, 0, 1, 2, SIDE, 0}};
    picture p = {SIDE, SIDE, NULL};
    size_t n = (size_t)SIDE * SIDE;
    int *out = (int *)malloc(n * sizeof *out);
    p.pixels = (int *)malloc(n * sizeof *p.pixels);
    if (!out || !p.pixels) exit(2);
    whole = (double)ask_exhaustive(SIDE, SIDE, flat, &p, p.pixels) / (double)n;
    for (int i = 0; i < 2; ++i) {
        run_plan(&p, &plans[i], out);
        CHECK(run.level[0].filled == 1, "plan %d", i);
        check_levels(&plans[i]);
        check_curve(&plans[i]);
    }
    free(p.pixels);
    free(out);
}

int main(void) {
    check_simple();
    check_flat();
    check_counted();
    return check_result("ask_predict");
}
