// SPDX-License-Identifier: MIT
// lake_options.h: the command line of a program that floods a map: FILE LEVEL X Y [8] [map], or
// nothing, for generated hills.
#ifndef FILES_LAKE_OPTIONS_H
#define FILES_LAKE_OPTIONS_H

#include "heights.h"
#include "terrain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The map, which heights_free frees; the level of the water; the number of the source's cell,
// y * width + x; and over how many neighbours of a cell water flows, 4 or 8.
typedef struct lake_options {
    heights map;
    double level;
    input_u64 source;
    int ways;
} lake_options;

// Ends the program with status 2 and one line on stderr.
static inline void lake_options_bad(const char *what, const char *value) {
    fprintf(stderr, "%s: '%.*s'\n", what, (int)strcspn(value, "\r\n"), value);
    exit(2);
}

// The number that a word is, from -10^10 to 10^10.
static inline double lake_options_number(const char *word) {
    const text t = {word, strlen(word)};
    double value = 0;
    if (text_number(t, &value) || !(fabs(value) <= 1e10))
        lake_options_bad("no number up to 10^10", word);
    return value;
}

// The source's cell. x, y: cells from the north-west or, if by_map, the file's own coordinates.
static inline input_u64 lake_options_source(const heights *h, double x, double y, int by_map,
                                            const char *file) {
    if (by_map && !h->has_place) lake_options_bad("does not tell where its map lies", file);
    if (by_map) {
        x = (x - h->west) / h->dx;
        y = (double)h->height - (y - h->south) / h->dy;
    }
    if (!(x >= 0 && x < (double)h->width && y >= 0 && y < (double)h->height))
        lake_options_bad("the source is not on the map", file);
    return (input_u64)y * h->width + (input_u64)x;
}

// Reads the command line and the map that it names. Ends the program with status 0 after --help,
// and with status 2 and one line on stderr if the words or the file cannot be used.
static inline lake_options lake_options_read(int argc, char **argv) {
    const char *usage = "usage: %s [FILE.hgt|.pgm|.asc|.flt|.npy LEVEL X Y [8] [map]]\n";
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf(usage, argv[0]);
        exit(0);
    }
    if (argc > 1 && argc < 5) {
        fprintf(stderr, usage, argv[0]);
        exit(2);
    }
    const char *file = argc > 1 ? argv[1] : "";
    double x = 183; // of the hills: a valley
    double y = 146;
    int by_map = 0;
    lake_options o;
    o.level = 0;
    o.ways = 4;
    if (argc > 1) {
        o.level = lake_options_number(argv[2]);
        x = lake_options_number(argv[3]);
        y = lake_options_number(argv[4]);
    }
    for (int i = 5; i < argc; ++i) {
        if (strcmp(argv[i], "8") == 0)
            o.ways = 8;
        else if (strcmp(argv[i], "map") == 0)
            by_map = 1;
        else
            lake_options_bad("not known", argv[i]);
    }

    char error[200];
    const int failed = argc > 1 ? heights_read(file, &o.map, error, sizeof error)
                                : terrain_make(8, 10, &o.map, error, sizeof error);
    if (failed) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    o.source = lake_options_source(&o.map, x, y, by_map, file);
    return o;
}

#endif
