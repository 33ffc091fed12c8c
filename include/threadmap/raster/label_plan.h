// SPDX-License-Identifier: MIT
// label_plan.h: of label.h: plans, how a map is divided, and what its kernels are given.
#ifndef TMAP_RASTER_LABEL_PLAN_H
#define TMAP_RASTER_LABEL_PLAN_H

#include "label_base.h"

// ---- plans and jobs -----------------------------------------------------------------------------

#define TMAPI_LABEL_CELLS        1024u // of a block's row
#define TMAPI_LABEL_WORDS        32u
#define TMAPI_LABEL_ROWS_MASK    64u // of a block; halved if shared memory is small
#define TMAPI_LABEL_ROWS_VALUES  32u
#define TMAPI_LABEL_WARPS        16u                      // of a block; halved with the rows
#define TMAPI_LABEL_SLOTS_MASK   (17 * TMAPI_LABEL_WORDS) // of a row whose runs have gaps
#define TMAPI_LABEL_SLOTS_VALUES (33 * TMAPI_LABEL_WORDS) // where each cell may start a run
#define TMAPI_LABEL_PARTS        1024u // the most groups of 32 components of a row, of a block

// What a slot of a finished block says about its component: its number in the block, if it is a
// node; else the row in the block of its first cell, and the component's number in that row.
#define TMAPI_LABEL_NODE 0x8000u
#define TMAPI_LABEL_NONE 0xffffu // no component

// The argument of the kernels.
typedef struct tmapi_label_job {
    tmapi_label_scan scan; // counts of first cells in each row of a block, row by row over the map
    const void *cells;
    tmap_u64 width, height, pitch;
    tmap_u64 images, slice;              // of a batch (1: a picture); from an image to the next
    int type, bits;                      // bits: a mask of words, 32 cells each
    int eight, has_nodata, wide, nodata; // wide: labels of 64 bits; nodata: bits of a value
    tmap_u32 beside, last;               // log2 of the images that a block takes side by side;
                                         // the last word of an image's row: 31 >> beside
    tmap_u32 bx, bands;                  // blocks of a row of blocks; rows of blocks of an image
    tmap_u64 by;                         // rows of blocks of all images
    tmap_u32 rows, slots;                // of a block; of a row
    tmap_u32 shift;        // bits of a component's number in its row of a block: that in the row of
                           // its image, and above it the image's
    tmap_u32 nodes;        // of a block, at most
    tmap_u64 words;        // of a row of bits
    tmap_u32 *in, *starts; // a bit a cell: it belongs to a component; it starts a run of values
    tmap_u32 *used;        // nodes of a block
    tmap_u32 *parent;      // of a node: a node of the same component
    tmap_u64 *key;         // of a node: row, block and number in the row of its first cell
    unsigned short *edge;  // components of the first and the last cell of a block's row
    void *labels;          // until the last kernel the slots of a row are stored in its labels
    tmap_u32 *codes;       // or here, where a block takes images side by side
    void *node_label;      // labels of nodes
    tmap_u64 *found;       // components of each image, for the user
    // of a stripe (stripes.h); else 0, height and 0
    tmap_u32 top;    // components of a block's first row are nodes if it is not this row
    tmap_u64 bottom; // components of its last row are nodes if the next row is before this one
    tmap_u64 seams;  // nodes after those of all blocks
} tmapi_label_job;

// A plan, made by tmap_label_plan_make. workspace: bytes that tmap_label needs.
typedef struct tmap_label_plan {
    tmap_raster_map map;
    tmap_label_array array; // of the labels
    tmap_u64 workspace;
    tmap_u32 blocks, threads, shared; // threads of `local`; most shared memory of a block
    tmapi_label_job job;              // with null addresses
    int roots;                        // 1: labels with gaps
} tmap_label_plan;

// A word of a row. in: cells that belong to runs. starts: cells where runs start; the first cell of
// a row starts one if it belongs to a run. slot: that of the run that continues from the left.
typedef struct tmapi_label_row {
    tmap_u32 in, starts, slot;
} tmapi_label_row;

// The part of the map, or of the images, that a block takes. Rows of words, of slots and of keys
// are numbered over all images.
typedef struct tmapi_label_area {
    tmap_u32 block, column, band; // its number; its column and its row of blocks
    tmap_u32 image, x, y;         // the first of its images; its first cell in them
} tmapi_label_area;

// Shared memory of a block after its slots.
typedef struct tmapi_label_local {
    tmapi_label_row last[TMAPI_LABEL_WARPS][32]; // the last row of each warp
    tmap_u32 queue[TMAPI_LABEL_WARPS][64];       // pairs of slots to unite
    tmap_u32 nodes;
    tmapi_label_area area;
    tmap_u32 marks[1]; // a bit a slot: a root whose component reaches an inner edge
} tmapi_label_local;

// Bytes of shared memory of the first kernel, for `slots` slots in a block.
TMAP_FN tmap_u32 tmapi_label_local_bytes(tmap_u32 slots) {
    return slots * 2 + (tmap_u32)sizeof(tmapi_label_local) + slots / 8;
}

// Bytes of shared memory of the last kernel.
TMAP_FN tmap_u32 tmapi_label_write_bytes(const tmapi_label_job *job, tmap_u32 warps, int roots) {
    const tmap_u32 size = job->wide ? 8 : 4;
    return (roots ? 0 : (4 + size) * TMAPI_LABEL_PARTS) + size * job->nodes +
           warps * (TMAPI_LABEL_WORDS * 16 + size * job->slots);
}

// The most components that a map of this size, type and connectivity can have.
TMAP_FN tmap_u64 tmapi_label_most(const tmap_raster_map *map) {
    const tmap_u64 cells = tmap_mul_saturate(map->width, map->height);
    if (map->type < TMAP_RASTER_MASK) return cells;
    if (map->connectivity == 8) return (map->width + 1) / 2 * ((map->height + 1) / 2);
    return cells / 2 + cells % 2;
}

// Sets the addresses of the parts of a workspace at w. Returns its bytes.
TMAP_FN tmap_u64 tmapi_label_divide(tmapi_label_job *job, tmap_u64 w) {
    const tmap_u64 blocks = job->bx * job->by, rows = job->by * job->rows;
    const tmap_u64 nodes = blocks * job->nodes + job->seams;
    const tmap_u64 bits = rows * job->words * 4;
    const tmap_u64 codes = job->beside ? rows * job->slots * 2 : 0;
    tmap_u64 end = 0;
    job->in = (tmap_u32 *)(w + tmapi_raster_part(&end, bits));
    job->starts = job->in;
    if (job->type != TMAP_RASTER_MASK)
        job->starts = (tmap_u32 *)(w + tmapi_raster_part(&end, bits));
    tmapi_label_scan_divide(&job->scan, w, &end);
    job->used = (tmap_u32 *)(w + tmapi_raster_part(&end, blocks * 4));
    job->parent = (tmap_u32 *)(w + tmapi_raster_part(&end, nodes * 4));
    job->key = (tmap_u64 *)(w + tmapi_raster_part(&end, nodes * 8));
    job->edge = (unsigned short *)(w + tmapi_raster_part(&end, rows * job->bx * 4));
    job->node_label = (void *)(w + tmapi_raster_part(&end, nodes * (job->wide ? 8 : 4)));
    job->codes = (tmap_u32 *)(w + tmapi_raster_part(&end, codes));
    return end;
}

// Divides the work of a plan, whose job says what the cells are. Images of at most 512 columns go
// side by side, each in a power of two of words, 2 at least. Returns TMAP_ERANGE for too many
// cells.
TMAP_FN int tmapi_label_plan_end(const tmap_facts *facts, tmap_label_plan *p) {
    tmapi_label_job *job = &p->job;
    const int mask = job->type == TMAP_RASTER_MASK;
    const tmap_u32 each =
        (mask ? TMAPI_LABEL_ROWS_MASK : TMAPI_LABEL_ROWS_VALUES) / TMAPI_LABEL_WARPS;
    tmap_u32 columns;
    p->shared = facts->device.block_shared, p->threads = TMAPI_LABEL_WARPS * 32;
    job->cells = 0, job->labels = 0, job->found = 0;
    job->slots = mask ? TMAPI_LABEL_SLOTS_MASK : TMAPI_LABEL_SLOTS_VALUES;
    job->shift = mask ? 9 : 10;
    for (job->beside = 0; job->images > 1u << job->beside && job->beside < 4; ++job->beside)
        if (job->width > TMAPI_LABEL_CELLS / 2 >> job->beside) break;
    job->last = 31u >> job->beside;
    job->rows = each * TMAPI_LABEL_WARPS;
    while (job->rows > each && (job->height <= job->rows / 2 ||
                                tmapi_label_local_bytes(job->rows * job->slots) > p->shared))
        job->rows /= 2, p->threads /= 2;
    job->bx = (tmap_u32)((job->width + TMAPI_LABEL_CELLS - 1) / TMAPI_LABEL_CELLS);
    job->bands = (tmap_u32)((job->height + job->rows - 1) / job->rows);
    job->by = (((job->images - 1) >> job->beside) + 1) * job->bands;
    job->words = (tmap_u64)job->bx * TMAPI_LABEL_WORDS;
    columns = job->width < TMAPI_LABEL_CELLS ? (tmap_u32)job->width : TMAPI_LABEL_CELLS;
    job->nodes = mask ? (columns + 1) / 2 * 2 : columns * 2; // of the first and the last row
    job->nodes <<= job->beside;
    if (job->bx > 1) job->nodes += mask ? job->rows : 2 * job->rows;
    job->nodes = (job->nodes + 3) / 4 * 4; // so that their labels fill multiples of 16 bytes
    if (job->bands == 1 && job->bx == 1 && !job->seams) job->nodes = 0;
    if (tmap_mul_saturate(job->bx * job->by, job->nodes + 2) > 0xffffffffull - job->seams ||
        tmap_mul_saturate(job->by, job->rows) > 0xffffffffull)
        return TMAP_ERANGE;
    job->scan.counts = (job->by << job->beside) * job->rows * job->bx;
    p->blocks = (tmap_u32)(job->bx * job->by);
    p->workspace = tmapi_label_divide(job, 0);
    return TMAP_OK;
}

// Checks a map and begins its plan, that of one picture.
TMAP_FN int tmapi_label_plan_begin(const tmap_raster_map *map, int form, tmap_label_plan *p) {
    tmapi_label_job *job = &p->job;
    if (!tmapi_raster_valid(map, 0, TMAP_RASTER_BITS) || map->pitch >> 32 ||
        (unsigned)form > (TMAP_LABEL_INT64 | TMAP_LABEL_ROOTS))
        return TMAP_EINVAL;
    p->roots = form / TMAP_LABEL_ROOTS, form %= TMAP_LABEL_ROOTS;
    if (form == TMAP_LABEL_INT32 && tmapi_label_most(map) > 0x7fffffff) return TMAP_EINVAL;
    p->map = *map;
    p->array.width = map->width, p->array.height = map->height, p->array.depth = 1;
    p->array.form = form, p->array.images = 0;
    job->width = map->width, job->height = map->height, job->pitch = map->pitch;
    job->images = 1, job->slice = 0, job->bits = map->type == TMAP_RASTER_BITS;
    job->type = job->bits ? TMAP_RASTER_MASK : map->type;
    job->top = 0, job->bottom = map->height, job->seams = 0;
    job->eight = map->connectivity == 8, job->wide = form;
    job->has_nodata = tmapi_raster_nodata(map, &job->nodata);
    return TMAP_OK;
}

// Makes the plan of tmap_label_plan_make from facts, for the shared memory that a block can have.
// map: its ranges are in raster/map.h; pitch below 2^32. form: of labels, TMAP_LABEL_INT32 or
// TMAP_LABEL_INT64, and TMAP_LABEL_ROOTS for labels with gaps. plan->workspace: 0.4 bytes a cell
// for a mask and 1.3 for values, 0.65 and 2.3 on a device whose blocks have 64 KB of shared memory
// (7.5); a fifth more for labels of 64 bits, and more where blocks of 1024 columns are filled in
// part. Writes *plan only on success.
// Returns TMAP_EINVAL for a null pointer, an argument outside its range, and TMAP_LABEL_INT32 for a
// map that can have more than 2^31 - 1 components, for labels with gaps one of more than 4 * 10^9
// cells (2 * 10^9 of values), or fewer if blocks are filled in part; TMAP_ERANGE above about 3 *
// 10^10 cells.
TMAP_FN int tmap_label_plan_of(const tmap_raster_map *map, int form, const tmap_facts *facts,
                               tmap_label_plan *plan) {
    tmap_label_plan p;
    const tmapi_label_job *job = &p.job;
    int code = facts && plan ? tmapi_label_plan_begin(map, form, &p) : TMAP_EINVAL;
    if (code == TMAP_OK) code = tmapi_label_plan_end(facts, &p);
    if (code != TMAP_OK) return code;
    if (p.roots && !job->wide && (job->by * job->rows * job->bx) << job->shift > 0x7fffffff)
        return TMAP_EINVAL;
    *plan = p;
    return TMAP_OK;
}

// Makes the plan of tmap_label_images_plan_make from facts. Writes *plan only on success. Returns
// TMAP_EINVAL for a null pointer and an argument outside its range, TMAP_ERANGE above about 10^11
// cells.
TMAP_FN int tmap_label_images_plan_of(const tmap_raster_map *map, tmap_u64 images, tmap_u64 slice,
                                      int form, const tmap_facts *facts, tmap_label_plan *plan) {
    tmap_label_plan p;
    int code = facts && plan ? tmapi_label_plan_begin(map, form, &p) : TMAP_EINVAL;
    if (code == TMAP_OK && (p.roots || map->type < TMAP_RASTER_MASK || images >> 31 ||
                            slice < map->pitch * map->height || slice >> 60))
        code = TMAP_EINVAL;
    if (code != TMAP_OK) return code;
    p.array.depth = images, p.array.images = 1;
    p.job.images = images, p.job.slice = slice;
    if ((code = tmapi_label_plan_end(facts, &p)) == TMAP_OK) *plan = p;
    return code;
}

#if TMAP_CUDA && !TMAP_NVRTC

TMAP_DEVICE tmapi_label_area tmapi_label_area_of(const tmapi_label_job *job, tmap_u32 block) {
    tmapi_label_area a;
    a.block = block, a.column = a.block % job->bx, a.band = a.block / job->bx;
    a.image = job->images > 1 ? a.band / job->bands << job->beside : 0;
    a.x = a.column * TMAPI_LABEL_CELLS;
    a.y = (job->images > 1 ? a.band % job->bands : a.band) * job->rows;
    return a;
}

TMAP_DEVICE tmapi_label_area tmapi_label_area_here(const tmapi_label_job *job) {
    return tmapi_label_area_of(job, blockIdx.x);
}

// Row r of a block, counted over all images.
TMAP_DEVICE tmap_u64 tmapi_label_row_of(const tmapi_label_job *job, const tmapi_label_area *a,
                                        tmap_u32 r) {
    return (tmap_u64)a->band * job->rows + r;
}

// Where word k of a block's row is: its image, and its first column there.
TMAP_DEVICE tmap_u32 tmapi_label_word_at(const tmapi_label_job *job, const tmapi_label_area *a,
                                         tmap_u32 k, tmap_u32 *x) {
    *x = a->x + (k & job->last) * 32;
    return a->image + (k >> (5 - job->beside));
}

// The number of the count of row r of a block in the scan, for image i of those side by side.
TMAP_DEVICE tmap_u64 tmapi_label_count_at(const tmapi_label_job *job, const tmapi_label_area *a,
                                          tmap_u32 r, tmap_u32 i) {
    return ((tmap_u64)(a->image + i) * (job->bands * job->rows) + a->y + r) * job->bx + a->column;
}

// Words of a row of a block that are outside the map; their slots are not stored.
TMAP_DEVICE tmap_u32 tmapi_label_blank(const tmapi_label_job *job, tmap_u32 column) {
    const tmap_u64 x = (tmap_u64)column * TMAPI_LABEL_CELLS;
    if (job->beside || x + TMAPI_LABEL_CELLS <= job->width) return 0;
    return TMAPI_LABEL_WORDS - (tmap_u32)((job->width - x + 31) / 32);
}

// Address of the slots of row r of a block.
TMAP_DEVICE tmap_u32 *tmapi_label_codes(const tmapi_label_job *job, const tmapi_label_area *a,
                                        tmap_u32 r) {
    const tmap_u64 y = a->image * job->height + a->y + r;
    if (job->beside) return job->codes + tmapi_label_row_of(job, a, r) * (job->slots / 2);
    return (tmap_u32 *)((char *)job->labels + ((y * job->width + a->x) << (job->wide ? 3 : 2)));
}

#endif

#endif
