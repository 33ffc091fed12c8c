// SPDX-License-Identifier: MIT
// frames_options.h: the command line of a program that reads frames of a molecule: FILE, or nothing
// for generated frames.
#ifndef FILES_FRAMES_OPTIONS_H
#define FILES_FRAMES_OPTIONS_H

#include "frames.h"
#include "helix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reads the frames of FILE, or generates `made` frames of n atoms (helix.h). frames_free frees what
// the result holds. Ends the program with status 0 after --help, and with status 2 and one line on
// stderr if the words or the file cannot be used.
static inline frames frames_options_read(int argc, char **argv, input_u64 n, input_u64 made) {
    const char *usage = "usage: %s [FILE.pdb | .ent | .xyz | .dcd | .trr | .xtc | .npy]\n";
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf(usage, argv[0]);
        exit(0);
    }
    if (argc > 2) {
        fprintf(stderr, usage, argv[0]);
        exit(2);
    }
    frames f;
    char error[200];
    const int failed = argc == 2 ? frames_read(argv[1], &f, error, sizeof error)
                                 : helix_make(n, made, &f, error, sizeof error);
    if (failed) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    return f;
}

#endif
