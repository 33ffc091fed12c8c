// SPDX-License-Identifier: MIT
// 20_flood.cu: the lake that a source fills up to a level, in a map of heights: its area and volume
// as the water rises, and a picture of it among hills.
//
//     ./flood [FILE LEVEL X Y [8] [map]]
//
// FILE: .pgm, .flt or .npy, as samples/files/jacksboro.npy; without it, the sample makes hills.
// X, Y: the source, in cells from the north-west or, with `map`, in the file's degrees or metres.
// Water flows from a cell to its 4 neighbours or, with `8`, over its corners too.
// nvcc -O3 -arch=native -I include samples/raster/20_flood.cu -o flood
#include "../check.h"
#include "../files/lake.h"
#include "../picture.h"

#include <threadmap/raster/flood.h>

// Levels at which the rising water is measured; pixels of a small map and of a cell, at most.
enum { LEVELS = 4, VIEW = 800, ZOOM = 8 };
static const unsigned water = 0x6eaae1, deep_water = 0x263b4f, ground = 0x466e3c, peak = 0xfafafa,
                      sprung = 0xc43820;

// The colour between two others, `from` at part = 0 and `to` at 1.
static unsigned mix(unsigned from, unsigned to, double part) {
    unsigned colour = 0;
    for (int shift = 0; shift < 24; shift += 8)
        colour |= (unsigned)((1 - part) * (from >> shift & 255) + part * (to >> shift & 255))
                  << shift;
    return colour;
}

// Draws water darker where it is deeper, and ground from green to white.
static void draw(const heights *h, tmap_u64 source, const float *depth, double level) {
    const unsigned wide = (unsigned)h->width, high = (unsigned)h->height;
    const unsigned fits = VIEW / (wide > high ? wide : high);
    double low = 1e300, top = -1e300, deepest = 0;
    char title[80];
    for (tmap_u64 i = 0; i < h->width * h->height; ++i) {
        const double v = heights_value(h, i);
        deepest = fmax(deepest, (double)depth[i]);
        if (!h->has_nodata || v != h->nodata) low = fmin(low, v), top = fmax(top, v);
    }
    snprintf(title, sizeof title, "The lake of a source, filled up to level %g", level);
    picture p = picture_make(wide, high, fits < 1 ? 1 : fits > ZOOM ? (unsigned)ZOOM : fits, title);
    for (tmap_u64 i = 0; i < h->width * h->height; ++i) {
        const double v = heights_value(h, i);
        unsigned colour = 0; // no data
        if (depth[i] > 0)
            colour = mix(water, deep_water, (double)depth[i] / deepest);
        else if (!h->has_nodata || v != h->nodata)
            colour = mix(ground, peak, (v - low) / (top - low + 1e-9));
        picture_set(&p, (unsigned)(i % wide), (unsigned)(i / wide), colour);
    }
    const unsigned mark = 1 + (wide > high ? wide : high) / 60; // the source, a square
    for (unsigned k = 0; k < mark * mark; ++k) {
        const tmap_u64 x = source % wide + k % mark, y = source / wide + k / mark;
        if (x < wide && y < high) picture_set(&p, (unsigned)x, (unsigned)y, sprung);
    }
    picture_key(&p, sprung, "source");
    picture_key(&p, water, "shallow");
    picture_key(&p, deep_water, "deep");
    picture_key(&p, ground, "low");
    picture_key(&p, peak, "high");
    if (h->has_nodata) picture_key(&p, 0, "no data");
    picture_save(&p, "flood");
}

int main(int argc, char **argv) {
    lake_options o = lake_options_read(argc, argv);
    check_gpu();
    const heights h = o.map;
    const double level = o.level;
    const int ways = o.ways;
    const tmap_u64 w = h.width;
    const tmap_u64 cells = w * h.height;
    const tmap_u64 bytes = heights_bytes(h.type) * cells;

    // At 1/4, 2/4, 3/4 and all of the depth above the source.
    const double deep = lake_wet(&h, o.source, level) ? level - heights_value(&h, o.source) : 0;
    double levels[LEVELS];
    if (!lake_wet(&h, o.source, level))
        printf("the source is dry: its height is %g%s\n", heights_value(&h, o.source),
               h.has_nodata && heights_value(&h, o.source) == h.nodata ? ", no data" : "");
    for (int k = 0; k < LEVELS; ++k) levels[k] = level - deep * (LEVELS - 1 - k) / LEVELS;

    tmap_flood_seed *seed;
    tmap_flood_lake *lakes;
    float *depth;
    void *map_cells;
    void *workspace;
    void *tiles;
    CHECK(cudaMallocManaged((void **)&seed, sizeof *seed));
    CHECK(cudaMallocManaged((void **)&lakes, LEVELS * sizeof *lakes));
    CHECK(cudaMallocManaged((void **)&depth, cells * sizeof *depth));
    CHECK(cudaMalloc(&map_cells, bytes));
    CHECK(cudaMemcpy(map_cells, h.data, bytes, cudaMemcpyHostToDevice));
    seed->x = o.source % w;
    seed->y = o.source / w;

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

    int wrong = 0;
    for (int k = 0; k < LEVELS; ++k) {
        const tmap_flood_lake lake = lakes[k];
        const float *water = k == LEVELS - 1 ? depth : NULL; // on each cell
        wrong += !lake_is(&h, o.source, levels[k], ways, lake.area, lake.volume, water);
        printf("level %g: %llu cells, volume %.10g\n", levels[k], lake.area, lake.volume);
    }
    if (!wrong) draw(&h, o.source, depth, level);
    heights_free(&o.map);
    CHECK(cudaFree(seed));
    CHECK(cudaFree(lakes));
    CHECK(cudaFree(depth));
    CHECK(cudaFree(map_cells));
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(tiles));
    return check_result("lakes at 4 levels", wrong);
}
