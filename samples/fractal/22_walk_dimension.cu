// SPDX-License-Identifier: MIT
// 22_walk_dimension.cu: how slowly a random walk spreads on the gasket, in compact storage: in t
// steps as far as t^(1/d_w). It is back in its corner with a chance p(t) that falls as t^(-d_f/d_w),
// d_f = log 3 / log 2. With six neighbours three copies touch two by two, as in Sierpinski's gasket:
// d_w = log 5 / log 2. By the four sides alone the cells are a tree, of d_w = log 6 / log 2.
// nvcc -O3 -arch=native -I include samples/fractal/22_walk_dimension.cu -o walk_dimension
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { R = 7, CELLS = 2187, NEIGHBOURS = 0x1ab }; // four sides, north west, south east

// [snippet: walk]
struct state {
    double *in, *out;
};
TMAP_DEVICE void go(void *, tmap_cell, tmap_u32 around, const void *nine, void *next) {
    const double *v = (const double *)nine, here = v[TMAP_HERE];
    double sum = 0; // to each neighbour a sixth; the rest stays
    for (int i = 0; i < 9; ++i)
        if ((around & NEIGHBOURS) >> i & 1) sum += v[i] - here;
    *(double *)next = here + sum / 6;
}
__global__ void __launch_bounds__(512, 2) go_cells(tmap_each_plan plan, state s) {
    const tmap_array in = {s.in, sizeof *s.in};
    tmap_each_stencil(&plan, in, go, s.out, 0);
}
// [/snippet]

static tmap_u64 near[CELLS][9]; // a cell's neighbours on the host; itself for none

static void near_make(tmap_nbb f) {
    for (tmap_u64 i = 0; i < CELLS; ++i)
        for (tmap_u64 n = 0; n < 9; ++n) {
            const tmap_xy64 c = tmap_compact_cell(f, i, R);
            const tmap_u64 other = tmap_compact_index(f, c.x + n % 3 - 1, c.y + n / 3 - 1, R);
            near[i][n] = other < CELLS && NEIGHBOURS >> n & 1 ? other : i;
        }
}

static void go_on_host(const double *now, double *next) {
    for (int i = 0; i < CELLS; ++i) {
        double sum = 0;
        for (int n = 0; n < 9; ++n) sum += now[near[i][n]] - now[i];
        next[i] = now[i] + sum / 6;
    }
}

int main(void) {
    static double p[CELLS], want[2][CELLS] = {{1}}; // the walk begins in the corner
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_each_plan plan;
    double *a[2], before = 2.0 / 3, d_w = 0; // before: p(1)
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    near_make(f);
    for (int i = 0; i < 2; ++i) CHECK(cudaMalloc((void **)&a[i], sizeof p));
    CHECK(cudaMemcpy(a[0], want[0], sizeof p, cudaMemcpyHostToDevice));
    CHECK(tmap_each_stencil_plan_make(f, R, TMAP_COMPACT, (const void *)go_cells, &plan));

    printf("log 5 / log 2 = %.4f\n     t      p(t)     d_w\n", log2(5));
    for (int t = 1, mark = 5; mark <= 3125; ++t) {
        const state s = {a[(t - 1) % 2], a[t % 2]};
        CHECK(tmap_each_launch(&plan, &s, 0));
        go_on_host(want[(t - 1) % 2], want[t % 2]);
        if (t < mark) continue;
        CHECK(cudaMemcpy(p, s.out, sizeof p, cudaMemcpyDeviceToHost));
        for (int i = 0; i < CELLS; ++i) wrong += !(fabs(p[i] - want[t % 2][i]) < 1e-12);
        d_w = log2(3) * log(5) / log(before / p[0]); // from t / 5 to t
        printf("%6d  %8.6f  %6.4f\n", t, p[0], d_w);
        before = p[0], mark *= 5;
    }
    wrong += !(fabs(d_w - log2(5)) < 0.01);
    printf("d_w, and all cells: %s\n", wrong ? "WRONG" : "ok");
    return cudaFree(a[0]) || cudaFree(a[1]) || wrong;
}
