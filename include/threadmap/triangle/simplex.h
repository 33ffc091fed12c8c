// SPDX-License-Identifier: MIT
// simplex.h: the map of the 3-simplex, triples i >= j >= k, exact for every number; its inverse.
//
// Triples are numbered layer by layer; layer i is the triangle of map.h: lambda = i(i+1)(i+2)/6 +
// j(j+1)/2 + k. So n(n+1)(n+2)/6 threads cover all triples below n, a sixth of a box. For different
// numbers, i > j > k, use (i + 2, j + 1, k).
//
// The layer is found by a cube root, as (i+1)^3 - (i+1) = 6 lambda at the first triple of a layer,
// and one integer step on the exact remainder; tmap_triangle_map gives row and column.
#ifndef TMAP_TRIANGLE_SIMPLEX_H
#define TMAP_TRIANGLE_SIMPLEX_H

#include "map.h"

// The most layers whose triples can be counted in 32 and in 64 bits.
#define TMAP_SIMPLEX_LAYERS_MAX32 2952u
#define TMAP_SIMPLEX_LAYERS_MAX64 4801278ull

// A cell of a 3-simplex: layer i, row j, column k.
typedef struct tmap_triple {
    tmap_u32 i, j, k;
} tmap_triple;

// cbrt(x) * (1 - 2^-16). x: a normal number from 2^-1 to 2^67. The other relative error is below
// 2^-17; PTX specifies 2^-18 of it for the logarithm.
TMAP_FN float tmapi_cbrt_low(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    y = y * 0.33333333f - 2.2014e-5f; // log2(1 - 2^-16)
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(y));
    return y;
#else
    tmapi_float y;
    y.value = x;
    y.bits = y.bits / 3 + 0x2a5137a0u; // a third of the exponent: within 4 %
    for (int step = 0; step < 3; ++step)
        y.value = (2.0f * y.value + x / (y.value * y.value)) * 0.33333333f;
    return y.value * 0.99998474f;
#endif
}

// n(n+1)(n+2)/6 modulo 2^64: divides by 3 by multiplying with its inverse.
TMAP_FN tmap_u64 tmapi_tetrahedron(tmap_u64 n) {
    return tmapi_triangle(n) * (n + 2) * 0xaaaaaaaaaaaaaaabull;
}

// Number of triples below n, n(n+1)(n+2)/6; saturates at 2^64 - 1. Example: n = 4: 20.
TMAP_FN tmap_u64 tmap_simplex_cells(tmap_u64 n) {
    return n > TMAP_SIMPLEX_LAYERS_MAX64 ? ~0ull : tmapi_tetrahedron(n);
}

// Triple (i, j, k), k <= j <= i, with number lambda. Range: any lambda; layers up to 2952.
// Laws: a bijection; tmap_simplex_index(i, j, k) == lambda for the triple of lambda.
// Cost: 33 instructions on sm_90, three of them on the special-function unit; no branch. Exact for
// all 2^32 lambdas, each tested on an H200.
// Example: 0..9 -> (0,0,0)(1,0,0)(1,1,0)(1,1,1)(2,0,0)(2,1,0)(2,1,1)(2,2,0)(2,2,1)(2,2,2).
TMAP_FN tmap_triple tmap_simplex_map(tmap_u32 lambda) {
    tmap_triple t;
    tmap_pair p;
    tmap_u32 i = (tmap_u32)(tmapi_cbrt_low(6.0f * (float)lambda + 0.5f) + 0.5f) - 1; // or i + 1
    tmap_u32 row = tmapi_triangle32(i);
    tmap_u32 rest = lambda - row * (i + 2) * 0xaaaaaaabu; // modulo 2^32, like tmapi_tetrahedron
    if (rest >> 31) rest += row, --i;
    p = tmap_triangle_map(rest);
    t.i = i, t.j = p.i, t.k = p.j;
    return t;
}

// tmap_simplex_map in 64 bits. Range: any lambda; layers up to 4801278. Exact for all lambdas: one
// Newton step upwards on the exact remainder rounds to i or i + 1. Tested on an H200: both ends of
// every layer, and 7 * 10^9 random numbers. Cost: 104 instructions on sm_90; no branch.
// Example: 2^64 - 1 -> (4801278, 3483487, 663727).
TMAP_FN tmap_triple tmap_simplex_map64(tmap_u64 lambda) {
    tmap_triple t;
    tmap_pair64 p;
    tmap_u32 a = (tmap_u32)tmapi_cbrt_low(6.0f * (float)lambda + 1.5f); // i + 1 or less; >= 1
    tmap_i64 low = (tmap_i64)(lambda - tmapi_tetrahedron(a - 1ull));
    float slope = 0.5f * (float)a * (float)a; // of lambda with respect to i
    tmap_u64 i = a - 1ull + (tmap_u32)((float)low * tmapi_reciprocal(slope) + 0.5f);
    tmap_u64 rest = lambda - tmapi_tetrahedron(i);
    if (rest >> 63) rest += tmapi_triangle(i), --i;
    p = tmap_triangle_map64(rest);
    t.i = (tmap_u32)i, t.j = (tmap_u32)p.i, t.k = (tmap_u32)p.j;
    return t;
}

// Number of triple (i, j, k): the inverse of both maps. Range: i <= 4801278; above, modulo 2^64.
// Example: (2,1,1) -> 6.
TMAP_FN tmap_u64 tmap_simplex_index(tmap_u32 i, tmap_u32 j, tmap_u32 k) {
    return tmapi_tetrahedron(i) + tmapi_triangle(j) + k;
}

#endif
