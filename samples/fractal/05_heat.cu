// SPDX-License-Identifier: MIT
// 05_heat.cu: a stencil of one's own on a fractal. Heat flows between cells that touch:
//     next = here + rate * sum over the four neighbours that are cells of (neighbour - here)
// where the column on the left is kept hot and that on the right cold.
// nvcc -arch=native -I include samples/fractal/05_heat.cu -o heat && ./heat
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { R = 3, SIDE = 27, PLACES = SIDE * SIDE, STEPS = 400 };
// [snippet: stencil]
typedef struct heat {
    float *in, *out, rate;
} heat;

// around: the places that are cells, a bit each; nine: their values. For the host, too.
TMAP_FN void flow(void *job, tmap_cell cell, tmap_u32 around, const void *nine, void *next) {
    const float *v = (const float *)nine, here = v[TMAP_HERE];
    float sum = 0;
    for (int i = TMAP_NORTH; i <= TMAP_SOUTH; i += 2) // north, west, east, south
        if (around >> i & 1) sum += v[i] - here;
    *(float *)next = here + ((heat *)job)->rate * sum;
    if (cell.x == 0 || cell.x == SIDE - 1) *(float *)next = here;
}
__global__ void __launch_bounds__(512, 2) step_cells(tmap_each_plan plan, heat h) {
    tmap_stencil(&plan, h.in, h.out, sizeof *h.in, flow, &h);
}
// [/snippet]

int main(void) {
    static float want[STEPS + 1][PLACES], got[PLACES];
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_each_plan plan;
    heat h = {NULL, NULL, 0.2f}, back;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int y = 0; y < SIDE; ++y) want[0][y * SIDE] = 99;
    CHECK(cudaMalloc((void **)&h.in, sizeof got));
    CHECK(cudaMalloc((void **)&h.out, sizeof got));
    CHECK(cudaMemcpy(h.in, want[0], sizeof got, cudaMemcpyHostToDevice));
    back = h, back.in = h.out, back.out = h.in;
    // [snippet: stencil-launch]
    CHECK(tmap_stencil_plan_make(f, R, 0, (const void *)step_cells, &plan)); // once
    for (int t = 0; t < STEPS; ++t) CHECK(tmap_each_launch(&plan, t % 2 ? &back : &h, 0));
    // [/snippet]
    CHECK(cudaMemcpy(got, h.in, sizeof got, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < STEPS * PLACES; ++i) {
        const float *from = want[i / PLACES];
        tmap_cell cell = {i % SIDE, i / SIDE % SIDE, i % PLACES};
        tmap_u32 around = 0;
        float nine[9] = {0};
        ...
    }
    return 0;
}
