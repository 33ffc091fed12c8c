// SPDX-License-Identifier: MIT
// test_pairs_store: every byte of what tmap_pairs_store and tmap_pairs_store_sums write, and of
// what is around it, against serial loops: for every n up to some tiles, every d, floats, doubles
// and bits, all layouts, odd pitches and pointers, first rows, two sets, many sets, and shares
// that add up; and what the plan makers refuse.
#define TMAPI_STORE_LARGE 130 // so that small sizes take large tiles
#include "triangle/pairs_store_check.h"

#include <threadmap/triangle/pairs_store.h>

// A value says which pair the function was called for, or that its points are others.
typedef struct store_job {
    const void *points, *others;
    void *out;
    tmap_u32 n, columns, d, size;
    int condensed, hollow, lower;
} store_job;

static __device__ tmap_u32 coordinate(const void *point, tmap_u32 size, tmap_u32 k) {
    return (tmap_u32)(size == 8 ? ((const double *)point)[k] : ((const float *)point)[k]);
}

// Point p of set b has coordinates 8 p + k + 3 b. 0: a pair that nobody asked for.
static __device__ tmap_u32 number(const store_job *j, tmap_pair pair, const void *a, const void *b,
                                  tmap_u32 *set) {
    int right = pair.i < j->n && pair.j < j->columns;
    right = right && !(j->condensed && pair.i >= pair.j) && !(j->lower && pair.j > pair.i);
    right = right && !(j->hollow && pair.i == pair.j);
    *set = (coordinate(a, j->size, 0) - pair.i * 8) / 3;
    for (tmap_u32 k = 0; k < j->d; ++k)
        right = right && coordinate(a, j->size, k) == pair.i * 8 + k + *set * 3 &&
                coordinate(b, j->size, k) == pair.j * 8 + k + *set * 3;
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
STORE(1, float, to_float, 4)
STORE(2, float, to_float, 4)
STORE(3, float, to_float, 4)
STORE(4, float, to_float, 4)
STORE(5, float, to_float, 4)
STORE(6, float, to_float, 4)
STORE(7, float, to_float, 4)
STORE(8, float, to_float, 4)
STORE(3, float, to_double, 8)
STORE(3, double, to_float, 4)
STORE(1, double, to_double, 8)
STORE(5, double, to_double, 8)
STORE(8, double, to_double, 8)
STORE(2, float, to_bit, TMAP_PAIRS_BIT)
STORE(6, double, to_bit, TMAP_PAIRS_BIT)
#define KERNEL(d, type, value, bytes) \
    { d, sizeof(type), bytes, (const void *)store_##d##_##type##_##value }
static const struct kernel_of {
    tmap_u32 d, size, bytes;
    const void *kernel;
} kernels[] = {
    KERNEL(3, float, to_float, 4),   KERNEL(2, float, to_bit, 0),
    KERNEL(8, double, to_double, 8), KERNEL(1, float, to_float, 4),
    KERNEL(6, double, to_bit, 0),    KERNEL(2, float, to_float, 4),
    KERNEL(3, float, to_double, 8),  KERNEL(4, float, to_float, 4),
    KERNEL(3, double, to_float, 4),  KERNEL(5, float, to_float, 4),
    KERNEL(1, double, to_double, 8), KERNEL(6, float, to_float, 4),
    KERNEL(5, double, to_double, 8), KERNEL(7, float, to_float, 4),
    KERNEL(8, float, to_float, 4),
};
enum { KERNELS = COUNT(kernels) };

static void run(store_shape w, const struct kernel_of *k) {
    if (!check_turn()) return;
    const tmap_u32 element = k->bytes ? k->bytes : 4;
    tmap_pairs_plan plan;
    tmap_u64 bytes, first = 0;
    unsigned char *out, *got, *want;
    store_job j;
    w.s.d = k->d, w.s.size = k->size, w.bytes = k->bytes;
    if (!k->bytes && (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED)
        w.layout = TMAP_PAIRS_SQUARE;
    CHECK(store_plan(w.s.n, k->d, k->size, w.layout, k->bytes, k->kernel, &plan));
    restrict_plan(w, &plan);
    bytes = tmap_pairs_store_bytes(&plan) + w.shift * element;
    out = (unsigned char *)kit_guarded(bytes);
    j.points = shifted_points(w.s.n, w);
    j.others = w.s.others ? shifted_points(w.s.others, w) : second_points(w.s);
    j.out = out + w.shift * element;
    j.n = w.s.n, j.columns = w.s.others ? w.s.others : w.s.n, j.d = k->d, j.size = k->size;
    j.condensed = (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED;
    j.lower = (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_LOWER;
    j.hollow = !w.s.others && w.layout & TMAP_PAIRS_HOLLOW;
    for (tmap_u32 i = 0; i < w.shares; ++i) {
        tmap_pairs_plan part = plan;
        const tmap_u64 left = plan.items - first;
        const tmap_u64 count = i + 1 == w.shares ? left : check_hash(i, w.s.n) % (left / 2 + 1);
        CHECK(tmap_pairs_plan_share(&part, first, count));
        if (i % 3 == 2 && part.grid > 2) part.grid = 2; // fewer blocks than tiles do it too
        CHECK(tmap_pairs_store_launch(&part, &j, 0));
        first += count;
    }
    got = (unsigned char *)kit_to_host(out, bytes);
    want = expected_bytes(w, bytes);
    of_store(w);
    expect(memcmp(got, want, bytes) == 0, "values");
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
    tmap_u32 period, d, limit;
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
static const struct sums_kernel {
    tmap_u32 size, bytes, parts;
    const void *kernel;
} sums_kernels[] = {
    {4, 4, 1, (const void *)sums_float},
    {8, 8, 1, (const void *)sums_double},
    {4, 8, 0, (const void *)sums_mixed},
    {4, 0, 0, (const void *)sums_bits},
};

static tmap_u32 sums_coordinate(tmap_u32 point, tmap_u32 set, tmap_u32 k) {
    return (tmap_u32)(check_hash(point + 7777 * set, k) % 8);
}

static void run_sums(store_shape w, const struct sums_kernel *k) {
    if (!check_turn()) return;
    const tmap_u32 element = k->bytes ? k->bytes : 4, n = w.s.n, d = w.s.d;
    tmap_pairs_plan plan;
    unsigned char *out, *got, *want;
    void *points;
    sums_job j;
    tmap_u64 bytes, at = 0;
    w.bytes = k->bytes, w.s.size = k->size;
    if (!k->bytes && (w.layout & TMAPI_PAIRS_LAYOUT) == TMAP_PAIRS_CONDENSED)
        w.layout = TMAP_PAIRS_LOWER;
    CHECK(sums_plan(n, d, k->size, w.layout, k->bytes, k->kernel, &plan));
    restrict_plan(w, &plan);
    bytes = tmap_pairs_store_bytes(&plan) + w.shift * element;
    points = kit_host((tmap_u64)n * w.s.sets * d * k->size + 1);
    for (tmap_u64 i = 0; i < (tmap_u64)n * w.s.sets * d; ++i) {
        const tmap_u32 point = (tmap_u32)(i / d);
        const tmap_u32 c = sums_coordinate(point % n, point / n, (tmap_u32)(i % d));
        if (k->size == 8)
            ((double *)points)[i] = c;
        else
            ((float *)points)[i] = (float)c;
    }
    out = (unsigned char *)kit_guarded(bytes);
    j.points = kit_to_device(points, (tmap_u64)n * w.s.sets * d * k->size), j.others = 0;
    j.out = out + w.shift * element, j.d = d, j.limit = n;
    j.period = k->parts ? d > 40 ? 32 : 16 : 0;
    for (tmap_u32 i = 0; i < 2; ++i) { // shares
        tmap_pairs_plan part = plan;
        const tmap_u64 first = plan.items / 3;
        CHECK(tmap_pairs_plan_share(&part, i ? first : 0, i ? plan.items - first : first));
        CHECK(tmap_pairs_store_launch(&part, &j, 0));
    }
    got = (unsigned char *)kit_to_host(out, bytes);
    // Of expected_bytes what is around the values, and the values themselves from here.
    want = expected_bytes(w, bytes);
    for (tmap_u32 set = 0; set < w.s.sets; ++set)
        for (tmap_u32 i = 0; i < w.s.rows; ++i) {
            const tmap_u32 layout = w.layout & TMAPI_PAIRS_LAYOUT;
            const tmap_u32 begin = layout == TMAP_PAIRS_CONDENSED ? i + 1 : 0;
            const tmap_u32 end = layout == TMAP_PAIRS_LOWER ? i + 1 : n;
            tmap_u64 row = (set * (tmap_u64)w.s.rows + i) * plan.step;
            if (layout == TMAP_PAIRS_CONDENSED) row = at - begin;
            for (tmap_u32 c = begin; c < end; ++c, ++at) {
                unsigned char *to = want + w.shift * element;
                tmap_u32 total = i % 3 + 2 * (c % 5), word;
                float narrow;
                double wide;
                for (tmap_u32 x = 0; x < d; ++x)
                    total += sums_coordinate(i, set, x) * sums_coordinate(c, set, x);
                if (w.layout & TMAP_PAIRS_HOLLOW && i == c) total = 0;
                narrow = (float)total, wide = total;
                if (w.bytes == 4) memcpy(to + (row + c) * 4, &narrow, 4);
                if (w.bytes == 8) memcpy(to + (row + c) * 8, &wide, 8);
                if (w.bytes) continue;
                memcpy(&word, to + (row + c / 32) * 4, 4);
                word = (word & ~(1u << c % 32)) | (total >> 1 & 1) << c % 32;
                memcpy(to + (row + c / 32) * 4, &word, 4);
            }
        }
    of_store(w);
    expect(memcmp(got, want, bytes) == 0, "sums");
    kit_release(0);
}

static void run_refusals(void) {
    const void *kernel = kernels[0].kernel;
    const tmap_u32 condensed = TMAP_PAIRS_CONDENSED, square = TMAP_PAIRS_SQUARE;
    const shape s = shape_of(0);
    tmap_pairs_plan plan, same;
    store_job job = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    memset(&plan, 0x77, sizeof plan);
    same = plan;
    REFUSED(store_plan(5, 0, 4, condensed, 4, kernel, &plan));
    REFUSED(store_plan(5, 9, 4, condensed, 4, kernel, &plan));
    REFUSED(store_plan(5, 3, 2, condensed, 4, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, 0, 4, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, TMAP_PAIRS_HOLLOW, 4, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, 8 + square, 4, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, condensed, 2, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, condensed, 16, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, condensed, TMAP_PAIRS_BIT, kernel, &plan));
    REFUSED(store_plan(1u << 27, 3, 4, condensed, 4, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, condensed, 4, NULL, &plan));
    REFUSED(sums_plan(5, 0, 4, condensed, 4, kernel, &plan));
    REFUSED(sums_plan(5, 1u << 31, 4, condensed, 4, kernel, &plan));
    REFUSED(store_plan(5, 3, 4, condensed, 4, kernel, NULL));
    of_shape(s);
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal wrote the plan");
    CHECK(store_plan(600, 3, 4, condensed, 4, kernel, &plan));
    same = plan;
    REFUSED(tmap_pairs_plan_others(&plan, 7));
    REFUSED(tmap_pairs_plan_rows(&plan, 601));
    REFUSED(tmap_pairs_store_plan_pitch(&plan, 700));
    REFUSED(tmap_pairs_store_plan_pitch(NULL, 700));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal changed the plan");
    CHECK(store_plan(600, 3, 4, square, TMAP_PAIRS_BIT, kernel, &plan));
    same = plan;
    REFUSED(tmap_pairs_store_plan_pitch(&plan, 18));
    REFUSED(tmap_pairs_store_plan_pitch(&plan, TMAP_PAIRS_STORE_MAX + 1ull));
    REFUSED(tmap_pairs_plan_others(&plan, TMAP_PAIRS_STORE_MAX + 1u));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal changed the plan");
    CHECK(tmap_pairs_store_plan_pitch(&plan, 19));
    CHECK(tmap_pairs_store_plan_pitch(&plan, TMAP_PAIRS_STORE_MAX));
    // Sizes; a plan that is too large for a launch, and its first rows, which are not.
    CHECK(store_plan(131072, 3, 4, condensed, 4, kernel, &plan));
    expect(tmap_pairs_store_bytes(&plan) == 8589869056ull * 4 && plan.items == 525824, "items");
    CHECK(store_plan(100000000, 3, 4, condensed, 4, kernel, &plan));
    RETURNS(tmap_pairs_store_launch(&plan, &job, 0), cudaErrorInvalidConfiguration);
    (void)cudaGetLastError();
    CHECK(tmap_pairs_plan_rows(&plan, 2));
    expect(tmap_pairs_store_bytes(&plan) == (99999999ull + 99999998ull) * 4, "bytes of rows");
    expect(plan.items == 781251 && plan.grid == 781251, "tiles of rows");
}

// The last tiles of the first two rows of so many points that no map of 32 bits has them: an
// output of which the end alone is there.
static void run_far(void) {
    const tmap_u32 n = 12000000, tail = 300;
    const store_shape w = store_shape_of(n, TMAP_PAIRS_CONDENSED);
    float *points = (float *)kit_host(n * 4ull), *out, *got = (float *)kit_host(2 * tail * 4);
    tmap_pairs_plan plan;
    store_job j;
    int wrong = 0;
    for (tmap_u32 i = 0; i < n; ++i) points[i] = i < 2 ? 8 * i : 8 * (i % 2048);
    memset(&j, 0, sizeof j);
    CHECK(store_plan(n, 1, 4, TMAP_PAIRS_CONDENSED, 4, kernels[3].kernel, &plan));
    CHECK(tmap_pairs_plan_rows(&plan, 2));
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
    of_store(w);
    expect(wrong == 0, "values far away");
    kit_release(0);
}

static void run_device(const char *) {
    for (int k = 0; k < (int)KERNELS; ++k) run(store_shape_of(200, TMAP_PAIRS_SQUARE), &kernels[k]);
    for (int k = 0; k < 4; ++k) {
        store_shape w = store_shape_of(150, TMAP_PAIRS_CONDENSED);
        w.s.d = 100;
        run_sums(w, &sums_kernels[k]);
    }
}

int main(void) {
    const tmap_u32 some[] = {383, 512, 513, 1000, 1025, 2000};
    const tmap_u32 layouts[] = {TMAP_PAIRS_CONDENSED, TMAP_PAIRS_SQUARE, TMAP_PAIRS_LOWER,
                                TMAP_PAIRS_SQUARE + TMAP_PAIRS_HOLLOW,
                                TMAP_PAIRS_LOWER + TMAP_PAIRS_HOLLOW};
    tmap_u32 turn = 0;
    kit_begin();
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
            run_sums(w, &sums_kernels[turn % 4]);
            w.s.rows = sizes[i] / 2 + 1, w.s.sets = 1 + turn % 3;
            run_sums(w, &sums_kernels[(turn + 1) % 4]);
        }
    run_far();
    run_refusals();
    on_all_devices(run_device);
    return kit_end("test_pairs_store");
}
