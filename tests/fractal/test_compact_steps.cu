// SPDX-License-Identifier: MIT
// test_compact_steps: a hundred steps of several automata on compact storage, of a bit and of a
// byte a cell, and on an embedding by the engine, against the same steps by the bounding box
// (papers/box_kernels.h), place by place: of the catalogue's fractals and fifty random ones at
// every level that fits. On the CPU machine a few steps of small ones.
#include "fractal/engine.h"
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/papers/box_bits.h>
#include <threadmap/papers/box_kernels.h>

#define STEPS_GRID (!kit_gpu || kit_tiny ? 4u : 4096u), 128u

// Every place of a memory of `n` by the whole launch.
#define EACH_PLACE(i, n) \
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < (n); \
         i += (tmap_u64)gridDim.x * blockDim.x)

enum { OWN = 50, RULES = 5 };
static const tmap_ca_rule rules[RULES] = {
    {0x0aa, 0x155},               // parity: nothing dies out, and what is wrong grows
    {1u << 3, 1u << 2 | 1u << 3}, // Life
    {1u << 1, 0x1ff},             // crystals
    {0x1d5, 0x02f},               // with births from nothing
    {1u << 2 | 1u << 3, 1u << 1 | 1u << 4}};

// The states of each storage before and after a step: by the bounding box, embedded, compact bytes,
// compact bits, the bounding box of bits.
enum { BB, EMBEDDED, BYTES, BITS, BOX_BITS, STORAGES };
static const char *const names[STORAGES] = {"bb", "embedded", "compact", "compact bits", "bb bits"};

typedef struct states {
    tmap_nbb f;
    tmap_u32 r, word_bits;
    tmap_u64 width, height, words;
    tmap_box_bits box;
    unsigned char *now[STORAGES], *next[STORAGES];
} states;

// The element, or the bit, of a cell.
TMAP_FN tmap_u64 states_place(const states *s, int storage, tmap_u64 x, tmap_u64 y) {
    tmap_u64 word;
    tmap_u32 bit;
    if (storage <= EMBEDDED) return y * s->width + x;
    word = tmap_nbb_nu_linear64(s->f, x, y, s->r);
    if (storage == BYTES) return word;
    if (storage == BITS) return word % s->words * s->word_bits + word / s->words;
    word = tmap_box_bits_place(&s->box, x, y, &bit);
    return word * 32 + bit;
}

// One cell in four lives. All states are 0 before.
static __global__ void fill(states s, tmap_u64 seed) {
    EACH_PLACE(i, s.width * s.height) {
        const tmap_u64 x = i % s.width, y = i / s.width;
        if (!tmap_nbb_contains64(s.f, x, y, s.r) || check_hash(i, seed) & 3) continue;
        for (int n = 0; n < STORAGES; ++n) {
            const tmap_u64 at = states_place(&s, n, x, y);
            if (n < BITS)
                s.now[n][at] = 1;
            else
                atomicOr((tmap_u32 *)s.now[n] + at / 32, 1u << at % 32);
        }
    }
}

// Adds to counter[n] the cells that storage n has otherwise than the bounding box, and to
// counter[STORAGES] those that live.
static __global__ void compare(states s, tmap_u64 *counter) {
    EACH_PLACE(i, s.width * s.height) {
        const tmap_u64 x = i % s.width, y = i / s.width;
        const int is = tmap_nbb_contains64(s.f, x, y, s.r), lives = is && s.now[BB][i];
        if (lives) atomicAdd(&counter[STORAGES], 1ull);
        for (int n = EMBEDDED; n < STORAGES && is; ++n) {
            const tmap_u64 at = states_place(&s, n, x, y);
            const int has =
                n < BITS ? s.now[n][at] : ((const tmap_u32 *)s.now[n])[at / 32] >> at % 32 & 1;
            if (has != lives) atomicAdd(&counter[n], 1ull);
        }
    }
}

// Adds the bits of words: those that are no cells are 0.
static __global__ void living(const unsigned char *state, tmap_u64 bytes, tmap_u64 *counter) {
    EACH_PLACE(i, bytes) if (state[i]) atomicAdd(counter, (tmap_u64)__popc(state[i]));
}

static void step(const states *s, const tmap_ca_plan *ca, const tmap_each_plan *bits,
                 tmap_ca_rule rule) {
    CHECK(tmap_box_ca_u8(s->f, s->r, 32, TMAP_BOX_BB_WALK, rule, s->now[BB], s->next[BB], 0));
    CHECK(tmap_ca(&ca[0], rule, s->now[EMBEDDED], s->next[EMBEDDED], 0));
    CHECK(tmap_ca(&ca[1], rule, s->now[BYTES], s->next[BYTES], 0));
    CHECK(tmap_compact_life(bits, rule, s->now[BITS], s->next[BITS], 0));
    CHECK(tmap_box_bits_life(&s->box, rule, s->now[BOX_BITS], s->next[BOX_BITS], 0));
}

static void run(tmap_nbb f, tmap_u32 r, int rule, int steps) {
    const tmap_compact_word word = tmap_compact_word_of(f, r);
    tmap_u64 bytes[STORAGES], found[STORAGES + 1], bits[2];
    tmap_ca_plan ca[2];
    tmap_each_plan plan;
    states s;
    s.f = f, s.r = r, s.word_bits = 8 * word.bytes, s.words = tmap_compact_words(f, r);
    s.width = tmap_nbb_side_x(f, r), s.height = tmap_nbb_side_y(f, r);
    if (tmap_box_bits_make(f, r, &s.box) != TMAP_OK) exit(1);
    bytes[BB] = bytes[EMBEDDED] = s.width * s.height, bytes[BYTES] = tmap_nbb_cells(f, r);
    bytes[BITS] = tmap_compact_words_bytes(f, r), bytes[BOX_BITS] = tmap_box_bits_bytes(&s.box);
    tmap_u64 *counter = (tmap_u64 *)kit_device(sizeof found);
    kit_case("fractal k=%u s=%ux%u tau %llx %llx, r=%u, rule %d", f.k, f.sx, f.sy, f.tau_x, f.tau_y,
             r, rule);
    for (int n = 0; n < STORAGES; ++n) {
        const tmap_u64 room = (bytes[n] + 63) / 32 * 32;
        s.now[n] = (unsigned char *)kit_device(room);
        s.next[n] = (unsigned char *)kit_device(room);
        CHECK(cudaMemset(s.now[n], 0, room));
        CHECK(cudaMemset(s.next[n], n == BYTES || n == BITS ? 0xa5 : 0, room));
    }
    CHECK(tmap_ca_plan_make(f, r, 0, 1, &ca[0]));
    CHECK(tmap_ca_plan_make(f, r, TMAP_COMPACT, 1, &ca[1]));
    CHECK(tmap_compact_life_plan_make(f, r, &plan));
    fill<<<STEPS_GRID>>>(s, r);
    CHECK(cudaGetLastError());
    for (int t = 0; t < steps; ++t) {
        step(&s, ca, &plan, rules[rule]);
        for (int n = 0; n < STORAGES; ++n) {
            unsigned char *old = s.now[n];
            s.now[n] = s.next[n], s.next[n] = old;
        }
    }
    CHECK(cudaMemset(counter, 0, sizeof found));
    compare<<<STEPS_GRID>>>(s, counter);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(found, counter, sizeof found, cudaMemcpyDeviceToHost));
    for (int n = EMBEDDED; n < STORAGES; ++n) expect(found[n] == 0, names[n]);
    for (int n = 0; n < 2; ++n) {
        CHECK(cudaMemset(counter, 0, sizeof found));
        living<<<STEPS_GRID>>>(s.now[BITS + n], bytes[BITS + n], counter);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&bits[n], counter, sizeof *bits, cudaMemcpyDeviceToHost));
        expect(bits[n] == found[STORAGES], "bits that are no cells");
    }
    kit_release(0);
}

int main(void) {
    engine_begin();
    const int fractals = TMAP_FRACTAL_COUNT + OWN;
    const int few = !kit_gpu || kit_tiny, levels = few ? 6 : 13;
    const int steps = kit_tiny ? 2 : !kit_gpu ? 7 : 100;
    for (int i = 0; i < fractals; ++i) {
        const int own = i >= TMAP_FRACTAL_COUNT;
        const tmap_nbb f = engine_fractal(own ? i + ENGINE_OWN : i);
        const tmap_u64 most = kit_tiny ? 300 : !kit_gpu ? 1100 : own ? 1u << 22 : 1u << 28;
        for (tmap_u32 r = 0; r <= (tmap_u32)levels && r <= tmap_nbb_linear_level_max32(f); ++r) {
            const tmap_u64 places = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
            // All rules at small levels; one, in turn, at large ones and where each step is slow.
            const int one = few || places > 1u << 16;
            for (int rule = 0; rule < RULES && places <= most; ++rule)
                if ((!one || rule == (i + (int)r) % RULES) && check_turn()) run(f, r, rule, steps);
        }
    }
    return kit_end("test_compact_steps");
}
