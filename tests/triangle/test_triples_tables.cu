// SPDX-License-Identifier: MIT
// test_triples_tables: tmap_triples_tables_fold against tables that are counted sample by sample:
// every triple once, each with its own table, for every n up to some tiles and classes from none to
// several chunks of samples; shares, grids and results that are the same in every bit; and what is
// refused.
#define TMAPI_TRIPLES_PARTS 5u // parts of several items,
#define TMAPI_TRIPLES_GROUP 2u // and groups of groups
#include <threadmap/triangle/triples_tables.h>

#include "kit.h"

typedef struct job {
    tmap_triples_samples samples;
    tmap_fold_to to;
} job;

// part: triples since an accumulator began; order: its bits tell the order of additions.
typedef struct tally {
    tmap_u32 part, bad;
    tmap_u64 count, hash;
    double order;
} tally;

// A hash of a triple and its table.
TMAP_FN tmap_u64 number(tmap_triple t, const tmap_u32 *table) {
    tmap_u64 h = check_hash(((tmap_u64)t.i << 32) + t.j, t.k);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int v = 0; v < 54; ++v) h = kit_mix(h, table[v]);
    return h;
}
static __device__ void add(void *, void *sum, tmap_triple t, const tmap_u32 *table) {
    tally *s = (tally *)sum;
    const tmap_u64 h = number(t, table);
    ++s->part, ++s->count, s->hash += h;
    s->order = s->order * 0.75 + (double)(h >> 40);
}
static __device__ void join(void *, void *sum, const void *other) {
    tally *s = (tally *)sum;
    const tally *o = (const tally *)other;
    s->bad += o->bad + (o->part > 16), s->part = 0;
    s->count += o->count, s->hash += o->hash;
    s->order = s->order * 0.5 + o->order;
}
static __global__ void __launch_bounds__(TMAP_TRIPLES_TABLES_THREADS)
    tables(tmap_triples_plan plan, job j) {
    const tally zero = {0, 0, 0, 0, 0};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_triples_tables_fold(&plan, &j.samples, add, fold, j.to, 0);
}

// ---- one problem --------------------------------------------------------------------------------

static tmap_u32 value_of(tmap_u32 i, tmap_u32 of_class, tmap_u32 sample) {
    const tmap_u64 h = check_hash(i * 2 + of_class, sample) >> 20;
    return i % 5 == 4 ? 2 * (h % 2) : (tmap_u32)(h % 3); // some variables have no value 1
}

static tally tables_on_host(const tmap_triples_samples *s) {
    tally sum = {0, 0, 0, 0, 0};
    for (tmap_u32 i = 0; i < s->n; ++i)
        for (tmap_u32 j = 0; j < i; ++j)
            for (tmap_u32 k = 0; k < j; ++k) {
                const tmap_triple t = {i, j, k};
                tmap_u32 table[54] = {0};
                for (tmap_u32 c = 0; c < 2; ++c)
                    for (tmap_u32 at = 0; at < s->count[c]; ++at)
                        ++table[(9 * value_of(i, c, at) + 3 * value_of(j, c, at) +
                                 value_of(k, c, at)) *
                                    2 +
                                c];
                ++sum.count, sum.hash += number(t, table);
            }
    return sum;
}

static tally fold(const tmap_triples_plan *plan, job j) {
    tally result;
    CHECK(cudaMemset(j.to.result, KIT_POISON, sizeof result));
    CHECK(tmap_triples_tables_launch(plan, &j, 0));
    CHECK(cudaMemcpy(&result, j.to.result, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

static void run(tmap_u32 n, tmap_u32 first, tmap_u32 second) {
    if (!check_turn()) return;
    job j;
    j.samples.n = n, j.samples.count[0] = first, j.samples.count[1] = second;
    const tally want = tables_on_host(&j.samples);
    const tmap_u64 words = tmap_triples_tables_words(&j.samples);
    tmap_u32 *bits = (tmap_u32 *)kit_zeroed(words * 4);
    tmap_u64 places = 0, set = 0;
    kit_case("n = %u, %u and %u samples", n, first, second);
    for (tmap_u32 c = 0; c < 2; ++c)
        for (tmap_u32 at = 0; at < j.samples.count[c]; ++at)
            for (tmap_u32 i = 0; i < n; ++i)
                for (tmap_u32 value = 0; value < 2; ++value)
                    if (value_of(i, c, at) == value) {
                        const tmap_u64 word = tmap_triples_tables_word(&j.samples, i, c, at, value);
                        if (word < words) bits[word] |= 1u << at % 32;
                        ++places;
                    }
    for (tmap_u64 w = 0; w < words; ++w)
        for (tmap_u32 bit = 0; bit < 32; ++bit) set += bits[w] >> bit & 1;
    EXPECT(set == places, "%llu bits for %llu values", set, places);
    j.samples.bits = (const tmap_u32 *)kit_to_device(bits, words * 4);
    tmap_triples_plan plan;
    CHECK(tmap_triples_tables_plan_make(n, (const void *)tables, &plan));
    j.to.workspace = kit_guarded(plan.workspace), j.to.result = kit_guarded(sizeof(tally));
    CHECK(cudaMemset(j.to.workspace, 0, plan.workspace));
    const tally whole = fold(&plan, j);
    expect(whole.bad == 0, "parts are short");
    EXPECT(whole.count == want.count && whole.hash == want.hash, "%llu triples", whole.count);
    plan.grid = 2;
    const tally again = fold(&plan, j);
    expect(!memcmp(&again, &whole, sizeof whole), "the same bits, whatever the grid");
    tally sum = {0, 0, 0, 0, 0};
    for (tmap_u64 from = 0, part = 0; part < 3; ++part) {
        const tmap_u64 left = plan.items - from, count = part == 2 ? left : left / 3;
        CHECK(tmap_triples_plan_share(&plan, from, count));
        const tally share = fold(&plan, j);
        sum.count += share.count, sum.hash += share.hash, sum.bad += share.bad, from += count;
    }
    expect(sum.count == want.count && sum.hash == want.hash && !sum.bad, "all shares");
    kit_release(0);
}

static void check_refusals(void) {
    const void *kernel = (const void *)tables;
    tmap_triples_plan plan;
    tmap_facts facts;
    job j;
    kit_case("refusals");
    memset(&j, 0, sizeof j);
    CHECK(tmap_triples_tables_plan_make(100, kernel, &plan));
    const tmap_triples_plan before = plan;
    HOLDS(plan.items == 84 && plan.side == 16 && plan.block == TMAP_TRIPLES_TABLES_THREADS);
    REFUSED(tmap_triples_tables_plan_make(TMAP_TRIPLES_N_MAX + 1, kernel, &plan));
    REFUSED(tmap_triples_tables_plan_make(100, NULL, &plan));
    REFUSED(tmap_triples_tables_plan_make(100, kernel, NULL));
    REFUSED(tmap_triples_launch(&plan, &j, 0));
    REFUSED(tmap_triples_tables_launch(NULL, &j, 0));
    REFUSED(tmap_triples_tables_launch(&plan, NULL, 0));
    expect(!memcmp(&plan, &before, sizeof plan), "a plan that is refused is left as it was");
    CHECK(tmap_triples_plan_make(100, 3, 4, kernel, &plan));
    REFUSED(tmap_triples_tables_launch(&plan, &j, 0));
    CHECK(tmap_facts_get(kernel, &facts));
    RETURNS(tmap_triples_tables_plan_of(9, NULL, &plan), TMAP_EINVAL);
    RETURNS(tmap_triples_tables_plan_of(9, &facts, NULL), TMAP_EINVAL);
    facts.kernel.threads = 128;
    RETURNS(tmap_triples_tables_plan_of(9, &facts, &plan), TMAP_ERANGE);
}

int main(void) {
    const tmap_u32 sizes[] = {0, 1, 2, 3, 4, 9, 15, 16, 17, 25, 33};
    const tmap_u32 samples[][2] = {{0, 0}, {1, 0}, {0, 300}, {256, 255}, {257, 31}, {32, 600}};
    tmap_u64 state = 1;
    kit_begin();
    for (size_t i = 0; i < COUNT(sizes); ++i)
        for (size_t k = 0; k < COUNT(samples); ++k)
            if (sizes[i] < 16 || i % 3 == k % 3) run(sizes[i], samples[k][0], samples[k][1]);
    for (int i = 0; i < (kit_full ? 20 : 2); ++i)
        run((tmap_u32)kit_below(&state, kit_full ? 100 : 50), (tmap_u32)kit_below(&state, 700),
            (tmap_u32)kit_below(&state, 700));
    check_refusals();
    return kit_end("test_triples_tables");
}
