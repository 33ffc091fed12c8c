// SPDX-License-Identifier: MIT
// bench_drmsd: dRMSD of one pair of frames by the library, by a thread for each pair of atoms, and
// step by step as the lecture slides about it go; of many frames from one, and of all against all;
// the RMSD of the same; and clusters of frames; all in one run.
//
// Every variant is verified before it is timed, against the definition in double.
#include "cluster_work.h"
#include "drmsd_many_work.h"
#include "drmsd_pair_work.h"
#include "rmsd_work.h"

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
    static drmsd_sweep s;
    const bench_option options[] = {{"--n", "atoms of one pair of frames",
                                     "1024,2048,4096,8192,16384,32768,65536,100000,131072",
                                     "4096,32768", BENCH_LIST, &s.n, 2, 1u << 20},
                                    {"--atoms", "of works with many frames", "100,200,1000", "200",
                                     BENCH_LIST, &s.atoms, 2, 1u << 20},
                                    {"--frames",
                                     "of works with many frames, each with each number of atoms",
                                     "1000,4096", "4096", BENCH_LIST, &s.frames, 2, 1u << 24},
                                    {"--clusters", "frames that are clustered", "4096,32768",
                                     "4096", BENCH_LIST, &s.clusters, 2, 92681},
                                    {"--energy", "milliseconds for an energy, 0 for none", "300",
                                     "0", BENCH_REAL, &s.energy_ms, 0, 100000}};
    s.d.name = "drmsd", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "20", s.d.quick_budget = "10", s.d.queued = 1;
    bench_begin(&s.d, argc, argv);
    peaks(&s);
    drmsd_pair_sweep(&s);
    drmsd_many_sweep(&s);
    rmsd_sweep(&s);
    for (int i = 0; i < s.clusters.count; ++i) cluster_sweep_size(&s.d, s.clusters.value[i]);
    return bench_end(&s.d);
}
