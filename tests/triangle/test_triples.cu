// SPDX-License-Identifier: MIT
// test_triples: the engine for triples against serial loops: tmap_triples_fold, _each and _select
// visit every triple i > j > k once, with its own points, for every n up to some tiles, floats and
// doubles, 1 to 8 coordinates, shares and grids; results that are the same in every bit; lists
// shorter than their hits; workspaces that are left as they were; and what is refused.
#define TMAPI_TRIPLES_ITEMS 5u // so that small sizes have whole tiles as well as bands,
#define TMAPI_TRIPLES_PARTS 7u // parts of several items,
#define TMAPI_TRIPLES_GROUP 2u // and groups of groups
#include "triangle/pairs_check.h"

// ---- kernels ------------------------------------------------------------------------------------

typedef struct job {
    const void *points;
    tmap_u32 n, d, size;
    tmap_u32 most; // of 2^20: triples that are listed
    tmap_u32 *seen;
    tmap_fold_to to;
    tmap_triples_list list;
} job;

// part: triples since an accumulator began; bad: wrong triples and overfull parts.
typedef struct tally {
    tmap_u64 count, hash;
    double order; // its bits tell the order of additions
    tmap_u32 part, bad;
} tally;

TMAP_FN tmap_u64 number(tmap_triple t) { return check_hash(((tmap_u64)t.i << 32) + t.j, t.k); }
TMAP_FN int listed(tmap_u32 most, tmap_triple t) { return (number(t) & 0xfffff) < most; }

// Coordinate x of point p is 8 p + x.
static __device__ int is_point(const job *j, const void *point, tmap_u32 p) {
    int right = p < j->n;
    for (tmap_u32 x = 0; x < j->d; ++x) right = right && coordinate(point, j->size, x) == 8 * p + x;
    return right;
}
static __device__ int is_triple(const job *j, tmap_triple t, const void *a, const void *b,
                                const void *c) {
    return t.i > t.j && t.j > t.k && is_point(j, a, t.i) && is_point(j, b, t.j) &&
           is_point(j, c, t.k);
}

static __device__ void add(void *context, void *sum, tmap_triple t, const void *a, const void *b,
                           const void *c) {
    const job *j = (const job *)context;
    tally *s = (tally *)sum;
    ++s->part, ++s->count;
    s->bad += !is_triple(j, t, a, b, c);
    s->hash += number(t);
    s->order = s->order * 0.75 + (double)(number(t) >> 40);
}
static __device__ void join(void *, void *sum, const void *other) {
    tally *s = (tally *)sum;
    const tally *o = (const tally *)other;
    s->bad += o->bad + (o->part > 2048), s->part = 0;
    s->count += o->count, s->hash += o->hash;
    s->order = s->order * 0.5 + o->order;
}
static __device__ void see(void *context, void *, tmap_triple t, const void *a, const void *b,
                           const void *c) {
    const job *j = (const job *)context;
    if (is_triple(j, t, a, b, c)) atomicAdd(&j->seen[(t.i * j->n + t.j) * j->n + t.k], 1u);
}
static __device__ int choose(void *context, tmap_triple t, const void *a, const void *b,
                             const void *c) {
    const job *j = (const job *)context;
    return is_triple(j, t, a, b, c) ? listed(j->most, t) * 6 : -1; // any number but 0 is a yes
}

// Sizes are constants of each kernel, lest the compiler make code for all of them.
#define KERNEL_OF(call, D, type, make) \
    static __global__ void __launch_bounds__(TMAP_TRIPLES_THREADS) \
        call##_##D##_##type(tmap_triples_plan plan, job j) { \
        const tmap_points points = {j.points, 0, sizeof(type), D}; \
        const tally zero = {0, 0, 0, 0, 0}; \
        const tmap_fold fold = {&zero, sizeof zero, join}; \
        j.d = D, j.size = sizeof(type); \
        (void)fold; \
        make; \
    }
#define KERNELS_OF(D, type) \
    KERNEL_OF(fold, D, type, tmap_triples_fold(&plan, points, add, fold, j.to, &j)) \
    KERNEL_OF(each, D, type, tmap_triples_each(&plan, points, see, &j)) \
    KERNEL_OF(select, D, type, tmap_triples_select(&plan, points, choose, &j.list, &j))
#define NAMES_OF(D, type) \
    {D, sizeof(type), (const void *)fold_##D##_##type, (const void *)each_##D##_##type, \
     (const void *)select_##D##_##type},
#define ALL(K) K(3, float) K(8, float) K(1, double) K(4, double)
ALL(KERNELS_OF)
static const struct kernels_of {
    tmap_u32 d, size;
    const void *fold, *each, *select;
} kernels[] = {ALL(NAMES_OF)};

// ---- one size -----------------------------------------------------------------------------------

// A workspace is used by all launches of a size, so that each depends on how others left it.
static tally fold(const tmap_triples_plan *plan, job j) {
    tally result;
    CHECK(cudaMemset(j.to.result, KIT_POISON, sizeof result));
    CHECK(tmap_triples_launch(plan, &j, 0));
    CHECK(cudaMemcpy(&result, j.to.result, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

// Returns the result of all triples.
static tally run_fold(const struct kernels_of *k, job j, tally want) {
    const tmap_u32 grids[] = {1, 3, 1000};
    tmap_triples_plan plan;
    tally whole, sum = {0, 0, 0, 0, 0};
    tmap_u64 first = 0;
    CHECK(tmap_triples_plan_make(j.n, k->d, k->size, k->fold, &plan));
    whole = fold(&plan, j);
    expect(whole.bad == 0, "every triple has its own points, and parts are short");
    EXPECT(whole.count == want.count && whole.hash == want.hash, "%llu triples", whole.count);
    for (tmap_u32 g = 0; g < COUNT(grids); ++g) {
        if (kit_small && j.n > 100 && g != j.n % 3) continue;
        tmap_triples_plan other = plan;
        tally again;
        other.grid = grids[g];
        again = fold(&other, j);
        expect(!memcmp(&again, &whole, sizeof whole), "the same bits, whatever the grid");
    }
    for (tmap_u32 i = 0; i < 5; ++i) { // shares; the second has no item
        const tmap_u64 left = plan.items - first;
        const tmap_u64 count = i == 1 ? 0 : i == 4 ? left : check_hash(i, j.n) % (left / 2 + 1);
        tally part;
        const tmap_u64 bytes = plan.workspace;
        CHECK(tmap_triples_plan_share(&plan, first, count));
        expect(plan.workspace == bytes, "a share takes the same workspace");
        part = fold(&plan, j);
        if (!count) EXPECT(part.count == 0, "%llu triples of no items", part.count);
        sum.count += part.count, sum.hash += part.hash, sum.bad += part.bad, first += count;
    }
    expect(sum.count == want.count && sum.hash == want.hash && sum.bad == 0, "all shares");
    CHECK(tmap_triples_plan_share(&plan, 0, plan.items));
    sum = fold(&plan, j);
    expect(!memcmp(&sum, &whole, sizeof whole), "the same bits after shares");
    for (tmap_u32 n = j.n / 5; n < j.n;
         n += j.n / (kit_small ? 2 : 3) + 1) { // plans of other sizes
        tmap_triples_plan other;
        CHECK(tmap_triples_plan_make(n, k->d, k->size, k->fold, &other));
        if (other.workspace > plan.workspace) continue;
        (void)fold(&other, j);
        sum = fold(&plan, j);
        expect(!memcmp(&sum, &whole, sizeof whole), "the same bits after another plan");
    }
    return whole;
}

static void run_each(const struct kernels_of *k, job j) {
    const tmap_u64 places = (tmap_u64)j.n * j.n * j.n;
    tmap_triples_plan plan;
    const tmap_u32 *seen;
    tmap_u64 wrong = 0;
    j.seen = (tmap_u32 *)kit_filled(places * sizeof *seen, 0);
    CHECK(tmap_triples_plan_make(j.n, k->d, k->size, k->each, &plan));
    CHECK(tmap_triples_plan_share(&plan, 0, plan.items / 3));
    CHECK(tmap_triples_launch(&plan, &j, 0));
    CHECK(tmap_triples_plan_share(&plan, plan.items / 3, plan.items - plan.items / 3));
    CHECK(tmap_triples_launch(&plan, &j, 0));
    seen = (const tmap_u32 *)kit_to_host(j.seen, places * sizeof *seen);
    for (tmap_u32 a = 0; a < j.n; ++a)
        for (tmap_u32 b = 0; b < j.n; ++b)
            for (tmap_u32 c = 0; c < j.n; ++c)
                wrong += seen[(a * j.n + b) * j.n + c] != (a > b && b > c);
    EXPECT(wrong == 0, "%llu triples", wrong);
}

static void run_select(const struct kernels_of *k, job j, tmap_u32 most) {
    tmap_u64 count = 0, hash = 0, hits;
    tmap_triples_plan plan;
    j.most = most;
    for (tmap_u32 a = 0; a < j.n; ++a)
        for (tmap_u32 b = 0; b < a; ++b)
            for (tmap_u32 c = 0; c < b; ++c) {
                const tmap_triple t = {a, b, c};
                if (listed(most, t)) ++count, hash += number(t);
            }
    const tmap_u64 capacities[] = {count ? count - 1 : 0, count + 5, count, count / 2, 0};
    const tmap_u32 some = kit_small && j.n > 100 ? 2 : COUNT(capacities);
    CHECK(tmap_triples_plan_make(j.n, k->d, k->size, k->select, &plan));
    j.list.workspace = j.to.workspace;
    j.list.count = (tmap_u64 *)kit_guarded(8);
    for (tmap_u32 i = 0; i < some; ++i) {
        const tmap_u64 room = capacities[i] * sizeof(tmap_triple);
        const tmap_u64 written = count < capacities[i] ? count : capacities[i];
        const int before = kit_mark();
        tmap_u64 wrong = 0, sum = 0, twice = 0;
        unsigned char *seen = (unsigned char *)kit_zeroed((tmap_u64)j.n * j.n * j.n + 1);
        const tmap_triple *list;
        j.list.capacity = capacities[i];
        j.list.triples = (tmap_triple *)kit_guarded(room);
        CHECK(cudaMemset(j.list.count, KIT_POISON, 8));
        CHECK(tmap_triples_select_launch(&plan, &j.list, &j, 0));
        hits = kit_number(j.list.count);
        kit_more(", %u of 2^20, capacity %llu", most, capacities[i]);
        EXPECT(hits == count, "%llu hits, not %llu", hits, count);
        list = (const tmap_triple *)kit_to_host(j.list.triples, room);
        expect(kit_all(list + written, room - written * sizeof *list, KIT_POISON), "list's end");
        for (tmap_u64 at = 0; at < written; ++at) {
            const tmap_triple t = list[at];
            if (!(t.i < j.n && t.j < t.i && t.k < t.j && listed(most, t))) {
                ++wrong;
                continue;
            }
            unsigned char *place = &seen[((tmap_u64)t.i * j.n + t.j) * j.n + t.k];
            twice += *place, *place = 1, sum += number(t);
        }
        EXPECT(!wrong && !twice, "%llu wrong, %llu twice", wrong, twice);
        if (written == count) expect(sum == hash, "all hits");
        kit_release(before);
    }
    kit_more("%s", "");
}

static void run(tmap_u32 n, const struct kernels_of *k) {
    if (!check_turn()) return;
    tally want = {0, 0, 0, 0, 0};
    tmap_triples_plan plan;
    job j;
    memset(&j, 0, sizeof j);
    kit_case("n = %u, %u coordinates of %u bytes", n, k->d, k->size);
    for (tmap_u32 a = 0; a < n; ++a)
        for (tmap_u32 b = 0; b < a; ++b)
            for (tmap_u32 c = 0; c < b; ++c) {
                const tmap_triple t = {a, b, c};
                ++want.count, want.hash += number(t);
            }
    EXPECT(tmap_triples_cells(n) == want.count, "%llu", want.count);
    const shape s = {n, n, 0, 1, k->d, k->size};
    j.n = n, j.points = numbered_points(n, s);
    CHECK(tmap_triples_plan_make(n, k->d, k->size, k->fold, &plan));
    j.to.workspace = kit_guarded(plan.workspace);
    CHECK(cudaMemset(j.to.workspace, 0, plan.workspace));
    j.to.result = kit_guarded(sizeof(tally));
    const tally whole = run_fold(k, j, want);
    run_each(k, j);
    run_select(k, j, 3);
    run_select(k, j, 20000);
    if (n <= 70) run_select(k, j, 1 << 20);
    const tally again = fold(&plan, j);
    expect(!memcmp(&again, &whole, sizeof whole), "the same bits after lists");
    kit_release(0);
}

// ---- plans --------------------------------------------------------------------------------------

static void check_plans(const char *device) {
    const void *kernel = (const void *)fold_3_float;
    const tmap_u32 sizes[] = {0, 1, 64, 65, 4096, 100000, TMAP_TRIPLES_N_MAX};
    tmap_triples_plan plan, before;
    for (size_t i = 0; i < COUNT(sizes); ++i) {
        const tmap_u64 tiles = (sizes[i] + 63ull) / 64;
        kit_case("%s, n = %u", device, sizes[i]);
        CHECK(tmap_triples_plan_make(sizes[i], 3, 4, kernel, &plan));
        HOLDS(plan.items == (tiles * (tiles + 1) * (tiles + 2) / 6) << plan.cut);
        HOLDS(plan.band << plan.cut == 64 && plan.first == 0 && plan.count == plan.items);
        HOLDS(plan.parts <= TMAPI_TRIPLES_PARTS && plan.parts * plan.run >= plan.items);
        HOLDS(plan.run * (plan.parts ? plan.parts - 1 : 0) < plan.items || !plan.items);
        HOLDS(plan.grid >= 1 && plan.grid == (plan.parts ? plan.parts : 1));
    }
    before = plan;
    REFUSED(tmap_triples_plan_share(&plan, 0, plan.items + 1));
    REFUSED(tmap_triples_plan_share(&plan, plan.items + 1, 0));
    REFUSED(tmap_triples_plan_share(&plan, ~0ull, 2));
    REFUSED(tmap_triples_plan_share(NULL, 0, 0));
    REFUSED(tmap_triples_plan_make(TMAP_TRIPLES_N_MAX + 1, 3, 4, kernel, &plan));
    REFUSED(tmap_triples_plan_make(10, 0, 4, kernel, &plan));
    REFUSED(tmap_triples_plan_make(10, TMAP_PAIRS_D_MAX + 1, 4, kernel, &plan));
    REFUSED(tmap_triples_plan_make(10, 3, 2, kernel, &plan));
    REFUSED(tmap_triples_plan_make(10, 3, 4, NULL, &plan));
    REFUSED(tmap_triples_plan_make(10, 3, 4, kernel, NULL));
    expect(!memcmp(&plan, &before, sizeof plan), "a plan that is refused is left as it was");
}

static void check_facts(void) {
    tmap_facts facts;
    tmap_triples_plan plan;
    kit_case("facts");
    CHECK(tmap_facts_get((const void *)fold_3_float, &facts));
    RETURNS(tmap_triples_plan_of(10, 3, 4, NULL, &plan), TMAP_EINVAL);
    RETURNS(tmap_triples_plan_of(10, 3, 4, &facts, NULL), TMAP_EINVAL);
    RETURNS(tmap_triples_plan_of(10, 3, 4, &facts, &plan), TMAP_OK);
    facts.kernel.threads = 64;
    RETURNS(tmap_triples_plan_of(10, 3, 4, &facts, &plan), TMAP_ERANGE);
}

static void check_refusals(void) {
    tmap_triples_plan plan;
    job j;
    memset(&j, 0, sizeof j);
    kit_case("launches");
    CHECK(tmap_triples_plan_make(9, 3, 4, (const void *)select_3_float, &plan));
    unsigned char *memory = (unsigned char *)kit_device(64);
    tmap_triples_list list = {(tmap_triple *)memory, 1, (tmap_u64 *)(memory + 16), memory + 32};
    tmap_triples_list bad[6];
    for (size_t i = 0; i < COUNT(bad); ++i) bad[i] = list;
    bad[0].triples = NULL, bad[1].count = NULL, bad[2].workspace = NULL;
    bad[3].triples = (tmap_triple *)(memory + 2), bad[4].count = (tmap_u64 *)(memory + 4);
    bad[5].workspace = memory + 36;
    for (size_t i = 0; i < COUNT(bad); ++i)
        REFUSED(tmap_triples_select_launch(&plan, &bad[i], &j, 0));
    REFUSED(tmap_triples_select_launch(&plan, NULL, &j, 0));
    REFUSED(tmap_triples_select_launch(NULL, &list, &j, 0));
    REFUSED(tmap_triples_launch(NULL, &j, 0));
    REFUSED(tmap_triples_launch(&plan, NULL, 0));
    plan.kernel = NULL;
    REFUSED(tmap_triples_launch(&plan, &j, 0));
    earlier_error();
    CHECK(tmap_triples_plan_make(9, 3, 4, (const void *)each_3_float, &plan));
    CHECK(tmap_triples_plan_share(&plan, 0, 0));
    CHECK(tmap_triples_launch(&plan, &j, 0));
    expect(earlier_error_is_there(), "an earlier error is neither reported nor cleared");
    CHECK(cudaDeviceSynchronize());
    kit_release(0);
}

int main(void) {
    const tmap_u32 sizes[] = {0, 1, 2, 3, 4, 5, 7, 31, 33, 63, 64, 65, 66, 95, 127, 128, 129, 193};
    tmap_u64 state = 1;
    kit_begin();
    for (size_t i = 0; i < COUNT(sizes); ++i)
        for (size_t k = 0; k < COUNT(kernels); ++k)
            if (i % COUNT(kernels) == k || (k == 0 && sizes[i] < 100) || !kit_small)
                run(sizes[i], &kernels[k]);
    const tmap_u64 most = kit_full ? 500 : kit_small ? 64 : 200;
    for (int i = 0; i < (kit_small ? 3 : kit_full ? 40 : 6); ++i)
        run((tmap_u32)kit_below(&state, most), &kernels[i % COUNT(kernels)]);
    on_all_devices(check_plans);
    check_facts();
    check_refusals();
    return kit_end("test_triples");
}
