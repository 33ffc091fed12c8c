// SPDX-License-Identifier: MIT
// drmsd_slides_work.h: the dRMSD of one pair of frames as the lecture slides go, in bench_drmsd:
// each form, root and number of atoms of a thread, in its best size of blocks.
#ifndef BENCH_TRIANGLE_DRMSD_SLIDES_WORK_H
#define BENCH_TRIANGLE_DRMSD_SLIDES_WORK_H

#include "drmsd_sweep.h"

#include <threadmap/papers/drmsd_slides.h>

// One pair of frames of n atoms.
typedef struct drmsd_pair {
    drmsd_sweep *s;
    tmap_u32 n;
    const float *a, *b; // of the device
    double *sum;        // of the device
    double want;        // the sum by the definition
    int energy;         // 1: energies are measured, too
} drmsd_pair;

static drmsd_row drmsd_pair_row(const drmsd_pair *p, const char *variant, drmsd_count count) {
    drmsd_row row;
    memset(&row, 0, sizeof row);
    row.variant = variant, row.n = p->n, row.frames = 2;
    row.pairs = (double)tmap_condensed_cells(p->n), row.count = count;
    return row;
}

// A launch of a kernel that adds to the sum: kernel(a, b, n, sum).
typedef struct drmsd_launch {
    const drmsd_pair *p;
    const void *kernel;
    tmap_u32 blocks, block, shared;
} drmsd_launch;

static void drmsd_launch_run(void *context) {
    const drmsd_launch *l = (const drmsd_launch *)context;
    void *arguments[] = {(void *)&l->p->a, (void *)&l->p->b, (void *)&l->p->n, (void *)&l->p->sum};
    CHECK(cudaMemsetAsync(l->p->sum, 0, sizeof *l->p->sum, 0));
    CHECK(cudaLaunchKernel(l->kernel, dim3(l->blocks), dim3(l->block), arguments, l->shared, 0));
}

static void drmsd_launch_verify(drmsd_launch *l, const drmsd_row *row) {
    double got;
    drmsd_launch_run(l);
    CHECK(cudaMemcpy(&got, l->p->sum, sizeof got, cudaMemcpyDeviceToHost));
    drmsd_verify(row, got, l->p->want);
}

// ---- kernels ------------------------------------------------------------------------------------

template <int FORM, int ROOT, int U>
static __global__ void __launch_bounds__(TMAP_DRMSD_SLIDES_BLOCK_MAX)
    drmsd_slides_terms(const float *a, const float *b, tmap_u32 n, double *sum) {
    const tmap_drmsd_slides_how how = {FORM, ROOT, U};
    tmap_drmsd_slides(how, a, b, n, sum);
}

#define DRMSD_SLIDES_ROOT(form, root) \
    { \
        (const void *)drmsd_slides_terms<form, root, 1>, \
            (const void *)drmsd_slides_terms<form, root, 2>, \
            (const void *)drmsd_slides_terms<form, root, 4>, \
            (const void *)drmsd_slides_terms<form, root, 8> \
    }
#define DRMSD_SLIDES_FORM(form) \
    { \
        DRMSD_SLIDES_ROOT(form, TMAP_DRMSD_SLIDES_SQRT), \
            DRMSD_SLIDES_ROOT(form, TMAP_DRMSD_SLIDES_RECIPROCAL), \
            DRMSD_SLIDES_ROOT(form, TMAP_DRMSD_SLIDES_RSQRT), \
            DRMSD_SLIDES_ROOT(form, TMAP_DRMSD_SLIDES_APPROX) \
    }
static const void
    *const drmsd_slides_kernels[TMAP_DRMSD_SLIDES_FORMS][TMAP_DRMSD_SLIDES_ROOTS][DRMSD_US] = {
        DRMSD_SLIDES_FORM(TMAP_DRMSD_SLIDES_NAIVE_1D),
        DRMSD_SLIDES_FORM(TMAP_DRMSD_SLIDES_SHARED_1D),
        DRMSD_SLIDES_FORM(TMAP_DRMSD_SLIDES_TRIANGLE_2D),
        DRMSD_SLIDES_FORM(TMAP_DRMSD_SLIDES_SLIDING_1D)};
static const tmap_u32 drmsd_slides_us[DRMSD_US] = {1, 2, 4, 8};

// ---- in a size ----------------------------------------------------------------------------------

// One form, root and u in blocks of 64 to 512 threads that every launch has the shared memory for;
// *best is the launch of the least time.
static bench_time drmsd_slides_best(drmsd_pair *p, int form, int root, int u, const drmsd_row *row,
                                    drmsd_launch *best) {
    bench_time least = {0, 0, 0};
    for (tmap_u32 block = 64; block <= TMAP_DRMSD_SLIDES_BLOCK_MAX; block *= 2) {
        drmsd_launch l = {p, drmsd_slides_kernels[form][root][u],
                          (tmap_u32)tmap_drmsd_slides_blocks(form, p->n, block, drmsd_slides_us[u]),
                          block, tmap_drmsd_slides_bytes(form, block, drmsd_slides_us[u])};
        bench_time t;
        if (l.shared > 48000) break;
        drmsd_launch_verify(&l, row);
        t = bench_measure_queued(drmsd_launch_run, &l, p->s->budget_ms / 4);
        if (!(least.ms > 0) || t.ms < least.ms) least = t, *best = l;
    }
    return least;
}

// All u of a form and root; the energy of the best of them.
static void drmsd_slides_all_u(drmsd_pair *p, int form, int root) {
    drmsd_row rows[DRMSD_US];
    drmsd_launch best[DRMSD_US];
    bench_time times[DRMSD_US];
    int first = 0;
    for (int u = 0; u < DRMSD_US; ++u) {
        rows[u] =
            drmsd_pair_row(p, tmap_drmsd_slides_form_name(form), drmsd_count_slides(form, root, u));
        snprintf(rows[u].more, sizeof rows[u].more, "\"root\": \"%s\", \"u\": %u",
                 tmap_drmsd_slides_root_name(root), drmsd_slides_us[u]);
        times[u] = drmsd_slides_best(p, form, root, u, &rows[u], &best[u]);
        snprintf(rows[u].more, sizeof rows[u].more,
                 "\"root\": \"%s\", \"u\": %u, \"block\": %u, \"read_bytes\": %llu",
                 tmap_drmsd_slides_root_name(root), drmsd_slides_us[u], best[u].block,
                 tmap_drmsd_slides_reads(form, p->n, best[u].block, drmsd_slides_us[u]));
        if (times[u].ms < times[first].ms) first = u;
    }
    for (int u = 0; u < DRMSD_US; ++u)
        drmsd_time(p->s, &rows[u], drmsd_launch_run, &best[u], p->energy && u == first);
}

static void drmsd_slides(drmsd_pair *p) {
    for (int form = 0; form < TMAP_DRMSD_SLIDES_FORMS; ++form)
        for (int root = 0; root < TMAP_DRMSD_SLIDES_ROOTS; ++root) {
            char name[64];
            snprintf(name, sizeof name, "%s_%s", tmap_drmsd_slides_form_name(form),
                     tmap_drmsd_slides_root_name(root));
            if (drmsd_wants(p->s, name)) drmsd_slides_all_u(p, form, root);
        }
}

#endif
