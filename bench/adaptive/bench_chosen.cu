// SPDX-License-Identifier: MIT
// bench_chosen: pictures of the Mandelbrot set whose subdivision the plan chooses, parameters
// (0, 0, 0), beside the exhaustive picture with a test in 32 steps and the best of a list of
// subdivisions; over sizes, windows and both types of numbers.
//
// A chosen picture is verified before it is timed: every pixel was written, and no more of them
// differ from the exhaustive picture than subdivision may change.
#include "../driver.h"
#include "ask_tally.h"

#include <threadmap/papers/mandelbrot_approaches.h>

typedef struct window {
    const char *name;
    double x0, x1, y0, y1;
} window;

// The choice was fitted to pictures of the first nine; it has not seen the others.
static const window windows[] = {
    {"paper", -1.5, 0.5, -1, 1},
    {"whole", -2.5, 1.5, -2, 2},
    {"seahorse", -0.80, -0.70, 0.05, 0.15},
    {"elephant", 0.25, 0.35, -0.05, 0.05},
    {"antenna", -1.80, -1.70, -0.05, 0.05},
    {"spiral", -0.7441438870, -0.7431438870, 0.1313259043, 0.1323259043},
    {"empty", 1, 2, 1, 2},
    {"corner", 0.5, 1, 0.5, 1},
    {"inside", -0.2, 0.1, -0.15, 0.15},
    {"upper", -0.6, 0.4, 0.6, 1.6},
    {"valley", -0.78, -0.74, -0.02, 0.02},
    {"dendrite", -0.2, -0.1, 1.0, 1.1}};
enum { WINDOWS = COUNT(windows) };

static const tmap_ask_params subdivisions[] = {{64, 4, 4}, {16, 4, 4}, {128, 8, 8}, {32, 2, 16}};

enum { UNROLLED = -1, CHOSEN = -2 }; // beside the index of a subdivision

// One picture to time.
typedef struct picture {
    tmap_mandelbrot m;
    int what, *out;
    tmap_mandelbrot_approaches all;
    tmap_mandelbrot_plan plan;
} picture;

static void draw(void *context) {
    picture *p = (picture *)context;
    const int approach =
        p->what == UNROLLED ? TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED : TMAP_MANDELBROT_ASK_MBR;
    if (p->what == CHOSEN)
        CHECK(tmap_mandelbrot_stream(&p->plan, p->out, 0));
    else
        CHECK(tmap_mandelbrot_approach_run(&p->all, approach, TMAP_ASK_STREAM, p->out, 0));
}

// Makes the plan of p->what in a workspace; 0 if there is no such subdivision.
static int prepare(picture *p, tmap_workspace memory) {
    const tmap_ask_params none = {0, 0, 0};
    tmap_ask_workspace w;
    if (p->what == UNROLLED) {
        CHECK(tmap_mandelbrot_approaches_make(&p->m, NULL, &p->all));
        return 1;
    }
    if (tmap_mandelbrot_workspace_set(&p->m, p->what == CHOSEN ? none : subdivisions[p->what], 0,
                                      memory, &w))
        return 0;
    if (p->what == CHOSEN)
        CHECK(tmap_mandelbrot_plan_make(&p->m, &w, &p->plan));
    else
        CHECK(tmap_mandelbrot_approaches_make(&p->m, &w, &p->all));
    return 1;
}

typedef struct sweep {
    bench_driver d;
    bench_numbers sizes;
    tmap_u64 windows, dwell;
    picture p;
    tmap_workspace memory;
    int *truth;
    ask_tally *scratch;
    int tried, behind; // behind: below 0.9 of the exhaustive picture's speed
    double least;      // of that
} sweep;

// A window at a size: the exhaustive picture, the best of it and the list, and the chosen one.
static void measure(sweep *s, const char *input) {
    picture *p = &s->p;
    const tmap_u64 pixels = (tmap_u64)p->m.nx * p->m.ny;
    bench_row row = bench_row_begin(&s->d, "chosen", "chosen", "mandelbrot");
    double unrolled, best;
    ask_tally tally;
    int *out = p->out;
    bench_key_text(&row, "input", input);
    bench_key(&row, "size", "%u", p->m.nx);
    bench_key(&row, "nx", "%u", p->m.nx);
    bench_key(&row, "ny", "%u", p->m.ny);
    bench_key_text(&row, "dtype", p->m.options ? "f64" : "f32");
    if (!bench_wants(&s->d, &row)) return;
    bench_key(&row, "dwell", "%u", p->m.dwell);
    p->what = UNROLLED, p->out = s->truth;
    prepare(p, s->memory);
    draw(p);
    p->out = out;
    best = unrolled = bench_measure(draw, p, s->d.budget_ms).ms;
    for (p->what = 0; p->what < (int)COUNT(subdivisions); ++p->what) {
        double ms;
        if (!prepare(p, s->memory)) continue;
        ms = bench_measure(draw, p, s->d.budget_ms).ms;
        if (ms < best) best = ms;
    }
    p->what = CHOSEN;
    if (!prepare(p, s->memory)) bench_bad("--sizes: no memory for", "that size");
    CHECK(cudaMemset(out, ASK_POISON_BYTE, pixels * sizeof(int)));
    draw(p);
    tally = ask_tally_of(out, s->truth, pixels, s->scratch);
    bench_verify(&row, tally.poison, "pixels not written");
    if (tally.differ > 20 + pixels / 2000) bench_verify(&row, tally.differ, "pixels differ");
    bench_time_row(&row, draw, p);
    bench_key(&row, "unrolled_ms", "%.5f", unrolled);
    bench_key(&row, "best_ms", "%.5f", best);
    bench_row_end(&s->d, &row);
    ++s->tried, s->behind += unrolled / row.time.ms < 0.9;
    if (unrolled / row.time.ms < s->least) s->least = unrolled / row.time.ms;
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--sizes", "square pictures, beside them 1001 x 777 and 8191 x 5000 if one is as large",
         "256,512,1024,1448,2048,4096,8192,16384", "256,1448,8192", BENCH_LIST, &s.sizes, 16,
         1u << 15},
        {"--windows", "only the first of the windows", "12", 0, BENCH_NUMBER, &s.windows, 1,
         WINDOWS},
        {"--dwell", "most iterations of a pixel", "512", 0, BENCH_NUMBER, &s.dwell, 1, 1u << 20},
        {"--bytes", "memory for the bandwidths", "268435456", 0, BENCH_NUMBER, &s.d.bytes, 1 << 16,
         1ull << 40}};
    tmap_u64 most = 8191ull * 5000;
    s.d.name = "chosen", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "5", s.least = 1e9;
    bench_begin(&s.d, argc, argv);
    for (int i = 0; i < s.sizes.count; ++i) {
        const tmap_u64 pixels = (tmap_u64)s.sizes.value[i] * s.sizes.value[i];
        if (i == 0 && s.sizes.count < 3) most = 0;
        if (pixels > most) most = pixels;
    }
    s.memory.bytes = most * 2 + (64 << 20);
    s.truth = (int *)kit_device(most * sizeof(int));
    s.p.out = (int *)kit_guarded(most * sizeof(int));
    s.memory.data = kit_device(s.memory.bytes);
    s.scratch = (ask_tally *)kit_device(sizeof *s.scratch);
    for (int i = 0; i < s.sizes.count + 2; ++i) {
        const tmap_u32 nx = i < s.sizes.count ? s.sizes.value[i] : i == s.sizes.count ? 1001 : 8191;
        const tmap_u32 ny = i < s.sizes.count ? nx : i == s.sizes.count ? 777 : 5000;
        if ((tmap_u64)nx * ny > most) continue;
        for (int f64 = 0; f64 < 2; ++f64)
            for (tmap_u64 w = 0; w < s.windows; ++w) {
                s.p.m = tmap_mandelbrot_make(nx, ny, (tmap_u32)s.dwell);
                s.p.m.options = f64 ? TMAP_MANDELBROT_F64 : 0;
                s.p.m.x0 = windows[w].x0, s.p.m.x1 = windows[w].x1;
                s.p.m.y0 = windows[w].y0, s.p.m.y1 = windows[w].y1;
                measure(&s, windows[w].name);
            }
    }
    if (s.tried)
        printf("%d pictures, %d below 0.9 of the exhaustive speed, the least %.2f\n", s.tried,
               s.behind, s.least);
    return bench_end(&s.d);
}
