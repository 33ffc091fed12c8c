// SPDX-License-Identifier: MIT
// lake_options.h: the command line of a program that floods a map: FILE LEVEL X Y [8] [map], or
// nothing, for hills that are made up.
#ifndef FILES_LAKE_OPTIONS_H
#define FILES_LAKE_OPTIONS_H

#include "heights.h"
#include "terrain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The map, the level of the water, the number of the source's cell, y * width + x, and how many
// ways the water takes from a cell, 4 or 8.
typedef struct lake_options {
    heights map;
    double level;
    input_u64 source;
    int ways;
} lake_options;

static inline int lake_options_bad(const char *what, const char *value) {
    fprintf(stderr, "%s: '%.*s'\n", what, (int)strcspn(value, "\r\n"), value);
    return 2;
}

// All of a word as a number of at most 10^10; 0 if it is none.
static inline int lake_options_number(const char *word, double *value) {
    const text t = {word, strlen(word)};
    return text_number(t, value) == 0 && fabs(*value) <= 1e10;
}

// The source's cell. X and Y count cells from the north-west or, with `map`, are the file's own
// coordinates. Returns 0; 2, after a line on stderr, where there is no such cell.
static inline int lake_options_source(double x, double y, int by_map, const char *file,
                                      lake_options *o) {
    const heights *h = &o->map;
    if (by_map && !h->has_place) return lake_options_bad("does not tell where its map lies", file);
    if (by_map) x = (x - h->west) / h->dx, y = (double)h->height - (y - h->south) / h->dy;
    if (!(x >= 0 && x < (double)h->width && y >= 0 && y < (double)h->height))
        return lake_options_bad("the source is not on the map", file);
    o->source = (input_u64)y * h->width + (input_u64)x;
    return 0;
}

// Returns 0, and then o->map is for heights_free; 2, after a line on stderr, for words that are
// wrong and files that cannot be read.
static inline int lake_options_read(int argc, char **argv, lake_options *o) {
    double at[3] = {0, 183, 146}; // level, X, Y
    char error[200];
    int by_map = 0, status;
    o->ways = 4;
    if (argc > 1 && argc < 5) {
        fprintf(stderr, "usage: %s FILE LEVEL X Y [8] [map]\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < 3 && argc > 1; ++i)
        if (!lake_options_number(argv[2 + i], at + i))
            return lake_options_bad("no number up to 10^10", argv[2 + i]);
    for (int i = 5; i < argc; ++i) {
        if (!strcmp(argv[i], "8"))
            o->ways = 8;
        else if (!strcmp(argv[i], "map"))
            by_map = 1;
        else
            return lake_options_bad("not known", argv[i]);
    }
    if (argc > 1 ? heights_read(argv[1], &o->map, error, sizeof error)
                 : terrain_make(8, 10, &o->map, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    o->level = at[0];
    status = lake_options_source(at[1], at[2], by_map, argc > 1 ? argv[1] : "", o);
    if (status) heights_free(&o->map);
    return status;
}

#endif
