// SPDX-License-Identifier: MIT
// bench_pairs: work on all pairs of n points through the library's engine, as a user calls it, and
// by a thread for each pair or other kernels written by hand, all in one run.
//
// Every variant is verified before it is timed: the engine's result against that of a kernel with
// another map and another order. One that is wrong ends the run with status 1.
//
// bench_pairs --help lists the options.
#include "../options.h"
#include "../results.h"
#include "cell_list.h"
#include "pairs_histogram_work.h"
#include "pairs_rows_work.h"
#include "pairs_select_work.h"
#include "pairs_store_work.h"
#include "pairs_sweep.h"
#include "pairs_work.h"

static const char usage[] =
    "usage: bench_pairs [--n N,N,...] [--only VARIANT,...] [--radii R,R,...] [--budget MS]\n"
    "                   [--bytes N] [--quick] [--out FILE]\n"
    "  --n       points\n"
    "  --only    variants, by their names in the table\n"
    "  --radii   within which pairs are selected, in thousandths of the cube's side\n"
    "  --budget  for a time, in milliseconds (60)\n"
    "  --bytes   of the memory on which its speed is measured\n"
    "  --quick   --n 3000,30720 --radii 30,97 --budget 15, where these are not given\n"
    "  --out     the results, as JSON\n";

// A bit for each of the variants that a text names.
static unsigned only_of(const char *option, const char *text) {
    unsigned only = 0;
    for (const char *p = text; *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");
        int found = -1;
        for (int v = 0; v < PAIRS_VARIANTS; ++v)
            if (strlen(pairs_names[v]) == length && !strncmp(pairs_names[v], p, length)) found = v;
        if (found < 0) bench_bad(option, p);
        only |= 1u << found, p += length;
    }
    if (!only) bench_bad(option, text);
    return only;
}

static double instructions_a_ms(int processors) { // of the lanes of all multiprocessors
    int khz;
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    return 128.0 * processors * khz;
}

static void sweep_size(pairs_sweep *s, tmap_u32 n, const bench_numbers *radii) {
    s->n = n, s->pairs = tmap_condensed_cells(n), s->count_ms = 0;
    pairs_sweep_count(s);
    pairs_sweep_cells(s, radii);
    pairs_sweep_drmsd(s);
    pairs_sweep_histogram(s);
    pairs_sweep_select(s);
    pairs_sweep_rows(s);
    pairs_sweep_store(s, PAIRS_STORE_CHEBYSHEV);
    pairs_sweep_store(s, PAIRS_STORE_EUCLIDEAN);
}

int main(int argc, char **argv) {
    bench_numbers n = {{3000, 30720, 131072}, 3};
    bench_numbers radii = {{10, 30, 97, 200, 333}, 5}; // in thousandths of the cube's side
    const char *out = NULL;
    tmap_u64 bytes = 4ull << 30;
    bench_results results;
    pairs_sweep s;
    int devices = 0, processors;
    bench_program = "bench_pairs";
    memset(&s, 0, sizeof s);
    s.budget_ms = 60, s.only = ~0u, s.results = &results;
    if (bench_quick(&argc, argv, usage)) {
        const bench_numbers some = {{3000, 30720}, 2}, two = {{30, 97}, 2};
        n = some, radii = two, s.budget_ms = 15;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            n = bench_numbers_of(option, p, 2, 1u << 20);
        else if (!strcmp(option, "--only"))
            s.only = only_of(option, p);
        else if (!strcmp(option, "--radii"))
            radii = bench_numbers_of(option, p, 1, 1000);
        else if (!strcmp(option, "--budget"))
            s.budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--bytes"))
            bytes = bench_number(option, p, 1 << 16, 1ull << 40);
        else if (!strcmp(option, "--out"))
            out = p;
        else
            bench_bad(option, p);
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    s.processors = (tmap_u32)processors, s.instructions_a_ms = instructions_a_ms(processors);
    s.ceilings = bench_measure_ceilings((size_t)bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s, %.4g instructions a second\n\n",
           s.ceilings.copy_tbs, s.ceilings.fill_tbs, s.ceilings.read_tbs,
           1e3 * s.instructions_a_ms);
    if (bench_results_open(&results, out, "pairs", s.ceilings)) bench_bad("--out", out);
    printf("| variant | of | n | d | ms | noise | Tpair/s | of the limit | |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < n.count; ++i) {
        bench_progress(i, n.count, "pairs");
        sweep_size(&s, n.value[i], &radii);
    }
    bench_progress(n.count, n.count, "");
    if (bench_results_close(&results)) bench_bad("--out", out);
    return 0;
}
