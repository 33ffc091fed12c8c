// SPDX-License-Identifier: MIT
// test_compact_life: automata of one bit a cell in compact storage (life.h) against states
// that the host computes place by place, of all fractals, levels and several rules; idle bits; that a
// share of the words is written alone; and what is refused.
#include "fractal/engine.h"
#include <threadmap/fractal/compact_life.h>

static const tmap_ca_rule rules[4] = {{1u << 3, 1u << 2 | 1u << 3}, // Life
                                      {0x1, 0x1ff},                 // the lonely are born, all stay
                                      {0x0aa, 0x155},
                                      {0x1d5, 0x02f}};

// The bytes of a state, one a cell, as words.
static void pack(tmap_nbb f, tmap_u32 r, const unsigned char *cells, unsigned char *words) {
    const tmap_u32 bytes = tmap_compact_word_of(f, r).bytes;
    memset(words, 0, tmap_compact_words_bytes(f, r));
    for (tmap_u64 i = 0; i < tmap_nbb_cells(f, r); ++i) {
        tmap_u64 word;
        tmap_u32 bit;
        tmap_compact_bit(f, r, i, &word, &bit);
        words[word * bytes + bit / 8] |= (unsigned char)(cells[i] << bit % 8); // little-endian
    }
}

static void step(tmap_nbb f, tmap_u32 r, tmap_ca_rule rule, const unsigned char *in,
                 unsigned char *out) {
    for (tmap_u64 i = 0; i < tmap_nbb_cells(f, r); ++i) {
        const tmap_xy64 cell = tmap_nbb_lambda_linear64(f, i, r);
        tmap_u32 living = 0;
        for (tmap_u32 p = 0; p < 9; ++p) {
            const tmap_u64 x = cell.x + p % 3 - 1, y = cell.y + p / 3 - 1;
            if (p != 4 && tmap_nbb_contains64(f, x, y, r))
                living += in[tmap_nbb_nu_linear64(f, x, y, r)];
        }
        out[i] = (unsigned char)((in[i] ? rule.survive : rule.born) >> living & 1);
    }
}

static void run_level(tmap_nbb f, tmap_u32 r, int n) {
    const tmap_u64 cells = tmap_nbb_cells(f, r), bytes = tmap_compact_words_bytes(f, r);
    const tmap_ca_rule rule = rules[n % 4];
    unsigned char *state = (unsigned char *)kit_host(cells),
                  *next = (unsigned char *)kit_host(cells);
    unsigned char *want = (unsigned char *)kit_host(bytes), *got = (unsigned char *)kit_host(bytes);
    unsigned char *a = (unsigned char *)engine_memory(0, bytes), *swap;
    unsigned char *b = (unsigned char *)engine_memory(1, bytes), *old;
    tmap_each_plan plan, share;
    if (!state || !next || !want || !got) exit(1);
    CHECK(tmap_compact_life_plan_make(f, r, &plan));
    for (tmap_u64 i = 0; i < cells; ++i) state[i] = (check_hash(i, (tmap_u64)n) & 3) == 0;
    pack(f, r, state, want);
    CHECK(cudaMemcpy(a, want, bytes, cudaMemcpyHostToDevice));
    for (int t = 0; t < 3; ++t) {
        CHECK(cudaMemset(b, 0x5a, bytes));
        for (int half = 0; half < 2; ++half) { // in two shares
            const tmap_u64 first = plan.items / 3;
            share = plan;
            CHECK(
                tmap_each_plan_share(&share, half ? first : 0, half ? plan.items - first : first));
            CHECK(tmap_compact_life(&share, rule, a, b, 0));
        }
        step(f, r, rule, state, next);
        old = state, state = next, next = old;
        pack(f, r, state, want);
        CHECK(cudaMemcpy(got, b, bytes, cudaMemcpyDeviceToHost));
        of_plan(&plan);
        expect(memcmp(got, want, bytes) == 0, "a step");
        swap = a, a = b, b = swap;
    }
    kit_release(0);
}

static void run_refusals(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_ca_rule wide = {1u << 9, 0};
    tmap_each_plan plan, other;
    char *a = (char *)engine_memory(0, 1024), *b = (char *)engine_memory(1, 1024);
    CHECK(tmap_compact_life_plan_make(f, 5, &plan));
    of_plan(&plan);
    REFUSED(tmap_compact_life(NULL, rules[0], a, b, 0));
    REFUSED(tmap_compact_life(&plan, rules[0], a, NULL, 0));
    REFUSED(tmap_compact_life(&plan, rules[0], a, a, 0));
    REFUSED(tmap_compact_life(&plan, rules[0], a + 4, b, 0));
    REFUSED(tmap_compact_life(&plan, wide, a, b, 0));
    other = plan, other.word.bytes = 8;
    REFUSED(tmap_compact_life(&other, rules[0], a, b, 0));
    other = plan;
    RETURNS(tmap_compact_life_plan_make(f, 41, &other), cudaErrorInvalidConfiguration);
    REFUSED(tmap_compact_life_plan_make(f, 5, NULL));
    REFUSED(tmap_compact_life_plan_make(tmap_nbb_make(17, 2, 2, 0, 0), 1, &other));
    expect(memcmp(&other, &plan, sizeof plan) == 0, "a plan is left alone");
}

int main(void) {
    engine_begin();
    const tmap_u64 most = kit_tiny ? 600 : !kit_gpu ? 9000 : 300000;
    engine_memory(0, 64);
    for (int i = 0; i < ENGINE_COUNT; ++i) {
        const tmap_nbb f = engine_fractal(i);
        for (tmap_u32 r = 0; r <= 12 && r <= tmap_nbb_level_max32(f); ++r)
            if (tmap_nbb_cells(f, r) <= most && check_turn()) run_level(f, r, i + (int)r);
    }
    run_refusals();
    return kit_end("test_compact_life");
}
