// SPDX-License-Identifier: MIT
// ask_energy.h: the energy of a picture in bench_ask.
#ifndef BENCH_ASK_ENERGY_H
#define BENCH_ASK_ENERGY_H

#include "ask_job.h"

// The energy of a picture that takes about ms.
static void energy_row(job *j, double ms) {
    bench_time time = {0, 0, 0};
    double millijoules = bench_energy(&j->s->meter, job_run, j, ms, 500);
    if (!(millijoules > 0)) return;
    time.ms = ms;
    j->part = "energy";
    job_row(j, time, NULL, millijoules);
    printf("| %u | %s | %.3f mJ |\n", j->m.nx, variant_name(j->variant), millijoules);
}

static void sweep_energy(sweep *s, job j, size *z) {
    const int variants[] = {PLAIN, UNROLLED, SBR, MBR};
    j.driver = TMAP_ASK_STREAM;
    for (int i = 0; i < 4; ++i) {
        double ms;
        j.variant = variants[i];
        j.shape = z->best[PLAIN];
        ms = j.variant == PLAIN ? z->plain_ms : z->unrolled_ms;
        if (is_ask(j.variant)) {
            if (z->best[j.variant] < 0) continue;
            j.a = s->runs[z->best[j.variant]].a;
            ms = s->runs[z->best[j.variant]].ms;
            if (!job_prepare(&j)) continue;
        }
        energy_row(&j, ms);
    }
}

// Energy is measured at the sizes of landscapes and at the last size.
static int has_energy(const sweep *s, const size *z) {
    if (!(s->o.parts & ENERGY) || !s->meter.device) return 0;
    for (int i = 0; i < s->o.landscape.count; ++i)
        if (s->o.landscape.value[i] == z->n) return 1;
    return z->n == s->o.n.value[s->o.n.count - 1];
}

#endif
