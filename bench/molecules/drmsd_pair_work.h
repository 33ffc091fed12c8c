// SPDX-License-Identifier: MIT
// drmsd_pair_work.h: the dRMSD of one pair of frames in bench_drmsd: by the library, by a thread
// for each pair of atoms, by the host, and as the lecture slides go: each form, root and number of
// atoms of a thread, in its best size of blocks.
#ifndef BENCH_MOLECULES_DRMSD_PAIR_WORK_H
#define BENCH_MOLECULES_DRMSD_PAIR_WORK_H

#include "drmsd_sweep.h"

#include <threadmap/molecules/drmsd_pair.h>
#include <threadmap/papers/drmsd_slides.h>

// One pair of frames of n atoms, of which there is nothing before the first row that is wanted.
typedef struct drmsd_pair {
    drmsd_sweep *s;
    tmap_u32 n;
    int energy;         // 1: energies are measured, too
    const float *a, *b; // of the device
    double *sum;        // of the device
    double want;        // the sum by the definition
} drmsd_pair;

static drmsd_row drmsd_pair_row(const drmsd_pair *p, const char *variant, drmsd_count count) {
    return drmsd_row_begin(p->s, variant, p->n, 2, 1, count);
}

// Makes the frames and the sum by the definition, which the host verifies up to 2048 atoms.
static void drmsd_pair_make(drmsd_pair *p) {
    const float *frames = drmsd_frames(p->n, 2), *a, *b;
    drmsd_row row = drmsd_pair_row(p, "the definition", drmsd_count_none);
    double sum = 0;
    p->a = frames, p->b = frames + 3ull * p->n;
    p->sum = (double *)kit_device(sizeof *p->sum);
    p->want = drmsd_sum(p->a, p->b, p->n);
    a = (const float *)kit_to_host(frames, 24ull * p->n), b = a + 3ull * p->n;
    for (tmap_u32 i = 0; i < p->n && p->n <= 2048; ++i)
        for (tmap_u32 j = i + 1; j < p->n; ++j) sum += drmsd_term(a, b, i, j);
    if (p->n <= 2048) drmsd_verify(&row, row.pairs, p->want, sum);
}

// Whether a row is to be measured; then there are frames.
static int drmsd_pair_wants(drmsd_pair *p, drmsd_row *row) {
    if (!bench_wants(&p->s->d, &row->row)) return 0;
    if (!p->a) drmsd_pair_make(p);
    return 1;
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

static void drmsd_launch_verify(drmsd_launch *l, drmsd_row *row) {
    double got;
    drmsd_launch_run(l);
    CHECK(cudaMemcpy(&got, l->p->sum, sizeof got, cudaMemcpyDeviceToHost));
    drmsd_verify(row, row->pairs, got, l->p->want);
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
        DRMSD_SLIDES_FORM(TMAP_DRMSD_SLIDES_SLIDING_1D),
        DRMSD_SLIDES_FORM(TMAP_DRMSD_SLIDES_CACHED_2D)};
static const tmap_u32 drmsd_slides_us[DRMSD_US] = {1, 2, 4, 8};

// ---- in a size ----------------------------------------------------------------------------------

// One form, root and u in blocks of 64 to 512 threads that every launch has the shared memory for;
// *best is the launch of the least time.
static bench_time drmsd_slides_best(drmsd_pair *p, int form, int root, int u, drmsd_row *row,
                                    drmsd_launch *best) {
    bench_time least = {0, 0, 0};
    for (tmap_u32 block = 64; block <= TMAP_DRMSD_SLIDES_BLOCK_MAX; block *= 2) {
        drmsd_launch l = {p, drmsd_slides_kernels[form][root][u],
                          (tmap_u32)tmap_drmsd_slides_blocks(form, p->n, block, drmsd_slides_us[u]),
                          block, tmap_drmsd_slides_bytes(form, block, drmsd_slides_us[u])};
        bench_time t;
        if (l.shared > 48000) break;
        drmsd_launch_verify(&l, row);
        t = bench_measure_queued(drmsd_launch_run, &l, p->s->d.budget_ms / 4);
        if (!(least.ms > 0) || t.ms < least.ms) least = t, *best = l;
    }
    return least;
}

// All u of a form and root; the energy of the best of them.
static void drmsd_slides(drmsd_pair *p, int form, int root) {
    drmsd_row rows[DRMSD_US];
    drmsd_launch best[DRMSD_US];
    double times[DRMSD_US];
    int wanted[DRMSD_US], first = -1;
    for (int u = 0; u < DRMSD_US; ++u) {
        rows[u] =
            drmsd_pair_row(p, tmap_drmsd_slides_form_name(form), drmsd_count_slides(form, root, u));
        bench_key_text(&rows[u].row, "root", tmap_drmsd_slides_root_name(root));
        bench_key(&rows[u].row, "u", "%u", drmsd_slides_us[u]);
        wanted[u] = drmsd_pair_wants(p, &rows[u]);
        if (!wanted[u]) continue;
        times[u] = drmsd_slides_best(p, form, root, u, &rows[u], &best[u]).ms;
        bench_key(&rows[u].row, "block", "%u", best[u].block);
        bench_key(&rows[u].row, "read_bytes", "%llu",
                  tmap_drmsd_slides_reads(form, p->n, best[u].block, drmsd_slides_us[u]));
        if (first < 0 || times[u] < times[first]) first = u;
    }
    for (int u = 0; u < DRMSD_US; ++u)
        if (wanted[u])
            drmsd_time(p->s, &rows[u], drmsd_launch_run, &best[u], p->energy && u == first);
}

// ---- a thread for each pair ---------------------------------------------------------------------

static __global__ void drmsd_thread(const float *a, const float *b, tmap_u32 n, double *sum) {
    const tmap_u64 pairs = tmap_condensed_cells(n);
    double mine = 0;
    BENCH_EACH(k, pairs) {
        const tmap_pair64 p = tmap_condensed_map64(k, n);
        float d[6];
        for (int c = 0; c < 3; ++c) {
            d[c] = a[3 * p.i + c] - a[3 * p.j + c];
            d[3 + c] = b[3 * p.i + c] - b[3 * p.j + c];
        }
        const float e = tmapi_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) -
                        tmapi_sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]);
        mine += (double)(e * e);
    }
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

static void drmsd_pair_thread(drmsd_pair *p) {
    drmsd_row row = drmsd_pair_row(p, "thread_a_pair", drmsd_count_thread);
    drmsd_launch launch = {p, (const void *)drmsd_thread, p->s->processors * 32, 256, 0};
    if (!drmsd_pair_wants(p, &row)) return;
    drmsd_launch_verify(&launch, &row);
    drmsd_time(p->s, &row, drmsd_launch_run, &launch, p->energy);
}

// ---- by the library -----------------------------------------------------------------------------

typedef struct drmsd_library {
    const drmsd_pair *p;
    tmap_drmsd_plan plan;
    void *workspace;
    float *out;
} drmsd_library;

static void drmsd_library_run(void *context) {
    const drmsd_library *l = (const drmsd_library *)context;
    const tmap_drmsd_in in = {l->p->b, l->p->a, 0};
    CHECK(tmap_drmsd_pair(&l->plan, in, l->workspace, l->out, 0));
}

static void drmsd_pair_library(drmsd_pair *p) {
    drmsd_row row = drmsd_pair_row(p, "pair", drmsd_count_library);
    const tmap_drmsd_shape shape = {p->n, 1, TMAP_DRMSD_PAIR, 0, 0};
    drmsd_library l;
    float got;
    if (!drmsd_pair_wants(p, &row)) return;
    l.p = p;
    CHECK(tmap_drmsd_pair_plan_make(shape, &l.plan));
    l.workspace = kit_device(l.plan.workspace);
    l.out = (float *)kit_guarded(sizeof *l.out);
    CHECK(cudaMemset(l.out, 0xff, sizeof *l.out));
    drmsd_library_run(&l);
    CHECK(cudaMemcpy(&got, l.out, sizeof got, cudaMemcpyDeviceToHost));
    drmsd_verify(&row, row.pairs, (double)got, sqrt(p->want / row.pairs));
    drmsd_time(p->s, &row, drmsd_library_run, &l, p->energy);
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

// One core of the host, the best of three times, up to 8192 atoms.
static void drmsd_pair_host(drmsd_pair *p) {
    drmsd_row row = drmsd_pair_row(p, "host", drmsd_count_none);
    bench_time time = {0, 0, 3};
    const float *a;
    char cpu[48];
    if (p->n > 8192 || !drmsd_pair_wants(p, &row)) return;
    a = (const float *)kit_to_host(p->a, 24ull * p->n);
    for (int k = 0; k < time.samples; ++k) {
        const double begin = bench_seconds(&p->s->d);
        const double sum = drmsd_host_sum(a, a + 3ull * p->n, p->n);
        const double ms = 1e3 * (bench_seconds(&p->s->d) - begin);
        drmsd_verify(&row, row.pairs, sum, p->want);
        if (k == 0 || ms < time.ms) time.ms = ms;
    }
    drmsd_host_name(cpu);
    bench_key_text(&row.row, "cpu", cpu);
    bench_key(&row.row, "cores", "1");
    bench_row_time(&row.row, time);
    drmsd_row_end(p->s, &row, 0);
}

// ---- in all sizes -------------------------------------------------------------------------------

// All variants for each number of atoms; energies at the last one.
static void drmsd_pair_sweep(drmsd_sweep *s) {
    for (int i = 0; i < s->n.count; ++i) {
        drmsd_pair p = {s, s->n.value[i], i == s->n.count - 1, 0, 0, 0, 0};
        drmsd_pair_host(&p);
        drmsd_pair_library(&p);
        drmsd_pair_thread(&p);
        for (int form = 0; form < TMAP_DRMSD_SLIDES_FORMS; ++form)
            for (int root = 0; root < TMAP_DRMSD_SLIDES_ROOTS; ++root) drmsd_slides(&p, form, root);
        kit_release(0);
    }
}

#endif
