// SPDX-License-Identifier: MIT
// label3_measure.h: measures each component of a labelled volume, or of each image of a batch: its
// volume, its bounding box and its first cell.
//
//     tmap_label3(&plan, cells, workspace, labels, count, stream); // label3.h
//     tmap_label3_measure(&plan, labels, components, shapes, stream);
//
// As label_measure.h: a block of threads takes a tile of the plan and collects the parts of
// components in a table in shared memory. Equal labels of 32 cells of a row are counted together.
// All numbers are integers, so shapes are the same in every run.
#ifndef TMAP_RASTER_LABEL3_MEASURE_H
#define TMAP_RASTER_LABEL3_MEASURE_H

#include "label3.h"

// A component. area: its number of cells; 0: the component does not exist, and the other members
// are undefined. first: its first cell: (z * height + y) * width + x. left, right: its first and
// last column; top, bottom: its first and last row; front, back: its first and last slice, in a
// batch those of its image.
typedef struct tmap_label3_shape {
    tmap_u64 area, first;
    tmap_u32 left, top, front, right, bottom, back;
} tmap_label3_shape;

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_LABEL3_MEASURE 512u // threads

// The components in a tile. of.last: the last slice; of.first: the number of a cell in the tile,
// whose extents are powers of two.
typedef struct tmapi_label3_table {
    tmapi_label_table of;
    tmap_u32 top[TMAPI_LABEL_MEASURE_TABLE], bottom[TMAPI_LABEL_MEASURE_TABLE];
} tmapi_label3_table;

// Adds a part of a component to its shape.
TMAP_DEVICE void tmapi_label3_shape_add(tmap_label3_shape *to, tmap_label3_shape part) {
    atomicAdd(&to->area, part.area);
    if (*(volatile tmap_u64 *)&to->first > part.first) atomicMin(&to->first, part.first);
    tmapi_label_least(&to->left, part.left), tmapi_label_largest(&to->right, part.right);
    tmapi_label_least(&to->top, part.top), tmapi_label_largest(&to->bottom, part.bottom);
    tmapi_label_least(&to->front, part.front), tmapi_label_largest(&to->back, part.back);
}

static __global__ void __launch_bounds__(256)
    tmapi_label3_clear_kernel(tmap_label3_shape *shapes, tmap_u64 components) {
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < components; i += gridDim.x * 256ull) {
        tmap_label3_shape none;
        none.area = 0, none.first = ~0ull, none.left = none.top = none.front = ~0u;
        none.right = none.bottom = none.back = 0;
        shapes[i] = none;
    }
}

// A block a tile. components: larger labels are ignored; in a batch that many shapes an image.
static __global__ void __launch_bounds__(TMAPI_LABEL3_MEASURE)
    tmapi_label3_measure_kernel(tmapi_label3_job job, tmap_u64 components,
                                tmap_label3_shape *shapes) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmapi_label3_table *table = (tmapi_label3_table *)tmapi_label3_memory;
    tmapi_label_table *of = &table->of;
    const tmapi_label3_at tile = tmapi_label3_place(&job, blockIdx.x << TMAPI_LABEL3_TILE);
    const tmap_u32 x0 = tile.x * 32, y0 = tile.y * job.gy, z0 = tile.z * job.gz;
    const tmap_u32 lx = job.lx + 5, ly = job.ly + job.gy - 1, lz = job.lz + job.gz - 1;
    const tmap_u32 lane = threadIdx.x % 32;
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_MEASURE_TABLE; i += blockDim.x) {
        of->label[i] = 0;
        of->first[i] = of->left[i] = table->top[i] = ~0u;
        of->area[i] = of->right[i] = table->bottom[i] = of->last[i] = 0;
    }
    __syncthreads();
    for (tmap_u32 from = threadIdx.x; from < 1u << (lx + ly + lz); from += 4 * blockDim.x) {
        tmap_u64 label[4];
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k) { // all loads before the first use
            const tmap_u32 s = from + k * blockDim.x, x = x0 + (s & ((1u << lx) - 1));
            const tmap_u32 y = y0 + (s >> lx & ((1u << ly) - 1)), z = s >> (lx + ly);
            label[k] = 0;
            if (x < job.width && y < job.height && z < 1u << lz && z0 + z < job.depth) {
                const tmap_u64 cell = ((tmap_u64)(z0 + z) * job.height + y) * job.width + x;
                label[k] = job.wide ? __ldcs((const tmap_u64 *)job.labels + cell)
                                    : __ldcs((const tmap_u32 *)job.labels + cell);
            }
        }
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k) {
            const tmap_u32 s = from + k * blockDim.x, x = s & ((1u << lx) - 1);
            const tmap_u32 y = s >> lx & ((1u << ly) - 1), z = s >> (lx + ly);
            const tmap_u32 same = __match_any_sync(~0u, label[k]), area = tmapi_raster_count(same);
            const tmap_u32 right = x + (31 - (tmap_u32)__clz((int)same)) - lane;
            if (label[k] == 0 || label[k] > components || (same & ((1u << lane) - 1))) continue;
            if (job.separate) label[k] += (z0 + z) * components;
            const tmap_u32 at = tmapi_label_table_find(of, label[k]);
            if (at < TMAPI_LABEL_MEASURE_TABLE) {
                atomicAdd(of->area + at, area);
                tmapi_label_least(of->first + at, s);
                tmapi_label_least(of->left + at, x), tmapi_label_largest(of->right + at, right);
                tmapi_label_least(table->top + at, y), tmapi_label_largest(table->bottom + at, y);
                tmapi_label_largest(of->last + at, z);
            } else {
                const tmap_u64 row = (tmap_u64)(z0 + z) * job.height + y0 + y;
                const tmap_label3_shape part = {
                    area,  row * job.width + x0 + x, x0 + x, y0 + y, z0 + z, x0 + right, y0 + y,
                    z0 + z};
                tmapi_label3_shape_add(shapes + label[k] - 1, part);
            }
        }
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_MEASURE_TABLE; i += blockDim.x) {
        const tmap_u32 s = of->first[i], x = x0 + (s & ((1u << lx) - 1));
        const tmap_u32 y = y0 + (s >> lx & ((1u << ly) - 1)), z = z0 + (s >> (lx + ly));
        const tmap_label3_shape part = {of->area[i],
                                        ((tmap_u64)z * job.height + y) * job.width + x,
                                        x0 + of->left[i],
                                        y0 + table->top[i],
                                        z,
                                        x0 + of->right[i],
                                        y0 + table->bottom[i],
                                        z0 + of->last[i]};
        if (of->label[i]) tmapi_label3_shape_add(shapes + of->label[i] - 1, part);
    }
}

// Measures the components of a labelled volume or batch: volume, bounding box, first cell.
// plan: the one used for tmap_label3. labels: written by tmap_label3, in device memory. components:
// labels 1 to components are measured, 0 to 2^40; usually the count that tmap_label3 wrote, in a
// batch the largest. shapes: `components` of them in device memory at a multiple of 8; that of
// label i is number i - 1. In a batch `components` for each image; that of label i of image z is
// number z * components + i - 1.
// Returns cudaErrorInvalidValue for an argument outside these ranges, or if a batch has more than
// 2^40 shapes; else the launches' error.
// Cost: one pass over the labels, and integer atomics for each component of each tile.
// Example: components = 3 for a volume of three stones; shapes[2].area is the third one's volume.
static inline cudaError_t tmap_label3_measure(const tmap_label3_plan *plan, const void *labels,
                                              tmap_u64 components, tmap_label3_shape *shapes,
                                              cudaStream_t stream) {
    tmapi_launch_shape clear = {0, 256, 0},
                       measure = {0, TMAPI_LABEL3_MEASURE, sizeof(tmapi_label3_table)};
    tmapi_label3_job job;
    tmap_u64 all;
    void *of_clear[] = {&shapes, &all}, *of_measure[] = {&job, &components, &shapes};
    cudaError_t error;
    if (!plan || !labels || (components && !shapes) || (tmap_u64)shapes % sizeof(tmap_u64))
        return cudaErrorInvalidValue;
    job = plan->job, job.labels = (void *)labels;
    all = tmap_mul_saturate(components, job.separate ? job.depth : 1);
    if (all >> 40) return cudaErrorInvalidValue;
    if (components == 0) return cudaSuccess;
    clear.grid = all / 256 + 1 < 65536 ? all / 256 + 1 : 65536, measure.grid = job.tiles;
    error = tmapi_launch((const void *)tmapi_label3_clear_kernel, clear, of_clear, stream);
    if (error) return error;
    return tmapi_launch((const void *)tmapi_label3_measure_kernel, measure, of_measure, stream);
}

#endif

#endif
