// SPDX-License-Identifier: MIT
// input.h: the bytes of a file in memory, the read position, the error line, and the lines, words
// and numbers of a text. All readers of this folder read an `input`. C11, C++17, CUDA; libc only.
//
// Errors: a function that fails writes one line without its line feed to the caller's `error`, of
// `room` bytes, and returns -1 (a null pointer where it returns memory); error may be null where
// room is 0. Its output is then untouched, and all memory that it allocated is freed.
#ifndef FILES_INPUT_H
#define FILES_INPUT_H

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long input_u64; // sizes, in a file of 2 GB as on a machine of 32 bits

typedef struct input {
    const unsigned char *data;
    input_u64 size, at; // bytes, and how many of them are read
    input_u64 line;     // of a text: lines that are begun
    const char *name;   // the file's, for the line that tells what is wrong; null: none
    char *error;
    size_t room;
} input;

// Bytes that lie in memory already.
static inline input input_make(const void *data, input_u64 size, char *error, size_t room) {
    const input in = {(const unsigned char *)data, size, 0, 0, NULL, error, room};
    return in;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
// Writes the error line, which begins with the last letters of the file's name. Returns -1.
static inline int
input_bad(const input *in, const char *format, ...) {
    const size_t length = in->name ? strlen(in->name) : 0, most = 80;
    va_list args;
    if (!in->room) return -1;
    in->error[0] = 0;
    if (in->name)
        snprintf(in->error, in->room, "%s%s: ", length > most ? "..." : "",
                 in->name + (length > most ? length - most : 0));
    const size_t used = strlen(in->error);
    va_start(args, format);
    vsnprintf(in->error + used, in->room - used, format, args);
    va_end(args);
    for (char *c = in->error; *c; ++c) // a name may hold a line feed
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    return -1;
}

// ---- sizes --------------------------------------------------------------------------------------

// a * b to product. Returns 0, or -1 where 64 bits do not hold it (product is untouched).
static inline int input_product(input_u64 a, input_u64 b, input_u64 *product) {
    if (b && a > ~0ull / b) return -1;
    *product = a * b;
    return 0;
}

// Memory for `count` things of `each` bytes, as malloc gives it, at least one byte.
static inline void *input_memory(const input *in, input_u64 count, input_u64 each) {
    input_u64 bytes = 0;
    void *memory = NULL;
    if (input_product(count, each, &bytes) == 0 && bytes <= (size_t)-1 / 2)
        memory = malloc(bytes ? (size_t)bytes : 1);
    if (!memory) input_bad(in, "there is no memory for %llu values of %llu bytes", count, each);
    return memory;
}

// Bytes that are not read yet.
static inline input_u64 input_left(const input *in) { return in->size - in->at; }

// Returns the next bytes, which then count as read, or null where fewer are left.
static inline const unsigned char *input_take(input *in, input_u64 bytes) {
    if (bytes > input_left(in)) return NULL;
    in->at += bytes;
    return in->data + (in->at - bytes);
}

// ---- numbers of either byte order ---------------------------------------------------------------

static inline unsigned input_u16(const unsigned char *p, int big) {
    return big ? (unsigned)p[0] << 8 | p[1] : (unsigned)p[1] << 8 | p[0];
}

static inline uint32_t input_u32(const unsigned char *p, int big) {
    return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline float input_f32(const unsigned char *p, int big) {
    const uint32_t bits = input_u32(p, big);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t input_u64_of(const unsigned char *p, int big) {
    const uint64_t first = input_u32(p, big), second = input_u32(p + 4, big);
    return big ? first << 32 | second : second << 32 | first;
}

static inline double input_f64(const unsigned char *p, int big) {
    const uint64_t bits = input_u64_of(p, big);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// 1 for a number, 0 for NaN and infinity, which a double beyond the range of floats becomes. Tests
// bits, because -ffast-math assumes numbers only.
static inline int input_finite(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

// ---- files --------------------------------------------------------------------------------------

// Frees what input_open has read; does nothing if it failed.
static inline void input_close(input *in) {
    free((void *)in->data);
    in->data = NULL, in->size = in->at = 0;
}

// Reads a file as a whole, or a pipe to its end: its bytes stay in memory until input_close. path,
// error: must outlive `in`. Returns 0, or -1 with the line in error.
static inline int input_open(input *in, const char *path, char *error, size_t room) {
    unsigned char *data = NULL, *grown = NULL;
    size_t size = 0, space = 1 << 16;
    *in = input_make(NULL, 0, error, room);
    in->name = path;
    FILE *file = fopen(path, "rb");
    if (!file) return input_bad(in, "cannot be opened: %s", strerror(errno));
    for (;; space *= 2) {
        grown = (unsigned char *)realloc(data, space);
        if (!grown) break;
        data = grown;
        size += fread(data + size, 1, space - size, file);
        if (size < space) break;
    }
    const int failed = !grown || ferror(file);
    if (failed) input_bad(in, "cannot be read: %s", strerror(errno));
    fclose(file);
    if (failed) return free(data), -1;
    in->data = data, in->size = size;
    return 0;
}

// ---- texts --------------------------------------------------------------------------------------

// A piece of a text. It does not end with a zero byte.
typedef struct text {
    const char *at;
    input_u64 size;
} text;

static inline int text_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline int text_is_digit(char c) { return c >= '0' && c <= '9'; }

static inline char text_lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

// 1 if a text is a word, in small or capital letters. word: in small ones.
static inline int text_is(text t, const char *word) {
    input_u64 i = 0;
    while (i < t.size && word[i] && text_lower(t.at[i]) == word[i]) ++i;
    return i == t.size && !word[i];
}

// Without the blanks at both ends.
static inline text text_trim(text t) {
    while (t.size && text_is_blank(t.at[0])) ++t.at, --t.size;
    while (t.size && text_is_blank(t.at[t.size - 1])) --t.size;
    return t;
}

// The columns `first` to `last` of a line, counted from 1, without blanks at their ends. A line
// that is shorter has less, or nothing, there.
static inline text text_columns(text line, input_u64 first, input_u64 last) {
    text t = {line.at, 0};
    if (line.size < first) return t;
    t.at += first - 1, t.size = (line.size < last ? line.size : last) - (first - 1);
    return text_trim(t);
}

// Removes the first word from a text and returns it; empty if there is none.
static inline text text_word(text *rest) {
    text word;
    while (rest->size && text_is_blank(rest->at[0])) ++rest->at, --rest->size;
    word.at = rest->at, word.size = 0;
    while (word.size < rest->size && !text_is_blank(rest->at[word.size])) ++word.size;
    rest->at += word.size, rest->size -= word.size;
    return word;
}

// The text after the last point of a file's name; empty if there is none.
static inline text text_ending(const char *path) {
    const char *slash = strrchr(path, '/'), *point = strrchr(slash ? slash : path, '.');
    text t = {path, 0};
    if (point) t.at = point + 1, t.size = strlen(point + 1);
    return t;
}

// The next line, without "\n" or "\r\n". Returns 1, or 0 at the end.
static inline int text_line(input *in, text *line) {
    const input_u64 left = input_left(in);
    const char *at = (const char *)in->data + in->at;
    const char *end = left ? (const char *)memchr(at, '\n', (size_t)left) : NULL;
    if (!left) return 0;
    line->at = at, line->size = end ? (input_u64)(end - at) : left;
    in->at += line->size + (end != NULL);
    ++in->line;
    if (line->size && at[line->size - 1] == '\r') --line->size;
    return 1;
}

// A whole number from 0 to `most`, all of the text. Returns 0, or -1 (value is untouched).
static inline int text_whole(text t, input_u64 most, input_u64 *value) {
    input_u64 v = 0;
    if (!t.size) return -1;
    for (input_u64 i = 0; i < t.size; ++i) {
        const unsigned digit = (unsigned)(t.at[i] - '0');
        if (!text_is_digit(t.at[i]) || v > (most - digit) / 10 || digit > most) return -1;
        v = 10 * v + digit;
    }
    *value = v;
    return 0;
}

// A decimal number of 63 letters at most, all of the text: [+-] digits [. digits] [e|E|d|D [+-]
// digits], where digits may be missing on one side of the point; or nan, inf, infinity, in any
// letters. The point is a point in every locale. Returns 0, or -1 (value is untouched).
static inline int text_number(text t, double *value) {
    const char *point = localeconv()->decimal_point;
    char plain[64 + 16], *end;
    size_t used = 0, points = 0;
    const int sign = t.size && (t.at[0] == '-' || t.at[0] == '+');
    const text word = {t.at + sign, t.size - (input_u64)sign};
    const int special = text_is(word, "nan") || text_is(word, "inf") || text_is(word, "infinity");
    if (t.size > 63 || strlen(point) > 16) return -1;
    for (input_u64 i = 0; i < t.size; ++i) {
        const char c = text_lower(t.at[i]);
        if (!special && (!c || !strchr("0123456789+-.ed", c))) return -1;
        if (c == '.' && points++) return -1;
        if (c == '.') memcpy(plain + used, point, strlen(point)), used += strlen(point);
        if (c != '.') plain[used++] = c == 'd' && !special ? 'e' : c; // Fortran's
    }
    plain[used] = 0;
    const double number = strtod(plain, &end);
    if (end == plain || *end) return -1;
    *value = number;
    return 0;
}

#endif
