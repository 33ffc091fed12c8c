// SPDX-License-Identifier: MIT
// flood_truth.h: what results of bench_flood are compared with: the regions of a map by union-find
// over single cells in global memory, which shares no code with what is measured. Up to 1024 x 1024
// it is itself compared with a serial fill on the host.
#ifndef BENCH_RASTER_FLOOD_TRUTH_H
#define BENCH_RASTER_FLOOD_TRUTH_H

#include "../../tests/raster/flood_check.h"
#include "../timing.h"

#define FLOOD_TRUTH_NONE  0xffffffffu // of a dry cell
#define FLOOD_TRUTH_CELLS 0xfffffffeull

// The map of an input, and its regions. All arrays have a place for each cell.
typedef struct flood_truth {
    tmap_raster_map map; // without a pitch
    int input;
    tmap_u64 cells;
    short *heights;
    unsigned char *mask;    // 1 where wet, else 0
    tmap_u32 *parents;      // of a wet cell the first cell of its region
    tmap_u32 *sizes;        // of a first cell the size of its region; later, marks
    tmap_u64 *numbers;      // a few for results of kernels
    tmap_u64 regions;       // how many there are
    tmap_u64 largest, size; // the first cell of the largest one (or 0), and its size
} flood_truth;

#define FLOOD_EACH(i, n) \
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < (n); \
         i += gridDim.x * (tmap_u64)blockDim.x)

static __global__ void flood_truth_heights(flood_truth t) {
    const tmap_u32 w = (tmap_u32)t.map.width, h = (tmap_u32)t.map.height;
    FLOOD_EACH(i, t.cells) {
        const int height = flood_input(t.input, (tmap_u32)(i % w), (tmap_u32)(i / w), w, h);
        t.heights[i] = (short)height, t.mask[i] = height < 0;
    }
}

// ---- union-find ---------------------------------------------------------------------------------

TMAP_DEVICE tmap_u32 flood_truth_find(tmap_u32 *parents, tmap_u32 cell) {
    volatile tmap_u32 *p = parents;
    for (;;) {
        const tmap_u32 up = p[cell], upper = p[up];
        if (up == upper) return up;
        p[cell] = upper, cell = upper;
    }
}
TMAP_DEVICE void flood_truth_unite(tmap_u32 *parents, tmap_u64 from, tmap_u64 to) {
    tmap_u32 a = (tmap_u32)from, b = (tmap_u32)to;
    for (;;) {
        a = flood_truth_find(parents, a), b = flood_truth_find(parents, b);
        if (a == b) return;
        if (a < b) {
            const tmap_u32 c = a;
            a = b, b = c;
        }
        if (atomicCAS(parents + a, a, b) == a) return;
    }
}

// Cells of a run within 32 columns have its first one for a parent.
static __global__ void flood_truth_runs(flood_truth t) {
    FLOOD_EACH(i, t.cells) {
        const tmap_u64 x = i % t.map.width;
        tmap_u32 back = 0;
        while (t.mask[i] && back < x % 32 && t.mask[i - back - 1]) ++back;
        t.parents[i] = t.mask[i] ? (tmap_u32)(i - back) : FLOOD_TRUTH_NONE;
        t.sizes[i] = 0;
    }
}
static __global__ void flood_truth_link(flood_truth t) {
    const tmap_u64 w = t.map.width;
    FLOOD_EACH(i, t.cells) {
        const tmap_u64 x = i % w;
        const int eight = t.map.connectivity == 8, left = x > 0 && t.mask[i] && t.mask[i - 1];
        if (!t.mask[i]) continue;
        if (left && x % 32 == 0) flood_truth_unite(t.parents, i, i - 1);
        if (i < w) continue;
        if (t.mask[i - w]) { // whose neighbours are its own
            if (!left || !t.mask[i - w - 1]) flood_truth_unite(t.parents, i, i - w);
            continue;
        }
        if (eight && x > 0 && t.mask[i - w - 1]) flood_truth_unite(t.parents, i, i - w - 1);
        if (eight && x + 1 < w && t.mask[i - w + 1]) flood_truth_unite(t.parents, i, i - w + 1);
    }
}
// No path is shortened here: that could put an old parent in the place of a root.
static __global__ void flood_truth_flatten(flood_truth t) {
    volatile tmap_u32 *p = t.parents;
    FLOOD_EACH(i, t.cells) {
        tmap_u32 root = (tmap_u32)i;
        if (!t.mask[i]) continue;
        while (p[root] != root) root = p[root];
        p[i] = root;
    }
}

// Sizes, from runs of cells of one region among 64 in a row.
static __global__ void flood_truth_count(flood_truth t) {
    FLOOD_EACH(k, (t.cells + 63) / 64) {
        const tmap_u64 end = 64 * k + 64 < t.cells ? 64 * k + 64 : t.cells;
        tmap_u32 region = FLOOD_TRUTH_NONE, count = 0;
        for (tmap_u64 i = 64 * k; i < end; ++i) {
            const tmap_u32 here = t.parents[i];
            if (here == FLOOD_TRUTH_NONE) continue;
            if (here != region && count) atomicAdd(t.sizes + region, count), count = 0;
            region = here, ++count;
        }
        if (count) atomicAdd(t.sizes + region, count);
    }
}
// numbers: the largest region, its first cell as ~i; the number of regions.
static __global__ void flood_truth_largest(flood_truth t) {
    tmap_u64 most = 0, regions = 0;
    FLOOD_EACH(i, t.cells) {
        const tmap_u64 key = (tmap_u64)t.sizes[i] << 32 | (FLOOD_TRUTH_NONE - (tmap_u32)i);
        if (t.sizes[i]) ++regions, most = key > most ? key : most;
    }
    if (most) atomicMax(t.numbers, most);
    if (regions) atomicAdd(t.numbers + 1, regions);
}

// ---- comparisons --------------------------------------------------------------------------------

static __global__ void flood_truth_compare(flood_truth t, const unsigned char *out) {
    tmap_u64 wrong = 0;
    FLOOD_EACH(i, t.cells)
    wrong += out[i] != (t.size && t.parents[i] == (tmap_u32)t.largest);
    if (wrong) atomicAdd(t.numbers, wrong);
}
// Labels: 0 where dry; else 1 to the number of regions, another one for each of them.
static __global__ void flood_truth_labels(flood_truth t, const int *labels) {
    tmap_u64 wrong = 0;
    FLOOD_EACH(i, t.cells) {
        const int label = labels[i];
        if (t.parents[i] == FLOOD_TRUTH_NONE)
            wrong += label != 0;
        else if (label < 1 || (tmap_u64)label > t.regions || label != labels[t.parents[i]])
            ++wrong;
        else if (t.parents[i] == (tmap_u32)i) // its region has this label alone
            wrong += atomicExch(t.sizes + label - 1, FLOOD_TRUTH_NONE) == FLOOD_TRUTH_NONE;
    }
    if (wrong) atomicAdd(t.numbers, wrong);
}

// ---- on the host --------------------------------------------------------------------------------

#define FLOOD_TRUTH_RUN(kernel, ...) \
    do { \
        kernel<<<2048, 256>>>(__VA_ARGS__); \
        CHECK(cudaGetLastError()); \
    } while (0)

// Bytes that the truth of so many cells takes.
static inline tmap_u64 flood_truth_bytes(tmap_u64 cells) { return 11 * cells + 64; }

static flood_truth flood_truth_alloc(tmap_u64 cells) {
    flood_truth t;
    memset(&t, 0, sizeof t);
    CHECK(cudaMalloc((void **)&t.heights, (size_t)cells * sizeof *t.heights));
    CHECK(cudaMalloc((void **)&t.mask, (size_t)cells));
    CHECK(cudaMalloc((void **)&t.parents, (size_t)cells * sizeof *t.parents));
    CHECK(cudaMalloc((void **)&t.sizes, (size_t)cells * sizeof *t.sizes));
    CHECK(cudaMalloc((void **)&t.numbers, 64));
    return t;
}

static void flood_truth_free(flood_truth *t) {
    CHECK(cudaFree(t->heights));
    CHECK(cudaFree(t->mask));
    CHECK(cudaFree(t->parents));
    CHECK(cudaFree(t->sizes));
    CHECK(cudaFree(t->numbers));
}

// The program ends where the flood of the largest region is not that of a serial fill.
static void flood_truth_verify(const flood_truth *t) {
    const tmap_flood_seed seed = {t->largest % t->map.width, t->largest / t->map.width};
    short *heights = (short *)malloc((size_t)t->cells * sizeof *heights);
    tmap_u32 *parents = (tmap_u32 *)malloc((size_t)t->cells * sizeof *parents);
    unsigned char *want = (unsigned char *)malloc((size_t)t->cells);
    tmap_u64 wrong;
    CHECK(cudaMemcpy(heights, t->heights, (size_t)t->cells * 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(parents, t->parents, (size_t)t->cells * 4, cudaMemcpyDeviceToHost));
    wrong = flood_fill(&t->map, heights, &seed, 1, 0, want) != t->size;
    for (tmap_u64 i = 0; i < t->cells; ++i)
        wrong += want[i] != (t->size && parents[i] == (tmap_u32)t->largest);
    free(heights), free(parents), free(want);
    if (!wrong) return;
    fflush(stdout);
    fprintf(stderr, "%s %llu x %llu, %d: the truth is WRONG in %llu cells\n",
            flood_input_name(t->input), t->map.width, t->map.height, t->map.connectivity, wrong);
    exit(1);
}

// Finds the regions of a map in `t`, which has a map, its heights and its mask.
static void flood_truth_regions(flood_truth *t) {
    tmap_u64 numbers[2];
    CHECK(cudaMemset(t->numbers, 0, 64));
    FLOOD_TRUTH_RUN(flood_truth_runs, *t);
    FLOOD_TRUTH_RUN(flood_truth_link, *t);
    FLOOD_TRUTH_RUN(flood_truth_flatten, *t);
    FLOOD_TRUTH_RUN(flood_truth_count, *t);
    FLOOD_TRUTH_RUN(flood_truth_largest, *t);
    CHECK(cudaMemcpy(numbers, t->numbers, sizeof numbers, cudaMemcpyDeviceToHost));
    t->size = numbers[0] >> 32, t->regions = numbers[1];
    t->largest = t->size ? FLOOD_TRUTH_NONE - (tmap_u32)numbers[0] : 0;
    if (t->cells <= 1024 * 1024) flood_truth_verify(t);
}

// Makes the map of an input in `t`, which has memory for width x height cells, and finds its regions.
static inline void flood_truth_make(flood_truth *t, int input, tmap_u64 width, tmap_u64 height,
                                    int connectivity) {
    const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_I16, connectivity};
    t->map = map, t->input = input, t->cells = width * height;
    FLOOD_TRUTH_RUN(flood_truth_heights, *t);
    flood_truth_regions(t);
}

// The number of cells of a result that are wrong; labels: null, or then the flood `out` counts.
static tmap_u64 flood_truth_wrong(const flood_truth *t, const unsigned char *out,
                                  const int *labels) {
    tmap_u64 wrong;
    CHECK(cudaMemset(t->numbers, 0, 8));
    if (labels) {
        CHECK(cudaMemset(t->sizes, 0, (size_t)t->cells * sizeof *t->sizes));
        FLOOD_TRUTH_RUN(flood_truth_labels, *t, labels);
    } else {
        FLOOD_TRUTH_RUN(flood_truth_compare, *t, out);
    }
    CHECK(cudaMemcpy(&wrong, t->numbers, sizeof wrong, cudaMemcpyDeviceToHost));
    return wrong;
}

#endif
