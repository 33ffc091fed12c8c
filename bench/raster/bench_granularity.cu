// SPDX-License-Identifier: MIT
// bench_granularity: labels of pictures of random blocks of g x g cells (granularity.h) by tmap_label,
// with 8 neighbours, without gaps and with (tmap_label_roots). The means over all densities are what
// papers on labellers for GPUs report.
//
// Every result is verified, in every cell and on the device, against components.h.
#include "components.h"
#include "granularity.h"

#include <threadmap/raster/label.h>

typedef struct sweep {
    bench_driver d;
    tmap_u64 size, step;
    bench_numbers granularity;
    // The picture and what labels it.
    components truth;
    unsigned char *picture;          // in the host's memory
    tmap_label_plan plans[2], *plan; // without gaps, with gaps; the one that is measured
    void *workspace;
    int *labels;
    tmap_u64 *count;
} sweep;

static void run(void *context) {
    const sweep *s = (const sweep *)context;
    CHECK(tmap_label(s->plan, s->truth.mask, s->workspace, s->labels, s->count, 0));
}

// Labels the picture on poisoned memory. Returns how many cells and counts are wrong.
static tmap_u64 wrong_of(sweep *s) {
    tmap_u64 count;
    CHECK(cudaMemset(s->labels, 0xa5, (size_t)s->truth.cells * sizeof *s->labels));
    CHECK(cudaMemset(s->workspace, 0xa5, (size_t)s->plan->workspace));
    CHECK(cudaMemset(s->count, 0xa5, sizeof *s->count));
    run(s);
    CHECK(cudaMemcpy(&count, s->count, sizeof count, cudaMemcpyDeviceToHost));
    if (s->plan->roots) return components_wrong_gaps(&s->truth, s->labels);
    return components_wrong(&s->truth, s->labels) + (count != s->truth.count);
}

// One picture: labelled, verified and timed.
static void sweep_picture(sweep *s, tmap_u32 g, tmap_u32 percent) {
    components *t = &s->truth;
    bench_row row = bench_row_begin(
        &s->d, "label", s->plan->roots ? "tmap_label_roots" : "tmap_label", "granularity");
    bench_key(&row, "size", "%llu", s->size);
    bench_key(&row, "granularity", "%u", g);
    bench_key(&row, "density", "%u", percent);
    bench_key(&row, "connectivity", "8");
    bench_key_text(&row, "dtype", "u8");
    if (!bench_wants(&s->d, &row)) return;
    granularity_picture(s->picture, s->size, g, percent);
    CHECK(cudaMemcpy(t->mask, s->picture, (size_t)t->cells, cudaMemcpyHostToDevice));
    components_find(t);
    components_verify(t);
    bench_verify(&row, wrong_of(s), "cells");
    bench_key(&row, "components", "%llu", t->count);
    row.rate = "mpix_s", row.unit = "Mpix/s", row.each = 1e-3 * (double)t->cells;
    bench_row_run(&s->d, &row, run, s);
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
    s.d.name = "granularity", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "10", s.d.quick_budget = "5", s.d.queued = 1;
    bench_begin(&s.d, argc, argv);
    map.width = map.height = map.pitch = s.size;
    CHECK(tmap_label_plan_make(&map, TMAP_LABEL_INT32, &s.plans[0]));
    CHECK(tmap_label_plan_make(&map, TMAP_LABEL_INT32 | TMAP_LABEL_ROOTS, &s.plans[1]));
    s.truth = components_alloc(s.size, s.size, 1, 8);
    s.picture = (unsigned char *)kit_host(s.truth.cells);
    s.workspace = kit_device(s.plans[0].workspace);
    s.labels = (int *)kit_guarded(s.truth.cells * sizeof *s.labels);
    s.count = (tmap_u64 *)kit_device(sizeof *s.count);
    for (int i = 0; i < s.granularity.count; ++i)
        for (tmap_u64 percent = 0; percent <= 100; percent += s.step)
            for (s.plan = s.plans; s.plan < s.plans + 2; ++s.plan)
                sweep_picture(&s, s.granularity.value[i], (tmap_u32)percent);
    return bench_end(&s.d);
}
