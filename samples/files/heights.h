// SPDX-License-Identifier: MIT
// heights.h: reads a map of heights from a file, whose name's ending gives the format: .hgt
// (hgt.h), .pgm (pgm.h), .asc (asc.h), .flt with its .hdr (flt.h), .npy.
//
//     heights h;
//     char error[200];
//     if (heights_read("N45E006.hgt", &h, error, sizeof error))
//         return fprintf(stderr, "%s\n", error), 2;
//     ... ((int16_t *)h.data)[y * h.width + x], if h.type is HEIGHTS_I16 ...
//     heights_free(&h);
#ifndef FILES_HEIGHTS_H
#define FILES_HEIGHTS_H

#include "asc.h"
#include "flt.h"
#include "hgt.h"
#include "npy.h"
#include "pgm.h"

// Heights of an array of shape (height, width): u1, i1 and i2 become i16, u2 and i4 become i32, f4
// and f8 become f32. Returns 0, or -1 with the line in in->error; h is untouched then.
static inline int heights_npy_read(input *in, heights *h) {
    heights g;
    npy a;
    if (npy_read(in, &a)) return -1;
    if (a.dims != 2) return input_bad(in, "has %u dimensions, not 2", a.dims);
    const int wide = a.each == 4 || a.type[0] == 'u';
    const int type = a.type[0] == 'f'               ? HEIGHTS_F32
                     : wide && strcmp(a.type, "u1") ? HEIGHTS_I32
                                                    : HEIGHTS_I16;
    if (heights_make(in, a.shape[1], a.shape[0], type, &g)) return -1;
    for (input_u64 i = 0; i < a.count; ++i)
        if (type == HEIGHTS_F32)
            ((float *)g.data)[i] =
                a.each == 4 ? input_f32(a.data + 4 * i, a.big) : input_narrow(npy_value(&a, i));
        else
            heights_set(&g, i, npy_value(&a, i));
    return heights_give(in, &g, h);
}

// Reads x.flt with x.hdr or x.HDR beside it.
static inline int heights_flt_read(input *in, heights *h) {
    const size_t length = strlen(in->name);
    char *name = (char *)input_memory(in, length + 1, 1);
    FILE *upper;
    input head;
    if (!name) return -1;
    memcpy(name, in->name, length + 1);
    memcpy(name + length - 3, "HDR", 3);
    upper = fopen(name, "rb"); // is there one?
    if (upper) fclose(upper);
    if (!upper) memcpy(name + length - 3, "hdr", 3);
    int result = input_open(&head, name, in->error, in->room);
    if (!result) result = flt_read(&head, in, h);
    input_close(&head);
    free(name);
    return result;
}

// Reads a file. Returns 0, or -1 with one line, which names the file, in error of `room` bytes; h
// is untouched then. heights_free frees what h holds.
static inline int heights_read(const char *path, heights *h, char *error, size_t room) {
    static const char *const endings[] = {"hgt", "pgm", "asc", "flt", "npy"};
    static int (*const readers[])(input *, heights *) = {hgt_read, pgm_read, asc_read,
                                                         heights_flt_read, heights_npy_read};
    unsigned kind = 0;
    input in = input_make(NULL, 0, error, room);
    in.name = path;
    while (kind < 5 && !text_is(text_ending(path), endings[kind])) ++kind;
    if (kind == 5) return input_bad(&in, "its ending is none of .hgt .pgm .asc .flt .npy");
    if (input_open(&in, path, error, room)) return -1;
    const int result = readers[kind](&in, h);
    input_close(&in);
    return result;
}

#endif
