// SPDX-License-Identifier: MIT
// test_pairs: tmap_pairs_each and tmap_pairs_fold against serial loops: each pair once and no other,
// with its own points, for every n up to some tiles, every d, floats and doubles, first rows, two
// sets, many sets, and shares that add up; sums of floats that are the same in every bit over
// launch shapes; what the plan makers refuse; and the plans of all engines for pairs from facts, on
// every device that the CPU machine knows.
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

static __device__ void visit(void *job, void *, tmap_pair pair, const void *a, const void *b) {
    visits *v = (visits *)job;
    const tmap_u32 columns = v->m ? v->m : v->n;
    tmap_u32 set;
    if (are_points(pair, a, b, v->d, v->size, &set) && tmap_pairs_set(a) == set && pair.i < v->n &&
        pair.j < columns && (v->m || pair.i < pair.j))
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
// clang-format off
#define KERNELS_OF(K) \
    K(3, float) K(1, float) K(2, float) K(4, float) K(5, float) K(6, float) K(7, float) \
    K(8, float) K(1, double) K(3, double) K(8, double)
// clang-format on
#define KERNEL(D, type) {D, sizeof(type), (const void *)visit_##D##_##type},
KERNELS_OF(VISIT)
static const struct kernel_of {
    tmap_u32 d, size;
    const void *kernel;
} kernels[] = {KERNELS_OF(KERNEL)};
enum { KERNELS = COUNT(kernels) };

// shares: the launches among which the plan's items are divided.
static void run_visits(shape s, const struct kernel_of *k, tmap_u32 shares) {
    if (!check_turn()) return;
    const tmap_u32 columns = s.others ? s.others : s.n;
    const tmap_u64 places = (tmap_u64)s.n * columns + 1;
    tmap_pairs_plan plan;
    visits v;
    const tmap_u32 *seen;
    tmap_u64 missed = 0, first = 0;
    s.d = k->d, s.size = k->size, of_shape(s);
    v.n = s.n, v.m = s.others, v.d = s.d, v.size = s.size;
    v.points = numbered_points(s.n, s), v.others = second_points(s);
    v.seen = (tmap_u32 *)kit_filled(places * 4, 0), v.wrong = (tmap_u64 *)kit_filled(8, 0);
    make_plan(s, k->kernel, &plan);
    for (tmap_u32 i = 0; i < shares; ++i) {
        const tmap_pairs_plan part = share_of(&plan, i, shares, &first);
        CHECK(tmap_pairs_launch(&part, &v, 0));
    }
    seen = (const tmap_u32 *)kit_to_host(v.seen, places * 4);
    for (tmap_u32 i = 0; i < s.n; ++i)
        for (tmap_u32 j = 0; j < columns; ++j) {
            const int pair = i < s.rows && (s.others || i < j);
            missed += seen[(tmap_u64)i * columns + j] != (pair ? s.sets : 0);
        }
    expect(kit_number(v.wrong) == 0, "a pair with other points");
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
    const tmap_u64 bytes = s.sets * sizeof(far_t);
    const far_t *got = 0, *before = 0;
    float *a = random_points(0, s.n, s), *b = s.others ? random_points(1, s.others, s) : a;
    far_job j;
    tmap_pairs_plan plan;
    s.d = 2, s.size = 4, of_shape(s);
    make_plan(s, (const void *)far_kernel, &plan);
    j.points = (const float *)kit_to_device(a, (tmap_u64)s.n * s.sets * 8);
    j.others = s.others ? (const float *)kit_to_device(b, (tmap_u64)s.others * s.sets * 8)
                        : (const float *)second_points(s);
    j.to.workspace = kit_filled(tmap_pairs_fold_bytes(&plan, sizeof *got), 0x55);
    CHECK(cudaMemset(j.to.workspace, 0, tmap_pairs_fold_clear(&plan)));
    for (tmap_u32 g = 0; g < 4; ++g) {
        if (kit_small && g == 1 + s.n % 3) continue;
        if (grids[g]) plan.grid = grids[g];
        j.to.result = kit_guarded(bytes);
        CHECK(tmap_pairs_launch(&plan, &j, 0));
        got = (const far_t *)kit_to_host(j.to.result, bytes);
        if (before) expect(memcmp(got, before, bytes) == 0, "bits over launch shapes");
        before = got;
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
    tmap_u64 want[BINS] = {0};
    tmap_pairs_plan plan;
    bins_job j;
    s.d = 1, of_shape(s);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 k = i + 1; k < n; ++k) ++want[(i + 7 * k) % BINS];
    j.points = numbered_points(n, s), j.bins = 0;
    j.total = (tmap_u64 *)kit_filled(sizeof want, 0);
    make_plan(s, (const void *)bins_kernel, &plan);
    CHECK(tmap_pairs_launch(&plan, &j, 0));
    expect(!memcmp(kit_to_host(j.total, sizeof want), want, sizeof want),
           "shared memory after the visits");
    kit_release(0);
}

// ---- plans --------------------------------------------------------------------------------------

// Plans of tmap_pairs_*_plan_of are those of tmap_pairs_*_plan_make, member by member.
static int same_plan(const tmap_pairs_plan *a, const tmap_pairs_plan *b) {
#define SAME(member) (a->member == b->member)
    return SAME(n) && SAME(rows) && SAME(others) && SAME(d) && SAME(size) && SAME(sets) &&
           SAME(across) && SAME(kind) && SAME(tiles) && SAME(items) && SAME(first) && SAME(count) &&
           SAME(grid) && SAME(block) && SAME(shared) && SAME(resident) && SAME(side) && SAME(cut) &&
           SAME(cut_most) && SAME(band) && SAME(layout) && SAME(value) && SAME(before) &&
           SAME(pitch) && SAME(step) && SAME(values);
}
static int same_frames_plan(const tmap_pairs_frames_plan *a, const tmap_pairs_frames_plan *b) {
    return SAME(n) && SAME(kind) && SAME(frames) && SAME(own) && SAME(bytes) && SAME(side) &&
           SAME(bands) && SAME(pitch) && SAME(tiles) && SAME(ranges) && SAME(group) &&
           SAME(range) && SAME(splits) && SAME(grid) && SAME(block) && SAME(shared) &&
           SAME(processors) && SAME(resident) && SAME(room) && SAME(room_of_all);
#undef SAME
}

static __global__ void nothing(tmap_pairs_plan, int) {}

static void run_plans(const char *device) {
    const void *kernel = (const void *)nothing;
    static const tmap_u32 points[] = {0, 1, 200, 3000, 6145, 30720, 131072, 4000000};
    tmap_pairs_plan made, of;
    tmap_pairs_frames_plan frames_made, frames_of;
    tmap_facts facts;
    CHECK(tmap_facts_get(kernel, &facts));
    for (int i = 0; i < 8; ++i)
        for (tmap_u32 d = 1; d <= TMAP_PAIRS_D_MAX; ++d)
            for (tmap_u32 size = 4; size <= 8; size += 4) {
                const shape s = {points[i], points[i], 0, 1, d, size};
                const tmap_pairs_store_shape few = {points[i], d, size, 1 + d % 3,
                                                    4 + d / 4 % 2 * 4};
                const tmap_pairs_store_shape any = {points[i], d * d * d, size, 1 + d % 3, size};
                const tmap_u32 bytes = 4 * (1 + (d * 5 + size) % 16);
                CHECK(tmap_pairs_plan_make(s.n, d, size, kernel, &made));
                kit_case("device %s, n = %u, d = %u, %u bytes", device, s.n, d, size);
                expect(!tmap_pairs_plan_of(s.n, d, size, &facts, &of) && same_plan(&made, &of),
                       "a plan of facts");
                expect(made.kernel == kernel && !of.kernel, "kernels");
                CHECK(tmap_pairs_rows_plan_make(s.n, d, size, bytes, kernel, &made));
                expect(!tmap_pairs_rows_plan_of(s.n, d, size, bytes, &facts, &of) &&
                           same_plan(&made, &of),
                       "a plan of facts");
                CHECK(tmap_pairs_store_plan_make(few, kernel, &made));
                expect(!tmap_pairs_store_plan_of(few, &of) && same_plan(&made, &of),
                       "a plan of facts");
                CHECK(tmap_pairs_store_sums_plan_make(any, kernel, &made));
                expect(!tmap_pairs_store_sums_plan_of(any, &of) && same_plan(&made, &of),
                       "a plan of facts");
                CHECK(tmap_pairs_frames_plan_make(s.n, 1ull << 3 * (d - 1), d % 5, bytes, kernel,
                                                  &frames_made));
                expect(!tmap_pairs_frames_plan_of(s.n, 1ull << 3 * (d - 1), d % 5, bytes, &facts,
                                                  &frames_of) &&
                           same_frames_plan(&frames_made, &frames_of),
                       "a plan of facts");
            }
    expect(facts.device.capability >= 75 && facts.device.processors >= 1, "facts");
}

// ---- refusals -----------------------------------------------------------------------------------

static void run_refusals(void) {
    const void *kernel = (const void *)far_kernel;
    tmap_pairs_plan plan, other, same;
    far_job none = {0, 0, {0, 0}};
    int job = 0;
    kit_case("%s", "refusals");
    memset(&plan, 0x77, sizeof plan), same = plan;
    REFUSED(tmap_pairs_plan_make(5, 9, 4, kernel, &plan)); // the others: pairs_plans.c
    REFUSED(tmap_pairs_plan_make(5, 2, 4, NULL, &plan));
    REFUSED(tmap_pairs_plan_make(5, 2, 4, kernel, NULL));
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
    // Plans that no maker has made, or not for this kind of kernel.
    other = plan, memset(&other.kind, 0, sizeof other.kind);
    REFUSED(tmap_pairs_launch(&other, &job, 0));
    other.kind = TMAP_PAIRS_KIND_FRAMES;
    REFUSED(tmap_pairs_launch(&other, &job, 0));
    REFUSED(tmap_pairs_rows_launch(&plan, &job, 0));
    REFUSED(tmap_pairs_store_launch(&plan, &job, 0));
    REFUSED(tmap_pairs_rows_launch(NULL, &job, 0));
    REFUSED(tmap_pairs_store_launch(NULL, &job, 0));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal changed the plan");
    // An error that an earlier call has left is not this launch's, and stays to be asked for.
    CHECK(tmap_pairs_plan_share(&plan, 0, 0));
    none.to.result = kit_device(sizeof(far_t));
    earlier_error();
    RETURNS(tmap_pairs_launch(&plan, &none, 0), cudaSuccess);
    expect(earlier_error_is_there(), "an earlier error");
    const far_t *out = (const far_t *)kit_to_host(none.to.result, sizeof *out);
    expect(out->distance == -1 && out->pair.i == ~0u, "a share without an item");
    // Sizes that no matrix of 32 bits has.
    CHECK(tmap_pairs_plan_make(131072, 3, 4, kernel, &plan));
    expect(plan.items == 32896, "items");
    CHECK(tmap_pairs_plan_make(4000000000u, 3, 4, kernel, &plan));
    expect(plan.items == 30517582031250ull, "items");
    CHECK(tmap_pairs_plan_rows(&plan, 1));
    expect(plan.items == 7812500, "items");
    kit_release(0);
}

static void run_device(const char *device) {
    shape s = shape_of(1025);
    for (int i = 0; i < (int)KERNELS; i += 3) run_visits(s, &kernels[i], 2);
    run_fold(s);
    s.others = 300, s.sets = 2;
    run_fold(s);
    run_plans(device);
}

static void run(shape s, tmap_u32 number, tmap_u32 shares) {
    run_visits(s, &kernels[number % KERNELS], shares);
    run_fold(s);
}

int main(void) {
    kit_begin();
    each_shape(kit_small ? 37 : 1, 6, run);
    run_bins(300), run_bins(1100);
    on_all_devices(run_device);
    run_refusals();
    return kit_end("test_pairs");
}
