// SPDX-License-Identifier: MIT
// nbb3_cells.c: the maps in three dimensions, for the catalogue, all 2 x 2 x 2 fractals, 200 random
// ones, and 10^4 more at small levels: lambda, nu and their pieces on every thread of every level up
// to 10^6 cells (a part of that for own fractals), against lists of cells grown by replication;
// contains on every place of every embedding of as many places and on a frame around it, against
// pictures; and on random places of the larger levels.
//
// Usage: nbb3_cells [CELLS [PART PARTS]]   CELLS: another bound than 10^6, for slow builds; PART,
// from 0, takes one fractal in PARTS, so that the parts can run side by side.
#include "fractal/brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue3.h>
#include <threadmap/fractal/nbb3.h>

static int same(tmap_xyz a, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    return a.x == x && a.y == y && a.z == z;
}

static int same64(tmap_xyz64 a, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    return a.x == x && a.y == y && a.z == z;
}

// ---- cells --------------------------------------------------------------------------------------

static void check_thread(const brute *b, tmap_nbb3 f, tmap_u32 r, tmap_u64 i, brute_cell c) {
    const tmap_xyz64 w = {c.wx, c.wy, c.wz}, at = {c.x, c.y, c.z};
    EXPECT(same64(tmap_nbb3_lambda64(f, w, r), c.x, c.y, c.z), "%s r=%u i=%llu", b->text, r, i);
    EXPECT(same64(tmap_nbb3_lambda_linear64(f, i, r), c.x, c.y, c.z), "%s r=%u i=%llu", b->text, r,
           i);
    EXPECT(same64(tmap_nbb3_nu64(f, at, r), c.wx, c.wy, c.wz), "%s r=%u i=%llu", b->text, r, i);
    EXPECT(tmap_nbb3_nu_linear64(f, at, r) == i, "%s r=%u i=%llu", b->text, r, i);
}

static void check_thread32(const brute *b, tmap_nbb3 f, tmap_u32 r, tmap_u32 i, brute_cell c) {
    const tmap_xyz w = {c.wx, c.wy, c.wz}, at = {(tmap_u32)c.x, (tmap_u32)c.y, (tmap_u32)c.z};
    EXPECT(same(tmap_nbb3_lambda(f, w, r), c.x, c.y, c.z), "%s r=%u i=%u", b->text, r, i);
    EXPECT(same(tmap_nbb3_lambda_linear(f, i, r), c.x, c.y, c.z), "%s r=%u i=%u", b->text, r, i);
    EXPECT(same(tmap_nbb3_nu(f, at, r), c.wx, c.wy, c.wz), "%s r=%u i=%u", b->text, r, i);
    EXPECT(tmap_nbb3_nu_linear(f, at, r) == i, "%s r=%u i=%u", b->text, r, i);
}

// Equation 7: lambda is the sum of Delta over the levels; and H and its inverse on the way.
static void check_pieces(const brute *b, tmap_nbb3 f, tmap_u32 r, tmap_u64 i, brute_cell c,
                         int is_32) {
    const tmap_xyz64 w64 = {c.wx, c.wy, c.wz};
    const tmap_xyz w = {c.wx, c.wy, c.wz};
    tmap_xyz64 sum64 = {0, 0, 0};
    tmap_xyz sum = {0, 0, 0};
    for (tmap_u32 mu = 1; mu <= r; ++mu, i /= f.k) {
        const tmap_u32 beta = tmap_nbb3_beta64(f, w64, mu);
        const tmap_xyz64 delta64 = tmap_nbb3_delta64(f, beta, mu);
        EXPECT(beta == i % f.k, "%s mu=%u i=%llu", b->text, mu, i);
        EXPECT(tmap_nbb3_beta(f, w, mu) == beta, "%s mu=%u", b->text, mu);
        EXPECT(tmap_nbb3_replica(f, tmap_nbb3_tau(f, beta)) == beta, "%s beta=%u", b->text, beta);
        sum64.x += delta64.x, sum64.y += delta64.y, sum64.z += delta64.z;
        if (is_32) {
            const tmap_xyz delta = tmap_nbb3_delta(f, beta, mu);
            sum.x += delta.x, sum.y += delta.y, sum.z += delta.z;
        }
    }
    EXPECT(same64(sum64, c.x, c.y, c.z), "%s r=%u", b->text, r);
    if (is_32) EXPECT(same(sum, c.x, c.y, c.z), "%s r=%u", b->text, r);
}

// Returns the number of threads that were compared.
static size_t check_cells(const brute *b, brute_cell *cells, size_t cells_max) {
    const tmap_nbb3 f = brute_nbb3(b);
    size_t n = 1, all = 0;
    memset(&cells[0], 0, sizeof cells[0]);
    for (tmap_u32 r = 0; r <= tmap_nbb3_linear_level_max64(f); ++r) {
        const int is_32 = r <= tmap_nbb3_level_max32(f);
        if (r > 0) {
            if (n * f.k > cells_max) break;
            n = brute_grow_cells(b, (int)r, cells, n);
        }
        // a list of up to 10^6 cells has indices of 32 bits, so that only coordinates may be longer
        EXPECT(is_32 == (r <= tmap_nbb3_linear_level_max32(f)), "%s r=%u", b->text, r);
        EXPECT(tmap_nbb3_cells(f, r) == n, "%s r=%u", b->text, r);
        for (size_t i = 0; i < n; ++i) {
            check_thread(b, f, r, i, cells[i]);
            if (is_32) check_thread32(b, f, r, (tmap_u32)i, cells[i]);
            if (i < 1000 || i % 61 == 0) // powers and divisions for each digit: slow
                check_pieces(b, f, r, i, cells[i], is_32);
        }
        all += n;
    }
    return all;
}

// H^-1 of every box, empty ones too.
static void check_boxes(const brute *b) {
    const tmap_nbb3 f = brute_nbb3(b);
    tmap_u32 next = 0;
    tmap_xyz d;
    for (d.z = 0; d.z < f.sz; ++d.z)
        for (d.y = 0; d.y < f.sy; ++d.y)
            for (d.x = 0; d.x < f.sx; ++d.x) {
                const tmap_u32 want = b->row[d.z * f.sy + d.y][d.x] == '#' ? next++ : f.k;
                EXPECT(tmap_nbb3_replica(f, d) == want, "%s (%u,%u,%u)", b->text, d.x, d.y, d.z);
            }
    EXPECT(next == f.k, "%s", b->text);
}

// ---- places -------------------------------------------------------------------------------------

// Both forms, where the 32-bit one is asked.
static void check_place(const brute *b, tmap_nbb3 f, tmap_u32 r, tmap_xyz64 c, int want) {
    const tmap_xyz c32 = {(tmap_u32)c.x, (tmap_u32)c.y, (tmap_u32)c.z};
    EXPECT(tmap_nbb3_contains64(f, c, r) == want, "%s r=%u (%llu,%llu,%llu)", b->text, r, c.x, c.y,
           c.z);
    if (r <= tmap_nbb3_level_max32(f) && (c.x | c.y | c.z) >> 32 == 0)
        EXPECT(tmap_nbb3_contains(f, c32, r) == want, "%s r=%u (%llu,%llu,%llu)", b->text, r, c.x,
               c.y, c.z);
}

static void check_picture(const brute *b, tmap_nbb3 f, tmap_u32 r, const char *picture) {
    const tmap_u64 width = brute_pow(b->sx, (int)r), height = brute_pow(b->sy, (int)r);
    const tmap_u64 depth = brute_pow(b->sz, (int)r), far[] = {0, 0xffffffffu, width << 32};
    for (tmap_u64 z = 0; z < depth; ++z)
        for (tmap_u64 y = 0; y < height; ++y)
            for (tmap_u64 x = 0; x < width; ++x) {
                const tmap_xyz64 c = {x, y, z};
                check_place(b, f, r, c, *picture++);
            }
    for (tmap_u64 i = 0; i < width + height + depth; ++i) // outside: next to it, and far away
        for (int j = 0; j < 3; ++j) {
            const tmap_xyz64 right = {far[j] > width ? far[j] : width, i % height, i % depth};
            const tmap_xyz64 below = {i % width, far[j] > height ? far[j] : height, i % depth};
            const tmap_xyz64 behind = {i % width, i % height, far[j] > depth ? far[j] : depth};
            check_place(b, f, r, right, 0);
            check_place(b, f, r, below, 0);
            check_place(b, f, r, behind, 0);
        }
}

// Random places of a level too large to draw. Boxes are drawn one by one, all but a few of them
// cells: of places drawn uniformly, a sparse fractal would hold none.
static void check_samples(const brute *b, tmap_nbb3 f, tmap_u32 r, int samples, tmap_u64 *state) {
    for (int sample = 0; sample < samples; ++sample) {
        const int holes = sample % 3 ? 0 : 1 + (int)r / 4;
        tmap_xyz64 c = {0, 0, 0};
        for (tmap_u32 mu = 0; mu < r; ++mu) {
            const int beta = (int)kit_below(state, (unsigned)b->k);
            const int any = (int)kit_below(state, r) < holes;
            const tmap_u64 box = kit_below(state, (tmap_u64)(b->sx * b->sy * b->sz));
            const tmap_u64 sx = f.sx, sy = f.sy, sz = f.sz;
            c.x = c.x * sx + (any ? box % sx : (tmap_u64)b->tau_x[beta]);
            c.y = c.y * sy + (any ? box / sx % sy : (tmap_u64)b->tau_y[beta]);
            c.z = c.z * sz + (any ? box / sx / sy : (tmap_u64)b->tau_z[beta]);
        }
        check_place(b, f, r, c, brute_contains3(b, c.x, c.y, c.z, (int)r));
    }
}

// small and large: two buffers of places_max bytes.
static void check_places(const brute *b, char *small, char *large, size_t places_max) {
    const tmap_nbb3 f = brute_nbb3(b);
    const tmap_u64 box = (tmap_u64)(b->sx * b->sy * b->sz);
    tmap_u64 places = 1, state = 7;
    large[0] = 1;
    for (tmap_u32 r = 0; r <= tmap_nbb3_level_max64(f); ++r) {
        if (r > 0) places = tmap_mul_saturate(places, box);
        if (places > places_max) {
            check_samples(b, f, r, places_max > 1000 ? 100 : 6, &state);
            continue;
        }
        if (r > 0) {
            memcpy(small, large, (size_t)(places / box));
            brute_grow_picture(b, (int)r, small, large);
        }
        check_picture(b, f, r, large);
    }
}

int main(int argc, char **argv) {
    const size_t cells_max = argc > 1 ? (size_t)atol(argv[1]) : 1000000;
    const int part = argc > 3 ? atoi(argv[2]) : 0, parts = argc > 3 ? atoi(argv[3]) : 1;
    const int small = (int)(cells_max / 100);
    brute_cell *cells = (brute_cell *)kit_host(cells_max * sizeof *cells);
    char *pictures = (char *)kit_host(2 * cells_max);
    tmap_u64 state = 20261126u + (tmap_u64)part;
    size_t all = 0;
    for (int i = part; i < BRUTE3_COUNT + small; i += parts) {
        const brute b = i < BRUTE3_COUNT ? brute3_at(i) : brute_random_fractal3(&state);
        const size_t most = i < TMAP_FRACTAL3_COUNT ? cells_max
                            : i < BRUTE3_COUNT      ? cells_max / 16
                                                    : 1100;
        check_boxes(&b);
        all += check_cells(&b, cells, most);
        check_places(&b, pictures, pictures + cells_max, most / 2);
    }
    printf("%zu threads\n", all);
    return kit_end("nbb3_cells");
}
