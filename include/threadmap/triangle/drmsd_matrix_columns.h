// SPDX-License-Identifier: MIT
// drmsd_matrix_columns.h: what the dRMSD of all frames prepares once: coordinates in the order in
// which they are read, and for each pair of atoms where its distances are measured from, and what
// they are multiplied by.
//
// A column is (d - centre) * factor. The centre is the median distance of some frames: what is left
// is small, whatever happens in a few frames, and keeps digits that a distance rounded to a float
// has lost. The factor is sqrt(w_ij), so that sums of squares are those of dRMSD, or 0 for pairs
// that do not count.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_DRMSD_MATRIX_COLUMNS_H
#define TMAP_TRIANGLE_DRMSD_MATRIX_COLUMNS_H

#include "drmsd_matrix_plan.h"

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
    void *distances; // (tiles, columns of the round, 128); bricks of drmsd_mma_tile.h for halves
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

#endif // TMAP_CUDA
#endif
