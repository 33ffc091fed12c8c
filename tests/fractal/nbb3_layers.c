// SPDX-License-Identifier: MIT
// nbb3_layers.c: fractals in three dimensions from text: the catalogue against its layers, own layers
// in every way to write them, each error with its code and nothing written; numbers that are no
// fractal; and the lines of data in the maps' comments.
#include "kit.h"

#include <threadmap/fractal/catalogue3.h>

static tmap_nbb3 make(tmap_u32 k, tmap_u32 sx, tmap_u32 sy, tmap_u32 sz, tmap_u64 tau_x,
                      tmap_u64 tau_y, tmap_u64 tau_z) {
    const tmap_xyz sides = {sx, sy, sz};
    return tmap_nbb3_make(k, sides, tau_x, tau_y, tau_z);
}

// What an output is filled with, to see that an error leaves it alone.
static tmap_nbb3 poison(void) {
    return make(0xdeadbeefu, 0xdeadbeefu, 0xdeadbeefu, 0xdeadbeefu, 0xdeadbeefdeadbeefull,
                0xdeadbeefdeadbeefull, 0xdeadbeefdeadbeefull);
}

static void check_code(int (*read)(const char *, tmap_nbb3 *), const char *text, int want) {
    tmap_nbb3 f = poison();
    const int code = read(text, &f);
    EXPECT(code == want, "\"%s\": %s, not %s", text ? text : "(null)", tmap_strerror(code),
           tmap_strerror(want));
    EXPECT(tmap_nbb3_equal(f, poison()) == (want != TMAP_OK), "\"%s\"", text ? text : "(null)");
}

static void check_same(const char *text, tmap_nbb3 want) {
    tmap_nbb3 f = poison(), g = poison();
    EXPECT(tmap_nbb3_from_layers(text, &f) == TMAP_OK && tmap_nbb3_equal(f, want), "\"%s\"", text);
    EXPECT(tmap_fractal3_from_text(text, &g) == TMAP_OK && tmap_nbb3_equal(g, want), "\"%s\"",
           text);
}

// The constants of the catalogue are what its layers say.
static void check_catalogue(void) {
    int i = 0;
#define FRACTAL_CHECK(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    check_same(layers, tmap_fractal3_##name()); \
    EXPECT(tmap_nbb3_equal(tmap_fractal3_at(i), tmap_fractal3_##name()), "%d", i); \
    EXPECT(strcmp(tmap_fractal3_name(i), #name) == 0, "%d", i); \
    EXPECT(strcmp(tmap_fractal3_title(i), title) == 0, "%d", i); \
    EXPECT(tmap_fractal3_index(tmap_fractal3_##name()) == i, "%d", i); \
    EXPECT(tmap_nbb3_check(tmap_fractal3_at(i)) == TMAP_OK, "%d", i); \
    ++i;
    TMAP_FRACTALS3(FRACTAL_CHECK)
    EXPECT(i == TMAP_FRACTAL3_COUNT, "%d", i);

    for (i = 0; i < TMAP_FRACTAL3_COUNT; ++i) {
        tmap_nbb3 f = poison();
        EXPECT(tmap_fractal3_from_text(tmap_fractal3_name(i), &f) == TMAP_OK, "%d", i);
        EXPECT(tmap_nbb3_equal(f, tmap_fractal3_at(i)), "%s", tmap_fractal3_name(i));
    }
    for (i = -1; i <= TMAP_FRACTAL3_COUNT; i += TMAP_FRACTAL3_COUNT + 1) {
        EXPECT(tmap_nbb3_equal(tmap_fractal3_at(i), tmap_fractal3_menger()), "%d", i);
        EXPECT(strcmp(tmap_fractal3_name(i), "own") == 0, "%d", i);
        EXPECT(strcmp(tmap_fractal3_title(i), "own fractal") == 0, "%d", i);
    }
    expect(tmap_fractal3_index(make(1, 1, 1, 1, 0, 0, 0)) == -1, "own");
}

// What each fractal of the catalogue is, said of the boxes (x, y, z) with m of them in the middle.
static void check_definitions(void) {
    for (tmap_u32 z = 0; z < 3; ++z)
        for (tmap_u32 y = 0; y < 3; ++y)
            for (tmap_u32 x = 0; x < 3; ++x) {
                const tmap_xyz box = {x, y, z};
                const int m = (x == 1) + (y == 1) + (z == 1);
#define IN(name) tmap_nbb3_contains(tmap_fractal3_##name(), box, 1)
                EXPECT(IN(menger) == (m < 2), "(%u,%u,%u)", x, y, z);
                EXPECT(IN(dust) == (m == 0), "(%u,%u,%u)", x, y, z);
                EXPECT(IN(vicsek3) == (m >= 2), "(%u,%u,%u)", x, y, z);
                EXPECT(IN(vicsek3) != IN(menger), "(%u,%u,%u)", x, y, z);
                EXPECT(IN(octahedron) == (m == 2), "(%u,%u,%u)", x, y, z);
                EXPECT(IN(mosely) == (m == 1 || m == 2), "(%u,%u,%u)", x, y, z);
                EXPECT(IN(mosely_heavy) == (m > 0), "(%u,%u,%u)", x, y, z);
                EXPECT(IN(tetrahedron) == (x + y + z < 2), "(%u,%u,%u)", x, y, z);
#undef IN
            }
}

// Each map's line of data in its comment.
static void check_examples(void) {
    static const tmap_u32 linear[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}};
    static const tmap_u32 sponge[][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}};
    const tmap_nbb3 m = tmap_fractal3_menger(), t = tmap_fractal3_tetrahedron();
    const tmap_xyz last = {2, 2, 2}, hole = {1, 1, 1}, four = {2, 0, 0};
    const tmap_xyz in = {0, 1, 2}, out = {1, 1, 0}, past = {4, 0, 0};
    const tmap_xyz64 box = tmap_nbb3_orthotope(t, 4);
    for (tmap_u32 i = 0; i < COUNT(linear); ++i) {
        const tmap_xyz c = tmap_nbb3_lambda_linear(t, i, 2);
        EXPECT(c.x == linear[i][0] && c.y == linear[i][1] && c.z == linear[i][2], "%u", i);
    }
    for (tmap_u32 i = 0; i < COUNT(sponge); ++i) {
        const tmap_xyz c = tmap_nbb3_tau(m, i), w = {i, 0, 0}, d = tmap_nbb3_lambda(m, w, 1);
        EXPECT(c.x == sponge[i][0] && c.y == sponge[i][1] && c.z == sponge[i][2], "%u", i);
        EXPECT(d.x == c.x && d.y == c.y && d.z == c.z, "%u", i);
    }
    expect(tmap_nbb3_replica(m, last) == 19 && tmap_nbb3_replica(m, hole) == 20, "H^-1");
    expect(tmap_nbb3_nu(m, last, 1).x == 19, "Menger sponge, (2,2,2) -> (19,0,0)");
    expect(tmap_nbb3_nu_linear(t, four, 2) == 4, "tetrahedron, (2,0,0) -> 4");
    expect(tmap_nbb3_contains(t, in, 2) == 1, "(0,1,2) -> 1");
    expect(tmap_nbb3_contains(t, out, 2) == 0, "(1,1,0) -> 0");
    expect(tmap_nbb3_contains(t, past, 2) == 0, "(4,0,0) -> 0");
    expect(tmap_nbb3_side_x(m, 3) == 27 && tmap_nbb3_cells(m, 7) == 1280000000, "sizes");
    expect(box.x == 16 && box.y == 4 && box.z == 4, "16 x 4 x 4");
    expect(tmap_nbb3_level_max32(t) == 32 && tmap_nbb3_level_max64(t) == 64, "tetrahedron");
    expect(tmap_nbb3_level_max32(m) == 20 && tmap_nbb3_level_max64(m) == 40, "Menger sponge");
    expect(tmap_nbb3_linear_level_max32(t) == 16 && tmap_nbb3_linear_level_max64(t) == 32, "t");
    expect(tmap_nbb3_linear_level_max32(m) == 7 && tmap_nbb3_linear_level_max64(m) == 14, "m");
    expect(tmap_nbb3_tile_level(t, 9, 8) == 3 && tmap_nbb3_tile_level(m, 9, 8) == 1, "tiles");
    expect(tmap_nbb3_block_level(t, 9, 8) == 6, "block space");
}

static void check_separators(void) {
    const tmap_nbb3 t = tmap_fractal3_tetrahedron(), point = make(1, 1, 1, 1, 0, 0, 0);
    check_same("##\n#.\n\n#.\n..", t);
    check_same("##/#.//#./..", t);
    check_same("##\\n#.\\n\\n#.\\n..", t); // as a shell passes it on
    check_same("##/#./\n#.\n..", t);
    check_same("##/#.//#./../", t);  // what ends the last row
    check_same("##/#.//#./..//", t); // and the last layer
    check_same("#", point);
    check_same("#\n", point);
    check_same("#//", point);
    check_same("#//#", make(2, 1, 1, 2, 0, 0, 4));
    check_same("#/#", make(2, 1, 2, 1, 0, 4, 0));
    check_same("####//####//####//####", make(16, 4, 1, 4, 0xe4e4e4e4, 0, 0xffaa5500));
    check_same("#.../..../..../....//..../..../..../....//..../..../..../....//..../..../..../...#",
               make(2, 4, 4, 4, 12, 12, 12));
}

#define L16 "####/####/####/####//"
static void check_errors(int (*read)(const char *, tmap_nbb3 *)) {
    check_code(read, NULL, TMAP_EINVAL);
    expect(read("#", NULL) == TMAP_EINVAL, "no output");
    expect(read(NULL, NULL) == TMAP_EINVAL, "nothing");
    check_code(read, "##\n#", TMAP_EUNEQUAL);
    check_code(read, "#\n##", TMAP_EUNEQUAL);
    check_code(read, "##/##//##", TMAP_EUNEQUAL); // layers of two rows and of one
    check_code(read, "##//##/##", TMAP_EUNEQUAL);
    check_code(read, "##//#", TMAP_EUNEQUAL);
    check_code(read, "##///##", TMAP_EUNEQUAL); // an empty layer
    check_code(read, "/##", TMAP_EUNEQUAL);
    check_code(read, "//##", TMAP_EUNEQUAL);
    check_code(read, "##///", TMAP_EUNEQUAL);
    check_code(read, "/", TMAP_EUNEQUAL);
    check_code(read, "# #", TMAP_ECHARACTER);
    check_code(read, "#x", TMAP_ECHARACTER);
    check_code(read, "##\\m", TMAP_ECHARACTER);
    check_code(read, "##\\", TMAP_ECHARACTER);
    check_code(read, "##\r\n##", TMAP_ECHARACTER);
    check_code(read, "", TMAP_EEMPTY);
    check_code(read, ".", TMAP_EEMPTY);
    check_code(read, "..\n..\n\n..\n..", TMAP_EEMPTY);
    check_code(read, L16 L16, TMAP_OK);                              // 32
    check_code(read, L16 L16 "#.../..../..../....", TMAP_EREPLICAS); // 33
    check_code(read, L16 L16 L16 L16, TMAP_EREPLICAS);
    check_code(read, "#####", TMAP_ESIDE);
    check_code(read, "#/#/#/#/#", TMAP_ESIDE);
    check_code(read, "#//#//#//#//#", TMAP_ESIDE);
    check_code(read, "#//#//#//#//", TMAP_OK);
}

// What tmap_nbb3_check says of numbers that need not be a fractal.
static void check_numbers(void) {
    const tmap_u64 row = 0xe4e4e4e4e4e4e4e4ull, column = 0xffaa5500ffaa5500ull;
    const tmap_u64 layer = 0x5555555500000000ull;
    const struct {
        tmap_nbb3 f;
        int want;
    } cases[] = {
        {make(4, 2, 2, 2, 0x04, 0x10, 0x40), TMAP_OK},
        {make(4, 2, 2, 2, 0xf04, 0xf10, 0xf40), TMAP_OK}, // digits past the last replica
        {make(32, 4, 4, 2, row, column, layer), TMAP_OK},
        {make(32, 4, 4, 4, row, column, layer), TMAP_OK},
        {make(32, 4, 4, 1, row, column, layer), TMAP_EOUTSIDE},
        {make(32, 4, 4, 2, row & ~0ull >> 2, column, layer), TMAP_ETWICE},
        {make(0, 0, 0, 0, 0, 0, 0), TMAP_EREPLICAS},
        {make(33, 4, 4, 4, row, column, layer), TMAP_EREPLICAS},
        {make(~0u, 2, 2, 2, 0, 0, 0), TMAP_EREPLICAS},
        {make(4, 0, 2, 2, 0x04, 0x10, 0x40), TMAP_ESIDE},
        {make(4, 2, 0, 2, 0x04, 0x10, 0x40), TMAP_ESIDE},
        {make(4, 2, 2, 0, 0x04, 0x10, 0x40), TMAP_ESIDE},
        {make(4, 5, 2, 2, 0x04, 0x10, 0x40), TMAP_ESIDE},
        {make(4, 2, 5, 2, 0x04, 0x10, 0x40), TMAP_ESIDE},
        {make(4, 2, 2, ~0u, 0x04, 0x10, 0x40), TMAP_ESIDE},
        {make(4, 1, 2, 2, 0x04, 0x10, 0x40), TMAP_EOUTSIDE},
        {make(4, 2, 1, 2, 0x04, 0x10, 0x40), TMAP_EOUTSIDE},
        {make(4, 2, 2, 1, 0x04, 0x10, 0x40), TMAP_EOUTSIDE},
        {make(4, 2, 2, 2, 0x04, 0x10, 0x00), TMAP_ETWICE},
    };
    for (unsigned i = 0; i < COUNT(cases); ++i)
        EXPECT(tmap_nbb3_check(cases[i].f) == cases[i].want, "case %u: %s", i,
               tmap_strerror(tmap_nbb3_check(cases[i].f)));
}

int main(void) {
    check_catalogue();
    check_definitions();
    check_examples();
    check_separators();
    check_errors(tmap_nbb3_from_layers);
    check_errors(tmap_fractal3_from_text);
    check_code(tmap_fractal3_from_text, "menge", TMAP_ECHARACTER);
    check_code(tmap_fractal3_from_text, "mengers", TMAP_ECHARACTER);
    check_code(tmap_nbb3_from_layers, "menger", TMAP_ECHARACTER);
    check_numbers();
    return kit_end("nbb3_layers");
}
