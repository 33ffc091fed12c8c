// SPDX-License-Identifier: MIT
// bench_triangle: the map of triangles beside all rival maps, alone and in the Euclidean distance
// matrix (EDM), over sizes and block sizes; then the distances of pdist.h against the fill limit of
// this GPU's memory; and by the map of tiles the lower triangle of a product of matrices, and the
// Cholesky factor of a matrix, all in one run.
//
// The experiments of Navarro and Hitschfeld (2013), figures 3 and 5. Every variant is verified,
// pair by pair, before it is timed. UTM as the paper prints it misses cells from 4097 rows on: its
// rows have their number, missed_cells, which two counts must agree on, and all the others must be
// right.
#include "cholesky_work.h"
#include "gram_work.h"
#include "triangle_works.h"

typedef struct sweep {
    bench_driver d;
    bench_numbers n, rho, coordinates, pdist, gram, cholesky;
    tmap_u64 memory;       // that an output may take
    check_result *check;   // on the device
    triangle_waste *waste; // on the device
    float *points, *arrays, *out;
    float4 *fours; // the points of EDM as published
} sweep;

// One thing to time. variant: of triangle_maps.h, or -1 for pdist.h.
typedef struct job {
    sweep *s;
    int variant, wide, layout;
    tmap_u32 n, rho, d; // d = 0: the dummy; of maps also a work of triangle_works.h
    int metric;
    void *workspace; // of tmap_pdist_f32_products, or null
} job;

// Where a work of bytes has its input: behind its output.
static unsigned char *job_bytes(const job *j) {
    return (unsigned char *)j->s->out + (tmap_u64)j->n * j->n;
}

static const char *const layout_names[] = {"?", "condensed", "square", "lower"};

static void job_run(void *context) {
    job *j = (job *)context;
    const tmap_pdist_points points = {j->s->points, j->n, j->d};
    if (j->variant >= 0)
        triangle_run(j->variant, j->d, j->n, j->rho, 1,
                     triangle_is_published(j->variant) ? (const float *)j->s->fours
                     : j->d == TRIANGLE_LIFE           ? (const float *)job_bytes(j)
                                                       : j->s->arrays,
                     j->s->out);
    else if (j->wide)
        CHECK(tmap_pdist_f64(points, j->metric, j->layout, (double *)j->s->out, 0));
    else
        CHECK(tmap_pdist_f32_products(points, j->metric, j->layout, j->workspace, j->s->out, 0));
}

// points, row by row, as d arrays, and as the first d members of n float4.
static __global__ void turn(const float *points, tmap_u32 n, tmap_u32 d, float *arrays,
                            float *fours) {
    tmap_u64 at = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (at >= (tmap_u64)n * d) return;
    arrays[at % d * n + at / d] = points[at];
    fours[4 * (at / d) + at % d] = points[at];
}

// Compares the distances of EDM as published, and that nothing is written behind them.
static __global__ void check_packed(int variant, const float *points, tmap_u64 n, tmap_u64 d,
                                    const float *out, check_result *result) {
    tmap_u64 wrong = 0, checked = 0;
    for (tmap_u64 i = blockIdx.x; i < n; i += gridDim.x)
        for (tmap_u64 j = threadIdx.x; j <= i; j += blockDim.x, ++checked) {
            // column j begins behind the n, n - 1, ... cells of those before it
            const tmap_u64 at = variant == TRIANGLE_PUBLISHED_UTM ? j * n - j * (j + 1) / 2 + i
                                                                  : i * (i + 1) / 2 + j;
            const double want = check_distance(points, 0, d, TMAP_PDIST_EUCLIDEAN, i, j);
            wrong += !check_right(CHECK_F32, d, TMAP_PDIST_EUCLIDEAN, out[at], want, 0);
        }
    if (blockIdx.x == 0 && threadIdx.x == 0) wrong += !check_is_poison(out, 0, n * (n + 1) / 2);
    if (wrong) atomicAdd(&result->wrong, wrong);
    atomicAdd(&result->checked, checked);
}

static void make_points(sweep *s, tmap_u32 n, tmap_u32 d, int wide) {
    check_points<<<256, 256>>>(n, d, wide, n + d, s->points);
    CHECK(cudaGetLastError());
    if (wide || d > 4 || !d) return;
    turn<<<(unsigned)(((tmap_u64)n * d + 255) / 256), 256>>>(s->points, n, d, s->arrays,
                                                             (float *)s->fours);
    CHECK(cudaGetLastError());
}

// Runs a job whose output is bytes once on poisoned memory and compares every place.
static void job_verify_bytes(bench_row *row, job j) {
    sweep *s = j.s;
    make_points(s, j.n, triangle_coordinates(j.d), 0);
    CHECK(cudaMemset(s->out, CHECK_POISON_BYTE, (tmap_u64)j.n * j.n));
    if (j.d == TRIANGLE_LIFE) triangle_life_begin<<<1024, 256>>>(j.n, job_bytes(&j));
    job_run(&j);
    triangle_check_bytes<<<1024, 256>>>(j.d, j.n, job_bytes(&j), s->points,
                                        (const unsigned char *)s->out, CHECK_POISON_BYTE,
                                        bench_counter());
    bench_verify(row, bench_count(), "places");
}

// Runs a job once on poisoned memory and compares every pair; the dummy and the map alone are
// verified as EDM-1D, whose map they have. Ends the run where one is wrong; returns how many are for UTM as printed beyond
// its range, else 0.
static tmap_u64 job_verify(bench_row *row, job j) {
    sweep *s = j.s;
    check_result result;
    tmap_u64 bytes;
    if (j.variant >= 0 && (j.d == TRIANGLE_LIFE || j.d == TRIANGLE_COLLIDE)) {
        job_verify_bytes(row, j);
        return 0;
    }
    if (j.d == 0 || (j.variant >= 0 && j.d == TRIANGLE_ZERO)) j.d = 1;
    const tmap_u32 d = j.variant >= 0 ? triangle_coordinates(j.d) : j.d;
    bytes = tmap_pdist_values(j.n, j.layout) << (2 + j.wide);
    if (triangle_is_published(j.variant)) bytes = 4 * tmap_triangle_cells(j.n) + 4;
    make_points(s, j.n, d, j.wide);
    CHECK(cudaMemset(s->out, CHECK_POISON_BYTE, bytes));
    CHECK(cudaMemset(s->check, 0, sizeof *s->check));
    job_run(&j);
    const unsigned rows = j.n < 65535 ? j.n : 65535;
    if (triangle_is_published(j.variant))
        check_packed<<<rows, 128>>>(j.variant, s->points, j.n, d, s->out, s->check);
    else
        check_pdist<<<dim3(rows, 4), 128>>>(s->points, j.wide, j.n, d, s->out, j.metric, j.layout,
                                            s->check);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&result, s->check, sizeof result, cudaMemcpyDeviceToHost));
    if (!result.checked || (result.wrong && (j.variant != TRIANGLE_UTM_PRINTED ||
                                             j.n < TMAP_TRIANGLE_UTM_PRINTED_MAX)))
        bench_wrong(row, "%llu of %llu pairs", result.wrong, result.checked);
    row->verified = 1;
    return result.wrong;
}

// The least time for the bytes that a layout has, in milliseconds.
static double limit_ms(const job *j) {
    double values = j->layout == TMAP_PAIRS_LOWER ? (double)tmap_triangle_cells(j->n)
                                                  : (double)tmap_pdist_values(j->n, j->layout);
    return 1e-9 * values * (j->wide ? 8 : 4) / j->s->d.ceilings.fill_tbs;
}

// ---- maps ---------------------------------------------------------------------------------------

// Runs the kernel that counts blocks instead; what it says must be what is known of the launch, and
// of the cells that no thread has. Which blocks UTM has no cell for, beyond its range, is not known.
static triangle_waste count_blocks(bench_row *row, job *j, triangle_blocks want, tmap_u64 missed) {
    triangle_waste got;
    CHECK(cudaMemset(j->s->waste, 0, sizeof got));
    triangle_run(j->variant, TRIANGLE_COUNT, j->n, j->rho, 1, NULL, (float *)j->s->waste);
    CHECK(cudaMemcpy(&got, j->s->waste, sizeof got, cudaMemcpyDeviceToHost));
    if (got.blocks != want.all || (got.wasted != want.wasted && !missed) ||
        got.blocks * j->rho * j->rho + missed != got.idle + tmap_triangle_cells(j->n))
        bench_wrong(row, "%llu blocks, %llu without a cell, %llu idle threads", got.blocks,
                    got.wasted, got.idle);
    return got;
}

// I = t_BB / t_map of equation 11; of one block's cost, tau = k beta, it is 2n / (k (n+1)) by the
// paper's model for n rows of blocks: at most 2n / (n+1), and measured, k says what the map costs.
// Verifies, times and records a map. bb_ms: of the bounding box, or 0: it has not been timed.
static void record_map(bench_row *row, job *j, double bb_ms) {
    sweep *s = j->s;
    const triangle_blocks blocks = triangle_run(j->variant, j->d, j->n, j->rho, 0, NULL, NULL);
    const double rows = tmap_triangle_tile_rows(j->n, j->rho), most = 2 * rows / (rows + 1);
    const double threads = (double)blocks.all * j->rho * j->rho;
    const tmap_u64 missed = job_verify(row, *j);
    const triangle_waste waste = count_blocks(row, j, blocks, missed);
    if (triangle_coordinates(j->d))
        row->limit_ms = limit_ms(j) / (j->d == TRIANGLE_COLLIDE ? 4 : 1);
    bench_time_row(row, job_run, j);
    bench_energy_row(&s->d, row, job_run, j);
    if (j->variant == TRIANGLE_REC_RECURSIVE)
        bench_verify(row, triangle_lost_count(), "launches were lost");
    bench_key(row, "threads", "%.0f", threads);
    bench_key(row, "useful", "%.4g", (double)(tmap_triangle_cells(j->n) - missed) / threads);
    bench_key(row, "blocks", "%llu", blocks.all);
    bench_key(row, "wasted_blocks", "%llu", waste.wasted);
    bench_key(row, "partial_blocks", "%llu", waste.partial);
    bench_key(row, "idle_threads", "%llu", waste.idle);
    bench_key(row, "launches", "%u", blocks.launches);
    bench_key(row, "i_model", "%.4f", most);
    if (triangle_map_of(j->variant) == TRIANGLE_BB) bb_ms = row->time.ms;
    if (bb_ms > 0) bench_key(row, "i", "%.4f", bb_ms / row->time.ms);
    if (bb_ms > 0) bench_key(row, "k", "%.4f", most * row->time.ms / bb_ms);
    if (j->variant == TRIANGLE_UTM_PRINTED) bench_key(row, "missed_cells", "%llu", missed);
    bench_row_end(&s->d, row);
}

// All maps, one size and number of coordinates, each rho.
static void sweep_maps(sweep *s, tmap_u32 n, tmap_u32 d) {
    for (int r = 0; r < s->rho.count; ++r) {
        job j = {s, 0, 0, TMAP_PAIRS_LOWER, n, s->rho.value[r], d, TMAP_PDIST_EUCLIDEAN, NULL};
        double bb_ms[2] = {0, 0}; // ours, and as published
        for (j.variant = 0; j.variant < TRIANGLE_VARIANT_COUNT; ++j.variant) {
            bench_row row = bench_row_begin(&s->d, triangle_work_name(d),
                                            triangle_variant_name(j.variant), "triangle");
            bench_key(&row, "size", "%u", n);
            bench_key(&row, "rho", "%u", j.rho);
            bench_key(&row, "d", "%u", triangle_coordinates(d));
            bench_key_text(&row, "dtype",
                           d == TRIANGLE_LIFE || d == TRIANGLE_COLLIDE ? "u8" : "f32");
            double *bb = &bb_ms[triangle_is_published(j.variant)];
            if (d >= TRIANGLE_ZERO && (j.rho != 16 || !triangle_more(j.variant, d))) continue;
            if (!triangle_has(j.variant, j.rho, d) || !triangle_in_range(j.variant, n, j.rho) ||
                !bench_wants(&s->d, &row))
                continue;
            record_map(&row, &j, *bb);
            if (triangle_map_of(j.variant) == TRIANGLE_BB) *bb = row.time.ms;
        }
    }
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
        const tmap_u64 need = tmap_pdist_values(n, j.layout) << (2 + j.wide);
        bench_row row = bench_row_begin(&s->d, "pdist", layout_names[j.layout], "triangle");
        bench_key_text(&row, "metric", tmap_pdist_metric_name(j.metric));
        bench_key(&row, "products", "%s", cases[c].products ? "true" : "false");
        bench_key(&row, "size", "%u", n);
        bench_key(&row, "d", "%u", j.d);
        bench_key_text(&row, "dtype", j.wide ? "f64" : "f32");
        if (j.d > PDIST_D && n > PDIST_N) continue; // to verify them takes too long
        if ((s->d.list && need > s->memory) || !bench_wants(&s->d, &row)) continue;
        if (need > s->memory) {
            bench_left_out(&row, "%.1f GB", 1e-9 * (double)need);
            continue;
        }
        if (cases[c].products && tmap_pdist_workspace(n, j.d))
            CHECK(cudaMalloc(&j.workspace, tmap_pdist_workspace(n, j.d)));
        job_verify(&row, j);
        row.budget_ms *= 4, row.limit_ms = limit_ms(&j);
        row.rate = "gpairs", row.unit = "Gpair/s";
        row.each = 1e-6 * (double)tmap_condensed_cells(n);
        bench_row_run(&s->d, &row, job_run, &j);
        CHECK(cudaFree(j.workspace));
    }
}

// Memory for the largest output that is asked for and fits.
static void sweep_begin(sweep *s) {
    tmap_u64 most = 0, most_n = 1; // bytes of an output, points
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (!s->memory) s->memory = (tmap_u64)free_bytes / 10 * 9;
    for (int i = 0; i < s->n.count; ++i) {
        const tmap_u64 need = (tmap_u64)s->n.value[i] * s->n.value[i] * 4;
        if (need > s->memory) bench_bad("--n: no memory for", "a matrix of that size");
        if (need > most) most = need;
        if (s->n.value[i] > most_n) most_n = s->n.value[i];
    }
    for (int i = 0; i < s->pdist.count; ++i) {
        if (s->pdist.value[i] > most_n) most_n = s->pdist.value[i];
        for (int layout = TMAP_PAIRS_CONDENSED; layout <= TMAP_PAIRS_LOWER; ++layout) {
            const tmap_u64 need = tmap_pdist_values(s->pdist.value[i], layout) * 8;
            if (need / 2 <= s->memory && need / 2 > most) most = need / 2;
            if (need <= s->memory && layout == TMAP_PAIRS_CONDENSED && need > most) most = need;
        }
    }
    for (int i = 0; i < s->gram.count + s->cholesky.count; ++i) {
        tmap_u32 *n = i < s->gram.count ? &s->gram.value[i] : &s->cholesky.value[i - s->gram.count];
        *n = tmap_triangle_tile_rows(*n, GRAM_SIDE) * GRAM_SIDE; // whole tiles
        const tmap_u64 need = (tmap_u64)*n * *n * 4;
        if (need > s->memory) bench_bad("--gram, --cholesky: no memory for", "such a matrix");
        if (need > most) most = need;
    }
    s->out = (float *)kit_device(most + 64);
    s->points = (float *)kit_device(most_n * 64 * sizeof(double) + PDIST_N * 300 * sizeof(float));
    s->arrays = (float *)kit_device(most_n * 4 * sizeof(float));
    s->fours = (float4 *)kit_device(most_n * sizeof(float4));
    s->check = (check_result *)kit_device(sizeof *s->check);
    s->waste = (triangle_waste *)kit_device(sizeof *s->waste);
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--n", "rows of the triangles of the maps", "1024,2048,4096,8192,16384,30720,49152,65536",
         "1024,4096,30720", BENCH_LIST, &s.n, 1, TMAP_TRIANGLE_ROWS_MAX32},
        {"--rho", "sides of their blocks", "8,16,32", "16", BENCH_LIST, &s.rho, 1, 32},
        {"--d", "coordinates of the distances that the maps serve; 0: the dummy kernel",
         "0,1,2,3,4", "0,1,4", BENCH_LIST, &s.coordinates, 0, 4},
        {"--pdist", "points of the distances of pdist.h", "1024,4096,16384,30720,65537,131072",
         "1024,16384", BENCH_LIST, &s.pdist, 2, 1u << 22},
        {"--gram", "rows of X in X X^T, rounded up to 64", "2048,8192,16384", "8192", BENCH_LIST,
         &s.gram, 1, 65536},
        {"--cholesky", "rows of the matrix that is factored, rounded up to 64", "2048,8192,16384",
         "2048", BENCH_LIST, &s.cholesky, 1, 65536},
        {"--memory", "bytes that an output may take, or 0: 9/10 of what is free", "0", 0,
         BENCH_NUMBER, &s.memory, 0, 1ull << 40}};
    s.d.name = "triangle", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "20", s.d.quick_budget = "10";
    bench_begin(&s.d, argc, argv);
    sweep_begin(&s);
    for (int d = 0; d < s.coordinates.count; ++d)
        for (int i = 0; i < s.n.count; ++i) sweep_maps(&s, s.n.value[i], s.coordinates.value[d]);
    for (tmap_u32 d = TRIANGLE_ZERO; d < TRIANGLE_WORKS; ++d)
        for (int i = 0; i < s.n.count; ++i) sweep_maps(&s, s.n.value[i], d);
    for (int i = 0; i < s.pdist.count; ++i) sweep_pdist(&s, s.pdist.value[i]);
    for (int i = 0; i < s.gram.count; ++i) gram_sweep(&s.d, s.gram.value[i], s.out);
    for (int i = 0; i < s.cholesky.count; ++i) cholesky_sweep(&s.d, s.cholesky.value[i], s.out);
    return bench_end(&s.d);
}
