// SPDX-License-Identifier: MIT
// mma.h: a product of two small matrices of bytes by a warp, on tensor cores where there are some.
//
// Private to the library: sums (reduce.h) and maps (rivals/mma.h) are such products. Machines
// without tensor cores for bytes get the same results by shuffles.
#ifndef TMAP_MMA_H
#define TMAP_MMA_H

#include "warp.h"

// 1 in device code whose tensor cores multiply bytes (sm_75 and later); 0 where shuffles do it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
#define TMAP_MMA 1
#else
#define TMAP_MMA 0
#endif

#if TMAP_CUDA

// Four words of this lane: of C or of D.
typedef struct tmapi_mma_sums {
    tmap_u32 d0, d1, d2, d3;
} tmapi_mma_sums;

#if !TMAP_MMA
// The sum of the products of four bytes, plus c.
TMAP_DEVICE tmap_u32 tmapi_mma_dot(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
    return c;
}

// One row of A, given as the words of its lane, by columns 2q and 2q + 1 of B.
TMAP_DEVICE void tmapi_mma_row(tmap_u32 lane, tmap_u32 *d, tmap_u32 *e, tmap_u32 a, tmap_u32 b) {
    for (tmap_u32 q = 0; q < 4; ++q) {
        tmap_u32 row = __shfl_sync(0xffffffffu, a, (int)((lane & ~3u) + q));
        tmap_u32 even = __shfl_sync(0xffffffffu, b, (int)(8 * (lane & 3u) + q));
        tmap_u32 odd = __shfl_sync(0xffffffffu, b, (int)(8 * (lane & 3u) + 4 + q));
        *d = tmapi_mma_dot(row, even, *d);
        *e = tmapi_mma_dot(row, odd, *e);
    }
}
#endif

// D = A B + C of a full warp; A 16 x 32 and B 32 x 8 bytes, C and D 16 x 8 words modulo 2^32. With
// g = lane / 4 and q = lane % 4, byte i of a word being the i-th from the lowest, a lane holds
//   a0 = A[g][4q + i]   a1 = A[g + 8][4q + i]   a2 = A[g][16 + 4q + i]   a3 = A[g + 8][16 + 4q + i]
//   b0 = B[4q + i][g]   b1 = B[16 + 4q + i][g]
//   d0, d1 = D[g][2q], D[g][2q + 1]             d2, d3 = D[g + 8][2q], D[g + 8][2q + 1]
TMAP_DEVICE void tmapi_mma(tmap_u32 lane, tmapi_mma_sums *d, tmap_u32 a0, tmap_u32 a1, tmap_u32 a2,
                           tmap_u32 a3, tmap_u32 b0, tmap_u32 b1) {
#if TMAP_MMA && __CUDA_ARCH__ >= 800
    (void)lane;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d->d0), "+r"(d->d1), "+r"(d->d2), "+r"(d->d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#elif TMAP_MMA
    // Quarters of the same product: the lanes hold an m8n8k16 just as they hold these.
#define TMAPI_MMA_QUARTER(d, e, a, b) \
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
                 : "+r"(d), "+r"(e) \
                 : "r"(a), "r"(b))
    (void)lane;
    TMAPI_MMA_QUARTER(d->d0, d->d1, a0, b0);
    TMAPI_MMA_QUARTER(d->d0, d->d1, a2, b1);
    TMAPI_MMA_QUARTER(d->d2, d->d3, a1, b0);
    TMAPI_MMA_QUARTER(d->d2, d->d3, a3, b1);
#undef TMAPI_MMA_QUARTER
#else
    tmapi_mma_row(lane, &d->d0, &d->d1, a0, b0);
    tmapi_mma_row(lane, &d->d0, &d->d1, a2, b1);
    tmapi_mma_row(lane, &d->d2, &d->d3, a1, b0);
    tmapi_mma_row(lane, &d->d2, &d->d3, a3, b1);
#endif
}

#endif // TMAP_CUDA
#endif
