// SPDX-License-Identifier: MIT
// out_of_range.c: what maps return for arguments outside their ranges, wherever a comment says it:
// structs of zeros, sizes that saturate, places and numbers past the end. That nothing else is
// undefined for any argument, tests/headers/total_test.py checks of all functions.
#include "kit.h"

#include <threadmap/adaptive/region.h>
#include <threadmap/fractal/ca_rule.h>
#include <threadmap/fractal/compact.h>
#include <threadmap/fractal/compact_stencil.h>
#include <threadmap/fractal/rows.h>
#include <threadmap/fractal/stencil3.h>
#include <threadmap/fractal/turned.h>
#include <threadmap/papers/ask_model.h>
#include <threadmap/papers/block.h>
#include <threadmap/papers/box_bits.h>
#include <threadmap/papers/drmsd_slides.h>
#include <threadmap/papers/region_hilbert.h>
#include <threadmap/papers/tensor.h>
#include <threadmap/papers/triangle_published.h>
#include <threadmap/triangle/condensed.h>
#include <threadmap/triangle/simplex.h>

#define M32 0xffffffffu
#define M64 0xffffffffffffffffull

static const tmap_u32 ends32[] = {0, 1, 0x7fffffffu, 0x80000000u, M32};
static const tmap_u64 ends64[] = {0, 1, 0x7fffffffu, 0x80000000u, M32, 1ull << 63, M64};

static int same(tmap_xy p, tmap_u32 x, tmap_u32 y) { return p.x == x && p.y == y; }
static int same3(tmap_xyz p, tmap_u32 x, tmap_u32 y, tmap_u32 z) {
    return p.x == x && p.y == y && p.z == z;
}

static void check_core(void) {
    HOLDS(tmap_mul_saturate(M64, 0) == 0 && tmap_mul_saturate(0, M64) == 0);
    HOLDS(tmap_mul_saturate(M64, 1) == M64 && tmap_mul_saturate(M64, M64) == M64);
    HOLDS(tmap_mul_saturate(1ull << 63, 2) == M64 &&
          tmap_mul_saturate(1ull << 32, M32) == M64 - M32);
    HOLDS(!strcmp(tmap_strerror(2147483647), "unknown error code"));
    HOLDS(!strcmp(tmap_strerror(-2147483647 - 1), "unknown error code"));
}

static void check_triangle(void) {
    const tmap_triangle_rec zero = {0, 0}, deep = {1, M32}, wide = {M32, 32};
    HOLDS(tmap_triangle_cells(TMAP_TRIANGLE_ROWS_MAX64) < M64);
    HOLDS(tmap_triangle_cells(TMAP_TRIANGLE_ROWS_MAX64 + 1) == M64);
    HOLDS(tmap_triangle_cells(M64) == M64 && tmap_triangle_cells_strict(M64) == M64);
    HOLDS(tmap_triangle_cells(0) == 0 && tmap_triangle_cells_strict(0) == 0);
    HOLDS(tmap_triangle_cells_strict(TMAP_TRIANGLE_ROWS_MAX64 + 1) < M64);
    HOLDS(tmap_condensed_cells(0) == 0 && tmap_condensed_cells(M64) == M64);
    HOLDS(tmap_simplex_cells(TMAP_SIMPLEX_LAYERS_MAX64) < M64 && tmap_simplex_cells(M64) == M64);
    HOLDS(tmap_simplex_cells(TMAP_SIMPLEX_LAYERS_MAX64 + 1) == M64);
    HOLDS(tmap_triangle_index_strict(0, 7) == tmap_triangle_index_strict(1, 7));
    HOLDS(tmap_triangle_index(2, 3) == tmap_triangle_index(3, 0)); // the next row
    for (size_t i = 0; i < COUNT(ends32); ++i) {
        const tmap_u32 n = ends32[i];
        kit_case("n = %u", n);
        HOLDS(tmap_triangle_tile_rows(n, 0) == n && tmap_triangle_tile_rows(n, 1) == n);
        HOLDS(tmap_triangle_tile_rows(n, M32) == (n > 0));
        HOLDS(tmap_triangle_tiles(n, 0) == tmap_triangle_cells(n));
        for (size_t j = 0; j < COUNT(ends64); ++j) {
            const tmap_u64 lambda = ends64[j];
            const tmap_triangle_tile t = tmap_triangle_tile_map64(lambda, n, 3);
            if (lambda < tmap_triangle_tiles(n, 3)) continue;
            kit_more(", tile %llu", lambda);
            HOLDS(t.rows == 0 && !tmap_triangle_tile_contains(t, 0, 0));
            HOLDS(!tmap_triangle_tile_contains_strict(t, 0, 0));
            HOLDS(tmap_triangle_tile_cells(t) == 0);
            HOLDS(lambda > M32 || tmap_triangle_tile_map((tmap_u32)lambda, n, 3).rows == 0);
        }
        const tmap_triangle_rec rec = tmap_triangle_rec_make(n, 0);
        const tmap_triangle_rec one = tmap_triangle_rec_make(n, 1);
        HOLDS(rec.m == one.m && rec.k == one.k && (tmap_u64)rec.m << rec.k == n);
        HOLDS(tmap_triangle_rec_make(n, M32).k == 0);
    }
    kit_case("%s", "the paper's maps");
    HOLDS(tmap_triangle_rec_triangles(deep) == 0 && tmap_triangle_rec_triangles(wide) == 0);
    HOLDS(same(tmap_triangle_rec_grid(zero, 0), 0, 0) &&
          same(tmap_triangle_rec_grid(deep, 0), 0, 0));
    HOLDS(same(tmap_triangle_rec_grid(wide, 32), 0, 0) && same(tmap_triangle_rb_grid(0), 0, 1));
    HOLDS(tmap_triangle_rec_grid(wide, 0).y == 1u << 31 && tmap_triangle_rec_grid(wide, 31).y == 1);
    HOLDS(tmap_triangle_utm_blocks_rsqrt(4000000000u, 3).i == M32); // out of range
    HOLDS(tmap_triangle_table_bytes(TMAP_TRIANGLE_TABLE_ROWS_MAX) > 0);
    HOLDS(tmap_triangle_table_bytes(TMAP_TRIANGLE_TABLE_ROWS_MAX + 1) == 0);
    tmap_u32 table = 7;
    tmap_triangle_table_fill(&table, M32);
    HOLDS(table == 7);
    tmap_pair pair = {7, 7};
    if (!tmap_triangle_utm_printed(M32, 4, &pair)) HOLDS(pair.i == 7 && pair.j == 7);
    HOLDS(!tmap_triangle_bb_by_threads(M32, M32, M32, &pair));
}

static void check_fractal(void) {
    const tmap_nbb g = tmap_fractal_gasket(), zero = tmap_nbb_make(0, 0, 0, 0, 0);
    const tmap_nbb thin = tmap_nbb_make(1, 1, 1, 0, 0);
    HOLDS(tmap_nbb_cells(g, M32) == M64 && tmap_nbb_side_x(g, 64) == M64);
    HOLDS(tmap_nbb_cells(thin, M32) == 1 && tmap_nbb_side_y(tmap_fractal_cantor(), M32) == 1);
    HOLDS(tmap_nbb_orthotope(g, M32).x == M64 && tmap_nbb_orthotope(g, M32).y == M64);
    HOLDS(tmap_nbb_tile_level(g, 9, 0) == 0 && tmap_nbb_tile_level(g, 9, M32) == 9);
    HOLDS(tmap_nbb_block_level(g, 9, 0) == 9 && tmap_nbb_tile_level(g, 0, M32) == 0);
    HOLDS(tmap_nbb_level_max64(thin) == TMAP_LEVEL_MAX);
    HOLDS(!tmap_nbb_contains(g, M32, M32, 31) && tmap_nbb_contains(g, M32, M32, 32));
    HOLDS(!tmap_nbb_contains64(g, 0, 1ull << 63, 63) && tmap_nbb_contains64(g, M64, M64, 64));
    HOLDS(tmap_nbb_contains(g, 0, 0, 0) && !tmap_nbb_contains(g, 1, 0, 0));
    HOLDS(same(tmap_nbb_lambda(g, M32, M32, 0), 0, 0)); // digits past level r
    HOLDS(same(tmap_nbb_lambda(g, 2 + 3 * 77, 1 + 3 * 99, 2), 1, 3));
    HOLDS(same(tmap_nbb_lambda_linear(g, 5 + 9 * 1000, 2), 1, 3));
    HOLDS(tmap_nbb_nu_linear(g, 3, 0, 2) == 0); // each level without a replica is digit 0
    HOLDS(same(tmap_nbb_nu(g, 3, 0, 2), 0, 0));
    HOLDS(tmap_nbb_beta(g, M32, M32, 200) == 0 || tmap_nbb_beta(g, M32, M32, 200) < 3);
    for (size_t i = 0; i < COUNT(ends32); ++i) // zeros: of one cell, in the maps
        HOLDS(same(tmap_nbb_lambda(zero, ends32[i], ends32[i], 3), 0, 0));
    HOLDS(tmap_gasket_contains(0, 0, 1u << 31) == 1);
    HOLDS(same(tmap_gasket_lambda(2, 1, 2), 1, 3) && same(tmap_gasket_lambda(0, 0, M32), 0, 0));
}

static void check_compact(void) {
    const tmap_nbb g = tmap_fractal_gasket(), zero = tmap_nbb_make(0, 0, 0, 0, 0);
    const tmap_nbb3 zero3 = {0, 0, 0, 0, 0, 0, 0},
                    huge = {1, 1u << 31, 1u << 31, 1u << 31, 0, 0, 0};
    tmap_u64 word;
    tmap_u32 bit;
    HOLDS(tmap_compact_index(g, 1, 2, 2) == M64 && tmap_compact_index(g, M64, M64, 2) == M64);
    HOLDS(tmap_compact_bytes(g, 64, M32) == M64 && tmap_compact_words_bytes(g, 64) == M64);
    HOLDS(tmap_compact_level_max(g, M32, M32, 0) == 0 && tmap_compact_level_max(g, 1, 1, 1) == 0);
    HOLDS(tmap_compact_words_level_max(g, M32, 0) == 0);
    for (size_t i = 0; i < COUNT(ends64); ++i) { // zeros: of one cell, whose bit is in word 0
        word = 7, bit = 7;
        tmap_compact_bit(zero, 5, ends64[i], &word, &bit);
        HOLDS(word == 0 && bit == (tmap_u32)ends64[i]);
        word = 7, bit = 7;
        tmap_compact3_bit(zero3, 5, ends64[i], &word, &bit);
        HOLDS(word == 0 && bit == (tmap_u32)ends64[i]);
    }
    for (int to = 0; to < TMAP_AROUND3; ++to) {
        const tmap_compact3_place p = tmap_compact3_beside(huge, 0, 1, (tmap_u32)to);
        kit_case("place %d", to);
        HOLDS(p.none || p.index == 0);
        HOLDS(tmap_compact3_beside(huge, 5, 0, (tmap_u32)to).to == (tmap_u32)to);
        HOLDS(tmap_compact3_beside(huge, 5, 0, (tmap_u32)to).index == 5);
    }
    kit_case("%s", "rows of tiles");
    HOLDS(tmap_tile_row(g, 2, 4) == 0 && tmap_tile_row(g, 2, M32) == 0);
    HOLDS(tmap_tile_column(g, 2, 4, 4) == 0 && tmap_tile_column(g, 2, 0, 0) == 0);
}

static void check_fractal3(void) {
    const tmap_nbb3 m = tmap_fractal3_menger(), zero = {0, 0, 0, 0, 0, 0, 0};
    const tmap_turned h = tmap_turned_hilbert(), flat = {{0, 0, 0, 0, 0, 0, 0}, 0, 0, 0};
    const tmap_xyz top = {M32, M32, M32}, corner = {0, 0, 0};
    tmap_u32 element = 7;
    HOLDS(tmap_nbb3_cells(m, M32) == M64 && tmap_nbb3_side_z(m, M32) == M64);
    HOLDS(tmap_nbb3_orthotope(m, M32).z == M64);
    HOLDS(tmap_nbb3_tile_level(m, 9, 0) == 0 && tmap_nbb3_block_level(m, 9, 0) == 9);
    HOLDS(!tmap_nbb3_contains(m, top, 20) && tmap_nbb3_contains(m, corner, 0));
    HOLDS(same3(tmap_nbb3_lambda(m, top, 0), 0, 0, 0) &&
          same3(tmap_nbb3_lambda(zero, top, 3), 0, 0, 0));
    HOLDS(tmap_turned_equal(tmap_turned_set(h, M32, 1), h));
    HOLDS(same3(tmap_turned_lambda(flat, top, 2), 0, 0, 0) && !tmap_turned_contains(h, top, 31));
    HOLDS(same3(tmap_turned_tile(h, M32, 0, &element), 0, 0, 0) && element == 0);
}

static void check_rules(void) {
    const tmap_ca_rule life = tmap_ca_life(), all = {M32, M32};
    tmap_ca_rule rule = life;
    for (tmap_u32 n = 9; n < 32; ++n) HOLDS(!tmap_ca_next(life, 0, n) && !tmap_ca_next(life, 1, n));
    HOLDS(tmap_ca_next(all, 0, 31) == 1);
    RETURNS(tmap_ca_rule_from_text("B3/S239", &rule), TMAP_EINVAL);
    HOLDS(rule.born == life.born && rule.survive == life.survive);
    RETURNS(tmap_ca_rule_from_text(NULL, &rule), TMAP_EINVAL);
}

static void check_region(void) {
    const tmap_xy origin = {0, 0}, top = {M32, M32};
    const tmap_xyz top3 = {M32, M32, M32};
    tmap_u32 x[64];
    for (size_t i = 0; i < COUNT(ends64); ++i) {
        const tmap_u64 n = ends64[i];
        kit_case("n = %llu", n);
        HOLDS(tmap_region_edge(n, 0, 0) == 0 && tmap_region_edge(n, 0, M64) == n);
        HOLDS(tmap_region_edge(n, 1ull << 32, M64) == n && tmap_region_edge(n, 5, 6) == n);
        HOLDS(tmap_region_edge(n, 5, 5) == n && tmap_region_find(0, 5, n) == 0);
        HOLDS(tmap_region_find(1ull << 32, 7, n) ==
              tmap_region_find(1ull << 32, 7, n < M32 ? n : M32));
        HOLDS(tmap_region_find(n, 0, 0) == 0 && tmap_region_side_max(n, 0) == n);
        HOLDS(tmap_region_side_max(n, M64) == (n > 0));
        HOLDS(tmap_region_levels(n, 0, 2, 1) == 1 && tmap_region_levels(n, 1, 1, 1) == 1);
        HOLDS(tmap_region_levels(n, 1, 2, 0) == 1 && tmap_region_levels(0, 1, 2, n) == 1);
        HOLDS(tmap_region_parts(n, 2, M32) == (n ? M64 : 0) && tmap_region_parts(n, 1, M32) == n);
        HOLDS(tmap_region_olt_size(n, M64, 2) == (n ? M64 : 0));
    }
    kit_case("%s", "orders");
    RETURNS(tmap_region_check(0, 1, 2, 1), TMAP_EINVAL);
    RETURNS(tmap_region_check(M64, 1ull << 33, 2, 1), TMAP_ERANGE);
    RETURNS(tmap_region_check(4, 2, 2, 3), TMAP_ERANGE);
    HOLDS(tmap_region_canonical(0, NULL, NULL) == 0);
    HOLDS(tmap_region_hilbert2(top, 0) == 0 && tmap_region_hilbert2(top, 33) == 0);
    HOLDS(same(tmap_region_hilbert2_at(M64, 0), 0, 0) &&
          same(tmap_region_hilbert2_at(M64, M32), 0, 0));
    HOLDS(tmap_region_hilbert2_at(M64, 32).x == M32 && tmap_region_hilbert2(origin, 32) == 0);
    HOLDS(tmap_region_hilbert3(top3, 22) == 0 && same3(tmap_region_hilbert3_at(M64, 0), 0, 0, 0));
    HOLDS(tmap_region_hilbert2(top, 3) == tmap_region_hilbert2(top, 3) % 64);
    memset(x, 0xff, sizeof x);
    HOLDS(tmap_region_hilbert(0, x, 1) == 0 && tmap_region_hilbert(M32, x, 1) == 0);
    HOLDS(tmap_region_hilbert(64, x, 2) == 0);
    tmap_region_hilbert_at(64, M64, 2, x);
    HOLDS(kit_all(x, sizeof x, 0));
    HOLDS(tmap_region_morton3(top3) == M64 >> 1);
}

static void check_papers(void) {
    const tmap_nbb g = tmap_fractal_gasket(), zero = tmap_nbb_make(0, 0, 0, 0, 0);
    const tmap_box_bits none = {{0, 0, 0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const tmap_ask_model still = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    tmap_box box;
    tmap_u32 bit = 7;
    HOLDS(tmap_block_threads(99, g, 2) == 0 && tmap_block_threads(-1, g, 2) == 0);
    HOLDS(tmap_block_threads(TMAP_BLOCK_UNROLL, g, M32) == M64);
    for (tmap_u32 i = 9; i; i = i < 1u << 31 ? 2 * i : 0) {
        HOLDS(!tmap_block_unroll(g, 2, i).cell && !tmap_block_table(g, 2, i, NULL).cell);
        HOLDS(!tmap_block_subbox(g, 2, i < 16 ? 16 : i).cell);
    }
    HOLDS(!strcmp(tmap_block_form_name(-1), "?") && !strcmp(tmap_box_map_name(99), "?"));
    HOLDS(!strcmp(tmap_tensor_form_name(-1), "?"));
    RETURNS(tmap_box_make(zero, 0, 1, 0, &box), TMAP_EREPLICAS);
    RETURNS(tmap_box_make(g, 65, 1, TMAP_BOX_BB, &box), TMAP_ERANGE);
    RETURNS(tmap_box_make(g, M32, 1, TMAP_BOX_LAMBDA, &box), TMAP_ERANGE);
    RETURNS(tmap_tensor_box(g, M32, 32, 0, &box), TMAP_ERANGE);
    HOLDS(tmap_box_bits_place(&none, M64, M64, &bit) == M64 && bit == 0);
    HOLDS(tmap_drmsd_slides_reads(0, 100, 64, 0) == 0);
    HOLDS(tmap_drmsd_slides_blocks(0, M32, 0, M32) == M32);
    HOLDS(tmap_ask_model_check(&still) == TMAP_EINVAL && tmap_ask_model_levels(&still) == 1);
}

int main(void) {
    check_core();
    check_triangle();
    check_fractal();
    check_compact();
    check_fractal3();
    check_rules();
    check_region();
    check_papers();
    return kit_end("out_of_range");
}
