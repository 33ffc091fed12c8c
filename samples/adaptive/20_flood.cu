// SPDX-License-Identifier: MIT
// 20_flood.cu: the lake that a source fills up to a level, in a map of heights: its picture,
// flood.ppm, of shaded hills with water on them, and its area and volume as the water rises.
// nvcc -O3 -arch=native -I include samples/adaptive/20_flood.cu -o flood
#include "../files/heights.h" // of ./flood FILE LEVEL X Y [map], .hgt .pgm .asc .flt or .npy;
#include "../files/relief.h"  // X, Y count cells or, with `map`, the file's degrees or metres
#include "../files/terrain.h"
#include <threadmap/adaptive/flood_again.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
int main(int argc, char **argv) {
    char error[200];
    int devices, wrong = 0;
    heights h;
    if (argc > 1 && argc < 5) return fputs("usage: flood FILE LEVEL X Y [map]\n", stderr), 2;
    if (argc > 1 ? heights_read(argv[1], &h, error, sizeof error)
                 : terrain_make(8, 10, &h, error, sizeof error))
        return fprintf(stderr, "%s\n", error), 2;
    double level = argc > 1 ? atof(argv[2]) : 0;
    double x = argc > 1 ? atof(argv[3]) : 183, y = argc > 1 ? atof(argv[4]) : 146;
    if (argc > 5) x = (x - h.west) / h.dx, y = (double)h.height - (y - h.south) / h.dy;
    if (!(x >= 0 && x < (double)h.width && y >= 0 && y < (double)h.height))
        return fprintf(stderr, "the source is not on the map\n"), 2;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    const tmap_u64 w = h.width, cells = w * h.height, from = (tmap_u64)y * w + (tmap_u64)x;
    // [snippet: flood]
    const tmap_flood_map map = {w, h.height, w, h.nodata, h.has_nodata, h.type, 4};
    const double levels[4] = {level - 20, level, level + 20, level + 40};
    tmap_flood_plan plan;
    tmap_flood_seed *source;
    tmap_flood_lake *lakes;
    char *on, *work, *tiles; // the heights; the workspace, and behind it what is known of tiles
    float *depth;
    CHECK(tmap_flood_plan_make(&map, TMAP_FLOOD_DEPTH, 1, &plan));
    CHECK(cudaMalloc((void **)&work, plan.workspace + tmap_flood_tiles_bytes(&plan)));
    CHECK(cudaMallocManaged((void **)&depth, 4 * cells) || cudaMallocManaged((void **)&source, 16));
    CHECK(cudaMalloc((void **)&on, heights_bytes(h.type) * cells) ||
          cudaMallocManaged((void **)&lakes, 64));
    CHECK(cudaMemcpy(on, h.data, heights_bytes(h.type) * cells, cudaMemcpyHostToDevice));
    source->x = from % w, source->y = from / w;
    CHECK(tmap_flood(&plan, on, source, 1, level, work, depth, 0));
    CHECK(tmap_flood_tiles(&plan, on, tiles = work + plan.workspace, 0)); // once for all levels
    CHECK(tmap_flood_levels(&plan, on, tiles, source, 1, levels, 4, work, lakes, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    for (tmap_u64 i = 0; i < cells; ++i) {
        const double v = heights_value(&h, i); // a lake has no wet neighbour that is not flooded
        const int wet = v < level && !(h.has_nodata && v == h.nodata);
        const int beside = i == from || (i % w && depth[i - 1] > 0) ||
                           (i >= w && depth[i - w] > 0) || ((i + 1) % w && depth[i + 1] > 0) ||
                           (i + w < cells && depth[i + w] > 0);
        wrong += depth[i] != (wet && beside ? (float)(level - v) : 0.0f);
    }
    for (int k = 0; k < 4; ++k)
        printf("level %g: %llu cells, volume %.0f\n", levels[k], lakes[k].area, lakes[k].volume);
    wrong += relief_write("flood.ppm", &h, depth);
    puts(wrong ? "flood.ppm: WRONG" : "flood.ppm: ok");
    return heights_free(&h), cudaFree(on) || cudaFree(work) || cudaFree(depth) ||
                                 cudaFree(source) || cudaFree(lakes) || wrong;
}
