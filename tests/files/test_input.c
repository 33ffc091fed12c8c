// SPDX-License-Identifier: MIT
// test_input.c: what all readers of samples/files use (input.h): files, lines, columns and numbers.
// Numbers are read in the locale "C" and in one whose point is a comma, if there is one.
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
    static const struct {
        const char *string;
        double value;
    } known[] = {{"0", 0},
                 {"-0.0", 0},
                 {"+1.5", 1.5},
                 {".5", 0.5},
                 {"5.", 5},
                 {"1e3", 1000},
                 {"1E-3", 1e-3},
                 {"-2.5d+2", -250},
                 {"1D0", 1},
                 {"9007199254740993", 9007199254740992.0},
                 {"1e22", 1e22},
                 {"1e23", 1e23},
                 {"4.9e-324", 4.9e-324},
                 {"1e-400", 0},
                 {"0e999999999999", 0},
                 {"1.7976931348623157e308", 1.7976931348623157e308},
                 {"0.30000000000000004", 0.30000000000000004},
                 {"000000000000000000000000000012", 12},
                 {"0.00000000000000000000000000000001e32", 1},
                 {"100000000000000000000000000000000e-32", 1},
                 {"123456789012345678901234567890", 123456789012345678901234567890.0}};
    static const char *const none[] = {"",       "-",    "+",       ".",   "-.",    "e5",   ".e5",
                                       "1e",     "1e+",  "1.2.3",   "1,5", "0x10",  "1 2",  "--1",
                                       "1-",     "nano", "infinit", "1f",  "in",    "\xff", "0x1p3",
                                       "nan(1)", "1..",  "+-1",     "d",   "1e5e5", "1_0"};
    double value = 7;
    for (unsigned i = 0; i < sizeof known / sizeof *known; ++i)
        CHECK(text_number(text_of(known[i].string), &value) == 0 && value == known[i].value,
              "%s: %.17g", known[i].string, value);
    value = 7;
    for (unsigned i = 0; i < sizeof none / sizeof *none; ++i)
        CHECK(text_number(text_of(none[i]), &value) == -1 && value == 7, "%s: %.17g", none[i],
              value);
    char longest[65];
    memset(longest, '1', 64), longest[64] = 0;
    CHECK(text_number(text_of(longest), &value) == -1 && value == 7, "64 letters");
    CHECK(text_number(text_of(longest + 1), &value) == 0 && value > 1e62, "63 letters");
    CHECK(text_number(text_of("1e999"), &value) == 0 && value > 1e308, "%.17g", value);
    CHECK(text_number(text_of("-Infinity"), &value) == 0 && value < -1e308, "%.17g", value);
    CHECK(text_number(text_of("NaN"), &value) == 0 && isnan(value), "%.17g", value);
    CHECK(text_number(text_of("-nan"), &value) == 0 && isnan(value), "%.17g", value);
}

static void check_whole(void) {
    input_u64 value = 7;
    CHECK(text_whole(text_of("18446744073709551615"), ~0ull, &value) == 0 && value == ~0ull,
          "2^64 - 1");
    CHECK(text_whole(text_of("007"), 7, &value) == 0 && value == 7, "7");
    CHECK(text_whole(text_of("0"), 0, &value) == 0 && value == 0, "0");
    static const char *const none[] = {
        "", "-1", "+1", "1 ", "18446744073709551616", "99999999999999999999", "1e3"};
    value = 7;
    for (unsigned i = 0; i < sizeof none / sizeof *none; ++i)
        CHECK(text_whole(text_of(none[i]), ~0ull, &value) == -1 && value == 7, "%s", none[i]);
    CHECK(text_whole(text_of("256"), 255, &value) == -1 &&
              text_whole(text_of("1"), 0, &value) == -1,
          "most");
}

static void check_lines(void) {
    static const char string[] = "one two\r\n\n\t three\vfour \n five";
    input in = input_make(string, sizeof string - 1, NULL, 0);
    text line = {NULL, 0}, word;
    CHECK(text_line(&in, &line) && line.size == 7, "%llu", line.size);
    word = text_word(&line);
    CHECK(text_is(word, "one") && text_is(text_word(&line), "two") && !text_word(&line).size,
          "words");
    CHECK(text_line(&in, &line) && !line.size && in.line == 2, "an empty line");
    CHECK(text_line(&in, &line) && text_is(text_trim(line), "three\vfour"), "a line");
    CHECK(text_line(&in, &line) && text_is(text_trim(line), "five") && in.line == 4,
          "no line feed");
    CHECK(!text_line(&in, &line) && !text_line(&in, &line) && in.line == 4, "the end");
    CHECK(text_is(text_columns(text_of("ab cd  "), 3, 7), "cd"), "columns");
    CHECK(text_is(text_columns(text_of("abcd"), 4, 9), "d"), "the last column");
    CHECK(!text_columns(text_of("abcd"), 5, 9).size, "columns that are not there");
    CHECK(text_is(text_ending("a.b/c.PDB"), "pdb") && !text_ending("a.b/c").size &&
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
    content c;
    CHECK(input_u16(bytes, 1) == 0xc049 && input_u16(bytes, 0) == 0x49c0, "u16");
    CHECK(input_u32(bytes, 1) == 0xc0490fdbu && input_u32(bytes + 4, 0) == 0x04030201, "u32");
    CHECK(input_f32(bytes, 1) == -3.14159274f, "f32");
    CHECK(input_f64(half, 0) == 1.5 && input_f64(bytes, 1) < -50.1 && input_f64(bytes, 1) > -50.2,
          "f64 %.17g", input_f64(bytes, 1));
    CHECK(input_product(1ull << 32, 1ull << 32, &product) == -1 && product == 7, "2^64");
    CHECK(input_product(~0ull, 1, &product) == 0 && product == ~0ull, "2^64 - 1");
    CHECK(input_product(~0ull, 0, &product) == 0 && product == 0, "0");
    CHECK(input_finite((float)most) && input_finite((float)-most), "most");
    CHECK(!input_finite((float)edge) && !input_finite(-(float)edge) && !input_finite((float)NAN),
          "edge, NaN");
    input in = input_make(bytes, 8, error, sizeof error);
    CHECK(!input_memory(&in, 1ull << 62, 4) &&
              !strcmp(error, "there is no memory for 4611686018427387904 values of 4 bytes"),
          "%s", error);
    CHECK(!input_memory(&in, ~0ull, 1), "2^64 - 1 bytes");
    CHECK(input_take(&in, 8) == bytes && !input_take(&in, 1) && !input_take(&in, ~0ull) &&
              input_left(&in) == 0,
          "take");
    for (int i = 0; i < 2; ++i) {
        CHECK(input_open(&in, missing[i], error, sizeof error) == -1 &&
                  strstr(error, i ? "cannot be read" : "cannot be opened"),
              "%s", error);
        input_close(&in);
    }
    c = content_file("models.pdb", 0);
    CHECK(c.size == 1102 && !memcmp(c.bytes, "REMARK", 6) &&
              !memcmp(c.bytes + c.size - 4, "END\n", 4),
          "%u", (unsigned)c.size);
    free(c.bytes);
    if (input_open(&in, "/dev/null", error, sizeof error) == 0) CHECK(in.size == 0, "/dev/null");
    input_close(&in);
}

int main(void) {
    check_numbers();
    check_whole();
    check_lines();
    check_input();
    if (comma_locale()) check_numbers();
    return check_result("test_input");
}
