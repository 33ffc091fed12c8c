// SPDX-License-Identifier: MIT
// triangle_kat.h: the one test body of the known answers (tests/kat/triangle.txt) that every back
// end runs: C11, C++17, the CPU machine and the GPU. A vector asks for one cell and its number.
#ifndef TRIANGLE_KAT_H
#define TRIANGLE_KAT_H

#include "kit.h"

#include <threadmap/triangle/condensed.h>
#include <threadmap/triangle/simplex.h>
#include <threadmap/papers/triangle_maps.h>

typedef enum kat_order {
    KAT_LOWER,
    KAT_STRICT,
    KAT_UPPER,
    KAT_CONDENSED,
    KAT_SIMPLEX,
    KAT_ORDERS
} kat_order;

typedef struct kat_vector {
    tmap_u32 order;
    tmap_u64 n, number, i, j, k; // n: 0 where the order does not depend on it
} kat_vector;

// The answers of one vector. What does not fit 32 bits is not asked of the 32-bit forms.
typedef struct kat_answer {
    tmap_u64 i, j, k, number;         // in 64 bits
    tmap_u64 i32, j32, k32, number32; // in 32 bits
    tmap_u64 other_i, other_j;        // UTM, for the orders that it has
} kat_answer;

TMAP_FN int kat_fits32(const kat_vector *v) {
    tmap_u64 cells = v->order == KAT_UPPER ? tmap_triangle_cells(v->n)
                                           : (v->n ? tmap_condensed_cells(v->n) : v->number);
    return cells >> 32 == 0 && v->number >> 32 == 0;
}

TMAP_FN void kat_ask64(const kat_vector *v, kat_answer *a) {
    tmap_pair64 p = {0, 0};
    a->k = 0;
    if (v->order == KAT_SIMPLEX) {
        tmap_triple t = tmap_simplex_map64(v->number);
        p.i = t.i, p.j = t.j, a->k = t.k;
        a->number = tmap_simplex_index((tmap_u32)v->i, (tmap_u32)v->j, (tmap_u32)v->k);
    } else if (v->order == KAT_LOWER) {
        p = tmap_triangle_map64(v->number);
        a->number = tmap_triangle_index(v->i, v->j);
    } else if (v->order == KAT_STRICT) {
        p = tmap_triangle_map_strict64(v->number);
        a->number = tmap_triangle_index_strict(v->i, v->j);
    } else if (v->order == KAT_UPPER) {
        p = tmap_upper_map64(v->number, v->n);
        a->number = tmap_upper_index(v->i, v->j, v->n);
    } else {
        p = tmap_condensed_map64(v->number, v->n);
        a->number = tmap_condensed_index(v->i, v->j, v->n);
    }
    a->i = p.i, a->j = p.j;
}

TMAP_FN void kat_ask32(const kat_vector *v, kat_answer *a) {
    tmap_u32 number = (tmap_u32)v->number, n = (tmap_u32)v->n;
    tmap_u32 i = (tmap_u32)v->i, j = (tmap_u32)v->j;
    tmap_pair p = {0, 0};
    a->number32 = v->number;
    if (v->order == KAT_SIMPLEX) {
        tmap_triple t = tmap_simplex_map(number);
        p.i = t.i, p.j = t.j, a->k32 = t.k;
    } else if (v->order == KAT_LOWER) {
        p = tmap_triangle_map(number);
        a->number32 = tmap_triangle_index(i, j);
    } else if (v->order == KAT_STRICT) {
        p = tmap_triangle_map_strict(number);
        a->number32 = tmap_triangle_index_strict(i, j);
    } else {
        int upper = v->order == KAT_UPPER;
        tmap_pair u =
            upper ? tmap_triangle_utm_blocks(number, n) : tmap_triangle_utm_map(number, n);
        p = upper ? tmap_upper_map(number, n) : tmap_condensed_map(number, n);
        a->other_i = u.i, a->other_j = u.j;
    }
    a->i32 = p.i, a->j32 = p.j;
}

// All that the maps say about vector v. Writes every field of *a.
TMAP_FN void kat_ask(const kat_vector *v, kat_answer *a) {
    a->i32 = v->i, a->j32 = v->j, a->k32 = v->k, a->number32 = v->number;
    a->other_i = v->i, a->other_j = v->j;
    kat_ask64(v, a);
    if (kat_fits32(v)) kat_ask32(v, a);
}

// ---- hashes of many cells -----------------------------------------------------------------------

// `count` random numbers of this number of bits: the sum of the hashes of their cells.
typedef struct kat_hash {
    tmap_u32 order, bits, count;
    tmap_u64 sum;
} kat_hash;

// The hash of the cell of a number. wide: by the 64-bit form.
TMAP_FN tmap_u64 kat_cell_hash(tmap_u32 order, tmap_u64 number, int wide) {
    tmap_u32 low = (tmap_u32)number;
    if (order == KAT_SIMPLEX) {
        tmap_triple t = wide ? tmap_simplex_map64(number) : tmap_simplex_map(low);
        return kit_mix(kit_mix(kit_mix(0, t.i), t.j), t.k);
    } else if (wide) {
        tmap_pair64 p =
            order == KAT_LOWER ? tmap_triangle_map64(number) : tmap_triangle_map_strict64(number);
        return kit_mix(kit_mix(0, p.i), p.j);
    } else {
        tmap_pair p = order == KAT_LOWER ? tmap_triangle_map(low) : tmap_triangle_map_strict(low);
        return kit_mix(kit_mix(0, p.i), p.j);
    }
}

#endif
