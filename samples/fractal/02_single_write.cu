// SPDX-License-Identifier: MIT
// 02_single_write.cu: your own function for every cell of a fractal, with the engine tmap_each.
// Here it writes one value: the test SW (single write) of Navarro et al., FGCS 113 (2020),
// section 6.2.
//
// A plan, made once on the host, decides how the threads of a launch share the cells on this
// device. The fractal is given as rows of text: on each level, the rows replace every '#'.
// nvcc -O3 -arch=native -I include samples/fractal/02_single_write.cu -o single_write
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal.h>

enum {
    R = 4,          // level of the fractal
    WIDTH = 81,     // of the matrix: 3^R
    HEIGHT = 16,    // 2^R
    INK = 0x173f5f, // colours
    PAPER = 0xe4e8ec
};

static const char rows[] = ".#.\n"
                           "###";

// [snippet: each]
typedef struct drawing {
    char *out; // whatever the function needs
} drawing;

static __device__ void draw(void *job, tmap_cell cell) { // called once for every cell
    drawing *d = (drawing *)job;
    d->out[cell.at] = '#'; // the element of cell (cell.x, cell.y)
}

__global__ void __launch_bounds__(512, 2) draw_cells(tmap_each_plan plan, drawing d) {
    tmap_each(&plan, draw, &d);
}
// [/snippet]

// A place is a cell if the rows have a '#' for it on each level.
static int is_cell(int x, int y) {
    const int row_length = 4; // with its line feed
    for (int level = 0; level < R; ++level) {
        if (rows[y % 2 * row_length + x % 3] != '#') return 0;
        x /= 3;
        y /= 2;
    }
    return 1;
}

static int check_places(char got[HEIGHT][WIDTH]) {
    int wrong = 0;
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) wrong += got[y][x] != (is_cell(x, y) ? '#' : '.');
    return wrong;
}

static void save_picture(char got[HEIGHT][WIDTH]) {
    picture p = picture_make(WIDTH, HEIGHT, 12, "A fractal of level 4, each cell written once");
    for (unsigned y = 0; y < HEIGHT; ++y)
        for (unsigned x = 0; x < WIDTH; ++x) picture_set(&p, x, y, got[y][x] == '#' ? INK : PAPER);
    picture_key(&p, INK, "cell");
    picture_key(&p, PAPER, "no cell");
    picture_save(&p, "single_write");
}

int main(void) {
    static char got[HEIGHT][WIDTH];
    tmap_nbb f;
    check_gpu();

    if (tmap_nbb_from_rows(rows, &f)) {
        fputs("these rows are no fractal\n", stderr);
        return 2;
    }
    drawing d;
    CHECK(cudaMalloc((void **)&d.out, sizeof got));
    CHECK(cudaMemset(d.out, '.', sizeof got));

    // [snippet: each-launch]
    tmap_each_plan plan;
    const void *kernel = (const void *)draw_cells;
    CHECK(tmap_each_plan_make(TMAP_EACH_VISIT, f, R, WIDTH, kernel, &plan)); // once
    CHECK(tmap_each_launch(&plan, &d, 0));                                   // again and again
    // [/snippet]
    CHECK(cudaMemcpy(got, d.out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d.out));

    printf("%s\nlevel %d of these rows has %u^%d = %llu cells in %d x %d places\n", rows, R, f.k, R,
           tmap_nbb_cells(f, R), WIDTH, HEIGHT);
    printf("the plan launches %u blocks of %u threads\n", plan.grid, plan.block);
    save_picture(got);
    return check_result("every cell written, and no other place", check_places(got));
}
