// SPDX-License-Identifier: MIT
// pgm.h: height maps as grey pictures, PGM of the raw kind (P5): grey levels of 8 bits become i16,
// those of 16 bits, which are big endian, i32. # begins a comment in the head.
#ifndef FILES_PGM_H
#define FILES_PGM_H

#include "heights_type.h"
#include "text.h"

// The next number of the head, behind blanks and comments. Returns 0, or -1.
static inline int pgm_number(input *in, input_u64 most, input_u64 *value) {
    const char *data = (const char *)in->data;
    text digits;
    while (in->at < in->size &&
           (text_is_blank(data[in->at]) || data[in->at] == '\n' || data[in->at] == '#')) {
        if (data[in->at++] != '#') continue;
        while (in->at < in->size && data[in->at] != '\n' && data[in->at] != '\r') ++in->at;
    }
    digits.at = data + in->at, digits.size = 0;
    while (in->at < in->size && text_is_digit(data[in->at])) ++in->at, ++digits.size;
    return text_whole(digits, most, value);
}

// Returns 0, or -1 with the line in in->error; h is untouched then.
static inline int pgm_read(input *in, heights *h) {
    input_u64 width = 0, height = 0, top = 0, cells = 0, bytes = 0;
    const unsigned char *magic = input_take(in, 2), *end;
    heights g;
    if (!magic || memcmp(magic, "P5", 2)) return input_bad(in, "no raw PGM file (P5)");
    if (pgm_number(in, 1ull << 62, &width) || pgm_number(in, 1ull << 62, &height) ||
        pgm_number(in, 65535, &top) || !width || !height || !top)
        return input_bad(in, "its head does not tell width, height and a grey level to 65535");
    end = input_take(in, 1);
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

// Writes a picture of grey levels 0 to 255. Returns 0, or -1 where the file does not take it.
static inline int pgm_write8(FILE *file, input_u64 width, input_u64 height, const uint8_t *levels) {
    fprintf(file, "P5\n%llu %llu\n255\n", width, height);
    for (input_u64 y = 0; y < height && !ferror(file); ++y)
        fwrite(levels + y * width, 1, (size_t)width, file);
    return ferror(file) ? -1 : 0;
}

// The same of grey levels 0 to 65535.
static inline int pgm_write16(FILE *file, input_u64 width, input_u64 height,
                              const uint16_t *levels) {
    fprintf(file, "P5\n%llu %llu\n65535\n", width, height);
    for (input_u64 i = 0; i < width * height && !ferror(file); ++i) {
        fputc(levels[i] >> 8, file);
        fputc(levels[i] & 255, file);
    }
    return ferror(file) ? -1 : 0;
}

#endif
