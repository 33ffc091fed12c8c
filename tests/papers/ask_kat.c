// SPDX-License-Identifier: MIT
// ask_kat.c: the known answers of region.h, region_hilbert.h and ask_model.h: reads
// tests/kat/ask.txt, which explains its lines.
#include <threadmap/papers/ask_model.h>
#include <threadmap/papers/region_hilbert.h>

#include "check.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 64

static const char *line_start; // for messages

static void bad_line(void) {
    fprintf(stderr, "the known answers: cannot read \"%.60s\"\n", line_start);
    exit(2);
}

static tmap_u64 whole(char **p) {
    char *start = *p;
    tmap_u64 n = strtoull(start, p, 10);
    if (*p == start) bad_line();
    return n;
}

static double real(char **p) {
    char *start = *p;
    double x = strtod(start, p);
    if (*p == start) bad_line();
    return x;
}

static void reals(char **p, tmap_u32 n, double *x) {
    for (tmap_u32 i = 0; i < n; ++i) x[i] = real(p);
}

// Equal to so many digits; the file has 15.
static int near(double a, double b, double digits) {
    double error = a > b ? a - b : b - a, size = b < 0 ? -b : b;
    return error <= size * digits;
}

// The next number of the line is what a function gave.
#define SAME(p, value) \
    do { \
        double got_ = value, want_ = real(p); \
        CHECK(near(got_, want_, 1e-12), "%.60s ...: %s = %.15g, not %.15g", line_start, #value, \
              got_, want_); \
    } while (0)
#define SAME_WHOLE(p, value) \
    do { \
        tmap_u64 got_ = value, want_ = whole(p); \
        CHECK(got_ == want_, "%.60s ...: %s = %llu, not %llu", line_start, #value, got_, want_); \
    } while (0)

static void check_scalar(const char *word, char *p) {
    if (strcmp(word, "canonical") == 0) {
        tmap_u32 k = (tmap_u32)whole(&p), n[6], x[6], y[6];
        if (k < 1 || k > 6) bad_line();
        for (tmap_u32 i = 0; i < k; ++i) n[i] = (tmap_u32)whole(&p);
        for (tmap_u32 i = 0; i < k; ++i) x[i] = (tmap_u32)whole(&p);
        tmap_u64 s = tmap_region_canonical(k, x, n);
        SAME_WHOLE(&p, s);
        tmap_region_canonical_at(k, s, n, y);
        CHECK(memcmp(x, y, k * sizeof *x) == 0, "%.60s", line_start);
    } else if (strcmp(word, "morton2") == 0) {
        tmap_xy at;
        at.x = (tmap_u32)whole(&p), at.y = (tmap_u32)whole(&p);
        SAME_WHOLE(&p, tmap_region_morton2(at));
    } else {
        tmap_xyz at;
        at.x = (tmap_u32)whole(&p), at.y = (tmap_u32)whole(&p), at.z = (tmap_u32)whole(&p);
        SAME_WHOLE(&p, tmap_region_morton3(at));
    }
}

static void check_size(const char *word, char *p) {
    tmap_u64 a = whole(&p), b = whole(&p), c = whole(&p);
    if (strcmp(word, "edge") == 0) {
        SAME_WHOLE(&p, tmap_region_edge(a, b, c));
    } else if (strcmp(word, "olt") == 0) {
        SAME_WHOLE(&p, tmap_region_olt_size(a, b, (tmap_u32)c));
    } else {
        tmap_u64 B = whole(&p);
        SAME_WHOLE(&p, tmap_region_levels(a, b, c, B));
    }
}

static void check_model(char *p) {
    tmap_ask_model m;
    m.n = whole(&p), m.g = whole(&p), m.r = whole(&p), m.b = whole(&p);
    m.element_cost = real(&p), m.chance = real(&p), m.lambda = real(&p), m.q = real(&p),
    m.c = real(&p);
    CHECK(tmap_ask_model_check(&m) == 0, "%.60s", line_start);
    SAME(&p, tmap_ask_model_exhaustive((double)m.n * (double)m.n, m.element_cost));
    double closed = tmap_ask_model_mandelbrot(&m), sum = tmap_ask_model_mandelbrot_sum(&m);
    CHECK(near(closed, sum, 1e-10), "%.60s ...: closed %.15g, sum %.15g", line_start, closed, sum);
    SAME(&p, sum);
    double omega = tmap_ask_model_omega(&m), bound = tmap_ask_model_omega_bound(&m);
    CHECK(m.element_cost < 1 ||
              (omega <= bound * (1 + 1e-12) && bound <= m.element_cost * (1 + 1e-12)),
          "%.60s ...: %.15g <= %.15g <= %.15g", line_start, omega, bound, m.element_cost);
    double want = real(&p);
    CHECK(near(omega, want, 1e-10), "%.60s ...: Omega %.15g, not %.15g", line_start, omega, want);
    SAME(&p, bound);
    SAME(&p, tmap_ask_model_time_exhaustive(&m));
    SAME(&p, tmap_ask_model_time_sbr(&m));
    SAME(&p, tmap_ask_model_time_mbr(&m));
    SAME(&p, tmap_ask_model_speedup_sbr(&m));
    SAME(&p, tmap_ask_model_speedup_mbr(&m));
}

static void check_work(char *p) {
    static double P[LEVELS_MAX], R[LEVELS_MAX], Q[LEVELS_MAX], S[LEVELS_MAX], T[LEVELS_MAX];
    double elements = real(&p), A = real(&p), G = real(&p);
    tmap_u32 tau = (tmap_u32)whole(&p);
    if (tau < 1 || tau > LEVELS_MAX) bad_line();
    reals(&p, tau - 1, P), reals(&p, tau - 1, R);
    reals(&p, tau - 1, Q), reals(&p, tau - 1, S), reals(&p, tau - 1, T);
    const tmap_ask_model_costs costs = {P, R, Q, S, T};
    SAME(&p, tmap_ask_model_regions(G, P, R, tau - 1));
    SAME(&p, tmap_ask_model_work(elements, A, G, tau, &costs));
}

int main(void) {
    static char path[1000], line[1 << 14];
    const char *folder = getenv("TMAP_KAT");
    unsigned lines = 0;
    FILE *in;
    snprintf(path, sizeof path, "%s/ask.txt", folder ? folder : "tests/kat");
    in = fopen(path, "r");
    if (!in) {
        perror(path);
        return 2;
    }
    for (; fgets(line, sizeof line, in); ++lines) {
        static char word[16];
        char *p = line + strcspn(line, " \n");
        if (*line == '#' || *line == '\n') continue;
        line_start = line;
        if ((size_t)(p - line) >= sizeof word) bad_line();
        memcpy(word, line, (size_t)(p - line));
        word[p - line] = 0;
        if (strcmp(word, "model") == 0)
            check_model(p);
        else if (strcmp(word, "work") == 0)
            check_work(p);
        else if (strcmp(word, "edge") == 0 || strcmp(word, "olt") == 0 ||
                 strcmp(word, "levels") == 0)
            check_size(word, p);
        else if (strcmp(word, "canonical") == 0 || strcmp(word, "morton2") == 0 ||
                 strcmp(word, "morton3") == 0)
            check_scalar(word, p);
        else
            bad_line();
    }
    fclose(in);
    CHECK(lines > 900, "%u lines", lines);
    return check_result("ask_kat");
}
