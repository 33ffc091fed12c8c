// SPDX-License-Identifier: MIT
// frames_type.h: the positions of atoms in many frames, and how readers fill them.
#ifndef FILES_FRAMES_TYPE_H
#define FILES_FRAMES_TYPE_H

#include "input.h"

// Coordinate c of atom i in frame f is xyz[(f * n + i) * 3 + c], finite, in Angstrom. box: the
// lengths of each frame's orthorhombic box in Angstrom, shape (count, 3), or null where the file
// has none; a length of 0 is not periodic that way. n and count are 1 at least.
typedef struct frames {
    input_u64 n, count; // atoms of each frame, frames
    float *xyz, *box;
} frames;

// Frees what a reader has returned; does nothing for a struct of zeros.
static inline void frames_free(frames *f) {
    free(f->xyz);
    free(f->box);
    memset(f, 0, sizeof *f);
}

// Memory for frames of known size, with boxes or without. Returns 0, or -1 with the line in
// in->error.
static inline int frames_make(const input *in, input_u64 n, input_u64 count, int boxes, frames *f) {
    input_u64 atoms = 0;
    memset(f, 0, sizeof *f);
    if (input_product(n, count, &atoms))
        return input_bad(in, "%llu frames of %llu atoms are more than 2^64", count, n);
    f->n = n, f->count = count;
    f->xyz = (float *)input_memory(in, atoms, 3 * sizeof(float));
    if (f->xyz && boxes) f->box = (float *)input_memory(in, count, 3 * sizeof(float));
    if (f->xyz && (f->box || !boxes)) return 0;
    frames_free(f);
    return -1;
}

// The last step of every reader: returns the frames if all coordinates are finite, else frees them.
// If all boxes are 0, box is null. Returns 0, or -1 with the line in in->error.
static inline int frames_give(const input *in, frames *f, frames *out) {
    const input_u64 values = f->n * f->count * 3;
    int boxes = 0;
    for (input_u64 i = 0; i < values; ++i)
        if (!input_finite(f->xyz[i])) {
            input_bad(in, "frame %llu, atom %llu (from 0): %c is not a finite number", i / 3 / f->n,
                      i / 3 % f->n, "xyz"[i % 3]);
            frames_free(f);
            return -1;
        }
    for (input_u64 i = 0; f->box && i < f->count * 3; ++i) boxes |= f->box[i] != 0;
    if (!boxes) free(f->box), f->box = NULL;
    *out = *f;
    return 0;
}

// 1 for a length of a box.
static inline int frames_is_length(float value) { return value >= 0 && input_finite(value); }

// ---- frames whose sizes show only as they are read ----------------------------------------------

typedef struct frames_growing {
    frames f;                 // the whole frames; n: 0 until the first one ends
    input_u64 atoms;          // of the frame that is being read
    input_u64 room, box_room; // values that fit xyz and box
} frames_growing;

// Makes space for three more values. Memory at most doubles, so a small file cannot use much.
static inline int frames_room(const input *in, float **values, input_u64 used, input_u64 *room) {
    const input_u64 most = ((size_t)-1 / 2) / sizeof(float), wanted = *room ? 2 * *room : 48;
    float *grown = NULL;
    if (used + 3 <= *room) return 0;
    if (wanted <= most) grown = (float *)realloc(*values, (size_t)(wanted * sizeof(float)));
    if (!grown) return input_bad(in, "there is no memory for %llu values", wanted);
    *values = grown, *room = wanted;
    return 0;
}

// Appends an atom to the frame that is being read.
static inline int frames_atom(const input *in, frames_growing *g, const double at[3]) {
    const input_u64 used = (g->f.n * g->f.count + g->atoms) * 3;
    if (g->f.count && g->atoms == g->f.n)
        return input_bad(in, "line %llu: frame %llu has more atoms than the %llu of frame 0",
                         in->line, g->f.count, g->f.n);
    if (frames_room(in, &g->f.xyz, used, &g->room)) return -1;
    for (int c = 0; c < 3; ++c) g->f.xyz[used + (unsigned)c] = input_narrow(at[c]);
    ++g->atoms;
    return 0;
}

// The frame is complete; box: null or zeros where it has none.
static inline int frames_end(const input *in, frames_growing *g, const float box[3]) {
    if (!g->atoms) return input_bad(in, "line %llu: a frame without atoms", in->line);
    if (g->f.count && g->atoms != g->f.n)
        return input_bad(in, "line %llu: frame %llu has %llu atoms, frame 0 has %llu", in->line,
                         g->f.count, g->atoms, g->f.n);
    if (frames_room(in, &g->f.box, g->f.count * 3, &g->box_room)) return -1;
    for (unsigned c = 0; c < 3; ++c) g->f.box[g->f.count * 3 + c] = box ? box[c] : 0;
    g->f.n = g->atoms, g->atoms = 0;
    ++g->f.count;
    return 0;
}

// frames_give, after freeing unused space. read: the result of reading; -1 frees all.
static inline int frames_grown(const input *in, frames_growing *g, int read, frames *out) {
    float *xyz;
    if (read || !g->f.count) {
        if (!read) input_bad(in, "has no atoms");
        frames_free(&g->f);
        return -1;
    }
    xyz = (float *)realloc(g->f.xyz, (size_t)(g->f.n * g->f.count * 3 * sizeof(float)));
    if (xyz) g->f.xyz = xyz; // else it stays as it was
    return frames_give(in, &g->f, out);
}

#endif
