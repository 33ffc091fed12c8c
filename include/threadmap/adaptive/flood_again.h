// SPDX-License-Identifier: MIT
// flood_again.h: many floods of one map: other levels, other sources, and water that rises.
//
// The lowest and highest height of each tile of 32 x 16 cells are found once. Then a flood reads
// heights of those tiles alone that its level goes through. A block in which it goes through more
// than three of four tiles is read as a whole, as that is faster.
#ifndef TMAP_ADAPTIVE_FLOOD_AGAIN_H
#define TMAP_ADAPTIVE_FLOOD_AGAIN_H

#include "flood.h"
#include "flood_range.h"

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_FLOOD_TOTAL 512u // threads

static __global__ void __launch_bounds__(256, 4)
    tmapi_flood_tiles_kernel(tmapi_flood f, tmap_flood_range *ranges, double *sums) {
    tmapi_flood_range_tiles(&f, ranges, sums);
}
static __global__ void __launch_bounds__(TMAPI_FLOOD_TOTAL)
    tmapi_flood_total_kernel(tmapi_flood f, tmap_flood_lake *lake) {
    __shared__ double sums[TMAPI_FLOOD_TOTAL];
    __shared__ tmap_u64 areas[TMAPI_FLOOD_TOTAL];
    tmapi_flood_total(&f, lake, sums, areas);
}

// Bytes of the tiles of a plan's map: 1/32 of a byte a cell. Example: 16384 x 16384: 8388608.
static inline tmap_u64 tmap_flood_tiles_bytes(const tmap_flood_plan *plan) {
    return plan
               ? tmapi_flood_blocks(plan) * plan->rows * (sizeof(tmap_flood_range) + sizeof(double))
               : 0;
}

// Finds the lowest and highest height, and the sum, of each tile. plan, heights: as for tmap_flood;
// tiles hold for that map and its NODATA value, whatever the form of results. tiles:
// tmap_flood_tiles_bytes(plan) bytes at a multiple of 16. Returns cudaErrorInvalidValue for a null
// or misaligned pointer, else the launch's own error. Cost: heights are read once.
static inline cudaError_t tmap_flood_tiles(const tmap_flood_plan *plan, const void *heights,
                                           void *tiles, cudaStream_t stream) {
    const tmap_u64 align = !plan || plan->map.type == TMAP_FLOOD_I16 ? 2 : 4;
    tmap_flood_range *ranges = (tmap_flood_range *)tiles;
    tmapi_flood f;
    double *sums;
    void *arguments[3] = {&f, &ranges, &sums};
    if (!plan || !heights || (tmap_u64)heights % align || !tiles || (tmap_u64)tiles % 16)
        return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, heights, 0, 0, 0, 0, 0);
    sums = (double *)(ranges + tmapi_flood_blocks(plan) * plan->rows);
    return cudaLaunchKernel((const void *)tmapi_flood_tiles_kernel,
                            dim3((unsigned)tmapi_flood_blocks(plan)), dim3(256), arguments, 0,
                            stream);
}

// The argument of a flood that knows its tiles.
static inline tmapi_flood tmapi_flood_with_tiles(const tmap_flood_plan *plan, const void *heights,
                                                 const void *tiles, const tmap_flood_seed *seeds,
                                                 tmap_u64 seed_count, double level, void *workspace,
                                                 void *out) {
    tmapi_flood f = tmapi_flood_of(plan, heights, seeds, seed_count, level, workspace, out);
    f.tiles = (const tmap_flood_range *)tiles;
    f.tile_sums = (const double *)(f.tiles + tmapi_flood_blocks(plan) * plan->rows);
    return f;
}

// tmap_flood on a map whose tiles are known. tiles: as tmap_flood_tiles has written them, of the
// same map and heights. All else as there, the result too.
// Cost: ranges of all tiles, and heights of those that the level goes through; where it goes
// through most of them, that of tmap_flood.
static inline cudaError_t tmap_flood_again(const tmap_flood_plan *plan, const void *heights,
                                           const void *tiles, const tmap_flood_seed *seeds,
                                           tmap_u64 seed_count, double level, void *workspace,
                                           void *out, cudaStream_t stream) {
    tmapi_flood f;
    if (tmapi_flood_wrong(plan, heights, seeds, seed_count, workspace, out,
                          plan && plan->form == TMAP_FLOOD_U8 ? 1 : 4) ||
        !tiles || (tmap_u64)tiles % 16)
        return cudaErrorInvalidValue;
    f = tmapi_flood_with_tiles(plan, heights, tiles, seeds, seed_count, level, workspace, out);
    return tmapi_flood_run(&f, stream);
}

// Rising water: area and volume of the flood at each of some levels, in any order; from a list of
// levels that ascends it is the curve of a reservoir.
// levels: level_count numbers in the host's memory, which is read before the call returns. lakes:
// level_count of them, device memory at a multiple of 8; those of levels without flood are 0. All
// else as for tmap_flood_again.
// Exactness: areas are exact. Volumes of integer heights are area * level less an exact sum, as
// long as sums are below 2^53 and so for all maps of 16 bits up to 2^38 cells; others are rounded,
// and the same in every run.
// Returns what tmap_flood_again returns; after an error some lakes may not be written.
// Cost: for each level that of a flood without a result, and heights of flooded tiles that are not
// flooded as a whole. Each level is a flood of its own: many levels at a time would share only the
// labels of tiles that no level goes through, which cost little.
// Example: heights 0 2 4, source (0, 0), levels 1, 3: (1, 1), (2, 4).
static inline cudaError_t tmap_flood_levels(const tmap_flood_plan *plan, const void *heights,
                                            const void *tiles, const tmap_flood_seed *seeds,
                                            tmap_u64 seed_count, const double *levels,
                                            tmap_u64 level_count, void *workspace,
                                            tmap_flood_lake *lakes, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    if (!level_count) return cudaSuccess;
    if (tmapi_flood_wrong(plan, heights, seeds, seed_count, workspace, lakes, 8) || !levels ||
        !tiles || (tmap_u64)tiles % 16)
        return cudaErrorInvalidValue;
    for (tmap_u64 i = 0; i < level_count && !error; ++i) {
        tmap_flood_lake *lake = lakes + i;
        tmapi_flood f = tmapi_flood_with_tiles(plan, heights, tiles, seeds, seed_count, levels[i],
                                               workspace, 0);
        void *arguments[2] = {&f, &lake};
        f.plan.form = TMAPI_FLOOD_MEASURE;
        error = tmapi_flood_run(&f, stream);
        if (!error)
            error = cudaLaunchKernel((const void *)tmapi_flood_total_kernel, dim3(1),
                                     dim3(TMAPI_FLOOD_TOTAL), arguments, 0, stream);
    }
    return error;
}

#endif
#endif
