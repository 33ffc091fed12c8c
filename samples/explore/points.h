// SPDX-License-Identifier: MIT
// points.h: points from .npy files and texts, and arrays of float32 as .npy files.
#ifndef EXPLORE_POINTS_H
#define EXPLORE_POINTS_H

#include "tool.h"

#include <math.h>

// n points of d coordinates, row by row.
typedef struct points {
    float *at;
    tmap_u64 n, d, values, room;
} points;

static void points_add(points *p, double value, const char *path) {
    if (!isfinite((float)value)) bad("a coordinate that is not finite in float32, in", path);
    if (p->values == p->room) {
        p->room = 2 * p->room + 64;
        p->at = (float *)realloc(p->at, p->room * sizeof(float));
    }
    if (!p->at) bad("no memory for", path);
    p->at[p->values++] = (float)value;
}

// A header is {'descr': '<f4', 'fortran_order': False, 'shape': (N, D), } and blanks, behind a magic
// word, a version, and a length of two or four bytes.
static void points_npy(points *p, FILE *file, const char *path) {
    unsigned char head[12];
    char text[65536], *shape, close;
    const size_t bytes = fread(head, 1, 10, file), length = head[8] + 256u * head[9];
    if (bytes < 10 || (head[6] != 1 && head[6] != 2)) bad("no .npy of version 1 or 2", path);
    if (head[6] == 2 && (fread(head + 10, 1, 2, file) != 2 || head[10] || head[11]))
        bad("a .npy header of more than 64 KB in", path);
    if (!length || fread(text, 1, length, file) < length) bad("a cut .npy header in", path);
    text[length] = 0;
    const int wide = strstr(text, "'<f8'") != NULL;
    if ((!wide && !strstr(text, "'<f4'")) || !strstr(text, "'fortran_order': False"))
        bad("neither '<f4' nor '<f8' in C order:", path);
    shape = strstr(text, "'shape': (");
    if (!shape || sscanf(shape + 10, "%llu, %llu%c", &p->n, &p->d, &close) != 3 || close != ')' ||
        (p->n - 1) >> 24 || (p->d - 1) >> 24)
        bad("no shape (N, D) with N and D from 1 in", path);
    while (p->values < p->n * p->d) {
        double value = 0;
        float narrow = 0;
        if (fread(wide ? (void *)&value : (void *)&narrow, wide ? 8 : 4, 1, file) != 1)
            bad("fewer values than its shape says in", path);
        points_add(p, wide ? value : (double)narrow, path);
    }
    if (fgetc(file) != EOF) bad("more values than its shape says in", path);
}

// A point a line, its coordinates parted by blanks, commas or semicolons; # begins a comment.
static void points_text(points *p, FILE *file, const char *path) {
    static char line[1 << 20];
    for (tmap_u64 before = 0; fgets(line, sizeof line, file); before = p->values) {
        if (!strchr(line, '\n') && !feof(file)) bad("a line that is too long in", path);
        line[strcspn(line, "#\r\n")] = 0;
        for (char *at = line, *end; at += strspn(at, " \t,;"), *at; at = end) {
            const double value = strtod(at, &end);
            if (end == at) bad("no number", at);
            points_add(p, value, path);
        }
        if (p->values == before) continue; // blank, or a comment
        if (p->n++ && p->values - before != p->d) bad("lines of different length in", path);
        p->d = p->values - before;
    }
}

// The points of a file of either kind.
static points points_read(const char *path) {
    points p = {NULL, 0, 0, 0, 0};
    FILE *file = fopen(path, "rb");
    char magic[7] = "";
    if (!file || !fread(magic, 1, 6, file)) bad("cannot read, or empty:", path);
    rewind(file);
    if (strcmp(magic, "\x93NUMPY"))
        points_text(&p, file, path);
    else
        points_npy(&p, file, path);
    fclose(file);
    return p;
}

// A coil of n points in d dimensions.
static points points_coil(tmap_u64 n, tmap_u64 d) {
    points p = {NULL, n, d, 0, 0};
    while (p.values < n * d)
        points_add(&p, sin((double)p.values * 12 / (double)n + (double)(p.values % d)), "auto");
    return p;
}

// Writes a vector of float32 as .npy. Returns 1, or 0 where a write failed.
static int npy_write(FILE *file, const float *values, tmap_u64 count) {
    static const char form[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (%llu,), }%60s";
    char head[129] = "\x93NUMPY\1"; // then \0, and the length of the text, 118, in two bytes
    snprintf(head + 10, 119, form, count, "");
    head[8] = 118, head[127] = '\n';
    return fwrite(head, 128, 1, file) == 1 && fwrite(values, sizeof(float), count, file) == count;
}

#endif
