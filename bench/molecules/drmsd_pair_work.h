// SPDX-License-Identifier: MIT
// drmsd_pair_work.h: the dRMSD of one pair of frames in bench_drmsd: by the library, by a thread
// for each pair of atoms, and by the steps of the lecture slides.
#ifndef BENCH_TRIANGLE_DRMSD_PAIR_WORK_H
#define BENCH_TRIANGLE_DRMSD_PAIR_WORK_H

#include "drmsd_slides_work.h"

#include <threadmap/molecules/drmsd_pair.h>

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

// ---- by the host --------------------------------------------------------------------------------

// The sum in floats, in double for each i, as one writes it.
static double drmsd_host_sum(const float *a, const float *b, tmap_u32 n) {
    double sum = 0;
    for (tmap_u32 i = 0; i < n; ++i) {
        const float *u = a + 3ull * i, *v = b + 3ull * i;
        float part = 0;
        for (tmap_u32 j = i + 1; j < n; ++j) {
            const float *p = a + 3ull * j, *q = b + 3ull * j;
            const float x = u[0] - p[0], y = u[1] - p[1], z = u[2] - p[2];
            const float r = v[0] - q[0], s = v[1] - q[1], t = v[2] - q[2];
            const float d = sqrtf(x * x + y * y + z * z) - sqrtf(r * r + s * s + t * t);
            part += d * d;
        }
        sum += (double)part;
    }
    return sum;
}

// The name of this machine's processor.
static void drmsd_host_name(char name[48]) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(name, 48, "unknown");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %47[^\n\"\\]", name) == 1) break;
    if (file) fclose(file);
}

// Verifies the sum of the definition by the host, up to 2048 atoms.
static void drmsd_pair_check(const drmsd_pair *p, const float *a, const float *b) {
    const drmsd_row row = drmsd_pair_row(p, "the definition", drmsd_count_thread);
    double sum = 0;
    if (p->n > 2048) return;
    for (tmap_u32 i = 0; i < p->n; ++i)
        for (tmap_u32 j = i + 1; j < p->n; ++j) sum += drmsd_term(a, b, i, j);
    drmsd_verify(&row, p->want, sum);
}

// One core of the host, the best of three times, up to 8192 atoms.
static void drmsd_pair_host(drmsd_pair *p) {
    drmsd_row row = drmsd_pair_row(p, "host", drmsd_count_none);
    const tmap_u64 bytes = 12ull * p->n;
    bench_time time = {0, 0, 3};
    float *a, *b;
    char cpu[48];
    if (p->n > 8192) return;
    a = (float *)malloc(2 * bytes), b = a + 3ull * p->n;
    if (!a) bench_bad("--n: no memory for", "the atoms");
    CHECK(cudaMemcpy(a, p->a, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b, p->b, bytes, cudaMemcpyDeviceToHost));
    drmsd_pair_check(p, a, b);
    for (int k = 0; k < time.samples && drmsd_wants(p->s, row.variant); ++k) {
        struct timespec begin, end;
        double ms;
        timespec_get(&begin, TIME_UTC);
        drmsd_verify(&row, drmsd_host_sum(a, b, p->n), p->want);
        timespec_get(&end, TIME_UTC);
        ms =
            1e3 * difftime(end.tv_sec, begin.tv_sec) + 1e-6 * (double)(end.tv_nsec - begin.tv_nsec);
        if (k == 0 || ms < time.ms) time.ms = ms;
    }
    drmsd_host_name(cpu);
    snprintf(row.more, sizeof row.more, "\"cpu\": \"%s\", \"cores\": 1", cpu);
    if (time.ms > 0) drmsd_record(p->s, &row, time, 0);
    free(a);
}

// ---- in all sizes -------------------------------------------------------------------------------

// All variants for each number of atoms; energies at the last one.
static void drmsd_pair_sweep(drmsd_sweep *s) {
    for (int i = 0; i < s->n.count; ++i) {
        drmsd_pair p = {s, s->n.value[i], 0, 0, 0, 0, i == s->n.count - 1};
        float *frames = drmsd_frames(p.n, 2);
        bench_progress(i, s->n.count, "one pair of frames");
        p.a = frames, p.b = frames + 3ull * p.n;
        p.sum = (double *)drmsd_alloc(sizeof *p.sum);
        p.want = drmsd_sum(p.a, p.b, p.n);
        drmsd_pair_host(&p);
        drmsd_pair_library(&p);
        drmsd_pair_thread(&p);
        drmsd_slides(&p);
        CHECK(cudaFree(frames));
        CHECK(cudaFree(p.sum));
    }
    bench_progress(s->n.count, s->n.count, "");
}

#endif
