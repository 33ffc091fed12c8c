// SPDX-License-Identifier: MIT
// drmsd_frames.h: the dRMSD of each of many frames from one reference frame, an instance of
// pairs_frames.h.
//
//     tmap_drmsd_frames_plan plan;
//     cudaError_t error = tmap_drmsd_frames_plan_make(n, frame_count, 0, &plan);
//     ... cudaMalloc(&workspace, tmap_drmsd_frames_bytes(&plan)); // of 0 bytes: none is needed
//     if (!error)
//         error = tmap_drmsd_frames(&plan, reference, 0, frames, workspace, out, stream);
//
// drmsd_atoms.h has the equation. Distances are floats, as coordinates are; a lane adds up the
// terms of up to 128 pairs as floats, and these sums in double precision. A frame's distances and
// the reference's are made by the same instructions, so that a frame equal to it is at exactly 0.
#ifndef TMAP_TRIANGLE_DRMSD_FRAMES_H
#define TMAP_TRIANGLE_DRMSD_FRAMES_H

#include "drmsd_frames_terms.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

TMAP_DEVICE void tmapi_drmsd_frames_run(const tmap_pairs_frames_plan *plan,
                                        tmapi_drmsd_frames_job *j, tmap_u32 own,
                                        const tmap_pairs_frames_calls *calls) {
    const tmap_pairs_frames_points points = {j->reference, j->frames, j->n, j->which.atoms};
    const tmapi_drmsd_frames_sum zero = {0, 0, 0};
    tmap_pairs_frames(plan, &points, own, calls, &zero, sizeof zero, j, j->parts);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_frames_plain(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    const tmap_pairs_frames_calls calls = {
        tmapi_drmsd_frames_pair,  0, 0, tmapi_drmsd_frames_add, tmapi_drmsd_frames_join,
        tmapi_drmsd_frames_finish};
    tmapi_drmsd_frames_run(&plan, &j, 1, &calls);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_frames_weighted(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    const tmap_pairs_frames_calls calls = {tmapi_drmsd_frames_weighted_pair,
                                           1,
                                           0,
                                           tmapi_drmsd_frames_weighted_add,
                                           tmapi_drmsd_frames_join,
                                           tmapi_drmsd_frames_weighted_finish};
    tmapi_drmsd_frames_run(&plan, &j, 2, &calls);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_frames_boxed(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    const tmap_pairs_frames_calls calls = {
        tmapi_drmsd_frames_boxed_pair, 1,
        tmapi_drmsd_frames_box_of,     tmapi_drmsd_frames_boxed_add,
        tmapi_drmsd_frames_join,       tmapi_drmsd_frames_weighted_finish};
    tmapi_drmsd_frames_run(&plan, &j, 2, &calls);
}

// ---- the host's side ----------------------------------------------------------------------------

// The plan for a reference and `frames` frames of n atoms each. which: the atoms and pairs that
// count (drmsd_atoms.h), with boxes of shape (frames, 3), the reference's own not among them; 0:
// all. The struct is copied, what its pointers point to is read by the launches. n: up to 2^32 - 1,
// of which up to 2^24 count. frames: up to 2^31. Made once, a plan serves any number of launches on
// the device that was the current one.
// Returns cudaErrorInvalidValue for a null pointer, a number outside these ranges, or bounds that
// are negative or not numbers; else an error of CUDA's. *out is written only on success.
static inline cudaError_t tmap_drmsd_frames_plan_make(tmap_u32 n, tmap_u64 frames,
                                                      const tmap_drmsd_atoms *which,
                                                      tmap_drmsd_frames_plan *out) {
    const void *kernel = (const void *)tmapi_drmsd_frames_plain;
    tmap_u32 own = 1;
    if (which && (which->weights || which->upper != 0 || which->boxes)) own = 2;
    if (own == 2) kernel = (const void *)tmapi_drmsd_frames_weighted;
    if (which && which->boxes) kernel = (const void *)tmapi_drmsd_frames_boxed;
    return tmapi_drmsd_frames_plan_of(n, frames, which, own, kernel, out);
}

// Bytes of device memory that a launch works in: 0 where a block has all pairs of its frames, as
// for n = 200 and 4096 frames on an H200; else some megabytes.
static inline tmap_u64 tmap_drmsd_frames_bytes(const tmap_drmsd_frames_plan *plan) {
    return tmap_pairs_frames_bytes(&plan->pairs);
}

// Writes the dRMSD of each frame from the reference to out, an array of as many floats.
// reference: device memory of shape (n, 3). box: the three lengths of the reference's box, in
// device memory; 0: it has none; not looked at where frames have no boxes. frames: shape
// (frames, n, 3). workspace: tmap_drmsd_frames_bytes bytes of device memory at a multiple of 16;
// launches that run at the same time need workspaces of their own. 0 where no pair counts; NaN
// where a coordinate of an atom that counts is not a number or infinite.
// Returns cudaErrorInvalidValue for a null pointer where something is to be read or written, or
// what a launch returns. Can be captured.
// Exactness: results are the same in every run of a plan. Terms are off by what coordinates'
// differences and a root in floats are: distances of some 100 by 10^-5, so that a dRMSD is off by
// less than one part in 10^6 down to differences of 10^-3 of the distances, and by two for 200
// atoms in 40 Angstrom that differ by 0.014: drmsd_close.h is for those. With boxes, a difference
// may be up to a million lengths of the box.
// Range: distances from 2 * 10^-19, below which they are 0, to 10^19; differences of them from
// 10^-18 to 10^17.
// Cost: for each pair and frame 9.6 instructions, one of them a root, 11 with weights or bounds, 20
// with boxes; one launch, and a memset where there is a workspace. A warp has 32, 16 or 8 frames:
// for one or two frames drmsd_pair.h is quicker.
// Example: a reference of 3 atoms with distances 3, 4, 5, a frame with 3, 4, 6: sqrt(1 / 3).
static inline cudaError_t tmap_drmsd_frames(const tmap_drmsd_frames_plan *plan,
                                            const float *reference, const float *box,
                                            const float *frames, void *workspace, float *out,
                                            cudaStream_t stream) {
    tmapi_drmsd_frames_job j;
    if (!plan) return cudaErrorInvalidValue;
    if (!plan->pairs.frames) return cudaSuccess;
    if (!out || (plan->pairs.n && (!reference || !frames))) return cudaErrorInvalidValue;
    if ((tmap_drmsd_frames_bytes(plan) && !workspace) || (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    memset(&j, 0, sizeof j);
    j.reference = reference, j.frames = frames, j.box = box, j.which = plan->which, j.n = plan->n;
    j.pairs = (double)tmap_condensed_cells(plan->pairs.n), j.parts = workspace, j.out = out;
    if (plan->pairs.splits > 1) {
        cudaError_t error =
            cudaMemsetAsync(workspace, 0, (size_t)tmap_pairs_frames_clear(&plan->pairs), stream);
        if (error) return error;
    }
    return tmap_pairs_frames_launch(&plan->pairs, &j, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
