// SPDX-License-Identifier: MIT
// drmsd_atoms.h: what all forms of dRMSD share: which atoms and pairs count, with which weight, and
// the distance of two atoms of a frame.
//
// dRMSD(A, B) = sqrt(sum_{i<j} w_ij (d_ij^A - d_ij^B)^2 / sum_{i<j} w_ij), with d_ij^X the distance
// of atoms i and j in frame X; without weights all w_ij are 1, and the denominator is n(n-1)/2.
// Source: Filipovic, Plhak, Strelak, HPCS 2015, and the lecture slides about it.
//
// Frames are floats of shape (frames, n, 3): coordinate c of atom i of frame f is at frames[(f * n
// + i) * 3 + c]. A NaN or infinite coordinate makes a result NaN if its atom counts; a result is 0
// if no pair counts.
#ifndef TMAP_MOLECULES_DRMSD_ATOMS_H
#define TMAP_MOLECULES_DRMSD_ATOMS_H

#include "../launch.h"
#include "../triangle/condensed.h"

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

// Copies `which`, or all atoms for a null pointer, with bounds always set: -1 < d < 10^30. Returns
// TMAP_EINVAL for a bound that is negative or NaN.
TMAP_FN int tmapi_drmsd_atoms_of(const tmap_drmsd_atoms *which, tmap_drmsd_atoms *out) {
    const tmap_drmsd_atoms all = {0, 0, 0, 0, 0, 0};
    *out = which ? *which : all;
    if (!(out->lower >= 0 && out->upper >= 0)) return TMAP_EINVAL;
    if (out->upper == 0) out->lower = -1, out->upper = 1e30f;
    return TMAP_OK;
}

#if TMAP_CUDA

// ---- distances ----------------------------------------------------------------------------------

typedef struct tmapi_drmsd_xyz {
    float x, y, z;
} tmapi_drmsd_xyz;

// 1 / x, off by at most one unit in the last place.
TMAP_DEVICE float tmapi_drmsd_over(float x) {
#if defined(__CUDA_ARCH__)
    float over;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(over) : "f"(x));
    return over;
#else
    return 1.0f / x;
#endif
}

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
        const float over = tmapi_drmsd_over(length);
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

// The GPU's root, off by at most one unit in the last place; 0 for 0 and for subnormal numbers.
TMAP_DEVICE float tmapi_drmsd_root(float square) {
#if defined(__CUDA_ARCH__)
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
#else
    return sqrtf(square);
#endif
}

// The length of a difference, or of its nearest image with boxed = 1, a constant.
TMAP_DEVICE float tmapi_drmsd_length(float x, float y, float z, tmapi_drmsd_box box, int boxed) {
    if (boxed) {
        x = tmapi_drmsd_image(x, box.length[0], box.over[0]);
        y = tmapi_drmsd_image(y, box.length[1], box.over[1]);
        z = tmapi_drmsd_image(z, box.length[2], box.over[2]);
    }
    return tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x)));
}

// The distance of two positions of three floats each.
TMAP_DEVICE float tmapi_drmsd_distance(const float *a, const float *b) {
    const tmapi_drmsd_box none = {{0, 0, 0}, {0, 0, 0}};
    return tmapi_drmsd_length(a[0] - b[0], a[1] - b[1], a[2] - b[2], none, 0);
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
    tmapi_launch_shape shape = {floats / 1024 + 1, 256, 0};
    void *arguments[3] = {(void *)&xyz, &floats, &first};
    cudaError_t error;
    if (!xyz || !first) return cudaErrorInvalidValue;
    if (shape.grid > 8192) shape.grid = 8192;
    error = cudaMemsetAsync(first, 0xff, sizeof *first, stream);
    return error ? error : tmapi_launch((const void *)tmapi_drmsd_finite, shape, arguments, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#endif
