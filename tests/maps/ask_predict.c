// SPDX-License-Identifier: MIT
// ask_predict.c: ask_model.h, ask_predict.h and ask_fit.h against what a serial Mariani-Silver
// counts, on the Mandelbrot set, on simple pictures and on a solid; and predictions by hand.
#include <threadmap/ask_fit.h>

#include "check.h"
#include "kernels/ask_reference.h"

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

static void run_plan(const picture *p, const tmap_ask_plan *plan, int *out) {
    ask_split split;
    if (ask_split_make((tmap_u32)plan->nx, (tmap_u32)plan->ny, (tmap_u32)plan->g, (tmap_u32)plan->r,
                       (tmap_u32)plan->B, &split))
        exit(2);
    subdivide(p, split, &run, out);
}

// Regions of each level with several values on their border.
static double several(tmap_u32 level) {
    return (double)(run.level[level].subdivided + run.level[level].leaves);
}

// Equation 16 with the P and costs that were counted: E[G_i], K_i and W_S are those of the run. The
// model's last level computes all of its regions, so A is that level's work for each of its pixels.
static void check_general(const tmap_ask_plan *plan) {
    double P[64], R[64], Q[64], S[64], T[64], elements = (double)SIDE * SIDE, area, k = 0;
    tmap_u32 tau = tmap_ask_plan_levels(plan), last = tau - 1;
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
        (double)v[last].regions * tmap_ask_plan_side(plan, last) * tmap_ask_plan_side(plan, last);
    A = (double)(v[last].border_work + v[last].leaf_work) / area;
    CHECK(
        relative(tmap_ask_model_work(elements, A, (double)(plan->g * plan->g), tau, P, R, Q, S, T),
                 (double)run.work + fill) < 1e-12,
        "g=%llu r=%llu", plan->g, plan->r);
    CHECK(relative(tmap_ask_model_last(elements, A, P, tau), A * area) < 1e-12, "%s", "L");
    CHECK(relative(k + A * area, (double)run.work + fill) < 1e-12, "%s", "K + L");
}

static void same(const char *what, double got, double want, double grant,
                 const tmap_ask_plan *plan) {
    CHECK(relative(got, want) <= grant, "%s of (%llu,%llu,%llu): %.9g, not %.9g", what, plan->g,
          plan->r, plan->B, got, want);
}

// A prediction against the run.
static void compare(const tmap_ask_prediction *p, const tmap_ask_plan *plan, double grant) {
    double regions = 0, cut = 0, filled = 0, leaf_work = 0, leaves = 0;
    for (tmap_u32 i = 0; i < run.levels; ++i) {
        const ask_level *v = &run.level[i];
        regions += (double)v->regions, cut += (double)v->subdivided;
        filled += (double)v->filled, leaves += (double)v->leaves;
        leaf_work += (double)v->leaf_work;
    }
    CHECK(p->levels == run.levels, "(%llu,%llu,%llu)", plan->g, plan->r, plan->B);
    same("regions", p->regions, regions, grant, plan);
    same("cut", p->cut, cut, grant, plan);
    same("filled", p->filled, filled, grant, plan);
    same("leaves", p->leaves, leaves, grant, plan);
    same("border elements", p->border_elements, (double)run.border_pixels, grant, plan);
    same("filled elements", p->fill_elements, (double)run.filled_pixels, grant, plan);
    same("leaf elements", p->leaf_elements, (double)run.leaf_pixels, grant, plan);
    same("leaf work", p->leaf_work, leaf_work, grant, plan);
    same("work", p->work, (double)run.work, grant, plan);
    same("omega", p->omega, whole * SIDE * SIDE / (double)run.work, grant, plan);
}

static void check_levels(const tmap_ask_plan *plan) {
    double P[64], leaf_work = (double)run.level[run.levels - 1].leaf_work;
    tmap_ask_costs costs;
    tmap_ask_prediction p;
    memset(&p, 0, sizeof p);
    for (tmap_u32 i = 0; i < run.levels; ++i) P[i] = several(i) / (double)run.level[i].regions;
    costs.whole = whole;
    costs.border = ((double)run.work - leaf_work) / (double)run.border_pixels;
    costs.leaf = run.leaf_pixels ? leaf_work / (double)run.leaf_pixels : 0;
    CHECK(tmap_ask_predict_levels(plan, P, &costs, NULL, &p) == TMAP_OK, "%s", "levels");
    compare(&p, plan, 1e-12);
    printf("(%llu,%llu,%llu): border %.1f, leaf %.1f, omega %.2f\n", plan->g, plan->r, plan->B,
           costs.border, costs.leaf, p.omega);
}

// The curve of the last run.
static tmap_ask_curve measure(const tmap_ask_plan *plan, double room[3][64]) {
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

// Border pixels that no ancestor has computed, counted in a picture: a level's borders, less those
// of the levels above.
static tmap_u64 new_border_pixels(const tmap_ask_plan *plan) {
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
static double simulated_time(const tmap_ask_plan *plan) {
    double time = 10;
    for (tmap_u32 l = 0; l < run.levels; ++l) {
        const ask_level *v = &run.level[l];
        double side = tmap_ask_plan_side(plan, l), rounds = tmapi_ask_ceil(4 * side / 256);
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
static void check_fit(const tmap_ask_curve *curve, const tmap_ask_plan *plans, const double *time,
                      unsigned count) {
    static tmap_ask_prediction some[256];
    static double some_time[256];
    tmap_ask_rates rates = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tmap_ask_prediction p;
    double worst, best = 1e300, least = 1e300, chosen = 0, mean = 0;
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
           plans[best_at].r, plans[best_at].B);
    CHECK(chosen <= 1.1 * best, "%g, not %g", chosen, best);
    CHECK(mean < 0.1, "%g", mean);
}

// One run tells what others cost. Where sides are powers of two the curve is measured, else it is
// interpolated, and grids that are placed otherwise meet other pixels: few percent.
static void check_transfer(const picture *p, const tmap_ask_curve *curve, int *out) {
    static const tmap_u32 gs[] = {4, 6, 8, 12, 16, 24, 32, 48, 64}, rs[] = {2, 3, 4, 5, 8},
                          Bs[] = {2, 4, 8, 16, 32};
    tmap_ask_candidates all = {gs, rs, Bs, 9, 5, 5};
    tmap_ask_plan best = {SIDE, SIDE, 0, 0, 0, 0, 0};
    tmap_ask_prediction predicted, prediction;
    double least = 1e300, chosen = 0, worst = 0, mean = 0, worst_even = 0;
    unsigned plans = 0, runs = 0;
    static tmap_ask_plan tried[256];
    static double time[256];
    CHECK(tmap_ask_predict_search(&best, &all, curve, NULL, &predicted) == TMAP_OK, "%s", "search");
    for (int i = 0; i < 9 * 5 * 5; ++i) {
        tmap_ask_plan plan = {SIDE, SIDE, 0, gs[i / 25], rs[i / 5 % 5], Bs[i % 5], 0};
        double side, error;
        if (tmap_ask_predict_curve(&plan, curve, NULL, &prediction)) continue;
        run_plan(p, &plan, out);
        tried[runs] = plan;
        time[runs++] = simulated_time(&plan);
        side = tmap_ask_plan_side(&plan, run.levels - 1);
        error = relative(prediction.work, (double)run.work);
        CHECK(prediction.work >= predicted.work, "(%llu,%llu,%llu)", plan.g, plan.r, plan.B);
        if ((double)run.work < least) least = (double)run.work;
        if (plan.g == best.g && plan.r == best.r && plan.B == best.B) chosen = (double)run.work;
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
           plans, 100 * mean, 100 * worst, 100 * worst_even, best.g, best.r, best.B,
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
    tmap_ask_plan fine = {SIDE, SIDE, 0, 2, 2, 1, 0}, others[] = {{SIDE, SIDE, 0, 32, 2, 8, 0},
                                                                  {SIDE, SIDE, 0, 4, 4, 8, 0},
                                                                  {SIDE, SIDE, 0, 8, 8, 2, 0},
                                                                  {SIDE, SIDE, 0, 16, 2, 64, 0}};
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
    for (tmap_u32 k = 0; k < curve.points; ++k) {
        CHECK(tmap_ask_curve_count(&curve, curve.side[k]) == curve.count[k], "point %u", k);
        CHECK(tmap_ask_curve_work(&curve, curve.side[k]) == curve.work[k], "point %u", k);
    }
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
    for (int i = 0; i < 4; ++i) {
        run_plan(&p, &others[i], out);
        check_general(&others[i]);
        check_levels(&others[i]);
    }
    check_transfer(&p, &curve, out);
    free(p.pixels);
    free(out);
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
    tmap_ask_plan plan = {32, 16, 64, 2, 2, 4, 0};
    tmap_u32 levels = tmap_ask_plan_levels(&plan);
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

// ---- the arithmetic of a prediction -------------------------------------------------------------

// A curve that is a power law, N = (n / d)^1.5, sampled every octave; and times by hand.
static void check_curve(void) {
    double side[10], count[10], work[10];
    tmap_ask_curve c = {side, count, work, 10, 1024, 100};
    tmap_ask_plan plan = {1024, 512, 0, 2, 2, 200, 0}, search = {1024, 1024, 0, 0, 0, 0, 0};
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
    plan.B = 128;
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
              search.r == 2 && search.B == 16,
          "(%llu,%llu,%llu)", search.g, search.r, search.B);
    list.g_count = 1;
    CHECK(tmap_ask_predict_search(&search, &list, &c, &rates, &p) == TMAP_ERANGE, "%s", "g > n");
    CHECK(tmap_ask_predict_search(NULL, &list, &c, &rates, &p) == TMAP_EINVAL, "%s", "null");
    side[3] = side[2];
    CHECK(tmap_ask_curve_check(&c) == TMAP_EINVAL, "%s", "sides that do not fall");
    CHECK(tmap_ask_predict_curve(&plan, &c, NULL, &p) == TMAP_EINVAL, "%s", "a bad curve");
    c.points = 0;
    CHECK(tmap_ask_curve_check(&c) == TMAP_EINVAL, "%s", "no point");
    plan.ny = 0;
    CHECK(tmap_ask_plan_check(&plan) == TMAP_EINVAL, "%s", "ny = 0");
    plan.ny = 1024, plan.B = 513;
    CHECK(tmap_ask_plan_check(&plan) == TMAP_ERANGE, "%s", "B > n / g");
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
                tmap_ask_plan plan = {1024, 1024, 0, g, r, B, (int)(B & 2)};
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
        tmap_ask_plan best = {16384, 16384, 0, 0, 0, 0, shared};
        tmap_ask_prediction p, one;
        memset(&one, 0, sizeof one);
        CHECK(tmap_ask_predict_search(&best, &all, &c, &rates, &p) == TMAP_OK, "%s", "search");
        for (int i = 0; i < 60; ++i) {
            tmap_ask_plan plan = {16384, 16384, 0, gs[i / 12], rs[i / 4 % 3], Bs[i % 4], shared};
            CHECK(tmap_ask_predict_curve(&plan, &c, &rates, &one) == TMAP_OK, "%d", i);
            CHECK(one.time >= p.time, "%d: %g < %g", i, one.time, p.time);
            if (plan.g == best.g && plan.r == best.r && plan.B == best.B)
                CHECK(one.time == p.time, "%d", i);
        }
    }
}

int main(void) {
    check_curve();
    check_time_search();
    check_exact_fit();
    check_simple();
    check_solid();
    check_counted();
    return check_result("ask_predict");
}
