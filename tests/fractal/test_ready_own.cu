// SPDX-License-Identifier: MIT
// test_ready_own: what each ready kernel has of its own, beside its steps (test_ready): rules as
// text; what diffusion conserves; the chances of spins and the energy of a chain, which is known;
// levels that do not fit; and what is refused.
#include "fractal/engine.h"
#include <math.h>
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/compact_move.h>
#include <threadmap/fractal/diffusion.h>
#include <threadmap/fractal/ising.h>
#include <threadmap/fractal/rd.h>
#include <threadmap/fractal/sw.h>

static void run_rules(void) {
    const struct {
        const char *text;
        int code;
        tmap_u32 born, survive;
    } texts[] = {{"B3/S23", TMAP_OK, 8, 12},          {"b36/s23", TMAP_OK, 0x48, 12},
                 {"B/S012345678", TMAP_OK, 0, 0x1ff}, {"B/S", TMAP_OK, 0, 0},
                 {"", TMAP_EINVAL, 77, 77},           {"B3", TMAP_EINVAL, 77, 77},
                 {"B3/S23x", TMAP_EINVAL, 77, 77},    {"B9/S2", TMAP_EINVAL, 77, 77},
                 {"B33/S2", TMAP_EINVAL, 77, 77},     {"S23/B3", TMAP_EINVAL, 77, 77},
                 {"B3S23", TMAP_EINVAL, 77, 77},      {NULL, TMAP_EINVAL, 77, 77}};
    for (size_t i = 0; i < COUNT(texts); ++i) {
        tmap_ca_rule rule = {77, 77};
        kit_case("rule %s", texts[i].text ? texts[i].text : "(null)");
        RETURNS(tmap_ca_rule_from_text(texts[i].text, &rule), texts[i].code);
        expect(rule.born == texts[i].born && rule.survive == texts[i].survive, "the rule");
    }
}

// ---- plans of another file ----------------------------------------------------------------------

// In place of the kernel that another source file of the program has of the same header.
static __global__ void __launch_bounds__(512, 2)
    write_elsewhere(tmap_each_plan plan, tmapi_sw job) {
    if (plan.r == 3 && blockIdx.x == 0 && threadIdx.x == 0) *(tmap_u32 *)job.out = 0xfa7e;
}
static void run_elsewhere(void) {
    const tmap_u32 value = 7;
    tmap_u32 got, *to = (tmap_u32 *)kit_guarded(64 * 4);
    tmap_each_plan plan;
    kit_case("a plan of another file");
    CHECK(tmap_sw_plan_make(tmap_fractal_gasket(), 3, 0, 4, &plan));
    plan.kernel = (const void *)write_elsewhere;
    CHECK(tmap_sw(&plan, &value, to, 0));
    CHECK(cudaMemcpy(&got, to, 4, cudaMemcpyDeviceToHost));
    expect(got == 0xfa7e, "the plan's kernel runs");
}

// ---- diffusion ----------------------------------------------------------------------------------

// What is conserved: the sum, of a peak in a corner; and equal values, each bit of them.
static void run_conserved(void) {
    enum { CELLS = 64 };
    double state[CELLS] = {1e6 / 3}, *a = (double *)kit_guarded(sizeof state);
    double *b = (double *)kit_guarded(sizeof state), sum = 0;
    int same = 1;
    tmap_each_plan plan;
    CHECK(tmap_diffusion_plan_make(tmap_fractal_carpet(), 2, TMAP_COMPACT, TMAP_DIFFUSION_F64,
                                   &plan));
    CHECK(cudaMemcpy(a, state, sizeof state, cudaMemcpyHostToDevice));
    for (int t = 0; t < 400; ++t)
        CHECK(tmap_diffusion(&plan, 0.25, t % 2 ? b : a, t % 2 ? a : b, 0));
    CHECK(cudaMemcpy(state, a, sizeof state, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CELLS; ++i) {
        sum += state[i];
        same &= fabs(state[i] - 1e6 / 3 / CELLS) < 20; // nearly spread over all
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

// ---- spins --------------------------------------------------------------------------------------

static void run_chances(void) {
    const tmap_ising_chances cold = tmap_ising_chances_at(0),
                             hot = tmap_ising_chances_at((double)INFINITY);
    kit_case("chances");
    for (int i = 0; i < 4; ++i) HOLDS(cold.of[i] == 0 && hot.of[i] == ~0ull);
    for (int i = 1; i < 4000; ++i) {
        const double t = i < 2000 ? i * 0.005 : exp2(i * 0.05 - 100);
        const tmap_ising_chances c = tmap_ising_chances_at(t);
        for (int h = 1; h <= 4; ++h) {
            const long double want = ldexpl(expl(-2.0L * h / (long double)t), 64);
            const long double off = (long double)c.of[h - 1] - want;
            EXPECT(off <= 0x1p16L && off >= -0x1p16L, "temperature %g, h = %d", t, h);
        }
    }
}

// An open chain of n spins has n - 1 bonds, each tanh(1 / T) in the mean.
static void run_chain(void) {
    tmap_nbb f;
    const double temperature = 1.5;
    const int sweeps = 300;
    signed char *spins = (signed char *)kit_guarded(128), *other = (signed char *)kit_guarded(128);
    tmap_ising_sweep sweep = {temperature, 99, 0};
    tmap_fold_to to;
    tmap_ising_sums sums;
    double mean = 0;
    tmap_ising_plan plan;
    RETURNS(tmap_nbb_from_rows("##", &f), TMAP_OK);
    CHECK(tmap_ising_plan_make(f, 7, TMAP_COMPACT, &plan));
    to.workspace = kit_guarded(tmap_ising_measure_bytes(&plan)), to.result = kit_guarded(16);
    CHECK(cudaMemset(to.workspace, 0, 16));
    CHECK(cudaMemset(spins, 1, 128));
    for (int t = 0; t < sweeps; ++t) {
        sweep.sweep = (tmap_u64)t;
        CHECK(tmap_ising(&plan, sweep, spins, other, 0));
        if (t < 50) continue;
        CHECK(tmap_ising_measure(&plan, spins, to, 0));
        CHECK(cudaMemcpy(&sums, to.result, sizeof sums, cudaMemcpyDeviceToHost));
        mean += (double)sums.bonds / 127 / (sweeps - 50);
    }
    EXPECT(fabs(mean - tanh(1 / temperature)) < 0.02, "the energy of a chain: %f", mean);
}

// ---- refusals -----------------------------------------------------------------------------------

static tmap_fold_to to_of(void *workspace, void *result) {
    const tmap_fold_to to = {workspace, result};
    return to;
}

// Two states, and memory for sums: nothing that is refused writes to them.
static unsigned char *a, *b, *blocks, *sum;
static const tmap_nbb gasket = {3, 2, 2, 0x100, 0x110};
static const tmap_nbb outside = {3, 2, 2, 0x300, 0x110}; // no fractal: a replica outside the grid

// Plans are left alone. Few cells do not make a level fit: 3^21 columns do not fit 32 bits.
static void refuse_plans(void) {
    const tmap_nbb wide = tmap_fractal_cantor(), many = tmap_nbb_make(17, 2, 2, 0, 0);
    tmap_each_plan each;
    tmap_ca_plan ca;
    tmap_ising_plan ising;
    tmap_compact_matrix_plan matrix;
    tmap_compact_window w, same;
    kit_case("plans");
    memset(&each, 0x77, sizeof each), memset(&ca, 0x77, sizeof ca);
    memset(&ising, 0x77, sizeof ising);
    memset(&matrix, 0x77, sizeof matrix);
    const tmap_u32 no_sizes[] = {0, 3, 32};
    for (int i = 0; i < 3; ++i) {
        REFUSED(tmap_sw_plan_make(gasket, 3, 0, no_sizes[i], &each));
        REFUSED(tmap_compact_matrix_plan_make(gasket, 3, 0, no_sizes[i], &matrix));
        REFUSED(tmap_ca_plan_make(gasket, 3, 0, i ? no_sizes[i] : 2, &ca));
        REFUSED(tmap_diffusion_plan_make(gasket, 3, 0, i ? -i : TMAP_DIFFUSION_TYPE_COUNT, &each));
        REFUSED(tmap_rd_plan_make(gasket, 3, 0, i ? -i : TMAP_RD_TYPE_COUNT, &each));
    }
    REFUSED(tmap_ca_plan_make(gasket, 3, 0, 0, &ca));
    for (int i = 0; i < 2; ++i) { // no fractal; a pitch below the width
        const tmap_nbb f = i ? gasket : outside;
        const tmap_u64 pitch = i ? 7 : 0;
        REFUSED(tmap_sw_plan_make(f, 3, pitch, 4, &each));
        REFUSED(tmap_ca_plan_make(f, 3, pitch, 1, &ca));
        REFUSED(tmap_diffusion_plan_make(f, 3, pitch, TMAP_DIFFUSION_F32, &each));
        REFUSED(tmap_rd_plan_make(f, 3, pitch, TMAP_RD_I8, &each));
        REFUSED(tmap_ising_plan_make(f, 3, pitch, &ising));
        REFUSED(tmap_compact_matrix_plan_make(f, 3, pitch, 4, &matrix));
    }
    REFUSED(tmap_compact_matrix_plan_make(gasket, 3, TMAP_COMPACT, 4, &matrix));
    REFUSED(tmap_compact_life_plan_make(many, 1, &each));
    for (tmap_u32 r = 21; r <= 22; ++r) {
        const cudaError_t none = cudaErrorInvalidConfiguration;
        RETURNS(tmap_sw_plan_make(wide, r, 0, 4, &each), none);
        RETURNS(tmap_ca_plan_make(wide, r, 0, 1, &ca), none);
        RETURNS(tmap_diffusion_plan_make(wide, r, 0, TMAP_DIFFUSION_F32, &each), none);
        RETURNS(tmap_rd_plan_make(wide, r, 0, TMAP_RD_I32, &each), none);
        RETURNS(tmap_ising_plan_make(wide, r, 0, &ising), none);
    }
    RETURNS(tmap_compact_life_plan_make(gasket, 41, &each), cudaErrorInvalidConfiguration);
    expect(kit_all(&each, sizeof each, 0x77) && kit_all(&ca, sizeof ca, 0x77) &&
               kit_all(&ising, sizeof ising, 0x77) && kit_all(&matrix, sizeof matrix, 0x77),
           "a refusal made a plan");
    REFUSED(tmap_ca_plan_make(gasket, 3, 0, 1, NULL));
    REFUSED(tmap_diffusion_plan_make(gasket, 3, 0, TMAP_DIFFUSION_F32, NULL));
    REFUSED(tmap_ising_plan_make(gasket, 3, 0, NULL));
    REFUSED(tmap_compact_matrix_plan_make(gasket, 3, 0, 4, NULL));
    REFUSED(tmap_compact_life_plan_make(gasket, 5, NULL));
    RETURNS(tmap_compact_window_make(gasket, 4, 2, TMAP_COMPACT_WINDOW_BYTES, &w), TMAP_OK);
    same = w;
    RETURNS(tmap_compact_window_make(gasket, 4, 5, 0, &w), TMAP_EINVAL);
    RETURNS(tmap_compact_window_make(gasket, 4, 2, 3, &w), TMAP_EINVAL);
    RETURNS(tmap_compact_window_make(gasket, 4, 2, 0, NULL), TMAP_EINVAL);
    RETURNS(tmap_compact_window_make(gasket, 41, 2, 0, &w), TMAP_ERANGE);
    RETURNS(tmap_compact_window_make(gasket, 40, 2, 0, &w), TMAP_ERANGE);
    expect(memcmp(&w, &same, sizeof w) == 0, "a window is left alone");
}

static void refuse_automata(void) {
    const tmap_ca_rule life = tmap_ca_life(), nine = {1u << 9, 0}, ten = {0, 1u << 10};
    tmap_ca_plan plan, words;
    tmap_each_plan bits, other;
    kit_case("automata");
    CHECK(tmap_ca_plan_make(gasket, 3, 0, 1, &plan));
    CHECK(tmap_ca_plan_make(gasket, 3, 0, 4, &words));
    CHECK(tmap_compact_life_plan_make(gasket, 5, &bits));
    REFUSED(tmap_ca(NULL, life, a, b, 0));
    REFUSED(tmap_ca(&plan, life, NULL, b, 0));
    REFUSED(tmap_ca(&plan, life, a, NULL, 0));
    REFUSED(tmap_ca(&plan, life, b, b, 0));
    REFUSED(tmap_ca(&plan, nine, a, b, 0));
    REFUSED(tmap_ca(&plan, ten, a, b, 0));
    REFUSED(tmap_ca(&words, life, a + 1, b, 0));
    REFUSED(tmap_ca(&words, life, a, b + 2, 0));
    plan.each = words.each; // of other cells
    REFUSED(tmap_ca(&plan, life, a + 1, b, 0));
    plan.each = bits; // another maker's
    REFUSED(tmap_ca(&plan, life, a, b, 0));
    REFUSED(tmap_compact_life(NULL, life, a, b, 0));
    REFUSED(tmap_compact_life(&bits, life, a, NULL, 0));
    REFUSED(tmap_compact_life(&bits, life, a, a, 0));
    REFUSED(tmap_compact_life(&bits, life, a + 4, b, 0));
    REFUSED(tmap_compact_life(&bits, nine, a, b, 0));
    other = bits, other.word.bytes = 8;
    REFUSED(tmap_compact_life(&other, life, a, b, 0));
    RETURNS(tmap_each_plan_loop(&bits, TMAP_EACH_LINEAR), cudaErrorInvalidConfiguration);
}

static void refuse_diffusion(void) {
    tmap_each_plan single, twice, other;
    kit_case("diffusion");
    CHECK(tmap_diffusion_plan_make(gasket, 3, 0, TMAP_DIFFUSION_F32, &single));
    CHECK(tmap_diffusion_plan_make(gasket, 3, TMAP_COMPACT, TMAP_DIFFUSION_F64, &twice));
    REFUSED(tmap_diffusion(NULL, 0.2, a, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, NULL, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, a, NULL, 0));
    REFUSED(tmap_diffusion(&single, 0.2, b, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, a + 2, b, 0));
    REFUSED(tmap_diffusion(&single, 0.2, a, b + 1, 0));
    REFUSED(tmap_diffusion(&twice, 0.2, a + 4, b, 0));
    REFUSED(tmap_diffusion(&twice, 0.2, a, b + 4, 0));
    REFUSED(tmap_diffusion(&single, (double)NAN, a, b, 0));
    REFUSED(tmap_diffusion(&single, (double)INFINITY, a, b, 0));
    REFUSED(tmap_diffusion(&single, -1e39, a, b, 0));
    other = single, other.type = TMAP_DIFFUSION_F64;
    REFUSED(tmap_diffusion(&other, 0.2, a, b, 0));
    other.type = TMAP_DIFFUSION_TYPE_COUNT;
    REFUSED(tmap_diffusion(&other, 0.2, a, b, 0));
}

static void refuse_spins(void) {
    const tmap_ising_sweep warm = {1, 0, 0}, negative = {-1, 0, 0}, none = {(double)NAN, 0, 0};
    tmap_ising_plan plan, other;
    kit_case("spins");
    CHECK(tmap_ising_plan_make(gasket, 3, 0, &plan));
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
    REFUSED(tmap_ising_measure(NULL, a, to_of(blocks, sum), 0));
    REFUSED(tmap_ising_measure(&plan, NULL, to_of(blocks, sum), 0));
    REFUSED(tmap_ising_measure(&plan, a, to_of(blocks, NULL), 0));
    REFUSED(tmap_ising_measure(&plan, a, to_of(NULL, sum), 0));
    REFUSED(tmap_ising_measure(&plan, a, to_of(blocks, sum + 4), 0));
    REFUSED(tmap_ising_measure(&plan, a, to_of(blocks + 8, sum), 0));
    other = plan, other.measure.kernel = plan.sweep.kernel;
    REFUSED(tmap_ising_measure(&other, a, to_of(blocks, sum), 0));
}

static void refuse_more(void) {
    const tmap_u32 value = 1;
    tmap_each_plan sw, rd;
    tmap_ca_plan ca;
    tmap_compact_matrix_plan plan, other;
    tmap_compact_window w;
    kit_case("single write, sums and moves");
    CHECK(tmap_ca_plan_make(gasket, 3, 0, 4, &ca));
    CHECK(tmap_sw_plan_make(gasket, 3, 0, 4, &sw));
    REFUSED(tmap_sw(NULL, &value, b, 0));
    REFUSED(tmap_sw(&sw, NULL, b, 0));
    REFUSED(tmap_sw(&sw, &value, NULL, 0));
    REFUSED(tmap_sw(&sw, &value, b + 1, 0));
    REFUSED(tmap_sw(&ca.each, &value, b, 0)); // another maker's plan
    CHECK(tmap_rd_plan_make(gasket, 3, 0, TMAP_RD_F64, &rd));
    REFUSED(tmap_rd(NULL, a, to_of(blocks, sum), 0));
    REFUSED(tmap_rd(&rd, NULL, to_of(blocks, sum), 0));
    REFUSED(tmap_rd(&rd, a, to_of(blocks, NULL), 0));
    REFUSED(tmap_rd(&rd, a, to_of(NULL, sum), 0));
    REFUSED(tmap_rd(&rd, a + 4, to_of(blocks, sum), 0));
    REFUSED(tmap_rd(&rd, a, to_of(blocks, sum + 4), 0));
    REFUSED(tmap_rd(&rd, a, to_of(blocks + 8, sum), 0));
    REFUSED(tmap_rd(&ca.each, a, to_of(blocks, sum), 0));
    CHECK(tmap_compact_matrix_plan_make(gasket, 3, 0, 4, &plan));
    REFUSED(tmap_compact_matrix_load(NULL, a, b, 0));
    REFUSED(tmap_compact_matrix_load(&plan, a, NULL, 0));
    REFUSED(tmap_compact_matrix_load(&plan, a + 2, b, 0));
    REFUSED(tmap_compact_matrix_store(&plan, a, a, 0));
    other = plan, other.size = 8;
    REFUSED(tmap_compact_matrix_store(&other, a, b, 0));
    CHECK(tmap_each_plan_loop(&plan.each, TMAP_EACH_LINEAR));
    REFUSED(tmap_compact_matrix_load(&plan, a, b, 0));
    REFUSED(tmap_compact_matrix_store(&plan, a, b, 0));
    REFUSED(tmap_compact_bits_pack(gasket, 3, NULL, b, 0));
    REFUSED(tmap_compact_bits_pack(gasket, 3, a, b + 4, 0));
    REFUSED(tmap_compact_bits_pack(gasket, 3, a, a, 0));
    REFUSED(tmap_compact_bits_unpack(gasket, 3, a, a, 0));
    REFUSED(tmap_compact_bits_unpack(tmap_nbb_make(0, 1, 1, 0, 0), 3, b, a, 0));
    RETURNS(tmap_compact_bits_pack(gasket, 41, a, b, 0), cudaErrorInvalidConfiguration);
    RETURNS(tmap_compact_window_make(gasket, 4, 2, TMAP_COMPACT_WINDOW_BYTES, &w), TMAP_OK);
    REFUSED(tmap_compact_window_mean(NULL, a, (float *)b, 0));
    REFUSED(tmap_compact_window_mean(&w, a + 4, (float *)b, 0));
    REFUSED(tmap_compact_window_mean(&w, a, NULL, 0));
    w.width = 0;
    REFUSED(tmap_compact_window_mean(&w, a, (float *)b, 0));
}

int main(void) {
    kit_begin();
    unsigned char **const memory[] = {&a, &b, &blocks, &sum};
    for (int i = 0; i < 4; ++i) *memory[i] = (unsigned char *)kit_guarded(1 << 16);
    run_rules();
    run_elsewhere();
    run_conserved();
    run_chances();
    run_chain();
    refuse_plans();
    refuse_automata();
    refuse_diffusion();
    refuse_spins();
    refuse_more();
    for (int i = 0; i < 4; ++i)
        expect(kit_device_all(*memory[i], 1 << 16, KIT_POISON), "a refused launch wrote");
    return kit_end("test_ready_own");
}
