// SPDX-License-Identifier: MIT
// triangle_forms.h: the grids of all maps of a triangle, place by place, for the host and for
// kernels: each must visit every cell of the triangle once and no other.
#ifndef TESTS_TRIANGLE_TRIANGLE_FORMS_H
#define TESTS_TRIANGLE_TRIANGLE_FORMS_H

#include "kit.h"

#include <threadmap/papers/triangle_published.h>

enum {
    FORM_LTM,
    FORM_TILES, // more: the side of a tile
    FORM_BB,
    FORM_BB_BY_THREADS,
    FORM_RB,
    FORM_REC, // more: the smallest triangle
    FORM_UTM_BLOCKS,
    FORM_UTM_PRINTED_CELLS,
    FORMS_STRICT, // from here on without the diagonal
    FORM_LTM_STRICT = FORMS_STRICT,
    FORM_RB_STRICT,
    FORM_UTM,
    FORM_UTM_PRINTED,
    FORMS
};

static const char *const form_names[FORMS] = {
    "LTM",        "tiles",     "BB",         "BB by threads",
    "RB",         "REC",       "UTM blocks", "UTM printed, cells",
    "LTM strict", "RB strict", "UTM",        "UTM printed"};

// The threads of a level of REC; l = rec.k: of its diagonal.
TMAP_FN tmap_xyz form_rec_grid(tmap_triangle_rec rec, tmap_u32 l) {
    const tmap_xy grid = tmap_triangle_rec_grid(rec, l);
    const tmap_xyz level = {grid.x, grid.x, grid.y},
                   diagonal = {rec.m, rec.m, tmap_triangle_rec_triangles(rec)};
    return l == rec.k ? diagonal : level;
}

// Number of threads of a form's grid.
TMAP_FN tmap_u64 form_places(int form, tmap_u32 n, tmap_u32 more) {
    const tmap_triangle_rec rec = tmap_triangle_rec_make(n, more);
    const tmap_xy rb = tmap_triangle_rb_grid(n), strict = tmap_triangle_rb_grid(n ? n - 1 : 0);
    tmap_u64 places = 0;
    if (form == FORM_TILES) return tmap_triangle_tiles(n, more) * more * more;
    if (form == FORM_BB || form == FORM_BB_BY_THREADS) return (n + 3ull) * (n + 3ull);
    if (form == FORM_RB) return (tmap_u64)rb.x * rb.y;
    if (form == FORM_RB_STRICT) return (tmap_u64)strict.x * strict.y;
    if (form != FORM_REC)
        return form < FORMS_STRICT ? tmap_triangle_cells(n) : tmap_triangle_cells_strict(n);
    for (tmap_u32 l = 0; l <= rec.k; ++l) {
        const tmap_xyz grid = form_rec_grid(rec, l);
        places += (tmap_u64)grid.x * grid.y * grid.z;
    }
    return places;
}

// Whether thread number `place` has a cell, and which one.
TMAP_FN int form_at(int form, tmap_u32 n, tmap_u32 more, tmap_u64 place, tmap_pair *cell) {
    const tmap_u32 l = (tmap_u32)place;
    tmap_u32 width = n + 3; // of a grid in two dimensions; the last block of BB is not full
    if (form == FORM_RB) width = tmap_triangle_rb_grid(n).x;
    if (form == FORM_RB_STRICT) width = tmap_triangle_rb_grid(n - 1).x;
    const tmap_u32 x = (tmap_u32)(place % width), y = (tmap_u32)(place / width);
    tmap_pair p = {y, x};
    int seen = 1;
    if (form == FORM_LTM) p = tmap_triangle_map(l);
    if (form == FORM_LTM_STRICT) p = tmap_triangle_map_strict(l);
    if (form == FORM_BB) seen = y < n && tmap_triangle_bb_contains(x, y);
    if (form == FORM_BB_BY_THREADS) seen = tmap_triangle_bb_by_threads(x, y, n, &p);
    if (form == FORM_RB) p = tmap_triangle_rb_map(x, y, n);
    if (form == FORM_RB_STRICT) p = tmap_triangle_rb_map(x, y, n - 1), ++p.i;
    if (form == FORM_UTM_PRINTED_CELLS) seen = tmap_triangle_utm_printed_cell(l, n, &p);
    if (form == FORM_UTM_PRINTED) seen = tmap_triangle_utm_printed(l, n, &p);
    if (form == FORM_UTM) p = tmap_triangle_utm_map(l, n);
    if (form == FORM_UTM_BLOCKS) p = tmap_triangle_utm_blocks(l, n);
    if (form == FORM_TILES) {
        const tmap_triangle_tile t = tmap_triangle_tile_map(l / (more * more), n, more);
        const tmap_u32 row = l % (more * more) / more, column = l % more;
        seen = tmap_triangle_tile_contains(t, column, row);
        p.i = t.i + row, p.j = t.j + column;
    }
    if (form == FORM_REC) {
        const tmap_triangle_rec rec = tmap_triangle_rec_make(n, more);
        for (tmap_u32 level = 0; level <= rec.k; ++level) {
            const tmap_xyz g = form_rec_grid(rec, level);
            if (place < (tmap_u64)g.x * g.y * g.z) {
                const tmap_u32 u = (tmap_u32)place % g.x, v = (tmap_u32)place / g.x % g.y;
                const tmap_u32 q = (tmap_u32)place / g.x / g.y;
                seen = level < rec.k || tmap_triangle_bb_contains(u, v);
                p = level < rec.k ? tmap_triangle_rec_map(rec, level, u, v, q)
                                  : tmap_triangle_rec_diagonal(rec, u, v, q);
                break;
            }
            place -= (tmap_u64)g.x * g.y * g.z;
        }
    }
    cell->i = p.i, cell->j = p.j;
    if (form == FORM_UTM || form == FORM_UTM_BLOCKS || form == FORM_UTM_PRINTED)
        cell->i = p.j, cell->j = p.i; // of the upper triangle
    return seen;
}

// Whether a cell has been visited as often as it must be.
TMAP_FN int form_right(int form, tmap_u32 i, tmap_u32 j, tmap_u32 times) {
    return times == (form < FORMS_STRICT ? j <= i : j < i);
}

#endif
