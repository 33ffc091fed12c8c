// SPDX-License-Identifier: MIT
// ask_model.c: the cost model: its forms against each other, where ratios are 1 and beside it, the
// search against all candidates, and what is refused; then fed with what a serial Mariani-Silver
// counts on the Mandelbrot set, which must be what it gives; and that serial algorithm on simple
// pictures. Known answers of the model: ask_kat.c.
#include <threadmap/papers/ask_model.h>

#include "adaptive/ask_reference.h"
#include "kit.h"

static double relative(double a, double b) {
    double error = a > b ? a - b : b - a, size = b < 0 ? -b : b;
    return size > 0 ? error / size : error;
}

// ---- the equations ------------------------------------------------------------------------------

// Equation 20 three ways: closed form, its sum, and the general form of 16 with the arrays of 19.
static void check_forms(void) {
    static const double probabilities[] = {
        0,   0.0625, 0.1, 0.11111111111111111, 0.2, 0.2499,     0.25,          0.2500000002,
        0.3, 0.49,   0.5, 0.5000000005,        0.7, 0.99999999, 0.24999999999, 1};
    static const tmap_u64 sizes[] = {1, 100, 1000, 1024, 6561, 59049, 1 << 20, 1ull << 40};
    unsigned cases = 0;
    for (int i = 0; i < 8; ++i)
        for (tmap_u64 g = 1; g <= 64; g *= 3)
            for (tmap_u64 r = 2; r <= 11; r = 2 * r - 1)
                for (int j = 0; j < 16; ++j, ++cases) {
                    double P[64], R[64], Q[64], S[64], T[64], n = (double)sizes[i];
                    tmap_ask_model m = {sizes[i], g, r, 1, 3.5 + j, probabilities[j], 10, 132, 128};
                    double work = tmap_ask_model_mandelbrot(&m), parts = (double)g;
                    double sum = tmap_ask_model_mandelbrot_sum(&m), general, ssd;
                    tmap_u32 tau = tmap_ask_model_levels(&m);
                    const tmap_ask_model_costs all = {P, R, Q, S, T};
                    P[0] = m.chance, R[0] = (double)(r * r);
                    if (tmap_ask_model_check(&m)) continue;
                    for (tmap_u32 l = 0; l < tau; ++l, parts *= (double)r) {
                        P[l] = m.chance, R[l] = (double)(r * r);
                        Q[l] = 4 * m.element_cost * n / parts, S[l] = m.lambda * m.element_cost;
                        T[l] = n * n / (parts * parts);
                    }
                    general =
                        tmap_ask_model_work(n * n, m.element_cost, (double)(g * g), tau, &all);
                    ssd = tmap_ask_model_ssd(n * n, m.element_cost, (double)(g * g), tau, &all);
                    EXPECT(relative(work, sum) < 1e-10, "n=%g g=%llu r=%llu P=%g: %.12g %.12g", n,
                           g, r, m.chance, work, sum);
                    EXPECT(relative(general, sum) < 1e-12, "n=%g g=%llu r=%llu P=%g", n, g, r,
                           m.chance);
                    EXPECT(relative(ssd, sum) < 1e-12, "n=%g g=%llu r=%llu P=%g", n, g, r,
                           m.chance);
                    if (tau == 1)
                        EXPECT(work == m.element_cost * n * n, "n=%g g=%llu r=%llu", n, g, r);
                }
    EXPECT(cases > 1000, "%u cases", cases);
}

// One number of a model spoilt at a time.
static int spoilt(int which, double value) {
    tmap_ask_model m = {1024, 4, 2, 8, 512, 0.5, 10, 132, 128};
    double *field[] = {&m.element_cost, &m.chance, &m.lambda, &m.q, &m.c};
    if (which >= 0) *field[which] = value;
    return tmap_ask_model_check(&m);
}

static void check_refusals(void) {
    const double zero = 0, nan = (1e308 * 10 - 1e308 * 10);
    tmap_ask_model m = {1024, 4, 2, 257, 512, 0.5, 10, 132, 128};
    tmap_ask_model saved = m;
    static const tmap_u32 two[] = {2}, large[] = {2000};
    tmap_ask_candidates list = {large, two, two, 1, 1, 1}, none = {two, two, two, 0, 1, 1};
    double value = -1;
    expect(spoilt(-1, 0) == TMAP_OK, "as it is");
    expect(spoilt(0, zero) == TMAP_EINVAL && spoilt(0, nan) == TMAP_EINVAL, "A");
    expect(spoilt(1, -0.1) == TMAP_EINVAL && spoilt(1, 1.1) == TMAP_EINVAL, "P");
    expect(spoilt(1, nan) == TMAP_EINVAL && spoilt(2, -1) == TMAP_EINVAL, "P, lambda");
    expect(spoilt(3, zero) == TMAP_EINVAL && spoilt(4, zero) == TMAP_EINVAL, "q, c");
    expect(tmap_ask_model_check(&m) == TMAP_ERANGE, "B > n / g");
    expect(tmap_ask_model_search(&m, &list, TMAP_ASK_OMEGA, &value) == TMAP_ERANGE, "g > n");
    expect(tmap_ask_model_search(&m, &none, TMAP_ASK_OMEGA, &value) == TMAP_ERANGE, "none");
    list.g = two;
    expect(tmap_ask_model_search(&m, &list, 3, &value) == TMAP_EINVAL, "goal");
    expect(tmap_ask_model_search(NULL, &list, 0, &value) == TMAP_EINVAL, "null");
    m.n = 0;
    expect(tmap_ask_model_search(&m, &list, 0, &value) == TMAP_EINVAL, "n = 0");
    m.n = saved.n;
    expect(value == -1 && m.g == saved.g && m.b == saved.b, "outputs of a failure");
}

// The search against all candidates one by one.
static void check_search(void) {
    static const tmap_u32 list[] = {2, 4, 8, 16, 32, 64, 128};
    tmap_ask_candidates all = {list, list, list, 7, 7, 7};
    for (tmap_u64 n = 256; n <= 1 << 20; n *= 16)
        for (int goal = TMAP_ASK_OMEGA; goal <= TMAP_ASK_SPEEDUP_MBR; ++goal) {
            tmap_ask_model m = {n, 0, 0, 0, 512, 0.6, 50, 128, 64}, one = m;
            double best = 0, value;
            EXPECT(tmap_ask_model_search(&m, &all, goal, &value) == TMAP_OK, "n=%llu", n);
            for (int i = 0; i < 343; ++i) {
                double v;
                one.g = list[i / 49], one.r = list[i / 7 % 7], one.b = list[i % 7];
                if (one.g * one.b > n) continue;
                v = goal == TMAP_ASK_OMEGA         ? tmap_ask_model_omega(&one)
                    : goal == TMAP_ASK_SPEEDUP_SBR ? tmap_ask_model_speedup_sbr(&one)
                                                   : tmap_ask_model_speedup_mbr(&one);
                if (v > best) best = v;
                if (one.g == m.g && one.r == m.r && one.b == m.b)
                    EXPECT(v == value, "n=%llu goal %d", n, goal);
            }
            EXPECT(best == value, "n=%llu goal %d: %g, not %g", n, goal, value, best);
        }
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
    EXPECT(ends == 0, "%u x %u: %llu pixels not written", p->nx, p->ny, ends);
    for (tmap_u32 l = 0; l < c->levels; ++l) {
        const ask_level *v = &c->level[l];
        tmap_u64 above =
            l ? c->level[l - 1].subdivided * split.r * split.r : (tmap_u64)split.gx * split.gy;
        EXPECT(v->regions == v->subdivided + v->filled + v->leaves, "level %u", l);
        EXPECT(v->regions + v->empty == above, "level %u: %llu + %llu, not %llu", l, v->regions,
               v->empty, above);
        EXPECT(l + 1 == c->levels || v->leaves == 0, "level %u", l);
    }
    expect(c->level[c->levels - 1].subdivided == 0, "the last level");
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
                        p.pixels = (int *)kit_host(n * sizeof *out);
                        out = (int *)kit_host(n * sizeof *out);
                        ask_exhaustive(p.nx, p.ny, dwells[d], &p, p.pixels);
                        subdivide(&p, split, &c, out);
                        EXPECT(ask_difference(out, p.pixels, n) == 0, "%u x %u g=%u r=%u B=%u",
                               p.nx, p.ny, g, r, B);
                        if (d == 1) EXPECT(c.level[0].subdivided == 0, "%u x %u", p.nx, p.ny);
                        if (d == 2 && g == 1)
                            EXPECT(c.level[0].filled == (n == 1), "%u x %u", p.nx, p.ny);
                        kit_release(0);
                    }
}

// ---- counted work -------------------------------------------------------------------------------

#define SIDE 1024

static ask_counts run;

// (g, r, B)
typedef struct plan {
    tmap_u32 g, r, b;
} plan;

static void run_plan(const picture *p, plan a, int *out) {
    ask_split split;
    if (ask_split_make(p->nx, p->ny, a.g, a.r, a.b, &split)) exit(2);
    subdivide(p, split, &run, out);
}

// Regions of each level with several values on their border.
static double several(tmap_u32 level) {
    return (double)(run.level[level].subdivided + run.level[level].leaves);
}

// Equation 16 with the P and costs that were counted: E[G_i], K_i and W_S are those of the run. The
// model's last level computes all of its regions, so A is that level's work for each of its pixels.
static void check_general(plan a) {
    double P[64], R[64], Q[64], S[64], T[64], elements = (double)SIDE * SIDE, area, k = 0;
    const tmap_ask_model_costs costs = {P, R, Q, S, T};
    const double regions = (double)(a.g * a.g);
    tmap_u32 tau = tmap_region_levels(SIDE, a.g, a.r, a.b), last = tau - 1;
    const double side = SIDE / (double)tmap_region_parts(a.g, a.r, last);
    const ask_level *v = run.level;
    double A, fill = 0;
    for (tmap_u32 i = 0; i < tau; ++i) {
        P[i] = several(i) / (double)v[i].regions;
        R[i] = (double)(a.r * a.r);
        Q[i] = (double)v[i].border_work / (double)v[i].regions;
        S[i] = 0;
        T[i] = v[i].filled ? (double)v[i].filled_pixels / (double)v[i].filled : 0;
        EXPECT(relative(tmap_ask_model_regions(regions, P, R, i), (double)v[i].regions) < 1e-12,
               "level %u", i);
        if (i < last) {
            k += tmap_ask_model_level((double)v[i].regions, P[i], Q[i], S[i], T[i]);
            fill += (double)v[i].filled_pixels;
        }
    }
    area = (double)v[last].regions * side * side;
    A = (double)(v[last].border_work + v[last].leaf_work) / area;
    EXPECT(relative(tmap_ask_model_work(elements, A, regions, tau, &costs),
                    (double)run.work + fill) < 1e-12,
           "g=%u r=%u", a.g, a.r);
    expect(relative(tmap_ask_model_last(elements, A, P, tau), A * area) < 1e-12, "L");
    expect(relative(k + A * area, (double)run.work + fill) < 1e-12, "K + L");
}

static void check_counted(void) {
    static const tmap_u64 cut[] = {4, 14, 50, 170, 541, 1681, 4872, 13720};
    picture p = {SIDE, SIDE, NULL};
    size_t n = (size_t)SIDE * SIDE;
    int *out = (int *)kit_host(n * sizeof *out);
    const plan fine = {2, 2, 1},
               others[] = {{32, 2, 8}, {4, 4, 8}, {8, 8, 2}, {16, 2, 64}, {1, 2, 8}, {1, 4, 300}};
    tmap_u64 work;
    p.pixels = (int *)kit_host(n * sizeof *p.pixels);
    work = ask_exhaustive(SIDE, SIDE, mandelbrot, &p, p.pixels);
    run_plan(&p, fine, out);
#if !defined(__FP_FAST_FMAF) // a machine that fuses products and sums gets other dwells
    EXPECT(work == 209740749, "the sum of all dwells: %llu", work);
    for (int i = 0; i < 8; ++i)
        EXPECT(run.level[i].subdivided == cut[i], "level %d: %llu, not %llu", i,
               run.level[i].subdivided, cut[i]);
    EXPECT(ask_difference(out, p.pixels, n) == 5, "%llu pixels differ from exhaustive",
           ask_difference(out, p.pixels, n));
#else
    (void)cut, (void)work;
#endif
    check_general(fine);
    for (int i = 0; i < 6; ++i) {
        run_plan(&p, others[i], out);
        check_general(others[i]);
    }
}

int main(void) {
    check_forms();
    check_refusals();
    check_search();
    check_simple();
    check_counted();
    return kit_end("ask_model");
}
