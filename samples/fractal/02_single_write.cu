// SPDX-License-Identifier: MIT
// 02_single_write.cu: a function of one's own for every cell of a fractal, by the engine tmap_each.
//
// A plan, made once on the host, settles how the threads of a launch share the cells out on this
// device. The fractal is a few rows of text: each '#' stands for all rows again, level by level.
// nvcc -O3 -arch=native -I include samples/fractal/02_single_write.cu -o single_write
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

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

int main(void) {
    enum { R = 4, WIDTH = 81, HEIGHT = 16 }; // 3^4, 2^4
    static char text[HEIGHT][WIDTH];
    tmap_nbb f;
    tmap_each_plan plan;
    drawing d;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    if (tmap_nbb_from_rows(rows, &f)) return fputs("no fractal\n", stderr), 2;
    CHECK(cudaMalloc((void **)&d.out, sizeof text));
    CHECK(cudaMemset(d.out, '.', sizeof text));
    // [snippet: each-launch]
    CHECK(tmap_each_plan_make(f, R, WIDTH, (const void *)draw_cells, &plan)); // once
    CHECK(tmap_each_launch(&plan, &d, 0));                                    // again and again
    // [/snippet]
    CHECK(cudaMemcpy(text, d.out, sizeof text, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d.out));

    for (tmap_u32 y = 0; y < HEIGHT; ++y) {
        for (tmap_u32 x = 0; x < WIDTH; ++x)
            wrong += text[y][x] != (tmap_nbb_contains(f, x, y, R) ? '#' : '.');
        printf("%.*s\n", WIDTH, text[y]);
    }
    printf("%llu cells of %d places: %s\n", tmap_nbb_cells(f, R), WIDTH * HEIGHT,
           wrong ? "WRONG" : "ok");
    return wrong != 0;
}
