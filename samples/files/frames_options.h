// SPDX-License-Identifier: MIT
// frames_options.h: the command line of a program that reads frames of a molecule: FILE [ATOMS], or
// nothing for generated frames.
#ifndef FILES_FRAMES_OPTIONS_H
#define FILES_FRAMES_OPTIONS_H

#include "frames.h"

#include <math.h>

// An ideal alpha helix of n atoms that unfolds from its end in three steps, with noise of half an
// Angstrom: `count` frames, the same in every run. Atoms are 2.3 Angstrom from the axis, and 100
// degrees and 1.5 Angstrom from one to the next; in each step three tenths of them more lie in a
// line. Returns 0, or -1 with one line in error of `room` bytes.
static inline int frames_helix(input_u64 n, input_u64 count, frames *f, char *error, size_t room) {
    const input in = input_make(NULL, 0, error, room);
    unsigned noise = 1;
    if (frames_make(&in, n, count, 0, f)) return -1;
    for (input_u64 k = 0; k < n * count * 3; ++k) {
        const input_u64 step = k / 3 / n * 3 / count, kept = n - 3 * n * step / 10, i = k / 3 % n;
        const double bound = (double)(i < kept ? i : kept), loose = (double)i - bound;
        const double at[3] = {2.3 * cos(1.745 * bound) + 2 * loose, 2.3 * sin(1.745 * bound),
                              1.5 * bound};
        noise = noise * 1664525u + 1013904223u;
        f->xyz[k] = (float)(at[k % 3] + (noise >> 8) / 16777216.0 - 0.5);
    }
    return 0;
}

// Keeps the atoms of a list, 1-20,25,30-41: numbers from 1 on in the order of the file, ascending.
// Returns 0, or -1 with one line in error of `room` bytes; f is untouched then.
static inline int frames_choose(const char *list, frames *f, char *error, size_t room) {
    const input in = input_make(NULL, 0, error, room);
    input_u64 *atoms = (input_u64 *)input_memory(&in, f->n, sizeof *atoms), n = 0, last = 0;
    if (!atoms) return -1;
    for (const char *at = list;; ++at) {
        const size_t size = strcspn(at, ","), dash = strcspn(at, "-,");
        const size_t skip = dash < size ? dash + 1 : 0;
        const text first = {at, dash}, end = {at + skip, size - skip};
        input_u64 i = 0, before = last;
        if (text_whole(first, f->n, &i) || text_whole(end, f->n, &last) || i <= before ||
            last < i) {
            free(atoms);
            return input_bad(&in, "'%.40s' is no ascending list, as 1-20,25, of atoms 1 to %llu",
                             list, f->n);
        }
        for (; i <= last; ++i) atoms[n++] = i - 1;
        at += size;
        if (!*at) break;
    }
    for (input_u64 k = 0; k < f->count * n; ++k) // no atom moves behind one that is still to move
        memmove(f->xyz + 3 * k, f->xyz + 3 * (k / n * f->n + atoms[k % n]), 3 * sizeof(float));
    f->n = n;
    free(atoms);
    return 0;
}

// Reads the frames of FILE, of ATOMS alone if they are given, or generates `made` frames of n
// atoms. frames_free frees what the result holds. Ends the program with status 0 after --help, and
// with status 2 and one line on stderr if the words or the file cannot be used.
static inline frames frames_options_read(int argc, char **argv, input_u64 n, input_u64 made) {
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0;
    frames f;
    char error[200];
    if (help || argc > 3) {
        fprintf(help ? stdout : stderr,
                "usage: %s [FILE.pdb | .ent | .xyz | .dcd | .npy [ATOMS]]\n", argv[0]);
        exit(help ? 0 : 2);
    }
    if ((argc > 1 ? frames_read(argv[1], &f, error, sizeof error)
                  : frames_helix(n, made, &f, error, sizeof error)) ||
        (argc > 2 && frames_choose(argv[2], &f, error, sizeof error))) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    return f;
}

#endif
