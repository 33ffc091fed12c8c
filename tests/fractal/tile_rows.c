// SPDX-License-Identifier: MIT
// tile_rows: the pure functions of tile.h against the definition: cells row by row, columns of tiles,
// and groups of four.
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/rows_tables.h>
#include <threadmap/fractal/tile.h>

#include <stdio.h>

static int failures;

static void expect(int ok, const char *what, tmap_nbb f, tmap_u32 m, tmap_u32 i) {
    if (!ok && ++failures <= 20)
        printf("FAIL %s: k=%u s=%ux%u m=%u, %u\n", what, f.k, f.sx, f.sy, m, i);
}

static void run(tmap_nbb f) {
    for (tmap_u32 m = 0; m <= 8; ++m) {
        tmap_u64 width = tmap_nbb_side_x(f, m), height = tmap_nbb_side_y(f, m);
        tmap_u32 i = 0;
        if (tmap_mul_saturate(width, height) > 1u << 20) break;
        for (tmap_u32 y = 0; y < height; ++y)
            for (tmap_u32 x = 0; x < width; ++x)
                if (tmap_nbb_contains(f, x, y, m)) {
                    tmap_xy c = tmap_nbb_cell_by_rows(f, m, i);
                    expect(c.x == x && c.y == y, "cell by rows", f, m, i);
                    ++i;
                }
        expect(i == tmap_nbb_cells(f, m), "cells", f, m, i);
        if (m > tmap_tile_level(f, 64)) continue;
        for (tmap_u32 x = 0; x < 40; ++x) {
            tmap_u32 rows = tmap_tile_column(f, m, 32, x);
            for (tmap_u32 y = 0; y < 32; ++y)
                expect((rows >> y & 1) == (tmap_u32)tmap_nbb_contains(f, x, y, m), "column", f, m,
                       x);
        }
        for (tmap_u32 group = 0; group < 8; ++group) {
            tmap_groups g = tmap_groups_make(f, m, group, 1, 32);
            for (tmap_u32 row = 0; row < 32; ++row)
                for (tmap_u32 c = 0; c < 4; ++c)
                    expect((tmap_groups_row(&g, row) >> c & 1) ==
                               (tmap_u32)tmap_nbb_contains(f, 4 * group + c, 1 + row, m),
                           "groups", f, m, group);
        }
    }
}

int main(void) {
    const char *own[] = {"#.#/.#.", "#/#", "##", "#", ".#", "..../.#.#/#..#", "################"};
    tmap_nbb f, odd = tmap_nbb_make(3, 2, 2, 0x001, 0x011); // the gasket's replicas, not row by row
    tmap_xy c;
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) run(tmap_fractal_at(i));
    for (unsigned i = 0; i < sizeof own / sizeof *own; ++i)
        if (tmap_nbb_from_rows(own[i], &f) == TMAP_OK)
            run(f);
        else
            ++failures;
    run(odd);
    // Replicas row by row.
    f = tmap_nbb_by_rows(odd);
    expect(tmap_nbb_equal(f, tmap_nbb_make(3, 2, 2, 0x100, 0x110)), "by rows", f, 1, 0);
    expect(!tmapi_rows_numbered(odd) && tmapi_rows_numbered(f), "numbered", f, 1, 0);
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i)
        expect(tmap_nbb_equal(tmap_nbb_by_rows(tmap_fractal_at(i)), tmap_fractal_at(i)),
               "the catalogue by rows", tmap_fractal_at(i), 1, 0);
    // The examples of the comments.
    expect(tmap_rows_tables_bytes(tmap_fractal_vicsek(), 10) == 10760, "example", f, 10, 0);
    expect(tmap_rows_tables_bytes(tmap_fractal_carpet(), 10) == 0, "example", f, 10, 0);
    f = tmap_fractal_gasket();
    c = tmap_nbb_cell_by_rows(f, 2, 4);
    expect(c.x == 2 && c.y == 2, "example", f, 2, 4);
    expect(tmap_tile_column(f, 2, 4, 1) == 0xa, "example", f, 2, 1);
    expect(tmap_groups_make(f, 2, 0, 0, 4).word[0] == 0xf531, "example", f, 2, 0);
    printf("%d failures\n", failures);
    return failures != 0;
}
