// SPDX-License-Identifier: MIT
// bench_fractal3: work on the cells of fractals in three dimensions: a write and a sum of int32 by
// the library's engine, as a user calls it, beside the bounding box and the plain map; life by
// bits in compact storage; lambda with turned copies beside lambda without; and works on f32 in
// compact storage and in a volume, beside the engine in two dimensions where the fractal is a layer.
//
// Every variant is verified before it is timed: a write in every place of the volume, a sum against
// the bounding box, and a step of life in cells at random, whose neighbours are found by nu.
#include "../driver.h"

#include <threadmap/fractal/catalogue3.h>
#include <threadmap/fractal/life3.h>

#include "storages3.h"

typedef struct sweep {
    bench_driver d;
    const char *fractal;
    tmap_u64 level, life_level; // 0: those of the table below
    tmap_u64 threads;           // of lambda
} sweep;

enum { VALUE = 7, GAP = 3 }; // what is written into cells; what places hold before

typedef struct job {
    tmap_nbb3 f;
    tmap_u32 r, side_x, side_y, side_z, variant;
    int work;   // of `works`
    int blocks; // of a walk: four times those that the device holds
    tmap_u64 places, cells, sum;
    tmap_each3_plan plan;
    int *volume;
    tmap_fold_to to;
    tmap_u64 *words[2];
} job;

// ---- variants of a write and of a sum -----------------------------------------------------------

enum { BB, BB_WALK, LAMBDA, EACH, VARIANTS };

// The others than the engine have the fractal as a constant, as in a program for one fractal: nvcc then
// turns divisions into multiplications.
static __device__ tmap_u64 place_of(const job *j, tmap_xyz c) {
    return ((tmap_u64)c.z * j->side_y + c.y) * j->side_x + c.x;
}

// The place of a thread of the bounding box, in blocks of 32 x 8 places of a plane.
static __device__ int box_place(tmap_nbb3 f, const job *j, tmap_xyz *c) {
    c->x = blockIdx.x * 32 + threadIdx.x, c->y = blockIdx.y * 8 + threadIdx.y, c->z = blockIdx.z;
    return c->x < j->side_x && c->y < j->side_y && tmap_nbb3_contains(f, *c, j->r);
}

// A plane has a word: a field of sz bits for each level, in which the bit of z's digit is set.
// Returns the bits that no word of a cell's plane has, of the places (x, y) of all planes. A volume that
// fits a memory needs 24 bits at most.
static __device__ tmap_u32 column_holes(tmap_nbb3 f, tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    tmap_u32 holes = 0;
    for (tmap_u32 i = 0; i < r; ++i, x /= f.sx, y /= f.sy) {
        tmap_u32 bits = (1u << f.sz) - 1;
#pragma unroll
        for (tmap_u32 beta = 0; beta < f.k; ++beta) {
            const tmap_xyz t = tmap_nbb3_tau(f, beta);
            if (t.x == x % f.sx && t.y == y % f.sy) bits &= ~(1u << t.z);
        }
        holes |= bits << i * f.sz;
    }
    return holes;
}
static __device__ tmap_u32 plane_word(tmap_nbb3 f, tmap_u32 z, tmap_u32 r) {
    tmap_u32 word = 0;
    for (tmap_u32 i = 0; i < r; ++i, z /= f.sz) word |= 1u << (i * f.sz + z % f.sz);
    return word;
}

// Calls visit(j, c, cell) for places of this block, which goes from plane to plane: a thread has a
// column, and each lane makes the word of one of the next 32 planes. Leaves out places only where a
// warp has no cell in 32 of its planes.
static __device__ void box_walk(tmap_nbb3 f, job *j, void (*visit)(job *j, tmap_xyz c, int cell)) {
    tmap_xyz c = {blockIdx.x * 32 + threadIdx.x, blockIdx.y * 8 + threadIdx.y, 0};
    const tmap_u32 holes = column_holes(f, c.x, c.y, j->r);
    const int inside = c.x < j->side_x && c.y < j->side_y;
    for (tmap_u32 z = blockIdx.z; z < j->side_z; z += 32 * gridDim.z) {
        const tmap_u32 words = plane_word(f, z + threadIdx.x * gridDim.z, j->r);
        tmap_u32 cells = 0;
#pragma unroll
        for (tmap_u32 i = 0; i < 32; ++i)
            if (!(holes & __shfl_sync(0xffffffffu, words, (int)i)) && z + i * gridDim.z < j->side_z)
                cells |= 1u << i;
        if (!inside) cells = 0;
        if (!__any_sync(0xffffffffu, cells != 0)) continue;
#pragma unroll 8
        for (tmap_u32 i = 0; i < 32; ++i) {
            c.z = z + i * gridDim.z;
            visit(j, c, cells >> i & 1);
        }
    }
}

static __device__ void write_bb(tmap_nbb3 f, job *j) {
    tmap_xyz c;
    if (box_place(f, j, &c)) j->volume[place_of(j, c)] = VALUE;
}
static __device__ void write_visit(job *j, tmap_xyz c, int cell) {
    if (cell) j->volume[place_of(j, c)] = VALUE;
}
static __device__ void write_bb_walk(tmap_nbb3 f, job *j) { box_walk(f, j, write_visit); }
static __device__ void write_lambda(tmap_nbb3 f, job *j) {
    const tmap_u64 i = blockIdx.x * 256ull + threadIdx.x;
    if (i >= j->cells) return;
    j->volume[place_of(j, tmap_nbb3_lambda_linear(f, (tmap_u32)i, j->r))] = VALUE;
}
static __device__ void write_cell(void *context, tmap_cell3 cell) {
    ((job *)context)->volume[cell.at] = VALUE;
}
static __global__ void __launch_bounds__(512, 2) write_each(tmap_each3_plan plan, job j) {
    tmap_each3(&plan, write_cell, &j);
}

static __device__ void sum_add(void *context, void *sum, tmap_cell3 cell, const void *value) {
    (void)context, (void)cell;
    *(tmap_u64 *)sum += *(const tmap_u32 *)value;
}
static __device__ void sum_join(void *context, void *sum, const void *other) {
    (void)context;
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
static __device__ void sum_end(const job *j, tmap_u64 sum) {
    const tmap_u64 zero = 0;
    const tmap_fold fold = {&zero, sizeof zero, sum_join};
    tmap_fold_block(&sum, fold, 0, tmapi_fold_scratch(8));
    if (tmap_thread_rank() == 0) atomicAdd((tmap_u64 *)j->to.result, sum);
}
static __device__ void sum_bb(tmap_nbb3 f, job *j) {
    tmap_xyz c;
    sum_end(j, box_place(f, j, &c) ? (tmap_u64)j->volume[place_of(j, c)] : 0);
}
static __device__ void sum_visit(job *j, tmap_xyz c, int cell) {
    j->sum += cell ? (tmap_u64)j->volume[place_of(j, c)] : 0;
}
static __device__ void sum_bb_walk(tmap_nbb3 f, job *j) {
    j->sum = 0;
    box_walk(f, j, sum_visit);
    sum_end(j, j->sum);
}
static __device__ void sum_lambda(tmap_nbb3 f, job *j) {
    const tmap_u64 i = blockIdx.x * 256ull + threadIdx.x;
    tmap_u64 value = 0;
    if (i < j->cells)
        value = (tmap_u64)j->volume[place_of(j, tmap_nbb3_lambda_linear(f, (tmap_u32)i, j->r))];
    sum_end(j, value);
}
static __global__ void __launch_bounds__(512, 2) sum_fold(tmap_each3_plan plan, job j) {
    const tmap_u64 zero = 0;
    const tmap_array in = {j.volume, sizeof *j.volume};
    const tmap_fold fold = {&zero, sizeof zero, sum_join};
    tmap_each3_fold(&plan, in, sum_add, fold, j.to, 0);
}

// The kernels of a variant and a fractal: write_bb_menger, ...
#define KERNEL(variant, name) \
    static __global__ void variant##_##name(job j) { variant(tmap_fractal3_##name(), &j); }
#define KERNELS(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    KERNEL(write_bb, name) \
    KERNEL(write_bb_walk, name) \
    KERNEL(write_lambda, name) \
    KERNEL(sum_bb, name) \
    KERNEL(sum_bb_walk, name) \
    KERNEL(sum_lambda, name)
TMAP_FRACTALS3(KERNELS)
#undef KERNELS
#undef KERNEL

// The two works: variants.
static const struct {
    const char *name, *variants[VARIANTS];
    const void *engine;
    int work; // of the engine
} works[2] = {
    {"sw", {"bb", "bb_walk", "lambda", "each"}, (const void *)write_each, TMAP_EACH_VISIT},
    {"rd", {"bb", "bb_walk", "lambda", "fold"}, (const void *)sum_fold, TMAP_EACH_FOLD}};

// The kernel of a work and of a variant other than the engine.
static const void *kernel_of(const job *j) {
#define KERNELS(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    {{(const void *)write_bb_##name, (const void *)write_bb_walk_##name, \
      (const void *)write_lambda_##name}, \
     {(const void *)sum_bb_##name, (const void *)sum_bb_walk_##name, \
      (const void *)sum_lambda_##name}},
    static const void *const kernels[TMAP_FRACTAL3_COUNT][2][EACH] = {TMAP_FRACTALS3(KERNELS)};
#undef KERNELS
    return kernels[tmap_fractal3_index(j->f)][j->work][j->variant];
}

static void run(void *context) {
    job *j = (job *)context;
    const tmap_u32 columns = (j->side_x + 31) / 32, rows = (j->side_y + 7) / 8;
    const tmap_u32 few = (tmap_u32)j->blocks / (columns * rows) + 1;
    const tmap_u32 planes = j->variant == BB_WALK && few < j->side_z ? few : j->side_z;
    const dim3 boxes(columns, rows, planes), block(32, 8);
    const dim3 cells((unsigned)((j->cells + 255) / 256)), threads(256);
    const int lambda = j->variant == LAMBDA;
    void *arguments[] = {j};
    if (j->variant == EACH) {
        CHECK(tmap_each3_launch(&j->plan, j, 0));
        return;
    }
    if (j->work) CHECK(cudaMemsetAsync(j->to.result, 0, 8, 0));
    CHECK(cudaLaunchKernel(kernel_of(j), lambda ? cells : boxes, lambda ? threads : block,
                           arguments, 0, 0));
}

// ---- what is right, and what the memory needs ---------------------------------------------------

static __global__ void fill_volume(job j, int value) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < j.places; i += gridDim.x * 256ull)
        j.volume[i] = value;
}

// Counts places whose value is wrong after a write.
static __global__ void count_wrong(job j, tmap_u64 *wrong) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < j.places; i += gridDim.x * 256ull) {
        const tmap_u64 row = i / j.side_x;
        const tmap_xyz c = {(tmap_u32)(i - row * j.side_x), (tmap_u32)(row % j.side_y),
                            (tmap_u32)(row / j.side_y)};
        if (j.volume[i] != (tmap_nbb3_contains(j.f, c, j.r) ? VALUE : GAP)) atomicAdd(wrong, 1ull);
    }
}

// Counts granules of 2^shift elements with a cell.
static __global__ void count_granules(job j, tmap_u32 shift, tmap_u64 *count) {
    const tmap_u64 granules = (j.places >> shift) + 1;
    for (tmap_u64 g = blockIdx.x * 256ull + threadIdx.x; g < granules; g += gridDim.x * 256ull) {
        int any = 0;
        for (tmap_u64 i = g << shift; i < (g + 1) << shift && i < j.places && !any; ++i) {
            const tmap_u64 row = i / j.side_x;
            const tmap_xyz c = {(tmap_u32)(i - row * j.side_x), (tmap_u32)(row % j.side_y),
                                (tmap_u32)(row / j.side_y)};
            any = tmap_nbb3_contains(j.f, c, j.r);
        }
        if (any) atomicAdd(count, 1ull);
    }
}

static tmap_u64 places_wrong(const job *j) {
    count_wrong<<<4096, 256>>>(*j, bench_counter());
    return bench_count();
}
static double granule_bytes(const job *j, tmap_u32 shift) {
    count_granules<<<4096, 256>>>(*j, shift, bench_counter());
    return (double)(4u << shift) * (double)bench_count();
}

// Values of all cells in memory: a sum that no other set of places has by chance.
static __global__ void fill_values(job j) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < j.places; i += gridDim.x * 256ull)
        j.volume[i] = (int)(check_hash(i, 3) & 0xffffff);
}

static void record(sweep *s, bench_row *row, job *j, bench_body body) {
    bench_key(row, "n", "%u", j->side_x);
    bench_key(row, "cells", "%llu", j->cells);
    row->rate = "gcells", row->unit = "Gcell/s", row->each = 1e-6 * (double)j->cells;
    bench_row_run(&s->d, row, body, j);
}

// The sum of random values of all cells by the job's variant.
static tmap_u64 sum_of(job *j) {
    tmap_u64 sum;
    CHECK(cudaMemset(j->to.result, 0x5a, 8));
    run(j);
    CHECK(cudaMemcpy(&sum, j->to.result, 8, cudaMemcpyDeviceToHost));
    return sum;
}

static void sweep_volume(sweep *s, tmap_nbb3 f, const char *name, tmap_u32 r) {
    const tmap_pitch3 tight = {0, 0};
    const double sectors = 1e-9 / s->d.ceilings.fill_tbs, granules = 1e-9 / s->d.ceilings.read_tbs;
    job j;
    if (!bench_listed(s->d.work, "sw") && !bench_listed(s->d.work, "rd")) return;
    memset(&j, 0, sizeof j);
    j.f = f, j.r = r;
    CHECK(cudaDeviceGetAttribute(&j.blocks, cudaDevAttrMultiProcessorCount, 0));
    j.blocks *= 4 * 8;
    j.side_x = (tmap_u32)tmap_nbb3_side_x(f, r), j.side_y = (tmap_u32)tmap_nbb3_side_y(f, r);
    j.side_z = (tmap_u32)tmap_nbb3_side_z(f, r);
    j.places = (tmap_u64)j.side_x * j.side_y * j.side_z, j.cells = tmap_nbb3_cells(f, r);
    if (!s->d.list) j.volume = (int *)kit_device(j.places * sizeof *j.volume);
    for (int i = 0; i < 2 * VARIANTS; ++i) {
        const int mark = kit_mark(), v = i % VARIANTS;
        j.work = i / VARIANTS, j.variant = (tmap_u32)v;
        bench_row row = bench_row_begin(&s->d, works[j.work].name, works[j.work].variants[v], name);
        bench_key(&row, "size", "%u", r);
        bench_key_text(&row, "dtype", "i32");
        if (!bench_wants(&s->d, &row)) continue;
        CHECK(tmap_each3_plan_make(works[j.work].work, tmap_turned_plain(f), r, tight,
                                   works[j.work].engine, &j.plan));
        if (j.work == 0) {
            fill_volume<<<4096, 256>>>(j, GAP);
            run(&j);
            bench_verify(&row, places_wrong(&j), "places");
            row.limit_ms = sectors * granule_bytes(&j, 3);
        } else { // against the bounding box, whose places count_wrong has verified
            job box = j;
            box.variant = BB, box.to.result = j.to.result = kit_device(8);
            j.to.workspace = kit_device(tmap_each3_fold_bytes(&j.plan, 8));
            CHECK(cudaMemset(j.to.workspace, 0, 16));
            fill_values<<<4096, 256>>>(j);
            bench_verify(&row, sum_of(&box) != sum_of(&j), "sum");
            row.limit_ms = granules * granule_bytes(&j, 4);
        }
        record(s, &row, &j, run);
        kit_release(mark);
    }
    kit_release(0);
}

// ---- life ---------------------------------------------------------------------------------------

static __device__ tmap_u32 bit_of(const job *j, const void *state, tmap_u64 i) {
    const tmap_u64 words = tmap_nbb3_cells(j->f, j->plan.r);
    const tmap_u32 bytes = j->plan.word.bytes, bit = (tmap_u32)(i / words);
    return ((const unsigned char *)state)[i % words * bytes + bit / 8] >> bit % 8 & 1;
}

// Compares the next states of cells at random, and of the cells around them.
static __global__ void check_life(job j, tmap_ca_rule rule, tmap_u64 samples, tmap_u64 *wrong) {
    const tmap_u64 t = blockIdx.x * 256ull + threadIdx.x;
    tmap_xyz64 c;
    tmap_u64 i;
    tmap_u32 living = 0, next;
    if (t >= samples) return;
    i = check_hash(t / 64, 5) % j.cells + t % 64; // 64 cells in a row
    if (i >= j.cells) return;
    c = tmap_nbb3_lambda_linear64(j.f, i, j.r);
    for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
        const tmap_xyz64 p = {c.x + n % 3 - 1, c.y + n / 3 % 3 - 1, c.z + n / 9 - 1};
        if (n != TMAP_HERE3 && tmap_nbb3_contains64(j.f, p, j.r))
            living += bit_of(&j, j.words[0], tmap_nbb3_nu_linear64(j.f, p, j.r));
    }
    next = (bit_of(&j, j.words[0], i) ? rule.survive : rule.born) >> living & 1;
    if (bit_of(&j, j.words[1], i) != next) atomicAdd(wrong, 1ull);
}

static __global__ void fill_life(job j, tmap_u64 bytes) {
    const tmap_u32 size = j.plan.word.bytes;
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < bytes; i += gridDim.x * 256ull) {
        const int cells = (int)j.plan.word.cells - 8 * (int)(i % size); // from this byte's first on
        const tmap_u64 bits = check_hash(i, 9) & check_hash(i, 10);
        ((unsigned char *)j.words[0])[i] = (unsigned char)(bits & (cells >= 8  ? 255u
                                                                   : cells > 0 ? (1u << cells) - 1
                                                                               : 0u));
    }
}

static void run_life(void *context) {
    job *j = (job *)context;
    const tmap_ca_rule rule = j->variant ? tmap_life3_5766() : tmap_life3_4555();
    CHECK(tmap_life3(&j->plan, rule, j->words[0], j->words[1], 0));
}

static void sweep_life(sweep *s, tmap_nbb3 f, const char *name, tmap_u32 r) {
    const tmap_u64 bytes = tmap_compact3_words_bytes(f, r), samples = 1 << 22;
    job j;
    memset(&j, 0, sizeof j);
    j.f = f, j.r = r, j.cells = tmap_nbb3_cells(f, r);
    j.side_x = (tmap_u32)tmap_nbb3_side_x(f, r);
    for (j.variant = 0; j.variant < 2; ++j.variant) {
        bench_row row = bench_row_begin(&s->d, "life", "compact_bits", name);
        bench_key_text(&row, "rule", j.variant ? "5766" : "4555");
        bench_key(&row, "size", "%u", r);
        bench_key_text(&row, "dtype", "bit");
        if (!bench_wants(&s->d, &row)) continue;
        j.words[0] = (tmap_u64 *)kit_device(bytes), j.words[1] = (tmap_u64 *)kit_guarded(bytes);
        CHECK(tmap_life3_plan_make(f, r, &j.plan));
        fill_life<<<4096, 256>>>(j, bytes);
        run_life(&j);
        check_life<<<(unsigned)(samples / 256), 256>>>(
            j, j.variant ? tmap_life3_5766() : tmap_life3_4555(), samples, bench_counter());
        bench_verify(&row, bench_count(), "cells");
        bench_key(&row, "bytes", "%llu", bytes);
        row.limit_ms = 2e-9 * (double)bytes / s->d.ceilings.copy_tbs;
        record(s, &row, &j, run_life);
        kit_release(0);
    }
}

// ---- lambda with turned copies ------------------------------------------------------------------

// Threads compute LAMBDA_TURNS cells each and write a word, so that the map's instructions tell.
enum { LAMBDA_TURNS = 32 };

TMAP_FN tmap_u32 lambda_word(tmap_xyz c) { return c.x + 31 * c.y + 1009 * c.z; }

#define LAMBDA_KERNEL(kind, name, cell) \
    static __global__ void lambda_##kind##_##name(tmap_u32 r, tmap_u32 threads, tmap_u32 *words) { \
        const tmap_u32 thread = blockIdx.x * blockDim.x + threadIdx.x; \
        tmap_u32 word = 0; \
        for (tmap_u32 j = 0; j < LAMBDA_TURNS; ++j) word ^= lambda_word(cell); \
        words[thread] = word; \
    }
#define LAMBDA_KERNELS(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    LAMBDA_KERNEL(turned, name, \
                  tmap_turned_lambda_linear(tmap_turned_##name(), thread + j * threads, r)) \
    LAMBDA_KERNEL(plain, name, \
                  tmap_nbb3_lambda_linear(tmap_turned_##name().f, thread + j * threads, r))
TMAP_TURNED(LAMBDA_KERNELS)
#undef LAMBDA_KERNELS

typedef struct lambda_job {
    const void *kernel;
    tmap_u32 r, threads, *words;
} lambda_job;

static void run_lambda(void *context) {
    lambda_job *j = (lambda_job *)context;
    void *arguments[] = {&j->r, &j->threads, &j->words};
    CHECK(cudaLaunchKernel(j->kernel, dim3(j->threads / 256), dim3(256), arguments, 0, 0));
}

static void sweep_lambda(sweep *s, int i) {
#define LAMBDA_LIST(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    {(const void *)lambda_plain_##name, (const void *)lambda_turned_##name},
    static const void *const kernels[][2] = {TMAP_TURNED(LAMBDA_LIST)};
#undef LAMBDA_LIST
    const tmap_turned t = tmap_turned_at(i);
    const tmap_u32 threads = (tmap_u32)s->threads / 256 * 256;
    const tmap_u32 bytes = threads * sizeof(tmap_u32);
    for (int turned = 0; turned < 2; ++turned) {
        bench_row row =
            bench_row_begin(&s->d, "lambda", turned ? "turned" : "plain", tmap_turned_name(i));
        lambda_job j = {kernels[i][turned], tmap_nbb3_linear_level_max32(t.f), threads, 0};
        const tmap_u32 *words;
        tmap_u64 wrong = 0;
        bench_key(&row, "size", "%u", j.r);
        if (!bench_wants(&s->d, &row)) continue;
        j.words = (tmap_u32 *)kit_guarded(bytes);
        run_lambda(&j);
        words = (const tmap_u32 *)kit_to_host(j.words, bytes);
        for (tmap_u32 thread = 0; thread < threads; thread += 61) {
            tmap_u32 want = 0;
            for (tmap_u32 n = 0; n < LAMBDA_TURNS; ++n) {
                const tmap_u32 at = thread + n * j.threads;
                want ^= lambda_word(turned ? tmap_turned_lambda_linear(t, at, j.r)
                                           : tmap_nbb3_lambda_linear(t.f, at, j.r));
            }
            wrong += words[thread] != want;
        }
        bench_verify(&row, wrong, "words");
        row.rate = "gcells", row.unit = "Gcell/s";
        row.each = 1e-6 * LAMBDA_TURNS * (double)threads;
        bench_row_run(&s->d, &row, run_lambda, &j);
        kit_release(0);
    }
}

// ---- storages -----------------------------------------------------------------------------------

static const struct {
    const char *name;
    tmap_u32 level[2]; // with --quick and without
} stores[] = {{"gasket", {12, 16}},     {"carpet", {7, 10}},   {"menger", {5, 6}},
              {"tetrahedron", {9, 11}}, {"dust", {5, 6}},      {"vicsek3", {5, 6}},
              {"mosely", {5, 6}},       {"octahedron", {5, 6}}};

// The bytes that a work moves at least: all cells once, or twice.
static double store_bytes(const store_job *j) {
    return (j->work == STORE_WRITE || j->work == STORE_SUM ? 4.0 : 8.0) * (double)j->cells;
}

static void sweep_store(sweep *s, store_job *j, const char *name) {
    const tmap_u64 places =
        tmap_nbb3_side_x(j->f, j->r) * tmap_nbb3_side_y(j->f, j->r) * tmap_nbb3_side_z(j->f, j->r);
    const int compact = j->variant == STORE_COMPACT || j->variant == STORE_COMPACT_2D;
    bench_row row = bench_row_begin(&s->d, store_works[j->work], store_variants[j->variant], name);
    bench_key(&row, "size", "%u", j->r);
    bench_key_text(&row, "dtype", "f32");
    if (!bench_wants(&s->d, &row)) return;
    j->pitch.row = compact ? TMAP_COMPACT : 0, j->pitch.plane = 0;
    j->cells = tmap_nbb3_cells(j->f, j->r), j->elements = compact ? j->cells : places;
    store_plan(j);
    j->step.out = (float *)kit_guarded(j->elements * 4), j->step.value = 1;
    j->step.in = j->work == STORE_UPDATE ? j->step.out : 0;
    if (j->work >= STORE_SUM) j->step.in = (const float *)kit_device(j->elements * 4);
    j->step.to.workspace = kit_device(store_is_2d(j) ? tmap_each_fold_bytes(&j->plan2, 8)
                                                     : tmap_each3_fold_bytes(&j->plan3, 8));
    CHECK(cudaMemset(j->step.to.workspace, 0, 16));
    j->step.to.result = j->want = (double *)kit_device(16);
    ++j->want;
    bench_verify(&row, store_wrong(j), "cells");
    bench_key(&row, "n", "%llu", tmap_nbb3_side_x(j->f, j->r));
    bench_key(&row, "cells", "%llu", j->cells);
    row.rate = "gcells", row.unit = "Gcell/s", row.each = 1e-6 * (double)j->cells;
    if (compact) row.limit_ms = 1e-9 * store_bytes(j) / s->d.ceilings.copy_tbs;
    bench_row_run(&s->d, &row, store_run, j);
    kit_release(0);
}

static void sweep_stores(sweep *s, size_t i) {
    store_job j;
    memset(&j, 0, sizeof j);
    for (int k = 0; k < TMAP_FRACTAL_COUNT; ++k)
        if (!strcmp(tmap_fractal_name(k), stores[i].name)) j.flat = tmap_fractal_at(k);
    for (int k = 0; k < TMAP_FRACTAL3_COUNT; ++k)
        if (!strcmp(tmap_fractal3_name(k), stores[i].name)) j.f = tmap_fractal3_at(k);
    if (j.flat.k) j.f = store_layer(j.flat);
    j.r = s->level ? (tmap_u32)s->level : stores[i].level[!s->d.quick];
    for (j.work = 0; j.work < STORE_WORKS; ++j.work)
        for (j.variant = 0; j.variant < (j.flat.k ? STORE_VARIANTS : STORE_COMPACT_2D); ++j.variant)
            sweep_store(s, &j, stores[i].name);
}

// Levels of a volume and of life, with --quick and without.
static const struct {
    const char *name;
    tmap_u32 level[2], life[2];
} domains[] = {{"tetrahedron", {9, 11}, {13, 18}}, {"menger", {5, 6}, {6, 8}},
               {"dust", {5, 6}, {7, 10}},          {"vicsek3", {5, 6}, {8, 11}},
               {"mosely", {5, 6}, {6, 8}},         {"octahedron", {5, 6}, {8, 12}}};

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--fractal", "a name (all)", 0, 0, BENCH_TEXT, &s.fractal, 0, 0},
        {"--level", "of volumes; 0: one that fills the GPU", "0", 0, BENCH_NUMBER, &s.level, 0, 20},
        {"--life", "level of life; 0: as large", "0", 0, BENCH_NUMBER, &s.life_level, 0, 20},
        {"--threads", "of lambda", "1048576", 0, BENCH_NUMBER, &s.threads, 256, 1 << 24}};
    s.d.name = "fractal3", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "60", s.d.quick_budget = "5", s.d.queued = 1;
    bench_begin(&s.d, argc, argv);
    for (size_t i = 0; i < COUNT(domains); ++i) {
        const int full = !s.d.quick;
        tmap_nbb3 f = tmap_fractal3_menger();
        if (s.fractal && strcmp(s.fractal, domains[i].name)) continue;
        for (int k = 0; k < TMAP_FRACTAL3_COUNT; ++k)
            if (!strcmp(tmap_fractal3_name(k), domains[i].name)) f = tmap_fractal3_at(k);
        sweep_volume(&s, f, domains[i].name, s.level ? (tmap_u32)s.level : domains[i].level[full]);
        sweep_life(&s, f, domains[i].name,
                   s.life_level ? (tmap_u32)s.life_level : domains[i].life[full]);
    }
    for (size_t i = 0; i < COUNT(stores); ++i)
        if (!s.fractal || !strcmp(s.fractal, stores[i].name)) sweep_stores(&s, i);
    for (int i = 0; i < TMAP_TURNED_COUNT; ++i)
        if (!s.fractal || !strcmp(s.fractal, tmap_turned_name(i))) sweep_lambda(&s, i);
    return bench_end(&s.d);
}
