// SPDX-License-Identifier: MIT
// 27_axilrod_teller.cu: one value from all triples of n points (tmap_triples_fold). Here it is the
// energy of Axilrod and Teller, the three-body part of the attraction between atoms of argon:
//
//     E = nu * sum over i > j > k of (1 + 3 cos a cos b cos c) / (r_ij r_jk r_ik)^3
//
// where a, b, c are the angles of the triangle. With the squared distances u, v, w of a triangle,
// cos a cos b cos c = (u + v - w)(v + w - u)(w + u - v) / (8 u v w), so a term needs one root.
//
// Each thread adds its terms in single precision. The engine joins the sums of all threads with
// your function `join`, here in double precision, in an order that does not depend on the grid.
// nvcc -O3 -arch=native -I include samples/triangle/27_axilrod_teller.cu -o axilrod_teller
#include "../check.h"

#include <threadmap/triangle/triples.h>

enum { EDGE = 6, N = EDGE * EDGE * EDGE }; // atoms along an edge of the crystal, and all
#define SPACING 0.3755                     // nm between neighbours
#define NU      4.43e-6                    // kJ/mol nm^9, of argon: 518 atomic units

typedef struct energy { // the accumulator
    float part;         // terms that a thread has added since the last join
    tmap_u32 unused;
    double sum;
} energy;

typedef struct crystal {
    const float *atoms; // x, y, z of each
    tmap_fold_to to;    // the result, and workspace for the engine
} crystal;

TMAP_FN float squared_distance(const float *a, const float *b) {
    const float x = a[0] - b[0];
    const float y = a[1] - b[1];
    const float z = a[2] - b[2];
    return x * x + y * y + z * z;
}

TMAP_DEVICE void join(void *, void *sum, const void *other) {
    energy *s = (energy *)sum;
    const energy *o = (const energy *)other;
    s->sum += (double)s->part + ((double)o->part + o->sum);
    s->part = 0;
}

// [snippet: axilrod-teller]
TMAP_DEVICE void add(void *, void *sum, tmap_triple, const void *a, const void *b, const void *c) {
    const float u = squared_distance((const float *)a, (const float *)b);
    const float v = squared_distance((const float *)b, (const float *)c);
    const float w = squared_distance((const float *)a, (const float *)c);
    const float inverse = rsqrtf(u * (v * w)); // 1 / (r_ij r_jk r_ik)
    const float squared = inverse * inverse;
    const float angles = (u * u - (v - w) * (v - w)) * (v + w - u); // 8 u v w cos a cos b cos c
    ((energy *)sum)->part += inverse * squared * (1 + 0.375f * angles * squared);
}

__global__ void __launch_bounds__(TMAP_TRIPLES_THREADS, 4)
    attract(tmap_triples_plan plan, crystal c) {
    const tmap_points points = {c.atoms, 0, sizeof(float), 3}; // 3 coordinates
    const energy zero = {0, 0, 0};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_triples_fold(&plan, points, add, fold, c.to, 0);
}
// [/snippet]

static double distance_on_host(const float *a, const float *b) {
    return sqrt(pow((double)a[0] - b[0], 2) + pow((double)a[1] - b[1], 2) +
                pow((double)a[2] - b[2], 2));
}

// The sum, by the angles.
static double sum_on_host(float atoms[N][3]) {
    double sum = 0;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < i; ++j)
            for (int k = 0; k < j; ++k) {
                const double p = distance_on_host(atoms[i], atoms[j]);
                const double q = distance_on_host(atoms[j], atoms[k]);
                const double r = distance_on_host(atoms[i], atoms[k]);
                const double at_i = (p * p + r * r - q * q) / (2 * p * r);
                const double at_j = (p * p + q * q - r * r) / (2 * p * q);
                const double at_k = (q * q + r * r - p * p) / (2 * q * r);
                sum += (1 + 3 * at_i * at_j * at_k) / pow(p * q * r, 3);
            }
    return sum;
}

int main(void) {
    static float atoms[N][3];
    check_gpu();

    // A cubic crystal whose atoms are a little off their places.
    for (tmap_u32 i = 0; i < N; ++i) {
        const tmap_u32 place[3] = {i % EDGE, i / EDGE % EDGE, i / (EDGE * EDGE)};
        for (tmap_u32 x = 0; x < 3; ++x) {
            const tmap_u32 number = (3 * i + x) * (3 * i + x) * 2654435769u >> 22; // below 2^10
            atoms[i][x] = (float)(SPACING * (place[x] + 0.1 * number / 1024));
        }
    }
    crystal c;
    CHECK(cudaMalloc((void **)&c.atoms, sizeof atoms));
    CHECK(cudaMemcpy((void *)c.atoms, atoms, sizeof atoms, cudaMemcpyHostToDevice));

    tmap_triples_plan plan;
    CHECK(tmap_triples_plan_make(N, 3, sizeof(float), (const void *)attract, &plan)); // once
    CHECK(cudaMalloc(&c.to.workspace, plan.workspace));
    CHECK(cudaMemset(c.to.workspace, 0, plan.workspace)); // once
    CHECK(cudaMalloc(&c.to.result, sizeof(energy)));

    energy all;
    CHECK(tmap_triples_launch(&plan, &c, 0));
    CHECK(cudaMemcpy(&all, c.to.result, sizeof all, cudaMemcpyDeviceToHost));

    // The same in two shares, as on two GPUs: the sum of their results.
    energy share[2];
    for (int s = 0; s < 2; ++s) {
        const tmap_u64 half = plan.items / 2;
        CHECK(tmap_triples_plan_share(&plan, s * half, s ? plan.items - half : half));
        CHECK(tmap_triples_launch(&plan, &c, 0));
        CHECK(cudaMemcpy(&share[s], c.to.result, sizeof *share, cudaMemcpyDeviceToHost));
    }
    const double want = sum_on_host(atoms);
    const double tolerance = 1e-5 * fabs(want);
    printf("%llu triples of %d atoms: %.4f kJ/mol\n", tmap_triples_cells(N), N, NU * all.sum);
    printf("for each atom:            %.4f kJ/mol\n", NU * all.sum / N);
    printf("in two shares: %.4f and %.4f kJ/mol\n", NU * share[0].sum, NU * share[1].sum);
    printf("by the host, in double precision: %.4f kJ/mol\n", NU * want);
    const int wrong = !(fabs(all.sum - want) <= tolerance) +
                      !(fabs(share[0].sum + share[1].sum - want) <= tolerance);
    CHECK(cudaFree((void *)c.atoms));
    CHECK(cudaFree(c.to.workspace));
    CHECK(cudaFree(c.to.result));
    return check_result("the energy of three atoms", wrong);
}
