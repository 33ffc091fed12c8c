// SPDX-License-Identifier: MIT
// fractal/warp.h: lambda computed by a warp together, one level per lane.
//
// All lanes pass the same omega. Lane l computes the offset of level mu = l + 1, and the warp adds
// the offsets: by shuffles as in the paper, by the integer reduction instruction, or, where s = 2,
// by two ballots, which are the two coordinates. A warp with fewer lanes than levels gives each
// lane several levels, so every block size works, down to one thread.
//
//     // blocks of 32 x 8 threads; a warp takes one tile of the gasket, 32 x 32, after another
//     tmap_warp_level level = tmap_warp_level_make(tmap_warp_full(), f, r - 5);
//     for (tmap_u32 wy = blockIdx.y * 8 + threadIdx.y; wy < box.y; wy += gridDim.y * 8) {
//         tmap_xy tile = tmap_warp_level_ballot(&level, f, blockIdx.x, wy); // box: its orthotope
//         for (tmap_u32 y = 0; y < 32; ++y)
//             if (tmap_nbb_contains(f, threadIdx.x, y, 5)) ... // 32 tile + (threadIdx.x, y)
//     }
//
// Source: Navarro et al., FGCS 113 (2020), theorem 1 and section 6.2; the ballot form is
// this library's.
//
// Functions are collective: all lanes that `warp` counts call them together with equal arguments,
// and all get the result. They use no memory, so calls may follow each other at once. The ranges of
// omega and r are those of tmap_nbb_lambda.
#ifndef TMAP_FRACTAL_WARP_H
#define TMAP_FRACTAL_WARP_H

#include "../warp.h"
#include "nbb.h"

#if TMAP_CUDA

// ---- lambda -------------------------------------------------------------------------------------

// The offsets that this lane adds to lambda: those of the levels lane + 1, lane + 1 + lanes,
// ... up to r.
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

// Lambda by warp shuffles. Cost: a power and two divisions per lane, 10 shuffles.
TMAP_DEVICE tmap_xy tmap_warp_lambda_shuffle(tmap_warp w, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                             tmap_u32 r) {
    tmap_xy cell = tmapi_warp_offset(w, f, wx, wy, r);
    cell.x = tmap_warp_sum_shuffle(w, cell.x);
    cell.y = tmap_warp_sum_shuffle(w, cell.y);
    return cell;
}

// Lambda by two integer reduction instructions (sm_80 and later; shuffles before). Cost: a power
// and two divisions per lane, two reductions.
TMAP_DEVICE tmap_xy tmap_warp_lambda_redux(tmap_warp w, tmap_nbb f, tmap_u32 wx, tmap_u32 wy,
                                           tmap_u32 r) {
    tmap_xy cell = tmapi_warp_offset(w, f, wx, wy, r);
    cell.x = tmap_warp_sum_redux(w, cell.x);
    cell.y = tmap_warp_sum_redux(w, cell.y);
    return cell;
}

// Lambda by ballot, for sx, sy <= 2: bit mu - 1 of a coordinate is the offset of level mu, which
// lane mu - 1 holds, so the ballots over the lanes' offsets are the coordinates. Other fractals use
// shuffles. Cost: a power and two divisions per lane, two ballots for each `lanes` levels.
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

// ---- lambda for many omega ----------------------------------------------------------------------
//
// A warp that maps one omega after another prepares its levels once; a digit then costs three
// multiplications. The ranges are the same.

// A lane's constants for its level, mu = lane + 1.
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

// Prepares this lane for linear indices: the functions below then take the index as both wx
// and wy. For more levels than lanes (`several`) call tmap_nbb_lambda_linear instead. Cost:
// as tmap_warp_level_make.
TMAP_DEVICE tmap_warp_level tmap_warp_level_make_linear(tmap_warp w, tmap_nbb f, tmap_u32 r) {
    return tmapi_warp_level_make(w, f, r, w.lane, 0);
}

// beta of this lane's level: with p = k^ceil(mu/2) (linear: k^mu) it is the integer part of k *
// frac(w / p). The fraction is computed in 64 bits from a reciprocal rounded up; its error, below w
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

// Lambda by shuffles, for a prepared warp. Cost: a digit and two products per lane, 10 shuffles.
TMAP_DEVICE tmap_xy tmap_warp_level_shuffle(const tmap_warp_level *l, tmap_nbb f, tmap_u32 wx,
                                            tmap_u32 wy) {
    tmap_xy cell;
    if (l->several) return tmap_warp_lambda_shuffle(l->warp, f, wx, wy, l->r);
    cell = tmapi_warp_level_offset(l, f, wx, wy);
    cell.x = tmap_warp_sum_shuffle(l->warp, cell.x);
    cell.y = tmap_warp_sum_shuffle(l->warp, cell.y);
    return cell;
}

// Lambda by the integer reduction instruction, for a prepared warp. Cost: a digit and two products
// per lane, two reductions (sm_80 and later; shuffles before).
TMAP_DEVICE tmap_xy tmap_warp_level_redux(const tmap_warp_level *l, tmap_nbb f, tmap_u32 wx,
                                          tmap_u32 wy) {
    tmap_xy cell;
    if (l->several) return tmap_warp_lambda_redux(l->warp, f, wx, wy, l->r);
    cell = tmapi_warp_level_offset(l, f, wx, wy);
    cell.x = tmap_warp_sum_redux(l->warp, cell.x);
    cell.y = tmap_warp_sum_redux(l->warp, cell.y);
    return cell;
}

// Lambda by ballot, for a prepared warp and sx, sy <= 2; other fractals use shuffles. Cost: a digit
// per lane, two ballots.
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
