// SPDX-License-Identifier: MIT
// test_check: with TMAP_CHECK each mistake of a table is told, by its own words, and ends the launch
// or is refused by it; correct calls of the same kernels are silent. A launch that is ended takes its
// context along, so that each case is a process of its own.
#ifndef TMAP_CHECK
#define TMAP_CHECK
#endif
#include "kit.h"

#include <sys/wait.h>
#include <threadmap/adaptive.h>
#include <threadmap/fractal.h>
#include <threadmap/triangle.h>
#include <threadmap/triangle/triples_tables.h>
#include <unistd.h>

enum { N = 1500, TRIPLES_N = 70, SIDE = 64, TOLD = 3, ERROR = 4 };

typedef struct job {
    float *points, *others, *out;
    tmap_u64 *result;
    void *workspace;
    tmap_pairs_list list;
} job;

typedef struct larger_job {
    job j;
    int more;
} larger_job;

// ---- kernels: each calls one engine, for points of two floats -----------------------------------

static __device__ void join(void *, void *sum, const void *other) {
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
static __device__ tmap_points points_of(const job *j) {
    const tmap_points points = {j->points, j->others, sizeof(float), 2};
    return points;
}
static __device__ tmap_fold fold_of(const tmap_u64 *zero, tmap_u32 bytes) {
    const tmap_fold fold = {zero, bytes, join};
    return fold;
}
static __device__ void count(void *, void *sum, tmap_pair, const void *, const void *) {
    if (sum) ++*(tmap_u64 *)sum;
}
static __device__ int choose(void *, tmap_pair pair, const void *, const void *, void *) {
    return pair.j - pair.i == 1;
}
static __device__ void give(void *, tmap_pair, const void *, const void *, void *i, void *j) {
    ++*(tmap_u64 *)i, ++*(tmap_u64 *)j;
}
static __device__ void value(void *, tmap_pair, const void *, const void *, void *to) {
    *(float *)to = 1;
}
static __device__ void start(void *, void *sum) { *(float *)sum = 0; }
static __device__ void add(void *, void *sum, const void *, const void *) { *(float *)sum += 1; }
static __device__ void finish(void *, tmap_pair, const void *sum, void *to) {
    *(float *)to = *(const float *)sum;
}
static __device__ void of_frame(void *, tmap_u64, const void *, const void *) {}
static __device__ void add_frame(void *, void *sum, tmap_pair, const float *, const float *,
                                 const float *, const float *) {
    ++*(tmap_u64 *)sum;
}

#define PAIRS(name, threads) \
    static __global__ void __launch_bounds__(threads) name(tmap_pairs_plan plan, job j)
PAIRS(pairs_each, TMAP_PAIRS_THREADS) { tmap_pairs_each(&plan, points_of(&j), count, 0); }
PAIRS(of_pairs, 1024) { tmap_pairs_each(&plan, points_of(&j), count, 0); } // as large as ASK's
PAIRS(pairs_fold, TMAP_PAIRS_THREADS) {
    const tmap_u64 zero = 0;
    const tmap_fold_to to = {j.workspace, j.result};
    tmap_pairs_fold(&plan, points_of(&j), count, fold_of(&zero, 8), to, &j);
}
PAIRS(pairs_fold_odd, TMAP_PAIRS_THREADS) {
    const tmap_u64 zero = 0;
    const tmap_fold_to to = {j.workspace, j.result};
    tmap_pairs_fold(&plan, points_of(&j), count, fold_of(&zero, 6), to, &j);
}
PAIRS(pairs_select, TMAP_PAIRS_THREADS) {
    const tmap_pairs_choice choice = {choose, 0, TMAP_PAIRS_ANY_ORDER};
    tmap_pairs_select(&plan, points_of(&j), choice, &j.list, &j);
}
PAIRS(pairs_rows, TMAP_PAIRS_THREADS) {
    const tmap_u64 zero = 0;
    const tmap_pairs_rows_to to = {j.workspace, j.result, 0};
    tmap_pairs_rows(&plan, points_of(&j), give, fold_of(&zero, 8), to, &j);
}
PAIRS(pairs_rows_large, TMAP_PAIRS_THREADS) {
    const tmap_u64 zero[8] = {0};
    const tmap_pairs_rows_to to = {j.workspace, j.result, 0};
    tmap_pairs_rows(&plan, points_of(&j), give, fold_of(zero, 64), to, &j);
}
PAIRS(pairs_store, TMAP_PAIRS_STORE_THREADS) {
    tmap_pairs_store(&plan, points_of(&j), value, sizeof(float), j.out, &j);
}
PAIRS(pairs_sums, TMAP_PAIRS_SUMS_THREADS) {
    const tmap_pairs_sum sum = {start, add, 0, finish, sizeof(float), 0};
    tmap_pairs_store_sums(&plan, points_of(&j), sum, sizeof(float), j.out, &j);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    pairs_frames(tmap_pairs_frames_plan plan, job j) {
    const tmap_u64 zero = 0;
    const tmap_pairs_frames_points points = {0, j.points, plan.n, 0};
    const tmap_pairs_frames_calls calls = {0, 0, 0, 0, add_frame, of_frame};
    tmap_pairs_frames(&plan, points, calls, fold_of(&zero, 8), j.workspace, &j);
}

static __device__ void count_triple(void *, void *sum, tmap_triple, const void *, const void *,
                                    const void *) {
    if (sum) ++*(tmap_u64 *)sum;
}
static __device__ int choose_triple(void *, tmap_triple t, const void *, const void *,
                                    const void *) {
    return t.i - t.k == 2;
}
static __device__ void count_table(void *, void *sum, tmap_triple, const tmap_u32 *) {
    ++*(tmap_u64 *)sum;
}
#define TRIPLES(name, threads) \
    static __global__ void __launch_bounds__(threads) name(tmap_triples_plan plan, job j)
TRIPLES(triples_each, TMAP_TRIPLES_THREADS) {
    tmap_triples_each(&plan, points_of(&j), count_triple, 0);
}
TRIPLES(of_triples, TMAP_TRIPLES_TABLES_THREADS) { // as large as those of tables
    tmap_triples_each(&plan, points_of(&j), count_triple, 0);
}
TRIPLES(triples_fold, TMAP_TRIPLES_THREADS) {
    const tmap_u64 zero = 0;
    const tmap_fold_to to = {j.workspace, j.result};
    tmap_triples_fold(&plan, points_of(&j), count_triple, fold_of(&zero, 8), to, &j);
}
TRIPLES(triples_fold_odd, TMAP_TRIPLES_THREADS) {
    const tmap_u64 zero = 0;
    const tmap_fold_to to = {j.workspace, j.result};
    tmap_triples_fold(&plan, points_of(&j), count_triple, fold_of(&zero, 6), to, &j);
}
TRIPLES(triples_select, TMAP_TRIPLES_THREADS) {
    const tmap_triples_list list = {0, 0, j.list.count, j.list.workspace};
    tmap_triples_select(&plan, points_of(&j), choose_triple, &list, &j);
}
TRIPLES(triples_tables, TMAP_TRIPLES_TABLES_THREADS) {
    const tmap_u64 zero = 0;
    const tmap_fold_to to = {j.workspace, j.result};
    const tmap_triples_samples samples = {(const tmap_u32 *)j.points, TRIPLES_N, {200, 200}};
    tmap_triples_tables_fold(&plan, &samples, count_table, fold_of(&zero, 8), to, &j);
}

static __device__ void visit(void *, tmap_cell) {}
static __device__ void add_cell(void *, void *sum, tmap_cell, const void *) { ++*(tmap_u64 *)sum; }
static __device__ void rule(void *, tmap_cell, tmap_u32, const void *, void *next) {
    *(tmap_u32 *)next = 0;
}
static __global__ void each(tmap_each_plan plan, job j) { tmap_each(&plan, visit, &j); }
#define EACH_FOLD(name, size) \
    static __global__ void __launch_bounds__(512, 2) name(tmap_each_plan plan, job j) { \
        const tmap_u64 zero = 0; \
        const tmap_array in = {j.points, size}; \
        const tmap_fold_to to = {j.workspace, j.result}; \
        tmap_each_fold(&plan, in, add_cell, fold_of(&zero, 8), to, &j); \
    }
EACH_FOLD(each_fold, 4)
EACH_FOLD(each_fold_3, 3)
EACH_FOLD(each_fold_16, 16)
static __global__ void __launch_bounds__(512, 2) stencil_words(tmap_each_plan plan, job j) {
    const tmap_array in = {j.points, 4};
    tmap_each_stencil_words(&plan, in, rule, j.out, &j);
}

static __device__ tmap_ask_range query(const void *, const tmap_ask_region *, tmap_ask_team) {
    return tmap_ask_range_add(tmap_ask_range_none(), 1);
}
static __device__ void terminal(const void *, const tmap_ask_region *, tmap_u32, tmap_ask_team) {}
static __device__ void leaf(const void *, tmap_ask_work *work) {
    tmap_u32 i;
    while (tmap_ask_take(work, &i)) {
    }
}
static __global__ void ask_query(tmap_ask_run run, job j) {
    tmap_ask_query(&run, query, terminal, tmap_ask_every_element, leaf, &j);
}
static __global__ void ask_finish(tmap_ask_run run, job j) {
    tmap_ask_finish(&run, terminal, tmap_ask_every_element, leaf, &j);
}
static __global__ void ask_share(tmap_ask_run run, job j) {
    tmap_ask_share(&run, tmap_ask_every_element, leaf, &j);
}

// ---- cases --------------------------------------------------------------------------------------

// What a case uses: memory that is cleared, or has not been.
static job memory(int byte) {
    const size_t bytes = (size_t)N * N * sizeof(float);
    job j;
    memset(&j, 0, sizeof j);
    if (cudaMalloc((void **)&j.points, bytes) || cudaMalloc((void **)&j.out, bytes) ||
        cudaMalloc((void **)&j.result, bytes) || cudaMalloc(&j.workspace, bytes) ||
        cudaMemset(j.points, 0, bytes) || cudaMemset(j.workspace, byte, bytes))
        exit(ERROR);
    j.list.count = j.result, j.list.workspace = j.workspace;
    return j;
}
// A plan must have been made.
static void must(cudaError_t error) {
    if (error) puts(cudaGetErrorString(error)), exit(ERROR);
}

#define KERNEL(name) ((const void *)(name))
static cudaError_t by_pairs(const void *kernel, tmap_u32 d, tmap_u32 size, int byte) {
    const job j = memory(byte);
    tmap_pairs_plan plan;
    must(tmap_pairs_plan_make(N, d, size, kernel, &plan));
    return tmap_pairs_launch(&plan, &j, 0);
}
static cudaError_t by_rows(const void *kernel, int byte) {
    const job j = memory(byte);
    tmap_pairs_plan plan;
    must(tmap_pairs_rows_plan_make(N, 2, 4, 8, kernel, &plan));
    return tmap_pairs_launch(&plan, &j, 0);
}
static cudaError_t by_store(const void *kernel, int sums, tmap_u32 bytes) {
    const tmap_pairs_store_shape shape = {N, 2, 4, TMAP_PAIRS_CONDENSED, bytes};
    const job j = memory(0);
    tmap_pairs_plan plan;
    must(sums ? tmap_pairs_store_sums_plan_make(shape, kernel, &plan)
              : tmap_pairs_store_plan_make(shape, kernel, &plan));
    return tmap_pairs_launch(&plan, &j, 0);
}
static cudaError_t by_frames(tmap_u32 own, int byte) {
    const job j = memory(byte);
    tmap_pairs_frames_plan plan;
    must(tmap_pairs_frames_plan_make(N, 4, own, 8, KERNEL(pairs_frames), &plan));
    if (plan.splits < 2) exit(ERROR); // or it has no workspace
    return tmap_pairs_frames_launch(&plan, &j, 0);
}
static cudaError_t by_cells(const void *kernel, int byte) {
    const job j = memory(byte);
    tmap_each_plan plan;
    must(tmap_each_fold_plan_make(tmap_fractal_gasket(), 9, 0, kernel, &plan));
    return tmap_each_launch(&plan, &j, 0);
}
static cudaError_t by_ask(const void *first, const void *middle, const void *last) {
    const tmap_ask_box box = {SIDE, SIDE, 0};
    const tmap_ask_params params = {2, 2, 4};
    const tmap_ask_kernels kernels = {first, last, middle, 0, 0};
    const job j = memory(0);
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    must(tmap_ask_workspace_create(box, params, 0, &workspace));
    must(tmap_ask_plan_make(&workspace, &kernels, &plan));
    return tmap_ask_stream(&plan, &j, 0);
}

// Correct calls.
static cudaError_t by_triples(const void *kernel, tmap_u32 d, tmap_u32 size, int byte) {
    const job j = memory(byte);
    tmap_triples_plan plan;
    must(tmap_triples_plan_make(TRIPLES_N, d, size, kernel, &plan));
    return tmap_triples_launch(&plan, &j, 0);
}
static cudaError_t by_tables(const void *kernel, tmap_u32 n) {
    const job j = memory(0);
    tmap_triples_plan plan;
    must(tmap_triples_tables_plan_make(n, kernel, &plan));
    return tmap_triples_tables_launch(&plan, &j, 0);
}
static cudaError_t right_triples(void) { return by_triples(KERNEL(triples_fold), 2, 4, 0); }
static cudaError_t right_triples_select(void) {
    return by_triples(KERNEL(triples_select), 2, 4, 0);
}
static cudaError_t right_tables(void) { return by_tables(KERNEL(triples_tables), TRIPLES_N); }
static cudaError_t right_each(void) { return by_pairs(KERNEL(pairs_each), 2, 4, 0); }
static cudaError_t right_fold(void) {
    const tmap_u64 pairs = (tmap_u64)N * (N - 1) / 2;
    const job j = memory(0);
    tmap_pairs_plan plan;
    tmap_u64 counted;
    must(tmap_pairs_plan_make(N, 2, 4, KERNEL(pairs_fold), &plan));
    for (int again = 0; again < 2; ++again) { // a launch leaves its workspace cleared
        must(tmap_pairs_launch(&plan, &j, 0));
        must(cudaMemcpy(&counted, j.result, 8, cudaMemcpyDeviceToHost));
        if (counted != pairs) return cudaErrorUnknown;
    }
    return tmap_pairs_launch(&plan, (const void *)&j, 0); // of a type that does not tell its size
}
static cudaError_t right_select(void) { return by_pairs(KERNEL(pairs_select), 2, 4, 0); }
static cudaError_t right_rows(void) { return by_rows(KERNEL(pairs_rows), 0); }
static cudaError_t right_store(void) { return by_store(KERNEL(pairs_store), 0, 4); }
static cudaError_t right_sums(void) { return by_store(KERNEL(pairs_sums), 1, 4); }
static cudaError_t right_frames(void) { return by_frames(0, 0); }
static cudaError_t right_cells(void) { return by_cells(KERNEL(each), 0); }
static cudaError_t right_cells_fold(void) { return by_cells(KERNEL(each_fold), 0); }
static cudaError_t right_ask(void) {
    return by_ask(KERNEL(ask_query), KERNEL(ask_share), KERNEL(ask_finish));
}

// Mistakes.
static cudaError_t fold_dirty(void) { return by_pairs(KERNEL(pairs_fold), 2, 4, 0xa5); }
static cudaError_t fold_one(void) { return by_pairs(KERNEL(pairs_fold), 2, 4, 1); }
static cudaError_t fold_d(void) { return by_pairs(KERNEL(pairs_fold), 3, 4, 0); }
static cudaError_t fold_size(void) { return by_pairs(KERNEL(pairs_fold), 2, 8, 0); }
static cudaError_t fold_bytes(void) { return by_pairs(KERNEL(pairs_fold_odd), 2, 4, 0); }
static cudaError_t fold_of_rows(void) { return by_rows(KERNEL(pairs_fold), 0); }
static cudaError_t fold_sets(void) {
    const job j = memory(0);
    tmap_pairs_plan plan;
    must(tmap_pairs_plan_make(N, 2, 4, KERNEL(pairs_fold), &plan));
    must(tmap_pairs_plan_others(&plan, N));
    return tmap_pairs_launch(&plan, &j, 0);
}
static cudaError_t each_d(void) { return by_pairs(KERNEL(pairs_each), 3, 4, 0); }
static cudaError_t each_threads(void) {
    const job j = memory(0);
    tmap_pairs_plan plan;
    must(tmap_pairs_plan_make(N, 2, 4, KERNEL(pairs_each), &plan));
    pairs_each<<<1, TMAP_PAIRS_THREADS / 2, plan.shared>>>(plan, j);
    return cudaGetLastError();
}
static cudaError_t select_rows(void) { return by_rows(KERNEL(pairs_select), 0); }
static cudaError_t select_dirty(void) { return by_pairs(KERNEL(pairs_select), 2, 4, 0xa5); }
static cudaError_t select_none(void) {
    job j = memory(0);
    tmap_pairs_plan plan;
    must(tmap_pairs_plan_make(N, 2, 4, KERNEL(pairs_select), &plan));
    j.list.count = 0;
    return tmap_pairs_launch(&plan, &j, 0);
}
static cudaError_t rows_of_pairs(void) { return by_pairs(KERNEL(pairs_rows), 2, 4, 0); }
static cudaError_t rows_large(void) { return by_rows(KERNEL(pairs_rows_large), 0); }
static cudaError_t rows_dirty(void) { return by_rows(KERNEL(pairs_rows), 0xa5); }
static cudaError_t store_of_pairs(void) { return by_pairs(KERNEL(pairs_store), 2, 4, 0); }
static cudaError_t store_of_sums(void) { return by_store(KERNEL(pairs_store), 1, 4); }
static cudaError_t store_bytes(void) { return by_store(KERNEL(pairs_store), 0, 8); }
static cudaError_t sums_bytes(void) { return by_store(KERNEL(pairs_sums), 1, 8); }
static cudaError_t frames_own(void) { return by_frames(1, 0); }
static cudaError_t frames_dirty(void) { return by_frames(0, 0xa5); }
static cudaError_t cells_no_plan(void) {
    const job j = memory(0);
    tmap_each_plan plan;
    memset(&plan, 0x7f, sizeof plan);
    each<<<1, 32>>>(plan, j);
    return cudaGetLastError();
}
static cudaError_t cells_of_pairs(void) { return by_pairs(KERNEL(each), 2, 4, 0); }
static cudaError_t pairs_of_cells(void) { return by_cells(KERNEL(pairs_each), 0); }
static cudaError_t cells_dirty(void) { return by_cells(KERNEL(each_fold), 0xa5); }
static cudaError_t cells_size(void) { return by_cells(KERNEL(each_fold_3), 0); }
static cudaError_t cells_size_16(void) { return by_cells(KERNEL(each_fold_16), 0); }
static cudaError_t cells_words(void) { return by_cells(KERNEL(stencil_words), 0); }
static cudaError_t ask_whole(void) {
    return by_ask(KERNEL(ask_share), KERNEL(ask_query), KERNEL(ask_finish));
}
static cudaError_t ask_last(void) {
    return by_ask(KERNEL(ask_finish), KERNEL(ask_share), KERNEL(ask_query));
}
static cudaError_t triples_dirty(void) { return by_triples(KERNEL(triples_fold), 2, 4, 0xa5); }
static cudaError_t triples_d(void) { return by_triples(KERNEL(triples_fold), 3, 4, 0); }
static cudaError_t triples_size(void) { return by_triples(KERNEL(triples_each), 2, 8, 0); }
static cudaError_t triples_bytes(void) { return by_triples(KERNEL(triples_fold_odd), 2, 4, 0); }
static cudaError_t triples_select_dirty(void) {
    return by_triples(KERNEL(triples_select), 2, 4, 0xa5);
}
static cudaError_t triples_of_tables(void) { return by_tables(KERNEL(of_triples), TRIPLES_N); }
static cudaError_t tables_of_triples(void) { return by_triples(KERNEL(triples_tables), 2, 4, 0); }
static cudaError_t tables_n(void) { return by_tables(KERNEL(triples_tables), TRIPLES_N + 1); }
static cudaError_t triples_second(void) {
    job j = memory(0);
    tmap_triples_plan plan;
    must(tmap_triples_plan_make(TRIPLES_N, 2, 4, KERNEL(triples_each), &plan));
    j.others = j.points;
    return tmap_triples_launch(&plan, &j, 0);
}
static cudaError_t triples_none(void) {
    job j = memory(0);
    tmap_triples_plan plan;
    must(tmap_triples_plan_make(TRIPLES_N, 2, 4, KERNEL(triples_select), &plan));
    j.list.count = 0;
    return tmap_triples_launch(&plan, &j, 0);
}
static cudaError_t triples_threads(void) {
    const job j = memory(0);
    tmap_triples_plan plan;
    must(tmap_triples_plan_make(TRIPLES_N, 2, 4, KERNEL(triples_each), &plan));
    triples_each<<<1, TMAP_TRIPLES_THREADS / 2, plan.shared>>>(plan, j);
    return cudaGetLastError();
}
// Launchers.
static cudaError_t launch_frames(void) { return by_pairs(KERNEL(pairs_frames), 2, 4, 0); }
static cudaError_t launch_ask(void) {
    return by_ask(KERNEL(of_pairs), KERNEL(ask_share), KERNEL(ask_finish));
}
static cudaError_t launch_job(void) {
    larger_job j = {memory(0), 0};
    tmap_pairs_plan plan;
    must(tmap_pairs_plan_make(N, 2, 4, KERNEL(pairs_each), &plan));
    return tmap_pairs_launch(&plan, &j, 0);
}

#define DIRTY "workspace: not cleared"
static const struct {
    const char *name, *told; // null: the call is correct
    cudaError_t (*run)(void);
} cases[] = {
#define CASE(name, told) \
    { #name, told, name }
    CASE(right_each, NULL),
    CASE(right_fold, NULL),
    CASE(right_select, NULL),
    CASE(right_rows, NULL),
    CASE(right_store, NULL),
    CASE(right_sums, NULL),
    CASE(right_frames, NULL),
    CASE(right_cells, NULL),
    CASE(right_cells_fold, NULL),
    CASE(right_ask, NULL),
    CASE(right_triples, NULL),
    CASE(right_triples_select, NULL),
    CASE(right_tables, NULL),
    CASE(fold_dirty, DIRTY),
    CASE(fold_one, DIRTY),
    CASE(fold_d, "tmap_pairs_fold: points.d is not"),
    CASE(fold_size, "tmap_pairs_fold: points.size is not"),
    CASE(fold_bytes, "tmap_pairs_fold: fold.bytes is not"),
    CASE(fold_of_rows, "tmap_pairs_fold: the plan is one of another engine"),
    CASE(fold_sets, "tmap_pairs_fold: there is no second set"),
    CASE(each_d, "tmap_pairs_each: points.d is not"),
    CASE(each_threads, "tmap_pairs_each: blocks have other threads"),
    CASE(select_rows, "tmap_pairs_select: the plan is one of another engine"),
    CASE(select_dirty, DIRTY),
    CASE(select_none, "tmap_pairs_select: list.count or .workspace is"),
    CASE(rows_of_pairs, "tmap_pairs_rows: the plan is one of another engine"),
    CASE(rows_large, "tmap_pairs_rows: fold.bytes is more"),
    CASE(rows_dirty, DIRTY),
    CASE(store_of_pairs, "tmap_pairs_store: the plan is one of another engine"),
    CASE(store_of_sums, "tmap_pairs_store: the plan is one of another engine"),
    CASE(store_bytes, "tmap_pairs_store: bytes is not"),
    CASE(sums_bytes, "tmap_pairs_store_sums: bytes is not"),
    CASE(frames_own, "tmap_pairs_frames: calls.own or fold.bytes is not"),
    CASE(frames_dirty, DIRTY),
    CASE(cells_no_plan, "tmap_each: no maker of plans has made the plan"),
    CASE(cells_of_pairs, "tmap_each: no maker of plans has made the plan"),
    CASE(pairs_of_cells, "tmap_pairs_each: the plan is one of another engine"),
    CASE(cells_dirty, DIRTY),
    CASE(cells_size, "tmap_each_fold: elements do not have"),
    CASE(cells_size_16, "tmap_each_fold: elements have more than 8 bytes"),
    CASE(cells_words, "tmap_each_stencil_words: in.size is not"),
    CASE(ask_whole, "tmap_ask_query: tmap_ask_kernels has"),
    CASE(ask_last, "tmap_ask_finish: tmap_ask_kernels has"),
    CASE(triples_dirty, DIRTY),
    CASE(triples_d, "tmap_triples_fold: points.d is not"),
    CASE(triples_size, "tmap_triples_each: points.size is not"),
    CASE(triples_bytes, "tmap_triples_fold: fold.bytes is not"),
    CASE(triples_second, "tmap_triples_each: triples have no second set"),
    CASE(triples_threads, "tmap_triples_each: blocks have other threads"),
    CASE(triples_select_dirty, DIRTY),
    CASE(triples_none, "tmap_triples_select: list.count or .workspace is"),
    CASE(triples_of_tables, "tmap_triples_each: the plan is one of another engine"),
    CASE(tables_of_triples, "tmap_triples_tables_fold: the plan is one of another engine"),
    CASE(tables_n, "tmap_triples_tables_fold: samples.n is not"),
#if CUDART_VERSION >= 12040
    CASE(launch_frames, "launch: parameter 1 of the kernel has"),
    CASE(launch_ask, "launch: parameter 1 of the kernel has"),
    CASE(launch_job, "launch: parameter 2 of the kernel has"),
#endif
};

// Runs a case, or asks for a GPU, in a process of its own. Returns its exit status; text: what it
// has printed.
static int in_child(cudaError_t (*run)(void), char *text, size_t room) {
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t more;
    if (pipe(ends)) return ERROR;
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return ERROR;
    if (child == 0) {
        int devices = 0;
        dup2(ends[1], 1), dup2(ends[1], 2), close(ends[0]), close(ends[1]);
        if (!run) exit(cudaGetDeviceCount(&devices) || !devices ? 77 : 0);
        cudaError_t error = run();
        if (!error) error = cudaDeviceSynchronize();
        if (error) puts(cudaGetErrorString(error));
        fflush(stdout);
        _Exit(error ? TOLD : 0);
    }
    close(ends[1]);
    while (length < room - 1 && (more = read(ends[0], text + length, room - 1 - length)) > 0)
        length += (size_t)more;
    text[length] = 0, close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : ERROR;
}

int main(void) {
    static char text[1 << 16];
    if (in_child(NULL, text, sizeof text) == 77) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (size_t i = 0; i < COUNT(cases); ++i) {
        const int status = in_child(cases[i].run, text, sizeof text);
        const char *told = strstr(text, "threadmap: ");
        int ok = status == 0 && !told;
        if (cases[i].told) // 86: the CPU machine's
            ok = (status == TOLD || status == 86) && told && !strstr(told + 1, "threadmap: ") &&
                 strncmp(told + 11, cases[i].told, strlen(cases[i].told)) == 0;
        EXPECT(ok, "%s: exit status %d, %s", cases[i].name, status, text);
    }
    return kit_end("test_check");
}
