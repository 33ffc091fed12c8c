// SPDX-License-Identifier: MIT
// triangle_maps.c: the maps of triangles, of the upper triangle and of the simplex, walked cell by
// cell from the first; rows beyond by random; the stated ranges of the paper's maps on the host.
//
// usage: triangle_maps [NUMBERS]   how many numbers to walk (3000000)
#include "triangle/triangle_kat.h"

#define MAX64 0xffffffffffffffffull

// 1 with -ffast-math, under which the paper's maps, which depend on each rounding, state nothing.
#if defined(__FAST_MATH__)
#define FAST_MATH 1
#else
#define FAST_MATH 0
#endif

// Every number from 0 on: the next cell is one to the right, or the first of the next row.
static void walk_triangle(tmap_u32 count) {
    tmap_u32 i = 0, j = 0;
    for (tmap_u32 l = 0; l < count; ++l) {
        tmap_pair p = tmap_triangle_map(l), s = tmap_triangle_map_strict(l);
        tmap_pair64 q = tmap_triangle_map64(l), t = tmap_triangle_map_strict64(l);
        EXPECT(p.i == i && p.j == j, "%u: (%u,%u)", l, p.i, p.j);
        EXPECT(s.i == i + 1 && s.j == j, "%u: (%u,%u)", l, s.i, s.j);
        EXPECT(q.i == i && q.j == j, "%u: (%llu,%llu)", l, q.i, q.j);
        EXPECT(t.i == i + 1 && t.j == j, "%u: (%llu,%llu)", l, t.i, t.j);
        EXPECT(tmap_triangle_index(i, j) == l, "%u", l);
        EXPECT(tmap_triangle_index_strict(i + 1, j) == l, "%u", l);
        EXPECT(tmap_triangle_index_strict(i + 1ull, j) == l, "%u", l);
        if (j++ == i) ++i, j = 0;
    }
}

static void walk_simplex(tmap_u32 count) {
    tmap_u32 i = 0, j = 0, k = 0;
    for (tmap_u32 l = 0; l < count; ++l) {
        tmap_triple p = tmap_simplex_map(l), q = tmap_simplex_map64(l);
        EXPECT(p.i == i && p.j == j && p.k == k, "%u: (%u,%u,%u)", l, p.i, p.j, p.k);
        EXPECT(q.i == i && q.j == j && q.k == k, "%u: (%u,%u,%u)", l, q.i, q.j, q.k);
        EXPECT(tmap_simplex_index(i, j, k) == l, "%u", l);
        if (k++ == j) {
            k = 0;
            if (j++ == i) ++i, j = 0;
        }
    }
}

// The upper triangle of n rows, its diagonal left out (gap 1) or not.
static void walk_upper(tmap_u32 n, tmap_u32 gap) {
    tmap_u32 k = 0;
    for (tmap_u32 i = 0; i + gap < n; ++i)
        for (tmap_u32 j = i + gap; j < n; ++j, ++k) {
            tmap_pair p = gap ? tmap_condensed_map(k, n) : tmap_upper_map(k, n);
            tmap_pair64 q = gap ? tmap_condensed_map64(k, n) : tmap_upper_map64(k, n);
            tmap_u64 l = gap ? tmap_condensed_index(i, j, n) : tmap_upper_index(i, j, n);
            EXPECT(p.i == i && p.j == j, "n=%u k=%u: (%u,%u)", n, k, p.i, p.j);
            EXPECT(q.i == i && q.j == j, "n=%u k=%u: (%llu,%llu)", n, k, q.i, q.j);
            EXPECT(l == k, "n=%u (%u,%u): %llu", n, i, j, l);
        }
    EXPECT(k == (gap ? tmap_condensed_cells(n) : tmap_triangle_cells(n)), "n=%u", n);
}

// Random rows of every size up to the last: both ends, and the numbers beside them.
static void check_ends(tmap_u32 count) {
    tmap_u64 state = 7;
    for (tmap_u32 n = 0; n < count; ++n) {
        tmap_u64 i = 2 + (kit_random(&state) >> (63 - n % 33)) % (TMAP_TRIANGLE_ROWS_MAX64 - 2);
        tmap_u64 first = (i % 2 ? (i + 1) / 2 * i : i / 2 * (i + 1));
        tmap_pair64 a = tmap_triangle_map64(first), b = tmap_triangle_map64(first - 1);
        tmap_pair64 c = tmap_triangle_map64(first + i), d = tmap_triangle_map64(first + i + 1);
        EXPECT(a.i == i && a.j == 0, "row %llu: (%llu,%llu)", i, a.i, a.j);
        EXPECT(b.i == i - 1 && b.j == i - 1, "row %llu: (%llu,%llu)", i, b.i, b.j);
        EXPECT(c.i == i && c.j == i, "row %llu: (%llu,%llu)", i, c.i, c.j);
        EXPECT(d.i == i + 1 && d.j == 0, "row %llu: (%llu,%llu)", i, d.i, d.j);
        if (first + i < 1ull << 32) {
            tmap_pair e = tmap_triangle_map((tmap_u32)first);
            tmap_pair f = tmap_triangle_map((tmap_u32)(first + i));
            EXPECT(e.i == i && e.j == 0, "row %llu: (%u,%u)", i, e.i, e.j);
            EXPECT(f.i == i && f.j == i, "row %llu: (%u,%u)", i, f.i, f.j);
        }
    }
}

// The first numbers, where the root is that of 0 or near it: asked as constants, which a compiler
// folds, and in a loop that it may turn into vectors, which convert what is no number differently
// from single instructions. With -ffast-math each of the three is code of its own.
enum { FIRST = 64 };
static void check_first(tmap_u32 n) {
    const tmap_pair zero = tmap_triangle_map(0), one = tmap_triangle_map(1);
    const tmap_pair last = tmap_condensed_map(5, 4), corner = tmap_upper_map(5, 3);
    const tmap_triple triple = tmap_simplex_map(0), triple64 = tmap_simplex_map64(0);
    const tmap_u32 pairs = (tmap_u32)tmap_triangle_cells(n);
    tmap_u32 i[FIRST], j[FIRST], from[FIRST], to[FIRST], upper[FIRST];
    tmapi_float root;
    root.value = tmapi_sqrt((float)(n >> 31));
    EXPECT(root.bits == 0, "the root of 0 has the bits %08x", root.bits);
    EXPECT(zero.i == 0 && zero.j == 0, "0: (%u,%u)", zero.i, zero.j);
    EXPECT(one.i == 1 && one.j == 0, "1: (%u,%u)", one.i, one.j);
    EXPECT(last.i == 2 && last.j == 3, "the last pair of 4: (%u,%u)", last.i, last.j);
    EXPECT(corner.i == 2 && corner.j == 2, "the last cell of 3 rows: (%u,%u)", corner.i, corner.j);
    EXPECT(triple.i + triple.j + triple.k == 0, "0: (%u,%u,%u)", triple.i, triple.j, triple.k);
    EXPECT(triple64.i + triple64.j + triple64.k == 0, "0: (%u,%u,%u)", triple64.i, triple64.j,
           triple64.k);
    for (tmap_u32 l = 0; l < FIRST; ++l) {
        tmap_pair p = tmap_triangle_map(l);
        i[l] = p.i, j[l] = p.j;
    }
    for (tmap_u32 l = 0; l < FIRST; ++l) { // from the last number of n rows downwards
        tmap_pair p = tmap_condensed_map(pairs - 1 - l, n + 1),
                  q = tmap_upper_map(pairs - 1 - l, n);
        from[l] = p.i, to[l] = p.j, upper[l] = q.i;
    }
    for (tmap_u32 l = 0; l < FIRST; ++l) {
        EXPECT(tmap_triangle_index(i[l], j[l]) == l && j[l] <= i[l], "%u: (%u,%u)", l, i[l], j[l]);
        EXPECT(tmap_condensed_index(from[l], to[l], n + 1) == pairs - 1 - l && from[l] < to[l] &&
                   to[l] <= n,
               "%u before the last: (%u,%u)", l, from[l], to[l]);
        EXPECT(upper[l] == n - 1 - i[l], "%u before the last: row %u", l, upper[l]);
    }
}

// The paper's maps are right for the rows that their header states, or that it states for hosts
// that round products.
typedef tmap_pair (*paper_map)(tmap_u32);
static void check_paper(const char *name, paper_map map, paper_map strict, tmap_u32 rows) {
    tmap_u32 i = 0, j = 0;
    for (tmap_u32 l = 0; l < tmap_triangle_cells(rows); ++l) {
        tmap_pair p = map(l), s = strict(l);
        EXPECT(p.i == i && p.j == j, "%s %u: (%u,%u)", name, l, p.i, p.j);
        EXPECT(s.i == i + 1 && s.j == j, "%s strict %u: (%u,%u)", name, l, s.i, s.j);
        if (j++ == i) ++i, j = 0;
    }
}

// UTM as printed, at both ends of each row of some n.
static void check_utm_sqrt(void) {
    for (tmap_u32 n = 2; n <= TMAP_TRIANGLE_UTM_SQRT_MAX; n = n < 40 ? n + 1 : n + 13)
        for (tmap_u32 a = 0; a + 1 < n; ++a) {
            tmap_u32 first = (tmap_u32)tmap_condensed_index(a, a + 1, n);
            tmap_pair p = tmap_triangle_utm_sqrt(first, n);
            tmap_pair q = tmap_triangle_utm_sqrt(first + (n - 2 - a), n);
            EXPECT(p.i == a && p.j == a + 1, "n=%u row %u: (%u,%u)", n, a, p.i, p.j);
            EXPECT(q.i == a && q.j == n - 1, "n=%u row %u: (%u,%u)", n, a, q.i, q.j);
        }
}

int main(int argc, char **argv) {
    tmap_u32 count = argc > 1 ? (tmap_u32)strtoul(argv[1], NULL, 10) : 3000000;
    tmap_u32 newton = TMAP_TRIANGLE_ROWS_NEWTON_UNFUSED;
    check_first((tmap_u32)argc + 20);
    walk_triangle(count);
    walk_simplex(count);
    for (tmap_u32 n = 0; n < 70; ++n) walk_upper(n, 0), walk_upper(n, 1);
    walk_upper(1000, 0);
    walk_upper(1000, 1);
    check_ends(count / 10);
    if (!FAST_MATH) {
        check_paper("LTM-X", tmap_triangle_map_sqrt, tmap_triangle_map_strict_sqrt,
                    count < 1000000 ? 300 : TMAP_TRIANGLE_ROWS_SQRT);
        check_paper("LTM-N", tmap_triangle_map_newton, tmap_triangle_map_strict_newton,
                    count < 1000000 ? 300 : newton);
        check_paper("LTM-R", tmap_triangle_map_rsqrt, tmap_triangle_map_strict_rsqrt,
                    count < 1000000 ? 300 : TMAP_TRIANGLE_ROWS_RSQRT);
        check_utm_sqrt();
    }
    expect(tmap_triangle_index(0xffffffffu, 0xffffffffu) == (1ull << 63) + (1ull << 31) - 1,
           "the last of 32-bit coordinates");
    expect(tmap_triangle_map64(MAX64).i == TMAP_TRIANGLE_ROWS_MAX64, "the last row");
    expect(tmap_triangle_map(0xffffffffu).i == TMAP_TRIANGLE_ROWS_MAX32, "the last row");
    expect(tmap_simplex_map64(MAX64).i == TMAP_SIMPLEX_LAYERS_MAX64, "the last layer");
    expect(tmap_simplex_map(0xffffffffu).i == TMAP_SIMPLEX_LAYERS_MAX32, "the last layer");
    return kit_end("triangle_maps");
}
