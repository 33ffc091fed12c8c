// SPDX-License-Identifier: MIT
// output.h: files that programs write for their users, of bench/ and samples/explore alike.
//
// A file appears whole or not at all: it is written under another name beside its place, and takes
// its name when it is complete. Only a regular file is replaced in this way; a device or a pipe,
// such as /dev/null, is written to as it is. A program that ends before, by exit or by a signal of
// the terminal, removes what it had begun.
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_PATH = PATH_MAX, OUTPUTS = 4 };

// A file on its way. part: the name that it has until then, in output_parts; null for a device or a
// pipe.
typedef struct output {
    FILE *file;
    char path[OUTPUT_PATH], *part;
} output;

// ---- names --------------------------------------------------------------------------------------

// Where a path leads, through links; its last name need not exist. 0, or -1 with errno.
static inline int output_resolve(const char *path, char resolved[OUTPUT_PATH]) {
    char folder[OUTPUT_PATH];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat link;
    size_t length;
    if (realpath(path, resolved)) return 0;
    if (errno != ENOENT || !*name) return -1;
    if (lstat(path, &link) == 0) return errno = ENOENT, -1; // a link to nothing
    length = (size_t)(name - path);
    if (length + 2 > sizeof folder) return errno = ENAMETOOLONG, -1;
    memcpy(folder, path, length);
    strcpy(folder + length, ".");
    if (!realpath(folder, resolved)) return -1;
    length = strlen(resolved);
    if (length + strlen(name) + 2 > OUTPUT_PATH) return errno = ENAMETOOLONG, -1;
    resolved[length] = '/';
    strcpy(resolved + length + 1, name);
    return 0;
}

// 1 if two paths lead to one file, or to the same name where there is no file yet. Devices, which
// keep nothing, count as different.
static inline int output_same(const char *a, const char *b) {
    char resolved_a[OUTPUT_PATH], resolved_b[OUTPUT_PATH];
    struct stat at_a, at_b;
    if (stat(a, &at_a) == 0 && stat(b, &at_b) == 0)
        return !S_ISCHR(at_a.st_mode) && at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
    return output_resolve(a, resolved_a) == 0 && output_resolve(b, resolved_b) == 0 &&
           !strcmp(resolved_a, resolved_b);
}

// ---- what is left where a program ends before its time ------------------------------------------

// The names of files on their way; empty ones are free.
static char output_parts[OUTPUTS][OUTPUT_PATH + 8];

static inline void output_remove_parts(void) {
    for (int i = 0; i < OUTPUTS; ++i)
        if (output_parts[i][0]) unlink(output_parts[i]);
}

static inline void output_signal(int number) {
    output_remove_parts();
    signal(number, SIG_DFL);
    raise(number);
}

// A free name. Null where there is none.
static inline char *output_part(void) {
    static const int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};
    static int prepared;
    for (int i = 0; i < 4 && !prepared; ++i) // one that is ignored, as by nohup, stays so
        if (signal(signals[i], output_signal) == SIG_IGN) signal(signals[i], SIG_IGN);
    if (!prepared++) atexit(output_remove_parts);
    for (int i = 0; i < OUTPUTS; ++i)
        if (!output_parts[i][0]) return output_parts[i];
    return NULL;
}

// ---- writing ------------------------------------------------------------------------------------

// Begins a file beside its place, with the rights that the file has or would have. Returns 0, or -1
// with errno.
static inline int output_begin_part(output *o, int exists, mode_t mode) {
    const mode_t mask = umask(0);
    int number;
    umask(mask);
    o->part = output_part();
    if (!o->part) return errno = EMFILE, -1;
    snprintf(o->part, OUTPUT_PATH + 8, "%s.XXXXXX", o->path);
    number = mkstemp(o->part);
    if (number < 0) return o->part[0] = 0, -1;
    fchmod(number, exists ? mode & 0777 : 0666 & ~mask);
    o->file = fdopen(number, "wb");
    return o->file ? 0 : -1;
}

// Begins a file. Returns 0, or -1 with errno: a path that is no file's, a folder that does not take
// one, the file that standard output goes to.
static inline int output_open(output *o, const char *path) {
    struct stat at, out;
    const int exists = stat(path, &at) == 0;
    memset(o, 0, sizeof *o);
    if (exists && S_ISDIR(at.st_mode)) return errno = EISDIR, -1;
    if (exists && !S_ISREG(at.st_mode)) {
        o->file = fopen(path, "wb");
        return o->file ? 0 : -1;
    }
    for (int i = 1; exists && i <= 2; ++i)
        if (fstat(i, &out) == 0 && out.st_dev == at.st_dev && out.st_ino == at.st_ino)
            return errno = EBUSY, -1;
    if (exists && access(path, W_OK)) return -1; // a file that is protected is not replaced
    if (output_resolve(path, o->path)) return -1;
    return output_begin_part(o, exists, at.st_mode);
}

// Ends a file: it takes its name if it is complete, and vanishes if `complete` is 0 or a write has
// failed. Returns 0, or -1 with errno.
static inline int output_close(output *o, int complete) {
    int failed;
    if (!o->file) return 0;
    failed = ferror(o->file) != 0;
    failed |= fclose(o->file) != 0;
    o->file = NULL;
    if (o->part) {
        if (complete && !failed) failed = rename(o->part, o->path) != 0;
        if (!complete || failed) unlink(o->part);
        o->part[0] = 0;
    }
    return failed ? -1 : 0;
}

#endif
