// SPDX-License-Identifier: MIT
// picture.h: pictures with a title, a legend and a scale of colours. A canvas of pixels is saved as
// PNG where libpng is available (compile with -DTMAP_SAMPLE_PNG=1, link with -lpng; Meson does both
// where it finds libpng), else as PPM, which needs no library.
//
//     picture p = picture_make(27, 27, 16, "The carpet"); // 27 x 27 elements of 16 x 16 pixels
//     picture_set(&p, x, y, 0x173f5f);                    // the colour of one element
//     picture_key(&p, 0x173f5f, "cell");
//     picture_save(&p, "carpet");                         // carpet.png or carpet.ppm
#ifndef SAMPLES_PICTURE_H
#define SAMPLES_PICTURE_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TMAP_SAMPLE_PNG
#include <png.h>
#define IMAGE_TYPE "png"
#else
#define IMAGE_TYPE "ppm"
#endif

// Writes wide x high pixels of three bytes, red, green and blue, row by row from the top. Returns 0,
// or -1 if the file cannot be written or if libpng refuses the size (10^6 pixels a side, 4 GB).
static inline int image_write(FILE *file, unsigned long long wide, unsigned long long high,
                              const unsigned char *rgb) {
#if TMAP_SAMPLE_PNG
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.format = PNG_FORMAT_RGB;
    image.width = (png_uint_32)wide;
    image.height = (png_uint_32)high;
    if (image.width != wide || image.height != high) return -1;
    return png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL) ? 0 : -1;
#else
    const unsigned long long bytes = wide * high * 3;
    if (fprintf(file, "P6\n%llu %llu\n255\n", wide, high) < 0) return -1;
    return fwrite(rgb, 1, (size_t)bytes, file) == bytes ? 0 : -1;
#endif
}

// ---- a canvas: rectangles, and letters of 3 x 5 dots ---------------------------------------------

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

// Writes text from its upper left corner (x, y). Returns where the next letter would begin.
static inline unsigned canvas_text(canvas *c, unsigned x, unsigned y, const char *text) {
    for (; *text; ++text, x += CANVAS_LETTER) {
        const unsigned dots = canvas_letter((unsigned char)*text);
        for (unsigned i = 0; i < 15; ++i)
            if (dots >> (14 - i) & 1)
                canvas_fill(c, x + i % 3 * 2, y + i / 3 * 2, 2, 2, CANVAS_INK);
    }
    return x;
}

// Draws a square of a colour and its meaning. Returns where the next one may begin.
static inline unsigned canvas_key(canvas *c, unsigned x, unsigned y, unsigned colour,
                                  const char *meaning) {
    canvas_fill(c, x, y - 1, 12, 12, CANVAS_INK);
    canvas_fill(c, x + 1, y, 10, 10, colour);
    return canvas_text(c, x + 18, y, meaning) + 2 * CANVAS_LETTER;
}

// The colour of a value from 0 (pale) to 1 (dark). Values below 0 and NaN count as 0.
static inline unsigned canvas_shade(double value) {
    const double v = value > 0 ? value < 1 ? value : 1 : 0;
    const unsigned red = (unsigned)(255 - 235 * v), green = (unsigned)(250 - 220 * v * v);
    return red << 16 | green << 8 | (unsigned)(220 - 120 * v * v);
}

// Draws a scale of those colours, `wide` pixels wide and 28 high. at: the numbers below its quarters.
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

// ---- the picture of a sample: a title, elements, a legend ----------------------------------------

typedef struct picture {
    canvas all;
    unsigned zoom; // pixels of an element, each way
    unsigned next; // where the next key begins
} picture;

enum { PICTURE_MARGIN = 12, PICTURE_TOP = 28, PICTURE_LEGEND = 40 };

// wide x high elements of zoom x zoom pixels. Ends the program if there is no memory.
static inline picture picture_make(unsigned wide, unsigned high, unsigned zoom, const char *title) {
    const unsigned text = CANVAS_LETTER * (unsigned)strlen(title);
    const unsigned inside = wide * zoom > text ? wide * zoom : text;
    picture p;
    p.zoom = zoom;
    p.next = PICTURE_MARGIN;
    p.all.wide = inside + 2 * PICTURE_MARGIN;
    p.all.high = PICTURE_TOP + high * zoom + PICTURE_LEGEND;
    p.all.pixels = (unsigned char *)malloc((size_t)p.all.wide * p.all.high * 3);
    if (!p.all.pixels) {
        fprintf(stderr, "no memory for a picture\n");
        exit(1);
    }
    canvas_fill(&p.all, 0, 0, p.all.wide, p.all.high, CANVAS_PAPER);
    canvas_text(&p.all, PICTURE_MARGIN, 9, title);
    return p;
}

// Gives the element in column x and row y a colour.
static inline void picture_set(picture *p, unsigned x, unsigned y, unsigned colour) {
    canvas_fill(&p->all, PICTURE_MARGIN + x * p->zoom, PICTURE_TOP + y * p->zoom, p->zoom, p->zoom,
                colour);
}

// Adds a colour and its meaning to the legend.
static inline void picture_key(picture *p, unsigned colour, const char *meaning) {
    p->next = canvas_key(&p->all, p->next, p->all.high - 26, colour, meaning);
}

// Adds the scale of canvas_shade, from `low` (0) to `high` (1), as the legend.
static inline void picture_scale(picture *p, double low, double high) {
    const double step = (high - low) / 4;
    const double at[5] = {low, low + step, low + 2 * step, low + 3 * step, high};
    canvas_scale(&p->all, PICTURE_MARGIN, p->all.high - 34, p->all.wide - 2 * PICTURE_MARGIN, at);
}

// Saves the picture as NAME.png or NAME.ppm and frees it. Ends the program with status 2 if the file
// cannot be written.
static inline void picture_save(picture *p, const char *name) {
    char path[80];
    snprintf(path, sizeof path, "%s.%s", name, IMAGE_TYPE);
    FILE *file = fopen(path, "wb");
    int lost = !file || image_write(file, p->all.wide, p->all.high, p->all.pixels);
    if (file) lost |= fclose(file);
    free(p->all.pixels);
    if (!lost) return;
    fprintf(stderr, "cannot write %s\n", path);
    exit(2);
}

#endif
