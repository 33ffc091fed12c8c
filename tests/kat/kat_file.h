// SPDX-License-Identifier: MIT
// kat_file.h: reads the known answers of this folder ($TMAP_KAT) line by line. What cannot be read
// ends the test with 2.
#ifndef TESTS_KAT_FILE_H
#define TESTS_KAT_FILE_H

#include "kit.h"

static inline void kat_bad_line(const char *line) {
    fprintf(stderr, "the known answers: cannot read \"%.60s\"\n", line);
    exit(2);
}

static inline FILE *kat_open(const char *name) {
    static char path[1000];
    const char *folder = getenv("TMAP_KAT");
    FILE *in;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "tests/kat", name);
    in = fopen(path, "r");
    if (!in) perror(path), exit(2);
    return in;
}

// The next line that is no comment: its first word is *word, the rest begins at what is returned.
// NULL: the file ends.
static inline char *kat_line(FILE *in, char **word) {
    static char line[1 << 16];
    while (fgets(line, sizeof line, in)) {
        char *rest = line + strcspn(line, " \n");
        if (!strchr(line, '\n')) kat_bad_line("a line that is too long");
        if (*line == '#' || *line == '\n') continue;
        *word = line, *rest++ = 0;
        return rest;
    }
    fclose(in);
    return NULL;
}

// The next number of a line.
static inline tmap_u64 kat_number(char **p) {
    char *start = *p;
    const tmap_u64 n = strtoull(start, p, 10);
    if (*p == start) kat_bad_line(start);
    return n;
}

static inline int kat_more(const char *p) { return p[strspn(p, " \n")] != 0; }

#endif
