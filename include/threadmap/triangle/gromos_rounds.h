// SPDX-License-Identifier: MIT
// gromos_rounds.h: the rounds of the clustering of gromos.h, all in one launch.
//
// Frames have keys: the number of their neighbours that are left, and of equal numbers the lower
// frame comes first. In a round each frame votes for the first one of its neighbours. A frame for
// which all its neighbours vote is a centre of the greedy algorithm, and its neighbours are that
// cluster: any other frame that could take one of them away comes after it among that neighbour's
// own, and keys only fall. So many clusters are found in a round, out of order. The greedy
// algorithm finds clusters by falling size, and those of a size by their centres, since of the
// frames that have the most neighbours it takes the lowest, and none joins them; so that sorting
// restores its order.
//
// A frame's choice stands as long as its key does. Only where it has fallen is the frame's row
// read again, and there most words are passed over by a bound of the keys in them. The other rows
// that are read are those of frames that leave: they reduce their neighbours' numbers. That is each
// row once in all.
#ifndef TMAP_TRIANGLE_GROMOS_ROUNDS_H
#define TMAP_TRIANGLE_GROMOS_ROUNDS_H

#include "cluster.h"
#include "gromos_bits.h"

// Counters, which are zero before the launch. rounds: for measurements alone.
typedef struct tmapi_gromos_control {
    tmap_u32 arrived, gone, found, rounds;
} tmapi_gromos_control;

// What the kernel gets. Arrays have a place for each frame, or for each word of a row of the bits.
typedef struct tmapi_gromos {
    const tmap_u32 *bits;
    tmap_u32 n, words; // words of a row
    tmap_u32 *labels, *centres, *sizes;
    tmap_u64 *clusters;
    tmapi_gromos_control *control;
    tmapi_cluster_key *found; // clusters out of order: ~size, centre
    tmap_u32 *counts;         // neighbours that are left; 0: the frame is gone
    tmap_u32 *best, *seen;    // a frame's choice, and the number of neighbours that it had then
    tmap_u32 *votes;          // for a frame; in the end the number of its cluster
    tmap_u32 *gone;           // frames in the order in which they leave
    tmap_u32 *ranks;          // of clusters in `found`
    tmap_u32 *left;           // bits of the frames that are left
    tmap_u32 *bounds;         // no frame of a word that is left has more neighbours
} tmapi_gromos;

#if TMAP_CUDA

// The key of a frame, 0 for one that is gone.
TMAP_DEVICE tmap_u64 tmapi_gromos_key(tmap_u32 count, tmap_u32 frame) {
    return count ? (tmap_u64)count << 32 | (0xffffffffu - frame) : 0;
}

// Four words of a row, of which only the frames that are left count.
TMAP_DEVICE uint4 tmapi_gromos_words(const tmapi_gromos *g, const uint4 *row, tmap_u32 at) {
    uint4 words = make_uint4(0, 0, 0, 0), left;
    if (at >= g->words / 4) return words;
    left = ((const uint4 *)g->left)[at];
    if (!(left.x | left.y | left.z | left.w)) return words;
    words = row[at];
    words.x &= left.x, words.y &= left.y, words.z &= left.z, words.w &= left.w;
    return words;
}

// ---- before the rounds --------------------------------------------------------------------------

TMAP_DEVICE void tmapi_gromos_begin(const tmapi_gromos *g, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->thread; w < g->words; w += grid->threads) {
        const tmap_u32 frames = g->n / 32 > w ? 32 : g->n / 32 == w ? g->n % 32 : 0;
        g->left[w] = frames ? 0xffffffffu >> (32 - frames) : 0;
    }
    for (tmap_u32 v = grid->warp; v < g->n; v += grid->warps) {
        const uint4 *row = (const uint4 *)(g->bits + (tmap_u64)v * g->words);
        tmap_u32 sum = 0;
#pragma unroll 4
        for (tmap_u32 at = grid->lane; at < g->words / 4; at += 32) {
            const uint4 w = row[at];
            sum += __popc(w.x) + __popc(w.y) + __popc(w.z) + __popc(w.w);
        }
        sum = tmap_warp_sum_redux(tmap_warp_full(), sum);
        if (grid->lane == 0) {
            g->counts[v] = sum, g->best[v] = v, g->seen[v] = 0;
            g->votes[v] = 0, g->ranks[v] = 0, g->labels[v] = v;
        }
    }
}

// The bounds, of numbers that other threads may be reducing.
TMAP_DEVICE void tmapi_gromos_bound(const tmapi_gromos *g, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->warp; w < g->words; w += grid->warps) {
        tmap_u32 most = 0;
        if (g->left[w] >> grid->lane & 1)
            most = tmapi_cluster_load(g->counts + w * 32 + grid->lane);
        most = tmapi_cluster_max(most);
        if (grid->lane == 0) g->bounds[w] = most;
    }
}

// ---- votes --------------------------------------------------------------------------------------

// The larger of `best` and the largest key of the frames of word w that are set in `bits`.
TMAP_DEVICE tmap_u64 tmapi_gromos_word(const tmapi_gromos *g, tmap_u32 w, tmap_u32 bits,
                                       tmap_u64 best) {
    if (!bits || tmapi_gromos_key(g->bounds[w], w * 32) <= best) return best;
    while (bits) { // two at a time
        const tmap_u32 a = w * 32 + (tmap_u32)__ffs((int)bits) - 1, rest = bits & (bits - 1);
        const tmap_u32 b = rest ? w * 32 + (tmap_u32)__ffs((int)rest) - 1 : a;
        const tmap_u64 u = tmapi_gromos_key(g->counts[a], a), v = tmapi_gromos_key(g->counts[b], b);
        best = u > best ? u : best, best = v > best ? v : best;
        bits = rest & (rest - 1);
    }
    return best;
}

// The largest key among the neighbours of frame v, at least `best`, which is one of theirs.
// Collective for the warp; the arguments are the same in all lanes.
TMAP_DEVICE tmap_u64 tmapi_gromos_first(const tmapi_gromos *g, tmap_u32 v, tmap_u64 best) {
    const uint4 *row = (const uint4 *)(g->bits + (tmap_u64)v * g->words);
    const tmap_u32 lane = threadIdx.x % 32;
    uint4 next = tmapi_gromos_words(g, row, lane);
#pragma unroll 1
    for (tmap_u32 at = lane; at - lane < g->words / 4; at += 32) {
        const uint4 words = next;
        const tmap_u64 before = best;
        next = tmapi_gromos_words(g, row, at + 32);
        best = tmapi_gromos_word(g, at * 4, words.x, best);
        best = tmapi_gromos_word(g, at * 4 + 1, words.y, best);
        best = tmapi_gromos_word(g, at * 4 + 2, words.z, best);
        best = tmapi_gromos_word(g, at * 4 + 3, words.w, best);
        if (__any_sync(0xffffffffu, best != before)) best = tmapi_cluster_max64(best);
    }
    return best;
}

// All frames that are left vote; those whose choice has another key than then choose anew. Frames
// of a warp lie far apart, as those that are near to each other often choose at the same time.
TMAP_DEVICE void tmapi_gromos_vote(const tmapi_gromos *g, const tmapi_cluster_grid *grid) {
    for (tmap_u64 begin = grid->warp; begin < g->n; begin += grid->warps * 32ull) {
        const tmap_u64 at = begin + (tmap_u64)grid->lane * grid->warps;
        const tmap_u32 v = (tmap_u32)at, count = at < g->n ? g->counts[v] : 0;
        tmap_u32 chosen = count ? g->best[v] : v, now = count ? g->counts[chosen] : 0;
        tmap_u32 stale = __ballot_sync(0xffffffffu, count && now != g->seen[v]);
        const tmap_u32 voters = __ballot_sync(0xffffffffu, count != 0);
        tmap_u64 best = tmapi_gromos_key(count, v);
        if (tmapi_gromos_key(now, chosen) > best) best = tmapi_gromos_key(now, chosen);
#pragma unroll 1
        for (; stale; stale &= stale - 1) {
            const tmap_u32 from = (tmap_u32)__ffs((int)stale) - 1;
            const tmap_u64 key = tmapi_gromos_first(g, __shfl_sync(0xffffffffu, v, from),
                                                    __shfl_sync(0xffffffffu, best, from));
            if (grid->lane == from) {
                chosen = 0xffffffffu - (tmap_u32)key;
                g->best[v] = chosen, g->seen[v] = (tmap_u32)(key >> 32);
            }
        }
        if (count) {
            const tmap_u32 same = __match_any_sync(voters, chosen);
            if (grid->lane == (tmap_u32)__ffs((int)same) - 1)
                atomicAdd(g->votes + chosen, (tmap_u32)__popc(same));
        }
    }
}

// ---- clusters -----------------------------------------------------------------------------------

// Frames leave whose choice all of its neighbours have voted for. Their labels are their centres.
TMAP_DEVICE void tmapi_gromos_leave(const tmapi_gromos *g, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->warp; w < g->words; w += grid->warps) {
        const tmap_u32 v = w * 32 + grid->lane, left = g->left[w];
        tmap_u32 centre = v, count = 0, lanes, place;
        int leaves = 0;
        if (!left) continue; // the same in all lanes
        if (left >> grid->lane & 1) {
            centre = g->best[v], count = g->counts[centre];
            leaves = g->votes[centre] == count;
        }
        lanes = __ballot_sync(0xffffffffu, leaves);
        if (!lanes) continue;
        place = tmapi_cluster_append(&g->control->gone, leaves);
        if (leaves) g->gone[place] = v, g->labels[v] = centre;
        place = tmapi_cluster_append(&g->control->found, leaves && centre == v);
        if (leaves && centre == v) {
            g->found[place].high = ~count, g->found[place].middle = v;
            g->found[place].low = g->found[place].none = 0;
        }
        if (grid->lane == 0) g->left[w] = left & ~lanes;
    }
}

// One neighbour less for each bit that is set in word w.
TMAP_DEVICE void tmapi_gromos_reduce(const tmapi_gromos *g, tmap_u32 w, tmap_u32 bits) {
    for (; bits; bits &= bits - 1)
        atomicSub(g->counts + (w * 32 + (tmap_u32)__ffs((int)bits) - 1), 1u);
}

// Frames number `from` up to `to` of those that are gone are taken off their neighbours' numbers,
// and the next round is prepared.
TMAP_DEVICE void tmapi_gromos_update(const tmapi_gromos *g, const tmapi_cluster_grid *grid,
                                     tmap_u32 from, tmap_u32 to) {
    for (tmap_u32 v = grid->thread; v < g->n; v += grid->threads) g->votes[v] = 0;
    for (tmap_u32 k = from + grid->warp; k < to; k += grid->warps) {
        const tmap_u32 v = g->gone[k];
        const uint4 *row = (const uint4 *)(g->bits + (tmap_u64)v * g->words);
#pragma unroll 2
        for (tmap_u32 at = grid->lane; at < g->words / 4; at += 32) {
            const uint4 words = tmapi_gromos_words(g, row, at);
            tmapi_gromos_reduce(g, at * 4, words.x), tmapi_gromos_reduce(g, at * 4 + 1, words.y);
            tmapi_gromos_reduce(g, at * 4 + 2, words.z);
            tmapi_gromos_reduce(g, at * 4 + 3, words.w);
        }
        if (grid->lane == 0) g->counts[v] = 0;
    }
    tmapi_gromos_bound(g, grid);
}

// Sorts the clusters and writes what the caller wants of them.
TMAP_DEVICE void tmapi_gromos_finish(const tmapi_gromos *g, tmapi_cluster_grid *grid,
                                     tmapi_cluster_key *chunk) {
    const tmap_u32 found = tmapi_cluster_load(&g->control->found);
    tmapi_cluster_rank(g->found, found, g->ranks, chunk);
    tmapi_cluster_barrier(grid);
    for (tmap_u32 k = grid->thread; k < found; k += grid->threads) {
        const tmap_u32 rank = g->ranks[k], centre = g->found[k].middle;
        g->centres[rank] = centre, g->sizes[rank] = ~g->found[k].high, g->votes[centre] = rank;
    }
    tmapi_cluster_barrier(grid);
    for (tmap_u32 v = grid->thread; v < g->n; v += grid->threads) {
        const tmap_u32 cluster = g->votes[g->labels[v]];
        g->labels[v] = cluster < found ? cluster : 0; // of a matrix that is not symmetric
    }
    if (grid->thread == 0) *g->clusters = found;
}

// All of it. Collective for the launch.
TMAP_DEVICE void tmapi_gromos_run(const tmapi_gromos *g, tmapi_cluster_key *chunk) {
    tmapi_cluster_grid grid = tmapi_cluster_self(&g->control->arrived);
    tmap_u32 gone = 0, rounds = 0, before;
    tmapi_gromos_begin(g, &grid);
    tmapi_cluster_barrier(&grid);
    tmapi_gromos_bound(g, &grid);
    tmapi_cluster_barrier(&grid);
#pragma unroll 1
    for (;;) {
        tmapi_gromos_vote(g, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_gromos_leave(g, &grid);
        tmapi_cluster_barrier(&grid);
        before = gone, gone = tmapi_cluster_load(&g->control->gone), ++rounds;
        if (gone == g->n || gone == before) break; // the latter: it is no symmetric matrix
        tmapi_gromos_update(g, &grid, before, gone);
        tmapi_cluster_barrier(&grid);
    }
    if (grid.thread == 0) g->control->rounds = rounds;
    tmapi_gromos_finish(g, &grid, chunk);
}

#endif // TMAP_CUDA
#endif
