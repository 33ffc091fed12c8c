// SPDX-License-Identifier: MIT
// tile_lines: the rows and columns of tiles, rows.h, against membership; and the cells row by row,
// rows.h, without its tables: how many a level has above each row.
#include "kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/rows.h>

static void set_case(tmap_nbb f, tmap_u32 m, tmap_u32 i) {
    kit_case("k=%u s=%ux%u m=%u, %u", f.k, f.sx, f.sy, m, i);
}

static void run_lines(tmap_nbb f) {
    for (tmap_u32 m = 0; m <= tmap_nbb_tile_level(f, TMAP_LEVEL_MAX, 64) && m <= 8; ++m) {
        const tmap_u32 height = (tmap_u32)tmap_nbb_side_y(f, m);
        for (tmap_u32 i = 0; i < 70; ++i) {
            const tmap_u64 row = tmap_tile_row(f, m, i);
            tmap_u32 column;
            set_case(f, m, i);
            for (tmap_u32 j = 0; j < 64; ++j)
                expect((row >> j & 1) == (tmap_u64)tmap_nbb_contains(f, j, i, m), "row");
            if (height > 32) continue;
            column = tmap_tile_column(f, m, height, i);
            for (tmap_u32 j = 0; j < 32; ++j)
                expect((column >> j & 1) == (tmap_u32)tmap_nbb_contains(f, i, j, m), "column");
        }
    }
}

static void run_rows(tmap_nbb f) {
    tmap_u32 replicas[TMAP_ROWS_WORDS] = {0};
    for (tmap_u32 i = 0; i < TMAP_ROWS_WORDS; ++i) tmapi_rows_fill(f, i, replicas);
    for (tmap_u32 m = 0; m <= 6; ++m) {
        const tmap_u64 width = tmap_nbb_side_x(f, m), height = tmap_nbb_side_y(f, m);
        tmap_u32 above = 0;
        if (tmap_mul_saturate(width, height) > 1u << 18) break;
        for (tmap_u32 y = 0; y < height; ++y) {
            set_case(f, m, y);
            expect(tmapi_rows_above(f, m, y, replicas) == above, "rows above");
            for (tmap_u32 x = 0; x < width; ++x) above += (tmap_u32)tmap_nbb_contains(f, x, y, m);
        }
        expect(tmapi_rows_above(f, m, (tmap_u32)height, replicas) == above, "cells");
    }
}

// No fractals, and still nothing traps: what comes out is not looked at, but kept.
static tmap_u64 run_total(tmap_nbb f) {
    tmap_u64 sum = 0;
    tmap_u32 replicas[TMAP_ROWS_WORDS] = {0};
    for (tmap_u32 i = 0; i < TMAP_ROWS_WORDS; ++i) tmapi_rows_fill(f, i, replicas);
    for (tmap_u32 m = 0; m <= 8; ++m)
        for (tmap_u32 i = 0; i < 70; ++i) {
            sum += tmap_tile_row(f, m, i) + tmap_tile_column(f, m, 32, i) + tmap_tile_level(f, m);
            sum += tmap_rows_bytes(f, m) + tmap_rows_level_max(f);
        }
    return sum;
}

int main(void) {
    const char *own[] = {"#.#/.#.", "#/#", "##", "#", ".#", "..../.#.#/#..#", "################"};
    tmap_nbb f, odd = tmap_nbb_make(3, 2, 2, 0x001, 0x011); // the gasket's replicas, not row by row
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i)
        run_lines(tmap_fractal_at(i)), run_rows(tmap_fractal_at(i));
    for (unsigned i = 0; i < COUNT(own); ++i)
        expect(tmap_nbb_from_rows(own[i], &f) == TMAP_OK, own[i]), run_lines(f), run_rows(f);
    run_lines(odd), run_rows(odd);
    printf("every call returned (%llx)\n", run_total(tmap_nbb_make(0, 0, 0, 0, 0)) +
                                               run_total(tmap_nbb_make(3, 0, 2, 0x100, 0x110)) +
                                               run_total(tmap_nbb_make(3, 2, 0, 0x100, 0x110)));
    // The examples of the comments.
    f = tmap_fractal_gasket(), kit_case("%s", "of the comments");
    expect(tmap_tile_column(f, 2, 4, 1) == 0xa && tmap_tile_column(f, 2, 4, 2) == 0xc, "example");
    expect(tmap_tile_row(f, 2, 2) == 5 && tmap_tile_row(f, 2, 3) == 15, "example");
    expect(tmap_rows_bytes(f, 10) == 572, "example");
    expect(tmap_rows_level_max(f) == 16, "example");
    expect(tmap_rows_level_max(tmap_fractal_carpet()) == 10, "example");
    expect(tmap_rows_level_max(tmap_fractal_candy()) == 8, "example");
    return kit_end("tile_lines");
}
