// SPDX-License-Identifier: MIT
// maps.h: one thread and its cell, or one place that is not a cell, asked of every map of nbb.h,
// nbb3.h or turned.h: the one test body that every back end runs, C11, C++17, the CPU machine, and
// the GPU through nvcc and through NVRTC. The answer has a bit for each map that says something
// else.
#ifndef TESTS_FRACTAL_MAPS_H
#define TESTS_FRACTAL_MAPS_H

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/turned.h>

// What a vector asks; the last levels of the fractal say which forms fit.
#define MAPS_CELL     1u  // `at` is the cell of thread w; else `at` is not a cell
#define MAPS_32       2u  // all of it fits 32 bits
#define MAPS_LINEAR64 4u  // there is a linear index i
#define MAPS_LINEAR32 8u  // and it fits 32 bits
#define MAPS_PIECES   16u // the pieces of a map as well: powers and divisions for each digit, slow

typedef struct map_vector {
    tmap_u32 r, asks;
    tmap_u64 i;
    tmap_xyz64 w, at; // z is 0 in two dimensions
} map_vector;

// A fractal. kind: 0 is f, 1 is t.f, 2 is t, those of brute.h. constant: its number in the
// catalogue of this kind, or -1.
typedef struct map_fractal {
    int kind, constant;
    tmap_nbb f;
    tmap_turned t;
} map_fractal;

#define MAPS_LIST(X) \
    X(contains64) \
    X(contains) \
    X(lambda64) \
    X(lambda_table) \
    X(lambda) \
    X(nu64) \
    X(nu) \
    X(lambda_linear64) \
    X(lambda_linear) X(nu_linear64) X(nu_linear) X(beta) X(delta) X(replica) X(tile) X(hash) \
        X(gasket_contains) X(gasket_lambda) X(gasket_nu) X(gasket_linear) X(gasket_nu_linear)
#define MAPS_NUMBER(name) MAP_##name,
enum { MAPS_LIST(MAPS_NUMBER) MAPS_COUNT };

// Bit `map` of `wrong`, unless it says what it should.
#define MAPS_SAYS(map, right) wrong |= (right) ? 0u : 1u << MAP_##map

TMAP_FN tmap_xyz64 maps_point(tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    const tmap_xyz64 p = {x, y, z};
    return p;
}
TMAP_FN tmap_xyz64 maps_wide2(tmap_xy p) { return maps_point(p.x, p.y, 0); }
TMAP_FN tmap_xyz64 maps_wide2_64(tmap_xy64 p) { return maps_point(p.x, p.y, 0); }
TMAP_FN tmap_xyz64 maps_wide3(tmap_xyz p) { return maps_point(p.x, p.y, p.z); }
TMAP_FN tmap_xyz64 maps_wide3_64(tmap_xyz64 p) { return p; }
TMAP_FN tmap_xyz maps_narrow(tmap_xyz64 p) {
    const tmap_xyz q = {(tmap_u32)p.x, (tmap_u32)p.y, (tmap_u32)p.z};
    return q;
}
TMAP_FN int maps_same(tmap_xyz64 a, tmap_xyz64 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
TMAP_FN tmap_xyz64 maps_sum(tmap_xyz64 a, tmap_xyz64 b) {
    return maps_point(a.x + b.x, a.y + b.y, a.z + b.z);
}

// A point as the arguments of a map.
#define MAPS_GIVE2(p) (p).x, (p).y
#define MAPS_GIVE3(p) (p)

// The maps PREFIX_... of fractal f in 2 or 3 dimensions say of vector v. Declares what it needs.
#define MAPS_ASK(prefix, dims) \
    const tmap_xyz64 at64 = v->at, w64 = v->w; \
    const tmap_xyz at = maps_narrow(at64), w = maps_narrow(w64); \
    const tmap_u32 r = v->r, asks = v->asks; \
    const int cell = (asks & MAPS_CELL) != 0; \
    tmap_u32 wrong = 0; \
    MAPS_SAYS(contains64, prefix##_contains64(f, MAPS_GIVE##dims(at64), r) == cell); \
    if (asks & MAPS_32) MAPS_SAYS(contains, prefix##_contains(f, MAPS_GIVE##dims(at), r) == cell); \
    if (!cell) return wrong; \
    MAPS_SAYS( \
        lambda64, \
        maps_same(maps_wide##dims##_64(prefix##_lambda64(f, MAPS_GIVE##dims(w64), r)), at64)); \
    MAPS_SAYS(nu64, \
              maps_same(maps_wide##dims##_64(prefix##_nu64(f, MAPS_GIVE##dims(at64), r)), w64)); \
    if (asks & MAPS_32) { \
        MAPS_SAYS(lambda, \
                  maps_same(maps_wide##dims(prefix##_lambda(f, MAPS_GIVE##dims(w), r)), at64)); \
        MAPS_SAYS(nu, maps_same(maps_wide##dims(prefix##_nu(f, MAPS_GIVE##dims(at), r)), w64)); \
    } \
    if (asks & MAPS_LINEAR64) { \
        MAPS_SAYS(lambda_linear64, \
                  maps_same(maps_wide##dims##_64(prefix##_lambda_linear64(f, v->i, r)), at64)); \
        MAPS_SAYS(nu_linear64, prefix##_nu_linear64(f, MAPS_GIVE##dims(at64), r) == v->i); \
    } \
    if (asks & MAPS_LINEAR32) { \
        const tmap_u32 i = (tmap_u32)v->i; \
        MAPS_SAYS(lambda_linear, \
                  maps_same(maps_wide##dims(prefix##_lambda_linear(f, i, r)), at64)); \
        MAPS_SAYS(nu_linear, prefix##_nu_linear(f, MAPS_GIVE##dims(at), r) == i); \
    }

// Equation 7: lambda is the sum of Delta over the levels; and H and its inverse on the way.
#define MAPS_ASK_PIECES(prefix, dims) \
    tmap_xyz64 sum = {0, 0, 0}; \
    tmap_u64 rest = v->i; \
    for (tmap_u32 mu = 1; mu <= r && (asks & MAPS_32); ++mu, rest /= f.k) { \
        const tmap_u32 beta = prefix##_beta(f, MAPS_GIVE##dims(w), mu); \
        const tmap_xyz box = maps_narrow(maps_wide##dims(prefix##_tau(f, beta))); \
        if (asks & MAPS_LINEAR64) MAPS_SAYS(beta, beta == rest % f.k); \
        MAPS_SAYS(replica, prefix##_replica(f, MAPS_GIVE##dims(box)) == beta); \
        sum = maps_sum(sum, maps_wide##dims(prefix##_delta(f, beta, mu))); \
    } \
    if (asks & MAPS_32) MAPS_SAYS(delta, maps_same(sum, at64))

TMAP_FN tmap_u32 maps_nbb(tmap_nbb f, const map_vector *v) {
    MAPS_ASK(tmap_nbb, 2)
    if (asks & MAPS_32) {
        const tmap_nbb_table h = tmap_nbb_table_make(f);
        MAPS_SAYS(lambda_table,
                  maps_same(maps_wide2(tmap_nbb_lambda_table(&h, f, w.x, w.y, r)), at64));
    }
    if (!(asks & MAPS_PIECES)) return wrong;
    MAPS_ASK_PIECES(tmap_nbb, 2);
    return wrong;
}

TMAP_FN tmap_u32 maps_nbb3(tmap_nbb3 f, const map_vector *v) {
    MAPS_ASK(tmap_nbb3, 3)
    if (!(asks & MAPS_PIECES)) return wrong;
    MAPS_ASK_PIECES(tmap_nbb3, 3);
    return wrong;
}

// The pieces are tiles: a tile's content is that of a level, turned.
TMAP_FN tmap_u32 maps_turned(tmap_turned f, const map_vector *v) {
    MAPS_ASK(tmap_turned, 3)
    if ((~asks & (MAPS_PIECES | MAPS_LINEAR32)) || r == 0) return wrong;
    const tmap_u32 m = (tmap_u32)(v->i % r), cells = tmapi_pow32(f.f.k, m);
    const tmap_xyz64 side = {tmap_nbb3_side_x(f.f, m), tmap_nbb3_side_y(f.f, m),
                             tmap_nbb3_side_z(f.f, m)};
    const tmap_xyz64 last64 = {side.x - 1, side.y - 1, side.z - 1};
    const tmap_xyz inside = tmap_turned_lambda_linear(f, (tmap_u32)v->i % cells, m);
    tmap_u32 element;
    const tmap_xyz corner = tmap_turned_tile(f, (tmap_u32)v->i / cells, r - m, &element);
    const tmap_xyz64 place = maps_wide3(tmap_turned_apply(element, inside, maps_narrow(last64)));
    MAPS_SAYS(tile, element < 48 && corner.x * side.x + place.x == at.x &&
                        corner.y * side.y + place.y == at.y && corner.z * side.z + place.z == at.z);
    return wrong;
}

// The gasket by bits.
TMAP_FN tmap_u32 maps_gasket(const map_vector *v) {
    const tmap_xyz at = maps_narrow(v->at), w = maps_narrow(v->w);
    const tmap_u32 n = v->r < 32 ? 1u << v->r : 0, i = (tmap_u32)v->i;
    const int cell = (v->asks & MAPS_CELL) != 0;
    tmap_u32 wrong = 0;
    if (!(v->asks & MAPS_32)) return 0;
    if (at.x < n && at.y < n)
        MAPS_SAYS(gasket_contains, tmap_gasket_contains(at.x, at.y, n) == cell);
    if (!cell) return wrong;
    MAPS_SAYS(gasket_lambda, maps_same(maps_wide2(tmap_gasket_lambda(w.x, w.y, v->r)), v->at));
    MAPS_SAYS(gasket_nu, maps_same(maps_wide2(tmap_gasket_nu(at.x, at.y, v->r)), v->w));
    if (!(v->asks & MAPS_LINEAR32)) return wrong;
    MAPS_SAYS(gasket_linear, maps_same(maps_wide2(tmap_gasket_lambda_linear(i, v->r)), v->at));
    MAPS_SAYS(gasket_nu_linear, tmap_gasket_nu_linear(at.x, at.y, v->r) == i);
    return wrong;
}

// All that the maps say wrongly about vector v, with the fractal as a value of run time.
TMAP_FN tmap_u32 maps_wrong(const map_fractal *m, const map_vector *v) {
    if (m->kind == 0) return maps_nbb(m->f, v);
    return m->kind == 1 ? maps_nbb3(m->t.f, v) : maps_turned(m->t, v);
}

// With the fractal as a constant, one branch for each, so that the maps fold around its constants;
// of table 1 also the hashes of all replicas.
TMAP_FN tmap_u32 maps_constant(const map_fractal *m, const map_vector *v) {
    int n = 0;
    if (m->kind == 0) {
#define MAPS_CONSTANT(name, title, rows, k, sx, sy, tau_x, tau_y) \
    if (m->constant == n++) wrong = maps_nbb(tmap_fractal_##name(), v);
#define MAPS_HASH(name, title, rows, k, sx, sy, tau_x, tau_y) \
    for (tmap_u32 beta = 0; m->constant == at && beta < k; ++beta) \
        MAPS_SAYS(hash, maps_same(maps_wide2(tmap_fractal_##name##_hash(beta)), \
                                  maps_wide2(tmap_nbb_tau(m->f, beta)))); \
    ++at;
        int at = 0;
        tmap_u32 wrong = 0;
        TMAP_FRACTALS(MAPS_CONSTANT)
        TMAP_FRACTALS_TABLE1(MAPS_HASH)
        if (m->constant == 0) wrong |= maps_gasket(v);
        if (m->constant >= 0 && m->constant < n) return wrong;
    } else if (m->kind == 1) {
#define MAPS_CONSTANT3(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    if (m->constant == n++) return maps_nbb3(tmap_fractal3_##name(), v);
        TMAP_FRACTALS3(MAPS_CONSTANT3)
    } else {
#define MAPS_TURNED(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    if (m->constant == n++) return maps_turned(tmap_turned_##name(), v);
        TMAP_TURNED(MAPS_TURNED)
    }
    return maps_wrong(m, v);
}

// What a back end is asked and answers.
typedef struct kat_vector {
    map_fractal fractal;
    map_vector v;
} kat_vector;
typedef tmap_u32 kat_answer;

TMAP_FN void kat_ask(const kat_vector *v, kat_answer *wrong) {
    *wrong = maps_constant(&v->fractal, &v->v);
}

#if !TMAP_NVRTC
#include <stdio.h>
// The names of the maps that are wrong.
static inline const char *maps_names(tmap_u32 wrong) {
#define MAPS_TEXT(name) #name,
    static const char *const names[] = {MAPS_LIST(MAPS_TEXT)};
    static char text[400];
    int at = *text = 0;
    for (int i = 0; i < MAPS_COUNT; ++i)
        if (wrong >> i & 1) at += snprintf(text + at, sizeof text - (size_t)at, " %s", names[i]);
    return text;
}
#endif

#endif
