// SPDX-License-Identifier: MIT
// 12_mandelbrot.cu: the Mandelbrot set by adaptive subdivision (ASK). The dwell of a pixel c is
//     d = 0; z = c; while (d < dwell && |z|^2 < 4) z = z^2 + c, d = d + 1;
// A region whose border has one dwell is filled with it, others are cut (Mariani and Silver). The
// picture mandelbrot.pgm shows the dwells in grey, by their logarithm, above a scale of them.
// nvcc -O3 -arch=native -I include samples/adaptive/12_mandelbrot.cu -o mandelbrot
#include <threadmap/adaptive/mandelbrot.h>
#include <math.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { SIDE = 512, DWELL = 512, SCALE = 24 };

static int grey(double dwell) { return (int)(255 - 255 * log2(dwell + 1) / log2(DWELL + 1.0)); }

// Returns 0, or -1 where the picture cannot be written.
static int picture(const char *path, const int dwell[SIDE][SIDE]) {
    FILE *file = fopen(path, "wb");
    if (!file) return -1;
    fprintf(file, "P5\n# scale: dwells 0 to %d\n%d %d\n255\n", DWELL, SIDE, SIDE + SCALE);
    for (int y = 0; y < SIDE + SCALE; ++y)
        for (int x = 0; x < SIDE; ++x) fputc(y < SIDE ? grey(dwell[y][x]) : 255 - x / 2, file);
    return fclose(file);
}

int main(void) {
    static int got[SIDE][SIDE];
    int devices, *out, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    // [snippet: mandelbrot]
    tmap_mandelbrot m = tmap_mandelbrot_make(SIDE, SIDE, DWELL); // [-1.5, 0.5] x [-1, 1]
    tmap_ask_params params = {8, 4, 4}; // 8 x 8 regions at first, each cut into 4 x 4
    tmap_ask_workspace workspace;
    tmap_mandelbrot_plan_f32 plan;
    CHECK(tmap_mandelbrot_workspace_create(&m, params, 0, &workspace)); // once
    CHECK(tmap_mandelbrot_plan_make_f32(&m, &workspace, &plan));
    CHECK(tmap_mandelbrot_f32(&plan, out, 0)); // as often as one likes
    // [/snippet]
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(out));
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) {
            wrong += got[y][x] != tmap_mandelbrot_dwell_f32(&m, x, y);
            if (y % 16 == 8 && x % 8 == 4) putchar("@%#*+=-:. "[grey(got[y][x]) / 26]);
            if (y % 16 == 8 && x == SIDE - 1) putchar('\n');
        }
    if (picture("mandelbrot.pgm", got)) return fprintf(stderr, "cannot write mandelbrot.pgm\n"), 2;
    puts("dwell from . 1  : 3  - 5  = 11  + 21  * 40  # 76  % 143  @ 271");
    // A filament thinner than a pixel may cross a border unseen, in a few pixels of 10^8.
    printf("%d of %d pixels are not as on the host: %s\n", wrong, SIDE * SIDE,
           wrong > 5 ? "WRONG" : "ok");
    return wrong > 5;
}
