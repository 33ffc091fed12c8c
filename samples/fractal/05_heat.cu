// SPDX-License-Identifier: MIT
// 05_heat.cu: a stencil of one's own on a fractal, by the engine tmap_stencil. Heat flows between
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
    tmap_stencil(&plan, h.in, h.out, sizeof *h.in, flow, &h);
}
// [/snippet]

int main(void) {
    static float want[(STEPS + 1) * PLACES], got[PLACES]; // want: of all steps
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_each_plan plan;
    heat h = {NULL, NULL, 0.2f};
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int i = 0; i < PLACES; i += SIDE) want[i] = 99;
    CHECK(cudaMalloc((void **)&h.in, 2 * sizeof got));
    CHECK(cudaMemcpy(h.in, want, sizeof got, cudaMemcpyHostToDevice));
    h.out = h.in + PLACES;
    // [snippet: stencil-launch]
    heat back = {h.out, h.in, h.rate};
    CHECK(tmap_stencil_plan_make(f, R, 0, (const void *)step_cells, &plan)); // once
    for (int t = 0; t < STEPS; ++t) CHECK(tmap_each_launch(&plan, t % 2 ? &back : &h, 0));
    // [/snippet]
    CHECK(cudaMemcpy(got, h.in, sizeof got, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < STEPS * PLACES; ++i) { // the same on the host, where -1 is no cell
        const tmap_u32 x = i % SIDE, y = i / SIDE % SIDE;
        float sum = tmap_nbb_contains(f, x, y - 1, R) ? want[i - SIDE] - want[i] : 0;
        if (tmap_nbb_contains(f, x - 1, y, R)) sum += want[i - 1] - want[i];
        if (tmap_nbb_contains(f, x + 1, y, R)) sum += want[i + 1] - want[i];
        if (tmap_nbb_contains(f, x, y + 1, R)) sum += want[i + SIDE] - want[i];
        want[i + PLACES] = x % (SIDE - 1) ? want[i] + h.rate * sum : want[i];
    }
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        const int cell = tmap_nbb_contains(f, i % SIDE, i / SIDE, R);
        wrong += cell && !(fabsf(got[i] - want[STEPS * PLACES + i]) < 0.01f);
        printf(i % SIDE < SIDE - 1 ? "%c " : "%c\n", cell ? '0' + (int)got[i] / 10 : ' ');
    }
    printf("tens of degrees after %d steps: %s\n", STEPS, wrong ? "WRONG" : "ok");
    return cudaFree(h.in) || wrong;
}
