// SPDX-License-Identifier: MIT
// label_tools.h: what is done with labels: pairs of components that touch and the area between
// them, small components removed, holes filled.
//
//     tmap_label_contacts(&plan.array, labels, contacts, room, found, stream);
//     tmap_label_dust(&plan.array, labels, shapes, components, least, stream);
//     tmap_label_fill(&plan.array, labels, shapes, components, mask, stream);
//
// Contacts are counted as label_measure.h measures: a block of threads takes a box of 2^15 cells,
// and a table in shared memory collects its pairs. Their table in global memory has open addressing
// where a larger pair displaces a smaller one, so that places do not depend on the order in which
// blocks insert (Amble and Knuth, Ordered hash tables, 1974). A second launch adds the areas.
#ifndef TMAP_RASTER_LABEL_TOOLS_H
#define TMAP_RASTER_LABEL_TOOLS_H

#include "label_measure.h"

// Two components that touch. pair: the lower label << 32 | the higher one. area: faces of cells
// between them; 0: an entry without a pair.
typedef struct tmap_label_contact {
    tmap_u64 pair, area;
} tmap_label_contact;

#if TMAP_CUDA && !TMAP_NVRTC

// ---- contacts -----------------------------------------------------------------------------------

// The argument of the kernel. limit: pairs beyond which the table is too full. areas: 0: pairs are
// inserted, 1: their areas are added.
typedef struct tmapi_label_touching {
    const void *labels;
    tmap_label_contact *contacts;
    tmap_u64 *found, room, limit;
    tmap_u32 width, height, depth, across, down, log[3]; // across, down: boxes
    int wide, areas;
} tmapi_label_touching;

// The first place of a pair, and the place where it is; `room` if it is nowhere.
TMAP_DEVICE tmap_u64 tmapi_label_pair_first(const tmapi_label_touching *job, tmap_u64 pair) {
    tmap_u32 hash = (tmap_u32)pair * 0x9e3779b1u ^ (tmap_u32)(pair >> 32) * 0x85ebca6bu;
    hash = (hash ^ hash >> 15) * 0xc2b2ae35u;
    return (tmap_u64)(hash ^ hash >> 16) * job->room >> 32;
}
TMAP_DEVICE tmap_u64 tmapi_label_pair_find(const tmapi_label_touching *job, tmap_u64 pair) {
    tmap_u64 at = tmapi_label_pair_first(job, pair);
    for (tmap_u64 k = 0; k < job->room; ++k) {
        const tmap_u64 there = *(volatile tmap_u64 *)&job->contacts[at].pair;
        if (there == pair) return at;
        if (there < pair) break;
        at = at + 1 == job->room ? 0 : at + 1;
    }
    return job->room;
}

// Inserts a pair, unless it is there. Counts it, or marks a table that is too full.
TMAP_DEVICE void tmapi_label_pair_insert(const tmapi_label_touching *job, tmap_u64 pair) {
    tmap_u64 at = tmapi_label_pair_first(job, pair);
    if (*(volatile tmap_u64 *)job->found >= job->limit) {
        if (tmapi_label_pair_find(job, pair) == job->room) atomicMax(job->found, job->room + 1);
        return;
    }
    for (tmap_u64 k = 0; k < job->room;) {
        tmap_u64 *place = &job->contacts[at].pair;
        const tmap_u64 there = *(volatile tmap_u64 *)place;
        if (there == pair) return;
        if (there < pair) {
            if (atomicCAS(place, there, pair) != there) continue;
            if (there == 0) {
                atomicAdd(job->found, 1ull);
                return;
            }
            pair = there; // goes on from here
        }
        at = at + 1 == job->room ? 0 : at + 1, ++k;
    }
    atomicMax(job->found, job->room + 1);
}

// A part of the area of a pair, or the pair.
TMAP_DEVICE void tmapi_label_pair_add(const tmapi_label_touching *job, tmap_u64 pair,
                                      tmap_u32 area) {
    if (!job->areas)
        tmapi_label_pair_insert(job, pair);
    else {
        const tmap_u64 at = tmapi_label_pair_find(job, pair);
        if (at < job->room) atomicAdd(&job->contacts[at].area, (tmap_u64)area);
    }
}

// The label of cell x of a row; 0 outside the map, and if it has more than 32 bits.
TMAP_DEVICE tmap_u32 tmapi_label_touching_of(const tmapi_label_touching *job, tmap_u32 x,
                                             tmap_u32 y, tmap_u32 z) {
    const tmap_u64 cell = ((tmap_u64)z * job->height + y) * job->width + x;
    if (x >= job->width || y >= job->height || z >= job->depth) return 0;
    if (!job->wide) return ((const tmap_u32 *)job->labels)[cell];
    const tmap_u64 label = ((const tmap_u64 *)job->labels)[cell];
    return label >> 32 ? 0 : (tmap_u32)label;
}

// A block a box of 32 cells a row, a warp a run of its rows, a lane a cell. Each cell looks at the
// next one along each axis.
static __global__ void __launch_bounds__(TMAPI_LABEL_MEASURE)
    tmapi_label_touching_kernel(tmapi_label_touching job) {
    __shared__ tmap_u64 pairs[TMAPI_LABEL_TABLE];
    __shared__ tmap_u32 areas[TMAPI_LABEL_TABLE];
    const tmap_u32 ly = job.log[1], rows = 1u << (ly + job.log[2]), lane = threadIdx.x % 32;
    const tmap_u32 x = blockIdx.x % job.across * 32 + lane, row0 = blockIdx.x / job.across;
    const tmap_u32 y0 = row0 % job.down << ly, z0 = row0 / job.down << job.log[2];
    const tmap_u32 run = (rows * 32 + blockDim.x - 1) / blockDim.x, begin = threadIdx.x / 32 * run;
    tmap_u32 below = 0; // the cell of the next row
    if (job.areas && *job.found > job.room) return;
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_TABLE; i += blockDim.x) pairs[i] = areas[i] = 0;
    __syncthreads();
    for (tmap_u32 row = begin; row < begin + run && row < rows; ++row) {
        const tmap_u32 y = y0 + (row & ((1u << ly) - 1)), z = z0 + (row >> ly);
        const int first = row == begin || y == y0;
        const tmap_u32 own = first ? tmapi_label_touching_of(&job, x, y, z) : below;
        below = tmapi_label_touching_of(&job, x, y + 1, z);
        const tmap_u32 behind = tmapi_label_touching_of(&job, x, y, z + 1);
        tmap_u32 right = __shfl_down_sync(~0u, own, 1);
        if (lane == 31) right = tmapi_label_touching_of(&job, x + 1, y, z);
        const tmap_u32 next[3] = {right, below, behind};
#pragma unroll
        for (tmap_u32 k = 0; k < 3; ++k) {
            const tmap_u32 low = own < next[k] ? own : next[k], high = own ^ next[k] ^ low;
            const tmap_u64 pair = (tmap_u64)low << 32 | high;
            if (low == 0 || low == high) continue;
            const tmap_u32 at = tmapi_label_table_find(pairs, pair);
            if (at < TMAPI_LABEL_TABLE)
                atomicAdd(areas + at, 1u);
            else
                tmapi_label_pair_add(&job, pair, 1);
        }
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < TMAPI_LABEL_TABLE; i += blockDim.x)
        if (pairs[i]) tmapi_label_pair_add(&job, pairs[i], areas[i]);
}

// Finds the pairs of labels of a picture or of a volume that touch over faces of cells, and the
// number of these faces. Label 0 touches nothing.
// of: the member `array` of a plan, or the extents of labels of the user's; not of a batch. labels:
// in device memory at a multiple of their size; those above 2^32 - 1 count as 0. contacts: receives
// a table of `room` entries, 1 to 2^32 - 1, in device memory at a multiple of 8; entries of area 0
// have no pair. A quarter more entries than there are pairs is enough. found: receives the number
// of pairs, or a number above `room` if the table was too small; then its contents are undefined.
// Returns cudaErrorInvalidValue for an argument outside these ranges and for memory that overlaps,
// else the first error of its calls. Allocates nothing, does not wait, and can be captured. The
// table is the same in every run.
// Cost: labels are read twice; an atomic in shared memory for each face, integer atomics for each
// pair of each box.
// Example: labels 1 1 2 / 1 3 2: pairs (1, 2), (1, 3), (2, 3) with areas 1, 2, 1.
static inline cudaError_t tmap_label_contacts(const tmap_label_array *of, const void *labels,
                                              tmap_label_contact *contacts, tmap_u64 room,
                                              tmap_u64 *found, cudaStream_t stream) {
    tmapi_launch_shape shape = {0, TMAPI_LABEL_MEASURE, 0};
    tmapi_label_touching job = {labels, contacts,  found, room, room - room / 8, 0, 0, 0, 0,
                                0,      {5, 0, 0}, 0,     0};
    void *arguments[] = {&job};
    if (!of || !tmapi_label_is_array(of) || of->images) return cudaErrorInvalidValue;
    const tmap_u32 each = of->form == TMAP_LABEL_INT64 ? 8 : 4;
    const tmap_u64 cells = tmap_mul_saturate(of->width * of->height, of->depth);
    const tmapi_raster_memory memory[3] = {{contacts, room * sizeof *contacts},
                                           {found, sizeof *found},
                                           {labels, tmap_mul_saturate(cells, each)}};
    if (room == 0 || room >> 32 || !tmapi_raster_aligned(contacts, 8) ||
        !tmapi_raster_aligned(found, 8) || (cells && !tmapi_raster_aligned(labels, each)) ||
        tmapi_raster_overlap(memory, 2, 3))
        return cudaErrorInvalidValue;
    cudaError_t error = cudaMemsetAsync(contacts, 0, room * sizeof *contacts, stream);
    if (!error) error = cudaMemsetAsync(found, 0, sizeof *found, stream);
    if (error || !cells) return error;
    job.width = (tmap_u32)of->width, job.height = (tmap_u32)of->height;
    job.depth = (tmap_u32)of->depth, job.wide = of->form;
    tmap_label_array rows = *of; // boxes do not grow along a row
    rows.width = 32;
    tmapi_label_box(&rows, TMAPI_LABEL_BOX - 5, job.log);
    job.across = (tmap_u32)((of->width - 1) >> job.log[0]) + 1;
    job.down = (tmap_u32)((of->height - 1) >> job.log[1]) + 1;
    shape.grid =
        tmap_mul_saturate((tmap_u64)job.across * job.down, ((of->depth - 1) >> job.log[2]) + 1);
    for (; job.areas < 2 && !error; ++job.areas)
        error = tmapi_launch((const void *)tmapi_label_touching_kernel, shape, arguments, stream);
    return error;
}

// ---- dust and holes -----------------------------------------------------------------------------

// The argument of the kernel. mask: null: small components are removed; else holes are filled.
typedef struct tmapi_label_edit {
    tmap_label_array of;
    void *labels;
    const tmap_label_shape *shapes;
    tmap_u64 components, least;
    unsigned char *mask;
} tmapi_label_edit;

// 1 if a component touches no border. Slices have borders in volumes of more than one.
TMAP_DEVICE int tmapi_label_is_inside(const tmap_label_array *of, const tmap_label_shape *s) {
    return s->left && s->top && s->right + 1 < of->width && s->bottom + 1 < of->height &&
           (of->images || of->depth == 1 || (s->front && s->back + 1 < of->depth));
}

static __global__ void __launch_bounds__(256) tmapi_label_edit_kernel(tmapi_label_edit job) {
    const int wide = job.of.form == TMAP_LABEL_INT64;
    const tmap_u64 slice = job.of.width * job.of.height, cells = slice * job.of.depth;
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < cells; i += gridDim.x * 256ull) {
        if (job.mask && job.mask[i]) continue;
        const tmap_u64 label =
            wide ? ((const tmap_u64 *)job.labels)[i] : ((const tmap_u32 *)job.labels)[i];
        if (label == 0 || label > job.components) continue;
        const tmap_u64 before = job.of.images ? i / slice * job.components : 0;
        const tmap_label_shape *s = job.shapes + before + label - 1;
        if (job.mask) {
            if (tmapi_label_is_inside(&job.of, s)) job.mask[i] = 1;
        } else if (s->area < job.least) {
            if (wide)
                ((tmap_u64 *)job.labels)[i] = 0;
            else
                ((tmap_u32 *)job.labels)[i] = 0;
        }
    }
}

static inline cudaError_t tmapi_label_edit_run(const tmapi_label_edit *job, cudaStream_t stream) {
    const tmap_label_array *of = &job->of;
    if (!tmapi_label_is_array(of)) return cudaErrorInvalidValue;
    const tmap_u32 each = of->form == TMAP_LABEL_INT64 ? 8 : 4;
    const tmap_u64 cells = tmap_mul_saturate(of->width * of->height, of->depth);
    const tmap_u64 all = tmap_mul_saturate(job->components, of->images ? of->depth : 1);
    const tmapi_raster_memory memory[3] = {{job->mask, job->mask ? cells : 0},
                                           {job->labels, tmap_mul_saturate(cells, each)},
                                           {job->shapes, all * sizeof *job->shapes}};
    tmapi_launch_shape shape = {cells / 256 + 1 < 65536 ? cells / 256 + 1 : 65536, 256, 0};
    void *arguments[] = {(void *)job};
    if (all >> 40 || (all && !tmapi_raster_aligned(job->shapes, 8)) ||
        (cells && !tmapi_raster_aligned(job->labels, each)) || tmapi_raster_overlap(memory, 2, 3))
        return cudaErrorInvalidValue;
    if (!cells || !all) return cudaSuccess;
    return tmapi_launch((const void *)tmapi_label_edit_kernel, shape, arguments, stream);
}

// Removes small components: their cells get label 0. The other labels stay, so numbers have gaps;
// tmap_label3 of these labels, TMAP_LABEL3_I32 without 0 (nodata), numbers them without.
// of, labels, shapes, components: as of tmap_label_measure. least: cells of the smallest component
// that stays.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, an argument outside its range and
// for memory that overlaps, else the launch's error. Cost: labels are read once.
// Example: labels 1 1 0 2, least 2: 1 1 0 0.
static inline cudaError_t tmap_label_dust(const tmap_label_array *of, void *labels,
                                          const tmap_label_shape *shapes, tmap_u64 components,
                                          tmap_u64 least, cudaStream_t stream) {
    if (!of) return cudaErrorInvalidValue;
    const tmapi_label_edit job = {*of, labels, shapes, components, least, 0};
    return tmapi_label_edit_run(&job, stream);
}

// Fills the holes of a mask: components of 0 that touch no border become 1. A slice of a volume is
// a border if there is more than one.
// of, labels, shapes, components: of the mask's *values*, 0 among them, with the neighbours of the
// background: tmap_label of TMAP_RASTER_U8 with 4, or tmap_label3 of TMAP_LABEL3_U8 with 6; and as
// of tmap_label_measure. mask: a byte a cell, without gaps between rows and slices.
// Returns as tmap_label_dust does. Cost: the mask is read once, and labels where it is 0.
// Example: the mask 1 1 1 / 1 0 1 / 1 1 1: all cells become 1; with 0 in a corner and 8 neighbours
// no cell does.
static inline cudaError_t tmap_label_fill(const tmap_label_array *of, const void *labels,
                                          const tmap_label_shape *shapes, tmap_u64 components,
                                          unsigned char *mask, cudaStream_t stream) {
    if (!of || (tmap_mul_saturate(of->width * of->height, of->depth) && !mask))
        return cudaErrorInvalidValue;
    const tmapi_label_edit job = {*of, (void *)labels, shapes, components, 0, mask};
    return tmapi_label_edit_run(&job, stream);
}

#endif

#endif
