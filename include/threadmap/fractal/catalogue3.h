// SPDX-License-Identifier: MIT
// catalogue3.h: seven NBB fractals in three dimensions as constants, and your own from layers of
// text.
//
// In a kernel a constructor such as tmap_fractal3_menger(), or tmap_nbb3_make with numbers, is a
// constant, and the maps of nbb3.h fold around it.
#ifndef TMAP_FRACTAL_CATALOGUE3_H
#define TMAP_FRACTAL_CATALOGUE3_H

#include "catalogue.h"
#include "nbb3.h"

// The catalogue: X(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z), layers from z = 0,
// replicas numbered with x fastest, then y, then z.
//
// The Menger sponge is what the 3D Vicsek fractal leaves of 3 x 3 x 3 boxes, so the catalogue has
// no inverse Vicsek. The octahedron here is the six face neighbours of the centre box. The
// octahedron flake, six octahedra of half the size, is no NBB fractal: its copies fill boxes that
// overlap. The Mosely snowflake is the cube without its corners and centre; the heavier one keeps
// the centre.
// clang-format off
#define TMAP_FRACTALS3(X) \
    X(menger, "Menger sponge", "###\n#.#\n###\n\n#.#\n...\n#.#\n\n###\n#.#\n###", \
      20, 3, 3, 3, 0x9224889224ull, 0xa940a0a940ull, 0xaaaa550000ull) \
    X(tetrahedron, "Sierpinski tetrahedron", "##\n#.\n\n#.\n..", \
      4, 2, 2, 2, 0x04ull, 0x10ull, 0x40ull) \
    X(dust, "Cantor dust", "#.#\n...\n#.#\n\n...\n...\n...\n\n#.#\n...\n#.#", \
      8, 3, 3, 3, 0x8888ull, 0xa0a0ull, 0xaa00ull) \
    X(vicsek3, "3D Vicsek fractal", "...\n.#.\n...\n\n.#.\n###\n.#.\n\n...\n.#.\n...", \
      7, 3, 3, 3, 0x1645ull, 0x1951ull, 0x2554ull) \
    X(octahedron, "octahedron of six boxes", "...\n.#.\n...\n\n.#.\n#.#\n.#.\n\n...\n.#.\n...", \
      6, 3, 3, 3, 0x585ull, 0x651ull, 0x954ull) \
    X(mosely, "Mosely snowflake", ".#.\n###\n.#.\n\n###\n#.#\n###\n\n.#.\n###\n.#.", \
      18, 3, 3, 3, 0x646489191ull, 0x952a50254ull, 0xaa9555400ull) \
    X(mosely_heavy, "heavier Mosely snowflake", ".#.\n###\n.#.\n\n###\n###\n###\n\n.#.\n###\n.#.", \
      19, 3, 3, 3, 0x1919249191ull, 0x254a950254ull, 0x2aa5555400ull)
// clang-format on

// tmap_fractal3_menger(), tmap_fractal3_tetrahedron(), ...: the fractal, as a constant.
#define TMAPI_FRACTAL3(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    TMAP_FN tmap_nbb3 tmap_fractal3_##name(void) { \
        const tmap_nbb3 f = {k, sx, sy, sz, tau_x, tau_y, tau_z}; \
        return f; \
    }
TMAP_FRACTALS3(TMAPI_FRACTAL3)
#undef TMAPI_FRACTAL3

#define TMAP_FRACTAL3_COUNT 7

// Fractal number i of the catalogue, 0 <= i < TMAP_FRACTAL3_COUNT; any other i gives the Menger
// sponge.
TMAP_FN tmap_nbb3 tmap_fractal3_at(int i) {
    int n = 0;
#define TMAPI_FRACTAL3(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    if (i == n++) return tmap_fractal3_##name();
    TMAP_FRACTALS3(TMAPI_FRACTAL3)
#undef TMAPI_FRACTAL3
    return tmap_fractal3_menger();
}

TMAP_FN const char *tmapi_fractal3_text(int i, int titled) {
    int n = 0;
#define TMAPI_FRACTAL3(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    if (i == n++) return titled ? title : #name;
    TMAP_FRACTALS3(TMAPI_FRACTAL3)
#undef TMAPI_FRACTAL3
    return titled ? "own fractal" : "own";
}

// The name of fractal i of the catalogue ("menger"), as tmap_fractal3_from_text takes it; "own" for
// any other i.
TMAP_FN const char *tmap_fractal3_name(int i) { return tmapi_fractal3_text(i, 0); }
// The title of fractal i of the catalogue ("Menger sponge"); "own fractal" for any other i.
TMAP_FN const char *tmap_fractal3_title(int i) { return tmapi_fractal3_text(i, 1); }

// The number of f in the catalogue, or -1 for a fractal that is not in it.
TMAP_FN int tmap_fractal3_index(tmap_nbb3 f) {
    for (int i = 0; i < TMAP_FRACTAL3_COUNT; ++i)
        if (tmap_nbb3_equal(f, tmap_fractal3_at(i))) return i;
    return -1;
}

// ---- your own fractals --------------------------------------------------------------------------

// Makes the fractal whose replicas are the '#' in layers of rows of '#' and '.': the layer z = 0
// first, rows from the top, each ended by a line feed (or '/', or a written-out \n), layers by an
// empty row; what ends the last row or layer may be left out. Replicas are numbered in the order of
// reading: x fastest, then y, then z. layers: at most 4 layers of at most 4 rows of at most 4, at
// most 32 '#'. *out is written only on success.
// Returns TMAP_OK, TMAP_EINVAL (null), TMAP_EUNEQUAL (rows or layers), TMAP_ECHARACTER,
// TMAP_EEMPTY, TMAP_EREPLICAS or TMAP_ESIDE.
// Example: tmap_nbb3_from_layers("##/#.//#./..", &f) makes f the Sierpinski tetrahedron.
TMAP_FN int tmap_nbb3_from_layers(const char *layers, tmap_nbb3 *out) {
    tmap_nbb3 f = {0, 0, 0, 0, 0, 0, 0};
    tmap_u32 x = 0, y = 0;
    int unequal = 0, kind;
    char c;
    if (!layers || !out) return TMAP_EINVAL;
    do {
        kind = tmapi_rows_next(&layers, &c);
        if (kind == 2) { // a place of the row
            if (c != '#' && c != '.') return TMAP_ECHARACTER;
            if (x == TMAP_SIDE3_MAX || y == TMAP_SIDE3_MAX || f.sz == TMAP_SIDE3_MAX)
                return TMAP_ESIDE;
            if (c == '#' && f.k++ < TMAP_REPLICAS3_MAX) {
                f.tau_x |= (tmap_u64)x << 2 * (f.k - 1);
                f.tau_y |= (tmap_u64)y << 2 * (f.k - 1);
                f.tau_z |= (tmap_u64)f.sz << 2 * (f.k - 1);
            }
            ++x;
            continue;
        }
        const int row = x > 0;
        if (row) { // the end of a row
            if (f.sx == 0) f.sx = x;
            unequal |= x != f.sx;
            ++y, x = 0;
        }
        if (kind == 0 ? y > 0 : !row) { // the end of a layer
            if (f.sy == 0) f.sy = y;
            unequal |= y != f.sy || y == 0;
            ++f.sz, y = 0;
        }
    } while (kind);
    if (unequal) return TMAP_EUNEQUAL;
    if (f.k == 0) return TMAP_EEMPTY;
    if (f.k > TMAP_REPLICAS3_MAX) return TMAP_EREPLICAS;
    *out = f;
    return TMAP_OK;
}

// Makes a fractal from a command line: a name of the catalogue, or layers as for
// tmap_nbb3_from_layers. Errors: as tmap_nbb3_from_layers; a word that is no name of the catalogue
// is TMAP_ECHARACTER.
// Example: "menger"; "##/#.//#./..".
TMAP_FN int tmap_fractal3_from_text(const char *text, tmap_nbb3 *out) {
    if (!text || !out) return TMAP_EINVAL;
    for (int i = 0; i < TMAP_FRACTAL3_COUNT; ++i)
        if (tmapi_same_text(text, tmap_fractal3_name(i))) {
            *out = tmap_fractal3_at(i);
            return TMAP_OK;
        }
    return tmap_nbb3_from_layers(text, out);
}

#endif
