// SPDX-License-Identifier: MIT
// bench_drmsd: dRMSD of one pair of frames by the library, by a thread for each pair of atoms, and
// step by step as the lecture slides about it go; of many frames from one, and of all against all;
// and clusters of frames; all in one run.
//
// Every variant is verified before it is timed, against the definition in double. One that is wrong
// ends the run with status 1.
//
// bench_drmsd --help lists the options.
#include "cluster_work.h"
#include "drmsd_frames_work.h"
#include "drmsd_matrix_work.h"
#include "drmsd_pair_work.h"

static const char usage[] =
    "usage: bench_drmsd [--n N,N,...] [--atoms N,N,...] [--frames N,N,...] [--clusters N,N,...]\n"
    "                   [--only TEXT,TEXT,...] [--budget MS] [--energy MS] [--bytes N] [--quick]\n"
    "                   [--out FILE]\n"
    "  --n         atoms of one pair of frames\n"
    "  --atoms, --frames  of works with many frames: each number of atoms with each of frames\n"
    "  --clusters  frames that are clustered\n"
    "  --only      variants with one of these texts in their names, as triangle_2d_rsqrt\n"
    "  --budget    for a time, in milliseconds (20); --energy: for an energy, 0 for none (300)\n"
    "  --bytes     of the memory on which its speed is measured\n"
    "  --quick     --n 4096,32768 --atoms 200 --frames 4096 --clusters 4096 --budget 10 --energy "
    "0,\n"
    "              where these are not given\n"
    "  --out       the results, as JSON\n";

static void peaks(drmsd_sweep *s) { // of all multiprocessors
    int khz, processors;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    s->processors = (tmap_u32)processors;
    s->issue_a_ms = 128.0 * processors * khz;
    s->mufu_a_ms = 16.0 * processors * khz;
    s->meter = bench_energy_open();
}

int main(int argc, char **argv) {
    const bench_numbers n = {{1024, 2048, 4096, 8192, 16384, 32768, 65536, 100000, 131072}, 9};
    const bench_numbers atoms = {{100, 200, 1000}, 3}, frames = {{1000, 4096}, 2};
    bench_numbers clusters = {{4096, 32768}, 2};
    const char *out = NULL;
    tmap_u64 bytes = 4ull << 30;
    bench_results results;
    bench_ceilings ceilings;
    drmsd_sweep s;
    int devices = 0;
    bench_program = "bench_drmsd";
    memset(&s, 0, sizeof s);
    s.n = n, s.atoms = atoms, s.frames = frames;
    s.budget_ms = 20, s.energy_ms = 300, s.results = &results;
    if (bench_quick(&argc, argv, usage)) {
        const bench_numbers two = {{4096, 32768}, 2}, one = {{200}, 1}, many = {{4096}, 1};
        s.n = two, s.atoms = one, s.frames = many, clusters = many;
        s.budget_ms = 10, s.energy_ms = 0;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            s.n = bench_numbers_of(option, p, 2, 1u << 20);
        else if (!strcmp(option, "--atoms"))
            s.atoms = bench_numbers_of(option, p, 2, 1u << 20);
        else if (!strcmp(option, "--frames"))
            s.frames = bench_numbers_of(option, p, 2, 1u << 24);
        else if (!strcmp(option, "--clusters"))
            clusters = bench_numbers_of(option, p, 2, 1u << 17);
        else if (!strcmp(option, "--only"))
            s.only = p;
        else if (!strcmp(option, "--budget"))
            s.budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--energy"))
            s.energy_ms = (double)bench_number(option, p, 0, 100000);
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
    peaks(&s);
    ceilings = bench_measure_ceilings((size_t)bytes);
    if (bench_results_open(&results, out, "drmsd", ceilings)) bench_bad("--out", out);
    printf("%.4g instructions and %.4g special functions a second\n\n"
           "| variant | | n | frames | ms | noise | Tpair/s | issue slots | special functions | "
           "pJ a pair |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           1e3 * s.issue_a_ms, 1e3 * s.mufu_a_ms);
    drmsd_pair_sweep(&s);
    drmsd_many_sweep(&s);
    drmsd_matrix_sweep(&s);
    for (int i = 0; i < clusters.count && !s.only; ++i) {
        const cluster_sweep c = {(tmap_u32)clusters.value[i], s.budget_ms, ceilings, &results};
        cluster_sweep_size(&c);
    }
    if (bench_results_close(&results)) bench_bad("--out", out);
    return 0;
}
