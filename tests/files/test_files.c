// SPDX-License-Identifier: MIT
// test_files.c: reads files as files_test.py asks, and says what they hold.
//
// Standard input has requests: a line FORMAT SIZE and SIZE bytes, or with FORMAT/ a path. Each
// answer is a line: all values of the file, or the error line. With the words PATH ROWS LEVEL TYPE
// it writes a state of bytes i * 7 % 251, but for idle bits.
#include "kit.h"
#include "files/files_check.h"

static void say_floats(const float *values, input_u64 count) {
    for (input_u64 i = 0; i < count; ++i) printf(" %.9g", (double)values[i]);
}

static void say_heights(const heights *h) {
    printf("%llu %llu %d", h->width, h->height, h->type);
    for (input_u64 i = 0; i < h->width * h->height; ++i) printf(" %.17g", heights_value(h, i));
    if (h->has_nodata) printf(" nodata %.17g", h->nodata);
    if (h->has_place) printf(" place %.17g %.17g %.17g %.17g", h->west, h->south, h->dx, h->dy);
}

// A state as the bytes of the file that is written of it.
static void say_state(state *s) {
    FILE *out = tmpfile();
    if (!out || state_write_head(out, s) || fwrite(s->data, 1, s->bytes, out) != s->bytes)
        printf("is not written");
    if (!out) return;
    rewind(out);
    for (int c; (c = fgetc(out)) != EOF;) printf("%02x", c);
    fclose(out);
}

static void say_content(int format, content *out) {
    if (formats[format].frames_of) {
        printf("%llu %llu", out->f.count, out->f.n);
        say_floats(out->f.xyz, out->f.n * out->f.count * 3);
        if (out->f.cell) printf(" cell"), say_floats(out->f.cell, out->f.count * 6);
        frames_free(&out->f);
    } else if (formats[format].heights_of) {
        say_heights(&out->h);
        heights_free(&out->h);
    } else {
        say_state(&out->s);
        state_free(&out->s); // does nothing unless a path was read
    }
}

// Reads bytes, also where there is little room for an error line, and none.
static void answer(int format, const unsigned char *bytes, size_t size) {
    char error[200] = "", small[20] = "";
    input in = input_make(bytes, size, error, sizeof error), again = in;
    npy a;
    content out;
    if (format == FORMATS) { // as npy.h reads it
        if (npy_read(&in, &a)) return (void)printf("%s", error);
        printf("%s %u %llu %llu %llu", a.type, a.dims, a.shape[0], a.shape[1], a.shape[2]);
        for (input_u64 i = 0; i < a.count; ++i) printf(" %.17g", npy_value(&a, i));
        return;
    }
    memset(&out, 0xa5, sizeof out);
    if (content_read(format, &in, &out) == 0) return say_content(format, &out);
    again.error = small, again.room = sizeof small;
    EXPECT(content_read(format, &again, &out) == -1 && !strncmp(small, error, sizeof small - 1),
           "%s", error);
    again = input_make(bytes, size, NULL, 0);
    EXPECT(content_read(format, &again, &out) == -1, "%s", error);
    EXPECT(content_poisoned(&out, sizeof out), "%s: the result is not as before", error);
    printf("%s", error);
}

static void answer_path(int format, const char *path) {
    char error[200] = "";
    content out;
    memset(&out, 0xa5, sizeof out);
    const int result = formats[format].frames_of ? frames_read(path, &out.f, error, sizeof error)
                       : formats[format].heights_of
                           ? heights_read(path, &out.h, error, sizeof error)
                           : state_read(path, &out.s, error, sizeof error);
    if (result == 0 && !error[0]) return say_content(format, &out);
    EXPECT(result == -1 && content_poisoned(&out, sizeof out), "%s: the result is not as before",
           path);
    printf("%s", error);
}

static int write_state(char **words) {
    state s;
    memset(&s, 0, sizeof s);
    if (tmap_nbb_from_rows(words[2], &s.f) != TMAP_OK) return 2;
    s.r = (tmap_u32)atoi(words[3]), s.step = 77;
    snprintf(s.type, sizeof s.type, "%s", words[4]);
    FILE *file = fopen(words[1], "wb");
    if (!file || state_write_head(file, &s)) return 2;
    const unsigned each = npy_bytes(STATE_TYPES, s.type);
    const tmap_u32 cells = tmap_compact_word_of(s.f, s.r).cells;
    for (tmap_u64 i = 0; i < s.bytes; ++i) {
        const tmap_u32 bit = 8 * (tmap_u32)(i % each), used = cells > bit ? cells - bit : 0;
        const int idle = s.type[0] == 'u' && each > 1 && used < 8;
        fputc((int)(i * 7 % 251) & (idle ? (1 << used) - 1 : 255), file);
    }
    return fclose(file) ? 2 : 0;
}

int main(int count, char **words) {
    char name[32];
    unsigned long size;
    if (count == 5) return write_state(words);
    while (scanf("%30s %lu", name, &size) == 2 && getchar() == '\n') {
        const int path = name[strlen(name) - 1] == '/';
        unsigned char *bytes = (unsigned char *)calloc(size + (size_t)path + !size, 1);
        int format = 0;
        name[strlen(name) - (size_t)path] = 0;
        while (format < FORMATS && strcmp(formats[format].name, name)) ++format;
        size = fread(bytes, 1, size, stdin);
        if (path)
            answer_path(format, (const char *)bytes);
        else
            answer(format, bytes, size);
        free(bytes);
        putchar('\n');
    }
    return kit_failures != 0;
}
