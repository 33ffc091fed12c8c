// SPDX-License-Identifier: MIT
// 18_axilrod_teller.cu: all triples by tmap_pairs_fold: the three-body energy of Axilrod and Teller.
// nvcc -O3 -arch=native -I include samples/triangle/18_axilrod_teller.cu -o axilrod_teller
#include <stdio.h>
#include <threadmap/triangle/pairs.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { N = 520, SHARES = 32 };
typedef struct atoms {
    float4 p[SHARES][N]; // x, y, z, share: the atoms again for each share of the third atoms
    double energy[SHARES];
} atoms;
TMAP_FN float squared(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return x * x + y * y + z * z;
}
TMAP_FN float term(const float *i, const float *j, const float *k) { // by the law of cosines
    const float ij = squared(i, j), jk = squared(j, k), ki = squared(k, i), d = jk - ki;
    const float r = rsqrtf(ij * jk * ki), cosines = (ij * ij - d * d) * (jk + ki - ij) * (r * r);
    return r * r * r * (1 + 0.375f * cosines);
}
TMAP_DEVICE void add(void *job, void *sum, tmap_pair pair, const void *a, const void *b) {
    const float *i = (const float *)a, *j = (const float *)b;
    float part = 0;
    for (tmap_u32 at = (tmap_u32)i[3]; at < pair.i; at += SHARES) { // k < i < j
        const float4 k = (*(atoms **)job)->p[0][at]; // the same one in all lanes of a warp
        part += term(i, j, &k.x);
    }
    *(double *)sum += (double)part;
}
TMAP_DEVICE void join(void *, void *a, const void *b) { *(double *)a += *(const double *)b; }
__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) triples(tmap_pairs_plan plan, atoms *all) {
    __shared__ double scratch[TMAP_PAIRS_THREADS / 32];
    double sum, zero = 0; // the engine's workspace is behind the atoms
    tmap_pairs_fold(&plan, all->p, 0, sizeof(float), 4, add, &sum, &zero, sizeof sum, join, &all,
                    scratch, all + 1, all->energy);
}
int main(void) {
    tmap_pairs_plan plan;
    atoms *all;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(tmap_pairs_plan_make(N, 4, sizeof(float), (const void *)triples, &plan));
    CHECK(tmap_pairs_plan_sets(&plan, SHARES));
    CHECK(cudaMallocManaged((void **)&all, sizeof *all + tmap_pairs_fold_bytes(&plan, 8)));
    CHECK(cudaMemset(all + 1, 0, 8 * SHARES) || cudaDeviceSynchronize()); // once
    for (int x = 1; x <= 25; x += 6) { // atoms of a line, of towers, of a sheet
        double got = 0, want = 0;
        float4 *p = all->p[0];
        for (int i = 0; i < N * SHARES; ++i)
            p[i] = make_float4(i % N % x, i % N / x % x, i % N / (x * x), i / N);
        CHECK(tmap_pairs_launch(&plan, &all, 0) || cudaDeviceSynchronize());
        for (int i = 0; i < N; got += i < SHARES ? all->energy[i] : 0, ++i)
            for (int j = 0; j < i; ++j)
                for (int k = 0; k < j; ++k) want += (double)term(&p[i].x, &p[j].x, &p[k].x);
        wrong += !(fabs(got - want) < 1e-5 * fabs(want));
        printf("%2d x %2d: %8.5f an atom: %s\n", x, x, got / N, wrong ? "WRONG" : "ok");
    }
    return cudaFree(all) || wrong;
}
