// SPDX-License-Identifier: MIT
// flood_truth.h: what results of bench_flood are compared with: the map of an input, its regions
// (components.h), the largest one, and lakes of rising water.
#ifndef BENCH_RASTER_FLOOD_TRUTH_H
#define BENCH_RASTER_FLOOD_TRUTH_H

#include "../../tests/raster/flood_inputs.h"
#include "components.h"

#include <threadmap/raster/flood.h>

#define FLOOD_LAKES_MOST 4096 // levels
#define FLOOD_LAKES_SOME 8    // levels that are compared in a map of more than 1024 x 1024 cells

// The map of an input without a pitch, and its regions: c.mask is 1 where it is wet.
typedef struct flood_truth {
    tmap_raster_map map;
    components c;
    int input;
    short *heights;
    tmap_u64 *numbers;      // two for results of kernels
    tmap_u64 largest, size; // the first cell of the largest region (or 0), and its size
} flood_truth;

static __global__ void flood_truth_heights(flood_truth t) {
    const tmap_u32 w = (tmap_u32)t.map.width, h = (tmap_u32)t.map.height;
    BENCH_EACH(i, t.c.cells)
    t.heights[i] = (short)flood_input(t.input, (tmap_u32)(i % w), (tmap_u32)(i / w), w, h);
}
static __global__ void flood_truth_wet(flood_truth t, double level) {
    BENCH_EACH(i, t.c.cells) t.c.mask[i] = t.heights[i] < level;
}

// Sizes of regions, from runs of cells of one region among 64 in a row.
static __global__ void flood_truth_sizes(components c) {
    BENCH_EACH(k, (c.cells + 63) / 64) {
        const tmap_u64 end = 64 * k + 64 < c.cells ? 64 * k + 64 : c.cells;
        tmap_u32 region = COMPONENTS_NONE, count = 0;
        for (tmap_u64 i = 64 * k; i < end; ++i) {
            const tmap_u32 here = c.parents[i];
            if (here == COMPONENTS_NONE) continue;
            if (here != region && count) atomicAdd(c.marks + region, count), count = 0;
            region = here, ++count;
        }
        if (count) atomicAdd(c.marks + region, count);
    }
}
// The largest region: its size and its first cell as ~i.
static __global__ void flood_truth_largest(components c, tmap_u64 *number) {
    tmap_u64 most = 0;
    BENCH_EACH(i, c.cells) {
        const tmap_u64 key = (tmap_u64)c.marks[i] << 32 | (COMPONENTS_NONE - (tmap_u32)i);
        if (c.marks[i]) most = key > most ? key : most;
    }
    if (most) atomicMax(number, most);
}

// Bytes that the truth of this number of cells takes.
static inline tmap_u64 flood_truth_bytes(tmap_u64 cells) { return 11 * cells + 64; }

// Memory of kit.h for a square map.
static flood_truth flood_truth_alloc(tmap_u64 width, int connectivity) {
    const tmap_raster_map map = {width, width, width, 0, 0, TMAP_RASTER_I16, connectivity};
    flood_truth t;
    memset(&t, 0, sizeof t);
    t.map = map, t.c = components_alloc(width, width, 1, connectivity);
    t.heights = (short *)kit_device(t.c.cells * sizeof *t.heights);
    t.numbers = (tmap_u64 *)kit_device(2 * sizeof *t.numbers);
    return t;
}

// The regions of what is below a level.
static void flood_truth_regions(flood_truth *t, double level) {
    COMPONENTS_RUN(flood_truth_wet, *t, level);
    components_find(&t->c);
}

// Makes the map of an input and finds its regions.
static void flood_truth_make(flood_truth *t, int input) {
    tmap_u64 largest;
    t->input = input;
    COMPONENTS_RUN(flood_truth_heights, *t);
    flood_truth_regions(t, 0);
    components_verify(&t->c);
    CHECK(cudaMemset(t->c.marks, 0, (size_t)t->c.cells * sizeof *t->c.marks));
    COMPONENTS_RUN(flood_truth_sizes, t->c);
    COMPONENTS_RUN(flood_truth_largest, t->c, bench_counter());
    largest = bench_count();
    t->size = largest >> 32, t->largest = t->size ? COMPONENTS_NONE - (tmap_u32)largest : 0;
}

// ---- comparisons --------------------------------------------------------------------------------

static __global__ void flood_truth_compare(flood_truth t, const unsigned char *out,
                                           tmap_u64 *count) {
    tmap_u64 wrong = 0;
    BENCH_EACH(i, t.c.cells)
    wrong += out[i] != (t.size && t.c.parents[i] == (tmap_u32)t.largest);
    if (wrong) atomicAdd(count, wrong);
}

// The number of cells of the flood from the largest region that are wrong.
static tmap_u64 flood_truth_wrong(const flood_truth *t, const unsigned char *out) {
    COMPONENTS_RUN(flood_truth_compare, *t, out, bench_counter());
    return bench_count();
}

// ---- rising water -------------------------------------------------------------------------------

// numbers[0]: the least (height, cell) of the largest region; numbers[1]: the highest height.
static __global__ void flood_lakes_range(flood_truth t) {
    tmap_u64 low = ~0ull, high = 0;
    BENCH_EACH(i, t.c.cells) {
        const tmap_u64 height = (tmap_u64)(t.heights[i] + 32768);
        if (t.c.parents[i] == (tmap_u32)t.largest) low = min(low, height << 32 | i);
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
    COMPONENTS_RUN(flood_lakes_range, *t);
    CHECK(cudaMemcpy(numbers, t->numbers, sizeof numbers, cudaMemcpyDeviceToHost));
    if (!t->size) numbers[0] = 0;
    const double low = (double)(numbers[0] >> 32) - 32768, high = (double)numbers[1] - 32767;
    source.x = (tmap_u32)numbers[0] % t->map.width, source.y = (tmap_u32)numbers[0] / t->map.width;
    for (tmap_u32 k = 0; k < count; ++k)
        levels[k] = floor(4 * (low + (high - low) * (k + 1) / count)) / 4;
    return source;
}

// numbers: cells of the region of a cell, and the sum of their heights above -32768.
static __global__ void flood_lakes_sum(flood_truth t, tmap_u64 source) {
    const tmap_u32 region = t.c.parents[source];
    tmap_u64 area = 0, sum = 0;
    BENCH_EACH(i, t.c.cells)
    if (region != COMPONENTS_NONE && t.c.parents[i] == region)
        ++area, sum += (tmap_u64)(t.heights[i] + 32768);
    if (area) atomicAdd(t.numbers, area), atomicAdd(t.numbers + 1, sum);
}

// How many of the lakes, in the host's memory, are wrong: areas and volumes are exact.
static tmap_u64 flood_lakes_wrong(flood_truth *t, tmap_flood_seed source, const double *levels,
                                  tmap_u32 count, const tmap_flood_lake *lakes) {
    const tmap_u32 all = t->c.cells <= 1024 * 1024 ? count : FLOOD_LAKES_SOME;
    tmap_u64 wrong = 0, numbers[2];
    for (tmap_u32 k = 0; k < all; ++k) {
        const tmap_u32 at = (tmap_u32)((tmap_u64)(count - 1) * (k + 1) / all);
        flood_truth_regions(t, levels[at]);
        CHECK(cudaMemset(t->numbers, 0, sizeof numbers));
        COMPONENTS_RUN(flood_lakes_sum, *t, source.y * t->map.width + source.x);
        CHECK(cudaMemcpy(numbers, t->numbers, sizeof numbers, cudaMemcpyDeviceToHost));
        wrong += lakes[at].area != numbers[0] ||
                 lakes[at].volume != (double)numbers[0] * (levels[at] + 32768) - (double)numbers[1];
    }
    flood_truth_regions(t, 0);
    return wrong;
}

#endif
