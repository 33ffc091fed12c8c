// SPDX-License-Identifier: MIT
// 20_flood.cu: the lake that a source fills up to a level, in a map of heights: area and volume as
// the water rises, and a picture of it among shaded hills.
//
//     ./flood FILE LEVEL X Y [8] [map]
//
// FILE: .hgt, .pgm, .asc, .flt or .npy; without arguments, hills that are made up. X, Y: of the
// source, in cells from the north-west or, with `map`, in the file's degrees or metres. Water goes
// 4 ways from a cell or, with `8`, over corners too.
// nvcc -O3 -arch=native -I include samples/raster/20_flood.cu -o flood
#include "../files/lake.h"
#include "../files/lake_options.h"
#include "../files/relief.h"
#include <threadmap/raster/flood.h>

#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
#define PICTURE "flood." IMAGE_TYPE

enum { LEVELS = 4 };

static int flood(heights h, tmap_u64 from, double level, int ways) {
    const tmap_u64 w = h.width, cells = w * h.height, bytes = heights_bytes(h.type) * cells;
    const double deep = lake_wet(&h, from, level) ? level - heights_value(&h, from) : 0;
    const double levels[LEVELS] = {level - 0.75 * deep, level - 0.5 * deep, level - 0.25 * deep,
                                   level};
    tmap_flood_seed *seed;
    tmap_flood_lake *lakes;
    float *depth;
    void *map_cells, *workspace, *tiles;
    int same = 1, lost;

    CHECK(cudaMallocManaged((void **)&seed, sizeof *seed));
    CHECK(cudaMallocManaged((void **)&lakes, LEVELS * sizeof *lakes));
    CHECK(cudaMallocManaged((void **)&depth, cells * sizeof *depth));
    CHECK(cudaMalloc(&map_cells, bytes));
    CHECK(cudaMemcpy(map_cells, h.data, bytes, cudaMemcpyHostToDevice));
    seed->x = from % w;
    seed->y = from / w;

    // [snippet: flood]
    // HEIGHTS_I16, _I32, _F32 of the file are TMAP_RASTER_I16, _I32, _F32
    const tmap_raster_map map = {w, h.height, w, h.nodata, h.has_nodata, h.type, ways};
    tmap_flood_plan plan;
    CHECK(tmap_flood_plan_make(&map, TMAP_FLOOD_DEPTH, 1, &plan));
    CHECK(cudaMalloc(&workspace, plan.workspace));
    CHECK(cudaMalloc(&tiles, tmap_flood_tiles_bytes(&plan)));
    CHECK(tmap_flood_tiles(&plan, map_cells, tiles, 0)); // once for all levels

    const tmap_flood_heights heights = {map_cells, tiles};
    const tmap_flood_sources sources = {seed, 1, level};
    CHECK(tmap_flood(&plan, heights, sources, workspace, depth, 0));

    const tmap_flood_rise rise = {seed, 1, levels, LEVELS};
    CHECK(tmap_flood_levels(&plan, heights, rise, workspace, lakes, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    for (int k = 0; k < LEVELS; ++k) {
        const tmap_flood_lake l = lakes[k];
        same &= lake_is(&h, from, levels[k], ways, l.area, l.volume, k == 3 ? depth : NULL);
        printf("level %g: %llu cells, volume %.10g\n", levels[k], l.area, l.volume);
    }
    lost = relief_write(PICTURE, &h, depth);
    if (lost) fprintf(stderr, "cannot be written: '%s'\n", PICTURE);
    if (!lost) puts(same ? PICTURE ": ok" : PICTURE ": WRONG");

    CHECK(cudaFree(seed) || cudaFree(lakes) || cudaFree(depth));
    CHECK(cudaFree(map_cells) || cudaFree(workspace) || cudaFree(tiles));
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
