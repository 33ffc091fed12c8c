// SPDX-License-Identifier: MIT
// pdb.h: frames of the Protein Data Bank's format (version 3.3), by its fixed columns.
//
// ATOM and HETATM count, with x, y and z of columns 31-38, 39-46 and 47-54. A frame goes from MODEL
// to ENDMDL; without MODEL the file is one frame, or several separated by END, as some programs
// write trajectories. All frames have the same number of atoms.
//
// Alternate locations (column 17): atoms with a blank letter are read. Of an atom (its name, chain,
// residue number and insertion code) with other letters, the letter that comes first in the file is
// read in all frames; the others are skipped.
//
// CRYST1 is the box of all frames behind it, to the next one. Angles that are not 90 degrees, and
// lengths of 1, 1, 1 (of structures that are no crystals), mean no box.
#ifndef FILES_PDB_H
#define FILES_PDB_H

#include "frames_type.h"
#include "text.h"

// The letters of alternate locations, in a table that doubles: place = hash, or the next free one.
typedef struct pdb_letter {
    char atom[11], letter; // columns 13-16 and 22-27 and a zero; 0: free
} pdb_letter;

typedef struct pdb_letters {
    pdb_letter *table;
    input_u64 room, used;
} pdb_letters;

// The place of an atom in a table with free ones.
static inline pdb_letter *pdb_letter_place(const pdb_letters *l, const char atom[11]) {
    input_u64 hash = 14695981039346656037ull; // FNV-1a
    for (int i = 0; i < 10; ++i) hash = (hash ^ (unsigned char)atom[i]) * 1099511628211ull;
    for (hash ^= hash >> 32;; ++hash) {
        pdb_letter *at = &l->table[hash & (l->room - 1)];
        if (!at->letter || !memcmp(at->atom, atom, 11)) return at;
    }
}

static inline int pdb_letters_double(const input *in, pdb_letters *l) {
    pdb_letters more;
    more.room = l->room ? 2 * l->room : 64, more.used = l->used;
    more.table = (pdb_letter *)input_memory(in, more.room, sizeof(pdb_letter));
    if (!more.table) return -1;
    memset(more.table, 0, (size_t)more.room * sizeof(pdb_letter));
    for (input_u64 i = 0; i < l->room; ++i)
        if (l->table[i].letter) *pdb_letter_place(&more, l->table[i].atom) = l->table[i];
    free(l->table);
    *l = more;
    return 0;
}

// 1 if the atom of a line is read, 0 if it is an alternate location to skip, -1: no memory.
static inline int pdb_counts(const input *in, pdb_letters *l, text line) {
    pdb_letter *at;
    char atom[11];
    const char letter = line.at[16];
    if ((unsigned char)letter <= ' ') return 1;
    if (2 * l->used >= l->room && pdb_letters_double(in, l)) return -1;
    memcpy(atom, line.at + 12, 4);
    memcpy(atom + 4, line.at + 21, 6);
    atom[10] = 0;
    at = pdb_letter_place(l, atom);
    if (!at->letter) {
        memcpy(at->atom, atom, sizeof atom);
        at->letter = letter;
        ++l->used;
    }
    return at->letter == letter;
}

// The lengths of a CRYST1 line; zeros if it has no box that we support.
static inline int pdb_box(const input *in, text line, float box[3]) {
    static const unsigned first[6] = {7, 16, 25, 34, 41, 48}, last[6] = {15, 24, 33, 40, 47, 54};
    double v[6];
    for (int i = 0; i < 6; ++i)
        if (text_number(text_columns(line, first[i], last[i]), &v[i]) ||
            !frames_is_length(input_narrow(v[i])))
            return input_bad(in, "line %llu: no number in columns %u to %u of CRYST1", in->line,
                             first[i], last[i]);
    const int none =
        (v[0] == 1 && v[1] == 1 && v[2] == 1) || v[3] != 90 || v[4] != 90 || v[5] != 90;
    for (int c = 0; c < 3; ++c) box[c] = none ? 0 : input_narrow(v[c]);
    return 0;
}

static inline int pdb_atom(const input *in, text line, pdb_letters *l, frames_growing *g) {
    double at[3];
    int counts = 0;
    if (line.size < 31) return input_bad(in, "line %llu: an atom without coordinates", in->line);
    counts = pdb_counts(in, l, line);
    if (counts < 1) return counts;
    for (unsigned c = 0; c < 3; ++c)
        if (text_number(text_columns(line, 31 + 8 * c, 38 + 8 * c), &at[c]))
            return input_bad(in, "line %llu: no number in columns %u to %u", in->line, 31 + 8 * c,
                             38 + 8 * c);
    return frames_atom(in, g, at);
}

static inline int pdb_lines(input *in, pdb_letters *l, frames_growing *g) {
    float box[3] = {0, 0, 0};
    int open = 0, models = 0; // open: inside a frame
    text line;
    while (text_line(in, &line)) {
        const text record = text_columns(line, 1, 6);
        const int model = text_is(record, "model");
        if (model || text_is(record, "endmdl") || text_is(record, "end")) {
            if (open && frames_end(in, g, box)) return -1;
            open = model;
            if (model && !models && g->f.count)
                return input_bad(in, "line %llu: MODEL behind atoms of no model", in->line);
            models |= model;
        } else if (text_is(record, "atom") || text_is(record, "hetatm")) {
            if (models && !open)
                return input_bad(in, "line %llu: an atom outside of MODEL and ENDMDL", in->line);
            open = 1;
            if (pdb_atom(in, line, l, g)) return -1;
        } else if (text_is(record, "cryst1") && pdb_box(in, line, box)) {
            return -1;
        }
    }
    return open ? frames_end(in, g, box) : 0;
}

// Returns 0, or -1 with the line in in->error; f is untouched then.
static inline int pdb_read(input *in, frames *f) {
    pdb_letters letters;
    frames_growing g;
    memset(&letters, 0, sizeof letters);
    memset(&g, 0, sizeof g);
    const int read = pdb_lines(in, &letters, &g);
    free(letters.table);
    return frames_grown(in, &g, read, f);
}

#endif
