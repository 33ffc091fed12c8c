// SPDX-License-Identifier: MIT
// flood_problem.h: floods to be tested: their maps on both machines, what is to come of them, and
// the cases that every form of a flood must get right.
#ifndef TESTS_RASTER_FLOOD_PROBLEM_H
#define TESTS_RASTER_FLOOD_PROBLEM_H

#include "kit.h"

#include "flood_check.h"

#include <float.h>

// A map on both machines and what is to come of it.
typedef struct problem {
    tmap_raster_map map;
    double level;
    int input;
    void *host, *device, *workspace;
    tmap_flood_seed *seeds, *device_seeds;
    tmap_u64 seed_count, flooded, room; // room: bytes of the workspace
    unsigned char *want, *out;          // out: of the device, 4 bytes a cell, guarded
} problem;

// The case: a problem.
static inline void of_problem(const problem *p) {
    kit_case(
        "%s, %llu x %llu, pitch %llu, type %d, %d neighbours, nodata %d, level %g, %llu sources",
        flood_input_name(p->input), p->map.width, p->map.height, p->map.pitch, p->map.type,
        p->map.connectivity, p->map.has_nodata, p->level, p->seed_count);
}

static inline problem problem_make(tmap_raster_map map, int input, double level,
                                   tmap_u64 seed_count, tmap_u32 salt, tmap_u64 workspace) {
    const size_t bytes = (size_t)(map.pitch * map.height) * flood_type_bytes(map.type);
    const size_t cells = (size_t)(map.width * map.height);
    problem p;
    memset(&p, 0, sizeof p);
    p.map = map, p.input = input, p.level = level, p.seed_count = seed_count;
    p.host = kit_keep(flood_make(&map, input), bytes, 0);
    p.seeds = (tmap_flood_seed *)kit_host((seed_count + 1) * sizeof *p.seeds);
    flood_seeds(&map, p.host, level, p.seeds, seed_count, salt);
    p.want = (unsigned char *)kit_host(cells);
    p.flooded = flood_fill(&map, p.host, p.seeds, seed_count, level, p.want);
    p.device = kit_to_device(p.host, bytes), p.out = (unsigned char *)kit_guarded(4 * cells);
    p.workspace = kit_device(workspace), p.room = workspace;
    p.device_seeds = (tmap_flood_seed *)kit_to_device(p.seeds, seed_count * sizeof *p.seeds);
    of_problem(&p);
    return p;
}

// What is to come of a problem whose heights, seeds or connectivity have changed since it was made.
static inline void problem_again(problem *p) {
    const tmap_u64 bytes = p->map.pitch * p->map.height * flood_type_bytes(p->map.type);
    p->flooded = flood_fill(&p->map, p->host, p->seeds, p->seed_count, p->level, p->want);
    CHECK(cudaMemcpy(p->device, p->host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p->device_seeds, p->seeds, p->seed_count * sizeof *p->seeds,
                     cudaMemcpyHostToDevice));
    of_problem(p);
}

// A map whose pitch, type, connectivity and cells without data depend on a number.
static inline tmap_raster_map map_make(tmap_u64 width, tmap_u64 height, tmap_u32 salt) {
    tmap_raster_map map = {width, height, width, FLOOD_NODATA, 0, 0, 4};
    map.pitch += salt % 3 == 0 ? 0 : salt % 3 == 1 ? salt % 7 : (4 - width % 4) % 4;
    map.has_nodata = salt / 3 % 4 == 0, map.type = (int)(salt / 5 % 3);
    map.connectivity = salt / 2 % 2 ? 8 : 4;
    return map;
}

// ---- cases --------------------------------------------------------------------------------------

// A flood that is tested. prepare: for maps like this one, number `salt`; returns the bytes of a
// workspace. check: of a problem, number `salt`.
typedef struct flood_tested {
    tmap_u64 (*prepare)(const tmap_raster_map *map, tmap_u64 seeds, tmap_u32 salt);
    void (*check)(problem *p, tmap_u32 salt);
} flood_tested;

static inline problem problem_for(const flood_tested *t, tmap_raster_map map, int input,
                                  double level, tmap_u64 seeds, tmap_u32 salt) {
    return problem_make(map, input, level, seeds, salt, t->prepare(&map, seeds, salt));
}

static inline void flood_case(const flood_tested *t, tmap_raster_map map, int input, double level,
                              tmap_u64 seeds, tmap_u32 salt) {
    if (!check_turn()) return;
    problem p = problem_for(t, map, input, level, seeds, salt);
    t->check(&p, salt);
    kit_release(0);
}

// Maps of these sizes; without a GPU one in 3 of them, of large ones one in `of_large`.
static inline void flood_sizes(const flood_tested *t, const tmap_u32 (*sizes)[2], unsigned count,
                               tmap_u32 of_large) {
    tmap_u32 salt = 0;
    for (unsigned i = 0; i < count; ++i)
        for (int input = 0; input < FLOOD_INPUTS; ++input, ++salt) {
            tmap_raster_map map = map_make(sizes[i][0], sizes[i][1], salt);
            if (!kit_full && salt % (sizes[i][0] * sizes[i][1] > 4000 ? of_large : 3)) continue;
            flood_case(t, map, input, 0, 1 + salt % 3, salt);
            map.connectivity ^= 4 ^ 8;
            if (kit_full) flood_case(t, map, input, 0, 1, salt);
        }
}

// Random maps of up to `area` cells, and of up to area / least columns.
static inline void flood_randoms(const flood_tested *t, int count, tmap_u32 area, tmap_u32 least) {
    for (int i = 0; i < count; ++i) {
        const tmap_u32 salt = flood_hash((tmap_u32)i + 79);
        const tmap_u32 width = 1 + flood_hash(salt) % (i % 4 ? area / least : 40);
        const tmap_u32 height = 1 + flood_hash(salt + 1) % (area / width ? area / width : 1);
        const int input = i % FLOOD_INPUTS;
        const int noise = input == FLOOD_NOISE_593 || input == FLOOD_NOISE_650; // of -5 and 5
        flood_case(t, map_make(width, height, salt), input, noise ? 5 : 0,
                   salt % 7 ? salt % 5 : 300, salt);
    }
}

// Two blocks by two, of which water can take but one way: wet(0..kinds-1, x, y). From either end of
// it, with 8 neighbours and with 4.
static inline void flood_corners(const flood_tested *t, tmap_u64 width, tmap_u64 height, int kinds,
                                 int (*wet)(int kind, tmap_u64 x, tmap_u64 y)) {
    for (int kind = 0; kind < kinds; ++kind)
        for (int end = 0; end < 2; ++end) {
            const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_I16, 8};
            int found = 0;
            if (!check_turn()) continue;
            problem p = problem_for(t, map, FLOOD_DRY, 0, 1, 1);
            for (tmap_u64 i = 0; i < width * height; ++i) {
                const tmap_u64 x = i % width, y = i / width;
                const int here = wet(kind, x, y);
                flood_set(&map, p.host, x, y, here ? -1 : 0);
                if (here && (end || !found++)) p.seeds->x = x, p.seeds->y = y;
            }
            for (int eight = 1; eight >= 0; --eight) {
                p.map.connectivity = eight ? 8 : 4;
                problem_again(&p);
                t->check(&p, (tmap_u32)(kind + end));
            }
            kit_release(0);
        }
}

// Levels at and beyond the ends of a type's range, between its values, and no number.
static inline void flood_levels(const flood_tested *t) {
    const double huge = HUGE_VAL;
    const double levels[] = {-huge, -1e300, -2147483648.0, -32769, -5,   -4.5,        -4,
                             0.25,  5,      5.5,           1e10,   huge, (double)NAN, 2147483648.0};
    for (tmap_u32 i = 0; i < COUNT(levels); ++i)
        for (int type = 0; type < 3; ++type) {
            const tmap_raster_map map = {37, 5, 40, i % 3 ? -5 : 0.5, (int)(i % 2), type, 8};
            flood_case(t, map, FLOOD_NOISE_650, levels[i], 2, i);
        }
}

// The least and largest heights of each type, and what lies between two floats. All cells are
// sources.
static inline void flood_extremes(const flood_tested *t, tmap_u64 width, tmap_u64 height,
                                  tmap_u64 pitch) {
    // clang-format off
    const double h[] = {
        1, 1 + 0x1p-23, 1 + 0x1p-22, (double)FLT_MAX, -(double)FLT_MAX, HUGE_VAL, -HUGE_VAL, 0,
        -0.0, 0x1p-149, -0x1p-149, 32767, -32768, 2147483647.0, -2147483648.0, (double)NAN,
        2147483520.0, 32766, -32767, -1
    };
    const double levels[] = {
        1, 1 + 0x1p-24, 1 + 0x1p-23, 1e39, -1e39, 3.5e38, HUGE_VAL, -HUGE_VAL, 0, -0.0, 0x1p-149,
        0x1p-150, -0x1p-150, (double)NAN, (double)FLT_MAX, 32768, 32767, -32768, -32767,
        2147483648.0, 1e300, -(double)FLT_MAX, 2147483647.0, -2147483648.0, -2147483647.5
    };
    // clang-format on
    const double none[] = {0, HUGE_VAL, 1 + 0x1p-24, 2147483647.0, 32767, (double)NAN};
    for (tmap_u32 i = 0; i < 3 * COUNT(levels); ++i) {
        const tmap_raster_map map = {width,      height, pitch, none[i % 6], (int)(i % 5 != 0),
                                     (int)i % 3, 4};
        const double most = map.type == TMAP_RASTER_I16 ? 32767 : 2147483647.0;
        if (!check_turn()) continue;
        problem p = problem_for(t, map, FLOOD_DRY, levels[i / 3], width * height, 1);
        for (tmap_u64 c = 0; c < width * height; ++c) {
            double value = h[(c + c / width) % COUNT(h)];
            if (map.type != TMAP_RASTER_F32 && !(value <= most && value >= -most - 1)) value = most;
            p.seeds[c].x = c % width, p.seeds[c].y = c / width;
            flood_set(&map, p.host, p.seeds[c].x, p.seeds[c].y, value);
        }
        problem_again(&p);
        t->check(&p, i);
        kit_release(0);
    }
}

#endif
