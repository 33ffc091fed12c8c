// SPDX-License-Identifier: MIT
// drmsd.h: what all forms of dRMSD share: the plan and the input, which atoms and pairs count, with
// which weight, and the distance of two atoms of a frame.
//
// dRMSD(A, B) = sqrt(sum_{i<j} w_ij (d_ij^A - d_ij^B)^2 / sum_{i<j} w_ij), with d_ij^X the distance
// of atoms i and j in frame X; without weights all w_ij are 1, and the denominator is n(n-1)/2.
// Source: Filipovic, Plhak, Strelak, HPCS 2015, and the lecture slides about it.
//
// Frames are floats of shape (frames, n, 3): coordinate c of atom i of frame f is at frames[(f * n
// + i) * 3 + c]. A result is 0 if no pair counts. With two atoms or more, a NaN or infinite
// coordinate makes all results of its frame NaN if its atom counts, even if weights of 0 or bounds
// exclude all pairs of this atom.
//
// Exactness: distances are floats, except where a header says otherwise. So the relative error of a
// result is below 3 * 10^-7 + 10^-6 d / (n D), where n atoms count, about d from each other, and D
// is the dRMSD. Example: 200 atoms, d = 10, D = 0.01: 6 * 10^-6. A turned, moved or mirrored
// frame has the same distances: the dRMSD of a frame and its mirror image is 0.
//
// The calls are the same for all forms, each in its header:
//
//     const tmap_drmsd_shape shape = {n, frames, TMAP_DRMSD_FRAMES, 0, 0};
//     const tmap_drmsd_in in = {xyz, reference, 0};
//     tmap_drmsd_plan plan;
//     cudaError_t error = tmap_drmsd_frames_plan_make(shape, &plan);
//     ... cudaMalloc(&workspace, plan.workspace);
//     if (!error) error = tmap_drmsd_frames(&plan, in, workspace, out, stream);
//
// A plan maker writes *out only on success. It returns cudaErrorInvalidValue for a null or
// misaligned pointer, a form of another header, a number outside its range, more than n atoms that
// count, and a bound that is negative or NaN; cudaErrorInvalidConfiguration if no block of the
// kernel fits the device; else the error of a CUDA call. That of drmsd_matrix.h has other errors,
// too. A launch returns cudaErrorInvalidValue for a null pointer that is needed, a misaligned one,
// and a plan of another header; else the error of its launches. All its pointers are to device
// memory; the workspace is at a multiple of 16, with any content, and one that no other launch uses
// at the same time. It can be captured. Results are the same in every run.
#ifndef TMAP_MOLECULES_DRMSD_H
#define TMAP_MOLECULES_DRMSD_H

#include "../triangle/pairs.h"
#include "../triangle/pairs_frames.h"

// ---- which atoms and pairs count ----------------------------------------------------------------

// Which atoms and pairs count. Pointers are to device memory; a struct of zeros selects all pairs.
// atoms, atom_count: numbers below n of the atoms that count, each once, in any order; atoms 0: all
//     n.
// weights: one w_i for each atom that counts, w_ij = w_i w_j, finite and not negative; 0: all 1.
// boxes: lengths of each frame's orthorhombic box, shape (frames, 3); distances are then those of
//     the nearest images. A length of 0: not periodic along that axis. 0: no boxes.
// lower, upper: pairs with lower < d < upper count, d in the reference, which is the first frame of
//     a pair; upper 0: all pairs.
typedef struct tmap_drmsd_atoms {
    const tmap_u32 *atoms;
    const float *weights, *boxes;
    tmap_u32 atom_count;
    float lower, upper;
} tmap_drmsd_atoms;

// Number of atoms that count, of n. which: 0: all.
TMAP_FN tmap_u32 tmap_drmsd_atoms_count(const tmap_drmsd_atoms *which, tmap_u32 n) {
    return which && which->atoms ? which->atom_count : n;
}

// ---- the plan -----------------------------------------------------------------------------------

// What is compared.
typedef enum tmap_drmsd_form {
    TMAP_DRMSD_PAIR,     // a frame with a reference (drmsd_pair.h)
    TMAP_DRMSD_FRAMES,   // many frames with a reference (drmsd_frames.h)
    TMAP_DRMSD_CLOSE,    // the same, for frames close to it
    TMAP_DRMSD_EXACT,    // all pairs of frames (drmsd_matrix.h), with distances as floats; or on
    TMAP_DRMSD_MMA_HALF, // tensor cores (drmsd_mma.h), as halves (11 bits, one product), or
    TMAP_DRMSD_MMA_SPLIT // as sums of two halves (22 bits, three products)
} tmap_drmsd_form;

// What a plan is for.
typedef struct tmap_drmsd_shape {
    tmap_u32 n;                    // atoms of a frame
    tmap_u64 frames;               // without a reference: 1 of TMAP_DRMSD_PAIR
    int form;                      // a tmap_drmsd_form
    const tmap_drmsd_atoms *which; // the atoms and pairs that count, copied; 0: all with weight 1
    tmap_u64 most; // of all pairs: the most bytes of the workspace; 0: all that help
} tmap_drmsd_shape;

// The input of a launch, in device memory.
typedef struct tmap_drmsd_in {
    const float *frames;    // shape (frames, n, 3)
    const float *reference; // shape (n, 3). Of all pairs: one of the frames; 0: the first
    const float *box;       // with boxes: the reference's three lengths; 0: it is not periodic.
                            // Not of all pairs
} tmap_drmsd_in;

// How drmsd_pair.h divides its work. A unit is all pairs of `columns` atoms j with a band of
// columns >> cut atoms i. A triangle of squares of units has all pairs; a block takes
// neighbouring units.
typedef struct tmapi_drmsd_pair_plan {
    const void *kernel;
    tmap_u64 units;
    tmap_u32 atoms, columns, cut; // atoms: those that count
    tmap_u32 grid;                // blocks, and sums that the last block joins
} tmapi_drmsd_pair_plan;

// How drmsd_matrix.h divides its work.
typedef struct tmapi_matrix_plan {
    tmap_u64 frames, groups;
    tmap_u64 workspace;            // bytes of the workspace
    tmap_u32 n, atoms;             // atoms of a frame, and those that count
    tmap_u32 tiles, planes;        // tiles of frames; halves of a distance, 0: a float
    tmap_u32 first, squares;       // the share: its first square of tiles, its number of squares
    tmap_u32 slice, slices, round; // units of a slice; slices in all, slices of a round
    tmap_u64 at_columns;           // byte offsets in the workspace, after bounds and weights
    tmap_u64 at_coordinates, at_distances, at_norms, at_partial, at_rest;
} tmapi_matrix_plan;

// Sums of a pair of frames: terms and weights of a tile, and of the tiles before it.
typedef struct tmap_drmsd_sum {
    float terms, weights;
    double all_terms, all_weights;
} tmap_drmsd_sum;

// Sums of terms: of some pairs, and of those before them; or, over the pairs, of weights.
typedef struct tmapi_drmsd_frames_sum {
    double all;
    float some, none;
} tmapi_drmsd_frames_sum;

// A plan of any form, for any number of launches. Its members are read-only for you.
typedef struct tmap_drmsd_plan {
    tmap_u64 workspace; // bytes of the workspace
    tmap_u64 frames;
    tmap_u32 n;
    int form;
    tmap_drmsd_atoms which;              // launches read what its pointers point to
    tmapi_drmsd_pair_plan pair;          // of TMAP_DRMSD_PAIR
    tmap_pairs_frames_plan pairs_frames; // of TMAP_DRMSD_FRAMES and TMAP_DRMSD_CLOSE
    tmapi_matrix_plan matrix;            // of the others
} tmap_drmsd_plan;

// 1 if a pointer that is null only if not needed is at a multiple of `at`.
TMAP_FN int tmapi_drmsd_has(const void *p, int needed, tmap_u64 at) {
    return p ? (tmap_u64)p % at == 0 : !needed;
}

// Begins the plan of a form from `first` to `last`, with bounds always set: -1 < d < 10^30. Returns
// TMAP_EINVAL for another form, atoms that do not fit, a misaligned pointer, and a bound that is
// negative or NaN.
TMAP_FN int tmapi_drmsd_plan_begin(tmap_drmsd_shape shape, int first, int last,
                                   tmap_drmsd_plan *p) {
    const tmap_drmsd_atoms all = {0, 0, 0, 0, 0, 0};
    tmap_drmsd_atoms *which = &p->which;
    p->workspace = 0, p->frames = shape.frames, p->n = shape.n, p->form = shape.form;
    *which = shape.which ? *shape.which : all;
    if (p->form < first || p->form > last || !(which->lower >= 0 && which->upper >= 0) ||
        tmap_drmsd_atoms_count(which, p->n) > p->n || !tmapi_drmsd_has(which->atoms, 0, 4) ||
        !tmapi_drmsd_has(which->weights, 0, 4) || !tmapi_drmsd_has(which->boxes, 0, 4))
        return TMAP_EINVAL;
    if (which->upper == 0) which->lower = -1, which->upper = 1e30f;
    return TMAP_OK;
}

// ---- the plan of a pair ----

#define TMAPI_DRMSD_PAIR_THREADS 128u
#define TMAPI_DRMSD_PAIR_BLOCKS  4096u  // the most; few enough for one block to join their sums
#define TMAPI_DRMSD_PAIR_BUSY    540u   // units that keep a GPU busy
#define TMAPI_DRMSD_PAIR_MANY    32768u // units: then each may be larger

// Cuts the pairs into units. columns: 128, 256 or 512; a band has 16 to 128 atoms.
TMAP_FN void tmapi_drmsd_pair_cut(tmapi_drmsd_pair_plan *p, tmap_u32 columns, tmap_u32 cut) {
    const tmap_u32 strips = p->atoms ? tmap_triangle_tile_rows(p->atoms, columns) : 1;
    p->columns = columns, p->cut = cut;
    p->units = tmap_triangle_cells(strips) << cut;
    p->grid = p->units < TMAPI_DRMSD_PAIR_BLOCKS ? (tmap_u32)p->units : TMAPI_DRMSD_PAIR_BLOCKS;
}

// Cuts the pairs of `atoms` atoms into at least 4096 units, as large as possible; or into 1024 of
// 128 x 128 pairs or fewer, if there are that many of 128 x 16. The cut does not depend on the GPU,
// so neither does the order of sums.
TMAP_FN void tmapi_drmsd_pair_cut_all(tmapi_drmsd_pair_plan *p, tmap_u32 atoms) {
    p->kernel = 0, p->atoms = atoms;
    for (tmap_u32 columns = 512, cut = 2; columns >= 128; columns /= 2, --cut) {
        tmapi_drmsd_pair_cut(p, columns, cut);
        if (p->units >= TMAPI_DRMSD_PAIR_MANY) return;
    }
    for (tmap_u32 cut = 1; cut <= 3 && p->units < TMAPI_DRMSD_PAIR_BUSY; ++cut)
        tmapi_drmsd_pair_cut(p, 128, cut);
}

// The first unit of a block, or the number of units for block number `grid`. Each block has a unit,
// and the first ones have most of the others, so that all multiprocessors end at the same time:
// the last x of 4096 blocks have x + (units - 4096) (x / 4096)^2 units.
TMAP_FN tmap_u64 tmapi_drmsd_pair_begin(const tmapi_drmsd_pair_plan *p, tmap_u32 block) {
    const tmap_u64 x = p->grid - block, square = x * x, more = p->units - p->grid;
    const tmap_u64 whole = (tmap_u64)TMAPI_DRMSD_PAIR_BLOCKS * TMAPI_DRMSD_PAIR_BLOCKS;
    return p->units - (x + more / whole * square + more % whole * square / whole);
}

// ---- the plan of a pair or of frames ----

// Bytes of the sums in the workspace of frames, before the displacements of close ones.
TMAP_FN tmap_u64 tmapi_drmsd_first(const tmap_drmsd_plan *p) {
    return (tmap_pairs_frames_bytes(&p->pairs_frames) + 15) / 16 * 16;
}
// Sets the bytes of the workspace of a pair or of frames.
TMAP_FN void tmapi_drmsd_arrange(tmap_drmsd_plan *p) {
    if (p->form == TMAP_DRMSD_PAIR) // a counter, and two sums of each block
        p->workspace = 16 * (1ull + p->pair.grid);
    else
        p->workspace = tmapi_drmsd_first(p);
    if (p->form == TMAP_DRMSD_CLOSE) p->workspace += 12 * (p->frames + 1) * p->pairs_frames.n;
}

// Makes the plan of a pair or of frames from facts of the kernel, which is not set. Returns
// TMAP_EINVAL for what the plan makers refuse, TMAP_ERANGE if no block of the kernel fits.
TMAP_FN int tmap_drmsd_plan_of(tmap_drmsd_shape shape, const tmap_facts *facts,
                               tmap_drmsd_plan *out) {
    const int pair = shape.form == TMAP_DRMSD_PAIR, close = shape.form == TMAP_DRMSD_CLOSE;
    tmap_drmsd_plan p;
    tmap_u32 count, weighted;
    int code = TMAP_OK;
    if (!out || !facts || tmapi_drmsd_plan_begin(shape, TMAP_DRMSD_PAIR, TMAP_DRMSD_CLOSE, &p) ||
        (pair && p.frames != 1) || (close && p.which.boxes))
        return TMAP_EINVAL;
    count = tmap_drmsd_atoms_count(&p.which, p.n);
    weighted = p.which.weights || p.which.lower >= 0 || p.which.boxes;
    if (pair) {
        if (count > 0xffffffffu - 512) return TMAP_EINVAL;
        if (!tmap_resident_blocks(facts, TMAPI_DRMSD_PAIR_THREADS, 0)) return TMAP_ERANGE;
        tmapi_drmsd_pair_cut_all(&p.pair, count);
    } else { // floats of a pair: its distance in the reference and its weight; or a difference too
        code = tmap_pairs_frames_plan_of(count, p.frames, close ? 4 : 1 + weighted,
                                         sizeof(tmapi_drmsd_frames_sum), facts, &p.pairs_frames);
    }
    if (code) return code;
    tmapi_drmsd_arrange(&p);
    *out = p;
    return TMAP_OK;
}

#if TMAP_CUDA

// ---- distances ----------------------------------------------------------------------------------

typedef struct tmapi_drmsd_xyz {
    float x, y, z;
} tmapi_drmsd_xyz;

// A box, and 1 / length; 0 where it is not periodic.
typedef struct tmapi_drmsd_box {
    float length[3], over[3];
} tmapi_drmsd_box;

// The box of a frame. boxes: lengths, or 0. A Newton step makes 1 / length as exact as a division.
TMAP_DEVICE tmapi_drmsd_box tmapi_drmsd_box_of(const float *boxes, tmap_u64 frame) {
    tmapi_drmsd_box box;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const float length = boxes ? boxes[frame * 3 + (tmap_u64)k] : 0;
        const float over = tmapi_reciprocal(length);
        box.length[k] = length;
        box.over[k] = length > 0 ? fmaf(over, fmaf(-length, over, 1.0f), over) : 0.0f;
    }
    return box;
}

// The difference along an axis to the nearest image. Adding and subtracting 1.5 * 2^23 rounds.
TMAP_DEVICE float tmapi_drmsd_image(float difference, float length, float over) {
    const float large = 12582912.0f;
    return fmaf(-length, fmaf(difference, over, large) - large, difference);
}

// The length of a difference, or of its nearest image with boxed = 1, a constant: the GPU's root,
// off by at most one unit in the last place; 0 for 0 and for subnormal squares.
TMAP_DEVICE float tmapi_drmsd_length(float x, float y, float z, tmapi_drmsd_box box, int boxed) {
    if (boxed) {
        x = tmapi_drmsd_image(x, box.length[0], box.over[0]);
        y = tmapi_drmsd_image(y, box.length[1], box.over[1]);
        z = tmapi_drmsd_image(z, box.length[2], box.over[2]);
    }
    return tmapi_sqrt(fmaf(z, z, fmaf(y, y, x * x)));
}

// The same of two positions of three floats each.
TMAP_DEVICE float tmapi_drmsd_distance(const float *a, const float *b, tmapi_drmsd_box box,
                                       int boxed) {
    return tmapi_drmsd_length(a[0] - b[0], a[1] - b[1], a[2] - b[2], box, boxed);
}

// The root, off by half a unit in the last place, of squares from 1e-37; 0 for 0; NaN for infinity.
TMAP_DEVICE float tmapi_drmsd_root_whole(float square) {
    const float inverse = tmapi_rsqrt(fmaxf(square, 1e-37f)), root = square * inverse;
    return fmaf(fmaf(-root, root, square), 0.5f * inverse, root);
}

// The dRMSD from the sums of terms and of weights: 0 if no pair counts; NaN if the terms are NaN or
// infinite, as a NaN or infinite coordinate makes them.
TMAP_DEVICE float tmapi_drmsd_mean(double terms, double weights) {
    return tmapi_drmsd_root_whole((float)(weights != 0 ? terms / weights : terms));
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Makes the plan of a pair or of frames. weighted: the kernel for weights or bounds.
static inline cudaError_t tmapi_drmsd_plan_make(tmap_drmsd_shape shape, const void *plain,
                                                const void *weighted, const void *boxed,
                                                tmap_drmsd_plan *out) {
    const tmap_drmsd_atoms *which = shape.which;
    const void *kernel = which && (which->weights || which->upper != 0) ? weighted : plain;
    tmap_drmsd_plan p;
    tmap_facts facts;
    cudaError_t error;
    if (which && which->boxes) kernel = boxed;
    error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmap_drmsd_plan_of(shape, &facts, &p));
    if (error) return error;
    if (p.form == TMAP_DRMSD_PAIR)
        p.pair.kernel = kernel;
    else
        error = tmapi_launch_shared(kernel, p.pairs_frames.room), p.pairs_frames.kernel = kernel;
    if (!error) *out = p;
    return error;
}

// 1 if a launch of a pair or of frames has what it needs, aligned. atoms: those that count.
static inline int tmapi_drmsd_ready(const tmap_drmsd_plan *plan, tmap_u32 atoms, tmap_drmsd_in in,
                                    const void *workspace, const float *out) {
    return tmapi_drmsd_has(in.frames, atoms != 0, 4) && tmapi_drmsd_has(in.box, 0, 4) &&
           tmapi_drmsd_has(in.reference, atoms != 0, 4) && tmapi_drmsd_has(out, 1, 4) &&
           tmapi_drmsd_has(workspace, plan->workspace != 0, 16);
}

static __global__ void tmapi_drmsd_finite(const tmap_u32 *floats, tmap_u64 count, tmap_u64 *first) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < count; i += stride)
        if ((floats[i] & 0x7f800000u) == 0x7f800000u) atomicMin(first, i / 3);
}

// Finds the first atom with a NaN or infinite coordinate. Writes f * n + i for atom i of frame f to
// *first, or 2^64 - 1 if there is none. xyz, of shape (frames, n, 3), and first are device memory.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, else the error of the memset or
// the launch. Can be captured. Cost: the frames are read once.
// Example: two frames of 100 atoms, z of atom 7 of the second one NaN: 107.
static inline cudaError_t tmap_drmsd_finite(const float *xyz, tmap_u32 n, tmap_u64 frames,
                                            tmap_u64 *first, cudaStream_t stream) {
    tmap_u64 floats = tmap_mul_saturate(tmap_mul_saturate(frames, n), 3);
    const tmapi_launch_shape shape = {floats < 8192 * 1024 ? floats / 1024 + 1 : 8192, 256, 0};
    void *arguments[3] = {(void *)&xyz, &floats, &first};
    cudaError_t error;
    if (!tmapi_drmsd_has(xyz, 1, 4) || !tmapi_drmsd_has(first, 1, 8)) return cudaErrorInvalidValue;
    error = cudaMemsetAsync(first, 0xff, sizeof *first, stream);
    return error ? error : tmapi_launch((const void *)tmapi_drmsd_finite, shape, arguments, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
