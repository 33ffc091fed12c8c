// SPDX-License-Identifier: MIT
// 22_walk_dimension.cu: the walk dimension d_w of the gasket, by diffusion in compact storage with
// neighbours of your own choice.
//
// In t steps a random walk gets as far as t^(1/d_w). The chance p(t) that it is back in the corner
// where it began falls as t^(-d_f/d_w), d_f = log 3 / log 2. With six neighbours any two of the
// three copies touch, as in Sierpinski's gasket: d_w = log 5 / log 2, and 5 times as many steps
// lead twice as far. With the four sides alone the cells form a tree with d_w = log 6 / log 2.
// nvcc -O3 -arch=native -I include samples/fractal/22_walk_dimension.cu -o walk_dimension
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal.h>

enum {
    R = 7,        // level of the fractal
    SIDE = 128,   // of the matrix: 2^R
    CELLS = 2187, // 3^R
    MARKS = 5,    // how often p(t) is measured
    SHOWN = 64,   // side of the part of the matrix in the picture
    FRAME = 68,   // from one part to the next
    DECADES = 4   // of the scale of colours
};
static const unsigned no_cell = 0xdcdcdc;                // a colour
static const int marks[MARKS] = {5, 25, 125, 625, 3125}; // steps

enum {
    NEIGHBOURS = 1 << TMAP_NORTH | 1 << TMAP_WEST | 1 << TMAP_EAST | 1 << TMAP_SOUTH |
                 1 << TMAP_NORTH_WEST | 1 << TMAP_SOUTH_EAST
};

typedef struct walk {
    double *in;
    double *out;
} walk;

TMAP_DEVICE void go(void *, tmap_cell, tmap_u32 around, const void *nine, void *next) {
    const double *v = (const double *)nine;
    const double here = v[TMAP_HERE];
    double sum = 0;
    for (int i = 0; i < 9; ++i)
        if ((around & NEIGHBOURS) >> i & 1) sum += v[i] - here;
    *(double *)next = here + sum / 6; // a sixth to each neighbour; the rest remains
}

__global__ void __launch_bounds__(512, 2) go_cells(tmap_each_plan plan, walk w) {
    const tmap_array in = {w.in, sizeof *w.in};
    tmap_each_stencil(&plan, in, go, w.out, NULL);
}

static void go_on_host(tmap_nbb f, double now[SIDE][SIDE], double next[SIDE][SIDE]) {
    for (tmap_u64 i = 0; i < CELLS; ++i) {
        const tmap_xy64 cell = tmap_compact_cell(f, i, R);
        double sum = 0;
        for (unsigned n = 0; n < 9; ++n) {
            const tmap_u64 x = cell.x + n % 3 - 1;
            const tmap_u64 y = cell.y + n / 3 - 1;
            if ((NEIGHBOURS >> n & 1) && tmap_nbb_contains64(f, x, y, R))
                sum += now[y][x] - now[cell.y][cell.x];
        }
        next[cell.y][cell.x] = now[cell.y][cell.x] + sum / 6;
    }
}

static int check_cells(tmap_nbb f, const double p[CELLS], double want[SIDE][SIDE]) {
    int wrong = 0;
    for (tmap_u64 i = 0; i < CELLS; ++i) {
        const tmap_xy64 cell = tmap_compact_cell(f, i, R);
        wrong += !(fabs(p[i] - want[cell.y][cell.x]) < 1e-12);
    }
    return wrong;
}

// Draws the logarithm of each cell's chance, relative to that of the corner.
static void draw(picture *frames, unsigned left, tmap_nbb f, const double p[CELLS]) {
    for (unsigned y = 0; y < SHOWN; ++y)
        for (unsigned x = 0; x < SHOWN; ++x) {
            const tmap_u64 i = tmap_compact_index(f, x, y, R);
            picture_set(frames, left + x, y,
                        i < CELLS ? canvas_shade(1 + log10(p[i] / p[0]) / DECADES) : no_cell);
        }
}

int main(void) {
    static double p[CELLS] = {1}; // the walk begins in the corner
    static double want[2][SIDE][SIDE] = {{{1}}};
    const tmap_nbb f = tmap_fractal_gasket();
    check_gpu();

    double *a[2];
    for (int i = 0; i < 2; ++i) CHECK(cudaMalloc((void **)&a[i], sizeof p));
    CHECK(cudaMemcpy(a[0], p, sizeof p, cudaMemcpyHostToDevice));
    tmap_each_plan plan;
    const void *kernel = (const void *)go_cells;
    CHECK(tmap_each_plan_make(TMAP_EACH_STENCIL, f, R, TMAP_COMPACT, kernel, &plan));
    picture frames =
        picture_make((MARKS - 1) * FRAME + SHOWN, SHOWN, 3,
                     "log10 of the chance relative to the corner after 5, 25, ... 3125 steps");

    printf("log 5 / log 2 = %.4f\n     t      p(t)     d_w\n", log2(5));
    double before = 2.0 / 3; // p(1)
    double d_w = 0;
    int wrong = 0;
    unsigned frame = 0;
    for (int t = 1; t <= marks[MARKS - 1]; ++t) {
        const walk w = {a[(t - 1) % 2], a[t % 2]};
        CHECK(tmap_each_launch(&plan, &w, 0));
        go_on_host(f, want[(t - 1) % 2], want[t % 2]);
        if (t < marks[frame]) continue;
        CHECK(cudaMemcpy(p, w.out, sizeof p, cudaMemcpyDeviceToHost));
        wrong += check_cells(f, p, want[t % 2]);
        d_w = log2(3) * log(5) / log(before / p[0]); // from t / 5 to t steps
        printf("%6d  %8.6f  %6.4f\n", t, p[0], d_w);
        draw(&frames, frame++ * FRAME, f, p);
        before = p[0];
    }
    for (int i = 0; i < 2; ++i) CHECK(cudaFree(a[i]));
    picture_scale(&frames, -DECADES, 0);
    picture_save(&frames, "walk_dimension");
    wrong += !(fabs(d_w - log2(5)) < 0.01);
    return check_result("d_w, and the chances of all cells", wrong);
}
