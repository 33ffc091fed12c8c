// SPDX-License-Identifier: MIT
// julia3.h: escape times of a quaternion Julia set, a problem of three axes for ASK: q -> q^2 + c
// with c = -0.2 + 0.4 i, from the n^3 points q = (x, y, z, 0) of a grid in [-1.25, 1.25]^3. A region is
// uniform if all voxels of its six faces have one dwell: the rule of Mariani and Silver with one
// axis more. A region has faces of its own, as in the paper.
//
// Source of the set: Norton, "Generation and display of geometric fractals in 3-D", SIGGRAPH (1982).
#ifndef BENCH_JULIA3_H
#define BENCH_JULIA3_H

#include <threadmap/adaptive/ask_plan.h>

// The job of all kernels. out: n^3 dwells, x fastest.
typedef struct julia3 {
    tmap_u32 n, dwell;
    float step; // 2.5 / n
    int *out;
} julia3;

static inline julia3 julia3_make(tmap_u32 n, tmap_u32 dwell, int *out) {
    const julia3 p = {n, dwell, 2.5f / (float)n, out};
    return p;
}

// The steps until |q| > 2, at most p->dwell. The fourth component stays 0, as it is 0 in q and c. The
// same bits on host and device: every product that is added to something is in a fused operation.
TMAP_FN int julia3_dwell(const julia3 *p, tmap_xyz at) {
    float x = fmaf((float)at.x + 0.5f, p->step, -1.25f);
    float y = fmaf((float)at.y + 0.5f, p->step, -1.25f);
    float z = fmaf((float)at.z + 0.5f, p->step, -1.25f);
    tmap_u32 k = 0;
    for (; k < p->dwell; ++k) {
        const float rest = fmaf(y, y, z * z), twice = 2 * x;
        if (fmaf(x, x, rest) > 4) break;
        x = fmaf(x, x, -0.2f - rest);
        y = fmaf(twice, y, 0.4f), z *= twice;
    }
    return (int)k;
}

TMAP_FN int *julia3_at(const julia3 *p, tmap_xyz at) {
    return p->out + ((tmap_u64)at.z * p->n + at.y) * p->n + at.x;
}

// Number of voxels on the faces of a region.
TMAP_FN tmap_u32 julia3_faces(const tmap_ask_region *t) {
    const tmap_u32 x = t->x1 - t->x0, y = t->y1 - t->y0, z = t->z1 - t->z0;
    const tmap_u32 inside = z > 2 ? z - 2 : 0;
    return 2 * (x * y + x * inside + (y > 2 ? y - 2 : 0) * inside);
}

// Voxel i of the faces: first those across z, then what is left across y, then across x.
TMAP_FN tmap_xyz julia3_face(const tmap_ask_region *t, tmap_u32 i) {
    const tmap_u32 x = t->x1 - t->x0, y = t->y1 - t->y0, z = t->z1 - t->z0;
    const tmap_u32 inside = z > 2 ? z - 2 : 0, high = y > 2 ? y - 2 : 1;
    tmap_xyz at = {t->x0, t->y0, t->z0};
    tmap_u32 face = x * y;
    if (i < 2 * face) {
        if (i >= face) i -= face, at.z = t->z1 - 1;
        at.x += i % x, at.y += i / x;
        return at;
    }
    i -= 2 * face, face = x * inside;
    if (i < 2 * face) {
        if (i >= face) i -= face, at.y = t->y1 - 1;
        at.x += i % x, at.z += 1 + i / x;
        return at;
    }
    i -= 2 * face, face = high * inside;
    if (i >= face) i -= face, at.x = t->x1 - 1;
    at.y += 1 + i % high, at.z += 1 + i / high;
    return at;
}

#if TMAP_CUDA

// A thread ends with its second value: the region is not uniform then, whatever else is in it.
TMAP_DEVICE tmap_ask_range julia3_query(const void *job, const tmap_ask_region *t,
                                        tmap_ask_team team) {
    const julia3 *p = (const julia3 *)job;
    const tmap_u32 faces = julia3_faces(t);
    tmap_ask_range range = tmap_ask_range_none();
    for (tmap_u32 i = team.rank; i < faces; i += team.size) {
        range = tmap_ask_range_add(range, (tmap_u32)julia3_dwell(p, julia3_face(t, i)));
        if (range.least < range.most) break;
    }
    return range;
}

TMAP_DEVICE void julia3_terminal(const void *job, const tmap_ask_region *t, tmap_u32 value,
                                 tmap_ask_team team) {
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size)
        *julia3_at((const julia3 *)job, tmap_ask_region_at(t, i)) = (int)value;
}

TMAP_DEVICE void julia3_leaf(const void *job, tmap_ask_work *work) {
    const julia3 *p = (const julia3 *)job;
    tmap_xyz at;
    tmap_u32 i;
    while (tmap_ask_take(work, &i))
        if (tmap_ask_element(work, i, &at)) *julia3_at(p, at) = julia3_dwell(p, at);
}

#endif
#endif
