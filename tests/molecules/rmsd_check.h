// SPDX-License-Identifier: MIT
// rmsd_check.h: the RMSD after superposition by its definition, in extended precision: a singular
// value decomposition of the sums of products gives the rotation (Kabsch 1976), and the rotated
// atoms the distance.
#ifndef TESTS_MOLECULES_RMSD_CHECK_H
#define TESTS_MOLECULES_RMSD_CHECK_H

#include "kit.h"

#include <math.h>

typedef long double rmsd_real;

// Atoms that count, relative to their centre. size: radius of gyration.
typedef struct rmsd_frame {
    rmsd_real *x, *w, size, weights;
    tmap_u32 count;
} rmsd_frame;

// atoms, weights: null: all, 1.
static inline rmsd_frame rmsd_centre(const float *frame, const tmap_u32 *atoms,
                                     const float *weights, tmap_u32 count) {
    rmsd_frame c = {(rmsd_real *)kit_host(count * 3 * sizeof(rmsd_real) + 1),
                    (rmsd_real *)kit_host(count * sizeof(rmsd_real) + 1), 0, 0, count};
    rmsd_real mean[3] = {0, 0, 0};
    for (tmap_u32 i = 0; i < count; ++i) {
        c.w[i] = weights ? (rmsd_real)weights[i] : 1, c.weights += c.w[i];
        for (int k = 0; k < 3; ++k)
            c.x[3 * i + k] = (rmsd_real)frame[(atoms ? atoms[i] : i) * 3ull + k],
                        mean[k] += c.w[i] * c.x[3 * i + k];
    }
    for (tmap_u32 i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k) {
            c.x[3 * i + k] -= mean[k] / c.weights;
            c.size += c.w[i] * c.x[3 * i + k] * c.x[3 * i + k];
        }
    c.size = c.weights > 0 ? sqrtl(c.size / c.weights) : 0;
    return c;
}

static inline rmsd_real rmsd_dot(const rmsd_real *a, const rmsd_real *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void rmsd_cross(const rmsd_real *a, const rmsd_real *b, rmsd_real *to) {
    for (int k = 0; k < 3; ++k)
        to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}
// Makes b orthogonal to a unit vector a and of length 1; if it is too short, anything that is.
static inline void rmsd_complete(const rmsd_real *a, rmsd_real *b, rmsd_real least) {
    rmsd_real length = sqrtl(rmsd_dot(b, b));
    for (int k = 0; k < 3 && !(length > least); ++k) {
        b[0] = b[1] = b[2] = 0, b[k] = 1, least = 0.5L;
        const rmsd_real along = rmsd_dot(a, b);
        for (int c = 0; c < 3; ++c) b[c] -= along * a[c];
        length = sqrtl(rmsd_dot(b, b));
    }
    for (int c = 0; c < 3; ++c) b[c] /= length;
}

// The rotation that takes A to B, by one-sided Jacobi rotations of the columns of sum w A B^T.
static inline void rmsd_rotation(const rmsd_frame *a, const rmsd_frame *b, rmsd_real r[3][3]) {
    // Columns, one after another.
    rmsd_real u[3][3] = {{0}}, v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (tmap_u32 i = 0; i < a->count; ++i)
        for (int k = 0; k < 9; ++k)
            u[k % 3][k / 3] += a->w[i] * a->x[3 * i + k / 3] * b->x[3 * i + k % 3];
    for (int sweep = 0; sweep < 60; ++sweep)
        for (int k = 0; k < 3; ++k) {
            const int p = k, q = (k + 1) % 3;
            const rmsd_real pq = rmsd_dot(u[p], u[q]);
            const rmsd_real d = rmsd_dot(u[q], u[q]) - rmsd_dot(u[p], u[p]);
            if (pq == 0) continue;
            const rmsd_real t = (d < 0 ? -1 : 1) * 2 * pq / (fabsl(d) + sqrtl(d * d + 4 * pq * pq));
            const rmsd_real c = 1 / sqrtl(1 + t * t), s = c * t;
            for (int x = 0; x < 3; ++x) {
                const rmsd_real up = u[p][x], vp = v[p][x];
                u[p][x] = c * up - s * u[q][x], u[q][x] = s * up + c * u[q][x];
                v[p][x] = c * vp - s * v[q][x], v[q][x] = s * vp + c * v[q][x];
            }
        }
    int first = 0, second;
    for (int k = 1; k < 3; ++k)
        if (rmsd_dot(u[k], u[k]) > rmsd_dot(u[first], u[first])) first = k;
    second = (first + 1) % 3;
    if (rmsd_dot(u[(first + 2) % 3], u[(first + 2) % 3]) > rmsd_dot(u[second], u[second]))
        second = (first + 2) % 3;
    const rmsd_real least = 1e-17L * sqrtl(rmsd_dot(u[first], u[first]));
    rmsd_real e[3] = {1, 0, 0}, f[3], g[3], h[3];
    memcpy(f, u[second], sizeof f);
    if (rmsd_dot(u[first], u[first]) > 0) {
        memcpy(e, u[first], sizeof e);
        const rmsd_real length = sqrtl(rmsd_dot(e, e));
        for (int k = 0; k < 3; ++k) e[k] /= length;
    }
    rmsd_complete(e, f, least);
    rmsd_cross(e, f, g); // two right-handed systems: no reflection
    rmsd_cross(v[first], v[second], h);
    for (int k = 0; k < 9; ++k)
        r[k / 3][k % 3] =
            v[first][k / 3] * e[k % 3] + v[second][k / 3] * f[k % 3] + h[k / 3] * g[k % 3];
}

static inline double rmsd_define(const rmsd_frame *a, const rmsd_frame *b) {
    rmsd_real r[3][3], sum = 0;
    if (!(a->weights > 0)) return 0;
    rmsd_rotation(a, b, r);
    for (tmap_u32 i = 0; i < a->count; ++i)
        for (int k = 0; k < 3; ++k) {
            const rmsd_real d = rmsd_dot(r[k], a->x + 3 * i) - b->x[3 * i + k];
            sum += a->w[i] * d * d;
        }
    return (double)sqrtl(sum / a->weights);
}

#endif
