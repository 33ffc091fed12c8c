// SPDX-License-Identifier: MIT
// drmsd_many_work.h: the dRMSD of many frames in bench_drmsd, by the library: from one reference,
// and of all against all, exactly and on tensor cores in both forms.
#ifndef BENCH_MOLECULES_DRMSD_MANY_WORK_H
#define BENCH_MOLECULES_DRMSD_MANY_WORK_H

#include "drmsd_sweep.h"

#include <threadmap/molecules/drmsd_frames.h>
#include <threadmap/molecules/drmsd_mma.h>

// ---- from one reference -------------------------------------------------------------------------

enum { DRMSD_FRAMES_SAMPLE = 24 };
// Of a pair and a frame: 3 differences, 3 multiplications and additions, a root, a difference, and
// a multiplication and addition; 22 of 310 instructions are others.
static const drmsd_count drmsd_count_frames = {9.7f, 1, 9};
// By what does not cancel: 22 of additions and multiplications, three roots and reciprocals.
static const drmsd_count drmsd_count_close = {27, 3, 22};

typedef struct drmsd_many {
    tmap_drmsd_plan plan;
    tmap_drmsd_in in; // the first frame is the reference, too
    void *workspace;
    float *out;
} drmsd_many;

static void drmsd_many_run(void *context) {
    const drmsd_many *m = (const drmsd_many *)context;
    CHECK(tmap_drmsd_frames(&m->plan, m->in, m->workspace, m->out, 0));
}

// Some of the frames, the first and the last one among them.
static void drmsd_many_verify(const drmsd_many *m, drmsd_row *row) {
    const double pairs = (double)tmap_condensed_cells(row->n);
    for (tmap_u64 k = 0; k < DRMSD_FRAMES_SAMPLE; ++k) {
        const tmap_u64 f = k * (row->frames - 1) / (DRMSD_FRAMES_SAMPLE - 1);
        const double sum = drmsd_sum(m->in.frames, m->in.frames + 3 * f * row->n, row->n);
        float got;
        CHECK(cudaMemcpy(&got, m->out + f, sizeof got, cudaMemcpyDeviceToHost));
        drmsd_verify(row, pairs, (double)got, sqrt(sum / pairs));
    }
}

// One number of atoms and of frames. energy: 1 to measure that, too.
static void drmsd_many_size(drmsd_sweep *s, tmap_u32 n, tmap_u32 count, int close, int energy) {
    drmsd_row row = drmsd_row_begin(s, close ? "frames_close" : "frames", n, count, count,
                                    close ? drmsd_count_close : drmsd_count_frames);
    const tmap_drmsd_shape shape = {n, count, close ? TMAP_DRMSD_CLOSE : TMAP_DRMSD_FRAMES, 0, 0};
    drmsd_many m;
    if (!bench_wants(&s->d, &row.row)) return;
    CHECK(tmap_drmsd_frames_plan_make(shape, &m.plan));
    m.in.reference = m.in.frames = drmsd_frames(n, count), m.in.box = 0;
    m.workspace = kit_device(m.plan.workspace);
    m.out = (float *)kit_guarded(4ull * count);
    CHECK(cudaMemset(m.out, 0xff, 4ull * count));
    drmsd_many_run(&m);
    drmsd_many_verify(&m, &row);
    drmsd_time(s, &row, drmsd_many_run, &m, energy);
    kit_release(0);
}

// ---- all against all ----------------------------------------------------------------------------

// By their numbers from TMAP_DRMSD_EXACT on, and what a result may be off by.
enum { DRMSD_MATRIX_FORMS = 3, DRMSD_MATRIX_SAMPLE = 100 };
static const char *const drmsd_matrix_names[DRMSD_MATRIX_FORMS] = {"matrix", "matrix_mma_half",
                                                                   "matrix_mma_split"};
static const double drmsd_matrix_granted[DRMSD_MATRIX_FORMS] = {1e-6, 1e-3, 2e-5};
// Terms of a run that are too many to wait for.
#define DRMSD_MATRIX_MOST 2e13

typedef struct drmsd_matrix {
    tmap_drmsd_plan plan;
    const float *frames;
    void *workspace;
    float *out;
} drmsd_matrix;

static void drmsd_matrix_run(void *context) {
    const drmsd_matrix *m = (const drmsd_matrix *)context;
    const tmap_drmsd_in in = {m->frames, 0, 0};
    if (m->plan.form != TMAP_DRMSD_EXACT)
        CHECK(tmap_drmsd_mma(&m->plan, in, m->workspace, m->out, 0));
    else
        CHECK(tmap_drmsd_matrix(&m->plan, in, m->workspace, m->out, 0));
}

// The relative error of some results: the largest one, and to *mean the root of their mean square.
// The program ends where one is too large.
static double drmsd_matrix_verify(const drmsd_matrix *m, drmsd_row *row, double *mean) {
    const tmap_u64 frames = m->plan.frames, n = m->plan.n;
    const double granted =
        drmsd_matrix_granted[m->plan.form - TMAP_DRMSD_EXACT] * (n < 30 ? 10 : 1);
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
        if (!(error <= granted)) bench_wrong(&row->row, "%.9g instead of %.9g", (double)got, want);
        most = error > most ? error : most, *mean += error * error / DRMSD_MATRIX_SAMPLE;
    }
    *mean = sqrt(*mean), row->row.verified = 1;
    return most;
}

// A form; 0: exactly. Of floats, a term takes two instructions, and 28 of 540 are others.
static void drmsd_matrix_form(drmsd_sweep *s, tmap_u32 n, tmap_u32 count, int form) {
    const tmap_u64 cells = tmap_condensed_cells(count);
    const drmsd_count floats = {2.11f, 0, 2};
    const tmap_drmsd_shape shape = {n, count, TMAP_DRMSD_EXACT + form, 0, 0};
    drmsd_row row = drmsd_row_begin(s, drmsd_matrix_names[form], n, count, (double)cells,
                                    form ? drmsd_count_none : floats);
    drmsd_matrix m;
    double mean, most;
    cudaError_t error;
    if (row.pairs > DRMSD_MATRIX_MOST || count < 2) return;
    error = tmap_drmsd_matrix_plan_make(shape, &m.plan);
    if (error == cudaErrorNotSupported) return; // no such tensor cores
    CHECK(error);
    if (!bench_wants(&s->d, &row.row)) return;
    m.frames = drmsd_frames(n, count);
    m.workspace = kit_device(m.plan.workspace), m.out = (float *)kit_guarded(4 * cells);
    CHECK(cudaMemset(m.out, 0xff, 4 * cells));
    drmsd_matrix_run(&m);
    most = drmsd_matrix_verify(&m, &row, &mean);
    bench_key(&row.row, "error", "%.1e", most);
    bench_key(&row.row, "error_rms", "%.1e", mean);
    drmsd_time(s, &row, drmsd_matrix_run, &m, 1);
    kit_release(0);
}

// Each number of atoms with each of frames: first all from one reference, then all against all.
static void drmsd_many_sweep(drmsd_sweep *s) {
    const int all = s->atoms.count * s->frames.count;
    for (int i = 0; i < 2 * all; ++i) {
        const tmap_u32 n = s->atoms.value[i % all / s->frames.count];
        const tmap_u32 count = s->frames.value[i % all % s->frames.count];
        for (int close = 0; close < 2 && i < all; ++close)
            drmsd_many_size(s, n, count, close, i == all - 1);
        for (int form = 0; form < DRMSD_MATRIX_FORMS && i >= all; ++form)
            drmsd_matrix_form(s, n, count, form);
    }
}

#endif
