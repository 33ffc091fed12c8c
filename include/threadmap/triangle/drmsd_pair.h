// SPDX-License-Identifier: MIT
// drmsd_pair.h: the dRMSD of two frames with many atoms, an instance of pairs_fold.h.
//
//     tmap_drmsd_pair_plan plan;
//     cudaError_t error = tmap_drmsd_pair_plan_make(n, 0, &plan);
//     ... cudaMalloc(&workspace, tmap_drmsd_pair_bytes(&plan));
//     if (!error) error = tmap_drmsd_pair(&plan, a, b, workspace, out, stream);
//
// Distances are floats, as coordinates are; a thread adds up the terms of some thousand pairs as
// floats, and what threads have in double precision.
#ifndef TMAP_TRIANGLE_DRMSD_PAIR_H
#define TMAP_TRIANGLE_DRMSD_PAIR_H

#include "drmsd_atoms.h"
#include "pairs_fold.h"

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
#endif
