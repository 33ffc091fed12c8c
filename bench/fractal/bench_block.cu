// SPDX-License-Identifier: MIT
// bench_block: the three intra-block maps of block.h in single write, reduction and automaton on four
// embedded fractals, a block for each tile; lambda with the arithmetic hash and with the table H[] in
// constant and shared memory and in registers; and sums over a block by shuffles, by the integer
// reduction instruction and by tensor cores, against cub::BlockReduce.
//
// The maps are those of Navarro et al., FGCS 113 (2020), sections 4 and 5.
#include "block_forms.h"
#include "fractal_work.h"
#include "hash_forms.h"

#include "../../tests/fractal/brute.h"
#include <threadmap/reduce.h>

#include <math.h>

// CUB comes with nvcc; the CPU machine does without.
#if defined(__NVCC__)
#define BENCH_CUB 1
#include <cub/cub.cuh>
#else
#define BENCH_CUB 0
#endif

typedef struct sweep {
    bench_driver d;
    tmap_u64 level, times;
} sweep;

// ---- the paper's three tests, a block for each tile ---------------------------------------------

static const int tiles_tasks[BLOCK_WORKS] = {SW_I32, RD_I32, CA_U8};

typedef struct tiles_job {
    fractal_work w;
    int work;
    tmap_u32 rows;
    block_kernel kernel;
    dim3 grid;
    unsigned threads;
} tiles_job;

static void tiles_run(void *context) {
    const tiles_job *j = (const tiles_job *)context;
    const block_work on = {j->w.in, j->w.out, (tmap_i64 *)j->w.sum};
    if (j->work == BLOCK_RD) CHECK(cudaMemsetAsync(j->w.sum, 0, 8, 0));
    j->kernel<<<j->grid, j->threads>>>(j->w.r, j->rows, on);
    CHECK(cudaGetLastError());
}

// One tile level of a fractal: each form, with a block for each tile and with 16 tiles for a block.
static void tiles_case(sweep *s, const block_case *c, tiles_job *j) {
    const tmap_u32 walks[] = {1, 16}; // tiles of a block
    const tmap_xy64 tiles = tmap_nbb_orthotope(j->w.f, j->w.r - c->m);
    for (unsigned walk = 0; walk < 2; ++walk)
        for (int form = 0; form < TMAP_BLOCK_FORM_COUNT; ++form) {
            const tmap_u64 need = tmap_block_threads(form, j->w.f, c->m);
            const tmap_u64 each = (tiles.y + walks[walk] - 1) / walks[walk];
            const tmap_u64 blocks = each < 65535 ? each : 65535;
            bench_row row = bench_row_begin(&s->d, tasks[j->w.task].work,
                                            tmap_block_form_name(form), c->domain);
            bench_key(&row, "size", "%u", j->w.r);
            bench_key(&row, "rho", "%u", c->rho);
            bench_key_text(&row, "dtype", tasks[j->w.task].dtype);
            bench_key(&row, "tiles_per_block", "%u", walks[walk]);
            if (!bench_wants(&s->d, &row)) continue;
            j->kernel = c->kernels[j->work][form];
            j->threads = (unsigned)(need + 31) / 32 * 32;
            j->grid = dim3((unsigned)tiles.x, (unsigned)blocks);
            j->rows = (tmap_u32)tiles.y;
            fractal_work_verify(&row, &j->w, tiles_run, j);
            bench_key(&row, "threads", "%.0f", (double)tiles.x * (double)blocks * j->threads);
            bench_key(&row, "useful", "%.4f", (double)tmap_nbb_cells(j->w.f, c->m) / j->threads);
            row.limit_ms = j->w.limit_ms;
            bench_row_run(&s->d, &row, tiles_run, j);
        }
}

static void tiles_fractal(sweep *s, const char *domain, tmap_nbb f, tmap_u32 r) {
    tiles_job j = {};
    j.w = fractal_work_make(f, r);
    for (j.work = 0; j.work < BLOCK_WORKS; ++j.work) {
        const int mark = kit_mark();
        size_t free_bytes, total;
        j.w.task = tiles_tasks[j.work];
        CHECK(cudaMemGetInfo(&free_bytes, &total));
        if (fractal_work_bytes(&j.w) + 64 > free_bytes) {
            printf("| %s | %s | %u | needs %.1f GB: left out |\n", tasks[j.w.task].work, domain, r,
                   1e-9 * (double)fractal_work_bytes(&j.w));
            continue;
        }
        if (!s->d.list) fractal_work_begin(&j.w, s->d.ceilings);
        for (unsigned i = 0; i < BLOCK_CASES; ++i)
            if (!strcmp(block_cases[i].domain, domain) && block_cases[i].m <= r)
                tiles_case(s, &block_cases[i], &j);
        kit_release(mark);
    }
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
            level += hash_power(HASH_BASE_X, (tmap_u64)b->box[i][0] * side_x) *
                     hash_power(HASH_BASE_Y, (tmap_u64)b->box[i][1] * side_y);
        all *= level;
        side_x *= (tmap_u64)b->s[0], side_y *= (tmap_u64)b->s[1];
    }
    return all;
}

// Compares every place that the single write reaches or must not reach, or the sum over the cells
// of the map alone.
static void hash_verify(bench_row *row, hash_job *j, int part) {
    const brute b = brute_make(hash_cases[j->fractal].rows);
    if (part == 0) {
        CHECK(cudaMemset(j->out, CHECK_POISON_U8, j->width * j->height * sizeof *j->out));
        hash_write_run(j);
        check_written_i32<<<check_grid(j->width, j->height), 256>>>(
            j->f, j->write_r, j->width, j->height, 7, j->out, bench_counter());
        bench_verify(row, bench_count(), "places");
    } else {
        j->sum = bench_counter();
        hash_map_run(j);
        j->sum = NULL;
        bench_verify(row, bench_count() != hash_sum(&b, j->map_r), "sum");
    }
}

static void hash_time(sweep *s, hash_job *j, int part) {
    const char *domain = tmap_fractal_name(j->fractal), *parts[] = {"launch", "map"};
    const tmap_u32 r = part ? j->map_r : j->write_r;
    bench_row row = bench_row_begin(&s->d, "hash", hash_names[j->form], domain);
    bench_key_text(&row, "part", parts[part]);
    bench_key(&row, "size", "%u", r);
    bench_key(&row, "rho", "%u", part ? 1 : (unsigned)tmap_nbb_side_x(j->f, hash_tile_level(j->f)));
    bench_key_text(&row, "dtype", "i32");
    if (!bench_wants(&s->d, &row)) return;
    hash_verify(&row, j, part);
    bench_key(&row, "cells", "%.0f", (double)tmap_nbb_cells(j->f, r));
    row.queued = 1, row.unit = "Gcell/s", row.each = 1e-6 * (double)tmap_nbb_cells(j->f, r);
    bench_row_run(&s->d, &row, part ? hash_map_run : hash_write_run, j);
}

// The largest level r up to level_max32 with base^r <= most.
static tmap_u32 hash_level(tmap_nbb f, tmap_u64 base, tmap_u64 most) {
    tmap_u32 r = 0;
    while (r < tmap_nbb_level_max32(f) && tmapi_pow_saturate(base, r + 1) <= most) ++r;
    return r;
}

// Every fractal of the catalogue: the single write at the largest level with a quarter of the places
// of the gasket's square (4 GiB for level 16), and the map alone on up to a sixteenth as many cells.
static void hash_all(sweep *s) {
    const tmap_u64 most = 1ull << 2 * (s->level - 1);
    hash_job j = {};
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (most * sizeof *j.out > free_bytes) {
        printf("| hash | needs %.1f GB: left out |\n", 1e-9 * (double)(most * sizeof *j.out));
        return;
    }
    j.out = (int *)kit_device(most * sizeof *j.out);
    for (; j.fractal < (int)COUNT(hash_cases); ++j.fractal) {
        j.f = tmap_fractal_at(j.fractal);
        const tmap_nbb_table h = tmap_nbb_table_make(j.f);
        CHECK(cudaMemcpyToSymbol(hash_table, &h, sizeof h, sizeof h * j.fractal));
        j.write_r = hash_level(j.f, j.f.sx * j.f.sy, most);
        j.map_r = hash_level(j.f, j.f.k, most / 4);
        j.width = tmap_nbb_side_x(j.f, j.write_r), j.height = tmap_nbb_side_y(j.f, j.write_r);
        if (j.write_r < hash_tile_level(j.f)) continue;
        for (int part = 0; part < 2; ++part)
            for (j.form = 0; j.form < HASH_FORMS; ++j.form) hash_time(s, &j, part);
    }
    kit_release(0);
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

// A block adds up `times` sets of values by `sum`, an expression in v; thread 0 gathers them. The
// barrier gives the scratch, which is declared last, free for the next set.
#define REDUCE_KERNEL(name, Value, Total, value, sum, ...) \
    static __global__ void __launch_bounds__(1024) reduce_##name(tmap_u32 times, Total *out) { \
        __VA_ARGS__ \
        tmap_u32 seed = reduce_seed(blockIdx.x, threadIdx.x); \
        Total total = 0; \
        for (tmap_u32 turn = 0; turn < times; ++turn) { \
            Value v = value(seed, turn); \
            total += (Total)sum; \
            __syncthreads(); \
        } \
        if (threadIdx.x == 0) out[blockIdx.x] = total; \
    }
#define REDUCE_I32(name, sum, ...) \
    REDUCE_KERNEL(i32_##name, int, tmap_i64, reduce_value, sum, __VA_ARGS__)
#define REDUCE_F32(name, sum, ...) \
    REDUCE_KERNEL(f32_##name, float, double, reduce_value_f32, sum, __VA_ARGS__)
#define SCRATCH __shared__ tmap_i64 scratch[32];
REDUCE_I32(shuffle, tmap_block_sum_i32_shuffle(v, scratch), SCRATCH)
REDUCE_I32(redux, tmap_block_sum_i32(v, scratch), SCRATCH)
REDUCE_I32(mma, tmap_block_sum_i32_mma(v, scratch), SCRATCH)
REDUCE_F32(shuffle, tmap_block_sum_f32_shuffle(v, scratch), SCRATCH)
REDUCE_F32(mma, tmap_block_sum_f32_mma(v, scratch), SCRATCH)
#if BENCH_CUB
#define SCRATCH_CUB(T, threads) \
    typedef cub::BlockReduce<T, threads> reducer; \
    __shared__ typename reducer::TempStorage scratch;
REDUCE_I32(cub_256, reducer(scratch).Sum(v), SCRATCH_CUB(int, 256))
REDUCE_I32(cub_1024, reducer(scratch).Sum(v), SCRATCH_CUB(int, 1024))
REDUCE_KERNEL(i32_cub_wide_256, tmap_i64, tmap_i64, reduce_value, reducer(scratch).Sum(v),
              SCRATCH_CUB(tmap_i64, 256))
REDUCE_KERNEL(i32_cub_wide_1024, tmap_i64, tmap_i64, reduce_value, reducer(scratch).Sum(v),
              SCRATCH_CUB(tmap_i64, 1024))
REDUCE_F32(cub_256, reducer(scratch).Sum(v), SCRATCH_CUB(float, 256))
REDUCE_F32(cub_1024, reducer(scratch).Sum(v), SCRATCH_CUB(float, 1024))
#endif

// A variant, its kernels by block size 256 and 1024. `error` times the sum of magnitudes is what a
// float sum may be wrong by; CUB adds its warps one by one.
typedef struct reduce_case {
    const char *variant, *dtype;
    const void *kernels[2];
    double error;
} reduce_case;

#define REDUCE_CASE(name, type, error) \
    { \
#name, #type, \
            {(const void *)reduce_##type##_##name, (const void *)reduce_##type##_##name }, error \
    }
#define REDUCE_CUB(name, type, error) \
    { \
#name, #type, \
            {(const void *)reduce_##type##_##name##_256, \
             (const void *)reduce_##type##_##name##_1024 }, \
             error \
    }
static const reduce_case reduce_cases[] = {REDUCE_CASE(shuffle, i32, 0),
                                           REDUCE_CASE(redux, i32, 0),
                                           REDUCE_CASE(mma, i32, 0),
#if BENCH_CUB
                                           REDUCE_CUB(cub, i32, 0),
                                           REDUCE_CUB(cub_wide, i32, 0),
#endif
                                           REDUCE_CASE(shuffle, f32, 10.00001 / 16777216),
                                           REDUCE_CASE(mma, f32, 1.5 / 16777216),
#if BENCH_CUB
                                           REDUCE_CUB(cub, f32, 37.0001 / 16777216)
#endif
};

typedef struct reduce_job {
    const reduce_case *variant;
    int large;
    tmap_u32 blocks, times;
    void *out;
} reduce_job;

static int reduce_is_integer(const reduce_case *c) { return *c->dtype == 'i'; }

static void reduce_run(void *context) {
    reduce_job *j = (reduce_job *)context;
    void *arguments[] = {&j->times, &j->out};
    CHECK(cudaLaunchKernel(j->variant->kernels[j->large], dim3(j->blocks),
                           dim3(j->large ? 1024 : 256), arguments, 0, 0));
}

// Compares the first, the last and some blocks between with sums on the host. Floats: the largest
// error of any block goes to *error, in units of 2^-24 times the sum of its magnitudes. For each
// block that is the error of `times` sums together, at most the bound of one.
static int reduce_verify(reduce_job *j, double *error) {
    unsigned threads = j->large ? 1024 : 256;
    tmap_u32 step = j->blocks / 7 + 1;
    const tmap_u64 *host; // integers or doubles
    int good = 1;
    *error = 0;
    CHECK(cudaMemset(j->out, 0x5a, j->blocks * sizeof *host));
    reduce_run(j);
    host = (const tmap_u64 *)kit_to_host(j->out, j->blocks * sizeof *host);
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
        if (reduce_is_integer(j->variant)) {
            good &= (tmap_i64)host[b] == sum;
            continue;
        }
        memcpy(&got, &host[b], sizeof got);
        good &= fabs(got - real) <= (j->variant->error + 1e-12) * magnitude;
        if (fabs(got - real) / magnitude * 16777216 > *error)
            *error = fabs(got - real) / magnitude * 16777216;
    }
    return good;
}

static void reduce_all(sweep *s) {
    int processors;
    reduce_job j;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    j.times = (tmap_u32)s->times;
    for (j.large = 0; j.large < 2; ++j.large)
        for (size_t i = 0; i < COUNT(reduce_cases); ++i) {
            const unsigned threads = j.large ? 1024 : 256;
            bench_row row = bench_row_begin(&s->d, "reduce", reduce_cases[i].variant, "block");
            double error, sums;
            bench_key(&row, "size", "%u", threads);
            bench_key_text(&row, "dtype", reduce_cases[i].dtype);
            if (!bench_wants(&s->d, &row)) continue;
            j.variant = &reduce_cases[i];
            j.blocks = (tmap_u32)processors * 4 * (2048 / threads); // four waves
            if (j.times < 16) j.blocks = 5;                         // a quick run
            sums = (double)j.blocks * j.times;
            j.out = kit_device(j.blocks * sizeof(tmap_u64));
            bench_verify(&row, !reduce_verify(&j, &error), "sum or more");
            bench_key(&row, "sums", "%.0f", sums);
            bench_time_row(&row, reduce_run, &j);
            bench_key(&row, "ns_per_sum_and_sm", "%.4f", 1e6 * row.time.ms * processors / sums);
            bench_key(&row, "error_units", "%.4f", error);
            bench_row_end(&s->d, &row);
            kit_release(0);
        }
}

// The level whose side is nearest below 1.5 times the gasket's.
static tmap_u32 level_beside(tmap_nbb f, tmap_u32 gasket) {
    tmap_u32 r = 0;
    while (2 * tmap_nbb_side_x(f, r + 1) <= 3ull << gasket) ++r;
    return r;
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--level", "of the gasket; of others that whose side is nearest below 1.5 times its side",
         "16", "13", BENCH_NUMBER, &s.level, 3, 18},
        {"--times", "sums of one block", "256", "64", BENCH_NUMBER, &s.times, 1, 1 << 20}};
    const tmap_nbb fractals[] = {tmap_fractal_gasket(), tmap_fractal_carpet(),
                                 tmap_fractal_vicsek(), tmap_fractal_candy()};
    s.d.name = "block", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "60", s.d.quick_budget = "5";
    bench_begin(&s.d, argc, argv);
    for (int i = 0; i < 4; ++i)
        tiles_fractal(&s, tmap_fractal_name(tmap_fractal_index(fractals[i])), fractals[i],
                      level_beside(fractals[i], (tmap_u32)s.level));
    hash_all(&s);
    reduce_all(&s);
    return bench_end(&s.d);
}
