// SPDX-License-Identifier: MIT
// nbb_cells.c: lambda, nu and their pieces on every thread of every level up to 10^6 cells (a quarter
// of that for own fractals), for the catalogue, all 2 x 2 fractals and 200 random ones, against lists
// of cells grown by replication.
//
// Usage: nbb_cells [CELLS]   CELLS: another bound than 10^6
#include "fractal/brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

static void check_thread(const brute *b, tmap_nbb f, tmap_u32 r, tmap_u64 i, brute_cell c) {
    tmap_xy64 cell = tmap_nbb_lambda64(f, c.wx, c.wy, r);
    tmap_xy64 linear = tmap_nbb_lambda_linear64(f, i, r);
    tmap_xy64 w = tmap_nbb_nu64(f, c.x, c.y, r);
    tmap_u64 index = tmap_nbb_nu_linear64(f, c.x, c.y, r);
    EXPECT(cell.x == c.x && cell.y == c.y, "%s r=%u w=(%u,%u)", b->text, r, c.wx, c.wy);
    EXPECT(linear.x == c.x && linear.y == c.y, "%s r=%u i=%llu", b->text, r, i);
    EXPECT(w.x == c.wx && w.y == c.wy, "%s r=%u (%llu,%llu)", b->text, r, c.x, c.y);
    EXPECT(index == i, "%s r=%u (%llu,%llu) -> %llu", b->text, r, c.x, c.y, index);
}

static void check_thread32(const brute *b, tmap_nbb f, tmap_u32 r, tmap_u32 i, brute_cell c) {
    tmap_u32 x = (tmap_u32)c.x, y = (tmap_u32)c.y;
    tmap_xy cell = tmap_nbb_lambda(f, c.wx, c.wy, r);
    tmap_xy linear = tmap_nbb_lambda_linear(f, i, r);
    tmap_xy w = tmap_nbb_nu(f, x, y, r);
    tmap_u32 index = tmap_nbb_nu_linear(f, x, y, r);
    EXPECT(cell.x == x && cell.y == y, "%s r=%u w=(%u,%u)", b->text, r, c.wx, c.wy);
    EXPECT(linear.x == x && linear.y == y, "%s r=%u i=%u", b->text, r, i);
    EXPECT(w.x == c.wx && w.y == c.wy, "%s r=%u (%u,%u)", b->text, r, x, y);
    EXPECT(index == i, "%s r=%u (%u,%u) -> %u", b->text, r, x, y, index);
}

// Equation 7: lambda is the sum of Delta over the levels; and H and its inverse on the way.
static void check_pieces(const brute *b, tmap_nbb f, tmap_u32 r, tmap_u64 i, brute_cell c,
                         int is_32) {
    tmap_xy64 sum64 = {0, 0};
    tmap_xy sum = {0, 0};
    for (tmap_u32 mu = 1; mu <= r; ++mu, i /= f.k) {
        tmap_u32 beta = tmap_nbb_beta64(f, c.wx, c.wy, mu);
        tmap_xy tau = tmap_nbb_tau(f, beta);
        tmap_xy64 delta64 = tmap_nbb_delta64(f, beta, mu);
        EXPECT(beta == i % f.k, "%s mu=%u w=(%u,%u)", b->text, mu, c.wx, c.wy);
        EXPECT(tmap_nbb_beta(f, c.wx, c.wy, mu) == beta, "%s mu=%u", b->text, mu);
        EXPECT(tmap_nbb_replica(f, tau.x, tau.y) == beta, "%s beta=%u", b->text, beta);
        sum64.x += delta64.x;
        sum64.y += delta64.y;
        if (is_32) {
            tmap_xy delta = tmap_nbb_delta(f, beta, mu);
            sum.x += delta.x;
            sum.y += delta.y;
        }
    }
    EXPECT(sum64.x == c.x && sum64.y == c.y, "%s r=%u w=(%u,%u)", b->text, r, c.wx, c.wy);
    if (is_32) EXPECT(sum.x == c.x && sum.y == c.y, "%s r=%u w=(%u,%u)", b->text, r, c.wx, c.wy);
}

// Returns the number of threads that were compared.
static size_t check_fractal(const brute *b, brute_cell *cells, size_t cells_max) {
    const tmap_nbb f = brute_nbb(b);
    size_t n = 1, all = 0;
    memset(&cells[0], 0, sizeof cells[0]);
    for (tmap_u32 r = 0; r <= tmap_nbb_linear_level_max64(f); ++r) {
        int is_32 = r <= tmap_nbb_level_max32(f), is_linear32 = r <= tmap_nbb_linear_level_max32(f);
        if (r > 0) {
            if (n * f.k > cells_max) break;
            n = brute_grow_cells(b, (int)r, cells, n);
        }
        // a list of up to 10^6 cells has indices of 32 bits, so that only coordinates may be longer
        EXPECT(is_32 == is_linear32, "%s r=%u", b->text, r);
        EXPECT(tmap_nbb_cells(f, r) == n, "%s r=%u", b->text, r);
        for (size_t i = 0; i < n; ++i) {
            check_thread(b, f, r, i, cells[i]);
            if (is_32) check_thread32(b, f, r, (tmap_u32)i, cells[i]);
            if (i < 10000 || i % 61 == 0) // powers and divisions for each digit: slow
                check_pieces(b, f, r, i, cells[i], is_32);
        }
        all += n;
    }
    return all;
}

// H^-1 of every box, empty ones too.
static void check_boxes(const brute *b) {
    const tmap_nbb f = brute_nbb(b);
    tmap_u32 next = 0;
    for (int y = 0; y < b->sy; ++y)
        for (int x = 0; x < b->sx; ++x) {
            tmap_u32 want = b->row[y][x] == '#' ? next++ : f.k;
            EXPECT(tmap_nbb_replica(f, (tmap_u32)x, (tmap_u32)y) == want, "%s (%d,%d)", b->text, x,
                   y);
        }
}

int main(int argc, char **argv) {
    size_t cells_max = argc > 1 ? (size_t)atol(argv[1]) : 1000000, all = 0;
    brute_cell *cells = (brute_cell *)malloc(cells_max * sizeof *cells);
    if (!cells) return 2;
    for (int i = 0; i < BRUTE_COUNT; ++i) {
        const brute b = brute_at(i);
        check_boxes(&b);
        all += check_fractal(&b, cells, cells_max / (i < TMAP_FRACTAL_COUNT ? 1 : 4));
    }
    printf("%d fractals, %zu threads\n", BRUTE_COUNT, all);
    free(cells);
    return kit_end("nbb_cells");
}
