// SPDX-License-Identifier: MIT
// hgt.h: height maps of the Shuttle Radar Topography Mission (.hgt): a square of big-endian i16
// from the north-west on, of 1201 or 3601 or any other side; -32768 means that nothing was
// measured.
//
// A name such as N45E006.hgt tells where the centre of the south-western cell lies, in degrees; the
// outer cells of a tile are also those of its neighbours, so that a cell is 1 / (side - 1) degrees
// wide. Under any other name the map has no position.
#ifndef FILES_HGT_H
#define FILES_HGT_H

#include "heights_type.h"
#include "text.h"

// The number of a letter and digits, as N45 or w006: negative for the second letter. Returns 0, or
// -1.
static inline int hgt_degrees(text t, const char letters[2], input_u64 most, double *degrees) {
    const char letter = text_lower(t.at[0]);
    const text digits = {t.at + 1, t.size - 1};
    input_u64 number = 0;
    if ((letter != letters[0] && letter != letters[1]) || text_whole(digits, most, &number))
        return -1;
    *degrees = letter == letters[0] ? (double)number : -(double)number;
    return 0;
}

// Sets the position of a map from its name, if the name has one.
static inline void hgt_place(const char *name, heights *h) {
    const char *slash = name ? strrchr(name, '/') : NULL;
    const char *at = slash ? slash + 1 : name;
    const text north = {at, 3}, east = {at ? at + 3 : at, 4};
    if (!at || strlen(at) < 7 || text_is_digit(at[7])) return;
    if (hgt_degrees(north, "ns", 90, &h->south) || hgt_degrees(east, "ew", 180, &h->west)) {
        h->south = h->west = 0;
        return;
    }
    h->has_place = 1;
    h->dx = h->dy = 1 / (double)(h->width - 1);
    h->west -= h->dx / 2, h->south -= h->dy / 2;
}

// Returns 0, or -1 with the line in in->error; h is untouched then.
static inline int hgt_read(input *in, heights *h) {
    const input_u64 cells = input_left(in) / 2;
    input_u64 side = 0;
    heights g;
    for (input_u64 step = 1ull << 31; step; step >>= 1)
        if ((side + step) * (side + step) <= cells) side += step; // the root of cells, bit by bit
    if (input_left(in) % 2 || side * side != cells || side < 2)
        return input_bad(in, "its %llu bytes are not those of a square of 2-byte heights",
                         input_left(in));
    if (heights_make(in, side, side, HEIGHTS_I16, &g)) return -1;
    for (input_u64 i = 0; i < cells; ++i)
        ((int16_t *)g.data)[i] = (int16_t)input_i16(in->data + in->at + 2 * i, 1);
    g.has_nodata = 1, g.nodata = -32768;
    hgt_place(in->name, &g);
    return heights_give(in, &g, h);
}

#endif
