// SPDX-License-Identifier: MIT
// wmma.h: lambda on tensor cores as in its paper, by nvcuda::wmma in half precision: exact up to a
// level that depends on the fractal, and wrong above it. mma.h does the same in bytes, exactly at
// every level.
//
// The levels of lambda are a product, D = A B + C, of fragments of 16 x 16 (figures 8 and 10 of the
// paper): A contains powers s^(mu-1) and B digits tau^mu, in half precision; C and D have floats.
//
//     variant  omega of a product     A             B, by columns               result
//     1        1, that of the block   rows 0 and 1  0, 1: tau_x, tau_y          D[0][0], D[1][1]
//     2        4, of its sub-blocks   rows 0 and 1  2j, 2j + 1: those of the    D[0][2j],
//                                                   j-th sub-block              D[1][2j+1]
//     3        1, twice: x and y      all rows      all; C is the position of   D[y][x]: of
//                                                   a thread in its block       thread (x, y)
//
// Rows 0 and 1 of A are powers of sx and of sy; the paper, whose fractal has sx = sy, uses one row.
//
// The level up to which it is exact: a product of a power and a digit has two factors in half
// precision, so 22 bits, and tensor cores do not round it. All sums are integers below 16 times the
// largest power, so below 2^20: they fit the 24 bits of single precision in any order of additions,
// whether the rest is rounded or truncated. Digits are below 16. So the condition is that all
// powers are exact in half precision: at most 65504, with at most 11 bits from first to last.
//
//     s = 2: 2^0..2^15 = 32768; 2^16 > 65504         level 16, also the capacity of a fragment
//     s = 3: 3^0..3^6 = 729; 3^7 = 2187 has 12 bits  level 7
//     s = 4: 4^0..4^7 = 16384; 4^8 > 65504           level 8
//
// It does not depend on k. tmap_wmma_level_max gives the level of any fractal; above it these
// functions give a defined cell that may be wrong: docs/maps/papers.md has the first wrong one of
// each fractal. In variant 3 the powers include the tile's side, so the level is that of the cells.
//
// Source: Navarro et al., FGCS 113 (2020), section 6.3.
//
// Functions are collective for the block, any shape of at least 32 threads: its first warp
// multiplies (in variant 3 one warp for each product), and a barrier publishes the result to all.
// There must be another barrier before the next call with the same shared memory. Nothing is
// defined for NVRTC, which has no mma.h; GPUs without tensor cores (below sm_70) use their lanes.
#ifndef TMAP_PAPERS_WMMA_H
#define TMAP_PAPERS_WMMA_H

#include "../fractal/nbb.h"

// Levels of a product: columns of A, rows of B.
#define TMAP_WMMA_LEVELS 16

// 1 if n is exact in half precision: at most 65504, and below 2^11 without its factors of 2.
TMAP_FN int tmapi_wmma_is_half(tmap_u32 n) {
    tmap_u32 odd = n;
    while (odd && odd % 2 == 0) odd /= 2;
    return n <= 65504 && odd < 2048;
}

// The level up to which lambda in half precision is exact: that of the tiles, r, plus that of m in
// the functions below. 0 to 16, for any sides up to 16. Example: gasket 16, carpet 7, Chandelier (3
// x 2) 7, Candy 8.
TMAP_FN tmap_u32 tmap_wmma_level_max(tmap_nbb f) {
    tmap_u32 level = 0, x = 1, y = 1;
    for (; level < TMAP_WMMA_LEVELS && tmapi_wmma_is_half(x) && tmapi_wmma_is_half(y); ++level)
        x *= f.sx, y *= f.sy;
    return level;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include "../warp.h"
#include <mma.h>

// 1 in device code whose tensor cores multiply halves.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define TMAP_WMMA 0
#else
#define TMAP_WMMA 1
#endif

// Half a row of A or half a column of B, which a lane moves at once.
typedef struct alignas(16) tmapi_wmma_eight {
    __half h[8];
} tmapi_wmma_eight;

// Shared memory of variants 1 and 2, 2 KB, and of variant 3, 10 KB. a: row by row; b: column by
// column; d: row by row.
typedef struct tmap_wmma_shared {
    alignas(32) tmapi_wmma_eight a[32];
    alignas(32) tmapi_wmma_eight b[32];
    alignas(32) float d[256];
} tmap_wmma_shared;

typedef struct tmap_wmma3_shared {
    alignas(32) tmapi_wmma_eight a[2][32];
    alignas(32) tmapi_wmma_eight b[2][32];
    alignas(32) float d[8][256]; // of x and y, for up to four regions of 16 x 16 threads
} tmap_wmma3_shared;

// d = a b, or a b + d with add = 1. Collective for a full warp.
TMAP_DEVICE void tmapi_wmma_product(tmap_u32 lane, const __half *a, const __half *b, float *d,
                                    int add) {
#if TMAP_WMMA
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> fa;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::col_major> fb;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> fd;
    (void)lane;
    nvcuda::wmma::load_matrix_sync(fa, a, 16);
    nvcuda::wmma::load_matrix_sync(fb, b, 16);
    if (add)
        nvcuda::wmma::load_matrix_sync(fd, d, 16, nvcuda::wmma::mem_row_major);
    else
        nvcuda::wmma::fill_fragment(fd, 0.0f);
    nvcuda::wmma::mma_sync(fd, fa, fb, fd);
    nvcuda::wmma::store_matrix_sync(d, fd, 16, nvcuda::wmma::mem_row_major);
#else
    for (tmap_u32 i = lane; i < 256; i += 32) {
        float sum = add ? d[i] : 0.0f;
        for (tmap_u32 k = 0; k < 16; ++k)
            sum += __half2float(a[i / 16 * 16 + k]) * __half2float(b[i % 16 * 16 + k]);
        d[i] = sum;
    }
#endif
}

// The power of level mu, side^(m + mu - 1), in half precision; 0 above level r.
TMAP_DEVICE __half tmapi_wmma_power(tmap_u32 side, tmap_u32 m, tmap_u32 mu, tmap_u32 r) {
    return __float2half(mu <= r ? (float)tmapi_pow32(side, (m + mu - 1) & 63) : 0.0f);
}

// The digits of level mu; 0 above level r.
TMAP_DEVICE tmap_xy tmapi_wmma_tau(tmap_nbb f, tmap_u32 wx, tmap_u32 wy, tmap_u32 mu, tmap_u32 r) {
    tmap_xy tau = tmap_nbb_tau(f, tmap_nbb_beta(f, wx, wy, mu));
    if (mu > r) tau.x = tau.y = 0;
    return tau;
}

// Variants 1 and 2: the product of `tiles` omega, (wx + j % 2, wy + j / 2) for j < tiles <= 4.
TMAP_DEVICE void tmapi_wmma_tiles(tmap_wmma_shared *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                  tmap_u32 r, tmap_u32 m, tmap_u32 tiles) {
    const tmap_u32 lane = tmap_thread_rank(), mu = lane % 16 + 1;
    const tmapi_wmma_eight zero = {};
    __half *a = s->a->h, *b = s->b->h;
    if (lane < 32) { // a full warp: the block has at least 32 threads
        s->a[lane] = s->b[lane] = zero;
        __syncwarp();
        a[lane] = tmapi_wmma_power(lane < 16 ? f.sx : f.sy, m, mu, r);
        for (tmap_u32 j = lane / 16; j < tiles; j += 2) {
            const tmap_xy tau = tmapi_wmma_tau(f, wx + j % 2, wy + j / 2, mu, r);
            b[32 * j + mu - 1] = __float2half((float)tau.x);
            b[32 * j + mu + 15] = __float2half((float)tau.y);
        }
        __syncwarp();
        tmapi_wmma_product(lane, a, b, s->d, 0);
    }
    __syncthreads();
}

// Variant 1: lambda(omega) * s^m of the block, in all its threads, by one product; arguments are
// the same in all threads. Range: r <= 16, r + m <= tmap_wmma_level_max(f).
// Law: with m = 0, tmap_wmma1_lambda(s, f, wx, wy, r, 0) == tmap_nbb_lambda(f, wx, wy, r).
// Cost: a product, a power and two divisions a lane of one warp, and a barrier.
// Example: carpet, r = 1, m = 0: wx = 0..7 -> (0,0)(1,0)(2,0)(0,1)(2,1)(0,2)(1,2)(2,2).
TMAP_DEVICE tmap_xy tmap_wmma1_lambda(tmap_wmma_shared *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                      tmap_u32 r, tmap_u32 m) {
    tmap_xy cell;
    tmapi_wmma_tiles(s, f, wx, wy, r, m, 1);
    cell.x = __float2uint_rz(s->d[0]);
    cell.y = __float2uint_rz(s->d[17]);
    return cell;
}

// Variant 2: four omega, those of 2 x 2 sub-blocks, by one product; each thread gets the cell of
// one of them. (wx, wy): of sub-block 0, the same in all threads; sub-block j has (wx + j % 2, wy +
// j / 2). own: 0..3, the sub-block whose cell this thread gets (others: own % 4). Range and cost:
// as variant 1. Example: gasket, r = 2, m = 0, wx = wy = 0: own = 0..3 -> (0,0)(0,1)(0,2)(0,3).
TMAP_DEVICE tmap_xy tmap_wmma2_lambda(tmap_wmma_shared *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                      tmap_u32 r, tmap_u32 m, tmap_u32 own) {
    tmap_xy cell;
    tmapi_wmma_tiles(s, f, wx, wy, r, m, 4);
    cell.x = __float2uint_rz(s->d[2 * (own & 3u)]);
    cell.y = __float2uint_rz(s->d[2 * (own & 3u) + 17]);
    return cell;
}

// Variant 3: lambda(omega) * s^m + (tx, ty), with C the thread's position in its tile: the cell of
// each thread, by two products for each region of 16 x 16 threads. Tiles of sides sx^m, sy^m <= 32.
// wx, wy: the same in all threads; tx < sx^m, ty < sy^m: the thread's own (others: some cell).
// Range: r <= 16, r + m <= tmap_wmma_level_max(f).
// Law: tmap_wmma3_lambda(s, f, wx, wy, r, m, tx, ty) == tmap_nbb_lambda(f, wx, wy, r) * s^m + (tx,
// ty). Cost: two to eight products, two barriers.
// Example: gasket, r = 2, m = 4, omega (2, 1), thread (3, 5): (1,3) * 16 + (3,5) = (19,53).
TMAP_DEVICE tmap_xy tmap_wmma3_lambda(tmap_wmma3_shared *s, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                      tmap_u32 r, tmap_u32 m, tmap_u32 tx, tmap_u32 ty) {
    const tmap_u32 rank = tmap_thread_rank(), lane = rank % 32, warp = rank / 32;
    const tmap_u32 warps = blockDim.x * blockDim.y * blockDim.z / 32; // full ones
    const tmap_u32 columns = tmapi_pow32(f.sx, m) > 16 ? 2 : 1;
    const tmap_u32 products = 2 * columns * (tmapi_pow32(f.sy, m) > 16 ? 2 : 1);
    const tmap_u32 region = (ty / 16 & 1u) * columns + (tx / 16 & (columns - 1)); // 0..3
    const tmap_u32 at = ty % 16 * 16 + tx % 16;
    tmap_xy cell;
    if (warp < warps)
        for (tmap_u32 axis = warp; axis < 2; axis += warps) { // 0: x, 1: y
            __half *a = s->a[axis]->h, *b = s->b[axis]->h;
            if (lane < 16) { // a row of A, a column of B
                const tmap_xy tau = tmapi_wmma_tau(f, wx, wy, lane + 1, r);
                a[lane] = tmapi_wmma_power(axis ? f.sy : f.sx, m, lane + 1, r);
                b[lane] = __float2half((float)(axis ? tau.y : tau.x));
            }
            __syncwarp();
            if (lane >= 2) { // copies to the other 15, half a row or column a lane
                s->a[axis][lane] = s->a[axis][lane % 2];
                s->b[axis][lane] = s->b[axis][lane % 2];
            }
        }
    __syncthreads();
    if (warp < warps) {
        TMAPI_NO_UNROLL
        for (tmap_u32 p = warp; p < products; p += warps) {
            const tmap_u32 first_x = p / 2 % columns * 16, first_y = p / 2 / columns * 16;
            for (tmap_u32 i = 8 * lane; i < 8 * lane + 8; ++i)
                s->d[p][i] = (float)(p % 2 ? first_y + i / 16 : first_x + i % 16);
            __syncwarp();
            tmapi_wmma_product(lane, s->a[p % 2]->h, s->b[p % 2]->h, s->d[p], 1);
        }
    }
    __syncthreads();
    cell.x = __float2uint_rz(s->d[2 * (region & 3u)][at]);
    cell.y = __float2uint_rz(s->d[2 * (region & 3u) + 1][at]);
    return cell;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
