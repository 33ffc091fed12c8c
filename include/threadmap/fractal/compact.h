// SPDX-License-Identifier: MIT
// compact.h: compact storage of a fractal: its k^r cells alone, side by side, where a matrix has
// sx^r * sy^r places; and the same with one bit a cell.
//
// Element i is cell tmap_nbb_lambda_linear(i). Every tile of level m is a run of k^m elements, and
// tiles that share a box of the next level lie side by side.
//
// The engine's plans take TMAP_COMPACT in place of a pitch, and then a kernel that calls tmap_each,
// tmap_each_update, tmap_each_fold or tmap_each_stencil runs on compact storage: cell.at is the
// element, cell.x and cell.y what they are in a matrix.
//
//     tmap_each_stencil_plan_make(f, r, TMAP_COMPACT, (const void *)step_cells, &plan);
//
// Source: Navarro et al., FGCS 113 (2020), name compact storage as work to come (section 8); lambda
// and nu are theirs.
#ifndef TMAP_FRACTAL_COMPACT_H
#define TMAP_FRACTAL_COMPACT_H

#include "nbb.h"

// In place of a pitch: the plan is one of compact storage.
#define TMAP_COMPACT (~0ull)

// A cell: its coordinates in the fractal, and its element: of a matrix offset + y * pitch + x, of
// compact storage offset + tmap_compact_index(f, x, y, r).
typedef struct tmap_cell {
    tmap_u32 x, y;
    tmap_u64 at;
} tmap_cell;

// The element of cell (x, y), or 2^64 - 1 if that is no cell. Any x and y; r <=
// tmap_nbb_linear_level_max64(f).
// Law: tmap_compact_index(f, tmap_compact_cell(f, i, r), r) == i. Cost: that of contains and nu.
// Example: gasket, r = 2: (1,3) -> 5, (1,2) -> 2^64 - 1.
TMAP_FN tmap_u64 tmap_compact_index(tmap_nbb f, tmap_u64 x, tmap_u64 y, tmap_u32 r) {
    return tmap_nbb_contains64(f, x, y, r) ? tmap_nbb_nu_linear64(f, x, y, r) : ~0ull;
}

// The cell of element i < k^r. Example: gasket, r = 2: 5 -> (1,3).
TMAP_FN tmap_xy64 tmap_compact_cell(tmap_nbb f, tmap_u64 i, tmap_u32 r) {
    return tmap_nbb_lambda_linear64(f, i, r);
}

// Bytes of a state of `size` bytes a cell. Saturates. Example: gasket, r = 20, float: 13947137604.
TMAP_FN tmap_u64 tmap_compact_bytes(tmap_nbb f, tmap_u32 r, tmap_u32 size) {
    return tmap_mul_saturate(tmap_nbb_cells(f, r), size);
}

// The largest level whose elements have numbers of 64 bits and whose cells coordinates of 32: as
// far as plans of compact storage go. Example: gasket 32, carpet 20.
TMAP_FN tmap_u32 tmapi_compact_level_most(tmap_nbb f) {
    const tmap_u32 linear = tmap_nbb_linear_level_max64(f), plans = tmap_nbb_level_max32(f);
    return linear < plans ? linear : plans;
}

// The largest level whose `states` states of `size` bytes a cell fit `bytes` bytes, and for which
// plans can be made: what to ask before anything is allocated.
// Example: gasket, two states of floats in 141e9 bytes: 21.
TMAP_FN tmap_u32 tmap_compact_level_max(tmap_nbb f, tmap_u32 size, tmap_u32 states,
                                        tmap_u64 bytes) {
    tmap_u32 r = tmapi_compact_level_most(f);
    while (r && tmap_mul_saturate(tmap_compact_bytes(f, r, size), states) > bytes) --r;
    return r;
}

// ---- words of one bit a cell --------------------------------------------------------------------
//
// The levels at the top are the bits of a word: a fractal of level r is k^j copies (sheets) of one
// of level r - j. Word i holds in bit b cell i of sheet b, which is cell b * k^(r-j) + i of the
// fractal. So all cells of a word have their neighbours in the same words, each in its own bit, and
// a rule is applied to all at once. Beside a sheet's border the bits of the word are turned.
//
// A word has the bits of 16, 32 or 64 in which least are idle. Idle bits are 0.

// What a word holds: the levels at the top that are its bits, k^level cells, and its bytes.
typedef struct tmap_compact_word {
    tmap_u32 level, cells, bytes;
} tmap_compact_word;

// The word for fractal f of level r; of a low level one word holds all cells.
// Example: gasket, r = 16: 3 levels, 27 cells, 4 bytes.
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

// The largest level whose `states` states of one bit a cell fit `bytes` bytes: what to ask
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

#endif
