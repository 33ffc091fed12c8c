// SPDX-License-Identifier: MIT
// compact_life.h: cellular automata of two states on a fractal in compact storage, one bit per
// cell: for levels that no matrix can hold.
//
// In the Moore neighbourhood only cells of the fractal count. The rule is any of the family of
// Conway's Life (ca_rule.h), as in ca.h for matrices. Made with stencil.h, ready to launch.
//
//     tmap_nbb f = tmap_fractal_gasket();
//     tmap_each_plan plan;
//     cudaError_t error = tmap_compact_life_plan_make(f, 20, &plan);
//     ... cudaMalloc(&a, tmap_compact_words_bytes(f, 20)), and b
//     if (!error) error = tmap_compact_life(&plan, tmap_ca_life(), a, b, stream); // b: the next
#ifndef TMAP_FRACTAL_COMPACT_LIFE_H
#define TMAP_FRACTAL_COMPACT_LIFE_H

#include "ca_rule.h"
#include "ready.h"
#include "stencil.h"

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_compact_life {
    const void *in;
    void *out;
    tmapi_life_rule rule;
    tmap_u64 cells; // the bits of a word that are cells
} tmapi_compact_life;

// The next states of 32 bits of nine words.
TMAP_DEVICE tmap_u32 tmapi_compact_life_next(const tmap_u32 *nine, const tmapi_life_rule *rule) {
    tmapi_life_three row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y].left = nine[3 * y], row[y].here = nine[3 * y + 1], row[y].right = nine[3 * y + 2];
    return tmapi_life_next32(row[0], row[1], row[2], rule);
}

// The rule and the kernel for words of one type.
#define TMAPI_COMPACT_LIFE_KERNEL(size, type) \
    TMAP_DEVICE void tmapi_compact_life_rule_##size(void *job, tmap_cell cell, tmap_u32 around, \
                                                    const void *nine, void *next) { \
        const tmapi_compact_life *j = (const tmapi_compact_life *)job; \
        tmap_u32 low[9], high[9]; \
        tmap_u64 now; \
        (void)cell, (void)around; \
        for (int i = 0; i < 9; ++i) { \
            const tmap_u64 word = ((const type *)nine)[i]; \
            low[i] = (tmap_u32)word, high[i] = (tmap_u32)(word >> 32); \
        } \
        now = tmapi_compact_life_next(low, &j->rule); \
        if (size == 8) now |= (tmap_u64)tmapi_compact_life_next(high, &j->rule) << 32; \
        *(type *)next = (type)(now & j->cells); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_compact_life_kernel_##size(tmap_each_plan plan, tmapi_compact_life job) { \
        const tmap_array in = {job.in, size}; \
        tmap_each_stencil_words(&plan, in, tmapi_compact_life_rule_##size, job.out, &job); \
    }
TMAPI_COMPACT_LIFE_KERNEL(2, unsigned short)
TMAPI_COMPACT_LIFE_KERNEL(4, tmap_u32)
TMAPI_COMPACT_LIFE_KERNEL(8, tmap_u64)
#undef TMAPI_COMPACT_LIFE_KERNEL

static inline const void *tmapi_compact_life_kernel(tmap_u32 bytes) {
    return bytes == 2   ? (const void *)tmapi_compact_life_kernel_2
           : bytes == 4 ? (const void *)tmapi_compact_life_kernel_4
                        : (const void *)tmapi_compact_life_kernel_8;
}

// Makes a plan for tmap_compact_life, for fractal f of level r. See
// tmap_each_plan_make for errors.
static inline cudaError_t tmap_compact_life_plan_make(tmap_nbb f, tmap_u32 r, tmap_each_plan *out) {
    if (tmap_nbb_check(f) != TMAP_OK) return cudaErrorInvalidValue;
    const cudaError_t error =
        tmap_each_plan_make(TMAP_EACH_WORDS, f, r, TMAP_COMPACT,
                            tmapi_compact_life_kernel(tmap_compact_word_of(f, r).bytes), out);
    if (!error) out->type = TMAPI_READY_COMPACT_LIFE | out->word.bytes;
    return error;
}

// Computes one step: out = rule(in) for every cell of the plan's share. in, out:
// tmap_compact_words_bytes(f, r) bytes each in device memory, at multiples of 8, not overlapping.
// Idle bits of `in` are 0; the step leaves those of `out` 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, equal states, a plan of
// another maker or with another loop, and a rule with more than nine bits; otherwise the
// launch's own error.
static inline cudaError_t tmap_compact_life(const tmap_each_plan *plan, tmap_ca_rule rule,
                                            const void *in, void *out, cudaStream_t stream) {
    tmapi_compact_life job;
    if (!plan || !in || !out || in == out || ((tmap_u64)in | (tmap_u64)out) % 8 ||
        !plan->word.bytes || plan->type != (TMAPI_READY_COMPACT_LIFE | plan->word.bytes) ||
        plan->loop != TMAP_EACH_COMPACT || rule.born > 0x1ff || rule.survive > 0x1ff)
        return cudaErrorInvalidValue;
    job.in = in, job.out = out, job.rule = tmapi_life_rule_make(rule);
    job.cells = ~0ull >> (64 - plan->word.cells);
    return tmap_each_launch(plan, &job, stream);
}

#endif
#endif
