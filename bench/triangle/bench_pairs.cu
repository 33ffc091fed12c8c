// SPDX-License-Identifier: MIT
// bench_pairs: work on all pairs of n points through the library's engine, as a user calls it, and
// by a thread for each pair, all in one run.
//
// Every variant is verified before it is timed: the engine's result against that of a thread for
// each pair, which has another map and another order. One that is wrong ends the run with status 1.
//
// usage: bench_pairs [--n N,N,...] [--budget MS] [--bytes N] [--out FILE]
#include "../options.h"
#include "../results.h"
#include "pairs_work.h"

enum { COUNT, DRMSD, WORKS };

// What is done to the pairs. instructions: the least number for a pair, as the GPU has them: of the
// count 3 differences, 3 multiplications and additions, and 1 sign added; of dRMSD's terms 6, 6, 2
// roots, a difference, and a multiplication and addition.
static const struct {
    const char *variant;
    tmap_u32 d, instructions;
} works[WORKS] = {{"count", 3, 7}, {"drmsd", 6, 16}};

typedef struct job {
    tmap_u32 n;
    int work, engine; // engine: else a thread for each pair
    tmap_pairs_plan plan;
    pairs_job pairs;
} job;

static void run(void *context) {
    job *j = (job *)context;
    const tmap_u64 pairs = tmap_condensed_cells(j->n);
    if (j->engine) {
        CHECK(tmap_pairs_launch(&j->plan, &j->pairs, 0));
        return;
    }
    CHECK(cudaMemsetAsync(j->pairs.result, 0, 8, 0));
    if (j->work == COUNT)
        pairs_count_thread<<<132 * 32, 256>>>(j->n, pairs, j->pairs);
    else
        pairs_drmsd_thread<<<132 * 32, 256>>>(j->n, pairs, j->pairs);
    CHECK(cudaGetLastError());
}

// The result of a run: a count, or a sum.
static double result(job *j) {
    union {
        pairs_counts counts;
        pairs_terms terms;
        tmap_u64 count; // of a thread for each pair
        double sum;
    } r;
    run(j);
    CHECK(cudaMemcpy(&r, j->pairs.result, sizeof r, cudaMemcpyDeviceToHost));
    if (j->work == COUNT) return (double)(j->engine ? r.counts.sum + r.counts.part : r.count);
    return j->engine ? r.terms.sum + (double)r.terms.part : r.sum;
}

static void verify(const job *engine) {
    job a = *engine, b = *engine;
    double got, want;
    b.engine = 0;
    got = result(&a), want = result(&b);
    if (a.work == COUNT ? got == want : got > want * (1 - 1e-6) && got < want * (1 + 1e-6)) return;
    fprintf(stderr, "%s n=%u: WRONG, %.17g instead of %.17g\n", works[a.work].variant, a.n, got,
            want);
    exit(1);
}

// Points spread over the unit cube.
static __global__ void make_points(tmap_u64 coordinates, float *points) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < coordinates;
         i += stride) {
        tmap_u32 h = (tmap_u32)i * 2654435769u;
        h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
        points[i] = (float)(h >> 8) / 16777216.0f;
    }
}

static double instructions_each_ms(void) { // of the lanes of all multiprocessors
    int processors, khz;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    return 128.0 * processors * khz;
}

static void sweep(tmap_u32 n, double budget_ms, bench_results *results) {
    const void *kernels[WORKS] = {(const void *)pairs_count, (const void *)pairs_drmsd_sum};
    const double pairs = (double)tmap_condensed_cells(n), rate = instructions_each_ms();
    for (int work = 0; work < WORKS; ++work) {
        job j;
        tmap_u64 bytes;
        float *points;
        char row[512];
        j.n = n, j.work = work, j.pairs.minus_r2 = -0.01f;
        CHECK(tmap_pairs_plan_make(n, works[work].d, sizeof(float), kernels[work], &j.plan));
        bytes = tmap_pairs_fold_bytes(&j.plan, sizeof(pairs_terms));
        CHECK(cudaMalloc((void **)&points, (tmap_u64)n * works[work].d * sizeof *points));
        CHECK(cudaMalloc(&j.pairs.parts, bytes));
        CHECK(cudaMemset(j.pairs.parts, 0, 16));
        CHECK(cudaMalloc((void **)&j.pairs.result, sizeof(pairs_terms)));
        make_points<<<1024, 256>>>((tmap_u64)n * works[work].d, points);
        CHECK(cudaGetLastError());
        j.pairs.points = points, j.engine = 1;
        verify(&j);
        for (j.engine = 1; j.engine >= 0; --j.engine) {
            const bench_time t = bench_measure(run, &j, budget_ms);
            const double limit = pairs * works[work].instructions / rate;
            const char *variant = j.engine        ? works[work].variant
                                  : work == COUNT ? "thread_a_pair"
                                                  : "drmsd_thread_a_pair";
            printf("| %s | %u | %u | %.4f | %.3f | %.0f%% of the limit |\n", variant, n,
                   works[work].d, t.ms, 1e-9 * pairs / t.ms, 100 * limit / t.ms);
            snprintf(row, sizeof row,
                     "\"work\": \"pairs\", \"variant\": \"%s\", \"domain\": \"triangle\", "
                     "\"size\": %u, \"d\": %u, \"dtype\": \"f32\", \"ms\": %.5f, "
                     "\"noise_pct\": %.2f, \"tpairs\": %.4f, \"limit_ms\": %.5f, "
                     "\"limit_pct\": %.1f, \"verified\": true",
                     variant, n, works[work].d, t.ms, t.noise_pct, 1e-9 * pairs / t.ms, limit,
                     100 * limit / t.ms);
            bench_results_row(results, row);
        }
        CHECK(cudaFree(points));
        CHECK(cudaFree(j.pairs.parts));
        CHECK(cudaFree(j.pairs.result));
    }
}

int main(int argc, char **argv) {
    bench_numbers n = {{3000, 30720, 131072}, 3};
    const char *out = NULL;
    double budget_ms = 60;
    tmap_u64 bytes = 4ull << 30;
    bench_ceilings ceilings;
    bench_results results;
    int devices = 0;
    bench_program = "bench_pairs";
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            n = bench_numbers_of(option, p, 2, 1u << 24);
        else if (!strcmp(option, "--budget"))
            budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--bytes"))
            bytes = bench_number(option, p, 1 << 16, 1ull << 40);
        else if (!strcmp(option, "--out"))
            out = p;
        else
            bench_bad(option, p);
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    ceilings = bench_measure_ceilings((size_t)bytes);
    if (bench_results_open(&results, out, "pairs", ceilings)) bench_bad("--out", out);
    printf("| variant | n | d | ms | Tpair/s | |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < n.count; ++i) {
        bench_progress(i, n.count, "pairs");
        sweep(n.value[i], budget_ms, &results);
    }
    bench_progress(n.count, n.count, "");
    if (bench_results_close(&results)) bench_bad("--out", out);
    return 0;
}
