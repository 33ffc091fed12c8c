// SPDX-License-Identifier: MIT
// drmsd_matrix.h: the dRMSD of all pairs of frames of a trajectory.
//
// A dRMSD (drmsd.h) is the distance of two vectors of distances, which are computed once.
// Then a triangle of tiles of 128 x 128 pairs of frames sums squared differences the way a matrix
// product sums products, in single precision. drmsd_mma.h does the same on tensor cores, faster and
// less exactly.
//
//     const tmap_drmsd_shape shape = {n, frames, TMAP_DRMSD_EXACT, 0, 0};
//     const tmap_drmsd_in in = {xyz, 0, 0}; // tmap_drmsd_matrix_plan_make, tmap_drmsd_matrix
#ifndef TMAP_MOLECULES_DRMSD_MATRIX_H
#define TMAP_MOLECULES_DRMSD_MATRIX_H

#include "../reduce.h"
#include "../share.h"
#include "../value.h"
#include "drmsd.h"

// ---- columns ------------------------------------------------------------------------------------
//
// A column is a pair of atoms. Columns come in groups of 8 pairs: a block of 8 atoms i, .., i + 7
// with an atom j after it; the 28 pairs within a block are folded into 4 groups.
//
//     atoms    0 1 2 3 4 5 6 7 | 8 9 ..        n = 10:
//     group 0: (0,1) (0,7) (1,7) .. (6,7)      1 pair with atom 1 and 7 with atom 7
//     group 3: (0,4) (1,4) (2,4) (3,4)         4 pairs, and 4 empty columns
//     group 4: (0,8) (1,8) .. (7,8)            group 5: (0,9) .. (7,9)
//     group 6: (8,9)                           group 7 .. 9: empty

// Pairs (i + s, j) for s < split, and (i + s - split, k) for the other s below 8. A pair with an
// atom that does not exist is an empty column.
typedef struct tmapi_matrix_group {
    tmap_u32 i, j, k, split;
} tmapi_matrix_group;

// A block of 8 atoms and one of its groups.
typedef struct tmapi_matrix_place {
    tmap_u32 block, group;
} tmapi_matrix_place;

// Number of groups of all pairs of `atoms` atoms; the blocks before number b have b (atoms - 4 b).
// Example: 200 -> 2500, which is 20000 columns for 19900 pairs.
TMAP_FN tmap_u64 tmapi_matrix_groups(tmap_u32 atoms) {
    const tmap_u64 blocks = atoms / 8;
    return blocks * (atoms - 4 * blocks) + (atoms % 8 > 1 ? 4 : 0);
}

// Block and group of group number g. The root of a float is off by less than a block.
TMAP_FN tmapi_matrix_place tmapi_matrix_place_of(tmap_u32 atoms, tmap_u64 g) {
    const tmap_u64 all = (tmap_u64)atoms * atoms, last = atoms / 8;
    const float left = all > 16 * g ? (float)(all - 16 * g) : 0;
    const float blocks = ((float)atoms - tmapi_sqrt(left)) * 0.125f;
    tmap_u64 block = blocks > 0 ? (tmap_u64)blocks : 0;
    if (block > last) block = last;
    while (block > 0 && block * (atoms - 4 * block) > g) --block;
    while (block < last && (block + 1) * (atoms - 4 * (block + 1)) <= g) ++block;
    const tmapi_matrix_place place = {(tmap_u32)block, (tmap_u32)(g - block * (atoms - 4 * block))};
    return place;
}

// The next group. A block has 4, and one for each atom after it.
TMAP_FN tmapi_matrix_place tmapi_matrix_place_next(tmap_u32 atoms, tmapi_matrix_place place) {
    const tmap_u32 first = 8 * place.block;
    if (++place.group == (atoms > first + 8 ? atoms - first - 4 : 4))
        ++place.block, place.group = 0;
    return place;
}

// The pairs of a group. An atom that does not exist has a number of `atoms` or more.
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

// ---- the plan -----------------------------------------------------------------------------------
//
// The plan divides columns into groups, units and slices, and frames into tiles. It does not depend
// on the GPU, so neither does the order of sums.

#define TMAPI_MATRIX_SIDE   128u // frames of a tile
#define TMAPI_MATRIX_GROUP  8u   // columns of a group
#define TMAPI_MATRIX_UNIT   512u // columns whose terms are summed before they join others
#define TMAPI_MATRIX_UNITS  128u // the most of a slice, so that floats can sum them
#define TMAPI_MATRIX_BUSY   528u // blocks that fill a GPU; fewer tiles are cut into more slices
#define TMAPI_MATRIX_PARTS  256u // sums of weights
#define TMAPI_MATRIX_SQUARE 8u   // tiles are taken in squares of 8 x 8, which share input
#define TMAPI_MATRIX_SAMPLE 32u  // frames of the median
#define TMAPI_MATRIX_RUN    128u // columns of a block that writes floats

// 16383 tiles: a grid axis has four blocks for each. No device can hold the results of that many.
#define TMAPI_MATRIX_FRAMES_MAX 2097024u

// Number of staged frames (full tiles), and of columns in the workspace at a time.
TMAP_FN tmap_u64 tmapi_matrix_frames(const tmapi_matrix_plan *p) {
    return (tmap_u64)p->tiles * TMAPI_MATRIX_SIDE;
}
TMAP_FN tmap_u64 tmapi_matrix_columns(const tmapi_matrix_plan *p) {
    return (tmap_u64)p->round * p->slice * TMAPI_MATRIX_UNIT;
}

// Sets the offsets and the bytes of the workspace from the plan's slices and round.
TMAP_FN void tmapi_matrix_arrange(tmapi_matrix_plan *p) {
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

// Squares of 8 x 8 tiles in the triangle.
TMAP_FN tmap_u32 tmapi_matrix_squares(tmap_u32 tiles) {
    return (tmap_u32)tmap_triangle_cells((tiles + TMAPI_MATRIX_SQUARE - 1) / TMAPI_MATRIX_SQUARE);
}

// 1 if a device runs a form. facts: the device's, with those of any kernel of the program.
TMAP_FN int tmap_drmsd_matrix_runs(int form, const tmap_facts *facts) {
    return form == TMAP_DRMSD_EXACT || (facts->device.capability >= 80 && facts->kernel.ptx >= 80);
}

// Makes the plan of tmap_drmsd_matrix_plan_make without a CUDA call, for a device that runs the
// form. Returns TMAP_EINVAL for a null pointer, another form, and a bound that is negative or NaN;
// TMAP_ERANGE for a number above its range, and if the smallest round does not fit shape.most.
TMAP_FN int tmap_drmsd_matrix_plan_of(tmap_drmsd_shape shape, tmap_drmsd_plan *out) {
    const tmap_u64 frames = shape.frames, most = shape.most;
    tmap_drmsd_plan plan;
    tmapi_matrix_plan p;
    tmap_u64 units, wanted, tiles, slices, longest;
    if (!out || tmapi_drmsd_plan_begin(shape, TMAP_DRMSD_EXACT, TMAP_DRMSD_MMA_SPLIT, &plan))
        return TMAP_EINVAL;
    p.atoms = tmap_drmsd_atoms_count(&plan.which, shape.n);
    if (frames > TMAPI_MATRIX_FRAMES_MAX || p.atoms > TMAP_TRIANGLE_ROWS_MAX32) return TMAP_ERANGE;
    p.frames = frames, p.n = shape.n, p.planes = (tmap_u32)(shape.form - TMAP_DRMSD_EXACT);
    p.tiles = (tmap_u32)((frames + TMAPI_MATRIX_SIDE - 1) / TMAPI_MATRIX_SIDE);
    p.first = 0, p.squares = tmapi_matrix_squares(p.tiles);
    p.groups = tmapi_matrix_groups(p.atoms);
    units = (p.groups * TMAPI_MATRIX_GROUP + TMAPI_MATRIX_UNIT - 1) / TMAPI_MATRIX_UNIT;
    p.slice = p.slices = p.round = 0;
    if (units && frames > 1) {
        // A round has enough slices to fill any GPU. They are as long as float sums allow; with few
        // frames, long enough that distances take a gigabyte.
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
    for (tmapi_matrix_arrange(&p); most && p.workspace > most; tmapi_matrix_arrange(&p)) {
        if (p.round > 1)
            --p.round;
        else if (p.slice > 1)
            --p.slice, p.slices = (tmap_u32)((units + p.slice - 1) / p.slice);
        else
            return TMAP_ERANGE;
    }
    plan.matrix = p, plan.workspace = p.workspace;
    *out = plan;
    return TMAP_OK;
}

// ---- tiles --------------------------------------------------------------------------------------

// Number of blocks of a slice: full squares of tiles.
TMAP_FN tmap_u64 tmapi_matrix_blocks(const tmapi_matrix_plan *p) {
    return (tmap_u64)p->squares * TMAPI_MATRIX_SQUARE * TMAPI_MATRIX_SQUARE;
}

// The tile of a block of the plan's share; below the diagonal or outside it does not exist.
TMAP_FN tmap_pair tmapi_matrix_tile_of(tmap_u32 block, const tmapi_matrix_plan *p) {
    const tmap_u32 side = TMAPI_MATRIX_SQUARE, cell = block % (side * side);
    tmap_pair t = tmap_upper_map(p->first + block / (side * side), (p->tiles + side - 1) / side);
    t.i = t.i * side + cell / side;
    t.j = t.j * side + cell % side;
    return t;
}

// Position in the output of the pairs with frame a.
TMAP_FN tmap_u64 tmapi_matrix_row(const tmapi_matrix_plan *p, tmap_u64 a) {
    return tmap_condensed_cells(p->frames) -
           tmap_condensed_cells(a < p->frames ? p->frames - a : 0);
}

// Restricts a plan to part number `part` of `parts`, for several GPUs: a run of squares of 1024 x
// 1024 pairs of frames, row by row. *bytes: where in the output their rows of frames are, in bytes;
// a part writes only to its squares of them. A GPU that keeps them alone allocates them by
// share_memory.h, and passes the address of the complete output. Each part needs all frames.
// Returns TMAP_EINVAL for a null pointer, a plan of another form, part >= parts, and a plan that
// sums in several slices, as it does for more than 360 atoms or fewer than about 3000 frames; then
// nothing changes.
TMAP_FN int tmap_drmsd_matrix_plan_part(tmap_drmsd_plan *plan, tmap_u64 part, tmap_u64 parts,
                                        tmap_share *bytes) {
    const tmap_u32 side = TMAPI_MATRIX_SIDE * TMAPI_MATRIX_SQUARE;
    tmap_u32 across;
    tmap_share share, rows = {0, 0};
    tmapi_matrix_plan *p;
    if (!plan || !bytes || part >= parts || plan->form < TMAP_DRMSD_EXACT ||
        plan->matrix.slices > 1)
        return TMAP_EINVAL;
    p = &plan->matrix, across = (p->tiles + TMAPI_MATRIX_SQUARE - 1) / TMAPI_MATRIX_SQUARE;
    share = tmap_share_of(tmapi_matrix_squares(p->tiles), part, parts);
    p->first = (tmap_u32)share.first, p->squares = (tmap_u32)share.count;
    if (share.count) {
        const tmap_u64 last = tmap_upper_map(p->first + p->squares - 1, across).i + 1ull;
        rows.first = tmapi_matrix_row(p, (tmap_u64)tmap_upper_map(p->first, across).i * side);
        rows.count = tmapi_matrix_row(p, last * side) - rows.first;
    }
    bytes->first = rows.first * sizeof(float), bytes->count = rows.count * sizeof(float);
    return TMAP_OK;
}

// The part of `parts` that has the pair of frames a < b.
TMAP_FN tmap_u64 tmap_drmsd_matrix_part_of(const tmap_drmsd_plan *plan, tmap_u64 a, tmap_u64 b,
                                           tmap_u64 parts) {
    const tmap_u32 side = TMAPI_MATRIX_SIDE * TMAPI_MATRIX_SQUARE;
    const tmap_u32 across = (plan->matrix.tiles + TMAPI_MATRIX_SQUARE - 1) / TMAPI_MATRIX_SQUARE;
    const tmap_u64 row = a / side, square = tmap_triangle_cells(across) -
                                            tmap_triangle_cells(across - row) + b / side - row;
    return tmap_share_part(tmap_triangle_cells(across), square, parts);
}

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_matrix_column {
    alignas(8) float centre;
    float factor;
} tmapi_matrix_column;

// The plan, and the pointers of one round of slices.
typedef struct tmapi_matrix {
    tmapi_matrix_plan plan;
    tmap_drmsd_atoms which;
    const float *frames;
    tmap_u64 reference;
    tmap_u64 first;     // first slice of the round, counted from the first of all
    tmap_u32 slices;    // of this round
    tmap_u32 *bounds;   // bits of floats: the largest coordinate and the largest weight
    double *weights;    // parts of the sum of weights of all rounds so far
    float *coordinates; // (atoms, 3, staged frames)
    tmapi_matrix_column *columns;
    void *distances; // (tiles, columns of the round, 128); for halves bricks of drmsd_mma.h
    float *norms;    // (columns of the round / 256, staged frames), for halves
    float *partial;  // (slices of the round, condensed matrix): sums, if there are several slices
    float *rest;     // rounding errors of the sums in `out`, if there are several rounds
    float *out;
} tmapi_matrix;

// The first group of a round.
TMAP_DEVICE tmap_u64 tmapi_matrix_first_group(const tmapi_matrix *m) {
    return m->first * m->plan.slice * (TMAPI_MATRIX_UNIT / TMAPI_MATRIX_GROUP);
}

// ---- coordinates by atom ------------------------------------------------------------------------

#define TMAPI_MATRIX_THREADS 256u // of a block, except in kernels that write distances
#define TMAPI_MATRIX_WARPS   (TMAPI_MATRIX_THREADS / 32)

// The bits of a finite number without its sign, else 0; ordered as the numbers are.
TMAP_DEVICE tmap_u32 tmapi_matrix_finite(float x) {
    return __float_as_uint(fabsf(x) < 1e37f ? fabsf(x) : 0);
}

// Writes the coordinates of the atoms that count, all frames of an atom side by side, and finds the
// largest weight and the largest coordinate relative to the frame's first atom. Frames that do not
// exist have all atoms at 0. Grid: 32 atoms by x, 32 frames by y.
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS) tmapi_matrix_spread(tmapi_matrix m) {
    __shared__ float staged[32][3 * 32 + 1];
    const tmap_u32 atoms = m.plan.atoms, x = threadIdx.x % 32, y = threadIdx.x / 32;
    const tmap_u32 atom = blockIdx.x * 32;
    const tmap_u64 frame = blockIdx.y * 32ull, stride = tmapi_matrix_frames(&m.plan);
    tmap_u32 most = 0;
    for (tmap_u32 r = y; r < 32; r += TMAPI_MATRIX_WARPS)
        for (tmap_u32 c = x; c < 3 * 32; c += 32) {
            const tmap_u32 k = atom + c / 3;
            float value = 0;
            if (frame + r < m.plan.frames && k < atoms) {
                const tmap_u32 number = m.which.atoms ? m.which.atoms[k] : k;
                value = m.frames[((frame + r) * m.plan.n + number) * 3 + c % 3];
            }
            staged[r][c] = value;
        }
    __syncthreads();
    for (tmap_u32 c = y; c < 3 * 32; c += TMAPI_MATRIX_WARPS) {
        const float value = staged[x][c];
        if (atom + c / 3 >= atoms) break;
        m.coordinates[(atom * 3ull + c) * stride + frame + x] = value;
        if (frame + x < m.plan.frames) {
            const tmap_u32 number = m.which.atoms ? m.which.atoms[0] : 0;
            const float *from = m.frames + ((frame + x) * m.plan.n + number) * 3;
            const tmap_u32 bits = tmapi_matrix_finite(value - from[c % 3]);
            most = bits > most ? bits : most;
        }
    }
    most = tmapi_warp_max(tmap_warp_full(), most);
    if (x == 0) atomicMax(m.bounds, most);
    if (m.which.weights && frame == 0 && threadIdx.x < 32 && atom + threadIdx.x < atoms)
        atomicMax(m.bounds + 1, tmapi_matrix_finite(m.which.weights[atom + threadIdx.x]));
}

TMAP_DEVICE tmapi_drmsd_xyz tmapi_matrix_atom(const tmapi_matrix *m, tmap_u64 frame, tmap_u32 k) {
    const tmap_u64 stride = tmapi_matrix_frames(&m->plan);
    const float *at = m->coordinates + (k * 3ull * stride + frame);
    const tmapi_drmsd_xyz p = {at[0], at[stride], at[2 * stride]};
    return p;
}

// ---- centres and factors ------------------------------------------------------------------------
//
// A distance is staged as (d - centre) * factor. The centre is the median distance over some
// frames, so that the differences are small. The factor is sqrt(w_ij), or 0 for excluded pairs.

// A power of two that scales the weights below 1, and columns of halves below 2^15.
TMAP_DEVICE float tmapi_matrix_scale(const tmapi_matrix *m) {
    const float weight = m->which.weights ? __uint_as_float(m->bounds[1]) : 0;
    const float length = m->plan.planes ? 3.47f * __uint_as_float(m->bounds[0]) : 0;
    int exponent = 0, more = 0;
    if (weight > 0) frexpf(weight, &exponent);
    if (length > 0) frexpf(length, &more), more -= 15;
    exponent = -exponent - more;
    return ldexpf(1, exponent < -120 ? -120 : exponent > 120 ? 120 : exponent);
}

// The distance of atoms i and j in a frame, off by up to two units in the last place.
TMAP_DEVICE float tmapi_matrix_distance(const tmapi_matrix *m, tmap_u64 frame, tmap_u32 i,
                                        tmap_u32 j) {
    const tmapi_drmsd_xyz a = tmapi_matrix_atom(m, frame, i), b = tmapi_matrix_atom(m, frame, j);
    const tmapi_drmsd_box box = tmapi_drmsd_box_of(m->which.boxes, frame);
    return tmapi_drmsd_length(a.x - b.x, a.y - b.y, a.z - b.z, box, m->which.boxes != 0);
}

// The median of the lanes' numbers below 1e18 (the greater of two); 0 if there are none.
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

// The column of atoms i < j, in all lanes. The median ignores NaN.
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
    if (m->which.lower >= 0) {
        const float d = tmapi_matrix_distance(m, m->reference, i, j);
        if (!(m->which.lower < d && d < m->which.upper)) column.factor = 0;
    }
    return column;
}

// Makes the round's columns, a group a warp, and adds their weights to the block's part of them.
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS)
    tmapi_matrix_make_columns(tmapi_matrix m) {
    __shared__ double parts[TMAPI_MATRIX_WARPS];
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, atoms = m.plan.atoms;
    const tmap_u32 step = gridDim.x * TMAPI_MATRIX_WARPS;
    const tmap_u64 first = tmapi_matrix_first_group(&m);
    const tmap_u32 groups = m.slices * m.plan.slice * (TMAPI_MATRIX_UNIT / TMAPI_MATRIX_GROUP);
    const float scale = tmapi_matrix_scale(&m);
    double sum = 0;
    for (tmap_u32 g = blockIdx.x * TMAPI_MATRIX_WARPS + warp; g < groups; g += step) {
        tmapi_matrix_column mine = {0, 0};
        if (first + g < m.plan.groups) {
            const tmapi_matrix_group group =
                tmapi_matrix_group_at(atoms, tmapi_matrix_place_of(atoms, first + g));
            for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) {
                const tmap_u32 j = s < group.split ? group.j : group.k;
                const tmap_u32 i = group.i + (s < group.split ? s : s - group.split);
                if (j < atoms) {
                    const tmapi_matrix_column column = tmapi_matrix_column_of(&m, scale, i, j);
                    if (lane == s) mine = column;
                }
            }
        }
        if (lane < TMAPI_MATRIX_GROUP) m.columns[g * TMAPI_MATRIX_GROUP + lane] = mine;
        sum += (double)mine.factor * mine.factor;
    }
    sum = tmap_warp_sum_f64_shuffle(tmap_warp_full(), sum);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (tmap_u32 w = 1; w < TMAPI_MATRIX_WARPS; ++w) sum += parts[w];
    m.weights[blockIdx.x] = m.first ? m.weights[blockIdx.x] + sum : sum;
}

// 1 / the sum of all weights, or 0 if no pair counts; in all lanes.
TMAP_DEVICE float tmapi_matrix_share(const tmapi_matrix *m) {
    double sum = 0;
    for (tmap_u32 k = threadIdx.x % 32; k < TMAPI_MATRIX_PARTS; k += 32) sum += m->weights[k];
    sum = tmap_warp_sum_f64_shuffle(tmap_warp_full(), sum);
    return sum > 0 ? (float)(1 / sum) : 0;
}

// ---- distances by column ------------------------------------------------------------------------
//
// A distance rounded to a float is off by 2^-25 of its value, too much for similar frames. So it is
// computed to about 2^-44, with the rounding error kept beside each number, and only its difference
// from the centre is rounded. Source: Knuth, TAOCP 2, section 4.2.2, theorem B.

typedef struct tmapi_matrix_two {
    float high, low;
} tmapi_matrix_two;

TMAP_DEVICE tmapi_matrix_two tmapi_matrix_minus(float a, float b) {
    const float high = a - b, t = high - a;
    const tmapi_matrix_two r = {high, (a - (high - t)) - (b + t)};
    return r;
}

// The same to the nearest image with boxed = 1, a constant, like tmapi_drmsd_image.
TMAP_DEVICE tmapi_matrix_two tmapi_matrix_image(float a, float b, float length, float over,
                                                const int boxed) {
    tmapi_matrix_two d = tmapi_matrix_minus(a, b);
    if (boxed) {
        const float large = 12582912.0f, images = fmaf(d.high, over, large) - large;
        const float shift = length * images;
        const tmapi_matrix_two r = tmapi_matrix_minus(d.high, shift);
        d.low += r.low - fmaf(length, images, -shift);
        d.high = r.high;
    }
    return d;
}

// sqrt(x^2 + y^2 + z^2) - centre, rounded once. Squares from 1e-37 to 1e37; 0 for coincident atoms.
TMAP_DEVICE float tmapi_matrix_root_less(tmapi_matrix_two x, tmapi_matrix_two y, tmapi_matrix_two z,
                                         float centre) {
    const float xx = x.high * x.high, yy = y.high * y.high, zz = z.high * z.high;
    const tmapi_matrix_two two = tmapi_matrix_minus(xx, -yy);
    const tmapi_matrix_two all = tmapi_matrix_minus(two.high, -zz);
    const float cross = fmaf(z.high, z.low, fmaf(y.high, y.low, x.high * x.low));
    const float lost = fmaf(x.high, x.high, -xx) + fmaf(y.high, y.high, -yy) +
                       fmaf(z.high, z.high, -zz) + (two.low + all.low);
    const float inverse = tmapi_rsqrt(fmaxf(all.high, 1e-37f)), root = all.high * inverse;
    const float rest = fmaf(-root, root, all.high) + fmaf(2, cross, lost);
    return fmaf(rest, 0.5f * inverse, root - centre);
}

// State of the thread of a frame that reads group by group.
typedef struct tmapi_matrix_reader {
    tmap_u64 frame;
    tmapi_matrix_place place; // of the next group
    tmap_u32 block;           // the block whose atoms are loaded
    tmapi_drmsd_xyz atoms[8]; // of that block
    tmapi_drmsd_box box;
    const float4 *columns; // of the next group
} tmapi_matrix_reader;

TMAP_DEVICE tmapi_matrix_reader tmapi_matrix_begin(const tmapi_matrix *m, tmap_u64 frame,
                                                   tmap_u64 group) {
    tmapi_matrix_reader r;
    r.frame = frame, r.block = ~0u;
    r.place = tmapi_matrix_place_of(m->plan.atoms, tmapi_matrix_first_group(m) + group);
    r.columns = (const float4 *)(m->columns + group * TMAPI_MATRIX_GROUP);
    r.box = tmapi_drmsd_box_of(frame < m->plan.frames ? m->which.boxes : 0, frame);
    return r;
}

// (d - centre) * factor for the 8 pairs of a group. Constants: exact: 0: distances are rounded to
// floats first; boxed: 0: no boxes; folded: 0: all pairs are with atom j.
TMAP_DEVICE void tmapi_matrix_values(const tmapi_matrix *m, const tmapi_matrix_reader *r,
                                     tmapi_matrix_group group, const int exact, const int boxed,
                                     const int folded, float *values) {
    const tmap_u32 last = m->plan.atoms - 1; // replaces atoms that do not exist
    const tmapi_drmsd_xyz j = tmapi_matrix_atom(m, r->frame, group.j < last ? group.j : last);
    const float *length = r->box.length, *over = r->box.over;
    tmapi_drmsd_xyz k = j;
    if (folded) k = tmapi_matrix_atom(m, r->frame, group.k < last ? group.k : last);
#pragma unroll
    for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) {
        const float4 both = r->columns[s / 2];
        const float centre = s % 2 ? both.z : both.x, factor = s % 2 ? both.w : both.y;
        tmapi_drmsd_xyz a = r->atoms[s], b = j;
        float d;
        if (folded && s >= group.split) {
            const tmap_u32 i = group.i + s - group.split;
            a = tmapi_matrix_atom(m, r->frame, i < last ? i : last), b = k;
        }
        if (exact)
            d = tmapi_matrix_root_less(tmapi_matrix_image(a.x, b.x, length[0], over[0], boxed),
                                       tmapi_matrix_image(a.y, b.y, length[1], over[1], boxed),
                                       tmapi_matrix_image(a.z, b.z, length[2], over[2], boxed),
                                       centre);
        else
            d = tmapi_drmsd_length(a.x - b.x, a.y - b.y, a.z - b.z, r->box, boxed) - centre;
        values[s] = d * factor;
    }
}

// The values of the next group; 0 after the last one, as its factors are. exact: a constant.
TMAP_DEVICE void tmapi_matrix_read(const tmapi_matrix *m, tmapi_matrix_reader *r, const int exact,
                                   float *values) {
    const tmap_u32 last = m->plan.atoms - 1;
    const tmapi_matrix_group group = tmapi_matrix_group_at(m->plan.atoms, r->place);
    if (r->block != r->place.block) {
        r->block = r->place.block;
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s)
            r->atoms[s] = tmapi_matrix_atom(m, r->frame, group.i + s < last ? group.i + s : last);
    }
    if (group.split < 8) // one of many groups
        tmapi_matrix_values(m, r, group, exact, 1, 1, values);
    else if (m->which.boxes)
        tmapi_matrix_values(m, r, group, exact, 1, 0, values);
    else
        tmapi_matrix_values(m, r, group, exact, 0, 0, values);
    r->place = tmapi_matrix_place_next(m->plan.atoms, r->place);
    r->columns += TMAPI_MATRIX_GROUP / 2;
}

// Writes columns of a tile's frames as floats. Grid: TMAPI_MATRIX_RUN columns by x, tiles by y.
static __global__ void __launch_bounds__(TMAPI_MATRIX_SIDE) tmapi_matrix_write(tmapi_matrix m) {
    const tmap_u64 tile = blockIdx.y, column = blockIdx.x * (tmap_u64)TMAPI_MATRIX_RUN;
    const tmap_u64 at = tile * tmapi_matrix_columns(&m.plan) + column;
    const tmap_u64 frame = tile * TMAPI_MATRIX_SIDE + threadIdx.x;
    float *to = (float *)m.distances + (at * TMAPI_MATRIX_SIDE + threadIdx.x);
    tmapi_matrix_reader r = tmapi_matrix_begin(&m, frame, column / TMAPI_MATRIX_GROUP);
#pragma unroll 1
    for (tmap_u32 g = 0; g < TMAPI_MATRIX_RUN / TMAPI_MATRIX_GROUP; ++g) {
        float values[TMAPI_MATRIX_GROUP];
        tmapi_matrix_read(&m, &r, 1, values);
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) to[s * TMAPI_MATRIX_SIDE] = values[s];
        to += TMAPI_MATRIX_GROUP * TMAPI_MATRIX_SIDE;
    }
}

// ---- a tile of pairs of frames ------------------------------------------------------------------
//
// A matrix product with (a - b)^2 in place of a b: 16 numbers in registers suffice for 64 terms.
// Sums of 512 terms are joined, so that rounding errors remain those of a short sum.

#define TMAPI_MATRIX_STEP   16u // columns that are copied at a time
#define TMAPI_MATRIX_STAGES 3u  // steps in shared memory or in flight

// State of the copies of both sides of a tile to shared memory, step by step.
typedef struct tmapi_matrix_pipe {
    const uint4 *rows, *columns; // of the step to copy next
    uint4 *staged;
    tmap_u32 size, steps; // size: times 16 bytes of a side of a step
    tmap_u32 turn, ahead; // stages of the step to use next, and of that to copy
} tmapi_matrix_pipe;

// Begins to copy a step to a stage, if the step exists.
TMAP_DEVICE void tmapi_matrix_copy(tmapi_matrix_pipe *p, tmap_u32 step, tmap_u32 stage) {
    uint4 *to = p->staged + 2 * stage * p->size + threadIdx.x;
    if (step < p->steps) {
#pragma unroll
        for (tmap_u32 k = 0; k < 2 * p->size; k += TMAPI_MATRIX_THREADS)
            tmapi_async_copy(to + k, k < p->size ? p->rows + k : p->columns + (k - p->size), 16);
    }
    tmapi_async_commit();
    p->rows += p->size, p->columns += p->size;
}

// Begins to copy a slice. Constants: brick: times 16 bytes of 32 columns; wide: columns of a step.
TMAP_DEVICE tmapi_matrix_pipe tmapi_matrix_pipe_of(const tmapi_matrix *m, tmap_pair tile,
                                                   tmap_u32 brick, tmap_u32 wide) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    const tmap_u64 bricks = tmapi_matrix_columns(&m->plan) / 32;
    const tmap_u64 slice = (tmap_u64)m->plan.slice * TMAPI_MATRIX_UNIT,
                   at = blockIdx.y * slice / 32;
    const tmap_u64 all = m->plan.groups * TMAPI_MATRIX_GROUP,
                   first = (m->first + blockIdx.y) * slice;
    const tmap_u64 left = all > first ? all - first : 0;
    const uint4 *from = (const uint4 *)m->distances + threadIdx.x;
    tmapi_matrix_pipe p;
    p.rows = from + (tile.i * bricks + at) * brick;
    p.columns = from + (tile.j * bricks + at) * brick;
    p.staged = tmapi_pairs_shared, p.size = brick * wide / 32;
    p.steps = (tmap_u32)(((left < slice ? left : slice) + wide - 1) / wide);
    p.turn = 0, p.ahead = TMAPI_MATRIX_STAGES - 1;
#pragma unroll
    for (tmap_u32 s = 0; s + 1 < TMAPI_MATRIX_STAGES; ++s) tmapi_matrix_copy(&p, s, s);
    return p;
}

// Waits for step s and begins to copy a later one. Returns its rows; its columns begin `size` after
// them. Collective for the block.
TMAP_DEVICE const uint4 *tmapi_matrix_next(tmapi_matrix_pipe *p, tmap_u32 s) {
    const uint4 *from = p->staged + 2 * p->turn * p->size;
    tmapi_async_wait(1);
    __syncthreads(); // this step is here, and all threads have used the previous one
    tmapi_matrix_copy(p, s + TMAPI_MATRIX_STAGES - 1, p->ahead);
    p->turn = p->turn + 1 == TMAPI_MATRIX_STAGES ? 0 : p->turn + 1;
    p->ahead = p->ahead + 1 == TMAPI_MATRIX_STAGES ? 0 : p->ahead + 1;
    return from;
}

// sqrt(sum * share); 0 if rounding made the sum negative.
TMAP_DEVICE float tmapi_matrix_root(float sum, float share) {
    return tmapi_drmsd_root_whole(sum < 0 ? 0 : sum * share);
}

// Where a block writes: results, or its slice's parts of their sums.
typedef struct tmapi_matrix_writer {
    float *to;
    tmap_u64 frames;
    float share;
    int whole; // 1: sums are complete
} tmapi_matrix_writer;

TMAP_DEVICE tmapi_matrix_writer tmapi_matrix_writer_of(const tmapi_matrix *m) {
    tmapi_matrix_writer w = {m->out, m->plan.frames, 0, m->plan.slices == 1};
    if (w.whole)
        w.share = tmapi_matrix_share(m);
    else
        w.to = m->partial + blockIdx.y * tmap_condensed_cells(w.frames);
    return w;
}

// Writes the sum of frames a and b, if the matrix contains it.
TMAP_DEVICE void tmapi_matrix_put(const tmapi_matrix_writer *w, tmap_u32 a, tmap_u32 b, float sum) {
    const tmap_u64 row = a * (2 * w->frames - a - 3) / 2 - 1; // modulo 2^64, for a = 0
    const float value = w->whole ? tmapi_matrix_root(sum, w->share) : sum;
    if (a < b && b < w->frames) w->to[row + b] = value;
}

// A block's tile: 8 warps of 32 x 64 pairs, 4 x 8 threads of 8 x 8. Grid: tiles by x, slices by y.
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS) tmapi_matrix_sums(tmapi_matrix m) {
    const tmap_u32 wide = TMAPI_MATRIX_SIDE / 4; // times 16 bytes
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const tmap_u32 row = warp / 2 * 32 + lane / 8 * 4, column = warp % 2 * 64 + lane % 8 * 4;
    const tmap_pair tile = tmapi_matrix_tile_of(blockIdx.x, &m.plan);
    float sums[8][8] = {{0}}, terms[8][8] = {{0}};
    // Numbers of two columns of the step: of frames r, .., r + 3, r + 16, .. and c, .., c + 3,
    // c + 32, ... Lanes of a warp with different c read different banks.
    float4 rows[2][2], columns[2][2];
    if (tile.i > tile.j || tile.j >= m.plan.tiles) return;
    tmapi_matrix_pipe pipe = tmapi_matrix_pipe_of(&m, tile, 32 * wide, TMAPI_MATRIX_STEP);
#pragma unroll 1
    for (tmap_u32 s = 0; s < pipe.steps; ++s) {
        const float4 *stage = (const float4 *)tmapi_matrix_next(&pipe, s);
        const float4 *from = stage + row / 4, *other = stage + pipe.size + column / 4;
#pragma unroll
        for (tmap_u32 h = 0; h < 2; ++h) rows[0][h] = from[4 * h], columns[0][h] = other[8 * h];
#pragma unroll 1
        for (tmap_u32 k = 0; k < TMAPI_MATRIX_STEP; k += 4) {
#pragma unroll
            for (tmap_u32 u = 0; u < 4; ++u) { // the next column is read before this one is used
                const tmap_u32 next = (k + u + 1) % TMAPI_MATRIX_STEP * wide;
                const tmap_u32 later = (u + 1) % 2;
#pragma unroll
                for (tmap_u32 h = 0; h < 2; ++h)
                    rows[later][h] = from[next + 4 * h], columns[later][h] = other[next + 8 * h];
#pragma unroll
                for (tmap_u32 i = 0; i < 8; ++i)
#pragma unroll
                    for (tmap_u32 j = 0; j < 8; ++j) {
                        const float d =
                            ((const float *)rows[u % 2])[i] - ((const float *)columns[u % 2])[j];
                        terms[i][j] = fmaf(d, d, terms[i][j]);
                    }
            }
        }
        if ((s + 1) % (TMAPI_MATRIX_UNIT / TMAPI_MATRIX_STEP) != 0 && s + 1 != pipe.steps) continue;
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i)
#pragma unroll
            for (tmap_u32 j = 0; j < 8; ++j) sums[i][j] += terms[i][j], terms[i][j] = 0;
    }
    const tmapi_matrix_writer w = tmapi_matrix_writer_of(&m);
#pragma unroll
    for (tmap_u32 i = 0; i < 8; ++i) {
        const tmap_u32 frame = tile.i * TMAPI_MATRIX_SIDE + row + i / 4 * 16 + i % 4;
#pragma unroll
        for (tmap_u32 j = 0; j < 8; ++j)
            tmapi_matrix_put(&w, frame, tile.j * TMAPI_MATRIX_SIDE + column + j / 4 * 32 + j % 4,
                             sums[i][j]);
    }
}

// Adds the round's sums to the earlier ones in double precision; the last round writes results.
static __global__ void tmapi_matrix_gather(tmapi_matrix m) {
    const tmap_u64 cells = tmap_condensed_cells(m.plan.frames);
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    const int last = m.first + m.slices == m.plan.slices;
    const float share = last ? tmapi_matrix_share(&m) : 0;
    for (tmap_u64 k = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; k < cells; k += stride) {
        double sum = m.first ? (double)m.out[k] + (double)m.rest[k] : 0;
        for (tmap_u32 s = 0; s < m.slices; ++s) sum += (double)m.partial[s * cells + k];
        const float high = (float)sum;
        m.out[k] = last ? tmapi_matrix_root(high, share) : high;
        if (!last) m.rest[k] = (float)(sum - (double)high);
    }
}

// ---- launches -----------------------------------------------------------------------------------

// The kernels in which forms differ. run: columns of a block that writes; bytes of shared memory.
typedef struct tmapi_matrix_form {
    const void *write, *sums;
    tmap_u32 run, writing, summing;
} tmapi_matrix_form;

static inline cudaError_t tmapi_matrix_run(const tmap_drmsd_plan *whole,
                                           const tmapi_matrix_form *form, tmap_drmsd_in in,
                                           void *workspace, float *out, cudaStream_t stream) {
    const tmapi_matrix_plan *plan = &whole->matrix;
    const tmap_u64 cells = tmap_condensed_cells(plan->frames), frame = 12ull * plan->n;
    const tmap_u64 ahead = (tmap_u64)in.reference - (tmap_u64)in.frames;
    const tmap_u64 slice = (tmap_u64)plan->slice * TMAPI_MATRIX_UNIT;
    unsigned char *at = (unsigned char *)workspace;
    tmapi_matrix m;
    void *arguments[1] = {&m};
    cudaError_t error;
    if (!cells || !plan->squares) return cudaSuccess;
    if (!out || (tmap_u64)out % 4) return cudaErrorInvalidValue;
    if (!plan->slices) return cudaMemsetAsync(out, 0, 4 * cells, stream); // no pair of atoms
    if (!in.frames || (tmap_u64)in.frames % 4 || !workspace || (tmap_u64)workspace % 16 ||
        (in.reference && (ahead % frame || ahead / frame >= plan->frames)))
        return cudaErrorInvalidValue;
    m.plan = *plan, m.which = whole->which, m.frames = in.frames;
    m.reference = in.reference ? ahead / frame : 0;
    m.bounds = (tmap_u32 *)at, m.weights = (double *)(at + 256), m.out = out;
    m.columns = (tmapi_matrix_column *)(at + plan->at_columns);
    m.coordinates = (float *)(at + plan->at_coordinates);
    m.distances = at + plan->at_distances, m.norms = (float *)(at + plan->at_norms);
    m.partial = (float *)(at + plan->at_partial), m.rest = (float *)(at + plan->at_rest);
    m.first = 0, m.slices = plan->round;
    error = tmapi_launch_shared(form->sums, form->summing);
    if (!error) error = cudaMemsetAsync(m.bounds, 0, 2 * sizeof *m.bounds, stream);
    for (; !error && m.first < plan->slices; m.first += m.slices) {
        const tmap_u64 left = plan->slices - m.first, round = left < m.slices ? left : m.slices;
        const tmap_u64 all = plan->groups * TMAPI_MATRIX_GROUP - m.first * slice;
        const tmap_u64 most = round * slice;
        const tmap_u64 runs = ((all < most ? all : most) + form->run - 1) / form->run;
        const struct {
            const void *kernel;
            tmap_u64 x;
            tmap_u32 y, threads, shared;
        } steps[5] = {{(const void *)tmapi_matrix_spread, (plan->atoms + 31) / 32,
                       plan->tiles * (TMAPI_MATRIX_SIDE / 32), TMAPI_MATRIX_THREADS, 0},
                      {(const void *)tmapi_matrix_make_columns, TMAPI_MATRIX_PARTS, 1,
                       TMAPI_MATRIX_THREADS, 0},
                      {form->write, runs, plan->tiles, TMAPI_MATRIX_SIDE, form->writing},
                      {form->sums, tmapi_matrix_blocks(plan), (tmap_u32)round, TMAPI_MATRIX_THREADS,
                       form->summing},
                      {(const void *)tmapi_matrix_gather,
                       cells < 65536 * 256 ? (cells + 255) / 256 : 65536, 1, 256, 0}};
        m.slices = (tmap_u32)round;
        for (int k = m.first ? 1 : 0; !error && k < (plan->slices > 1 ? 5 : 4); ++k)
            error = cudaLaunchKernel(steps[k].kernel, dim3((unsigned)steps[k].x, steps[k].y),
                                     dim3(steps[k].threads), arguments, steps[k].shared, stream);
    }
    return error;
}

// Makes the plan for the dRMSD of all pairs of frames on the current device.
// Range: frames: up to 2097024. Up to 92681 atoms may count. shape.most: the most bytes of the
// workspace, or 0: all that are useful, about 2 n (n + 5) a frame, but at most 2^18 and 12 n a
// frame, or a gigabyte for few frames, plus the sums. With less, distances are computed in rounds,
// whose sums take 4 or 8 bytes for each pair of frames.
// Returns the errors of drmsd.h; cudaErrorNotSupported for a form of tensor cores below compute
// capability 8.0 or in a program not compiled for it; cudaErrorInvalidConfiguration for a number
// above its range; cudaErrorMemoryAllocation if the smallest round does not fit shape.most.
// Example: 4096 frames of 200 atoms: 346 MB and one round; of at most 100 MB: 94 MB, 20 rounds.
static inline cudaError_t tmap_drmsd_matrix_plan_make(tmap_drmsd_shape shape,
                                                      tmap_drmsd_plan *out) {
    tmap_drmsd_shape roomy = shape;
    tmap_drmsd_plan p;
    tmap_facts facts;
    cudaError_t error = out ? cudaSuccess : cudaErrorInvalidValue;
    roomy.most = 0;
    if (!error) error = tmapi_launch_error(tmap_drmsd_matrix_plan_of(roomy, &p));
    if (!error) error = tmap_facts_get((const void *)tmapi_matrix_spread, &facts);
    if (!error && !tmap_drmsd_matrix_runs(shape.form, &facts)) error = cudaErrorNotSupported;
    if (!error && tmap_drmsd_matrix_plan_of(shape, &p)) error = cudaErrorMemoryAllocation;
    if (!error) *out = p;
    return error;
}

// Writes the dRMSD of all pairs of frames.
// out: floats in scipy's condensed order: frames a < b at tmap_condensed_index(a, b, frames).
// in.reference: the frame whose distances the bounds test; a pointer to anything else is refused.
// With fewer than two frames nothing is written; if no pair of atoms counts, results are 0.
// Exactness: a relative error below 1e-6 for frames that differ by a hundredth of an Angstrom or
// more; 0 for equal frames. Results are the same on any GPU.
// Range: distances from 1e-18 to 1e18 (a shorter one counts as some number below 1e-18), if the
// squares of all differences of two frames sum to less than 1e38.
// Cost: 2.1 instructions a pair of atoms and of frames, 70 a distance, of full tiles of 128 frames.
// Example: frames of two atoms at distances 1, 3, 6 -> 2, 5, 3.
static inline cudaError_t tmap_drmsd_matrix(const tmap_drmsd_plan *plan, tmap_drmsd_in in,
                                            void *workspace, float *out, cudaStream_t stream) {
    const tmapi_matrix_form form = {
        (const void *)tmapi_matrix_write, (const void *)tmapi_matrix_sums, TMAPI_MATRIX_RUN, 0,
        2 * 4 * TMAPI_MATRIX_STAGES * TMAPI_MATRIX_STEP * TMAPI_MATRIX_SIDE};
    if (!plan || plan->form != TMAP_DRMSD_EXACT) return cudaErrorInvalidValue;
    return tmapi_matrix_run(plan, &form, in, workspace, out, stream);
}

#endif
#endif
