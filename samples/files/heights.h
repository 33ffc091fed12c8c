// SPDX-License-Identifier: MIT
// heights.h: reads a map of heights from a file, whose name's ending gives the format: .pgm, .flt
// with its .hdr, .npy.
//
//     heights h;
//     char error[200];
//     if (heights_read("alps.flt", &h, error, sizeof error))
//         return fprintf(stderr, "%s\n", error), 2;
//     ... ((int16_t *)h.data)[y * h.width + x], if h.type is HEIGHTS_I16 ...
//     heights_free(&h);
//
// The reader of a format returns 0, or -1 with the line in in->error; its result is untouched then.
#ifndef FILES_HEIGHTS_H
#define FILES_HEIGHTS_H

#include "npy.h"

enum { HEIGHTS_I16, HEIGHTS_I32, HEIGHTS_F32 }; // int16_t, int32_t, float

// The height of column x and row y is ((TYPE *)data)[y * width + x]; row 0 is the northernmost.
// nodata: the value of cells where nothing was measured, exactly as in data. place: 1 if the
// file tells where the map lies, in units of its own (degrees, metres): west, south are the outer
// corner of the lowest row's first cell, dx and dy the sizes of cells.
typedef struct heights {
    input_u64 width, height; // 1 at least
    int type;
    void *data;
    int has_nodata, has_place;
    double nodata, west, south, dx, dy;
} heights;

// Frees what a reader has returned; does nothing for a struct of zeros.
static inline void heights_free(heights *h) {
    free(h->data);
    memset(h, 0, sizeof *h);
}

static inline unsigned heights_bytes(int type) { return type == HEIGHTS_I16 ? 2 : 4; }

// Height i = y * width + x, of any type.
static inline double heights_value(const heights *h, input_u64 i) {
    if (h->type == HEIGHTS_I16) return ((const int16_t *)h->data)[i];
    if (h->type == HEIGHTS_I32) return ((const int32_t *)h->data)[i];
    return ((const float *)h->data)[i];
}

// The opposite; value: one that the type holds.
static inline void heights_set(heights *h, input_u64 i, double value) {
    if (h->type == HEIGHTS_I16)
        ((int16_t *)h->data)[i] = (int16_t)value;
    else if (h->type == HEIGHTS_I32)
        ((int32_t *)h->data)[i] = (int32_t)value;
    else
        ((float *)h->data)[i] = (float)value;
}

// Allocates a map of less than 2^64 cells. The caller has checked that the file has them: a size is
// not trusted. Returns 0, or -1 with the line in in->error.
static inline int heights_make(const input *in, input_u64 width, input_u64 height, int type,
                               heights *h) {
    memset(h, 0, sizeof *h);
    if (!width || !height) return input_bad(in, "is a map of %llu x %llu cells", width, height);
    h->width = width, h->height = height, h->type = type;
    h->data = input_memory(in, width * height, heights_bytes(type));
    return h->data ? 0 : -1;
}

// Returns a map if all heights are finite, else frees it. NaN means that nothing was measured: it
// becomes the file's NODATA value, or -3.4028235e38 where the file has none or NaN for it, so that
// a comparison finds it. Returns 0, or -1 with the line in in->error.
static inline int heights_give(const input *in, heights *h, heights *out) {
    const input_u64 cells = h->width * h->height;
    float *values = (float *)h->data, none = -3.4028234663852886e38f;
    if (h->type == HEIGHTS_F32 && h->has_nodata && input_finite((float)h->nodata))
        none = (float)h->nodata;
    for (input_u64 i = 0; i < cells && h->type == HEIGHTS_F32; ++i) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        if (input_finite(values[i])) continue;
        if (!(bits & 0x7fffffu)) {
            input_bad(in, "row %llu, column %llu (from 0): an infinite height", i / h->width,
                      i % h->width);
            heights_free(h);
            return -1;
        }
        values[i] = none, h->has_nodata = 1;
    }
    if (h->type == HEIGHTS_F32) h->nodata = h->has_nodata ? (double)none : 0;
    *out = *h;
    return 0;
}

// ---- PGM, raw (P5) ------------------------------------------------------------------------------
//
// Grey levels of 8 bits become i16, those of 16 bits, which are big endian, i32. # begins a comment
// in the head.

// The next number of the head, behind blanks and comments. Returns 0, or -1.
static inline int pgm_number(input *in, input_u64 most, input_u64 *value) {
    const char *data = (const char *)in->data;
    while (in->at < in->size &&
           (text_is_blank(data[in->at]) || data[in->at] == '\n' || data[in->at] == '#')) {
        if (data[in->at++] != '#') continue;
        while (in->at < in->size && data[in->at] != '\n' && data[in->at] != '\r') ++in->at;
    }
    text digits = {data + in->at, 0};
    while (in->at < in->size && text_is_digit(data[in->at])) ++in->at, ++digits.size;
    return text_whole(digits, most, value);
}

static inline int pgm_read(input *in, heights *h) {
    input_u64 width = 0, height = 0, top = 0, cells = 0, bytes = 0;
    const unsigned char *magic = input_take(in, 2);
    heights g;
    if (!magic || memcmp(magic, "P5", 2)) return input_bad(in, "no raw PGM file (P5)");
    if (pgm_number(in, 1ull << 62, &width) || pgm_number(in, 1ull << 62, &height) ||
        pgm_number(in, 65535, &top) || !width || !height || !top)
        return input_bad(in, "its head does not tell width, height and a grey level to 65535");
    const unsigned char *end = input_take(in, 1);
    if (!end || (!text_is_blank((char)*end) && *end != '\n'))
        return input_bad(in, "no blank ends its head");
    const unsigned each = top < 256 ? 1 : 2;
    if (input_product(width, height, &cells) || input_product(cells, each, &bytes) ||
        bytes != input_left(in))
        return input_bad(in, "has %llu bytes behind its head, not %llu x %llu x %u", input_left(in),
                         width, height, each);
    if (heights_make(in, width, height, each == 1 ? HEIGHTS_I16 : HEIGHTS_I32, &g)) return -1;
    for (input_u64 i = 0; i < cells; ++i) {
        const unsigned char *at = in->data + in->at + each * i;
        const unsigned value = each == 1 ? *at : input_u16(at, 1);
        heights_set(&g, i, value);
        if (value <= top) continue;
        input_bad(in, "row %llu, column %llu (from 0): %u is above its highest level, %llu",
                  i / width, i % width, value, top);
        heights_free(&g);
        return -1;
    }
    return heights_give(in, &g, h);
}

// ---- FLT: raw floats beside a head of keys and values (.hdr) ------------------------------------
//
// The keys are those of EHdr, which GDAL writes (NROWS NCOLS ULXMAP ULYMAP XDIM YDIM NODATA NBANDS
// NBITS PIXELTYPE BYTEORDER), or of Esri's GridFloat (ncols nrows xllcorner yllcorner cellsize
// NODATA_value byteorder), in any order and letters. Lines of other keys are comments. Without a
// byte order it is the little endian one.

// ULX, ULY: the centre of the upper left cell. Values of keys before FLT_ORDER are numbers.
enum { FLT_NCOLS, FLT_NROWS, FLT_NODATA, FLT_ULX, FLT_ULY, FLT_DX, FLT_DY, FLT_WEST, FLT_SOUTH };
enum { FLT_CELL = 9, FLT_BANDS, FLT_BITS, FLT_SKIP, FLT_ORDER, FLT_PIXEL, FLT_KEYS };

typedef struct flt_head {
    int seen[FLT_KEYS];
    double number[FLT_ORDER];
    text word[FLT_KEYS]; // as they are in the file
} flt_head;

static inline int flt_key(text name) {
    static const char names[FLT_KEYS][12] = {"ncols",     "nrows",     "nodata",   "ulxmap",
                                             "ulymap",    "xdim",      "ydim",     "xllcorner",
                                             "yllcorner", "cellsize",  "nbands",   "nbits",
                                             "skipbytes", "byteorder", "pixeltype"};
    int key = 0;
    while (key < FLT_KEYS && !text_is(name, names[key])) ++key;
    return text_is(name, "nodata_value") ? (int)FLT_NODATA : key;
}

// Reads the keys of the .hdr file.
static inline int flt_read_head(input *in, flt_head *k) {
    text line;
    memset(k, 0, sizeof *k);
    k->number[FLT_BANDS] = 1, k->number[FLT_BITS] = 32;
    while (text_line(in, &line)) {
        const int key = flt_key(text_word(&line));
        if (key == FLT_KEYS) continue;
        if (k->seen[key]++) return input_bad(in, "line %llu: a key is there twice", in->line);
        k->word[key] = text_word(&line);
        if (key < FLT_ORDER && (text_number(k->word[key], &k->number[key]) ||
                                (key != FLT_NODATA && !input_finite((float)k->number[key]))))
            return input_bad(in, "line %llu: no number behind its key", in->line);
    }
    if (k->number[FLT_BANDS] != 1) return input_bad(in, "has several bands; one is read");
    if (k->number[FLT_BITS] != 32 || (k->seen[FLT_PIXEL] && !text_is(k->word[FLT_PIXEL], "float")))
        return input_bad(in, "its values are no floats of 32 bits");
    if (k->number[FLT_SKIP] != 0) return input_bad(in, "has bytes to skip; none are read");
    return 0;
}

// Sets the size of the map, its NODATA value, and its position if the keys have it.
static inline int flt_place(const input *in, const flt_head *k, heights *h) {
    const int *seen = k->seen, corner = seen[FLT_WEST] && seen[FLT_SOUTH];
    const double *number = k->number;
    memset(h, 0, sizeof *h);
    if (!seen[FLT_NCOLS] || !seen[FLT_NROWS]) return input_bad(in, "has no ncols or no nrows");
    if (text_whole(k->word[FLT_NCOLS], 1ull << 62, &h->width) || !h->width ||
        text_whole(k->word[FLT_NROWS], 1ull << 62, &h->height) || !h->height)
        return input_bad(in, "its ncols or nrows is no whole number from 1");
    h->has_nodata = seen[FLT_NODATA], h->nodata = number[FLT_NODATA];
    const double dx = seen[FLT_CELL] ? number[FLT_CELL] : number[FLT_DX],
                 dy = seen[FLT_CELL] ? number[FLT_CELL] : number[FLT_DY];
    if (!seen[FLT_CELL] && !seen[FLT_DX] && !seen[FLT_DY]) return 0;
    if (!(dx > 0 && dy > 0)) return input_bad(in, "its cells have no size above 0");
    if (!corner && !(seen[FLT_ULX] && seen[FLT_ULY])) return 0;
    h->has_place = 1, h->dx = dx, h->dy = dy;
    h->west = corner ? number[FLT_WEST] : number[FLT_ULX] - dx / 2;
    h->south = corner ? number[FLT_SOUTH] : number[FLT_ULY] + dy / 2 - (double)h->height * dy;
    return 0;
}

// head: the .hdr file; in: the .flt file. The line may be in head->error.
static inline int flt_read(input *head, input *in, heights *h) {
    heights g, made;
    flt_head keys;
    input_u64 bytes = 0;
    if (flt_read_head(head, &keys) || flt_place(head, &keys, &g)) return -1;
    const text order = keys.word[FLT_ORDER];
    const int big = text_is(order, "msbfirst") || text_is(order, "m");
    if (keys.seen[FLT_ORDER] && !big && !text_is(order, "lsbfirst") && !text_is(order, "i"))
        return input_bad(head, "its byte order is neither LSBFIRST (I) nor MSBFIRST (M)");
    if (input_product(g.width, g.height, &bytes) || input_product(bytes, 4, &bytes) ||
        bytes != input_left(in))
        return input_bad(in, "has %llu bytes, not those of %llu x %llu floats", input_left(in),
                         g.width, g.height);
    if (heights_make(in, g.width, g.height, HEIGHTS_F32, &made)) return -1;
    g.type = HEIGHTS_F32, g.data = made.data;
    for (input_u64 i = 0; i < bytes / 4; ++i)
        ((float *)g.data)[i] = input_f32(in->data + in->at + 4 * i, big);
    return heights_give(in, &g, h);
}

// Reads x.flt with x.hdr or x.HDR beside it.
static inline int flt_read_both(input *in, heights *h) {
    const size_t length = strlen(in->name);
    char *name = (char *)input_memory(in, length + 1, 1);
    input head;
    if (!name) return -1;
    memcpy(name, in->name, length + 1);
    memcpy(name + length - 3, "HDR", 3);
    int result = input_open(&head, name, NULL, 0);
    if (result) memcpy(name + length - 3, "hdr", 3);
    if (result) result = input_open(&head, name, in->error, in->room);
    head.error = in->error, head.room = in->room;
    if (!result) result = flt_read(&head, in, h);
    input_close(&head);
    free(name);
    return result;
}

// ---- .npy, and the choice of a reader -----------------------------------------------------------

// An array of shape (height, width), or (1, height, width): u1, i1 and i2 become i16, other
// integers i32 if they fit, f4 and f8 become f32.
static inline int heights_npy_read(input *in, heights *h) {
    heights g;
    npy a;
    if (npy_read(in, &a)) return -1;
    const unsigned band = a.dims == 3 && a.shape[0] == 1; // a single one
    if (a.dims - band != 2) return input_bad(in, "has %u dimensions, not 2", a.dims);
    const int wide = a.each >= 4 || !strcmp(a.type, "u2");
    const int type = a.type[0] == 'f' ? HEIGHTS_F32 : wide ? HEIGHTS_I32 : HEIGHTS_I16;
    if (heights_make(in, a.shape[1 + band], a.shape[band], type, &g)) return -1;
    for (input_u64 i = 0; i < a.count; ++i) {
        const double value = npy_value(&a, i);
        if (type == HEIGHTS_I32 && !(value >= -2147483648.0 && value <= 2147483647.0)) {
            input_bad(in, "row %llu, column %llu (from 0): %.0f is no integer of 32 bits",
                      i / g.width, i % g.width, value);
            heights_free(&g);
            return -1;
        }
        heights_set(&g, i, value);
    }
    return heights_give(in, &g, h);
}

// Reads a file. Returns 0, or -1 with one line, which names the file, in error of `room` bytes; h
// is untouched then. heights_free frees what h holds.
static inline int heights_read(const char *path, heights *h, char *error, size_t room) {
    static const char *const endings[] = {"pgm", "flt", "npy"};
    static int (*const readers[])(input *, heights *) = {pgm_read, flt_read_both, heights_npy_read};
    unsigned kind = 0;
    input in = input_make(NULL, 0, error, room);
    in.name = path;
    while (kind < 3 && !text_is(text_ending(path), endings[kind])) ++kind;
    if (kind == 3) return input_bad(&in, "its ending is none of .pgm .flt .npy");
    if (input_open(&in, path, error, room)) return -1;
    const int result = readers[kind](&in, h);
    input_close(&in);
    return result;
}

#endif
