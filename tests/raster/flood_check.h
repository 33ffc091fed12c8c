// SPDX-License-Identifier: MIT
// flood_check.h: what tests of floods compare with: a serial fill, line by line, and maps of every
// type, with a pitch and cells without data.
#ifndef TESTS_RASTER_FLOOD_CHECK_H
#define TESTS_RASTER_FLOOD_CHECK_H

#include "flood_inputs.h"

#include <threadmap/raster/map.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the serial fill ----------------------------------------------------------------------------

// Cells from which lines are still to be filled.
typedef struct flood_stack {
    tmap_flood_seed *at;
    size_t count, room;
} flood_stack;

static inline void flood_push(flood_stack *s, tmap_u64 x, tmap_u64 y) {
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->at = (tmap_flood_seed *)realloc(s->at, s->room * sizeof *s->at);
        if (!s->at) fprintf(stderr, "no memory\n"), exit(1);
    }
    s->at[s->count].x = x, s->at[s->count++].y = y;
}

// 1 for a cell that is wet and not flooded yet.
static inline int flood_open(const tmap_raster_map *map, const void *heights, double level,
                             const unsigned char *out, tmap_u64 x, tmap_u64 y) {
    return !out[y * map->width + x] &&
           tmap_flood_wet(map, tmap_raster_value(map, heights, x, y), level);
}

// Pushes the first cell of each run of open cells of row y from column `first` to `last`.
static inline void flood_push_runs(const tmap_raster_map *map, const void *heights, double level,
                                   const unsigned char *out, tmap_u64 first, tmap_u64 last,
                                   tmap_u64 y, flood_stack *s) {
    int before = 0;
    for (tmap_u64 x = first; x <= last; ++x) {
        const int open = flood_open(map, heights, level, out, x, y);
        if (open && !before) flood_push(s, x, y);
        before = open;
    }
}

// The flood by its definition, a line of the map at a time. heights, seeds, out: in the host's
// memory; out: width * height bytes, 1 flooded, 0 not. Returns the number of flooded cells.
static inline tmap_u64 flood_fill(const tmap_raster_map *map, const void *heights,
                                  const tmap_flood_seed *seeds, tmap_u64 seed_count, double level,
                                  unsigned char *out) {
    const tmap_u64 aside = map->connectivity == 8;
    flood_stack s = {NULL, 0, 0};
    tmap_u64 flooded = 0;
    memset(out, 0, (size_t)(map->width * map->height));
    for (tmap_u64 i = 0; i < seed_count; ++i)
        if (seeds[i].x < map->width && seeds[i].y < map->height)
            flood_push(&s, seeds[i].x, seeds[i].y);
    while (s.count) {
        const tmap_flood_seed at = s.at[--s.count];
        tmap_u64 first = at.x, last = at.x;
        if (!flood_open(map, heights, level, out, at.x, at.y)) continue;
        while (first && flood_open(map, heights, level, out, first - 1, at.y)) --first;
        while (last + 1 < map->width && flood_open(map, heights, level, out, last + 1, at.y))
            ++last;
        memset(out + at.y * map->width + first, 1, (size_t)(last - first + 1));
        flooded += last - first + 1;
        if (aside && first) --first;
        if (aside && last + 1 < map->width) ++last;
        if (at.y) flood_push_runs(map, heights, level, out, first, last, at.y - 1, &s);
        if (at.y + 1 < map->height)
            flood_push_runs(map, heights, level, out, first, last, at.y + 1, &s);
    }
    free(s.at);
    return flooded;
}

// ---- maps ---------------------------------------------------------------------------------------

#define FLOOD_NODATA (-9999)

static inline size_t flood_type_bytes(int type) { return type == TMAP_RASTER_I16 ? 2 : 4; }

// Sets a cell of a map in the host's memory.
static inline void flood_set(const tmap_raster_map *map, void *heights, tmap_u64 x, tmap_u64 y,
                             double height) {
    const tmap_u64 at = y * map->pitch + x;
    if (map->type == TMAP_RASTER_I16) ((short *)heights)[at] = (short)height;
    if (map->type == TMAP_RASTER_I32) ((int *)heights)[at] = (int)height;
    if (map->type == TMAP_RASTER_F32) ((float *)heights)[at] = (float)height;
}

// Heights of an input in the host's memory, as the map says. Cells between the width and the pitch
// are wet, so that who reads them is found. With has_nodata, one cell in 16 that is wet has none;
// floats are then NaN in one of two of these.
static inline void *flood_make(const tmap_raster_map *map, int input) {
    const size_t bytes = (size_t)(map->pitch * map->height) * flood_type_bytes(map->type);
    void *heights = malloc(bytes);
    if (!heights) fprintf(stderr, "no memory\n"), exit(1);
    for (tmap_u64 y = 0; y < map->height; ++y)
        for (tmap_u64 x = 0; x < map->pitch; ++x) {
            const tmap_u32 chance = flood_hash_cell((tmap_u32)x, (tmap_u32)y, 7);
            double height = -100;
            if (x < map->width)
                height = flood_input(input, (tmap_u32)x, (tmap_u32)y, (tmap_u32)map->width,
                                     (tmap_u32)map->height);
            if (map->has_nodata && x < map->width && height < 0 && chance % 16 == 0)
                height = map->type == TMAP_RASTER_F32 && chance & 16 ? (double)NAN : map->nodata;
            flood_set(map, heights, x, y, height);
        }
    return heights;
}

// Seed 0 is the corner (0, 0) if that is wet; else the first cell from the middle on that is wet
// and whose neighbour to the right is wet, or any wet cell. The others lie anywhere, some outside.
static inline void flood_seeds(const tmap_raster_map *map, const void *heights, double level,
                               tmap_flood_seed *seeds, tmap_u64 count, tmap_u32 salt) {
    const tmap_u64 w = map->width, h = map->height;
    int found = 0;
    for (tmap_u64 i = 0; i < count; ++i) {
        seeds[i].x = flood_hash((tmap_u32)i * 2 + salt * 977) % (w + w / 8 + 1);
        seeds[i].y = flood_hash((tmap_u32)i * 2 + 1 + salt * 977) % (h + h / 8 + 1);
    }
    if (!count) return;
    seeds[0].x = seeds[0].y = 0;
    if (tmap_flood_wet(map, tmap_raster_value(map, heights, 0, 0), level)) return;
    for (tmap_u64 i = 0; i < w * h && found < 2; ++i) {
        const tmap_u64 x = (i + w / 2) % w, y = (i / w + h / 2) % h;
        const int wet = tmap_flood_wet(map, tmap_raster_value(map, heights, x, y), level);
        const int two = wet && x + 1 < w &&
                        tmap_flood_wet(map, tmap_raster_value(map, heights, x + 1, y), level);
        if (wet && found < 1 + two) seeds[0].x = x, seeds[0].y = y, found = 1 + two;
    }
}

#endif
