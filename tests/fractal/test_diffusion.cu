// SPDX-License-Identifier: MIT
// test_diffusion: tmap_diffusion against its equation on the host, bit for bit: both types, on
// matrices and compact storage, in shares, by launches of other shapes, over several steps; what is
// conserved; and what is refused.
#include "fractal/cells.h"
#include <math.h>
#include <threadmap/fractal/diffusion.h>

// An element of either type; a float is held as a double.
static void put(void *state, tmap_u64 at, double value, int wide) {
    if (wide)
        ((double *)state)[at] = value;
    else
        ((float *)state)[at] = (float)value;
}

// The next value of cell i, in the arithmetic of its type.
static double next_of(const cells *c, int i, const double *now, double rate, int wide) {
    double sum = 0;
    float narrow = 0;
    for (int n = 0; n < 4; ++n) {
        if (c->near[i][n] < 0) continue;
        sum += now[c->near[i][n]] - now[i];
        narrow += (float)now[c->near[i][n]] - (float)now[i];
    }
    return wide ? fma(rate, sum, now[i]) : (double)fmaf((float)rate, narrow, (float)now[i]);
}

// One type. Places that are no cells hold numbers that are none, and must not be read.
static void run_type(const cells *c, const tmap_each_plan *plan, double rate, int shares,
                     int number, int wide) {
    const tmap_u64 room = engine_room(plan), bytes = room * (wide ? 8 : 4);
    char *host = (char *)engine_host(2 * bytes), *want = host + bytes;
    void *state[2] = {engine_memory(0, bytes), engine_memory(1, bytes)};
    double *now = (double *)kit_host((tmap_u64)c->count * 8);
    double *next = (double *)kit_host((tmap_u64)c->count * 8);
    memset(host, 0xff, bytes);
    for (int i = 0; i < c->count; ++i) {
        const tmap_u64 any = check_hash((tmap_u64)i, (tmap_u64)number) % 100000;
        now[i] = wide ? (double)any / 7 - 3000 : (double)((float)any / 7 - 3000);
        put(host, cells_at(c, plan, i), now[i], wide);
    }
    CHECK(cudaMemcpy(state[0], host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(state[1], 0xff, bytes));
    for (int step = 0; step < 2; ++step) {
        for (int part = 0; part < shares; ++part) {
            const tmap_u64 a = plan->items * (tmap_u64)part / (tmap_u64)shares;
            const tmap_u64 b = plan->items * ((tmap_u64)part + 1) / (tmap_u64)shares;
            tmap_each_plan share = *plan;
            if (shares > 1) CHECK(tmap_each_plan_share(&share, a, b - a));
            CHECK(tmap_diffusion(&share, rate, state[step], state[1 - step], 0));
        }
        for (int i = 0; i < c->count; ++i) next[i] = next_of(c, i, now, rate, wide);
        memcpy(now, next, (tmap_u64)c->count * 8);
    }
    memset(want, 0xff, bytes);
    for (int i = 0; i < c->count; ++i) put(want, cells_at(c, plan, i), now[i], wide);
    CHECK(cudaMemcpy(host, state[0], bytes, cudaMemcpyDeviceToHost));
    of_plan(plan);
    expect(!memcmp(host, want, bytes), wide ? "diffusion of f64" : "diffusion of f32");
    kit_release(0);
}

static void run_fractal(int n, tmap_nbb f) {
    static const double rates[5] = {0.25, 0.2, 1.0 / 6, -0.1, 3};
    for (tmap_u32 r = 0; engine_fits(f, r); ++r) {
        cells c = cells_make(f, r);
        for (int compact = 0; compact < 2; ++compact)
            for (int type = 0; type < TMAP_DIFFUSION_TYPE_COUNT; ++type, ++n) {
                const tmap_u64 pitch =
                    compact ? TMAP_COMPACT : engine_pitch(n, (tmap_u64)c.width, TMAP_EACH_COLUMNS);
                const int shape = n % 3 ? 0 : n / 3 % CELLS_SHAPES;
                tmap_each_plan plan;
                CHECK(tmap_diffusion_plan_make(f, r, pitch, type, &plan));
                of_plan(&plan);
                expect(plan.type == (tmap_u32)type && plan.work == TMAP_EACH_STENCIL,
                       "a plan of diffusion");
                if (shape == 1 && c.count > 1000) continue; // slow, cell by cell
                if (!cells_shape(&plan, shape)) continue;
                plan.offset = engine_offset(n / 2);
                run_type(&c, &plan, rates[n % 5], 1 + n / 5 % 3, n, type == TMAP_DIFFUSION_F64);
            }
        cells_free(&c);
    }
}

// What is conserved: the sum, of a peak in a corner; and equal values, each bit of them.
static void run_conserved(void) {
    const tmap_nbb f = tmap_fractal_carpet();
    const tmap_u32 r = 2;
    enum { CELLS = 64 };
    double state[CELLS] = {1e6 / 3}, *a = (double *)engine_memory(0, sizeof state);
    double *b = (double *)engine_memory(1, sizeof state), sum = 0;
    int same = 1;
    tmap_each_plan plan;
    CHECK(tmap_diffusion_plan_make(f, r, TMAP_COMPACT, TMAP_DIFFUSION_F64, &plan));
    CHECK(cudaMemcpy(a, state, sizeof state, cudaMemcpyHostToDevice));
    for (int t = 0; t < 1000; ++t)
        CHECK(tmap_diffusion(&plan, 0.25, t % 2 ? b : a, t % 2 ? a : b, 0));
    CHECK(cudaMemcpy(state, a, sizeof state, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CELLS; ++i) {
        sum += state[i];
        same &= fabs(state[i] - 1e6 / 3 / CELLS) < 1; // nearly spread over all
    }
    of_plan(&plan);
    expect(fabs(sum - 1e6 / 3) < 1e-8, "the sum of all");
    expect(same, "the end of a peak");
    for (int i = 0; i < CELLS; ++i) state[i] = 1.0 / 3;
    CHECK(cudaMemcpy(a, state, sizeof state, cudaMemcpyHostToDevice));
    CHECK(tmap_diffusion(&plan, 0.2, a, b, 0));
    CHECK(cudaMemcpy(state, b, sizeof state, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CELLS; ++i) same &= state[i] == 1.0 / 3;
    expect(same, "equal values");
}

static void run_refusals(void) {
    const tmap_nbb f = tmap_fractal_gasket(), outside = tmap_nbb_make(3, 2, 2, 0x300, 0x110);
    float *a = (float *)engine_memory(0, 4096), *b = (float *)engine_memory(1, 4096);
    unsigned char bytes[4096];
    tmap_each_plan single, twice, other, untouched, same;
    int touched = 0;
    memset(&untouched, 0x77, sizeof untouched);
    same = untouched;
    CHECK(tmap_diffusion_plan_make(f, 3, 0, TMAP_DIFFUSION_F32, &single));
    CHECK(tmap_diffusion_plan_make(f, 3, TMAP_COMPACT, TMAP_DIFFUSION_F64, &twice));
    CHECK(cudaMemset(b, 0x5a, sizeof bytes));
    REFUSED(tmap_diffusion_plan_make(f, 3, 0, TMAP_DIFFUSION_TYPE_COUNT, &untouched));
    REFUSED(tmap_diffusion_plan_make(f, 3, 0, -1, &untouched));
    REFUSED(tmap_diffusion_plan_make(f, 3, 7, TMAP_DIFFUSION_F32, &untouched));
    REFUSED(tmap_diffusion_plan_make(outside, 3, 0, TMAP_DIFFUSION_F32, &untouched));
    REFUSED(tmap_diffusion_plan_make(f, 3, 0, TMAP_DIFFUSION_F32, NULL));
    of_plan(&single);
    RETURNS(tmap_diffusion_plan_make(tmap_fractal_cantor(), 21, 0, TMAP_DIFFUSION_F32, &untouched),
            cudaErrorInvalidConfiguration);
    expect(memcmp(&untouched, &same, sizeof same) == 0, "a refusal made a plan");
    REFUSED(tmap_diffusion(NULL, 0.2, a, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, NULL, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, a, NULL, 0));
    REFUSED(tmap_diffusion(&single, 0.2, b, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, (char *)a + 2, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, a, (char *)b + 1, 0));
    REFUSED(tmap_diffusion(&twice, 0.2, a + 1, b, 0));
    REFUSED(tmap_diffusion(&twice, 0.2, a, b + 1, 0));
    REFUSED(tmap_diffusion(&single, (double)NAN, a, b, 0));
    REFUSED(tmap_diffusion(&single, (double)INFINITY, a, b, 0));
    REFUSED(tmap_diffusion(&single, -1e39, a, b, 0));
    other = single, other.type = TMAP_DIFFUSION_F64;
    REFUSED(tmap_diffusion(&other, 0.2, a, b, 0));
    other.type = TMAP_DIFFUSION_TYPE_COUNT;
    REFUSED(tmap_diffusion(&other, 0.2, a, b, 0));
    CHECK(cudaMemcpy(bytes, b, sizeof bytes, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < sizeof bytes; ++i) touched |= bytes[i] != 0x5a;
    expect(!touched, "a refusal wrote");
}

int main(void) {
    engine_begin();
    for (int i = 0; i < ENGINE_COUNT; ++i)
        if ((!kit_tiny || i % 4 == 0) && check_turn()) run_fractal(7 * i, engine_fractal(i));
    run_conserved();
    run_refusals();
    return kit_end("test_diffusion");
}
