// SPDX-License-Identifier: MIT
// test_pairs_select: tmap_pairs_select against serial loops: every pair that it should list once,
// no other, each with its value, for every n up to some tiles, densities from nothing to
// everything, both orders, capacities below and above the count, first rows, two sets, many sets
// and shares; the fixed order over launch shapes, capacities and shares; nothing behind the list;
// the workspace cleared; the look-back alone; and bad pointers.
#define TMAPI_PAIRS_ITEMS 3u // so that small sizes have whole tiles as well as bands
#include "triangle/pairs_check.h"

// ---- what is chosen -----------------------------------------------------------------------------

// The pairs whose number is below `most`, of 2^20; or of most = 0 the pair `only` alone.
typedef struct chooser {
    tmap_u32 n, m, d, size, bytes; // points of the first and the second set
    tmap_u32 most;
    tmap_pair only;
    const void *points, *others;
    tmap_pairs_list list;
} chooser;

TMAP_FN tmap_u64 number(tmap_u32 set, tmap_pair pair) {
    tmap_u64 h = (set * 0x9e3779b97f4a7c15ull + pair.i) * 0xbf58476d1ce4e5b9ull + pair.j;
    h ^= h >> 29, h *= 0x94d049bb133111ebull;
    return h ^ h >> 32;
}
TMAP_FN int chosen(const chooser *c, tmap_u32 set, tmap_pair pair) {
    if (!c->most) return pair.i == c->only.i && pair.j == c->only.j;
    return (number(set, pair) & 0xfffff) < c->most;
}

// A pair that comes with other points than its own, or that is none, is listed with a value that no
// pair has.
static __device__ int choose(void *job, tmap_pair pair, const void *a, const void *b, void *value) {
    const chooser *c = (const chooser *)job;
    tmap_u32 set;
    const int right = are_points(pair, a, b, c->d, c->size, &set) && tmap_pairs_set(a) == set &&
                      pair.i < c->n && pair.j < c->m;
    const tmap_u64 mine = right ? number(set, pair) | 1 : 0;
    if (c->bytes == 4) *(tmap_u32 *)value = (tmap_u32)mine;
    if (c->bytes == 8) *(tmap_u64 *)value = mine;
    return right ? chosen(c, set, pair) * 6 : -1; // any number but 0 is a yes
}

// The sizes are constants of each kernel, lest the compiler make code for all of them.
#define SELECT_BY(order, of, D, type, bytes_) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS) \
        order##_##D##_##type##_##bytes_(tmap_pairs_plan plan, chooser c) { \
        const tmap_points points = {c.points, c.others, sizeof(type), D}; \
        const tmap_pairs_choice choice = {choose, bytes_, of}; \
        c.d = D, c.size = sizeof(type), c.bytes = bytes_; \
        tmap_pairs_select(&plan, points, choice, &c.list, &c); \
    }
#define SELECT(D, type, bytes) \
    SELECT_BY(any, TMAP_PAIRS_ANY_ORDER, D, type, bytes) \
    SELECT_BY(fixed, TMAP_PAIRS_FIXED_ORDER, D, type, bytes)
#define KERNEL(D, type, bytes) \
    {D, \
     sizeof(type), \
     bytes, \
     {(const void *)any_##D##_##type##_##bytes, (const void *)fixed_##D##_##type##_##bytes}},
#define KERNELS_OF(K) K(3, float, 4) K(2, float, 0) K(1, double, 8) K(8, double, 4)
KERNELS_OF(SELECT)
static const struct kernel_of {
    tmap_u32 d, size, bytes;
    const void *kernel[2]; // of each order
} kernels[] = {KERNELS_OF(KERNEL)};
enum { KERNELS = COUNT(kernels) };

// ---- one launch ---------------------------------------------------------------------------------

typedef struct listed {
    tmap_u64 count, written; // hits, and those of them that the capacity has room for
    tmap_pair *pairs;
    unsigned char *values;
} listed;

// Launches `plan` twice with one workspace, which must be left as it was found.
static listed launch(const tmap_pairs_plan *plan, chooser c, int order, tmap_u64 capacity) {
    const tmap_u64 bytes = tmap_pairs_select_bytes(plan, order), room = capacity * 8;
    listed l;
    c.list.capacity = capacity;
    c.list.pairs = (tmap_pair *)kit_guarded(room), c.list.values = kit_guarded(room);
    c.list.count = (tmap_u64 *)kit_guarded(8), c.list.workspace = kit_filled(bytes, 0);
    for (int again = 0; again < 2; ++again) {
        CHECK(cudaMemset(c.list.pairs, KIT_POISON, room));
        CHECK(cudaMemset(c.list.values, KIT_POISON, room));
        CHECK(cudaMemset(c.list.count, KIT_POISON, 8));
        CHECK(tmap_pairs_select_launch(plan, &c.list, &c, 0));
    }
    l.pairs = (tmap_pair *)kit_to_host(c.list.pairs, room);
    l.values = (unsigned char *)kit_to_host(c.list.values, room);
    l.count = kit_number(c.list.count);
    l.written = l.count < capacity ? l.count : capacity;
    expect(kit_device_all(c.list.workspace, bytes, 0), "the workspace is cleared");
    expect(kit_all(l.pairs + l.written, room - l.written * 8, KIT_POISON), "pairs behind the list");
    expect(kit_all(l.values + l.written * c.bytes, room - l.written * c.bytes, KIT_POISON),
           "values behind the list");
    return l;
}

static int listed_same(const listed *a, tmap_u64 at, const listed *b, tmap_u64 count,
                       tmap_u32 bytes) {
    return memcmp(a->pairs + at, b->pairs, count * 8) == 0 &&
           memcmp(a->values + at * bytes, b->values, count * bytes) == 0;
}

// Marks what is listed. seen: n x m of each set, 1 where a pair is to be listed, 2 where one was.
static void mark(const listed *l, const chooser *c, shape s, unsigned char *seen) {
    tmap_u64 wrong = 0;
    for (tmap_u64 k = 0; k < l->written; ++k) {
        const tmap_u32 set = s.n ? l->pairs[k].i / s.n : 0;
        tmap_pair pair = l->pairs[k];
        tmap_u64 value = 0, want;
        unsigned char *place;
        pair.i -= set * s.n, pair.j -= set * c->m;
        if (set >= s.sets || pair.j >= c->m) {
            ++wrong;
            continue;
        }
        place = &seen[((tmap_u64)set * s.n + pair.i) * c->m + pair.j];
        want = number(set, pair) | 1;
        if (c->bytes) memcpy(&value, l->values + k * c->bytes, c->bytes);
        wrong += *place != 1 || (c->bytes && value != (c->bytes == 4 ? (tmap_u32)want : want));
        *place = 2;
    }
    expect(wrong == 0, "pairs or values that should not be listed");
}

// ---- one problem --------------------------------------------------------------------------------

// Any number of parts of the plan, one behind the other.
static void run_shares(const tmap_pairs_plan *plan, const chooser *c, int order,
                       const listed *whole, unsigned char *seen, shape s) {
    tmap_u64 first = 0, at = 0;
    for (tmap_u32 i = 0; i < 4; ++i) {
        const tmap_pairs_plan part = share_of(plan, i, 4, &first);
        const listed l = launch(&part, *c, order, whole->count);
        if (order == TMAP_PAIRS_FIXED_ORDER)
            expect(at + l.count <= whole->count && listed_same(whole, at, &l, l.written, c->bytes),
                   "shares in the fixed order");
        mark(&l, c, s, seen);
        at += l.count;
    }
    expect(at == whole->count, "the count of all shares");
}

static void run(shape s, const struct kernel_of *k, tmap_u32 most, tmap_u32 shares) {
    if (!check_turn()) return;
    const tmap_u32 grids[] = {1, 3, 1000};
    const tmap_u64 places = (tmap_u64)s.n * (s.others ? s.others : s.n) * s.sets;
    unsigned char *want = (unsigned char *)kit_zeroed(places + 1);
    unsigned char *seen = (unsigned char *)kit_host(places + 1);
    tmap_u64 count = 0;
    chooser c;
    memset(&c, 0, sizeof c);
    s.d = k->d, s.size = k->size, of_shape(s);
    c.n = s.n, c.m = s.others ? s.others : s.n, c.d = k->d, c.size = k->size, c.bytes = k->bytes;
    c.most = most;
    c.only.i = s.rows ? (tmap_u32)(check_hash(s.n, 1) % s.rows) : 0;
    c.only.j = c.m ? (tmap_u32)(check_hash(s.n, 2) % c.m) : 0;
    if (!s.others && c.only.j <= c.only.i && c.m) c.only.j = c.m - 1;
    c.points = numbered_points(s.n, s), c.others = second_points(s);
    for (tmap_u32 set = 0; set < s.sets; ++set)
        for (tmap_u32 i = 0; i < s.rows; ++i)
            for (tmap_u32 j = s.others ? 0 : i + 1; j < c.m; ++j) {
                const tmap_pair pair = {i, j};
                const int yes = chosen(&c, set, pair);
                want[((tmap_u64)set * s.n + i) * c.m + j] = (unsigned char)yes;
                count += (tmap_u64)yes;
            }
    for (int order = 0; order < 2; ++order) {
        const tmap_u64 capacities[] = {count + 7, count, count ? count - 1 : 0, 1, 0};
        tmap_pairs_plan plan;
        listed whole;
        make_plan(s, k->kernel[order], &plan);
        whole = launch(&plan, c, order, count);
        expect(whole.count == count, "the count");
        memcpy(seen, want, places);
        mark(&whole, &c, s, seen);
        expect(memchr(seen, 1, places) == NULL, "pairs that should be listed");
        for (int i = 0; i < 5; i += kit_small ? 2 : 1) {
            const int mark_before = kit_mark();
            listed l;
            if (order && i < 3) plan.grid = grids[i];
            l = launch(&plan, c, order, capacities[i]);
            expect(l.count == count, "the count, by capacities");
            if (order) expect(listed_same(&whole, 0, &l, l.written, c.bytes), "fixed order");
            memcpy(seen, want, places);
            mark(&l, &c, s, seen);
            kit_release(mark_before);
        }
        if (shares > 1) {
            memcpy(seen, want, places);
            make_plan(s, k->kernel[order], &plan);
            run_shares(&plan, &c, order, &whole, seen, s);
            expect(memchr(seen, 1, places) == NULL, "pairs that shares should list");
        }
        if (order) { // tiles in their own order
            tmap_u64 before = 0, wrong = 0;
            for (tmap_u64 i = 0; i < whole.written; ++i) {
                const tmap_u32 set = whole.pairs[i].i / s.n;
                const tmap_u32 x = (whole.pairs[i].j - set * c.m) / TMAP_PAIRS_SIDE;
                const tmap_u32 y = (whole.pairs[i].i - set * s.n) / TMAP_PAIRS_SIDE;
                const tmap_u64 tile = ((tmap_u64)set << 40) + ((tmap_u64)y << 20) + x;
                wrong += tile < before, before = tile;
            }
            expect(wrong == 0, "the order of tiles");
        }
    }
    kit_release(0);
}

// ---- the look-back alone ------------------------------------------------------------------------

// Words as blocks that are still at work leave them, which one block alone never sees.
typedef struct look_job {
    tmap_u64 *words, *sum;
    tmap_u64 tile, hits;
} look_job;

static __global__ void look(look_job j) {
    const tmap_u64 sum = tmapi_fold_before(j.words, j.tile, j.hits);
    if (threadIdx.x == 13) *j.sum = sum;
}

// Tile `all` is the last one that tells the sum up to itself; those before it have told nothing.
static void run_look(tmap_u64 tile, tmap_u64 all) {
    tmap_u64 *words = (tmap_u64 *)kit_zeroed((tile + 1) * 8), sum = 0;
    look_job j;
    void *arguments[] = {&j};
    kit_case("tile %llu, all of %llu", tile, all);
    for (tmap_u64 i = 0; i < tile; ++i) {
        const tmap_u64 hits = check_hash(i, tile) % 70000 * (i % 3); // some have none
        sum += hits;
        if (i > all) words[i] = hits | TMAPI_FOLD_OWN;
        if (i == all || i + 77 == all) words[i] = sum | TMAPI_FOLD_ALL;
    }
    j.words = (tmap_u64 *)kit_to_device(words, (tile + 1) * 8);
    j.tile = tile, j.hits = 12345678901ull, j.sum = (tmap_u64 *)kit_device(8);
    CHECK(cudaLaunchKernel((const void *)look, dim3(1), dim3(32), arguments, 0, 0));
    expect(kit_number(j.sum) == sum, "look-back");
    expect(kit_number(j.words + tile) == ((sum + j.hits) | TMAPI_FOLD_ALL),
           "what a tile tells");
    kit_release(0);
}

// ---- bad pointers -------------------------------------------------------------------------------

// One launch of 100 points, all pairs chosen, with one pointer of the list wrong: null, or `shift`
// bytes on.
static void run_bad(int order, int part, int shift) {
    const shape s = shape_of(100);
    const tmap_u64 room = 4950 * 8 + 8;
    const unsigned char *got, *state;
    tmap_pairs_plan plan;
    chooser c;
    memset(&c, 0, sizeof c);
    c.n = c.m = 100, c.d = 3, c.size = 4, c.bytes = 4, c.most = 1 << 20;
    c.points = numbered_points(100, s);
    make_plan(s, kernels[0].kernel[order], &plan);
    kit_case("part %d of a list, order %d, %d bytes on", part, order, shift);
    const tmap_u64 bytes = tmap_pairs_select_bytes(&plan, order);
    unsigned char *const own[] = {
        (unsigned char *)kit_guarded(room), (unsigned char *)kit_guarded(room),
        (unsigned char *)kit_guarded(16), (unsigned char *)kit_filled(bytes + 8, 0)};
    void *at[] = {own[0], own[1], own[2], own[3]};
    at[part] = shift ? own[part] + shift : NULL;
    c.list.pairs = (tmap_pair *)at[0], c.list.values = at[1], c.list.capacity = 4950;
    c.list.count = (tmap_u64 *)at[2], c.list.workspace = at[3];
    // The launcher reports what the kernel then does not do; only values may be left out.
    if (part != 1) REFUSED(tmap_pairs_select_launch(&plan, &c.list, &c, 0));
#ifdef TMAP_CHECK // the kernel would end the program: test_check.cu
    if (part >= 2) return;
#endif
    CHECK(tmap_pairs_launch(&plan, &c, 0));
    got = (const unsigned char *)kit_to_host(own[0], room);
    state = (const unsigned char *)kit_to_host(own[3], bytes + 8);
    if (part < 2)
        expect(kit_number(own[2]) == 4950, "the count");
    else
        expect(kit_device_all(own[2], 16, KIT_POISON), "a count in spite of a bad list");
    expect(kit_all(state, bytes + 8, 0), "the workspace");
    expect(kit_device_all(own[1], room, KIT_POISON), "values");
    if (part == 1) {
        unsigned char seen[100][100] = {{0}};
        tmap_u64 wrong = 0;
        for (int i = 0; i < 4950; ++i) {
            const tmap_pair pair = ((const tmap_pair *)got)[i];
            wrong += pair.i >= pair.j || pair.j >= 100 || seen[pair.i][pair.j]++;
        }
        expect(wrong == 0, "pairs without values");
    } else {
        expect(kit_all(got, room, KIT_POISON), "pairs");
    }
    kit_release(0);
}

// Plans of another kind, and what is no list.
static void run_refusals(void) {
    const shape s = shape_of(100);
    tmap_u64 word = 0;
    tmap_pairs_plan plan;
    chooser c;
    memset(&c, 0, sizeof c);
    c.list.count = &word, c.list.workspace = &word;
    make_plan(s, kernels[0].kernel[0], &plan);
    REFUSED(tmap_pairs_select_launch(NULL, &c.list, &c, 0));
    REFUSED(tmap_pairs_select_launch(&plan, NULL, &c, 0));
    REFUSED(tmap_pairs_select_launch(&plan, &c.list, NULL, 0));
    CHECK(tmap_pairs_rows_plan_make(100, 3, 4, 4, kernels[0].kernel[0], &plan));
    REFUSED(tmap_pairs_select_launch(&plan, &c.list, &c, 0));
    const tmap_pairs_store_shape square = {100, 3, 4, TMAP_PAIRS_SQUARE, 4};
    CHECK(tmap_pairs_store_plan_make(square, kernels[0].kernel[0], &plan));
    REFUSED(tmap_pairs_select_launch(&plan, &c.list, &c, 0));
}

static void run_device(const char *) {
    run(shape_of(700), &kernels[3], 10486, 0);
    run(shape_of(700), &kernels[0], 1 << 20, 0);
}

// By a density: of 2^20: one pair, none (but where numbers are 0), 0.4%, 1%, half, all.
static void run_number(shape s, tmap_u32 number, tmap_u32 shares) {
    const tmap_u32 most[] = {0, 1, 4194, 10486, 1 << 19, 1 << 20};
    for (tmap_u32 m = 0; m < 6; ++m)
        if (kit_full ? s.n > 300 || m == s.n / 4 % 6 : m == (number + s.n / 4) % 6)
            run(s, &kernels[(number + m) % KERNELS], most[m], shares);
}

int main(void) {
    kit_begin();
    if (!kit_gpu) kit_small = 1; // 29346 cases take it too long
    each_shape(kit_small ? 61 : 1, kit_small ? 3 : 6, run_number);
    for (tmap_u64 tile = 0; tile < 400; tile += 1 + tile / 8)
        for (tmap_u64 all = 0; all < (tile ? tile : 1); all += 1 + all / 4) run_look(tile, all);
    for (int order = 0; order < 2; ++order)
        for (int part = 0; part < 4; ++part)
            run_bad(order, part, 0), run_bad(order, part, part == 1 ? 2 : 4);
    run_refusals();
    on_all_devices(run_device);
    return kit_end("test_pairs_select");
}
