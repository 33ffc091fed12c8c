// SPDX-License-Identifier: MIT
// bench_near: work on the pairs of points within a radius: their count, their list, and a force on each
// point, by the engine of near pairs, from unsorted points on (near) and on a prepared set; beside the
// list of cells and the engine for all pairs.
//
// Every result is compared, before it is timed, with that of all pairs by a thread for each point.
#include "cell_list.h"

#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_rows.h>
#include <threadmap/triangle/near_select.h>
#include <threadmap/triangle/near_sort.h>

enum { COUNT_WORK, LIST_WORK, ROWS_WORK, WORKS };
static const char *const works[WORKS] = {"count", "list", "rows"};

// near: order, preparation and work; near_visits: without `bulk`.
enum { NEAR, NEAR_PREPARED, NEAR_VISITS, CELL_LIST, PAIRS, VARIANTS };
static const char *const variants[VARIANTS] = {"near", "near_prepared", "near_visits", "cell_list",
                                               "pairs"};

enum { UNIFORM, CLUSTERS, SHELL, LINE, DOMAINS };
static const char *const domains[DOMAINS] = {"uniform", "clusters", "shell", "line"};

enum { CELLS_A_SIDE = 256 };

// ---- the user's kernels -------------------------------------------------------------------------

typedef struct near_job {
    void *set;
    float radius, minus_r2;
    tmap_fold_to to;
    tmap_near_list list;
    float4 *rows;
} near_job;

TMAP_DEVICE int near_reach(void *job, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_within(a, b, 3, ((const near_job *)job)->radius);
}

TMAP_DEVICE void near_add(void *job, void *sum, tmap_pair, const void *a, const void *b) {
    ((pairs_counts *)sum)->part +=
        pairs_near((const float *)a, (const float *)b, ((const near_job *)job)->minus_r2);
}
TMAP_DEVICE void near_bulk(void *, void *sum, const tmap_near_box *a, const tmap_near_box *b) {
    ((pairs_counts *)sum)->sum += (tmap_u64)a->count * b->count;
}
#define NEAR_COUNT(name, bulk) \
    static __global__ void __launch_bounds__(TMAP_NEAR_THREADS) \
        name(tmap_near_plan plan, near_job j) { \
        const tmap_near points = {{j.set, 0, sizeof(float), 3}, near_reach, bulk}; \
        const pairs_counts zero = {0, 0, 0}; \
        const tmap_fold count = {&zero, sizeof zero, pairs_count_join}; \
        tmap_near_fold(&plan, points, near_add, count, j.to, &j); \
    }
NEAR_COUNT(near_count, near_bulk)
NEAR_COUNT(near_count_visits, 0)

TMAP_DEVICE int near_choose(void *job, tmap_pair, const void *a, const void *b, void *) {
    return pairs_near((const float *)a, (const float *)b, ((const near_job *)job)->minus_r2) != 0;
}
static __global__ void __launch_bounds__(TMAP_NEAR_THREADS)
    near_list(tmap_near_plan plan, near_job j) {
    const tmap_near points = {{j.set, 0, sizeof(float), 3}, near_reach, 0};
    const tmap_near_choice once = {near_choose, 0, 4, 0};
    tmap_near_select(&plan, points, once, &j.list, &j);
}

// The force of b on a: that of Lennard and Jones with the radius as length, kept finite where points
// are close. w: the energy.
TMAP_DEVICE float4 near_force(const float *a, const float *b, float minus_r2) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    const float s = 1 / (0.5f - (x * x + y * y + z * z) / minus_r2), s3 = s * s * s;
    const float times = s * s3 * (2 * s3 - 1);
    return make_float4(times * x, times * y, times * z, s3 * (s3 - 1));
}
TMAP_DEVICE void near_pull(float4 *sum, float4 f) {
    sum->x += f.x, sum->y += f.y, sum->z += f.z, sum->w += f.w;
}
TMAP_DEVICE void near_give(void *job, tmap_pair, const void *a, const void *b, void *to, void *) {
    const float *u = (const float *)a, *v = (const float *)b;
    const float minus_r2 = ((const near_job *)job)->minus_r2;
    if (pairs_near(u, v, minus_r2)) near_pull((float4 *)to, near_force(u, v, minus_r2));
}
TMAP_DEVICE void near_join(void *, void *sum, const void *other) {
    near_pull((float4 *)sum, *(const float4 *)other);
}
static __global__ void __launch_bounds__(TMAP_NEAR_THREADS)
    near_rows(tmap_near_plan plan, near_job j) {
    const tmap_near points = {{j.set, 0, sizeof(float), 3}, near_reach, 0};
    const float4 zero = {0, 0, 0, 0};
    const tmap_fold sum = {&zero, sizeof zero, near_join};
    tmap_near_rows(&plan, points, near_give, sum, j.rows, &j);
}

// ---- points and their order ---------------------------------------------------------------------

typedef struct near_sweep {
    bench_driver d;
    bench_numbers sizes, radii;
    tmap_u64 room, all, bits; // pairs of a list, points of all pairs, at most; bits of keys
    tmap_u32 n;
    int domain;
    float *points;
    tmap_near_sort_plan sort;
    tmap_u32 *order;
    void *workspace; // of the sort
    near_job j;
    tmap_near_plan plan;
    cell_list cells;
    pairs_job pairs;
    tmap_pairs_plan pairs_plan;
    tmap_u64 *truth; // pairs within the radius, the sum of their hashes, what is wrong
} near_sweep;

static double near_uniform(tmap_u64 *state) { return (double)(kit_random(state) >> 11) * 0x1p-53; }
static double near_normal(tmap_u64 *state) {
    const double u = 1 - near_uniform(state), v = near_uniform(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

// Points of the unit cube. CLUSTERS: 30 of equal numbers, normal, with standard deviations from 0.002
// to 0.1, each coordinate modulo 1. SHELL: a sphere of radius 0.45, 0.01 thick. LINE: along x.
static void near_points(const near_sweep *s, float *points) {
    tmap_u64 state = 7;
    double centre[30][4];
    for (int k = 0; k < 30; ++k)
        for (int i = 0; i < 4; ++i) centre[k][i] = near_uniform(&state);
    for (tmap_u32 i = 0; i < s->n; ++i, points += 3) {
        const double *c = centre[kit_below(&state, 30)], wide = 0.002 * pow(50, c[3]);
        double v[3], scale = 1;
        for (int k = 0; k < 3; ++k)
            v[k] = s->domain == UNIFORM || s->domain == LINE ? near_uniform(&state)
                                                             : near_normal(&state);
        if (s->domain == SHELL)
            scale = (0.45 + 0.01 * near_uniform(&state)) /
                    sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int k = 0; k < 3; ++k) {
            if (s->domain == CLUSTERS) v[k] = c[k] + wide * v[k], v[k] -= floor(v[k]);
            if (s->domain == SHELL) v[k] = 0.5 + scale * v[k];
            if (s->domain == LINE && k) v[k] = 0.5;
            points[k] = fminf((float)v[k], 0x1.fffffep-1f);
        }
    }
}

static tmap_near_shape near_shape(const near_sweep *s) {
    const tmap_near_shape shape = {s->n, 3, sizeof(float)};
    return shape;
}
static void near_prepare(near_sweep *s) {
    CHECK(tmap_near_sort(&s->sort, s->points, s->workspace, s->order, 0));
    CHECK(tmap_near_prepare(near_shape(s), s->points, s->order, s->j.set, 0));
}

// ---- what is timed ------------------------------------------------------------------------------

static void near_run_prepared(void *context) {
    const near_sweep *s = (const near_sweep *)context;
    CHECK(tmap_near_launch(&s->plan, &s->j, 0));
}
static void near_run_all(void *context) {
    near_prepare((near_sweep *)context);
    near_run_prepared(context);
}
static void near_run_cells(void *context) { cell_list_run(&((near_sweep *)context)->cells); }
static void near_run_pairs(void *context) {
    const near_sweep *s = (const near_sweep *)context;
    CHECK(tmap_pairs_launch(&s->pairs_plan, &s->pairs, 0));
}
static const bench_body bodies[VARIANTS] = {near_run_all, near_run_prepared, near_run_prepared,
                                            near_run_cells, near_run_pairs};

// ---- verification -------------------------------------------------------------------------------

TMAP_DEVICE void near_tell(tmap_u64 *to, tmap_u64 hits, tmap_u64 hash) {
    if (hits) atomicAdd(to, hits), atomicAdd(to + 1, hash);
}
// All pairs, a thread for each point.
static __global__ void near_truth(tmap_u32 n, const float *points, float minus_r2, tmap_u64 *to) {
    tmap_u64 hits = 0, hash = 0;
    BENCH_EACH(i, n)
    for (tmap_u64 j = i + 1; j < n; ++j)
        if (pairs_near(points + 3 * i, points + 3 * j, minus_r2)) ++hits, hash += check_hash(i, j);
    near_tell(to, hits, hash);
}
static __global__ void near_see_list(tmap_u64 count, tmap_near_list list, tmap_u64 *to) {
    tmap_u64 hits = 0, hash = 0;
    BENCH_EACH(k, count)
    ++hits, hash += check_hash(((const tmap_u32 *)list.i)[k], ((const tmap_u32 *)list.j)[k]);
    near_tell(to, hits, hash);
}
// Sums in double; a result may be off by 10^-4 of the sum of what was added without its sign.
static __global__ void near_see_rows(tmap_u32 n, const float *points, float minus_r2,
                                     const float4 *rows, tmap_u64 *wrong) {
    BENCH_EACH(i, n) {
        double sum[4] = {0, 0, 0, 0}, size = 1e-30;
        for (tmap_u64 j = 0; j < n; ++j) {
            if (j == i || !pairs_near(points + 3 * i, points + 3 * j, minus_r2)) continue;
            const float4 f = near_force(points + 3 * i, points + 3 * j, minus_r2);
            sum[0] += (double)f.x, sum[1] += (double)f.y, sum[2] += (double)f.z;
            sum[3] += (double)f.w;
            size += (double)(fabsf(f.x) + fabsf(f.y) + fabsf(f.z) + fabsf(f.w));
        }
        const double off = fabs(sum[0] - (double)rows[i].x) + fabs(sum[1] - (double)rows[i].y) +
                           fabs(sum[2] - (double)rows[i].z) + fabs(sum[3] - (double)rows[i].w);
        if (!(off <= 1e-4 * size)) atomicAdd(wrong, 1ull);
    }
}

static tmap_u64 near_numbers(const near_sweep *s, tmap_u64 *hash) {
    tmap_u64 numbers[2];
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(numbers, s->truth, sizeof numbers, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(s->truth, 0, sizeof numbers));
    *hash = numbers[1];
    return numbers[0];
}

// Runs a variant on poisoned memory and compares.
static void near_verify(near_sweep *s, bench_row *row, int work, int variant, tmap_u64 hits,
                        tmap_u64 hash) {
    const tmap_u32 blocks = (s->n + 255) / 256;
    pairs_counts got = {0, 0, 0};
    tmap_u64 count, sum;
    void *result = variant == PAIRS ? s->pairs.to.result : s->j.to.result;
    CHECK(cudaMemset(result, KIT_POISON, sizeof got));
    if (work == ROWS_WORK) CHECK(cudaMemset(s->j.rows, KIT_POISON, s->n * sizeof *s->j.rows));
    if (work == LIST_WORK)
        CHECK(cudaMemset(s->j.list.i, KIT_POISON, (size_t)s->j.list.capacity * 8));
    if (variant == CELL_LIST)
        got.sum = cell_list_result(&s->cells, s->j.minus_r2);
    else
        bodies[variant](s);
    if (work == ROWS_WORK) {
        near_see_rows<<<blocks, 256>>>(s->n, s->points, s->j.minus_r2, s->j.rows, bench_counter());
        bench_verify(row, bench_count(), "points");
    } else if (work == LIST_WORK) {
        CHECK(cudaMemcpy(&count, s->j.list.count, sizeof count, cudaMemcpyDeviceToHost));
        if (count != hits) bench_wrong(row, "%llu pairs instead of %llu", count, hits);
        near_see_list<<<blocks, 256>>>(count, s->j.list, s->truth);
        count = near_numbers(s, &sum);
        bench_verify(row, count != hits || sum != hash, "lists");
    } else {
        if (variant != CELL_LIST)
            CHECK(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
        count = got.sum + got.part;
        if (count != hits) bench_wrong(row, "%llu pairs instead of %llu", count, hits);
        row->verified = 1;
    }
}

// ---- rows ---------------------------------------------------------------------------------------

static bench_row near_row(const near_sweep *s, int work, int variant) {
    bench_row row = bench_row_begin(&s->d, works[work], variants[variant], domains[s->domain]);
    bench_key(&row, "size", "%u", s->n);
    bench_key(&row, "radius", "%.4f", (double)s->j.radius);
    bench_key_text(&row, "dtype", "f32");
    return row;
}

// What a variant needs besides points and set.
static void near_begin(near_sweep *s, int work, int variant, tmap_u64 hits) {
    const void *kernels[WORKS] = {(const void *)near_count, (const void *)near_list,
                                  (const void *)near_rows};
    const void *kernel = variant == NEAR_VISITS ? (const void *)near_count_visits : kernels[work];
    near_job *j = &s->j;
    if (variant == PAIRS) {
        s->pairs.points = s->points, s->pairs.minus_r2 = j->minus_r2;
        CHECK(tmap_pairs_plan_make(s->n, 3, sizeof(float), (const void *)pairs_count,
                                   &s->pairs_plan));
        s->pairs.to.workspace =
            kit_filled(tmap_pairs_fold_bytes(&s->pairs_plan, sizeof(pairs_counts)), 0);
        s->pairs.to.result = kit_device(sizeof(pairs_counts));
    } else if (variant != CELL_LIST && work == ROWS_WORK) {
        CHECK(tmap_near_rows_plan_make(near_shape(s), sizeof(float4), kernel, &s->plan));
        j->rows = (float4 *)kit_device(s->n * sizeof *j->rows);
    } else if (variant != CELL_LIST) {
        CHECK(tmap_near_plan_make(near_shape(s), kernel, &s->plan));
        j->to.workspace = kit_filled(tmap_near_fold_bytes(&s->plan, sizeof(pairs_counts)), 0);
    }
    if (work == LIST_WORK) {
        j->list.capacity = hits + 64; // i of all pairs, then j
        j->list.i = kit_device(j->list.capacity * 8);
        j->list.j = (tmap_u32 *)j->list.i + j->list.capacity;
        j->list.count = (tmap_u64 *)kit_device(sizeof *j->list.count);
        j->list.workspace = kit_filled(tmap_near_select_bytes(&s->plan), 0);
    }
}

static void near_sweep_row(near_sweep *s, int work, int variant, tmap_u64 *hits, tmap_u64 *hash) {
    const int mark = kit_mark();
    bench_row row = near_row(s, work, variant);
    if (work != COUNT_WORK && variant > NEAR_PREPARED) return;
    if (variant == PAIRS && s->n > s->all) return;
    if (!bench_wants(&s->d, &row)) return;
    if (*hits == ~0ull) {
        near_truth<<<(s->n + 255) / 256, 256>>>(s->n, s->points, s->j.minus_r2, s->truth);
        *hits = near_numbers(s, hash);
    }
    if (work == LIST_WORK && *hits > s->room) {
        bench_left_out(&row, "%llu pairs", *hits);
        return;
    }
    near_begin(s, work, variant, *hits);
    near_verify(s, &row, work, variant, *hits, *hash);
    bench_key(&row, "hits", "%llu", *hits);
    if (variant == CELL_LIST) bench_key(&row, "cells", "%u", s->cells.cells);
    if (variant < CELL_LIST) bench_key(&row, "bits", "%u", s->sort.bits);
    if (work == LIST_WORK) row.limit_ms = 8e-9 * (double)*hits / s->d.ceilings.fill_tbs;
    bench_row_run(&s->d, &row, bodies[variant], s);
    kit_release(mark);
}

// All rows of a domain and size. A radius is given in thousandths of the cube's side, and is smaller
// by a ten-thousandth, so that cells of a round width are wider.
static void near_sweep_size(near_sweep *s) {
    float *host = (float *)kit_host(12ull * s->n);
    near_points(s, host);
    s->points = (float *)kit_to_device(host, 12ull * s->n);
    CHECK(tmap_near_sort_plan_make(s->n, 3, sizeof(float), (tmap_u32)s->bits, &s->sort));
    s->workspace = kit_device(s->sort.workspace);
    s->order = (tmap_u32 *)kit_device(4ull * s->n);
    s->j.set = kit_device(tmap_near_set_bytes(near_shape(s)));
    s->j.to.result = kit_device(sizeof(pairs_counts));
    s->truth = (tmap_u64 *)kit_filled(2 * sizeof *s->truth, 0);
    cell_list_begin(&s->cells, s->n, s->points, CELLS_A_SIDE);
    near_prepare(s);
    for (int k = 0; k < s->radii.count; ++k) {
        tmap_u64 hits = ~0ull, hash = 0; // not counted yet
        s->j.radius = 0.9999e-3f * (float)s->radii.value[k];
        s->j.minus_r2 = -s->j.radius * s->j.radius;
        cell_list_make(&s->cells, s->radii.value[k], CELLS_A_SIDE);
        for (int work = 0; work < WORKS; ++work)
            for (int v = 0; v < VARIANTS; ++v) near_sweep_row(s, work, v, &hits, &hash);
    }
    kit_release(0);
}

int main(int argc, char **argv) {
    static near_sweep s;
    const bench_option options[] = {{"--n", "points", "3000,30720,131072,1000000", "3000,131072",
                                     BENCH_LIST, &s.sizes, 2, 1u << 20},
                                    {"--radii", "of near pairs, in thousandths of the cube's side",
                                     "3,10,30,97,200,333", "30,97", BENCH_LIST, &s.radii, 1, 1000},
                                    {"--room", "pairs of a list, at most", "400000000", "100000000",
                                     BENCH_NUMBER, &s.room, 0, 1ull << 33},
                                    {"--bits", "of a key; 0: as many as uniform points need", "0",
                                     0, BENCH_NUMBER, &s.bits, 0, 63},
                                    {"--all", "points of all pairs, at most", "1000000", "131072",
                                     BENCH_NUMBER, &s.all, 0, 1u << 20}};
    s.d.name = "near", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "60", s.d.quick_budget = "15";
    bench_begin(&s.d, argc, argv);
    for (int i = 0; i < s.sizes.count; ++i)
        for (s.domain = 0; s.domain < DOMAINS; ++s.domain) {
            s.n = s.sizes.value[i];
            near_sweep_size(&s);
        }
    return bench_end(&s.d);
}
