// SPDX-License-Identifier: MIT
// bench_block: the three intra-block maps of block.h in single write on embedded fractals, a block
// for each tile; and sums over a block by shuffles, by the integer reduction instruction and by
// tensor cores, against cub::BlockReduce.
//
// The maps are those of Navarro et al., FGCS 113 (2020), section 5. Every variant is verified
// before it is timed; one that is wrong ends the run with status 1.
//
// usage: bench_block [--level N] [--times N] [--budget MS] [--bytes N] [--out FILE]
// --level: of the gasket, 16 if not given; the carpet is taken at the level whose side is nearest
// below 1.5 times the gasket's. --times: sums of one block, 256 if not given.
#include "../options.h"
#include "../results.h"

#include "../../tests/fractal/fractal_check.h"
#include <threadmap/rivals/block.h>
#include <threadmap/reduce.h>

#include <math.h>

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

// ---- single write, a block for each tile --------------------------------------------------------

// Blocks walk down a column of the orthotope of the tiles: with as many blocks as tiles each takes
// one, as in the paper; with fewer, a block's preparations serve several. Blocks are whole warps,
// so that the map in block space is the same for all forms.
TMAP_DEVICE void sw_tiles(int form, tmap_nbb f, tmap_u32 m, tmap_u32 r, tmap_u32 rows, int value,
                          int *out, tmap_u32 *table) {
    tmap_u32 side_x = tmapi_pow32(f.sx, m), side_y = tmapi_pow32(f.sy, m);
    tmap_u64 pitch = tmap_nbb_side_x(f, r);
    tmap_warp_level level = tmap_warp_level_make(tmap_warp_full(), f, r - m);
    tmap_block_place p;
    tmap_block_begin(form, f, m, table);
    p = tmap_block_at(form, f, m, threadIdx.x, table);
    for (tmap_u32 wy = blockIdx.y; wy < rows; wy += gridDim.y) {
        tmap_xy tile = tmap_nbb_has_ballot(f) ? tmap_warp_level_ballot(&level, f, blockIdx.x, wy)
                                              : tmap_warp_level_redux(&level, f, blockIdx.x, wy);
        if (p.cell)
            out[((tmap_u64)tile.y * side_y + p.y) * pitch + (tmap_u64)tile.x * side_x + p.x] =
                value;
    }
}

// The forms of one fractal at one tile level, which are constants in each kernel.
#define SW_KERNEL(name, form, m, words) \
    static __global__ void __launch_bounds__(1024) \
        sw_##name##_##form##_##m(tmap_u32 r, tmap_u32 rows, int value, int *out) { \
        __shared__ tmap_u32 table[TMAP_BLOCK_TABLE_WORDS(words)]; \
        sw_tiles(form, tmap_fractal_##name(), m, r, rows, value, out, table); \
    }
#define SW_KERNELS(name, m, cells) \
    SW_KERNEL(name, TMAP_BLOCK_UNROLL, m, 1) \
    SW_KERNEL(name, TMAP_BLOCK_TABLE, m, cells) \
    SW_KERNEL(name, TMAP_BLOCK_SUBBOX, m, 1)
SW_KERNELS(gasket, 3, 27)
SW_KERNELS(gasket, 4, 81)
SW_KERNELS(gasket, 5, 243)
SW_KERNELS(carpet, 2, 64)
SW_KERNELS(carpet, 3, 512)

typedef void (*sw_kernel)(tmap_u32, tmap_u32, int, int *);

typedef struct sw_case {
    const char *domain;
    tmap_u32 m, rho;
    sw_kernel forms[TMAP_BLOCK_FORM_COUNT];
} sw_case;

#define SW_CASE(name, m, rho) \
    { \
#name, m, rho, { \
            sw_##name##_TMAP_BLOCK_UNROLL_##m, sw_##name##_TMAP_BLOCK_TABLE_##m, \
                sw_##name##_TMAP_BLOCK_SUBBOX_##m \
        } \
    }
static const sw_case sw_cases[] = {SW_CASE(gasket, 3, 8), SW_CASE(gasket, 4, 16),
                                   SW_CASE(gasket, 5, 32), SW_CASE(carpet, 2, 9),
                                   SW_CASE(carpet, 3, 27)};

typedef struct sw_job {
    sw_kernel kernel;
    dim3 grid;
    unsigned threads;
    tmap_u32 r, rows;
    int *out;
} sw_job;

static void sw_run(void *context) {
    const sw_job *j = (const sw_job *)context;
    j->kernel<<<j->grid, j->threads>>>(j->r, j->rows, 7, j->out);
    CHECK(cudaGetLastError());
}

// What memory needs at least: each sector of 32 bytes with a cell written once.
static double sw_limit_ms(tmap_nbb f, tmap_u32 r, tmap_u64 width, tmap_u64 height, double fill_tbs,
                          tmap_u64 *counter) {
    tmap_u64 sectors;
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    check_granules<<<4096, 256>>>(f, r, width, height, 8, 0, counter);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sectors, counter, sizeof sectors, cudaMemcpyDeviceToHost));
    return 32e-9 * (double)sectors / fill_tbs;
}

static void sw_fractal(const options *o, bench_results *results, bench_ceilings c,
                       const char *domain, tmap_nbb f, tmap_u32 r) {
    const tmap_u32 walks[] = {1, 16}; // tiles of a block
    tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r), *counter, bad;
    size_t bytes = width * height * sizeof(int), free_bytes, total;
    dim3 check_grid((unsigned)(height < 65535 ? height : 65535), 16);
    double limit_ms;
    sw_job j;
    char row[512];
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (bytes > free_bytes) {
        printf("| sw | %s | %u | needs %.1f GB: left out |\n", domain, r, 1e-9 * (double)bytes);
        return;
    }
    CHECK(cudaMalloc((void **)&j.out, bytes));
    CHECK(cudaMalloc((void **)&counter, sizeof *counter));
    limit_ms = sw_limit_ms(f, r, width, height, c.fill_tbs, counter);
    for (unsigned i = 0; i < sizeof sw_cases / sizeof *sw_cases; ++i) {
        const sw_case *s = &sw_cases[i];
        if (strcmp(s->domain, domain) || s->m > r) continue;
        for (unsigned walk = 0; walk < 2; ++walk)
            for (int form = 0; form < TMAP_BLOCK_FORM_COUNT; ++form) {
                tmap_xy64 tiles = tmap_nbb_orthotope(f, r - s->m);
                tmap_u64 need = tmap_block_threads(form, f, s->m), blocks;
                double useful;
                bench_time t;
                blocks = (tiles.y + walks[walk] - 1) / walks[walk];
                if (blocks > 65535) blocks = 65535;
                j.kernel = s->forms[form];
                j.threads = (unsigned)(need + 31) / 32 * 32;
                j.grid = dim3((unsigned)tiles.x, (unsigned)blocks);
                j.r = r;
                j.rows = (tmap_u32)tiles.y;
                bench_progress((int)i * 6 + (int)walk * 3 + form, 36, tmap_block_form_name(form));
                CHECK(cudaMemset(j.out, CHECK_POISON_I32 & 0xff, bytes));
                CHECK(cudaMemset(counter, 0, sizeof *counter));
                sw_run(&j);
                check_written_i32<<<check_grid, 256>>>(f, r, width, height, 7, j.out, counter);
                CHECK(cudaGetLastError());
                CHECK(cudaMemcpy(&bad, counter, sizeof bad, cudaMemcpyDeviceToHost));
                if (bad) wrong(tmap_block_form_name(form), domain, s->rho);
                t = bench_measure(sw_run, &j, o->budget_ms);
                useful = (double)tmap_nbb_cells(f, s->m) / j.threads;
                printf("| sw | %s | %u | %u | %s | %u | %u | %.2f | %.4f | %.1f | %.1f%% |\n",
                       domain, r, s->rho, tmap_block_form_name(form), walks[walk], j.threads,
                       useful, t.ms, t.noise_pct, 100 * limit_ms / t.ms);
                fflush(stdout);
                snprintf(row, sizeof row,
                         "\"work\": \"sw\", \"variant\": \"%s\", \"domain\": \"%s\", \"size\": %u, "
                         "\"rho\": %u, \"dtype\": \"i32\", \"tiles_per_block\": %u, \"ms\": %.6f, "
                         "\"noise_pct\": %.2f, \"limit_ms\": %.6f, \"limit_pct\": %.1f, "
                         "\"threads\": %.0f, \"useful\": %.4f, \"verified\": true",
                         tmap_block_form_name(form), domain, r, s->rho, walks[walk], t.ms,
                         t.noise_pct, limit_ms, 100 * limit_ms / t.ms,
                         (double)tiles.x * (double)blocks * j.threads, useful);
                bench_results_row(results, row);
            }
    }
    CHECK(cudaFree(counter));
    CHECK(cudaFree(j.out));
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
            bench_progress(30 + (j.large * all + i) * 6 / (2 * all), 36, j.variant->variant);
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

int main(int argc, char **argv) {
    options o = {16, 256, 60, 4ull << 30, NULL};
    bench_results results;
    bench_ceilings c;
    tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet();
    tmap_u32 level = 0;
    int devices = 0;
    bench_program = "bench_block";
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
    while (2 * tmap_nbb_side_x(carpet, level + 1) <= 3 * tmap_nbb_side_x(gasket, o.level)) ++level;
    c = bench_measure_ceilings((size_t)o.bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s; times in ms\n\n", c.copy_tbs,
           c.fill_tbs, c.read_tbs);
    if (bench_results_open(&results, o.out, "block", c)) bench_bad("--out", o.out);
    printf("| work | fractal | r | rho | variant | tiles a block | threads a block | useful | ms | "
           "noise %% | of the limit |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    sw_fractal(&o, &results, c, "gasket", gasket, o.level);
    sw_fractal(&o, &results, c, "carpet", carpet, level);
    reduce_all(&o, &results);
    bench_progress(36, 36, "");
    if (bench_results_close(&results)) bench_bad("--out", o.out);
    return 0;
}
