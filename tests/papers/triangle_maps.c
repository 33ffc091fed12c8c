// SPDX-License-Identifier: MIT
// triangle_maps.c: BB, RB, REC and UTM, and the forms of triangle_published.h: their grids cover
// every cell of the triangle exactly once, for every side up to SIDE_MAX and every smallest
// triangle of REC. And for which n UTM is right as printed.
#include "triangle/triangle_forms.h"

#include <threadmap/triangle/condensed.h>

enum { SIDE_MAX = 130 };

static unsigned char seen[SIDE_MAX][SIDE_MAX];

static void visit(const char *what, tmap_u32 n, tmap_u32 i, tmap_u32 j) {
    EXPECT(i < n && j < n, "%s, n=%u: (%u,%u)", what, n, i, j);
    if (i < n && j < n) ++seen[i][j];
}

// Every cell of a form once, and no other; then forgets them.
static void check_seen(int form, const char *what, tmap_u32 n) {
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j)
            EXPECT(form_right(form, i, j, seen[i][j]), "%s, n=%u: (%u,%u) %d times", what, n, i, j,
                   seen[i][j]);
    memset(seen, 0, sizeof seen);
}

static void check_form(int form, tmap_u32 n, tmap_u32 more) {
    const tmap_u64 places = form_places(form, n, more);
    tmap_pair cell;
    for (tmap_u64 place = 0; place < places; ++place)
        if (form_at(form, n, more, place, &cell)) visit(form_names[form], n, cell.i, cell.j);
    check_seen(form, form_names[form], n);
    if (form == FORM_RB) EXPECT(places == tmap_triangle_cells(n), "n=%u: %llu", n, places);
}

static void check_rec(tmap_u32 n, tmap_u32 m0) {
    const tmap_triangle_rec rec = tmap_triangle_rec_make(n, m0);
    EXPECT((tmap_u64)rec.m << rec.k == n, "n=%u m0=%u: m=%u k=%u", n, m0, rec.m, rec.k);
    EXPECT(n == 0 || rec.k == 0 || rec.m % (m0 ? m0 : 1) == 0, "n=%u m0=%u: m=%u", n, m0, rec.m);
    for (tmap_u32 l = 0; l < rec.k; ++l) {
        const tmap_xy grid = tmap_triangle_rec_grid(rec, l);
        EXPECT((tmap_u64)grid.x * grid.y * 2 == n, "n=%u l=%u: %u %u", n, l, grid.x, grid.y);
    }
    EXPECT(tmap_triangle_rec_grid(rec, rec.k).y == 0, "n=%u", n);
    check_form(FORM_REC, n, m0);
}

// UTM for blocks without conditionals, against the rows themselves.
static void check_utm_plain(tmap_u32 n) {
    tmap_u32 k = 0;
    for (tmap_u32 a = 0; a < n; ++a)
        for (tmap_u32 b = a; b < n; ++b, ++k) {
            tmap_pair s = tmap_triangle_utm_blocks_sqrt(k, n);
            tmap_pair r = tmap_triangle_utm_blocks_rsqrt(k, n);
            EXPECT(s.i == a && s.j == b, "n=%u k=%u: (%u,%u), sqrt", n, k, s.i, s.j);
            EXPECT(r.i == a && r.j == b, "n=%u k=%u: (%u,%u), rsqrt", n, k, r.i, r.j);
        }
}

// UTM: a < b of threads and a <= b of blocks, against the other maps of these orders.
static void check_utm(tmap_u32 n) {
    for (tmap_u32 k = 0; k < tmap_condensed_cells(n); ++k) {
        tmap_pair p = tmap_triangle_utm_map(k, n), c = tmap_condensed_map(k, n);
        tmap_pair s = tmap_triangle_utm_sqrt(k, n), q = tmap_triangle_utm_newton(k, n);
        EXPECT(p.i == c.i && p.j == c.j, "n=%u k=%u: (%u,%u)", n, k, p.i, p.j);
        EXPECT(q.i == c.i && q.j == c.j, "n=%u k=%u: (%u,%u), Newton", n, k, q.i, q.j);
        EXPECT(p.i == s.i && p.j == s.j, "n=%u k=%u: (%u,%u)", n, k, s.i, s.j);
    }
    for (tmap_u32 k = 0; k < tmap_triangle_cells(n); ++k) {
        tmap_pair p = tmap_triangle_utm_blocks(k, n), c = tmap_upper_map(k, n);
        EXPECT(p.i == c.i && p.j == c.j, "n=%u k=%u: (%u,%u)", n, k, p.i, p.j);
    }
    check_utm_plain(n);
}

// ---- triangle_published.h -----------------------------------------------------------------------

static void check_table(tmap_u32 n) {
    static tmap_u32 table[SIDE_MAX * (SIDE_MAX + 1) / 2 + 1];
    const tmap_u32 cells = (tmap_u32)tmap_triangle_cells(n);
    EXPECT(tmap_triangle_table_bytes(n) == 4ull * cells, "n=%u", n);
    table[cells] = 123456789; // must stay
    tmap_triangle_table_fill(table, n);
    for (tmap_u32 k = 0; k < cells; ++k) {
        tmap_pair p = tmap_triangle_table_map(table, k), q = tmap_triangle_map(k);
        EXPECT(p.i == q.i && p.j == q.j, "n=%u k=%u: (%u,%u)", n, k, p.i, p.j);
    }
    EXPECT(table[cells] == 123456789, "n=%u: beyond the table", n);
}

static void check_recursive(tmap_u32 n, tmap_u32 rho) {
    tmap_triangle_recursive r = tmap_triangle_recursive_make(n, rho, NULL);
    const tmap_u32 rows = tmap_triangle_tile_rows(n, rho);
    tmap_pair block;
    for (; r.step <= r.rec.k; ++r.step) {
        const tmap_xy grid = tmap_triangle_recursive_grid(&r);
        for (tmap_u32 q = 0; q < grid.y; ++q)
            for (tmap_u32 y = 0; y < grid.x; ++y)
                for (tmap_u32 x = 0; x < grid.x; ++x)
                    if (tmap_triangle_recursive_block(&r, x, y, q, &block))
                        visit("REC recursive", rows, block.i, block.j);
    }
    check_seen(FORM_REC, "REC recursive", rows);
}

// Both ends of all rows, where errors of the root begin. Returns how many have no pair; every other
// one must be right, and all of them by Newton.
static tmap_u32 check_utm_printed_ends(tmap_u32 n) {
    tmap_u32 missed = 0;
    tmap_u64 first = 0;
    for (tmap_u32 a = 0; a + 1 < n; first += n - 1 - a, ++a)
        for (tmap_u32 b = a + 1; b < n; b += b + 1 < n ? n - 1 - b : 1) { // the first and the last
            const tmap_u32 k = (tmap_u32)first + b - a - 1;
            tmap_pair p = tmap_triangle_utm_newton(k, n);
            EXPECT(p.i == a && p.j == b, "n=%u k=%u: (%u,%u), Newton", n, k, p.i, p.j);
            if (!tmap_triangle_utm_printed(k, n, &p)) {
                ++missed;
                EXPECT(n != 4098 || k == 4096, "n=%u k=%u: no pair", n, k);
            } else {
                EXPECT(p.i == a && p.j == b, "n=%u k=%u: (%u,%u)", n, k, p.i, p.j);
            }
        }
    return missed;
}

static void check_utm_printed_range(void) {
    static const tmap_u32 beyond[] = {4099, 4100, 5000, 30721, 65537, 92682};
    const tmap_u32 most = TMAP_TRIANGLE_UTM_PRINTED_MAX;
    for (tmap_u32 n = 2; n <= most; n += n + 100 < most ? 61 : 1)
        EXPECT(check_utm_printed_ends(n) == 0, "n=%u: misses some", n);
    EXPECT(check_utm_printed_ends(most + 1) == 1, "n=%u: not one", most + 1);
    for (unsigned i = 0; i < COUNT(beyond); ++i)
        EXPECT(check_utm_printed_ends(beyond[i]) > 0, "n=%u: right", beyond[i]);
}

// Values out of range give some value; and the data of the comments in triangle_published.h.
static void check_published_examples(void) {
    tmap_triangle_recursive r = tmap_triangle_recursive_make(30720, 16, NULL);
    tmap_pair p = {7, 7};
    EXPECT(!tmap_triangle_utm_printed(~0u, 3, &p), "(%u,%u)", p.i, p.j);
    EXPECT(!tmap_triangle_utm_printed(0, 0, &p) && !tmap_triangle_utm_printed(0, 1, &p), "(%u,%u)",
           p.i, p.j);
    tmap_triangle_utm_printed(~0u, ~0u, &p);
    tmap_triangle_utm_newton(~0u, ~0u);
    tmap_triangle_utm_printed_cell(~0u, ~0u, &p);
    EXPECT(tmap_triangle_table_bytes(1920) == 7376640, "%d", 1920);
    EXPECT(tmap_triangle_table_bytes(TMAP_TRIANGLE_TABLE_ROWS_MAX) > 0, "%d", 0);
    EXPECT(tmap_triangle_table_bytes(TMAP_TRIANGLE_TABLE_ROWS_MAX + 1) == 0, "%d", 0);
    EXPECT(!tmap_triangle_bb_by_threads(2, 1, 3, &p), "%d", 0);
    EXPECT(tmap_triangle_bb_by_threads(1, 2, 3, &p) && p.i == 2 && p.j == 1, "(%u,%u)", p.i, p.j);
    EXPECT(r.rec.m == 15 && r.rec.k == 7, "m=%u k=%u", r.rec.m, r.rec.k);
    EXPECT(tmap_triangle_recursive_grid(&r).x == 960 && tmap_triangle_recursive_grid(&r).y == 1,
           "step %u", r.step);
    r.step = 6;
    EXPECT(tmap_triangle_recursive_grid(&r).x == 15 && tmap_triangle_recursive_grid(&r).y == 64,
           "step %u", r.step);
    r.step = 7;
    EXPECT(tmap_triangle_recursive_grid(&r).x == 15 && tmap_triangle_recursive_grid(&r).y == 128,
           "step %u", r.step);
}

// The data of the comments in triangle_maps.h.
static void check_examples(void) {
    static const tmap_u32 rb4[5][2][2] = {
        {{3, 3}, {3, 2}}, {{0, 0}, {2, 2}}, {{1, 0}, {1, 1}}, {{2, 0}, {2, 1}}, {{3, 0}, {3, 1}}};
    tmap_triangle_rec a = tmap_triangle_rec_make(1920, 1), b = tmap_triangle_rec_make(96, 16);
    tmap_triangle_rec two = {1, 2}, pairs = {2, 2};
    tmap_pair p;
    for (tmap_u32 y = 0; y < 5; ++y)
        for (tmap_u32 x = 0; x < 2; ++x) {
            p = tmap_triangle_rb_map(x, y, 4);
            EXPECT(p.i == rb4[y][x][0] && p.j == rb4[y][x][1], "(%u,%u)", x, y);
        }
    EXPECT(tmap_triangle_rb_grid(4).x == 2 && tmap_triangle_rb_grid(4).y == 5, "%d", 4);
    EXPECT(tmap_triangle_rb_grid(5).x == 3 && tmap_triangle_rb_grid(5).y == 5, "%d", 5);
    EXPECT(tmap_triangle_rb_grid(0).x == 0 && tmap_triangle_rb_grid(0).y == 1, "%d", 0);
    EXPECT(a.m == 15 && a.k == 7, "m=%u k=%u", a.m, a.k);
    EXPECT(b.m == 48 && b.k == 1, "m=%u k=%u", b.m, b.k);
    EXPECT(tmap_triangle_rec_grid(a, 6).x == 960 && tmap_triangle_rec_grid(a, 6).y == 1, "%d", 6);
    p = tmap_triangle_rec_map(two, 0, 0, 0, 1);
    EXPECT(p.i == 3 && p.j == 2, "(%u,%u)", p.i, p.j);
    p = tmap_triangle_rec_map(two, 1, 1, 0, 0);
    EXPECT(p.i == 2 && p.j == 1, "(%u,%u)", p.i, p.j);
    p = tmap_triangle_rec_diagonal(pairs, 0, 1, 3);
    EXPECT(p.i == 7 && p.j == 6, "(%u,%u)", p.i, p.j);
}

int main(void) {
    check_examples();
    for (tmap_u32 n = 0; n <= SIDE_MAX; ++n) {
        for (int form = 0; form < FORMS; ++form)
            if (form == FORM_TILES)
                check_form(form, n, 1 + n % 7);
            else if (form != FORM_REC)
                check_form(form, n, 0);
        for (tmap_u32 m0 = 0; m0 <= 5; ++m0) check_rec(n, m0);
        check_utm(n);
        check_table(n);
        check_recursive(n, 1);
        check_recursive(n, 3);
    }
    check_utm_printed_range();
    check_published_examples();
    check_utm_plain(1920);
    check_utm_plain(TMAP_TRIANGLE_UTM_ROWS_MAX);
    return kit_end("triangle_maps");
}
