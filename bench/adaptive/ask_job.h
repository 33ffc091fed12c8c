// SPDX-License-Identifier: MIT
// ask_job.h: one picture of bench_ask: what draws it and with which parameters, its verification,
// its row in the results, and its energy.
#ifndef BENCH_ASK_JOB_H
#define BENCH_ASK_JOB_H

#include "ask_check.h"
#include "ask_dp.h"
#include "ask_kernels.h"
#include "../driver.h"
#include "../energy.h"

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
    bench_numbers n, landscape, g, r, B;
    tmap_u32 dwell;
    int parts;
    double limit_s; // seconds after which no search tries another subdivision
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
    bench_driver d;
    settings o;
    bench_energy_meter meter;
    size sizes[SIZES];
    run runs[RUNS];
    int run_count;
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
    tmap_mandelbrot_approaches plan;
    tmap_ask_plan shaped; // of ASK, with `threads`
    int *columns;         // of borders, of DP
    tmap_u64 children;    // kernels that kernels launch, of DP
#if BENCH_GRAPHS
    cudaGraphExec_t exec; // of CAPTURED
#endif
    const char *part;
    bench_row row;
} job;

// ASK by its stream driver, in blocks of `threads` or in the library's own.
static cudaError_t job_stream(job *j, cudaStream_t stream) {
    return j->threads ? ask_shapes_run(&j->shaped, &j->plan.job, j->s->out, stream)
                      : tmap_mandelbrot_approach_run(&j->plan, j->variant, TMAP_ASK_STREAM,
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
        CHECK(tmap_mandelbrot_approach_run(&j->plan, j->variant, j->driver, j->s->out, 0));
    }
}

static tmap_u64 pixels_of(const job *j) { return (tmap_u64)j->m.nx * j->m.ny; }

static void wrong(const job *j, const char *what, tmap_u64 count) {
    bench_wrong(&j->row, "%s: %llu", what, count);
}

// ---- a job's workspace --------------------------------------------------------------------------

static int is_ask(int variant) { return variant == SBR || variant == MBR; }

// The plan of the exhaustive approaches, which have no workspace.
static void job_plan(job *j) { CHECK(tmap_mandelbrot_approaches_make(&j->m, NULL, &j->plan)); }

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
    CHECK(tmap_mandelbrot_approaches_make(m, &j->workspace, &j->plan));
    if (j->threads && is_ask(j->variant) &&
        ask_shapes_plan(&j->workspace, form_of(j->variant), j->threads, &j->shaped)) {
        (void)cudaGetLastError();
        return 0;
    }
    j->columns = j->plan.job.columns;
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
    j->row.verified = 1;
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

static const char *options_name(tmap_u32 options) {
    return options & TMAP_MANDELBROT_BULBS ? "bulbs" : "none";
}

// A row of work `work` at the job's size, with its subdivision, if it has one.
static bench_row job_row_of(const job *j, const char *work) {
    bench_row row = bench_row_begin(&j->s->d, work, variant_name(j->variant), "mandelbrot");
    if (j->part) bench_key_text(&row, "part", j->part);
    bench_key(&row, "size", "%u", j->m.nx);
    if (j->variant == PLAIN)
        bench_key(&row, "block", "\"%ux%u\"", ask_plain_shapes[j->shape][0],
                  ask_plain_shapes[j->shape][1]);
    if (j->variant == PLAIN || j->variant == UNROLLED) return row;
    bench_key(&row, "g", "%u", j->a.g);
    bench_key(&row, "r", "%u", j->a.r);
    bench_key(&row, "B", "%u", j->a.b);
    return row;
}

// What all rows have behind their names.
static void row_size(bench_row *row, tmap_u32 n, tmap_u32 dwell) {
    bench_key(row, "n", "%u", n);
    bench_key(row, "dwell", "%u", dwell);
}

// Begins the row of a picture. Returns 1 if it is wanted.
static int job_wants(job *j) {
    j->row = job_row_of(j, "mandelbrot");
    bench_key_text(&j->row, "options", options_name(j->m.options));
    if (is_ask(j->variant)) bench_key_text(&j->row, "driver", driver_name(j->driver));
    if (j->threads) bench_key(&j->row, "threads", "%u", j->threads);
    j->row.limit_ms = 1e-9 * 4 * (double)pixels_of(j) / j->s->d.ceilings.fill_tbs;
    return bench_wants(&j->s->d, &j->row);
}

// Times a job that has been verified.
static bench_time job_time(job *j, double budget) {
    j->row.budget_ms = budget;
    return bench_time_row(&j->row, job_run, j);
}

// Writes the row of a job that has its time; millijoules: 0 for not measured.
static void job_row(job *j, const ask_tally *tally, double millijoules) {
    bench_row *row = &j->row;
    row_size(row, j->m.nx, j->m.dwell);
    bench_key_text(row, "dtype", "f32");
    if (j->variant != PLAIN && j->variant != UNROLLED)
        bench_key(row, "levels", "%u", tmap_region_levels(j->m.nx, j->a.g, j->a.r, j->a.b));
    if (is_dp(j->variant)) bench_key(row, "children", "%llu", j->children);
    if (row->time.samples == 1) bench_key(row, "samples", "1");
    if (tally) bench_key(row, "differ", "%llu", tally->differ);
    if (millijoules > 0) bench_key(row, "millijoules", "%.4f", millijoules);
    bench_row_end(&j->s->d, row);
}

// ---- energy -------------------------------------------------------------------------------------

// The energy of a verified picture that takes about ms.
static void energy_row(job *j, double ms) {
    const bench_time time = {ms, 0, 0};
    double millijoules;
    j->part = "energy";
    if (!job_wants(j)) return;
    millijoules = bench_energy(&j->s->meter, job_run, j, ms, 500);
    if (!(millijoules > 0)) return;
    j->row.verified = 1;
    bench_row_time(&j->row, time);
    job_row(j, NULL, millijoules);
}

static void sweep_energy(sweep *s, job j, size *z) {
    const int variants[] = {PLAIN, UNROLLED, SBR, MBR};
    j.driver = TMAP_ASK_STREAM;
    for (int i = 0; i < 4; ++i) {
        double ms;
        j.variant = variants[i];
        j.shape = z->best[PLAIN];
        ms = j.variant == PLAIN ? z->plain_ms : z->unrolled_ms;
        if (is_ask(j.variant)) {
            if (z->best[j.variant] < 0) continue;
            j.a = s->runs[z->best[j.variant]].a;
            ms = s->runs[z->best[j.variant]].ms;
            if (!job_prepare(&j)) continue;
        }
        if (ms > 0) energy_row(&j, ms);
    }
}

// Energy is measured at the sizes of landscapes and at the last size.
static int has_energy(const sweep *s, const size *z) {
    if (!(s->o.parts & ENERGY) || !s->meter.device) return 0;
    for (int i = 0; i < s->o.landscape.count; ++i)
        if (s->o.landscape.value[i] == z->n) return 1;
    return z->n == s->o.n.value[s->o.n.count - 1];
}

#endif
