// SPDX-License-Identifier: MIT
// test_pairs_rows: tmap_pairs_rows against serial loops. Integers, exactly: every pair once with
// its own points, what it gives to i and to j, for every n up to some tiles, several d, types and
// sizes of accumulators, first rows, two sets, many sets, and shares that add up. Sums of floats
// within bounds, the same in every bit over launch shapes; antisymmetric sums of integers that are
// 0; tiles of larger sides; a workspace and results with nothing written behind them.
#include "triangle/pairs_check.h"

#include <threadmap/triangle/pairs_rows.h>

#include <math.h>

// ---- integers -----------------------------------------------------------------------------------

// Word 0 counts, word 1 is the largest of the numbers that pairs give, word 2 the smallest, all
// others add them up.
enum { WORDS_MAX = TMAP_PAIRS_ROWS_BYTES_MAX / 4 };
typedef struct words {
    tmap_u32 word[WORDS_MAX];
} words;

// What pair (i, j) gives to i (side 0) and to j (side 1).
TMAP_FN tmap_u32 gift(tmap_u32 i, tmap_u32 j, tmap_u32 word, tmap_u32 side) {
    tmap_u32 h = i * 2654435761u ^ (j + 77) * 2246822519u ^ (2 * word + side) * 3266489917u;
    h = (h ^ h >> 15) * 2654435761u;
    return h ^ h >> 13;
}

TMAP_FN void take(tmap_u32 *sum, tmap_u32 word, tmap_u32 given) {
    if (word == 1)
        *sum = given > *sum ? given : *sum;
    else if (word == 2)
        *sum = given < *sum ? given : *sum;
    else
        *sum += given;
}

static words words_zero(void) {
    words w = {{0}};
    w.word[2] = ~0u;
    return w;
}

typedef struct giving {
    const void *points, *others;
    tmap_u32 n, m, d, size, count; // m: points of the second set, or 0; count: of words
    tmap_pairs_rows_to to;
    tmap_u64 *wrong;
} giving;

static __device__ void give_words(void *job, tmap_pair pair, const void *a, const void *b,
                                  void *to_i, void *to_j) {
    giving *g = (giving *)job;
    const tmap_u32 columns = g->m ? g->m : g->n;
    tmap_u32 set;
    if (!are_points(pair, a, b, g->d, g->size, &set) || tmap_pairs_set(a) != set ||
        pair.i >= g->n || pair.j >= columns || (!g->m && pair.i >= pair.j))
        atomicAdd(g->wrong, 1ull);
#pragma unroll
    for (tmap_u32 w = 0; w < g->count; ++w) {
        take((tmap_u32 *)to_i + w, w, w ? gift(pair.i, pair.j, w, 0) + set : 1);
        take((tmap_u32 *)to_j + w, w, w ? gift(pair.i, pair.j, w, 1) + set : 1);
    }
}

static __device__ void join_words(void *job, void *sum, const void *other) {
    const giving *g = (const giving *)job;
#pragma unroll
    for (tmap_u32 w = 0; w < g->count; ++w)
        take((tmap_u32 *)sum + w, w, ((const tmap_u32 *)other)[w]);
}

#define GIVE(D, type, words_) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS) \
        give_##D##_##type##_##words_(tmap_pairs_plan plan, giving g) { \
        const tmap_points points = {g.points, g.others, sizeof(type), D}; \
        tmap_u32 zero[words_]; \
        const tmap_fold fold = {zero, 4 * words_, join_words}; \
        for (int w = 0; w < words_; ++w) zero[w] = w == 2 ? ~0u : 0; \
        g.d = D, g.size = sizeof(type), g.count = words_; \
        tmap_pairs_rows(&plan, points, give_words, fold, g.to, &g); \
    }
// clang-format off
#define KERNELS_OF(K) \
    K(3, float, 3) K(1, float, 1) K(2, float, 2) K(4, float, 4) K(5, float, 5) K(6, float, 6) \
    K(7, float, 8) K(8, float, 16) K(1, double, 7) K(3, double, 3) K(8, double, 8) \
    K(3, float, 9) K(2, float, 18) K(4, float, 25) K(3, float, 64) K(2, double, 45)
// clang-format on
#define KERNEL(D, type, words) {D, sizeof(type), words, (const void *)give_##D##_##type##_##words},
KERNELS_OF(GIVE)
static const struct kernel_of {
    tmap_u32 d, size, words;
    const void *kernel;
} kernels[] = {KERNELS_OF(KERNEL)};
enum { KERNELS = COUNT(kernels) };

// A workspace, cleared where it has to be and garbage elsewhere, and a look at what is left of it.
static void *workspace(const tmap_pairs_plan *plan, tmap_u32 bytes) {
    const tmap_u64 clear = tmap_pairs_rows_clear(plan);
    void *parts = kit_guarded(tmap_pairs_rows_bytes(plan, bytes));
    CHECK(cudaMemset(parts, 0, clear));
    return parts;
}
static void workspace_end(const tmap_pairs_plan *plan, const void *parts) {
    expect(kit_device_all(parts, tmap_pairs_rows_clear(plan), 0), "counters are left zero");
}

// What the results are after the pairs i0 <= i < i1, j0 <= j < j1 of a set.
static void serial(shape s, tmap_u32 set, tmap_u32 i0, tmap_u32 i1, tmap_u32 j0, tmap_u32 j1,
                   tmap_u32 count, words *a, words *b) {
    for (tmap_u32 i = i0; i < i1 && i < s.rows; ++i)
        for (tmap_u32 j = s.others || j0 > i ? j0 : i + 1; j < j1; ++j)
            for (tmap_u32 w = 0; w < count; ++w) {
                take(&a[i].word[w], w, w ? gift(i, j, w, 0) + set : 1);
                take(&b[j].word[w], w, w ? gift(i, j, w, 1) + set : 1);
            }
}

// Takes results of a share, from the device, to those of the shares before.
static void take_results(words *to, tmap_u64 points, tmap_u32 count, const void *device) {
    const tmap_u32 *from = (const tmap_u32 *)kit_to_host(device, points * count * 4);
    for (tmap_u64 p = 0; p < points; ++p)
        for (tmap_u32 w = 0; w < count; ++w) take(&to[p].word[w], w, from[p * count + w]);
}

static words *words_make(tmap_u64 points) {
    words *w = (words *)kit_host((points + 1) * sizeof *w);
    for (tmap_u64 p = 0; p < points; ++p) w[p] = words_zero();
    return w;
}

static int words_differ(const words *a, const words *b, tmap_u64 points, tmap_u32 count) {
    int wrong = 0;
    for (tmap_u64 p = 0; p < points; ++p)
        for (tmap_u32 w = 0; w < count; ++w) wrong += a[p].word[w] != b[p].word[w];
    return wrong;
}

// A plan for the shape. Its tiles get larger sides than so few points need, so that a tile has
// several strips of columns and several turns of the warps: 128, 256, 512 or 1024.
static void make_rows_plan(shape s, tmap_u32 bytes, const void *kernel, tmap_pairs_plan *plan) {
    CHECK(tmap_pairs_rows_plan_make(s.n, s.d, s.size, bytes, kernel, plan));
    expect(plan->side == 128, "side of tiles");
    plan->side <<= check_hash(s.n, s.rows + s.d) % 4;
    restrict_plan(s, plan);
}

// shares: the launches among which the plan's items are divided.
static void run_words(shape s, const struct kernel_of *k, tmap_u32 shares) {
    if (!check_turn()) return;
    const tmap_u32 bytes = 4 * k->words;
    const tmap_u64 points = (tmap_u64)s.n * s.sets, others = (tmap_u64)s.others * s.sets;
    words *want = words_make(points), *want_others = words_make(others);
    words *got = words_make(points), *got_others = words_make(others);
    tmap_pairs_plan plan;
    tmap_u64 first = 0;
    giving g;
    s.d = k->d, s.size = k->size, of_shape(s);
    g.n = s.n, g.m = s.others;
    g.points = numbered_points(s.n, s), g.others = second_points(s);
    g.to.result = kit_guarded(points * bytes);
    g.to.result_others = s.others ? kit_guarded(others * bytes) : 0;
    g.wrong = (tmap_u64 *)kit_filled(8, 0);
    make_rows_plan(s, bytes, k->kernel, &plan);
    g.to.workspace = workspace(&plan, bytes);
    for (tmap_u32 i = 0; i < shares; ++i) {
        const tmap_pairs_plan part = share_of(&plan, i, shares, &first);
        CHECK(tmap_pairs_rows_launch(&part, &g, 0));
        take_results(got, points, k->words, g.to.result);
        if (s.others) take_results(got_others, others, k->words, g.to.result_others);
    }
    for (tmap_u32 set = 0; set < s.sets; ++set) {
        words *a = want + (tmap_u64)set * s.n;
        words *b = s.others ? want_others + (tmap_u64)set * s.others : a;
        serial(s, set, 0, s.n, 0, s.others ? s.others : s.n, k->words, a, b);
    }
    expect(kit_number(g.wrong) == 0, "a pair with other points");
    expect(!words_differ(got, want, points, k->words), "integers");
    expect(!words_differ(got_others, want_others, others, k->words), "integers of others");
    workspace_end(&plan, g.to.workspace);
    kit_release(0);
}

// A few tiles of many points: sides of 512, 1024, 2048.
static void run_large(tmap_u32 n, tmap_u64 first, tmap_u64 count, tmap_u32 side) {
    const struct kernel_of *k = &kernels[0];
    const tmap_u32 bytes = 4 * k->words;
    const shape s = {n, n, 0, 1, k->d, k->size};
    words *want = words_make(n), *got = words_make(n);
    tmap_pairs_plan plan;
    giving g;
    of_shape(s);
    g.n = n, g.m = 0, g.points = numbered_points(n, s), g.others = 0, g.to.result_others = 0;
    g.to.result = kit_guarded((tmap_u64)n * bytes);
    g.wrong = (tmap_u64 *)kit_filled(8, 0);
    CHECK(tmap_pairs_rows_plan_make(n, s.d, s.size, bytes, k->kernel, &plan));
    expect(plan.side == side && plan.across == (n + side - 1) / side, "side of tiles");
    if (first == ~0ull) first = plan.items - count;
    CHECK(tmap_pairs_plan_share(&plan, first, count));
    g.to.workspace = workspace(&plan, bytes);
    CHECK(tmap_pairs_launch(&plan, &g, 0));
    take_results(got, n, k->words, g.to.result);
    for (tmap_u64 t = first; t < first + count; ++t) {
        const tmap_pair64 tile = tmap_upper_map64(t, plan.across);
        const tmap_u64 i = tile.i * side, j = tile.j * side, end = j + side;
        serial(s, 0, (tmap_u32)i, (tmap_u32)i + side, (tmap_u32)j, end < n ? (tmap_u32)end : n,
               k->words, want, want);
    }
    expect(kit_number(g.wrong) == 0, "a pair with other points");
    expect(!words_differ(got, want, n, k->words), "integers of large tiles");
    workspace_end(&plan, g.to.workspace);
    kit_release(0);
}

// The last tiles of two sets, of which the second one has more points than 2^32 / 512 tiles: they
// have numbers of their own, and no points that fit 32 bits.
static void run_far(tmap_u32 n, tmap_u32 others) {
    const shape s = {n, n, others, 1, 3, 4};
    tmap_pairs_plan plan;
    tmap_u64 down, across;
    CHECK(tmap_pairs_rows_plan_make(n, 3, 4, 12, kernels[0].kernel, &plan));
    CHECK(tmap_pairs_plan_others(&plan, others));
    down = (n + plan.side - 1) / plan.side, across = (others + (plan.side - 1ull)) / plan.side;
    of_shape(s);
    expect(plan.items == down * across, "tiles of many others");
    for (tmap_u64 t = plan.items < 1000 ? 0 : plan.items - 1000; t < plan.items; ++t) {
        const tmapi_pairs_place tile = tmapi_pairs_rows_place(&plan, t);
        expect(tile.i == t / across && tile.j == t % across && !tile.set, "a tile far away");
    }
}

// ---- floats, doubles, antisymmetric integers ----------------------------------------------------

// The softened pull of points on each other as floats, the same of whole numbers as integers, the
// sum of squared distances as doubles.
typedef struct pull {
    double squares;
    float x, y;
    int whole_x, whole_y;
} pull;

typedef struct pulling {
    const float *points, *others;
    tmap_pairs_rows_to to;
} pulling;

static __device__ void give_pull(void *, tmap_pair, const void *a, const void *b, void *to_i,
                                 void *to_j) {
    const float *u = (const float *)a, *v = (const float *)b, x = v[0] - u[0], y = v[1] - u[1];
    const float r = rsqrtf(1 + x * x + y * y), w = r * r * r;
    pull *p = (pull *)to_i, *q = (pull *)to_j;
    p->x += w * x, p->y += w * y, q->x -= w * x, q->y -= w * y;
    p->whole_x += (int)x, p->whole_y += (int)y, q->whole_x -= (int)x, q->whole_y -= (int)y;
    p->squares += (double)x * x + (double)y * y, q->squares += (double)x * x + (double)y * y;
}

static __device__ void join_pull(void *, void *sum, const void *other) {
    pull *p = (pull *)sum;
    const pull *q = (const pull *)other;
    p->x += q->x, p->y += q->y, p->whole_x += q->whole_x, p->whole_y += q->whole_y;
    p->squares += q->squares;
}

static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    pull_kernel(tmap_pairs_plan plan, pulling j) {
    const tmap_points points = {j.points, j.others, sizeof(float), 2};
    const pull zero = {0, 0, 0, 0, 0};
    const tmap_fold pulls = {&zero, sizeof zero, join_pull};
    tmap_pairs_rows(&plan, points, give_pull, pulls, j.to, &j);
}

// What one point gets from all of its partners, in doubles, with the sums of the sizes of the
// terms.
typedef struct pulled {
    double x, y, size, squares;
    long long whole_x, whole_y;
} pulled;

static void pull_by(pulled *p, const float *u, const float *v) {
    const double x = v[0] - u[0], y = v[1] - u[1], w = 1 / pow(1 + x * x + y * y, 1.5);
    p->x += w * x, p->y += w * y, p->size += w * (fabs(x) + fabs(y));
    p->whole_x += (long long)x, p->whole_y += (long long)y, p->squares += x * x + y * y;
}

static int pull_wrong(const pull *got, const pulled *want) {
    const double bound = 1e-5 * want->size; // of the sum of up to some thousand terms in floats
    return !(fabs(got->x - want->x) <= bound) || !(fabs(got->y - want->y) <= bound) ||
           got->whole_x != want->whole_x || got->whole_y != want->whole_y ||
           got->squares != want->squares;
}

static void run_pull(shape s) {
    if (!check_turn()) return;
    const tmap_u32 grids[] = {0, 1, 3, 1000}, columns = s.others ? s.others : s.n;
    const tmap_u64 points = (tmap_u64)s.n * s.sets, others = (tmap_u64)s.others * s.sets;
    const tmap_u64 bytes = points * sizeof(pull), bytes_others = others * sizeof(pull);
    float *a = random_points(0, s.n, s), *b = s.others ? random_points(1, s.others, s) : a;
    unsigned char *got[4], *got_others[4];
    tmap_u64 wrong = 0;
    tmap_pairs_plan plan;
    pulling j;
    s.d = 2, s.size = 4, of_shape(s);
    make_rows_plan(s, sizeof(pull), (const void *)pull_kernel, &plan);
    j.points = (const float *)kit_to_device(a, points * 8);
    j.others = s.others ? (const float *)kit_to_device(b, others * 8) : 0;
    j.to.workspace = workspace(&plan, sizeof(pull));
    for (int g = 0; g < 4; ++g) {
        if (grids[g]) plan.grid = grids[g];
        j.to.result = kit_guarded(bytes), j.to.result_others = kit_guarded(bytes_others);
        CHECK(tmap_pairs_rows_launch(&plan, &j, 0));
        got[g] = (unsigned char *)kit_to_host(j.to.result, bytes);
        got_others[g] = (unsigned char *)kit_to_host(j.to.result_others, bytes_others);
        expect(!memcmp(got[0], got[g], bytes), "bits over launch shapes");
        expect(!memcmp(got_others[0], got_others[g], bytes_others), "bits over launch shapes");
    }
    for (tmap_u32 set = 0; set < s.sets; ++set) {
        const float *u = a + (tmap_u64)set * s.n * 2, *v = b + (tmap_u64)set * columns * 2;
        const pull *out = (const pull *)got[0] + (tmap_u64)set * s.n;
        const pull *out_others = (const pull *)got_others[0] + (tmap_u64)set * s.others;
        long long sum_x = 0, sum_y = 0;
        for (tmap_u32 i = 0; i < s.n; ++i) {
            pulled p = {0, 0, 0, 0, 0, 0};
            for (tmap_u32 k = 0; k < columns; ++k)
                if (s.others ? i < s.rows : k != i && (i < k ? i : k) < s.rows)
                    pull_by(&p, u + 2 * i, v + 2 * k);
            wrong += (tmap_u64)pull_wrong(&out[i], &p);
            sum_x += out[i].whole_x, sum_y += out[i].whole_y;
        }
        for (tmap_u32 k = 0; k < s.others; ++k) {
            pulled p = {0, 0, 0, 0, 0, 0};
            for (tmap_u32 i = 0; i < s.rows; ++i) pull_by(&p, v + 2 * k, u + 2 * i);
            wrong += (tmap_u64)pull_wrong(&out_others[k], &p);
            sum_x += out_others[k].whole_x, sum_y += out_others[k].whole_y;
        }
        expect(sum_x == 0 && sum_y == 0, "antisymmetric sums");
    }
    expect(wrong == 0, "pulls");
    workspace_end(&plan, j.to.workspace);
    kit_release(0);
}

// ---- plans --------------------------------------------------------------------------------------

static void run_plans(void) {
    const void *kernel = (const void *)pull_kernel;
    tmap_pairs_plan plan, same;
    pulling j;
    kit_case("%s", "plans");
    memset(&plan, 0x77, sizeof plan), same = plan;
    REFUSED(tmap_pairs_rows_plan_make(5, 2, 4, 260, kernel, &plan)); // the others: pairs_plans.c
    REFUSED(tmap_pairs_rows_plan_make(5, 2, 4, 4, NULL, &plan));
    REFUSED(tmap_pairs_rows_plan_make(5, 2, 4, 4, kernel, NULL));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal wrote the plan");
    // By a plan of another kind nothing is written, and the launcher for rows refuses it.
    CHECK(tmap_pairs_plan_make(600, 2, 4, kernel, &plan));
    REFUSED(tmap_pairs_rows_launch(&plan, &j, 0));
#ifndef TMAP_CHECK // the kernel would end the program: test_check.cu
    j.points = (const float *)kit_to_device(NULL, 0), j.others = 0, j.to.workspace = 0,
    j.to.result_others = 0;
    j.to.result = kit_guarded(600 * sizeof(pull));
    CHECK(tmap_pairs_launch(&plan, &j, 0));
    expect(kit_device_all(j.to.result, 600 * sizeof(pull), KIT_POISON),
           "a plan without its shared memory");
    memset(&plan, 0, sizeof plan);
    pull_kernel<<<1, TMAP_PAIRS_THREADS>>>(plan, j);
    CHECK(cudaGetLastError());
    expect(kit_device_all(j.to.result, 600 * sizeof(pull), KIT_POISON), "a plan of zeros");
#endif
    memset(&plan, 0, sizeof plan);
    REFUSED(tmap_pairs_rows_plan_make(600, 2, 4, 257, kernel, &plan));
    expect(kit_all(&plan, sizeof plan, 0), "a refusal wrote the plan");
    expect(tmap_pairs_rows_bytes(&plan, 12) == 0, "the workspace of a plan of zeros");
    // Workspaces.
    CHECK(tmap_pairs_rows_plan_make(131072, 4, 4, 12, kernel, &plan));
    expect(plan.items == 8256 && tmap_pairs_rows_clear(&plan) == 1024, "plan");
    expect(tmap_pairs_rows_bytes(&plan, 12) == 202899456ull + 1024, "workspace");
    CHECK(tmap_pairs_plan_share(&plan, 5, 100));
    expect(tmap_pairs_rows_bytes(&plan, 12) == 100 * 2 * 1024 * 12ull + 1024, "workspace");
    CHECK(tmap_pairs_rows_plan_make(1, 4, 4, 12, kernel, &plan));
    expect(tmap_pairs_rows_bytes(&plan, 12) == 2 * 128 * 12 + 16, "workspace");
    CHECK(tmap_pairs_rows_plan_make(0, 4, 4, 12, kernel, &plan));
    expect(tmap_pairs_rows_bytes(&plan, 12) == 0 && plan.items == 0, "workspace");
    CHECK(tmap_pairs_rows_plan_make(4000000000u, 4, 4, 12, kernel, &plan));
    expect(plan.across == 120 && plan.items == 7260, "tiles of many points");
    expect(tmap_pairs_rows_bytes(&plan, 12) == 7260 * 2 * 12 * (1ull << 25) + 960, "workspace");
    kit_release(0);
}

static void run_device(const char *) {
    shape s = shape_of(600);
    for (int k = 0; k < (int)KERNELS; k += 3) run_words(s, &kernels[k], 2);
    s.others = 300, s.sets = 2;
    run_words(s, &kernels[7], 2);
    run_pull(s);
}

static void run(shape s, tmap_u32 number, tmap_u32 shares) {
    run_words(s, &kernels[number % KERNELS], shares);
    run_pull(s);
}

int main(void) {
    kit_begin();
    each_shape(kit_small ? 37 : 1, 6, run);
    for (int i = 0; i < (int)KERNELS; ++i) run_words(shape_of(777), &kernels[i], 3);
    for (tmap_u32 rows = 0; rows < 600; rows += 300) {
        const shape s = {600, rows, 300, 1, 3, 4};
        run_words(s, &kernels[rows % 7], 2);
    }
    run_large(32769, 0, 2, 512);
    run_large(32769, ~0ull, 3, 512);
    run_large(65700, 127, 2, 1024);
    run_large(65700, ~0ull, 2, 1024);
    run_large(131073, ~0ull, 2, 2048);
    run_far(32768, 2147484648u), run_far(8, ~0u - 512), run_far(1000, 1u << 31);
    on_all_devices(run_device);
    run_plans();
    return kit_end("test_pairs_rows");
}
