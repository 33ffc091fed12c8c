// SPDX-License-Identifier: MIT
// ask_check.h: verification of pictures of the Mandelbrot set: samples of the host's dwells, and the
// serial Mariani-Silver of the tests. Pictures are compared on the device (ask_tally.h).
//
// The serial algorithm reads its dwells from the exhaustive picture, which is itself compared with
// the host's dwell function.
#ifndef BENCH_ASK_CHECK_H
#define BENCH_ASK_CHECK_H

#include "ask_tally.h"

#include "../../tests/adaptive/ask_reference.h"
#include <threadmap/adaptive/mandelbrot.h>

// How many of `samples` pixels, taken at random, are not what the host's dwell function says.
static tmap_u64 ask_wrong_samples(const tmap_mandelbrot *m, const int *picture, int samples) {
    tmap_u64 state = 1, wrong = 0, pixels = (tmap_u64)m->nx * m->ny;
    for (int i = 0; i < samples; ++i) {
        tmap_u64 at;
        int value;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        at = (state >> 11) % pixels;
        CHECK(cudaMemcpy(&value, picture + at, sizeof value, cudaMemcpyDeviceToHost));
        wrong += value != tmap_mandelbrot_dwell(m, (tmap_u32)(at % m->nx), (tmap_u32)(at / m->nx));
    }
    return wrong;
}

// ---- the serial algorithm -----------------------------------------------------------------------

typedef struct ask_serial {
    int *truth, *picture, *copy; // host memory for n x n pixels each
    tmap_u32 n;                  // 0: there is none
} ask_serial;

static int ask_serial_dwell(const void *context, tmap_u32 x, tmap_u32 y) {
    const ask_serial *s = (const ask_serial *)context;
    return s->truth[(size_t)y * s->n + x];
}

static ask_serial ask_serial_make(tmap_u32 n, const int *truth) {
    ask_serial s;
    size_t bytes = (size_t)n * n * sizeof(int);
    s.n = n;
    s.truth = (int *)kit_to_host(truth, bytes);
    s.picture = (int *)kit_host(bytes), s.copy = (int *)kit_host(bytes);
    return s;
}

// 1 if what was counted on the device is what the serial algorithm counted.
static int ask_counts_equal(const tmap_ask_counts *got, const ask_counts *want) {
    int equal = got->levels == want->levels && got->refused == 0;
    for (tmap_u32 l = 0; equal && l < got->levels; ++l) {
        const tmap_ask_level_counts *a = &got->level[l];
        const ask_level *b = &want->level[l];
        equal = a->regions == b->regions && a->subdivided == b->subdivided &&
                a->filled == b->filled && a->leaves == b->leaves && a->empty == b->empty;
    }
    return equal;
}

// Runs the serial algorithm; what it counted goes to *want. shared: 1 for regions that share the
// lines between them, as they do here, 0 for regions with borders of their own, as the paper has
// them.
static void ask_serial_run(ask_serial *s, tmap_ask_params a, int shared, ask_counts *want) {
    ask_split split;
    if (ask_split_make(s->n, s->n, a.g, a.r, a.b, &split)) memset(&split, 0, sizeof split);
    split.shared = shared;
    ask_reference(split, ask_serial_dwell, s, s->picture, want);
}

// In how many pixels a picture in device memory differs from that of the last serial run.
static tmap_u64 ask_serial_differs(ask_serial *s, const int *picture) {
    tmap_u64 pixels = (tmap_u64)s->n * s->n;
    CHECK(cudaMemcpy(s->copy, picture, pixels * sizeof(int), cudaMemcpyDeviceToHost));
    return ask_difference(s->copy, s->picture, pixels);
}

#endif
