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
#include <threadmap/fractal/board.h>
#include <threadmap/fractal3.h>
#include <threadmap/triangle.h>
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
#define PAIRS_FOLD(name, bytes) \
    PAIRS(name, TMAP_PAIRS_THREADS) { \
        const tmap_u64 zero = 0; \
        const tmap_fold_to to = {j.workspace, j.result}; \
        tmap_pairs_fold(&plan, points_of(&j), count, fold_of(&zero, bytes), to, &j); \
    }
PAIRS_FOLD(pairs_fold, 8)
PAIRS_FOLD(pairs_fold_odd, 6)
PAIRS(pairs_select, TMAP_PAIRS_THREADS) {
    const tmap_pairs_choice choice = {choose, 0, TMAP_PAIRS_ANY_ORDER};
    tmap_pairs_select(&plan, points_of(&j), choice, &j.list, &j);
}
#define PAIRS_ROWS(name, bytes) \
    PAIRS(name, TMAP_PAIRS_THREADS) { \
        const tmap_u64 zero[33] = {0}; \
        const tmap_pairs_rows_to to = {j.workspace, j.result, 0}; \
        tmap_pairs_rows(&plan, points_of(&j), give, fold_of(zero, bytes), to, &j); \
    }
PAIRS_ROWS(pairs_rows, 8)
PAIRS_ROWS(pairs_rows_large, 64)
PAIRS_ROWS(pairs_rows_small, 4)
PAIRS_ROWS(pairs_rows_260, 260)
PAIRS(pairs_store, TMAP_PAIRS_STORE_THREADS) {
    tmap_pairs_store(&plan, points_of(&j), value, sizeof(float), j.out, &j);
}
#define PAIRS_SUMS(name, bytes) \
    PAIRS(name, TMAP_PAIRS_SUMS_THREADS) { \
        const tmap_pairs_sum sum = {start, add, 0, finish, bytes, 0}; \
        tmap_pairs_store_sums(&plan, points_of(&j), sum, sizeof(float), j.out, &j); \
    }
PAIRS_SUMS(pairs_sums, 4)
PAIRS_SUMS(pairs_sums_36, 36)
PAIRS_SUMS(pairs_sums_257, 257)
PAIRS_SUMS(pairs_sums_260, 260)
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
#define TRIPLES_FOLD(name, bytes) \
    TRIPLES(name, TMAP_TRIPLES_THREADS) { \
        const tmap_u64 zero = 0; \
        const tmap_fold_to to = {j.workspace, j.result}; \
        tmap_triples_fold(&plan, points_of(&j), count_triple, fold_of(&zero, bytes), to, &j); \
    }
TRIPLES_FOLD(triples_fold, 8)
TRIPLES_FOLD(triples_fold_odd, 6)
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
static __device__ void read_cell(void *, tmap_cell, void *value) { *(tmap_u32 *)value = 0; }
static __device__ void use_cell(void *, tmap_cell, const void *) {}

#define EACH(name) static __global__ void __launch_bounds__(512, 1) name(tmap_each_plan plan, job j)
EACH(each) { tmap_each(&plan, visit, &j); }
EACH(each_into) {
    const tmap_array out = {j.out, 4};
    tmap_each_into(&plan, visit, out, &j);
}
EACH(each_update) { tmap_each_update(&plan, read_cell, use_cell, &j); }
#define EACH_FOLD(name, size, bytes) \
    EACH(name) { \
        const tmap_u64 zero[9] = {0}; \
        const tmap_array in = {j.points, size}; \
        const tmap_fold_to to = {j.workspace, j.result}; \
        tmap_each_fold(&plan, in, add_cell, fold_of(zero, bytes), to, &j); \
    }
EACH_FOLD(each_fold, 4, 8)
EACH_FOLD(each_fold_3, 3, 8)
EACH_FOLD(each_fold_16, 16, 8)
EACH_FOLD(each_fold_sum_72, 4, 72)
EACH_FOLD(each_fold_sum_6, 4, 6)
#define EACH_STENCIL(name, call, size) \
    EACH(name) { \
        const tmap_array in = {j.points, size}; \
        call(&plan, in, rule, j.out, &j); \
    }
EACH_STENCIL(stencil, tmap_each_stencil, 4)
EACH_STENCIL(stencil_3, tmap_each_stencil, 3)
EACH_STENCIL(stencil_words, tmap_each_stencil_words, 4)
EACH_STENCIL(stencil_words_8, tmap_each_stencil_words, 8)
#define BOARD(name, size) \
    static __global__ void __launch_bounds__(256, 2) name(tmap_board_plan plan, job j) { \
        const tmap_array in = {j.points, size}; \
        tmap_board_stencil(&plan, in, rule, j.out, &j); \
    }
BOARD(board, 4)
BOARD(board_3, 3)

static __device__ void visit3(void *, tmap_cell3) {}
static __device__ void add_cell3(void *, void *sum, tmap_cell3, const void *) {
    ++*(tmap_u64 *)sum;
}
static __device__ void read_cell3(void *, tmap_cell3, void *value) { *(tmap_u32 *)value = 0; }
static __device__ void use_cell3(void *, tmap_cell3, const void *) {}
static __device__ void rule3(void *, tmap_cell3, tmap_u32, const void *, void *next) {
    *(tmap_u32 *)next = 0;
}
#define EACH3(name) \
    static __global__ void __launch_bounds__(512, 1) name(tmap_each3_plan plan, job j)
EACH3(each3) { tmap_each3(&plan, visit3, &j); }
EACH3(each3_turned) { tmap_each3_turned(&plan, visit3, &j); }
EACH3(each3_update) { tmap_each3_update(&plan, read_cell3, use_cell3, &j); }
#define EACH3_FOLD(name, size, bytes) \
    EACH3(name) { \
        const tmap_u64 zero[9] = {0}; \
        const tmap_array in = {j.points, size}; \
        const tmap_fold_to to = {j.workspace, j.result}; \
        tmap_each3_fold(&plan, in, add_cell3, fold_of(zero, bytes), to, &j); \
    }
EACH3_FOLD(each3_fold, 4, 8)
EACH3_FOLD(each3_fold_3, 3, 8)
EACH3_FOLD(each3_fold_sum_72, 4, 72)
#define EACH3_STENCIL(name, call, size) \
    EACH3(name) { \
        const tmap_array in = {j.points, size}; \
        call(&plan, in, rule3, j.out, &j); \
    }
EACH3_STENCIL(stencil3, tmap_each3_stencil, 4)
EACH3_STENCIL(words3, tmap_each3_words, 16)
EACH3_STENCIL(words3_8, tmap_each3_words, 8)

// Folds in a kernel's own loop.
static __global__ void fold_grid_72(tmap_each_plan, job j) {
    const tmap_u64 zero[9] = {0};
    const tmap_fold_to to = {j.workspace, j.result};
    tmap_u64 sum[9] = {0};
    tmap_fold_grid(sum, fold_of(zero, 72), to, 0);
}
static __global__ void fold_block_72(tmap_each_plan, job) {
    __shared__ tmap_u64 scratch[9 * 16];
    const tmap_u64 zero[9] = {0};
    tmap_u64 sum[9] = {0};
    tmap_fold_block(sum, fold_of(zero, 72), 0, scratch);
}
static __global__ void fold_warp_72(tmap_each_plan, job) {
    const tmap_u64 zero[9] = {0};
    tmap_u64 sum[9] = {0};
    tmap_fold_warp(sum, fold_of(zero, 72), 0);
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

// What is wrong with a call, beside its kernel and plan; the low byte fills the workspace.
enum { RIGHT, ONE = 1, DIRT = 0xa5, SECOND_SET = 0x100, NO_LIST = 0x200, SMALL_BLOCKS = 0x300 };

// A call, its kernels (ASK's are three), and what is told of it.
typedef struct test_case {
    const char *name, *told; // told: null: the call is correct
    cudaError_t (*run)(const struct test_case *c);
    const void *kernel, *share, *finish;
    tmap_u32 a, b;
    int wrong;
} test_case;

// What a case uses.
static job memory(const test_case *c) {
    const size_t bytes = (size_t)N * N * sizeof(float);
    job j;
    memset(&j, 0, sizeof j);
    if (cudaMalloc((void **)&j.points, bytes) || cudaMalloc((void **)&j.out, bytes) ||
        cudaMalloc((void **)&j.result, bytes) || cudaMalloc(&j.workspace, bytes) ||
        cudaMemset(j.points, 0, bytes) || cudaMemset(j.workspace, c->wrong & 0xff, bytes))
        exit(ERROR);
    j.list.count = j.result, j.list.workspace = j.workspace;
    return j;
}
// A plan must have been made.
static void must(cudaError_t error) {
    if (error) puts(cudaGetErrorString(error)), exit(ERROR);
}

// a, b: coordinates of a point and their bytes.
static tmap_pairs_plan pairs_plan(const test_case *c) {
    tmap_pairs_plan plan;
    must(tmap_pairs_plan_make(N, c->a, c->b, c->kernel, &plan));
    return plan;
}
static cudaError_t by_pairs(const test_case *c) {
    tmap_pairs_plan plan = pairs_plan(c);
    job j = memory(c);
    if (c->wrong == SECOND_SET) must(tmap_pairs_plan_others(&plan, N));
    if (c->wrong == NO_LIST) j.list.count = 0;
    if (c->wrong != SMALL_BLOCKS) return tmap_pairs_launch(&plan, &j, 0);
    pairs_each<<<1, TMAP_PAIRS_THREADS / 2, plan.shared>>>(plan, j);
    return cudaGetLastError();
}
static cudaError_t by_a_larger_job(const test_case *c) {
    const tmap_pairs_plan plan = pairs_plan(c);
    larger_job j = {memory(c), 0};
    return tmap_pairs_launch(&plan, &j, 0);
}
static cudaError_t by_pairs_counted(const test_case *c) {
    const tmap_pairs_plan plan = pairs_plan(c);
    const job j = memory(c);
    tmap_u64 counted;
    for (int again = 0; again < 2; ++again) { // a launch leaves its workspace cleared
        must(tmap_pairs_launch(&plan, &j, 0));
        must(cudaMemcpy(&counted, j.result, 8, cudaMemcpyDeviceToHost));
        if (counted != (tmap_u64)N * (N - 1) / 2) return cudaErrorUnknown;
    }
    return tmap_pairs_launch(&plan, (const void *)&j, 0); // of a type that does not tell its size
}
static cudaError_t by_rows(const test_case *c) {
    const job j = memory(c);
    tmap_pairs_plan plan;
    must(tmap_pairs_rows_plan_make(N, 2, 4, 8, c->kernel, &plan));
    return tmap_pairs_launch(&plan, &j, 0);
}
// a: 1: sums; b: bytes of a value.
static cudaError_t by_store(const test_case *c) {
    const tmap_pairs_store_shape shape = {N, 2, 4, TMAP_PAIRS_CONDENSED, c->b};
    const job j = memory(c);
    tmap_pairs_plan plan;
    must(c->a ? tmap_pairs_store_sums_plan_make(shape, c->kernel, &plan)
              : tmap_pairs_store_plan_make(shape, c->kernel, &plan));
    return tmap_pairs_launch(&plan, &j, 0);
}
// a: numbers of a pair's own.
static cudaError_t by_frames(const test_case *c) {
    const job j = memory(c);
    tmap_pairs_frames_plan plan;
    must(tmap_pairs_frames_plan_make(N, 4, c->a, 8, c->kernel, &plan));
    if (plan.splits < 2) exit(ERROR); // or it has no workspace
    return tmap_pairs_frames_launch(&plan, &j, 0);
}
static cudaError_t by_cells(const test_case *c) {
    const job j = memory(c);
    tmap_each_plan plan;
    must(tmap_each_plan_make(TMAP_EACH_FOLD, tmap_fractal_gasket(), 9, 0, c->kernel, &plan));
    return tmap_each_launch(&plan, &j, 0);
}
static cudaError_t by_words(const test_case *c) {
    const job j = memory(c);
    tmap_each_plan plan;
    must(tmap_each_plan_make(TMAP_EACH_WORDS, tmap_fractal_gasket(), 7, TMAP_COMPACT, c->kernel,
                             &plan));
    return tmap_each_launch(&plan, &j, 0);
}
static cudaError_t by_cells3(const test_case *c) {
    const tmap_pitch3 tight = {0, 0};
    const job j = memory(c);
    tmap_each3_plan plan;
    must(tmap_each3_plan_make(TMAP_EACH_VISIT, tmap_turned_plain(tmap_fractal3_menger()), 3, tight,
                              c->kernel, &plan));
    return tmap_each3_launch(&plan, &j, 0);
}
static cudaError_t by_turned(const test_case *c) {
    const tmap_pitch3 tight = {0, 0};
    const job j = memory(c);
    tmap_each3_plan plan;
    must(tmap_each3_plan_make(TMAP_EACH_VISIT, tmap_turned_hilbert3(), 3, tight, c->kernel, &plan));
    return tmap_each3_launch(&plan, &j, 0);
}
static cudaError_t by_words3(const test_case *c) {
    const tmap_pitch3 compact = {TMAP_COMPACT, 0};
    const job j = memory(c);
    tmap_each3_plan plan;
    must(tmap_each3_plan_make(TMAP_EACH_WORDS, tmap_turned_plain(tmap_fractal3_menger()), 3,
                              compact, c->kernel, &plan));
    return tmap_each3_launch(&plan, &j, 0);
}
static cudaError_t by_no_plan(const test_case *c) {
    tmap_each_plan plan;
    memset(&plan, 0x7f, sizeof plan);
    each<<<1, 32>>>(plan, memory(c));
    return cudaGetLastError();
}
static cudaError_t by_ask(const test_case *c) {
    const tmap_ask_box box = {SIDE, SIDE, 0};
    const tmap_ask_params params = {2, 2, 4};
    const tmap_ask_kernels kernels = {c->kernel, c->finish, c->share, 0, 0};
    const job j = memory(c);
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    must(tmap_ask_workspace_create(box, params, 0, &workspace));
    must(tmap_ask_plan_make(&workspace, &kernels, &plan));
    return tmap_ask_stream(&plan, &j, 0);
}
// a, b: coordinates of a point and their bytes.
static cudaError_t by_triples(const test_case *c) {
    tmap_triples_plan plan;
    job j = memory(c);
    must(tmap_triples_plan_make(TRIPLES_N, c->a, c->b, c->kernel, &plan));
    if (c->wrong == SECOND_SET) j.others = j.points;
    if (c->wrong == NO_LIST) j.list.count = 0;
    if (c->wrong != SMALL_BLOCKS) return tmap_triples_launch(&plan, &j, 0);
    triples_each<<<1, TMAP_TRIPLES_THREADS / 2, plan.shared>>>(plan, j);
    return cudaGetLastError();
}
// a: points; b: threads of a block, or 0: the plan's.
static cudaError_t by_tables(const test_case *c) {
    const job j = memory(c);
    tmap_triples_plan plan;
    must(tmap_triples_tables_plan_make(c->a, (const void *)triples_tables, &plan));
    plan.kernel = c->kernel;
    if (c->b) plan.block = c->b;
    return tmap_triples_tables_launch(&plan, &j, 0);
}
static cudaError_t by_board(const test_case *c) {
    const tmap_board of = {SIDE, SIDE / 2, 0, TMAP_BOARD_PERIODIC_X};
    const job j = memory(c);
    tmap_board_plan plan;
    must(tmap_board_plan_make(&of, c->kernel, &plan));
    return tmap_board_launch(&plan, &j, 0);
}

// A plan of zeros, as a static one that no maker has made, and no launcher. a: threads of a block, or
// 0: 128.
static cudaError_t by_zeros(const test_case *c) {
    static union {
        tmap_each_plan cells;
        tmap_each3_plan cells3;
        tmap_pairs_plan pairs;
        tmap_pairs_frames_plan frames;
        tmap_triples_plan triples;
    } zeros;
    job j = memory(c);
    void *arguments[2] = {&zeros, &j};
    return cudaLaunchKernel(c->kernel, dim3(1), dim3(c->a ? c->a : 128), arguments, 0, 0);
}

#define DIRTY "workspace: not cleared"
static const test_case cases[] = {
#define CASE(run, kernel, a, b, wrong, told) \
    { #run ", " #kernel, told, run, (const void *)kernel, 0, 0, a, b, wrong }
#define ASK(query, share, finish, told) \
    { \
#query ", " #share ", " #finish, told, by_ask, (const void *)query, (const void *)share, \
            (const void *)finish, 0, 0, 0 \
    }
    CASE(by_pairs, pairs_each, 2, 4, RIGHT, NULL),
    CASE(by_pairs_counted, pairs_fold, 2, 4, RIGHT, NULL),
    CASE(by_pairs, pairs_select, 2, 4, RIGHT, NULL),
    CASE(by_rows, pairs_rows, 0, 0, RIGHT, NULL),
    CASE(by_store, pairs_store, 0, 4, RIGHT, NULL),
    CASE(by_store, pairs_sums, 1, 4, RIGHT, NULL),
    CASE(by_frames, pairs_frames, 0, 0, RIGHT, NULL),
    CASE(by_cells, each, 0, 0, RIGHT, NULL),
    CASE(by_cells, each_fold, 0, 0, RIGHT, NULL),
    CASE(by_cells, stencil, 0, 0, RIGHT, NULL), // slow, but right
    CASE(by_cells, stencil_words, 0, 0, RIGHT, "tmap_each_stencil_words: no maker"),
    CASE(by_words, stencil_words, 0, 0, RIGHT, NULL),
    CASE(by_cells3, each3_fold, 0, 0, RIGHT, NULL),
    CASE(by_cells3, stencil3, 0, 0, RIGHT, NULL),
    CASE(by_turned, each3_turned, 0, 0, RIGHT, NULL),
    CASE(by_turned, each3, 0, 0, RIGHT, "tmap_each3: no maker"),
    CASE(by_turned, each3_fold, 0, 0, RIGHT, "tmap_each3_fold: no maker"),
    CASE(by_cells3, words3, 0, 0, RIGHT, "tmap_each3_words: no maker"),
    CASE(by_words3, words3, 0, 0, RIGHT, NULL),
    ASK(ask_query, ask_share, ask_finish, NULL),
    CASE(by_triples, triples_fold, 2, 4, RIGHT, NULL),
    CASE(by_triples, triples_select, 2, 4, RIGHT, NULL),
    CASE(by_tables, triples_tables, TRIPLES_N, 0, RIGHT, NULL),

    CASE(by_pairs, pairs_fold, 2, 4, DIRT, DIRTY),
    CASE(by_pairs, pairs_fold, 2, 4, ONE, DIRTY),
    CASE(by_pairs, pairs_fold, 3, 4, RIGHT, "tmap_pairs_fold: points.d is not"),
    CASE(by_pairs, pairs_fold, 2, 8, RIGHT, "tmap_pairs_fold: points.size is not"),
    CASE(by_pairs, pairs_fold_odd, 2, 4, RIGHT, "tmap_pairs_fold: fold.bytes is not"),
    CASE(by_rows, pairs_fold, 0, 0, RIGHT, "tmap_pairs_fold: the plan is one of another engine"),
    CASE(by_pairs, pairs_fold, 2, 4, SECOND_SET, "tmap_pairs_fold: there is no second set"),
    CASE(by_pairs, pairs_each, 3, 4, RIGHT, "tmap_pairs_each: points.d is not"),
    CASE(by_pairs, pairs_each, 2, 4, SMALL_BLOCKS, "tmap_pairs_each: blocks have other threads"),
    CASE(by_rows, pairs_select, 0, 0, RIGHT,
         "tmap_pairs_select: the plan is one of another engine"),
    CASE(by_pairs, pairs_select, 2, 4, DIRT, DIRTY),
    CASE(by_pairs, pairs_select, 2, 4, NO_LIST, "tmap_pairs_select: list.count or .workspace is"),
    CASE(by_pairs, pairs_rows, 2, 4, RIGHT, "tmap_pairs_rows: the plan is one of another engine"),
    CASE(by_rows, pairs_rows_large, 0, 0, RIGHT, "tmap_pairs_rows: fold.bytes is not the plan's"),
    CASE(by_rows, pairs_rows_260, 0, 0, RIGHT, "tmap_pairs_rows: fold.bytes is not a multiple of"),
    CASE(by_rows, pairs_rows_small, 0, 0, RIGHT, "tmap_pairs_rows: fold.bytes is not the plan's"),
    CASE(by_rows, pairs_rows, 0, 0, DIRT, DIRTY),
    CASE(by_pairs, pairs_store, 2, 4, RIGHT, "tmap_pairs_store: the plan is one of another engine"),
    CASE(by_store, pairs_store, 1, 4, RIGHT, "tmap_pairs_store: the plan is one of another engine"),
    CASE(by_store, pairs_store, 0, 8, RIGHT, "tmap_pairs_store: bytes is not"),
    CASE(by_store, pairs_sums, 1, 8, RIGHT, "tmap_pairs_store_sums: bytes is not"),
    CASE(by_store, pairs_sums_36, 1, 4, RIGHT, "tmap_pairs_store_sums: sum.bytes is not that of"),
    CASE(by_store, pairs_sums_257, 1, 4, RIGHT, "tmap_pairs_store_sums: sum.bytes is not a"),
    CASE(by_store, pairs_sums_260, 1, 4, RIGHT, "tmap_pairs_store_sums: sum.bytes is not a"),
    CASE(by_frames, pairs_frames, 1, 0, RIGHT, "tmap_pairs_frames: calls.own or fold.bytes is not"),
    CASE(by_frames, pairs_frames, 0, 0, DIRT, DIRTY),
    CASE(by_no_plan, each, 0, 0, RIGHT, "tmap_each: no maker of plans has made the plan"),
    CASE(by_pairs, each, 2, 4, RIGHT, "tmap_each: no maker of plans has made the plan"),
    CASE(by_cells, pairs_each, 0, 0, RIGHT, "tmap_pairs_each: the plan is one of another engine"),
    CASE(by_cells, each_fold, 0, 0, DIRT, DIRTY),
    CASE(by_cells, each_fold_3, 0, 0, RIGHT, "tmap_each_fold: elements do not have"),
    CASE(by_cells, each_fold_16, 0, 0, RIGHT, "tmap_each_fold: elements have more than 8 bytes"),
    CASE(by_cells, each_fold_sum_72, 0, 0, RIGHT, "tmap_each_fold: fold.bytes is not"),
    CASE(by_cells, each_fold_sum_6, 0, 0, RIGHT, "tmap_each_fold: fold.bytes is not"),
    CASE(by_cells, fold_grid_72, 0, 0, RIGHT, "tmap_fold_grid: fold.bytes is not"),
    CASE(by_cells, fold_block_72, 0, 0, RIGHT, "tmap_fold_block: fold.bytes is not"),
    CASE(by_cells, fold_warp_72, 0, 0, RIGHT, "tmap_fold_warp: fold.bytes is not"),
    CASE(by_cells, stencil_3, 0, 0, RIGHT, "tmap_each_stencil: elements do not have"),
    CASE(by_cells, stencil_words_8, 0, 0, RIGHT, "tmap_each_stencil_words: no maker"),
    CASE(by_words, stencil_words_8, 0, 0, RIGHT, "tmap_each_stencil_words: in.size is not"),
    CASE(by_zeros, each, 0, 0, RIGHT, "tmap_each: no maker of plans has made the plan"),
    CASE(by_zeros, each_into, 0, 0, RIGHT, "tmap_each_into: no maker"),
    CASE(by_zeros, each_update, 0, 0, RIGHT, "tmap_each_update: no maker"),
    CASE(by_zeros, each_fold, 0, 0, RIGHT, "tmap_each_fold: no maker"),
    CASE(by_zeros, stencil, 0, 0, RIGHT, "tmap_each_stencil: no maker"),
    CASE(by_zeros, stencil_words, 0, 0, RIGHT, "tmap_each_stencil_words: no maker"),
    CASE(by_words, each, 0, 0, RIGHT, "tmap_each: the plan is for words"),
    CASE(by_words, each_into, 0, 0, RIGHT, "tmap_each_into: the plan is for words"),
    CASE(by_words, each_update, 0, 0, RIGHT, "tmap_each_update: the plan is for words"),
    CASE(by_words, each_fold, 0, 0, RIGHT, "tmap_each_fold: the plan is for words"),
    CASE(by_words, stencil, 0, 0, RIGHT, "tmap_each_stencil: the plan is for words"),
    CASE(by_board, board, 0, 0, RIGHT, NULL),
    CASE(by_board, board_3, 0, 0, RIGHT, "tmap_board_stencil: elements do not have"),
    CASE(by_zeros, board, 0, 0, RIGHT, "tmap_board_stencil: no maker"),
    CASE(by_cells3, each3_fold, 0, 0, DIRT, DIRTY),
    CASE(by_cells3, each3_fold_3, 0, 0, RIGHT, "tmap_each3_fold: elements do not have"),
    CASE(by_cells3, each3_fold_sum_72, 0, 0, RIGHT, "tmap_each3_fold: fold.bytes is not"),
    CASE(by_words3, words3_8, 0, 0, RIGHT, "tmap_each3_words: in.size is not"),
    CASE(by_zeros, each3, 0, 0, RIGHT, "tmap_each3: no maker"),
    CASE(by_zeros, each3_update, 0, 0, RIGHT, "tmap_each3_update: no maker"),
    CASE(by_zeros, each3_fold, 0, 0, RIGHT, "tmap_each3_fold: no maker"),
    CASE(by_zeros, stencil3, 0, 0, RIGHT, "tmap_each3_stencil: no maker"),
    CASE(by_zeros, words3, 0, 0, RIGHT, "tmap_each3_words: no maker"),
    CASE(by_words3, each3, 0, 0, RIGHT, "tmap_each3: the plan is for words"),
    CASE(by_words3, each3_update, 0, 0, RIGHT, "tmap_each3_update: the plan is for words"),
    CASE(by_words3, each3_fold, 0, 0, RIGHT, "tmap_each3_fold: the plan is for words"),
    CASE(by_words3, stencil3, 0, 0, RIGHT, "tmap_each3_stencil: the plan is for words"),
    ASK(ask_share, ask_query, ask_finish, "tmap_ask_query: tmap_ask_kernels has"),
    ASK(ask_finish, ask_share, ask_query, "tmap_ask_finish: tmap_ask_kernels has"),
    CASE(by_triples, triples_fold, 2, 4, DIRT, DIRTY),
    CASE(by_triples, triples_fold, 3, 4, RIGHT, "tmap_triples_fold: points.d is not"),
    CASE(by_triples, triples_each, 2, 8, RIGHT, "tmap_triples_each: points.size is not"),
    CASE(by_triples, triples_fold_odd, 2, 4, RIGHT, "tmap_triples_fold: fold.bytes is not"),
    CASE(by_triples, triples_each, 2, 4, SECOND_SET,
         "tmap_triples_each: triples have no second set"),
    CASE(by_triples, triples_each, 2, 4, SMALL_BLOCKS,
         "tmap_triples_each: blocks have other threads"),
    CASE(by_triples, triples_select, 2, 4, DIRT, DIRTY),
    CASE(by_triples, triples_select, 2, 4, NO_LIST,
         "tmap_triples_select: list.count or .workspace is"),
    CASE(by_tables, of_triples, TRIPLES_N, 0, RIGHT,
         "tmap_triples_each: the plan is one of another engine"),
    CASE(by_triples, triples_tables, 2, 4, RIGHT,
         "tmap_triples_tables_fold: the plan is one of another engine"),
    CASE(by_tables, triples_tables, TRIPLES_N + 1, 0, RIGHT,
         "tmap_triples_tables_fold: samples.n is not"),
#define ANOTHER(run, kernel, a, b, function) \
    CASE(run, kernel, a, b, RIGHT, function ": the plan is one of another engine, or of none")
#define ZEROS(kernel, threads, function) ANOTHER(by_zeros, kernel, threads, 0, function)
    ZEROS(pairs_each, TMAP_PAIRS_THREADS, "tmap_pairs_each"),
    ZEROS(pairs_fold, TMAP_PAIRS_THREADS, "tmap_pairs_fold"),
    ZEROS(pairs_select, TMAP_PAIRS_THREADS, "tmap_pairs_select"),
    ZEROS(pairs_rows, TMAP_PAIRS_THREADS, "tmap_pairs_rows"),
    ZEROS(pairs_store, TMAP_PAIRS_STORE_THREADS, "tmap_pairs_store"),
    ZEROS(pairs_sums, TMAP_PAIRS_SUMS_THREADS, "tmap_pairs_store_sums"),
    ZEROS(pairs_frames, TMAP_PAIRS_FRAMES_THREADS, "tmap_pairs_frames"),
    ZEROS(triples_each, TMAP_TRIPLES_THREADS, "tmap_triples_each"),
    ZEROS(triples_fold, TMAP_TRIPLES_THREADS, "tmap_triples_fold"),
    ZEROS(triples_select, TMAP_TRIPLES_THREADS, "tmap_triples_select"),
    ZEROS(triples_tables, TMAP_TRIPLES_TABLES_THREADS, "tmap_triples_tables_fold"),
    ANOTHER(by_rows, pairs_each, 0, 0, "tmap_pairs_each"),
    ANOTHER(by_rows, pairs_store, 0, 0, "tmap_pairs_store"),
    ANOTHER(by_rows, pairs_sums, 0, 0, "tmap_pairs_store_sums"),
    ANOTHER(by_tables, triples_fold, TRIPLES_N, TMAP_TRIPLES_THREADS, "tmap_triples_fold"),
    ANOTHER(by_tables, triples_select, TRIPLES_N, TMAP_TRIPLES_THREADS, "tmap_triples_select"),
#if CUDART_VERSION >= 12040 // launchers
    CASE(by_pairs, pairs_frames, 2, 4, RIGHT, "launch: parameter 1 of the kernel has"),
    ASK(of_pairs, ask_share, ask_finish, "launch: parameter 1 of the kernel has"),
    CASE(by_a_larger_job, pairs_each, 2, 4, RIGHT, "launch: parameter 2 of the kernel has"),
#endif
};

// Runs a case, or asks for a GPU, in a process of its own. Returns its exit status; text: what it
// has printed.
static int in_child(const test_case *c, char *text, size_t room) {
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
        if (!c) exit(cudaGetDeviceCount(&devices) || !devices ? 77 : 0);
        cudaError_t error = c->run(c);
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
        const int status = in_child(&cases[i], text, sizeof text);
        const char *told = strstr(text, "threadmap: ");
        int ok = status == 0 && !told;
        if (cases[i].told) // 86: the CPU machine's
            ok = (status == TOLD || status == 86) && told && !strstr(told + 1, "threadmap: ") &&
                 strncmp(told + 11, cases[i].told, strlen(cases[i].told)) == 0;
        EXPECT(ok, "%s: exit status %d, %s", cases[i].name, status, text);
    }
    return kit_end("test_check");
}
