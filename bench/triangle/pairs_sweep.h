// SPDX-License-Identifier: MIT
// pairs_sweep.h: what all works of bench_pairs share: a size's numbers, points, launches by the
// engine and by a thread for each pair, and the rows of the results.
#ifndef BENCH_TRIANGLE_PAIRS_SWEEP_H
#define BENCH_TRIANGLE_PAIRS_SWEEP_H

#include "../results.h"

#include <threadmap/triangle.h>
#include <threadmap/triangle.h>

// What rows are called, and --only chooses from.
enum {
    PAIRS_STORE_CHEBYSHEV,
    PAIRS_STORE_EUCLIDEAN,
    PAIRS_COUNT,
    PAIRS_DRMSD,
    PAIRS_HISTOGRAM,
    PAIRS_SELECT,
    PAIRS_ROWS,
    PAIRS_ROWS_NXN,
    PAIRS_CELLS,
    PAIRS_THREAD,
    PAIRS_VARIANTS
};
static const char *const pairs_names[PAIRS_VARIANTS] = {
    "store_chebyshev", "store_euclidean", "count",        "drmsd", "histogram", "select", "rows",
    "rows_nxn",        "cell_list",       "thread_a_pair"};

// Points are spread over the unit cube; near ones are at most so far apart, of which each point has
// some hundreds at the largest size: 32 million pairs of 131072 points.
#define PAIRS_RADIUS 0.0968f

// One size.
typedef struct pairs_sweep {
    tmap_u32 n, processors;
    tmap_u64 pairs;
    double instructions_a_ms;   // of the lanes of all multiprocessors
    double budget_ms, count_ms; // count_ms: of the count, or 0: it has not been timed
    bench_ceilings ceilings;
    unsigned only; // a bit for each variant that is wanted
    bench_results *results;
} pairs_sweep;

// Whether the variant is to be timed at the work `of`. A thread for each pair without another name
// is wanted for all works, else for those that are named.
static int pairs_wants(const pairs_sweep *s, int variant, int of) {
    const unsigned thread = 1u << PAIRS_THREAD;
    if (!(s->only >> variant & 1)) return 0;
    return variant != PAIRS_THREAD || s->only == thread || s->only >> of & 1;
}

// The least time for so many instructions of each pair.
static double pairs_limit_ms(const pairs_sweep *s, double instructions) {
    return (double)s->pairs * instructions / s->instructions_a_ms;
}

static void *pairs_alloc(tmap_u64 bytes) {
    void *memory;
    CHECK(cudaMalloc(&memory, (size_t)bytes));
    return memory;
}

static __global__ void pairs_points_kernel(tmap_u64 coordinates, float *points) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < coordinates;
         i += stride) {
        tmap_u32 h = (tmap_u32)i * 2654435769u;
        h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
        points[i] = (float)(h >> 8) / 16777216.0f;
    }
}

// n points of d coordinates in [0, 1), multiples of 2^-24: differences of two are exact.
static float *pairs_points(const pairs_sweep *s, tmap_u32 d) {
    const tmap_u64 coordinates = (tmap_u64)s->n * d;
    float *points = (float *)pairs_alloc(coordinates * sizeof *points);
    pairs_points_kernel<<<1024, 256>>>(coordinates, points);
    CHECK(cudaGetLastError());
    return points;
}

// ---- launches -----------------------------------------------------------------------------------

// A launch of the engine, or of a thread for each pair, whose kernel takes the number of points and
// of pairs and the job.
typedef struct pairs_call {
    tmap_pairs_plan plan; // of the engine
    const void *thread;   // or this kernel
    tmap_u32 n, blocks;
    tmap_u64 pairs;
    const void *job;
    void *clear; // so many bytes are cleared before each launch
    tmap_u64 bytes;
} pairs_call;

static void pairs_call_run(void *context) {
    pairs_call *c = (pairs_call *)context;
    void *arguments[3] = {&c->n, &c->pairs, (void *)c->job};
    if (c->bytes) CHECK(cudaMemsetAsync(c->clear, 0, (size_t)c->bytes, 0));
    if (c->thread)
        CHECK(cudaLaunchKernel(c->thread, dim3(c->blocks), dim3(256), arguments, 0, 0));
    else
        CHECK(tmap_pairs_launch(&c->plan, c->job, 0));
}

// A thread for each pair. The kernel adds to `bytes` bytes at `clear`.
static pairs_call pairs_call_thread(const pairs_sweep *s, const void *kernel, const void *job,
                                    void *clear, tmap_u64 bytes) {
    pairs_call c;
    memset(&c, 0, sizeof c);
    c.thread = kernel, c.n = s->n, c.pairs = s->pairs, c.blocks = s->processors * 32;
    c.job = job, c.clear = clear, c.bytes = bytes;
    return c;
}

// The engine; its plan is the caller's to make.
static pairs_call pairs_call_engine(const void *job) {
    pairs_call c;
    memset(&c, 0, sizeof c);
    c.job = job;
    return c;
}

// ---- results ------------------------------------------------------------------------------------

// The end of a run in which a variant was wrong.
static void pairs_wrong(const pairs_sweep *s, int variant, int of, double got, double want) {
    fflush(stdout);
    fprintf(stderr, "%s of %s n=%u: WRONG, %.17g instead of %.17g\n", pairs_names[variant],
            pairs_names[of], s->n, got, want);
    exit(1);
}

// A row, for the reader and for the file. more: further members of the JSON object, or "".
static void pairs_record(pairs_sweep *s, int variant, int of, tmap_u32 d, bench_time t,
                         double limit_ms, const char *more) {
    const double tpairs = 1e-9 * (double)s->pairs / t.ms, percent = 100 * limit_ms / t.ms;
    char row[768];
    printf("| %s | %s | %u | %u | %.4f | %.1f%% | %.3f | %.0f%% | %s |\n", pairs_names[variant],
           pairs_names[of], s->n, d, t.ms, t.noise_pct, tpairs, percent, more);
    fflush(stdout);
    snprintf(row, sizeof row,
             "\"work\": \"pairs\", \"variant\": \"%s\", \"of\": \"%s\", \"domain\": \"triangle\", "
             "\"size\": %u, \"d\": %u, \"dtype\": \"f32\", \"ms\": %.5f, \"noise_pct\": %.2f, "
             "\"tpairs\": %.4f, \"limit_ms\": %.5f, \"limit_pct\": %.1f%s%s, \"verified\": true",
             pairs_names[variant], pairs_names[of], s->n, d, t.ms, t.noise_pct, tpairs, limit_ms,
             percent, *more ? ", " : "", more);
    bench_results_row(s->results, row);
}

// Times a launch, if it is wanted, and writes its row. Returns the time, or 0.
static double pairs_time(pairs_sweep *s, int variant, int of, tmap_u32 d, pairs_call *call,
                         double limit_ms, const char *more) {
    bench_time t;
    if (!pairs_wants(s, variant, of)) return 0;
    t = bench_measure(pairs_call_run, call, s->budget_ms);
    pairs_record(s, variant, of, d, t, limit_ms, more);
    return t.ms;
}

#endif
