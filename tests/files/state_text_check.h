// SPDX-License-Identifier: MIT
// state_text_check.h: checks of test_state.c: a state's checksum, its fractal in rows, and which
// descriptions are read and which are refused, with which line.
#ifndef TESTS_FILES_STATE_TEXT_CHECK_H
#define TESTS_FILES_STATE_TEXT_CHECK_H

#include "../samples/files/state.h"
#include "files/files_check.h"

// ---- pieces -------------------------------------------------------------------------------------

static inline void check_checksum(void) {
    unsigned char bytes[64];
    checksum c;
    checksum_begin(&c);
    checksum_add(&c, "123456789", 9);
    CHECK(c.value == 0xcbf43926u, "%08x", c.value);
    for (int i = 0; i < 64; ++i) bytes[i] = (unsigned char)(i * i + 13);
    for (unsigned size = 0; size <= 64; ++size) { // bit by bit, and in two parts
        uint32_t sum = 0xffffffffu;
        for (unsigned i = 0; i < 8 * size; ++i)
            sum = sum >> 1 ^ ((sum ^ bytes[i / 8] >> i % 8) & 1 ? 0xedb88320u : 0);
        checksum_begin(&c);
        checksum_add(&c, bytes, size / 3);
        checksum_add(&c, bytes + size / 3, size - size / 3);
        CHECK(c.value == ~sum, "%u bytes: %08x", size, c.value);
    }
}

static inline void check_fractal(void) {
    state_info s;
    memset(&s, 0xa5, sizeof s);
    CHECK(state_fractal(&s, 3, 2, 2, 0x010, 0x110) == -1, "another order of replicas");
    CHECK(state_fractal(&s, 3, 2, 2, 0x300, 0x110) == -1, "a replica outside");
    CHECK(state_fractal(&s, 0, 2, 2, 0, 0) == -1 && state_fractal(&s, 17, 16, 16, 0, 0) == -1 &&
              state_fractal(&s, 1, 17, 1, 0, 0) == -1 && state_fractal(&s, 1, 1, 0, 0, 0) == -1,
          "no numbers");
    CHECK(content_poisoned(&s, sizeof s), "the state is not as before");
    CHECK(state_fractal(&s, 3, 2, 2, 0x100, 0x110) == 0 && !strcmp(s.fractal, "#./##"), "gasket");
    CHECK(state_fractal(&s, 2, 3, 1, 0x20, 0) == 0 && !strcmp(s.fractal, "#.#"), "cantor");
    CHECK(state_fractal(&s, 1, 2, 1, 0x10, 0) == 0 && !strcmp(s.fractal, "#."), "a digit more");
    CHECK(state_fractal(&s, 1, 1, 1, 0, 0) == 0 && !strcmp(s.fractal, "#"), "a point");
    CHECK(state_fractal(&s, 16, 16, 16, 0xfffffffffffffff0ull, 0xfedcba9876543210ull) == 0 &&
              strlen(s.fractal) == 16 * 17 - 1 && s.fractal[17 + 15] == '#',
          "16 x 16");
}

// ---- descriptions -------------------------------------------------------------------------------

#define GASKET(level, layout, word_level, type, values, elements, crc) \
    "{\"format\": \"threadmap compact state 1\", \"fractal\": \"#./##\",\n\"k\": 3, \"sx\": 2, " \
    "\"sy\": 2, \"level\": " level ",\n\"layout\": \"" layout "\", \"word_level\": " word_level \
    ", \"type\": \"" type "\", \"values\": " values ",\n\"elements\": " elements \
    ", \"step\": 7, \"crc32\": \"" crc "\"}"

static inline void refused_json(const char *text, const char *line) {
    char error[300] = "";
    content c = content_text(text);
    state_info s;
    for (size_t room = 0; room <= sizeof error; room += sizeof error / 2) {
        input in = input_make(c.bytes, c.size, room ? error : NULL, room);
        memset(&s, 0xa5, sizeof s);
        CHECK(state_describe(&in, &s) == -1, "%s", line);
        CHECK(content_poisoned(&s, sizeof s), "%s: the result is not as before", line);
        CHECK(!room || !strncmp(error, line, room - 1), "%s\n    instead of %s", error, line);
    }
    free(c.bytes);
}

// A description of another fractal.
static inline void refused_rows(const char *rows, const char *line) {
    char text[4000];
    snprintf(
        text, sizeof text,
        "{\"format\": \"threadmap compact state 1\", \"fractal\": \"%s\", \"k\": 3, \"sx\": 2, "
        "\"sy\": 2, \"level\": 2, \"layout\": \"cells\", \"word_level\": 0, \"type\": \"u1\", "
        "\"values\": 1, \"elements\": 9, \"step\": 0, \"crc32\": \"00000000\"}",
        rows);
    refused_json(text, line);
}

static inline void check_json(void) {
    char deep[5000];
    state_info s;
    const char *good = GASKET("4", "words", "3", "u4", "1", "3", "00c0ffee");
    input in = input_make(good, strlen(good), NULL, 0);
    CHECK(state_describe(&in, &s) == 0 && s.words && s.word_level == 3 && s.elements == 3 &&
              s.bytes == 12 && s.step == 7 && s.checksum == 0xc0ffee && s.k == 3 && s.sx == 2 &&
              s.sy == 2 && state_cells(&s) == 27,
          "a good one");
    good = GASKET("24", "words", "3", "u4", "1", "10460353203", "00000000");
    in = input_make(good, strlen(good), NULL, 0);
    CHECK(state_describe(&in, &s) == 0 && s.elements == 10460353203ull && s.bytes == 41841412812ull,
          "%llu bytes", s.bytes);
    good = GASKET("40", "cells", "0", "u1", "1", "12157665459056928801", "00000000");
    in = input_make(good, strlen(good), NULL, 0);
    CHECK(state_describe(&in, &s) == 0 && s.bytes == 12157665459056928801ull, "%llu bytes",
          s.bytes);
    // what is no flat object
    refused_json("", "is no JSON object");
    refused_json("[]", "is no JSON object");
    refused_json("\xef\xbb\xbf{}", "is no JSON object");
    refused_json("{}", "has no format");
    refused_json("{", "line 1: no key between quotes");
    refused_json("{k: 1}", "line 1: no key between quotes");
    refused_json("{\"k", "line 1: no key between quotes");
    refused_json("{\"k\": 1,}", "line 1: no key between quotes");
    refused_json("{\"\\u006b\": 1}", "line 1: no key between quotes");
    refused_json("{\n\"K\": 1}", "line 2: not a key that is known");
    refused_json("{\"ks\": 1}", "line 1: not a key that is known");
    refused_json("{\"k\" 1}", "line 1: no colon behind k");
    refused_json("{\"k\": 1 \"sx\": 2}", "line 1: no comma and no end behind k");
    refused_json("{\"k\": 1, \"k\": 1}", "line 1: its k is there twice");
    refused_json("{\"k\": 1\n]", "line 2: no comma and no end behind k");
    refused_json("{\"type\": \"u1\"\n \"k\"}", "line 2: no comma and no end behind type");
    refused_json("{\"type\": \"u1\"", "line 1: no comma and no end behind type");
    refused_json("{\"k\": 1} {", "line 1: more behind its object");
    static const char *const numbers[] = {"",
                                          "-1",
                                          "1.0",
                                          "1e3",
                                          "01",
                                          "00",
                                          "+1",
                                          "0x1",
                                          "true",
                                          "null",
                                          "\"1\"",
                                          "{\"k\": 1}",
                                          "[1]",
                                          "NaN",
                                          "18446744073709551616",
                                          "99999999999999999999999999999"};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        snprintf(deep, sizeof deep, "{\"k\": %s, \"sx\": 2}", numbers[i]);
        refused_json(deep, "line 1: its k is no whole number below 2^64");
    }
    static const char *const texts[] = {"1",    "null",     "[\"u1\"]",    "{}", "\"u\\u0031\"",
                                        "\"u1", "\"u\n1\"", "\"\xc3\xa4\""};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; ++i) {
        snprintf(deep, sizeof deep, "{\"type\": %s", texts[i]);
        refused_json(deep, "line 1: its type is no text of ASCII letters without escapes");
    }
    refused_json("{\"type\": \"u10\"}", "line 1: its type has 3 letters, more than 2");
    memset(deep, '[', sizeof deep);
    memcpy(deep, "{\"step\": ", 9), deep[sizeof deep - 1] = 0;
    refused_json(deep, "line 1: its step is no whole number below 2^64");
    for (size_t i = 0; i + 6 < sizeof deep; i += 6)
        memcpy(deep + i, "{\"k\": ", 6), deep[i + 6] = 0;
    refused_json(deep, "line 1: its k is no whole number below 2^64");
    // what cannot be so
    refused_json("{\"format\": \"threadmap compact state 1\"}", "has no fractal");
    refused_json(GASKET("3", "tiles", "0", "u1", "1", "27", "00000000"),
                 "its layout is neither cells nor words");
    refused_json(GASKET("3", "cells", "0", "u3", "1", "27", "00000000"),
                 "its type is none of u1 u2 i1 i2 i4 f4 f8 u4 u8 i8");
    refused_json(GASKET("3", "cells", "0", " 1", "1", "27", "00000000"),
                 "its type is none of u1 u2 i1 i2 i4 f4 f8 u4 u8 i8");
    refused_json(GASKET("65", "cells", "0", "u1", "1", "27", "00000000"),
                 "its level is 65, not 0 to 64");
    refused_json(GASKET("41", "cells", "0", "u1", "1", "27", "00000000"),
                 "has more than 2^64 elements");
    refused_json(GASKET("40", "cells", "0", "f8", "1", "27", "00000000"),
                 "has more than 2^64 bytes");
    refused_json(GASKET("3", "cells", "0", "u1", "0", "27", "00000000"),
                 "an element has 0 values, not 1 to 16");
    refused_json(GASKET("3", "cells", "0", "u1", "17", "27", "00000000"),
                 "an element has 17 values, not 1 to 16");
    refused_json(GASKET("3", "cells", "1", "u1", "1", "27", "00000000"),
                 "cells have no word_level; it is 1, not 0");
    refused_json(GASKET("3", "words", "1", "u1", "1", "9", "00000000"),
                 "words are one value of u2, u4 or u8");
    refused_json(GASKET("3", "words", "1", "f4", "1", "9", "00000000"),
                 "words are one value of u2, u4 or u8");
    refused_json(GASKET("3", "words", "1", "u4", "2", "9", "00000000"),
                 "words are one value of u2, u4 or u8");
    refused_json(GASKET("2", "words", "3", "u4", "1", "1", "00000000"),
                 "its word_level is 3, but its level 2");
    refused_json(GASKET("3", "words", "3", "u2", "1", "1", "00000000"),
                 "its words have not the bits of 3 levels");
    refused_json(GASKET("64", "words", "64", "u8", "1", "1", "00000000"),
                 "its words have not the bits of 64 levels");
    refused_json(GASKET("3", "cells", "0", "u1", "1", "28", "00000000"),
                 "its elements are 28, but those of its level 27");
    refused_json("{\"format\": \"threadmap compact state 1\", \"fractal\": \"################\", "
                 "\"k\": 16, \"sx\": 16, \"sy\": 1, \"level\": 16, \"layout\": \"words\", "
                 "\"word_level\": 16, \"type\": \"u8\", \"values\": 1, \"elements\": 1, "
                 "\"step\": 0, \"crc32\": \"00000000\"}",
                 "its words have not the bits of 16 levels"); // 16^16 is 2^64
    static const char *const sums[] = {"", "0000000", "0000000g", "0000000A", "        "};
    for (unsigned i = 0; i < sizeof sums / sizeof *sums; ++i) {
        snprintf(deep, sizeof deep, "%s", GASKET("3", "cells", "0", "u1", "1", "27", "@"));
        snprintf(strchr(deep, '@'), 20, "%s\"}", sums[i]);
        refused_json(deep, "its crc32 is not 8 of 0-9 and a-f");
    }
    refused_json(
        "{\"format\": \"threadmap compact state 2\", \"fractal\": \"#\", \"k\": 1, \"sx\": 1, "
        "\"sy\": 1, \"level\": 2, \"layout\": \"cells\", \"word_level\": 0, \"type\": \"u1\", "
        "\"values\": 1, \"elements\": 1, \"step\": 0, \"crc32\": \"00000000\"}",
        "its format is not threadmap compact state 1");
    static const char *const rows[] = {"",
                                       "/",
                                       "#/",
                                       "#./#",
                                       "#/##",
                                       "#.//##",
                                       "/#",
                                       "#x",
                                       "#################",
                                       "#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#"};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; ++i)
        refused_rows(rows[i],
                     "its fractal is not 1 to 16 rows of 1 to 16 '#' and '.', parted by '/'");
    refused_rows("../..", "its fractal has 0 replicas, not 1 to 16");
    refused_rows("#####/#####/#####/#####", "its fractal has 20 replicas, not 1 to 16");
    refused_rows("##/##", "its k, sx, sy are 3, 2, 2, but those of its fractal 4, 2, 2");
    refused_rows("#.#/#..", "its k, sx, sy are 3, 2, 2, but those of its fractal 3, 3, 2");
    refused_rows("#/#/#", "its k, sx, sy are 3, 2, 2, but those of its fractal 3, 1, 3");
}

#endif
