// SPDX-License-Identifier: MIT
// image.h: a picture of pixels in three bytes, red, green and blue, to an open file: as PNG where
// libpng is at hand (compile with -DTMAP_SAMPLE_PNG=1 and link with -lpng; Meson does both where it
// finds libpng), else as PPM, which needs no library.
#ifndef FILES_IMAGE_H
#define FILES_IMAGE_H

#include "input.h"

#if TMAP_SAMPLE_PNG
#include <png.h>
#define IMAGE_TYPE "png"
#else
#define IMAGE_TYPE "ppm"
#endif

// rgb: wide * high pixels of three bytes, row by row from the top. Returns 0, or -1 where the file
// does not take it, or where it is too large for libpng: 10^6 pixels wide or high, or 4 GB of them.
static inline int image_write(FILE *file, input_u64 wide, input_u64 high,
                              const unsigned char *rgb) {
#if TMAP_SAMPLE_PNG
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION, image.format = PNG_FORMAT_RGB;
    image.width = (png_uint_32)wide, image.height = (png_uint_32)high;
    if (image.width != wide || image.height != high) return -1;
    return png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL) ? 0 : -1;
#else
    const input_u64 bytes = wide * high * 3;
    return fprintf(file, "P6\n%llu %llu\n255\n", wide, high) > 0 &&
                   fwrite(rgb, 1, (size_t)bytes, file) == bytes
               ? 0
               : -1;
#endif
}

#endif
