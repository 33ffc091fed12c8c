// SPDX-License-Identifier: MIT
// pairs_rows_work.h: the work of bench_pairs with a result for each point, the pull of all others on
// it: through the library's engine, as a user writes it, which looks at each pair once, and by the
// n x n tiles of rows_nxn.h.
#ifndef BENCH_TRIANGLE_PAIRS_ROWS_WORK_H
#define BENCH_TRIANGLE_PAIRS_ROWS_WORK_H

#include "pairs_sweep.h"
#include "rows_nxn.h"

typedef struct pairs_rows_job {
    const float4 *bodies; // x, y, z, mass
    float eps2;
    tmap_pairs_rows_to to;
} pairs_rows_job;

TMAP_DEVICE void pairs_pull(void *job, tmap_pair, const void *a, const void *b, void *to_i,
                            void *to_j) {
    const float *u = (const float *)a, *v = (const float *)b;
    const float x = v[0] - u[0], y = v[1] - u[1], z = v[2] - u[2];
    const float r = rows_root(((const pairs_rows_job *)job)->eps2 + x * x + y * y + z * z);
    const float w = r * r * r, i = v[3] * w, j = u[3] * w;
    rows_vector *p = (rows_vector *)to_i, *q = (rows_vector *)to_j;
    p->x += i * x, p->y += i * y, p->z += i * z;
    q->x -= j * x, q->y -= j * y, q->z -= j * z;
}
TMAP_DEVICE void pairs_pull_join(void *, void *sum, const void *other) {
    rows_vector *p = (rows_vector *)sum;
    const rows_vector *q = (const rows_vector *)other;
    p->x += q->x, p->y += q->y, p->z += q->z;
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 4)
    pairs_rows(tmap_pairs_plan plan, pairs_rows_job j) {
    const tmap_points points = {j.bodies, 0, sizeof(float), 4};
    const rows_vector zero = {0, 0, 0};
    const tmap_fold pulls = {&zero, sizeof zero, pairs_pull_join};
    tmap_pairs_rows(&plan, points, pairs_pull, pulls, j.to, &j);
}

// ---- verification -------------------------------------------------------------------------------

// The pull on one body, in double.
static void rows_reference(tmap_u32 n, const float4 *bodies, double eps2, tmap_u32 body,
                           double pull[3]) {
    const float4 u = bodies[body];
    pull[0] = pull[1] = pull[2] = 0;
    for (tmap_u32 k = 0; k < n; ++k) {
        const float4 v = bodies[k];
        const double x = (double)v.x - u.x, y = (double)v.y - u.y, z = (double)v.z - u.z;
        const double r2 = x * x + y * y + z * z + eps2, w = v.w / (r2 * sqrt(r2));
        pull[0] += w * x, pull[1] += w * y, pull[2] += w * z;
    }
}

// The largest member of n pulls.
static double rows_largest(tmap_u32 n, const rows_vector *pulls) {
    double most = 0;
    for (tmap_u32 k = 0; k < n; ++k)
        most = fmax(most, fmax(fabs(pulls[k].x), fmax(fabs(pulls[k].y), fabs(pulls[k].z))));
    return most;
}

// The largest difference of members of two pulls; no number where one of them is none.
static double rows_apart(rows_vector a, double x, double y, double z) {
    const double u = fabs(a.x - x), v = fabs(a.y - y), w = fabs(a.z - z), sum = u + v + w;
    return sum == sum ? fmax(u, fmax(v, w)) : sum;
}

// What verifies pulls. Bodies that are pulled hardly from one side, at the edges of the cube, give
// the scale of all.
typedef struct rows_check {
    tmap_u32 n;
    const float4 *bodies; // of the host
    float eps2;
    rows_vector *got, *want; // of the host; want: the engine's
    double largest;
} rows_check;

enum { ROWS_REFERENCES = 9 };

// The largest difference to bodies computed on the host, and, if all is not 0, to all of the
// engine's; in units of the largest pull.
static double rows_error(const rows_check *c, const rows_vector *device, int all) {
    double most = 0;
    CHECK(cudaMemcpy(c->got, device, c->n * sizeof *device, cudaMemcpyDeviceToHost));
    for (tmap_u32 k = 0; k < ROWS_REFERENCES; ++k) {
        const tmap_u32 body = (tmap_u32)((c->n - 1ull) * k / (ROWS_REFERENCES - 1));
        double pull[3], apart;
        rows_reference(c->n, c->bodies, c->eps2, body, pull);
        apart = rows_apart(c->got[body], pull[0], pull[1], pull[2]);
        if (!(apart <= most)) most = apart;
    }
    for (tmap_u32 k = 0; all && k < c->n; ++k) {
        const double apart = rows_apart(c->got[k], c->want[k].x, c->want[k].y, c->want[k].z);
        if (!(apart <= most)) most = apart;
        if (most != most) break;
    }
    return most / (all ? c->largest : rows_largest(c->n, c->got));
}

// ---- in a size ----------------------------------------------------------------------------------

// The best of the n x n kernels in this run. Of an ordered pair 3 differences, 3 multiplications and
// additions, a root, 3 multiplications, and 3 multiplications and additions; there are two of them.
static void pairs_sweep_nxn(pairs_sweep *s, const rows_check *check, rows_nxn_job *nxn) {
    bench_time best = {0, 0, 0};
    char more[128] = "";
    nxn->parts = (float4 *)pairs_alloc((tmap_u64)s->n * ROWS_NXN_PARTS * sizeof *nxn->parts);
    for (int form = 0; form < ROWS_NXN_FORMS; ++form) {
        double error;
        bench_time t;
        if (!rows_nxn_choose(nxn, form, s->processors)) continue;
        CHECK(cudaMemset(nxn->out, 0xff, s->n * sizeof *nxn->out));
        rows_nxn_run(nxn);
        error = rows_error(check, nxn->out, 1);
        if (!(error <= 1e-4)) pairs_wrong(s, PAIRS_ROWS_NXN, PAIRS_ROWS, error, 0);
        t = bench_measure(rows_nxn_run, nxn, s->budget_ms);
        if (best.ms > 0 && t.ms >= best.ms) continue;
        best = t;
        snprintf(more, sizeof more, "\"block\": %u, \"bodies\": %u, \"parts\": %u", nxn->block,
                 nxn->bodies_each, nxn->split);
    }
    pairs_record(s, PAIRS_ROWS_NXN, PAIRS_ROWS, 4, best, pairs_limit_ms(s, 26), more);
    CHECK(cudaFree(nxn->parts));
}

// 3 differences, 3 multiplications and additions, a root, 4 multiplications, and for each of both 3
// multiplications and additions.
static void pairs_sweep_rows(pairs_sweep *s) {
    const tmap_u32 bytes = s->n * (tmap_u32)sizeof(rows_vector);
    pairs_rows_job j;
    pairs_call engine = pairs_call_engine(&j);
    rows_nxn_job nxn;
    rows_check check;
    float4 *bodies;
    double error;
    if (!pairs_wants(s, PAIRS_ROWS, PAIRS_ROWS) && !pairs_wants(s, PAIRS_ROWS_NXN, PAIRS_ROWS))
        return;
    bodies = (float4 *)malloc(s->n * sizeof *bodies);
    check.got = (rows_vector *)malloc(bytes), check.want = (rows_vector *)malloc(bytes);
    if (!bodies || !check.got || !check.want) bench_bad("--n: no memory for", "the bodies");
    j.bodies = (const float4 *)pairs_points(s, 4), j.eps2 = 1e-4f;
    CHECK(cudaMemcpy(bodies, j.bodies, s->n * sizeof *bodies, cudaMemcpyDeviceToHost));
    j.to.result = pairs_alloc(bytes), j.to.result_others = 0;
    CHECK(cudaMemset(j.to.result, 0xff, bytes));
    CHECK(tmap_pairs_rows_plan_make(s->n, 4, sizeof(float), sizeof(rows_vector),
                                    (const void *)pairs_rows, &engine.plan));
    j.to.workspace = pairs_alloc(tmap_pairs_rows_bytes(&engine.plan, sizeof(rows_vector)));
    CHECK(cudaMemset(j.to.workspace, 0, (size_t)tmap_pairs_rows_clear(&engine.plan)));
    check.n = s->n, check.bodies = bodies, check.eps2 = j.eps2;
    pairs_call_run(&engine);
    error = rows_error(&check, (const rows_vector *)j.to.result, 0);
    if (!(error <= 1e-4)) pairs_wrong(s, PAIRS_ROWS, PAIRS_ROWS, error, 0);
    memcpy(check.want, check.got, bytes);
    check.largest = rows_largest(s->n, check.want);
    // All bodies are compared before the engine is timed, by one of the other kernels.
    nxn.n = s->n, nxn.bodies = j.bodies, nxn.eps2 = j.eps2;
    nxn.out = (rows_vector *)pairs_alloc(bytes), nxn.parts = 0;
    rows_nxn_choose(&nxn, 0, s->processors);
    rows_nxn_run(&nxn);
    error = rows_error(&check, nxn.out, 1);
    if (!(error <= 1e-4)) pairs_wrong(s, PAIRS_ROWS, PAIRS_ROWS, error, 0);
    pairs_time(s, PAIRS_ROWS, PAIRS_ROWS, 4, &engine, pairs_limit_ms(s, 17), "");
    if (pairs_wants(s, PAIRS_ROWS_NXN, PAIRS_ROWS)) pairs_sweep_nxn(s, &check, &nxn);
    CHECK(cudaFree((void *)j.bodies));
    CHECK(cudaFree(j.to.result));
    CHECK(cudaFree(j.to.workspace));
    CHECK(cudaFree(nxn.out));
    free(bodies), free(check.got), free(check.want);
}

#endif
