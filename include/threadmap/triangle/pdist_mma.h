// SPDX-License-Identifier: MIT
// pdist_mma.h: what both forms of pdist.h on tensor cores share: the multiplication of doubles,
// which compute capabilities 8.0 and 9.0 have as fast as that of floats, and what keeps the digits.
// Private to the library.
#ifndef TMAP_TRIANGLE_PDIST_MMA_H
#define TMAP_TRIANGLE_PDIST_MMA_H

#include "../core.h"

#if TMAP_CUDA

// D += A B of a full warp; A 16 x 16, B 16 x 8. With g = lane / 4 and q = lane % 4, a lane holds
//   a[2k], a[2k + 1] = A[g][4k + q], A[g + 8][4k + q]   b[k] = B[4k + q][g]
//   d0, d1 = D[g][2q], D[g][2q + 1]                     d2, d3 = D[g + 8][2q], D[g + 8][2q + 1]
TMAP_DEVICE void tmapi_pdist_mma(double *d, const double *a, const double *b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        for (int h = 0; h < 2; ++h)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
                : "d"(a[2 * k + h]), "d"(b[k]));
#else
        // Without tensor cores, as on the CPU.
        const int lane = (int)threadIdx.x % 32;
        for (int q = 0; q < 4; ++q) {
            double even = __shfl_sync(0xffffffffu, b[k], lane % 4 * 8 + q);
            double odd = __shfl_sync(0xffffffffu, b[k], lane % 4 * 8 + 4 + q);
            for (int h = 0; h < 2; ++h) {
                double row = __shfl_sync(0xffffffffu, a[2 * k + h], lane / 4 * 4 + q);
                d[2 * h] = fma(row, even, d[2 * h]);
                d[2 * h + 1] = fma(row, odd, d[2 * h + 1]);
            }
        }
#endif
    }
#endif
}

// Bits that may cancel in a sum of up to 16 coordinates, so that a distance is off by half a place
// of a float.
#define TMAPI_PDIST_BITS 24

// Where coordinate k of n points is measured from: the middle one of the first, the last and the
// middle point.
TMAP_DEVICE float tmapi_pdist_centre(const float *points, tmap_u32 n, tmap_u64 d, tmap_u64 k) {
    float a, b, c;
    if (k >= d) return 0;
    a = __ldg(points + k), b = __ldg(points + (n / 2 * d + k)),
    c = __ldg(points + ((n - 1) * d + k));
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

// The high half of a double: in the order of the doubles, if they are not negative.
TMAP_DEVICE int tmapi_pdist_high(double x) { return __double2hiint(x); }

#endif // TMAP_CUDA
#endif
