// SPDX-License-Identifier: MIT
// life3.h: cellular automata of two states on a fractal in three dimensions, in compact storage
// with one bit per cell. Made with stencil3.h, ready to launch.
//
// Only the 26 neighbours that are cells of the fractal count. Rules are written as in C. Bays,
// "Candidates for the Game of Life in Three Dimensions", Complex Systems 1 (1987) 373-400: four
// numbers, the fewest and the most neighbours with which a live cell survives, then those with
// which a dead one becomes alive. His candidates are 4555 and 5766.
//
//     tmap_nbb3 f = tmap_fractal3_tetrahedron();
//     tmap_each3_plan plan;
//     cudaError_t error = tmap_life3_plan_make(f, 16, &plan);
//     ... cudaMalloc(&a, tmap_compact3_words_bytes(f, 16)), and b
//     if (!error) error = tmap_life3(&plan, tmap_life3_5766(), a, b, stream); // b: the next
#ifndef TMAP_FRACTAL_LIFE3_H
#define TMAP_FRACTAL_LIFE3_H

#include "ca_rule.h"
#include "ready.h"
#include "stencil3.h"

// A rule is a tmap_ca_rule (ca_rule.h) with bits 0 to 26.

TMAP_FN tmap_u32 tmapi_life3_from_to(tmap_u32 from, tmap_u32 to) {
    tmap_u32 bits = 0;
    for (tmap_u32 n = from; n <= to && n < TMAP_AROUND3; ++n) bits |= 1u << n;
    return bits;
}

// The rule in which a live cell survives with s0 to s1 live neighbours, and a dead cell becomes
// alive with b0 to b1. Numbers above 26 never occur. Example: 4555 is (4, 5, 5, 5).
TMAP_FN tmap_ca_rule tmap_life3_bays(tmap_u32 s0, tmap_u32 s1, tmap_u32 b0, tmap_u32 b1) {
    const tmap_ca_rule rule = {tmapi_life3_from_to(b0, b1), tmapi_life3_from_to(s0, s1)};
    return rule;
}
TMAP_FN tmap_ca_rule tmap_life3_4555(void) { return tmap_life3_bays(4, 5, 5, 5); }
TMAP_FN tmap_ca_rule tmap_life3_5766(void) { return tmap_life3_bays(5, 7, 6, 6); }

#if TMAP_CUDA

// A rule as masks of a word.
typedef struct tmapi_life3 {
    const void *in;
    void *out;
    tmap_u32 born[TMAP_AROUND3], survive[TMAP_AROUND3];
} tmapi_life3;

// The sum of three words, bit by bit; *carry has twice the weight.
TMAP_DEVICE tmap_u32 tmapi_life3_add(tmap_u32 a, tmap_u32 b, tmap_u32 c, tmap_u32 *carry) {
    *carry = tmapi_life_carry(a, b, c);
    return a ^ b ^ c;
}

// The sum of n words of one weight: one word of that weight, and n / 2 words of twice the weight.
// n: a constant, up to 26.
TMAP_DEVICE tmap_u32 tmapi_life3_sum(tmap_u32 *word, tmap_u32 n, tmap_u32 *twice) {
    tmap_u32 sum = word[0];
#pragma unroll
    for (tmap_u32 i = 1; i < 26; i += 2)
        if (i < n) sum = tmapi_life3_add(sum, word[i], i + 1 < n ? word[i + 1] : 0, &twice[i / 2]);
    return sum;
}

// The next states of 32 cells from the words of 27 places. Counts 26 neighbours of all cells in
// numbers of five bits, and picks one of 27 results for each cell.
TMAP_DEVICE tmap_u32 tmapi_life3_next(const tmap_u32 *place, const tmapi_life3 *rule) {
    tmap_u32 one[26], two[13], four[6], eight[3], sixteen[1], bit[5], v[32];
    const tmap_u32 here = place[TMAP_HERE3];
#pragma unroll
    for (tmap_u32 n = 0; n < 26; ++n) one[n] = place[n + (n >= TMAP_HERE3)];
    bit[0] = tmapi_life3_sum(one, 26, two);
    bit[1] = tmapi_life3_sum(two, 13, four);
    bit[2] = tmapi_life3_sum(four, 6, eight);
    bit[3] = tmapi_life3_sum(eight, 3, sixteen);
    bit[4] = sixteen[0];
#pragma unroll
    for (tmap_u32 n = 0; n < 32; ++n)
        v[n] = n < TMAP_AROUND3 ? tmapi_life_pick(here, rule->survive[n], rule->born[n]) : 0;
#pragma unroll
    for (tmap_u32 b = 0; b < 5; ++b)
#pragma unroll
        for (tmap_u32 n = 0; n < 16; ++n)
            if (n < 16u >> b) v[n] = tmapi_life_pick(bit[b], v[2 * n + 1], v[2 * n]);
    return v[0];
}

#if !TMAP_NVRTC

// The rule and the kernel for slices of one type, of `size` bytes and `parts` words of 32 bits.
#define TMAPI_LIFE3_KERNEL(size, type, parts) \
    TMAP_DEVICE void tmapi_life3_rule_##size(void *job, tmap_cell3 cell, tmap_u32 around, \
                                             const void *places, void *next) { \
        const type *slice = (const type *)places; \
        (void)cell, (void)around; \
        for (int w = 0; w < parts; ++w) { \
            tmap_u32 place[TMAP_AROUND3]; \
            for (int i = 0; i < TMAP_AROUND3; ++i) place[i] = slice[i * parts + w]; \
            ((type *)next)[w] = (type)tmapi_life3_next(place, (const tmapi_life3 *)job); \
        } \
    } \
    static __global__ void __launch_bounds__(512, 1) \
        tmapi_life3_kernel_##size(tmap_each3_plan plan, tmapi_life3 job) { \
        const tmap_array in = {job.in, size}; \
        tmap_each3_words(&plan, in, tmapi_life3_rule_##size, job.out, &job); \
    }
TMAPI_LIFE3_KERNEL(2, unsigned short, 1)
TMAPI_LIFE3_KERNEL(4, tmap_u32, 1)
TMAPI_LIFE3_KERNEL(8, tmap_u32, 2)
TMAPI_LIFE3_KERNEL(16, tmap_u32, 4)
#undef TMAPI_LIFE3_KERNEL

static inline const void *tmapi_life3_kernel(tmap_compact_word word) {
    switch (tmap_compact3_slice(word)) {
    case 2: return (const void *)tmapi_life3_kernel_2;
    case 4: return (const void *)tmapi_life3_kernel_4;
    case 8: return (const void *)tmapi_life3_kernel_8;
    default: return (const void *)tmapi_life3_kernel_16;
    }
}

// Makes a plan for tmap_life3, for fractal f of level r. See tmap_each3_plan_make for errors.
static inline cudaError_t tmap_life3_plan_make(tmap_nbb3 f, tmap_u32 r, tmap_each3_plan *out) {
    const tmap_pitch3 compact = {TMAP_COMPACT, 0};
    if (tmap_nbb3_check(f) != TMAP_OK) return cudaErrorInvalidValue;
    const cudaError_t error =
        tmap_each3_plan_make(TMAP_EACH_WORDS, tmap_turned_plain(f), r, compact,
                             tmapi_life3_kernel(tmap_compact3_word_of(f, r)), out);
    if (!error) out->type = TMAPI_READY_LIFE3 | tmap_compact3_slice(out->word);
    return error;
}

// Computes one step: out = rule(in) for every cell of the plan's share. in, out:
// tmap_compact3_words_bytes(f, r) bytes each in device memory, at multiples of 16, not overlapping.
// Idle bits of `in` are 0; the step leaves those of `out` 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, equal states, a plan of another
// maker, and a rule with more than 27 bits; otherwise the launch's own error.
static inline cudaError_t tmap_life3(const tmap_each3_plan *plan, tmap_ca_rule rule, const void *in,
                                     void *out, cudaStream_t stream) {
    tmapi_life3 job;
    if (!plan || !in || !out || in == out || ((tmap_u64)in | (tmap_u64)out) % 16 ||
        !plan->word.bytes || plan->type != (TMAPI_READY_LIFE3 | tmap_compact3_slice(plan->word)) ||
        (rule.born | rule.survive) >> TMAP_AROUND3)
        return cudaErrorInvalidValue;
    job.in = in, job.out = out;
    for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
        job.born[n] = 0u - (rule.born >> n & 1);
        job.survive[n] = 0u - (rule.survive >> n & 1);
    }
    return tmap_each3_launch(plan, &job, stream);
}

#endif
#endif // TMAP_CUDA
#endif
