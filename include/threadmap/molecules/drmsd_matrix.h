// SPDX-License-Identifier: MIT
// drmsd_matrix.h: the dRMSD of all frames of a trajectory against all.
//
// dRMSD(A, B) = sqrt(sum_{i<j} w_ij (d_ij^A - d_ij^B)^2 / sum_{i<j} w_ij) needs no superposition of
// the frames, and is the distance of their vectors of distances. These vectors are written once;
// then tiles of 128 x 128 pairs of frames, a triangle of them, take differences and squares as a
// product of matrices takes products, in single precision and without any cancellation. For the
// same on tensor cores, quicker and less exact, see drmsd_mma.h.
// Source: as for drmsd_atoms.h.
#ifndef TMAP_MOLECULES_DRMSD_MATRIX_H
#define TMAP_MOLECULES_DRMSD_MATRIX_H

#include "drmsd_atoms.h"

// ---- drmsd matrix plan --------------------------------------------------------------------------
//
// How the dRMSD of all frames is cut: pairs of atoms into groups, units and
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

// ---- drmsd matrix columns -----------------------------------------------------------------------
//
// What the dRMSD of all frames prepares once: coordinates in the order in
// which they are read, and for each pair of atoms where its distances are measured from, and what
// they are multiplied by.
//
// A column is (d - centre) * factor. The centre is the median distance of some frames: what is left
// is small, whatever happens in a few frames, and keeps digits that a distance rounded to a float
// has lost. The factor is sqrt(w_ij), so that sums of squares are those of dRMSD, or 0 for pairs
// that do not count.
//
// Private to the library.

#if TMAP_CUDA

// A column: its centre (x) and its factor (y).
typedef struct __attribute__((aligned(8))) tmapi_matrix_column {
    float centre, factor;
} tmapi_matrix_column;

// A launch: the plan, and the pointers of one round of slices.
typedef struct tmapi_matrix {
    tmap_drmsd_matrix_plan plan;
    tmap_drmsd_atoms which;
    const float *frames;
    tmap_u64 reference;
    tmap_u64 first;     // slice of the round, of all slices
    tmap_u32 slices;    // of this round
    tmap_u32 *bounds;   // bits of floats: the largest coordinate and the largest weight
    double *weights;    // parts of the sum of weights, of all rounds so far
    float *coordinates; // (atoms, 3, staged frames)
    tmapi_matrix_column *columns;
    void *distances; // (tiles, columns of the round, 128); bricks of drmsd_mma.h for halves
    float *norms;    // (columns of the round / 256, staged frames), for halves
    float *partial;  // (slices of the round, condensed matrix): sums, if there are more slices
    float *rest;     // of the sums in `out`, what floats do not hold; if there are more rounds
    float *out;
} tmapi_matrix;

// The number of the first group of a launch's round.
TMAP_DEVICE tmap_u64 tmapi_matrix_first_group(const tmapi_matrix *m) {
    return m->first * m->plan.slice * (TMAPI_MATRIX_UNIT / TMAPI_MATRIX_GROUP);
}

// A finite number without its sign, or 0.
TMAP_DEVICE float tmapi_matrix_finite(float x) { return fabsf(x) < 1e37f ? fabsf(x) : 0; }

// ---- coordinates --------------------------------------------------------------------------------

#define TMAPI_MATRIX_SPREAD_ATOMS  32u // of a block, by as many frames
#define TMAPI_MATRIX_SPREAD_WARPS  8u
#define TMAPI_MATRIX_SPREAD_FLOATS (3 * TMAPI_MATRIX_SPREAD_ATOMS)

// Writes the coordinates of the atoms that count, those of one atom in all frames side by side, and
// finds the largest one of halves, measured from the frame's first atom, and the largest weight.
// Frames that do not exist have all atoms at 0. Grid: 32 atoms by x, 32 frames by y.
TMAP_DEVICE void tmapi_matrix_spread(const tmapi_matrix *m) {
    __shared__ float staged[32][TMAPI_MATRIX_SPREAD_FLOATS + 1];
    const tmap_u32 atoms = m->plan.atoms, x = threadIdx.x % 32, y = threadIdx.x / 32;
    const tmap_u32 atom = blockIdx.x * TMAPI_MATRIX_SPREAD_ATOMS;
    const tmap_u64 frame = blockIdx.y * 32ull, stride = tmapi_matrix_frames(&m->plan);
    float most = 0;
    for (tmap_u32 r = y; r < 32; r += TMAPI_MATRIX_SPREAD_WARPS)
        for (tmap_u32 c = x; c < TMAPI_MATRIX_SPREAD_FLOATS; c += 32) {
            const tmap_u32 k = atom + c / 3;
            float value = 0;
            if (frame + r < m->plan.frames && k < atoms) {
                const tmap_u32 number = m->which.atoms ? m->which.atoms[k] : k;
                value = m->frames[((frame + r) * m->plan.n + number) * 3 + c % 3];
            }
            staged[r][c] = value;
        }
    __syncthreads();
    for (tmap_u32 c = y; c < TMAPI_MATRIX_SPREAD_FLOATS; c += TMAPI_MATRIX_SPREAD_WARPS) {
        const float value = staged[x][c];
        if (atom + c / 3 >= atoms) break;
        m->coordinates[(atom * 3ull + c) * stride + frame + x] = value;
        if (m->plan.planes && frame + x < m->plan.frames) {
            const tmap_u32 number = m->which.atoms ? m->which.atoms[0] : 0;
            const float *from = m->frames + ((frame + x) * m->plan.n + number) * 3;
            most = fmaxf(most, tmapi_matrix_finite(value - from[c % 3]));
        }
    }
    if (m->plan.planes) {
        for (int step = 16; step; step /= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        // Of numbers that are not negative, bits are in the order of the numbers.
        if (x == 0) atomicMax(m->bounds, __float_as_uint(most));
    }
    if (m->which.weights && frame == 0 && threadIdx.x < TMAPI_MATRIX_SPREAD_ATOMS &&
        atom + threadIdx.x < atoms)
        atomicMax(m->bounds + 1,
                  __float_as_uint(tmapi_matrix_finite(m->which.weights[atom + threadIdx.x])));
}

// Atom k in a frame.
TMAP_DEVICE tmapi_drmsd_xyz tmapi_matrix_atom(const tmapi_matrix *m, tmap_u64 frame, tmap_u32 k) {
    const tmap_u64 stride = tmapi_matrix_frames(&m->plan);
    const float *at = m->coordinates + (k * 3ull * stride + frame);
    const tmapi_drmsd_xyz p = {at[0], at[stride], at[2 * stride]};
    return p;
}

// ---- columns ------------------------------------------------------------------------------------

#define TMAPI_MATRIX_SAMPLE 32u // frames whose median is the centre
#define TMAPI_MATRIX_WARPS  8u  // of a block that makes columns

// A power of two that brings the weights below 1, and columns of halves below 2^15: no distance is
// longer than twice the largest one from an atom.
TMAP_DEVICE float tmapi_matrix_scale(const tmapi_matrix *m) {
    const float weight = m->which.weights ? __uint_as_float(m->bounds[1]) : 1;
    const float length = m->plan.planes ? 3.47f * __uint_as_float(m->bounds[0]) : 0;
    int exponent = 0, more = 0;
    if (weight > 0) frexpf(weight, &exponent);
    if (!m->which.weights) exponent = 0;
    if (length > 0) frexpf(length, &more), more -= 15;
    exponent = -exponent - more;
    return ldexpf(1, exponent < -120 ? -120 : exponent > 120 ? 120 : exponent);
}

// The distance of atoms i and j in a frame, off by two places of a float.
TMAP_DEVICE float tmapi_matrix_distance(const tmapi_matrix *m, tmap_u64 frame, tmap_u32 i,
                                        tmap_u32 j) {
    const tmapi_drmsd_xyz a = tmapi_matrix_atom(m, frame, i), b = tmapi_matrix_atom(m, frame, j);
    const tmapi_drmsd_xyz box = tmapi_drmsd_box(&m->which, frame), over = tmapi_drmsd_over(box);
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    if (m->which.boxes) {
        x = tmapi_drmsd_image(x, box.x, over.x);
        y = tmapi_drmsd_image(y, box.y, over.y);
        z = tmapi_drmsd_image(z, box.z, over.z);
    }
    return tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x)));
}

// The median of the lanes' numbers below 1e18, the greater one of two; 0 if there are none. In all
// lanes. Collective for the warp.
TMAP_DEVICE float tmapi_matrix_median(float x) {
    const tmap_u32 lane = threadIdx.x % 32;
    const int count = __popc(__ballot_sync(0xffffffffu, x < 1e18f));
    int before = 0;
    for (tmap_u32 k = 0; k < 32; ++k) {
        const float other = __shfl_sync(0xffffffffu, x, (int)k);
        before += other < x || (other == x && k < lane);
    }
    const int from = __ffs((int)__ballot_sync(0xffffffffu, before == count / 2)) - 1;
    return count ? __shfl_sync(0xffffffffu, x, from) : 0;
}

// The column of atoms i < j, in all lanes of a warp, which share the frames of the median.
// Distances that are no numbers have no part in it. Collective for the warp.
TMAP_DEVICE tmapi_matrix_column tmapi_matrix_column_of(const tmapi_matrix *m, float scale,
                                                       tmap_u32 i, tmap_u32 j) {
    const tmap_u64 frames = m->plan.frames;
    const tmap_u32 sample = frames < TMAPI_MATRIX_SAMPLE ? (tmap_u32)frames : TMAPI_MATRIX_SAMPLE;
    float mine = 2e18f; // none
    tmapi_matrix_column column = {0, scale};
    if (threadIdx.x % 32 < sample) {
        const float d = tmapi_matrix_distance(m, threadIdx.x % 32 * frames / sample, i, j);
        if (d < 1e18f) mine = d;
    }
    column.centre = tmapi_matrix_median(mine);
    if (m->which.weights)
        column.factor = sqrtf(m->which.weights[i] * scale) * sqrtf(m->which.weights[j] * scale);
    if (m->which.upper != 0) {
        const float d = tmapi_matrix_distance(m, m->reference, i, j);
        if (!(m->which.lower < d && d < m->which.upper)) column.factor = 0;
    }
    return column;
}

// Makes the round's columns, a group a warp, and adds their weights to the block's part. Grid:
// TMAPI_MATRIX_PARTS.
TMAP_DEVICE void tmapi_matrix_make_columns(const tmapi_matrix *m) {
    __shared__ double parts[TMAPI_MATRIX_WARPS];
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, atoms = m->plan.atoms;
    const tmap_u32 step = gridDim.x * TMAPI_MATRIX_WARPS;
    const tmap_u64 first = tmapi_matrix_first_group(m);
    const tmap_u32 groups = m->slices * m->plan.slice * (TMAPI_MATRIX_UNIT / TMAPI_MATRIX_GROUP);
    const float scale = tmapi_matrix_scale(m);
    double sum = 0;
    for (tmap_u32 g = blockIdx.x * TMAPI_MATRIX_WARPS + warp; g < groups; g += step) {
        tmapi_matrix_column mine = {0, 0};
        if (first + g < m->plan.groups) {
            const tmapi_matrix_group group =
                tmapi_matrix_group_at(atoms, tmapi_matrix_place_of(atoms, first + g));
            for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) {
                const tmap_u32 j = s < group.split ? group.j : group.k;
                const tmap_u32 i = group.i + (s < group.split ? s : s - group.split);
                if (j < atoms) {
                    const tmapi_matrix_column column = tmapi_matrix_column_of(m, scale, i, j);
                    if (lane == s) mine = column;
                }
            }
        }
        if (lane < TMAPI_MATRIX_GROUP) m->columns[g * TMAPI_MATRIX_GROUP + lane] = mine;
        sum += (double)mine.factor * mine.factor;
    }
    for (int half = 16; half; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (tmap_u32 w = 1; w < TMAPI_MATRIX_WARPS; ++w) sum += parts[w];
    m->weights[blockIdx.x] = m->first ? m->weights[blockIdx.x] + sum : sum;
}

// 1 / the sum of all weights, or 0 if no pair counts; in all lanes. Collective for the warp.
TMAP_DEVICE float tmapi_matrix_share(const tmapi_matrix *m) {
    double sum = 0;
    for (tmap_u32 k = threadIdx.x % 32; k < TMAPI_MATRIX_PARTS; k += 32) sum += m->weights[k];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum > 0 ? (float)(1 / sum) : 0;
}

// ---- drmsd matrix tile --------------------------------------------------------------------------
//
// The sums of squares of a tile of 128 x 128 pairs of frames, and where they
// go.
//
// It is a product of matrices with (a - b)^2 in the place of a b: a term takes an addition and a
// multiplication with addition, for which 16 numbers in registers are enough for 64 terms. Terms of
// 512 columns are added up one by one, and then added to what was there before: rounding errors of
// a long sum stay those of a short one.
//
// Private to the library.

#define TMAPI_MATRIX_THREADS 256u
#define TMAPI_MATRIX_STEP    16u // columns that are copied at a time
#define TMAPI_MATRIX_STAGES  3u  // steps in shared memory or under way
#define TMAPI_MATRIX_SQUARE  8u // tiles are taken by squares of so many, which share what they read

// ---- copies -------------------------------------------------------------------------------------

// Copies 16 bytes to shared memory, in the background.
TMAP_DEVICE void tmapi_matrix_copy(uint4 *to, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#else
    *to = *from;
#endif
}

// Ends a group of copies.
TMAP_DEVICE void tmapi_matrix_commit(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups but the last one, TMAPI_MATRIX_STAGES being 3.
TMAP_DEVICE void tmapi_matrix_wait(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

// Begins to copy a step of `size` times 16 bytes of both sides of a tile, which are side by side in
// either's memory.
TMAP_DEVICE void tmapi_matrix_step(const uint4 *rows, const uint4 *columns, const tmap_u32 size,
                                   uint4 *to) {
#pragma unroll
    for (tmap_u32 k = 0; k < size; k += TMAPI_MATRIX_THREADS)
        tmapi_matrix_copy(to + k + threadIdx.x, rows + k + threadIdx.x);
#pragma unroll
    for (tmap_u32 k = 0; k < size; k += TMAPI_MATRIX_THREADS)
        tmapi_matrix_copy(to + size + k + threadIdx.x, columns + k + threadIdx.x);
}

// ---- tiles --------------------------------------------------------------------------------------

// The blocks of a slice: whole squares of tiles.
TMAP_FN tmap_u64 tmapi_matrix_blocks(tmap_u32 tiles) {
    const tmap_u64 squares = (tiles + TMAPI_MATRIX_SQUARE - 1) / TMAPI_MATRIX_SQUARE;
    return tmap_triangle_cells(squares) * TMAPI_MATRIX_SQUARE * TMAPI_MATRIX_SQUARE;
}

// The tile of a block; below the diagonal or outside there is none.
TMAP_FN tmap_pair tmapi_matrix_tile_of(tmap_u32 block, tmap_u32 tiles) {
    const tmap_u32 side = TMAPI_MATRIX_SQUARE, cell = block % (side * side);
    tmap_pair t = tmap_upper_map(block / (side * side), (tiles + side - 1) / side);
    t.i = t.i * side + cell / side;
    t.j = t.j * side + cell % side;
    return t;
}

// The columns of a block's slice that there are, whole steps of `step` columns.
TMAP_DEVICE tmap_u32 tmapi_matrix_steps(const tmapi_matrix *m, tmap_u32 step) {
    const tmap_u64 slice = (tmap_u64)m->plan.slice * TMAPI_MATRIX_UNIT;
    const tmap_u64 all = m->plan.groups * TMAPI_MATRIX_GROUP;
    const tmap_u64 first = (m->first + blockIdx.y) * slice;
    const tmap_u64 left = all > first ? all - first : 0;
    return (tmap_u32)(((left < slice ? left : slice) + step - 1) / step);
}

// The root of a sum times share, to half a place; 0 of what rounding has left below 0.
TMAP_DEVICE float tmapi_matrix_root(float sum, float share) {
    const float square = sum < 0 ? 0 : sum * share;
    const float inverse = tmapi_rsqrt(fmaxf(square, 1e-37f)), root = square * inverse;
    return fmaf(fmaf(-root, root, square), 0.5f * inverse, root);
}

// Where a block writes: results, or its slice's parts of their sums.
typedef struct tmapi_matrix_writer {
    float *to;
    tmap_u64 frames;
    float share;
    int whole; // sums are whole
} tmapi_matrix_writer;

// Collective for the warp.
TMAP_DEVICE tmapi_matrix_writer tmapi_matrix_writer_of(const tmapi_matrix *m) {
    tmapi_matrix_writer w = {m->out, m->plan.frames, 0, m->plan.slices == 1};
    if (w.whole)
        w.share = tmapi_matrix_share(m);
    else
        w.to = m->partial + blockIdx.y * tmap_condensed_cells(w.frames);
    return w;
}

// Where frame a's part of the matrix would have column 0: modulo 2^64, for a = 0.
TMAP_DEVICE tmap_u64 tmapi_matrix_row(const tmapi_matrix_writer *w, tmap_u32 a) {
    return a * (2 * w->frames - a - 3) / 2 - 1;
}

// Writes the sum of frames a and b, if the matrix has it. row: of a.
TMAP_DEVICE void tmapi_matrix_put(const tmapi_matrix_writer *w, tmap_u64 row, tmap_u32 a,
                                  tmap_u32 b, float sum) {
    const float value = w->whole ? tmapi_matrix_root(sum, w->share) : sum;
    if (a < b && b < w->frames) w->to[row + b] = value;
}

// ---- sums of squares ----------------------------------------------------------------------------

// The numbers of a column that a thread needs: of rows r, .., r + 3, r + 16, .. and columns c, ..,
// c + 3, c + 32, ... Lanes of a warp that differ in c read banks of their own.
typedef struct tmapi_matrix_numbers {
    float row[8], column[8];
} tmapi_matrix_numbers;

TMAP_DEVICE void tmapi_matrix_load(tmapi_matrix_numbers *x, const float4 *rows,
                                   const float4 *columns) {
#pragma unroll
    for (tmap_u32 h = 0; h < 2; ++h) {
        const float4 r = rows[4 * h], c = columns[8 * h];
        x->row[4 * h] = r.x, x->row[4 * h + 1] = r.y;
        x->row[4 * h + 2] = r.z, x->row[4 * h + 3] = r.w;
        x->column[4 * h] = c.x, x->column[4 * h + 1] = c.y;
        x->column[4 * h + 2] = c.z, x->column[4 * h + 3] = c.w;
    }
}

// A block's tile: 8 warps of 32 x 64 pairs, 4 x 8 threads of 8 x 8. staged: room for
// TMAPI_MATRIX_STAGES steps of both sides.
TMAP_DEVICE void tmapi_matrix_sums(const tmapi_matrix *m, float4 *staged) {
    const tmap_u32 wide = TMAPI_MATRIX_SIDE / 4, size = TMAPI_MATRIX_STEP * wide; // 16 bytes
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const tmap_u32 row = warp / 2 * 32 + lane / 8 * 4, column = warp % 2 * 64 + lane % 8 * 4;
    const tmap_u32 steps = tmapi_matrix_steps(m, TMAPI_MATRIX_STEP);
    const tmap_pair tile = tmapi_matrix_tile_of(blockIdx.x, m->plan.tiles);
    const tmap_u64 columns = tmapi_matrix_columns(&m->plan);
    const tmap_u64 slice = blockIdx.y * (tmap_u64)m->plan.slice * TMAPI_MATRIX_UNIT;
    const uint4 *rows_at = (const uint4 *)m->distances + (tile.i * columns + slice) * wide;
    const uint4 *columns_at = (const uint4 *)m->distances + (tile.j * columns + slice) * wide;
    float sums[8][8] = {{0}}, terms[8][8] = {{0}};
    tmapi_matrix_numbers x[2];
    tmap_u32 turn = 0, ahead = TMAPI_MATRIX_STAGES - 1;
    if (tile.i > tile.j || tile.j >= m->plan.tiles) return;
#pragma unroll
    for (tmap_u32 s = 0; s + 1 < TMAPI_MATRIX_STAGES; ++s) {
        if (s < steps) tmapi_matrix_step(rows_at, columns_at, size, (uint4 *)staged + 2 * s * size);
        tmapi_matrix_commit();
        rows_at += size, columns_at += size;
    }
#pragma unroll 1
    for (tmap_u32 s = 0; s < steps; ++s) {
        const float4 *from = staged + 2 * turn * size + row / 4;
        const float4 *other = staged + (2 * turn + 1) * size + column / 4;
        tmapi_matrix_wait();
        __syncthreads(); // this step is there, and all are through with the one before
        if (s + TMAPI_MATRIX_STAGES - 1 < steps)
            tmapi_matrix_step(rows_at, columns_at, size, (uint4 *)staged + 2 * ahead * size);
        tmapi_matrix_commit();
        rows_at += size, columns_at += size;
        turn = turn + 1 == TMAPI_MATRIX_STAGES ? 0 : turn + 1;
        ahead = ahead + 1 == TMAPI_MATRIX_STAGES ? 0 : ahead + 1;
        tmapi_matrix_load(&x[0], from, other);
#pragma unroll 1
        for (tmap_u32 k = 0; k < TMAPI_MATRIX_STEP; k += 4) {
#pragma unroll
            for (tmap_u32 u = 0; u < 4; ++u) { // the next column is read before this one is used
                const tmap_u32 next = (k + u + 1) % TMAPI_MATRIX_STEP * wide;
                tmapi_matrix_load(&x[(u + 1) % 2], from + next, other + next);
#pragma unroll
                for (tmap_u32 i = 0; i < 8; ++i)
#pragma unroll
                    for (tmap_u32 j = 0; j < 8; ++j) {
                        const float d = x[u % 2].row[i] - x[u % 2].column[j];
                        terms[i][j] = fmaf(d, d, terms[i][j]);
                    }
            }
        }
        if ((s + 1) % (TMAPI_MATRIX_UNIT / TMAPI_MATRIX_STEP) != 0 && s + 1 != steps) continue;
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i)
#pragma unroll
            for (tmap_u32 j = 0; j < 8; ++j) sums[i][j] += terms[i][j], terms[i][j] = 0;
    }
    const tmapi_matrix_writer w = tmapi_matrix_writer_of(m);
#pragma unroll
    for (tmap_u32 i = 0; i < 8; ++i) {
        const tmap_u32 frame = tile.i * TMAPI_MATRIX_SIDE + row + i / 4 * 16 + i % 4;
        const tmap_u64 at = tmapi_matrix_row(&w, frame);
#pragma unroll
        for (tmap_u32 j = 0; j < 8; ++j)
            tmapi_matrix_put(&w, at, frame,
                             tile.j * TMAPI_MATRIX_SIDE + column + j / 4 * 32 + j % 4, sums[i][j]);
    }
}

// ---- several slices -----------------------------------------------------------------------------

// Adds the sums of the round's slices to those of the rounds before, in double precision; after the
// last round writes the results.
TMAP_DEVICE void tmapi_matrix_gather(const tmapi_matrix *m) {
    const tmap_u64 cells = tmap_condensed_cells(m->plan.frames);
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    const int last = m->first + m->slices == m->plan.slices;
    const float share = last ? tmapi_matrix_share(m) : 0;
    for (tmap_u64 k = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; k < cells; k += stride) {
        double sum = m->first ? (double)m->out[k] + (double)m->rest[k] : 0;
        for (tmap_u32 s = 0; s < m->slices; ++s) sum += (double)m->partial[s * cells + k];
        const float high = (float)sum;
        m->out[k] = last ? tmapi_matrix_root(high, share) : high;
        if (!last) m->rest[k] = (float)(sum - (double)high);
    }
}

// ---- drmsd matrix values ------------------------------------------------------------------------
//
// The distances of a frame, column by column: (d - centre) * factor.
//
// The difference of two frames is as exact as their distances are. A distance that is rounded to a
// float is off by 2^-25 of it, which is too much where frames are near each other: 20 Angstrom are
// off by 10^-6, of a difference of 10^-2. So the distance is computed to about 2^-44, what rounding
// loses being kept beside each number, and only its difference from the centre is rounded.
// Source: the sums and differences of Knuth, TAOCP 2, section 4.2.2, theorem B.
//
// Private to the library.

// A number that is the sum of both.
typedef struct tmapi_matrix_two {
    float high, low;
} tmapi_matrix_two;

TMAP_DEVICE tmapi_matrix_two tmapi_matrix_minus(float a, float b) {
    tmapi_matrix_two r;
    r.high = a - b;
    const float t = r.high - a;
    r.low = (a - (r.high - t)) - (b + t);
    return r;
}
TMAP_DEVICE tmapi_matrix_two tmapi_matrix_plus(float a, float b) {
    return tmapi_matrix_minus(a, -b);
}

// The same of a difference along an axis, to the nearest image, as of tmapi_drmsd_image.
TMAP_DEVICE void tmapi_matrix_image(tmapi_matrix_two *d, float length, float over) {
    const float large = 12582912.0f, images = fmaf(d->high, over, large) - large;
    const float shift = length * images;
    const tmapi_matrix_two r = tmapi_matrix_minus(d->high, shift);
    d->low += r.low - fmaf(length, images, -shift);
    d->high = r.high;
}

// sqrt(x^2 + y^2 + z^2) - centre, rounded once. Squares from 1e-37 to 1e37; 0 of coincident atoms.
TMAP_DEVICE float tmapi_matrix_root_less(tmapi_matrix_two x, tmapi_matrix_two y, tmapi_matrix_two z,
                                         float centre) {
    const float xx = x.high * x.high, yy = y.high * y.high, zz = z.high * z.high;
    const tmapi_matrix_two two = tmapi_matrix_plus(xx, yy), all = tmapi_matrix_plus(two.high, zz);
    const float cross = fmaf(z.high, z.low, fmaf(y.high, y.low, x.high * x.low));
    const float lost = fmaf(x.high, x.high, -xx) + fmaf(y.high, y.high, -yy) +
                       fmaf(z.high, z.high, -zz) + (two.low + all.low);
    const float inverse = tmapi_rsqrt(fmaxf(all.high, 1e-37f)), root = all.high * inverse;
    const float rest = fmaf(-root, root, all.high) + fmaf(2, cross, lost);
    return fmaf(rest, 0.5f * inverse, root - centre);
}

// ---- a frame, group by group --------------------------------------------------------------------

// What the thread of a frame reads.
typedef struct tmapi_matrix_reader {
    tmap_u64 frame;
    tmapi_matrix_place place;  // of the next group
    tmap_u32 block;            // whose atoms are there
    tmapi_drmsd_xyz atoms[8];  // of that block
    tmapi_drmsd_xyz box, over; // and 1 / box
    const float4 *columns;     // of the next group
    tmap_u64 left;             // groups that there are
} tmapi_matrix_reader;

// Begins at a group of the round.
TMAP_DEVICE tmapi_matrix_reader tmapi_matrix_begin(const tmapi_matrix *m, tmap_u64 frame,
                                                   tmap_u64 group) {
    const tmap_u64 first = tmapi_matrix_first_group(m) + group;
    tmapi_matrix_reader r;
    r.frame = frame, r.block = ~0u;
    r.left = first < m->plan.groups ? m->plan.groups - first : 0;
    r.place = tmapi_matrix_place_of(m->plan.atoms, r.left ? first : 0);
    r.columns = (const float4 *)(m->columns + group * TMAPI_MATRIX_GROUP);
    r.box.x = r.box.y = r.box.z = 0;
    if (frame < m->plan.frames) r.box = tmapi_drmsd_box(&m->which, frame);
    r.over = tmapi_drmsd_over(r.box);
    return r;
}

// (d - centre) * factor of atoms at a and b. Constants: exact: 0: the distance is rounded first;
// boxed: 0: there are no boxes.
TMAP_DEVICE float tmapi_matrix_value(const tmapi_matrix_reader *r, const int exact, const int boxed,
                                     tmapi_drmsd_xyz a, tmapi_drmsd_xyz b, float centre,
                                     float factor) {
    float d;
    if (exact) {
        tmapi_matrix_two x = tmapi_matrix_minus(a.x, b.x), y = tmapi_matrix_minus(a.y, b.y),
                         z = tmapi_matrix_minus(a.z, b.z);
        if (boxed) {
            tmapi_matrix_image(&x, r->box.x, r->over.x);
            tmapi_matrix_image(&y, r->box.y, r->over.y);
            tmapi_matrix_image(&z, r->box.z, r->over.z);
        }
        d = tmapi_matrix_root_less(x, y, z, centre);
    } else {
        float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
        if (boxed) {
            x = tmapi_drmsd_image(x, r->box.x, r->over.x);
            y = tmapi_drmsd_image(y, r->box.y, r->over.y);
            z = tmapi_drmsd_image(z, r->box.z, r->over.z);
        }
        d = tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x))) - centre;
    }
    return factor > 0 ? d * factor : 0; // not 0 * NaN
}

// The 8 pairs of a group. folded: a constant, 0 where all are with atom j.
TMAP_DEVICE void tmapi_matrix_values(const tmapi_matrix *m, const tmapi_matrix_reader *r,
                                     tmapi_matrix_group group, const int exact, const int boxed,
                                     const int folded, float *values) {
    const tmap_u32 last = m->plan.atoms - 1; // stands for atoms that do not exist
    const tmapi_drmsd_xyz j = tmapi_matrix_atom(m, r->frame, group.j < last ? group.j : last);
    tmapi_drmsd_xyz k = j;
    if (folded) k = tmapi_matrix_atom(m, r->frame, group.k < last ? group.k : last);
#pragma unroll
    for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) {
        const float4 both = r->columns[s / 2];
        tmapi_drmsd_xyz a = r->atoms[s], b = j;
        if (folded && s >= group.split) {
            const tmap_u32 i = group.i + s - group.split;
            a = tmapi_matrix_atom(m, r->frame, i < last ? i : last), b = k;
        }
        values[s] = tmapi_matrix_value(r, exact, boxed, a, b, s % 2 ? both.z : both.x,
                                       s % 2 ? both.w : both.y);
    }
}

// The values of the next group; 0 where there is none. exact: a constant.
TMAP_DEVICE void tmapi_matrix_read(const tmapi_matrix *m, tmapi_matrix_reader *r, const int exact,
                                   float *values) {
    const tmap_u32 last = m->plan.atoms - 1;
    if (!r->left) {
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) values[s] = 0;
        return;
    }
    const tmapi_matrix_group group = tmapi_matrix_group_at(m->plan.atoms, r->place);
    if (r->block != r->place.block) {
        r->block = r->place.block;
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s)
            r->atoms[s] = tmapi_matrix_atom(m, r->frame, group.i + s < last ? group.i + s : last);
    }
    if (group.split < 8) // one group in many
        tmapi_matrix_values(m, r, group, exact, 1, 1, values);
    else if (m->which.boxes)
        tmapi_matrix_values(m, r, group, exact, 1, 0, values);
    else
        tmapi_matrix_values(m, r, group, exact, 0, 0, values);
    r->place = tmapi_matrix_place_next(m->plan.atoms, r->place);
    r->columns += TMAPI_MATRIX_GROUP / 2;
    --r->left;
}

// ---- floats -------------------------------------------------------------------------------------

#define TMAPI_MATRIX_RUN 128u // columns of a block

// Writes columns of a tile's frames. Grid: TMAPI_MATRIX_RUN columns of the round by x, tiles by y.
TMAP_DEVICE void tmapi_matrix_write(const tmapi_matrix *m) {
    const tmap_u64 columns = tmapi_matrix_columns(&m->plan);
    const tmap_u64 column = blockIdx.x * (tmap_u64)TMAPI_MATRIX_RUN;
    const tmap_u64 tile = blockIdx.y;
    float *to =
        (float *)m->distances + ((tile * columns + column) * TMAPI_MATRIX_SIDE + threadIdx.x);
    tmapi_matrix_reader r =
        tmapi_matrix_begin(m, tile * TMAPI_MATRIX_SIDE + threadIdx.x, column / TMAPI_MATRIX_GROUP);
#pragma unroll 1
    for (tmap_u32 g = 0; g < TMAPI_MATRIX_RUN / TMAPI_MATRIX_GROUP; ++g) {
        float values[TMAPI_MATRIX_GROUP];
        tmapi_matrix_read(m, &r, 1, values);
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) to[s * TMAPI_MATRIX_SIDE] = values[s];
        to += TMAPI_MATRIX_GROUP * TMAPI_MATRIX_SIDE;
    }
}

#endif // TMAP_CUDA

// ---- drmsd matrix -------------------------------------------------------------------------------

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- kernels ------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(32 * TMAPI_MATRIX_SPREAD_WARPS)
    tmapi_matrix_spread_kernel(tmapi_matrix m) {
    tmapi_matrix_spread(&m);
}
static __global__ void __launch_bounds__(32 * TMAPI_MATRIX_WARPS)
    tmapi_matrix_columns_kernel(tmapi_matrix m) {
    tmapi_matrix_make_columns(&m);
}
static __global__ void __launch_bounds__(TMAPI_MATRIX_SIDE)
    tmapi_matrix_write_kernel(tmapi_matrix m) {
    tmapi_matrix_write(&m);
}
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS)
    tmapi_matrix_sums_kernel(tmapi_matrix m) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    tmapi_matrix_sums(&m, (float4 *)tmapi_pairs_shared);
}
static __global__ void tmapi_matrix_gather_kernel(tmapi_matrix m) { tmapi_matrix_gather(&m); }

// ---- launches -----------------------------------------------------------------------------------

static inline cudaError_t tmapi_matrix_launch(const void *kernel, dim3 grid, tmap_u32 block,
                                              size_t shared, const tmapi_matrix *m,
                                              cudaStream_t stream) {
    void *arguments[1] = {(void *)m};
    return cudaLaunchKernel(kernel, grid, dim3(block), arguments, shared, stream);
}

// Bytes that the exact form stages: 48 KB, which a launch has without asking.
#define TMAPI_MATRIX_STAGED \
    (2 * TMAPI_MATRIX_STAGES * TMAPI_MATRIX_STEP * (TMAPI_MATRIX_SIDE / 4) * sizeof(float4))

// The kernels in which the forms differ. run: columns of a block that writes.
typedef struct tmapi_matrix_form {
    const void *write, *sums;
    tmap_u32 run;
    size_t shared; // of sums, in bytes
} tmapi_matrix_form;

// The launches of a round.
static inline cudaError_t tmapi_matrix_round(const tmapi_matrix *m, const tmapi_matrix_form *form,
                                             cudaStream_t stream) {
    const tmap_u64 columns = (tmap_u64)m->slices * m->plan.slice * TMAPI_MATRIX_UNIT;
    const tmap_u64 cells = tmap_condensed_cells(m->plan.frames);
    const tmap_u64 gather = (cells + 255) / 256;
    cudaError_t error =
        tmapi_matrix_launch((const void *)tmapi_matrix_columns_kernel, dim3(TMAPI_MATRIX_PARTS),
                            32 * TMAPI_MATRIX_WARPS, 0, m, stream);
    if (error) return error;
    error = tmapi_matrix_launch(form->write, dim3((unsigned)(columns / form->run), m->plan.tiles),
                                TMAPI_MATRIX_SIDE, 0, m, stream);
    if (error) return error;
    error = tmapi_matrix_launch(form->sums,
                                dim3((unsigned)tmapi_matrix_blocks(m->plan.tiles), m->slices),
                                TMAPI_MATRIX_THREADS, form->shared, m, stream);
    if (error || m->plan.slices == 1) return error;
    return tmapi_matrix_launch((const void *)tmapi_matrix_gather_kernel,
                               dim3((unsigned)(gather < 65536 ? gather : 65536)), 256, 0, m,
                               stream);
}

// All launches of either form.
static inline cudaError_t tmapi_matrix_run(const tmap_drmsd_matrix_plan *plan,
                                           const tmapi_matrix_form *form, const float *frames,
                                           const tmap_drmsd_atoms *which, tmap_u64 reference,
                                           void *workspace, float *out, cudaStream_t stream) {
    const tmap_drmsd_atoms all = {0, 0, 0, 0, 0, 0};
    const tmap_u64 cells = plan ? tmap_condensed_cells(plan->frames) : 0;
    unsigned char *at = (unsigned char *)workspace;
    cudaError_t error;
    tmapi_matrix m;
    if (!plan || tmap_drmsd_atoms_count(which, plan->n) != plan->atoms)
        return cudaErrorInvalidValue;
    if (!cells) return cudaSuccess;
    if (!out || (tmap_u64)out % 4 || reference >= plan->frames) return cudaErrorInvalidValue;
    if (!plan->slices) return cudaMemsetAsync(out, 0, 4 * cells, stream); // no pair of atoms
    if (!frames || (tmap_u64)frames % 4 || !workspace || (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    m.plan = *plan, m.which = which ? *which : all, m.frames = frames, m.reference = reference;
    m.bounds = (tmap_u32 *)at, m.weights = (double *)(at + 256), m.out = out;
    m.columns = (tmapi_matrix_column *)(at + plan->at_columns);
    m.coordinates = (float *)(at + plan->at_coordinates);
    m.distances = at + plan->at_distances, m.norms = (float *)(at + plan->at_norms);
    m.partial = (float *)(at + plan->at_partial), m.rest = (float *)(at + plan->at_rest);
    m.first = 0, m.slices = plan->round;
    error = cudaMemsetAsync(m.bounds, 0, 2 * sizeof *m.bounds, stream);
    if (error) return error;
    error = tmapi_matrix_launch(
        (const void *)tmapi_matrix_spread_kernel,
        dim3((plan->atoms + TMAPI_MATRIX_SPREAD_ATOMS - 1) / TMAPI_MATRIX_SPREAD_ATOMS,
             plan->tiles * (TMAPI_MATRIX_SIDE / 32)),
        32 * TMAPI_MATRIX_SPREAD_WARPS, 0, &m, stream);
    for (; !error && m.first < plan->slices; m.first += m.slices) {
        if (m.slices > plan->slices - m.first) m.slices = (tmap_u32)(plan->slices - m.first);
        error = tmapi_matrix_round(&m, form, stream);
    }
    return error;
}

// Makes a plan of the dRMSD of all frames.
// frames: up to 2097024. n: atoms of a frame. which: as it will be launched with, or null: all
// atoms and pairs; of it only the number of atoms that count is looked at, which is up to 92681.
// most: bytes that the workspace may have, or 0: as many as are of use, about 2 n (n + 5) a frame,
// but no more than 2^18 and 12 n, or a gigabyte for few frames, and what sums take.
// Where not all distances fit at a time, they are computed in rounds of some pairs of atoms, and
// sums of these take 4 or 8 bytes for each pair of frames.
// *plan: written on success; plan->workspace: the bytes that the launch needs.
// Returns cudaErrorInvalidValue without a plan to write; cudaErrorInvalidConfiguration beyond the
// ranges; cudaErrorMemoryAllocation if the smallest round does not fit.
// Example: 4096 frames of 200 atoms: 346 MB and one round; of at most 100 MB: 94 MB, 20 rounds.
static inline cudaError_t tmap_drmsd_matrix_plan_make(tmap_u64 frames, tmap_u32 n,
                                                      const tmap_drmsd_atoms *which, tmap_u64 most,
                                                      tmap_drmsd_matrix_plan *plan) {
    return tmapi_matrix_plan_make(frames, n, which, 0, most, plan);
}

// Writes the dRMSD of all pairs of frames.
// frames: floats of shape (plan->frames, n, 3). which: which atoms and pairs count and for how
// much, or null: all, equally. Bounds are for distances in frame `reference`, below plan->frames.
// out: frames (frames - 1) / 2 floats in scipy's condensed order: that of frames a < b is at
// tmap_condensed_index(a, b, frames). workspace: plan->workspace bytes at a multiple of 16, which
// need not be set to anything and are free again after the launch. All are in device memory and do
// not overlap. Calls that run at the same time need workspaces of their own.
// With fewer than two frames nothing is written; with fewer than two atoms, or where no pair of
// atoms counts, all results are 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer that is needed, a reference that
// is no frame, or another number of atoms than that of the plan; else the launches' own error.
// Exactness: a relative error below 1e-6 for frames that differ by a hundredth of an Angstrom or
// more; 0 for frames that are equal in every bit. The order of sums depends on the plan alone:
// results are the same in every run and whatever the GPU's number of multiprocessors.
// Range: distances from 1e-18 to 1e18, shorter ones being some number below 1e-18, if the squares
// of all differences of two frames add up to less than 1e38. A coordinate that is not a number or
// infinite makes all results of its frame NaN, if a pair of its atom counts.
// Cost: 2.1 instructions for each pair of atoms and pair of frames, 70 for each distance; frames
// are taken by 128. The call allocates nothing, does not wait, and can be captured.
// Example: frames of two atoms at distances 1, 3, 6 -> 2, 5, 3.
static inline cudaError_t tmap_drmsd_matrix(const tmap_drmsd_matrix_plan *plan, const float *frames,
                                            const tmap_drmsd_atoms *which, tmap_u64 reference,
                                            void *workspace, float *out, cudaStream_t stream) {
    const tmapi_matrix_form form = {(const void *)tmapi_matrix_write_kernel,
                                    (const void *)tmapi_matrix_sums_kernel, TMAPI_MATRIX_RUN,
                                    TMAPI_MATRIX_STAGED};
    if (plan && plan->planes) return cudaErrorInvalidValue;
    return tmapi_matrix_run(plan, &form, frames, which, reference, workspace, out, stream);
}

#endif

#endif
