// SPDX-License-Identifier: MIT
// ask_job.h: one picture of bench_ask: what draws it and with which parameters, its verification,
// and its row in the results.
#ifndef BENCH_ASK_JOB_H
#define BENCH_ASK_JOB_H

#include "ask_check.h"
#include "ask_dp.h"
#include "ask_plain.h"
#include "ask_shapes.h"
#include "../energy.h"
#include "../options.h"
#include "../results.h"

#include <threadmap/papers/mandelbrot_approaches.h>

enum { RUNS = 16384, SIZES = BENCH_NUMBERS };
enum {
    DRIVERS = 1,
    OPTIONS = 2,
    DP = 4,
    MODEL = 8,
    ENERGY = 16,
    BLOCKS = 32,
    TABLES = 64,
    PUBLISHED = 128,
    PARTS = 8
};
static const char *const part_names[] = {"drivers", "options", "dp",     "model",
                                         "energy",  "blocks",  "tables", "published"};

// What draws a picture: the approaches of mandelbrot_approaches.h, then the baseline and DP. A plan
// of DP that is one level deep subdivides nothing: it is a flat grid of regions, which a block
// finishes by itself (FLAT, no kernel launches another) or by a launch (FLAT_MBR).
enum {
    UNROLLED = TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED,
    SBR = TMAP_MANDELBROT_ASK_SBR,
    MBR = TMAP_MANDELBROT_ASK_MBR,
    PLAIN = TMAP_MANDELBROT_APPROACH_COUNT,
    DP_SBR,
    DP_MBR,
    FLAT,
    FLAT_MBR,
    VARIANTS
};
// A driver more: the levels of the stream driver, captured into a graph once, where there are graphs
// (not on the CPU machine).
enum { CAPTURED = TMAP_ASK_DRIVER_COUNT };
#if defined(__CUDACC_VER_MAJOR__) && CUDART_VERSION >= 12000
#define BENCH_GRAPHS 1
#else
#define BENCH_GRAPHS 0
#endif

static const char *variant_name(int variant) {
    static const char *const names[] = {"exhaustive", "dp_sbr", "dp_mbr", "flat", "flat_mbr"};
    return variant < PLAIN ? tmap_mandelbrot_approach_name(variant) : names[variant - PLAIN];
}

static int is_dp(int variant) { return variant >= DP_SBR && variant < VARIANTS; }
static int is_flat(int variant) { return variant == FLAT || variant == FLAT_MBR; }

// The form of a variant of DP or ASK.
static int form_of(int variant) {
    return variant == MBR || variant == DP_MBR || variant == FLAT_MBR ? TMAP_ASK_MBR : TMAP_ASK_SBR;
}

static const char *driver_name(int driver) {
    return driver == CAPTURED ? "captured" : tmap_ask_driver_name(driver);
}

typedef struct settings {
    const char *out;
    bench_numbers n, landscape, g, r, B;
    tmap_u32 dwell;
    int parts, quick;
    double budget_ms, limit_s;
    tmap_u64 bytes;
} settings;

// A measured picture by ASK or DP.
typedef struct run {
    tmap_ask_params a;
    tmap_u32 levels;
    tmap_u64 hash;
    double ms;         // 0: tried, and not to be had
    int size, variant; // size: index into --n
} run;

// What is known of a size.
typedef struct size {
    tmap_u32 n;
    tmap_u64 work; // all dwells
    double plain_ms, unrolled_ms;
    int best[VARIANTS]; // runs; -1: none
} size;

typedef struct sweep {
    settings o;
    bench_ceilings ceilings;
    bench_results results;
    bench_energy_meter meter;
    size sizes[SIZES];
    run runs[RUNS];
    int run_count, done, all;
    time_t begin;
    int cpu; // the CPU machine, which runs one block after the other
    int *truth, *out;
    tmap_workspace memory; // of workspaces
    ask_tally *tally;
    tmap_u64 *lost;
    ask_serial serial;
} sweep;

// One thing to time.
typedef struct job {
    sweep *s;
    tmap_mandelbrot m;
    int variant, driver, shape; // shape: of PLAIN
    tmap_u32 threads;           // of a block of ASK or DP; 0: what the library takes
    tmap_ask_params a;
    tmap_ask_workspace workspace;
    tmap_mandelbrot_approaches_f32 plan;
    tmap_ask_plan shaped; // of ASK, with `threads`
    int *columns;         // of borders, of DP
    tmap_u64 children;    // kernels that kernels launch, of DP
#if BENCH_GRAPHS
    cudaGraphExec_t exec; // of CAPTURED
#endif
    const char *part;
} job;

// ASK by its stream driver, in blocks of `threads` or in the library's own.
static cudaError_t job_stream(job *j, cudaStream_t stream) {
    return j->threads ? ask_shapes_run(&j->shaped, &j->plan.job, j->s->out, stream)
                      : tmap_mandelbrot_approach_f32(&j->plan, j->variant, TMAP_ASK_STREAM,
                                                     j->s->out, stream);
}

static void job_run(void *context) {
    job *j = (job *)context;
    if (j->variant == PLAIN) {
        ask_plain_run(&j->m, j->shape, j->s->out);
    } else if (is_dp(j->variant)) {
#if BENCH_DP
        const tmap_mandelbrot_dp how = {form_of(j->variant), j->a,      j->threads, 0,
                                        j->columns,          j->s->lost};
        CHECK(ask_dp_run(&j->m, &how, j->s->out));
#endif
    } else if (j->driver == CAPTURED) {
#if BENCH_GRAPHS
        CHECK(cudaGraphLaunch(j->exec, 0));
#endif
    } else if (j->threads) {
        CHECK(job_stream(j, 0));
    } else {
        CHECK(tmap_mandelbrot_approach_f32(&j->plan, j->variant, j->driver, j->s->out, 0));
    }
}

static tmap_u64 pixels_of(const job *j) { return (tmap_u64)j->m.nx * j->m.ny; }

static void wrong(const job *j, const char *what, tmap_u64 count) {
    fprintf(stderr, "%s n=%u (%u,%u,%u) %s: WRONG, %s: %llu\n", variant_name(j->variant), j->m.nx,
            j->a.g, j->a.r, j->a.b, driver_name(j->driver), what, count);
    exit(1);
}

// ---- a job's workspace --------------------------------------------------------------------------

static int is_ask(int variant) { return variant == SBR || variant == MBR; }

// The plan of the exhaustive approaches, which have no workspace.
static void job_plan(job *j) { CHECK(tmap_mandelbrot_approaches_make_f32(&j->m, NULL, &j->plan)); }

// Makes the workspace and the plans of a job; 0 if this subdivision does not exist, or its tables
// do not fit. Columns of borders have memory behind the tables, if that fits, too.
static int job_prepare(job *j) {
    const tmap_mandelbrot *m = &j->m;
    const tmap_ask_box box = {m->nx, m->ny, 0};
    sweep *s = j->s;
    tmap_workspace tables = s->memory;
    tables.bytes = tmap_ask_workspace_bytes(box, j->a, 0);
    if (!tables.bytes || tables.bytes > s->memory.bytes) return 0;
    if (tmap_mandelbrot_workspace_set(m, j->a, 0, s->memory, &j->workspace) &&
        tmap_ask_workspace_set(box, j->a, 0, tables, &j->workspace))
        return 0;
    CHECK(tmap_mandelbrot_approaches_make_f32(m, &j->workspace, &j->plan));
    if (j->threads && is_ask(j->variant) &&
        ask_shapes_plan(&j->workspace, form_of(j->variant), j->threads, &j->shaped)) {
        (void)cudaGetLastError();
        return 0;
    }
    j->columns = j->plan.job.to.columns;
    return 1;
}

static void job_capture(job *j) {
#if BENCH_GRAPHS
    cudaStream_t stream;
    cudaGraph_t graph;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(job_stream(j, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&j->exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
#else
    (void)j;
#endif
}

static void job_capture_free(job *j) {
#if BENCH_GRAPHS
    if (j->driver == CAPTURED) CHECK(cudaGraphExecDestroy(j->exec));
#else
    (void)j;
#endif
}

// ---- verification -------------------------------------------------------------------------------

// Runs a job once on poisoned memory. What it drew is compared with the exhaustive picture.
static ask_tally job_draw(job *j) {
    ask_tally t;
    CHECK(cudaMemset(j->s->out, ASK_POISON_BYTE, pixels_of(j) * sizeof(int)));
    job_run(j);
    t = ask_tally_of(j->s->out, j->s->truth, pixels_of(j), j->s->tally);
    return t;
}

// The same; ends the run if a pixel was not written, or the picture is not the expected one. hash:
// of the picture that others drew, 0: there is none yet.
static ask_tally job_verify(job *j, tmap_u64 hash) {
    ask_tally t = job_draw(j);
    if (t.poison) wrong(j, "pixels not written", t.poison);
    if (hash && t.hash != hash) wrong(j, "not the picture of the others", 1);
    if (j->variant == PLAIN || j->variant == UNROLLED) {
        if (t.differ) wrong(j, "pixels differ", t.differ);
    } else if (j->m.nx > 2048 && t.differ > pixels_of(j) / 10000) {
        wrong(j, "pixels differ from the exhaustive picture", t.differ);
    }
    return t;
}

// Compares the picture that an ASK job has just drawn, and its counts, with the serial algorithm.
static void job_verify_serially(job *j, ask_counts *want) {
    tmap_ask_counts got;
    tmap_u64 differ;
    ask_serial_run(&j->s->serial, j->a, 1, want);
    CHECK(tmap_ask_counts_read(&j->workspace, &got, 0));
    differ = ask_serial_differs(&j->s->serial, j->s->out);
    if (differ) wrong(j, "pixels differ from the serial picture", differ);
    if (!ask_counts_equal(&got, want)) wrong(j, "counts of levels", 1);
}

// ---- rows ---------------------------------------------------------------------------------------

static double limit_ms(const job *j) {
    return 1e-9 * 4 * (double)pixels_of(j) / j->s->ceilings.fill_tbs;
}

static const char *options_name(tmap_u32 options) {
    return options & TMAP_MANDELBROT_BULBS ? "bulbs" : "none";
}

// Writes a row of a timed job; millijoules: 0 for not measured.
static void job_row(const job *j, bench_time t, const ask_tally *tally, double millijoules) {
    char row[1024];
    sweep *s = j->s;
    int length = snprintf(
        row, sizeof row,
        "\"work\": \"mandelbrot\", \"part\": \"%s\", \"variant\": \"%s\", \"domain\": "
        "\"mandelbrot\", \"size\": %u, \"n\": %u, \"dwell\": %u, \"dtype\": \"f32\", \"options\": "
        "\"%s\", \"ms\": %.5f, \"noise_pct\": %.2f, \"limit_ms\": %.5f, \"limit_pct\": %.1f, "
        "\"verified\": true",
        j->part, variant_name(j->variant), j->m.nx, j->m.nx, j->m.dwell, options_name(j->m.options),
        t.ms, t.noise_pct, limit_ms(j), 100 * limit_ms(j) / t.ms);
    if (j->variant == PLAIN)
        length += snprintf(row + length, sizeof row - (size_t)length, ", \"block\": \"%ux%u\"",
                           ask_plain_shapes[j->shape][0], ask_plain_shapes[j->shape][1]);
    else if (j->variant != UNROLLED)
        length += snprintf(row + length, sizeof row - (size_t)length,
                           ", \"g\": %u, \"r\": %u, \"B\": %u, \"levels\": %u", j->a.g, j->a.r,
                           j->a.b, tmap_region_levels(j->m.nx, j->a.g, j->a.r, j->a.b));
    if (is_dp(j->variant))
        length += snprintf(row + length, sizeof row - (size_t)length, ", \"children\": %llu",
                           j->children);
    if (j->threads)
        length +=
            snprintf(row + length, sizeof row - (size_t)length, ", \"threads\": %u", j->threads);
    if (t.samples == 1)
        length += snprintf(row + length, sizeof row - (size_t)length, ", \"samples\": 1");
    if (is_ask(j->variant))
        length += snprintf(row + length, sizeof row - (size_t)length, ", \"driver\": \"%s\"",
                           driver_name(j->driver));
    if (tally)
        length += snprintf(row + length, sizeof row - (size_t)length, ", \"differ\": %llu",
                           tally->differ);
    if (millijoules > 0)
        snprintf(row + length, sizeof row - (size_t)length, ", \"millijoules\": %.4f", millijoules);
    bench_results_row(&s->results, row);
}

static void print_row(const job *j, bench_time t, tmap_u64 differ) {
    const size *z = &j->s->sizes[0];
    double plain = 0;
    for (int i = 0; i < j->s->o.n.count; ++i, ++z)
        if (z->n == j->m.nx) plain = z->plain_ms;
    printf("| %u | %s | (%u, %u, %u) | %s | %s | %.4f | %.1f | %.2f | %llu | %.1f |\n", j->m.nx,
           variant_name(j->variant), j->a.g, j->a.r, j->a.b,
           is_ask(j->variant) ? driver_name(j->driver) : "", options_name(j->m.options), t.ms,
           t.noise_pct, plain / t.ms, differ, 100 * limit_ms(j) / t.ms);
    fflush(stdout);
}

static void print_head(void) {
    puts("| n | approach | (g, r, B) | driver | options | ms | noise % | x exhaustive | differ "
         "| % of limit |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
}

#endif
