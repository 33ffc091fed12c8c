// SPDX-License-Identifier: MIT
// ask_check.h: what tests of adaptive subdivision in kernels share: the serial subdivision of a
// picture of the Mandelbrot set, numbers of tuning at random, and plans that must be the same.
#ifndef TESTS_ADAPTIVE_ASK_CHECK_H
#define TESTS_ADAPTIVE_ASK_CHECK_H

#include "kit.h"

#include "adaptive/ask_reference.h"

#include <threadmap/adaptive/mandelbrot.h>

static inline int ask_mandelbrot_dwell(const void *m, tmap_u32 x, tmap_u32 y) {
    return tmap_mandelbrot_dwell((const tmap_mandelbrot *)m, x, y);
}

// The last of n lines that is not beyond 0, if the next one is; else n.
static inline tmap_u32 ask_line_of_0(int f64, tmap_u32 n, double begin, double end) {
    const double side = (end - begin) / n;
    tmap_u32 i = 0;
    while (i < n &&
           (f64 ? fma(i, side, begin) : (double)fmaf((float)i, (float)side, (float)begin)) <= 0)
        ++i;
    return i && i < n ? i - 1 : n;
}

// The origin is in the set: the one point of it that every window of the whole set has.
static inline void ask_split_origin(const tmap_mandelbrot *m, ask_split *split) {
    const int f64 = (m->options & TMAP_MANDELBROT_F64) != 0;
    split->point_x = ask_line_of_0(f64, m->nx, m->x0, m->x1);
    split->point_y = ask_line_of_0(f64, m->ny, m->y0, m->y1);
    split->point_value = (int)m->dwell;
}

// The picture of m by a subdivision, whose neighbours share the lines between them or not; those
// that do know the origin. dwell: of m, or null: the library's.
static inline ask_counts ask_serial(const tmap_mandelbrot *m, tmap_ask_params a, int shared,
                                    ask_dwell dwell, int *out) {
    ask_split split;
    ask_counts counts;
    if (ask_split_make(m->nx, m->ny, a.g, a.r, a.b, &split)) exit(2);
    split.shared = shared;
    if (shared) ask_split_origin(m, &split);
    ask_reference(split, dwell ? dwell : ask_mandelbrot_dwell, m, out, &counts);
    return counts;
}

// Numbers of tuning at random, each with each. None may change what comes out.
static inline tmap_ask_tuning ask_random_tuning(tmap_u64 *state) {
    static const tmap_u32 values[] = {0,  1,  2,   3,   7,    8,    20,         31,        32,
                                      33, 50, 100, 511, 1000, 4096, 0x7fffffff, 0xffffffff};
    tmap_u32 v[9];
    for (int k = 0; k < 9; ++k) { // those of the first two groups are 1 or more, but for one
        const tmap_u32 least = k < 6 && k != 4;
        v[k] = values[least + kit_below(state, COUNT(values) - least)];
    }
    const tmap_ask_tuning t = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
    kit_more(", tuning %u %u %u, %u %u %u, %u %u %u", v[0], v[1], v[2], v[3], v[4], v[5], v[6],
             v[7], v[8]);
    return t;
}

static inline int ask_same_launch(const tmap_ask_launch *a, const tmap_ask_launch *b) {
    return a->kernel == b->kernel && a->threads == b->threads && a->blocks == b->blocks &&
           a->shared == b->shared;
}

// The plan that is made from facts, as if they came from elsewhere, is the one that is made here.
static inline void ask_same_plan(const tmap_ask_plan *here, const tmap_ask_plan *there) {
    const tmap_ask_run *a = &here->run, *b = &there->run;
    expect(ask_same_launch(&here->whole, &there->whole) &&
               ask_same_launch(&here->query, &there->query) &&
               ask_same_launch(&here->share, &there->share) &&
               ask_same_launch(&here->finish, &there->finish) &&
               !memcmp(&a->tuning, &b->tuning, sizeof a->tuning) &&
               !memcmp(&a->workspace.domain, &b->workspace.domain, sizeof(tmap_ask_domain)) &&
               a->scratch == b->scratch && a->level == b->level,
           "the plan from facts");
}

#endif
