// SPDX-License-Identifier: MIT
// compact_words.h: compact storage of one bit a cell, and stencils on it for a word's cells at
// once.
//
// The levels at the top, of which a fractal of level r consists of k^j copies of one of level r -
// j, are the bits of a word: the copies lie on top of each other as sheets. Word i holds in bit b
// cell i of sheet b, which is cell b * k^(r-j) + i of the fractal. So each cell of a word has its
// neighbours in the same words as all others have, in its own bit: what is a rule for one cell is
// one for a word, by its bits, and there is nothing to shift. Only beside a sheet's border the
// neighbour is one of another sheet, and the bits of its word are turned to where they belong.
//
// A word has the bits of 16, 32 or 64 in which least are idle: of the gasket's 32 bits 27 are
// cells, of the carpet's and the Candy's 64 and 16 all and 12, of Vicsek's 32 25. Idle bits are 0.
//
//     static __device__ void rule(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
//                                 void *next) { // places that are no cells have zeros
//         const tmap_u32 *v = (const tmap_u32 *)nine;
//         *(tmap_u32 *)next = v[TMAP_HERE] | v[TMAP_NORTH] | v[TMAP_SOUTH]; // of 27 cells
//     }
//     __global__ void __launch_bounds__(512, 2) step(tmap_each_plan plan, job j) {
//         tmap_stencil_words(&plan, j.in, j.out, 4, rule, &j);
//     }
//     ... tmap_stencil_words_plan_make(f, r, (const void *)step, &plan);
//     ... tmap_each_launch(&plan, &j, stream);
#ifndef TMAP_FRACTAL_COMPACT_WORDS_H
#define TMAP_FRACTAL_COMPACT_WORDS_H

#include "stencil.h"

// The word for fractal f of level r. Example: gasket, r = 16: 3 levels, 27 cells, 4 bytes.
// For a level of fewer, one word holds all.
TMAP_FN tmap_compact_word tmap_compact_word_of(tmap_nbb f, tmap_u32 r) {
    tmap_compact_word best = {0, 1, 2};
    for (tmap_u32 bits = 16; bits <= 64; bits *= 2) {
        tmap_compact_word word = {0, 1, bits / 8};
        while (word.level < r && f.k > 1 && word.cells * f.k <= bits)
            ++word.level, word.cells *= f.k;
        if (word.cells * best.bytes >= best.cells * word.bytes) best = word;
    }
    return best;
}

// The number of words of fractal f of level r. Saturates.
// Example: gasket, r = 24: 10460353203, 42 GB.
TMAP_FN tmap_u64 tmap_compact_words(tmap_nbb f, tmap_u32 r) {
    return tmap_nbb_cells(f, r - tmap_compact_word_of(f, r).level);
}

// Bytes of a state of one bit a cell. Saturates.
TMAP_FN tmap_u64 tmap_compact_words_bytes(tmap_nbb f, tmap_u32 r) {
    return tmap_mul_saturate(tmap_compact_words(f, r), tmap_compact_word_of(f, r).bytes);
}

// The largest level of which `states` states of one bit a cell fit `bytes` bytes: what to ask
// before anything is allocated. Example: gasket, two states in 141e9 bytes: 24.
TMAP_FN tmap_u32 tmap_compact_words_level_max(tmap_nbb f, tmap_u32 states, tmap_u64 bytes) {
    tmap_u32 r = tmapi_compact_level_most(f);
    while (r && tmap_mul_saturate(tmap_compact_words_bytes(f, r), states) > bytes) --r;
    return r;
}

// Where cell number i (tmap_compact_index) of level r has its bit: word *word, bit *bit.
// Example: gasket, r = 4: cell 5 of 81: word 2, bit 1.
TMAP_FN void tmap_compact_bit(tmap_nbb f, tmap_u32 r, tmap_u64 i, tmap_u64 *word, tmap_u32 *bit) {
    const tmap_u64 words = tmap_compact_words(f, r);
    *bit = (tmap_u32)(i / words), *word = i % words;
}

#if TMAP_CUDA

// tmap_stencil for words. rule: gets nine words and gives one; cell: that of sheet 0, at: the word;
// around is to be ignored, as cells of a word differ in it. It must leave idle bits 0: they are the
// bits from plan.word.cells on. size: plan.word.bytes, a constant: 2, 4 or 8. A plan of
// tmap_stencil_words_plan_make alone, launched with its own block: by any other plan, and in a
// block of fewer threads than a tile has cells, nothing is done. Otherwise as tmap_stencil.
TMAP_DEVICE void tmap_stencil_words(const tmap_each_plan *plan, const void *in, void *out,
                                    tmap_u32 size, tmap_stencil_rule rule, void *job) {
    tmapi_stencil s;
    s.in = (const unsigned char *)in, s.out = (unsigned char *)out, s.size = size;
    s.rule = rule, s.job = job, s.plan = plan, s.words = 1;
    tmapi_compact_stencil(plan, &s);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// The plan of a kernel that calls tmap_stencil_words for elements of tmap_compact_word_of(f,
// r).bytes bytes. plan.r is the level of a sheet, plan.word says what a word holds. Errors: as
// tmap_each_plan_make, and cudaErrorInvalidConfiguration for a sheet of more than 2^32 - 1 tiles,
// which only a loop over single cells could take. Example: gasket 28 and carpet 15 are the last;
// carpet 14 where a block has 64 KB of shared memory.
static inline cudaError_t tmap_stencil_words_plan_make(tmap_nbb f, tmap_u32 r, const void *kernel,
                                                       tmap_each_plan *out) {
    tmap_each_plan p;
    cudaError_t error;
    if (!out || tmap_nbb_check(f) != TMAP_OK) return cudaErrorInvalidValue;
    error = tmapi_each_plan_make_words(TMAP_EACH_STENCIL, f, r, TMAP_COMPACT,
                                       tmap_compact_word_of(f, r), kernel, &p);
    if (error) return error;
    if (p.loop != TMAP_EACH_COMPACT) return cudaErrorInvalidConfiguration;
    *out = p;
    return cudaSuccess;
}

#endif
#endif
