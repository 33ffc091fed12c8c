// SPDX-License-Identifier: MIT
// label_job.h: what the kernels of label.h share: the map, the labels, and the workspace.
//
// The map is cut into blocks of 1024 columns and 64 or 32 rows, or half as many. Components that
// reach an inner edge of their block are nodes of a graph over all blocks.
#ifndef TMAP_ADAPTIVE_LABEL_JOB_H
#define TMAP_ADAPTIVE_LABEL_JOB_H

#include "label_runs.h"

// Rows of a block, and its warps; half as many of both on a device that lacks the shared memory.
#ifndef TMAPI_LABEL_ROWS_MASK
#define TMAPI_LABEL_ROWS_MASK 64u
#endif
#ifndef TMAPI_LABEL_ROWS_VALUES
#define TMAPI_LABEL_ROWS_VALUES 32u
#endif
#ifndef TMAPI_LABEL_WARPS
#define TMAPI_LABEL_WARPS 16u
#endif
#ifndef TMAPI_LABEL_JUMPS
#define TMAPI_LABEL_JUMPS 2 // rounds of tmapi_label_flatten before slots are united
#endif

// What a slot of a finished block says of its component: its number in its block, where it is a
// node; else the row in the block in which its first cell lies, and how many components of the
// block have their first cells to the left in that row.
#define TMAPI_LABEL_NODE 0x8000u
#define TMAPI_LABEL_NONE 0xffffu // no component

#define TMAPI_LABEL_PARTS 1024u // 32 components of a row: of a block at most
#define TMAPI_LABEL_CHUNK 4096u // counts that a block scans

typedef struct tmapi_label_job {
    const void *cells;
    tmap_u64 width, height, pitch;
    int type, eight, has_background;
    int wide;         // 1: labels of 64 bits
    int background;   // bits of the value
    tmap_u32 bx;      // blocks side by side
    tmap_u64 by;      // and one above the other
    tmap_u32 rows;    // of a block
    tmap_u32 slots;   // of a row
    tmap_u32 shift;   // bits of a component's number in its row
    tmap_u32 nodes;   // of a block, at most
    tmap_u64 words;   // of a row of bits
    tmap_u64 counts;  // by * rows * bx
    tmap_u32 *in;     // a bit a cell
    tmap_u32 *starts; // of values: a bit a cell
    tmap_u32 *count;  // first cells in a block's row, row by row over the whole map; then the sum
                      // of those before in the chunk
    tmap_u64 *chunk;  // those before a chunk
    tmap_u32 *used;   // nodes of a block
    tmap_u32 *parent; // of a node: a node of the same component
    tmap_u64 *key;    // of a node: where its first cell lies: row, block and number in the row
    unsigned short *edge; // what the first and the last cell of a block's row belong to
    tmap_u32 *ticket;
    void *labels;     // until the last kernel, what a block's slots say stands at a row's first
    void *node_label; // as labels
    tmap_u64 *found;  // the count of components, for the user
} tmapi_label_job;

#if TMAP_CUDA

// Shared memory of a block behind its forest.
typedef struct tmapi_label_local {
    tmapi_label_row last[TMAPI_LABEL_WARPS][32]; // of each warp's rows
    tmapi_label_queue queue[TMAPI_LABEL_WARPS];
    tmap_u32 nodes;
    tmap_u32 marks[1]; // a bit a slot: the root of a component that reaches an inner edge
} tmapi_label_local;

// Bytes of shared memory of the first kernel, for so many slots in a block.
TMAP_FN tmap_u32 tmapi_label_shared_local(tmap_u32 slots) {
    return slots * 2 + (tmap_u32)sizeof(tmapi_label_local) + slots / 8;
}

TMAP_DEVICE tmap_u64 tmapi_label_key(tmap_u64 row, tmap_u32 column, tmap_u32 rank) {
    return row << 32 | (column * 1024u + rank);
}

// Words of a row of a block that lie beyond the map: their slots are not stored.
TMAP_DEVICE tmap_u32 tmapi_label_blank(const tmapi_label_job *job, tmap_u32 column) {
    const tmap_u64 x = (tmap_u64)column * TMAPI_LABEL_CELLS;
    if (x + TMAPI_LABEL_CELLS <= job->width) return 0;
    return TMAPI_LABEL_WORDS - (tmap_u32)((job->width - x + 31) / 32);
}

// Where the slots of a row of the map and a column of blocks are.
TMAP_DEVICE tmap_u32 *tmapi_label_codes(const tmapi_label_job *job, tmap_u64 y, tmap_u32 column) {
    const tmap_u64 at = y * job->width + (tmap_u64)column * TMAPI_LABEL_CELLS;
    return (tmap_u32 *)((char *)job->labels + (at << (job->wide ? 3 : 2)));
}

#endif
#endif
