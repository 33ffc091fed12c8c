// SPDX-License-Identifier: MIT
// group.h: lambda by a group of lanes, so that a warp maps several omega at once.
//
// Theorem 1 of the paper: with G lanes for r levels, each lane sums ceil(r/G) levels and log2 G
// shuffles add the results; by Brent's bound about log n / log log n lanes suffice to match one
// lane for each level. A warp then has 32 / G groups with different omega.
//
// Fewer lanes are faster: on an H200 (gasket, level 16) groups of G = 1, 2, 4, 8, 16, 32 lanes map
// 6.3, 4.9, 3.3, 1.8, 1.7 and 0.9 times as many tiles a second as one level per lane. If each tile
// must then reach all lanes of the warp, by two shuffles more: 3.4, 2.9, 2.3, 1.5 and 1.4.
//
// Source: Navarro et al., FGCS 113 (2020), theorem 1; the ballot form is this library's.
//
// Functions are collective: all lanes of the warp in tmap_warp must call together, with arguments
// equal within a group; all lanes of the group receive the result. The last group of a partial warp
// may have fewer lanes; it gives the same results. Ranges are those of tmap_nbb_lambda.
#ifndef TMAP_PAPERS_GROUP_H
#define TMAP_PAPERS_GROUP_H

#include "../fractal/warp.h"

#if TMAP_CUDA

// A lane's data of its group, prepared for one fractal and level. Make it once, before a loop.
typedef struct tmap_group {
    tmap_warp warp;
    tmap_u32 lanes;          // G: 1, 2, 4, 8, 16 or 32
    tmap_u32 lane, first;    // this lane in its group, and the group's first lane in the warp
    tmap_u32 here;           // existing lanes; below G only in a partial warp
    tmap_u32 r;              // the fractal's level
    tmap_u32 reads_y;        // 1: this lane's levels read wy
    int whole;               // 1: its first digit is the lowest one
    tmap_u64 reciprocal;     // ceil(2^64 / p), p = k^digits below this lane's first one; 0: none
    tmap_u32 side_x, side_y; // sx^lane, sy^lane
} tmap_group;

// Lanes of a group as the functions use them: a power of two up to 32; others are rounded down.
TMAP_DEVICE tmap_u32 tmapi_group_lanes(tmap_u32 lanes) {
    tmap_u32 g = 1;
    while (g < 32 && 2 * g <= lanes) g *= 2;
    return g;
}

// Prepares this lane for groups of `lanes` lanes, fractal f of level r, and orthotope coordinates.
// lanes: 1, 2, 4, 8, 16 or 32 (others are rounded down to one of them); a constant, so that the
// loops unroll. w: tmap_warp_full() in blocks of full warps, else tmap_warp_self().
// Lane i takes levels i + 1, i + 1 + G, ...: G is even, so all of them read the same axis, and the
// omega is divided by k^(G/2) from one to the next.
TMAP_DEVICE tmap_group tmap_group_make(tmap_warp w, tmap_nbb f, tmap_u32 r, tmap_u32 lanes) {
    tmap_group g;
    tmap_u64 p;
    g.warp = w;
    g.lanes = tmapi_group_lanes(lanes);
    g.lane = w.lane & (g.lanes - 1);
    g.first = w.lane - g.lane;
    g.here = w.lanes - g.first < g.lanes ? w.lanes - g.first : g.lanes;
    g.r = r;
    g.reads_y = g.lane & 1u;
    p = g.lane < r ? tmapi_pow64(f.k, g.lane / 2) : 0;
    g.whole = p == 1;
    g.reciprocal = p ? ~0ull / p + 1 : 0;
    g.side_x = tmapi_pow32(f.sx, g.lane);
    g.side_y = tmapi_pow32(f.sy, g.lane);
    return g;
}

// The omega of this lane, without the digits below its first one: exact, as omega < 2^32 and p <=
// 2^32. 0 for a lane without a level.
TMAP_DEVICE tmap_u32 tmapi_group_digits(const tmap_group *g, tmap_u32 wx, tmap_u32 wy) {
    tmap_u32 w = g->reads_y ? wy : wx;
    return g->whole ? w : (tmap_u32)__umul64hi(w, g->reciprocal);
}

// Divisor of a lane's omega from one of its levels to the next: at least 2^32 - 1 if none is left.
TMAP_DEVICE tmap_u32 tmapi_group_step(const tmap_group *g, tmap_nbb f) {
    tmap_u32 p = 1;
    for (tmap_u32 i = 0; i < g->lanes / 2; ++i) p = p > 0xffffffffu / f.k ? 0xffffffffu : p * f.k;
    return p;
}

// The sum of v over the group. Cost: log2 G shuffles.
TMAP_DEVICE tmap_u32 tmapi_group_sum(const tmap_group *g, tmap_u32 v) {
    if (g->warp.lanes == 32) {
#pragma unroll
        for (tmap_u32 step = 16; step; step >>= 1)
            if (step < g->lanes) v += __shfl_xor_sync(0xffffffffu, v, step);
        return v;
    }
    for (tmap_u32 step = g->lanes / 2; step; step >>= 1) { // lanes that do not exist add nothing
        tmap_u32 other = g->lane + step;
        tmap_u32 u = __shfl_sync(g->warp.mask, v, g->first + (other < g->here ? other : g->lane));
        if (other < g->here) v += u;
    }
    return __shfl_sync(g->warp.mask, v, g->first);
}

// Lambda of omega (wx, wy) of this lane's group.
// Law: tmap_group_lambda(&g, f, wx, wy) == tmap_nbb_lambda(f, wx, wy, r).
// Cost: ceil(r/G) digits a lane and 2 log2 G shuffles, for 32 / G omega.
// Example: gasket, r = 2, G = 4, all of omega (2, 1): (1,3) in every lane.
TMAP_DEVICE tmap_xy tmap_group_lambda(const tmap_group *g, tmap_nbb f, tmap_u32 wx, tmap_u32 wy) {
    tmap_xy cell = {0, 0};
    tmap_u32 w, side_x = g->side_x, side_y = g->side_y, step, jump_x, jump_y;
    if (g->lanes == 1) return tmap_nbb_lambda(f, wx, wy, g->r);
    if (g->here < g->lanes) { // the levels of lanes that do not exist would be missing
        if (g->lane == 0) cell = tmap_nbb_lambda(f, wx, wy, g->r);
    } else {
        w = tmapi_group_digits(g, wx, wy);
        step = tmapi_group_step(g, f);
        jump_x = tmapi_pow32(f.sx, g->lanes);
        jump_y = tmapi_pow32(f.sy, g->lanes);
        for (tmap_u32 mu = g->lane + 1; mu <= g->r; mu += g->lanes) {
            tmap_xy tau = tmap_nbb_tau(f, w % f.k);
            w /= step;
            cell.x += tau.x * side_x, side_x *= jump_x;
            cell.y += tau.y * side_y, side_y *= jump_y;
        }
    }
    cell.x = tmapi_group_sum(g, cell.x);
    cell.y = tmapi_group_sum(g, cell.y);
    return cell;
}

// tmap_group_lambda by ballots, for sx, sy <= 2: a group's bits of a ballot are G bits of its
// coordinate. Other fractals, and partial warps, use tmap_group_lambda. Cost: ceil(r/G) digits a
// lane and the same number of pairs of ballots, for 32 / G omega.
TMAP_DEVICE tmap_xy tmap_group_lambda_ballot(const tmap_group *g, tmap_nbb f, tmap_u32 wx,
                                             tmap_u32 wy) {
    tmap_xy cell = {0, 0};
    tmap_u32 w, step, bits = 0xffffffffu >> (32 - g->lanes);
    if (!tmap_nbb_has_ballot(f) || g->warp.lanes < 32 || g->lanes == 1)
        return tmap_group_lambda(g, f, wx, wy);
    w = tmapi_group_digits(g, wx, wy);
    step = tmapi_group_step(g, f);
    for (tmap_u32 below = 0; below < g->r && below < 32; below += g->lanes) {
        tmap_xy tau = tmap_nbb_tau(f, w % f.k);
        int has = below + g->lane < g->r;
        w /= step;
        cell.x |= (__ballot_sync(0xffffffffu, has && tau.x) >> g->first & bits) << below;
        cell.y |= (__ballot_sync(0xffffffffu, has && tau.y) >> g->first & bits) << below;
    }
    return cell;
}

#endif // TMAP_CUDA
#endif
