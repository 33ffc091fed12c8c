// SPDX-License-Identifier: MIT
// helix.h: generated frames: an ideal alpha helix that unfolds from its end in three steps, with
// noise of half an Angstrom. Every run gives the same frames.
#ifndef FILES_HELIX_H
#define FILES_HELIX_H

#include "frames_type.h"

#include <math.h>

// `count` frames of n atoms, 2.3 Angstrom from the axis, 100 degrees and 1.5 Angstrom from one to the
// next; in each step three tenths of them more lie in a line. Returns 0, or -1 with one line in error
// of `room` bytes; f is untouched then. frames_free frees what f holds.
static inline int helix_make(input_u64 n, input_u64 count, frames *f, char *error, size_t room) {
    const input in = input_make(NULL, 0, error, room);
    unsigned noise = 1;
    frames g;
    if (frames_make(&in, n, count, 0, &g)) return -1;
    for (input_u64 k = 0; k < n * count * 3; ++k) {
        const input_u64 step = k / 3 / n * 3 / count, kept = n - 3 * n * step / 10, i = k / 3 % n;
        const double bound = (double)(i < kept ? i : kept), loose = (double)i - bound;
        const double at[3] = {2.3 * cos(1.745 * bound) + 2 * loose, 2.3 * sin(1.745 * bound),
                              1.5 * bound};
        noise = noise * 1664525u + 1013904223u;
        g.xyz[k] = (float)(at[k % 3] + (noise >> 8) / 16777216.0 - 0.5);
    }
    return frames_give(&in, &g, f);
}

#endif
