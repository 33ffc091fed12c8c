// SPDX-License-Identifier: MIT
// 02_single_write.cu: a function of one's own on every cell of a fractal, by the engine tmap_each. A
// plan, made on the host, chooses how the threads of a launch go through the cells on this device;
// in the kernel the engine calls the function once for each cell. A fractal is some rows of text:
// each '#' is replaced by all rows, again and again.
// nvcc -arch=native -I include samples/fractal/02_single_write.cu -o single_write && ./single_write
#include <threadmap/fractal.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

static const char rows[] = "###\n"
                           ".#.";

// [snippet: each]
typedef struct drawing {
    char *out;
} drawing; // whatever the function needs

static __device__ void draw(void *job, tmap_cell cell) { // called once for each cell
    ((drawing *)job)->out[cell.at] = '#'; // its element; cell.x and cell.y are there, too
}
__global__ void __launch_bounds__(512, 2) draw_cells(tmap_each_plan plan, drawing d) {
    tmap_each_into(&plan, d.out, sizeof *d.out, draw, &d);
}
// [/snippet]

int main(void) {
    enum { R = 4, MOST = 65536 };
    static char text[MOST];
    tmap_nbb f;
    tmap_each_plan plan;
    drawing d;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    if (tmap_nbb_from_rows(rows, &f)) return fprintf(stderr, "no fractal: %s\n", rows), 2;
    const tmap_u64 width = tmap_nbb_side_x(f, R), height = tmap_nbb_side_y(f, R);
    const tmap_u64 pitch = width + 1, size = pitch * height; // with line feeds
    if (size >= MOST) return fprintf(stderr, "too large: level %d\n", R), 2;
    for (tmap_u64 i = 0; i < size; ++i) text[i] = i % pitch < width ? '.' : '\n';
    CHECK(cudaMalloc((void **)&d.out, size));
    CHECK(cudaMemcpy(d.out, text, size, cudaMemcpyHostToDevice));
    // [snippet: each-launch]
    CHECK(tmap_each_plan_make(f, R, pitch, (const void *)draw_cells, &plan)); // once
    CHECK(tmap_each_launch(&plan, &d, 0)); // as often as one likes
    // [/snippet]
    CHECK(cudaMemcpy(text, d.out, size, cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0; i < size; ++i)
        if (i % pitch < width)
            wrong += text[i] != ".#"[tmap_nbb_contains64(f, i % pitch, i / pitch, R)];
    printf("%s%llu cells in a box of %llu, by %u threads: %s\n", text, tmap_nbb_cells(f, R),
           width * height, plan.grid * plan.block, wrong ? "WRONG" : "verified");
    CHECK(cudaFree(d.out));
    return wrong != 0;
}
