// SPDX-License-Identifier: MIT
// bench_pairs: work on all pairs, and on all triples, of n points through the library's engine, as a user calls it, and
// by a thread for each pair or triple or other kernels written by hand, all in one run.
//
// Every variant is verified before it is timed: the engine's result against that of a kernel with
// another map and another order.
#include "pairs_cells_work.h"
#include "pairs_rows_work.h"
#include "pairs_select_work.h"
#include "pairs_store_work.h"
#include "pairs_work.h"
#include "tables_work.h"
#include "triples_work.h"

static void (*const works[])(pairs_sweep *s) = {
    pairs_sweep_count,           pairs_sweep_cells,          pairs_sweep_drmsd,
    pairs_sweep_histogram,       pairs_sweep_select,         pairs_sweep_rows,
    pairs_sweep_store_chebyshev, pairs_sweep_store_euclidean};

static void sweep_size(pairs_sweep *s, tmap_u32 n) {
    s->n = n, s->pairs = tmap_condensed_cells(n), s->count_ms = 0;
    for (size_t i = 0; i < COUNT(works); ++i) works[i](s), kit_release(0);
}

int main(int argc, char **argv) {
    static pairs_sweep s;
    const bench_option options[] = {
        {"--n", "points", "3000,30720,131072", "3000,30720", BENCH_LIST, &s.sizes, 2, 1u << 20},
        {"--radii", "within which pairs are counted, in thousandths of the cube's side",
         "10,30,97,200,333", "30,97", BENCH_LIST, &s.radii, 1, 1000},
        {"--triples", "points of triples", "256,1024,4096", "1024", BENCH_LIST, &s.triples, 3,
         8192},
        {"--variables", "variables of triple_tables", "256,1024,2048", "1024", BENCH_LIST,
         &s.variables, 3, 8192},
        {"--samples", "samples of triple_tables", "512,4096", "4096", BENCH_LIST, &s.samples, 1,
         65536}};
    int processors, khz;
    s.d.name = "pairs", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "60", s.d.quick_budget = "15";
    bench_begin(&s.d, argc, argv);
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    s.processors = (tmap_u32)processors, s.instructions_a_ms = 128.0 * processors * khz;
    for (int i = 0; i < s.sizes.count; ++i) sweep_size(&s, s.sizes.value[i]);
    for (int i = 0; i < s.triples.count; ++i) {
        pairs_sweep_triples(&s, s.triples.value[i]);
        kit_release(0);
    }
    for (int i = 0; i < s.variables.count; ++i)
        for (int k = 0; k < s.samples.count; ++k)
            pairs_sweep_tables(&s, s.variables.value[i], s.samples.value[k]);
    return bench_end(&s.d);
}
