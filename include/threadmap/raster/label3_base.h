// SPDX-License-Identifier: MIT
// label3_base.h: what label3.h labels: a volume, its words of 32 cells and the runs of these; and
// the plan and the job of its kernels.
#ifndef TMAP_RASTER_LABEL3_BASE_H
#define TMAP_RASTER_LABEL3_BASE_H

#include "label_base.h"

// ---- plans and jobs -----------------------------------------------------------------------------

// Kinds of cells: masks; and values, whose components are of one value each.
#define TMAP_LABEL3_BYTES 0 // 0 belongs to no component; all other values are equal
#define TMAP_LABEL3_BITS  1 // 32 cells a word, from the lowest bit on; rows begin at words
#define TMAP_LABEL3_U8    2
#define TMAP_LABEL3_U16   3 // or I16: only whether values are equal counts
#define TMAP_LABEL3_I32   4
#define TMAP_LABEL3_F32   5 // NaN belongs to no component; -0 is 0

// Added to the neighbours: axes that are periodic, as longitudes are. The first and the
// last column, row or slice are neighbours.
#define TMAP_LABEL3_PERIODIC_X 0x100
#define TMAP_LABEL3_PERIODIC_Y 0x200
#define TMAP_LABEL3_PERIODIC_Z 0x400

// A volume. The cell of column x, row y and slice z is number
// z * slice + y * pitch + x; in a mask of bits it is bit x % 32 of word
// z * slice + y * pitch + x / 32, and bits beyond the width may have any value.
typedef struct tmap_label3_map {
    tmap_u64 width, height, depth; // columns, rows and slices: 0 to 2^31 - 1
    tmap_u64 pitch;                // cells or words from a row to the next, below 2^32
    tmap_u64 slice;                // from a slice to the next: pitch * height to 2^60 - 1
    double nodata; // of no component, if has_nodata; not of masks; of 16 bits signed or not
    int has_nodata;
    int kind;       // of cells: TMAP_LABEL3_BYTES, ...
    int neighbours; // 6: over faces; 18: over edges too; 26: over corners too
} tmap_label3_map;

// Bytes of a cell of a kind: 1, 2 or 4; of a word of bits 4.
TMAP_FN tmap_u32 tmap_label3_size(int kind) {
    return kind == TMAP_LABEL3_BYTES || kind == TMAP_LABEL3_U8 ? 1
           : kind == TMAP_LABEL3_U16                           ? 2
                                                               : 4;
}

#define TMAPI_LABEL3_TILE  9u   // log2 of the words of a tile; of values 8
#define TMAPI_LABEL3_RUNS  13u  // log2 of the numbers of a tile's runs: 16 a word, or 32
#define TMAPI_LABEL3_HALF  256u // threads of the last kernels, two blocks a tile; of values 128
#define TMAPI_LABEL3_NAMES 17u  // from one word's labels to the next one's, in shared memory
#define TMAPI_LABEL3_LOCAL (96u << TMAPI_LABEL3_TILE) // bytes of shared memory of a tile

#define TMAPI_LABEL3_LOCAL_VALUES (82u << TMAPI_LABEL3_TILE) // of values

// log2 of the words of a tile.
TMAP_FN tmap_u32 tmapi_label3_log(const int values) { return values ? 8 : TMAPI_LABEL3_TILE; }

// The argument of the kernels. A word is 32 columns of a group; a tile is a box of words.
typedef struct tmapi_label3_job {
    tmapi_label_scan scan; // counts of first cells in each word of bits
    const void *cells;
    tmap_u64 pitch, slice; // of cells
    tmap_u32 width, height, depth;
    tmap_u32 last;       // bits of the last word of a row that are in the map
    int kind;            // of cells
    int neighbours;      // of a cell
    int wide;            // labels of 64 bits
    tmap_u32 gy, gz;     // rows and slices of a group: 1 or 2
    tmap_u32 nx, ny, nz; // words, groups of rows and groups of slices of the map
    tmap_u32 lx, ly, lz; // log2 of a tile's extents in them
    tmap_u32 tx, ty;     // tiles along x and y
    tmap_u32 tiles;
    tmap_u32 *bits;   // of a word: those of the rows of its group; of values: cells of components,
                      // and cells that differ from the one to the left or are the word's first
    tmap_u32 *parent; // of run k of word w of a tile: (16 tile + k) 512 + w; of values: (32 tile +
                      // k) 256 + w
    tmap_u32 *first;  // a bit a cell: the first one of its component
    void *labels;
    tmap_u32 *ends; // of a word of values: its first and its last one
    tmap_u32
        *planes; // of the words at a tile's sides along y and z: a bit of each value, 256 words
                 // of a tile one after the other
} tmapi_label3_job;

// A plan, made by tmap_label3_plan_make. workspace: bytes that tmap_label3 needs. job: with null
// addresses.
typedef struct tmap_label3_plan {
    tmap_label3_map map;
    tmap_label_array array; // of the labels
    tmap_u64 workspace;
    tmapi_label3_job job;
    int roots; // 1: labels with gaps
} tmap_label3_plan;

// At least as many components as a volume can have.
TMAP_FN tmap_u64 tmapi_label3_most(const tmap_label3_map *map) {
    const tmap_u64 w = map->width, h = map->height, d = map->depth;
    const int n = map->neighbours & 0xff;
    const tmap_u64 quarter = (w + 1) / 2 * ((h + 1) / 2);
    if (map->kind > TMAP_LABEL3_BITS) return tmap_mul_saturate(w * h, d);
    if (n == 26) return tmap_mul_saturate(quarter, (d + 1) / 2);
    if (n == 18) return tmap_mul_saturate(quarter, d);
    return tmap_mul_saturate(w * h, d) / 2 + (w & h & d & 1);
}

// Sets the addresses of the parts of a workspace at w. Returns its bytes.
TMAP_FN tmap_u64 tmapi_label3_divide(tmapi_label3_job *job, tmap_u64 w) {
    const tmap_u64 groups = (tmap_u64)job->tiles << tmapi_label3_log(job->kind > TMAP_LABEL3_BITS);
    const int values = job->kind > TMAP_LABEL3_BITS;
    const tmap_u64 rows = values ? 4 : job->gy * job->gz;
    tmap_u64 end = 0;
    tmapi_label_scan_divide(&job->scan, w, &end);
    job->first = (tmap_u32 *)(w + tmapi_raster_part(&end, job->scan.counts * 4));
    job->parent =
        (tmap_u32 *)(w + tmapi_raster_part(&end, (tmap_u64)job->tiles << (TMAPI_LABEL3_RUNS + 2)));
    job->bits = (tmap_u32 *)(w + tmapi_raster_part(&end, groups * rows * 4));
    job->ends = job->bits + groups * 2;
    job->planes =
        (tmap_u32 *)(w + tmapi_raster_part(&end,
                                           values ? groups * tmap_label3_size(job->kind) * 32 : 0));
    return end;
}

// Gets the bits of the value to leave out, repeated in a word of smaller values. Returns 1 if a
// cell can have it.
TMAP_FN int tmapi_label3_nodata(const tmap_label3_map *map, tmap_u32 *bits) {
    const tmap_raster_map of = {0, 0, 0, map->nodata, map->has_nodata, TMAP_RASTER_F32, 4};
    const tmap_u32 size = tmap_label3_size(map->kind);
    const double v = map->nodata; // of 2 bytes: U16, or I16
    const double low = size == 1 ? 0 : size == 2 ? -32768 : -2147483648.0;
    const double end = size == 1 ? 256 : size == 2 ? 65536 : 2147483648.0;
    int same;
    *bits = 0;
    if (map->kind == TMAP_LABEL3_F32) {
        same = tmapi_raster_nodata(&of, (int *)bits);
    } else {
        same = map->kind > TMAP_LABEL3_BITS && map->has_nodata && v >= low && v < end &&
               (double)(tmap_i64)v == v;
        if (same) *bits = (tmap_u32)(tmap_i64)v;
        if (size == 1) *bits = (*bits & 0xff) * 0x01010101u;
        if (size == 2) *bits = (*bits & 0xffff) * 0x00010001u;
    }
    return same;
}

// Makes the plan of tmap_label3_plan_make without a call of CUDA. Writes *plan only on success.
// Returns TMAP_EINVAL for a null pointer, an argument outside its range, and TMAP_LABEL_INT32 for a
// volume that may have more than 2^31 - 1 components; TMAP_ERANGE above about 4 * 10^9 cells of
// values, 8 * 10^9 of a mask with 6 neighbours, 17 * 10^9 with 18, 34 * 10^9 with 26, and for fewer
// in maps that fill their tiles in part.
TMAP_FN int tmap_label3_plan_of(const tmap_label3_map *map, int form, tmap_label3_plan *plan) {
    tmap_label3_plan p;
    tmapi_label3_job *job = &p.job;
    tmap_u64 words, tiles;
    int n, values;
    tmap_u32 log[3];
    if (!map || !plan || (unsigned)map->kind > TMAP_LABEL3_F32) return TMAP_EINVAL;
    n = map->neighbours & 0xff, words = (map->width + 31) / 32;
    values = map->kind > TMAP_LABEL3_BITS;
    p.roots = (form & TMAP_LABEL_ROOTS) != 0, form &= ~TMAP_LABEL_ROOTS;
    p.map = *map, p.array.width = map->width, p.array.height = map->height;
    p.array.depth = map->depth, p.array.form = form, p.array.images = 0;
    if (!tmapi_label_is_array(&p.array)) return TMAP_EINVAL;
    if ((n != 6 && n != 18 && n != 26) || (unsigned)map->neighbours >> 8 > 7) return TMAP_EINVAL;
    if (map->pitch < (map->kind == TMAP_LABEL3_BITS ? words : map->width) || map->pitch >> 32 ||
        map->slice < map->pitch * map->height || map->slice >> 60)
        return TMAP_EINVAL;
    if (form == TMAP_LABEL_INT32 && tmapi_label3_most(map) > 0x7fffffff) return TMAP_EINVAL;
    job->cells = 0, job->labels = 0;
    job->pitch = map->pitch, job->slice = map->slice;
    job->width = (tmap_u32)map->width, job->height = (tmap_u32)map->height;
    job->depth = (tmap_u32)map->depth, job->nx = (tmap_u32)words;
    job->last = job->width % 32 ? (1u << job->width % 32) - 1 : ~0u;
    job->kind = map->kind, job->neighbours = n, job->wide = form;
    job->gy = n == 6 || values ? 1 : 2, job->gz = n == 26 && !values ? 2 : 1;
    job->ny = (job->height + job->gy - 1) / job->gy, job->nz = (job->depth + job->gz - 1) / job->gz;
    log[0] = 5, log[1] = job->gy - 1, log[2] = job->gz - 1;
    tmapi_label_box(&p.array, tmapi_label3_log(values), log);
    job->lx = log[0] - 5, job->ly = log[1] - (job->gy - 1), job->lz = log[2] - (job->gz - 1);
    job->tx = (tmap_u32)((words + (1u << job->lx) - 1) >> job->lx);
    job->ty = (job->ny + (1u << job->ly) - 1) >> job->ly;
    tiles =
        tmap_mul_saturate((tmap_u64)job->tx * job->ty, (job->nz + (1u << job->lz) - 1) >> job->lz);
    if (tiles > 1u << (32 - TMAPI_LABEL3_RUNS)) return TMAP_ERANGE; // runs have numbers of 32 bits
    job->tiles = (tmap_u32)tiles;
    job->scan.counts = map->height * map->depth * job->nx;
    if (p.roots && form == TMAP_LABEL_INT32 && job->scan.counts > 0x7fffffff / 32)
        return TMAP_EINVAL;
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

// The word of a number, and its number: tiles one after the other. values, here and below: a
// constant of the kernel, 1: cells are values.
TMAP_DEVICE tmapi_label3_at tmapi_label3_place(const tmapi_label3_job *job, tmap_u32 word,
                                               const int values) {
    const tmap_u32 log = tmapi_label3_log(values), tile = word >> log, row = tile / job->tx;
    tmapi_label3_at at;
    at.x = (tile % job->tx << job->lx) + (word & ((1u << job->lx) - 1));
    at.y = (row % job->ty << job->ly) + (word >> job->lx & ((1u << job->ly) - 1));
    at.z = (row / job->ty << job->lz) + ((word & ((1u << log) - 1)) >> (job->lx + job->ly));
    return at;
}
TMAP_DEVICE tmap_u32 tmapi_label3_number(const tmapi_label3_job *job, tmapi_label3_at at,
                                         const int values) {
    const tmap_u32 tile =
        ((at.z >> job->lz) * job->ty + (at.y >> job->ly)) * job->tx + (at.x >> job->lx);
    const tmap_u32 row = (at.z & ((1u << job->lz) - 1)) << job->ly | (at.y & ((1u << job->ly) - 1));
    return tile << tmapi_label3_log(values) | row << job->lx | (at.x & ((1u << job->lx) - 1));
}

// A word, the OR of the rows of its group. row: these: those of the first slice, then those of the
// second one; 0 for those that it has not. Of values the first row is the word, and the second one
// says where runs start.
TMAP_DEVICE tmap_u32 tmapi_label3_split(uint4 v, tmap_u32 *row, const int values) {
    row[0] = v.x, row[1] = v.y, row[2] = v.z, row[3] = v.w;
    return values ? v.x : v.x | v.y | v.z | v.w;
}
TMAP_DEVICE tmap_u32 tmapi_label3_group(const tmapi_label3_job *job, tmap_u32 word, tmap_u32 *row,
                                        const int values) {
    uint2 v = {0, 0};
    if (!values && job->gz > 1) return tmapi_label3_split(((const uint4 *)job->bits)[word], row, 0);
    if (values || job->gy > 1)
        v = ((const uint2 *)job->bits)[word];
    else
        v.x = job->bits[word];
    return tmapi_label3_split(make_uint4(v.x, v.y, 0, 0), row, values);
}

// Where runs of a word start.
TMAP_DEVICE tmap_u32 tmapi_label3_starts(tmap_u32 word, const tmap_u32 *row, const int values) {
    return values ? row[1] : word & ~(word << 1);
}

// The run of a word that contains cell `bit`, a power of two.
TMAP_DEVICE tmap_u32 tmapi_label3_run(tmap_u32 word, const tmap_u32 *row, tmap_u32 bit,
                                      const int values) {
    if (values) {
        const tmap_u32 upto = bit | (bit - 1), ends = (row[1] | ~word) & ~upto;
        const tmap_u32 from = ~0u << (31 - __clz((int)(row[1] & upto)));
        return from & (ends ? (ends & (0u - ends)) - 1 : ~0u);
    }
    const tmap_u32 below = ~word & (bit - 1), above = ~word & ~(bit - 1);
    const tmap_u32 upto = above ? (above & (0u - above)) - 1 : ~0u;
    return below ? upto & ~0u << (32 - __clz((int)below)) : upto;
}

// The number of run 0 of a word. Run k has a number 512 k greater (of values 256 k), so a warp that
// takes run k of its words takes neighbours.
TMAP_DEVICE tmap_u32 tmapi_label3_runs(tmap_u32 word, const int values) {
    const tmap_u32 log = tmapi_label3_log(values);
    return word >> log << TMAPI_LABEL3_RUNS | (word & ((1u << log) - 1));
}

// A word near another one: the rows of its group, their OR, and the number of its run 0.
typedef struct tmapi_label3_near {
    tmap_u32 row[4], all, runs;
} tmapi_label3_near;

// The number of the run that contains cell `bit` of a word.
TMAP_DEVICE tmap_u32 tmapi_label3_node(const tmapi_label3_near *w, tmap_u32 bit, const int values) {
    const tmap_u32 starts = tmapi_label3_starts(w->all, w->row, values);
    return w->runs +
           ((tmapi_raster_count(starts & (bit | (bit - 1))) - 1) << tmapi_label3_log(values));
}

// The first cell of a run `cells` in the order of slices, rows and columns: its column in the word.
// k: receives its row.
TMAP_DEVICE tmap_u32 tmapi_label3_lead(const tmap_u32 *row, tmap_u32 cells, tmap_u32 *k) {
    const tmap_u32 a = row[0] & cells, b = row[1] & cells, c = row[2] & cells, d = row[3] & cells;
    *k = a ? 0 : b ? 1 : c ? 2 : 3;
    return (tmap_u32)(__ffs((int)(a ? a : b ? b : c ? c : d)) - 1);
}

// The first cell of a run of the map: 32 times the number of its word of bits, plus its bit.
TMAP_DEVICE tmap_u64 tmapi_label3_first(const tmapi_label3_job *job, tmap_u32 run,
                                        const int values) {
    const tmap_u32 log = tmapi_label3_log(values);
    const tmap_u32 number = run >> TMAPI_LABEL3_RUNS << log | (run & ((1u << log) - 1));
    const tmapi_label3_at at = tmapi_label3_place(job, number, values);
    tmap_u32 row[4], k;
    const tmap_u32 word = tmapi_label3_group(job, number, row, values);
    tmap_u32 starts = tmapi_label3_starts(word, row, values);
    for (k = run >> log & ((1u << (TMAPI_LABEL3_RUNS - log)) - 1); k; --k) starts &= starts - 1;
    const tmap_u32 cells = tmapi_label3_run(word, row, starts & (0u - starts), values);
    const tmap_u32 column = tmapi_label3_lead(row, cells, &k);
    const tmap_u64 of = (tmap_u64)(at.z * job->gz + k / 2) * job->height + at.y * job->gy + k % 2;
    return (of * job->nx + at.x) * 32 + column;
}

// ---- values -------------------------------------------------------------------------------------

// Value i of some cells as bits, equal for equal values that belong to components.
TMAP_DEVICE tmap_u32 tmapi_label3_value(const void *cells, tmap_u64 i, const int kind) {
    if (kind == TMAP_LABEL3_U8) return ((const unsigned char *)cells)[i];
    if (kind == TMAP_LABEL3_U16) return ((const unsigned short *)cells)[i];
    const tmap_u32 v = ((const tmap_u32 *)cells)[i];
    return kind == TMAP_LABEL3_F32 && v == 0x80000000u ? 0 : v;
}

// Cells with the value of the cell that faces them, of the one to its left, of the one to its
// right.
typedef struct tmapi_label3_same {
    tmap_u32 straight, left, right;
} tmapi_label3_same;

// Makes 8, 16 or 32 words, the values of 32 cells, the planes of these: words of a bit a cell, in
// some order. Each step exchanges a bit of a value's place in its word with one of the number of
// the word.
TMAP_DEVICE void tmapi_label3_planes(tmap_u32 *c, const tmap_u32 words) {
    const tmap_u32 log = words == 8 ? 3 : words == 16 ? 4 : 5;
#pragma unroll
    for (tmap_u32 k = 0; k < 5; ++k) {
        const tmap_u32 shift = 16u >> k, low = ~0u / ((1u << shift) + 1);
        const tmap_u32 apart = 1u << (log - 1 - k % log);
#pragma unroll
        for (tmap_u32 i = 0; i < words; ++i) {
            if (i & apart) continue;
            const tmap_u32 a = c[i], b = c[i + apart];
            c[i] = (a & low) | (b << shift & ~low);
            c[i + apart] = (a >> shift & low) | (b & ~low);
        }
    }
}

// Compares the planes of two words of tiles, but the first cell with none to its left and the last
// one with none to its right.
TMAP_DEVICE tmapi_label3_same tmapi_label3_compare(const tmap_u32 *word, const tmap_u32 *facing,
                                                   tmap_u32 planes) {
    tmap_u32 straight = 0, left = 1, right = 1u << 31;
#pragma unroll 8
    for (tmap_u32 p = 0; p < planes; ++p) {
        const tmap_u32 at = p << tmapi_label3_log(1), mine = word[at], its = facing[at];
        straight |= mine ^ its, left |= mine ^ its << 1, right |= mine ^ its >> 1;
    }
    const tmapi_label3_same same = {~straight, ~left, ~right};
    return same;
}

// The planes of the word that has a run of the map.
TMAP_DEVICE tmap_u32 *tmapi_label3_planes_of(const tmapi_label3_job *job, tmap_u32 run) {
    const tmap_u64 planes = (tmap_u64)(run >> TMAPI_LABEL3_RUNS) * tmap_label3_size(job->kind) * 8;
    const tmap_u32 log = tmapi_label3_log(1);
    return job->planes + (planes << log) + (run & ((1u << log) - 1));
}

#endif

#endif
