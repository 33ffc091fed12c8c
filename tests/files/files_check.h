// SPDX-License-Identifier: MIT
// files_check.h: what the tests of samples/files share: all readers, the files of corpus/, their bytes
// to be changed, and the check that bytes are refused.
#ifndef TESTS_FILES_CHECK_H
#define TESTS_FILES_CHECK_H

#include "check.h"
#include "../samples/files/frames.h"
#include "../samples/files/heights.h"
#include "../samples/files/state.h"

// ---- the readers --------------------------------------------------------------------------------

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

typedef struct any { // what a reader gives; the others are untouched
    frames f;
    heights h;
    state s;
} any;

static inline int any_read(int format, input *in, any *out) {
    return formats[format].frames_of    ? formats[format].frames_of(in, &out->f)
           : formats[format].heights_of ? formats[format].heights_of(in, &out->h)
                                        : formats[format].state_of(in, &out->s);
}

// 1 if all bytes are as before a reader that fails.
static inline int any_poisoned(const void *out, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        if (((const unsigned char *)out)[i] != 0xa5) return 0;
    return 1;
}

// ---- files --------------------------------------------------------------------------------------

// The path of a file of corpus/; stays as it is until the fourth next call.
static inline const char *corpus(const char *name) {
    static char paths[4][4096];
    static int at;
    const char *root = getenv("TMAP_ROOT");
    at = (at + 1) % 4;
    snprintf(paths[at], sizeof paths[at], "%s/tests/files/corpus/%s", root ? root : ".", name);
    return paths[at];
}

// Bytes of a file, on their own in memory, so that a sanitizer sees what is read beyond their end.
typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

static inline content content_of(const void *bytes, size_t size) {
    content c;
    c.bytes = (unsigned char *)malloc(size ? size : 1), c.size = size;
    if (size) memcpy(c.bytes, bytes, size);
    return c;
}

static inline content content_text(const char *text) { return content_of(text, strlen(text)); }

// The first `size` bytes of a file of corpus/; 0: all of them, less: so many are left out.
static inline content content_file(const char *name, long size) {
    char error[200] = "";
    content c = {NULL, 0};
    input in;
    if (input_open(&in, corpus(name), error, sizeof error)) {
        CHECK(0, "%s", error);
        return content_of("", 0);
    }
    CHECK((long)in.size >= -size, "%s is short", name);
    c = content_of(in.data,
                   size > 0 ? (size_t)size : (size_t)((long)in.size + size) & SIZE_MAX >> 1);
    input_close(&in);
    return c;
}

// Changes bytes, to what a text of hexadecimal digits says.
static inline content content_patch(content c, size_t at, const char *digits) {
    for (; *digits; digits += 2, ++at) {
        const char pair[3] = {digits[0], digits[1], 0};
        CHECK(at < c.size, "a byte at %u of %u", (unsigned)at, (unsigned)c.size);
        if (at < c.size) c.bytes[at] = (unsigned char)strtol(pair, NULL, 16);
    }
    return c;
}

// ---- what is refused ----------------------------------------------------------------------------

// Bytes, which are freed, are refused by a reader with a line that begins so, and also where there
// is no room for one.
static inline void refused(const char *name, content c, const char *line) {
    char error[200] = "";
    any out;
    int format = 0;
    while (strcmp(formats[format].name, name)) ++format;
    for (size_t room = 0; room <= sizeof error; room += sizeof error / 2) {
        input in = input_make(c.bytes, c.size, room ? error : NULL, room);
        memset(&out, 0xa5, sizeof out);
        CHECK(any_read(format, &in, &out) == -1, "%s", line);
        CHECK(any_poisoned(&out, sizeof out), "%s: the result is not as before", line);
        CHECK(!room || !strncmp(error, line, strlen(line)), "%s\n    instead of %s", error, line);
    }
    free(c.bytes);
}

// The same of texts: {text, line}.
static inline void refused_texts(const char *name, const char *const (*rows)[2], size_t count) {
    for (size_t i = 0; i < count; ++i) refused(name, content_text(rows[i][0]), rows[i][1]);
}

// The same of files of corpus/, of which `size` bytes are taken (content_file) and changed.
typedef struct patch {
    const char *file;
    long size;
    size_t at;
    const char *digits, *line;
} patch;

static inline void refused_patches(const char *name, const patch *p, size_t count) {
    for (size_t i = 0; i < count; ++i)
        refused(name, content_patch(content_file(p[i].file, p[i].size), p[i].at, p[i].digits),
                p[i].line);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
