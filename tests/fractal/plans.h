// SPDX-License-Identifier: MIT
// plans.h: what the tests of plans share: devices, the makers of plans, of the engines and of every
// ready kernel, and cases at random.
#ifndef TESTS_FRACTAL_PLANS_H
#define TESTS_FRACTAL_PLANS_H

#include "fractal/cells.h"
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/compact_move.h>
#include <threadmap/fractal/diffusion.h>
#include <threadmap/fractal/ising.h>
#include <threadmap/fractal/rd.h>
#include <threadmap/fractal/sw.h>

// ---- devices ------------------------------------------------------------------------------------

static inline void device_set(size_t i, int processors) {
    char text[16];
    snprintf(text, sizeof text, "%d", processors);
    kit_set_device(kit_devices[i]);
    setenv("SIMT_MULTIPROCESSORS", text, 1);
}
static inline void device_reset(void) {
    kit_set_device(NULL);
    unsetenv("SIMT_MULTIPROCESSORS");
}
// A GPU has the facts that it has.
static inline size_t device_count(void) { return kit_gpu ? 1 : COUNT(kit_devices); }

static tmap_u64 random_state = 1;
static inline tmap_u64 below(tmap_u64 n) { return check_hash(random_state++, 77) % n; }

static inline tmap_u64 random_pitch(tmap_nbb f, tmap_u32 r) {
    const tmap_u64 more[4] = {0, 0, 3, 16}, width = tmap_nbb_side_x(f, r);
    const tmap_u64 pitch = width + more[below(4)];
    return below(3) == 0 ? TMAP_COMPACT : pitch < width ? width : pitch;
}

// ---- engines ------------------------------------------------------------------------------------

enum { VISIT, UPDATE, FOLD, STENCIL, ENGINES }; // as tmap_each_work

static inline cudaError_t engine_plan(int maker, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                      const void *kernel, tmap_each_plan *plan) {
    if (maker < ENGINES) return tmap_each_plan_make(maker, f, r, pitch, kernel, plan);
    // of words, whose sheets are of level r
    return tmap_each_plan_make(TMAP_EACH_WORDS, f, r + tmap_compact_word_of(f, 64).level,
                               TMAP_COMPACT, kernel, plan);
}

// ---- ready kernels ------------------------------------------------------------------------------

enum { SW = ENGINES, CA, DIFFUSION, ISING, LOAD, STORE, RD, MEASURE, LIFE, MAKERS };

// The plan of one of them, and the plan of the engine in it.
typedef struct client {
    int maker;
    tmap_u32 type, size; // as the maker counts types; bytes of an element
    tmap_each_plan each;
    tmap_ca_plan ca;
    tmap_ising_plan ising;
    tmap_compact_matrix_plan matrix;
    tmap_each_plan *plan;
} client;

// kernel: of an engine.
static inline cudaError_t client_make(int maker, tmap_u32 turn, tmap_nbb f, tmap_u32 r,
                                      tmap_u64 pitch, const void *kernel, client *c) {
    static const tmap_u32 rd_bytes[TMAP_RD_TYPE_COUNT] = {1, 1, 4, 4, 4, 8};
    c->maker = maker, c->plan = &c->each, c->type = 0, c->size = 4;
    switch (maker) {
    case SW: c->size = 1u << turn % 5; return tmap_sw_plan_make(f, r, pitch, c->size, &c->each);
    case CA:
        c->size = turn % 2 ? 4 : 1, c->plan = &c->ca.each;
        return tmap_ca_plan_make(f, r, pitch, c->size, &c->ca);
    case DIFFUSION:
        c->type = turn % 2, c->size = c->type == TMAP_DIFFUSION_F64 ? 8 : 4;
        return tmap_diffusion_plan_make(f, r, pitch, (int)c->type, &c->each);
    case RD:
        c->type = turn % TMAP_RD_TYPE_COUNT, c->size = rd_bytes[c->type];
        return tmap_rd_plan_make(f, r, pitch, (int)c->type, &c->each);
    case ISING:
    case MEASURE:
        c->size = 1, c->plan = maker == ISING ? &c->ising.sweep : &c->ising.measure;
        return tmap_ising_plan_make(f, r, pitch, &c->ising);
    case LOAD:
    case STORE:
        c->size = 1u << turn % 5, c->plan = &c->matrix.each;
        if (pitch == TMAP_COMPACT) pitch = 0;
        return tmap_compact_matrix_plan_make(f, r, pitch, c->size, &c->matrix);
    case LIFE: return tmap_compact_life_plan_make(f, r, &c->each);
    default: return engine_plan(maker, f, r, pitch, kernel, &c->each);
    }
}

#endif
