// SPDX-License-Identifier: MIT
// ready.h: which ready kernel on fractals a plan is for.
#ifndef TMAP_FRACTAL_READY_H
#define TMAP_FRACTAL_READY_H

#include "../core.h"

// Which ready kernel a plan is for: bits 8 and up of `type`. So each source file of a program can
// launch a plan that another one has made, with the kernel of that file.
enum {
    TMAPI_READY_SW = 1 << 8,
    TMAPI_READY_RD = 2 << 8,
    TMAPI_READY_CA = 3 << 8,
    TMAPI_READY_DIFFUSION = 4 << 8,
    TMAPI_READY_ISING = 5 << 8,
    TMAPI_READY_ISING_MEASURE = 6 << 8,
    TMAPI_READY_COMPACT_LIFE = 7 << 8,
    TMAPI_READY_COMPACT_MATRIX = 8 << 8,
    TMAPI_READY_LIFE3 = 9 << 8
};
// 1 if a plan of this type is for a ready kernel. *elements: bits 0 to 7.
TMAP_FN int tmapi_ready(tmap_u32 type, tmap_u32 ready, tmap_u32 *elements) {
    *elements = type & 255;
    return type - *elements == ready;
}

#endif
