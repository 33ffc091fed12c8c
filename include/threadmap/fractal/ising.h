// SPDX-License-Identifier: MIT
// ising.h: the Ising model on a fractal: spins +1 and -1 on its cells, in a matrix or in compact
// storage, at a given temperature, by the Metropolis rule.
//
// The energy is - (sum of s_i s_j over all pairs of cells that share a side); the boundary is free.
// A sweep first updates all cells with x + y even, whose neighbours are all odd, at once, and then
// the odd ones: two launches, from the spins to a second state and back. Made with stencil.h, ready
// to launch, for spins of one byte (signed char):
//
//     tmap_ising_plan plan;
//     cudaError_t error = tmap_ising_plan_make(tmap_fractal_carpet(), 8, TMAP_COMPACT, &plan);
//     ... spins, other: tmap_compact_bytes(f, 8, 1) bytes each of device memory
//     ... spins: +1 or -1 in every cell, as of tmap_sw
//     tmap_ising_sweep sweep = {1.5, seed, 0}; // the temperature, the run, the number of the sweep
//     for (; !error && sweep.sweep < 1000; ++sweep.sweep)
//         error = tmap_ising(&plan, sweep, spins, other, stream);
//     if (!error) error = tmap_ising_measure(&plan, spins, to, stream);
//
// Randomness: cell number i in sweep t uses the number of Philox4x32-10 at the counter (i, t) with
// the seed as its key, where i is tmap_nbb_nu_linear of the cell. So the spins after a sweep depend
// only on the spins before it, the temperature, the seed and the sweep's number: they are the same
// in a matrix and in compact storage, with every plan, on every machine.
#ifndef TMAP_FRACTAL_ISING_H
#define TMAP_FRACTAL_ISING_H

#include "fold.h"
#include "philox.h"
#include "ready.h"
#include "stencil.h"

// ---- the rule -----------------------------------------------------------------------------------
//
// A spin s = +1 or -1 whose neighbours add up to n has h = s n; flipping it costs the energy 2 h
// (J = 1). It flips with probability min(1, exp(-2 h / T)), T in units of J / k_B: always where
// h <= 0, as without neighbours; otherwise if a random number of 64 bits is below 2^64 times
// that probability.
// Source: Metropolis, Rosenbluth, Rosenbluth, Teller, Teller, J. Chem. Phys. 21 (1953).

// 2^64 times the flip probability for h = 1, 2, 3, 4.
typedef struct tmap_ising_chances {
    tmap_u64 of[4];
} tmap_ising_chances;

// The upper 64 bits of the product of two numbers.
TMAP_FN tmap_u64 tmapi_ising_high(tmap_u64 a, tmap_u64 b) {
    const tmap_u64 a0 = (tmap_u32)a, a1 = a >> 32, b0 = (tmap_u32)b, b1 = b >> 32;
    const tmap_u64 middle = a1 * b0 + (a0 * b0 >> 32);
    const tmap_u64 other = a0 * b1 + (tmap_u32)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

// 2^64 exp(-x) for x >= 0, at most 2^64 - 1, with an error below 2^16. Computed in integers, the
// same on all machines, where exp may differ in its last bits: exp(-x / 2^12) by its series,
// squared twelve times.
TMAP_FN tmap_u64 tmapi_ising_exp(double x) {
    const tmap_u64 one = 1ull << 63; // of a fraction with 63 bits
    tmap_u64 y, e = one;
    if (!(x < 45)) return 0;
    y = (tmap_u64)(x * 4503599627370496.0); // 2^64 x / 2^12
    for (tmap_u32 n = 6; n; --n) e = one - tmapi_ising_high(y, e) / n;
    for (int i = 0; i < 12; ++i) e = tmapi_ising_high(e, e) << 1;
    return e >> 63 ? ~0ull : e << 1;
}

// The flip probabilities at a temperature >= 0, which may be infinite. At 0 no spin flips that
// would cost energy. The same on every machine with IEEE doubles. Example: 2 -> 2^64 times
// 0.36787944, 0.13533528, 0.04978707, 0.01831564.
TMAP_FN tmap_ising_chances tmap_ising_chances_at(double temperature) {
    tmap_ising_chances c;
    for (int h = 1; h <= 4; ++h)
        c.of[h - 1] = temperature > 0 ? tmapi_ising_exp(2.0 * h / temperature) : 0;
    return c;
}

// 1 if the spin of cell number `cell`, with h from -4 to 4, flips in sweep number `sweep`, else 0;
// uses random number tmap_philox_u64(cell, sweep, seed).
// Cost: that of the random number where h > 0.
TMAP_FN int tmap_ising_turns(tmap_ising_chances c, int h, tmap_u64 cell, tmap_u64 sweep,
                             tmap_u64 seed) {
    const tmap_u64 chance = h == 1 ? c.of[0] : h == 2 ? c.of[1] : h == 3 ? c.of[2] : c.of[3];
    return h <= 0 || tmap_philox_u64(cell, sweep, seed) < chance;
}

// The result of tmap_ising_measure: the sum of all spins, and that of s_i s_j over all pairs of
// cells that share a side. The magnetisation is spins / cells, the energy -bonds.
typedef struct tmap_ising_sums {
    tmap_i64 spins, bonds;
} tmap_ising_sums;

#if TMAP_CUDA && !TMAP_NVRTC

// ---- kernels ------------------------------------------------------------------------------------

typedef struct tmapi_ising {
    const void *in;
    void *out;
    tmap_ising_chances chances;
    tmap_u64 seed, sweep, offset;
    tmap_nbb f;
    tmap_u32 r, odd;
    int compact, wide; // wide: cell numbers need 64 bits
} tmapi_ising;

// The number of a cell of a matrix. Sides of 2 and 3 are constants here; only other sides cost
// divisions at run time.
TMAPI_DEVICE_CALL tmap_u64 tmapi_ising_number(tmap_nbb f, tmap_u32 x, tmap_u32 y, tmap_u32 r,
                                              int wide) {
    if (wide) return tmap_nbb_nu_linear64(f, x, y, r);
    if (f.sx == 2 && f.sy == 2)
        return tmap_nbb_nu_linear(tmap_nbb_make(f.k, 2, 2, f.tau_x, f.tau_y), x, y, r);
    if (f.sx == 3 && f.sy == 3)
        return tmap_nbb_nu_linear(tmap_nbb_make(f.k, 3, 3, f.tau_x, f.tau_y), x, y, r);
    return tmap_nbb_nu_linear(f, x, y, r);
}

// Places that are no cells are 0 in `nine` and add nothing.
TMAP_DEVICE void tmapi_ising_step(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                  void *next) {
    const tmapi_ising *j = (const tmapi_ising *)job;
    const signed char *v = (const signed char *)nine;
    int here = v[TMAP_HERE];
    (void)around;
    if (((cell.x ^ cell.y ^ j->odd) & 1) == 0) {
        const int h = here * (v[TMAP_NORTH] + v[TMAP_WEST] + v[TMAP_EAST] + v[TMAP_SOUTH]);
        tmap_u64 number = cell.at - j->offset;
        if (!j->compact && h > 0) number = tmapi_ising_number(j->f, cell.x, cell.y, j->r, j->wide);
        if (tmap_ising_turns(j->chances, h, number, j->sweep, j->seed)) here = -here;
    }
    *(signed char *)next = (signed char)here;
}

static __global__ void __launch_bounds__(512, 2)
    tmapi_ising_kernel(tmap_each_plan plan, tmapi_ising job) {
    const tmap_array in = {job.in, 1};
    tmap_each_stencil(&plan, in, tmapi_ising_step, job.out, &job);
}

// A cell's spin, and its bonds to the east and south.
TMAP_DEVICE void tmapi_ising_add(void *sums, tmap_cell cell, tmap_u32 around, const void *nine,
                                 void *next) {
    const signed char *v = (const signed char *)nine;
    tmap_ising_sums *s = (tmap_ising_sums *)sums;
    (void)cell, (void)around, (void)next;
    s->spins += v[TMAP_HERE], s->bonds += v[TMAP_HERE] * (v[TMAP_EAST] + v[TMAP_SOUTH]);
}
TMAP_DEVICE void tmapi_ising_join(void *job, void *sums, const void *other) {
    tmap_ising_sums *s = (tmap_ising_sums *)sums;
    const tmap_ising_sums *o = (const tmap_ising_sums *)other;
    (void)job;
    s->spins += o->spins, s->bonds += o->bonds;
}

typedef struct tmapi_ising_measure {
    const void *in;
    tmap_fold_to to;
} tmapi_ising_measure;

static __global__ void __launch_bounds__(512, 2)
    tmapi_ising_measure_kernel(tmap_each_plan plan, tmapi_ising_measure job) {
    const tmap_ising_sums zero = {0, 0};
    const tmap_fold fold = {&zero, sizeof zero, tmapi_ising_join};
    tmap_ising_sums sums = zero;
    const tmapi_stencil s = {(const unsigned char *)job.in, 0, 1, tmapi_ising_add, &sums, 0, 1};
    tmapi_stencil_run(&plan, &s);
    tmap_fold_grid(&sums, fold, job.to, 0);
}

// ---- plans and launches -------------------------------------------------------------------------

// A plan for the functions below. To set an offset or take a share, change both parts alike.
typedef struct tmap_ising_plan {
    tmap_each_plan sweep, measure;
} tmap_ising_plan;

// Makes the plan for fractal f of level r. Compact storage (pitch TMAP_COMPACT) is faster, because
// a cell's number is its element there. Other parameters and errors as for tmap_each_plan_make, and
// cudaErrorInvalidConfiguration for a level whose cell numbers do not fit 64 bits.
static inline cudaError_t tmap_ising_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                               tmap_ising_plan *out) {
    tmap_ising_plan p;
    cudaError_t error;
    if (!out || tmap_nbb_check(f) != TMAP_OK) return cudaErrorInvalidValue;
    if (r > tmap_nbb_linear_level_max64(f)) return cudaErrorInvalidConfiguration;
    error = tmap_each_plan_make(TMAP_EACH_STENCIL, f, r, pitch, (const void *)tmapi_ising_kernel,
                                &p.sweep);
    if (!error)
        error = tmap_each_plan_make(TMAP_EACH_STENCIL, f, r, pitch,
                                    (const void *)tmapi_ising_measure_kernel, &p.measure);
    p.sweep.type = TMAPI_READY_ISING, p.measure.type = TMAPI_READY_ISING_MEASURE;
    if (!error) *out = p;
    return error;
}

// One sweep of a run.
typedef struct tmap_ising_sweep {
    double temperature;   // >= 0, in units of J / k_B; may be infinite
    tmap_u64 seed, sweep; // of the run; the number of the sweep in it
} tmap_ising_sweep;

// Computes half a sweep: copies the cells of the plan's share from `in` to `out`, and flips those
// with (x + y) % 2 == odd that flip at this temperature in this sweep. One launch. GPUs that have a
// share each call it and exchange the cells beside their shares after each half. odd: 0 or 1. in,
// out: states of one byte per cell, not overlapping. `in` holds +1 or -1 in every cell; other
// places are neither read nor written.
// Returns cudaErrorInvalidValue for a null pointer, equal states, a temperature below 0 or NaN,
// another `odd`, and a plan of another maker; otherwise the launch's own error.
// Cost: a random number for each cell of this half with more equal neighbours than opposite ones.
// In a matrix also nu for each of these: about 15 instructions per level, and more where sides are
// neither 2 nor 3.
static inline cudaError_t tmap_ising_half(const tmap_ising_plan *plan, tmap_ising_sweep sweep,
                                          int odd, const void *in, void *out, cudaStream_t stream) {
    tmapi_ising job;
    if (!plan || !in || !out || in == out || odd < 0 || odd > 1 || !(sweep.temperature >= 0) ||
        plan->sweep.type != TMAPI_READY_ISING)
        return cudaErrorInvalidValue;
    job.in = in, job.out = out, job.chances = tmap_ising_chances_at(sweep.temperature);
    job.seed = sweep.seed, job.sweep = sweep.sweep, job.offset = plan->sweep.offset;
    job.f = plan->sweep.f, job.r = plan->sweep.r, job.odd = (tmap_u32)odd;
    job.compact = plan->sweep.pitch == TMAP_COMPACT;
    job.wide = tmap_nbb_cells(job.f, job.r) > 0xffffffffull;
    return tmap_each_launch(&plan->sweep, &job, stream);
}

// Computes one sweep: every cell once, first those with x + y even. Two launches; afterwards
// `spins` has the new state, and `other` that between the halves.
// Returns cudaErrorInvalidValue for a plan that is a share, too; otherwise as tmap_ising_half.
static inline cudaError_t tmap_ising(const tmap_ising_plan *plan, tmap_ising_sweep sweep,
                                     void *spins, void *other, cudaStream_t stream) {
    cudaError_t error;
    if (!plan || plan->sweep.count != plan->sweep.items) return cudaErrorInvalidValue;
    error = tmap_ising_half(plan, sweep, 0, spins, other, stream);
    if (!error) error = tmap_ising_half(plan, sweep, 1, other, spins, stream);
    return error;
}

// Bytes of the workspace of tmap_ising_measure.
static inline tmap_u64 tmap_ising_measure_bytes(const tmap_ising_plan *plan) {
    return tmap_each_fold_bytes(&plan->measure, sizeof(tmap_ising_sums));
}

// Sets *to.result, a tmap_ising_sums, to the sums over the cells of the plan's share: of their
// spins, and of their bonds to the east and south, so that the sums of shares add up to those of
// all cells. Exact. spins: the state, which is only read. to.result: at a multiple of 8.
// to.workspace: tmap_ising_measure_bytes(plan) bytes, see ../fold.h.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and a plan of another maker;
// otherwise the launch's own error. The sums of a share without items are 0.
static inline cudaError_t tmap_ising_measure(const tmap_ising_plan *plan, const void *spins,
                                             tmap_fold_to to, cudaStream_t stream) {
    const tmapi_ising_measure job = {spins, to};
    if (!plan || !spins || !to.result || !to.workspace || (tmap_u64)to.result % 8 ||
        (tmap_u64)to.workspace % 16 || plan->measure.type != TMAPI_READY_ISING_MEASURE)
        return cudaErrorInvalidValue;
    return tmap_each_launch(&plan->measure, &job, stream);
}

#endif
#endif
