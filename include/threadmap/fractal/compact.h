// SPDX-License-Identifier: MIT
// compact.h: compact storage of a fractal: only its k^r cells, contiguous, where a matrix has
// sx^r * sy^r places; also with one bit per cell.
//
// Element i is cell tmap_nbb_lambda_linear(i). Every tile of level m is a run of k^m elements, and
// the tiles of one box of the next level are contiguous.
//
// The engine's plans take TMAP_COMPACT in place of a pitch. A kernel that calls tmap_each,
// tmap_each_update, tmap_each_fold or tmap_each_stencil then runs on compact storage: cell.at is
// the element, and cell.x and cell.y are those of a matrix.
//
//     tmap_each_plan_make(TMAP_EACH_STENCIL, f, r, TMAP_COMPACT, (const void *)step_cells, &plan);
//
// Source: Navarro et al., FGCS 113 (2020), name compact storage as future work (section 7); lambda
// and nu are theirs.
#ifndef TMAP_FRACTAL_COMPACT_H
#define TMAP_FRACTAL_COMPACT_H

#include "nbb.h"

// In place of a pitch: the plan is for compact storage.
#define TMAP_COMPACT (~0ull)

// The kinds of work that plans of each.h and each3.h are made for: the call of the kernel.
typedef enum tmap_each_work {
    TMAP_EACH_VISIT,   // tmap_each, tmap_each_into; tmap_each3
    TMAP_EACH_UPDATE,  // tmap_each_update; tmap_each3_update
    TMAP_EACH_FOLD,    // tmap_each_fold; tmap_each3_fold
    TMAP_EACH_STENCIL, // tmap_each_stencil; tmap_each3_stencil
    TMAP_EACH_WORDS    // tmap_each_stencil_words; tmap_each3_words
} tmap_each_work;

#define TMAP_EACH_WORK_COUNT 5

// A cell: its coordinates in the fractal, and its element `at`: offset + y * pitch + x in a matrix,
// offset + tmap_compact_index(f, x, y, r) in compact storage.
typedef struct tmap_cell {
    tmap_u32 x, y;
    tmap_u64 at;
} tmap_cell;

// The element of cell (x, y), or 2^64 - 1 if that is no cell. Any x and y; levels r up
// to tmap_nbb_linear_level_max64(f).
// Law: tmap_compact_index(f, tmap_compact_cell(f, i, r), r) == i. Cost: a membership test and nu.
// Example: gasket, r = 2: (1,3) -> 5, (1,2) -> 2^64 - 1.
TMAP_FN tmap_u64 tmap_compact_index(tmap_nbb f, tmap_u64 x, tmap_u64 y, tmap_u32 r) {
    return tmap_nbb_contains64(f, x, y, r) ? tmap_nbb_nu_linear64(f, x, y, r) : ~0ull;
}

// The cell of element i < k^r, r <= tmap_nbb_linear_level_max64(f). Example: gasket,
// r = 2: 5 -> (1,3).
TMAP_FN tmap_xy64 tmap_compact_cell(tmap_nbb f, tmap_u64 i, tmap_u32 r) {
    return tmap_nbb_lambda_linear64(f, i, r);
}

// Bytes of a state with `size` bytes per cell. Saturates at 2^64 - 1. Example: gasket, r = 20,
// float: 13947137604.
TMAP_FN tmap_u64 tmap_compact_bytes(tmap_nbb f, tmap_u32 r, tmap_u32 size) {
    return tmap_mul_saturate(tmap_nbb_cells(f, r), size);
}

// n / k for any n and k >= 1, without a division.
TMAP_FN tmap_u32 tmapi_compact_inverse(tmap_u32 k) { return k > 1 ? 0xffffffffu / k : 0xffffffffu; }
TMAP_FN tmap_u32 tmapi_compact_divide(tmap_u32 n, tmap_u32 k, tmap_u32 inverse) {
    const tmap_u32 low = (tmap_u32)((tmap_u64)n * inverse >> 32); // the quotient or 1 less
    return low + (n - low * k >= k);
}
// The same for n * k < 2^32, and n = 0 where k is 1.
TMAP_FN tmap_u32 tmapi_compact_divide_small(tmap_u32 n, tmap_u32 inverse) {
#if defined(__CUDA_ARCH__) && !defined(__clang__) // whose CUDA mode lacks it
    return __umulhi(n, inverse + 1);
#else
    return (tmap_u32)((tmap_u64)n * (inverse + 1) >> 32);
#endif
}

// The largest level of plans for compact storage: element numbers fit 64 bits, coordinates 32.
// Example: gasket 32, carpet 20.
TMAP_FN tmap_u32 tmapi_compact_level_most(tmap_nbb f) {
    const tmap_u32 linear = tmap_nbb_linear_level_max64(f), plans = tmap_nbb_level_max32(f);
    return linear < plans ? linear : plans;
}

// The largest level at which `states` states of `size` bytes per cell fit into `bytes` bytes and a
// plan can be made; 0 also where level 0 does not fit. For use before an allocation.
// Example: gasket, two states of floats in 141e9 bytes: 21.
TMAP_FN tmap_u32 tmap_compact_level_max(tmap_nbb f, tmap_u32 size, tmap_u32 states,
                                        tmap_u64 bytes) {
    tmap_u32 r = tmapi_compact_level_most(f);
    while (r && tmap_mul_saturate(tmap_compact_bytes(f, r, size), states) > bytes) --r;
    return r;
}

// ---- words of one bit per cell ------------------------------------------------------------------
//
// The top levels of the fractal are the bits of a word: a fractal of level r is k^j copies
// (sheets) of one of level r - j. Bit b of word i is cell i of sheet b, which is cell
// b * k^(r-j) + i of the fractal. So the neighbours of all cells of a word are in the same words,
// each in its own bit, and a rule is applied to all of them at once. Across a sheet's border the
// bits of a word are reordered.
//
// A word has 16, 32 or 64 bits, whichever leaves the smallest part of them idle. Idle bits are 0.

// A word of a state: it has one bit for each of `cells` = k^level sheets, in `bytes` bytes.
typedef struct tmap_compact_word {
    tmap_u32 level, cells, bytes;
} tmap_compact_word;

// The word of 16 to `most` bits for a fractal of k replicas and level r.
TMAP_FN tmap_compact_word tmapi_compact_word(tmap_u32 k, tmap_u32 r, tmap_u32 most) {
    tmap_compact_word best = {0, 1, 2};
    for (tmap_u32 bits = 16; bits <= most; bits *= 2) {
        tmap_compact_word word = {0, 1, bits / 8};
        while (word.level < r && k > 1 && word.cells * k <= bits) ++word.level, word.cells *= k;
        if (word.cells * best.bytes >= best.cells * word.bytes) best = word;
    }
    return best;
}

// Chooses the word for fractal f of level r. At a low level one word holds all cells.
// Example: gasket, r = 16: 3 levels, 27 cells, 4 bytes.
TMAP_FN tmap_compact_word tmap_compact_word_of(tmap_nbb f, tmap_u32 r) {
    return tmapi_compact_word(f.k, r, 64);
}

// The number of words of fractal f of level r. Saturates at 2^64 - 1. Example: gasket, r = 24:
// 10460353203, 42 GB.
TMAP_FN tmap_u64 tmap_compact_words(tmap_nbb f, tmap_u32 r) {
    return tmap_nbb_cells(f, r - tmap_compact_word_of(f, r).level);
}

// Bytes of a state with one bit per cell. Saturates at 2^64 - 1.
TMAP_FN tmap_u64 tmap_compact_words_bytes(tmap_nbb f, tmap_u32 r) {
    return tmap_mul_saturate(tmap_compact_words(f, r), tmap_compact_word_of(f, r).bytes);
}

// The largest level at which `states` states of one bit per cell fit into `bytes` bytes; 0 also
// where level 0 does not fit. For use before an allocation. Example: gasket, two states in 141e9
// bytes: 24.
TMAP_FN tmap_u32 tmap_compact_words_level_max(tmap_nbb f, tmap_u32 states, tmap_u64 bytes) {
    tmap_u32 r = tmapi_compact_level_most(f);
    while (r && tmap_mul_saturate(tmap_compact_words_bytes(f, r), states) > bytes) --r;
    return r;
}

// Finds the bit of cell number i (tmap_compact_index) of level r: bit *bit of word *word.
// An f of zeros counts as one cell. Example: gasket, r = 4: cell 5 of 81: word 2, bit 1.
TMAP_FN void tmap_compact_bit(tmap_nbb f, tmap_u32 r, tmap_u64 i, tmap_u64 *word, tmap_u32 *bit) {
    const tmap_u64 words = tmap_compact_words(tmapi_nbb_total(f), r);
    *bit = (tmap_u32)(i / words), *word = i % words;
}

#if TMAP_CUDA

// Prefetches the sector of *place into the L2 cache.
TMAP_DEVICE void tmapi_compact_prefetch(const void *place) {
#if defined(__CUDA_ARCH__) && !defined(__clang__) // clang cannot convert the address
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(place)));
#else
    (void)place;
#endif
}

#endif // TMAP_CUDA
#endif
