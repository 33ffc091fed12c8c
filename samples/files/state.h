// SPDX-License-Identifier: MIT
// state.h: states of fractals in compact storage (docs/maps/compact.md) as .npy files. The name of
// the values says what they are: "#./## level 12 step 100", the fractal's rows from the top, its
// level, and a number that the writer chooses. numpy.load gives a structured array of one field.
//
//     state s = {tmap_fractal_gasket(), 12, 100, "f4"};
//     if (state_write_head(file, &s) || fwrite(cells, 4, 531441, file) != 531441) ... // 3^12
//     if (state_read("heat.npy", &s, error, sizeof error)) ... // s.data, s.bytes; state_free(&s)
#ifndef FILES_STATE_H
#define FILES_STATE_H

#include "npy.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/compact.h>

#define STATE_TYPES "u1 f4 u2 u4 u8"

typedef struct state {
    tmap_nbb f;
    tmap_u32 r; // level
    tmap_u64 step;
    char type[3]; // "u1", "f4": of a cell; "u2", "u4", "u8": a word of tmap_compact_word_of(f, r)
    tmap_u64 count, bytes; // number of cells or words, and their bytes, by state_sizes
    const void *data;      // of a state that is read
    input file;
} state;

static inline void state_free(state *s) { input_close(&s->file), s->data = NULL; }

// Sets count and bytes. Returns 0, or -1 if the type is not one of this fractal and level, or 64
// bits do not hold the bytes.
static inline int state_sizes(state *s) {
    const unsigned each = npy_bytes(STATE_TYPES, s->type);
    if (tmap_nbb_check(s->f) != TMAP_OK || s->r > TMAP_LEVEL_MAX || !each) return -1;
    const int words = strcmp(s->type, "u1") && strcmp(s->type, "f4");
    if (words && tmap_compact_word_of(s->f, s->r).bytes != each) return -1;
    s->count = words ? tmap_compact_words(s->f, s->r) : tmap_nbb_cells(s->f, s->r);
    return s->count == ~0ull || input_product(s->count, each, &s->bytes) ? -1 : 0;
}

// Writes what precedes the values; these follow, in this machine's byte order. Sets count and
// bytes. Returns 0, or -1 where the file does not take it or there is no such state; replicas that
// are not numbered row by row, which rows cannot tell, are one.
static inline int state_write_head(FILE *file, state *s) {
    char name[400];
    tmap_nbb again;
    const tmap_u32 wide = s->f.sx + 1;
    if (state_sizes(s)) return -1;
    memset(name, '.', sizeof name);
    for (tmap_u32 y = 0; y < s->f.sy; ++y) name[y * wide + s->f.sx] = '/';
    for (tmap_u32 i = 0; i < s->f.k; ++i)
        name[tmap_nbb_tau(s->f, i).y * wide + tmap_nbb_tau(s->f, i).x] = '#';
    char *end = name + s->f.sy * wide - 1;
    *end = 0;
    if (tmap_nbb_from_rows(name, &again) != TMAP_OK || !tmap_nbb_equal(again, s->f)) return -1;
    snprintf(end, 100, " level %u step %llu", s->r, s->step);
    return npy_write_head(file, name, s->type, 1, &s->count);
}

// Reads the name of the values. Returns 0, or -1.
static inline int state_read_name(text name, state *s) {
    const text rows = text_word(&name);
    char fractal[TMAP_SIDE_MAX * (TMAP_SIDE_MAX + 1)];
    input_u64 r = 0;
    if (rows.size >= sizeof fractal) return -1;
    memcpy(fractal, rows.at, (size_t)rows.size), fractal[rows.size] = 0;
    if (tmap_nbb_from_rows(fractal, &s->f) != TMAP_OK) return -1;
    if (!text_is(text_word(&name), "level") || text_whole(text_word(&name), TMAP_LEVEL_MAX, &r) ||
        !text_is(text_word(&name), "step") || text_whole(text_word(&name), ~0ull, &s->step))
        return -1;
    s->r = (tmap_u32)r;
    return text_trim(name).size ? -1 : 0;
}

// Reads a state whose file is in memory; s->data is in there. Returns 0, or -1 with the line in
// in->error; s is untouched then.
static inline int state_parse(input *in, state *s) {
    state t;
    npy a;
    memset(&t, 0, sizeof t), memset(&a, 0, sizeof a);
    if (npy_read_as(in, STATE_TYPES, 1, &a)) return -1;
    memcpy(t.type, a.type, sizeof t.type);
    if (state_read_name(a.name, &t))
        return input_bad(in, "no state: the name of its values is not ROWS level R step S");
    if (state_sizes(&t) || a.dims != 1 || a.count != t.count)
        return input_bad(in, "its type or shape is not that of its fractal and level %u", t.r);
    if (a.each > 1 && a.big == npy_little()) return input_bad(in, "is of the other byte order");
    t.data = a.data;
    const tmap_u32 used = tmap_compact_word_of(t.f, t.r).cells; // bits
    for (tmap_u64 i = 0; a.type[0] == 'u' && a.each > 1 && i < t.count; ++i) {
        const unsigned char *p = a.data + i * a.each;
        for (tmap_u32 bit = used; bit < 8 * a.each; ++bit)
            if (p[a.big ? a.each - 1 - bit / 8 : bit / 8] >> bit % 8 & 1)
                return input_bad(in, "word %llu has bits beyond its %u cells", i, used);
    }
    *s = t;
    return 0;
}

// Reads a file; state_free frees what s holds. Returns 0, or -1 with one line, which names the
// file, in error of `room` bytes; s is untouched then.
static inline int state_read(const char *path, state *s, char *error, size_t room) {
    input in;
    if (input_open(&in, path, error, room)) return -1;
    if (state_parse(&in, s)) return input_close(&in), -1;
    s->file = in;
    return 0;
}

#endif
