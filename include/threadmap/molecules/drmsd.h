// SPDX-License-Identifier: MIT
// drmsd.h: the dRMSD of two frames, and of one frame against many.
#ifndef TMAP_MOLECULES_DRMSD_H
#define TMAP_MOLECULES_DRMSD_H

#include "../triangle/pairs.h"
#include "../triangle/pairs_frames.h"
#include "drmsd_atoms.h"

// ---- drmsd pair ---------------------------------------------------------------------------------
//
// The dRMSD of two frames with many atoms, an instance of triangle/pairs.h.
//
//     tmap_drmsd_pair_plan plan;
//     cudaError_t error = tmap_drmsd_pair_plan_make(n, 0, &plan);
//     ... cudaMalloc(&workspace, tmap_drmsd_pair_bytes(&plan));
//     if (!error) error = tmap_drmsd_pair(&plan, a, b, workspace, out, stream);
//
// Distances are floats, as coordinates are; a thread adds up the terms of some thousand pairs as
// floats, and what threads have in double precision.

#if TMAP_CUDA

// What is added up: terms and weights of a tile, and of those before it.
typedef struct tmap_drmsd_sum {
    float terms, weights;
    double all_terms, all_weights;
} tmap_drmsd_sum;

// The term of a pair of atoms, (d_ij^A - d_ij^B)^2. a, b: atoms i and j, each x, y, z in frame A
// and x, y, z in frame B. It is 0 where both frames are the same.
// Cost: 15 instructions, two of them roots.
TMAP_DEVICE float tmap_drmsd_term(const float *a, const float *b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    const float p = a[3] - b[3], q = a[4] - b[4], r = a[5] - b[5];
    const float d = tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x))) -
                    tmapi_drmsd_root(fmaf(r, r, fmaf(q, q, p * p)));
    return d * d;
}

// A tmap_pairs_visit that adds the term of a pair to a tmap_drmsd_sum. A point is 6 floats.
TMAP_DEVICE void tmap_drmsd_visit(void *, void *sum, tmap_pair, const void *a, const void *b) {
    ((tmap_drmsd_sum *)sum)->terms += tmap_drmsd_term((const float *)a, (const float *)b);
}

// The tmap_fold_join of these.
TMAP_DEVICE void tmap_drmsd_join(void *, void *sum, const void *other) {
    tmap_drmsd_sum *s = (tmap_drmsd_sum *)sum;
    const tmap_drmsd_sum *o = (const tmap_drmsd_sum *)other;
    s->all_terms += (double)s->terms + ((double)o->terms + o->all_terms);
    s->all_weights += (double)s->weights + ((double)o->weights + o->all_weights);
    s->terms = s->weights = 0;
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// A launch: how many atoms, and which pairs of them.
typedef struct tmap_drmsd_pair_plan {
    tmap_pairs_plan pairs;
    tmap_drmsd_atoms which;
    tmap_u32 n;
} tmap_drmsd_pair_plan;

typedef struct tmapi_drmsd_pair_job {
    const float *a, *b;
    tmap_drmsd_atoms which;
    tmap_u32 n, d;
    double pairs; // all of them, or 0 where weights are added up
    float *points;
    tmap_drmsd_sum *sum;
    void *parts;
    float *out;
    float lower, upper;              // -1 and infinity: all pairs
    tmapi_drmsd_xyz box[2], over[2]; // set by the threads
} tmapi_drmsd_pair_job;

// ---- kernels ------------------------------------------------------------------------------------

// The atoms that count, both frames of each side by side and its weight, if there is room for one.
static __global__ void tmapi_drmsd_pair_gather(tmap_u32 count, tmapi_drmsd_pair_job j) {
    const tmap_u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < 2) ((tmap_u64 *)j.parts)[k] = 0; // counters of the fold that follows
    if (k >= count) return;
    for (int frame = 0; frame < 2; ++frame) {
        const tmapi_drmsd_xyz at = tmapi_drmsd_atom(frame ? j.b : j.a, j.n, &j.which, 0, k);
        float *to = j.points + (tmap_u64)k * j.d + 3 * frame;
        to[0] = at.x, to[1] = at.y, to[2] = at.z;
    }
    if (j.d > 6) j.points[(tmap_u64)k * j.d + 6] = j.which.weights ? j.which.weights[k] : 1.0f;
}

static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 1)
    tmapi_drmsd_pair_plain(tmap_pairs_plan plan, tmapi_drmsd_pair_job j) {
    __shared__ tmap_drmsd_sum scratch[TMAP_PAIRS_THREADS / 32];
    const tmap_drmsd_sum zero = {0, 0, 0, 0};
    tmap_drmsd_sum sum;
    tmap_pairs_fold(&plan, j.points, 0, sizeof(float), 6, tmap_drmsd_visit, &sum, &zero, sizeof sum,
                    tmap_drmsd_join, 0, scratch, j.parts, j.sum);
}

// The distance of a pair in frame f, to the nearest image where `boxed` is 1, a constant.
TMAP_DEVICE float tmapi_drmsd_pair_distance(const tmapi_drmsd_pair_job *j, int f, const float *a,
                                            const float *b, int boxed) {
    float x = a[3 * f] - b[3 * f], y = a[3 * f + 1] - b[3 * f + 1], z = a[3 * f + 2] - b[3 * f + 2];
    if (boxed) {
        x = tmapi_drmsd_image(x, j->box[f].x, j->over[f].x);
        y = tmapi_drmsd_image(y, j->box[f].y, j->over[f].y);
        z = tmapi_drmsd_image(z, j->box[f].z, j->over[f].z);
    }
    return tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x)));
}
// The term of a pair and its weight, which is 0 outside of the bounds; a NaN is not hidden by them.
TMAP_DEVICE void tmapi_drmsd_pair_add(const tmapi_drmsd_pair_job *j, tmap_drmsd_sum *sum,
                                      const float *a, const float *b, int boxed) {
    const float first = tmapi_drmsd_pair_distance(j, 0, a, b, boxed);
    const float d = first - tmapi_drmsd_pair_distance(j, 1, a, b, boxed);
    const float weight = first <= j->lower || first >= j->upper ? 0.0f : a[6] * b[6];
    sum->terms = fmaf(weight, d * d, sum->terms), sum->weights += weight;
}
TMAP_DEVICE void tmapi_drmsd_pair_visit(void *job, void *sum, tmap_pair, const void *a,
                                        const void *b) {
    tmapi_drmsd_pair_add((const tmapi_drmsd_pair_job *)job, (tmap_drmsd_sum *)sum, (const float *)a,
                         (const float *)b, 0);
}
TMAP_DEVICE void tmapi_drmsd_pair_visit_boxed(void *job, void *sum, tmap_pair, const void *a,
                                              const void *b) {
    tmapi_drmsd_pair_add((const tmapi_drmsd_pair_job *)job, (tmap_drmsd_sum *)sum, (const float *)a,
                         (const float *)b, 1);
}

static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    tmapi_drmsd_pair_weighted(tmap_pairs_plan plan, tmapi_drmsd_pair_job j) {
    __shared__ tmap_drmsd_sum scratch[TMAP_PAIRS_THREADS / 32];
    const tmap_drmsd_sum zero = {0, 0, 0, 0};
    tmap_drmsd_sum sum;
    tmap_pairs_fold(&plan, j.points, 0, sizeof(float), 7, tmapi_drmsd_pair_visit, &sum, &zero,
                    sizeof sum, tmap_drmsd_join, &j, scratch, j.parts, j.sum);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    tmapi_drmsd_pair_boxed(tmap_pairs_plan plan, tmapi_drmsd_pair_job j) {
    __shared__ tmap_drmsd_sum scratch[TMAP_PAIRS_THREADS / 32];
    const tmap_drmsd_sum zero = {0, 0, 0, 0};
    tmap_drmsd_sum sum;
    for (int f = 0; f < 2; ++f) {
        j.box[f] = tmapi_drmsd_box(&j.which, (tmap_u64)f);
        j.over[f] = tmapi_drmsd_over(j.box[f]);
    }
    tmap_pairs_fold(&plan, j.points, 0, sizeof(float), 7, tmapi_drmsd_pair_visit_boxed, &sum, &zero,
                    sizeof sum, tmap_drmsd_join, &j, scratch, j.parts, j.sum);
}

static __global__ void tmapi_drmsd_pair_root(tmapi_drmsd_pair_job j) {
    const double terms = j.sum->all_terms + j.sum->terms;
    const double weights = j.pairs > 0 ? j.pairs : j.sum->all_weights + j.sum->weights;
    *j.out = tmapi_drmsd_mean(terms, weights);
}

// ---- the host's side ----------------------------------------------------------------------------

// The plan for frames of n atoms each. which: the atoms and pairs that count (drmsd_atoms.h), with
// boxes of shape (2, 3); 0: all. The struct is copied, what its pointers point to is read by the
// launches. n: up to 2^32 - 513. Made once, a plan serves any number of launches on the device that
// was the current one.
// Returns cudaErrorInvalidValue for a null pointer, a number outside these ranges, more atoms that
// count than that, or bounds that are negative or not numbers; else an error of CUDA's. *out is
// written only on success.
static inline cudaError_t tmap_drmsd_pair_plan_make(tmap_u32 n, const tmap_drmsd_atoms *which,
                                                    tmap_drmsd_pair_plan *out) {
    tmap_drmsd_pair_plan p;
    const void *kernel = (const void *)tmapi_drmsd_pair_plain;
    cudaError_t error;
    if (!out) return cudaErrorInvalidValue;
    memset(&p, 0, sizeof p);
    if (which) p.which = *which;
    if (!(p.which.lower >= 0) || !(p.which.upper >= 0)) return cudaErrorInvalidValue;
    p.n = n;
    if (p.which.weights || p.which.upper != 0) kernel = (const void *)tmapi_drmsd_pair_weighted;
    if (p.which.boxes) kernel = (const void *)tmapi_drmsd_pair_boxed;
    error = tmap_pairs_plan_make(tmap_drmsd_atoms_count(which, n),
                                 kernel == (const void *)tmapi_drmsd_pair_plain ? 6 : 7,
                                 sizeof(float), kernel, &p.pairs);
    if (!error) *out = p;
    return error;
}

// Bytes before the workspace's fold: the points, and a sum.
static inline tmap_u64 tmapi_drmsd_pair_points(const tmap_drmsd_pair_plan *plan) {
    return ((tmap_u64)plan->pairs.n * plan->pairs.d * sizeof(float) + 15) / 16 * 16;
}

// Bytes of device memory that a launch works in. Example: n = 131072: 3670336.
static inline tmap_u64 tmap_drmsd_pair_bytes(const tmap_drmsd_pair_plan *plan) {
    return tmapi_drmsd_pair_points(plan) + 32 +
           tmap_pairs_fold_bytes(&plan->pairs, sizeof(tmap_drmsd_sum));
}

// Writes the dRMSD of frames a and b to *out, a float. a, b: device memory of shape (n, 3).
// workspace: tmap_drmsd_pair_bytes bytes of device memory at a multiple of 16; launches that run at
// the same time need workspaces of their own. 0 where no pair counts; NaN where a coordinate of an
// atom that counts is not a number or infinite.
// Returns cudaErrorInvalidValue for a null pointer, or what a launch returns. Can be captured.
// Exactness: the result is the same in each run, on any device. Terms are off by what coordinates'
// differences and a root in floats are: distances of some 100 by 10^-5, so that a dRMSD is off by
// less than one part in 10^6 down to differences of 10^-4 of the distances, if there are thousands
// of atoms, among which errors cancel.
// Range: distances from 2 * 10^-19, below which they are 0, to 10^19; differences of them from
// 10^-18 to 10^17.
// Cost: n(n-1)/2 pairs, 1.5 * 10^12 of them a second on an H200; three launches.
// Example: two frames of 3 atoms, distances 3, 4, 5 and 3, 4, 6: sqrt(1 / 3).
static inline cudaError_t tmap_drmsd_pair(const tmap_drmsd_pair_plan *plan, const float *a,
                                          const float *b, void *workspace, float *out,
                                          cudaStream_t stream) {
    tmapi_drmsd_pair_job j;
    tmap_u32 count;
    void *gather[2] = {&count, &j}, *root[1] = {&j};
    cudaError_t error;
    if (!plan || !a || !b || !workspace || !out) return cudaErrorInvalidValue;
    memset(&j, 0, sizeof j);
    count = plan->pairs.n;
    j.a = a, j.b = b, j.which = plan->which, j.n = plan->n, j.d = plan->pairs.d, j.out = out;
    j.lower = j.which.upper != 0 ? j.which.lower : -1.0f;
    j.upper = j.which.upper != 0 ? j.which.upper : INFINITY;
    j.pairs = j.d > 6 ? 0 : (double)tmap_pairs_plan_pairs(&plan->pairs);
    j.points = (float *)workspace;
    j.sum = (tmap_drmsd_sum *)((unsigned char *)workspace + tmapi_drmsd_pair_points(plan));
    j.parts = (unsigned char *)j.sum + 32;
    error = cudaLaunchKernel((const void *)tmapi_drmsd_pair_gather,
                             dim3(count / 128 + (count % 128 != 0) + (count == 0)), dim3(128),
                             gather, 0, stream);
    if (!error) error = tmap_pairs_launch(&plan->pairs, &j, stream);
    if (error) return error;
    return cudaLaunchKernel((const void *)tmapi_drmsd_pair_root, dim3(1), dim3(1), root, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC

// ---- drmsd frames terms -------------------------------------------------------------------------
//
// What drmsd.h and drmsd.h have triangle/pairs_frames.h do with a pair of
// atoms, and with the sums of a frame.

#if TMAP_CUDA

// What is added up: terms of some pairs, and of those before them; or, of the pairs, weights.
typedef struct tmapi_drmsd_frames_sum {
    double all;
    float some, none;
} tmapi_drmsd_frames_sum;

typedef struct tmapi_drmsd_frames_job {
    const float *reference, *frames, *box; // box: of the reference
    tmap_drmsd_atoms which;
    tmap_u32 n;
    double pairs; // what is divided by, where it is the number of pairs
    void *parts;
    float *out;
} tmapi_drmsd_frames_job;

TMAP_DEVICE void tmapi_drmsd_frames_add_to(void *sum, float t, float weighted) {
    tmapi_drmsd_frames_sum *s = (tmapi_drmsd_frames_sum *)sum;
    s->some = fmaf(weighted, t, s->some);
}
TMAP_DEVICE void tmapi_drmsd_frames_join(void *, void *sum, const void *other) {
    tmapi_drmsd_frames_sum *s = (tmapi_drmsd_frames_sum *)sum;
    const tmapi_drmsd_frames_sum *o = (const tmapi_drmsd_frames_sum *)other;
    s->all += (double)s->some + ((double)o->some + o->all);
    s->some = 0;
}
TMAP_DEVICE float tmapi_drmsd_frames_root(const void *sum, double weights) {
    const tmapi_drmsd_frames_sum *s = (const tmapi_drmsd_frames_sum *)sum;
    return tmapi_drmsd_mean(s->all + s->some, weights);
}

// ---- all pairs, for the same --------------------------------------------------------------------

TMAP_DEVICE float tmapi_drmsd_frames_distance(const float *a, const float *b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x)));
}
TMAP_DEVICE void tmapi_drmsd_frames_pair(void *, void *, tmap_pair, const float *a, const float *b,
                                         float *own) {
    own[0] = tmapi_drmsd_frames_distance(a, b);
}
TMAP_DEVICE void tmapi_drmsd_frames_add(void *, void *sum, tmap_pair, const float *a,
                                        const float *b, const float *own, const float *) {
    const float t = tmapi_drmsd_frames_distance(a, b) - own[0];
    tmapi_drmsd_frames_add_to(sum, t, t);
}
TMAP_DEVICE void tmapi_drmsd_frames_finish(void *job, tmap_u64 frame, const void *sum,
                                           const void *) {
    const tmapi_drmsd_frames_job *j = (const tmapi_drmsd_frames_job *)job;
    j->out[frame] = tmapi_drmsd_frames_root(sum, j->pairs);
}

// ---- weights and bounds -------------------------------------------------------------------------

// What a pair has of its own: its distance in the reference, and its weight.
TMAP_DEVICE void tmapi_drmsd_frames_weigh(const tmapi_drmsd_frames_job *j, void *sum,
                                          tmap_pair pair, float distance, float *own) {
    const tmap_drmsd_atoms *which = &j->which;
    const int counts = which->upper == 0 || (distance > which->lower && distance < which->upper);
    float weight = 1;
    if (which->weights) weight = which->weights[pair.i] * which->weights[pair.j];
    if (!counts && distance == distance) weight = 0; // what is not a number is not hidden
    own[0] = distance, own[1] = weight;
    ((tmapi_drmsd_frames_sum *)sum)->some += weight;
}
TMAP_DEVICE void tmapi_drmsd_frames_weighted_pair(void *job, void *sum, tmap_pair pair,
                                                  const float *a, const float *b, float *own) {
    tmapi_drmsd_frames_weigh((const tmapi_drmsd_frames_job *)job, sum, pair,
                             tmapi_drmsd_frames_distance(a, b), own);
}
TMAP_DEVICE void tmapi_drmsd_frames_weighted_add(void *, void *sum, tmap_pair, const float *a,
                                                 const float *b, const float *own, const float *) {
    const float t = tmapi_drmsd_frames_distance(a, b) - own[0];
    tmapi_drmsd_frames_add_to(sum, t, own[1] * t);
}
TMAP_DEVICE void tmapi_drmsd_frames_weighted_finish(void *job, tmap_u64 frame, const void *sum,
                                                    const void *pairs) {
    const tmapi_drmsd_frames_sum *weights = (const tmapi_drmsd_frames_sum *)pairs;
    ((const tmapi_drmsd_frames_job *)job)->out[frame] =
        tmapi_drmsd_frames_root(sum, weights->all + weights->some);
}

// ---- boxes --------------------------------------------------------------------------------------

// box: three lengths, and one over each of them.
TMAP_DEVICE float tmapi_drmsd_frames_boxed_distance(const float *a, const float *b,
                                                    const float *box) {
    const float x = tmapi_drmsd_image(a[0] - b[0], box[0], box[3]);
    const float y = tmapi_drmsd_image(a[1] - b[1], box[1], box[4]);
    const float z = tmapi_drmsd_image(a[2] - b[2], box[2], box[5]);
    return tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x)));
}
TMAP_DEVICE void tmapi_drmsd_frames_box(const float *lengths, float *box) {
    for (int k = 0; k < 3; ++k) {
        box[k] = lengths ? lengths[k] : 0.0f;
        box[3 + k] = box[k] > 0 ? 1.0f / box[k] : 0.0f;
    }
}
TMAP_DEVICE void tmapi_drmsd_frames_box_of(void *job, tmap_u64 frame, float *own) {
    tmapi_drmsd_frames_box(((const tmapi_drmsd_frames_job *)job)->which.boxes + frame * 3, own);
}
TMAP_DEVICE void tmapi_drmsd_frames_boxed_pair(void *job, void *sum, tmap_pair pair, const float *a,
                                               const float *b, float *own) {
    const tmapi_drmsd_frames_job *j = (const tmapi_drmsd_frames_job *)job;
    float box[6];
    tmapi_drmsd_frames_box(j->box, box);
    tmapi_drmsd_frames_weigh(j, sum, pair, tmapi_drmsd_frames_boxed_distance(a, b, box), own);
}
TMAP_DEVICE void tmapi_drmsd_frames_boxed_add(void *, void *sum, tmap_pair, const float *a,
                                              const float *b, const float *own, const float *box) {
    const float t = tmapi_drmsd_frames_boxed_distance(a, b, box) - own[0];
    tmapi_drmsd_frames_add_to(sum, t, own[1] * t);
}

#endif // TMAP_CUDA
#if TMAP_CUDA && !TMAP_NVRTC

// A launch: how many atoms and frames, and which pairs.
typedef struct tmap_drmsd_frames_plan {
    tmap_pairs_frames_plan pairs;
    tmap_drmsd_atoms which;
    tmap_u32 n;
} tmap_drmsd_frames_plan;

// The plan of a kernel that has `own` floats for each pair.
static inline cudaError_t tmapi_drmsd_frames_plan_of(tmap_u32 n, tmap_u64 frames,
                                                     const tmap_drmsd_atoms *which, tmap_u32 own,
                                                     const void *kernel,
                                                     tmap_drmsd_frames_plan *out) {
    tmap_drmsd_frames_plan p;
    cudaError_t error;
    if (!out) return cudaErrorInvalidValue;
    memset(&p, 0, sizeof p);
    if (which) p.which = *which;
    if (!(p.which.lower >= 0) || !(p.which.upper >= 0)) return cudaErrorInvalidValue;
    p.n = n;
    error = tmap_pairs_frames_plan_make(tmap_drmsd_atoms_count(which, n), frames, own,
                                        sizeof(tmapi_drmsd_frames_sum), kernel, &p.pairs);
    if (!error) *out = p;
    return error;
}

#endif // TMAP_CUDA && !TMAP_NVRTC

// ---- drmsd frames -------------------------------------------------------------------------------
//
// The dRMSD of each of many frames from one reference frame, an instance of
// triangle/pairs_frames.h.
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
// atoms in 40 Angstrom that differ by 0.014: drmsd.h is for those. With boxes, a difference
// may be up to a million lengths of the box.
// Range: distances from 2 * 10^-19, below which they are 0, to 10^19; differences of them from
// 10^-18 to 10^17.
// Cost: for each pair and frame 9.6 instructions, one of them a root, 11 with weights or bounds, 20
// with boxes; one launch, and a memset where there is a workspace. A warp has 32, 16 or 8 frames:
// for one or two frames drmsd.h is quicker.
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

// ---- drmsd close --------------------------------------------------------------------------------
//
// The dRMSD of each of many frames from one reference frame, where frames may be so
// close to it that the difference of two distances that are floats says little. An instance of
// triangle/pairs_frames.h, as drmsd.h is.
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
