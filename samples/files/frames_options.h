// SPDX-License-Identifier: MIT
// frames_options.h: the command line of a program that reads frames of a molecule: FILE, or nothing
// for generated frames.
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

// Reads the frames of FILE, or generates `made` frames of n atoms. frames_free frees what the
// result holds. Ends the program with status 0 after --help, and with status 2 and one line on
// stderr if the words or the file cannot be used.
static inline frames frames_options_read(int argc, char **argv, input_u64 n, input_u64 made) {
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0;
    frames f;
    char error[200];
    if (help || argc > 2) {
        fprintf(help ? stdout : stderr, "usage: %s [FILE.pdb | .ent | .xyz | .dcd | .npy]\n",
                argv[0]);
        exit(help ? 0 : 2);
    }
    if (argc == 2 ? frames_read(argv[1], &f, error, sizeof error)
                  : frames_helix(n, made, &f, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    return f;
}

#endif
