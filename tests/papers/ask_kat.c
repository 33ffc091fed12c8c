// SPDX-License-Identifier: MIT
// ask_kat.c: the known answers of region.h, region_hilbert.h and ask_model.h: makes the vectors of
// whole numbers as generate_ask.py does, compares their hashes with those of tests/kat/ask.txt, and
// reads the vectors there, which explains its lines.
#include <threadmap/papers/ask_model.h>
#include <threadmap/papers/region_hilbert.h>

#include "kat/kat_file.h"

#define LEVELS_MAX 64

static const char *line_start; // for messages

static double real(char **p) {
    char *start = *p;
    double x = strtod(start, p);
    if (*p == start) kat_bad_line(start);
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
        EXPECT(near(got_, want_, 1e-12), "%.60s ...: %s = %.15g, not %.15g", line_start, #value, \
               got_, want_); \
    } while (0)

// ---- whole numbers ------------------------------------------------------------------------------

__extension__ typedef unsigned __int128 u128;

enum { EDGE, LEVELS, OLT, CANONICAL, MORTON2, MORTON3, WORDS };
static const char *const words[WORDS] = {"edge",      "levels",  "olt",
                                         "canonical", "morton2", "morton3"};
static tmap_u64 hashes[WORDS]; // of the vectors that are made here

// The numbers of a vector: arguments, and what a function must give.
static void check_vector(int word, const tmap_u64 *v) {
    tmap_u32 n[6], x[6], y[6];
    const tmap_xy xy = {(tmap_u32)v[0], (tmap_u32)v[1]};
    const tmap_xyz xyz = {(tmap_u32)v[0], (tmap_u32)v[1], (tmap_u32)v[2]};
    const tmap_u32 k = word == CANONICAL ? (tmap_u32)v[0] : 0;
    kit_case("%s %llu %llu %llu %llu ..", words[word], v[0], v[1], v[2], v[3]);
    for (tmap_u32 i = 0; i < k; ++i) n[i] = (tmap_u32)v[1 + i], x[i] = (tmap_u32)v[1 + k + i];
    switch (word) {
    case EDGE: expect(tmap_region_edge(v[0], v[1], v[2]) == v[3], "the edge"); break;
    case LEVELS: expect(tmap_region_levels(v[0], v[1], v[2], v[3]) == v[4], "levels"); break;
    case OLT: expect(tmap_region_olt_size(v[0], v[1], (tmap_u32)v[2]) == v[3], "entries"); break;
    case MORTON2: expect(tmap_region_morton2(xy) == v[2], "the scalar"); break;
    case MORTON3: expect(tmap_region_morton3(xyz) == v[3], "the scalar"); break;
    default:
        expect(tmap_region_canonical(k, x, n) == v[1 + 2 * k], "the scalar");
        tmap_region_canonical_at(k, v[1 + 2 * k], n, y);
        expect(memcmp(x, y, k * sizeof *x) == 0, "the place of a scalar");
    }
    kit_case("%s", "");
}

static void add(int word, const tmap_u64 *v, tmap_u32 count) {
    for (tmap_u32 i = 0; i < count; ++i) hashes[word] = kit_mix(hashes[word], v[i]);
    check_vector(word, v);
}

static void add_edge(tmap_u64 n, tmap_u64 parts, tmap_u64 i) {
    const tmap_u64 v[] = {n, parts, i, (tmap_u64)((u128)n * i / parts)};
    add(EDGE, v, 4);
}

// floor(log_r(n / (g b))), at least 1, by comparing whole powers.
static void add_levels(tmap_u64 n, tmap_u64 g, tmap_u64 r, tmap_u64 b) {
    tmap_u64 v[] = {n, g, r, b, 0};
    u128 power = (u128)g * b;
    if (power > n) return;
    while ((power *= r) <= n) ++v[4];
    v[4] += v[4] == 0;
    add(LEVELS, v, 5);
}

static tmap_u64 bits(tmap_u64 *state, tmap_u64 n) { return kit_random(state) >> (64 - n); }

static void add_canonical(tmap_u64 *state, tmap_u32 k) {
    tmap_u64 v[14] = {k}, scale = 1;
    for (tmap_u32 i = 1; i <= k; ++i) v[i] = bits(state, k > 1 ? 60 / k : 32), v[i] += v[i] == 0;
    for (tmap_u32 i = 1; i <= k; ++i) {
        v[k + i] = kit_below(state, v[i]);
        v[1 + 2 * k] += v[k + i] * scale, scale *= v[i];
    }
    add(CANONICAL, v, 2 + 2 * k);
}

static void add_morton(tmap_u64 *state, tmap_u32 k, tmap_u32 most) {
    tmap_u64 v[4] = {0};
    for (tmap_u32 i = 0; i < k; ++i) {
        const tmap_u64 width = 1 + kit_below(state, most);
        v[i] = bits(state, width);
    }
    for (tmap_u32 i = 0; i < k; ++i)
        for (tmap_u32 b = 0; b < most; ++b) v[k] |= (v[i] >> b & 1) << (k * b + i);
    add(k == 2 ? MORTON2 : MORTON3, v, k + 1);
}

// All vectors of generate_ask.py, in its order.
static void add_all(void) {
    const tmap_u64 ns[] = {1, 2, 7, 10, 27, 100}, parts[] = {1, 2, 3, 4, 7, 12};
    const tmap_u64 some[][4] = {
        {65536, 32, 2, 32}, {1 << 24, 8, 2, 8}, {1024, 2, 2, 1}, {1000, 3, 5, 2}, {7, 7, 2, 1}};
    const tmap_u64 rs[] = {2, 3, 5, 6, 7, 10}, gs[] = {1, 2, 5}, bs[] = {1, 3, 4};
    const tmap_u64 regions[] = {0, 1, 1000, 1ull << 40, 1ull << 60}, olts[] = {2, 3, 16};
    const tmap_u64 u32 = 1ull << 32;
    tmap_u64 state = 3;
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b)
            for (tmap_u64 i = 0; i <= parts[b]; ++i) add_edge(ns[a], parts[b], i);
    for (int i = 0; i < 200; ++i) {
        const tmap_u64 width = 1 + kit_below(&state, 64), n = bits(&state, width);
        const tmap_u64 narrow = 1 + kit_below(&state, 32), drawn = bits(&state, narrow);
        add_edge(n, drawn + (drawn == 0), kit_below(&state, drawn + (drawn == 0) + 1));
    }
    add_edge(~0ull, u32, u32 - 1), add_edge(~0ull, u32, u32), add_edge(u32 - 1, u32, u32 / 2);
    for (size_t i = 0; i < COUNT(some); ++i)
        add_levels(some[i][0], some[i][1], some[i][2], some[i][3]);
    for (int a = 0; a < 6; ++a) {
        tmap_u64 power = 1;
        for (int e = 1; e < 16; ++e) {
            power *= rs[a];
            for (int i = 0; i < 3; ++i)
                for (tmap_u64 d = 0; d < 3; ++d)
                    add_levels(power * gs[i] * bs[i] + d - 1, gs[i], rs[a], bs[i]);
        }
    }
    for (int a = 0; a < 5; ++a)
        for (int b = 0; b < 3; ++b) {
            u128 entries = regions[a];
            for (tmap_u64 k = 1; k <= 8; ++k) {
                entries *= olts[b];
                const tmap_u64 v[] = {regions[a], olts[b], k,
                                      entries > ~0ull ? ~0ull : (tmap_u64)entries};
                add(OLT, v, 4);
            }
        }
    for (tmap_u32 i = 0; i < 120; ++i) add_canonical(&state, 1 + i / 20);
    for (int i = 0; i < 60; ++i) add_morton(&state, i < 30 ? 2 : 3, i < 30 ? 32 : 21);
}

// ---- the model ----------------------------------------------------------------------------------

static void check_model(char *p) {
    tmap_ask_model m;
    m.n = kat_number(&p), m.g = kat_number(&p), m.r = kat_number(&p), m.b = kat_number(&p);
    m.element_cost = real(&p), m.chance = real(&p), m.lambda = real(&p), m.q = real(&p),
    m.c = real(&p);
    EXPECT(tmap_ask_model_check(&m) == 0, "%.60s", line_start);
    SAME(&p, tmap_ask_model_exhaustive((double)m.n * (double)m.n, m.element_cost));
    double closed = tmap_ask_model_mandelbrot(&m), sum = tmap_ask_model_mandelbrot_sum(&m);
    EXPECT(near(closed, sum, 1e-10), "%.60s ...: closed %.15g, sum %.15g", line_start, closed, sum);
    SAME(&p, sum);
    double omega = tmap_ask_model_omega(&m), bound = tmap_ask_model_omega_bound(&m);
    EXPECT(m.element_cost < 1 ||
               (omega <= bound * (1 + 1e-12) && bound <= m.element_cost * (1 + 1e-12)),
           "%.60s ...: %.15g <= %.15g <= %.15g", line_start, omega, bound, m.element_cost);
    double want = real(&p);
    EXPECT(near(omega, want, 1e-10), "%.60s ...: Omega %.15g, not %.15g", line_start, omega, want);
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
    tmap_u32 tau = (tmap_u32)kat_number(&p);
    if (tau < 1 || tau > LEVELS_MAX) kat_bad_line(p);
    reals(&p, tau - 1, P), reals(&p, tau - 1, R);
    reals(&p, tau - 1, Q), reals(&p, tau - 1, S), reals(&p, tau - 1, T);
    const tmap_ask_model_costs costs = {P, R, Q, S, T};
    SAME(&p, tmap_ask_model_regions(G, P, R, tau - 1));
    SAME(&p, tmap_ask_model_work(elements, A, G, tau, &costs));
}

static int word_of(const char *name) {
    for (int word = 0; word < WORDS; ++word)
        if (!strcmp(name, words[word])) return word;
    kat_bad_line(name);
    return 0;
}

int main(void) {
    FILE *in = kat_open("ask.txt");
    unsigned lines = 0;
    char *word, *p;
    add_all();
    for (; (p = kat_line(in, &word)) != NULL; ++lines) {
        line_start = p;
        if (!strcmp(word, "model")) {
            check_model(p);
        } else if (!strcmp(word, "work")) {
            check_work(p);
        } else if (!strcmp(word, "hash")) {
            char *name = p;
            p += strcspn(p, " "), *p++ = 0;
            EXPECT(kat_number(&p) == hashes[word_of(name)],
                   "the vectors of %s are not those of generate_ask.py", name);
        } else {
            tmap_u64 v[16] = {0};
            for (int i = 0; i < 16 && kat_more(p); ++i) v[i] = kat_number(&p);
            check_vector(word_of(word), v);
        }
    }
    EXPECT(lines > 150, "%u lines", lines);
    return kit_end("ask_kat");
}
