// SPDX-License-Identifier: MIT
// drmsd_close.h: the dRMSD of each of many frames from one reference frame, where frames may be so
// close to it that the difference of two distances that are floats says little. An instance of
// pairs_frames.h, as drmsd_frames.h is.
//
//     tmap_drmsd_close_plan plan;
//     cudaError_t error = tmap_drmsd_close_plan_make(n, frame_count, 0, &plan);
//     ... cudaMalloc(&workspace, tmap_drmsd_close_bytes(&plan));
//     if (!error) error = tmap_drmsd_close(&plan, reference, frames, workspace, out, stream);
//
// drmsd_atoms.h has the equation. With u_i the way of atom i from the reference A to the frame B,
// r = A_i - A_j and v = u_i - u_j, the distances of the pair are |r| and |r + v|, and their
// difference is
//
//     |r + v| - |r| = v (2 r + v) / (|r + v| + |r|),
//
// in which nothing cancels: u is exact where the frames are close, and rounded as itself elsewhere.
// Frames of a simulation, which turn and move, are superposed on the reference first, by the
// caller.
#ifndef TMAP_TRIANGLE_DRMSD_CLOSE_H
#define TMAP_TRIANGLE_DRMSD_CLOSE_H

#include "drmsd_frames_terms.h"

#if TMAP_CUDA

// 1 / x, off by a place at most.
TMAP_DEVICE float tmapi_drmsd_close_over(float x) {
#if defined(__CUDA_ARCH__)
    float over;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(over) : "f"(x));
    return over;
#else
    return 1.0f / x;
#endif
}

// What a pair has of its own: r, and its weight.
TMAP_DEVICE void tmapi_drmsd_close_pair(void *job, void *sum, tmap_pair pair, const float *a,
                                        const float *b, float *own) {
    float weighed[2];
    tmapi_drmsd_frames_weigh((const tmapi_drmsd_frames_job *)job, sum, pair,
                             tmapi_drmsd_frames_distance(a, b), weighed);
#pragma unroll
    for (int k = 0; k < 3; ++k) own[k] = a[k] - b[k];
    own[3] = weighed[1];
}

// a, b: the ways of two atoms. The addend, next to the smallest float, leaves 0 where both
// distances are 0.
TMAP_DEVICE void tmapi_drmsd_close_add(void *, void *sum, tmap_pair, const float *a, const float *b,
                                       const float *own, const float *) {
    float before = 2e-38f, after = 0, product = 0, t;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const float v = a[k] - b[k], to = own[k] + v;
        before = fmaf(own[k], own[k], before), after = fmaf(to, to, after);
        product = fmaf(v, to + own[k], product);
    }
    t = product * tmapi_drmsd_close_over(tmapi_drmsd_root(before) + tmapi_drmsd_root(after));
    tmapi_drmsd_frames_add_to(sum, t, own[3] * t);
}

// Writes the reference's atoms that count, and behind them the ways to each frame's.
TMAP_DEVICE void tmapi_drmsd_close_ways(const tmapi_drmsd_frames_job *j, tmap_u64 frames,
                                        tmap_u32 atoms, float *ways) {
    TMAPI_NO_UNROLL
    for (tmap_u64 f = blockIdx.y; f <= frames; f += gridDim.y) {
        TMAPI_NO_UNROLL
        for (tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x; x < 3 * atoms;
             x += gridDim.x * blockDim.x) {
            const tmap_u32 atom = j->which.atoms ? j->which.atoms[x / 3] : x / 3;
            const tmap_u64 from = 3ull * atom + x % 3;
            const float here = j->reference[from];
            ways[f * 3 * atoms + x] = f ? j->frames[(f - 1) * 3 * j->n + from] - here : here;
        }
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

static __global__ void tmapi_drmsd_close_ways_kernel(tmapi_drmsd_frames_job j, tmap_u64 frames,
                                                     tmap_u32 atoms, float *ways) {
    tmapi_drmsd_close_ways(&j, frames, atoms, ways);
}
// The job's frames are ways, one behind the other, the first one the reference.
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_close_kernel(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    const tmap_pairs_frames_points points = {j.frames, j.frames + 3ull * plan.n, plan.n, 0};
    const tmap_pairs_frames_calls calls = {tmapi_drmsd_close_pair,
                                           1,
                                           0,
                                           tmapi_drmsd_close_add,
                                           tmapi_drmsd_frames_join,
                                           tmapi_drmsd_frames_weighted_finish};
    const tmapi_drmsd_frames_sum zero = {0, 0, 0};
    tmap_pairs_frames(&plan, &points, 4, &calls, &zero, sizeof zero, &j, j.parts);
}

// A plan is none of tmap_drmsd_frames, and the other way round.
typedef struct tmap_drmsd_close_plan {
    tmap_drmsd_frames_plan of;
} tmap_drmsd_close_plan;

// As tmap_drmsd_frames_plan_make, for frames without boxes: with boxes cudaErrorInvalidValue.
static inline cudaError_t tmap_drmsd_close_plan_make(tmap_u32 n, tmap_u64 frames,
                                                     const tmap_drmsd_atoms *which,
                                                     tmap_drmsd_close_plan *out) {
    if (!out || (which && which->boxes)) return cudaErrorInvalidValue;
    return tmapi_drmsd_frames_plan_of(n, frames, which, 4, (const void *)tmapi_drmsd_close_kernel,
                                      &out->of);
}

// Bytes in which launches work, before those of the ways.
static inline tmap_u64 tmapi_drmsd_close_sums(const tmap_drmsd_close_plan *plan) {
    return (tmap_pairs_frames_bytes(&plan->of.pairs) + 15) / 16 * 16;
}

// Bytes of device memory that a launch works in: 12 for each atom that counts of the frames and the
// reference, and some megabytes where few frames have many atoms.
static inline tmap_u64 tmap_drmsd_close_bytes(const tmap_drmsd_close_plan *plan) {
    return tmapi_drmsd_close_sums(plan) + 12 * (plan->of.pairs.frames + 1) * plan->of.pairs.n;
}

// Writes the dRMSD of each frame from the reference to out, an array of as many floats; parameters,
// errors and what it returns are those of tmap_drmsd_frames, with workspace of
// tmap_drmsd_close_bytes bytes. Can be captured.
// Exactness: off by less than one part in 10^6 of itself, and beside that by up to 2^-22 of the
// longest way |B_i - A_i| of an atom (2^-25 of it from 20 atoms on, as errors cancel). The latter
// is nothing where frames lie on the reference; it is what counts where frames are turned or moved,
// or parts of a molecule move far while what counts stays. So superpose frames first,
// which changes a dRMSD by no more than the rounding of coordinates. A frame equal to the reference
// is at exactly 0. Results are the same in every run of a plan.
// Range: distances from 10^-12 to 10^19, and 0; differences of them from 10^-12.
// Cost: for each pair and frame 27 instructions, three of them roots and a reciprocal, where
// tmap_drmsd_frames takes 9.6, and tables four times as large: 2 to 4.5 times the time. Before that
// a launch reads and writes the frames once.
// Example: 200 atoms of a protein whose frames lie on each other and differ by 0.0001 Angstrom:
// right to six digits, where tmap_drmsd_frames is right to three.
static inline cudaError_t tmap_drmsd_close(const tmap_drmsd_close_plan *plan,
                                           const float *reference, const float *frames,
                                           void *workspace, float *out, cudaStream_t stream) {
    tmapi_drmsd_frames_job j;
    tmap_u64 frame_count, wide;
    tmap_u32 atoms;
    float *ways;
    void *spread[4] = {(void *)&j, (void *)&frame_count, (void *)&atoms, (void *)&ways};
    cudaError_t error = cudaSuccess;
    if (!plan) return cudaErrorInvalidValue;
    frame_count = plan->of.pairs.frames, atoms = plan->of.pairs.n;
    if (!frame_count) return cudaSuccess;
    if (!out || (atoms && (!reference || !frames))) return cudaErrorInvalidValue;
    if ((tmap_drmsd_close_bytes(plan) && !workspace) || (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    memset(&j, 0, sizeof j);
    j.reference = reference, j.frames = frames, j.which = plan->of.which, j.n = plan->of.n;
    j.parts = workspace, j.out = out;
    ways = (float *)((unsigned char *)workspace + tmapi_drmsd_close_sums(plan));
    wide = (3ull * atoms + 255) / 256;
    if (wide)
        error = cudaLaunchKernel((const void *)tmapi_drmsd_close_ways_kernel,
                                 dim3(wide < 4096 ? (tmap_u32)wide : 4096,
                                      frame_count < 65535 ? (tmap_u32)frame_count + 1 : 65535),
                                 dim3(256), spread, 0, stream);
    if (!error && plan->of.pairs.splits > 1)
        error =
            cudaMemsetAsync(workspace, 0, (size_t)tmap_pairs_frames_clear(&plan->of.pairs), stream);
    if (error) return error;
    j.frames = ways;
    return tmap_pairs_frames_launch(&plan->of.pairs, &j, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
