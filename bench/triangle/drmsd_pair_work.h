// SPDX-License-Identifier: MIT
// drmsd_pair_work.h: the dRMSD of one pair of frames in bench_drmsd: by the library, by a thread
// for each pair of atoms, and by the steps of the lecture slides.
#ifndef BENCH_TRIANGLE_DRMSD_PAIR_WORK_H
#define BENCH_TRIANGLE_DRMSD_PAIR_WORK_H

#include "drmsd_slides_work.h"

#include <threadmap/triangle/drmsd_pair.h>

static __global__ void drmsd_thread(const float *a, const float *b, tmap_u32 n, double *sum) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x, pairs = tmap_condensed_cells(n);
    double mine = 0;
    for (tmap_u64 k = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; k < pairs; k += stride) {
        const tmap_pair64 p = tmap_condensed_map64(k, n);
        float d[6];
        for (int c = 0; c < 3; ++c) {
            d[c] = a[3 * p.i + c] - a[3 * p.j + c];
            d[3 + c] = b[3 * p.i + c] - b[3 * p.j + c];
        }
        const float e = tmapi_drmsd_root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) -
                        tmapi_drmsd_root(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]);
        mine += (double)(e * e);
    }
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

static void drmsd_pair_thread(drmsd_pair *p) {
    const drmsd_row row = drmsd_pair_row(p, "thread_a_pair", drmsd_count_thread);
    drmsd_launch launch = {p, (const void *)drmsd_thread, p->s->processors * 32, 256, 0};
    if (!drmsd_wants(p->s, row.variant)) return;
    drmsd_launch_verify(&launch, &row);
    drmsd_time(p->s, &row, drmsd_launch_run, &launch, p->energy);
}

// ---- by the library -----------------------------------------------------------------------------

typedef struct drmsd_library {
    const drmsd_pair *p;
    tmap_drmsd_pair_plan plan;
    void *workspace;
    float *out;
} drmsd_library;

static void drmsd_library_run(void *context) {
    const drmsd_library *l = (const drmsd_library *)context;
    CHECK(tmap_drmsd_pair(&l->plan, l->p->a, l->p->b, l->workspace, l->out, 0));
}

static void drmsd_pair_library(drmsd_pair *p) {
    const drmsd_row row = drmsd_pair_row(p, "pair", drmsd_count_library);
    const double want = sqrt(p->want / row.pairs);
    drmsd_library l;
    float got;
    if (!drmsd_wants(p->s, row.variant)) return;
    l.p = p;
    CHECK(tmap_drmsd_pair_plan_make(p->n, 0, &l.plan));
    l.workspace = drmsd_alloc(tmap_drmsd_pair_bytes(&l.plan));
    l.out = (float *)drmsd_alloc(sizeof *l.out);
    CHECK(cudaMemset(l.out, 0xff, sizeof *l.out));
    drmsd_library_run(&l);
    CHECK(cudaMemcpy(&got, l.out, sizeof got, cudaMemcpyDeviceToHost));
    drmsd_verify(&row, (double)got, want);
    drmsd_time(p->s, &row, drmsd_library_run, &l, p->energy);
    CHECK(cudaFree(l.workspace));
    CHECK(cudaFree(l.out));
}

// ---- in all sizes -------------------------------------------------------------------------------

// The sum by the definition, which up to 2048 atoms is compared with that of the host.
static double drmsd_pair_want(const drmsd_pair *p) {
    const double want = drmsd_sum(p->a, p->b, p->n);
    const drmsd_row row = drmsd_pair_row(p, "the definition", drmsd_count_thread);
    const tmap_u64 bytes = 12ull * p->n;
    double again = 0;
    float *a, *b;
    if (p->n > 2048) return want;
    a = (float *)malloc(2 * bytes), b = a + 3 * p->n;
    if (!a) bench_bad("--n: no memory for", "the atoms");
    CHECK(cudaMemcpy(a, p->a, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b, p->b, bytes, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < p->n; ++i)
        for (tmap_u32 j = i + 1; j < p->n; ++j) again += drmsd_term(a, b, i, j);
    drmsd_verify(&row, want, again);
    free(a);
    return want;
}

// All variants for each number of atoms; energies at the last one.
static void drmsd_pair_sweep(drmsd_sweep *s) {
    for (int i = 0; i < s->n.count; ++i) {
        drmsd_pair p = {s, s->n.value[i], 0, 0, 0, 0, i == s->n.count - 1};
        float *frames = drmsd_frames(p.n, 2);
        bench_progress(i, s->n.count, "one pair of frames");
        p.a = frames, p.b = frames + 3ull * p.n;
        p.sum = (double *)drmsd_alloc(sizeof *p.sum);
        p.want = drmsd_pair_want(&p);
        drmsd_pair_library(&p);
        drmsd_pair_thread(&p);
        drmsd_slides(&p);
        CHECK(cudaFree(frames));
        CHECK(cudaFree(p.sum));
    }
    bench_progress(s->n.count, s->n.count, "");
}

#endif
