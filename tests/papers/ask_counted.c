// SPDX-License-Identifier: MIT
// ask_counted.c: the cost model fed with what a serial Mariani-Silver counts on the Mandelbrot set
// gives what it counts; and that serial algorithm on simple pictures.
#include <threadmap/papers/ask_model.h>

#include "kit.h"
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
                        p.pixels = (int *)malloc(n * sizeof *out);
                        out = (int *)malloc(n * sizeof *out);
                        if (!p.pixels || !out) exit(2);
                        ask_exhaustive(p.nx, p.ny, dwells[d], &p, p.pixels);
                        subdivide(&p, split, &c, out);
                        EXPECT(ask_difference(out, p.pixels, n) == 0, "%u x %u g=%u r=%u B=%u",
                               p.nx, p.ny, g, r, B);
                        if (d == 1) EXPECT(c.level[0].subdivided == 0, "%u x %u", p.nx, p.ny);
                        if (d == 2 && g == 1)
                            EXPECT(c.level[0].filled == (n == 1), "%u x %u", p.nx, p.ny);
                        free(p.pixels);
                        free(out);
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
    int *out = (int *)malloc(n * sizeof *out);
    const plan fine = {2, 2, 1},
               others[] = {{32, 2, 8}, {4, 4, 8}, {8, 8, 2}, {16, 2, 64}, {1, 2, 8}, {1, 4, 300}};
    tmap_u64 work;
    p.pixels = (int *)malloc(n * sizeof *p.pixels);
    if (!out || !p.pixels) exit(2);
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
    free(p.pixels);
    free(out);
}

int main(void) {
    check_simple();
    check_counted();
    return kit_end("ask_counted");
}
