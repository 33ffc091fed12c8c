// SPDX-License-Identifier: MIT
// nbb_kat.h: the one test body of the known answers (tests/kat/nbb.txt, in three dimensions
// nbb3.txt) that every back end runs: C11, C++17, the CPU machine, the GPU through nvcc and through NVRTC. A vector asks every map
// about one thread and its cell, or about one place that is not a cell.
#ifndef NBB_KAT_H
#define NBB_KAT_H

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/catalogue3.h>

// What a vector asks; the limits of the file say which forms a level fits.
#define KAT_CELL     1u  // (x, y) is the cell of thread (wx, wy); else (x, y) is not a cell
#define KAT_32       2u  // all of it fits 32 bits
#define KAT_LINEAR64 4u  // there is a linear index i
#define KAT_LINEAR32 8u  // and it fits 32 bits
#define KAT_GASKET   16u // the gasket: ask catalogue.h as well

typedef struct kat_vector {
    tmap_nbb f;   // in two dimensions
    tmap_nbb3 f3; // in three
    int dims;     // 2 or 3
    int constant; // number in the catalogue: use its constructor, as a kernel would; -1: use f or f3
    tmap_u32 r, asks;
    tmap_u64 wx, wy, wz, i, x, y, z; // wz and z are 0 in two dimensions
} kat_vector;

// The answers of one vector, all integers widened to 64 bits; those not asked for are 0.
// clang-format off
#define KAT_ANSWERS(X) \
    X(hash_x) X(hash_y) X(contains64) X(contains) X(gasket_contains) \
    X(lambda64_x) X(lambda64_y) X(nu64_x) X(nu64_y) X(delta64_x) X(delta64_y) \
    X(lambda_x) X(lambda_y) X(nu_x) X(nu_y) X(delta_x) X(delta_y) \
    X(lambda_linear64_x) X(lambda_linear64_y) X(nu_linear64) \
    X(lambda_linear_x) X(lambda_linear_y) X(nu_linear) \
    X(gasket_lambda_x) X(gasket_lambda_y) X(gasket_nu_x) X(gasket_nu_y) \
    X(gasket_linear_x) X(gasket_linear_y) X(gasket_nu_linear) \
    X(lambda64_z) X(nu64_z) X(delta64_z) X(lambda_z) X(nu_z) X(delta_z) \
    X(lambda_linear64_z) X(lambda_linear_z)
// clang-format on

typedef struct kat_answer {
#define KAT_FIELD(name) tmap_u64 name;
    KAT_ANSWERS(KAT_FIELD)
#undef KAT_FIELD
} kat_answer;

#define KAT_ANSWER_COUNT (sizeof(kat_answer) / sizeof(tmap_u64))

TMAP_FN void kat_nothing(kat_answer *a) {
#define KAT_ZERO(name) a->name = 0;
    KAT_ANSWERS(KAT_ZERO)
#undef KAT_ZERO
}

TMAP_FN void kat_ask64(tmap_nbb f, const kat_vector *v, kat_answer *a) {
    tmap_xy64 cell = tmap_nbb_lambda64(f, v->wx, v->wy, v->r);
    tmap_xy64 w = tmap_nbb_nu64(f, v->x, v->y, v->r);
    a->lambda64_x = cell.x;
    a->lambda64_y = cell.y;
    a->nu64_x = w.x;
    a->nu64_y = w.y;
    for (tmap_u32 mu = 1; mu <= v->r; ++mu) { // equation 7: lambda is the sum of Delta
        tmap_xy64 d = tmap_nbb_delta64(f, tmap_nbb_beta64(f, v->wx, v->wy, mu), mu);
        a->delta64_x += d.x;
        a->delta64_y += d.y;
    }
}

TMAP_FN void kat_ask32(tmap_nbb f, const kat_vector *v, kat_answer *a) {
    tmap_u32 wx = (tmap_u32)v->wx, wy = (tmap_u32)v->wy;
    tmap_xy cell = tmap_nbb_lambda(f, wx, wy, v->r), sum = {0, 0};
    tmap_xy w = tmap_nbb_nu(f, (tmap_u32)v->x, (tmap_u32)v->y, v->r);
    a->lambda_x = cell.x;
    a->lambda_y = cell.y;
    a->nu_x = w.x;
    a->nu_y = w.y;
    for (tmap_u32 mu = 1; mu <= v->r; ++mu) {
        tmap_xy d = tmap_nbb_delta(f, tmap_nbb_beta(f, wx, wy, mu), mu);
        sum.x += d.x;
        sum.y += d.y;
    }
    a->delta_x = sum.x;
    a->delta_y = sum.y;
}

TMAP_FN void kat_ask_linear(tmap_nbb f, const kat_vector *v, kat_answer *a) {
    tmap_xy64 cell = tmap_nbb_lambda_linear64(f, v->i, v->r);
    a->lambda_linear64_x = cell.x;
    a->lambda_linear64_y = cell.y;
    a->nu_linear64 = tmap_nbb_nu_linear64(f, v->x, v->y, v->r);
    if (v->asks & KAT_LINEAR32) {
        tmap_xy c = tmap_nbb_lambda_linear(f, (tmap_u32)v->i, v->r);
        a->lambda_linear_x = c.x;
        a->lambda_linear_y = c.y;
        a->nu_linear = tmap_nbb_nu_linear(f, (tmap_u32)v->x, (tmap_u32)v->y, v->r);
    }
}

TMAP_FN void kat_ask_gasket(const kat_vector *v, kat_answer *a) {
    tmap_u32 x = (tmap_u32)v->x, y = (tmap_u32)v->y, n = v->r < 32 ? 1u << v->r : 0;
    if (x < n && y < n) a->gasket_contains = (tmap_u64)tmap_gasket_contains(x, y, n);
    if (v->asks & KAT_CELL) {
        tmap_xy c = tmap_gasket_lambda((tmap_u32)v->wx, (tmap_u32)v->wy, v->r);
        tmap_xy w = tmap_gasket_nu(x, y, v->r);
        a->gasket_lambda_x = c.x;
        a->gasket_lambda_y = c.y;
        a->gasket_nu_x = w.x;
        a->gasket_nu_y = w.y;
    }
    if (v->asks & KAT_LINEAR32) {
        tmap_xy c = tmap_gasket_lambda_linear((tmap_u32)v->i, v->r);
        a->gasket_linear_x = c.x;
        a->gasket_linear_y = c.y;
        a->gasket_nu_linear = tmap_gasket_nu_linear(x, y, v->r);
    }
}

TMAP_FN void kat_ask_fractal(tmap_nbb f, const kat_vector *v, kat_answer *a) {
    a->contains64 = (tmap_u64)tmap_nbb_contains64(f, v->x, v->y, v->r);
    if (v->asks & KAT_32)
        a->contains = (tmap_u64)tmap_nbb_contains(f, (tmap_u32)v->x, (tmap_u32)v->y, v->r);
    if (v->asks & KAT_CELL) kat_ask64(f, v, a);
    if ((v->asks & KAT_CELL) && (v->asks & KAT_32)) kat_ask32(f, v, a);
    if (v->asks & KAT_LINEAR64) kat_ask_linear(f, v, a);
}

TMAP_FN void kat_ask3_64(tmap_nbb3 f, const kat_vector *v, kat_answer *a) {
    const tmap_xyz64 in = {v->wx, v->wy, v->wz}, at = {v->x, v->y, v->z};
    const tmap_xyz64 cell = tmap_nbb3_lambda64(f, in, v->r), w = tmap_nbb3_nu64(f, at, v->r);
    a->lambda64_x = cell.x, a->lambda64_y = cell.y, a->lambda64_z = cell.z;
    a->nu64_x = w.x, a->nu64_y = w.y, a->nu64_z = w.z;
    for (tmap_u32 mu = 1; mu <= v->r; ++mu) {
        const tmap_xyz64 d = tmap_nbb3_delta64(f, tmap_nbb3_beta64(f, in, mu), mu);
        a->delta64_x += d.x, a->delta64_y += d.y, a->delta64_z += d.z;
    }
}

TMAP_FN void kat_ask3_32(tmap_nbb3 f, const kat_vector *v, kat_answer *a) {
    const tmap_xyz in = {(tmap_u32)v->wx, (tmap_u32)v->wy, (tmap_u32)v->wz};
    const tmap_xyz at = {(tmap_u32)v->x, (tmap_u32)v->y, (tmap_u32)v->z};
    const tmap_xyz cell = tmap_nbb3_lambda(f, in, v->r), w = tmap_nbb3_nu(f, at, v->r);
    tmap_xyz sum = {0, 0, 0};
    a->lambda_x = cell.x, a->lambda_y = cell.y, a->lambda_z = cell.z;
    a->nu_x = w.x, a->nu_y = w.y, a->nu_z = w.z;
    for (tmap_u32 mu = 1; mu <= v->r; ++mu) {
        const tmap_xyz d = tmap_nbb3_delta(f, tmap_nbb3_beta(f, in, mu), mu);
        sum.x += d.x, sum.y += d.y, sum.z += d.z;
    }
    a->delta_x = sum.x, a->delta_y = sum.y, a->delta_z = sum.z;
}

TMAP_FN void kat_ask3_fractal(tmap_nbb3 f, const kat_vector *v, kat_answer *a) {
    const tmap_xyz64 at64 = {v->x, v->y, v->z};
    const tmap_xyz at = {(tmap_u32)v->x, (tmap_u32)v->y, (tmap_u32)v->z};
    a->contains64 = (tmap_u64)tmap_nbb3_contains64(f, at64, v->r);
    if (v->asks & KAT_32) a->contains = (tmap_u64)tmap_nbb3_contains(f, at, v->r);
    if (v->asks & KAT_CELL) kat_ask3_64(f, v, a);
    if ((v->asks & KAT_CELL) && (v->asks & KAT_32)) kat_ask3_32(f, v, a);
    if (v->asks & KAT_LINEAR64) {
        const tmap_xyz64 cell = tmap_nbb3_lambda_linear64(f, v->i, v->r);
        a->lambda_linear64_x = cell.x, a->lambda_linear64_y = cell.y, a->lambda_linear64_z = cell.z;
        a->nu_linear64 = tmap_nbb3_nu_linear64(f, at64, v->r);
    }
    if (v->asks & KAT_LINEAR32) {
        const tmap_xyz cell = tmap_nbb3_lambda_linear(f, (tmap_u32)v->i, v->r);
        a->lambda_linear_x = cell.x, a->lambda_linear_y = cell.y, a->lambda_linear_z = cell.z;
        a->nu_linear = tmap_nbb3_nu_linear(f, at, v->r);
    }
}

TMAP_FN void kat_ask3(const kat_vector *v, kat_answer *a) {
    int n = 0;
#define KAT_CONSTANT(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    if (v->constant == n++) { \
        kat_ask3_fractal(tmap_fractal3_##name(), v, a); \
        return; \
    }
    TMAP_FRACTALS3(KAT_CONSTANT)
#undef KAT_CONSTANT
    kat_ask3_fractal(v->f3, v, a);
}

// All that the maps say about vector v. Writes every field of *a.
TMAP_FN void kat_ask(const kat_vector *v, kat_answer *a) {
    int n = 0;
    kat_nothing(a);
    if (v->dims == 3) {
        kat_ask3(v, a);
        return;
    }
    if (v->asks & KAT_GASKET) kat_ask_gasket(v, a);
        // one branch for each fractal, so that the maps fold around its constants; the hashes of all
        // replicas, packed as H[] is
#define KAT_CONSTANT(name, title, rows, k, sx, sy, tau_x, tau_y) \
    if (v->constant == n++) { \
        kat_ask_fractal(tmap_fractal_##name(), v, a); \
        for (tmap_u32 beta = 0; beta < k; ++beta) { \
            const tmap_xy h = tmap_fractal_##name##_hash(beta); \
            a->hash_x |= (tmap_u64)h.x << 4 * beta; \
            a->hash_y |= (tmap_u64)h.y << 4 * beta; \
        } \
        return; \
    }
    TMAP_FRACTALS(KAT_CONSTANT)
#undef KAT_CONSTANT
    kat_ask_fractal(v->f, v, a);
}

#endif
