// SPDX-License-Identifier: MIT
// test_pairs_store: every byte of what tmap_pairs_store and tmap_pairs_store_sums write, and of
// what is around it, against serial loops: for every n up to some tiles, every d, floats, doubles
// and bits, all layouts, odd pitches and pointers, first rows, two sets, many sets, and shares
// that add up; sums of 4 to 256 bytes; and what the plan makers refuse.
#define TMAPI_STORE_LARGE 130 // so that small sizes take large tiles
#include "triangle/pairs_store_check.h"

// A value says which pair the function was called for, or that its points are others.
typedef struct store_job {
    const void *points, *others;
    void *out;
    tmap_u32 n, columns, d, size;
    int condensed, hollow, lower;
} store_job;

// 0: a pair that nobody asked for, or that comes with other points.
static __device__ tmap_u32 number(const store_job *j, tmap_pair pair, const void *a, const void *b,
                                  tmap_u32 *set) {
    int right = are_points(pair, a, b, j->d, j->size, set) && tmap_pairs_set(a) == *set;
    right = right && pair.i < j->n && pair.j < j->columns;
    right = right && !(j->condensed && pair.i >= pair.j) && !(j->lower && pair.j > pair.i);
    right = right && !(j->hollow && pair.i == pair.j);
    return right ? pair_number(pair.i, pair.j, *set) : 0;
}
static __device__ void to_float(void *job, tmap_pair pair, const void *a, const void *b,
                                void *value) {
    tmap_u32 set;
    *(float *)value = (float)number((const store_job *)job, pair, a, b, &set);
}
static __device__ void to_double(void *job, tmap_pair pair, const void *a, const void *b,
                                 void *value) {
    tmap_u32 set;
    *(double *)value = number((const store_job *)job, pair, a, b, &set);
}
// A bit that is wrong makes itself known as one that should be 0 and is 1, or the other way round.
static __device__ void to_bit(void *job, tmap_pair pair, const void *a, const void *b,
                              void *value) {
    tmap_u32 set;
    const tmap_u32 right = number((const store_job *)job, pair, a, b, &set) != 0;
    *(tmap_u32 *)value = 4 * (pair_bit(pair.i, pair.j, set) == right);
}

#define STORE(d, type, value, bytes) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS) \
        store_##d##_##type##_##value(tmap_pairs_plan plan, store_job j) { \
        const tmap_points points = {j.points, j.others, sizeof(type), d}; \
        tmap_pairs_store(&plan, points, value, bytes, j.out, &j); \
    }
#define KERNEL(d, type, value, bytes) \
    {d, sizeof(type), bytes, (const void *)store_##d##_##type##_##value},
// clang-format off
#define KERNELS_OF(K) \
    K(3, float, to_float, 4) K(2, float, to_bit, 0) K(8, double, to_double, 8) \
    K(1, float, to_float, 4) K(6, double, to_bit, 0) K(2, float, to_float, 4) \
    K(3, float, to_double, 8) K(4, float, to_float, 4) K(3, double, to_float, 4) \
    K(5, float, to_float, 4) K(1, double, to_double, 8) K(6, float, to_float, 4) \
    K(5, double, to_double, 8) K(7, float, to_float, 4) K(8, float, to_float, 4)
// clang-format on
KERNELS_OF(STORE)
static const struct kernel_of {
    tmap_u32 d, size, bytes;
    const void *kernel;
} kernels[] = {KERNELS_OF(KERNEL)};
enum { KERNELS = COUNT(kernels) };

static tmap_u32 value_of(store_shape w, tmap_u32 i, tmap_u32 j, tmap_u32 set) {
    return w.bytes ? pair_number(i, j, set) : pair_bit(i, j, set);
}

static void run(store_shape w, const struct kernel_of *k) {
    if (!check_turn()) return;
    store_job j;
    w.s.d = k->d, w.s.size = k->size, w.bytes = k->bytes;
    if (!k->bytes && (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED)
        w.layout = TMAP_PAIRS_SQUARE;
    const tmap_pairs_plan plan = plan_of_store(w, k->kernel, 0);
    j.points = shifted_points(w.s.n, w);
    j.others = w.s.others ? shifted_points(w.s.others, w) : second_points(w.s);
    j.n = w.s.n, j.columns = w.s.others ? w.s.others : w.s.n, j.d = k->d, j.size = k->size;
    j.condensed = (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED;
    j.lower = (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_LOWER;
    j.hollow = !w.s.others && w.layout & TMAP_PAIRS_HOLLOW;
    check_store(w, &plan, &j, &j.out, value_of);
    kit_release(0);
}

// ---- sums over any number of coordinates --------------------------------------------------------

// Sums of products of small whole numbers, which are exact, in two halves; the second one goes to
// the first whenever `part` is called, and counts how often that is.
typedef struct sums_t {
    float sum, part;
    tmap_u32 parts;
} sums_t;
typedef struct sums_job {
    const void *points, *others;
    void *out;
    tmap_u32 period, d, limit, words; // words: of a large sum, a constant
} sums_job;

static __device__ void sums_start(void *, void *sum) {
    sums_t *s = (sums_t *)sum;
    s->sum = s->part = 0, s->parts = 0;
}
static __device__ void sums_add_float(void *, void *sum, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    for (int k = 0; k < 4; ++k) ((sums_t *)sum)->part += u[k] * v[k];
}
static __device__ void sums_add_double(void *, void *sum, const void *a, const void *b) {
    const double *u = (const double *)a, *v = (const double *)b;
    for (int k = 0; k < 2; ++k) ((sums_t *)sum)->part += (float)(u[k] * v[k]);
}
static __device__ void sums_part(void *, void *sum) {
    sums_t *s = (sums_t *)sum;
    s->sum += s->part, s->part = 0, ++s->parts;
}
// The wrong number of parts makes all values wrong, and so do pairs that do not exist.
static __device__ tmap_u32 sums_total(void *job, tmap_pair pair, const void *sum) {
    const sums_job *j = (const sums_job *)job;
    const sums_t *s = (const sums_t *)sum;
    const tmap_u32 parts = j->period ? (j->d - 1) / j->period : 0;
    const int right = s->parts == parts && pair.i < j->limit && pair.j < j->limit;
    return right ? (tmap_u32)(s->sum + s->part) + pair.i % 3 + 2 * (pair.j % 5) : 0xffffff;
}
static __device__ void sums_to_float(void *job, tmap_pair pair, const void *sum, void *value) {
    *(float *)value = (float)sums_total(job, pair, sum);
}
static __device__ void sums_to_double(void *job, tmap_pair pair, const void *sum, void *value) {
    *(double *)value = sums_total(job, pair, sum);
}
static __device__ void sums_to_bit(void *job, tmap_pair pair, const void *sum, void *value) {
    *(tmap_u32 *)value = sums_total(job, pair, sum) >> 1 & 1;
}
#define SUMS(name, type, add, part, finish, bytes) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, TMAP_PAIRS_SUMS_BLOCKS) \
        sums_##name(tmap_pairs_plan plan, sums_job j) { \
        const tmap_pairs_sum sum = {sums_start, add, part, finish, sizeof(sums_t), j.period}; \
        const tmap_points points = {j.points, j.others, sizeof(type), plan.d}; \
        tmap_pairs_store_sums(&plan, points, sum, bytes, j.out, &j); \
    }
SUMS(float, float, sums_add_float, sums_part, sums_to_float, 4)
SUMS(double, double, sums_add_double, sums_part, sums_to_double, 8)
SUMS(mixed, float, sums_add_float, 0, sums_to_double, 8)
SUMS(bits, float, sums_add_float, 0, sums_to_bit, TMAP_PAIRS_BIT)

// Large sums: word 0 counts parts, the others sum a product of two of the coordinates that come at
// a time, and count 1, 2 or 3 times.
static __device__ void large_start(void *job, void *sum) {
#pragma unroll
    for (tmap_u32 w = 0; w < ((const sums_job *)job)->words; ++w) ((float *)sum)[w] = 0;
}
static __device__ void large_add_float(void *job, void *sum, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
#pragma unroll
    for (tmap_u32 w = 1; w < ((const sums_job *)job)->words; ++w)
        ((float *)sum)[w] += u[w % 4] * v[w / 4 % 4];
}
static __device__ void large_add_double(void *job, void *sum, const void *a, const void *b) {
    const double *u = (const double *)a, *v = (const double *)b;
#pragma unroll
    for (tmap_u32 w = 1; w < ((const sums_job *)job)->words; ++w)
        ((float *)sum)[w] += (float)(u[w % 2] * v[w / 2 % 2]);
}
static __device__ void large_part(void *, void *sum) { ++*(float *)sum; }
static __device__ sums_t large_total(const void *job, const void *sum) {
    sums_t s = {0, 0, (tmap_u32) * (const float *)sum};
#pragma unroll
    for (tmap_u32 w = 1; w < ((const sums_job *)job)->words; ++w)
        s.sum += (float)(1 + w % 3) * ((const float *)sum)[w];
    return s;
}
static __device__ void large_to_float(void *job, tmap_pair pair, const void *sum, void *value) {
    const sums_t s = large_total(job, sum);
    sums_to_float(job, pair, &s, value);
}
static __device__ void large_to_double(void *job, tmap_pair pair, const void *sum, void *value) {
    const sums_t s = large_total(job, sum);
    sums_to_double(job, pair, &s, value);
}
static __device__ void large_to_bit(void *job, tmap_pair pair, const void *sum, void *value) {
    const sums_t s = large_total(job, sum);
    sums_to_bit(job, pair, &s, value);
}
#define LARGE(type, words_, part, value, bytes) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, 1) \
        large_##words_(tmap_pairs_plan plan, sums_job j) { \
        const tmap_pairs_sum sum = {large_start,      large_add_##type, part, \
                                    large_to_##value, 4 * words_,       j.period}; \
        const tmap_points points = {j.points, j.others, sizeof(type), plan.d}; \
        j.words = words_; \
        tmap_pairs_store_sums(&plan, points, sum, bytes, j.out, &j); \
    }
LARGE(float, 5, 0, float, 4)
LARGE(float, 9, large_part, float, 4)
LARGE(double, 18, large_part, double, 8)
LARGE(float, 25, 0, bit, TMAP_PAIRS_BIT)
LARGE(float, 36, large_part, double, 8)
LARGE(float, 64, large_part, float, 4)
LARGE(float, 65, 0, float, 4) // too large
static const struct sums_kernel {
    tmap_u32 size, bytes, parts, words;
    const void *kernel;
} sums_kernels[] = {
    {4, 4, 1, 0, (const void *)sums_float},  {4, 4, 1, 9, (const void *)large_9},
    {8, 8, 1, 0, (const void *)sums_double}, {4, 4, 1, 64, (const void *)large_64},
    {4, 8, 0, 0, (const void *)sums_mixed},  {8, 8, 1, 18, (const void *)large_18},
    {4, 0, 0, 0, (const void *)sums_bits},   {4, 0, 0, 25, (const void *)large_25},
    {4, 4, 0, 5, (const void *)large_5},     {4, 8, 1, 36, (const void *)large_36},
};
enum { SUMS_KERNELS = COUNT(sums_kernels) };
static const struct sums_kernel *sums_now; // that sums_value is asked about

static tmap_u32 sums_coordinate(tmap_u32 point, tmap_u32 set, tmap_u32 k, tmap_u32 d) {
    return k < d ? (tmap_u32)(check_hash(point + 7777 * set, k) % 8) : 0;
}

static tmap_u32 sums_value(store_shape w, tmap_u32 i, tmap_u32 j, tmap_u32 set) {
    tmap_u32 total = i % 3 + 2 * (j % 5);
    const tmap_u32 d = w.s.d, step = 16 / sums_now->size, words = sums_now->words;
    for (tmap_u32 x = 0; x < d && !words; ++x)
        total += sums_coordinate(i, set, x, d) * sums_coordinate(j, set, x, d);
    for (tmap_u32 x = 0; x < d && words; x += step) {
        tmap_u32 u[4], v[4];
        for (tmap_u32 k = 0; k < step; ++k)
            u[k] = sums_coordinate(i, set, x + k, d), v[k] = sums_coordinate(j, set, x + k, d);
        for (tmap_u32 k = 1; k < words; ++k)
            total += (1 + k % 3) * u[k % step] * v[k / step % step];
    }
    return w.bytes ? total : total >> 1;
}

static void run_sums(store_shape w, const struct sums_kernel *k) {
    if (!check_turn()) return;
    const tmap_u32 n = w.s.n, d = w.s.d;
    const tmap_u64 count = (tmap_u64)n * w.s.sets * d;
    void *points = kit_host(count * k->size + 1);
    sums_job j;
    w.bytes = k->bytes, w.s.size = k->size, sums_now = k;
    if (!k->bytes && (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED)
        w.layout = TMAP_PAIRS_LOWER;
    tmap_pairs_plan plan = plan_of_store(w, k->kernel, 1);
    if (k->words) CHECK(tmap_pairs_store_plan_sum(&plan, 4 * k->words));
    for (tmap_u64 i = 0; i < count; ++i) {
        const tmap_u32 point = (tmap_u32)(i / d);
        put_number(points, i, k->size, sums_coordinate(point % n, point / n, (tmap_u32)(i % d), d));
    }
    j.points = kit_to_device(points, count * k->size), j.others = 0, j.d = d, j.limit = n;
    j.period = k->parts ? d > 40 ? 32 : 16 : 0;
    check_store(w, &plan, &j, &j.out, sums_value);
    kit_release(0);
}

// Sums of every size, of random shapes.
static void run_random_sums(void) {
    tmap_u64 state = 7;
    for (tmap_u32 i = 0; i < (kit_small ? 40 : 150); ++i) {
        static const tmap_u32 layouts[] = {TMAP_PAIRS_CONDENSED, TMAP_PAIRS_SQUARE,
                                           TMAP_PAIRS_LOWER + TMAP_PAIRS_HOLLOW};
        store_shape w = store_shape_of((tmap_u32)kit_below(&state, 200), layouts[i % 3]);
        w.s.d = 1 + (tmap_u32)kit_below(&state, 90), w.shift = (tmap_u32)kit_below(&state, 8);
        w.shares = 1 + (tmap_u32)kit_below(&state, 3);
        w.pitch = i % 3 ? (tmap_u32)kit_below(&state, 5) : 0;
        run_sums(w, &sums_kernels[kit_below(&state, SUMS_KERNELS)]);
    }
}

// Sums that are no multiple of 4 from 4 to 256 bytes, or not those of the plan.
static void run_sum_refusals(void) {
    static const tmap_u32 bad[] = {0, 1, 2, 3, 6, 257, 258, 260, ~0u, ~3u};
    tmap_pairs_plan plan, same;
    sums_job job;
    kit_case("%s", "sizes of sums");
    memset(&job, 0, sizeof job);
    CHECK(sums_plan(100, 8, 4, TMAP_PAIRS_CONDENSED, 4, (const void *)large_65, &plan));
    same = plan;
    for (size_t k = 0; k < COUNT(bad); ++k) REFUSED(tmap_pairs_store_plan_sum(&plan, bad[k]));
    REFUSED(tmap_pairs_store_plan_sum(NULL, 36));
    expect(!memcmp(&plan, &same, sizeof plan), "a refusal changed the plan");
    CHECK(tmap_pairs_store_plan_sum(&plan, 256));
    expect(plan.side == 64 && plan.items == 2 * 3 / 2, "tiles of large sums");
#ifndef TMAP_CHECK // the kernel would end the program: test_check.cu
    job.points = kit_to_device(NULL, 0), job.out = kit_guarded(tmap_pairs_store_bytes(&plan));
    CHECK(tmap_pairs_store_launch(&plan, &job, 0)); // 260 bytes
    plan = same, plan.kernel = (const void *)large_9;
    CHECK(tmap_pairs_store_launch(&plan, &job, 0)); // a plan that does not know of 36 bytes
    expect(kit_device_all(job.out, tmap_pairs_store_bytes(&plan), KIT_POISON), "it is written");
#endif
    plan = same;
    CHECK(tmap_pairs_store_plan_sum(&plan, 36));
    CHECK(tmap_pairs_store_plan_sum(&plan, 16));
    expect(!memcmp(&plan, &same, sizeof plan), "back to small sums");
    CHECK(store_plan(100, 3, 4, TMAP_PAIRS_CONDENSED, 4, kernels[0].kernel, &plan));
    REFUSED(tmap_pairs_store_plan_sum(&plan, 16)); // not of sums
    CHECK(tmap_pairs_plan_make(100, 3, 4, kernels[0].kernel, &plan));
    REFUSED(tmap_pairs_store_plan_sum(&plan, 16));
    kit_release(0);
}

// The plan of n points of three floats; bytes: of a value, or TMAP_PAIRS_BIT.
static tmap_pairs_plan plan_for(tmap_u32 n, tmap_u32 layout, tmap_u32 bytes) {
    store_shape w = store_shape_of(n, layout);
    w.bytes = bytes;
    return plan_of_store(w, kernels[0].kernel, 0);
}

static void run_refusals(void) {
    const void *kernel = kernels[0].kernel;
    const tmap_pairs_store_shape five = {5, 3, 4, TMAP_PAIRS_CONDENSED, 4};
    const tmap_pairs_store_shape no_layout = {5, 3, 4, 0, 4};
    tmap_pairs_plan plan, same;
    store_job job;
    kit_case("%s", "refusals");
    memset(&job, 0, sizeof job), memset(&plan, 0x77, sizeof plan), same = plan;
    REFUSED(tmap_pairs_store_plan_make(no_layout, kernel, &plan)); // the others: pairs_plans.c
    REFUSED(tmap_pairs_store_sums_plan_make(no_layout, kernel, &plan));
    REFUSED(tmap_pairs_store_plan_make(five, NULL, &plan));
    REFUSED(tmap_pairs_store_plan_make(five, kernel, NULL));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal wrote the plan");
    plan = plan_for(600, TMAP_PAIRS_CONDENSED, 4), same = plan;
    REFUSED(tmap_pairs_plan_others(&plan, 7));
    REFUSED(tmap_pairs_plan_rows(&plan, 601));
    REFUSED(tmap_pairs_store_plan_pitch(&plan, 700));
    REFUSED(tmap_pairs_store_plan_pitch(NULL, 700));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal changed the plan");
    plan = plan_for(600, TMAP_PAIRS_SQUARE, TMAP_PAIRS_BIT), same = plan;
    REFUSED(tmap_pairs_store_plan_pitch(&plan, 18));
    REFUSED(tmap_pairs_store_plan_pitch(&plan, TMAP_PAIRS_STORE_MAX + 1ull));
    REFUSED(tmap_pairs_plan_others(&plan, TMAP_PAIRS_STORE_MAX + 1u));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal changed the plan");
    CHECK(tmap_pairs_store_plan_pitch(&plan, 19));
    CHECK(tmap_pairs_store_plan_pitch(&plan, TMAP_PAIRS_STORE_MAX));
    // Sizes; a plan that is too large for a launch, and its first rows, which are not.
    plan = plan_for(131072, TMAP_PAIRS_CONDENSED, 4);
    expect(tmap_pairs_store_bytes(&plan) == 8589869056ull * 4 && plan.items == 525824, "items");
    plan = plan_for(100000000, TMAP_PAIRS_CONDENSED, 4);
    RETURNS(tmap_pairs_store_launch(&plan, &job, 0), cudaErrorInvalidConfiguration);
    (void)cudaGetLastError();
    CHECK(tmap_pairs_plan_rows(&plan, 2));
    expect(tmap_pairs_store_bytes(&plan) == (99999999ull + 99999998ull) * 4, "bytes of rows");
    expect(plan.items == 781251 && plan.grid == 781251, "tiles of rows");
}

// ---- changes of a plan --------------------------------------------------------------------------

enum { ROWS, OTHERS, SETS, PITCH, SHARE, CHANGES };

static cudaError_t change(tmap_pairs_plan *plan, int what, tmap_u32 to) {
    if (what == ROWS) return tmap_pairs_plan_rows(plan, to);
    if (what == OTHERS) return tmap_pairs_plan_others(plan, to);
    if (what == SETS) return tmap_pairs_plan_sets(plan, to);
    if (what == PITCH) return tmap_pairs_store_plan_pitch(plan, to);
    return tmap_pairs_plan_share(plan, to, plan->items - to);
}

// 1 if two plans have the same tiles and the same output.
static int same_tiles(const tmap_pairs_plan *p, const tmap_pairs_plan *q) {
    return p->tiles == q->tiles && p->items == q->items && p->across == q->across &&
           p->cut == q->cut && p->band == q->band && p->step == q->step && p->values == q->values &&
           tmap_pairs_store_bytes(p) == tmap_pairs_store_bytes(q);
}

// Every change of a plan, followed by every other one. A change that is refused leaves the plan as
// it was. In the end the plan has the tiles of its numbers, whatever came first, and rows that fit
// its pitch.
static void run_changes(tmap_pairs_plan made) {
    static const tmap_u32 to[CHANGES][4] = {
        {0, 7, 99, 100}, {0, 1, 128, 1000}, {1, 2, 3, 65536}, {0, 4, 128, 1000}, {0, 1, 2, 3}};
    for (int a = 0; a < 4 * CHANGES; ++a)
        for (int b = 0; b < 4 * CHANGES; ++b) {
            tmap_pairs_plan plan = made, want = made;
            kit_more(", change %d to %u, then %d to %u", a / 4, to[a / 4][a % 4], b / 4,
                     to[b / 4][b % 4]);
            for (int turn = 0; turn < 2; ++turn) {
                const tmap_pairs_plan before = plan;
                const int c = turn ? b : a;
                if (change(&plan, c / 4, to[c / 4][c % 4]))
                    expect(!memcmp(&plan, &before, sizeof plan), "a refusal changed the plan");
                else if (c / 4 < PITCH)
                    expect(plan.first == 0 && plan.count == plan.items, "the share is reset");
            }
            want.rows = plan.rows, want.others = plan.others, want.sets = plan.sets;
            want.pitch = plan.pitch, tmapi_pairs_plan_tiles(&want);
            expect(same_tiles(&plan, &want), "tiles of a changed plan");
            expect(plan.count <= plan.items - plan.first, "its share");
            const tmap_u32 columns = plan.others ? plan.others : plan.n;
            const tmap_u32 row = plan.value ? columns : (columns + 31) / 32;
            expect(!plan.layout || plan.step >= row, "rows beyond the pitch");
        }
}

// Plans of every kind; a plan of zeros, which no change takes.
static void run_all_changes(void) {
    static const tmap_u32 shapes[][2] = {{TMAP_PAIRS_CONDENSED, 4},
                                         {TMAP_PAIRS_SQUARE, 4},
                                         {TMAP_PAIRS_SQUARE + TMAP_PAIRS_HOLLOW, 8},
                                         {TMAP_PAIRS_LOWER, 4},
                                         {TMAP_PAIRS_SQUARE, TMAP_PAIRS_BIT},
                                         {TMAP_PAIRS_LOWER, TMAP_PAIRS_BIT}};
    const void *kernel = kernels[0].kernel;
    tmap_pairs_plan plan, zeros;
    for (size_t i = 0; i < COUNT(shapes); ++i) {
        kit_case("a store of layout %u, %u bytes", shapes[i][0], shapes[i][1]);
        CHECK(store_plan(100, 3, 4, shapes[i][0], shapes[i][1], kernel, &plan));
        run_changes(plan);
        CHECK(sums_plan(200, 9, 4, shapes[i][0], shapes[i][1], kernel, &plan));
        run_changes(plan);
    }
    kit_case("%s", "a plan of pairs");
    CHECK(tmap_pairs_plan_make(100, 3, 4, kernel, &plan));
    run_changes(plan);
    kit_case("%s", "a plan of rows");
    CHECK(tmap_pairs_rows_plan_make(100, 3, 4, 8, kernel, &plan));
    run_changes(plan);
    memset(&plan, 0, sizeof plan), zeros = plan;
    for (int what = 0; what < CHANGES; ++what) REFUSED(change(&plan, what, what == SETS));
    expect(!memcmp(&plan, &zeros, sizeof plan), "a refusal changed a plan of zeros");
    // The pitch comes first, and the second set's rows fit it: as in the other order.
    store_shape w = store_shape_of(100, TMAP_PAIRS_SQUARE);
    w.s.others = 160, w.pitch = 8;
    const tmap_pairs_plan usual = plan_of_store(w, kernel, 0);
    CHECK(store_plan(100, 3, 4, TMAP_PAIRS_SQUARE, 4, kernel, &plan));
    CHECK(tmap_pairs_store_plan_pitch(&plan, 168));
    CHECK(tmap_pairs_plan_others(&plan, 160));
    expect(same_tiles(&plan, &usual), "the pitch, then the second set");
}

// The last tiles of the first two rows of so many points that no map of 32 bits has them: an
// output of which the end alone is there.
static void run_far(void) {
    const tmap_u32 n = 12000000, tail = 300;
    store_shape w = store_shape_of(n, TMAP_PAIRS_CONDENSED);
    float *points = (float *)kit_host(n * 4ull), *out, *got = (float *)kit_host(2 * tail * 4);
    store_job j;
    int wrong = 0;
    w.s.d = 1, w.s.rows = 2, of_store(w);
    tmap_pairs_plan plan = plan_of_store(w, kernels[3].kernel, 0);
    for (tmap_u32 i = 0; i < n; ++i) points[i] = i < 2 ? 8 * i : 8 * (i % 2048);
    memset(&j, 0, sizeof j);
    j.points = kit_to_device(points, n * 4ull);
    out = (float *)kit_device(tmap_pairs_store_bytes(&plan));
    CHECK(tmap_pairs_plan_share(&plan, plan.items - 5, 5));
    j.out = out, j.n = j.columns = n, j.d = 0, j.size = 4, j.condensed = 1;
    CHECK(tmap_pairs_store_launch(&plan, &j, 0));
    CHECK(cudaMemcpy(got, out + (n - 1 - tail), tail * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got + tail, out + (2ull * n - 3 - tail), tail * 4, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < 2; ++i)
        for (tmap_u32 k = 0; k < tail; ++k)
            wrong += got[i * tail + k] != (float)pair_number(i, n - tail + k, 0);
    expect(wrong == 0, "values far away");
    kit_release(0);
}

static void run_device(const char *) {
    for (int k = 0; k < (int)KERNELS; ++k) run(store_shape_of(200, TMAP_PAIRS_SQUARE), &kernels[k]);
    for (int k = 0; k < (int)SUMS_KERNELS; ++k) {
        store_shape w = store_shape_of(150, TMAP_PAIRS_CONDENSED);
        w.s.d = 100;
        run_sums(w, &sums_kernels[k]);
    }
}

int main(void) {
    const tmap_u32 layouts[] = {TMAP_PAIRS_CONDENSED, TMAP_PAIRS_SQUARE, TMAP_PAIRS_LOWER,
                                TMAP_PAIRS_SQUARE + TMAP_PAIRS_HOLLOW,
                                TMAP_PAIRS_LOWER + TMAP_PAIRS_HOLLOW};
    tmap_u32 turn = 0;
    kit_begin();
    const tmap_u32 some[] = {383, 512, 513, 1000, 1025, kit_small ? 1200u : 2000u};
    for (tmap_u32 n = 0; n <= 300; n += kit_small && n > 5 ? 41 : 1)
        for (int layout = 0; layout < 5; ++layout, ++turn) {
            store_shape w = store_shape_of(n, layouts[layout]);
            w.shift = turn % 11 % 8, w.shares = turn % 3 + 1;
            if (layout) w.pitch = turn % 7;
            run(w, &kernels[turn % KERNELS]);
            if (turn % 4 == 0) {
                w.s.rows = n / 3;
                run(w, &kernels[(turn + 1) % KERNELS]);
            }
        }
    for (int i = 0; i < 6; ++i)
        for (int layout = 0; layout < 5; ++layout, ++turn) {
            store_shape w = store_shape_of(some[i], layouts[layout]);
            if (kit_small && turn % 3) continue;
            w.shift = turn % 5, w.shares = 3;
            run(w, &kernels[turn % KERNELS]);
            w.s.rows = some[i] / 2 + 1, w.pitch = layout ? turn % 9 : 0;
            run(w, &kernels[(turn + 4) % KERNELS]);
            if (layouts[layout] != TMAP_PAIRS_SQUARE) continue;
            w.s.others = some[5 - i] + 1;
            run(w, &kernels[turn % KERNELS]);
            run(w, &kernels[(turn + 1) % KERNELS]);
        }
    for (tmap_u32 sets = 2; sets <= 3; ++sets)
        for (int layout = 0; layout < 5; ++layout, ++turn) {
            store_shape w = store_shape_of(sets * 87, layouts[layout]);
            w.s.sets = sets, w.shift = turn % 3, w.shares = 2;
            run(w, &kernels[turn % KERNELS]);
            w.s.rows = 100, w.pitch = layout ? 3 : 0;
            run(w, &kernels[(turn + 2) % KERNELS]);
            if (layouts[layout] != TMAP_PAIRS_SQUARE) continue;
            w.s.others = 65;
            run(w, &kernels[turn % KERNELS]);
        }
    for (int i = 0; i < 10; ++i)
        for (int layout = 0; layout < 5; ++layout, ++turn) {
            const tmap_u32 dims[] = {1, 3, 8, 15, 16, 17, 33, 64, 65, 300};
            const tmap_u32 sizes[] = {130, 1, 600, 255, 129, 260, 257, 128, 150, 140};
            store_shape w = store_shape_of(sizes[i], layouts[layout]);
            if (kit_small && turn % 4) continue;
            w.s.d = dims[i], w.shift = turn % 5, w.pitch = layout ? turn % 4 : 0, w.shares = 2;
            run_sums(w, &sums_kernels[turn % SUMS_KERNELS]);
            run_sums(w, &sums_kernels[(turn + 5) % SUMS_KERNELS]);
            w.s.rows = sizes[i] / 2 + 1, w.s.sets = 1 + turn % 3;
            run_sums(w, &sums_kernels[(turn + 1) % SUMS_KERNELS]);
        }
    run_random_sums();
    run_far();
    run_refusals();
    run_sum_refusals();
    run_all_changes();
    on_all_devices(run_device);
    return kit_end("test_pairs_store");
}
