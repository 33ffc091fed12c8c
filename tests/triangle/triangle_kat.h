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

// What is wrong of a vector's answers, a bit each; 0 for nothing. What does not fit 32 bits is not
// asked of the 32-bit forms.
typedef tmap_u32 kat_answer;
enum { KAT_MAP64 = 1, KAT_INDEX = 2, KAT_MAP32 = 4, KAT_INDEX32 = 8, KAT_UTM = 16 };

TMAP_FN kat_answer kat_bit(int right, tmap_u32 bit) { return right ? 0 : bit; }

TMAP_FN int kat_fits32(const kat_vector *v) {
    tmap_u64 cells = v->order == KAT_UPPER ? tmap_triangle_cells(v->n)
                                           : (v->n ? tmap_condensed_cells(v->n) : v->number);
    return cells >> 32 == 0 && v->number >> 32 == 0;
}

TMAP_FN kat_answer kat_ask64(const kat_vector *v) {
    tmap_pair64 p;
    tmap_u64 number, k = 0;
    if (v->order == KAT_SIMPLEX) {
        tmap_triple t = tmap_simplex_map64(v->number);
        p.i = t.i, p.j = t.j, k = t.k;
        number = tmap_simplex_index((tmap_u32)v->i, (tmap_u32)v->j, (tmap_u32)v->k);
    } else if (v->order == KAT_LOWER) {
        p = tmap_triangle_map64(v->number);
        number = tmap_triangle_index(v->i, v->j);
    } else if (v->order == KAT_STRICT) {
        p = tmap_triangle_map_strict64(v->number);
        number = tmap_triangle_index_strict(v->i, v->j);
    } else if (v->order == KAT_UPPER) {
        p = tmap_upper_map64(v->number, v->n);
        number = tmap_upper_index(v->i, v->j, v->n);
    } else {
        p = tmap_condensed_map64(v->number, v->n);
        number = tmap_condensed_index(v->i, v->j, v->n);
    }
    return kat_bit(p.i == v->i && p.j == v->j && k == v->k, KAT_MAP64) |
           kat_bit(number == v->number, KAT_INDEX);
}

TMAP_FN kat_answer kat_ask32(const kat_vector *v) {
    tmap_u32 number = (tmap_u32)v->number, n = (tmap_u32)v->n, k = 0;
    tmap_u32 i = (tmap_u32)v->i, j = (tmap_u32)v->j;
    tmap_pair p, u = {i, j};
    tmap_u64 index = v->number;
    if (v->order == KAT_SIMPLEX) {
        tmap_triple t = tmap_simplex_map(number);
        p.i = t.i, p.j = t.j, k = t.k;
    } else if (v->order == KAT_LOWER) {
        p = tmap_triangle_map(number);
        index = tmap_triangle_index(i, j);
    } else if (v->order == KAT_STRICT) {
        p = tmap_triangle_map_strict(number);
        index = tmap_triangle_index_strict(i, j);
    } else if (v->order == KAT_UPPER) {
        p = tmap_upper_map(number, n);
        u = tmap_triangle_utm_blocks(number, n);
    } else {
        p = tmap_condensed_map(number, n);
        u = tmap_triangle_utm_map(number, n);
    }
    return kat_bit(p.i == i && p.j == j && k == v->k, KAT_MAP32) |
           kat_bit(index == v->number, KAT_INDEX32) | kat_bit(u.i == i && u.j == j, KAT_UTM);
}

// All that the maps say wrongly about vector v.
TMAP_FN void kat_ask(const kat_vector *v, kat_answer *wrong) {
    *wrong = kat_ask64(v) | (kat_fits32(v) ? kat_ask32(v) : 0);
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
