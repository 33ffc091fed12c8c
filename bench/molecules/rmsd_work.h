// SPDX-License-Identifier: MIT
// rmsd_work.h: the RMSD after superposition in bench_drmsd, of all pairs of frames and of all from
// the first one. Tests have the definition: tests/molecules/rmsd_check.h.
#ifndef BENCH_MOLECULES_RMSD_WORK_H
#define BENCH_MOLECULES_RMSD_WORK_H

#include "../../tests/molecules/rmsd_check.h"
#include "drmsd_sweep.h"

#include <threadmap/molecules/rmsd.h>

enum { RMSD_SAMPLE = 60 };

typedef struct rmsd_job {
    tmap_rmsd_shape shape;
    const float *frames;
    void *workspace;
    float *out;
} rmsd_job;

static void rmsd_run_matrix(void *context) {
    const rmsd_job *j = (const rmsd_job *)context;
    CHECK(tmap_rmsd_matrix(j->shape, j->frames, j->workspace, j->out, 0));
}
static void rmsd_run_frames(void *context) {
    const rmsd_job *j = (const rmsd_job *)context;
    CHECK(tmap_rmsd_frames(j->shape, j->frames, j->frames, j->out, 0));
}

// A frame on the host.
static rmsd_frame rmsd_fetch(const rmsd_job *j, tmap_u64 frame) {
    const tmap_u64 size = 3ull * j->shape.n;
    return rmsd_centre((const float *)kit_to_host(j->frames + frame * size, 4 * size), 0, 0,
                       j->shape.n);
}

// The largest error of some results, in radii of gyration. The program ends where one is too large.
static double rmsd_verify(const rmsd_job *j, bench_row *row, int matrix) {
    const tmap_u64 frames = j->shape.frames;
    double most = 0;
    for (tmap_u64 k = 0; k < RMSD_SAMPLE; ++k) {
        const int mark = kit_mark();
        const tmap_u64 b = 1 + k * 2654435761ull % (frames - 1), a = matrix ? k * 40503ull % b : 0;
        const rmsd_frame of_a = rmsd_fetch(j, a), of_b = rmsd_fetch(j, b);
        const double want = rmsd_define(&of_a, &of_b);
        const tmap_u64 at = matrix ? tmap_condensed_index(a, b, frames) : b;
        float got;
        CHECK(cudaMemcpy(&got, j->out + at, sizeof got, cudaMemcpyDeviceToHost));
        const double error = fabs((double)got - want) / (double)of_a.size;
        if (!(error <= (matrix ? 1e-5 : 1e-6)))
            bench_wrong(row, "%.9g instead of %.9g", (double)got, want);
        most = error > most ? error : most;
        kit_release(mark);
    }
    row->verified = 1;
    return most;
}

// matrix: nine multiplications and additions a pair of frames and atom, on all lanes at the highest
// clock, are the limit. Else it is one read of the frames.
static void rmsd_row(drmsd_sweep *s, tmap_u32 n, tmap_u32 frames, int matrix) {
    const tmap_u64 cells = matrix ? tmap_condensed_cells(frames) : frames;
    const tmap_rmsd_shape shape = {n, frames, 0, 0, 0};
    bench_row row = bench_row_begin(&s->d, "rmsd", matrix ? "rmsd_matrix" : "rmsd_frames",
                                    matrix ? "triangle" : "frames");
    rmsd_job j = {shape, 0, 0, 0};
    bench_key(&row, "n", "%u", n);
    bench_key(&row, "frames", "%u", frames);
    bench_key_text(&row, "dtype", "f32");
    row.rate = "gpairs", row.unit = "Gpair/s", row.each = 1e-6 * (double)cells;
    row.limit_ms = matrix ? 9. * n * (double)cells / s->issue_a_ms
                          : 12e-9 * n * frames / s->d.ceilings.read_tbs;
    if (frames < 2 || !bench_wants(&s->d, &row)) return;
    j.frames = drmsd_frames(n, frames), j.out = (float *)kit_guarded(4 * cells);
    if (matrix) j.workspace = kit_device(tmap_rmsd_matrix_bytes(&shape));
    CHECK(cudaMemset(j.out, 0xff, 4 * cells));
    (matrix ? rmsd_run_matrix : rmsd_run_frames)(&j);
    bench_key(&row, "error", "%.1e", rmsd_verify(&j, &row, matrix));
    bench_row_run(&s->d, &row, matrix ? rmsd_run_matrix : rmsd_run_frames, &j);
    kit_release(0);
}

// Each number of atoms with each of frames.
static void rmsd_sweep(drmsd_sweep *s) {
    for (int i = 0; i < s->atoms.count * s->frames.count; ++i)
        for (int matrix = 0; matrix < 2; ++matrix)
            rmsd_row(s, s->atoms.value[i / s->frames.count], s->frames.value[i % s->frames.count],
                     matrix);
}

#endif
