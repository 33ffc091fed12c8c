// SPDX-License-Identifier: MIT
// flood_map.h: what all floods share: a map of heights, when a cell is wet, sources, and how a
// result is written.
//
// The flood of a map from sources at a level is the set of cells that water reaches: those lower
// than the level that a path of such cells joins with a source. A path goes from a cell to one of
// its 4 neighbours, by an edge, or of its 8, by a corner too.
// Source: Filipovic, Plhak, Strelak, HPCS 2015, and the lecture slides about flood maps.
//
// The height of column x and row y stands at heights[y * pitch + x].
#ifndef TMAP_RASTER_FLOOD_MAP_H
#define TMAP_RASTER_FLOOD_MAP_H

#include "../core.h"

// Types of heights.
#define TMAP_FLOOD_I16 0
#define TMAP_FLOOD_I32 1
#define TMAP_FLOOD_F32 2

// Forms of a result. That of column x and row y is number y * width + x of bytes or floats.
#define TMAP_FLOOD_U8    0 // a byte: 1 flooded, 0 not
#define TMAP_FLOOD_BITS  1 // a bit: x % 32 of word y * tmap_flood_words(width) + x / 32
#define TMAP_FLOOD_DEPTH 2 // a float: level - height, 0 where not flooded

// A map. width, height: columns and rows, 1 to 2^31 - 1. pitch: cells from a row to the next, at
// least width. type: of heights, TMAP_FLOOD_I16 and so on. connectivity: 4 or 8. nodata: cells of
// this height are never wet, if has_nodata; NaN never is.
typedef struct tmap_flood_map {
    tmap_u64 width, height, pitch;
    double nodata;
    int has_nodata;
    int type;
    int connectivity;
} tmap_flood_map;

// A source. One that is outside of the map or on a dry cell floods nothing.
typedef struct tmap_flood_seed {
    tmap_u64 x, y;
} tmap_flood_seed;

// Words of a row of a result of bits; bits beyond the width are 0.
TMAP_FN tmap_u64 tmap_flood_words(tmap_u64 width) { return (width + 31) / 32; }

// The height of a cell. heights: of the map's type.
TMAP_FN double tmap_flood_height(const tmap_flood_map *map, const void *heights, tmap_u64 x,
                                 tmap_u64 y) {
    const tmap_u64 at = y * map->pitch + x;
    if (map->type == TMAP_FLOOD_I16) return ((const short *)heights)[at];
    if (map->type == TMAP_FLOOD_I32) return ((const int *)heights)[at];
    return (double)((const float *)heights)[at];
}

// 1 if a height is below the level and is no NODATA value; 0 for NaN.
TMAP_FN int tmap_flood_wet(const tmap_flood_map *map, double height, double level) {
    return height < level && !(map->has_nodata && height == map->nodata);
}

#endif
