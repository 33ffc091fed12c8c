// SPDX-License-Identifier: MIT
// vectors.h: vectors for the maps (maps.h) from a fractal by brute force (brute.h).
#ifndef TESTS_FRACTAL_VECTORS_H
#define TESTS_FRACTAL_VECTORS_H

#include "fractal/brute.h"
#include "fractal/maps.h"

// A fractal, and its last levels as the library says: level_max32, level_max64, and the linear
// ones.
typedef struct map_subject {
    brute b;
    map_fractal m;
    tmap_u32 last[4];
} map_subject;

static inline map_subject subject_of(const brute *b, int constant) {
    map_subject s;
    memset(&s, 0, sizeof s);
    s.b = *b, s.m.kind = b->kind, s.m.constant = constant;
#define SUBJECT_LAST(prefix, f) \
    s.last[0] = prefix##_level_max32(f), s.last[1] = prefix##_level_max64(f), \
    s.last[2] = prefix##_linear_level_max32(f), s.last[3] = prefix##_linear_level_max64(f)
    if (b->kind == BRUTE_PLAIN) {
        s.m.f = brute_nbb(b);
        SUBJECT_LAST(tmap_nbb, s.m.f);
    } else {
        s.m.t = brute_turned(b);
        SUBJECT_LAST(tmap_nbb3, s.m.t.f);
    }
    return s;
}

// The sizes of level r as the library says: sides, cells, sides of the orthotope.
static inline void subject_sizes(const map_subject *s, tmap_u32 r, tmap_u64 *sizes) {
    const tmap_nbb f = s->m.f;
    const tmap_nbb3 g = s->m.t.f;
    const int flat = s->m.kind == BRUTE_PLAIN;
    const tmap_xyz64 box =
        flat ? maps_wide2_64(tmap_nbb_orthotope(f, r)) : tmap_nbb3_orthotope(g, r);
    const tmap_u64 all[7] = {flat ? tmap_nbb_side_x(f, r) : tmap_nbb3_side_x(g, r),
                             flat ? tmap_nbb_side_y(f, r) : tmap_nbb3_side_y(g, r),
                             flat ? 1 : tmap_nbb3_side_z(g, r),
                             flat ? tmap_nbb_cells(f, r) : tmap_nbb3_cells(g, r),
                             box.x,
                             box.y,
                             flat ? 1 : box.z};
    memcpy(sizes, all, sizeof all);
}

// A place; and its thread and index, if it is a cell and has one.
static inline map_vector vector_of(const map_subject *s, tmap_u32 r, const tmap_u64 *at,
                                   const tmap_u64 *w, const tmap_u64 *i) {
    map_vector v;
    memset(&v, 0, sizeof v);
    v.r = r, v.at = maps_point(at[0], at[1], at[2]);
    if (r <= s->last[0] && (at[0] | at[1] | at[2]) >> 32 == 0) v.asks |= MAPS_32;
    if (w) v.asks |= MAPS_CELL, v.w = maps_point(w[0], w[1], w[2]);
    if (i) v.asks |= MAPS_LINEAR64 | (r <= s->last[2] ? MAPS_LINEAR32 : 0), v.i = *i;
    return v;
}

// The place of digits[0..r-1], the finest level's first: a cell, if none of them is an empty box.
static inline map_vector vector_of_digits(const map_subject *s, tmap_u32 r, const int *digits) {
    const tmap_u64 k = (tmap_u64)s->b.k;
    tmap_u64 at[3], w[3] = {0, 0, 0}, i = 0;
    int cell = 1, has_index = 1;
    brute_place(&s->b, r, digits, at);
    for (tmap_u32 mu = r; mu-- > 0;) { // the coarsest level first
        const tmap_u64 beta = (tmap_u64)digits[mu];
        tmap_u64 *axis = &w[mu % (tmap_u32)s->b.axes];
        cell = cell && beta < k, has_index = has_index && i <= (~0ull - beta) / k;
        *axis = *axis * k + beta, i = i * k + beta;
    }
    map_vector v = vector_of(s, r, at, cell ? w : NULL, cell && has_index ? &i : NULL);
    v.asks |= MAPS_PIECES;
    return v;
}

// Cells and places of level r > 0, which may be large, in the order of generate.py. Returns how
// many there are, at most VECTORS_LARGE.
enum { VECTORS_LARGE = 15 };
static inline int vectors_large(const map_subject *s, tmap_u32 r, tmap_u64 *random,
                                map_vector *out) {
    const brute *b = &s->b;
    int draws[9][64] = {{0}}, n = 0; // three that are special, and six at random
    for (int d = 0; d < 9; ++d) {
        for (tmap_u32 mu = 0; mu < r; ++mu)
            draws[d][mu] = d > 2 ? (int)kit_below(random, (tmap_u64)b->k)
                           : d == 0 || mu == (d == 1 ? 0 : r - 1) ? b->k - 1
                                                                  : 0;
        out[n++] = vector_of_digits(s, r, draws[d]);
    }
    for (int d = 3; d < 6 && b->boxes > b->k; ++d) { // one empty box makes a hole
        const int box = b->k + (int)kit_below(random, (tmap_u64)(b->boxes - b->k));
        draws[d][kit_below(random, r)] = box;
        out[n++] = vector_of_digits(s, r, draws[d]);
    }
    for (int a = 0; a < b->axes; ++a) { // a whole side further: outside
        tmap_u64 at[3] = {out[3].at.x, out[3].at.y, out[3].at.z}, sizes[7];
        subject_sizes(s, r, sizes);
        if (sizes[a] == ~0ull || at[a] > ~0ull - sizes[a]) continue;
        at[a] += sizes[a];
        out[n++] = vector_of(s, r, at, NULL, NULL);
    }
    return n;
}

#endif
