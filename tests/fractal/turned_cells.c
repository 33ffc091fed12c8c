// SPDX-License-Identifier: MIT
// turned_cells.c: the maps of turned copies against lists of cells grown from the definition, on every
// thread and place of every level up to 10^6 cells for the catalogue, and of small levels for all 512
// relatives of the gasket and 10^5 random fractals in two and three dimensions; random cells up
// to the last levels of 64 bits; tiles; elements as a group; curves whose successive cells are
// neighbours; texts, refusals, and arguments of every kind (run under UBSan).
//
// Usage: turned_cells [CELLS [PART PARTS]]   CELLS: another bound than 10^6, for slow builds; a tenth
// of it is the number of random fractals. PART, from 0, takes one fractal in PARTS, so that the parts
// can run side by side.
#include "fractal/turned_brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue.h>

#define SAME(a, c) ((a).x == (c).x && (a).y == (c).y && (a).z == (c).z)

static char turned_text[200]; // the fractal

static void set_text(const turned_brute *b) {
    int at = snprintf(turned_text, sizeof turned_text, "%dx%dx%d:", b->s[0], b->s[1], b->s[2]);
    for (int i = 0; i < b->k && at < 180; ++i)
        at += snprintf(turned_text + at, sizeof turned_text - (size_t)at, " %d%d%d/%d",
                       b->box[i][0], b->box[i][1], b->box[i][2], b->element[i]);
}

// ---- cells and places ---------------------------------------------------------------------------

static void check_cell64(tmap_turned t, tmap_u32 r, tmap_u64 i, tmap_xyz64 w, brute_cell c) {
    const tmap_xyz64 at = {c.x, c.y, c.z};
    EXPECT(SAME(tmap_turned_lambda_linear64(t, i, r), c), "%s r=%u i=%llu", turned_text, r, i);
    EXPECT(SAME(tmap_turned_lambda64(t, w, r), c), "%s r=%u i=%llu", turned_text, r, i);
    EXPECT(tmap_turned_nu_linear64(t, at, r) == i, "%s r=%u i=%llu", turned_text, r, i);
    EXPECT(SAME(tmap_turned_nu64(t, at, r), w), "%s r=%u i=%llu", turned_text, r, i);
    EXPECT(tmap_turned_contains64(t, at, r) == 1, "%s r=%u i=%llu", turned_text, r, i);
}

static void check_cell32(tmap_turned t, tmap_u32 r, tmap_u32 i, tmap_xyz64 w64, brute_cell c) {
    const tmap_xyz at = {(tmap_u32)c.x, (tmap_u32)c.y, (tmap_u32)c.z};
    const tmap_xyz w = {(tmap_u32)w64.x, (tmap_u32)w64.y, (tmap_u32)w64.z};
    EXPECT(SAME(tmap_turned_lambda_linear(t, i, r), c), "%s r=%u i=%u", turned_text, r, i);
    EXPECT(SAME(tmap_turned_lambda(t, w, r), c), "%s r=%u i=%u", turned_text, r, i);
    EXPECT(tmap_turned_nu_linear(t, at, r) == i, "%s r=%u i=%u", turned_text, r, i);
    EXPECT(SAME(tmap_turned_nu(t, at, r), w), "%s r=%u i=%u", turned_text, r, i);
    EXPECT(tmap_turned_contains(t, at, r) == 1, "%s r=%u i=%u", turned_text, r, i);
}

// contains on every place of the embedding and next to it.
static void check_places(const turned_brute *b, tmap_turned t, tmap_u32 r, const brute_cell *cells,
                         size_t n) {
    const tmap_u64 width = brute_pow(b->s[0], (int)r), height = brute_pow(b->s[1], (int)r);
    const tmap_u64 depth = brute_pow(b->s[2], (int)r), places = width * height * depth;
    char *picture = (char *)calloc((size_t)places, 1);
    if (!picture) exit(2);
    for (size_t i = 0; i < n; ++i)
        picture[(cells[i].z * height + cells[i].y) * width + cells[i].x] = 1;
    for (tmap_u64 i = 0; i < places; ++i) {
        const tmap_xyz c = {(tmap_u32)(i % width), (tmap_u32)(i / width % height),
                            (tmap_u32)(i / width / height)};
        const tmap_xyz64 c64 = {c.x, c.y, c.z};
        EXPECT(tmap_turned_contains(t, c, r) == picture[i], "%s r=%u place %llu", turned_text, r,
               i);
        EXPECT(tmap_turned_contains64(t, c64, r) == picture[i], "%s r=%u place %llu", turned_text,
               r, i);
    }
    free(picture);
    for (int a = 0; a < 3; ++a) // outside
        for (int far = 0; far < 2; ++far) {
            const tmap_u64 sides[] = {width, height, depth};
            tmap_u64 at[] = {cells[n - 1].x, cells[n - 1].y, cells[n - 1].z};
            at[a] += far ? sides[a] << 32 : sides[a];
            const tmap_xyz c = {(tmap_u32)at[0], (tmap_u32)at[1], (tmap_u32)at[2]};
            const tmap_xyz64 c64 = {at[0], at[1], at[2]};
            EXPECT(!tmap_turned_contains64(t, c64, r), "%s r=%u axis %d", turned_text, r, a);
            if (!far) EXPECT(!tmap_turned_contains(t, c, r), "%s r=%u axis %d", turned_text, r, a);
        }
}

// The tiles of level m of a fractal of level r: their content is that of level m, turned.
static void check_tiles(const turned_brute *b, tmap_turned t, tmap_u32 r, tmap_u32 m,
                        const brute_cell *cells, const brute_cell *tile, size_t n, size_t in_tile) {
    const tmap_u64 side[] = {brute_pow(b->s[0], (int)m), brute_pow(b->s[1], (int)m),
                             brute_pow(b->s[2], (int)m)};
    const tmap_xyz last = {(tmap_u32)side[0] - 1, (tmap_u32)side[1] - 1, (tmap_u32)side[2] - 1};
    const tmap_xyz64 last64 = {last.x, last.y, last.z};
    for (size_t i = 0; i < n / in_tile; ++i) {
        tmap_u32 element = ~0u, element64 = ~0u;
        const tmap_xyz corner = tmap_turned_tile(t, (tmap_u32)i, r - m, &element);
        const tmap_xyz64 corner64 = tmap_turned_tile64(t, i, r - m, &element64);
        EXPECT(SAME(corner, corner64) && element == element64, "%s r=%u tile %zu", turned_text, r,
               i);
        EXPECT(element < 48, "%s r=%u tile %zu", turned_text, r, i);
        for (size_t j = 0; j < in_tile; ++j) {
            const tmap_xyz p = {(tmap_u32)tile[j].x, (tmap_u32)tile[j].y, (tmap_u32)tile[j].z};
            const tmap_xyz64 p64 = {p.x, p.y, p.z};
            const tmap_xyz v = tmap_turned_apply(element, p, last);
            const brute_cell c = cells[i * in_tile + j];
            EXPECT(corner.x * side[0] + v.x == c.x && corner.y * side[1] + v.y == c.y &&
                       corner.z * side[2] + v.z == c.z,
                   "%s r=%u m=%u tile %zu place %zu", turned_text, r, m, i, j);
            EXPECT(SAME(tmap_turned_apply64(element, p64, last64), v), "%s r=%u", turned_text, r);
        }
    }
}

// All cells of all levels up to cells_max cells and places. small: room for the cells of a tile.
static size_t check_fractal(const turned_brute *b, tmap_turned t, size_t cells_max,
                            brute_cell *cells, brute_cell *tile) {
    const size_t box = (size_t)(b->s[0] * b->s[1] * b->s[2]);
    size_t n = 1, in_tile = 1, places = 1, all = 0;
    tmap_u32 m = 0;
    set_text(b);
    EXPECT(tmap_turned_check(t) == TMAP_OK, "%s", turned_text);
    for (int i = 0; i < b->k; ++i)
        EXPECT(tmap_turned_element(t, (tmap_u32)i) == (tmap_u32)b->element[i], "%s", turned_text);
    memset(cells, 0, sizeof *cells);
    for (tmap_u32 r = 0; r <= tmap_nbb3_linear_level_max32(t.f) && r < 20; ++r) {
        if (r == 2) memcpy(tile, cells, n * sizeof *cells), in_tile = n, m = 1; // tiles of level 1
        if (r == 0) memcpy(tile, cells, sizeof *cells);
        if (r > 0) {
            if (n * (size_t)b->k > cells_max) break;
            n = turned_grow(b, (int)r, cells, n), places *= places > cells_max ? 1 : box;
        }
        for (size_t i = 0; i < n; ++i) {
            const tmap_xyz64 w = {cells[i].wx, cells[i].wy, cells[i].wz};
            check_cell64(t, r, i, w, cells[i]);
            check_cell32(t, r, (tmap_u32)i, w, cells[i]);
        }
        if (places <= cells_max) check_places(b, t, r, cells, n);
        if (r > 0) check_tiles(b, t, r, m, cells, tile, n, in_tile);
        all += n;
    }
    return all;
}

// Random cells of large levels, and all-last ones, up to the limits of 32 and 64 bits.
static void check_large(const turned_brute *b, tmap_turned t, tmap_u64 *state) {
    const tmap_u32 limits[] = {tmap_nbb3_linear_level_max32(t.f), tmap_nbb3_linear_level_max64(t.f),
                               tmap_nbb3_level_max32(t.f), tmap_nbb3_level_max64(t.f)};
    set_text(b);
    for (int which = 0; which < 8; ++which) {
        const tmap_u32 limit = limits[which / 2];
        const tmap_u32 r = which % 2 ? (tmap_u32)kit_below(state, limit + 1ull) : limit;
        int digits[64];
        tmap_u64 i = 0, w[3] = {0, 0, 0};
        const int last = kit_below(state, 4) == 0;
        for (tmap_u32 mu = 0; mu < r; ++mu)
            digits[mu] = last ? b->k - 1 : (int)kit_below(state, (tmap_u64)b->k);
        for (tmap_u32 mu = r; mu-- > 0;) {
            i = i * (tmap_u64)b->k + (tmap_u64)digits[mu];
            w[mu % 3] = w[mu % 3] * (tmap_u64)b->k + (tmap_u64)digits[mu];
        }
        const brute_cell c = turned_cell(b, (int)r, digits);
        const tmap_xyz64 w64 = {w[0], w[1], w[2]}, at = {c.x, c.y, c.z};
        const tmap_xyz at32 = {(tmap_u32)c.x, (tmap_u32)c.y, (tmap_u32)c.z};
        const tmap_xyz w32 = {(tmap_u32)w[0], (tmap_u32)w[1], (tmap_u32)w[2]};
        if (r <= limits[0]) check_cell32(t, r, (tmap_u32)i, w64, c);
        if (r <= limits[1]) check_cell64(t, r, i, w64, c);
        EXPECT(SAME(tmap_turned_lambda64(t, w64, r), c), "%s r=%u", turned_text, r);
        EXPECT(SAME(tmap_turned_nu64(t, at, r), w64), "%s r=%u", turned_text, r);
        EXPECT(tmap_turned_contains64(t, at, r) == 1, "%s r=%u", turned_text, r);
        if (r > limits[2]) continue;
        EXPECT(SAME(tmap_turned_lambda(t, w32, r), c), "%s r=%u", turned_text, r);
        EXPECT(SAME(tmap_turned_nu(t, at32, r), w32), "%s r=%u", turned_text, r);
        EXPECT(tmap_turned_contains(t, at32, r) == 1, "%s r=%u", turned_text, r);
    }
}

// ---- elements -----------------------------------------------------------------------------------

static void check_elements(void) {
    const tmap_u64 side[] = {5, 5, 5}, v[] = {0, 1, 3};
    const tmap_xyz last = {4, 4, 4}, at = {0, 1, 3};
    for (int a = 0; a < 48; ++a) {
        const tmap_u32 back = tmap_turned_inverse((tmap_u32)a);
        tmap_u64 first[3], both[3];
        turned_move(a, v, side, first);
        const tmap_xyz moved = tmap_turned_apply((tmap_u32)a, at, last);
        EXPECT(moved.x == first[0] && moved.y == first[1] && moved.z == first[2], "element %d", a);
        EXPECT(back < 48 && SAME(tmap_turned_apply(back, moved, last), at), "element %d", a);
        EXPECT(tmap_turned_compose((tmap_u32)a, back) == 0, "element %d", a);
        EXPECT(tmap_turned_compose(back, (tmap_u32)a) == 0, "element %d", a);
        for (int b = 0; b < 48; ++b) {
            const tmap_u32 c = tmap_turned_compose((tmap_u32)b, (tmap_u32)a); // a first
            turned_move(b, first, side, both);
            const tmap_xyz p = tmap_turned_apply(c, at, last);
            EXPECT(c < 48 && p.x == both[0] && p.y == both[1] && p.z == both[2],
                   "element %d after %d: %u", b, a, c);
        }
    }
    expect(tmap_turned_compose(9, 9) == 3 && tmap_turned_inverse(9) == 10, "quarter turns");
    const tmap_xyz p = {3, 1, 0}, three = {3, 3, 0};
    const tmap_xyz q = tmap_turned_apply(9, p, three);
    expect(q.x == 2 && q.y == 3 && q.z == 0, "element 9: (3,1,0) -> (2,3,0)");
}

// ---- the catalogue ------------------------------------------------------------------------------

static tmap_u32 distance(tmap_u32 a, tmap_u32 b) { return a < b ? b - a : a - b; }

// Successive cells share a side; or, with `triangular`, two axes change by one, in opposite senses.
static void check_curve(const char *name, tmap_turned t, int triangular) {
    for (tmap_u32 r = 1; tmap_nbb3_cells(t.f, r) <= 100000; ++r) {
        tmap_xyz before = tmap_turned_lambda_linear(t, 0, r);
        for (tmap_u32 i = 1; i < tmap_nbb3_cells(t.f, r); ++i) {
            const tmap_xyz c = tmap_turned_lambda_linear(t, i, r);
            const tmap_u32 x = distance(c.x, before.x), y = distance(c.y, before.y);
            const tmap_u32 z = distance(c.z, before.z);
            EXPECT(x <= 1 && y <= 1 && z <= 1 && x + y + z == (triangular ? 2u : 1u),
                   "%s r=%u i=%u", name, r, i);
            EXPECT(!triangular || c.x + c.y + c.z == before.x + before.y + before.z, "%s r=%u i=%u",
                   name, r, i);
            before = c;
        }
    }
}

static void check_catalogue(void) {
    const tmap_nbb plain = tmap_nbb_make(5, 3, 3, 0x12101, 0x21110);
    const tmap_turned vicsek = tmap_turned_vicsek(), arrow = tmap_turned_arrowhead();
    const tmap_xyz first[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                              {0, 2, 0}, {0, 3, 0}, {1, 3, 0}};
    int i = 0;
#define CATALOGUE_CHECK(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    EXPECT(tmap_turned_equal(tmap_turned_at(i), tmap_turned_##name()), "%d", i); \
    EXPECT(strcmp(tmap_turned_name(i), #name) == 0, "%d", i); \
    EXPECT(strcmp(tmap_turned_title(i), title) == 0, "%d", i); \
    ++i;
    TMAP_TURNED(CATALOGUE_CHECK)
    EXPECT(i == TMAP_TURNED_COUNT, "%d", i);
    expect(tmap_turned_equal(tmap_turned_at(-1), tmap_turned_hilbert()), "any other number");
    expect(strcmp(tmap_turned_name(-1), "own") == 0, "any other number");
    expect(strcmp(tmap_turned_title(TMAP_TURNED_COUNT), "own fractal") == 0, "any other number");
    check_curve("hilbert", tmap_turned_hilbert(), 0);
    check_curve("peano", tmap_turned_peano(), 0);
    check_curve("koch", tmap_turned_koch(), 0);
    check_curve("hilbert3", tmap_turned_hilbert3(), 0);
    check_curve("arrowhead", arrow, 1);
    for (tmap_u32 n = 0; n < COUNT(first); ++n) {
        const tmap_xyz c = tmap_turned_lambda_linear(tmap_turned_hilbert(), n, 2);
        EXPECT(SAME(c, first[n]), "Hilbert curve, r = 2: %u", n);
    }
    expect(tmap_turned_nu_linear(tmap_turned_hilbert(), first[6], 2) == 6, "(1,3,0) -> 6");
    tmap_u32 element;
    const tmap_xyz corner = tmap_turned_tile(tmap_turned_hilbert(), 3, 1, &element);
    expect(corner.x == 1 && corner.y == 0 && corner.z == 0 && element == 11, "tile 3");
    for (tmap_u32 n = 0; n < 3125; ++n) { // the turned cross is the cross
        const tmap_xyz c = tmap_turned_lambda_linear(vicsek, n, 5);
        EXPECT(c.z == 0 && tmap_nbb_contains(plain, c.x, c.y, 5), "vicsek, %u", n);
    }
    for (tmap_u32 arm = 1; arm < 5;
         ++arm) { // replica 1 of each arm is the farthest from the centre
        const tmap_xyz c = tmap_turned_lambda_linear(vicsek, 1 + 5 * arm, 2);
        EXPECT(distance(c.x, 4) + distance(c.y, 4) == 4, "vicsek, arm %u: (%u,%u)", arm, c.x, c.y);
    }
    for (tmap_u32 n = 0; n < 2187; ++n) { // the plane and its projection
        const tmap_xyz c = tmap_turned_lambda_linear(arrow, n, 7);
        EXPECT(c.x + c.y + c.z == 127 && (c.x & c.y) == 0, "arrowhead, %u", n);
    }
    for (tmap_u32 n = 0; n < 729; ++n) {
        const tmap_xyz c = tmap_turned_lambda_linear(tmap_turned_relative(0, 0, 0), n, 6);
        const tmap_xy g = tmap_nbb_lambda_linear(tmap_fractal_gasket(), n, 6);
        EXPECT(c.x == g.x && c.y == g.y && c.z == 0, "gasket, %u", n);
    }
}

// ---- your own -----------------------------------------------------------------------------------

static void check_code(const char *text, int want) {
    const tmap_turned poison = {{~0u, ~0u, ~0u, ~0u, 1, 2, 3}, 4, 5, 6};
    tmap_turned t = poison;
    const int code = tmap_turned_from_text(text, &t);
    EXPECT(code == want, "\"%s\": %s, not %s", text ? text : "(null)", tmap_strerror(code),
           tmap_strerror(want));
    EXPECT(tmap_turned_equal(t, poison) == (want != TMAP_OK), "\"%s\"", text ? text : "(null)");
}

static void check_text(const char *text, tmap_turned want) {
    tmap_turned t;
    EXPECT(tmap_turned_from_text(text, &t) == TMAP_OK && tmap_turned_equal(t, want), "\"%s\"",
           text);
}

static void check_texts(void) {
    const tmap_xyz two = {2, 2, 2}, wide = {2, 3, 1}, cube = {4, 4, 4};
    const tmap_turned own = tmap_turned_make(tmap_nbb3_make(3, two, 0x10, 0x14, 0x0), 0, 0, 0);
    tmap_turned t = own;
    t.f.sz = 1;
    check_text("A./AA", t);
    check_text("#./##", t);
    check_text("#.\\n##\\n", t);
    check_text("A./AJ", tmap_turned_set(t, 2, 9));
    check_text("D./LK", tmap_turned_relative(3, 11, 10));
    check_text("#./##//../..", own);
    check_text("v./aA//../..", tmap_turned_set(tmap_turned_set(own, 0, 47), 1, 26));
    for (int i = 0; i < TMAP_TURNED_COUNT; ++i) check_text(tmap_turned_name(i), tmap_turned_at(i));
    check_code(NULL, TMAP_EINVAL);
    expect(tmap_turned_from_text("A", NULL) == TMAP_EINVAL, "no output");
    expect(tmap_turned_from_layers("A", NULL) == TMAP_EINVAL, "no output");
    expect(tmap_turned_from_layers(NULL, &t) == TMAP_EINVAL, "no text");
    check_code("A./A", TMAP_EUNEQUAL);
    check_code("A./A-", TMAP_ECHARACTER);
    check_code("w", TMAP_ECHARACTER);
    check_code("Z[", TMAP_ECHARACTER);
    check_code("../..", TMAP_EEMPTY);
    check_code("AAAAA", TMAP_ESIDE);
    check_code("####/####/####/####//####/####/####/####//#", TMAP_EUNEQUAL);
    check_code("####/####/####/####//####/####/####/####//#.../..../..../....", TMAP_EREPLICAS);
    check_code(
        "AAAA/AAAA/AAAA/AAAA//AAAA/AAAA/AAAA/AAAA//..../..../..../....//..../..../..../....//",
        TMAP_OK);
    check_code(
        "////////////////////////////////////////////////////////////////////////////////////"
        "////////////////////////////////////////////////////////////////////////////////",
        TMAP_ESIDE);
    check_code("AD/CB/##", TMAP_OK);     // flips do not mind unequal sides
    check_code("AI/##/##", TMAP_EINVAL); // an exchange does
    check_code("II/##", TMAP_OK);
    check_code("YA/AA", TMAP_EINVAL); // x and z, 2 and 1
    check_code("YA/AA//AA/AA", TMAP_OK);
    // numbers that are no element, and none of a fractal
    t = tmap_turned_make(tmap_nbb3_make(3, two, 0x10, 0x14, 0), 0, 0, 0x3);
    expect(tmap_turned_check(t) == TMAP_EINVAL, "element 48");
    t.turn_c = 0xc0; // past the last replica
    expect(tmap_turned_check(t) == TMAP_OK, "digits past the last replica");
    t.f.sx = 5;
    expect(tmap_turned_check(t) == TMAP_ESIDE, "side 5");
    t = tmap_turned_make(tmap_nbb3_make(2, wide, 0x4, 0, 0), 0, 8, 0);
    expect(tmap_turned_check(t) == TMAP_EINVAL, "an exchange of 2 and 3");
    t = tmap_turned_make(tmap_nbb3_make(2, cube, 0x4, 0, 0), 0, 0, 0);
    expect(tmap_turned_equal(tmap_turned_set(t, 32, 5), t), "replica 32");
    expect(!tmap_turned_equal(tmap_turned_set(t, 31, 5), t), "replica 31");
}

// ---- whatever the arguments ---------------------------------------------------------------------

static tmap_u64 call_everything(tmap_turned t, tmap_xyz64 a, tmap_u32 r) {
    const tmap_xyz b = {(tmap_u32)a.x, (tmap_u32)a.y, (tmap_u32)a.z};
    tmap_u32 one, two;
    const tmap_xyz c[] = {tmap_turned_lambda(t, b, r), tmap_turned_lambda_linear(t, b.x, r),
                          tmap_turned_nu(t, b, r), tmap_turned_tile(t, b.y, r, &one),
                          tmap_turned_apply(b.x, b, b)};
    const tmap_xyz64 d[] = {tmap_turned_lambda64(t, a, r), tmap_turned_lambda_linear64(t, a.x, r),
                            tmap_turned_nu64(t, a, r), tmap_turned_tile64(t, a.y, r, &two),
                            tmap_turned_apply64(b.x, a, a)};
    tmap_u64 sum = one + (tmap_u64)two;
    for (int i = 0; i < 5; ++i) sum += c[i].x + c[i].y + c[i].z + d[i].x + d[i].y + d[i].z;
    sum += tmap_turned_nu_linear(t, b, r) + tmap_turned_nu_linear64(t, a, r);
    sum += (tmap_u64)(tmap_turned_contains(t, b, r) + tmap_turned_contains64(t, a, r));
    sum += tmap_turned_compose(b.x, b.y) + tmap_turned_inverse(b.z);
    sum += tmap_turned_element(tmap_turned_set(t, b.x, b.y), b.z);
    return sum + (tmap_u64)tmap_turned_check(t);
}

static tmap_u64 check_total(void) {
    static const tmap_u64 edges[] = {0, 1, 3, 31, 32, 47, 48, 64, 0xffffffffu, 1ull << 32, ~0ull};
    const tmap_u64 n = COUNT(edges);
    tmap_u64 sum = 0, state = 3;
    for (int i = 0; i < 200; ++i) {
        tmap_turned t = {{0, 0, 0, 0, 0, 0, 0}, 0, 0, 0};
        if (i) { // no fractals: each number an edge or random
            tmap_u64 numbers[10];
            for (int j = 0; j < 10; ++j)
                numbers[j] =
                    kit_below(&state, 2) ? edges[kit_below(&state, n)] : kit_random(&state);
            t.f.k = (tmap_u32)numbers[0] & (i & 1 ? 63 : ~0u), t.f.sx = (tmap_u32)numbers[1];
            t.f.sy = (tmap_u32)numbers[2] & 7, t.f.sz = (tmap_u32)numbers[3];
            t.f.tau_x = numbers[4], t.f.tau_y = numbers[5], t.f.tau_z = numbers[6];
            t.turn_a = numbers[7], t.turn_b = numbers[8], t.turn_c = numbers[9];
        }
        for (tmap_u32 r = 0; r <= 70; ++r)
            for (tmap_u64 j = 0; j < n; ++j) {
                const tmap_xyz64 a = {edges[j], edges[(j + r) % n], edges[kit_below(&state, n)]};
                sum += call_everything(t, a, r);
            }
    }
    return sum;
}

int main(int argc, char **argv) {
    const size_t cells_max = argc > 1 ? (size_t)atol(argv[1]) : 1000000;
    const int part = argc > 3 ? atoi(argv[2]) : 0, parts = argc > 3 ? atoi(argv[3]) : 1;
    const int random = (int)(cells_max / 10), known = TMAP_TURNED_COUNT + 512;
    const tmap_u32 flat[] = {0, 1, 2, 3, 8, 9, 10, 11};
    brute_cell *cells = (brute_cell *)kit_host(cells_max * sizeof *cells);
    brute_cell *tile = (brute_cell *)kit_host(cells_max * sizeof *tile);
    size_t all = 0;
    if (part == 0) {
        check_elements();
        check_catalogue();
        check_texts();
        printf("every call returned (%llx)\n", check_total());
    }
    for (int i = part; i < known + random; i += parts) {
        const int relative = i - TMAP_TURNED_COUNT, most = i % 100 ? 200 : 4000;
        tmap_u64 state = 1000003ull * (tmap_u64)(i + 1);
        tmap_turned t;
        turned_brute b;
        if (i < TMAP_TURNED_COUNT)
            t = tmap_turned_at(i), b = turned_read(t);
        else if (i < known)
            t = tmap_turned_relative(flat[relative & 7], flat[relative >> 3 & 7],
                                     flat[relative >> 6]),
            b = turned_read(t);
        else
            b = turned_random(&state, 2 + i % 2), t = turned_of(&b);
        all += check_fractal(&b, t,
                             i < TMAP_TURNED_COUNT ? cells_max
                             : i < known           ? cells_max / 1000
                                                   : (size_t)most,
                             cells, tile);
        for (int j = 0; j < (i < TMAP_TURNED_COUNT ? 100 : 1); ++j) check_large(&b, t, &state);
    }
    printf("%zu cells\n", all);
    return kit_end("turned_cells");
}
