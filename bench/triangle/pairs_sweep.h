// SPDX-License-Identifier: MIT
// pairs_sweep.h: what all works of bench_pairs share: a size's numbers, points, launches by the
// engine and by a thread for each pair, and the rows of the results.
#ifndef BENCH_TRIANGLE_PAIRS_SWEEP_H
#define BENCH_TRIANGLE_PAIRS_SWEEP_H

#include "../driver.h"

#include <threadmap/triangle.h>

// What rows are called.
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
    bench_driver d;
    bench_numbers sizes, radii, triples, variables, samples;
    tmap_u32 n, processors;
    tmap_u64 pairs;
    double instructions_a_ms; // of the lanes of all multiprocessors
    double count_ms;          // of the count, or 0: it has not been timed
} pairs_sweep;

// The least time for so many instructions of each pair.
static double pairs_limit_ms(const pairs_sweep *s, double instructions) {
    return (double)s->pairs * instructions / s->instructions_a_ms;
}

static __global__ void pairs_points_kernel(tmap_u64 coordinates, float *points) {
    BENCH_EACH(i, coordinates) {
        tmap_u32 h = (tmap_u32)i * 2654435769u;
        h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
        points[i] = (float)(h >> 8) / 16777216.0f;
    }
}

// n points of d coordinates in [0, 1), multiples of 2^-24: differences of two are exact. In memory of
// kit.h, as all of a size.
static float *pairs_points(const pairs_sweep *s, tmap_u32 d) {
    const tmap_u64 coordinates = (tmap_u64)s->n * d;
    float *points = (float *)kit_device(coordinates * sizeof *points);
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

// ---- rows ---------------------------------------------------------------------------------------

// A row of a variant at the work `of`, for points of d coordinates.
static bench_row pairs_row(const pairs_sweep *s, int variant, int of, tmap_u32 d) {
    bench_row row = bench_row_begin(&s->d, "pairs", pairs_names[variant], "triangle");
    bench_key_text(&row, "of", pairs_names[of]);
    bench_key(&row, "size", "%u", s->n);
    bench_key(&row, "d", "%u", d);
    bench_key_text(&row, "dtype", "f32");
    row.rate = "tpairs", row.unit = "Tpair/s", row.each = 1e-9 * (double)s->pairs;
    return row;
}

// Ends the run if a variant gives something else than it should; else its row may be timed.
static void pairs_verify(bench_row *row, int right, double got, double want) {
    if (!right) bench_wrong(row, "%.17g instead of %.17g", got, want);
    row->verified = 1;
}

// Times a launch that has been verified, and writes its row. Returns the time.
static double pairs_time(pairs_sweep *s, bench_row *row, pairs_call *call, double limit_ms) {
    row->limit_ms = limit_ms;
    bench_row_run(&s->d, row, pairs_call_run, call);
    return row->time.ms;
}

#endif
