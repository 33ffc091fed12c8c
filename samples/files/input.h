// SPDX-License-Identifier: MIT
// input.h: the bytes of a file in memory, the read position, and the error line. All readers of
// this folder read an `input`. C11, C++17 and CUDA; libc only.
//
// Errors: a function that fails writes one line without its line feed to the caller's `error`, of
// `room` bytes, and returns -1 (a null pointer where it returns memory); error may be null where
// room is 0. Its output is then untouched, and all memory that it allocated is freed.
#ifndef FILES_INPUT_H
#define FILES_INPUT_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    input in;
    memset(&in, 0, sizeof in);
    in.data = (const unsigned char *)data, in.size = size;
    in.error = error, in.room = room;
    return in;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
// Writes the error line, which begins with the last letters of the file's name. Returns -1.
static inline int
input_bad(const input *in, const char *format, ...) {
    const size_t length = in->name ? strlen(in->name) : 0, most = 80;
    size_t used = 0;
    va_list args;
    if (!in->room) return -1;
    in->error[0] = 0;
    if (in->name)
        snprintf(in->error, in->room, "%s%s: ", length > most ? "..." : "",
                 in->name + (length > most ? length - most : 0));
    used = strlen(in->error);
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

// The same with a sign.
static inline int input_i16(const unsigned char *p, int big) {
    return (int)(input_u16(p, big) ^ 0x8000u) - 0x8000;
}

static inline int32_t input_i32(const unsigned char *p, int big) {
    const uint32_t bits = input_u32(p, big);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float input_f32(const unsigned char *p, int big) {
    const uint32_t bits = input_u32(p, big);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double input_f64(const unsigned char *p, int big) {
    const uint64_t high = input_u32(p + (big ? 0 : 4), big),
                   low = input_u32(p + (big ? 4 : 0), big);
    const uint64_t bits = high << 32 | low;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// 1 for a number, 0 for NaN and infinity. Tests bits, because -ffast-math assumes numbers only.
static inline int input_finite(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

// The nearest float; infinity beyond their range, where C leaves the conversion undefined. NaN
// remains NaN.
static inline float input_narrow(double value) {
    const double most = 3.4028234663852886e38, edge = 3.4028235677973366e38; // of floats; rounds up
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (uint32_t)(bits >> 63) << 31;
    uint32_t special = sign | 0x7f800000u;
    if ((bits & 0x7ff0000000000000ull) == 0x7ff0000000000000ull)
        special |= bits & 0xfffffffffffffull ? 0x400000u : 0;
    else if (value > -edge && value < edge)
        return value > most ? (float)most : value < -most ? (float)-most : (float)value;
    float out;
    memcpy(&out, &special, sizeof out);
    return out;
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
    unsigned char *data = NULL, *grown;
    input_u64 size = 0, space = 1 << 16;
    struct stat about;
    FILE *file;
    *in = input_make(NULL, 0, error, room);
    in->name = path;
    file = fopen(path, "rb");
    if (!file) return input_bad(in, "cannot be opened: %s", strerror(errno));
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
        space = (input_u64)about.st_size + 1; // one more, so that its end is seen in one go
    for (;; space *= 2) {
        grown = space <= (size_t)-1 / 4 ? (unsigned char *)realloc(data, (size_t)space) : NULL;
        if (!grown) break;
        data = grown;
        size += fread(data + size, 1, (size_t)(space - size), file);
        if (size < space) break;
    }
    if (!grown) input_bad(in, "there is no memory for %llu bytes", space);
    if (grown && ferror(file)) {
        input_bad(in, "cannot be read: %s", strerror(errno));
        grown = NULL;
    }
    fclose(file);
    if (!grown) return free(data), -1;
    in->data = data, in->size = size;
    return 0;
}

#endif
