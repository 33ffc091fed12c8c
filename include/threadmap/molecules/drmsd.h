// SPDX-License-Identifier: MIT
// drmsd.h: what all forms of dRMSD share: the plan and the input, which atoms and pairs count, with
// which weight, and the distance of two atoms of a frame.
//
// dRMSD(A, B) = sqrt(sum_{i<j} w_ij (d_ij^A - d_ij^B)^2 / sum_{i<j} w_ij), with d_ij^X the distance
// of atoms i and j in frame X; without weights all w_ij are 1, and the denominator is n(n-1)/2.
// Source: Filipovic, Plhak, Strelak, HPCS 2015, and the lecture slides about it.
//
// Frames are floats of shape (frames, n, 3): coordinate c of atom i of frame f is at frames[(f * n
// + i) * 3 + c]. A NaN or infinite coordinate makes a result NaN if its atom counts; a result is 0
// if no pair counts.
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
// A plan maker writes *out only on success. It returns cudaErrorInvalidValue for a null pointer, a
// form of another header, a number outside its range, and a bound that is negative or NaN; else
// the error of a CUDA call. A launch returns cudaErrorInvalidValue for a null or misaligned pointer
// that is needed and for a plan of another header; else the error of its launches. All its pointers
// are to device memory; the workspace is at a multiple of 16, with any content, and one that no
// other launch uses at the same time. It can be captured. Results are the same in every run.
#ifndef TMAP_MOLECULES_DRMSD_H
#define TMAP_MOLECULES_DRMSD_H

#include "../triangle/pairs.h"
#include "../triangle/pairs_frames.h"

// ---- which atoms and pairs count ----------------------------------------------------------------

// Which atoms and pairs count. Pointers are to device memory; a struct of zeros selects all pairs.
// atoms, atom_count: numbers below n of the atoms that count, in any order; atoms 0: all n.
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
    const float *box;       // the reference's three lengths, of drmsd_frames.h with boxes; 0: none
} tmap_drmsd_in;

// How drmsd_matrix.h divides its work.
typedef struct tmapi_matrix_plan {
    tmap_u64 frames, groups;
    tmap_u64 workspace;            // bytes of the workspace
    tmap_u32 n, atoms;             // atoms of a frame, and those that count
    tmap_u32 tiles, planes;        // tiles of frames; halves of a distance, 0: a float
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
    tmap_pairs_plan pairs;               // of TMAP_DRMSD_PAIR
    tmap_pairs_frames_plan pairs_frames; // of TMAP_DRMSD_FRAMES and TMAP_DRMSD_CLOSE
    tmapi_matrix_plan matrix;            // of the others
} tmap_drmsd_plan;

// Begins the plan of a form from `first` to `last`, with bounds always set: -1 < d < 10^30. Returns
// TMAP_EINVAL for another form, and for a bound that is negative or NaN.
TMAP_FN int tmapi_drmsd_plan_begin(tmap_drmsd_shape shape, int first, int last,
                                   tmap_drmsd_plan *p) {
    const tmap_drmsd_atoms all = {0, 0, 0, 0, 0, 0};
    tmap_drmsd_atoms *which = &p->which;
    p->workspace = 0, p->frames = shape.frames, p->n = shape.n, p->form = shape.form;
    *which = shape.which ? *shape.which : all;
    if (p->form < first || p->form > last || !(which->lower >= 0 && which->upper >= 0))
        return TMAP_EINVAL;
    if (which->upper == 0) which->lower = -1, which->upper = 1e30f;
    return TMAP_OK;
}

// Bytes of the workspace's first part: of a pair the points, before a sum and the fold's; of frames
// the sums, before the displacements of close ones.
TMAP_FN tmap_u64 tmapi_drmsd_first(const tmap_drmsd_plan *p) {
    const tmap_u64 bytes = p->form == TMAP_DRMSD_PAIR
                               ? (tmap_u64)p->pairs.n * p->pairs.d * sizeof(float)
                               : tmap_pairs_frames_bytes(&p->pairs_frames);
    return (bytes + 15) / 16 * 16;
}
// Sets the bytes of the workspace of a pair or of frames.
TMAP_FN void tmapi_drmsd_arrange(tmap_drmsd_plan *p) {
    p->workspace = tmapi_drmsd_first(p);
    if (p->form == TMAP_DRMSD_PAIR)
        p->workspace += 32 + tmap_pairs_fold_bytes(&p->pairs, sizeof(tmap_drmsd_sum));
    if (p->form == TMAP_DRMSD_CLOSE) p->workspace += 12 * (p->frames + 1) * p->pairs_frames.n;
}

// Makes the plan of a pair or of frames from facts of the kernel, which is not set. Returns
// TMAP_EINVAL for what the plan makers refuse, TMAP_ERANGE if no block of the kernel fits.
TMAP_FN int tmap_drmsd_plan_of(tmap_drmsd_shape shape, const tmap_facts *facts,
                               tmap_drmsd_plan *out) {
    const int pair = shape.form == TMAP_DRMSD_PAIR, close = shape.form == TMAP_DRMSD_CLOSE;
    tmap_drmsd_plan p;
    tmap_u32 count, weighted;
    int code;
    if (!out || tmapi_drmsd_plan_begin(shape, TMAP_DRMSD_PAIR, TMAP_DRMSD_CLOSE, &p) ||
        (pair && p.frames != 1) || (close && p.which.boxes))
        return TMAP_EINVAL;
    count = tmap_drmsd_atoms_count(&p.which, p.n);
    weighted = p.which.weights || p.which.lower >= 0 || p.which.boxes;
    if (pair) // floats of an atom: its positions in both frames, and its weight
        code = tmap_pairs_plan_of(count, 6 + weighted, sizeof(float), facts, &p.pairs);
    else // floats of a pair: its distance in the reference, and its weight; or a difference, too
        code = tmap_pairs_frames_plan_of(count, p.frames, close ? 4 : 1 + weighted,
                                         sizeof(tmapi_drmsd_frames_sum), facts, &p.pairs_frames);
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
    return weights != 0 ? tmapi_drmsd_root_whole((float)(terms / weights)) : 0.0f;
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
    p.pairs.kernel = p.pairs_frames.kernel = kernel;
    error = tmapi_launch_shared(kernel,
                                p.form == TMAP_DRMSD_PAIR ? p.pairs.shared : p.pairs_frames.room);
    if (!error) *out = p;
    return error;
}

static __global__ void tmapi_drmsd_finite(const tmap_u32 *floats, tmap_u64 count, tmap_u64 *first) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < count; i += stride)
        if ((floats[i] & 0x7f800000u) == 0x7f800000u) atomicMin(first, i / 3);
}

// Finds the first atom with a NaN or infinite coordinate. Writes f * n + i for atom i of frame f to
// *first, or 2^64 - 1 if there is none. xyz, of shape (frames, n, 3), and first are device memory.
// Returns cudaErrorInvalidValue for a null pointer, else the error of the memset or the launch. Can
// be captured. Cost: the frames are read once.
// Example: two frames of 100 atoms, z of atom 7 of the second one NaN: 107.
static inline cudaError_t tmap_drmsd_finite(const float *xyz, tmap_u32 n, tmap_u64 frames,
                                            tmap_u64 *first, cudaStream_t stream) {
    tmap_u64 floats = tmap_mul_saturate(tmap_mul_saturate(frames, n), 3);
    const tmapi_launch_shape shape = {floats < 8192 * 1024 ? floats / 1024 + 1 : 8192, 256, 0};
    void *arguments[3] = {(void *)&xyz, &floats, &first};
    cudaError_t error;
    if (!xyz || !first) return cudaErrorInvalidValue;
    error = cudaMemsetAsync(first, 0xff, sizeof *first, stream);
    return error ? error : tmapi_launch((const void *)tmapi_drmsd_finite, shape, arguments, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
