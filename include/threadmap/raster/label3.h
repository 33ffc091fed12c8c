// SPDX-License-Identifier: MIT
// label3.h: connected components of a volume with 6, 18 or 26 neighbours. A mask has a byte or a
// bit a cell. A volume of values (U8, U16, I32, F32), such as a segmentation, has components of one
// value each. Batches of images: label.h.
//
// Components are numbered from 1 in the order of their first cells: slice by slice, row by row,
// from left to right, as scipy.ndimage.label numbers them. Cells of no component get 0. Labels are
// the same in every run and on every machine.
//
//     const tmap_label3_map map = {width, height, depth, width, width * height,
//                                  0, 0, TMAP_LABEL3_BYTES, 26};
//     tmap_label3_plan plan;
//     tmap_label3_plan_make(&map, TMAP_LABEL_INT32, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_label3(&plan, cells, workspace, labels, count, stream); // label_measure.h: shapes
//
// Axes of a volume may be periodic: 26 + TMAP_LABEL3_PERIODIC_X neighbours. A picture with such
// axes is a volume of one slice, where 6 neighbours are 4 and 18 are 8.
//
// Neighbouring rows form a group if their cells of one column or of two neighbouring columns are
// always neighbours: 2 rows of 2 slices with 26 neighbours, 2 rows with 18, one with 6.
// The OR of the rows of a group, 32 cells a word, has runs of 1s. A run of a word is a node of a
// forest: its cells are connected. Five launches, one more with periodic axes, two less for labels
// with gaps (TMAP_LABEL_ROOTS), whose `write` climbs to the roots of runs:
//     local   a block of threads packs a tile of 512 words and unites its runs in shared memory
//     unite   unites runs across the edges of tiles, by union-find in global memory
//     close   unites runs over the ends of periodic axes
//     roots   gives each run its root, and marks the first cell of each component
//     sum     scans the counts of first cells
//     write   gives cells their labels
// A run of values is a run of one value, groups have one row, and a tile has 256 words. A word's
// values become as many planes as they have bits, words of a bit a cell: 32 cells are equal to
// those above them where no plane differs. A tile's planes are in shared memory; those of the words
// at its sides are stored, for `unite`.
// Unions happen in any order, but a parent's first cell is always before its child's, so roots do
// not depend on the order.
#ifndef TMAP_RASTER_LABEL3_H
#define TMAP_RASTER_LABEL3_H

#include "label3_base.h"

#if TMAP_CUDA && !TMAP_NVRTC

// The argument of all kernels, which begins with that of most. periodic: a bit an axis. cells: of
// the first column, row or slice of each such axis, 0 for other axes. nodata: the bits of the value
// to leave out, in a word of smaller values of each, if has_nodata.
typedef struct tmapi_label3_around {
    tmapi_label3_job job;
    tmap_u64 cells[3];
    tmap_u32 periodic;
    int roots; // of the plan
    tmap_u32 nodata;
    int has_nodata;
} tmapi_label3_around;

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
    return tmapi_label3_first((const tmapi_label3_job *)job, a, 0) <
           tmapi_label3_first((const tmapi_label3_job *)job, b, 0);
}
TMAP_DEVICE int tmapi_label3_earlier_value(const void *job, tmap_u32 a, tmap_u32 b) {
    return tmapi_label3_first((const tmapi_label3_job *)job, a, 1) <
           tmapi_label3_first((const tmapi_label3_job *)job, b, 1);
}

// Joins the trees of two runs of the map.
TMAP_DEVICE void tmapi_label3_join(const tmapi_label3_job *job, tmap_u32 a, tmap_u32 b,
                                   const int values) {
    if (values)
        tmapi_forest_unite(job->parent, a, b, tmapi_label3_earlier_value, job);
    else
        tmapi_forest_unite(job->parent, a, b, tmapi_label3_earlier, job);
}

// Unites the last 32 pairs of the queue of `count` pairs. Returns the number of those left.
// Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_label3_flush(const tmapi_label3_job *job, tmapi_label3_forest f,
                                        tmap_u32 count, const int values) {
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
            f.recent + ((a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> (32 - tmapi_label3_log(values)));
        if (some && (lane == 0 || before != pair) && *recent != pair) {
            *recent = pair;
            tmapi_label3_join(job, a, b, values);
        }
    }
    __syncwarp();
    return left;
}

// The word at a place of the map, or of the tile f.tile; without cells if it is outside or if not
// `use`.
TMAP_DEVICE tmapi_label3_near tmapi_label3_look(const tmapi_label3_job *job, tmapi_label3_forest f,
                                                tmap_u32 x, tmap_u32 y, tmap_u32 z, int use,
                                                const int values) {
    const tmapi_label3_at at = {x, y, z};
    tmapi_label3_near w = {{0, 0, 0, 0}, 0, 0};
    if (f.tile && use && (x >> job->lx | y >> job->ly | z >> job->lz) == 0) {
        w.runs = (z << job->ly | y) << job->lx | x;
        w.all = tmapi_label3_split(f.tile[w.runs], w.row, values);
    } else if (!f.tile && use && x < job->nx && y < job->ny && z < job->nz) {
        const tmap_u32 number = tmapi_label3_number(job, at, values);
        w.all = tmapi_label3_group(job, number, w.row, values);
        w.runs = tmapi_label3_runs(number, values);
        if (values) {
            const uint2 ends = ((const uint2 *)job->ends)[number];
            w.row[2] = ends.x, w.row[3] = ends.y;
        }
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
//
// Of values, which have groups of one row, a row that faces another one touches it where values are
// the same. same: of values in a tile: these cells, of steps 0 to 3, then of the word below. A
// touch needs no union
// - over columns, if the cell has the value of the one next to it that the other one is straight of
// - in step 2, if the cell above or the one before has the value: these touch both
// - in step 3, if the cell below or the one before has it.
TMAP_DEVICE void tmapi_label3_touch(const tmapi_label3_job *job, tmapi_label3_forest f,
                                    tmapi_label3_at at, uint3 known,
                                    const tmapi_label3_same *same_of, const int values) {
    const tmap_u32 n = (tmap_u32)job->neighbours, lane = threadIdx.x % 32;
    const int steps = n == 6 ? 2 : 4;
    const tmap_u32 facing = job->gz > 1 ? 0x48cau : job->gy > 1 ? 0x123au : 0x11u;
    const tmapi_label3_near w = tmapi_label3_look(job, f, at.x, at.y, at.z, 1, values);
    tmap_u32 count = 0, lanes, above = 0, front = 0, linked = 0;
    const int own_r = values && steps == 4; // step -1 looks to the right too
    // steps 0 and 1 of words that step 2 or 3 compares with another tile: a bit each
    tmap_u32 side = 0;
    if (values && steps == 4 && !f.tile) {
        side = (at.z ^ (at.z - 1)) >> job->lz ? 1 : 0;
        if (((at.y ^ (at.y - 1)) | (at.y ^ (at.y + 1))) >> job->ly) side |= 2;
    }
#pragma unroll 1
    for (int k = -1; k < steps; ++k) {
        const tmap_u32 y = at.y + (k == 3 ? 1u : k == 0 || k == 2 ? ~0u : 0);
        const tmap_u32 z = at.z - (k > 0);
        // whether the word there and those to its left and its right are in other tiles
        const int cross = ((at.y ^ y) >> job->ly | (at.z ^ z) >> job->lz) != 0;
        const int sides = k < 0 || n == 26 || (n == 18 && k < 2); // over columns too
        const int cross_l = cross || (sides && (at.x ^ (at.x - 1)) >> job->lx);
        const int cross_r = cross || (sides && (k >= 0 || own_r) && (at.x ^ (at.x + 1)) >> job->lx);
        const int use_l = sides && (f.tile || cross_l),
                  use_r = sides && (k >= 0 || own_r) && (f.tile || cross_r);
        const int more = values && k >= 0 && side >> k & 1;
        if (!f.tile && !__any_sync(~0u, cross_l || cross_r || more)) continue;
        const tmapi_label3_near v =
            tmapi_label3_look(job, f, at.x, y, z, f.tile || cross_l || cross_r || more, values);
        const tmapi_label3_near l = tmapi_label3_look(job, f, at.x - 1, y, z, use_l, values);
        const tmapi_label3_near r = tmapi_label3_look(job, f, at.x + 1, y, z, use_r, values);
        const tmap_u32 last = tmapi_label3_node(&l, 1u << 31, values); // run of the word l
        // cells that touch one straight, to the left, to the right
        tmap_u32 straight = 0, left = w.all & l.all >> 31 & ~known.x, right = 0;
        if (values) {
            const tmap_u32 both = w.all & v.all;
            tmapi_label3_same is = {0, 0, 0};
            if (k >= 0 && f.tile)
                is = same_of[k];
            else if (w.all && v.all && (cross || more))
                is = tmapi_label3_compare(tmapi_label3_planes_of(job, w.runs),
                                          tmapi_label3_planes_of(job, v.runs),
                                          tmap_label3_size(job->kind) * 8);
            else if (k >= 0)
                is.straight = (w.row[2] == v.row[2]) | (tmap_u32)(w.row[3] == v.row[3]) << 31;
            straight = is.straight & both, left = is.left & w.all & v.all << 1;
            right = is.right & w.all & v.all >> 1;
            if (l.all >> 31 && l.row[3] == w.row[2]) left |= w.all & 1;
            if (r.all & 1 && r.row[2] == w.row[3]) right |= w.all & 1u << 31;
            if (k < 0) linked = (left & 1) | right, right = 0;
            if (k == 0) above = straight;
            if (k == 1) front = straight;
            if (k >= 0 && sides) {
                left &= ~(straight | straight << 1 | (linked & 1));
                right &= ~(straight | straight >> 1 | (linked & 1u << 31));
            } else if (k >= 0)
                left = right = 0;
            straight &=
                ~(straight << 1 & w.all & ~w.row[1]); // the first touch of each pair of runs
            straight &= ~(k == 0 ? known.y : k == 1 ? known.z : 0);
            if (k >= 2) {
                const tmap_u32 need = ~(front | (k == 2   ? above
                                                 : f.tile ? same_of[4].straight
                                                          : 0));
                straight &= need, left &= need, right &= need;
            }
        } else if (k >= 0) {
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
                const tmap_u32 its = to         ? tmapi_label3_node(&v, to, values)
                                     : side < 0 ? last
                                                : r.runs;
                f.queue[count + tmapi_raster_count(lanes & ((1u << lane) - 1))] =
                    (tmap_u64)tmapi_label3_node(&w, bit, values) << 32 | its;
                if (side == 0) straight = rest;
                if (side < 0) left = rest;
                if (side > 0) right = rest;
            }
            count += tmapi_raster_count(lanes);
            if (count >= 32) count = tmapi_label3_flush(job, f, count, values);
        }
    }
    if (count) tmapi_label3_flush(job, f, count, values);
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
                                     tmapi_label3_at in, const tmapi_label3_near *w,
                                     const tmapi_label3_same *same, const int values) {
    tmapi_label3_near up[2] = {{{0, 0, 0, 0}, 0, 0}, {{0, 0, 0, 0}, 0, 0}};
    tmapi_label3_at at[2] = {in, in};
    tmap_u32 touch[2] = {0, 0}, run, node = threadIdx.x;
    uint3 known = {0, 0, 0};
    --at[0].y, --at[1].z;
    if (values) {
        up[0] = tmapi_label3_look(job, f, in.x, at[0].y, in.z, 1, 1);
        up[1] = tmapi_label3_look(job, f, in.x, in.y, at[1].z, 1, 1);
        touch[0] = same[0].straight & w->all & up[0].all;
        touch[1] = same[1].straight & w->all & up[1].all;
    } else if (job->gz == 1) {
        const tmapi_label3_near l = tmapi_label3_look(job, f, in.x - 1, in.y, in.z, 1, 0);
        const tmapi_label3_near of_l = tmapi_label3_look(job, f, in.x - 1, at[0].y, in.z, 1, 0);
        up[0] = tmapi_label3_look(job, f, in.x, at[0].y, in.z, 1, 0);
        up[1] = tmapi_label3_look(job, f, in.x, in.y, at[1].z, 1, 0);
        touch[0] = tmapi_label3_straight(job, w, up), touch[1] = w->all & up[1].all;
        known.x = touch[0] & tmapi_label3_straight(job, &l, &of_l) >> 31;
    }
    for (tmap_u32 rest = w->all; rest; rest &= ~run, node += 1u << tmapi_label3_log(values)) {
        tmap_u32 entry, bit;
        run = tmapi_label3_run(w->all, w->row, rest & (0u - rest), values);
        entry = tmapi_label3_entry(job, in, w, run, node);
#pragma unroll
        for (int k = 1; k >= 0; --k) {
            const tmap_u32 some = touch[k] & run;
            if (some == 0 || (k && touch[0] & run)) continue;
            bit = some & (0u - some);
            entry = tmapi_label3_entry(job, at[k], up + k,
                                       tmapi_label3_run(up[k].all, up[k].row, bit, values),
                                       tmapi_label3_node(up + k, bit, values));
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

// Stores a word of a tile, and unites the tile's runs; stores the number of each run's root.
// f.parent: shared memory, which may hold the cells of values until here. in: the word's place in
// the tile. same: as in tmapi_label3_touch.
TMAP_DEVICE void tmapi_label3_local(const tmapi_label3_job *job, tmapi_label3_forest f,
                                    tmapi_label3_at in, const tmapi_label3_same *same,
                                    const int values) {
    const tmap_u32 i = threadIdx.x, base = blockIdx.x * (1u << TMAPI_LABEL3_RUNS);
    const tmap_u32 number = blockIdx.x << tmapi_label3_log(values) | i, log = job->gy + job->gz - 2;
    const tmapi_label3_near w = tmapi_label3_look(job, f, in.x, in.y, in.z, 1, values);
    tmap_u32 node = i;
    uint3 known;
    if (values) ((uint2 *)job->ends)[number] = make_uint2(w.row[2], w.row[3]);
    if (!values && log == 2)
        ((uint4 *)job->bits)[number] = f.tile[i];
    else if (values || log)
        ((uint2 *)job->bits)[number] = make_uint2(w.row[0], w.row[1]);
    else
        job->bits[number] = w.all;
    __syncthreads();
    known = tmapi_label3_plant(job, f, in, &w, same, values);
    __syncthreads();
    tmapi_label3_touch(job, f, in, known, same, values);
    __syncthreads();
    for (tmap_u32 rest = tmapi_label3_starts(w.all, w.row, values); rest; rest &= rest - 1) {
        job->parent[base + node] = base + (tmapi_label3_tile_root(f.parent, node) & 0xffff);
        node += 1u << tmapi_label3_log(values);
    }
}

// Packs the words of a tile, and unites their runs.
static __global__ void __launch_bounds__(1u << TMAPI_LABEL3_TILE, 2)
    tmapi_label3_local_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    uint4 *tile = tmapi_label3_memory;
    tmap_u64 *queue = (tmap_u64 *)(tile + (1u << TMAPI_LABEL3_TILE));
    tmap_u32 *parent = (tmap_u32 *)(queue + (2u << TMAPI_LABEL3_TILE));
    const tmap_u32 i = threadIdx.x, log = job.gy + job.gz - 2;
    const tmapi_label3_forest f = {parent, tile, 0, queue + i / 32 * 64};
    const tmapi_label3_at at = tmapi_label3_place(&job, blockIdx.x << TMAPI_LABEL3_TILE | i, 0);
    const tmapi_label3_at in = tmapi_label3_place(&job, i, 0); // of the tile
    if (blockIdx.x == 0 && i == 0) *job.scan.counter = 0;
    tile[i] = make_uint4(0, 0, 0, 0);
#pragma unroll 1
    for (tmap_u32 r = 0; r < 1u << log; ++r)
        ((tmap_u32 *)(tile + i))[r] =
            tmapi_label3_pack(&job, at.x, at.y * job.gy + r % 2, at.z * job.gz + r / 2);
    tmapi_label3_local(&job, f, in, 0, 0);
}

// The values of the word at `from`. `cells` of them belong to the map; 0 after these. memory: the
// warp's part of shared memory, for words that a lane cannot read. Collective for the warp.
TMAP_DEVICE void tmapi_label3_load(const char *from, tmap_u32 cells, tmap_u32 *memory, tmap_u32 *c,
                                   const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, step = 8 * size + 1; // in another bank
    if (!__any_sync(~0u, cells && (cells < 32 || (tmap_u64)from % 16))) {
#pragma unroll
        for (tmap_u32 k = 0; k < 8 * size; k += 4) {
            const uint4 v = cells ? __ldcs((const uint4 *)from + k / 4) : make_uint4(0, 0, 0, 0);
            c[k] = v.x, c[k + 1] = v.y, c[k + 2] = v.z, c[k + 3] = v.w;
        }
        return;
    }
#pragma unroll 8
    for (tmap_u32 k = 0; k < 32; ++k) {
        const char *of = (const char *)__shfl_sync(~0u, (tmap_u64)from, (int)k);
        const int in = lane < __shfl_sync(~0u, cells, (int)k);
        if (size == 4)
            memory[k * step + lane] = in ? ((const tmap_u32 *)of)[lane] : 0;
        else if (size == 2)
            ((unsigned short *)(memory + k * step))[lane] =
                in ? ((const unsigned short *)of)[lane] : (unsigned short)0;
        else
            ((unsigned char *)(memory + k * step))[lane] =
                in ? ((const unsigned char *)of)[lane] : (unsigned char)0;
    }
    __syncwarp();
#pragma unroll
    for (tmap_u32 k = 0; k < 8 * size; ++k) c[k] = memory[lane * step + k];
}

// Stores the planes of a word of values of a size in shared memory; at the sides of a tile also in
// the workspace. Returns the word, where its runs start, and its ends. Collective for the block.
TMAP_DEVICE uint4 tmapi_label3_pack_values(const tmapi_label3_around *a, tmap_u32 *memory, int side,
                                           const tmap_u32 size) {
    const tmapi_label3_job *job = &a->job;
    const tmap_u32 i = threadIdx.x, log = tmapi_label3_log(1);
    const tmap_u32 number = blockIdx.x << log | i;
    const tmapi_label3_at at = tmapi_label3_place(job, number, 1);
    const int inside = at.x < job->nx && at.y < job->ny && at.z < job->nz;
    const tmap_u32 left = inside ? job->width - at.x * 32 : 0, cells = left < 32 ? left : 32;
    const tmap_u64 first = at.z * job->slice + at.y * job->pitch + at.x * 32;
    tmap_u32 *planes = tmapi_label3_planes_of(job, tmapi_label3_runs(number, 1));
    tmap_u32 c[32], nan = 0, some = 0, differ = 1;
    tmapi_label3_load((const char *)job->cells + first * size, cells,
                      memory + i / 32 * 32 * (8 * size + 1), c, size);
    if (size == 4 && job->kind == TMAP_LABEL3_F32) {
#pragma unroll
        for (tmap_u32 k = 0; k < 32; ++k) {
            if (c[k] == 0x80000000u) c[k] = 0;
            if ((c[k] & 0x7fffffffu) > 0x7f800000u) nan |= 1u << k;
        }
    }
    // From here on only whether values are equal counts: the one to leave out becomes 0.
#pragma unroll
    for (tmap_u32 k = 0; k < 8 * size; ++k) c[k] ^= a->nodata;
    uint4 word = {cells < 32 ? (1u << cells) - 1 : ~0u, 0, c[0] & ~0u >> (32 - 8 * size),
                  c[8 * size - 1] >> (32 - 8 * size)};
    tmapi_label3_planes(c, 8 * size);
    __syncthreads();
#pragma unroll
    for (tmap_u32 p = 0; p < 8 * size; ++p) {
        memory[p << log | i] = c[p], some |= c[p], differ |= c[p] ^ c[p] << 1;
        if (side) planes[p << log] = c[p];
    }
    word.x &= ~nan & (a->has_nodata ? some : ~0u), word.y = word.x & differ;
    return word;
}

// The same for values. Their planes are in shared memory until the runs of the tile are planted.
static __global__ void __launch_bounds__(1u << (TMAPI_LABEL3_TILE - 1), 4)
    tmapi_label3_local_values_kernel(tmapi_label3_around a) {
    extern __shared__ uint4 tmapi_label3_memory[];
    const tmapi_label3_job *job = &a.job;
    const tmap_u32 i = threadIdx.x, log = tmapi_label3_log(1), size = tmap_label3_size(job->kind);
    uint4 *tile = tmapi_label3_memory;
    tmap_u64 *queue = (tmap_u64 *)(tile + (1u << log));
    tmap_u32 *parent = (tmap_u32 *)(queue + (2u << log));
    const tmapi_label3_forest f = {parent, tile, 0, queue + i / 32 * 64};
    const tmapi_label3_at in = tmapi_label3_place(job, i, 1);
    const int side = in.y == 0 || (in.y + 1) >> job->ly || in.z == 0 || (in.z + 1) >> job->lz;
    tmapi_label3_same same[5];
    if (blockIdx.x == 0 && i == 0) *job->scan.counter = 0;
    tile[i] = size == 1   ? tmapi_label3_pack_values(&a, parent, side, 1)
              : size == 2 ? tmapi_label3_pack_values(&a, parent, side, 2)
                          : tmapi_label3_pack_values(&a, parent, side, 4);
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < (job->neighbours == 6 ? 2 : 5); ++k) { // as in tmapi_label3_touch
        const tmap_u32 y = in.y + (k > 2 ? 1u : k == 1 ? 0 : ~0u), z = in.z - (k > 0 && k < 4);
        const tmap_u32 facing = (z << job->ly | y) << job->lx | in.x;
        const tmapi_label3_same none = {0, 0, 0};
        const int there = (y >> job->ly | z >> job->lz) == 0;
        same[k] = there ? tmapi_label3_compare(parent + i, parent + facing, 8 * size) : none;
    }
    tmapi_label3_local(job, f, in, same, 1); // whose first barrier is after all reads of planes
}

// Unites the runs of a tile with those of other tiles.
TMAP_DEVICE void tmapi_label3_unite(const tmapi_label3_job *job, tmap_u64 *recent, tmap_u64 *queue,
                                    const int values) {
    const tmapi_label3_forest f = {job->parent, 0, recent, queue + threadIdx.x / 32 * 64};
    recent[threadIdx.x] = 0; // no pair
    __syncthreads();
    const tmap_u32 number = blockIdx.x << tmapi_label3_log(values) | threadIdx.x;
    tmapi_label3_touch(job, f, tmapi_label3_place(job, number, values), make_uint3(0, 0, 0), 0,
                       values);
}
static __global__ void __launch_bounds__(1u << TMAPI_LABEL3_TILE, 2)
    tmapi_label3_unite_kernel(tmapi_label3_job job) {
    __shared__ tmap_u64 recent[1u << TMAPI_LABEL3_TILE], queue[2u << TMAPI_LABEL3_TILE];
    tmapi_label3_unite(&job, recent, queue, 0);
}
static __global__ void __launch_bounds__(1u << (TMAPI_LABEL3_TILE - 1), 4)
    tmapi_label3_unite_values_kernel(tmapi_label3_job job) {
    __shared__ tmap_u64 recent[1u << (TMAPI_LABEL3_TILE - 1)], queue[1u << TMAPI_LABEL3_TILE];
    tmapi_label3_unite(&job, recent, queue, 1);
}

// The number of the run of a cell of the map; ~0 if it belongs to no component.
TMAP_DEVICE tmap_u32 tmapi_label3_run_of(const tmapi_label3_job *job, const tmap_u32 *cell,
                                         const int values) {
    const tmapi_label3_at at = {cell[0] / 32, cell[1] / job->gy, cell[2] / job->gz};
    const tmap_u32 number = tmapi_label3_number(job, at, values), bit = 1u << cell[0] % 32;
    tmapi_label3_near w;
    w.all = tmapi_label3_group(job, number, w.row, values);
    w.runs = tmapi_label3_runs(number, values);
    const tmap_u32 r = cell[2] % job->gz * 2 + cell[1] % job->gy;
    return w.row[r] & bit ? tmapi_label3_node(&w, bit, values) : ~0u;
}

// 1 if two cells have one value.
TMAP_DEVICE int tmapi_label3_equal(const tmapi_label3_job *job, const tmap_u32 *a,
                                   const tmap_u32 *b) {
    const int kind = job->kind;
    return tmapi_label3_value(job->cells, a[2] * job->slice + a[1] * job->pitch + a[0], kind) ==
           tmapi_label3_value(job->cells, b[2] * job->slice + b[1] * job->pitch + b[0], kind);
}

// Unites a cell at the start of a periodic axis with its neighbours at the end. i: its number among
// these cells. Collective for the warp.
TMAP_DEVICE void tmapi_label3_close(const tmapi_label3_around *a, tmapi_label3_forest f, tmap_u64 i,
                                    const int values) {
    const tmapi_label3_job *job = &a->job;
    const tmap_u32 size[3] = {job->width, job->height, job->depth}, n = (tmap_u32)job->neighbours;
    const int axes = n == 6 ? 1 : n == 18 ? 2 : 3; // in which neighbours may differ
    tmap_u32 axis = 0, mine = ~0u, count = 0;
    int done = 0;
    while (axis < 3 && i >= a->cells[axis]) i -= a->cells[axis++];
    const tmap_u32 u = axis == 0 ? 1 : 0, of = axis == 0 ? size[1] : size[0]; // the next axis
    const tmap_u32 second = (tmap_u32)(i / of), first = (tmap_u32)(i - (tmap_u64)second * of);
    const tmap_u32 cell[3] = {axis == 0 ? 0 : first,
                              axis == 0   ? first
                              : axis == 1 ? 0
                                          : second,
                              axis == 2 ? 0 : second};
    if (axis < 3) mine = tmapi_label3_run_of(job, cell, values);
#pragma unroll 1
    for (int k = 0; k < 9; ++k) {         // the cell that it faces, and those around that
        const int du = k % 3, dv = k / 3; // 2: one back
        int there = mine != ~0u && !done && 1 + (du > 0) + (dv > 0) <= axes;
        tmap_u32 to[3], its = ~0u;
#pragma unroll
        for (tmap_u32 e = 0; e < 3; ++e) {
            const int by = e == axis ? 2 : e == u ? du : dv;
            to[e] = cell[e] + (by == 2 ? ~0u : (tmap_u32)by);
            if (to[e] < size[e]) continue;
            there = there && a->periodic >> e & 1;
            to[e] = by == 2 ? size[e] - 1 : 0;
        }
        if (there) its = tmapi_label3_run_of(job, to, values);
        if (values && its != ~0u && !tmapi_label3_equal(job, cell, to)) its = ~0u;
        done |= k == 0 && its != ~0u; // then the others are of its component
        const tmap_u32 at = tmapi_warp_place(threadIdx.x % 32, &count, its != ~0u);
        if (its != ~0u) f.queue[at] = (tmap_u64)mine << 32 | its;
        while (count >= (k < 8 ? 32u : 1u)) count = tmapi_label3_flush(job, f, count, values);
    }
}

// Unites runs over the ends of periodic axes.
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF, 4)
    tmapi_label3_close_kernel(tmapi_label3_around a) {
    __shared__ tmap_u64 recent[1u << TMAPI_LABEL3_TILE], queue[2 * TMAPI_LABEL3_HALF];
    const tmapi_label3_forest f = {a.job.parent, 0, recent, queue + threadIdx.x / 32 * 64};
    const tmap_u64 i = (tmap_u64)blockIdx.x * TMAPI_LABEL3_HALF + threadIdx.x;
    recent[threadIdx.x] = recent[threadIdx.x + TMAPI_LABEL3_HALF] = 0; // no pair
    __syncthreads();
    if (a.job.kind > TMAP_LABEL3_BITS)
        tmapi_label3_close(&a, f, i, 1);
    else
        tmapi_label3_close(&a, f, i, 0);
}

// Gives each run its root; marks and counts the first cells of components. A root does not change
// here, so that loads from caches find it.
TMAP_DEVICE void tmapi_label3_roots(const tmapi_label3_job *job, const int values) {
    const tmap_u32 log = tmapi_label3_log(values);
    const tmap_u32 number = (blockIdx.x << (log - 1)) + threadIdx.x;
    const tmapi_label3_at at = tmapi_label3_place(job, number, values);
    tmap_u32 row[4], first[4] = {0, 0, 0, 0}, run, mine = tmapi_label3_runs(number, values);
    for (tmap_u32 rest = tmapi_label3_group(job, number, row, values), word = rest; rest;
         rest &= ~run, mine += 1u << log) {
        const tmap_u32 above = job->parent[mine];
        tmap_u32 root = above, up;
        run = tmapi_label3_run(word, row, rest & (0u - rest), values);
        while ((up = job->parent[root]) != root) root = up;
        if (root != above) job->parent[mine] = root;
        if (root == mine) {
            tmap_u32 k;
            const tmap_u32 cell = 1u << tmapi_label3_lead(row, run, &k);
#pragma unroll
            for (tmap_u32 r = 0; r < 4; ++r) first[r] |= r == k ? cell : 0;
        }
    }
    if (at.x >= job->nx) return;
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        const tmap_u32 y = at.y * job->gy + k % 2, z = at.z * job->gz + k / 2;
        const tmap_u32 to = (z * job->height + y) * job->nx + at.x;
        if (k % 2 >= job->gy || k / 2 >= job->gz || y >= job->height || z >= job->depth) continue;
        job->first[to] = first[k], job->scan.count[to] = tmapi_raster_count(first[k]);
    }
}
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_roots_kernel(tmapi_label3_job job) {
    tmapi_label3_roots(&job, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF / 2)
    tmapi_label3_roots_values_kernel(tmapi_label3_job job) {
    tmapi_label3_roots(&job, 1);
}

// Gives cells their labels. A lane has a word and stores the labels of its runs in shared memory;
// then a lane writes the labels of four neighbouring cells at a time, or of one if they may not be
// at a multiple of 16 bytes.
TMAP_DEVICE void tmapi_label3_write(const tmapi_label3_job *job, void *memory, const int wide,
                                    const int values, const int roots) {
    __shared__ uint4 rows[TMAPI_LABEL3_HALF];
    const tmap_u32 tile = tmapi_label3_log(values);
    const tmap_u32 number = (blockIdx.x << (tile - 1)) + threadIdx.x, lane = threadIdx.x % 32;
    const tmap_u32 names_of = values ? TMAPI_LABEL3_NAMES + 16 : TMAPI_LABEL3_NAMES;
    const tmapi_label3_at at = tmapi_label3_place(job, number, values);
    void *names = (char *)memory + (threadIdx.x - lane) * names_of * (wide ? 8 : 4);
    const tmap_u32 each = job->width % 4 || (tmap_u64)job->labels % 16 ? 1 : 4;
    const tmap_u32 log = job->gy + job->gz - 2, column = lane * each % 32;
    const tmap_u64 start =
        ((tmap_u64)at.z * job->gz * job->height + at.y * job->gy) * job->width + at.x * 32;
    tmap_u32 row[4], last = 0, has;
    const tmap_u32 word = tmapi_label3_group(job, number, row, values);
    tmap_u64 label = 0;
    for (tmap_u32 rest = tmapi_label3_starts(word, row, values), k = 0; rest;
         rest &= rest - 1, ++k) {
        tmap_u32 root = job->parent[tmapi_label3_runs(number, values) + (k << tile)], up;
        if (roots)
            while ((up = job->parent[root]) != root) root = up;
        if (root != last || label == 0) {
            const tmap_u64 cell = tmapi_label3_first(job, root, values);
            const tmap_u32 of = (tmap_u32)(cell / 32), before = (1u << cell % 32) - 1;
            if (roots)
                label = cell + 1;
            else
                label = tmapi_label_before(&job->scan, of) +
                        tmapi_raster_count(job->first[of] & before) + 1;
            last = root;
        }
        tmapi_label_put(names, lane * names_of + k, label, wide);
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
        const tmap_u32 k = i >> log, r = i & ((1u << log) - 1), names_k = k * names_of;
        const tmap_u32 there = __shfl_sync(~0u, has, (int)k);
        const tmap_u64 to = __shfl_sync(~0u, start, (int)k) +
                            ((tmap_u64)(r / 2) * job->height + r % 2) * job->width + column;
        const uint4 v = rows[threadIdx.x - lane + k];
        const tmap_u32 all = values ? v.x : v.x | v.y | v.z | v.w;
        const tmap_u32 starts = values ? v.y : all & ~(all << 1);
        const tmap_u32 cells = (r & 2 ? r & 1 ? v.w : v.z : r & 1 ? v.y : v.x) >> column;
        // cells of the two runs that four columns can have, and of the first one; its number
        const tmap_u32 some = all >> column & 15, one = some & ~(some + (some & (0u - some)));
        const tmap_u32 run = tmapi_raster_count(starts & ((2u << column) - 1)) - (some & 1);
        const tmap_u64 a = one ? tmapi_label_get(names, names_k + run, wide) : 0;
        const tmap_u64 b = some != one ? tmapi_label_get(names, names_k + run + 1, wide) : 0;
        tmap_u32 of = names_k + tmapi_raster_count(starts & ((2u << column) - 1)) - 1;
        tmap_u64 name[4];
        if (!(there >> (6 + r) & 1) || column >= (there & 63)) continue;
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c)
            if (!values)
                name[c] = cells >> c & 1 ? one >> c & 1 ? a : b : 0;
            else if (c < each && cells >> c & 1) { // each of the four can be a run of its own
                const tmap_u32 new_run = c ? starts >> column >> c & 1 : 1;
                of += c ? new_run : 0;
                name[c] = new_run ? tmapi_label_get(names, of, wide) : name[c - (c > 0)];
            } else
                name[c] = 0;
        if (each == 4)
            tmapi_label_put4((char *)job->labels + (wide ? to * 8 : to * 4), name, wide);
        else
            tmapi_label_put((char *)job->labels + (wide ? to * 8 : to * 4), 0, name[0], wide);
    }
}

static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_write_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmapi_label3_write(&job, tmapi_label3_memory, 0, 0, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_write_wide_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmapi_label3_write(&job, tmapi_label3_memory, 1, 0, 0);
}
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF / 2)
    tmapi_label3_write_values_kernel(tmapi_label3_around a) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmapi_label3_write(&a.job, tmapi_label3_memory, a.job.wide, 1, a.roots);
}
static __global__ void __launch_bounds__(TMAPI_LABEL3_HALF)
    tmapi_label3_write_roots_kernel(tmapi_label3_job job) {
    extern __shared__ uint4 tmapi_label3_memory[];
    tmapi_label3_write(&job, tmapi_label3_memory, job.wide, 0, 1);
}

// ---- labels -------------------------------------------------------------------------------------

// Makes the plan of the labels of a volume.
// map: its ranges are at its type. form: of labels, TMAP_LABEL_INT32 or TMAP_LABEL_INT64, and
// TMAP_LABEL_ROOTS for labels with gaps.
// plan->workspace: for each cell 0.9 bytes with 26 neighbours, 1.4 with 18, 2.4 with 6; 5.8, 6.8 or
// 8.8 for values of 1, 2 or 4 bytes; more for maps that fill their tiles in part.
// Returns cudaErrorInvalidValue for TMAP_EINVAL of tmap_label3_plan_of and
// cudaErrorInvalidConfiguration for TMAP_ERANGE. Cost: no call of CUDA.
static inline cudaError_t tmap_label3_plan_make(const tmap_label3_map *map, int form,
                                                tmap_label3_plan *plan) {
    return tmapi_launch_error(tmap_label3_plan_of(map, form, plan));
}

// Labels the components of a volume.
// plan: that of the map. All pointers are device memory that does not overlap. cells: at a multiple
// of their size, bits of 4. workspace: plan->workspace bytes at a multiple of 16, with any content.
// labels: width * height * depth int or long long (the form); that of column x, row y and slice z
// is number (z * height + y) * width + x. count: receives the number of components, at a multiple
// of 8; not used for labels with gaps. Calls that run at the same time need one workspace each. A
// map without cells needs none of these but `count`, which becomes 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps, else
// the launches' error.
// Allocates nothing and does not synchronize, so the call can be captured.
// Cost: cells are read once and labels written once; the rest grows with the number of runs. A
// periodic axis adds 1 to 9 looks at neighbours for each cell of its first column, row or slice.
// Labels with gaps: 1 + that of the component's first cell, (z * height + y) * w + x, where w is
// the width rounded up to a multiple of 32.
// Example: two slices of 2 x 2 cells, 1 0 / 0 0 and 0 0 / 0 1: with 26 neighbours both cells get 1
// and the count is 1; with 18 they get 1 and 2.
static inline cudaError_t tmap_label3(const tmap_label3_plan *plan, const void *cells,
                                      void *workspace, void *labels, tmap_u64 *count,
                                      cudaStream_t stream) {
    tmapi_label3_around around;
    tmapi_label3_job *job = &around.job;
    if (!plan || !plan->map.neighbours) return cudaErrorInvalidValue;
    const int values = plan->map.kind > TMAP_LABEL3_BITS;
    const tmap_u32 size = tmap_label3_size(plan->map.kind);
    const tmap_u64 row =
        plan->map.kind == TMAP_LABEL3_BITS ? (plan->map.width + 31) / 32 : plan->map.width;
    const tmap_u64 slice = tmapi_raster_span(plan->map.height - 1, plan->map.pitch, row);
    const tmap_u64 all = tmapi_raster_span(plan->map.depth - 1, plan->map.slice, slice);
    const tmapi_raster_memory in = {cells, tmap_mul_saturate(all, size)};
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmapi_raster_memory one = {count, plan->roots ? 0ull : 8ull};
    if (tmapi_label_wrong(&plan->array, in, size, work, labels, one)) return cudaErrorInvalidValue;
    if (!plan->job.tiles) return tmapi_label_empty(one, stream);
    around.job = plan->job, job->cells = cells, job->labels = labels;
    tmapi_label3_divide(job, (tmap_u64)workspace);
    job->scan.total = count, around.roots = plan->roots;
    around.has_nodata = tmapi_label3_nodata(&plan->map, &around.nodata);
    around.periodic = (tmap_u32)plan->map.neighbours >> 8;
    around.cells[0] = around.periodic & 1 ? plan->map.height * plan->map.depth : 0;
    around.cells[1] = around.periodic & 2 ? plan->map.width * plan->map.depth : 0;
    around.cells[2] = around.periodic & 4 ? plan->map.width * plan->map.height : 0;
    const tmap_u64 ends = around.cells[0] + around.cells[1] + around.cells[2];
    const tmap_u32 each = 1u << tmapi_label3_log(values);
    const tmap_u32 names = TMAPI_LABEL3_NAMES + 16 * (tmap_u32)values;
    const tmapi_raster_step none = {0, {0, 0, 0}};
    const tmapi_raster_step steps[6] = {
        {values ? (const void *)tmapi_label3_local_values_kernel
                : (const void *)tmapi_label3_local_kernel,
         {job->tiles, each, values ? TMAPI_LABEL3_LOCAL_VALUES : TMAPI_LABEL3_LOCAL}},
        {values ? (const void *)tmapi_label3_unite_values_kernel
                : (const void *)tmapi_label3_unite_kernel,
         {job->tiles, each, 0}},
        {(const void *)tmapi_label3_close_kernel,
         {(ends + TMAPI_LABEL3_HALF - 1) / TMAPI_LABEL3_HALF, TMAPI_LABEL3_HALF, 0}},
        {values ? (const void *)tmapi_label3_roots_values_kernel
                : (const void *)tmapi_label3_roots_kernel,
         {plan->roots ? 0 : job->tiles * 2ull, each / 2, 0}},
        plan->roots ? none : tmapi_label_sum_step(&job->scan),
        {values        ? (const void *)tmapi_label3_write_values_kernel
         : plan->roots ? (const void *)tmapi_label3_write_roots_kernel
         : job->wide   ? (const void *)tmapi_label3_write_wide_kernel
                       : (const void *)tmapi_label3_write_kernel,
         {job->tiles * 2ull, each / 2, each / 2 * names * (job->wide ? 8 : 4)}}};
    return tmapi_raster_run(steps, 6, &around, stream);
}

#endif

#endif
