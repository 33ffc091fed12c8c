// SPDX-License-Identifier: MIT
// triples_work.h: the energy of Axilrod and Teller of all triples of n points, through the engine
// for triples as a user writes it (axilrod_teller), by a thread for each triple (axilrod_teller_map)
// and by a bounding box of n^3 threads (axilrod_teller_bb).
//
// Verified before it is timed: the energy of the first points against the host's in double
// precision, and that of all points against a kernel in double precision, whose energy of the first
// points is compared with the host's, too.
#ifndef BENCH_TRIANGLE_TRIPLES_WORK_H
#define BENCH_TRIANGLE_TRIPLES_WORK_H

#include "pairs_rows_work.h"
#include "pairs_work.h"

enum {
    TRIPLES_ENGINE,
    TRIPLES_MAP,
    TRIPLES_BB,
    TRIPLES_VARIANTS,
    TRIPLES_SLOTS = 4096, // partial sums of the kernels without the engine
    TRIPLES_BLOCK = 256,  // their threads
    TRIPLES_FEW = 200     // points whose energy the host computes
};
static const char *const triples_names[TRIPLES_VARIANTS] = {"axilrod_teller", "axilrod_teller_map",
                                                            "axilrod_teller_bb"};
// Instructions of a term where a thread has four points i and two points j: 12, 6 for each squared
// distance, of which there are 6 for 8 terms.
#define TRIPLES_INSTRUCTIONS 16.5
#define TRIPLES_TOLERANCE    2e-6

typedef struct triples_job {
    const float *points;
    tmap_fold_to to; // of the engine
    double *slots;   // of the others
} triples_job;

TMAP_DEVICE float triples_squared(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return x * x + y * y + z * z;
}

// (1 + 3 cos a cos b cos c) / (r_ij r_jk r_ik)^3, times (3/8)^(3/2): with the factor 8/3 in the root,
// its square times the product of the cosines' numerators is the second addend.
#define TRIPLES_SCALE 4.3546484440147065 // (8/3)^(3/2)
TMAP_DEVICE float triples_term(const float *a, const float *b, const float *c) {
    const float ij = triples_squared(a, b), jk = triples_squared(b, c), ik = triples_squared(a, c);
    const float inverse = rows_root(8.0f / 3 * ij * (jk * ik));
    const float squared = inverse * inverse, apart = jk - ik;
    return inverse * squared * ((ij * ij - apart * apart) * (jk + ik - ij) * squared + 1);
}

// ---- the kernels --------------------------------------------------------------------------------

TMAP_DEVICE void triples_add(void *, void *sum, tmap_triple, const void *a, const void *b,
                             const void *c) {
    ((pairs_terms *)sum)->part +=
        triples_term((const float *)a, (const float *)b, (const float *)c);
}
static __global__ void __launch_bounds__(TMAP_TRIPLES_THREADS, 4)
    triples_engine(tmap_triples_plan plan, triples_job j) {
    const tmap_points points = {j.points, 0, sizeof(float), 3};
    const pairs_terms zero = {0, 0, 0};
    const tmap_fold sum = {&zero, sizeof zero, pairs_drmsd_join};
    tmap_triples_fold(&plan, points, triples_add, sum, j.to, 0);
}

// Adds the terms of a block to one of the partial sums. All threads of full warps call it.
TMAP_DEVICE void triples_finish(double *slots, tmap_u64 block, double term) {
    term = tmap_warp_sum_f64_shuffle(tmap_warp_full(), term);
    if (tmap_thread_rank() % 32 == 0) atomicAdd(&slots[block % TRIPLES_SLOTS], term);
}
static __global__ void __launch_bounds__(TRIPLES_BLOCK)
    triples_map(tmap_u32 n, tmap_u64 triples, triples_job j) {
    const tmap_u64 lambda = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    float term = 0;
    (void)n;
    if (lambda < triples) {
        const tmap_triple t =
            triples >> 32 ? tmap_simplex_map64(lambda) : tmap_simplex_map((tmap_u32)lambda);
        term = triples_term(j.points + 3 * (t.i + 2), j.points + 3 * (t.j + 1), j.points + 3 * t.k);
    }
    triples_finish(j.slots, blockIdx.x, term);
}
static __global__ void __launch_bounds__(TRIPLES_BLOCK)
    triples_bb(tmap_u32 n, tmap_u64 triples, triples_job j) {
    const tmap_u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    const tmap_u32 y = blockIdx.y * blockDim.y + threadIdx.y;
    const tmap_u32 x = blockIdx.z * blockDim.z + threadIdx.z;
    const int is_triple = x < n && y < x && k < y;
    float term = 0;
    (void)triples;
    if (!__any_sync(0xffffffffu, is_triple)) return;
    if (is_triple) term = triples_term(j.points + 3 * x, j.points + 3 * y, j.points + 3 * k);
    triples_finish(j.slots, blockIdx.x + gridDim.x * (blockIdx.y + 37ull * blockIdx.z), term);
}

// In double precision, by the angles.
TMAP_FN double triples_distance(const float *u, const float *v) {
    const double x = (double)u[0] - v[0], y = (double)u[1] - v[1], z = (double)u[2] - v[2];
    return sqrt(x * x + y * y + z * z);
}
TMAP_FN double triples_term_f64(const float *a, const float *b, const float *c) {
    const double p = triples_distance(a, b), q = triples_distance(b, c), r = triples_distance(a, c);
    const double cosines = (p * p + r * r - q * q) * (p * p + q * q - r * r) *
                           (q * q + r * r - p * p) / (8 * p * p * q * q * r * r);
    return (1 + 3 * cosines) / (p * q * r * p * q * r * p * q * r);
}
static __global__ void __launch_bounds__(TRIPLES_BLOCK)
    triples_f64(tmap_u32 n, tmap_u64 pairs, triples_job j) {
    double sum = 0;
    (void)n;
    BENCH_EACH(at, pairs) {
        const tmap_pair64 p = tmap_triangle_map64(at); // i + 1 > j
        for (tmap_u64 k = 0; k < p.j; ++k)
            sum += triples_term_f64(j.points + 3 * (p.i + 1), j.points + 3 * p.j, j.points + 3 * k);
    }
    triples_finish(j.slots, blockIdx.x, sum);
}

// ---- launches -----------------------------------------------------------------------------------

typedef struct triples_call {
    tmap_triples_plan plan; // of the engine
    const void *kernel;     // of the others
    dim3 grid, block;
    tmap_u32 n;
    tmap_u64 count; // what the kernel takes beside n
    triples_job job;
} triples_call;

static void triples_run(void *context) {
    triples_call *c = (triples_call *)context;
    void *arguments[3] = {&c->n, &c->count, &c->job};
    if (!c->kernel) {
        CHECK(tmap_triples_launch(&c->plan, &c->job, 0));
        return;
    }
    CHECK(cudaMemsetAsync(c->job.slots, 0, TRIPLES_SLOTS * sizeof(double), 0));
    CHECK(cudaLaunchKernel(c->kernel, c->grid, c->block, arguments, 0, 0));
}

// A call of a variant for the first n points, or of the kernel in double precision.
static triples_call triples_call_of(const pairs_sweep *s, int variant, tmap_u32 n,
                                    triples_job job) {
    const tmap_u64 triples = tmap_triples_cells(n);
    triples_call c;
    c.kernel = 0, c.n = n, c.count = triples, c.job = job, c.block = dim3(TRIPLES_BLOCK);
    if (variant == TRIPLES_ENGINE)
        CHECK(tmap_triples_plan_make(n, 3, sizeof(float), (const void *)triples_engine, &c.plan));
    if (variant == TRIPLES_MAP) {
        c.kernel = (const void *)triples_map;
        c.grid = dim3((unsigned)((triples + TRIPLES_BLOCK - 1) / TRIPLES_BLOCK));
    }
    if (variant == TRIPLES_BB) {
        c.kernel = (const void *)triples_bb, c.block = dim3(32, 4, 2);
        c.grid = dim3((n + 31) / 32, (n + 3) / 4, (n + 1) / 2);
    }
    if (variant == TRIPLES_VARIANTS) {
        c.kernel = (const void *)triples_f64, c.count = tmap_condensed_cells(n);
        c.grid = dim3(s->processors * 32);
    }
    return c;
}

static double triples_energy(triples_call *c) {
    static double slots[TRIPLES_SLOTS];
    pairs_terms result;
    double sum = 0;
    triples_run(c);
    if (!c->kernel) {
        CHECK(cudaMemcpy(&result, c->job.to.result, sizeof result, cudaMemcpyDeviceToHost));
        return TRIPLES_SCALE * result.sum;
    }
    CHECK(cudaMemcpy(slots, c->job.slots, sizeof slots, cudaMemcpyDeviceToHost));
    for (int i = 0; i < TRIPLES_SLOTS; ++i) sum += slots[i];
    return c->kernel == (const void *)triples_f64 ? sum : TRIPLES_SCALE * sum;
}

// The energy of the first n points, on the host.
static double triples_host(const float *points, tmap_u32 n) {
    double sum = 0;
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < i; ++j)
            for (tmap_u32 k = 0; k < j; ++k)
                sum += triples_term_f64(points + 3 * i, points + 3 * j, points + 3 * k);
    return sum;
}

static int triples_near(double got, double want) {
    return fabs(got - want) <= TRIPLES_TOLERANCE * fabs(want);
}

// ---- in a size ----------------------------------------------------------------------------------

// n points near those of a cubic grid of side 1, multiples of 2^-20.
static float *triples_points(tmap_u32 n) {
    float *points = (float *)kit_host(n * 3ull * sizeof *points);
    tmap_u32 side = 1;
    while (side * side * side < n) ++side;
    for (tmap_u32 i = 0; i < n; ++i) {
        const tmap_u32 place[3] = {i % side, i / side % side, i / (side * side)};
        for (tmap_u32 x = 0; x < 3; ++x) {
            const tmap_u32 h = ((3 * i + x) * 2654435769u ^ 0x5bd1e995u) * 2246822519u;
            points[3 * i + x] = (float)(place[x] * 1048576.0 + (h >> 14)) / 1048576.0f;
        }
    }
    return points;
}

static void triples_verify(const pairs_sweep *s, bench_row *row, int variant, tmap_u32 n,
                           triples_job job, const float *points) {
    const tmap_u32 most = TRIPLES_FEW, few = n < most ? n : most;
    const double want = triples_host(points, few);
    triples_call check = triples_call_of(s, TRIPLES_VARIANTS, few, job);
    triples_call call = triples_call_of(s, variant, few, job);
    double got = triples_energy(&check), all;
    pairs_verify(row, triples_near(got, want), got, want);
    got = triples_energy(&call);
    pairs_verify(row, triples_near(got, want), got, want);
    check = triples_call_of(s, TRIPLES_VARIANTS, n, job);
    call = triples_call_of(s, variant, n, job);
    all = triples_energy(&check), got = triples_energy(&call);
    pairs_verify(row, triples_near(got, all), got, all);
}

static void pairs_sweep_triples(pairs_sweep *s, tmap_u32 n) {
    const tmap_u64 triples = tmap_triples_cells(n);
    float *points = triples_points(n);
    tmap_triples_plan plan;
    triples_job job;
    CHECK(tmap_triples_plan_make(n, 3, sizeof(float), (const void *)triples_engine, &plan));
    job.points = (const float *)kit_to_device(points, n * 3ull * sizeof *points);
    job.slots = (double *)kit_device(TRIPLES_SLOTS * sizeof(double));
    job.to.workspace = kit_device(plan.workspace);
    job.to.result = kit_device(sizeof(pairs_terms));
    for (int variant = 0; variant < TRIPLES_VARIANTS; ++variant) {
        bench_row row = bench_row_begin(&s->d, "triples", triples_names[variant], "simplex");
        triples_call call;
        bench_key(&row, "size", "%u", n);
        bench_key(&row, "d", "3");
        bench_key_text(&row, "dtype", "f32");
        row.rate = "ttriples", row.unit = "Ttriple/s", row.each = 1e-9 * (double)triples;
        row.limit_ms = (double)triples * TRIPLES_INSTRUCTIONS / s->instructions_a_ms;
        if (!bench_wants(&s->d, &row)) continue;
        CHECK(cudaMemset(job.to.workspace, 0, plan.workspace));
        triples_verify(s, &row, variant, n, job, points);
        CHECK(cudaMemset(job.to.workspace, 0, plan.workspace)); // was one of fewer points
        call = triples_call_of(s, variant, n, job);
        bench_row_run(&s->d, &row, triples_run, &call);
    }
}

#endif
