// SPDX-License-Identifier: MIT
// bench_simplex: the map of the 3-simplex, triples k <= j <= i < n, beside a bounding box and the
// map as published, alone (dummy3) and with a write to each cell (write3), over sizes and tiles.
//
//     bb                    a block for each tile of the cube, which leaves without a cell in it
//     simplex_blocks        a block for each tile of the simplex, by tmap_simplex_map
//     simplex_threads       a thread for each triple, by tmap_simplex_map
//     simplex_h             map H, in a grid of its own
//     simplex_published     simplex_blocks by the published roots, in single precision
//     simplex_published_f64 the same in double precision
//
// A tile has rho^3 places; a block has a thread for each, which tests whether it is a cell. Cells
// are written to a cube of n^3 integers: a packed array has a cell's number as its address, which
// only simplex_threads has at once. Verified before it is timed: every cell of the cube has its
// value and every other place is untouched, and no cell is written twice.
#include "../driver.h"

#include <threadmap/papers/simplex_h.h>
#include <threadmap/papers/simplex_published.h>

// ---- the kernels --------------------------------------------------------------------------------

enum { BB, BLOCKS, THREADS, H, PUBLISHED, PUBLISHED_F64, VARIANTS };
static const char *const variant_names[] = {
    "bb",        "simplex_blocks",    "simplex_threads",
    "simplex_h", "simplex_published", "simplex_published_f64"};
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
    if (variant == H) {
        const tmap_xy at = {blockIdx.x, blockIdx.y};
        if (!tmap_simplex_h3_map(at, blockIdx.z, 2 * gridDim.x, &tile)) return 0;
    }
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
SIMPLEX_KERNELS(h, H)
SIMPLEX_KERNELS(published, PUBLISHED)
SIMPLEX_KERNELS(published_f64, PUBLISHED_F64)

enum { DUMMY, WRITE, ADD };
typedef void (*simplex_kernel)(tmap_u32, tmap_u32 *);
static const simplex_kernel kernels[VARIANTS][3] = {
    {dummy_bb, write_bb, add_bb},
    {dummy_blocks, write_blocks, add_blocks},
    {dummy_threads, write_threads, add_threads},
    {dummy_h, write_h, add_h},
    {dummy_published, write_published, add_published},
    {dummy_published_f64, write_published_f64, add_published_f64}};

// Counts places of the cube that are not right. empty: of a place that is no cell.
static __global__ void simplex_check(tmap_u32 n, const tmap_u32 *out, tmap_u32 empty,
                                     tmap_u64 *wrong) {
    const tmap_u64 places = (tmap_u64)n * n * n;
    tmap_u64 bad = 0;
    BENCH_EACH(at, places) {
        const tmap_u64 row = at / n;
        const tmap_triple t = {(tmap_u32)(row / n), (tmap_u32)(row % n), (tmap_u32)(at - row * n)};
        bad += out[at] != (t.j <= t.i && t.k <= t.j ? simplex_value(t) : empty);
    }
    if (bad) atomicAdd(wrong, bad);
}

// ---- a job --------------------------------------------------------------------------------------

typedef struct sweep {
    bench_driver d;
    bench_numbers n, rho;
    tmap_u32 *out;
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
    if (j->variant == H) {
        grid.x = grid.y = tmap_simplex_h3_half(tiles);
        grid.z = tmap_simplex_h3_planes(2 * grid.x);
    }
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
    j.work = work;
    CHECK(cudaMemset(j.s->out, byte, (size_t)j.n * j.n * j.n * sizeof *j.s->out));
    job_run(&j);
    simplex_check<<<1024, 256>>>(j.n, j.s->out, empty, bench_counter());
    return bench_count();
}

// All variants at a size and side of a tile. The published maps, whose roots are exact in a range
// only, have no row outside it.
static void sweep_one(sweep *s, tmap_u32 n, tmap_u32 rho) {
    const double cells = (double)tmap_simplex_cells(n);
    job j = {s, 0, WRITE, n, rho, 0};
    tmap_u64 wrong[VARIANTS];
    int verified[VARIANTS] = {0};
    for (j.work = DUMMY; j.work <= WRITE; ++j.work) {
        double bb_ms = 0;
        for (j.variant = 0; j.variant < VARIANTS; ++j.variant) {
            bench_row row = bench_row_begin(&s->d, j.work == WRITE ? "write3" : "dummy3",
                                            variant_names[j.variant], "simplex");
            bench_key(&row, "size", "%u", n);
            bench_key(&row, "rho", "%u", rho);
            bench_key_text(&row, "dtype", "i32");
            if (!bench_wants(&s->d, &row)) continue;
            if (!verified[j.variant]++)
                wrong[j.variant] = job_wrong(j, WRITE, POISON_BYTE) + job_wrong(j, ADD, 0);
            if (wrong[j.variant] && j.variant >= PUBLISHED) {
                bench_left_out(&row, "inexact");
                continue;
            }
            bench_verify(&row, wrong[j.variant], "places");
            row.unit = "Gcell/s", row.each = 1e-6 * cells;
            if (j.work == WRITE) row.limit_ms = 1e-9 * 4 * cells / s->d.ceilings.fill_tbs;
            bench_time_row(&row, job_run, &j);
            bench_energy_row(&s->d, &row, job_run, &j);
            if (j.variant == BB) bb_ms = row.time.ms;
            bench_key(&row, "threads", "%llu", j.threads);
            bench_key(&row, "useful", "%.4g", cells / (double)j.threads);
            if (bb_ms > 0) bench_key(&row, "i", "%.4f", bb_ms / row.time.ms);
            bench_row_end(&s->d, &row);
        }
    }
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--n", "layers of the simplex", "64,128,256,512,1024,1536", "64,256,1024", BENCH_LIST,
         &s.n, 1, 2048},
        {"--rho", "sides of the tiles", "4,8", 0, BENCH_LIST, &s.rho, 1, 10},
        {"--bytes", "memory for the bandwidths", "1073741824", 0, BENCH_NUMBER, &s.d.bytes, 1 << 16,
         1ull << 40}};
    tmap_u64 most = 0;
    s.d.name = "simplex", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "40", s.d.quick_budget = "10";
    bench_begin(&s.d, argc, argv);
    for (int i = 0; i < s.n.count; ++i)
        if (s.n.value[i] > most) most = s.n.value[i];
    s.out = (tmap_u32 *)kit_device(most * most * most * sizeof *s.out);
    for (int i = 0; i < s.n.count; ++i)
        for (int r = 0; r < s.rho.count; ++r) sweep_one(&s, s.n.value[i], s.rho.value[r]);
    return bench_end(&s.d);
}
