// SPDX-License-Identifier: MIT
// flt.h: height maps as raw floats (.flt) beside a head of keys and values (.hdr), in the words of
// Esri's GridFloat (ncols nrows xllcorner yllcorner cellsize NODATA_value byteorder) or of EHdr,
// which GDAL writes (NROWS NCOLS ULXMAP ULYMAP XDIM YDIM NODATA NBANDS NBITS PIXELTYPE BYTEORDER).
// Lines of other keys are comments. Without a byte order it is the little endian one.
#ifndef FILES_FLT_H
#define FILES_FLT_H

#include "grid.h"

// Reads the keys of the .hdr file.
static inline int flt_head(input *in, grid *g) {
    text line;
    memset(g, 0, sizeof *g);
    while (text_line(in, &line)) {
        const text name = text_word(&line), value = text_word(&line);
        const int key = grid_key(name);
        if (key < GRID_KEYS && grid_take(in, g, key, value)) return -1;
    }
    if (g->seen[GRID_BANDS] && g->number[GRID_BANDS] != 1)
        return input_bad(in, "has several bands; one is read");
    if ((g->seen[GRID_BITS] && g->number[GRID_BITS] != 32) ||
        (g->seen[GRID_PIXEL] && !text_is(g->word[GRID_PIXEL], "float")))
        return input_bad(in, "its values are no floats of 32 bits");
    if (g->seen[GRID_SKIP] && g->number[GRID_SKIP] != 0)
        return input_bad(in, "has bytes to skip; none are read");
    return 0;
}

// Returns 1 for big endian, 0 for little endian, -1 with the line in in->error.
static inline int flt_order(const input *in, const grid *g) {
    const text order = g->word[GRID_ORDER];
    if (!g->seen[GRID_ORDER] || text_is(order, "lsbfirst") || text_is(order, "i")) return 0;
    if (text_is(order, "msbfirst") || text_is(order, "m")) return 1;
    return input_bad(in, "its byte order is neither LSBFIRST (I) nor MSBFIRST (M)");
}

// head: the .hdr file; in: the .flt file. Returns 0, or -1 with the line in in->error or
// head->error; h is untouched then.
static inline int flt_read(input *head, input *in, heights *h) {
    heights g, made;
    grid keys;
    input_u64 bytes = 0;
    int big;
    memset(&g, 0, sizeof g);
    if (flt_head(head, &keys) || grid_place(head, &keys, &g)) return -1;
    big = flt_order(head, &keys);
    if (big < 0) return -1;
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

#endif
