// SPDX-License-Identifier: MIT
// lake.h: what a program that floods a map needs beside the flood: its command line, FILE LEVEL X Y
// [8] [map], or nothing for generated hills; and the lake found on the host, to compare with.
#ifndef FILES_LAKE_H
#define FILES_LAKE_H

#include "heights.h"

#include <math.h>

// A cell is wet if it has data and is below the level.
static inline int lake_wet(const heights *h, input_u64 i, double level) {
    const double v = heights_value(h, i);
    return v < level && !(h->has_nodata && v == h->nodata);
}

// Returns 1 if a lake is that of the source cell `from`, y * width + x, over 4 or 8 neighbours of a
// cell (ways), filled here from cell to cell: its area, its volume up to rounding in double, and,
// unless `depth` is null, the water on each cell of the map, level - height, 0 where there is none.
// Returns 0 if not, and also, after a line on stderr, if there is no memory to find out.
static inline int lake_is(const heights *h, input_u64 from, double level, int ways, input_u64 area,
                          double volume, const float *depth) {
    const input_u64 w = h->width, count = w * h->height;
    float *want = (float *)calloc((size_t)count, sizeof *want);
    input_u64 *cells = (input_u64 *)malloc((size_t)count * sizeof *cells), found = 0;
    double sum = 0;
    int same = want && cells;
    if (!same) fputs("there is no memory to verify the lake\n", stderr);
    if (same && lake_wet(h, from, level)) want[from] = -1, cells[found++] = from; // -1: found
    for (input_u64 next = 0; next < found; ++next)
        for (unsigned k = 0; k < 9; ++k) { // the 3 x 3 cells around it
            // 0 - 1 wraps around to a column or row beyond the map
            const input_u64 x = cells[next] % w + k % 3 - 1, y = cells[next] / w + k / 3 - 1;
            if (x >= w || y >= h->height) continue;
            if (ways == 4 && k % 2 == 0) continue; // a corner, or the cell itself
            if (want[y * w + x] != 0 || !lake_wet(h, y * w + x, level)) continue;
            want[y * w + x] = -1, cells[found++] = y * w + x;
        }
    for (input_u64 k = 0; k < found; ++k) {
        const double deep = level - heights_value(h, cells[k]);
        want[cells[k]] = (float)deep;
        sum += deep;
    }
    same = same && found == area && fabs(volume - sum) <= 1e-9 * (sum + (double)area * fabs(level));
    for (input_u64 i = 0; same && depth && i < count; ++i) same = depth[i] == want[i];
    free(want);
    free(cells);
    return same;
}

// ---- the command line ---------------------------------------------------------------------------

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

// Hills: seven sets of waves, each shorter and lower than the one before. 257 x 257 floats, from
// about -630 to 630 metres. Returns 0, or -1 with one line in error of `room` bytes.
static inline int lake_hills(heights *h, char *error, size_t room) {
    enum { SIDE = 257 };
    const input in = input_make(NULL, 0, error, room);
    if (heights_make(&in, SIDE, SIDE, HEIGHTS_F32, h)) return -1;
    for (unsigned i = 0; i < SIDE * SIDE; ++i) {
        double height = 0, turns = 0.035, size = 300;
        for (int k = 0; k < 7; ++k, turns *= 1.8, size *= 0.55)
            height += size * sin(turns * (i % SIDE * cos(2.4 * k) + i / SIDE * sin(2.4 * k)) + k);
        heights_set(h, i, height);
    }
    return 0;
}

// Reads the command line and the map that it names. Ends the program with status 0 after --help,
// and with status 2 and one line on stderr if the words or the file cannot be used.
static inline lake_options lake_options_read(int argc, char **argv) {
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0, made = argc == 1;
    if (help || (!made && argc < 5)) {
        fprintf(help ? stdout : stderr, "usage: %s [FILE.pgm|.flt|.npy LEVEL X Y [8] [map]]\n",
                argv[0]);
        exit(help ? 0 : 2);
    }
    lake_options o;
    char error[200];
    double x = 139, y = 96; // of the hills: a valley
    int by_map = 0;
    o.level = made ? 0 : lake_options_number(argv[2]);
    o.ways = 4;
    if (!made) x = lake_options_number(argv[3]), y = lake_options_number(argv[4]);
    for (int i = 5; i < argc; ++i)
        if (strcmp(argv[i], "8") == 0)
            o.ways = 8;
        else if (strcmp(argv[i], "map") == 0)
            by_map = 1;
        else
            lake_options_bad("not known", argv[i]);
    if (made ? lake_hills(&o.map, error, sizeof error)
             : heights_read(argv[1], &o.map, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    const heights *h = &o.map;
    if (by_map && !h->has_place) lake_options_bad("does not tell where its map lies", argv[1]);
    if (by_map) x = (x - h->west) / h->dx, y = (double)h->height - (y - h->south) / h->dy;
    if (!(x >= 0 && x < (double)h->width && y >= 0 && y < (double)h->height))
        lake_options_bad("the source is not on the map", argv[1]);
    o.source = (input_u64)y * h->width + (input_u64)x;
    return o;
}

#endif
