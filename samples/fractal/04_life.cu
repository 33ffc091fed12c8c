// SPDX-License-Identifier: MIT
// 04_life.cu: the Game of Life on a fractal, by the ready kernel of fractal/ca.h. A cell's neighbours
// are those of the eight places around it that are cells, too; its next state is
//     (alive ? survive : born) >> (number of living neighbours) & 1
// With a name, for example life.pgm, the frames are written there as a picture.
// nvcc -arch=native -I include samples/fractal/04_life.cu -o life && ./life
#include <threadmap/fractal.h>
#include <threadmap/fractal/ca.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { R = 3, SIDE = 27, PLACES = SIDE * SIDE, FRAMES = 6, WIDE = 3 * 28, HIGH = 6 + 2 * 28 };
static char sheet[HIGH][WIDE + 1] = {
    "....  ##  ###  #  ##     ####   #  #   ### # # ###",
    "....  # # #   # # # #    ####  # # #    #  # # #  ",
    "....  # # ##  ### # #    ####  ### #    #  # # ## ",
    "....  # # #   # # # #    ####  # # #    #  # # #  ",
    "....  ##  ### # # ##     ####  # # ### ###  #  ###"}; // and frames

static int picture(const char *path) {
    const int zoom = 6, wide = zoom * WIDE, high = zoom * HIGH;
    FILE *file = fopen(path, "wb");
    if (!file || fprintf(file, "P5\n%d %d\n255\n", wide, high) < 0) return perror(path), 2;
    for (int i = 0; i < wide * high; ++i) {
        const char c = sheet[i / wide / zoom][i % wide / zoom];
        fputc(c == '#' ? 32 : c == '.' ? 208 : 255, file);
    }
    return fclose(file) ? 2 : 0;
}

int main(int argc, char **argv) {
    static unsigned char frame[FRAMES][PLACES];
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_ca_plan plan;
    unsigned char *out;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (tmap_u32 i = 0; i < PLACES; ++i) // every second cell at random, 0 outside
        frame[0][i] = i * i * 2654435761u >> 31 && tmap_nbb_contains(f, i % SIDE, i / SIDE, R);
    CHECK(cudaMalloc((void **)&out, sizeof frame));
    CHECK(cudaMemcpy(out, frame, sizeof frame, cudaMemcpyHostToDevice)); // the other frames are 0
    // [snippet: life]
    CHECK(tmap_ca_plan_make(f, R, 0, sizeof *out, &plan)); // once
    for (int t = 1; t < FRAMES; ++t)
        CHECK(tmap_ca(&plan, tmap_ca_life(), out + (t - 1) * PLACES, out + t * PLACES, 0));
    // [/snippet]
    CHECK(cudaMemcpy(frame, out, sizeof frame, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < FRAMES * PLACES; ++i) {
        const tmap_u32 t = i / PLACES, x = i % SIDE, y = i / SIDE % SIDE;
        const int cell = tmap_nbb_contains(f, x, y, R), now = frame[t][i % PLACES];
        if (t)
            wrong += now != (cell && tmap_ca_cell(frame[t - 1], SIDE, SIDE, x, y, tmap_ca_life()));
        sheet[6 + t / 3 * 28 + y][t % 3 * 28 + x] = cell ? ".#"[now] : ' ';
    }
    for (int i = 0; i < HIGH * (WIDE + 1); ++i)
        putchar(i % (WIDE + 1) == WIDE ? '\n' : sheet[0][i] ? sheet[0][i] : ' ');
    printf("the first %d states, row by row: %s\n", FRAMES, wrong ? "WRONG" : "verified");
    return cudaFree(out) || wrong ? 1 : argc > 1 ? picture(argv[1]) : 0;
}
