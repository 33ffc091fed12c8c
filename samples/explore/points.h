// SPDX-License-Identifier: MIT
// points.h: points from .npy files and texts.
#ifndef EXPLORE_POINTS_H
#define EXPLORE_POINTS_H

#include "../files/npy.h"
#include "tool.h"

#include <math.h>

// n points of d coordinates, row by row.
typedef struct points {
    float *at;
    tmap_u64 n, d, values, room;
} points;

// Appends a coordinate. Returns 0, or -1 with the line in in->error.
static int points_add(points *p, const input *in, double value) {
    if (p->values == p->room) {
        p->room = 2 * p->room + 64;
        p->at = (float *)realloc(p->at, p->room * sizeof(float));
    }
    if (!p->at) return input_bad(in, "there is no memory for its points");
    p->at[p->values] = (float)value;
    if (input_finite(p->at[p->values++])) return 0;
    return input_bad(in, "point %llu (from 0) has a coordinate that is not finite in float32",
                     p->d ? (p->values - 1) / p->d : 0);
}

// An array of f4 or f8 of shape (N, D).
static int points_npy(points *p, input *in) {
    npy a;
    if (npy_read(in, &a)) return -1;
    if (a.type[0] != 'f') return input_bad(in, "has values of type %s, not f4 or f8", a.type);
    if (a.dims != 2 || (a.shape[0] - 1) >> 24 || (a.shape[1] - 1) >> 24)
        return input_bad(in, "its shape is not (N, D) with N and D from 1 to 2^24");
    p->n = a.shape[0], p->d = a.shape[1];
    for (tmap_u64 i = 0; i < a.count; ++i)
        if (points_add(p, in, npy_value(&a, i))) return -1;
    return 0;
}

// Reads the next coordinate of a line, after blanks, commas and semicolons. Returns 1, or 0 at its
// end.
static int points_word(text *rest, text *word) {
    while (rest->size && memchr(" \t,;\r", rest->at[0], 5)) ++rest->at, --rest->size;
    word->at = rest->at, word->size = 0;
    while (rest->size && !memchr(" \t,;\r#", rest->at[0], 6))
        ++rest->at, --rest->size, ++word->size;
    return word->size != 0;
}

// Reads a point from each line; blanks, commas or semicolons separate coordinates; # begins a
// comment.
static int points_text(points *p, input *in) {
    text line, word;
    for (tmap_u64 before = 0; text_line(in, &line); before = p->values) {
        while (points_word(&line, &word)) {
            double value;
            if (text_number(word, &value)) return input_bad(in, "line %llu: no number", in->line);
            if (points_add(p, in, value)) return -1;
        }
        if (p->values == before) continue; // blank, or a comment
        if (p->n++ && p->values - before != p->d)
            return input_bad(in, "line %llu: %llu coordinates, not %llu", in->line,
                             p->values - before, p->d);
        p->d = p->values - before;
    }
    return 0;
}

// The points of a file of either kind.
static points points_read(const char *path) {
    points p = {NULL, 0, 0, 0, 0};
    char error[200];
    input in;
    if (input_open(&in, path, error, sizeof error) ||
        (in.size > 6 && !memcmp(in.data, "\x93NUMPY", 6) ? points_npy(&p, &in)
                                                         : points_text(&p, &in)))
        bad("no points", error);
    input_close(&in);
    return p;
}

// A coil of n points in d dimensions.
static points points_coil(tmap_u64 n, tmap_u64 d) {
    points p = {NULL, n, d, n * d, n * d};
    p.at = (float *)malloc(n * d * sizeof(float));
    if (!p.at) bad("no memory for", "auto");
    for (tmap_u64 i = 0; i < n * d; ++i)
        p.at[i] = (float)sin((double)i * 12 / (double)n + (double)(i % d));
    return p;
}

#endif
