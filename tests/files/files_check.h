// SPDX-License-Identifier: MIT
// files_check.h: what the tests of samples/files share: all readers.
#ifndef TESTS_FILES_CHECK_H
#define TESTS_FILES_CHECK_H

#include "../samples/files/frames.h"
#include "../samples/files/heights.h"
#include "../samples/files/state.h"

// A .flt file is given behind its .hdr file and a zero byte.
static inline int flt_pair_read(input *in, heights *h) {
    const void *zero = in->size ? memchr(in->data, 0, (size_t)in->size) : NULL;
    const input_u64 size = zero ? (input_u64)((const unsigned char *)zero - in->data) : in->size;
    input head = input_make(in->data, size, in->error, in->room);
    in->at = size + (zero != NULL);
    return flt_read(&head, in, h);
}

// A file goes to all readers of its ending.
static const struct {
    const char *name, *ending;
    int (*frames_of)(input *, frames *);
    int (*heights_of)(input *, heights *);
    int (*state_of)(input *, state *);
} formats[] = {{"pdb", "pdb", pdb_read, NULL, NULL},
               {"xyz", "xyz", xyz_read, NULL, NULL},
               {"dcd", "dcd", dcd_read, NULL, NULL},
               {"frames", "npy", frames_npy_read, NULL, NULL},
               {"pgm", "pgm", NULL, pgm_read, NULL},
               {"flt", "flt", NULL, flt_pair_read, NULL},
               {"heights", "npy", NULL, heights_npy_read, NULL},
               {"state", "npy", NULL, NULL, state_parse}};
enum { FORMATS = sizeof formats / sizeof *formats };

typedef struct content { // what a reader gives; the others are untouched
    frames f;
    heights h;
    state s;
} content;

static inline int content_read(int format, input *in, content *out) {
    return formats[format].frames_of    ? formats[format].frames_of(in, &out->f)
           : formats[format].heights_of ? formats[format].heights_of(in, &out->h)
                                        : formats[format].state_of(in, &out->s);
}

// 1 if all bytes are as before a reader that fails.
static inline int content_poisoned(const void *out, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        if (((const unsigned char *)out)[i] != 0xa5) return 0;
    return 1;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
