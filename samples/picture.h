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

#include <math.h>
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

// ---- a canvas: rectangles, and letters of strokes -----------------------------------------------

// Colours are 0xrrggbb.
typedef struct canvas {
    unsigned wide, high;
    unsigned char *pixels; // three bytes each
} canvas;

enum {
    CANVAS_INK = 0x202020,
    CANVAS_PAPER = 0xffffff,
    CANVAS_LETTER = 8, // pixels from a letter to the next; capitals are 10 high, tails 3
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

// The strokes of the letters from ! to z: points of two digits, x to the right and y down; capitals
// have y from 0 to 6, small letters from 2 on, tails to 8. A stroke of one point is a dot.
static inline const char *canvas_letter(char letter) {
    // clang-format off
    static const char *const strokes[] = {
        "2024 2626", "1011 3031", "", "", "0640 0110 3645", "", "2021", "30212536", "10212516",
        "2125 0244 4204", "0444 2226", "2617", "1434", "2626", "0640", "100105163645413010",
        "112026 1636", "01103041420646", "01103041423323 334445361605", "36300444",
        "400002324345361605", "413010010516364544331304", "004016",
        "100102133342413010 1304051636454433", "051636454130100102133342", "2323 2626", "2323 2617",
        "410345", "0343 0545", "014305", "011030413224 2626", "", "062046 1434",
        "06003041423303 3344453606", "4130100105163645", "00204244260600", "40000646 0333",
        "400006 0333", "41301001051636454323", "0006 4046 0343", "1030 2026 1636", "3035261605",
        "0006 400346", "000646", "0600234046", "06004640", "100105163645413010", "06003041423303",
        "100105163645413010 2447", "06003041423303 2346", "413010010213334445361605", "0040 2026",
        "000516364540", "002640", "0016223640", "0046 4006", "002340 2326", "00400646", "30101636",
        "", "10303616", "022042", "0747", "", "12324346 441405163645", "0006 0312324345361605",
        "4332120305163645", "4046 4332120305163645", "04444332120305163645", "40302126 0242",
        "4247381807 4332120305163645", "0006 0312324346", "2226 2020", "22271808 2020",
        "0006 420446", "10202536", "0206 03122326 23324346", "0206 0312324346",
        "120305163645433212", "0208 0312324345361605", "4248 4332120305163645", "0206 03123243",
        "43321203143445361605", "20253646 0242", "0205163645 4246", "022642", "0216233642",
        "0246 4206", "0226 4218", "02420646"};
    // clang-format on
    return letter > ' ' && letter <= 'z' ? strokes[letter - '!'] : "";
}

// Draws a line from (x, y) to (u, v) with the smoothed edges of a pen.
static inline void canvas_line(canvas *c, double x, double y, double u, double v) {
    const double dx = u - x, dy = v - y, length = dx * dx + dy * dy, pen = 0.6;
    for (unsigned j = (unsigned)fmax(0, fmin(y, v) - 2); j < fmax(y, v) + 2 && j < c->high; ++j)
        for (unsigned i = (unsigned)fmax(0, fmin(x, u) - 2); i < fmax(x, u) + 2 && i < c->wide;
             ++i) {
            const double px = i + 0.5 - x, py = j + 0.5 - y;
            const double at = length > 0 ? fmax(0, fmin(1, (px * dx + py * dy) / length)) : 0;
            const double far = hypot(px - at * dx, py - at * dy);
            const double ink = fmax(0, fmin(1, pen + 0.5 - far));
            unsigned char *pixel = c->pixels + ((size_t)j * c->wide + i) * 3;
            for (int k = 0; k < 3; ++k)
                pixel[k] = (unsigned char)(pixel[k] + ink * ((CANVAS_INK & 255) - pixel[k]));
        }
}

// Writes text from its upper left corner (x, y). Returns where the next letter would begin.
static inline unsigned canvas_text(canvas *c, unsigned x, unsigned y, const char *text) {
    for (; *text; ++text, x += CANVAS_LETTER)
        for (const char *at = canvas_letter(*text); *at; at += 2) {
            const int ends = !at[2] || at[2] == ' ';
            const char *next = ends ? at : at + 2; // of a stroke's last point: itself
            canvas_line(c, x + 0.5 + 1.5 * (at[0] - '0'), y + 0.5 + 1.5 * (at[1] - '0'),
                        x + 0.5 + 1.5 * (next[0] - '0'), y + 0.5 + 1.5 * (next[1] - '0'));
            at += at[2] == ' ';
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

// Draws a scale of those colours, `wide` pixels wide and 28 high, with round numbers below it.
// ends: the values of its ends. logs: 0; 1: the colour of v is that of log(1 + v), from ends[0] = 0 on.
static inline void canvas_scale(canvas *c, unsigned x, unsigned y, unsigned wide,
                                const double ends[2], int logs) {
    const double span = ends[1] - ends[0], tenth = pow(10, floor(log10(span > 0 ? span : 1)));
    const double step = tenth * (span > 5 * tenth ? 1 : span > 2 * tenth ? 0.5 : 0.2);
    double last = -1e300;
    for (unsigned i = 0; i < wide; ++i)
        canvas_fill(c, x + i, y, 1, 12, canvas_shade((i + 0.5) / wide));
    for (double v = logs ? 0 : ceil(ends[0] / step - 1e-9) * step; v <= ends[1] + 1e-9 * span;
         v = !logs   ? v + step
             : v > 0 ? 10 * v
                     : 1) {
        const double part = logs ? log1p(v) / log1p(ends[1]) : span > 0 ? (v - ends[0]) / span : 0;
        const unsigned tick = x + (unsigned)((wide - 2) * part);
        char text[32];
        snprintf(text, sizeof text, "%.4g", fabs(v) < 1e-9 * step ? 0 : v);
        const double half = CANVAS_LETTER * (double)strlen(text) / 2, most = c->wide - 2 * half;
        canvas_fill(c, tick, y, 2, 16, CANVAS_INK);
        if (tick - half < last + CANVAS_LETTER) continue; // no room
        last = tick + half;
        canvas_text(c, (unsigned)fmax(2, fmin(tick - half, most)), y + 18, text);
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
    const double ends[2] = {low, high};
    canvas_scale(&p->all, PICTURE_MARGIN, p->all.high - 34, p->all.wide - 2 * PICTURE_MARGIN, ends,
                 0);
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
