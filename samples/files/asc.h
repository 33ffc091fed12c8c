// SPDX-License-Identifier: MIT
// asc.h: height maps as Esri ASCII grids (.asc): keys and their values (ncols, nrows, xllcorner or
// xllcenter, yllcorner or yllcenter, cellsize or dx and dy, NODATA_value), in any order and
// letters, then ncols * nrows heights from the northernmost row on, separated by blanks and line
// ends.
//
// The type follows from all numbers, NODATA included: i16 if all are whole and from -32768 to
// 32767, i32 if all are whole and fit it, else f32.
#ifndef FILES_ASC_H
#define FILES_ASC_H

#include "grid.h"

// Reads the keys. in->at is then before the first height.
static inline int asc_head(input *in, grid *g) {
    text word, value;
    double number;
    memset(g, 0, sizeof *g);
    for (;;) {
        const input_u64 at = in->at, line = in->line;
        if (!text_next(in, &word)) return input_bad(in, "ends inside its head");
        if (text_number(word, &number) == 0) { // the first height
            in->at = at, in->line = line;
            return 0;
        }
        const int key = grid_key(word);
        if (key > GRID_NODATA) return input_bad(in, "line %llu: not the key of a grid", in->line);
        if (!text_next(in, &value)) return input_bad(in, "ends inside its head");
        if (grid_take(in, g, key, value)) return -1;
    }
}

// The least type that holds a value and `type`.
static inline int asc_type(double value, int type) {
    if (!input_finite(input_narrow(value))) return HEIGHTS_F32;
    if (value < -2147483648.0 || value > 2147483647.0) return HEIGHTS_F32;
    if (value != (double)(int32_t)value) return HEIGHTS_F32;
    if (type == HEIGHTS_I16 && (value < -32768 || value > 32767)) return HEIGHTS_I32;
    return type;
}

// Goes through all heights: finds their type where h->data is null, else stores them.
static inline int asc_values(input *in, heights *h) {
    const input_u64 cells = h->width * h->height;
    text word;
    double value;
    for (input_u64 i = 0; i < cells; ++i) {
        if (!text_next(in, &word))
            return input_bad(in, "ends after %llu of its %llu heights", i, cells);
        if (text_number(word, &value)) return input_bad(in, "line %llu: no number", in->line);
        if (h->data)
            heights_set(h, i, value);
        else
            h->type = asc_type(value, h->type);
    }
    if (text_next(in, &word)) return input_bad(in, "has more than ncols * nrows heights");
    return 0;
}

// Returns 0, or -1 with the line in in->error; h is untouched then.
static inline int asc_read(input *in, heights *h) {
    heights g, made;
    grid keys;
    input_u64 cells = 0;
    memset(&g, 0, sizeof g);
    if (asc_head(in, &keys) || grid_place(in, &keys, &g)) return -1;
    if (input_product(g.width, g.height, &cells) || cells > input_left(in) / 2 + 1)
        return input_bad(in, "is too short for %llu x %llu heights", g.width, g.height);
    const input_u64 at = in->at, line = in->line;
    g.type = g.has_nodata ? asc_type(g.nodata, HEIGHTS_I16) : HEIGHTS_I16;
    if (asc_values(in, &g) || heights_make(in, g.width, g.height, g.type, &made)) return -1;
    g.data = made.data;
    in->at = at, in->line = line;
    if (asc_values(in, &g)) return heights_free(&g), -1;
    return heights_give(in, &g, h);
}

// ---- writing ------------------------------------------------------------------------------------

// Writes a number with a point in every locale, as short as possible so that it reads back as the
// same double, or float if `digits` is 6. digits: the least to try, 15 for doubles.
static inline void asc_number(double value, int digits, char out[40]) {
    const int most = digits == 6 ? 9 : 17;
    char number[40], *to;
    double again;
    for (;; ++digits) {
        text t = {out, 0};
        snprintf(number, sizeof number, "%.*g", digits, value);
        to = out;
        for (const char *from = number; *from; ++from)
            if (text_is_digit(*from) || strchr("+-e", *from))
                *to++ = *from;
            else if (to == out || to[-1] != '.') // a locale's point may be of several bytes
                *to++ = '.';
        *to = 0;
        t.size = (input_u64)(to - out);
        if (digits == most || (text_number(t, &again) == 0 &&
                               (most == 9 ? (float)again == (float)value : again == value)))
            return;
    }
}

// Writes a map of finite heights. Returns 0, or -1 if writing fails.
static inline int asc_write(FILE *file, const heights *h) {
    const double numbers[4] = {h->west, h->south, h->dx, h->dy};
    const char *const keys[4] = {"xllcorner", "yllcorner", h->dx == h->dy ? "cellsize" : "dx",
                                 "dy"};
    char number[40];
    fprintf(file, "ncols %llu\nnrows %llu\n", h->width, h->height);
    for (int i = 0; i < (h->dx == h->dy ? 3 : 4) && h->has_place; ++i) {
        asc_number(numbers[i], 15, number);
        fprintf(file, "%s %s\n", keys[i], number);
    }
    if (h->has_nodata) {
        asc_number(h->nodata, h->type == HEIGHTS_F32 ? 6 : 15, number);
        fprintf(file, "NODATA_value %s\n", number);
    }
    for (input_u64 i = 0; i < h->width * h->height && !ferror(file); ++i) {
        asc_number(heights_value(h, i), h->type == HEIGHTS_F32 ? 6 : 15, number);
        fprintf(file, "%s%c", number, (i + 1) % h->width ? ' ' : '\n');
    }
    return ferror(file) ? -1 : 0;
}

#endif
