// SPDX-License-Identifier: MIT
// bench_granularity: labels of pictures of random blocks of g x g cells (granularity.h) by tmap_label,
// with 8 neighbours. The means over all densities are what papers on labellers for GPUs report.
//
// Every result is verified, in every cell and on the device, against a union-find over single cells
// (flood_truth.h), whose regions are compared with a serial fill where the picture is small.
#include "../driver.h"
#include "flood_truth.h"
#include "granularity.h"

#include <threadmap/raster/label.h>

enum { GUARD = 64 }; // bytes after the labels

typedef struct sweep {
    bench_driver d;
    tmap_u64 size, step;
    bench_numbers granularity;
    // The picture and what labels it.
    flood_truth truth;
    unsigned char *picture; // in the host's memory
    tmap_label_plan plan;
    void *workspace;
    int *labels;
    tmap_u64 *count;
} sweep;

static void run(void *context) {
    const sweep *s = (const sweep *)context;
    CHECK(tmap_label(&s->plan, s->truth.mask, s->workspace, s->labels, s->count, 0));
}

static __global__ void heights_of_mask(flood_truth t) {
    FLOOD_EACH(i, t.cells) t.heights[i] = t.mask[i] ? -1 : 0;
}

// Makes a picture and its regions.
static void make(sweep *s, tmap_u32 g, tmap_u32 percent) {
    flood_truth *t = &s->truth;
    const tmap_raster_map map = {s->size, s->size, s->size, 0, 0, TMAP_RASTER_I16, 8};
    t->map = map, t->cells = s->size * s->size, t->input = FLOOD_INPUTS;
    granularity_picture(s->picture, s->size, g, percent);
    CHECK(cudaMemcpy(t->mask, s->picture, (size_t)t->cells, cudaMemcpyHostToDevice));
    FLOOD_TRUTH_RUN(heights_of_mask, *t);
    flood_truth_regions(t);
}

// Labels the picture on poisoned memory. Returns how many cells, bytes of the guard and counts are
// wrong.
static tmap_u64 wrong_of(sweep *s) {
    const size_t bytes = (size_t)s->truth.cells * sizeof *s->labels;
    unsigned char guard[GUARD];
    tmap_u64 wrong, count;
    CHECK(cudaMemset(s->labels, 0xa5, bytes + GUARD));
    CHECK(cudaMemset(s->workspace, 0xa5, (size_t)s->plan.workspace));
    CHECK(cudaMemset(s->count, 0xa5, sizeof *s->count));
    run(s);
    wrong = flood_truth_wrong(&s->truth, NULL, s->labels);
    CHECK(cudaMemcpy(guard, (char *)s->labels + bytes, GUARD, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&count, s->count, sizeof count, cudaMemcpyDeviceToHost));
    for (int i = 0; i < GUARD; ++i) wrong += guard[i] != 0xa5;
    return wrong + (count != s->truth.regions);
}

// One picture: labelled, verified and timed.
static void sweep_picture(sweep *s, tmap_u32 g, tmap_u32 percent) {
    bench_row row = bench_row_begin(&s->d, "label", "tmap_label", "granularity");
    bench_key(&row, "size", "%llu", s->size);
    bench_key(&row, "granularity", "%u", g);
    bench_key(&row, "density", "%u", percent);
    bench_key(&row, "connectivity", "8");
    bench_key_text(&row, "dtype", "u8");
    if (!bench_wants(&s->d, &row)) return;
    make(s, g, percent);
    bench_verify(&row, wrong_of(s), "cells");
    bench_key(&row, "components", "%llu", s->truth.regions);
    row.rate = "mpix_s", row.unit = "Mpix/s", row.each = 1e-3 * (double)s->truth.cells;
    bench_time_row(&row, run, s);
    bench_row_end(&s->d, &row);
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--size", "width and height of a picture", "2048", 0, BENCH_NUMBER, &s.size, 1, 1 << 15},
        {"--granularity", "sides of blocks", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "1,4,16",
         BENCH_LIST, &s.granularity, 1, 1 << 15},
        {"--step", "between densities, in percent", "10", "50", BENCH_NUMBER, &s.step, 1, 100},
        {"--bytes", "memory for the bandwidths", "1073741824", 0, BENCH_NUMBER, &s.d.bytes, 1 << 16,
         1ull << 40}};
    tmap_raster_map map = {0, 0, 0, 0, 0, TMAP_RASTER_MASK, 8};
    s.d.name = "granularity", s.d.options = options, s.d.option_count = 4;
    s.d.budget = "10", s.d.quick_budget = "5", s.d.queued = 1;
    bench_begin(&s.d, argc, argv);
    map.width = map.height = map.pitch = s.size;
    CHECK(tmap_label_plan_make(&map, TMAP_LABEL_INT32, &s.plan));
    s.truth = flood_truth_alloc(s.size * s.size);
    s.picture = (unsigned char *)malloc((size_t)(s.size * s.size));
    CHECK(cudaMalloc(&s.workspace, (size_t)s.plan.workspace));
    CHECK(cudaMalloc((void **)&s.labels, (size_t)(s.size * s.size) * sizeof *s.labels + GUARD));
    CHECK(cudaMalloc((void **)&s.count, sizeof *s.count));
    for (int i = 0; i < s.granularity.count; ++i)
        for (tmap_u64 percent = 0; percent <= 100; percent += s.step)
            sweep_picture(&s, s.granularity.value[i], (tmap_u32)percent);
    flood_truth_free(&s.truth);
    free(s.picture);
    CHECK(cudaFree(s.workspace));
    CHECK(cudaFree(s.labels));
    CHECK(cudaFree(s.count));
    return bench_end(&s.d);
}
