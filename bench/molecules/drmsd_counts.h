// SPDX-License-Identifier: MIT
// drmsd_counts.h: instructions that kernels of bench_drmsd execute for a pair of atoms, as compiled
// by nvcc 13.0 for sm_90. They are those of the innermost loop, in which nearly all pairs are:
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -I include -cubin -o d.cubin bench/molecules/bench_drmsd.cu
//     cuobjdump -sass d.cubin | python3 bench/triangle/count_sass.py
#ifndef BENCH_TRIANGLE_DRMSD_COUNTS_H
#define BENCH_TRIANGLE_DRMSD_COUNTS_H

#include <threadmap/papers/drmsd_slides.h>

// All of a pair; special functions (roots, reciprocals) of these; additions, multiplications and
// special functions of single precision.
typedef struct drmsd_count {
    float issue, mufu, floating;
} drmsd_count;

static const drmsd_count drmsd_count_none = {0, 0, 0};
static const drmsd_count drmsd_count_library = {16.562f, 2, 16};
static const drmsd_count drmsd_count_thread = {93, 3, 21};

// The slides' kernels, whose threads have 1, 2, 4 or 8 atoms.
enum { DRMSD_US = 4 };
static drmsd_count drmsd_count_slides(int form, int root, int u) {
    static const float issue[TMAP_DRMSD_SLIDES_FORMS][TMAP_DRMSD_SLIDES_ROOTS][DRMSD_US] = {
        {{45.5f, 39.75f, 36.875f, 35.438f},
         {28.0f, 23.0f, 20.5f, 19.25f},
         {27.0f, 22.0f, 19.5f, 18.25f},
         {26.0f, 21.0f, 18.5f, 17.25f}},
        {{36.75f, 35.25f, 34.688f, 34.312f},
         {20.75f, 19.25f, 18.625f, 18.312f},
         {19.75f, 18.25f, 17.625f, 17.312f},
         {18.75f, 17.25f, 16.625f, 16.312f}},
        {{36.75f, 35.375f, 34.625f, 34.312f},
         {20.75f, 19.25f, 18.688f, 18.312f},
         {19.75f, 18.25f, 17.688f, 17.312f},
         {18.75f, 17.25f, 16.688f, 16.312f}},
        {{42.5f, 37.625f, 35.0f, 34.344f},
         {26.5f, 20.75f, 18.875f, 18.344f},
         {25.0f, 19.75f, 17.875f, 17.344f},
         {24.5f, 18.75f, 16.875f, 16.344f}},
        {{41.0f, 37.25f, 34.812f, 34.469f},
         {23.5f, 19.625f, 18.812f, 18.406f},
         {22.5f, 18.625f, 17.812f, 17.406f},
         {21.5f, 17.625f, 16.812f, 16.406f}}};
    static const float mufu[TMAP_DRMSD_SLIDES_ROOTS] = {2, 4, 2, 2};
    static const float floating[TMAP_DRMSD_SLIDES_ROOTS] = {24, 18, 17, 16};
    const drmsd_count count = {issue[form][root][u], mufu[root], floating[root]};
    return count;
}

#endif
