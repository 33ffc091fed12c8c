// SPDX-License-Identifier: MIT
// 20_flood.cu: the lake that a source fills up to a level, in a map of heights: area and volume as
// the water rises, and a picture of it among shaded hills.
//     ./flood FILE LEVEL X Y [8] [map]
// FILE: .hgt, .pgm, .asc, .flt or .npy; without arguments, hills that are made up. X, Y: of the
// source, in cells from the north-west or, with `map`, in the file's degrees or metres. Water takes
// 4 ways from a cell or, with `8`, those over corners, too.
// nvcc -O3 -arch=native -I include samples/raster/20_flood.cu -o flood
#include "../files/lake.h"
#include "../files/lake_options.h"
#include "../files/relief.h"
#include <threadmap/raster/flood.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
#define PICTURE "flood." IMAGE_TYPE
static int flood(heights h, tmap_u64 from, double level, int ways) {
    const tmap_u64 w = h.width, cells = w * h.height;
    const double deep = lake_wet(&h, from, level) ? level - heights_value(&h, from) : 0; // there
    int same = 1, lost;
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
    for (int k = 0; k < 4; ++k) {
        const tmap_flood_lake l = lakes[k];
        same &= lake_is(&h, from, levels[k], ways, l.area, l.volume, k == 3 ? depth : NULL);
        printf("level %g: %llu cells, volume %.10g\n", levels[k], l.area, l.volume);
    }
    lost = relief_write(PICTURE, &h, depth);
    if (lost) fprintf(stderr, "cannot be written: '%s'\n", PICTURE);
    if (!lost) puts(same ? PICTURE ": ok" : PICTURE ": WRONG");
    CHECK(cudaFree(on) || cudaFree(work) || cudaFree(depth) || cudaFree(source) || cudaFree(lakes));
    return !same ? 1 : lost ? 2 : 0;
}
int main(int argc, char **argv) {
    lake_options o;
    int devices, result = lake_options_read(argc, argv, &o);
    if (result) return result; // it has said why
    if (cudaGetDeviceCount(&devices) || !devices)
        puts("SKIP: no NVIDIA GPU here"), result = 77;
    else
        result = flood(o.map, o.source, o.level, o.ways);
    return heights_free(&o.map), result;
}
