// SPDX-License-Identifier: MIT
// ask_model.c: the cost model: its forms against each other, where ratios are 1 and beside it, the
// golden figures, the search against all candidates, and what is refused.
#include <threadmap/papers/ask_model.h>

#include "kit.h"

#include <stddef.h>

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

// The figures to six digits, which were computed by another program.
static void check_golden(void) {
    tmap_ask_model a = {65536, 32, 2, 32, 8, 0.7, 100, 128, 64};
    tmap_ask_model b = {1 << 24, 8, 2, 8, 8, 0.7, 100, 128, 64};
    expect(tmap_ask_model_levels(&a) == 6 && tmap_ask_model_levels(&b) == 18, "tau");
    expect(relative(tmap_ask_model_mandelbrot(&a), 1.013700998e10) < 1e-9, "W_S");
    expect(relative(tmap_ask_model_mandelbrot(&b), 2.901175594e14) < 1e-9, "W_S");
    expect(relative(tmap_ask_model_omega(&a), 3.389534) < 5e-7, "Omega");
    expect(relative(tmap_ask_model_omega(&b), 7.761681) < 5e-7, "Omega");
    expect(relative(tmap_ask_model_speedup_sbr(&a), 2.53183) < 5e-6, "S_SBR");
    expect(relative(tmap_ask_model_speedup_mbr(&a), 2.53183) < 5e-6, "S_MBR");
    expect(relative(tmap_ask_model_speedup_sbr(&b), 5.30213) < 5e-6, "S_SBR");
    expect(relative(tmap_ask_model_speedup_mbr(&b), 6.61798) < 5e-6, "S_MBR");
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

int main(void) {
    check_golden();
    check_forms();
    check_refusals();
    check_search();
    return kit_end("ask_model");
}
