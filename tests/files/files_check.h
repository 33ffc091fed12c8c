// SPDX-License-Identifier: MIT
// files_check.h: what the tests of samples/files share: the files of corpus/, and their bytes to be
// changed.
#ifndef TESTS_FILES_CHECK_H
#define TESTS_FILES_CHECK_H

#include "check.h"
#include "../samples/files/input.h"

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
    c = content_of(in.data, size > 0 ? (size_t)size : (size_t)((long)in.size + size));
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

// Takes a locale whose numbers have a comma. Returns 1, or 0 where this machine has none of a few.
static inline int comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "pl_PL.UTF-8"};
    for (int i = 0; i < 4; ++i)
        if (setlocale(LC_ALL, names[i]) && localeconv()->decimal_point[0] == ',') return 1;
    return 0;
}

// 1 if all bytes are as before a reader that fails.
static inline int content_poisoned(const void *out, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        if (((const unsigned char *)out)[i] != 0xa5) return 0;
    return 1;
}

#endif
