// SPDX-License-Identifier: MIT
// 12_mandelbrot_ask.cu: the Mandelbrot set by adaptive subdivision (ASK), with the ready kernels of
// adaptive/mandelbrot.h.
//
// The dwell of a pixel c = x + i y is the number of steps before |z| reaches 2, at most DWELL:
//     d = 0; z = c; while (d < DWELL && |z|^2 < 4) { z = z^2 + c; d = d + 1; }
// A region with one dwell all along its border is filled with that dwell (Mariani and Silver).
// Other regions are cut, and those of the last level are computed pixel by pixel.
// nvcc -O3 -arch=native -I include samples/adaptive/12_mandelbrot_ask.cu -o mandelbrot_ask
#include "../check.h"
#include "../picture.h"

#include <threadmap/adaptive/mandelbrot.h>

#include <math.h>

enum {
    SIDE = 512,  // pixels along each axis
    DWELL = 512, // steps at most
    MISSED = 5   // pixels that may differ from the host's
};

// Counts the pixels whose dwell differs from that of the loop above, run for each pixel.
static int check_dwells(const tmap_mandelbrot *m, const int dwell[SIDE][SIDE]) {
    int wrong = 0;
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) wrong += dwell[y][x] != tmap_mandelbrot_dwell(m, x, y);
    return wrong;
}

// Draws the dwells by their logarithm, above a scale of them.
static void draw(const int dwell[SIDE][SIDE]) {
    const double most = log2(DWELL + 1.0);
    picture p = picture_make(SIDE, SIDE, 1, "Mandelbrot set by subdivision: dwells, log scale");
    for (unsigned y = 0; y < SIDE; ++y)
        for (unsigned x = 0; x < SIDE; ++x)
            picture_set(&p, x, y, canvas_shade(log2(dwell[y][x] + 1.0) / most));

    const double ends[2] = {0, exp2(most) - 1};
    canvas_scale(&p.all, PICTURE_MARGIN, p.all.high - 34, SIDE, ends, 1);
    picture_save(&p, "mandelbrot_ask");
}

int main(void) {
    static int got[SIDE][SIDE];
    check_gpu();

    int *out;
    CHECK(cudaMalloc((void **)&out, sizeof got));

    // [snippet: mandelbrot]
    tmap_mandelbrot m = tmap_mandelbrot_make(SIDE, SIDE, DWELL); // [-1.5, 0.5] x [-1, 1]
    tmap_ask_params params = {8, 4, 4}; // 8 x 8 regions of side 64, cut into 4 x 4 of side 16
    tmap_ask_workspace workspace;
    tmap_mandelbrot_plan plan;
    CHECK(tmap_mandelbrot_workspace_create(&m, params, 0, &workspace)); // once
    CHECK(tmap_mandelbrot_plan_make(&m, &workspace, &plan));
    CHECK(tmap_mandelbrot_stream(&plan, out, 0)); // any number of times
    // [/snippet]
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    tmap_ask_counts counts;
    CHECK(tmap_ask_counts_read(&workspace, &counts, 0));
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(out));

    for (tmap_u32 level = 0; level < counts.levels; ++level) {
        const tmap_ask_level_counts n = counts.level[level];
        printf("level %u: %llu regions: %llu filled, %llu cut, %llu computed\n", level, n.regions,
               n.filled, n.subdivided, n.leaves);
    }
    int in_set = 0;
    for (int i = 0; i < SIDE * SIDE; ++i) in_set += got[i / SIDE][i % SIDE] == DWELL;
    printf("%d of %d pixels reach dwell %d\n", in_set, SIDE * SIDE, DWELL);

    // A filament thinner than a pixel may cross a border unseen, in a few pixels of 10^8.
    const int differ = check_dwells(&m, got);
    printf("%d pixels differ from the host's\n", differ);
    draw(got);
    return check_result("dwells of the Mandelbrot set", differ > MISSED ? differ : 0);
}
