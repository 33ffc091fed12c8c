// SPDX-License-Identifier: MIT
// nbb_rows.c: fractals from text: the catalogue against its rows, own rows in every way to write
// them, each error with its code and nothing written; the version.
#include "kit.h"

#include <string.h>

#include <threadmap/fractal/catalogue.h>
#include <threadmap/version.h>

#define R16 "################"
#define D16 "................"
#define C16 "#..............."

// What an output is filled with, to see that an error leaves it alone.
static tmap_nbb poison(void) {
    return tmap_nbb_make(0xdeadbeefu, 0xdeadbeefu, 0xdeadbeefu, 0xdeadbeefdeadbeefull,
                         0xdeadbeefdeadbeefull);
}

static void check_code(int (*read)(const char *, tmap_nbb *), const char *text, int want) {
    tmap_nbb f = poison();
    int code = read(text, &f);
    EXPECT(code == want, "\"%s\": %s, not %s", text ? text : "(null)", tmap_strerror(code),
           tmap_strerror(want));
    EXPECT(tmap_nbb_equal(f, poison()) == (want != TMAP_OK), "\"%s\"", text ? text : "(null)");
}

static void check_same(const char *text, tmap_nbb want) {
    tmap_nbb f = poison(), g = poison();
    EXPECT(tmap_nbb_from_rows(text, &f) == TMAP_OK && tmap_nbb_equal(f, want), "\"%s\"", text);
    EXPECT(tmap_fractal_from_text(text, &g) == TMAP_OK && tmap_nbb_equal(g, want), "\"%s\"", text);
}

// The constants of the catalogue are what its rows say, by from_rows and by reading them here.
static void check_catalogue(void) {
    int i = 0;
#define FRACTAL_CHECK(name, title, rows, k, sx, sy, tau_x, tau_y) \
    check_same(rows, tmap_fractal_##name()); \
    EXPECT(tmap_nbb_equal(tmap_fractal_at(i), tmap_fractal_##name()), "%d", i); \
    EXPECT(strcmp(tmap_fractal_name(i), #name) == 0, "%d", i); \
    EXPECT(strcmp(tmap_fractal_title(i), title) == 0, "%d", i); \
    EXPECT(tmap_fractal_index(tmap_fractal_##name()) == i, "%d", i); \
    ++i;
    TMAP_FRACTALS(FRACTAL_CHECK)
    EXPECT(i == TMAP_FRACTAL_COUNT, "%d", i);

    for (i = 0; i < TMAP_FRACTAL_COUNT; ++i) {
        tmap_nbb f = poison();
        EXPECT(tmap_fractal_from_text(tmap_fractal_name(i), &f) == TMAP_OK, "%d", i);
        EXPECT(tmap_nbb_equal(f, tmap_fractal_at(i)), "%s", tmap_fractal_name(i));
    }
    for (i = -1; i <= TMAP_FRACTAL_COUNT; i += TMAP_FRACTAL_COUNT + 1) {
        EXPECT(tmap_nbb_equal(tmap_fractal_at(i), tmap_fractal_gasket()), "%d", i);
        EXPECT(strcmp(tmap_fractal_name(i), "own") == 0, "%d", i);
        EXPECT(strcmp(tmap_fractal_title(i), "own fractal") == 0, "%d", i);
    }
    expect(tmap_fractal_index(tmap_nbb_make(1, 1, 1, 0, 0)) == -1, "own");
}

static void check_boxes(tmap_nbb f, const tmap_u32 (*boxes)[2]) {
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        tmap_xy t = tmap_nbb_tau(f, beta);
        EXPECT(t.x == boxes[beta][0] && t.y == boxes[beta][1], "replica %u", beta);
    }
}

// Each map's line of data in its comment, and the numbers of table 1 written out by hand.
static void check_examples(void) {
    static const tmap_u32 gasket[][2] = {{0, 0}, {0, 1}, {1, 1}};
    static const tmap_u32 carpet[][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1},
                                         {2, 1}, {0, 2}, {1, 2}, {2, 2}};
    static const tmap_u32 vicsek[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 2}};
    static const tmap_u32 chandelier[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}};
    check_boxes(tmap_fractal_gasket(), gasket);
    check_boxes(tmap_fractal_carpet(), carpet);
    check_boxes(tmap_fractal_vicsek(), vicsek);
    check_boxes(tmap_fractal_chandelier(), chandelier);
    expect(tmap_nbb_replica(tmap_fractal_gasket(), 1, 0) == 3, "an empty box gives k");
    expect(tmap_nbb_nu(tmap_fractal_carpet(), 2, 1, 1).x == 4, "carpet, (2,1) -> (4,0)");
    expect(tmap_nbb_nu_linear(tmap_fractal_gasket(), 1, 3, 2) == 5, "gasket, (1,3) -> 5");
    expect(tmap_nbb_contains(tmap_fractal_gasket(), 1, 1, 2) == 1, "(1,1) -> 1");
    expect(tmap_nbb_contains(tmap_fractal_gasket(), 1, 2, 2) == 0, "(1,2) -> 0");
    expect(tmap_nbb_contains(tmap_fractal_gasket(), 4, 0, 2) == 0, "(4,0) -> 0");
}

static void check_separators(void) {
    tmap_nbb gasket = tmap_fractal_gasket(), point = tmap_nbb_make(1, 1, 1, 0, 0);
    check_same("#.\n##", gasket);
    check_same("#./##", gasket);
    check_same("#.\\n##", gasket);  // as a shell passes it on
    check_same("#.\n##\n", gasket); // one separator at the end is allowed
    check_same("#./##/", gasket);
    check_same("#.\\n##\\n", gasket);
    check_same("#", point);
    check_same("#\n", point);
    check_same("#.#\n.#.\n#.#", tmap_fractal_x());
    check_same(R16, tmap_nbb_make(16, 16, 1, 0xfedcba9876543210ull, 0));
    check_same("#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#",
               tmap_nbb_make(16, 1, 16, 0, 0xfedcba9876543210ull));
    check_same("#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/",
               tmap_nbb_make(16, 1, 16, 0, 0xfedcba9876543210ull));
}

static void check_errors(int (*read)(const char *, tmap_nbb *)) {
    tmap_nbb f;
    check_code(read, NULL, TMAP_EINVAL);
    expect(read("#", NULL) == TMAP_EINVAL, "no output");
    expect(read(NULL, NULL) == TMAP_EINVAL, "nothing");
    (void)f;
    check_code(read, "##\n#", TMAP_EUNEQUAL);
    check_code(read, "#\n##", TMAP_EUNEQUAL);
    check_code(read, "##//##", TMAP_EUNEQUAL); // an empty row
    check_code(read, "/##", TMAP_EUNEQUAL);
    check_code(read, "##//", TMAP_EUNEQUAL); // two separators at the end
    check_code(read, "# #", TMAP_ECHARACTER);
    check_code(read, "#x", TMAP_ECHARACTER);
    check_code(read, "##\\m", TMAP_ECHARACTER);
    check_code(read, "##\\", TMAP_ECHARACTER);
    check_code(read, "##\r\n##", TMAP_ECHARACTER);
    check_code(read, "", TMAP_EEMPTY);
    check_code(read, ".", TMAP_EEMPTY);
    check_code(read, "..\n..", TMAP_EEMPTY);
    check_code(read, "/", TMAP_EEMPTY);
    check_code(read, "#####/#####/#####/##...", TMAP_EREPLICAS); // 17
    check_code(read, "####/####/####/####", TMAP_OK);            // 16
    check_code(read, R16 "/" C16, TMAP_EREPLICAS);
    check_code(read, R16 "#", TMAP_ESIDE);
    check_code(read, "." D16, TMAP_ESIDE);
    check_code(read, D16 "/" C16, TMAP_OK);
    check_code(read, "#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#", TMAP_ESIDE);
    check_code(read, "#/./#/./#/./#/./#/./#/./#/./#/./", TMAP_OK);
    check_code(read, "#/./#/./#/./#/./#/./#/./#/./#/././", TMAP_ESIDE);
}

// What tmap_nbb_check says of numbers that need not be a fractal.
static void check_numbers(void) {
    const struct {
        tmap_nbb f;
        int want;
    } cases[] = {
        {tmap_nbb_make(3, 2, 2, 0x100, 0x110), TMAP_OK},
        {tmap_nbb_make(3, 2, 2, 0x90100, 0x90110), TMAP_OK}, // digits past the last replica
        {tmap_nbb_make(16, 16, 1, 0xfedcba9876543210ull, 0), TMAP_OK},
        {tmap_nbb_make(0, 0, 0, 0, 0), TMAP_EREPLICAS},
        {tmap_nbb_make(17, 16, 16, 0, 0), TMAP_EREPLICAS},
        {tmap_nbb_make(~0u, 2, 2, 0, 0), TMAP_EREPLICAS},
        {tmap_nbb_make(3, 0, 2, 0x100, 0x110), TMAP_ESIDE},
        {tmap_nbb_make(3, 2, 0, 0x100, 0x110), TMAP_ESIDE},
        {tmap_nbb_make(3, 17, 2, 0x100, 0x110), TMAP_ESIDE},
        {tmap_nbb_make(3, 2, 17, 0x100, 0x110), TMAP_ESIDE},
        {tmap_nbb_make(3, 2, 2, 0x300, 0x110), TMAP_EOUTSIDE},
        {tmap_nbb_make(3, 2, 2, 0x100, 0x310), TMAP_EOUTSIDE},
        {tmap_nbb_make(3, 2, 2, 0x110, 0x110), TMAP_ETWICE},
        {tmap_nbb_make(16, 16, 1, 0x0edcba9876543210ull, 0), TMAP_ETWICE},
    };
    for (unsigned i = 0; i < COUNT(cases); ++i)
        EXPECT(tmap_nbb_check(cases[i].f) == cases[i].want, "case %u: %s", i,
               tmap_strerror(tmap_nbb_check(cases[i].f)));
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i)
        EXPECT(tmap_nbb_check(tmap_fractal_at(i)) == TMAP_OK, "%s", tmap_fractal_name(i));
}

static void check_version(void) {
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", TMAP_VERSION_MAJOR, TMAP_VERSION_MINOR,
             TMAP_VERSION_PATCH);
    EXPECT(strcmp(text, TMAP_VERSION_STRING) == 0, "%s", TMAP_VERSION_STRING);
    EXPECT(TMAP_VERSION ==
               TMAP_VERSION_MAJOR * 1000000 + TMAP_VERSION_MINOR * 1000 + TMAP_VERSION_PATCH,
           "%d", TMAP_VERSION);
}

static void check_strerror(void) {
    for (int a = 0; a >= TMAP_ETWICE; --a) {
        EXPECT(strcmp(tmap_strerror(a), tmap_strerror(1)) != 0, "code %d has no text", a);
        for (int b = a + 1; b <= 0; ++b)
            EXPECT(strcmp(tmap_strerror(a), tmap_strerror(b)) != 0, "codes %d and %d", a, b);
    }
    expect(tmap_strerror(-1000000) != NULL, "total");
}

int main(void) {
    check_catalogue();
    check_examples();
    check_separators();
    check_errors(tmap_nbb_from_rows);
    check_errors(tmap_fractal_from_text);
    check_code(tmap_fractal_from_text, "gaske", TMAP_ECHARACTER);
    check_code(tmap_fractal_from_text, "gaskets", TMAP_ECHARACTER);
    check_code(tmap_fractal_from_text, "Carpet", TMAP_ECHARACTER);
    check_code(tmap_nbb_from_rows, "carpet", TMAP_ECHARACTER);
    check_numbers();
    check_strerror();
    check_version();
    return kit_end("nbb_rows");
}
