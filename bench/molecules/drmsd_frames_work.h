// SPDX-License-Identifier: MIT
// drmsd_frames_work.h: the dRMSD of many frames from one reference in bench_drmsd, by the library.
#ifndef BENCH_TRIANGLE_DRMSD_FRAMES_WORK_H
#define BENCH_TRIANGLE_DRMSD_FRAMES_WORK_H

#include "drmsd_sweep.h"

#include <threadmap/molecules/drmsd_frames.h>

enum { DRMSD_FRAMES_SAMPLE = 24 };
// Of a pair and a frame: 3 differences, 3 multiplications and additions, a root, a difference, and
// a multiplication and addition; 22 of 310 instructions are others.
static const drmsd_count drmsd_count_frames = {9.7f, 1, 9};
// By what does not cancel: 22 of additions and multiplications, three roots and reciprocals.
static const drmsd_count drmsd_count_close = {27, 3, 22};

typedef struct drmsd_many {
    tmap_drmsd_frames_plan plan;
    tmap_drmsd_frames_in in; // the first frame is the reference, too
    void *workspace;
    float *out;
} drmsd_many;

static void drmsd_many_run(void *context) {
    const drmsd_many *m = (const drmsd_many *)context;
    CHECK(tmap_drmsd_frames(&m->plan, m->in, m->workspace, m->out, 0));
}

// Some of the frames, the first and the last one among them.
static void drmsd_many_verify(const drmsd_many *m, const drmsd_row *row) {
    drmsd_row one = *row;
    one.pairs = (double)tmap_condensed_cells(row->n);
    for (tmap_u64 k = 0; k < DRMSD_FRAMES_SAMPLE; ++k) {
        const tmap_u64 f = k * (row->frames - 1) / (DRMSD_FRAMES_SAMPLE - 1);
        const double sum = drmsd_sum(m->in.frames, m->in.frames + 3 * f * row->n, row->n);
        float got;
        CHECK(cudaMemcpy(&got, m->out + f, sizeof got, cudaMemcpyDeviceToHost));
        drmsd_verify(&one, (double)got, sqrt(sum / one.pairs));
    }
}

// One number of atoms and of frames. energy: 1 to measure that, too.
static void drmsd_many_size(const drmsd_sweep *s, const float *frames, tmap_u32 n, tmap_u32 count,
                            int close, int energy) {
    const double pairs = (double)tmap_condensed_cells(n) * count;
    const drmsd_row row = {close ? "frames_close" : "frames",
                           n,
                           count,
                           pairs,
                           close ? drmsd_count_close : drmsd_count_frames,
                           ""};
    drmsd_many m;
    CHECK(tmap_drmsd_frames_plan_make(n, count, 0, close, &m.plan));
    m.in.reference = m.in.frames = frames, m.in.box = 0;
    m.workspace = drmsd_alloc(tmap_drmsd_frames_bytes(&m.plan));
    m.out = (float *)drmsd_alloc(4ull * count);
    CHECK(cudaMemset(m.out, 0xff, 4ull * count));
    drmsd_many_run(&m);
    drmsd_many_verify(&m, &row);
    drmsd_time(s, &row, drmsd_many_run, &m, energy);
    CHECK(cudaFree(m.workspace));
    CHECK(cudaFree(m.out));
}

// Each number of atoms with each of frames.
static void drmsd_many_sweep(const drmsd_sweep *s) {
    const int all = s->atoms.count * s->frames.count;
    const int first = drmsd_wants(s, "frames") ? 0 : 1, last = drmsd_wants(s, "frames_close");
    for (int i = 0; i < all && first <= last; ++i) {
        const tmap_u32 n = s->atoms.value[i / s->frames.count];
        const tmap_u32 count = s->frames.value[i % s->frames.count];
        float *frames = drmsd_frames(n, count);
        bench_progress(i, all, "one frame against many");
        for (int close = first; close <= last; ++close)
            drmsd_many_size(s, frames, n, count, close, i == all - 1);
        CHECK(cudaFree(frames));
    }
    bench_progress(all, all, "");
}

#endif
