// SPDX-License-Identifier: MIT
// test_diffusion: tmap_diffusion against its equation on the host, bit for bit: both types, on
// matrices and compact storage, in shares, by launches of other shapes, over several steps; what is
// conserved; and what is refused.
#include "fractal/cells.h"
#include <math.h>
#include <threadmap/fractal/diffusion.h>

// One type. Places that are no cells hold numbers that are none, and must not be read.
#define DIFFUSION(name, type, fma) \
    static void run_##name(const cells *c, const tmap_each_plan *plan, double rate, int shares, \
                           int number) { \
        const tmap_u64 room = engine_room(plan), bytes = room * sizeof(type); \
        type *state[2], *host = (type *)engine_host(2 * bytes), *want = host + room; \
        type *now = (type *)malloc(2 * (tmap_u64)c->count * sizeof(type)), *next = now + c->count; \
        int wrong = 0; \
        if (!now) exit(1); \
        state[0] = (type *)engine_memory(0, bytes), state[1] = (type *)engine_memory(1, bytes); \
        memset(host, 0xff, bytes); \
        for (int i = 0; i < c->count; ++i) { \
            now[i] = (type)(check_hash((tmap_u64)i, (tmap_u64)number) % 100000) / 7 - 3000; \
            host[cells_at(c, plan, i)] = now[i]; \
        } \
        CHECK(cudaMemcpy(state[0], host, bytes, cudaMemcpyHostToDevice)); \
        memset(host, 0xff, bytes); \
        CHECK(cudaMemcpy(state[1], host, bytes, cudaMemcpyHostToDevice)); \
        for (int step = 0; step < 2; ++step) { \
            for (int part = 0; part < shares; ++part) { \
                const tmap_u64 a = plan->items * (tmap_u64)part / (tmap_u64)shares; \
                const tmap_u64 b = plan->items * ((tmap_u64)part + 1) / (tmap_u64)shares; \
                tmap_each_plan share = *plan; \
                if (shares > 1) CHECK(tmap_each_plan_share(&share, a, b - a)); \
                CHECK(tmap_diffusion(&share, rate, state[step], state[1 - step], 0)); \
            } \
            for (int i = 0; i < c->count; ++i) { \
                type sum = 0; \
                for (int n = 0; n < 4; ++n) \
                    if (c->near[i][n] >= 0) sum += now[c->near[i][n]] - now[i]; \
                next[i] = fma((type)rate, sum, now[i]); \
            } \
            memcpy(now, next, (tmap_u64)c->count * sizeof(type)); \
        } \
        memset(want, 0xff, bytes); \
        for (int i = 0; i < c->count; ++i) want[cells_at(c, plan, i)] = now[i]; \
        CHECK(cudaMemcpy(host, state[0], bytes, cudaMemcpyDeviceToHost)); \
        wrong = memcmp(host, want, bytes) != 0; \
        expect(!wrong, "diffusion of " #name, plan); \
        free(now); \
    }
DIFFUSION(f32, float, fmaf)
DIFFUSION(f64, double, fma)

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
                expect(plan.type == (tmap_u32)type && plan.work == TMAP_EACH_STENCIL,
                       "a plan of diffusion", &plan);
                if (shape == 1 && c.count > 1000) continue; // slow, cell by cell
                if (!cells_shape(&plan, shape)) continue;
                plan.offset = engine_offset(n / 2);
                (type == TMAP_DIFFUSION_F32 ? run_f32 : run_f64)(&c, &plan, rates[n % 5],
                                                                 1 + n / 5 % 3, n);
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
    expect(fabs(sum - 1e6 / 3) < 1e-8, "the sum of all", &plan);
    expect(same, "the end of a peak", &plan);
    for (int i = 0; i < CELLS; ++i) state[i] = 1.0 / 3;
    CHECK(cudaMemcpy(a, state, sizeof state, cudaMemcpyHostToDevice));
    CHECK(tmap_diffusion(&plan, 0.2, a, b, 0));
    CHECK(cudaMemcpy(state, b, sizeof state, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CELLS; ++i) same &= state[i] == 1.0 / 3;
    expect(same, "equal values", &plan);
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
#define REFUSED(call) expect((call) == cudaErrorInvalidValue, #call, &single)
    REFUSED(tmap_diffusion_plan_make(f, 3, 0, TMAP_DIFFUSION_TYPE_COUNT, &untouched));
    REFUSED(tmap_diffusion_plan_make(f, 3, 0, -1, &untouched));
    REFUSED(tmap_diffusion_plan_make(f, 3, 7, TMAP_DIFFUSION_F32, &untouched));
    REFUSED(tmap_diffusion_plan_make(outside, 3, 0, TMAP_DIFFUSION_F32, &untouched));
    REFUSED(tmap_diffusion_plan_make(f, 3, 0, TMAP_DIFFUSION_F32, NULL));
    expect(tmap_diffusion_plan_make(tmap_fractal_cantor(), 21, 0, TMAP_DIFFUSION_F32, &untouched) ==
               cudaErrorInvalidConfiguration,
           "a width past 32 bits", &single);
    expect(memcmp(&untouched, &same, sizeof same) == 0, "a refusal made a plan", &single);
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
#undef REFUSED
    CHECK(cudaMemcpy(bytes, b, sizeof bytes, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < sizeof bytes; ++i) touched |= bytes[i] != 0x5a;
    expect(!touched, "a refusal wrote", &single);
}

int main(void) {
    const int skip = engine_begin();
    if (skip) return skip;
    for (int i = 0; i < ENGINE_COUNT; ++i)
        if ((!engine_small || i % 4 == 0) && check_turn()) run_fractal(7 * i, engine_fractal(i));
    run_conserved();
    run_refusals();
    return engine_end("test_diffusion");
}
