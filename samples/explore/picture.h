// SPDX-License-Identifier: MIT
// picture.h: a canvas (../picture.h) in host memory, for the file that an option names.
#ifndef EXPLORE_PICTURE_H
#define EXPLORE_PICTURE_H

#include "../picture.h"
#include "tool.h"

static inline canvas canvas_make(unsigned wide, unsigned high, const option *to) {
    canvas c;
    c.wide = wide, c.high = high;
    c.pixels = (unsigned char *)host_memory((tmap_u64)wide * high * 3, to);
    canvas_fill(&c, 0, 0, wide, high, CANVAS_PAPER);
    return c;
}

// Writes the canvas to the file of an option, which ends, and frees it.
static inline void canvas_end(canvas *c, output *o, const option *to) {
    const int saved = image_write(o->file, c->wide, c->high, c->pixels) == 0;
    free(c->pixels);
    file_end(o, saved, to);
}

#endif
