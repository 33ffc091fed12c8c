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
// Six launches; three for labels with gaps, TMAP_LABEL_ROOTS, whose `write` climbs to the roots of
// nodes: local, unite, write:
//     local   a block of threads finds the components of 1024 columns and 64 rows (32 of values) in
//             shared memory; those that reach an edge to another block are nodes of a graph
//     unite   unites nodes of touching blocks, by union-find in global memory
//     roots   gives each node its root; components whose first cell is elsewhere are not counted
//     sum     scans the counts of first cells: the first label of each row of a block
//     name    gives nodes their labels
//     write   gives cells their labels
// Between the launches the results of a block are stored in the memory of its labels: two bytes for
// each run of cells. Unions happen in any order, but a parent's first cell is always before its
// child's, so roots do not depend on the order.
//
// Maps with periodic axes, as longitudes: label3.h, as a volume of one slice.
//
// The images of a batch (label3.h) have blocks of their own. Where they are narrow, a block takes 2
// to 16 images side by side, each from a multiple of 64 columns of the block on. No run goes from
// one image to the next, and numbers of components begin anew in each; the runs are stored in the
// workspace.
#ifndef TMAP_RASTER_LABEL_H
#define TMAP_RASTER_LABEL_H

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
    tmapi_label_job *job = &p.job;
    int code;
    if (!tmapi_raster_valid(map, 0, TMAP_RASTER_BITS) || map->pitch >> 32 ||
        (unsigned)form > (TMAP_LABEL_INT64 | TMAP_LABEL_ROOTS) || !facts || !plan)
        return TMAP_EINVAL;
    p.roots = form / TMAP_LABEL_ROOTS, form %= TMAP_LABEL_ROOTS;
    if (form == TMAP_LABEL_INT32 && tmapi_label_most(map) > 0x7fffffff) return TMAP_EINVAL;
    p.map = *map;
    p.array.width = map->width, p.array.height = map->height, p.array.depth = 1;
    p.array.form = form, p.array.images = 0;
    job->width = map->width, job->height = map->height, job->pitch = map->pitch;
    job->images = 1, job->slice = 0, job->bits = map->type == TMAP_RASTER_BITS;
    job->type = job->bits ? TMAP_RASTER_MASK : map->type;
    job->top = 0, job->bottom = map->height, job->seams = 0;
    job->eight = map->connectivity == 8, job->wide = form;
    job->has_nodata = tmapi_raster_nodata(map, &job->nodata);
    if ((code = tmapi_label_plan_end(facts, &p)) != TMAP_OK) return code;
    if (p.roots && !form && (job->by * job->rows * job->bx) << job->shift > 0x7fffffff)
        return TMAP_EINVAL;
    *plan = p;
    return code;
}

#if TMAP_CUDA && !TMAP_NVRTC

TMAP_DEVICE tmapi_label_area tmapi_label_area_here(const tmapi_label_job *job) {
    tmapi_label_area a;
    a.block = blockIdx.x, a.column = a.block % job->bx, a.band = a.block / job->bx;
    a.image = job->images > 1 ? a.band / job->bands << job->beside : 0;
    a.x = a.column * TMAPI_LABEL_CELLS;
    a.y = (job->images > 1 ? a.band % job->bands : a.band) * job->rows;
    return a;
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

// ---- runs ---------------------------------------------------------------------------------------
//
// A run is a stretch of equal neighbouring cells in a row, across words. The runs of a block are
// nodes of a forest in shared memory, whose trees become the block's components.
//
// A warp takes a row of 1024 cells, a lane a word of 32 cells. A word has a slot for the run that
// continues from the left, which points to the run's start, and one for each run that starts in it.
// Slots are in raster order of where runs start, and a parent is a lower slot: the root of a tree
// is the run with its first cell, whatever the order of unions.
//
// Nearly all of the forest is built without an atomic: the parent of a run is the run above at its
// leftmost touch in the word where it starts. Only the other touches have to be united. In
// 4-connected noise of density 0.593 these are 1.6 of the 7.3 touches of a word.

// Where runs of a word touch runs of the word above, one bit for each pair of runs. straight: the
// first cell of the lower run that lies below the upper one. left, right: over a corner; the lower
// run starts just after the upper one, or ends just before it. first: first touches of runs that
// start in this word; a bit with two touches is not `right`.
typedef struct tmapi_label_touch {
    tmap_u32 straight, left, right, first;
} tmapi_label_touch;

// For each cell of a word its neighbour to the left, or to the right; 0 outside the row. last: the
// last word of an image's row.
TMAP_DEVICE tmap_u32 tmapi_label_from_left(tmap_u32 word, tmap_u32 last) {
    const tmap_u32 left = __shfl_up_sync(~0u, word, 1);
    return word << 1 | (threadIdx.x & last ? left >> 31 : 0);
}
TMAP_DEVICE tmap_u32 tmapi_label_from_right(tmap_u32 word, tmap_u32 last) {
    const tmap_u32 right = __shfl_down_sync(~0u, word, 1);
    return word >> 1 | (~threadIdx.x & last ? right << 31 : 0);
}

// Numbers the slots of two rows from first_a and first_b on. Returns their counts, that of a in the
// lower 16 bits.
TMAP_DEVICE tmap_u32 tmapi_label_slots(tmapi_label_row *a, tmapi_label_row *b, tmap_u32 first_a,
                                       tmap_u32 first_b) {
    const tmap_u32 own =
        (tmapi_raster_count(b->starts) + 1) << 16 | (tmapi_raster_count(a->starts) + 1);
    const tmap_u32 sum = tmapi_warp_scan(threadIdx.x % 32, own);
    a->slot = first_a + ((sum - own) & 0xffff), b->slot = first_b + ((sum - own) >> 16);
    return __shfl_sync(~0u, sum, 31);
}

// The slot of the run that contains cell `bit` of a word, a power of two.
TMAP_DEVICE tmap_u32 tmapi_label_slot(const tmapi_label_row *row, tmap_u32 bit) {
    return row->slot + tmapi_raster_count(row->starts & (bit | (bit - 1)));
}

// Touches of two rows of a mask. eight: also over corners.
TMAP_DEVICE tmapi_label_touch tmapi_label_touch_mask(const tmapi_label_row *up,
                                                     const tmapi_label_row *low, int eight,
                                                     tmap_u32 last) {
    tmapi_label_touch t;
    tmap_u32 all = up->in & low->in;
    t.straight = all & ~tmapi_label_from_left(all, last), t.left = 0, t.right = 0;
    if (eight) {
        t.left = low->starts & tmapi_label_from_left(up->in, last) & ~up->in;
        t.right = tmapi_label_from_right(up->in, last);
        t.right &= low->in & ~tmapi_label_from_right(low->in, last);
        t.right &= ~up->in;
        all |= t.left | t.right;
    }
    // a carry goes from a run's start through the cells that do not touch
    t.first = (low->starts + (low->in & ~all)) & all;
    return t;
}

// Touches of two rows of values. same: cells with the value of the cell above them, of the one to
// its left, and of the one to its right.
TMAP_DEVICE tmapi_label_touch tmapi_label_touch_values(const tmapi_label_row *low,
                                                       const tmap_u32 *same, int eight) {
    const tmap_u32 before = (low->starts & (0u - low->starts)) - 1;
    tmap_u32 go = low->in & ~low->starts, seen;
    tmapi_label_touch t;
    t.straight = same[0] & ~(tmapi_label_from_left(same[0], 31) & go), t.left = 0, t.right = 0;
    if (eight) {
        t.left = same[1] & low->starts & ~same[0];
        t.right = same[2] & ~tmapi_label_from_right(go, 31) & ~same[0];
    }
    seen = same[0] | t.left | t.right;
    t.first = seen & ~before;
#pragma unroll
    for (tmap_u32 d = 1; d < 32; d *= 2) seen |= seen << d & go, go &= go << d;
    go = low->in & ~low->starts;
    t.first &= ~(seen << 1 & go);
    return t;
}

// The slot above a touch. left, right: which kind of touch.
TMAP_DEVICE tmap_u32 tmapi_label_above(const tmapi_label_row *up, tmap_u32 bit, int left,
                                       int right) {
    const tmap_u32 to = (bit - 1) | (left ? 0 : bit);
    tmap_u32 slot = up->slot + tmapi_raster_count(up->starts & to);
    if (right) slot += 1 + (bit >> 31); // the first slot of the next word is not a start
    return slot;
}

// ---- the forest ---------------------------------------------------------------------------------

// Makes each of the `count` slots from `first` (even) on its own parent. Collective for the warp.
TMAP_DEVICE void tmapi_label_alone(unsigned short *parents, tmap_u32 first, tmap_u32 count) {
    tmap_u32 *pairs = (tmap_u32 *)(parents + first);
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < count; i += 32)
        pairs[i] = (first + 2 * i) | (first + 2 * i + 1) << 16;
}

// Makes the runs above the first touches `rest` the parents of the runs below. left, right: touches
// of these kinds. through: 1: uses the parents of the runs above; 0: other warps may write these.
TMAP_DEVICE void tmapi_label_first(unsigned short *parents, const tmapi_label_row *up,
                                   const tmapi_label_row *low, tmap_u32 rest, tmap_u32 left,
                                   tmap_u32 right, const int through) {
    while (rest) {
        const tmap_u32 bit = rest & (0u - rest);
        const tmap_u32 to = tmapi_label_above(up, bit, (left & bit) != 0, (right & bit) != 0);
        parents[tmapi_label_slot(low, bit)] = through ? parents[to] : (unsigned short)to;
        rest &= rest - 1;
    }
}

// Gives slots of continued runs the parents of their runs. Collective for the warp.
TMAP_DEVICE void tmapi_label_join(unsigned short *parents, const tmapi_label_row *row) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 lanes = __ballot_sync(~0u, row->starts != 0) & ((1u << lane) - 1);
    const int from = lanes ? 31 - __clz((int)lanes) : 0; // the last word that starts a run
    const tmap_u32 last = row->slot + tmapi_raster_count(row->starts);
    const tmap_u32 run = __shfl_sync(~0u, last, from);
    __syncwarp();
    if (lane) parents[row->slot] = lanes ? parents[run] : (unsigned short)run;
}

// The root of a slot. Shortens the path to it.
TMAP_DEVICE tmap_u32 tmapi_label_root(volatile unsigned short *parents, tmap_u32 slot) {
    for (;;) {
        const tmap_u32 parent = parents[slot];
        tmap_u32 next;
        if (parent == slot) return slot;
        next = parents[parent];
        if (next == parent) return parent;
        parents[slot] = (unsigned short)next;
        slot = next;
    }
}

// Joins the trees of two slots. The lower of the two roots is the new root.
TMAP_DEVICE void tmapi_label_unite(unsigned short *parents, tmap_u32 a, tmap_u32 b) {
    for (;;) {
        tmap_u32 old, high, *pair;
        a = tmapi_label_root(parents, a), b = tmapi_label_root(parents, b);
        if (a == b) return;
        high = a > b ? a : b, b = a > b ? b : a, a = high;
        pair = (tmap_u32 *)parents + a / 2;
        old = *(volatile tmap_u32 *)pair;
        if (((a & 1 ? old >> 16 : old) & 0xffff) != a) continue;
        high = a & 1 ? (old & 0xffff) | b << 16 : (old & 0xffff0000u) | b;
        if (atomicCAS(pair, old, high) == old) return;
    }
}

// Appends the touches other than the first to the queue of `count` pairs, and unites 32 pairs
// whenever the queue has them. Returns the number of pairs left. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_label_others(unsigned short *parents, tmap_u32 *queue, tmap_u32 count,
                                        const tmapi_label_row *up, const tmapi_label_row *low,
                                        const tmapi_label_touch *t, int eight) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 rest = t->straight, lanes;
#pragma unroll 1
    for (int kind = 0;; ++kind) { // straight, left, right
        while ((lanes = __ballot_sync(~0u, rest != 0)) != 0) {
            if (rest) {
                const tmap_u32 bit = rest & (0u - rest);
                queue[count + tmapi_raster_count(lanes & ((1u << lane) - 1))] =
                    tmapi_label_slot(low, bit) | tmapi_label_above(up, bit, kind == 1, kind == 2)
                                                     << 16;
                rest &= rest - 1;
            }
            count += tmapi_raster_count(lanes);
            if (count >= 32) {
                tmap_u32 pair;
                __syncwarp();
                count -= 32, pair = queue[count + lane];
                tmapi_label_unite(parents, pair & 0xffff, pair >> 16);
                __syncwarp();
            }
        }
        if (!eight || kind == 2) return count;
        rest = kind ? t->right : t->left;
    }
}

// Unites the pairs left in the queue. Collective for the warp.
TMAP_DEVICE void tmapi_label_rest(unsigned short *parents, tmap_u32 *queue, tmap_u32 count) {
    __syncwarp();
    if (threadIdx.x % 32 < count) {
        const tmap_u32 pair = queue[threadIdx.x % 32];
        tmapi_label_unite(parents, pair & 0xffff, pair >> 16);
    }
}

// Replaces the parents of a warp's slots by their parents, until all slots of the block point to
// roots, or for `rounds` rounds; each halves the paths. total: slots of the rows, which begin at
// `first` and are `pitch` apart; pairs of four rows are in flight at a time. Collective for the
// block, with a barrier at the end.
TMAP_DEVICE void tmapi_label_flatten(unsigned short *parents, tmap_u32 first, const tmap_u32 pitch,
                                     const tmap_u32 *total, const tmap_u32 each, tmap_u32 rounds) {
    volatile tmap_u32 *pairs = (volatile tmap_u32 *)(parents + first);
    volatile const unsigned short *p = parents;
    tmap_u32 most = 0, open = 0xffffffffu; // a bit for 32 pairs of each row: some had no root yet
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) most = total[r] > most ? total[r] : most;
    do {
        tmap_u32 left = 0, bit = 1;
#pragma unroll 1
        for (tmap_u32 i = threadIdx.x % 32; 2 * i < most; i += 32, bit <<= 1) {
            tmap_u32 old[4], up[4], changed = 0;
            if (!(open & bit)) continue;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r) // the block's first slot is a root
                old[r] = 2 * i < total[r] ? pairs[r * (pitch / 2) + i] : 0;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r)
                up[r] = (tmap_u32)p[old[r] & 0xffff] | (tmap_u32)p[old[r] >> 16] << 16;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r)
                if (up[r] != old[r]) pairs[r * (pitch / 2) + i] = up[r], changed = bit;
            left |= changed;
        }
        open = left;
    } while (__syncthreads_or(open != 0) && --rounds);
}

// ---- local: cells to words of rows --------------------------------------------------------------
//
// A warp reads a row of 1024 cells; each lane receives a word of it.

// The first byte of row y of a block.
TMAP_DEVICE const unsigned char *tmapi_label_bytes(const tmapi_label_job *job,
                                                   const tmapi_label_area *a, tmap_u64 y) {
    return (const unsigned char *)job->cells + a->image * job->slice + y * job->pitch + a->x;
}

// 1 if `rows` rows of bytes from row y on can be read in pieces of 16 bytes.
TMAP_DEVICE int tmapi_label_whole(const tmapi_label_job *job, const tmapi_label_area *a, tmap_u64 y,
                                  tmap_u32 rows) {
    const tmap_u64 from = (tmap_u64)tmapi_label_bytes(job, a, y);
    const tmap_u64 steps = job->pitch | (job->beside ? job->slice : 0);
    return !job->bits && y + rows <= job->height && (from | steps) % 16 == 0 &&
           a->x + (TMAPI_LABEL_CELLS >> job->beside) <= job->width &&
           a->image + (1u << job->beside) <= job->images;
}

// Reads the halves of such a row; converts them to words.
TMAP_DEVICE void tmapi_label_read(const tmapi_label_job *job, const tmapi_label_area *a, tmap_u64 y,
                                  uint4 *halves) {
    const unsigned char *from = tmapi_label_bytes(job, a, y);
    const tmap_u32 log = 6 - job->beside;
#pragma unroll
    for (tmap_u32 k = 0; k < 2; ++k) {
        const tmap_u32 piece = threadIdx.x % 32 + 32 * k;
        const tmap_u64 at = (piece >> log) * job->slice + (piece & ((1u << log) - 1)) * 16;
        halves[k] = __ldcs((const uint4 *)(from + at));
    }
}
TMAP_DEVICE tmap_u32 tmapi_label_word(const uint4 *halves) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 both = tmapi_label_pack16(halves[0]) | tmapi_label_pack16(halves[1]) << 16;
    const tmap_u32 low = __shfl_sync(~0u, both, 2 * lane % 32);
    const tmap_u32 high = __shfl_sync(~0u, both, 2 * lane % 32 + 1);
    return __byte_perm(low, high, lane < 16 ? 0x5410 : 0x7632);
}

// The words of any row y of a block: as they are, or converted byte by byte; 0 outside the images.
TMAP_DEVICE tmap_u32 tmapi_label_word_slow(const tmapi_label_job *job, const tmapi_label_area *a,
                                           tmap_u64 y) {
    const tmap_u32 lane = threadIdx.x % 32;
    const unsigned char *row =
        (const unsigned char *)job->cells + (y * job->pitch << job->bits * 2);
    tmap_u32 word = 0, x;
    if (y >= job->height) return 0;
    if (job->bits) {
        const tmap_u64 image = tmapi_label_word_at(job, a, lane, &x);
        if (image >= job->images || x >= job->width) return 0;
        word = ((const tmap_u32 *)row)[image * job->slice + x / 32];
        return job->width - x < 32 ? word & ((1u << (job->width - x)) - 1) : word;
    }
    if (!job->beside) {
        row += a->image * job->slice + a->x;
#pragma unroll 8
        for (tmap_u32 k = 0; k < 32; ++k) {
            const tmap_u32 at = k * 32 + lane;
            tmapi_raster_ballot(a->x + at < job->width && row[at] != 0, k, &word);
        }
        return word;
    }
#pragma unroll 4
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u64 image = tmapi_label_word_at(job, a, k, &x);
        const int in = image < job->images && x + lane < job->width;
        tmapi_raster_ballot(in && row[image * job->slice + x + lane] != 0, k, &word);
    }
    return word;
}

// A value as bits, equal for equal values. *ok: 0 if it belongs to no component.
TMAP_DEVICE int tmapi_label_value(const tmapi_label_job *job, tmap_u64 at, const int type,
                                  int *ok) {
    int v;
    *ok = 1;
    switch (type) {
    case TMAP_RASTER_U8: v = ((const unsigned char *)job->cells)[at]; break;
    case TMAP_RASTER_I16: v = ((const short *)job->cells)[at]; break;
    case TMAP_RASTER_I32: v = ((const int *)job->cells)[at]; break;
    default: { // by bits: comparisons of floats under -ftz=true take subnormal numbers for 0
        const tmap_u32 bits = ((const tmap_u32 *)job->cells)[at];
        v = bits == 0x80000000u ? 0 : (int)bits;   // -0 is 0
        *ok = (bits & 0x7fffffffu) <= 0x7f800000u; // not NaN
    }
    }
    if (job->has_nodata && v == job->nodata) *ok = 0;
    return v;
}

// A lane's value of a row, 32 cells at a time; the value to its left (for lane 0 the last of the 32
// cells before); and whether it belongs to a component.
typedef struct tmapi_label_line {
    int value, left, last, in;
} tmapi_label_line;

// Bits of `rows` rows from the cell at0 on, and the cells with the value of the cell above or over
// corners. above: 0: there is no row above. Loads of TMAPI_LABEL_AHEAD * 32 cells of all rows are
// in flight at a time.
#define TMAPI_LABEL_AHEAD 4
TMAP_DEVICE void tmapi_label_values_of(const tmapi_label_job *job, tmap_xy64 at0, int above,
                                       tmapi_label_row *row, tmap_u32 (*same)[3], const int rows,
                                       const int type) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u64 x = at0.x, y = at0.y;
    tmapi_label_line line[3];
    tmap_u32 skew[2] = {0, 0};
    int there[3];
    const tmap_u64 base = y * job->pitch + x;
    if (y == 0) above = 0;
    there[0] = above && y <= job->height;
#pragma unroll
    for (int r = 0; r <= rows; ++r) {
        if (r) there[r] = y + (tmap_u64)r <= job->height;
        if (r) row[r - 1].in = row[r - 1].starts = 0;
        if (r) same[r - 1][0] = same[r - 1][1] = same[r - 1][2] = 0;
        line[r].value = line[r].left = line[r].last = line[r].in = 0;
    }
#pragma unroll 1
    for (tmap_u32 k0 = 0; k0 < 32 && x + k0 * 32 < job->width; k0 += TMAPI_LABEL_AHEAD) {
        int value[TMAPI_LABEL_AHEAD][3], in[TMAPI_LABEL_AHEAD][3];
#pragma unroll
        for (tmap_u32 a = 0; a < TMAPI_LABEL_AHEAD; ++a) {
            const tmap_u32 at = (k0 + a) * 32 + lane;
            const int inside = x + at < job->width;
#pragma unroll
            for (int r = 0; r <= rows; ++r) {
                value[a][r] = in[a][r] = 0;
                if (inside && there[r])
                    value[a][r] = tmapi_label_value(
                        job, base + (tmap_u64)r * job->pitch - job->pitch + at, type, &in[a][r]);
            }
        }
#pragma unroll
        for (tmap_u32 a = 0; a < TMAPI_LABEL_AHEAD; ++a) {
            const tmap_u32 k = k0 + a;
#pragma unroll
            for (int r = 0; r <= rows; ++r) {
                const int turned = __shfl_sync(~0u, value[a][r], (int)(lane + 31) % 32);
                line[r].left = lane ? turned : line[r].last, line[r].last = turned;
                line[r].value = value[a][r], line[r].in = in[a][r];
            }
#pragma unroll
            for (int r = 1; r <= rows; ++r) {
                const tmapi_label_line *me = line + r, *up = me - 1;
                const int begins = me->in && (me->value != me->left || (k == 0 && lane == 0));
                tmapi_raster_ballot(me->in, k, &row[r - 1].in);
                tmapi_raster_ballot(begins, k, &row[r - 1].starts);
                tmapi_raster_ballot(me->in && up->in && me->value == up->value, k, same[r - 1]);
                if (!job->eight) continue;
                tmapi_raster_ballot(me->in && me->value == up->left, k, same[r - 1] + 1);
                tmapi_raster_ballot(up->in && up->value == me->left, k, skew + r - 1);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const tmap_u32 ends = tmapi_label_from_right(skew[r], 31);
        if (!there[r]) same[r][1] = 0;
        if (lane == 0) same[r][1] &= ~1u; // that corner belongs to the block to the left
        same[r][2] = ends & row[r].in;
    }
}
TMAP_DEVICE void tmapi_label_values(const tmapi_label_job *job, tmap_xy64 at, int above,
                                    tmapi_label_row *row, tmap_u32 (*same)[3], const int rows) {
    switch (job->type) {
    case TMAP_RASTER_U8:
        tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_U8);
        break;
    case TMAP_RASTER_I16:
        tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_I16);
        break;
    case TMAP_RASTER_I32:
        tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_I32);
        break;
    default: tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_F32);
    }
}

// ---- local: the components of a block -----------------------------------------------------------

// A block of threads: its shared memory, and constants of its kernel.
typedef struct tmapi_label_block {
    unsigned short *parents; // of slots
    tmapi_label_local *local;
    tmap_u32 each;         // rows of a warp
    tmap_u32 pitch;        // slots of a row
    tmap_u32 shift;        // bits of a component's number in its row
    int values;            // 1: cells are values
    tmap_u32 beside, last; // of the job
} tmapi_label_block;

TMAP_DEVICE tmapi_label_block tmapi_label_block_at(const tmapi_label_job *job, void *memory,
                                                   const int values) {
    tmapi_label_block b;
    b.beside = values ? 0 : job->beside, b.last = job->last;
    b.values = values, b.shift = values ? 10 : 9;
    b.each = (values ? TMAPI_LABEL_ROWS_VALUES : TMAPI_LABEL_ROWS_MASK) / TMAPI_LABEL_WARPS;
    b.pitch = values ? TMAPI_LABEL_SLOTS_VALUES : TMAPI_LABEL_SLOTS_MASK;
    b.parents = (unsigned short *)memory;
    b.local = (tmapi_label_local *)(b.parents + job->rows * b.pitch);
    return b;
}

// Marks the component of a slot.
TMAP_DEVICE void tmapi_label_mark(const unsigned short *parents, tmap_u32 *marks, tmap_u32 slot) {
    const tmap_u32 root = parents[slot], bit = 1u << root % 32;
    if (!(*(volatile tmap_u32 *)(marks + root / 32) & bit)) atomicOr(marks + root / 32, bit);
}

// Row r of a block with several images, where the numbers of components begin anew in each: images
// that it has so far, and the number of components before the last of them.
typedef struct tmapi_label_begun {
    tmap_u32 r, images, components;
} tmapi_label_begun;

// Marks the first slot of each image of a row: that of no run, and so never a root.
TMAP_DEVICE void tmapi_label_heads(tmap_u32 *marks, tmap_u32 slot, tmap_u32 last) {
    if ((threadIdx.x & last) == 0) atomicOr(marks + slot / 32, 1u << slot % 32);
}

// Numbers the roots among a lane's two slots from `slot` on, ~0 beyond the row: in each image from
// 0 on, and above it the image. mine: roots of the row before the slots; receives these numbers.
// Counts the roots of images that end. Collective for the warp.
TMAP_DEVICE void tmapi_label_number(const tmapi_label_job *job, const tmapi_label_local *s,
                                    tmapi_label_begun *begun, tmap_u32 slot, const int *root,
                                    tmap_u32 *mine) {
    const tmap_u32 lane = threadIdx.x % 32, log = job->shift - job->beside;
    const tmap_u32 marked = ~slot ? s->marks[slot / 32] >> slot % 32 & 3 : 0; // slot is even
    const int head[2] = {(marked & 1) && !root[0], marked >> 1 && !root[1]};
    const tmap_u32 heads = __ballot_sync(~0u, head[0] || head[1]);
    const tmap_u32 before = heads & ((1u << lane) - 1), own = mine[0] + (head[1] && root[0]);
    const tmap_u32 from = __shfl_sync(~0u, own, before ? 31 - __clz((int)before) : 0);
    tmap_u32 images = begun->images + tmapi_raster_count(before);
    tmap_u32 first = before ? from : begun->components;
#pragma unroll
    for (tmap_u32 k = 0; k < 2; ++k) {
        if (head[k]) {
            if (images)
                job->scan.count[tmapi_label_count_at(job, &s->area, begun->r, images - 1)] =
                    mine[k] - first;
            ++images, first = mine[k];
        }
        mine[k] = (images - 1) << log | (mine[k] - first);
    }
    if (heads) begun->components = __shfl_sync(~0u, own, 31 - __clz((int)heads));
    begun->images += tmapi_raster_count(heads);
}

// Finds the components of a block. Each warp has its rows and their touches above in registers.
TMAP_DEVICE void tmapi_label_components(const tmapi_label_job *job, const tmapi_label_block b,
                                        tmapi_label_row *row, tmap_u32 (*same)[3]) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, under = (1u << lane) - 1;
    const tmap_u32 each = b.each, pitch = b.pitch, rows = job->rows, r0 = warp * each;
    const tmapi_label_area a = tmapi_label_area_here(job);
    const tmap_u32 column = a.column;
    unsigned short *parents = b.parents;
    tmapi_label_local *s = b.local;
    tmap_u32 total[4], roots[4], more[4], waiting;
    tmapi_label_touch touch[4];
    const tmap_u32 blank = tmapi_label_blank(job, column);
#pragma unroll
    for (tmap_u32 r = 0; r < each; r += 2) {
        const tmap_u32 both =
            tmapi_label_slots(row + r, row + r + 1, (r0 + r) * pitch, (r0 + r + 1) * pitch);
        total[r] = (both & 0xffff) - blank, total[r + 1] = (both >> 16) - blank;
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u64 at =
            tmapi_label_row_of(job, &a, r0 + r) * job->words + column * TMAPI_LABEL_WORDS + lane;
        tmapi_label_alone(parents, (r0 + r) * pitch, total[r]);
        job->in[at] = row[r].in; // 0 below the map
        if (b.values) job->starts[at] = row[r].starts;
    }
    s->last[warp][lane] = row[each - 1];
    for (tmap_u32 i = threadIdx.x; i < rows * pitch / 32; i += blockDim.x) s->marks[i] = 0;
    if (threadIdx.x == 0) s->nodes = 0, s->area = a;
    __syncthreads();
    tmapi_label_row up;
    up.in = up.starts = up.slot = 0;
    if (warp) up = s->last[warp - 1][lane];
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmapi_label_row *above = r ? row + r - 1 : &up;
        tmapi_label_touch *t = touch + r;
        *t = b.values ? tmapi_label_touch_values(row + r, same[r], job->eight)
                      : tmapi_label_touch_mask(above, row + r, job->eight, b.last);
        const tmap_u32 corner = t->right & ~(t->straight | t->left);
        if (!job->eight)
            tmapi_label_first(parents, above, row + r, t->first, 0, 0, r > 0);
        else
            tmapi_label_first(parents, above, row + r, t->first, t->left, corner, r > 0);
        t->straight &= ~t->first, t->left &= ~t->first, t->right &= ~(t->first & corner);
        tmapi_label_join(parents, row + r);
        if (b.beside) tmapi_label_heads(s->marks, row[r].slot, b.last);
        __syncwarp();
    }
    __syncthreads();
    tmapi_label_flatten(parents, r0 * pitch, pitch, total, each, 2); // shortens paths for unions
    waiting = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r)
        waiting = tmapi_label_others(parents, s->queue[warp], waiting, r ? row + r - 1 : &up,
                                     row + r, touch + r, job->eight);
    tmapi_label_rest(parents, s->queue[warp], waiting);
    __syncthreads();
    tmapi_label_flatten(parents, r0 * pitch, pitch, total, each, 32);
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 inner = r0 + r, first = inner * pitch;
        const int cut = (inner == 0 && s->area.y != job->top) ||
                        (inner == rows - 1 && s->area.y + rows < job->bottom);
        if (cut)
            for (tmap_u32 i = lane; i < total[r]; i += 32)
                if (i) tmapi_label_mark(parents, s->marks, first + i);
        if (s->area.column && lane == 0 && (row[r].in & 1))
            tmapi_label_mark(parents, s->marks, first + 1);
        if (s->area.column + 1 < job->bx && lane == 31 && row[r].in >> 31)
            tmapi_label_mark(parents, s->marks, first + total[r] - 1);
    }
    __syncthreads();
    // roots receive their codes; the other slots still point to them
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 first = (r0 + r) * pitch;
        tmap_u32 *pairs = (tmap_u32 *)(parents + first), rank = 0, bits = 0, end = 0;
        tmapi_label_begun begun = {r0 + r, b.beside ? 0u : 1u, 0};
        for (tmap_u32 i = lane, n = 0; 2 * n < total[r]; i += 32, n += 32) {
            const tmap_u32 slot = first + 2 * i, pair = 2 * i < total[r] ? pairs[i] : 0xffffffffu;
            const int root[2] = {(pair & 0xffff) == slot && i > 0 && 2 * i < total[r],
                                 pair >> 16 == slot + 1 && 2 * i + 1 < total[r]};
            const tmap_u32 as = __ballot_sync(~0u, root[0]), bs = __ballot_sync(~0u, root[1]);
            const tmap_u32 before =
                rank + tmapi_raster_count(as & under) + tmapi_raster_count(bs & under);
            tmap_u32 mine[2] = {before, before + (tmap_u32)root[0]};
            if (b.beside)
                tmapi_label_number(job, s, &begun, 2 * i < total[r] ? slot : ~0u, root, mine);
#pragma unroll
            for (tmap_u32 k = 0; k < 2; ++k) {
                const tmap_u32 at = slot + k;
                tmap_u32 code = (r0 + r) << b.shift | mine[k];
                if (!root[k]) continue;
                if (b.values && n == 512)
                    end |= 1u << k;
                else
                    bits |= 1u << (n / 16 + k);
                if (s->marks[at / 32] >> at % 32 & 1) {
                    const tmap_u32 node = atomicAdd(&s->nodes, 1u);
                    const tmap_u64 to = (tmap_u64)blockIdx.x * job->nodes + node;
                    job->parent[to] = (tmap_u32)to;
                    job->key[to] = tmapi_label_row_of(job, &s->area, r0 + r) << 32 |
                                   (s->area.column * 1024u + mine[k]);
                    code = TMAPI_LABEL_NODE | node;
                }
                parents[at] = (unsigned short)code;
            }
            rank += tmapi_raster_count(as) + tmapi_raster_count(bs);
        }
        roots[r] = bits, more[r] = end;
        if (lane == 0)
            job->scan.count[tmapi_label_count_at(job, &s->area, r0 + r, begun.images - 1)] =
                rank - begun.components;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        job->used[blockIdx.x] = s->nodes;
        if (blockIdx.x == 0) *job->scan.counter = 0;
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 first = (r0 + r) * pitch, *pairs = (const tmap_u32 *)(parents + first);
        tmap_u32 bits = roots[r];
        if (s->area.y + r0 + r >= job->height) continue;
        tmap_u32 *codes = tmapi_label_codes(job, &s->area, r0 + r);
        for (tmap_u32 i = lane; 2 * i < total[r]; i += 32, bits >>= 2) {
            tmap_u32 low = pairs[i] & 0xffff, high = pairs[i] >> 16;
            if (b.values && i >= 512) bits = more[r];
            if (i > 0 && !(bits & 1)) low = parents[low];
            if (!(bits & 2) && 2 * i + 1 < total[r]) high = parents[high];
            codes[i] = low | high << 16;
        }
        if (job->bx > 1) {
            unsigned short *edge = job->edge + ((tmap_u64)blockIdx.x * 2) * job->rows + r0 + r;
            __syncwarp();
            if (lane == 0)
                edge[0] = row[r].in & 1 ? ((const unsigned short *)codes)[1] : TMAPI_LABEL_NONE;
            if (lane == 31)
                edge[job->rows] = row[r].in >> 31 ? ((const unsigned short *)codes)[total[r] - 1]
                                                  : TMAPI_LABEL_NONE;
        }
    }
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, 2)
    tmapi_label_mask_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    const tmapi_label_block b = tmapi_label_block_at(&job, tmapi_label_memory, 0);
    const tmap_u32 each = b.each, r0 = threadIdx.x / 32 * each;
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u64 y = a.y + r0;
    tmapi_label_row row[4];
    uint4 bytes[4][2];
    if (tmapi_label_whole(&job, &a, y, each)) {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) tmapi_label_read(&job, &a, y + r, bytes[r]);
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word(bytes[r]);
    } else {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word_slow(&job, &a, y + r);
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r)
        row[r].starts = row[r].in & ~tmapi_label_from_left(row[r].in, job.last), row[r].slot = 0;
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

// ---- unite, roots: components of the map --------------------------------------------------------
//
// A node's parent is a node with an earlier first cell, so the root of a component is the node with
// its first cell.

// 1 if the first cell of node a is before that of node b.
TMAP_DEVICE int tmapi_label_earlier(const void *key, tmap_u32 a, tmap_u32 b) {
    return ((const tmap_u64 *)key)[a] < ((const tmap_u64 *)key)[b];
}

// Joins the trees of two nodes.
TMAPI_DEVICE_CALL void tmapi_label_node_unite(tmap_u32 *parent, const tmap_u64 *key, tmap_u32 a,
                                              tmap_u32 b) {
    tmapi_forest_unite(parent, a, b, tmapi_label_earlier, key);
}

// Unites two cells of neighbouring blocks, given by the codes of their slots.
TMAP_DEVICE void tmapi_label_codes_unite(const tmapi_label_job *job, tmap_u32 block_a,
                                         tmap_u32 code_a, tmap_u32 block_b, tmap_u32 code_b) {
    tmapi_label_node_unite(job->parent, job->key,
                           block_a * job->nodes + (code_a & ~TMAPI_LABEL_NODE),
                           block_b * job->nodes + (code_b & ~TMAPI_LABEL_NODE));
}

// Unites along touches `rest` of one kind between a block's first row and the row above.
TMAP_DEVICE void tmapi_label_edge(const tmapi_label_job *job, const tmapi_label_area *area,
                                  const tmapi_label_row *up, const tmapi_label_row *low,
                                  tmap_u32 rest, int left, int right) {
    const tmap_u32 block = area->block;
    const unsigned short *under = (const unsigned short *)tmapi_label_codes(job, area, 0);
    const tmapi_label_area above = {block - job->bx, area->column, area->band - 1,
                                    area->image,     area->x,      area->y - job->rows};
    const unsigned short *over =
        (const unsigned short *)tmapi_label_codes(job, &above, job->rows - 1);
    tmap_u32 last_a = TMAPI_LABEL_NONE, last_b = TMAPI_LABEL_NONE;
    while (rest) {
        const tmap_u32 bit = rest & (0u - rest);
        const tmap_u32 a = under[tmapi_label_slot(low, bit)];
        const tmap_u32 b = over[tmapi_label_above(up, bit, left, right)];
        if (a != last_a || b != last_b) tmapi_label_codes_unite(job, block, a, above.block, b);
        last_a = a, last_b = b;
        rest &= rest - 1;
    }
}

// Unites the last cell of row r of block `left` with the first cell of row s of block `right`.
TMAP_DEVICE void tmapi_label_side(const tmapi_label_job *job, tmap_u32 left, tmap_u32 r,
                                  tmap_u32 right, tmap_u32 s) {
    const tmap_u32 a = job->edge[((tmap_u64)left * 2 + 1) * job->rows + r];
    const tmap_u32 b = job->edge[(tmap_u64)right * 2 * job->rows + s];
    if (a == TMAPI_LABEL_NONE || b == TMAPI_LABEL_NONE) return;
    if (job->type != TMAP_RASTER_MASK) {
        const tmap_u64 x = (tmap_u64)(right % job->bx) * TMAPI_LABEL_CELLS;
        const tmap_u64 y = (tmap_u64)(left / job->bx) * job->rows + r;
        const tmap_u64 z = (tmap_u64)(right / job->bx) * job->rows + s;
        int ok;
        if (tmapi_label_value(job, y * job->pitch + x - 1, job->type, &ok) !=
            tmapi_label_value(job, z * job->pitch + x, job->type, &ok))
            return;
    }
    tmapi_label_codes_unite(job, left, a, right, b);
}

#define TMAPI_LABEL_UNITE_WARPS 4u

// Unites a block with the blocks above it and to its left.
static __global__ void __launch_bounds__(TMAPI_LABEL_UNITE_WARPS * 32)
    tmapi_label_unite_kernel(tmapi_label_job job) {
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u32 part = 0xffu << threadIdx.x / 32 * 8, last = job.rows - 1;
    const int eight = job.eight;
    if (a.y) {
        tmapi_label_row up, low;
        tmapi_label_touch t;
        const tmap_u64 at = tmapi_label_row_of(&job, &a, 0) * job.words +
                            a.column * TMAPI_LABEL_WORDS + threadIdx.x % 32;
        up.in = job.in[at - job.words], low.in = job.in[at];
        up.slot = low.slot = 0;
        if (job.type == TMAP_RASTER_MASK) {
            up.starts = up.in & ~tmapi_label_from_left(up.in, job.last);
            low.starts = low.in & ~tmapi_label_from_left(low.in, job.last);
            t = tmapi_label_touch_mask(&up, &low, eight, job.last);
        } else {
            const tmap_xy64 from = {a.x, a.y};
            tmap_u32 same[1][3];
            tmapi_label_values(&job, from, 1, &low, same, 1);
            up.starts = job.starts[at - job.words];
            t = tmapi_label_touch_values(&low, same[0], eight);
        }
        tmapi_label_slots(&up, &low, 0, 0);
        tmapi_label_edge(&job, &a, &up, &low, t.straight & part, 0, 0);
        if (eight) {
            tmapi_label_edge(&job, &a, &up, &low, t.left & part, 1, 0);
            tmapi_label_edge(&job, &a, &up, &low, t.right & part, 0, 1);
        }
        if (eight && threadIdx.x == 0) {
            const tmap_u32 above = a.block - job.bx;
            if (a.column) tmapi_label_side(&job, above - 1, last, a.block, 0);
            if (a.column + 1 < job.bx) tmapi_label_side(&job, a.block, 0, above + 1, last);
        }
    }
    if (a.column == 0) return;
    for (tmap_u32 r = threadIdx.x; r < job.rows && a.y + r < job.height;
         r += TMAPI_LABEL_UNITE_WARPS * 32) {
        tmapi_label_side(&job, a.block - 1, r, a.block, r);
        if (!eight) continue;
        if (r) tmapi_label_side(&job, a.block - 1, r - 1, a.block, r);
        if (r < last && a.y + r + 1 < job.height)
            tmapi_label_side(&job, a.block - 1, r + 1, a.block, r);
    }
}

// Position of a node's number in its row, among the bits of the block. row: the block's first.
TMAP_DEVICE tmap_u32 tmapi_label_place(const tmapi_label_job *job, tmap_u64 key, tmap_u64 row) {
    return (tmap_u32)((key >> 32) - row) << job->shift | (key & 1023);
}

// Gives each node its root. The first cells of other nodes' components are not counted.
static __global__ void __launch_bounds__(128) tmapi_label_roots_kernel(tmapi_label_job job) {
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u32 used = job.used[a.block];
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = a.block * job.nodes + i;
        volatile const tmap_u32 *p = job.parent;
        tmap_u32 root = node, up;
        while ((up = p[root]) != root) root = up;
        job.parent[node] = root;
        if (root != node) {
            const tmap_u32 at =
                tmapi_label_place(&job, job.key[node], tmapi_label_row_of(&job, &a, 0));
            const tmap_u32 image = (at & ((1u << job.shift) - 1)) >> (job.shift - job.beside);
            atomicSub(job.scan.count + tmapi_label_count_at(&job, &a, at >> job.shift, image), 1u);
        }
    }
}

// ---- sum, name: labels of rows and of nodes -----------------------------------------------------

// Sets the bits of a block's components with first cells in other blocks, because the numbers in a
// row count them too. Collective for the block, with barriers.
TMAP_DEVICE void tmapi_label_dead(const tmapi_label_job *job, tmap_u32 *dead) {
    const tmap_u32 block = blockIdx.x, used = job->used[block];
    const tmap_u64 row = (tmap_u64)(block / job->bx) * job->rows;
    for (tmap_u32 i = threadIdx.x; i < job->rows << job->shift >> 5; i += blockDim.x) dead[i] = 0;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = block * job->nodes + i;
        if (job->parent[node] != node) {
            const tmap_u32 at = tmapi_label_place(job, job->key[node], row);
            atomicOr(dead + at / 32, 1u << at % 32);
        }
    }
    __syncthreads();
}

// Number of components that are counted before an image.
TMAP_DEVICE tmap_u64 tmapi_label_before_image(const tmapi_label_job *job, tmap_u32 image) {
    return tmapi_label_before(&job->scan, (tmap_u64)image * (job->bands * job->rows) * job->bx);
}

// The label of the first component of row r of a block, in image i of those side by side.
TMAP_DEVICE tmap_u64 tmapi_label_first_of(const tmapi_label_job *job, const tmapi_label_area *a,
                                          tmap_u32 r, tmap_u32 i) {
    const tmap_u64 label = tmapi_label_before(&job->scan, tmapi_label_count_at(job, a, r, i)) + 1;
    return job->images > 1 ? label - tmapi_label_before_image(job, a->image + i) : label;
}

// Labels the block's nodes that are roots.
static __global__ void __launch_bounds__(128) tmapi_label_name_kernel(tmapi_label_job job) {
    __shared__ tmap_u32 dead[TMAPI_LABEL_PARTS];
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u32 used = job.used[a.block], number = job.shift - job.beside;
    const tmap_u32 per = 1u << job.beside;
    if (used == 0) return;
    tmapi_label_dead(&job, dead);
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 node = a.block * job.nodes + i;
        tmap_u64 key, label;
        tmap_u32 at, first;
        if (job.parent[node] != node) continue;
        key = job.key[node], at = tmapi_label_place(&job, key, tmapi_label_row_of(&job, &a, 0));
        first = at >> number << number;
        label = tmapi_label_first_of(&job, &a, at >> job.shift, (first >> number) & (per - 1)) +
                at - first;
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
                                               const int wide, const int roots) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32, size = wide ? 8 : 4;
    char *at = (char *)memory;
    tmapi_label_room room;
    room.dead = (tmap_u32 *)at, at += roots ? 0 : 4 * TMAPI_LABEL_PARTS;
    room.base = at, at += roots ? 0 : size * TMAPI_LABEL_PARTS;
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
    const tmap_u32 log = job->shift - job->beside - 5; // log2 of the parts of an image
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 root = job->parent[a.block * job->nodes + i];
        tmapi_label_put(room->nodes, i, tmapi_label_get(job->node_label, root, wide), wide);
    }
    for (tmap_u32 r = threadIdx.x; r < job->rows && a.y + r < job->height; r += blockDim.x) {
        tmap_u64 label = 0;
        for (tmap_u32 k = 0; k < parts; ++k) {
            if ((k & ((1u << log) - 1)) == 0) label = tmapi_label_first_of(job, &a, r, k >> log);
            tmapi_label_put(room->base, r * parts + k, label, wide);
            label += 32 - tmapi_raster_count(room->dead[r * parts + k]);
        }
    }
}

// Labels with gaps: that of a component with its number in row y of a column of blocks; and those
// of nodes.
TMAP_DEVICE tmap_u64 tmapi_label_gapped(const tmapi_label_job *job, tmap_u64 y, tmap_u32 column,
                                        tmap_u32 number) {
    return ((y * job->bx + column) << job->shift) + number + 1;
}
TMAP_DEVICE void tmapi_label_roots_of(const tmapi_label_job *job, const tmapi_label_room *room,
                                      const int wide) {
    const tmap_u32 used = job->used[blockIdx.x];
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        tmap_u32 root = blockIdx.x * job->nodes + i, up;
        while ((up = job->parent[root]) != root) root = up;
        const tmap_u64 key = job->key[root];
        tmapi_label_put(room->nodes, i,
                        tmapi_label_gapped(job, key >> 32, (tmap_u32)key / 1024, key & 1023), wide);
    }
}

// Computes the labels of a row's slots.
TMAP_DEVICE void tmapi_label_names(const tmapi_label_job *job, const tmapi_label_area *a,
                                   const tmapi_label_room *room, const tmap_u32 *codes,
                                   tmap_u32 total, const int wide, const int roots) {
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < total; i += 32) {
        const tmap_u32 pair = codes[i];
#pragma unroll
        for (tmap_u32 k = 0; k < 2; ++k) {
            const tmap_u32 code = k ? pair >> 16 : pair & 0xffff, part = code / 32;
            tmap_u64 label;
            if (2 * i + k == 0 || 2 * i + k >= total) continue;
            if (code & TMAPI_LABEL_NODE)
                label = tmapi_label_get(room->nodes, code & ~TMAPI_LABEL_NODE, wide);
            else if (roots)
                label = tmapi_label_gapped(job, a->y + (code >> job->shift), a->column,
                                           code & ((1u << job->shift) - 1));
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

TMAP_DEVICE void tmapi_label_write(const tmapi_label_job *job, uint4 *memory, const int wide,
                                   const int roots) {
    const tmapi_label_area a = tmapi_label_area_here(job);
    const tmap_u32 lane = threadIdx.x % 32, size = wide ? 8 : 4;
    const tmapi_label_room room = tmapi_label_rooms(job, memory, wide, roots);
    const tmap_u64 cells = job->width * job->height;
    const tmap_u32 own = a.image + threadIdx.x;
    if (!roots && job->images > 1 && a.block % (job->bands * job->bx) == 0 &&
        threadIdx.x < 1u << job->beside && own < job->images)
        job->found[own] =
            (own + 1 < job->images ? tmapi_label_before_image(job, own + 1) : *job->scan.total) -
            tmapi_label_before_image(job, own);
    if (roots)
        tmapi_label_roots_of(job, &room, wide);
    else {
        tmapi_label_dead(job, room.dead);
        tmapi_label_bases(job, &room, wide);
    }
    __syncthreads();
    for (tmap_u32 r = threadIdx.x / 32; r < job->rows && a.y + r < job->height;
         r += blockDim.x / 32) {
        const tmap_u64 y = a.y + r, width = TMAPI_LABEL_CELLS >> job->beside;
        const tmap_u64 at =
            tmapi_label_row_of(job, &a, r) * job->words + a.column * TMAPI_LABEL_WORDS + lane;
        char *out = (char *)job->labels + (a.image * cells + y * job->width + a.x) * size;
        tmapi_label_row row, none;
        tmap_u32 total;
        row.in = job->in[at], row.slot = none.slot = none.in = none.starts = 0;
        row.starts = job->starts[at];
        if (job->type == TMAP_RASTER_MASK)
            row.starts = row.in & ~tmapi_label_from_left(row.in, job->last);
        total = (tmapi_label_slots(&row, &none, 0, 0) & 0xffff) - tmapi_label_blank(job, a.column);
        room.line[lane] = make_uint4(row.in, row.starts, row.slot, 0);
        tmapi_label_names(job, &a, &room, tmapi_label_codes(job, &a, r), total, wide, roots);
        __syncwarp();
        if (a.x + width <= job->width && a.image + (1u << job->beside) <= job->images &&
            (tmap_u64)out % 16 == 0) {
#pragma unroll 4
            for (tmap_u32 k = lane / 8; k < 32; k += 4) {
                const tmap_u64 to =
                    (k >> (5 - job->beside)) * cells + (k & job->last) * 32 + lane % 8 * 4;
                tmapi_label_four(&room, room.line[k], lane % 8 * 4, out + to * size, wide);
            }
        } else {
            for (tmap_u32 k = 0; k < 32; ++k) {
                const uint4 word = room.line[k];
                const tmap_u32 upto = 1u << lane | ((1u << lane) - 1);
                const tmap_u32 slot = word.z + tmapi_raster_count(word.y & upto);
                const tmap_u32 image = k >> (5 - job->beside),
                               x = a.x + (k & job->last) * 32 + lane;
                if (x < job->width && a.image + image < job->images)
                    tmapi_label_put(
                        out + image * cells * size, x - a.x,
                        word.x >> lane & 1 ? tmapi_label_get(room.names, slot, wide) : 0, wide);
            }
        }
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS * 32)
    tmapi_label_write_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 0, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS_WIDE * 32)
    tmapi_label_write_wide_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 1, 0);
}

// The same for labels with gaps.
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS * 32)
    tmapi_label_write_roots_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 0, 1);
}
static __global__ void __launch_bounds__(TMAPI_LABEL_WRITE_WARPS_WIDE * 32)
    tmapi_label_write_roots_wide_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    tmapi_label_write(&job, tmapi_label_memory, 1, 1);
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

// 1 if the memory of a call cannot be valid (tmapi_label_wrong).
static inline int tmapi_label_job_wrong(const tmap_label_plan *plan, const void *cells,
                                        tmapi_raster_memory work, const void *labels,
                                        tmapi_raster_memory count) {
    const tmapi_label_job *job = &plan->job;
    const tmap_u32 size = job->bits ? 4 : tmap_raster_size(job->type);
    const tmap_u64 row = job->bits ? tmap_flood_words(job->width) : job->width;
    const tmap_u64 image = tmapi_raster_span(job->height - 1, job->pitch, row);
    const tmap_u64 all = tmapi_raster_span(job->images - 1, job->slice, image);
    const tmapi_raster_memory in = {cells, tmap_mul_saturate(all, size)};
    return tmapi_label_wrong(&plan->array, in, size, work, labels, count);
}

// The six launches.
typedef struct tmapi_label_steps {
    tmapi_raster_step step[6];
} tmapi_label_steps;

static inline tmapi_label_steps tmapi_label_steps_of(const tmap_label_plan *plan,
                                                     const tmapi_label_job *job) {
    const tmap_u64 blocks = plan->blocks, dense = plan->roots ? 0 : blocks;
    tmap_u32 warps = job->wide ? TMAPI_LABEL_WRITE_WARPS_WIDE : TMAPI_LABEL_WRITE_WARPS;
    const void *write = plan->roots ? job->wide ? (const void *)tmapi_label_write_roots_wide_kernel
                                                : (const void *)tmapi_label_write_roots_kernel
                        : job->wide ? (const void *)tmapi_label_write_wide_kernel
                                    : (const void *)tmapi_label_write_kernel;
    while ((warps > job->rows || tmapi_label_write_bytes(job, warps, plan->roots) > plan->shared) &&
           warps > 1)
        warps /= 2;
    tmapi_label_steps steps = {
        {{job->type == TMAP_RASTER_MASK ? (const void *)tmapi_label_mask_kernel
                                        : (const void *)tmapi_label_values_kernel,
          {blocks, plan->threads, tmapi_label_local_bytes(job->rows * job->slots)}},
         {(const void *)tmapi_label_unite_kernel, {blocks, TMAPI_LABEL_UNITE_WARPS * 32, 0}},
         {(const void *)tmapi_label_roots_kernel, {dense, 128, 0}},
         tmapi_label_sum_step(&job->scan),
         {(const void *)tmapi_label_name_kernel, {dense, 128, 0}},
         {write, {blocks, 32 * warps, tmapi_label_write_bytes(job, warps, plan->roots)}}}};
    if (plan->roots) steps.step[3].shape.grid = 0;
    return steps;
}

// Labels the components of a map.
// plan: that of the map. All pointers are device memory that does not overlap. cells: at a multiple
// of their size. workspace: plan->workspace bytes at a multiple of 16, with any content. labels:
// width * height int or long long (the form); that of column x and row y is number y * width + x.
// count: receives the number of components, at a multiple of 8; not used for labels with gaps.
// Calls that run at the same time need one workspace each. A map without cells needs none of these
// but `count`, which becomes 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps, else
// the launches' error.
// Allocates nothing and does not synchronize, so the call can be captured.
// Cost: cells are read once and labels written once. The work in shared memory grows with the
// number of runs of cells in rows.
// Labels with gaps: 1 + 512 b + k (1024 for values) for the k-th of the components of a block of
// 1024 columns that begin in the same row of it, where b = row * blocks of a row + block.
// Example: the mask 1 1 0 / 0 0 1 / 1 0 1 gives 1 1 0 / 0 0 2 / 3 0 2 and count 3 with 4
// neighbours, 1 1 0 / 0 0 1 / 2 0 1 and count 2 with 8.
static inline cudaError_t tmap_label(const tmap_label_plan *plan, const void *cells,
                                     void *workspace, void *labels, tmap_u64 *count,
                                     cudaStream_t stream) {
    tmapi_label_job job;
    if (!plan) return cudaErrorInvalidValue;
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmap_u64 each = plan->roots ? 0 : 8;
    const tmapi_raster_memory counts = {count,
                                        plan->array.images ? each * plan->array.depth : each};
    if (tmapi_label_job_wrong(plan, cells, work, labels, counts)) return cudaErrorInvalidValue;
    if (!plan->blocks) return tmapi_label_empty(counts, stream);
    job = plan->job;
    tmapi_label_divide(&job, (tmap_u64)workspace);
    job.cells = cells, job.labels = labels, job.found = count;
    if (job.images == 1) job.scan.total = count;
    return tmapi_raster_run(tmapi_label_steps_of(plan, &job).step, 6, &job, stream);
}

#endif

#endif
