// SPDX-License-Identifier: MIT
// simplex_published.h: the map of the 3-simplex as published, by a cubic root and a square root in
// floating point. triangle/simplex.h has the exact one, which needs neither.
//
// Triple (i, j, k), k <= j <= i, has number lambda = i(i+1)(i+2)/6 + j(j+1)/2 + k. At the first
// triple of a layer i^3 + 3i^2 + 2i - 6 lambda = 0; with y = i + 1 this is y^3 - y - 6 lambda = 0.
// Cardano's root of it is y = u + 1/(3u), u = cbrt(3 lambda + sqrt(9 lambda^2 - 1/27)), or, with
// v = 9^(1/3) u,
//
//     i = floor(v / 9^(1/3) + 1 / (3^(1/3) v) - 1 + epsilon),
//     v = cbrt(27 lambda + sqrt(729 lambda^2 - 3)).
//
// j and k are the row and the column of number lambda - i(i+1)(i+2)/6 in a triangle, by the square
// root of triangle_maps.h (LTM-X).
//
// Without epsilon the rounding of root and sum gives the layer before for some numbers, from 10 on
// in single and from 56 on in double precision. Epsilon must exceed the error of the root and be
// below the step of y before a layer, about 2/i^2. Epsilon is ours: the text available to us does
// not have the authors'. Outside of the range of a map a triple may have another number or lie
// outside of the simplex.
//
// Source: Navarro, Bustos, Hitschfeld, "Potential benefits of a block-space GPU approach for
// discrete tetrahedral domains", CLEI (2016).
#ifndef TMAP_PAPERS_SIMPLEX_PUBLISHED_H
#define TMAP_PAPERS_SIMPLEX_PUBLISHED_H

#include "../triangle/simplex.h"
#include "triangle_maps.h"

// Cube root of x, 1 to 2^38. On the GPU CUDA's cbrt, within an ulp; on the host, and where a
// compiler has no CUDA headers, three Newton steps.
TMAP_FN double tmapi_simplex_cbrt(double x) {
#if defined(__CUDA_ARCH__) && defined(__CUDACC__)
    return cbrt(x);
#else
    double y = (double)tmapi_cbrt_low((float)x);
    for (int step = 0; step < 3; ++step) y -= (y - x / (y * y)) / 3.0;
    return y;
#endif
}

// The same in single precision; on the host the nearest float.
TMAP_FN float tmapi_simplex_cbrt_f32(float x) {
#if defined(__CUDA_ARCH__) && defined(__CUDACC__)
    return cbrtf(x);
#else
    return (float)tmapi_simplex_cbrt((double)x);
#endif
}

// Square root of x, 0.25 to 2^75.
TMAP_FN double tmapi_simplex_sqrt(double x) {
#if defined(__CUDA_ARCH__) && defined(__CUDACC__)
    return sqrt(x);
#else
    double y = (double)tmapi_sqrt_nearest((float)x);
    for (int step = 0; step < 2; ++step) y = 0.5 * (y + x / y);
    return y;
#endif
}

// The layers for which tmap_simplex_published_f32 is exact. The first wrong number is 2190669, the
// last one of layer 234, by glibc's cbrtf, and 2572999, of layer 247, with the nearest float.
#define TMAP_SIMPLEX_PUBLISHED_LAYERS 234u

// The triple of number lambda in single precision. Range: any lambda; exact in the first
// TMAP_SIMPLEX_PUBLISHED_LAYERS layers. Example: 0..4 -> (0,0,0)(1,0,0)(1,1,0)(1,1,1)(2,0,0).
TMAP_FN tmap_triple tmap_simplex_published_f32(tmap_u32 lambda) {
    const float l = (float)(lambda ? lambda : 1); // at 0 the root of a negative number
    const float v = tmapi_simplex_cbrt_f32(27.0f * l + tmapi_sqrt_nearest(729.0f * l * l - 3.0f));
    const float y = v / 2.0800838f + 1.0f / (1.4422496f * v);
    const tmap_u32 i = lambda ? (tmap_u32)(y - 1.0f + 1e-5f) : 0;
    const tmap_pair p = tmap_triangle_map_sqrt(lambda - (tmap_u32)tmapi_tetrahedron(i));
    const tmap_triple t = {i, p.i, p.j};
    return t;
}

// The same in double precision. Range: any lambda; exact for all 32-bit numbers, which was tested
// at both ends of every row.
TMAP_FN tmap_triple tmap_simplex_published_f64(tmap_u32 lambda) {
    const double l = lambda ? lambda : 1;
    const double v = tmapi_simplex_cbrt(27.0 * l + tmapi_simplex_sqrt(729.0 * l * l - 3.0));
    const double y = v / 2.080083823051904 + 1.0 / (1.4422495703074083 * v);
    const tmap_u32 i = lambda ? (tmap_u32)(y - 1.0 + 1e-9) : 0;
    const tmap_u32 rest = lambda - (tmap_u32)tmapi_tetrahedron(i);
    const tmap_u32 j = (tmap_u32)(tmapi_simplex_sqrt(0.25 + 2.0 * rest) - 0.5);
    const tmap_pair p = tmapi_triangle_in_row(rest, j);
    const tmap_triple t = {i, p.i, p.j};
    return t;
}

#endif
