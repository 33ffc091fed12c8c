// SPDX-License-Identifier: MIT
// flood_problem.h: a flood to be tested: its map on both machines, and what is to come of it.
#ifndef TESTS_RASTER_FLOOD_PROBLEM_H
#define TESTS_RASTER_FLOOD_PROBLEM_H

#include "cuda_check.h"
#include "flood_check.h"

enum { GUARD = 64 };

static int failures, cases;

// A map on both machines and what is to come of it.
typedef struct problem {
    tmap_raster_map map;
    double level;
    int input;
    void *host, *device, *workspace;
    tmap_flood_seed *seeds, *device_seeds;
    tmap_u64 seed_count, flooded, room; // room: bytes of the workspace
    unsigned char *want, *got, *out;    // out: of the device, 4 bytes a cell and a guard
} problem;

static inline void *device_alloc(size_t bytes) {
    void *memory;
    CHECK(cudaMalloc(&memory, bytes ? bytes : 1));
    return memory;
}

static inline problem problem_make(tmap_raster_map map, int input, double level,
                                   tmap_u64 seed_count, tmap_u32 salt, tmap_u64 workspace) {
    const size_t bytes = (size_t)(map.pitch * map.height) * flood_type_bytes(map.type);
    const size_t cells = (size_t)(map.width * map.height);
    problem p;
    memset(&p, 0, sizeof p);
    p.map = map, p.input = input, p.level = level, p.seed_count = seed_count;
    p.host = flood_make(&map, input);
    p.seeds = (tmap_flood_seed *)malloc((size_t)(seed_count + 1) * sizeof *p.seeds);
    flood_seeds(&map, p.host, level, p.seeds, seed_count, salt);
    p.want = (unsigned char *)malloc(cells), p.got = (unsigned char *)malloc(4 * cells + GUARD);
    p.flooded = flood_fill(&map, p.host, p.seeds, seed_count, level, p.want);
    p.device = device_alloc(bytes), p.out = (unsigned char *)device_alloc(4 * cells + GUARD);
    p.workspace = device_alloc((size_t)workspace), p.room = workspace;
    p.device_seeds = (tmap_flood_seed *)device_alloc((size_t)seed_count * sizeof *p.seeds);
    CHECK(cudaMemcpy(p.device, p.host, bytes, cudaMemcpyHostToDevice));
    if (seed_count)
        CHECK(cudaMemcpy(p.device_seeds, p.seeds, (size_t)seed_count * sizeof *p.seeds,
                         cudaMemcpyHostToDevice));
    return p;
}

static inline void problem_free(problem *p) {
    CHECK(cudaFree(p->device));
    CHECK(cudaFree(p->workspace));
    CHECK(cudaFree(p->device_seeds));
    CHECK(cudaFree(p->out));
    free(p->host), free(p->seeds), free(p->want), free(p->got);
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
