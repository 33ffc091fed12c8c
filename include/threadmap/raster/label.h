// SPDX-License-Identifier: MIT
// label.h: connected components of a map: each cell gets the number of its component.
//
// A component is a maximal set of cells joined by paths of neighbours: of non-zero cells in a mask,
// of cells with one value in a map of values. Components are numbered from 1 in the order of their
// first cells, row by row from the top and from left to right in a row, so labels are the same in
// every run and on every machine. Cells of no component get 0.
//
//     const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_MASK, 8};
//     tmap_label_plan plan;
//     tmap_label_plan_make(&map, TMAP_LABEL_INT32, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_label(&plan, cells, workspace, labels, count, stream); // label_measure.h: their shapes
//
// Six launches:
//     local, unite, roots   find components (label_rows.h)
//     sum     scans these counts: the first label of each row of a block
//     name    gives nodes their labels
//     write   gives cells their labels
// Between the launches the results of a block are stored in the memory of its labels.
#ifndef TMAP_RASTER_LABEL_H
#define TMAP_RASTER_LABEL_H

#include "label_rows.h"

// ---- plans --------------------------------------------------------------------------------------

#define TMAPI_LABEL_PARTS 1024u // the most groups of 32 components of a row, of a block

// A plan, made by tmap_label_plan_make. workspace: bytes that tmap_label needs.
typedef struct tmap_label_plan {
    tmap_raster_map map;
    tmap_label_array array; // of the labels
    tmap_u64 workspace;
    tmap_u32 blocks, threads, shared; // threads of `local`; most shared memory of a block
    tmapi_label_job job;              // with null addresses
} tmap_label_plan;

// Bytes of shared memory of the last kernel.
TMAP_FN tmap_u32 tmapi_label_write_bytes(const tmapi_label_job *job, tmap_u32 warps) {
    const tmap_u32 size = job->wide ? 8 : 4;
    return (4 + size) * TMAPI_LABEL_PARTS + size * job->nodes +
           warps * (TMAPI_LABEL_WORDS * 16 + size * job->slots);
}

// The most components that a map of this size, type and connectivity can have.
TMAP_FN tmap_u64 tmapi_label_most(const tmap_raster_map *map) {
    const tmap_u64 cells = tmap_mul_saturate(map->width, map->height);
    if (map->type != TMAP_RASTER_MASK) return cells;
    if (map->connectivity == 8) return (map->width + 1) / 2 * ((map->height + 1) / 2);
    return cells / 2 + cells % 2;
}

// Makes the plan of tmap_label_plan_make from facts, for the shared memory that a block can have.
// map: its ranges are in raster/map.h; pitch below 2^32. form: of labels, TMAP_LABEL_INT32 or
// TMAP_LABEL_INT64. plan->workspace: 0.4 bytes a cell for a mask and 1.3 for values, more for a map
// narrower than 1024. Writes *plan only on success.
// Returns TMAP_EINVAL for a null pointer, an argument outside its range, and TMAP_LABEL_INT32 for a
// map that can have more than 2^31 - 1 components; TMAP_ERANGE above about 3 * 10^10 cells.
TMAP_FN int tmap_label_plan_of(const tmap_raster_map *map, int form, const tmap_facts *facts,
                               tmap_label_plan *plan) {
    tmap_label_plan p;
    if (!tmapi_raster_valid(map, 0, TMAP_RASTER_MASK) || map->pitch >> 32 ||
        (unsigned)form > TMAP_LABEL_INT64 || !facts || !plan)
        return TMAP_EINVAL;
    if (form == TMAP_LABEL_INT32 && tmapi_label_most(map) > 0x7fffffff) return TMAP_EINVAL;
    p.map = *map, p.shared = facts->device.block_shared;
    p.array.width = map->width, p.array.height = map->height, p.array.depth = 1;
    p.array.form = form, p.array.images = 0;
    if (!tmapi_label_job_make(map, map->type, tmapi_label_rows_of(map->type, p.shared, 0), &p.job))
        return TMAP_ERANGE;
    p.job.wide = form, p.threads = tmapi_label_threads(&p.job);
    p.blocks = (tmap_u32)(p.job.bx * p.job.by);
    p.workspace = tmapi_label_divide(&p.job, 0);
    *plan = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// ---- local: cells to words of rows --------------------------------------------------------------

// 1 if a row of a mask can be read in pieces of 16 bytes.
TMAP_DEVICE int tmapi_label_whole(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y) {
    const unsigned char *row = (const unsigned char *)job->cells + y * job->pitch + x;
    return y < job->height && x + TMAPI_LABEL_CELLS <= job->width && (tmap_u64)row % 16 == 0;
}

// Reads the halves of such a row; converts them to words.
TMAP_DEVICE void tmapi_label_read(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y,
                                  uint4 *halves) {
    const uint4 *row = (const uint4 *)((const unsigned char *)job->cells + y * job->pitch + x);
    halves[0] = __ldcs(row + threadIdx.x % 32), halves[1] = __ldcs(row + threadIdx.x % 32 + 32);
}
TMAP_DEVICE tmap_u32 tmapi_label_word(const uint4 *halves) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 both = tmapi_label_pack16(halves[0]) | tmapi_label_pack16(halves[1]) << 16;
    const tmap_u32 low = __shfl_sync(~0u, both, 2 * lane % 32);
    const tmap_u32 high = __shfl_sync(~0u, both, 2 * lane % 32 + 1);
    return __byte_perm(low, high, lane < 16 ? 0x5410 : 0x7632);
}

// Converts any row to words, byte by byte; 0 outside the map.
TMAP_DEVICE tmap_u32 tmapi_label_word_slow(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y) {
    const tmap_u32 lane = threadIdx.x % 32;
    const unsigned char *row = (const unsigned char *)job->cells + y * job->pitch + x;
    tmap_u32 word = 0;
    if (y >= job->height) return 0;
#pragma unroll 8
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u32 at = k * 32 + lane;
        tmapi_raster_ballot(x + at < job->width && row[at] != 0, k, &word);
    }
    return word;
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, 2)
    tmapi_label_mask_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    const tmapi_label_block b = tmapi_label_block_at(&job, tmapi_label_memory, 0);
    const tmap_u32 each = b.each, r0 = threadIdx.x / 32 * each;
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u64 x = a.x, y = a.y + r0;
    tmapi_label_row row[4];
    uint4 bytes[4][2];
    int whole = 1;
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) whole = whole && tmapi_label_whole(&job, x, y + r);
    if (whole) {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) tmapi_label_read(&job, x, y + r, bytes[r]);
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word(bytes[r]);
    } else {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word_slow(&job, x, y + r);
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r)
        row[r].starts = row[r].in & ~tmapi_label_from_left(row[r].in), row[r].slot = 0;
    tmapi_label_components(&job, b, row, 0);
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, 2)
    tmapi_label_values_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    const tmapi_label_block b = tmapi_label_block_at(&job, tmapi_label_memory, 1);
    const tmap_u32 each = b.each, r0 = threadIdx.x / 32 * each;
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_xy64 at = {a.x, a.y + r0};
    tmapi_label_row row[4];
    tmap_u32 same[TMAPI_LABEL_ROWS_VALUES / TMAPI_LABEL_WARPS][3];
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) row[r].slot = 0;
    tmapi_label_values(&job, at, r0 > 0, row, same, (int)each);
    tmapi_label_components(&job, b, row, same);
}

// ---- sum, name: labels of rows and of nodes -----------------------------------------------------

// Number of components with first cells before those of a block's row.
TMAP_DEVICE tmap_u64 tmapi_label_before_row(const tmapi_label_job *job, tmap_u64 y,
                                            tmap_u32 column) {
    return tmapi_label_before(&job->scan, y * job->bx + column);
}

// Position of a node's number in its row, among the bits of the block.
TMAP_DEVICE tmap_u32 tmapi_label_place(const tmapi_label_job *job, tmap_u64 key, tmap_u64 y0) {
    return (tmap_u32)((key >> 32) - y0) << job->shift | (key & 1023);
}

// Sets the bits of a block's components with first cells in other blocks, because the numbers in a
// row count them too. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_label_dead(const tmapi_label_job *job, tmap_u32 *dead) {
    const tmap_u32 block = blockIdx.x, used = job->used[block];
    const tmap_u64 y0 = (tmap_u64)(block / job->bx) * job->rows;
    for (tmap_u32 i = threadIdx.x; i < job->rows << job->shift >> 5; i += blockDim.x) dead[i] = 0;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = block * job->nodes + i;
        if (job->parent[node] != node) {
            const tmap_u32 at = tmapi_label_place(job, job->key[node], y0);
            atomicOr(dead + at / 32, 1u << at % 32);
        }
    }
    __syncthreads();
}

// Labels the block's nodes that are roots.
static __global__ void __launch_bounds__(128) tmapi_label_name_kernel(tmapi_label_job job) {
    __shared__ tmap_u32 dead[TMAPI_LABEL_PARTS];
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u32 used = job.used[a.block];
    if (used == 0) return;
    tmapi_label_dead(&job, dead);
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = a.block * job.nodes + i;
        tmap_u64 key, label;
        tmap_u32 at, first;
        if (job.parent[node] != node) continue;
        key = job.key[node], at = tmapi_label_place(&job, key, a.y);
        first = at >> job.shift << job.shift;
        label = tmapi_label_before_row(&job, key >> 32, a.column) + (at - first) + 1;
        label -= tmapi_raster_count(dead[at / 32] & ((1u << at % 32) - 1));
        for (first /= 32; first < at / 32; ++first) label -= tmapi_raster_count(dead[first]);
        tmapi_label_put(job.node_label, node, label, job.wide);
    }
}

// ---- write: labels of cells ---------------------------------------------------------------------

#define TMAPI_LABEL_WRITE_WARPS      16u
#define TMAPI_LABEL_WRITE_WARPS_WIDE 8u

// Shared memory. dead: of tmapi_label_dead. base: the label of the first of 32 components of a row.
// nodes: labels of the block's nodes. For each warp, names: labels of its row's slots; line: words
// of its row: in, starts, slot.
typedef struct tmapi_label_room {
    tmap_u32 *dead;
    void *base, *nodes, *names;
    uint4 *line;
} tmapi_label_room;

TMAP_DEVICE tmapi_label_room tmapi_label_rooms(const tmapi_label_job *job, uint4 *memory,
                                               const int wide) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32, size = wide ? 8 : 4;
    char *at = (char *)memory;
    tmapi_label_room room;
    room.dead = (tmap_u32 *)at, at += 4 * TMAPI_LABEL_PARTS;
    room.base = at, at += size * TMAPI_LABEL_PARTS;
    room.nodes = at, at += size * job->nodes;
    room.line = (uint4 *)at + warp * TMAPI_LABEL_WORDS, at += warps * TMAPI_LABEL_WORDS * 16;
    room.names = at + warp * size * job->slots;
    return room;
}

// Computes the labels of nodes, and of components inside the block, row by row.
TMAP_DEVICE void tmapi_label_bases(const tmapi_label_job *job, const tmapi_label_room *room,
                                   const int wide) {
    const tmapi_label_area a = tmapi_label_area_here(job);
    const tmap_u32 used = job->used[a.block], parts = 1u << job->shift >> 5;
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 root = job->parent[a.block * job->nodes + i];
        tmapi_label_put(room->nodes, i, tmapi_label_get(job->node_label, root, wide), wide);
    }
    for (tmap_u32 r = threadIdx.x; r < job->rows && a.y + r < job->height; r += blockDim.x) {
        tmap_u64 label = tmapi_label_before_row(job, a.y + r, a.column) + 1;
        for (tmap_u32 k = 0; k < parts; ++k) {
            tmapi_label_put(room->base, r * parts + k, label, wide);
            label += 32 - tmapi_raster_count(room->dead[r * parts + k]);
        }
    }
}

// Computes the labels of a row's slots.
TMAP_DEVICE void tmapi_label_names(const tmapi_label_room *room, const tmap_u32 *codes,
                                   tmap_u32 total, const int wide) {
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < total; i += 32) {
        const tmap_u32 pair = codes[i];
#pragma unroll
        for (tmap_u32 k = 0; k < 2; ++k) {
            const tmap_u32 code = k ? pair >> 16 : pair & 0xffff, part = code / 32;
            tmap_u64 label;
            if (2 * i + k == 0 || 2 * i + k >= total) continue;
            if (code & TMAPI_LABEL_NODE)
                label = tmapi_label_get(room->nodes, code & ~TMAPI_LABEL_NODE, wide);
            else
                label = tmapi_label_get(room->base, part, wide) + code % 32 -
                        tmapi_raster_count(room->dead[part] & ((1u << code % 32) - 1));
            tmapi_label_put(room->names, 2 * i + k, label, wide);
        }
    }
}

// Writes four cells of a word, from cell `first` on.
TMAP_DEVICE void tmapi_label_four(const tmapi_label_room *room, uint4 word, tmap_u32 first,
                                  void *out, const int wide) {
    const tmap_u32 in = word.x >> first, starts = word.y >> first;
    tmap_u32 slot = word.z + tmapi_raster_count(word.y & ((1u << first) - 1));
    tmap_u64 v[4];
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        slot += starts >> k & 1;
        v[k] = in >> k & 1 ? tmapi_label_get(room->names, slot, wide) : 0;
    }
    tmapi_label_put4(out, v, wide);
}

TMAP_DEVICE void tmapi_label_write(const tmapi_label_job *job, uint4 *memory, const int wide) {
    const tmapi_label_area a = tmapi_label_area_here(job);
    const tmap_u32 lane = threadIdx.x % 32, size = wide ? 8 : 4;
    const tmapi_label_room room = tmapi_label_rooms(job, memory, wide);
    tmapi_label_dead(job, room.dead);
    tmapi_label_bases(job, &room, wide);
    __syncthreads();
    for (tmap_u32 r = threadIdx.x / 32; r < job->rows && a.y + r < job->height;
         r += blockDim.x / 32) {
        const tmap_u64 y = a.y + r, at = y * job->words + a.column * TMAPI_LABEL_WORDS + lane;
        char *out = (char *)job->labels + (y * job->width + a.x) * size;
        tmapi_label_row row, none;
        tmap_u32 total;
        row.in = job->in[at], row.slot = none.slot = none.in = none.starts = 0;
        row.starts = job->starts[at];
        if (job->type == TMAP_RASTER_MASK) row.starts = row.in & ~tmapi_label_from_left(row.in);
        total = (tmapi_label_slots(&row, &none, 0, 0) & 0xffff) - tmapi_label_blank(job, a.column);
        room.line[lane] = make_uint4(row.in, row.starts, row.slot, 0);
        tmapi_label_names(&room, (const tmap_u32 *)out, total, wide);
        __syncwarp();
        if (a.x + TMAPI_LABEL_CELLS <= job->width && (tmap_u64)out % 16 == 0) {
#pragma unroll 4
            for (tmap_u32 k = lane / 8; k < 32; k += 4)
                tmapi_label_four(&room, room.line[k], lane % 8 * 4,
                                 out + (k * 32 + lane % 8 * 4) * size, wide);
        } else {
            for (tmap_u32 k = 0; k < 32 && a.x + k * 32 < job->width; ++k) {
                const uint4 word = room.line[k];
                const tmap_u32 upto = 1u << lane | ((1u << lane) - 1);
                const tmap_u32 slot = word.z + tmapi_raster_count(word.y & upto);
                if (a.x + k * 32 + lane < job->width)
                    tmapi_label_put(
                        out, k * 32 + lane,
                        word.x >> lane & 1 ? tmapi_label_get(room.names, slot, wide) : 0, wide);
            }
        }
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS * 32)
    tmapi_label_write_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS_WIDE * 32)
    tmapi_label_write_wide_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 1);
}

// ---- labels -------------------------------------------------------------------------------------

// Makes the plan of the labels of a map on the current device: tmap_label_plan_of with its facts.
// Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for TMAP_ERANGE, or
// the error of a device query. Cost: calls that do not wait for the device.
static inline cudaError_t tmap_label_plan_make(const tmap_raster_map *map, int form,
                                               tmap_label_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_label_mask_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_label_plan_of(map, form, &facts, plan));
}

// Labels the components of a map.
// plan: that of the map. All pointers are device memory. cells: at a multiple of their size.
// workspace: plan->workspace bytes at a multiple of 16, with any content. labels: width * height
// int or long long (the form); that of column x and row y is number y * width + x. count:
// receives the number of components, at a multiple of 8. Calls that run at the same time need one
// workspace each.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, else the launches' error.
// Allocates nothing and does not synchronize, so the call can be captured.
// Cost: cells are read once and labels written once. The work in shared memory grows with the
// number of runs of cells in rows.
// Example: the mask 1 1 0 / 0 0 1 / 1 0 1 gives 1 1 0 / 0 0 2 / 3 0 2 and count 3 with 4
// neighbours, 1 1 0 / 0 0 1 / 2 0 1 and count 2 with 8.
static inline cudaError_t tmap_label(const tmap_label_plan *plan, const void *cells,
                                     void *workspace, void *labels, tmap_u64 *count,
                                     cudaStream_t stream) {
    tmapi_label_job job;
    tmap_u32 warps;
    if (!plan || !tmapi_raster_aligned(cells, tmap_raster_size(plan->map.type)) ||
        !tmapi_raster_aligned(workspace, 16) || !tmapi_raster_aligned(count, 8) ||
        !tmapi_raster_aligned(labels, plan->array.form == TMAP_LABEL_INT64 ? 8 : 4))
        return cudaErrorInvalidValue;
    job = plan->job;
    tmapi_label_divide(&job, (tmap_u64)workspace);
    job.cells = cells, job.labels = job.codes = labels, job.scan.total = count;
    job.code_column = TMAPI_LABEL_CELLS * (job.wide ? 8 : 4);
    job.code_row = job.width * (job.wide ? 8 : 4);
    warps = job.wide ? TMAPI_LABEL_WRITE_WARPS_WIDE : TMAPI_LABEL_WRITE_WARPS;
    while (tmapi_label_write_bytes(&job, warps) > plan->shared && warps > 1) warps /= 2;
    const tmap_u64 blocks = plan->blocks;
    const tmapi_raster_step steps[6] = {
        {job.type == TMAP_RASTER_MASK ? (const void *)tmapi_label_mask_kernel
                                      : (const void *)tmapi_label_values_kernel,
         {blocks, plan->threads, tmapi_label_local_bytes(job.rows * job.slots)}},
        {(const void *)tmapi_label_unite_kernel, {blocks, TMAPI_LABEL_UNITE_WARPS * 32, 0}},
        {(const void *)tmapi_label_roots_kernel, {blocks, 128, 0}},
        tmapi_label_sum_step(&job.scan),
        {(const void *)tmapi_label_name_kernel, {blocks, 128, 0}},
        {job.wide ? (const void *)tmapi_label_write_wide_kernel
                  : (const void *)tmapi_label_write_kernel,
         {blocks, 32 * warps, tmapi_label_write_bytes(&job, warps)}}};
    return tmapi_raster_run(steps, 6, &job, stream);
}

#endif

#endif
