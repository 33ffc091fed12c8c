// SPDX-License-Identifier: MIT
// drmsd_check.h: what tests of dRMSD share: frames, options of every kind, and the definition in
// double precision.
#ifndef TESTS_TRIANGLE_DRMSD_CHECK_H
#define TESTS_TRIANGLE_DRMSD_CHECK_H

#include "kit.h"

#include <threadmap/molecules/drmsd.h>

#include <math.h>

// A check of a number.
static inline void drmsd_expect(int ok, const char *what, tmap_u32 n, int options, double got,
                                double want) {
    if (!ok) kit_case("n = %u, options %d: %.9g instead of %.9g", n, options, got, want);
    expect(ok, what);
}

static inline double drmsd_random(tmap_u64 a, tmap_u64 b) { // in [-1, 1)
    return (double)(check_hash(a, b) >> 11) / 4503599627370496.0 - 1;
}

// ---- frames -------------------------------------------------------------------------------------

typedef struct drmsd_frames {
    tmap_u32 n, frames;
    float *xyz;
} drmsd_frames;

// Frames of atoms in a ball as dense as proteins are, or of a helix, each moved by up to `scale` in
// each direction from where it is in frame 0.
static inline drmsd_frames drmsd_frames_make(tmap_u32 n, tmap_u32 frames, float scale, int helix) {
    drmsd_frames f = {n, frames, 0};
    const double radius = 1.4 * cbrt((double)n);
    f.xyz = (float *)kit_host((tmap_u64)n * frames * 12);
    for (tmap_u32 i = 0; i < n; ++i) {
        double c[3] = {2.3 * cos(i * 1.7), 2.3 * sin(i * 1.7), 1.5 * i};
        for (tmap_u64 k = 0; !helix; ++k) {
            for (int x = 0; x < 3; ++x) c[x] = radius * drmsd_random(i * 3ull + x, k);
            if (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] <= radius * radius) break;
        }
        for (tmap_u32 g = 0; g < frames; ++g)
            for (int x = 0; x < 3; ++x)
                f.xyz[((tmap_u64)g * n + i) * 3 + x] =
                    (float)(c[x] + (g ? scale * drmsd_random(i * 3ull + x, 1000 + g) : 0));
    }
    return f;
}

// ---- options ------------------------------------------------------------------------------------

// What is chosen: bits of a number below DRMSD_OPTIONS.
enum { DRMSD_CHOSEN = 1, DRMSD_WEIGHTS = 2, DRMSD_BOXES = 4, DRMSD_BOUNDS = 8, DRMSD_OPTIONS = 16 };

typedef struct drmsd_options {
    tmap_u32 *atoms, count;
    float *weights, *boxes; // boxes: one of each frame
    tmap_drmsd_atoms device;
} drmsd_options;

// Copies boxes that have been changed to the device.
static inline void drmsd_options_copy(drmsd_options *o, const drmsd_frames *, tmap_u32 boxes) {
    CHECK(cudaMemcpy((void *)o->device.boxes, o->boxes, boxes * 12ull, cudaMemcpyHostToDevice));
}

// boxes: of this number of frames.
static inline drmsd_options drmsd_options_make(const drmsd_frames *f, int options, tmap_u32 boxes) {
    drmsd_options o;
    memset(&o, 0, sizeof o);
    o.count = f->n;
    if (options & DRMSD_CHOSEN) { // two of three atoms, from the last one on
        o.atoms = (tmap_u32 *)kit_host(f->n * 4ull), o.count = 0;
        for (tmap_u32 i = f->n; i-- > 0;)
            if (i % 3) o.atoms[o.count++] = i;
        o.device.atoms = (const tmap_u32 *)kit_to_device(o.atoms, o.count * 4ull);
        o.device.atom_count = o.count;
    }
    if (options & DRMSD_WEIGHTS) {
        o.weights = (float *)kit_host(o.count * 4ull);
        for (tmap_u32 i = 0; i < o.count; ++i) o.weights[i] = (float)(1 + i % 4) * (i % 5 != 2);
        o.device.weights = (const float *)kit_to_device(o.weights, o.count * 4ull);
    }
    if (options & DRMSD_BOXES) { // not periodic along z
        o.boxes = (float *)kit_host(boxes * 12ull);
        for (tmap_u32 i = 0; i < boxes * 3; ++i)
            o.boxes[i] =
                i % 3 == 2 ? 0 : (float)(5 + 1.5 * cbrt((double)f->n) + 0.25 * (i / 3 % 2));
        o.device.boxes = (const float *)kit_to_device(o.boxes, boxes * 12ull);
    }
    if (options & DRMSD_BOUNDS) o.device.lower = 1.5f, o.device.upper = 9.5f;
    return o;
}

// ---- the definition -----------------------------------------------------------------------------

// The distance of atoms i and j of those that count.
static inline double drmsd_distance(const drmsd_frames *f, const drmsd_options *o, tmap_u32 frame,
                                    tmap_u32 i, tmap_u32 j) {
    const tmap_u32 u = o->atoms ? o->atoms[i] : i, v = o->atoms ? o->atoms[j] : j;
    double sum = 0;
    for (int x = 0; x < 3; ++x) {
        double d = (double)f->xyz[((tmap_u64)frame * f->n + u) * 3 + x] -
                   (double)f->xyz[((tmap_u64)frame * f->n + v) * 3 + x];
        const double box = o->boxes ? o->boxes[frame * 3 + x] : 0;
        if (box > 0) d -= box * rint(d / box);
        sum += d * d;
    }
    return sqrt(sum);
}

// The dRMSD of frames a and b, of whose pairs those count that are within bounds in `reference`.
static inline double drmsd_of(const drmsd_frames *f, const drmsd_options *o, tmap_u32 a, tmap_u32 b,
                              tmap_u32 reference) {
    double sum = 0, weights = 0;
    for (tmap_u32 i = 0; i < o->count; ++i)
        for (tmap_u32 j = i + 1; j < o->count; ++j) {
            const double d = drmsd_distance(f, o, a, i, j) - drmsd_distance(f, o, b, i, j);
            const double w = o->weights ? (double)o->weights[i] * o->weights[j] : 1;
            if (o->device.upper != 0) {
                const double r = drmsd_distance(f, o, reference, i, j);
                if (!(r > o->device.lower && r < o->device.upper)) continue;
            }
            sum += w * d * d, weights += w;
        }
    return weights > 0 ? sqrt(sum / weights) : 0;
}

// What a result may be off by: one part in a million, and what distances that are floats are, each
// by itself (which the number of pairs makes less of) and squared.
static inline double drmsd_tolerance(const drmsd_frames *f, const drmsd_options *o, double want) {
    double reach = 0, pairs = 0.5 * o->count * (o->count - 1.0);
    for (tmap_u32 i = 1; i < o->count; ++i) {
        const double d = drmsd_distance(f, o, 0, 0, i);
        reach = d > reach ? d : reach;
    }
    if (o->device.upper != 0) pairs = pairs > 1600 ? pairs / 16 : 1;
    reach *= 2.4e-7;
    return want > 0 ? 1e-6 * want + 3 * reach / sqrt(pairs + 1) + reach * reach / want : 0;
}

#endif
