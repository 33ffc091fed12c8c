// SPDX-License-Identifier: MIT
// reduce.h: sums over a warp and over a block, by shuffles and on tensor cores.
//
//              shuffles                           tensor cores                       result
//     int32    tmap_block_sum_i32_shuffle         tmap_block_sum_i32_mma             exact
//     int64    tmap_block_sum_i64 (warp.h)        tmap_block_sum_i64_mma             modulo 2^64
//     float    tmap_block_sum_f32_shuffle         tmap_block_sum_f32_mma             see below
//
// warp.h has tmap_block_sum_i32 as well, with the integer reduction instruction. All block forms
// have the same parameters and are interchangeable:
//
//     __shared__ tmap_i64 scratch[32];
//     tmap_i64 sum = tmap_block_sum_i32_mma(v, scratch); // all threads call
//     if (tmap_thread_rank() == 0) out[blockIdx.x] = sum;
//
// A sum is a product with a matrix of ones. Values are cut into their bytes, the limbs, and two
// products of bytes with 32-bit sums add the 32 values of a warp, limb by limb, without shuffles
// and without shared memory:
//
//     1. B: the values, one byte per row, 4 lanes per column. A: selects a limb in each row. D: the
//        sums of limb g % 2 (rows 0..7) and 2 + g % 2 (rows 8..15) over the lanes of a column.
//     2. The sum of two columns, below 2048, goes to B as two bytes, v % 16 and v / 16; A holds the
//        weights 1 and 16 in all its rows. D: limb sums 0, 1, 2, 3 of the warp, in every lane.
//
// Floats on tensor cores are added as integers: values are rounded to multiples of a unit u, with
// the largest |value| of the warp below 2^31 u, and added exactly; the warps are added in double.
// With s the true sum and S the sum of |values|,
//     tmap_block_sum_f32_mma       |error| <= 2^-24 |s| + 2^-25 S         (u-rounding <= 2^-26 S)
//     tmap_block_sum_f32_shuffle   |error| <= 10 * 2^-24 * 1.000001 S     (10 levels of additions)
// The first depends neither on the order of values in a warp nor on the machine, and is infinite
// only where the sum itself rounds to infinity. In both, NaN or infinities of both signs give NaN;
// infinities of one sign give that infinity, except in the shuffle form where finite partial sums
// overflow the other way. Compiled with -ftz=true, as with --use_fast_math, numbers below 2^-126
// add nothing in the shuffle form, and a sum below it is 0 in both.
//
// Source: Navarro et al., FGCS 113 (2020), section 6.2, reduces by warp shuffles; bytes and the
// float sum are this library's. In half precision (tmap_warp_sum_f16_mma, and WMMA in
// samples/reduce/25_warp_and_wmma_sums.cu) numbers above 2048 are rounded.
//
// Functions are collective: all lanes that `warp` counts, or all threads of the block, call them
// together. Blocks have any size and shape up to 1024 threads; warps of fewer than 32 threads are
// added by shuffles, with the same results.
#ifndef TMAP_REDUCE_H
#define TMAP_REDUCE_H

#include "warp.h"

// ---- a product of two small matrices of bytes by a warp -----------------------------------------

// 1 in device code whose tensor cores multiply bytes (sm_75 and later); 0 where shuffles do it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
#define TMAP_MMA 1
#else
#define TMAP_MMA 0
#endif

#if TMAP_CUDA

// This lane's four words of C or D.
typedef struct tmapi_mma_sums {
    tmap_u32 d0, d1, d2, d3;
} tmapi_mma_sums;

#if !TMAP_MMA
// The sum of the products of four bytes, plus c.
TMAP_DEVICE tmap_u32 tmapi_mma_dot(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
    return c;
}

// Multiplies one row of A, given as the words of its lanes, with columns 2q and 2q + 1 of B.
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
    // Quarters of the same product: lanes hold the operands of m8n8k16 in the same layout.
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

// ---- over a warp, by shuffles (warp.h has those of the other types) -----------------------------

// The exact sum of 32-bit integers over the warp, in all lanes, by shuffles. Cost: 5 shuffles of
// two words; tmap_warp_sum_i32 does the same with two integer reductions.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i32_shuffle(tmap_warp w, int v) {
    return (tmap_i64)tmap_warp_sum_shuffle64(w, (tmap_u64)(tmap_i64)v);
}

// ---- over a warp, by tensor cores ---------------------------------------------------------------

// The exact sum of 32-bit numbers over the warp, in all lanes.
TMAP_DEVICE tmap_u64 tmapi_warp_sum_limbs(tmap_warp w, tmap_u32 v) {
    tmapi_mma_sums d = {0, 0, 0, 0}, e = {0, 0, 0, 0};
    tmap_u32 pick, even, odd;
    if (w.lanes < 32) return tmap_warp_sum_shuffle64(w, v);
    pick = w.lane & 4u ? 0x100u : 1u; // row lane / 4 picks limb 0 or 1; row lane / 4 + 8, 2 or 3
    tmapi_mma(w.lane, &d, pick, pick << 16, 0, 0, v, 0);
    even = d.d0 + d.d1; // at most 8 * 255
    odd = d.d2 + d.d3;
    even = (even & 15u) | (even & ~15u) << 4;
    odd = (odd & 15u) | (odd & ~15u) << 4;
    tmapi_mma(w.lane, &e, 0x1001u, 0, 0, 0x1001u, even, odd);
    return e.d0 + (e.d1 << 8) + ((tmap_u64)(e.d2 + (e.d3 << 8)) << 16);
}

// The exact sum of 32-bit integers over the warp, in all lanes, on tensor cores. Cost: two products
// and no shuffle.
// Example: lanes 0..31 with v = lane - 16: -16.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i32_mma(tmap_warp w, int v) {
    // v + 2^31 is not negative
    tmap_u64 sum = tmapi_warp_sum_limbs(w, (tmap_u32)v ^ 0x80000000u);
    return (tmap_i64)sum - ((tmap_i64)w.lanes << 31);
}

// The sum of 64-bit integers over the warp modulo 2^64, in all lanes, on tensor cores. Cost:
// four products.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i64_mma(tmap_warp w, tmap_i64 v) {
    tmap_u64 low = tmapi_warp_sum_limbs(w, (tmap_u32)(tmap_u64)v);
    tmap_u64 high = tmapi_warp_sum_limbs(w, (tmap_u32)((tmap_u64)v >> 32));
    return (tmap_i64)(low + (high << 32));
}

// The largest v of the warp, in all lanes.
TMAP_DEVICE tmap_u32 tmapi_warp_max(tmap_warp w, tmap_u32 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (tmap_u32 step = 16; step; step >>= 1) {
        tmap_u32 other = w.lane + step;
        tmap_u32 u = __shfl_sync(w.mask, v, other < w.lanes ? other : w.lane);
        if (u > v) v = u;
    }
    return __shfl_sync(w.mask, v, 0);
#else
    return __reduce_max_sync(w.mask, v);
#endif
}

// The sum of floats over the warp as a double, in all lanes. `top` is the largest biased exponent,
// at least 1, and the unit is 2^(top - 157): the largest values are integers of 31 bits. A value
// `down` binary places below them is rounded to the nearest unit, halves away from zero; one more
// than 31 places below is less than half a unit. Fewer than 2^37 units are exact in a double, as is
// their weight.
TMAP_DEVICE double tmapi_warp_sum_units(tmap_warp w, float v) {
    tmap_u32 bits = __float_as_uint(v), exponent = bits >> 23 & 0xffu, mantissa = bits & 0x7fffffu;
    tmap_u32 top, down, units;
    tmap_i64 sum;
    if (exponent)
        mantissa |= 0x800000u;
    else
        exponent = 1; // a subnormal number, or 0
    top = tmapi_warp_max(w, exponent);
    if (top == 255) // NaN and infinity by the rules of addition, which finite values do not change
        return tmap_warp_sum_f32_shuffle(w, exponent == 255 ? v : 0.0f);
    down = top - exponent;
    units = mantissa << 7;
    if (down) units = down < 32 ? (units + (1u << (down - 1))) >> down : 0;
    sum = tmap_warp_sum_i32_mma(w, bits >> 31 ? -(int)units : (int)units);
    return (double)sum * __longlong_as_double((tmap_i64)(top + (1023 - 157)) << 52);
}

// The sum of floats over the warp, in all lanes, on tensor cores: rounded once, from a sum with an
// error below 2^-26 sum |v|. The same for any order of the lanes. Cost: a reduction of the
// exponents and two products.
// Example: v = 2^24 in lane 0 and 1 in the others: 16777248, the float nearest to 2^24 + 31; one
// addition after the other in floats gives 2^24.
TMAP_DEVICE float tmap_warp_sum_f32_mma(tmap_warp w, float v) {
    return (float)tmapi_warp_sum_units(w, v);
}

// The sum over a full warp of floats rounded to half precision, in all lanes: the paper's sum by
// WMMA, one product with a matrix of ones. |v| <= 65504. Exact for integers up to 2048. The CPU
// machine does not round v. Cost: a product and two shuffles.
TMAP_DEVICE float tmap_warp_sum_f16_mma(tmap_warp w, float v) {
#if TMAP_MMA
    const tmap_u32 ones = 0x3c003c00u; // two halves
    tmap_u32 b;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0; // d0, d1: of columns 2q and 2q + 1
    asm("{.reg .f16 h, z; cvt.rn.f16.f32 h, %1; mov.b16 z, 0; mov.b32 %0, {h, z};}"
        : "=r"(b)
        : "f"(v));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, "
                 "{%5}, {%0, %1, %2, %3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(ones), "r"(b));
    v = d0 + d1;
    v += __shfl_xor_sync(w.mask, v, 1);
    return v + __shfl_xor_sync(w.mask, v, 2);
#else
    return tmap_warp_sum_f32_shuffle(w, v);
#endif
}

// ---- over a block -------------------------------------------------------------------------------
//
// Thread 0 gets the sum, the others get 0. All threads of the block call. scratch: 32 words of
// shared memory, the same for all forms, free for reuse, by another sum too, after the next
// __syncthreads(). Cost: two sums over a warp and a barrier; in a block of one warp one sum and no
// barrier.

// work(warp, v, scratch), with a constant warp where the block has only full warps: a collective
// whose mask is not a constant costs a test for divergence.
#define TMAPI_BLOCK_SUM(work, v, scratch) \
    (blockDim.x * blockDim.y * blockDim.z % 32 == 0 ? work(tmap_warp_full(), v, scratch) \
                                                    : work(tmap_warp_self(), v, scratch))

// The sum over the block of what the warps have. mma: on tensor cores, otherwise by shuffles.
TMAP_DEVICE tmap_i64 tmapi_block_join(tmap_warp w, tmap_i64 v, tmap_i64 *scratch, int mma) {
    if (tmapi_block_gather(w, &v, scratch))
        v = mma ? tmap_warp_sum_i64_mma(w, v) : (tmap_i64)tmap_warp_sum_shuffle64(w, (tmap_u64)v);
    return tmap_thread_rank() == 0 ? v : 0;
}
TMAP_DEVICE tmap_i64 tmapi_block_i32_shuffle(tmap_warp w, int v, tmap_i64 *scratch) {
    return tmapi_block_join(w, tmap_warp_sum_i32_shuffle(w, v), scratch, 0);
}

// The exact sum of 32-bit integers over the block, in thread 0, by shuffles.
TMAP_DEVICE tmap_i64 tmap_block_sum_i32_shuffle(int v, tmap_i64 *scratch) {
    return TMAPI_BLOCK_SUM(tmapi_block_i32_shuffle, v, scratch);
}

TMAP_DEVICE tmap_i64 tmapi_block_i32_mma(tmap_warp w, int v, tmap_i64 *scratch) {
    return tmapi_block_join(w, tmap_warp_sum_i32_mma(w, v), scratch, 1);
}
TMAP_DEVICE tmap_i64 tmapi_block_i64_mma(tmap_warp w, tmap_i64 v, tmap_i64 *scratch) {
    return tmapi_block_join(w, tmap_warp_sum_i64_mma(w, v), scratch, 1);
}

// The exact sum of 32-bit integers over the block, in thread 0, on tensor cores.
// Example: 1024 threads with v = -2^31: -2^41.
TMAP_DEVICE tmap_i64 tmap_block_sum_i32_mma(int v, tmap_i64 *scratch) {
    return TMAPI_BLOCK_SUM(tmapi_block_i32_mma, v, scratch);
}

// The sum of 64-bit integers over the block modulo 2^64, in thread 0, on tensor cores.
TMAP_DEVICE tmap_i64 tmap_block_sum_i64_mma(tmap_i64 v, tmap_i64 *scratch) {
    return TMAPI_BLOCK_SUM(tmapi_block_i64_mma, v, scratch);
}

TMAP_DEVICE float tmapi_block_f32_shuffle(tmap_warp w, float v, tmap_i64 *scratch) {
    v = tmap_warp_sum_f32_shuffle(w, v);
    tmap_i64 bits = __float_as_int(v);
    if (tmapi_block_gather(w, &bits, scratch))
        v = tmap_warp_sum_f32_shuffle(w, __int_as_float((int)bits));
    return tmap_thread_rank() == 0 ? v : 0.0f;
}

// The sum of floats over the block, in thread 0, by shuffles: 10 levels of additions.
// |error| <= 10 * 2^-24 * 1.000001 * sum |v|.
TMAP_DEVICE float tmap_block_sum_f32_shuffle(float v, tmap_i64 *scratch) {
    return TMAPI_BLOCK_SUM(tmapi_block_f32_shuffle, v, scratch);
}

TMAP_DEVICE float tmapi_block_f32_mma(tmap_warp w, float v, tmap_i64 *scratch) {
    double sum = tmapi_warp_sum_units(w, v);
    tmap_i64 bits = __double_as_longlong(sum);
    if (tmapi_block_gather(w, &bits, scratch))
        sum = tmap_warp_sum_f64_shuffle(w, __longlong_as_double(bits));
    return tmap_thread_rank() == 0 ? (float)sum : 0.0f;
}

// The sum of floats over the block, in thread 0, on tensor cores; the warps are added in double.
// The same for any order of values in a warp. |error| <= 2^-24 |sum| + 2^-25 * sum |v|.
// Example: 1e8, 1 and -1e8 in three different warps: 1.
TMAP_DEVICE float tmap_block_sum_f32_mma(float v, tmap_i64 *scratch) {
    return TMAPI_BLOCK_SUM(tmapi_block_f32_mma, v, scratch);
}

#endif // TMAP_CUDA

#endif
