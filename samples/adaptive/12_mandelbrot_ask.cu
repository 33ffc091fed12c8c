// SPDX-License-Identifier: MIT
// 12_mandelbrot_ask.cu: the Mandelbrot set by adaptive subdivision (ASK), with the ready kernels of
// adaptive/mandelbrot.h.
//
// The dwell of a pixel c = x + i y is the number of steps before |z| reaches 2, at most DWELL:
//     d = 0; z = c; while (d < DWELL && |z|^2 < 4) { z = z^2 + c; d = d + 1; }
// A region with one dwell all along its border is filled with that dwell (Mariani and Silver).
// Other regions are cut, and those of the last level are computed pixel by pixel. The picture shows
// the filled ones.
// nvcc -O3 -arch=native -I include samples/adaptive/12_mandelbrot_ask.cu -o mandelbrot_ask
#include "../check.h"
#include "../picture.h"

#include <threadmap/adaptive/mandelbrot.h>

#include <math.h>

enum {
    SIDE = 512,  // pixels along each axis
    DWELL = 512, // steps at most
    MISSED = 5,  // pixels that may differ from the host's
    PARTS = 8,   // regions of level 0 along each axis, and levels: see params
    LEVELS = 4,
    EDGE = 0xe05a2b // the colour around regions that were filled
};
static int dwell[SIDE][SIDE];

// Counts the pixels whose dwell differs from that of the loop above, run for each pixel.
static int check_dwells(const tmap_mandelbrot *m) {
    int wrong = 0;
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) wrong += dwell[y][x] != tmap_mandelbrot_dwell(m, x, y);
    return wrong;
}

// 1 if the border of the region [x, right] x [y, below] has one dwell.
static int is_uniform(unsigned x, unsigned y, unsigned right, unsigned below) {
    const int first = dwell[y][x];
    int differ = 0;
    for (unsigned i = x; i <= right; ++i)
        differ += dwell[y][i] != first || dwell[below][i] != first;
    for (unsigned j = y; j <= below; ++j)
        differ += dwell[j][x] != first || dwell[j][right] != first;
    return differ == 0;
}

// Draws a line around each filled region within the region of a level at (x, y). The border of a
// region is shared: it ends with the first line of the next region. Adds up the filled ones.
static void draw_region(picture *p, unsigned level, unsigned x, unsigned y, unsigned *filled) {
    const unsigned side = SIDE / PARTS >> level;
    const unsigned right = x + side < SIDE ? x + side : SIDE - 1;
    const unsigned below = y + side < SIDE ? y + side : SIDE - 1;
    if (is_uniform(x, y, right, below)) {
        ++filled[level];
        for (unsigned i = 0; i < side; ++i) {
            picture_set(p, x + i, y, EDGE);
            picture_set(p, x, y + i, EDGE);
            picture_set(p, x + i, below, EDGE);
            picture_set(p, right, y + i, EDGE);
        }
    } else if (level + 1 < LEVELS) {
        for (unsigned k = 0; k < 4; ++k)
            draw_region(p, level + 1, x + k % 2 * side / 2, y + k / 2 * side / 2, filled);
    }
}

// Draws the dwells by their logarithm, and the regions. Counts the levels on which the device filled
// another number of regions.
static int draw(const tmap_ask_counts *counts) {
    const double most = log2(DWELL + 1.0);
    picture p = picture_make(SIDE, SIDE, 1, "Mandelbrot set by subdivision: dwells, log scale");
    for (unsigned y = 0; y < SIDE; ++y)
        for (unsigned x = 0; x < SIDE; ++x)
            picture_set(&p, x, y, canvas_shade(log2(dwell[y][x] + 1.0) / most));

    unsigned filled[LEVELS] = {0};
    for (unsigned i = 0; i < PARTS * PARTS; ++i)
        draw_region(&p, 0, i % PARTS * (SIDE / PARTS), i / PARTS * (SIDE / PARTS), filled);
    int wrong = counts->levels != LEVELS;
    for (unsigned level = 0; level < LEVELS; ++level)
        wrong += filled[level] != counts->level[level].filled;

    const double ends[2] = {0, exp2(most) - 1};
    canvas_scale(&p.all, PICTURE_MARGIN, p.all.high - 34, SIDE - 160, ends, 1);
    canvas_key(&p.all, PICTURE_MARGIN + SIDE - 136, p.all.high - 34, EDGE, "filled region");
    picture_save(&p, "mandelbrot_ask");
    return wrong;
}

int main(void) {
    check_gpu();

    int *out;
    CHECK(cudaMalloc((void **)&out, sizeof dwell));

    // [snippet: mandelbrot]
    tmap_mandelbrot m = tmap_mandelbrot_make(SIDE, SIDE, DWELL); // [-1.5, 0.5] x [-1, 1]
    m.x0 = -2.1, m.x1 = 0.6, m.y0 = -1.35, m.y1 = 1.35;          // the whole set
    tmap_ask_params params = {8, 2, 4}; // 8 x 8 regions of side 64, cut in 2 x 2 down to side 8
    tmap_ask_workspace workspace;
    tmap_mandelbrot_plan plan;
    CHECK(tmap_mandelbrot_workspace_create(&m, params, 0, &workspace)); // once
    CHECK(tmap_mandelbrot_plan_make(&m, &workspace, &plan));
    CHECK(tmap_mandelbrot_stream(&plan, out, 0)); // any number of times
    // [/snippet]
    CHECK(cudaMemcpy(dwell, out, sizeof dwell, cudaMemcpyDeviceToHost));
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
    for (int i = 0; i < SIDE * SIDE; ++i) in_set += dwell[i / SIDE][i % SIDE] == DWELL;
    printf("%d of %d pixels reach dwell %d\n", in_set, SIDE * SIDE, DWELL);

    // A filament thinner than a pixel may cross a border unseen, in a few pixels of 10^8.
    const int differ = check_dwells(&m);
    printf("%d pixels differ from the host's\n", differ);
    const int wrong = draw(&counts);
    return check_result("dwells and regions of the set", wrong + (differ > MISSED ? differ : 0));
}
