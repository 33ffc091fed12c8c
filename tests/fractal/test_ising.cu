// SPDX-License-Identifier: MIT
// test_ising: tmap_ising against the rule of Metropolis on the host, spin for spin: on matrices and
// compact storage, in shares, by launches of other shapes; the sums of tmap_ising_measure; chances;
// the energy of a chain, which is known; and what is refused.
#include "fractal/cells.h"
#include <math.h>
#include <threadmap/fractal/ising.h>

// One half of a sweep on the host. The chance is that of the definition, in floating point.
static void half_sweep(const cells *c, double temperature, tmap_u64 seed, tmap_u64 sweep, int odd,
                       signed char *spins) {
    for (int i = 0; i < c->count; ++i) {
        const tmap_philox_words counter = {(tmap_u32)i, 0, (tmap_u32)sweep,
                                           (tmap_u32)(sweep >> 32)};
        int sum = 0, h;
        tmap_philox_words w;
        if ((c->x[i] + c->y[i]) % 2 != odd) continue;
        for (int n = 0; n < 4; ++n)
            if (c->near[i][n] >= 0) sum += spins[c->near[i][n]];
        h = spins[i] * sum;
        w = tmap_philox_4x32(counter, seed);
        if (h <= 0 || ldexp(w.b * 4294967296.0 + w.a, -64) < exp(-2.0 * h / temperature))
            spins[i] = (signed char)-spins[i];
    }
}

static tmap_ising_sums sums_of(const cells *c, const signed char *spins) {
    tmap_ising_sums s = {0, 0};
    for (int i = 0; i < c->count; ++i) {
        s.spins += spins[i];
        for (int n = 0; n < 4; ++n)
            if (c->near[i][n] > i) s.bonds += spins[i] * spins[c->near[i][n]];
    }
    return s;
}

// Two sweeps, the first by halves and in shares. Places that are no cells hold 0x5a, and are
// neither read nor written.
static void run(const cells *c, tmap_ising_plan plan, double temperature, int shares, int n) {
    const tmap_u64 room = engine_room(&plan.sweep),
                   seed = check_hash((tmap_u64)n, 1) * 0x100000007ull;
    const tmap_u64 sweep = n % 2 ? 0x123456789abcull : (tmap_u64)n;
    unsigned char *host = (unsigned char *)engine_host(2 * room), *want = host + room;
    signed char *spins = (signed char *)kit_host((tmap_u64)c->count);
    unsigned char *state[2];
    const tmap_u64 bytes = tmap_ising_measure_bytes(&plan);
    const tmap_fold_to to = {engine_memory(2, (1 << 20) + bytes),
                             engine_memory(3, 64)}; // shares too
    const tmap_ising_sweep now = {temperature, seed, sweep}, next = {temperature, seed, sweep + 1};
    tmap_ising_sums sums[2], right, sum = {0, 0};
    if (!spins) exit(1);
    state[0] = (unsigned char *)engine_memory(0, room);
    state[1] = (unsigned char *)engine_memory(1, room);
    memset(host, 0x5a, room);
    for (int i = 0; i < c->count; ++i) {
        spins[i] = check_hash((tmap_u64)i, (tmap_u64)n) % 3 ? 1 : -1; // most are up
        host[cells_at(c, &plan.sweep, i)] = (unsigned char)spins[i];
    }
    CHECK(cudaMemcpy(state[0], host, room, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(state[1], 0x5a, room));
    CHECK(cudaMemset(to.workspace, 0x5a, 64 + bytes));
    CHECK(cudaMemset(to.workspace, 0, 16));
    for (int odd = 0; odd < 2; ++odd) {
        for (int part = 0; part < shares; ++part) {
            const tmap_u64 a = plan.sweep.items * (tmap_u64)part / (tmap_u64)shares;
            const tmap_u64 b = plan.sweep.items * ((tmap_u64)part + 1) / (tmap_u64)shares;
            tmap_ising_plan share = plan;
            if (shares > 1) CHECK(tmap_each_plan_share(&share.sweep, a, b - a));
            CHECK(tmap_ising_half(&share, now, odd, state[odd], state[1 - odd], 0));
        }
        half_sweep(c, temperature, seed, sweep, odd, spins);
    }
    CHECK(tmap_ising(&plan, next, state[0], state[1], 0));
    for (int odd = 0; odd < 2; ++odd) half_sweep(c, temperature, seed, sweep + 1, odd, spins);
    memset(want, 0x5a, room);
    for (int i = 0; i < c->count; ++i) want[cells_at(c, &plan.sweep, i)] = (unsigned char)spins[i];
    CHECK(cudaMemcpy(host, state[0], room, cudaMemcpyDeviceToHost));
    of_plan(&plan.sweep);
    expect(memcmp(host, want, room) == 0, "ising");
    // Twice, as the workspace is cleared once; then in shares.
    right = sums_of(c, spins);
    for (int turn = 0; turn < 2; ++turn) {
        CHECK(cudaMemset(to.result, 0x5a, sizeof right));
        CHECK(tmap_ising_measure(&plan, state[0], state[1], to, 0));
        CHECK(cudaMemcpy(&sums[turn], to.result, sizeof right, cudaMemcpyDeviceToHost));
    }
    of_plan(&plan.measure);
    expect(memcmp(&sums[0], &right, sizeof right) == 0 &&
               memcmp(&sums[1], &right, sizeof right) == 0,
           "sums");
    for (int part = 0; part < shares && shares > 1; ++part) {
        const tmap_u64 a = plan.measure.items * (tmap_u64)part / (tmap_u64)shares;
        const tmap_u64 b = plan.measure.items * ((tmap_u64)part + 1) / (tmap_u64)shares;
        tmap_ising_plan share = plan;
        tmap_ising_sums one = {0, 0};
        CHECK(tmap_each_plan_share(&share.measure, a, b - a));
        CHECK(cudaMemset(to.result, 0, sizeof right));
        CHECK(tmap_ising_measure(&share, state[0], state[1], to, 0));
        CHECK(cudaMemcpy(&one, to.result, sizeof right, cudaMemcpyDeviceToHost));
        sum.spins += one.spins, sum.bonds += one.bonds;
    }
    if (shares > 1) expect(memcmp(&sum, &right, sizeof right) == 0, "sums of shares");
    CHECK(cudaMemcpy(host, state[1], room, cudaMemcpyDeviceToHost));
    expect(memcmp(host, want, room) == 0, "the state behind the sums");
    kit_release(0);
}

static void run_fractal(int n, tmap_nbb f) {
    static const double temperatures[6] = {2, 1, 0, 0.5, 5, (double)INFINITY};
    for (tmap_u32 r = 0; engine_fits(f, r); ++r) {
        cells c = cells_make(f, r);
        for (int compact = 0; compact < 2; ++compact, ++n) {
            const tmap_u64 pitch =
                compact ? TMAP_COMPACT : engine_pitch(n, (tmap_u64)c.width, TMAP_EACH_COLUMNS);
            const int shape = n % 2 ? 0 : n / 2 % CELLS_SHAPES;
            tmap_ising_plan plan;
            CHECK(tmap_ising_plan_make(f, r, pitch, &plan));
            of_plan(&plan.sweep);
            expect(plan.sweep.work == TMAP_EACH_STENCIL && plan.measure.work == TMAP_EACH_STENCIL,
                   "a plan of spins");
            if (shape == 1 && c.count > 1000) continue; // slow, cell by cell
            if (!cells_shape(&plan.sweep, shape) || !cells_shape(&plan.measure, shape)) continue;
            plan.sweep.offset = plan.measure.offset = engine_offset(n / 2);
            run(&c, plan, temperatures[n % 6], 1 + n / 4 % 3, n);
        }
        cells_free(&c);
    }
}

// ---- chances, and a chain -----------------------------------------------------------------------

static void run_chances(const tmap_each_plan *plan) {
    const tmap_ising_chances cold = tmap_ising_chances_at(0),
                             hot = tmap_ising_chances_at((double)INFINITY);
    int bad = 0;
    for (int i = 0; i < 4; ++i) bad |= cold.of[i] != 0 || hot.of[i] != ~0ull;
    for (int i = 1; i < 4000; ++i) {
        const double t = i < 2000 ? i * 0.005 : exp2(i * 0.05 - 100);
        const tmap_ising_chances c = tmap_ising_chances_at(t);
        for (int h = 1; h <= 4; ++h) {
            const long double want = ldexpl(expl(-2.0L * h / (long double)t), 64);
            const long double off = (long double)c.of[h - 1] - want;
            bad |= off > 0x1p16L || off < -0x1p16L;
        }
    }
    of_plan(plan);
    expect(!bad, "chances");
}

// An open chain of n spins has n - 1 bonds, each tanh(1 / T) in the mean.
static void run_chain(void) {
    tmap_nbb f = tmap_fractal_gasket();
    const double temperature = 1.5;
    const int sweeps = 600;
    signed char *spins = (signed char *)engine_memory(0, 256), *other = spins + 128;
    tmap_ising_sweep sweep = {temperature, 99, 0};
    tmap_fold_to to;
    tmap_ising_sums sums;
    double mean = 0;
    tmap_ising_plan plan;
    if (tmap_nbb_from_rows("##", &f) != TMAP_OK) exit(1);
    CHECK(tmap_ising_plan_make(f, 7, TMAP_COMPACT, &plan));
    to.workspace = engine_memory(2, tmap_ising_measure_bytes(&plan));
    to.result = engine_memory(3, 64);
    CHECK(cudaMemset(to.workspace, 0, 16));
    CHECK(cudaMemset(spins, 1, 128));
    for (int t = 0; t < sweeps; ++t) {
        sweep.sweep = (tmap_u64)t;
        CHECK(tmap_ising(&plan, sweep, spins, other, 0));
        if (t < 50) continue;
        CHECK(tmap_ising_measure(&plan, spins, other, to, 0));
        CHECK(cudaMemcpy(&sums, to.result, sizeof sums, cudaMemcpyDeviceToHost));
        mean += (double)sums.bonds / 127 / (sweeps - 50);
    }
    of_plan(&plan.sweep);
    expect(fabs(mean - tanh(1 / temperature)) < 0.02, "the energy of a chain");
    if (fabs(mean - tanh(1 / temperature)) >= 0.02)
        printf("%f, not %f\n", mean, tanh(1 / temperature));
}

// ---- refusals -----------------------------------------------------------------------------------

static tmap_fold_to to_of(void *workspace, void *result) {
    const tmap_fold_to to = {workspace, result};
    return to;
}

static void run_refusals(void) {
    const tmap_ising_sweep warm = {1, 0, 0}, negative = {-1, 0, 0}, none = {(double)NAN, 0, 0};
    const tmap_nbb f = tmap_fractal_gasket(), outside = tmap_nbb_make(3, 2, 2, 0x300, 0x110);
    unsigned char *a = (unsigned char *)engine_memory(0, 4096);
    unsigned char *b = (unsigned char *)engine_memory(1, 4096);
    unsigned char *blocks = (unsigned char *)engine_memory(2, 4096);
    tmap_ising_sums *sums = (tmap_ising_sums *)engine_memory(3, 64);
    unsigned char bytes[4096];
    tmap_ising_plan plan, other, untouched, same;
    int touched = 0;
    memset(&untouched, 0x77, sizeof untouched);
    same = untouched;
    CHECK(tmap_ising_plan_make(f, 3, 0, &plan));
    CHECK(cudaMemset(a, 0x5a, sizeof bytes));
    CHECK(cudaMemset(b, 0x5a, sizeof bytes));
    CHECK(cudaMemset(sums, 0x5a, sizeof *sums));
    REFUSED(tmap_ising_plan_make(f, 3, 7, &untouched));
    REFUSED(tmap_ising_plan_make(outside, 3, 0, &untouched));
    REFUSED(tmap_ising_plan_make(f, 3, 0, NULL));
    of_plan(&plan.sweep);
    RETURNS(tmap_ising_plan_make(tmap_fractal_cantor(), 21, 0, &untouched),
            cudaErrorInvalidConfiguration);
    expect(memcmp(&untouched, &same, sizeof same) == 0, "a refusal made a plan");
    REFUSED(tmap_ising(NULL, warm, a, b, 0));
    REFUSED(tmap_ising(&plan, warm, NULL, b, 0));
    REFUSED(tmap_ising(&plan, warm, a, NULL, 0));
    REFUSED(tmap_ising(&plan, warm, a, a, 0));
    REFUSED(tmap_ising(&plan, negative, a, b, 0));
    REFUSED(tmap_ising(&plan, none, a, b, 0));
    REFUSED(tmap_ising_half(&plan, warm, 2, a, b, 0));
    REFUSED(tmap_ising_half(&plan, warm, -1, a, b, 0));
    REFUSED(tmap_ising_half(NULL, warm, 0, a, b, 0));
    other = plan;
    CHECK(tmap_each_plan_share(&other.sweep, 0, 0));
    REFUSED(tmap_ising(&other, warm, a, b, 0));
    other = plan, other.sweep.kernel = plan.measure.kernel;
    REFUSED(tmap_ising(&other, warm, a, b, 0));
    REFUSED(tmap_ising_measure(NULL, a, b, to_of(blocks, sums), 0));
    REFUSED(tmap_ising_measure(&plan, NULL, b, to_of(blocks, sums), 0));
    REFUSED(tmap_ising_measure(&plan, a, NULL, to_of(blocks, sums), 0));
    REFUSED(tmap_ising_measure(&plan, a, a, to_of(blocks, sums), 0));
    REFUSED(tmap_ising_measure(&plan, a, b, to_of(blocks, NULL), 0));
    REFUSED(tmap_ising_measure(&plan, a, b, to_of(NULL, sums), 0));
    REFUSED(tmap_ising_measure(&plan, a, b, to_of(blocks, (char *)sums + 4), 0));
    REFUSED(tmap_ising_measure(&plan, a, b, to_of(blocks + 8, sums), 0));
    other = plan, other.measure.kernel = plan.sweep.kernel;
    REFUSED(tmap_ising_measure(&other, a, b, to_of(blocks, sums), 0));
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMemcpy(bytes, i ? a : b, sizeof bytes, cudaMemcpyDeviceToHost));
        for (unsigned j = 0; j < sizeof bytes; ++j) touched |= bytes[j] != 0x5a;
    }
    CHECK(cudaMemcpy(bytes, sums, sizeof *sums, cudaMemcpyDeviceToHost));
    for (unsigned j = 0; j < sizeof *sums; ++j) touched |= bytes[j] != 0x5a;
    expect(!touched, "a refusal wrote");
}

int main(void) {
    tmap_ising_plan any;
    engine_begin();
    for (int i = 0; i < ENGINE_COUNT; ++i)
        if ((!kit_tiny || i % 4 == 0) && check_turn()) run_fractal(5 * i, engine_fractal(i));
    CHECK(tmap_ising_plan_make(tmap_fractal_gasket(), 1, 0, &any));
    run_chances(&any.sweep);
    run_chain();
    run_refusals();
    return kit_end("test_ising");
}
