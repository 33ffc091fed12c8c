// SPDX-License-Identifier: MIT
// test_cxx: each call of cxx.h and cxx_near.h, by lambdas with captures, gives what the C form gives; both run. The
// C form gets a copy of its job, as a lambda has one: then both have the same machine code, which
// headers/cxx_test.py compares.
#include "kit.h"
#include <threadmap/cxx_near.h>
#include <threadmap/triangle/near_prepare.h>

enum { R = 6, SIDE = 64, PLACES = SIDE * SIDE, N = 700 };

typedef struct job {
    const float *in;
    float *out;
    float rate;
    tmap_fold_to to;
    tmap_pairs_rows_to rows;
    tmap_pairs_list list;
} job;

typedef struct vec3 {
    float v[3];
} vec3;

static __device__ float squared(const float *u, const float *v) {
    return (u[0] - v[0]) * (u[0] - v[0]) + (u[1] - v[1]) * (u[1] - v[1]) +
           (u[2] - v[2]) * (u[2] - v[2]);
}

// ---- cells --------------------------------------------------------------------------------------

static __device__ void dab(void *p, tmap_cell cell) {
    job *j = (job *)p;
    j->out[cell.at] = j->rate + (float)cell.x;
}
static __global__ void each_c(tmap_each_plan plan, job j) {
    job mine = j;
    tmap_each(&plan, dab, &mine);
}
static __global__ void each_cxx(tmap_each_plan plan, job j) {
    tmap::each(plan, [=](tmap_cell cell) { j.out[cell.at] = j.rate + (float)cell.x; });
}

static __device__ void read_in(void *p, tmap_cell cell, void *value) {
    *(float *)value = ((job *)p)->in[cell.at];
}
static __device__ void use_value(void *p, tmap_cell cell, const void *value) {
    ((job *)p)->out[cell.at] = ((job *)p)->rate * *(const float *)value;
}
static __global__ void __launch_bounds__(512, 2) update_c(tmap_each_plan plan, job j) {
    job mine = j;
    tmap_each_update(&plan, read_in, use_value, &mine);
}
static __global__ void __launch_bounds__(512, 2) update_cxx(tmap_each_plan plan, job j) {
    tmap::update(
        plan, [=](tmap_cell cell) { return j.in[cell.at]; },
        [=](tmap_cell cell, float value) { j.out[cell.at] = j.rate * value; });
}

static __device__ void add_value(void *, void *sum, tmap_cell, const void *value) {
    *(double *)sum += *(const float *)value;
}
static __device__ void join_double(void *, void *sum, const void *other) {
    *(double *)sum += *(const double *)other;
}
static __global__ void __launch_bounds__(512, 2) fold_c(tmap_each_plan plan, job j) {
    const double zero = 0;
    const tmap_fold fold = {&zero, sizeof zero, join_double};
    const tmap_array in = {j.in, sizeof *j.in};
    tmap_each_fold(&plan, in, add_value, fold, j.to, 0);
}
static __global__ void __launch_bounds__(512, 2) fold_cxx(tmap_each_plan plan, job j) {
    tmap::fold(
        plan, j.in, 0.0, [](double &sum, tmap_cell, float value) { sum += value; },
        [](double &sum, double other) { sum += other; }, j.to);
}

static __device__ float flow(tmap_u32 around, const float *v, float rate) {
    float sum = 0;
    for (int i = TMAP_NORTH; i <= TMAP_SOUTH; i += 2)
        if (around >> i & 1) sum += v[i] - v[TMAP_HERE];
    return v[TMAP_HERE] + rate * sum;
}
static __device__ void rule(void *p, tmap_cell, tmap_u32 around, const void *nine, void *next) {
    *(float *)next = flow(around, (const float *)nine, ((job *)p)->rate);
}
static __global__ void __launch_bounds__(512, 2) stencil_c(tmap_each_plan plan, job j) {
    job mine = j;
    const tmap_array in = {j.in, sizeof *j.in};
    tmap_each_stencil(&plan, in, rule, j.out, &mine);
}
static __global__ void __launch_bounds__(512, 2) stencil_cxx(tmap_each_plan plan, job j) {
    tmap::stencil(plan, j.in, j.out, [=](tmap_cell, tmap_u32 around, const float *nine) {
        return flow(around, nine, j.rate);
    });
}

// ---- pairs --------------------------------------------------------------------------------------

#define PAIRS __launch_bounds__(TMAP_PAIRS_THREADS)

static __device__ void mark(void *p, void *, tmap_pair pair, const void *a, const void *b) {
    job *j = (job *)p;
    if (squared((const float *)a, (const float *)b) < j->rate) atomicAdd(&j->out[pair.i], 1.0f);
}
static __global__ void PAIRS pairs_each_c(tmap_pairs_plan plan, job j) {
    job mine = j;
    const tmap_points points = {j.in, 0, sizeof(float), 3};
    tmap_pairs_each(&plan, points, mark, &mine);
}
static __global__ void PAIRS pairs_each_cxx(tmap_pairs_plan plan, job j) {
    tmap::pairs_each(plan, tmap::points<float, 3>{j.in},
                     [=](tmap_pair pair, const float *a, const float *b) {
                         if (squared(a, b) < j.rate) atomicAdd(&j.out[pair.i], 1.0f);
                     });
}

static __device__ void count(void *p, void *sum, tmap_pair, const void *a, const void *b) {
    *(tmap_u64 *)sum += squared((const float *)a, (const float *)b) < ((job *)p)->rate;
}
static __device__ void join_count(void *, void *sum, const void *other) {
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
static __global__ void PAIRS pairs_fold_c(tmap_pairs_plan plan, job j) {
    job mine = j;
    const tmap_u64 zero = 0;
    const tmap_points points = {j.in, 0, sizeof(float), 3};
    const tmap_fold fold = {&zero, sizeof zero, join_count};
    tmap_pairs_fold(&plan, points, count, fold, j.to, &mine);
}
static __global__ void PAIRS pairs_fold_cxx(tmap_pairs_plan plan, job j) {
    tmap::pairs_fold(
        plan, tmap::points<float, 3>{j.in}, tmap_u64(0),
        [=](tmap_u64 &sum, tmap_pair, const float *a, const float *b) {
            sum += squared(a, b) < j.rate;
        },
        [](tmap_u64 &sum, tmap_u64 other) { sum += other; }, j.to);
}

static __device__ void give_both(const float *u, const float *v, float *to_i, float *to_j) {
    const float w = 1 / (1 + squared(u, v));
    for (int k = 0; k < 3; ++k) {
        to_i[k] += w * (v[k] - u[k]);
        to_j[k] -= w * (v[k] - u[k]);
    }
}
static __device__ void give(void *, tmap_pair, const void *a, const void *b, void *to_i,
                            void *to_j) {
    give_both((const float *)a, (const float *)b, (float *)to_i, (float *)to_j);
}
static __device__ void join_vec3(void *, void *sum, const void *other) {
    for (int k = 0; k < 3; ++k) ((float *)sum)[k] += ((const float *)other)[k];
}
static __global__ void PAIRS pairs_rows_c(tmap_pairs_plan plan, job j) {
    const float zero[3] = {0, 0, 0};
    const tmap_points points = {j.in, 0, sizeof(float), 3};
    const tmap_fold fold = {zero, sizeof zero, join_vec3};
    tmap_pairs_rows(&plan, points, give, fold, j.rows, 0);
}
static __global__ void PAIRS pairs_rows_cxx(tmap_pairs_plan plan, job j) {
    const vec3 zero = {{0, 0, 0}};
    tmap::pairs_rows(
        plan, tmap::points<float, 3>{j.in}, zero,
        [](tmap_pair, const float *a, const float *b, vec3 &to_i, vec3 &to_j) {
            give_both(a, b, to_i.v, to_j.v);
        },
        [](vec3 &sum, const vec3 &other) {
            for (int k = 0; k < 3; ++k) sum.v[k] += other.v[k];
        },
        j.rows);
}

static __device__ int is_near(void *p, tmap_pair, const void *a, const void *b, void *value) {
    *(float *)value = squared((const float *)a, (const float *)b);
    return *(float *)value < ((job *)p)->rate;
}
static __global__ void PAIRS pairs_select_c(tmap_pairs_plan plan, job j) {
    job mine = j;
    const tmap_points points = {j.in, 0, sizeof(float), 3};
    const tmap_pairs_choice choice = {is_near, sizeof(float), TMAP_PAIRS_FIXED_ORDER};
    tmap_pairs_select(&plan, points, choice, &j.list, &mine);
}
static __global__ void PAIRS pairs_select_cxx(tmap_pairs_plan plan, job j) {
    tmap::pairs_select<float>(
        plan, tmap::points<float, 3>{j.in},
        [=](tmap_pair, const float *a, const float *b, float &value) {
            value = squared(a, b);
            return value < j.rate;
        },
        TMAP_PAIRS_FIXED_ORDER, j.list);
}

// Without values; the list's stay as they are.
static __device__ int is_near_only(void *p, tmap_pair, const void *a, const void *b, void *) {
    return squared((const float *)a, (const float *)b) < ((job *)p)->rate;
}
static __global__ void PAIRS pairs_list_c(tmap_pairs_plan plan, job j) {
    job mine = j;
    const tmap_points points = {j.in, 0, sizeof(float), 3};
    const tmap_pairs_choice choice = {is_near_only, 0, TMAP_PAIRS_FIXED_ORDER};
    tmap_pairs_select(&plan, points, choice, &j.list, &mine);
}
static __global__ void PAIRS pairs_list_cxx(tmap_pairs_plan plan, job j) {
    tmap::pairs_select(
        plan, tmap::points<float, 3>{j.in},
        [=](tmap_pair, const float *a, const float *b) { return squared(a, b) < j.rate; },
        TMAP_PAIRS_FIXED_ORDER, j.list);
}

static __device__ void store(void *, tmap_pair, const void *a, const void *b, void *value) {
    *(float *)value = squared((const float *)a, (const float *)b);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS)
    pairs_store_c(tmap_pairs_plan plan, job j) {
    const tmap_points points = {j.in, 0, sizeof(float), 3};
    tmap_pairs_store(&plan, points, store, sizeof(float), j.out, 0);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS)
    pairs_store_cxx(tmap_pairs_plan plan, job j) {
    tmap::pairs_store(plan, tmap::points<float, 3>{j.in}, j.out,
                      [](tmap_pair, const float *a, const float *b) { return squared(a, b); });
}

// ---- near pairs: j.in is a prepared set --------------------------------------------------------

#define NEAR __launch_bounds__(TMAP_NEAR_THREADS)

static __device__ int reach(void *p, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_within(a, b, 3, ((job *)p)->rate);
}
static __global__ void NEAR near_each_c(tmap_near_plan plan, job j) {
    job mine = j;
    const tmap_near points = {{j.in, 0, sizeof(float), 3}, reach, 0};
    tmap_near_each(&plan, points, mark, &mine);
}
static __global__ void NEAR near_fold_c(tmap_near_plan plan, job j) {
    job mine = j;
    const tmap_u64 zero = 0;
    const tmap_near points = {{j.in, 0, sizeof(float), 3}, reach, 0};
    const tmap_fold fold = {&zero, sizeof zero, join_count};
    tmap_near_fold(&plan, points, count, fold, j.to, &mine);
}
static __global__ void NEAR near_rows_c(tmap_near_plan plan, job j) {
    job mine = j;
    const float zero[3] = {0, 0, 0};
    const tmap_near points = {{j.in, 0, sizeof(float), 3}, reach, 0};
    const tmap_fold fold = {zero, sizeof zero, join_vec3};
    tmap_near_rows(&plan, points, give, fold, j.out, &mine);
}
static __device__ tmap_near_list list_of(const job *j) {
    return {j->list.pairs,  (int *)j->list.pairs + j->list.capacity,
            j->list.values, j->list.capacity,
            j->list.count,  j->list.workspace};
}
static __global__ void NEAR near_select_c(tmap_near_plan plan, job j) {
    job mine = j;
    const tmap_near points = {{j.in, 0, sizeof(float), 3}, reach, 0};
    const tmap_near_choice choice = {is_near, sizeof(float), 4, 1};
    const tmap_near_list list = list_of(&j);
    tmap_near_select(&plan, points, choice, &list, &mine);
}
#define NEAR_POINTS \
    tmap::near_points { \
        tmap::near_sets<float, 3>{j.in}, [=](const tmap_near_box &a, const tmap_near_box &b) { \
            return tmap_near_within(&a, &b, 3, j.rate); \
        } \
    }
static __global__ void NEAR near_each_cxx(tmap_near_plan plan, job j) {
    tmap::near_each(plan, NEAR_POINTS, [=](tmap_pair pair, const float *a, const float *b) {
        if (squared(a, b) < j.rate) atomicAdd(&j.out[pair.i], 1.0f);
    });
}
static __global__ void NEAR near_fold_cxx(tmap_near_plan plan, job j) {
    tmap::near_fold(
        plan, NEAR_POINTS, tmap_u64(0),
        [=](tmap_u64 &sum, tmap_pair, const float *a, const float *b) {
            sum += squared(a, b) < j.rate;
        },
        [](tmap_u64 &sum, tmap_u64 other) { sum += other; }, j.to);
}
static __global__ void NEAR near_rows_cxx(tmap_near_plan plan, job j) {
    const vec3 zero = {{0, 0, 0}};
    tmap::near_rows(
        plan, NEAR_POINTS, zero,
        [](tmap_pair, const float *a, const float *b, vec3 &to) {
            vec3 dropped = {{0, 0, 0}};
            give_both(a, b, to.v, dropped.v);
        },
        [](vec3 &sum, const vec3 &other) {
            for (int k = 0; k < 3; ++k) sum.v[k] += other.v[k];
        },
        (vec3 *)j.out);
}
static __global__ void NEAR near_select_cxx(tmap_near_plan plan, job j) {
    tmap::near_select<float, int>(
        plan, NEAR_POINTS,
        [=](tmap_pair, const float *a, const float *b, float &value) {
            value = squared(a, b);
            return value < j.rate;
        },
        1, list_of(&j));
}

// ---- runs ---------------------------------------------------------------------------------------

// The first four as tmap_each_work.
typedef enum form {
    EACH,
    UPDATE,
    FOLD,
    STENCIL,
    PAIRS_FOLD,
    PAIRS_ROWS,
    PAIRS_STORE,
    NEAR_FOLD,
    NEAR_ROWS
} form;

static const struct {
    const char *name;
    form plan; // whose maker
    const void *kernels[2];
} calls[] = {
    {"each", EACH, {(const void *)each_c, (const void *)each_cxx}},
    {"update", UPDATE, {(const void *)update_c, (const void *)update_cxx}},
    {"fold", FOLD, {(const void *)fold_c, (const void *)fold_cxx}},
    {"stencil", STENCIL, {(const void *)stencil_c, (const void *)stencil_cxx}},
    {"pairs_each", PAIRS_FOLD, {(const void *)pairs_each_c, (const void *)pairs_each_cxx}},
    {"pairs_fold", PAIRS_FOLD, {(const void *)pairs_fold_c, (const void *)pairs_fold_cxx}},
    {"pairs_rows", PAIRS_ROWS, {(const void *)pairs_rows_c, (const void *)pairs_rows_cxx}},
    {"pairs_select", PAIRS_FOLD, {(const void *)pairs_select_c, (const void *)pairs_select_cxx}},
    {"pairs_select without values",
     PAIRS_FOLD,
     {(const void *)pairs_list_c, (const void *)pairs_list_cxx}},
    {"pairs_store", PAIRS_STORE, {(const void *)pairs_store_c, (const void *)pairs_store_cxx}},
    {"near_each", NEAR_FOLD, {(const void *)near_each_c, (const void *)near_each_cxx}},
    {"near_fold", NEAR_FOLD, {(const void *)near_fold_c, (const void *)near_fold_cxx}},
    {"near_rows", NEAR_ROWS, {(const void *)near_rows_c, (const void *)near_rows_cxx}},
    {"near_select", NEAR_FOLD, {(const void *)near_select_c, (const void *)near_select_cxx}},
};

static cudaError_t run_cells(form of, const void *kernel, job *j) {
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_each_plan plan;
    const cudaError_t error = tmap_each_plan_make(of, f, R, 0, kernel, &plan);
    return error ? error : tmap_each_launch(&plan, j, 0);
}

static cudaError_t run_pairs(form of, const void *kernel, job *j) {
    const tmap_pairs_store_shape shape = {N, 3, 4, TMAP_PAIRS_CONDENSED, 4};
    tmap_pairs_plan plan;
    cudaError_t error = of == PAIRS_FOLD   ? tmap_pairs_plan_make(N, 3, 4, kernel, &plan)
                        : of == PAIRS_ROWS ? tmap_pairs_rows_plan_make(N, 3, 4, 12, kernel, &plan)
                                           : tmap_pairs_store_plan_make(shape, kernel, &plan);
    if (error) return error;
    return of == PAIRS_ROWS    ? tmap_pairs_rows_launch(&plan, j, 0)
           : of == PAIRS_STORE ? tmap_pairs_store_launch(&plan, j, 0)
                               : tmap_pairs_launch(&plan, j, 0);
}

static cudaError_t run_near(form of, const void *kernel, job *j) {
    const tmap_near_shape shape = {N, 3, 4};
    void *set = kit_device(tmap_near_set_bytes(shape));
    const float *points = j->in;
    tmap_near_plan plan;
    cudaError_t error = of == NEAR_ROWS ? tmap_near_rows_plan_make(shape, 12, kernel, &plan)
                                        : tmap_near_plan_make(shape, kernel, &plan);
    if (!error) error = tmap_near_prepare(shape, points, 0, set, 0);
    j->in = (const float *)set;
    if (!error) error = tmap_near_launch(&plan, j, 0);
    j->in = points;
    return error;
}

// Both kernels of a call, each with memory that is cleared; what they leave is compared.
static void compare(unsigned call) {
    enum { OUT = N * (N - 1) / 2, WORKSPACE = 1 << 22 };
    static float in[PLACES], out[2][OUT];
    job j;
    int written = 0;
    for (tmap_u32 i = 0; i < PLACES; ++i) in[i] = (float)(check_hash(i, 7) % 1024) / 256;
    j.in = (const float *)kit_to_device(in, sizeof in);
    j.out = (float *)kit_device(sizeof out[0]);
    j.to.workspace = kit_device(WORKSPACE);
    j.rate = 1.5f;
    j.to.result = j.out;
    j.rows.workspace = j.to.workspace, j.rows.result = j.out, j.rows.result_others = 0;
    j.list.capacity = OUT / 3 - 2, j.list.count = (tmap_u64 *)j.out;
    j.list.pairs = (tmap_pair *)(j.out + 2), j.list.values = j.out + 2 + 2 * j.list.capacity;
    j.list.workspace = j.to.workspace;
    for (int form = 0; form < 2; ++form) {
        const void *kernel = calls[call].kernels[form];
        CHECK(cudaMemset(j.out, 0, sizeof out[0]));
        CHECK(cudaMemset(j.to.workspace, 0, WORKSPACE));
        CHECK(calls[call].plan < PAIRS_FOLD  ? run_cells(calls[call].plan, kernel, &j)
              : calls[call].plan < NEAR_FOLD ? run_pairs(calls[call].plan, kernel, &j)
                                             : run_near(calls[call].plan, kernel, &j));
        CHECK(cudaMemcpy(out[form], j.out, sizeof out[0], cudaMemcpyDeviceToHost));
    }
    for (int i = 0; i < OUT; ++i) written |= out[0][i] != 0;
    EXPECT(written && !memcmp(out[0], out[1], sizeof out[0]), "%s: not what the C form gives",
           calls[call].name);
    kit_release(0);
}

int main(void) {
    kit_begin();
    for (unsigned i = 0; i < COUNT(calls); ++i) compare(i);
    return kit_end("test_cxx");
}
