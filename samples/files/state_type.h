// SPDX-License-Identifier: MIT
// state_type.h: the description of a state of a fractal in compact storage, and its checks.
//
// Compact storage has an element for each of the k^level cells of a fractal: element i is the cell
// whose replica of level mu is digit mu - 1 of i, base k; replica beta is the beta-th '#' of the
// fractal's rows, row by row, and one of level mu lies at its column and row times (sx, sy)^(mu-1).
// In words of one bit a cell, bit b of word w is cell number b * k^(level - word_level) + w.
#ifndef FILES_STATE_TYPE_H
#define FILES_STATE_TYPE_H

#include "checksum.h"
#include "json.h"
#include "npy.h"

enum {
    STATE_SIDE = 16, // rows, columns and replicas of a fractal at most
    STATE_LEVEL = 64,
    STATE_ROWS = STATE_SIDE * (STATE_SIDE + 1),
    STATE_JSON = 4096 // bytes of a description, and of the head of an array, at most
};
#define STATE_FORMAT "threadmap compact state 1"

typedef struct state_info {
    char fractal[STATE_ROWS]; // rows of '#' and '.', from the top, parted by '/': "#./##"
    int words;                // 0: elements are cells; 1: words of one bit a cell
    input_u64 level;          // of the fractal
    input_u64 word_level;     // of words: the levels at the top that are their bits; else 0
    char type[3];             // of a value, as numpy has it; of words u2 u4 u8
    input_u64 values;         // of an element, side by side; of words 1
    input_u64 step;           // of a simulation, for its owner
    // What follows from these, by state_sizes:
    input_u64 k, sx, sy, elements, bytes;
    uint32_t checksum; // CRC-32 of the bytes
} state_info;

// ---- the fractal --------------------------------------------------------------------------------

// Rows from the numbers of a tmap_nbb. Returns 0, or -1 where they are none, or replicas are not
// numbered row by row, which rows cannot tell (s is untouched then).
static inline int state_fractal(state_info *s, unsigned k, unsigned sx, unsigned sy,
                                input_u64 tau_x, input_u64 tau_y) {
    char rows[STATE_ROWS];
    unsigned next = 0, length = 0;
    if (k < 1 || k > STATE_SIDE || sx < 1 || sx > STATE_SIDE || sy < 1 || sy > STATE_SIDE)
        return -1;
    for (unsigned y = 0; y < sy; ++y)
        for (unsigned x = 0; x <= sx; ++x) {
            const int is = next < k && x < sx && (tau_x >> 4 * next & 15) == x &&
                           (tau_y >> 4 * next & 15) == y;
            next += (unsigned)is;
            rows[length++] = is ? '#' : x < sx ? '.' : '/';
        }
    if (next < k) return -1;
    rows[length - 1] = 0;
    memcpy(s->fractal, rows, length);
    return 0;
}

static inline int state_rows(const input *in, state_info *s) {
    input_u64 x = 0;
    int wrong = 0;
    s->k = s->sx = 0, s->sy = 1;
    for (const char *c = s->fractal; *c; ++c) {
        wrong |= !strchr("#./", *c);
        s->k += *c == '#';
        if (*c != '/' && ++x > STATE_SIDE) wrong = 1;
        if (*c != '/' && s->sy == 1) s->sx = x;
        if (*c == '/' || !c[1]) wrong |= x != s->sx;
        if (*c == '/') x = 0, ++s->sy;
    }
    if (wrong || x != s->sx || !s->sx || s->sy > STATE_SIDE)
        return input_bad(in,
                         "its fractal is not 1 to 16 rows of 1 to 16 '#' and '.', parted by '/'");
    if (s->k < 1 || s->k > STATE_SIDE)
        return input_bad(in, "its fractal has %llu replicas, not 1 to 16", s->k);
    return 0;
}

// ---- sizes --------------------------------------------------------------------------------------

// Finds k, sx, sy, elements and bytes, of a state whose other parts are set. Returns 0, or -1 with
// the line in in->error, which says what cannot be so.
static inline int state_sizes(const input *in, state_info *s) {
    const unsigned each = npy_bytes(NPY_TYPES_ALL, s->type);
    input_u64 cells = 1;
    if (state_rows(in, s)) return -1;
    if (!each) return input_bad(in, "its type is none of %s", NPY_TYPES_ALL);
    if (s->level > STATE_LEVEL)
        return input_bad(in, "its level is %llu, not 0 to %d", s->level, STATE_LEVEL);
    if (s->values < 1 || s->values > STATE_SIDE)
        return input_bad(in, "an element has %llu values, not 1 to 16", s->values);
    if (!s->words && s->word_level)
        return input_bad(in, "cells have no word_level; it is %llu, not 0", s->word_level);
    if (s->words && (s->type[0] != 'u' || each == 1 || s->values != 1))
        return input_bad(in, "words are one value of u2, u4 or u8");
    if (s->word_level > s->level)
        return input_bad(in, "its word_level is %llu, but its level %llu", s->word_level, s->level);
    for (input_u64 i = 0; i < s->word_level && cells <= 64; ++i) cells *= s->k;
    if (cells > 8 * each)
        return input_bad(in, "its words have not the bits of %llu levels", s->word_level);
    s->elements = 1;
    for (input_u64 i = s->word_level; i < s->level; ++i)
        if (input_product(s->elements, s->k, &s->elements))
            return input_bad(in, "has more than 2^64 elements");
    if (input_product(s->elements, each * s->values, &s->bytes))
        return input_bad(in, "has more than 2^64 bytes");
    return 0;
}

// The cells of an element: of a word, the number of bits in use, from the lowest one; else 1.
static inline unsigned state_cells(const state_info *s) {
    unsigned cells = 1;
    for (input_u64 i = 0; i < s->word_level; ++i) cells *= (unsigned)s->k;
    return cells;
}

// ---- the description ----------------------------------------------------------------------------

// Reads it from JSON. Returns 0, or -1 with the line in in->error; s is untouched then.
static inline int state_describe(input *in, state_info *s) {
    char format[40], layout[8], sum[9];
    input_u64 k, sx, sy, elements;
    state_info t;
    memset(&t, 0, sizeof t);
    const json_key keys[] = {{"format", format, sizeof format, NULL},
                             {"fractal", t.fractal, sizeof t.fractal, NULL},
                             {"k", NULL, 0, &k},
                             {"sx", NULL, 0, &sx},
                             {"sy", NULL, 0, &sy},
                             {"level", NULL, 0, &t.level},
                             {"layout", layout, sizeof layout, NULL},
                             {"word_level", NULL, 0, &t.word_level},
                             {"type", t.type, sizeof t.type, NULL},
                             {"values", NULL, 0, &t.values},
                             {"elements", NULL, 0, &elements},
                             {"step", NULL, 0, &t.step},
                             {"crc32", sum, sizeof sum, NULL}};
    if (json_read(in, keys, sizeof keys / sizeof *keys)) return -1;
    if (strcmp(format, STATE_FORMAT)) return input_bad(in, "its format is not " STATE_FORMAT);
    t.words = !strcmp(layout, "words");
    if (!t.words && strcmp(layout, "cells"))
        return input_bad(in, "its layout is neither cells nor words");
    if (state_sizes(in, &t)) return -1;
    if (k != t.k || sx != t.sx || sy != t.sy)
        return input_bad(in,
                         "its k, sx, sy are %llu, %llu, %llu, but those of its fractal "
                         "%llu, %llu, %llu",
                         k, sx, sy, t.k, t.sx, t.sy);
    if (elements != t.elements)
        return input_bad(in, "its elements are %llu, but those of its level %llu", elements,
                         t.elements);
    if (strlen(sum) != 8 || strspn(sum, "0123456789abcdef") != 8)
        return input_bad(in, "its crc32 is not 8 of 0-9 and a-f");
    for (int i = 0; i < 8; ++i)
        t.checksum =
            t.checksum << 4 | (uint32_t)(text_is_digit(sum[i]) ? sum[i] - '0' : sum[i] - 'a' + 10);
    *s = t;
    return 0;
}

// Writes it. Returns 0, or -1 where the file does not take it.
static inline int state_describe_to(FILE *file, const state_info *s) {
    return fprintf(file,
                   "{\n  \"format\": \"" STATE_FORMAT "\",\n  \"fractal\": \"%s\",\n"
                   "  \"k\": %llu,\n  \"sx\": %llu,\n  \"sy\": %llu,\n  \"level\": %llu,\n"
                   "  \"layout\": \"%s\",\n  \"word_level\": %llu,\n  \"type\": \"%s\",\n"
                   "  \"values\": %llu,\n  \"elements\": %llu,\n  \"step\": %llu,\n"
                   "  \"crc32\": \"%08lx\"\n}\n",
                   s->fractal, s->k, s->sx, s->sy, s->level, s->words ? "words" : "cells",
                   s->word_level, s->type, s->values, s->elements, s->step,
                   (unsigned long)s->checksum) < 0
               ? -1
               : 0;
}

// ---- the array ----------------------------------------------------------------------------------

// Reads the head of the array of a state, which must be of its type and shape. all: bytes of the
// file; `in` may hold only the first of them. Returns 0, or -1 with the line in in->error.
static inline int state_head(input *in, const state_info *s, input_u64 all) {
    const unsigned one = 1;
    unsigned char little;
    input_u64 bytes = 0;
    npy a;
    memcpy(&little, &one, 1);
    if (npy_head(in, NPY_TYPES_ALL, &a, &bytes)) return -1;
    if (strcmp(a.type, s->type))
        return input_bad(in, "has values of type %s, but its description says %s", a.type, s->type);
    if (a.each > 1 && a.big == little) return input_bad(in, "is of the other byte order");
    if (a.dims != (s->values > 1 ? 2 : 1) || a.shape[0] != s->elements || a.shape[1] != s->values)
        return input_bad(in, "has not the shape of %llu elements of %llu values", s->elements,
                         s->values);
    if (all - in->at != bytes)
        return input_bad(in, "its shape needs %llu bytes, but %llu are there", bytes, all - in->at);
    return 0;
}

// Adds whole elements to a checksum; the first one is number `first`. Returns 0, or -1 with
// the line in in->error for a word in which idle bits are set.
static inline int state_pass(const input *in, const state_info *s, input_u64 first,
                             const void *bytes, input_u64 size, checksum *sum) {
    const unsigned cells = state_cells(s), each = npy_bytes(NPY_TYPES_ALL, s->type);
    const unsigned char *p = (const unsigned char *)bytes;
    for (input_u64 i = 0; s->words && cells < 8 * each && i < size / each; ++i) {
        uint64_t word = 0;
        uint32_t u4;
        uint16_t u2;
        if (each == 8) memcpy(&word, p + 8 * i, 8);
        if (each == 4) memcpy(&u4, p + 4 * i, 4), word = u4;
        if (each == 2) memcpy(&u2, p + 2 * i, 2), word = u2;
        if (word >> cells)
            return input_bad(in, "word %llu has bits beyond its %u cells", first + i, cells);
    }
    checksum_add(sum, bytes, size);
    return 0;
}

#endif
