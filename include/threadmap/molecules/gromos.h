// SPDX-License-Identifier: MIT
// gromos.h: clusters of n frames by the greedy algorithm of Daura et al. 1999 (Angewandte Chemie
// International Edition 38, 236), `gmx cluster -method gromos`, from a condensed distance matrix.
//
// The centre of the next cluster is the remaining frame with the most remaining neighbours, d(i, j)
// <= cutoff; it and its neighbours leave, and so on. Of frames with the same number of neighbours
// the lowest is taken. A frame counts as its own neighbour. (gmx cluster uses d < cutoff, and its
// sort decides the order of ties.)
//
//     const tmap_clusters clusters = {labels, centres, sizes, count}; // n numbers each, and one
//     tmap_cluster_plan plan;
//     cudaError_t error = tmap_gromos_plan_make(n, &plan);
//     ... cudaMalloc(&workspace, plan.workspace);
//     if (!error) error = tmap_gromos(&plan, distances, 0.15f, workspace, clusters, stream);
//
// The matrix is read once and becomes a bit matrix. Each round then finds many clusters.
#ifndef TMAP_MOLECULES_GROMOS_H
#define TMAP_MOLECULES_GROMOS_H

#include "cluster.h"

// The most frames: the grid has a block for each tile on and above the diagonal.
#define TMAP_GROMOS_MAX 16776960u

#define TMAPI_GROMOS_SIDE   256u
#define TMAPI_GROMOS_WARPS  8u // each takes 32 rows of the side
#define TMAPI_GROMOS_BLOCKS 3u // of a multiprocessor, resident at once

#if TMAP_CUDA && !TMAP_NVRTC

// ---- the bit matrix -----------------------------------------------------------------------------
//
// A block takes a tile of 256 x 256 distances, a warp 32 rows of it. A ballot gives a word of a
// row; the bits that a lane collects over the rows are a word of a row below the diagonal. Shared
// memory collects both, so that full sectors of 32 bytes are written.

typedef struct tmapi_gromos_matrix {
    const float *distances;
    tmap_u32 *bits, n, words, tiles; // words of a row, tiles along a side
    float cutoff;
} tmapi_gromos_matrix;

// The tile's bits before they are stored: 8 words of each row and of each column.
typedef struct tmapi_gromos_tile {
    uint4 rows[TMAPI_GROMOS_SIDE * 2];
    tmap_u32 columns[TMAPI_GROMOS_SIDE * 8];
} tmapi_gromos_tile;

// Position of word x of a column, without bank conflicts for writers and readers.
TMAP_DEVICE tmap_u32 tmapi_gromos_place(tmap_u32 column, tmap_u32 x) {
    return column * 8 + (x ^ column / 4 % 8);
}

// Reads a warp's rows of a tile, from (i, j) on. whole: 1: all pairs exist; 0: those of i < j < n.
TMAP_DEVICE void tmapi_gromos_bits_rows(const tmapi_gromos_matrix *m, tmap_u32 i, tmap_u32 j,
                                        tmapi_gromos_tile *t, const int whole) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = m->n;
    const float *from = m->distances + (tmap_i64)(tmap_condensed_index(i, j, n) + lane);
    const tmap_u32 rows = whole || i + 32 <= n ? 32 : i < n ? n - i : 0;
    tmap_i64 step = (tmap_i64)n - i - 2;           // to the next row
    const float none = __int_as_float(0x7fc00000); // NaN is close to nothing
    tmap_u32 columns[8] = {0}, bit = 1;
#pragma unroll 1
    for (tmap_u32 r = 0; r < rows; r += 4, bit <<= 4) {
        float d[4][8];
#pragma unroll
        for (tmap_u32 q = 0; q < 4; ++q, from += step--) {
#pragma unroll
            for (tmap_u32 k = 0; k < 8; ++k) {
                const tmap_u32 column = j + k * 32 + lane;
                d[q][k] = none;
                if (whole || (i + r + q < column && column < n)) d[q][k] = from[k * 32];
            }
        }
#pragma unroll
        for (tmap_u32 q = 0; q < 4; ++q) {
            tmap_u32 words[8];
#pragma unroll
            for (tmap_u32 k = 0; k < 8; ++k) {
                const int nearby = tmapi_cluster_less(d[q][k], m->cutoff, 1);
                words[k] = __ballot_sync(0xffffffffu, nearby);
                if (nearby) columns[k] |= bit << q;
            }
            if (lane == 0) {
                uint4 *to = t->rows + (warp * 32 + r + q) * 2;
                to[0] = make_uint4(words[0], words[1], words[2], words[3]);
                to[1] = make_uint4(words[4], words[5], words[6], words[7]);
            }
        }
    }
#pragma unroll
    for (tmap_u32 k = 0; k < 8; ++k)
        t->columns[tmapi_gromos_place(k * 32 + lane, warp)] = columns[k];
}

static __global__ void __launch_bounds__(TMAPI_GROMOS_WARPS * 32, TMAPI_GROMOS_BLOCKS)
    tmapi_gromos_bits(tmapi_gromos_matrix m) {
    __shared__ tmapi_gromos_tile t;
    const tmap_u32 side = TMAPI_GROMOS_SIDE, warp = threadIdx.x / 32;
    const tmap_pair64 tile = tmap_upper_map64(blockIdx.x, m.tiles);
    const tmap_u32 i = (tmap_u32)tile.i * side, j = (tmap_u32)tile.j * side;
    if (i < j && j + side <= m.n)
        tmapi_gromos_bits_rows(&m, i + warp * 32, j, &t, 1);
    else
        tmapi_gromos_bits_rows(&m, i + warp * 32, j, &t, 0);
    __syncthreads();
#pragma unroll
    for (tmap_u32 part = threadIdx.x; part < side * 2; part += TMAPI_GROMOS_WARPS * 32) {
        const tmap_u32 y = part / 2, x = part % 2 * 4; // four words of row y, from word x on
        uint4 upper = t.rows[part], lower;
        tmap_u32 *to = m.bits + ((tmap_u64)(i + y) * m.words + j / 32 + x);
        const tmap_u32 own = y / 32 - x, bit = 1u << y % 32;
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k) (&lower.x)[k] = t.columns[tmapi_gromos_place(y, x + k)];
        if (i == j) {
#pragma unroll
            for (tmap_u32 k = 0; k < 4; ++k) // a frame is its own neighbour
                (&upper.x)[k] |= (&lower.x)[k] | (own == k ? bit : 0);
        } else if (j + y < m.n) {
            *(uint4 *)(m.bits + ((tmap_u64)(j + y) * m.words + i / 32 + x)) = lower;
        }
        if (i + y < m.n) *(uint4 *)to = upper;
    }
}

// Writes the bit matrix of a plan's n frames: bit j % 32 of word j / 32 of row i is 1 if d(i, j) <=
// cutoff or i = j; it is 0 if the distance or the cutoff is NaN, and for columns from n on.
// bits: n rows of plan->words words, device memory at a multiple of 16. n = 0 does nothing.
// Cost: each distance is read once, and each word written once; six instructions a distance.
// Example: n = 3, distances 1, 5, 2, cutoff 2: rows 3, 7, 6.
static inline cudaError_t tmap_gromos_bits(const tmap_cluster_plan *plan, const float *distances,
                                           float cutoff, tmap_u32 *bits, cudaStream_t stream) {
    tmapi_launch_shape shape = {0, TMAPI_GROMOS_WARPS * 32, 0};
    tmapi_gromos_matrix m;
    void *arguments[1] = {&m};
    if (!plan || plan->kind != TMAPI_CLUSTER_GROMOS || !tmapi_cluster_has(plan, 1, bits, 16) ||
        !tmapi_cluster_has(plan, 2, distances, 4))
        return cudaErrorInvalidValue;
    if (plan->n == 0) return cudaSuccess;
    m.distances = distances, m.n = (tmap_u32)plan->n, m.cutoff = cutoff, m.bits = bits;
    m.words = (tmap_u32)plan->words;
    m.tiles = m.words / (TMAPI_GROMOS_SIDE / 32);
    shape.grid = tmap_triangle_cells(m.tiles);
    return tmapi_launch((const void *)tmapi_gromos_bits, shape, arguments, stream);
}

// ---- rounds -------------------------------------------------------------------------------------
//
// All rounds are one launch. A frame's key is its number of remaining neighbours; of equal keys the
// lower frame comes first. In a round each frame votes for the first of its neighbours. A frame
// that gets the votes of all its neighbours is a centre of the greedy algorithm, and they are its
// cluster, because keys only decrease. A round finds many clusters, which are sorted at the end.
//
// A row is read again only if the key of its frame's choice has decreased. A bound of the keys in a
// word skips most words.

// Arrays have an element for each frame, or for each word of a row of the bits.
typedef struct tmapi_gromos {
    const tmap_u32 *bits;
    tmap_u32 n, words; // words of a row
    tmap_clusters to;
    tmapi_cluster_control *control;
    tmapi_cluster_key *found; // unsorted clusters: ~size, centre
    tmap_u32 *counts;         // remaining neighbours; 0: the frame has left
    tmap_u32 *best, *seen;    // a frame's choice, and that frame's number of neighbours then
    tmap_u32 *votes;          // votes for a frame; at the end the number of its cluster
    tmap_u32 *gone, *ranks;   // frames in the order of leaving; ranks of clusters in `found`
    tmap_u32 *left, *bounds;  // bits of remaining frames; upper bound of counts in a word
} tmapi_gromos;

// The key of a frame, 0 for one that has left.
TMAP_DEVICE tmap_u64 tmapi_gromos_key(tmap_u32 count, tmap_u32 frame) {
    return count ? (tmap_u64)count << 32 | (0xffffffffu - frame) : 0;
}

TMAP_DEVICE const uint4 *tmapi_gromos_row(const tmapi_gromos *g, tmap_u32 frame) {
    return (const uint4 *)(g->bits + (tmap_u64)frame * g->words);
}

// Reads four words of a row, with the bits of remaining frames only.
TMAP_DEVICE uint4 tmapi_gromos_words(const tmapi_gromos *g, const uint4 *row, tmap_u32 at) {
    uint4 words = make_uint4(0, 0, 0, 0), left;
    if (at >= g->words / 4) return words;
    left = ((const uint4 *)g->left)[at];
    if (!(left.x | left.y | left.z | left.w)) return words;
    words = row[at];
    words.x &= left.x, words.y &= left.y, words.z &= left.z, words.w &= left.w;
    return words;
}

TMAP_DEVICE void tmapi_gromos_begin(const tmapi_gromos *g, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->thread; w < g->words; w += grid->threads) {
        const tmap_u32 frames = g->n / 32 > w ? 32 : g->n / 32 == w ? g->n % 32 : 0;
        g->left[w] = frames ? 0xffffffffu >> (32 - frames) : 0;
    }
    for (tmap_u32 v = grid->warp; v < g->n; v += grid->warps) {
        const uint4 *row = tmapi_gromos_row(g, v);
        tmap_u32 sum = 0;
#pragma unroll 4
        for (tmap_u32 at = grid->lane; at < g->words / 4; at += 32) {
            const uint4 w = row[at];
            sum += __popc(w.x) + __popc(w.y) + __popc(w.z) + __popc(w.w);
        }
        sum = tmap_warp_sum_redux(tmap_warp_full(), sum);
        if (grid->lane == 0) {
            g->counts[v] = sum, g->best[v] = v, g->seen[v] = 0;
            g->votes[v] = 0, g->ranks[v] = 0, g->to.labels[v] = v;
        }
    }
}

// Sets the bounds from counts that other threads may be reducing.
TMAP_DEVICE void tmapi_gromos_bound(const tmapi_gromos *g, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->warp; w < g->words; w += grid->warps) {
        tmap_u32 most = 0;
        if (g->left[w] >> grid->lane & 1)
            most = tmapi_cluster_load(g->counts + w * 32 + grid->lane);
        most = tmapi_cluster_max(most);
        if (grid->lane == 0) g->bounds[w] = most;
    }
}

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

// The largest key among the neighbours of frame v. best: a key of one of them, as a start.
// Collective for the warp; the arguments are the same in all lanes.
TMAP_DEVICE tmap_u64 tmapi_gromos_first(const tmapi_gromos *g, tmap_u32 v, tmap_u64 best) {
    const uint4 *row = tmapi_gromos_row(g, v);
    const tmap_u32 lane = threadIdx.x % 32;
    uint4 next = tmapi_gromos_words(g, row, lane);
#pragma unroll 1
    for (tmap_u32 at = lane; at - lane < g->words / 4; at += 32) {
        const uint4 words = next;
        const tmap_u64 before = best;
        next = tmapi_gromos_words(g, row, at + 32);
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k)
            best = tmapi_gromos_word(g, at * 4 + k, (&words.x)[k], best);
        if (__any_sync(0xffffffffu, best != before)) best = tmapi_cluster_max64(best);
    }
    return best;
}

// All remaining frames vote; they first choose again if the key of their choice has changed. A
// warp's frames are far apart, because neighbours often choose at the same time.
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

// Removes the frames whose choice has the votes of all its neighbours, and labels them with it.
TMAP_DEVICE void tmapi_gromos_leave(const tmapi_gromos *g, const tmapi_cluster_grid *grid) {
    for (tmap_u32 w = grid->warp; w < g->words; w += grid->warps) {
        const tmap_u32 v = w * 32 + grid->lane, left = g->left[w];
        tmap_u32 centre = v, count = 0, lanes, place;
        int leaves = 0;
        if (left >> grid->lane & 1) {
            centre = g->best[v], count = g->counts[centre];
            leaves = g->votes[centre] == count;
        }
        lanes = __ballot_sync(0xffffffffu, leaves);
        if (!lanes) continue;
        place = tmapi_cluster_append(&g->control->gone, leaves);
        if (leaves) g->gone[place] = v, g->to.labels[v] = centre;
        place = tmapi_cluster_append(&g->control->found, leaves && centre == v);
        const tmapi_cluster_key key = {~count, v, 0, 0};
        if (leaves && centre == v) g->found[place] = key;
        if (grid->lane == 0) g->left[w] = left & ~lanes;
    }
}

// Subtracts frames `from` to `to` - 1 of those that have left from their neighbours' counts.
TMAP_DEVICE void tmapi_gromos_update(const tmapi_gromos *g, const tmapi_cluster_grid *grid,
                                     tmap_u32 from, tmap_u32 to) {
    for (tmap_u32 v = grid->thread; v < g->n; v += grid->threads) g->votes[v] = 0;
    for (tmap_u32 k = from + grid->warp; k < to; k += grid->warps) {
        const tmap_u32 v = g->gone[k];
        const uint4 *row = tmapi_gromos_row(g, v);
#pragma unroll 2
        for (tmap_u32 at = grid->lane; at < g->words / 4; at += 32) {
            const uint4 words = tmapi_gromos_words(g, row, at);
#pragma unroll
            for (tmap_u32 k = 0; k < 4; ++k)
                for (tmap_u32 bits = (&words.x)[k]; bits; bits &= bits - 1)
                    atomicSub(g->counts + (at * 128 + k * 32 + (tmap_u32)__ffs((int)bits) - 1), 1u);
        }
        if (grid->lane == 0) g->counts[v] = 0;
    }
    tmapi_gromos_bound(g, grid);
}

TMAP_DEVICE void tmapi_gromos_finish(const tmapi_gromos *g, tmapi_cluster_grid *grid) {
    const tmap_u32 found = tmapi_cluster_load(&g->control->found);
    tmapi_cluster_rank(g->found, found, g->ranks);
    tmapi_cluster_barrier(grid);
    for (tmap_u32 k = grid->thread; k < found; k += grid->threads) {
        const tmap_u32 rank = g->ranks[k], centre = g->found[k].middle;
        g->to.centres[rank] = centre, g->to.sizes[rank] = ~g->found[k].high;
        g->votes[centre] = rank;
    }
    tmapi_cluster_barrier(grid);
    for (tmap_u32 v = grid->thread; v < g->n; v += grid->threads) {
        const tmap_u32 cluster = g->votes[g->to.labels[v]];
        g->to.labels[v] = cluster < found ? cluster : 0; // the matrix is not symmetric
    }
    if (grid->thread == 0) *g->to.count = found;
}

static __global__ void __launch_bounds__(TMAPI_CLUSTER_THREADS, 1)
    tmapi_gromos_clusters(tmapi_gromos g) {
    tmapi_cluster_grid grid = tmapi_cluster_self(g.control);
    tmap_u32 gone = 0, before;
    tmapi_gromos_begin(&g, &grid);
    tmapi_cluster_barrier(&grid);
    tmapi_gromos_bound(&g, &grid);
    tmapi_cluster_barrier(&grid);
#pragma unroll 1
    for (;;) {
        tmapi_gromos_vote(&g, &grid);
        tmapi_cluster_barrier(&grid);
        tmapi_gromos_leave(&g, &grid);
        tmapi_cluster_barrier(&grid);
        before = gone, gone = tmapi_cluster_load(&g.control->gone);
        if (gone == g.n || gone == before) break; // the latter: not a symmetric matrix
        tmapi_gromos_update(&g, &grid, before, gone);
        tmapi_cluster_barrier(&grid);
    }
    tmapi_gromos_finish(&g, &grid);
}

// ---- launches -----------------------------------------------------------------------------------

// Makes the plan for n frames on the current device. n: up to TMAP_GROMOS_MAX.
// Example: n = 32768: 135536704 bytes, 134217728 of them for the bits, with 1024 words a row.
static inline cudaError_t tmap_gromos_plan_make(tmap_u64 n, tmap_cluster_plan *out) {
    tmap_cluster_plan p = {0, n, 0, 0, TMAPI_CLUSTER_GROMOS, {0, 0, 0}, {0, 0, 0}};
    p.words = (n + TMAPI_GROMOS_SIDE - 1) / TMAPI_GROMOS_SIDE * (TMAPI_GROMOS_SIDE / 32);
    p.bits = n * p.words * 4;
    p.workspace = p.bits + 64 + p.words * (32 * (6 * 4 + sizeof(tmapi_cluster_key)) + 2 * 4);
    return tmapi_cluster_plan_make(p, TMAP_GROMOS_MAX, (const void *)tmapi_gromos_clusters, 0, out);
}

// Clusters n frames whose neighbours are in a bit matrix. Clusters are numbered in the order in
// which the greedy algorithm finds them, so their sizes do not increase; the first *clusters.count
// centres and sizes are written.
// bits: as tmap_gromos_bits writes it; a matrix that is not symmetric with a diagonal of 1 gives
// unspecified numbers below n. n = 0 writes only *clusters.count.
// workspace: plan->workspace - plan->bits bytes are enough. The launch is cooperative.
// Cost: a row of the bits is read three times, and again whenever its frame chooses again; three
// device-wide barriers a round.
// Example: n = 4, neighbours 0-1, 1-2, 2-3: labels 0, 0, 0, 1; centres 1, 3; sizes 3, 1.
static inline cudaError_t tmap_gromos_of_bits(const tmap_cluster_plan *plan, const tmap_u32 *bits,
                                              void *workspace, tmap_clusters clusters,
                                              cudaStream_t stream) {
    tmap_u64 words, frames;
    tmapi_gromos g;
    if (!tmapi_cluster_ready(plan, TMAPI_CLUSTER_GROMOS, workspace, clusters) ||
        !tmapi_cluster_has(plan, 1, bits, 16))
        return cudaErrorInvalidValue;
    if (!plan->n) return cudaMemsetAsync(clusters.count, 0, sizeof *clusters.count, stream);
    words = plan->words, frames = words * 32;
    g.bits = bits, g.n = (tmap_u32)plan->n, g.words = (tmap_u32)words, g.to = clusters;
    g.control = (tmapi_cluster_control *)workspace;
    g.found = (tmapi_cluster_key *)((unsigned char *)workspace + 64);
    g.counts = (tmap_u32 *)(g.found + frames);
    g.best = g.counts + frames, g.seen = g.best + frames, g.votes = g.seen + frames;
    g.gone = g.votes + frames, g.ranks = g.gone + frames;
    g.left = g.ranks + frames, g.bounds = g.left + words;
    return tmapi_cluster_launch((const void *)tmapi_gromos_clusters, plan->first, g.control, &g,
                                stream);
}

// Clusters n frames from their distances: tmap_gromos_bits, then tmap_gromos_of_bits.
// Example: n = 3, distances 1, 5, 2, cutoff 1: labels 0, 0, 1; centres 0, 2; sizes 2, 1.
static inline cudaError_t tmap_gromos(const tmap_cluster_plan *plan, const float *distances,
                                      float cutoff, void *workspace, tmap_clusters clusters,
                                      cudaStream_t stream) {
    tmap_u32 *bits = (tmap_u32 *)workspace;
    cudaError_t error = cudaErrorInvalidValue;
    if (tmapi_cluster_ready(plan, TMAPI_CLUSTER_GROMOS, workspace, clusters))
        error = tmap_gromos_bits(plan, distances, cutoff, bits, stream);
    return error ? error : tmap_gromos_of_bits(plan, bits, bits + plan->bits / 4, clusters, stream);
}

#endif
#endif
