// SPDX-License-Identifier: MIT
// drmsd_check.h: what tests of dRMSD share: frames with what counts of them, on the host and on the
// device, and the definition in double precision.
#ifndef TESTS_MOLECULES_DRMSD_CHECK_H
#define TESTS_MOLECULES_DRMSD_CHECK_H

#include "kit.h"

#include <threadmap/molecules/drmsd.h>

#include <math.h>

// What is chosen: bits of a number below DRMSD_OPTIONS.
enum { ATOMS = 1, WEIGHTS = 2, BOXES = 4, BOUNDS = 8, OPTIONS = 16 };

// Frames of n atoms, of which `count` count. lower, upper: with BOUNDS. boxes: of each frame.
typedef struct drmsd_set {
    tmap_u32 n, frames, count, *atoms;
    int options;
    float *xyz, *weights, *boxes, lower, upper;
} drmsd_set;

static inline double drmsd_random(tmap_u64 a, tmap_u64 b) { // in [-1, 1)
    return (double)(check_hash(a, b) >> 11) / 4503599627370496.0 - 1;
}

// A set whose coordinates and boxes are still to be set. Without ATOMS all atoms count, else two of
// three from the last one on; some weights are 0.
static inline drmsd_set drmsd_set_make(tmap_u32 n, tmap_u32 frames, int options) {
    drmsd_set s = {n, frames, 0, (tmap_u32 *)kit_host(n * 4ull), options, 0, 0, 0, 0, 0};
    s.xyz = (float *)kit_host((tmap_u64)n * frames * 12 + 4);
    s.weights = (float *)kit_host(n * 4ull), s.boxes = (float *)kit_zeroed(frames * 12ull);
    for (tmap_u32 i = 0; i < n; ++i)
        if (!(options & ATOMS))
            s.atoms[s.count++] = i;
        else if ((n - 1 - i) % 3 != 1)
            s.atoms[s.count++] = n - 1 - i;
    for (tmap_u32 i = 0; i < s.count; ++i) s.weights[i] = (float)((i + 1) % 5) * 3.7f;
    return s;
}

// The atoms that count, for the library. Frames begin at number `first` of the set.
static inline tmap_drmsd_atoms drmsd_device(const drmsd_set *s, tmap_u32 first) {
    const tmap_u64 count = s->count * 4ull;
    const float *boxes = s->boxes + 3ull * first;
    tmap_drmsd_atoms which = {0, 0, 0, s->count, s->lower, s->upper};
    if (s->options & ATOMS) which.atoms = (const tmap_u32 *)kit_to_device(s->atoms, count);
    if (s->options & WEIGHTS) which.weights = (const float *)kit_to_device(s->weights, count);
    if (s->options & BOXES)
        which.boxes = (const float *)kit_to_device(boxes, (s->frames - first) * 12ull);
    return which;
}

// ---- the definition -----------------------------------------------------------------------------

// The distance of atoms i and j of those that count.
static inline double drmsd_distance(const drmsd_set *s, tmap_u32 frame, tmap_u32 i, tmap_u32 j) {
    const float *xyz = s->xyz + (tmap_u64)frame * s->n * 3, *box = s->boxes + 3ull * frame;
    double sum = 0;
    for (int x = 0; x < 3; ++x) {
        double d = (double)xyz[s->atoms[i] * 3 + x] - (double)xyz[s->atoms[j] * 3 + x];
        if (s->options & BOXES && box[x] > 0) d -= (double)box[x] * rint(d / (double)box[x]);
        sum += d * d;
    }
    return sqrt(sum);
}

// The weight of a pair: 0 if it does not count by its distance in `reference`.
static inline double drmsd_weight(const drmsd_set *s, tmap_u32 reference, tmap_u32 i, tmap_u32 j) {
    if (s->upper != 0) {
        const double d = drmsd_distance(s, reference, i, j);
        if (!(d > (double)s->lower && d < (double)s->upper)) return 0;
    }
    return s->options & WEIGHTS ? (double)s->weights[i] * (double)s->weights[j] : 1;
}

// Moves bounds until no distance in the reference is near them.
static inline void drmsd_move_bounds(drmsd_set *s, tmap_u32 reference) {
    for (int again = s->upper != 0; again--;)
        for (tmap_u32 i = 0; i < s->count; ++i)
            for (tmap_u32 j = i + 1; j < s->count; ++j) {
                const double d = drmsd_distance(s, reference, i, j);
                if (d > 0 && fabs(d - (double)s->lower) < 1e-4) s->lower += 3e-4f, again = 1;
                if (fabs(d - (double)s->upper) < 1e-4) s->upper += 3e-4f, again = 1;
            }
}

// The dRMSD of two frames; of the first one it is whether a pair is within bounds. *pairs: how many
// pairs of equal weight are as many as those that count.
static inline double drmsd_of(const drmsd_set *s, tmap_u32 a, tmap_u32 b, double *pairs) {
    double sum = 0, weights = 0, squares = 0;
    for (tmap_u32 i = 0; i < s->count; ++i)
        for (tmap_u32 j = i + 1; j < s->count; ++j) {
            const double w = drmsd_weight(s, a, i, j);
            const double d = drmsd_distance(s, a, i, j) - drmsd_distance(s, b, i, j);
            if (w != 0) sum += w * d * d, weights += w, squares += w * w;
        }
    *pairs = weights > 0 ? weights * weights / squares : 1;
    return weights > 0 ? sqrt(sum / weights) : 0;
}

// What the relative error of a result with float distances is below: drmsd.h.
static inline double drmsd_exactness(const drmsd_set *s, double want) {
    double sum = 0;
    for (tmap_u32 i = 0; i < s->count; ++i)
        for (tmap_u32 j = i + 1; j < s->count; ++j) sum += drmsd_distance(s, 0, i, j);
    return 3e-7 + 1e-6 * sum / (s->count * (s->count - 1.0) / 2) / (s->count * want);
}

// ---- what all forms share -----------------------------------------------------------------------

// What makes results NaN in all forms: a coordinate that is no number, of atom 9, which counts, in
// a frame or in the reference, even if all pairs of the atom have no weight or are out of bounds, or
// if no pair is within them.
enum { DRMSD_PLAIN, DRMSD_NO_WEIGHT, DRMSD_FAR, DRMSD_NO_PAIR, DRMSD_NO_NUMBERS };

// Bits of the options of a set.
static inline int drmsd_no_number_options(int kind) {
    return kind == DRMSD_PLAIN ? 0 : kind == DRMSD_NO_WEIGHT ? WEIGHTS : BOUNDS;
}
// Excludes pairs of atom 9, and gives it a coordinate that is no number in one frame.
static inline void drmsd_no_number(drmsd_set *s, int kind, tmap_u32 frame, float no_number) {
    for (tmap_u32 f = 0; f < s->frames && kind == DRMSD_FAR; ++f) s->xyz[(f * s->n + 9) * 3] += 500;
    if (kind == DRMSD_NO_WEIGHT) s->weights[9] = 0;
    if (kind == DRMSD_NO_PAIR) s->lower = 2000, s->upper = 3000;
    s->xyz[(frame * s->n + 9) * 3 + 1] = no_number;
}

// Atoms that a plan maker refuses: more than there are, of none, at odd addresses.
static inline void drmsd_refuse_atoms(int form, const void *memory,
                                      cudaError_t (*make)(tmap_drmsd_shape, tmap_drmsd_plan *)) {
    const tmap_u64 frames = form == TMAP_DRMSD_PAIR ? 1 : 3;
    const void *const askew = (const char *)memory + 2;
    tmap_drmsd_plan plan;
    for (int k = 0; k < 6; ++k) {
        tmap_drmsd_atoms which = {(const tmap_u32 *)memory, 0, 0, 9, 0, 0};
        const tmap_drmsd_shape shape = {k == 1 ? 0u : k == 2 ? 8u : 9u, frames, form, &which, 0};
        if (k == 3) which.atoms = (const tmap_u32 *)askew;
        if (k == 4) which.weights = (const float *)askew;
        if (k == 5) which.boxes = (const float *)askew;
        kit_case("atoms that are refused: form %d, %d", form, k);
        RETURNS(make(shape, &plan), k ? cudaErrorInvalidValue : cudaSuccess);
    }
}

#endif
