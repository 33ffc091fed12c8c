// SPDX-License-Identifier: MIT
// bench_block: the three intra-block maps of block.h in single write, reduction and automaton on four
// embedded fractals, a block for each tile; lambda with the arithmetic hash and with the table H[] in
// constant and shared memory and in registers; and sums over a block by shuffles, by the integer
// reduction instruction and by tensor cores, against cub::BlockReduce.
//
// The maps are those of Navarro et al., FGCS 113 (2020), sections 4 and 5. Every variant is verified
// before it is timed; one that is wrong ends the run with status 1. bench_block --help lists the
// options.
#include "../options.h"
#include "../results.h"
#include "block_forms.h"
#include "hash_forms.h"

#include "../../tests/fractal/brute.h"
#include "../../tests/fractal/fractal_check.h"
#include <threadmap/reduce.h>

#include <math.h>

static const char usage[] =
    "usage: bench_block [--level N] [--times N] [--budget MS] [--bytes N] [--quick] [--out FILE]\n"
    "  --level   of the gasket (16); the others are taken at the level whose side is nearest "
    "below\n"
    "            1.5 times the gasket's\n"
    "  --times   sums of one block (256)\n"
    "  --budget  milliseconds of samples of a time (60)\n"
    "  --bytes   memory for the bandwidths\n"
    "  --quick   --level 13 --times 64 --budget 5, where these are not given\n";

// CUB comes with nvcc; the CPU machine does without.
#if defined(__NVCC__)
#define BENCH_CUB 1
#include <cub/cub.cuh>
#else
#define BENCH_CUB 0
#endif

typedef struct options {
    tmap_u32 level, times;
    double budget_ms;
    tmap_u64 bytes;
    const char *out;
} options;

static void wrong(const char *what, const char *domain, unsigned size) {
    fprintf(stderr, "bench_block: %s, %s, %u: WRONG\n", what, domain, size);
    exit(1);
}

// ---- the paper's three tests, a block for each tile ---------------------------------------------

static const char *const work_names[BLOCK_WORKS] = {"sw", "rd", "ca"};

typedef struct tiles_job {
    tmap_nbb f;
    tmap_u32 r, rows;
    tmap_u64 width, height;
    int work;
    block_kernel kernel;
    block_work on;
    dim3 grid;
    unsigned threads;
} tiles_job;

static void tiles_run(void *context) {
    const tiles_job *j = (const tiles_job *)context;
    if (j->work == BLOCK_RD) CHECK(cudaMemsetAsync(j->on.sum, 0, sizeof *j->on.sum, 0));
    j->kernel<<<j->grid, j->threads>>>(j->r, j->rows, j->on);
    CHECK(cudaGetLastError());
}

static dim3 check_grid(const tiles_job *j) {
    return dim3((unsigned)(j->height < 65535 ? j->height : 65535), 16);
}

static tmap_u64 counted(tmap_u64 *counter) {
    tmap_u64 n;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&n, counter, sizeof n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(counter, 0, sizeof n));
    return n;
}

// What memory needs at least: each sector of 32 bytes with a cell written once, each pair of them
// with a cell (for the automaton, or a neighbour of one) read once.
static double tiles_limit_ms(const tiles_job *j, bench_ceilings c, tmap_u64 *counter) {
    const tmap_u32 size = j->work == BLOCK_CA ? 1 : 4;
    double ms = 0;
    if (j->work != BLOCK_SW) {
        check_granules<<<4096, 256>>>(j->f, j->r, j->width, j->height, 64 / size,
                                      j->work == BLOCK_CA, counter);
        ms += 64e-9 * (double)counted(counter) / c.read_tbs;
    }
    if (j->work != BLOCK_RD) {
        check_granules<<<4096, 256>>>(j->f, j->r, j->width, j->height, 32 / size, 0, counter);
        ms += 32e-9 * (double)counted(counter) / c.fill_tbs;
    }
    return ms;
}

static void tiles_fill(const tiles_job *j) {
    if (j->work == BLOCK_RD)
        check_fill_i32<<<check_grid(j), 256>>>(j->f, j->r, j->width, j->height, 1,
                                               (int *)j->on.out);
    if (j->work == BLOCK_CA)
        check_fill_alive<<<check_grid(j), 256>>>(j->f, j->r, j->width, j->height, 2, 2,
                                                 (unsigned char *)j->on.in);
    CHECK(cudaGetLastError());
}

// Runs the job once, on poisoned memory where it writes, and compares every place.
static int tiles_verify(tiles_job *j, tmap_u64 *counter) {
    const tmap_u64 places = j->width * j->height;
    tmap_u64 sum = 0;
    if (j->work != BLOCK_RD)
        CHECK(cudaMemset(j->on.out, CHECK_POISON_U8, places * (j->work == BLOCK_SW ? 4 : 1)));
    CHECK(cudaMemset(j->on.sum, CHECK_POISON_U8, sizeof *j->on.sum));
    tiles_run(j);
    if (j->work == BLOCK_SW)
        check_written_i32<<<check_grid(j), 256>>>(j->f, j->r, j->width, j->height, 7,
                                                  (const int *)j->on.out, counter);
    if (j->work == BLOCK_RD) {
        CHECK(cudaMemcpy(&sum, j->on.sum, sizeof sum, cudaMemcpyDeviceToHost));
        check_sum_i32<<<check_grid(j), 256>>>(j->f, j->r, j->width, j->height,
                                              (const int *)j->on.in, counter);
    }
    if (j->work == BLOCK_CA)
        check_step_u8<<<check_grid(j), 256>>>(j->f, j->r, j->width, j->height, tmap_ca_life(),
                                              (const unsigned char *)j->on.in,
                                              (const unsigned char *)j->on.out, counter);
    return counted(counter) == sum;
}

// One tile level of a fractal: each form, with a block for each tile and with 16 tiles for a block.
static void tiles_case(const options *o, bench_results *results, const block_case *s, tiles_job *j,
                       double limit_ms, tmap_u64 *counter) {
    const tmap_u32 walks[] = {1, 16}; // tiles of a block
    const tmap_xy64 tiles = tmap_nbb_orthotope(j->f, j->r - s->m);
    char row[512];
    for (unsigned walk = 0; walk < 2; ++walk)
        for (int form = 0; form < TMAP_BLOCK_FORM_COUNT; ++form) {
            const tmap_u64 need = tmap_block_threads(form, j->f, s->m);
            const tmap_u64 each = (tiles.y + walks[walk] - 1) / walks[walk];
            const tmap_u64 blocks = each < 65535 ? each : 65535;
            double useful;
            bench_time t;
            j->kernel = s->kernels[j->work][form];
            j->threads = (unsigned)(need + 31) / 32 * 32;
            j->grid = dim3((unsigned)tiles.x, (unsigned)blocks);
            j->rows = (tmap_u32)tiles.y;
            if (!tiles_verify(j, counter)) wrong(tmap_block_form_name(form), s->domain, s->rho);
            t = bench_measure(tiles_run, j, o->budget_ms);
            useful = (double)tmap_nbb_cells(j->f, s->m) / j->threads;
            printf("| %s | %s | %u | %u | %s | %u | %u | %.2f | %.4f | %.1f | %.1f%% |\n",
                   work_names[j->work], s->domain, j->r, s->rho, tmap_block_form_name(form),
                   walks[walk], j->threads, useful, t.ms, t.noise_pct, 100 * limit_ms / t.ms);
            fflush(stdout);
            snprintf(row, sizeof row,
                     "\"work\": \"%s\", \"variant\": \"%s\", \"domain\": \"%s\", \"size\": %u, "
                     "\"rho\": %u, \"dtype\": \"%s\", \"tiles_per_block\": %u, \"ms\": %.6f, "
                     "\"noise_pct\": %.2f, \"limit_ms\": %.6f, \"limit_pct\": %.1f, "
                     "\"threads\": %.0f, \"useful\": %.4f, \"verified\": true",
                     work_names[j->work], tmap_block_form_name(form), s->domain, j->r, s->rho,
                     j->work == BLOCK_CA ? "u8" : "i32", walks[walk], t.ms, t.noise_pct, limit_ms,
                     100 * limit_ms / t.ms, (double)tiles.x * (double)blocks * j->threads, useful);
            bench_results_row(results, row);
        }
}

static void tiles_fractal(const options *o, bench_results *results, bench_ceilings c,
                          const char *domain, tmap_nbb f, tmap_u32 r) {
    tmap_u64 *counter;
    tiles_job j = {};
    j.f = f, j.r = r;
    j.width = tmap_nbb_side_x(f, r), j.height = tmap_nbb_side_y(f, r);
    CHECK(cudaMalloc((void **)&counter, sizeof *counter));
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    CHECK(cudaMalloc((void **)&j.on.sum, sizeof *j.on.sum));
    for (j.work = 0; j.work < BLOCK_WORKS; ++j.work) {
        const size_t places = j.width * j.height,
                     bytes = places * (j.work == BLOCK_CA ? 2 : 4) + 32;
        size_t free_bytes, total;
        double limit_ms;
        CHECK(cudaMemGetInfo(&free_bytes, &total));
        if (bytes > free_bytes) {
            printf("| %s | %s | %u | needs %.1f GB: left out |\n", work_names[j.work], domain, r,
                   1e-9 * (double)bytes);
            continue;
        }
        CHECK(cudaMalloc(&j.on.out, bytes));
        void *const all = j.on.out;
        j.on.in = all;
        if (j.work == BLOCK_CA) j.on.out = (char *)all + (places + 31) / 32 * 32;
        tiles_fill(&j);
        limit_ms = tiles_limit_ms(&j, c, counter);
        for (unsigned i = 0; i < BLOCK_CASES; ++i) {
            bench_progress(j.work * BLOCK_CASES + (int)i, 36, domain);
            if (!strcmp(block_cases[i].domain, domain) && block_cases[i].m <= r)
                tiles_case(o, results, &block_cases[i], &j, limit_ms, counter);
        }
        CHECK(cudaFree(all));
    }
    CHECK(cudaFree(j.on.sum));
    CHECK(cudaFree(counter));
}

// ---- the arithmetic hash and the table H[] -----------------------------------------------------

typedef struct hash_job {
    tmap_nbb f;
    int fractal, form;
    tmap_u32 write_r, map_r; // levels
    tmap_u64 width, height;  // of the level that is written
    int *out;
    tmap_u64 *sum; // null: the map alone, without its sum
} hash_job;

static void hash_write_run(void *context) {
    const hash_job *j = (const hash_job *)context;
    const tmap_u32 m = hash_tile_level(j->f);
    const tmap_xy64 tiles = tmap_nbb_orthotope(j->f, j->write_r - m);
    const tmap_u64 need = tmap_block_threads(TMAP_BLOCK_SUBBOX, j->f, m);
    hash_cases[j->fractal].write
        [j->form]<<<dim3((unsigned)tiles.x, (unsigned)tiles.y), (unsigned)(need + 31) / 32 * 32>>>(
            j->write_r, j->width, j->out);
    CHECK(cudaGetLastError());
}

static void hash_map_run(void *context) {
    const hash_job *j = (const hash_job *)context;
    const tmap_xy64 box = tmap_nbb_orthotope(j->f, j->map_r);
    hash_cases[j->fractal]
        .map[j->form]<<<dim3((unsigned)(box.x + 255) / 256, (unsigned)box.y), 256>>>(
            j->map_r, (tmap_u32)box.x, j->sum, (tmap_u32 *)j->out);
    CHECK(cudaGetLastError());
}

// The sum of g^x h^y over the cells of level r, from the fractal's drawing: the product over levels
// of the sum over the boxes with a replica.
static tmap_u64 hash_sum(const brute *b, tmap_u32 r) {
    tmap_u64 all = 1, side_x = 1, side_y = 1;
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        tmap_u64 level = 0;
        for (int i = 0; i < b->k; ++i)
            level += hash_power(HASH_BASE_X, (tmap_u64)b->tau_x[i] * side_x) *
                     hash_power(HASH_BASE_Y, (tmap_u64)b->tau_y[i] * side_y);
        all *= level;
        side_x *= (tmap_u64)b->sx, side_y *= (tmap_u64)b->sy;
    }
    return all;
}

// Compares every place that the single write reaches or must not reach, and the sum over the cells
// of the map alone.
static void hash_verify(hash_job *j, const char *domain, tmap_u64 *counter) {
    const tmap_u64 places = j->width * j->height;
    const brute b = brute_make(hash_cases[j->fractal].rows);
    CHECK(cudaMemset(j->out, CHECK_POISON_U8, places * sizeof *j->out));
    hash_write_run(j);
    check_written_i32<<<dim3((unsigned)(j->height < 65535 ? j->height : 65535), 16), 256>>>(
        j->f, j->write_r, j->width, j->height, 7, j->out, counter);
    if (counted(counter)) wrong(hash_names[j->form], domain, j->write_r);
    j->sum = counter;
    hash_map_run(j);
    j->sum = NULL;
    if (counted(counter) != hash_sum(&b, j->map_r)) wrong(hash_names[j->form], domain, j->map_r);
}

static void hash_time(const options *o, bench_results *results, hash_job *j, int part) {
    const char *domain = tmap_fractal_name(j->fractal), *parts[] = {"launch", "map"};
    const tmap_u32 r = part ? j->map_r : j->write_r;
    const double cells = (double)tmap_nbb_cells(j->f, r);
    const bench_time t =
        bench_measure_queued(part ? hash_map_run : hash_write_run, j, o->budget_ms);
    char row[512];
    printf("| hash | %s | %s | %u | %s | %.5f | %.1f | %.4f |\n", parts[part], domain, r,
           hash_names[j->form], t.ms, t.noise_pct, 1e6 * t.ms / cells);
    fflush(stdout);
    snprintf(row, sizeof row,
             "\"work\": \"hash\", \"part\": \"%s\", \"variant\": \"%s\", \"domain\": \"%s\", "
             "\"size\": %u, \"rho\": %u, \"dtype\": \"i32\", \"ms\": %.6f, \"noise_pct\": %.2f, "
             "\"cells\": %.0f, \"verified\": true",
             parts[part], hash_names[j->form], domain, r,
             part ? 1 : (unsigned)tmap_nbb_side_x(j->f, hash_tile_level(j->f)), t.ms, t.noise_pct,
             cells);
    bench_results_row(results, row);
}

// The largest level r up to level_max32 with base^r <= most.
static tmap_u32 hash_level(tmap_nbb f, tmap_u64 base, tmap_u64 most) {
    tmap_u32 r = 0;
    while (r < tmap_nbb_level_max32(f) && tmapi_pow_saturate(base, r + 1) <= most) ++r;
    return r;
}

// Every fractal of the catalogue: the single write at the largest level with a quarter of the places
// of the gasket's square (4 GiB for level 16), and the map alone on up to a sixteenth as many cells.
static void hash_all(const options *o, bench_results *results) {
    tmap_u64 *counter, most = 1ull << 2 * (o->level - 1);
    hash_job j = {};
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (most * sizeof *j.out > free_bytes) {
        printf("\n| hash | needs %.1f GB: left out |\n", 1e-9 * (double)(most * sizeof *j.out));
        return;
    }
    CHECK(cudaMalloc((void **)&counter, sizeof *counter));
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    CHECK(cudaMalloc((void **)&j.out, most * sizeof *j.out));
    printf("\n| work | part | fractal | r | variant | ms | noise %% | ns a cell |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (; j.fractal < TMAP_FRACTAL_COUNT; ++j.fractal) {
        tmap_xy table[TMAP_REPLICAS_MAX] = {};
        const brute b = brute_make(hash_cases[j.fractal].rows);
        for (int i = 0; i < b.k; ++i)
            table[i].x = (tmap_u32)b.tau_x[i], table[i].y = (tmap_u32)b.tau_y[i];
        CHECK(cudaMemcpyToSymbol(hash_table, table, sizeof table, sizeof table * j.fractal));
        j.f = tmap_fractal_at(j.fractal);
        j.write_r = hash_level(j.f, j.f.sx * j.f.sy, most);
        j.map_r = hash_level(j.f, j.f.k, most / 4);
        j.width = tmap_nbb_side_x(j.f, j.write_r), j.height = tmap_nbb_side_y(j.f, j.write_r);
        if (j.write_r < hash_tile_level(j.f)) continue;
        for (j.form = 0; j.form < HASH_FORMS; ++j.form) {
            bench_progress(30 + j.fractal * 2 / TMAP_FRACTAL_COUNT, 36, "hash");
            hash_verify(&j, tmap_fractal_name(j.fractal), counter);
        }
        for (int part = 0; part < 2; ++part)
            for (j.form = 0; j.form < HASH_FORMS; ++j.form) hash_time(o, results, &j, part);
    }
    CHECK(cudaFree(j.out));
    CHECK(cudaFree(counter));
}

// ---- sums over a block --------------------------------------------------------------------------

// A value for thread `rank` of a block in turn `turn`, from a register: 21 bits, so that 1024 of
// them fit 32 bits too, which is what cub::BlockReduce<int> adds up in. As floats they are spread
// by a factor that makes their sums round.
TMAP_FN int reduce_value(tmap_u32 seed, tmap_u32 turn) {
    return (int)(seed + turn * 0x9e3779b9u) >> 11;
}
TMAP_FN float reduce_value_f32(tmap_u32 seed, tmap_u32 turn) {
    return (float)reduce_value(seed, turn) * 1.0009765625f;
}
TMAP_FN tmap_u32 reduce_seed(tmap_u32 block, tmap_u32 rank) {
    return check_hash((tmap_u64)block << 10 | rank, 5);
}

// SUM adds v up over the block. A block adds up `times` sets of values; thread 0 gathers them. The
// barrier gives the scratch free for the next set.
#define REDUCE_KERNEL(name, Value, Total, value, ...) \
    static __global__ void __launch_bounds__(1024) reduce_##name(tmap_u32 times, Total *out) { \
        __VA_ARGS__ \
        tmap_u32 seed = reduce_seed(blockIdx.x, threadIdx.x); \
        Total total = 0; \
        for (tmap_u32 turn = 0; turn < times; ++turn) { \
            Value v = value(seed, turn); \
            total += (Total)SUM(v); \
            __syncthreads(); \
        } \
        if (threadIdx.x == 0) out[blockIdx.x] = total; \
    }
#define SCRATCH __shared__ tmap_i64 scratch[32];

#define SUM(v) tmap_block_sum_i32_shuffle(v, scratch)
REDUCE_KERNEL(i32_shuffle, int, tmap_i64, reduce_value, SCRATCH)
#undef SUM
#define SUM(v) tmap_block_sum_i32(v, scratch)
REDUCE_KERNEL(i32_redux, int, tmap_i64, reduce_value, SCRATCH)
#undef SUM
#define SUM(v) tmap_block_sum_i32_mma(v, scratch)
REDUCE_KERNEL(i32_mma, int, tmap_i64, reduce_value, SCRATCH)
#undef SUM
#define SUM(v) tmap_block_sum_f32_shuffle(v, scratch)
REDUCE_KERNEL(f32_shuffle, float, double, reduce_value_f32, SCRATCH)
#undef SUM
#define SUM(v) tmap_block_sum_f32_mma(v, scratch)
REDUCE_KERNEL(f32_mma, float, double, reduce_value_f32, SCRATCH)
#undef SUM

#if BENCH_CUB
#define SCRATCH_CUB(T, threads) \
    typedef cub::BlockReduce<T, threads> reducer; \
    __shared__ typename reducer::TempStorage scratch;
#define SUM(v) reducer(scratch).Sum(v)
REDUCE_KERNEL(i32_cub_256, int, tmap_i64, reduce_value, SCRATCH_CUB(int, 256))
REDUCE_KERNEL(i32_cub_1024, int, tmap_i64, reduce_value, SCRATCH_CUB(int, 1024))
REDUCE_KERNEL(i32_cub_wide_256, tmap_i64, tmap_i64, reduce_value, SCRATCH_CUB(tmap_i64, 256))
REDUCE_KERNEL(i32_cub_wide_1024, tmap_i64, tmap_i64, reduce_value, SCRATCH_CUB(tmap_i64, 1024))
REDUCE_KERNEL(f32_cub_256, float, double, reduce_value_f32, SCRATCH_CUB(float, 256))
REDUCE_KERNEL(f32_cub_1024, float, double, reduce_value_f32, SCRATCH_CUB(float, 1024))
#undef SUM
#endif

// A variant, by block size 256 and 1024; either the integer kernels or the float ones. `error`
// times the sum of magnitudes is what a float sum may be wrong by; CUB adds its warps one by one.
typedef struct reduce_case {
    const char *variant;
    void (*i32[2])(tmap_u32, tmap_i64 *);
    void (*f32[2])(tmap_u32, double *);
    double error;
} reduce_case;

static const reduce_case reduce_cases[] = {
    {"shuffle", {reduce_i32_shuffle, reduce_i32_shuffle}, {NULL, NULL}, 0},
    {"redux", {reduce_i32_redux, reduce_i32_redux}, {NULL, NULL}, 0},
    {"mma", {reduce_i32_mma, reduce_i32_mma}, {NULL, NULL}, 0},
#if BENCH_CUB
    {"cub", {reduce_i32_cub_256, reduce_i32_cub_1024}, {NULL, NULL}, 0},
    {"cub_wide", {reduce_i32_cub_wide_256, reduce_i32_cub_wide_1024}, {NULL, NULL}, 0},
#endif
    {"shuffle", {NULL, NULL}, {reduce_f32_shuffle, reduce_f32_shuffle}, 10.00001 / 16777216},
    {"mma", {NULL, NULL}, {reduce_f32_mma, reduce_f32_mma}, 1.5 / 16777216},
#if BENCH_CUB
    {"cub", {NULL, NULL}, {reduce_f32_cub_256, reduce_f32_cub_1024}, 37.0001 / 16777216},
#endif
};

typedef struct reduce_job {
    const reduce_case *variant;
    int large;
    tmap_u32 blocks, times;
    void *out;
} reduce_job;

static void reduce_run(void *context) {
    const reduce_job *j = (const reduce_job *)context;
    unsigned threads = j->large ? 1024 : 256;
    if (j->variant->i32[0])
        j->variant->i32[j->large]<<<j->blocks, threads>>>(j->times, (tmap_i64 *)j->out);
    else
        j->variant->f32[j->large]<<<j->blocks, threads>>>(j->times, (double *)j->out);
    CHECK(cudaGetLastError());
}

// Compares the first, the last and some blocks between with sums on the host. Floats: the largest
// error of any block goes to *error, in units of 2^-24 times the sum of its magnitudes. For each
// block that is the error of `times` sums together, at most the bound of one.
static int reduce_verify(reduce_job *j, double *error) {
    unsigned threads = j->large ? 1024 : 256;
    tmap_u32 step = j->blocks / 7 + 1;
    tmap_u64 *host = (tmap_u64 *)malloc(j->blocks * sizeof *host); // integers or doubles
    int good = 1;
    *error = 0;
    if (!host) exit(1);
    CHECK(cudaMemset(j->out, 0x5a, j->blocks * sizeof *host));
    reduce_run(j);
    CHECK(cudaMemcpy(host, j->out, j->blocks * sizeof *host, cudaMemcpyDeviceToHost));
    for (tmap_u32 b = 0; b < j->blocks;
         b = b + step < j->blocks || b + 1 == j->blocks ? b + step : j->blocks - 1) {
        tmap_i64 sum = 0;
        double real = 0, magnitude = 0, got;
        for (unsigned rank = 0; rank < threads; ++rank)
            for (tmap_u32 turn = 0; turn < j->times; ++turn) {
                tmap_u32 seed = reduce_seed(b, rank);
                double v = reduce_value_f32(seed, turn);
                sum += reduce_value(seed, turn);
                real += v;
                magnitude += fabs(v);
            }
        if (j->variant->i32[0]) {
            good &= (tmap_i64)host[b] == sum;
            continue;
        }
        memcpy(&got, &host[b], sizeof got);
        good &= fabs(got - real) <= (j->variant->error + 1e-12) * magnitude;
        if (fabs(got - real) / magnitude * 16777216 > *error)
            *error = fabs(got - real) / magnitude * 16777216;
    }
    free(host);
    return good;
}

static void reduce_all(const options *o, bench_results *results) {
    int processors, all = (int)(sizeof reduce_cases / sizeof *reduce_cases);
    reduce_job j;
    char row[512];
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    j.times = o->times;
    printf("\n| work | dtype | variant | block | sums | ms | noise %% | ns a sum and SM | error, "
           "2^-24 |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (j.large = 0; j.large < 2; ++j.large)
        for (int i = 0; i < all; ++i) {
            const char *dtype = reduce_cases[i].i32[0] ? "i32" : "f32";
            unsigned threads = j.large ? 1024 : 256;
            double error, sums, ns;
            bench_time t;
            j.variant = &reduce_cases[i];
            j.blocks = (tmap_u32)processors * 4 * (2048 / threads); // four waves
            if (j.times < 16) j.blocks = 5;                         // a quick run
            sums = (double)j.blocks * j.times;
            bench_progress(32 + (j.large * all + i) * 4 / (2 * all), 36, j.variant->variant);
            CHECK(cudaMalloc(&j.out, j.blocks * sizeof(tmap_u64)));
            if (!reduce_verify(&j, &error)) wrong(j.variant->variant, dtype, threads);
            t = bench_measure(reduce_run, &j, o->budget_ms);
            CHECK(cudaFree(j.out));
            ns = 1e6 * t.ms * processors / sums;
            printf("| reduce | %s | %s | %u | %.0f | %.4f | %.1f | %.2f | %.3f |\n", dtype,
                   j.variant->variant, threads, sums, t.ms, t.noise_pct, ns, error);
            fflush(stdout);
            snprintf(row, sizeof row,
                     "\"work\": \"reduce\", \"variant\": \"%s\", \"domain\": \"block\", \"size\": "
                     "%u, \"dtype\": \"%s\", \"sums\": %.0f, \"ms\": %.6f, \"noise_pct\": %.2f, "
                     "\"ns_per_sum_and_sm\": %.4f, \"error_units\": %.4f, \"verified\": true",
                     j.variant->variant, threads, dtype, sums, t.ms, t.noise_pct, ns, error);
            bench_results_row(results, row);
        }
}

// ---- the command line ---------------------------------------------------------------------------

// The level whose side is nearest below 1.5 times the gasket's.
static tmap_u32 level_beside(tmap_nbb f, tmap_u32 gasket) {
    tmap_u32 r = 0;
    while (2 * tmap_nbb_side_x(f, r + 1) <= 3ull << gasket) ++r;
    return r;
}

int main(int argc, char **argv) {
    options o = {16, 256, 60, 4ull << 30, NULL};
    bench_results results;
    bench_ceilings c;
    const tmap_nbb fractals[] = {tmap_fractal_gasket(), tmap_fractal_carpet(),
                                 tmap_fractal_vicsek(), tmap_fractal_candy()};
    int devices = 0;
    bench_program = "bench_block";
    if (bench_quick(&argc, argv, usage)) o.level = 13, o.times = 64, o.budget_ms = 5;
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(option, "--level"))
            o.level = (tmap_u32)bench_number(option, value, 3, 18);
        else if (!strcmp(option, "--times"))
            o.times = (tmap_u32)bench_number(option, value, 1, 1 << 20);
        else if (!strcmp(option, "--budget"))
            o.budget_ms = (double)bench_number(option, value, 1, 100000);
        else if (!strcmp(option, "--bytes"))
            o.bytes = bench_number(option, value, 1024, 1ull << 40);
        else if (!strcmp(option, "--out") && value)
            o.out = value;
        else
            bench_bad(option, value);
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    c = bench_measure_ceilings((size_t)o.bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s; times in ms\n\n", c.copy_tbs,
           c.fill_tbs, c.read_tbs);
    if (bench_results_open(&results, o.out, "block", c)) bench_bad("--out", o.out);
    printf("| work | fractal | r | rho | variant | tiles a block | threads a block | useful | ms | "
           "noise %% | of the limit |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 4; ++i)
        tiles_fractal(&o, &results, c, tmap_fractal_name(tmap_fractal_index(fractals[i])),
                      fractals[i], level_beside(fractals[i], o.level));
    hash_all(&o, &results);
    reduce_all(&o, &results);
    bench_progress(36, 36, "");
    if (bench_results_close(&results)) bench_bad("--out", o.out);
    return 0;
}
