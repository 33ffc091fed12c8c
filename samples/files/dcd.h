// SPDX-License-Identifier: MIT
// dcd.h: frames of the DCD format of CHARMM, NAMD and X-PLOR, of either byte order.
//
// A file is a sequence of Fortran records, each between two markers of four bytes with its length:
// a head of 84 bytes ("CORD", then 20 numbers), a title, the number of atoms, and for each frame a
// unit cell where the head says so, all x, all y, all z, and a fourth coordinate, which is skipped.
//
// The number of frames follows from the file's length, not from the head: programs write that
// number at the end of a run, or never. A truncated last frame is refused.
//
// A cell is six doubles: A, gamma, B, beta, alpha, C. Its angles are 90 degrees, or their cosines
// 0; others are refused. So are fixed atoms, velocities, and markers of eight bytes.
#ifndef FILES_DCD_H
#define FILES_DCD_H

#include "frames_type.h"

// Numbers of the head that matter here. X-PLOR has 0 for a version, and neither cells nor a fourth
// coordinate.
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

static inline int dcd_read_head(input *in, dcd_head *h) {
    const unsigned char *at = in->data, *numbers;
    if (in->size < 92) return input_bad(in, "no DCD file: shorter than the head of one");
    h->big = input_u32(at, 1) == 84;
    if (!memcmp(at + 8, "CORD", 4) && (input_u32(at, 0) == 84 || input_u32(at + 4, 1) == 84))
        return input_bad(in, "record markers of 8 bytes are not read, only those of 4");
    at = dcd_record(in, h->big, 84);
    if (at && !memcmp(at, "VELD", 4)) return input_bad(in, "has velocities, no coordinates");
    if (!at || memcmp(at, "CORD", 4))
        return input_bad(in, "no DCD file: does not begin with a record of 84 bytes, CORD");
    numbers = at + 4;
    if (input_u32(numbers + 4 * DCD_FIXED, h->big))
        return input_bad(in, "%u fixed atoms, which only frame 0 would have, are not read",
                         (unsigned)input_u32(numbers + 4 * DCD_FIXED, h->big));
    const int charmm = input_u32(numbers + 4 * DCD_VERSION, h->big) != 0;
    h->cell = charmm && input_u32(numbers + 4 * DCD_CELL, h->big);
    h->fourth = charmm && input_u32(numbers + 4 * DCD_FOURTH, h->big);
    at = input_left(in) < 4 ? NULL : in->data + in->at;
    if (!at || !dcd_record(in, h->big, input_u32(at, h->big)))
        return input_bad(in, "the record of the title is broken");
    at = dcd_record(in, h->big, 4);
    if (!at) return input_bad(in, "the record with the number of atoms is broken");
    h->atoms = input_u32(at, h->big);
    if (!h->atoms || h->atoms >> 31) return input_bad(in, "has %d atoms", input_i32(at, h->big));
    return 0;
}

// 1 for an angle of 90 degrees or its cosine, up to rounding.
static inline int dcd_right_angle(double turn) {
    const double cosine = turn < 0 ? -turn : turn, rest = turn < 90 ? 90 - turn : turn - 90;
    return input_finite(input_narrow(turn)) && (cosine < 2e-6 || rest < 1e-4);
}

// Converts a frame's cell to the lengths of its box.
static inline int dcd_box(input *in, const dcd_head *h, input_u64 frame, float box[3]) {
    static const int length[3] = {0, 2, 5}, angle[3] = {1, 3, 4};
    const unsigned char *at = dcd_record(in, h->big, 48);
    if (!at) return input_bad(in, "frame %llu: the record of its cell is broken", frame);
    for (int i = 0; i < 3; ++i) {
        const double turn = input_f64(at + 8 * angle[i], h->big);
        box[i] = input_narrow(input_f64(at + 8 * length[i], h->big));
        if (!frames_is_length(box[i]))
            return input_bad(in, "frame %llu: a length of its cell is no length", frame);
        if (!dcd_right_angle(turn))
            return input_bad(in, "frame %llu: a cell whose angles are not 90 degrees is not read",
                             frame);
    }
    return 0;
}

static inline int dcd_frames(input *in, const dcd_head *h, frames *f) {
    for (input_u64 frame = 0; frame < f->count; ++frame) {
        if (h->cell && dcd_box(in, h, frame, f->box + 3 * frame)) return -1;
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

// Returns 0, or -1 with the line in in->error; f is untouched then.
static inline int dcd_read(input *in, frames *f) {
    dcd_head h;
    frames g;
    memset(&h, 0, sizeof h);
    if (dcd_read_head(in, &h)) return -1;
    const input_u64 each = (h.cell ? 56u : 0u) + (h.fourth ? 4u : 3u) * (4 * h.atoms + 8);
    const input_u64 count = input_left(in) / each, rest = input_left(in) % each;
    if (rest || !count)
        return input_bad(in, "ends after %llu of the %llu bytes of frame %llu", rest, each, count);
    if (frames_make(in, h.atoms, count, h.cell, &g)) return -1;
    if (dcd_frames(in, &h, &g)) return frames_free(&g), -1;
    return frames_give(in, &g, f);
}

#endif
