// SPDX-License-Identifier: MIT
// 20_flood.cu: the lake that a source fills up to a level, in a map of heights: area and volume as
// the water rises, and a picture of it among shaded hills.
//     ./flood FILE LEVEL X Y [8] [map]
// FILE: .hgt, .pgm, .asc, .flt or .npy; without arguments, hills that are made up. X, Y: of the
// source, in cells from the north-west or, with `map`, in the file's degrees or metres. Water takes
// 4 ways from a cell or, with `8`, those over corners, too.
// nvcc -O3 -arch=native -I include samples/adaptive/20_flood.cu -o flood
#include "../files/heights.h"
#include "../files/lake.h"
#include "../files/relief.h"
#include "../files/terrain.h"
#include <threadmap/adaptive/flood_again.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
#define PICTURE "flood." IMAGE_TYPE
static int bad(const char *what, const char *value) {
    return fprintf(stderr, "%s: '%.*s'\n", what, (int)strcspn(value, "\r\n"), value), 2;
}
static int number(const char *word, double *value) { // all of a word, at most 10^10
    const text t = {word, strlen(word)};
    return text_number(t, value) == 0 && fabs(*value) <= 1e10;
}
static int flood(heights h, tmap_u64 from, double level, int ways) {
    const tmap_u64 w = h.width, cells = w * h.height;
    const double deep = lake_wet(&h, from, level) ? level - heights_value(&h, from) : 0; // there
    // [snippet: flood]
    const tmap_flood_map map = {w, h.height, w, h.nodata, h.has_nodata, h.type, ways};
    const double levels[4] = {level - 0.75 * deep, level - 0.5 * deep, level - 0.25 * deep, level};
    tmap_flood_plan plan;
    tmap_flood_seed *source;
    tmap_flood_lake *lakes;
    char *on, *work, *tiles; // the heights; the workspace, and behind it what is known of tiles
    float *depth;
    CHECK(tmap_flood_plan_make(&map, TMAP_FLOOD_DEPTH, 1, &plan));
    CHECK(cudaMalloc((void **)&work, plan.workspace + tmap_flood_tiles_bytes(&plan)));
    CHECK(cudaMallocManaged((void **)&depth, 4 * cells) || cudaMallocManaged((void **)&source, 16));
    CHECK(cudaMalloc((void **)&on, heights_bytes(h.type) * cells) ||
          cudaMallocManaged((void **)&lakes, sizeof(tmap_flood_lake[4])));
    CHECK(cudaMemcpy(on, h.data, heights_bytes(h.type) * cells, cudaMemcpyHostToDevice));
    source->x = from % w, source->y = from / w;
    CHECK(tmap_flood(&plan, on, source, 1, level, work, depth, 0));
    CHECK(tmap_flood_tiles(&plan, on, tiles = work + plan.workspace, 0)); // once for all levels
    CHECK(tmap_flood_levels(&plan, on, tiles, source, 1, levels, 4, work, lakes, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    float *want = (float *)malloc(4 * cells);
    tmap_u64 *reached = (tmap_u64 *)malloc(8 * cells), wrong = 0;
    if (!want || !reached) return fputs("there is no memory to verify the lake\n", stderr), 1;
    for (int k = 0; k < 4; ++k) {
        double volume;
        const tmap_u64 area = lake_fill(&h, from, levels[k], ways, want, reached, &volume);
        const double rounded = 1e-9 * (volume + (double)area * fabs(levels[k]));
        wrong += lakes[k].area != area || !(fabs(lakes[k].volume - volume) <= rounded);
        printf("level %g: %llu cells, volume %.10g\n", levels[k], lakes[k].area, lakes[k].volume);
    }
    for (tmap_u64 i = 0; i < cells; ++i) wrong += depth[i] != want[i];
    const int lost = relief_write(PICTURE, &h, depth) ? bad("cannot be written", PICTURE) : 0;
    if (!lost) puts(wrong ? PICTURE ": WRONG" : PICTURE ": ok");
    free(want), free(reached);
    CHECK(cudaFree(on) || cudaFree(work) || cudaFree(depth) || cudaFree(source) || cudaFree(lakes));
    return wrong ? 1 : lost;
}
int main(int argc, char **argv) {
    double at[3] = {0, 183, 146}; // level, X, Y
    int ways = 4, by_map = 0, devices, result;
    char error[200];
    heights h;
    if (argc > 1 && argc < 5) return fputs("usage: flood FILE LEVEL X Y [8] [map]\n", stderr), 2;
    for (int i = 0; i < 3 && argc > 1; ++i)
        if (!number(argv[2 + i], at + i)) return bad("no number up to 10^10", argv[2 + i]);
    for (int i = 5; i < argc; ++i) {
        if (!strcmp(argv[i], "8")) ways = 8;
        if (!strcmp(argv[i], "map")) by_map = 1;
        if (strcmp(argv[i], "8") && strcmp(argv[i], "map")) return bad("not known", argv[i]);
    }
    if (argc > 1 ? heights_read(argv[1], &h, error, sizeof error)
                 : terrain_make(8, 10, &h, error, sizeof error))
        return fprintf(stderr, "%s\n", error), 2;
    const double x = by_map ? (at[1] - h.west) / h.dx : at[1];
    const double y = by_map ? (double)h.height - (at[2] - h.south) / h.dy : at[2];
    if (by_map && !h.has_place)
        result = bad("does not tell where its map lies", argv[1]);
    else if (!(x >= 0 && x < (double)h.width && y >= 0 && y < (double)h.height))
        result = bad("the source is not on the map", argv[1]);
    else if (cudaGetDeviceCount(&devices) || !devices)
        puts("SKIP: no NVIDIA GPU here"), result = 77;
    else
        result = flood(h, (tmap_u64)y * h.width + (tmap_u64)x, at[0], ways);
    return heights_free(&h), result;
}
