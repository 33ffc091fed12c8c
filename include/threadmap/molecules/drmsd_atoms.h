// SPDX-License-Identifier: MIT
// drmsd_atoms.h: what all forms of dRMSD share: which atoms and pairs count, and for how much, and
// the distance of two atoms of a frame.
//
// dRMSD(A, B) = sqrt(sum_{i<j} w_ij (d_ij^A - d_ij^B)^2 / sum_{i<j} w_ij), d_ij^X the distance of
// atoms i and j in frame X; without weights all w_ij are 1, and the sum below is n(n-1)/2.
// Source: Filipovic, Plhak, Strelak, HPCS 2015, and the lecture slides about it.
//
// Frames are floats of shape (frames, n, 3): coordinate c of atom i of frame f is at
// frames[(f * n + i) * 3 + c]. Distances are in the unit of the coordinates.
#ifndef TMAP_MOLECULES_DRMSD_ATOMS_H
#define TMAP_MOLECULES_DRMSD_ATOMS_H

#include "../core.h"
#include "../triangle/condensed.h"

// ---- drmsd atoms --------------------------------------------------------------------------------

// Which atoms and pairs count. Pointers are to device memory; a struct of zeros takes all of them.
// atoms, atom_count: numbers below n of the atoms that count, in any order; 0: all n. They are the
//     atoms 0, 1, ... of everything else here.
// weights: one w_i for each atom that counts, w_ij = w_i w_j, finite and not negative; 0: all 1.
// boxes: the lengths of each frame's orthorhombic box, shape (frames, 3); distances are those of
//     the nearest images. A length of 0: not periodic that way. 0: no boxes.
// lower, upper: only pairs count for which lower < d < upper in the reference, which is the first
//     frame of a pair; upper 0: all pairs.
typedef struct tmap_drmsd_atoms {
    const tmap_u32 *atoms;
    const float *weights;
    const float *boxes;
    tmap_u32 atom_count;
    float lower, upper;
} tmap_drmsd_atoms;

// The atoms that count, of n.
TMAP_FN tmap_u32 tmap_drmsd_atoms_count(const tmap_drmsd_atoms *which, tmap_u32 n) {
    return which && which->atoms ? which->atom_count : n;
}

#if TMAP_CUDA

// A place or a difference.
typedef struct tmapi_drmsd_xyz {
    float x, y, z;
} tmapi_drmsd_xyz;

// Atom k of those that count, in a frame of n atoms.
TMAP_DEVICE tmapi_drmsd_xyz tmapi_drmsd_atom(const float *frames, tmap_u32 n,
                                             const tmap_drmsd_atoms *which, tmap_u64 frame,
                                             tmap_u32 k) {
    const tmap_u32 atom = which->atoms ? which->atoms[k] : k;
    const float *at = frames + (frame * n + atom) * 3;
    const tmapi_drmsd_xyz p = {at[0], at[1], at[2]};
    return p;
}

// The lengths of a frame's box; 0 where there is none.
TMAP_DEVICE tmapi_drmsd_xyz tmapi_drmsd_box(const tmap_drmsd_atoms *which, tmap_u64 frame) {
    const float *box = which->boxes + frame * 3;
    tmapi_drmsd_xyz lengths = {0, 0, 0};
    if (which->boxes) lengths.x = box[0], lengths.y = box[1], lengths.z = box[2];
    return lengths;
}

// 1 / length, or 0 without a box.
TMAP_DEVICE tmapi_drmsd_xyz tmapi_drmsd_over(tmapi_drmsd_xyz box) {
    tmapi_drmsd_xyz over = {0, 0, 0};
    if (box.x > 0) over.x = 1.0f / box.x;
    if (box.y > 0) over.y = 1.0f / box.y;
    if (box.z > 0) over.z = 1.0f / box.z;
    return over;
}

// The difference along an axis to the nearest image. over: 1 / length, or 0 without a box. To add
// and subtract 1.5 * 2^23 rounds numbers below 2^22, four times as fast as rintf.
TMAP_DEVICE float tmapi_drmsd_image(float difference, float length, float over) {
    const float large = 12582912.0f;
    return fmaf(-length, fmaf(difference, over, large) - large, difference);
}

// The GPU's root, off by a place at most, 0 of 0; of numbers below the normal ones it is 0, too.
TMAP_DEVICE float tmapi_drmsd_root(float square) {
#if defined(__CUDA_ARCH__)
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
#else
    return sqrtf(square);
#endif
}

// The dRMSD of sums of terms and of weights: 0 where no pair counts; NaN of terms that are not a
// number or infinite, as a coordinate that is either makes them.
TMAP_DEVICE float tmapi_drmsd_mean(double terms, double weights) {
    return weights != 0 ? (float)(sqrt(terms / weights) + (terms - terms)) : 0.0f;
}

#endif // TMAP_CUDA

// ---- drmsd finite -------------------------------------------------------------------------------
//
// Whether all coordinates of frames are numbers, and if not, where the first one is
// that is none.

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

static __global__ void tmapi_drmsd_finite(const tmap_u32 *floats, tmap_u64 count, tmap_u64 *first) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < count; i += stride)
        if ((floats[i] & 0x7f800000u) == 0x7f800000u) atomicMin(first, i / 3);
}

// Writes to *first which atom is the first one that has a coordinate that is not a number or
// infinite: number f * n + i for atom i of frame f; or 2^64 - 1 where there is none. frames: device
// memory of shape (count, n, 3). first: device memory.
// Returns cudaErrorInvalidValue for a null pointer, or what a copy or launch returns. Can be
// captured.
// Cost: frames are read once, at the speed of the memory.
// Example: two frames of 100 atoms, z of atom 7 of the second one not a number: 107.
static inline cudaError_t tmap_drmsd_finite(const float *frames, tmap_u64 count, tmap_u32 n,
                                            tmap_u64 *first, cudaStream_t stream) {
    tmap_u64 floats = tmap_mul_saturate(tmap_mul_saturate(count, n), 3), blocks = floats / 1024 + 1;
    void *arguments[3] = {(void *)&frames, &floats, &first};
    cudaError_t error;
    if (!frames || !first) return cudaErrorInvalidValue;
    error = cudaMemsetAsync(first, 0xff, sizeof *first, stream);
    if (error) return error;
    return cudaLaunchKernel((const void *)tmapi_drmsd_finite,
                            dim3(blocks < 8192 ? (tmap_u32)blocks : 8192), dim3(256), arguments, 0,
                            stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

#endif
