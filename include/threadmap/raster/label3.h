// SPDX-License-Identifier: MIT
// label3.h: connected components of masks: of a volume with 6, 18 or 26 neighbours, or of each
// image of a batch with 4 or 8. A mask has a byte or a bit a cell.
//
// Components are numbered from 1 in the order of their first cells: slice by slice, row by row,
// from left to right, as scipy.ndimage.label numbers them. In a batch each image begins with 1.
// Cells of no component get 0. Labels are the same in every run and on every machine.
//
//     const tmap_label3_map map = {width, height, depth, width, width * height,
//                                  TMAP_LABEL3_BYTES, 26};
//     tmap_label3_plan plan;
//     tmap_label3_plan_make(&map, TMAP_LABEL_INT32, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_label3(&plan, cells, workspace, labels, count, stream); // label3_measure.h: shapes
//
// Neighbouring rows form a group if their cells of one column or of two neighbouring columns are
// always neighbours: 2 rows of 2 slices with 26 neighbours, 2 rows with 18 or 8, one with 6 or 4.
// The OR of the rows of a group, 32 cells a word, has runs of 1s. A run of a word is a node of a
// forest: its cells are connected. Six launches:
//     pack    turns bytes into bits; not for masks of bits
//     local   a block of threads unites the runs of a tile of 512 words in shared memory
//     unite   unites runs across the edges of tiles, by union-find in global memory
//     roots   gives each run its root, and marks the first cell of each component
//     sum     scans the counts of first cells
//     write   gives cells their labels
// Unions happen in any order, but a parent's first cell is always before its child's, so roots do
// not depend on the order.
#ifndef TMAP_RASTER_LABEL3_H
#define TMAP_RASTER_LABEL3_H

#include "label_base.h"

// ---- plans and jobs -----------------------------------------------------------------------------

// Kinds of masks.
#define TMAP_LABEL3_BYTES 0 // 0 belongs to no component; all other values are equal
#define TMAP_LABEL3_BITS  1 // 32 cells a word, from the lowest bit on; rows begin at words

// A volume, or a batch of images. The byte of column x, row y and slice z is number
// z * slice + y * pitch + x; its bit is bit x % 32 of word z * slice + y * pitch + x / 32. Bits
// beyond the width may have any value.
typedef struct tmap_label3_map {
    tmap_u64 width, height, depth; // columns, rows, and slices or images: 1 to 2^31 - 1
    tmap_u64 pitch;                // bytes or words from a row to the next, below 2^32
    tmap_u64 slice;                // from a slice to the next: pitch * height to 2^60 - 1
    int kind;                      // of the mask: TMAP_LABEL3_BYTES, TMAP_LABEL3_BITS
    int neighbours; // volumes: 6: over faces; 18: over edges too; 26: over corners too
                    // batches of images: 4: over edges; 8: over corners too
} tmap_label3_map;

#define TMAPI_LABEL3_TILE  9u   // log2 of the words of a tile
#define TMAPI_LABEL3_HALF  256u // threads of the last kernels, two blocks a tile
#define TMAPI_LABEL3_NAMES 17u  // from one word's labels to the next one's, in shared memory

// The argument of the kernels. A word is 32 columns of a group; a tile is a box of words.
typedef struct tmapi_label3_job {
    const void *cells;
    const tmap_u32 *bits;
    tmap_u64 pitch, slice;           // of cells
    tmap_u64 bits_pitch, bits_slice; // words of bits from a row, a slice to the next
    tmap_u32 width, height, depth;
    tmap_u32 last;       // bits of the last word of a row that are in the map
    int neighbours;      // of a cell
    int wide;            // labels of 64 bits
    int separate;        // slices are images
    tmap_u32 gy, gz;     // rows and slices of a group: 1 or 2
    tmap_u32 nx, ny, nz; // words, groups of rows and groups of slices of the map
    tmap_u32 lx, ly, lz; // log2 of a tile's extents in them
    tmap_u32 tx, ty;     // tiles along x and y
    tmap_u32 tiles, rows;
    tmap_u32 *parent;  // of the run that starts at bits 2k or 2k + 1 of a word: 16 words + k
    tmap_u32 *first;   // a bit a cell: the first one of its component
    tmap_u32 *count;   // first cells in the previous words of the chunk
    tmap_u64 *chunk;   // first cells before a chunk of TMAPI_LABEL_CHUNK words
    tmap_u64 *counter; // of blocks that have finished `sum`
    tmap_u64 *total;   // components of a batch
    void *labels;
    tmap_u64 *found; // the number of components of the volume or of each image, for the user
} tmapi_label3_job;

// A plan, made by tmap_label3_plan_make. workspace: bytes that tmap_label3 needs.
typedef struct tmap_label3_plan {
    tmap_label3_map map;
    int form;
    tmap_u64 workspace;
    tmapi_label3_job job; // with null addresses
} tmap_label3_plan;

// At least as many components as a volume, or an image of a batch, can have.
TMAP_FN tmap_u64 tmapi_label3_most(const tmap_label3_map *map) {
    const tmap_u64 w = map->width, h = map->height;
    const tmap_u64 d = map->neighbours < 10 && map->neighbours != 6 ? 1 : map->depth;
    const tmap_u64 quarter = (w + 1) / 2 * ((h + 1) / 2);
    if (map->neighbours == 26) return tmap_mul_saturate(quarter, (d + 1) / 2);
    if (map->neighbours % 10 == 8) return tmap_mul_saturate(quarter, d);
    return tmap_mul_saturate(w * h, d) / 2 + (w & h & d & 1);
}

// Sets the addresses of the parts of a workspace at w. Returns its bytes.
TMAP_FN tmap_u64 tmapi_label3_divide(tmapi_label3_job *job, int kind, tmap_u64 w) {
    const tmap_u64 words = (tmap_u64)job->rows * job->nx;
    const tmap_u64 chunks = (words + TMAPI_LABEL_CHUNK - 1) / TMAPI_LABEL_CHUNK;
    tmap_u64 end = 0;
    job->counter = (tmap_u64 *)(w + tmapi_raster_part(&end, 16));
    job->total = job->counter + 1;
    job->chunk = (tmap_u64 *)(w + tmapi_raster_part(&end, chunks * 8));
    job->count = (tmap_u32 *)(w + tmapi_raster_part(&end, words * 4));
    job->first = (tmap_u32 *)(w + tmapi_raster_part(&end, words * 4));
    job->parent =
        (tmap_u32 *)(w + tmapi_raster_part(&end, (tmap_u64)job->tiles << TMAPI_LABEL3_TILE << 6));
    job->bits = (const tmap_u32 *)job->cells;
    if (kind == TMAP_LABEL3_BYTES)
        job->bits = (const tmap_u32 *)(w + tmapi_raster_part(&end, words * 4));
    return end;
}

// Chooses the box of words of a tile: extents of as many cells in each axis as in the others, where
// the map has as many. Images are taken whole before a tile takes more than one.
TMAP_FN void tmapi_label3_tile(tmapi_label3_job *job) {
    job->lx = job->ly = job->lz = 0;
    for (tmap_u32 k = 0; k < TMAPI_LABEL3_TILE; ++k) {
        const tmap_u32 x = 32u << job->lx, y = job->gy << job->ly, z = job->gz << job->lz;
        const int more_x = 1u << job->lx < job->nx, more_y = 1u << job->ly < job->ny;
        const int more_z = 1u << job->lz < job->nz;
        const int flat = more_z && (job->separate ? !more_x && !more_y
                                                  : (!more_x || z < x) && (!more_y || z < y));
        if (flat)
            ++job->lz;
        else if (more_y && (!more_x || y < x))
            ++job->ly;
        else if (more_x)
            ++job->lx;
    }
}

// Makes a plan of tmap_label3_plan_make, without CUDA.
// map, form: as there. Writes *plan only on success. Returns TMAP_EINVAL for a null pointer, an
// argument outside its range, and TMAP_LABEL_INT32 for a volume or an image that may have more than
// 2^31 - 1 components; TMAP_ERANGE above about 8 * 10^9 cells with 4 or 6 neighbours, 17 * 10^9
// with 8 or 18, 34 * 10^9 with 26, and for fewer in maps that fill their tiles in part.
TMAP_FN int tmap_label3_plan_of(const tmap_label3_map *map, int form, tmap_label3_plan *plan) {
    tmap_label3_plan p;
    tmapi_label3_job *job = &p.job;
    tmap_u64 words, tiles;
    int n;
    if (!map || !plan || (unsigned)form > TMAP_LABEL_INT64 || !map->width || !map->height ||
        !map->depth || map->width > 0x7fffffff || map->height > 0x7fffffff ||
        map->depth > 0x7fffffff || (unsigned)map->kind > TMAP_LABEL3_BITS)
        return TMAP_EINVAL;
    n = map->neighbours, words = (map->width + 31) / 32;
    if (n != 4 && n != 8 && n != 6 && n != 18 && n != 26) return TMAP_EINVAL;
    if (map->pitch < (map->kind == TMAP_LABEL3_BITS ? words : map->width) || map->pitch >> 32 ||
        map->slice < map->pitch * map->height || map->slice >> 60)
        return TMAP_EINVAL;
    if (form == TMAP_LABEL_INT32 && tmapi_label3_most(map) > 0x7fffffff) return TMAP_EINVAL;
    p.map = *map, p.form = form;
    job->cells = 0, job->labels = 0, job->found = 0;
    job->pitch = map->pitch, job->slice = map->slice;
    job->width = (tmap_u32)map->width, job->height = (tmap_u32)map->height;
    job->depth = (tmap_u32)map->depth, job->nx = (tmap_u32)words;
    job->last = job->width % 32 ? (1u << job->width % 32) - 1 : ~0u;
    job->neighbours = n, job->wide = form, job->separate = n == 4 || n == 8;
    job->gy = n == 4 || n == 6 ? 1 : 2, job->gz = n == 26 ? 2 : 1;
    job->ny = (job->height + job->gy - 1) / job->gy, job->nz = (job->depth + job->gz - 1) / job->gz;
    job->bits_pitch = map->pitch, job->bits_slice = map->slice;
    if (map->kind == TMAP_LABEL3_BYTES)
        job->bits_pitch = words, job->bits_slice = words * map->height;
    tmapi_label3_tile(job);
    job->tx = (tmap_u32)((words + (1u << job->lx) - 1) >> job->lx);
    job->ty = (job->ny + (1u << job->ly) - 1) >> job->ly;
    tiles =
        tmap_mul_saturate((tmap_u64)job->tx * job->ty, (job->nz + (1u << job->lz) - 1) >> job->lz);
    if (tiles > 1u << (28 - TMAPI_LABEL3_TILE)) return TMAP_ERANGE; // runs have numbers of 32 bits
    job->tiles = (tmap_u32)tiles, job->rows = (tmap_u32)(map->height * map->depth);
    p.workspace = tmapi_label3_divide(job, map->kind, 0);
    *plan = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// ---- words and runs -----------------------------------------------------------------------------

// A word: its column and its group.
typedef struct tmapi_label3_at {
    tmap_u32 x, y, z;
} tmapi_label3_at;

// The word of a number, and its number: tiles one after the other. Its runs have the numbers from
// 16 times that number on.
TMAP_DEVICE tmapi_label3_at tmapi_label3_place(const tmapi_label3_job *job, tmap_u32 word) {
    const tmap_u32 tile = word >> TMAPI_LABEL3_TILE, row = tile / job->tx;
    tmapi_label3_at at;
    at.x = (tile % job->tx << job->lx) + (word & ((1u << job->lx) - 1));
    at.y = (row % job->ty << job->ly) + (word >> job->lx & ((1u << job->ly) - 1));
    at.z = (row / job->ty << job->lz) + ((word & 511) >> (job->lx + job->ly));
    return at;
}
TMAP_DEVICE tmap_u32 tmapi_label3_number(const tmapi_label3_job *job, tmapi_label3_at at) {
    const tmap_u32 tile =
        ((at.z >> job->lz) * job->ty + (at.y >> job->ly)) * job->tx + (at.x >> job->lx);
    const tmap_u32 row = (at.z & ((1u << job->lz) - 1)) << job->ly | (at.y & ((1u << job->ly) - 1));
    return tile << TMAPI_LABEL3_TILE | row << job->lx | (at.x & ((1u << job->lx) - 1));
}

// Bits of columns 32 x to 32 x + 31 of row y of slice z; 0 outside the map.
TMAP_DEVICE tmap_u32 tmapi_label3_row(const tmapi_label3_job *job, tmap_u32 x, tmap_u32 y,
                                      tmap_u32 z) {
    tmap_u32 bits;
    if (x >= job->nx || y >= job->height || z >= job->depth) return 0;
    bits = job->bits[z * job->bits_slice + y * job->bits_pitch + x];
    return x + 1 == job->nx ? bits & job->last : bits;
}

// The OR of rows y0 to y1 of slices z0 to z1.
TMAP_DEVICE tmap_u32 tmapi_label3_rows(const tmapi_label3_job *job, tmap_u32 x, tmap_u32 y0,
                                       tmap_u32 y1, tmap_u32 z0, tmap_u32 z1) {
    tmap_u32 bits = tmapi_label3_row(job, x, y0, z0);
    if (y1 != y0) bits |= tmapi_label3_row(job, x, y1, z0);
    if (z1 != z0) bits |= tmapi_label3_row(job, x, y0, z1);
    if (y1 != y0 && z1 != z0) bits |= tmapi_label3_row(job, x, y1, z1);
    return bits;
}

// A word, the OR of the rows of its group. row: these four; 0 for those that it has not.
TMAP_DEVICE tmap_u32 tmapi_label3_group(const tmapi_label3_job *job, tmapi_label3_at at,
                                        tmap_u32 *row) {
    const tmap_u32 y = at.y * job->gy, z = at.z * job->gz;
    const int two_y = job->gy > 1, two_z = job->gz > 1;
    row[0] = tmapi_label3_row(job, at.x, y, z);
    row[1] = two_y ? tmapi_label3_row(job, at.x, y + 1, z) : 0;
    row[2] = two_z ? tmapi_label3_row(job, at.x, y, z + 1) : 0;
    row[3] = two_y && two_z ? tmapi_label3_row(job, at.x, y + 1, z + 1) : 0;
    return row[0] | row[1] | row[2] | row[3];
}

TMAP_DEVICE tmap_u32 tmapi_label3_word(const tmapi_label3_job *job, tmapi_label3_at at) {
    tmap_u32 row[4];
    return tmapi_label3_group(job, at, row);
}

// The run of 1s of a word that contains cell `bit`, a power of two.
TMAP_DEVICE tmap_u32 tmapi_label3_run(tmap_u32 word, tmap_u32 bit) {
    const tmap_u32 below = ~word & (bit - 1), above = ~word & ~(bit - 1);
    const tmap_u32 upto = above ? (above & (0u - above)) - 1 : ~0u;
    return below ? upto & ~0u << (32 - __clz((int)below)) : upto;
}

// Number in its word of the run `run`: half of the column where it starts.
TMAP_DEVICE tmap_u32 tmapi_label3_half(tmap_u32 run) { return (tmap_u32)(__ffs((int)run) - 1) / 2; }

// The first cell of a run in the order of slices, rows and columns: 32 times the number of its word
// of bits, plus its bit.
TMAP_DEVICE tmap_u64 tmapi_label3_first(const tmapi_label3_job *job, tmap_u32 run) {
    const tmapi_label3_at at = tmapi_label3_place(job, run >> 4);
    const tmap_u32 bit = 1u << run % 16 * 2;
    tmap_u32 row[4];
    const tmap_u32 word = tmapi_label3_group(job, at, row);
    const tmap_u32 cells = tmapi_label3_run(word, word & bit ? bit : bit << 1);
    const tmap_u32 k = row[0] & cells ? 0 : row[1] & cells ? 1 : row[2] & cells ? 2 : 3;
    const tmap_u32 from = (k < 2 ? k == 0 ? row[0] : row[1] : k == 2 ? row[2] : row[3]) & cells;
    const tmap_u64 of = (tmap_u64)(at.z * job->gz + k / 2) * job->height + at.y * job->gy + k % 2;
    return (of * job->nx + at.x) * 32 + (tmap_u32)(__ffs((int)from) - 1);
}

// ---- unions -------------------------------------------------------------------------------------

// The forest of the runs of a tile in shared memory, or of all runs in global memory. recent: 0, or
// pairs that a block has united in global memory, so that it does not do so again.
typedef struct tmapi_label3_forest {
    tmap_u32 *parent;
    tmap_u32 base; // number of the first run
    tmap_u64 *recent;
} tmapi_label3_forest;

// Joins the trees of two runs. The root with the first cell of both trees is the new root.
TMAP_DEVICE void tmapi_label3_unite(const tmapi_label3_job *job, tmapi_label3_forest f, tmap_u32 a,
                                    tmap_u32 b) {
    a -= f.base, b -= f.base;
    if (f.recent) {
        volatile tmap_u64 *recent = f.recent;
        a = f.parent[a], b = f.parent[b];
        recent += (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> (32 - TMAPI_LABEL3_TILE);
        if (*recent == ((tmap_u64)a << 32 | b)) return;
        *recent = (tmap_u64)a << 32 | b;
    }
    for (;;) {
        tmap_u32 high;
        a = tmapi_label_node_root(f.parent, a), b = tmapi_label_node_root(f.parent, b);
        if (a == b) return;
        if (!f.recent && job->gy == 1) // the order of runs of single rows is that of their cells
            high = a > b ? a : b, b = a > b ? b : a, a = high;
        else if (tmapi_label3_first(job, f.base + a) < tmapi_label3_first(job, f.base + b))
            high = b, b = a, a = high;
        if (atomicCAS(f.parent + a, a, b) == a) return;
    }
}

// Unites runs of a word with runs of another one, along cells `rest` of the first. a, b: the number
// of run 0 of both. shift: column of the neighbour less that of the cell, from -31 to 31.
TMAP_DEVICE void tmapi_label3_pairs(const tmapi_label3_job *job, tmapi_label3_forest f,
                                    tmap_u32 word, tmap_u32 a, tmap_u32 other, tmap_u32 b,
                                    tmap_u32 rest, int shift) {
    while (rest) {
        const tmap_u32 bit = rest & (0u - rest), mine = tmapi_label3_run(word, bit);
        const tmap_u32 its = tmapi_label3_run(other, shift < 0 ? bit >> -shift : bit << shift);
        tmapi_label3_unite(job, f, a + tmapi_label3_half(mine), b + tmapi_label3_half(its));
        rest &= ~(mine & (shift < 0 ? its << -shift : its >> shift));
    }
}

// Unites the runs of a word with those of words before it: if f.recent with those in other tiles,
// else with those in its own. Each step takes rows of the word's group and the rows dy and dz away:
//
//     step                           -1     0     1     2     3     4     5
//     rows of the slice z            both   top   both  top   end   top   end
//     dy, dz                         0,0   -1,0  0,-1 -1,-1  1,-1  0,-1  0,-1
//     over columns too, neighbours   all  8,18,26  26    26    26   18    18
TMAP_DEVICE void tmapi_label3_touch(const tmapi_label3_job *job, tmapi_label3_forest f,
                                    tmapi_label3_at at) {
    const tmap_u32 word = tmapi_label3_word(job, at), a = tmapi_label3_number(job, at);
    const tmap_u32 y = at.y * job->gy, y1 = y + job->gy - 1, z = at.z * job->gz;
    const int n = job->neighbours, steps = n == 18 ? 6 : n == 26 ? 4 : n == 6 ? 2 : 1;
    const int outside = f.recent != 0;
    if (word == 0) return;
#pragma unroll 1
    for (int k = -1; k < steps; ++k) {
        const tmap_u32 dy = k == 3 ? 1u : k == 0 || k == 2 ? ~0u : 0, dz = k > 0 ? ~0u : 0;
        const tmap_u32 from = k == 3 || k == 5 ? y1 : y, upto = k % 2 ? y1 : y;
        const tmap_u32 z1 = k > 0 ? z : z + job->gz - 1;
        const int columns = n == 26 || n == 8 || (n == 18 && (k == 0 || k > 3));
        tmap_u32 mine, its = 0, straight = 0;
        if (at.y + dy >= job->ny || at.z + dz >= job->nz) continue;
        mine = k < 0 ? word : tmapi_label3_rows(job, at.x, from, upto, z, z1);
        if (mine == 0) continue;
            // the word with the same columns: straight, to the left, to the right; its neighbours
#pragma unroll 1
        for (int d = k < 0 ? 3 : 0; d < (k < 0 ? 4 : columns ? 5 : 1); ++d) {
            const int shift = d == 0 ? 0 : d == 1 ? -1 : d == 2 ? 1 : d == 3 ? 31 : -31;
            const tmapi_label3_at to = {at.x + (d == 3 ? ~0u : d == 4), at.y + dy, at.z + dz};
            const tmap_u32 b = tmapi_label3_number(job, to);
            tmap_u32 near;
            if (to.x >= job->nx || ((a ^ b) >> TMAPI_LABEL3_TILE != 0) != outside) continue;
            if (d == 0 || d > 2)
                its = tmapi_label3_rows(job, to.x, from + dy, upto + dy, z + dz, z1 + dz);
            near = mine & (shift < 0 ? its << -shift : its >> shift);
            if (d == 0) straight = near;
            if (d == 1) near &= ~(straight | straight << 1); // of the same runs
            if (d == 2) near &= ~(straight | straight >> 1);
            if (near)
                tmapi_label3_pairs(job, f, word, a << 4, tmapi_label3_word(job, to), b << 4, near,
                                   shift);
        }
    }
}

// ---- the kernels --------------------------------------------------------------------------------

// Turns bytes into bits, 32 a thread; a warp reads rows at odd addresses together.
static __global__ void __launch_bounds__(256) tmapi_label3_pack_kernel(tmapi_label3_job job) {
    const tmap_u32 i = blockIdx.x * 256 + threadIdx.x, row = i / job.nx, x = i % job.nx * 32;
    const tmap_u32 lane = threadIdx.x % 32;
    const unsigned char *cells = (const unsigned char *)job.cells + row / job.height * job.slice +
                                 row % job.height * job.pitch + x;
    const tmap_u32 left = row < job.rows ? job.width - x : 0;
    tmap_u32 word = 0;
    if (__any_sync(~0u, left && (left < 32 || (tmap_u64)cells % 16))) {
#pragma unroll 8
        for (tmap_u32 k = 0; k < 32; ++k) {
            const unsigned char *from =
                (const unsigned char *)__shfl_sync(~0u, (tmap_u64)cells, (int)k);
            const tmap_u32 columns = __shfl_sync(~0u, left, (int)k);
            tmapi_raster_ballot(lane < columns && from[lane] != 0, k, &word);
        }
    } else if (left) {
        const uint4 low = __ldcs((const uint4 *)cells), high = __ldcs((const uint4 *)cells + 1);
        word = tmapi_label_pack16(low) | tmapi_label_pack16(high) << 16;
    }
    if (left) ((tmap_u32 *)job.bits)[i] = word;
}

// Unites the runs of a tile; stores the number of each run's root.
static __global__ void __launch_bounds__(1u << TMAPI_LABEL3_TILE, 2)
    tmapi_label3_local_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmap_u32 *parent = (tmap_u32 *)tmapi_label3_memory;
    const tmap_u32 base = blockIdx.x * (16u << TMAPI_LABEL3_TILE);
    const tmapi_label3_forest f = {parent, base, 0};
    if (blockIdx.x == 0 && threadIdx.x == 0) *job.counter = 0;
    for (tmap_u32 i = threadIdx.x; i < 16u << TMAPI_LABEL3_TILE; i += blockDim.x) parent[i] = i;
    __syncthreads();
    tmapi_label3_touch(&job, f,
                       tmapi_label3_place(&job, blockIdx.x << TMAPI_LABEL3_TILE | threadIdx.x));
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < 16u << TMAPI_LABEL3_TILE; i += blockDim.x)
        job.parent[base + i] = base + tmapi_label_node_root(parent, i);
}

// Unites the runs of a tile with those of other tiles.
static __global__ void __launch_bounds__(1u << TMAPI_LABEL3_TILE, 2)
    tmapi_label3_unite_kernel(tmapi_label3_job job) {
    __shared__ tmap_u64 recent[1u << TMAPI_LABEL3_TILE];
    const tmapi_label3_forest f = {job.parent, 0, recent};
    recent[threadIdx.x] = 0; // no pair
    __syncthreads();
    tmapi_label3_touch(&job, f,
                       tmapi_label3_place(&job, blockIdx.x << TMAPI_LABEL3_TILE | threadIdx.x));
}

// Gives each run its root; marks and counts the first cells of components. A root does not change
// here, so that loads from caches find it.
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_roots_kernel(tmapi_label3_job job) {
    const tmap_u32 number = blockIdx.x * TMAPI_LABEL3_HALF + threadIdx.x;
    const tmapi_label3_at at = tmapi_label3_place(&job, number);
    tmap_u32 row[4], first[4] = {0, 0, 0, 0}, run;
    for (tmap_u32 rest = tmapi_label3_group(&job, at, row), word = rest; rest; rest &= ~run) {
        tmap_u32 mine, root, up;
        run = tmapi_label3_run(word, rest & (0u - rest));
        mine = root = number << 4 | tmapi_label3_half(run);
        while ((up = job.parent[root]) != root) root = up;
        if (root != mine)
            job.parent[mine] = root;
        else {
            tmap_u32 open = run; // until a row has cells of it
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const tmap_u32 cells = row[k] & open;
                first[k] |= cells & (0u - cells);
                if (cells) open = 0;
            }
        }
    }
    if (at.x >= job.nx) return;
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        const tmap_u32 y = at.y * job.gy + k % 2, z = at.z * job.gz + k / 2;
        const tmap_u32 to = (z * job.height + y) * job.nx + at.x;
        if (k % 2 >= job.gy || k / 2 >= job.gz || y >= job.height || z >= job.depth) continue;
        job.first[to] = first[k], job.count[to] = tmapi_raster_count(first[k]);
    }
}

// Number of components with first cells before a word of bits.
TMAP_DEVICE tmap_u64 tmapi_label3_before(const tmapi_label3_job *job, tmap_u32 word) {
    return job->chunk[word / TMAPI_LABEL_CHUNK] + job->count[word];
}

static __global__ void __launch_bounds__(TMAPI_LABEL_SCAN_THREADS)
    tmapi_label3_sum_kernel(tmapi_label3_job job) {
    const tmap_u64 words = (tmap_u64)job.rows * job.nx;
    tmap_u64 *const found = job.separate ? job.total : job.found;
    tmapi_label_sum(&job.count, &words, &job.chunk, &job.counter, &found);
}

// Gives cells their labels. A lane has a word and stores the labels of its runs in shared memory;
// then the warp writes the rows of one word after the other.
TMAP_DEVICE void tmapi_label3_write(const tmapi_label3_job *job, void *memory, const int wide) {
    const tmap_u32 number = blockIdx.x * TMAPI_LABEL3_HALF + threadIdx.x, lane = threadIdx.x % 32;
    const tmapi_label3_at at = tmapi_label3_place(job, number);
    void *names = (char *)memory + (threadIdx.x - lane) * TMAPI_LABEL3_NAMES * (wide ? 8 : 4);
    tmap_u32 row[4], run, last = 0;
    const tmap_u32 word = tmapi_label3_group(job, at, row);
    const tmap_u32 image = at.z * job->height * job->nx; // its first word of bits
    tmap_u64 label = 0;
    if (job->separate && at.x == 0 && at.y == 0 && at.z < job->depth)
        job->found[at.z] =
            (at.z + 1 < job->depth ? tmapi_label3_before(job, image + job->height * job->nx)
                                   : *job->total) -
            tmapi_label3_before(job, image);
    for (tmap_u32 rest = word; rest; rest &= ~run) {
        tmap_u32 half, root;
        run = tmapi_label3_run(word, rest & (0u - rest)), half = tmapi_label3_half(run);
        root = job->parent[number << 4 | half];
        if (root != last || label == 0) {
            const tmap_u64 cell = tmapi_label3_first(job, root);
            const tmap_u32 of = (tmap_u32)(cell / 32), before = (1u << cell % 32) - 1;
            label = tmapi_label3_before(job, of) + tmapi_raster_count(job->first[of] & before) + 1;
            if (job->separate) label -= tmapi_label3_before(job, image);
            last = root;
        }
        tmapi_label_put(names, lane * TMAPI_LABEL3_NAMES + half, label, wide);
    }
    __syncwarp();
#pragma unroll 2
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u32 bits = __shfl_sync(~0u, word, (int)k), x = __shfl_sync(~0u, at.x, (int)k);
        const tmap_u32 y0 = __shfl_sync(~0u, at.y, (int)k) * job->gy;
        const tmap_u32 z0 = __shfl_sync(~0u, at.z, (int)k) * job->gz, column = x * 32 + lane;
        const tmap_u32 below = ~bits & ((1u << lane) - 1),
                       half = (32u - (tmap_u32)__clz((int)below)) / 2;
        if (bits >> lane & 1) label = tmapi_label_get(names, k * TMAPI_LABEL3_NAMES + half, wide);
#pragma unroll
        for (tmap_u32 r = 0; r < 4; ++r) {
            const tmap_u32 cells = __shfl_sync(~0u, row[r], (int)k), y = y0 + r % 2, z = z0 + r / 2;
            const tmap_u64 to = ((tmap_u64)z * job->height + y) * job->width + column;
            const tmap_u64 name = cells >> lane & 1 ? label : 0;
            if (r % 2 >= job->gy || r / 2 >= job->gz) continue;
            if (x >= job->nx || column >= job->width || y >= job->height || z >= job->depth)
                continue;
            if (wide)
                TMAPI_STCS((tmap_u64 *)job->labels + to, name);
            else
                TMAPI_STCS((tmap_u32 *)job->labels + to, (tmap_u32)name);
        }
    }
}

static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_write_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmapi_label3_write(&job, tmapi_label3_memory, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_write_wide_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmapi_label3_write(&job, tmapi_label3_memory, 1);
}

// ---- labels -------------------------------------------------------------------------------------

// Makes the plan of the labels of a volume or of a batch of images.
// map: its ranges are at its type. form: of labels, TMAP_LABEL_INT32 or TMAP_LABEL_INT64.
// plan->workspace: for each cell 0.75 bytes with 26 neighbours, 1.25 with 8 or 18, 2.25 with 4 or
// 6, 1/8 more for a mask of bytes, and more for maps that fill their tiles in part.
// Returns cudaErrorInvalidValue for TMAP_EINVAL of tmap_label3_plan_of, and
// cudaErrorInvalidConfiguration for TMAP_ERANGE. It asks nothing of a device.
static inline cudaError_t tmap_label3_plan_make(const tmap_label3_map *map, int form,
                                                tmap_label3_plan *plan) {
    return tmapi_launch_error(tmap_label3_plan_of(map, form, plan));
}

// Labels the components of a volume, or of each image of a batch.
// plan: that of the map. All pointers are device memory. cells: a mask of bits at a multiple of 4.
// workspace: plan->workspace bytes at a multiple of 16, with any content. labels: width * height *
// depth int or long long (plan->form); that of column x, row y and slice z is number
// (z * height + y) * width + x. count: receives the number of components, for a batch one number an
// image; at a multiple of 8. Calls that run at the same time need one workspace each.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, else the launches' error.
// Allocates nothing and does not synchronize, so the call can be captured.
// Cost: cells are read once and labels written once; the rest grows with the number of runs.
// Example: two slices of 2 x 2 cells, 1 0 / 0 0 and 0 0 / 0 1: with 26 neighbours both cells get 1
// and the count is 1; with 18 they get 1 and 2; as images both get 1, and the counts are 1 and 1.
static inline cudaError_t tmap_label3(const tmap_label3_plan *plan, const void *cells,
                                      void *workspace, void *labels, tmap_u64 *count,
                                      cudaStream_t stream) {
    tmapi_label3_job job;
    tmap_u64 words;
    if (!plan || !tmapi_raster_aligned(cells, plan->map.kind == TMAP_LABEL3_BITS ? 4 : 1) ||
        !tmapi_raster_aligned(workspace, 16) || !tmapi_raster_aligned(count, 8) ||
        !tmapi_raster_aligned(labels, plan->form == TMAP_LABEL_INT64 ? 8 : 4))
        return cudaErrorInvalidValue;
    job = plan->job, job.cells = cells, job.labels = labels, job.found = count;
    tmapi_label3_divide(&job, plan->map.kind, (tmap_u64)workspace);
    words = (tmap_u64)job.rows * job.nx;
    const tmapi_raster_step steps[6] = {
        {(const void *)tmapi_label3_pack_kernel,
         {plan->map.kind == TMAP_LABEL3_BITS ? 0 : (words + 255) / 256, 256, 0}},
        {(const void *)tmapi_label3_local_kernel,
         {job.tiles, 1u << TMAPI_LABEL3_TILE, 64u << TMAPI_LABEL3_TILE}},
        {(const void *)tmapi_label3_unite_kernel, {job.tiles, 1u << TMAPI_LABEL3_TILE, 0}},
        {(const void *)tmapi_label3_roots_kernel, {job.tiles * 2ull, TMAPI_LABEL3_HALF, 0}},
        {(const void *)tmapi_label3_sum_kernel,
         {(words + TMAPI_LABEL_CHUNK - 1) / TMAPI_LABEL_CHUNK, TMAPI_LABEL_SCAN_THREADS, 0}},
        {job.wide ? (const void *)tmapi_label3_write_wide_kernel
                  : (const void *)tmapi_label3_write_kernel,
         {job.tiles * 2ull, TMAPI_LABEL3_HALF,
          TMAPI_LABEL3_HALF * TMAPI_LABEL3_NAMES * (job.wide ? 8 : 4)}}};
    return tmapi_raster_run(steps, 6, &job, stream);
}

#endif

#endif
