// SPDX-License-Identifier: MIT
// label_plan.h: the plan of label.h: sizes, the workspace, what is refused.
#ifndef TMAP_ADAPTIVE_LABEL_PLAN_H
#define TMAP_ADAPTIVE_LABEL_PLAN_H

#include "label_input.h"

// Forms of labels.
#define TMAP_LABEL_INT32 0 // for maps that cannot have more than 2^31 - 1 components
#define TMAP_LABEL_INT64 1

// A map. The cell of column x and row y stands at cells[y * pitch + x]. width, height: columns and
// rows, 1 to 2^31 - 1. pitch: cells from a row to the next, at least width, below 2^32. type: of
// cells, TMAP_LABEL_MASK and so on (label_input.h). connectivity: 4: neighbours share an edge; 8:
// an edge or a corner. background: cells of this value belong to no component, if has_background;
// one that no cell can have is none. A mask's background is 0 always.
typedef struct tmap_label_map {
    tmap_u64 width, height, pitch;
    double background;
    int has_background;
    int type;
    int connectivity;
} tmap_label_map;

// What tmap_label_plan_make makes. workspace: the bytes that tmap_label needs for it. The other
// fields are for tmap_label.
typedef struct tmap_label_plan {
    tmap_label_map map;
    int form;
    tmap_u64 workspace;
    tmap_u32 blocks;
    tmap_u32 threads;    // of a block of the first kernel
    tmap_u32 shared;     // bytes of shared memory that a block can have on the device
    tmapi_label_job job; // without addresses
} tmap_label_plan;

// The most components that a map of this size, type and connectivity can have.
TMAP_FN tmap_u64 tmapi_label_most(const tmap_label_map *map) {
    const tmap_u64 cells = tmap_mul_saturate(map->width, map->height);
    if (map->type != TMAP_LABEL_MASK) return cells;
    if (map->connectivity == 8) return (map->width + 1) / 2 * ((map->height + 1) / 2);
    return cells / 2 + cells % 2;
}

// Parts of the workspace, one after the other. Returns the end.
TMAP_FN tmap_u64 tmapi_label_part(tmap_u64 *end, tmap_u64 bytes) {
    const tmap_u64 at = *end;
    *end += (bytes + 255) / 256 * 256;
    return at;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Sets the addresses of a workspace's parts. bytes: how many they have.
static inline void tmapi_label_place_all(tmapi_label_job *job, tmap_u64 w, tmap_u64 *bytes) {
    const tmap_u64 blocks = job->bx * job->by, rows = job->by * job->rows;
    tmap_u64 end = 0;
    job->in = (tmap_u32 *)(w + tmapi_label_part(&end, rows * job->words * 4));
    job->starts = job->in;
    if (job->type != TMAP_LABEL_MASK)
        job->starts = (tmap_u32 *)(w + tmapi_label_part(&end, rows * job->words * 4));
    job->count = (tmap_u32 *)(w + tmapi_label_part(&end, job->counts * 4));
    job->chunk = (tmap_u64 *)(w + tmapi_label_part(&end, (job->counts + TMAPI_LABEL_CHUNK - 1) /
                                                             TMAPI_LABEL_CHUNK * 8));
    job->used = (tmap_u32 *)(w + tmapi_label_part(&end, blocks * 4));
    job->parent = (tmap_u32 *)(w + tmapi_label_part(&end, blocks * job->nodes * 4));
    job->key = (tmap_u64 *)(w + tmapi_label_part(&end, blocks * job->nodes * 8));
    job->edge = (unsigned short *)(w + tmapi_label_part(&end, rows * job->bx * 4));
    job->node_label =
        (void *)(w + tmapi_label_part(&end, blocks * job->nodes * (job->wide ? 8 : 4)));
    job->ticket = (tmap_u32 *)(w + tmapi_label_part(&end, 4));
    *bytes = end;
}

// A background as the bits of a value; 0 if there is none.
static inline int tmapi_label_background(const tmap_label_map *map, int *bits) {
    const double b = map->background;
    *bits = 0;
    if (!map->has_background || map->type == TMAP_LABEL_MASK) return 0;
    if (map->type == TMAP_LABEL_F32) {
        union {
            float f;
            int i;
        } u;
        if (b == b && !(b - b) && !(b >= -3.4028234663852886e38 && b <= 3.4028234663852886e38))
            return 0;
        u.f = (float)b, *bits = u.f == 0 ? 0 : u.i;
        return (double)u.f == b;
    }
    if (!(b >= -2147483648. && b <= 2147483647.)) return 0;
    *bits = (int)b;
    return (double)*bits == b;
}

// Makes a plan for the current device.
// map: as above. form: of labels, TMAP_LABEL_INT32 or TMAP_LABEL_INT64.
// Returns cudaErrorInvalidValue, and leaves the plan as it is, where an argument is none of these,
// where 32 bits may be too few for labels, or where the map has more than 3 * 10^10 cells; else the
// error of asking the device.
// Cost: none on the device. A workspace has 0.4 bytes a cell for a mask and 1.3 for values, more
// for a map that is narrower than 1024.
static inline cudaError_t tmap_label_plan_make(const tmap_label_map *map, int form,
                                               tmap_label_plan *plan) {
    const tmap_u64 side = 0x7fffffffull;
    tmap_label_plan p;
    tmapi_label_job *job = &p.job;
    tmap_u32 columns;
    int mask, device = 0, shared = 0;
    cudaError_t error;
    if (!map || !plan || map->width < 1 || map->height < 1 || map->width > side ||
        map->height > side || map->pitch < map->width || map->pitch >> 32 ||
        (unsigned)map->type > TMAP_LABEL_F32 ||
        (map->connectivity != 4 && map->connectivity != 8) || (unsigned)form > TMAP_LABEL_INT64)
        return cudaErrorInvalidValue;
    if (form == TMAP_LABEL_INT32 && tmapi_label_most(map) > side) return cudaErrorInvalidValue;
    error = cudaGetDevice(&device);
    if (!error)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error) return error;
    mask = map->type == TMAP_LABEL_MASK;
    p.map = *map, p.form = form;
    job->cells = 0, job->labels = 0, job->found = 0;
    job->width = map->width, job->height = map->height, job->pitch = map->pitch;
    job->type = map->type, job->eight = map->connectivity == 8, job->wide = form;
    job->has_background = tmapi_label_background(map, &job->background);
    job->rows = mask ? TMAPI_LABEL_ROWS_MASK : TMAPI_LABEL_ROWS_VALUES;
    job->slots = mask ? TMAPI_LABEL_SLOTS_MASK : TMAPI_LABEL_SLOTS_VALUES;
    p.threads = TMAPI_LABEL_WARPS * 32, p.shared = (tmap_u32)shared;
    if (tmapi_label_shared_local(job->rows * job->slots) > p.shared) job->rows /= 2, p.threads /= 2;
    job->shift = mask ? 9 : 10;
    job->bx = (tmap_u32)((map->width + TMAPI_LABEL_CELLS - 1) / TMAPI_LABEL_CELLS);
    job->by = (map->height + job->rows - 1) / job->rows;
    job->words = (tmap_u64)job->bx * TMAPI_LABEL_WORDS;
    columns = map->width < TMAPI_LABEL_CELLS ? (tmap_u32)map->width : TMAPI_LABEL_CELLS;
    job->nodes = mask ? (columns + 1) / 2 * 2 : columns * 2; // of the first and the last row
    if (job->bx > 1) job->nodes += mask ? job->rows : 2 * job->rows;
    job->nodes = (job->nodes + 3) / 4 * 4; // so many labels are a multiple of 16 bytes
    job->counts = job->by * job->rows * job->bx;
    if (tmap_mul_saturate(job->bx * job->by, job->nodes) > 0xffffffffull)
        return cudaErrorInvalidValue;
    p.blocks = (tmap_u32)(job->bx * job->by);
    tmapi_label_place_all(job, 0, &p.workspace);
    *plan = p;
    return cudaSuccess;
}

#endif
#endif
