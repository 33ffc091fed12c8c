// SPDX-License-Identifier: MIT
// trr.h: frames of GROMACS's TRR format, in single or double precision; nm become Angstrom.
//
// A frame is a head of big-endian numbers (1993, "GMX_trn_file", the bytes of each part, atoms,
// step), time and lambda, then those parts that have bytes: box, virial, pressure, x, v, f. Frames
// without x, which hold only velocities or forces, are skipped. A box that is not orthorhombic is
// refused.
#ifndef FILES_TRR_H
#define FILES_TRR_H

#include "frames_type.h"

// The parts of a frame in the order of the head, and of the file.
enum {
    TRR_INPUT,
    TRR_ENERGY,
    TRR_BOX,
    TRR_VIRIAL,
    TRR_PRESSURE,
    TRR_TOP,
    TRR_SYM,
    TRR_X,
    TRR_V,
    TRR_F,
    TRR_PARTS
};

typedef struct trr_head {
    input_u64 frame, atoms; // its number in the file
    input_u64 bytes[TRR_PARTS], all;
    unsigned each; // bytes of a number, 4 or 8
} trr_head;

static inline double trr_number(const unsigned char *at, unsigned each, input_u64 i) {
    return each == 4 ? input_f32(at + 4 * i, 1) : input_f64(at + 8 * i, 1);
}

// The numbers of a part that is there; the others are relics.
static inline input_u64 trr_numbers(int part, input_u64 atoms) {
    return part >= TRR_X ? 3 * atoms : part >= TRR_BOX && part <= TRR_PRESSURE ? 9 : 0;
}

// Reads the head of a frame; all of its parts are in the input then.
static inline int trr_read_head(input *in, trr_head *h) {
    const unsigned char *at = input_take(in, 24), *sizes = input_take(in, 52);
    if (!at || !sizes) return input_bad(in, "ends inside the head of frame %llu", h->frame);
    if (input_u32(at, 1) != 1993 || input_u32(at + 8, 1) != 12 ||
        memcmp(at + 12, "GMX_trn_file", 12))
        return input_bad(in, "frame %llu: no head of a TRR frame", h->frame);
    h->atoms = input_u32(sizes + 4 * TRR_PARTS, 1);
    h->all = h->each = 0;
    for (int i = 0; i < TRR_PARTS; ++i) {
        const input_u64 numbers = trr_numbers(i, h->atoms);
        h->bytes[i] = input_u32(sizes + 4 * i, 1);
        h->all += h->bytes[i];
        if (!h->each && h->bytes[i]) h->each = h->bytes[i] == 8 * numbers ? 8 : 4;
        if (h->bytes[i] && h->bytes[i] != h->each * numbers)
            return input_bad(in, "frame %llu: %llu bytes for %llu numbers", h->frame, h->bytes[i],
                             numbers);
    }
    if (!h->each) h->each = 4;
    if (!input_take(in, 2 * h->each) || h->all > input_left(in)) // time and lambda; the parts
        return input_bad(in, "ends inside frame %llu", h->frame);
    return 0;
}

// Reads the box and the positions of a frame, after its head.
static inline int trr_read_frame(input *in, const trr_head *h, frames_growing *g) {
    const unsigned char *parts = input_take(in, h->all), *x = parts;
    float box[3] = {0, 0, 0};
    if (!h->bytes[TRR_X]) return 0;
    if (!h->atoms || (g->f.count && h->atoms != g->f.n))
        return input_bad(in, "frame %llu has %llu atoms, those before have %llu", h->frame,
                         h->atoms, g->f.n);
    for (int i = 0; i < 9 && h->bytes[TRR_BOX]; ++i) {
        const double v = trr_number(parts, h->each, (unsigned)i);
        if (i % 4 && v != 0)
            return input_bad(in, "frame %llu: a box that is not orthorhombic is not read",
                             h->frame);
        if (i % 4 == 0) box[i / 4] = input_narrow(10 * v);
        if (!frames_is_length(box[i / 4]))
            return input_bad(in, "frame %llu: a length of its box is no length", h->frame);
    }
    for (int i = 0; i < TRR_X; ++i) x += h->bytes[i];
    for (input_u64 i = 0; i < h->atoms; ++i) {
        double at[3];
        for (unsigned c = 0; c < 3; ++c) at[c] = 10 * trr_number(x, h->each, 3 * i + c);
        if (frames_atom(in, g, at)) return -1;
    }
    return frames_end(in, g, box);
}

// Returns 0, or -1 with the line in in->error; f is untouched then.
static inline int trr_read(input *in, frames *f) {
    frames_growing g;
    trr_head h;
    int read = 0;
    memset(&g, 0, sizeof g);
    memset(&h, 0, sizeof h);
    for (; !read && input_left(in); ++h.frame)
        read = trr_read_head(in, &h) || trr_read_frame(in, &h, &g);
    return frames_grown(in, &g, read, f);
}

#endif
