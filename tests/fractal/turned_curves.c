// SPDX-License-Identifier: MIT
// turned_curves.c: turned copies beside what nbb_maps.c asks of their maps: elements as a group;
// curves whose successive cells are neighbours, and what else the catalogue is said to be; the
// lines of data in the comments.
#include "fractal/brute.h"

#define SAME(a, b) ((a).x == (b).x && (a).y == (b).y && (a).z == (b).z)

static void check_elements(void) {
    const tmap_u64 side[] = {5, 5, 5};
    const tmap_xyz last = {4, 4, 4}, at = {0, 1, 3}, p = {3, 1, 0}, q = {2, 3, 0},
                   three = {3, 3, 0};
    for (int a = 0; a < 48; ++a) {
        const tmap_u32 back = tmap_turned_inverse((tmap_u32)a);
        const tmap_xyz moved = tmap_turned_apply((tmap_u32)a, at, last);
        tmap_u64 first[3] = {0, 1, 3};
        brute_move(a, side, first);
        kit_case("element %d", a);
        HOLDS(moved.x == first[0] && moved.y == first[1] && moved.z == first[2]);
        HOLDS(back < 48 && SAME(tmap_turned_apply(back, moved, last), at));
        HOLDS(tmap_turned_compose((tmap_u32)a, back) == 0);
        HOLDS(tmap_turned_compose(back, (tmap_u32)a) == 0);
        for (int b = 0; b < 48; ++b) {
            const tmap_u32 c = tmap_turned_compose((tmap_u32)b, (tmap_u32)a); // a first
            const tmap_xyz both = tmap_turned_apply(c, at, last);
            tmap_u64 want[3] = {first[0], first[1], first[2]};
            brute_move(b, side, want);
            EXPECT(c < 48 && both.x == want[0] && both.y == want[1] && both.z == want[2],
                   "%d afterwards: %u", b, c);
        }
    }
    HOLDS(tmap_turned_compose(9, 9) == 3 && tmap_turned_inverse(9) == 10); // quarter turns
    HOLDS(SAME(tmap_turned_apply(9, p, three), q));
}

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
    const tmap_turned vicsek = tmap_turned_vicsek(), hilbert = tmap_turned_hilbert();
    const tmap_turned arrow = tmap_turned_arrowhead(), relative = tmap_turned_relative(0, 0, 0);
    const tmap_xyz first[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                              {0, 2, 0}, {0, 3, 0}, {1, 3, 0}};
    const brute own = brute_read("D./LK", BRUTE_TURNED);
    tmap_u32 element;
    HOLDS(tmap_turned_equal(brute_turned(&own), tmap_turned_relative(3, 11, 10)));
    check_curve("hilbert", hilbert, 0);
    check_curve("peano", tmap_turned_peano(), 0);
    check_curve("koch", tmap_turned_koch(), 0);
    check_curve("hilbert3", tmap_turned_hilbert3(), 0);
    check_curve("arrowhead", arrow, 1);
    for (tmap_u32 n = 0; n < COUNT(first); ++n)
        EXPECT(SAME(tmap_turned_lambda_linear(hilbert, n, 2), first[n]), "Hilbert curve: %u", n);
    HOLDS(tmap_turned_nu_linear(hilbert, first[6], 2) == 6);
    const tmap_xyz corner = tmap_turned_tile(hilbert, 3, 1, &element);
    HOLDS(SAME(corner, first[1]) && element == 11);
    for (tmap_u32 n = 0; n < 3125; ++n) { // the turned cross is the cross
        const tmap_xyz c = tmap_turned_lambda_linear(vicsek, n, 5);
        EXPECT(c.z == 0 && tmap_nbb_contains(plain, c.x, c.y, 5), "vicsek, %u", n);
    }
    for (tmap_u32 arm = 1; arm < 5; ++arm) { // its replica 1 is the farthest from the centre
        const tmap_xyz c = tmap_turned_lambda_linear(vicsek, 1 + 5 * arm, 2);
        EXPECT(distance(c.x, 4) + distance(c.y, 4) == 4, "vicsek, arm %u: (%u,%u)", arm, c.x, c.y);
    }
    for (tmap_u32 n = 0; n < 2187; ++n) { // the plane and its projection
        const tmap_xyz c = tmap_turned_lambda_linear(arrow, n, 7);
        EXPECT(c.x + c.y + c.z == 127 && (c.x & c.y) == 0, "arrowhead, %u", n);
    }
    for (tmap_u32 n = 0; n < 729; ++n) {
        const tmap_xyz c = tmap_turned_lambda_linear(relative, n, 6);
        const tmap_xy g = tmap_nbb_lambda_linear(tmap_fractal_gasket(), n, 6);
        EXPECT(c.x == g.x && c.y == g.y && c.z == 0, "gasket, %u", n);
    }
}

int main(void) {
    check_elements();
    check_catalogue();
    return kit_end("turned_curves");
}
