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
//     tmap_label3(&plan, cells, workspace, labels, count, stream); // label_measure.h: shapes
//
// The images of a batch are labelled by label.h, several narrow ones side by side. For volumes,
// neighbouring rows form a group if their cells of one column or of two neighbouring columns are
// always neighbours: 2 rows of 2 slices with 26 neighbours, 2 rows with 18, one with 6.
// The OR of the rows of a group, 32 cells a word, has runs of 1s. A run of a word is a node of a
// forest: its cells are connected. Five launches:
//     local   a block of threads packs a tile of 512 words and unites its runs in shared memory
//     unite   unites runs across the edges of tiles, by union-find in global memory
//     roots   gives each run its root, and marks the first cell of each component
//     sum     scans the counts of first cells
//     write   gives cells their labels
// Unions happen in any order, but a parent's first cell is always before its child's, so roots do
// not depend on the order.
#ifndef TMAP_RASTER_LABEL3_H
#define TMAP_RASTER_LABEL3_H

#include "label.h"

// ---- plans and jobs -----------------------------------------------------------------------------

// Kinds of masks.
#define TMAP_LABEL3_BYTES 0 // 0 belongs to no component; all other values are equal
#define TMAP_LABEL3_BITS  1 // 32 cells a word, from the lowest bit on; rows begin at words

// A volume, or a batch of images. The byte of column x, row y and slice z is number
// z * slice + y * pitch + x; its bit is bit x % 32 of word z * slice + y * pitch + x / 32. Bits
// beyond the width may have any value.
typedef struct tmap_label3_map {
    tmap_u64 width, height, depth; // columns, rows, and slices or images: 0 to 2^31 - 1
    tmap_u64 pitch;                // bytes or words from a row to the next, below 2^32
    tmap_u64 slice;                // from a slice to the next: pitch * height to 2^60 - 1
    int kind;                      // of the mask: TMAP_LABEL3_BYTES, TMAP_LABEL3_BITS
    int neighbours; // volumes: 6: over faces; 18: over edges too; 26: over corners too
                    // batches of images: 4: over edges; 8: over corners too
} tmap_label3_map;

#define TMAPI_LABEL3_TILE  9u   // log2 of the words of a tile
#define TMAPI_LABEL3_HALF  256u // threads of the last kernels, two blocks a tile
#define TMAPI_LABEL3_NAMES 17u  // from one word's labels to the next one's, in shared memory
#define TMAPI_LABEL3_LOCAL (96u << TMAPI_LABEL3_TILE) // bytes of shared memory of a tile

// The argument of the kernels. A word is 32 columns of a group; a tile is a box of words.
typedef struct tmapi_label3_job {
    tmapi_label_scan scan; // counts of first cells in each word of bits
    const void *cells;
    tmap_u64 pitch, slice; // of cells
    tmap_u32 width, height, depth;
    tmap_u32 last;       // bits of the last word of a row that are in the map
    int kind;            // of the mask
    int neighbours;      // of a cell
    int wide;            // labels of 64 bits
    tmap_u32 gy, gz;     // rows and slices of a group: 1 or 2
    tmap_u32 nx, ny, nz; // words, groups of rows and groups of slices of the map
    tmap_u32 lx, ly, lz; // log2 of a tile's extents in them
    tmap_u32 tx, ty;     // tiles along x and y
    tmap_u32 tiles;
    tmap_u32 *bits;   // of a word: those of the rows of its group
    tmap_u32 *parent; // of run k of word w of a tile: (16 tile + k) 512 + w
    tmap_u32 *first;  // a bit a cell: the first one of its component
    void *labels;
} tmapi_label3_job;

// A plan, made by tmap_label3_plan_make. workspace: bytes that tmap_label3 needs. job: of a volume,
// with null addresses. batch: of images.
typedef struct tmap_label3_plan {
    tmap_label3_map map;
    tmap_label_array array; // of the labels
    tmap_u64 workspace;
    tmapi_label3_job job;
    tmap_label_plan batch;
} tmap_label3_plan;

// At least as many components as a volume, or an image of a batch, can have.
TMAP_FN tmap_u64 tmapi_label3_most(const tmap_label3_map *map) {
    const tmap_u64 w = map->width, h = map->height;
    const tmap_u64 d = map->neighbours == 4 || map->neighbours == 8 ? 1 : map->depth;
    const tmap_u64 quarter = (w + 1) / 2 * ((h + 1) / 2);
    if (map->neighbours == 26) return tmap_mul_saturate(quarter, (d + 1) / 2);
    if (map->neighbours % 10 == 8) return tmap_mul_saturate(quarter, d);
    return tmap_mul_saturate(w * h, d) / 2 + (w & h & d & 1);
}

// Sets the addresses of the parts of a workspace at w. Returns its bytes.
TMAP_FN tmap_u64 tmapi_label3_divide(tmapi_label3_job *job, tmap_u64 w) {
    const tmap_u64 groups = (tmap_u64)job->tiles << TMAPI_LABEL3_TILE;
    tmap_u64 end = 0;
    tmapi_label_scan_divide(&job->scan, w, &end);
    job->first = (tmap_u32 *)(w + tmapi_raster_part(&end, job->scan.counts * 4));
    job->parent = (tmap_u32 *)(w + tmapi_raster_part(&end, groups * 64));
    job->bits = (tmap_u32 *)(w + tmapi_raster_part(&end, groups * job->gy * job->gz * 4));
    return end;
}

// Makes the plan of a batch of images from the plan's map.
TMAP_FN int tmapi_label3_batch(const tmap_facts *facts, tmap_label3_plan *p) {
    const tmap_label3_map *map = &p->map;
    tmapi_label_job *job = &p->batch.job;
    const tmap_raster_map image = {map->width, map->height,      map->pitch,     0,
                                   0,          TMAP_RASTER_MASK, map->neighbours};
    int code;
    p->batch.map = image, p->batch.array = p->array;
    job->width = map->width, job->height = map->height, job->pitch = map->pitch;
    job->images = map->depth, job->slice = map->slice;
    job->type = TMAP_RASTER_MASK, job->bits = map->kind == TMAP_LABEL3_BITS;
    job->eight = map->neighbours == 8, job->wide = p->array.form;
    job->has_nodata = job->nodata = 0;
    job->top = 0, job->bottom = map->height, job->seams = 0;
    if ((code = tmapi_label_plan_end(facts, &p->batch)) == TMAP_OK)
        p->workspace = p->batch.workspace;
    return code;
}

// Makes the plan of tmap_label3_plan_make from facts, for the shared memory that a block can have.
// map, form: as there. Writes *plan only on success. Returns TMAP_EINVAL for a null pointer, an
// argument outside its range, and TMAP_LABEL_INT32 for a volume or an image that may have more than
// 2^31 - 1 components; TMAP_ERANGE for a batch above about 10^11 cells, for a volume above about
// 8 * 10^9 cells with 6 neighbours, 17 * 10^9 with 18, 34 * 10^9 with 26, and for fewer in maps
// that fill their tiles in part.
TMAP_FN int tmap_label3_plan_of(const tmap_label3_map *map, int form, const tmap_facts *facts,
                                tmap_label3_plan *plan) {
    tmap_label3_plan p;
    tmapi_label3_job *job = &p.job;
    tmap_u64 words, tiles;
    int n;
    tmap_u32 log[3];
    if (!map || !plan || !facts || (unsigned)map->kind > TMAP_LABEL3_BITS) return TMAP_EINVAL;
    n = map->neighbours, words = (map->width + 31) / 32;
    p.map = *map, p.array.width = map->width, p.array.height = map->height;
    p.array.depth = map->depth, p.array.form = form, p.array.images = n == 4 || n == 8;
    if (!tmapi_label_is_array(&p.array)) return TMAP_EINVAL;
    if (n != 4 && n != 8 && n != 6 && n != 18 && n != 26) return TMAP_EINVAL;
    if (map->pitch < (map->kind == TMAP_LABEL3_BITS ? words : map->width) || map->pitch >> 32 ||
        map->slice < map->pitch * map->height || map->slice >> 60)
        return TMAP_EINVAL;
    if (form == TMAP_LABEL_INT32 && tmapi_label3_most(map) > 0x7fffffff) return TMAP_EINVAL;
    if (p.array.images) {
        const int code = tmapi_label3_batch(facts, &p);
        if (code == TMAP_OK) *plan = p;
        return code;
    }
    job->cells = 0, job->labels = 0;
    job->pitch = map->pitch, job->slice = map->slice;
    job->width = (tmap_u32)map->width, job->height = (tmap_u32)map->height;
    job->depth = (tmap_u32)map->depth, job->nx = (tmap_u32)words;
    job->last = job->width % 32 ? (1u << job->width % 32) - 1 : ~0u;
    job->kind = map->kind, job->neighbours = n, job->wide = form;
    job->gy = n == 6 ? 1 : 2, job->gz = n == 26 ? 2 : 1;
    job->ny = (job->height + job->gy - 1) / job->gy, job->nz = (job->depth + job->gz - 1) / job->gz;
    log[0] = 5, log[1] = job->gy - 1, log[2] = job->gz - 1;
    tmapi_label_box(&p.array, TMAPI_LABEL3_TILE, log);
    job->lx = log[0] - 5, job->ly = log[1] - (job->gy - 1), job->lz = log[2] - (job->gz - 1);
    job->tx = (tmap_u32)((words + (1u << job->lx) - 1) >> job->lx);
    job->ty = (job->ny + (1u << job->ly) - 1) >> job->ly;
    tiles =
        tmap_mul_saturate((tmap_u64)job->tx * job->ty, (job->nz + (1u << job->lz) - 1) >> job->lz);
    if (tiles > 1u << (28 - TMAPI_LABEL3_TILE)) return TMAP_ERANGE; // runs have numbers of 32 bits
    job->tiles = (tmap_u32)tiles;
    job->scan.counts = map->height * map->depth * job->nx;
    p.workspace = tmapi_label3_divide(job, 0);
    *plan = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// ---- words and runs -----------------------------------------------------------------------------

// A word: its column and its group.
typedef struct tmapi_label3_at {
    tmap_u32 x, y, z;
} tmapi_label3_at;

// The word of a number, and its number: tiles one after the other.
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

// A word, the OR of the rows of its group. row: these: those of the first slice, then those of the
// second one; 0 for those that it has not.
TMAP_DEVICE tmap_u32 tmapi_label3_split(uint4 v, tmap_u32 *row) {
    row[0] = v.x, row[1] = v.y, row[2] = v.z, row[3] = v.w;
    return v.x | v.y | v.z | v.w;
}
TMAP_DEVICE tmap_u32 tmapi_label3_group(const tmapi_label3_job *job, tmap_u32 word, tmap_u32 *row) {
    uint2 v = {0, 0};
    if (job->gz > 1) return tmapi_label3_split(((const uint4 *)job->bits)[word], row);
    if (job->gy > 1)
        v = ((const uint2 *)job->bits)[word];
    else
        v.x = job->bits[word];
    return tmapi_label3_split(make_uint4(v.x, v.y, 0, 0), row);
}

// The run of 1s of a word that contains cell `bit`, a power of two.
TMAP_DEVICE tmap_u32 tmapi_label3_run(tmap_u32 word, tmap_u32 bit) {
    const tmap_u32 below = ~word & (bit - 1), above = ~word & ~(bit - 1);
    const tmap_u32 upto = above ? (above & (0u - above)) - 1 : ~0u;
    return below ? upto & ~0u << (32 - __clz((int)below)) : upto;
}

// The number of run 0 of a word. Run k has a number 512 k greater, so a warp that takes run k of
// its words takes neighbours.
TMAP_DEVICE tmap_u32 tmapi_label3_runs(tmap_u32 word) {
    return word >> TMAPI_LABEL3_TILE << (TMAPI_LABEL3_TILE + 4) | (word & 511);
}

// The number of the run that contains cell `bit` of a word. runs: that of run 0.
TMAP_DEVICE tmap_u32 tmapi_label3_node(tmap_u32 word, tmap_u32 bit, tmap_u32 runs) {
    const tmap_u32 starts = word & ~(word << 1);
    return runs + ((tmapi_raster_count(starts & (bit | (bit - 1))) - 1) << TMAPI_LABEL3_TILE);
}

// The first cell of a run `cells` in the order of slices, rows and columns: its column in the word.
// k: receives its row.
TMAP_DEVICE tmap_u32 tmapi_label3_lead(const tmap_u32 *row, tmap_u32 cells, tmap_u32 *k) {
    const tmap_u32 a = row[0] & cells, b = row[1] & cells, c = row[2] & cells, d = row[3] & cells;
    *k = a ? 0 : b ? 1 : c ? 2 : 3;
    return (tmap_u32)(__ffs((int)(a ? a : b ? b : c ? c : d)) - 1);
}

// The first cell of a run of the map: 32 times the number of its word of bits, plus its bit.
TMAP_DEVICE tmap_u64 tmapi_label3_first(const tmapi_label3_job *job, tmap_u32 run) {
    const tmap_u32 number = run >> (TMAPI_LABEL3_TILE + 4) << TMAPI_LABEL3_TILE | (run & 511);
    const tmapi_label3_at at = tmapi_label3_place(job, number);
    tmap_u32 row[4], k;
    const tmap_u32 word = tmapi_label3_group(job, number, row);
    tmap_u32 starts = word & ~(word << 1);
    for (k = run >> TMAPI_LABEL3_TILE & 15; k; --k) starts &= starts - 1;
    const tmap_u32 cells = tmapi_label3_run(word, starts & (0u - starts));
    const tmap_u32 column = tmapi_label3_lead(row, cells, &k);
    const tmap_u64 of = (tmap_u64)(at.z * job->gz + k / 2) * job->height + at.y * job->gy + k % 2;
    return (of * job->nx + at.x) * 32 + column;
}

// ---- unions -------------------------------------------------------------------------------------
//
// A warp appends pairs of runs that touch to a queue, and unites 32 of them whenever it has them.

// What the unions of a tile, or those across the edges of tiles, work on.
typedef struct tmapi_label3_forest {
    volatile tmap_u32 *parent; // of the runs of the tile, or of all runs
    const uint4 *tile;         // rows of the words of the tile; 0 for unions across edges
    volatile tmap_u64 *recent; // pairs that the block has united across edges
    tmap_u64 *queue;           // of the warp: 64 pairs
} tmapi_label3_forest;

// Joins the trees of two runs of a tile. The root with the first cell of both is the new root. An
// entry of `parent` is the parent's first cell in the tile << 16 | its number, so a root's own.
TMAP_DEVICE tmap_u32 tmapi_label3_tile_root(volatile tmap_u32 *parent, tmap_u32 run) {
    for (tmap_u32 up = parent[run];;) {
        const tmap_u32 next = parent[up & 0xffff];
        if (next == up) return up;
        parent[run] = next, run = up & 0xffff, up = next;
    }
}
TMAP_DEVICE void tmapi_label3_tile_unite(volatile tmap_u32 *parent, tmap_u32 a, tmap_u32 b) {
    for (;;) {
        const tmap_u32 p = tmapi_label3_tile_root(parent, a);
        const tmap_u32 q = tmapi_label3_tile_root(parent, b);
        const tmap_u32 low = p < q ? p : q, high = p < q ? q : p;
        a = high & 0xffff, b = low & 0xffff;
        if (p == q || atomicCAS((tmap_u32 *)parent + a, high, low) == high) return;
    }
}

// 1 if the first cell of run a of the map is before that of run b.
TMAP_DEVICE int tmapi_label3_earlier(const void *job, tmap_u32 a, tmap_u32 b) {
    return tmapi_label3_first((const tmapi_label3_job *)job, a) <
           tmapi_label3_first((const tmapi_label3_job *)job, b);
}

// Unites the last 32 pairs of the queue of `count` pairs. Returns the number of those left.
// Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_label3_flush(const tmapi_label3_job *job, tmapi_label3_forest f,
                                        tmap_u32 count) {
    const tmap_u32 lane = threadIdx.x % 32, left = count < 32 ? 0 : count - 32;
    const int some = left + lane < count;
    tmap_u32 a, b;
    tmap_u64 pair;
    __syncwarp();
    pair = f.queue[left + (some ? lane : 0)];
    a = (tmap_u32)(pair >> 32), b = (tmap_u32)pair;
    if (f.tile) {
        if (some) tmapi_label3_tile_unite(f.parent, a, b);
    } else { // unless the lane before has the same trees, or the block has recently united them
        a = f.parent[a], b = f.parent[b], pair = (tmap_u64)a << 32 | b;
        const tmap_u64 before = __shfl_up_sync(~0u, pair, 1);
        volatile tmap_u64 *recent =
            f.recent + ((a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> (32 - TMAPI_LABEL3_TILE));
        if (some && (lane == 0 || before != pair) && *recent != pair) {
            *recent = pair;
            tmapi_forest_unite(job->parent, a, b, tmapi_label3_earlier, job);
        }
    }
    __syncwarp();
    return left;
}

// A word near another one: the rows of its group, their OR, and the number of its run 0.
typedef struct tmapi_label3_near {
    tmap_u32 row[4], all, runs;
} tmapi_label3_near;

// The word at a place of the map, or of the tile f.tile; without cells if it is outside or if not
// `use`.
TMAP_DEVICE tmapi_label3_near tmapi_label3_look(const tmapi_label3_job *job, tmapi_label3_forest f,
                                                tmap_u32 x, tmap_u32 y, tmap_u32 z, int use) {
    const tmapi_label3_at at = {x, y, z};
    tmapi_label3_near w = {{0, 0, 0, 0}, 0, 0};
    if (f.tile && use && (x >> job->lx | y >> job->ly | z >> job->lz) == 0) {
        w.runs = (z << job->ly | y) << job->lx | x;
        w.all = tmapi_label3_split(f.tile[w.runs], w.row);
    } else if (!f.tile && use && x < job->nx && y < job->ny && z < job->nz) {
        const tmap_u32 number = tmapi_label3_number(job, at);
        w.all = tmapi_label3_group(job, number, w.row), w.runs = tmapi_label3_runs(number);
    }
    return w;
}

// The OR of the rows of a group whose bits in `which` are 1.
TMAP_DEVICE tmap_u32 tmapi_label3_some(const tmapi_label3_near *w, tmap_u32 which) {
    return (which & 1 ? w->row[0] : 0) | (which & 2 ? w->row[1] : 0) | (which & 4 ? w->row[2] : 0) |
           (which & 8 ? w->row[3] : 0);
}

// Unites the runs of a word with those of words before it: of its tile if f.tile, else of other
// tiles. Each step takes rows of the word's group and the rows that face them dy and dz away:
//
//     step                           -1     0     1     2     3
//     rows of the slice z            all    top   all   top   end
//     dy, dz                         0,0   -1,0  0,-1 -1,-1  1,-1
//     over columns too, neighbours   all  18,26 18,26  26    26
//
// With 18 neighbours and two slices, straight touches are of any rows and the others of one row.
// known: straight touches that need no union, of the first three steps. Collective for the warp.
TMAP_DEVICE void tmapi_label3_touch(const tmapi_label3_job *job, tmapi_label3_forest f,
                                    tmapi_label3_at at, uint3 known) {
    const tmap_u32 n = (tmap_u32)job->neighbours, lane = threadIdx.x % 32;
    const int steps = n == 6 ? 2 : 4;
    const tmap_u32 facing = job->gz > 1 ? 0x48cau : job->gy > 1 ? 0x123au : 0x11u;
    const tmapi_label3_near w = tmapi_label3_look(job, f, at.x, at.y, at.z, 1);
    tmap_u32 count = 0, lanes;
#pragma unroll 1
    for (int k = -1; k < steps; ++k) {
        const tmap_u32 y = at.y + (k == 3 ? 1u : k == 0 || k == 2 ? ~0u : 0);
        const tmap_u32 z = at.z - (k > 0);
        // whether the word there and those to its left and its right are in other tiles
        const int cross = ((at.y ^ y) >> job->ly | (at.z ^ z) >> job->lz) != 0;
        const int sides = k < 0 || n == 26 || (n == 18 && k < 2); // over columns too
        const int cross_l = cross || (sides && (at.x ^ (at.x - 1)) >> job->lx);
        const int cross_r = cross || (sides && k >= 0 && (at.x ^ (at.x + 1)) >> job->lx);
        const int use_l = sides && (f.tile || cross_l),
                  use_r = sides && k >= 0 && (f.tile || cross_r);
        if (!f.tile && !__any_sync(~0u, cross_l || cross_r)) continue;
        const tmapi_label3_near v =
            tmapi_label3_look(job, f, at.x, y, z, f.tile || cross_l || cross_r);
        const tmapi_label3_near l = tmapi_label3_look(job, f, at.x - 1, y, z, use_l);
        const tmapi_label3_near r = tmapi_label3_look(job, f, at.x + 1, y, z, use_r);
        const tmap_u32 last = tmapi_label3_node(l.all, 1u << 31, l.runs); // run of the word l
        // cells that touch one straight, to the left, to the right
        tmap_u32 straight = 0, left = w.all & l.all >> 31 & ~known.x, right = 0;
        if (k >= 0) {
            const tmap_u32 mine = tmapi_label3_some(&w, 0x2135u >> 4 * k & 15);
            const tmap_u32 rows = facing >> 4 * k & 15, its = tmapi_label3_some(&v, rows);
            const tmap_u32 both = w.all & v.all;
            straight = mine & its, left = 0;
            if (sides) {
                tmap_u32 same;
                if (n == 18 && k == 1) {
                    left = (w.row[0] & __funnelshift_l(l.row[0], v.row[0], 1)) |
                           (w.row[1] & __funnelshift_l(l.row[1], v.row[1], 1));
                    right = (w.row[0] & __funnelshift_r(v.row[0], r.row[0], 1)) |
                            (w.row[1] & __funnelshift_r(v.row[1], r.row[1], 1));
                } else {
                    left = mine & __funnelshift_l(tmapi_label3_some(&l, rows), its, 1);
                    right = mine & __funnelshift_r(its, tmapi_label3_some(&r, rows), 1);
                }
                left &= ~(its | mine << 1), right &= ~(its | mine >> 1); // of runs that touch
                same = ((left & ~1u) | (right & ~0u >> 1)) & v.all; // also straight, of the runs
                straight |= same, left &= ~same, right &= ~same;
            }
            // the first touch of each pair of runs: a carry goes to it through their other cells
            straight &= (both & ~(both << 1)) + (both & ~straight);
            straight &= ~(k == 0 ? known.y : k == 1 ? known.z : 0);
        }
        if (!f.tile) {
            straight = cross ? straight : 0;
            left &= (cross ? ~1u : 0) | (cross_l ? 1u : 0);
            right &= (cross ? ~0u >> 1 : 0) | (cross_r ? 1u << 31 : 0);
        }
        while ((lanes = __ballot_sync(~0u, (straight | left | right) != 0)) != 0) {
            if (straight | left | right) {
                const int side = straight ? 0 : left ? -1 : 1;
                const tmap_u32 set = straight ? straight : left ? left : right;
                const tmap_u32 bit = set & (0u - set), rest = set & (set - 1);
                const tmap_u32 to = side == 0 ? bit : side < 0 ? bit >> 1 : bit << 1;
                const tmap_u32 its = to         ? tmapi_label3_node(v.all, to, v.runs)
                                     : side < 0 ? last
                                                : r.runs;
                f.queue[count + tmapi_raster_count(lanes & ((1u << lane) - 1))] =
                    (tmap_u64)tmapi_label3_node(w.all, bit, w.runs) << 32 | its;
                if (side == 0) straight = rest;
                if (side < 0) left = rest;
                if (side > 0) right = rest;
            }
            count += tmapi_raster_count(lanes);
            if (count >= 32) count = tmapi_label3_flush(job, f, count);
        }
    }
    if (count) tmapi_label3_flush(job, f, count);
}

// What an entry of a tile's `parent` says of a run `cells` of a word, with number `node`.
TMAP_DEVICE tmap_u32 tmapi_label3_entry(const tmapi_label3_job *job, tmapi_label3_at in,
                                        const tmapi_label3_near *w, tmap_u32 cells, tmap_u32 node) {
    tmap_u32 r;
    const tmap_u32 column = in.x * 32 + tmapi_label3_lead(w->row, cells, &r);
    const tmap_u32 row = ((in.z * job->gz + r / 2) * job->gy << job->ly) + in.y * job->gy + r % 2;
    return row << (job->lx + 21) | column << 16 | node;
}

// Where a word touches the one above it straight, in groups of one slice.
TMAP_DEVICE tmap_u32 tmapi_label3_straight(const tmapi_label3_job *job, const tmapi_label3_near *w,
                                           const tmapi_label3_near *up) {
    return job->gy > 1 ? w->row[0] & up->row[1] : w->all & up->all;
}

// Makes the runs of a word the nodes of a tile's forest. In groups of one slice the parent of a run
// is the run above where they touch first, else the one in the slice before, so that most touches
// need no union. Returns those touches; and whether the word above and those to the left of both
// connect the word with the one to its left.
TMAP_DEVICE uint3 tmapi_label3_plant(const tmapi_label3_job *job, tmapi_label3_forest f,
                                     tmapi_label3_at in, const tmapi_label3_near *w) {
    tmapi_label3_near up[2] = {{{0, 0, 0, 0}, 0, 0}, {{0, 0, 0, 0}, 0, 0}};
    tmapi_label3_at at[2] = {in, in};
    tmap_u32 touch[2] = {0, 0}, run, node = threadIdx.x;
    uint3 known = {0, 0, 0};
    --at[0].y, --at[1].z;
    if (job->gz == 1) {
        const tmapi_label3_near l = tmapi_label3_look(job, f, in.x - 1, in.y, in.z, 1);
        const tmapi_label3_near of_l = tmapi_label3_look(job, f, in.x - 1, at[0].y, in.z, 1);
        up[0] = tmapi_label3_look(job, f, in.x, at[0].y, in.z, 1);
        up[1] = tmapi_label3_look(job, f, in.x, in.y, at[1].z, 1);
        touch[0] = tmapi_label3_straight(job, w, up), touch[1] = w->all & up[1].all;
        known.x = touch[0] & tmapi_label3_straight(job, &l, &of_l) >> 31;
    }
    for (tmap_u32 rest = w->all; rest; rest &= ~run, node += 1u << TMAPI_LABEL3_TILE) {
        tmap_u32 entry, bit;
        run = tmapi_label3_run(w->all, rest & (0u - rest));
        entry = tmapi_label3_entry(job, in, w, run, node);
#pragma unroll
        for (int k = 1; k >= 0; --k) {
            const tmap_u32 some = touch[k] & run;
            if (some == 0 || (k && touch[0] & run)) continue;
            bit = some & (0u - some);
            entry = tmapi_label3_entry(job, at[k], up + k, tmapi_label3_run(up[k].all, bit),
                                       tmapi_label3_node(up[k].all, bit, up[k].runs));
            if (k)
                known.z |= bit;
            else
                known.y |= bit;
        }
        f.parent[node] = entry;
    }
    return known;
}

// ---- the kernels --------------------------------------------------------------------------------

// Bits of the word at column 32 x of a row of a slice of the map; 0 outside it. A warp reads bytes
// at odd addresses together.
TMAP_DEVICE tmap_u32 tmapi_label3_pack(const tmapi_label3_job *job, tmap_u32 x, tmap_u32 y,
                                       tmap_u32 z) {
    const int in = x < job->nx && y < job->height && z < job->depth;
    const tmap_u32 left = in ? job->width - x * 32 : 0, lane = threadIdx.x % 32;
    const tmap_u64 at = in ? z * job->slice + y * job->pitch : 0;
    const unsigned char *cells = (const unsigned char *)job->cells + at + x * 32;
    tmap_u32 word = 0;
    if (job->kind == TMAP_LABEL3_BITS) {
        word = in ? ((const tmap_u32 *)job->cells)[at + x] : 0;
        return x + 1 == job->nx ? word & job->last : word;
    }
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
    return word;
}

// Packs the words of a tile and unites their runs; stores the number of each run's root.
static __global__ void __launch_bounds__(1u << TMAPI_LABEL3_TILE, 2)
    tmapi_label3_local_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    uint4 *tile = tmapi_label3_memory;
    tmap_u64 *queue = (tmap_u64 *)(tile + (1u << TMAPI_LABEL3_TILE));
    tmap_u32 *parent = (tmap_u32 *)(queue + (2u << TMAPI_LABEL3_TILE));
    const tmap_u32 i = threadIdx.x, base = blockIdx.x * (16u << TMAPI_LABEL3_TILE);
    const tmapi_label3_forest f = {parent, tile, 0, queue + i / 32 * 64};
    const tmap_u32 number = blockIdx.x << TMAPI_LABEL3_TILE | i, log = job.gy + job.gz - 2;
    const tmapi_label3_at at = tmapi_label3_place(&job, number);
    const tmapi_label3_at in = tmapi_label3_place(&job, i); // of the tile
    tmapi_label3_near w;
    tmap_u32 node = i;
    uint3 known;
    if (blockIdx.x == 0 && i == 0) *job.scan.counter = 0;
    tile[i] = make_uint4(0, 0, 0, 0);
#pragma unroll 1
    for (tmap_u32 r = 0; r < 1u << log; ++r)
        ((tmap_u32 *)(tile + i))[r] =
            tmapi_label3_pack(&job, at.x, at.y * job.gy + r % 2, at.z * job.gz + r / 2);
    w = tmapi_label3_look(&job, f, in.x, in.y, in.z, 1);
    if (log == 2)
        ((uint4 *)job.bits)[number] = tile[i];
    else if (log)
        ((uint2 *)job.bits)[number] = make_uint2(w.row[0], w.row[1]);
    else
        job.bits[number] = w.all;
    __syncthreads();
    known = tmapi_label3_plant(&job, f, in, &w);
    __syncthreads();
    tmapi_label3_touch(&job, f, in, known);
    __syncthreads();
    for (tmap_u32 rest = w.all & ~(w.all << 1); rest; rest &= rest - 1) {
        job.parent[base + node] = base + (tmapi_label3_tile_root(parent, node) & 0xffff);
        node += 1u << TMAPI_LABEL3_TILE;
    }
}

// Unites the runs of a tile with those of other tiles.
static __global__ void __launch_bounds__(1u << TMAPI_LABEL3_TILE, 2)
    tmapi_label3_unite_kernel(tmapi_label3_job job) {
    __shared__ tmap_u64 recent[1u << TMAPI_LABEL3_TILE], queue[2u << TMAPI_LABEL3_TILE];
    const tmapi_label3_forest f = {job.parent, 0, recent, queue + threadIdx.x / 32 * 64};
    recent[threadIdx.x] = 0; // no pair
    __syncthreads();
    tmapi_label3_touch(&job, f,
                       tmapi_label3_place(&job, blockIdx.x << TMAPI_LABEL3_TILE | threadIdx.x),
                       make_uint3(0, 0, 0));
}

// Gives each run its root; marks and counts the first cells of components. A root does not change
// here, so that loads from caches find it.
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_roots_kernel(tmapi_label3_job job) {
    const tmap_u32 number = blockIdx.x * TMAPI_LABEL3_HALF + threadIdx.x;
    const tmapi_label3_at at = tmapi_label3_place(&job, number);
    tmap_u32 row[4], first[4] = {0, 0, 0, 0}, run, mine = tmapi_label3_runs(number);
    for (tmap_u32 rest = tmapi_label3_group(&job, number, row), word = rest; rest;
         rest &= ~run, mine += 1u << TMAPI_LABEL3_TILE) {
        const tmap_u32 above = job.parent[mine];
        tmap_u32 root = above, up;
        run = tmapi_label3_run(word, rest & (0u - rest));
        while ((up = job.parent[root]) != root) root = up;
        if (root != above) job.parent[mine] = root;
        if (root == mine) {
            tmap_u32 k;
            const tmap_u32 cell = 1u << tmapi_label3_lead(row, run, &k);
#pragma unroll
            for (tmap_u32 r = 0; r < 4; ++r) first[r] |= r == k ? cell : 0;
        }
    }
    if (at.x >= job.nx) return;
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        const tmap_u32 y = at.y * job.gy + k % 2, z = at.z * job.gz + k / 2;
        const tmap_u32 to = (z * job.height + y) * job.nx + at.x;
        if (k % 2 >= job.gy || k / 2 >= job.gz || y >= job.height || z >= job.depth) continue;
        job.first[to] = first[k], job.scan.count[to] = tmapi_raster_count(first[k]);
    }
}

// Gives cells their labels. A lane has a word and stores the labels of its runs in shared memory;
// then a lane writes the labels of four neighbouring cells at a time, or of one if they may not be
// at a multiple of 16 bytes.
TMAP_DEVICE void tmapi_label3_write(const tmapi_label3_job *job, void *memory, const int wide) {
    __shared__ uint4 rows[TMAPI_LABEL3_HALF];
    const tmap_u32 number = blockIdx.x * TMAPI_LABEL3_HALF + threadIdx.x, lane = threadIdx.x % 32;
    const tmapi_label3_at at = tmapi_label3_place(job, number);
    void *names = (char *)memory + (threadIdx.x - lane) * TMAPI_LABEL3_NAMES * (wide ? 8 : 4);
    const tmap_u32 each = job->width % 4 || (tmap_u64)job->labels % 16 ? 1 : 4;
    const tmap_u32 log = job->gy + job->gz - 2, column = lane * each % 32;
    const tmap_u64 start =
        ((tmap_u64)at.z * job->gz * job->height + at.y * job->gy) * job->width + at.x * 32;
    tmap_u32 row[4], last = 0, has;
    const tmap_u32 word = tmapi_label3_group(job, number, row);
    tmap_u64 label = 0;
    for (tmap_u32 rest = word & ~(word << 1), k = 0; rest; rest &= rest - 1, ++k) {
        const tmap_u32 root = job->parent[tmapi_label3_runs(number) + (k << TMAPI_LABEL3_TILE)];
        if (root != last || label == 0) {
            const tmap_u64 cell = tmapi_label3_first(job, root);
            const tmap_u32 of = (tmap_u32)(cell / 32), before = (1u << cell % 32) - 1;
            label = tmapi_label_before(&job->scan, of) +
                    tmapi_raster_count(job->first[of] & before) + 1;
            last = root;
        }
        tmapi_label_put(names, lane * TMAPI_LABEL3_NAMES + k, label, wide);
    }
    // columns of the map in the word; above them a bit for each row that the map has
    has = at.x < job->nx && at.y < job->ny && at.z < job->nz ? 1 : 0;
    if (job->gy > 1 && at.y * 2 + 1 < job->height) has |= has << 1;
    if (job->gz > 1 && at.z * 2 + 1 < job->depth) has |= has << 2;
    has = has << 6 | (job->width - at.x * 32 < 32 ? job->width - at.x * 32 : 32);
    rows[threadIdx.x] = make_uint4(row[0], row[1], row[2], row[3]);
    __syncwarp();
#pragma unroll 2
    for (tmap_u32 i = lane * each / 32; i < 32u << log; i += each) {
        const tmap_u32 k = i >> log, r = i & ((1u << log) - 1), names_k = k * TMAPI_LABEL3_NAMES;
        const tmap_u32 there = __shfl_sync(~0u, has, (int)k);
        const tmap_u64 to = __shfl_sync(~0u, start, (int)k) +
                            ((tmap_u64)(r / 2) * job->height + r % 2) * job->width + column;
        const uint4 v = rows[threadIdx.x - lane + k];
        const tmap_u32 all = v.x | v.y | v.z | v.w, starts = all & ~(all << 1);
        const tmap_u32 cells = (r & 2 ? r & 1 ? v.w : v.z : r & 1 ? v.y : v.x) >> column;
        // cells of the two runs that four columns can have, and of the first one; its number
        const tmap_u32 some = all >> column & 15, one = some & ~(some + (some & (0u - some)));
        const tmap_u32 run = tmapi_raster_count(starts & ((2u << column) - 1)) - (some & 1);
        const tmap_u64 a = one ? tmapi_label_get(names, names_k + run, wide) : 0;
        const tmap_u64 b = some != one ? tmapi_label_get(names, names_k + run + 1, wide) : 0;
        tmap_u64 name[4];
        if (!(there >> (6 + r) & 1) || column >= (there & 63)) continue;
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c) name[c] = cells >> c & 1 ? one >> c & 1 ? a : b : 0;
        if (each == 4)
            tmapi_label_put4((char *)job->labels + (wide ? to * 8 : to * 4), name, wide);
        else
            tmapi_label_put((char *)job->labels + (wide ? to * 8 : to * 4), 0, name[0], wide);
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
// plan->workspace: for each cell 0.9 bytes with 26 neighbours, 1.4 with 18, 2.4 with 6, 1.5 for a
// batch of images of at most 512 columns and 0.4 to 0.6 for wider ones, for which a device whose
// blocks have 64 KB of shared memory (7.5) takes 0.25 more; more for maps that fill their tiles in
// part.
// Returns cudaErrorInvalidValue for TMAP_EINVAL of tmap_label3_plan_of,
// cudaErrorInvalidConfiguration for TMAP_ERANGE, or the error of a device query. Cost: calls that
// do not wait for the device.
static inline cudaError_t tmap_label3_plan_make(const tmap_label3_map *map, int form,
                                                tmap_label3_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_label_mask_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_label3_plan_of(map, form, &facts, plan));
}

// Labels the components of a volume, or of each image of a batch.
// plan: that of the map. All pointers are device memory that does not overlap. cells: a mask of
// bits at a multiple of 4. workspace: plan->workspace bytes at a multiple of 16, with any content.
// labels: width * height * depth int or long long (the form); that of column x, row y and slice z
// is number (z * height + y) * width + x. count: receives the number of components, for a batch one
// number an image; at a multiple of 8. Calls that run at the same time need one workspace each. A
// map without cells needs none of these but `count`, whose numbers become 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps, else
// the launches' error.
// Allocates nothing and does not synchronize, so the call can be captured.
// Cost: cells are read once and labels written once; the rest grows with the number of runs.
// Example: two slices of 2 x 2 cells, 1 0 / 0 0 and 0 0 / 0 1: with 26 neighbours both cells get 1
// and the count is 1; with 18 they get 1 and 2; as images both get 1, and the counts are 1 and 1.
static inline cudaError_t tmap_label3(const tmap_label3_plan *plan, const void *cells,
                                      void *workspace, void *labels, tmap_u64 *count,
                                      cudaStream_t stream) {
    tmapi_label3_job job;
    if (!plan) return cudaErrorInvalidValue;
    if (plan->array.images)
        return tmap_label(&plan->batch, cells, workspace, labels, count, stream);
    const int bits = plan->map.kind == TMAP_LABEL3_BITS;
    const tmap_u64 row = bits ? (plan->map.width + 31) / 32 : plan->map.width;
    const tmap_u64 slice = tmapi_raster_span(plan->map.height - 1, plan->map.pitch, row);
    const tmap_u64 all = tmapi_raster_span(plan->map.depth - 1, plan->map.slice, slice);
    const tmapi_raster_memory in = {cells, tmap_mul_saturate(all, bits ? 4 : 1)};
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmapi_raster_memory one = {count, 8};
    if (tmapi_label_wrong(&plan->array, in, bits ? 4 : 1, work, labels, one))
        return cudaErrorInvalidValue;
    if (!plan->job.tiles) return tmapi_label_empty(one, stream);
    job = plan->job, job.cells = cells, job.labels = labels;
    tmapi_label3_divide(&job, (tmap_u64)workspace);
    job.scan.total = count;
    const tmapi_raster_step steps[5] = {
        {(const void *)tmapi_label3_local_kernel,
         {job.tiles, 1u << TMAPI_LABEL3_TILE, TMAPI_LABEL3_LOCAL}},
        {(const void *)tmapi_label3_unite_kernel, {job.tiles, 1u << TMAPI_LABEL3_TILE, 0}},
        {(const void *)tmapi_label3_roots_kernel, {job.tiles * 2ull, TMAPI_LABEL3_HALF, 0}},
        tmapi_label_sum_step(&job.scan),
        {job.wide ? (const void *)tmapi_label3_write_wide_kernel
                  : (const void *)tmapi_label3_write_kernel,
         {job.tiles * 2ull, TMAPI_LABEL3_HALF,
          TMAPI_LABEL3_HALF * TMAPI_LABEL3_NAMES * (job.wide ? 8 : 4)}}};
    return tmapi_raster_run(steps, 5, &job, stream);
}

#endif

#endif
