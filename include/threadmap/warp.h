// SPDX-License-Identifier: MIT
// warp.h: lambda computed by a whole warp, one level per lane, and sums over a warp and a block.
//
// All lanes of a warp ask for the same omega, lane l works out the offset of level mu = l + 1, and
// the warp adds the offsets up: by shuffles as the paper does it, by the integer reduction
// instruction, or, where s = 2, by two ballots, which are the two coordinates. A warp of fewer
// lanes than levels gives each lane several levels, so every block size works, down to one thread.
//
// Source: Navarro et al., FGCS 113 (2020), theorem 1 and section 6.2; the ballot form is this
// library's.
//
// Every function here is collective: all lanes that `warp` counts must call it together with equal
// arguments, and all get the result. The ranges of omega and r are those of tmap_nbb_lambda and
// tmap_nbb_lambda64.
#ifndef TMAP_WARP_H
#define TMAP_WARP_H

#include "nbb.h"

#if TMAP_CUDA

// A lane's view of its warp.
typedef struct tmap_warp {
    tmap_u32 lane;  // 0..lanes-1
    tmap_u32 lanes; // threads of the block in this warp: 32, or fewer in a block's last warp
    tmap_u32 mask;  // their lanes, for the _sync intrinsics
} tmap_warp;

// The number of the calling thread in its block, x fastest.
TMAP_DEVICE tmap_u32 tmap_thread_rank(void) {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// The calling thread's warp, in a block of any size.
TMAP_DEVICE tmap_warp tmap_warp_self(void) {
    tmap_u32 rank = tmap_thread_rank(), left = blockDim.x * blockDim.y * blockDim.z - (rank & ~31u);
    tmap_warp w;
    w.lane = rank & 31u;
    w.lanes = left < 32 ? left : 32;
    w.mask = 0xffffffffu >> (32 - w.lanes);
    return w;
}

// The same where the block is a multiple of 32 threads: a constant width spares the code for
// partial warps.
TMAP_DEVICE tmap_warp tmap_warp_full(void) {
    tmap_warp w;
    w.lane = tmap_thread_rank() & 31u;
    w.lanes = 32;
    w.mask = 0xffffffffu;
    return w;
}

// ---- sums over a warp ---------------------------------------------------------------------------

// The sum of v over the warp modulo 2^32, by shuffles. Cost: log2(lanes) shuffles, one more for a
// partial warp.
TMAP_DEVICE tmap_u32 tmap_warp_sum_shuffle(tmap_warp w, tmap_u32 v) {
    if (w.lanes == 32) {
#pragma unroll
        for (tmap_u32 step = 16; step; step >>= 1) v += __shfl_xor_sync(w.mask, v, step);
        return v;
    }
    for (tmap_u32 step = 16; step; step >>= 1) { // lanes that do not exist add nothing
        tmap_u32 other = w.lane + step;
        tmap_u32 u = __shfl_sync(w.mask, v, other < w.lanes ? other : w.lane);
        if (other < w.lanes) v += u;
    }
    return __shfl_sync(w.mask, v, 0);
}

// The same modulo 2^64.
TMAP_DEVICE tmap_u64 tmap_warp_sum_shuffle64(tmap_warp w, tmap_u64 v) {
    if (w.lanes == 32) {
#pragma unroll
        for (tmap_u32 step = 16; step; step >>= 1) v += __shfl_xor_sync(w.mask, v, step);
        return v;
    }
    for (tmap_u32 step = 16; step; step >>= 1) {
        tmap_u32 other = w.lane + step;
        tmap_u64 u = __shfl_sync(w.mask, v, other < w.lanes ? other : w.lane);
        if (other < w.lanes) v += u;
    }
    return __shfl_sync(w.mask, v, 0);
}

// The sum of v over the warp modulo 2^32, by one instruction (redux.sync) on sm_80 and later, by
// shuffles before.
TMAP_DEVICE tmap_u32 tmap_warp_sum_redux(tmap_warp w, tmap_u32 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return tmap_warp_sum_shuffle(w, v);
#else
    return __reduce_add_sync(w.mask, v);
#endif
}

// The exact sum of 32-bit integers over the warp. Cost: two integer reductions on sm_80 and later:
// the low and the high halves are added apart, and 32 sixteen-bit numbers cannot overflow a word.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i32(tmap_warp w, int v) {
    tmap_u32 low = tmap_warp_sum_redux(w, (tmap_u32)v & 0xffffu);
    int high = (int)tmap_warp_sum_redux(w, (tmap_u32)(v >> 16));
    return (tmap_i64)high * 65536 + low;
}

// The sum of 64-bit integers over the warp, modulo 2^64. Cost: three integer reductions of a full
// warp on sm_80 and later, of 27 bits each, since 32 such numbers fit a word; ten shuffles before.
TMAP_DEVICE tmap_i64 tmap_warp_sum_i64(tmap_warp w, tmap_i64 v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (w.lanes == 32) {
        tmap_u64 u = (tmap_u64)v;
        tmap_u64 low = tmap_warp_sum_redux(w, (tmap_u32)u & 0x7ffffffu);
        tmap_u64 middle = tmap_warp_sum_redux(w, (tmap_u32)(u >> 27) & 0x7ffffffu);
        tmap_u64 high = tmap_warp_sum_redux(w, (tmap_u32)(u >> 54));
        return (tmap_i64)(low + (middle << 27) + (high << 54));
    }
#endif
    return (tmap_i64)tmap_warp_sum_shuffle64(w, (tmap_u64)v);
}

// Adds up one value of each warp over the block. v: the warp's sum, in all its lanes.
TMAP_DEVICE tmap_i64 tmapi_block_sum(tmap_warp w, tmap_i64 v, tmap_i64 *scratch) {
    tmap_u32 rank = tmap_thread_rank();
    tmap_u32 warps = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
    if (warps > 1) { // the same for all threads
        if (w.lane == 0) scratch[rank / 32] = v;
        __syncthreads();
        if (rank < 32) v = tmap_warp_sum_i64(w, w.lane < warps ? scratch[w.lane] : 0);
    }
    return rank == 0 ? v : 0;
}

// The sum of v over the block, modulo 2^64; thread 0 gets it, the others get 0. All threads of the
// block must call. scratch: 32 words of shared memory, free again after the next __syncthreads().
TMAP_DEVICE tmap_i64 tmap_block_sum_i64(tmap_i64 v, tmap_i64 *scratch) {
    tmap_warp w = tmap_warp_full();
    if (blockDim.x * blockDim.y * blockDim.z % 32) w = tmap_warp_self();
    return tmapi_block_sum(w, tmap_warp_sum_i64(w, v), scratch);
}

// The exact sum of 32-bit integers over the block, to thread 0; as above, and cheaper.
TMAP_DEVICE tmap_i64 tmap_block_sum_i32(int v, tmap_i64 *scratch) {
    tmap_warp w = tmap_warp_self();
    return tmapi_block_sum(w, tmap_warp_sum_i32(w, v), scratch);
}

// ---- lambda -------------------------------------------------------------------------------------

// The offsets that this lane adds to lambda: of the levels lane + 1, lane + 1 + lanes, ... up to r.
TMAP_DEVICE tmap_xy tmapi_warp_offset(tmap_warp w, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                      tmap_u32 r) {
    tmap_xy sum = {0, 0};
    for (tmap_u32 mu = w.lane + 1; mu <= r; mu += w.lanes) {
        tmap_xy d = tmap_nbb_delta(f, tmap_nbb_beta(f, wx, wy, mu), mu);
        sum.x += d.x;
        sum.y += d.y;
    }
    return sum;
}

// Lambda by warp shuffles. Cost: a power and two divisions a lane, 10 shuffles.
TMAP_DEVICE tmap_xy tmap_warp_lambda_shuffle(tmap_warp w, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                             tmap_u32 r) {
    tmap_xy cell = tmapi_warp_offset(w, f, wx, wy, r);
    cell.x = tmap_warp_sum_shuffle(w, cell.x);
    cell.y = tmap_warp_sum_shuffle(w, cell.y);
    return cell;
}

// The same with 64-bit coordinates.
TMAP_DEVICE tmap_xy64 tmap_warp_lambda_shuffle64(tmap_warp w, tmap_nbb f, tmap_u64 wx, tmap_u64 wy,
                                                 tmap_u32 r) {
    tmap_xy64 cell = {0, 0};
    for (tmap_u32 mu = w.lane + 1; mu <= r; mu += w.lanes) {
        tmap_xy64 d = tmap_nbb_delta64(f, tmap_nbb_beta64(f, wx, wy, mu), mu);
        cell.x += d.x;
        cell.y += d.y;
    }
    cell.x = tmap_warp_sum_shuffle64(w, cell.x);
    cell.y = tmap_warp_sum_shuffle64(w, cell.y);
    return cell;
}

// Lambda by the integer reduction instruction, two of them (sm_80 and later; shuffles before).
TMAP_DEVICE tmap_xy tmap_warp_lambda_redux(tmap_warp w, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                           tmap_u32 r) {
    tmap_xy cell = tmapi_warp_offset(w, f, wx, wy, r);
    cell.x = tmap_warp_sum_redux(w, cell.x);
    cell.y = tmap_warp_sum_redux(w, cell.y);
    return cell;
}

// Lambda by ballot, for sx, sy <= 2: bit mu - 1 of a coordinate is the offset of level mu, which
// lane mu - 1 holds, so the ballots over the lanes' offsets are the coordinates. Other fractals are
// mapped by shuffles.
// Cost: a power and two divisions a lane, two ballots for each `lanes` levels.
TMAP_DEVICE tmap_xy tmap_warp_lambda_ballot(tmap_warp w, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                            tmap_u32 r) {
    tmap_xy cell = {0, 0};
    if (!tmap_nbb_has_ballot(f)) return tmap_warp_lambda_shuffle(w, f, wx, wy, r);
    for (tmap_u32 first = 0; first < r && first < 32; first += w.lanes) {
        tmap_u32 mu = first + w.lane + 1;
        tmap_xy tau = {0, 0};
        if (mu <= r) tau = tmap_nbb_tau(f, tmap_nbb_beta(f, wx, wy, mu));
        cell.x |= __ballot_sync(w.mask, (int)tau.x) << first;
        cell.y |= __ballot_sync(w.mask, (int)tau.y) << first;
    }
    return cell;
}

// The same with 64-bit coordinates.
TMAP_DEVICE tmap_xy64 tmap_warp_lambda_ballot64(tmap_warp w, tmap_nbb f, tmap_u64 wx, tmap_u64 wy,
                                                tmap_u32 r) {
    tmap_xy64 cell = {0, 0};
    if (!tmap_nbb_has_ballot(f)) return tmap_warp_lambda_shuffle64(w, f, wx, wy, r);
    for (tmap_u32 first = 0; first < r && first < 64; first += w.lanes) {
        tmap_u32 mu = first + w.lane + 1;
        tmap_xy tau = {0, 0};
        if (mu <= r) tau = tmap_nbb_tau(f, tmap_nbb_beta64(f, wx, wy, mu));
        cell.x |= (tmap_u64)__ballot_sync(w.mask, (int)tau.x) << first;
        cell.y |= (tmap_u64)__ballot_sync(w.mask, (int)tau.y) << first;
    }
    return cell;
}

// ---- lambda for many omega ----------------------------------------------------------------------
//
// A warp that maps one omega after another prepares its levels once, and a digit then costs three
// multiplications. tmap_warp_level is right for the same ranges as the functions above.

// What a lane knows of its level, mu = lane + 1.
typedef struct tmap_warp_level {
    tmap_warp warp;
    tmap_u32 r;
    int several;             // more levels than lanes: the functions above do the work
    tmap_u32 reads_y;        // even levels read wy
    tmap_u64 reciprocal;     // ceil(2^64 / p), see tmapi_warp_level_beta
    tmap_u32 side_x, side_y; // sx^(mu-1), sy^(mu-1); 0 for a lane without a level
} tmap_warp_level;

TMAP_DEVICE tmap_warp_level tmapi_warp_level_make(tmap_warp w, tmap_nbb f, tmap_u32 r,
                                                  tmap_u32 digit, tmap_u32 reads_y) {
    tmap_warp_level l;
    tmap_u32 mu = w.lane + 1;
    tmap_u64 power = tmapi_pow64(f.k, digit + 1);
    l.warp = w;
    l.r = r;
    l.several = r > w.lanes;
    l.reads_y = reads_y;
    l.reciprocal = power ? ~0ull / power + 1 : 0; // 0 too for k = 1, whose digits are 0
    l.side_x = mu <= r ? tmapi_pow32(f.sx, mu - 1) : 0;
    l.side_y = mu <= r ? tmapi_pow32(f.sy, mu - 1) : 0;
    return l;
}

// Prepares this lane for fractal f of level r. Cost: a 64-bit division and three powers.
TMAP_DEVICE tmap_warp_level tmap_warp_level_make(tmap_warp w, tmap_nbb f, tmap_u32 r) {
    return tmapi_warp_level_make(w, f, r, w.lane / 2, w.lane & 1);
}

// The same for linear indices: the functions below then take the index as both wx and wy. Not for
// more levels than lanes (`several`): ask tmap_nbb_lambda_linear then.
TMAP_DEVICE tmap_warp_level tmap_warp_level_make_linear(tmap_warp w, tmap_nbb f, tmap_u32 r) {
    return tmapi_warp_level_make(w, f, r, w.lane, 0);
}

// beta of this lane's level: with p = k^ceil(mu/2) (linear: k^mu), the digit is the whole part of k
// * frac(w / p). The fraction is taken in 64 bits from a reciprocal rounded up; its error, below w
// / 2^64 < 2^-32, cannot reach the next multiple of 1 / p while p <= 2^32.
TMAP_DEVICE tmap_u32 tmapi_warp_level_beta(const tmap_warp_level *l, tmap_nbb f, tmap_u32 wx,
                                           tmap_u32 wy) {
    tmap_u64 fraction = (l->reads_y ? wy : wx) * l->reciprocal;
    return (tmap_u32)__umul64hi(fraction, f.k);
}

TMAP_DEVICE tmap_xy tmapi_warp_level_offset(const tmap_warp_level *l, tmap_nbb f, tmap_u32 wx,
                                            tmap_u32 wy) {
    tmap_xy d = tmap_nbb_tau(f, tmapi_warp_level_beta(l, f, wx, wy));
    d.x *= l->side_x;
    d.y *= l->side_y;
    return d;
}

// Lambda by shuffles, by the reduction instruction, and by ballot, of a prepared warp.
TMAP_DEVICE tmap_xy tmap_warp_level_shuffle(const tmap_warp_level *l, tmap_nbb f, tmap_u32 wx,
                                            tmap_u32 wy) {
    tmap_xy cell;
    if (l->several) return tmap_warp_lambda_shuffle(l->warp, f, wx, wy, l->r);
    cell = tmapi_warp_level_offset(l, f, wx, wy);
    cell.x = tmap_warp_sum_shuffle(l->warp, cell.x);
    cell.y = tmap_warp_sum_shuffle(l->warp, cell.y);
    return cell;
}

TMAP_DEVICE tmap_xy tmap_warp_level_redux(const tmap_warp_level *l, tmap_nbb f, tmap_u32 wx,
                                          tmap_u32 wy) {
    tmap_xy cell;
    if (l->several) return tmap_warp_lambda_redux(l->warp, f, wx, wy, l->r);
    cell = tmapi_warp_level_offset(l, f, wx, wy);
    cell.x = tmap_warp_sum_redux(l->warp, cell.x);
    cell.y = tmap_warp_sum_redux(l->warp, cell.y);
    return cell;
}

TMAP_DEVICE tmap_xy tmap_warp_level_ballot(const tmap_warp_level *l, tmap_nbb f, tmap_u32 wx,
                                           tmap_u32 wy) {
    tmap_xy cell, tau;
    if (!tmap_nbb_has_ballot(f)) return tmap_warp_level_shuffle(l, f, wx, wy);
    if (l->several) return tmap_warp_lambda_ballot(l->warp, f, wx, wy, l->r);
    tau = tmap_nbb_tau(f, tmapi_warp_level_beta(l, f, wx, wy));
    cell.x = __ballot_sync(l->warp.mask, tau.x && l->side_x);
    cell.y = __ballot_sync(l->warp.mask, tau.y && l->side_x);
    return cell;
}

#endif // TMAP_CUDA
#endif
