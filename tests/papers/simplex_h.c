// SPDX-License-Identifier: MIT
// simplex_h.c: map H reaches each cell of 2-simplices and 3-simplices of all sides once and no other
// place, in grids of the stated size.
#include "kit.h"
#include <threadmap/papers/simplex_h.h>

#include <stdlib.h>
#include <string.h>

static unsigned char seen[1 << 20];

static void check_2(tmap_u32 n) {
    tmap_u32 first = 0, launches = 0, bits = 0;
    unsigned long long tiles = 0;
    memset(seen, 0, (size_t)n * n);
    for (tmap_u32 rest = n; rest; rest &= rest - 1) ++bits;
    for (; first < n; first += tmap_simplex_h2_columns(n - first), ++launches) {
        const tmap_u32 rows = n - first;
        const tmap_xy grid = tmap_simplex_h2_grid(rows);
        for (tmap_u32 y = 0; y < grid.y; ++y)
            for (tmap_u32 x = 0; x < grid.x; ++x, ++tiles) {
                const tmap_pair p = tmap_simplex_h2_map(x, y, rows);
                if (p.i < rows && p.j <= p.i) ++seen[(first + p.i) * n + first + p.j];
            }
    }
    EXPECT(launches == bits && tiles == n * (n + 1ull) / 2, "n %u: %u launches, %llu tiles", n,
           launches, tiles);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j)
            EXPECT(seen[i * n + j] == (j <= i), "n %u: (%u,%u) %d times", n, i, j, seen[i * n + j]);
}

static void check_3(tmap_u32 n) {
    const tmap_u32 h = tmap_simplex_h3_half(n), planes = tmap_simplex_h3_planes(n);
    unsigned long long outside = 0;
    memset(seen, 0, (size_t)n * n * n);
    for (tmap_u32 z = 0; z < planes; ++z)
        for (tmap_u32 y = 0; y < h; ++y)
            for (tmap_u32 x = 0; x < h; ++x) {
                const tmap_xy at = {x, y};
                tmap_triple t;
                if (!tmap_simplex_h3_map(at, z, n, &t)) continue;
                if (t.i < n && t.j < n && t.k < n)
                    ++seen[(t.i * n + t.j) * n + t.k];
                else
                    ++outside;
            }
    EXPECT(!outside, "n %u: %llu outside", n, outside);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j)
            for (tmap_u32 k = 0; k < n; ++k)
                EXPECT(seen[(i * n + j) * n + k] == (k <= j && j <= i), "n %u: (%u,%u,%u)", n, i, j,
                       k);
}

int main(int argc, char **argv) {
    const tmap_u32 most = argc > 1 ? (tmap_u32)atoi(argv[1]) : 100;
    static const tmap_u32 large[] = {255, 256, 257, 511, 512, 777, 1000, 1023, 1024};
    for (tmap_u32 n = 0; n <= most; ++n) check_2(n);
    for (unsigned l = 0; l < sizeof large / sizeof *large; ++l) check_2(large[l]);
    for (tmap_u32 n = 0; n <= most; ++n) check_3(n);
    // Total: outside of the grids, and for sides that are out of range.
    for (unsigned long long l = 0; l < 1ull << 32; l += 65521) {
        const tmap_u32 a = (tmap_u32)l, c = a * 2654435761u;
        const tmap_xy at = {c, a};
        tmap_triple t;
        tmap_simplex_h2_map(a, c, ~a);
        tmap_simplex_h2_grid(a);
        if (tmap_simplex_h3_map(at, c ^ a, a, &t)) EXPECT(t.i < a, "%u: layer %u", a, t.i);
    }
    return kit_end("simplex_h");
}
