// SPDX-License-Identifier: MIT
// test_near_groups: friends of friends and DBSCAN against serial programs over all pairs: every small
// n and some larger ones, 1 to 8 coordinates, floats and doubles, orders, points that coincide, lie in
// clusters or are not finite, radii from none to all, reaches that know less than they could; labels
// by the smallest number and dense; and what must be refused.
#define TMAPI_NEAR_UNITS 48u // so that small sizes have parts of leaves as well as runs of them
#define TMAPI_NEAR_ITEMS 30u
#include "triangle/near_check.h"

#include <threadmap/triangle/near_groups.h>
#include <threadmap/triangle/near_rows.h>

typedef struct job {
    tmap_u32 d, size;
    float radius;
    int vague; // reach never says ALL
    tmap_near_groups_to to;
    const void *all, *cores; // sets: of all points, of the core points
    const tmap_u32 *order;
    void *result; // of rows
    tmap_u64 *wrong;
} job;

TMAP_FN int is_linked(float radius, tmap_u32 d, tmap_u32 size, const void *a, const void *b) {
    double sum = 0; // exact: see points_of
    for (tmap_u32 k = 0; k < d; ++k) {
        const double t = coordinate_of(a, size, k) - coordinate_of(b, size, k);
        sum += t * t;
    }
    return sum < (double)radius * (double)radius;
}

static __device__ int reach(void *at, const tmap_near_box *a, const tmap_near_box *b) {
    const job *j = (const job *)at;
    const int says = tmap_near_within(a, b, j->d, j->radius);
    return j->vague && says == TMAP_NEAR_ALL ? TMAP_NEAR_SOME : says;
}
static __device__ int linked(void *at, tmap_pair pair, const void *a, const void *b) {
    const job *j = (const job *)at;
    if (pair.i == pair.j) atomicAdd(j->wrong, 1ull);
    return is_linked(j->radius, j->d, j->size, a, b) * 3;
}
static __device__ void count(void *at, tmap_pair, const void *a, const void *b, void *to_i,
                             void *to_j) {
    const job *j = (const job *)at;
    if (is_linked(j->radius, j->d, j->size, a, b)) ++*(tmap_u32 *)to_i, ++*(tmap_u32 *)to_j;
}
static __device__ void add(void *, void *sum, const void *other) {
    *(tmap_u32 *)sum += *(const tmap_u32 *)other;
}
static __device__ void find(void *at, tmap_pair pair, const void *a, const void *b, void *to_i,
                            void *) {
    const job *j = (const job *)at;
    if (is_linked(j->radius, j->d, j->size, a, b) && pair.j < *(tmap_u32 *)to_i)
        *(tmap_u32 *)to_i = pair.j;
}
static __device__ void least(void *, void *sum, const void *other) {
    if (*(const tmap_u32 *)other < *(tmap_u32 *)sum) *(tmap_u32 *)sum = *(const tmap_u32 *)other;
}

#define KERNELS_OF(K) K(3, float) K(2, double) K(1, float) K(8, float)
#define KERNELS(D, type) \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        link_##D##_##type(tmap_near_plan plan, job j) { \
        const tmap_near points = {{j.to.set, 0, sizeof(type), D}, reach, 0}; \
        j.d = D, j.size = sizeof(type); \
        tmap_near_link(&plan, points, linked, &j.to, &j); \
    } \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        count_##D##_##type(tmap_near_plan plan, job j) { \
        const tmap_near points = {{j.all, 0, sizeof(type), D}, reach, 0}; \
        const tmap_u32 zero = 0; \
        const tmap_fold sum = {&zero, 4, add}; \
        j.d = D, j.size = sizeof(type); \
        tmap_near_rows(&plan, points, count, sum, j.result, &j); \
    } \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        border_##D##_##type(tmap_near_plan plan, job j) { \
        const tmap_near points = {{j.all, j.cores, sizeof(type), D}, reach, 0}; \
        const tmap_u32 none = TMAP_NEAR_NO_GROUP; \
        const tmap_fold first = {&none, 4, least}; \
        j.d = D, j.size = sizeof(type); \
        tmap_near_rows(&plan, points, find, first, j.result, &j); \
    }
#define NAMES(D, type) \
    {D, sizeof(type), (const void *)link_##D##_##type, (const void *)count_##D##_##type, \
     (const void *)border_##D##_##type},
KERNELS_OF(KERNELS)
static const struct kernels {
    tmap_u32 d, size;
    const void *link, *count, *border;
} kernels[] = {KERNELS_OF(NAMES)};

// ---- serial programs ----------------------------------------------------------------------------

static int linked_of(tmap_near_shape s, const unsigned char *a, float radius, tmap_u32 i,
                     tmap_u32 j) {
    const tmap_u32 bytes = s.d * s.size;
    return is_finite(s, a, i) && is_finite(s, a, j) &&
           is_linked(radius, s.d, s.size, a + (tmap_u64)i * bytes, a + (tmap_u64)j * bytes);
}

// Gives all points that are reached from point i, through points that `take` has, the label i.
static void spread(tmap_near_shape s, const unsigned char *a, float radius, tmap_u32 i,
                   const unsigned char *take, tmap_u32 *labels, tmap_u32 *todo) {
    tmap_u32 many = 1;
    todo[0] = i, labels[i] = i;
    while (many) {
        const tmap_u32 from = todo[--many];
        for (tmap_u32 j = 0; j < s.n; ++j) {
            if (labels[j] != TMAP_NEAR_NO_GROUP || !take[j] || !linked_of(s, a, radius, from, j))
                continue;
            labels[j] = i, todo[many++] = j;
        }
    }
}

// Labels of the points that `take` has. Returns the number of groups.
static tmap_u32 serial(tmap_near_shape s, const unsigned char *a, float radius,
                       const unsigned char *take, tmap_u32 *labels) {
    tmap_u32 *todo = (tmap_u32 *)kit_host((s.n + 1) * 4ull), groups = 0;
    memset(labels, 0xff, s.n * 4ull);
    for (tmap_u32 i = 0; i < s.n; ++i)
        if (take[i] && labels[i] == TMAP_NEAR_NO_GROUP)
            spread(s, a, radius, i, take, labels, todo), ++groups;
    return groups;
}

// ---- one problem --------------------------------------------------------------------------------

static job started(const struct kernels *k, float radius, tmap_u32 n) {
    job j;
    memset(&j, 0, sizeof j);
    j.d = k->d, j.size = k->size, j.radius = radius;
    j.wrong = (tmap_u64 *)kit_filled(8, 0);
    j.to.labels = (tmap_u32 *)kit_guarded(n * 4ull), j.to.count = (tmap_u32 *)kit_guarded(4);
    return j;
}

static tmap_near_plan plan_of(tmap_near_shape shape, const struct kernels *k, job *j,
                              tmap_u64 *state) {
    tmap_near_plan plan;
    CHECK(tmap_near_groups_plan_make(shape, k->link, &plan));
    if (kit_random(state) % 2) plan.grid = 1 + (tmap_u32)(kit_random(state) % 4);
    j->to.nodes = kit_guarded(tmap_near_groups_bytes(&plan));
    return plan;
}

static void check_labels(const job *j, tmap_u32 n, const tmap_u32 *want, tmap_u32 groups,
                         const char *what) {
    const tmap_u32 *got = (const tmap_u32 *)kit_to_host(j->to.labels, n * 4ull);
    tmap_u32 count;
    CHECK(cudaMemcpy(&count, j->to.count, 4, cudaMemcpyDeviceToHost));
    expect(memcmp(got, want, n * 4ull) == 0, what);
    expect(count == groups, "the number of groups");
    expect(kit_number(j->wrong) == 0, "pairs of a point with itself");
}

static void run_friends(const struct kernels *k, tmap_near_shape shape, const unsigned char *a,
                        job j, tmap_u64 *state) {
    unsigned char *take = (unsigned char *)memset(kit_host(shape.n + 1ull), 1, shape.n + 1ull);
    tmap_u32 *want = (tmap_u32 *)kit_host((shape.n + 1) * 4ull);
    const tmap_u32 groups = serial(shape, a, j.radius, take, want);
    j.to.set = j.all;
    for (int way = 0; way < 4; ++way) {
        const tmap_near_plan plan = plan_of(shape, k, &j, state);
        j.vague = way % 2, j.to.dense = way > 1;
        CHECK(tmap_near_groups(&plan, &j, &j.to, 0));
        if (way == 2) {
            tmap_u32 *rank = (tmap_u32 *)kit_host((shape.n + 1) * 4ull), next = 0;
            for (tmap_u32 i = 0; i < shape.n; ++i)
                if (want[i] == i) rank[i] = next++;
            for (tmap_u32 i = 0; i < shape.n; ++i) want[i] = rank[want[i]];
        }
        check_labels(&j, shape.n, want, groups, way > 1 ? "dense labels" : "labels");
    }
}

static void run_dbscan(const struct kernels *k, tmap_near_shape shape, const unsigned char *a,
                       job j, tmap_u64 *state) {
    const tmap_u32 n = shape.n, needed = (tmap_u32)(kit_random(state) % 6);
    unsigned char *core = (unsigned char *)kit_zeroed(n + 1ull);
    tmap_u32 *want = (tmap_u32 *)kit_host((n + 1) * 4ull);
    tmap_u32 *counts = (tmap_u32 *)kit_guarded(n * 4ull),
             *cores = (tmap_u32 *)kit_guarded(n * 4ull);
    tmap_near_plan plan;
    for (tmap_u32 i = 0; i < n; ++i) {
        tmap_u32 friends = 0;
        for (tmap_u32 m = 0; m < n; ++m) friends += m != i && linked_of(shape, a, j.radius, i, m);
        core[i] = friends >= needed;
    }
    const tmap_u32 groups = serial(shape, a, j.radius, core, want);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 m = 0; m < n && !core[i] && want[i] == TMAP_NEAR_NO_GROUP; ++m)
            if (core[m] && linked_of(shape, a, j.radius, i, m)) want[i] = want[m];

    j.result = counts;
    CHECK(tmap_near_rows_plan_make(shape, 4, k->count, &plan));
    CHECK(tmap_near_launch(&plan, &j, 0));
    CHECK(tmap_near_cores(n, j.order, counts, needed, cores, 0));
    j.to.set = j.cores = prepared(shape, j.to.set, cores);
    plan = plan_of(shape, k, &j, state);
    CHECK(tmap_near_groups(&plan, &j, &j.to, 0));
    CHECK(tmap_near_rows_plan_make(shape, 4, k->border, &plan));
    if (n) CHECK(tmap_near_plan_others(&plan, n));
    j.result = cores; // no longer in use
    CHECK(cudaMemset(cores, 0xff, n * 4ull));
    CHECK(tmap_near_launch(&plan, &j, 0));
    CHECK(tmap_near_borders(n, cores, j.to.labels, 0));
    check_labels(&j, n, want, groups, "labels of DBSCAN");
}

static void run(tmap_u64 *state, tmap_u32 n) {
    const float radii[] = {0, 0.01f, 0.0625f, 0.125f, 0.2f, 0.6f, 3};
    const struct kernels *k = &kernels[kit_random(state) % COUNT(kernels)];
    const int kind = (int)(kit_random(state) % KINDS), turn = check_turn();
    const float radius = radii[kit_random(state) % COUNT(radii)];
    const tmap_near_shape shape = {n, k->d, k->size};
    if (!turn) return;
    kit_case("n = %u, d = %u, %u bytes, radius %g, points %d", n, k->d, k->size, (double)radius,
             kind);
    unsigned char *a = (unsigned char *)points_of(state, shape, kind, 0);
    job j = started(k, radius, n);
    const void *points = kit_to_device(a, (tmap_u64)n * k->d * k->size);
    j.order = order_of(state, shape, a);
    j.all = prepared(shape, points, j.order);
    run_friends(k, shape, a, j, state);
    j.to.set = points;
    run_dbscan(k, shape, a, j, state);
    kit_release(0);
}

// ---- many points --------------------------------------------------------------------------------

// Tells at once what is next, so that a run that is cut off says where.
static void part(const char *what, tmap_u32 n) { printf("%s, %u\n", what, n), fflush(stdout); }

typedef struct celled {
    tmap_u64 cell;
    tmap_u32 number;
} celled;

static int compare_cells(const void *a, const void *b) {
    const celled *x = (const celled *)a, *y = (const celled *)b;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}
static tmap_u32 root_of(tmap_u32 *parent, tmap_u32 i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}
static tmap_u64 cell_of(const float *p, tmap_u32 side, int x, int y, int z) {
    const tmap_u64 a = (tmap_u64)(p[0] * (float)side) + (tmap_u64)(x + 1);
    const tmap_u64 b = (tmap_u64)(p[1] * (float)side) + (tmap_u64)(y + 1);
    return (((tmap_u64)(p[2] * (float)side) + (tmap_u64)(z + 1)) << 42) + (b << 21) + a;
}

// Serial friends of friends by cells that are as wide as the radius, for points of a unit cube. The
// root of a tree is its smallest number. labels: the forest.
static void friends_by_cells(const float *p, tmap_u32 n, float radius, tmap_u32 *labels) {
    const tmap_u32 side = (tmap_u32)(1 / (radius * 1.001f));
    celled *cells = (celled *)kit_host((n + 1) * sizeof *cells);
    for (tmap_u32 i = 0; i < n; ++i)
        labels[i] = i, cells[i].cell = cell_of(p + 3ull * i, side, 0, 0, 0), cells[i].number = i;
    qsort(cells, n, sizeof *cells, compare_cells);
    for (tmap_u32 i = 0; i < n; ++i)
        for (int c = 0; c < 27; ++c) {
            const tmap_u64 want = cell_of(p + 3ull * i, side, c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1);
            tmap_u32 low = 0, high = n;
            while (low < high) {
                const tmap_u32 middle = low + (high - low) / 2;
                if (cells[middle].cell < want)
                    low = middle + 1;
                else
                    high = middle;
            }
            for (; low < n && cells[low].cell == want; ++low) {
                const tmap_u32 j = cells[low].number;
                if (j >= i || !is_linked(radius, 3, 4, p + 3ull * i, p + 3ull * j)) continue;
                const tmap_u32 a = root_of(labels, i), b = root_of(labels, j);
                labels[a < b ? b : a] = a < b ? a : b;
            }
        }
    for (tmap_u32 i = 0; i < n; ++i) labels[i] = root_of(labels, i);
}

// kind: CUBE or CLUSTERS. Coordinates are whole multiples of 2^-20, so that squares are exact in double.
static void run_many(tmap_u32 n, int kind, float radius) {
    const tmap_near_shape shape = {n, 3, 4};
    tmap_u64 state = 11;
    tmap_u32 groups = 0;
    float *points = (float *)kit_host(n * 12ull);
    tmap_u32 *want = (tmap_u32 *)kit_host(n * 4ull);
    job j = started(&kernels[0], radius, n);
    kit_case("%u points of kind %d, radius %g", n, kind, (double)radius);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 k = 0; k < 3; ++k) {
            const double u = (double)(kit_random(&state) >> 44) * 0x1p-20;
            const double centre = (double)(check_hash(i % 30, k) % 900) / 1000;
            points[3ull * i + k] =
                (float)(floor((kind == CUBE ? u : centre + u / (20 + 30 * (i % 30))) * 0x1p20) *
                        0x1p-20);
        }
    part("  serial", n);
    friends_by_cells(points, n, radius, want);
    part("  on the device", n);
    for (tmap_u32 i = 0; i < n; ++i) groups += want[i] == i;
    j.to.set = prepared(shape, kit_to_device(points, n * 12ull), order_of(&state, shape, points));
    const tmap_near_plan plan = plan_of(shape, &kernels[0], &j, &state);
    CHECK(tmap_near_groups(&plan, &j, &j.to, 0));
    check_labels(&j, n, want, groups, "labels of many points");
    kit_release(0);
}

// A leaf of two parts that only the next leaf links. odd: where that one's last point lies: with the
// others, all pairs of the leaves are linked.
static void run_bridge(float odd) {
    const tmap_near_shape shape = {64, 1, 4};
    tmap_u64 state = 5;
    float points[64];
    job j = started(&kernels[2], 1, 64);
    kit_case("a bridge, odd %g", (double)odd);
    for (int i = 0; i < 64; ++i) points[i] = i < 16 ? 0 : i < 32 ? 1.5f : i < 63 ? 0.75f : odd;
    j.all = prepared(shape, kit_to_device(points, sizeof points), 0);
    run_friends(&kernels[2], shape, (const unsigned char *)points, j, &state);
    kit_release(0);
}

static void run_refused(void) {
    const tmap_near_shape shape = {100, 3, 4}, bad = {100, 9, 4};
    tmap_near_plan plan, other;
    job j = started(&kernels[0], 1, 100);
    kit_case("refused");
    REFUSED(tmap_near_groups_plan_make(bad, kernels[0].link, &plan));
    CHECK(tmap_near_groups_plan_make(shape, kernels[0].link, &plan));
    j.to.set = kit_guarded(tmap_near_set_bytes(shape));
    j.to.nodes = kit_guarded(tmap_near_groups_bytes(&plan));
    const tmap_near_groups_to good = j.to;
    tmap_near_groups_to to = good;
    to.set = 0;
    REFUSED(tmap_near_groups(&plan, &j, &to, 0));
    to = good, to.nodes = (char *)to.nodes + 4;
    REFUSED(tmap_near_groups(&plan, &j, &to, 0));
    to = good, to.labels = 0;
    REFUSED(tmap_near_groups(&plan, &j, &to, 0));
    REFUSED(tmap_near_groups(&plan, NULL, &good, 0));
    REFUSED(tmap_near_groups(NULL, &j, &good, 0));
    CHECK(tmap_near_plan_make(shape, kernels[0].link, &other));
    REFUSED(tmap_near_groups(&other, &j, &good, 0));
    other = plan;
    CHECK(tmap_near_plan_share(&other, 0, 1));
    REFUSED(tmap_near_groups(&other, &j, &good, 0));
    other = plan;
    CHECK(tmap_near_plan_others(&other, 5));
    REFUSED(tmap_near_groups(&other, &j, &good, 0));
    REFUSED(tmap_near_cores(1, 0, 0, 0, good.labels, 0));
    REFUSED(tmap_near_borders(1, 0, good.labels, 0));
    kit_release(0);
}

int main(void) {
    static const tmap_u32 some[] = {1024, 1100, 1500, 2500};
    tmap_u64 state = 99;
    kit_begin();
    part("few points, at most", 300);
    for (tmap_u32 n = 0; n <= 300; n += n < 70 ? 1 : kit_full ? 5 : 13) run(&state, n);
    for (int times = 0; times < (kit_small ? 1 : 3); ++times)
        for (size_t i = 0; i < COUNT(some) - (kit_small ? 1u : 0u); ++i)
            part("some points", some[i]), run(&state, some[i]);
    part("fewer than 500 points, times", kit_full ? 100 : 30);
    for (int i = 0; i < (kit_full ? 100 : 30); ++i)
        run(&state, (tmap_u32)(kit_random(&state) % 500));
    const tmap_u32 many = kit_full ? 1100000 : kit_small ? 3000 : 20000;
    // in clusters the serial program takes the square of the number
    const tmap_u32 clustered = kit_full ? 200000 : many;
    part("points in a cube, far apart", many);
    if (check_turn()) run_many(many, CUBE, 0.2f / cbrtf((float)many));
    part("points in a cube, close", many);
    if (check_turn()) run_many(many, CUBE, 0.9f / cbrtf((float)many));
    part("points in clusters", clustered);
    if (check_turn()) run_many(clustered, CLUSTERS, 0.2f / cbrtf((float)clustered));
    part("bridges, what is refused", 64);
    run_bridge(0.75f);
    run_bridge(-0.875f);
    run_refused();
    return kit_end("test_near_groups");
}
