// SPDX-License-Identifier: MIT
// fuzz_files.c: hostile files for every reader of samples/files. Each one must end with a map,
// frames or a state whose every value can be read, or with one line, nothing given out and all
// memory free; it must not ask for more memory than a small multiple of the file, and must bear
// that there is none.
//
//     fuzz_files FOLDER EXECUTIONS [SEED]
//
// changes the files of a folder (corpus/) at random, the same way in every run and as often for
// each reader, compiled with -fsanitize=address,undefined. As a fuzz target of clang's, which
// follows the code:
//
//     cd tests/files
//     clang -g -O1 -fsanitize=fuzzer,address,undefined -DFUZZ_TARGET -I ../../include -I ..
//         fuzz_files.c -o fuzz
//     mkdir found && ./fuzz -max_len=2048 found corpus
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- memory that is counted, and may be refused -------------------------------------------------

static size_t memory_asked;
static unsigned memory_fails; // the number of the request that fails; 0: none

static int memory_refused(size_t bytes) {
    memory_asked += bytes;
    return memory_fails && !--memory_fails;
}

static void *memory_malloc(size_t bytes) { return memory_refused(bytes) ? NULL : malloc(bytes); }

static void *memory_realloc(void *old, size_t bytes) {
    return memory_refused(bytes) ? NULL : realloc(old, bytes);
}

#define malloc  memory_malloc
#define realloc memory_realloc
#include "files/files_check.h"
#undef malloc
#undef realloc

// ---- one file -----------------------------------------------------------------------------------

enum { SIZE = 2048 }; // bytes of a file at most

static unsigned long long read_well[FORMATS], read_badly[FORMATS];

static void must(int right, const char *what, const char *format) {
    if (right) return;
    fprintf(stderr, "fuzz_files: %s: %s\n", format, what);
    abort();
}

// Looks at every value that was given out, and frees it.
static void check_content(content *a, int format) {
    const frames *f = &a->f;
    const heights *h = &a->h;
    const state *s = &a->s;
    const char *name = formats[format].name;
    if (formats[format].frames_of) {
        must(f->n && f->count, "no frames", name);
        for (input_u64 i = 0; i < f->n * f->count * 3; ++i)
            must(input_finite(f->xyz[i]), "a coordinate that is not finite", name);
        const float none[6] = {0, 0, 0, 0, 0, 0};
        for (input_u64 i = 0; f->cell && i < f->count * 6; i += 6)
            must(frames_is_cell(f->cell + i) || !memcmp(f->cell + i, none, sizeof none), "a cell",
                 name);
        frames_free(&a->f);
    } else if (formats[format].heights_of) {
        must(h->width && h->height, "no heights", name);
        for (input_u64 i = 0; i < h->width * h->height; ++i)
            must(input_finite((float)heights_value(h, i)), "a height that is not finite", name);
        must(input_finite((float)h->nodata), "a NODATA value that is not finite", name);
        heights_free(&a->h);
    } else {
        const unsigned char *at = (const unsigned char *)s->data;
        unsigned bits = 0;
        must(tmap_nbb_check(s->f) == TMAP_OK && s->r <= 64 && s->bytes / s->count <= 8, "a size",
             name);
        for (input_u64 i = 0; i < s->bytes; ++i) bits |= at[i];
        must(bits < 256, "a byte", name);
    }
}

static int run(int format, const uint8_t *data, size_t size, unsigned fails) {
    const char *name = formats[format].name;
    uint8_t *bytes = (uint8_t *)malloc(size ? size : 1); // ends where the file ends
    char error[200];
    content out;
    if (size) memcpy(bytes, data, size);
    memset(error, 'x', sizeof error);
    memset(&out, 0xa5, sizeof out);
    memory_asked = 0, memory_fails = fails;
    input in = input_make(bytes, size, error, sizeof error);
    const int result = content_read(format, &in, &out);
    memory_fails = 0;
    must(memory_asked <= 64 * size + 4096, "asks for much memory", name);
    must(result == 0 || result == -1, "another result", name);
    if (result) {
        must(error[0] && memchr(error, 0, sizeof error) != NULL, "no line", name);
        for (const char *at = error; *at; ++at)
            must((unsigned char)*at >= ' ', "a control letter", name);
        must(content_poisoned(&out, sizeof out), "the result was touched", name);
    } else {
        check_content(&out, format);
    }
    free(bytes);
    ++(result ? read_badly : read_well)[format];
    return result;
}

#if defined(FUZZ_TARGET)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int format = 0; format < FORMATS; ++format) {
        run(format, data, size, 0);
        run(format, data, size, 1 + (unsigned)size % 5);
    }
    return 0;
}

#else

// ---- files that are changed at random -----------------------------------------------------------

typedef struct sample {
    int format, refused; // refused: as it is
    size_t size;
    char name[64];
    uint8_t bytes[SIZE];
} sample;

static sample samples[128];
static int sample_count;
static uint64_t random_state;

// A number below n, which is 1 at least (xorshift, Marsaglia 2003).
static size_t below(size_t n) {
    random_state ^= random_state << 13, random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)((random_state >> 11) % n);
}

// Puts bytes over or between those of a file, as many as fit.
static void put(sample *s, size_t at, const void *bytes, size_t count, int between) {
    if (at > s->size) at = s->size;
    if (count > SIZE - at) count = SIZE - at;
    if (between) {
        size_t rest = s->size - at;
        if (rest > SIZE - at - count) rest = SIZE - at - count;
        memmove(s->bytes + at + count, s->bytes + at, rest);
        s->size = at + count + rest;
    }
    memmove(s->bytes + at, bytes, count);
    if (at + count > s->size) s->size = at + count;
}

#define WORDS \
    "0", "-1", "1", "nan", "-inf", "1e999", "1e-999", "1e39", "4294967296", "2147483647", \
        "18446744073709551615", "18446744073709551616", "1000000000000000000", ".", "-", "e", \
        "MODEL ", "ENDMDL\n", "END\n", "ATOM  ", "CRYST1", "\n", "\r\n", "\n\n", " ", "#", "()", \
        "(0, 3)", "ncols ", "nrows ", "nodata ", "xdim ", "cellsize ", "<f8", ">f4", "|u1", "<i2", \
        "[('", "')]", "level ", "step ", "/", "'", "{", "}", "<i8", "True", "False"

static void change(sample *s) {
    static const char words[][21] = {WORDS};
    static const uint64_t numbers[] = {48, 84, 0x7fc00000, 0x7f800000, 0x7ff0000000000000ull};
    const sample old = *s, *other = below(2) ? &old : &samples[below((size_t)sample_count)];
    const size_t at = below(s->size + 1), from = below(other->size + 1);
    const size_t most = other->size - from, length = 1 + below(below(2) ? 8 : 80);
    const char *word = words[below(COUNT(words))];
    const int between = (int)below(2);
    const size_t size = (size_t)2 << below(3); // of a number
    uint8_t bytes[8];
    uint64_t number = ((uint64_t)1 << below(64)) - below(3); // 2^64 - 1 and - 2 too
    switch (below(8)) {
    case 0: // a bit
        if (at < s->size) s->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1: // a byte
        bytes[0] = below(2) ? (uint8_t)below(256) : (uint8_t) "\0\xff\x7f\x80 \n09.-"[below(10)];
        put(s, at, bytes, 1, between);
        break;
    case 2: // a number of 2, 4 or 8 bytes, of either order
        if (!below(3)) number = below(2) ? numbers[below(COUNT(numbers))] : below(SIZE);
        for (size_t i = 0; i < size; ++i)
            bytes[i] = (uint8_t)(number >> (between ? 8 * (size - 1 - i) : 8 * i));
        put(s, below(2) ? at & ~(size_t)3 : at, bytes, size, !below(4));
        break;
    case 3: put(s, at, word, strlen(word), between); break;
    case 4: // bytes less
        s->size = at;
        if (at + length < old.size) put(s, at, old.bytes + at + length, old.size - at - length, 0);
        break;
    case 5: s->size = at; break; // cut
    case 6:                      // bytes of its own or of another file, over others or between them
        put(s, at, other->bytes + from, length < most ? length : most, between);
        break;
    default: put(s, s->size, other->bytes, other->size, 0); // a file behind it
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const sample *)a)->name, ((const sample *)b)->name);
}

// Reads a file behind what a sample has already.
static void append(sample *s, const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file) s->size += fread(s->bytes + s->size, 1, SIZE - s->size, file), fclose(file);
}

static void load(const char *folder, const char *name) {
    const text ending = text_ending(text_is(text_ending(name), "ent") ? ".pdb" : name);
    for (int format = 0; format < FORMATS && sample_count < 128; ++format) {
        sample *s = &samples[sample_count];
        if (strlen(name) > 60 || !text_is(ending, formats[format].ending)) continue;
        ++sample_count;
        s->format = format;
        snprintf(s->name, sizeof s->name, "%.*shdr", (int)strlen(name) - 3, name);
        if (text_is(ending, "flt")) append(s, folder, s->name), s->size += s->size < SIZE;
        snprintf(s->name, sizeof s->name, "%s %d", name, format);
        append(s, folder, name);
    }
}

int main(int count, char **words) {
    if (count < 3) return fprintf(stderr, "usage: fuzz_files FOLDER EXECUTIONS [SEED]\n"), 2;
    const unsigned long long executions = strtoull(words[2], NULL, 10);
    DIR *folder = opendir(words[1]);
    if (!folder) return fprintf(stderr, "fuzz_files: cannot read %s\n", words[1]), 2;
    for (const struct dirent *entry; (entry = readdir(folder));) load(words[1], entry->d_name);
    closedir(folder);
    qsort(samples, (size_t)sample_count, sizeof *samples, by_name);
    if (!sample_count) return fprintf(stderr, "fuzz_files: no files in %s\n", words[1]), 2;
    for (int i = 0; i < sample_count; ++i) { // as they are, and cut at every place
        samples[i].refused = run(samples[i].format, samples[i].bytes, samples[i].size, 0);
        for (size_t size = 0; size < samples[i].size; ++size)
            run(samples[i].format, samples[i].bytes, size, 0);
    }
    random_state = 0x9e3779b97f4a7c15ull * (1 + strtoull(count > 3 ? words[3] : "0", NULL, 10));
    for (unsigned long long i = 0; i < executions; ++i) {
        size_t at = below((size_t)sample_count);
        while (samples[at].refused || samples[at].format != (int)(i % FORMATS))
            at = below((size_t)sample_count);
        sample s = samples[at];
        for (size_t n = 1 + below(below(4) ? 3 : 12); n--;) change(&s);
        run(s.format, s.bytes, s.size, below(16) ? 0 : 1 + (unsigned)below(6));
    }
    for (int format = 0; format < FORMATS; ++format) {
        printf("%s: %llu read, %llu refused\n", formats[format].name, read_well[format],
               read_badly[format]);
        must(read_well[format] && read_badly[format], "was never read, or never refused",
             formats[format].name);
    }
    return 0;
}

#endif
