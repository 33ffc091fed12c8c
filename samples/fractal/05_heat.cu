// SPDX-License-Identifier: MIT
// 05_heat.cu: a stencil of one's own on a fractal, by the engine tmap_each_stencil. Heat flows between
// cells that touch at a side; the column on the left is kept at 99 degrees, that on the right at 0:
//     next = here + rate * sum over the four neighbours that are cells of (neighbour - here)
// nvcc -O3 -arch=native -I include samples/fractal/05_heat.cu -o heat
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { R = 3, SIDE = 27, PLACES = SIDE * SIDE, STEPS = 400 };

// [snippet: stencil]
typedef struct heat {
    float *in, *out, rate;
} heat;

// around: the nine places that are cells, a bit each. nine: their values.
TMAP_DEVICE void flow(void *job, tmap_cell cell, tmap_u32 around, const void *nine, void *next) {
    const float *v = (const float *)nine, here = v[TMAP_HERE];
    float sum = 0;
    for (int i = TMAP_NORTH; i <= TMAP_SOUTH; i += 2) // north, west, east, south
        if (around >> i & 1) sum += v[i] - here;
    *(float *)next = cell.x % (SIDE - 1) ? here + ((heat *)job)->rate * sum : here;
}
__global__ void __launch_bounds__(512, 2) step_cells(tmap_each_plan plan, heat h) {
    const tmap_array in = {h.in, sizeof *h.in};
    tmap_each_stencil(&plan, in, flow, h.out, &h);
}
// [/snippet]

// A step on the host, at every place: what flows to places that are no cells does not matter.
static void step_on_host(tmap_nbb f, float rate, const float *now, float *next) {
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        const tmap_u32 x = i % SIDE, y = i / SIDE;
        float sum = 0;
        if (tmap_nbb_contains(f, x, y - 1, R)) sum += now[i - SIDE] - now[i]; // -1 is no cell
        if (tmap_nbb_contains(f, x - 1, y, R)) sum += now[i - 1] - now[i];
        if (tmap_nbb_contains(f, x + 1, y, R)) sum += now[i + 1] - now[i];
        if (tmap_nbb_contains(f, x, y + 1, R)) sum += now[i + SIDE] - now[i];
        next[i] = x % (SIDE - 1) ? now[i] + rate * sum : now[i];
    }
}

int main(void) {
    static float want[2][PLACES], got[PLACES];
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_each_plan plan;
    heat h = {NULL, NULL, 0.2f};
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int i = 0; i < PLACES; i += SIDE) want[0][i] = 99;
    CHECK(cudaMalloc((void **)&h.in, sizeof got));
    CHECK(cudaMalloc((void **)&h.out, sizeof got));
    CHECK(cudaMemcpy(h.in, want[0], sizeof got, cudaMemcpyHostToDevice));

    // [snippet: stencil-launch]
    heat back = {h.out, h.in, h.rate};
    CHECK(tmap_each_stencil_plan_make(f, R, 0, (const void *)step_cells, &plan)); // once
    for (int t = 0; t < STEPS; ++t) CHECK(tmap_each_launch(&plan, t % 2 ? &back : &h, 0));
    // [/snippet]
    CHECK(cudaMemcpy(got, h.in, sizeof got, cudaMemcpyDeviceToHost));

    for (int t = 0; t < STEPS; ++t) step_on_host(f, h.rate, want[t % 2], want[(t + 1) % 2]);
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        const int cell = tmap_nbb_contains(f, i % SIDE, i / SIDE, R);
        wrong += cell && !(fabsf(got[i] - want[0][i]) < 0.01f);
        printf(i % SIDE < SIDE - 1 ? "%c " : "%c\n", cell ? '0' + (int)got[i] / 10 : ' ');
    }
    printf("tens of degrees after %d steps: %s\n", STEPS, wrong ? "WRONG" : "ok");
    return cudaFree(h.in) || cudaFree(h.out) || wrong;
}
