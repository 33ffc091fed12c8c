// SPDX-License-Identifier: MIT
// 12_mandelbrot.cu: the Mandelbrot set by adaptive subdivision (ASK). The dwell of a pixel c is
//     d = 0; z = c; while (d < dwell && |z|^2 < 4) z = z^2 + c, d = d + 1;
// A region whose border has one dwell is filled with it, others are cut (Mariani and Silver).
// With a name, for example mandelbrot.ppm, the picture is written there in grey, over a scale.
// nvcc -arch=native -I include samples/adaptive/12_mandelbrot.cu -o mandelbrot && ./mandelbrot
#include <threadmap/adaptive/mandelbrot.h>
#include <math.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { SIDE = 512, DWELL = 512, SCALE = 16 };
static int got[SIDE][SIDE];

static int grey(int dwell) { return (int)(255 * log2(dwell + 1) / log2(DWELL + 1)); }

static int picture(const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) return fprintf(stderr, "cannot write %s\n", path), 2;
    fprintf(file, "P5\n# the scale below: dwells 0 to %d, by their logarithm\n%d %d\n255\n", DWELL,
            SIDE, SIDE + SCALE);
    for (int y = 0; y < SIDE + SCALE; ++y)
        for (int x = 0; x < SIDE; ++x)
            fputc(y < SIDE ? 255 - grey(got[y][x]) : 255 - x * 256 / SIDE, file);
    return fclose(file) ? 2 : 0;
}

int main(int argc, char **argv) {
    const tmap_mandelbrot m = tmap_mandelbrot_make(SIDE, SIDE, DWELL); // [-1.5, 0.5] x [-1, 1]
    const tmap_ask_params params = {8, 4, 4}; // 8 x 8 regions, each cut into 4 x 4
    tmap_ask_workspace workspace;
    tmap_mandelbrot_plan_f32 plan;
    tmap_ask_counts counts;
    int devices, *out, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(tmap_mandelbrot_workspace_create(&m, params, 0, &workspace));
    CHECK(tmap_mandelbrot_plan_make_f32(&m, &workspace, &plan)); // once, for any number of runs
    CHECK(tmap_mandelbrot_f32(&plan, out, 0));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(tmap_ask_counts_read(&workspace, &counts, 0));
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) {
            wrong += got[y][x] != tmap_mandelbrot_dwell_f32(&m, x, y);
            if (y % 16 == 8 && x % 8 == 4) putchar(" .:-=+*%@#"[grey(got[y][x]) / 26]);
            if (y % 16 == 8 && x + 1 == SIDE) putchar('\n');
        }
    puts("dwell, at least: . 1  : 3  - 6  = 12  + 24  * 45  % 85  @ 162  # 306");
    for (tmap_u32 l = 0; l < counts.levels; ++l)
        printf("level %u: %llu regions, %llu cut, %llu of one dwell, %llu computed\n", l,
               counts.level[l].regions, counts.level[l].subdivided, counts.level[l].filled,
               counts.level[l].leaves);
    printf("%d pixels: %d are not what the host computes one by one\n", SIDE * SIDE, wrong);
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(out));
    // A filament thinner than a pixel may cross a border unseen, in a few pixels of 10^8.
    return wrong > 5 ? 1 : argc > 1 ? picture(argv[1]) : 0;
}
