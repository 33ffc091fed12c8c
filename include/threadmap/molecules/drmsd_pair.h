// SPDX-License-Identifier: MIT
// drmsd_pair.h: the dRMSD of two frames with many atoms, with the engine of triangle/pairs.h.
//
//     const tmap_drmsd_shape shape = {n, 1, TMAP_DRMSD_PAIR, 0, 0};
//     const tmap_drmsd_in in = {b, a, 0}; // frames b and a, the reference
//
// drmsd.h has the equation and the calls. Threads add floats, whose sums are joined as doubles.
#ifndef TMAP_MOLECULES_DRMSD_PAIR_H
#define TMAP_MOLECULES_DRMSD_PAIR_H

#include "drmsd.h"

#if TMAP_CUDA

// A tmap_pairs_visit that adds the term of a pair, (d_ij^A - d_ij^B)^2, to a tmap_drmsd_sum. A
// point is an atom's x, y, z in frame A, then in frame B. Cost: 15 instructions, two of them roots.
TMAP_DEVICE void tmap_drmsd_visit(void *, void *sum, tmap_pair, const void *u, const void *v) {
    const float *a = (const float *)u, *b = (const float *)v;
    const tmapi_drmsd_box none = {};
    const float first = tmapi_drmsd_distance(a, b, none, 0);
    const float d = first - tmapi_drmsd_distance(a + 3, b + 3, none, 0);
    ((tmap_drmsd_sum *)sum)->terms += d * d;
}

// A tmap_fold_join that adds a tmap_drmsd_sum to another, in double precision.
TMAP_DEVICE void tmap_drmsd_join(void *, void *sum, const void *other) {
    tmap_drmsd_sum *s = (tmap_drmsd_sum *)sum;
    const tmap_drmsd_sum *o = (const tmap_drmsd_sum *)other;
    s->all_terms += (double)s->terms + ((double)o->terms + o->all_terms);
    s->all_weights += (double)s->weights + ((double)o->weights + o->all_weights);
    s->terms = s->weights = 0;
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

typedef struct tmapi_drmsd_pair_job {
    const float *a, *b;
    tmap_drmsd_atoms which;
    tmap_u32 d;   // floats of a point
    double pairs; // number of pairs, or 0 if weights are summed
    float *points, *out;
    tmap_fold_to to;
    tmapi_drmsd_box box[2]; // the threads set it and `boxed`
    int boxed;
} tmapi_drmsd_pair_job;

// Copies the atoms that count: both frames of each, and its weight if a point has one.
static __global__ void tmapi_drmsd_pair_gather(tmap_u32 count, tmapi_drmsd_pair_job j) {
    const tmap_u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < 2) ((tmap_u64 *)j.to.workspace)[k] = 0; // counters of the fold that follows
    if (k >= count) return;
    for (int frame = 0; frame < 2; ++frame) {
        const tmap_u32 atom = j.which.atoms ? j.which.atoms[k] : k;
        const float *from = (frame ? j.b : j.a) + (tmap_u64)atom * 3;
        float *to = j.points + (tmap_u64)k * j.d + 3 * frame;
        to[0] = from[0], to[1] = from[1], to[2] = from[2];
    }
    if (j.d > 6) j.points[(tmap_u64)k * j.d + 6] = j.which.weights ? j.which.weights[k] : 1.0f;
}

// Adds the term and weight of a pair within the bounds. NaN counts.
TMAP_DEVICE void tmapi_drmsd_pair_visit(void *job, void *sum, tmap_pair, const void *u,
                                        const void *v) {
    const tmapi_drmsd_pair_job *j = (const tmapi_drmsd_pair_job *)job;
    const float *a = (const float *)u, *b = (const float *)v;
    const float first = tmapi_drmsd_distance(a, b, j->box[0], j->boxed);
    const float d = first - tmapi_drmsd_distance(a + 3, b + 3, j->box[1], j->boxed);
    const int out = first <= j->which.lower || first >= j->which.upper;
    const float weight = out ? 0.0f : a[6] * b[6];
    tmap_drmsd_sum *s = (tmap_drmsd_sum *)sum;
    s->terms = fmaf(weight, d * d, s->terms), s->weights += weight;
}

// d, boxed: constants.
TMAP_DEVICE void tmapi_drmsd_pair_run(const tmap_pairs_plan *plan, tmapi_drmsd_pair_job *j,
                                      tmap_u32 d, int boxed) {
    const tmap_points points = {j->points, 0, sizeof(float), d};
    const tmap_drmsd_sum zero = {0, 0, 0, 0};
    const tmap_fold sum = {&zero, sizeof zero, tmap_drmsd_join};
    j->boxed = boxed;
    for (int f = 0; boxed && f < 2; ++f)
        j->box[f] = tmapi_drmsd_box_of(j->which.boxes, (tmap_u64)f);
    tmap_pairs_fold(plan, points, d == 6 ? tmap_drmsd_visit : tmapi_drmsd_pair_visit, sum, j->to,
                    j);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 1)
    tmapi_drmsd_pair_plain(tmap_pairs_plan plan, tmapi_drmsd_pair_job j) {
    tmapi_drmsd_pair_run(&plan, &j, 6, 0);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    tmapi_drmsd_pair_weighted(tmap_pairs_plan plan, tmapi_drmsd_pair_job j) {
    tmapi_drmsd_pair_run(&plan, &j, 7, 0);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
    tmapi_drmsd_pair_boxed(tmap_pairs_plan plan, tmapi_drmsd_pair_job j) {
    tmapi_drmsd_pair_run(&plan, &j, 7, 1);
}

static __global__ void tmapi_drmsd_pair_root(tmapi_drmsd_pair_job j) {
    const tmap_drmsd_sum *sum = (const tmap_drmsd_sum *)j.to.result;
    const double weights = j.pairs > 0 ? j.pairs : sum->all_weights + sum->weights;
    *j.out = tmapi_drmsd_mean(sum->all_terms + sum->terms, weights);
}

// ---- host functions -----------------------------------------------------------------------------

// Makes the plan for two frames on the current device. Range: n: any if `which` selects atoms; up
// to 2^32 - 513 may count. Boxes have shape (2, 3), the reference's first.
// Example: n = 131072: 3670336 bytes.
static inline cudaError_t tmap_drmsd_pair_plan_make(tmap_drmsd_shape shape, tmap_drmsd_plan *out) {
    if (shape.form != TMAP_DRMSD_PAIR) return cudaErrorInvalidValue;
    return tmapi_drmsd_plan_make(shape, (const void *)tmapi_drmsd_pair_plain,
                                 (const void *)tmapi_drmsd_pair_weighted,
                                 (const void *)tmapi_drmsd_pair_boxed, out);
}

// Writes the dRMSD of a frame and a reference to *out.
// Exactness: the same on any device. With thousands of atoms the relative error is below 10^-6 down
// to differences of 10^-4 of the distances.
// Range: distances from 2 * 10^-19, below which they are 0, to 10^19; differences of them from
// 10^-18 to 10^17.
// Cost: n(n-1)/2 pairs, 1.5 * 10^12 of them a second on an H200; three launches.
// Example: two frames of 3 atoms, distances 3, 4, 5 and 3, 4, 6: sqrt(1 / 3).
static inline cudaError_t tmap_drmsd_pair(const tmap_drmsd_plan *plan, tmap_drmsd_in in,
                                          void *workspace, float *out, cudaStream_t stream) {
    tmapi_launch_shape gather = {1, 128, 0}, one = {1, 1, 0};
    tmapi_drmsd_pair_job j;
    tmap_u32 count;
    void *arguments[2] = {&count, &j};
    cudaError_t error;
    if (!plan || plan->form != TMAP_DRMSD_PAIR) return cudaErrorInvalidValue;
    if (!in.frames || !in.reference || !workspace || !out) return cudaErrorInvalidValue;
    memset(&j, 0, sizeof j);
    count = plan->pairs.n;
    j.a = in.reference, j.b = in.frames, j.which = plan->which, j.d = plan->pairs.d, j.out = out;
    j.pairs = j.d > 6 ? 0 : (double)tmap_pairs_plan_pairs(&plan->pairs);
    j.points = (float *)workspace;
    j.to.result = (unsigned char *)workspace + tmapi_drmsd_first(plan);
    j.to.workspace = (unsigned char *)j.to.result + 32;
    gather.grid += count / 128;
    error = tmapi_launch((const void *)tmapi_drmsd_pair_gather, gather, arguments, stream);
    if (!error) error = tmap_pairs_launch(&plan->pairs, &j, stream);
    if (error) return error;
    return tmapi_launch((const void *)tmapi_drmsd_pair_root, one, arguments + 1, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
