// SPDX-License-Identifier: MIT
// 05_heat.cu: your own stencil on a fractal, with the engine tmap_each_stencil. Heat flows between
// cells that share a side:
//     next = here + rate * sum over the four neighbours that are cells of (neighbour - here)
// The leftmost column is kept at 99 degrees, the rightmost at 0.
// nvcc -O3 -arch=native -I include samples/fractal/05_heat.cu -o heat
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal.h>

enum {
    R = 3,     // level of the fractal
    SIDE = 27, // of the matrix: 3^R
    PLACES = SIDE * SIDE,
    STEPS = 400,
    HOT = 99 // degrees
};

static const unsigned no_cell = 0xb4b4b4; // a colour

// [snippet: stencil]
typedef struct heat {
    float *in;
    float *out;
    float rate;
} heat;

// around: a bit for each of the nine places, 1 if it is a cell. nine: their values.
TMAP_DEVICE void flow(void *job, tmap_cell cell, tmap_u32 around, const void *nine, void *next) {
    const heat *h = (const heat *)job;
    const float *v = (const float *)nine;
    const float here = v[TMAP_HERE];
    float sum = 0;
    for (int i = TMAP_NORTH; i <= TMAP_SOUTH; i += 2) // north, west, east, south
        if (around >> i & 1) sum += v[i] - here;
    const int kept = cell.x % (SIDE - 1) == 0; // the first and the last column
    *(float *)next = kept ? here : here + h->rate * sum;
}

__global__ void __launch_bounds__(512, 2) step_cells(tmap_each_plan plan, heat h) {
    const tmap_array in = {h.in, sizeof *h.in};
    tmap_each_stencil(&plan, in, flow, h.out, &h);
}
// [/snippet]

// What flows into cell (x, y) from place (x + dx, y + dy): nothing if that is no cell.
static float flow_from(tmap_nbb f, const float *now, tmap_u32 x, tmap_u32 y, int dx, int dy) {
    const tmap_u32 i = x + (tmap_u32)dx; // -1 becomes 2^32 - 1, where no cell is
    const tmap_u32 j = y + (tmap_u32)dy;
    return tmap_nbb_contains(f, i, j, R) ? now[j * SIDE + i] - now[y * SIDE + x] : 0;
}

static void step_on_host(tmap_nbb f, float rate, const float *now, float *next) {
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) {
            const float sum = flow_from(f, now, x, y, 0, -1) + flow_from(f, now, x, y, -1, 0) +
                              flow_from(f, now, x, y, 1, 0) + flow_from(f, now, x, y, 0, 1);
            const int kept = x == 0 || x == SIDE - 1;
            next[y * SIDE + x] = now[y * SIDE + x] + (kept ? 0 : rate * sum);
        }
}

static void draw(tmap_nbb f, const float *degrees) {
    picture p = picture_make(SIDE, SIDE, 16, "Degrees after 400 steps (grey: no cell)");
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) {
            const unsigned shade = canvas_shade(degrees[y * SIDE + x] / HOT);
            picture_set(&p, x, y, tmap_nbb_contains(f, x, y, R) ? shade : no_cell);
        }
    picture_scale(&p, 0, HOT);
    picture_save(&p, "heat");
}

int main(void) {
    static float want[2][PLACES];
    static float got[PLACES];
    const tmap_nbb f = tmap_fractal_carpet();
    const float rate = 0.2f;
    check_gpu();

    for (int y = 0; y < SIDE; ++y) want[0][y * SIDE] = HOT;
    float *a;
    float *b;
    CHECK(cudaMalloc((void **)&a, sizeof got));
    CHECK(cudaMalloc((void **)&b, sizeof got));
    CHECK(cudaMemcpy(a, want[0], sizeof got, cudaMemcpyHostToDevice));

    tmap_each_plan plan;
    CHECK(tmap_each_plan_make(TMAP_EACH_STENCIL, f, R, 0, (const void *)step_cells, &plan)); // once
    const heat there = {a, b, rate};
    const heat back = {b, a, rate};
    for (int t = 0; t < STEPS; t += 2) {
        CHECK(tmap_each_launch(&plan, &there, 0));
        CHECK(tmap_each_launch(&plan, &back, 0));
    }
    CHECK(cudaMemcpy(got, a, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));

    for (int t = 0; t < STEPS; ++t) step_on_host(f, rate, want[t % 2], want[(t + 1) % 2]);
    int wrong = 0;
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        const int cell = tmap_nbb_contains(f, i % SIDE, i / SIDE, R);
        wrong += cell && !(fabsf(got[i] - want[0][i]) < 0.01f);
    }
    puts("column  degrees in the uppermost row");
    for (int x = 0; x < SIDE; x += (SIDE - 1) / 2) printf("%6d  %7.3f\n", x, got[x]);
    draw(f, got);
    return check_result("temperatures of all cells after 400 steps", wrong);
}
