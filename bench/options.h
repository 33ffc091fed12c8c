// SPDX-License-Identifier: MIT
// options.h: what the command lines of the benchmarks share: numbers, lists of them, and the end of
// a program that got something else.
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <threadmap/core.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Up to so many numbers of one option.
enum { BENCH_NUMBERS = 16 };
typedef struct bench_numbers {
    tmap_u32 value[BENCH_NUMBERS];
    int count;
} bench_numbers;

// The program's name in its messages; main sets it.
static const char *bench_program = "bench";

// One line, and exit status 2.
static void bench_bad(const char *option, const char *value) {
    fprintf(stderr, "%s: %s: bad value '%s'\n", bench_program, option, value ? value : "");
    exit(2);
}

// Takes --quick, which has no value, out of the words: returns 1 if it was there. --help prints
// `usage` and ends the program with status 0. What is left are options with a value each.
static inline int bench_quick(int *argc, char **argv, const char *usage) {
    int left = 1, quick = 0;
    for (int i = 1; i < *argc; ++i) {
        if (!strcmp(argv[i], "--help")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (!strcmp(argv[i], "--quick")) {
            quick = 1;
            continue;
        }
        argv[left++] = argv[i];
        if (i + 1 < *argc) argv[left++] = argv[++i];
    }
    *argc = left;
    return quick;
}

// The number that *text begins with; *text goes on behind it.
static tmap_u64 bench_number_at(const char *option, const char **text, tmap_u64 least,
                                tmap_u64 most) {
    char *end;
    tmap_u64 n;
    if (!*text || !isdigit((unsigned char)**text)) bench_bad(option, *text);
    n = strtoull(*text, &end, 10);
    if (n < least || n > most) bench_bad(option, *text);
    *text = end;
    return n;
}

// A text that is a number and nothing more.
static tmap_u64 bench_number(const char *option, const char *text, tmap_u64 least, tmap_u64 most) {
    const char *end = text;
    tmap_u64 n = bench_number_at(option, &end, least, most);
    if (*end) bench_bad(option, text);
    return n;
}

// Numbers parted by commas; none for an empty text.
static inline bench_numbers bench_numbers_of(const char *option, const char *text, tmap_u32 least,
                                             tmap_u32 most) {
    bench_numbers l = {{0}, 0};
    for (const char *p = text; *p; p += *p == ',') {
        if (l.count == BENCH_NUMBERS) bench_bad(option, text);
        l.value[l.count++] = (tmap_u32)bench_number_at(option, &p, least, most);
        if (*p && *p != ',') bench_bad(option, text);
    }
    return l;
}

#endif
