// SPDX-License-Identifier: MIT
// drmsd_frames.h: the dRMSD of many frames from one reference (engine: triangle/pairs_frames.h).
//
// drmsd.h has the equation and the calls. A lane adds the terms of up to 128 pairs as floats, and
// these sums in double precision. A frame equal to the reference gives exactly 0.
//
// Plans of TMAP_DRMSD_CLOSE are for frames close to the reference. With u_i the displacement of
// atom i from the reference A to the frame B, r = A_i - A_j and v = u_i - u_j, the difference of
// distances is |r + v| - |r| = v (2 r + v) / (|r + v| + |r|), in which nothing cancels.
#ifndef TMAP_MOLECULES_DRMSD_FRAMES_H
#define TMAP_MOLECULES_DRMSD_FRAMES_H

#include "drmsd.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- terms and sums -----------------------------------------------------------------------------

typedef struct tmapi_drmsd_frames_job {
    const float *reference, *frames, *box; // box: of the reference
    tmap_drmsd_atoms which;
    tmap_u32 n;
    double pairs; // number of pairs, or 0 if weights are summed
    void *workspace;
    float *out;
    tmap_u32 own; // floats of a pair; the threads set it and the next member
    int boxed;
} tmapi_drmsd_frames_job;

TMAP_DEVICE void tmapi_drmsd_frames_join(void *, void *sum, const void *other) {
    tmapi_drmsd_frames_sum *s = (tmapi_drmsd_frames_sum *)sum;
    const tmapi_drmsd_frames_sum *o = (const tmapi_drmsd_frames_sum *)other;
    s->all += (double)s->some + ((double)o->some + o->all);
    s->some = 0;
}
TMAP_DEVICE void tmapi_drmsd_frames_finish(void *job, tmap_u64 frame, const void *sum,
                                           const void *pairs) {
    const tmapi_drmsd_frames_job *j = (const tmapi_drmsd_frames_job *)job;
    const tmapi_drmsd_frames_sum *s = (const tmapi_drmsd_frames_sum *)sum;
    const tmapi_drmsd_frames_sum *p = (const tmapi_drmsd_frames_sum *)pairs;
    j->out[frame] = tmapi_drmsd_mean(s->all + s->some, j->pairs + (p->all + p->some));
}
TMAP_DEVICE void tmapi_drmsd_frames_box_of(void *job, tmap_u64 frame, float *own) {
    const tmapi_drmsd_frames_job *j = (const tmapi_drmsd_frames_job *)job;
    *(tmapi_drmsd_box *)own = tmapi_drmsd_box_of(j->which.boxes, frame);
}

// A pair's own data: its distance in the reference, or r for close frames; and its weight.
TMAP_DEVICE void tmapi_drmsd_frames_pair(void *job, void *sum, tmap_pair pair, const float *a,
                                         const float *b, float *own) {
    const tmapi_drmsd_frames_job *j = (const tmapi_drmsd_frames_job *)job;
    const tmapi_drmsd_xyz r = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    const tmapi_drmsd_box box = tmapi_drmsd_box_of(j->boxed ? j->box : 0, 0);
    const float distance = tmapi_drmsd_length(r.x, r.y, r.z, box, j->boxed);
    float weight = 1;
    own[0] = distance;
    if (j->own == 1) return;
    if (j->which.weights) weight = j->which.weights[pair.i] * j->which.weights[pair.j];
    if (distance <= j->which.lower || distance >= j->which.upper) weight = 0; // NaN counts
    if (j->own == 4) own[0] = r.x, own[1] = r.y, own[2] = r.z;
    own[j->own - 1] = weight;
    ((tmapi_drmsd_frames_sum *)sum)->some += weight;
}

// The difference of distances of close frames. a, b: displacements of two atoms. The addend, next
// to the smallest float, gives 0 if both distances are 0.
TMAP_DEVICE float tmapi_drmsd_frames_near(const float *a, const float *b, const float *own) {
    float before = 2e-38f, after = 0, product = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const float v = a[k] - b[k], to = own[k] + v;
        before = fmaf(own[k], own[k], before), after = fmaf(to, to, after);
        product = fmaf(v, to + own[k], product);
    }
    return product * tmapi_reciprocal(tmapi_sqrt(before) + tmapi_sqrt(after));
}
TMAP_DEVICE void tmapi_drmsd_frames_add(void *job, void *sum, tmap_pair, const float *a,
                                        const float *b, const float *own, const float *box) {
    const tmapi_drmsd_frames_job *j = (const tmapi_drmsd_frames_job *)job;
    tmapi_drmsd_frames_sum *s = (tmapi_drmsd_frames_sum *)sum;
    const tmapi_drmsd_box none = {};
    const tmapi_drmsd_box lengths = j->boxed ? *(const tmapi_drmsd_box *)box : none;
    const float t = j->own == 4 ? tmapi_drmsd_frames_near(a, b, own)
                                : tmapi_drmsd_distance(a, b, lengths, j->boxed) - own[0];
    s->some = fmaf(j->own > 1 ? own[j->own - 1] * t : t, t, s->some);
}

// ---- kernels ------------------------------------------------------------------------------------

// own: floats of a pair; boxed; both constants. For close frames (4 floats) the frames of the job
// are displacements, one frame after the other, the reference first.
TMAP_DEVICE void tmapi_drmsd_frames_run(const tmap_pairs_frames_plan *plan, tmap_u32 own, int boxed,
                                        tmapi_drmsd_frames_job *j) {
    const tmap_pairs_frames_frame box_of = boxed ? tmapi_drmsd_frames_box_of : 0;
    const tmap_pairs_frames_calls calls = {
        own,    tmapi_drmsd_frames_pair, own > 1,
        box_of, tmapi_drmsd_frames_add,  tmapi_drmsd_frames_finish};
    const tmapi_drmsd_frames_sum zero = {0, 0, 0};
    const tmap_fold sum = {&zero, sizeof zero, tmapi_drmsd_frames_join};
    tmap_pairs_frames_points points = {j->reference, j->frames, j->n, j->which.atoms};
    if (own == 4) {
        points.reference = j->frames, points.frames = j->frames + 3ull * plan->n;
        points.points = plan->n, points.numbers = 0;
    }
    j->own = own, j->boxed = boxed;
    tmap_pairs_frames(plan, points, calls, sum, j->workspace, j);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_frames_plain(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    tmapi_drmsd_frames_run(&plan, 1, 0, &j);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_frames_weighted(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    tmapi_drmsd_frames_run(&plan, 2, 0, &j);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_frames_boxed(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    tmapi_drmsd_frames_run(&plan, 2, 1, &j);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_close_kernel(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    tmapi_drmsd_frames_run(&plan, 4, 0, &j);
}

// Writes the reference's atoms that count, then displacements. Grid: floats by x, frames by y.
static __global__ void tmapi_drmsd_close_ways(tmapi_drmsd_frames_job j, tmap_u64 frames,
                                              tmap_u32 atoms, float *ways) {
    const tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= 3 * atoms) return;
    const tmap_u64 from = 3ull * (j.which.atoms ? j.which.atoms[x / 3] : x / 3) + x % 3;
    const float here = j.reference[from];
    if (blockIdx.y == 0) ways[x] = here;
    TMAPI_NO_UNROLL
    for (tmap_u64 f = blockIdx.y; f < frames; f += gridDim.y)
        ways[(f + 1) * 3 * atoms + x] = j.frames[f * 3 * j.n + from] - here;
}

// ---- host functions -----------------------------------------------------------------------------

// Makes the plan for a reference and frames on the current device. Range: n: up to 2^32 - 1; up to
// 2^24 may count. frames: up to 2^31. Boxes are those of the frames, not the reference, and not of
// close frames. The workspace has 0 bytes if a block takes all pairs of its frames, else some
// megabytes; for close frames 12 more for each atom that counts, in frames and reference.
// Exactness:
//   TMAP_DRMSD_FRAMES: that of drmsd.h. With boxes, coordinates may differ by up to a million box
//     lengths.
//   TMAP_DRMSD_CLOSE: a relative error below 10^-6, plus up to 2^-22 of the longest displacement
//     |B_i - A_i| of an atom (2^-25 from 20 atoms on). So superpose frames first.
// Range: distances from 2 * 10^-19, below which they are 0, to 10^19; differences of them from
// 10^-18 to 10^17. Of close frames: distances from 10^-12 to 10^19, and 0; differences from 10^-12.
// Cost of a launch, for each pair and frame: 9.6 instructions; 11 with weights or bounds, 20 with
// boxes, 27 of close frames (2 to 4.5 times the time). For one or two frames use drmsd_pair.h.
static inline cudaError_t tmap_drmsd_frames_plan_make(tmap_drmsd_shape shape,
                                                      tmap_drmsd_plan *out) {
    const void *close = (const void *)tmapi_drmsd_close_kernel;
    if (shape.form == TMAP_DRMSD_CLOSE)
        return tmapi_drmsd_plan_make(shape, close, close, close, out);
    if (shape.form != TMAP_DRMSD_FRAMES) return cudaErrorInvalidValue;
    return tmapi_drmsd_plan_make(shape, (const void *)tmapi_drmsd_frames_plain,
                                 (const void *)tmapi_drmsd_frames_weighted,
                                 (const void *)tmapi_drmsd_frames_boxed, out);
}

// Writes the dRMSD of each frame from the reference to out, a float a frame.
// Example: a reference of 3 atoms with distances 3, 4, 5, a frame with 3, 4, 6: sqrt(1 / 3).
static inline cudaError_t tmap_drmsd_frames(const tmap_drmsd_plan *plan, tmap_drmsd_in in,
                                            void *workspace, float *out, cudaStream_t stream) {
    const tmap_pairs_frames_plan *pairs;
    tmapi_drmsd_frames_job j;
    tmap_u64 frames;
    tmap_u32 atoms;
    float *ways;
    void *arguments[4] = {&j, &frames, &atoms, &ways};
    cudaError_t error = cudaSuccess;
    if (!plan || (plan->form != TMAP_DRMSD_FRAMES && plan->form != TMAP_DRMSD_CLOSE))
        return cudaErrorInvalidValue;
    pairs = &plan->pairs_frames, frames = pairs->frames, atoms = pairs->n;
    if (!frames) return cudaSuccess;
    if (!tmapi_drmsd_ready(plan, atoms, in, workspace, out)) return cudaErrorInvalidValue;
    memset(&j, 0, sizeof j);
    j.reference = in.reference, j.frames = in.frames, j.box = in.box, j.which = plan->which;
    j.n = plan->n, j.workspace = workspace, j.out = out;
    j.pairs = pairs->own > 1 ? 0 : (double)tmap_condensed_cells(atoms);
    if (plan->form == TMAP_DRMSD_CLOSE) {
        const dim3 grid((3 * atoms + 255) / 256, frames < 65535 ? (unsigned)frames : 65535);
        ways = (float *)((unsigned char *)workspace + tmapi_drmsd_first(plan));
        if (atoms)
            error = cudaLaunchKernel((const void *)tmapi_drmsd_close_ways, grid, dim3(256),
                                     arguments, 0, stream);
        j.frames = ways;
    }
    if (!error && pairs->splits > 1)
        error = cudaMemsetAsync(workspace, 0, (size_t)tmap_pairs_frames_clear(pairs), stream);
    return error ? error : tmap_pairs_frames_launch(pairs, &j, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
