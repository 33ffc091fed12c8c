// SPDX-License-Identifier: MIT
// bench_chosen: pictures of the Mandelbrot set whose subdivision the plan chooses, parameters
// (0, 0, 0), beside the exhaustive picture with a test in 32 steps and the best of a list of
// subdivisions; over sizes, windows and both types of numbers.
//
// A chosen picture is verified before it is timed: every pixel was written, and no more of them
// differ from the exhaustive picture than subdivision may change.
#include "ask_check.h"
#include "../options.h"
#include "../results.h"

#include <threadmap/papers/mandelbrot_approaches.h>
#include <threadmap/papers/mandelbrot_approaches_f64.h>

static const char usage[] =
    "usage: bench_chosen [--sizes N,N,...] [--windows N] [--dwell D] [--budget MS] [--bytes N]\n"
    "                    [--out FILE] [--quick]\n"
    "  --sizes      square pictures, beside them 1001 x 777 and 8191 x 5000 if one is as large\n"
    "  --windows    so many of the windows (all)\n"
    "  --budget     milliseconds of samples of a time (5)\n"
    "  --bytes      memory for the bandwidths\n"
    "  --quick      three sizes\n";

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
enum { WINDOWS = sizeof windows / sizeof *windows };

static const tmap_ask_params subdivisions[] = {{64, 4, 4}, {16, 4, 4}, {128, 8, 8}, {32, 2, 16}};

enum { UNROLLED = -1, CHOSEN = -2 }; // beside the index of a subdivision

// One picture to time.
typedef struct picture {
    tmap_mandelbrot m;
    int wide, what, *out;
    tmap_mandelbrot_approaches_f32 all32;
    tmap_mandelbrot_approaches_f64 all64;
    tmap_mandelbrot_plan_f32 plan32;
    tmap_mandelbrot_plan_f64 plan64;
} picture;

static void draw(void *context) {
    picture *p = (picture *)context;
    const int approach =
        p->what == UNROLLED ? TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED : TMAP_MANDELBROT_ASK_MBR;
    if (p->what == CHOSEN)
        CHECK(p->wide ? tmap_mandelbrot_f64(&p->plan64, p->out, 0)
                      : tmap_mandelbrot_f32(&p->plan32, p->out, 0));
    else
        CHECK(p->wide
                  ? tmap_mandelbrot_approach_f64(&p->all64, approach, TMAP_ASK_STREAM, p->out, 0)
                  : tmap_mandelbrot_approach_f32(&p->all32, approach, TMAP_ASK_STREAM, p->out, 0));
}

// Makes the plan of p->what in a workspace; 0 if there is no such subdivision.
static int prepare(picture *p, tmap_workspace memory) {
    const tmap_ask_params none = {0, 0, 0};
    tmap_ask_workspace w;
    if (p->what == UNROLLED) {
        CHECK(p->wide ? tmap_mandelbrot_approaches_make_f64(&p->m, NULL, &p->all64)
                      : tmap_mandelbrot_approaches_make_f32(&p->m, NULL, &p->all32));
        return 1;
    }
    if (tmap_mandelbrot_workspace_set(&p->m, p->what == CHOSEN ? none : subdivisions[p->what], 0,
                                      memory, &w))
        return 0;
    if (p->what == CHOSEN)
        CHECK(p->wide ? tmap_mandelbrot_plan_make_f64(&p->m, &w, &p->plan64)
                      : tmap_mandelbrot_plan_make_f32(&p->m, &w, &p->plan32));
    else
        CHECK(p->wide ? tmap_mandelbrot_approaches_make_f64(&p->m, &w, &p->all64)
                      : tmap_mandelbrot_approaches_make_f32(&p->m, &w, &p->all32));
    return 1;
}

// The time of a window at a size by all three; returns the chosen one's speed, as a part of the
// exhaustive one's.
static double measure(bench_results *results, picture *p, const window *w, tmap_workspace memory,
                      int *truth, ask_tally *scratch, double budget) {
    const tmap_u64 pixels = (tmap_u64)p->m.nx * p->m.ny;
    double unrolled, chosen, best = 0;
    bench_time t;
    int *out = p->out, first = 1;
    char row[512];
    p->m.x0 = w->x0, p->m.x1 = w->x1, p->m.y0 = w->y0, p->m.y1 = w->y1;
    p->what = UNROLLED, p->out = truth;
    prepare(p, memory);
    draw(p);
    p->out = out;
    unrolled = bench_measure(draw, p, budget).ms;
    for (p->what = 0; p->what < (int)(sizeof subdivisions / sizeof *subdivisions); ++p->what) {
        if (!prepare(p, memory)) continue;
        t = bench_measure(draw, p, budget);
        if (first || t.ms < best) best = t.ms, first = 0;
    }
    if (first || unrolled < best) best = unrolled;
    p->what = CHOSEN;
    if (!prepare(p, memory)) bench_bad("--sizes: no memory for", "that size");
    CHECK(cudaMemset(out, ASK_POISON_BYTE, pixels * sizeof(int)));
    draw(p);
    {
        const ask_tally tally = ask_tally_of(out, truth, pixels, scratch);
        if (tally.poison || tally.differ > 20 + pixels / 2000) {
            fprintf(stderr,
                    "bench_chosen: %s, %u x %u: WRONG, %llu pixels not written, %llu differ\n",
                    w->name, p->m.nx, p->m.ny, tally.poison, tally.differ);
            exit(1);
        }
    }
    t = bench_measure(draw, p, budget);
    chosen = t.ms;
    snprintf(
        row, sizeof row,
        "\"work\": \"chosen\", \"variant\": \"chosen\", \"domain\": \"mandelbrot\", \"input\": "
        "\"%s\", \"size\": %u, \"nx\": %u, \"ny\": %u, \"dwell\": %u, \"dtype\": \"%s\", "
        "\"ms\": %.5f, \"noise_pct\": %.2f, \"unrolled_ms\": %.5f, \"best_ms\": %.5f, "
        "\"verified\": true",
        w->name, p->m.nx, p->m.nx, p->m.ny, p->m.dwell, p->wide ? "f64" : "f32", chosen,
        t.noise_pct, unrolled, best);
    bench_results_row(results, row);
    if (unrolled / chosen < 0.9 || chosen / best > 1.1)
        printf("| %u x %u | %s | %s | %.4f | %.4f | %.4f |\n", p->m.nx, p->m.ny,
               p->wide ? "f64" : "f32", w->name, chosen, unrolled, best);
    fflush(stdout);
    return unrolled / chosen;
}

int main(int argc, char **argv) {
    bench_numbers sizes = {{256, 512, 1024, 1448, 2048, 4096, 8192, 16384}, 8};
    int dwell = 512, window_count = WINDOWS, *truth, tried = 0, behind = 0;
    const char *out = NULL;
    double budget = 5, least = 1e9;
    tmap_u64 bytes = 1ull << 28, most = 8191ull * 5000;
    bench_ceilings ceilings;
    bench_results results;
    ask_tally *scratch;
    tmap_workspace memory;
    static picture p;
    int devices = 0;
    bench_program = "bench_chosen";
    if (bench_quick(&argc, argv, usage)) {
        const bench_numbers few = {{256, 1448, 8192}, 3};
        sizes = few;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value) bench_bad(option, value);
        if (!strcmp(option, "--sizes"))
            sizes = bench_numbers_of(option, value, 16, 1u << 15);
        else if (!strcmp(option, "--windows"))
            window_count = (int)bench_number(option, value, 1, WINDOWS);
        else if (!strcmp(option, "--dwell"))
            dwell = (int)bench_number(option, value, 1, 1u << 20);
        else if (!strcmp(option, "--budget"))
            budget = (double)bench_number(option, value, 1, 10000);
        else if (!strcmp(option, "--bytes"))
            bytes = bench_number(option, value, 1 << 16, 1ull << 40);
        else if (!strcmp(option, "--out"))
            out = value;
        else
            bench_bad(option, value);
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    ceilings = bench_measure_ceilings((size_t)bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s\n", ceilings.copy_tbs, ceilings.fill_tbs,
           ceilings.read_tbs);
    if (bench_results_open(&results, out, "chosen", ceilings)) bench_bad("--out", out);
    for (int i = 0; i < sizes.count; ++i) {
        const tmap_u64 pixels = (tmap_u64)sizes.value[i] * sizes.value[i];
        if (i == 0 && sizes.count < 3) most = 0;
        if (pixels > most) most = pixels;
    }
    memory.bytes = most * 2 + (64 << 20);
    CHECK(cudaMalloc((void **)&truth, most * sizeof(int)));
    CHECK(cudaMalloc((void **)&p.out, most * sizeof(int)));
    CHECK(cudaMalloc(&memory.data, memory.bytes));
    CHECK(cudaMalloc((void **)&scratch, sizeof *scratch));
    printf("less than 0.9 of the exhaustive speed, or 10%% behind the best:\n"
           "| pixels | type | window | chosen, ms | a test in 32 steps, ms | best, ms |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < sizes.count + 2; ++i) {
        const tmap_u32 nx = i < sizes.count ? sizes.value[i] : i == sizes.count ? 1001 : 8191;
        const tmap_u32 ny = i < sizes.count ? nx : i == sizes.count ? 777 : 5000;
        if ((tmap_u64)nx * ny > most) continue;
        for (p.wide = 0; p.wide < 2; ++p.wide)
            for (int w = 0; w < window_count; ++w) {
                double part;
                p.m = tmap_mandelbrot_make(nx, ny, (tmap_u32)dwell);
                part = measure(&results, &p, windows + w, memory, truth, scratch, budget);
                if (part < least) least = part;
                behind += part < 0.9, ++tried;
                bench_progress(tried, 2 * window_count * (sizes.count + 2), windows[w].name);
            }
    }
    printf("%d pictures, %d below 0.9 of the exhaustive speed, the least %.2f\n", tried, behind,
           least);
    CHECK(cudaFree(truth));
    CHECK(cudaFree(p.out));
    CHECK(cudaFree(memory.data));
    CHECK(cudaFree(scratch));
    if (bench_results_close(&results)) bench_bad("--out", out);
    return 0;
}
