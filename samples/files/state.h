// SPDX-License-Identifier: MIT
// state.h: states of fractals in compact storage, as NAME.npy, which numpy.load opens, and
// NAME.json beside it, which says what they are (state_type.h).
//
//     state_info s;
//     memset(&s, 0, sizeof s);
//     strcpy(s.fractal, "#./##"), strcpy(s.type, "f4"), s.level = 12, s.values = 1, s.step = 100;
//     if (state_write("heat.npy", &s, cells, error, sizeof error)) ... // cells: float[3^12]
//     if (state_read("heat.npy", &s, &memory, error, sizeof error)) ... // free(memory)
//
// States that do not fit the host's memory go in parts of whole elements:
//
//     state_file f;
//     if (state_create(&f, "life.npy", &s, error, sizeof error)) return -1; // f.s.bytes
//     for (...) if (state_append(&f, part, bytes)) return -1;
//     if (state_commit(&f)) return -1;
//     if (state_open(&f, "life.npy", error, sizeof error)) return -1; // f.s says what it is
//     for (...) if (state_next(&f, part, bytes)) return -1;
//     if (state_close(&f)) return -1; // only now is the checksum known to be right
//
// A function that fails writes its error line, closes the file and frees all memory; later calls
// for this file fail too.
//
// Both files are written under temporary names in the same folder and renamed at the end; meanwhile
// the old array has another name. For a link, its target is replaced. So if anything fails, both
// old files remain. A program that is killed leaves names that end with .part0 or .old0, and may
// leave a pair with one new file: its checksum says so when it is read.
#ifndef FILES_STATE_H
#define FILES_STATE_H

#include "state_type.h"

#if defined(__STRICT_ANSI__) && !defined(__cplusplus) // then the C library keeps them back
char *realpath(const char *path, char *resolved);
int lstat(const char *path, struct stat *about);
#endif

enum { STATE_ARRAY, STATE_TEXT, STATE_ARRAY_PART, STATE_TEXT_PART, STATE_ARRAY_OLD, STATE_NAMES };

typedef struct state_file {
    state_info s;
    input in;          // for the line that tells what is wrong
    FILE *file, *text; // the second one is only written
    char *names;       // STATE_NAMES of `room` bytes; empty ones are not used yet
    size_t room;
    input_u64 done;       // bytes
    int writes, replaces; // 1: for writing; there is an array already
    checksum sum;
} state_file;

static inline char *state_name(const state_file *f, int which) {
    return f->names + (size_t)which * f->room;
}

// Closes a file and removes temporary files. Returns -1.
static inline int state_drop(state_file *f) {
    if (f->file) fclose(f->file);
    if (f->text) fclose(f->text);
    for (int i = STATE_ARRAY_PART; f->names && i < STATE_NAMES; ++i)
        if (f->writes && *state_name(f, i)) remove(state_name(f, i));
    free(f->names);
    f->file = f->text = NULL, f->names = NULL;
    return -1;
}

static inline int state_fail(state_file *f, const char *what) {
    input_bad(&f->in, "cannot be %s: %s", what, strerror(errno));
    return state_drop(f);
}

// Begins: both names. Returns 0, or -1 with the line.
static inline int state_begin(state_file *f, const char *path, char *error, size_t room) {
    const size_t length = strlen(path);
    memset(f, 0, sizeof *f);
    f->in = input_make(NULL, 0, error, room);
    f->in.name = path;
    if (length < 5 || memcmp(path + length - 4, ".npy", 4))
        return input_bad(&f->in, "the name of a state ends with .npy");
    f->room = length + 16;
    f->names = (char *)input_memory(&f->in, f->room, STATE_NAMES);
    if (!f->names) return -1;
    memset(f->names, 0, f->room * STATE_NAMES);
    memcpy(state_name(f, STATE_ARRAY), path, length);
    memcpy(state_name(f, STATE_TEXT), path, length - 3);
    memcpy(state_name(f, STATE_TEXT) + length - 3, "json", 4);
    checksum_begin(&f->sum);
    return 0;
}

// ---- writing ------------------------------------------------------------------------------------

// Replaces links by the names that they point to. Returns 0, or -1 with errno: a link to nothing,
// or two to the same file.
static inline int state_follow(state_file *f) {
    struct stat about;
    for (int i = STATE_ARRAY; i <= STATE_TEXT; ++i) {
        char *target = realpath(state_name(f, i), NULL), *names;
        if (!target && errno == ENOENT && lstat(state_name(f, i), &about)) continue; // a new file
        if (!target) return -1;
        const size_t room = strlen(target) + 16 > f->room ? strlen(target) + 16 : f->room;
        names = (char *)calloc(STATE_NAMES, room);
        for (int j = STATE_ARRAY; names && j <= STATE_TEXT; ++j)
            strcpy(names + (size_t)j * room, j == i ? target : state_name(f, j));
        free(target);
        if (!names) return -1;
        free(f->names);
        f->names = names, f->room = room;
    }
    return strcmp(state_name(f, STATE_ARRAY), state_name(f, STATE_TEXT)) ? 0 : (errno = EEXIST, -1);
}

// A file of a new name beside another one. Null with errno where none can be made.
static inline FILE *state_new(state_file *f, int beside, int which, const char *ending) {
    const size_t length = strlen(state_name(f, beside));
    FILE *file = NULL;
    memcpy(state_name(f, which), state_name(f, beside), length);
    for (int i = 0; i < 100 && !file && (!i || errno == EEXIST); ++i) {
        snprintf(state_name(f, which) + length, f->room - length, ".%s%d", ending, i);
        file = fopen(state_name(f, which), "wbx");
    }
    if (!file) *state_name(f, which) = 0; // it is not ours
    return file;
}

// Creates a temporary file with the permissions of the file that it will replace. Null with errno
// if the old one is not a file, or protected.
static inline FILE *state_part(state_file *f, int place, int which, int *replaces) {
    struct stat about;
    FILE *part;
    *replaces = stat(state_name(f, place), &about) == 0;
    if (*replaces && !S_ISREG(about.st_mode)) {
        errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
        return NULL;
    }
    if (*replaces) {
        part = fopen(state_name(f, place), "r+b");
        if (!part) return NULL;
        fclose(part);
    }
    part = state_new(f, place, which, "part");
    if (part && *replaces) chmod(state_name(f, which), about.st_mode & 0777);
    return part;
}

// Begins to write a state. s: as of state_sizes, whose results need not be set. Returns 0, or -1.
static inline int state_create(state_file *f, const char *path, const state_info *s, char *error,
                               size_t room) {
    int replaces;
    if (state_begin(f, path, error, room)) return -1;
    f->writes = 1;
    f->s = *s;
    if (state_sizes(&f->in, &f->s)) return state_drop(f);
    if (state_follow(f)) return state_fail(f, "written");
    f->text = state_part(f, STATE_TEXT, STATE_TEXT_PART, &replaces);
    if (f->text) f->file = state_part(f, STATE_ARRAY, STATE_ARRAY_PART, &f->replaces);
    const input_u64 shape[2] = {f->s.elements, f->s.values};
    if (!f->file || npy_write_head(f->file, f->s.type, f->s.values > 1 ? 2 : 1, shape))
        return state_fail(f, "written");
    return 0;
}

// Checks the next `size` bytes: whole elements, not more than remain.
static inline int state_whole(state_file *f, int writes, input_u64 size) {
    if (!f->names || !f->file || f->writes != writes) return -1; // it has failed before
    const input_u64 each = f->s.bytes / f->s.elements;
    if (size % each || size > f->s.bytes - f->done || size > (size_t)-1 / 2) {
        input_bad(&f->in, "a part of %llu bytes, where %llu of elements of %llu are left", size,
                  f->s.bytes - f->done, each);
        return state_drop(f);
    }
    return 0;
}

// Writes the next elements. Returns 0, or -1.
static inline int state_append(state_file *f, const void *elements, input_u64 size) {
    if (state_whole(f, 1, size)) return -1;
    const input_u64 first = f->done / (f->s.bytes / f->s.elements);
    if (state_pass(&f->in, &f->s, first, elements, size, &f->sum)) return state_drop(f);
    if (size && fwrite(elements, 1, (size_t)size, f->file) != size) return state_fail(f, "written");
    f->done += size;
    return 0;
}

// Gives both files their names. Returns 0, or -1.
static inline int state_commit(state_file *f) {
    int failed;
    if (state_whole(f, 1, 0)) return -1;
    if (f->done != f->s.bytes) {
        input_bad(&f->in, "ends after %llu of its %llu bytes", f->done, f->s.bytes);
        return state_drop(f);
    }
    f->s.checksum = f->sum.value;
    failed = state_describe_to(f->text, &f->s);
    failed |= fclose(f->text) != 0;
    failed |= fclose(f->file) != 0;
    f->text = f->file = NULL;
    if (failed) return state_fail(f, "written");
    if (f->replaces) { // the array that was there steps aside
        FILE *old = state_new(f, STATE_ARRAY, STATE_ARRAY_OLD, "old");
        if (!old) return state_fail(f, "written");
        fclose(old);
        if (rename(state_name(f, STATE_ARRAY), state_name(f, STATE_ARRAY_OLD)))
            return state_fail(f, "written");
    }
    failed = rename(state_name(f, STATE_ARRAY_PART), state_name(f, STATE_ARRAY));
    if (!failed) {
        *state_name(f, STATE_ARRAY_PART) = 0;
        failed = rename(state_name(f, STATE_TEXT_PART), state_name(f, STATE_TEXT));
        if (!failed) *state_name(f, STATE_TEXT_PART) = 0;
    }
    if (failed) {
        const int error = errno;
        if (!*state_name(f, STATE_ARRAY_PART)) remove(state_name(f, STATE_ARRAY));
        if (f->replaces) {
            rename(state_name(f, STATE_ARRAY_OLD), state_name(f, STATE_ARRAY));
            *state_name(f, STATE_ARRAY_OLD) = 0; // there, or all that is left of it
        }
        errno = error;
        return state_fail(f, "written");
    }
    state_drop(f); // only the old array is left
    return 0;
}

// Writes a state from memory. Returns 0, or -1 with the line in error.
static inline int state_write(const char *path, const state_info *s, const void *elements,
                              char *error, size_t room) {
    state_file f;
    if (state_create(&f, path, s, error, room)) return -1;
    if (state_append(&f, elements, f.s.bytes)) return -1;
    return state_commit(&f);
}

// ---- reading ------------------------------------------------------------------------------------

// The first bytes of a file, STATE_JSON at most, and its size. Null with the line.
static inline FILE *state_look(state_file *f, int which, unsigned char *bytes, input *head,
                               input_u64 *size) {
    struct stat about;
    f->in.name = state_name(f, which);
    errno = EINVAL;
    if (stat(f->in.name, &about) == 0 && S_ISREG(about.st_mode)) f->file = fopen(f->in.name, "rb");
    if (!f->file) return (void)state_fail(f, "opened"), (FILE *)NULL;
    *head = f->in;
    head->data = bytes, head->size = fread(bytes, 1, STATE_JSON, f->file);
    *size = (input_u64)about.st_size;
    return f->file;
}

// Begins to read a state: f->s says what it is. Returns 0, or -1.
static inline int state_open(state_file *f, const char *path, char *error, size_t room) {
    unsigned char bytes[STATE_JSON];
    input_u64 size;
    input head;
    if (state_begin(f, path, error, room)) return -1;
    if (!state_look(f, STATE_TEXT, bytes, &head, &size)) return -1;
    if (size != head.size)
        input_bad(&head, "is longer than the %d bytes of a description", STATE_JSON);
    if (size != head.size || state_describe(&head, &f->s)) return state_drop(f);
    fclose(f->file);
    f->file = NULL;
    if (!state_look(f, STATE_ARRAY, bytes, &head, &size)) return -1;
    if (state_head(&head, &f->s, size)) return state_drop(f);
    f->in.name = path;
    if (fseek(f->file, (long)head.at, SEEK_SET)) return state_fail(f, "read");
    return 0;
}

// Reads the next elements. Returns 0, or -1.
static inline int state_next(state_file *f, void *elements, input_u64 size) {
    if (state_whole(f, 0, size)) return -1;
    errno = EIO;
    if (size && fread(elements, 1, (size_t)size, f->file) != size) return state_fail(f, "read");
    if (state_pass(&f->in, &f->s, f->done / (f->s.bytes / f->s.elements), elements, size, &f->sum))
        return state_drop(f);
    f->done += size;
    return 0;
}

// Ends a file that is read. Returns 0 if all of it was read and has the checksum, or -1.
static inline int state_close(state_file *f) {
    if (state_whole(f, 0, 0)) return -1;
    if (f->done != f->s.bytes)
        input_bad(&f->in, "%llu of its %llu bytes were read", f->done, f->s.bytes);
    else if (f->sum.value == f->s.checksum)
        return state_drop(f), 0;
    else
        input_bad(&f->in, "its CRC-32 is %08lx, but its description says %08lx",
                  (unsigned long)f->sum.value, (unsigned long)f->s.checksum);
    return state_drop(f);
}

// Reads a state into memory of malloc's. Returns 0, or -1 with the line in error; s and *elements
// are untouched then.
static inline int state_read(const char *path, state_info *s, void **elements, char *error,
                             size_t room) {
    state_file f;
    if (state_open(&f, path, error, room)) return -1;
    const state_info found = f.s;
    void *memory = input_memory(&f.in, found.bytes, 1);
    if (!memory) return state_drop(&f);
    if (state_next(&f, memory, found.bytes) || state_close(&f)) return free(memory), -1;
    *s = found, *elements = memory;
    return 0;
}

#endif
