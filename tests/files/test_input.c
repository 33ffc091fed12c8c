// SPDX-License-Identifier: MIT
// test_input.c: what all readers of samples/files use (input.h): files, lines, columns and numbers,
// in the locale "C" and in one whose point is a comma, if there is one; what writes .npy files; and
// the choice of atoms.
#include "kit.h"
#include "../samples/files/frames_options.h"
#include "files/files_check.h"

#include <math.h>

// Takes a locale whose numbers have a comma. Returns 1, or 0 where this machine has none of a few.
static int comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "pl_PL.UTF-8"};
    for (int i = 0; i < 4; ++i)
        if (setlocale(LC_ALL, names[i]) && localeconv()->decimal_point[0] == ',') return 1;
    return 0;
}

static text text_of(const char *string) {
    const text t = {string, strlen(string)};
    return t;
}

static void check_numbers(void) {
    static const char known[][40] = {"0",
                                     "-0.0",
                                     "+1.5",
                                     ".5",
                                     "5.",
                                     "1e3",
                                     "1E-3",
                                     "9007199254740993",
                                     "1e22",
                                     "1e23",
                                     "4.9e-324",
                                     "1e-400",
                                     "0e999999999999",
                                     "1.7976931348623157e308",
                                     "0.30000000000000004",
                                     "000000000000000000000000000012",
                                     "0.00000000000000000000000000000001e32",
                                     "100000000000000000000000000000000e-32",
                                     "123456789012345678901234567890"};
    static double values[COUNT(known)]; // in the locale "C", which is the first
    static const char *const none[] = {"",       "-",    "+",       ".",   "-.",    "e5",   ".e5",
                                       "1e",     "1e+",  "1.2.3",   "1,5", "0x10",  "1 2",  "--1",
                                       "1-",     "nano", "infinit", "1f",  "in",    "\xff", "0x1p3",
                                       "nan(1)", "1..",  "+-1",     "d",   "1e5e5", "1_0"};
    static int done;
    double value = 7;
    for (unsigned i = 0; i < COUNT(known) && !done; ++i) values[i] = strtod(known[i], NULL);
    done = 1;
    for (unsigned i = 0; i < COUNT(known); ++i)
        EXPECT(text_number(text_of(known[i]), &value) == 0 && value == values[i], "%s: %.17g",
               known[i], value);
    EXPECT(text_number(text_of("-2.5d+2"), &value) == 0 && value == -250, "%.17g", value);
    EXPECT(text_number(text_of("1D0"), &value) == 0 && value == 1, "%.17g", value);
    value = 7;
    for (unsigned i = 0; i < COUNT(none); ++i)
        EXPECT(text_number(text_of(none[i]), &value) == -1 && value == 7, "%s: %.17g", none[i],
               value);
    char longest[65];
    memset(longest, '1', 64), longest[64] = 0;
    expect(text_number(text_of(longest), &value) == -1 && value == 7, "64 letters");
    expect(text_number(text_of(longest + 1), &value) == 0 && value > 1e62, "63 letters");
    EXPECT(text_number(text_of("1e999"), &value) == 0 && value > 1e308, "%.17g", value);
    EXPECT(text_number(text_of("-Infinity"), &value) == 0 && value < -1e308, "%.17g", value);
    EXPECT(text_number(text_of("NaN"), &value) == 0 && isnan(value), "%.17g", value);
    EXPECT(text_number(text_of("-nan"), &value) == 0 && isnan(value), "%.17g", value);
}

static void check_whole(void) {
    input_u64 value = 7;
    expect(text_whole(text_of("18446744073709551615"), ~0ull, &value) == 0 && value == ~0ull,
           "2^64 - 1");
    expect(text_whole(text_of("007"), 7, &value) == 0 && value == 7, "7");
    expect(text_whole(text_of("0"), 0, &value) == 0 && value == 0, "0");
    static const char *const none[] = {
        "", "-1", "+1", "1 ", "18446744073709551616", "99999999999999999999", "1e3"};
    value = 7;
    for (unsigned i = 0; i < COUNT(none); ++i)
        EXPECT(text_whole(text_of(none[i]), ~0ull, &value) == -1 && value == 7, "%s", none[i]);
    expect(text_whole(text_of("256"), 255, &value) == -1 &&
               text_whole(text_of("1"), 0, &value) == -1,
           "most");
}

static void check_lines(void) {
    static const char string[] = "one two\r\n\n\t three\vfour \n five";
    input in = input_make(string, sizeof string - 1, NULL, 0);
    text line = {NULL, 0}, word;
    EXPECT(text_line(&in, &line) && line.size == 7, "%llu", line.size);
    word = text_word(&line);
    expect(text_is(word, "one") && text_is(text_word(&line), "two") && !text_word(&line).size,
           "words");
    expect(text_line(&in, &line) && !line.size && in.line == 2, "an empty line");
    expect(text_line(&in, &line) && text_is(text_trim(line), "three\vfour"), "a line");
    expect(text_line(&in, &line) && text_is(text_trim(line), "five") && in.line == 4,
           "no line feed");
    expect(!text_line(&in, &line) && !text_line(&in, &line) && in.line == 4, "the end");
    expect(text_is(text_columns(text_of("ab cd  "), 3, 7), "cd"), "columns");
    expect(text_is(text_columns(text_of("abcd"), 4, 9), "d"), "the last column");
    expect(!text_columns(text_of("abcd"), 5, 9).size, "columns that are not there");
    expect(text_is(text_ending("a.b/c.PDB"), "pdb") && !text_ending("a.b/c").size &&
               !text_ending("a.").size,
           "endings");
}

static void check_input(void) {
    static const unsigned char bytes[] = {0xc0, 0x49, 0x0f, 0xdb, 1, 2, 3, 4};
    static const unsigned char half[] = {0, 0, 0, 0, 0, 0, 0xf8, 0x3f};
    static const char *const missing[] = {"no such file", "."};
    volatile double most = 3.4028234663852886e38, edge = 3.4028235677973366e38; // rounds to 2^128
    input_u64 product = 7;
    char error[100] = "";
    expect(input_u16(bytes, 1) == 0xc049 && input_u16(bytes, 0) == 0x49c0, "u16");
    expect(input_u32(bytes, 1) == 0xc0490fdbu && input_u32(bytes + 4, 0) == 0x04030201, "u32");
    expect(input_f32(bytes, 1) == -3.14159274f, "f32");
    EXPECT(input_f64(half, 0) == 1.5 && input_f64(bytes, 1) < -50.1 && input_f64(bytes, 1) > -50.2,
           "f64 %.17g", input_f64(bytes, 1));
    expect(input_product(1ull << 32, 1ull << 32, &product) == -1 && product == 7, "2^64");
    expect(input_product(~0ull, 1, &product) == 0 && product == ~0ull, "2^64 - 1");
    expect(input_product(~0ull, 0, &product) == 0 && product == 0, "0");
    expect(input_finite((float)most) && input_finite((float)-most), "most");
    expect(!input_finite((float)edge) && !input_finite(-(float)edge) && !input_finite((float)NAN),
           "edge, NaN");
    input in = input_make(bytes, 8, error, sizeof error);
    EXPECT(!input_memory(&in, 1ull << 62, 4) &&
               !strcmp(error, "there is no memory for 4611686018427387904 values of 4 bytes"),
           "%s", error);
    expect(!input_memory(&in, ~0ull, 1), "2^64 - 1 bytes");
    expect(input_take(&in, 8) == bytes && !input_take(&in, 1) && !input_take(&in, ~0ull) &&
               input_left(&in) == 0,
           "take");
    for (int i = 0; i < 2; ++i) {
        EXPECT(input_open(&in, missing[i], error, sizeof error) == -1 &&
                   strstr(error, i ? "cannot be read" : "cannot be opened"),
               "%s", error);
        input_close(&in);
    }
    if (input_open(&in, "/dev/null", error, sizeof error) == 0) expect(in.size == 0, "/dev/null");
    input_close(&in);
}

// An array of three dimensions, as frames are written, byte for byte.
static void check_npy_bytes(void) {
    static const char head[] = "\x93NUMPY\1\0\x76\0{'descr': '|u1', 'fortran_order': False, "
                               "'shape': (1, 2, 3), }";
    const input_u64 shape[] = {1, 2, 3};
    char file[200], want[134];
    FILE *out = tmpfile();
    memset(want, ' ', sizeof want);
    memcpy(want, head, sizeof head - 1);
    memcpy(want + 127, "\nabcdef", 7);
    expect(out && npy_write(out, "u1", 3, shape, "abcdef") == 0, "u1");
    if (!out) return;
    rewind(out);
    EXPECT(fread(file, 1, sizeof file, out) == 134 && !memcmp(file, want, 134), "%.134s", file);
    fclose(out);
}

static void check_full(void) {
    const input_u64 shape[] = {3}, large[] = {1ull << 62, 4, 1};
    const float real[] = {1, 2, 3};
    FILE *full = fopen("/dev/full", "wb");
    if (!full) return;
    setvbuf(full, NULL, _IONBF, 0);
    expect(npy_write(full, "f4", 1, large, real) == -1 &&
               npy_write(full, "u1", 2, large, real) == -1,
           "a shape that is too large");
    expect(npy_write(full, "f4", 1, shape, real) == -1, "a full disk");
    expect(npy_write(full, "f2", 1, shape, real) == -1 &&
               npy_write(full, "f4", 4, shape, real) == -1 &&
               npy_write(full, "f4", 0, shape, real) == -1,
           "no such type or shape");
    fclose(full);
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
    for (unsigned i = 0; out && i < COUNT(none); ++i) {
        state s;
        memset(&s, 0, sizeof s);
        s.f = none[i].f, s.r = none[i].r;
        strcpy(s.type, none[i].type);
        EXPECT(state_write_head(out, &s) == -1 && ftell(out) == 0, "%u", i);
    }
    if (out) fclose(out);
}

// Lists of atoms, and the first coordinates that are left of two frames of 12 atoms.
static void check_choice(void) {
    static const char *const none[] = {
        "",     "0",  "13", "1-13",  "2-1", "1,1", "3,2",  "1-3,3", "1,", ",1",
        "1,,2", "1-", "-3", "1-2-3", "a",   "1 2", "1; 2", "1.5",   "+1", "18446744073709551617"};
    static const struct {
        const char *list;
        int n, atoms[12];
    } some[] = {{"1", 1, {0}},
                {"12", 1, {11}},
                {"1-12", 12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
                {"2-4,7,9-10,12", 7, {1, 2, 3, 6, 8, 9, 11}}};
    for (unsigned k = 0; k < COUNT(some) + COUNT(none); ++k) {
        const char *list = k < COUNT(some) ? some[k].list : none[k - COUNT(some)];
        const input in = input_make(NULL, 0, NULL, 0);
        const int want = k < COUNT(some) ? some[k].n : 12;
        char error[200] = "";
        frames f;
        int wrong = 0;
        if (frames_make(&in, 12, 2, 0, &f)) return expect(0, "memory");
        for (int i = 0; i < 72; ++i) f.xyz[i] = (float)i;
        EXPECT(frames_choose(list, &f, error, sizeof error) == (k < COUNT(some) ? 0 : -1), "%s",
               list);
        for (int i = 0; i < want * 6; ++i) {
            const int atom = k < COUNT(some) ? some[k].atoms[i / 3 % want] : i / 3 % want;
            wrong += f.xyz[i] != (float)((i / 3 / want * 12 + atom) * 3 + i % 3);
        }
        EXPECT((int)f.n == want && !wrong && !error[0] == (k < COUNT(some)), "%s: %s", list, error);
        frames_free(&f);
    }
}

int main(void) {
    check_numbers();
    check_choice();
    check_whole();
    check_lines();
    check_input();
    check_npy_bytes();
    check_full();
    check_not_written();
    if (comma_locale()) check_numbers();
    return kit_end("test_input");
}
