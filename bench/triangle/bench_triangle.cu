// SPDX-License-Identifier: MIT
// bench_triangle: the map of triangles beside all rival maps, alone and in the Euclidean distance
// matrix (EDM), over sizes and block sizes; then the distances of pdist.h against the fill limit of
// this GPU's memory, all in one run.
//
// The experiments of Navarro and Hitschfeld (2013), figures 3 and 5. Every variant is verified,
// pair by pair, before it is timed; one that is wrong ends the run with status 1. UTM as the paper
// prints it misses cells from 4097 rows on: its rows have their number, missed_cells, which two
// counts must agree on, and all the others must be right.
//
// bench_triangle --help lists the options.
#include "../options.h"
#include "../results.h"
#include "triangle_maps.h"

#include "../../tests/triangle/pdist_check.h"

static const char usage[] =
    "usage: bench_triangle [--n N,N,...] [--rho N,N,...] [--d D,D,...] [--pdist N,N,...]\n"
    "                      [--budget MS] [--bytes N] [--quick] [--out FILE]\n"
    "  --n       rows of the triangles of the maps; --rho: sides of their blocks, up to 32\n"
    "  --d       coordinates of the distances that the maps serve, 1 to 4; 0: the dummy kernel\n"
    "  --pdist   points of the distances of pdist.h\n"
    "  --budget  for a time, in milliseconds (20)\n"
    "  --bytes   of memory at most (9/10 of what is free)\n"
    "  --quick   --n 1024,4096,30720 --rho 16 --d 0,1,4 --pdist 1024,16384 --budget 10, where "
    "these\n"
    "            are not given\n"
    "  --out     the results, as JSON\n";

typedef struct options {
    const char *out;
    bench_numbers n, rho, d, pdist;
    double budget_ms;
    tmap_u64 bytes;
} options;

typedef struct sweep {
    options o;
    bench_ceilings ceilings;
    bench_results results;
    check_result *check;   // on the device
    triangle_waste *waste; // on the device
    float *points, *arrays, *out;
    int done, all;
} sweep;

// One thing to time. variant: of triangle_maps.h, or -1 for pdist.h.
typedef struct job {
    sweep *s;
    int variant, wide, layout;
    tmap_u32 n, rho, d; // d = 0: the dummy
    int metric;
    void *workspace; // of tmap_pdist_f32_products, or null
} job;

static const char *const layout_names[] = {"?", "condensed", "square", "lower"};

static void job_run(void *context) {
    job *j = (job *)context;
    const tmap_pdist_points points = {j->s->points, j->n, j->d};
    if (j->variant >= 0)
        triangle_launch(j->variant, (int)j->d, j->n, j->rho, 1, j->s->arrays, j->s->out);
    else if (j->wide)
        CHECK(tmap_pdist_f64(points, j->metric, j->layout, (double *)j->s->out, 0));
    else
        CHECK(tmap_pdist_f32_products(points, j->metric, j->layout, j->workspace, j->s->out, 0));
}

// points, row by row, as d arrays.
static __global__ void turn(const float *points, tmap_u32 n, tmap_u32 d, float *arrays) {
    tmap_u64 at = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (at < (tmap_u64)n * d) arrays[at % d * n + at / d] = points[at];
}

static void make_points(sweep *s, tmap_u32 n, tmap_u32 d, int wide) {
    check_points<<<256, 256>>>(n, d, wide, n + d, s->points);
    CHECK(cudaGetLastError());
    if (wide || d > 4) return;
    turn<<<(unsigned)(((tmap_u64)n * d + 255) / 256), 256>>>(s->points, n, d, s->arrays);
    CHECK(cudaGetLastError());
}

// Runs a job once on poisoned memory and compares every pair; the dummy is verified as EDM-1D,
// whose map it has. Ends the run where one is wrong; returns how many are for UTM as printed beyond
// its range, else 0.
static tmap_u64 job_verify(job j) {
    sweep *s = j.s;
    check_result result;
    tmap_u64 bytes;
    if (j.d == 0) j.d = 1;
    bytes = tmap_pdist_values(j.n, j.layout) << (2 + j.wide);
    make_points(s, j.n, j.d, j.wide);
    CHECK(cudaMemset(s->out, CHECK_POISON_BYTE, bytes));
    CHECK(cudaMemset(s->check, 0, sizeof *s->check));
    job_run(&j);
    check_pdist<<<dim3(j.n < 65535 ? j.n : 65535, 4), 128>>>(s->points, j.wide, j.n, j.d, s->out,
                                                             j.metric, j.layout, s->check);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&result, s->check, sizeof result, cudaMemcpyDeviceToHost));
    if (result.checked > 0 && (result.wrong == 0 || (j.variant == TRIANGLE_UTM_PRINTED &&
                                                     j.n >= TMAP_TRIANGLE_UTM_PRINTED_MAX)))
        return result.wrong;
    fprintf(stderr, "%s n=%u rho=%u d=%u: WRONG, %llu of %llu\n",
            j.variant < 0 ? layout_names[j.layout] : triangle_variant_name(j.variant), j.n, j.rho,
            j.d, result.wrong, result.checked);
    exit(1);
}

// The least time for the bytes that a layout has, in milliseconds.
static double limit_ms(const job *j) {
    double values = j->layout == TMAP_PAIRS_LOWER ? (double)tmap_triangle_cells(j->n)
                                                  : (double)tmap_pdist_values(j->n, j->layout);
    return 1e-9 * values * (j->wide ? 8 : 4) / j->s->ceilings.fill_tbs;
}

// ---- maps ---------------------------------------------------------------------------------------

// Runs the kernel that counts blocks instead; what it says must be what is known of the launch, and
// of the cells that no thread has. Which blocks UTM has no cell for, beyond its range, is not known.
static triangle_waste count_blocks(job *j, triangle_blocks want, tmap_u64 missed) {
    triangle_waste got;
    CHECK(cudaMemset(j->s->waste, 0, sizeof got));
    triangle_launch(j->variant, TRIANGLE_COUNT, j->n, j->rho, 1, NULL, (float *)j->s->waste);
    CHECK(cudaMemcpy(&got, j->s->waste, sizeof got, cudaMemcpyDeviceToHost));
    if (got.blocks == want.all && (got.wasted == want.wasted || missed) &&
        got.blocks * j->rho * j->rho + missed == got.idle + tmap_triangle_cells(j->n))
        return got;
    fprintf(stderr, "%s n=%u rho=%u: WRONG, %llu blocks, %llu without a cell, %llu idle threads\n",
            triangle_variant_name(j->variant), j->n, j->rho, got.blocks, got.wasted, got.idle);
    exit(1);
}

// I = t_BB / t_map of equation 11; of one block's cost, tau = k beta, it is 2n / (k (n+1)) by the
// paper's model for n rows of blocks: at most 2n / (n+1), and measured, k says what the map costs.
static double record_map(job *j, double bb_ms) {
    char row[768];
    sweep *s = j->s;
    bench_time t;
    triangle_blocks blocks = triangle_launch(j->variant, (int)j->d, j->n, j->rho, 0, NULL, NULL);
    double rows = tmap_triangle_tile_rows(j->n, j->rho), most = 2 * rows / (rows + 1), gain;
    double threads = (double)blocks.all * j->rho * j->rho;
    const tmap_u64 missed = job_verify(*j);
    triangle_waste waste = count_blocks(j, blocks, missed);
    int length;
    t = bench_measure(job_run, j, s->o.budget_ms);
    if (j->variant == TRIANGLE_REC_RECURSIVE && triangle_lost_count()) {
        fprintf(stderr, "%s n=%u: WRONG, %llu launches lost\n", triangle_variant_name(j->variant),
                j->n, triangle_lost_count());
        exit(1);
    }
    gain = j->variant == TRIANGLE_BB ? 1 : bb_ms / t.ms;
    length = snprintf(
        row, sizeof row,
        "\"work\": \"%s\", \"variant\": \"%s\", \"domain\": \"triangle\", \"size\": %u, "
        "\"rho\": %u, \"d\": %u, \"dtype\": \"f32\", \"ms\": %.5f, \"noise_pct\": %.2f, "
        "\"threads\": %.0f, \"useful\": %.4g, \"blocks\": %llu, \"wasted_blocks\": %llu, "
        "\"partial_blocks\": %llu, \"idle_threads\": %llu, \"launches\": %u, \"i\": %.4f, "
        "\"i_model\": %.4f, \"k\": %.4f, \"verified\": true",
        j->d ? "edm" : "dummy", triangle_variant_name(j->variant), j->n, j->rho, j->d, t.ms,
        t.noise_pct, threads, (double)(tmap_triangle_cells(j->n) - missed) / threads, blocks.all,
        waste.wasted, waste.partial, waste.idle, blocks.launches, gain, most, most / gain);
    if (j->variant == TRIANGLE_UTM_PRINTED)
        length +=
            snprintf(row + length, sizeof row - (size_t)length, ", \"missed_cells\": %llu", missed);
    if (j->d)
        snprintf(row + length, sizeof row - (size_t)length,
                 ", \"limit_ms\": %.5f, \"limit_pct\": %.1f", limit_ms(j),
                 100 * limit_ms(j) / t.ms);
    bench_results_row(&s->results, row);
    return t.ms;
}

// All maps, one size and number of coordinates, each rho; a row of the table for each rho.
static void sweep_maps(sweep *s, tmap_u32 n, tmap_u32 d) {
    double best_bb = 0, best = 0;
    for (int r = 0; r < s->o.rho.count; ++r) {
        job j = {s, 0, 0, TMAP_PAIRS_LOWER, n, s->o.rho.value[r], d, TMAP_PDIST_EUCLIDEAN, NULL};
        double bb_ms = 0, rows = tmap_triangle_tile_rows(n, j.rho);
        printf("| %s | %u | %u |", d ? "edm" : "dummy", n, j.rho);
        for (j.variant = 0; j.variant < TRIANGLE_VARIANT_COUNT; ++j.variant) {
            bench_progress(s->done++, s->all, triangle_variant_name(j.variant));
            if (!triangle_has_rho(j.variant, j.rho)) {
                printf(" - |");
                continue;
            }
            if (!triangle_in_range(j.variant, n, j.rho)) {
                printf(" inexact |");
                continue;
            }
            double ms = record_map(&j, bb_ms);
            if (j.variant == TRIANGLE_BB) {
                bb_ms = ms;
                if (best_bb == 0 || ms < best_bb) best_bb = ms;
                printf(" %.4f ms |", ms);
            } else {
                const int map = j.variant != TRIANGLE_BB_BY_THREADS && // another BB
                                j.variant != TRIANGLE_UTM_PRINTED;     // may miss cells
                if (map && (best == 0 || ms < best)) best = ms;
                printf(" %.3f |", bb_ms / ms);
            }
        }
        printf(" %u | %.3f |\n", d, 2 * rows / (rows + 1));
        fflush(stdout);
    }
    printf("| %s | %u | best | %.4f ms | %.3f | d = %u |\n", d ? "edm" : "dummy", n, best_bb,
           best_bb / best, d);
    fflush(stdout);
}

// ---- pdist --------------------------------------------------------------------------------------

// Cases; those of more than PDIST_D coordinates, 300 at most, are for up to PDIST_N points.
enum { PDIST_CASES = 14, PDIST_D = 64, PDIST_N = 40000 };

static void sweep_pdist(sweep *s, tmap_u32 n) {
    const struct {
        tmap_u32 d;
        int wide, layout, metric, products;
    } cases[PDIST_CASES] = {{1, 0, TMAP_PAIRS_LOWER, TMAP_PDIST_EUCLIDEAN, 0},
                            {2, 0, TMAP_PAIRS_LOWER, TMAP_PDIST_EUCLIDEAN, 0},
                            {3, 0, TMAP_PAIRS_LOWER, TMAP_PDIST_EUCLIDEAN, 0},
                            {4, 0, TMAP_PAIRS_LOWER, TMAP_PDIST_EUCLIDEAN, 0},
                            {3, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_EUCLIDEAN, 0},
                            {16, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_EUCLIDEAN, 0},
                            {16, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_CITYBLOCK, 0},
                            {16, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_COSINE, 0},
                            {64, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_EUCLIDEAN, 0},
                            {64, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_EUCLIDEAN, 1},
                            {64, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_COSINE, 1},
                            {300, 0, TMAP_PAIRS_CONDENSED, TMAP_PDIST_EUCLIDEAN, 1},
                            {3, 1, TMAP_PAIRS_CONDENSED, TMAP_PDIST_EUCLIDEAN, 0},
                            {3, 0, TMAP_PAIRS_SQUARE, TMAP_PDIST_EUCLIDEAN, 0}};
    for (int c = 0; c < PDIST_CASES; ++c) {
        job j = {s, -1, cases[c].wide, cases[c].layout, n, 0, cases[c].d, cases[c].metric, NULL};
        tmap_u64 need = tmap_pdist_values(n, j.layout) << (2 + j.wide);
        const char *metric = tmap_pdist_metric_name(j.metric);
        char row[512];
        double limit = limit_ms(&j);
        bench_time t;
        bench_progress(s->done++, s->all, layout_names[j.layout]);
        if (j.d > PDIST_D && n > PDIST_N) continue; // to verify them takes too long
        if (need > s->o.bytes) {
            printf("| pdist | %s | %u | %u | %s | %.1f GB: left out |\n", layout_names[j.layout], n,
                   j.d, j.wide ? "f64" : "f32", 1e-9 * (double)need);
            continue;
        }
        if (cases[c].products && tmap_pdist_workspace(n, j.d))
            CHECK(cudaMalloc(&j.workspace, tmap_pdist_workspace(n, j.d)));
        job_verify(j);
        t = bench_measure(job_run, &j, s->o.budget_ms * 4);
        CHECK(cudaFree(j.workspace));
        snprintf(row, sizeof row,
                 "\"work\": \"pdist\", \"variant\": \"%s\", \"domain\": \"triangle\", "
                 "\"metric\": \"%s\", \"products\": %s, "
                 "\"size\": %u, \"d\": %u, \"dtype\": \"%s\", \"ms\": %.5f, \"noise_pct\": %.2f, "
                 "\"limit_ms\": %.5f, \"limit_pct\": %.1f, \"gpairs\": %.2f, \"verified\": true",
                 layout_names[j.layout], metric, cases[c].products ? "true" : "false", n, j.d,
                 j.wide ? "f64" : "f32", t.ms, t.noise_pct, limit, 100 * limit / t.ms,
                 1e-6 * (double)tmap_condensed_cells(n) / t.ms);
        bench_results_row(&s->results, row);
        printf("| %s%s | %s | %u | %u | %s | %.4f | %.4f | %.1f%% |\n", metric,
               cases[c].products ? ", products" : "", layout_names[j.layout], n, j.d,
               j.wide ? "f64" : "f32", t.ms, limit, 100 * limit / t.ms);
        fflush(stdout);
    }
}

// ---- the command line ---------------------------------------------------------------------------

static void parse(options *o, int argc, char **argv) {
    if (bench_quick(&argc, argv, usage)) {
        const bench_numbers n = {{1024, 4096, 30720}, 3}, rho = {{16}, 1}, d = {{0, 1, 4}, 3};
        const bench_numbers pdist = {{1024, 16384}, 2};
        o->n = n, o->rho = rho, o->d = d, o->pdist = pdist, o->budget_ms = 10;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            o->n = bench_numbers_of(option, p, 1, TMAP_TRIANGLE_ROWS_MAX32);
        else if (!strcmp(option, "--rho"))
            o->rho = bench_numbers_of(option, p, 1, 32);
        else if (!strcmp(option, "--d"))
            o->d = bench_numbers_of(option, p, 0, 4);
        else if (!strcmp(option, "--pdist"))
            o->pdist = bench_numbers_of(option, p, 2, 1u << 22);
        else if (!strcmp(option, "--out"))
            o->out = p;
        else if (!strcmp(option, "--budget"))
            o->budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--bytes"))
            o->bytes = bench_number(option, p, 1 << 16, 1ull << 40);
        else
            bench_bad(option, p);
    }
}

int main(int argc, char **argv) {
    sweep s = {};
    options o = {NULL,
                 {{1024, 2048, 4096, 8192, 16384, 30720, 49152, 65536}, 8},
                 {{8, 16, 32}, 3},
                 {{0, 1, 2, 3, 4}, 5},
                 {{1024, 4096, 16384, 30720, 65537, 131072}, 6},
                 20,
                 0};
    int devices = 0;
    size_t free_bytes, total;
    tmap_u64 most = 0, most_n = 1; // bytes of an output, points
    bench_program = "bench_triangle";
    parse(&o, argc, argv);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    s.o = o;
    s.all =
        o.n.count * o.d.count * o.rho.count * TRIANGLE_VARIANT_COUNT + o.pdist.count * PDIST_CASES;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    s.ceilings =
        bench_measure_ceilings((size_t)(o.bytes && o.bytes < 4ull << 30 ? o.bytes : 4ull << 30));
    if (!s.o.bytes) s.o.bytes = (tmap_u64)free_bytes / 10 * 9;
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s\n\n", s.ceilings.copy_tbs,
           s.ceilings.fill_tbs, s.ceilings.read_tbs);
    if (bench_results_open(&s.results, o.out, "triangle", s.ceilings)) bench_bad("--out", o.out);
    // The largest output that is asked for and fits.
    for (int i = 0; i < o.n.count; ++i) {
        tmap_u64 need = (tmap_u64)o.n.value[i] * o.n.value[i] * 4;
        if (need > s.o.bytes) bench_bad("--n: no memory for", "a matrix of that size");
        if (need > most) most = need;
        if (o.n.value[i] > most_n) most_n = o.n.value[i];
    }
    for (int i = 0; i < o.pdist.count; ++i) {
        if (o.pdist.value[i] > most_n) most_n = o.pdist.value[i];
        for (int layout = TMAP_PAIRS_CONDENSED; layout <= TMAP_PAIRS_LOWER; ++layout) {
            tmap_u64 need = tmap_pdist_values(o.pdist.value[i], layout) * 8;
            if (need / 2 <= s.o.bytes && need / 2 > most) most = need / 2;
            if (need <= s.o.bytes && layout == TMAP_PAIRS_CONDENSED && need > most) most = need;
        }
    }
    CHECK(cudaMalloc((void **)&s.out, most + 64));
    CHECK(cudaMalloc((void **)&s.points,
                     most_n * 64 * sizeof(double) + PDIST_N * 300 * sizeof(float)));
    CHECK(cudaMalloc((void **)&s.arrays, most_n * 4 * sizeof(float)));
    CHECK(cudaMalloc((void **)&s.check, sizeof *s.check));
    CHECK(cudaMalloc((void **)&s.waste, sizeof *s.waste));
    if (o.n.count && o.d.count) {
        printf("| work | n | rho |");
        for (int v = 0; v < TRIANGLE_VARIANT_COUNT; ++v) printf(" %s |", triangle_variant_name(v));
        printf(" d | I at most |\n| --- | --- | --- |");
        for (int v = 0; v < TRIANGLE_VARIANT_COUNT; ++v) printf(" --- |");
        printf(" --- | --- |\n");
    }
    for (int d = 0; d < o.d.count; ++d)
        for (int i = 0; i < o.n.count; ++i) sweep_maps(&s, o.n.value[i], o.d.value[d]);
    if (o.pdist.count)
        printf("\n| pdist | layout | n | d | dtype | ms | limit ms | of the limit |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < o.pdist.count; ++i) sweep_pdist(&s, o.pdist.value[i]);
    bench_progress(s.all, s.all, "");
    CHECK(cudaFree(s.out));
    CHECK(cudaFree(s.points));
    CHECK(cudaFree(s.arrays));
    CHECK(cudaFree(s.check));
    CHECK(cudaFree(s.waste));
    triangle_kept_free();
    if (bench_results_close(&s.results)) bench_bad("--out", o.out);
    return 0;
}
