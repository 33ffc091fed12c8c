// SPDX-License-Identifier: MIT
// drmsd_matrix_work.h: the dRMSD of all frames against all in bench_drmsd: exactly, and on tensor
// cores in both forms.
#ifndef BENCH_TRIANGLE_DRMSD_MATRIX_WORK_H
#define BENCH_TRIANGLE_DRMSD_MATRIX_WORK_H

#include "drmsd_sweep.h"

#include <threadmap/molecules/drmsd_mma.h>

// By their numbers of tmap_drmsd_form, and what a result may be off by.
enum { DRMSD_MATRIX_FORMS = 3, DRMSD_MATRIX_SAMPLE = 100 };
static const char *const drmsd_matrix_names[DRMSD_MATRIX_FORMS] = {"matrix", "matrix_mma_half",
                                                                   "matrix_mma_split"};
static const double drmsd_matrix_granted[DRMSD_MATRIX_FORMS] = {1e-6, 1e-3, 2e-5};
// Terms of a run that are too many to wait for.
#define DRMSD_MATRIX_MOST 2e13

typedef struct drmsd_matrix {
    tmap_drmsd_matrix_plan plan;
    const float *frames;
    void *workspace;
    float *out;
} drmsd_matrix;

static void drmsd_matrix_run(void *context) {
    const drmsd_matrix *m = (const drmsd_matrix *)context;
    const tmap_drmsd_matrix_in in = {m->frames, 0, 0};
    if (m->plan.planes)
        CHECK(tmap_drmsd_mma(&m->plan, in, m->workspace, m->out, 0));
    else
        CHECK(tmap_drmsd_matrix(&m->plan, in, m->workspace, m->out, 0));
}

// The relative error of some results: the largest one, and to *mean the root of their mean square.
// The program ends where one is too large.
static double drmsd_matrix_verify(const drmsd_matrix *m, const drmsd_row *row, double *mean) {
    const tmap_u64 frames = m->plan.frames, n = m->plan.n;
    const double granted = drmsd_matrix_granted[m->plan.planes] * (n < 30 ? 10 : 1);
    double most = 0;
    *mean = 0;
    for (tmap_u64 k = 0; k < DRMSD_MATRIX_SAMPLE; ++k) {
        const tmap_u64 b = 1 + k * 2654435761ull % (frames - 1), a = k * 40503ull % b;
        const double sum = drmsd_sum(m->frames + 3 * a * n, m->frames + 3 * b * n, m->plan.n);
        const double want = sqrt(sum / (double)tmap_condensed_cells(n));
        float got;
        CHECK(cudaMemcpy(&got, m->out + tmap_condensed_index(a, b, frames), sizeof got,
                         cudaMemcpyDeviceToHost));
        const double error = fabs((double)got / want - 1);
        if (!(error <= granted)) {
            fflush(stdout);
            fprintf(stderr, "%s n=%u frames=%u: WRONG, %.9g instead of %.9g\n", row->variant,
                    row->n, row->frames, (double)got, want);
            exit(1);
        }
        most = error > most ? error : most, *mean += error * error / DRMSD_MATRIX_SAMPLE;
    }
    *mean = sqrt(*mean);
    return most;
}

// A form; 0: exactly. Of floats, a term takes two instructions, and 28 of 540 are others.
static void drmsd_matrix_form(const drmsd_sweep *s, const float *frames, tmap_u32 n, tmap_u32 count,
                              int form) {
    const tmap_u64 cells = tmap_condensed_cells(count);
    const drmsd_count floats = {2.11f, 0, 2};
    drmsd_row row = {
        drmsd_matrix_names[form],         n, count, (double)cells * (double)tmap_condensed_cells(n),
        form ? drmsd_count_none : floats, ""};
    drmsd_matrix m;
    double mean, most;
    cudaError_t error;
    if (!drmsd_wants(s, row.variant) || row.pairs > DRMSD_MATRIX_MOST || count < 2) return;
    error = tmap_drmsd_matrix_plan_make(n, count, 0, form, 0, &m.plan);
    if (error == cudaErrorNotSupported) return; // no such tensor cores
    CHECK(error);
    m.frames = frames;
    m.workspace = drmsd_alloc(m.plan.workspace), m.out = (float *)drmsd_alloc(4 * cells);
    CHECK(cudaMemset(m.out, 0xff, 4 * cells));
    drmsd_matrix_run(&m);
    most = drmsd_matrix_verify(&m, &row, &mean);
    snprintf(row.more, sizeof row.more, "\"error\": %.1e, \"error_rms\": %.1e", most, mean);
    drmsd_time(s, &row, drmsd_matrix_run, &m, 1);
    CHECK(cudaFree(m.workspace));
    CHECK(cudaFree(m.out));
}

// All forms for each number of atoms and of frames.
static void drmsd_matrix_sweep(const drmsd_sweep *s) {
    const int all = s->atoms.count * s->frames.count;
    for (int i = 0; i < all; ++i) {
        const tmap_u32 n = s->atoms.value[i / s->frames.count];
        const tmap_u32 count = s->frames.value[i % s->frames.count];
        float *frames = drmsd_frames(n, count);
        bench_progress(i, all, "all frames against all");
        for (int form = 0; form < DRMSD_MATRIX_FORMS; ++form)
            drmsd_matrix_form(s, frames, n, count, form);
        CHECK(cudaFree(frames));
    }
    bench_progress(all, all, "");
}

#endif
