// SPDX-License-Identifier: MIT
// pairs_rows_work.h: the work of bench_pairs with a result for each point, the pull of all others on
// it: through the library's engine, as a user writes it, which looks at each pair once, and as it is
// written by hand, by tiles of n x n: each thread has a few bodies in registers and goes through all
// others, which its block stages in shared memory (Nyland, Harris and Prins, GPU Gems 3, chapter 31).
// There each pair is computed twice.
#ifndef BENCH_TRIANGLE_PAIRS_ROWS_WORK_H
#define BENCH_TRIANGLE_PAIRS_ROWS_WORK_H

#include "pairs_sweep.h"

// ---- by hand ------------------------------------------------------------------------------------

// A form is a number of threads in a block, of bodies in a thread, and of parts that the others are
// split into where there would be too few blocks; a second kernel joins what the parts give.
#define ROWS_NXN_PARTS 16u // at most

enum { ROWS_NXN_SHAPES = 9, ROWS_NXN_FORMS = 2 * ROWS_NXN_SHAPES };

typedef struct rows_vector {
    float x, y, z;
} rows_vector;

typedef struct rows_nxn_job {
    tmap_u32 n;
    const float4 *bodies; // x, y, z, mass
    float eps2;
    float4 *parts; // n of each part
    rows_vector *out;
    int shape;
    tmap_u32 block, bodies_each, split, share; // of the form; share: the bodies of a part
} rows_nxn_job;

// The GPU's reciprocal root, off by a place or two, of numbers that are normal.
TMAP_DEVICE float rows_root(float x) {
#if defined(__CUDA_ARCH__)
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return 1 / sqrtf(x);
#endif
}

// Of `share` bodies from blockIdx.y * share on, on the bodies of the block. share: a multiple of
// BLOCK, or n. Bodies that do not exist have no mass.
template <int BLOCK, int BODIES>
static __global__ void __launch_bounds__(BLOCK)
    rows_nxn(tmap_u32 n, tmap_u32 share, const float4 *bodies, float eps2, float4 *parts,
             rows_vector *out) {
    __shared__ float4 tile[BLOCK];
    const tmap_u32 first = blockIdx.x * (BLOCK * BODIES) + threadIdx.x, from = blockIdx.y * share;
    const tmap_u32 to = n - from < share ? n : from + share;
    float4 mine[BODIES];
    rows_vector sum[BODIES];
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
        const tmap_u32 i = first + b * BLOCK;
        mine[b] = bodies[i < n ? i : 0];
        sum[b].x = sum[b].y = sum[b].z = 0;
    }
    for (tmap_u32 at = from; at < to; at += BLOCK) {
        float4 body = make_float4(0, 0, 0, 0);
        if (at + threadIdx.x < to) body = bodies[at + threadIdx.x];
        __syncthreads(); // all are through with the last tile
        tile[threadIdx.x] = body;
        __syncthreads();
#pragma unroll(32 / BODIES)
        for (int k = 0; k < BLOCK; ++k) {
            const float4 other = tile[k];
#pragma unroll
            for (int b = 0; b < BODIES; ++b) {
                const float x = other.x - mine[b].x, y = other.y - mine[b].y;
                const float z = other.z - mine[b].z;
                const float r = rows_root(eps2 + x * x + y * y + z * z);
                const float w = other.w * r * (r * r);
                sum[b].x += w * x, sum[b].y += w * y, sum[b].z += w * z;
            }
        }
    }
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
        const tmap_u32 i = first + b * BLOCK;
        if (i >= n) continue;
        if (gridDim.y == 1)
            out[i] = sum[b];
        else
            parts[(tmap_u64)blockIdx.y * n + i] = make_float4(sum[b].x, sum[b].y, sum[b].z, 0);
    }
}
static __global__ void rows_nxn_join(tmap_u32 n, tmap_u32 split, const float4 *parts,
                                     rows_vector *out) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    rows_vector sum = {0, 0, 0};
    if (i >= n) return;
    for (tmap_u32 p = 0; p < split; ++p) {
        const float4 part = parts[(tmap_u64)p * n + i];
        sum.x += part.x, sum.y += part.y, sum.z += part.z;
    }
    out[i] = sum;
}

template <int BLOCK, int BODIES>
static void rows_nxn_launch(const rows_nxn_job *j) {
    const dim3 grid((j->n + BLOCK * BODIES - 1) / (BLOCK * BODIES), j->split);
    rows_nxn<BLOCK, BODIES><<<grid, BLOCK>>>(j->n, j->share, j->bodies, j->eps2, j->parts, j->out);
    CHECK(cudaGetLastError());
    if (j->split == 1) return;
    rows_nxn_join<<<(j->n + 127) / 128, 128>>>(j->n, j->split, j->parts, j->out);
    CHECK(cudaGetLastError());
}

static const struct {
    tmap_u32 block, bodies;
    void (*launch)(const rows_nxn_job *j);
} rows_nxn_shapes[ROWS_NXN_SHAPES] = {
    {128, 1, rows_nxn_launch<128, 1>}, {128, 2, rows_nxn_launch<128, 2>},
    {128, 4, rows_nxn_launch<128, 4>}, {256, 1, rows_nxn_launch<256, 1>},
    {256, 2, rows_nxn_launch<256, 2>}, {256, 4, rows_nxn_launch<256, 4>},
    {512, 1, rows_nxn_launch<512, 1>}, {512, 2, rows_nxn_launch<512, 2>},
    {512, 4, rows_nxn_launch<512, 4>}};

// Makes a job one of a form: the others whole, or split so that there are some 24 blocks of 256
// threads for each multiprocessor. Returns 0 where that is no split.
static int rows_nxn_choose(rows_nxn_job *j, int form, tmap_u32 processors) {
    const int shape = form % ROWS_NXN_SHAPES;
    const tmap_u32 block = rows_nxn_shapes[shape].block, each = rows_nxn_shapes[shape].bodies;
    const tmap_u32 blocks = (j->n + block * each - 1) / (block * each);
    const tmap_u32 wanted = (processors * 24 * 256 / block + blocks - 1) / blocks;
    j->shape = shape, j->block = block, j->bodies_each = each, j->split = 1, j->share = j->n;
    if (form < ROWS_NXN_SHAPES) return 1;
    j->split = wanted < ROWS_NXN_PARTS ? wanted : ROWS_NXN_PARTS;
    j->share = ((j->n + j->split - 1) / j->split + block - 1) / block * block;
    j->split = (j->n + j->share - 1) / j->share;
    return j->split > 1;
}

static void rows_nxn_run(void *context) {
    const rows_nxn_job *j = (const rows_nxn_job *)context;
    rows_nxn_shapes[j->shape].launch(j);
}

// ---- by the engine ------------------------------------------------------------------------------

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

// Of pulls on all bodies: the largest difference to those in double, to found[0], and the largest of
// these, to found[1]; numbers as words, which are in the same order.
static __global__ void rows_differ(tmap_u32 n, const float4 *bodies, float eps2,
                                   const rows_vector *pulls, tmap_u64 *found) {
    BENCH_EACH(i, n) {
        const float4 u = bodies[i];
        double x = 0, y = 0, z = 0;
        for (tmap_u32 k = 0; k < n; ++k) {
            const float4 v = bodies[k];
            const double a = (double)v.x - u.x, b = (double)v.y - u.y, c = (double)v.z - u.z;
            const double r2 = a * a + b * b + c * c + (double)eps2, w = v.w / (r2 * sqrt(r2));
            x += w * a, y += w * b, z += w * c;
        }
        const double off = fabs(pulls[i].x - x) + fabs(pulls[i].y - y) + fabs(pulls[i].z - z);
        atomicMax(found, (tmap_u64)__double_as_longlong(off));
        atomicMax(found + 1, (tmap_u64)__double_as_longlong(fabs(x) + fabs(y) + fabs(z)));
    }
}

// Ends the run if pulls on the device are off by more than 10^-4 of the largest pull: bodies that are
// pulled hardly from one side, at the edges of the cube, give the scale of all.
static void rows_verify(bench_row *row, const rows_nxn_job *j, const void *pulls) {
    tmap_u64 *found = (tmap_u64 *)kit_device(16);
    double got[2];
    CHECK(cudaMemset(found, 0, 16));
    rows_differ<<<(j->n + 127) / 128, 128>>>(j->n, j->bodies, j->eps2, (const rows_vector *)pulls,
                                             found);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, found, sizeof got, cudaMemcpyDeviceToHost));
    pairs_verify(row, got[0] <= 1e-4 * got[1], got[0] / got[1], 0);
}

// ---- in a size ----------------------------------------------------------------------------------

// The best of the n x n kernels in this run. Of an ordered pair 3 differences, 3 multiplications and
// additions, a root, 3 multiplications, and 3 multiplications and additions; there are two of them.
static void pairs_sweep_nxn(pairs_sweep *s, bench_row *row, rows_nxn_job *nxn) {
    bench_time best = {0, 0, 0};
    rows_nxn_job of_best = *nxn;
    nxn->parts = (float4 *)kit_device((tmap_u64)s->n * ROWS_NXN_PARTS * sizeof *nxn->parts);
    for (int form = 0; form < ROWS_NXN_FORMS; ++form) {
        bench_time t;
        if (!rows_nxn_choose(nxn, form, s->processors)) continue;
        CHECK(cudaMemset(nxn->out, 0xff, s->n * sizeof *nxn->out));
        rows_nxn_run(nxn);
        rows_verify(row, nxn, nxn->out);
        t = bench_measure(rows_nxn_run, nxn, s->d.budget_ms);
        if (best.ms > 0 && t.ms >= best.ms) continue;
        best = t, of_best = *nxn;
    }
    row->limit_ms = pairs_limit_ms(s, 26);
    bench_row_time(row, best);
    bench_key(row, "block", "%u", of_best.block);
    bench_key(row, "bodies", "%u", of_best.bodies_each);
    bench_key(row, "parts", "%u", of_best.split);
    bench_row_end(&s->d, row);
}

// 3 differences, 3 multiplications and additions, a root, 4 multiplications, and for each of both 3
// multiplications and additions.
static void pairs_sweep_rows(pairs_sweep *s) {
    const tmap_u32 bytes = s->n * (tmap_u32)sizeof(rows_vector);
    bench_row row = pairs_row(s, PAIRS_ROWS, PAIRS_ROWS, 4);
    bench_row twice = pairs_row(s, PAIRS_ROWS_NXN, PAIRS_ROWS, 4);
    const int once = bench_wants(&s->d, &row), by_hand = bench_wants(&s->d, &twice);
    pairs_rows_job j;
    pairs_call engine = pairs_call_engine(&j);
    rows_nxn_job nxn;
    if (!once && !by_hand) return;
    j.bodies = (const float4 *)pairs_points(s, 4), j.eps2 = 1e-4f;
    nxn.n = s->n, nxn.bodies = j.bodies, nxn.eps2 = j.eps2;
    if (once) {
        j.to.result = kit_guarded(bytes), j.to.result_others = 0;
        CHECK(cudaMemset(j.to.result, 0xff, bytes));
        CHECK(tmap_pairs_rows_plan_make(s->n, 4, sizeof(float), sizeof(rows_vector),
                                        (const void *)pairs_rows, &engine.plan));
        j.to.workspace = kit_device(tmap_pairs_rows_bytes(&engine.plan, sizeof(rows_vector)));
        CHECK(cudaMemset(j.to.workspace, 0, (size_t)tmap_pairs_rows_clear(&engine.plan)));
        pairs_call_run(&engine);
        rows_verify(&row, &nxn, j.to.result);
        pairs_time(s, &row, &engine, pairs_limit_ms(s, 17));
    }
    if (!by_hand) return;
    nxn.out = (rows_vector *)kit_guarded(bytes);
    pairs_sweep_nxn(s, &twice, &nxn);
}

#endif
