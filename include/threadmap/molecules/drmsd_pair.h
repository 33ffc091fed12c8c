// SPDX-License-Identifier: MIT
// drmsd_pair.h: the dRMSD of two frames with many atoms, in one launch.
//
//     const tmap_drmsd_shape shape = {n, 1, TMAP_DRMSD_PAIR, 0, 0};
//     const tmap_drmsd_in in = {b, a, 0}; // frames b and a, the reference
//
// drmsd.h has the equation and the calls. Threads add floats, whose sums are joined as doubles.
#ifndef TMAP_MOLECULES_DRMSD_PAIR_H
#define TMAP_MOLECULES_DRMSD_PAIR_H

#include "drmsd.h"

#if TMAP_CUDA

// A tmap_pairs_visit that adds the term of a pair, (d_ij^A - d_ij^B)^2, to a tmap_drmsd_sum. A
// point is an atom's x, y, z in frame A, then in frame B. Cost: 15 instructions, two of them roots.
TMAP_DEVICE void tmap_drmsd_visit(void *, void *sum, tmap_pair, const void *u, const void *v) {
    const float *a = (const float *)u, *b = (const float *)v;
    const tmapi_drmsd_box none = {};
    const float first = tmapi_drmsd_distance(a, b, none, 0);
    const float d = first - tmapi_drmsd_distance(a + 3, b + 3, none, 0);
    ((tmap_drmsd_sum *)sum)->terms += d * d;
}

// A tmap_fold_join that adds a tmap_drmsd_sum to another, in double precision.
TMAP_DEVICE void tmap_drmsd_join(void *, void *sum, const void *other) {
    tmap_drmsd_sum *s = (tmap_drmsd_sum *)sum;
    const tmap_drmsd_sum *o = (const tmap_drmsd_sum *)other;
    s->all_terms += (double)s->terms + ((double)o->terms + o->all_terms);
    s->all_weights += (double)s->weights + ((double)o->weights + o->all_weights);
    s->terms = s->weights = 0;
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// ---- atoms --------------------------------------------------------------------------------------

typedef struct tmapi_drmsd_pair_sum {
    double terms, weights;
} tmapi_drmsd_pair_sum;

typedef struct tmapi_drmsd_pair_job {
    const float *reference, *frame, *box; // box: of the reference
    tmap_drmsd_atoms which;
    double pairs; // number of pairs; not used if weights are summed
    tmap_u64 *counter;
    tmapi_drmsd_pair_sum *parts; // of each block
    float *out;
} tmapi_drmsd_pair_job;

// x, y, z in the reference, then in the frame; and the weight.
typedef struct tmapi_drmsd_pair_atom {
    float f[7];
} tmapi_drmsd_pair_atom;

// One number of each of four atoms.
typedef struct tmapi_drmsd_pair_four {
    alignas(16) float f[4];
} tmapi_drmsd_pair_four;

// Loads atom number k of those that count; 0 if there is none. weighted: a constant.
TMAP_DEVICE tmapi_drmsd_pair_atom tmapi_drmsd_pair_load(const tmapi_drmsd_pair_job *j, tmap_u32 k,
                                                        tmap_u32 atoms, int weighted) {
    tmapi_drmsd_pair_atom atom = {};
    if (k >= atoms) return atom;
    if (weighted) atom.f[6] = j->which.weights ? j->which.weights[k] : 1.0f;
    const tmap_u64 at = 3ull * (j->which.atoms ? j->which.atoms[k] : k);
#pragma unroll
    for (tmap_u32 c = 0; c < 3; ++c)
        atom.f[c] = j->reference[at + c], atom.f[3 + c] = j->frame[at + c];
    return atom;
}

// ---- pairs --------------------------------------------------------------------------------------
//
// A warp has 128 atoms j, four of them in each lane's registers. Atoms i are in shared memory,
// ordered by number, and all lanes read the same four at once.

// What a warp works on. Sums are those of a lane. Kernels set `weighted` and `boxed`, constants.
typedef struct tmapi_drmsd_pair_lane {
    tmapi_drmsd_pair_atom mine[4];    // atoms j, j + 32, j + 64, j + 96
    const tmapi_drmsd_pair_four *row; // the first atom i
    tmap_u32 i, j, rows;              // its number, that of mine[0], and how many atoms i there are
    float terms[4], weights;          // of a unit
    float lower, upper;
    tmapi_drmsd_box box[2]; // of the reference, of the frame
    int weighted, boxed;
} tmapi_drmsd_pair_lane;

// Adds the pair of an atom i and mine[k].
TMAP_DEVICE void tmapi_drmsd_pair_add(tmapi_drmsd_pair_lane *l, const float *i, tmap_u32 k) {
    const float *j = l->mine[k].f;
    const float first = tmapi_drmsd_distance(i, j, l->box[0], l->boxed);
    const float d = first - tmapi_drmsd_distance(i + 3, j + 3, l->box[1], l->boxed);
    if (!l->weighted) {
        l->terms[k] = fmaf(d, d, l->terms[k]);
        return;
    }
    const int out = first <= l->lower || first >= l->upper;
    const float weight = out ? 0.0f : i[6] * j[6];
    l->weights += weight, l->terms[k] = fmaf(weight, d * d, l->terms[k]);
}

// Adds the pairs of four atoms i, at *row, with mine[first] to mine[last - 1]. rows: of these four
// that count, and more; whole: a constant, 1: all do.
TMAP_DEVICE void tmapi_drmsd_pair_four_rows(tmapi_drmsd_pair_lane *l,
                                            const tmapi_drmsd_pair_four *row, tmap_u32 first,
                                            tmap_u32 last, tmap_u32 rows, int whole) {
    const tmap_u32 floats = l->weighted ? 7 : 6;
    tmapi_drmsd_pair_four four[7];
#pragma unroll
    for (tmap_u32 c = 0; c < floats; ++c) four[c] = row[c];
#pragma unroll
    for (tmap_u32 r = 0; r < 4; ++r) {
        tmapi_drmsd_pair_atom i;
#pragma unroll
        for (tmap_u32 c = 0; c < floats; ++c) i.f[c] = four[c].f[r];
#pragma unroll
        for (tmap_u32 k = first; k < last; ++k)
            if (whole || r < rows) tmapi_drmsd_pair_add(l, i.f, k);
    }
}

// Adds all pairs i < j of the lane's atoms j below `atoms` with the warp's atoms i.
TMAP_DEVICE void tmapi_drmsd_pair_rows(tmapi_drmsd_pair_lane *l, tmap_u32 atoms) {
    const tmap_u32 floats = l->weighted ? 7 : 6, j = l->j - threadIdx.x % 32; // the warp's first
    if (l->i + l->rows <= j && j < atoms && atoms - j >= 128) {
        const tmapi_drmsd_pair_four *row = l->row, *const end = row + l->rows / 4 * floats;
        for (; row < end; row += floats) tmapi_drmsd_pair_four_rows(l, row, 0, 4, 4, 1);
        return;
    }
#pragma unroll // atoms j differ in their rows: on the diagonal half of all pairs exist
    for (tmap_u32 k = 0; k < 4; ++k) {
        const tmap_u32 own = l->j + 32 * k, above = own > l->i ? own - l->i : 0;
        const tmap_u32 height = own >= atoms ? 0 : above < l->rows ? above : l->rows;
        const tmapi_drmsd_pair_four *row = l->row;
        for (tmap_u32 y = 0; y < height; y += 4, row += floats)
            tmapi_drmsd_pair_four_rows(l, row, k, k + 1, height - y, 0);
    }
}

// ---- sums ---------------------------------------------------------------------------------------

// The upper 48 bits of a counter that is in use: those of a NaN, which no coordinates have.
#define TMAPI_DRMSD_PAIR_KEY 0x7ff4d25db61aull

// Returns 1 in every thread of the last of `count` blocks to arrive, up to 65535; writes of the
// other blocks' threads 0 are then visible. The counter may begin with anything: a block that does
// not find the key writes it and counts again. Collective for the block, with a barrier.
TMAP_DEVICE int tmapi_drmsd_pair_last(tmap_u64 *counter, tmap_u32 count) {
    const tmap_u64 none = TMAPI_DRMSD_PAIR_KEY << 16;
    int last = 0;
    if (threadIdx.x == 0) {
        __threadfence(); // writes are visible before the block is counted
        tmap_u64 before = atomicAdd(counter, 1ull);
        if (before >> 16 != TMAPI_DRMSD_PAIR_KEY) {
            for (tmap_u64 now = before + 1; now >> 16 != TMAPI_DRMSD_PAIR_KEY;) {
                before = atomicCAS(counter, now, none);
                now = before == now ? none : before;
            }
            before = atomicAdd(counter, 1ull);
        }
        last = before == none + count - 1;
        if (last) *counter = none;
    }
    last = __syncthreads_or(last);
    if (last) __threadfence();
    return last;
}

// Joins sums of terms; and of terms and weights.
TMAP_DEVICE void tmapi_drmsd_pair_join(void *, void *sum, const void *other) {
    *(double *)sum += *(const double *)other;
}
TMAP_DEVICE void tmapi_drmsd_pair_join_both(void *, void *sum, const void *other) {
    tmapi_drmsd_pair_sum *s = (tmapi_drmsd_pair_sum *)sum;
    const tmapi_drmsd_pair_sum *o = (const tmapi_drmsd_pair_sum *)other;
    s->terms += o->terms, s->weights += o->weights;
}

// Joins the sums of all threads and blocks in a fixed order; the last block writes the result.
// weighted: a constant; 0: there are no weights in the sums.
TMAP_DEVICE void tmapi_drmsd_pair_end(const tmapi_drmsd_pair_job *j, tmapi_drmsd_pair_sum sum,
                                      int weighted) {
    __shared__ tmapi_drmsd_pair_sum scratch[TMAPI_DRMSD_PAIR_THREADS / 32];
    const tmapi_drmsd_pair_sum zero = {0, 0};
    const tmap_fold fold = {&zero, weighted ? 16u : 8u,
                            weighted ? tmapi_drmsd_pair_join_both : tmapi_drmsd_pair_join};
    tmap_fold_block(&sum, fold, 0, scratch);
    if (threadIdx.x == 0) j->parts[blockIdx.x] = sum;
    if (!tmapi_drmsd_pair_last(j->counter, gridDim.x)) return;
    sum = zero;
    for (tmap_u32 first = threadIdx.x; first < gridDim.x; first += 8 * TMAPI_DRMSD_PAIR_THREADS) {
        tmapi_drmsd_pair_sum part[8]; // loads that do not wait for each other
#pragma unroll
        for (tmap_u32 k = 0; k < 8; ++k) {
            const tmap_u32 b = first + k * TMAPI_DRMSD_PAIR_THREADS;
            part[k] = b < gridDim.x ? j->parts[b] : zero;
        }
#pragma unroll
        for (tmap_u32 k = 0; k < 8; ++k) {
            sum.terms += part[k].terms;
            if (weighted) sum.weights += part[k].weights;
        }
    }
    tmap_fold_block(&sum, fold, 0, scratch);
    if (threadIdx.x == 0) *j->out = tmapi_drmsd_mean(sum.terms, weighted ? sum.weights : j->pairs);
}

// ---- kernels ------------------------------------------------------------------------------------

// Takes the block's units: in a strip of `columns` atoms j one band of atoms i after the other. A
// strip's warps share a band's atoms i if it has fewer than four times 128 atoms j. weighted,
// boxed: constants.
TMAP_DEVICE void tmapi_drmsd_pair_run(const tmapi_drmsd_pair_plan *p, const tmapi_drmsd_pair_job *j,
                                      int weighted, int boxed) {
    __shared__ tmapi_drmsd_pair_four staged[TMAPI_DRMSD_PAIR_THREADS / 4 * 7];
    const tmap_u32 t = threadIdx.x, warp = t / 32, across = p->columns / 128;
    const tmap_u32 band = p->columns >> p->cut, floats = weighted ? 7 : 6;
    const tmap_u64 begin = tmapi_drmsd_pair_begin(p, blockIdx.x);
    const tmap_u64 end = tmapi_drmsd_pair_begin(p, blockIdx.x + 1);
    const tmap_pair64 square = tmap_triangle_map64(begin >> p->cut);
    tmap_u32 strip = (tmap_u32)square.i * p->columns; // the first atom j
    tmap_u32 first = (tmap_u32)square.j * p->columns; // the first atom i
    tmapi_drmsd_pair_atom i = {};
    tmapi_drmsd_pair_lane l;
    tmapi_drmsd_pair_sum sum = {0, 0};
    first += ((tmap_u32)begin & ((1u << p->cut) - 1)) * band;
    l.weighted = weighted, l.boxed = boxed, l.lower = j->which.lower, l.upper = j->which.upper;
    if (boxed) l.box[0] = tmapi_drmsd_box_of(j->box, 0);
    if (boxed) l.box[1] = tmapi_drmsd_box_of(j->which.boxes, 0);
    l.rows = band * across / 4;
    l.row = staged + warp / across * l.rows / 4 * floats;
    for (tmap_u64 unit = begin; unit < end; ++unit) {
        l.i = first + warp / across * l.rows;
        if (unit == begin || first == 0) {
            l.j = strip + warp % across * 128 + t % 32;
#pragma unroll
            for (tmap_u32 k = 0; k < 4; ++k)
                l.mine[k] = tmapi_drmsd_pair_load(j, l.j + 32 * k, p->atoms, weighted);
        }
        if (t < band) i = tmapi_drmsd_pair_load(j, first + t, p->atoms, weighted);
        __syncthreads(); // all threads have used the last band
#pragma unroll
        for (tmap_u32 c = 0; c < floats; ++c)
            if (t < band) staged[t / 4 * floats + c].f[t % 4] = i.f[c];
        __syncthreads();
        first += band;
        if (first == strip + p->columns) first = 0, strip += p->columns;
        l.terms[0] = l.terms[1] = l.terms[2] = l.terms[3] = l.weights = 0;
        tmapi_drmsd_pair_rows(&l, p->atoms);
        sum.terms += (double)((l.terms[0] + l.terms[1]) + (l.terms[2] + l.terms[3]));
        if (weighted) sum.weights += (double)l.weights;
    }
    tmapi_drmsd_pair_end(j, sum, weighted);
}
static __global__ void __launch_bounds__(TMAPI_DRMSD_PAIR_THREADS, 6)
    tmapi_drmsd_pair_plain(tmapi_drmsd_pair_plan plan, tmapi_drmsd_pair_job j) {
    tmapi_drmsd_pair_run(&plan, &j, 0, 0);
}
static __global__ void __launch_bounds__(TMAPI_DRMSD_PAIR_THREADS)
    tmapi_drmsd_pair_weighted(tmapi_drmsd_pair_plan plan, tmapi_drmsd_pair_job j) {
    tmapi_drmsd_pair_run(&plan, &j, 1, 0);
}
static __global__ void __launch_bounds__(TMAPI_DRMSD_PAIR_THREADS)
    tmapi_drmsd_pair_boxed(tmapi_drmsd_pair_plan plan, tmapi_drmsd_pair_job j) {
    tmapi_drmsd_pair_run(&plan, &j, 1, 1);
}

// ---- host functions -----------------------------------------------------------------------------

// Makes the plan for two frames on the current device. Range: n: any if `which` selects atoms; up
// to 2^32 - 513 may count. Boxes are that of the frame, not the reference.
// Example: n = 131072: 65552 bytes.
static inline cudaError_t tmap_drmsd_pair_plan_make(tmap_drmsd_shape shape, tmap_drmsd_plan *out) {
    if (shape.form != TMAP_DRMSD_PAIR) return cudaErrorInvalidValue;
    return tmapi_drmsd_plan_make(shape, (const void *)tmapi_drmsd_pair_plain,
                                 (const void *)tmapi_drmsd_pair_weighted,
                                 (const void *)tmapi_drmsd_pair_boxed, out);
}

// Writes the dRMSD of a frame and a reference to *out.
// Exactness: that of drmsd.h; the same on any device.
// Range: distances from 2 * 10^-19, below which they are 0, to 10^19; differences of them from
// 10^-18 to 10^17.
// Cost: n(n-1)/2 pairs, 1.5 * 10^12 of them a second on an H200; one launch.
// Example: two frames of 3 atoms, distances 3, 4, 5 and 3, 4, 6: sqrt(1 / 3).
static inline cudaError_t tmap_drmsd_pair(const tmap_drmsd_plan *plan, tmap_drmsd_in in,
                                          void *workspace, float *out, cudaStream_t stream) {
    const tmapi_drmsd_pair_plan *pair;
    tmapi_drmsd_pair_job j;
    if (!plan || plan->form != TMAP_DRMSD_PAIR) return cudaErrorInvalidValue;
    pair = &plan->pair;
    if (!tmapi_drmsd_ready(plan, pair->atoms, in, workspace, out)) return cudaErrorInvalidValue;
    memset(&j, 0, sizeof j);
    j.reference = in.reference, j.frame = in.frames, j.box = in.box, j.which = plan->which;
    j.pairs = (double)tmap_condensed_cells(pair->atoms), j.out = out;
    j.counter = (tmap_u64 *)workspace, j.parts = (tmapi_drmsd_pair_sum *)workspace + 1;
    const tmapi_launch_shape shape = {pair->grid, TMAPI_DRMSD_PAIR_THREADS, 0};
    void *arguments[2] = {(void *)pair, &j};
    return tmapi_launch(pair->kernel, shape, arguments, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
