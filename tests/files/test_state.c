// SPDX-License-Identifier: MIT
// test_state.c: samples/files/state.h: what the files of corpus/ hold and how they are written
// again, byte for byte; and what is refused, with which line.
//
// For numpy_test.py: with the words PATH ROWS LEVEL TYPE it writes a state of bytes i * 7 % 251, but
// for idle bits; with PATH it reads one.
#include "files/files_check.h"

// A file of corpus/ holds these values, and is written again as it is.
static void known(const char *name, const char *rows, tmap_u32 r, tmap_u64 step, const char *type,
                  tmap_u64 count, const void *values) {
    char error[200] = "", again[1000];
    tmap_nbb f;
    state s;
    const int result = state_read(corpus(name), &s, error, sizeof error);
    CHECK(result == 0 && !error[0], "%s", error);
    if (result) return;
    CHECK(tmap_nbb_from_rows(rows, &f) == TMAP_OK && tmap_nbb_equal(f, s.f), "%s: fractal", name);
    CHECK(s.r == r && s.step == step && !strcmp(s.type, type) && s.count == count &&
              s.bytes == count * (tmap_u64)(type[1] - '0'),
          "%s: level %u, step %llu, type %s, %llu", name, s.r, s.step, s.type, s.count);
    CHECK(!memcmp(s.data, values, (size_t)s.bytes), "%s: other values", name);
    FILE *out = tmpfile();
    if (!out) return;
    CHECK(state_write_head(out, &s) == 0 && fwrite(values, 1, (size_t)s.bytes, out) == s.bytes,
          "%s", name);
    rewind(out);
    const size_t size = fread(again, 1, sizeof again, out);
    CHECK(size == s.file.size && !memcmp(again, s.file.data, size), "%s is written otherwise",
          name);
    fclose(out);
    state_free(&s);
    CHECK(!s.data && !s.file.data, "%s", name);
}

// life.npy with another text in place of one as long.
static content changed(const char *from, const char *to) {
    const content c = content_file("life.npy", 0);
    const size_t length = strlen(from);
    size_t at = 0;
    while (at + length < c.size && memcmp(c.bytes + at, from, length)) ++at;
    CHECK(at + length < c.size && strlen(to) == length, "%s", from);
    memcpy(c.bytes + at, to, length);
    return c;
}

static void check_refused(void) {
    static const char name[] = "no state: the name of its values is not ROWS level R step S";
    static const char *const names[][2] = {
        {"step", "stop"},         {"level", "Lewel"},           {"#./##", "#.x##"},
        {"#./##", "#././"},       {"#./##", "....."},           {"level 4", "level -"},
        {"step 100", "step 1 0"}, {"4 step 100", "65 step 10"}, {"4 step 100", "4 step    "},
        {"#./## ", "#./##_"}};
    char error[300] = "";
    state s;
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)
        refused("state", changed(names[i][0], names[i][1]), name);
    refused("state", content_text("no array"), "no .npy file");
    refused("state", content_file("life.npy", 100), "ends inside its head");
    refused("state", content_file("life.npy", -1), "its shape needs 12 bytes, but 11 are there");
    refused("state", changed("(3,)", "(2,)"), "its shape needs 8 bytes, but 12 are there");
    refused("state", content_file("frames.npy", 0), "its values have no name");
    refused("state", changed("<u4", "<f8"), "has values of another type than u1 f4 u2 u4 u8");
    refused("state", changed("<u4", "<i4"), "has values of another type than u1 f4 u2 u4 u8");
    refused("state", changed("<u4')]", "<u4'),"), "has values of another type than u1 f4 u2 u4 u8");
    refused("state", changed("<u4", ">u4"), "is of the other byte order");
    refused("state", changed("<u4", "<f4"),
            "its type or shape is not that of its fractal and level 4");
    refused("state", changed("(3,), }", "(3,1),}"),
            "its type or shape is not that of its fractal and level 4");
    refused("state", changed("level 4", "level 5"),
            "its type or shape is not that of its fractal and level 5");
    refused("state", changed("#./##", "##/##"),
            "its type or shape is not that of its fractal and level 4");
    const content c = content_file("life.npy", 0);
    refused("state", content_patch(c, c.size - 9, "0d"), "word 0 has bits beyond its 27 cells");
    refused("state", content_patch(content_file("life.npy", 0), c.size - 1, "08"),
            "word 2 has bits beyond its 27 cells");
    CHECK(state_read("none.npy", &s, error, sizeof error) == -1 &&
              strstr(error, "none.npy: cannot be opened"),
          "%s", error);
    CHECK(state_read(corpus("frames.npy"), &s, error, sizeof error) == -1 &&
              strstr(error, "frames.npy: its values have no name"),
          "%s", error);
}

// What cannot be written, of which nothing is.
static void check_not_written(void) {
    const struct {
        tmap_nbb f;
        tmap_u32 r;
        const char *type;
    } none[] = {{tmap_fractal_gasket(), 65, "u1"},
                {tmap_fractal_gasket(), 64, "u1"}, // more than 2^64 cells
                {tmap_fractal_gasket(), 40, "f4"}, // more than 2^64 bytes
                {tmap_fractal_gasket(), 4, "u2"},  // another word
                {tmap_fractal_gasket(), 4, "f8"},
                {tmap_nbb_make(3, 2, 2, 0x010, 0x110), 4, "u1"}, // not numbered row by row
                {tmap_nbb_make(2, 2, 2, 0, 0), 4, "u1"}};
    FILE *out = tmpfile();
    for (unsigned i = 0; out && i < sizeof none / sizeof *none; ++i) {
        state s;
        memset(&s, 0, sizeof s);
        s.f = none[i].f, s.r = none[i].r;
        strcpy(s.type, none[i].type);
        CHECK(state_write_head(out, &s) == -1 && ftell(out) == 0, "%u", i);
    }
    if (out) fclose(out);
}

static int read_one(const char *path) {
    char error[300] = "";
    state s;
    if (state_read(path, &s, error, sizeof error)) return fprintf(stderr, "%s\n", error), 2;
    state_free(&s);
    return 0;
}

static int write_one(char **words) {
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
    const uint32_t life[] = {0x5a5a5a5, 1, 0x4000000};
    float heat[8];
    if (count == 5) return write_one(words);
    if (count == 2) return read_one(words[1]);
    for (int i = 0; i < 8; ++i) heat[i] = (float)i / 4 - 1;
    known("life.npy", "#./##", 4, 100, "u4", 3, life);
    known("heat.npy", "###/#.#/###", 1, ~0ull, "f4", 8, heat);
    check_refused();
    check_not_written();
    return check_result("test_state");
}
