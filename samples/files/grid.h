// SPDX-License-Identifier: MIT
// grid.h: the heads of Esri's grids, in a text of keys and values: of ASCII grids (asc.h) and of
// .hdr files beside .flt files (flt.h). Keys have any order, in small or capital letters.
#ifndef FILES_GRID_H
#define FILES_GRID_H

#include "heights_type.h"
#include "text.h"

// What the keys mean. GRID_ULX, GRID_ULY: the centre of the upper left cell. Up to GRID_NODATA they
// are those of ASCII grids; those behind it describe raw values.
enum {
    GRID_COLUMNS,
    GRID_ROWS,
    GRID_CORNER_X,
    GRID_CORNER_Y,
    GRID_CENTRE_X,
    GRID_CENTRE_Y,
    GRID_CELL,
    GRID_DX,
    GRID_DY,
    GRID_NODATA,
    GRID_ULX,
    GRID_ULY,
    GRID_BANDS,
    GRID_BITS,
    GRID_SKIP,
    GRID_NUMBERS, // keys whose value is a number
    GRID_ORDER = GRID_NUMBERS,
    GRID_PIXEL,
    GRID_KEYS
};

typedef struct grid {
    int seen[GRID_KEYS];
    double number[GRID_NUMBERS];
    text word[GRID_KEYS]; // as they are in the file
} grid;

// The key of a name; GRID_KEYS: not known.
static inline int grid_key(text name) {
    static const struct {
        const char *name;
        int key;
    } names[] = {{"ncols", GRID_COLUMNS},
                 {"nrows", GRID_ROWS},
                 {"xllcorner", GRID_CORNER_X},
                 {"yllcorner", GRID_CORNER_Y},
                 {"xllcenter", GRID_CENTRE_X},
                 {"yllcenter", GRID_CENTRE_Y},
                 {"cellsize", GRID_CELL},
                 {"dx", GRID_DX},
                 {"dy", GRID_DY},
                 {"xdim", GRID_DX},
                 {"ydim", GRID_DY},
                 {"nodata_value", GRID_NODATA},
                 {"nodata", GRID_NODATA},
                 {"ulxmap", GRID_ULX},
                 {"ulymap", GRID_ULY},
                 {"nbands", GRID_BANDS},
                 {"nbits", GRID_BITS},
                 {"skipbytes", GRID_SKIP},
                 {"byteorder", GRID_ORDER},
                 {"pixeltype", GRID_PIXEL}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)
        if (text_is(name, names[i].name)) return names[i].key;
    return GRID_KEYS;
}

// Takes the value of a key. Returns 0, or -1 with the line in in->error.
static inline int grid_take(const input *in, grid *g, int key, text value) {
    if (g->seen[key]++) return input_bad(in, "line %llu: a key is there twice", in->line);
    g->word[key] = value;
    if (key >= GRID_NUMBERS || (text_number(value, &g->number[key]) == 0 &&
                                (key == GRID_NODATA || input_finite(input_narrow(g->number[key])))))
        return 0;
    return input_bad(in, "line %llu: no number behind its key", in->line);
}

// Sets the size of the map, and its position if the keys have it. Returns 0, or -1 with the line in
// in->error. Sets nothing else of h.
static inline int grid_place(const input *in, const grid *g, heights *h) {
    const int *seen = g->seen;
    const double *number = g->number;
    if (!seen[GRID_COLUMNS] || !seen[GRID_ROWS]) return input_bad(in, "has no ncols or no nrows");
    if (text_whole(g->word[GRID_COLUMNS], 1ull << 62, &h->width) || !h->width ||
        text_whole(g->word[GRID_ROWS], 1ull << 62, &h->height) || !h->height)
        return input_bad(in, "its ncols or nrows is no whole number from 1");
    h->dx = number[seen[GRID_CELL] ? GRID_CELL : GRID_DX];
    h->dy = number[seen[GRID_CELL] ? GRID_CELL : GRID_DY];
    if ((seen[GRID_CELL] || seen[GRID_DX] || seen[GRID_DY]) && !(h->dx > 0 && h->dy > 0))
        return input_bad(in, "its cells have no size above 0");
    h->west = seen[GRID_CORNER_X]   ? number[GRID_CORNER_X]
              : seen[GRID_CENTRE_X] ? number[GRID_CENTRE_X] - h->dx / 2
                                    : number[GRID_ULX] - h->dx / 2;
    h->south = seen[GRID_CORNER_Y]   ? number[GRID_CORNER_Y]
               : seen[GRID_CENTRE_Y] ? number[GRID_CENTRE_Y] - h->dy / 2
                                     : number[GRID_ULY] + h->dy / 2 - (double)h->height * h->dy;
    h->has_place = h->dx > 0 && (seen[GRID_CORNER_X] || seen[GRID_CENTRE_X] || seen[GRID_ULX]) &&
                   (seen[GRID_CORNER_Y] || seen[GRID_CENTRE_Y] || seen[GRID_ULY]);
    h->has_nodata = seen[GRID_NODATA] != 0;
    h->nodata = number[GRID_NODATA];
    if (!h->has_place) h->west = h->south = h->dx = h->dy = 0;
    return 0;
}

#endif
