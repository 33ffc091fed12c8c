// SPDX-License-Identifier: MIT
// bench_simplex: the map of the 3-simplex, triples k <= j <= i < n, beside a bounding box and the
// map as published, alone (dummy3) and with a write to each cell (write3), over sizes and tiles.
//
//     bb                    a block for each tile of the cube, which leaves without a cell in it
//     simplex_blocks        a block for each tile of the simplex, by tmap_simplex_map
//     simplex_threads       a thread for each triple, by tmap_simplex_map
//     simplex_published     simplex_blocks by the published roots, in single precision
//     simplex_published_f64 the same in double precision
//
// A tile has rho^3 places; a block has a thread for each, which tests whether it is a cell. Cells
// are written to a cube of n^3 integers: a packed array has a cell's number as its address, which
// only simplex_threads has at once. Verified before it is timed: every cell of the cube has its
// value and every other place is untouched, and no cell is written twice.
//
// bench_simplex --help lists the options.
#include "../options.h"
#include "../results.h"

#include <threadmap/papers/simplex_published.h>

static const char usage[] =
    "usage: bench_simplex [--n N,N,...] [--rho N,N,...] [--budget MS] [--bytes N] [--quick]\n"
    "                     [--out FILE]\n"
    "  --n       layers of the simplex (64 to 1536)\n"
    "  --rho     sides of the tiles, up to 10 (4,8)\n"
    "  --budget  for a time, in milliseconds (40)\n"
    "  --bytes   memory for the bandwidths\n"
    "  --quick   --n 64,256,1024 --budget 10, where these are not given\n"
    "  --out     the results, as JSON\n";

// ---- the kernels --------------------------------------------------------------------------------

enum { BB, BLOCKS, THREADS, PUBLISHED, PUBLISHED_F64, VARIANTS };
static const char *const variant_names[] = {"bb", "simplex_blocks", "simplex_threads",
                                            "simplex_published", "simplex_published_f64"};
enum { SIMPLEX_BLOCK = 256, POISON_BYTE = 0x5a }; // threads of a block of simplex_threads

// The value of a cell, which no other cell of its row, column or layer has.
TMAP_FN tmap_u32 simplex_value(tmap_triple t) {
    return t.i * 0x9e3779b1u + t.j * 0x85ebca6bu + t.k * 0xc2b2ae35u;
}

// The triple of the calling thread; 0: it has none. variant: a constant.
TMAP_DEVICE int simplex_cell(int variant, tmap_u32 n, tmap_triple *cell) {
    tmap_triple tile = {blockIdx.z, blockIdx.y, blockIdx.x};
    if (variant == THREADS) {
        const tmap_u32 lambda = blockIdx.x * blockDim.x + threadIdx.x;
        *cell = tmap_simplex_map(lambda);
        return cell->i < n;
    }
    if (variant == BB && (tile.j > tile.i || tile.k > tile.j)) return 0;
    if (variant == BLOCKS) tile = tmap_simplex_map(blockIdx.x);
    if (variant == PUBLISHED) tile = tmap_simplex_published_f32(blockIdx.x);
    if (variant == PUBLISHED_F64) tile = tmap_simplex_published_f64(blockIdx.x);
    cell->i = tile.i * blockDim.z + threadIdx.z;
    cell->j = tile.j * blockDim.y + threadIdx.y;
    cell->k = tile.k * blockDim.x + threadIdx.x;
    return cell->i < n && cell->j <= cell->i && cell->k <= cell->j;
}

// dummy writes a sum to one place, which keeps the map from being optimized away; add makes cells
// that are written twice show.
#define SIMPLEX_KERNELS(name, variant) \
    static __global__ void __launch_bounds__(1024) dummy_##name(tmap_u32 n, tmap_u32 *out) { \
        tmap_triple t; \
        if (simplex_cell(variant, n, &t)) *out = t.i + t.j + t.k; \
    } \
    static __global__ void __launch_bounds__(1024) write_##name(tmap_u32 n, tmap_u32 *out) { \
        tmap_triple t; \
        if (simplex_cell(variant, n, &t)) \
            out[((tmap_u64)t.i * n + t.j) * n + t.k] = simplex_value(t); \
    } \
    static __global__ void __launch_bounds__(1024) add_##name(tmap_u32 n, tmap_u32 *out) { \
        tmap_triple t; \
        if (simplex_cell(variant, n, &t)) \
            atomicAdd(&out[((tmap_u64)t.i * n + t.j) * n + t.k], simplex_value(t)); \
    }
SIMPLEX_KERNELS(bb, BB)
SIMPLEX_KERNELS(blocks, BLOCKS)
SIMPLEX_KERNELS(threads, THREADS)
SIMPLEX_KERNELS(published, PUBLISHED)
SIMPLEX_KERNELS(published_f64, PUBLISHED_F64)

enum { DUMMY, WRITE, ADD };
typedef void (*simplex_kernel)(tmap_u32, tmap_u32 *);
static const simplex_kernel kernels[VARIANTS][3] = {
    {dummy_bb, write_bb, add_bb},
    {dummy_blocks, write_blocks, add_blocks},
    {dummy_threads, write_threads, add_threads},
    {dummy_published, write_published, add_published},
    {dummy_published_f64, write_published_f64, add_published_f64}};

// Counts places of the cube that are not right. empty: of a place that is no cell.
static __global__ void simplex_check(tmap_u32 n, const tmap_u32 *out, tmap_u32 empty,
                                     tmap_u64 *wrong) {
    const tmap_u64 places = (tmap_u64)n * n * n;
    tmap_u64 bad = 0;
    for (tmap_u64 at = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; at < places;
         at += (tmap_u64)gridDim.x * blockDim.x) {
        const tmap_u64 row = at / n;
        const tmap_triple t = {(tmap_u32)(row / n), (tmap_u32)(row % n), (tmap_u32)(at - row * n)};
        bad += out[at] != (t.j <= t.i && t.k <= t.j ? simplex_value(t) : empty);
    }
    if (bad) atomicAdd(wrong, bad);
}

// ---- a job --------------------------------------------------------------------------------------

typedef struct sweep {
    bench_numbers n, rho;
    double budget_ms;
    bench_ceilings ceilings;
    bench_results results;
    tmap_u32 *out;
    tmap_u64 *wrong;
    int done, all;
} sweep;

typedef struct job {
    sweep *s;
    int variant, work;
    tmap_u32 n, rho;
    tmap_u64 threads; // of the launch
} job;

static void job_run(void *context) {
    job *j = (job *)context;
    const tmap_u32 tiles = (j->n + j->rho - 1) / j->rho;
    dim3 grid((unsigned)tmap_simplex_cells(tiles)), block(j->rho, j->rho, j->rho);
    if (j->variant == BB) grid = dim3(tiles, tiles, tiles);
    if (j->variant == THREADS) {
        block = dim3(SIMPLEX_BLOCK);
        grid.x = (unsigned)((tmap_simplex_cells(j->n) + SIMPLEX_BLOCK - 1) / SIMPLEX_BLOCK);
    }
    j->threads = (tmap_u64)grid.x * grid.y * grid.z * block.x * block.y * block.z;
    kernels[j->variant][j->work]<<<grid, block>>>(j->n, j->s->out);
    CHECK(cudaGetLastError());
}

// Places that a kernel leaves wrong in a cube whose bytes were all `byte`.
static tmap_u64 job_wrong(job j, int work, int byte) {
    const tmap_u32 empty = (tmap_u32)byte * 0x01010101u;
    tmap_u64 wrong;
    j.work = work;
    CHECK(cudaMemset(j.s->out, byte, (size_t)j.n * j.n * j.n * sizeof *j.s->out));
    CHECK(cudaMemset(j.s->wrong, 0, sizeof wrong));
    job_run(&j);
    simplex_check<<<1024, 256>>>(j.n, j.s->out, empty, j.s->wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&wrong, j.s->wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    return wrong;
}

// Verifies a variant. A wrong one ends the run, unless it is the published map, whose roots are
// exact in a range only: returns 0 for it.
static int job_verify(const job *j) {
    const tmap_u64 wrong = job_wrong(*j, WRITE, POISON_BYTE) + job_wrong(*j, ADD, 0);
    if (wrong && j->variant < PUBLISHED) {
        fprintf(stderr, "%s n=%u rho=%u: WRONG, %llu places\n", variant_names[j->variant], j->n,
                j->rho, wrong);
        exit(1);
    }
    return !wrong;
}

static void job_row(const job *j, bench_time t, double bb_ms) {
    char row[512];
    const double cells = (double)tmap_simplex_cells(j->n);
    int length =
        snprintf(row, sizeof row,
                 "\"work\": \"%s\", \"variant\": \"%s\", \"domain\": \"simplex\", "
                 "\"size\": %u, \"rho\": %u, \"dtype\": \"i32\", \"ms\": %.5f, "
                 "\"noise_pct\": %.2f, \"threads\": %llu, \"useful\": %.4g, \"i\": %.4f, "
                 "\"verified\": true",
                 j->work == WRITE ? "write3" : "dummy3", variant_names[j->variant], j->n, j->rho,
                 t.ms, t.noise_pct, j->threads, cells / (double)j->threads, bb_ms / t.ms);
    const double limit = 1e-9 * 4 * cells / j->s->ceilings.fill_tbs;
    if (j->work == WRITE)
        snprintf(row + length, sizeof row - (size_t)length,
                 ", \"limit_ms\": %.5f, \"limit_pct\": %.1f", limit, 100 * limit / t.ms);
    bench_results_row(&j->s->results, row);
}

// All variants at a size and side of a tile; a row of the table for each work.
static void sweep_one(sweep *s, tmap_u32 n, tmap_u32 rho) {
    int right[VARIANTS];
    job j = {s, 0, WRITE, n, rho, 0};
    for (j.variant = 0; j.variant < VARIANTS; ++j.variant) right[j.variant] = job_verify(&j);
    for (j.work = DUMMY; j.work <= WRITE; ++j.work) {
        double bb_ms = 0;
        printf("| %s | %u | %u |", j.work == WRITE ? "write3" : "dummy3", n, rho);
        for (j.variant = 0; j.variant < VARIANTS; ++j.variant) {
            bench_time t;
            bench_progress(s->done++, s->all, variant_names[j.variant]);
            if (!right[j.variant]) {
                printf(" inexact |");
                continue;
            }
            t = bench_measure(job_run, &j, s->budget_ms);
            if (j.variant == BB) bb_ms = t.ms;
            job_row(&j, t, bb_ms);
            if (j.variant == BB)
                printf(" %.4f ms |", t.ms);
            else
                printf(" %.3f |", bb_ms / t.ms);
        }
        printf("\n");
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_numbers sizes = {{64, 128, 256, 512, 1024, 1536}, 6}, few = {{64, 256, 1024}, 3};
    const bench_numbers sides = {{4, 8}, 2};
    const char *out = NULL;
    tmap_u64 bytes = 1ull << 30, most = 0;
    const int quick = bench_quick(&argc, argv, usage);
    int devices = 0;
    bench_program = "bench_simplex";
    s.n = quick ? few : sizes, s.rho = sides, s.budget_ms = quick ? 10 : 40;
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            s.n = bench_numbers_of(option, p, 1, 2048);
        else if (!strcmp(option, "--rho"))
            s.rho = bench_numbers_of(option, p, 1, 10);
        else if (!strcmp(option, "--budget"))
            s.budget_ms = (double)bench_number(option, p, 1, 100000);
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
    s.ceilings = bench_measure_ceilings((size_t)bytes);
    if (bench_results_open(&s.results, out, "simplex", s.ceilings)) bench_bad("--out", out);
    for (int i = 0; i < s.n.count; ++i)
        if (s.n.value[i] > most) most = s.n.value[i];
    s.all = 2 * s.n.count * s.rho.count * VARIANTS;
    CHECK(cudaMalloc((void **)&s.out, most * most * most * sizeof *s.out));
    CHECK(cudaMalloc((void **)&s.wrong, sizeof *s.wrong));
    puts("| work | n | rho | bb | blocks, x bb | threads | published | published f64 |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (int i = 0; i < s.n.count; ++i)
        for (int r = 0; r < s.rho.count; ++r) sweep_one(&s, s.n.value[i], s.rho.value[r]);
    CHECK(cudaFree(s.out));
    CHECK(cudaFree(s.wrong));
    if (bench_results_close(&s.results)) bench_bad("--out", out);
    return 0;
}
