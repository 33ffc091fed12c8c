// SPDX-License-Identifier: MIT
// test_near: the engine of near pairs against serial loops over all pairs: every small n and some
// larger ones, 1 to 8 coordinates, floats and doubles, one set and two, orders from sorted to random,
// points that coincide, lie in a line, are not finite; shares, grids, lists of every capacity, reaches
// that say SOME, NONE and ALL; boxes and their bounds; and plans and calls that must be refused.
#define TMAPI_NEAR_UNITS 48u // so that small sizes have parts of leaves as well as runs of them
#define TMAPI_NEAR_ITEMS 30u
#define TMAPI_NEAR_ALONE 1u // and warps help each other
#include "triangle/near_check.h"

#include <threadmap/triangle/near_cell.h>
#include <threadmap/triangle/near_graph.h>
#include <threadmap/triangle/near_rows.h>
#include <threadmap/triangle/near_select.h>

// ---- problems -----------------------------------------------------------------------------------

// How two points are near.
enum { WITHIN, TOUCHING, CHEBYSHEV, PERIODIC, CELL, HOWS };

// Axes of the position: all coordinates but the radius of a ball.
TMAP_FN tmap_u32 axes_of(int how, tmap_u32 d) { return how == TOUCHING ? d - 1 : d; }

typedef struct problem {
    tmap_u32 n, m, d, size; // m: points of the second set, or 0
    int how;
    float radius, length;     // length of a periodic box along axis 0 and on; axis 1 is open
    tmap_image_cell_f32 cell; // for 3 floats
} problem;

static inline tmap_near_shape shape_of(const problem *p) {
    const tmap_near_shape s = {p->n, p->d, p->size};
    return s;
}

// The test of a pair, in the type of the coordinates, as a user writes it.
TMAP_FN int is_near(const problem *p, tmap_u32 d, tmap_u32 size, const void *a, const void *b) {
    if (size == 4) {
        const float *x = (const float *)a, *y = (const float *)b;
        float sum = 0, most = 0, limit = p->radius;
        if (p->how == CELL) {
            float t[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
            tmap_image_f32(&p->cell, t);
            return t[0] * t[0] + t[1] * t[1] + t[2] * t[2] < limit * limit;
        }
        for (tmap_u32 k = 0; k < axes_of(p->how, d); ++k) {
            float t = x[k] - y[k];
            if (p->how == PERIODIC && k != 1) t -= p->length * rintf(t / p->length);
            sum += t * t, most = fmaxf(most, fabsf(t));
        }
        if (p->how == TOUCHING) limit = x[d - 1] + y[d - 1];
        return p->how == CHEBYSHEV ? most < limit : sum < limit * limit;
    }
    const double *x = (const double *)a, *y = (const double *)b;
    double sum = 0, most = 0, limit = (double)p->radius;
    for (tmap_u32 k = 0; k < axes_of(p->how, d); ++k) {
        double t = x[k] - y[k];
        if (p->how == PERIODIC && k != 1) t -= (double)p->length * rint(t / (double)p->length);
        sum += t * t, most = fmax(most, fabs(t));
    }
    if (p->how == TOUCHING) limit = x[d - 1] + y[d - 1];
    return p->how == CHEBYSHEV ? most < limit : sum < limit * limit;
}

typedef struct accumulator {
    tmap_u64 count, sum; // of pairs; of their hashes
} accumulator;

typedef struct job {
    problem p;
    const void *points, *others; // as the user has them
    void *set, *second;          // prepared
    tmap_u32 *seen;              // how often a pair was visited
    tmap_u64 *wrong;             // visits with other points than the pair's
    int says;                    // what reach says in place of the truth, or 0
    tmap_fold_to to;
    void *result;
    tmap_near_list list;
    tmap_near_graph_to graph;
} job;

// The same for (i, j) and (j, i).
TMAP_FN tmap_u64 hash_of(tmap_u32 i, tmap_u32 j) {
    tmap_u64 h = ((tmap_u64)(i < j ? i : j) + 1) * 0x9e3779b97f4a7c15ull + (i < j ? j : i);
    h ^= h >> 29, h *= 0xbf58476d1ce4e5b9ull;
    return h ^ h >> 32;
}

// Points i and j, of the arrays that were prepared.
static __device__ int right_points(const job *j, tmap_u32 d, tmap_u32 size, tmap_pair pair,
                                   const void *a, const void *b) {
    const unsigned char *first = (const unsigned char *)j->points;
    const unsigned char *second = (const unsigned char *)(j->p.m ? j->others : j->points);
    if (pair.i >= j->p.n || pair.j >= (j->p.m ? j->p.m : j->p.n)) return 0;
    if (!j->p.m && pair.i == pair.j) return 0;
    for (tmap_u32 k = 0; k < d; ++k) {
        const double x = coordinate_of(first + (tmap_u64)pair.i * d * size, size, k);
        const double y = coordinate_of(second + (tmap_u64)pair.j * d * size, size, k);
        if (coordinate_of(a, size, k) != x || coordinate_of(b, size, k) != y) return 0;
    }
    return 1;
}

static __device__ int reach(void *at, const tmap_near_box *a, const tmap_near_box *b) {
    const job *j = (const job *)at;
    const problem *p = &j->p;
    float lengths[TMAP_PAIRS_D_MAX];
    if (j->says) return j->says;
    for (tmap_u32 k = 0; k < p->d; ++k) lengths[k] = k == 1 ? 0 : p->length;
    switch (p->how) {
    case TOUCHING: return tmap_near_touching(a, b, p->d - 1);
    case CHEBYSHEV: return tmap_near_chebyshev(a, b, p->d, p->radius);
    case CELL: return tmap_near_in_cell(a, b, &p->cell, p->radius);
    case PERIODIC: return tmap_near_periodic(a, b, p->d, lengths, p->radius);
    default: return tmap_near_within(a, b, p->d, p->radius);
    }
}

// Only counts know what to do with a box.
static __device__ void bulk(void *, void *sum, const tmap_near_box *a, const tmap_near_box *b) {
    ((accumulator *)sum)->count += (tmap_u64)a->count * b->count;
}

static __device__ void visit(void *at, void *, tmap_pair pair, const void *a, const void *b) {
    const job *j = (const job *)at;
    if (!right_points(j, j->p.d, j->p.size, pair, a, b))
        atomicAdd(j->wrong, 1ull);
    else
        atomicAdd(j->seen + (tmap_u64)pair.i * (j->p.m ? j->p.m : j->p.n) + pair.j, 1u);
}
static __device__ void add(void *at, void *sum, tmap_pair pair, const void *a, const void *b) {
    const job *j = (const job *)at;
    if (!is_near(&j->p, j->p.d, j->p.size, a, b)) return;
    ((accumulator *)sum)->count += 1, ((accumulator *)sum)->sum += hash_of(pair.i, pair.j);
}
static __device__ void give(void *at, tmap_pair pair, const void *a, const void *b, void *to_i,
                            void *to_j) {
    const job *j = (const job *)at;
    if (!right_points(j, j->p.d, j->p.size, pair, a, b)) atomicAdd(j->wrong, 1ull);
    if (!is_near(&j->p, j->p.d, j->p.size, a, b)) return;
    ((accumulator *)to_i)->count += 1, ((accumulator *)to_i)->sum += hash_of(pair.j, pair.j);
    ((accumulator *)to_j)->count += 1, ((accumulator *)to_j)->sum += hash_of(pair.i, pair.i);
}
static __device__ int choose(void *at, tmap_pair pair, const void *a, const void *b, void *value) {
    const job *j = (const job *)at;
    *(tmap_u32 *)value = (tmap_u32)hash_of(pair.i, pair.j);
    return is_near(&j->p, j->p.d, j->p.size, a, b) * 5; // any number but 0 is a yes
}
static __device__ void join(void *, void *sum, const void *other) {
    ((accumulator *)sum)->count += ((const accumulator *)other)->count;
    ((accumulator *)sum)->sum += ((const accumulator *)other)->sum;
}

static __device__ int never(void *, const tmap_near_box *, const tmap_near_box *) {
    return TMAP_NEAR_NONE;
}
static __device__ void nothing(void *, void *, tmap_pair, const void *, const void *) {}

#define KERNELS_OF(K) K(3, float) K(2, double) K(1, float) K(8, float) K(5, double)
#define KERNEL(name, D, type, call) \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        name##_##D##_##type(tmap_near_plan plan, job j) { \
        const tmap_near points = {{j.set, j.second, sizeof(type), D}, reach, 0}; \
        const accumulator zero = {0, 0}; \
        const tmap_fold fold = {&zero, sizeof zero, join}; \
        (void)fold, j.p.d = D, j.p.size = sizeof(type); \
        call; \
    }
#define ONCE \
    { choose, 4, 4, 0 }
#define BOTH \
    { choose, 0, 8, 1 }
#define WITH const tmap_near_choice how =
#define LIST tmap_near_select(&plan, points, how, &j.list, &j)
#define GRAPH \
    { choose, 4, 4, 1 }
#define CONNECT tmap_near_connect(&plan, points, how, &j.graph, &j)
#define BULK    tmap_near counts = points
#define KERNELS(D, type) \
    KERNEL(each, D, type, tmap_near_each(&plan, points, visit, &j); tmap_near none = points; \
           none.reach = never; tmap_near_each(&plan, none, nothing, &j)) \
    KERNEL(fold, D, type, tmap_near_fold(&plan, points, add, fold, j.to, &j)) \
    KERNEL(bulk, D, type, BULK; counts.bulk = bulk; \
           tmap_near_fold(&plan, counts, add, fold, j.to, &j)) \
    KERNEL(rows, D, type, tmap_near_rows(&plan, points, give, fold, j.result, &j)) \
    KERNEL(once, D, type, WITH ONCE; LIST) \
    KERNEL(both, D, type, WITH BOTH; LIST) \
    KERNEL(graph, D, type, WITH GRAPH; CONNECT) \
    KERNEL(bare, D, type, WITH BOTH; CONNECT)
KERNELS_OF(KERNELS)
#define NAME(name, D, type) (const void *)name##_##D##_##type
#define NAMES(D, type) \
    {D, \
     sizeof(type), \
     NAME(each, D, type), \
     NAME(fold, D, type), \
     NAME(bulk, D, type), \
     NAME(rows, D, type), \
     {NAME(once, D, type), NAME(both, D, type)}, \
     {NAME(graph, D, type), NAME(bare, D, type)}},
static const struct kernels {
    tmap_u32 d, size;
    const void *each, *fold, *bulk, *rows, *list[2], *graph[2];
} kernels[] = {KERNELS_OF(NAMES)};

// The largest accumulator: the same, and the count once more in its last word.
typedef struct wide {
    accumulator of;
    tmap_u32 rest[60];
} wide;
static __device__ void give_wide(void *at, tmap_pair pair, const void *a, const void *b, void *to_i,
                                 void *to_j) {
    const tmap_u64 before = ((wide *)to_i)->of.count;
    give(at, pair, a, b, to_i, to_j);
    ((wide *)to_i)->rest[59] += (tmap_u32)(((wide *)to_i)->of.count - before);
}
static __device__ void join_wide(void *at, void *sum, const void *other) {
    join(at, sum, other);
    ((wide *)sum)->rest[59] += ((const wide *)other)->rest[59];
}
static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) rows_wide(tmap_near_plan plan, job j) {
    const tmap_near points = {{j.set, j.second, sizeof(float), 3}, reach, 0};
    const wide zero = {{0, 0}, {0}};
    const tmap_fold fold = {&zero, sizeof zero, join_wide};
    j.p.d = 3, j.p.size = sizeof(float);
    tmap_near_rows(&plan, points, give_wide, fold, j.result, &j);
}

// ---- boxes --------------------------------------------------------------------------------------

// The bounds of each box are those of its points: of the leaves by reading the set's own points.
static void check_set(tmap_near_shape shape, const void *set, tmap_u32 valid) {
    const tmap_u64 bytes = tmap_near_set_bytes(shape);
    const tmapi_near_layout l = tmapi_near_layout_of(shape);
    const unsigned char *host = (const unsigned char *)kit_to_host(set, bytes);
    tmap_u64 wrong = 0, total[3] = {0, 0, 0};
    for (tmap_u32 level = 0; level < 3; ++level)
        for (tmap_u32 b = 0; b < 32 * tmapi_near_groups(shape.n, level); ++b) {
            const float *box = (const float *)(host + l.boxes +
                                               (l.level[level] + b / 32) *
                                                   (tmap_u64)tmapi_near_group_bytes(shape.d)) +
                               b % 32;
            const tmap_u32 count = ((const tmap_u32 *)box)[64 * shape.d], span = 1u << 5 * level;
            tmap_u32 found = 0;
            total[level] += count;
            for (tmap_u32 leaf = b * span; leaf < (b + 1) * span; ++leaf) {
                if (leaf >= tmapi_near_leaves(shape.n)) break;
                const tmap_u32 in =
                    ((const tmap_u32 *)(host + l.boxes +
                                        leaf / 32 *
                                            (tmap_u64)tmapi_near_group_bytes(
                                                shape.d)))[64 * shape.d + leaf % 32];
                for (tmap_u32 s = 0; s < in; ++s, ++found)
                    for (tmap_u32 k = 0; k < shape.d; ++k) {
                        const double v = coordinate_of(
                            host + (tmap_u64)leaf * tmapi_near_leaf_bytes(shape.d, shape.size),
                            shape.size, k * 32 + s);
                        wrong += !((double)box[64 * k] <= v && v <= (double)box[64 * k + 32]);
                    }
            }
            wrong += found != count;
        }
    expect(wrong == 0, "bounds of boxes");
    expect(total[0] == valid && total[1] == valid && total[2] == valid, "points of boxes");
}

// ---- one problem --------------------------------------------------------------------------------

typedef struct truth {
    tmap_u64 pairs, sum;
    accumulator *rows;
    unsigned char *want; // n x m
} truth;

static truth truth_of(const problem *p, const unsigned char *a, const unsigned char *b) {
    const tmap_u32 m = p->m ? p->m : p->n, bytes = p->d * p->size;
    truth t = {0, 0, (accumulator *)kit_zeroed((p->n + 1) * sizeof *t.rows),
               (unsigned char *)kit_zeroed((tmap_u64)p->n * m + 1)};
    for (tmap_u32 i = 0; i < p->n; ++i)
        for (tmap_u32 j = 0; j < m; ++j) {
            if ((!p->m && i == j) || !is_finite(shape_of(p), a, i) || !is_finite(shape_of(p), b, j))
                continue;
            if (!is_near(p, p->d, p->size, a + (tmap_u64)i * bytes, b + (tmap_u64)j * bytes))
                continue;
            t.want[(tmap_u64)i * m + j] = 1;
            t.rows[i].count += 1, t.rows[i].sum += hash_of(j, j);
            if (p->m || i < j) t.pairs += 1, t.sum += hash_of(i, j);
        }
    return t;
}

static tmap_near_plan plan_of(const problem *p, const void *kernel, int rows) {
    const tmap_near_shape shape = {p->n, p->d, p->size};
    tmap_near_plan plan;
    if (rows)
        CHECK(tmap_near_rows_plan_make(shape, sizeof(accumulator), kernel, &plan));
    else
        CHECK(tmap_near_plan_make(shape, kernel, &plan));
    if (p->m) CHECK(tmap_near_plan_others(&plan, p->m));
    return plan;
}

// Launches a fold twice with one workspace, which must be left as it was found.
static accumulator folded(const tmap_near_plan *plan, job j) {
    const tmap_u64 clear = tmap_near_fold_clear(plan);
    accumulator result;
    j.to.workspace = kit_guarded(tmap_near_fold_bytes(plan, sizeof result));
    j.to.result = kit_guarded(sizeof result);
    CHECK(cudaMemset(j.to.workspace, 0, clear));
    for (int again = 0; again < 2; ++again) {
        CHECK(cudaMemset(j.to.result, KIT_POISON, sizeof result));
        CHECK(tmap_near_launch(plan, &j, 0));
    }
    expect(kit_device_all(j.to.workspace, clear, 0), "the workspace is cleared");
    CHECK(cudaMemcpy(&result, j.to.result, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

// Any number of parts of a plan, one behind the other.
static tmap_near_plan part_of(const tmap_near_plan *plan, tmap_u64 *state, tmap_u64 *first,
                              int last) {
    const tmap_u64 left = plan->items - *first;
    const tmap_u64 count = last ? left : kit_random(state) % (left + 1);
    tmap_near_plan part = *plan;
    CHECK(tmap_near_plan_share(&part, *first, count));
    if (kit_random(state) % 2) part.grid = 1 + (tmap_u32)(kit_random(state) % 5);
    *first += count;
    return part;
}

static void run_fold(const problem *p, const void *kernel, job j, const truth *t, int bulk,
                     tmap_u64 *state) {
    const tmap_near_plan plan = plan_of(p, kernel, 0);
    accumulator whole = folded(&plan, j), sum = {0, 0};
    tmap_u64 first = 0;
    expect(whole.count == t->pairs, bulk ? "the count, in bulk" : "the count");
    if (!bulk) expect(whole.sum == t->sum, "the sum");
    for (int part = 0; part < 3; ++part) {
        const tmap_near_plan some = part_of(&plan, state, &first, part == 2);
        whole = folded(&some, j), sum.count += whole.count, sum.sum += whole.sum;
    }
    expect(sum.count == t->pairs && (bulk || sum.sum == t->sum), "the sum of shares");
}

static void run_each(const problem *p, const void *kernel, job j, const truth *t, tmap_u64 *state) {
    const tmap_near_plan plan = plan_of(p, kernel, 0);
    const tmap_u32 m = p->m ? p->m : p->n;
    tmap_u64 first = 0, missed = 0, twice = 0;
    j.seen = (tmap_u32 *)kit_filled((tmap_u64)p->n * m * 4, 0);
    for (int part = 0; part < 2; ++part) {
        const tmap_near_plan some = part_of(&plan, state, &first, part);
        CHECK(tmap_near_launch(&some, &j, 0));
    }
    const tmap_u32 *seen = (const tmap_u32 *)kit_to_host(j.seen, (tmap_u64)p->n * m * 4);
    for (tmap_u32 i = 0; i < p->n; ++i)
        for (tmap_u32 k = p->m ? 0 : i + 1; k < m; ++k) {
            const tmap_u64 here = (tmap_u64)i * m + k, there = (tmap_u64)k * m + i;
            const tmap_u32 times = seen[here] + (p->m ? 0 : seen[there]);
            missed += t->want[here] && !times, twice += times > 1;
        }
    expect(missed == 0, "near pairs that were not visited");
    expect(twice == 0, "pairs that were visited more than once");
}

static void run_rows(const problem *p, const void *kernel, job j, const truth *t, tmap_u64 *state) {
    const tmap_near_plan plan = plan_of(p, kernel, 1);
    const tmap_u64 bytes = p->n * sizeof(accumulator);
    tmap_u64 first = 0;
    j.result = kit_guarded(bytes);
    for (int part = 0; part < 3; ++part) {
        const tmap_near_plan some = part_of(&plan, state, &first, part == 2);
        CHECK(tmap_near_launch(&some, &j, 0));
    }
    expect(memcmp(kit_to_host(j.result, bytes), t->rows, bytes) == 0, "rows");
}

static void run_wide(const problem *p, job j, const truth *t) {
    const tmap_u64 bytes = p->n * sizeof(wide);
    tmap_near_plan plan;
    tmap_u64 wrong = 0;
    CHECK(tmap_near_rows_plan_make(shape_of(p), sizeof(wide), (const void *)rows_wide, &plan));
    if (p->m) CHECK(tmap_near_plan_others(&plan, p->m));
    j.result = kit_guarded(bytes);
    CHECK(tmap_near_launch(&plan, &j, 0));
    const wide *got = (const wide *)kit_to_host(j.result, bytes);
    for (tmap_u32 i = 0; i < p->n; ++i)
        wrong += memcmp(&got[i].of, &t->rows[i], sizeof *t->rows) != 0 ||
                 got[i].rest[59] != (tmap_u32)t->rows[i].count || got[i].rest[0] != 0;
    expect(wrong == 0, "rows of 256 bytes");
}

static tmap_u64 number_at(const void *numbers, tmap_u32 bytes, tmap_u64 at) {
    return bytes == 8 ? ((const tmap_u64 *)numbers)[at] : ((const tmap_u32 *)numbers)[at];
}

static void run_list(const problem *p, const void *kernel, job j, const truth *t, int both,
                     tmap_u64 *state) {
    const tmap_near_plan plan = plan_of(p, kernel, 0);
    const tmap_u64 all = t->pairs * (both && !p->m ? 2 : 1), bytes = tmap_near_select_bytes(&plan);
    const tmap_u64 capacities[] = {all + 3, all ? all - 1 : 0, 0};
    const tmap_u32 m = p->m ? p->m : p->n, number = both ? 8 : 4;
    unsigned char *seen = (unsigned char *)kit_host((tmap_u64)p->n * m + 1);
    const void *whole[2] = {NULL, NULL};
    j.list.workspace = kit_filled(bytes, 0);
    j.list.count = (tmap_u64 *)kit_guarded(8);
    for (int c = 0; c < 3; ++c) {
        const tmap_u64 capacity = capacities[c], written = all < capacity ? all : capacity;
        const void *list[2], *values;
        tmap_near_plan some = plan;
        tmap_u64 wrong = 0;
        if (c) some.grid = 1 + (tmap_u32)(kit_random(state) % 4);
        j.list.capacity = capacity;
        j.list.i = kit_guarded(capacity * number), j.list.j = kit_guarded(capacity * number);
        j.list.values = kit_guarded(capacity * 4);
        CHECK(tmap_near_select_launch(&some, &j.list, number, &j, 0));
        expect(kit_number(j.list.count) == all, "the count of a list");
        expect(kit_device_all(j.list.workspace, bytes, 0), "the workspace of a list");
        list[0] = kit_to_host(j.list.i, capacity * number);
        list[1] = kit_to_host(j.list.j, capacity * number);
        values = kit_to_host(j.list.values, capacity * 4);
        memcpy(seen, t->want, (size_t)p->n * m);
        for (tmap_u64 e = 0; e < written; ++e) {
            const tmap_u64 i = number_at(list[0], number, e), k = number_at(list[1], number, e);
            if (i >= p->n || k >= m || (!both && !p->m && i >= k) || seen[i * m + k] != 1) {
                ++wrong;
                continue;
            }
            seen[i * m + k] = 2;
            if (!both)
                wrong +=
                    ((const tmap_u32 *)values)[e] != (tmap_u32)hash_of((tmap_u32)i, (tmap_u32)k);
        }
        expect(wrong == 0, "pairs or values of a list");
        expect(kit_all((const char *)list[0] + written * number, (capacity - written) * number,
                       KIT_POISON),
               "behind a list");
        if (c == 0) whole[0] = list[0], whole[1] = list[1];
        expect(memcmp(list[0], whole[0], written * number) == 0 &&
                   memcmp(list[1], whole[1], written * number) == 0,
               "the order of a list");
    }
}

// bare: 8 bytes a column, no values.
static void run_graph(const problem *p, const void *kernel, job j, const truth *t, int bare,
                      tmap_u64 *state) {
    const tmap_u64 all = p->m ? t->pairs : 2 * t->pairs,
                   capacities[] = {all + 3, all ? all - 1 : 0, 0};
    const tmap_u32 m = p->m ? p->m : p->n;
    tmap_near_plan plan;
    CHECK(tmap_near_graph_plan_make(shape_of(p), kernel, &plan));
    if (p->m) CHECK(tmap_near_plan_others(&plan, p->m));
    j.graph.number = bare ? 8 : 4, j.graph.bytes = bare ? 0 : 4;
    j.graph.starts = (tmap_u64 *)kit_guarded((p->n + 1) * 8ull);
    j.graph.workspace = kit_guarded(tmap_near_graph_bytes(&plan));
    for (int c = 0; c < 3; ++c) {
        const tmap_u64 room = capacities[c] * j.graph.number, values = capacities[c] * 4;
        tmap_u64 at = 0, written = 0, wrong[2] = {0, 0};
        if (c) plan.grid = 1 + (tmap_u32)(kit_random(state) % 4);
        j.graph.capacity = capacities[c];
        j.graph.columns = kit_guarded(room), j.graph.values = kit_guarded(values);
        CHECK(tmap_near_graph(&plan, &j, &j.graph, 0));
        const tmap_u64 *starts = (const tmap_u64 *)kit_to_host(j.graph.starts, (p->n + 1) * 8ull);
        const void *columns = kit_to_host(j.graph.columns, room);
        const tmap_u32 *value = (const tmap_u32 *)kit_to_host(j.graph.values, values);
        for (tmap_u32 i = 0; i < p->n; ++i) {
            wrong[0] += starts[i] != at;
            const tmap_u64 end = at + t->rows[i].count;
            for (tmap_u32 k = 0; k < m; ++k) {
                if (!t->want[(tmap_u64)i * m + k]) continue;
                if (end <= capacities[c]) {
                    wrong[1] += number_at(columns, j.graph.number, at) != k;
                    wrong[1] += !bare && value[at] != (tmap_u32)hash_of(i, k);
                    written = end;
                }
                ++at;
            }
        }
        expect(wrong[0] == 0 && starts[p->n] == all, "starts of rows");
        expect(wrong[1] == 0, "columns and values of rows");
        expect(kit_all((const char *)columns + written * j.graph.number,
                       room - written * j.graph.number, KIT_POISON),
               "behind the rows");
    }
}

static void run_of(tmap_u64 *state, tmap_u32 n, tmap_u32 m, const struct kernels *k, int how) {
    static const double vectors[9] = {0.875, 0, 0, 0.25, 0.75, 0, -0.3125, 0.25, 0.625};
    problem p;
    const int kind = (int)(kit_random(state) % KINDS), turn = check_turn();
    const float wide[] = {0, 0.01f, 0.0625f, 0.2f, 0.6f, 3};
    memset(&p, 0, sizeof p);
    p.n = n, p.m = m, p.d = k->d, p.size = k->size, p.how = how;
    if (tmap_image_make_f32(vectors, &p.cell)) expect(0, "the cell");
    p.radius = wide[kit_random(state) % COUNT(wide)], p.length = 0.875f;
    if (p.how == TOUCHING && p.d == 1) p.how = WITHIN;
    if (p.how == CELL && (p.d != 3 || p.size != 4)) p.how = WITHIN;
    if (p.how == PERIODIC && p.radius > 0.4375f) p.radius = 0.3f;
    if (!turn) return;
    kit_case("n = %u, m = %u, d = %u, %u bytes, how %d, radius %g, points %d", n, m, p.d, p.size,
             p.how, (double)p.radius, kind);
    const tmap_near_shape shape = {n, p.d, p.size}, second = {m, p.d, p.size};
    const double widest = p.how == TOUCHING ? (double)p.radius / 2 : 0;
    unsigned char *a = (unsigned char *)points_of(state, shape, kind, widest), *b = a;
    job j;
    memset(&j, 0, sizeof j);
    j.p = p, j.points = kit_to_device(a, (tmap_u64)n * p.d * p.size);
    j.set = prepared(shape, j.points, order_of(state, shape, a));
    if (m) {
        b = (unsigned char *)points_of(state, second, (int)(kit_random(state) % KINDS), widest);
        j.others = kit_to_device(b, (tmap_u64)m * p.d * p.size);
        j.second = prepared(second, j.others, order_of(state, second, b));
    }
    tmap_u32 valid = 0;
    for (tmap_u32 i = 0; i < n; ++i) valid += (tmap_u32)is_finite(shape, a, i);
    check_set(shape, j.set, valid);
    const truth t = truth_of(&p, a, b);
    j.wrong = (tmap_u64 *)kit_filled(8, 0);
    run_each(&p, k->each, j, &t, state);
    run_fold(&p, k->fold, j, &t, 0, state);
    run_fold(&p, k->bulk, j, &t, 1, state);
    run_rows(&p, k->rows, j, &t, state);
    if (p.d == 3 && p.size == 4) run_wide(&p, j, &t);
    run_list(&p, k->list[0], j, &t, 0, state);
    run_list(&p, k->list[1], j, &t, 1, state);
    run_graph(&p, k->graph[0], j, &t, 0, state);
    run_graph(&p, k->graph[1], j, &t, 1, state);
    j.says = TMAP_NEAR_SOME; // always right
    run_fold(&p, k->fold, j, &t, 0, state);
    j.says = TMAP_NEAR_ALL; // without bulk, the function for a pair still decides
    run_fold(&p, k->fold, j, &t, 0, state);
    expect(kit_number(j.wrong) == 0, "visits with other points");
    kit_release(0);
}

static void run(tmap_u64 *state, tmap_u32 n, tmap_u32 m) {
    const struct kernels *k = &kernels[kit_random(state) % COUNT(kernels)];
    run_of(state, n, m, k, (int)(kit_random(state) % HOWS));
}

// ---- what must be refused -----------------------------------------------------------------------

static void run_refused(void) {
    const tmap_near_shape good = {100, 3, 4},
                          shapes[] = {{100, 0, 4}, {100, 9, 4}, {100, 3, 2}, {0x80000001u, 3, 4}};
    const void *kernel = kernels[0].fold;
    void *memory = kit_guarded(tmap_near_set_bytes(good) + 256);
    tmap_near_plan plan, none;
    job j;
    memset(&j, 0, sizeof j), memset(&none, 0, sizeof none);
    kit_case("refused");
    for (size_t i = 0; i < COUNT(shapes); ++i) {
        REFUSED(tmap_near_plan_make(shapes[i], kernel, &plan));
        REFUSED(tmap_near_prepare(shapes[i], memory, 0, memory, 0));
    }
    REFUSED(tmap_near_plan_make(good, kernel, NULL));
    REFUSED(tmap_near_rows_plan_make(good, 6, kernel, &plan));
    REFUSED(tmap_near_rows_plan_make(good, TMAP_PAIRS_ROWS_BYTES_MAX + 4, kernel, &plan));
    REFUSED(tmap_near_prepare(good, NULL, 0, memory, 0));
    REFUSED(tmap_near_prepare(good, memory, 0, NULL, 0));
    REFUSED(tmap_near_prepare(good, (char *)memory + 2, 0, memory, 0));
    REFUSED(tmap_near_prepare(good, memory, 0, (char *)memory + 64, 0));
    REFUSED(tmap_near_prepare(good, memory, (tmap_u32 *)((char *)memory + 1), memory, 0));
    CHECK(tmap_near_plan_make(good, kernel, &plan));
    const tmap_near_plan before = plan;
    REFUSED(tmap_near_plan_share(&plan, plan.items, 1));
    REFUSED(tmap_near_plan_share(&plan, ~0ull, 2));
    REFUSED(tmap_near_plan_others(&plan, 0x80000001u));
    REFUSED(tmap_near_plan_others(&none, 5));
    REFUSED(tmap_near_plan_others(NULL, 5));
    REFUSED(tmap_near_launch(&none, &j, 0));
    REFUSED(tmap_near_launch(&plan, NULL, 0));
    HOLDS(memcmp(&before, &plan, sizeof plan) == 0);
    tmap_near_list list = {memory, memory, 0, 4, (tmap_u64 *)memory, memory};
    const tmap_near_list fine = list;
    list.count = 0;
    REFUSED(tmap_near_select_launch(&plan, &list, 4, &j, 0));
    list = fine, list.workspace = (char *)memory + 4;
    REFUSED(tmap_near_select_launch(&plan, &list, 4, &j, 0));
    list = fine, list.j = 0;
    REFUSED(tmap_near_select_launch(&plan, &list, 4, &j, 0));
    list = fine, list.i = (char *)memory + 4;
    REFUSED(tmap_near_select_launch(&plan, &list, 8, &j, 0));
    REFUSED(tmap_near_select_launch(&plan, &fine, 2, &j, 0));
    REFUSED(tmap_near_select_launch(&none, &fine, 4, &j, 0));
    kit_case("how few points are for all pairs");
    HOLDS(tmap_near_least_points(TMAP_NEAR_KIND_EACH, 0) == 16384);
    HOLDS(tmap_near_least_points(TMAP_NEAR_KIND_EACH, 1) == 8192);
    HOLDS(tmap_near_least_points(TMAP_NEAR_KIND_ROWS, 0) == 8192);
    for (tmap_u32 kind = 0; kind < 10; ++kind)
        if (kind != TMAP_NEAR_KIND_EACH) expect(tmap_near_least_points(kind, 1) == 0, "none");
    kit_release(0);
}

// An order with numbers that no point has: those places are empty.
static void run_bad_order(void) {
    const tmap_near_shape shape = {40, 3, 4};
    float points[40][3];
    tmap_u32 order[40];
    job j;
    kit_case("an order with numbers of no point");
    memset(&j, 0, sizeof j), memset(points, 0, sizeof points);
    for (tmap_u32 i = 0; i < 40; ++i) order[i] = i % 4 == 1 ? 40 + i : i;
    j.p.n = 40, j.p.d = 3, j.p.size = 4, j.p.radius = 1;
    j.points = kit_to_device(points, sizeof points);
    j.set = prepared(shape, j.points, (tmap_u32 *)kit_to_device(order, sizeof order));
    j.wrong = (tmap_u64 *)kit_filled(8, 0), j.result = kit_guarded(40 * sizeof(accumulator));
    const tmap_near_plan plan = plan_of(&j.p, kernels[0].fold, 0);
    const tmap_near_plan rows = plan_of(&j.p, kernels[0].rows, 1);
    expect(folded(&plan, j).count == 30 * 29 / 2, "the count");
    CHECK(tmap_near_launch(&rows, &j, 0));
    const accumulator *got = (const accumulator *)kit_to_host(j.result, 40 * sizeof(accumulator));
    for (tmap_u32 i = 0; i < 40; ++i)
        expect(i % 4 == 1 ? kit_all(&got[i], sizeof *got, KIT_POISON) : got[i].count == 29, "rows");
    expect(kit_number(j.wrong) == 0, "visits with other points");
    kit_release(0);
}

// Points of a line, each 1 from the next: enough of them for several boxes of the highest level.
static void run_long(tmap_u32 n) {
    const tmap_near_shape shape = {n, 1, 4};
    float *points = (float *)kit_host(n * 4ull);
    job j;
    kit_case("%u points of a line", n);
    memset(&j, 0, sizeof j);
    for (tmap_u32 i = 0; i < n; ++i) points[i] = (float)i;
    j.p.n = n, j.p.d = 1, j.p.size = 4, j.p.radius = 2.5f;
    j.points = kit_to_device(points, n * 4ull), j.set = prepared(shape, j.points, NULL);
    check_set(shape, j.set, n);
    const tmap_near_plan plan = plan_of(&j.p, kernels[2].fold, 0);
    const tmap_near_plan bulk = plan_of(&j.p, kernels[2].bulk, 0);
    expect(folded(&plan, j).count == 2ull * n - 3, "the count");
    expect(folded(&bulk, j).count == 2ull * n - 3, "the count, in bulk");
    j.says = TMAP_NEAR_ALL;
    expect(folded(&bulk, j).count > n / 2 * (n - 32ull), "the count of whole boxes");
    kit_release(0);
}

int main(void) {
    static const tmap_u32 some[] = {1023, 1024, 1025, 1500, 2100};
    tmap_u64 state = 12345;
    kit_begin();
    for (tmap_u32 n = 0; n <= 300; n += n < 70 ? 1 : kit_full ? 1 : 13) {
        run(&state, n, 0);
        run(&state, n, (tmap_u32)(kit_random(&state) % 150));
    }
    for (size_t i = 0; i < COUNT(some) - (kit_small ? 3u : 0u); ++i)
        run(&state, some[i], i % 2 * 700);
    for (int i = 0; i < (kit_full ? 300 : 20); ++i)
        run(&state, (tmap_u32)(kit_random(&state) % 400), (tmap_u32)(kit_random(&state) % 2 * 333));
    for (int i = 0; i < (kit_full ? 100 : 25); ++i) // 3 floats
        run_of(&state, (tmap_u32)(kit_random(&state) % 250), 0, &kernels[0], CELL);
    for (size_t i = 0; i < COUNT(kernels); ++i) // rows of several ranges of numbers
        run_of(&state, 1300 + 100 * (tmap_u32)i, 0, &kernels[i], WITHIN);
    run_of(&state, 4200, 0, &kernels[0], WITHIN); // shared by all warps of a block
    if (check_turn()) run_long(70000);
    run_refused();
    run_bad_order();
    return kit_end("test_near");
}
