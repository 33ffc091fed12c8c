// SPDX-License-Identifier: MIT
// ask_check.h: verification of pictures of the Mandelbrot set: differences from another picture,
// pixels that nobody wrote, and the serial Mariani-Silver of the tests.
//
// Pictures up to the largest size are compared on the device. The serial algorithm reads its dwells
// from the exhaustive picture, which is itself compared with the host's dwell function.
#ifndef BENCH_ASK_CHECK_H
#define BENCH_ASK_CHECK_H

#include "../timing.h"

#include "../../tests/adaptive/ask_reference.h"
#include <threadmap/adaptive/mandelbrot.h>
#include <threadmap/warp.h>

enum { ASK_POISON_BYTE = 0x5a, ASK_POISON = 0x5a5a5a5a };

// What is found out about a picture. hash: equal for equal pictures, and else by a chance of 2^-64.
typedef struct ask_tally {
    tmap_u64 differ, poison, hash, work; // work: the sum of all values
} ask_tally;

static __global__ void ask_tally_kernel(const int *picture, const int *truth, tmap_u64 pixels,
                                        ask_tally *out) {
    const tmap_warp warp = tmap_warp_self();
    ask_tally t = {0, 0, 0, 0};
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < pixels;
         i += (tmap_u64)gridDim.x * blockDim.x) {
        int value = picture[i];
        tmap_u64 z = (i << 32 ^ i >> 32 ^ (tmap_u32)value) * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9ull;
        t.hash += z ^ z >> 32;
        t.differ += truth && value != truth[i];
        t.poison += value == ASK_POISON;
        t.work += (tmap_u64)value;
    }
    t.differ = tmap_warp_sum_shuffle64(warp, t.differ);
    t.poison = tmap_warp_sum_shuffle64(warp, t.poison);
    t.hash = tmap_warp_sum_shuffle64(warp, t.hash);
    t.work = tmap_warp_sum_shuffle64(warp, t.work);
    if (warp.lane) return;
    if (t.differ) atomicAdd(&out->differ, t.differ);
    if (t.poison) atomicAdd(&out->poison, t.poison);
    atomicAdd(&out->hash, t.hash);
    atomicAdd(&out->work, t.work);
}

// truth: the picture to compare with, or null. scratch: device memory.
static ask_tally ask_tally_of(const int *picture, const int *truth, tmap_u64 pixels,
                              ask_tally *scratch) {
    const tmap_u64 blocks = pixels / 1024 + 1;
    ask_tally t;
    CHECK(cudaMemset(scratch, 0, sizeof *scratch));
    ask_tally_kernel<<<(unsigned)(blocks < 1056 ? blocks : 1056), 256>>>(picture, truth, pixels,
                                                                         scratch);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&t, scratch, sizeof t, cudaMemcpyDeviceToHost));
    return t;
}

// How many of `samples` pixels, taken at random, are not what the host's dwell function says.
static tmap_u64 ask_wrong_samples(const tmap_mandelbrot *m, const int *picture, int samples) {
    tmap_u64 state = 1, wrong = 0, pixels = (tmap_u64)m->nx * m->ny;
    for (int i = 0; i < samples; ++i) {
        tmap_u64 at;
        int value;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        at = (state >> 11) % pixels;
        CHECK(cudaMemcpy(&value, picture + at, sizeof value, cudaMemcpyDeviceToHost));
        wrong +=
            value != tmap_mandelbrot_dwell_f32(m, (tmap_u32)(at % m->nx), (tmap_u32)(at / m->nx));
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
    s.truth = (int *)malloc(bytes), s.picture = (int *)malloc(bytes), s.copy = (int *)malloc(bytes);
    if (!s.truth || !s.picture || !s.copy) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    CHECK(cudaMemcpy(s.truth, truth, bytes, cudaMemcpyDeviceToHost));
    return s;
}

static void ask_serial_free(ask_serial *s) {
    free(s->truth), free(s->picture), free(s->copy);
    s->n = 0;
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
