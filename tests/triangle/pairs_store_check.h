// SPDX-License-Identifier: MIT
// pairs_store_check.h: what tests of the stores of pairs share: outputs with guards around them,
// and what must be in every byte of them.
#ifndef TESTS_TRIANGLE_PAIRS_STORE_CHECK_H
#define TESTS_TRIANGLE_PAIRS_STORE_CHECK_H

#include "triangle/pairs_check.h"

#include <threadmap/triangle/pairs_store.h>

// A shape of pairs_check.h and what is stored of it. bytes: of a value, 0: bits. pitch: 0, or
// values or words beyond a row's own. shift: values by which the output, and coordinates by which
// the points, begin further on.
typedef struct store_shape {
    shape s;
    tmap_u32 layout, bytes, pitch, shift, shares;
} store_shape;

static inline store_shape store_shape_of(tmap_u32 n, tmap_u32 layout) {
    const store_shape w = {shape_of(n), layout, 4, 0, 0, 1};
    return w;
}

// The case: a shape that is stored.
static inline void of_store(store_shape w) {
    static const char *const names[] = {"?", "condensed", "square", "lower"};
    of_shape(w.s);
    kit_more(", %s%s, %u bytes a value, pitch + %u, shift %u, %u shares",
             w.layout & TMAP_PAIRS_HOLLOW ? "hollow " : "", names[w.layout & TMAPI_PAIRS_LAYOUT],
             w.bytes, w.pitch, w.shift, w.shares);
}

// What a pair's value is: below 2^24, so that a float holds it, and different for all pairs.
static __host__ __device__ inline tmap_u32 pair_number(tmap_u32 i, tmap_u32 j, tmap_u32 set) {
    return i * 2048 + j + 1 + set * 4194304;
}
// What a bit is.
static __host__ __device__ inline tmap_u32 pair_bit(tmap_u32 i, tmap_u32 j, tmap_u32 set) {
    return (pair_number(i, j, set) * 2654435761u) >> 31;
}

static inline cudaError_t store_plan(tmap_u32 n, tmap_u32 d, tmap_u32 size, tmap_u32 layout,
                                     tmap_u32 value, const void *kernel, tmap_pairs_plan *out) {
    const tmap_pairs_store_shape shape = {n, d, size, layout, value};
    return tmap_pairs_store_plan_make(shape, kernel, out);
}
static inline cudaError_t sums_plan(tmap_u32 n, tmap_u32 d, tmap_u32 size, tmap_u32 layout,
                                    tmap_u32 value, const void *kernel, tmap_pairs_plan *out) {
    const tmap_pairs_store_shape shape = {n, d, size, layout, value};
    return tmap_pairs_store_sums_plan_make(shape, kernel, out);
}

// Every byte of an output of `bytes` bytes, of which `shift` values come before the first. value:
// of a pair that is stored, as a whole number; a bit is its lowest one.
static inline unsigned char *expected_bytes(store_shape w, tmap_u64 bytes,
                                            tmap_u32 (*value)(store_shape w, tmap_u32 i, tmap_u32 j,
                                                              tmap_u32 set)) {
    const tmap_u32 layout = w.layout & TMAPI_PAIRS_LAYOUT, element = w.bytes ? w.bytes : 4;
    const tmap_u32 columns = w.s.others ? w.s.others : w.s.n;
    const tmap_u64 pitch = (w.bytes ? columns : (columns + 31) / 32) + w.pitch;
    unsigned char *all = (unsigned char *)kit_host(bytes), *out = all + w.shift * element;
    tmap_u64 at = 0;
    for (tmap_u32 set = 0; set < w.s.sets; ++set)
        for (tmap_u32 i = 0; i < w.s.rows; ++i) {
            const tmap_u32 first = layout == TMAP_PAIRS_CONDENSED ? i + 1 : 0;
            const tmap_u32 end = layout == TMAP_PAIRS_LOWER ? i + 1 : columns;
            for (tmap_u32 j = first; j < end; ++j) {
                const int zero = !w.s.others && i == j && w.layout & TMAP_PAIRS_HOLLOW;
                const tmap_u32 number = zero ? 0 : value(w, i, j, set);
                tmap_u64 row = (set * (tmap_u64)w.s.rows + i) * pitch;
                if (layout == TMAP_PAIRS_CONDENSED) row = at - first;
                if (w.bytes) {
                    put_number(out, row + j, w.bytes, number);
                } else {
                    tmap_u32 word = 0;
                    if (j % 32) memcpy(&word, out + (row + j / 32) * 4, 4);
                    word |= (number & 1) << j % 32;
                    memcpy(out + (row + j / 32) * 4, &word, 4);
                }
            }
            at += end > first ? end - first : 0;
        }
    return all;
}

// The plan of a shape: of all that is stored, or of sums.
static inline tmap_pairs_plan plan_of_store(store_shape w, const void *kernel, int sums) {
    const tmap_pairs_store_shape shape = {w.s.n, w.s.d, w.s.size, w.layout, w.bytes};
    tmap_pairs_plan plan;
    CHECK(sums ? tmap_pairs_store_sums_plan_make(shape, kernel, &plan)
               : tmap_pairs_store_plan_make(shape, kernel, &plan));
    restrict_plan(w.s, &plan);
    if (w.pitch) CHECK(tmap_pairs_store_plan_pitch(&plan, plan.step + w.pitch));
    return plan;
}

// Launches a plan by shares; compares every byte of the output, with what is around it. *out: where
// the job has the output.
static inline void check_store(store_shape w, const tmap_pairs_plan *plan, const void *job,
                               void **out,
                               tmap_u32 (*value)(store_shape, tmap_u32, tmap_u32, tmap_u32)) {
    const tmap_u32 before = w.shift * (w.bytes ? w.bytes : 4);
    const tmap_u64 bytes = tmap_pairs_store_bytes(plan) + before;
    unsigned char *memory = (unsigned char *)kit_guarded(bytes);
    tmap_u64 first = 0;
    *out = memory + before;
    of_store(w);
    for (tmap_u32 i = 0; i < w.shares; ++i) {
        tmap_pairs_plan part = share_of(plan, i, w.shares, &first);
        if (i % 3 == 2 && part.grid > 2) part.grid = 2; // fewer blocks than tiles do it too
        CHECK(tmap_pairs_store_launch(&part, job, 0));
    }
    expect(!memcmp(kit_to_host(memory, bytes), expected_bytes(w, bytes, value), bytes), "values");
}

// Points of a shape `shift` coordinates further on than an allocation.
static inline void *shifted_points(tmap_u32 n, store_shape w) {
    const tmap_u64 bytes = (tmap_u64)n * w.s.sets * w.s.d * w.s.size;
    const void *points = numbered_points(n, w.s);
    char *to = (char *)kit_device(bytes + w.shift * w.s.size) + w.shift * w.s.size;
    if (bytes) CHECK(cudaMemcpy(to, points, bytes, cudaMemcpyDeviceToDevice));
    return to;
}

#endif
