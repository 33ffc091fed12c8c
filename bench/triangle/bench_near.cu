// SPDX-License-Identifier: MIT
// bench_near: work on the pairs of points within a radius: their count, their list, compressed rows, a
// force on each point, groups; and the nearest of each point; by the engine of near pairs, from
// unsorted points on (near) and on a prepared set; beside the list of cells and the engine for all
// pairs.
//
// Every result is compared, before it is timed, with what near_truth.h finds without the engine.
#include "cell_list.h"
#include "near_points.h"
#include "near_truth.h"

#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_sort.h>

// More points than --all have groups and the nearest alone: the others are compared with all pairs.
enum { COUNT_WORK, LIST_WORK, CSR_WORK, ROWS_WORK, GROUPS_WORK, NEAREST_WORK, WORKS };
static const char *const works[WORKS] = {"count", "list", "csr", "rows", "groups", "nearest"};

// near: order, preparation and work; near_periodic: rows in a repeated cube; near_visits: without
// `bulk`.
enum { NEAR, NEAR_PREPARED, NEAR_PERIODIC, NEAR_VISITS, CELL_LIST, PAIRS, VARIANTS };
static const char *const variants[VARIANTS] = {"near",        "near_prepared", "near_periodic",
                                               "near_visits", "cell_list",     "pairs"};

enum { CELLS_A_SIDE = 256, GROUPS_RADII = 2, CLUSTERS_BITS = 63 };

typedef struct near_sweep {
    bench_driver d;
    bench_numbers sizes, radii;
    tmap_u64 room, all, bits; // pairs of a list, points of all pairs, at most; bits of keys
    tmap_u32 n, k;            // k: neighbours of a point
    int domain, work;
    float *host, *points;
    tmap_near_sort_plan sort;
    tmap_u32 *order;
    void *workspace; // of the sort
    near_job j;
    tmap_near_plan plan;
    cell_list cells;
    pairs_job pairs;
    tmap_pairs_plan pairs_plan;
    void *result;      // of a row
    int known;         // whether these are those of the radius:
    tmap_u64 hits;     // pairs within it, or groups,
    tmap_u64 hash;     // the sum of the hashes of the pairs,
    tmap_u32 *labels;  // the groups
    tmap_u64 *numbers; // where a kernel counts hits and adds hashes
} near_sweep;

static tmap_near_shape near_shape(const near_sweep *s) {
    const tmap_near_shape shape = {s->n, 3, sizeof(float)};
    return shape;
}
static void near_prepare(near_sweep *s) {
    CHECK(tmap_near_sort(&s->sort, s->points, s->workspace, s->order, 0));
    CHECK(tmap_near_prepare(near_shape(s), s->points, s->order, s->j.set, 0));
}
// Sorts and prepares the points by keys of so many bits.
static void near_order(near_sweep *s, tmap_u64 bits) {
    CHECK(tmap_near_sort_plan_make(s->n, 3, sizeof(float), (tmap_u32)bits, &s->sort));
    s->workspace = kit_device(s->sort.workspace);
    near_prepare(s);
}

// ---- what is timed ------------------------------------------------------------------------------

static void near_run_prepared(void *context) {
    const near_sweep *s = (const near_sweep *)context;
    const near_job *j = &s->j;
    switch (s->work) {
    case LIST_WORK: CHECK(tmap_near_select_launch(&s->plan, &j->list, 4, j, 0)); break;
    case CSR_WORK: CHECK(tmap_near_graph(&s->plan, j, &j->graph, 0)); break;
    case GROUPS_WORK: CHECK(tmap_near_groups(&s->plan, j, &j->groups, 0)); break;
    default: CHECK(tmap_near_launch(&s->plan, j, 0));
    }
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
static const bench_body bodies[VARIANTS] = {near_run_all,      near_run_prepared, near_run_prepared,
                                            near_run_prepared, near_run_cells,    near_run_pairs};

// ---- verification -------------------------------------------------------------------------------

static tmap_u64 near_numbers(const near_sweep *s, tmap_u64 *hash) {
    tmap_u64 numbers[2];
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(numbers, s->numbers, sizeof numbers, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(s->numbers, 0, sizeof numbers));
    *hash = numbers[1];
    return numbers[0];
}

// Finds what is known of a radius.
static void near_know(near_sweep *s) {
    if (s->known || s->work == NEAREST_WORK) return;
    s->known = 1;
    if (s->work == GROUPS_WORK) {
        const int mark = kit_mark();
        tmap_u32 *labels = (tmap_u32 *)kit_host(4ull * s->n);
        s->hits = near_host_groups(s->n, s->host, s->j.radius, labels);
        CHECK(cudaMemcpy(s->labels, labels, 4ull * s->n, cudaMemcpyHostToDevice));
        kit_release(mark);
    } else {
        near_truth<<<(s->n + 255) / 256, 256>>>(s->n, s->points, s->j.minus_r2, s->numbers);
        s->hits = near_numbers(s, &s->hash);
    }
}

static void near_verify_count(near_sweep *s, bench_row *row, tmap_u64 count) {
    if (count != s->hits) bench_wrong(row, "%llu instead of %llu", count, s->hits);
    row->verified = 1;
}

// Runs a variant and compares.
static void near_verify(near_sweep *s, bench_row *row, int variant) {
    const tmap_u32 blocks = (s->n + 255) / 256;
    const near_job *j = &s->j;
    tmap_u64 *wrong = bench_counter(), count = 0, sum;
    pairs_counts got = {0, 0, 0};
    if (variant == CELL_LIST)
        got.sum = cell_list_result(&s->cells, j->minus_r2);
    else
        bodies[variant](s);
    switch (s->work) {
    case COUNT_WORK:
        if (variant != CELL_LIST)
            CHECK(cudaMemcpy(&got, s->result, sizeof got, cudaMemcpyDeviceToHost));
        near_verify_count(s, row, got.sum + got.part);
        return;
    case LIST_WORK:
        CHECK(cudaMemcpy(&count, j->list.count, sizeof count, cudaMemcpyDeviceToHost));
        near_verify_count(s, row, count);
        near_see_list<<<blocks, 256>>>(count, j->list, s->numbers);
        count = near_numbers(s, &sum);
        bench_verify(row, count != s->hits || sum != s->hash, "lists");
        return;
    case CSR_WORK:
        near_see_graph<<<blocks, 256>>>(s->n, s->points, j->minus_r2, s->hits, j->graph, wrong);
        break;
    case ROWS_WORK:
        near_see_rows<<<blocks, 256>>>(s->n, s->points, j->minus_r2, variant == NEAR_PERIODIC,
                                       j->rows, wrong);
        break;
    case GROUPS_WORK:
        CHECK(cudaMemcpy(&count, j->groups.count, 4, cudaMemcpyDeviceToHost));
        near_verify_count(s, row, count);
        near_see_labels<<<blocks, 256>>>(s->n, j->groups.labels, s->labels, wrong);
        break;
    case NEAREST_WORK:
        near_see_nearest<<<blocks, 256>>>(s->n, s->points, s->k, j->nearest, wrong);
        break;
    }
    bench_verify(row, bench_count(), "points");
}

// ---- rows ---------------------------------------------------------------------------------------

static bench_row near_row(const near_sweep *s, int variant) {
    bench_row row = bench_row_begin(&s->d, works[s->work], variants[variant], domains[s->domain]);
    bench_key(&row, "size", "%u", s->n);
    if (s->work == NEAREST_WORK)
        bench_key(&row, "k", "%u", s->k);
    else
        bench_key(&row, "radius", "%.3g", (double)s->j.radius);
    bench_key_text(&row, "dtype", "f32");
    return row;
}

// Memory for a result, poisoned.
static void *near_result(near_sweep *s, tmap_u64 bytes) {
    return s->result = kit_filled(bytes, KIT_POISON);
}

// What a variant needs besides points and set.
static void near_begin(near_sweep *s, bench_row *row, int variant) {
    const tmap_near_shape shape = near_shape(s);
    const tmap_u64 n = s->n;
    near_job *j = &s->j;
    if (variant == PAIRS) {
        s->pairs.points = s->points, s->pairs.minus_r2 = j->minus_r2;
        CHECK(tmap_pairs_plan_make(s->n, 3, sizeof(float), (const void *)pairs_count,
                                   &s->pairs_plan));
        s->pairs.to.workspace =
            kit_filled(tmap_pairs_fold_bytes(&s->pairs_plan, sizeof(pairs_counts)), 0);
        s->pairs.to.result = near_result(s, sizeof(pairs_counts));
        return;
    }
    switch (s->work) {
    case COUNT_WORK:
        CHECK(tmap_near_plan_make(shape,
                                  variant == NEAR_VISITS ? (const void *)near_count_visits
                                                         : (const void *)near_count,
                                  &s->plan));
        j->to.workspace = kit_filled(tmap_near_fold_bytes(&s->plan, sizeof(pairs_counts)), 0);
        j->to.result = near_result(s, sizeof(pairs_counts));
        break;
    case LIST_WORK:
        CHECK(tmap_near_plan_make(shape, (const void *)near_list, &s->plan));
        j->list.capacity = s->hits + 64; // i of all pairs, then j
        j->list.i = near_result(s, j->list.capacity * 8);
        j->list.j = (tmap_u32 *)j->list.i + j->list.capacity;
        j->list.count = (tmap_u64 *)kit_device(sizeof *j->list.count);
        j->list.workspace = kit_filled(tmap_near_select_bytes(&s->plan), 0);
        row->limit_ms = 8e-9 * (double)s->hits / s->d.ceilings.fill_tbs;
        break;
    case CSR_WORK:
        CHECK(tmap_near_graph_plan_make(shape, (const void *)near_graph, &s->plan));
        j->graph.capacity = 2 * s->hits, j->graph.number = 4;
        j->graph.starts = (tmap_u64 *)near_result(s, (n + 1) * 8 + j->graph.capacity * 4);
        j->graph.columns = j->graph.starts + n + 1;
        j->graph.workspace = kit_device(tmap_near_graph_bytes(&s->plan));
        row->limit_ms = 8e-9 * (double)(s->hits + n + 1) / s->d.ceilings.fill_tbs;
        break;
    case ROWS_WORK:
        CHECK(tmap_near_rows_plan_make(shape, sizeof *j->rows,
                                       variant == NEAR_PERIODIC ? (const void *)near_rows_periodic
                                                                : (const void *)near_rows,
                                       &s->plan));
        j->rows = (float4 *)near_result(s, n * sizeof *j->rows);
        break;
    case GROUPS_WORK:
        CHECK(tmap_near_groups_plan_make(shape, (const void *)near_groups, &s->plan));
        j->groups.set = j->set;
        j->groups.nodes = kit_device(tmap_near_groups_bytes(&s->plan));
        j->groups.labels = (tmap_u32 *)near_result(s, (n + 1) * 4);
        j->groups.count = j->groups.labels + n;
        break;
    case NEAREST_WORK:
        CHECK(tmap_near_nearest_plan_make(
            shape, s->k == 8 ? (const void *)near_nearest_8 : (const void *)near_nearest_16,
            &s->plan));
        j->nearest.numbers = (tmap_u32 *)near_result(s, n * s->k * 8);
        j->nearest.distances = j->nearest.numbers + n * s->k;
        break;
    }
}

static void near_sweep_row(near_sweep *s, int variant) {
    const int mark = kit_mark();
    bench_row row = near_row(s, variant);
    if (variant == NEAR_PERIODIC ? s->work != ROWS_WORK
                                 : variant > NEAR_PREPARED && s->work != COUNT_WORK)
        return;
    if (!bench_wants(&s->d, &row)) return;
    near_know(s);
    if ((s->work == LIST_WORK || s->work == CSR_WORK) && s->hits > s->room) {
        bench_left_out(&row, "%llu pairs", s->hits);
        return;
    }
    if (variant != CELL_LIST) near_begin(s, &row, variant);
    near_verify(s, &row, variant);
    if (s->work != NEAREST_WORK && variant != NEAR_PERIODIC)
        bench_key(&row, s->work == GROUPS_WORK ? "groups" : "hits", "%llu", s->hits);
    if (variant == CELL_LIST) bench_key(&row, "cells", "%u", s->cells.cells);
    if (variant < CELL_LIST) bench_key(&row, "bits", "%u", s->sort.bits);
    bench_row_run(&s->d, &row, bodies[variant], s);
    kit_release(mark);
}

// The rows of works first to last at a radius.
static void near_sweep_works(near_sweep *s, float radius, int first, int last) {
    s->j.radius = radius, s->j.minus_r2 = -radius * radius, s->j.scale = 1 / (radius * radius);
    s->known = 0;
    for (s->work = first; s->work <= last; ++s->work)
        for (int v = 0; v < VARIANTS; ++v) near_sweep_row(s, v);
}

// Points and what all rows need.
static void near_make(near_sweep *s) {
    s->host = (float *)kit_host(12ull * s->n);
    near_points(s->domain, s->n, s->host);
    s->points = (float *)kit_to_device(s->host, 12ull * s->n);
    s->order = (tmap_u32 *)kit_device(4ull * s->n);
    s->j.set = kit_device(tmap_near_set_bytes(near_shape(s)));
    s->labels = (tmap_u32 *)kit_device(4ull * s->n);
    s->numbers = (tmap_u64 *)kit_filled(2 * sizeof *s->numbers, 0);
    near_order(s, s->bits);
    if (s->n <= s->all) cell_list_begin(&s->cells, s->n, s->points, CELLS_A_SIDE);
}

// All rows of a domain and size. A radius is given in thousandths of the cube's side, and is smaller
// by a ten-thousandth, so that cells of a round width are wider. Groups are linked by 0.2 of the
// mean distance of uniform points, and by the first of these radii.
static void near_sweep_size(near_sweep *s) {
    if (!s->d.list) near_make(s);
    for (int k = 0; s->n <= s->all && k < s->radii.count; ++k) {
        const float radius = 0.9999e-3f * (float)s->radii.value[k];
        cell_list_make(&s->cells, s->radii.value[k], CELLS_A_SIDE);
        near_sweep_works(s, radius, COUNT_WORK, ROWS_WORK);
        if (k < GROUPS_RADII) near_sweep_works(s, radius, GROUPS_WORK, GROUPS_WORK);
    }
    if (s->domain == CLUSTERS && !s->bits && !s->d.list) near_order(s, CLUSTERS_BITS);
    near_sweep_works(s, 0.2f / cbrtf((float)s->n), GROUPS_WORK, GROUPS_WORK);
    for (s->k = 8; s->k <= 16; s->k *= 2) near_sweep_works(s, 0, NEAREST_WORK, NEAREST_WORK);
    kit_release(0);
}

int main(int argc, char **argv) {
    static near_sweep s;
    const bench_option options[] = {
        {"--n", "points", "3000,30720,131072,1000000,10000000", "3000,131072", BENCH_LIST, &s.sizes,
         2, 1u << 24},
        {"--radii", "of near pairs, in thousandths of the cube's side", "3,10,30,97,200,333",
         "30,97", BENCH_LIST, &s.radii, 1, 1000},
        {"--room", "pairs of a list, at most", "400000000", "100000000", BENCH_NUMBER, &s.room, 0,
         1ull << 33},
        {"--bits",
         "of a key; 0: as many as uniform points need, in clusters 63 for nearest and groups", "0",
         0, BENCH_NUMBER, &s.bits, 0, 63},
        {"--all", "points, at most, of what is compared with all pairs", "1000000", "131072",
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
