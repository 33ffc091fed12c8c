// SPDX-License-Identifier: MIT
// flood_plan.h: how a map is divided for a flood, and the workspace that it takes.
#ifndef TMAP_ADAPTIVE_FLOOD_PLAN_H
#define TMAP_ADAPTIVE_FLOOD_PLAN_H

#include "flood_write.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The next part of a workspace: `bytes` at a multiple of 16.
static inline tmap_u64 tmapi_flood_part(tmap_u64 *end, tmap_u64 bytes) {
    const tmap_u64 at = *end;
    *end = at + (bytes + 15) / 16 * 16;
    return at;
}

// Divides a map into blocks of some rows.
static inline void tmapi_flood_divide(tmap_flood_plan *p, tmap_u32 rows) {
    const tmap_u64 across = (p->map.width + 511) / 512, down = (p->map.height + rows - 1) / rows;
    const tmap_u64 blocks = across * down;
    tmap_u64 end = 0;
    p->rows = rows, p->blocks_x = (tmap_u32)across, p->blocks_y = (tmap_u32)down;
    tmapi_flood_part(&end, blocks * rows * 64); // bits
    p->at_parent = tmapi_flood_part(&end, blocks * TMAPI_FLOOD_NODES * 4);
    p->at_edges = tmapi_flood_part(&end, blocks * TMAPI_FLOOD_EDGES * 4);
    p->at_offsets = tmapi_flood_part(&end, blocks * (2 * rows + 1) * 2);
    p->at_table = tmapi_flood_part(&end, blocks * rows * TMAPI_FLOOD_QUADS * 8);
    p->at_flags = tmapi_flood_part(&end, blocks * (TMAPI_FLOOD_NODES / 8));
    p->at_entries = tmapi_flood_part(&end, p->seeds * 8);
    p->at_kinds = tmapi_flood_part(&end, blocks);
    p->at_sums = tmapi_flood_part(&end, blocks * 16);
    p->workspace = end;
}

// Makes a plan.
// map: the map; its comment has the ranges. form: of results, TMAP_FLOOD_U8, _BITS or _DEPTH.
// seeds: sources of a flood, at most, up to 2^31 - 1. *plan: written on success; plan->workspace:
// the bytes that floods need, about 3 bits a cell, and 8 bytes a source.
// Returns cudaErrorInvalidValue for a null pointer, a size of 0, a pitch below the width, and a
// type, connectivity or form that is none; cudaErrorInvalidConfiguration for a map of more than
// 2^31 / 640 blocks of 512 x 128 cells, about 2 * 10^11 cells; else the error of asking the device.
// Example: 16384 x 16384 cells, one source: 106 MB.
static inline cudaError_t tmap_flood_plan_make(const tmap_flood_map *map, int form, tmap_u64 seeds,
                                               tmap_flood_plan *plan) {
    const tmap_u64 most = 0x7fffffffu;
    tmap_flood_plan p;
    int device = 0, shared = 0;
    cudaError_t error;
    if (!map || !plan || !map->width || !map->height || map->width > most || map->height > most ||
        map->pitch < map->width || map->type < TMAP_FLOOD_I16 || map->type > TMAP_FLOOD_F32 ||
        (map->connectivity != 4 && map->connectivity != 8) || form < TMAP_FLOOD_U8 ||
        form > TMAP_FLOOD_DEPTH || seeds > most)
        return cudaErrorInvalidValue;
    error = cudaGetDevice(&device);
    if (!error)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error) return error;
    p.map = *map, p.form = form, p.seeds = seeds;
    tmapi_flood_divide(&p, shared >= (int)tmapi_flood_block_bytes(128) ? 128 : 64);
    if (tmapi_flood_blocks(&p) * TMAPI_FLOOD_NODES > most) return cudaErrorInvalidConfiguration;
    *plan = p;
    return cudaSuccess;
}

// The argument of the kernels.
static inline tmapi_flood tmapi_flood_of(const tmap_flood_plan *plan, const void *heights,
                                         const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                         double level, void *workspace, void *out) {
    unsigned char *at = (unsigned char *)workspace;
    tmapi_flood f;
    f.plan = *plan, f.level = tmapi_flood_level_of(&plan->map, level), f.surface = level;
    f.heights = heights, f.seeds = seeds, f.seed_count = (tmap_u32)seed_count, f.out = out;
    f.tiles = 0, f.tile_sums = 0;
    f.bits = (tmap_u32 *)at, f.parent = (tmap_u32 *)(at + plan->at_parent);
    f.edges = (tmap_u32 *)(at + plan->at_edges);
    f.offsets = (unsigned short *)(at + plan->at_offsets);
    f.table = (tmap_u64 *)(at + plan->at_table), f.flags = (tmap_u32 *)(at + plan->at_flags);
    f.entries = (tmap_u32 *)(at + plan->at_entries), f.kinds = at + plan->at_kinds;
    f.areas = (tmap_u64 *)(at + plan->at_sums);
    f.sums = (double *)(f.areas + tmapi_flood_blocks(plan));
    return f;
}

#endif
#endif
