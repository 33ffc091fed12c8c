// SPDX-License-Identifier: MIT
// test_pairs: tmap_pairs_each and tmap_pairs_fold against serial loops: each pair once and no other,
// with its own points, for every n up to some tiles, every d, floats and doubles, first rows, two
// sets, many sets, and shares that add up; sums of floats that are the same in every bit over
// launch shapes; and what the plan makers refuse.
#define TMAPI_PAIRS_ITEMS 3u // so that small sizes have whole tiles as well as bands
#include "triangle/pairs_check.h"

// ---- visits -------------------------------------------------------------------------------------

// A visit adds a number that its set's pair alone has, and looks at the points that it gets.
typedef struct visits {
    const void *points, *others;
    tmap_u32 n, m, d, size; // m: points of the second set, or 0
    tmap_u32 *seen;         // n x columns, of all sets together
    tmap_u64 *wrong;
} visits;

static __device__ tmap_u32 coordinate(const void *point, tmap_u32 size, tmap_u32 k) {
    return (tmap_u32)(size == 8 ? ((const double *)point)[k] : ((const float *)point)[k]);
}

// Point number p of `set` has coordinates p * 8 + k + set * 3, below 2^24.
static __device__ void visit(void *job, void *, tmap_pair pair, const void *a, const void *b) {
    visits *v = (visits *)job;
    const tmap_u32 columns = v->m ? v->m : v->n;
    const tmap_u32 set = (coordinate(a, v->size, 0) - pair.i * 8) / 3;
    int right = pair.i < v->n && pair.j < columns && (v->m || pair.i < pair.j);
    for (tmap_u32 k = 0; k < v->d; ++k)
        right = right && coordinate(a, v->size, k) == pair.i * 8 + k + set * 3 &&
                coordinate(b, v->size, k) == pair.j * 8 + k + set * 3;
    if (right)
        atomicAdd(&v->seen[pair.i * columns + pair.j], 1u);
    else
        atomicAdd(v->wrong, 1ull);
}

// The sizes are constants of each kernel, lest the compiler make code for all of them.
#define VISIT(D, type) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS) \
        visit_##D##_##type(tmap_pairs_plan plan, visits v) { \
        const tmap_points points = {v.points, v.others, sizeof(type), D}; \
        v.d = D, v.size = sizeof(type); \
        tmap_pairs_each(&plan, points, visit, &v); \
    }
VISIT(1, float)
VISIT(2, float)
VISIT(3, float)
VISIT(4, float)
VISIT(5, float)
VISIT(6, float)
VISIT(7, float)
VISIT(8, float)
VISIT(1, double)
VISIT(3, double)
VISIT(8, double)
static const struct kernel_of {
    tmap_u32 d, size;
    const void *kernel;
} kernels[] = {
    {3, 4, (const void *)visit_3_float},  {1, 4, (const void *)visit_1_float},
    {2, 4, (const void *)visit_2_float},  {4, 4, (const void *)visit_4_float},
    {5, 4, (const void *)visit_5_float},  {6, 4, (const void *)visit_6_float},
    {7, 4, (const void *)visit_7_float},  {8, 4, (const void *)visit_8_float},
    {1, 8, (const void *)visit_1_double}, {3, 8, (const void *)visit_3_double},
    {8, 8, (const void *)visit_8_double},
};
enum { KERNELS = COUNT(kernels) };

// shares: the launches among which the plan's items are divided.
static void run_visits(shape s, const struct kernel_of *k, tmap_u32 shares) {
    if (!check_turn()) return;
    const tmap_u32 columns = s.others ? s.others : s.n;
    const tmap_u64 places = (tmap_u64)s.n * columns + 1;
    tmap_pairs_plan plan;
    visits v;
    tmap_u32 *seen = (tmap_u32 *)kit_host(places * 4);
    tmap_u64 wrong, missed = 0, first = 0;
    s.d = k->d, s.size = k->size;
    v.n = s.n, v.m = s.others, v.d = s.d, v.size = s.size;
    v.points = numbered_points(0, s.n, s), v.others = second_points(s);
    v.seen = (tmap_u32 *)kit_device(places * 4);
    v.wrong = (tmap_u64 *)kit_device(8);
    CHECK(cudaMemset(v.seen, 0, places * 4));
    CHECK(cudaMemset(v.wrong, 0, 8));
    make_plan(s, k->kernel, &plan);
    for (tmap_u32 i = 0; i < shares; ++i) {
        tmap_pairs_plan part = plan;
        const tmap_u64 left = plan.items - first;
        const tmap_u64 count = i + 1 == shares ? left : check_hash(i, s.n) % (left / 2 + 1);
        CHECK(tmap_pairs_plan_share(&part, first, count));
        CHECK(tmap_pairs_launch(&part, &v, 0));
        first += count;
    }
    CHECK(cudaMemcpy(seen, v.seen, places * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&wrong, v.wrong, 8, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < s.n; ++i)
        for (tmap_u32 j = 0; j < columns; ++j) {
            const int pair = i < s.rows && (s.others || i < j);
            missed += seen[(tmap_u64)i * columns + j] != (pair ? s.sets : 0);
        }
    of_shape(s);
    expect(wrong == 0, "a pair with other points");
    expect(missed == 0, "visits");
    kit_release(0);
}

// ---- folds --------------------------------------------------------------------------------------

// The sum of all distances in floats, and the farthest pair: the first one of these.
typedef struct far_t {
    float sum, distance;
    tmap_pair pair;
} far_t;

typedef struct far_job {
    const float *points, *others;
    tmap_fold_to to;
} far_job;

static __device__ void far_add(void *, void *accumulator, tmap_pair pair, const void *a,
                               const void *b) {
    far_t *f = (far_t *)accumulator;
    const float *u = (const float *)a, *v = (const float *)b, x = u[0] - v[0], y = u[1] - v[1];
    const float distance = x * x + y * y;
    f->sum += distance;
    if (distance > f->distance) f->distance = distance, f->pair = pair;
}
static __device__ int far_before(tmap_pair a, tmap_pair b) {
    return a.i < b.i || (a.i == b.i && a.j < b.j);
}
static __device__ void far_join(void *, void *accumulator, const void *other) {
    far_t *f = (far_t *)accumulator;
    const far_t *o = (const far_t *)other;
    f->sum += o->sum;
    if (o->distance > f->distance || (o->distance == f->distance && far_before(o->pair, f->pair)))
        f->distance = o->distance, f->pair = o->pair;
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    far_kernel(tmap_pairs_plan plan, far_job j) {
    const tmap_points points = {j.points, j.others, sizeof(float), 2};
    const far_t zero = {0, -1, {~0u, ~0u}};
    const tmap_fold far = {&zero, sizeof zero, far_join};
    tmap_pairs_fold(&plan, points, far_add, far, j.to, 0);
}

// Coordinates are whole numbers of a few bits, so that distances are exact on every machine.
static void run_fold(shape s) {
    if (!check_turn()) return;
    const tmap_u32 columns = s.others ? s.others : s.n, grids[] = {0, 1, 3, 1000};
    far_t *got = (far_t *)kit_host(s.sets * sizeof *got),
          *before = (far_t *)kit_host(s.sets * sizeof *got);
    float *a = random_points(0, s.n, s), *b = s.others ? random_points(1, s.others, s) : a;
    far_job j;
    tmap_pairs_plan plan;
    s.d = 2, s.size = 4;
    make_plan(s, (const void *)far_kernel, &plan);
    j.points = (const float *)kit_to_device(a, (tmap_u64)s.n * s.sets * 8);
    j.others = s.others ? (const float *)kit_to_device(b, (tmap_u64)s.others * s.sets * 8)
                        : (const float *)second_points(s);
    j.to.workspace = kit_device(tmap_pairs_fold_bytes(&plan, sizeof *got));
    CHECK(cudaMemset(j.to.workspace, 0x55, tmap_pairs_fold_bytes(&plan, sizeof *got)));
    CHECK(cudaMemset(j.to.workspace, 0, tmap_pairs_fold_clear(&plan)));
    j.to.result = kit_device(s.sets * sizeof *got);
    for (int g = 0; g < 4; ++g) {
        if (grids[g]) plan.grid = grids[g];
        CHECK(cudaMemset(j.to.result, 0x55, s.sets * sizeof *got));
        CHECK(tmap_pairs_launch(&plan, &j, 0));
        CHECK(cudaMemcpy(got, j.to.result, s.sets * sizeof *got, cudaMemcpyDeviceToHost));
        of_shape(s);
        if (g) expect(memcmp(got, before, s.sets * sizeof *got) == 0, "bits over launch shapes");
        memcpy(before, got, s.sets * sizeof *got);
    }
    for (tmap_u32 set = 0; set < s.sets; ++set) {
        const float *u = a + (tmap_u64)set * s.n * 2, *v = b + (tmap_u64)set * columns * 2;
        double sum = 0;
        float most = -1;
        tmap_pair far = {~0u, ~0u};
        for (tmap_u32 i = 0; i < s.rows; ++i)
            for (tmap_u32 k = s.others ? 0 : i + 1; k < columns; ++k) {
                const float x = u[2 * i] - v[2 * k], y = u[2 * i + 1] - v[2 * k + 1];
                sum += x * x + y * y;
                if (x * x + y * y > most) most = x * x + y * y, far.i = i, far.j = k;
            }
        of_shape(s);
        expect(got[set].distance == most && got[set].pair.i == far.i && got[set].pair.j == far.j,
               "farthest pair");
        expect(got[set].sum >= sum * (1 - 1e-5) && got[set].sum <= sum * (1 + 1e-5), "sum");
    }
    kit_release(0);
}

// ---- shared memory after a visit ----------------------------------------------------------------

// Bins of a block, more of them than it has threads; each is read by another thread than those that
// count in it, and nothing is between the visits and that.
enum { BINS = 300 };
typedef struct bins_job {
    const void *points;
    tmap_u32 *bins; // of the block
    tmap_u64 *total;
} bins_job;

static __device__ void bins_visit(void *job, void *, tmap_pair pair, const void *, const void *) {
    atomicAdd(&((bins_job *)job)->bins[(pair.i + 7 * pair.j) % BINS], 1u);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    bins_kernel(tmap_pairs_plan plan, bins_job j) {
    __shared__ tmap_u32 bins[BINS];
    const tmap_points points = {j.points, 0, sizeof(float), 1};
    for (tmap_u32 b = threadIdx.x; b < BINS; b += TMAP_PAIRS_THREADS) bins[b] = 0;
    __syncthreads();
    j.bins = bins;
    tmap_pairs_each(&plan, points, bins_visit, &j);
    for (tmap_u32 b = threadIdx.x; b < BINS; b += TMAP_PAIRS_THREADS)
        atomicAdd(&j.total[b], (tmap_u64)bins[b]);
}

static void run_bins(tmap_u32 n) {
    shape s = shape_of(n);
    tmap_u64 got[BINS], want[BINS] = {0};
    tmap_pairs_plan plan;
    bins_job j;
    s.d = 1;
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 k = i + 1; k < n; ++k) ++want[(i + 7 * k) % BINS];
    j.points = numbered_points(0, n, s), j.bins = 0;
    j.total = (tmap_u64 *)kit_device(sizeof got);
    CHECK(cudaMemset(j.total, 0, sizeof got));
    make_plan(s, (const void *)bins_kernel, &plan);
    CHECK(tmap_pairs_launch(&plan, &j, 0));
    CHECK(cudaMemcpy(got, j.total, sizeof got, cudaMemcpyDeviceToHost));
    of_shape(s);
    expect(!memcmp(got, want, sizeof got), "shared memory after the visits");
    kit_release(0);
}

// ---- refusals -----------------------------------------------------------------------------------

static void run_refusals(void) {
    const void *kernel = (const void *)far_kernel;
    const shape s = {0, 0, 0, 1, 2, 4};
    tmap_pairs_plan plan, same;
    int job = 0;
    memset(&plan, 0x77, sizeof plan);
    same = plan;
    REFUSED(tmap_pairs_plan_make(5, 0, 4, kernel, &plan));
    REFUSED(tmap_pairs_plan_make(5, 9, 4, kernel, &plan));
    REFUSED(tmap_pairs_plan_make(5, 2, 3, kernel, &plan));
    REFUSED(tmap_pairs_plan_make(5, 2, 16, kernel, &plan));
    REFUSED(tmap_pairs_plan_make(~0u, 2, 4, kernel, &plan));
    REFUSED(tmap_pairs_plan_make(5, 2, 4, NULL, &plan));
    REFUSED(tmap_pairs_plan_make(5, 2, 4, kernel, NULL));
    of_shape(s);
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal wrote the plan");
    CHECK(tmap_pairs_plan_make(600, 2, 4, kernel, &plan));
    same = plan;
    REFUSED(tmap_pairs_plan_rows(NULL, 1));
    REFUSED(tmap_pairs_plan_rows(&plan, 601));
    REFUSED(tmap_pairs_plan_others(NULL, 1));
    REFUSED(tmap_pairs_plan_others(&plan, ~0u));
    REFUSED(tmap_pairs_plan_sets(NULL, 1));
    REFUSED(tmap_pairs_plan_sets(&plan, 0));
    REFUSED(tmap_pairs_plan_sets(&plan, 65537));
    REFUSED(tmap_pairs_plan_share(NULL, 0, 1));
    REFUSED(tmap_pairs_plan_share(&plan, plan.items, 1));
    REFUSED(tmap_pairs_plan_share(&plan, 1, ~0ull));
    REFUSED(tmap_pairs_launch(NULL, &job, 0));
    REFUSED(tmap_pairs_launch(&plan, NULL, 0));
    { // plans that no maker has made, or not for this kind of kernel
        tmap_pairs_plan other = plan;
        memset(&other.kind, 0, sizeof other.kind);
        REFUSED(tmap_pairs_launch(&other, &job, 0));
        other.kind = TMAP_PAIRS_KIND_FRAMES;
        REFUSED(tmap_pairs_launch(&other, &job, 0));
        REFUSED(tmap_pairs_rows_launch(&plan, &job, 0));
        REFUSED(tmap_pairs_store_launch(&plan, &job, 0));
        REFUSED(tmap_pairs_rows_launch(NULL, &job, 0));
        REFUSED(tmap_pairs_store_launch(NULL, &job, 0));
    }
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal changed the plan");
    // An error that an earlier call has left is not this launch's, and stays to be asked for.
    CHECK(tmap_pairs_plan_share(&plan, 0, 0));
    {
        far_job none = {0, 0, {0, 0}};
        far_t out;
        none.to.result = kit_device(sizeof out);
        earlier_error();
        RETURNS(tmap_pairs_launch(&plan, &none, 0), cudaSuccess);
        expect(earlier_error_is_there(), "an earlier error");
        CHECK(cudaMemcpy(&out, none.to.result, sizeof out, cudaMemcpyDeviceToHost));
        expect(out.distance == -1 && out.pair.i == ~0u, "a share without an item");
    }
    // Sizes that no matrix of 32 bits has.
    CHECK(tmap_pairs_plan_make(131072, 3, 4, kernel, &plan));
    expect(tmap_pairs_plan_pairs(&plan) == 8589869056ull && plan.items == 32896, "items");
    CHECK(tmap_pairs_plan_make(4000000000u, 3, 4, kernel, &plan));
    expect(tmap_pairs_plan_pairs(&plan) == 7999999998000000000ull, "pairs");
    expect(plan.items == 30517582031250ull, "items");
    CHECK(tmap_pairs_plan_rows(&plan, 1));
    expect(tmap_pairs_plan_pairs(&plan) == 3999999999ull && plan.items == 7812500, "items");
    kit_release(0);
}

static void run_device(const char *) {
    shape s = shape_of(1025);
    for (int i = 0; i < (int)KERNELS; i += 5) run_visits(s, &kernels[i], 2);
    run_fold(s);
    s.others = 300, s.sets = 2;
    run_fold(s);
}

int main(void) {
    const tmap_u32 some[] = {511, 512, 513, 1024, 1025, 1537};
    kit_begin();
    for (tmap_u32 n = 0; n <= 300; n += kit_small && n > 5 ? 37 : 1)
        run_visits(shape_of(n), &kernels[n % KERNELS], 1), run_fold(shape_of(n));
    for (int i = 0; i < 6; ++i) {
        shape s = shape_of(some[i]);
        run_visits(s, &kernels[i], 1);
        run_visits(s, &kernels[i], 4);
        run_fold(s);
        s.rows = some[i] / 3;
        run_visits(s, &kernels[i], 1);
        run_fold(s);
        s.rows = s.n, s.others = some[5 - i] + 1;
        run_visits(s, &kernels[i], 3);
        run_fold(s);
    }
    for (tmap_u32 sets = 2; sets <= 5; ++sets) {
        shape s = shape_of(sets * 211);
        s.sets = sets;
        run_visits(s, &kernels[sets], 2);
        run_fold(s);
        s.others = 65;
        run_visits(s, &kernels[sets], 1);
        run_fold(s);
    }
    run_bins(300), run_bins(1100);
    on_all_devices(run_device);
    run_refusals();
    return kit_end("test_pairs");
}
