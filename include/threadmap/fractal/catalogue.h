// SPDX-License-Identifier: MIT
// catalogue.h: NBB fractals as constants, with their hash tables H[]: the nine of the paper's table
// 1, and arithmetic in place of their tables; your own fractals from rows of text; and the gasket's
// maps by bits.
//
// In a kernel a constructor such as tmap_fractal_carpet(), or tmap_nbb_make with numbers, is a
// constant, and the maps of nbb.h fold around it.
#ifndef TMAP_FRACTAL_CATALOGUE_H
#define TMAP_FRACTAL_CATALOGUE_H

#include "nbb.h"

// The paper's table 1: X(name, title, rows, k, sx, sy, tau_x, tau_y), rows from the top, replicas
// numbered row by row. The paper's text does not show the rows of the Chandelier, the Candy and the
// Empty bottles; they are inferred from k and s.
#define TMAP_FRACTALS_TABLE1(X) \
    X(gasket, "Sierpinski gasket", "#.\n##", 3, 2, 2, 0x100ull, 0x110ull) \
    X(carpet, "Sierpinski carpet", "###\n#.#\n###", 8, 3, 3, 0x21020210ull, 0x22211000ull) \
    X(vicsek, "Vicsek fractal", ".#.\n###\n.#.", 5, 3, 3, 0x12101ull, 0x21110ull) \
    X(x, "X-fractal", "#.#\n.#.\n#.#", 5, 3, 3, 0x20120ull, 0x22100ull) \
    X(h, "H-fractal", "#.#\n###\n#.#", 7, 3, 3, 0x2021020ull, 0x2211100ull) \
    X(cantor, "Cantor set", "#.#", 2, 3, 1, 0x20ull, 0x0ull) \
    X(chandelier, "Chandelier", ".#.\n###", 4, 3, 2, 0x2101ull, 0x1110ull) \
    X(candy, "Candy", "#..#\n####\n####\n#..#", 12, 4, 4, 0x303210321030ull, 0x332222111100ull) \
    X(bottles, "Empty bottles", ".#.\n###\n###", 7, 3, 3, 0x2102101ull, 0x2221110ull)

// The catalogue: table 1 first, then others, one X(...) a line. Others have no hash.
#define TMAP_FRACTALS(X) TMAP_FRACTALS_TABLE1(X)

// tmap_fractal_gasket(), tmap_fractal_carpet(), ...: the fractal, as a constant.
#define TMAPI_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) \
    TMAP_FN tmap_nbb tmap_fractal_##name(void) { return tmap_nbb_make(k, sx, sy, tau_x, tau_y); }
TMAP_FRACTALS(TMAPI_FRACTAL)
#undef TMAPI_FRACTAL

#define TMAPI_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) +1
enum { TMAPI_FRACTAL_COUNT = 0 TMAP_FRACTALS(TMAPI_FRACTAL) };
#undef TMAPI_FRACTAL
// The number of fractals in the catalogue.
#define TMAP_FRACTAL_COUNT ((int)TMAPI_FRACTAL_COUNT)

// Fractal number i of the catalogue, 0 <= i < TMAP_FRACTAL_COUNT; any other i gives the gasket.
TMAP_FN tmap_nbb tmap_fractal_at(int i) {
    int n = 0;
#define TMAPI_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) \
    if (i == n++) return tmap_fractal_##name();
    TMAP_FRACTALS(TMAPI_FRACTAL)
#undef TMAPI_FRACTAL
    return tmap_fractal_gasket();
}

TMAP_FN const char *tmapi_fractal_text(int i, int titled) {
    int n = 0;
#define TMAPI_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) \
    if (i == n++) return titled ? title : #name;
    TMAP_FRACTALS(TMAPI_FRACTAL)
#undef TMAPI_FRACTAL
    return titled ? "own fractal" : "own";
}

// The name of fractal i of the catalogue ("gasket"), as tmap_fractal_from_text takes it; "own" for
// any other i.
TMAP_FN const char *tmap_fractal_name(int i) { return tmapi_fractal_text(i, 0); }
// The title of fractal i of the catalogue ("Sierpinski gasket"); "own fractal" for any other i.
TMAP_FN const char *tmap_fractal_title(int i) { return tmapi_fractal_text(i, 1); }

// 1 if a and b are the same fractal with the same numbering of replicas.
TMAP_FN int tmap_nbb_equal(tmap_nbb a, tmap_nbb b) {
    return a.k == b.k && a.sx == b.sx && a.sy == b.sy && a.tau_x == b.tau_x && a.tau_y == b.tau_y;
}

// The number of f in the catalogue, or -1 for a fractal that is not in it.
TMAP_FN int tmap_fractal_index(tmap_nbb f) {
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i)
        if (tmap_nbb_equal(f, tmap_fractal_at(i))) return i;
    return -1;
}

// ---- your own fractals --------------------------------------------------------------------------

// Returns 0 for the end of the text, 1 for the end of a row (a line feed, '/', or the two
// characters \n, which a shell passes on unread), 2 for any other character. Moves *p past
// what it read.
TMAP_FN int tmapi_rows_next(const char **p, char *c) {
    *c = **p;
    if (*c == 0) return 0;
    ++*p;
    if (*c == '\\' && **p == 'n') {
        ++*p;
        return 1;
    }
    return *c == '\n' || *c == '/' ? 1 : 2;
}

// Makes the fractal whose replicas are the '#' in rows of '#' and '.', rows from the top,
// separated by line feeds (or '/', or a written-out \n); one separator at the end is allowed.
// Replicas are numbered row by row. rows: at most 16 rows of at most 16, at most 16 '#'. *out is
// written only on success.
// Returns TMAP_OK, TMAP_EINVAL (null), TMAP_EUNEQUAL, TMAP_ECHARACTER, TMAP_EEMPTY, TMAP_EREPLICAS
// or TMAP_ESIDE.
// Example: tmap_nbb_from_rows("#.\n##", &f) makes f the gasket: k = 3, s = 2, H = (0,0)(0,1)(1,1).
TMAP_FN int tmap_nbb_from_rows(const char *rows, tmap_nbb *out) {
    tmap_nbb f = {0, 0, 0, 0, 0};
    tmap_u32 x = 0;
    int unequal = 0, kind;
    char c;
    if (!rows || !out) return TMAP_EINVAL;
    do {
        kind = tmapi_rows_next(&rows, &c);
        if (kind == 2) { // a place of the row
            if (c != '#' && c != '.') return TMAP_ECHARACTER;
            if (x == TMAP_SIDE_MAX || f.sy == TMAP_SIDE_MAX) return TMAP_ESIDE;
            if (c == '#' && f.k++ < TMAP_REPLICAS_MAX) {
                f.tau_x |= (tmap_u64)x << 4 * (f.k - 1);
                f.tau_y |= (tmap_u64)f.sy << 4 * (f.k - 1);
            }
            ++x;
        } else if (x || kind == 1) { // the end of a row
            if (f.sy == 0) f.sx = x;
            unequal |= x != f.sx;
            ++f.sy;
            x = 0;
        }
    } while (kind);
    if (unequal) return TMAP_EUNEQUAL;
    if (f.k == 0) return TMAP_EEMPTY;
    if (f.k > TMAP_REPLICAS_MAX) return TMAP_EREPLICAS;
    *out = f;
    return TMAP_OK;
}

TMAP_FN int tmapi_same_text(const char *a, const char *b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

// Makes a fractal from a command line: a name of the catalogue, or rows as for tmap_nbb_from_rows.
// Errors: as tmap_nbb_from_rows; a word that is no name of the catalogue is TMAP_ECHARACTER.
// Example: "carpet"; "#.#/.#./#.#".
TMAP_FN int tmap_fractal_from_text(const char *text, tmap_nbb *out) {
    if (!text || !out) return TMAP_EINVAL;
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i)
        if (tmapi_same_text(text, tmap_fractal_name(i))) {
            *out = tmap_fractal_at(i);
            return TMAP_OK;
        }
    return tmap_nbb_from_rows(text, out);
}

// ---- arithmetic hashes --------------------------------------------------------------------------
//
// tmap_fractal_NAME_hash(beta), for the fractals of table 1: the box of replica beta in the grid of
// fractal NAME, H[beta], by a few additions, products, shifts and masks in place of a table. beta:
// 0..k-1; a larger beta gives some box, in the grid or not, by arithmetic modulo 2^32. Law: the
// same as tmap_nbb_tau for the fractal's constants.
// Source: the gasket's is equation 15 of Navarro et al., FGCS 113 (2020); tests/kat/search_hash.py
// finds the others.

TMAP_FN tmap_xy tmapi_fractal_box(tmap_u32 x, tmap_u32 y) {
    const tmap_xy t = {x, y};
    return t;
}

// The gasket, equation 15: x = floor(beta / 2), y = beta - floor(beta / 2); beta = 0..2.
// Example: 0, 1, 2 -> (0,0), (0,1), (1,1).
TMAP_FN tmap_xy tmap_fractal_gasket_hash(tmap_u32 beta) {
    return tmapi_fractal_box(beta >> 1, beta - (beta >> 1));
}

// The carpet: y = floor(13 beta / 32), x = floor(5 beta / 4) - 3 y; beta = 0..7.
// Example: 0, 1, 2, ... -> (0,0), (1,0), (2,0), (0,1), (2,1), (0,2), (1,2), (2,2).
TMAP_FN tmap_xy tmap_fractal_carpet_hash(tmap_u32 beta) {
    const tmap_u32 y = 13 * beta >> 5;
    return tmapi_fractal_box((5 * beta >> 2) - 3 * y, y);
}

// The Vicsek fractal: with p = 3 (beta + 2), y = floor(p / 8), x = (p and beta) xor 1; beta = 0..4.
// Example: 0, 1, 2, ... -> (1,0), (0,1), (1,1), (2,1), (1,2).
TMAP_FN tmap_xy tmap_fractal_vicsek_hash(tmap_u32 beta) {
    const tmap_u32 p = 3 * (beta + 2);
    return tmapi_fractal_box((p & beta) ^ 1, p >> 3);
}

// The X-fractal: y = floor(22 beta / 32), x = y xor (22 beta and 2); beta = 0..4.
// Example: 0, 1, 2, ... -> (0,0), (2,0), (1,1), (0,2), (2,2).
TMAP_FN tmap_xy tmap_fractal_x_hash(tmap_u32 beta) {
    const tmap_u32 p = 22 * beta, y = p >> 5;
    return tmapi_fractal_box(y ^ (p & 2), y);
}

// The H-fractal: box number p = 3 y + x = floor((19 beta + 14) / 16), y = floor(11 p / 32), x =
// (y + p) mod 4, which is p - 3 y; beta = 0..6.
// Example: 0, 1, 2, ... -> (0,0), (2,0), (0,1), (1,1), (2,1), (0,2), (2,2).
TMAP_FN tmap_xy tmap_fractal_h_hash(tmap_u32 beta) {
    const tmap_u32 p = (19 * beta + 14) >> 4, y = 11 * p >> 5;
    return tmapi_fractal_box((y + p) & 3, y);
}

// The Cantor set: x = 2 beta, y = 0; beta = 0..1. Example: 0, 1 -> (0,0), (2,0).
TMAP_FN tmap_xy tmap_fractal_cantor_hash(tmap_u32 beta) { return tmapi_fractal_box(2 * beta, 0); }

// The Chandelier: y = floor((beta + 3) / 4), x = (beta + 3) and (beta xor 1); beta = 0..3.
// Example: 0, 1, 2, 3 -> (1,0), (0,1), (1,1), (2,1).
TMAP_FN tmap_xy tmap_fractal_chandelier_hash(tmap_u32 beta) {
    return tmapi_fractal_box((beta + 3) & (beta ^ 1), (beta + 3) >> 2);
}

// The Candy: box number 4 y + x = beta + 2 floor(13 (beta + 9) / 128); beta = 0..11.
// Example: 0, 1, 2, ... -> (0,0), (3,0), (0,1), (1,1), (2,1), (3,1), (0,2), ..., (0,3), (3,3).
TMAP_FN tmap_xy tmap_fractal_candy_hash(tmap_u32 beta) {
    const tmap_u32 box = beta + 2 * (13 * (beta + 9) >> 7);
    return tmapi_fractal_box(box & 3, box >> 2);
}

// The Empty bottles: y = floor(11 (beta + 2) / 32), x = beta + 1 - floor(5 y / 2); beta = 0..6.
// Example: 0, 1, 2, ... -> (1,0), (0,1), (1,1), (2,1), (0,2), (1,2), (2,2).
TMAP_FN tmap_xy tmap_fractal_bottles_hash(tmap_u32 beta) {
    const tmap_u32 y = 11 * (beta + 2) >> 5;
    return tmapi_fractal_box(beta + 1 - (5 * y >> 1), y);
}

// ---- the gasket by bits -------------------------------------------------------------------------
//
// The gasket, "#. / ##", has k = 3 and s = 2. Its cells are the (x, y) with no bit of x
// outside y, the odd entries of Pascal's triangle. The maps agree with those of nbb.h
// for tmap_fractal_gasket().
// Source: Navarro et al., FGCS 113 (2020), section 6.1.

// 1 if (x, y) is a cell of the gasket n wide, else 0 (section 6.1: x & (n - 1 - y) == 0). n: a
// power of two up to 2^31; x, y < n. Example: n = 4: (1,1) -> 1, (1,2) -> 0.
TMAP_FN int tmap_gasket_contains(tmap_u32 x, tmap_u32 y, tmap_u32 n) {
    return (x & (n - 1 - y)) == 0;
}

// lambda(omega) of the gasket, equation 17. wx < 3^ceil(r/2), wy < 3^floor(r/2), r <= 32.
// Example: r = 2: (2,1) -> (1,3).
TMAP_FN tmap_xy tmap_gasket_lambda(tmap_u32 wx, tmap_u32 wy, tmap_u32 r) {
    tmap_xy cell = {0, 0};
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit) {
        tmap_u32 rest = wx / 3;
        tmap_xy t = tmap_fractal_gasket_hash(wx - 3 * rest);
        cell.x |= t.x << bit;
        cell.y |= t.y << bit;
        wx = wy, wy = rest; // the next level reads the other axis
    }
    return cell;
}

// Lambda of the gasket from a linear index i < 3^r, r <= 20: digit mu - 1 of i, base 3, is beta_mu.
// Example: r = 2: 5 -> (1,3).
TMAP_FN tmap_xy tmap_gasket_lambda_linear(tmap_u32 i, tmap_u32 r) {
    tmap_xy cell = {0, 0};
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit) {
        tmap_u32 rest = i / 3;
        tmap_xy t = tmap_fractal_gasket_hash(i - 3 * rest);
        cell.x |= t.x << bit;
        cell.y |= t.y << bit;
        i = rest;
    }
    return cell;
}

// nu, the inverse of tmap_gasket_lambda: since h(beta) = (floor(beta/2), ceil(beta/2)), a digit is
// the sum of its bits. (x, y): a cell; r <= 32. Example: r = 2: (1,3) -> (2,1).
TMAP_FN tmap_xy tmap_gasket_nu(tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    tmap_xy w = {0, 0};
    tmap_u32 power = 1;
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit) {
        tmap_u32 beta = (x >> bit & 1) + (y >> bit & 1);
        if (bit & 1)
            w.y += beta * power, power *= 3;
        else
            w.x += beta * power;
    }
    return w;
}

// The inverse of tmap_gasket_lambda_linear: the index of cell (x, y). r <= 20. Example: r = 2:
// (1,3) -> 5.
TMAP_FN tmap_u32 tmap_gasket_nu_linear(tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    tmap_u32 i = 0, power = 1;
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit, power *= 3)
        i += ((x >> bit & 1) + (y >> bit & 1)) * power;
    return i;
}

#endif
