// SPDX-License-Identifier: MIT
// label_measure.h: measures each component of a labelled map: its area, its bounding box and its
// first cell.
//
//     tmap_label(&plan, cells, workspace, labels, count, stream); // label.h
//     tmap_label_measure(&plan, labels, components, shapes, stream);
//
// A block of threads takes a tile of 1024 columns and 64 rows. Consecutive cells of a row are
// counted together. A table in shared memory collects the part of each component in the tile, which
// is then added to the component's shape; labels that find no free entry are added to the shape
// directly. All numbers are integers, so the order of additions does not matter: shapes are the
// same in every run.
#ifndef TMAP_RASTER_LABEL_MEASURE_H
#define TMAP_RASTER_LABEL_MEASURE_H

#include "label.h"

// A component. area: its number of cells; 0: the component does not exist, and the other members
// are undefined. first: its first cell in raster order: y * width + x. left, right: its first and
// last column; top, bottom: its first and last row.
typedef struct tmap_label_shape {
    tmap_u64 area, first;
    tmap_u32 left, top, right, bottom;
} tmap_label_shape;

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_LABEL_MEASURE_WARPS 16u
#define TMAPI_LABEL_MEASURE_ROWS  64u // rows of a tile

// A tile: its first cell, the map's width, its table, and all shapes.
typedef struct tmapi_label_tile {
    tmap_u64 x, y, width;
    tmapi_label_table *table;
    tmap_label_shape *shapes;
} tmapi_label_tile;

// Adds a part of a component to its shape.
TMAP_DEVICE void tmapi_label_shape_add(tmap_label_shape *to, tmap_label_shape part) {
    atomicAdd(&to->area, part.area);
    if (*(volatile tmap_u64 *)&to->first > part.first) atomicMin(&to->first, part.first);
    tmapi_label_least(&to->left, part.left), tmapi_label_least(&to->top, part.top);
    tmapi_label_largest(&to->right, part.right), tmapi_label_largest(&to->bottom, part.bottom);
}

// Adds `area` consecutive cells of a component, from column x and row y of a tile on.
TMAP_DEVICE void tmapi_label_measure_run(const tmapi_label_tile t, tmap_u64 label, tmap_u32 x,
                                         tmap_u32 y, tmap_u32 area) {
    const tmap_u32 at = tmapi_label_table_find(t.table, label);
    if (at < TMAPI_LABEL_MEASURE_TABLE) {
        atomicAdd(t.table->area + at, area);
        tmapi_label_least(t.table->first + at, y * TMAPI_LABEL_CELLS + x);
        tmapi_label_least(t.table->left + at, x);
        tmapi_label_largest(t.table->right + at, x + area - 1);
        tmapi_label_largest(t.table->last + at, y);
    } else {
        tmap_label_shape part;
        part.area = area, part.first = (t.y + y) * t.width + t.x + x;
        part.left = (tmap_u32)t.x + x, part.right = (tmap_u32)t.x + x + area - 1;
        part.top = part.bottom = (tmap_u32)t.y + y;
        tmapi_label_shape_add(t.shapes + label - 1, part);
    }
}

static __global__ void __launch_bounds__(256)
    tmapi_label_clear_kernel(tmap_label_shape *shapes, tmap_u64 components) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < components; i += gridDim.x * 256ull) {
        tmap_label_shape none;
        none.area = 0, none.first = ~0ull, none.left = none.top = 0xffffffffu;
        none.right = none.bottom = 0;
        shapes[i] = none;
    }
}

// A block a tile. components: larger labels are ignored.
static __global__ void __launch_bounds__(TMAPI_LABEL_MEASURE_WARPS * 32)
    tmapi_label_measure_kernel(const void *labels, int wide, tmap_u64 width, tmap_u64 height,
                               tmap_u64 components, tmap_label_shape *shapes) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_table *table = (tmapi_label_table *)tmapi_label_memory;
    const tmap_u64 across = (width + TMAPI_LABEL_CELLS - 1) / TMAPI_LABEL_CELLS;
    const tmap_u64 x0 = blockIdx.x % across * TMAPI_LABEL_CELLS;
    const tmap_u64 y0 = blockIdx.x / across * TMAPI_LABEL_MEASURE_ROWS;
    const tmapi_label_tile tile = {x0, y0, width, table, shapes};
    const tmap_u32 lane = threadIdx.x % 32;
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_MEASURE_TABLE; i += blockDim.x) {
        table->label[i] = 0;
        table->first[i] = table->left[i] = 0xffffffffu;
        table->area[i] = table->right[i] = table->last[i] = 0;
    }
    __syncthreads();
    for (tmap_u32 y = threadIdx.x / 32; y < TMAPI_LABEL_MEASURE_ROWS && y0 + y < height;
         y += TMAPI_LABEL_MEASURE_WARPS) {
        const tmap_u64 row = (y0 + y) * width + x0;
        for (tmap_u32 k0 = 0; k0 < TMAPI_LABEL_CELLS && x0 + k0 < width; k0 += 128) {
            tmap_u64 label[4];
#pragma unroll
            for (tmap_u32 a = 0; a < 4; ++a) {
                const tmap_u32 x = k0 + a * 32 + lane;
                label[a] = 0;
                if (x0 + x < width)
                    label[a] = wide ? __ldcs((const tmap_u64 *)labels + row + x)
                                    : __ldcs((const tmap_u32 *)labels + row + x);
            }
#pragma unroll
            for (tmap_u32 a = 0; a < 4; ++a) {
                const tmap_u64 left = __shfl_up_sync(~0u, label[a], 1);
                const tmap_u32 starts = __ballot_sync(~0u, lane == 0 || label[a] != left) >> lane;
                const tmap_u32 more = starts >> 1; // from the next cell on
                if ((starts & 1) && label[a] != 0 && label[a] <= components)
                    tmapi_label_measure_run(tile, label[a], k0 + a * 32 + lane, y,
                                            more ? (tmap_u32)__ffs((int)more) : 32 - lane);
            }
        }
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_MEASURE_TABLE; i += blockDim.x) {
        const tmap_u32 x = table->first[i] % TMAPI_LABEL_CELLS;
        const tmap_u32 y = table->first[i] / TMAPI_LABEL_CELLS;
        tmap_label_shape part;
        if (table->label[i] == 0) continue;
        part.area = table->area[i], part.first = (y0 + y) * width + x0 + x;
        part.left = (tmap_u32)x0 + table->left[i], part.right = (tmap_u32)x0 + table->right[i];
        part.top = (tmap_u32)y0 + y, part.bottom = (tmap_u32)y0 + table->last[i];
        tmapi_label_shape_add(shapes + table->label[i] - 1, part);
    }
}

// Measures the components of a labelled map: area, bounding box, first cell.
// plan: the one used for tmap_label. labels: written by tmap_label, in device memory. components:
// labels 1 to components are measured, 0 to 2^40; usually the count that tmap_label wrote. shapes:
// `components` of them in device memory at a multiple of 8; shape i - 1 is that of label i.
// Returns cudaErrorInvalidValue for an argument outside these ranges, else the launches' error.
// Cost: one pass over the labels, and integer atomics for each component of each tile.
// Example: components = 3 for a map of three lakes; shapes[2].area is that of the third one from
// the top.
static inline cudaError_t tmap_label_measure(const tmap_label_plan *plan, const void *labels,
                                             tmap_u64 components, tmap_label_shape *shapes,
                                             cudaStream_t stream) {
    const tmap_u64 blocks = components / 256 + 1;
    const tmapi_launch_shape clear = {blocks < 65536 ? blocks : 65536, 256, 0};
    tmapi_launch_shape measure = {0, TMAPI_LABEL_MEASURE_WARPS * 32, sizeof(tmapi_label_table)};
    tmap_u64 width, height;
    void *of_clear[] = {&shapes, &components};
    int wide;
    void *of_measure[] = {&labels, &wide, &width, &height, &components, &shapes};
    cudaError_t error;
    if (!plan || !labels || (components && !shapes) || components >> 40 ||
        (tmap_u64)shapes % sizeof(tmap_u64))
        return cudaErrorInvalidValue;
    if (components == 0) return cudaSuccess;
    error = tmapi_launch((const void *)tmapi_label_clear_kernel, clear, of_clear, stream);
    if (error) return error;
    width = plan->map.width, height = plan->map.height, wide = plan->form == TMAP_LABEL_INT64;
    measure.grid = (width + TMAPI_LABEL_CELLS - 1) / TMAPI_LABEL_CELLS;
    measure.grid *= (height + TMAPI_LABEL_MEASURE_ROWS - 1) / TMAPI_LABEL_MEASURE_ROWS;
    return tmapi_launch((const void *)tmapi_label_measure_kernel, measure, of_measure, stream);
}

#endif

#endif
