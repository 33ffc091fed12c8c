// SPDX-License-Identifier: MIT
// frames.h: reads the positions of atoms in many frames from a file, whose name's ending gives the
// format: .pdb .ent .xyz .dcd .npy.
//
//     frames f;
//     char error[200];
//     if (frames_read("walk.dcd", &f, error, sizeof error))
//         return fprintf(stderr, "%s\n", error), 2;
//     ... f.xyz[(frame * f.n + atom) * 3 + 0] ...
//     frames_free(&f);
//
// The reader of a format returns 0, or -1 with the line in in->error; its result is untouched then.
#ifndef FILES_FRAMES_H
#define FILES_FRAMES_H

#include "npy.h"

#include <math.h>

// Coordinate c of atom i in frame f is xyz[(f * n + i) * 3 + c], finite, in Angstrom. cell: each
// frame's unit cell, shape (count, 6): the lengths a, b, c in Angstrom, and the angles alpha, beta,
// gamma in degrees, above 0 and below 180; a length of 0 is not periodic that way, and a frame
// without a cell has six zeros. Null where no frame has one. n and count are 1 at least.
typedef struct frames {
    input_u64 n, count; // atoms of each frame, frames
    float *xyz, *cell;
} frames;

// Frees what a reader has returned; does nothing for a struct of zeros.
static inline void frames_free(frames *f) {
    free(f->xyz);
    free(f->cell);
    memset(f, 0, sizeof *f);
}

// Memory for frames of known size, n * count < 2^64, with cells or without. Returns 0, or -1 with
// the line in in->error.
static inline int frames_make(const input *in, input_u64 n, input_u64 count, int cells, frames *f) {
    memset(f, 0, sizeof *f);
    f->n = n, f->count = count;
    f->xyz = (float *)input_memory(in, n * count, 3 * sizeof(float));
    if (f->xyz && cells) f->cell = (float *)input_memory(in, count, 6 * sizeof(float));
    if (f->xyz && (f->cell || !cells)) return 0;
    frames_free(f);
    return -1;
}

// The last step of every reader: returns the frames if all coordinates are finite, else frees them.
// If no frame has a cell, cell is null. Returns 0, or -1 with the line in in->error.
static inline int frames_give(const input *in, frames *f, frames *out) {
    const input_u64 values = f->n * f->count * 3;
    int cells = 0;
    for (input_u64 i = 0; i < values; ++i)
        if (!input_finite(f->xyz[i])) {
            input_bad(in, "frame %llu, atom %llu (from 0): %c is not a finite number", i / 3 / f->n,
                      i / 3 % f->n, "xyz"[i % 3]);
            frames_free(f);
            return -1;
        }
    for (input_u64 i = 0; f->cell && i < f->count * 6; ++i) cells |= f->cell[i] != 0;
    if (!cells) free(f->cell), f->cell = NULL;
    *out = *f;
    return 0;
}

// 1 for lengths and angles of a unit cell.
static inline int frames_is_cell(const float *cell) {
    int right = 1;
    for (int i = 0; i < 6; ++i)
        right &= input_finite(cell[i]) && (i < 3 ? cell[i] >= 0 : cell[i] > 0 && cell[i] < 180);
    return right;
}

// ---- texts, whose sizes show only as they are read ----------------------------------------------

// A letter of alternate locations in a PDB file, and its atom: columns 13-16 and 22-27.
typedef struct pdb_letter {
    char atom[10], letter; // 0: a free place
} pdb_letter;

typedef struct frames_text {
    frames f;        // the frames that are complete, with memory for all that the file can hold
    input_u64 atoms; // of the frame that is being read
    pdb_letter
        *letters;     // null until the first one; then twice as many places as the file has atoms
    input_u64 places; // a power of two
} frames_text;

// Appends an atom to the frame that is being read.
static inline int frames_atom(const input *in, frames_text *g, const double at[3]) {
    float *to = g->f.xyz + (g->f.n * g->f.count + g->atoms) * 3;
    if (g->f.count && g->atoms == g->f.n)
        return input_bad(in, "line %llu: frame %llu has more atoms than the %llu of frame 0",
                         in->line, g->f.count, g->f.n);
    for (int c = 0; c < 3; ++c) to[c] = (float)at[c];
    ++g->atoms;
    return 0;
}

// The frame is complete. cell: zeros where it has none.
static inline int frames_end(const input *in, frames_text *g, const float cell[6]) {
    if (!g->atoms) return input_bad(in, "line %llu: a frame without atoms", in->line);
    if (g->f.count && g->atoms != g->f.n)
        return input_bad(in, "line %llu: frame %llu has %llu atoms, frame 0 has %llu", in->line,
                         g->f.count, g->atoms, g->f.n);
    memcpy(g->f.cell + g->f.count++ * 6, cell, 6 * sizeof *cell);
    g->f.n = g->atoms, g->atoms = 0;
    return 0;
}

// Reads a text by a function that calls these two.
static inline int frames_text_read(input *in, int (*read)(input *, frames_text *), frames *out) {
    frames_text g;
    memset(&g, 0, sizeof g);
    // The line of an atom has 7 letters at least: "H 1 2 3".
    if (frames_make(in, 1, in->size / 8 + 1, 1, &g.f)) return -1;
    g.f.n = g.f.count = 0;
    const int failed = read(in, &g);
    free(g.letters);
    if (failed || !g.f.count) {
        frames_free(&g.f);
        return failed ? -1 : input_bad(in, "has no atoms");
    }
    const input_u64 used = g.f.n * g.f.count * 3 * sizeof(float);
    float *xyz = (float *)realloc(g.f.xyz, (size_t)used);
    if (xyz) g.f.xyz = xyz; // else it stays as it was
    return frames_give(in, &g.f, out);
}

// ---- XYZ ----------------------------------------------------------------------------------------
//
// A frame is a line with the number of atoms, a line of comment, which is not read, and for each
// atom a line of its symbol, x, y, z, and anything else. Blank lines between frames are allowed.

static inline int xyz_frames(input *in, frames_text *g) {
    const float none[6] = {0, 0, 0, 0, 0, 0};
    input_u64 atoms = 0;
    double at[3];
    text line;
    while (text_line(in, &line)) {
        line = text_trim(line);
        if (!line.size) continue;
        if (text_whole(line, ~0ull, &atoms) || !atoms)
            return input_bad(in, "line %llu: no number of atoms", in->line);
        if (g->f.count && atoms != g->f.n)
            return input_bad(in, "line %llu: frame %llu has %llu atoms, frame 0 has %llu", in->line,
                             g->f.count, atoms, g->f.n);
        text_line(in, &line); // the comment
        for (input_u64 i = 0; i < atoms; ++i) {
            if (!text_line(in, &line))
                return input_bad(in, "ends after %llu of the %llu atoms of frame %llu", i, atoms,
                                 g->f.count);
            text_word(&line); // the symbol
            for (int c = 0; c < 3; ++c)
                if (text_number(text_word(&line), &at[c]))
                    return input_bad(in, "line %llu: no symbol and three numbers", in->line);
            if (frames_atom(in, g, at)) return -1;
        }
        if (frames_end(in, g, none)) return -1;
    }
    return 0;
}

static inline int xyz_read(input *in, frames *f) { return frames_text_read(in, xyz_frames, f); }

// ---- PDB, version 3.3, by its fixed columns -----------------------------------------------------
//
// ATOM and HETATM count, with x, y and z of columns 31-38, 39-46 and 47-54. A frame goes from MODEL
// to ENDMDL; without MODEL the file is one frame, or several separated by END, as some programs
// write trajectories.
//
// Alternate locations (column 17): atoms with a blank letter are read. Of an atom (its name, chain,
// residue number and insertion code) with other letters, the letter that comes first in the file is
// read in all frames; the others are skipped.
//
// CRYST1 is the unit cell of all frames behind it, to the next one. Lengths of 1, 1, 1 (of
// structures that are no crystals) or 0, 0, 0 mean none.

// 1 if the atom of a line is read, 0 if it is an alternate location to skip, -1: no memory.
static inline int pdb_counts(const input *in, frames_text *g, text line) {
    const char letter = line.at[16];
    input_u64 hash = 14695981039346656037ull; // FNV-1a
    char atom[10];
    if ((unsigned char)letter <= ' ') return 1;
    if (!g->letters) {
        for (g->places = 64; g->places < in->size / 16;) g->places *= 2; // a line has 31 letters
        g->letters = (pdb_letter *)input_memory(in, g->places, sizeof(pdb_letter));
        if (!g->letters) return -1;
        memset(g->letters, 0, (size_t)g->places * sizeof(pdb_letter));
    }
    memcpy(atom, line.at + 12, 4);
    memcpy(atom + 4, line.at + 21, 6);
    for (int i = 0; i < 10; ++i) hash = (hash ^ (unsigned char)atom[i]) * 1099511628211ull;
    for (hash ^= hash >> 32;; ++hash) { // place = hash, or the next free one
        pdb_letter *at = &g->letters[hash & (g->places - 1)];
        if (at->letter && memcmp(at->atom, atom, 10)) continue;
        if (!at->letter) memcpy(at->atom, atom, 10), at->letter = letter;
        return at->letter == letter;
    }
}

// The cell of a CRYST1 line; zeros if it means none.
static inline int pdb_cell(const input *in, text line, float cell[6]) {
    static const unsigned first[7] = {7, 16, 25, 34, 41, 48, 55};
    float read[6];
    double v;
    for (int i = 0; i < 6; ++i) {
        if (text_number(text_columns(line, first[i], first[i + 1] - 1), &v))
            return input_bad(in, "line %llu: no number in columns %u to %u of CRYST1", in->line,
                             first[i], first[i + 1] - 1);
        read[i] = (float)v;
    }
    const int none = read[0] == read[1] && read[1] == read[2] && (read[0] == 0 || read[0] == 1);
    if (none) memset(read, 0, sizeof read);
    if (!none && !frames_is_cell(read))
        return input_bad(in, "line %llu: no lengths and angles of a cell in CRYST1", in->line);
    memcpy(cell, read, sizeof read);
    return 0;
}

static inline int pdb_atom(const input *in, text line, frames_text *g) {
    double at[3];
    if (line.size < 31) return input_bad(in, "line %llu: an atom without coordinates", in->line);
    const int counts = pdb_counts(in, g, line);
    if (counts < 1) return counts;
    for (unsigned c = 0; c < 3; ++c)
        if (text_number(text_columns(line, 31 + 8 * c, 38 + 8 * c), &at[c]))
            return input_bad(in, "line %llu: no number in columns %u to %u", in->line, 31 + 8 * c,
                             38 + 8 * c);
    return frames_atom(in, g, at);
}

static inline int pdb_frames(input *in, frames_text *g) {
    float cell[6] = {0, 0, 0, 0, 0, 0};
    int open = 0, models = 0; // open: inside a frame
    text line;
    while (text_line(in, &line)) {
        const text record = text_columns(line, 1, 6);
        const int model = text_is(record, "model");
        if (model || text_is(record, "endmdl") || text_is(record, "end")) {
            if (open && frames_end(in, g, cell)) return -1;
            open = model;
            if (model && !models && g->f.count)
                return input_bad(in, "line %llu: MODEL behind atoms of no model", in->line);
            models |= model;
        } else if (text_is(record, "atom") || text_is(record, "hetatm")) {
            if (models && !open)
                return input_bad(in, "line %llu: an atom outside of MODEL and ENDMDL", in->line);
            open = 1;
            if (pdb_atom(in, line, g)) return -1;
        } else if (text_is(record, "cryst1") && pdb_cell(in, line, cell)) {
            return -1;
        }
    }
    return open ? frames_end(in, g, cell) : 0;
}

static inline int pdb_read(input *in, frames *f) { return frames_text_read(in, pdb_frames, f); }

// ---- DCD of CHARMM, NAMD and X-PLOR, of either byte order ---------------------------------------
//
// A file is a sequence of Fortran records, each between two markers of four bytes with its length:
// a head of 84 bytes ("CORD", then 20 numbers), a title, the number of atoms, and for each frame a
// unit cell where the head says so, all x, all y, all z, and a fourth coordinate, which is skipped.
//
// The number of frames follows from the file's length; the head's number is often wrong. A title is
// a number of lines, and lines of 80 letters; where its markers differ, it ends after these. A cell
// is six doubles, which other programs read in the same way:
//     A, B and C are 0             no cell, whatever the others are (MDAnalysis has 1, 1, 1)
//     A, gamma, B, beta, alpha, C  angles in degrees, or, if all are from -1 to 1, their cosines
//     xx, xy, yy, xz, yz, zz       a symmetric matrix whose rows are the cell's edges (CHARMM), if
//                                  a number in place of an angle is below 0 or above 180
// Refused: a truncated last frame, fixed atoms, velocities, and markers of eight bytes.

// Numbers of the head. X-PLOR has version 0, and neither cells nor a fourth coordinate.
enum { DCD_FIXED = 8, DCD_CELL = 10, DCD_FOURTH = 11, DCD_VERSION = 19 };

typedef struct dcd_head {
    int big, cell, fourth; // byte order, and what each frame has beside x, y and z
    input_u64 atoms;
} dcd_head;

// Returns the content of the next record, whose length is known; null if a marker differs.
static inline const unsigned char *dcd_record(input *in, int big, input_u64 bytes) {
    const unsigned char *at = input_take(in, bytes + 8);
    if (!at || input_u32(at, big) != bytes || input_u32(at + 4 + bytes, big) != bytes) return NULL;
    return at + 4;
}

// Reads the title. Returns 0, or -1 if it does not end where a record does.
static inline int dcd_title(input *in, int big) {
    const input_u64 from = in->at;
    const unsigned char *at = input_take(in, 8);
    if (!at) return -1;
    in->at = from;
    if (dcd_record(in, big, input_u32(at, big))) return 0;
    in->at = from;
    return input_take(in, 12 + 80 * (input_u64)input_u32(at + 4, big)) ? 0 : -1;
}

static inline int dcd_read_head(input *in, dcd_head *h) {
    const unsigned char *at = in->data;
    if (in->size < 92) return input_bad(in, "no DCD file: shorter than the head of one");
    h->big = input_u32(at, 1) == 84;
    if (!memcmp(at + 8, "CORD", 4) && (input_u32(at, 0) == 84 || input_u32(at + 4, 1) == 84))
        return input_bad(in, "record markers of 8 bytes are not read, only those of 4");
    at = dcd_record(in, h->big, 84);
    if (at && !memcmp(at, "VELD", 4)) return input_bad(in, "has velocities, no coordinates");
    if (!at || memcmp(at, "CORD", 4))
        return input_bad(in, "no DCD file: does not begin with a record of 84 bytes, CORD");
    const unsigned char *numbers = at + 4;
    if (input_u32(numbers + 4 * DCD_FIXED, h->big))
        return input_bad(in, "%u fixed atoms, which only frame 0 would have, are not read",
                         (unsigned)input_u32(numbers + 4 * DCD_FIXED, h->big));
    const int charmm = input_u32(numbers + 4 * DCD_VERSION, h->big) != 0;
    h->cell = charmm && input_u32(numbers + 4 * DCD_CELL, h->big);
    h->fourth = charmm && input_u32(numbers + 4 * DCD_FOURTH, h->big);
    if (dcd_title(in, h->big)) return input_bad(in, "the record of the title is broken");
    at = dcd_record(in, h->big, 4);
    if (!at) return input_bad(in, "the record with the number of atoms is broken");
    h->atoms = input_u32(at, h->big);
    if (!h->atoms || h->atoms >> 31) return input_bad(in, "has %d atoms", (int32_t)h->atoms);
    return 0;
}

// The angle of a cosine, in degrees.
static inline float dcd_angle(double cosine) { return (float)(acos(cosine) * 57.295779513082321); }

// The lengths and angles of a matrix of edges.
static inline void dcd_edges(const double *v, float cell[6]) {
    const double edge[3][3] = {{v[0], v[1], v[3]}, {v[1], v[2], v[4]}, {v[3], v[4], v[5]}};
    double length[3];
    for (int i = 0; i < 3; ++i) {
        length[i] =
            sqrt(edge[i][0] * edge[i][0] + edge[i][1] * edge[i][1] + edge[i][2] * edge[i][2]);
        cell[i] = (float)length[i];
    }
    for (int i = 0; i < 3; ++i) { // between the other two
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double dot =
            edge[j][0] * edge[k][0] + edge[j][1] * edge[k][1] + edge[j][2] * edge[k][2];
        cell[3 + i] = dcd_angle(dot / (length[j] * length[k]));
    }
}

static inline int dcd_cell(input *in, const dcd_head *h, input_u64 frame, float cell[6]) {
    static const int length[3] = {0, 2, 5}, angle[3] = {4, 3, 1};
    const unsigned char *at = dcd_record(in, h->big, 48);
    int finite = 1, some = 0, cosines = 1, edges = 0;
    double v[6];
    if (!at) return input_bad(in, "frame %llu: the record of its cell is broken", frame);
    for (int i = 0; i < 6; ++i) {
        v[i] = input_f64(at + 8 * i, h->big);
        finite &= input_finite((float)v[i]);
    }
    for (int i = 0; i < 3; ++i) {
        const double turn = v[angle[i]];
        some |= v[length[i]] != 0;
        cosines &= turn >= -1 && turn <= 1;
        edges |= turn < 0 || turn > 180;
    }
    memset(cell, 0, 6 * sizeof *cell);
    if (!some) return 0;
    if (finite && edges && !cosines) dcd_edges(v, cell);
    for (int i = 0; i < 3 && finite && (cosines || !edges); ++i) {
        cell[i] = (float)v[length[i]];
        cell[3 + i] = cosines ? dcd_angle(v[angle[i]]) : (float)v[angle[i]];
    }
    if (!frames_is_cell(cell))
        return input_bad(in, "frame %llu: no lengths and angles of a cell", frame);
    return 0;
}

static inline int dcd_frames(input *in, const dcd_head *h, frames *f) {
    for (input_u64 frame = 0; frame < f->count; ++frame) {
        if (h->cell && dcd_cell(in, h, frame, f->cell + 6 * frame)) return -1;
        for (int c = 0; c < 3 + (h->fourth != 0); ++c) {
            const unsigned char *at = dcd_record(in, h->big, 4 * h->atoms);
            float *to = f->xyz + frame * h->atoms * 3 + c;
            if (!at)
                return input_bad(in, "frame %llu: the record of its %c is broken", frame,
                                 "xyzw"[c]);
            for (input_u64 i = 0; i < h->atoms && c < 3; ++i)
                to[3 * i] = input_f32(at + 4 * i, h->big);
        }
    }
    return 0;
}

static inline int dcd_read(input *in, frames *f) {
    dcd_head h = {0, 0, 0, 0};
    frames g;
    if (dcd_read_head(in, &h)) return -1;
    const input_u64 each = (h.cell ? 56u : 0u) + (h.fourth ? 4u : 3u) * (4 * h.atoms + 8);
    const input_u64 count = input_left(in) / each, rest = input_left(in) % each;
    if (rest || !count)
        return input_bad(in, "ends after %llu of the %llu bytes of frame %llu", rest, each, count);
    if (frames_make(in, h.atoms, count, h.cell, &g)) return -1;
    if (dcd_frames(in, &h, &g)) return frames_free(&g), -1;
    return frames_give(in, &g, f);
}

// ---- .npy, and the choice of a reader -----------------------------------------------------------

// An array of shape (F, n, 3), or (n, 3) for one frame; in Angstrom.
static inline int frames_npy_read(input *in, frames *f) {
    frames g;
    npy a;
    if (npy_read(in, &a)) return -1;
    if (a.dims < 2 || a.shape[a.dims - 1] != 3 || !a.count)
        return input_bad(in, "its shape is not (F, n, 3) with F and n from 1");
    if (frames_make(in, a.shape[a.dims - 2], a.dims == 3 ? a.shape[0] : 1, 0, &g)) return -1;
    for (input_u64 i = 0; i < a.count; ++i) g.xyz[i] = (float)npy_value(&a, i);
    return frames_give(in, &g, f);
}

// Reads a file. Returns 0, or -1 with one line, which names the file, in error of `room` bytes; f
// is untouched then. frames_free frees what f holds.
static inline int frames_read(const char *path, frames *f, char *error, size_t room) {
    static const char *const endings[] = {"pdb", "ent", "xyz", "dcd", "npy"};
    static int (*const readers[])(input *, frames *) = {pdb_read, pdb_read, xyz_read, dcd_read,
                                                        frames_npy_read};
    unsigned kind = 0;
    input in = input_make(NULL, 0, error, room);
    in.name = path;
    while (kind < 5 && !text_is(text_ending(path), endings[kind])) ++kind;
    if (kind == 5) return input_bad(&in, "its ending is none of .pdb .ent .xyz .dcd .npy");
    if (input_open(&in, path, error, room)) return -1;
    const int result = readers[kind](&in, f);
    input_close(&in);
    return result;
}

#endif
