// SPDX-License-Identifier: MIT
// drmsd_frames_terms.h: what drmsd_frames.h and drmsd_close.h have pairs_frames.h do with a pair of
// atoms, and with the sums of a frame.
#ifndef TMAP_TRIANGLE_DRMSD_FRAMES_TERMS_H
#define TMAP_TRIANGLE_DRMSD_FRAMES_TERMS_H

#include "drmsd_atoms.h"
#include "pairs_frames.h"

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
#endif
