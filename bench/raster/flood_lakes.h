// SPDX-License-Identifier: MIT
// flood_lakes.h: what the lakes of rising water are compared with. Up to 4096 x 4096 cells: at each
// level, with a serial fill on the host, which finds for every cell the level above which water
// comes to it. Beyond: at eight of the levels, with the union-find of flood_truth.h.
#ifndef BENCH_RASTER_FLOOD_LAKES_H
#define BENCH_RASTER_FLOOD_LAKES_H

#include "flood_truth.h"

#include <threadmap/raster/flood.h>

#define FLOOD_LAKES_SERIAL (4096ull * 4096) // cells
#define FLOOD_LAKES_MOST   4096             // levels
#define FLOOD_LAKES_SOME   8                // levels that the union-find looks at

// ---- source and levels --------------------------------------------------------------------------

// numbers[0]: the least (height, cell) of the largest region; numbers[1]: the highest height.
static __global__ void flood_lakes_range(flood_truth t) {
    tmap_u64 low = ~0ull, high = 0;
    FLOOD_EACH(i, t.cells) {
        const tmap_u64 height = (tmap_u64)(t.heights[i] + 32768);
        if (t.parents[i] == (tmap_u32)t.largest) low = min(low, height << 32 | i);
        high = max(high, height);
    }
    atomicMin(t.numbers, low), atomicMax(t.numbers + 1, high);
}

// The source of rising water: the lowest cell of the largest region, or cell 0 if all are dry; and
// `count` levels in even steps, in quarters, from there to where all is flooded.
static tmap_flood_seed flood_lakes_levels(const flood_truth *t, double *levels, tmap_u32 count) {
    tmap_u64 numbers[2] = {~0ull, 0};
    tmap_flood_seed source;
    CHECK(cudaMemcpy(t->numbers, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    FLOOD_TRUTH_RUN(flood_lakes_range, *t);
    CHECK(cudaMemcpy(numbers, t->numbers, sizeof numbers, cudaMemcpyDeviceToHost));
    if (!t->size) numbers[0] = 0;
    const double low = (double)(numbers[0] >> 32) - 32768, high = (double)numbers[1] - 32767;
    source.x = (tmap_u32)numbers[0] % t->map.width, source.y = (tmap_u32)numbers[0] / t->map.width;
    for (tmap_u32 k = 0; k < count; ++k)
        levels[k] = floor(4 * (low + (high - low) * (k + 1) / count)) / 4;
    return source;
}

// ---- on the host --------------------------------------------------------------------------------

// Lakes from numbers of cells that are flooded above each height, and from sums of their heights.
static void flood_lakes_of(const tmap_u64 *areas, const double *heights, const double *levels,
                           tmap_u32 count, tmap_flood_lake *lakes) {
    for (tmap_u32 k = 0; k < count; ++k) {
        double sum = 0;
        lakes[k].area = 0;
        for (int bed = 0; bed < 65536 && bed - 32768 < levels[k]; ++bed)
            lakes[k].area += areas[bed], sum += heights[bed];
        lakes[k].volume = (double)lakes[k].area * levels[k] - sum;
    }
}

// All cells, by the lowest level that a path from the source has to rise above; cells of one such
// level stand in a list (R. Barnes et al., Computers & Geosciences 62 (2014), of one source).
static void flood_lakes_serial(const flood_truth *t, tmap_flood_seed source, const double *levels,
                               tmap_u32 count, tmap_flood_lake *lakes) {
    const tmap_u64 w = t->map.width, h = t->map.height;
    short *heights = (short *)malloc((size_t)t->cells * sizeof *heights);
    tmap_u32 *next = (tmap_u32 *)malloc((size_t)t->cells * sizeof *next); // in a list; 0: in none
    tmap_u32 *first = (tmap_u32 *)calloc(65536, sizeof *first);           // cells plus 1
    tmap_u64 *areas = (tmap_u64 *)calloc(65536, sizeof *areas);
    double *sums = (double *)calloc(65536, sizeof *sums);
    const tmap_u32 begin = (tmap_u32)(source.y * w + source.x), end = FLOOD_TRUTH_NONE;
    CHECK(cudaMemcpy(heights, t->heights, (size_t)t->cells * 2, cudaMemcpyDeviceToHost));
    memset(next, 0, (size_t)t->cells * sizeof *next);
    next[begin] = end, first[heights[begin] + 32768] = begin + 1;
    for (int bed = 0; bed < 65536; ++bed)
        while (first[bed]) {
            const tmap_u32 cell = first[bed] - 1;
            const tmap_u64 x = cell % w, y = cell / w;
            first[bed] = next[cell] == end ? 0 : next[cell];
            ++areas[bed], sums[bed] += heights[cell];
            for (unsigned k = 0; k < 9; ++k) { // less than 0 is a large number
                const tmap_u64 u = x + k % 3 - 1, v = y + k / 3 - 1, at = v * w + u;
                if (u >= w || v >= h || (t->map.connectivity == 4 && k % 2 == 0) || next[at])
                    continue;
                const int own = heights[at] + 32768, higher = own > bed ? own : bed;
                next[at] = first[higher] ? first[higher] : end, first[higher] = (tmap_u32)at + 1;
            }
        }
    flood_lakes_of(areas, sums, levels, count, lakes);
    free(heights), free(next), free(first), free(areas), free(sums);
}

// ---- on the device ------------------------------------------------------------------------------

static __global__ void flood_lakes_wet(flood_truth t, double level) {
    FLOOD_EACH(i, t.cells) t.mask[i] = t.heights[i] < level;
}
// numbers: cells of the region of a cell, and the sum of their heights above -32768.
static __global__ void flood_lakes_sum(flood_truth t, tmap_u64 source) {
    const tmap_u32 region = t.parents[source];
    tmap_u64 area = 0, sum = 0;
    FLOOD_EACH(i, t.cells)
    if (region != FLOOD_TRUTH_NONE && t.parents[i] == region)
        ++area, sum += (tmap_u64)(t.heights[i] + 32768);
    if (area) atomicAdd(t.numbers, area), atomicAdd(t.numbers + 1, sum);
}

// Regions of another level in the place of those of level 0; sizes are not counted.
static void flood_lakes_regions(const flood_truth *t, double level) {
    FLOOD_TRUTH_RUN(flood_lakes_wet, *t, level);
    FLOOD_TRUTH_RUN(flood_truth_runs, *t);
    FLOOD_TRUTH_RUN(flood_truth_link, *t);
    FLOOD_TRUTH_RUN(flood_truth_flatten, *t);
}

static tmap_flood_lake flood_lakes_union(const flood_truth *t, tmap_flood_seed source,
                                         double level) {
    tmap_flood_lake lake = {0, 0};
    tmap_u64 numbers[2];
    flood_lakes_regions(t, level);
    CHECK(cudaMemset(t->numbers, 0, 64));
    FLOOD_TRUTH_RUN(flood_lakes_sum, *t, source.y * t->map.width + source.x);
    CHECK(cudaMemcpy(numbers, t->numbers, sizeof numbers, cudaMemcpyDeviceToHost));
    lake.area = numbers[0];
    lake.volume = (double)lake.area * (level + 32768) - (double)numbers[1];
    return lake;
}

// ---- comparisons --------------------------------------------------------------------------------

// How many of the lakes, in the host's memory, are wrong: areas and volumes are exact.
static tmap_u64 flood_lakes_wrong(const flood_truth *t, tmap_flood_seed source,
                                  const double *levels, tmap_u32 count,
                                  const tmap_flood_lake *lakes) {
    tmap_u64 wrong = 0;
    if (t->cells <= FLOOD_LAKES_SERIAL) {
        tmap_flood_lake *want = (tmap_flood_lake *)malloc(count * sizeof *want);
        flood_lakes_serial(t, source, levels, count, want);
        for (tmap_u32 k = 0; k < count; ++k)
            wrong += lakes[k].area != want[k].area || lakes[k].volume != want[k].volume;
        free(want);
    }
    // by both ways up to 1024 x 1024, so that one tests the other
    for (tmap_u32 k = 0; k < FLOOD_LAKES_SOME; ++k) {
        const tmap_u32 at = (tmap_u32)((tmap_u64)(count - 1) * (k + 1) / FLOOD_LAKES_SOME);
        if (t->cells > 1024 * 1024 && t->cells <= FLOOD_LAKES_SERIAL) break;
        const tmap_flood_lake want = flood_lakes_union(t, source, levels[at]);
        wrong += lakes[at].area != want.area || lakes[at].volume != want.volume;
    }
    flood_lakes_regions(t, 0);
    return wrong;
}

#endif
