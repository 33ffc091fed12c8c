// SPDX-License-Identifier: MIT
// xyz.h: frames of the XYZ format. A frame is a line with the number of atoms, a line of comment,
// and for each atom a line of its symbol, x, y, z, and anything else. Positions are in Angstrom;
// the comment is not read, so there are no boxes. Blank lines between frames are allowed.
#ifndef FILES_XYZ_H
#define FILES_XYZ_H

#include "frames_type.h"
#include "text.h"

static inline int xyz_atom(const input *in, text line, frames_growing *g) {
    double at[3];
    text_word(&line); // the symbol
    for (int c = 0; c < 3; ++c)
        if (text_number(text_word(&line), &at[c]))
            return input_bad(in, "line %llu: no symbol and three numbers", in->line);
    return frames_atom(in, g, at);
}

static inline int xyz_lines(input *in, frames_growing *g) {
    input_u64 atoms = 0;
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
            if (xyz_atom(in, line, g)) return -1;
        }
        if (frames_end(in, g, NULL)) return -1;
    }
    return 0;
}

// Returns 0, or -1 with the line in in->error; f is untouched then.
static inline int xyz_read(input *in, frames *f) {
    frames_growing g;
    memset(&g, 0, sizeof g);
    const int read = xyz_lines(in, &g);
    return frames_grown(in, &g, read, f);
}

#endif
