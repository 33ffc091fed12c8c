// SPDX-License-Identifier: MIT
// frames.h: reads the positions of atoms in many frames from a file, whose name's ending gives the
// format: .pdb .ent (pdb.h), .xyz (xyz.h), .dcd (dcd.h), .trr (trr.h), .npy, and .xtc where
// libxdrfile is (xtc.h).
//
//     frames f;
//     char error[200];
//     if (frames_read("walk.dcd", &f, error, sizeof error))
//         return fprintf(stderr, "%s\n", error), 2;
//     ... f.xyz[(frame * f.n + atom) * 3 + 0] ...
//     frames_free(&f);
#ifndef FILES_FRAMES_H
#define FILES_FRAMES_H

#include "dcd.h"
#include "npy.h"
#include "pdb.h"
#include "trr.h"
#include "xyz.h"
#if defined(TMAP_SAMPLE_XTC) && TMAP_SAMPLE_XTC
#include "xtc.h"
#endif

// Frames of an array of f4 or f8 of shape (F, n, 3), or (n, 3) for one frame; in Angstrom. Returns
// 0, or -1 with the line in in->error; f is untouched then.
static inline int frames_npy_read(input *in, frames *f) {
    frames g;
    npy a;
    if (npy_read(in, &a)) return -1;
    if (a.type[0] != 'f') return input_bad(in, "has values of type %s, not f4 or f8", a.type);
    if (a.dims < 2 || a.shape[a.dims - 1] != 3 || !a.count)
        return input_bad(in, "its shape is not (F, n, 3) with F and n from 1");
    const input_u64 count = a.dims == 3 ? a.shape[0] : 1;
    if (frames_make(in, a.shape[a.dims - 2], count, 0, &g)) return -1;
    for (input_u64 i = 0; i < a.count; ++i)
        g.xyz[i] = a.each == 4 ? input_f32(a.data + 4 * i, a.big) : input_narrow(npy_value(&a, i));
    return frames_give(in, &g, f);
}

// Reads a file. Returns 0, or -1 with one line, which names the file, in error of `room` bytes; f
// is untouched then. frames_free frees what f holds.
static inline int frames_read(const char *path, frames *f, char *error, size_t room) {
    static const char *const endings[] = {"pdb", "ent", "xyz", "dcd", "trr", "npy"};
    static int (*const readers[])(input *, frames *) = {pdb_read, pdb_read, xyz_read,
                                                        dcd_read, trr_read, frames_npy_read};
    const text ending = text_ending(path);
    unsigned kind = 0;
    input in = input_make(NULL, 0, error, room);
    in.name = path;
#if defined(TMAP_SAMPLE_XTC) && TMAP_SAMPLE_XTC
    if (text_is(ending, "xtc")) return xtc_read(&in, f);
#endif
    if (text_is(ending, "xtc"))
        return input_bad(&in, "XTC needs libxdrfile, without which this was built");
    while (kind < 6 && !text_is(ending, endings[kind])) ++kind;
    if (kind == 6)
        return input_bad(&in, "its ending is none of .pdb .ent .xyz .dcd .trr .xtc .npy");
    if (input_open(&in, path, error, room)) return -1;
    const int result = readers[kind](&in, f);
    input_close(&in);
    return result;
}

#endif
