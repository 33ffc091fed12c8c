// SPDX-License-Identifier: MIT
// drmsd_matrix_plan.h: how the dRMSD of all frames is cut: pairs of atoms into groups, units and
// slices, frames into tiles, and where everything stands in the workspace.
//
// A column is a pair of atoms. Columns come in groups of 8 pairs that share their atoms: a block of
// 8 atoms i, .., i + 7 by an atom j behind them; the 28 pairs within the block are folded into 4
// groups. A group reads 3 coordinates of each of 9 atoms, of which 8 stay where they are from group
// to group.
//
//     atoms    0 1 2 3 4 5 6 7 | 8 9 ..        n = 10:
//     group 0: (0,1) (0,7) (1,7) .. (6,7)      1 pair by atom 1 and 7 by atom 7
//     group 3: (0,4) (1,4) (2,4) (3,4)         4 pairs, and 4 columns of nothing
//     group 4: (0,8) (1,8) .. (7,8)            group 5: (0,9) .. (7,9)
//     group 6: (8,9)                           group 7 .. 9: nothing
//
// Private to the library, but for the plan: drmsd_matrix.h and drmsd_mma.h have the functions.
#ifndef TMAP_TRIANGLE_DRMSD_MATRIX_PLAN_H
#define TMAP_TRIANGLE_DRMSD_MATRIX_PLAN_H

#include "drmsd_atoms.h"

#define TMAPI_MATRIX_SIDE  128u // frames of a tile
#define TMAPI_MATRIX_GROUP 8u   // columns of a group
#define TMAPI_MATRIX_UNIT  512u // columns whose terms are added up before they join others
#define TMAPI_MATRIX_UNITS 128u // of a slice at most, so that sums of theirs may be floats
#define TMAPI_MATRIX_BUSY  528u // blocks that keep a GPU busy; fewer tiles are cut into more slices
#define TMAPI_MATRIX_PARTS 256u // sums of weights

// 16383 tiles: four blocks of each are an axis of a grid. No device holds the results of as many.
#define TMAPI_MATRIX_FRAMES_MAX 2097024u

// A plan: what a launch computes, and the workspace that it needs. Its members are for reading.
typedef struct tmap_drmsd_matrix_plan {
    tmap_u64 frames, groups;
    tmap_u64 workspace;  // bytes that the launcher needs
    tmap_u32 n, atoms;   // atoms of a frame, and those that count
    tmap_u32 tiles;      // of frames
    tmap_u32 planes;     // a distance is staged as 1 or 2 numbers of half precision; 0: as a float
    tmap_u32 slice;      // units of a slice
    tmap_u32 slices;     // of all columns
    tmap_u32 round;      // slices that are in the workspace at a time
    tmap_u64 at_columns; // where things begin in the workspace, in bytes; bounds and weights first
    tmap_u64 at_coordinates, at_distances, at_norms, at_partial, at_rest;
} tmap_drmsd_matrix_plan;

// ---- groups -------------------------------------------------------------------------------------

// Pairs (i + s, j) for s < split, and (i + s - split, k) for the other s below 8. A pair with an
// atom that does not exist is a column of nothing.
typedef struct tmapi_matrix_group {
    tmap_u32 i, j, k, split;
} tmapi_matrix_group;

// A place in the order of groups: a block of 8 atoms and a group of it.
typedef struct tmapi_matrix_place {
    tmap_u32 block, group;
} tmapi_matrix_place;

// The groups of all pairs of `atoms` atoms; the blocks before number b have b (atoms - 4 b).
// Example: 200 -> 2500, which is 20000 columns for 19900 pairs.
TMAP_FN tmap_u64 tmapi_matrix_groups(tmap_u32 atoms) {
    const tmap_u64 blocks = atoms / 8;
    return blocks * (atoms - 4 * blocks) + (atoms % 8 > 1 ? 4 : 0);
}

// The groups of a block: 4, and one for each atom behind it.
TMAP_FN tmap_u32 tmapi_matrix_block_groups(tmap_u32 atoms, tmap_u32 block) {
    return atoms > 8 * block + 8 ? atoms - 8 * block - 4 : 4;
}

// The place of group number g. The root of a float is off by less than a block.
TMAP_FN tmapi_matrix_place tmapi_matrix_place_of(tmap_u32 atoms, tmap_u64 g) {
    const tmap_u64 all = (tmap_u64)atoms * atoms, last = atoms / 8;
    const float left = all > 16 * g ? (float)(all - 16 * g) : 0;
    const float blocks = ((float)atoms - tmapi_sqrt(left)) * 0.125f;
    tmap_u64 block = blocks > 0 ? (tmap_u64)blocks : 0;
    tmapi_matrix_place place;
    if (block > last) block = last;
    while (block > 0 && block * (atoms - 4 * block) > g) --block;
    while (block < last && (block + 1) * (atoms - 4 * (block + 1)) <= g) ++block;
    place.block = (tmap_u32)block;
    place.group = (tmap_u32)(g - block * (atoms - 4 * block));
    return place;
}

// The place of the next group.
TMAP_FN tmapi_matrix_place tmapi_matrix_place_next(tmap_u32 atoms, tmapi_matrix_place place) {
    if (++place.group == tmapi_matrix_block_groups(atoms, place.block)) {
        place.group = 0;
        ++place.block;
    }
    return place;
}

// The pairs of a group. An atom that does not exist has any number of `atoms` or more.
TMAP_FN tmapi_matrix_group tmapi_matrix_group_at(tmap_u32 atoms, tmapi_matrix_place place) {
    tmapi_matrix_group g;
    g.i = 8 * place.block;
    g.j = g.i + 4 + place.group, g.k = atoms, g.split = 8;
    if (place.group < 4) {
        g.j = g.i + 1 + place.group, g.split = place.group + 1;
        if (place.group < 3) g.k = g.i + 7 - place.group;
    }
    return g;
}

// ---- the workspace ------------------------------------------------------------------------------

// The frames that are staged, whole tiles of them.
TMAP_FN tmap_u64 tmapi_matrix_frames(const tmap_drmsd_matrix_plan *p) {
    return (tmap_u64)p->tiles * TMAPI_MATRIX_SIDE;
}

// The columns that are in the workspace at a time.
TMAP_FN tmap_u64 tmapi_matrix_columns(const tmap_drmsd_matrix_plan *p) {
    return (tmap_u64)p->round * p->slice * TMAPI_MATRIX_UNIT;
}

// Finds all places for the plan's slices and round, and the bytes of the workspace.
TMAP_FN void tmapi_matrix_arrange(tmap_drmsd_matrix_plan *p) {
    const tmap_u64 frames = tmapi_matrix_frames(p), columns = tmapi_matrix_columns(p);
    const tmap_u64 cells = (4 * tmap_condensed_cells(p->frames) + 255) / 256 * 256;
    p->at_columns = 256 + 8 * TMAPI_MATRIX_PARTS;
    p->at_coordinates = p->at_columns + 8 * columns;
    p->at_distances = p->at_coordinates + 12 * frames * p->atoms;
    p->at_norms = p->at_distances + (p->planes ? 2 * p->planes : 4) * frames * columns;
    p->at_partial = p->at_norms + (p->planes ? 4 * frames * (columns / 256) : 0);
    p->at_rest = p->at_partial + (p->slices > 1 ? p->round * cells : 0);
    p->workspace = p->at_rest + (p->slices > p->round ? cells : 0);
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Makes a plan. At a time there are as many slices as keep a GPU busy, whichever it is, and the
// workspace holds. Slices are as long as sums of floats allow; where there are few frames, so long
// that distances take about a gigabyte.
static inline cudaError_t tmapi_matrix_plan_make(tmap_u64 frames, tmap_u32 n,
                                                 const tmap_drmsd_atoms *which, tmap_u32 planes,
                                                 tmap_u64 most, tmap_drmsd_matrix_plan *plan) {
    tmap_drmsd_matrix_plan p;
    tmap_u64 units, wanted, tiles, slices, longest;
    if (!plan) return cudaErrorInvalidValue;
    p.atoms = tmap_drmsd_atoms_count(which, n);
    if (frames > TMAPI_MATRIX_FRAMES_MAX || p.atoms > TMAP_TRIANGLE_ROWS_MAX32)
        return cudaErrorInvalidConfiguration;
    p.frames = frames, p.n = n, p.planes = planes;
    p.tiles = (tmap_u32)((frames + TMAPI_MATRIX_SIDE - 1) / TMAPI_MATRIX_SIDE);
    p.groups = tmapi_matrix_groups(p.atoms);
    units = (p.groups * TMAPI_MATRIX_GROUP + TMAPI_MATRIX_UNIT - 1) / TMAPI_MATRIX_UNIT;
    p.slice = p.slices = p.round = 0;
    if (units && frames > 1) {
        tiles = tmap_triangle_cells(p.tiles), wanted = (TMAPI_MATRIX_BUSY + tiles - 1) / tiles;
        longest = ((1ull << 30) + 4 * tmap_condensed_cells(frames)) /
                  (2048 * wanted * tmapi_matrix_frames(&p));
        longest = longest > TMAPI_MATRIX_UNITS ? TMAPI_MATRIX_UNITS : longest ? longest : 1;
        slices = (units + longest - 1) / longest;
        if (slices < wanted) slices = wanted < units ? wanted : units;
        p.slice = (tmap_u32)((units + slices - 1) / slices);
        p.slices = (tmap_u32)((units + p.slice - 1) / p.slice);
        p.round = p.slices < wanted ? p.slices : (tmap_u32)wanted;
    }
    tmapi_matrix_arrange(&p);
    while (most && p.workspace > most) {
        if (p.round > 1)
            --p.round;
        else if (p.slice > 1)
            --p.slice, p.slices = (tmap_u32)((units + p.slice - 1) / p.slice);
        else
            return cudaErrorMemoryAllocation;
        tmapi_matrix_arrange(&p);
    }
    *plan = p;
    return cudaSuccess;
}

#endif
#endif
