// SPDX-License-Identifier: MIT
// stencil_rule.h: what the loops of tmap_stencil are given. A part of stencil.h.
#ifndef TMAP_FRACTAL_STENCIL_RULE_H
#define TMAP_FRACTAL_STENCIL_RULE_H

#include "each.h"

#if TMAP_CUDA

// around: bit i is 1 if place i is a cell of the fractal; bit TMAP_HERE always is. nine: the values
// of the nine places, of the user's type, side by side; 0 in every byte where there is no cell.
// next: where the cell's new value goes, of the same type.
typedef void (*tmap_stencil_rule)(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                  void *next);

typedef struct tmapi_stencil {
    const unsigned char *in;
    unsigned char *out;
    tmap_u32 size;
    tmap_stencil_rule rule;
    void *job;
    const tmap_each_plan *plan;
    int words; // 1: elements are words of a bit for each sheet (compact_words.h)
} tmapi_stencil;

typedef struct tmapi_stencil_nine {
    alignas(16) unsigned char bytes[9 * 16];
} tmapi_stencil_nine;

#endif // TMAP_CUDA
#endif
