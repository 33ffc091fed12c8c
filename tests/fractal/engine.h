// SPDX-License-Identifier: MIT
// engine.h: what the tests of the engine over the cells of a fractal share: the fractals that they
// go through, elements of any size, and what is said of a failure.
#ifndef TESTS_FRACTAL_ENGINE_H
#define TESTS_FRACTAL_ENGINE_H

#include "kit.h"
#include <threadmap/fractal.h>

// The case: a plan.
static inline void of_plan(const tmap_each_plan *plan) {
    kit_case(
        "fractal k=%u s=%ux%u tau %llx %llx, r=%u, %s, pitch %llu, offset %llu, items %llu from "
        "%llu of %llu, %u x %u threads",
        plan->f.k, plan->f.sx, plan->f.sy, plan->f.tau_x, plan->f.tau_y, plan->r,
        tmap_each_loop_name((int)plan->loop), plan->pitch, plan->offset, plan->count, plan->first,
        plan->items, plan->grid, plan->block);
}

// ---- fractals -----------------------------------------------------------------------------------

#define ENGINE_OWN    13
#define ENGINE_RANDOM 12
#define ENGINE_COUNT  (TMAP_FRACTAL_COUNT + ENGINE_OWN + ENGINE_RANDOM)

// Fractal i: the catalogue, own ones with what a catalogue lacks (one replica, one row, empty
// edges, replicas in any order, sides of 16), and random ones.
static inline tmap_nbb engine_fractal(int i) {
    // clang-format off
    static const char *const own[ENGINE_OWN - 1] = {
        "#.#/.#.", "##", "#/#", "#", ".#", "../.#", "##/##", "###/###/###", ".#.#/####",
        "###############.", "#......./.......#", "#.............../.##############."
    };
    // clang-format on
    tmap_nbb f = tmap_fractal_gasket();
    if (i < TMAP_FRACTAL_COUNT) return tmap_fractal_at(i);
    i -= TMAP_FRACTAL_COUNT;
    if (i < ENGINE_OWN - 1) {
        if (tmap_nbb_from_rows(own[i], &f) != TMAP_OK) exit(1);
    } else if (i == ENGINE_OWN - 1) {
        f = tmap_nbb_make(3, 2, 2, 0x001, 0x011); // the gasket's replicas, not row by row
    } else {
        const tmap_u32 seed = check_hash((tmap_u64)i, 9), sx = 1 + seed % 5,
                       sy = 1 + (seed >> 8) % 5, most = 1 + (seed >> 16) % 16;
        tmap_u64 tau_x = 0, tau_y = 0;
        tmap_u32 k = 0;
        for (tmap_u32 n = 0; n < 64 && k < most; ++n) {
            const tmap_u64 x = check_hash(n, seed) % sx, y = check_hash(n + 64, seed) % sy;
            tmap_u32 j = 0;
            while (j < k && ((tau_x >> 4 * j & 15) != x || (tau_y >> 4 * j & 15) != y)) ++j;
            if (j < k) continue; // taken
            tau_x |= x << 4 * k, tau_y |= y << 4 * k, ++k;
        }
        f = tmap_nbb_make(k, sx, sy, tau_x, tau_y);
    }
    return f;
}

// ---- levels and elements ------------------------------------------------------------------------

// The largest fractals of a run, in places. The CPU machine and the sanitizers take threads one by
// one.
static tmap_u64 engine_places = 1u << 18;

static inline void engine_begin(void) {
    kit_begin();
    engine_places = kit_tiny ? 600 : kit_gpu ? 1u << 18 : kit_small ? 7000 : 20000;
}

// 1 if fractal f of level r is small enough for this run, or of the least level.
static inline int engine_fits(tmap_nbb f, tmap_u32 r) {
    return r <= 12 &&
           tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r)) <= engine_places;
}

// How far the rows of the matrix of case number n are apart: without a gap, and otherwise; compact
// storage for its loop, and now and then for that which serves both.
static inline tmap_u64 engine_pitch(int n, tmap_u64 width, int loop) {
    static const tmap_u64 more[4] = {0, 0, 3, 16};
    if (loop == TMAP_EACH_COMPACT || (loop == TMAP_EACH_LINEAR && n % 3 == 0)) return TMAP_COMPACT;
    return width + more[n & 3];
}

// Elements of 1, 2, 4 or 8 bytes, or of 16: a word and the next one, so that one alone shows. All
// bytes 0 are read as 0.
typedef struct engine_big {
    tmap_u64 low, high;
} engine_big;

TMAP_FN tmap_u64 engine_get(const void *a, tmap_u64 i, tmap_u32 size) {
    const engine_big *big = (const engine_big *)a + i;
    if (size == 1) return ((const unsigned char *)a)[i];
    if (size == 2) return ((const unsigned short *)a)[i];
    if (size == 4) return ((const tmap_u32 *)a)[i];
    if (size == 8) return ((const tmap_u64 *)a)[i];
    return big->low * 3 + big->high;
}
TMAP_FN void engine_set(void *a, tmap_u64 i, tmap_u32 size, tmap_u64 value) {
    engine_big *big = (engine_big *)a + i;
    if (size == 1) ((unsigned char *)a)[i] = (unsigned char)value;
    if (size == 2) ((unsigned short *)a)[i] = (unsigned short)value;
    if (size == 4) ((tmap_u32 *)a)[i] = (tmap_u32)value;
    if (size == 8) ((tmap_u64 *)a)[i] = value;
    if (size == 16) big->low = value, big->high = value + 1;
}

#endif
