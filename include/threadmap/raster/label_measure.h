// SPDX-License-Identifier: MIT
// label_measure.h: measures each component of labels of a picture, of a volume, or of each image of
// a batch: its area or volume, its bounding box and its first cell.
//
//     tmap_label(&plan, cells, workspace, labels, count, stream); // or tmap_label3
//     tmap_label_measure(&plan.array, labels, components, shapes, stream);
//
// A block of threads takes a box of 2^15 cells. Equal labels of 32 cells of a row are counted
// together. A table in shared memory collects the part of each component in the box, which is then
// added to the component's shape; labels that find no free entry are added to the shape directly.
// All numbers are integers, so shapes are the same in every run.
#ifndef TMAP_RASTER_LABEL_MEASURE_H
#define TMAP_RASTER_LABEL_MEASURE_H

#include "map.h"

// A component. area: its number of cells; 0: the component does not exist, and the other members
// are undefined. first: its first cell: (z * height + y) * width + x. left, right: its first and
// last column; top, bottom: its first and last row; front, back: its first and last slice, in a
// batch those of its image.
typedef struct tmap_label_shape {
    tmap_u64 area, first;
    tmap_u32 left, top, front, right, bottom, back;
} tmap_label_shape;

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_LABEL_MEASURE 512u // threads
#define TMAPI_LABEL_BOX     15u  // log2 of the cells of a box
#define TMAPI_LABEL_TABLE   1024u
#define TMAPI_LABEL_TRIES   4u

// The argument of the kernel. log: log2 of a box's extents in cells.
typedef struct tmapi_label_measured {
    const void *labels;
    tmap_label_shape *shapes;
    tmap_u64 components;
    tmap_u32 width, height, depth, across, down, log[3]; // across, down: boxes
    int wide, images;
} tmapi_label_measured;

// The components in a box. label: 0 for a free entry. first: the number of a cell in the box.
typedef struct tmapi_label_table {
    tmap_u64 label[TMAPI_LABEL_TABLE];
    tmap_u32 area[TMAPI_LABEL_TABLE], first[TMAPI_LABEL_TABLE];
    tmap_u32 left[TMAPI_LABEL_TABLE], top[TMAPI_LABEL_TABLE];
    tmap_u32 right[TMAPI_LABEL_TABLE], bottom[TMAPI_LABEL_TABLE], back[TMAPI_LABEL_TABLE];
} tmapi_label_table;

// Decrease or increase a number by atomics, unless a plain load shows that this is unnecessary.
TMAP_DEVICE void tmapi_label_least(tmap_u32 *to, tmap_u32 value) {
    if (*(volatile tmap_u32 *)to > value) atomicMin(to, value);
}
TMAP_DEVICE void tmapi_label_largest(tmap_u32 *to, tmap_u32 value) {
    if (*(volatile tmap_u32 *)to < value) atomicMax(to, value);
}

// Entry of a label, or of a pair, among those of a table; TMAPI_LABEL_TABLE if there is no free
// one.
TMAP_DEVICE tmap_u32 tmapi_label_table_find(tmap_u64 *labels, tmap_u64 label) {
    tmap_u32 at = ((tmap_u32)label * 0x9e3779b1u + (tmap_u32)(label >> 32) * 0x85ebca6bu) >> 16;
    for (tmap_u32 k = 0; k < TMAPI_LABEL_TRIES; ++k, ++at) {
        tmap_u64 *place = labels + at % TMAPI_LABEL_TABLE;
        tmap_u64 there = *(volatile tmap_u64 *)place;
        if (there == 0) there = atomicCAS(place, 0ull, label);
        if (there == 0 || there == label) return at % TMAPI_LABEL_TABLE;
    }
    return TMAPI_LABEL_TABLE;
}

// Adds a part of a component to its shape.
TMAP_DEVICE void tmapi_label_shape_add(tmap_label_shape *to, tmap_label_shape part) {
    atomicAdd(&to->area, part.area);
    if (*(volatile tmap_u64 *)&to->first > part.first) atomicMin(&to->first, part.first);
    tmapi_label_least(&to->left, part.left), tmapi_label_largest(&to->right, part.right);
    tmapi_label_least(&to->top, part.top), tmapi_label_largest(&to->bottom, part.bottom);
    tmapi_label_least(&to->front, part.front), tmapi_label_largest(&to->back, part.back);
}

static __global__ void __launch_bounds__(256)
    tmapi_label_clear_kernel(tmap_label_shape *shapes, tmap_u64 components) {
    const tmap_label_shape none = {0, ~0ull, ~0u, ~0u, ~0u, 0, 0, 0};
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < components; i += gridDim.x * 256ull)
        shapes[i] = none;
}

// A block a box.
static __global__ void __launch_bounds__(TMAPI_LABEL_MEASURE)
    tmapi_label_measure_kernel(tmapi_label_measured job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_table *table = (tmapi_label_table *)tmapi_label_memory;
    const tmap_u32 lx = job.log[0], ly = job.log[1], lz = job.log[2], lane = threadIdx.x % 32;
    const tmap_u32 x0 = blockIdx.x % job.across << lx, row0 = blockIdx.x / job.across;
    const tmap_u32 y0 = row0 % job.down << ly, z0 = row0 / job.down << lz;
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_TABLE; i += blockDim.x) {
        table->label[i] = 0;
        table->first[i] = table->left[i] = table->top[i] = ~0u;
        table->area[i] = table->right[i] = table->bottom[i] = table->back[i] = 0;
    }
    __syncthreads();
    for (tmap_u32 from = threadIdx.x; from < 1u << (lx + ly + lz); from += 4 * blockDim.x) {
        tmap_u64 label[4];
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k) { // all loads before the first use
            const tmap_u32 s = from + k * blockDim.x, x = x0 + (s & ((1u << lx) - 1));
            const tmap_u32 y = y0 + (s >> lx & ((1u << ly) - 1)), z = s >> (lx + ly);
            const tmap_u64 cell = ((tmap_u64)(z0 + z) * job.height + y) * job.width + x;
            label[k] = 0;
            if (x < job.width && y < job.height && z < 1u << lz && z0 + z < job.depth)
                label[k] = job.wide ? __ldcs((const tmap_u64 *)job.labels + cell)
                                    : __ldcs((const tmap_u32 *)job.labels + cell);
        }
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k) {
            const tmap_u32 s = from + k * blockDim.x, x = s & ((1u << lx) - 1);
            const tmap_u32 y = s >> lx & ((1u << ly) - 1), z = s >> (lx + ly);
            const tmap_u32 same = __match_any_sync(~0u, label[k]), area = tmapi_raster_count(same);
            const tmap_u32 right = x + (31 - (tmap_u32)__clz((int)same)) - lane;
            if (label[k] == 0 || label[k] > job.components || (same & ((1u << lane) - 1))) continue;
            if (job.images) label[k] += (z0 + z) * job.components;
            const tmap_u32 at = tmapi_label_table_find(table->label, label[k]);
            if (at < TMAPI_LABEL_TABLE) {
                atomicAdd(table->area + at, area);
                tmapi_label_least(table->first + at, s);
                tmapi_label_least(table->left + at, x),
                    tmapi_label_largest(table->right + at, right);
                tmapi_label_least(table->top + at, y), tmapi_label_largest(table->bottom + at, y);
                tmapi_label_largest(table->back + at, z);
            } else {
                const tmap_u64 row = (tmap_u64)(z0 + z) * job.height + y0 + y;
                const tmap_label_shape part = {
                    area,  row * job.width + x0 + x, x0 + x, y0 + y, z0 + z, x0 + right, y0 + y,
                    z0 + z};
                tmapi_label_shape_add(job.shapes + label[k] - 1, part);
            }
        }
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_TABLE; i += blockDim.x) {
        const tmap_u32 s = table->first[i], x = x0 + (s & ((1u << lx) - 1));
        const tmap_u32 y = y0 + (s >> lx & ((1u << ly) - 1)), z = z0 + (s >> (lx + ly));
        const tmap_label_shape part = {table->area[i],
                                       ((tmap_u64)z * job.height + y) * job.width + x,
                                       x0 + table->left[i],
                                       y0 + table->top[i],
                                       z,
                                       x0 + table->right[i],
                                       y0 + table->bottom[i],
                                       z0 + table->back[i]};
        if (table->label[i]) tmapi_label_shape_add(job.shapes + table->label[i] - 1, part);
    }
}

// Measures the components of labels: area or volume, bounding box, first cell.
// of: the member `array` of a plan of label.h or label3.h, or the extents of labels of the user's:
// 0 belongs to no component. labels: in device memory at a multiple of their size. components:
// labels 1 to components are measured, 0 to 2^40; usually the count that tmap_label wrote, in a
// batch the largest. shapes: `components` of them in device memory at a multiple of 8; that of
// label i is number i - 1. In a batch `components` for each image; that of label i of image z is
// number z * components + i - 1.
// Returns cudaErrorInvalidValue for an argument outside these ranges, if a batch has more than 2^40
// shapes, and if shapes overlap labels; else the launches' error.
// Cost: one pass over the labels, and integer atomics for each component of each box.
// Example: components = 3 for a map of three lakes; shapes[2].area is that of the third one from
// the top.
static inline cudaError_t tmap_label_measure(const tmap_label_array *of, const void *labels,
                                             tmap_u64 components, tmap_label_shape *shapes,
                                             cudaStream_t stream) {
    tmapi_launch_shape clear = {0, 256, 0},
                       measure = {0, TMAPI_LABEL_MEASURE, sizeof(tmapi_label_table)};
    tmapi_label_measured job = {labels, shapes, components, 0, 0, 0, 0, 0, {5, 0, 0}, 0, 0};
    tmap_u64 all;
    void *of_clear[] = {&shapes, &all}, *of_measure[] = {&job};
    cudaError_t error;
    if (!of || !tmapi_label_is_array(of)) return cudaErrorInvalidValue;
    const tmap_u32 each = of->form == TMAP_LABEL_INT64 ? 8 : 4;
    const tmap_u64 cells = tmap_mul_saturate(of->width * of->height, of->depth);
    all = tmap_mul_saturate(components, of->images ? of->depth : 1);
    const tmapi_raster_memory memory[2] = {{shapes, all * sizeof *shapes},
                                           {labels, tmap_mul_saturate(cells, each)}};
    if (all >> 40 || (all && !shapes) || (tmap_u64)shapes % sizeof(tmap_u64) ||
        (cells && !tmapi_raster_aligned(labels, each)) || tmapi_raster_overlap(memory, 1, 2))
        return cudaErrorInvalidValue;
    if (all == 0) return cudaSuccess;
    job.width = (tmap_u32)of->width, job.height = (tmap_u32)of->height;
    job.depth = (tmap_u32)of->depth, job.wide = of->form, job.images = of->images;
    tmapi_label_box(of, TMAPI_LABEL_BOX - 5, job.log);
    job.across = (tmap_u32)((of->width - 1) >> job.log[0]) + 1;
    job.down = (tmap_u32)((of->height - 1) >> job.log[1]) + 1;
    measure.grid =
        tmap_mul_saturate((tmap_u64)job.across * job.down, ((of->depth - 1) >> job.log[2]) + 1);
    clear.grid = all / 256 + 1 < 65536 ? all / 256 + 1 : 65536;
    error = tmapi_launch((const void *)tmapi_label_clear_kernel, clear, of_clear, stream);
    if (error || !cells) return error;
    return tmapi_launch((const void *)tmapi_label_measure_kernel, measure, of_measure, stream);
}

#endif

#endif
