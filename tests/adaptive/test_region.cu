// SPDX-License-Identifier: MIT
// test_region: region.h, orders of regions and the cost model in a kernel give what they give on the
// host, whole numbers bit for bit and the others to 12 digits, for random arguments of all sizes.
#include <threadmap/papers/ask_model.h>
#include <threadmap/papers/region_hilbert.h>

#include "kit.h"

enum { QUERIES = 2000, WHOLE = 16, REAL = 5 };

typedef struct query {
    tmap_u64 a, b, c;
} query;

typedef struct answer {
    tmap_u64 whole[WHOLE];
    double real[REAL];
} answer;

TMAP_FN void ask_axes(const query *q, tmap_u64 *out) {
    tmap_u32 a = (tmap_u32)q->a, b = (tmap_u32)q->b, c = (tmap_u32)q->c;
    tmap_u32 x[4], n[4], back[4];
    tmap_xy p = {a, b};
    tmap_xyz s = {a, b, c};
    x[0] = a % 5, x[1] = b % 7, x[2] = c % 3, x[3] = a % 2;
    n[0] = 5, n[1] = 7, n[2] = 3, n[3] = 2;
    out[0] = tmap_region_canonical(4, x, n);
    tmap_region_canonical_at(4, q->a, n, back);
    out[1] = (tmap_u64)back[0] << 32 | back[1];
    out[2] = (tmap_u64)back[2] << 32 | back[3];
    out[3] = tmap_region_canonical(2, x, n);
    out[4] = tmap_region_canonical(3, x, n);
    p.x = a, p.y = b;
    out[5] = tmap_region_morton2(p);
    p = tmap_region_morton2_at(q->a);
    out[6] = (tmap_u64)p.x << 32 | p.y;
    s.x = a, s.y = b, s.z = c;
    out[7] = tmap_region_morton3(s);
    s = tmap_region_morton3_at(q->a);
    out[8] = ((tmap_u64)s.x << 40 | (tmap_u64)s.y << 20) ^ s.z;
}

// Boundaries as of a launch: n and parts of 32 bits, or of all.
TMAP_FN void ask_sizes(const query *q, tmap_u64 *out) {
    tmap_u64 parts = 1 + (tmap_u32)q->b, i = q->c % (parts + 1);
    out[0] = tmap_region_edge(q->a, parts, i);
    out[1] = tmap_region_find((tmap_u32)q->a, parts, q->c % ((tmap_u32)q->a | 1));
    out[2] = tmap_region_side_max(q->a, parts);
    out[3] = tmap_region_levels(q->a, 1 + q->b % 64, 2 + q->b % 9, 1 + q->c % 64);
    out[4] = (tmap_u64)tmap_region_check(q->a, q->b % 64, q->b % 9, q->c % 64);
    out[5] = tmap_region_parts(1 + q->b % 64, 2 + q->b % 9, (tmap_u32)(q->c % 70));
    out[6] = tmap_region_olt_size(q->a, 2 + q->b % 9, (tmap_u32)(q->c % 7));
}

TMAP_FN void ask_costs(const query *q, double *out) {
    tmap_ask_model m = {1024, 0, 0, 0, 500, 0.7, 20, 132, 128};
    m.g = 1 + q->a % 64, m.r = 2 + q->b % 7, m.b = 1 + q->c % 16;
    out[0] = tmap_ask_model_mandelbrot(&m);
    out[1] = tmap_ask_model_mandelbrot_sum(&m);
    out[2] = tmap_ask_model_omega_bound(&m);
    out[3] = tmap_ask_model_speedup_sbr(&m);
    out[4] = tmap_ask_model_speedup_mbr(&m);
}

TMAP_FN void ask_all(const query *q, answer *a) {
    ask_axes(q, a->whole);
    ask_sizes(q, a->whole + 9);
    ask_costs(q, a->real);
}

static __global__ void ask(const query *in, answer *out) {
    tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < QUERIES) ask_all(&in[i], &out[i]);
}

static query queries[QUERIES];

int main(void) {
    tmap_u64 state = 11;
    kit_begin();
    for (int i = 0; i < QUERIES; ++i) {
        queries[i].a = kit_random(&state) >> kit_below(&state, 64);
        queries[i].b = kit_random(&state) >> kit_below(&state, 64);
        queries[i].c = kit_random(&state) >> kit_below(&state, 64);
    }
    const query *asked = (const query *)kit_to_device(queries, sizeof queries);
    answer *out = (answer *)kit_guarded(QUERIES * sizeof *out);
    ask<<<(QUERIES + 127) / 128, 128>>>(asked, out);
    CHECK(cudaGetLastError());
    const answer *answers = (const answer *)kit_to_host(out, QUERIES * sizeof *out);
    for (int i = 0; i < QUERIES; ++i) {
        answer want;
        ask_all(&queries[i], &want);
        for (int k = 0; k < WHOLE; ++k)
            EXPECT(answers[i].whole[k] == want.whole[k], "query %d, whole %d: %llu, not %llu", i, k,
                   answers[i].whole[k], want.whole[k]);
        for (int k = 0; k < REAL; ++k) {
            const double got = answers[i].real[k], size = want.real[k], off = got - size;
            EXPECT(off * off <= 1e-24 * size * size, "query %d, real %d: %.15g, not %.15g", i, k,
                   got, size);
        }
    }
    return kit_end("test_region");
}
