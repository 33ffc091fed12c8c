// SPDX-License-Identifier: MIT
// xtc.h: frames of GROMACS's XTC format through libxdrfile, which unpacks them; nm become Angstrom.
// Compile with -DTMAP_SAMPLE_XTC=1 and link with -lxdrfile; Meson does both under -Dxtc=enabled.
//
// A box that is not orthorhombic is refused, as is a file that is cut. Before memory is allocated,
// only one check is made here: the file has at least a byte for each atom. All other checks of a
// hostile file are left to libxdrfile.
#ifndef FILES_XTC_H
#define FILES_XTC_H

#include "frames_type.h"

#ifdef __cplusplus
extern "C" { // which old headers of it lack
#endif
#if defined(__has_include)
#if __has_include(<xdrfile/xdrfile_xtc.h>)
#include <xdrfile/xdrfile_xtc.h>
#else
#include <xdrfile_xtc.h>
#endif
#else
#include <xdrfile/xdrfile_xtc.h>
#endif
#ifdef __cplusplus
}
#endif

static inline int xtc_frames(const input *in, XDRFILE *file, int atoms, rvec *x,
                             frames_growing *g) {
    for (;;) {
        matrix m; // rows are the box's vectors
        float box[3], time, precision;
        int step;
        const int result = read_xtc(file, atoms, &step, &time, m, x, &precision);
        if (result == exdrENDOFFILE) return 0;
        if (result != exdrOK)
            return input_bad(in, "frame %llu: libxdrfile cannot read it (error %d)", g->f.count,
                             result);
        for (int i = 0; i < 9; ++i) {
            if (i % 4 && m[i / 3][i % 3] != 0)
                return input_bad(in, "frame %llu: a box that is not orthorhombic is not read",
                                 g->f.count);
            if (i % 4 == 0) box[i / 4] = 10 * m[i / 3][i % 3];
        }
        for (int c = 0; c < 3; ++c)
            if (!frames_is_length(box[c]))
                return input_bad(in, "frame %llu: a length of its box is no length", g->f.count);
        for (int i = 0; i < atoms; ++i) {
            const double at[3] = {10.0 * x[i][0], 10.0 * x[i][1], 10.0 * x[i][2]};
            if (frames_atom(in, g, at)) return -1;
        }
        if (frames_end(in, g, box)) return -1;
    }
}

// in: has the file's name; libxdrfile opens it itself. Returns 0, or -1 with the line in in->error;
// f is untouched then.
static inline int xtc_read(const input *in, frames *f) {
    struct stat about;
    frames_growing g;
    int atoms = 0, read = -1;
    rvec *x = NULL;
    XDRFILE *file = xdrfile_open(in->name, "r");
    memset(&g, 0, sizeof g);
    if (!file) return input_bad(in, "cannot be opened: %s", strerror(errno));
    if (read_xtc_natoms((char *)in->name, &atoms) != exdrOK || stat(in->name, &about) ||
        atoms < 1 || atoms > about.st_size)
        input_bad(in, "no XTC file, or one of more atoms than bytes");
    else
        x = (rvec *)input_memory(in, (input_u64)atoms, sizeof(rvec));
    if (x) read = xtc_frames(in, file, atoms, x, &g);
    free(x);
    xdrfile_close(file);
    return frames_grown(in, &g, read, f);
}

#endif
