// SPDX-License-Identifier: MIT
// heights_type.h: a map of heights, and the last step of all readers of such maps.
#ifndef FILES_HEIGHTS_TYPE_H
#define FILES_HEIGHTS_TYPE_H

#include "input.h"

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
        ((float *)h->data)[i] = input_narrow(value);
}

// Allocates a map. The caller has checked that the file has its cells: a size is not trusted.
// Returns 0, or -1 with the line in in->error.
static inline int heights_make(const input *in, input_u64 width, input_u64 height, int type,
                               heights *h) {
    input_u64 cells = 0;
    memset(h, 0, sizeof *h);
    if (!width || !height) return input_bad(in, "is a map of %llu x %llu cells", width, height);
    if (input_product(width, height, &cells))
        return input_bad(in, "is a map of more cells than 2^64");
    h->width = width, h->height = height, h->type = type;
    h->data = input_memory(in, cells, heights_bytes(type));
    return h->data ? 0 : -1;
}

// Returns a map if all heights are finite, else frees it. NaN means that nothing was measured: it
// becomes the file's NODATA value, or -3.4028235e38 where the file has none or NaN for it, so that
// a comparison finds it. Returns 0, or -1 with the line in in->error.
static inline int heights_give(const input *in, heights *h, heights *out) {
    const input_u64 cells = h->width * h->height;
    float *values = (float *)h->data, none = -3.4028234663852886e38f;
    if (h->type == HEIGHTS_F32 && h->has_nodata && input_finite(input_narrow(h->nodata)))
        none = input_narrow(h->nodata);
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

#endif
