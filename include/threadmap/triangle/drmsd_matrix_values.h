// SPDX-License-Identifier: MIT
// drmsd_matrix_values.h: the distances of a frame, column by column: (d - centre) * factor.
//
// The difference of two frames is as exact as their distances are. A distance that is rounded to a
// float is off by 2^-25 of it, which is too much where frames are near each other: 20 Angstrom are
// off by 10^-6, of a difference of 10^-2. So the distance is computed to about 2^-44, what rounding
// loses being kept beside each number, and only its difference from the centre is rounded.
// Source: the sums and differences of Knuth, TAOCP 2, section 4.2.2, theorem B.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_DRMSD_MATRIX_VALUES_H
#define TMAP_TRIANGLE_DRMSD_MATRIX_VALUES_H

#include "drmsd_matrix_columns.h"

#if TMAP_CUDA

// A number that is the sum of both.
typedef struct tmapi_matrix_two {
    float high, low;
} tmapi_matrix_two;

TMAP_DEVICE tmapi_matrix_two tmapi_matrix_minus(float a, float b) {
    tmapi_matrix_two r;
    r.high = a - b;
    const float t = r.high - a;
    r.low = (a - (r.high - t)) - (b + t);
    return r;
}
TMAP_DEVICE tmapi_matrix_two tmapi_matrix_plus(float a, float b) {
    return tmapi_matrix_minus(a, -b);
}

// The same of a difference along an axis, to the nearest image, as of tmapi_drmsd_image.
TMAP_DEVICE void tmapi_matrix_image(tmapi_matrix_two *d, float length, float over) {
    const float large = 12582912.0f, images = fmaf(d->high, over, large) - large;
    const float shift = length * images;
    const tmapi_matrix_two r = tmapi_matrix_minus(d->high, shift);
    d->low += r.low - fmaf(length, images, -shift);
    d->high = r.high;
}

// sqrt(x^2 + y^2 + z^2) - centre, rounded once. Squares from 1e-37 to 1e37; 0 of coincident atoms.
TMAP_DEVICE float tmapi_matrix_root_less(tmapi_matrix_two x, tmapi_matrix_two y, tmapi_matrix_two z,
                                         float centre) {
    const float xx = x.high * x.high, yy = y.high * y.high, zz = z.high * z.high;
    const tmapi_matrix_two two = tmapi_matrix_plus(xx, yy), all = tmapi_matrix_plus(two.high, zz);
    const float cross = fmaf(z.high, z.low, fmaf(y.high, y.low, x.high * x.low));
    const float lost = fmaf(x.high, x.high, -xx) + fmaf(y.high, y.high, -yy) +
                       fmaf(z.high, z.high, -zz) + (two.low + all.low);
    const float inverse = tmapi_rsqrt(fmaxf(all.high, 1e-37f)), root = all.high * inverse;
    const float rest = fmaf(-root, root, all.high) + fmaf(2, cross, lost);
    return fmaf(rest, 0.5f * inverse, root - centre);
}

// ---- a frame, group by group --------------------------------------------------------------------

// What the thread of a frame reads.
typedef struct tmapi_matrix_reader {
    tmap_u64 frame;
    tmapi_matrix_place place;  // of the next group
    tmap_u32 block;            // whose atoms are there
    tmapi_drmsd_xyz atoms[8];  // of that block
    tmapi_drmsd_xyz box, over; // and 1 / box
    const float4 *columns;     // of the next group
    tmap_u64 left;             // groups that there are
} tmapi_matrix_reader;

// Begins at a group of the round.
TMAP_DEVICE tmapi_matrix_reader tmapi_matrix_begin(const tmapi_matrix *m, tmap_u64 frame,
                                                   tmap_u64 group) {
    const tmap_u64 first = tmapi_matrix_first_group(m) + group;
    tmapi_matrix_reader r;
    r.frame = frame, r.block = ~0u;
    r.left = first < m->plan.groups ? m->plan.groups - first : 0;
    r.place = tmapi_matrix_place_of(m->plan.atoms, r.left ? first : 0);
    r.columns = (const float4 *)(m->columns + group * TMAPI_MATRIX_GROUP);
    r.box.x = r.box.y = r.box.z = 0;
    if (frame < m->plan.frames) r.box = tmapi_drmsd_box(&m->which, frame);
    r.over = tmapi_drmsd_over(r.box);
    return r;
}

// (d - centre) * factor of atoms at a and b. Constants: exact: 0: the distance is rounded first;
// boxed: 0: there are no boxes.
TMAP_DEVICE float tmapi_matrix_value(const tmapi_matrix_reader *r, const int exact, const int boxed,
                                     tmapi_drmsd_xyz a, tmapi_drmsd_xyz b, float centre,
                                     float factor) {
    float d;
    if (exact) {
        tmapi_matrix_two x = tmapi_matrix_minus(a.x, b.x), y = tmapi_matrix_minus(a.y, b.y),
                         z = tmapi_matrix_minus(a.z, b.z);
        if (boxed) {
            tmapi_matrix_image(&x, r->box.x, r->over.x);
            tmapi_matrix_image(&y, r->box.y, r->over.y);
            tmapi_matrix_image(&z, r->box.z, r->over.z);
        }
        d = tmapi_matrix_root_less(x, y, z, centre);
    } else {
        float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
        if (boxed) {
            x = tmapi_drmsd_image(x, r->box.x, r->over.x);
            y = tmapi_drmsd_image(y, r->box.y, r->over.y);
            z = tmapi_drmsd_image(z, r->box.z, r->over.z);
        }
        d = tmapi_drmsd_root(fmaf(z, z, fmaf(y, y, x * x))) - centre;
    }
    return factor > 0 ? d * factor : 0; // not 0 * NaN
}

// The 8 pairs of a group. folded: a constant, 0 where all are with atom j.
TMAP_DEVICE void tmapi_matrix_values(const tmapi_matrix *m, const tmapi_matrix_reader *r,
                                     tmapi_matrix_group group, const int exact, const int boxed,
                                     const int folded, float *values) {
    const tmap_u32 last = m->plan.atoms - 1; // stands for atoms that do not exist
    const tmapi_drmsd_xyz j = tmapi_matrix_atom(m, r->frame, group.j < last ? group.j : last);
    tmapi_drmsd_xyz k = j;
    if (folded) k = tmapi_matrix_atom(m, r->frame, group.k < last ? group.k : last);
#pragma unroll
    for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) {
        const float4 both = r->columns[s / 2];
        tmapi_drmsd_xyz a = r->atoms[s], b = j;
        if (folded && s >= group.split) {
            const tmap_u32 i = group.i + s - group.split;
            a = tmapi_matrix_atom(m, r->frame, i < last ? i : last), b = k;
        }
        values[s] = tmapi_matrix_value(r, exact, boxed, a, b, s % 2 ? both.z : both.x,
                                       s % 2 ? both.w : both.y);
    }
}

// The values of the next group; 0 where there is none. exact: a constant.
TMAP_DEVICE void tmapi_matrix_read(const tmapi_matrix *m, tmapi_matrix_reader *r, const int exact,
                                   float *values) {
    const tmap_u32 last = m->plan.atoms - 1;
    if (!r->left) {
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) values[s] = 0;
        return;
    }
    const tmapi_matrix_group group = tmapi_matrix_group_at(m->plan.atoms, r->place);
    if (r->block != r->place.block) {
        r->block = r->place.block;
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s)
            r->atoms[s] = tmapi_matrix_atom(m, r->frame, group.i + s < last ? group.i + s : last);
    }
    if (group.split < 8) // one group in many
        tmapi_matrix_values(m, r, group, exact, 1, 1, values);
    else if (m->which.boxes)
        tmapi_matrix_values(m, r, group, exact, 1, 0, values);
    else
        tmapi_matrix_values(m, r, group, exact, 0, 0, values);
    r->place = tmapi_matrix_place_next(m->plan.atoms, r->place);
    r->columns += TMAPI_MATRIX_GROUP / 2;
    --r->left;
}

// ---- floats -------------------------------------------------------------------------------------

#define TMAPI_MATRIX_RUN 128u // columns of a block

// Writes columns of a tile's frames. Grid: TMAPI_MATRIX_RUN columns of the round by x, tiles by y.
TMAP_DEVICE void tmapi_matrix_write(const tmapi_matrix *m) {
    const tmap_u64 columns = tmapi_matrix_columns(&m->plan);
    const tmap_u64 column = blockIdx.x * (tmap_u64)TMAPI_MATRIX_RUN;
    const tmap_u64 tile = blockIdx.y;
    float *to =
        (float *)m->distances + ((tile * columns + column) * TMAPI_MATRIX_SIDE + threadIdx.x);
    tmapi_matrix_reader r =
        tmapi_matrix_begin(m, tile * TMAPI_MATRIX_SIDE + threadIdx.x, column / TMAPI_MATRIX_GROUP);
#pragma unroll 1
    for (tmap_u32 g = 0; g < TMAPI_MATRIX_RUN / TMAPI_MATRIX_GROUP; ++g) {
        float values[TMAPI_MATRIX_GROUP];
        tmapi_matrix_read(m, &r, 1, values);
#pragma unroll
        for (tmap_u32 s = 0; s < TMAPI_MATRIX_GROUP; ++s) to[s * TMAPI_MATRIX_SIDE] = values[s];
        to += TMAPI_MATRIX_GROUP * TMAPI_MATRIX_SIDE;
    }
}

#endif // TMAP_CUDA
#endif
