// SPDX-License-Identifier: MIT
// compact_places.c: the order of compact storage and its neighbours against lists and pictures made
// by replication: every cell and the eight places around it, inside a fractal and in the copies of
// it around; words of one bit a cell; sizes and the largest levels; and the examples of the
// comments.
//
// Usage: compact_places [CELLS]   with another bound than 20000 cells, for slow builds.
#include "fractal/brute.h"

#include <threadmap/fractal/compact_stencil.h>

// number: of the cell at each place of a fractal, or -1. Copies of it stand around it.
static void check_neighbours(const brute *b, tmap_nbb f, tmap_u32 r, const brute_cell *cells,
                             size_t n, const int *number) {
    const long long width = (long long)tmap_nbb_side_x(f, r);
    const long long height = (long long)tmap_nbb_side_y(f, r);
    for (size_t i = 0; i < n; ++i)
        for (int d = 0; d < 9; ++d) {
            const long long x = (long long)cells[i].at[0] + d % 3 - 1;
            const long long y = (long long)cells[i].at[1] + d / 3 - 1;
            const int copy_x = x < 0 ? -1 : x >= width, copy_y = y < 0 ? -1 : y >= height;
            const int want = number[(y - copy_y * height) * width + x - copy_x * width];
            const int none = want < 0 || (copy_x && f.sx == 1) || (copy_y && f.sy == 1);
            const tmap_compact_place p =
                tmap_compact_beside(f, (tmap_u32)i, r, d % 3 - 1, d / 3 - 1);
            EXPECT(p.none == none, "%s r=%u cell %zu direction %d", b->text, r, i, d);
            EXPECT(none || (p.index == (tmap_u32)want && p.x == copy_x && p.y == copy_y),
                   "%s r=%u cell %zu direction %d: %u in (%d,%d), not %d", b->text, r, i, d,
                   p.index, p.x, p.y, want);
        }
}

static void check_fractal(const brute *b, brute_cell *cells, size_t cells_max) {
    const size_t places_max = 1u << 20;
    int *number = (int *)kit_host(places_max * sizeof *number);
    const tmap_nbb f = brute_nbb(b);
    size_t n = 1;
    memset(&cells[0], 0, sizeof cells[0]);
    for (tmap_u32 r = 0; r <= 12; ++r) {
        const tmap_u64 places = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
        if (places > places_max || (r > 0 && n * f.k > cells_max)) break;
        if (r > 0) n = brute_grow(b, (int)r, cells, n);
        for (tmap_u64 i = 0; i < places; ++i) number[i] = -1;
        for (size_t i = 0; i < n; ++i)
            number[cells[i].at[1] * tmap_nbb_side_x(f, r) + cells[i].at[0]] = (int)i;
        for (tmap_u64 i = 0; i < places; ++i) {
            const tmap_u64 x = i % tmap_nbb_side_x(f, r), y = i / tmap_nbb_side_x(f, r);
            const tmap_u64 want = number[i] < 0 ? ~0ull : (tmap_u64)number[i];
            EXPECT(tmap_compact_index(f, x, y, r) == want, "%s r=%u (%llu,%llu)", b->text, r, x, y);
        }
        for (size_t i = 0; i < n; ++i) {
            const tmap_xy64 c = tmap_compact_cell(f, i, r);
            EXPECT(c.x == cells[i].at[0] && c.y == cells[i].at[1], "%s r=%u cell %zu", b->text, r,
                   i);
        }
        EXPECT(tmap_compact_bytes(f, r, 4) == 4 * n, "%s r=%u", b->text, r);
        check_neighbours(b, f, r, cells, n, number);
    }
    kit_release(kit_mark() - 1);
}

// n / k without a division: all k, and n at every edge.
static void check_divide(void) {
    for (tmap_u32 k = 1; k <= 16; ++k) {
        const tmap_u32 inverse = tmapi_compact_inverse(k);
        for (tmap_u64 n = 0; n < 1ull << 32; n += 1 + n % 4099)
            EXPECT(tmapi_compact_divide((tmap_u32)n, k, inverse) == (tmap_u32)n / k, "%llu / %u", n,
                   k);
        for (tmap_u32 n = 0xffffffffu; n > 0xffff0000u; --n)
            EXPECT(tmapi_compact_divide(n, k, inverse) == n / k, "%u / %u", n, k);
    }
    for (tmap_u32 k = 1; k < 1u << 16; k += 1 + k / 7)
        for (tmap_u32 n = 0; n < 1u << 16; n += 1 + n % 5)
            EXPECT(tmapi_compact_divide(n, k, tmapi_compact_inverse(k)) == n / k, "%u / %u", n, k);
}

static void check_examples(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_compact_place p;
    expect(tmap_compact_index(f, 1, 3, 2) == 5, "(1,3)");
    expect(tmap_compact_index(f, 1, 2, 2) == ~0ull, "(1,2)");
    expect(tmap_compact_bytes(f, 20, 4) == 13947137604ull, "r = 20");
    expect(tmap_compact_level_max(f, 4, 2, 141000000000ull) == 21, "floats");
    p = tmap_compact_beside(f, 3, 2, 0, -1);
    EXPECT(!p.none && p.index == 1 && !p.x && !p.y, "%u", p.index);
    expect(tmap_compact_beside(f, 3, 2, -1, 0).none, "to the left");
    p = tmap_compact_beside(f, 8, 2, 1, 0);
    EXPECT(!p.none && p.index == 4 && p.x == 1 && !p.y, "%u", p.index);
    expect(tmapi_compact_tile_level(f, 20) == 5, "tiles");
    expect(tmapi_compact_tile_level(tmap_fractal_carpet(), 20) == 3, "tiles");
    // Arguments past their range give some value, and nothing traps.
    (void)tmap_compact_beside(tmap_nbb_make(0, 0, 0, 0, 0), 7, 5, 1, 1);
    (void)tmap_compact_beside(f, 0xffffffffu, 64, 1, -1);
    expect(tmap_compact_bytes(f, 64, 16) == ~0ull, "saturates");
}

int main(int argc, char **argv) {
    const size_t cells_max = argc > 1 ? (size_t)atol(argv[1]) : 20000;
    brute_cell *cells = (brute_cell *)kit_host(cells_max * sizeof *cells);
    for (int i = 0; i < brute_known(BRUTE_PLAIN) + 200; ++i) {
        const brute b = brute_at(BRUTE_PLAIN, i);
        check_fractal(&b, cells, cells_max);
    }
    check_divide();
    check_examples();
    return kit_end("compact_places");
}
