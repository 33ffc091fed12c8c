// SPDX-License-Identifier: MIT
// nbb_texts.c: fractals from text, in two dimensions, in three and with turned copies: the
// catalogues against their text, own ones in every way to write them, each error with its code and
// nothing written; numbers that are no fractal; the lines of data in the maps' comments; the
// version.
#include "fractal/brute.h"

#include <threadmap/version.h>

#define R16 "################"
#define D16 "................"
#define C16 "#..............."
#define L16 "####/####/####/####//"

// ---- texts --------------------------------------------------------------------------------------

static int rows(const char *text, void *out) { return tmap_nbb_from_rows(text, (tmap_nbb *)out); }
static int name(const char *text, void *out) {
    return tmap_fractal_from_text(text, (tmap_nbb *)out);
}
static int layers(const char *text, void *out) {
    return tmap_nbb3_from_layers(text, (tmap_nbb3 *)out);
}
static int name3(const char *text, void *out) {
    return tmap_fractal3_from_text(text, (tmap_nbb3 *)out);
}
static int turned_layers(const char *text, void *out) {
    return tmap_turned_from_layers(text, (tmap_turned *)out);
}
static int turned_name(const char *text, void *out) {
    return tmap_turned_from_text(text, (tmap_turned *)out);
}

// The readers of each kind: of text alone, and of names as well.
static int (*const readers[BRUTE_KINDS][2])(const char *, void *) = {
    {rows, name}, {layers, name3}, {turned_layers, turned_name}};

// What a reader says of a text: `code`, with nothing written, or the fractal b.
static void check_reader(int kind, int named, const char *text, int code, const brute *b) {
    tmap_turned t;
    memset(&t, 0x5a, sizeof t);
    const tmap_nbb *f = (const tmap_nbb *)(const void *)&t;
    const int got = readers[kind][named](text, &t);
    kit_case("\"%s\", kind %d: %s", text ? text : "(null)", kind, tmap_strerror(got));
    expect(got == code, tmap_strerror(code));
    if (code)
        expect(kit_all(&t, sizeof t, 0x5a), "nothing is written");
    else
        expect(kind == BRUTE_PLAIN  ? tmap_nbb_equal(*f, brute_nbb(b))
               : kind == BRUTE_DEEP ? tmap_nbb3_equal(t.f, brute_turned(b).f)
                                    : tmap_turned_equal(t, brute_turned(b)),
               "the fractal");
}

// 1 for letters alone: to the readers of names a word, and a typing error if it is no name.
static int is_word(const char *text) {
    while (text && (*text | 32) >= 'a' && (*text | 32) <= 'z') ++text;
    return text && !*text;
}

static void check_text(int kind, const char *text, int code, const char *plain) {
    const brute b = brute_read(code ? "#" : plain, kind);
    for (int named = 0; named < 2; ++named)
        check_reader(kind, named, text,
                     named && code != TMAP_EEMPTY && is_word(text) ? TMAP_ECHARACTER : code, &b);
}

static void check_texts(void) {
    enum { ROWS = 1, LAYERS = 2, TURNED = 4, DEEP = LAYERS | TURNED, ALL = ROWS | DEEP };
    static const struct {
        int kinds;
        const char *text;
        int code;
        const char *plain; // the same text in its shortest form, if it is not text itself
    } cases[] = {
        {ALL, "#.\n##", TMAP_OK, "#./##"},
        {ALL, "#./##", TMAP_OK, 0},
        {ALL, "#.\n##\n", TMAP_OK, "#./##"}, // one separator at the end is allowed
        {ALL, "#./##/", TMAP_OK, "#./##"},
        {ALL, "#.\\n##\\n", TMAP_OK, "#./##"}, // as a shell passes it on
        {ALL, "#", TMAP_OK, 0},
        {ALL, "#\n", TMAP_OK, "#"},
        {ALL, "#.#\n.#.\n#.#", TMAP_OK, 0},
        {ROWS, R16, TMAP_OK, 0},
        {ROWS, "#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#", TMAP_OK, 0},
        {ROWS, "#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/", TMAP_OK, "#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#"},
        {ROWS, "#/./#/./#/./#/./#/./#/./#/./#/./", TMAP_OK, "#/./#/./#/./#/./#/./#/./#/./#/."},
        {ROWS, "####/####/####/####", TMAP_OK, 0}, // 16
        {ROWS, D16 "/" C16, TMAP_OK, 0},
        {DEEP, "##\n#.\n\n#.\n..", TMAP_OK, "##/#.//#./.."},
        {DEEP, "##\\n#.\\n\\n#.\\n..", TMAP_OK, "##/#.//#./.."},
        {DEEP, "##/#./\n#.\n..", TMAP_OK, "##/#.//#./.."},
        {DEEP, "##/#.//#./../", TMAP_OK, "##/#.//#./.."},  // what ends the last row
        {DEEP, "##/#.//#./..//", TMAP_OK, "##/#.//#./.."}, // and the last layer
        {DEEP, "#//", TMAP_OK, "#"},
        {DEEP, "#//#", TMAP_OK, 0},
        {DEEP, "#//#//#//#//", TMAP_OK, "#//#//#//#"},
        {DEEP, "####//####//####//####", TMAP_OK, 0},
        {DEEP, "#.../..../..../....//..../..../..../....//..../..../..../....//..../..../..../...#",
         TMAP_OK, 0},
        {DEEP, L16 L16, TMAP_OK, "####/####/####/####//####/####/####/####"}, // 32
        {TURNED, "A./AA", TMAP_OK, "#./##"},
        {TURNED, "A./AJ", TMAP_OK, 0},
        {TURNED, "v./aA//../..", TMAP_OK, 0},
        {TURNED, "AD/CB/##", TMAP_OK, 0},     // flips do not mind unequal sides
        {TURNED, "AI/##/##", TMAP_EINVAL, 0}, // an exchange does
        {TURNED, "II/##", TMAP_OK, 0},
        {TURNED, "YA/AA", TMAP_EINVAL, 0}, // x and z, 2 and 1
        {TURNED, "YA/AA//AA/AA", TMAP_OK, 0},
        {ALL, NULL, TMAP_EINVAL, 0},
        {ALL, "##\n#", TMAP_EUNEQUAL, 0},
        {ALL, "#\n##", TMAP_EUNEQUAL, 0},
        {ALL, "/##", TMAP_EUNEQUAL, 0},
        {ROWS, "##//##", TMAP_EUNEQUAL, 0},    // an empty row
        {ROWS, "##//", TMAP_EUNEQUAL, 0},      // two separators at the end
        {DEEP, "##/##//##", TMAP_EUNEQUAL, 0}, // layers of two rows and of one
        {DEEP, "##//##/##", TMAP_EUNEQUAL, 0},
        {DEEP, "##//#", TMAP_EUNEQUAL, 0},
        {DEEP, "##///##", TMAP_EUNEQUAL, 0}, // an empty layer
        {DEEP, "//##", TMAP_EUNEQUAL, 0},
        {DEEP, "##///", TMAP_EUNEQUAL, 0},
        {DEEP, "/", TMAP_EUNEQUAL, 0},
        {DEEP, L16 L16 "#", TMAP_EUNEQUAL, 0},
        {ALL, "# #", TMAP_ECHARACTER, 0},
        {ALL, "#x", TMAP_ECHARACTER, 0},
        {ALL, "##\\m", TMAP_ECHARACTER, 0},
        {ALL, "##\\", TMAP_ECHARACTER, 0},
        {ALL, "##\r\n##", TMAP_ECHARACTER, 0},
        {ROWS, "gaske", TMAP_ECHARACTER, 0},
        {ROWS, "gaskets", TMAP_ECHARACTER, 0},
        {ROWS, "Carpet", TMAP_ECHARACTER, 0},
        {LAYERS, "menge", TMAP_ECHARACTER, 0},
        {LAYERS, "mengers", TMAP_ECHARACTER, 0},
        {TURNED, "A./A-", TMAP_ECHARACTER, 0},
        {TURNED, "bed", TMAP_OK, 0}, // layers, but no name
        {TURNED, "face", TMAP_OK, 0},
        {TURNED, "cab", TMAP_OK, 0},
        {TURNED, "KOCH", TMAP_EINVAL, 0},
        {TURNED, "hilber", TMAP_ESIDE, 0},
        {TURNED, "A", TMAP_OK, 0},
        {TURNED, "cab/", TMAP_OK, "cab"}, // no word, for both
        {TURNED, "w", TMAP_ECHARACTER, 0},
        {TURNED, "Z[", TMAP_ECHARACTER, 0},
        {ALL, "", TMAP_EEMPTY, 0},
        {ALL, ".", TMAP_EEMPTY, 0},
        {ALL, "..\n..", TMAP_EEMPTY, 0},
        {ROWS, "/", TMAP_EEMPTY, 0},
        {DEEP, "..\n..\n\n..\n..", TMAP_EEMPTY, 0},
        {ROWS, "#####/#####/#####/##...", TMAP_EREPLICAS, 0}, // 17
        {ROWS, R16 "/" C16, TMAP_EREPLICAS, 0},
        {DEEP, L16 L16 "#.../..../..../....", TMAP_EREPLICAS, 0}, // 33
        {DEEP, L16 L16 L16 L16, TMAP_EREPLICAS, 0},
        {ROWS, R16 "#", TMAP_ESIDE, 0},
        {ROWS, "." D16, TMAP_ESIDE, 0},
        {ROWS, "#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#/#", TMAP_ESIDE, 0},
        {ROWS, "#/./#/./#/./#/./#/./#/./#/./#/././", TMAP_ESIDE, 0},
        {DEEP, "#####", TMAP_ESIDE, 0},
        {DEEP, "#/#/#/#/#", TMAP_ESIDE, 0},
        {DEEP, "#//#//#//#//#", TMAP_ESIDE, 0},
        {TURNED,
         "////////////////////////////////////////////////////////////////////////////////"
         "////////////////////////////////////////////////////////////////////////////////",
         TMAP_ESIDE, 0},
    };
    for (size_t i = 0; i < COUNT(cases); ++i)
        for (int kind = 0; kind < BRUTE_KINDS; ++kind)
            if (cases[i].kinds >> kind & 1)
                check_text(kind, cases[i].text, cases[i].code,
                           cases[i].plain ? cases[i].plain : cases[i].text);
    for (int kind = 0; kind < BRUTE_KINDS; ++kind) {
        tmap_u64 state = 11;
        for (int i = 0; i < 200; ++i) {
            const brute b = brute_random(&state, kind);
            check_text(kind, b.text, TMAP_OK, b.text);
        }
        for (int named = 0; named < 2; ++named) {
            RETURNS(readers[kind][named]("#", NULL), TMAP_EINVAL);
            RETURNS(readers[kind][named](NULL, NULL), TMAP_EINVAL);
        }
    }
}

// ---- catalogues ---------------------------------------------------------------------------------

// Number i of a catalogue by its text, if it has one, by its name and by the functions that count.
static void check_entry(int kind, int i, const char *label, const char *title) {
    const brute b = brute_at(kind, i);
    const int plain = kind == BRUTE_PLAIN, deep = kind == BRUTE_DEEP;
    if (kind != BRUTE_TURNED) check_text(kind, b.text, TMAP_OK, b.text);
    check_reader(kind, 1, label, TMAP_OK, &b);
    if (kind != BRUTE_TURNED) check_reader(kind, 0, label, TMAP_ECHARACTER, &b);
    expect(!strcmp(plain  ? tmap_fractal_name(i)
                   : deep ? tmap_fractal3_name(i)
                          : tmap_turned_name(i),
                   label),
           "its name");
    expect(!strcmp(plain  ? tmap_fractal_title(i)
                   : deep ? tmap_fractal3_title(i)
                          : tmap_turned_title(i),
                   title),
           "its title");
    if (plain) RETURNS(tmap_fractal_index(tmap_fractal_at(i)), i);
    if (deep) RETURNS(tmap_fractal3_index(tmap_fractal3_at(i)), i);
}

static void check_catalogues(void) {
    const tmap_xyz one = {1, 1, 1};
    int n[3] = {0, 0, 0};
#define ROWS_ENTRY(name, title, ...) \
    HOLDS(tmap_nbb_equal(tmap_fractal_at(n[0]), tmap_fractal_##name())); \
    check_entry(BRUTE_PLAIN, n[0]++, #name, title);
#define LAYERS_ENTRY(name, title, ...) \
    HOLDS(tmap_nbb3_equal(tmap_fractal3_at(n[1]), tmap_fractal3_##name())); \
    check_entry(BRUTE_DEEP, n[1]++, #name, title);
#define TURNED_ENTRY(name, title, ...) \
    HOLDS(tmap_turned_equal(tmap_turned_at(n[2]), tmap_turned_##name())); \
    check_entry(BRUTE_TURNED, n[2]++, #name, title);
    TMAP_FRACTALS(ROWS_ENTRY)
    TMAP_FRACTALS3(LAYERS_ENTRY)
    TMAP_TURNED(TURNED_ENTRY)
    for (int kind = 0; kind < BRUTE_KINDS; ++kind) RETURNS(n[kind], brute_catalogue(kind));
    for (int i = -1; i < 100; i += 100) { // any other number
        HOLDS(tmap_nbb_equal(tmap_fractal_at(i), tmap_fractal_gasket()));
        HOLDS(tmap_nbb3_equal(tmap_fractal3_at(i), tmap_fractal3_menger()));
        HOLDS(tmap_turned_equal(tmap_turned_at(i), tmap_turned_hilbert()));
        HOLDS(!strcmp(tmap_fractal_name(i), "own") && !strcmp(tmap_fractal3_name(i), "own"));
        HOLDS(!strcmp(tmap_turned_name(i), "own"));
        HOLDS(!strcmp(tmap_fractal_title(i), "own fractal"));
        HOLDS(!strcmp(tmap_fractal3_title(i), "own fractal"));
        HOLDS(!strcmp(tmap_turned_title(i), "own fractal"));
    }
    RETURNS(tmap_fractal_index(tmap_nbb_make(1, 1, 1, 0, 0)), -1);
    RETURNS(tmap_fractal3_index(tmap_nbb3_make(1, one, 0, 0, 0)), -1);
}

// What each fractal in three dimensions is, said of the boxes (x, y, z) with m of them in the
// middle.
static void check_definitions(void) {
    for (tmap_u32 i = 0; i < 27; ++i) {
        const tmap_u32 x = i % 3, y = i / 3 % 3, z = i / 9;
        const tmap_xyz box = {x, y, z};
        const int m = (x == 1) + (y == 1) + (z == 1);
        kit_case("box (%u,%u,%u)", x, y, z);
#define IN(name) tmap_nbb3_contains(tmap_fractal3_##name(), box, 1)
        HOLDS(IN(menger) == (m < 2));
        HOLDS(IN(dust) == (m == 0));
        HOLDS(IN(vicsek3) == (m >= 2));
        HOLDS(IN(octahedron) == (m == 2));
        HOLDS(IN(mosely) == (m == 1 || m == 2));
        HOLDS(IN(mosely_heavy) == (m > 0));
        HOLDS(IN(tetrahedron) == (x + y + z < 2));
    }
}

// ---- numbers ------------------------------------------------------------------------------------

// What the checks say of numbers that need not be a fractal.
static void check_numbers(void) {
    static const tmap_u64 sixteen = 0xfedcba9876543210ull, row = 0xe4e4e4e4e4e4e4e4ull;
    static const tmap_u64 column = 0xffaa5500ffaa5500ull, layer = 0x5555555500000000ull;
    const struct {
        int kind;
        tmap_u32 k, sx, sy, sz;
        tmap_u64 tau_x, tau_y, tau_z, b, c; // b, c: of the elements
        int want;
    } cases[] = {
        {0, 3, 2, 2, 1, 0x100, 0x110, 0, 0, 0, TMAP_OK},
        {0, 3, 2, 2, 1, 0x90100, 0x90110, 0, 0, 0, TMAP_OK}, // digits past the last replica
        {0, 16, 16, 1, 1, sixteen, 0, 0, 0, 0, TMAP_OK},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, TMAP_EREPLICAS},
        {0, 17, 16, 16, 1, 0, 0, 0, 0, 0, TMAP_EREPLICAS},
        {0, ~0u, 2, 2, 1, 0, 0, 0, 0, 0, TMAP_EREPLICAS},
        {0, 3, 0, 2, 1, 0x100, 0x110, 0, 0, 0, TMAP_ESIDE},
        {0, 3, 2, 0, 1, 0x100, 0x110, 0, 0, 0, TMAP_ESIDE},
        {0, 3, 17, 2, 1, 0x100, 0x110, 0, 0, 0, TMAP_ESIDE},
        {0, 3, 2, 17, 1, 0x100, 0x110, 0, 0, 0, TMAP_ESIDE},
        {0, 3, 2, 2, 1, 0x300, 0x110, 0, 0, 0, TMAP_EOUTSIDE},
        {0, 3, 2, 2, 1, 0x100, 0x310, 0, 0, 0, TMAP_EOUTSIDE},
        {0, 3, 2, 2, 1, 0x110, 0x110, 0, 0, 0, TMAP_ETWICE},
        {0, 16, 16, 1, 1, sixteen & ~0ull >> 4, 0, 0, 0, 0, TMAP_ETWICE},
        {1, 4, 2, 2, 2, 0x04, 0x10, 0x40, 0, 0, TMAP_OK},
        {1, 4, 2, 2, 2, 0xf04, 0xf10, 0xf40, 0, 0, TMAP_OK}, // digits past the last replica
        {1, 32, 4, 4, 2, row, column, layer, 0, 0, TMAP_OK},
        {1, 32, 4, 4, 4, row, column, layer, 0, 0, TMAP_OK},
        {1, 32, 4, 4, 1, row, column, layer, 0, 0, TMAP_EOUTSIDE},
        {1, 32, 4, 4, 2, row & ~0ull >> 2, column, layer, 0, 0, TMAP_ETWICE},
        {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, TMAP_EREPLICAS},
        {1, 33, 4, 4, 4, row, column, layer, 0, 0, TMAP_EREPLICAS},
        {1, ~0u, 2, 2, 2, 0, 0, 0, 0, 0, TMAP_EREPLICAS},
        {1, 4, 0, 2, 2, 0x04, 0x10, 0x40, 0, 0, TMAP_ESIDE},
        {1, 4, 2, 0, 2, 0x04, 0x10, 0x40, 0, 0, TMAP_ESIDE},
        {1, 4, 2, 2, 0, 0x04, 0x10, 0x40, 0, 0, TMAP_ESIDE},
        {1, 4, 5, 2, 2, 0x04, 0x10, 0x40, 0, 0, TMAP_ESIDE},
        {1, 4, 2, 5, 2, 0x04, 0x10, 0x40, 0, 0, TMAP_ESIDE},
        {1, 4, 2, 2, ~0u, 0x04, 0x10, 0x40, 0, 0, TMAP_ESIDE},
        {1, 4, 1, 2, 2, 0x04, 0x10, 0x40, 0, 0, TMAP_EOUTSIDE},
        {1, 4, 2, 1, 2, 0x04, 0x10, 0x40, 0, 0, TMAP_EOUTSIDE},
        {1, 4, 2, 2, 1, 0x04, 0x10, 0x40, 0, 0, TMAP_EOUTSIDE},
        {1, 4, 2, 2, 2, 0x04, 0x10, 0x00, 0, 0, TMAP_ETWICE},
        {2, 3, 2, 2, 2, 0x10, 0x14, 0, 0, 0x3, TMAP_EINVAL}, // element 48
        {2, 3, 2, 2, 2, 0x10, 0x14, 0, 0, 0xc0, TMAP_OK},    // past the last replica
        {2, 3, 5, 2, 2, 0x10, 0x14, 0, 0, 0xc0, TMAP_ESIDE},
        {2, 2, 2, 3, 1, 0x4, 0, 0, 8, 0, TMAP_EINVAL}, // an exchange of 2 and 3
    };
    for (size_t i = 0; i < COUNT(cases); ++i) {
        const tmap_xyz sides = {cases[i].sx, cases[i].sy, cases[i].sz};
        const tmap_nbb f =
            tmap_nbb_make(cases[i].k, sides.x, sides.y, cases[i].tau_x, cases[i].tau_y);
        const tmap_nbb3 g =
            tmap_nbb3_make(cases[i].k, sides, cases[i].tau_x, cases[i].tau_y, cases[i].tau_z);
        kit_case("numbers %zu", i);
        RETURNS(cases[i].kind == 0 ? tmap_nbb_check(f)
                : cases[i].kind == 1
                    ? tmap_nbb3_check(g)
                    : tmap_turned_check(tmap_turned_make(g, 0, cases[i].b, cases[i].c)),
                cases[i].want);
    }
    const tmap_xyz cube = {4, 4, 4};
    const tmap_turned t = tmap_turned_make(tmap_nbb3_make(2, cube, 0x4, 0, 0), 0, 0, 0);
    HOLDS(tmap_turned_equal(tmap_turned_set(t, 32, 5), t));
    HOLDS(!tmap_turned_equal(tmap_turned_set(t, 31, 5), t));
}

// ---- examples -----------------------------------------------------------------------------------

// Each map's line of data in its comment, and the numbers of table 1 written out by hand.
static void check_examples(void) {
    static const tmap_u32 boxes[][8][3] = {
        {{0, 0}, {0, 1}, {1, 1}},
        {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}},
        {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 2}},
        {{1, 0}, {0, 1}, {1, 1}, {2, 1}}};
    static const tmap_u32 linear[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}};
    static const tmap_u32 sponge[][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}};
    const tmap_nbb g = tmap_fractal_gasket(), c = tmap_fractal_carpet();
    const tmap_nbb by_hand[] = {g, c, tmap_fractal_vicsek(), tmap_fractal_chandelier()};
    const tmap_nbb3 m = tmap_fractal3_menger(), t = tmap_fractal3_tetrahedron();
    const tmap_xyz last = {2, 2, 2}, hole = {1, 1, 1}, four = {2, 0, 0};
    const tmap_xyz in = {0, 1, 2}, out = {1, 1, 0}, past = {4, 0, 0};
    const tmap_xyz64 box = tmap_nbb3_orthotope(t, 4);
    for (int i = 0; i < 4; ++i)
        for (tmap_u32 beta = 0; beta < by_hand[i].k; ++beta) {
            const tmap_xy tau = tmap_nbb_tau(by_hand[i], beta);
            EXPECT(tau.x == boxes[i][beta][0] && tau.y == boxes[i][beta][1], "%d: %u", i, beta);
        }
    kit_case("%s", "of the comments");
    HOLDS(tmap_nbb_replica(g, 1, 0) == 3); // an empty box gives k
    HOLDS(tmap_nbb_nu(c, 2, 1, 1).x == 4);
    HOLDS(tmap_nbb_nu_linear(g, 1, 3, 2) == 5);
    HOLDS(tmap_nbb_contains(g, 1, 1, 2) == 1);
    HOLDS(tmap_nbb_contains(g, 1, 2, 2) == 0);
    HOLDS(tmap_nbb_contains(g, 4, 0, 2) == 0);
    for (tmap_u32 i = 0; i < 5; ++i) {
        const tmap_xyz w = {i, 0, 0}, p = tmap_nbb3_lambda_linear(t, i, 2), q = tmap_nbb3_tau(m, i);
        const tmap_xyz d = tmap_nbb3_lambda(m, w, 1);
        EXPECT(p.x == linear[i][0] && p.y == linear[i][1] && p.z == linear[i][2], "%u", i);
        EXPECT(q.x == sponge[i][0] && q.y == sponge[i][1] && q.z == sponge[i][2], "%u", i);
        EXPECT(d.x == q.x && d.y == q.y && d.z == q.z, "%u", i);
    }
    HOLDS(tmap_nbb3_replica(m, last) == 19 && tmap_nbb3_replica(m, hole) == 20);
    HOLDS(tmap_nbb3_nu(m, last, 1).x == 19);
    HOLDS(tmap_nbb3_nu_linear(t, four, 2) == 4);
    HOLDS(tmap_nbb3_contains(t, in, 2) == 1);
    HOLDS(tmap_nbb3_contains(t, out, 2) == 0);
    HOLDS(tmap_nbb3_contains(t, past, 2) == 0);
    HOLDS(tmap_nbb3_side_x(m, 3) == 27 && tmap_nbb3_cells(m, 7) == 1280000000);
    HOLDS(box.x == 16 && box.y == 4 && box.z == 4);
    HOLDS(tmap_nbb3_level_max32(t) == 32 && tmap_nbb3_level_max64(t) == 64);
    HOLDS(tmap_nbb3_level_max32(m) == 20 && tmap_nbb3_level_max64(m) == 40);
    HOLDS(tmap_nbb3_linear_level_max32(t) == 16 && tmap_nbb3_linear_level_max64(t) == 32);
    HOLDS(tmap_nbb3_linear_level_max32(m) == 7 && tmap_nbb3_linear_level_max64(m) == 14);
    HOLDS(tmap_nbb3_tile_level(t, 9, 8) == 3 && tmap_nbb3_tile_level(m, 9, 8) == 1);
    HOLDS(tmap_nbb3_block_level(t, 9, 8) == 6);
}

// ---- version and errors -------------------------------------------------------------------------

static void check_version(void) {
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", TMAP_VERSION_MAJOR, TMAP_VERSION_MINOR,
             TMAP_VERSION_PATCH);
    HOLDS(!strcmp(text, TMAP_VERSION_STRING));
    HOLDS(TMAP_VERSION ==
          TMAP_VERSION_MAJOR * 1000000 + TMAP_VERSION_MINOR * 1000 + TMAP_VERSION_PATCH);
}

// Every code has a text of its own.
static void check_strerror(void) {
    for (int a = 0; a >= TMAP_ETWICE; --a)
        for (int b = a + 1; b <= 1; ++b)
            EXPECT(strcmp(tmap_strerror(a), tmap_strerror(b)) != 0, "codes %d and %d", a, b);
    HOLDS(tmap_strerror(-1000000) != NULL);
}

int main(void) {
    check_texts();
    check_catalogues();
    check_definitions();
    check_numbers();
    check_examples();
    check_strerror();
    check_version();
    return kit_end("nbb_texts");
}
