// SPDX-License-Identifier: MIT
// flood_problem.h: a flood to be tested: its map on both machines, and what is to come of it.
#ifndef TESTS_RASTER_FLOOD_PROBLEM_H
#define TESTS_RASTER_FLOOD_PROBLEM_H

#include "kit.h"

#include "flood_check.h"

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
    return p;
}

// A map whose pitch, type, connectivity and cells without data depend on a number.
static inline tmap_raster_map map_make(tmap_u64 width, tmap_u64 height, tmap_u32 salt) {
    tmap_raster_map map = {width, height, width, FLOOD_NODATA, 0, 0, 4};
    map.pitch += salt % 3 == 0 ? 0 : salt % 3 == 1 ? salt % 7 : (4 - width % 4) % 4;
    map.has_nodata = salt / 3 % 4 == 0, map.type = (int)(salt / 5 % 3);
    map.connectivity = salt / 2 % 2 ? 8 : 4;
    return map;
}

#endif
