// SPDX-License-Identifier: MIT
// picture.h: pictures with legends: a canvas of pixels, rectangles, and letters of 3 x 5 dots; saved
// by ../files/image.h, as PNG or PPM.
#ifndef EXPLORE_PICTURE_H
#define EXPLORE_PICTURE_H

#include "tool.h"

#include <ctype.h>

// Colours are 0xrrggbb.
typedef struct canvas {
    unsigned wide, high;
    unsigned char *pixels; // three bytes each
} canvas;

enum {
    CANVAS_INK = 0x202020,
    CANVAS_PAPER = 0xffffff,
    CANVAS_LETTER = 8, // pixels from a letter to the next; letters are 10 high, of dots 2 wide
    CANVAS_STRIP = 20  // pixels of a line of text, with its margins
};

static inline void canvas_fill(canvas *c, unsigned x, unsigned y, unsigned wide, unsigned high,
                               unsigned colour) {
    for (unsigned j = y; j < y + high && j < c->high; ++j)
        for (unsigned i = x; i < x + wide && i < c->wide; ++i)
            for (int k = 0; k < 3; ++k)
                c->pixels[((size_t)j * c->wide + i) * 3 + (size_t)k] =
                    (unsigned char)(colour >> (16 - 8 * k));
}

static inline canvas canvas_make(unsigned wide, unsigned high, const option *to) {
    canvas c;
    c.wide = wide, c.high = high;
    c.pixels = (unsigned char *)host_memory((tmap_u64)wide * high * 3, to);
    canvas_fill(&c, 0, 0, wide, high, CANVAS_PAPER);
    return c;
}

// The dots of a letter: five rows from the top, an octal digit each, whose bits are three columns.
static inline unsigned canvas_letter(int letter) {
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:-+=/()%<>^*";
    static const unsigned short dots[] = {
        025755, 065656, 034443, 065556, 074647, 074644, 034553, 055755, 072227, 011152,
        055655, 044447, 057755, 065555, 025552, 065644, 025573, 065655, 034216, 072222,
        055557, 055552, 055775, 055255, 055222, 071247, 075557, 026227, 071747, 071717,
        055711, 074717, 074757, 071122, 075757, 075717, 000002, 000024, 002020, 000700,
        002720, 007070, 011244, 012221, 042224, 051245, 012421, 042124, 025000, 052520};
    const char *at = letter ? strchr(known, toupper(letter)) : NULL;
    return at ? dots[at - known] : 0;
}

// Text from (x, y), its upper left corner, on. Returns where the next letter would begin.
static inline unsigned canvas_text(canvas *c, unsigned x, unsigned y, const char *text) {
    for (; *text; ++text, x += CANVAS_LETTER) {
        const unsigned dots = canvas_letter((unsigned char)*text);
        for (unsigned i = 0; i < 15; ++i)
            if (dots >> (14 - i) & 1)
                canvas_fill(c, x + i % 3 * 2, y + i / 3 * 2, 2, 2, CANVAS_INK);
    }
    return x;
}

// A square of a colour with its meaning. Returns where the next one may begin.
static inline unsigned canvas_key(canvas *c, unsigned x, unsigned y, unsigned colour,
                                  const char *meaning) {
    canvas_fill(c, x, y - 1, 12, 12, CANVAS_INK);
    canvas_fill(c, x + 1, y, 10, 10, colour);
    return canvas_text(c, x + 18, y, meaning) + 2 * CANVAS_LETTER;
}

// The colour of a value from 0 (pale) to 1 (dark); what is less, or NaN, counts as 0.
static inline unsigned canvas_shade(double value) {
    const double v = value > 0 ? value < 1 ? value : 1 : 0;
    const unsigned red = (unsigned)(255 - 235 * v), green = (unsigned)(250 - 220 * v * v);
    return red << 16 | green << 8 | (unsigned)(220 - 120 * v * v);
}

// A scale of those colours, `wide` pixels wide and 28 high. at: the numbers below its quarters.
static inline void canvas_scale(canvas *c, unsigned x, unsigned y, unsigned wide,
                                const double at[5]) {
    for (unsigned i = 0; i < wide; ++i)
        canvas_fill(c, x + i, y, 1, 12, canvas_shade((i + 0.5) / wide));
    for (unsigned i = 0; i < 5; ++i) {
        char text[32];
        snprintf(text, sizeof text, "%.4g", at[i]);
        const unsigned letters = CANVAS_LETTER * (unsigned)strlen(text);
        const unsigned tick = x + (wide - 2) * i / 4;
        canvas_fill(c, tick, y, 2, 16, CANVAS_INK);
        canvas_text(c,
                    i == 0   ? tick
                    : i == 4 ? tick + 4 - letters
                             : tick - letters / 2,
                    y + 18, text);
    }
}

// Writes the canvas to the file of an option, which ends, and frees it.
static inline void canvas_end(canvas *c, output *o, const option *to) {
    const int saved = image_write(o->file, c->wide, c->high, c->pixels) == 0;
    free(c->pixels);
    file_end(o, saved, to);
}

#endif
